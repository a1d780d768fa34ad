#include "calibrate/settle.h"

#include <math.h>

static double sum(const struct bins *b, size_t from, size_t n)
{
    double s = 0;
    for (size_t i = from; i < from + n; i++) s += b->count[i];
    return s;
}

double bins_rate(const struct bins *b, size_t from)
{
    return from < b->n ? sum(b, from, b->n - from) / ((double)(b->n - from) * b->width_s) : NAN;
}

double bins_deviation(const struct bins *b, size_t from, size_t window)
{
    const size_t windows = from < b->n ? (b->n - from) / window : 0;
    const size_t first = b->n - windows * window;
    double squares = 0;
    if (windows < 2) return NAN;
    const double mean = sum(b, first, windows * window) / (double)windows;
    for (size_t w = 0; w < windows; w++) {
        const double off = sum(b, first + w * window, window) - mean;
        squares += off * off;
    }
    return mean > 0 ? sqrt(squares / (double)(windows - 1)) / mean : NAN;
}

double bins_settled_s(const struct bins *b, size_t window, double band)
{
    const size_t half = b->n / 2;
    size_t settled = 0;
    if (b->n < 2 * window) return NAN;
    const double mean = sum(b, half, b->n - half) / (double)(b->n - half) * (double)window;
    for (size_t k = 0; k + window <= b->n; k++)
        if (!(fabs(sum(b, k, window) - mean) <= band * mean)) settled = k + 1;
    return settled <= half && mean > 0 ? (double)settled * b->width_s : NAN;
}

double bins_burst_s(const struct bins *b)
{
    const size_t half = b->n / 2;
    const double later = bins_rate(b, half);
    return later > 0 ? sum(b, 0, half) / later - (double)half * b->width_s : NAN;
}
