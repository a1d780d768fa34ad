#include "metrics/decide.h"

#include "base/figure.h"

#include <math.h>
#include <string.h>

/* ABSURD: a slowdown that nobody accepts for a lower price; a flip to it would say nothing */
static const double ABSURD = 100, MOST_LOST = 0.01, TIE = 0.02, GUARD = 4, NEAR_BEST = 0.02;

/* One policy as the work in question sees it. */
struct view {
    const struct policy_result *p;
    double submitted, lost;
    double slowdown, wait_s; /* 95 % */
    double useful_h;
    double cost;       /* what decides: per useful GPU-hour, per million requests, or a year */
    double stated;     /* the same at the stated prices */
    double year_cost;  /* of a class */
    double attainment; /* of a service; NAN: it has no target */
    size_t targets, missed;
    bool there, stable;
    bool endless; /* all jobs run at the end of the window, none has ended */
};

struct question {
    const struct result *r;
    struct arena *a;
    const char *about;
    struct view *view; /* one per policy */
    bool service;
    bool year; /* cost of a year: services do no useful GPU-hours, nor do jobs of which none ends */
    const struct decision_option
        *drawn; /* one per policy, with medians; NULL: stated prices decide */
};

/* ---- figures ---- */

static void see_counts(struct view *v, const struct job_counts *n, const struct job_stats *s,
                       double useful_h)
{
    v->there = n->submitted > 0;
    v->endless = v->there && n->running == n->submitted;
    v->submitted = (double)n->submitted;
    v->lost = (double)(n->failed + n->killed + n->rejected);
    v->slowdown = s->slowdown.p95;
    v->wait_s = s->wait_s.p95;
    v->useful_h = useful_h;
    v->stable = v->p->stable;
}

static void see_targets(struct view *v, const struct service_result *s)
{
    if (!isnan(s->attainment))
        v->attainment = fmin(isnan(v->attainment) ? 1 : v->attainment, s->attainment);
    v->targets += s->n_targets;
    for (size_t i = 0; i < s->n_targets; i++) v->missed += !s->target[i].met;
}

static void see_all(struct view *v)
{
    const struct policy_result *p = v->p;
    see_counts(v, &p->jobs, &p->stats, p->useful_gpu_hours);
    if (p->tco.priced)
        v->cost = p->n_services ? p->tco.usd_per_year : p->tco.usd_per_useful_gpu_hour;
    for (size_t k = 0; k < p->n_services; k++) {
        see_targets(v, &p->service[k]);
        if (p->service[k].requests == 0) continue;
        v->there = true; /* without a job, too */
        if (p->jobs.submitted == 0) v->stable = v->stable && p->service[k].stable;
    }
}

static void see_class(struct view *v, const char *name)
{
    const struct policy_result *p = v->p;
    double mine = NAN, charged = 0;
    for (size_t i = 0; i < p->n_classes; i++)
        if (strcmp(p->by_class[i].name, name) == 0)
            see_counts(v, &p->by_class[i].count, &p->by_class[i].stats,
                       p->by_class[i].useful_gpu_hours);
    for (size_t i = 0; i < p->tco.n_classes; i++) {
        charged += p->tco.klass[i].usd;
        if (strcmp(p->tco.klass[i].name, name) == 0) mine = p->tco.klass[i].usd;
    }
    if (!(charged > 0)) return;
    if (v->useful_h > 0) v->cost = mine / charged * p->tco.total_usd / v->useful_h;
    v->year_cost = mine / charged * p->tco.usd_per_year;
}

/* Work that goes on through all of the window under some policy (cameras, desktops) has no
 * useful hours of jobs completed there: all policies are compared by what it costs a year. */
static void see_endless(struct question *q)
{
    for (size_t i = 0; i < q->r->n_policies; i++) q->year |= q->view[i].endless;
    if (!q->year) return;
    for (size_t i = 0; i < q->r->n_policies; i++) q->view[i].cost = q->view[i].year_cost;
}

static void see_service(struct view *v, const char *name)
{
    for (size_t k = 0; k < v->p->n_services; k++) {
        const struct service_result *s = &v->p->service[k];
        if (strcmp(s->name, name) != 0) continue;
        v->there = s->requests > 0;
        v->submitted = (double)s->requests;
        v->lost = (double)(s->dropped + s->unservable);
        v->slowdown = NAN;
        v->wait_s = s->wait_ms.p95 / 1000;
        see_targets(v, s);
        v->cost = s->usd_per_million_requests;
        v->stable = s->stable;
    }
}

/* ---- the rule ---- */

static bool meets_all(const struct view *v)
{
    return v->targets > 0 && v->missed == 0;
}

/* Fit but for its targets. */
static bool sound(const struct question *q, const struct view *v)
{
    if (!v->there || !v->stable) return false;
    return (q->service && !isnan(v->attainment)) || v->lost <= MOST_LOST * v->submitted;
}

static bool any_meets_all(const struct question *q)
{
    for (size_t i = 0; i < q->r->n_policies; i++)
        if (sound(q, &q->view[i]) && meets_all(&q->view[i])) return true;
    return false;
}

static double best_attainment(const struct question *q)
{
    double best = NAN;
    for (size_t i = 0; i < q->r->n_policies; i++)
        if (sound(q, &q->view[i])) best = fmax(best, q->view[i].attainment);
    return best;
}

static bool fit(const struct question *q, const struct view *v)
{
    const double best = best_attainment(q);
    if (!sound(q, v) || isnan(best)) return sound(q, v);
    return any_meets_all(q) ? meets_all(v) : v->attainment >= best - NEAR_BEST;
}

static double least_slowdown(const struct question *q)
{
    double least = NAN;
    for (size_t i = 0; i < q->r->n_policies; i++)
        if (fit(q, &q->view[i])) least = fmin(least, q->view[i].slowdown);
    return least;
}

static bool fast_enough(const struct view *v, double least)
{
    return isnan(least) || isnan(v->slowdown) || v->slowdown <= GUARD * fmax(1, least);
}

static bool equal_cost(const struct view *a, const struct view *b)
{
    return isnan(a->cost) || isnan(b->cost) || a->cost == b->cost ||
           fabs(a->cost - b->cost) <= TIE * fmin(a->cost, b->cost);
}

static double quickness(const struct view *v)
{
    return isnan(v->slowdown) ? v->wait_s : v->slowdown;
}

static const struct view *choose(const struct question *q)
{
    const struct view *cheapest = NULL, *best = NULL;
    const double least = least_slowdown(q);
    for (size_t i = 0; i < q->r->n_policies; i++) {
        const struct view *v = &q->view[i];
        if (!fit(q, v) || !fast_enough(v, least)) continue;
        if (!cheapest || v->cost < cheapest->cost) cheapest = v;
    }
    for (size_t i = 0; cheapest && i < q->r->n_policies; i++) {
        const struct view *v = &q->view[i];
        if (!fit(q, v) || !fast_enough(v, least) || !equal_cost(v, cheapest)) continue;
        if (!best || quickness(v) < quickness(best)) best = v;
    }
    return best;
}

/* Nothing tells it from the best: equal cost and, within 2 %, equal slowdown. */
static bool as_good(const struct view *v, const struct view *best)
{
    const double x = quickness(v), y = quickness(best);
    /* waits are in s: below one there is no difference */
    const double second = isnan(v->slowdown) ? 1 : 0;
    return equal_cost(v, best) &&
           (isnan(x) || isnan(y) || fabs(x - y) <= fmax(second, TIE * fmin(x, y)));
}

/* ---- words ---- */

static const char *kept(struct strbuf *b, struct arena *a)
{
    const char *s = arena_strdup(a, b->s);
    strbuf_fini(b);
    return s;
}

/* "3.26", "2,170" */
static const char *times(double x, struct arena *a)
{
    struct strbuf b = { 0 };
    figure_add_short(&b, x, 3);
    return kept(&b, a);
}

/* What a policy costs, to what the draws support; four digits where the stated prices decide. */
static const char *money(const struct question *q, const struct view *v)
{
    const struct decision_option *o = q->drawn ? &q->drawn[v - q->view] : NULL;
    const int place = o ? figure_place(0.5 * (o->cost_p90 - o->cost_p10)) : FIGURE_NO_PLACE;
    struct strbuf b = { 0 };
    if (place == FIGURE_NO_PLACE)
        figure_add_short(&b, v->cost, FIGURE_DIGITS);
    else
        figure_add(&b, v->cost, place);
    return kept(&b, q->a);
}

static const char *duration(double s, struct arena *a)
{
    struct strbuf b = { 0 };
    figure_add_duration(&b, s);
    return kept(&b, a);
}

static void reason(struct question *q, struct decision *d, const char *metric, double value,
                   const char *against, double other, const char *text)
{
    (void)q;
    struct advice_reason *list = (struct advice_reason *)(uintptr_t)d->reason;
    list[d->n_reasons++] = (struct advice_reason){ text, metric, against, value, other };
}

static void flip(struct decision *d, const char *input, double at, const char *to, const char *text)
{
    struct advice_flip *list = (struct advice_flip *)(uintptr_t)d->flip;
    list[d->n_flips++] = (struct advice_flip){ text, input, to, at };
}

static const char *unit_of(const struct question *q)
{
    return q->service ? "USD per million requests within target"
           : q->year  ? "USD a year"
                      : "USD per useful GPU-hour";
}

/* Why a policy was not chosen, with its figures. */
static void against(struct question *q, struct decision *d, const struct view *best,
                    const struct view *v)
{
    const char *name = v->p->name;
    struct arena *a = q->a;
    const double least = least_slowdown(q);
    if (!v->there) return;
    if (!v->stable) {
        reason(q, d, "stable", 1, name, 0,
               arena_printf(a, "%s is unstable: its waits grow to the end of the run", name));
    } else if (!sound(q, v)) {
        reason(q, d, "lost", best->lost, name, v->lost,
               arena_printf(a, "%s loses %.0f of %.0f jobs%s%s", name, v->lost, v->submitted,
                            v->p->rejected_reason ? ", mostly: " : "",
                            v->p->rejected_reason ? v->p->rejected_reason : ""));
        if (v->cost < best->cost * (1 - TIE))
            flip(d, "lost", v->lost / v->submitted, name,
                 arena_printf(
                     a,
                     "if losing %.3g %% of the jobs is acceptable, %s is cheaper: %s against %s %s",
                     100 * v->lost / v->submitted, name, money(q, v), money(q, best), unit_of(q)));
    } else if (!fit(q, v)) {
        reason(q, d, "attainment", best->attainment, name, v->attainment,
               meets_all(best)
                   ? arena_printf(a, "meets all targets; %s misses %zu of %zu (%.4g %% within all)",
                                  name, v->missed, v->targets, 100 * v->attainment)
                   : arena_printf(a, "%.4g %% within all targets; %s %.4g %%",
                                  100 * best->attainment, name, 100 * v->attainment));
        if (v->cost < best->cost * (1 - TIE))
            flip(d, "attainment", v->attainment, name,
                 arena_printf(
                     a, "if %.4g %% within all targets are enough, %s is cheaper: %s against %s %s",
                     100 * v->attainment, name, money(q, v), money(q, best), unit_of(q)));
    } else if (!fast_enough(v, least)) {
        reason(q, d, "slowdown_p95", best->slowdown, name, v->slowdown,
               arena_printf(
                   a, "95 %% of the jobs take at most %s times their time alone; under %s %s times",
                   times(best->slowdown, a), name, times(v->slowdown, a)));
        if (v->cost < best->cost * (1 - TIE) && v->slowdown <= ABSURD)
            flip(d, "slowdown_p95", v->slowdown, name,
                 arena_printf(
                     a, "if a 95 %% slowdown of %s is acceptable, %s is cheaper: %s against %s %s",
                     times(v->slowdown, a), name, money(q, v), money(q, best), unit_of(q)));
    } else if (!equal_cost(v, best)) {
        reason(q, d, "cost", best->cost, name, v->cost,
               arena_printf(a, "%s %s; %s %s (%+.1f %%)", money(q, best), unit_of(q), name,
                            money(q, v), 100 * (v->cost / best->cost - 1)));
    } else if (!as_good(v, best) && !isnan(best->slowdown)) {
        reason(q, d, "slowdown_p95", best->slowdown, name, v->slowdown,
               arena_printf(
                   a,
                   "as dear as %s (within %.0f %%), but 95 %% of the jobs take at most %s times "
                   "their time alone instead of %s",
                   name, 100 * TIE, times(best->slowdown, a), times(v->slowdown, a)));
    } else if (!as_good(v, best)) {
        reason(q, d, "wait_p95_s", best->wait_s, name, v->wait_s,
               arena_printf(a, "95 %% wait at most %s; under %s %s", duration(best->wait_s, a),
                            name, duration(v->wait_s, a)));
    }
}

static double cards_of(const struct policy_result *p)
{
    double n = 0;
    for (size_t i = 0; i < p->usage.n_groups; i++)
        n += (double)p->usage.group[i].cards * usage_share(&p->usage, &p->usage.group[i]);
    return n;
}

/* What would make the next in line the cheaper one: its cost, or a licence on the cards of the
 * best. */
static void cost_flips(struct question *q, struct decision *d, const struct view *best)
{
    const struct view *next = NULL;
    const double least = least_slowdown(q);
    for (size_t i = 0; i < q->r->n_policies; i++) {
        const struct view *v = &q->view[i];
        if (v == best || !fit(q, v) || !fast_enough(v, least) || !(v->cost > best->cost) ||
            equal_cost(v, best))
            continue;
        if (!next || v->cost < next->cost) next = v;
    }
    if (!next || isnan(best->cost)) return;
    const char *name = next->p->name;
    flip(
        d, "cost_share", best->cost / next->cost - 1, name,
        arena_printf(
            q->a,
            "if %s cost %.1f %% less (fewer or cheaper cards, a lower rent), it would be the cheaper",
            name, 100 * (1 - best->cost / next->cost)));
    const double card_years = cards_of(best->p) * best->p->usage.hours / 8760;
    if (q->service || !(card_years > 0)) return;
    const double work = best->useful_h > 0 ? best->useful_h : best->p->useful_gpu_hours;
    /* a class pays its part of a licence on all cards */
    const double part = q->year ? best->stated / best->p->tco.usd_per_year
                                : best->stated * work / best->p->tco.total_usd;
    if (!(part > 0)) return;
    const double licence = q->year ? (next->cost - best->cost) / part / cards_of(best->p)
                                   : (next->cost - best->cost) * work / part / card_years;
    flip(
        d, "usd_per_card_year", licence, name,
        arena_printf(
            q->a,
            "if %s needed a licence or support above %s USD per card and year, %s would be the cheaper",
            best->p->name, times(licence, q->a), name));
}

static void set_fleet(struct decision *d, const struct policy_result *p, struct arena *a)
{
    struct decision_fleet *f = arena_array(a, p->usage.n_groups, sizeof *f);
    for (size_t i = 0; i < p->usage.n_groups; i++) {
        const struct usage_group *g = &p->usage.group[i];
        f[i] = (struct decision_fleet){ g->name, g->gpu ? g->gpu->name : NULL, g->nodes, g->cards };
    }
    d->fleet = f;
    d->n_fleet = p->usage.n_groups;
}

static void set_options(const struct question *q, struct decision *d)
{
    struct decision_option *o = arena_array(q->a, q->r->n_policies, sizeof *o);
    const double least = least_slowdown(q);
    d->cost_unit = unit_of(q);
    d->option = o;
    d->n_options = q->r->n_policies;
    d->by_median = q->drawn;
    if (q->drawn) {
        d->option = q->drawn;
        return;
    }
    for (size_t i = 0; i < q->r->n_policies; i++)
        o[i] = (struct decision_option){ .policy = q->view[i].p->name,
                                         .eligible =
                                             fit(q, &q->view[i]) && fast_enough(&q->view[i], least),
                                         .cost = q->view[i].cost,
                                         .cost_p10 = NAN,
                                         .cost_p50 = NAN,
                                         .cost_p90 = NAN,
                                         .p_cheapest = NAN,
                                         .difference_p5 = NAN,
                                         .difference_p95 = NAN };
}

static void answer(struct question *q, struct decision *d)
{
    const size_t n = q->r->n_policies;
    const struct view *best = choose(q);
    const char **tie = arena_array(q->a, n, sizeof *tie);
    *d = (struct decision){ .about = q->about,
                            .service = q->service,
                            .reason = arena_array(q->a, n + 2, sizeof *d->reason),
                            .flip = arena_array(q->a, n + 3, sizeof *d->flip),
                            .tie = tie };
    set_options(q, d);
    if (!best) {
        flip(d, "fit", NAN, NULL,
             "no policy serves this work: each is unstable, misses its targets or loses "
             "more than 1 in 100 of the jobs; more or other cards are needed");
        return;
    }
    d->policy = best->p->name;
    d->kind = best->p->kind;
    set_fleet(d, best->p, q->a);
    if (best->missed > 0)
        reason(q, d, "missed", (double)best->missed, NULL, (double)best->targets,
               arena_printf(q->a,
                            "misses %zu of %zu targets; no policy that is otherwise fit meets all",
                            best->missed, best->targets));
    if (n == 1) reason(q, d, "cost", best->cost, NULL, NAN, "the only policy of the scenario");
    for (size_t i = 0; i < n; i++) {
        const struct view *v = &q->view[i];
        if (v == best) continue;
        if (fit(q, v) && fast_enough(v, least_slowdown(q)) && as_good(v, best))
            tie[d->n_ties++] = v->p->name;
        else
            against(q, d, best, v);
    }
    cost_flips(q, d, best);
}

/* ---- all questions ---- */

static void ask(struct result *r, struct arena *a, struct decision *d, const char *about,
                bool service, const struct decision_option *drawn)
{
    struct view *view = arena_array(a, r->n_policies, sizeof *view);
    const bool all = !service && strcmp(about, "(all)") == 0;
    struct question q = { r, a, about, view, service, all && r->policy[0].n_services > 0, drawn };
    for (size_t i = 0; i < r->n_policies; i++) {
        view[i] = (struct view){ .p = &r->policy[i],
                                 .cost = NAN,
                                 .year_cost = NAN,
                                 .attainment = NAN,
                                 .slowdown = NAN,
                                 .wait_s = NAN };
        if (service)
            see_service(&view[i], about);
        else if (all)
            see_all(&view[i]);
        else
            see_class(&view[i], about);
    }
    if (!service && !all) see_endless(&q);
    for (size_t i = 0; i < r->n_policies; i++) {
        view[i].stated = view[i].cost;
        if (drawn && !isnan(drawn[i].cost_p50)) view[i].cost = drawn[i].cost_p50;
    }
    answer(&q, d);
}

static void add_qualities(struct result *r, struct arena *a)
{
    size_t rows = 0, n;
    struct quality *list;
    for (size_t i = 0; i < r->n_policies; i++) rows += (qualities_of(r->policy[i].kind, &n), n);
    list = arena_array(a, rows, sizeof *list);
    r->quality = list;
    for (size_t i = 0; i < r->n_policies; i++) {
        bool known = false;
        const struct quality *from = qualities_of(r->policy[i].kind, &n);
        for (size_t k = 0; k < i; k++) known |= strcmp(r->policy[k].kind, r->policy[i].kind) == 0;
        for (size_t k = 0; !known && k < n; k++) list[r->n_qualities++] = from[k];
    }
}

void decide_policies(struct result *r, struct arena *a)
{
    r->n_decisions = r->n_qualities = 0; /* it may hold those of other figures */
    if (r->n_policies == 0) return;
    const struct policy_result *first = &r->policy[0];
    const bool classes = first->n_classes > 1;
    struct decision *d = arena_array(a, 1 + first->n_classes + first->n_services, sizeof *d);
    r->decision = d;
    ask(r, a, &d[r->n_decisions++], "(all)", false, NULL);
    for (size_t i = 0; classes && i < first->n_classes; i++)
        ask(r, a, &d[r->n_decisions++], first->by_class[i].name, false, NULL);
    for (size_t k = 0; k < first->n_services; k++)
        ask(r, a, &d[r->n_decisions++], first->service[k].name, true, NULL);
    add_qualities(r, a);
}

void decide_by_medians(struct result *r, struct arena *a)
{
    for (size_t i = 0; i < r->n_decisions; i++) {
        struct decision *d = (struct decision *)(uintptr_t)&r->decision[i];
        bool drawn = false;
        for (size_t k = 0; k < d->n_options; k++) drawn |= !isnan(d->option[k].cost_p50);
        if (drawn) ask(r, a, d, d->about, d->service, d->option);
    }
}
