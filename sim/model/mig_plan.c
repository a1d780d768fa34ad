#include "model/mig_plan.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR_LIMIT = 400 }; /* exchanges of one card; more of them are not tried in pairs */

/* A way to fill a card: seconds that it adds to each kind. */
struct option {
    struct mig_layout layout; /* without the running instances */
    double add[MIG_KINDS];
};
typedef VEC(struct option) options;

/* Cards that look alike: the same mode and the same instances, free and busy ones apart. */
struct kind_of_card {
    const struct mig_state *like;
    mig_mask busy;
    bool empty;
    options option;
    size_t *cards_with; /* by option: how many of these cards take it */
    size_t cards;
};

struct planner {
    const struct mig_geometry *g;
    const struct mig_terms *t;
    const struct mig_demand *d;
    int asked[MIG_KINDS], n_asked; /* with demand: nothing else counts */
    double capacity[MIG_KINDS];    /* of all that is chosen so far */
    double turn_worth[MIG_FIRST_TURN + 1];
    double instance_s; /* what one serves at least, whatever must be done to make it */
    struct kind_of_card *kind;
    size_t n_kinds;
};

/* ---- what capacity is worth ---- */

static double served(const struct planner *p, const double capacity[MIG_KINDS])
{
    double sum = 0;
    for (int i = 0; i < p->n_asked; i++) {
        const int k = p->asked[i];
        sum += p->d->worth[k] * fmin(p->d->time_s[k], capacity[k]);
        sum += p->turn_worth[p->d->turn[k]] * fmin(1, capacity[k] / p->instance_s);
    }
    return sum;
}

static struct planner begin(const struct mig_geometry *g, const struct mig_terms *t,
                            const struct mig_demand *d, size_t cards)
{
    struct planner p = { .g = g, .t = t, .d = d };
    const double most_s = (double)cards * MIG_MAX_UNITS * t->period_s;
    double all = 1; /* more than all that can be served */
    for (int k = 0; k <= g->n_profiles; k++)
        if (d->time_s[k] > 0) {
            p.asked[p.n_asked++] = k;
            all += d->worth[k] * fmin(d->time_s[k], most_s);
        }
    p.instance_s = t->period_s - t->repartition_s - t->mode_change_s;
    p.turn_worth[MIG_TURN] = all;
    p.turn_worth[MIG_FIRST_TURN] = all * (p.n_asked + 1);
    return p;
}

static const double nothing[MIG_KINDS];

static double gain(const struct planner *p, const double plus[MIG_KINDS],
                   const double minus[MIG_KINDS])
{
    double then[MIG_KINDS];
    for (int i = 0; i < p->n_asked; i++) {
        const int k = p->asked[i];
        then[k] = p->capacity[k] + plus[k] - minus[k];
    }
    return served(p, then) - served(p, p->capacity);
}

static void add_to(struct planner *p, const double add[MIG_KINDS], double sign)
{
    for (int i = 0; i < p->n_asked; i++) p->capacity[p->asked[i]] += sign * add[p->asked[i]];
}

/* ---- seconds of a card ---- */

static int find_instance(const struct mig_state *s, struct mig_slice slice)
{
    for (int i = 0; i < s->n; i++)
        if (s->slice[i].profile == slice.profile && s->slice[i].start == slice.start) return i;
    return -1;
}

/* Seconds of the period that an instance of the plan serves. */
static double seconds_of(const struct mig_terms *t, const struct mig_state *s,
                         struct mig_slice slice)
{
    const int at = find_instance(s, slice);
    const double delay = at < 0              ? t->repartition_s + (s->on ? 0 : t->mode_change_s)
                         : s->busy_s[at] > 0 ? s->busy_s[at]
                                             : 0;
    return fmax(0, t->period_s - delay);
}

/* A card that the plan leaves alone serves whole jobs. */
static double whole_seconds(const struct mig_terms *t, const struct mig_state *s)
{
    if (s->whole) return fmax(0, t->period_s - s->whole_s);
    for (int i = 0; i < s->n; i++)
        if (s->busy_s[i] >= 0) return 0;
    return fmax(0, t->period_s - (s->on ? t->mode_change_s : 0));
}

/* ---- ways to fill a card ---- */

static bool any_fits(const struct planner *p, mig_mask taken)
{
    for (int i = 0; i < p->g->n_profiles; i++)
        if (p->d->time_s[i] > 0 && mig_place(p->g, taken, i, MIG_LOWEST) >= 0) return true;
    return false;
}

static bool no_more_than(const struct planner *p, const double *a, const double *b)
{
    for (int i = 0; i < p->n_asked; i++)
        if (a[p->asked[i]] > b[p->asked[i]]) return false;
    return true;
}

/* Keep an option unless another one gives at least as much of everything. */
static void keep_option(const struct planner *p, options *list, const struct option *o)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->n; i++)
        if (no_more_than(p, o->add, list->v[i].add)) return;
    for (size_t i = 0; i < list->n; i++)
        if (!no_more_than(p, list->v[i].add, o->add)) list->v[kept++] = list->v[i];
    list->n = kept;
    vec_push(list, *o);
}

static void search(const struct planner *p, struct kind_of_card *c, struct option *now,
                   mig_mask taken, int unit)
{
    if (unit >= p->g->memory_units) {
        if (!any_fits(p, taken)) keep_option(p, &c->option, now);
        return;
    }
    for (int i = 0; i < p->g->n_profiles; i++) {
        const struct mig_profile *profile = &p->g->profile[i];
        const struct mig_slice slice = { i, unit };
        bool legal = false;
        for (int k = 0; k < profile->n_starts; k++) legal |= profile->starts[k] == unit;
        if (p->d->time_s[i] <= 0 || !legal || (mig_slice_mask(p->g, slice) & taken)) continue;
        const double seconds = seconds_of(p->t, c->like, slice), before = now->add[i];
        now->layout.slice[now->layout.n++] = slice;
        now->add[i] += seconds;
        search(p, c, now, taken | mig_slice_mask(p->g, slice), unit + 1);
        now->add[i] = before;
        now->layout.n--;
    }
    search(p, c, now, taken, unit + 1);
}

static void find_options(const struct planner *p, struct kind_of_card *c)
{
    struct option now = { .layout.n = 0 };
    if (c->like->whole) {
        vec_push(&c->option, now);
        return;
    }
    if (c->empty) {
        struct option open = { .layout.n = 0 };
        open.add[p->g->n_profiles] = whole_seconds(p->t, c->like);
        keep_option(p, &c->option, &open);
    }
    search(p, c, &now, c->busy, 0);
}

/* ---- cards that look alike ---- */

static bool alike(const struct mig_state *a, const struct mig_state *b)
{
    if (a->on != b->on || a->whole != b->whole || a->n != b->n) return false;
    if (a->whole) return true;
    for (int i = 0; i < a->n; i++)
        if (a->slice[i].profile != b->slice[i].profile || a->slice[i].start != b->slice[i].start ||
            (a->busy_s[i] < 0) != (b->busy_s[i] < 0))
            return false;
    return true;
}

static size_t kind_of(struct planner *p, const struct mig_state *s)
{
    size_t k = 0;
    while (k < p->n_kinds && !alike(p->kind[k].like, s)) k++;
    if (k < p->n_kinds) return k;
    p->kind = xreallocarray(p->kind, p->n_kinds + 1, sizeof *p->kind);
    struct kind_of_card *c = &p->kind[p->n_kinds++];
    *c = (struct kind_of_card){ .like = s, .empty = !s->whole };
    for (int i = 0; i < s->n; i++)
        if (s->busy_s[i] >= 0) {
            c->busy |= mig_slice_mask(p->g, s->slice[i]);
            c->empty = false;
        }
    find_options(p, c);
    c->cards_with = xcalloc(c->option.n, sizeof *c->cards_with);
    return k;
}

/* ---- choosing ---- */

static double least_gain(const struct planner *p)
{
    return 1e-9 * (1 + fabs(served(p, p->capacity)));
}

static void choose_greedily(struct planner *p, const size_t *kind, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct kind_of_card *c = &p->kind[kind[i]];
        size_t best = 0;
        double most = -1;
        for (size_t o = 0; o < c->option.n; o++) {
            const double adds = gain(p, c->option.v[o].add, nothing);
            if (adds <= most + 1e-12 * fabs(most)) continue;
            most = adds;
            best = o;
        }
        c->cards_with[best]++;
        c->cards++;
        add_to(p, c->option.v[best].add, 1);
    }
}

/* One card's option `from` becomes `to`. */
struct exchange {
    struct kind_of_card *card;
    size_t from, to;
};
typedef VEC(struct exchange) exchanges;

static void carry_out(struct planner *p, const struct exchange *x, int sign)
{
    add_to(p, x->card->option.v[x->from].add, -sign);
    add_to(p, x->card->option.v[x->to].add, sign);
    x->card->cards_with[x->from] -= (size_t)sign;
    x->card->cards_with[x->to] += (size_t)sign;
}

static bool possible(const struct exchange *x)
{
    return x->card->cards_with[x->from] > 0;
}

static double exchange_gain(const struct planner *p, const struct exchange *x)
{
    return gain(p, x->card->option.v[x->to].add, x->card->option.v[x->from].add);
}

static bool improve_by_one(struct planner *p, const exchanges *all)
{
    bool any = false;
    for (size_t i = 0; i < all->n; i++)
        while (possible(&all->v[i]) && exchange_gain(p, &all->v[i]) > least_gain(p)) {
            carry_out(p, &all->v[i], 1);
            any = true;
        }
    return any;
}

static bool improve_by_two(struct planner *p, const exchanges *all)
{
    for (size_t i = 0; i < all->n; i++) {
        if (!possible(&all->v[i])) continue;
        const double before = served(p, p->capacity), least = least_gain(p);
        carry_out(p, &all->v[i], 1);
        const double lost = served(p, p->capacity) - before;
        for (size_t k = 0; k < all->n; k++)
            if (possible(&all->v[k]) && lost + exchange_gain(p, &all->v[k]) > least) {
                carry_out(p, &all->v[k], 1);
                return true;
            }
        carry_out(p, &all->v[i], -1);
    }
    return false;
}

static void improve(struct planner *p)
{
    exchanges all = { 0 };
    for (size_t k = 0; k < p->n_kinds; k++)
        for (size_t from = 0; from < p->kind[k].option.n; from++)
            for (size_t to = 0; to < p->kind[k].option.n; to++)
                if (from != to) vec_push(&all, ((struct exchange){ &p->kind[k], from, to }));
    do
        while (improve_by_one(p, &all)) continue;
    while (all.n <= PAIR_LIMIT && improve_by_two(p, &all));
    vec_fini(&all);
}

/* ---- the plan of each card ---- */

static int by_start(const void *a, const void *b)
{
    return ((const struct mig_slice *)a)->start - ((const struct mig_slice *)b)->start;
}

/* The chosen option and all running instances. */
static void hand_out(struct planner *p, const size_t *kind, const struct mig_state *card, size_t n,
                     struct mig_layout *out)
{
    for (size_t i = 0; i < n; i++) {
        struct kind_of_card *c = &p->kind[kind[i]];
        size_t o = 0;
        while (c->cards_with[o] == 0) o++;
        c->cards_with[o]--;
        out[i] = c->option.v[o].layout;
        for (int k = 0; k < card[i].n; k++)
            if (card[i].busy_s[k] >= 0) out[i].slice[out[i].n++] = card[i].slice[k];
    }
}

/* Leave open what serves nothing: from the last card and unit to the first, what must be made
 * before what is there. */
static void leave_open(struct planner *p, const struct mig_state *card, size_t n,
                       struct mig_layout *out)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = n; i-- > 0;) {
            struct mig_layout all = out[i];
            out[i].n = 0;
            for (int k = all.n; k-- > 0;) {
                const struct mig_slice s = all.slice[k];
                double less[MIG_KINDS] = { 0 };
                less[s.profile] = seconds_of(p->t, &card[i], s);
                const bool there = find_instance(&card[i], s) >= 0;
                if (there == (pass == 1) && gain(p, nothing, less) > -least_gain(p))
                    add_to(p, less, -1);
                else
                    out[i].slice[out[i].n++] = s;
            }
            qsort(out[i].slice, (size_t)out[i].n, sizeof *out[i].slice, by_start);
        }
}

void mig_plan(const struct mig_geometry *g, const struct mig_terms *t, const struct mig_demand *d,
              const struct mig_state *card, size_t n, struct mig_layout *out)
{
    struct planner p = begin(g, t, d, n);
    size_t *kind = xcalloc(n + 1, sizeof *kind);
    for (size_t i = 0; i < n; i++) {
        kind[i] = kind_of(&p, &card[i]);
        if (card[i].whole) p.capacity[g->n_profiles] += whole_seconds(t, &card[i]);
        for (int k = 0; k < card[i].n; k++)
            if (card[i].busy_s[k] >= 0)
                p.capacity[card[i].slice[k].profile] += seconds_of(t, &card[i], card[i].slice[k]);
    }
    choose_greedily(&p, kind, n);
    improve(&p);
    hand_out(&p, kind, card, n, out);
    leave_open(&p, card, n, out);
    for (size_t k = 0; k < p.n_kinds; k++) {
        vec_fini(&p.kind[k].option);
        free(p.kind[k].cards_with);
    }
    free(p.kind);
    free(kind);
}

double mig_plan_served(const struct mig_geometry *g, const struct mig_terms *t,
                       const struct mig_demand *d, const struct mig_state *card, size_t n,
                       const struct mig_layout *plan)
{
    struct planner p = begin(g, t, d, n);
    for (size_t i = 0; i < n; i++) {
        if (plan[i].n == 0) p.capacity[g->n_profiles] += whole_seconds(t, &card[i]);
        for (int k = 0; k < plan[i].n; k++)
            p.capacity[plan[i].slice[k].profile] += seconds_of(t, &card[i], plan[i].slice[k]);
    }
    return served(&p, p.capacity);
}
