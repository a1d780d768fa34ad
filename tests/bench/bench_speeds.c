/* bench_speeds.c - the question "how fast is everybody on this card?".
 *
 * Goals (issue of the sharing models): under 5 us for 8 residents with different signatures that
 * were never seen together, under 200 ns when they were. The last column is the ratio to the goal.
 * CPU time of the process, the best of a few tries. Usage: bench_speeds. */
#include "tests/bench/bench.h"

#include "base/err.h"
#include "engine/answers.h"
#include "whatif/runner.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 16, TRIES = 7 };
static const double goal_miss_ns = 5000, goal_hit_ns = 200;

static const char scenario[] =
    "{\"format\": \"gpusim-scenario/1\", \"name\": \"bench\","
    " \"fleet\": [{\"name\": \"f\", \"gpu\": \"a100-sxm4-80gb\"}],"
    " \"work\": [{\"name\": \"w\", \"kind\": \"jobs\", \"trace\": \"%s\"}],"
    " \"policies\": ["
    "{\"name\": \"whole\", \"share\": {\"kind\": \"whole\"}},"
    "{\"name\": \"remote\", \"share\": {\"kind\": \"remote\"}},"
    "{\"name\": \"mig\", \"share\": {\"kind\": \"mig\"}},"
    "{\"name\": \"timeslice\", \"share\": {\"kind\": \"timeslice\", \"slots\": 16}},"
    "{\"name\": \"mps\", \"share\": {\"kind\": \"mps\", \"slots\": 16}},"
    "{\"name\": \"mps_uncapped\", \"share\": {\"kind\": \"mps\", \"slots\": 16, \"cap\": 1}},"
    "{\"name\": \"intercept\", \"share\": {\"kind\": \"intercept\"}},"
    "{\"name\": \"bucket\", \"share\": {\"kind\": \"intercept\", \"enforce\": \"bucket\"}},"
    "{\"name\": \"hard\", \"share\": {\"kind\": \"intercept\", \"enforce\": \"hard\"}}]}";

struct tenants {
    struct signature sig[MOST];
    struct demand demand[MOST];
    struct resident_view view[MOST];
    uint64_t id[MOST];
};

static void fill(struct tenants *t, const struct plan *p, size_t n, bool equal)
{
    const struct plan_group *g = &p->group[0];
    *t = (struct tenants){ 0 };
    for (size_t i = 0; i < n; i++) {
        const double k = equal ? 0 : (double)i;
        t->sig[i] = signature_default();
        t->sig[i].host = 0.1 + 0.05 * k;
        t->sig[i].compute = 0.6 - 0.05 * k;
        t->sig[i].memory = 0.3;
        t->sig[i].sm_width = t->sig[i].bw_width = 0.7 - 0.03 * k;
        const struct request r = { .gpus_milli = equal ? 62 : 30 + 5 * (int32_t)i,
                                   .slots = 1,
                                   .bytes = 1 << 20,
                                   .sig = &t->sig[i] };
        if (p->share->demand(g->params, &g->type, &r, &t->demand[i])) BUG("%s", p->spec->name);
        t->view[i] = (struct resident_view){ .sig = &t->sig[i], .demand = &t->demand[i] };
        if (t->demand[i].mig_profile >= 0)
            t->view[i].slice = &g->type.gpu->mig->profile[t->demand[i].mig_profile];
        t->id[i] = equal ? 1 : i + 1;
    }
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double miss_ns(const struct plan *p, const struct tenants *t, size_t n)
{
    const struct plan_group *g = &p->group[0];
    const struct share_view v = { .type = &g->type, .resident = t->view, .n = n };
    double speed[MOST], best = INFINITY, sum = 0;
    for (int k = 0; k < TRIES; k++) {
        const double begin = cpu_s();
        long asked = 0;
        for (; asked % 256 || cpu_s() - begin < 0.01; asked++) {
            p->share->speeds(g->params, &v, speed);
            sum += speed[0];
        }
        best = fmin(best, (cpu_s() - begin) / (double)asked * 1e9);
    }
    bench_keep((uint64_t)sum);
    return best;
}

static double hit_ns(const struct plan *p, const struct tenants *t, size_t n)
{
    struct answers *a = answers_create(p);
    double speed[MOST], duty, best = INFINITY, sum = 0;
    for (int k = 0; k < TRIES; k++) {
        const double begin = cpu_s();
        long asked = 0;
        for (; asked % 256 || cpu_s() - begin < 0.01; asked++) {
            answers_ask(a, 0, t->view, t->id, n, speed, &duty);
            sum += speed[0] + duty;
        }
        best = fmin(best, (cpu_s() - begin) / (double)asked * 1e9);
    }
    answers_destroy(a);
    bench_keep((uint64_t)sum);
    return best;
}

static void line(const struct plan *p, size_t n, bool equal, bool hit)
{
    struct tenants t;
    char name[80];
    fill(&t, p, n, equal);
    snprintf(name, sizeof name, "%s, %zu %s%s", p->spec->name, n, equal ? "equal" : "different",
             hit ? ", seen before" : "");
    const double ns = hit ? hit_ns(p, &t, n) : miss_ns(p, &t, n);
    bench_print(name, ns, "ns", n == 8 ? (hit ? goal_hit_ns : goal_miss_ns) : 0);
}

int main(void)
{
    char trace[64], path[64], text[4096];
    struct runner r;
    struct diag d;
    struct err e = { 0 };
    static const char rows[] = "job_id,submit_s,duration_s,gpus\na,0,1,1\n";
    const int rows_fd = memfd_create("rows", 0), fd = memfd_create("scenario", 0);
    diag_init(&d);
    snprintf(trace, sizeof trace, "/proc/self/fd/%d", rows_fd);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int len = snprintf(text, sizeof text, scenario, trace);
    if (rows_fd < 0 || fd < 0 || write(rows_fd, rows, sizeof rows - 1) != sizeof rows - 1 ||
        write(fd, text, (size_t)len) != len)
        BUG("no room for a scenario");
    if (runner_load(&r, path, NULL, 0, NULL, 0, &d, &e) != 0 || diag_result(&d, &e) != 0)
        BUG("%s %s", e.where, e.msg);
    diag_fini(&d);
    puts("-- one question for speeds; goals: 5 us, seen before 200 ns; ratio to the goal");
    for (size_t i = 0; i < r.n; i++) {
        const struct plan *p = &r.plan[i];
        line(p, 1, false, false);
        line(p, 4, false, false);
        line(p, 5, false, false);
        line(p, 8, false, false);
        line(p, 8, true, false);
        line(p, 16, true, false);
        line(p, 8, false, true);
    }
    runner_fini(&r);
    return 0;
}
