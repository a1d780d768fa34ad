#include "cost/bookrisk.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* One policy with the items it pays for; input_of[i]: the input of item i, or -1. */
struct option {
    struct priced_use use;
    struct price_book book;
    const int *input_of;
};

struct ranges {
    struct option *option;
    int replication; /* its input; -1: there is one */
    book_measure *measure;
    const void *ctx;
};

/* Equivalent annual cost. */
static double eac_of(const void *ctx, size_t option, size_t k, const struct price_book *book)
{
    const struct option *o = &((const struct ranges *)ctx)->option[option];
    return tco_price(o->use.usage[k], o->use.share, book, NULL).eac_usd;
}

static double at(const struct amount *a, double u)
{
    return amount_at(a, u == MC_MEDIAN ? 0.5 : u);
}

static double cost_of(const void *ctx, size_t option, const double *u)
{
    const struct ranges *r = ctx;
    const struct option *o = &r->option[option];
    struct price_item *item = xcalloc(o->book.n_items + 1, sizeof *item);
    struct price_book book = o->book;
    for (size_t i = 0; i < book.n_items; i++) {
        item[i] = o->book.item[i];
        if (o->input_of[i] >= 0) item[i].amount.mode = at(&item[i].amount, u[o->input_of[i]]);
    }
    book.item = item;
    const size_t n = o->use.n_usage;
    const double run = r->replication < 0 ? 0 : u[r->replication];
    double cost = 0;
    if (run < 0) { /* the mean of all */
        for (size_t k = 0; k < n; k++) cost += r->measure(r->ctx, option, k, &book) / (double)n;
    } else {
        const size_t k = (size_t)(run * (double)n);
        cost = r->measure(r->ctx, option, k < n ? k : n - 1, &book);
    }
    free(item);
    return cost;
}

static int find_input(const struct mc_input *in, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(in[i].name, name) == 0) return (int)i;
    return -1;
}

/* Keeps the items that the fleet pays for. An input shows the range of the first book that has it. */
static void reduce(struct option *o, const struct priced_use *use, struct mc_input *in, size_t *n,
                   struct arena *a)
{
    struct price_item *item = arena_array(a, use->book->n_items, sizeof *item);
    int *input_of = arena_array(a, use->book->n_items, sizeof *input_of);
    *o = (struct option){ .use = *use, .book = *use->book, .input_of = input_of };
    o->book.item = item;
    o->book.n_items = 0;
    for (size_t i = 0; i < use->book->n_items; i++) {
        const struct price_item *it = &use->book->item[i];
        if (!tco_concerns(use->usage[0], use->share, it)) continue;
        int k = -1;
        if (amount_ranged(&it->amount)) {
            k = find_input(in, *n, it->name);
            if (k < 0) {
                k = (int)(*n)++;
                in[k] = (struct mc_input){ it->name, NULL, it->amount };
            }
        }
        input_of[o->book.n_items] = k;
        item[o->book.n_items++] = *it;
    }
}

struct mc_model bookrisk_model(const struct priced_use *use, size_t n, struct arena *a)
{
    return bookrisk_model_of(use, n, NULL, NULL, a);
}

struct mc_model bookrisk_model_of(const struct priced_use *use, size_t n, book_measure *measure,
                                  const void *ctx, struct arena *a)
{
    struct ranges *r = arena_alloc(a, sizeof *r);
    size_t items = 0, n_inputs = 0;
    const char **name = arena_array(a, n, sizeof *name);
    for (size_t i = 0; i < n; i++) items += use[i].book->n_items;
    struct mc_input *in = arena_array(a, items + 1, sizeof *in);
    r->option = arena_array(a, n, sizeof *r->option);
    for (size_t i = 0; i < n; i++) {
        reduce(&r->option[i], &use[i], in, &n_inputs, a);
        name[i] = use[i].name;
    }
    r->replication = -1;
    r->measure = measure ? measure : eac_of;
    r->ctx = measure ? ctx : r;
    if (n > 0 && use[0].n_usage > 1) {
        const double runs = (double)use[0].n_usage;
        r->replication = (int)n_inputs;
        in[n_inputs++] = (struct mc_input){
            "replication",
            NULL,
            { .low = 1, .mode = (1 + runs) / 2, .high = runs, .shape = AMOUNT_UNIFORM }
        };
    }
    return (struct mc_model){ in, name, n_inputs, n, cost_of, r };
}
