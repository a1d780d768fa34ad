/* model/price.h - a price book ("format": "gpusim-prices/1"): items x driver x amount x period,
 * each with source, date and confidence. No prices are built into the program.
 *
 *     { "format": "gpusim-prices/1", "name": "owned", "currency": "USD", "as_of": "2026-08",
 *       "pue": 1.5, "rate": 0.08, "term": "4 y",
 *       "items": [ { "name": "card l40s", "driver": "card", "gpu": "l40s", "period": "once",
 *                    "amount": 9750, "life": "4 y", "retention": 0.7,
 *                    "source": "...", "date": "2024-11", "confidence": "read" },
 *                  { "name": "energy", "driver": "kwh", "amount": "0.10 USD/kWh" } ] }
 *
 * pue, rate and retention may be ranges too. Drivers turn usage into a quantity (design section
 * 8, cost/tco.h). An amount is a number in the book's currency, a string with its unit ("9750
 * USD", "0.10 USD/kWh", "2.50 USD/h", "4500 USD/y"), or a range of either (model/amount.h).
 * Results are in USD: other currencies need a rate, "currencies": { "CNY": 0.139 } (USD per
 * unit), and are converted when read. Ownership: the arena. Threads: read-only after loading. */
#ifndef GPUSIM_MODEL_PRICE_H
#define GPUSIM_MODEL_PRICE_H

#include "base/arena.h"
#include "base/json.h"
#include "model/amount.h"
#include "model/gpu.h"
#include "model/usage.h"

#include <stdint.h>

/* key, how it is paid for when the period is not stated, what one unit of it is */
#define PRICE_DRIVER_MAP(X)                                                                        \
    X(card, ONCE, "a card that is bought")                                                         \
    X(node, ONCE, "a node that is bought")                                                         \
    X(rack, ONCE, "a rack begun: cards / per, rounded up")                                         \
    X(spares, ONCE, "a USD of capital in spare cards; the amount is a share of it")                \
    X(kwh, USE, "a kWh at the meter: board energy x PUE")                                          \
    X(peak_kw, YEAR, "a kW of board TDP x PUE of the whole fleet")                                 \
    X(gpu_hour, USE, "a card-hour provisioned")                                                    \
    X(allocated_gpu_hour, USE, "a card-hour held by jobs, each rounded up to the billing step")    \
    X(occupied_gpu_hour, USE, "a card-hour with any job on the card")                              \
    X(committed_gpu_hour, USE, "an hour of each card of the base, used or not")                    \
    X(overflow_gpu_hour, USE, "a card-hour occupied beyond the base")                              \
    X(licence, YEAR, "a card that needs the licence")                                              \
    X(fte, YEAR, "a full-time employee: cards / per")                                              \
    X(constant, YEAR, "the whole fleet")                                                           \
    X(capital, YEAR, "a USD of capital bought; the amount is a share of it")                       \
    X(rent, USE, "a USD paid by the card-hour; the amount is a share of it (egress, storage)")     \
    X(gb, YEAR, "a GB of the item's \"gb\", kept or moved in a year")
enum price_driver {
#define X(name, period, help) PRICE_##name,
    PRICE_DRIVER_MAP(X)
#undef X
        PRICE_DRIVERS
};
extern const char *const price_driver_names[PRICE_DRIVERS + 1];
extern const char *const price_driver_help[PRICE_DRIVERS];

enum price_period { PER_ONCE, PER_YEAR, PER_USE };
extern const char *const price_confidences[];  /* "read" ... "not stated", NULL */
extern const char *const price_period_names[]; /* "once", "year", "use", NULL */

struct price_item {
    const char *name, *currency, *source, *date, *confidence; /* "not stated" when absent */
    enum price_driver driver;
    /* once: capital, spread over `life_y`; year: per year; use: per unit used */
    enum price_period period;
    struct amount amount;
    double life_y;    /* capital only: useful life in years; default: the book's term */
    double retention; /* capital only: share of value kept per year; 0: worth nothing at the end */
    struct amount retention_range; /* where it has one; `retention` is its mode */
    double gb;                     /* gb: how many, kept or moved in a year (once: in all) */
    double per;                    /* fte: cards one employee looks after; rack: cards in it */
    double lost_work;              /* hours to be paid again per hour held (spot), else 0 */
    double step_s; /* allocated_gpu_hour: each job is billed in whole steps; 0: as used */
    double availability, unavailability; /* spares: target; share of time that a card is down */
    bool whole_nodes;                    /* spares: with the fleet rounded up to whole nodes */
    const char *gpu;   /* only for cards of this kind (name or alias); NULL: all */
    const char *share; /* only under this sharing kind ("intercept"); NULL: all */
};

/* What a tenant is charged for: the share of a card that it keeps from others. */
enum charge_rule { CHARGE_ALLOCATED, CHARGE_MAX };
extern const char *const charge_rule_names[]; /* "allocated", "max", NULL */

/* Which cards of the simulated fleet are owned: all, or the base up to which owning is cheaper. */
enum own_rule { OWN_ALL, OWN_BASE };
extern const char *const own_rule_names[]; /* "all", "base", NULL */

/* Steps in which rent is billed, as usage counts them (model/usage.h). */
extern const double price_step_s[USAGE_STEPS];

struct price_book {
    const char *name, *currency, *as_of;
    enum charge_rule charge;
    enum own_rule own;
    double grid_g_per_kwh;               /* carbon of a kWh; NAN: not stated */
    double embodied_kg, embodied_life_y; /* of a card with its part of the host; NAN */
    bool currency_stated;                /* in the book or in every item */
    double pue, rate, term_y; /* facility overhead; discount rate per year; planning term */
    struct amount pue_range, rate_range; /* where they have one; `pue` and `rate` are their modes */
    const struct price_item *item;
    size_t n_items;
};

/* Problems go to `d` with their place; *out is then not to be used. */
void price_book_read(struct price_book *out, struct arena *a, const struct json_doc *doc,
                     struct diag *d);
/* 0, ERR_IO or ERR_INPUT with the first problem. `sha256` is of the file's bytes. Cards that `gpus`
 * does not know are problems, see model/price_check.h; NULL: not looked at. */
int price_book_load(struct price_book *out, struct arena *a, const char *path,
                    const struct gpu_catalogue *gpus, char sha256[65], struct err *e);

/* Whether an item is paid for cards of kind `gpu` under sharing kind `share` (NULL: any). */
bool price_item_applies(const struct price_item *it, const struct gpu_spec *gpu, const char *share);
/* 0 when the book says what a card of kind `gpu` costs under `share`; else ERR_INPUT naming the
 * card and the kinds that have a price: a missing price must not read as zero. When some item of
 * the book names a card kind, every kind must be named; else any card, node or card-hour item
 * covers all. The generic card costs 0. */
int price_book_covers(const struct price_book *b, const struct gpu_spec *gpu, const char *share,
                      struct err *e);

#endif
