/* What is under repair, and when the scheduler expects it back: after the mean repair time, counted
 * from the fault. That is what an operator knows: neither how long this repair will take nor,
 * before it fails, what will fail next. What is overdue is expected at any moment, as a job is that
 * overran its limit. Changes that the scenario states ("capacity") are not foreseen. Reservations
 * count on cards only from then on.
 *
 * Complexity: cards under repair x repairs, at an instant at which a reservation is made. */
#include "engine/sched_inside.h"

#include <stdlib.h>

void sched_repair_begin(struct sched *s, const struct repair *r)
{
    vec_push(&s->repair, *r);
}

void sched_repair_end(struct sched *s, uint32_t unit)
{
    size_t i = 0;
    while (i < s->repair.n && s->repair.v[i].unit != unit) i++;
    if (i == s->repair.n) return;
    for (s->repair.n--; i < s->repair.n; i++) s->repair.v[i] = s->repair.v[i + 1];
}

static bool covers(const struct repair *r, int64_t index, bool node)
{
    const int64_t first = node ? r->first_node : r->first_card, n = node ? r->nodes : r->cards;
    return index >= first && index < first + n;
}

/* When all that keeps the card or node out is expected to be over; SIM_NEVER: not known. The
 * i-th repair is one of these; it says so if it is the first. */
static simtime back(const struct sched *s, size_t i, int64_t index, bool node, unsigned out)
{
    simtime at = 0;
    for (size_t k = 0; k < s->repair.n; k++) {
        const struct repair *r = &s->repair.v[k];
        if (!covers(r, index, node)) continue;
        if (k < i) return SIM_NEVER;
        if (r->back > at) at = r->back;
        out &= ~r->bit;
    }
    return out ? SIM_NEVER : at;
}

static int by_time(const void *a, const void *b)
{
    const struct comeback *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return (x->card > y->card) - (x->card < y->card);
}

void sched_comebacks(struct sched *s, simtime now)
{
    s->comeback.n = 0;
    for (size_t i = 0; i < s->repair.n; i++) {
        const struct repair *r = &s->repair.v[i];
        for (int64_t c = r->first_card; c < r->first_card + r->cards; c++) {
            const simtime at = back(s, i, c, false, cluster_card(s->cluster, (uint32_t)c)->out);
            if (at != SIM_NEVER)
                vec_push(&s->comeback, ((struct comeback){ at > now ? at : now, -1, (uint32_t)c }));
        }
        for (int64_t n = r->first_node; n < r->first_node + r->nodes; n++) {
            const simtime at = back(s, i, n, true, cluster_node(s->cluster, (int32_t)n)->out);
            if (at != SIM_NEVER)
                vec_push(&s->comeback, ((struct comeback){ at > now ? at : now, (int32_t)n, 0 }));
        }
    }
    if (s->comeback.n > 1) qsort(s->comeback.v, s->comeback.n, sizeof *s->comeback.v, by_time);
}

void sched_come_back(struct sched *s, const struct comeback *c, bool there)
{
    if (c->node >= 0) {
        const unsigned out = cluster_node(s->cluster, c->node)->out;
        cluster_node_service(s->then, c->node, there ? 0 : out, there ? out : 0);
    } else {
        const unsigned out = cluster_card(s->cluster, c->card)->out;
        cluster_card_service(s->then, c->card, there ? 0 : out, there ? out : 0);
    }
}
