/* Request shapes: counted once for jobs that look alike, carried to other cards, rejected for the
 * reason that holds - and only when no empty fleet could serve them. */
#include "tests/support/simulate.h"

#include "engine/cluster.h"
#include "engine/shape.h"
#include "model/trace.h"

#include <stdio.h>
#include <string.h>

#define TRACE "job_id,submit_s,duration_s,gpus\na,0,1,1\n"
#define GIB   (UINT64_C(1) << 30)

static const char frame[] =
    "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ %s ],"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
    "  'profiles': { 'half': { 'host': 0.5, 'compute': 0.25, 'memory': 0.25, 'precision': 'fp32',"
    "                          'launches_per_s': 100 },"
    "                'fp4': { 'host': 0, 'compute': 1, 'memory': 0, 'precision': 'fp4' } },"
    "  'schedule': { %s }, 'policies': [ { 'name': 'p', 'share': { %s } } ] }";

struct table {
    struct runner run;
    struct symtab *names;
    struct shape_table *t;
};

static void open_table(struct table *x, const char *fleet, const char *schedule, const char *share)
{
    char text[2500];
    snprintf(text, sizeof text, frame, fleet, schedule, share);
    sim_load(&x->run, sim_write(text, TRACE, NULL));
    x->names = symtab_create();
    x->t = shape_table_create(&x->run.plan[0], x->names);
}

static void close_table(struct table *x)
{
    shape_table_destroy(x->t);
    symtab_destroy(x->names);
    runner_fini(&x->run);
}

static struct job_row row_of(int32_t gpus_milli)
{
    struct job_row row;
    job_row_init(&row);
    row.gpus_milli = gpus_milli;
    return row;
}

static void counted_once(void **state)
{
    struct table x;
    struct unknown_name why;
    (void)state;
    open_table(&x, "{ 'name': 'a', 'gpu': 't4' }", "", "'kind': 'whole'");
    struct job_row one = row_of(1000), two = row_of(2000);
    struct shape *a = shape_of(x.t, &one, &why);
    one.submit = 99; /* when and how long do not make another shape */
    one.duration = 5;
    assert_ptr_equal(shape_of(x.t, &one, &why), a);
    struct shape *b = shape_of(x.t, &two, &why);
    assert_ptr_not_equal(a, b);
    assert_int_equal(a->jobs, 2);
    const struct shape *often[3];
    assert_int_equal(shape_frequent(x.t, often, 2), 2);
    assert_ptr_equal(often[0], a);
    assert_ptr_equal(often[1], b);
    assert_int_equal(shape_frequent(x.t, often, 1), 1);
    assert_ptr_equal(often[0], a);
    shape_drop(x.t, a);
    shape_drop(x.t, a);
    assert_int_equal(a->jobs, 0);
    assert_int_equal(a->submitted, 2); /* few shapes are kept: their frequency counts */
    shape_drop(x.t, b);
    shape_table_destroy(NULL);
    close_table(&x);
}

/* A hundred thousand shapes come and go: the table does not keep them all. */
static void memory_follows_the_jobs(void **state)
{
    struct table x;
    struct unknown_name why;
    (void)state;
    open_table(&x, "{ 'name': 'a', 'gpu': 't4' }", "", "'kind': 'whole'");
    const struct shape *often[32];
    for (uint64_t i = 0; i < 100000; i++) {
        struct job_row row = row_of(1000);
        row.gpu_mem_bytes = i;
        shape_drop(x.t, shape_of(x.t, &row, &why));
    }
    assert_int_equal(shape_frequent(x.t, often, 32), 32);
    close_table(&x);
}

/* compute scales with the peak at its precision, memory with bandwidth, host not at all. */
static void to_another_card(void **state)
{
    struct table x;
    struct unknown_name why;
    (void)state;
    open_table(&x, "{ 'name': 'a', 'gpu': 'a100-sxm4-80gb' }", "", "'kind': 'whole'");
    const struct gpu_catalogue *gpus = x.run.world.gpus;
    const struct gpu_spec *t4 = gpu_find(gpus, "t4", NULL),
                          *a100 = gpu_find(gpus, "a100-sxm4-80gb", NULL);
    struct job_row row = row_of(1000);
    row.profile = symtab_addz(x.names, "half");
    row.gpu_model = symtab_addz(x.names, "t4");
    const struct shape *s = shape_of(x.t, &row, &why);
    const double compute = 0.25 * t4->peak[PREC_fp32].dense_ops / a100->peak[PREC_fp32].dense_ops;
    const double memory = 0.25 * t4->mem_Bps / a100->mem_Bps;
    const double time = 0.5 + compute + memory;
    assert_true(s->fit[0].feasible && time < 1);
    assert_close(s->fit[0].transfer, time, 1e-12);
    assert_close(s->fit[0].sig.host, 0.5 / time, 1e-12);
    assert_close(s->fit[0].sig.compute, compute / time, 1e-12);
    assert_close(s->fit[0].sig.launches_per_s, 100 / time, 1e-12);
    assert_close(s->sig.host, 0.5, 0); /* on the recorded card nothing changes */
    row.gpu_model = 0;
    s = shape_of(x.t, &row, &why);
    assert_close(s->fit[0].transfer, 1, 0);
    row.gpu_model = symtab_addz(x.names, "a100-sxm4-80gb");
    s = shape_of(x.t, &row, &why);
    assert_close(s->fit[0].transfer, 1, 0);
    row.profile = symtab_addz(x.names, "fp4"); /* neither card states fp4 */
    row.gpu_model = symtab_addz(x.names, "t4");
    s = shape_of(x.t, &row, &why);
    assert_true(s->rejected);
    assert_contains(s->reason, "precision");
    close_table(&x);
}

static void names_that_do_not_exist(void **state)
{
    struct table x;
    struct unknown_name why;
    (void)state;
    open_table(&x, "{ 'name': 'a', 'gpu': 't4' }", "", "'kind': 'whole'");
    struct job_row row = row_of(1000);
    row.profile = symtab_addz(x.names, "hal");
    assert_null(shape_of(x.t, &row, &why));
    assert_contains(why.why, "hal");
    assert_contains(why.why, "did you mean \"half\"?");
    row.profile = 0;
    row.gpu_model = symtab_addz(x.names, "t5");
    assert_null(shape_of(x.t, &row, &why));
    assert_contains(why.why, "t5");
    assert_string_equal(why.column, "gpu_model");
    row.gpu_model = 0;
    row.gpu_allowed = symtab_addz(x.names, "l4|a30");
    assert_true(shape_of(x.t, &row, &why)->rejected);
    row.gpu_allowed = symtab_addz(x.names, "l4|t4");
    assert_false(shape_of(x.t, &row, &why)->rejected);
    close_table(&x);
}

/* Whatever is not rejected can be placed on the empty fleet, and what is rejected cannot: the
 * promise that nobody waits for ever. */
static void rejected_means_never(void **state)
{
    static const struct {
        const char *fleet, *schedule, *share;
    } kinds[] = {
        { "'nodes': 3, 'gpus_per_node': 4, 'cpu_cores': 8, 'host_memory': '64 GiB'", "",
          "'kind': 'whole'" },
        { "'nodes': 3, 'gpus_per_node': 4, 'cpu_cores': 8, 'host_memory': '64 GiB'",
          "'gang': 'any'", "'kind': 'whole'" },
        { "'nodes': 3, 'gpus_per_node': 4, 'cpu_cores': 8", "", "'kind': 'remote'" },
        { "'nodes': 3, 'gpus_per_node': 4, 'cpu_cores': 8", "", "'kind': 'mps', 'slots': 2" },
        { "'nodes': 3, 'gpus_per_node': 4, 'cpu_cores': 8", "", "'kind': 'intercept'" },
        { "'nodes': 3, 'gpus_per_node': 4, 'cpu_cores': 8", "", "'kind': 'mig'" },
        { "'nodes': 3, 'gpus_per_node': 4, 'cpu_cores': 8", "",
          "'kind': 'mig', 'layout': 'static', 'slices': [ { 'cards': 3, 'slices': ['1g.10gb'] },"
          " { 'cards': 3, 'slices': 'off' }, { 'cards': 1, 'slices': ['3g.40gb'] } ]" },
        { "'nodes': 3, 'gpus_per_node': 4, 'cpu_cores': 8", "'gang': 'any'",
          "'kind': 'mig', 'layout': 'static', 'slices': [ { 'cards': 3, 'slices': ['1g.10gb'] },"
          " { 'cards': 3, 'slices': 'off' }, { 'cards': 1, 'slices': ['3g.40gb'] } ]" },
        { "'nodes': 3, 'gpus_per_node': 2", "",
          "'kind': 'mig', 'layout': 'static', 'slices': [ { 'cards': 1, 'slices': ['1g.10gb'] },"
          " { 'cards': 5, 'slices': 'off' } ]" },
    };
    static const int32_t gpus[] = { 0,    100,  400,  1000,  2000,  3000,
                                    4000, 5000, 8000, 11000, 12000, 13000 };
    uint64_t seed = test_seed();
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct table x;
        char fleet[400];
        struct unknown_name why;
        struct pick pick = { 0 };
        int served = 0, rejected = 0;
        snprintf(fleet, sizeof fleet, "{ 'name': 'a', 'gpu': 'a100-sxm4-80gb', %s }",
                 kinds[k].fleet);
        open_table(&x, fleet, kinds[k].schedule, kinds[k].share);
        const struct plan *p = &x.run.plan[0];
        struct cluster *c = cluster_create(p);
        for (int i = 0; i < 600; i++) {
            struct job_row row = row_of(gpus[test_random(&seed) % 12]);
            row.slots = test_random(&seed) % 4 ? JOB_NO_INT : 3;
            if (test_random(&seed) % 2) row.cpus_milli = (int32_t)(test_random(&seed) % 40) * 1000;
            if (test_random(&seed) % 2) row.mem_bytes = (test_random(&seed) % 300) * GIB + 1;
            if (test_random(&seed) % 2) row.gpu_mem_bytes = (test_random(&seed) % 100) * GIB;
            const struct shape *s = shape_of(x.t, &row, &why);
            assert_non_null(s);
            rejected += s->rejected;
            served += !s->rejected;
            assert_int_equal(s->rejected, s->reason != NULL);
            struct demand d = s->fit[0].demand;
            if (s->rejected && (strstr(s->reason, "memory than") && !strstr(s->reason, "host")))
                continue;
            if (s->rejected &&
                (d.units > p->group[0].capacity || strstr(s->reason, "slots") ||
                 strstr(s->reason, "large enough") || strstr(s->reason, "several slices")))
                continue;
            const struct place_request r = {
                .demand = &d,
                .any_node = p->gang == GANG_ANY || p->share->pooled,
                .cpus_milli = row.cpus_milli,
                .host_bytes = row.mem_bytes,
            };
            const bool fits = p->place->pick(c, &r, &pick);
            if (fits == s->rejected)
                fail_msg("%s %s: %d gpus, %d cpus: %s, but %s", kinds[k].share, kinds[k].schedule,
                         row.gpus_milli, row.cpus_milli, s->rejected ? s->reason : "accepted",
                         fits ? "it fits" : "it does not fit");
        }
        assert_true(served > 50 && rejected > 50);
        vec_fini(&pick.card);
        cluster_destroy(c);
        close_table(&x);
    }
}

/* 2^60 bytes and one more look the same as doubles. */
static void host_memory_is_compared_exactly(void **state)
{
    struct table x;
    struct unknown_name why;
    (void)state;
    open_table(&x, "{ 'name': 'a', 'gpu': 't4', 'nodes': 2, 'host_memory': '800000 TB' }", "",
               "'kind': 'whole'");
    struct job_row row = row_of(1000);
    row.mem_bytes = UINT64_C(800000000000000000);
    assert_false(shape_of(x.t, &row, &why)->rejected);
    row.mem_bytes++;
    assert_true(shape_of(x.t, &row, &why)->rejected);
    close_table(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_once),         cmocka_unit_test(memory_follows_the_jobs),
        cmocka_unit_test(to_another_card),      cmocka_unit_test(names_that_do_not_exist),
        cmocka_unit_test(rejected_means_never), cmocka_unit_test(host_memory_is_compared_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
