#include "tests/support/simulate.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/vec.h"
#include "metrics/collect.h"
#include "whatif/run_check.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

static void write_text(const char *dir, const char *name, const char *text, bool json)
{
    char *path = xasprintf("%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    if (json)
        for (const char *s = text; *s; s++) fputc(*s == '\'' ? '"' : *s, f);
    else
        fputs(text, f);
    assert_int_equal(fclose(f), 0);
    free(path);
}

const char *sim_write(const char *scenario, const char *trace, const struct sim_file *files)
{
    static char path[4096];
    const char *dir = temp_dir();
    write_text(dir, "scenario.json", scenario, true);
    if (trace) write_text(dir, "trace.csv", trace, false);
    for (; files && files->name; files++) write_text(dir, files->name, files->text, true);
    snprintf(path, sizeof path, "%s/scenario.json", dir);
    return path;
}

static size_t load(struct runner *r, const char *path, char *said, size_t size)
{
    struct diag d;
    struct err e = { 0 };
    diag_init(&d);
    gsl_set_error_handler_off();
    const int rc = runner_load(r, path, NULL, 0, NULL, 0, &d, &e);
    const size_t n = d.count + (rc != 0);
    snprintf(said, size, "%s: %s", d.count ? d.problem[0].where : e.where,
             d.count ? d.problem[0].msg : e.msg);
    diag_fini(&d);
    return n;
}

void sim_load(struct runner *r, const char *path)
{
    char said[600];
    if (load(r, path, said, sizeof said) > 0) fail_msg("%s", said);
}

size_t sim_problems(const char *scenario, const char *trace, const struct sim_file *files,
                    char *said, size_t size)
{
    struct runner r = { 0 };
    const size_t n = load(&r, sim_write(scenario, trace, files), said, size);
    runner_fini(&r);
    return n;
}

/* ---- rows ---- */

static char *read_streams(FILE **f, size_t n)
{
    struct strbuf b = { 0 };
    char buf[1 << 14];
    size_t got;
    strbuf_add(&b, "", 0);
    for (size_t i = 0; f && i < n; i++) {
        rewind(f[i]);
        while ((got = fread(buf, 1, sizeof buf, f[i])) > 0) strbuf_add(&b, buf, got);
    }
    return b.s;
}

/* Cut the next cell off *at. Only the text of a reason may be quoted, and it holds no quotes. */
static char *cell(char **at)
{
    char *from = *at;
    const bool quoted = *from == '"';
    if (quoted) from++;
    char *to = from + (quoted ? strcspn(from, "\"") : strcspn(from, ",\n"));
    *at = *to ? to + 1 : to;
    if (quoted && **at) (*at)++;
    *to = '\0';
    return from;
}

static double number(char **at)
{
    const char *s = cell(at);
    return *s ? strtod(s, NULL) : NAN;
}

static void read_jobs(struct simulated *s)
{
    VEC(struct sim_job) list = { 0 };
    char *at = s->cells = xasprintf("%s", s->jobs_csv);
    while (*at) {
        struct sim_job j = { 0 };
        j.policy = cell(&at);
        j.id = cell(&at);
        j.state = cell(&at);
        double *const figures[] = { &j.submit_s, &j.start_s,      &j.end_s,    &j.wait_s,
                                    &j.run_s,    &j.turnaround_s, &j.slowdown, &j.gpus };
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) *figures[i] = number(&at);
        j.cards = cell(&at);
        j.attempts = number(&at);
        j.cost_usd = number(&at);
        j.energy_kwh = number(&at);
        j.reason = cell(&at);
        j.klass = cell(&at);
        vec_push(&list, j);
    }
    s->job = list.v;
    s->n_jobs = list.n;
}

void simulate_with(struct simulated *s, const char *scenario, const char *trace,
                   const struct sim_file *files, unsigned threads)
{
    struct err e = { 0 };
    *s = (struct simulated){ 0 };
    const char *path = sim_write(scenario, trace, files);
    sim_load(&s->run, path);
    char *dir = xasprintf("%s", path);
    *strrchr(dir, '/') = '\0';
    const int rc = runner_run(&s->run, dir, threads, &e);
    free(dir);
    if (rc != 0) fail_msg("exit %d: %s: %s", -rc, e.where, e.msg);
    s->run.result.version = "test";
    s->jobs_csv = read_streams(s->run.jobs, s->run.n);
    s->series_csv = read_streams(s->run.series, s->run.n);
    struct strbuf b = { 0 };
    json_t *v = result_to_json(&s->run.result);
    json_write(v, &b);
    json_decref(v);
    s->result_json = b.s;
    read_jobs(s);
}

void simulate(struct simulated *s, const char *scenario, const char *trace)
{
    simulate_with(s, scenario, trace, NULL, 1);
}

void simulated_fini(struct simulated *s)
{
    runner_fini(&s->run);
    free(s->job);
    free(s->cells);
    free(s->jobs_csv);
    free(s->series_csv);
    free(s->result_json);
    *s = (struct simulated){ 0 };
}

const struct policy_result *sim_policy(const struct simulated *s, const char *policy)
{
    for (size_t i = 0; i < s->run.result.n_policies; i++)
        if (strcmp(s->run.result.policy[i].name, policy) == 0) return &s->run.result.policy[i];
    fail_msg("no policy %s", policy);
    return NULL;
}

const struct sim_job *sim_job_of(const struct simulated *s, const char *policy, const char *id)
{
    for (size_t i = 0; i < s->n_jobs; i++)
        if (strcmp(s->job[i].policy, policy) == 0 && strcmp(s->job[i].id, id) == 0)
            return &s->job[i];
    fail_msg("no job %s under %s", id, policy);
    return NULL;
}

double sim_charge_usd(const struct policy_result *p, const char *name)
{
    for (size_t i = 0; i < p->tco.n_charges; i++)
        if (strcmp(p->tco.charge[i].name, name) == 0) return p->tco.charge[i].usd;
    return 0;
}

void sim_policy_run(struct runner *r, size_t policy, const struct sink *more,
                    struct policy_result *out)
{
    struct collect *c = collect_create(&r->plan[policy]);
    struct sink sinks[2] = { collect_sink(c) };
    struct sim_totals totals = { 0 };
    struct err e = { 0 };
    if (more) sinks[1] = *more;
    const struct sim_options opt = { .sinks = sinks, .n_sinks = more ? 2 : 1 };
    int rc = sim_run(&r->plan[policy], &opt, &totals, &e);
    if (rc == 0) {
        collect_result(c, &totals, r->plan[policy].arena, out);
        rc = run_check(out, false, &e);
    }
    if (rc != 0) fail_msg("exit %d: %s: %s", -rc, e.where, e.msg);
    sim_totals_fini(&totals);
    collect_destroy(c);
}

/* ---- queueing models ---- */

double sim_exponential(gsl_rng *rng, double mean)
{
    return gsl_ran_exponential(rng, mean);
}

double sim_deterministic(gsl_rng *rng, double mean)
{
    (void)rng;
    return mean;
}

/* p, 1 - p with means mean / 2p and mean / 2(1 - p): cv^2 = 1 / (2p(1 - p)) - 1 = 4. */
double sim_hyperexponential(gsl_rng *rng, double mean)
{
    const double p = 0.5 * (1 + sqrt(1 - 2.0 / 5));
    const bool short_one = gsl_rng_uniform(rng) < p;
    return gsl_ran_exponential(rng, mean / (2 * (short_one ? p : 1 - p)));
}

char *sim_queue_trace(const struct sim_arrivals *a, uint64_t seed, uint64_t replication)
{
    struct strbuf b = { 0 };
    gsl_rng *arrivals = rng_create(seed, replication, "arrivals");
    gsl_rng *sizes = rng_create(seed, replication, "sizes");
    double t = 0;
    strbuf_addf(&b, "job_id,submit_s,duration_s,%s\n", a->head);
    for (size_t i = 0; i < a->n; i++) {
        t += gsl_ran_exponential(arrivals, 1 / a->rate);
        strbuf_addf(&b, "%zu,%.9f,%.9f,%s\n", i, t, a->size(sizes, a->mean_s), a->tail);
    }
    gsl_rng_free(arrivals);
    gsl_rng_free(sizes);
    return b.s;
}

struct sim_interval sim_interval_95(const double *x, size_t n)
{
    const double error = gsl_stats_sd(x, 1, n) / sqrt((double)n);
    return (struct sim_interval){ gsl_stats_mean(x, 1, n),
                                  gsl_cdf_tdist_Pinv(0.975, (double)n - 1) * error };
}

void sim_assert_agrees(const char *what, struct sim_interval i, double truth, double rel)
{
    print_message("%-34s %.6g +- %.2g, theory %.6g, off by %+.2f %%\n", what, i.mean, i.half, truth,
                  100 * (i.mean - truth) / truth);
    if (fabs(i.mean - truth) > i.half) fail_msg("%s: the interval misses the truth", what);
    if (fabs(i.mean - truth) > rel * truth) fail_msg("%s: off by more than %g", what, rel);
}

void sim_expect_starts(const char *scenario, const char *trace, const int start[], size_t n,
                       int run)
{
    struct simulated s;
    simulate(&s, scenario, trace);
    assert_int_equal(s.n_jobs, n);
    for (size_t i = 0; i < n; i++) {
        const size_t k = strtoul(s.job[i].id + 1, NULL, 10);
        if (s.job[i].start_s != start[k])
            fail_msg("run %d: job %zu starts at %g s on %s, the textbook says %d s", run, k,
                     s.job[i].start_s, s.job[i].cards, start[k]);
    }
    simulated_fini(&s);
}
