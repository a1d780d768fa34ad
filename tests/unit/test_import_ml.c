/* Job lists of deep-learning schedulers: Muri, Chronus, Synergy, Gavel, Shockwave. */
#include "tests/support/import_checks.h"
#include "traces/rates.h"

#define GAVEL "traces/samples/gavel/"
#define RATES "traces/samples/gavel/rates/throughputs.json"

static void muri_is_in_milliseconds(void **state)
{
    (void)state;
    assert_import("muri", "traces/samples/muri/jobs.csv", "--model-profile");
    assert_trace("# gpusim-trace/1 origin=muri file=jobs.csv unit=ms\n"
                 "job_id,submit_s,duration_s,gpus,profile\n"
                 "0,0,5095,8,gpt2\n1,1534,281.2505,1,vgg16\n2,1534,0,32,dqn\n");
    assert_import("muri", "traces/samples/muri/jobs.csv", "--unit", "s");
    assert_account("span.last_submit_s", 1534000);
    /* the core columns alone could be anybody's */
    struct textfile core = textfile_of("job_id,num_gpu,submit_time,duration\n0,1,1000,2000\n");
    refused(ERR_INPUT, "no \"resource_time_0\"", "muri", core.path);
    assert_import("muri", core.path, "--unit", "ms");
    assert_account("span.last_end_s", 3);
    textfile_close(&core);
}

static void muri_real(void **state)
{
    (void)state;
    assert_import("auto", real("muri/cluster_trace.csv"));
    assert_account("rows.kept", 400);
    assert_word("gpu_seconds_exact", "220836929.000");
    assert_import("auto", real("muri/trace1.csv"));
    assert_account("rows.kept", 1494);
    assert_import("auto",
                  real("muri/cluster_trace_srtf_result_job.csv")); /* results are in seconds */
    assert_word("source_format", "tiresias");
    assert_word("gpu_seconds_exact", "220836929.000");
}

static void chronus_steps(void **state)
{
    (void)state;
    const char *jobs = "traces/samples/chronus/jobs.csv";
    assert_import("chronus", jobs);
    assert_true(account_warns("no documented length"));
    assert_trace("# gpusim-trace/1 origin=chronus file=jobs.csv step=1_s\n"
                 "job_id,submit_s,duration_s,gpus,user,deadline_s\n"
                 "1,83,98,4,vc_b,211\n"    /* the first of 128-256 */
                 "2,143,30,0,vc_b,\n"      /* best effort: no deadline */
                 "0,855,747,1,vc_a,1960\n" /* 855 + 1105; sorted */
    );
    assert_import("chronus", jobs, "--step", "1.5 min");
    assert_false(account_warns("no documented length"));
    assert_account("span.first_submit_s", 83 * 90);
    assert_account("span.last_end_s", (855 + 747) * 90);
    refused(ERR_USAGE, "--step", "chronus", jobs, "--step", "90");
    refused(ERR_USAGE, "--step", "chronus", jobs, "--step", "0 s");
    struct textfile bad =
        textfile_of("job_id,num_gpu,submit_time,duration,expect_time_list,best_effort\n"
                    "a,1,1,1,x-2,0\nb,1,1e9,1e12,5,0\nc,1,9e9,1,9e9,0\nd,1,1,1,5,0\r\n");
    assert_import("chronus", bad.path, "--lenient");
    assert_account("rows.quarantined", 3);
    textfile_close(&bad);
}

static void chronus_real(void **state)
{
    (void)state;
    assert_import("auto", real("chronus/trace_job_Philly_MIX1.csv.xz"));
    assert_account("rows.kept", 30940);
    assert_account("jobs.histogram.0", 184);
    assert_word("gpu_seconds_exact", "22279688.000"); /* GPU-steps of 1 s */
    assert_close(account_num("missing.deadline_s"), 1 - 21724.0 / 30940,
                 1e-12); /* strict jobs have one */
}

static void synergy_needs_a_rate(void **state)
{
    (void)state;
    const char *jobs = "traces/samples/synergy/static.trace";
    refused(ERR_USAGE, "a rate is needed", "auto", jobs);
    refused(ERR_USAGE, "--rate", "synergy", jobs, "--rate", "-1");
    assert_import("synergy", jobs, "--rate", "12.5");
    assert_trace("# gpusim-trace/1 origin=synergy file=static.trace rate_per_s=12.5\n"
                 "job_id,submit_s,duration_s,gpus\n"
                 "0,0,267.92,1\n1,0.001,2114.8,4\n2,0.0015,0,1\n");
    struct textfile rates = textfile_of("{\"alexnet\": 4, \"gnmt\": {\"4\": 0.5}, \"lstm\": 0}");
    refused(ERR_USAGE, "exclude each other", "synergy", jobs, "--rate", "1", "--rates", rates.path);
    refused(ERR_INPUT, "does not explain", "synergy", jobs, "--rates", rates.path);
    assert_import("synergy", jobs, "--rates", rates.path, "--lenient");
    assert_trace("# gpusim-trace/1 origin=synergy file=static.trace rates=by_model\n"
                 "job_id,submit_s,duration_s,gpus\n0,0,837.25,1\n1,0.001,52870,4\n");
    assert_int_equal(rows_for("rate-zero"), 1);
    textfile_close(&rates);
    rates = textfile_of("[1]");
    refused(ERR_INPUT, "an array", "synergy", jobs, "--rates", rates.path);
    textfile_close(&rates);
    struct textfile bad = textfile_of("0,a,0,10,1\n1,a,0,10\n2,a,0,-1,1\n3,a,x,1,1\n4,a,0,1,0.5\n"
                                      "5,a,0,1,-1\n6,a,0,9e18,1\n");
    assert_import("synergy", bad.path, "--rate", "1e-6", "--lenient");
    assert_account("rows.kept", 1);
    assert_int_equal(rows_for("field-count"), 1);
    assert_int_equal(rows_for("bad-value"), 5);
    textfile_close(&bad);
}

static void synergy_real(void **state)
{
    (void)state;
    assert_import("auto", real("synergy/static_100job_6_3_1100.0"), "--rate", "10");
    assert_account("rows.kept", 100);
    assert_word("gpu_seconds_exact", "1324181.600"); /* 13,241,816 iterations of one-card jobs */
}

static void gavel_layouts(void **state)
{
    (void)state;
    refused(ERR_USAGE, "a throughput table is needed", "gavel", GAVEL "ten.trace");
    assert_import("gavel", GAVEL "ten.trace", "--throughputs", RATES);
    assert_trace("# gpusim-trace/1 origin=gavel file=ten.trace fields=10 worker=v100\n"
                 "job_id,submit_s,duration_s,gpus,priority\n"
                 "0,0,2882.4,1,1\n1,12.5,12.5,2,3\n");
    assert_account("rows.read", 4);
    assert_int_equal(rows_for("no-rate"), 1);   /* LM on 8 */
    assert_int_equal(rows_for("rate-zero"), 1); /* ResNet-18 on 4: does not fit */
    assert_account("asked.gpus", 1 + 2 + 8 + 4);
    assert_import("gavel", GAVEL "seven.trace", "--throughputs", RATES, "--model-profile");
    assert_trace("# gpusim-trace/1 origin=gavel file=seven.trace fields=7 worker=v100\n"
                 "job_id,submit_s,duration_s,gpus,profile\n"
                 "0,6,8,1,LM (batch size 10)\n1,7.25,80,2,A 'quoted' type\n");
    assert_import("gavel", GAVEL "seven.trace", "--throughputs", RATES, "--worker", "k80");
    assert_account("rows.kept", 1);
    assert_word("gpu_seconds_exact", "32.000");
    refused(ERR_INPUT, "worker type \"p100\"", "gavel", GAVEL "ten.trace", "--throughputs", RATES,
            "--worker", "p100");
    refused(ERR_IO, "", "gavel", GAVEL "ten.trace", "--throughputs", "/nonexistent");
    refused(ERR_INPUT, "12 fields are a shockwave trace", "gavel",
            "traces/samples/shockwave/dynamic.trace", "--throughputs", RATES);
    refused(ERR_INPUT, "--strict", "gavel", GAVEL "ten.trace", "--throughputs", RATES, "--strict");
}

static void gavel_odd_rows(void **state)
{
    (void)state;
    /* one job, all at one time, a late first arrival: each must come in (gavel issue 238) */
    static const char *const good[] = {
        "LM (batch size 10)\tc\t-s\t1\t100\t5\t1\n",
        "LM (batch size 10)\tc\t-s\t1\t100\t0\t1\nLM (batch size 10)\tc\t-s\t1\t7\t0\t1",
        "LM (batch size 10)\tc\t-s\t1\t100\t1e6\t1\r\nLM (batch size 10)\tc\t-s\t1\t7\t2e6\t1\r\n",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct textfile f = textfile_of(good[i]);
        assert_import("auto", f.path, "--throughputs", RATES);
        assert_account("rows.kept", i == 0 ? 1 : 2);
        textfile_close(&f);
    }
    static const struct {
        const char *row, *reason;
    } cases[] = {
        { "LM (batch size 10)\tc\t-s\t1\tx\t0\t1", "bad-value" },
        { "LM (batch size 10)\tc\t-s\t1\t-5\t0\t1", "bad-value" },
        { "LM (batch size 10)\tc\t-s\t1\t1.5\t0\t1", "bad-value" },
        { "LM (batch size 10)\tc\t-s\t1\t5\t-1\t1", "refused" },
        { "LM (batch size 10)\tc\t-s\t1\t5\tnan\t1", "bad-value" },
        { "LM (batch size 10)\tc\t-s\t1\t5\t0\t0", "bad-value" },
        { "LM (batch size 10)\tc\t-s\t1\t5\t0\t9999999999", "bad-value" },
        { "LM (batch size 10)\tc\t-s\t1\t9000000000000000000\t0\t1", "bad-value" },
        { "Other\tc\t-s\t1\t5\t0\t1", "no-rate" },
        { "LM (batch size 10)\tc\t-s\t1\t5\t0", "field-count" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, "LM (batch size 10)\tc\t-s\t1\t100\t5\t1\n%s\n", cases[i].row);
        struct textfile f = textfile_of(text);
        assert_import("gavel", f.path, "--throughputs", RATES, "--lenient");
        if (rows_for(cases[i].reason) != 1) fail_msg("%s: not %s", cases[i].row, cases[i].reason);
        assert_account("rows.quarantine.0.lines.0", 2);
        textfile_close(&f);
    }
}

static void gavel_real(void **state)
{
    (void)state;
    const char *table = real("gavel/simulation_throughputs.json.xz");
    assert_import("auto", real("gavel/max_min_fairness.trace"), "--throughputs", table, "--worker",
                  "v100");
    assert_account("rows.kept", 96);
    char text[40];
    snprintf(text, sizeof text, "%.3f", account_num("gpu_seconds"));
    assert_string_equal(text, "1413454.933");
    assert_import("auto", real("gavel/msr_seed0_0e4a51.trace"), "--throughputs", table);
    assert_account("rows.read", 1181);
    assert_int_equal(rows_for("no-rate"), 197);
    assert_import("auto", real("gavel/max_min_fairness.trace"), "--throughputs", table, "--worker",
                  "k80");
    assert_int_equal(rows_for("rate-zero"), 1);
    /* cards on different nodes: other rates */
    assert_import("auto", real("gavel/max_min_fairness.trace"), "--throughputs",
                  real("gavel/simulation_throughputs.json.xz"), "--worker", "v100_unconsolidated");
    snprintf(text, sizeof text, "%.3f", account_num("gpu_seconds"));
    assert_string_equal(text, "1987306.402");
}

static void shockwave_has_durations(void **state)
{
    (void)state;
    assert_import("shockwave", "traces/samples/shockwave/dynamic.trace");
    assert_trace("# gpusim-trace/1 origin=shockwave file=dynamic.trace\n"
                 "job_id,submit_s,duration_s,gpus,group,priority\n"
                 "0,0,1418,1,gns,1\n1,55,3338,4,accordion,1\n2,55,0.5,2,static,2\n");
    assert_int_equal(rows_for("slo-not-carried"), 1);
    refused(ERR_INPUT, "10 fields are a gavel trace", "shockwave", GAVEL "ten.trace");
    assert_import("shockwave", "traces/samples/shockwave/dynamic.trace", "--model-profile");
    assert_account("missing.profile", 0);
}

static void shockwave_real(void **state)
{
    (void)state;
    assert_import("auto", real("shockwave/120_multigpu_dynamic.trace"));
    assert_account("rows.kept", 120);
    assert_word("gpu_seconds_exact", "711371.000");
}

static void rates_by_hand(void **state)
{
    (void)state;
    simtime t;
    assert_true(rate_duration(7, 2, &t));
    assert_int_equal(t, 3500000000);
    assert_true(rate_duration(0, 1e-300, &t));
    assert_int_equal(t, 0);
    assert_true(rate_duration(1, 3, &t));
    assert_int_equal(t, 333333333);
    assert_false(rate_duration(INT64_MAX, 1e-300, &t));
    assert_false(rate_duration(1, 1e-300, &t));
    struct json_doc doc;
    struct err e = { 0 };
    const char *text =
        "{\"v\": {\"('a', 1)\": {\"null\": \"2\"}, \"('b', 1)\": 3, \"('c', 1)\": {}}}";
    double r;
    assert_int_equal(json_doc_parse(&doc, "t", text, strlen(text), &e), 0);
    assert_int_equal(rates_gavel(&doc, "v", "a", 1, 1, &r), RATE_BAD);
    assert_int_equal(rates_gavel(&doc, "v", "b", 1, 1, &r), RATE_MISSING);
    assert_int_equal(rates_gavel(&doc, "v", "c", 1, 1, &r), RATE_MISSING);
    assert_int_equal(rates_gavel(&doc, "v", "d", 1, 1, &r), RATE_MISSING);
    json_doc_fini(&doc);
}

/* As in the native trace: not rounded. */
static void finer_than_a_thousandth(void **state)
{
    (void)state;
    assert_string_equal(fate_of("tiresias",
                                "job_id,num_gpu,submit_time,duration\n0,1,1000,2000\n"
                                "1,0.2505,1000,2000\n",
                                NULL),
                        "bad-value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finer_than_a_thousandth),
        cmocka_unit_test(muri_is_in_milliseconds),
        cmocka_unit_test(muri_real),
        cmocka_unit_test(chronus_steps),
        cmocka_unit_test(chronus_real),
        cmocka_unit_test(synergy_needs_a_rate),
        cmocka_unit_test(synergy_real),
        cmocka_unit_test(gavel_layouts),
        cmocka_unit_test(gavel_odd_rows),
        cmocka_unit_test(gavel_real),
        cmocka_unit_test(shockwave_has_durations),
        cmocka_unit_test(shockwave_real),
        cmocka_unit_test(rates_by_hand),
    };
    return cmocka_run_group_tests_name("import_ml", tests, NULL, free_last_run);
}
