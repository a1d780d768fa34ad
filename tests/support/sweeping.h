/* tests/support/sweeping.h - a small scenario with generated work to sweep, and the rows that come
 * of it.
 *
 * For one test program each: `arena` is what main() made. */
#ifndef GPUSIM_TESTS_SWEEPING_H
#define GPUSIM_TESTS_SWEEPING_H

#include "support/simulate.h"

#include "base/mem.h"
#include "whatif/sweep_table.h"

#include <stdlib.h>
#include <string.h>

#define SCENARIO(head, work)                                                                       \
    "{'format': 'gpusim-scenario/1', 'name': 'small', 'horizon': '200 s'," head                    \
    " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 1}],"              \
    " 'work': [" work "],"                                                                         \
    " 'policies': [{'name': 'fifo', 'share': {'kind': 'whole'}},"                                  \
    " {'name': 'two', 'share': {'kind': 'timeslice', 'slots': 2}}]}"
#define GENERATED SCENARIO("", "{'name': 'w', 'kind': 'generate', 'spec': 'spec.json'}")
#define TRACE     SCENARIO("", "{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}")

static const struct sim_file files[] = {
    { "spec.json",
      "{'format': 'gpusim-generate/1', 'name': 's', 'horizon': '1 d', 'classes': [{'name': 'c',"
      " 'arrivals': {'kind': 'poisson', 'gap': '2 s'},"
      " 'duration': {'kind': 'exponential', 'mean': '3 s'}, 'gpus': 1}]}" },
    { NULL, NULL },
};
static const char trace[] = "job_id,submit_s,duration_s,gpus\na,0,10,1\nb,1,10,1\n";
static const char *const nodes[] = { "fleet.pool.nodes=2..4" };

static struct arena *arena;
static struct err err;

static inline const char *new_scenario(const char *text)
{
    return arena_strdup(arena, sim_write(text, trace, files)); /* sim_write() reuses its buffer */
}

static inline const char *new_dir(void)
{
    return arena_strdup(arena, temp_dir());
}

static inline struct sweep_options options(const char *scenario, const char *dir)
{
    return (struct sweep_options){ .scenario = scenario,
                                   .vary = nodes,
                                   .n_vary = 1,
                                   .replications = 3,
                                   .threads = 1,
                                   .dir = dir,
                                   .shard = { 1, 1 } };
}

/* Rows as they come, kept in the arena. */
struct rows {
    struct sweep_table table;
    struct sweep_row row[32];
    size_t n;
};

static inline int keep_rows(void *ctx, const struct sweep_row *row, size_t n, struct err *e)
{
    struct rows *to = ctx;
    const size_t size = 2 * to->table.n_metrics * sizeof(struct interval);
    (void)e;
    for (size_t i = 0; i < n; i++) {
        struct sweep_row *x = &to->row[to->n++];
        assert_true(to->n <= 32);
        *x = row[i];
        x->policy = arena_strdup(arena, row[i].policy);
        x->error = arena_strdup(arena, row[i].error);
        x->metric = arena_alloc(arena, size);
        memcpy(x->metric, row[i].metric, size); /* `versus` lies behind it */
        x->versus = x->metric + to->table.n_metrics;
    }
    return 0;
}

/* Plan and run; how many runs there were to do. */
static inline size_t sweep(const struct sweep_options *o, struct rows *t)
{
    struct sweep s;
    err = (struct err){ 0 };
    if (sweep_plan(&s, o, &err) != 0) fail_msg("%s: %s", err.where, err.msg);
    const size_t todo = s.n_todo;
    if (sweep_run(&s, &err) != 0) fail_msg("%s", err.msg);
    struct sweep_table *table = &t->table;
    t->n = 0;
    if (sweep_table_open(table, s.manifest, &o->dir, 1, arena, &err) != 0) fail_msg("%s", err.msg);
    assert_int_equal(sweep_table_each(table, NULL, keep_rows, t, &err), 0);
    assert_int_equal(sweep_table_write(table, o->dir, NULL, NULL, &err), 0);
    sweep_fini(&s);
    return todo;
}

static inline int refuse(const struct sweep_options *o)
{
    struct sweep s;
    err = (struct err){ 0 };
    const int rc = sweep_plan(&s, o, &err);
    sweep_fini(&s);
    return rc;
}

static inline void same_files(const char *a, const char *b)
{
    static const char *const names[] = { "sweep.csv", "sweep.json" };
    for (size_t i = 0; i < 2; i++) {
        char *x = read_file(arena_printf(arena, "%s/%s", a, names[i]));
        char *y = read_file(arena_printf(arena, "%s/%s", b, names[i]));
        assert_string_equal(x, y);
        free(x);
        free(y);
    }
}

static inline size_t metric(const struct rows *t, const char *name)
{
    for (size_t m = 0; m < t->table.n_metrics; m++)
        if (strcmp(t->table.metric[m], name) == 0) return m;
    fail_msg("no figure %s", name);
    return 0;
}

#endif
