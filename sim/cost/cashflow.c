#include "cost/cashflow.h"

#include <math.h>

const char *const cash_timing_names[] = { "year_end", "month_end", "year_start", NULL };

#define NEARLY 1e-9 /* of a period: 4.0000000001 years are four */

double cashflow_annuity(double rate, double periods)
{
    /* expm1 and log1p keep the digits of small monthly rates */
    return rate == 0 ? periods : -expm1(-periods * log1p(rate)) / rate;
}

double cashflow_monthly_rate(double yearly_rate)
{
    return expm1(log1p(yearly_rate) / 12);
}

/* Present value of 1 a year. */
static double yearly_factor(const struct cash_plan *p)
{
    if (p->timing == CASH_MONTH_END) {
        const double month = cashflow_monthly_rate(p->rate);
        return cashflow_annuity(month, 12 * p->years) / 12;
    }
    const double whole = floor(p->years + NEARLY), rest = p->years - whole;
    double factor = cashflow_annuity(p->rate, whole);
    if (p->timing == CASH_YEAR_START) {
        factor *= 1 + p->rate;
        return rest > NEARLY ? factor + rest * pow(1 + p->rate, -whole) : factor;
    }
    return rest > NEARLY ? factor + rest * pow(1 + p->rate, -p->years) : factor;
}

double cashflow_npv(const struct cash_plan *p)
{
    return p->upfront_usd + p->yearly_usd * yearly_factor(p) -
           p->residual_usd * pow(1 + p->rate, -p->years);
}

double cashflow_eac(const struct cash_plan *p)
{
    return cashflow_npv(p) / cashflow_annuity(p->rate, p->years);
}

size_t cashflow_months(const struct cash_plan *p)
{
    return (size_t)ceil(12 * p->years - NEARLY) + 1;
}

void cashflow_by_month(const struct cash_plan *p, double *flow, size_t n)
{
    const size_t last = n - 1;
    for (size_t m = 0; m < n; m++) flow[m] = 0;
    flow[0] += p->upfront_usd;
    for (size_t begin = 0; begin < last; begin += 12) {
        const size_t end = begin + 12 < last ? begin + 12 : last;
        const double left = p->years - (double)begin / 12, part = left < 1 ? left : 1;
        if (p->timing == CASH_MONTH_END)
            for (size_t m = begin + 1; m <= end; m++)
                flow[m] += p->yearly_usd * part / (double)(end - begin);
        else
            flow[p->timing == CASH_YEAR_START ? begin : end] += p->yearly_usd * part;
    }
    flow[last] -= p->residual_usd;
}
