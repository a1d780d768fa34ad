#include "engine/waitlist.h"

#include "base/mem.h"

#include <stdlib.h>

int waitlist_compare(const struct job *a, const struct job *b)
{
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}
TREE_GENERATE(waiting_jobs, job, waiting, waitlist_compare)

static int lane_compare(const struct lane *a, const struct lane *b, const struct job *x,
                        const struct job *y)
{
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return waitlist_compare(x, y);
}

static int first_compare(const struct lane *a, const struct lane *b)
{
    return lane_compare(a, b, a->first, b->first);
}
TREE_GENERATE(lanes_by_first, lane, by_first, first_compare)

static int cursor_compare(const struct lane *a, const struct lane *b)
{
    return lane_compare(a, b, a->cursor, b->cursor);
}
TREE_GENERATE(lanes_in_walk, lane, in_walk, cursor_compare)

void waitlist_init(struct waitlist *w)
{
    *w = (struct waitlist){ 0 };
    RB_INIT(&w->order);
    RB_INIT(&w->walking);
    waitlist_lane(w, 0);
}

void waitlist_fini(struct waitlist *w)
{
    for (size_t i = 0; i < w->lane.n; i++) free(w->lane.v[i]);
    vec_fini(&w->lane);
}

struct lane *waitlist_lane(struct waitlist *w, uint32_t index)
{
    while (w->lane.n <= index) {
        struct lane *l = xcalloc(1, sizeof *l);
        l->index = (uint32_t)w->lane.n;
        RB_INIT(&l->jobs);
        vec_push(&w->lane, l);
    }
    return w->lane.v[index];
}

/* A lane leaves the order while what it is ordered by changes. */
static void unlist(struct waitlist *w, struct lane *l)
{
    if (l->listed) RB_REMOVE(lanes_by_first, &w->order, l);
    l->listed = false;
}

static void list(struct waitlist *w, struct lane *l)
{
    if (l->held || !l->first || l->listed) return;
    RB_INSERT(lanes_by_first, &w->order, l);
    l->listed = true;
}

static void set_first(struct waitlist *w, struct lane *l, struct job *first)
{
    if (l->first == first) return;
    if (w->lane.n == 1 && l->listed && first) { /* alone it stands where it stood */
        l->first = first;
        return;
    }
    unlist(w, l);
    l->first = first;
    list(w, l);
}

void waitlist_add(struct waitlist *w, struct lane *l, struct job *j)
{
    RB_INSERT(waiting_jobs, &l->jobs, j);
    if (!l->first || waitlist_compare(j, l->first) < 0) set_first(w, l, j);
}

void waitlist_remove(struct waitlist *w, struct lane *l, struct job *j)
{
    if (l->first == j) set_first(w, l, RB_NEXT(waiting_jobs, &l->jobs, j));
    RB_REMOVE(waiting_jobs, &l->jobs, j);
}

struct job *waitlist_next(struct job *j)
{
    return RB_NEXT(waiting_jobs, NULL, j);
}

struct job *waitlist_first(const struct waitlist *w)
{
    const struct lane *l = RB_MIN(lanes_by_first, (struct lanes_by_first *)(uintptr_t)&w->order);
    return l ? l->first : NULL;
}

void waitlist_hold(struct waitlist *w, struct lane *l)
{
    unlist(w, l);
    l->held = true;
}

void waitlist_release(struct waitlist *w, struct lane *l)
{
    l->held = false;
    list(w, l);
}

void waitlist_rank(struct waitlist *w, struct lane *l, double rank)
{
    if (l->rank == rank) return;
    unlist(w, l);
    if (l->walk == w->walk && l->cursor && l != w->at) RB_REMOVE(lanes_in_walk, &w->walking, l);
    l->rank = rank;
    if (l->walk == w->walk && l->cursor && l != w->at) RB_INSERT(lanes_in_walk, &w->walking, l);
    list(w, l);
}

void waitlist_walk(struct waitlist *w)
{
    struct lane *l;
    RB_INIT(&w->walking);
    w->at = NULL;
    w->walk++;
    RB_FOREACH(l, lanes_by_first, &w->order)
    {
        l->walk = w->walk;
        l->cursor = l->first;
        RB_INSERT(lanes_in_walk, &w->walking, l);
    }
}

struct job *waitlist_step(struct waitlist *w)
{
    struct lane *l = w->at;
    /* One lane alone stays where it is: the usual case. */
    if (l && l->cursor && RB_EMPTY(&w->walking)) {
        struct job *j = l->cursor;
        l->cursor = RB_NEXT(waiting_jobs, &l->jobs, j);
        return j;
    }
    if (l && l->cursor) RB_INSERT(lanes_in_walk, &w->walking, l);
    w->at = l = RB_MIN(lanes_in_walk, &w->walking);
    if (!l) return NULL;
    RB_REMOVE(lanes_in_walk, &w->walking, l);
    struct job *j = l->cursor;
    l->cursor = RB_NEXT(waiting_jobs, &l->jobs, j);
    return j;
}

void waitlist_seek(struct waitlist *w, struct lane *l, struct job *j)
{
    if (l == w->at) l->cursor = RB_NEXT(waiting_jobs, &l->jobs, j);
}

void waitlist_leave(struct waitlist *w)
{
    if (w->at) w->at->cursor = NULL;
}
