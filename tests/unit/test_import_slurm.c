/* What Slurm recorded: sacct's text, its JSON, and the public traces made from it. */
#include "tests/support/import_checks.h"

#include <fcntl.h>
#include <unistd.h>

#define SACCT "traces/samples/sacct/"
#define PHILLIPS                                                                                   \
    "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,"   \
    "elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,"     \
    "jobname"

static void sacct_sample(void **state)
{
    (void)state;
    assert_import("sacct", SACCT "small.txt", "--zone", "UTC");
    assert_trace("# gpusim-trace/1 origin=sacct file=small.txt zone=UTC time_zero_s=1709280000\n"
                 "job_id,submit_s,duration_s,gpus,cpus,mem_bytes,user,group,walltime_s,status\n"
                 "101,0,3600,4,16,137438953472,ana,vision,86400,completed\n"
                 "102_7,5,42,2,4,33554432000,bo,speech,,failed\n"
                 "103+0,7,630,0.5,2,536870912,cy,vision,,failed\n"
                 "105,120,903,0,64,274877906944,ana,vision,903,failed\n"
                 "106,180,60,2,8,68719476736,bo,speech,14400,failed\n"
                 "107,210,93784,1,8,68719476736,ana,serving,2592000,running\n"
                 "106,301,600,2,8,68719476736,bo,speech,14400,completed\n");
    assert_account("rows.read", 11);
    assert_int_equal(rows_for("step"), 2);
    assert_int_equal(rows_for("never-started"), 1);
    assert_int_equal(rows_for("cancelled-before-start"), 1);
    assert_int_equal(rows_for("shifted"), 1);
    assert_int_equal(rows_for("joined-lines"), 1);
    assert_int_equal(rows_for("attempt"), 1);
    assert_int_equal(rows_for("still-running"), 1);
    assert_int_equal(rows_for("past-limit"), 1);
    assert_account("facts.0.states.PENDING", 1);
    assert_account("facts.0.states.COMPLETED", 2);
    assert_account("facts.0.limit_unknown", 1);
    assert_true(account_warns("still running"));
    assert_true(account_warns("--partition-limit"));
    assert_false(account_warns("name no zone"));
    /* parsable, CRLF, no last newline, GRES for each node */
    assert_import("sacct", SACCT "parsable.txt", "--gpu-map", "a100=a100-sxm4-40gb,v100=v100");
    assert_trace("# gpusim-trace/1 origin=sacct file=parsable.txt zone=UTC time_zero_s=1709251201\n"
                 "job_id,submit_s,duration_s,gpus,gpu_model,user,walltime_s,status\n"
                 "199,0,7,1,,bo,86400,cancelled\n"
                 "201,4,90,4,a100-sxm4-40gb,ana,3600,completed\n"
                 "203,5,3,0,,bo,86400,completed\n");
    assert_true(account_warns("name no zone"));
}

static void sacct_real(void **state)
{
    (void)state;
    const char *file = real("slurm-sacct/phillips_sacct.log.xz");
    assert_import("sacct", file, "--columns", PHILLIPS);
    assert_account("rows.read", 4285);
    assert_account("rows.quarantined", 0);
    assert_account("facts.0.states.COMPLETED", 2324);
    assert_account("facts.0.states.CANCELLED", 243);
    assert_account("facts.0.states.FAILED", 1717);
    assert_account("facts.0.states.TIMEOUT", 1);
    assert_word("facts.0.elapsed_s", "1579753");
    assert_word("gpu_seconds_exact", "1824886.000"); /* two jobs of two cards */
    refused(ERR_INPUT, "--columns", "sacct", file);
    refused(ERR_INPUT, "--columns", "auto", file); /* sniffed all the same */
    const char *one = real("slurm-sacct/robertson_one_job_sacct.log");
    refused(ERR_INPUT, "none of 1 jobs has a GPU", "sacct", one, "--columns", PHILLIPS);
    assert_import("sacct", one, "--columns", PHILLIPS, "--cpu-jobs", "keep");
    assert_import("sacct", one, "--columns", PHILLIPS, "--gpus-per-node", "4");
    assert_word("gpu_seconds_exact", "33768.000"); /* 9 nodes x 4 x 938 s */
    assert_import("sacct", one, "--columns", PHILLIPS, "--cpus-per-gpu", "16");
    assert_word("gpu_seconds_exact", "6566.000"); /* 108 cores: 7 cards */
}

/* JobID, State, Submit, Start, End, Elapsed, AllocTRES, ReqTRES, Timelimit behind this header. */
#define HEADER "JobID|State|Submit|Start|End|Elapsed|AllocTRES|ReqTRES|Timelimit\n"
#define TIMES  "2024-03-01T08:00:00|2024-03-01T08:00:10|2024-03-01T08:01:10|00:01:00|"
#define ONE    "gres/gpu=1|gres/gpu=1|1:00:00\n"

static void sacct_rows(void **state)
{
    (void)state;
    static const struct {
        const char *row, *fate;
    } cases[] = {
        { "1|COMPLETED|" TIMES ONE, "kept" },
        { "1.0|COMPLETED|" TIMES ONE, "step" },
        { "1.interactive|RUNNING|" TIMES ONE, "step" },
        { "1|ODD|" TIMES ONE, "bad-value" },
        { "1|COMPLETED|yesterday|2024-03-01T08:00:10|2024-03-01T08:01:10|00:01:00|" ONE,
          "bad-value" },
        { "1|COMPLETED|Unknown|2024-03-01T08:00:10|2024-03-01T08:01:10|00:01:00|" ONE,
          "no-submit" },
        { "1|COMPLETED|2024-03-01T08:00:00|2024-03-01T08:00:10|2024-03-01T08:01:10|1:2:3:4|" ONE,
          "bad-value" },
        { "1|COMPLETED|2024-03-01T08:00:00|2024-03-01T08:00:10|Unknown||" ONE, "no-run-time" },
        { "1|COMPLETED|2024-03-01T08:00:00|2024-03-01T08:00:10|2024-03-01T08:00:00||" ONE,
          "ends-before-start" },
        { "1|COMPLETED|2024-03-01T08:00:00|2024-03-01T08:00:10|2024-03-01T08:00:40||" ONE, "kept" },
        { "1|CANCELLED by 5|2024-03-01T08:00:00|None|Unknown|00:00:00||gres/gpu=1|\n",
          "cancelled-before-start" },
        { "1|CANCELLED|2024-03-01T08:00:00|2024-03-01T08:00:10|2024-03-01T08:00:10|00:00:00||gres/"
          "gpu=1|\n",
          "cancelled-before-start" },
        { "1|CANCELLED|2024-03-01T08:00:00|2024-03-01T08:00:10|2024-03-01T08:00:10|00:00:00|" ONE,
          "zero-length-cancelled" },
        { "1|PENDING|2024-03-01T08:00:00|2024-03-02T08:00:00|Unknown|00:00:00||gres/gpu=1|\n",
          "never-started" },
        { "1_[3-5]|CANCELLED|2024-03-01T08:00:00|None|Unknown|00:00:00||gres/gpu=1|\n",
          "never-started" },
        { "1|REQUEUED|" TIMES ONE, "kept" },
        { "1|RUNNING|2024-03-01T08:00:00|2024-03-01T08:00:10|Unknown|00:05:00|" ONE,
          "still-running" },
        { "1|COMPLETED|" TIMES "|gres/gpu=2|\n", "requested-gpus" },
        { "1|COMPLETED|" TIMES "N/A|N/A|\n", "gpus-unknown" },
        { "1|COMPLETED|" TIMES "cpu=1||\n", "kept" },
        { "1|COMPLETED|" TIMES "gres/gpu=x||\n", "bad-value" },
        { "1|COMPLETED|" TIMES "gres/gpu=2,gres/gpu:a=1||\n", "types-disagree" },
        { "1|COMPLETED|" TIMES "gres/gpu=2,gres/gpu:1g.5gb=2||\n", "shared-instances" },
        { "1|COMPLETED|" TIMES "gres/gpu:1g.5gb=1,gres/gpu:2g.10gb=1||\n", "mixed-slices" },
        { "1|COMPLETED|" TIMES "gres/gpu:7g.40gb=2||\n", "kept" },
        { "1|COMPLETED|" TIMES "1=4,1001=2||\n", "gpus-unnamed" },
        { "1|COMPLETED|2024-03-01T08:00:00|2024-03-01T08:00:10|2024-03-01T07:00:10|00:01:00|" ONE,
          "ends-before-start" },
        { "1|COMPLETED|2024-03-01T08:00:00|2024-03-01T08:00:10|2024-03-01T07:01:10|00:01:00|" ONE,
          "kept" }, /* an hour repeated */
        { "1|COMPLETED|" TIMES "gres/gpu:a100=1,gres/gpu:1g.5gb=1||\n", "odd-gpus" },
        { "1|COMPLETED|" TIMES "gres/shard=2||\n", "shards" },
        { "1|COMPLETED|" TIMES "gres/gpu=9999999||\n", "odd-gpus" },
        { "1|COMPLETED|" TIMES "gres/gpu=1||never\n", "bad-value" },
        { "1|COMPLETED|" TIMES "gres/gpu=1||UNLIMITED\n", "kept" },
        { "1|COMPLETED|" TIMES "gres/gpu=1||00:00:30\n", "past-limit" },
        { "1|COMPLETED|" TIMES "gres/gpu=1\n", "field-count" },
        { "1|COMPLETED|" TIMES "gres/gpu=1|||a|b\n", "field-count" },
        { "|COMPLETED|" TIMES ONE, "refused" },
        { HEADER, "repeated-header" },
        { "1|COMPLETED|" TIMES ONE "1|COMPLETED|" TIMES ONE, "duplicate" },
    };
    /* a first job with a GPU, so that the file is one of a GPU cluster */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1200];
        snprintf(text, sizeof text, "%s0|COMPLETED|%s%s%s", HEADER, TIMES, ONE, cases[i].row);
        const char *got = fate_of("sacct", text, NULL);
        if (strcmp(got, cases[i].fate) != 0)
            fail_msg("%s: %s, expected %s", cases[i].row, got, cases[i].fate);
    }
}

static void sacct_options(void **state)
{
    (void)state;
    const char *cpu =
        temp_file(".txt", HEADER "1|COMPLETED|" TIMES "cpu=4,node=2||Partition_Limit\n"
                                 "2|COMPLETED|" TIMES "cpu=5||1-00:00:00\n");
    refused(ERR_INPUT, "AccountingStorageTRES", "sacct", cpu);
    assert_import("sacct", cpu, "--cpu-jobs", "keep", "--partition-limit", "2-00:00:00");
    assert_account("jobs.histogram.0", 2);
    assert_account("missing.walltime_s", 0);
    assert_true(account_warns("no job asks for a GPU"));
    assert_import("sacct", cpu, "--gpus-per-node", "4", "--cpu-jobs", "keep");
    assert_account("jobs.gpus", 8);
    assert_import("sacct", cpu, "--cpus-per-gpu", "4");
    assert_account("jobs.gpus", 3); /* 1 and 2 */
    refused(ERR_INPUT, "no job is left", "sacct", temp_file(".txt", HEADER "1|PENDING|" TIMES ONE),
            "--cpu-jobs", "keep");

    const char *mixed = temp_file(".txt", HEADER "1|COMPLETED|" TIMES "gres/shard=3||\n"
                                                 "2|COMPLETED|" TIMES "cpu=5||\n"
                                                 "3|COMPLETED|" TIMES ONE);
    refused(ERR_INPUT, "not explain", "sacct", mixed);
    assert_import("sacct", mixed, "--shards-per-gpu", "8", "--cpu-jobs", "drop");
    assert_account("jobs.gpus", 1.375);
    assert_int_equal(rows_for("cpu-job"), 1);
    assert_import("sacct", mixed, "--shards-per-gpu", "2");
    assert_account("jobs.gpus", 3); /* 3 shards of 2: on two cards */

    const char *numbers =
        temp_file(".txt", HEADER "1|COMPLETED|" TIMES "1=4,2=100,1001=2,1002=1||\n");
    refused(ERR_INPUT, "--gpu-tres", "sacct", numbers);
    assert_import("sacct", numbers, "--gpu-tres", "1001,1002");
    assert_account("jobs.gpus", 3);

    const char *running =
        temp_file(".txt", "JobID|State|Submit|Start|End|AllocTRES\n"
                          "1|RUNNING|2024-03-01T08:00:00|2024-03-01T08:00:10|Unknown|gres/gpu=1\n");
    refused(ERR_INPUT, "no job is left", "sacct", running);
    assert_import("sacct", running, "--zone", "+01:00", "--as-of", "2024-03-01T09:00:10");
    assert_word("gpu_seconds_exact", "3600.000");

    refused(ERR_USAGE, "--zone", "sacct", running, "--zone", "CST");
    refused(ERR_USAGE, "--as-of", "sacct", running, "--as-of", "now");
    refused(ERR_USAGE, "--gpu-tres", "sacct", running, "--gpu-tres", "gpu");
    refused(ERR_USAGE, "--gpu-map", "sacct", running, "--gpu-map", "a100");
    refused(ERR_USAGE, "--partition-limit", "sacct", running, "--partition-limit", "UNLIMITED");
    refused(ERR_USAGE, "--gpus-per-node", "sacct", running, "--gpus-per-node", "100000");
}

static void sacct_headers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } bad[] = {
        { "JobID|State|Start|End|AllocTRES\n1|COMPLETED|||\n", "Submit" },
        { "State|Submit|Start|End|AllocTRES\nCOMPLETED||||\n", "header" },
        { "JobID|State|Submit|Start|AllocTRES\n1|COMPLETED|||\n", "Elapsed" },
        { "JobID|State|Submit|Start|End\n1|COMPLETED|||\n", "AllocTRES" },
        { "       JobID    JobName  Partition\n------------ ---------- ----------\n", "parsable2" },
        { "JobID           JobName      State\n------------ ---------- ----------\n", "parsable2" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(ERR_INPUT, bad[i].part, "sacct", temp_file(".txt", bad[i].text));
    /* another delimiter, which a list may contain when it is quoted; widths in the names */
    assert_import("sacct",
                  temp_file(".csv", "JobID,State%20,Submit,ElapsedRaw,AllocTRES\r\n"
                                    "7,COMPLETED,2024-03-01T08:00:00,5,\"cpu=1,gres/gpu=2\""));
    assert_word("gpu_seconds_exact", "10.000");
    assert_import("auto",
                  temp_file(".txt", "jobid^state^submit^elapsedraw^alloctres\n"
                                    "7^COMPLETED^2024-03-01T08:00:00^5^cpu=1,gres/gpu=2\n"));
    assert_word("gpu_seconds_exact", "10.000");
    /* --parsable without a header, --columns without the end */
    assert_import("sacct", temp_file(".txt", "7|COMPLETED|2024-03-01T08:00:00|5|gres/gpu=2|\n"),
                  "--columns", "jobid,state,submit,elapsedraw,alloctres");
    assert_account("rows.repaired", 0);
    /* a delimiter in a name that stands last, or first of two side by side */
    assert_import("sacct",
                  temp_file(".txt", "JobID|State|Submit|ElapsedRaw|AllocTRES|JobName\n"
                                    "7|COMPLETED|2024-03-01T08:00:00|5|gres/gpu=2|a|b|c\n"));
    assert_int_equal(rows_for("shifted"), 1);
    /* text columns apart: nobody can tell where the delimiter belongs */
    refused(ERR_INPUT, "not explain", "sacct",
            temp_file(".txt", "JobID|JobName|State|Submit|ElapsedRaw|AllocTRES|Comment\n"
                              "6|x|COMPLETED|2024-03-01T08:00:00|5|gres/gpu=2|y\n"
                              "7|a|b|COMPLETED|2024-03-01T08:00:00|5|gres/gpu=2|\n"));
    /* a short row is not glued to the whole one behind it */
    assert_import("sacct",
                  temp_file(".txt", "JobID|JobName|State|Submit|ElapsedRaw|AllocTRES\n"
                                    "6|x\n"
                                    "7|a|COMPLETED|2024-03-01T08:00:00|5|gres/gpu=2\n"
                                    "8|last"),
                  "--lenient");
    assert_account("rows.kept", 1);
    assert_int_equal(rows_for("field-count"), 2);
}

/* Many jobs that start or end at one midnight were cut by the export's window. */
static void window_edges(void **state)
{
    (void)state;
    char text[2000] = "JobID|State|Submit|Start|End|Elapsed|AllocTRES\n";
    for (int i = 0; i < 4; i++) {
        char row[200];
        snprintf(row, sizeof row,
                 "%d|COMPLETED|2024-02-29T2%d:00:00|2024-03-01T00:00:00|2024-03-02T00:00:00|"
                 "1-00:00:00|gres/gpu=1\n",
                 i, i % 4);
        strcat(text, row);
    }
    assert_import("sacct", temp_file(".txt", text));
    assert_true(account_warns("left-censored"));
    assert_true(account_warns("right-censored"));
    assert_import("sacct", temp_file(".txt", text), "--zone", "America/Denver");
    assert_true(account_warns("left-censored")); /* midnight there */
    assert_import("sacct", SACCT "small.txt");
    assert_false(account_warns("left-censored"));
}

/* The hour that repeats: Elapsed tells what happened. */
static void clock_changes(void **state)
{
    (void)state;
    const char *file =
        temp_file(".txt", "JobID|State|Submit|Start|End|Elapsed|AllocTRES\n"
                          "1|COMPLETED|2023-11-05T00:30:00|2023-11-05T01:30:00|2023-11-05T02:30:00|"
                          "02:00:00|gres/gpu=1\n"
                          "2|COMPLETED|2023-11-05T00:30:00|2023-11-05T03:30:00|2023-11-05T04:30:00|"
                          "00:45:00|gres/gpu=1\n");
    assert_import("sacct", file);
    assert_word("gpu_seconds_exact", "9900.000");
    assert_true(account_warns("1 jobs have an Elapsed one hour off"));
    assert_true(account_warns("suspended"));
    assert_import("sacct", file, "--zone", "US/Pacific");
    assert_false(account_warns("one hour off"));
    assert_int_equal(rows_for("repeated-hour"), 1);
    assert_word("gpu_seconds_exact", "9900.000");
}

static void json_samples(void **state)
{
    (void)state;
    assert_import("slurm-json", "traces/samples/slurm-json/squeue.json");
    assert_trace(
        "# gpusim-trace/1 origin=slurm-json file=squeue.json time_zero_s=1700000000\n"
        "job_id,submit_s,duration_s,gpus,cpus,mem_bytes,user,group,priority,walltime_s,status\n"
        "301,0,3600,2,16,68719476736,ana,vision,77,7200,completed\n"
        "302_7,100,300,3,8,17179869184,bo,speech,,,running\n"); /* until last_update */
    assert_import("slurm-json", "traces/samples/slurm-json/squeue.json", "--as-of",
                  "2023-11-14T22:16:50");
    assert_word("gpu_seconds_exact", "7230.000");
    assert_import("slurm-json", "traces/samples/slurm-json/sacct.json");
    assert_trace("# gpusim-trace/1 origin=slurm-json file=sacct.json time_zero_s=1700000000\n"
                 "job_id,submit_s,duration_s,gpus,cpus,mem_bytes,user,group,walltime_s,status\n"
                 "401,0,40,0.125,4,8589934592,cy,vision,3600,failed\n");
    assert_int_equal(rows_for("cancelled-before-start"), 1);
}

static void json_nodes(void **state)
{
    (void)state;
    const char *nodes = "traces/samples/slurm-json/nodes/sinfo.json";
    char path[240];
    assert_import("slurm-json", "traces/samples/slurm-json/squeue.json", "--nodes", nodes,
                  "--gpu-map", "h100=h100-sxm5-80gb,a100=a100-sxm4-80gb");
    assert_account("capacity_gpus", 20);
    snprintf(path, sizeof path, "%s.fleet.json", last_run.out);
    json_t *doc = json_load_file(path, 0, NULL);
    assert_int_equal(json_array_size(json_path_get(doc, "fleet")), 2);
    assert_int_equal(json_integer_value(json_path_get(doc, "fleet.0.nodes")), 2);
    assert_int_equal(json_integer_value(json_path_get(doc, "fleet.0.gpus_per_node")), 8);
    assert_string_equal(json_string_value(json_path_get(doc, "fleet.0.gpu")), "h100-sxm5-80gb");
    assert_string_equal(json_string_value(json_path_get(doc, "fleet.0.host_memory")),
                        "1031000 MiB");
    assert_int_equal(json_integer_value(json_path_get(doc, "fleet.1.cpu_cores")), 64);
    json_decref(doc);
    refused(ERR_INPUT, "expected a top-level \"nodes\"", "slurm-json",
            "traces/samples/slurm-json/squeue.json", "--nodes",
            "traces/samples/slurm-json/squeue.json");
    refused(ERR_INPUT, "--nodes", "slurm-json", nodes);
    assert_int_equal(
        run_words(&cmd_import, NULL,
                  (const char *const[]){ "slurm-json", "traces/samples/slurm-json/squeue.json",
                                         "--nodes", nodes, NULL }),
        ERR_USAGE);
}

static void json_real_files(void **state)
{
    (void)state;
    assert_import("auto", real("slurm-json/squeue_out.json"), "--cpu-jobs", "keep");
    assert_account("rows.read", 2);
    assert_int_equal(rows_for("never-started"), 1);
    assert_int_equal(rows_for("runs-to-limit"), 1);
    assert_import("auto", real("slurm-json/slurmrestd_jobs.json"), "--cpu-jobs", "keep");
    assert_account("rows.read", 3);
    assert_account("facts.0.states.COMPLETED", 1);
    assert_import("slurm-json", real("slurm-json/slurmrestd_jobs.json"), "--gpus-per-node", "2",
                  "--as-of", "2024-08-12T12:00:00");
    assert_account("jobs.gpus", 6);
    refused(ERR_INPUT, "none of 2 jobs has a GPU", "auto", real("slurm-json/squeue_out.json"));
    refused(ERR_INPUT, "expected a top-level \"jobs\"", "slurm-json",
            real("slurm-json/sinfo_out.json"));
    assert_import("slurm-json", real("slurm-json/slurmrestd_jobs.json"), "--gpus-per-node", "2",
                  "--nodes", real("slurm-json/sinfo_out.json"));
    assert_account("capacity_gpus", 8); /* four nodes without GPUs of their own */
    /* a form of its own: neither submit nor start, and two lines that are no JSON */
    refused(ERR_INPUT, "no job is left of 8 rows", "slurm-json",
            real("slurm-json/squeue_fallback.txt"), "--cpu-jobs", "keep");
    assert_int_equal(rows_for("bad-json"), 2);
    assert_int_equal(rows_for("never-started"), 4);
    assert_int_equal(rows_for("no-submit"), 2);
}

static void json_documents(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } bad[] = {
        { "", "empty" },
        { "JobID|State\n", "expected JSON" },
        { "{\"jobs\": [{\"job_id\": 1}", "breaks off" },
        { "{\"jobs\": [{\"job_id\": 1", "breaks off" },
        { "{\"jobs\": [{\"job_id\": 1} {\"job_id\": 2}]}", "expected ',' or ']'" },
        { "{\"jobs\": [1,]}", "expected a value" },
        { "{\"jobs\": [], \"x\" 3}", "expected ':'" },
        { "{\"jobs\": [], 3}", "expected a key" },
        { "{\"jobs\": {}}", "no such array" },
        { "{\n\"meta\": {}, \"errors\": []}", "expected a top-level \"jobs\"" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (strcmp(bad[i].part, "no such array") == 0) {
            refused(ERR_INPUT, "expected a top-level", "slurm-json",
                    temp_file(".json", bad[i].text));
            continue;
        }
        refused(ERR_INPUT, bad[i].part, "slurm-json", temp_file(".json", bad[i].text));
    }
    /* members are told apart by line; JSON lines; a BOM; one line for everything */
    const char *job = "\"job_state\":\"COMPLETED\",\"submit_time\":1700000000,\"start_time\":"
                      "1700000001,\"end_time\":1700000002,\"tres_alloc_str\":\"gres/gpu=1\"";
    char text[2000];
    snprintf(
        text, sizeof text,
        "\xef\xbb\xbf{\"a\": \"]}\\\"\", \"jobs\": [\n{\"job_id\": 1, %s},\n 17,\n{\"job_id\": 2, "
        "\"job_id\": 3},\n{\"job_id\": 4, \"x\": [{}, \"]\\\\\"], %s}]}",
        job, job);
    assert_import("slurm-json", temp_file(".json", text), "--lenient");
    assert_account("rows.kept", 2);
    assert_int_equal(rows_for("bad-json"), 2);
    assert_account("rows.quarantine.0.lines.0", 3);
    assert_account("rows.quarantine.0.lines.1", 4);
    /* members longer than a read, of several lines */
    struct strbuf big = { 0 };
    strbuf_addz(&big, "{\"jobs\": [");
    for (int i = 0; i < 3; i++) {
        strbuf_addf(&big, "%s{\"job_id\": %d,\n %s, \"comment\": \"", i ? ",\n" : "", i + 1, job);
        for (int k = 0; k < 30000; k++) strbuf_addz(&big, k % 7 ? "]}, " : "\\\"\\\\");
        strbuf_addz(&big, "\"}");
    }
    strbuf_addz(&big, ",\n5]}");
    assert_import("slurm-json", temp_file(".json", big.s), "--lenient");
    assert_account("rows.kept", 3);
    assert_account("rows.quarantine.0.lines.0", 7);
    strbuf_fini(&big);
    snprintf(text, sizeof text, "# a comment\n{\"job_id\": 1, %s}\n\n{\"job_id\": \"x_2\", %s}",
             job, job);
    assert_import("slurm-json", temp_file(".json", text));
    assert_account("rows.kept", 2);
}

static void eagle(void **state)
{
    (void)state;
    assert_import("eagle", "traces/samples/eagle/jobs.csv", "--zone", "America/Denver");
    assert_trace("# gpusim-trace/1 origin=eagle file=jobs.csv zone=America/Denver "
                 "time_zero_s=1546452600\n"
                 "job_id,submit_s,duration_s,gpus,cpus,user,group,walltime_s,status\n"
                 "901,0,600,0,144,u2,a1,3600,completed\n"
                 "901,0,600,0,144,u2,a1,3600,completed\n" /* tasks of an array, not duplicates */
                 "900,535,902,2,1,u1,a1,902,failed\n");
    assert_import("auto", real("slurm-nrel-eagle/sample_eagle_data.csv"));
    assert_account("rows.read", 1000);
    assert_account("rows.quarantined", 0);
    assert_account("duplicate_ids", 1000 - 549);
    assert_word("gpu_seconds_exact", "36486.000");
    assert_account("facts.0.states.TIMEOUT", 15);
    assert_account("jobs.histogram.2", 3);
    assert_account("jobs.histogram.16", 1);
}

static void helios(void **state)
{
    (void)state;
    const char *log = "traces/samples/helios/cluster_log.csv";
    assert_import("helios", log);
    assert_trace("# gpusim-trace/1 origin=helios file=cluster_log.csv zone=Asia/Shanghai "
                 "time_zero_s=1585670410\n"
                 "job_id,submit_s,duration_s,gpus,cpus,user,group,status\n"
                 "11,0,3600,8,64,u1,vcA,completed\n"
                 "14,1,1800,16,128,u3,vcA,failed\n"
                 "12,2,7,0,4,u2,vcB,failed\n"
                 "15,110,0,1,8,u3,vcA,failed\n");
    assert_account("wait_s.sum", 51);
    assert_account("jobs.histogram.0", 1); /* jobs without a GPU are kept, and counted */
    assert_import("helios", log, "--cpu-jobs", "drop");
    assert_int_equal(rows_for("cpu-job"), 1);
    /* cards by day: the capacity is their mean */
    assert_import("helios", log, "--vc-gpus",
                  temp_file(".csv", "date,vcA,vcB,total\n2020-04-01,8,8,16\n2020-04-02,8,24,32\n"
                                    "2020-04-03,8,24,32"));
    assert_close(account_num("capacity_gpus"), 26.667, 1e-12);
    assert_true(account_warns("the mean of 3 days: it moves between 16 and 32 cards"));
    refused(ERR_INPUT, "a row for each day", "helios", log, "--vc-gpus",
            temp_file(".csv", "date,vcA,total\n"));
    refused(ERR_INPUT, "total", "helios", log, "--vc-gpus",
            temp_file(".csv", "date,vcA,total\n2020-04-01,8,-8\n"));
    refused(ERR_INPUT, "expected a header with \"date\"", "helios", log, "--vc-gpus", log);
    static const struct {
        const char *row, *fate;
    } cases[] = {
        { "1,u,v,1,1,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:10,10,0",
          "kept" },
        { "1,u,v,x,1,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:10,10,0",
          "bad-value" },
        { "1,u,v,-1,1,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:10,10,0",
          "bad-value" },
        { "1,u,v,1,1.5,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:10,10,0",
          "bad-value" },
        { "1,u,v,1,1,1,COMPLETED,2020-04-31 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:10,10,0",
          "bad-value" },
        { "1,u,v,1,1,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:10,-1,0",
          "bad-value" },
        { "1,u,v,1,1,1,SUSPENDED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:10,10,0",
          "still-running" },
        { "1,u,v,1,1,1,DONE,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:10,10,0",
          "bad-value" },
        { "1,u,v,1.5,1,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:10,10,0",
          "odd-gpus" },
        { "1,u,v,1,1,1,COMPLETED,,2020-04-01 00:00:00,2020-04-01 00:00:10,10,0", "no-submit" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,"
                 "duration,queue\n0,u,v,1,1,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 "
                 "00:00:00,2020-04-01 00:00:10,10,0\n%s\n",
                 cases[i].row);
        const char *got = fate_of("helios", text, NULL);
        if (strcmp(got, cases[i].fate) != 0) fail_msg("%s: %s", cases[i].row, got);
    }
}

static void acme(void **state)
{
    (void)state;
    assert_import("acme", "traces/samples/acme/seren.csv");
    assert_trace("# gpusim-trace/1 origin=acme file=seren.csv zone=UTC time_zero_s=1677619798\n"
                 "job_id,submit_s,duration_s,gpus,cpus,user,group,class,status\n"
                 "s1,0,3600,8,128,u1,SFT,training,completed\n"
                 "s2,62,8,1,16,u2,Eval,inference,failed\n"
                 "s4,662,30,0,8,u3,Debug,dev,completed\n");
    assert_account("facts.0.durations_unlike_clocks", 0);
    /* Kalos: another zone, and durations that count the wait */
    assert_import("acme", "traces/samples/acme/kalos.csv");
    assert_trace("# gpusim-trace/1 origin=acme file=kalos.csv zone=UTC time_zero_s=1684321258\n"
                 "job_id,submit_s,duration_s,gpus,cpus,mem_bytes,user,group,class,status\n"
                 "dlc1,0,8,16,120,1025000000000,u1,Pretrain,training,failed\n"
                 "dlc2,62,3600,1,12,64000000000,u1,Other,,completed\n");
    assert_account("facts.0.durations_unlike_clocks", 1);
    assert_word("gpu_seconds_exact", "3728.000");
}

static void supercloud(void **state)
{
    (void)state;
    const char *log = "traces/samples/supercloud/slurm-log.csv";
    assert_import("supercloud", log);
    assert_trace("# gpusim-trace/1 origin=supercloud file=slurm-log.csv time_zero_s=1600000000\n"
                 "job_id,submit_s,duration_s,gpus,cpus,mem_bytes,user,walltime_s,status\n"
                 "501,0,3600,2,20,178257920000,77,86400,completed\n"
                 "502,10,100,4,40,356515840000,77,,failed\n"
                 "504,20,0,0,4,1048576000,78,3600,completed\n");
    assert_int_equal(rows_for("cancelled-before-start"), 1);
    assert_int_equal(rows_for("never-started"), 1);
    refused(ERR_INPUT, "--gpu-tres", "supercloud", log, "--gpu-tres", "1003");
    refused(ERR_INPUT, "not explain", "supercloud",
            temp_file(".csv", "id_job,time_submit,time_start,time_end,state,tres_alloc\n"
                              "1,5,6,9,3,1001=1\n2,5,6,9,99,1001=1\n3,5,6,-9,3,1001=1\n"));
    assert_int_equal(rows_for("bad-value"), 2);
}

/* What one file lacks another of the same import may have; what one had is a duplicate in the
 * next. */
static void several_files(void **state)
{
    (void)state;
    char *cpu = strdup(temp_file("-1.txt", HEADER "1|COMPLETED|" TIMES "cpu=4|cpu=4|\n"));
    char *gpu = strdup(temp_file("-2.txt", HEADER "2|COMPLETED|" TIMES ONE));
    char *again = strdup(temp_file(
        "-3.txt", HEADER
        "2|COMPLETED|" TIMES ONE "2|COMPLETED|2024-03-01T08:00:00|2024-03-01T09:00:10|"
        "2024-03-01T09:01:10|00:01:00|" ONE "2|COMPLETED|2024-03-01T08:00:00|2024-03-01T09:00:10|"
        "2024-03-01T09:01:10|00:01:00|" ONE));
    refused(ERR_INPUT, "none of 1 jobs has a GPU", "sacct", cpu);
    refused(ERR_INPUT, "none of 2 jobs in 2 files has a GPU", "sacct", cpu, cpu);
    assert_import("sacct", cpu, gpu);
    assert_import("sacct", gpu, cpu, again);
    assert_account("rows.kept", 2);
    assert_int_equal(rows_for("duplicate"), 2);
    assert_int_equal(rows_for("attempt"), 1);
    assert_account("duplicate_ids", 1); /* of the rows that are left */
    free(cpu);
    free(gpu);
    free(again);
}

/* A row that was cut short costs itself alone; text in the last column may break too. */
static void sacct_lines(void **state)
{
    (void)state;
    const char *half = "COMPLETED|2024-03-01T08:00:00|2024-03-01T08:00:10|2024-03-01T08:01:10|"
                       "00:01:00|gres/gpu=1";
    char text[1600];
    snprintf(text, sizeof text,
             "JobID|JobName|State|Submit|Start|End|Elapsed|AllocTRES\n1|ok|%s\n"
             "2|short|COMPLETED|2024-03-01T08:00:00\n3|multi\nline|%s\n4|sh\n5|ok|%s\n",
             half, half, half);
    assert_import("sacct", temp_file(".txt", text), "--lenient");
    assert_account("rows.read", 5);
    assert_account("jobs.gpus", 3);
    assert_int_equal(rows_for("field-count"), 2);
    assert_int_equal(rows_for("joined-lines"), 1);
    refused(ERR_INPUT, "--strict", "sacct", temp_file(".txt", text), "--strict");
    snprintf(text, sizeof text,
             "JobID|State|Submit|Start|End|Elapsed|AllocTRES|JobName\n1|%s|a\nb|c\nd\n"
             "2|%s|e\n\n3|%s|f\n4|COMPL\n",
             half, half, half);
    assert_import("sacct", temp_file(".txt", text), "--lenient");
    assert_account("rows.read", 4);
    assert_account("jobs.gpus", 3);
    assert_int_equal(rows_for("joined-lines"), 1);
    assert_int_equal(rows_for("field-count"), 1);
}

/* Commas come with quotes, which hold delimiters and line breaks of any column. */
static void sacct_commas(void **state)
{
    (void)state;
    assert_import("sacct",
                  temp_file(".csv",
                            "JobID,State,Submit,Start,End,Elapsed,AllocTRES,JobName\n"
                            "1,COMPLETED,2024-03-01T08:00:00,2024-03-01T08:00:10,"
                            "2024-03-01T08:01:10,00:01:00,\"cpu=4,gres/gpu=2\",\"a,\nb\"\n"));
    assert_account("rows.kept", 1);
    assert_word("gpu_seconds_exact", "120.000");
}

/* Tasks of an array that wait together are as many requests. */
static void waiting_arrays(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        int tasks;
    } cases[] = { { "12_[1-5]", 5 },     { "12_[1-5,7,10-20:5%2]", 9 },
                  { "12_[7]", 1 },       { "12", 1 },
                  { "12_[0-10:11]", 1 }, { "12_[0-11:11]", 2 },
                  { "12_[1-5,...]", 6 }, { "12_[", 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "%s1|COMPLETED|%s%s%s|PENDING|2024-03-01T08:00:00|Unknown|Unknown|00:00:00||"
                 "gres/gpu=2|\n",
                 HEADER, TIMES, ONE, cases[i].id);
        assert_import("sacct", temp_file(".txt", text));
        assert_account("rows.read", 2);
        assert_account("asked.gpus", 1 + 2 * cases[i].tasks);
        assert_account("jobs.gpus", 1);
    }
}

static void sacct_column_names(void **state)
{
    (void)state;
    const char *row = "1|COMPLETED|" TIMES "gres/gpu=1\n";
    const char *file = temp_file(".txt", row);
    refused(ERR_USAGE, "did you mean \"state\"", "sacct", file, "--columns",
            "jobid,stat,submit,start,end,elapsed,alloctres");
    refused(ERR_INPUT, "column \"Submit\" is there twice", "sacct", file, "--columns",
            "jobid,state,submit,Submit,end,elapsed,alloctres");
    assert_import("sacct", file, "--columns", "jobid,-,submit,start,-,elapsed,alloctres");
    refused(ERR_INPUT, "is there twice", "sacct",
            temp_file(".txt", "JobID|State|Submit|Start|End|Elapsed|Elapsed%20|AllocTRES\n"));
}

/* squeue's states in any order; running jobs end at last_update, which may stand behind them. */
static void json_states(void **state)
{
    (void)state;
    static const struct {
        const char *states, *status;
        int end;
    } cases[] = {
        { "[\"COMPLETING\", \"COMPLETED\"]", "completed", 1700000070 },
        { "[\"COMPLETED\", \"COMPLETING\"]", "completed", 1700000070 },
        { "[\"COMPLETING\", \"FAILED\"]", "failed", 1700000070 },
        { "[\"COMPLETING\", \"COMPLETED\"]", "running", 0 },
        { "[\"RUNNING\", \"COMPLETING\"]", "running", 0 },
        { "[\"COMPLETING\"]", "running", 0 },
    };
    char text[700], want[100];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                 "{\"jobs\": [{\"job_id\": 1, \"job_state\": %s, \"submit_time\": 1700000000, "
                 "\"start_time\": 1700000010, \"end_time\": %d, \"tres_alloc_str\": "
                 "\"gres/gpu=1\"}], \"last_update\": 1700000100}",
                 cases[i].states, cases[i].end);
        const char *file = temp_file(".json", text);
        assert_import("slurm-json", file);
        snprintf(want, sizeof want, "1,0,%d,1,%s\n", cases[i].end ? 60 : 90, cases[i].status);
        char *from_file = read_file(last_run.out);
        assert_non_null(strstr(from_file, want));
        /* the same through standard input */
        const int saved = dup(0), fd = open(file, O_RDONLY);
        dup2(fd, 0);
        close(fd);
        assert_import("slurm-json", "-");
        dup2(saved, 0);
        close(saved);
        char *piped = read_file(last_run.out);
        assert_string_equal(strchr(piped, '\n'), strchr(from_file, '\n'));
        free(piped);
        free(from_file);
    }
}

#define RUNNING "2024-03-01T08:00:00|2024-03-01T08:00:10|Unknown|"

/* Of overlapping exports the final or latest state of a run counts, in whatever order they come. */
static void overlapping_exports(void **state)
{
    (void)state;
    const char *want = "job_id,submit_s,duration_s,gpus,walltime_s,status\n"
                       "1,0,60,1,3600,completed\n"
                       "2,0,900,1,3600,running\n"
                       "2,0,30,1,3600,failed\n";
    const char *early =
        HEADER "1|RUNNING|" RUNNING "00:00:20|" ONE "2|RUNNING|" RUNNING "00:10:00|" ONE;
    const char *late = HEADER "2|RUNNING|" RUNNING "00:15:00|" ONE "1|COMPLETED|" TIMES ONE
                              "1|COMPLETED|" TIMES ONE
                              "2|FAILED|2024-03-01T08:00:00|2024-03-01T07:00:10|2024-03-01T07:00:"
                              "40|00:00:30|" ONE;
    char *a = strdup(temp_file("-early.txt", early)), *b = strdup(temp_file("-late.txt", late));
    char *both = strdup(temp_file("-both.txt", ""));
    FILE *f = fopen(both, "w");
    fprintf(f, "%s%s", early, late + strlen(HEADER));
    fclose(f);
    for (int i = 0; i < 3; i++) {
        if (i == 0) assert_import("sacct", a, b);
        if (i == 1) assert_import("sacct", b, a);
        if (i == 2) assert_import("sacct", both);
        char *got = read_file(last_run.out);
        assert_non_null(strstr(got, "1,0,60,1,3600,completed\n"));
        assert_non_null(strstr(got, "2,0,900,1,3600,running\n"));
        assert_non_null(strstr(got, "2,0,30,1,3600,failed\n"));
        assert_int_equal(strlen(strstr(got, "job_id")), strlen(want));
        free(got);
        assert_int_equal(rows_for("superseded"), 2);
        assert_int_equal(rows_for("duplicate"), 1);
        assert_int_equal(rows_for("attempt"), 1);
    }
    /* the same of JSON and of Helios */
    char *running = strdup(temp_file(
        "-running.json", "{\"jobs\": [{\"job_id\": 1, \"job_state\": \"RUNNING\", \"submit_time\": "
                         "1700000000, \"start_time\": 1700000010, \"tres_alloc_str\": "
                         "\"gres/gpu=1\"}], \"last_update\": 1700000020}"));
    char *ended = strdup(
        temp_file("-ended.json",
                  "{\"jobs\": [{\"job_id\": 1, \"job_state\": [\"COMPLETED\"], \"submit_time\": "
                  "1700000000, \"start_time\": 1700000010, \"end_time\": 1700000070, "
                  "\"tres_alloc_str\": \"gres/gpu=1\"}], \"last_update\": 1700000100}"));
    assert_import("slurm-json", running, ended);
    assert_word("gpu_seconds_exact", "60.000");
    assert_int_equal(rows_for("superseded"), 1);
    assert_word("rows.quarantine.0.reason", "superseded");
    assert_non_null(strstr(account_word("rows.quarantine.0.lines.0"), "-running.json:1"));
    assert_import("slurm-json", running, running);
    assert_word("gpu_seconds_exact", "10.000");
    assert_import("helios",
                  temp_file(".csv", "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,"
                                    "start_time,end_time,duration,queue\n"
                                    "1,u,v,8,1,1,RUNNING,2020-04-01 00:00:00,2020-04-01 00:00:00,,"
                                    "10,0\n"
                                    "1,u,v,8,1,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,"
                                    "2020-04-01 00:01:00,60,0\n"));
    assert_word("gpu_seconds_exact", "480.000");
    assert_int_equal(rows_for("superseded"), 1);
    free(running);
    free(ended);
    /* two ends of one run */
    assert_string_equal(fate_of("sacct",
                                HEADER "1|COMPLETED|" TIMES ONE
                                       "1|COMPLETED|2024-03-01T08:00:00|2024-03-01T08:00:10|"
                                       "2024-03-01T08:02:10|00:02:00|" ONE,
                                NULL),
                        "conflicting-record");
    free(a);
    free(b);
    free(both);
}

/* Devices of one kind are as many jobs, each with its part of the host. */
static void mig_devices(void **state)
{
    (void)state;
    assert_import("sacct",
                  temp_file(".txt", HEADER "1|COMPLETED|" TIMES "cpu=8,mem=8G,gres/gpu:1g.5gb=2||\n"
                                           "2|RUNNING|" RUNNING "00:01:00|gres/gpu:3g.20gb=2||\n"));
    char *got = read_file(last_run.out);
    assert_non_null(strstr(got, "job_id,submit_s,duration_s,gpus,cpus,mem_bytes,status\n"
                                "1#1,0,60,0.125,4,4294967296,completed\n"
                                "1#2,0,60,0.125,4,4294967296,completed\n"
                                "2#1,0,60,0.5,,,running\n"
                                "2#2,0,60,0.5,,,running\n"));
    free(got);
    assert_int_equal(rows_for("shared-instances"), 2);
    assert_account("rows.read", 2);
    assert_account("rows.further_jobs", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sacct_sample),
        cmocka_unit_test(sacct_real),
        cmocka_unit_test(sacct_rows),
        cmocka_unit_test(sacct_options),
        cmocka_unit_test(sacct_headers),
        cmocka_unit_test(window_edges),
        cmocka_unit_test(clock_changes),
        cmocka_unit_test(json_samples),
        cmocka_unit_test(json_real_files),
        cmocka_unit_test(json_nodes),
        cmocka_unit_test(json_documents),
        cmocka_unit_test(eagle),
        cmocka_unit_test(helios),
        cmocka_unit_test(acme),
        cmocka_unit_test(supercloud),
        cmocka_unit_test(several_files),
        cmocka_unit_test(overlapping_exports),
        cmocka_unit_test(mig_devices),
        cmocka_unit_test(waiting_arrays),
        cmocka_unit_test(sacct_commas),
        cmocka_unit_test(json_states),
        cmocka_unit_test(sacct_lines),
        cmocka_unit_test(sacct_column_names),
    };
    return cmocka_run_group_tests_name("import of what Slurm recorded", tests, NULL, free_last_run);
}
