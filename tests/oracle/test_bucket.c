/* test_bucket.c - compute quotas by token bucket (`intercept`, "enforce": "bucket") against
 * arithmetic by hand, the published splits, and buckets that are filled and emptied kernel by
 * kernel, by a few lines that share nothing with the product.
 *
 * A bucket of quota a fills at a^gain per second, over the sum of those at the card, so what an
 * absent tenant would get is lent. Kernels are paid for with the card's time; who owes the most
 * stalls. So tenants that never leave the card share it as a^gain : b^gain, and one that is away
 * for z and works for d per isolated second, beside one of weight b that never leaves, takes
 *
 *     z + d (1 + switch / quantum) (1 + b / a)
 *
 * for it, whatever the distributions, since its part of the card while it is there is always the
 * same. Weights are to the gain.
 *
 * Mutants: a-bucket-stops-graphs, a-bucket-weighs-quotas. */
#include "support/simulate.h"

#include <math.h>
#include <string.h>

enum { MOST = 4 };

static struct signature busy(double host)
{
    struct signature s = signature_default();
    s.host = host;
    s.compute = 1 - host;
    s.sm_width = s.bw_width = 1;
    return s;
}

/* Speeds of tenants with these quotas on one card. */
static void ask(const char *gpu, const char *more, const struct signature *sig,
                const int32_t *milli, size_t n, double *speed)
{
    struct runner r;
    struct demand demand[MOST];
    struct resident_view view[MOST];
    char *scenario = xasprintf(
        "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'f', 'gpu': '%s', "
        "'nodes': 1, 'gpus_per_node': 1}], 'work': [{'name': 'w', 'kind': 'jobs', "
        "'trace': 'trace.csv'}], 'policies': [{'name': 'p', 'share': {'kind': 'intercept', "
        "'enforce': 'bucket', 'launch': '0 ns', 'alloc': '0 ns'%s}}]}",
        gpu, more);
    sim_load(&r, sim_write(scenario, "job_id,submit_s,duration_s,gpus\na,0,1,1\n", NULL));
    const struct plan_group *g = &r.plan[0].group[0];
    const struct share_ops *share = r.plan[0].share;
    for (size_t i = 0; i < n; i++) {
        const struct request q = {
            .gpus_milli = milli[i], .slots = 1, .bytes = JOB_NO_BYTES, .sig = &sig[i]
        };
        demand[i] = (struct demand){ 0 };
        assert_null(share->demand(g->params, &g->type, &q, &demand[i]));
        view[i] = (struct resident_view){ .sig = &sig[i], .demand = &demand[i] };
    }
    share->speeds(g->params, &(struct share_view){ &g->type, view, n }, speed);
    runner_fini(&r);
    free(scenario);
}

static void near(double got, double want, double within)
{
    if (fabs(got - want) > within) fail_msg("%.12g is not %.12g", got, want);
}

/* Where each board's splits were published, as the numbers stand there: percent, and 1:6 to 1:8. */
static void published_splits(void **state)
{
    const struct signature two[2] = { busy(0), busy(0) };
    const int32_t lopsided[2] = { 300, 700 }, extreme[2] = { 100, 900 };
    double v[2];
    (void)state;
    ask("rtxpro6000bw-se", ", 'switch': '0 s'", two, lopsided, 2, v);
    near(v[0], 0.46, 0.005);
    near(v[0] + v[1], 1, 1e-9);
    ask("a100-sxm4-80gb", ", 'switch': '0 s'", two, extreme, 2, v);
    assert_true(v[1] / v[0] > 6 && v[1] / v[0] < 8);
    near(v[0] + v[1], 1, 1e-9);
}

/* The exponent of the board: the same up to 108 SMs, 0.19 at 188, on the line between them at the
 * 132 of an H100. */
static void large_boards_hold_less(void **state)
{
    static const char *const boards[] = { "t4", "a100-sxm4-80gb", "h100-sxm5-80gb",
                                          "rtxpro6000bw-se" };
    const struct signature two[2] = { busy(0), busy(0) };
    const int32_t quota[2] = { 125, 875 };
    double gain[4], v[2];
    (void)state;
    for (int i = 0; i < 4; i++) {
        ask(boards[i], ", 'switch': '0 s'", two, quota, 2, v);
        gain[i] = log(v[1] / v[0]) / log(7);
    }
    near(gain[0], gain[1], 1e-9);
    near(gain[3], 0.19, 1e-9);
    near(gain[2], gain[1] - (gain[1] - 0.19) * 24 / 80, 1e-9);
}

/* Nobody is stalled who meets nobody; a bucket of its own does not hold it back. */
static void alone_is_not_throttled(void **state)
{
    const struct signature one = busy(0.3), host = busy(1);
    const struct signature two[2] = { busy(0.4), host };
    const int32_t quota[2] = { 70, 930 };
    double v[2];
    (void)state;
    ask("a100-sxm4-80gb", "", &one, quota, 1, v);
    near(v[0], 1, 1e-12);
    ask("a100-sxm4-80gb", "", two, quota, 2, v); /* the other is never at the card */
    near(v[0], 1, 1e-12);
    near(v[1], 1, 1e-12);
}

/* Weights 2, 3 and 5 with gain 1; squared with gain 2; none with gain 0. */
static void always_busy_share_by_weight(void **state)
{
    const struct signature three[3] = { busy(0), busy(0), busy(0) };
    const int32_t quota[3] = { 200, 300, 500 };
    const double parts[3][3] = { { 2, 3, 5 }, { 4, 9, 25 }, { 1, 1, 1 } };
    const char *const gains[3] = { ", 'switch': '0 s', 'gain': 1", ", 'switch': '0 s', 'gain': 2",
                                   ", 'switch': '0 s', 'gain': 0" };
    double v[3];
    (void)state;
    for (int g = 0; g < 3; g++) {
        const double all = parts[g][0] + parts[g][1] + parts[g][2];
        ask("a100-sxm4-80gb", gains[g], three, quota, 3, v);
        for (int i = 0; i < 3; i++) near(v[i], parts[g][i] / all, 1e-9);
    }
    /* a tenth of each turn more goes into switches: 10 of 11 are left */
    ask("a100-sxm4-80gb", ", 'gain': 1, 'quantum': '2 ms', 'switch': '200 us'", three, quota, 3, v);
    for (int i = 0; i < 3; i++) near(v[i], parts[0][i] / 11, 1e-9);
}

/* Half of the launches of a tenant of 0.2 come from graphs: it weighs as 0.2 + 0.8 / 2 = 0.6, beside
 * one of 0.8 so 3 to 4; all of them: as a whole card, 5 to 4. */
static void graphs_are_not_metered(void **state)
{
    struct signature two[2] = { busy(0), busy(0) };
    const int32_t quota[2] = { 200, 800 };
    double v[2];
    (void)state;
    two[0].graphs = 0.5;
    ask("a100-sxm4-80gb", ", 'switch': '0 s', 'gain': 1", two, quota, 2, v);
    near(v[0], 3.0 / 7, 1e-9);
    two[0].graphs = 1;
    ask("a100-sxm4-80gb", ", 'switch': '0 s', 'gain': 1", two, quota, 2, v);
    near(v[0], 5.0 / 9, 1e-9);
}

/* One of 0.25 works 0.6 s on the card of each second, beside one of 0.75 that never leaves it: it
 * gets a quarter while it is there, 0.4 + 0.6 x 4 = 2.8 s. The other has what it leaves: all for
 * 0.4 s, three quarters of 2.4 s, that is 2.2 of 2.8 s. With a tenth for switches those 2.4 s
 * are 2.64, and three quarters of 2.4 s are still done in them. */
static void what_is_away_is_lent(void **state)
{
    const struct signature two[2] = { busy(0.4), busy(0) };
    const int32_t quota[2] = { 250, 750 };
    double v[2];
    (void)state;
    ask("a100-sxm4-80gb", ", 'switch': '0 s', 'gain': 1", two, quota, 2, v);
    near(v[0], 1 / 2.8, 1e-9);
    near(v[1], 2.2 / 2.8, 1e-9);
    ask("a100-sxm4-80gb", ", 'gain': 1, 'quantum': '1 ms', 'switch': '100 us'", two, quota, 2, v);
    near(v[0], 1 / 3.04, 1e-9);
    near(v[1], 2.2 / 3.04, 1e-9);
}

/* ---- kernel by kernel ---- */

struct tenant {
    double away_s, card_s, weight; /* per cycle; means */
    double until, left, tokens;    /* away until; work left at the card, 0: away */
    double cycles;
};

static double exponential(uint64_t *random, double mean)
{
    return -mean * log((double)((test_random(random) >> 11) + 1) / 9007199254740993.0);
}

/* The bucket of a tenant that comes to the card is even: who was away has saved nothing. */
static void come(struct tenant *t, uint64_t *random, double clock)
{
    if (t->left > 0 || t->until > clock) return;
    t->left = exponential(random, t->card_s);
    t->tokens = 0;
}

/* Who has the most tokens launches a kernel, and owes its length; the buckets of those at the card
 * fill by weight while it runs. */
static void serve_by_kernels(struct tenant t[2], double kernel_s, double until_s)
{
    uint64_t random = test_seed();
    double clock = 0;
    while (clock < until_s) {
        for (int i = 0; i < 2; i++) come(&t[i], &random, clock);
        if (t[0].left <= 0 && t[1].left <= 0) {
            clock = fmin(t[0].until, t[1].until);
            continue;
        }
        const int who = t[1].left > 0 && (t[0].left <= 0 || t[1].tokens > t[0].tokens);
        const double ran = fmin(kernel_s, t[who].left);
        double weights = 0;
        for (int i = 0; i < 2; i++) weights += t[i].left > 0 ? t[i].weight : 0;
        for (int i = 0; i < 2; i++)
            if (t[i].left > 0) t[i].tokens += ran * t[i].weight / weights;
        t[who].tokens -= ran;
        t[who].left -= ran;
        clock += ran;
        if (t[who].left > 1e-12) continue;
        t[who].left = 0;
        t[who].cycles++;
        t[who].until = clock + exponential(&random, t[who].away_s);
    }
}

/* Both come and go: no arithmetic by hand. The length of a kernel shifts it by 0.3 %, chance by as
 * much. */
static void buckets_kernel_by_kernel(void **state)
{
    static const struct {
        double host[2], weight[2]; /* of a second */
    } cases[] = { { { 0.5, 0.5 }, { 0.2, 0.8 } },
                  { { 0.3, 0.7 }, { 0.2, 0.8 } },
                  { { 0.3, 0.7 }, { 0.9, 0.1 } },
                  { { 0.05, 0.2 }, { 0.3, 0.7 } } };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct signature two[2];
        struct tenant t[2] = { 0 };
        int32_t quota[2];
        double v[2];
        const double until_s = 60000;
        for (int i = 0; i < 2; i++) {
            two[i] = busy(cases[c].host[i]);
            quota[i] = (int32_t)lround(1000 * cases[c].weight[i]);
            t[i].away_s = cases[c].host[i];
            t[i].card_s = 1 - cases[c].host[i];
            t[i].weight = cases[c].weight[i];
        }
        serve_by_kernels(t, 0.002, until_s);
        ask("a100-sxm4-80gb", ", 'switch': '0 s', 'gain': 1", two, quota, 2, v);
        for (int i = 0; i < 2; i++) {
            print_message("host %.2f beside %.2f, quota %.1f: %.4f, kernel by kernel %.4f\n",
                          cases[c].host[i], cases[c].host[!i], cases[c].weight[i], v[i],
                          t[i].cycles / until_s);
            near(v[i], t[i].cycles / until_s, 0.02 * v[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_splits),         cmocka_unit_test(large_boards_hold_less),
        cmocka_unit_test(alone_is_not_throttled),   cmocka_unit_test(always_busy_share_by_weight),
        cmocka_unit_test(graphs_are_not_metered),   cmocka_unit_test(what_is_away_is_lent),
        cmocka_unit_test(buckets_kernel_by_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
