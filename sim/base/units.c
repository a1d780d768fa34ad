#include "base/units.h"

#include "base/dec.h"
#include "base/err.h"
#include "base/str.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One unit = 10^exp x mul / div of the base unit: kept apart so that decimal steps never round. */
struct unit {
    const char *name;
    int exp;
    uint64_t mul;
    unsigned div;
    bool shown; /* whether output uses it: nobody wants to read 0.5 w */
};

struct dim {
    const char *expected;
    const struct unit *units;
    size_t n;
};

/* base: ns */
static const struct unit time_units[] = {
    { "s", 9, 1, 1, true },     { "ms", 6, 1, 1, true },      { "us", 3, 1, 1, true },
    { "ns", 0, 1, 1, true },    { "min", 9, 60, 1, true },    { "h", 9, 3600, 1, true },
    { "d", 9, 86400, 1, true }, { "w", 9, 604800, 1, false }, { "y", 9, 31536000, 1, false },
};
static const struct unit byte_units[] = {
    { "B", 0, 1, 1, true },
    { "kB", 3, 1, 1, true },
    { "MB", 6, 1, 1, true },
    { "GB", 9, 1, 1, true },
    { "TB", 12, 1, 1, true },
    { "KiB", 0, 1 << 10, 1, true },
    { "MiB", 0, 1 << 20, 1, true },
    { "GiB", 0, 1 << 30, 1, true },
    { "TiB", 0, UINT64_C(1) << 40, 1, true },
};
static const struct unit rate_units[] = {
    { "B/s", 0, 1, 1, true },
    { "kB/s", 3, 1, 1, true },
    { "MB/s", 6, 1, 1, true },
    { "GB/s", 9, 1, 1, true },
    { "TB/s", 12, 1, 1, true },
    { "KiB/s", 0, 1 << 10, 1, true },
    { "MiB/s", 0, 1 << 20, 1, true },
    { "GiB/s", 0, 1 << 30, 1, true },
    { "TiB/s", 0, UINT64_C(1) << 40, 1, true },
    { "bit/s", 0, 1, 8, true },
    { "kbit/s", 3, 1, 8, true },
    { "Mbit/s", 6, 1, 8, true },
    { "Gbit/s", 9, 1, 8, true },
    { "Tbit/s", 12, 1, 8, true },
};
static const struct unit flops_units[] = {
    { "TFLOPS", 12, 1, 1, true }, { "GFLOPS", 9, 1, 1, true }, { "PFLOPS", 15, 1, 1, true },
    { "TOPS", 12, 1, 1, false },  { "GOPS", 9, 1, 1, false },  { "POPS", 15, 1, 1, false },
};
static const struct unit freq_units[] = {
    { "Hz", 0, 1, 1, true },
    { "kHz", 3, 1, 1, true },
    { "MHz", 6, 1, 1, true },
    { "GHz", 9, 1, 1, true },
};
static const struct unit power_units[] = {
    { "W", 0, 1, 1, true },
    { "kW", 3, 1, 1, true },
    { "MW", 6, 1, 1, true },
};
static const struct unit money_units[] = { { "USD", 0, 1, 1, true } };
static const struct unit per_kwh_units[] = { { "USD/kWh", 0, 1, 1, true } };
static const struct unit per_h_units[] = { { "USD/h", 0, 1, 1, true } };
static const struct unit per_y_units[] = { { "USD/y", 0, 1, 1, true } };
static const struct unit carbon_units[] = {
    { "g/kWh", 0, 1, 1, true },
    { "kg/kWh", 3, 1, 1, true },
};

#define DIM(text_, units_)                                                                         \
    {                                                                                              \
        text_, units_, sizeof(units_) / sizeof *(units_)                                           \
    }
static const struct dim dims[UNIT_DIMS] = {
    [UNIT_TIME] = DIM("a duration such as \"12 s\"", time_units),
    [UNIT_BYTES] = DIM("a size such as \"80 GiB\"", byte_units),
    [UNIT_RATE] = DIM("a data rate such as \"100 Gbit/s\" or \"1.5 TB/s\"", rate_units),
    [UNIT_FLOPS] = DIM("operations per second such as \"312 TFLOPS\"", flops_units),
    [UNIT_FREQ] = DIM("a frequency such as \"1410 MHz\"", freq_units),
    [UNIT_POWER] = DIM("a power such as \"400 W\"", power_units),
    [UNIT_MONEY] = DIM("an amount of money such as \"9750 USD\"", money_units),
    [UNIT_PER_KWH] = DIM("a price of energy such as \"0.12 USD/kWh\"", per_kwh_units),
    [UNIT_PER_H] = DIM("a price per hour such as \"0.99 USD/h\"", per_h_units),
    [UNIT_PER_Y] = DIM("a price per year such as \"450 USD/y\"", per_y_units),
    [UNIT_CARBON] = DIM("a carbon intensity such as \"380 g/kWh\"", carbon_units),
};

/* What people write for a unit, and the unit they mean. */
static const char *const habits[][2] = {
    { "sec", "s" },          { "secs", "s" },         { "second", "s" },
    { "seconds", "s" },      { "msec", "ms" },        { "usec", "us" },
    { "nsec", "ns" },        { "m", "min" },          { "\u00b5s", "us" },
    { "\u03bcs", "us" },     { "mins", "min" },       { "minute", "min" },
    { "minutes", "min" },    { "hr", "h" },           { "hrs", "h" },
    { "hour", "h" },         { "hours", "h" },        { "day", "d" },
    { "days", "d" },         { "week", "w" },         { "weeks", "w" },
    { "yr", "y" },           { "year", "y" },         { "years", "y" },
    { "byte", "B" },         { "bytes", "B" },        { "K", "KiB" },
    { "M", "MiB" },          { "G", "GiB" },          { "T", "TiB" },
    { "Ki", "KiB" },         { "Mi", "MiB" },         { "Gi", "GiB" },
    { "Ti", "TiB" },         { "bps", "bit/s" },      { "kbps", "kbit/s" },
    { "Mbps", "Mbit/s" },    { "Gbps", "Gbit/s" },    { "Tbps", "Tbit/s" },
    { "Gb/s", "Gbit/s" },    { "Mb/s", "Mbit/s" },    { "GBps", "GB/s" },
    { "MBps", "MB/s" },      { "TBps", "TB/s" },      { "watt", "W" },
    { "watts", "W" },        { "$", "USD" },          { "$/kWh", "USD/kWh" },
    { "$/h", "USD/h" },      { "USD/hour", "USD/h" }, { "USD/hr", "USD/h" },
    { "USD/year", "USD/y" }, { "TFLOP/s", "TFLOPS" }, { "GFLOP/s", "GFLOPS" },
    { "PFLOP/s", "PFLOPS" }, { "TFLOPs", "TFLOPS" },
};

const char *unit_expected(enum unit_dim dim)
{
    return dims[dim].expected;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of the unsigned decimal number that text starts with; 0 when it starts with none. */
static size_t number_len(const char *text)
{
    const char *p = text;
    size_t n = 0;

    for (; is_digit(*p); p++) n++;
    if (*p == '.')
        for (p++; is_digit(*p); p++) n++;
    if (n == 0) return 0;
    if (*p == 'e' || *p == 'E') {
        const char *q = p + 1;
        if (*q == '+' || *q == '-') q++;
        if (is_digit(*q)) {
            while (is_digit(*q)) q++;
            p = q;
        }
    }
    return (size_t)(p - text);
}

static const struct unit *unit_named(const struct dim *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->units[i].name, name) == 0) return &d->units[i];
    return NULL;
}

static const char *unit_meant(const struct dim *d, const char *name)
{
    const char *names[16];

    BUG_ON(d->n > sizeof names / sizeof *names);
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if (strcmp(habits[i][0], name) == 0 && unit_named(d, habits[i][1])) return habits[i][1];
    for (size_t i = 0; i < d->n; i++) names[i] = d->units[i].name;
    return *name ? str_nearest(name, names, d->n) : NULL;
}

/* Split "12.5 GiB" into its number (length returned, 0: not a quantity) and its unit. */
static size_t split(const char *text, enum unit_dim dim, const struct unit **unit,
                    const char **nearest)
{
    const size_t len = number_len(text);
    const char *name = text + len;

    if (nearest) *nearest = NULL;
    if (len == 0) return 0;
    if (*name == ' ') name++;
    *unit = unit_named(&dims[dim], name);
    if (*unit) return len;
    if (nearest) *nearest = unit_meant(&dims[dim], name);
    return 0;
}

int unit_parse(const char *text, enum unit_dim dim, double *out, const char **nearest)
{
    const struct unit *u;
    const size_t len = split(text, dim, &u, nearest);
    double v;

    if (len == 0) return -1;
    /* times are tabled in ns and handed out in s */
    const int exp = dim == UNIT_TIME ? u->exp - 9 : u->exp;
    if (dec_double_scaled(text, len, exp, &v) != DEC_OK) return -1;
    v = v * (double)u->mul / (double)u->div;
    if (!isfinite(v)) return -1;
    *out = v;
    return 0;
}

__extension__ typedef unsigned __int128 wide;

/* number x 10^exp x mul to the nearest integer, exactly: up to nine more decimal places than the
 * result has are carried along, as many as fit. */
static int scaled(const char *number, size_t len, const struct unit *u, int64_t *out)
{
    for (int more = 9; more >= 0; more--) {
        int64_t v, ten = 1;
        if (u->exp + more > 18) continue;
        enum dec_status st = dec_fixed(number, len, u->exp + more, &v);
        if (st == DEC_RANGE) continue;
        if (st != DEC_OK) return -1;
        for (int i = 0; i < more; i++) ten *= 10;
        const wide x = ((wide)v * u->mul + (wide)(ten / 2)) / (wide)ten;
        if (x > INT64_MAX) return -1;
        *out = (int64_t)x;
        return 0;
    }
    return -1;
}

int unit_parse_time(const char *text, simtime *ns, const char **nearest)
{
    const struct unit *u;
    const size_t len = split(text, UNIT_TIME, &u, nearest);
    int64_t v;

    if (len == 0 || scaled(text, len, u, &v) || v > (int64_t)(SIM_MAX_S * 1e9)) return -1;
    *ns = v;
    return 0;
}

int unit_parse_bytes(const char *text, uint64_t *bytes, const char **nearest)
{
    const struct unit *u;
    const size_t len = split(text, UNIT_BYTES, &u, nearest);
    int64_t v;

    if (len == 0 || scaled(text, len, u, &v)) return -1;
    *bytes = (uint64_t)v;
    return 0;
}

enum { TEXT_MAX = 48 };

/* Keep the better of two texts: without an exponent, then shorter, then the earlier. */
static void keep_shorter(char best[TEXT_MAX], const char *text)
{
    const bool plain = !strpbrk(text, "eE"), best_plain = !strpbrk(best, "eE");

    if (*best && best_plain != plain ? !plain : *best && strlen(text) >= strlen(best)) return;
    memcpy(best, text, strlen(text) + 1);
}

/* The shortest number in one unit for which same(text, ctx) holds; "" when none does. */
static void shortest_in(const struct unit *u, double number,
                        bool (*same)(const char *, const void *), const void *ctx,
                        char best[TEXT_MAX])
{
    char text[TEXT_MAX];

    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g %s", digits, number, u->name);
        if (!same(text, ctx) || (strpbrk(text, "eE") && digits < 17)) continue;
        keep_shorter(best, text);
        return;
    }
}

struct wanted {
    enum unit_dim dim;
    double value;
    int64_t whole; /* ns or bytes */
};

static bool same_value(const char *text, const void *ctx)
{
    const struct wanted *w = ctx;
    double v;

    return unit_parse(text, w->dim, &v, NULL) == 0 && v == w->value;
}

static bool same_time(const char *text, const void *ctx)
{
    const struct wanted *w = ctx;
    simtime v;

    return unit_parse_time(text, &v, NULL) == 0 && v == w->whole;
}

static bool same_bytes(const char *text, const void *ctx)
{
    const struct wanted *w = ctx;
    uint64_t v;

    return unit_parse_bytes(text, &v, NULL) == 0 && v == (uint64_t)w->whole;
}

static void format(char *buf, size_t size, const struct wanted *w,
                   bool (*same)(const char *, const void *), int base_exp)
{
    const struct dim *d = &dims[w->dim];
    char best[TEXT_MAX] = "";

    if (w->value == 0) {
        snprintf(buf, size, "0 %s", d->units[0].name);
        return;
    }
    for (size_t i = 0; i < d->n; i++) {
        const struct unit *u = &d->units[i];
        double unit = (double)u->mul / (double)u->div;
        for (int e = base_exp; e < u->exp; e++) unit *= 10;
        for (int e = u->exp; e < base_exp; e++) unit /= 10;
        if (u->shown) shortest_in(u, w->value / unit, same, w, best);
    }
    if (!*best) { /* no unit divides it without rounding: move the point instead, which is exact */
        char number[TEXT_MAX];
        snprintf(number, sizeof number, "%.16e", w->value);
        char *e = strchr(number, 'e');
        const int exp = e ? atoi(e + 1) + base_exp - d->units[0].exp : 0;
        if (e) *e = '\0';
        snprintf(best, sizeof best, "%.24se%d %s", number, exp, d->units[0].name);
    }
    snprintf(buf, size, "%s", best);
}

void unit_format(char *buf, size_t size, enum unit_dim dim, double value)
{
    const struct wanted w = { .dim = dim, .value = value };

    format(buf, size, &w, same_value, dim == UNIT_TIME ? 9 : 0);
}

static void format_whole(char *buf, size_t size, enum unit_dim dim, int64_t whole,
                         const char *least, bool (*same)(const char *, const void *))
{
    const struct wanted w = { .dim = dim, .value = (double)whole, .whole = whole };
    char exact[TEXT_MAX], text[TEXT_MAX];

    format(text, sizeof text, &w, same, 0);
    if (!same(text, &w) || strpbrk(text, "eE")) { /* more digits than a double holds */
        size_t n = dec_print(exact, sizeof exact, whole, 0);
        snprintf(exact + n, sizeof exact - n, " %s", least);
        snprintf(buf, size, "%s", exact);
        return;
    }
    snprintf(buf, size, "%s", text);
}

void unit_format_time(char *buf, size_t size, simtime ns)
{
    format_whole(buf, size, UNIT_TIME, ns, "ns", same_time);
}

void unit_format_bytes(char *buf, size_t size, uint64_t bytes)
{
    BUG_ON(bytes > INT64_MAX);
    format_whole(buf, size, UNIT_BYTES, (int64_t)bytes, "B", same_bytes);
}
