/* policy/call_list.h - a list of requests under way, linked by `next` and `prev`; a request is
 * in one at most. The caller owns the requests. O(1) each. Threads: one list, one thread. */
#ifndef GPUSIM_POLICY_CALL_LIST_H
#define GPUSIM_POLICY_CALL_LIST_H

#include "engine/serve.h"

struct call_list {
    struct serve_call *head, *tail;
    uint64_t n;
};

static inline void call_list_push(struct call_list *l, struct serve_call *q)
{
    q->next = NULL;
    q->prev = l->tail;
    if (l->tail)
        l->tail->next = q;
    else
        l->head = q;
    l->tail = q;
    l->n++;
}

/* Before `at`, which is in the list; NULL: at its end. */
static inline void call_list_insert(struct call_list *l, struct serve_call *q,
                                    struct serve_call *at)
{
    if (!at) {
        call_list_push(l, q);
        return;
    }
    q->next = at;
    q->prev = at->prev;
    if (at->prev)
        at->prev->next = q;
    else
        l->head = q;
    at->prev = q;
    l->n++;
}

static inline void call_list_push_front(struct call_list *l, struct serve_call *q)
{
    q->prev = NULL;
    q->next = l->head;
    if (l->head)
        l->head->prev = q;
    else
        l->tail = q;
    l->head = q;
    l->n++;
}

static inline void call_list_remove(struct call_list *l, struct serve_call *q)
{
    if (q->prev)
        q->prev->next = q->next;
    else
        l->head = q->next;
    if (q->next)
        q->next->prev = q->prev;
    else
        l->tail = q->prev;
    l->n--;
}

#endif
