#include "base/dec.h"

#include "base/mem.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t pow10_u64[20] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

static bool is_digit(char c)
{
    return (unsigned)(c - '0') < 10;
}

/* The text taken apart, without copying: digits before and after the point, and the exponent. */
struct number {
    bool neg;
    const char *int_dig, *frac_dig;
    size_t int_n, frac_n;
    int64_t exp; /* as written, clamped to what matters */
};

enum { EXP_LIMIT = 100000000 }; /* beyond any number of digits a field can hold */

static enum dec_status scan(const char *s, size_t len, struct number *out)
{
    const char *const end = s + len;
    struct number x = { 0 };

    if (len == 0) return DEC_EMPTY;
    if (*s == '-' || *s == '+') x.neg = *s++ == '-';
    x.int_dig = s;
    while (s < end && is_digit(*s)) s++;
    x.int_n = (size_t)(s - x.int_dig);
    if (s < end && *s == '.') s++;
    x.frac_dig = s;
    while (s < end && is_digit(*s)) s++;
    x.frac_n = (size_t)(s - x.frac_dig);
    if (x.int_n + x.frac_n == 0) return DEC_SYNTAX;
    if (s < end && (*s == 'e' || *s == 'E')) {
        s++;
        bool neg = false;
        if (s < end && (*s == '-' || *s == '+')) neg = *s++ == '-';
        if (s == end || !is_digit(*s)) return DEC_SYNTAX;
        for (; s < end && is_digit(*s); s++)
            if (x.exp < EXP_LIMIT) x.exp = 10 * x.exp + (*s - '0');
        if (neg) x.exp = -x.exp;
    }
    if (s != end) return DEC_SYNTAX;
    *out = x;
    return DEC_OK;
}

static unsigned digit_at(const struct number *x, size_t i)
{
    return (unsigned)((i < x->int_n ? x->int_dig[i] : x->frac_dig[i - x->int_n]) - '0');
}

/* |value| x 10^digits to an integer, rounding half up; *inexact when something was rounded off. */
static enum dec_status magnitude(const struct number *x, int digits, uint64_t *out, bool *inexact)
{
    const size_t n = x->int_n + x->frac_n;
    size_t first = 0;

    *inexact = false;
    *out = 0;
    while (first < n && digit_at(x, first) == 0) first++;
    if (first == n) return DEC_OK;

    /* digits [0, whole) make the integer; whole may lie outside [first, n] */
    const int64_t whole = (int64_t)x->int_n + x->exp + digits;
    uint64_t v = 0;
    for (int64_t i = (int64_t)first; i < whole; i++) {
        const unsigned d = i < (int64_t)n ? digit_at(x, (size_t)i) : 0;
        if (__builtin_mul_overflow(v, UINT64_C(10), &v) || __builtin_add_overflow(v, d, &v))
            return DEC_RANGE; /* v > 0 from the first step, so this ends after 20 */
    }
    if (whole < (int64_t)n) {
        const int64_t from = whole > (int64_t)first ? whole : (int64_t)first;
        for (int64_t i = from; i < (int64_t)n; i++)
            if (digit_at(x, (size_t)i)) *inexact = true;
        if (whole >= (int64_t)first && digit_at(x, (size_t)whole) >= 5 && ++v == 0)
            return DEC_RANGE;
    }
    *out = v;
    return DEC_OK;
}

static enum dec_status fixed(const char *s, size_t len, int digits, int64_t *out, bool *inexact)
{
    struct number x;
    uint64_t v;
    enum dec_status st = scan(s, len, &x);

    if (st == DEC_OK) st = magnitude(&x, digits, &v, inexact);
    if (st != DEC_OK) return st;
    if (v > (uint64_t)INT64_MAX + x.neg) return DEC_RANGE;
    *out = x.neg ? (int64_t)-v : (int64_t)v;
    return DEC_OK;
}

/* What nearly every trace field is: digits, perhaps a point and digits, that fit without a
 * check. */
static bool fixed_fast(const char *s, size_t len, int digits, int64_t *out)
{
    const char *const end = s + len;

    if (len == 0) return false;
    const bool neg = *s == '-';
    s += neg;
    const char *const int_dig = s;
    uint64_t v = 0;
    for (; s < end && is_digit(*s); s++) v = 10 * v + (unsigned)(*s - '0');
    if (s == int_dig || s - int_dig + digits > 18) return false; /* 18 digits fit */
    int left = digits;
    if (s < end && *s == '.')
        for (s++; s < end && left > 0 && is_digit(*s); s++, left--)
            v = 10 * v + (unsigned)(*s - '0');
    if (s != end) return false; /* an exponent, further digits, an error: the long way */
    v *= pow10_u64[left];
    *out = neg ? -(int64_t)v : (int64_t)v;
    return true;
}

enum dec_status dec_fixed(const char *s, size_t len, int digits, int64_t *out)
{
    bool inexact;

    return fixed_fast(s, len, digits, out) ? DEC_OK : fixed(s, len, digits, out, &inexact);
}

enum dec_status dec_fixed_exact(const char *s, size_t len, int digits, int64_t *out)
{
    bool inexact;
    int64_t v;

    if (fixed_fast(s, len, digits, out)) return DEC_OK;
    enum dec_status st = fixed(s, len, digits, &v, &inexact);
    if (st == DEC_OK && inexact) return DEC_INEXACT;
    if (st == DEC_OK) *out = v;
    return st;
}

enum dec_status dec_u64(const char *s, size_t len, uint64_t *out)
{
    struct number x;
    uint64_t v;
    bool inexact;
    enum dec_status st = scan(s, len, &x);

    if (st == DEC_OK) st = magnitude(&x, 0, &v, &inexact);
    if (st != DEC_OK) return st;
    if (inexact) return DEC_INEXACT;
    if (x.neg && v) return DEC_RANGE;
    *out = v;
    return DEC_OK;
}

/* Exact when both numbers are doubles without rounding: then one division or product rounds once
 * (Clinger, How to read floating point numbers accurately, PLDI 1990). */
static bool double_fast(const struct number *x, double *out)
{
    static const double p[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const size_t n = x->int_n + x->frac_n;
    const int64_t exp = x->exp - (int64_t)x->frac_n;
    uint64_t v = 0;

    if (n > 19 || exp < -22 || exp > 22) return false;
    for (size_t i = 0; i < n; i++) v = 10 * v + digit_at(x, i);
    if (v > UINT64_C(1) << 53) return false;
    const double d = exp < 0 ? (double)v / p[-exp] : (double)v * p[exp];
    *out = x->neg ? -d : d;
    return true;
}

enum dec_status dec_double_scaled(const char *s, size_t len, int exp10, double *out)
{
    struct number x;
    enum dec_status st = scan(s, len, &x);

    if (st != DEC_OK) return st;
    x.exp += exp10;
    if (double_fast(&x, out)) return DEC_OK;

    char small[128];
    const size_t mantissa = (size_t)(x.frac_dig + x.frac_n - s);
    const size_t size = mantissa + 24;
    char *text = size <= sizeof small ? small : xmalloc(size);
    memcpy(text, s, mantissa);
    snprintf(text + mantissa, size - mantissa, "e%lld", (long long)x.exp);
    /* the C locale is built in: this neither allocates nor fails */
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const double v = strtod_l(text, NULL, c);
    freelocale(c);
    if (text != small) free(text);
    if (!isfinite(v)) return DEC_RANGE;
    *out = v;
    return DEC_OK;
}

enum dec_status dec_double(const char *s, size_t len, double *out)
{
    return dec_double_scaled(s, len, 0, out);
}

const char *dec_why(enum dec_status st)
{
    switch (st) {
    case DEC_OK: return "a number";
    case DEC_EMPTY: return "empty";
    case DEC_SYNTAX: return "not a number";
    case DEC_RANGE: return "out of range";
    case DEC_INEXACT: return "too many decimal places";
    }
    return "not a number";
}

size_t dec_print(char *buf, size_t size, int64_t value, int digits)
{
    char tmp[48]; /* written backwards */
    size_t at = sizeof tmp;
    uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;

    while (digits > 0 && v % 10 == 0) {
        v /= 10;
        digits--;
    }
    tmp[--at] = '\0';
    for (; digits > 0; digits--) {
        tmp[--at] = (char)('0' + v % 10);
        v /= 10;
        if (digits == 1) tmp[--at] = '.';
    }
    do tmp[--at] = (char)('0' + v % 10);
    while (v /= 10);
    if (value < 0) tmp[--at] = '-';

    const size_t len = sizeof tmp - 1 - at;
    if (size) snprintf(buf, size, "%s", tmp + at);
    return len;
}
