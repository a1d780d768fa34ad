/* gpusim sweep: every combination of some values, each replayed several times; resumable, and split
 * over the tasks of a job array without any talk between them. */
#include "base/log.h"
#include "base/thread.h"
#include "cli/command.h"
#include "cli/sweep_print.h"
#include "whatif/sweep_table.h"

#include <math.h>
#include <string.h>

struct options {
    struct opt_list vary, set, policy, metric;
    int64_t replications;
    unsigned threads; /* 0: as many as there are cores */
    const char *out, *shard, *design;
    bool dry_run, plots, quiet;
    int format, lang;
};

static const struct opt opts[] = {
    { "vary", 0, OPT_LIST, offsetof(struct options, vary), "PATH=V1,V2,..",
      "values to go through: a list, a..b, a..b:STEP, a..b:xFACTOR, a..b:logCOUNT", NULL },
    { "design", 0, OPT_TEXT, offsetof(struct options, design), "DESIGN",
      "how the values meet: cross (default), zip, lhs:N, lhs:N:SEED or sobol:N; the last two take "
      "any numbers of ranges, a..b:any and a..b:anylog (whole ones: a..b)",
      NULL },
    { "replications", 'r', OPT_COUNT, offsetof(struct options, replications), "R",
      "repeat each point with other random numbers (default 1)", NULL },
    { "jobs", 'j', OPT_CORES, offsetof(struct options, threads), "N",
      "runs at a time (default: cores)", NULL },
    { "output", 'o', OPT_TEXT, offsetof(struct options, out), "DIR",
      "results; a sweep that was stopped goes on there (default out/<scenario name>-sweep)", NULL },
    { "shard", 0, OPT_TEXT, offsetof(struct options, shard), "I/N",
      "only part I of N (default: from SLURM_ARRAY_TASK_ID and _COUNT, or JOB_COMPLETION_INDEX and "
      "_COUNT)",
      NULL },
    { "dry-run", 'n', OPT_FLAG, offsetof(struct options, dry_run), NULL,
      "say how many runs and about how long; write nothing", NULL },
    { "plots", 0, OPT_FLAG, offsetof(struct options, plots), NULL,
      "draw curves (one axis), heat maps (two) and cost against service level into DIR/plots",
      NULL },
    { "lang", 0, OPT_CHOICE, offsetof(struct options, lang), "LANG", "language of the pictures",
      command_langs },
    { "set", 0, OPT_LIST, offsetof(struct options, set), "PATH=VALUE", "change all points", NULL },
    { "policy", 0, OPT_LIST, offsetof(struct options, policy), "NAME", "only this policy", NULL },
    { "metric", 0, OPT_LIST, offsetof(struct options, metric), "PATH",
      "one more figure of the results in the tables, such as jobs.wait_s.p999", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT",
      "of the table on standard output", out_format_names },
    { "quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, "warnings only", NULL },
    { 0 },
};

static void duration(char *buf, size_t size, double s)
{
    if (s < 100)
        snprintf(buf, size, "%.1f s", s);
    else if (s < 6000)
        snprintf(buf, size, "%.0f min", s / 60);
    else
        snprintf(buf, size, "%.1f h", s / 3600);
}

static int dry_run(struct sweep *s, int format, struct err *e)
{
    double wait_s;
    char text[40];
    const int rc = sweep_estimate(s, &wait_s, e);
    if (rc != 0) return rc;
    if (format == FORMAT_JSON) {
        struct strbuf b = { 0 };
        json_t *v = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "format",
                              "gpusim-sweep-plan/1", "points", (json_int_t)s->grid.n_points,
                              "replications", (json_int_t)s->o.replications, "runs",
                              (json_int_t)s->n_runs, "shard", (json_int_t)s->o.shard.index,
                              "shards", (json_int_t)s->o.shard.count, "runs_of_shard",
                              (json_int_t)s->n_mine, "done", (json_int_t)(s->n_mine - s->n_todo),
                              "to_do", (json_int_t)s->n_todo, "estimate_s", json_num(wait_s));
        json_write(v, &b);
        json_decref(v);
        fwrite(b.s, 1, b.len, stdout);
        strbuf_fini(&b);
        return 0;
    }
    if (format == FORMAT_CSV) {
        printf("points,replications,runs,shard,shards,runs_of_shard,done,to_do,estimate_s\n"
               "%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%.3g\n",
               s->grid.n_points, s->o.replications, s->n_runs, s->o.shard.index, s->o.shard.count,
               s->n_mine, s->n_mine - s->n_todo, s->n_todo, wait_s);
        return 0;
    }
    duration(text, sizeof text, wait_s);
    printf("points         %zu\nreplications   %zu\nruns           %zu\n", s->grid.n_points,
           s->o.replications, s->n_runs);
    if (s->o.shard.count > 1)
        printf("of this shard  %zu (%zu/%zu)\n", s->n_mine, s->o.shard.index, s->o.shard.count);
    printf(
        "done           %zu\nto do          %zu\nestimate       %s on %u thread%s, from timing %s\n",
        s->n_mine - s->n_todo, s->n_todo, text, s->o.threads, s->o.threads == 1 ? "" : "s",
        s->n_todo > 1 ? "two of them"
        : s->n_todo   ? "it"
                      : "nothing");
    return 0;
}

/* A shard of a large sweep makes no tables: in a folder that all share it would read what everybody
 * has done, 10,000 shards of a million runs each half a million files. */
enum { MOST_RUNS_IN_TABLES_OF_A_SHARD = 10000 };

static int report_shard(const struct sweep *s)
{
    log_info("%zu runs are in %s/runs; when all shards have ended: gpusim merge", s->n_mine,
             s->dir);
    if (s->n_failed > 0) log_warn("%zu of %zu runs failed", s->n_failed, s->n_mine);
    return s->n_failed > 0 ? 1 : 0;
}

/* 0, or 1 when a run failed. */
static int report(const struct sweep *s, const struct options *o, struct err *e)
{
    struct arena *a = arena_create();
    struct sweep_table t = { 0 };
    struct strbuf text = { 0 };
    int rc = sweep_table_open(&t, s->manifest, &s->dir, 1, a, e);
    if (rc == 0) rc = sweep_table_write(&t, s->dir, NULL, &text, e);
    if (rc == 0) rc = sweep_print(s->dir, o->format, &text, e);
    if (rc == 0) {
        log_info("wrote %s/sweep.csv and sweep.json", s->dir);
        if (t.n_missing > 0 && s->o.shard.count > 1)
            log_info("%zu of %zu runs belong to other shards; join them with `gpusim merge`",
                     t.n_missing, t.n_runs);
        if (t.error)
            log_warn("%zu of %zu runs failed; point %zu: %s", t.n_failed, t.n_runs, t.error_point,
                     t.error);
        rc = t.n_failed > 0 ? 1 : 0;
        if (o->plots) {
            const int drawn = command_draw("plot", s->dir, o->lang, e);
            if (drawn != 0) rc = drawn;
        }
    }
    sweep_table_fini(&t);
    strbuf_fini(&text);
    arena_destroy(a);
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { .replications = 1 };
    struct sweep s = { 0 };
    struct shard shard;
    const char *from;
    char **operand;
    int n;
    int rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc != 0) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (o.quiet) log_set_level(LOG_QUIET);
    if (n != 1)
        rc = err_set(e, ERR_USAGE, NULL, "expected one scenario, found %d operands", n);
    else if (o.vary.n == 0 && o.replications < 2)
        rc =
            err_set(e, ERR_USAGE, NULL, "nothing to repeat or vary: --vary fleet.a100.nodes=2,4,8");
    else if (o.replications < 1)
        rc = err_set(e, ERR_USAGE, NULL, "--replications: expected at least 1");
    if (rc == 0) rc = shard_parse(&shard, o.shard, &from, e);
    if (rc != 0) goto out;
    const struct sweep_options so = { .scenario = operand[0],
                                      .vary = o.vary.v,
                                      .n_vary = o.vary.n,
                                      .design = o.design,
                                      .set = o.set.v,
                                      .n_set = o.set.n,
                                      .only = o.policy.v,
                                      .n_only = o.policy.n,
                                      .metric = o.metric.v,
                                      .n_metric = o.metric.n,
                                      .replications = (size_t)o.replications,
                                      .threads = o.threads > 0 ? o.threads : thread_cores(),
                                      .dir = o.out,
                                      .shard = shard };
    rc = sweep_plan(&s, &so, e);
    if (rc != 0) goto out;
    if (from && shard.count > 1) log_info("shard %zu/%zu (%s)", shard.index, shard.count, from);
    if (!s.random && o.replications > 1)
        log_warn("no work is generated: replications of a trace are all alike, no intervals");
    if (o.dry_run) {
        rc = dry_run(&s, o.format, e);
        goto out;
    }
    if (s.n_mine > s.n_todo)
        log_info("%zu of %zu runs are there already", s.n_mine - s.n_todo, s.n_mine);
    rc = sweep_run(&s, e);
    if (rc == 0)
        rc = s.o.shard.count > 1 && s.n_runs > MOST_RUNS_IN_TABLES_OF_A_SHARD ? report_shard(&s)
                                                                              : report(&s, &o, e);
out:
    sweep_fini(&s);
    opt_fini(opts, &o);
    return rc;
}

const struct command cmd_sweep = {
    .name = "sweep",
    .args = "SCENARIO",
    .help = "replay every combination of some values, in parallel; resumable",
    .example = "gpusim sweep scenarios/mixed.json --vary fleet.a100.nodes=3..5 --replications 3",
    .opts = opts,
    .run = run,
};
