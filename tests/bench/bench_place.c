/* bench_place.c - placements alone, on a fleet like openb's: 1,213 nodes of 13 kinds with 6,212
 * cards, CPU limits, and 151 kinds of requests for shares and whole cards. The fleet is filled,
 * then each step gives a random job back and places new ones until one does not fit.
 *
 * Goal (DESIGN section 9): fgd 100,000 placements/s on 6,212 cards; a pick that finds nothing
 * counts as well. Below stand the ratios to a plain scan of every card of every node for every
 * request. Mutant: scoring all nodes again after every change. Usage: bench_place [STEPS], default
 * 200,000. */
#include "tests/bench/bench.h"

#include "base/err.h"
#include "engine/cluster.h"
#include "tests/support/place_scan.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PATH = 64, SHAPES = 151, KINDS = 13 };

static struct world world;

static FILE *memory_file(char path[PATH])
{
    const int fd = memfd_create("bench_place", 0);
    if (fd < 0) BUG("memfd_create");
    snprintf(path, PATH, "/proc/self/fd/%d", fd);
    FILE *f = fopen(path, "w");
    if (!f) BUG("%s: cannot write", path);
    return f;
}

/* Nodes, cards and CPU cores of the openb list's kinds of GPU nodes, memory aside. */
static void write_scenario(char path[PATH], const char *place, int scale)
{
    static const int kind[KINDS][3] = { { 570, 8, 96 }, { 387, 2, 104 }, { 107, 2, 16 },
                                        { 39, 8, 128 }, { 28, 4, 32 },   { 22, 2, 64 },
                                        { 22, 1, 8 },   { 17, 4, 96 },   { 9, 4, 48 },
                                        { 7, 8, 64 },   { 2, 2, 8 },     { 2, 1, 128 },
                                        { 1, 8, 82 } };
    FILE *f = memory_file(path);
    fprintf(f, "{\"format\": \"gpusim-scenario/1\", \"name\": \"bench\", \"fleet\": [");
    for (int i = 0; i < KINDS; i++)
        fprintf(f,
                "%s{\"name\": \"n%d\", \"gpu\": \"generic\", \"nodes\": %d, \"gpus_per_node\": %d,"
                " \"cpu_cores\": %d}",
                i ? ", " : "", i, kind[i][0] * scale, kind[i][1], kind[i][2]);
    fprintf(f,
            "], \"work\": [{\"name\": \"w\", \"kind\": \"jobs\", \"trace\": \"none.csv\"}],"
            " \"policies\": [{\"name\": \"p\", \"share\": {\"kind\": \"intercept\"}}],"
            " \"schedule\": {\"place\": \"%s\"}}",
            place);
    if (fclose(f)) BUG("the scenario does not fit into memory");
}

struct ask {
    struct demand demand[KINDS];
    struct place_request r[KINDS];
};

struct held {
    int shape, group;
    struct pick pick;
};

struct fleet {
    struct scenario scenario;
    struct plan plan;
    struct cluster *c;
    struct ask ask[SHAPES];
    struct held *held;
    size_t n, cap;
    struct place_scan *scan; /* NULL: through the indices */
};

/* Few shapes are frequent, most are rare, as in the list. */
static int draw_shape(uint64_t *x)
{
    const double u = bench_uniform(x);
    return (int)(u * u * u * (SHAPES - 1e-9));
}

static void make_shapes(struct fleet *f)
{
    static const int32_t gpus[] = { 1000, 810, 470,  460, 1000, 320, 650, 0,   1000, 8000,
                                    230,  160, 2000, 590, 4000, 550, 110, 370, 1000 };
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < SHAPES; i++) {
        struct ask *s = &f->ask[i];
        const struct request want = { .gpus_milli = gpus[i % 19],
                                      .slots = 1,
                                      .bytes = JOB_NO_BYTES };
        const int32_t cpus =
            1000 * (2 + (int32_t)(bench_random(&x) % 15)) * (1 + want.gpus_milli / 2000);
        for (size_t g = 0; g < f->plan.n_groups; g++) {
            const struct plan_group *pg = &f->plan.group[g];
            const bool no = f->plan.share->demand(pg->params, &pg->type, &want, &s->demand[g]) ||
                            s->demand[g].cards > pg->per_node;
            s->r[g] = (struct place_request){ .group = (int)g,
                                              .demand = no ? NULL : &s->demand[g],
                                              .cpus_milli = cpus,
                                              .host_bytes = JOB_NO_BYTES };
        }
    }
}

static void set_up(struct fleet *f, const char *place, int scale)
{
    char path[PATH];
    struct diag d;
    struct err e = { 0 };
    *f = (struct fleet){ 0 };
    write_scenario(path, place, scale);
    diag_init(&d);
    if (scenario_load(&f->scenario, path, NULL, 0, &d, &e) != 0 || diag_result(&d, &e) != 0)
        BUG("%s %s", e.where, e.msg);
    plan_build(&f->plan, &world, &f->scenario, 0, &d);
    if (diag_result(&d, &e) != 0) BUG("%s %s", e.where, e.msg);
    diag_fini(&d);
    make_shapes(f);
    f->c = cluster_create(&f->plan);
    f->cap = (size_t)f->plan.cards * 64;
    f->held = xcalloc(f->cap, sizeof *f->held);
}

static void tear_down(struct fleet *f)
{
    for (size_t i = 0; i < f->cap; i++) vec_fini(&f->held[i].pick.card);
    free(f->held);
    place_scan_destroy(f->scan);
    cluster_destroy(f->c);
    plan_fini(&f->plan);
    scenario_fini(&f->scenario);
}

static bool place(struct fleet *f, int shape)
{
    const struct place_ops *p = f->plan.place;
    struct held *h = &f->held[f->n];
    struct ask *s = &f->ask[shape];
    if (f->n == f->cap) return false;
    h->shape = shape;
    h->group = -1;
    if (f->scan) {
        h->group = place_scan_pick(f->scan, s->r, &h->pick);
    } else if (p->pick_any) {
        h->group = p->pick_any(f->c, s->r, &h->pick);
    } else {
        for (size_t g = 0; g < f->plan.n_groups && h->group < 0; g++)
            if (s->r[g].demand && p->pick(f->c, &s->r[g], &h->pick)) h->group = (int)g;
    }
    if (h->group < 0) return false;
    cluster_take(f->c, &s->r[h->group], &h->pick);
    f->n++;
    return true;
}

static void give(struct fleet *f, size_t at)
{
    const struct held h = f->held[at];
    cluster_give(f->c, &f->ask[h.shape].r[h.group], &h.pick);
    f->held[at] = f->held[--f->n];
    f->held[f->n] = h; /* keep its memory */
}

/* Picks per second: a job leaves, others come until one finds no room. */
static double picks_per_s(struct fleet *f, long steps)
{
    uint64_t x = 2685821657736338717u;
    const struct place_ops *p = f->plan.place;
    for (long i = 0; i < 8192; i++) {
        const int s = draw_shape(&x);
        if (p->submitted) p->submitted(cluster_place_state(f->c), f->ask[s].r);
        if (f->scan) place_scan_submitted(f->scan, f->ask[s].r);
    }
    while (place(f, draw_shape(&x))) continue;
    long picks = 0;
    const double begin = bench_now_s();
    while (picks < steps) {
        give(f, bench_random(&x) % f->n);
        while (picks++ < steps && place(f, draw_shape(&x))) continue;
    }
    return (double)steps / (bench_now_s() - begin);
}

/* `scan`: the plain one instead of the policy's own. */
static double bench_rate(const char *place_name, int scale, long steps, bool scan,
                         enum place_scan_rule rule, double reference)
{
    struct fleet f;
    char name[64];
    set_up(&f, place_name, scale);
    if (scan) f.scan = place_scan_create(f.c, rule);
    const double rate = picks_per_s(&f, steps);
    snprintf(name, sizeof name, "%s, %lld cards%s", place_name, (long long)f.plan.cards,
             scan ? ", plain scan" : "");
    bench_print(name, rate, "placements/s", reference);
    tear_down(&f);
    return rate;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        enum place_scan_rule rule;
    } scanned[] = { { "fgd", SCAN_FGD },
                    { "best_fit_node", SCAN_BEST_FIT_NODE },
                    { "pack", SCAN_PACK },
                    { "spread", SCAN_SPREAD } };
    const long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;
    struct err e = { 0 };
    if (steps < 1) return 2;
    if (world_load(&world, &e) != 0) BUG("%s %s", e.where, e.msg);
    puts("-- 13 groups of nodes, 151 shapes of requests; ratio to 100,000 placements/s");
    for (size_t i = 0; place_all[i]; i++) bench_rate(place_all[i]->name, 1, steps, false, 0, 1e5);
    puts("-- against a plain scan; ratio to it");
    for (size_t i = 0; i < sizeof scanned / sizeof *scanned; i++) {
        const double plain =
            bench_rate(scanned[i].name, 1, steps / 100 + 1, true, scanned[i].rule, 0);
        bench_rate(scanned[i].name, 1, steps, false, 0, plain);
    }
    puts("-- fgd on larger fleets; ratio to the smallest");
    const double first = bench_rate("fgd", 1, steps, false, 0, 0);
    bench_rate("fgd", 4, steps, false, 0, first);
    bench_rate("fgd", 16, steps, false, 0, first);
    world_fini(&world);
    return 0;
}
