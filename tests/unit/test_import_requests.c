/* Request traces and the job traces of Alibaba 2025 and 2026: samples, quirks, bad rows, real
 * files. */
#include "tests/support/support.h"

#include "base/mem.h"
#include "tests/support/import_run.h"

#define SAMPLE "traces/samples/"

struct fate {
    const char *row, *reason;
};

static void assert_fates(const char *format, const char *head, const struct fate *f, size_t n,
                         const char *const *more)
{
    for (size_t i = 0; i < n; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s\n", head, f[i].row);
        const char *got = fate_of(format, text, more);
        if (strcmp(got, f[i].reason) != 0)
            fail_msg("%s: %s, expected %s", f[i].row, got, f[i].reason);
    }
}

#define FATES(format, head, list) assert_fates(format, head, list, sizeof list / sizeof *list, NULL)

/* ---- native --------------------------------------------------------------------------------- */

static void native_requests(void **state)
{
    (void)state;
    assert_import("auto", SAMPLE "requests/llm.csv");
    assert_trace("# gpusim-trace/1 origin=hand-made\n"
                 "arrival_s,input_tokens,output_tokens,service,session\n"
                 "0,396,109,chat,s1\n3.0000001,91,16,chat,\n7.5,374,44,chat,s1\n"
                 "7.5,879,0,code,\"s,2\"\n");
    assert_account("requests.n", 4);
    assert_account("requests.input_tokens.sum", 396 + 91 + 374 + 879);
    assert_account("requests.input_tokens.p50", 374); /* the second of four */
    assert_account("requests.input_tokens.p90", 879);
    assert_account("requests.output_tokens.zeros", 1);
    assert_account("requests.services.n", 2);
    assert_account("requests.services.requests.chat", 3);
    assert_account("requests.sessions.n", 2);
    assert_account("requests.sessions.without", 1);
    assert_account("requests.sessions.most_requests", 2);
    assert_account("requests.distinct_arrivals", 3);
    assert_account("requests.rate_per_s", 0.4); /* 3 gaps in 7.5 s */
    assert_import("requests", SAMPLE "requests/sized.csv");
    assert_trace("# gpusim-trace/1 origin=requests file=sized.csv\n"
                 "arrival_s,size\n1.25,57.154\n1.25,0\n3,0.078\n");
    assert_string_equal(account_word("requests.size.sum_exact"), "57.232");
    /* one trace has one kind of rows */
    assert_int_equal(import_run("requests", SAMPLE "requests/llm.csv", SAMPLE "requests/sized.csv"),
                     ERR_INPUT);
    assert_contains(last_run.e.msg, "cannot share a trace");
    assert_int_equal(import_run("requests", temp_file(".csv", "arrival_s,size\n1,2\n2,x\n")),
                     ERR_INPUT);
    assert_contains(last_run.e.msg, "1 rows are quarantined");
    assert_int_equal(
        import_run("requests", "--lenient", temp_file(".csv", "arrival_s,size\n2,x\n")), ERR_INPUT);
    assert_contains(last_run.e.msg, "no request is left");
    assert_int_equal(import_run("requests", SAMPLE "native/unsorted.csv"), ERR_INPUT);
}

static void stat_of_requests(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/stat.txt", temp_dir());
    assert_int_equal(run_words(&cmd_trace, path,
                               (const char *const[]){ "stat", SAMPLE "requests/llm.csv", NULL }),
                     0);
    char *text = read_file(path);
    assert_contains(text, "arrivals from 0 s to 7.5 s: 7.5 s\n");
    assert_contains(text, "requests      4, 0.4 per second, gaps' CV 0.917");
    assert_contains(text, "input tokens  sum 1740, mean 435, p50 374, p90 879");
    assert_contains(text, "services      2: chat 3, code 1\n");
    assert_null(strstr(text, "GPU"));
    free(text);
    assert_int_equal(run_words(&cmd_trace, path,
                               (const char *const[]){ "stat", SAMPLE "mooncake/conversation.jsonl",
                                                      "--format", "json", NULL }),
                     0);
    json_t *doc = json_load_file(path, 0, NULL);
    assert_int_equal(json_integer_value(json_path_get(doc, "facts.0.prefix_blocks")), 10);
    json_decref(doc);
}

/* ---- Azure LLM ------------------------------------------------------------------------------ */

static void azure_llm(void **state)
{
    (void)state;
    assert_import("auto", SAMPLE "azure-llm/conv.csv"); /* CRLF, no last newline, out of order */
    assert_trace("# gpusim-trace/1 origin=azure-llm file=conv.csv time_zero_s=1700158546.6805899\n"
                 "arrival_s,input_tokens,output_tokens\n0,879,55\n0.0000001,374,44\n"
                 "4.3145792,396,109\n4.3145792,396,109\n14.3194101,14050,0\n");
    assert_string_equal(account_word("requests.span_exact"), "14.3194101");
    assert_import("auto", SAMPLE "azure-llm/week-2024.csv"); /* a zone in the clock */
    assert_account("requests.span_s", 0.017335);
    assert_import("azure-llm", SAMPLE "azure-llm/images-2025.csv", "--image-tokens", "576");
    assert_account("requests.input_tokens.sum", 812 + 1507 + 920 + 3 * 576);
    assert_account("facts.0.images", 3);
    assert_account("facts.0.requests_with_images", 2);
    static const struct fate fates[] = {
        { "2023-11-16 18:15:46,1,2", "kept" },
        { "2023-11-31 18:15:46,1,2", "bad-value" },
        { "16.11.2023,1,2", "bad-value" },
        { ",1,2", "bad-value" },
        { "1969-01-01 00:00:00,1,2", "bad-value" },
        { "2023-11-16 18:15:46,,2", "bad-value" },
        { "2023-11-16 18:15:46,1,2.5", "bad-value" },
        { "2023-11-16 18:15:46,-1,2", "bad-value" },
        { "2023-11-16 18:15:46,1", "field-count" },
    };
    FATES("azure-llm",
          "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n", fates);
    assert_int_equal(import_run("azure-llm", SAMPLE "requests/llm.csv"), ERR_INPUT);
    assert_contains(last_run.e.msg, "\"TIMESTAMP\" (azure-llm)");
}

static void azure_llm_real(void **state)
{
    (void)state;
    const char *path = shared_path("traces/azure-llm-2023/AzureLLMInferenceTrace_conv.csv");
    if (!path) skip_without_shared("Azure conversation trace");
    assert_import("auto", path);
    assert_account("rows.read", 19366);
    assert_account("rows.kept", 19366);
    assert_string_equal(account_word("requests.span_exact"), "3501.721937"); /* .7219370 */
    assert_string_equal(account_word("requests.input_tokens.sum_exact"), "22361870");
    assert_string_equal(account_word("requests.output_tokens.sum_exact"), "4088665");
    assert_close(account_num("requests.gap_cv"), 1.09, 0.005);
    char *text = read_file(last_run.out);
    assert_contains(text, "\n3501.721937,"); /* the row without a newline */
    free(text);
}

/* ---- BurstGPT ------------------------------------------------------------------------------- */

static void burstgpt(void **state)
{
    (void)state;
    assert_import("auto", SAMPLE "burstgpt/six-columns.csv");
    assert_account("rows.quarantine.0.rows", 1);
    assert_string_equal(account_word("rows.quarantine.0.reason"), "failure");
    assert_account("requests.n", 4);
    assert_account("facts.0.rows_whose_total_is_no_sum", 1);
    assert_contains(account_word("facts.0.first_row"), "as published");
    assert_int_equal(import_run("burstgpt", "--strict", SAMPLE "burstgpt/six-columns.csv"),
                     ERR_INPUT);
    assert_import("burstgpt", "--failures", "keep", "--service", "log-type", "--spread", "1.5",
                  SAMPLE "burstgpt/six-columns.csv");
    assert_trace("# gpusim-trace/1 origin=burstgpt file=six-columns.csv "
                 "time_zero=local_midnight_of_the_first_day failures=kept spread_s=1.5\n"
                 "arrival_s,input_tokens,output_tokens,service\n5,472,18,Conversation log\n"
                 "45,1087,230,Conversation log\n45.5,417,276,Conversation log\n46,1360,0,API log\n"
                 "118,0,35,API log\n");
    assert_true(account_warns("spread evenly over 1.5 s"));
    assert_import("auto", SAMPLE "burstgpt/eight-columns.csv");
    assert_account("requests.sessions.most_requests", 2);
    assert_contains(account_word("facts.0.first_row"), "not that of the published");
    static const struct fate fates[] = {
        { "1,2,3", "kept" },      { "1,2,0", "failure" },     { "x,2,3", "bad-value" },
        { "-1,2,3", "refused" },  { "inf,2,3", "bad-value" }, { "1,2.5,3", "bad-value" },
        { "1,2", "field-count" },
    };
    FATES("burstgpt", "Timestamp,Request tokens,Response tokens\n5,472,18\n", fates);
    assert_int_equal(import_run("burstgpt", "--spread", "-1", SAMPLE "burstgpt/six-columns.csv"),
                     ERR_USAGE);
}

/* ---- Mooncake ------------------------------------------------------------------------------- */

static void mooncake(void **state)
{
    (void)state;
    assert_import("auto", SAMPLE "mooncake/conversation.jsonl");
    assert_trace(
        "# gpusim-trace/1 origin=mooncake file=conversation.jsonl unit=ms block_tokens=512\n"
        "arrival_s,input_tokens,output_tokens,hash_ids\n0,1100,500,0|1|2\n0,1536,490,0|1|3\n"
        "0,600,3,4|1\n3.052,700,0,0|3\n");
    assert_account("facts.0.prefix_blocks", 10);
    assert_account("facts.0.prefix_blocks_distinct", 5);
    /* 0 1 | 3 misses; 4 is new, so the 1 behind it is no prefix; 0 3: 3 was seen */
    assert_account("facts.0.prefix_blocks_reused", 2 + 0 + 2);
    assert_account("facts.0.rows_with_another_number_of_blocks", 0);
    assert_true(account_warns("3 of 4 requests arrive at one instant"));
    assert_import("mooncake", "--spread", "10", SAMPLE "mooncake/conversation.jsonl");
    char *text = read_file(last_run.out); /* three in the 3.052 s to the next time, not in 10 s */
    assert_contains(
        text,
        "\n0,1100,500,0|1|2\n1.017333333,1536,490,0|1|3\n2.034666666,600,3,4|1\n3.052,700,0,0|3\n");
    free(text);
    assert_import("auto", SAMPLE "mooncake/other-writer.jsonl");
    assert_account("facts.0.rows_without_hash_ids", 1);
    assert_account("facts.0.rows_with_another_number_of_blocks", 1);
    assert_account("requests.sessions.n", 2);
    assert_true(account_warns("1 rows have another number of hash_ids"));
    static const struct fate fates[] = {
        { "{\"input_length\": 3, \"output_length\": 4}", "no-timestamp" },
        { "{\"timestamp\": null, \"input_length\": 3, \"output_length\": 4}", "no-timestamp" },
        { "{\"timestamp\": \"1\", \"input_length\": 3, \"output_length\": 4}", "bad-value" },
        { "{\"timestamp\": -1, \"input_length\": 3, \"output_length\": 4}", "refused" },
        { "{\"timestamp\": 1e300, \"input_length\": 3, \"output_length\": 4}", "bad-value" },
        { "{\"timestamp\": 1, \"input_length\": 3.5, \"output_length\": 4}", "bad-value" },
        { "{\"timestamp\": 1, \"input_length\": 3}", "bad-value" },
        { "{\"timestamp\": 1, \"input_length\": 3, \"output_length\": 4, \"hash_ids\": [1.5]}",
          "bad-value" },
        { "{\"timestamp\": 1, \"timestamp\": 2, \"input_length\": 3, \"output_length\": 4}",
          "not-json" },
        { "[1, 2]", "not-json" },
        { "{\"timestamp\": 1, \"input_leng", "not-json" },
        { "{\"timestamp\": 1, \"input_length\": 3, \"output_length\": 4}", "kept" },
    };
    FATES("mooncake", "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n", fates);
}

static void mooncake_real(void **state)
{
    (void)state;
    const char *path = shared_path("traces/mooncake/conversation_trace.jsonl.xz");
    if (!path) skip_without_shared("Mooncake conversation trace");
    assert_import("auto", path);
    assert_account("requests.n", 12031);
    assert_account("requests.distinct_arrivals", 1180);
    assert_account("facts.0.prefix_blocks", 288500);
    assert_account("facts.0.prefix_blocks_reused", 105710);
    assert_account("facts.0.rows_with_another_number_of_blocks", 0);
    assert_string_equal(account_word("requests.input_tokens.sum_exact"), "144793823");
    assert_string_equal(account_word("requests.output_tokens.sum_exact"), "4122048");
    assert_true(account_warns("only 1180 distinct times, 3 s apart"));
    assert_import("mooncake", "--spread", "3", path);
    assert_account("requests.distinct_arrivals", 12031);
    assert_account("facts.0.prefix_blocks_reused", 105710);
}

/* ---- Azure Functions ------------------------------------------------------------------------ */

#define COUNTS SAMPLE "azure-functions/2019/invocations.csv"

static void functions_2021(void **state)
{
    (void)state;
    assert_import("auto", SAMPLE "azure-functions/invocations-2021.csv");
    assert_trace("# gpusim-trace/1 origin=azure-functions file=invocations-2021.csv\n"
                 "arrival_s,size,service\n0,0.75,b2/f1\n0.0014909,0.078,a1/f1\n"
                 "0.003860041,57.154,a1/f2\n12.000000001,0,b2/f1\n");
    assert_string_equal(account_word("rows.repairs.0.reason"), "started-before");
    assert_account("requests.size.zeros", 1);
    static const struct fate fates[] = {
        { "a,f,5,1.5", "kept" },         { "a,f,5,-1", "bad-value" },  { "a,f,-5,1", "bad-value" },
        { "a,f,,1", "bad-value" },       { "a,f,5,nan", "bad-value" }, { "a,f,5", "field-count" },
        { "a,f,1,5", "started-before" },
    };
    FATES("azure-functions", "app,func,end_timestamp,duration\na,f,1,1\n", fates);
}

static void functions_2019(void **state)
{
    (void)state;
    assert_import("auto", COUNTS, "--arrival", "even");
    assert_trace("# gpusim-trace/1 origin=azure-functions file=invocations.csv form=2019 "
                 "arrival=even size=average seed=0\n"
                 "arrival_s,size,service\n0,0.1005,a1/f1\n20,0.1005,a1/f1\n40,0.1005,a1/f1\n"
                 "60,0.1005,a1/f1\n300,0,0123456789ab/fedcba987654\n"
                 "330,0,0123456789ab/fedcba987654\n86340,0.1005,a1/f1\n86370,0.1005,a1/f1\n");
    assert_account("rows.quarantined", 3);
    assert_string_equal(account_word("rows.quarantine.0.reason"), "duplicate-function");
    assert_string_equal(account_word("rows.quarantine.1.reason"), "no-duration");
    assert_string_equal(account_word("rows.quarantine.2.reason"), "never-invoked");
    assert_true(account_warns("evenly spaced in their minute"));
    assert_import("auto", COUNTS, "--duplicates", "keep", "--arrival", "start");
    assert_account("requests.n", 8 + 9);
    assert_account("requests.distinct_arrivals", 5);
    /* the seed decides, and nothing else */
    assert_import("auto", COUNTS, "--seed", "7", "--size", "percentiles");
    char *once = read_file(last_run.out);
    assert_import("auto", COUNTS, "--seed", "7", "--size", "percentiles");
    assert_trace(once);
    assert_import("auto", COUNTS, "--seed", "8", "--size", "percentiles");
    char *other = read_file(last_run.out);
    assert_string_not_equal(once, other);
    free(once), free(other);
    assert_true(account_num("requests.size.max") <= 0.2);
    assert_int_equal(import_run("azure-functions", COUNTS, "--max-requests", "7"), ERR_INPUT);
    assert_contains(last_run.e.msg, "more than 7 requests");
    assert_import("azure-functions", COUNTS, "--max-requests", "8");
    assert_int_equal(import_run("azure-functions", COUNTS, "--durations", COUNTS), ERR_INPUT);
    char *text = read_file(COUNTS);
    assert_int_equal(import_run("azure-functions", temp_file(".csv", text)), ERR_INPUT);
    assert_contains(last_run.e.msg, "need the day's table of durations");
    free(text);
}

static void copy_to(const char *path, const char *from)
{
    char *text = read_file(from);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    free(text);
}

/* The published names: the day in the file's name, the durations beside. */
static void functions_by_day(void **state)
{
    (void)state;
    char day[2][300], durations[300];
    const char *dir = temp_dir();
    for (int i = 0; i < 2; i++) {
        snprintf(day[i], sizeof day[i], "%s/invocations_per_function_md.anon.d%02d.csv", dir,
                 1 + i);
        snprintf(durations, sizeof durations, "%s/function_durations_percentiles.anon.d%02d.csv",
                 dir, 1 + i);
        copy_to(day[i], COUNTS);
        copy_to(durations, SAMPLE "azure-functions/2019/durations.csv");
    }
    assert_import("auto", day[1], day[0], "--arrival", "start");
    assert_account("requests.n", 16);
    assert_account("requests.first_arrival_s", 0);
    assert_account("requests.last_arrival_s", 86400 + 86340);
}

static void check_knows_requests(void **state)
{
    (void)state;
    extern const struct command cmd_check;
    const char *bad = temp_file(".csv", "arrival_s,size\n5,1\n4,1\n");
    assert_int_equal(
        run_words(&cmd_check, NULL, (const char *const[]){ SAMPLE "requests/llm.csv", NULL }), 1);
    assert_int_equal(run_words(&cmd_check, NULL, (const char *const[]){ bad, NULL }), 1);
    assert_import("requests", SAMPLE "requests/llm.csv");
    assert_int_equal(run_words(&cmd_check, NULL, (const char *const[]){ last_run.out, NULL }), 0);
}

static void functions_bad_counts(void **state)
{
    (void)state;
    char *text = read_file(COUNTS), *row = strchr(text, '\n') + 1, *end = strchr(row, '\n');
    static const struct fate fates[] = { { "-1", "bad-value" },    { "x", "bad-value" },
                                         { "1.5", "bad-value" },   { "99999999", "bad-value" },
                                         { "0,0", "field-count" }, { "4.0", "kept" } };
    *end = '\0';
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++) {
        const char *more[] = { "--durations", SAMPLE "azure-functions/2019/durations.csv", NULL };
        /* another first count than the 3 of "o,a1,f1,http,3,1,..." */
        char *all =
            xasprintf("%.*so,a1,f1,http,%s%s\n", (int)(row - text), text, fates[i].row, row + 14);
        const char *got = fate_of("azure-functions", all, more);
        if (strcmp(got, fates[i].reason) != 0)
            fail_msg("%s: %s, expected %s", fates[i].row, got, fates[i].reason);
        free(all);
    }
    free(text);
}

static void functions_real(void **state)
{
    (void)state;
    char path[400];
    const char *found = shared_path("traces/azure-functions/Azure2021_200.csv");
    if (!found) skip_without_shared("Azure Functions samples");
    assert_import("auto", found);
    assert_account("requests.n", 199);
    assert_account("requests.services.n", 31);
    assert_account("requests.size.zeros", 8);
    assert_string_equal(account_word("requests.size.sum_exact"), "10599.17");
    snprintf(path, sizeof path, "%s", shared_path("traces/azure-functions/invocations.csv"));
    assert_import("auto", path);
    assert_account("requests.n", 4525); /* 1150 + 3 x 1125 */
    assert_account("facts.0.functions", 4);
    /* 1150 x 0.1 + 1125 x (0.5 + 0.25 + 0.125) s */
    assert_string_equal(account_word("requests.size.sum_exact"), "1099.375");
}

/* ---- ServeGen ------------------------------------------------------------------------------- */

#define PROFILE SAMPLE "servegen/client-0-trace.csv"
#define DATASET SAMPLE "servegen/client-0-dataset.json"

static void servegen(void **state)
{
    (void)state;
    assert_import("auto", PROFILE, "--seed", "3");
    char *once = read_file(last_run.out);
    assert_account("requests.n", 12 + 6 + 3); /* rate x 600 s of each window */
    assert_account("facts.0.windows", 4);
    assert_account("facts.0.idle_windows", 1);
    assert_true(account_num("requests.last_arrival_s") < 2400);
    /* the first window: 136 or 372 in, 19 out; later 40 and perhaps two images of 500 or 700 */
    assert_true(account_num("requests.input_tokens.max") <= 40 + 2 * 700);
    assert_account("requests.output_tokens.max", 19);
    assert_import("auto", PROFILE, "--seed", "3");
    assert_trace(once);
    free(once);
    assert_int_equal(import_run("servegen", PROFILE, "--max-requests", "20"), ERR_INPUT);
    assert_int_equal(import_run("servegen", temp_file(".csv", "0,1,1,Gamma,1,1\n")), ERR_INPUT);
    assert_contains(last_run.e.msg, "not how large they are");
    assert_int_equal(import_run("servegen", PROFILE, "--dataset", PROFILE), ERR_INPUT);

    static const char *const with[] = { "--dataset", DATASET, NULL };
    static const struct fate fates[] = {
        { "600,0.1,1,Gamma,1,1", "kept" },
        { "600,0.1,1,Weibull,1,1", "kept" },
        { "600,0.1,1,Pareto,1,1", "unknown-distribution" },
        { "600,0.1,1,,1,1", "unknown-distribution" },
        { "600,0.1,1,Gamma,0,1", "bad-distribution" },
        { "600,0.1,1,Gamma,1,-1", "bad-distribution" },
        { "600,-0.1,1,Gamma,1,1", "bad-distribution" },
        { "600,1e9,1,Gamma,1,1", "bad-distribution" },
        { "600,x,1,Gamma,1,1", "bad-value" },
        { "600,0.1,1,Gamma,1", "field-count" },
        { "0,0.1,1,Gamma,1,1", "no-length" }, /* of the row in front of it */
    };
    assert_fates("servegen", "0,0.1,1,Gamma,1,10\n", fates, sizeof fates / sizeof *fates, with);
}

static void servegen_datasets(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message; /* NULL: taken */
    } sets[] = {
        { "{\"0\": {\"input_tokens\": \"{ 5 : 1 , 6:2 }\", \"output_tokens\": {\"7\": 1}}}", NULL },
        { "{}", "found none" },
        { "{\"x\": {}}", "start of a window" },
        { "{\"0\": {\"input_tokens\": \"{5: 1}\"}}", "output_tokens" },
        { "{\"0\": {\"input_tokens\": \"{5: 1\", \"output_tokens\": \"{7: 1}\"}}",
          "/0/input_tokens" },
        { "{\"0\": {\"input_tokens\": \"{5: 0}\", \"output_tokens\": \"{7: 1}\"}}",
          "/0/input_tokens" },
        { "{\"0\": {\"input_tokens\": \"{5.5: 1}\", \"output_tokens\": \"{7: 1}\"}}",
          "/0/input_tokens" },
        { "{\"0\": {\"input_tokens\": \"{5: -1}\", \"output_tokens\": \"{7: 1}\"}}",
          "/0/input_tokens" },
        { "{\"0\": {\"input_tokens\": \"{5: 1} x\", \"output_tokens\": \"{7: 1}\"}}",
          "/0/input_tokens" },
        { "{\"0\": {\"input_tokens\": 5, \"output_tokens\": \"{7: 1}\"}}", "/0/input_tokens" },
        { "{\"0\": {\"input_tokens\": \"{5: 1}\", \"output_tokens\": \"{7: 1}\","
          " \"image_count\": \"{1001: 1}\"}}",
          "at most 1000 items" },
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        int rc = import_run("servegen", PROFILE, "--dataset", temp_file(".json", sets[i].text));
        if (!sets[i].message && rc != 0) fail_msg("%s: %s", sets[i].text, last_run.e.msg);
        if (!sets[i].message) continue;
        if (rc != ERR_INPUT || !strstr(last_run.e.msg, sets[i].message))
            fail_msg("%s: %d %s", sets[i].text, rc, last_run.e.msg);
    }
}

static void servegen_real(void **state)
{
    (void)state;
    static const double requests[] = { 43802, 50028, 4326, 1364 }; /* sums of rate x 600 s */
    char path[400], profile[400];
    if (!shared_path("traces/servegen/mm-image_chunk-0-trace.csv")) skip_without_shared("ServeGen");
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "traces/servegen/mm-image_chunk-%d-trace.csv", i);
        snprintf(profile, sizeof profile, "%s", shared_path(path));
        assert_import("auto", profile);
        assert_account("requests.n", requests[i]);
        assert_account("facts.0.windows", 144);
    }
    /* the mean of the 383-value table of images and of the two texts, within 5 standard errors */
    snprintf(profile, sizeof profile, "%s",
             shared_path("traces/servegen/mm-image_chunk-1-trace.csv"));
    assert_import("auto", profile);
    assert_close(account_num("requests.output_tokens.mean"), 12.892, 0.05);
    snprintf(path, sizeof path, "%s", shared_path("traces/servegen/mm-image_chunk-0-dataset.json"));
    snprintf(profile, sizeof profile, "%s",
             shared_path("traces/servegen/m-small_chunk-0-trace.csv"));
    assert_import("auto", profile, "--dataset", path);
    assert_account("requests.n", 98147);
    assert_account("facts.0.windows", 2016);
}

/* ---- DLRM ----------------------------------------------------------------------------------- */

static void dlrm(void **state)
{
    (void)state;
    assert_import("auto", SAMPLE "dlrm/instances.csv");
    assert_trace(
        "# gpusim-trace/1 origin=dlrm file=instances.csv time_zero=trace_start window_end_s=475\n"
        "job_id,submit_s,duration_s,gpus,cpus,mem_bytes,group,class,status\n"
        "instance_0,0,475,1,12,129385889792,app_1,inference,completed\n"
        "instance_1,0,475,0,64,343597383680,app_1,inference,running\n"
        "instance_2,100.25,100,1,8.5,64424509440,app_2,inference,completed\n"
        "instance_4,250,225,1,8,64424509440,app_2,inference,running\n"
        "instance_3,300,0,0,16,34359738368,app_2,inference,completed\n");
    assert_string_equal(account_word("gpu_seconds_exact"), "800.000"); /* 475 + 100 + 225 */
    assert_account("rows.repaired", 3);
    assert_account("rows.repairs.0.rows", 2);
    assert_account("wait_s.sum", 3.25);
    assert_import("dlrm", SAMPLE "dlrm/instances.csv", "--window-end", "1000");
    assert_string_equal(account_word("gpu_seconds_exact"), "1325.000"); /* 475 + 100 + 750 */
    static const struct fate fates[] = {
        { "i,HN,a,1,1,1,,,", "existed-before" },
        { "i,HN,a,1,1,1,1,,", "never-scheduled" },
        { "i,HN,a,1,1,1,,5,9", "no-creation" },
        { "i,HN,a,1,1,1,5,7,6", "ends-before-start" },
        { "i,HN,a,1,1,1,5,4,6", "start-before-creation" },
        { "i,HN,a,1,1,1,5,6,", "outlived" },
        { "i,HN,a,1,1.5,1,1,2,3", "odd-share" },
        { "i,HN,a,1,1,1,1,2,31", "after-window" },
        { "i,HN,a,-1,1,1,1,2,3", "bad-value" },
        { "i,HN,a,1,1,x,1,2,3", "bad-value" },
        { "i,HN,a,1,1,1,-1,2,3", "bad-value" },
        { "i,HN,a,1,1,1,1,2", "field-count" },
        { ",HN,a,1,1,1,1,2,3", "refused" },
        { "i,CN,a,1,,1,1,2,3", "kept" },
    };
    static const char *const window[] = { "--window-end", "30", NULL };
    assert_fates("dlrm",
                 "instance_sn,role,app_name,cpu_request,gpu_request,memory_request,creation_time,"
                 "scheduled_time,deletion_time\nok,HN,a,1,1,1,1,2,3\n",
                 fates, sizeof fates / sizeof *fates, window);
}

/* ---- spot ----------------------------------------------------------------------------------- */

static void spot(void **state)
{
    (void)state;
    assert_import("auto", SAMPLE "spot/jobs.csv", "--nodes", SAMPLE "spot/nodes/nodes.csv",
                  "--pin");
    assert_trace("# gpusim-trace/1 origin=spot file=jobs.csv time_zero=first_submit\n"
                 "job_id,submit_s,duration_s,gpus,gpu_model,gpu_allowed,cpus,group,priority\n"
                 "job-0,0,1000,4,A10,A10,32,org-1,1\n"
                 "job-2,5,60.25,0.5,A10,A10,4,org-1,0\n"
                 "job-1,10,100,16,A100-SXM4-80GB,A100-SXM4-80GB,193,org-2,1\n"
                 "job-3,120,0,1,A10,A10,4,,0\n");
    assert_account("capacity_gpus", 19);
    assert_account("facts.0.services_from_0_to_the_end", 1);
    assert_close(account_num("facts.0.offered_load_A10"), (4000 + 0.5 * 60.25) / 3000, 1e-12);
    assert_true(account_warns("the offered load of A10 is 134.3 %"));
    assert_import("auto", SAMPLE "spot/jobs.csv");
    assert_true(json_is_null(json_path_get(last_run.account, "capacity_gpus")));
    static const struct fate fates[] = {
        { "j,A10,1,2,0,5,HP", "kept" },
        { "j,A10,0.5,2,0,5,Spot", "shared-instances" },
        { "j,A10,0.5,3,0,5,Spot", "shared-instances" },
        { "j,A10,1.5,2,0,5,Spot", "odd-share" },
        { "j,A10,1,1.5,0,5,HP", "bad-value" },
        { "j,A10,1,-1,0,5,HP", "bad-value" },
        { "j,A10,1e9,1000000,0,5,HP", "bad-value" },
        { "j,A10,1,1,0,5,LP", "odd-type" },
        { "j,A10,1,1,x,5,HP", "bad-value" },
        { "j,A10,1,1,-1,5,HP", "refused" },
        { "j,A10,1,1,0,-5,HP", "refused" },
        { "j,A10,1,1,0", "field-count" },
    };
    FATES("spot",
          "job_name,gpu_model,gpu_request,worker_num,submit_time,duration,job_type\n"
          "ok,A10,1,1,0,1,HP\n",
          fates);
    assert_int_equal(import_run("spot", SAMPLE "spot/jobs.csv", "--nodes", SAMPLE "spot/jobs.csv"),
                     ERR_INPUT);
}

static void free_account(void)
{
    json_decref(last_run.account);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_requests),
        cmocka_unit_test(stat_of_requests),
        cmocka_unit_test(azure_llm),
        cmocka_unit_test(azure_llm_real),
        cmocka_unit_test(burstgpt),
        cmocka_unit_test(mooncake),
        cmocka_unit_test(mooncake_real),
        cmocka_unit_test(functions_2021),
        cmocka_unit_test(functions_2019),
        cmocka_unit_test(functions_bad_counts),
        cmocka_unit_test(functions_by_day),
        cmocka_unit_test(check_knows_requests),
        cmocka_unit_test(functions_real),
        cmocka_unit_test(servegen),
        cmocka_unit_test(servegen_datasets),
        cmocka_unit_test(servegen_real),
        cmocka_unit_test(dlrm),
        cmocka_unit_test(spot),
    };
    int failed = cmocka_run_group_tests_name("import of requests", tests, NULL, NULL);
    free_account();
    return failed;
}
