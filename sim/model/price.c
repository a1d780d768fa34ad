/* model/price.c - reading price books. */
#include "model/price.h"

#include "base/cfg.h"
#include "base/instream.h"
#include "model/price_check.h"
#include "model/price_date.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PRICE_FORMAT "gpusim-prices/1"

const char *const price_driver_names[PRICE_DRIVERS + 1] = {
#define X(name, period, help) [PRICE_##name] = #name,
    PRICE_DRIVER_MAP(X)
#undef X
};

const char *const price_driver_help[PRICE_DRIVERS] = {
#define X(name, period, help) [PRICE_##name] = help,
    PRICE_DRIVER_MAP(X)
#undef X
};

static const enum price_period usual_period[PRICE_DRIVERS] = {
#define X(name, period, help) [PRICE_##name] = PER_##period,
    PRICE_DRIVER_MAP(X)
#undef X
};

const char *const price_period_names[] = { "once", "year", "use", NULL };
const char *const charge_rule_names[] = { "allocated", "max", NULL };
const char *const own_rule_names[] = { "all", "base", NULL };
const double price_step_s[USAGE_STEPS] = { 60, 3600, 86400 };

const char *const price_confidences[] = { "read",    "quoted",     "community",  "assumed",
                                          "suspect", "unverified", "not stated", NULL };

static const char *const formats[] = { PRICE_FORMAT, NULL };

struct book_keys {
    int format, charge, own;
    const char *name, *currency, *as_of;
    json_t *currencies, *pue, *rate;
    double grid, embodied;
    simtime term, embodied_life;
};

static const struct cfg_field book_fields[] = {
    { .name = "format",
      .type = CFG_CHOICE,
      .offset = offsetof(struct book_keys, format),
      .choices = formats,
      .required = true,
      .help = "what this file is" },
    CFG_FIELD(struct book_keys, name, CFG_TEXT, "prices", 0, 0, "name for reports"),
    CFG_FIELD(struct book_keys, currency, CFG_TEXT, NULL, 0, 0, "of the amounts; default: USD"),
    CFG_FIELD(struct book_keys, currencies, CFG_JSON, NULL, 0, 0, "USD for one unit of each"),
    CFG_FIELD(struct book_keys, as_of, CFG_TEXT, "not stated", 0, 0,
              "date the book was put together"),
    CFG_FIELD(struct book_keys, pue, CFG_JSON, "1.5", 1, 5, "facility energy over IT energy"),
    CFG_FIELD(struct book_keys, rate, CFG_JSON, "0.08", 0, 1, "discount rate per year"),
    CFG_FIELD(struct book_keys, term, CFG_TIME, "4 y", 86400, 100 * 365 * 86400.0, "planning term"),
    CFG_ONE_OF(struct book_keys, charge, charge_rule_names, "allocated",
               "what tenants pay for: what is allocated, or the larger of their shares"),
    CFG_ONE_OF(struct book_keys, own, own_rule_names, "all",
               "cards that are bought: all, or the base, with the rest rented"),
    CFG_QUANTITY(struct book_keys, grid, UNIT_CARBON, NULL, 0, 5000,
                 "carbon of a kWh, e.g. 475 g/kWh"),
    CFG_FIELD(struct book_keys, embodied, CFG_REAL, NULL, 0, 1e6,
              "kg of carbon in a card with its part of the host"),
    CFG_FIELD(struct book_keys, embodied_life, CFG_TIME, NULL, 86400, 100 * 365 * 86400.0,
              "life it is spread over; default: the term"),
};

struct item_keys {
    const char *name, *currency, *source, *date, *gpu, *share;
    int driver, period, confidence;
    json_t *amount, *retention;
    simtime life, step, redo, repair;
    double gb, per, lost_work, interrupts, availability, failure_rate;
    bool whole_nodes;
};

static const struct cfg_field item_fields[] = {
    CFG_REQUIRED(struct item_keys, name, CFG_TEXT, 0, 0, "what is paid for"),
    { .name = "driver",
      .type = CFG_CHOICE,
      .offset = offsetof(struct item_keys, driver),
      .choices = price_driver_names,
      .required = true,
      .help = "what the amount is multiplied by" },
    CFG_REQUIRED(struct item_keys, amount, CFG_JSON, 0, 0, "price of one unit of the driver"),
    CFG_ONE_OF(struct item_keys, period, price_period_names, NULL, "once, year or use"),
    CFG_FIELD(struct item_keys, currency, CFG_TEXT, NULL, 0, 0, "default: the book's"),
    CFG_FIELD(struct item_keys, source, CFG_TEXT, "not stated", 0, 0, "where the price was read"),
    CFG_FIELD(struct item_keys, date, CFG_TEXT, "not stated", 0, 0, "date of the price"),
    CFG_ONE_OF(struct item_keys, confidence, price_confidences, "not stated",
               "read, quoted, community, assumed, suspect or unverified"),
    CFG_FIELD(struct item_keys, life, CFG_TIME, NULL, 86400, 100 * 365 * 86400.0,
              "useful life of capital; default: the term"),
    CFG_FIELD(struct item_keys, retention, CFG_JSON, "0", 0, 1, "share of value kept per year"),
    CFG_FIELD(struct item_keys, gb, CFG_REAL, NULL, 0, 1e15, "GB kept, or moved, in a year"),
    CFG_FIELD(struct item_keys, per, CFG_REAL, NULL, 1e-3, 1e9,
              "cards one employee looks after, or of a rack"),
    CFG_FIELD(struct item_keys, lost_work, CFG_REAL, "0", 0, 10,
              "spot: hours to be rented again per hour held"),
    CFG_FIELD(struct item_keys, interrupts, CFG_REAL, NULL, 0, 60, "spot: interruptions per hour"),
    CFG_FIELD(struct item_keys, redo, CFG_TIME, NULL, 0, 30 * 86400.0, "spot: time lost by each"),
    CFG_FIELD(struct item_keys, step, CFG_TIME, NULL, 60, 86400, "billing step: 1 min, 1 h or 1 d"),
    CFG_FIELD(struct item_keys, availability, CFG_RATIO, "0.999", 0, 0.999999999,
              "spares: probability that as many cards are up as are needed"),
    CFG_FIELD(struct item_keys, failure_rate, CFG_REAL, "0.09", 0, 100,
              "spares: failures per card-year"),
    CFG_FIELD(struct item_keys, repair, CFG_TIME, "14 d", 0, 365 * 86400.0,
              "spares: until it is back"),
    CFG_FIELD(struct item_keys, whole_nodes, CFG_BOOL, "false", 0, 0,
              "spares: the fleet and its spares come in whole nodes"),
    CFG_FIELD(struct item_keys, gpu, CFG_TEXT, NULL, 0, 0, "only for cards of this kind"),
    CFG_FIELD(struct item_keys, share, CFG_TEXT, NULL, 0, 0, "only under this sharing kind"),
};

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
enum { POINTER_BYTES = 512 };

static double years(simtime t)
{
    return simtime_s(t) / (365.0 * 86400);
}

static bool per_hour(enum price_driver d)
{
    return d == PRICE_gpu_hour || d == PRICE_allocated_gpu_hour || d == PRICE_occupied_gpu_hour ||
           d == PRICE_committed_gpu_hour || d == PRICE_overflow_gpu_hour;
}

static bool is_share(enum price_driver d)
{
    return d == PRICE_capital || d == PRICE_spares || d == PRICE_rent;
}

static enum unit_dim amount_unit(enum price_driver driver, enum price_period period)
{
    if (driver == PRICE_kwh) return UNIT_PER_KWH;
    if (per_hour(driver)) return UNIT_PER_H;
    return period == PER_YEAR ? UNIT_PER_Y : UNIT_MONEY;
}

struct pricing {
    const struct json_doc *doc;
    const struct price_item *item;
};

/* A number >= 0, or a string with the unit that driver and period call for. */
static double read_price(const void *ctx, const json_t *v, const char *at, struct diag *d)
{
    const struct pricing *p = ctx;
    const struct price_item *it = p->item;
    char found[64];
    double x = NAN;
    enum unit_dim dim = amount_unit(it->driver, it->period);
    if (json_is_number(v)) x = json_number_value(v);
    if (json_is_string(v) && !is_share(it->driver) &&
        unit_parse(json_string_value(v), dim, &x, NULL) != 0)
        x = NAN;
    if (x >= 0 && x < 1e15) return x;
    json_problem(d, p->doc, at, "expected a price from 0 to below 1e15 (a number, or %s), found %s",
                 it->driver == PRICE_rent ? "a share of the rent"
                 : is_share(it->driver)   ? "a share of capital"
                                          : unit_expected(dim),
                 json_found(found, sizeof found, v));
    return NAN;
}

/* Whether driver and period make sense together. */
static bool period_fits(enum price_driver driver, enum price_period period)
{
    if (usual_period[driver] == PER_USE || period == PER_USE) return period == usual_period[driver];
    return driver != PRICE_spares || period == PER_ONCE;
}

static void only_with(const struct json_doc *doc, const char *at, const char *key, bool wrong,
                      const char *driver, struct diag *d)
{
    char here[POINTER_BYTES];
    if (wrong)
        json_problem(d, doc, json_pointer_key(here, sizeof here, at, key),
                     "\"%s\" goes with driver %s only", key, driver);
}

/* Index of a billing step; -1. */
static int step_index(double s)
{
    for (int i = 0; i < USAGE_STEPS; i++)
        if (fabs(price_step_s[i] - s) < 1e-9) return i;
    return -1;
}

static void check_terms(const struct json_doc *doc, const char *at, const struct item_keys *k,
                        enum price_driver driver, struct diag *d)
{
    char here[POINTER_BYTES];
    const bool metered = driver == PRICE_allocated_gpu_hour || driver == PRICE_occupied_gpu_hour ||
                         driver == PRICE_overflow_gpu_hour;
    only_with(doc, at, "lost_work", k->lost_work > 0 && !metered,
              "\"allocated_gpu_hour\", \"occupied_gpu_hour\" or \"overflow_gpu_hour\"", d);
    only_with(doc, at, "interrupts", !isnan(k->interrupts) && !metered,
              "\"allocated_gpu_hour\", \"occupied_gpu_hour\" or \"overflow_gpu_hour\"", d);
    only_with(doc, at, "step", k->step != CFG_NO_TIME && driver != PRICE_allocated_gpu_hour,
              "\"allocated_gpu_hour\"", d);
    if (isnan(k->interrupts) != (k->redo == CFG_NO_TIME))
        json_problem(d, doc, at, "\"interrupts\" and \"redo\" go together");
    if (k->lost_work > 0 && !isnan(k->interrupts))
        json_problem(d, doc, at, "expected \"lost_work\" or \"interrupts\", found both");
    if (k->step != CFG_NO_TIME && step_index(simtime_s(k->step)) < 0)
        json_problem(d, doc, json_pointer_key(here, sizeof here, at, "step"),
                     "expected a billing step of 1 min, 1 h or 1 d, found %g s",
                     simtime_s(k->step));
    if (strcmp(k->date, "not stated") != 0 && strcmp(k->date, "unknown") != 0 &&
        !price_date_ok(k->date))
        json_problem(
            d, doc, json_pointer_key(here, sizeof here, at, "date"),
            "expected a date such as \"2026-08-22\", \"2026-08\", \"2026\" or \"unknown\", "
            "found \"%.40s\"",
            k->date);
}

static void check_item(const struct json_doc *doc, const char *at, const struct item_keys *k,
                       const struct price_item *it, struct diag *d)
{
    char here[POINTER_BYTES];
    if (!period_fits(it->driver, it->period))
        json_problem(d, doc, json_pointer_key(here, sizeof here, at, "period"),
                     "driver \"%s\" cannot be paid per \"%s\", expected \"%s\"",
                     price_driver_names[it->driver], price_period_names[it->period],
                     price_period_names[usual_period[it->driver]]);
    if (it->period != PER_ONCE && (k->life != CFG_NO_TIME || it->retention_range.high > 0))
        json_problem(d, doc, at, "\"life\" and \"retention\" go with \"period\": \"once\" only");
    const bool counted = it->driver == PRICE_fte || it->driver == PRICE_rack;
    if (counted && isnan(k->per))
        json_problem(d, doc, at, "driver \"%s\" needs \"per\": the cards %s",
                     price_driver_names[it->driver],
                     it->driver == PRICE_fte ? "one employee looks after" : "of a rack");
    if (!counted && !isnan(k->per))
        json_problem(d, doc, at, "\"per\" goes with drivers \"fte\" and \"rack\" only");
    if (it->driver == PRICE_gb && isnan(k->gb))
        json_problem(d, doc, at,
                     "driver \"gb\" needs \"gb\": how many are kept, or moved, in a year");
    only_with(doc, at, "gb", it->driver != PRICE_gb && !isnan(k->gb), "\"gb\"", d);
    if ((it->driver == PRICE_gb || it->driver == PRICE_rent) && k->gpu)
        json_problem(d, doc, json_pointer_key(here, sizeof here, at, "gpu"),
                     "driver \"%s\" is about all cards", price_driver_names[it->driver]);
    check_terms(doc, at, k, it->driver, d);
}

/* USD for one unit of a currency; NAN when the book does not say. */
static double usd_rate(const char *currency, const json_t *currencies)
{
    if (strcmp(currency, "USD") == 0) return 1;
    return json_number_value(json_object_get(currencies, currency)) > 0
               ? json_number_value(json_object_get(currencies, currency))
               : NAN;
}

/* A number with its unit, "9750 USD", or a range with one. */
static bool states_unit(const json_t *amount)
{
    return json_is_string(amount) || json_is_string(json_object_get(amount, "low")) ||
           json_is_string(json_object_get(amount, "mode")) ||
           json_is_string(json_object_get(amount, "high")) ||
           json_is_string(json_array_get(json_object_get(amount, "set"), 0));
}

/* Amounts in another currency than USD are converted; a share of capital has none. */
static void convert(struct price_item *it, const json_t *amount, const struct json_doc *doc,
                    const char *at, const json_t *currencies, struct diag *d)
{
    char here[POINTER_BYTES];
    const double rate = usd_rate(it->currency, currencies);
    if (isnan(rate)) {
        struct err *e = json_problem(d, doc, json_pointer_key(here, sizeof here, at, "currency"),
                                     "expected USD (results are in USD), found %s without a rate",
                                     it->currency);
        err_hint(e, "state it: \"currencies\": {\"%s\": <USD for one>}", it->currency);
        return;
    }
    if (is_share(it->driver) || strcmp(it->currency, "USD") == 0) return;
    if (states_unit(amount)) {
        json_problem(d, doc, json_pointer_key(here, sizeof here, at, "amount"),
                     "expected plain numbers of %s, found an amount that states USD", it->currency);
        return;
    }
    amount_scale(&it->amount, rate);
}

/* Every rate a number above 0. */
static void check_rates(const struct json_doc *doc, json_t *currencies, struct diag *d)
{
    const char *name;
    json_t *v;
    char found[64], here[POINTER_BYTES];
    if (currencies && !json_is_object(currencies))
        json_problem(d, doc, "/currencies", "expected an object such as {\"CNY\": 0.139}, found %s",
                     json_found(found, sizeof found, currencies));
    json_object_foreach(currencies, name, v)
    {
        if (json_is_number(v) && json_number_value(v) > 0 && json_number_value(v) < 1e6) continue;
        json_problem(d, doc, json_pointer_key(here, sizeof here, "/currencies", name),
                     "expected USD for one unit, a number above 0, found %s",
                     json_found(found, sizeof found, v));
    }
}

/* A number or a range; `usual` where there is none. */
static struct amount read_within(struct arena *a, const struct json_doc *doc, json_t *v,
                                 const char *at, const char *key, double usual, double low,
                                 double high, struct diag *d)
{
    char here[POINTER_BYTES];
    if (!v) return amount_known(usual);
    return amount_read_within(a, doc, v, json_pointer_key(here, sizeof here, at, key), low, high,
                              d);
}

static void read_item(struct price_item *it, struct arena *a, const struct json_doc *doc, json_t *v,
                      const char *at, const struct price_book *book, const json_t *currencies,
                      struct diag *d)
{
    struct item_keys k;
    char here[POINTER_BYTES];
    size_t before = d->count;
    cfg_read(item_fields, COUNT_OF(item_fields), &k, a, doc, v, at, NULL, 0, d);
    const struct amount kept = read_within(a, doc, k.retention, at, "retention", 0, 0, 1, d);
    if (d->count > before) return;
    *it = (struct price_item){
        .name = k.name,
        .source = k.source,
        .date = k.date,
        .confidence = price_confidences[k.confidence],
        .currency = k.currency ? k.currency : book->currency,
        .driver = (enum price_driver)k.driver,
        .period = k.period == CFG_NO_CHOICE ? usual_period[k.driver] : (enum price_period)k.period,
        .life_y = k.life == CFG_NO_TIME ? book->term_y : years(k.life),
        .retention = kept.mode,
        .retention_range = kept,
        .gb = k.gb,
        .per = k.per,
        .lost_work = isnan(k.interrupts) || k.redo == CFG_NO_TIME
                         ? k.lost_work
                         : k.interrupts * simtime_s(k.redo) / 3600,
        .step_s = k.step == CFG_NO_TIME ? 0 : simtime_s(k.step),
        .availability = k.availability,
        .whole_nodes = k.whole_nodes,
        .unavailability = fmin(1, k.failure_rate * simtime_s(k.repair) / (365 * 86400.0)),
        .gpu = k.gpu,
        .share = k.share,
    };
    check_item(doc, at, &k, it, d);
    json_pointer_key(here, sizeof here, at, "amount");
    it->amount = amount_read(a, doc, k.amount, here, read_price, &(struct pricing){ doc, it }, d);
    convert(it, k.amount, doc, at, currencies, d);
}

static bool currency_everywhere(const json_t *items)
{
    for (size_t i = 0; i < json_array_size(items); i++)
        if (!json_object_get(json_array_get(items, i), "currency")) return false;
    return true;
}

/* Drivers that need each other. */
static void check_together(const struct price_book *b, const struct json_doc *doc, struct diag *d)
{
    bool base = b->own == OWN_BASE, overflow = false, rent = false, hours = false;
    for (size_t i = 0; i < b->n_items; i++) {
        if (b->item[i].driver == PRICE_committed_gpu_hour) base = true;
        if (b->item[i].driver == PRICE_overflow_gpu_hour) overflow = true;
    }
    for (size_t i = 0; i < b->n_items; i++) {
        hours |= per_hour(b->item[i].driver);
        rent |= b->item[i].driver == PRICE_rent;
    }
    if (rent && !hours)
        json_problem(
            d, doc, "/items",
            "driver \"rent\" is a share of what is paid by the card-hour, and nothing is: expected an item of "
            "a driver such as \"allocated_gpu_hour\"");
    if (base && !overflow)
        json_problem(d, doc, "/items",
                     "a base (\"own\": \"base\" or driver \"committed_gpu_hour\") needs "
                     "an item of driver \"overflow_gpu_hour\": the rent beyond it");
    if (overflow && !base)
        json_problem(d, doc, "/items",
                     "driver \"overflow_gpu_hour\" needs a base: \"own\": \"base\", or an "
                     "item of driver \"committed_gpu_hour\"");
}

void price_book_read(struct price_book *out, struct arena *a, const struct json_doc *doc,
                     struct diag *d)
{
    static const char *const more[] = { "items" };
    struct book_keys k;
    char found[64], here[POINTER_BYTES];
    size_t before = d->count;
    *out = (struct price_book){ 0 };
    if (!json_is_object(doc->root)) {
        json_problem(d, doc, "", "expected a price book, found %s",
                     json_found(found, sizeof found, doc->root));
        return;
    }
    cfg_read(book_fields, COUNT_OF(book_fields), &k, a, doc, doc->root, "", more, COUNT_OF(more),
             d);
    const struct amount pue = read_within(a, doc, k.pue, "", "pue", 1.5, 1, 5, d),
                        rate = read_within(a, doc, k.rate, "", "rate", 0.08, 0, 1, d);
    if (d->count > before) return;
    *out = (struct price_book){ .name = k.name,
                                .currency = k.currency ? k.currency : "USD",
                                .currency_stated = k.currency != NULL,
                                .as_of = k.as_of,
                                .charge = (enum charge_rule)k.charge,
                                .own = (enum own_rule)k.own,
                                .grid_g_per_kwh = k.grid,
                                .embodied_kg = k.embodied,
                                .embodied_life_y = years(
                                    k.embodied_life == CFG_NO_TIME ? k.term : k.embodied_life),
                                .pue = pue.mode,
                                .rate = rate.mode,
                                .pue_range = pue,
                                .rate_range = rate,
                                .term_y = years(k.term) };
    check_rates(doc, k.currencies, d);
    if (strcmp(k.as_of, "not stated") != 0 && !price_date_ok(k.as_of))
        json_problem(d, doc, "/as_of", "expected a date such as \"2026-08\", found \"%.40s\"",
                     k.as_of);
    if (isnan(usd_rate(out->currency, k.currencies)))
        json_problem(d, doc, "/currency",
                     "expected USD (results are in USD), found %s without a rate", out->currency);
    json_t *items = json_object_get(doc->root, "items");
    if (!json_is_array(items) || json_array_size(items) == 0) {
        json_problem(
            d, doc, items ? "/items" : "", "expected \"items\": an array of prices, found %s",
            json_is_array(items) ? "an empty one" : json_found(found, sizeof found, items));
        return;
    }
    struct price_item *it = arena_array(a, json_array_size(items), sizeof *it);
    out->item = it;
    out->n_items = json_array_size(items);
    for (size_t i = 0; i < out->n_items; i++)
        read_item(&it[i], a, doc, json_array_get(items, i),
                  json_pointer_index(here, sizeof here, "/items", i), out, k.currencies, d);
    if (!out->currency_stated) out->currency_stated = currency_everywhere(items);
    if (d->count == before) check_together(out, doc, d);
}

int price_book_load(struct price_book *out, struct arena *a, const char *path,
                    const struct gpu_catalogue *gpus, char sha256[65], struct err *e)
{
    struct json_doc doc;
    struct diag d;
    int rc = json_doc_load(&doc, path, e);
    if (rc != 0) return rc;
    sha256_hex(doc.text, doc.len, sha256);
    diag_init(&d);
    price_book_read(out, a, &doc, &d);
    if (gpus && d.count == 0) price_check_cards(out, &doc, gpus, &d);
    rc = diag_result(&d, e);
    diag_fini(&d);
    json_doc_fini(&doc);
    return rc;
}

static bool names_gpu(const char *name, const struct gpu_spec *gpu)
{
    if (strcasecmp(name, gpu->name) == 0) return true;
    for (int i = 0; i < gpu->n_aliases; i++)
        if (strcasecmp(name, gpu->aliases[i]) == 0) return true;
    return false;
}

bool price_item_applies(const struct price_item *it, const struct gpu_spec *gpu, const char *share)
{
    if (it->gpu && !names_gpu(it->gpu, gpu)) return false;
    return !it->share || !share || strcmp(it->share, share) == 0;
}

static bool buys_cards(const struct price_item *it)
{
    return it->driver == PRICE_card || it->driver == PRICE_node || it->driver == PRICE_rack ||
           per_hour(it->driver);
}

int price_book_covers(const struct price_book *b, const struct gpu_spec *gpu, const char *share,
                      struct err *e)
{
    const char *priced[24];
    size_t n = 0;
    char list[200];
    bool covered = strcmp(gpu->name, "generic") == 0, any = false;
    for (size_t i = 0; i < b->n_items; i++) {
        const struct price_item *it = &b->item[i];
        if (!buys_cards(it)) continue;
        bool applies = price_item_applies(it, gpu, share);
        any = any || (applies && !it->gpu);
        covered = covered || (applies && it->gpu);
        if (it->gpu && n < COUNT_OF(priced) && (n == 0 || strcmp(priced[n - 1], it->gpu) != 0))
            priced[n++] = it->gpu;
    }
    if (covered || (any && n == 0)) return 0;
    int rc = err_set(e, ERR_INPUT, NULL, "price book \"%s\" has no price for the card \"%s\"",
                     b->name, gpu->name);
    if (n)
        err_hint(e, "it prices %s; add an item with \"gpu\": \"%s\"",
                 str_list(list, sizeof list, priced, n), gpu->name);
    else
        err_hint(e, "add an item with \"driver\": \"card\", \"gpu\": \"%s\"", gpu->name);
    return rc;
}
