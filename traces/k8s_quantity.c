#include "traces/k8s_quantity.h"

#include <string.h>

static const struct suffix {
    const char *text;
    int exp10, exp2;
} suffixes[] = {
    { "", 0, 0 },    { "n", -9, 0 },  { "u", -6, 0 },  { "m", -3, 0 },
    { "k", 3, 0 },   { "M", 6, 0 },   { "G", 9, 0 },   { "T", 12, 0 },
    { "P", 15, 0 },  { "E", 18, 0 },  { "Ki", 0, 10 }, { "Mi", 0, 20 },
    { "Gi", 0, 30 }, { "Ti", 0, 40 }, { "Pi", 0, 50 }, { "Ei", 0, 60 },
};

enum { DIGITS_MAX = 30, EXPONENT_MAX = 18 };

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum k8s_status read_suffix(const char *s, size_t len, struct suffix *out)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strlen(suffixes[i].text) == len && memcmp(suffixes[i].text, s, len) == 0) {
            *out = suffixes[i];
            return K8S_OK;
        }
    if (len < 2 || (s[0] != 'e' && s[0] != 'E')) return K8S_SUFFIX;
    const bool minus = s[1] == '-';
    size_t i = s[1] == '-' || s[1] == '+' ? 2 : 1;
    int exp = 0;
    if (i == len) return K8S_SUFFIX;
    for (; i < len; i++) {
        if (!digit(s[i])) return K8S_SUFFIX;
        exp = exp * 10 + (s[i] - '0');
        if (exp > EXPONENT_MAX) return K8S_RANGE;
    }
    *out = (struct suffix){ "e", minus ? -exp : exp, 0 };
    return K8S_OK;
}

static bool times_power(k8s_nano *v, int base, int n)
{
    for (; n > 0; n--)
        if (__builtin_mul_overflow(*v, (k8s_nano)base, v)) return false;
    return true;
}

enum k8s_status k8s_quantity_parse(const char *s, size_t len, struct k8s_quantity *out)
{
    size_t i = 0, digits = 0;
    int decimals = 0;
    bool point = false, negative = false;
    k8s_nano v = 0;
    struct suffix suffix;
    if (len == 0) return K8S_EMPTY;
    if (s[0] == '+' || s[0] == '-') negative = s[0] == '-', i++;
    for (; i < len && (digit(s[i]) || (s[i] == '.' && !point)); i++) {
        if (s[i] == '.') {
            point = true;
            continue;
        }
        if (++digits > DIGITS_MAX) return K8S_RANGE;
        v = v * 10 + (s[i] - '0');
        decimals += point;
    }
    if (digits == 0) return K8S_SYNTAX;
    enum k8s_status st = read_suffix(s + i, len - i, &suffix);
    if (st != K8S_OK) return st;
    for (; decimals > 0 && v % 10 == 0; decimals--) v /= 10;
    const int exp10 = 9 + suffix.exp10 - decimals; /* v x 10^exp10 x 2^exp2 billionths */
    if (!times_power(&v, 2, suffix.exp2) || !times_power(&v, 10, exp10)) return K8S_RANGE;
    bool rest = false;
    for (int k = exp10; k < 0; k++) {
        rest |= v % 10 != 0;
        v /= 10;
    }
    v += rest;
    out->nano = negative ? -v : v;
    out->finer_than_one = suffix.exp2 == 0 && suffix.exp10 < 0;
    return K8S_OK;
}

const char *k8s_why(enum k8s_status st)
{
    switch (st) {
    case K8S_OK: return "";
    case K8S_EMPTY: return "empty";
    case K8S_SYNTAX: return "not a number";
    case K8S_SUFFIX:
        return "not a suffix of Kubernetes: n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or e3";
    case K8S_RANGE: return "out of range";
    }
    return "";
}

bool k8s_in_units(k8s_nano v, k8s_nano unit, uint64_t max, uint64_t *out)
{
    if (v < 0) return false;
    const k8s_nano n = v / unit + (v % unit != 0);
    if (n > (k8s_nano)max) return false;
    *out = (uint64_t)n;
    return true;
}
