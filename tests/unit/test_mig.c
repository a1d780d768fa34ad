/* MIG placement: known answers for the A100 (acceptance scenarios A01 and A02) and a second, plain
 * enumeration over subsets of (profile, start) that the counts must agree with on every board. */
#include "base/mem.h"
#include "model/mig.h"
#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>

static struct gpu_catalogue *cards;
static const struct gpu_spec *a100;
static const struct mig_geometry *g;

static int setup(void **state)
{
    struct err e = { 0 };
    (void)state;
    if (gpu_catalogue_load(&cards, NULL, &e) < 0) {
        err_print(&e, "test_mig", stderr);
        return -1;
    }
    a100 = gpu_find(cards, "a100-sxm4-40gb", NULL);
    g = a100->mig;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    gpu_catalogue_destroy(cards);
    return 0;
}

/* "3g.20gb 2g.10gb" to indices; how many. */
static int parse(const char *names, int want[MIG_MAX_UNITS])
{
    char *copy = xstrdup(names), *at = copy, *word;
    int n = 0;
    while ((word = strsep(&at, " "))) {
        want[n] = mig_profile_find(g, word);
        if (want[n++] < 0) fail_msg("no profile %s", word);
    }
    free(copy);
    return n;
}

/* "2g.10gb@0 2g.10gb@2 3g.20gb@4" */
static void print_layout(const struct mig_layout *l, char *buf, size_t size)
{
    *buf = '\0';
    for (int i = 0; i < l->n; i++)
        snprintf(buf + strlen(buf), size - strlen(buf), "%s%s@%d", i ? " " : "",
                 g->profile[l->slice[i].profile].name, l->slice[i].start);
}

static void which_sets_fit(void **state)
{
    static const struct {
        const char *want;
        size_t layouts;
        const char *first;
    } sets[] = {
        { "3g.20gb 2g.10gb 2g.10gb", 1, "2g.10gb@0 2g.10gb@2 3g.20gb@4" },
        { "3g.20gb 3g.20gb 1g.5gb", 0, "" },
        { "4g.20gb 3g.20gb", 1, "4g.20gb@0 3g.20gb@4" },
        { "2g.10gb 2g.10gb 2g.10gb 1g.5gb", 1, "2g.10gb@0 2g.10gb@2 2g.10gb@4 1g.5gb@6" },
        { "2g.10gb 2g.10gb 2g.10gb 2g.10gb", 0, "" },
        { "3g.20gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb", 1,
          "1g.5gb@0 1g.5gb@1 1g.5gb@2 1g.5gb@3 3g.20gb@4" },
        { "3g.20gb 3g.20gb", 1, "3g.20gb@0 3g.20gb@4" },
        { "1g.5gb", 7, "1g.5gb@0" },
        { "1g.10gb 1g.10gb", 6, "1g.10gb@0 1g.10gb@2" },
        { "7g.40gb 1g.5gb", 0, "" },
        { "1g.5gb+me 1g.5gb+me", 0, "" }, /* the media engines exist once */
        { "1g.5gb+me 3g.20gb 3g.20gb", 0, "" },
        /* four 1g.10gb take all memory, although slices and counts would allow three 1g.5gb more */
        { "1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.5gb 1g.5gb 1g.5gb", 0, "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        int want[MIG_MAX_UNITS], n = parse(sets[i].want, want);
        mig_layouts l = { 0 };
        char text[200] = "";
        mig_layouts_of(g, want, n, &l);
        if (l.n) print_layout(&l.v[0], text, sizeof text);
        if (l.n != sets[i].layouts || strcmp(text, sets[i].first) != 0)
            fail_msg("{%s}: %zu layouts, first \"%s\"", sets[i].want, l.n, text);
        vec_fini(&l);
    }
}

static const struct mig_running empty;

static bool order_succeeds(const char *want_names, const char *order_names,
                           enum mig_start_rule rule)
{
    int want[MIG_MAX_UNITS], order[MIG_MAX_UNITS], *orders;
    int n = parse(want_names, want);
    bool found = false;
    parse(order_names, order);
    size_t count = mig_orders_beside(g, &empty, want, n, rule, &orders);
    for (size_t i = 0; i < count; i++)
        found |= memcmp(orders + i * (size_t)n, order, (size_t)n * sizeof *order) == 0;
    free(orders);
    return found;
}

static void order_matters(void **state)
{
    int *orders, want[MIG_MAX_UNITS];
    (void)state;
    assert_false(order_succeeds("3g.20gb 2g.10gb 2g.10gb", "3g.20gb 2g.10gb 2g.10gb", MIG_LOWEST));
    assert_true(order_succeeds("3g.20gb 2g.10gb 2g.10gb", "2g.10gb 2g.10gb 3g.20gb", MIG_LOWEST));
    assert_true(order_succeeds("3g.20gb 2g.10gb 2g.10gb", "3g.20gb 2g.10gb 2g.10gb", MIG_HIGHEST));
    assert_false(order_succeeds("3g.20gb 4g.20gb", "3g.20gb 4g.20gb", MIG_LOWEST));
    assert_true(order_succeeds("3g.20gb 4g.20gb", "4g.20gb 3g.20gb", MIG_LOWEST));
    assert_true(order_succeeds("3g.20gb 4g.20gb", "3g.20gb 4g.20gb", MIG_BEST_REMAINING));
    /* lexicographic by name, equal profiles interchangeable */
    int n = parse("3g.20gb 2g.10gb 2g.10gb", want);
    assert_int_equal(mig_orders_beside(g, &empty, want, n, MIG_LOWEST, &orders), 2);
    assert_string_equal(g->profile[orders[0]].name, "2g.10gb");
    assert_string_equal(g->profile[orders[1]].name, "2g.10gb");
    assert_string_equal(g->profile[orders[2]].name, "3g.20gb");
    assert_string_equal(g->profile[orders[4]].name, "3g.20gb");
    free(orders);
    n = parse("2g.10gb 2g.10gb 2g.10gb 2g.10gb", want);
    assert_int_equal(mig_orders_beside(g, &empty, want, n, MIG_LOWEST, &orders), 0);
    assert_null(orders);
    assert_int_equal(mig_orders_beside(g, &empty, want, 0, MIG_LOWEST, &orders), 0);
}

static void start_rules(void **state)
{
    const int one = mig_profile_find(g, "1g.5gb"), three = mig_profile_find(g, "3g.20gb");
    (void)state;
    assert_int_equal(mig_place(g, 0, one, MIG_LOWEST), 0);
    assert_int_equal(mig_place(g, 0, one, MIG_HIGHEST), 6);
    /* at 6 a 1g blocks: 1g@6, 1g.10gb@6, 3g@4, 7g@0; at 0 it also blocks 4g and a 2g */
    assert_int_equal(mig_place(g, 0, one, MIG_BEST_REMAINING), 6);
    assert_int_equal(mig_place(g, 0, three, MIG_BEST_REMAINING), 4);
    /* four equal quarters: a tie goes to the lowest */
    const struct mig_geometry *pro = gpu_find(cards, "rtxpro6000bw-se", NULL)->mig;
    assert_int_equal(mig_place(pro, 0, mig_profile_find(pro, "1g.24gb"), MIG_BEST_REMAINING), 0);
    assert_int_equal(mig_place(g, 0x0f, three, MIG_LOWEST), 4);
    assert_int_equal(mig_place(g, 0x10, three, MIG_HIGHEST), 0);
    assert_int_equal(mig_place(g, 0x11, three, MIG_LOWEST), -1);
    assert_string_equal(mig_start_rule_names[MIG_BEST_REMAINING], "best_remaining");
}

/* Seven 1g.5gb fill the card; some have ended. */
static struct mig_running sevens_without(const int *ended, int n)
{
    struct mig_running on = { 0 };
    for (int s = 0; s < 7; s++) {
        bool gone = false;
        for (int i = 0; i < n; i++) gone |= ended[i] == s;
        if (!gone) on.slice[on.n++] = (struct mig_slice){ mig_profile_find(g, "1g.5gb"), s };
    }
    return on;
}

static void enough_slices_free(void **state)
{
    const int two = mig_profile_find(g, "2g.10gb");
    int unlock[MIG_MAX_UNITS];
    (void)state;
    struct mig_running on = sevens_without((const int[]){ 1, 3, 5 }, 3);
    mig_mask busy = mig_busy_mask(g, &on);
    assert_int_equal(mig_place(g, busy, two, MIG_LOWEST), -1);
    assert_int_equal(mig_stranded_slices(g, busy, on.n), 0); /* three 1g can still be created */
    assert_int_equal(mig_largest_placeable(g, busy), mig_profile_find(g, "1g.5gb"));
    assert_int_equal(mig_unlock(g, &on, &two, 1, unlock), 1);
    assert_int_equal(on.slice[unlock[0]].start, 0);

    /* each of three would do: the earlier in the order given, not the lower start */
    const int one = on.slice[0].profile;
    on = (struct mig_running){ .slice = { { one, 4 }, { one, 2 }, { one, 0 } }, .n = 3 };
    assert_int_equal(mig_unlock(g, &on, &two, 1, unlock), 1);
    assert_int_equal(unlock[0], 0);

    on = sevens_without((const int[]){ 1, 2 }, 2); /* adjacent but unaligned */
    assert_int_equal(mig_place(g, mig_busy_mask(g, &on), two, MIG_LOWEST), -1);

    on = sevens_without((const int[]){ 2, 3 }, 2);
    assert_int_equal(mig_place(g, mig_busy_mask(g, &on), two, MIG_LOWEST), 2);
    assert_int_equal(mig_place(g, mig_busy_mask(g, &on), two, MIG_HIGHEST), 2);
    assert_int_equal(mig_unlock(g, &on, &two, 1, unlock), 0);
    mig_layouts l = { 0 };
    mig_layouts_beside(g, &on, &two, 1, &l);
    assert_int_equal(l.n, 1);
    assert_int_equal(l.v[0].slice[0].start, 2);
    vec_fini(&l);

    on = sevens_without(NULL, 0);
    const int seven = mig_profile_find(g, "7g.40gb"), three = mig_profile_find(g, "3g.20gb");
    assert_int_equal(mig_unlock(g, &on, &seven, 1, unlock), 7);
    assert_int_equal(mig_unlock(g, &on, &three, 1, unlock), 3); /* at 4: unit 7 is free */
    assert_int_equal(unlock[0], 4);
    /* several at once: 3g at 4 and 2g at 0, so all but the 1g at 2 and 3 */
    const int both[] = { three, two }, never[] = { three, three, one };
    assert_int_equal(mig_unlock(g, &on, both, 2, unlock), 5);
    assert_memory_equal(unlock, ((const int[]){ 0, 1, 4, 5, 6 }), 5 * sizeof *unlock);
    assert_int_equal(mig_unlock(g, &on, never, 3, unlock), -1);

    /* a second +me needs the first one gone, and room */
    const int me = mig_profile_find(g, "1g.5gb+me");
    on = (struct mig_running){ .slice = { { me, 3 } }, .n = 1 };
    assert_int_equal(mig_unlock(g, &on, &me, 1, unlock), 1);
    mig_layouts_beside(g, &on, &me, 1, &l);
    assert_int_equal(l.n, 0);
    vec_fini(&l);
}

/* The smallest set by trying all of them, for random cards and random requests. */
static void unlock_is_smallest(void **state)
{
    uint64_t seed = test_seed();
    int asked = 0;
    (void)state;
    for (int step = 0; step < 400; step++) {
        struct mig_running on = { .n = 0 };
        int want[3], unlock[MIG_MAX_UNITS];
        const int n = 1 + (int)(test_random(&seed) % 3);
        for (int tries = 0; tries < 6; tries++) {
            const int p = (int)(test_random(&seed) % (uint64_t)g->n_profiles);
            const int at = g->profile[p].plain
                               ? mig_place(g, mig_busy_mask(g, &on), p,
                                           (enum mig_start_rule)(test_random(&seed) % 3))
                               : -1;
            if (at >= 0) on.slice[on.n++] = (struct mig_slice){ p, at };
        }
        for (int i = 0; i < n; i++) {
            do want[i] = (int)(test_random(&seed) % (uint64_t)g->n_profiles);
            while (!g->profile[want[i]].plain);
        }
        int fewest = -1;
        for (unsigned set = 0; set < 1U << on.n; set++) {
            struct mig_running rest = { .n = 0 };
            mig_layouts l = { 0 };
            for (int i = 0; i < on.n; i++)
                if (!(set >> i & 1)) rest.slice[rest.n++] = on.slice[i];
            mig_layouts_beside(g, &rest, want, n, &l);
            const int size = __builtin_popcount(set);
            if (l.n > 0 && (fewest < 0 || size < fewest)) fewest = size;
            vec_fini(&l);
        }
        assert_int_equal(mig_unlock(g, &on, want, n, unlock), fewest);
        asked += fewest > 0;
    }
    assert_true(asked > 50);
}

static void nearest(void **state)
{
    static const struct {
        const char *want, *on, *says, *layout;
    } ask[] = {
        { "3g.20gb 3g.20gb 1g.5gb", "", "9 of 8 memory units", "1g.5gb@0 2g.10gb@2 3g.20gb@4" },
        { "2g.10gb 2g.10gb 2g.10gb 2g.10gb", "", "at most 3 of \"2g.10gb\"",
          "2g.10gb@0 2g.10gb@2 2g.10gb@4 1g.10gb@6" },
        { "1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb", "", "at most 4 of \"1g.10gb\"",
          "1g.5gb@0 1g.5gb@1 1g.10gb@2 1g.10gb@4 1g.10gb@6" },
        { "7g.40gb 1g.5gb", "", "8 of 7 compute slices", "7g.40gb@0" },
        { "4g.20gb", "1g.5gb@0 1g.5gb@3", "no combination", "3g.20gb@4" },
        { "7g.40gb", "4g.20gb@0 3g.20gb@4", "7 of 0 free compute slices", "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof ask / sizeof *ask; i++) {
        int want[MIG_MAX_UNITS];
        char got[200], why[256];
        struct mig_running on = { .n = 0 };
        char *copy = xstrdup(ask[i].on), *at = copy, *word;
        while ((word = strsep(&at, " "))) {
            char *sign = strchr(word, '@');
            if (!sign) continue;
            *sign = '\0';
            on.slice[on.n++] = (struct mig_slice){ mig_profile_find(g, word), atoi(sign + 1) };
        }
        free(copy);
        const int n = parse(ask[i].want, want);
        const struct mig_layout l = mig_nearest(g, &on, want, n);
        print_layout(&l, got, sizeof got);
        assert_string_equal(got, ask[i].layout);
        if (!strstr(mig_why_not(g, &on, want, n, why, sizeof why), ask[i].says))
            fail_msg("%s: %s", ask[i].want, why);
    }
}

static void stranded(void **state)
{
    (void)state;
    assert_int_equal(mig_reachable(g, 0), 7);
    assert_int_equal(mig_stranded_slices(g, 0, 0), 0);
    assert_int_equal(mig_stranded_slices(g, 0xff, 6), 1); /* 3g + 3g: all memory, 6 of 7 slices */
    assert_int_equal(mig_stranded_slices(g, 0xff, 7), 0); /* 4g + 3g uses everything */
    assert_int_equal(mig_stranded_slices(g, 0xff, 4), 3); /* four 1g.10gb */
    /* 3g at 0: 3 of the other 4 slices are left */
    assert_int_equal(mig_stranded_slices(g, 0x0f, 3), 1);
    assert_int_equal(mig_stranded_slices(g, 0xf0, 3), 0); /* 3g at 4: a 4g still fits */
    assert_int_equal(mig_largest_placeable(g, 0), mig_profile_find(g, "7g.40gb"));
    assert_int_equal(mig_largest_placeable(g, 0xf0), mig_profile_find(g, "4g.20gb"));
    assert_int_equal(mig_largest_placeable(g, 0x7f), -1); /* unit 7 alone starts nothing */
    struct mig_geometry bare = *g;                        /* the table and the search agree */
    bare.reach = NULL;
    for (mig_mask m = 0; m <= mig_full_mask(g); m += 7)
        assert_int_equal(mig_reachable(&bare, m), mig_reachable(g, m));
}

static void requests(void **state)
{
    const uint64_t gib = UINT64_C(1) << 30;
    static const struct {
        int milli;
        double gib;
        const char *profile; /* NULL: none */
    } ask[] = {
        { 100, 0, "1g.5gb" },      { 125, 4.75, "1g.5gb" },  { 125, 4.76, "1g.10gb" },
        { 126, 1, "1g.10gb" },     { 250, 9.62, "1g.10gb" }, { 251, 1, "3g.20gb" },
        { 500, 19.5, "3g.20gb" },  { 500, 19.6, "7g.40gb" }, { 501, 1, "7g.40gb" },
        { 999, 39.25, "7g.40gb" }, { 999, 39.3, NULL },      { 1, 40, NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof ask / sizeof *ask; i++) {
        int p = mig_profile_for(g, ask[i].milli, (uint64_t)(ask[i].gib * (double)gib));
        const char *got = p < 0 ? "none" : g->profile[p].name;
        if (strcmp(got, ask[i].profile ? ask[i].profile : "none") != 0)
            fail_msg("%d thousandths and %g GiB: %s", ask[i].milli, ask[i].gib, got);
    }
    /* usable bytes that nobody published serve only a request without bytes */
    const struct mig_geometry *h20 = gpu_find(cards, "h20", NULL)->mig;
    assert_int_equal(mig_profile_for(h20, 100, 1), -1);
    assert_string_equal(h20->profile[mig_profile_for(h20, 100, 0)].name, "1g.12gb");
    /* "-me" comes after its namesake */
    const struct mig_geometry *pro = gpu_find(cards, "rtxpro6000bw-se", NULL)->mig;
    assert_string_equal(pro->profile[mig_profile_for(pro, 300, gib)].name, "2g.48gb");
    assert_true(pro->profile[mig_profile_find(pro, "2g.48gb-me")].plain);
}

static void shares(void **state)
{
    bool assumed;
    const struct gpu_spec *h100 = gpu_find(cards, "h100-sxm5-80gb", NULL),
                          *h20 = gpu_find(cards, "h20", NULL);
    (void)state;
    assert_close(mig_sm_share(a100, mig_profile_find(g, "7g.40gb"), &assumed), 98.0 / 108, 1e-15);
    assert_false(assumed);
    assert_close(mig_sm_share(h100, mig_profile_find(h100->mig, "1g.20gb"), NULL), 26.0 / 132,
                 1e-15);
    assert_close(mig_sm_share(h100, mig_profile_find(h100->mig, "3g.40gb"), NULL), 60.0 / 132,
                 1e-15);
    assert_close(mig_bw_share(h100, mig_profile_find(h100->mig, "3g.40gb")), 0.5, 0);
    assert_close(mig_bw_share(h100, mig_profile_find(h100->mig, "2g.20gb")), 0.25, 0);
    mig_sm_share(h20, 0, &assumed);
    assert_true(assumed);
}

/* ---- the census against a second enumeration ---- */

struct brute {
    const struct mig_geometry *g;
    struct mig_slice pair[128];
    int n_pairs;
    int count[MIG_MAX_PROFILES];
    uint64_t all, maximal;
    VEC(uint64_t) multisets; /* 4 bits a profile */
};

static bool addable(const struct brute *b, mig_mask busy, int i)
{
    const struct mig_slice s = b->pair[i];
    return !(busy & mig_slice_mask(b->g, s)) &&
           b->count[s.profile] < b->g->profile[s.profile].max_instances;
}

/* Each pair in turn is taken or not. */
static void enumerate(struct brute *b, int i, mig_mask busy)
{
    if (i < b->n_pairs) {
        enumerate(b, i + 1, busy);
        if (!addable(b, busy, i)) return;
        b->count[b->pair[i].profile]++;
        enumerate(b, i + 1, busy | mig_slice_mask(b->g, b->pair[i]));
        b->count[b->pair[i].profile]--;
        return;
    }
    if (!busy) return;
    bool more = false;
    uint64_t key = 0;
    for (int k = 0; k < b->n_pairs; k++) more |= addable(b, busy, k);
    b->all++;
    b->maximal += !more;
    for (int p = 0; p < b->g->n_profiles; p++) key |= (uint64_t)b->count[p] << (4 * p);
    for (size_t k = 0; k < b->multisets.n; k++)
        if (b->multisets.v[k] == key) return;
    vec_push(&b->multisets, key);
}

static bool strictly_inside(uint64_t a, uint64_t b)
{
    for (int p = 0; p < 64; p += 4)
        if ((a >> p & 15) > (b >> p & 15)) return false;
    return a != b;
}

static void agree(const struct mig_geometry *m, const char *card, bool plain_only)
{
    struct brute b = { .g = m };
    struct mig_census c;
    int profiles[MIG_MAX_PROFILES], n = 0;
    size_t undominated = 0;
    for (int p = 0; p < m->n_profiles; p++) {
        if (plain_only && !m->profile[p].plain) continue;
        profiles[n++] = p;
        for (int k = 0; k < m->profile[p].n_starts; k++)
            b.pair[b.n_pairs++] = (struct mig_slice){ p, m->profile[p].starts[k] };
    }
    enumerate(&b, 0, 0);
    for (size_t i = 0; i < b.multisets.n; i++) {
        bool in = false;
        for (size_t k = 0; k < b.multisets.n; k++)
            in |= strictly_inside(b.multisets.v[i], b.multisets.v[k]);
        undominated += !in;
    }
    mig_census(m, profiles, n, &c);
    if (c.all != b.all || c.maximal != b.maximal || c.undominated.n != undominated)
        fail_msg("%s: %lu %lu %zu, by subsets %lu %lu %zu", card, c.all, c.maximal, c.undominated.n,
                 b.all, b.maximal, undominated);
    vec_fini(&c.undominated);
    vec_fini(&b.multisets);
}

static void census_of_every_board(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_catalogue_count(cards); i++) {
        const struct gpu_spec *s = gpu_catalogue_at(cards, i);
        if (!s->mig) continue;
        agree(s->mig, s->name, true);
        if (s->mig->memory_units <= 8) agree(s->mig, s->name, false);
    }
}

static void known_census(void **state)
{
    int without[] = { 0, 0, 0, 0, 0 }, plain[MIG_MAX_PROFILES], n = 0;
    static const char *const names[] = { "1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb" };
    static const char *const mixtures[] = {
        "7g.40gb@0",
        "4g.20gb@0 3g.20gb@4",
        "4g.20gb@0 2g.10gb@4 1g.5gb@6",
        "4g.20gb@0 1g.5gb@4 1g.5gb@5 1g.5gb@6",
        "3g.20gb@0 3g.20gb@4",
        "2g.10gb@0 2g.10gb@2 3g.20gb@4",
    };
    struct mig_census c;
    char text[200];
    (void)state;
    for (int p = 0; p < g->n_profiles; p++)
        if (g->profile[p].plain) plain[n++] = p;
    mig_census(g, plain, n, &c);
    assert_int_equal(c.all, 722);
    assert_int_equal(c.maximal, 78);
    assert_int_equal(c.undominated.n, 28);
    vec_fini(&c.undominated);
    for (int i = 0; i < 5; i++) without[i] = mig_profile_find(g, names[i]);
    mig_census(g, without, 5, &c);
    assert_int_equal(c.all, 297);
    assert_int_equal(c.maximal, 19);
    assert_int_equal(c.undominated.n, 12);
    for (size_t i = 0; i < sizeof mixtures / sizeof *mixtures; i++) {
        /* the example's own starts do not matter here, its profiles do */
        struct mig_layout l = c.undominated.v[i];
        print_layout(&l, text, sizeof text);
        char *want = xstrdup(mixtures[i]);
        for (char *at = want, *w; (w = strsep(&at, " "));) {
            *strchr(w, '@') = '\0';
            assert_contains(text, w);
        }
        free(want);
    }
    vec_fini(&c.undominated);
}

/* The census keeps the caller's counts in mind, the engine does not: every plain profile must be
 * bounded by geometry alone. */
static void geometry_bounds_instances(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_catalogue_count(cards); i++) {
        const struct mig_geometry *board = gpu_catalogue_at(cards, i)->mig;
        for (int p = 0; board && p < board->n_profiles; p++) {
            mig_mask busy = 0;
            int n = 0, start;
            if (!board->profile[p].plain) continue;
            while ((start = mig_place(board, busy, p, MIG_LOWEST)) >= 0) {
                busy |= mig_slice_mask(board, (struct mig_slice){ p, start });
                n++;
            }
            if (n > board->profile[p].max_instances)
                fail_msg("%s: %d of %s, at most %d", gpu_catalogue_at(cards, i)->name, n,
                         board->profile[p].name, board->profile[p].max_instances);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_sets_fit),
        cmocka_unit_test(order_matters),
        cmocka_unit_test(start_rules),
        cmocka_unit_test(enough_slices_free),
        cmocka_unit_test(unlock_is_smallest),
        cmocka_unit_test(nearest),
        cmocka_unit_test(stranded),
        cmocka_unit_test(requests),
        cmocka_unit_test(shares),
        cmocka_unit_test(census_of_every_board),
        cmocka_unit_test(known_census),
        cmocka_unit_test(geometry_bounds_instances),
    };
    return cmocka_run_group_tests_name("mig", tests, setup, teardown);
}
