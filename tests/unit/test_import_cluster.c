/* Philly and PAI: attempts, joined tables, instances. */
#include "tests/support/import_checks.h"

#define PHILLY "traces/samples/philly/jobs.json"
#define PAI    "traces/samples/pai/"

static void philly_sample(void **state)
{
    (void)state;
    assert_import("philly", PHILLY);
    assert_trace("# gpusim-trace/1 origin=philly file=jobs.json zone=America/Los_Angeles "
                 "time_zero_s=1507557752\n"
                 "job_id,submit_s,duration_s,gpus,user,group,class,status\n"
                 "application_1,0,1200,3,u1,vc-a,training,completed\n"
                 "application_2,148,630,1,u2,vc-a,training,failed\n" /* 600 + 30, not the gap */
                 "application_5,2311648,900,1,u3,vc-b,training,completed\n"); /* 01:50 to 01:05 */
    assert_account("rows.read", 6);
    assert_int_equal(rows_for("no-attempts"), 2);
    assert_int_equal(rows_for("no-end"), 1);
    assert_int_equal(rows_for("retried"), 1);
    assert_int_equal(rows_for("repeated-hour"), 1);
    assert_account("rows.quarantine.0.lines.0", 10);
    assert_account("facts.0.without_attempts", 2);
    assert_account("facts.0.running_at_the_end", 1);
    assert_import("philly", PHILLY, "--as-of", "2017-12-15 11:00:05");
    assert_word("gpu_seconds_exact", "8730.000"); /* 3600 + 630 + 900 + 3600 */
    assert_int_equal(rows_for("still-running"), 1);
    /* in a zone that never changes, an end before its start is an error */
    refused(ERR_INPUT, "not explain", "philly", PHILLY, "--zone", "-08:00");
    refused(ERR_USAGE, "--zone", "philly", PHILLY, "--zone", "Pacific");
    refused(ERR_USAGE, "--as-of", "philly", PHILLY, "--as-of", "x");
}

static void philly_attempts(void **state)
{
    (void)state;
    assert_import("philly", PHILLY, "--attempts", "each", "--as-of", "2017-12-16");
    assert_trace("# gpusim-trace/1 origin=philly file=jobs.json zone=America/Los_Angeles "
                 "time_zero_s=1507557752\n"
                 "job_id,submit_s,duration_s,gpus,user,group,class,status\n"
                 "application_1,0,1200,3,u1,vc-a,training,completed\n"
                 "application_2,148,600,1,u2,vc-a,training,failed\n"
                 "application_2/2,808,30,1,u2,vc-a,training,failed\n" /* from the end before it */
                 "application_5,2311648,900,1,u3,vc-b,training,completed\n"
                 "application_6,5803048,50395,1,u3,vc-b,training,running\n");
    assert_account("wait_s.sum", 20 + 60 + 240 + 2400 + 5);
    assert_account("facts.0.jobs", 6);
    assert_account("facts.0.retries", 1);
}

static void philly_rows(void **state)
{
    (void)state;
#define GPU "\"detail\": [{\"ip\": \"m\", \"gpus\": [\"gpu0\"]}]"
    static const struct {
        const char *row, *fate;
    } cases[] = {
        { "{\"jobid\": \"a\", \"submitted_time\": \"2017-10-09 07:00:00\", \"attempts\": "
          "[{\"start_time\": \"2017-10-09 07:00:00\", \"end_time\": \"2017-10-09 07:00:00\", " GPU
          "}]}",
          "kept" },
        { "17", "bad-json" },
        { "{\"jobid\": \"a\", \"jobid\": \"b\"}", "bad-json" },
        { "{}", "no-submit" },
        { "{\"jobid\": \"a\", \"submitted_time\": 5, \"attempts\": []}", "bad-value" },
        { "{\"jobid\": \"a\", \"submitted_time\": \"2017-13-09 07:00:00\", \"attempts\": []}",
          "bad-value" },
        { "{\"jobid\": \"a\", \"submitted_time\": null, \"attempts\": []}", "no-submit" },
        { "{\"jobid\": \"a\", \"submitted_time\": \"2017-10-09 07:00:00\"}", "no-attempts" },
        { "{\"jobid\": \"a\", \"submitted_time\": \"2017-10-09 07:00:00\", \"attempts\": "
          "[{\"start_time\": \"2017-10-09 07:00:00\", \"end_time\": \"2017-10-09 06:00:00\", " GPU
          "}]}",
          "ends-before-start" },
        { "{\"jobid\": \"a\", \"submitted_time\": \"2017-10-09 07:00:00\", \"attempts\": "
          "[{\"start_time\": \"2017-10-09 07:00:00\", \"end_time\": \"2017-10-09 07:30:00\", "
          "\"detail\": []}]}",
          "no-gpus" },
        { "{\"jobid\": \"a\", \"submitted_time\": \"2017-10-09 07:00:00\", \"attempts\": "
          "[{\"start_time\": \"2017-10-09 07:00:00\", \"end_time\": \"\", " GPU "}, "
          "{\"start_time\": \"2017-10-09 07:10:00\", \"end_time\": \"2017-10-09 07:30:00\", " GPU
          "}]}",
          "skipped-attempt" },
        { "{\"jobid\": \"a\", \"submitted_time\": \"2017-10-09 07:00:00\", \"attempts\": "
          "[{\"start_time\": \"2017-10-09 07:00:00\", \"end_time\": \"2017-10-09 07:01:00\", " GPU
          "}, {\"start_time\": \"2017-10-09 07:10:00\", \"end_time\": \"2017-10-09 07:30:00\", "
          "\"detail\": [{\"gpus\": [\"gpu0\", \"gpu1\"]}]}]}",
          "attempts-differ" },
        { "{\"submitted_time\": \"2017-10-09 07:00:00\", \"attempts\": "
          "[{\"start_time\": \"2017-10-09 07:00:00\", \"end_time\": \"2017-10-09 07:00:00\", " GPU
          "}]}",
          "refused" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text, "[%s]", cases[i].row);
        const char *got = fate_of("philly", text, NULL);
        if (strcmp(got, cases[i].fate) != 0) fail_msg("%s: %s", cases[i].row, got);
    }
    refused(ERR_INPUT, "expected JSON (an array)", "philly", temp_file(".json", "{\n\"a\": []}"));
    refused(ERR_INPUT, "breaks off", "philly", temp_file(".json", "[{\"jobid\": \"a\""));
}

static void pai_tables(void **state)
{
    (void)state;
    const char *task = PAI "pai_task_table.csv";
    assert_import("pai", task);
    assert_trace("# gpusim-trace/1 origin=pai file=pai_task_table.csv zone=+08:00 dates=shifted "
                 "time_zero_s=4550900\n"
                 "job_id,submit_s,duration_s,gpus,cpus,mem_bytes,status\n"
                 "j1/worker,0,3600.5,2,12,59000000000,completed\n"
                 "j2/tensorflow#1,100,60,0.25,3,10000000000,failed\n"
                 "j2/tensorflow#2,100,60,0.25,3,10000000000,failed\n"
                 "j2/tensorflow#3,100,60,0.25,3,10000000000,failed\n"
                 "j2/tensorflow#4,100,60,0.25,3,10000000000,failed\n"
                 "j3/ps,110,10,0,4,8000000000,completed\n");
    assert_true(account_warns("without --job"));
    assert_account("asked.gpus", 12); /* with the running, waiting and lost tasks */
    assert_int_equal(rows_for("no-start"), 1);
    assert_int_equal(rows_for("no-end"), 1);
    assert_int_equal(rows_for("waiting"), 1);
    assert_import("pai", task, "--job", PAI "tables/pai_job_table.csv", "--instance",
                  PAI "tables/pai_instance_table.csv", "--gpu-types");
    assert_trace("# gpusim-trace/1 origin=pai file=pai_task_table.csv zone=+08:00 dates=shifted "
                 "time_zero_s=4550879\n"
                 "job_id,submit_s,duration_s,gpus,gpu_allowed,cpus,mem_bytes,user,status\n"
                 "j1/worker,0,3595,2,V100,12,59000000000,u1,completed\n" /* first start, last end */
                 "j2/tensorflow#1,111,58,0.25,MISC,3,10000000000,u2,failed\n"
                 "j2/tensorflow#2,111,58,0.25,MISC,3,10000000000,u2,failed\n"
                 "j2/tensorflow#3,111,58,0.25,MISC,3,10000000000,u2,failed\n"
                 "j2/tensorflow#4,111,58,0.25,MISC,3,10000000000,u2,failed\n"
                 "j3/ps,131,9,0,,4,8000000000,,completed\n");
    assert_account("wait_s.sum", 26 + 4 * 11 + 1);
    assert_account("facts.0.tasks_without_job", 1);
    assert_account("facts.0.tasks_without_instances", 3);
    /* the folder that holds them */
    assert_import("pai", PAI "tables");
    assert_account("wait_s.sum", 26 + 4 * 11 + 1);
    refused(ERR_IO, "pai_task_table.csv", "pai", "traces/samples/sacct");
    refused(ERR_INPUT, "expected 6 fields", "pai", task, "--job", task);
    refused(ERR_INPUT, "expected 9 fields", "pai", task, "--instance", task);
    refused(ERR_IO, "No such file", "pai", task, "--job", "/nowhere");
}

/* Instances have their own times; of a worker that comes again the last by status and time
 * counts. */
static void pai_instance_times(void **state)
{
    (void)state;
    char *task = strdup(temp_file("-task.csv", "a,w,3,Terminated,100,200,600,1,50,V100\n"
                                               "b,w,2,Terminated,100,200,600,1,100,V100\n"));
    char *inst =
        strdup(temp_file("-inst.csv", "a,w,x,n1,i,Terminated,110,120,m\n"
                                      "a,w,x,n2,i,Terminated,110,150,m\n"
                                      "a,w,x,n1,i,Failed,130,190,m\n" /* an earlier state of n1 */
                                      "a,w,x,n2,i,Terminated,115,145,m\n" /* a later start of n2 */
                                      "b,w,x,n3,i,Terminated,110,120,m\n"
                                      "b,w,x,n4,i,Terminated,110,160,m\n"
                                      "lost,w,x,n5,i,Terminated,110,120,m\n"));
    assert_import("pai", task, "--instance", inst);
    char *got = read_file(last_run.out);
    assert_string_equal(
        strchr(got, '\n') + 1,
        "job_id,submit_s,duration_s,gpus,cpus,mem_bytes,status\n"
        "a/w#1,0,10,0.5,6,1000000000,completed\n"
        "a/w#2,0,30,0.5,6,1000000000,completed\n"
        "a/w#3,0,35,0.5,6,1000000000,completed\n" /* not in the table: first to last */
        "b/w,0,50,2,12,2000000000,completed\n");
    free(got);
    assert_account("rows.read", 2); /* lines of the file */
    assert_account("rows.further_jobs", 2);
    assert_word("gpu_seconds_exact", "97.500"); /* 0.5 x (10 + 30 + 35), and 10 + 50 */
    assert_int_equal(rows_for("instances-differ"), 1);
    assert_account("facts.0.duplicate_instances", 2);
    assert_account("facts.0.instances_without_task", 1);
    assert_account("facts.0.tasks_without_instances", 0);
    free(task);
    free(inst);
}

static void pai_rows(void **state)
{
    (void)state;
    static const struct {
        const char *row, *fate;
    } cases[] = {
        { "j,t,1,Terminated,10,20,600,1,100,V100", "kept" },
        { "j,t,1,Terminated,10,10,600,1,,CPU", "kept" }, /* no length, no card */
        { "j,t,8,Terminated,10,20,600,1,100,V100", "kept" },
        { "j,t,2,Terminated,10,20,600,1,50,V100", "shared-instances" },
        { "j,t,1,Terminated,10,20,600,1,150,V100", "odd-gpus" },
        { "j,t,1,Terminated,10,20,600,1,99999999999,V100", "odd-gpus" },
        { "j,t,0,Terminated,10,20,600,1,100,V100", "no-instances" },
        { "j,t,1e9,Terminated,10,20,600,1,100,V100", "no-instances" },
        { "j,t,x,Terminated,10,20,600,1,100,V100", "bad-value" },
        { "j,t,1,Terminated,10,20,600,1,-100,V100", "bad-value" },
        { "j,t,1,Terminated,x,20,600,1,100,V100", "bad-value" },
        { "j,t,1,Terminated,-10,20,600,1,100,V100", "bad-value" },
        { "j,t,1,Terminated,0.0,20,600,1,100,V100", "no-start" },
        { "j,t,1,Terminated,,20,600,1,100,V100", "no-start" },
        { "j,t,1,Running,10,0,600,1,100,V100", "no-end" },
        { "j,t,1,Waiting,10,20,600,1,100,V100", "waiting" },
        { "j,t,1,Terminated,20,10,600,1,100,V100", "ends-before-start" },
        { ",t,1,Terminated,10,20,600,1,100,V100", "refused" }, /* never merged with its like */
        { ",,1,Terminated,10,20,600,1,100,V100", "refused" },
        { "j,t,1,Terminated,10,20", "field-count" },
        { "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type",
          "header" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = fate_of("pai", cases[i].row, NULL);
        if (strcmp(got, cases[i].fate) != 0) fail_msg("%s: %s", cases[i].row, got);
    }
}

static void pai_flat(void **state)
{
    (void)state;
    assert_import("pai-flat", "traces/samples/pai-flat/jobs.csv");
    assert_trace("# gpusim-trace/1 origin=pai-flat file=jobs.csv\n"
                 "job_id,submit_s,duration_s,gpus,cpus,user,status\n"
                 "1,0,3600,16,192,u1,completed\n"
                 "3,1,1,0,4,u2,completed\n"
                 "4,7,30.5,0.25,1.5,u3,completed\n"
                 "2#1,10,60,0.5,4,u2,failed\n"
                 "2#2,10,60,0.5,4,u2,failed\n"
                 "2#3,10,60,0.5,4,u2,failed\n");
    assert_int_equal(rows_for("shared-instances"), 1);
    assert_int_equal(rows_for("submit-1"), 1);
    assert_int_equal(rows_for("one-second"), 1);
    static const struct {
        const char *row, *fate;
    } cases[] = {
        { "1,1,10,1,0", "kept" },      { "1,1.5,10,1,0", "odd-gpus" },
        { "1,x,10,1,0", "bad-value" }, { "1,1,x,1,0", "bad-value" },
        { "1,1,10,x,0", "bad-value" }, { "1,1,10,0,0", "no-instances" },
        { "1,1,-10,1,0", "refused" },  { "1,1,10,1", "field-count" },
        { ",1,10,1,0", "refused" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "job_id,num_gpu,duration,num_inst,submit_time\n%s",
                 cases[i].row);
        const char *got = fate_of("pai-flat", text, NULL);
        if (strcmp(got, cases[i].fate) != 0) fail_msg("%s: %s", cases[i].row, got);
    }
}

/* GPU-seconds are those of the attempts, not of the first one's GPUs; logs may overlap. */
static void philly_held(void **state)
{
    (void)state;
#define ATTEMPT(from, to, gpus)                                                                    \
    "{\"start_time\": \"2017-10-09 07:00:" from "\", \"end_time\": " to                            \
    ", \"detail\": [{\"gpus\": [" gpus "]}]}"
#define JOB(attempts)                                                                              \
    "[{\"jobid\": \"a\", \"status\": \"Pass\", \"submitted_time\": \"2017-10-09 07:00:00\", "      \
    "\"attempts\": [" attempts "]}]"
#define FIRST ATTEMPT("00", "\"2017-10-09 07:00:10\"", "\"g0\"")
    char *early = strdup(temp_file("-early.json", JOB(FIRST ", " ATTEMPT("20", "null", "\"g0\""))));
    char *late =
        strdup(temp_file("-late.json", JOB(FIRST ", " ATTEMPT("20", "\"2017-10-09 07:00:30\"",
                                                              "\"g0\", \"g1\", \"g2\", \"g3\""))));
    assert_import("philly", late);
    assert_word("gpu_seconds_exact", "50.000");
    assert_int_equal(rows_for("attempts-differ"), 1);
    assert_import("philly", late, "--attempts", "each");
    assert_word("gpu_seconds_exact", "50.000");
    for (int i = 0; i < 2; i++) {
        assert_import("philly", i ? late : early, i ? early : late, "--as-of", "2017-10-10");
        assert_account("rows.quarantined", 1);
        assert_int_equal(rows_for("superseded"), 1);
        assert_word("gpu_seconds_exact", "50.000");
    }
    /* an attempt that names no GPU held those of the first that does */
    assert_import("philly",
                  temp_file(".json", JOB(ATTEMPT("00", "\"2017-10-09 07:00:10\"", "") ", " ATTEMPT(
                                         "20", "\"2017-10-09 07:00:30\"", "\"g0\", \"g1\""))));
    assert_word("gpu_seconds_exact", "40.000");
    free(early);
    free(late);
}

/* Cards that the native trace could not say are no row of it, whatever the format. */
static void cards_are_names(void **state)
{
    (void)state;
    static const char head[] = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
                               "creation_time,deletion_time,scheduled_time\n";
    static const char *const spec[] = { "T4|", "|T4", "T4||P100", "|", "T4|P100", "T4", "" };
    for (size_t i = 0; i < sizeof spec / sizeof *spec; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "%sa,1000,1024,1,1000,%s,LS,Succeeded,0,50,10\n"
                 "b,1000,1024,1,1000,,LS,Succeeded,0,50,10\n",
                 head, spec[i]);
        assert_import("openb", temp_file("-spec.csv", text), "--lenient");
        assert_account("rows.quarantined", i < 4);
        assert_int_equal(rows_for("bad-value"), i < 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_are_names),    cmocka_unit_test(philly_sample),
        cmocka_unit_test(philly_attempts),    cmocka_unit_test(philly_held),
        cmocka_unit_test(pai_instance_times), cmocka_unit_test(philly_rows),
        cmocka_unit_test(pai_tables),         cmocka_unit_test(pai_rows),
        cmocka_unit_test(pai_flat),
    };
    return cmocka_run_group_tests_name("import of Philly and PAI", tests, NULL, free_last_run);
}
