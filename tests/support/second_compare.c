#include "support/second_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where cards are shared, or a gang's wires make it slower, speeds are rounded; and with them, or
 * with the speed of another card than the recorded one, what is done whenever somebody is stopped,
 * which its neighbours feel from then on. */
static bool near(double got_s, simtime want, double within_s)
{
    if (want == JOB_NO_TIME) return isnan(got_s);
    return fabs(got_s - simtime_s(want)) <= within_s + 1e-15 * fabs(got_s);
}

static bool same(const struct sim_job *got, const struct second_job *want, double within_s)
{
    return strcmp(got->state, job_state_names[want->state]) == 0 &&
           (int)got->attempts == want->attempts && near(got->start_s, want->start, within_s) &&
           near(got->end_s, want->end, within_s) && strcmp(got->cards, want->where) == 0 &&
           want->oom == (strcmp(got->reason, "out of memory") == 0);
}

/* When they part over a job: at its start, in whichever engine has it first, or if that is the
 * same at its end. */
static double first_s(const struct sim_job *got, const struct second_job *want)
{
    const bool start = !near(got->start_s, want->start, 1e-7);
    const double a = start ? got->start_s : got->end_s;
    return fmin(a, simtime_s(start && want->start != JOB_NO_TIME ? want->start : want->end));
}

static void show(const struct second_case *c)
{
    fprintf(stderr, "%s\n%s", c->scenario, c->trace); /* cmocka would cut it short */
}

static void compare_jobs(const struct second_case *c, const struct simulated *s,
                         const struct second_job *j, int n)
{
    const struct sim_job *got = NULL;
    int at = -1;
    double within_s = c->shared ? 2.1e-9 : 0.1e-9;
    for (int i = 0; i < n; i++) {
        const bool sized = j[i].min_gpus != JOB_NO_INT || j[i].max_gpus != JOB_NO_INT;
        if (j[i].attempts <= 1) continue;
        const bool gang = j[i].gpus_milli > 1000 || j[i].slots > 1;
        if (c->shared || j[i].model || sized || gang) within_s = 1e-7;
    }
    for (int i = 0; i < n; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        const struct sim_job *here = sim_job_of(s, "p", id);
        if (same(here, &j[i], within_s) || (got && first_s(got, &j[at]) <= first_s(here, &j[i])))
            continue;
        got = here;
        at = i;
    }
    if (!got) return;
    show(c);
    fail_msg(
        "scenario seed %llu: job %d is %s, %.9f to %.9f in %g on \"%s\"; the second engine says %s, "
        "%.9f to %.9f in %d on \"%s\"",
        (unsigned long long)c->seed, at, got->state, got->start_s, got->end_s, got->attempts,
        got->cards, job_state_names[j[at].state], simtime_s(j[at].start), simtime_s(j[at].end),
        j[at].attempts, j[at].where);
}

static void compare_count(const struct second_case *c, const char *what, uint64_t got, int want)
{
    if (got == (uint64_t)want) return;
    show(c);
    fail_msg("scenario seed %llu: %llu %s, the second engine says %d", (unsigned long long)c->seed,
             (unsigned long long)got, what, want);
}

static void compare_s(const struct second_case *c, const char *what, double got, double want)
{
    if (fabs(got - want) <= 1e-5 * (1 + got)) return;
    show(c);
    fail_msg("scenario seed %llu: %.9g s %s, the second engine says %.9g s",
             (unsigned long long)c->seed, got, what, want);
}

static void compare_failures(const struct second_case *c, const struct failure_result *f,
                             const struct second_totals *t)
{
    compare_count(c, "faults of cards", f->card_faults, t->card_faults);
    compare_count(c, "faults of nodes", f->node_faults, t->node_faults);
    compare_count(c, "faults of racks", f->rack_faults, t->rack_faults);
    compare_count(c, "faults of programs", f->job_faults, t->job_faults);
    compare_count(c, "jobs struck", f->jobs_struck, t->struck);
    compare_count(c, "jobs given up", f->jobs_given_up, t->given_up);
    compare_s(c, "of work lost", 3600 * f->lost_gpu_hours, t->lost_gpu_s);
    compare_s(c, "of cards down", 3600 * f->down_gpu_hours, t->down_card_s);
    compare_s(c, "of cards absent", 3600 * f->absent_gpu_hours, t->absent_card_s);
}

void second_compare(const struct second_case *c, const struct simulated *s,
                    const struct second_job *j, int n, const struct second_totals *t)
{
    const struct policy_result *p = sim_policy(s, "p");
    const double all_s = simtime_s(t->end) * (double)s->run.plan[0].cards - t->absent_card_s;
    int moves = t->moves;
    for (int i = 0; i < n; i++) moves += j[i].moves;
    compare_jobs(c, s, j, n);
    compare_count(c, "moves", p->migrations.moves, moves);
    compare_failures(c, &p->failures, t);
    if (!c->two_sided && all_s > 1e-6) compare_s(c, "held", p->gpu.allocated * all_s, t->allocated_card_s);
}
