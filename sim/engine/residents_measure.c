/* engine/residents_measure.c - what a card is doing in shares of it, what its residents are
 * charged, and the totals. */
#include "engine/residents_inside.h"

#include "base/err.h"

#include <math.h>
#include <string.h>

/* ---- charges ---- */

static struct tenant_totals *tenant_of(struct tenants *t, size_t key)
{
    if (key >= t->n) {
        const size_t n = key + 1 > 2 * t->n ? key + 1 : 2 * t->n;
        t->v = xreallocarray(t->v, n, sizeof *t->v);
        memset(t->v + t->n, 0, (n - t->n) * sizeof *t->v);
        t->n = n;
    }
    return &t->v[key];
}

static void charge(struct residents *r, const struct job *j, double card_s, double bill_s,
                   double energy_J)
{
    const size_t key[CHARGE_BYS] = { j->row.user, j->row.group, (size_t)j->row.klass };
    for (int by = 0; by < CHARGE_BYS; by++) {
        struct tenant_totals *t = tenant_of(&r->tenant[by], key[by]);
        t->card_s += card_s;
        t->bill_s += bill_s;
        t->energy_J += energy_J;
    }
}

void residents_charge(struct residents *r, struct live_card *c, simtime now)
{
    const double elapsed = simtime_s(now - c->settled);
    c->settled = now;
    for (uint16_t i = 0; i < c->n; i++) {
        struct job *j = c->resident[i].job;
        const double card_s = c->resident[i].card_rate * elapsed;
        const double energy_J = c->resident[i].power_W * elapsed;
        const double bill_s = c->resident[i].bill_rate * elapsed;
        j->card_s += card_s;
        j->bill_s += bill_s;
        j->energy_J += energy_J;
        charge(r, j, card_s, bill_s, energy_J);
        r->charged_J[j->group] += energy_J;
    }
}

/* ---- what a card is doing ---- */

/* SM activity of a resident, in cards. A spatial cap (a slice, an MPS client's share) makes compute
 * phases longer and all phases narrower; without one this is speed x (compute + memory) x width. */
static double sm_active(const struct share_ops *share, const struct gpu_spec *gpu,
                        const struct resident_view *v, double speed)
{
    const struct signature *s = v->sig;
    const double cap = v->slice             ? mig_sm_share(gpu, v->demand->mig_profile, NULL)
                       : share->spatial_cap ? v->demand->core_cap
                                            : 1.0;
    return speed * (s->compute * fmax(1.0, s->sm_width / cap) + s->memory) * fmin(s->sm_width, cap);
}

/* The share of a card that a demand keeps from others: the larger of those of compute and memory,
 * of a slice the larger of its compute slices and memory units (reference TCO 3.6). Memory that no
 * scheduler counts is the job's own, without its context. */
static double bill_share(const struct plan_group *g, const struct demand *d)
{
    const double units = (double)d->units / g->capacity;
    const struct gpu_spec *gpu = g->type.gpu;
    if (d->units == g->capacity) return 1;
    if (d->mig_profile >= 0)
        return fmax(units, (double)gpu->mig->profile[d->mig_profile].memory_units /
                               gpu->mig->memory_units);
    const uint64_t context = g->type.context_bytes;
    const uint64_t bytes = d->reserve_bytes           ? d->reserve_bytes
                           : d->alloc_bytes > context ? d->alloc_bytes - context
                                                      : 0;
    return fmin(1, fmax(units, (double)bytes / (double)gpu->usable_bytes));
}

/* What the tenants of a card keep from others, together at most the card. */
static void set_bills(struct live_card *c, const struct plan_group *g)
{
    double sum = 0;
    for (uint16_t i = 0; i < c->n; i++) {
        const struct job *j = c->resident[i].job;
        c->resident[i].bill_rate = bill_share(g, &j->shape->fit[j->group].demand);
        sum += c->resident[i].bill_rate;
    }
    for (uint16_t i = 0; sum > 1 && i < c->n; i++) c->resident[i].bill_rate /= sum;
}

/* The card goes to other shares. */
void residents_set_shares(struct residents *r, struct live_card *c, const struct card *card,
                          const int32_t share[METERS])
{
    meters_move(&r->meters[card->group], c->share, share, c->settled);
    memcpy(c->share, share, sizeof c->share);
}

/* Of a card that nobody is on: what is free on it may be stranded, or out of service. */
void residents_measure_empty(struct residents *r, uint32_t index, const struct plan_group *g)
{
    const struct card *card = cluster_card(r->cluster, index);
    int32_t share[METERS] = { 0 };
    if (card->out)
        share[card->out & OUT_ABSENT ? METER_ABSENT : METER_DOWN] = METER_CARD;
    else if (card->mig)
        share[METER_STRANDED] =
            meter_share((double)cluster_stranded_units(r->cluster, index) / g->capacity);
    residents_set_shares(r, &r->card[index], card, share);
}

/* What a card that somebody is on is doing, in shares of it, and what each resident is charged.
 * `at`: its first busy resident among those asked about. */
void residents_measure(struct residents *r, uint32_t index, const struct plan_group *g, size_t at,
                       double duty)
{
    struct live_card *c = &r->card[index];
    const struct card *card = cluster_card(r->cluster, index);
    const struct gpu_spec *gpu = g->type.gpu;
    int32_t share[METERS] = { 0 };
    double weight = 0, sm_sum = 0;
    size_t active = 0, busy = 0;
    double allocated = (double)(g->capacity - card->free_units) / g->capacity;
    /* Interception sells compute and memory: the larger of the two shares is held. */
    const bool two_sided = g->capacity > 1 && !r->plan->share->instances &&
                           card->free_bytes < gpu->usable_bytes && r->plan->share->bills_memory;
    if (two_sided)
        allocated = fmax(allocated, 1.0 - (double)card->free_bytes / (double)gpu->usable_bytes);
    for (uint16_t i = 0; i < c->n; i++) {
        const struct demand *d = &c->resident[i].job->shape->fit[c->resident[i].job->group].demand;
        double held = (double)d->units / g->capacity;
        if (two_sided) held = fmax(held, (double)d->reserve_bytes / (double)gpu->usable_bytes);
        c->resident[i].card_rate = held;
        weight += held;
    }
    set_bills(c, g);
    for (uint16_t i = 0; i < c->n; i++) {
        struct resident *x = &c->resident[i];
        x->card_rate *= weight > 0 ? allocated / weight : 0;
        x->power_W = 0;
        if (!x->active) continue;
        active++;
        if (!is_busy(x)) continue;
        const double sm = sm_active(r->plan->share, gpu, &r->view[at + busy], r->speed[at + busy]);
        x->power_W = sm * (gpu->busy_W - gpu->idle_context_W);
        sm_sum += sm;
        busy++;
    }
    if (g->pairs &&
        sm_sum > 1) { /* measured together, signatures alone: the card has no more to give */
        for (uint16_t i = 0; i < c->n; i++) c->resident[i].power_W /= sm_sum;
        sm_sum = 1;
    }
    for (uint16_t i = 0; i < c->n; i++)
        if (c->resident[i].active) c->resident[i].power_W += gpu->idle_context_W / (double)active;
    if (sm_sum > 1.0 + 1e-6) BUG("card %u: SM activity %g of a whole card", index, sm_sum);
    share[METER_ALLOCATED] = meter_share(allocated);
    if (card->out)
        share[METER_STRANDED] = METER_CARD - share[METER_ALLOCATED];
    else if (card->mig)
        share[METER_STRANDED] =
            meter_share((double)cluster_stranded_units(r->cluster, index) / g->capacity);
    share[METER_DUTY] = meter_share(fmin(duty, 1.0));
    share[METER_SM] = meter_share(sm_sum);
    if (c->used_bytes > gpu->usable_bytes) r->overfull = true;
    /* what is swapped out lies on the host */
    share[METER_MEMORY] = meter_share(fmin(1.0, (double)c->used_bytes / (double)gpu->usable_bytes));
    share[METER_CONTEXT] = active > 0 ? METER_CARD : 0;
    share[METER_OCCUPIED] = METER_CARD;
    residents_set_shares(r, c, card, share);
}

/* ---- totals ---- */

void residents_settle_all(struct residents *r, simtime now)
{
    for (int64_t i = 0; i < r->plan->cards; i++) card_settle(r, (uint32_t)i, now);
    for (size_t g = 0; g < r->plan->n_groups; g++) meters_settle(&r->meters[g], now);
}

void residents_reset(struct residents *r, simtime now)
{
    residents_settle_all(r, now);
    for (size_t g = 0; g < r->plan->n_groups; g++) {
        meters_reset(&r->meters[g], now);
        memset(r->meters[g].level_ns, 0,
               ((size_t)r->plan->group[g].cards + 1) * sizeof *r->meters[g].level_ns);
        r->charged_J[g] = 0;
    }
    for (int64_t c = 0; c < r->plan->cards; c++)
        for (uint16_t i = 0; i < r->card[c].n; i++) {
            struct job *j = r->card[c].resident[i].job;
            j->card_s_before = j->card_s;
        }
    for (int by = 0; by < CHARGE_BYS; by++)
        if (r->tenant[by].n) memset(r->tenant[by].v, 0, r->tenant[by].n * sizeof *r->tenant[by].v);
}

const struct meter_group *residents_meters(struct residents *r, size_t group, simtime now)
{
    meters_settle(&r->meters[group], now);
    return &r->meters[group];
}

double residents_energy_J(const struct plan *plan, size_t group, const struct meter_group *m,
                          simtime length)
{
    const struct gpu_spec *gpu = plan->group[group].type.gpu;
    const double all = (double)plan->group[group].cards * simtime_s(length);
    const double context = meter_card_s(m->integral[METER_CONTEXT]);
    const double off = meter_card_s(m->integral[METER_DOWN] + m->integral[METER_ABSENT]);
    return gpu->idle_W * (all - off - context) + gpu->idle_context_W * context +
           (gpu->busy_W - gpu->idle_context_W) * meter_card_s(m->integral[METER_SM]);
}

const struct tenant_totals *residents_tenants(const struct residents *r, enum charge_by by,
                                              size_t *n)
{
    *n = r->tenant[by].n;
    return r->tenant[by].v;
}

double residents_charged_J(const struct residents *r, size_t group)
{
    return r->charged_J[group];
}

bool residents_within_memory(const struct residents *r)
{
    const struct share_ops *share = r->plan->share;
    for (size_t g = 0; g < r->plan->n_groups && share->swaps; g++)
        if (share->swaps(r->plan->group[g].params)) return true;
    return !r->overfull;
}

bool residents_none(const struct residents *r)
{
    for (int64_t i = 0; i < r->plan->cards; i++)
        if (r->card[i].n || r->card[i].used_bytes) return false;
    for (size_t g = 0; g < r->plan->n_groups; g++)
        for (int m = 0; m < METERS; m++)
            if (m != METER_STRANDED && m != METER_DOWN && m != METER_ABSENT && r->meters[g].now[m])
                return false;
    return true;
}
