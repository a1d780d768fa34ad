/* tests/fuzz/fuzz_tco.c - any bytes as fleets to price and as a price book: what is accepted has
 * finite costs, monotone break-evens and bounded draws. */
#include "cost/plain.h"
#include "model/price.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void price_all(const struct plain_fleet *f, struct arena *a)
{
    for (size_t i = 0; i < f->n_options; i++) {
        const struct plain_cost c = plain_price(f, i);
        BUG_ON(!isfinite(c.npv_usd) || !isfinite(c.eac_usd));
        BUG_ON(c.bought < (f->option[i].owned ? c.cards : 0));
        BUG_ON(c.breakeven_use < 0 || c.breakeven_use > 1);
        BUG_ON(c.breakeven_months < 0 || c.breakeven_months > 12 * f->term_y * (1 + 1e-9));
        BUG_ON(c.power_W < 0 || c.use < 0 || c.use > 1);
    }
    const struct mc_model m = plain_model(f, a);
    struct mc_result r;
    mc_run(&r, &m, &(struct mc_options){ .samples = 3, .seed = 1 }, a);
    for (size_t i = 0; i < f->n_options; i++)
        BUG_ON(!isfinite(r.option[i].cost.mean) || r.option[i].cost.p5 > r.option[i].cost.p95);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gsl_set_error_handler_off(); /* as main() does: a root that is not there is an answer */
    struct json_doc doc;
    struct diag d;
    if (json_doc_parse(&doc, "fuzz", (const char *)data, size, NULL) != 0) return 0;
    struct arena *a = arena_create();
    struct plain_fleet fleet;
    struct price_book book;
    diag_init(&d);
    plain_read(&fleet, a, &doc, NULL, &d);
    if (d.count == 0 && fleet.n_options <= 8) price_all(&fleet, a);
    diag_fini(&d);
    diag_init(&d);
    price_book_read(&book, a, &doc, &d);
    for (size_t i = 0; d.count == 0 && i < book.n_items; i++) {
        const struct amount x = book.item[i].amount;
        BUG_ON(!(x.low <= x.mode && x.mode <= x.high && x.low >= 0));
    }
    diag_fini(&d);
    json_doc_fini(&doc);
    arena_destroy(a);
    return 0;
}
