#include "cost/breakeven.h"

#include <math.h>

double breakeven_use(double idle_usd, double busy_usd, double rent_usd)
{
    const double steeper = rent_usd - (busy_usd - idle_usd);
    if (!(steeper > 0) || !(idle_usd >= 0)) return NAN;
    const double x = idle_usd / steeper;
    return x <= 1 ? x : NAN;
}

double breakeven_months(double upfront_usd, double own_usd, double rent_usd, double rate,
                        double limit)
{
    const double saved = rent_usd - own_usd; /* a month */
    double m;
    if (upfront_usd <= 0) return saved >= 0 ? 0 : NAN;
    if (!(saved > 0)) return NAN;
    if (rate > 0) {
        const double paid_back = upfront_usd * rate / saved; /* 1 - (1 + rate)^-m */
        if (paid_back >= 1) return NAN;
        m = -log1p(-paid_back) / log1p(rate);
    } else {
        m = upfront_usd / saved;
    }
    return m <= limit * (1 + 1e-12) ? m : NAN;
}

double breakeven_price(double eac_usd, double cards, double use)
{
    const double hours = 8760 * cards * use;
    return hours > 0 ? eac_usd / hours : NAN;
}

static double total_weight(const struct demand_level *d, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += d[i].hours;
    return sum;
}

double commit_level(const struct demand_level *d, size_t n, double c_fixed, double p_ondemand)
{
    const double all = total_weight(d, n), accept = c_fixed / p_ondemand * all;
    double above = all; /* weight of demand > the level looked at */
    if (above <= accept) return 0;
    for (size_t i = 0; i < n; i++) {
        above -= d[i].hours;
        if (above <= accept + 1e-12 * all) return d[i].cards;
    }
    return n ? d[n - 1].cards : 0;
}

double commit_usd_per_hour(const struct demand_level *d, size_t n, double level, double c_fixed,
                           double p_ondemand)
{
    double over = 0;
    for (size_t i = 0; i < n; i++)
        if (d[i].cards > level) over += d[i].hours * (d[i].cards - level);
    return c_fixed * level + (n ? p_ondemand * over / total_weight(d, n) : 0);
}
