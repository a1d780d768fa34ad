/* cost/plain.h - fleets without work ("format": "gpusim-tco/1", design section 8): options priced
 * at a use that is stated, not simulated.
 *
 *     { "format": "gpusim-tco/1", "term": "4 y", "rate": 0.08, "timing": "year_end",
 *       "options": [ { "name": "own40", "cards": 40, "gpu": "l40s", "use": 0.15, "card_usd": 9750,
 *                      "host_usd": 4000, "retention": 0.7, "maintenance": 0.05, "usd_per_kwh": 0.1,
 *                      "pue": 1.4, "idle_ctx_W": 102.1, "busy_W": 315,
 *                      "rent_usd_per_gpu_hour": 0.99 } ] }
 *
 * An option with "card_usd" is owned, and "rent_usd_per_gpu_hour" is the rent it is held against;
 * one without is rented at that price. Per year (reference TCO 3.2 to 3.5), N cards, use U, bought
 * B:
 *     energy       N x (idle_ctx_W + (busy_W - idle_ctx_W) U) / 1000 x 8760 x PUE x usd_per_kwh
 *     maintenance  share x capital,  capital = B (card + host),  residual = B card retention^term
 *     licence      N x licence (spare cards need none)
 *     rent         "on_demand" N x 8760 x U x price x (1 + lost_work);  "reserved" N x 8760 x price
 * "work_cards" instead of "use" holds the work when N has a range: U = work_cards / N. "demand":
 * [[cards, hours], ...] says how many cards are wanted for how long: then the fleet to own (at this
 * option's cost per card-hour) or to reserve, with the rest rented on demand, is worked out too. B
 * = N, plus the spares for "availability", rounded up to whole nodes of "cards_per_node". Spares
 * are switched off. Any number may be {"low", "mode", "high"}.
 *
 * Units: USD, W, hours, shares 0..1. Ownership: the arena. Threads: read-only after loading. */
#ifndef GPUSIM_COST_PLAIN_H
#define GPUSIM_COST_PLAIN_H

#include "cost/breakeven.h"
#include "cost/cashflow.h"
#include "cost/montecarlo.h"
#include "model/gpu.h"

#define PLAIN_FORMAT "gpusim-tco/1"

/* key, default (NAN: none), lowest, highest, meaning */
#define PLAIN_KEY_MAP(X)                                                                           \
    X(cards, NAN, 1, 1e7, "cards in service; rounded up to whole cards")                           \
    X(use, NAN, 0, 1, "share of their hours in which they work")                                   \
    X(work_cards, NAN, 0, 1e7, "instead of use: cards' worth of work all year; use = it / cards")  \
    X(card_usd, NAN, 0, 1e12, "price of a card; absent: the option is rented")                     \
    X(host_usd, 0, 0, 1e12, "host, chassis and network for each card")                             \
    X(retention, 0, 0, 1, "share of a card's value kept per year")                                 \
    X(maintenance, 0, 0, 1, "share of capital paid per year")                                      \
    X(usd_per_kwh, NAN, 0, 1e6, "energy at the meter")                                             \
    X(pue, 1.5, 1, 5, "facility energy over IT energy")                                            \
    X(idle_ctx_W, NAN, 0, 1e6, "a card that holds a context and does nothing; default: the gpu's") \
    X(busy_W, NAN, 0, 1e6, "a card at full load; default: the gpu's")                              \
    X(licence_usd_per_card_year, 0, 0, 1e12, "licence")                                            \
    X(operations_usd_per_year, 0, 0, 1e15, "staff and other costs of the whole option")            \
    X(rent_usd_per_gpu_hour, NAN, 0, 1e9, "rent of a card")                                        \
    X(lost_work, 0, 0, 10, "hours to be rented again per hour rented (spot)")
enum plain_key {
#define X(name, dflt, low, high, help) PLAIN_##name,
    PLAIN_KEY_MAP(X)
#undef X
        PLAIN_KEYS
};
extern const char *const plain_key_names[PLAIN_KEYS + 1];

enum plain_rent { PLAIN_ON_DEMAND, PLAIN_RESERVED };

struct plain_option {
    const char *name;
    const struct gpu_spec *gpu;             /* NULL: not stated */
    const char *source, *date, *confidence; /* of the prices; "not stated" */
    struct amount value[PLAIN_KEYS];        /* NAN: absent */
    bool owned;
    enum plain_rent rent; /* how the rent is billed */
    int64_t cards_per_node;
    double availability; /* NAN: no spares */
    double failure_rate, repair_days;
    const struct demand_level *demand; /* sorted by cards; NULL: not stated */
    size_t n_demand;
    double on_demand_usd; /* price of what the base does not cover; default: the option's rent */
};

struct plain_fleet {
    const char *name;
    const struct plain_option *option;
    size_t n_options;
    struct amount rate; /* per year */
    double term_y;
    enum cash_timing timing;
};

/* Problems go to `d` with their place; *out is then not to be used. `gpus` must outlive it. */
void plain_read(struct plain_fleet *out, struct arena *a, const struct json_doc *doc,
                const struct gpu_catalogue *gpus, struct diag *d);

/* What an option costs. NAN: not defined (use 0), or the curves do not cross. */
struct plain_cost {
    double npv_usd, eac_usd, usd_per_gpu_hour, usd_per_used_gpu_hour;
    double breakeven_use;       /* owned with a rent on demand: own(x) = rent x, energy at use x */
    double breakeven_months;    /* PV of owning <= PV of renting, within the term, no residual */
    double breakeven_price_usd; /* rent per billed card-hour at which both cost the same */
    double capital_usd, residual_usd;
    double energy_usd, maintenance_usd, licence_usd, operations_usd, rent_usd; /* per year */
    double power_W, energy_kwh; /* a card; the meter, per year */
    double use;
    double commit_cards, commit_usd; /* cards to own or reserve; a year with the peak rented; NAN */
    int64_t cards, spares, bought;
};

/* With all amounts at their modes. Pure. */
struct plain_cost plain_price(const struct plain_fleet *f, size_t option);

/* USD a year, at the modes, were the cards in use for the share `use` of their hours: of owning
 * (EAC; NAN when the option is rented) and of renting (NAN without a rent). */
void plain_at_use(const struct plain_fleet *f, size_t option, double use, double *own,
                  double *rent);

/* What is paid when, at the modes: for cashflow_by_month(). */
struct cash_plan plain_cash(const struct plain_fleet *f, size_t option);

/* The inputs that have a range, as a model for mc_run(). */
struct mc_model plain_model(const struct plain_fleet *f, struct arena *a);

#endif
