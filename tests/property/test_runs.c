/* test_runs.c - the invariants P01 to P14 of USERS.md on random small runs under every policy:
 * random fleets, mixes, schedules and policies, from a printed seed (GPUSIM_TEST_SEED). What the
 * engine checks of itself at the end of a run is checked here once more from outside, out of the
 * exported rows.
 *
 * Mutants: placement-ignores-node-limits, work-credited-twice, warm-up-ignored,
 * percentile-off-by-one, slots-counted-once, finish-a-microsecond-early. */
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- random scenarios ---- */

struct random_run {
    struct strbuf scenario, trace;
    int64_t *duration_ms; /* by job number; ids are j0, j1 ... */
    double *gpus, *mem_bytes;
    int *slots;
    double *cpus;
    int n_jobs, cards, per_node, cpu_cores;
    const char *gpu;
    bool warm, bounded;
    double warmup_s, horizon_s;
    long k; /* all times are multiplied by it */
};

struct shape_of_runs {
    bool single_card; /* one whole card a job, one node, fifo without backfill */
    bool drain, no_warmup, no_prices;
    bool faults;          /* cards, nodes and programs fail, the fleet changes */
    const char *policies; /* NULL: all of them */
    int extra_cards;
    long k;
    double usd; /* per card-hour; 0: 3 */
    int threads;
    bool probe;
};

static uint64_t below(uint64_t *random, uint64_t n)
{
    return test_random(random) % n;
}

static const char all_policies[] =
    "{'name': 'whole', 'share': {'kind': 'whole'}},"
    "{'name': 'remote', 'share': {'kind': 'remote'}},"
    "{'name': 'mig', 'share': {'kind': 'mig'}},"
    "{'name': 'timeslice', 'share': {'kind': 'timeslice', 'slots': 3}},"
    "{'name': 'reserve', 'share': {'kind': 'timeslice', 'slots': 4, 'memory': 'reserve', 'overhead': 0.05}},"
    "{'name': 'mps', 'share': {'kind': 'mps', 'slots': 4}},"
    "{'name': 'uncapped', 'share': {'kind': 'mps', 'slots': 3, 'cap': 1}},"
    "{'name': 'soft', 'share': {'kind': 'intercept'}},"
    "{'name': 'hard', 'share': {'kind': 'intercept', 'enforce': 'hard', 'unset_memory': 'card'}},"
    "{'name': 'planned', 'share': {'kind': 'mig', 'layout': 'planned', 'period': '2 min'}},"
    "{'name': 'oracle', 'share': {'kind': 'mig', 'layout': 'planned', 'period': '5 min',"
    " 'forecast': 'oracle'}}";

/* Policies without a time of their own, for scaling. */
static const char timeless[] =
    "{'name': 'whole', 'share': {'kind': 'whole'}},"
    "{'name': 'timeslice', 'share': {'kind': 'timeslice', 'slots': 3}},"
    "{'name': 'mps', 'share': {'kind': 'mps', 'slots': 4}},"
    "{'name': 'hard', 'share': {'kind': 'intercept', 'enforce': 'hard', 'startup': '0 s',"
    " 'startup_per_process': '0 s'}}";

static void add_profiles(struct strbuf *b, uint64_t *random)
{
    for (int i = 0; i < 4; i++) {
        const unsigned host = i ? (unsigned)below(random, 80) : 0;
        const unsigned compute = (unsigned)below(random, 100 - host + 1);
        strbuf_addf(
            b,
            "%s'p%d': {'host': 0.%02u, 'compute': %.2f, 'memory': %.2f, 'sm_width': %.2f, 'bw_width': %.2f,"
            " 'launches_per_s': %u, 'syncs_per_s': %u, 'kernel_us': %u, 'pcie': '%u MB/s'}",
            i ? ", " : "", i, host, compute / 100.0, (100 - host - compute) / 100.0,
            (double)(1 + below(random, 100)) / 100, (double)(1 + below(random, 100)) / 100,
            (unsigned)below(random, 20000), (unsigned)below(random, 500),
            1 + (unsigned)below(random, 200), (unsigned)below(random, 2000));
    }
}

static void add_time(struct strbuf *b, int64_t ms, long k)
{
    const long long scaled = (long long)ms * k;
    strbuf_addf(b, "%lld.%03lld", scaled / 1000, scaled % 1000);
}

static void add_job(struct random_run *r, uint64_t *random, const struct shape_of_runs *o, int i,
                    int64_t at_ms)
{
    static const char *const fractions[] = { "0.1", "0.125", "0.25", "0.3", "0.5", "0.75" };
    static const char *const lengths[] = { "training", "inference", "dev", "hpc", "" };
    struct strbuf *t = &r->trace;
    char gpus[16];
    const uint64_t kind = below(random, 20);
    if (o->single_card)
        snprintf(gpus, sizeof gpus, "1");
    else if (kind == 0)
        snprintf(gpus, sizeof gpus, "0");
    else if (kind < 13)
        snprintf(gpus, sizeof gpus, "%s", fractions[below(random, 6)]);
    else
        snprintf(gpus, sizeof gpus, "%d", 1 + (int)below(random, kind == 19 ? 5 : 2));
    r->duration_ms[i] = below(random, 30) ? (int64_t)(1 + below(random, 90000)) : 0;
    r->gpus[i] = atof(gpus);
    r->slots[i] = !o->single_card && below(random, 8) == 0 ? 2 : 1;
    r->mem_bytes[i] =
        below(random, 2) && !o->single_card ? (double)(1 + below(random, 22)) * 1e9 : NAN;
    r->cpus[i] = below(random, 3) && !o->single_card ? (double)(1 + below(random, 12)) : NAN;
    strbuf_addf(t, "j%d,", i);
    add_time(t, at_ms, r->k);
    strbuf_addc(t, ',');
    add_time(t, r->duration_ms[i], r->k);
    strbuf_addf(t, ",%s,", gpus);
    if (!isnan(r->mem_bytes[i])) strbuf_addf(t, "%.0f", r->mem_bytes[i]);
    strbuf_addc(t, ',');
    if (!isnan(r->cpus[i])) strbuf_addf(t, "%.0f", r->cpus[i]);
    strbuf_addf(t, ",u%u,%s,", (unsigned)below(random, 4), lengths[below(random, 5)]);
    if (below(random, 2)) strbuf_addf(t, "p%u", (unsigned)below(random, 4));
    strbuf_addc(t, ',');
    if (below(random, 3)) add_time(t, r->duration_ms[i] + (int64_t)below(random, 50000), r->k);
    strbuf_addf(t, ",%d\n", r->slots[i]);
}

static void make(struct random_run *r, uint64_t seed, const struct shape_of_runs *o)
{
    static const char *const cards[] = { "a100-sxm4-40gb", "a100-sxm4-80gb", "h100-sxm5-80gb",
                                         "a30" };
    uint64_t state = seed, *random = &state;
    int64_t at_ms = 0;
    *r = (struct random_run){ .k = o->k ? o->k : 1,
                              .n_jobs = 20 + (int)below(random, 80),
                              .gpu = cards[below(random, 4)] };
    const size_t n = (size_t)r->n_jobs + 1;
    r->duration_ms = xcalloc(n, sizeof *r->duration_ms);
    r->gpus = xcalloc(n, sizeof *r->gpus);
    r->mem_bytes = xcalloc(n, sizeof *r->mem_bytes);
    r->slots = xcalloc(n, sizeof *r->slots);
    r->cpus = xcalloc(n, sizeof *r->cpus);
    const int nodes = o->single_card ? 1 : 1 + (int)below(random, 3);
    r->per_node = 1 + (int)below(random, 4) + o->extra_cards;
    r->cards = nodes * r->per_node;
    r->cpu_cores = below(random, 2) && !o->single_card ? 16 : 0;
    r->bounded = below(random, 3) == 0 && !o->drain;
    r->warm = below(random, 3) == 0 && !o->no_warmup;
    const int gap = 500 + (int)below(random, 15000);
    r->horizon_s = (double)(r->n_jobs * gap / 2) / 1000;
    r->warmup_s = (double)(r->n_jobs * gap / 8) / 1000;
    strbuf_addf(
        &r->scenario,
        "{'format': 'gpusim-scenario/1', 'name': 'random', 'fleet': [{'name': 'f', 'gpu': '%s', 'nodes': %d,"
        " 'gpus_per_node': %d",
        r->gpu, nodes, r->per_node);
    if (r->cpu_cores)
        strbuf_addf(&r->scenario, ", 'cpu_cores': %d, 'host_memory': '256 GiB'", r->cpu_cores);
    if (o->faults)
        strbuf_addf(
            &r->scenario,
            ", 'capacity': [{'at': '%d s', 'do': 'drain', 'nodes': '0'}, {'at': '%d s', 'do': 'add'"
            ", 'nodes': '0'}, {'at': '%d s', 'do': 'fail', 'cards': '0'}, {'at': '%d s', 'do': 'add',"
            " 'cards': '0'}]",
            10 + (int)(seed % 50), 80 + (int)(seed % 70), 200, 250);
    strbuf_addz(&r->scenario,
                "}], 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}], 'profiles': {");
    add_profiles(&r->scenario, random);
    strbuf_addf(&r->scenario, "}, 'policies': [%s], 'schedule': {'backfill': '%s', 'gang': '%s'},",
                o->policies ? o->policies : all_policies,
                o->single_card || below(random, 2) ? "none" : "easy",
                below(random, 2) ? "node" : "any");
    if (o->faults)
        strbuf_addf(&r->scenario,
                    " 'faults': {'card_mtbf': '%d s', 'card_repair': '20 s', 'node_mtbf': '%d s',"
                    " 'node_repair': '15 s', 'job_mtbf': '300 s'},",
                    150 + (int)(seed % 7) * 100, 400 + (int)(seed % 5) * 100);
    if (r->bounded) strbuf_addf(&r->scenario, " 'horizon': '%.3f s',", r->horizon_s * (double)r->k);
    if (r->warm) strbuf_addf(&r->scenario, " 'warmup': '%.3f s',", r->warmup_s * (double)r->k);
    if (!o->no_prices) strbuf_addz(&r->scenario, " 'prices': 'prices.json',");
    strbuf_addf(&r->scenario, " 'output': {'sample': '%ld s'}}", o->probe ? 86400 : 37 * r->k);
    strbuf_addz(
        &r->trace,
        "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,cpus,user,class,profile,walltime_s,slots\n");
    for (int i = 0; i < r->n_jobs; i++) {
        if (below(random, 3)) at_ms += (int64_t)below(random, (uint64_t)gap * 3);
        add_job(r, random, o, i, at_ms);
    }
    if (o->probe) /* long after everything: does it find the fleet as it was? */
        strbuf_addf(&r->trace, "probe,5000000,10,%d,,,u0,,,,1\n", r->cards);
}

static void drop(struct random_run *r)
{
    strbuf_fini(&r->scenario);
    strbuf_fini(&r->trace);
    free(r->duration_ms);
    free(r->gpus);
    free(r->mem_bytes);
    free(r->slots);
    free(r->cpus);
}

static void play(struct simulated *s, const struct random_run *r, const struct shape_of_runs *o)
{
    char *prices =
        xasprintf("{'format': 'gpusim-prices/1', 'pue': 1.25, 'charge': '%s', 'items': ["
                  "{'name': 'card', 'driver': 'gpu_hour', 'amount': '%.9g USD/h'},"
                  "{'name': 'energy', 'driver': 'kwh', 'amount': '%.9g USD/kWh'},"
                  "{'name': 'rack', 'driver': 'constant', 'period': 'year', 'amount': %.9g}]}",
                  r->n_jobs % 2 ? "max" : "allocated", o->usd > 0 ? o->usd : 3,
                  (o->usd > 0 ? o->usd : 3) / 25, (o->usd > 0 ? o->usd : 3) * 400);
    const struct sim_file files[] = { { "prices.json", prices }, { NULL, NULL } };
    simulate_with(s, r->scenario.s, r->trace.s, files, o->threads ? (unsigned)o->threads : 1);
    free(prices);
}

static int rounds(int wanted)
{
    const char *variant = getenv("GPUSIM_VARIANT");
    return variant && strcmp(variant, "release") != 0 && strcmp(variant, "clang") != 0
               ? wanted / 8 + 1
               : wanted;
}

/* ---- what must hold of one policy's rows ---- */

struct rows {
    const struct simulated *s;
    const struct random_run *r;
    const struct policy_result *p;
    uint64_t seed;
};

#define broken(x, ...)                                                                             \
    do {                                                                                           \
        print_error("seed %llu, policy %s: ", (unsigned long long)(x)->seed, (x)->p->name);        \
        fail_msg(__VA_ARGS__);                                                                     \
    } while (0)

#define EACH_JOB(x, j)                                                                             \
    for (const struct sim_job *j = (x)->s->job; j < (x)->s->job + (x)->s->n_jobs; j++)             \
        if (strcmp(j->policy, (x)->p->name) == 0)

static int number_of(const struct sim_job *j)
{
    return atoi(j->id + 1);
}

static bool near(double a, double b, double rel)
{
    return fabs(a - b) <= rel * fmax(1, fmax(fabs(a), fabs(b)));
}

/* P01: every job once, in one of six states. */
static void counts(const struct rows *x)
{
    uint64_t n[6] = { 0 }, all = 0;
    static const char *const states[] = { "completed", "failed",  "killed",
                                          "rejected",  "running", "queued" };
    const struct job_counts *c = &x->p->jobs;
    EACH_JOB(x, j)
    {
        int k = 0;
        while (k < 6 && strcmp(states[k], j->state) != 0) k++;
        if (k == 6) broken(x, "state %s", j->state);
        n[k]++;
        all++;
    }
    const uint64_t told[6] = { c->completed, c->failed,  c->killed,
                               c->rejected,  c->running, c->queued };
    for (int k = 0; k < 6; k++)
        if (n[k] != told[k])
            broken(x, "%s: %llu rows, %llu told", states[k], (unsigned long long)n[k],
                   (unsigned long long)told[k]);
    if (all != c->submitted)
        broken(x, "%llu rows of %llu jobs", (unsigned long long)all,
               (unsigned long long)c->submitted);
    if (!x->r->bounded && all != (uint64_t)x->r->n_jobs)
        broken(x, "%llu of %d jobs", (unsigned long long)all, x->r->n_jobs);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* P14 for one distribution: nearest rank, mean, maximum. */
static void recompute(const struct rows *x, const char *what, double *v, size_t n,
                      const struct summary *st)
{
    double sum = 0;
    const double p[4] = { 0.5, 0.9, 0.95, 0.99 }, told[4] = { st->p50, st->p90, st->p95, st->p99 };
    if (n != st->n) broken(x, "%s: %zu rows, n = %llu", what, n, (unsigned long long)st->n);
    if (n == 0) return;
    qsort(v, n, sizeof *v, by_value);
    for (size_t i = 0; i < n; i++) sum += v[i];
    if (!near(sum / (double)n, st->mean, 1e-8))
        broken(x, "%s: mean %g, rows %g", what, st->mean, sum / (double)n);
    if (!near(v[n - 1], st->max, 1e-8)) broken(x, "%s: max %g, rows %g", what, st->max, v[n - 1]);
    for (int k = 0; k < 4; k++) {
        size_t rank = 1; /* the smallest with at least p of them at or below */
        while ((double)rank < p[k] * (double)n - 1e-9) rank++;
        if (x->p->stable ? !near(v[rank - 1], told[k], 1e-8) : !isnan(told[k]))
            broken(x, "%s: p%g is %g, rows %g", what, 100 * p[k], told[k], v[rank - 1]);
    }
}

/* P13, P14: statistics from the rows submitted after the warm-up; nothing is dropped in silence. */
static void statistics(const struct rows *x)
{
    VEC(double) wait = { 0 }, turnaround = { 0 }, slowdown = { 0 };
    uint64_t covered = 0;
    double useful = 0;
    EACH_JOB(x, j)
    {
        const double duration = (double)(x->r->duration_ms[number_of(j)] * x->r->k) / 1000;
        if ((x->r->warm && j->submit_s < x->r->warmup_s * (double)x->r->k) ||
            strcmp(j->state, "rejected") == 0)
            continue;
        covered++;
        if (!isnan(j->wait_s)) vec_push(&wait, j->wait_s);
        if (strcmp(j->state, "completed") != 0) continue;
        vec_push(&turnaround, j->end_s - j->submit_s);
        vec_push(&slowdown, (j->end_s - j->submit_s) / fmax(duration, 1));
        useful += duration * x->r->gpus[number_of(j)] / 3600;
        if (!near(j->slowdown, slowdown.v[slowdown.n - 1], 1e-7))
            broken(x, "%s: slowdown %g", j->id, j->slowdown);
        if (j->run_s < duration - 1e-9)
            broken(x, "%s ran %.9f s, its work takes %.9f", j->id, j->run_s, duration);
        if (!near(j->wait_s + j->run_s, j->turnaround_s, 1e-12)) broken(x, "%s: wait + run", j->id);
    }
    recompute(x, "wait", wait.v, wait.n, &x->p->stats.wait_s);
    recompute(x, "turnaround", turnaround.v, turnaround.n, &x->p->stats.turnaround_s);
    recompute(x, "slowdown", slowdown.v, slowdown.n, &x->p->stats.slowdown);
    if (wait.n + x->p->stats.wait_s.censored != covered) broken(x, "waits: some jobs are not told");
    if (turnaround.n + x->p->stats.turnaround_s.censored != covered)
        broken(x, "turnarounds: some jobs are not told");
    if (!near(useful, x->p->useful_gpu_hours, 1e-9))
        broken(x, "useful %g h, rows %g", x->p->useful_gpu_hours, useful);
    vec_fini(&wait);
    vec_fini(&turnaround);
    vec_fini(&slowdown);
}

/* P02, P03, P04 */
static void budgets(const struct rows *x)
{
    const struct gpu_result *g = &x->p->gpu;
    const struct usage *u = &x->p->usage;
    if (!near(g->allocated + g->free_share + g->stranded + g->down, 1, 1e-9) && x->p->window_s > 0)
        broken(x, "card time adds up to %.12g",
               g->allocated + g->free_share + g->stranded + g->down);
    double charges = 0, energy = 0, tenants = 0, jobs = 0, idle = 0, billed = 0, occupied = 0;
    double allocated = 0;
    for (size_t i = 0; i < x->p->tco.n_charges; i++) {
        charges += x->p->tco.charge[i].usd;
        energy += x->p->tco.charge[i].energy_kwh;
        if (x->p->tco.charge[i].usd < 0) broken(x, "%s is paid", x->p->tco.charge[i].name);
    }
    if (!near(charges, x->p->tco.total_usd, 1e-9))
        broken(x, "charges %.9g, cost %.9g", charges, x->p->tco.total_usd);
    /* each job's line of the bill, and with that each user's (rows hold six digits) */
    if (!x->r->warm) {
        double rows = 0, users = 0;
        EACH_JOB(x, j) if (!isnan(j->cost_usd)) rows += j->cost_usd;
        for (size_t i = 0; i < u->n_tenants; i++) users += x->p->tco.charge[i].usd;
        if (fabs(rows - users) > 1e-6 * (1 + (double)x->r->n_jobs + users))
            broken(x, "jobs cost %.9g, users pay %.9g", rows, users);
    }
    for (size_t i = 0; i < u->n_tenants; i++) {
        billed += u->tenant[i].billed_h;
        allocated += u->tenant[i].allocated_h;
    }
    if (billed <
        allocated * (1 - 1e-9) - 1e-12) /* of all: one may pay less where another keeps more */
        broken(x, "%.9g card-hours billed for %.9g held", billed, allocated);
    for (size_t i = 0; i < u->n_groups; i++) {
        double hours = 0, held = 0;
        occupied += u->group[i].occupied_h;
        for (size_t k = 0; k < u->group[i].n_demand; k++) {
            hours += u->group[i].demand[k].hours;
            held += u->group[i].demand[k].hours * u->group[i].demand[k].cards;
        }
        if (!near(hours, u->hours, 1e-9))
            broken(x, "demand of %.9g h in a window of %.9g", hours, u->hours);
        if (u->group[i].cards < 200 && !near(held, u->group[i].occupied_h, 1e-9))
            broken(x, "demand adds up to %.9g card-hours, occupied are %.9g", held,
                   u->group[i].occupied_h);
    }
    if (billed > occupied * (1 + 1e-9) + 1e-12)
        broken(x, "%.9g card-hours billed, %.9g occupied", billed, occupied);
    if (!near(energy, g->energy_kwh, 1e-9))
        broken(x, "energy charged %.9g of %.9g", energy, g->energy_kwh);
    for (size_t i = 0; i < u->n_tenants; i++) tenants += u->tenant[i].energy_kwh;
    for (size_t i = 0; i < u->n_groups; i++) idle += u->group[i].idle_energy_kwh;
    if (!near(tenants + idle, g->energy_kwh, 1e-9))
        broken(x, "energy of users and idle %.9g of %.9g", tenants + idle, g->energy_kwh);
    EACH_JOB(x, j) if (!isnan(j->energy_kwh)) jobs += j->energy_kwh;
    if (!x->r->warm &&
        fabs(jobs - tenants) > 1e-6 * (double)x->r->n_jobs) /* rows hold six digits */
        broken(x, "energy of the jobs %.9g, of the users %.9g", jobs, tenants);
}

/* P14 once more: card time and energy out of the intervals of series.csv. */
static void series(const struct rows *x)
{
    const char *at = x->s->series_csv;
    const size_t len = strlen(x->p->name);
    double before = 0, allocated = 0, joules = 0;
    if (x->r->warm) return;
    for (; *at; at = strchr(at, '\n') + 1) {
        double v[10] = { 0 };
        if (strncmp(at, x->p->name, len) != 0 || at[len] != ',') continue;
        const char *cell = at + len + 1;
        double t = 0;
        for (int k = 0; k < 11; k++) {
            k == 0 ? (t = strtod(cell, NULL)) : (v[k - 1] = strtod(cell, NULL));
            cell += strcspn(cell, ",\n") + 1;
        }
        /* allocated,duty,sm_active,memory,stranded,free,down,queued,running,power_W */
        if (!near(v[0] + v[4] + v[5] + v[6], 1, 1e-8))
            broken(x, "interval to %g: shares add up to %.9g", t, v[0] + v[4] + v[5] + v[6]);
        if (v[3] > 1 + 1e-9 || v[2] > 1 + 1e-9 || v[1] > 1 + 1e-9)
            broken(x, "interval to %g: more than the card", t);
        allocated += v[0] * (t - before);
        joules += v[9] * (t - before);
        before = t;
    }
    if (!near(before, x->p->end_s, 1e-12))
        broken(x, "the series ends at %g, the run at %g", before, x->p->end_s);
    if (before > 0 && !near(allocated / before, x->p->gpu.allocated, 1e-7))
        broken(x, "allocated %.9g, series %.9g", x->p->gpu.allocated, allocated / before);
    if (!near(joules / 3.6e6, x->p->gpu.energy_kwh, 1e-7))
        broken(x, "energy %.9g, series %.9g", x->p->gpu.energy_kwh, joules / 3.6e6);
}

/* What a job holds of one card: units, bytes and, under mig, a mask of memory units. */
struct held {
    double start, end, units, bytes, cpus;
    mig_mask mask;
    int node, card;
};

static mig_mask slice_mask(const struct mig_geometry *g, const char *text)
{
    char name[40];
    int start = 0;
    if (sscanf(text, "%39[^@]@%d", name, &start) != 2) fail_msg("slice \"%s\"", text);
    return mig_slice_mask(
        g, (struct mig_slice){ .profile = mig_profile_find(g, name), .start = start });
}

/* P07 and its like: what runs at one time on one card or node fits there. */
static void capacity(const struct rows *x)
{
    const struct plan *plan = NULL;
    VEC(struct held) held = { 0 };
    for (size_t i = 0; i < x->s->run.n; i++)
        if (strcmp(x->s->run.plan[i].spec->name, x->p->name) == 0) plan = &x->s->run.plan[i];
    assert_non_null(plan);
    const struct plan_group *g = &plan->group[0];
    const bool slots = strstr("timeslice reserve mps uncapped", x->p->name) != NULL;
    const bool quota = strcmp(x->p->kind, "intercept") == 0;
    const bool counts_bytes =
        quota || strcmp(x->p->name, "reserve") == 0 || strcmp(x->p->name, "whole") == 0;
    EACH_JOB(x, j)
    {
        const int i = number_of(j);
        if (isnan(j->start_s)) continue;
        const double end = isnan(j->end_s) ? INFINITY : j->end_s;
        const double cards = ceil(x->r->gpus[i]);
        const char *at = j->cards;
        double found = 0;
        while (*at) {
            struct held h = { .start = j->start_s, .end = end, .units = 1 };
            if (sscanf(at, "f.%d.%d", &h.node, &h.card) != 2)
                broken(x, "%s: cards \"%s\"", j->id, j->cards);
            const size_t n = strcspn(at, " ");
            const char *slice = memchr(at, ':', n);
            if (slots) h.units = x->r->slots[i];
            if (quota) h.units = fmin(1, x->r->gpus[i]) * 1000;
            if (!isnan(x->r->mem_bytes[i]))
                h.bytes = x->r->mem_bytes[i] + (double)g->type.context_bytes;
            h.mask = slice                            ? slice_mask(g->type.gpu->mig, slice + 1)
                     : strcmp(x->p->kind, "mig") == 0 ? ~(mig_mask)0
                                                      : 0;
            if (!isnan(x->r->cpus[i])) h.cpus = x->r->cpus[i] / cards;
            vec_push(&held, h);
            found++;
            at += n + (at[n] == ' ');
        }
        if (found != cards) broken(x, "%s asked for %g cards and got %g", j->id, cards, found);
    }
    for (size_t i = 0; i < held.n; i++) {
        double units = 0, bytes = 0, cpus = 0;
        const struct held *a = &held.v[i];
        for (size_t k = 0; k < held.n; k++) {
            const struct held *b = &held.v[k];
            if (a->node != b->node || b->start > a->start || b->end <= a->start) continue;
            cpus += b->cpus;
            if (a->card != b->card) continue;
            units += b->units;
            bytes += b->bytes;
            if (k != i && (a->mask & b->mask) && a->end > a->start)
                broken(x, "slices overlap on f.%d.%d at %g", a->node, a->card, a->start);
        }
        if (strcmp(x->p->kind, "mig") != 0 && units > g->capacity + 1e-9 && a->end > a->start)
            broken(x, "%g of %d units of f.%d.%d at %g", units, g->capacity, a->node, a->card,
                   a->start);
        if (counts_bytes && bytes > (double)g->type.gpu->usable_bytes && a->end > a->start)
            broken(x, "%g bytes on f.%d.%d at %g", bytes, a->node, a->card, a->start);
        if (x->r->cpu_cores && cpus > x->r->cpu_cores + 1e-6 && strcmp(x->p->kind, "remote") != 0)
            broken(x, "%g cores of node %d at %g", cpus, a->node, a->start);
    }
    if (x->p->gpu.memory > 1 + 1e-9) broken(x, "memory %g", x->p->gpu.memory);
    if (counts_bytes && x->p->jobs.failed_oom)
        broken(x, "out of memory although bytes are set aside");
    EACH_JOB(x, j) /* every overrun has a time and a victim */
    if (strcmp(j->state, "failed") == 0 && (isnan(j->end_s) || !strstr(j->reason, "memory")))
        broken(x, "%s failed without a word", j->id);
    vec_fini(&held);
}

static void one_run_keeps_its_books(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    uint64_t started = 0, rejected = 0, failed = 0, unfinished = 0;
    for (int round = 0; round < rounds(160); round++) {
        const struct shape_of_runs o = { 0 };
        struct random_run r;
        struct simulated s;
        make(&r, seed + (uint64_t)round, &o);
        play(&s, &r, &o);
        for (size_t i = 0; i < s.run.result.n_policies; i++) {
            const struct rows x = { &s, &r, &s.run.result.policy[i], seed + (uint64_t)round };
            counts(&x);
            statistics(&x);
            budgets(&x);
            series(&x);
            capacity(&x);
            started += x.p->stats.wait_s.n;
            rejected += x.p->jobs.rejected;
            failed += x.p->jobs.failed;
            unfinished += x.p->jobs.queued + x.p->jobs.running;
        }
        simulated_fini(&s);
        drop(&r);
    }
    print_message("%llu started, %llu rejected, %llu failed, %llu unfinished\n",
                  (unsigned long long)started, (unsigned long long)rejected,
                  (unsigned long long)failed, (unsigned long long)unfinished);
    assert_true(started > 1000 && rejected > 10 && failed > 10 && unfinished > 10);
}

/* The same while cards, nodes and programs fail, and a node is drained: jobs start again, so what
 * is held at one time is not in the rows. */
static void books_are_kept_through_faults(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    uint64_t struck = 0, faults = 0;
    for (int round = 0; round < rounds(80); round++) {
        const struct shape_of_runs o = { .faults = true };
        struct random_run r;
        struct simulated s;
        make(&r, seed + 9000 + (uint64_t)round, &o);
        play(&s, &r, &o);
        for (size_t i = 0; i < s.run.result.n_policies; i++) {
            const struct rows x = { &s, &r, &s.run.result.policy[i],
                                    seed + 9000 + (uint64_t)round };
            counts(&x);
            statistics(&x);
            budgets(&x);
            series(&x);
            if (x.p->gpu.memory > 1 + 1e-9) broken(&x, "memory %g", x.p->gpu.memory);
            if (x.p->failures.lost_gpu_hours < 0 ||
                x.p->failures.jobs_given_up > x.p->failures.jobs_struck)
                broken(&x, "failures");
            struck += x.p->failures.jobs_struck;
            faults +=
                x.p->failures.card_faults + x.p->failures.node_faults + x.p->failures.job_faults;
        }
        simulated_fini(&s);
        drop(&r);
    }
    print_message("%llu faults, %llu jobs struck\n", (unsigned long long)faults,
                  (unsigned long long)struck);
    assert_true(faults > 1000 && struck > 1000);
}

/* P08: the same bytes on one thread and on eight, alone and in company; a policy against itself. */
static void same_bytes(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    for (int round = 0; round < rounds(30); round++) {
        struct shape_of_runs o = { 0 };
        struct random_run r;
        struct simulated a, b, twice;
        make(&r, seed + 1000 + (uint64_t)round, &o);
        play(&a, &r, &o);
        o.threads = 8;
        play(&b, &r, &o);
        assert_string_equal(a.jobs_csv, b.jobs_csv);
        assert_string_equal(a.series_csv, b.series_csv);
        assert_string_equal(a.result_json, b.result_json);
        simulated_fini(&b);
        drop(&r);
        o.policies = "{'name': 'timeslice', 'share': {'kind': 'timeslice', 'slots': 3}},"
                     "{'name': 'again', 'share': {'kind': 'timeslice', 'slots': 3}}";
        make(&r, seed + 1000 + (uint64_t)round, &o);
        play(&twice, &r, &o);
        for (size_t i = 0; i < twice.run.result.n_comparisons; i++) {
            const struct comparison_row *c = &twice.run.result.comparison[i];
            if (!(c->difference == 0 || isnan(c->value)))
                fail_msg("%s differs by %g from itself", c->metric, c->difference);
        }
        const char *from = strstr(a.jobs_csv, "\ntimeslice,") + 1;
        const char *alone = twice.jobs_csv;
        while (strncmp(alone, "timeslice,", 10) == 0) { /* in company it ran fourth */
            const size_t n = strcspn(alone, "\n") + 1;
            assert_memory_equal(alone, from, n);
            alone += n;
            from += n;
        }
        simulated_fini(&a);
        simulated_fini(&twice);
        drop(&r);
    }
}

/* P06 and P11 on one card a job, first come, first served. */
static void nobody_waits_beside_a_free_card(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    static const char one[] = "{'name': 'whole', 'share': {'kind': 'whole'}},"
                              "{'name': 'timeslice', 'share': {'kind': 'timeslice', 'slots': 3}}";
    for (int round = 0; round < rounds(60); round++) {
        struct shape_of_runs o = {
            .single_card = true, .drain = true, .no_warmup = true, .policies = one
        };
        struct random_run r, more;
        struct simulated s, t;
        make(&r, seed + 2000 + (uint64_t)round, &o);
        play(&s, &r, &o);
        o.extra_cards = 1;
        make(&more, seed + 2000 + (uint64_t)round, &o);
        assert_string_equal(r.trace.s, more.trace.s);
        play(&t, &more, &o);
        for (size_t i = 0; i < s.n_jobs; i++) {
            const struct sim_job *j = &s.job[i];
            const int places = r.cards * (strcmp(j->policy, "whole") == 0 ? 1 : 3);
            /* At its submission and at every end while it waits, all places are taken. */
            for (size_t k = 0; k < s.n_jobs && j->wait_s > 0; k++) {
                const double at = k == i ? j->submit_s : s.job[k].end_s;
                int busy = 0;
                if (strcmp(s.job[k].policy, j->policy) != 0 || at < j->submit_s || at >= j->start_s)
                    continue;
                for (size_t m = 0; m < s.n_jobs; m++)
                    busy += strcmp(s.job[m].policy, j->policy) == 0 && s.job[m].start_s <= at &&
                            s.job[m].end_s > at;
                if (busy < places)
                    fail_msg("seed %llu: %s waits at %g beside a free place of %s",
                             (unsigned long long)(seed + 2000 + (uint64_t)round), j->id, at,
                             j->policy);
            }
            if (strcmp(j->policy, "whole") == 0 &&
                sim_job_of(&t, "whole", j->id)->wait_s > j->wait_s)
                fail_msg("%s waits longer with one card more", j->id);
        }
        simulated_fini(&s);
        simulated_fini(&t);
        drop(&r);
        drop(&more);
    }
}

/* P10: times by 3, money by 2. */
static void scaling(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    for (int round = 0; round < rounds(40); round++) {
        struct shape_of_runs o = { .policies = timeless };
        struct random_run r, slow;
        struct simulated s, t, dear;
        make(&r, seed + 3000 + (uint64_t)round, &o);
        play(&s, &r, &o);
        o.usd = 6;
        play(&dear, &r, &o);
        assert_string_equal(s.series_csv, dear.series_csv);
        for (size_t i = 0; i < s.n_jobs; i++)
            if (!isnan(s.job[i].cost_usd) &&
                fabs(2 * s.job[i].cost_usd - dear.job[i].cost_usd) > 2e-6)
                fail_msg("%s costs %g and %g", s.job[i].id, s.job[i].cost_usd,
                         dear.job[i].cost_usd);
        for (size_t i = 0; i < s.run.result.n_policies; i++) {
            const struct policy_result *a = &s.run.result.policy[i],
                                       *b = &dear.run.result.policy[i];
            assert_close(b->tco.total_usd, 2 * a->tco.total_usd, 1e-12);
            assert_close(b->gpu.energy_kwh, a->gpu.energy_kwh, 1e-15);
            assert_true(a->stats.wait_s.mean == b->stats.wait_s.mean || a->stats.wait_s.n == 0);
        }
        simulated_fini(&dear);
        o.usd = 0;
        o.k = 3;
        make(&slow, seed + 3000 + (uint64_t)round, &o);
        play(&t, &slow, &o);
        assert_int_equal(s.n_jobs, t.n_jobs);
        for (size_t i = 0; i < s.n_jobs; i++) {
            const struct sim_job *a = &s.job[i], *b = sim_job_of(&t, a->policy, a->id);
            const double room = 1e-9 * (3 + a->submit_s + 300);
            assert_string_equal(a->state, b->state);
            if (fabs(3 * a->submit_s - b->submit_s) > 1e-9) fail_msg("submit");
            if (!isnan(a->start_s) && fabs(3 * a->start_s - b->start_s) > room)
                fail_msg("seed %llu, %s, %s: starts at %.9f and %.9f",
                         (unsigned long long)(seed + 3000 + (uint64_t)round), a->policy, a->id,
                         a->start_s, b->start_s);
            if (!isnan(a->end_s) && fabs(3 * a->end_s - b->end_s) > room)
                fail_msg("%s, %s: ends at %.9f and %.9f", a->policy, a->id, a->end_s, b->end_s);
        }
        simulated_fini(&s);
        simulated_fini(&t);
        drop(&r);
        drop(&slow);
    }
}

/* P12 seen from outside: when all have left, one job for the whole fleet starts at once. */
static void capacity_comes_back(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    for (int round = 0; round < rounds(60); round++) {
        const struct shape_of_runs o = { .drain = true, .no_warmup = true, .probe = true };
        struct random_run r;
        struct simulated s;
        make(&r, seed + 4000 + (uint64_t)round, &o);
        play(&s, &r, &o);
        for (size_t i = 0; i < s.run.result.n_policies; i++) {
            const char *policy = s.run.result.policy[i].name;
            const struct sim_job *j = sim_job_of(&s, policy, "probe");
            assert_string_equal(j->state, "completed");
            /* MIG off again */
            const double prepare = strstr("mig planned oracle", policy) ? 30 : 0;
            if (j->wait_s > prepare)
                fail_msg("seed %llu, %s: the probe waits %g s",
                         (unsigned long long)(seed + 4000 + (uint64_t)round), policy, j->wait_s);
        }
        simulated_fini(&s);
        drop(&r);
    }
}

/* P09: rows of one instant count in file order and in no other way; work items merge by time. */
static void order_of_rows(void **state)
{
    (void)state;
    struct simulated a, b;
    static const char head[] = "job_id,submit_s,duration_s,gpus\n";
    struct strbuf forth = { 0 }, back = { 0 }, even = { 0 }, odd = { 0 }, both = { 0 };
    const char *scenario =
        "{'format': 'gpusim-scenario/1', 'name': 's',"
        " 'fleet': [{'name': 'f', 'gpu': 'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 3}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}%s],"
        " 'policies': [%s]}";
    char *one = xasprintf(scenario, "", all_policies);
    char *two =
        xasprintf(scenario, ", {'name': 'v', 'kind': 'jobs', 'trace': 'odd.csv'}", all_policies);
    strbuf_addz(&forth, head);
    strbuf_addz(&back, head);
    for (int i = 0; i < 40; i++) strbuf_addf(&forth, "%d,%d,%d,0.25\n", i, i / 8 * 50, 60 + i / 8);
    for (int i = 0; i < 40; i++)
        strbuf_addf(&back, "%d,%d,%d,0.25\n", i / 8 * 8 + 7 - i % 8, i / 8 * 50, 60 + i / 8);
    simulate(&a, one, forth.s);
    simulate(&b, one, back.s);
    for (size_t p = 0; p < a.run.result.n_policies; p++) {
        const struct policy_result *x = &a.run.result.policy[p], *y = &b.run.result.policy[p];
        for (int i = 0; i < 40; i++) { /* the k-th of an instant fares alike, whatever its name */
            char id[12], twin[12];
            snprintf(id, sizeof id, "%d", i);
            snprintf(twin, sizeof twin, "%d", i / 8 * 8 + 7 - i % 8);
            const struct sim_job *j = sim_job_of(&a, x->name, id),
                                 *k = sim_job_of(&b, x->name, twin);
            if (j->start_s != k->start_s || j->end_s != k->end_s || strcmp(j->cards, k->cards) != 0)
                fail_msg("%s: %s and %s", x->name, id, twin);
        }
        assert_true(x->stats.turnaround_s.mean == y->stats.turnaround_s.mean);
    }
    simulated_fini(&a);
    simulated_fini(&b);
    strbuf_addz(&even, head);
    strbuf_addz(&odd, head);
    strbuf_addz(&both, head);
    for (int i = 0; i < 60; i++) {
        strbuf_addf(i % 2 ? &odd : &even, "%d,%d,%d,0.%d\n", i, 7 * i, 60 + i % 13, 1 + i % 5);
        strbuf_addf(&both, "%d,%d,%d,0.%d\n", i, 7 * i, 60 + i % 13, 1 + i % 5);
    }
    const struct sim_file files[] = { { "odd.csv", odd.s }, { NULL, NULL } };
    simulate(&a, one, both.s);
    simulate_with(&b, two, even.s, files, 1);
    assert_string_equal(a.jobs_csv, b.jobs_csv);
    simulated_fini(&a);
    simulated_fini(&b);
    free(one);
    free(two);
    strbuf_fini(&forth);
    strbuf_fini(&back);
    strbuf_fini(&even);
    strbuf_fini(&odd);
    strbuf_fini(&both);
}

/* P05: sampled number present = rate x mean stay (the exact form is checked at the end of every
 * run). */
static void littles_law(void **state)
{
    (void)state;
    struct simulated s;
    const struct sim_arrivals a = {
        .rate = 2, .mean_s = 1.5, .size = sim_exponential, .n = 40000, .head = "gpus", .tail = "1"
    };
    char *trace = sim_queue_trace(&a, 11, 0);
    simulate(
        &s,
        "{'format': 'gpusim-scenario/1', 'name': 's',"
        " 'fleet': [{'name': 'f', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 4}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': [{'name': 'p', 'share': {'kind': 'whole'}}], 'output': {'sample': '0.7 s'}}",
        trace);
    double present = 0, rows = 0, stay = 0;
    for (const char *at = s.series_csv; *at; at = strchr(at, '\n') + 1, rows++) {
        const char *cell = at;
        for (int k = 0; k < 9; k++) cell += strcspn(cell, ",") + 1;
        present += strtod(cell, NULL);
        present += strtod(cell + strcspn(cell, ",") + 1, NULL);
    }
    for (size_t i = 0; i < s.n_jobs; i++) stay += s.job[i].turnaround_s;
    const struct policy_result *p = sim_policy(&s, "p");
    print_message("L = %.4f, lambda W = %.4f\n", present / rows, stay / p->end_s);
    assert_close(present / rows, stay / p->end_s, 0.01);
    assert_close(stay / (double)s.n_jobs, p->stats.turnaround_s.mean, 1e-9);
    simulated_fini(&s);
    free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run_keeps_its_books),
        cmocka_unit_test(books_are_kept_through_faults),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(nobody_waits_beside_a_free_card),
        cmocka_unit_test(scaling),
        cmocka_unit_test(capacity_comes_back),
        cmocka_unit_test(order_of_rows),
        cmocka_unit_test(littles_law),
    };
    return cmocka_run_group_tests_name("invariants of runs", tests, NULL, NULL);
}
