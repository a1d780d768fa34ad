/* plots/data_money.c - what could turn the choice: the ranges of the prices (risk.json), and the
 * rent at which owning costs the same. */
#include "plots/report_data.h"

#include "base/figure.h"
#include "base/json.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BARS = 12, STEPS = 60 };

static const char *recommended(const struct result *r)
{
    if (r->n_decisions && r->decision[0].policy) return r->decision[0].policy;
    return r->n_policies ? r->policy[0].name : "";
}

int data_cost_place(const struct result *r, size_t policy, double usd)
{
    const int place = figure_place(fabs(usd) * result_cost_spread(r, policy));
    return place == FIGURE_NO_PLACE ? figure_place_money(usd) : place;
}

static double at(json_t *list, size_t i)
{
    json_t *v = json_array_get(list, i);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static double range_of(json_t *input, size_t option)
{
    return fabs(at(json_object_get(input, "eac_high_usd"), option) -
                at(json_object_get(input, "eac_low_usd"), option));
}

/* The option that is the recommended policy; -1: it is not among those priced. */
static int option_of(json_t *risk, const char *policy, double *eac, int *place)
{
    json_t *options = json_object_get(risk, "options"), *one;
    size_t i;
    json_array_foreach(options, i, one)
    {
        const char *name = json_string_value(json_object_get(one, "policy"));
        if (!name || strcmp(name, policy) != 0) continue;
        *eac = json_number_value(json_object_get(one, "eac_usd"));
        *place = figure_place(0.5 * (json_number_value(json_object_get(one, "p90_usd")) -
                                     json_number_value(json_object_get(one, "p10_usd"))));
        if (*place == FIGURE_NO_PLACE) *place = figure_place_money(*eac);
        return (int)i;
    }
    return -1;
}

/* The inputs that move the cost of the recommended policy most, largest first; up to BARS. */
int data_tornado(const struct source *s, const char *path, struct err *e)
{
    json_t *inputs = json_object_get(s->risk, "inputs"), *one;
    bool used[256] = { false };
    struct strbuf out = { 0 };
    double eac = NAN;
    size_t rows = 0, i;
    int place = 0;
    const int option = option_of(s->risk, recommended(s->r), &eac, &place);
    if (option < 0) return 0;
    struct arena *a = arena_create();
    strbuf_addf(&out, "%s\teac\tlow\thigh\tlow_usd\thigh_usd\tplace\n", word(s->lang, W_INPUT));
    while (rows < BARS) {
        json_t *next = NULL;
        size_t which = 0;
        json_array_foreach(inputs, i, one)
        {
            if (i >= sizeof used || used[i]) continue;
            if (next && !(range_of(one, (size_t)option) > range_of(next, (size_t)option))) continue;
            next = one;
            which = i;
        }
        if (!next || !(range_of(next, (size_t)option) > 1e-6 * fabs(eac))) break;
        used[which] = true;
        rows++;
        const char *name = json_string_value(json_object_get(next, "name"));
        data_name(&out, name ? word_of_item(s->lang, a, name) : "?");
        data_number(&out, eac);
        data_number(&out, json_number_value(json_object_get(next, "low")));
        data_number(&out, json_number_value(json_object_get(next, "high")));
        data_number(&out, at(json_object_get(next, "eac_low_usd"), (size_t)option));
        data_number(&out, at(json_object_get(next, "eac_high_usd"), (size_t)option));
        strbuf_addf(&out, "\t%d\n", place);
    }
    arena_destroy(a);
    if (rows) return data_write(&out, path, e);
    strbuf_fini(&out);
    return 0;
}

/* Yearly cost at use u: the energy of idle cards stays, the rest of the energy follows use, all
 * other cost stays. NAN where the result does not say enough. */
static double eac_at(const struct policy_result *p, double u)
{
    double all_h = 0, idle_h = 0, idle_kwh = 0, kwh = 0;
    for (size_t g = 0; g < p->usage.n_groups; g++) {
        const struct usage_group *x = &p->usage.group[g];
        all_h += x->allocated_h + x->free_h + x->stranded_h + x->down_h;
        idle_h += x->free_h + x->stranded_h;
        idle_kwh += x->idle_energy_kwh;
        kwh += x->energy_kwh;
    }
    if (!(p->gpu.allocated > 0) || !(kwh > 0) || !(p->tco.hours > 0)) return p->tco.eac_usd;
    const double idle = idle_h > 0 ? idle_kwh / idle_h * all_h : 0; /* kWh with every card idle */
    const double per_kwh = p->tco.energy_usd / kwh, year = 8760 / p->tco.hours;
    const double busy = fmax(kwh - idle, 0) * per_kwh * year;
    return p->tco.eac_usd - busy + busy * u / p->gpu.allocated;
}

/* Paid by the hour: no curve, for it is what the others are held against. */
static bool is_rented(const struct policy_result *p)
{
    for (size_t i = 0; i < p->tco.n_items; i++) {
        const struct cost_item_result *x = &p->tco.item[i];
        const bool hours =
            strcmp(x->driver, "gpu_hour") == 0 || strcmp(x->driver, "allocated_gpu_hour") == 0;
        if (hours && x->usd > 0.5 * p->tco.total_usd) return true;
    }
    return false;
}

/* Break-even rent per card-hour held, by use: below a curve renting is cheaper, above it owning is.
 * What is rented has the row of the run alone. */
int data_breakeven(const struct source *s, const char *path, struct err *e)
{
    const struct result *r = s->r;
    struct strbuf out = { 0 };
    bool any = false;
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *p = &r->policy[i];
        if (i) strbuf_addz(&out, "\n\n");
        data_name(&out, p->name);
        strbuf_addz(&out, "\tusd_per_card_hour\there\tplace\n");
        for (size_t k = is_rented(p) ? STEPS : 0; k <= STEPS; k++) {
            const bool here = k == STEPS; /* the last row: the run itself */
            const double u = here ? p->gpu.allocated : (double)(k + 3) / (STEPS + 2);
            const double usd = p->tco.priced && p->gpu.count && u > 0
                                   ? eac_at(p, u) / (8760.0 * (double)p->gpu.count * u)
                                   : NAN;
            any = any || usd > 0;
            strbuf_addf(&out, "%.9g", u);
            data_number(&out, usd > 0 ? usd : NAN);
            strbuf_addf(&out, "\t%d\t%d\n", here, usd > 0 ? data_cost_place(r, i, usd) : 0);
        }
    }
    if (any) return data_write(&out, path, e);
    strbuf_fini(&out);
    return 0;
}

/* Cash paid by the end of each month of the term, and what renting (the first rent that there
 * is) would have; only where something is rented, for there is nothing to break even with
 * otherwise. */
int data_months(const struct source *s, const char *path, struct err *e)
{
    const struct result *r = s->r;
    struct strbuf out = { 0 };
    size_t paybacks = 0;
    for (size_t i = 0; i < r->n_policies; i++) paybacks += r->policy[i].tco.n_paybacks;
    if (paybacks == 0) return 0;
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct tco_result *t = &r->policy[i].tco;
        if (i) strbuf_addz(&out, "\n\n");
        data_name(&out, r->policy[i].name);
        strbuf_addz(&out, "\tusd\tpaid_back\trent\tplace\n");
        if (t->n_months == 0) strbuf_addz(&out, "0\tNaN\tNaN\tNaN\t0\n");
        for (size_t m = 0; m < t->n_months; m++) {
            bool paid = false;
            for (size_t k = 0; k < t->n_paybacks; k++)
                paid = paid || t->payback[k].month == (double)m;
            strbuf_addf(&out, "%zu", m);
            data_number(&out, t->paid_by_month_usd[m]);
            data_number(&out, paid ? t->paid_by_month_usd[m] : NAN);
            data_number(&out, t->n_paybacks && t->payback[0].paid_by_month_usd
                                  ? t->payback[0].paid_by_month_usd[m]
                                  : NAN);
            strbuf_addf(&out, "\t%d\n", data_cost_place(r, i, t->paid_by_month_usd[m]));
        }
    }
    return data_write(&out, path, e);
}
