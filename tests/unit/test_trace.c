#include "model/trace.h"
#include "tests/support/textfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define HEAD "job_id,submit_s,duration_s,gpus\n"

static struct symtab *names;

static int setup(void **state)
{
    (void)state;
    names = symtab_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    symtab_destroy(names);
    return 0;
}

/* Reads all rows of a text; the number of rows, or the first error (in *e). */
static int read_all(const char *text, size_t len, struct job_row *rows, struct err *e)
{
    struct textfile f = textfile_bytes(text, len);
    struct trace_reader *t;
    struct job_row r;
    int rc = trace_open(&t, f.path, names, e), n = 0;
    while (rc == 0 && (rc = trace_next(t, &r, e)) > 0) {
        if (rows) rows[n] = r;
        n++;
        rc = 0;
    }
    trace_close(t);
    textfile_close(&f);
    return rc < 0 ? rc : n;
}

static void all_columns(void **state)
{
    (void)state;
    const char *text = "# gpusim-trace/1 origin=hand time_zero=2024-01-01T00:00:00Z\n"
                       "slots,max_gpus,min_gpus,deadline_s,status,walltime_s,priority,profile,"
                       "class,group,user,mem_bytes,cpus,"
                       "gpu_allowed,gpu_model,gpu_mem_bytes,gpus,duration_s,submit_s,job_id\r\n"
                       "2,8,0.5,1e3,failed,3600.5,-7,resnet,inference,g1,u1,1073741824,3.5,a|b,"
                       "a100,80,0.25,2.385,0.123456789,j1\r\n"
                       ",,,,,,,,,,,,,,,,8,0,12.5,\"j,2\"";
    struct textfile f = textfile_of(text);
    struct trace_reader *t;
    struct job_row r;
    struct err e = { 0 };
    assert_int_equal(trace_open(&t, f.path, names, &e), 0);
    assert_string_equal(trace_comment(t), "origin=hand time_zero=2024-01-01T00:00:00Z");
    assert_int_equal(trace_columns(t), (1u << TRACE_COLUMNS) - 1);
    assert_int_equal(trace_next(t, &r, &e), 1);
    assert_int_equal(trace_line(t), 3);
    assert_int_equal(r.id_len, 2);
    assert_memory_equal(r.id, "j1", 2);
    assert_int_equal(r.submit, 123456789);
    assert_int_equal(r.duration, 2385000000);
    assert_int_equal(r.gpus_milli, 250);
    assert_int_equal(r.gpu_mem_bytes, 80);
    assert_string_equal(symtab_name(names, r.gpu_model), "a100");
    assert_string_equal(symtab_name(names, r.gpu_allowed), "a|b");
    assert_int_equal(r.cpus_milli, 3500);
    assert_int_equal(r.mem_bytes, 1073741824);
    assert_string_equal(symtab_name(names, r.user), "u1");
    assert_string_equal(symtab_name(names, r.group), "g1");
    assert_string_equal(symtab_name(names, r.profile), "resnet");
    assert_int_equal(r.klass, CLASS_inference);
    assert_int_equal(r.status, STATUS_failed);
    assert_int_equal(r.priority, -7);
    assert_int_equal(r.walltime, INT64_C(3600500000000));
    assert_int_equal(r.deadline, INT64_C(1000000000000));
    assert_int_equal(r.min_gpus_milli, 500);
    assert_int_equal(r.max_gpus_milli, 8000);
    assert_int_equal(r.slots, 2);
    assert_int_equal(trace_next(t, &r, &e), 1);
    assert_memory_equal(r.id, "j,2", 3);
    struct job_row empty;
    job_row_init(&empty);
    empty.id = r.id, empty.id_len = 3, empty.submit = 12500000000, empty.gpus_milli = 8000;
    assert_int_equal(r.gpu_mem_bytes, JOB_NO_BYTES);
    assert_int_equal(r.mem_bytes, JOB_NO_BYTES);
    assert_int_equal(r.priority, JOB_NO_INT);
    assert_true(r.walltime == JOB_NO_TIME && r.deadline == JOB_NO_TIME);
    assert_true(r.slots == JOB_NO_INT && r.min_gpus_milli == JOB_NO_INT &&
                r.cpus_milli == JOB_NO_INT);
    assert_true(r.user == 0 && r.klass == CLASS_none && r.status == STATUS_none);
    assert_int_equal(trace_next(t, &r, &e), 0);
    assert_int_equal(trace_row_error(t, "gpus", &e, "no"), ERR_INPUT);
    assert_non_null(strstr(e.where, ":4:17"));
    trace_close(t);
    textfile_close(&f);
}

static void exact_times(void **state)
{
    (void)state;
    struct job_row r[8];
    struct err e = { 0 };
    const char *text = HEAD "a,3501.7219370,0.0000000014,1\nb,3501.7219370,0.0000000015,1\n"
                            "c,9200000000,9.2e9,0\nd,9200000000.000000000,1e-9,0.001\n";
    assert_int_equal(read_all(text, strlen(text), r, &e), 4);
    assert_int_equal(r[0].submit, INT64_C(3501721937000)); /* seven digits survive */
    assert_int_equal(r[0].duration, 1);                    /* the tenth digit rounds */
    assert_int_equal(r[1].duration, 2);
    assert_int_equal(r[2].duration, INT64_C(9200000000000000000));
    assert_int_equal(r[3].duration, 1);
    assert_int_equal(r[3].gpus_milli, 1);
}

/* What a user does wrong, what we say (a part), and what we advise (a part). */
static const struct {
    const char *text, *where, *msg, *hint;
} mistakes[] = {
    { "", ":1", "empty file", "" },
    { " \n\n", ":1", "empty file", "" },
    { "# only a comment\n", ":1", "found only comments", "" },
    { "# gpusim-trace/99 origin=x\n" HEAD "a,0,1,1\n", ":1", "found gpusim-trace/99", "version 1" },
    { "# gpusim-trace/2\r\njobs,when\n", ":1", "found gpusim-trace/2", "version 1" },
    { "# gpusim-trace/1.5\n" HEAD "a,0,1,1\n", ":1", "found gpusim-trace/1.5", "version 1" },
    { "# gpusim-trace/\n" HEAD "a,0,1,1\n", ":1", "found gpusim-trace/?", "version 1" },
    { "# gpusim-trace/9\n", ":1", "found gpusim-trace/9", "version 1" },
    { HEAD, ":1", "found only a header", "" },
    { "\xef\xbb\xbf" HEAD "a,0,1\n", ":2", "expected 4 fields as in the header, found 3",
      "quotes" },
    { HEAD "a,0,1,1,9\n", ":2:9", "expected 4 fields as in the header, found 5", "quotes" },
    { HEAD "a,0,nan,1\n", ":2:5",
      "duration_s: expected seconds such as 12.5, found \"nan\" (not a number)", "" },
    { HEAD "a,inf,1,1\n", ":2:3", "found \"inf\"", "" },
    { HEAD "a,0x10,1,1\n", ":2:3", "found \"0x10\"", "" },
    { HEAD "a,-1,1,1\n", ":2:3", "submit_s: expected seconds >= 0, found \"-1\" (negative)", "" },
    { HEAD "a,0,-0.5,1\n", ":2:5", "negative", "" },
    { HEAD "a,0,9200000000.000000001,1\n", ":2:5", "expected at most 9.2e9 seconds", "" },
    { HEAD "a,1e300,1,1\n", ":2:3", "expected at most 9.2e9 seconds", "" },
    { HEAD "a,0,1,0.0001\n", ":2:7", "finer than a thousandth", "" },
    { HEAD "a,0,1,1.5\n", ":2:7", "neither a fraction nor whole", "" },
    { HEAD "a,0,1,-1\n", ":2:7", "negative", "" },
    { HEAD "a,0,1,3000000\n", ":2:7", "at most 2147483 cards", "" },
    { HEAD "a,0,1,two\n", ":2:7", "gpus: expected 0, a fraction of one card such as 0.25", "" },
    { HEAD "a,0,1,\n", ":2:7", "gpus: expected a value, found an empty cell", "" },
    { HEAD ",0,1,1\n", ":2:1", "job_id: expected a value", "" },
    { HEAD "a,5,1,1\nb,4.5,1,1\n", ":3:3", "expected at least 5 (line 2), found 4.5",
      "gpusim import native" },
    { "job_id,submit,duration_s,gpus\na,0,1,1\n", ":1:8", "found \"submit\"",
      "did you mean \"submit_s\"?" },
    { "job_id,submit_s,duration_s,gpus,gpus\n", ":1:33", "\"gpus\" is there twice", "" },
    { "job_id,submit_s\na,0\n", ":1", "the header lacks duration_s, gpus", "required" },
    { "a,0,1,1\n", ":1:1", "found \"a\"", "first row must name" },
    { "{\"jobs\": []}\n", ":1", "found JSON", "import auto" },
    { "; Version: 2\n1 0 1\n", ":1", "Standard Workload Format", "import auto" },
    { "arrival_s,input_tokens,output_tokens\n0,1,2\n", ":1", "request trace", "service" },
    { "JobID|State\n1|COMPLETED\n", ":1", "found '|'", "sacct" },
    { "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n", ":1:1", "found \"name\"", "import openb" },
    { "job_id,num_gpu,submit_time\n", ":1:8", "num_gpu", "import tiresias" },
    { "job_id,submit_s,duration_s,gpus,class\na,0,1,1,trainning\n", ":2:9",
      "expected training, inference, dev, hpc, graphics, found \"trainning\"",
      "did you mean \"training\"?" },
    { "job_id,submit_s,duration_s,gpus,status\na,0,1,1,DONE\n", ":2:9",
      "status: expected completed", "" },
    { "job_id,submit_s,duration_s,gpus,slots\na,0,1,1,0\n", ":2:9", "slots >= 1", "" },
    { "job_id,submit_s,duration_s,gpus,priority\na,0,1,1,1.5\n", ":2:9", "whole number", "" },
    { "job_id,submit_s,duration_s,gpus,gpu_mem_bytes\na,0,1,1,80 GiB\n", ":2:9", "whole bytes",
      "" },
    { "job_id,submit_s,duration_s,gpus,mem_bytes\na,0,1,1,1.5\n", ":2:9", "too many decimal places",
      "" },
    { "job_id,submit_s,duration_s,gpus,gpu_allowed\na,0,1,1,|\n", ":2:9", "cards with one |", "" },
    { "job_id,submit_s,duration_s,gpus,gpu_allowed\na,0,1,1,t4|\n", ":2:9", "cards with one |",
      "" },
    { "job_id,submit_s,duration_s,gpus,gpu_allowed\na,0,1,1,t4||v100\n", ":2:9",
      "found \"t4||v100\"", "" },
    { "job_id,submit_s,duration_s,gpus,cpus\na,0,1,1,-1\n", ":2:9", "cores", "" },
    { "job_id,submit_s,duration_s,gpus,min_gpus,max_gpus\na,0,1,2,4,2\n", ":2:9",
      "at most max_gpus", "" },
};

static void every_mistake(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct err e = { 0 };
        int rc = read_all(mistakes[i].text, strlen(mistakes[i].text), NULL, &e);
        char place[300];
        snprintf(place, sizeof place, "%s$", e.where);
        char want[60];
        snprintf(want, sizeof want, "%s$", mistakes[i].where);
        if (rc != ERR_INPUT || !strstr(place, want) || !strstr(e.msg, mistakes[i].msg) ||
            !strstr(e.hint, mistakes[i].hint))
            fail_msg("mistake %zu: rc %d, %s: %s (%s)", i, rc, e.where, e.msg, e.hint);
    }
    struct err e = { 0 };
    assert_int_equal(read_all(HEAD "a\0b,0,1,1\n", sizeof HEAD + 9, NULL, &e), ERR_INPUT);
    assert_non_null(strstr(e.msg, "looks binary"));
}

static void goes_on_after_a_bad_row(void **state)
{
    (void)state;
    struct textfile f = textfile_of(HEAD "a,0,1,1\nb,x,1,1\nc,3,1,1\nd,2,1,1\ne,4,1,1\n");
    struct trace_reader *t;
    struct job_row r;
    int bad = 0, good = 0, rc;
    assert_int_equal(trace_open(&t, f.path, names, NULL), 0);
    while ((rc = trace_next(t, &r, NULL)) != 0) {
        if (rc < 0) assert_false(trace_failed(t));
        rc < 0 ? bad++ : good++;
    }
    assert_int_equal(bad, 2);
    assert_int_equal(good, 3);
    trace_close(t);

    assert_int_equal(trace_open(&t, f.path, names, NULL), 0);
    trace_allow_unsorted(t);
    for (good = 0; (rc = trace_next(t, &r, NULL)) != 0;) good += rc > 0;
    assert_int_equal(good, 4);
    trace_close(t);
    textfile_close(&f);
}

static void write_then_read(void **state)
{
    (void)state;
    struct job_row in[3], out[3];
    for (int i = 0; i < 3; i++) job_row_init(&in[i]);
    in[0].id = "a,\"b\"", in[0].id_len = 5;
    in[0].duration = 2385000001;
    in[0].gpus_milli = 460;
    in[1].id = "plain", in[1].id_len = 5;
    in[1].submit = INT64_C(9200000000000000000);
    in[1].duration = 1;
    in[1].gpus_milli = 8000;
    in[1].gpu_mem_bytes = UINT64_MAX - 1;
    in[1].gpu_model = symtab_addz(names, "V100M16");
    in[1].gpu_allowed = symtab_addz(names, "V100M16|V100M32");
    in[1].cpus_milli = 12500;
    in[1].mem_bytes = 0;
    in[1].user = symtab_addz(names, "Müller, J.");
    in[1].klass = CLASS_graphics;
    in[1].status = STATUS_running;
    in[1].priority = -3;
    in[1].walltime = 0;
    in[1].deadline = 5;
    in[1].min_gpus_milli = 0;
    in[1].max_gpus_milli = 16000;
    in[1].slots = 4;
    in[2] = in[1];
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);
    trace_write_header(to, ~0u, "gpusim-trace/1 origin=test");
    for (int i = 0; i < 3; i++) trace_write_row(to, ~0u, &in[i], names);
    fclose(to);
    assert_true(trace_sniff(text, len) > 0);
    struct err e = { 0 };
    assert_int_equal(read_all(text, len, out, &e), 3);
    char *again = NULL; /* the same rows give the same bytes */
    size_t again_len;
    to = open_memstream(&again, &again_len);
    trace_write_header(to, ~0u, "gpusim-trace/1 origin=test");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(out[i].id_len, in[i].id_len);
        out[i].id = in[i].id; /* lent by a reader that is closed */
        trace_write_row(to, ~0u, &out[i], names);
    }
    fclose(to);
    assert_string_equal(again, text);
    assert_int_equal(out[1].gpu_mem_bytes, UINT64_MAX - 1);
    assert_true(out[0].user == 0 && out[1].user == in[1].user && out[1].walltime == 0);
    free(again);
    free(text);
}

static void writer_and_reader_agree_on_what_is_valid(void **state)
{
    (void)state;
    struct job_row r;
    assert_true(job_cards_good("v100", 4) && job_cards_good("v100|t4", 7));
    assert_false(job_cards_good("", 0) || job_cards_good("v100|", 5) || job_cards_good("|t4", 3) ||
                 job_cards_good("a||b", 4));
    job_row_init(&r);
    assert_non_null(job_row_problem(&r)); /* no id */
    r.id = "x", r.id_len = 1;
    assert_null(job_row_problem(&r));
    struct job_row b = r;
    b.submit = -1;
    assert_non_null(job_row_problem(&b));
    b = r, b.duration = INT64_MAX;
    assert_non_null(job_row_problem(&b));
    b = r, b.gpus_milli = 1500;
    assert_non_null(job_row_problem(&b));
    b = r, b.gpus_milli = -1000;
    assert_non_null(job_row_problem(&b));
    b = r, b.min_gpus_milli = 2000, b.max_gpus_milli = 1000;
    assert_non_null(job_row_problem(&b));
    b = r, b.walltime = -5;
    assert_non_null(job_row_problem(&b));
    b = r, b.deadline = -5;
    assert_non_null(job_row_problem(&b));
    b = r, b.slots = 0;
    assert_non_null(job_row_problem(&b));
    b = r, b.cpus_milli = -1;
    assert_non_null(job_row_problem(&b));
    b = r, b.max_gpus_milli = 1001;
    assert_non_null(job_row_problem(&b));
    b = r, b.id = "a\0b", b.id_len = 3;
    assert_non_null(job_row_problem(&b));
}

static void sniffing(void **state)
{
    (void)state;
    const char *yes = "# gpusim-trace/1\n\ngpus,\"job_id\",duration_s,submit_s\r\n";
    assert_int_equal(trace_sniff(yes, strlen(yes)), 100);
    const char *no = "job_id,num_gpu,submit_time\n";
    assert_int_equal(trace_sniff(no, strlen(no)), 0);
    assert_int_equal(trace_sniff("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_columns),
        cmocka_unit_test(exact_times),
        cmocka_unit_test(every_mistake),
        cmocka_unit_test(goes_on_after_a_bad_row),
        cmocka_unit_test(write_then_read),
        cmocka_unit_test(writer_and_reader_agree_on_what_is_valid),
        cmocka_unit_test(sniffing),
    };
    return cmocka_run_group_tests_name("trace", tests, setup, teardown);
}
