#include "base/json.h"
#include "cli/command.h"
#include "tests/support/run_command.h"
#include "tests/support/textfile.h"
#include "traces/account.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

extern const struct command cmd_import, cmd_trace;

static char dir[64];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/test_import.XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    DIR *d = opendir(dir);
    char path[400];
    for (struct dirent *f; (f = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", dir, f->d_name);
        if (f->d_name[0] != '.') unlink(path);
    }
    closedir(d);
    return rmdir(dir);
}

/* A path in the test's folder; four are alive at a time. */
static const char *in_dir(const char *name)
{
    static char path[4][128];
    static int i;
    i = (i + 1) % 4;
    snprintf(path[i], sizeof path[i], "%s/%s", dir, name);
    return path[i];
}

static const char *shared(const char *name)
{
    static char path[400];
    const char *root = getenv("GPUSIM_SHARED");
    if (!root) {
        print_message("skipped: GPUSIM_SHARED is not set\n");
        skip();
    }
    snprintf(path, sizeof path, "%s/traces/%s", root, name);
    return path;
}

/* Runs a command with its words; what it says goes to `to`, or away. */
static int command(const struct command *c, const char *to, struct err *e, const char *const *words)
{
    return run_command(c, words, to, to, e);
}

#define import(e, ...) command(&cmd_import, NULL, e, (const char *const[]){ __VA_ARGS__, NULL })

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) return NULL;
    char *text = calloc(1, 1 << 22);
    size_t n = fread(text, 1, (1 << 22) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static void assert_file(const char *path, const char *want)
{
    char *text = slurp(path);
    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* The value at a dotted path of OUT.account.json. */
static json_t *account;
static void load_account(const char *out)
{
    char path[200];
    json_decref(account);
    snprintf(path, sizeof path, "%s.account.json", out);
    account = json_load_file(path, 0, NULL);
    assert_non_null(account);
}

static double num(const char *path)
{
    json_t *v = json_path_get(account, path);
    if (!json_is_number(v)) fail_msg("%s is no number", path);
    return json_number_value(v);
}

static const char *word(const char *path)
{
    return json_string_value(json_path_get(account, path));
}

static bool warned(const char *part)
{
    size_t i;
    json_t *w;
    json_array_foreach(json_path_get(account, "warnings"), i,
                       w) if (strstr(json_string_value(w), part)) return true;
    return false;
}

#define assert_num(path, want)                                                                     \
    do {                                                                                           \
        double got_ = num(path);                                                                   \
        if (got_ < (want) || got_ > (want))                                                        \
            fail_msg("%s = %.15g, expected %.15g", path, got_, (double)(want));                    \
    } while (0)

/* ---- every format: its samples come in, and come in again unchanged --------------------------- */

/* Imports a sample with the words of traces/samples/FORMAT/options/import.txt, if there are any. */
static int import_sample(const char *format, const char *path, const char *out, struct err *e)
{
    const char *words[20] = { "auto", path, "-o", out };
    char file[200];
    size_t n = 4;
    snprintf(file, sizeof file, "traces/samples/%s/options/import.txt", format);
    char *text = slurp(file);
    for (char *w = text ? strtok(text, " \n") : NULL; w && n < 19; w = strtok(NULL, " \n"))
        words[n++] = w;
    int rc = command(&cmd_import, NULL, e, words);
    free(text);
    return rc;
}

/* Formats of measurements: a document whose account adds up, and no trace. */
static void check_document(const struct trace_format *f, const char *path, const char *out)
{
    struct err e = { 0 }, e2 = { 0 };
    if (import_sample(f->name, path, out, &e) != 0) fail_msg("%s: %s", path, e.msg);
    json_decref(account);
    account = json_load_file(out, 0, NULL);
    assert_string_equal(word("format"), "gpusim-signatures/1");
    assert_string_equal(word("source_format"), f->name);
    assert_num("account.read",
               num("account.kept") + num("account.repaired") + num("account.quarantined"));
    assert_true(json_is_object(json_path_get(account, "profiles")));
    assert_int_equal(command(&cmd_trace, NULL, &e2, (const char *const[]){ "stat", path, NULL }),
                     ERR_INPUT);
    assert_non_null(strstr(e2.msg, "measurements"));
}

static void conforms(void **state)
{
    const struct trace_format *f = *state;
    char samples[100], path[400];
    int files = 0;
    assert_true(f->name[0] && f->help[0] && (f->document || (f->open && f->next && f->close)));
    assert_ptr_equal(format_find(f->name), f);
    snprintf(samples, sizeof samples, "traces/samples/%s", f->name);
    DIR *d = opendir(samples);
    if (!d) fail_msg("no %s", samples);
    for (struct dirent *de; (de = readdir(d));) {
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", samples, de->d_name);
        if (de->d_name[0] == '.' || stat(path, &st) || !S_ISREG(st.st_mode) ||
            strstr(de->d_name, ".md") || strstr(de->d_name, "-dataset.json")) /* a companion */
            continue;
        files++;
        struct err e = { 0 };
        const struct trace_format *sniffed;
        const char *one = in_dir("one.csv"), *two = in_dir("two.csv");
        assert_int_equal(format_sniff(&sniffed, path, &e), 0);
        assert_ptr_equal(sniffed, f);
        if (f->document) {
            check_document(f, path, one);
            continue;
        }
        if (import_sample(f->name, path, one, &e) != 0) fail_msg("%s: %s", path, e.msg);
        load_account(one);
        assert_num("rows.read", num("rows.kept") + num("rows.repaired") + num("rows.quarantined"));
        assert_int_equal(import(&e, "auto", one, "-o", two), 0); /* as native or as requests */
        char *a = slurp(one), *b = slurp(two);
        if (f != format_find("native") && f != format_find("requests")) assert_string_equal(a, b);
        free(a), free(b);
    }
    closedir(d);
    assert_true(files > 0);

    struct textfile empty = textfile_of("");
    struct err e = { 0 };
    assert_true(import(&e, f->name, empty.path, "-o", in_dir("none.csv")) < 0);
    assert_false(exists(in_dir("none.csv")));
    textfile_close(&empty);
    if (f->close) f->close(NULL);
    if (f->sniff) assert_int_equal(f->sniff("", 0), 0);
}

/* ---- native ----------------------------------------------------------------------------------- */

static void sorts_stably(void **state)
{
    (void)state;
    struct err e = { 0 };
    const char *out = in_dir("sorted.csv");
    assert_int_equal(import(&e, "native", "traces/samples/native/unsorted.csv", "-o", out), 0);
    assert_file(out, "# gpusim-trace/1 origin=hand-made\n"
                     "job_id,submit_s,duration_s,gpus,user,class,walltime_s,status\n"
                     "a,0,3600,8,bo,training,7200,failed\n"
                     "c,7.5,2.385,0.25,ana,dev,,completed\n"
                     "b,7.5,60.000000001,1,ana,inference,,running\n"
                     "\"d, the last\",100,0,0,,hpc,1,cancelled\n");
}

static void bad_rows_are_quarantined(void **state)
{
    (void)state;
    struct textfile f = textfile_of(
        "job_id,submit_s,duration_s,gpus\na,0,1,1\nb,x,1,1\nc,2,1\nd,3,1,1.5\ne,1,1,1\n");
    const char *out = in_dir("bad.csv"), *quarantine = in_dir("bad.csv.quarantine.csv");
    struct err e = { 0 };
    assert_int_equal(import(&e, "native", f.path, "-o", out), ERR_INPUT);
    assert_non_null(
        strstr(e.msg, "3 rows are quarantined for reasons the format does not explain"));
    assert_false(exists(out)); /* a trace nobody vouches for is not left behind */
    char *q = slurp(quarantine);
    assert_non_null(strstr(
        q,
        ",3,refused,\"submit_s: expected seconds such as 12.5, found \"\"x\"\" (not a number)\",\"b,x,1,1\"\n"));
    assert_non_null(
        strstr(q, ",4,refused,\"expected 4 fields as in the header, found 3\",\"c,2,1\"\n"));
    free(q);
    struct err e2 = { 0 };
    assert_int_equal(import(&e2, "native", f.path, "-o", out, "--lenient"), 0);
    load_account(out);
    assert_num("rows.read", 5);
    assert_num("rows.kept", 2);
    assert_num("rows.quarantine.0.rows", 3);
    assert_num("rows.quarantine.0.lines.2", 5);
    assert_false(json_is_true(json_path_get(account, "rows.quarantine.0.benign")));
    textfile_close(&f);
}

/* ---- openb ------------------------------------------------------------------------------------ */

static void openb_sample(void **state)
{
    (void)state;
    struct err e = { 0 };
    const char *out = in_dir("openb.csv"), *fleet = in_dir("openb.csv.fleet.json");
    assert_int_equal(import(&e, "openb", "traces/samples/openb/pods.csv", "-o", out, "--capacity",
                            "4", "--nodes", "traces/samples/openb/nodes/nodes.csv"),
                     0);
    assert_file(out, "# gpusim-trace/1 origin=openb file=pods.csv time_zero=first_creation\n"
                     "job_id,submit_s,duration_s,gpus,gpu_allowed,cpus,mem_bytes,group,status\n"
                     "pod-0,0,998,1,,4,8589934592,LS,running\n"
                     "pod-2,10,25,0,,1.5,1073741824,Burstable,completed\n"
                     "pod-1,20,30,0.385,T4|P100,2,4294967296,BE,failed\n"
                     "pod-4,30,97,2,V100M32,8,17179869184,LS,completed\n");
    load_account(out);
    assert_num("asked.gpus", 11.385);
    assert_num("jobs.histogram.fraction", 1);
    assert_string_equal(word("gpu_seconds_exact"), "1203.550"); /* 998 + 0.385 x 30 + 2 x 97 */
    assert_num("peak.gpus", 3.385);
    assert_num("peak.at_s", 33);
    assert_num("wait_s.sum", 2 + 0 + 5 + 3);
    assert_num("rows.quarantine.0.lines.0", 5);
    json_t *doc = json_load_file(fleet, 0, NULL);
    assert_int_equal(json_array_size(json_path_get(doc, "fleet")),
                     4); /* the order of the list is kept */
    assert_string_equal(json_string_value(json_path_get(doc, "fleet.1.gpu")), "P100");
    assert_int_equal(json_integer_value(json_path_get(doc, "fleet.1.nodes")), 2);
    assert_string_equal(json_string_value(json_path_get(doc, "fleet.2.host_memory")), "786432 MiB");
    json_decref(doc);

    struct err e2 = { 0 }, e3 = { 0 };
    assert_int_equal(
        import(&e2, "openb", "traces/samples/openb/pods.csv", "-o", in_dir("s.csv"), "--strict"),
        ERR_INPUT);
    assert_non_null(strstr(e2.msg, "1 rows are quarantined (--strict)"));
    assert_false(exists(in_dir("s.csv")));
    assert_int_equal(import(&e3, "openb", "traces/samples/openb/pods.csv", "--nodes",
                            "traces/samples/openb/nodes/nodes.csv"),
                     ERR_USAGE);
}

static void openb_static(void **state)
{
    (void)state;
    struct err e = { 0 }, e2 = { 0 };
    const char *five = "traces/samples/openb/static/pods_five_columns.csv",
               *out = in_dir("static.csv");
    assert_int_equal(import(&e, "auto", five, "-o", out), ERR_INPUT);
    assert_non_null(strstr(e.msg, "cannot be replayed by time"));
    assert_non_null(strstr(e.hint, "--static"));
    assert_int_equal(import(&e2, "openb", "--static", five, "-o", out), 0);
    assert_file(out, "# gpusim-trace/1 origin=openb file=pods_five_columns.csv static_fill=1\n"
                     "job_id,submit_s,duration_s,gpus,cpus,mem_bytes\n"
                     "pod-0,0,1000000000,1,4,8589934592\n"
                     "pod-1,0,1000000000,0.25,2,4294967296\n"
                     "pod-2,0,1000000000,8,96,412316860416\n");
    load_account(out);
    assert_true(json_is_true(json_path_get(account, "static_fill")));
    assert_true(warned("static fill"));
    /* with times too: Pending pods asked for cards and count */
    assert_int_equal(import(&e2, "openb", "--static", "traces/samples/openb/pods.csv", "-o", out),
                     0);
    load_account(out);
    assert_num("rows.kept", 5);
}

static void openb_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *row, *reason;
    } cases[] = {
        { "p,1,1,1,1000,,LS,Running,0,9,", "no-start" },
        { "p,1,1,1,1000,,LS,Running,0,9,10", "ends-before-start" },
        { "p,1,1,2,500,,LS,Running,0,9,1", "shared-instances" }, /* of two cards */
        { "p,1,1,3,500,,LS,Running,0,9,1", "shared-instances" },
        { "p,1,1,1,0,,LS,Running,0,9,1", "odd-share" },
        { "p,1,1,-1,1000,,LS,Running,0,9,1", "odd-share" },
        { "p,1,1,x,1000,,LS,Running,0,9,1", "bad-value" },
        { "p,-1,1,1,1000,,LS,Running,0,9,1", "bad-value" },
        { "p,1,1e30,1,1000,,LS,Running,0,9,1", "bad-value" },
        { "p,1,1,1,1000,,LS,Running,0,9,-1", "bad-value" },
        { "p,1,1,1,1000,,LS,Running,0,1e10,1", "bad-value" },
        { ",1,1,1,1000,,LS,Running,0,9,1", "refused" },
        { "p,1,1,1,1000,,LS,Running,-5,9,1", "refused" },
        { "p,1,1,1,1000", "field-count" },
        { "p,1,1,1,1000,,LS,Running,5,9,1", "start-before-creation" },
    };
    const char *head =
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
        "ok,1,1,1,1000,,LS,Running,0,9,1\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text, "%s%s\n", head, cases[i].row);
        struct textfile f = textfile_of(text);
        struct err e = { 0 };
        const char *out = in_dir("m.csv");
        assert_int_equal(import(&e, "openb", f.path, "-o", out, "--lenient"), 0);
        load_account(out);
        const char *got = word("rows.quarantine.0.reason");
        if (!got) got = word("rows.repairs.0.reason");
        if (!got) got = "kept";
        if (strcmp(got, cases[i].reason) != 0)
            fail_msg("%s: %s, expected %s", cases[i].row, got, cases[i].reason);
        textfile_close(&f);
    }
}

static void openb_real(void **state)
{
    (void)state;
    struct err e = { 0 };
    const char *out = in_dir("real.csv");
    assert_int_equal(
        import(&e, "auto", shared("alibaba-gpu-2023/openb_pod_list_default.csv"), "-o", out), 0);
    load_account(out);
    assert_num("rows.read", 8152);
    assert_num("rows.quarantined", 897);
    assert_num("asked.histogram.0", 1088);
    assert_num("asked.histogram.fraction", 3078);
    assert_num("asked.histogram.1", 6989 - 3078);
    assert_num("asked.histogram.2", 16);
    assert_num("asked.histogram.4", 15);
    assert_num("asked.histogram.8", 44);
    assert_string_equal(word("asked.gpus_exact"), "6086.800");
    assert_string_equal(word("gpu_seconds_exact"), "185294426.970");
    assert_num("wait_s.sum", 444748);
    assert_int_equal(
        import(&e, "openb", shared("alibaba-gpu-2023/openb_pod_list_gpushare60.csv"), "-o", out),
        0);
    load_account(out);
    assert_string_equal(word("asked.gpus_exact"), "4908.340");
    assert_string_equal(word("gpu_seconds_exact"), "123869890.500");
    assert_int_equal(import(&e, "openb", "--static",
                            shared("alibaba-gpu-2023/openb_pod_list_default.csv"), "-o", out),
                     0);
    load_account(out);
    assert_num("rows.kept", 8152);
    assert_string_equal(word("jobs.gpus_exact"), "6086.800");
}

/* ---- tiresias --------------------------------------------------------------------------------- */

static void tiresias_sample(void **state)
{
    (void)state;
    struct err e = { 0 }, e2 = { 0 };
    const char *out = in_dir("t.csv");
    assert_int_equal(
        import(&e, "tiresias", "traces/samples/tiresias/jobs.csv", "-o", out, "--model-profile"),
        0);
    assert_file(out,
                "# gpusim-trace/1 origin=tiresias file=jobs.csv unit=s\n"
                "job_id,submit_s,duration_s,gpus,profile\n"
                "0,0,90,1,vgg11\n1,30,200.5,4,resnet50\n2,30,7,0.5,\"a, b\"\n3,42,0,8,vgg11\n");
    struct textfile muri =
        textfile_of("job_id,num_gpu,submit_time,duration,resource_time_0\n0,8,91000,5095001,0.6\n");
    assert_int_equal(import(&e2, "tiresias", muri.path, "-o", out), ERR_INPUT);
    assert_non_null(strstr(e2.msg, "milliseconds"));
    assert_int_equal(import(&e, "tiresias", muri.path, "-o", out, "--unit", "ms"), 0);
    char *text = slurp(out);
    assert_non_null(strstr(text, " unit=ms\njob_id,submit_s,duration_s,gpus\n0,91,5095.001,8\n"));
    free(text);
    textfile_close(&muri);
}

static void tiresias_real(void **state)
{
    (void)state;
    struct err e = { 0 };
    const char *out = in_dir("t60.csv");
    assert_int_equal(import(&e, "auto", shared("tiresias/60_job.csv"), "-o", out), 0);
    load_account(out);
    assert_num("rows.kept", 60);
    assert_string_equal(word("gpu_seconds_exact"), "26624.000");
    assert_int_equal(
        import(&e, "tiresias", "--unit", "ms", shared("muri/cluster_trace.csv"), "-o", out), 0);
    load_account(out);
    assert_num("rows.kept", 400);
    assert_string_equal(word("gpu_seconds_exact"), "220836929.000");
}

/* ---- swf -------------------------------------------------------------------------------------- */

static void swf_sample(void **state)
{
    (void)state;
    struct err e = { 0 };
    const char *out = in_dir("swf.csv");
    assert_int_equal(import(&e, "swf", "traces/samples/swf/small.swf", "-o", out), 0);
    assert_file(
        out, "# gpusim-trace/1 origin=swf file=small.swf unix_start=1000000000 zone=Europe/Berlin\n"
             "job_id,submit_s,duration_s,gpus,mem_bytes,user,group,walltime_s,status\n"
             "1,0,100,4,,1,1,200,completed\n"
             "3,7,50,16,33554432,1,2,,failed\n"
             "4,20,60,2,,3,1,60,completed\n"
             "5,30,30,1,,3,1,60,completed\n"
             "6,31,0,16,,,,,cancelled\n");
    load_account(out);
    assert_num("capacity_gpus", 16); /* MaxProcs, not MaxNodes */
    assert_num("rows.read", 8);
    assert_num("rows.repaired", 2);
    assert_num("rows.quarantined", 3);
    assert_num("wait_s.n", 4); /* job 3 has none */
    assert_num("wait_s.sum", 10 + 4 + 2.5);
    assert_true(warned("each processor counts as one GPU"));
}

static void swf_options(void **state)
{
    (void)state;
    struct err e = { 0 }, bad[3] = { { 0 } };
    const char *out = in_dir("swfo.csv"), *words = "traces/samples/swf/words_and_gpus.swf";
    assert_int_equal(import(&e, "auto", words, "-o", out, "--gpu-column", "19"), 0);
    assert_file(out, "# gpusim-trace/1 origin=swf file=words_and_gpus.swf\n"
                     "job_id,submit_s,duration_s,gpus,cpus,mem_bytes,user,group,walltime_s,status\n"
                     "1,0,2400,2,8,8388608,1,1,2400,completed\n"
                     "2,3,1200,0.5,4,4194304,1,1,2400,completed\n"
                     "3,9,600,0,4,4194304,1,1,2400,completed\n");
    assert_int_equal(import(&e, "swf", words, "-o", out, "--gpus-per-processor", "0.125"), 0);
    load_account(out);
    assert_num("jobs.gpus", 1 + 0.5 + 0.5);
    assert_int_equal(import(&bad[0], "swf", words, "--gpus-per-processor", "1/8"), ERR_USAGE);
    assert_int_equal(
        import(&bad[1], "swf", words, "--gpus-per-processor", "1", "--gpu-column", "19"),
        ERR_USAGE);
    /* 3/8 x 8 = 3 GPUs, but 3/8 x 4 = 1.5: no such job */
    assert_int_equal(import(&bad[2], "swf", words, "-o", out, "--gpus-per-processor", "0.375"),
                     ERR_INPUT);
}

static void swf_real(void **state)
{
    (void)state;
    struct err e = { 0 };
    const char *out = in_dir("hpc2n.csv");
    assert_int_equal(import(&e, "auto", shared("swf/hpc2n.swf"), "-o", out), 0);
    load_account(out);
    assert_num("rows.read", 3170);
    assert_num("rows.quarantined", 25);
    assert_num("rows.kept", 3145 - num("rows.repaired"));
    assert_string_equal(word("rows.quarantine.0.reason"), "no-run-time");
    assert_num("capacity_gpus", 240);
    assert_int_equal(import(&e, "auto", shared("swf/accasim_headerless.swf"), "-o", out), 0);
    load_account(out);
    assert_num("rows.read", 25);
    assert_int_equal(import(&e, "auto", shared("swf/jaros3.swf"), "-o", out), 0);
    load_account(out);
    assert_num("rows.kept", 16);
    assert_int_equal(import(&e, "auto", shared("swf/kth_header_test.swf"), "-o", out), 0);
    load_account(out);
    assert_num("rows.kept", 9);
    assert_int_equal(
        import(&e, "swf", "--gpu-column", "19", shared("swf/aleang_example4_gpus.swf"), "-o", out),
        0);
    load_account(out);
    assert_num("rows.read", 4014);
    assert_num("rows.quarantined", 0);
}

/* ---- the command -------------------------------------------------------------------------------- */

static void several_files(void **state)
{
    (void)state;
    struct err e = { 0 };
    const char *out = in_dir("both.csv"), *pods = "traces/samples/openb/pods.csv";
    assert_int_equal(import(&e, "openb", pods, pods, "-o", out), 0);
    load_account(out);
    assert_num("rows.read", 10);
    assert_num("duplicate_ids", 4);
    assert_true(warned("4 job ids occur again"));
    assert_string_equal(json_string_value(json_path_get(account, "rows.quarantine.0.lines.1")),
                        "traces/samples/openb/pods.csv:5");
    char *text = slurp(out);
    assert_non_null(strstr(
        text, "pod-0,0,998,1,,4,8589934592,LS,running\npod-0,0,998")); /* sorted across files */
    free(text);
}

static void warnings(void **state)
{
    (void)state;
    struct err e = { 0 };
    const char *out = in_dir("warn.csv");
    struct textfile f =
        textfile_of("job_id,submit_s,duration_s,gpus\na,0,100,0\nb,0,100,0\nc,5,1,0\n");
    assert_int_equal(import(&e, "native", f.path, "-o", out), 0);
    load_account(out);
    assert_true(warned("no job asks for a GPU"));
    assert_true(warned("2 of 3 jobs are submitted at one instant"));
    textfile_close(&f);
    f = textfile_of("job_id,submit_s,duration_s,gpus\na,0,100,4\nb,50,100,4\n");
    assert_int_equal(import(&e, "native", f.path, "-o", out, "--capacity", "4"), 0);
    load_account(out);
    assert_true(warned("the offered load is 133.3 % of the capacity"));
    assert_true(warned("the peak of 8.000 GPUs exceeds the capacity of 4.000"));
    assert_num("peak.gpus", 8);
    textfile_close(&f);
}

static void usage(void **state)
{
    (void)state;
    struct err e[8] = { { 0 } };
    const char *pods = "traces/samples/openb/pods.csv";
    assert_int_equal(command(&cmd_import, NULL, &e[0], (const char *const[]){ NULL }), ERR_USAGE);
    assert_int_equal(import(&e[1], "openbb", pods), ERR_USAGE);
    assert_non_null(strstr(e[1].hint, "\"openb\""));
    assert_int_equal(import(&e[2], "openb"), ERR_USAGE);
    assert_int_equal(import(&e[3], "openb", pods, "--strict", "--lenient"), ERR_USAGE);
    assert_int_equal(import(&e[4], "tiresias", pods, "--static"),
                     ERR_USAGE); /* an option of another format */
    assert_int_equal(import(&e[5], "auto"), ERR_USAGE);
    assert_int_equal(import(&e[6], "openb", "/nonexistent"), ERR_IO);
    struct textfile junk = textfile_of("hello world\n");
    assert_int_equal(import(&e[7], "auto", junk.path), ERR_INPUT);
    assert_non_null(strstr(e[7].hint, "native, "));
    textfile_close(&junk);
    static const struct {
        const char *text, *found;
    } wrong[] = {
        { "", "an empty file" },
        { "{\"jobs\": []}", "JSON" },
        { "<?xml version='1.0'?>", "XML" },
        { "JobID|State\n1|COMPLETED\n", "sacct" },
        { "# HELP DCGM_FI_DEV_GPU_UTIL\n", "Prometheus" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err we = { 0 };
        struct textfile w = textfile_of(wrong[i].text);
        assert_int_equal(import(&we, "auto", w.path), ERR_INPUT);
        if (!strstr(we.msg, wrong[i].found)) fail_msg("%s: %s", wrong[i].found, we.msg);
        textfile_close(&w);
    }
    const char *list = in_dir("list.txt");
    assert_int_equal(
        command(&cmd_import, list, NULL, (const char *const[]){ "--format", "list", NULL }), 0);
    char *text = slurp(list);
    assert_non_null(strstr(text, "swf "));
    free(text);
    for (int first = 0; first < 2; first++) { /* as one JSON document, in either order */
        const char *const words[] = { "--format", first ? "list" : "json", "--format",
                                      first ? "json" : "list", NULL };
        assert_int_equal(command(&cmd_import, list, NULL, words), 0);
        text = slurp(list);
        json_t *doc = json_loads(text, 0, NULL);
        const size_t n = json_array_size(json_object_get(doc, "formats"));
        assert_true(n > 25);
        assert_string_equal(json_string_value(json_object_get(
                                json_array_get(json_object_get(doc, "formats"), 0), "name")),
                            "acme");
        json_decref(doc);
        free(text);
    }
}

static void json_answer_alone(void **state)
{
    (void)state;
    const char *out = in_dir("answer.json");
    assert_int_equal(command(&cmd_import, out, NULL,
                             (const char *const[]){ "openb", "traces/samples/openb/pods.csv",
                                                    "--format", "json", NULL }),
                     0);
    json_t *doc = json_load_file(out, 0, NULL);
    assert_string_equal(json_string_value(json_path_get(doc, "format")), "gpusim-account/1");
    assert_string_equal(json_string_value(json_path_get(doc, "source_format")), "openb");
    json_decref(doc);
}

static void stat_of_a_trace(void **state)
{
    (void)state;
    const char *out = in_dir("stat.json");
    assert_int_equal(command(&cmd_trace, out, NULL,
                             (const char *const[]){ "stat", "traces/samples/native/unsorted.csv",
                                                    "--format", "json", NULL }),
                     0);
    json_decref(account);
    account = json_load_file(out, 0, NULL);
    assert_non_null(account);
    assert_num("rows.read", 4);
    assert_num("users", 2);
    assert_num("class.training", 1);
    assert_num("status.cancelled", 1);
    assert_num("duration_s.p50", 2.385); /* 0, 2.385, 60..., 3600: the second of four */
    assert_num("duration_s.p90", 3600);
    assert_num("gap_s.p50", 7.5); /* 0, 7.5, 92.5 */
    assert_num("gap_s.max", 92.5);
    assert_num("zero_durations", 1);
    assert_string_equal(word("gpu_seconds_exact"),
                        "28860.596250001"); /* 8 x 3600 + 0.25 x 2.385 + 60.000000001 */
    struct err e = { 0 }, e2 = { 0 };
    assert_int_equal(command(&cmd_trace, NULL, &e,
                             (const char *const[]){ "stat", "traces/samples/swf/small.swf", NULL }),
                     0);
    assert_int_equal(command(&cmd_trace, NULL, &e2, (const char *const[]){ "sta", "x", NULL }),
                     ERR_USAGE);
    struct textfile bad = textfile_of("job_id,submit_s,duration_s,gpus\na,0,1,1\nb,x,1,1\n");
    struct err e3 = { 0 };
    assert_int_equal(
        command(&cmd_trace, NULL, &e3, (const char *const[]){ "stat", bad.path, NULL }), ERR_INPUT);
    assert_non_null(strstr(e3.msg, "1 rows cannot be used"));
    textfile_close(&bad);
}

/* The options of `import` hold for `trace stat` too. */
static void stat_with_options(void **state)
{
    (void)state;
    const char *out = in_dir("stat2.json"), *gavel = "traces/samples/gavel/ten.trace";
    struct err e = { 0 }, e2 = { 0 }, e3 = { 0 };
    assert_int_equal(command(&cmd_trace, out, &e,
                             (const char *const[]){ "stat", "gavel", gavel, "--throughputs",
                                                    "traces/samples/gavel/rates/throughputs.json",
                                                    "--format", "json", NULL }),
                     0);
    json_decref(account);
    account = json_load_file(out, 0, NULL);
    assert_string_equal(word("source_format"), "gavel");
    assert_int_equal(
        command(&cmd_trace, NULL, &e2, (const char *const[]){ "stat", "gavle", gavel, NULL }),
        ERR_USAGE);
    assert_non_null(strstr(e2.msg, "unknown format"));
    /* an option of another format */
    assert_int_equal(
        command(&cmd_trace, NULL, &e3,
                (const char *const[]){ "stat", "native", "traces/samples/native/unsorted.csv",
                                       "--throughputs", "x", NULL }),
        ERR_USAGE);
}

static void exact_decimals(void **state)
{
    (void)state;
    char b[60];
    assert_string_equal(account_decimal(b, 0, 12, 3), "0.000");
    assert_string_equal(account_decimal(b, 1, 12, 3), "0.000000000001");
    assert_string_equal(account_decimal(b, 1500, 3, 0), "1.5");
    assert_string_equal(account_decimal(b, (account_sum)UINT64_MAX * 1000000, 12, 3),
                        "18446744073709.551615");
}

int main(void)
{
    struct CMUnitTest tests[64] = { { 0 } };
    size_t n = 0;
    for (const struct trace_format *const *f = fmt_all; *f && n < 40; f++)
        tests[n++] = (struct CMUnitTest){ (*f)->name, conforms, NULL, NULL, (void *)(uintptr_t)*f };
    const struct CMUnitTest own[] = {
        cmocka_unit_test(sorts_stably),      cmocka_unit_test(bad_rows_are_quarantined),
        cmocka_unit_test(openb_sample),      cmocka_unit_test(openb_static),
        cmocka_unit_test(openb_malformed),   cmocka_unit_test(openb_real),
        cmocka_unit_test(tiresias_sample),   cmocka_unit_test(tiresias_real),
        cmocka_unit_test(swf_sample),        cmocka_unit_test(swf_options),
        cmocka_unit_test(swf_real),          cmocka_unit_test(several_files),
        cmocka_unit_test(warnings),          cmocka_unit_test(usage),
        cmocka_unit_test(json_answer_alone), cmocka_unit_test(stat_of_a_trace),
        cmocka_unit_test(stat_with_options), cmocka_unit_test(exact_decimals),
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) tests[n++] = own[i];
    int failed = _cmocka_run_group_tests("import", tests, n, make_dir, remove_dir);
    json_decref(account);
    return failed;
}
