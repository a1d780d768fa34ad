#include "engine/residents_inside.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMO_RESIDENTS = 8, /* four bits in the key each */
    MEMO_BITS = 8,      /* of the number of entries: idle or busy, eight residents */
    MEMO_BITS_LEAST = 4
};
static const size_t MEMO_BYTES = 64u << 20; /* of all cards: larger fleets have fewer entries */

/* What a card does, by combination of idle and busy residents. */
struct memo {
    uint32_t age; /* grows when somebody comes, grows or leaves: answers of another age are void */
    struct memo_entry {
        uint32_t key, age; /* age 0: none */
        int32_t share[METERS];
        double speed[MEMO_RESIDENTS], power_W[MEMO_RESIDENTS]; /* by resident; speed 0: idle */
    } entry[];
};

struct residents *residents_create(const struct plan *plan, const struct cluster *cluster,
                                   struct evq *q, uint16_t finish_kind)
{
    struct residents *r = xcalloc(1, sizeof *r);
    r->plan = plan;
    r->cluster = cluster;
    r->q = q;
    r->finish_kind = finish_kind;
    r->memo_bits = MEMO_BITS;
    while (r->memo_bits > MEMO_BITS_LEAST &&
           ((size_t)plan->cards * sizeof(struct memo_entry)) << r->memo_bits > MEMO_BYTES)
        r->memo_bits--;
    r->card = xcalloc_lines((size_t)plan->cards, sizeof *r->card);
    for (int64_t i = 0; i < plan->cards; i++) {
        r->card[i].resident = &r->card[i].one;
        r->card[i].cap = 1;
    }
    r->meters = xcalloc(plan->n_groups, sizeof *r->meters);
    r->charged_J = xcalloc(plan->n_groups, sizeof *r->charged_J);
    for (size_t g = 0; g < plan->n_groups; g++)
        r->meters[g].level_ns =
            xcalloc((size_t)plan->group[g].cards + 1, sizeof *r->meters[g].level_ns);
    r->answers = answers_create(plan);
    return r;
}

void residents_destroy(struct residents *r)
{
    if (!r) return;
    for (int64_t i = 0; i < r->plan->cards; i++) {
        if (r->card[i].resident != &r->card[i].one) free(r->card[i].resident);
        free(r->card[i].memo);
    }
    free(r->card);
    for (size_t g = 0; g < r->plan->n_groups; g++) free(r->meters[g].level_ns);
    free(r->meters);
    free(r->charged_J);
    for (int by = 0; by < CHARGE_BYS; by++) free(r->tenant[by].v);
    answers_destroy(r->answers);
    free(r->view);
    free(r->id);
    free(r->speed);
    free(r);
}

/* ---- jobs: work done and time to finish ---- */

static void job_settle(struct job *j, simtime now)
{
    const simtime elapsed = now - j->settled;
    j->settled = now;
    if (elapsed == 0 || j->speed == 0) return;
    if (j->speed == 1.0 && j->work_credit == 0) { /* exact, however long the job */
        j->work_left -= elapsed;
    } else {
        const double done = (double)elapsed * j->speed + j->work_credit;
        const double whole = floor(done);
        j->work_left -= (int64_t)whole;
        j->work_credit = done - whole;
    }
    if (j->work_left < 0) j->work_left = 0;
}

static simtime job_finish_time(const struct job *j, simtime now)
{
    if (j->speed == 0) return SIM_NEVER;
    if (j->work_left == 0) return now;
    if (j->speed == 1.0 && j->work_credit == 0)
        return j->work_left < SIM_NEVER - now ? now + j->work_left : SIM_NEVER - 1;
    /* Up to the next whole ns; a thousandth of one absorbs rounding in the division. */
    const double needed = ceil(((double)j->work_left - j->work_credit) / j->speed - 1e-3);
    if (needed >= (double)(SIM_NEVER - now)) return SIM_NEVER - 1;
    return now + (simtime)fmax(needed, 0);
}

static void job_retime(struct job *j, simtime now)
{
    double speed = INFINITY;
    for (int32_t i = 0; i < j->n_holdings; i++) speed = fmin(speed, j->holding[i].speed);
    job_settle(j, now);
    j->speed = speed * j->wires;
    j->finish = job_finish_time(j, now);
}

static uint32_t home(const struct job *j)
{
    return j->holding[0].card;
}

static struct holding *holding_on(struct job *j, uint32_t card)
{
    int32_t low = 0, high = j->n_holdings; /* ascending */
    while (high - low > 1) {
        const int32_t mid = low + (high - low) / 2;
        if (j->holding[mid].card <= card)
            low = mid;
        else
            high = mid;
    }
    return &j->holding[low];
}

/* ---- one card asked anew ---- */

static void next_finish(struct residents *r, uint32_t index)
{
    struct live_card *c = &r->card[index];
    simtime first = SIM_NEVER;
    for (uint16_t i = 0; i < c->n; i++) {
        const struct job *j = c->resident[i].job;
        if (home(j) == index && j->finish < first) first = j->finish;
    }
    if (!evq_move(r->q, c->finish, first) && first != SIM_NEVER)
        c->finish = evq_at(r->q, first, EV_FINISH, r->finish_kind, index);
}

/* Cards whose residents have a say in each other's speeds: one, or those of a node that share its
 * link. */
struct reach {
    uint32_t first, end;
};

static struct reach reach_of(const struct residents *r, uint32_t index, const struct plan_group *g)
{
    const struct share_ops *share = r->plan->share;
    if (!share->node_link || !share->node_link(g->params))
        return (struct reach){ index, index + 1 };
    const int64_t from = (index - g->first_card) / g->real_per_node * g->real_per_node;
    const int64_t to = from + g->real_per_node < g->cards ? from + g->real_per_node : g->cards;
    return (struct reach){ (uint32_t)(g->first_card + from), (uint32_t)(g->first_card + to) };
}

/* The speeds of the busy residents within reach, in their order, and the duty of all of them. */
static void ask(struct residents *r, struct reach reach, const struct plan_group *g, double *duty)
{
    size_t n = 0, most = 0;
    for (uint32_t index = reach.first; index < reach.end; index++) most += r->card[index].n;
    if (r->cap < most) {
        r->cap = most;
        r->view = xreallocarray(r->view, r->cap, sizeof *r->view);
        r->id = xreallocarray(r->id, r->cap, sizeof *r->id);
        r->speed = xreallocarray(r->speed, r->cap, sizeof *r->speed);
    }
    for (uint32_t index = reach.first; index < reach.end; index++) {
        const struct live_card *c = &r->card[index];
        for (uint16_t i = 0; i < c->n; i++) {
            if (!is_busy(&c->resident[i])) continue;
            const struct job *j = c->resident[i].job;
            const struct fit *fit = &j->as->fit[j->group];
            const int profile = fit->demand.mig_profile;
            r->view[n] = (struct resident_view){
                .sig = &fit->sig,
                .demand = &fit->demand,
                .slice = profile < 0 ? NULL : &g->type.gpu->mig->profile[profile],
            };
            r->id[n++] = j->as->id;
        }
    }
    *duty = 0;
    if (n > 0)
        answers_ask(r->answers, (size_t)(g - r->plan->group), r->view, r->id, n, r->speed, duty);
}

/* New speeds of the busy residents of a card, from `at` on; how many they are. `changed` is set
 * when one of them is another. */
static size_t apply_speeds(struct residents *r, uint32_t index, size_t at, simtime now,
                           const struct job *later, bool *changed)
{
    const struct live_card *c = &r->card[index];
    size_t busy = 0;
    for (uint16_t i = 0; i < c->n; i++) {
        struct job *j = c->resident[i].job;
        if (!is_busy(&c->resident[i])) continue;
        struct holding *h = holding_on(j, index);
        const double speed = r->speed[at + busy++];
        if (h->speed == speed) continue;
        *changed = true;
        h->speed = speed;
        if (j == later) continue;
        job_retime(j, now);
        if (home(j) != index) next_finish(r, home(j));
    }
    return busy;
}

/* Ask the policy for the speeds on a card and move what depends on them. The finish of `later`, a
 * gang that is being added card by card or on its way out, is worked out by the caller once all its
 * speeds are known. */
static void card_refresh(struct residents *r, uint32_t index, simtime now, const struct job *later)
{
    const struct plan_group *g = &r->plan->group[cluster_card(r->cluster, index)->group];
    const struct reach reach = reach_of(r, index, g);
    struct live_card *c = &r->card[index];
    double duty;
    size_t at = 0;
    if (c->memo) c->memo->age++; /* somebody came, grew or left */
    if (c->n == 0) residents_measure_empty(r, index, g);
    if (c->n == 0 && reach.end - reach.first == 1) {
        next_finish(r, index);
        return;
    }
    ask(r, reach, g, &duty);
    for (uint32_t i = reach.first; i < reach.end; i++) {
        bool changed = i == index;
        if (i != index) card_settle(r, i, now); /* at the old rates */
        const size_t busy = apply_speeds(r, i, at, now, later, &changed);
        if (changed && reach.end - reach.first > 1) {
            const struct share_view v = { &g->type, r->view + at, busy };
            duty = r->plan->share->duty(g->params, &v, r->speed + at);
        }
        if (changed && r->card[i].n > 0) residents_measure(r, i, g, at, duty);
        if (changed) next_finish(r, i);
        at += busy;
    }
}

/* ---- replicas: idle and busy ---- */

/* Four bits a resident: idle, its own shape, one of its looks. Of cards with more residents than a
 * memo serves, those of the first. */
static uint32_t memo_key(const struct live_card *c)
{
    uint32_t key = 0;
    for (uint16_t i = 0; i < c->n && i < MEMO_RESIDENTS; i++) {
        const struct job *j = c->resident[i].job;
        const uint32_t state = is_busy(&c->resident[i]) ? 1u + j->look : 0;
        key |= state << (4 * i);
    }
    return key;
}

static struct memo_entry *memo_find(const struct residents *r, struct live_card *c, uint32_t key)
{
    if (c->n > MEMO_RESIDENTS) return NULL;
    if (!c->memo) {
        c->memo = xcalloc(1, sizeof *c->memo + (sizeof *c->memo->entry << r->memo_bits));
        c->memo->age = 1;
    }
    /* Fibonacci hashing (Knuth) */
    return &c->memo->entry[(key * UINT32_C(0x9e3779b1)) >> (32 - r->memo_bits)];
}

static void memo_store(const struct residents *r, const struct live_card *c, struct memo_entry *m,
                       uint32_t key)
{
    size_t busy = 0;
    m->key = key;
    m->age = c->memo->age;
    memcpy(m->share, c->share, sizeof m->share);
    for (uint16_t i = 0; i < c->n; i++) {
        m->speed[i] = is_busy(&c->resident[i]) ? r->speed[busy++] : 0;
        m->power_W[i] = c->resident[i].power_W;
    }
}

/* One of its residents went from idle to busy or back: what card_refresh() does, from memory. */
static void card_turn(struct residents *r, uint32_t index, simtime now)
{
    struct live_card *c = &r->card[index];
    if (r->plan->share->node_link) { /* others may have a say */
        card_refresh(r, index, now, NULL);
        return;
    }
    const uint32_t key = memo_key(c);
    struct memo_entry *m = memo_find(r, c, key);
    if (!m || m->age != c->memo->age || m->key != key) {
        struct memo *kept = c->memo;
        c->memo = NULL; /* nobody came or left: the other answers stay good */
        card_refresh(r, index, now, NULL);
        c->memo = kept;
        if (m) memo_store(r, c, m, key);
        return;
    }
    for (uint16_t i = 0; i < c->n; i++) {
        struct resident *x = &c->resident[i];
        x->power_W = m->power_W[i];
        if (!is_busy(x)) continue;
        struct holding *h = holding_on(x->job, index);
        if (h->speed == m->speed[i]) continue;
        h->speed = m->speed[i];
        job_retime(x->job, now);
        if (home(x->job) != index) next_finish(r, home(x->job));
    }
    residents_set_shares(r, c, cluster_card(r->cluster, index), m->share);
}

void residents_work(struct residents *r, struct job *j, const struct shape *as, double work_ns,
                    simtime now)
{
    const bool turns = j->as != as;
    const double whole = work_ns < 9.2e18 ? ceil(fmax(work_ns, 0)) : (double)(SIM_NEVER / 2);
    j->settled = now;
    j->as = as;
    j->work_left = (int64_t)whole;
    j->work_credit = work_ns < whole ? whole - work_ns : 0; /* nothing is lost to rounding */
    if (!as) {
        j->speed = 0;
        j->finish = SIM_NEVER;
    }
    for (int32_t i = 0; turns && i < j->n_holdings; i++) {
        const uint32_t card = j->holding[i].card;
        card_settle(r, card, now);
        card_turn(r, card, now);
        if (card != home(j)) next_finish(r, card); /* of those beside it */
    }
    if (as) job_retime(j, now);
    next_finish(r, home(j));
}

double residents_left(const struct job *j, simtime now)
{
    return (double)j->work_left - ((double)(now - j->settled) * j->speed + j->work_credit);
}

double residents_alone(struct residents *r, const struct job *j, const struct shape *as)
{
    const struct plan_group *g = &r->plan->group[j->group];
    const struct fit *fit = &as->fit[j->group];
    const int profile = fit->demand.mig_profile;
    const struct resident_view view = { .sig = &fit->sig,
                                        .demand = &fit->demand,
                                        .slice = profile < 0
                                                     ? NULL
                                                     : &g->type.gpu->mig->profile[profile] };
    double speed, duty;
    answers_ask(r->answers, (size_t)j->group, &view, &as->id, 1, &speed, &duty);
    return speed;
}

/* ---- jobs come and go ---- */

static void make_room(struct live_card *c)
{
    struct resident *had = c->resident == &c->one ? NULL : c->resident;
    c->cap = (uint16_t)(2 * c->cap);
    c->resident = xreallocarray(had, c->cap, sizeof *c->resident);
    if (!had) c->resident[0] = c->one;
}

void residents_hold(struct residents *r, struct job *j, simtime now, bool waits)
{
    j->settled = now;
    j->speed = 0;
    j->finish = SIM_NEVER;
    j->as = j->replica ? NULL : j->shape;
    for (int32_t i = 0; i < j->n_holdings; i++) {
        const uint32_t index = j->holding[i].card;
        struct live_card *c = &r->card[index];
        card_settle(r, index, now);
        if (c->n == c->cap) make_room(c);
        c->resident[c->n++] = (struct resident){ .job = j };
        if (waits) card_refresh(r, index, now, NULL);
    }
}

static struct resident *resident_of(struct live_card *c, const struct job *j)
{
    for (uint16_t i = 0; i < c->n; i++)
        if (c->resident[i].job == j) return &c->resident[i];
    BUG("a job is not on its card");
}

/* All cards or none: `bytes` more for the job, `stated` of them count against its own limit. */
static bool allocate(struct residents *r, struct job *j, uint64_t bytes, uint64_t stated)
{
    const struct demand *d = &j->shape->fit[j->group].demand;
    const struct plan_group *g = &r->plan->group[j->group];
    const struct share_ops *share = r->plan->share;
    const bool swaps = share->swaps && share->swaps(g->params);
    if (stated > d->limit_bytes) return false;
    for (int32_t i = 0; i < j->n_holdings && !swaps; i++) {
        const struct live_card *c = &r->card[j->holding[i].card];
        if (bytes > g->type.gpu->usable_bytes - c->used_bytes) return false;
    }
    for (int32_t i = 0; i < j->n_holdings; i++) {
        struct live_card *c = &r->card[j->holding[i].card];
        resident_of(c, j)->bytes += bytes;
        c->used_bytes += bytes;
    }
    return true;
}

static uint64_t stated_bytes(const struct residents *r, const struct job *j)
{
    const uint64_t all = j->shape->fit[j->group].demand.alloc_bytes;
    const uint64_t context = r->plan->group[j->group].type.context_bytes;
    return all > context ? all - context : 0;
}

bool residents_begin(struct residents *r, struct job *j, simtime now)
{
    const uint64_t stated = stated_bytes(r, j);
    const uint64_t all = j->shape->fit[j->group].demand.alloc_bytes;
    const bool later = j->shape->sig.mem_grow > 0;
    for (int32_t i = 0; i < j->n_holdings; i++) card_settle(r, j->holding[i].card, now);
    if (!allocate(r, j, later ? all - stated : all, later ? 0 : stated)) return false;
    for (int32_t i = 0; i < j->n_holdings; i++)
        resident_of(&r->card[j->holding[i].card], j)->active = true;
    for (int32_t i = 0; i < j->n_holdings; i++) card_refresh(r, j->holding[i].card, now, j);
    job_retime(j, now);
    next_finish(r, home(j));
    return true;
}

bool residents_grow(struct residents *r, struct job *j, simtime now)
{
    const uint64_t stated = stated_bytes(r, j);
    for (int32_t i = 0; i < j->n_holdings; i++) card_settle(r, j->holding[i].card, now);
    if (!allocate(r, j, stated, stated)) return false;
    for (int32_t i = 0; i < j->n_holdings; i++) card_refresh(r, j->holding[i].card, now, NULL);
    return true;
}

void residents_leave(struct residents *r, struct job *j, simtime now)
{
    job_settle(j, now);
    j->speed = 0;
    for (int32_t i = 0; i < j->n_holdings; i++) {
        const uint32_t index = j->holding[i].card;
        struct live_card *c = &r->card[index];
        card_settle(r, index, now);
        struct resident *x = resident_of(c, j);
        c->used_bytes -= x->bytes;
        /* Keep the order of arrival: results must not depend on who left before. */
        memmove(x, x + 1, (size_t)(c->resident + c->n - (x + 1)) * sizeof *x);
        c->n--;
        card_refresh(r, index, now, j);
    }
}

void residents_look(struct residents *r, uint32_t card, simtime now)
{
    card_settle(r, card, now);
    card_refresh(r, card, now, NULL);
}

void residents_expect(const struct residents *r, uint32_t card)
{
    __builtin_prefetch(&r->card[card]);
    __builtin_prefetch(&r->card[card].one);
    __builtin_prefetch(cluster_card(r->cluster, card));
}

void residents_done(const struct residents *r, uint32_t card, simtime now, struct job_list *out)
{
    const struct live_card *c = &r->card[card];
    for (uint16_t i = 0; i < c->n; i++) {
        struct job *j = c->resident[i].job;
        job_fetch(j);
        if (home(j) == card && j->finish <= now) vec_push(out, j);
    }
}

void residents_service(struct residents *r, uint32_t card, simtime now)
{
    card_settle(r, card, now);
    card_refresh(r, card, now, NULL);
}

void residents_of(const struct residents *r, uint32_t card, struct job_list *out)
{
    const struct live_card *c = &r->card[card];
    for (uint16_t i = 0; i < c->n; i++) vec_push(out, c->resident[i].job);
}
