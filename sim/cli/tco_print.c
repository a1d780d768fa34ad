#include "cli/tco_print.h"

#include "base/figure.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/opt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* Half of the range from P10 to P90 of an option's cost as a share of its median; NAN: nothing was
 * drawn. */
static double spread_of(const struct tco_answer *w, size_t option)
{
    if (!w->sampled) return NAN;
    const struct mc_band *x = &w->risk.option[option].cost;
    return 0.5 * (x->p90 - x->p10) / fabs(x->p50);
}

/* The place that the draws leave to an amount; without draws its own. */
static int place_of(double usd, double spread)
{
    const int place = figure_place(fabs(usd) * spread);
    return place == FIGURE_NO_PLACE ? figure_place_money(usd) : place;
}

static void put_usd(struct strbuf *b, double usd, double spread)
{
    figure_add(b, usd, place_of(usd, spread));
}

/* The same, to the right of a column. */
static void put_usd_cell(struct strbuf *b, int width, double usd, int place)
{
    char cell[CELL];
    strbuf_addf(b, "  %*s", width, figure_text(cell, sizeof cell, usd, place));
}

static void cell_text(char *cell, const struct tco_answer *w, size_t i, const struct column *c)
{
    const json_t *option = json_array_get(json_object_get(w->json, w->list), i),
                 *v = member(option, c->key);
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
        snprintf(cell, CELL, "%.1f %%", 100 * x);
    } else if (c->shown == MONEY || (c->shown == PRICE && !c->none)) {
        /* energy is a part of the cost and has its place */
        const json_t *total = strcmp(c->key, "energy_usd") == 0 ? member(option, "total_usd") : v;
        figure_text(cell, CELL, x, place_of(json_number_value(total), spread_of(w, i)));
    } else {
        figure_text(cell, CELL, x, FIGURE_NO_PLACE);
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

static void put_table(struct strbuf *b, const struct tco_answer *w, const struct column *columns)
{
    const json_t *list = json_object_get(w->json, w->list);
    enum { MOST = 16 };
    size_t width[MOST] = { 0 }, n = 0;
    char cell[CELL];
    for (; columns[n].key; n++) {
        width[n] = strlen(columns[n].head);
        if (strlen(columns[n].unit) > width[n]) width[n] = strlen(columns[n].unit);
        for (size_t i = 0; i < json_array_size(list); i++) {
            cell_text(cell, w, i, &columns[n]);
            if (printed_width(cell) > width[n]) width[n] = printed_width(cell);
        }
    }
    for (size_t k = 0; k < n; k++)
        put_cell(b, columns[k].head, width[k], columns[k].shown == TEXT, k + 1 == n);
    for (size_t k = 0; k < n; k++)
        put_cell(b, columns[k].unit, width[k], columns[k].shown == TEXT, k + 1 == n);
    for (size_t i = 0; i < json_array_size(list); i++)
        for (size_t k = 0; k < n; k++) {
            cell_text(cell, w, i, &columns[k]);
            put_cell(b, cell, width[k], columns[k].shown == TEXT, k + 1 == n);
        }
}

/* A cell of CSV behind a comma or not. */
static void put_csv_text(struct strbuf *b, const char *s, bool comma)
{
    if (comma) strbuf_addc(b, ',');
    strbuf_addcsv(b, s);
}

/* The base to own or reserve, where a demand was stated. */
static void put_commitments(struct strbuf *b, const struct tco_answer *w)
{
    const json_t *list = json_object_get(w->json, w->list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i), *cards = json_object_get(o, "commit_cards");
        if (!cards) continue;
        strbuf_addf(b, "%s: hold ", json_string_value(json_object_get(o, "name")));
        figure_add_exact(b, json_number_value(cards));
        strbuf_addz(b, " cards and rent what is wanted above: ");
        put_usd(b, json_number_value(json_object_get(o, "commit_usd_per_year")), spread_of(w, i));
        strbuf_addz(b, " USD a year\n");
    }
}

static void put_even(struct strbuf *b, const json_t *v, double scale, int place, const char *unit)
{
    if (json_is_number(v)) {
        figure_add(b, scale * json_number_value(v), place);
        strbuf_addz(b, unit);
    } else {
        strbuf_addz(b, "none");
    }
}

/* The break-evens of runs against renting. */
static void put_against(struct strbuf *b, const struct tco_answer *w)
{
    const json_t *list = json_object_get(w->json, w->list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i), *x = json_object_get(o, "against");
        if (!x) continue;
        strbuf_addf(b, "%s at %.1f %% use: owning ", json_string_value(json_object_get(o, "name")),
                    100 * json_number_value(json_object_get(x, "use")));
        put_usd(b, json_number_value(json_object_get(x, "own_eac_usd")), spread_of(w, i));
        strbuf_addz(b, ", renting ");
        put_usd(b, json_number_value(json_object_get(x, "rent_eac_usd")), spread_of(w, i));
        strbuf_addf(b, " USD a year (%s); break-even in use ",
                    json_string_value(json_object_get(x, "book")));
        put_even(b, json_object_get(x, "breakeven_use"), 100, FIGURE_TENTHS, " %");
        strbuf_addz(b, ", months ");
        put_even(b, json_object_get(x, "breakeven_months"), 1, FIGURE_NO_PLACE, "");
        strbuf_addz(b, ", price ");
        put_even(b, json_object_get(x, "breakeven_price_usd"), 1, FIGURE_NO_PLACE,
                 " USD per card-hour held");
        strbuf_addc(b, '\n');
    }
}

/* What services cost, which do no useful hours: those are of jobs. */
static void put_services(struct strbuf *b, const struct tco_answer *w)
{
    const json_t *list = json_object_get(w->json, w->list);
    bool any = false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i), *services = json_object_get(o, "services");
        for (size_t k = 0; k < json_array_size(services); k++) {
            const json_t *s = json_array_get(services, k),
                         *requests = json_object_get(s, "usd_per_million_requests"),
                         *tokens = json_object_get(s, "usd_per_million_tokens");
            strbuf_addf(b, "%s, service %s: ", json_string_value(json_object_get(o, "name")),
                        json_string_value(json_object_get(s, "name")));
            if (json_is_number(requests)) put_usd(b, json_number_value(requests), spread_of(w, i));
            strbuf_addz(b, json_is_number(requests) ? " USD per million requests within target"
                                                    : "nothing answered within target");
            if (json_is_number(tokens)) {
                strbuf_addz(b, ", ");
                put_usd(b, json_number_value(tokens), spread_of(w, i));
                strbuf_addz(b, " per million tokens");
            }
            strbuf_addc(b, '\n');
            any = true;
        }
    }
    if (any)
        strbuf_addz(
            b,
            "Useful hours are the work of completed jobs as if each ran alone, at the jobs' part of "
            "the cost; services count by what they answer within target.\n");
}

/* ---- uncertainty ---- */

static json_t *band_json(const struct mc_band *x)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "mean", json_num(x->mean), "p5",
                     json_num(x->p5), "p10", json_num(x->p10), "p50", json_num(x->p50), "p90",
                     json_num(x->p90), "p95", json_num(x->p95));
}

json_t *tco_numbers(const double *x, size_t n)
{
    json_t *v = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(v, json_num(x[i]));
    return v;
}

static json_t *swing_json(const struct tco_answer *w, const struct mc_swing *s)
{
    const struct mc_input *in = &w->model.input[s->input];
    const bool flips = !isnan(s->switching_value);
    return json_pack("{s:s, s:s*, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s?}", "input", in->name,
                     "of", in->of, "low", json_num(in->shown.low), "mode", json_num(in->shown.mode),
                     "high", json_num(in->shown.high), "eac_usd_at_low",
                     tco_numbers(s->low, w->model.n_options), "eac_usd_at_high",
                     tco_numbers(s->high, w->model.n_options), "swing_usd", json_num(s->swing),
                     "switching_value", json_num(s->switching_value), "switches_to",
                     flips ? w->model.option[s->switches_to] : NULL);
}

static json_t *risk_json(const struct tco_answer *w, const struct tco_print_options *opt)
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
    return json_pack("{s:I, s:I, s:b, s:s, s:o, s:o}", "samples", (json_int_t)w->risk.samples,
                     "seed", (json_int_t)opt->seed, "quasi_random", opt->quasi, "cheapest_at_modes",
                     w->model.option[w->risk.best], "options", options, "tornado", tornado);
}

/* "  +87,600, +138,700" */
static void put_difference(struct strbuf *b, const struct mc_option *o)
{
    const struct mc_band *d = &o->difference;
    const int place = figure_place(0.5 * (d->p95 - d->p5));
    const double usd[] = { d->p5, d->p95 };
    for (size_t k = 0; k < 2; k++) {
        strbuf_addf(b, "%s%s", k ? ", " : "  ", figure_round(usd[k], place) > 0 ? "+" : "");
        figure_add(b, usd[k], place == FIGURE_NO_PLACE ? figure_place_money(usd[k]) : place);
    }
    if (o->tie) strbuf_addz(b, ": no difference shown");
}

static void put_risk(struct strbuf *b, const struct tco_answer *w,
                     const struct tco_print_options *opt)
{
    const struct mc_model *m = &w->model;
    size_t wide = 8;
    for (size_t i = 0; i < m->n_options; i++)
        if (strlen(m->option[i]) > wide) wide = strlen(m->option[i]);
    for (size_t k = 0; k < m->n_inputs; k++)
        if (strlen(m->input[k].name) > wide) wide = strlen(m->input[k].name);
    const int name = (int)wide;
    strbuf_addf(b, "\n%zu %sdraws of %zu inputs, seed %llu: EAC in USD a year\n", w->risk.samples,
                opt->quasi ? "quasi-random " : "", m->n_inputs, (unsigned long long)opt->seed);
    strbuf_addf(b, "%-*s  %14s  %14s  %14s  %14s  %14s  %10s  against %s (P5, P95)\n", name,
                "option", "P5", "P10", "P50", "P90", "P95", "P cheapest", m->option[w->risk.best]);
    for (size_t i = 0; i < m->n_options; i++) {
        const struct mc_option *o = &w->risk.option[i];
        const double usd[] = { o->cost.p5, o->cost.p10, o->cost.p50, o->cost.p90, o->cost.p95 };
        strbuf_addf(b, "%-*s", name, m->option[i]);
        for (size_t k = 0; k < 5; k++)
            put_usd_cell(b, 14, usd[k], place_of(o->at_modes, spread_of(w, i)));
        strbuf_addf(b, "  %10.3f", o->p_cheapest);
        if (i != w->risk.best) put_difference(b, o);
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
        const double shown[] = { in->shown.low, in->shown.mode, in->shown.high };
        strbuf_addf(b, "%-*s", name, in->name);
        for (size_t j = 0; j < 3; j++) {
            struct strbuf x = { 0 };
            figure_add_exact(&x, shown[j]);
            strbuf_addf(b, "  %12s", x.s);
            strbuf_fini(&x);
        }
        /* the last digits of sums are no swing */
        const double swing =
            s->swing < 1e-9 * fabs(w->risk.option[w->risk.best].at_modes) ? 0 : s->swing;
        put_usd_cell(b, 14, swing, figure_place_money(swing));
        if (isnan(s->switching_value)) {
            strbuf_addz(b, "  never\n");
        } else {
            strbuf_addz(b, "  at ");
            figure_add_short(b, s->switching_value, FIGURE_DIGITS);
            strbuf_addf(b, " to %s\n", m->option[s->switches_to]);
        }
    }
}

/* ---- months ---- */

static const json_t *paid_of(const json_t *option)
{
    const json_t *v = json_object_get(option, "paid_by_month_usd");
    return v ? v
             : json_object_get(json_object_get(json_object_get(option, "tco"), "months"),
                               "paid_by_month_usd");
}

/* The month at which buying has paid, against each that rents. */
static void put_paybacks(struct strbuf *b, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i),
                     *against = json_object_get(
                         json_object_get(json_object_get(o, "tco"), "months"), "against");
        for (size_t k = 0; k < json_array_size(against); k++) {
            const json_t *x = json_array_get(against, k), *month = json_object_get(x, "month"),
                         *pv = json_object_get(x, "month_discounted");
            strbuf_addf(b, "%s against %s: buying has paid ",
                        json_string_value(json_object_get(o, "name")),
                        json_string_value(json_object_get(x, "rent")));
            if (json_is_number(month))
                strbuf_addf(b, "from month %.0f on", json_number_value(month));
            else
                strbuf_addz(b, "at no month of the term");
            if (json_is_number(pv))
                strbuf_addf(b, " (%.0f in present value)\n", json_number_value(pv));
            else
                strbuf_addz(b, json_is_number(month) ? " (never in present value)\n" : "\n");
        }
    }
}

/* Months down, options across; every month as CSV, every twelfth and the last on the terminal. */
static void put_months(struct strbuf *b, const struct tco_answer *w, bool csv)
{
    const json_t *list = json_object_get(w->json, w->list);
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const size_t mine = json_array_size(paid_of(json_array_get(list, i)));
        if (mine > n) n = mine;
    }
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
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *usd = json_array_get(paid_of(json_array_get(list, i)), m);
            const double x = json_number_value(usd);
            if (usd && csv)
                strbuf_addf(b, ",%.15g", x);
            else if (usd)
                put_usd_cell(b, 16, x, place_of(x, spread_of(w, i)));
            else
                strbuf_addf(b, csv ? "," : "  %16s", "");
        }
        strbuf_addc(b, '\n');
    }
}

/* ---- curves ---- */

/* Where owning and renting cost the same, along the use of the cards: one row per option and
 * use. */
static void put_curves(struct strbuf *b, const struct tco_answer *w, bool csv)
{
    const json_t *list = json_object_get(w->json, w->list);
    strbuf_addz(
        b, csv ? "option,use,own_usd_per_year,rent_usd_per_year,breakeven_usd_per_gpu_hour\n"
               : "\nUSD a year by use\noption                 use             own            rent"
                 "  break-even USD/h\n");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i), *c = json_object_get(o, "curves"),
                     *use = json_object_get(c, "use");
        const char *name = json_string_value(json_object_get(o, "name"));
        for (size_t k = 0; k < json_array_size(use); k++) {
            static const char *const key[] = { "own_usd_per_year", "rent_usd_per_year",
                                               "breakeven_usd_per_gpu_hour" };
            const double u = json_number_value(json_array_get(use, k));
            if (csv)
                put_csv_text(b, name, false), strbuf_addf(b, ",%.15g", u);
            else
                strbuf_addf(b, "%-20.20s  %4.2f", name, u);
            for (int j = 0; j < 3; j++) {
                const json_t *v = json_array_get(json_object_get(c, key[j]), k);
                const double x = json_number_value(v);
                if (!json_is_number(v))
                    strbuf_addz(b, csv ? "," : "               -");
                else if (csv)
                    strbuf_addf(b, ",%.15g", x);
                else
                    put_usd_cell(b, 14, x, place_of(x, spread_of(w, i)));
            }
            strbuf_addc(b, '\n');
        }
    }
}

/* ---- printing ---- */

static const char *const band_keys[] = { "p5", "p10", "p50", "p90", "p95" };

static void put_csv(struct strbuf *b, const struct tco_answer *w, const struct column *columns)
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

void tco_print(struct tco_answer *w, const struct tco_print_options *o)
{
    const struct column *columns = strcmp(w->list, "options") == 0 ? plain_columns : run_columns;
    const json_t *list = json_object_get(w->json, w->list);
    struct strbuf b = { 0 };
    if (o->samples > 0) {
        mc_run(&w->risk, &w->model,
               &(struct mc_options){ .samples = o->samples, .seed = o->seed, .quasi = o->quasi },
               w->a);
        w->sampled = true;
        json_object_set_new(w->json, "uncertainty", risk_json(w, o));
        if (w->model.n_inputs == 0) log_warn("no amount has a range: every draw is the same");
    }
    if (o->format == FORMAT_JSON) {
        json_write(w->json, &b);
    } else if (o->format == FORMAT_CSV && o->curves) {
        put_curves(&b, w, true);
    } else if (o->format == FORMAT_CSV && o->by_month) {
        put_months(&b, w, true);
    } else if (o->format == FORMAT_CSV) {
        put_csv(&b, w, columns);
    } else {
        put_table(&b, w, columns);
        put_commitments(&b, w);
        put_against(&b, w);
        put_services(&b, w);
        if (o->by_month) put_months(&b, w, false), put_paybacks(&b, list);
        if (o->curves) put_curves(&b, w, false);
        if (w->sampled) put_risk(&b, w, o);
    }
    fwrite(b.s, 1, b.len, stdout);
    strbuf_fini(&b);
}
