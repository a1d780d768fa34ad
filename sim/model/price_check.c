#include "model/price_check.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { POINTER_BYTES = 512 };

/* GB or GiB that a name states, "a100 80GB", "A40 with 16 GB"; 0: none. */
static double stated_gb(const char *name)
{
    for (const char *s = name; *s; s++) {
        char *end;
        if (!isdigit((unsigned char)*s) ||
            (s > name && (isalnum((unsigned char)s[-1]) || s[-1] == '.')))
            continue;
        const double x = strtod(s, &end);
        while (*end == ' ') end++;
        if (strncasecmp(end, "GB", 2) == 0 && !isalnum((unsigned char)end[2])) return x;
        if (strncasecmp(end, "GiB", 3) == 0 && !isalnum((unsigned char)end[3])) return x;
        while (isalnum((unsigned char)s[1])) s++;
    }
    return 0;
}

static void check_card(const struct price_item *it, const char *at, const struct json_doc *doc,
                       const struct gpu_catalogue *gpus, struct diag *d)
{
    const char *near = NULL;
    char here[POINTER_BYTES];
    const struct gpu_spec *g = gpu_find(gpus, it->gpu, &near);
    if (!g) {
        struct err *e = json_problem(d, doc, json_pointer_key(here, sizeof here, at, "gpu"),
                                     "no card \"%s\" in the catalogue", it->gpu);
        if (near)
            err_hint(e, "did you mean \"%s\"?", near);
        else
            err_hint(e, "`gpusim list gpus` names them");
        return;
    }
    /* A nominal 80 GB may be 80e9 bytes or 80 GiB, and boards are named a little above both. */
    const double gb = stated_gb(it->name), has = (double)g->memory_bytes / 1e9;
    if (gb > 0 && (gb < 0.9 * has || gb > 1.1 * has))
        json_problem(d, doc, json_pointer_key(here, sizeof here, at, "name"),
                     "\"%s\" has %g GB, but %s has %.4g GB: the price of another card?", it->name,
                     gb, g->name, has);
}

void price_check_cards(const struct price_book *b, const struct json_doc *doc,
                       const struct gpu_catalogue *gpus, struct diag *d)
{
    char at[POINTER_BYTES];
    for (size_t i = 0; i < b->n_items; i++)
        if (b->item[i].gpu)
            check_card(&b->item[i], json_pointer_index(at, sizeof at, "/items", i), doc, gpus, d);
}

/* What amounts of a driver are usually between, in USD; reference TCO 2 with room on both sides. */
static const struct {
    enum price_driver driver;
    double low, high;
    const char *unit;
} usual[] = {
    { PRICE_card, 50, 200000, "USD a card" },
    { PRICE_node, 500, 2000000, "USD a node" },
    { PRICE_kwh, 0.01, 1, "USD/kWh" },
    { PRICE_gpu_hour, 0.01, 60, "USD/h" },
    { PRICE_allocated_gpu_hour, 0.01, 60, "USD/h" },
    { PRICE_occupied_gpu_hour, 0.01, 60, "USD/h" },
    { PRICE_committed_gpu_hour, 0.01, 60, "USD/h" },
    { PRICE_overflow_gpu_hour, 0.01, 60, "USD/h" },
    { PRICE_fte, 5000, 500000, "USD an employee" },
};

static void doubt_item(const struct price_item *it, double term_y, price_say *say, void *ctx)
{
    char text[400];
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
        if (usual[k].driver != it->driver || it->amount.mode == 0) continue;
        if (it->amount.mode >= usual[k].low && it->amount.mode <= usual[k].high) continue;
        snprintf(text, sizeof text, "\"%.80s\": %g %s is outside the usual %g to %g", it->name,
                 it->amount.mode, usual[k].unit, usual[k].low, usual[k].high);
        say(ctx, text);
    }
    if (it->driver == PRICE_rent && it->amount.mode > 0.5) {
        snprintf(text, sizeof text,
                 "\"%.80s\": %g %% of the rent is unusually much (0.075 is 7.5 %%)", it->name,
                 100 * it->amount.mode);
        say(ctx, text);
    }
    if (it->driver == PRICE_capital && it->period == PER_YEAR && it->amount.mode > 0.3) {
        snprintf(text, sizeof text, "\"%.80s\": %g %% of capital a year is unusually much",
                 it->name, 100 * it->amount.mode);
        say(ctx, text);
    }
    if (it->amount.low > 0 && it->amount.high > 20 * it->amount.low) {
        snprintf(text, sizeof text, "\"%.80s\": high is %.3g times low", it->name,
                 it->amount.high / it->amount.low);
        say(ctx, text);
    }
    if (it->amount.low == 0 && it->amount.high > 50 * it->amount.mode) {
        snprintf(text, sizeof text, "\"%.80s\": high is %g, with a mode of %g and a low of 0",
                 it->name, it->amount.high, it->amount.mode);
        say(ctx, text);
    }
    if (it->period == PER_ONCE && it->life_y < 0.5 && it->life_y < term_y) {
        snprintf(text, sizeof text,
                 "\"%.80s\": a life of %.3g d; it is bought %.0f times in the term", it->name,
                 365 * it->life_y, ceil(term_y / it->life_y - 1e-9));
        say(ctx, text);
    }
    if (it->retention > 0.95) {
        snprintf(text, sizeof text,
                 "\"%.80s\": hardware that keeps %g of its value each year is unusual", it->name,
                 it->retention);
        say(ctx, text);
    }
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_item(const struct price_item *a, const struct price_item *b)
{
    return a->driver == b->driver && same_text(a->name, b->name) && same_text(a->gpu, b->gpu) &&
           same_text(a->share, b->share);
}

void price_doubts(const struct price_book *b, price_say *say, void *ctx)
{
    char text[200];
    if (!b->currency_stated) say(ctx, "no currency is stated; amounts are taken as USD");
    if (b->pue > 2.2) {
        snprintf(text, sizeof text, "a PUE of %g is unusually high (1.2 to 1.6 are common)",
                 b->pue);
        say(ctx, text);
    }
    if (b->rate > 0.25) {
        snprintf(text, sizeof text, "a discount rate of %g a year is unusually high", b->rate);
        say(ctx, text);
    }
    for (size_t i = 0; i < b->n_items; i++) {
        doubt_item(&b->item[i], b->term_y, say, ctx);
        for (size_t k = 0; k < i; k++)
            if (same_item(&b->item[i], &b->item[k])) {
                snprintf(text, sizeof text, "\"%.80s\" is there twice; both are paid",
                         b->item[i].name);
                say(ctx, text);
            }
    }
}
