/* test_second_services.c - services in the product against those of the second engine (support/second_service.h), on random small
 * scenarios: one to three services with batches, routers, limits, timeouts, scaling, cold starts, recorded requests
 * or users, and mostly jobs beside them, on cards that are shared in every way. Every request has the same fate
 * and begins and ends at the same time, every replica and job is on the same cards from and to the same time: to the nanosecond
 * where cards are not shared, else within APART_NS, since speeds are rounded. The counts, sums and percentiles
 * of the result are those of the second engine's requests.
 *
 * GPUSIM_SOAK=N replays N scenarios instead of 1,000 (200 under a sanitizer). Every scenario has a seed of its own,
 * which is printed when it fails: GPUSIM_TEST_SEED=<that> GPUSIM_SOAK=1 repeats it. */
#include "support/second_service.h"
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APART_NS = 20, REQUESTS_EACH = 150, JOBS = 24 };

/* ---- a scenario ---- */

enum kind { WHOLE, TIMESLICE, MPS, INTERCEPT, MIG, REMOTE, KINDS };

struct setting {
    uint64_t seed;
    enum kind kind;
    bool ties;     /* times in tenths of seconds, so that much happens at once */
    bool horizon;
    int cards;
    struct strbuf text, trace, requests[SECOND_SERVICES];
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

/* Below so many ms. */
static simtime some_time(struct setting *s, uint64_t most_ms)
{
    if (s->ties) return (simtime)below(s, most_ms / 100 + 1) * 100000000;
    return (simtime)below(s, most_ms * 1000000);
}

/* A time that nothing else in the scenario falls on: what happens first of two timers of one instant is not said. */
static simtime odd_time(struct setting *s, uint64_t most_ms)
{
    return (simtime)below(s, most_ms * 1000) * 1000 + 1 + (simtime)below(s, 999);
}

static void add_time(struct strbuf *b, const char *key, simtime t)
{
    strbuf_addf(b, ", '%s': '%lld ns'", key, (long long)t);
}

static void add_s(struct strbuf *b, simtime t)
{
    strbuf_addf(b, "%lld.%09lld", (long long)(t / SIM_SECOND), (long long)(t % SIM_SECOND));
}

static void make_fleet(struct setting *s)
{
    static const char *const cards[] = { "a100-sxm4-40gb", "generic", "a100-sxm4-80gb", "t4", NULL };
    const int groups = s->ties ? 1 : 1 + chance(s, 4);
    strbuf_addz(&s->text, "'fleet': [");
    for (int g = 0; g < groups; g++) {
        const int nodes = 1 + (int)below(s, 2), per = 1 + (int)below(s, 3);
        s->cards += nodes * per;
        strbuf_addf(&s->text, "%s{'name': 'g%d', 'gpu': '%s', 'nodes': %d, 'gpus_per_node': %d}",
                    g ? ", " : "", g, s->kind == MIG ? "a100-sxm4-40gb" : any(s, cards), nodes, per);
    }
    strbuf_addz(&s->text, "], ");
}

static void make_share(struct setting *s)
{
    static const char *const shares[KINDS][5] = {
        [WHOLE] = { "'whole'" },
        [TIMESLICE] = { "'timeslice', 'slots': 4, 'switch': '90 us'", "'timeslice', 'slots': 3, 'memory': 'reserve'",
                        "'timeslice', 'slots': 7, 'quantum': '7 ms'", "'timeslice', 'slots': 2" },
        [MPS] = { "'mps', 'slots': 4", "'mps', 'slots': 3, 'cap': 1, 'users': 'any'",
                  "'mps', 'slots': 6, 'cap': 0.35, 'users': 'any'", "'mps', 'slots': 4, 'users': 'any'" },
        [INTERCEPT] = { "'intercept', 'enforce': 'none'", "'intercept', 'enforce': 'soft'",
                        "'intercept', 'enforce': 'hard'", "'intercept', 'startup': '317 ms'" },
        [MIG] = { "'mig', 'layout': 'static', 'slices': ['1g.5gb', '1g.5gb', '2g.10gb', '3g.20gb']",
                  "'mig', 'layout': 'static', 'slices': {'1g.5gb': 7}", "'mig', 'layout': 'dynamic'",
                  "'mig', 'layout': 'static', 'slices': ['3g.20gb', '3g.20gb']" },
        [REMOTE] = { "'remote'", "'remote', 'rtt': '70 us', 'network': '3 GB/s'" },
    };
    size_t n = 0;
    while (n < 5 && shares[s->kind][n]) n++;
    strbuf_addf(&s->text, "'policies': [{'name': 'p', 'share': {'kind': %s}}], ",
                shares[s->kind][below(s, n)]);
}

static void make_serve(struct setting *s, struct second_service *v)
{
    static const double bends[] = { 1, 1, 2.5, 7 };
    v->serve = (enum second_serve)below(s, 3);
    v->max = v->preferred = v->serve == SECOND_SINGLE ? 1 : 1 + (int64_t)below(s, 6);
    if (v->serve == SECOND_SINGLE) return;
    v->bend = bends[below(s, 4)];
    strbuf_addf(&s->text, ", 'serve': {'kind': '%s', '%s': %d, 'bend': %g",
                v->serve == SECOND_FIXED ? "fixed" : "dynamic",
                v->serve == SECOND_FIXED ? "size" : "max", (int)v->max, v->bend);
    if (v->serve == SECOND_DYNAMIC && chance(s, 2)) {
        v->preferred = 1 + (int64_t)below(s, (uint64_t)v->max);
        strbuf_addf(&s->text, ", 'preferred': %d", (int)v->preferred);
    }
    if (v->serve == SECOND_DYNAMIC && !chance(s, 3))
        add_time(&s->text, "delay", v->delay = odd_time(s, 900));
    if (chance(s, 2)) add_time(&s->text, "floor", v->floor = some_time(s, 200));
    if (chance(s, 3)) add_time(&s->text, "weights", v->weights = some_time(s, 200));
    v->pad = chance(s, 3);
    strbuf_addf(&s->text, "%s}", v->pad ? ", 'pad': true" : "");
}

static void make_replicas(struct setting *s)
{
    const int min = 1 + (int)below(s, 3), max = min + 1 + (int)below(s, 3);
    const bool queue = chance(s, 2);
    strbuf_addz(&s->text, ", 'replicas': {");
    if (chance(s, 6)) {
        strbuf_addf(&s->text, "'per_card': %d}", s->kind == WHOLE ? 1 : 1 + (int)below(s, 2));
    } else if (chance(s, 2)) {
        strbuf_addf(&s->text, "'min': %d}", min);
    } else {
        strbuf_addf(&s->text, "'min': %d, 'max': %d, 'scale_on': '%s'", min, max,
                    queue ? "queue" : "utilization");
        if (chance(s, 2)) strbuf_addf(&s->text, ", 'target': %g", queue ? 1.7 : 0.43);
        add_time(&s->text, "interval", 400000000 + odd_time(s, 4000));
        add_time(&s->text, "down_after", odd_time(s, 9000));
        strbuf_addc(&s->text, '}');
    }
    if (chance(s, 2)) add_time(&s->text, "start_up", odd_time(s, 5000));
}

static void make_source(struct setting *s, struct second_scene *c, int k)
{
    struct second_service *v = &c->service[k];
    const uint64_t gap_ms = 50 + below(s, 1500), size_ms = 50 + below(s, 900);
    const bool sessions = chance(s, 2);
    simtime at = 0;
    int seen[8] = { 0 }, n_seen = 0;
    if (chance(s, 4)) {
        v->think = odd_time(s, 3000);
        v->size = 1 + some_time(s, size_ms);
        strbuf_addf(&s->text, ", 'users': %d, 'think': '%lld ns', 'size': '%lld ns'",
                    1 + (int)below(s, 12), (long long)v->think, (long long)v->size);
        if (!s->horizon || chance(s, 2)) strbuf_addf(&s->text, ", 'count': %d", 1 + (int)below(s, 200));
        return;
    }
    strbuf_addf(&s->text, ", 'requests': 'r%d.csv'", k);
    strbuf_addf(&s->requests[k], "arrival_s,size%s\n", sessions ? ",session" : "");
    for (int n = 1 + (int)below(s, REQUESTS_EACH); n > 0; n--) {
        struct second_request *q = &c->request[c->n_requests++];
        if (!chance(s, 6)) at += some_time(s, 2 * gap_ms); /* some come together */
        *q = (struct second_request){ .service = k, .arrival = at, .size = some_time(s, 2 * size_ms) };
        if (!s->ties) q->size += 1000000;
        add_s(&s->requests[k], at);
        strbuf_addc(&s->requests[k], ',');
        add_s(&s->requests[k], q->size);
        const int who = 1 + (int)below(s, 7);
        if (sessions && !seen[who]) seen[who] = ++n_seen;
        if (sessions) q->session = seen[who];
        strbuf_addf(&s->requests[k], sessions ? ",s%d\n" : "\n", who);
    }
}

static void make_need(struct setting *s)
{
    static const char *const part[] = { "0.1", "0.142", "0.25", "0.25", "0.4", "0.5", NULL };
    const bool whole = s->kind == WHOLE || s->kind == REMOTE;
    strbuf_addf(&s->text, ", 'need': {'gpu': %s, 'memory': '%d MiB'}", whole ? "1" : any(s, part),
                100 + (int)below(s, 2500));
    if (chance(s, 5)) strbuf_addz(&s->text, ", 'gpu_model': 'a100-sxm4-80gb'");
    if (chance(s, 5)) strbuf_addz(&s->text, ", 'speed_on': {'t4': 0.3, 'a100-sxm4-40gb': 1.3}");
}

static void make_service(struct setting *s, struct second_scene *c, int k)
{
    static const char *const routes[] = { "shared", "round_robin", "random", "least_outstanding",
                                          "least_work", "shortest_queue", "affinity", NULL };
    static const char *const profiles[] = { "wide", "half", "bytes", "host", NULL };
    strbuf_addf(&s->text, ", {'name': 's%d', 'kind': 'service', 'profile': '%s'", k, any(s, profiles));
    make_source(s, c, k);
    make_serve(s, &c->service[k]);
    make_need(s);
    make_replicas(s);
    if (!chance(s, 4)) strbuf_addf(&s->text, ", 'route': '%s'", any(s, routes));
    if (chance(s, 3)) strbuf_addf(&s->text, ", 'queue': %d", (int)below(s, 12));
    if (chance(s, 3)) add_time(&s->text, "timeout", chance(s, 4) ? 0 : some_time(s, 3000));
    strbuf_addz(&s->text, ", 'slo': {'latency_p95': '1 s', 'wait_mean': '300 ms'}}");
}

static void make_job(struct setting *s, struct second_job *j, int id, simtime at)
{
    static const char *const profiles[] = { "wide", "half", "bytes", "host", NULL };
    const bool shares = s->kind == INTERCEPT || s->kind == MIG ? !chance(s, 5) : chance(s, 3);
    *j = (struct second_job){ .submit = at,
                              .duration = 1000000 + some_time(s, 20000),
                              .limit = JOB_NO_TIME,
                              .gpus_milli = shares ? 1 + (int32_t)below(s, 600)
                                                   : 1000 * (1 + (int32_t)below(s, 2)),
                              .slots = 1,
                              .cpus_milli = JOB_NO_INT,
                              .user = (int32_t)below(s, 3),
                              .bytes = chance(s, 2) ? JOB_NO_BYTES : below(s, UINT64_C(9000000000)),
                              .profile = any(s, profiles) };
    strbuf_addf(&s->trace, "%d,", id);
    add_s(&s->trace, at);
    strbuf_addc(&s->trace, ',');
    add_s(&s->trace, j->duration);
    strbuf_addf(&s->trace, ",%d.%03d,u%d,%s,", j->gpus_milli / 1000, j->gpus_milli % 1000, j->user,
                j->profile);
    if (j->bytes != JOB_NO_BYTES) strbuf_addf(&s->trace, "%llu", (unsigned long long)j->bytes);
    strbuf_addc(&s->trace, '\n');
}

static void make_jobs(struct setting *s, struct second_job *j, struct second_scene *c, simtime stop)
{
    simtime at = 0;
    const int n = chance(s, 3) ? 0 : 1 + (int)below(s, JOBS);
    strbuf_addz(&s->trace, "job_id,submit_s,duration_s,gpus,user,profile,gpu_mem_bytes\n");
    c->job = j;
    for (int i = 0; i < n; i++) {
        at += some_time(s, 15000);
        make_job(s, &j[i], i, at);
        c->n_jobs += at < stop;
    }
    if (n > 0) strbuf_addz(&s->text, ", {'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}");
}

static void make_scenario(struct setting *s, struct second_scene *c, struct second_job *j)
{
    static const char *const places[] = { "first_fit", "best_fit", "worst_fit", "pack", "spread", NULL };
    const simtime stop = 5 * SIM_SECOND + odd_time(s, 120000);
    s->kind = (enum kind)below(s, KINDS);
    s->ties = s->kind == WHOLE && chance(s, 2);
    s->horizon = !chance(s, 3);
    strbuf_addf(&s->text, "{'format': 'gpusim-scenario/1', 'name': 's', 'seed': %d, ",
                (int)below(s, 1000));
    if (s->horizon) {
        strbuf_addz(&s->text, "'horizon': '");
        add_s(&s->text, stop);
        strbuf_addz(&s->text, " s', ");
    }
    make_fleet(s);
    make_share(s);
    strbuf_addf(&s->text, "'schedule': {'backfill': '%s', 'place': '%s'}, ",
                chance(s, 2) ? "none" : "greedy", any(s, places));
    strbuf_addz(&s->text,
                "'profiles': {'wide': {'compute': 1, 'sm_width': 1, 'bw_width': 1}, "
                "'half': {'host': 0.25, 'compute': 0.5, 'memory': 0.25, 'sm_width': 0.5, 'bw_width': 0.4, 'footprint': '3 GiB'}, "
                "'bytes': {'host': 0.1, 'compute': 0.3, 'memory': 0.6, 'sm_width': 0.3, 'bw_width': 0.8}, "
                "'host': {'host': 0.9, 'compute': 0.1, 'sm_width': 0.2, 'bw_width': 0.1, 'launches_per_s': 3000, 'pcie': '2 GB/s'}}, "
                "'work': [");
    c->n_services = 1 + (int)below(s, SECOND_SERVICES);
    const size_t from = s->text.len;
    for (int k = 0; k < c->n_services; k++) make_service(s, c, k);
    make_jobs(s, j, c, s->horizon ? stop : SIM_NEVER);
    memset(s->text.s + from, ' ', 1); /* the first comma */
    strbuf_addz(&s->text, "], 'output': {'sample': '1 d'}}");
}

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
    } job[JOBS];
};

static void on_request(void *self, const struct plan *plan, size_t k, const struct request_end *q)
{
    struct heard *h = self;
    (void)plan;
    assert_true(h->n_requests < SECOND_REQUESTS);
    h->request[h->n_requests++] = (struct heard_request){ (int)k, *q };
}

static int on_job(void *self, const struct plan *plan, const struct symtab *names, const struct job *j,
                  struct err *e)
{
    struct heard *h = self;
    const long i = strtol(j->row.id, NULL, 10);
    (void)plan, (void)names, (void)e;
    assert_true(i >= 0 && i < JOBS);
    h->job[i].state = j->state == JOB_STARTING ? JOB_RUNNING : j->state;
    h->job[i].start = j->start;
    h->job[i].end = j->end;
    return 0;
}

static int on_stay(void *self, const struct plan *plan, const struct symtab *names, const struct job *j,
                   simtime now, struct err *e)
{
    struct heard *h = self;
    (void)plan, (void)names, (void)e;
    assert_true(h->n_stands < SECOND_STANDS && j->n_holdings <= SECOND_WIDE);
    struct second_stand *x = &h->stand[h->n_stands++];
    *x = (struct second_stand){ .from = j->here, .until = now, .n = j->n_holdings };
    x->who = j->replica ? -1 - (j->row.id[strlen("service:s")] - '0') : (int)strtol(j->row.id, NULL, 10);
    for (int i = 0; i < x->n; i++) x->card[i] = (int)j->holding[i].card;
    x->slice = j->holding[0].slice;
    return 0;
}

/* ---- the same? ---- */

struct tally {
    int requests, fate[REQUEST_FATES], waited, batched, unanswered, scaled, jobs, slowed, stands, refused_scenarios;
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

static bool same_request(const struct second_request *q, const struct heard_request *h, simtime within,
                         struct tally *t)
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
            if (!taken[m] && h->request[m].service == q->service && h->request[m].q.arrival == q->arrival &&
                h->request[m].q.size_ns == (double)q->size)
                like = &h->request[m];
        snprintf(why, size,
                 "service %d: request of %lld, %lld ns: fate %d, %lld to %lld, at %d; the product: fate %d, %lld to %lld",
                 q->service, (long long)q->arrival, (long long)q->size, q->fate, (long long)q->began,
                 (long long)q->end, q->at, like ? (int)like->q.fate : -1, like ? (long long)like->q.began : 0,
                 like ? (long long)like->q.end : 0);
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
        while (k < h->n_stands && (taken[k] || !same_stand(&c->stand[i], &h->stand[k], within, t))) k++;
        if (k < h->n_stands) {
            taken[k] = true;
            continue;
        }
        const struct second_stand *x = &c->stand[i];
        snprintf(why, size, "%d stood on %d cards from %d, %lld to %lld (slice %d@%d), not in the product",
                 x->who, x->n, x->card[0], (long long)x->from, (long long)x->until, x->slice.profile,
                 x->slice.start);
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
        double latency[SECOND_REQUESTS], wait = 0, n_at = 0, within = 0;
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
            n_at += latency[n++] <= 1000;
            within += q->end - q->arrival <= SIM_SECOND && q->began - q->arrival <= 300000000;
        }
        qsort(latency, (size_t)n, sizeof *latency, ascending);
        const double window_s = simtime_s(c->end), up_s = (double)v->up_ns / 1e9;
        (void)n_at;
        snprintf(why, size,
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

static void write_and_load(struct setting *s, struct second_scene *c, struct runner *r, const char **problem)
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
    struct setting s = { .seed = seed };
    struct second_job job[JOBS];
    struct runner r = { 0 };
    struct policy_result p;
    const char *problem;
    char why[1000];
    memset(&c, 0, sizeof c);
    memset(&h, 0, sizeof h);
    make_scenario(&s, &c, job);
    write_and_load(&s, &c, &r, &problem);
    if (getenv("GPUSIM_SHOW")) fprintf(stderr, "%s\n%s", s.text.s, s.trace.s);
    if (problem) {
        t->refused_scenarios++;
        if (getenv("GPUSIM_SHOW")) fprintf(stderr, "%s\n", problem);
    } else {
        const struct sink sink = { .self = &h, .request = on_request, .job = on_job, .stay = on_stay };
        const simtime within = s.kind == WHOLE ? 0 : APART_NS;
        c.plan = &r.plan[0];
        sim_policy_run(&r, 0, &sink, &p);
        second_serve(&c);
        if (!requests_agree(&c, &h, within, t, why, sizeof why) ||
            !jobs_agree(&c, &h, within, t, why, sizeof why) ||
            !stands_agree(&c, &h, within, t, why, sizeof why) ||
            !figures_agree(&c, &p, why, sizeof why)) {
            fprintf(stderr, "%s\n%s", s.text.s, s.trace.s);
            fail_msg("scenario seed %llu: %s", (unsigned long long)seed, why);
        }
        count(t, &c);
        runner_fini(&r);
    }
    strbuf_fini(&s.text);
    strbuf_fini(&s.trace);
    for (int k = 0; k < SECOND_SERVICES; k++) strbuf_fini(&s.requests[k]);
}

static void agrees(void **state)
{
    const char *soak = getenv("GPUSIM_SOAK"), *variant = getenv("GPUSIM_VARIANT");
    const bool fast = !variant || strcmp(variant, "release") == 0;
    const int scenarios = soak ? atoi(soak) : fast ? 1000 : 200;
    const uint64_t seed = test_seed();
    struct tally t = { 0 };
    (void)state;
    assert_true(scenarios > 0);
    for (int i = 0; i < scenarios; i++) one(seed + (uint64_t)i, &t);
    print_message("%d scenarios agree (%d more were refused): %d requests, %d completed, %d refused, %d timed out, %d unanswered; "
                  "%d waited, %d slowed; %d jobs completed; %d stays, %d of replicas that came or went; furthest apart %lld ns\n",
                  scenarios - t.refused_scenarios, t.refused_scenarios, t.requests, t.fate[REQUEST_COMPLETED],
                  t.fate[REQUEST_REFUSED], t.fate[REQUEST_TIMED_OUT], t.unanswered, t.waited, t.slowed,
                  t.jobs, t.stands, t.scaled, (long long)t.apart);
    if (scenarios < 100) return;
    const int least = t.requests / 100;
    assert_true(t.refused_scenarios * 5 < scenarios);
    assert_true(t.fate[REQUEST_REFUSED] > least && t.fate[REQUEST_TIMED_OUT] > least && t.unanswered > least &&
                t.waited > 10 * least && t.slowed > 10 * least && t.jobs > least && t.scaled > scenarios / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(agrees) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
