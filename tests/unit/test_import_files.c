/* The files of an import, not what is in them: pipes, wrong kinds, outputs that would hurt. */
#include "base/spool.h"
#include "tests/support/import_checks.h"

#include <pthread.h>
#include <sys/stat.h>

extern const struct command cmd_check;

/* ---- pipes ---------------------------------------------------------------------------------- */

struct feed {
    const char *fifo; /* NULL: `fd` is the end to write to */
    const char *text;
    size_t len;
    int fd;
};

static void *feed_main(void *arg)
{
    const struct feed *f = arg;
    FILE *to = f->fifo ? fopen(f->fifo, "w") : fdopen(f->fd, "w"); /* a FIFO waits for its reader */
    if (!to) return NULL;
    fwrite(f->text, 1, f->len, to);
    fclose(to);
    return NULL;
}

/* A row printed until the file is longer than 1 MiB; %d is the row's number. */
struct rows_of {
    const char *format, *head, *row;
};

static char *long_text(const struct rows_of *r, int *rows, size_t *len)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, len);
    fputs(r->head, f);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    for (*rows = 0; ftell(f) < 1500000; ++*rows) fprintf(f, r->row, *rows, *rows);
#pragma GCC diagnostic pop
    fclose(f);
    return text;
}

static const struct rows_of kinds[] = {
    { "swf", "; Version: 2.2\n", "%d %d 0 60 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1\n" },
    { "swf", "", "%d;%d;0;60;4;-1;-1;4;100;-1;1;1;1;-1;-1;-1;-1;-1\n" },
    { "native", "job_id,submit_s,duration_s,gpus\n", "j%d,%d,30,1\n" },
    { "openb",
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\n",
      "pod-%d,1000,1024,1,500,,LS,Running,%d,99999999,9999999\n" },
    { "requests", "arrival_s,input_tokens,output_tokens\n", "%d,1%d,5\n" },
    { "synergy", "", "%d,alexnet,%d,100,1\n" },
};

static void through(const char *format, const char *path, int rows)
{
    if (strcmp(format, "synergy") == 0)
        assert_import(format, path, "--rate", "10");
    else
        assert_import(format, path);
    assert_account("rows.read", rows);
    assert_account("rows.quarantined", 0);
}

/* As many rows as from the file, with the format named and sniffed, and from standard input. */
static void every_row_of_a_pipe_counts(void **state)
{
    char fifo[300];
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int rows;
        size_t len;
        char *text = long_text(&kinds[i], &rows, &len);
        const bool rated = strcmp(kinds[i].format, "synergy") == 0;
        through(kinds[i].format, temp_file(".txt", text), rows);
        for (int sniffed = 0; sniffed < 2 - rated; sniffed++) {
            snprintf(fifo, sizeof fifo, "%s/fifo", temp_dir());
            assert_int_equal(mkfifo(fifo, 0600), 0);
            struct feed f = { fifo, text, len, -1 };
            pthread_t t;
            assert_int_equal(pthread_create(&t, NULL, feed_main, &f), 0);
            through(sniffed ? "auto" : kinds[i].format, fifo, rows);
            pthread_join(t, NULL);
        }
        free(text);
    }
}

/* Runs a command with standard input from a pipe that `text` goes into. */
static int piped(const struct command *c, const char *to, const char *text, size_t len,
                 const char *const *words)
{
    int end[2], old = dup(0);
    pthread_t t;
    assert_int_equal(pipe(end), 0);
    dup2(end[0], 0);
    close(end[0]);
    struct feed f = { NULL, text, len, end[1] };
    assert_int_equal(pthread_create(&t, NULL, feed_main, &f), 0);
    const int rc = run_words(c, to, words);
    pthread_join(t, NULL);
    dup2(old, 0);
    close(old);
    return rc;
}
#define PIPED(c, to, text, ...)                                                                    \
    piped(c, to, text, strlen(text), (const char *const[]){ __VA_ARGS__, NULL })

static void standard_input_is_a_file_like_any_other(void **state)
{
    int rows;
    size_t len;
    char want[80], *said, out[300];
    (void)state;
    char *text = long_text(&kinds[0], &rows, &len);
    snprintf(out, sizeof out, "%s/stat", temp_dir());
    snprintf(want, sizeof want, "%d read = %d kept", rows, rows);
    assert_int_equal(PIPED(&cmd_trace, out, text, "stat", "-"), 0);
    said = read_file(out);
    assert_contains(said, want);
    assert_contains(said, "- (swf)");
    free(said);
    assert_int_equal(PIPED(&cmd_import, out, text, "auto", "-", "--format", "json"), 0);
    said = read_file(out);
    assert_contains(said, "\"-\"");
    assert_null(strstr(said, "/proc/"));
    free(said);
    free(text);

    text = long_text(&kinds[2], &rows, &len);
    assert_int_equal(PIPED(&cmd_check, out, text, "-"), 0);
    said = read_file(out);
    assert_string_equal(said, "-: good\n");
    free(said);
    free(text);
    const char bad[] = "job_id,submit_s,duration_s,gpus\na,0,1,1\nb,zero,1,1\n";
    assert_int_equal(PIPED(&cmd_check, out, bad, "-"), 1);
    said = read_file(out);
    assert_contains(said, "standard input:3");
    free(said);
    assert_int_equal(PIPED(&cmd_check, out, "{ \"format\": \"gpusim-gpu/2\" }", "--explain", "-"),
                     1);
}

/* --nodes FILE may be a pipe for `trace stat` too. */
static void options_of_a_summary_may_be_pipes(void **state)
{
    char fifo[300], out[300];
    pthread_t t;
    (void)state;
    char *nodes = read_file("traces/samples/openb/nodes/nodes.csv");
    snprintf(fifo, sizeof fifo, "%s/nodes", temp_dir());
    snprintf(out, sizeof out, "%s/said", temp_dir());
    assert_int_equal(mkfifo(fifo, 0600), 0);
    struct feed f = { fifo, nodes, strlen(nodes), -1 };
    assert_int_equal(pthread_create(&t, NULL, feed_main, &f), 0);
    const char *const words[] = { "stat",    "openb", "traces/samples/openb/pods.csv",
                                  "--nodes", fifo,    "--format",
                                  "json",    NULL };
    const int rc = run_words(&cmd_trace, out, words);
    pthread_join(t, NULL);
    if (rc != 0) fail_msg("%s", last_run.e.msg);
    char *said = read_file(out);
    assert_contains(said, "capacity_gpus");
    assert_null(strstr(said, "\"capacity_gpus\": null"));
    free(said);
    free(nodes);
    /* what is read once cannot be two files */
    assert_int_equal(PIPED(&cmd_import, NULL, "x\n", "openb", "-", "--nodes", "-"), ERR_USAGE);
    assert_contains(last_run.e.msg, "standard input is named twice");
    assert_int_equal(PIPED(&cmd_trace, NULL, "x\n", "stat", "openb", "-", "--nodes", "/dev/stdin"),
                     ERR_USAGE);
    assert_int_equal(PIPED(&cmd_import, NULL, "x\n", "swf", "-", "-"), ERR_USAGE);
}

/* Neither messages nor documents name the copy. */
static void the_copy_stays_unnamed(void **state)
{
    (void)state;
    assert_int_equal(PIPED(&cmd_import, NULL, "hello world\n", "auto", "-"), ERR_INPUT);
    assert_string_equal(last_run.e.where, "standard input");
    char out[300], *text = read_file("traces/samples/nvidia-smi/twice.xml");
    snprintf(out, sizeof out, "%s/doc", temp_dir());
    assert_int_equal(PIPED(&cmd_import, out, text, "nvidia-smi", "-"), 0);
    free(text);
    text = read_file(out);
    assert_null(strstr(text, "/proc/"));
    free(text);
}

static void regular_files_are_not_copied(void **state)
{
    struct spool s;
    struct err e = { 0 };
    char digits[100];
    (void)state;
    assert_int_equal(spool_open(&s, "traces/samples/swf/small.swf", &e), 0);
    assert_null(s.copy);
    assert_string_equal(spool_path(&s), "traces/samples/swf/small.swf");
    spool_close(&s);
    assert_int_equal(spool_open(&s, "/nonexistent/file", &e), 0); /* the reader says why */
    assert_string_equal(spool_path(&s), "/nonexistent/file");
    spool_close(&s);
    assert_int_equal(spool_open(&s, "/dev/null", &e), 0);
    assert_non_null(s.copy);
    snprintf(digits, sizeof digits, "%s0: other", spool_path(&s));
    err_set(&e, ERR_IO, &(struct loc){ .file = spool_path(&s) }, "%s", digits);
    spool_name_err(&s, &e);
    assert_string_equal(e.where, "/dev/null");
    assert_string_equal(e.msg, digits); /* another descriptor */
    spool_close(&s);
    setenv("TMPDIR", "/nonexistent", 1);
    struct err no_room = { 0 };
    assert_int_equal(spool_open(&s, "/dev/null", &no_room), ERR_IO);
    unsetenv("TMPDIR");
    spool_close(&s);
}

/* ---- what the file is instead --------------------------------------------------------------- */

static void refused_as(const char *format, const char *path, const char *part)
{
    import_run(format, path);
    if (last_run.e.code != ERR_INPUT) fail_msg("%s %s: taken", format, path);
    assert_contains(last_run.e.msg, part);
}

static void wrong_kinds_are_named(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *what;
    } cases[] = {
        { "%PDF-1.7\n1 0 obj\n", 0, "a PDF document" },
        { "PK\x03\x04\x14\0\0\0", 8, "a zip archive" },
        { "BZh91AY&SY\0\1\2\3", 14, "bzip2" },
        { "\x04\x22\x4d\x18\x64\x40\xa7\0\1", 9, "lz4" },
        { "PAR1\x15\0\x15\0", 8, "Parquet" },
        { "SQLite format 3\0", 16, "SQLite" },
        { "<!DOCTYPE html>\n<html>\n", 0, "an HTML page" },
        { "<?xml version=\"1.0\"?>\n<a/>\n", 0, "XML or HTML" },
        { "{\n  \"a\": 1\n}\n", 0, "JSON" },
        { "sn,cpu_milli,memory_mib,gpu,model\nn-1,64000,262144,2,P100\n", 0, "a list of nodes" },
        { "7399a758eb02bae1a3621236,CPU,96,512,0\n", 0, "a list of machines" },
        { "job_name,inst_id,user,status,start_time,end_time\n", 0, "--job FILE" },
        { "job_name,task_name,inst_name,worker_name,inst_id\n", 0, "--instance FILE" },
        { "HashOwner,HashApp,HashFunction,Average,Count,Minimum\n", 0, "--durations FILE" },
        { "HashOwner,HashApp,HashFunction,SampleCount,AverageAllocatedMb\n", 0, "memory table" },
        { "date,vchbv,vc4om,total\n2020-04-01,112,0,112\n", 0, "--vc-gpus FILE" },
        { "machineId,number of GPUs,single GPU mem\nm1,2,24GB\n", 0, "list of machines" },
        { "time,machineId,gpu0_util,gpu1_util\n", 0, "Philly's GPU utilisation" },
        { "num_switch,num_node_p_switch,num_gpu_p_node\n1,16,4\n", 0, "no jobs" },
        { "ip,DSW,PSW,ASW\n", 0, "a network topology" },
        { "name,time,application,num_replicas,batch_size\n", 0, "no durations" },
        { "day,state_public,schedule_delay_sec\n", 0, "no submit times" },
        { "value,timestamp_anon,container_ip\n", 0, "GenTD26" },
        { "0\tdemo-cluster\t16\t16\t1\t67108864\t30\n", 0, "a list of machines" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t len = cases[i].len ? cases[i].len : strlen(cases[i].bytes);
        const char *path = temp_file_bytes(".bin", cases[i].bytes, len);
        refused_as("auto", path, cases[i].what);
        refused_as("philly", path, cases[i].what);
        refused_as("swf", path, cases[i].what);
    }
    char tar[1024] = "jobs.csv";
    memcpy(tar + 257, "ustar", 5);
    refused_as("helios", temp_file_bytes(".tar", tar, sizeof tar), "a tar archive");
    refused_as("auto", temp_file_bytes(".tar", tar, sizeof tar), "a tar archive");
}

static void another_format_is_named(void **state)
{
    (void)state;
    refused_as("gavel", "traces/samples/swf/small.swf", "looks like the format swf");
    assert_contains(last_run.e.hint, "`gpusim import swf ");
    refused_as("pai", "traces/samples/swf/small.swf",
               "looks like the format swf"); /* no row is left */
    refused_as("swf", "traces/samples/openb/pods.csv", "looks like the format openb");
    refused_as("nvidia-smi", "traces/samples/swf/small.swf", "looks like the format swf");
    refused_as("openb", "/dev/null", "an empty file");
    /* its own file with its own fault: nothing to add */
    refused_as("gavel", "traces/samples/shockwave/dynamic.trace",
               "looks like the format shockwave");
    import_run("synergy", temp_file(".csv", "0,alexnet,0.0,3349,1\n"));
    assert_null(strstr(last_run.e.msg, "looks like"));
}

/* ---- outputs -------------------------------------------------------------------------------- */

static void the_input_is_not_overwritten(void **state)
{
    const char rows[] = "job_id,submit_s,duration_s,gpus\na,0,1,1\n";
    char path[300], name[300], *text;
    (void)state;
    snprintf(path, sizeof path, "%s", temp_file(".csv", rows));
    assert_int_equal(
        run_words(&cmd_import, NULL, (const char *const[]){ "native", path, "-o", path, NULL }),
        ERR_USAGE);
    assert_contains(last_run.e.msg, "would overwrite");
    snprintf(name, sizeof name, "%s/other", temp_dir());
    assert_int_equal(link(path, name), 0); /* the same file by another name */
    assert_int_equal(
        run_words(&cmd_import, NULL, (const char *const[]){ "native", path, "-o", name, NULL }),
        ERR_USAGE);
    unlink(name);
    snprintf(name, sizeof name, "%s/o.quarantine.csv", temp_dir());
    assert_int_equal(link(path, name), 0);
    *strstr(name, ".quarantine") = '\0';
    assert_int_equal(
        run_words(&cmd_import, NULL, (const char *const[]){ "native", path, "-o", name, NULL }),
        ERR_USAGE);
    text = read_file(path);
    assert_string_equal(text, rows);
    free(text);
}

static void *drain_main(void *arg)
{
    char *text = read_file(arg);
    return text;
}

/* A folder is refused before anything is read; beside a FIFO or a device nothing is written. */
static void output_that_is_no_file(void **state)
{
    const char *rows = temp_file(".csv", "job_id,submit_s,duration_s,gpus\na,0,1,1\n");
    char out[300], beside[340];
    void *text = NULL;
    pthread_t t;
    (void)state;
    snprintf(out, sizeof out, "%s/folder", temp_dir());
    assert_int_equal(mkdir(out, 0700), 0);
    const char *const to_folder[] = { "native", rows, "-o", out, NULL };
    assert_int_equal(run_words(&cmd_import, NULL, to_folder), ERR_IO);
    assert_contains(last_run.e.msg, "is a folder, expected a file");
    snprintf(beside, sizeof beside, "%s.quarantine.csv", out);
    assert_int_not_equal(access(beside, F_OK), 0);

    snprintf(out, sizeof out, "%s/out-fifo", temp_dir());
    assert_int_equal(mkfifo(out, 0600), 0);
    assert_int_equal(pthread_create(&t, NULL, drain_main, out), 0);
    const char *const to_fifo[] = { "native", rows, "-o", out, NULL };
    assert_int_equal(run_words(&cmd_import, NULL, to_fifo), 0);
    pthread_join(t, &text);
    assert_contains((char *)text, "a,0,1,1\n");
    free(text);
    snprintf(beside, sizeof beside, "%s.account.json", out);
    assert_int_not_equal(access(beside, F_OK), 0);
    snprintf(beside, sizeof beside, "%s.quarantine.csv", out);
    assert_int_not_equal(access(beside, F_OK), 0);
}

/* Two dumps joined, or anything else behind a document: its rows would be lost without a word. */
static void nothing_follows_a_json_document(void **state)
{
    static const char philly[] =
        "[{\"status\":\"Pass\",\"vc\":\"v\",\"jobid\":\"a\",\"user\":\"u\","
        "\"submitted_time\":\"2017-10-03 00:00:00\",\"attempts\":[{\"start_time\":"
        "\"2017-10-03 00:00:05\",\"end_time\":\"2017-10-03 00:01:05\",\"detail\":[{\"ip\":\"m\","
        "\"gpus\":[\"gpu0\"]}]}]}]\n";
    static const char slurm[] =
        "{\"last_update\":1700000500,\"jobs\":[{\"job_id\":7,\"job_state\":\"COMPLETED\","
        "\"submit_time\":1700000000,\"start_time\":1700000010,\"end_time\":1700000070,"
        "\"node_count\":1,\"tres_alloc_str\":\"cpu=1,node=1,gres/gpu=1\"}]}\n";
    static const struct {
        const char *format, *document;
    } of[] = { { "philly", philly }, { "slurm-json", slurm } };
    static const struct {
        const char *more, *found;
    } behind[] = { { "{\"jobs\":[]}\n", "another one" },
                   { "[]", "another one" },
                   { "oops", "more" } };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char text[1200];
        snprintf(text, sizeof text, "%s \t\r\n\n", of[i].document);
        assert_import(of[i].format, temp_file(".json", text));
        assert_account("rows.read", 1);
        for (size_t k = 0; k < 3; k++) {
            snprintf(text, sizeof text, "%s%s", of[i].document, behind[k].more);
            assert_int_equal(import_run(of[i].format, temp_file(".json", text)), ERR_INPUT);
            assert_contains(last_run.e.msg, "expected the end of the file, found");
            assert_contains(last_run.e.msg, behind[k].found);
            assert_contains(last_run.e.where, ".json:2");
        }
    }
    assert_int_equal(import_run("slurm-json", temp_file(".json", "{\"jobs\":[],\"jobs\":[]}")),
                     ERR_INPUT);
    assert_contains(last_run.e.msg, "found its key again");
}

/* An older trace beside the account of a failed import would be taken for its result. */
static void no_stale_trace_is_left(void **state)
{
    char out[300];
    (void)state;
    snprintf(out, sizeof out, "%s/stale.csv", temp_dir());
    const char *good = temp_file(".csv", "job_id,submit_s,duration_s,gpus\na,0,1,1\n");
    assert_int_equal(
        run_words(&cmd_import, NULL, (const char *const[]){ "native", good, "-o", out, NULL }), 0);
    assert_int_equal(access(out, F_OK), 0);
    const char *bad = temp_file(".csv", "job_id,submit_s,duration_s,gpus\na,0,1,1\nb,0,1\n");
    assert_int_equal(run_words(&cmd_import, NULL,
                               (const char *const[]){ "native", bad, "-o", out, "--strict", NULL }),
                     ERR_INPUT);
    assert_int_not_equal(access(out, F_OK), 0);
}

/* ---- ids that come again -------------------------------------------------------------------- */

static void ids_that_come_again(void **state)
{
    (void)state;
    char *one = strdup(temp_file("-1.csv", "job_id,submit_s,duration_s,gpus\na,0,1,1\nb,1,1,1\n"
                                           "a,2,5,1\n"));
    char *two = strdup(temp_file("-2.csv", "job_id,submit_s,duration_s,gpus\nb,3,1,1\nc,4,1,1\n"));
    assert_import("native", one, two);
    assert_account("rows.kept", 5);
    assert_account("duplicate_ids", 2);
    assert_import("native", one, two, "--same-id", "first");
    assert_account("rows.kept", 3);
    assert_int_equal(rows_for("same-id"), 2);
    assert_account("rows.read", 5);
    assert_account("duplicate_ids", 0);
    assert_word("gpu_seconds_exact", "3.000");
    assert_int_equal(import_run("native", one, "--same-id", "refuse"), ERR_INPUT);
    assert_contains(last_run.e.where, ":4");
    assert_contains(last_run.e.msg, "\"a\" occurred before");
    free(one);
    free(two);
    /* a row of three instances is one row, and goes as one */
    const char *gangs = temp_file(".csv", "job_id,num_gpu,duration,num_inst,submit_time\n"
                                          "g,0.5,10,3,0\ng,0.5,10,3,1\nh,1,10,1,2\n");
    assert_import("pai-flat", gangs, "--same-id", "first");
    assert_account("rows.read", 3);
    assert_account("rows.quarantined", 1);
    assert_account("rows.further_jobs", 2);
    assert_word("gpu_seconds_exact", "25.000");
    assert_account("asked.gpus", 4);
    /* requests have no ids */
    assert_import("requests", temp_file(".csv", "arrival_s,size\n0,1\n0,1\n"), "--same-id",
                  "refuse");
}

/* ---- swf: the first row --------------------------------------------------------------------- */

static void swf_first_row_counts(void **state)
{
    (void)state;
    assert_import("swf", "traces/samples/swf/semicolons.swf", "--strict");
    assert_account("rows.read", 2);
    assert_account("rows.kept", 2);
    /* words among the numbers make a bad job, not a header */
    assert_import("swf", "--lenient",
                  temp_file(".swf", "1 x 0 y 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
                                    "2 0 0 5 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"));
    assert_account("rows.read", 2);
    assert_string_equal(account_word("rows.quarantine.0.reason"), "bad-value");
    /* nothing but words is a header: no job, but told */
    assert_import("swf", "traces/samples/swf/words_and_gpus.swf", "--strict");
    assert_account("rows.read", 3);
    assert_account("facts.0.header_line", 1);
}

/* The trace of the last import behind its first line, which names the file. */
static void assert_jobs(const char *want)
{
    char *text = read_file(last_run.out);
    assert_non_null(strchr(text, '\n'));
    assert_string_equal(strchr(text, '\n') + 1, want);
    free(text);
}

/* 0.125 of a card for a processor: 4 make half a card, 12 make 1.5, which is no number of cards. */
static void swf_runs_of_zero(void **state)
{
    const char *log = temp_file(".swf", "1 0 0 0 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
                                        "2 5 0 3 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n");
    (void)state;
    assert_import("swf", log);
    assert_word("gpu_seconds_exact", "3.000");
    assert_account("rows.repaired", 0);
    assert_import("swf", log, "--min-run", "0.5");
    assert_word("gpu_seconds_exact", "3.500");
    assert_int_equal(rows_for("zero-run"), 1);
    assert_int_equal(import_run("swf", log, "--min-run", "-1"), ERR_USAGE);
}

static void lengths_that_are_no_times(void **state)
{
    char *text = NULL;
    size_t len;
    (void)state;
    for (int odd = 0; odd < 2; odd++) {
        FILE *f = open_memstream(&text, &len);
        fputs("job_id,submit_s,duration_s,gpus\n", f);
        for (int i = 0; i < 12; i++) fprintf(f, "j%d,%d,%d,1\n", i, i, odd && i == 3 ? 1200 : 1000);
        fclose(f);
        assert_import("native", temp_file(".csv", text));
        assert_int_equal(account_warns("the job of line 5 lasts 1200 s, 109 times"), odd);
        assert_int_equal(account_warns("times as long as jobs arrive"), odd);
        free(text);
    }
}

/* Of values below zero the format knows -1 alone; a wait may be below zero where clocks differ. */
static void swf_below_zero(void **state)
{
    static const char *const rows[] = {
        "1 0 0 -7 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1\n",  /* run */
        "1 -2 0 60 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1\n", /* submit */
        "1 0 0 60 -5 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1\n", /* allocated processors */
        "1 0 0 60 4 -1 -1 4 -1.5 -1 1 1 1 -1 -1 -1 -1 -1\n", /* requested time */
    };
    char text[300];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, "; c\n%s2 5 -3 60 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n",
                 rows[i]);
        assert_int_equal(import_run("swf", temp_file(".swf", text)), ERR_INPUT);
        assert_import("swf", temp_file(".swf", text), "--lenient");
        assert_int_equal(rows_for("bad-value"), 1);
        assert_account("rows.kept", 1);
    }
    assert_import("swf", temp_file(".swf", "1 0 -1 -1.0 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
                                           "2 0 -1 9 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"));
    assert_int_equal(rows_for("no-run-time"), 1);
}

static void swf_rounding(void **state)
{
    const char *log = temp_file(".swf", "1 0 0 5 4 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
                                        "2 0 0 5 12 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
                                        "3 0 0 5 10 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n");
    (void)state;
    assert_int_equal(import_run("swf", log, "--gpus-per-processor", "0.125"), ERR_INPUT);
    assert_string_equal(account_word("rows.quarantine.0.reason"), "odd-gpus");
    assert_account("rows.quarantined", 2);
    assert_import("swf", log, "--gpus-per-processor", "0.125", "--round", "up");
    assert_jobs("job_id,submit_s,duration_s,gpus,user,group,walltime_s,status\n"
                "1,0,5,0.5,1,1,20,completed\n"
                "2,0,5,2,1,1,20,completed\n"
                "3,0,5,2,1,1,20,completed\n");
    assert_account("rows.repairs.0.rows", 2);
    assert_import("swf", log, "--gpus-per-processor", "0.125", "--round", "nearest");
    assert_jobs("job_id,submit_s,duration_s,gpus,user,group,walltime_s,status\n"
                "1,0,5,0.5,1,1,20,completed\n"
                "2,0,5,2,1,1,20,completed\n"
                "3,0,5,1,1,1,20,completed\n");
}

/* ---- openb: the node list ------------------------------------------------------------------- */

static const char openb_nodes[] = "sn,cpu_milli,memory_mib,gpu,model\n"
                                  "n-0,64000,262144,2,P100\n"
                                  "n-1,96000,262144,8,G2\n"
                                  "n-2,96000,262144,0,\n"
                                  "n-3,96000,262144,4,G3\n";
#define PODS "traces/samples/openb/pods.csv"

static void openb_capacity_and_unknown_cards(void **state)
{
    const char *nodes = temp_file(".csv", openb_nodes);
    char path[300];
    json_t *fleet;
    (void)state;
    assert_import("openb", PODS, "--nodes", nodes);
    assert_account("capacity_gpus", 14);
    /* 1 x 998 + 0.385 x 30 + 0 x 25 + 2 x 97 GPU-seconds over 14 cards for 1000 s */
    assert_close(account_num("offered_load"), (998 + 0.385 * 30 + 2 * 97) / 14000, 1e-12);
    assert_true(account_warns("--nodes: G2, G3;"));

    assert_import("openb", PODS, "--nodes", nodes, "--gpu-map", "G2=a10,G3=t4,T4=l4");
    assert_false(account_warns("--nodes"));
    snprintf(path, sizeof path, "%s.fleet.json", last_run.out);
    fleet = json_load_file(path, 0, NULL);
    static const char *const want[] = { "P100", "a10", "generic", "t4" };
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "fleet.%zu.gpu", i);
        assert_string_equal(json_string_value(json_path_get(fleet, path)), want[i]);
    }
    json_decref(fleet);
    char *trace = read_file(last_run.out);
    assert_contains(trace, ",l4|P100,"); /* what a pod may use is mapped too */
    free(trace);

    static const char *const bad[] = { "G2", "=a10", "G2=", "G2=a10,x" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(import_run("openb", PODS, "--gpu-map", bad[i]), ERR_USAGE);
}

/* --nodes is read twice: for the capacity, and for the fleet. */
static void files_of_options_may_be_pipes(void **state)
{
    char fifo[300];
    (void)state;
    snprintf(fifo, sizeof fifo, "%s/nodes", temp_dir());
    assert_int_equal(mkfifo(fifo, 0600), 0);
    struct feed f = { fifo, openb_nodes, sizeof openb_nodes - 1, -1 };
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, feed_main, &f), 0);
    assert_import("openb", PODS, "--nodes", fifo);
    pthread_join(t, NULL);
    assert_account("capacity_gpus", 14);
    snprintf(fifo, sizeof fifo, "%s.fleet.json", last_run.out);
    assert_int_equal(access(fifo, F_OK), 0);
}

/* What an option names is an input too. */
static void files_of_options_are_not_overwritten(void **state)
{
    static const char *const over[] = { "", ".fleet.json" };
    char nodes[320], out[300], *text;
    (void)state;
    snprintf(out, sizeof out, "%s/kept", temp_dir());
    for (size_t i = 0; i < 2; i++) {
        snprintf(nodes, sizeof nodes, "%s%s", out, over[i]);
        FILE *f = fopen(nodes, "w");
        fputs(openb_nodes, f);
        fclose(f);
        assert_int_equal(
            run_words(&cmd_import, NULL,
                      (const char *const[]){ "openb", PODS, "--nodes", nodes, "-o", out, NULL }),
            ERR_USAGE);
        assert_contains(last_run.e.msg, nodes);
        text = read_file(nodes);
        assert_string_equal(text, openb_nodes);
        free(text);
        unlink(nodes);
    }
}

/* ---- help ----------------------------------------------------------------------------------- */

static void help_of_shared_options(void **state)
{
    char out[300], *text;
    (void)state;
    snprintf(out, sizeof out, "%s/help", temp_dir());
    assert_int_equal(run_words(&cmd_import, out, (const char *const[]){ "--help", NULL }), 0);
    text = read_file(out);
    assert_contains(text, "OUT.fleet.json; also openb, slurm-json");
    assert_contains(text, "`gpusim import FORMAT --help`");
    free(text);
    assert_int_equal(run_words(&cmd_import, out, (const char *const[]){ "openb", "-h", NULL }), 0);
    text = read_file(out);
    assert_contains(text, "openb: node list");
    assert_null(strstr(text, "kubernetes"));
    assert_null(strstr(text, "--gpus-per-processor"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_a_pipe_counts),
        cmocka_unit_test(standard_input_is_a_file_like_any_other),
        cmocka_unit_test(options_of_a_summary_may_be_pipes),
        cmocka_unit_test(the_copy_stays_unnamed),
        cmocka_unit_test(regular_files_are_not_copied),
        cmocka_unit_test(wrong_kinds_are_named),
        cmocka_unit_test(another_format_is_named),
        cmocka_unit_test(the_input_is_not_overwritten),
        cmocka_unit_test(files_of_options_are_not_overwritten),
        cmocka_unit_test(output_that_is_no_file),
        cmocka_unit_test(nothing_follows_a_json_document),
        cmocka_unit_test(no_stale_trace_is_left),
        cmocka_unit_test(swf_first_row_counts),
        cmocka_unit_test(swf_below_zero),
        cmocka_unit_test(swf_rounding),
        cmocka_unit_test(swf_runs_of_zero),
        cmocka_unit_test(lengths_that_are_no_times),
        cmocka_unit_test(ids_that_come_again),
        cmocka_unit_test(openb_capacity_and_unknown_cards),
        cmocka_unit_test(files_of_options_may_be_pipes),
        cmocka_unit_test(help_of_shared_options),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(last_run.account);
    return failed;
}
