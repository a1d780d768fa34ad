/* Planned layouts: known answers on one and two cards, and random small fleets against the best of
 * all combinations of layouts. Whatever is planned keeps to the placement table and leaves running
 * instances where they are. */
#include "base/mem.h"
#include "model/mig_plan.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct gpu_catalogue *cards;
static const struct mig_geometry *g;
static const struct mig_terms terms = { .period_s = 3600,
                                        .repartition_s = 12,
                                        .mode_change_s = 30 };

static int setup(void **state)
{
    struct err e = { 0 };
    (void)state;
    if (gpu_catalogue_load(&cards, NULL, &e) < 0) return -1;
    g = gpu_find(cards, "a100-sxm4-40gb", NULL)->mig;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    gpu_catalogue_destroy(cards);
    return 0;
}

static int named(const char *name)
{
    const int p = mig_profile_find(g, name);
    if (p < 0) fail_msg("no profile %s", name);
    return p;
}

/* "3g.20gb@0 3g.20gb@4" */
static void says(const struct mig_layout *l, const char *want)
{
    char got[300] = "";
    for (int i = 0; i < l->n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s@%d", i ? " " : "",
                 g->profile[l->slice[i].profile].name, l->slice[i].start);
    assert_string_equal(got, want);
}

/* One hour of demand for `instances` of a profile, each second worth `worth`. */
static void wants(struct mig_demand *d, const char *profile, double instances, double worth)
{
    const int p = profile ? named(profile) : g->n_profiles;
    d->time_s[p] = instances * terms.period_s;
    d->worth[p] = worth;
}

static void known_answers(void **state)
{
    struct mig_demand d = { 0 };
    struct mig_state on[2] = { { .on = true }, { .on = true } };
    struct mig_layout out[2];
    (void)state;
    /* nothing is asked for: everything stays open */
    mig_plan(g, &terms, &d, on, 2, out);
    says(&out[0], "");
    says(&out[1], "");

    /* one 3g and two 2g: only with the 3g at 4 (A01 a) */
    wants(&d, "3g.20gb", 1, 3);
    wants(&d, "2g.10gb", 2, 2);
    mig_plan(g, &terms, &d, on, 1, out);
    says(&out[0], "2g.10gb@0 2g.10gb@2 3g.20gb@4");
    assert_close(mig_plan_served(g, &terms, &d, on, 1, out), (3 + 2 * 2) * (3600 - 12), 1e-12);

    /* two cards: the 7g is worth more than what it shuts out */
    memset(&d, 0, sizeof d);
    wants(&d, "7g.40gb", 1, 7);
    wants(&d, "1g.5gb", 9, 1);
    mig_plan(g, &terms, &d, on, 2, out);
    says(&out[0], "1g.5gb@0 1g.5gb@1 1g.5gb@2 1g.5gb@3 1g.5gb@4 1g.5gb@5 1g.5gb@6");
    says(&out[1], "7g.40gb@0");

    /* and less than the head of the queue, however little that is worth */
    wants(&d, "7g.40gb", 2, 7);
    d.turn[named("1g.5gb")] = MIG_TURN;
    mig_plan(g, &terms, &d, on, 2, out);
    assert_int_equal(out[0].slice[0].profile, named("1g.5gb"));
    says(&out[1], "7g.40gb@0");
}

/* One instance comes before all else, however short its job; of two that do not go together that
 * of the first turn. */
static void turns(void **state)
{
    struct mig_demand d = { 0 };
    struct mig_state on[1] = { { .on = true } };
    struct mig_layout out[1];
    const int all = named("7g.40gb"), one = named("1g.5gb");
    (void)state;
    wants(&d, "1g.5gb", 700, 1);
    d.time_s[all] = d.worth[all] = 1;
    mig_plan(g, &terms, &d, on, 1, out);
    says(&out[0], "1g.5gb@0 1g.5gb@1 1g.5gb@2 1g.5gb@3 1g.5gb@4 1g.5gb@5 1g.5gb@6");
    d.turn[all] = MIG_TURN;
    mig_plan(g, &terms, &d, on, 1, out);
    says(&out[0], "7g.40gb@0");
    d.turn[one] = MIG_FIRST_TURN;
    mig_plan(g, &terms, &d, on, 1, out);
    assert_int_equal(out[0].slice[0].profile, one);
    d.turn[one] = MIG_TURN;
    d.turn[all] = MIG_FIRST_TURN;
    mig_plan(g, &terms, &d, on, 1, out);
    says(&out[0], "7g.40gb@0");

    /* one, not two, though a new one serves less than the period; none beside one that ends */
    memset(&d, 0, sizeof d);
    wants(&d, "3g.20gb", 9, 1);
    wants(&d, "1g.5gb", 9, 1);
    d.turn[named("3g.20gb")] = MIG_TURN;
    mig_plan(g, &terms, &d, on, 1, out);
    says(&out[0], "1g.5gb@0 1g.5gb@1 1g.5gb@2 1g.5gb@3 3g.20gb@4");
    on[0] = (struct mig_state){
        .on = true, .n = 1, .slice = { { named("3g.20gb"), 4 } }, .busy_s = { 20 }
    };
    mig_plan(g, &terms, &d, on, 1, out);
    says(&out[0], "1g.5gb@0 1g.5gb@1 1g.5gb@2 1g.5gb@3 3g.20gb@4");
}

static void what_is_there_stays(void **state)
{
    struct mig_demand d = { 0 };
    const int two = named("2g.10gb"), one = named("1g.5gb");
    struct mig_layout out[2];
    (void)state;
    /* a free 2g at 4 needs no repartition; the running 1g at 1 cannot move and splits the first
     * half */
    struct mig_state card[1] = {
        { .on = true, .n = 2, .slice = { { one, 1 }, { two, 4 } }, .busy_s = { 5000, -1 } }
    };
    wants(&d, "2g.10gb", 2, 2);
    mig_plan(g, &terms, &d, card, 1, out);
    says(&out[0], "2g.10gb@2 2g.10gb@4");
    assert_close(mig_plan_served(g, &terms, &d, card, 1, out), 2 * (3600 + 3588), 1e-12);

    /* demand for one: the one that is there, and nothing is made */
    wants(&d, "2g.10gb", 0.9, 2);
    mig_plan(g, &terms, &d, card, 1, out);
    says(&out[0], "2g.10gb@4");

    /* a running instance that soon ends counts, one that outlives the period does not */
    wants(&d, "2g.10gb", 0, 0);
    wants(&d, "1g.5gb", 1, 1);
    card[0].busy_s[0] = 600;
    mig_plan(g, &terms, &d, card, 1, out);
    assert_close(mig_plan_served(g, &terms, &d, card, 1, out), 3600, 1e-12);
    card[0].n = 1;
    wants(&d, "1g.5gb", 0.5, 1);
    mig_plan(g, &terms, &d, card, 1, out);
    says(&out[0], "1g.5gb@1");
}

/* Whole jobs need cards that the plan leaves open; MIG off is worth a mode change. */
static void whole_cards(void **state)
{
    struct mig_demand d = { 0 };
    struct mig_state card[2] = { { .on = false }, { .on = true } };
    struct mig_layout out[2];
    (void)state;
    wants(&d, NULL, 1, 1);
    wants(&d, "3g.20gb", 2, 0.4);
    mig_plan(g, &terms, &d, card, 2, out);
    says(&out[0], "");
    says(&out[1], "3g.20gb@0 3g.20gb@4");
    assert_close(mig_plan_served(g, &terms, &d, card, 2, out), 3600 + 2 * 0.4 * 3588, 1e-12);
    wants(&d, NULL, 2, 1); /* worth more than two halves at 0.4 */
    mig_plan(g, &terms, &d, card, 2, out);
    says(&out[0], "");
    says(&out[1], "");
}

/* ---- against the best of all ---- */

static int below(uint64_t *seed, int n)
{
    return (int)(test_random(seed) % (uint64_t)n);
}

/* Every set of non-overlapping plain instances beside the running ones. */
typedef VEC(struct mig_layout) layouts;

static void enumerate(const struct mig_geometry *m, mig_mask taken, int unit,
                      struct mig_layout *now, layouts *out)
{
    if (unit >= m->memory_units) {
        vec_push(out, *now);
        return;
    }
    for (int p = 0; p < m->n_profiles; p++)
        for (int k = 0; m->profile[p].plain && k < m->profile[p].n_starts; k++) {
            const struct mig_slice s = { p, unit };
            if (m->profile[p].starts[k] != unit || (mig_slice_mask(m, s) & taken)) continue;
            now->slice[now->n++] = s;
            enumerate(m, taken | mig_slice_mask(m, s), unit + 1, now, out);
            now->n--;
        }
    enumerate(m, taken, unit + 1, now, out);
}

static double best_of_all(const struct mig_geometry *m, const struct mig_demand *d,
                          const struct mig_state *card, size_t n, size_t at,
                          struct mig_layout *plan)
{
    if (at == n) return mig_plan_served(m, &terms, d, card, n, plan);
    layouts all = { 0 };
    struct mig_layout now = { .n = 0 };
    mig_mask busy = 0;
    double best = -1;
    for (int k = 0; k < card[at].n; k++)
        if (card[at].busy_s[k] >= 0) busy |= mig_slice_mask(m, card[at].slice[k]);
    if (card[at].whole)
        vec_push(&all, now);
    else
        enumerate(m, busy, 0, &now, &all);
    for (size_t i = 0; i < all.n; i++) {
        plan[at] = all.v[i];
        for (int k = 0; k < card[at].n; k++)
            if (card[at].busy_s[k] >= 0) plan[at].slice[plan[at].n++] = card[at].slice[k];
        best = fmax(best, best_of_all(m, d, card, n, at + 1, plan));
    }
    vec_fini(&all);
    return best;
}

static void random_card(const struct mig_geometry *m, uint64_t *seed, struct mig_state *s)
{
    mig_mask taken = 0;
    *s = (struct mig_state){ .on = below(seed, 4) > 0 };
    if (!s->on) {
        s->whole = below(seed, 2);
        s->whole_s = below(seed, 5000);
        return;
    }
    for (int tries = below(seed, 6); tries > 0; tries--) {
        const int p = below(seed, m->n_profiles);
        if (!m->profile[p].plain) continue;
        const int at = mig_place(m, taken, p, (enum mig_start_rule)below(seed, 3));
        if (at < 0) continue;
        const struct mig_slice slice = { p, at };
        taken |= mig_slice_mask(m, slice);
        s->busy_s[s->n] = below(seed, 2) ? -1 : below(seed, 5000);
        s->slice[s->n++] = slice;
    }
}

/* Instances keep to the table, do not overlap, and no running one is touched. */
static void legal(const struct mig_geometry *m, const struct mig_state *s,
                  const struct mig_layout *l)
{
    mig_mask taken = 0, busy = 0;
    for (int k = 0; k < s->n; k++)
        if (s->busy_s[k] >= 0) busy |= mig_slice_mask(m, s->slice[k]);
    assert_true(l->n == 0 || !s->whole);
    for (int i = 0; i < l->n; i++) {
        const struct mig_profile *p = &m->profile[l->slice[i].profile];
        const mig_mask mask = mig_slice_mask(m, l->slice[i]);
        bool start = false, running = false;
        for (int k = 0; k < p->n_starts; k++) start |= p->starts[k] == l->slice[i].start;
        for (int k = 0; k < s->n; k++)
            running |= s->busy_s[k] >= 0 && s->slice[k].profile == l->slice[i].profile &&
                       s->slice[k].start == l->slice[i].start;
        assert_true(start);
        assert_false(mask & taken);
        assert_true(running || !(mask & busy));
        taken |= mask;
    }
}

static void against_the_best(void **state)
{
    static const char *const boards[] = { "a30", "a100-sxm4-40gb", "h100-sxm5-80gb" };
    uint64_t seed = test_seed();
    int exact = 0, all = 0;
    double worst = 1;
    (void)state;
    for (int step = 0; step < 240; step++) {
        const int board = step % 8 == 0 ? 1 + step / 8 % 2 : 0;
        const struct mig_geometry *m = gpu_find(cards, boards[board], NULL)->mig;
        const size_t n = board == 0 ? 1 + (size_t)below(&seed, 4) : 1 + (size_t)(step % 24 == 0);
        struct mig_demand d = { 0 };
        struct mig_state card[4];
        struct mig_layout plan[4], scratch[4];
        for (size_t i = 0; i < n; i++) random_card(m, &seed, &card[i]);
        for (int k = 0; k <= m->n_profiles; k++) {
            if (k < m->n_profiles && (!m->profile[k].plain || below(&seed, 3) == 0)) continue;
            d.time_s[k] = below(&seed, 12000);
            d.worth[k] = 0.1 + below(&seed, 70) / 10.0;
            d.turn[k] = k < m->n_profiles && below(&seed, 6) == 0
                            ? (enum mig_turn)(1 + below(&seed, 2))
                            : MIG_NO_TURN;
        }
        mig_plan(m, &terms, &d, card, n, plan);
        for (size_t i = 0; i < n; i++) legal(m, &card[i], &plan[i]);
        const double got = mig_plan_served(m, &terms, &d, card, n, plan);
        const double best = best_of_all(m, &d, card, n, 0, scratch);
        assert_true(got <= best * (1 + 1e-9) + 1e-6);
        if (best <= 0) continue;
        all++;
        exact += got >= best * (1 - 1e-6);
        if (got / best < worst) worst = got / best;
    }
    print_message("%d of %d plans are the best there is; the worst serves %.4f of it\n", exact, all,
                  worst);
    assert_true(all > 150 && exact >= all * 98 / 100 && worst > 0.75);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(known_answers),       cmocka_unit_test(turns),
        cmocka_unit_test(what_is_there_stays), cmocka_unit_test(whole_cards),
        cmocka_unit_test(against_the_best),
    };
    return cmocka_run_group_tests(t, setup, teardown);
}
