/* test_second_services.c - services in the product against those of the second engine
 * (support/second_service.h), on random small scenarios: one to three services with batches,
 * routers, limits, timeouts, scaling, cold starts, recorded requests or users, and mostly jobs
 * beside them, on cards that are shared in every way. Every request has the same fate and begins
 * and ends at the same time, every replica and job is on the same cards from and to the same time:
 * to the nanosecond where cards are not shared, else within APART_NS, since speeds are rounded. The
 * counts, sums and percentiles of the result are those of the second engine's requests.
 *
 * GPUSIM_SOAK=N replays N scenarios instead of 400 (40 under a sanitizer). Every scenario has a
 * seed of its own, which is printed when it fails: GPUSIM_TEST_SEED=<that> GPUSIM_SOAK=1 repeats
 * it. Mutants: service-drops-who-need-not-wait, service-who-goes-holds-back,
 * service-slice-takes-no-longer. */
#include "support/second_scenes.h"
#include "support/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APART_NS = 100 };

/* ---- what the product says ---- */

struct heard_request {
    int service;
    struct request_end q;
};

struct heard {
    struct second_scene *c; /* jobs by number */
    struct heard_request request[SECOND_REQUESTS];
    int n_requests;
    struct second_stand stand[SECOND_STANDS];
    int n_stands;
    struct {
        enum job_state state;
        simtime start, end;
    } job[SCENE_JOBS];
};

static void on_request(void *self, const struct plan *plan, size_t k, const struct request_end *q)
{
    struct heard *h = self;
    (void)plan;
    assert_true(h->n_requests < SECOND_REQUESTS);
    h->request[h->n_requests++] = (struct heard_request){ (int)k, *q };
}

static int on_job(void *self, const struct plan *plan, const struct symtab *names,
                  const struct job *j, struct err *e)
{
    struct heard *h = self;
    const long i = strtol(j->row.id, NULL, 10);
    (void)plan, (void)names, (void)e;
    assert_true(i >= 0 && i < SCENE_JOBS);
    h->job[i].state = j->state == JOB_STARTING ? JOB_RUNNING : j->state;
    h->job[i].start = j->start;
    h->job[i].end = j->end;
    return 0;
}

static int on_stay(void *self, const struct plan *plan, const struct symtab *names,
                   const struct job *j, simtime now, struct err *e)
{
    struct heard *h = self;
    (void)plan, (void)names, (void)e;
    assert_true(h->n_stands < SECOND_STANDS && j->n_holdings <= SECOND_WIDE);
    struct second_stand *x = &h->stand[h->n_stands++];
    *x = (struct second_stand){ .from = j->here, .until = now, .n = j->n_holdings };
    x->who =
        j->replica ? -1 - (j->row.id[strlen("service:s")] - '0') : (int)strtol(j->row.id, NULL, 10);
    for (int i = 0; i < x->n; i++) x->card[i] = (int)j->holding[i].card;
    x->slice = j->holding[0].slice;
    return 0;
}

/* ---- the same? ---- */

struct tally {
    int requests, fate[REQUEST_FATES], waited, unanswered, scaled, jobs, slowed, stands,
        refused_scenarios, tied;
    int64_t apart;
};

static bool near_(simtime a, simtime b, simtime within, struct tally *t)
{
    if (a == JOB_NO_TIME || b == JOB_NO_TIME) return a == b;
    const int64_t apart = llabs(a - b);
    if (apart > within) return false;
    if (apart > t->apart) t->apart = apart;
    return true;
}

static bool same_request(const struct second_request *q, const struct heard_request *h,
                         simtime within, struct tally *t)
{
    return q->service == h->service && q->fate == h->q.fate && (double)q->size == h->q.size_ns &&
           near_(q->arrival, h->q.arrival, q->user ? within : 0, t) &&
           near_(q->end, h->q.end, within, t) && near_(q->began, h->q.began, within, t);
}

/* Every one has another for itself. */
static bool requests_agree(const struct second_scene *c, const struct heard *h, simtime within,
                           struct tally *t, char *why, size_t size)
{
    static bool taken[SECOND_REQUESTS];
    int left = 0;
    memset(taken, 0, sizeof taken);
    for (int i = 0; i < c->n_requests; i++) {
        const struct second_request *q = &c->request[i];
        int k = 0;
        if (q->state != SECOND_LEFT) continue;
        left++;
        while (k < h->n_requests && (taken[k] || !same_request(q, &h->request[k], within, t))) k++;
        if (k < h->n_requests) {
            taken[k] = true;
            continue;
        }
        const struct heard_request *like = NULL;
        for (int m = 0; m < h->n_requests && !like; m++)
            if (!taken[m] && h->request[m].service == q->service &&
                h->request[m].q.arrival == q->arrival && h->request[m].q.size_ns == (double)q->size)
                like = &h->request[m];
        snprintf(
            why, size,
            "service %d: request of %lld, %lld ns: fate %d, %lld to %lld, at %d; the product: fate %d, %lld to %lld",
            q->service, (long long)q->arrival, (long long)q->size, q->fate, (long long)q->began,
            (long long)q->end, q->at, like ? (int)like->q.fate : -1,
            like ? (long long)like->q.began : 0, like ? (long long)like->q.end : 0);
        return false;
    }
    snprintf(why, size, "%d requests left, in the product %d", left, h->n_requests);
    return left == h->n_requests;
}

static bool same_stand(const struct second_stand *a, const struct second_stand *b, simtime within,
                       struct tally *t)
{
    return a->who == b->who && a->n == b->n && memcmp(a->card, b->card, sizeof a->card) == 0 &&
           a->slice.profile == b->slice.profile &&
           (a->slice.profile < 0 || a->slice.start == b->slice.start) &&
           near_(a->from, b->from, within, t) && near_(a->until, b->until, within, t);
}

static bool stands_agree(const struct second_scene *c, const struct heard *h, simtime within,
                         struct tally *t, char *why, size_t size)
{
    static bool taken[SECOND_STANDS];
    memset(taken, 0, sizeof taken);
    for (int i = 0; i < c->n_stands; i++) {
        int k = 0;
        while (k < h->n_stands && (taken[k] || !same_stand(&c->stand[i], &h->stand[k], within, t)))
            k++;
        if (k < h->n_stands) {
            taken[k] = true;
            continue;
        }
        const struct second_stand *x = &c->stand[i];
        snprintf(why, size,
                 "%d stood on %d cards from %d, %lld to %lld (slice %d@%d), not in the product",
                 x->who, x->n, x->card[0], (long long)x->from, (long long)x->until,
                 x->slice.profile, x->slice.start);
        return false;
    }
    snprintf(why, size, "%d stays, in the product %d", c->n_stands, h->n_stands);
    return c->n_stands == h->n_stands;
}

static bool jobs_agree(const struct second_scene *c, const struct heard *h, simtime within,
                       struct tally *t, char *why, size_t size)
{
    for (int i = 0; i < c->n_jobs; i++) {
        const struct second_job *j = &c->job[i];
        if (j->state == h->job[i].state && near_(j->start, h->job[i].start, within, t) &&
            (j->end == JOB_NO_TIME || near_(j->end, h->job[i].end, within, t)))
            continue;
        snprintf(why, size, "job %d is %s, %lld to %lld; the product: %s, %lld to %lld", i,
                 job_state_names[j->state], (long long)j->start, (long long)j->end,
                 job_state_names[h->job[i].state], (long long)h->job[i].start,
                 (long long)h->job[i].end);
        return false;
    }
    return true;
}

/* ---- figures ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool close_to(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-4 * (1 + fabs(b));
}

/* The smallest with at least p of the samples at or below it. */
static double percentile(const double *x, int n, double p)
{
    for (int i = 0; i < n; i++)
        if (i + 1 >= p * n - 1e-9) return x[i];
    return NAN;
}

static bool figures_agree(const struct second_scene *c, const struct policy_result *p, char *why,
                          size_t size)
{
    for (int k = 0; k < c->n_services; k++) {
        const struct service_result *r = &p->service[k];
        const struct second_service *v = &c->service[k];
        double latency[SECOND_REQUESTS], wait = 0, within = 0;
        uint64_t came = 0, fate[REQUEST_FATES] = { 0 }, waiting = 0, served = 0, left = 0;
        int n = 0;
        for (int i = 0; i < c->n_requests; i++) {
            const struct second_request *q = &c->request[i];
            if (q->service != k || q->state == SECOND_COMES) continue;
            came++;
            waiting += q->state == SECOND_WAITS;
            served += q->state == SECOND_SERVED;
            if (q->state != SECOND_LEFT) continue;
            left++;
            fate[q->fate]++;
            if (q->fate != REQUEST_COMPLETED) continue;
            latency[n] = (double)(q->end - q->arrival) / 1e6;
            wait += (double)(q->began - q->arrival) / 1e6;
            n++;
            within += q->end - q->arrival <= SIM_SECOND && q->began - q->arrival <= 300000000;
        }
        qsort(latency, (size_t)n, sizeof *latency, ascending);
        const double window_s = simtime_s(c->end), up_s = (double)v->up_ns / 1e9;
        snprintf(
            why, size,
            "service %d: %d requests, %d completed, %d refused, %d late, %d wait, %d served; p95 %g, up %g, busy %g, at most %d, %d came up; "
            "the product: %d, %d, %d, %d, %d, %d; %g, %g, %g, %d, %d",
            k, (int)came, (int)fate[REQUEST_COMPLETED], (int)fate[REQUEST_REFUSED],
            (int)fate[REQUEST_TIMED_OUT], (int)waiting, (int)served, percentile(latency, n, 0.95),
            up_s / window_s, (double)v->busy_ns / (double)v->up_ns, v->up_most, v->came_up,
            (int)r->requests, (int)r->completed, (int)r->refused, (int)r->timed_out,
            (int)r->waiting, (int)r->in_service, r->latency_ms.p95, r->replicas_mean, r->busy,
            (int)r->replicas_max, (int)r->replicas_started);
        if (came != r->requests || fate[REQUEST_COMPLETED] != r->completed ||
            fate[REQUEST_REFUSED] != r->refused || fate[REQUEST_TIMED_OUT] != r->timed_out ||
            waiting != r->waiting || served != r->in_service)
            return false;
        if (window_s > 0 && !close_to(r->replicas_mean, up_s / window_s)) return false;
        if (v->up_ns > 0 && !close_to(r->busy, (double)v->busy_ns / (double)v->up_ns)) return false;
        if ((int)r->replicas_started != v->came_up) return false;
        if (left > 0 && !close_to(r->attainment, within / (double)left)) return false;
        if (!r->stable || n == 0) continue; /* no figures */
        if (!close_to(r->latency_ms.p95, percentile(latency, n, 0.95)) ||
            !close_to(r->latency_ms.p50, percentile(latency, n, 0.5)) ||
            !close_to(r->latency_ms.max, latency[n - 1]) || !close_to(r->wait_ms.mean, wait / n))
            return false;
    }
    return true;
}

static void count(struct tally *t, const struct second_scene *c)
{
    for (int i = 0; i < c->n_requests; i++) {
        const struct second_request *q = &c->request[i];
        t->requests += q->state != SECOND_COMES;
        t->unanswered += q->state == SECOND_WAITS || q->state == SECOND_SERVED;
        if (q->state != SECOND_LEFT) continue;
        t->fate[q->fate]++;
        t->waited += q->fate == REQUEST_COMPLETED && q->began > q->arrival;
        t->slowed += q->fate == REQUEST_COMPLETED && q->end - q->began > q->size;
    }
    for (int i = 0; i < c->n_jobs; i++) t->jobs += c->job[i].state == JOB_COMPLETED;
    for (int i = 0; i < c->n_stands; i++)
        t->scaled += c->stand[i].who < 0 && (c->stand[i].from > 0 || c->stand[i].until < c->end);
    t->stands += c->n_stands;
}

/* ---- both ---- */

static void write_and_load(struct scene_setting *s, struct second_scene *c, struct runner *r,
                           const char **problem)
{
    static char said[600];
    struct sim_file files[SECOND_SERVICES + 1] = { 0 };
    static const char *const names[] = { "r0.csv", "r1.csv", "r2.csv" };
    int n = 0;
    for (int k = 0; k < c->n_services; k++)
        if (s->requests[k].s) files[n++] = (struct sim_file){ names[k], s->requests[k].s };
    *problem = NULL;
    if (sim_problems(s->text.s, s->trace.s, files, said, sizeof said) > 0)
        *problem = said;
    else
        sim_load(r, sim_write(s->text.s, s->trace.s, files));
}

static void one(uint64_t seed, struct tally *t)
{
    static struct second_scene c;
    static struct heard h;
    struct scene_setting s = { .seed = seed };
    struct second_job job[SCENE_JOBS];
    struct runner r = { 0 };
    struct policy_result p;
    const char *problem;
    char why[1000];
    memset(&c, 0, sizeof c);
    memset(&h, 0, sizeof h);
    scene_make(&s, &c, job);
    write_and_load(&s, &c, &r, &problem);
    if (getenv("GPUSIM_SHOW")) fprintf(stderr, "%s\n%s", s.text.s, s.trace.s);
    if (problem) {
        t->refused_scenarios++;
        if (getenv("GPUSIM_SHOW")) fprintf(stderr, "%s\n", problem);
    } else {
        const struct sink sink = {
            .self = &h, .request = on_request, .job = on_job, .stay = on_stay
        };
        const simtime within = s.kind == WHOLE ? 0 : APART_NS;
        c.plan = &r.plan[0];
        sim_policy_run(&r, 0, &sink, &p);
        second_serve(&c);
        t->tied += c.tied;
        if (c.tied) {
            /* nothing can be told */
        } else if (!requests_agree(&c, &h, within, t, why, sizeof why) ||
                   !jobs_agree(&c, &h, within, t, why, sizeof why) ||
                   !stands_agree(&c, &h, within, t, why, sizeof why) ||
                   !figures_agree(&c, &p, why, sizeof why)) {
            fprintf(stderr, "%s\n%s", s.text.s, s.trace.s); /* cmocka would cut it short */
            fail_msg("scenario seed %llu: %s", (unsigned long long)seed, why);
        }
        count(t, &c);
        runner_fini(&r);
    }
    scene_fini(&s);
}

static void agrees(void **state)
{
    const char *soak = getenv("GPUSIM_SOAK"), *variant = getenv("GPUSIM_VARIANT");
    const bool fast = !variant || strcmp(variant, "release") == 0;
    const int scenarios = soak ? atoi(soak) : fast ? 400 : 40;
    const uint64_t seed = test_seed();
    struct tally t = { 0 };
    (void)state;
    assert_true(scenarios > 0);
    for (int i = 0; i < scenarios; i++) one(seed + (uint64_t)i, &t);
    print_message(
        "%d scenarios agree (%d more were refused, %d hang on a tie): %d requests, %d completed, %d refused, %d timed out, %d unanswered; "
        "%d waited, %d slowed; %d jobs completed; %d stays, %d of replicas that came or went; furthest apart %lld ns\n",
        scenarios - t.refused_scenarios - t.tied, t.refused_scenarios, t.tied, t.requests,
        t.fate[REQUEST_COMPLETED], t.fate[REQUEST_REFUSED], t.fate[REQUEST_TIMED_OUT], t.unanswered,
        t.waited, t.slowed, t.jobs, t.stands, t.scaled, (long long)t.apart);
    if (scenarios < 100) return;
    const int least = t.requests / 100;
    assert_true(t.refused_scenarios * 5 < scenarios && t.tied * 5 < scenarios);
    assert_true(t.fate[REQUEST_REFUSED] > least && t.fate[REQUEST_TIMED_OUT] > least &&
                t.unanswered > least && t.waited > 10 * least && t.slowed > 10 * least &&
                t.jobs > least && t.scaled > scenarios / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(agrees) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
