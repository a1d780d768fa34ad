/* test_validate_time.c - sharing in time against measurements: the bounds of the sets gavel,
 * sharing, launch and intercept; the fits they rest on; the exact limits of the policies they
 * changed.
 *
 * Bounds hold with slack over the errors of today (in the comments), so that a better model or
 * a few more rows do not break them, and a worse model does. */
#include "engine/plan.h"
#include "model/colocation.h"
#include "policy/timeshare.h"
#include "support/support.h"
#include "whatif/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct world world;

static int world_setup(void **state)
{
    struct err e = { 0 };
    (void)state;
    if (world_load(&world, &e) == 0) return 0;
    err_print(&e, "test", stderr);
    return -1;
}

static int world_teardown(void **state)
{
    (void)state;
    world_fini(&world);
    return 0;
}

/* ---- sets ---- */

struct scored {
    struct arena *arena;
    valid_rows rows;
    struct valid_report report;
};

static void score(struct scored *s, const char *set, const char *path)
{
    struct err e = { 0 };
    const struct valid_set *v = valid_find(set, NULL);
    assert_non_null(v);
    *s = (struct scored){ .arena = arena_create() };
    if (!path) path = valid_data(v, s->arena);
    assert_non_null(path);
    if (v->predict(&world, path, s->arena, &s->rows, &e) != 0) {
        err_print(&e, "test", stderr);
        fail();
    }
    valid_report_of(&s->report, v, s->rows.v, s->rows.n, s->arena);
}

static void scored_fini(struct scored *s)
{
    vec_fini(&s->rows);
    arena_destroy(s->arena);
}

static const struct valid_group *group_of(const struct scored *s, const char *name)
{
    for (size_t i = 0; i < s->report.n_groups; i++)
        if (strcmp(s->report.group[i].name, name) == 0) return &s->report.group[i];
    fail_msg("no group \"%s\"", name);
    return NULL;
}

static void refused(const char *set, const char *text, const char *why)
{
    struct err e = { 0 };
    struct arena *a = arena_create();
    valid_rows rows = { 0 };
    assert_int_equal(valid_find(set, NULL)->predict(&world, temp_file(".csv", text), a, &rows, &e),
                     ERR_INPUT);
    assert_contains(e.msg, why);
    assert_contains(e.where, ".csv:");
    vec_fini(&rows);
    arena_destroy(a);
}

#define GAVEL_HEAD                                                                                 \
    "set,gpu,job_a,batch_a,job_b,batch_b,iso_a_steps_s,iso_b_steps_s,norm_a,norm_b,flags\n"

static void gavel_pairs(void **state)
{
    (void)state;
    static const struct {
        const char *campaign;
        double at_most, counters_gain; /* MAPE; counters better than a constant by this factor */
    } want[] = {
        { "sim K80", 0.047, 1.25 },     /* 0.039; 1.54 */
        { "sim P100", 0.041, 1.2 },     /* 0.033; 1.39 */
        { "sim V100", 0.115, 1.02 },    /* 0.100; 1.08 */
        { "oracle K80", 0.028, 1.1 },   /* 0.023; 1.17 */
        { "oracle P100", 0.068, 1.15 }, /* 0.057; 1.26 */
        { "oracle V100", 0.054, 1.15 }, /* 0.045; 1.24 */
    };
    struct scored s;
    score(&s, "gavel", NULL);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char counters[64];
        const struct valid_group *g = group_of(&s, want[i].campaign);
        snprintf(counters, sizeof counters, "%s, counters", want[i].campaign);
        const struct valid_group *c = group_of(&s, counters);
        print_message("%s: %.3f, counters %.3f, constant %.3f\n", want[i].campaign, g->model.mape,
                      c->model.mape, g->naive.mape);
        assert_true(g->model.mape <= want[i].at_most);
        assert_true(g->model.mape < 0.5 * g->naive.mape);
        assert_true(c->model.mape * want[i].counters_gain <= c->naive.mape);
        assert_true(c->aside && !g->aside);
        assert_int_equal(g->model.uncovered, 0);
        assert_true(g->model.spearman > 0.9);
    }
    /* Rows that did not run or were clipped are not scored. */
    for (size_t i = 0; i < s.rows.n; i++) assert_true(s.rows.v[i].measured > 0);
    assert_int_equal(s.report.model.n, 2148);
    assert_int_equal(s.report.n_missed, 0);
    scored_fini(&s);
}

static void gavel_rows_of_others(void **state)
{
    (void)state;
    struct scored s;
    /* A pair that ships with another value: its own row must not have taught the fit. */
    score(&s, "gavel",
          temp_file(".csv", GAVEL_HEAD "sim,K80,A3C,,CycleGAN,,3.43877,0.504771,0.9,0.1,\n"
                                       "sim,K80,A3C,,A3C,,3.4,3.4,0.9,0.9,did_not_run\n"
                                       "sim,K80,A3C,,LM,10,3.4,23.8,1.0,0.5,capped_at_isolated\n"
                                       "sim,K80,A3C,,New,1,3.4,2,0.5,0.5,\n"
                                       "mine,L40S,X,,Y,,1,2,0.5,0.5,\n"));
    const struct valid_group *g = group_of(&s, "sim K80");
    assert_int_equal(g->model.n, 2);
    assert_int_equal(g->model.uncovered, 2);          /* no pair holds the new job */
    assert_close(s.rows.v[0].predicted, 0.4262, 0.2); /* what was measured, not what is claimed */
    assert_close(s.rows.v[3].predicted, 0.5803, 0.2);
    assert_int_equal(group_of(&s, "mine L40S")->model.n,
                     0); /* one pair teaches nothing about itself */
    scored_fini(&s);
    refused("gavel", GAVEL_HEAD "sim,K80,A,,B,,1,-2,0.5,0.5,\n", "iso_b_steps_s");
    refused("gavel", GAVEL_HEAD "sim,K80,A,,B,,1,2,abc,0.5,\n", "norm_a");
    refused("gavel", GAVEL_HEAD "sim,K80,A\n", "11 fields");
    refused("gavel", "set,gpu\nsim,K80\n", "iso_a_steps_s");
}

static void shipped_time_slicing(void **state)
{
    (void)state;
    struct scored s;
    char path[4096], shared[4096] = "";
    if (getenv("GPUSIM_SHARED")) snprintf(shared, sizeof shared, "%s", getenv("GPUSIM_SHARED"));
    unsetenv("GPUSIM_SHARED");
    score(&s, "sharing", NULL);
    const struct valid_group *g = group_of(&s, "time slicing, busy tenants");
    assert_int_equal(g->model.n, 2);
    assert_true(g->model.worst_abs < 0.005); /* 0.0011 */
    scored_fini(&s);
    /* More tenants of the same card, from a file of one's own: the loss does not grow with them. */
    snprintf(path, sizeof path, "%s",
             temp_file(".csv", "source,gpu,policy,tenants,loaded_tenants,workload,norm_per_tenant,"
                               "aggregate_norm\nme,A100-PCIE-80GB,timeslice,5,5,x,0.1804,0.902\n"));
    score(&s, "sharing", path);
    /* 0.0138: nothing tells that "x" leaves SMs empty, as YOLOS does */
    assert_true(group_of(&s, "time slicing, busy tenants")->model.worst_abs < 0.02);
    scored_fini(&s);
    if (shared[0]) setenv("GPUSIM_SHARED", shared, 1);
    refused("sharing", "policy,tenants\nmps,2\n", "loaded_tenants");
    refused("sharing", "policy,tenants,loaded_tenants\nmps,2,0\n", "loaded_tenants");
}

static void reference_sharing(void **state)
{
    (void)state;
    struct scored s;
    if (!shared_path("reference/sharing_measured.csv"))
        skip_without_shared("reference/sharing_measured.csv");
    score(&s, "sharing", NULL);
    const struct valid_group *busy = group_of(&s, "time slicing, busy tenants");
    assert_true(busy->model.worst_abs < 0.02); /* 0.0146: the two rows of the A30 */
    assert_true(busy->model.mae < 0.01 && busy->model.mae < 0.25 * busy->naive.mae); /* 0.0077 */
    assert_true(group_of(&s, "time slicing, host-bound")->model.worst < 0.03);
    assert_true(group_of(&s, "time slicing, host-bound, left out")->model.worst < 0.09); /* 0.049 */
    assert_true(group_of(&s, "MPS, host-bound")->model.worst < 0.05);                    /* 0.031 */
    assert_true(group_of(&s, "MPS, width from a MIG slice")->model.mape < 0.10);         /* 0.074 */
    assert_true(group_of(&s, "MPS, one block a client")->model.worst < 0.15);            /* 0.130 */
    assert_true(group_of(&s, "MIG, tenants on equal slices")->model.worst < 0.02);       /* 0.006 */
    assert_true(group_of(&s, "contradictory host, order only")->model.spearman > 0.5);   /* 0.8 */
    assert_int_equal(s.report.n_missed, 0);
    scored_fini(&s);
}

static void reference_interception(void **state)
{
    (void)state;
    struct scored s;
    if (!shared_path("reference/launch_overheads.csv"))
        skip_without_shared("reference/launch_overheads.csv");
    score(&s, "launch", NULL);
    assert_true(group_of(&s, "launch and wait")->model.mape < 0.03);        /* 0.016 */
    assert_true(group_of(&s, "context creation")->model.mape < 0.05);       /* 0.029 */
    assert_true(group_of(&s, "start-up beside others")->model.mape < 0.15); /* 0.11 */
    scored_fini(&s);
    score(&s, "intercept", NULL);
    const struct valid_group *version = group_of(&s, "one cost a version");
    assert_true(version->model.worst < 0.05); /* 0.031 */
    assert_true(version->model.mape < 0.5 * version->naive.mape);
    assert_true(group_of(&s, "default cost")->model.mape <
                group_of(&s, "default cost")->naive.mape);
    scored_fini(&s);
}

/* Orion's last column is the slowdown by one microsecond per operation that nothing hides. */
static void orion_launch_cost(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct valid_share share;
    struct err e = { 0 };
    const struct signature *alone;
    struct signature sig = signature_default();
    double speed;
    assert_int_equal(valid_share_bind(&share, &world, a, "intercept", "v100-sxm2-16gb",
                                      "{\"launch\": \"1 us\"}", &e),
                     0);
    alone = &sig;
    sig.launches_per_s = 175 / 6498.42e-6; /* resnet50, batch 4, inference */
    valid_share_speeds(&share, &alone, NULL, 1, &speed);
    assert_close(1 / speed - 1, 0.0269, 2e-3);
    sig.launches_per_s = 4354 / 125369e-6; /* transformer_xl, batch 8, training */
    valid_share_speeds(&share, &alone, NULL, 1, &speed);
    assert_close(1 / speed - 1, 0.0347, 2e-3);
    arena_destroy(a);
}

/* ---- co-location ---- */

/* Pairs that were not seen come out of those that were: a sensitivity and a pressure of each
 * program and what some of them do to each other, at three batch sizes. */
static void colocation_recovers(void **state)
{
    (void)state;
    enum { PROGRAMS = 6, SIZES = 3, JOBS = PROGRAMS * SIZES };
    struct arena *a = arena_create();
    struct colocation_pair pair[JOBS * JOBS];
    struct colocation_job job[JOBS + 2];
    struct colocation fit;
    uint64_t random = test_seed();
    double s[PROGRAMS], p[PROGRAMS], truth[JOBS][JOBS], worst = 0, constant = 0;
    size_t n = 0;
    for (int j = 0; j < PROGRAMS; j++) {
        s[j] = -0.3 * (double)(test_random(&random) % 1000) / 1000;
        p[j] = -0.3 * (double)(test_random(&random) % 1000) / 1000;
    }
    for (size_t i = 0; i < JOBS; i++) {
        job[i] = (struct colocation_job){ i / SIZES, (double)(4 + i % SIZES) };
        for (size_t j = 0; j < JOBS; j++)
            truth[i][j] = exp(-0.4 + s[i / SIZES] + p[j / SIZES] - 0.05 * (double)(j % SIZES) -
                              (i / SIZES % 3 || j / SIZES % 2 ? 0 : 0.3));
    }
    job[JOBS] = (struct colocation_job){ 0, 7 };            /* unseen, but its kin is */
    job[JOBS + 1] = (struct colocation_job){ PROGRAMS, 4 }; /* nothing is known of it */
    for (size_t i = 0; i < JOBS; i++)
        for (size_t j = 0; j < JOBS; j++)
            if ((i * 5 + j) % 7) pair[n++] = (struct colocation_pair){ i, j, truth[i][j], false };
    colocation_fit(&fit, a, job, JOBS + 2, pair, n);
    for (size_t i = 0; i < JOBS; i++)
        for (size_t j = 0; j < JOBS; j++)
            if ((i * 5 + j) % 7 == 0) {
                worst = fmax(worst, fabs(colocation_norm(&fit, i, j) / truth[i][j] - 1));
                constant = fmax(constant, fabs(0.5 / truth[i][j] - 1));
            }
    print_message("worst unseen pair: %.3f, of a constant %.3f\n", worst, constant);
    assert_true(worst < 0.05 && worst < 0.2 * constant);
    /* a batch size that was never seen lies near the next one that was */
    assert_close(colocation_norm(&fit, JOBS, 7) / colocation_norm(&fit, 2, 7), 1, 0.03);
    assert_true(isnan(colocation_norm(&fit, JOBS + 1, 0)));
    assert_true(isnan(colocation_norm(&fit, 0, JOBS + 1)));
    assert_true(isnan(colocation_norm(&fit, 0, JOBS + 5)));
    arena_destroy(a);
}

/* By hand: one observation y of (A, B) and the prediction for A beside a stranger's kin. With the
 * variances of colocation.c, weight = y / (mean + 2 side + together + noise). */
static void colocation_by_hand(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct colocation fit;
    const struct colocation_job job[] = { { 0, 0 }, { 1, 5 }, { 1, 5 + 5.6 }, { 0, 0 } };
    const struct colocation_pair one = { 0, 1, 0.5, false };
    const double weight = log(0.5) / (1 + 2 * 0.05 + 0.0235 + 0.00071);
    colocation_fit(&fit, a, job, 4, &one, 1);
    assert_close(colocation_norm(&fit, 0, 1), exp(weight * (1 + 2 * 0.05 + 0.0235)), 1e-12);
    assert_close(colocation_norm(&fit, 0, 2),
                 exp(weight * (1 + 0.05 * (1 + exp(-1)) + 0.0235 * exp(-1))), 1e-12);
    assert_close(colocation_norm(&fit, 3, 1), colocation_norm(&fit, 0, 1), 1e-15); /* a twin */
    assert_true(isnan(colocation_norm(&fit, 1, 0))); /* seen pressing, never suffering */
    colocation_fit(&fit, a, job, 4, NULL, 0);
    assert_true(isnan(colocation_norm(&fit, 0, 1)));
    arena_destroy(a);
}

static void colocation_bounds(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct colocation fit, plain;
    /* Job 0 is clipped beside three: as a plain 1 it would say less than as a bound, since it runs
     * at 1 beside the two that press most. */
    const struct colocation_job kin[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 0 } };
    struct colocation_pair pair[24];
    size_t n = 0;
    for (size_t j = 1; j <= 4; j++) {
        if (j < 4) pair[n++] = (struct colocation_pair){ 0, j, 1.0, true };
        pair[n++] = (struct colocation_pair){ j, 0, 0.5, false };
        for (size_t k = 1; k <= 4; k++)
            pair[n++] = (struct colocation_pair){ j, k, k == 4 ? 0.9 : 0.6, false };
    }
    colocation_fit(&fit, a, kin, 5, pair, n);
    for (size_t i = 0; i < n; i++) pair[i].at_least = false;
    colocation_fit(&plain, a, kin, 5, pair, n);
    assert_true(colocation_norm(&fit, 0, 2) > 0.95 && colocation_norm(&fit, 0, 2) <= 1.0);
    assert_true(colocation_norm(&fit, 0, 0) >= colocation_norm(&plain, 0, 0));
    assert_true(colocation_norm(&fit, 2, 0) < 0.7);

    /* Counters: too few rows are refused; exact data come back. */
    struct job_counters job[6];
    struct colocation_pair many[36];
    struct colocation_counters c;
    for (int j = 0; j < 6; j++)
        job[j] = (struct job_counters){ 0.01 * (j + 1) * (j + 1), 2.0 + (j * 7 % 5) };
    n = 0;
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            many[n++] = (struct colocation_pair){
                i, j, 0.4 * pow(job[i].step_s / job[j].step_s, 0.1) * pow(job[j].gain, -0.2), false
            };
    assert_false(colocation_counters_fit(&c, job, many, NULL, 4));
    assert_true(colocation_counters_fit(&c, job, many, NULL, n));
    assert_close(c.c[0], log(0.4), 1e-9);
    assert_close(c.c[1], 0.1, 1e-9);
    assert_close(c.c[4], -0.2, 1e-9);
    assert_close(colocation_counters_norm(&c, &job[1], &job[4]), many[1 * 6 + 4].norm, 1e-9);
    arena_destroy(a);
}

/* ---- policies ---- */

enum { MOST = 14 };

static void ask(const char *kind, const char *card, const char *params, const struct signature *sig,
                const int *milli, size_t n, double *speed)
{
    struct arena *a = arena_create();
    struct err e = { 0 };
    struct valid_share share;
    struct demand demand[MOST];
    const struct demand *d[MOST];
    const struct signature *s[MOST];
    if (valid_share_bind(&share, &world, a, kind, card, params, &e) != 0) {
        err_print(&e, "test", stderr);
        fail();
    }
    for (size_t i = 0; i < n; i++) {
        demand[i] = valid_demand();
        if (milli) demand[i].units = milli[i];
        d[i] = &demand[i];
        s[i] = &sig[i];
    }
    valid_share_speeds(&share, s, d, n, speed);
    arena_destroy(a);
}

static double uniform(uint64_t *random)
{
    return (double)(test_random(random) >> 11) / 9007199254740992.0;
}

static struct signature busy(double host)
{
    struct signature s = signature_default();
    s.host = host;
    s.compute = 1 - host;
    s.sm_width = s.bw_width = 1;
    return s;
}

#define BUCKET "{\"enforce\": \"bucket\", \"switch\": \"0 s\", \"launch\": \"0 s\"}"
#define SOFT   "{\"enforce\": \"soft\", \"switch\": \"0 s\", \"launch\": \"0 s\"}"

static void token_bucket(void **state)
{
    (void)state;
    const struct signature two[] = { busy(0), busy(0) };
    double speed[MOST], soft[MOST];
    /* Alone: not throttled, however small the quota. */
    ask("intercept", "a100-sxm4-80gb", BUCKET, two, (int[]){ 100 }, 1, speed);
    assert_close(speed[0], 1, 1e-12);
    /* 10 beside 90: 1:6 to 1:8; the card stays full. */
    ask("intercept", "a100-sxm4-80gb", BUCKET, two, (int[]){ 100, 900 }, 2, speed);
    assert_true(speed[1] / speed[0] > 6 && speed[1] / speed[0] < 8);
    assert_close(speed[0] + speed[1], 1, 1e-12);
    /* 30 beside 70 on 188 SMs: near 46 and 54; exact shares with gain 1. */
    ask("intercept", "rtxpro6000bw-se", BUCKET, two, (int[]){ 300, 700 }, 2, speed);
    assert_close(speed[0], 0.46, 0.01);
    ask("intercept", "a100-sxm4-80gb",
        "{\"enforce\": \"bucket\", \"gain\": 1, \"switch\": \"0 s\"}", two, (int[]){ 300, 700 }, 2,
        speed);
    assert_close(speed[0], 0.3, 1e-12);
    /* Idle quota is lent: beside one that is mostly away, a small quota runs nearly alone. */
    const struct signature away[] = { busy(0), busy(0.95) };
    ask("intercept", "a100-sxm4-80gb", BUCKET, away, (int[]){ 100, 900 }, 2, speed);
    assert_true(speed[0] > 0.7 && speed[1] > 0.98);
    /* Equal quotas are soft limits, bit for bit. */
    uint64_t random = test_seed();
    for (int round = 0; round < 100; round++) {
        struct signature s[MOST];
        int equal[MOST], any[MOST];
        double used = 0;
        const size_t n = 1 + test_random(&random) % 7;
        for (size_t i = 0; i < n; i++) {
            s[i] = busy(test_random(&random) % 3 ? uniform(&random) * 0.9 : 0);
            equal[i] = 140;
            any[i] = 10 + (int)(test_random(&random) % 500);
        }
        ask("intercept", "a100-sxm4-80gb", BUCKET, s, equal, n, speed);
        ask("intercept", "a100-sxm4-80gb", SOFT, s, equal, n, soft);
        assert_memory_equal(speed, soft, n * sizeof *speed);
        ask("intercept", "a100-sxm4-80gb", BUCKET, s, any, n, speed);
        for (size_t i = 0; i < n; i++) {
            used += speed[i] * s[i].compute;
            assert_true(speed[i] > 0 && speed[i] <= 1 + 1e-12);
        }
        if (used > 1 + 1e-9) fail_msg("the bucket hands out %.9g of the card", used);
    }
}

/* With kernels that fill the card MPS takes turns like everybody: the same network, whatever the
 * host share, up to as many kinds of clients as are solved exactly; and whatever the
 * interference. */
static void mps_of_wide_kernels_is_time_slicing(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int round = 0; round < 60; round++) {
        struct signature s[MOST];
        double together[MOST], sliced[MOST];
        const size_t n = 1 + test_random(&random) % 7;
        for (size_t i = 0; i < n; i++)
            s[i] = i > 0 && round % 2 ? s[0] : busy(round % 5 ? uniform(&random) * 0.95 : 0);
        ask("mps", "a100-sxm4-80gb",
            round % 3 ? "{\"cap\": 1, \"overhead\": 0, \"interference\": 0}"
                      : "{\"cap\": 1, \"overhead\": 0, \"interference\": 0.7}",
            s, NULL, n, together);
        ask("timeslice", "a100-sxm4-80gb", "{\"switch\": \"0 s\"}", s, NULL, n, sliced);
        for (size_t i = 0; i < n; i++) assert_close(together[i], sliced[i], 1e-9);
    }
}

/* Many different clients are solved approximately and still get no more than the card. */
static void mps_of_many_kinds(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int round = 0; round < 100; round++) {
        struct signature s[MOST];
        double speed[MOST], used = 0;
        for (size_t i = 0; i < MOST; i++) {
            s[i] = busy(uniform(&random) * 0.9);
            s[i].sm_width = 0.05 + 0.95 * uniform(&random);
            s[i].memory = s[i].compute * uniform(&random);
            s[i].compute = 1 - s[i].host - s[i].memory;
        }
        ask("mps", "a100-sxm4-80gb", "{\"cap\": 1, \"slots\": 14}", s, NULL, MOST, speed);
        for (size_t i = 0; i < MOST; i++) {
            used += speed[i] * (s[i].compute + s[i].memory) * s[i].sm_width;
            assert_true(speed[i] > 0 && speed[i] <= 1);
        }
        assert_true(used <= 1 + 1e-9);
    }
}

/* Neighbours cost more the more kernels meet, below the card; above it packing decides. */
static void interference_direction(void **state)
{
    (void)state;
    struct signature s[3] = { busy(0), busy(0), busy(0) };
    double none[3], some[3];
    for (int i = 0; i < 3; i++) s[i].sm_width = 0.25;
    ask("mps", "a100-sxm4-80gb", "{\"cap\": 1, \"interference\": 0}", s, NULL, 3, none);
    ask("mps", "a100-sxm4-80gb", "{\"cap\": 1, \"interference\": 0.4}", s, NULL, 3, some);
    assert_close(none[0], 1, 1e-12);
    assert_close(some[0], 1 / (1 + 0.4 * 0.5), 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gavel_pairs),
        cmocka_unit_test(gavel_rows_of_others),
        cmocka_unit_test(shipped_time_slicing),
        cmocka_unit_test(reference_sharing),
        cmocka_unit_test(reference_interception),
        cmocka_unit_test(orion_launch_cost),
        cmocka_unit_test(colocation_recovers),
        cmocka_unit_test(colocation_by_hand),
        cmocka_unit_test(colocation_bounds),
        cmocka_unit_test(token_bucket),
        cmocka_unit_test(mps_of_wide_kernels_is_time_slicing),
        cmocka_unit_test(mps_of_many_kinds),
        cmocka_unit_test(interference_direction),
    };
    return cmocka_run_group_tests_name("validate_time", tests, world_setup, world_teardown);
}
