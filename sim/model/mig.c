/* model/mig.c - placement geometry by exhaustive search over masks: the grids have at most 16 units
 * and the boards a few hundred to a few thousand layouts, so nothing cleverer is needed. */
#include "model/mig.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const mig_start_rule_names[MIG_START_RULES + 1] = { "lowest", "highest",
                                                                "best_remaining", NULL };

static mig_mask units_mask(int start, int width)
{
    return ((UINT32_C(1) << width) - 1) << start;
}

mig_mask mig_slice_mask(const struct mig_geometry *g, struct mig_slice s)
{
    return units_mask(s.start, g->profile[s.profile].memory_units);
}

mig_mask mig_full_mask(const struct mig_geometry *g)
{
    return units_mask(0, g->memory_units);
}

static bool fits_at(const struct mig_profile *p, mig_mask busy, int start)
{
    return !(busy & units_mask(start, p->memory_units));
}

/* Placements of plain profiles that are still legal. */
static int placements_left(const struct mig_geometry *g, mig_mask busy)
{
    int n = 0;
    for (int i = 0; i < g->n_profiles; i++) {
        const struct mig_profile *p = &g->profile[i];
        for (int k = 0; p->plain && k < p->n_starts; k++) n += fits_at(p, busy, p->starts[k]);
    }
    return n;
}

int mig_place(const struct mig_geometry *g, mig_mask busy, int profile, enum mig_start_rule rule)
{
    const struct mig_profile *p = &g->profile[profile];
    int best = -1, best_left = -1;
    for (int k = 0; k < p->n_starts; k++) {
        int s = p->starts[k];
        if (!fits_at(p, busy, s)) continue;
        if (rule == MIG_LOWEST) return s;
        int left =
            rule == MIG_HIGHEST ? s : placements_left(g, busy | units_mask(s, p->memory_units));
        if (left > best_left) {
            best_left = left;
            best = s;
        }
    }
    return best;
}

/* One step of the recurrence: the best first instance, then what is reachable after it. */
static int reach_step(const struct mig_geometry *g, mig_mask busy, const uint8_t *reach)
{
    int best = 0;
    for (int i = 0; i < g->n_profiles; i++) {
        const struct mig_profile *p = &g->profile[i];
        for (int k = 0; p->plain && k < p->n_starts; k++) {
            if (!fits_at(p, busy, p->starts[k])) continue;
            mig_mask then = busy | units_mask(p->starts[k], p->memory_units);
            int slices = p->compute_slices + (reach ? reach[then] : reach_step(g, then, NULL));
            if (slices > best) best = slices;
        }
    }
    return best;
}

void mig_reach_table(struct mig_geometry *g, struct arena *a)
{
    size_t n = (size_t)mig_full_mask(g) + 1;
    uint8_t *reach = arena_alloc(a, n);
    for (size_t busy = n; busy-- > 0;) /* adding an instance only ever raises the mask */
        reach[busy] = (uint8_t)reach_step(g, (mig_mask)busy, reach);
    g->reach = reach;
}

int mig_reachable(const struct mig_geometry *g, mig_mask busy)
{
    return g->reach ? g->reach[busy & mig_full_mask(g)] : reach_step(g, busy, NULL);
}

int mig_stranded_slices(const struct mig_geometry *g, mig_mask busy, int used_slices)
{
    int left = g->compute_slices - used_slices, reach = mig_reachable(g, busy);
    return left > reach ? left - reach : 0;
}

int mig_largest_placeable(const struct mig_geometry *g, mig_mask busy)
{
    int best = -1;
    for (int i = 0; i < g->n_profiles; i++) {
        const struct mig_profile *p = &g->profile[i];
        if (!p->plain || mig_place(g, busy, i, MIG_LOWEST) < 0) continue;
        const struct mig_profile *b = best < 0 ? NULL : &g->profile[best];
        if (!b || p->compute_slices > b->compute_slices ||
            (p->compute_slices == b->compute_slices && p->memory_units > b->memory_units))
            best = i;
    }
    return best;
}

int mig_profile_find(const struct mig_geometry *g, const char *name)
{
    for (int i = 0; i < g->n_profiles; i++)
        if (strcasecmp(g->profile[i].name, name) == 0) return i;
    return -1;
}

static bool smaller(const struct mig_profile *a, const struct mig_profile *b)
{
    if (a->memory_units != b->memory_units) return a->memory_units < b->memory_units;
    if (a->compute_slices != b->compute_slices) return a->compute_slices < b->compute_slices;
    return strcmp(a->name, b->name) < 0;
}

int mig_profile_among(const struct mig_geometry *g, uint32_t allowed, int milli, uint64_t bytes)
{
    int best = -1;
    for (int i = 0; i < g->n_profiles; i++) {
        const struct mig_profile *p = &g->profile[i];
        if (!(allowed >> i & 1) || p->memory_units * 1000 < milli * g->memory_units) continue;
        if (p->usable_bytes < bytes) continue;
        if (best < 0 || smaller(p, &g->profile[best])) best = i;
    }
    return best;
}

int mig_profile_for(const struct mig_geometry *g, int milli, uint64_t bytes)
{
    uint32_t plain = 0;
    for (int i = 0; i < g->n_profiles; i++)
        if (g->profile[i].plain) plain |= UINT32_C(1) << i;
    return mig_profile_among(g, plain, milli, bytes);
}

double mig_sm_share(const struct gpu_spec *gpu, int profile, bool *assumed)
{
    const struct mig_profile *p = &gpu->mig->profile[profile];
    bool known = p->sms > 0 && gpu->sms > 0;
    if (assumed) *assumed = !known;
    return known ? (double)p->sms / gpu->sms : (double)p->compute_slices / gpu->mig->compute_slices;
}

double mig_bw_share(const struct gpu_spec *gpu, int profile)
{
    return (double)gpu->mig->profile[profile].memory_units / gpu->mig->memory_units;
}

/* ---- layouts of a multiset ---- */

struct search {
    const struct mig_geometry *g;
    int left[MIG_MAX_PROFILES]; /* instances of each profile still to place */
    int todo;
    struct mig_layout now;
    mig_layouts *out;
};

static bool starts_at(const struct mig_profile *p, int unit)
{
    for (int k = 0; k < p->n_starts; k++)
        if (p->starts[k] == unit) return true;
    return false;
}

/* Units from left to right; at each one either an instance begins (profiles in order) or none. */
static void search_layouts(struct search *s, mig_mask busy, int unit)
{
    if (s->todo == 0) {
        vec_push(s->out, s->now);
        return;
    }
    if (unit >= s->g->memory_units) return;
    for (int i = 0; i < s->g->n_profiles; i++) {
        const struct mig_profile *p = &s->g->profile[i];
        if (!s->left[i] || !starts_at(p, unit) || !fits_at(p, busy, unit)) continue;
        s->now.slice[s->now.n++] = (struct mig_slice){ i, unit };
        s->left[i]--;
        s->todo--;
        search_layouts(s, busy | units_mask(unit, p->memory_units), unit + 1);
        s->todo++;
        s->left[i]++;
        s->now.n--;
    }
    search_layouts(s, busy, unit + 1);
}

/* Instances of each wanted profile; false when with the running ones they are too many. */
static bool tally(const struct mig_geometry *g, const struct mig_running *on, const int *want,
                  int n, int count[MIG_MAX_PROFILES])
{
    int all[MIG_MAX_PROFILES] = { 0 };
    memset(count, 0, MIG_MAX_PROFILES * sizeof *count);
    for (int i = 0; i < on->n; i++) all[on->slice[i].profile]++;
    for (int i = 0; i < n; i++) {
        count[want[i]]++;
        if (++all[want[i]] > g->profile[want[i]].max_instances) return false;
    }
    return n > 0 && n <= MIG_MAX_UNITS;
}

mig_mask mig_busy_mask(const struct mig_geometry *g, const struct mig_running *on)
{
    mig_mask busy = 0;
    for (int i = 0; i < on->n; i++) busy |= mig_slice_mask(g, on->slice[i]);
    return busy;
}

void mig_layouts_beside(const struct mig_geometry *g, const struct mig_running *on, const int *want,
                        int n, mig_layouts *out)
{
    struct search s = { .g = g, .todo = n, .out = out };
    if (tally(g, on, want, n, s.left)) search_layouts(&s, mig_busy_mask(g, on), 0);
}

void mig_layouts_of(const struct mig_geometry *g, const int *want, int n, mig_layouts *out)
{
    mig_layouts_beside(g, &(struct mig_running){ 0 }, want, n, out);
}

/* ---- creation orders ---- */

typedef VEC(int) int_list;
struct orders {
    const struct mig_geometry *g;
    enum mig_start_rule rule;
    int by_name[MIG_MAX_PROFILES], n_profiles;
    int left[MIG_MAX_PROFILES];
    int sequence[MIG_MAX_UNITS], n, done;
    int_list found;
    size_t count;
};

static void search_orders(struct orders *o, mig_mask busy)
{
    if (o->done == o->n) {
        for (int i = 0; i < o->n; i++) vec_push(&o->found, o->sequence[i]);
        o->count++;
        return;
    }
    for (int k = 0; k < o->n_profiles; k++) {
        int i = o->by_name[k];
        if (!o->left[i]) continue;
        int start = mig_place(o->g, busy, i, o->rule);
        if (start < 0) continue;
        o->left[i]--;
        o->sequence[o->done++] = i;
        search_orders(o, busy | mig_slice_mask(o->g, (struct mig_slice){ i, start }));
        o->done--;
        o->left[i]++;
    }
}

static void sort_by_name(const struct mig_geometry *g, int *order, int n)
{
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && strcmp(g->profile[order[k - 1]].name, g->profile[i].name) > 0; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

size_t mig_orders_beside(const struct mig_geometry *g, const struct mig_running *on,
                         const int *want, int n, enum mig_start_rule rule, int **orders)
{
    struct orders o = { .g = g, .rule = rule, .n_profiles = g->n_profiles, .n = n };
    *orders = NULL;
    if (!tally(g, on, want, n, o.left)) return 0;
    sort_by_name(g, o.by_name, g->n_profiles);
    search_orders(&o, mig_busy_mask(g, on));
    *orders = o.found.v;
    return o.count;
}

/* ---- census ---- */

struct census {
    const struct mig_geometry *g;
    const int *profiles;
    int n;
    int left[MIG_MAX_PROFILES];
    struct mig_layout now;
    uint64_t all, maximal;
    mig_layouts kept; /* one layout of each multiset of a maximal layout */
};

static bool any_fits(const struct census *c, mig_mask busy)
{
    for (int k = 0; k < c->n; k++)
        if (c->left[c->profiles[k]] && mig_place(c->g, busy, c->profiles[k], MIG_LOWEST) >= 0)
            return true;
    return false;
}

static void count_of(const struct mig_layout *l, int count[MIG_MAX_PROFILES])
{
    memset(count, 0, MIG_MAX_PROFILES * sizeof *count);
    for (int i = 0; i < l->n; i++) count[l->slice[i].profile]++;
}

/* a is inside b or equal to it, as multisets of profiles. */
static bool inside(const struct mig_layout *a, const struct mig_layout *b)
{
    int ca[MIG_MAX_PROFILES], cb[MIG_MAX_PROFILES];
    count_of(a, ca);
    count_of(b, cb);
    for (int i = 0; i < MIG_MAX_PROFILES; i++)
        if (ca[i] > cb[i]) return false;
    return true;
}

static void keep(struct census *c)
{
    for (size_t i = 0; i < c->kept.n; i++)
        if (c->kept.v[i].n == c->now.n && inside(&c->now, &c->kept.v[i])) return;
    vec_push(&c->kept, c->now);
}

static void search_census(struct census *c, mig_mask busy, int unit)
{
    if (unit >= c->g->memory_units) {
        if (!c->now.n) return;
        c->all++;
        if (any_fits(c, busy)) return;
        c->maximal++;
        keep(c);
        return;
    }
    for (int k = 0; k < c->n; k++) {
        int i = c->profiles[k];
        const struct mig_profile *p = &c->g->profile[i];
        if (!c->left[i] || !starts_at(p, unit) || !fits_at(p, busy, unit)) continue;
        c->now.slice[c->now.n++] = (struct mig_slice){ i, unit };
        c->left[i]--;
        search_census(c, busy | units_mask(unit, p->memory_units), unit + 1);
        c->left[i]++;
        c->now.n--;
    }
    search_census(c, busy, unit + 1);
}

/* Larger profiles first: {7g}, {4g, 3g}, {4g, 2g, 1g} ... */
static int by_slices(const void *a, const void *b, void *ctx)
{
    const struct mig_geometry *g = ctx;
    const struct mig_layout *x = a, *y = b;
    int cx[MIG_MAX_PROFILES], cy[MIG_MAX_PROFILES];
    count_of(x, cx);
    count_of(y, cy);
    for (int slices = g->compute_slices; slices > 0; slices--)
        for (int i = 0; i < g->n_profiles; i++)
            if (g->profile[i].compute_slices == slices && cx[i] != cy[i]) return cy[i] - cx[i];
    return 0;
}

void mig_census(const struct mig_geometry *g, const int *profiles, int n, struct mig_census *out)
{
    struct census c = { .g = g, .profiles = profiles, .n = n };
    *out = (struct mig_census){ 0 };
    for (int i = 0; i < g->n_profiles; i++) c.left[i] = g->profile[i].max_instances;
    search_census(&c, 0, 0);
    out->all = c.all;
    out->maximal = c.maximal;
    /* Every feasible multiset is inside one of a maximal layout, so these are all that can win. */
    for (size_t i = 0; i < c.kept.n; i++) {
        bool dominated = false;
        for (size_t k = 0; k < c.kept.n && !dominated; k++)
            dominated = k != i && inside(&c.kept.v[i], &c.kept.v[k]);
        if (!dominated) vec_push(&out->undominated, c.kept.v[i]);
    }
    vec_fini(&c.kept);
    if (out->undominated.n)
        qsort_r(out->undominated.v, out->undominated.n, sizeof *out->undominated.v, by_slices,
                (void *)(uintptr_t)g);
}

/* ---- what has to end ---- */

static bool fits_beside(const struct mig_geometry *g, const struct mig_running *on, const int *want,
                        int n)
{
    mig_layouts found = { 0 };
    mig_layouts_beside(g, on, want, n, &found);
    const bool fits = found.n > 0;
    vec_fini(&found);
    return fits;
}

/* The next choice of k out of n in lexicographic order; false: there is none. */
static bool next_choice(int *set, int k, int n)
{
    int i = k - 1;
    while (i >= 0 && set[i] == n - k + i) i--;
    if (i < 0) return false;
    set[i]++;
    for (int j = i + 1; j < k; j++) set[j] = set[j - 1] + 1;
    return true;
}

int mig_unlock(const struct mig_geometry *g, const struct mig_running *on, const int *want, int n,
               int unlock[MIG_MAX_UNITS])
{
    for (int k = 0; k <= on->n; k++) {
        for (int i = 0; i < k; i++) unlock[i] = i;
        do {
            struct mig_running rest = { .n = 0 };
            for (int i = 0, gone = 0; i < on->n; i++) {
                if (gone < k && unlock[gone] == i)
                    gone++;
                else
                    rest.slice[rest.n++] = on->slice[i];
            }
            if (fits_beside(g, &rest, want, n)) return k;
        } while (next_choice(unlock, k, on->n));
    }
    return -1;
}

/* ---- why not, and what comes nearest ---- */

char *mig_why_not(const struct mig_geometry *g, const struct mig_running *on, const int *want,
                  int n, char *buf, size_t size)
{
    int slices = 0, units = 0, count[MIG_MAX_PROFILES] = { 0 };
    for (int i = 0; i < on->n; i++) {
        slices += g->profile[on->slice[i].profile].compute_slices;
        units += g->profile[on->slice[i].profile].memory_units;
        count[on->slice[i].profile]++;
    }
    const int free_slices = g->compute_slices - slices, free_units = g->memory_units - units;
    slices = units = 0;
    for (int i = 0; i < n; i++) {
        slices += g->profile[want[i]].compute_slices;
        units += g->profile[want[i]].memory_units;
        count[want[i]]++;
    }
    const char *still = on->n ? "free " : "";
    if (slices > free_slices)
        snprintf(buf, size, "it needs %d of %d %scompute slices", slices, free_slices, still);
    else if (units > free_units)
        snprintf(buf, size,
                 "it needs %d of %d %smemory units, although only %d of %d compute slices", units,
                 free_units, still, slices, free_slices);
    else
        snprintf(buf, size,
                 "%d of %d %scompute slices and %d of %d memory units would do, but no combination "
                 "of the allowed starts leaves them clear of each other",
                 slices, free_slices, still, units, free_units);
    for (int i = 0; i < g->n_profiles; i++)
        if (count[i] > g->profile[i].max_instances)
            snprintf(buf, size, "at most %d of \"%s\" can exist on one card",
                     g->profile[i].max_instances, g->profile[i].name);
    return buf;
}

struct nearest {
    const struct mig_geometry *g;
    int wanted[MIG_MAX_PROFILES];        /* instances of each profile */
    int slices[MIG_MAX_UNITS], n_wanted; /* of the wanted, largest first */
    int left[MIG_MAX_PROFILES];
    struct mig_layout now, best;
    int score[4];
};

static int descending(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

/* Each of `now` stands for a wanted one that is at least as large. */
static bool stands_for_wanted(const struct nearest *x)
{
    int slices[MIG_MAX_UNITS];
    if (x->now.n > x->n_wanted) return false;
    for (int i = 0; i < x->now.n; i++)
        slices[i] = x->g->profile[x->now.slice[i].profile].compute_slices;
    qsort(slices, (size_t)x->now.n, sizeof *slices, descending);
    for (int i = 0; i < x->now.n; i++)
        if (slices[i] > x->slices[i]) return false;
    return true;
}

static void consider(struct nearest *x)
{
    int slices = 0, units = 0, kept = 0, count[MIG_MAX_PROFILES];
    if (!stands_for_wanted(x)) return;
    count_of(&x->now, count);
    for (int i = 0; i < x->g->n_profiles; i++) {
        slices += count[i] * x->g->profile[i].compute_slices;
        units += count[i] * x->g->profile[i].memory_units;
        kept += count[i] < x->wanted[i] ? count[i] : x->wanted[i];
    }
    const int score[] = { slices, x->now.n, kept, units };
    for (int i = 0; i < 4; i++) {
        if (score[i] < x->score[i]) return;
        if (score[i] > x->score[i]) break;
        if (i == 3) return;
    }
    memcpy(x->score, score, sizeof score);
    x->best = x->now;
}

static void search_nearest(struct nearest *x, mig_mask busy, int unit)
{
    if (unit >= x->g->memory_units) {
        consider(x);
        return;
    }
    for (int i = 0; i < x->g->n_profiles; i++) {
        const struct mig_profile *p = &x->g->profile[i];
        if (!x->left[i] || !starts_at(p, unit) || !fits_at(p, busy, unit)) continue;
        x->now.slice[x->now.n++] = (struct mig_slice){ i, unit };
        x->left[i]--;
        search_nearest(x, busy | units_mask(unit, p->memory_units), unit + 1);
        x->left[i]++;
        x->now.n--;
    }
    search_nearest(x, busy, unit + 1);
}

struct mig_layout mig_nearest(const struct mig_geometry *g, const struct mig_running *on,
                              const int *want, int n)
{
    struct nearest x = { .g = g };
    int all[256]; /* more than fit on any card change nothing: the largest count */
    const int known = n < 256 ? n : 256;
    for (int i = 0; i < known; i++) {
        x.wanted[want[i]]++;
        all[i] = g->profile[want[i]].compute_slices;
    }
    qsort(all, (size_t)known, sizeof *all, descending);
    x.n_wanted = known < MIG_MAX_UNITS ? known : MIG_MAX_UNITS;
    memcpy(x.slices, all, (size_t)x.n_wanted * sizeof *all);
    for (int i = 0; i < g->n_profiles; i++)
        if (g->profile[i].plain || x.wanted[i]) x.left[i] = g->profile[i].max_instances;
    for (int i = 0; i < on->n; i++)
        if (x.left[on->slice[i].profile] > 0) x.left[on->slice[i].profile]--;
    search_nearest(&x, mig_busy_mask(g, on), 0);
    return x.best;
}
