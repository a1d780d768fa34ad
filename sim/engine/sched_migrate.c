/* Defragmentation: when the head of the queue finds no place although enough is free in pieces,
 * running jobs are moved out of its way - each at once to another place of its group, at the price
 * of a pause.
 *
 * Nobody is moved to a place where it would run slower, and nobody at all unless everybody in the
 * way finds a new place and the head then starts. So only policies whose residents do not feel each
 * other migrate (whole cards, instances), and gangs that would cross more wires than now stay. Jobs
 * that are starting, grow in memory, serve requests, or are on a card that is out of service stay
 * too.
 *
 * A gang clears the node with most cards free, of these the cards with fewest units in use; an
 * instance clears one of the cards that have as much free as it asks for, by one or two moves.
 * TARGETS nodes or cards are tried. Free instances are places, among them those that the lifted
 * leave; one that has to be made takes its time on top of the pause. Complexity: a sort of the
 * running jobs, and TARGETS x 7 x 7 questions at worst. */
#include "engine/sched_inside.h"

#include "base/err.h"

#include <stdlib.h>

enum { TARGETS = 8, MOST_MOVED = 64 };

/* A job sits on a card. */
struct seat {
    uint32_t card;
    struct job *job;
};

struct target {
    int64_t key;   /* smaller is better */
    uint32_t card; /* or the node's number */
};

struct mover {
    struct sched *s;
    struct job *head;
    int group;
    VEC(struct seat) seat; /* by card */
    VEC(struct target) target;
    struct job *victim[MOST_MOVED];
    struct pick place[MOST_MOVED], head_place;
    size_t n;
};

static int by_card(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    if (x->card != y->card) return x->card < y->card ? -1 : 1;
    return (x->job->order > y->job->order) - (x->job->order < y->job->order);
}

static int by_key(const void *a, const void *b)
{
    const struct target *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->card > y->card) - (x->card < y->card);
}

static void seat_all(struct mover *m)
{
    struct job *j;
    m->seat.n = 0;
    RB_FOREACH(j, releases, &m->s->running)
    {
        if (j->group != m->group) continue;
        for (int32_t i = 0; i < j->n_holdings; i++)
            vec_push(&m->seat, ((struct seat){ j->holding[i].card, j }));
    }
    if (m->seat.n > 1) qsort(m->seat.v, m->seat.n, sizeof *m->seat.v, by_card);
}

/* The first seat on the card, or where it would be. */
static size_t seats_on(const struct mover *m, uint32_t card)
{
    size_t low = 0, high = m->seat.n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (m->seat.v[mid].card < card)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool can_move(const struct mover *m, const struct job *j)
{
    return j->state == JOB_RUNNING && !j->replica && j->shape->sig.mem_grow == 0 && j->expected &&
           sched_is_in_service(m->s, j);
}

/* On the copy of the fleet: it goes for now. False: it must stay. */
static bool lift(struct mover *m, struct job *j)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->victim[i] == j) return true;
    if (j->state == JOB_STARTING) m->s->starting = true;
    if (m->n == MOST_MOVED || !can_move(m, j)) return false;
    sched_expect(m->s, j, false);
    m->victim[m->n++] = j;
    return true;
}

static void put_back(struct mover *m)
{
    while (m->n > 0) sched_expect(m->s, m->victim[--m->n], true);
    sched_untry(m->s);
}

/* Places do not depend on what was tried in vain: on the copy the head and those it met may have
 * taken the place of free instances. All stay lifted. */
static void forget_tried(struct mover *m)
{
    if (m->s->tried.n == 0) return;
    for (size_t i = 0; i < m->n; i++) sched_expect(m->s, m->victim[i], true);
    sched_untry(m->s);
    for (size_t i = 0; i < m->n; i++) sched_expect(m->s, m->victim[i], false);
}

static bool same_place(const struct job *j, const struct pick *p)
{
    for (int32_t i = 0; i < j->n_holdings; i++)
        if (j->holding[i].card != p->card.v[i] || j->holding[i].slice.start != p->slice.start)
            return false;
    return true;
}

/* The head takes its place on the copy, then everybody who was lifted. True: they stand there. */
static bool resettle(struct mover *m)
{
    struct sched *s = m->s;
    const struct place_request head = sched_request(s->plan, m->head, m->group);
    if (!s->plan->place->pick(s->then, &head, &m->head_place)) return false;
    sched_try(s, &head, &m->head_place);
    size_t placed = 0;
    while (placed < m->n) {
        const struct job *j = m->victim[placed];
        struct pick *p = &m->place[placed];
        const struct place_request r = sched_request(s->plan, j, m->group);
        if (!s->plan->place->pick(s->then, &r, p) ||
            cluster_gang_speed(s->plan, m->group, p) < j->wires)
            break;
        sched_try(s, &r, p);
        placed++;
    }
    if (placed == m->n) return true;
    while (placed-- > 0) {
        const struct place_request r = sched_request(s->plan, m->victim[placed], m->group);
        cluster_give(s->then, &r, &m->place[placed]);
    }
    cluster_give(s->then, &head, &m->head_place);
    return false;
}

/* Everybody moves at once, then the head starts. The copy of the fleet is there already. */
static void carry_out(struct mover *m)
{
    struct sched *s = m->s;
    const size_t n = m->n;
    bool moves[MOST_MOVED];
    for (size_t i = 0; i < n; i++) {
        m->victim[i]->expected = true;
        moves[i] = !same_place(m->victim[i], &m->place[i]);
        if (moves[i]) s->call.lift(s->ctx, m->victim[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (!moves[i]) continue;
        /* On the copy the head came first, here it comes last: the fleet says what is to be
         * made. */
        m->place[i].prepare = cluster_prepare(s->cluster, m->group, &m->place[i]);
        s->call.set_down(s->ctx, m->victim[i], &m->place[i]);
    }
    m->head_place.prepare = cluster_prepare(s->cluster, m->group, &m->head_place);
    const struct pick scratch = s->pick;
    s->pick = m->head_place;
    m->head_place = scratch;
    m->head->expected = true;
    s->walking = true;
    sched_start_at(s, m->head, m->group);
    s->walking = false;
}

/* ---- gangs: a node is cleared as far as they need it ---- */

static void rank_nodes(struct mover *m, int64_t want)
{
    const struct plan_group *pg = &m->s->plan->group[m->group];
    m->target.n = 0;
    for (int64_t n = 0; n < pg->nodes; n++) {
        const struct node *node = cluster_node(m->s->cluster, (int32_t)(pg->first_node + n));
        if (!node->out && node->eligible > 0)
            vec_push(&m->target, ((struct target){ want - node->eligible, (uint32_t)node->index }));
    }
    if (m->target.n > 1) qsort(m->target.v, m->target.n, sizeof *m->target.v, by_key);
}

static bool clear_node(struct mover *m, int32_t node, int64_t missing)
{
    const struct plan_group *pg = &m->s->plan->group[m->group];
    const uint32_t first = (uint32_t)(pg->first_card + (node - pg->first_node) * pg->per_node);
    VEC(struct target) card = { 0 };
    for (int64_t i = 0; i < pg->per_node; i++) {
        const int32_t used = cluster_used_units(m->s->cluster, first + (uint32_t)i);
        if (used > 0 && !cluster_card(m->s->cluster, first + (uint32_t)i)->out)
            vec_push(&card, ((struct target){ used, first + (uint32_t)i }));
    }
    if (card.n > 1) qsort(card.v, card.n, sizeof *card.v, by_key);
    bool done = false;
    for (size_t i = 0; i < card.n && !done; i++) {
        const size_t before = m->n;
        bool clear = true;
        for (size_t k = seats_on(m, card.v[i].card);
             clear && k < m->seat.n && m->seat.v[k].card == card.v[i].card; k++)
            clear = lift(m, m->seat.v[k].job);
        while (!clear && m->n > before) sched_expect(m->s, m->victim[--m->n], true);
        if (clear) missing--;
        done = missing <= 0 && resettle(m);
        if (!done) forget_tried(m);
    }
    vec_fini(&card);
    if (!done) put_back(m);
    return done;
}

static bool for_gang(struct mover *m)
{
    struct sched *s = m->s;
    const int64_t want = m->head->shape->fit[m->group].demand.cards;
    if (want > s->plan->group[m->group].per_node || cluster_eligible(s->cluster, m->group) < want)
        return false;
    seat_all(m);
    rank_nodes(m, want);
    for (size_t i = 0; i < m->target.n && i < TARGETS; i++)
        if (clear_node(m, (int32_t)m->target.v[i].card, m->target.v[i].key)) return true;
    return false;
}

/* ---- instances: one or two others leave a card ---- */

static bool clear_card(struct mover *m, uint32_t card)
{
    const size_t from = seats_on(m, card);
    size_t to = from;
    while (to < m->seat.n && m->seat.v[to].card == card) to++;
    for (size_t a = from; a < to; a++) { /* one */
        if (lift(m, m->seat.v[a].job) && resettle(m)) return true;
        put_back(m);
    }
    for (size_t a = from; a < to; a++)
        for (size_t b = a + 1; b < to; b++) { /* two */
            if (lift(m, m->seat.v[a].job) && lift(m, m->seat.v[b].job) && resettle(m)) return true;
            put_back(m);
        }
    return false;
}

static bool for_instance(struct mover *m)
{
    struct sched *s = m->s;
    const int32_t units = m->head->shape->fit[m->group].demand.units;
    m->target.n = 0;
    seat_all(m);
    for (size_t i = 0; i < m->seat.n; i++) {
        const uint32_t card = m->seat.v[i].card;
        const struct card *c = cluster_card(s->cluster, card);
        if ((i > 0 && m->seat.v[i - 1].card == card) || c->out || !c->mig || c->mig->fixed ||
            c->free_units < units)
            continue;
        vec_push(&m->target, ((struct target){ -(int64_t)c->free_units, card }));
    }
    if (m->target.n > 1) qsort(m->target.v, m->target.n, sizeof *m->target.v, by_key);
    for (size_t i = 0; i < m->target.n && i < TARGETS; i++)
        if (clear_card(m, m->target.v[i].card)) return true;
    return false;
}

bool sched_migrate(struct sched *s, struct job *head)
{
    struct mover *m = xcalloc(1, sizeof *m);
    bool done = false;
    m->s = s;
    m->head = head;
    s->starting = false;
    for (size_t g = 0; g < s->plan->n_groups && !done; g++) {
        const struct fit *fit = &head->shape->fit[g];
        if (!fit->feasible || fit->demand.cards == 0) continue;
        m->group = (int)g;
        done = fit->demand.mig_profile >= 0 ? for_instance(m) : for_gang(m);
    }
    if (done) carry_out(m);
    sched_untry(s);
    for (size_t i = 0; i < MOST_MOVED; i++) vec_fini(&m->place[i].card);
    vec_fini(&m->head_place.card);
    vec_fini(&m->seat);
    vec_fini(&m->target);
    free(m);
    return done;
}
