#include "engine/answers.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 4096 }; /* a power of two */

struct answer {
    uint32_t n; /* 0: empty */
    uint32_t group;
    double duty;
    uint64_t id[ANSWERS_RESIDENTS];
    double speed[ANSWERS_RESIDENTS];
};

struct answers {
    const struct plan *plan;
    struct answer *place;
};

struct answers *answers_create(const struct plan *plan)
{
    struct answers *a = xcalloc(1, sizeof *a);
    a->plan = plan;
    a->place = xcalloc(PLACES, sizeof *a->place);
    return a;
}

void answers_destroy(struct answers *a)
{
    if (!a) return;
    free(a->place);
    free(a);
}

/* What measured pairs say of residents beats what their signatures say. */
static void ask_pairs(const struct pairs *p, const struct resident_view *resident, size_t n,
                      double speed[])
{
    size_t job[ANSWERS_RESIDENTS];
    if (n < 2 || n > ANSWERS_RESIDENTS) return;
    for (size_t i = 0; i < n; i++) job[i] = pairs_job(p, resident[i].sig->name);
    for (size_t i = 0; i < n; i++) {
        const double measured = pairs_speed(p, job, n, i);
        if (!isnan(measured)) speed[i] = measured;
    }
}

static void ask_policy(const struct plan *p, size_t group, const struct resident_view *resident,
                       size_t n, double speed[], double *duty)
{
    const struct plan_group *g = &p->group[group];
    const struct share_view v = { .type = &g->type, .resident = resident, .n = n };
    double idle = 1;
    p->share->speeds(g->params, &v, speed);
    if (g->pairs) ask_pairs(g->pairs, resident, n, speed);
    for (size_t i = 0; i < n; i++) {
        if (!(speed[i] > 0 && speed[i] <= 1.0 + 1e-9))
            BUG("%s: speed %g of resident %zu of %zu is outside (0, 1]", p->share->name, speed[i],
                i, n);
        if (speed[i] > 1.0) speed[i] = 1.0;
        idle *= speed[i] * resident[i].sig->host;
    }
    *duty = p->share->duty ? p->share->duty(g->params, &v, speed) : 1.0 - idle;
}

/* order[k] = position of the k-th smallest id. */
static void sort_ids(const uint64_t *id, size_t n, uint32_t order[])
{
    for (uint32_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && id[order[at - 1]] > id[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

static struct answer *place_of(struct answers *a, size_t group, const uint64_t *id, size_t n)
{
    uint64_t h = group + n;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ id[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return &a->place[h & (PLACES - 1)];
}

void answers_ask(struct answers *a, size_t group, const struct resident_view *resident,
                 const uint64_t *id, size_t n, double speed[], double *duty)
{
    struct resident_view sorted[ANSWERS_RESIDENTS];
    uint64_t key[ANSWERS_RESIDENTS];
    uint32_t order[ANSWERS_RESIDENTS];
    if (n == 1 || n > ANSWERS_RESIDENTS) {
        ask_policy(a->plan, group, resident, n, speed, duty);
        return;
    }
    sort_ids(id, n, order);
    for (size_t k = 0; k < n; k++) key[k] = id[order[k]];
    struct answer *known = place_of(a, group, key, n);
    if (known->n != n || known->group != group || memcmp(known->id, key, n * sizeof *key) != 0) {
        for (size_t k = 0; k < n; k++) sorted[k] = resident[order[k]];
        known->n = (uint32_t)n;
        known->group = (uint32_t)group;
        memcpy(known->id, key, n * sizeof *key);
        ask_policy(a->plan, group, sorted, n, known->speed, &known->duty);
    }
    for (size_t k = 0; k < n; k++) speed[order[k]] = known->speed[k];
    *duty = known->duty;
}
