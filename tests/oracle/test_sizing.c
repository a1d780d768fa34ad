/* test_sizing.c - `gpusim size` against answers worked out on paper (USERS.md A08, A14, A15).
 *
 * A08: Poisson 8/s, exponential service 0.4 s, one request a card: 4 cards are enough by averages,
 * 6 for a 99th percentile of the wait of at most 0.5 s, 7 for 0.25 s; 3 are unstable and have no
 * percentile. Erlang C: P99 = ln(100 C(c, 3.2)) / (c / 0.4 - 8) = 2.044, 0.747, 0.363, 0.171 s for
 * c = 4 .. 7.
 *
 * A14: nodes of 20 requests/s at 0.80 USD/h against nodes of 90 requests/s at 3.00 USD/h, whole
 * nodes only. Which is cheaper flips with the rate: up to 60/s the small ones, to 90 the large, to
 * 140 the small again, to 180 the large.
 *
 * A15: 20 notebooks of 8 GiB on cards of 40 GB that start at once: whole cards 20, four to a card
 * 5, slices of a MIG layout 7 (1g.5gb is too small, three 2g.10gb fit on a card). */
#include "support/simulate.h"

#include "base/str.h"
#include "whatif/size.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

static struct err err;

static void size_from(struct sizing *s, const char *scenario, int64_t min, const char *const *slo,
                      size_t n)
{
    const struct size_options o = {
        .scenario = scenario, .slo = slo, .n_slo = n, .min = min, .threads = 2
    };
    err = (struct err){ 0 };
    if (size_run(s, &o, &err) != 0) fail_msg("%s: %s %s", err.where, err.msg, err.hint);
}

static void size(struct sizing *s, const char *scenario, const char *const *slo, size_t n)
{
    size_from(s, scenario, 1, slo, n);
}

static const struct size_trial *trial_of(const struct size_answer *a, int64_t nodes)
{
    for (size_t i = 0; i < a->n_trials; i++)
        if (a->trial[i].nodes == nodes) return &a->trial[i];
    fail_msg("%lld nodes were not tried", (long long)nodes);
    return NULL;
}

static void erlang(const char *slo, int64_t cards, int64_t smaller, enum verdict below)
{
    struct sizing s;
    size_from(&s, "scenarios/sizing-erlang.json", 3, &slo, 1);
    const struct size_answer *a = &s.answer[0];
    assert_non_null(a->best);
    assert_int_equal(a->best->nodes, cards);
    assert_int_equal(a->best->cards, cards);
    assert_int_equal(a->best->verdict, SIZE_MET);
    assert_true(a->best->value[0].mean + a->best->value[0].half <= s.slo[0].limit);
    assert_int_equal(a->next_smaller->nodes, smaller);
    assert_int_equal(a->next_smaller->target[0], below);
    assert_int_equal(a->n_odd, 0);
    size_fini(&s);
}

static void half_a_second(void **state)
{
    (void)state;
    erlang("jobs.wait_s.p99<=0.5", 6, 5, SIZE_MISSED);
}

static void quarter_of_a_second(void **state)
{
    (void)state;
    erlang("jobs.wait_s.p99<=0.25", 7, 6, SIZE_MISSED);
}

/* Any mean at all: 4, the least that is stable. 3 has a mean that meets, and is refused for
 * growing. */
static void by_averages(void **state)
{
    static const char *const slo = "jobs.wait_s.mean<=1000";
    struct sizing s;
    (void)state;
    size_from(&s, "scenarios/sizing-erlang.json", 3, &slo, 1);
    const struct size_trial *three = trial_of(&s.answer[0], 3);
    assert_int_equal(s.answer[0].best->nodes, 4);
    assert_false(three->stable);
    assert_int_equal(three->target[0], SIZE_MET);
    assert_int_equal(three->verdict, SIZE_MISSED);
    size_fini(&s);
}

static void unstable_has_no_percentile(void **state)
{
    static const char *const slo = "jobs.wait_s.p99<=1e9";
    struct sizing s;
    (void)state;
    size_from(&s, "scenarios/sizing-erlang.json", 3, &slo, 1);
    const struct size_trial *three = trial_of(&s.answer[0], 3);
    assert_false(three->stable);
    assert_true(isnan(three->value[0].mean));
    assert_int_equal(s.answer[0].best->nodes, 4);
    size_fini(&s);
}

/* Runs of 200 s, in which single ones often look unstable although nothing is: five are still
 * enough for a 99th percentile of 0.9 s (0.747 s), two and three grow without end. */
static void short_runs(void **state)
{
    static const char *const set[] = { "horizon=200 s", "warmup=0 s" };
    static const char *const slo = "jobs.wait_s.p99<=0.9", *const any = "jobs.wait_s.mean<=1000";
    struct sizing s;
    (void)state;
    struct size_options o = { .scenario = "scenarios/sizing-erlang.json",
                              .slo = &slo,
                              .n_slo = 1,
                              .set = set,
                              .n_set = 2,
                              .min = 2,
                              .max = 8,
                              .threads = 2 };
    assert_int_equal(size_run(&s, &o, &err), 0);
    assert_int_equal(s.answer[0].best->nodes, 5);
    assert_true(trial_of(&s.answer[0], 5)->stable);
    size_fini(&s);
    o.slo = &any;
    assert_int_equal(size_run(&s, &o, &err), 0);
    assert_int_equal(s.answer[0].best->nodes, 4);
    assert_int_equal(trial_of(&s.answer[0], 2)->queue, QUEUE_GROWS);
    assert_int_equal(trial_of(&s.answer[0], 3)->queue, QUEUE_GROWS);
    size_fini(&s);
}

/* Erlang C for waits over 0.5 s: 0.219, 0.0304, 0.0038, 0.00044 with 4 .. 7 cards. */
static void each_nine(void **state)
{
    static const char *const slo = "jobs.wait_s.p99<=0.5";
    static const char *const text[] = { "jobs.wait_s.p90<=0.5", "jobs.wait_s.p99<=0.5",
                                        "jobs.wait_s.p999<=0.5" };
    struct sizing s;
    (void)state;
    size_from(&s, "scenarios/sizing-erlang.json", 3, &slo, 1);
    assert_int_equal(s.n_nines, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(s.nine[i].slo.text, text[i]);
        assert_true(s.nine[i].met);
        assert_int_equal(s.nine[i].cards, 5 + (int)i);
    }
    size_fini(&s);
}

/* The same question with requests in place of jobs. */
static void as_a_service(void **state)
{
    static const char *const half = "services.api.wait_ms.p99<=500",
                             *const quarter = "services.api.wait_ms.p99<=250",
                             *const any = "services.api.wait_ms.p99<=1e9";
    struct sizing s;
    (void)state;
    size_from(&s, "scenarios/sizing-service.json", 3, &half, 1);
    assert_int_equal(s.answer[0].best->nodes, 6);
    assert_int_equal(trial_of(&s.answer[0], 5)->target[0], SIZE_MISSED);
    size_fini(&s);
    size_from(&s, "scenarios/sizing-service.json", 3, &quarter, 1);
    assert_int_equal(s.answer[0].best->nodes, 7);
    size_fini(&s);
    size_from(&s, "scenarios/sizing-service.json", 3, &any, 1);
    /* three are unstable: no percentile, never enough */
    assert_int_equal(s.answer[0].best->nodes, 4);
    assert_false(trial_of(&s.answer[0], 3)->stable);
    assert_true(isnan(trial_of(&s.answer[0], 3)->value[0].mean));
    size_fini(&s);
}

/* ---- A15 ---- */

static void twenty_notebooks(void **state)
{
    static const char scenario[] =
        "{'format': 'gpusim-scenario/1', 'name': 'notebooks',"
        " 'fleet': [{'name': 'a100', 'gpu': 'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 1}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': [{'name': 'whole', 'share': {'kind': 'whole'}},"
        "   {'name': 'timeslice', 'share': {'kind': 'timeslice', 'slots': 4, 'memory': 'reserve'}},"
        "   {'name': 'mig', 'share': {'kind': 'mig', 'layout': 'static', 'slices': {'2g.10gb': 3}}},"
        "   {'name': 'small', 'share': {'kind': 'mig', 'layout': 'static', 'slices': {'1g.5gb': 7}}}]}";
    /* whole cards, cards with four slots, cards with three slices; 8 GiB never fit a 1g.5gb */
    static const int64_t want[] = { 20, 5, 7, 0 };
    static const char *const slo[] = { "jobs.wait_s.max<=60", "jobs.failed==0",
                                       "jobs.rejected==0" };
    char trace[2000] = "job_id,submit_s,duration_s,gpus,gpu_mem_bytes\n";
    struct sizing s;
    (void)state;
    for (int i = 0; i < 20; i++)
        sprintf(trace + strlen(trace), "n%d,0,36000,0.1,%llu\n", i, 8ULL << 30);
    size(&s, sim_write(scenario, trace, NULL), slo, 3);
    assert_int_equal(s.n_answers, 4);
    for (size_t p = 0; p < 4; p++) {
        if (want[p] == 0) {
            assert_null(s.answer[p].best);
            continue;
        }
        assert_non_null(s.answer[p].best);
        assert_int_equal(s.answer[p].best->cards, want[p]);
        assert_int_equal(s.answer[p].next_smaller->nodes, want[p] - 1);
        assert_int_equal(s.answer[p].best->n, 1); /* nothing is random in a trace */
    }
    size_fini(&s);
}

/* A15 in one policy over layouts. Of 12 GiB only three fit on a card that counts bytes, and none
 * on a 1g.5gb or 2g.10gb. */
static void notebooks_over_layouts(void **state)
{
    static const char scenario[] =
        "{'format': 'gpusim-scenario/1', 'name': 'notebooks',"
        " 'fleet': [{'name': 'a100', 'gpu': 'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 1}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': [{'name': 'share', 'share': {'kind': 'whole'}}]}";
    static const char *const slo[] = { "jobs.wait_s.max<=60", "jobs.failed==0",
                                       "jobs.rejected==0" };
    static const char *const over =
        "policies.share.share={\"kind\":\"whole\"},"
        "{\"kind\":\"timeslice\",\"slots\":4,\"memory\":\"reserve\"},"
        "{\"kind\":\"mig\",\"layout\":\"static\",\"slices\":{\"2g.10gb\":3}},"
        "{\"kind\":\"mig\",\"layout\":\"static\",\"slices\":{\"1g.5gb\":7}},"
        "{\"kind\":\"mig\",\"layout\":\"static\",\"slices\":{\"1g.5gb\":8}}"; /* no such set */
    static const int64_t cards[2][4] = { { 20, 5, 7, 0 }, { 20, 7, 0, 0 } };
    (void)state;
    for (int big = 0; big < 2; big++) {
        char trace[2000] = "job_id,submit_s,duration_s,gpus,gpu_mem_bytes\n";
        struct sizing s;
        for (int i = 0; i < 20; i++)
            sprintf(trace + strlen(trace), "n%d,0,36000,0.1,%llu\n", i, (big ? 12ULL : 8ULL) << 30);
        const struct size_options o = { .scenario = sim_write(scenario, trace, NULL),
                                        .slo = slo,
                                        .n_slo = 3,
                                        .min = 1,
                                        .threads = 2,
                                        .over = &over,
                                        .n_over = 1 };
        err = (struct err){ 0 };
        if (size_run(&s, &o, &err) != 0) fail_msg("%s: %s %s", err.where, err.msg, err.hint);
        assert_int_equal(s.n_answers, 5);
        for (size_t i = 0; i < 4; i++) {
            assert_null(s.answer[i].problem);
            if (cards[big][i] == 0)
                assert_null(s.answer[i].best);
            else
                assert_int_equal(s.answer[i].best->cards, cards[big][i]);
        }
        assert_non_null(s.answer[4].problem);
        assert_int_equal(size_cheapest(&s)->point, 1);
        size_fini(&s);
    }
}

/* ---- A14 ---- */

/* A card serves ten requests per second, so that nodes of 2 and of 9 cards are the two kinds of
 * card of the question; arrivals and service are constant: no request waits as soon as the rate is
 * covered. */
static void whole_nodes(int rate, const char *least, int64_t small, int64_t large)
{
    static const char scenario[] =
        "{'format': 'gpusim-scenario/1', 'name': 'rented',"
        " 'fleet': [{'name': 'small', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 2}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': [{'name': 'small', 'share': {'kind': 'whole'}, 'prices': 'small.json'},"
        "   {'name': 'large', 'share': {'kind': 'whole'}, 'prices': 'large.json',"
        "    'fleet': [{'name': 'large', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 9}]}]}";
    static const struct sim_file prices[] = {
        { "small.json", "{'format': 'gpusim-prices/1', 'items': [{'name': 'rent', 'driver': 'node',"
                        " 'amount': 7008, 'period': 'year'}]}" }, /* 0.80 USD/h */
        { "large.json", "{'format': 'gpusim-prices/1', 'items': [{'name': 'rent', 'driver': 'node',"
                        " 'amount': 26280, 'period': 'year'}]}" }, /* 3.00 USD/h */
        { NULL, NULL },
    };
    static const char *const slo = "jobs.wait_s.max<=0.05";
    struct sizing s;
    struct strbuf trace = { 0 };
    strbuf_addz(&trace, "job_id,submit_s,duration_s,gpus\n");
    for (int i = 0; i < 40 * rate; i++)
        strbuf_addf(&trace, "r%d,%.9f,0.1,1\n", i, (double)i / rate);
    size(&s, sim_write(scenario, trace.s, prices), &slo, 1);
    const struct size_answer *a = &s.answer[0], *b = &s.answer[1];
    assert_non_null(a->best);
    assert_non_null(b->best);
    assert_int_equal(a->best->nodes, small);
    assert_int_equal(b->best->nodes, large);
    assert_string_equal(b->path, "policies.large.fleet.large.nodes");
    /* 40 s and the last tenth */
    assert_close(a->best->cost_usd, 0.8 * (double)small * 40 / 3600, 0.01);
    assert_close(b->best->cost_usd, 3.0 * (double)large * 40 / 3600, 0.01);
    assert_string_equal(size_cheapest(&s)->policy, least);
    size_fini(&s);
    strbuf_fini(&trace);
}

static void small_or_large(void **state)
{
    (void)state;
    whole_nodes(20, "small", 1, 1);
    whole_nodes(60, "small", 3, 1);
    whole_nodes(61, "large", 4, 1);
    whole_nodes(90, "large", 5, 1);
    whole_nodes(91, "small", 5, 2);
    whole_nodes(140, "small", 7, 2);
    whole_nodes(141, "large", 8, 2);
    whole_nodes(180, "large", 9, 2);
}

/* A14 with two kinds of card: one serves 20 requests/s, the other, measured, 4.5 times as many. */
static void cards_for_requests(int rate, const char *least, int64_t slow, int64_t fast)
{
    static const char scenario[] =
        "{'format': 'gpusim-scenario/1', 'name': 'cards',"
        " 'fleet': [{'name': 'L', 'gpu': 'l4', 'nodes': 1, 'gpus_per_node': 1}],"
        " 'work': [{'name': 'w', 'kind': 'service', 'requests': 'requests.csv', 'replicas': {'per_card': 1},"
        "           'speed_on': {'l4': 1, 'a100-pcie-40gb': 4.5}}],"
        " 'policies': [{'name': 'L', 'share': {'kind': 'whole'}, 'prices': 'small.json'},"
        "   {'name': 'A', 'share': {'kind': 'whole'}, 'prices': 'large.json',"
        "    'fleet': [{'name': 'A', 'gpu': 'a100-pcie-40gb', 'nodes': 1, 'gpus_per_node': 1}]}]}";
    static const char *const slo = "services.w.latency_ms.p99<=51";
    struct sizing s;
    struct strbuf rows = { 0 };
    strbuf_addz(&rows, "arrival_s,size\n");
    for (int i = 0; i < 40 * rate; i++) strbuf_addf(&rows, "%.9f,0.05\n", (double)i / rate);
    const struct sim_file files[] = {
        { "requests.csv", rows.s },
        { "small.json", "{'format': 'gpusim-prices/1', 'items': [{'name': 'rent', 'driver': 'node',"
                        " 'amount': 7008, 'period': 'year'}]}" }, /* 0.80 USD/h */
        { "large.json", "{'format': 'gpusim-prices/1', 'items': [{'name': 'rent', 'driver': 'node',"
                        " 'amount': 26280, 'period': 'year'}]}" }, /* 3.00 USD/h */
        { NULL, NULL },
    };
    size(&s, sim_write(scenario, "job_id,submit_s,duration_s,gpus\nj,0,1,1\n", files), &slo, 1);
    assert_int_equal(s.answer[0].best->nodes, slow);
    assert_int_equal(s.answer[1].best->nodes, fast);
    assert_string_equal(size_cheapest(&s)->policy, least);
    size_fini(&s);
    strbuf_fini(&rows);
}

static void cheap_or_fast(void **state)
{
    (void)state;
    cards_for_requests(20, "L", 1, 1);
    cards_for_requests(60, "L", 3, 1);
    cards_for_requests(61, "A", 4, 1);
    cards_for_requests(90, "A", 5, 1);
    cards_for_requests(91, "L", 5, 2);
    cards_for_requests(140, "L", 7, 2);
    cards_for_requests(141, "A", 8, 2);
}

/* A14 asked in one go: one policy, the card is what varies; prices come with the card. */
static void over_cards(void **state)
{
    static const char scenario[] =
        "{'format': 'gpusim-scenario/1', 'name': 'cards',"
        " 'fleet': [{'name': 'pool', 'gpu': 'l4', 'nodes': 1, 'gpus_per_node': 1}],"
        " 'work': [{'name': 'w', 'kind': 'service', 'requests': 'requests.csv', 'replicas': {'per_card': 1},"
        "           'speed_on': {'l4': 1, 'a100-pcie-40gb': 4.5}}],"
        " 'policies': [{'name': 'p', 'share': {'kind': 'whole'}, 'prices': 'prices.json'}]}";
    static const char prices[] =
        "{'format': 'gpusim-prices/1', 'items': ["
        " {'name': 'L', 'driver': 'card', 'gpu': 'l4', 'amount': 7008, 'period': 'year'},"
        " {'name': 'A', 'driver': 'card', 'gpu': 'a100-pcie-40gb', 'amount': 26280, 'period': 'year'}]}";
    static const char *const slo = "services.w.latency_ms.p99<=51",
                             *const over = "fleet.pool.gpu=l4,a100-pcie-40gb";
    static const struct {
        int rate;
        size_t card; /* 0: the cheap one */
        int64_t nodes;
    } want[] = { { 15, 0, 1 },  { 60, 0, 3 },  { 61, 1, 1 },  { 90, 1, 1 },  { 91, 0, 5 },
                 { 120, 0, 6 }, { 121, 0, 7 }, { 140, 0, 7 }, { 141, 1, 2 }, { 180, 1, 2 } };
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct strbuf rows = { 0 };
        struct sizing s;
        strbuf_addz(&rows, "arrival_s,size\n");
        for (int k = 0; k < 40 * want[i].rate; k++)
            strbuf_addf(&rows, "%.9f,0.05\n", (double)k / want[i].rate);
        const struct sim_file files[] = { { "requests.csv", rows.s },
                                          { "prices.json", prices },
                                          { NULL, NULL } };
        const struct size_options o = {
            .scenario = sim_write(scenario, "job_id,submit_s,duration_s,gpus\nj,0,1,1\n", files),
            .slo = &slo,
            .n_slo = 1,
            .min = 1,
            .threads = 2,
            .over = &over,
            .n_over = 1,
            .no_nines = true
        };
        err = (struct err){ 0 };
        if (size_run(&s, &o, &err) != 0) fail_msg("%s: %s %s", err.where, err.msg, err.hint);
        const struct size_answer *best = size_cheapest(&s);
        assert_int_equal(best->point, want[i].card);
        assert_int_equal(best->best->nodes, want[i].nodes);
        assert_close(best->best->cost_usd,
                     (want[i].card ? 3.0 : 0.8) * (double)want[i].nodes * 40 / 3600, 0.01);
        size_fini(&s);
        strbuf_fini(&rows);
    }
}

/* A target that nothing meets, and mistakes. */
static void no_answer(void **state)
{
    static const char *const never = "jobs.wait_s.p99<=-1";
    static const struct {
        const char *slo, *group, *why, *hint;
    } bad[] = {
        { "jobs.wait_s.p98<=1", NULL, "has no 'jobs.wait_s.p98'", "did you mean 'p90'" },
        { "jobs.wate_s.p99<=1", NULL, "has no 'jobs.wate_s.p99'", "did you mean 'wait_s'" },
        { "jobs.wait_s<=1", NULL, "is no number", "" },
        { "jobs.wait_s.p99<=1", "polo", "no fleet group 'polo'", "it has: pool" },
    };
    struct sizing s;
    (void)state;
    struct size_options o = { .scenario = "scenarios/sizing-erlang.json",
                              .slo = &never,
                              .n_slo = 1,
                              .min = 6,
                              .max = 9,
                              .threads = 2,
                              .replications = 4 };
    assert_int_equal(size_run(&s, &o, &err), 0);
    assert_null(s.answer[0].best);
    assert_int_equal(trial_of(&s.answer[0], 9)->target[0], SIZE_MISSED);
    size_fini(&s);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (struct err){ 0 };
        o.slo = &bad[i].slo;
        o.group = bad[i].group;
        assert_int_equal(size_run(&s, &o, &err), ERR_USAGE);
        assert_contains(err.msg, bad[i].why);
        assert_contains(err.hint, bad[i].hint);
        size_fini(&s);
    }
}

static void over_mistakes(void **state)
{
    static const char *const slo = "jobs.wait_s.p99<=0.5";
    static const struct {
        const char *over, *design, *why;
        int code;
    } bad[] = {
        { "fleet.pool.gpo=l4", NULL, "gpo", ERR_INPUT },
        { "fleet.polo.gpu=l4", NULL, "polo", ERR_USAGE },
        { "fleet.pool.gpu=", NULL, "", ERR_USAGE },
        { "fleet.pool.gpu=l4,t4", "zap", "zap", ERR_USAGE },
        { "fleet.pool.gpu=no-such-card,nor-this", NULL, "no point can be", ERR_INPUT },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sizing s;
        const struct size_options o = { .scenario = "scenarios/sizing-erlang.json",
                                        .slo = &slo,
                                        .n_slo = 1,
                                        .min = 6,
                                        .max = 7,
                                        .threads = 1,
                                        .replications = 2,
                                        .over = &bad[i].over,
                                        .n_over = 1,
                                        .design = bad[i].design };
        err = (struct err){ 0 };
        assert_int_equal(size_run(&s, &o, &err), bad[i].code);
        assert_contains(err.msg, bad[i].why);
        size_fini(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_a_second),
        cmocka_unit_test(quarter_of_a_second),
        cmocka_unit_test(by_averages),
        cmocka_unit_test(unstable_has_no_percentile),
        cmocka_unit_test(twenty_notebooks),
        cmocka_unit_test(small_or_large),
        cmocka_unit_test(as_a_service),
        cmocka_unit_test(cheap_or_fast),
        cmocka_unit_test(short_runs),
        cmocka_unit_test(each_nine),
        cmocka_unit_test(notebooks_over_layouts),
        cmocka_unit_test(over_cards),
        cmocka_unit_test(no_answer),
        cmocka_unit_test(over_mistakes),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests_name("sizing", tests, NULL, NULL);
}
