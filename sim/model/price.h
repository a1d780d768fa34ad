/* model/price.h - a price book ("format": "gpusim-prices/1"): items x driver x amount x period, each
 * with source, date and confidence. No prices are built into the program.
 *
 * Drivers turn usage into a quantity (design section 8). An amount is a number or
 * {"low", "mode", "high"}. Ownership: the arena. Threads: read-only after loading. */
#ifndef GPUSIM_MODEL_PRICE_H
#define GPUSIM_MODEL_PRICE_H

#include "base/arena.h"
#include "base/json.h"

#include <stdint.h>

/* key, what one unit of it is */
#define PRICE_DRIVER_MAP(X)                                                                        \
    X(card, "a card of the fleet")                                                                 \
    X(node, "a node of the fleet")                                                                 \
    X(kwh, "a kWh at the meter: board energy x PUE")                                               \
    X(peak_kw, "a kW of board TDP x PUE of the whole fleet")                                       \
    X(gpu_hour, "a card-hour provisioned")                                                         \
    X(allocated_gpu_hour, "a card-hour held by jobs")                                              \
    X(licence, "a card that needs the licence")                                                    \
    X(fte, "a full-time employee: cards / per")                                                    \
    X(constant, "the whole fleet")
enum price_driver {
#define X(name, help) PRICE_##name,
    PRICE_DRIVER_MAP(X)
#undef X
    PRICE_DRIVERS
};
extern const char *const price_driver_names[PRICE_DRIVERS + 1];

enum price_period { PER_ONCE, PER_YEAR, PER_USE };
extern const char *const price_period_names[]; /* "once", "year", "use", NULL */

struct amount {
    double low, mode, high; /* equal when a single number was given */
};

struct price_item {
    const char *name, *currency, *source, *date, *confidence;
    enum price_driver driver;
    enum price_period period; /* once: capital, spread over `life_y`; year: per year; use: per unit used */
    struct amount amount;
    double life_y;            /* capital only: useful life in years */
    double retention;         /* capital only: share of value kept per year; 0: worth nothing at the end */
    double per;               /* fte: cards one employee looks after */
    const char *gpu;          /* only for cards of this kind (name or alias); NULL: all */
    const char *share;        /* only under this sharing kind ("intercept"); NULL: all */
};

struct price_book {
    const char *name, *currency, *as_of;
    double pue, rate, term_y;  /* facility overhead; discount rate per year; planning term */
    const struct price_item *item;
    size_t n_items;
};

void price_book_read(struct price_book *out, struct arena *a, const struct json_doc *doc, struct diag *d);
int price_book_load(struct price_book *out, struct arena *a, const char *path, char sha256[65], struct err *e);

#endif
