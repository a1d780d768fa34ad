#include "cost/bookrisk.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* One policy with the items it pays for. Inputs: of the amount of item i, of what it keeps of
 * its value a year, of PUE and discount rate; -1: none. */
struct option {
    struct priced_use use;
    struct price_book book;
    const int *input_of, *kept_of;
    int pue, rate;
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
        if (o->kept_of[i] >= 0) item[i].retention = at(&item[i].retention_range, u[o->kept_of[i]]);
    }
    book.item = item;
    if (o->pue >= 0) book.pue = at(&book.pue_range, u[o->pue]);
    if (o->rate >= 0) book.rate = at(&book.rate_range, u[o->rate]);
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

/* The input of this name, which shows the range of the first book that has it; -1: no range. */
static int input_of(struct mc_input *in, size_t *n, const char *name, const struct amount *range)
{
    if (!amount_ranged(range)) return -1;
    const int k = find_input(in, *n, name);
    if (k >= 0) return k;
    in[*n] = (struct mc_input){ name, NULL, *range };
    return (int)(*n)++;
}

static bool takes_energy(const struct price_item *it)
{
    return it->driver == PRICE_kwh || it->driver == PRICE_peak_kw;
}

/* Keeps the items that the fleet pays for. */
static void reduce(struct option *o, const struct priced_use *use, struct mc_input *in, size_t *n,
                   struct arena *a)
{
    bool energy = false;
    struct price_item *item = arena_array(a, use->book->n_items, sizeof *item);
    int *amount = arena_array(a, use->book->n_items, sizeof *amount);
    int *kept = arena_array(a, use->book->n_items, sizeof *kept);
    *o = (struct option){
        .use = *use, .book = *use->book, .input_of = amount, .kept_of = kept, .pue = -1
    };
    o->book.item = item;
    o->book.n_items = 0;
    for (size_t i = 0; i < use->book->n_items; i++) {
        const struct price_item *it = &use->book->item[i];
        if (!tco_concerns(use->usage[0], use->share, it)) continue;
        amount[o->book.n_items] = input_of(in, n, it->name, &it->amount);
        kept[o->book.n_items] = input_of(in, n, arena_printf(a, "%s, value kept a year", it->name),
                                         &it->retention_range);
        energy |= takes_energy(it);
        item[o->book.n_items++] = *it;
    }
    if (energy) o->pue = input_of(in, n, "PUE", &use->book->pue_range);
    o->rate = input_of(in, n, "discount rate", &use->book->rate_range);
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
    struct mc_input *in = arena_array(a, 2 * items + 2 * n + 1, sizeof *in);
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
