#include "whatif/chances.h"

#include "base/mem.h"
#include "cost/bookrisk.h"
#include "cost/tco.h"
#include "metrics/service_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FLIPS = 3 };

enum about { ALL, CLASS, SERVICE };

/* One decision: what its costs are of. */
struct asked {
    const struct chances *c;
    const size_t *policy; /* of each option: the eligible ones */
    const char *name;     /* of the class or service */
    enum about about;
    bool year;
};

static const struct usage_tenant *find_tenant(const struct usage_tenant *t, size_t n,
                                              const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(t[i].name, name) == 0) return &t[i];
    return NULL;
}

static const struct usage_tenant *service_tenant(const struct usage *u, const char *name)
{
    for (size_t i = 0; i < u->n_tenants; i++)
        if (strncmp(u->tenant[i].name, "service:", 8) == 0 &&
            strcmp(u->tenant[i].name + 8, name) == 0)
            return &u->tenant[i];
    return NULL;
}

static double class_useful_h(const struct policy_result *p, const char *name)
{
    for (size_t i = 0; i < p->n_classes; i++)
        if (strcmp(p->by_class[i].name, name) == 0) return p->by_class[i].useful_gpu_hours;
    return 0;
}

static double requests_of(const struct policy_result *p, const char *name)
{
    for (size_t i = 0; i < p->n_services; i++)
        if (strcmp(p->service[i].name, name) == 0)
            return service_stats_requests(&p->service[i], p->window_s);
    return 0;
}

/* A class pays its part of idle and stranded cards in proportion to its charge. */
static double class_usd(const struct asked *q, const struct policy_result *p, const char *share,
                        const struct price_book *book)
{
    const struct usage *u = &p->usage;
    double *usd = xcalloc(u->n_classes + 1, sizeof *usd), charged = 0, mine = NAN;
    const double total = tco_charges(usd, u->klass, u->n_classes, u, share, book);
    for (size_t i = 0; i < u->n_classes; i++) charged += usd[i];
    const struct usage_tenant *t = find_tenant(u->klass, u->n_classes, q->name);
    if (t && charged > 0) mine = usd[t - u->klass] / charged * total;
    free(usd);
    return mine;
}

/* The cost the decision is made by; a book_measure. */
static double cost_of(const void *ctx, size_t option, size_t k, const struct price_book *book)
{
    const struct asked *q = ctx;
    const size_t i = q->policy[option];
    const struct policy_result *p = &q->c->run[i][k];
    const char *share = q->c->share[i];
    double usd, of;
    if (q->about == SERVICE) {
        const struct usage_tenant *t = service_tenant(&p->usage, q->name);
        of = requests_of(p, q->name) / 1e6;
        usd = NAN;
        if (t) tco_charges(&usd, t, 1, &p->usage, share, book);
    } else if (q->about == CLASS) {
        of = class_useful_h(p, q->name);
        usd = class_usd(q, p, share, book);
    } else {
        of = p->useful_gpu_hours;
        usd = tco_charges(NULL, NULL, 0, &p->usage, share, book);
    }
    if (q->year) of = p->usage.hours / TCO_HOURS_PER_YEAR;
    return of > 0 ? usd / of : INFINITY; /* a replication without such work is nobody's bargain */
}

static bool is_service(const struct result *r, const char *name)
{
    for (size_t k = 0; k < r->policy[0].n_services; k++)
        if (strcmp(r->policy[0].service[k].name, name) == 0) return true;
    return false;
}

/* "15200", "0.25" */
static const char *figure(double x, struct arena *a)
{
    return arena_printf(a, fabs(x) >= 10000 ? "%.0f" : "%.4g", x);
}

static void price_flips(struct decision *d, const struct mc_model *m, const struct mc_result *x,
                        struct arena *a)
{
    struct advice_flip *list = arena_array(a, d->n_flips + MOST_FLIPS, sizeof *list);
    size_t added = 0;
    for (size_t i = 0; i < d->n_flips; i++) list[i] = d->flip[i];
    for (size_t i = 0; i < m->n_inputs && added < MOST_FLIPS; i++) {
        const struct mc_swing *s = &x->swing[i];
        const struct mc_input *in = &m->input[s->input];
        if (isnan(s->switching_value) || strcmp(in->name, "replication") == 0) continue;
        const char *to = m->option[s->switches_to],
                   *side = s->switching_value > in->shown.mode ? "above" : "below";
        list[d->n_flips + added++] = (struct advice_flip){
            arena_printf(a, "if \"%s\" were %s %s instead of %s, %s would be the cheaper", in->name,
                         side, figure(s->switching_value, a), figure(in->shown.mode, a), to),
            arena_printf(a, "price: %s", in->name), to, s->switching_value
        };
    }
    d->flip = list;
    d->n_flips += added;
}

/* How sure the recommendation is; where another is the cheaper one more often, that one is named. */
static void say_chance(struct decision *d, struct arena *a)
{
    const struct decision_option *best = NULL, *most = NULL;
    struct advice_reason *list = arena_array(a, d->n_reasons + 1, sizeof *list);
    for (size_t i = 0; i < d->n_options; i++) {
        const struct decision_option *o = &d->option[i];
        if (isnan(o->p_cheapest)) continue;
        if (d->policy && strcmp(o->policy, d->policy) == 0)
            best = o;
        else if (!most || o->p_cheapest > most->p_cheapest)
            most = o;
    }
    if (!best || !most) return;
    for (size_t i = 0; i < d->n_reasons; i++) list[i] = d->reason[i];
    const char *others = most->p_cheapest > 0 ? arena_printf(a, "; %s in %.3g %%", most->policy,
                                                             100 * most->p_cheapest)
                                              : "";
    list[d->n_reasons++] = (struct advice_reason){
        arena_printf(
            a, "with prices drawn from their ranges it is the cheapest in %.3g %% of %d draws%s%s",
            100 * best->p_cheapest, (int)CHANCES_DRAWS, others,
            !(most->p_cheapest > best->p_cheapest) ? ""
            : most->cost < best->cost
                ? ", which costs as much and is slower"
                : ": the ranges are not even about the prices used, get quotes first"),
        "p_cheapest", most->policy, best->p_cheapest, most->p_cheapest
    };
    d->reason = list;
}

/* One decision; false: there is nothing to draw from. */
static bool draw(struct result *r, const struct chances *c, struct decision *d, struct arena *a)
{
    size_t n = 0, chosen = 0;
    size_t *policy = arena_array(a, r->n_policies, sizeof *policy);
    struct priced_use *use = arena_array(a, r->n_policies, sizeof *use);
    for (size_t i = 0; i < r->n_policies; i++) {
        if (!d->option[i].eligible) continue;
        if (!c->book[i] || isnan(d->option[i].cost)) return false;
        const struct usage **usage = arena_array(a, c->replications, sizeof *usage);
        for (size_t k = 0; k < c->replications; k++) usage[k] = &c->run[i][k].usage;
        if (d->policy && strcmp(d->policy, r->policy[i].name) == 0) chosen = n;
        use[n] = (struct priced_use){ r->policy[i].name, c->share[i], usage, c->replications,
                                      c->book[i] };
        policy[n++] = i;
    }
    const bool all = strcmp(d->about, "(all)") == 0;
    const struct asked q = { .c = c,
                             .policy = policy,
                             .name = d->about,
                             .about = all                       ? ALL
                                      : is_service(r, d->about) ? SERVICE
                                                                : CLASS,
                             .year = d->cost_unit && strcmp(d->cost_unit, "USD a year") == 0 };
    const struct mc_model m = bookrisk_model_of(use, n, cost_of, &q, a);
    if (n == 0 || m.n_inputs == 0) return false;
    struct mc_result x;
    mc_run(&x, &m, &(struct mc_options){ CHANCES_DRAWS, r->seed, false, chosen + 1 }, a);
    for (size_t i = 0; i < n; i++) {
        struct decision_option *o = (struct decision_option *)(uintptr_t)&d->option[policy[i]];
        const struct mc_option *from = &x.option[i];
        o->cost_p10 = from->cost.p10;
        o->cost_p50 = from->cost.p50;
        o->cost_p90 = from->cost.p90;
        o->p_cheapest = from->p_cheapest;
        if (i == chosen) continue;
        o->difference_p5 = from->difference.p5;
        o->difference_p95 = from->difference.p95;
        o->no_difference_shown = from->tie;
    }
    if (x.best == chosen) price_flips(d, &m, &x, a);
    say_chance(d, a);
    return true;
}

void chances_fill(struct result *r, const struct chances *c, struct arena *a)
{
    bool any = false;
    for (size_t i = 0; i < r->n_decisions; i++)
        any |= draw(r, c, (struct decision *)(uintptr_t)&r->decision[i], a);
    if (!any) return;
    r->advice_draws = CHANCES_DRAWS;
    r->advice_replications = c->replications;
}
