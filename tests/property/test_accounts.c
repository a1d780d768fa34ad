/* test_accounts.c - quotas, cohorts and dominant resource fairness on random work against the rules
 * written down again, with a scan of all jobs for every decision: the account with the smallest
 * share has the turn, its jobs in order; one whom the quota has no room for holds up its account,
 * one without cards holds up everybody (none) or nobody (greedy). Mutants: a held lane is not
 * released for a cohort, the rank of an account is that of its last start. */
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 150, CARDS = 12, CORES = 40, GROUPS = 5, RUNS = 24 };

struct work {
    int submit, run, gpus, cores, group, start, end;
};

struct rules {
    int own[GROUPS], borrow[GROUPS]; /* borrow -1: hard */
    double weight[GROUPS];
    bool quotas, drf, greedy;
};

struct state {
    int gpus[GROUPS], cores[GROUPS], free_gpus, free_cores;
};

static struct state state_at(const struct work *w, int now)
{
    struct state s = { .free_gpus = CARDS, .free_cores = CORES };
    for (int i = 0; i < JOBS; i++) {
        if (w[i].start < 0 || w[i].start > now || w[i].end <= now) continue;
        s.gpus[w[i].group] += w[i].gpus;
        s.cores[w[i].group] += w[i].cores;
        s.free_gpus -= w[i].gpus;
        s.free_cores -= w[i].cores;
    }
    return s;
}

static double share(const struct rules *r, const struct state *s, int g)
{
    return !r->drf ? 0
                   : fmax((double)s->gpus[g] / CARDS, (double)s->cores[g] / CORES) / r->weight[g];
}

/* Groups 0 to 2 are a cohort, 3 and 4 have hard quotas. */
static bool quota_has_room(const struct rules *r, const struct state *s, int g, int more)
{
    int own = 0, used = 0;
    if (!r->quotas || more == 0) return true;
    if (g > 2) return s->gpus[g] + more <= r->own[g];
    for (int k = 0; k <= 2; k++) own += r->own[k], used += s->gpus[k];
    return s->gpus[g] + more <= r->own[g] + r->borrow[g] && used + more <= own;
}

/* Start who may start now, one at a time. */
static void decide(const struct rules *r, struct work *w, int now)
{
    bool blocked[GROUPS], looked[JOBS] = { false };
    for (;;) {
        const struct state s = state_at(w, now);
        int best = -1;
        memset(blocked, 0, sizeof blocked);
        /* The first job of an account that its quota has no room for stops the account; greedy,
         * those that were looked at and found no cards are behind us. */
        for (int i = 0; i < JOBS; i++) {
            if (w[i].start >= 0 || w[i].submit > now || blocked[w[i].group] || looked[i]) continue;
            if (!quota_has_room(r, &s, w[i].group, w[i].gpus)) {
                blocked[w[i].group] = true;
                continue;
            }
            if (best < 0 || share(r, &s, w[i].group) < share(r, &s, w[best].group)) best = i;
        }
        if (best < 0) return;
        if (w[best].gpus <= s.free_gpus && w[best].cores <= s.free_cores) {
            w[best].start = now;
            w[best].end = now + w[best].run;
        } else if (r->greedy) {
            looked[best] = true;
        } else {
            return;
        }
    }
}

static void as_the_rules_say(void **state)
{
    uint64_t seed = test_seed();
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        static const int sizes[] = { 0, 1, 1, 1, 2, 3, 4, 6 };
        struct work w[JOBS];
        struct rules r = { .quotas = run % 4 != 0, .drf = run % 2 == 0, .greedy = run % 3 == 0 };
        struct strbuf trace = { 0 }, quotas = { 0 }, weights = { 0 };
        int at = 0, total = 0;
        for (int g = 0; g < GROUPS; g++) {
            r.own[g] =
                g > 2 ? 2 + (int)(test_random(&seed) % 6) : 1 + (int)(test_random(&seed) % 3);
            r.weight[g] = run % 5 ? 1 : 1 + (double)(test_random(&seed) % 3);
            if (g <= 2) total += r.own[g];
            strbuf_addf(&weights, "%s'g%d': %g", g ? ", " : "", g, r.weight[g]);
        }
        for (int g = 0; g < GROUPS; g++) {
            if (g <= 2) r.borrow[g] = (int)(test_random(&seed) % (uint64_t)(total - r.own[g] + 1));
            strbuf_addf(&quotas, "%s'g%d': {'gpus': %d", g ? ", " : "", g, r.own[g]);
            if (g <= 2) strbuf_addf(&quotas, ", 'borrow': %d, 'cohort': 'c'", r.borrow[g]);
            strbuf_addz(&quotas, "}");
        }
        strbuf_addz(&trace, "job_id,submit_s,duration_s,gpus,cpus,group\n");
        for (int i = 0; i < JOBS; i++) {
            at += (int)(test_random(&seed) % 30);
            w[i] = (struct work){ .submit = at,
                                  .run = 10 + (int)(test_random(&seed) % 200),
                                  .gpus = sizes[test_random(&seed) % 8],
                                  .cores = 1 + (int)(test_random(&seed) % 12),
                                  .group = (int)(test_random(&seed) % GROUPS),
                                  .start = -1,
                                  .end = -1 };
            strbuf_addf(&trace, "%d,%d,%d,%d,%d,g%d\n", i, at, w[i].run, w[i].gpus, w[i].cores,
                        w[i].group);
            const struct state none = { 0 };
            if (!quota_has_room(&r, &none, w[i].group, w[i].gpus)) w[i].start = w[i].end = 1 << 30;
        }
        for (int now = 0, left = 1; left; now++) {
            bool due = false;
            left = 0;
            for (int i = 0; i < JOBS; i++) {
                due |= w[i].submit == now || w[i].end == now;
                left |= w[i].start < 0;
            }
            if (due) decide(&r, w, now);
            assert_true(now < 1000000);
        }
        char *scenario = xasprintf(
            "{'format': 'gpusim-scenario/1', 'name': 'accounts', 'fleet': [{'name': 'pool',"
            " 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': %d, 'cpu_cores': %d}],"
            " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
            " 'policies': [{'name': 'p', 'share': {'kind': 'whole'}}],"
            " 'schedule': {'backfill': '%s', 'order': '%s'%s%s%s%s%s%s}, 'output': {'sample': '1 d'}}",
            CARDS, CORES, r.greedy ? "greedy" : "none", r.drf ? "drf" : "fifo",
            r.quotas ? ", 'quotas': {" : "", r.quotas ? quotas.s : "", r.quotas ? "}" : "",
            r.drf ? ", 'weights': {" : "", r.drf ? weights.s : "", r.drf ? "}" : "");
        struct simulated s;
        simulate(&s, scenario, trace.s);
        assert_int_equal(s.n_jobs, JOBS);
        for (size_t i = 0; i < s.n_jobs; i++) {
            const int k = atoi(s.job[i].id);
            if (w[k].start == 1 << 30 ? strcmp(s.job[i].state, "rejected") != 0
                                      : s.job[i].start_s != w[k].start)
                fail_msg("run %d, %s: job %d (%s) starts at %g s, the rules say %d s", run,
                         scenario, k, s.job[i].state, s.job[i].start_s, w[k].start);
        }
        simulated_fini(&s);
        free(scenario);
        strbuf_fini(&trace);
        strbuf_fini(&quotas);
        strbuf_fini(&weights);
    }
}

/* ---- an order that preempts ---- */

enum { SRTF, FEWEST, PREEMPT_JOBS = 120 };

struct preempted {
    int submit, length, gpus, group, done, start, end, attempts;
    bool runs;
};

static int rank(int order, const struct preempted *j)
{
    return order == SRTF ? j->length - j->done : j->gpus;
}

/* All who are there, by rank: each gets its cards and its part of the quota or not. Who finds no
 * quota holds back those of its group who wait behind it. */
static void entitle(const struct rules *r, int order, struct preempted *j, int now)
{
    struct state s = { .free_gpus = CARDS };
    bool seen[PREEMPT_JOBS] = { false }, held[GROUPS] = { false };
    for (;;) {
        struct preempted *b = NULL;
        for (int i = 0; i < PREEMPT_JOBS; i++)
            if (!seen[i] && j[i].submit <= now && j[i].end < 0 &&
                (!b || rank(order, &j[i]) < rank(order, b)))
                b = &j[i];
        if (!b) return;
        seen[b - j] = true;
        if (held[b->group] && !b->runs) continue;
        const bool may = quota_has_room(r, &s, b->group, b->gpus);
        held[b->group] |= !may;
        const bool runs = may && b->gpus <= s.free_gpus;
        if (runs) {
            s.free_gpus -= b->gpus;
            s.gpus[b->group] += b->gpus;
            if (!b->runs && b->attempts++ == 0) b->start = now;
        }
        b->runs = runs;
    }
}

static void preempting(const struct rules *r, int order, struct preempted *j)
{
    for (int now = 0, left = 1; left; now++) {
        bool due = false;
        left = 0;
        for (int i = 0; i < PREEMPT_JOBS; i++) {
            if (j[i].runs && ++j[i].done == j[i].length) {
                j[i].runs = false;
                j[i].end = now;
                due = true;
            }
            due |= j[i].submit == now;
            left |= j[i].end < 0;
        }
        if (due) entitle(r, order, j, now);
        assert_true(now < 1000000);
    }
}

static void random_jobs(uint64_t *seed, struct preempted *j, struct strbuf *trace)
{
    int at = 1;
    strbuf_addz(trace, "job_id,submit_s,duration_s,gpus,group\n");
    for (int i = 0; i < PREEMPT_JOBS; i++) {
        at += (int)(test_random(seed) % 40);
        j[i] = (struct preempted){ .submit = at,
                                   .length = 10 + (int)(test_random(seed) % 200),
                                   .gpus = 1 + (int)(test_random(seed) % 3),
                                   .group = (int)(test_random(seed) % GROUPS),
                                   .end = -1 };
        strbuf_addf(trace, "%d,%d,%d,%d,g%d\n", i, at, j[i].length, j[i].gpus, j[i].group);
    }
}

static void random_quotas(uint64_t *seed, struct rules *r, struct strbuf *quotas)
{
    int total = 0;
    for (int g = 0; g < GROUPS; g++) {
        r->own[g] = 3 + (int)(test_random(seed) % (g > 2 ? 6 : 2));
        if (g <= 2) total += r->own[g];
    }
    for (int g = 0; g < GROUPS; g++) {
        r->borrow[g] = (int)(test_random(seed) % (uint64_t)(total - r->own[g] + 1));
        strbuf_addf(quotas, "%s'g%d': {'gpus': %d", g ? ", " : "", g, r->own[g]);
        if (g <= 2) strbuf_addf(quotas, ", 'borrow': %d, 'cohort': 'c'", r->borrow[g]);
        strbuf_addz(quotas, "}");
    }
}

/* Placed one by one or all anew: on one node it makes no difference. Who must leave its cards
 * for others of the node at once has one attempt more than the rules say, which know no cards. */
static void with_preemption(void **state)
{
    static const char *const name[] = { "srtf", "fewest" };
    uint64_t seed = test_seed();
    int stopped = 0, waited = 0;
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        struct preempted j[PREEMPT_JOBS];
        struct rules r = { .quotas = true };
        struct strbuf trace = { 0 }, quotas = { 0 };
        struct simulated s;
        random_quotas(&seed, &r, &quotas);
        random_jobs(&seed, j, &trace);
        preempting(&r, run % 2, j);
        char *scenario = xasprintf(
            "{'format': 'gpusim-scenario/1', 'name': 'accounts', 'fleet': [{'name': 'pool',"
            " 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': %d}],"
            " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
            " 'policies': [{'name': 'p', 'share': {'kind': 'whole'}}], 'schedule': {'order': '%s',"
            " 'backfill': 'greedy', 'quotas': {%s}%s}, 'output': {'sample': '1 d'}}",
            CARDS, name[run % 2], quotas.s,
            run / 2 % 2 ? ", 'migrate': 'replace', 'migrate_pause': '0 s'" : "");
        simulate(&s, scenario, trace.s);
        assert_int_equal(s.n_jobs, PREEMPT_JOBS);
        for (size_t i = 0; i < s.n_jobs; i++) {
            const struct sim_job *got = &s.job[i];
            const struct preempted *b = &j[atoi(got->id)];
            stopped += b->attempts > 1;
            waited += b->start > b->submit;
            if (got->start_s != b->start || got->end_s != b->end || got->attempts < b->attempts)
                fail_msg("run %d, %s: job %s from %g to %g in %g, the rules say %d to %d in %d",
                         run, scenario, got->id, got->start_s, got->end_s, got->attempts, b->start,
                         b->end, b->attempts);
        }
        simulated_fini(&s);
        free(scenario);
        strbuf_fini(&trace);
        strbuf_fini(&quotas);
    }
    assert_true(stopped > RUNS && waited > RUNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(as_the_rules_say),
                                        cmocka_unit_test(with_preemption) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
