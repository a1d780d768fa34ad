#include "cost/plain.h"

#include "base/cfg.h"
#include "cost/spares.h"
#include "model/price.h"
#include "model/price_date.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
enum { POINTER_BYTES = 512 };

const char *const plain_key_names[PLAIN_KEYS + 1] = {
#define X(name, dflt, low, high, help) [PLAIN_##name] = #name,
    PLAIN_KEY_MAP(X)
#undef X
};

static const struct {
    double dflt, low, high;
} key_bounds[PLAIN_KEYS] = {
#define X(name, dflt, low, high, help) [PLAIN_##name] = { dflt, low, high },
    PLAIN_KEY_MAP(X)
#undef X
};

static const char *const formats[] = { PLAIN_FORMAT, NULL };
static const char *const rents[] = { "on_demand", "reserved", NULL };

struct top_keys {
    int format, timing;
    const char *name, *currency;
    json_t *options, *rate;
    simtime term;
};

static const struct cfg_field top_fields[] = {
    { .name = "format",
      .type = CFG_CHOICE,
      .offset = offsetof(struct top_keys, format),
      .choices = formats,
      .required = true,
      .help = "what this file is" },
    CFG_FIELD(struct top_keys, name, CFG_TEXT, "fleets", 0, 0, "name for reports"),
    CFG_FIELD(struct top_keys, currency, CFG_TEXT, "USD", 0, 0, "USD: the keys say so"),
    CFG_REQUIRED(struct top_keys, options, CFG_JSON, 0, 0, "the fleets to compare"),
    CFG_FIELD(struct top_keys, rate, CFG_JSON, NULL, 0, 0, "discount rate per year; default 0.08"),
    CFG_FIELD(struct top_keys, term, CFG_TIME, "4 y", 86400, 100 * 365 * 86400.0, "planning term"),
    CFG_ONE_OF(struct top_keys, timing, cash_timing_names, "year_end",
               "when yearly costs are paid"),
};

struct option_keys {
    const char *name, *gpu, *source, *date;
    int rent, confidence;
    int64_t cards_per_node;
    double availability, failure_rate, repair_days, on_demand_usd_per_gpu_hour;
    json_t *demand, *value[PLAIN_KEYS];
};

static const struct cfg_field option_fields[] = {
    CFG_REQUIRED(struct option_keys, name, CFG_TEXT, 0, 0, "name of the option"),
    CFG_FIELD(struct option_keys, gpu, CFG_TEXT, NULL, 0, 0, "card of the catalogue"),
    CFG_FIELD(struct option_keys, source, CFG_TEXT, "not stated", 0, 0, "where prices were read"),
    CFG_FIELD(struct option_keys, date, CFG_TEXT, "not stated", 0, 0, "date of the prices"),
    CFG_ONE_OF(struct option_keys, confidence, price_confidences, "not stated",
               "read, quoted, community, assumed, suspect or unverified"),
    CFG_ONE_OF(struct option_keys, rent, rents, "on_demand",
               "what is billed: hours used, or every hour"),
    CFG_FIELD(struct option_keys, cards_per_node, CFG_INT, "1", 1, 1024, "bought in whole nodes"),
    CFG_FIELD(struct option_keys, availability, CFG_RATIO, NULL, 0, 0.999999999,
              "probability that all cards in service are up; absent: no spares"),
    CFG_FIELD(struct option_keys, failure_rate, CFG_REAL, "0.09", 0, 100, "failures per card-year"),
    CFG_FIELD(struct option_keys, repair_days, CFG_REAL, "14", 0, 365, "days until it is back"),
    CFG_FIELD(struct option_keys, demand, CFG_JSON, NULL, 0, 0,
              "cards wanted and for how long: [[cards, hours], ...]"),
    CFG_FIELD(struct option_keys, on_demand_usd_per_gpu_hour, CFG_REAL, NULL, 0, 1e9,
              "rent of the cards above the base; default: rent_usd_per_gpu_hour on demand"),
#define X(key, dflt_, low, high, help_)                                                            \
    { .name = #key,                                                                                \
      .type = CFG_JSON,                                                                            \
      .offset = offsetof(struct option_keys, value[PLAIN_##key]),                                  \
      .help = help_ },
    PLAIN_KEY_MAP(X)
#undef X
};

/* ---- reading ---- */

struct reader {
    struct arena *a;
    const struct json_doc *doc;
    const struct gpu_catalogue *gpus;
    struct diag *d;
};

static struct amount read_amount(const struct reader *r, json_t *v, const char *at, double low,
                                 double high)
{
    return amount_read_within(r->a, r->doc, v, at, low, high, r->d);
}

static const struct gpu_spec *find_gpu(const struct reader *r, const char *name, const char *at)
{
    const char *near;
    char here[POINTER_BYTES];
    const struct gpu_spec *g = name && r->gpus ? gpu_find(r->gpus, name, &near) : NULL;
    if (g || !name || !r->gpus) return g;
    struct err *e = json_problem(r->d, r->doc, json_pointer_key(here, sizeof here, at, "gpu"),
                                 "no card \"%s\" in the catalogue", name);
    if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else
        err_hint(e, "`gpusim list gpus` names them");
    return NULL;
}

static void need(const struct reader *r, const struct plain_option *o, enum plain_key key,
                 const char *at, const char *why)
{
    if (isnan(o->value[key].mode))
        json_problem(r->d, r->doc, at, "missing \"%s\"%s", plain_key_names[key], why);
}

static void check_powers(const struct reader *r, const struct plain_option *o, const char *at)
{
    const struct amount idle = o->value[PLAIN_idle_ctx_W], busy = o->value[PLAIN_busy_W];
    need(r, o, PLAIN_busy_W, at, ": name a \"gpu\" or state the power");
    if (isnan(busy.mode)) return;
    need(r, o, PLAIN_idle_ctx_W, at, ": name a \"gpu\" or state the power");
    if (busy.high > 0) need(r, o, PLAIN_usd_per_kwh, at, ": a missing price is not zero");
    if (idle.low > busy.low || idle.mode > busy.mode || idle.high > busy.high)
        json_problem(r->d, r->doc, at, "expected idle_ctx_W <= busy_W, found %g and %g", idle.mode,
                     busy.mode);
}

/* One of use and work_cards; the fewest cards must be enough for the most work. */
static void check_use(const struct reader *r, const struct plain_option *o, const char *at)
{
    const struct amount work = o->value[PLAIN_work_cards];
    if (isnan(work.mode)) {
        need(r, o, PLAIN_use, at, " (or \"work_cards\")");
        return;
    }
    if (!isnan(o->value[PLAIN_use].mode))
        json_problem(r->d, r->doc, at, "expected \"use\" or \"work_cards\", found both");
    if (work.high > ceil(o->value[PLAIN_cards].low - 1e-9))
        json_problem(r->d, r->doc, at, "work of %g cards does not fit on %g", work.high,
                     o->value[PLAIN_cards].low);
}

static int by_cards(const void *a, const void *b)
{
    const struct demand_level *x = a, *y = b;
    return (x->cards > y->cards) - (x->cards < y->cards);
}

static void read_demand(const struct reader *r, struct plain_option *o, const json_t *list,
                        const char *at)
{
    char here[POINTER_BYTES], found[64];
    const size_t n = json_array_size(list);
    struct demand_level *d = arena_array(r->a, n, sizeof *d);
    double hours = 0;
    json_pointer_key(here, sizeof here, at, "demand");
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(list, i);
        const json_t *cards = json_array_get(one, 0), *weight = json_array_get(one, 1);
        d[i] = (struct demand_level){ json_number_value(cards), json_number_value(weight) };
        hours += d[i].hours;
        if (json_array_size(one) == 2 && json_is_number(cards) && json_is_number(weight) &&
            d[i].cards >= 0 && d[i].cards <= 1e9 && d[i].hours >= 0 && d[i].hours <= 1e12)
            continue;
        char inner[POINTER_BYTES];
        json_problem(r->d, r->doc, json_pointer_index(inner, sizeof inner, here, i),
                     "expected [cards, hours], found %s", json_found(found, sizeof found, one));
        return;
    }
    if (!(hours > 0))
        json_problem(r->d, r->doc, here, "expected [[cards, hours], ...] with some hours, found %s",
                     json_found(found, sizeof found, list));
    if (isnan(o->on_demand_usd) || !(o->on_demand_usd > 0))
        json_problem(r->d, r->doc, at,
                     "\"demand\" needs \"on_demand_usd_per_gpu_hour\": the price of the peak");
    if (n > 0) qsort(d, n, sizeof *d, by_cards);
    o->demand = d;
    o->n_demand = n;
}

static void read_values(const struct reader *r, struct plain_option *o, const struct option_keys *k,
                        const char *at)
{
    for (int i = 0; i < PLAIN_KEYS; i++) {
        char here[POINTER_BYTES];
        const double x = key_bounds[i].dflt;
        o->value[i] = amount_known(x);
        if (k->value[i])
            o->value[i] = read_amount(r, k->value[i],
                                      json_pointer_key(here, sizeof here, at, plain_key_names[i]),
                                      key_bounds[i].low, key_bounds[i].high);
    }
    if (!o->gpu) return;
    const double idle = o->gpu->idle_context_W, busy = o->gpu->busy_W;
    if (!k->value[PLAIN_idle_ctx_W]) o->value[PLAIN_idle_ctx_W] = amount_known(idle);
    if (!k->value[PLAIN_busy_W]) o->value[PLAIN_busy_W] = amount_known(busy);
}

static void read_option(const struct reader *r, struct plain_option *o, json_t *v, const char *at)
{
    struct option_keys k;
    char found[64];
    const size_t before = r->d->count;
    if (!json_is_object(v)) {
        json_problem(r->d, r->doc, at, "expected an object, found %s",
                     json_found(found, sizeof found, v));
        return;
    }
    cfg_read(option_fields, COUNT_OF(option_fields), &k, r->a, r->doc, v, at, NULL, 0, r->d);
    if (r->d->count > before) return;
    *o = (struct plain_option){ .name = k.name,
                                .gpu = find_gpu(r, k.gpu, at),
                                .source = k.source,
                                .date = k.date,
                                .confidence = price_confidences[k.confidence],
                                .owned = k.value[PLAIN_card_usd] != NULL,
                                .rent = (enum plain_rent)k.rent,
                                .cards_per_node = k.cards_per_node,
                                .availability = k.availability,
                                .failure_rate = k.failure_rate,
                                .repair_days = k.repair_days };
    if (strcmp(k.date, "not stated") != 0 && strcmp(k.date, "unknown") != 0 &&
        !price_date_ok(k.date))
        json_problem(
            r->d, r->doc, at,
            "expected a date such as \"2026-08-22\", \"2026-08\", \"2026\" or \"unknown\", found "
            "\"%.40s\"",
            k.date);
    read_values(r, o, &k, at);
    if (r->d->count > before) return;
    need(r, o, PLAIN_cards, at, "");
    check_use(r, o, at);
    if (o->owned)
        check_powers(r, o, at);
    else
        need(r, o, PLAIN_rent_usd_per_gpu_hour, at,
             " (or \"card_usd\" for an option that is owned)");
    o->on_demand_usd = k.on_demand_usd_per_gpu_hour;
    if (isnan(o->on_demand_usd) && o->rent == PLAIN_ON_DEMAND)
        o->on_demand_usd = o->value[PLAIN_rent_usd_per_gpu_hour].mode;
    if (k.demand) read_demand(r, o, k.demand, at);
    if (r->d->count == before && o->owned && !isnan(o->availability) &&
        spares_needed((int64_t)ceil(o->value[PLAIN_cards].high),
                      spares_unavailability(o->failure_rate, o->repair_days), o->availability) < 0)
        json_problem(r->d, r->doc, at, "no number of spares reaches this availability");
}

static void check_names(const struct reader *r, const struct plain_fleet *f)
{
    for (size_t i = 0; i < f->n_options; i++)
        for (size_t k = 0; k < i; k++) {
            char here[POINTER_BYTES];
            if (!f->option[i].name || !f->option[k].name ||
                strcmp(f->option[i].name, f->option[k].name) != 0)
                continue;
            json_pointer_index(here, sizeof here, "/options", i);
            json_problem(r->d, r->doc, here, "a second option \"%s\"", f->option[i].name);
            break;
        }
}

void plain_read(struct plain_fleet *out, struct arena *a, const struct json_doc *doc,
                const struct gpu_catalogue *gpus, struct diag *d)
{
    const struct reader r = { a, doc, gpus, d };
    struct top_keys k;
    char found[64], here[POINTER_BYTES];
    const size_t before = d->count;
    *out = (struct plain_fleet){ .rate = amount_known(0.08) };
    if (!json_is_object(doc->root)) {
        json_problem(d, doc, "", "expected fleets to price, found %s",
                     json_found(found, sizeof found, doc->root));
        return;
    }
    cfg_read(top_fields, COUNT_OF(top_fields), &k, a, doc, doc->root, "", NULL, 0, d);
    if (d->count > before) return;
    out->name = k.name;
    out->term_y = simtime_s(k.term) / (365.0 * 86400);
    out->timing = (enum cash_timing)k.timing;
    if (k.rate) out->rate = read_amount(&r, k.rate, "/rate", 0, 1);
    if (strcmp(k.currency, "USD") != 0)
        json_problem(d, doc, "/currency", "expected USD (every key says _usd), found %s; convert",
                     k.currency);
    if (!json_is_array(k.options) || json_array_size(k.options) == 0) {
        json_problem(d, doc, "/options", "expected a list of at least one option, found %s",
                     json_found(found, sizeof found, k.options));
        return;
    }
    struct plain_option *o = arena_array(a, json_array_size(k.options), sizeof *o);
    out->option = o;
    out->n_options = json_array_size(k.options);
    for (size_t i = 0; i < out->n_options; i++)
        read_option(&r, &o[i], json_array_get(k.options, i),
                    json_pointer_index(here, sizeof here, "/options", i));
    check_names(&r, out);
}

/* ---- pricing ---- */

/* One option with every amount a number. */
struct drawn {
    const struct plain_option *o;
    double v[PLAIN_KEYS];
    struct cash_plan cash;
};

/* Whole cards, spares and nodes; and the use they are put to. */
static void size_fleet(struct plain_cost *c, struct drawn *x)
{
    const struct plain_option *o = x->o;
    c->cards = (int64_t)ceil(x->v[PLAIN_cards] - 1e-9);
    if (!isnan(x->v[PLAIN_work_cards])) x->v[PLAIN_use] = x->v[PLAIN_work_cards] / (double)c->cards;
    if (!o->owned) return;
    if (!isnan(o->availability))
        c->spares = spares_needed(c->cards, spares_unavailability(o->failure_rate, o->repair_days),
                                  o->availability);
    c->bought = spares_whole_nodes(c->cards + c->spares, o->cards_per_node);
}

static double card_hours(const struct plain_cost *c)
{
    return (double)c->cards * 8760;
}

static double rent_per_year(const struct drawn *x, const struct plain_cost *c, double use)
{
    const double price = x->v[PLAIN_rent_usd_per_gpu_hour];
    if (x->o->rent == PLAIN_RESERVED) return card_hours(c) * price;
    return card_hours(c) * use * price * (1 + x->v[PLAIN_lost_work]);
}

/* Yearly costs of an owned fleet at a use; fills what it is made of. */
static double own_per_year(struct plain_cost *c, const struct drawn *x, double use)
{
    const double *v = x->v, n = (double)c->cards;
    c->power_W = v[PLAIN_idle_ctx_W] + (v[PLAIN_busy_W] - v[PLAIN_idle_ctx_W]) * use;
    c->energy_kwh = n * c->power_W / 1000 * 8760 * v[PLAIN_pue];
    c->energy_usd = c->energy_kwh > 0 ? c->energy_kwh * v[PLAIN_usd_per_kwh] : 0;
    c->maintenance_usd = v[PLAIN_maintenance] * c->capital_usd;
    c->licence_usd = n * v[PLAIN_licence_usd_per_card_year];
    c->operations_usd = v[PLAIN_operations_usd_per_year];
    return c->energy_usd + c->maintenance_usd + c->licence_usd + c->operations_usd;
}

static double own_eac(struct plain_cost *c, struct drawn *x, double use)
{
    x->cash.yearly_usd = own_per_year(c, x, use);
    return cashflow_eac(&x->cash);
}

static void break_even(struct plain_cost *c, struct drawn *x)
{
    const double use = x->v[PLAIN_use], rent = rent_per_year(x, c, use);
    const bool reserved = x->o->rent == PLAIN_RESERVED;
    struct plain_cost at = *c;
    if (!reserved)
        c->breakeven_use =
            breakeven_use(own_eac(&at, x, 0), own_eac(&at, x, 1), rent_per_year(x, c, 1));
    c->breakeven_months =
        breakeven_months(c->capital_usd, own_per_year(&at, x, use) / 12, rent / 12,
                         cashflow_monthly_rate(x->cash.rate), 12 * x->cash.years);
    c->breakeven_price_usd = breakeven_price(c->eac_usd, (double)c->cards, reserved ? 1 : use) /
                             (reserved ? 1 : 1 + x->v[PLAIN_lost_work]);
}

/* Own (or reserve) the base at this option's cost per card-hour, rent the peak. */
static void commit(struct plain_cost *c, const struct plain_option *o)
{
    const double fixed = c->usd_per_gpu_hour;
    c->commit_cards = commit_level(o->demand, o->n_demand, fixed, o->on_demand_usd);
    c->commit_usd = 8760 * commit_usd_per_hour(o->demand, o->n_demand, c->commit_cards, fixed,
                                               o->on_demand_usd);
}

static struct plain_cost price(struct drawn *x)
{
    struct plain_cost c = { .breakeven_use = NAN,
                            .breakeven_months = NAN,
                            .commit_cards = NAN,
                            .commit_usd = NAN,
                            .breakeven_price_usd = NAN };
    size_fleet(&c, x);
    const double *v = x->v, use = v[PLAIN_use];
    if (x->o->owned) {
        c.capital_usd = (double)c.bought * (v[PLAIN_card_usd] + v[PLAIN_host_usd]);
        c.residual_usd =
            (double)c.bought * v[PLAIN_card_usd] * pow(v[PLAIN_retention], x->cash.years);
        x->cash.upfront_usd = c.capital_usd;
        x->cash.residual_usd = c.residual_usd;
        x->cash.yearly_usd = own_per_year(&c, x, use);
    } else {
        c.rent_usd = rent_per_year(x, &c, use);
        c.licence_usd = (double)c.cards * v[PLAIN_licence_usd_per_card_year];
        c.operations_usd = v[PLAIN_operations_usd_per_year];
        x->cash.yearly_usd = c.rent_usd + c.licence_usd + c.operations_usd;
    }
    c.npv_usd = cashflow_npv(&x->cash);
    c.eac_usd = cashflow_eac(&x->cash);
    c.usd_per_gpu_hour = c.eac_usd / card_hours(&c);
    c.usd_per_used_gpu_hour = use > 0 ? c.eac_usd / (card_hours(&c) * use) : NAN;
    return c;
}

static struct drawn drawn_at(const struct plain_fleet *f, size_t option, double rate)
{
    return (struct drawn){ .o = &f->option[option],
                           .cash = { .rate = rate, .years = f->term_y, .timing = f->timing } };
}

struct plain_cost plain_price(const struct plain_fleet *f, size_t option)
{
    struct drawn x = drawn_at(f, option, f->rate.mode);
    for (int k = 0; k < PLAIN_KEYS; k++) x.v[k] = x.o->value[k].mode;
    struct plain_cost c = price(&x);
    c.use = x.v[PLAIN_use];
    if (x.o->owned) break_even(&c, &x);
    if (x.o->n_demand > 0) commit(&c, x.o);
    return c;
}

void plain_at_use(const struct plain_fleet *f, size_t option, double use, double *own, double *rent)
{
    struct drawn x = drawn_at(f, option, f->rate.mode);
    for (int k = 0; k < PLAIN_KEYS; k++) x.v[k] = x.o->value[k].mode;
    x.v[PLAIN_work_cards] = NAN;
    x.v[PLAIN_use] = use;
    const struct plain_cost c = price(&x);
    *own = x.o->owned ? c.eac_usd : NAN;
    *rent = rent_per_year(&x, &c, use);
}

struct cash_plan plain_cash(const struct plain_fleet *f, size_t option)
{
    struct drawn x = drawn_at(f, option, f->rate.mode);
    for (int k = 0; k < PLAIN_KEYS; k++) x.v[k] = x.o->value[k].mode;
    price(&x);
    return x.cash;
}

/* ---- ranges ---- */

struct ranges {
    const struct plain_fleet *f;
    int input_of[PLAIN_KEYS]; /* -1: no range */
    int rate_input;
};

static double cost_of(const void *ctx, size_t option, const double *u)
{
    const struct ranges *r = ctx;
    const struct plain_option *o = &r->f->option[option];
    struct drawn x = drawn_at(
        r->f, option, amount_at(&r->f->rate, r->rate_input < 0 ? MC_MODE : u[r->rate_input]));
    for (int k = 0; k < PLAIN_KEYS; k++)
        x.v[k] = amount_at(&o->value[k], r->input_of[k] < 0 ? MC_MODE : u[r->input_of[k]]);
    return price(&x).eac_usd;
}

/* The first option in which a key has a range; NULL. */
static const struct plain_option *ranged_in(const struct plain_fleet *f, int key)
{
    for (size_t i = 0; i < f->n_options; i++)
        if (amount_ranged(&f->option[i].value[key])) return &f->option[i];
    return NULL;
}

struct mc_model plain_model(const struct plain_fleet *f, struct arena *a)
{
    struct ranges *r = arena_alloc(a, sizeof *r);
    struct mc_input *in = arena_array(a, PLAIN_KEYS + 1, sizeof *in);
    const char **name = arena_array(a, f->n_options, sizeof *name);
    int n = 0;
    *r = (struct ranges){ .f = f, .rate_input = -1 };
    for (int k = 0; k < PLAIN_KEYS; k++) {
        const struct plain_option *o = ranged_in(f, k);
        r->input_of[k] = o ? n : -1;
        if (o) in[n++] = (struct mc_input){ plain_key_names[k], o->name, o->value[k] };
    }
    if (amount_ranged(&f->rate)) {
        r->rate_input = n;
        in[n++] = (struct mc_input){ "rate", NULL, f->rate };
    }
    for (size_t i = 0; i < f->n_options; i++) name[i] = f->option[i].name;
    return (struct mc_model){ in, name, (size_t)n, f->n_options, cost_of, r };
}
