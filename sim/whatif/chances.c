#include "whatif/chances.h"

#include "base/mem.h"
#include "cost/bookrisk.h"
#include "cost/tco.h"
#include "metrics/decide.h"
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

/* "15200", "0.25" */
static const char *figure(double x, struct arena *a)
{
    return arena_printf(a, fabs(x) >= 10000 ? "%.0f" : "%.4g", x);
}

/* What the draws of one decision are made of and say. */
struct drawn {
    struct asked asked;
    struct mc_model model;
    struct mc_result result;
    bool any;
};

static size_t option_number(const struct mc_model *m, const char *policy)
{
    for (size_t i = 0; policy && i < m->n_options; i++)
        if (strcmp(m->option[i], policy) == 0) return i;
    return 0;
}

/* Prices at which another becomes the cheapest, all others at their medians; none where it is
 * not the cheapest itself then (it costs as much, and is faster). */
static void price_flips(struct decision *d, const struct drawn *x, struct arena *a)
{
    const struct mc_model *m = &x->model;
    struct advice_flip *list = arena_array(a, d->n_flips + MOST_FLIPS, sizeof *list);
    size_t added = 0;
    if (x->result.best != option_number(m, d->policy)) return;
    for (size_t i = 0; i < d->n_flips; i++) list[i] = d->flip[i];
    for (size_t i = 0; i < m->n_inputs && added < MOST_FLIPS; i++) {
        const struct mc_swing *s = &x->result.swing[i];
        const struct mc_input *in = &m->input[s->input];
        const double now = amount_at(&in->shown, 0.5);
        if (isnan(s->switching_value) || strcmp(in->name, "replication") == 0) continue;
        const char *to = m->option[s->switches_to],
                   *side = s->switching_value > now ? "above" : "below";
        list[d->n_flips + added++] = (struct advice_flip){
            arena_printf(a,
                         "if \"%s\" were %s %s instead of %s (its median), %s would be the cheaper",
                         in->name, side, figure(s->switching_value, a), figure(now, a), to),
            arena_printf(a, "price: %s", in->name), to, s->switching_value
        };
    }
    d->flip = list;
    d->n_flips += added;
}

/* How sure the recommendation is; where another is the cheaper one more often, that one is
 * named. */
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
            : most->cost_p50 <= best->cost_p50
                ? ", but by less than 2 % at the medians, and is no faster"
                : ", but its median is the higher one"),
        "p_cheapest", most->policy, best->p_cheapest, most->p_cheapest
    };
    d->reason = list;
}

static struct decision *decision_at(struct result *r, size_t i)
{
    return (struct decision *)(uintptr_t)&r->decision[i];
}

static struct decision_option *option_at(struct decision *d, size_t i)
{
    return (struct decision_option *)(uintptr_t)&d->option[i];
}

static void set_band(struct decision *d, size_t option, const struct mc_band *b)
{
    struct decision_option *o = option_at(d, option);
    o->cost_p10 = b->p10;
    o->cost_p50 = b->p50;
    o->cost_p90 = b->p90;
}

/* The options of `d` that are eligible, or those that are not, as a model of what they cost. */
static struct mc_model model_of(const struct result *r, const struct decision *d, bool eligible,
                                struct asked *q, struct arena *a)
{
    const struct chances *c = q->c;
    size_t n = 0;
    size_t *policy = arena_array(a, r->n_policies, sizeof *policy);
    struct priced_use *use = arena_array(a, r->n_policies, sizeof *use);
    for (size_t i = 0; i < r->n_policies; i++) {
        if (d->option[i].eligible != eligible || !c->book[i] || isnan(d->option[i].cost)) continue;
        const struct usage **usage = arena_array(a, c->replications, sizeof *usage);
        for (size_t k = 0; k < c->replications; k++) usage[k] = &c->run[i][k].usage;
        use[n] = (struct priced_use){ r->policy[i].name, c->share[i], usage, c->replications,
                                      c->book[i] };
        policy[n++] = i;
    }
    q->policy = policy;
    return bookrisk_model_of(use, n, cost_of, q, a);
}

static void sample(const struct result *r, const struct decision *d, struct drawn *x,
                   struct arena *a)
{
    const struct mc_options o = { .samples = CHANCES_DRAWS,
                                  .seed = r->seed,
                                  .against = option_number(&x->model, d->policy) + 1,
                                  .from_medians = true };
    mc_run(&x->result, &x->model, &o, a);
}

/* The costs of those that are not eligible, on the same draws: what accepting them would save. */
static void draw_others(const struct result *r, struct decision *d, const struct drawn *eligible,
                        struct arena *a)
{
    struct drawn x = { .asked = eligible->asked };
    x.model = model_of(r, d, false, &x.asked, a);
    if (x.model.n_options == 0) return;
    sample(r, d, &x, a);
    for (size_t i = 0; i < x.model.n_options; i++)
        set_band(d, x.asked.policy[i], &x.result.option[i].cost);
}

/* Into the options of `d`; nothing where a policy has no price or nothing has a range. */
static void draw(const struct result *r, const struct chances *c, struct decision *d,
                 struct drawn *x, struct arena *a)
{
    size_t n = 0;
    x->asked = (struct asked){ .c = c,
                               .name = d->about,
                               .about = strcmp(d->about, "(all)") == 0 ? ALL
                                        : d->service                   ? SERVICE
                                                                       : CLASS,
                               .year = d->cost_unit && strcmp(d->cost_unit, "USD a year") == 0 };
    x->model = model_of(r, d, true, &x->asked, a);
    for (size_t i = 0; i < d->n_options; i++) n += d->option[i].eligible;
    x->any = n > 0 && x->model.n_options == n && x->model.n_inputs > 0;
    if (!x->any) return;
    sample(r, d, x, a);
    for (size_t i = 0; i < n; i++) {
        struct decision_option *o = option_at(d, x->asked.policy[i]);
        set_band(d, x->asked.policy[i], &x->result.option[i].cost);
        o->p_cheapest = x->result.option[i].p_cheapest;
    }
    draw_others(r, d, x, a);
}

/* What differs from the one that is recommended. */
static void set_differences(struct decision *d, const struct drawn *x)
{
    const size_t chosen = option_number(&x->model, d->policy);
    for (size_t i = 0; i < x->model.n_options; i++) {
        struct decision_option *o = option_at(d, x->asked.policy[i]);
        if (i == chosen) continue;
        o->difference_p5 = x->result.option[i].difference.p5;
        o->difference_p95 = x->result.option[i].difference.p95;
        o->no_difference_shown = x->result.option[i].tie;
    }
}

void chances_fill(struct result *r, const struct chances *c, struct arena *a)
{
    struct drawn *x = arena_array(a, r->n_decisions + 1, sizeof *x);
    bool any = false;
    for (size_t i = 0; i < r->n_decisions; i++) {
        x[i].any = false;
        draw(r, c, decision_at(r, i), &x[i], a);
        any |= x[i].any;
    }
    if (!any) return;
    const char **before = arena_array(a, r->n_decisions + 1, sizeof *before);
    for (size_t i = 0; i < r->n_decisions; i++) before[i] = r->decision[i].policy;
    decide_by_medians(r, a);
    for (size_t i = 0; i < r->n_decisions; i++) {
        struct decision *d = decision_at(r, i);
        if (!x[i].any) continue;
        if (strcmp(d->policy, before[i]) != 0) sample(r, d, &x[i], a); /* against another */
        set_differences(d, &x[i]);
        price_flips(d, &x[i], a);
        say_chance(d, a);
    }
    r->advice_draws = CHANCES_DRAWS;
    r->advice_replications = c->replications;
}
