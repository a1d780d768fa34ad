/* cost/cashflow.h - money at different times (reference TCO 3.4).
 *
 *     a(r, n)  = (1 - (1 + r)^-n) / r, n when r = 0        present value of 1 at the end of each period
 *     NPV      = upfront + sum of payments (1 + r)^-t - residual (1 + r)^-n
 *     EAC      = NPV / a(r, n)                             equivalent annual cost
 * Rates are effective per period, 0.08 = 8 %. A year has 12 equal months; the monthly rate that
 * compounds to a yearly one is (1 + r)^(1/12) - 1. Hamilton and mortgages use r / 12 instead: pass
 * that yourself. Tax is left out. Units: USD, years or months. Pure functions; any thread. */
#ifndef GPUSIM_COST_CASHFLOW_H
#define GPUSIM_COST_CASHFLOW_H

#include <stddef.h>

/* When yearly costs are paid. */
enum cash_timing { CASH_YEAR_END, CASH_MONTH_END, CASH_YEAR_START };
extern const char *const cash_timing_names[]; /* "year_end", "month_end", "year_start", NULL */

struct cash_plan {
    double upfront_usd;  /* paid now */
    double yearly_usd;   /* paid through the term */
    double residual_usd; /* got back at the end of the term */
    double rate, years; /* per year; the term may end within a year: that part is paid at its end */
    enum cash_timing timing;
};

double cashflow_annuity(double rate, double periods);
double cashflow_monthly_rate(double yearly_rate);

double cashflow_npv(const struct cash_plan *p);
double cashflow_eac(const struct cash_plan *p);

/* The same plan month by month: flow[m] [USD] is paid at the end of month m, flow[0] now. The last
 * month of the term is ceil(12 years); `n` must be cashflow_months() of it. The NPV of the flows at
 * the monthly rate equals cashflow_npv() when the term is a whole number of months. O(n). */
size_t cashflow_months(const struct cash_plan *p); /* entries, flow[0] included */
void cashflow_by_month(const struct cash_plan *p, double *flow, size_t n);

#endif
