/* Arrivals: several work items merged by time, ties in the order of the scenario, load, errors with
 * the file and line they come from. */
#include "tests/support/simulate.h"

#include "engine/source.h"
#include "model/trace_rows.h"
#include "whatif/trace_shelf.h"

#include <stdio.h>
#include <string.h>

static const char two[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', 'gpu': 't4' } ],"
    "  'work': [ { 'name': 'x', 'kind': 'jobs', 'trace': 'x.csv' },"
    "            { 'name': 'y', 'kind': 'jobs', 'trace': 'y.csv', 'load': 2 } ],"
    "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";

struct opened {
    struct scenario s;
    struct symtab *names;
    struct source *source;
    struct err e;
    int rc;
};

static void open_with(struct opened *o, const char *x, const char *y)
{
    const struct sim_file files[] = { { "x.csv", x }, { "y.csv", y }, { 0 } };
    struct diag d;
    *o = (struct opened){ .names = symtab_create() };
    diag_init(&d);
    assert_int_equal(scenario_load(&o->s, sim_write(two, NULL, files), NULL, 0, &d, &o->e), 0);
    assert_int_equal(d.count, 0);
    diag_fini(&d);
    o->rc = source_open(&o->source, &o->s, 0, o->names, &o->e);
}

static void fini(struct opened *o)
{
    source_close(o->source);
    symtab_destroy(o->names);
    scenario_fini(&o->s);
}

#define HEAD "job_id,submit_s,duration_s,gpus\n"

static void merged_by_time(void **state)
{
    static const struct {
        const char *id;
        double submit_s;
    } want[] = { { "y1", 0 }, { "x1", 1 }, { "x2", 2 }, { "y2", 2 }, { "y3", 2 }, { "x3", 2.5 } };
    struct opened o;
    struct job_row row;
    (void)state;
    open_with(&o, HEAD "x1,1,7,1\nx2,2,7,1\nx3,2.5,7,1\n", HEAD "y1,0,5,2\ny2,4,5,2\ny3,4,5,2\n");
    assert_int_equal(o.rc, 0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal(source_next(o.source, &row, &o.e), 1);
        assert_int_equal(row.id_len, 2);
        assert_memory_equal(row.id, want[i].id, 2);
        assert_close(simtime_s(row.submit), want[i].submit_s, 1e-15); /* load 2 halves the times */
        /* and nothing else */
        assert_int_equal(row.duration / SIM_SECOND, row.id[0] == 'x' ? 7 : 5);
    }
    assert_int_equal(source_next(o.source, &row, &o.e), 0);
    assert_int_equal(source_next(o.source, &row, &o.e), 0);
    fini(&o);
}

/* Under load 2 a job that comes at 4 s comes at 2 s; what was due 10 s later is due 10 s later. */
static void a_deadline_moves_with_its_job(void **state)
{
    struct opened o;
    struct job_row row;
    (void)state;
    open_with(&o, HEAD "x,9,1,1\n",
              "job_id,submit_s,duration_s,gpus,deadline_s\ny,4,5,1,14\nz,6,5,1,\n");
    assert_int_equal(source_next(o.source, &row, &o.e), 1);
    assert_int_equal(row.submit, 2 * SIM_SECOND);
    assert_int_equal(row.deadline, 12 * SIM_SECOND);
    assert_int_equal(source_next(o.source, &row, &o.e), 1);
    assert_true(row.deadline == JOB_NO_TIME);
    fini(&o);
}

static void a_bad_row_in_the_middle(void **state)
{
    struct opened o;
    struct job_row row;
    (void)state;
    open_with(&o, HEAD "x1,1,7,1\nx2,2,oops,1\n", HEAD "y1,0,5,2\n");
    assert_int_equal(source_next(o.source, &row, &o.e), 1);
    assert_int_equal(source_next(o.source, &row, &o.e), 1);
    assert_int_equal(source_next(o.source, &row, &o.e), ERR_INPUT);
    assert_contains(o.e.where, "x.csv:3:6");
    fini(&o);
}

static void opening_what_is_not_there(void **state)
{
    struct opened o;
    (void)state;
    open_with(&o, HEAD, HEAD "y1,0,5,2\n"); /* no job at all */
    assert_int_equal(o.rc, ERR_INPUT);
    assert_contains(o.e.where, "x.csv");
    fini(&o);
    open_with(&o, "nonsense\n", HEAD "y1,0,5,2\n");
    assert_int_equal(o.rc, ERR_INPUT);
    fini(&o);
    source_close(NULL);
}

/* The caller's own complaint about a row names its file and line. */
static void row_errors(void **state)
{
    struct opened o;
    struct job_row row;
    (void)state;
    open_with(&o, HEAD "x1,1,7,1\n", HEAD "y1,0,5,2\n");
    assert_int_equal(source_next(o.source, &row, &o.e), 1);
    assert_int_equal(source_row_error(o.source, "gpus", &o.e, "too odd"), ERR_INPUT);
    assert_contains(o.e.where, "y.csv:2");
    assert_contains(o.e.msg, "too odd");
    fini(&o);
}

static void load_beyond_the_clock(void **state)
{
    struct opened o;
    struct job_row row;
    struct diag d;
    static const char *const set[] = { "work.y.load=0.001" };
    const struct sim_file files[] = { { "x.csv", HEAD "x1,1,7,1\n" },
                                      { "y.csv", HEAD "y1,0,5,2\ny2,9200000000,1,1\n" },
                                      { 0 } };
    (void)state;
    o = (struct opened){ .names = symtab_create() };
    diag_init(&d);
    assert_int_equal(scenario_load(&o.s, sim_write(two, NULL, files), set, 1, &d, &o.e), 0);
    diag_fini(&d);
    assert_int_equal(source_open(&o.source, &o.s, 0, o.names, &o.e), 0);
    assert_int_equal(source_next(o.source, &row, &o.e), 1);
    assert_int_equal(source_next(o.source, &row, &o.e), ERR_INPUT);
    assert_contains(o.e.where, "y.csv:3");
    assert_contains(o.e.msg, "load");
    fini(&o);
}

/* The same from memory: rows, the order of the names, and where a complaint points. */
static void from_memory(void **state)
{
    static const char head[] = "job_id,submit_s,user,duration_s,gpus,profile,group,gpu_allowed\n";
    char x[600], y[600];
    struct opened a, b;
    struct job_row p, q;
    (void)state;
    snprintf(x, sizeof x, "%s%s", head,
             "x1,1,ann,7,1,p1,g,t4|l4\nx2,2,bob,7,1,,g,\nx3,2.5,ann,7,1,p2,,l4\n");
    snprintf(y, sizeof y, "%s%s", head,
             "y1,0,zoe,5,2,p2,h,\ny2,4,ann,5,2,,g,\ny3,4,yan,5,2,p3,k,\n");
    open_with(&a, x, y);
    fini(&a);
    open_with(&a, x, y);
    struct diag d;
    b = (struct opened){ .names = symtab_create() };
    diag_init(&d);
    const struct sim_file files[] = { { "x.csv", x }, { "y.csv", y }, { 0 } };
    assert_int_equal(scenario_load(&b.s, sim_write(two, NULL, files), NULL, 0, &d, &b.e), 0);
    diag_fini(&d);
    struct trace_rows *rows[] = { trace_rows_load(b.s.work[0].trace, 1 << 20),
                                  trace_rows_load(b.s.work[1].trace, 1 << 20) };
    b.s.rows = (const struct trace_rows *const *)rows;
    assert_int_equal(trace_rows_count(rows[0]), 3);
    assert_int_equal(source_open(&b.source, &b.s, 0, b.names, &b.e), 0);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(source_next(a.source, &p, &a.e), 1);
        assert_int_equal(source_next(b.source, &q, &b.e), 1);
        assert_int_equal(p.id_len, q.id_len);
        assert_memory_equal(p.id, q.id, p.id_len);
        assert_true(p.submit == q.submit && p.duration == q.duration &&
                    p.gpus_milli == q.gpus_milli);
        assert_int_equal(p.user, q.user);
        assert_int_equal(p.group, q.group);
        assert_int_equal(p.profile, q.profile);
        assert_int_equal(p.gpu_allowed, q.gpu_allowed);
    }
    assert_int_equal(source_row_error(a.source, "gpus", &a.e, "too odd"), ERR_INPUT);
    assert_int_equal(source_row_error(b.source, "gpus", &b.e, "too odd"), ERR_INPUT);
    assert_string_equal(a.e.msg, b.e.msg);
    assert_non_null(strstr(b.e.where, "x.csv:4"));
    assert_int_equal(source_next(a.source, &p, &a.e), 0);
    assert_int_equal(source_next(b.source, &q, &b.e), 0);
    assert_int_equal(symtab_count(a.names), symtab_count(b.names));
    for (sym s = 0; s < symtab_count(a.names); s++)
        assert_string_equal(symtab_name(a.names, s), symtab_name(b.names, s));
    fini(&a);
    fini(&b);
    trace_rows_free(rows[0]);
    trace_rows_free(rows[1]);
}

/* What does not fit, or has a fault, is not kept: whoever runs it reads the file, and its
 * errors. */
static void not_in_memory(void **state)
{
    (void)state;
    const char *good = temp_file(".csv", HEAD "a,0,1,1\nb,1,1,1\n");
    const char *bad = temp_file(".csv", HEAD "a,0,1,1\nb,1,x,1\n");
    const char *empty = temp_file(".csv", HEAD);
    assert_null(trace_rows_load(good, 1000)); /* the least block is larger */
    assert_null(trace_rows_load(bad, 1 << 20));
    assert_null(trace_rows_load(empty, 1 << 20));
    assert_null(trace_rows_load("/nowhere/trace.csv", 1 << 20));
    struct trace_shelf *shelf = trace_shelf_create(0);
    const struct trace_rows *rows = trace_shelf_get(shelf, good);
    assert_non_null(rows);
    assert_int_equal(trace_rows_count(rows), 2);
    assert_true(trace_rows_bytes(rows) >= 2 * sizeof(struct job_row));
    assert_ptr_equal(trace_shelf_get(shelf, good), rows); /* once */
    assert_null(trace_shelf_get(shelf, bad));
    const char *asked = temp_file(".csv", "arrival_s,size\n0,1\n");
    assert_int_equal(trace_shelf_requests(shelf, asked)->n, 1);
    assert_ptr_equal(trace_shelf_requests(shelf, asked), trace_shelf_requests(shelf, asked));
    assert_null(trace_shelf_get(shelf, asked)); /* no jobs */
    assert_null(trace_shelf_requests(shelf, good));
    trace_shelf_destroy(shelf);
    shelf = trace_shelf_create(1000);
    assert_null(trace_shelf_get(shelf, good));
    trace_shelf_destroy(shelf);
    trace_shelf_destroy(NULL);
    trace_rows_free(NULL);
    trace_cursor_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_memory),
        cmocka_unit_test(not_in_memory),
        cmocka_unit_test(merged_by_time),
        cmocka_unit_test(a_bad_row_in_the_middle),
        cmocka_unit_test(opening_what_is_not_there),
        cmocka_unit_test(row_errors),
        cmocka_unit_test(load_beyond_the_clock),
        cmocka_unit_test(a_deadline_moves_with_its_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
