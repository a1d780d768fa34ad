/* Texts of Slurm: known values, refusals, and durations against their own printing. */
#include "traces/parse_slurm.h"

#include "tests/support/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define S(text) (text), strlen(text)

static void durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t s, ns; /* s < 0: refused */
    } t[] = {
        { "00:00:24", 24, 0 },
        { "10-13:27:06", 912426, 0 },
        { "37-14:00:00", 3247200, 0 },
        { "15:38", 938, 0 },           /* minutes:seconds */
        { "00:00.106", 0, 106000000 }, /* TotalCPU of short jobs */
        { "1-02:03:04.5", 93784, 500000000 },
        { "1-02", 93600, 0 },    /* days-hours */
        { "1-02:03", 93780, 0 }, /* days-hours:minutes */
        { "100:00:00", 360000, 0 },
        { "365-00:00:00", 31536000, 0 },
        { "", -1, 0 },
        { "90", -1, 0 }, /* minutes or seconds? */
        { "1:2:3:4", -1, 0 },
        { "1-", -1, 0 },
        { "-00:01", -1, 0 },
        { "00:60:00", -1, 0 },
        { "00:00:61", -1, 0 },
        { "1-24:00:00", -1, 0 },
        { "00:00:01.", -1, 0 },
        { "00:00:01 ", -1, 0 },
        { "1-1-1", -1, 0 },
        { "12:34x", -1, 0 },
        { "UNLIMITED", -1, 0 },
        { "999999999-00:00:00", -1, 0 }, /* beyond 9.2e9 s */
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        simtime got = 42;
        const bool ok = slurm_duration(S(t[i].text), &got);
        if (ok != (t[i].s >= 0) || (ok && got != t[i].s * SIM_SECOND + t[i].ns) ||
            (!ok && got != 42))
            fail_msg("%s: %d, %" PRId64, t[i].text, ok, got);
    }
}

/* What sacct prints for a number of seconds is read back as that number. */
static void durations_round_trip(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int i = 0; i < 100000; i++) {
        const int64_t s = (int64_t)(test_random(&seed) % 400000000);
        char text[40];
        const int h = (int)(s / 3600 % 24), m = (int)(s / 60 % 60), c = (int)(s % 60);
        if (s >= 86400)
            snprintf(text, sizeof text, "%d-%02d:%02d:%02d", (int)(s / 86400), h, m, c);
        else
            snprintf(text, sizeof text, "%02d:%02d:%02d", h, m, c);
        simtime got;
        if (!slurm_duration(S(text), &got) || got != s * SIM_SECOND) fail_msg("%s", text);
    }
}

static void limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int kind; /* -1: refused */
        int64_t s;
    } t[] = {
        { "1-06:00:00", LIMIT_SET, 108000 },
        { "1440", LIMIT_SET, 86400 }, /* TimelimitRaw: minutes */
        { "UNLIMITED", LIMIT_NONE, 0 },
        { "INFINITE", LIMIT_NONE, 0 },
        { "Partition_Limit", LIMIT_UNKNOWN, 0 },
        { "NOT_SET", LIMIT_UNKNOWN, 0 },
        { "", LIMIT_UNKNOWN, 0 },
        { "N/A", LIMIT_UNKNOWN, 0 },
        { "soon", -1, 0 },
        { "-5", -1, 0 },
        { "1.5", -1, 0 },
        { "99999999999", -1, 0 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        enum slurm_limit kind;
        simtime got = 0;
        const bool ok = slurm_time_limit(S(t[i].text), &kind, &got);
        if (ok != (t[i].kind >= 0) ||
            (ok && ((int)kind != t[i].kind || got != t[i].s * SIM_SECOND)))
            fail_msg("%s: %d", t[i].text, ok);
    }
}

static void memory(void **state)
{
    (void)state;
    const uint64_t mib = UINT64_C(1) << 20, gib = UINT64_C(1) << 30;
    const struct {
        const char *text;
        uint64_t bytes; /* 1: refused */
        char per;
    } t[] = {
        { "4000M", 4000 * mib, 0 },
        { ".50Gn", gib / 2, 'n' },
        { "31000Mn", 31000 * mib, 'n' },
        { "3Gc", 3 * gib, 'c' },
        { "5000Mc", 5000 * mib, 'c' },
        { "62.50G", 64000 * mib, 0 },
        { "2147486648Mn", 3000 * mib, 'c' }, /* the per-core flag as a number */
        { "1T", 1024 * gib, 0 },
        { "128", 128 * mib, 0 },
        { "16?", 16 * mib, 0 },
        { "0n", 0, 'n' },
        { "", 1, 0 },
        { "xM", 1, 0 },
        { "-1M", 1, 0 },
        { "99999999999999E", 1, 0 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        uint64_t got = 1;
        char per;
        slurm_memory(S(t[i].text), &got, &per);
        if (got != t[i].bytes || (got != 1 && per != t[i].per))
            fail_msg("%s: %" PRIu64 " %c", t[i].text, got, per);
    }
}

static void resources(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t milli; /* -2: refused */
        bool disagree;
    } t[] = {
        { "billing=12,cpu=12,gres/gpu=2,mem=31000M,node=1", 2000, false },
        { "cpu=12,node=1", -1, false },
        { "gres/gpu=4,gres/gpu:a100=4", 4000, false }, /* the same cards twice */
        { "gres/gpu:a100=4,gres/gpu=4", 4000, false },
        { "gres/gpu:a100=2,gres/gpu:v100=1", 3000, false }, /* only types: add */
        { "gres/gpu=4,gres/gpu:a100=2,gres/gpu:v100=2", 4000, false },
        { "gres/gpu=4,gres/gpu:a100=2", 4000, true },
        { "gres/gpu=1,gres/gpu:a100_3g.20gb=1", 500, false },
        { "gres/gpu:a100_1g.5gb=2", 250, false },
        { "gres/gpu:a100=1,gres/gpu:a100_3g.20gb=2,gres/gpu=3", 2000, false },
        { "gres/gpu=0", 0, false },
        { "cpu=1,gres/cpu=7,gres/gpumem=40G,gres/gpuutil=90,license/x=3", -1, false },
        { "1=20,2=170000,4=1,5=20,1001=2", 2000, false }, /* with --gpu-tres 1001,1002 */
        { "1=20,1001=2,1002=1", 3000, false },
        { "3=18446744073709551614,1001=1", 1000, false }, /* energy unknown */
        { "GRES/GPU=2", 2000, false },
        { "", -1, false },
        { "gres/gpu=two", -2, false },
        { "gres/gpu", -2, false },
        { "gres/gpu=-1", -2, false },
        { "1=x", -2, false },
        { "mem=lots", -2, false },
    };
    struct slurm_gpu_ids ids;
    assert_int_equal(slurm_gpu_ids(&ids, "1001,1002", NULL), 0);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct slurm_tres r;
        bool disagree = false;
        size_t bad;
        const bool ok = slurm_tres(S(t[i].text), &ids, &r, &bad);
        const int64_t got = ok ? slurm_gpus_milli(&r, &disagree) : -2;
        if (got != t[i].milli || disagree != t[i].disagree)
            fail_msg("%s: %" PRId64 " %d", t[i].text, got, disagree);
    }
    struct slurm_tres r;
    size_t bad;
    assert_true(slurm_tres(S("cpu=20,mem=62.50G,node=3"), NULL, &r, &bad));
    assert_int_equal(r.cpus, 20);
    assert_true(r.mem_bytes == INT64_C(64000) << 20);
    assert_int_equal(r.nodes, 3);
    assert_true(slurm_tres(S("1=20,2=170000,4=5,1001=2"), NULL, &r, &bad));
    assert_int_equal(r.cpus, 20);
    assert_true(r.mem_bytes == INT64_C(170000) << 20);
    assert_int_equal(r.nodes, 5);
    assert_true(r.other_ids); /* nobody said that 1001 is a GPU */
    assert_int_equal(slurm_gpus_milli(&r, NULL), -1);
    assert_true(slurm_tres(S("gres/gpu:a100=1,gres/gpu:h100=3"), NULL, &r, &bad));
    assert_int_equal(r.type_len, 4);
    assert_memory_equal(r.type, "h100", 4);
    assert_false(slurm_tres(S("cpu=1,gres/gpu=?"), NULL, &r, &bad));
    assert_int_equal(bad, 6);
    assert_true(slurm_tres(S("gres/shard=3,gres/shard:t4=3"), NULL, &r, &bad));
    assert_int_equal(r.shards, 3);
    struct err e = { 0 };
    assert_int_equal(slurm_gpu_ids(&ids, "1001,x", &e), ERR_USAGE);
    assert_contains(e.msg, "--gpu-tres");
    assert_int_equal(ids.n, 0);
    assert_int_equal(slurm_gpu_ids(&ids, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", NULL),
                     ERR_USAGE);
}

static void gres(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t nodes, milli, shards;
    } t[] = {
        { "gpu:a100:4(IDX:0-3)", 1, 4000, -1 },
        { "gpu:a100:2(IDX:0,3)", 2, 4000, -1 }, /* the comma is inside */
        { "gpu:2", 3, 6000, -1 },
        { "gpu", 1, 1000, -1 },
        { "gpu:a100", 1, 1000, -1 },
        { "gres:gpu:a100:4,gres:gpu:v100:1", 1, 5000, -1 },
        { "gres/gpu:8(S:0-1)", 1, 8000, -1 },
        { "gpu:1g.5gb:3", 1, 375, -1 },
        { "shard:5(0/8,5/8)", 1, -1, 5 },
        { "craynetwork:1", 1, -1, -1 },
        { "", 1, -1, -1 },
        { "N/A", 1, -1, -1 },
        { "(null)", 1, -1, -1 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct slurm_tres r;
        assert_true(slurm_gres(S(t[i].text), t[i].nodes, &r, NULL));
        const int64_t got = slurm_gpus_milli(&r, NULL);
        if (got != t[i].milli || r.shards != t[i].shards)
            fail_msg("%s: %" PRId64 ", shards %" PRId64, t[i].text, got, r.shards);
    }
}

static void mig(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        int milli;
    } t[] = {
        { "a100_3g.20gb", 500 },
        { "1g.5gb", 125 },
        { "a100_1g.10gb", 125 },
        { "h100_1g.20gb", 250 },
        { "nvidia_a100_1g.5gb.me", 125 },
        { "2g.10gb", 250 },
        { "4g.20gb", 500 },
        { "7g.40gb", 1000 },
        { "a30_1g.6gb", 250 },
        { "a30_2g.12gb", 500 },
        { "a30_4g.24gb", 1000 },
        { "h200_1g.18gb", 125 },
        { "h200_1g.35gb", 250 },
        { "a100", 0 },
        { "", 0 },
        { "5g.20gb", 0 },
        { "11g.20gb", 0 },
        { "1g.gb", 0 },
        { "1g.5", 0 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        if (slurm_mig_milli(S(t[i].type)) != t[i].milli)
            fail_msg("%s: %d", t[i].type, slurm_mig_milli(S(t[i].type)));
}

static void states_and_ids(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum slurm_state want;
    } t[] = {
        { "COMPLETED", SLURM_COMPLETED },
        { "completed", SLURM_COMPLETED },
        { "CANCELLED by 1234", SLURM_CANCELLED },
        { "CANCELLED+", SLURM_CANCELLED },
        { "CANCELED", SLURM_CANCELLED },
        { "OUT_OF_ME+", SLURM_OUT_OF_MEMORY },
        { "NODE_FAIL", SLURM_NODE_FAIL },
        { "PD", SLURM_PENDING },
        { "R", SLURM_RUNNING },
        { "RE+", SLURM_UNKNOWN_STATE }, /* REQUEUED, RESIZING, REVOKED ... */
        { "", SLURM_UNKNOWN_STATE },
        { "+", SLURM_UNKNOWN_STATE },
        { "COMPLET", SLURM_UNKNOWN_STATE },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        if (slurm_state(S(t[i].text)) != t[i].want)
            fail_msg("%s: %s", t[i].text, slurm_state_names[slurm_state(S(t[i].text))]);
    for (int i = 1; i < SLURM_STATES; i++)
        assert_int_equal(slurm_state(S(slurm_state_names[i])), i);
    assert_true(slurm_is_step(S("123.batch")));
    assert_true(slurm_is_step(S("123_4.0")));
    assert_false(slurm_is_step(S("123+1")));
    assert_true(slurm_is_task_range(S("123_[4-9%2]")));
    assert_false(slurm_is_task_range(S("123_4")));
    assert_true(slurm_missing(S("Unknown")));
    assert_true(slurm_missing(S("None assigned")));
    assert_false(slurm_missing(S("0")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations), cmocka_unit_test(durations_round_trip),
        cmocka_unit_test(limits),    cmocka_unit_test(memory),
        cmocka_unit_test(resources), cmocka_unit_test(gres),
        cmocka_unit_test(mig),       cmocka_unit_test(states_and_ids),
    };
    return cmocka_run_group_tests_name("parse_slurm", tests, NULL, NULL);
}
