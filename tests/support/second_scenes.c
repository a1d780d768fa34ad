#include "support/second_scenes.h"

#include "support/second_draw.h"
#include "support/support.h"

#include <string.h>

static uint64_t below(struct scene_setting *s, uint64_t n)
{
    return test_random(&s->seed) % n;
}

static bool chance(struct scene_setting *s, uint64_t in)
{
    return below(s, in) == 0;
}

static const char *any(struct scene_setting *s, const char *const *of)
{
    size_t n = 0;
    while (of[n]) n++;
    return of[below(s, n)];
}

/* Below so many ms. */
static simtime some_time(struct scene_setting *s, uint64_t most_ms)
{
    if (s->ties) return (simtime)below(s, most_ms / 100 + 1) * 100000000;
    return (simtime)below(s, most_ms * 1000000);
}

/* A time that nothing else in the scenario falls on: what happens first of two timers of one
 * instant is not said. */
static simtime odd_time(struct scene_setting *s, uint64_t most_ms)
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

static void make_fleet(struct scene_setting *s)
{
    static const char *const cards[] = { "a100-sxm4-40gb", "generic", "a100-sxm4-80gb", "t4",
                                         NULL };
    const int groups = s->ties ? 1 : 1 + chance(s, 4);
    strbuf_addz(&s->text, "'fleet': [");
    for (int g = 0; g < groups; g++) {
        const int nodes = 1 + (int)below(s, 2), per = 1 + (int)below(s, 3);
        s->cards += nodes * per;
        strbuf_addf(&s->text, "%s{'name': 'g%d', 'gpu': '%s', 'nodes': %d, 'gpus_per_node': %d}",
                    g ? ", " : "", g, s->kind == MIG ? "a100-sxm4-40gb" : any(s, cards), nodes,
                    per);
    }
    strbuf_addz(&s->text, "], ");
}

static void make_share(struct scene_setting *s)
{
    static const char *const slices[] = {
        "'layout': 'static', 'slices': ['1g.5gb', '1g.5gb', '2g.10gb', '3g.20gb']",
        "'layout': 'static', 'slices': {'1g.5gb': 7}", "'layout': 'dynamic'",
        "'layout': 'static', 'slices': ['3g.20gb', '3g.20gb']", NULL
    };
    const bool bus = !strstr(s->text.s, "generic");
    strbuf_addz(&s->text, "'policies': [{'name': 'p', 'share': {");
    switch (s->kind) {
    case WHOLE: strbuf_addz(&s->text, "'kind': 'whole'"); break;
    case TIMESLICE: second_draw_timeslice(&s->seed, bus, &s->text); break;
    case MPS: second_draw_mps(&s->seed, false, &s->text); break;
    case INTERCEPT: second_draw_intercept(&s->seed, &s->text); break;
    case MIG: strbuf_addf(&s->text, "'kind': 'mig', %s", any(s, slices)); break;
    case REMOTE:
        strbuf_addf(&s->text, "'kind': 'remote'%s",
                    chance(s, 2) ? "" : ", 'rtt': '70 us', 'network': '3 GB/s'");
        break;
    case OVERCOMMIT: second_draw_overcommit(&s->seed, &s->text); break;
    default: break;
    }
    strbuf_addz(&s->text, "}}], ");
}

static void make_serve(struct scene_setting *s, struct second_service *v)
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

static void make_replicas(struct scene_setting *s)
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

static void make_source(struct scene_setting *s, struct second_scene *c, int k)
{
    struct second_service *v = &c->service[k];
    const uint64_t gap_ms = 50 + below(s, 1500), size_ms = 50 + below(s, 900);
    const bool sessions = chance(s, 2);
    simtime at = 0;
    int seen[8] = { 0 }, n_seen = 0;
    if (chance(s, 4)) {
        const bool endless = s->horizon && chance(s, 2);
        v->think = odd_time(s, 3000) + (endless ? SIM_SECOND : 0);
        v->size = 1 + some_time(s, size_ms);
        strbuf_addf(&s->text, ", 'users': %d, 'think': '%lld ns', 'size': '%lld ns'",
                    1 + (int)below(s, endless ? 4 : 12), (long long)v->think, (long long)v->size);
        if (!endless) strbuf_addf(&s->text, ", 'count': %d", 1 + (int)below(s, 200));
        return;
    }
    strbuf_addf(&s->text, ", 'requests': 'r%d.csv'", k);
    strbuf_addf(&s->requests[k], "arrival_s,size%s\n", sessions ? ",session" : "");
    for (int n = 1 + (int)below(s, SCENE_REQUESTS); n > 0; n--) {
        struct second_request *q = &c->request[c->n_requests++];
        if (!chance(s, 6)) at += some_time(s, 2 * gap_ms); /* some come together */
        *q = (struct second_request){ .service = k,
                                      .arrival = at,
                                      .size = some_time(s, 2 * size_ms) };
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

static void make_need(struct scene_setting *s)
{
    static const char *const part[] = { "0.1", "0.142", "0.25", "0.25", "0.4", "0.5", NULL };
    const bool whole = s->kind == WHOLE || s->kind == REMOTE || s->kind == OVERCOMMIT;
    strbuf_addf(&s->text, ", 'need': {'gpu': %s, 'memory': '%d MiB'}", whole ? "1" : any(s, part),
                100 + (int)below(s, 2500));
    if (chance(s, 5)) strbuf_addz(&s->text, ", 'gpu_model': 'a100-sxm4-80gb'");
    if (chance(s, 5)) strbuf_addz(&s->text, ", 'speed_on': {'t4': 0.3, 'a100-sxm4-40gb': 1.3}");
}

/* Users of the same thinking time come in step. Who of several leaves first in an instant, and asks
 * first the next time, is not said where it is of different queues; by affinity it matters. */
static void make_limits(struct scene_setting *s, const char *route, bool users)
{
    if (chance(s, 3)) strbuf_addf(&s->text, ", 'queue': %d", (int)below(s, 12));
    if (users && strcmp(route, "affinity") == 0) return;
    if (chance(s, 3)) add_time(&s->text, "timeout", chance(s, 4) ? 0 : some_time(s, 3000));
}

static void make_service(struct scene_setting *s, struct second_scene *c, int k)
{
    static const char *const routes[] = { "shared",     "round_robin",
                                          "random",     "least_outstanding",
                                          "least_work", "shortest_queue",
                                          "affinity",   NULL };
    static const char *const profiles[] = { "wide", "half", "bytes", "host", NULL };
    const char *route = any(s, routes);
    strbuf_addf(&s->text, ", {'name': 's%d', 'kind': 'service', 'profile': '%s'", k,
                any(s, profiles));
    make_source(s, c, k);
    make_serve(s, &c->service[k]);
    make_need(s);
    make_replicas(s);
    strbuf_addf(&s->text, ", 'route': '%s'", route);
    make_limits(s, route, c->service[k].think > 0);
    strbuf_addz(&s->text, ", 'slo': {'latency_p95': '1 s', 'wait_mean': '300 ms'}}");
}

static void make_job(struct scene_setting *s, struct second_job *j, int id, simtime at)
{
    static const char *const profiles[] = { "wide", "half", "bytes", "host", NULL };
    const bool shares = s->kind == INTERCEPT || s->kind == MIG ? !chance(s, 5) : chance(s, 3);
    *j = (struct second_job){ .submit = at,
                              .duration = 1000000 + some_time(s, 20000),
                              .limit = chance(s, 4) ? JOB_NO_TIME : 1000000 + some_time(s, 30000),
                              .gpus_milli = shares ? 1 + (int32_t)below(s, 600)
                                                   : 1000 * (1 + (int32_t)below(s, 2)),
                              .slots = 1,
                              .cpus_milli = JOB_NO_INT,
                              .deadline = chance(s, 4) ? JOB_NO_TIME : some_time(s, 200000),
                              .priority = (int32_t)below(s, 4),
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
    strbuf_addf(&s->trace, ",%d,", j->priority);
    if (j->limit != JOB_NO_TIME) add_s(&s->trace, j->limit);
    strbuf_addc(&s->trace, ',');
    if (j->deadline != JOB_NO_TIME) add_s(&s->trace, j->deadline);
    strbuf_addc(&s->trace, '\n');
}

static void make_jobs(struct scene_setting *s, struct second_job *j, struct second_scene *c,
                      simtime stop)
{
    simtime at = 0;
    const int n = chance(s, 3) ? 0 : 1 + (int)below(s, SCENE_JOBS);
    strbuf_addz(&s->trace, "job_id,submit_s,duration_s,gpus,user,profile,gpu_mem_bytes,"
                           "priority,walltime_s,deadline_s\n");
    c->job = j;
    for (int i = 0; i < n; i++) {
        at += some_time(s, 15000);
        make_job(s, &j[i], i, at);
        c->n_jobs += at < stop;
    }
    if (n > 0) strbuf_addz(&s->text, ", {'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}");
}

/* Two users may lend to each other, the third has its own. */
static void make_quotas(struct scene_setting *s)
{
    const int one = (int)below(s, (uint64_t)s->cards + 1),
              other = (int)below(s, (uint64_t)(s->cards - one) + 1);
    const char *lend = chance(s, 3) ? "" : ", 'cohort': 'c'";
    strbuf_addf(&s->text,
                ", 'quotas': {'u0': {'gpus': %d%s}, 'u1': {'gpus': %d%s}, 'u2': {'gpus': %d}}", one,
                lend, other, lend, s->cards - one - other);
}

static void make_schedule(struct scene_setting *s)
{
    static const char *const places[] = { "first_fit", "best_fit", "worst_fit",
                                          "pack",      "spread",   NULL };
    static const char *const orders[] = { "fifo", "fifo",     "sjf",      "fewest", "srtf",
                                          "srsf", "priority", "deadline", NULL };
    const char *order = any(s, orders), *place = any(s, places);
    strbuf_addf(&s->text,
                "'schedule': {'preempt': 'never', 'backfill': '%s', 'place': '%s', 'order': '%s'",
                chance(s, 2) ? "none" : "greedy", place, order);
    if (strcmp(order, "deadline") == 0)
        strbuf_addf(&s->text, ", 'admission': '%s'", chance(s, 2) ? "none" : "alone");
    if (chance(s, 4)) make_quotas(s);
    strbuf_addz(&s->text, "}, ");
}

void scene_make(struct scene_setting *s, struct second_scene *c, struct second_job *j)
{
    const simtime stop = 5 * SIM_SECOND + odd_time(s, 120000);
    s->kind = (enum scene_kind)below(s, KINDS);
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
    make_schedule(s);
    strbuf_addz(
        &s->text,
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

void scene_fini(struct scene_setting *s)
{
    strbuf_fini(&s->text);
    strbuf_fini(&s->trace);
    for (int k = 0; k < SECOND_SERVICES; k++) strbuf_fini(&s->requests[k]);
}
