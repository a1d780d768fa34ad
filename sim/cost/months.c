#include "cost/months.h"

#include "cost/cashflow.h"
#include "cost/tco.h"

#include <math.h>
#include <string.h>

/* One purchase, and all that follow it. Returns what the last one is worth at the end of the
 * term. */
static double buy(double *paid, size_t last, const struct price_item *it, double usd, double term_y)
{
    double bought_y = 0;
    for (int k = 0; k == 0 || k * it->life_y < term_y - 1e-9; k++) {
        bought_y = k * it->life_y;
        const size_t month = (size_t)lround(12 * bought_y);
        paid[month < last ? month : last] += usd;
    }
    return usd * pow(it->retention, term_y - bought_y);
}

void months_fill(struct tco_result *out, const struct price_book *book, struct arena *a)
{
    const size_t n = cashflow_months(&(struct cash_plan){ .years = book->term_y });
    double *paid = arena_array(a, n, sizeof *paid), yearly = 0;
    out->rate = book->rate;
    out->term_y = book->term_y;
    out->upfront_usd = out->resale_usd = 0;
    for (size_t m = 0; m < n; m++) paid[m] = 0;
    for (size_t i = 0, k = 0; i < out->n_items; i++, k++) {
        const struct cost_item_result *it = &out->item[i];
        while (k + 1 < book->n_items && book->item[k].name != it->name) k++;
        const struct price_item *price = &book->item[k];
        if (price->period == PER_ONCE) {
            const double usd = it->quantity * price->amount.mode;
            out->upfront_usd += usd;
            out->resale_usd += buy(paid, n - 1, price, usd, book->term_y);
        } else if (out->hours > 0) {
            yearly += it->usd * 8760 / out->hours;
        }
    }
    for (size_t m = 1; m < n; m++) {
        const double left = 12 * book->term_y - (double)(m - 1);
        paid[m] += paid[m - 1] + yearly / 12 * fmin(1, left);
    }
    for (size_t m = 0; m < n; m++) paid[m] = tco_stored(paid[m]);
    out->upfront_usd = tco_stored(out->upfront_usd);
    out->resale_usd = tco_stored(out->resale_usd);
    out->paid_by_month_usd = paid;
    out->n_months = n;
}

bool months_rented(const struct tco_result *t)
{
    if (!t->priced || t->upfront_usd > 0) return false;
    for (size_t i = 0; i < t->n_items; i++)
        if (t->item[i].usd > 0 && strstr(t->item[i].driver, "gpu_hour")) return true;
    return false;
}

/* Smallest month from which on own <= rent; NAN: not at the end. A cent in a million is no
 * difference. */
static double paid_back(const double *own, const double *rent, size_t n)
{
    size_t m = n;
    while (m > 0 && own[m - 1] <= rent[m - 1] + 1e-9 * fabs(rent[m - 1])) m--;
    return m < n ? (double)m : NAN;
}

/* Present value of what has been paid by the end of each month. */
static double *discounted(const double *paid, size_t n, double monthly_rate, struct arena *a)
{
    double *pv = arena_array(a, n, sizeof *pv);
    for (size_t m = 0; m < n; m++)
        pv[m] = m == 0 ? paid[0]
                       : pv[m - 1] + (paid[m] - paid[m - 1]) * pow(1 + monthly_rate, -(double)m);
    return pv;
}

struct payback months_payback(const struct tco_result *own, const char *name,
                              const struct tco_result *rent, struct arena *a)
{
    const size_t n = own->n_months;
    const double rate = cashflow_monthly_rate(own->rate);
    double *paid = arena_array(a, n, sizeof *paid);
    for (size_t m = 0; m < n; m++)
        paid[m] = tco_stored(rent->usd_per_year / 12 * fmin((double)m, 12 * own->term_y));
    return (struct payback){ .rent = name,
                             .month = paid_back(own->paid_by_month_usd, paid, n),
                             .month_discounted =
                                 paid_back(discounted(own->paid_by_month_usd, n, rate, a),
                                           discounted(paid, n, rate, a), n),
                             .usd_per_year = rent->usd_per_year,
                             .paid_by_month_usd = paid };
}

void months_add_payback(struct tco_result *own, const char *name, const struct tco_result *rent,
                        struct arena *a)
{
    if (!own->priced || !(own->upfront_usd > 0)) return;
    struct payback *x = arena_array(a, own->n_paybacks + 1, sizeof *x);
    for (size_t k = 0; k < own->n_paybacks; k++) x[k] = own->payback[k];
    x[own->n_paybacks++] = months_payback(own, name, rent, a);
    own->payback = x;
}

void months_paybacks(struct policy_result *p, size_t n, struct arena *a)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (months_rented(&p[k].tco)) months_add_payback(&p[i].tco, p[k].name, &p[k].tco, a);
}
