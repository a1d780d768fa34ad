/* engine/residents_inside.h - what residents.c (who is on a card, and how fast) and
 * residents_measure.c (what the card is doing meanwhile, and who is charged for it) share:
 * nobody else includes it. */
#ifndef GPUSIM_ENGINE_RESIDENTS_INSIDE_H
#define GPUSIM_ENGINE_RESIDENTS_INSIDE_H

#include "engine/answers.h"
#include "engine/residents.h"

struct resident {
    struct job *job;
    bool active;      /* it has begun: memory and context */
    uint64_t bytes;   /* allocated, context included */
    double card_rate; /* share of the card it holds */
    double bill_rate; /* share of the card it keeps from others: the larger of compute and memory */
    double power_W;   /* likewise */
};

/* Two cache lines, the first resident among them. */
struct live_card {
    struct resident *resident; /* &one until a second job comes */
    uint16_t n, cap;
    int32_t share[METERS];
    simtime settled;
    ev_id finish;
    uint64_t used_bytes;
    struct memo *memo; /* of cards with replicas; NULL */
    struct resident one;
};

struct residents {
    const struct plan *plan;
    const struct cluster *cluster;
    struct evq *q;
    uint16_t finish_kind;
    int memo_bits;
    struct live_card *card;
    struct meter_group *meters;
    double *charged_J; /* by group */
    bool overfull;     /* a card has held more memory than it has */
    struct answers *answers;
    struct tenants {
        struct tenant_totals *v;
        size_t n;
    } tenant[CHARGE_BYS];
    /* scratch for the policy's question */
    struct resident_view *view;
    uint64_t *id;
    double *speed;
    size_t cap;
};

/* ---- residents_measure.c ---- */

/* What the residents of a card have used since it was settled goes to them, at the rates of
 * then. O(residents). */
void residents_charge(struct residents *r, struct live_card *c, simtime now);
/* The card goes to other shares. O(METERS). */
void residents_set_shares(struct residents *r, struct live_card *c, const struct card *card,
                          const int32_t share[METERS]);
/* What a card does that nobody is on. */
void residents_measure_empty(struct residents *r, uint32_t index, const struct plan_group *g);
/* What a card does that somebody is on, and the rates at which each is charged; `at`: its first
 * busy resident among those that r->view and r->speed are about. O(residents). */
void residents_measure(struct residents *r, uint32_t index, const struct plan_group *g, size_t at,
                       double duty);

static inline void card_settle(struct residents *r, uint32_t index, simtime now)
{
    struct live_card *c = &r->card[index];
    if (c->settled != now) residents_charge(r, c, now);
}

/* Does it take part in the policy's answer? */
static inline bool is_busy(const struct resident *x)
{
    return x->active && x->job->as;
}

#endif
