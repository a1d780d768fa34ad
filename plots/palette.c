#include "plots/palette.h"

#include "base/hashes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void palette_add(struct palette *p, const char *name)
{
    size_t i = 0;
    while (name && i < p->n && strcmp(p->name[i], name) != 0) i++;
    if (name && i == p->n && i < PALETTE_MOST) p->name[p->n++] = name;
}

void palette_add_all(struct palette *p, const json_t *list)
{
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v)
        palette_add(p, json_string_value(json_is_object(v) ? json_object_get(v, "name") : v));
}

struct wish {
    const char *name;
    size_t place; /* from 0 */
    bool first;   /* a kind of sharing */
};

static struct wish wish_of(const char *name)
{
    static const struct {
        const char *name;
        size_t place;
    } kinds[] = { { "whole", 0 },     { "mig", 1 },  { "timeslice", 2 }, { "mps", 3 },
                  { "intercept", 4 }, { "pool", 5 }, { "remote", 5 } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) return (struct wish){ name, kinds[i].place, true };
    return (struct wish){ name, hash_mix(hash_bytes(name, strlen(name))) % PALETTE_COLOURS, false };
}

static int by_rank(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;
    return x->first != y->first ? y->first - x->first : strcmp(x->name, y->name);
}

size_t palette_place(const struct palette *p, const char *name)
{
    struct wish wish[PALETTE_MOST];
    bool taken[PALETTE_MOST] = { false };
    for (size_t i = 0; i < p->n; i++) wish[i] = wish_of(p->name[i]);
    qsort(wish, p->n, sizeof *wish, by_rank);
    for (size_t i = 0; i < p->n; i++) {
        const size_t round = i / PALETTE_COLOURS * PALETTE_COLOURS; /* those before it are full */
        size_t place = round + wish[i].place;
        while (taken[place]) place = round + (place + 1 - round) % PALETTE_COLOURS;
        taken[place] = true;
        if (strcmp(wish[i].name, name) == 0) return place + 1;
    }
    return wish_of(name).place + 1;
}
