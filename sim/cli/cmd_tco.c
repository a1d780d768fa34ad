/* gpusim tco: money without simulation. Plain fleets at a stated use, a stored result under another
 * price book, or the fleets of a scenario at a stated use; with break-evens and, on request, what the
 * ranges of the prices do to the choice. */
#include "base/log.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/problems.h"
#include "cost/bookrisk.h"
#include "cost/plain.h"
#include "model/price_check.h"
#include "model/price_date.h"
#include "whatif/runner.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

struct options {
    const char *prices, *as_of;
    int64_t monte_carlo;
    uint64_t seed;
    double use;
    struct opt_list set;
    int format;
    bool by_month, quiet;
};

static const struct opt opts[] = {
    { "prices", 0, OPT_TEXT, offsetof(struct options, prices), "FILE",
      "price book for every policy (default: the scenario's; a result has none)", NULL },
    { "use", 0, OPT_REAL, offsetof(struct options, use), "SHARE",
      "scenario: share of their hours in which cards work, 0 to 1", NULL },
    { "monte-carlo", 0, OPT_COUNT, offsetof(struct options, monte_carlo), "N",
      "draw the amounts given as low, mode, high N times", NULL },
    { "seed", 0, OPT_SEED, offsetof(struct options, seed), "S", "of the draws (default 1)", NULL },
    { "as-of", 0, OPT_TEXT, offsetof(struct options, as_of), "DATE",
      "warn of prices older than a year on that day (default: the book's)", NULL },
    { "by-month", 0, OPT_FLAG, offsetof(struct options, by_month), NULL,
      "plain fleets: also what has been paid by the end of each month", NULL },
    { "set", 0, OPT_LIST, offsetof(struct options, set), "PATH=VALUE",
      "scenario: change it, e.g. --set fleet.a100.nodes=6 (repeatable)", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT", "how to print",
      out_format_names },
    { "quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, "warnings only", NULL },
    { 0 },
};

enum { MOST_SAMPLES = 10000000 };

/* What one form of input leaves for printing. */
struct answer {
    struct arena *a;
    json_t *json;     /* the document */
    const char *list; /* key of the options in it */
    struct mc_model model;
    struct mc_result risk;
    bool sampled;
};

/* ---- columns: one table prints all forms ---- */

enum shown { TEXT, COUNT, MONEY, PRICE, SHARE, MONTHS };
struct column {
    const char *key, *head, *unit;
    enum shown shown;
    bool none; /* null means that curves do not cross */
};

static const struct column plain_columns[] = {
    { "name", "option", "", TEXT, false },
    { "cards", "cards", "in service", COUNT, false },
    { "use", "use", "", SHARE, false },
    { "bought", "cards", "bought", COUNT, false },
    { "npv_usd", "NPV", "USD", MONEY, false },
    { "eac_usd", "EAC", "USD/y", MONEY, false },
    { "usd_per_gpu_hour", "USD per", "card-h", PRICE, false },
    { "usd_per_used_gpu_hour", "USD per", "used h", PRICE, false },
    { "breakeven_use", "break-even", "use", SHARE, true },
    { "breakeven_months", "break-even", "months", MONTHS, true },
    { "breakeven_price_usd", "break-even", "USD/h", PRICE, true },
    { 0 },
};

static const struct column run_columns[] = {
    { "name", "policy", "", TEXT, false },
    { "kind", "kind", "", TEXT, false },
    { "total_usd", "cost", "USD", MONEY, false },
    { "usd_per_year", "per year", "USD", MONEY, false },
    { "npv_usd", "NPV", "USD", MONEY, false },
    { "eac_usd", "EAC", "USD/y", MONEY, false },
    { "energy_usd", "energy", "USD", MONEY, false },
    { "usd_per_gpu_hour", "USD per", "card-h", PRICE, false },
    { "usd_per_useful_gpu_hour", "USD per", "useful h", PRICE, false },
    { "usd_per_job", "USD per", "job", PRICE, false },
    { 0 },
};

/* A member of an option, or of its "tco". */
static const json_t *member(const json_t *option, const char *key)
{
    const json_t *v = json_object_get(option, key);
    return v ? v : json_object_get(json_object_get(option, "tco"), key);
}

enum { CELL = 64 };

static void cell_text(char *cell, const json_t *option, const struct column *c)
{
    const json_t *v = member(option, c->key);
    const double x = json_number_value(v);
    if (json_is_string(v)) {
        size_t n = 0;
        for (const char *s = json_string_value(v); *s && n + 1 < CELL; s++)
            cell[n++] = (unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s;
        cell[n] = '\0';
    } else if (!json_is_number(v)) {
        snprintf(cell, CELL, "%s",
                 c->none && json_is_true(member(option, "rent_stated")) ? "none" : "-");
    } else if (c->shown == SHARE) {
        snprintf(cell, CELL, "%.2f %%", 100 * x);
    } else {
        static const int digits[] = { [MONEY] = 2, [PRICE] = 4, [MONTHS] = 2 };
        snprintf(cell, CELL, "%.*f", digits[c->shown], x);
    }
}

static size_t printed_width(const char *s)
{
    size_t n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void put_cell(struct strbuf *b, const char *s, size_t width, bool left, bool last)
{
    const size_t pad = width - printed_width(s);
    if (!left) strbuf_addf(b, "%*s", (int)pad, "");
    strbuf_addz(b, s);
    if (left && !last) strbuf_addf(b, "%*s", (int)pad, "");
    strbuf_addz(b, last ? "\n" : "  ");
}

static void put_table(struct strbuf *b, const json_t *list, const struct column *columns)
{
    enum { MOST = 16 };
    size_t width[MOST] = { 0 }, n = 0;
    char cell[CELL];
    for (; columns[n].key; n++) {
        width[n] = strlen(columns[n].head);
        if (strlen(columns[n].unit) > width[n]) width[n] = strlen(columns[n].unit);
        for (size_t i = 0; i < json_array_size(list); i++) {
            cell_text(cell, json_array_get(list, i), &columns[n]);
            if (printed_width(cell) > width[n]) width[n] = printed_width(cell);
        }
    }
    for (size_t k = 0; k < n; k++)
        put_cell(b, columns[k].head, width[k], columns[k].shown == TEXT, k + 1 == n);
    for (size_t k = 0; k < n; k++)
        put_cell(b, columns[k].unit, width[k], columns[k].shown == TEXT, k + 1 == n);
    for (size_t i = 0; i < json_array_size(list); i++)
        for (size_t k = 0; k < n; k++) {
            cell_text(cell, json_array_get(list, i), &columns[k]);
            put_cell(b, cell, width[k], columns[k].shown == TEXT, k + 1 == n);
        }
}

/* A cell of CSV, quoted where it must be, behind a comma or not. */
static void put_csv_text(struct strbuf *b, const char *s, bool comma)
{
    const bool quote = strpbrk(s, ",\"\r\n") != NULL;
    if (comma) strbuf_addc(b, ',');
    if (quote) strbuf_addc(b, '"');
    for (; *s; s++) {
        if (*s == '"') strbuf_addc(b, '"');
        strbuf_addc(b, *s);
    }
    if (quote) strbuf_addc(b, '"');
}

/* The base to own or reserve, where a demand was stated. */
static void put_commitments(struct strbuf *b, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i), *cards = json_object_get(o, "commit_cards");
        if (cards)
            strbuf_addf(b, "%s: hold %.6g cards and rent what is wanted above: %.2f USD a year\n",
                        json_string_value(json_object_get(o, "name")), json_number_value(cards),
                        json_number_value(json_object_get(o, "commit_usd_per_year")));
    }
}

/* ---- uncertainty ---- */

static json_t *band_json(const struct mc_band *x)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "mean", json_num(x->mean), "p5",
                     json_num(x->p5), "p10", json_num(x->p10), "p50", json_num(x->p50), "p90",
                     json_num(x->p90), "p95", json_num(x->p95));
}

static json_t *numbers_json(const double *x, size_t n)
{
    json_t *v = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(v, json_num(x[i]));
    return v;
}

static json_t *swing_json(const struct answer *w, const struct mc_swing *s)
{
    const struct mc_input *in = &w->model.input[s->input];
    const bool flips = !isnan(s->switching_value);
    return json_pack("{s:s, s:s*, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s?}", "input", in->name,
                     "of", in->of, "low", json_num(in->shown.low), "mode", json_num(in->shown.mode),
                     "high", json_num(in->shown.high), "eac_usd_at_low",
                     numbers_json(s->low, w->model.n_options), "eac_usd_at_high",
                     numbers_json(s->high, w->model.n_options), "swing_usd", json_num(s->swing),
                     "switching_value", json_num(s->switching_value), "switches_to",
                     flips ? w->model.option[s->switches_to] : NULL);
}

static json_t *risk_json(const struct answer *w, uint64_t seed)
{
    json_t *options = json_array(), *tornado = json_array();
    for (size_t i = 0; i < w->model.n_options; i++) {
        const struct mc_option *o = &w->risk.option[i];
        json_array_append_new(options,
                              json_pack("{s:s, s:o, s:o, s:o, s:o, s:b}", "name",
                                        w->model.option[i], "eac_usd_at_modes",
                                        json_num(o->at_modes), "eac_usd", band_json(&o->cost),
                                        "difference_usd", band_json(&o->difference), "p_cheapest",
                                        json_num(o->p_cheapest), "no_difference_shown", o->tie));
    }
    for (size_t k = 0; k < w->model.n_inputs; k++)
        json_array_append_new(tornado, swing_json(w, &w->risk.swing[k]));
    return json_pack("{s:I, s:I, s:s, s:o, s:o}", "samples", (json_int_t)w->risk.samples, "seed",
                     (json_int_t)seed, "cheapest_at_modes", w->model.option[w->risk.best],
                     "options", options, "tornado", tornado);
}

static void put_risk(struct strbuf *b, const struct answer *w, uint64_t seed)
{
    const struct mc_model *m = &w->model;
    size_t wide = 8;
    for (size_t i = 0; i < m->n_options; i++)
        if (strlen(m->option[i]) > wide) wide = strlen(m->option[i]);
    for (size_t k = 0; k < m->n_inputs; k++)
        if (strlen(m->input[k].name) > wide) wide = strlen(m->input[k].name);
    const int name = (int)wide;
    strbuf_addf(b, "\n%zu draws of %zu inputs, seed %llu: EAC in USD a year\n", w->risk.samples,
                m->n_inputs, (unsigned long long)seed);
    strbuf_addf(b, "%-*s  %14s  %14s  %14s  %14s  %14s  %10s  against %s (P5, P95)\n", name,
                "option", "P5", "P10", "P50", "P90", "P95", "P cheapest", m->option[w->risk.best]);
    for (size_t i = 0; i < m->n_options; i++) {
        const struct mc_option *o = &w->risk.option[i];
        strbuf_addf(b, "%-*s  %14.2f  %14.2f  %14.2f  %14.2f  %14.2f  %10.3f", name, m->option[i],
                    o->cost.p5, o->cost.p10, o->cost.p50, o->cost.p90, o->cost.p95, o->p_cheapest);
        if (i != w->risk.best)
            strbuf_addf(b, "  %+.2f, %+.2f%s", o->difference.p5, o->difference.p95,
                        o->tie ? ": no difference shown" : "");
        strbuf_addz(b, "\n");
    }
    if (m->n_inputs == 0) return;
    strbuf_addf(b, "\n%s, one input at a time\n",
                m->n_options > 1 ? "Swing of the saving over the runner-up" : "Swing of the EAC");
    strbuf_addf(b, "%-*s  %12s  %12s  %12s  %14s  switches\n", name, "input", "low", "mode", "high",
                "USD a year");
    for (size_t k = 0; k < m->n_inputs; k++) {
        const struct mc_swing *s = &w->risk.swing[k];
        const struct mc_input *in = &m->input[s->input];
        strbuf_addf(b, "%-*s  %12.6g  %12.6g  %12.6g  %14.2f  ", name, in->name, in->shown.low,
                    in->shown.mode, in->shown.high, s->swing);
        if (isnan(s->switching_value))
            strbuf_addz(b, "never\n");
        else
            strbuf_addf(b, "at %.6g to %s\n", s->switching_value, m->option[s->switches_to]);
    }
}

/* ---- months ---- */

/* What each option has cost by the end of each month, a resale in the last one taken off. */
static void add_months(json_t *list, const struct plain_fleet *f, struct arena *a)
{
    for (size_t i = 0; i < f->n_options; i++) {
        const struct cash_plan p = plain_cash(f, i);
        const size_t n = cashflow_months(&p);
        double *flow = arena_array(a, n, sizeof *flow);
        cashflow_by_month(&p, flow, n);
        for (size_t m = 1; m < n; m++) flow[m] += flow[m - 1];
        json_object_set_new(json_array_get(list, i), "paid_by_month_usd", numbers_json(flow, n));
    }
}

/* Months down, options across; every month as CSV, every twelfth and the last on the terminal. */
static void put_months(struct strbuf *b, const json_t *list, bool csv)
{
    const size_t n = json_array_size(json_object_get(json_array_get(list, 0), "paid_by_month_usd"));
    strbuf_addz(b, csv ? "month" : "\nPaid by the end of month, USD\nmonth");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (csv)
            put_csv_text(b, name, true);
        else
            strbuf_addf(b, "  %16.16s", name);
    }
    strbuf_addc(b, '\n');
    for (size_t m = 0; m < n; m++) {
        if (!csv && m % 12 != 0 && m + 1 < n) continue;
        strbuf_addf(b, csv ? "%zu" : "%5zu", m);
        for (size_t i = 0; i < json_array_size(list); i++)
            strbuf_addf(b, csv ? ",%.15g" : "  %16.2f",
                        json_number_value(json_array_get(
                            json_object_get(json_array_get(list, i), "paid_by_month_usd"), m)));
        strbuf_addc(b, '\n');
    }
}

/* ---- printing ---- */

static const char *const band_keys[] = { "p5", "p10", "p50", "p90", "p95" };

static void put_csv(struct strbuf *b, const struct answer *w, const struct column *columns)
{
    const json_t *list = json_object_get(w->json, w->list);
    for (const struct column *c = columns; c->key; c++)
        strbuf_addf(b, "%s%s", c == columns ? "" : ",", c->key);
    for (size_t k = 0; w->sampled && k < 5; k++) strbuf_addf(b, ",eac_usd_%s", band_keys[k]);
    strbuf_addz(b, w->sampled ? ",p_cheapest\n" : "\n");
    for (size_t i = 0; i < json_array_size(list); i++) {
        for (const struct column *c = columns; c->key; c++) {
            const json_t *v = member(json_array_get(list, i), c->key);
            if (c != columns) strbuf_addc(b, ',');
            if (json_is_string(v)) {
                put_csv_text(b, json_string_value(v), false);
            } else if (json_is_number(v)) {
                strbuf_addf(b, "%.15g", json_number_value(v));
            } else if (c->none && json_is_true(member(json_array_get(list, i), "rent_stated"))) {
                strbuf_addz(b, "none");
            }
        }
        if (w->sampled) {
            const struct mc_band *x = &w->risk.option[i].cost;
            strbuf_addf(b, ",%.15g,%.15g,%.15g,%.15g,%.15g,%.15g", x->p5, x->p10, x->p50, x->p90,
                        x->p95, w->risk.option[i].p_cheapest);
        }
        strbuf_addc(b, '\n');
    }
}

static void print_answer(struct answer *w, const struct options *o)
{
    const struct column *columns = strcmp(w->list, "options") == 0 ? plain_columns : run_columns;
    struct strbuf b = { 0 };
    if (o->monte_carlo > 0) {
        mc_run(&w->risk, &w->model, (size_t)o->monte_carlo, o->seed, w->a);
        w->sampled = true;
        json_object_set_new(w->json, "uncertainty", risk_json(w, o->seed));
        if (w->model.n_inputs == 0) log_warn("no amount has a range: every draw is the same");
    }
    if (o->format == FORMAT_JSON) {
        json_write(w->json, &b);
    } else if (o->format == FORMAT_CSV && o->by_month) {
        put_months(&b, json_object_get(w->json, w->list), true);
    } else if (o->format == FORMAT_CSV) {
        put_csv(&b, w, columns);
    } else {
        put_table(&b, json_object_get(w->json, w->list), columns);
        put_commitments(&b, json_object_get(w->json, w->list));
        if (o->by_month) put_months(&b, json_object_get(w->json, w->list), false);
        if (w->sampled) put_risk(&b, w, o->seed);
    }
    fwrite(b.s, 1, b.len, stdout);
    strbuf_fini(&b);
}

/* ---- plain fleets ---- */

static const char *no_break_even_in_use(const struct plain_option *o, const struct plain_cost *c)
{
    if (!o->owned) return "the option is rented";
    if (isnan(o->value[PLAIN_rent_usd_per_gpu_hour].mode)) return "no rent is stated";
    if (o->rent == PLAIN_RESERVED) return "the rent is a reservation, billed around the clock";
    return isnan(c->breakeven_use) ? "rent on demand is cheaper at any use" : NULL;
}

static json_t *plain_json(const struct plain_option *o, const struct plain_cost *c)
{
    const char *why = no_break_even_in_use(o, c);
    const bool stated = !isnan(o->value[PLAIN_rent_usd_per_gpu_hour].mode);
    json_t *v = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", o->name, "kind",
        o->owned ? "owned" : "rented", "cards", (json_int_t)c->cards, "spares",
        (json_int_t)c->spares, "bought", (json_int_t)c->bought, "npv_usd", json_num(c->npv_usd),
        "eac_usd", json_num(c->eac_usd), "usd_per_gpu_hour", json_num(c->usd_per_gpu_hour),
        "usd_per_used_gpu_hour", json_num(c->usd_per_used_gpu_hour), "breakeven_use",
        json_num(c->breakeven_use), "breakeven_months", json_num(c->breakeven_months),
        "breakeven_price_usd", json_num(c->breakeven_price_usd));
    if (why) json_object_set_new(v, "no_breakeven_use_because", json_string(why));
    json_object_set_new(v, "rent_stated", json_boolean(stated && o->owned));
    json_object_set_new(v, "capital_usd", json_num(c->capital_usd));
    json_object_set_new(v, "residual_usd", json_num(c->residual_usd));
    json_object_set_new(
        v, "per_year",
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "energy_usd", json_num(c->energy_usd),
                  "maintenance_usd", json_num(c->maintenance_usd), "licence_usd",
                  json_num(c->licence_usd), "operations_usd", json_num(c->operations_usd),
                  "rent_usd", json_num(c->rent_usd), "energy_kwh", json_num(c->energy_kwh)));
    json_object_set_new(v, "power_W", json_num(c->power_W));
    json_object_set_new(v, "use", json_num(c->use));
    if (o->n_demand > 0) {
        json_object_set_new(v, "commit_cards", json_num(c->commit_cards));
        json_object_set_new(v, "commit_usd_per_year", json_num(c->commit_usd));
    }
    return v;
}

/* What is possible but unlikely. */
static void warn_plain(const struct plain_fleet *f, const struct options *o)
{
    for (size_t i = 0; i < f->n_options; i++) {
        const struct plain_option *x = &f->option[i];
        if (x->owned && x->gpu && x->value[PLAIN_busy_W].mode > 1.05 * x->gpu->tdp_W)
            log_warn("option \"%s\": busy_W %g is above the board power of %s, %g W", x->name,
                     x->value[PLAIN_busy_W].mode, x->gpu->name, x->gpu->tdp_W);
    }
    for (size_t i = 0; o->as_of && i < f->n_options; i++)
        if (price_age_years(f->option[i].date, o->as_of) > PRICE_STALE_YEARS)
            log_warn("prices of option \"%s\" are of %s: more than a year old on %s",
                     f->option[i].name, f->option[i].date, o->as_of);
}

static int tco_plain(const struct json_doc *doc, const struct options *o, struct err *e)
{
    struct answer w = { .a = arena_create(), .list = "options" };
    struct gpu_catalogue *gpus = NULL;
    struct plain_fleet f;
    struct diag d;
    diag_init(&d);
    int rc = gpu_catalogue_load(&gpus, NULL, e);
    if (rc == 0) {
        plain_read(&f, w.a, doc, gpus, &d);
        if (d.count > 0) rc = problems_first(&d, e);
    }
    if (rc == 0 && (o->prices || o->set.n > 0 || !isnan(o->use)))
        rc = err_set(e, ERR_USAGE, NULL,
                     "--prices, --set and --use do not go with %s: it states them", PLAIN_FORMAT);
    if (rc == 0) {
        json_t *list = json_array();
        for (size_t i = 0; i < f.n_options; i++) {
            const struct plain_cost c = plain_price(&f, i);
            json_array_append_new(list, plain_json(&f.option[i], &c));
        }
        if (o->by_month) add_months(list, &f, w.a);
        w.json = json_pack("{s:s, s:o, s:o, s:s, s:o}", "name", f.name, "term_y",
                           json_num(f.term_y), "rate", json_num(f.rate.mode), "timing",
                           cash_timing_names[f.timing], "options", list);
        w.model = plain_model(&f, w.a);
        warn_plain(&f, o);
        print_answer(&w, o);
    }
    json_decref(w.json);
    gpu_catalogue_destroy(gpus);
    diag_fini(&d);
    arena_destroy(w.a);
    return rc;
}

/* ---- price books ---- */

/* One line for all policies: how many of the prices used are old, and the oldest. */
static void warn_stale(const struct result *r, const char *day)
{
    VEC(const struct cost_item_result *) seen = { 0 };
    size_t stale = 0;
    double oldest = 0;
    const struct cost_item_result *worst = NULL;
    for (size_t p = 0; p < r->n_policies; p++)
        for (size_t i = 0; i < r->policy[p].tco.n_items; i++) {
            const struct cost_item_result *it = &r->policy[p].tco.item[i];
            size_t k = 0;
            while (k < seen.n && strcmp(seen.v[k]->name, it->name) != 0) k++;
            if (k < seen.n) continue;
            vec_push(&seen, it);
            const double age = price_age_years(it->date, day);
            if (!(age > PRICE_STALE_YEARS)) continue;
            stale++;
            if (age > oldest) oldest = age, worst = it;
        }
    if (worst)
        log_warn("%zu of %zu prices are more than a year old on %s; the oldest, \"%s\", is of %s",
                 stale, seen.n, day, worst->name, worst->date);
    vec_fini(&seen);
}

static void say_doubt(void *ctx, const char *sentence)
{
    log_warn("%s: %s", (const char *)ctx, sentence);
}

static int load_book(struct price_book *book, struct arena *a, const char *path,
                     const struct gpu_catalogue *gpus, struct err *e)
{
    char sha256[65];
    const int rc = price_book_load(book, a, path, gpus, sha256, e);
    if (rc == 0) price_doubts(book, say_doubt, (void *)(uintptr_t)path);
    return rc;
}

/* Prices `n` uses into r->policy[i].tco and prints them. */
static int price_runs(struct answer *w, struct result *r, const struct priced_use *use,
                      const struct options *o, struct err *e)
{
    struct policy_result *p = arena_array(w->a, r->n_policies, sizeof *p);
    for (size_t i = 0; i < r->n_policies; i++) {
        const int rc = tco_check(use[i].usage, use[i].share, use[i].book, e);
        if (rc != 0) return rc;
        p[i] = r->policy[i];
        p[i].tco = tco_price(use[i].usage, use[i].share, use[i].book, w->a);
    }
    r->policy = p;
    if (r->n_policies > 0) warn_stale(r, o->as_of ? o->as_of : use[0].book->as_of);
    w->model = bookrisk_model(use, r->n_policies, w->a);
    return 0;
}

/* {"policies": [{"name", "kind", "tco"}]}: as result.json has them. */
static void show_runs(struct answer *w, const struct result *r, const struct options *o)
{
    json_t *all = result_to_json(r), *list = json_array();
    const json_t *from = json_object_get(all, "policies");
    for (size_t i = 0; i < json_array_size(from); i++) {
        const json_t *p = json_array_get(from, i);
        json_array_append_new(list, json_pack("{s:O, s:O, s:O}", "name", json_object_get(p, "name"),
                                              "kind", json_object_get(p, "kind"), "tco",
                                              json_object_get(p, "tco")));
    }
    w->json =
        json_pack("{s:O, s:o}", "name", json_object_get(json_object_get(all, "scenario"), "name"),
                  "policies", list);
    json_decref(all);
    print_answer(w, o);
    json_decref(w->json);
}

/* A stored result knows its cards by name and power only; price books may use aliases. */
static void know_cards(struct result *r, const struct gpu_catalogue *gpus)
{
    for (size_t p = 0; p < r->n_policies; p++)
        for (size_t g = 0; g < r->policy[p].usage.n_groups; g++) {
            /* read_usage() made these groups for us alone */
            struct usage_group *group =
                (struct usage_group *)(uintptr_t)&r->policy[p].usage.group[g];
            const struct gpu_spec *known =
                group->gpu->name ? gpu_find(gpus, group->gpu->name, NULL) : NULL;
            if (known) group->gpu = known;
        }
}

static int tco_result(const struct json_doc *doc, const struct options *o, struct err *e)
{
    struct answer w = { .a = arena_create(), .list = "policies" };
    struct gpu_catalogue *gpus = NULL;
    struct price_book book;
    struct result r;
    struct diag d;
    diag_init(&d);
    result_read(&r, w.a, doc, &d);
    int rc = d.count > 0 ? problems_first(&d, e) : 0;
    if (rc == 0 && (o->set.n > 0 || !isnan(o->use)))
        rc = err_set(e, ERR_USAGE, NULL, "--set and --use go with a scenario, not with a result");
    if (rc == 0 && !o->prices &&
        (o->monte_carlo > 0 || r.n_policies == 0 || !r.policy[0].tco.priced))
        rc = err_set(e, ERR_USAGE, NULL, "a result holds no price book: name one with --prices");
    if (rc == 0 && o->prices) {
        rc = gpu_catalogue_load(&gpus, NULL, e);
        if (rc == 0) rc = load_book(&book, w.a, o->prices, gpus, e);
        struct priced_use *use = arena_array(w.a, r.n_policies, sizeof *use);
        if (rc == 0) know_cards(&r, gpus);
        for (size_t i = 0; i < r.n_policies; i++)
            use[i] = (struct priced_use){ r.policy[i].name, r.policy[i].kind, &r.policy[i].usage,
                                          &book };
        if (rc == 0) rc = price_runs(&w, &r, use, o, e);
    }
    if (rc == 0) show_runs(&w, &r, o);
    gpu_catalogue_destroy(gpus);
    diag_fini(&d);
    arena_destroy(w.a);
    return rc;
}

/* ---- scenarios ---- */

/* A year in which each card works `use` of its hours and holds a context all the time. */
static struct usage usage_at(const struct plan *p, double use, struct arena *a)
{
    struct usage_group *g = arena_array(a, p->n_groups, sizeof *g);
    struct demand_level *level = arena_array(a, p->n_groups, sizeof *level);
    double used = 0;
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct gpu_spec *gpu = p->group[i].type.gpu;
        const double hours = (double)p->group[i].cards * TCO_HOURS_PER_YEAR,
                     idle_kwh = gpu_power_W(gpu, true, 0) * hours / 1000;
        level[i] = (struct demand_level){ use * (double)p->group[i].cards, TCO_HOURS_PER_YEAR };
        g[i] = (struct usage_group){ .name = p->group[i].spec->name,
                                     .gpu = gpu,
                                     .nodes = p->group[i].spec->nodes,
                                     .cards = p->group[i].cards,
                                     .allocated_h = use * hours,
                                     .free_h = (1 - use) * hours,
                                     .context_h = hours,
                                     .sm_active_h = use * hours,
                                     .duty_h = use * hours,
                                     .occupied_h = use * hours,
                                     .step_h = { use * hours, use * hours, use * hours },
                                     .demand = &level[i],
                                     .n_demand = 1,
                                     .energy_kwh = gpu_power_W(gpu, true, use) * hours / 1000,
                                     .idle_energy_kwh = idle_kwh * (1 - use) };
        used += use * hours;
    }
    struct usage_tenant *t = arena_array(a, 1, sizeof *t);
    *t = (struct usage_tenant){ .name = "(use)", .allocated_h = used, .billed_h = used,
                                .useful_h = used };
    for (size_t i = 0; i < p->n_groups; i++)
        t->energy_kwh += g[i].energy_kwh - g[i].idle_energy_kwh;
    return (struct usage){ .hours = TCO_HOURS_PER_YEAR,
                           .group = g,
                           .n_groups = p->n_groups,
                           .tenant = t,
                           .n_tenants = 1,
                           .gpu_hours = used,
                           .useful_gpu_hours = used };
}

static int price_scenario(struct answer *w, struct runner *r, const struct options *o,
                          struct err *e)
{
    struct price_book *book = arena_alloc(w->a, sizeof *book);
    struct policy_result *p = arena_array(w->a, r->n, sizeof *p);
    struct priced_use *use = arena_array(w->a, r->n, sizeof *use);
    int rc = o->prices ? load_book(book, w->a, o->prices, r->world.gpus, e) : 0;
    for (size_t i = 0; rc == 0 && i < r->n; i++) {
        const struct plan *plan = &r->plan[i];
        if (!o->prices && !plan->priced)
            return err_set(e, ERR_USAGE, NULL,
                           "policy %s has no price book: name one with --prices", plan->spec->name);
        p[i] = (struct policy_result){ .name = plan->spec->name,
                                       .kind = plan->share->name,
                                       .usage = usage_at(plan, o->use, w->a) };
        use[i] = (struct priced_use){ p[i].name, p[i].kind, &p[i].usage,
                                      o->prices ? book : &plan->prices };
    }
    r->result.policy = p;
    r->result.n_policies = r->n;
    if (rc == 0) rc = price_runs(w, &r->result, use, o, e);
    if (rc == 0) show_runs(w, &r->result, o);
    return rc;
}

static int tco_scenario(const char *path, const struct options *o, struct err *e)
{
    struct answer w = { .a = arena_create(), .list = "policies" };
    struct runner r = { 0 };
    struct diag d;
    int rc = 0;
    diag_init(&d);
    if (isnan(o->use))
        rc = err_set(
            e, ERR_USAGE, NULL,
            "a scenario is priced at a stated use, e.g. --use 0.4; `gpusim run` simulates it");
    if (rc == 0) rc = runner_load(&r, path, o->set.v, o->set.n, NULL, 0, &d, e);
    if (rc == 0 && d.count > 0) rc = problems_first(&d, e);
    if (rc == 0) rc = price_scenario(&w, &r, o, e);
    runner_fini(&r);
    diag_fini(&d);
    arena_destroy(w.a);
    return rc;
}

/* ---- the command ---- */

static int check_options(const struct options *o, struct err *e)
{
    if (!isnan(o->use) && !(o->use >= 0 && o->use <= 1))
        return err_set(e, ERR_USAGE, NULL, "--use: expected a share from 0 to 1, found %g", o->use);
    if (o->monte_carlo > MOST_SAMPLES)
        return err_set(e, ERR_USAGE, NULL, "--monte-carlo: at most %d draws", (int)MOST_SAMPLES);
    if (o->as_of && isnan(price_age_years(o->as_of, o->as_of)))
        return err_set(e, ERR_USAGE, NULL,
                       "--as-of: expected a date such as 2026-08-31, found '%s'", o->as_of);
    return 0;
}

static int dispatch(const char *path, const struct options *o, struct err *e)
{
    struct json_doc doc = { 0 };
    struct stat st;
    char file[4096];
    snprintf(file, sizeof file, "%s", path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        snprintf(file, sizeof file, "%s/result.json", path);
    int rc = json_doc_load(&doc, file, e);
    if (rc != 0) return rc;
    const json_t *format = json_object_get(doc.root, "format");
    const char *word = json_is_string(format) ? json_string_value(format) : "";
    if (o->by_month && strncmp(word, "gpusim-", 7) == 0 && strcmp(word, PLAIN_FORMAT) != 0) {
        rc = err_set(e, ERR_USAGE, NULL, "--by-month goes with %s files only", PLAIN_FORMAT);
    } else if (strcmp(word, PLAIN_FORMAT) == 0) {
        rc = tco_plain(&doc, o, e);
    } else if (strcmp(word, "gpusim-result/1") == 0) {
        rc = tco_result(&doc, o, e);
    } else if (strcmp(word, "gpusim-scenario/1") == 0) {
        rc = tco_scenario(file, o, e);
    } else {
        rc = err_set(e, ERR_INPUT, &(struct loc){ .file = file, .path = "/format" },
                     "expected %s, gpusim-result/1 or gpusim-scenario/1, found \"%s\"",
                     PLAIN_FORMAT, word);
    }
    json_doc_fini(&doc);
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { .use = NAN, .seed = 1 };
    char **operand;
    int n;
    int rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc != 0) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (o.quiet) log_set_level(LOG_QUIET);
    if (n != 1)
        rc = err_set(e, ERR_USAGE, NULL, "expected one scenario, result or %s file, found %d",
                     PLAIN_FORMAT, n);
    if (rc == 0) rc = check_options(&o, e);
    if (rc == 0) rc = dispatch(operand[0], &o, e);
    opt_fini(opts, &o);
    return rc;
}

const struct command cmd_tco = {
    .name = "tco",
    .args = "SCENARIO|RESULT|TCO.json",
    .help = "price fleets at a stated use, or a stored result under another price book",
    .example = "gpusim tco scenarios/tco-l40s.json --monte-carlo 10000",
    .opts = opts,
    .run = run,
};
