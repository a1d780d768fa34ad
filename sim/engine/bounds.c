#include "engine/bounds.h"

/* How many of the list's bounds are for `length` or less. */
static size_t up_to(const struct bound_list *l, simtime length)
{
    size_t low = 0, high = l->of.n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (l->of.v[mid].length <= length)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

simtime bounds_from(const struct bounds *b, const struct shape *s, size_t group, simtime length,
                    simtime from)
{
    if (s->bounds_pass != b->pass) return from;
    const struct bound_list *l = &b->list.v[s->bounds + group];
    const size_t n = up_to(l, length);
    return n > 0 && l->of.v[n - 1].at > from ? l->of.v[n - 1].at : from;
}

/* The lists of a shape, one for each group, empty in this pass. */
static void open_lists(struct bounds *b, struct shape *s)
{
    s->bounds_pass = b->pass;
    s->bounds = b->used;
    for (size_t g = 0; g < b->n_groups; g++, b->used++)
        if (b->used < b->list.n)
            b->list.v[b->used].of.n = 0;
        else
            vec_push(&b->list, ((struct bound_list){ 0 }));
}

void bounds_learn(struct bounds *b, struct shape *s, size_t group, simtime length, simtime at)
{
    if (s->bounds_pass != b->pass) open_lists(b, s);
    struct bound_list *l = &b->list.v[s->bounds + group];
    /* It takes the place of those that say no more: as long or longer, and not later. */
    size_t first = up_to(l, length), last;
    while (first > 0 && l->of.v[first - 1].length == length) first--;
    if (first > 0 && l->of.v[first - 1].at >= at) return;
    for (last = first; last < l->of.n && l->of.v[last].at <= at;) last++;
    if (first == last) {
        vec_push(&l->of, ((struct bound){ 0, 0 }));
        for (size_t i = l->of.n - 1; i > first; i--) l->of.v[i] = l->of.v[i - 1];
    } else {
        for (size_t i = last; i < l->of.n; i++) l->of.v[first + 1 + i - last] = l->of.v[i];
        l->of.n -= last - first - 1;
    }
    l->of.v[first] = (struct bound){ length, at };
}

void bounds_fini(struct bounds *b)
{
    for (size_t i = 0; i < b->list.n; i++) vec_fini(&b->list.v[i].of);
    vec_fini(&b->list);
}
