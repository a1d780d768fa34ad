/* test_second_engine.c - the product against a second engine that shares no engine code with it
 * (support/second_engine.h), on random small scenarios over policies, orders, preemption,
 * backfill, placements, limits, memory, MIG layouts, pools, several groups of cards and
 * CPU cores: the same state, the same cards, the same start and end of every job to the
 * nanosecond (within 2 where cards are shared, since speeds are rounded; within 100 where jobs
 * are stopped there), and the same integral of what was held.
 *
 * GPUSIM_SOAK=N replays N scenarios instead of 1,000 (200 under a sanitizer). Every scenario has
 * a seed of its own, which is printed when it fails: GPUSIM_TEST_SEED=<that> GPUSIM_SOAK=1
 * repeats it. GPUSIM_SECOND=preempt makes all of them scenarios in which jobs take each other's
 * place; replace, in which all are placed anew; quotas, in which accounts have some; reclaim, in
 * which they take back what they have lent; elastic, in which jobs work on fewer or more cards;
 * defrag, in which jobs move out of the way of the head; planned, in which MIG layouts are;
 * faults, in which cards, nodes, racks and programs fail;
 * admission, by deadline, half of them with quotas; whole, timeslice, mps, intercept, mig, remote
 * or overcommit, in which cards are shared so. Several of them are joined by commas: in
 * planned,reclaim accounts take back instances of planned layouts. Mutants (tests/run_mutants.sh):
 * easy-beside-forgets-the-head, easy-head-never-moves, easy-brief-job-takes-what-the-head-needs,
 * first-fit-skips-a-card. */
#include "support/second_compare.h"
#include "support/second_draw.h"
#include "support/second_engine.h"
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KIND_WHOLE,
    KIND_TIMESLICE,
    KIND_MPS,
    KIND_INTERCEPT,
    KIND_MIG,
    KIND_REMOTE,
    KIND_OVERCOMMIT, /* whole, several jobs on a card */
    KINDS
};
static const char *const kind_names[] = { "whole", "timeslice", "mps",       "intercept",
                                          "mig",   "remote",    "overcommit" };

struct setting {
    uint64_t seed;
    int kind, order;
    bool ties; /* times in whole seconds, so that much happens at once */
    bool limits, dynamic, planned, random, wires, elastic, defrag, faults;
    int groups, nodes[2], per[2];
    simtime stop; /* the horizon */
    const char *preempt;
    struct strbuf fleet, share, more, top; /* more: of the schedule; top: of the scenario */
};

static uint64_t below(struct setting *s, uint64_t n)
{
    return test_random(&s->seed) % n;
}

static bool chance(struct setting *s, uint64_t in)
{
    return below(s, in) == 0;
}

static const char *any(struct setting *s, const char *const *of)
{
    size_t n = 0;
    while (of[n]) n++;
    return of[below(s, n)];
}

static simtime some_time(struct setting *s, uint64_t most_s)
{
    if (s->ties) return (simtime)below(s, most_s) * SIM_SECOND;
    return (simtime)below(s, most_s * UINT64_C(1000000000));
}

/* GPUSIM_SECOND=name or name,name: all scenarios are of this mode, or of all these. */
static bool is_only(const char *name)
{
    const char *modes = getenv("GPUSIM_SECOND");
    const size_t length = strlen(name);
    while (modes && *modes) {
        const size_t n = strcspn(modes, ",");
        if (n == length && strncmp(modes, name, n) == 0) return true;
        modes += n + (modes[n] == ',');
    }
    return false;
}

/* Modes that are drawn together with the others. */
static bool blends(void)
{
    for (int k = 0; k < KINDS; k++)
        if (is_only(kind_names[k])) return true;
    return is_only("faults") || is_only("quotas") || is_only("admission") || is_only("elastic") ||
           is_only("defrag") || is_only("planned") || is_only("dynamic") || is_only("fgd");
}

/* This one is of the mode: one in so many. */
static bool mode(struct setting *s, const char *name, uint64_t in)
{
    const bool drawn = chance(s, in);
    return getenv("GPUSIM_SECOND") && !blends() ? is_only(name) : drawn || is_only(name);
}

/* Domains of several nodes or parts of one, and racks. */
static void add_wires(struct setting *s, int g)
{
    int domain = s->per[g] * (1 + (int)below(s, 2));
    while (chance(s, 2) && domain > 1) do
            domain--;
        while (s->per[g] % domain != 0);
    strbuf_addf(&s->fleet,
                ", 'nvlink_domain': %d, 'cross_domain_speed': 0.%d, 'nodes_per_rack': %d, "
                "'cross_rack_speed': 0.%d",
                domain, 1 + (int)below(s, 9), 1 + (int)below(s, 3), 1 + (int)below(s, 9));
}

static void make_fleet(struct setting *s)
{
    s->wires = mode(s, "gangs", 4);
    static const char *const cards[] = { "a100-sxm4-40gb", "generic", "a100-sxm4-80gb", "t4",
                                         "p100-sxm2-16gb", NULL };
    s->groups = 1 + chance(s, 3);
    for (int g = 0; g < s->groups; g++) {
        const bool cores = chance(s, 3);
        s->nodes[g] = 1 + (int)below(s, 4);
        s->per[g] = 1 + (int)below(s, 5);
        strbuf_addf(&s->fleet, "%s{'name': 'g%d', 'gpu': '%s', 'nodes': %d, 'gpus_per_node': %d",
                    g ? ", " : "", g, s->kind == KIND_MIG ? "a100-sxm4-40gb" : any(s, cards),
                    s->nodes[g], s->per[g]);
        if (cores) strbuf_addf(&s->fleet, ", 'cpu_cores': %d", 1 + (int)below(s, 32));
        if (s->wires) add_wires(s, g);
        if (s->faults) second_draw_group_faults(&s->seed, &s->fleet);
        if (s->faults && chance(s, 3))
            second_draw_capacity(&s->seed, s->nodes[g], s->per[g], &s->fleet);
        strbuf_addc(&s->fleet, '}');
    }
}

/* Instances made when they are needed; perhaps those that a plan leaves open. */
static void make_on_demand(struct setting *s)
{
    static const char *const starts[] = { "lowest", "highest", "best_remaining", NULL };
    static const char *const forecasts[] = { "", ", 'forecast': 'last'", ", 'forecast': 'oracle'",
                                             NULL };
    const bool by_operator = chance(s, 8);
    const int repartition_s = by_operator ? 113 : (int)below(s, 20), /* as profiles say */
        change_ms = (int)below(s, 15) * 1000;
    strbuf_addf(&s->share, "'kind': 'mig', 'layout': '%s', 'start': '%s', 'mode_change': '%d ms'",
                s->planned ? "planned" : "dynamic", any(s, starts),
                change_ms + (s->ties ? 0 : (int)below(s, 1000)));
    if (by_operator)
        strbuf_addz(&s->share, ", 'via': 'operator'");
    else
        strbuf_addf(&s->share, ", 'repartition': '%d s'", repartition_s);
    if (!s->planned) return;
    const int least_s = repartition_s + change_ms / 1000 + 2;
    strbuf_addf(&s->share, ", 'period': '%d s'%s", least_s + (int)below(s, chance(s, 2) ? 30 : 300),
                any(s, forecasts));
}

static void make_share(struct setting *s)
{
    static const char *const slices[] = {
        "['3g.20gb', '3g.20gb']",
        "['1g.5gb', '1g.5gb', '2g.10gb', '3g.20gb']",
        "{'1g.5gb': 7}",
        "[{'cards': 1, 'slices': 'off'}, {'cards': 1, 'slices': ['4g.20gb', '2g.10gb']}, "
        "{'cards': 2, 'slices': ['7g.40gb']}, {'cards': 9, 'slices': 'off'}]",
        "[{'cards': 3, 'slices': 'off'}, {'cards': 1, 'slices': ['3g.20gb', '2g.10gb', '1g.5gb']}]",
        NULL
    };
    switch (s->kind) {
    case KIND_WHOLE: strbuf_addz(&s->share, "'kind': 'whole'"); break;
    case KIND_TIMESLICE:
        second_draw_timeslice(&s->seed, !strstr(s->fleet.s, "generic"), &s->share);
        break;
    case KIND_MPS: second_draw_mps(&s->seed, strstr(s->fleet.s, "p100") != NULL, &s->share); break;
    case KIND_INTERCEPT: second_draw_intercept(&s->seed, &s->share); break;
    case KIND_OVERCOMMIT: second_draw_overcommit(&s->seed, &s->share); break;
    case KIND_MIG:
        s->planned = mode(s, "planned", 4);
        s->dynamic = s->planned || chance(s, 2) || is_only("dynamic");
        if (s->dynamic) make_on_demand(s);
        if (s->dynamic) break;
        strbuf_addf(&s->share, "'kind': 'mig', 'layout': 'static', 'slices': %s", any(s, slices));
        break;
    case KIND_REMOTE:
        strbuf_addf(&s->share,
                    "'kind': 'remote', 'link': '%s', 'network': '%d GB/s', 'rtt': '%d us'",
                    chance(s, 2) ? "node" : "card", 1 + (int)below(s, 20), (int)below(s, 500));
        break;
    default: break;
    }
}

static void make_job(struct setting *s, struct second_job *j)
{
    static const char *const profiles[] = { "wide", "half", "bytes", "host", "calls", NULL };
    static const char *const models[] = { "a100-sxm4-40gb", "t4", NULL };
    int most = s->nodes[0] * s->per[0] + 1;
    *j = (struct second_job){ .duration = some_time(s, 200) + (chance(s, 20) ? 0 : SIM_SECOND),
                              .limit = JOB_NO_TIME,
                              .slots = 1,
                              .cpus_milli = JOB_NO_INT,
                              .min_gpus = JOB_NO_INT,
                              .max_gpus = JOB_NO_INT,
                              .bytes = JOB_NO_BYTES,
                              .priority = (int32_t)below(s, 4),
                              .user = (int32_t)below(s, 2) };
    const bool shares = s->kind != KIND_WHOLE && !chance(s, 4);
    if (chance(s, 15))
        j->gpus_milli = 0;
    else if (shares)
        j->gpus_milli = 1 + (int32_t)below(s, chance(s, 2) ? 999 : 300);
    else
        j->gpus_milli = 1000 * (1 + (int32_t)below(s, chance(s, 3) ? (uint64_t)most : 3));
    if (s->limits && !chance(s, 8)) {
        j->limit =
            (j->duration + some_time(s, 100)) * (chance(s, 5) ? 1 : 2) / (chance(s, 5) ? 3 : 1);
        if (s->ties) j->limit -= j->limit % SIM_SECOND;
    }
    if (chance(s, 6) && (s->kind == KIND_TIMESLICE || s->kind == KIND_MPS))
        j->slots = 1 + (int32_t)below(s, 4);
    if (chance(s, 4)) j->bytes = below(s, UINT64_C(30000000000));
    j->deadline = chance(s, 4) ? JOB_NO_TIME : some_time(s, 1000);
    if (chance(s, 3)) j->cpus_milli = (int32_t)below(s, 12000);
    if (s->elastic && j->gpus_milli >= 1000) {
        const int gpus = j->gpus_milli / 1000;
        if (!chance(s, 3)) j->min_gpus = 1 + (int32_t)below(s, (uint64_t)gpus);
        if (!chance(s, 3)) j->max_gpus = gpus + (int32_t)below(s, chance(s, 20) ? 30 : 5);
    }
    if (!chance(s, 3)) j->profile = any(s, profiles);
    if (chance(s, 6)) j->model = any(s, models);
}

/* Another job of the same shape. */
static void look_alike(struct second_job *j, const struct second_job *other)
{
    const struct second_job own = *j;
    *j = *other;
    j->duration = own.duration;
    j->limit = own.limit;
    j->priority = own.priority;
}

static void add_s(struct strbuf *b, simtime t)
{
    strbuf_addf(b, "%lld.%09lld", (long long)(t / SIM_SECOND), (long long)(t % SIM_SECOND));
}

static void add_row(struct strbuf *b, int id, const struct second_job *j)
{
    strbuf_addf(b, "%d,", id);
    add_s(b, j->submit);
    strbuf_addc(b, ',');
    add_s(b, j->duration);
    strbuf_addf(b, ",%d.%03d,", j->gpus_milli / 1000, j->gpus_milli % 1000);
    if (j->limit != JOB_NO_TIME) add_s(b, j->limit);
    strbuf_addf(b, ",%d,%d,", j->slots, j->priority);
    if (j->cpus_milli != JOB_NO_INT)
        strbuf_addf(b, "%d.%03d", j->cpus_milli / 1000, j->cpus_milli % 1000);
    strbuf_addf(b, ",u%d,", j->user);
    if (j->bytes != JOB_NO_BYTES) strbuf_addf(b, "%llu", (unsigned long long)j->bytes);
    strbuf_addf(b, ",%s,%s,", j->profile ? j->profile : "", j->model ? j->model : "");
    if (j->deadline != JOB_NO_TIME) add_s(b, j->deadline);
    strbuf_addc(b, ',');
    if (j->min_gpus != JOB_NO_INT) strbuf_addf(b, "%d", j->min_gpus);
    strbuf_addc(b, ',');
    if (j->max_gpus != JOB_NO_INT) strbuf_addf(b, "%d", j->max_gpus);
    strbuf_addc(b, '\n');
}

/* What the scenarios came to: a test that compares nothing but easy cases would not be worth
 * much. */
struct tally {
    int jobs, state[JOB_REJECTED + 1], oom, waited, overtook, gangs, shared, again, moves, struck;
};

static void count(struct tally *t, const struct second_job *j, int n)
{
    simtime latest = 0;
    for (int i = 0; i < n; i++) {
        t->jobs++;
        t->state[j[i].state]++;
        t->oom += j[i].oom;
        if (j[i].start == JOB_NO_TIME) continue;
        t->waited += j[i].start > j[i].submit;
        t->moves += j[i].moves;
        t->again += j[i].attempts > 1;
        t->overtook += j[i].start < latest;
        t->gangs += strchr(j[i].where, ' ') != NULL;
        t->shared += j[i].state == JOB_COMPLETED && j[i].end - j[i].start > j[i].duration;
        if (j[i].start > latest) latest = j[i].start;
    }
}

/* What is safe of a job that must begin again, and what that takes. */
static void make_checkpoints(struct setting *s)
{
    static const int64_t rare_s[] = { 0, 0, 1, 7, 40 };
    const int64_t every = rare_s[below(s, 5)];
    strbuf_addf(&s->more, ", 'restart': '%d s', 'checkpoint_cost': '%d ms', 'checkpoint': '%d",
                (int)(below(s, 2) * below(s, 20)), (int)(below(s, 2) * below(s, 6) * 250),
                (int)every);
    /* A stop that falls on the very end of a pause would hang on the rounding of speeds. */
    if (every > 0 && s->kind != KIND_WHOLE)
        strbuf_addf(&s->more, ".%09d", (int)below(s, 1000000000));
    strbuf_addz(&s->more, " s'");
}

/* Jobs that take each other's place. */
static void make_preemption(struct setting *s, const char **order, const char **backfill)
{
    static const char *const orders[] = { "las", "srtf", "srsf",     "fewest",   "fifo",
                                          "sjf", "las",  "priority", "deadline", NULL };
    static const char *const at_once[] = { "none", "greedy", NULL };
    *order = any(s, orders);
    *backfill = any(s, at_once);
    s->preempt = "always";
    if (strcmp(*order, "las") == 0)
        strbuf_addf(&s->more, ", 'threshold': '%d s'", 1 + (int)below(s, 500));
    if (s->kind == KIND_WHOLE && !s->elastic && mode(s, "replace", 3)) {
        strbuf_addf(&s->more, ", 'migrate': 'replace', 'migrate_pause': '%d ms'",
                    (int)(below(s, 3) * below(s, 8) * 500));
        if (chance(s, 3))
            strbuf_addf(&s->more, ", 'migrate_rate': '%d GB/s'", 1 + (int)below(s, 20));
    }
    if (!chance(s, 3)) make_checkpoints(s);
}

static int kind_of(struct setting *s)
{
    const int kind = (int)below(s, KINDS);
    for (int k = 0; k < KINDS; k++)
        if (is_only(kind_names[k])) return k;
    if (is_only("dynamic") || is_only("planned")) return KIND_MIG;
    if (is_only("replace")) return KIND_WHOLE;
    if (is_only("defrag")) return chance(s, 4) ? KIND_MIG : KIND_WHOLE;
    if (is_only("promised_units")) return chance(s, 2) ? KIND_MIG : KIND_REMOTE;
    return kind;
}

/* Accounts have quotas, borrow from each other and take back what they have lent. */
static void make_quotas(struct setting *s, const char *order)
{
    int cards = 0;
    for (int g = 0; g < s->groups; g++) cards += s->nodes[g] * s->per[g];
    const int one = (int)below(s, (uint64_t)cards + 1),
              other = (int)below(s, (uint64_t)(cards - one) + 1);
    const bool takes_back = is_only("reclaim");
    const char *lend = !takes_back && chance(s, 3) ? "" : ", 'cohort': 'c'";
    const bool ranks = strcmp(order, "fair") == 0 || strcmp(order, "drf") == 0;
    strbuf_addf(&s->more, ", 'quotas': {'u0': {'gpus': %d%s", one, lend);
    if (*lend && other > 0 && chance(s, 2)) /* not all that the other can lend */
        strbuf_addf(&s->more, ", 'borrow': %d", (int)below(s, (uint64_t)other));
    strbuf_addf(&s->more, "}, 'u1': {'gpus': %d%s}}", other, lend);
    if (*lend && !ranks && strcmp(s->preempt, "never") == 0 && (takes_back || chance(s, 2)))
        strbuf_addz(&s->more, ", 'reclaim': 'always', 'restart': '3 s', 'checkpoint': '7.31 s'");
}

/* A mode of its own: fgd, fair and las can be asked for alone as well. */
static void force(struct setting *s, const char **order, const char **backfill, const char **place)
{
    static const char *const nodes[] = { "pack",    "spread",     "best_fit_node",
                                         "packing", "clustering", "dot_product",
                                         "fgd",     "fgd",        NULL };
    static const char *const orders[] = { "fair", "las", "drf", "deadline", NULL };
    if (is_only("promised_units")) *backfill = "conservative";
    if (chance(s, 3) || is_only("nodes")) *place = any(s, nodes);
    if (is_only("fgd")) *place = "fgd";
    if (s->random) *place = "random";
    if (is_only("admission")) *order = "deadline";
    for (int i = 0; orders[i]; i++)
        if (is_only(orders[i])) *order = orders[i];
}

/* `n` jobs, and the trace of them. Returns when the last one comes. */
static simtime make_jobs(struct setting *s, struct second_job *j, int n, struct strbuf *trace)
{
    simtime at = 0;
    const uint64_t gap = 1 + below(s, 60);
    strbuf_addz(trace,
                "job_id,submit_s,duration_s,gpus,walltime_s,slots,priority,cpus,user,gpu_mem_bytes,"
                "profile,gpu_model,deadline_s,min_gpus,max_gpus\n");
    const int kinds = chance(s, 3) ? n : 2 + (int)below(s, 4); /* few: many jobs look alike */
    for (int i = 0; i < n; i++) {
        make_job(s, &j[i]);
        if (i >= kinds) look_alike(&j[i], &j[below(s, (uint64_t)kinds)]);
        at += some_time(s, gap);
        j[i].submit = at;
        add_row(trace, i, &j[i]);
    }
    return at;
}

/* Running jobs move out of the way of the head of the queue. */
static void make_defrag(struct setting *s, const char **backfill)
{
    if (strcmp(*backfill, "greedy") == 0) *backfill = "none";
    strbuf_addf(&s->more, ", 'migrate': 'defrag', 'migrate_pause': '%d ms'",
                (int)(below(s, 3) * below(s, 8) * 500));
    if (chance(s, 3)) strbuf_addf(&s->more, ", 'migrate_rate': '%d GB/s'", 1 + (int)below(s, 20));
}

/* Jobs that work on fewer or more cards. */
static void make_elastic(struct setting *s, const char **backfill)
{
    if (strcmp(*backfill, "conservative") == 0) *backfill = "easy";
    strbuf_addf(&s->more, ", 'elastic': '%s'", chance(s, 4) ? "start" : "resize");
    if (chance(s, 2)) strbuf_addz(&s->more, ", 'scaling': {'1': 1, '2': 1.9, '4': 3.5, '7': 5}");
    if (!strstr(s->more.s, "'restart'") && chance(s, 2))
        strbuf_addf(&s->more, ", 'restart': '%d s'", (int)below(s, 40));
}

/* The keys of an order, and those of modes. */
static void make_more(struct setting *s, const char **order, const char **backfill)
{
    static const char *const gangs[] = {
        "'gang': 'any'",   "'gang': 'domain'",  "'gang': 'domain', 'racks': 'pack'",
        "'racks': 'pack'", "'racks': 'spread'", NULL
    };
    static const char *const admissions[] = { "none", "alone", "plan", "plan", NULL };
    if (!s->defrag && (mode(s, "preempt", 4) || is_only("replace")))
        make_preemption(s, order, backfill);
    if ((is_only("admission") ? chance(s, 2) : mode(s, "quotas", 5)) || is_only("reclaim"))
        make_quotas(s, *order);
    if (strcmp(*order, "fair") == 0 && chance(s, 2))
        strbuf_addz(&s->more, ", 'weights': {'u0': 2.5}");
    if (strcmp(*order, "fair") == 0)
        strbuf_addf(&s->more, ", 'half_life': '%d s', 'recalculate': '%d s'",
                    10 + (int)below(s, 1000), (int)below(s, 3) * (int)below(s, 100));
    if (strcmp(*order, "deadline") == 0)
        strbuf_addf(&s->more, ", 'admission': '%s'", s->elastic ? "alone" : any(s, admissions));
    if (s->wires) strbuf_addf(&s->more, ", %s", any(s, gangs));
    if (s->defrag) make_defrag(s, backfill);
    if (s->elastic) make_elastic(s, backfill);
    if (s->faults) second_draw_faults(&s->seed, s->wires, &s->top);
    if (s->faults && !strstr(s->more.s ? s->more.s : "", "'restart'")) make_checkpoints(s);
}

static char *make_scenario(struct setting *s, simtime last)
{
    static const char *const orders[] = { "fifo",   "sjf",  "priority", "fifo",     "priority",
                                          "fewest", "srtf", "srsf",     "deadline", "drf",
                                          "las",    "fair", "fair",     NULL };
    static const char *const backfills[] = { "none",         "easy",         "easy", "greedy",
                                             "conservative", "conservative", NULL };
    static const char *const places[] = { "first_fit", "best_fit",  "first_fit",
                                          "best_fit",  "worst_fit", NULL };
    static const char *const walltimes[] = { "estimate", "kill", NULL };
    const char *order = any(s, orders), *backfill = any(s, backfills);
    const char *place = any(s, places);
    force(s, &order, &backfill, &place);
    make_more(s, &order, &backfill);
    s->stop = SIM_NEVER;
    if (mode(s, "horizon", 4) || s->faults) { /* work in vain ends there */
        s->stop = SIM_SECOND + some_time(s, (uint64_t)(last / SIM_SECOND) + 100);
        strbuf_addz(&s->top, ", 'horizon': '");
        add_s(&s->top, s->stop);
        strbuf_addz(&s->top, " s'");
    }
    return xasprintf(
        "{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [%s], 'work': [{'name': 'w', 'kind': 'jobs', "
        "'trace': 'trace.csv'}], 'profiles': {"
        "'wide': {'compute': 1, 'sm_width': 1}, 'half': {'host': 0.25, 'compute': 0.5, 'memory': 0.25, "
        "'sm_width': 0.5, 'footprint': '3 GiB'}, "
        "'bytes': {'host': 0.1, 'compute': 0.3, 'memory': 0.6, 'bw_width': 0.8}, "
        "'host': {'host': 0.9, 'compute': 0.1, 'launches_per_s': 3000, 'pcie': '2 GB/s'}, "
        "'calls': {'host': 0.3, 'compute': 0.6, 'memory': 0.1, 'launches_per_s': 9000, 'kernel_us': 70, "
        "'allocs_per_s': 400, 'graphs': 0.35, 'syncs_per_s': 50}}, "
        "'policies': [{'name': 'p', 'share': {%s}}], 'schedule': {'order': '%s', 'backfill': '%s', "
        "'place': '%s', 'walltime': '%s', 'preempt': '%s'%s}, 'seed': %d%s, 'output': {'sample': '1 d'}}",
        s->fleet.s, s->share.s, order, backfill, place, any(s, walltimes), s->preempt,
        s->more.s ? s->more.s : "", (int)below(s, 1000), s->top.s ? s->top.s : "");
}

static void one(uint64_t seed, struct tally *tally)
{
    struct setting s = { .seed = seed, .preempt = "never" };
    struct second_job j[SECOND_JOBS];
    struct second_totals totals;
    struct strbuf trace = { 0 };
    struct simulated sim;
    s.kind = kind_of(&s);
    s.random = mode(&s, "random", 8);
    s.elastic = !is_only("defrag") && mode(&s, "elastic", 6);
    s.defrag = !s.elastic && (s.kind == KIND_WHOLE || s.kind == KIND_MIG) && mode(&s, "defrag", 6);
    s.faults = mode(&s, "faults", 5);
    /* What is told of many short attempts at rounded speeds may end just before or after the
     * second. */
    s.ties = chance(&s, 2) && s.kind != KIND_INTERCEPT && (!s.elastic || s.kind == KIND_WHOLE);
    s.limits = !chance(&s, 4);
    make_fleet(&s);
    make_share(&s);
    const bool many = s.kind == KIND_TIMESLICE || s.kind == KIND_MPS || s.kind == KIND_INTERCEPT;
    if (s.faults && many) second_draw_blast(&s.seed, &s.share);
    const int n = 5 + (int)below(&s, SECOND_JOBS - 5);
    int seen = n; /* who comes before the horizon */
    char *scenario = make_scenario(&s, make_jobs(&s, j, n, &trace));
    while (seen > 0 && j[seen - 1].submit >= s.stop) seen--;
    simulate(&sim, scenario, trace.s);
    second_run(&sim.run.plan[0], j, seen, &totals);
    count(tally, j, seen);
    tally->struck += totals.struck;
    const struct second_case here = { seed, scenario, trace.s, s.kind != KIND_WHOLE,
                                      s.kind == KIND_INTERCEPT };
    second_compare(&here, &sim, j, seen, &totals);
    simulated_fini(&sim);
    free(scenario);
    strbuf_fini(&trace);
    strbuf_fini(&s.fleet);
    strbuf_fini(&s.share);
    strbuf_fini(&s.more);
    strbuf_fini(&s.top);
}

static void agrees(void **state)
{
    const char *soak = getenv("GPUSIM_SOAK");
    const char *variant = getenv("GPUSIM_VARIANT");
    const bool fast = !variant || strcmp(variant, "release") == 0;
    const int scenarios = soak ? atoi(soak) : fast ? 1000 : 200;
    uint64_t seed = test_seed();
    (void)state;
    assert_true(scenarios > 0);
    struct tally t = { 0 };
    for (int i = 0; i < scenarios; i++) one(seed + (uint64_t)i, &t);
    print_message(
        "%d scenarios agree: %d jobs, %d completed, %d out of memory, %d killed, %d rejected; %d waited, "
        "%d started before one that came earlier, %d on several cards, %d slowed, %d started again, %d moves, %d struck\n",
        scenarios, t.jobs, t.state[JOB_COMPLETED], t.oom, t.state[JOB_KILLED],
        t.state[JOB_REJECTED], t.waited, t.overtook, t.gangs, t.shared, t.again, t.moves, t.struck);
    if (scenarios < 100 || getenv("GPUSIM_SECOND")) return;
    const int least = t.jobs / 200;
    assert_true(scenarios < 1000 || (t.moves > 0 && t.struck > least));
    assert_true(t.oom > least && t.state[JOB_KILLED] > least && t.state[JOB_REJECTED] > least);
    assert_true(t.waited > 10 * least && t.overtook > 5 * least && t.gangs > 5 * least &&
                t.again > least && t.shared > 5 * least);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(agrees) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
