/* test_cmd_tco.c - `gpusim tco` in its three forms: plain fleets against reference case D and the
 * buy-or-rent question A12, a stored result priced again, a scenario at a stated use; and
 * everything that it must refuse. */
#include "support/run_command.h"
#include "support/simulate.h"
#include "support/support.h"

#include "base/datadir.h"
#include "cli/command.h"
#include "cost/bookrisk.h"
#include "cost/plain.h"
#include "cost/spares.h"
#include "cost/tco.h"
#include "model/price_date.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct command cmd_tco, cmd_run;

static struct {
    int rc;
    struct err e;
    char *out, *err; /* what it printed */
} last;

static void forget(void)
{
    free(last.out);
    free(last.err);
    memset(&last, 0, sizeof last);
}

/* Runs a command with its words. */
static int run_cmd(const struct command *c, const char *const *words)
{
    const char *dir = temp_dir();
    char out[600], err[600];
    forget();
    snprintf(out, sizeof out, "%s/stdout", dir);
    snprintf(err, sizeof err, "%s/stderr", dir);
    last.rc = run_command(c, words, out, err, &last.e);
    last.out = read_file(out);
    last.err = read_file(err);
    return last.rc;
}

#define run_tco(...) run_cmd(&cmd_tco, (const char *const[]){ __VA_ARGS__, NULL })

/* The last answer as JSON. json_decref() it. */
static json_t *answer(void)
{
    json_error_t e;
    if (last.rc != 0) fail_msg("%d: %s: %s", last.rc, last.e.where, last.e.msg);
    json_t *v = json_loads(last.out, 0, &e);
    if (!v) fail_msg("no JSON: %s", last.out);
    return v;
}

static double num(json_t *root, const char *path)
{
    json_t *v = json_path_get(root, path);
    if (!v) fail_msg("there is no %s", path);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Texts of tests use ' for ". */
static const char *json_file(const char *text)
{
    char *copy = strdup(text);
    for (char *s = copy; *s; s++)
        if (*s == '\'') *s = '"';
    const char *path = temp_file(".json", copy);
    free(copy);
    return path;
}

/* ---- plain fleets ---- */

#define L40S                                                                                       \
    "'gpu': 'l40s', 'card_usd': 9750, 'host_usd': 4000, 'retention': 0.70, 'maintenance': 0.05, "  \
    "'usd_per_kwh': 0.10, 'pue': 1.4, 'idle_ctx_W': 102.1, 'busy_W': 315"

static const char case_d[] =
    "{'format': 'gpusim-tco/1', 'term': '4 y', 'rate': 0.08, 'timing': 'year_end', 'options': ["
    "{'name': 'whole', 'cards': 40, 'use': 0.15, " L40S ", 'rent_usd_per_gpu_hour': 0.99},"
    "{'name': 'shared', 'cards': 13, 'use': 0.46153846153846153, " L40S
    ", 'rent_usd_per_gpu_hour': 0.99},"
    "{'name': 'licensed', 'cards': 13, 'work_cards': 6, " L40S ", "
    "'licence_usd_per_card_year': 4500, 'rent_usd_per_gpu_hour': 0.99},"
    "{'name': 'used', 'cards': 40, 'use': 0.15, 'rent_usd_per_gpu_hour': 1.49},"
    "{'name': 'held', 'cards': 13, 'use': 0.5, 'rent': 'reserved', 'rent_usd_per_gpu_hour': 3.27}]}";

static void case_d_to_the_cent(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        double want, within;
    } rows[] = {
        { "options.whole.capital_usd", 550000, 1e-6 },
        { "options.whole.residual_usd", 93639, 1e-6 },
        { "options.whole.power_W", 134.03, 0.0051 }, /* printed with two digits: 134.035 */
        { "options.whole.per_year.energy_usd", 6575.22, 0.005 },
        { "options.whole.per_year.maintenance_usd", 27500, 1e-6 },
        { "options.whole.npv_usd", 594033.99, 0.01 },
        { "options.whole.eac_usd", 179351.22, 0.01 },
        { "options.whole.usd_per_gpu_hour", 0.5118, 5e-5 },
        { "options.whole.usd_per_used_gpu_hour", 3.4123, 5e-5 },
        { "options.shared.capital_usd", 178750, 1e-6 },
        { "options.shared.residual_usd", 30432.67, 0.01 },
        { "options.shared.power_W", 200.36, 0.005 },
        { "options.shared.per_year.energy_usd", 3194.40, 0.005 },
        { "options.shared.per_year.maintenance_usd", 8937.50, 1e-6 },
        { "options.shared.npv_usd", 196563.48, 0.01 },
        { "options.shared.eac_usd", 59346.60, 0.01 },
        { "options.shared.usd_per_gpu_hour", 0.5211, 5e-5 },
        { "options.shared.usd_per_used_gpu_hour", 1.1291, 5e-5 },
        { "options.licensed.npv_usd", 390322.90, 0.01 },
        { "options.licensed.eac_usd", 117846.60, 0.01 },
        { "options.licensed.use", 6.0 / 13, 1e-12 },
        { "options.licensed.usd_per_gpu_hour", 1.0348, 5e-5 },
        { "options.licensed.usd_per_used_gpu_hour", 2.2421, 5e-5 },
        { "options.used.eac_usd", 78314.40, 0.01 },
        { "options.held.eac_usd", 372387.60, 0.01 },
    };
    run_tco(json_file(case_d), "--format", "json");
    json_t *v = answer();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double got = num(v, rows[i].path);
        if (!(fabs(got - rows[i].want) <= rows[i].within))
            fail_msg("%s: %.9g, expected %.9g", rows[i].path, got, rows[i].want);
    }
    /* 40 cards for six cards' work never pay for themselves within the term */
    assert_true(isnan(num(v, "options.whole.breakeven_months")));
    /* at its break-even use an option costs what it would cost to rent */
    const double x = num(v, "options.whole.breakeven_use"), W = 102.1 + (315 - 102.1) * x,
                 eac = (num(v, "options.whole.npv_usd") - 6575.22096 * cashflow_annuity(0.08, 4)) /
                           cashflow_annuity(0.08, 4) +
                       40 * W * 8.76 * 1.4 * 0.10;
    assert_close(eac, 0.99 * 40 * 8760 * x, 1e-9);
    json_decref(v);
}

/* Owning costs the same as the break-even price; the month is where present values meet. */
static void break_evens_hold(void **state)
{
    (void)state;
    run_tco(
        json_file(
            "{'format': 'gpusim-tco/1', 'options': [{'name': 'a', 'cards': 13, 'use': 0.6, " L40S
            ", 'rent_usd_per_gpu_hour': 2.385, 'lost_work': 0.25}]}"),
        "--format", "json");
    json_t *v = answer();
    const double price = num(v, "options.a.breakeven_price_usd"),
                 m = num(v, "options.a.breakeven_months"), r = cashflow_monthly_rate(0.08),
                 a = cashflow_annuity(r, m),
                 own = num(v, "options.a.per_year.energy_usd") +
                       num(v, "options.a.per_year.maintenance_usd");
    assert_close(price * 1.25 * 13 * 8760 * 0.6, num(v, "options.a.eac_usd"), 1e-12);
    assert_close(178750 + own / 12 * a, 2.385 * 1.25 * 13 * 730 * 0.6 * a, 1e-10);
    json_decref(v);
}

#define NODE                                                                                       \
    "'cards': 8, 'use': 1, 'card_usd': 37500, 'operations_usd_per_year': 30000, "                  \
    "'usd_per_kwh': 0.12, 'pue': 1.3, 'busy_W': 1275"

/* A12: a node for 300,000, 4 years straight line, 10.2 kW at PUE 1.3, 0.12; rent 2.50. */
static void buy_or_rent(void **state)
{
    (void)state;
    run_tco(json_file(
                "{'format': 'gpusim-tco/1', 'term': '4 y', 'rate': 0, 'options': ["
                "{'name': 'constant', " NODE ", 'idle_ctx_W': 1275, 'rent_usd_per_gpu_hour': 2.5},"
                "{'name': 'linear', " NODE ", 'idle_ctx_W': 382.5, 'rent_usd_per_gpu_hour': 2.5},"
                "{'name': 'double', " NODE ", 'idle_ctx_W': 1275, 'rent_usd_per_gpu_hour': 5},"
                "{'name': 'reserved', " NODE
                ", 'idle_ctx_W': 382.5, 'rent': 'reserved', 'rent_usd_per_gpu_hour': 2.5},"
                "{'name': 'cheap', " NODE ", 'idle_ctx_W': 382.5, 'rent_usd_per_gpu_hour': 1.6}]}"),
            "--format", "json");
    json_t *v = answer();
    assert_true(fabs(num(v, "options.constant.eac_usd") - 118938.91) < 0.005);
    assert_true(fabs(num(v, "options.constant.usd_per_used_gpu_hour") - 1.6972) < 5e-5);
    assert_true(fabs(num(v, "options.constant.breakeven_use") - 0.6789) < 5e-5);
    assert_true(fabs(num(v, "options.linear.breakeven_use") - 0.6599) < 5e-5);
    assert_close(num(v, "options.double.breakeven_use"),
                 num(v, "options.constant.breakeven_use") / 2, 1e-12);
    assert_true(isnan(num(v, "options.reserved.breakeven_use")));
    assert_contains(
        json_string_value(json_path_get(v, "options.reserved.no_breakeven_use_because")),
        "around the clock");
    assert_true(fabs(num(v, "options.reserved.breakeven_price_usd") - 1.6972) < 5e-5);
    assert_true(isnan(num(v, "options.cheap.breakeven_use")));
    json_decref(v);
    run_tco(
        json_file("{'format': 'gpusim-tco/1', 'rate': 0, 'options': [{'name': 'r', " NODE
                  ", 'idle_ctx_W': 382.5, 'rent': 'reserved', 'rent_usd_per_gpu_hour': 1.6}]}"));
    assert_int_equal(last.rc, 0);
    assert_contains(last.out, "none");
}

/* Spares by availability, whole nodes, the powers of the catalogue. */
static void spares_and_nodes(void **state)
{
    (void)state;
    run_tco(json_file("{'format': 'gpusim-tco/1', 'options': ["
                      "{'name': 'a', 'cards': 136, 'use': 0.5, 'gpu': 'l40s', 'card_usd': 9750, "
                      "'usd_per_kwh': 0.1, 'availability': 0.999, 'cards_per_node': 8}]}"),
            "--format", "json");
    json_t *v = answer();
    assert_close(num(v, "options.a.spares"), 4, 0);
    assert_close(num(v, "options.a.bought"), 144, 0);
    assert_close(num(v, "options.a.capital_usd"), 144 * 9750, 1e-12);
    assert_close(num(v, "options.a.power_W"), (102.1 + 315) / 2, 1e-9);
    assert_string_equal(last.err, "");
    json_decref(v);
    run_tco(
        json_file("{'format': 'gpusim-tco/1', 'options': [{'name': 'a', 'cards': 1, 'use': 0.5, "
                  "'gpu': 'l40s', 'card_usd': 9750, 'usd_per_kwh': 0.1, 'busy_W': 700}]}"));
    assert_contains(last.err, "above the board power of l40s, 350 W");
}

/* Case D by month: capital first, a year's costs at each year's end, the resale at the last. */
static void paid_by_month(void **state)
{
    (void)state;
    const char *path = json_file(case_d);
    run_tco(path, "--by-month", "--format", "json");
    json_t *v = answer();
    assert_int_equal(json_array_size(json_path_get(v, "options.shared.paid_by_month_usd")), 49);
    assert_close(num(v, "options.shared.paid_by_month_usd.0"), 178750, 0);
    assert_close(num(v, "options.shared.paid_by_month_usd.11"), 178750, 0);
    const double year = num(v, "options.shared.per_year.energy_usd") + 8937.5;
    assert_close(num(v, "options.shared.paid_by_month_usd.12"), 178750 + year, 1e-12);
    assert_close(num(v, "options.shared.paid_by_month_usd.48"),
                 178750 + 4 * year - num(v, "options.shared.residual_usd"), 1e-12);
    assert_close(num(v, "options.used.paid_by_month_usd.24"), 2 * 78314.4, 1e-12);
    json_decref(v);
    run_tco(path, "--by-month", "--format", "csv");
    assert_contains(last.out,
                    "month,whole,shared,licensed,used,held\n0,550000,178750,178750,0,0\n1,");
    assert_contains(last.out, "\n48,");
    run_tco(path, "--by-month");
    assert_contains(last.out, "\n   24  ");
}

/* Case I, by whole cards: demand uniform, 1.30 reserved against 3.25 on demand: hold 60 of 100. */
static void base_and_peak(void **state)
{
    (void)state;
    char text[2000] =
        "{'format': 'gpusim-tco/1', 'rate': 0, 'options': [{'name': 'a', 'cards': 50, "
        "'use': 1, 'rent': 'reserved', 'rent_usd_per_gpu_hour': 1.3, "
        "'on_demand_usd_per_gpu_hour': 3.25, 'demand': [";
    for (int i = 99; i >= 0; i--) /* in any order; middle of each card */
        snprintf(text + strlen(text), sizeof text - strlen(text), "[%d.5, 1]%s", i,
                 i ? "," : "]}]}");
    run_tco(json_file(text), "--format", "json");
    json_t *v = answer();
    assert_close(num(v, "options.a.commit_cards"), 59.5, 0);
    assert_close(num(v, "options.a.commit_usd_per_year"), 104 * 8760, 1e-12);
    json_decref(v);
    run_tco(json_file(text));
    assert_contains(last.out, "a: hold 59.5 cards and rent what is wanted above: 911,000 USD");
}

/* Swings of the saving that the reference prints for case D (its text, to its two digits). */
static void published_swings(void **state)
{
    (void)state;
    static const struct {
        const char *key, *range;
        double swing, within;
    } rows[] = { { "card_usd", "{'low': 7800, 'mode': 9750, 'high': 11700}", 31000, 1000 },
                 { "host_usd", "{'low': 2000, 'mode': 4000, 'high': 6000}", 38000, 1000 },
                 { "maintenance", "{'low': 0.02, 'mode': 0.05, 'high': 0.10}", 30000, 1000 },
                 { "retention", "{'low': 0.55, 'mode': 0.70, 'high': 0.88}", 30000, 1000 },
                 { "usd_per_kwh", "{'low': 0.05, 'mode': 0.10, 'high': 0.20}", 5000, 500 },
                 { "pue", "{'low': 1.2, 'mode': 1.4, 'high': 1.6}", 1000, 100 },
                 { "rate", "{'low': 0.05, 'mode': 0.08, 'high': 0.12}", 19000, 500 },
                 { "cards", "{'low': 11, 'mode': 13, 'high': 20}", 40000, 500 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2600], extra[200] = "", rate[200] = "0.08", cards[100] = "13";
        if (strcmp(rows[i].key, "rate") == 0)
            snprintf(rate, sizeof rate, "%s", rows[i].range);
        else if (strcmp(rows[i].key, "cards") == 0)
            snprintf(cards, sizeof cards, "%s", rows[i].range);
        else
            snprintf(extra, sizeof extra, "%s", rows[i].range);
        static const char *const keys[] = { "card_usd",    "host_usd",    "retention",
                                            "maintenance", "usd_per_kwh", "pue" };
        static const char *const fixed[] = { "9750", "4000", "0.70", "0.05", "0.10", "1.4" };
        char body[800] = "'idle_ctx_W': 102.1, 'busy_W': 315, 'work_cards': 6";
        for (size_t k = 0; k < 6; k++)
            snprintf(body + strlen(body), sizeof body - strlen(body), ", '%s': %s", keys[k],
                     *extra && strcmp(keys[k], rows[i].key) == 0 ? extra : fixed[k]);
        snprintf(
            text, sizeof text,
            "{'format': 'gpusim-tco/1', 'rate': %s, 'options': [{'name': 'whole', 'cards': 40, %s},"
            "{'name': 'shared', 'cards': %s, %s}]}",
            rate, body, cards, body);
        run_tco(json_file(text), "--format", "json", "--monte-carlo", "500");
        json_t *v = answer();
        assert_int_equal(json_array_size(json_path_get(v, "uncertainty.tornado")), 1);
        const double got = num(v, "uncertainty.tornado.0.swing_usd");
        if (fabs(got - rows[i].swing) > rows[i].within) fail_msg("%s: %.0f", rows[i].key, got);
        assert_close(num(v, "uncertainty.options.shared.p_cheapest"), 1, 1e-12);
        json_decref(v);
    }
}

/* The switching value is where both options cost the same; draws repeat. */
static void the_choice_flips(void **state)
{
    (void)state;
    const char *path = json_file(
        "{'format': 'gpusim-tco/1', 'options': [{'name': 'own', 'cards': 13, 'work_cards': 6, " L40S
        "}, {'name': 'rent', 'cards': 13, 'work_cards': 6, "
        "'rent_usd_per_gpu_hour': {'low': 0.99, 'mode': 1.49, 'high': 3.5}}]}");
    run_tco(path, "--format", "json", "--monte-carlo", "2000", "--seed", "5");
    json_t *v = answer();
    char *first = strdup(last.out);
    assert_true(fabs(num(v, "uncertainty.tornado.0.switching_value") - 1.1291) < 5e-5);
    assert_string_equal(json_string_value(json_path_get(v, "uncertainty.tornado.0.switches_to")),
                        "rent");
    /* P(rent < 1.1291) of the triangle */
    const struct amount rent = { .low = 0.99, .mode = 1.49, .high = 3.5 };
    assert_true(fabs(num(v, "uncertainty.options.rent.p_cheapest") -
                     amount_share_below(&rent, 1.12912)) < 0.01);
    assert_close(num(v, "uncertainty.options.own.eac_usd.p5"), num(v, "options.own.eac_usd"),
                 1e-12);
    json_decref(v);
    run_tco(path, "--format", "json", "--monte-carlo", "2000", "--seed", "5");
    assert_string_equal(last.out, first);
    run_tco(path, "--format", "json", "--monte-carlo", "2000", "--seed", "6");
    assert_true(strcmp(last.out, first) != 0);
    free(first);
}

/* Doubling every price doubles every cost; cost grows with price, PUE and failures (P04, P10). */
static void doubling_prices(void **state)
{
    (void)state;
    struct plain_option o = { .name = "o",
                              .owned = true,
                              .cards_per_node = 4,
                              .availability = 0.99,
                              .failure_rate = 0.11,
                              .repair_days = 17 };
    const double v[PLAIN_KEYS] = { [PLAIN_cards] = 29,
                                   [PLAIN_use] = 0.37,
                                   [PLAIN_work_cards] = NAN,
                                   [PLAIN_card_usd] = 8123,
                                   [PLAIN_host_usd] = 3001,
                                   [PLAIN_retention] = 0.66,
                                   [PLAIN_maintenance] = 0.043,
                                   [PLAIN_usd_per_kwh] = 0.2,
                                   [PLAIN_pue] = 1.31,
                                   [PLAIN_idle_ctx_W] = 77,
                                   [PLAIN_busy_W] = 291,
                                   [PLAIN_licence_usd_per_card_year] = 99,
                                   [PLAIN_operations_usd_per_year] = 12345,
                                   [PLAIN_rent_usd_per_gpu_hour] = 1.23 };
    static const int prices[] = { PLAIN_card_usd,
                                  PLAIN_host_usd,
                                  PLAIN_usd_per_kwh,
                                  PLAIN_licence_usd_per_card_year,
                                  PLAIN_operations_usd_per_year,
                                  PLAIN_rent_usd_per_gpu_hour };
    for (int k = 0; k < PLAIN_KEYS; k++) o.value[k] = amount_known(v[k]);
    const struct plain_fleet f = { "f", &o, 1, amount_known(0.07), 5, CASH_MONTH_END };
    const struct plain_cost one = plain_price(&f, 0);
    for (size_t i = 0; i < 6; i++) o.value[prices[i]].mode *= 2;
    const struct plain_cost two = plain_price(&f, 0);
    assert_close(two.npv_usd, 2 * one.npv_usd, 1e-14);
    assert_close(two.eac_usd, 2 * one.eac_usd, 1e-14);
    assert_close(two.breakeven_use, one.breakeven_use, 1e-12);
    assert_close(two.breakeven_price_usd, 2 * one.breakeven_price_usd, 1e-14);
    for (size_t i = 0; i < 6; i++) o.value[prices[i]].mode /= 2;
    static const int grow[] = { PLAIN_card_usd, PLAIN_pue, PLAIN_maintenance, PLAIN_busy_W };
    for (size_t i = 0; i < 4; i++) {
        o.value[grow[i]].mode *= 1.1;
        assert_true(plain_price(&f, 0).eac_usd > one.eac_usd);
        o.value[grow[i]].mode /= 1.1;
    }
    o.failure_rate = 2;
    assert_true(plain_price(&f, 0).eac_usd > one.eac_usd);
    o.failure_rate = 0.11;
    o.value[PLAIN_retention].mode = 0; /* no residual: as if none were sold */
    assert_close(plain_price(&f, 0).residual_usd, 0, 0);
}

static void bad_fleets(void **state)
{
    (void)state;
    static const struct {
        const char *option, *says;
    } rows[] = {
        { "{'name': 'a', 'cards': 4}", "missing \"use\"" },
        { "{'cards': 4, 'use': 0.5, 'rent_usd_per_gpu_hour': 1}", "name" },
        { "{'name': 'a', 'use': 0.5, 'rent_usd_per_gpu_hour': 1}", "missing \"cards\"" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5}", "missing \"rent_usd_per_gpu_hour\"" },
        { "{'name': 'a', 'cards': 4, 'use': 1.5, 'rent_usd_per_gpu_hour': 1}", "from 0 to 1" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'rent_usd_per_gpu_hour': -1}", "found -1" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'rent_usd_per_gpu_hour': '1'}", "found \"1\"" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'card_usd': 9000}", "missing \"busy_W\"" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'card_usd': 9000, 'gpu': 'l40s'}",
          "missing \"usd_per_kwh\"" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'card_usd': 9000, 'gpu': 'l40x'}", "l40x" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'card_usd': 9000, 'gpu': 'l40s', 'usd_per_kwh': 1, "
          "'idle_ctx_W': 400}",
          "idle_ctx_W <= busy_W" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'work_cards': 2, 'rent_usd_per_gpu_hour': 1}",
          "found both" },
        { "{'name': 'a', 'cards': 4, 'work_cards': 5, 'rent_usd_per_gpu_hour': 1}",
          "does not fit" },
        { "{'name': 'a', 'cards': 4, 'use': {'low': 0.5, 'mode': 0.4, 'high': 1}, "
          "'rent_usd_per_gpu_hour': 1}",
          "low <= mode <= high" },
        { "{'name': 'a', 'cards': 4, 'use': {'low': 0.5, 'high': 1}, 'rent_usd_per_gpu_hour': 1}",
          "missing \"mode\"" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'rent_usd_per_gpu_hour': 1, 'crad_usd': 3}",
          "unknown key" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'rent_usd_per_gpu_hour': 1, 'rent': 'spot'}",
          "on_demand" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'card_usd': 1, 'gpu': 'l40s', 'usd_per_kwh': 1, "
          "'availability': 0.99, 'failure_rate': 100, 'repair_days': 365}",
          "no number of spares" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'rent_usd_per_gpu_hour': 1, 'demand': [[1]]}",
          "expected [cards, hours]" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'rent_usd_per_gpu_hour': 1, 'demand': []}",
          "with some hours" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'rent_usd_per_gpu_hour': 1, 'rent': 'reserved', "
          "'demand': [[1, 1]]}",
          "the price of the peak" },
        { "7", "expected an object" },
        { "{'name': 'a', 'cards': 4, 'use': 0.5, 'rent_usd_per_gpu_hour': 1}, "
          "{'name': 'a', 'cards': 4, 'use': 0.5, 'rent_usd_per_gpu_hour': 1}",
          "a second option" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1000];
        snprintf(text, sizeof text, "{'format': 'gpusim-tco/1', 'options': [%s]}", rows[i].option);
        assert_int_equal(run_tco(json_file(text)), ERR_INPUT);
        assert_contains(last.e.msg, rows[i].says);
        assert_contains(last.e.where, "/options");
        assert_string_equal(last.out, "");
    }
    static const struct {
        const char *text, *says;
    } tops[] = {
        { "{'format': 'gpusim-tco/1', 'options': []}", "at least one option" },
        { "{'format': 'gpusim-tco/1', 'currency': 'CNY', 'options': []}", "expected USD" },
        { "{'format': 'gpusim-tco/1', 'rate': 8, 'options': []}", "from 0 to 1" },
        { "{'format': 'gpusim-tco/1', 'timing': 'daily', 'options': []}", "year_end" },
        { "{'format': 'gpusim-tco/1', 'term': 4, 'options': []}", "duration" },
        { "{'format': 'gpusim-tco/2', 'options': []}", "expected gpusim-tco/1" },
        { "[]", "expected gpusim-tco/1" },
    };
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        assert_int_equal(run_tco(json_file(tops[i].text)), ERR_INPUT);
        assert_contains(last.e.msg, tops[i].says);
    }
}

static void bad_usage(void **state)
{
    (void)state;
    const char *plain = json_file(case_d);
    assert_int_equal(run_tco(plain, plain), ERR_USAGE);
    assert_int_equal(run_tco(plain, "--use", "0.4"), ERR_USAGE);
    assert_int_equal(run_tco(plain, "--use", "1.4"), ERR_USAGE);
    assert_int_equal(run_tco(plain, "--prices", plain), ERR_USAGE);
    assert_int_equal(run_tco(plain, "--as-of", "2026-13"), ERR_USAGE);
    assert_int_equal(run_tco(plain, "--as-of", "yesterday"), ERR_USAGE);
    assert_int_equal(run_tco(plain, "--monte-carlo", "100000000000"), ERR_USAGE);
    assert_int_equal(run_tco("/nowhere.json"), ERR_IO);
}

/* ---- runs and scenarios ---- */

static const char trace[] = "job_id,submit_s,duration_s,gpus,user\n"
                            "a,0,3600.25,1,ann\nb,7,7201.5,2,bob\nc,60,1234.567,0.25,ann\n";

static const char scenario[] =
    "{'format': 'gpusim-scenario/1', 'name': 'small', "
    "'fleet': [{'name': 'f', 'gpu': 'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 4}], "
    "'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}], "
    "'policies': [{'name': 'whole', 'share': {'kind': 'whole'}}, "
    "{'name': 'slots', 'share': {'kind': 'timeslice', 'slots': 4}}], 'prices': 'book.json'}";

static const char book[] =
    "{'format': 'gpusim-prices/1', 'name': 'b', 'currency': 'USD', 'as_of': '2026-08', 'pue': 1.37, "
    "'items': ["
    "{'name': 'card', 'driver': 'card', 'gpu': 'a100-sxm-40', 'retention': 0.7, 'date': '2025-03', "
    "'amount': {'low': 10000, 'mode': 12500, 'high': 15000}}, "
    "{'name': 'energy', 'driver': 'kwh', 'amount': 0.113, 'date': '2026-07-01'}, "
    "{'name': 'other card', 'driver': 'card', 'gpu': 'l4', 'amount': 2500, 'date': '2019'}, "
    "{'name': 'layer', 'driver': 'licence', 'share': 'timeslice', "
    "'amount': {'low': 0, 'mode': 70, 'high': 90}}]}";

static char *text_of(const char *quoted)
{
    char *copy = strdup(quoted);
    for (char *s = copy; *s; s++)
        if (*s == '\'') *s = '"';
    return copy;
}

static void stored_result_priced_again(void **state)
{
    (void)state;
    char *book_text = text_of(book);
    const struct sim_file files[] = { { "book.json", book_text }, { NULL, NULL } };
    const char *path = sim_write(scenario, trace, files);
    const char *dir = temp_dir(), *prices = json_file(book);
    char result[700];
    snprintf(result, sizeof result, "%s/result.json", dir);
    run_cmd(&cmd_run, (const char *const[]){ path, "-o", dir, "--no-report", "--quiet", NULL });
    if (last.rc != 0) fail_msg("%s: %s", last.e.where, last.e.msg);
    json_t *ran = json_load_file(result, 0, NULL);
    run_tco(dir, "--prices", prices, "--format", "json"); /* a folder, and an alias in the book */
    json_t *again = answer();
    for (size_t p = 0; p < 2; p++)
        assert_true(json_equal(
            json_object_get(json_array_get(json_object_get(ran, "policies"), p), "tco"),
            json_object_get(json_array_get(json_object_get(again, "policies"), p), "tco")));
    assert_contains(last.err, "1 of 3 prices are more than a year old on 2026-08");
    assert_contains(last.err, "\"card\", is of 2025-03");
    run_tco(result, "--prices", prices, "--as-of", "2026-01-15");
    assert_string_equal(last.err, "");
    json_decref(again);
    run_tco(result, "--format", "json"); /* without a book: what the run found */
    again = answer();
    assert_true(
        json_equal(json_object_get(json_array_get(json_object_get(ran, "policies"), 1), "tco"),
                   json_object_get(json_array_get(json_object_get(again, "policies"), 1), "tco")));
    json_decref(again);
    json_decref(ran);
    run_tco(result, "--prices", prices, "--monte-carlo", "1000", "--format", "json");
    json_t *v = answer();
    assert_int_equal(json_array_size(json_path_get(v, "uncertainty.tornado")), 2);
    assert_close(num(v, "uncertainty.options.whole.eac_usd_at_modes"),
                 num(v, "policies.whole.tco.eac_usd"), 1e-12);
    assert_close(num(v, "uncertainty.options.whole.p_cheapest") +
                     num(v, "uncertainty.options.slots.p_cheapest"),
                 1, 1e-9);
    json_decref(v);
    assert_int_equal(run_tco(result, "--monte-carlo", "10"), ERR_USAGE);
    assert_int_equal(run_tco(result, "--use", "0.5"), ERR_USAGE);
    assert_int_equal(
        run_tco(result, "--prices",
                json_file("{'format': 'gpusim-prices/1', 'items': [{'name': 'x', 'driver': 'card', "
                          "'gpu': 'l4', 'amount': 1}]}")),
        ERR_INPUT);
    assert_contains(last.e.msg, "a100-sxm4-40gb");
    free(book_text);
}

static void scenario_at_a_use(void **state)
{
    (void)state;
    char *book_text = text_of(book);
    const struct sim_file files[] = { { "book.json", book_text }, { NULL, NULL } };
    const char *path = sim_write(scenario, trace, files);
    struct gpu_catalogue *gpus;
    struct err e = { 0 };
    assert_int_equal(gpu_catalogue_load(&gpus, NULL, &e), 0);
    const struct gpu_spec *g = gpu_find(gpus, "a100-sxm4-40gb", NULL);
    run_tco(path, "--use", "0.4", "--format", "json");
    json_t *v = answer();
    const double kwh = 4 * gpu_power_W(g, true, 0.4) * 8.76,
                 year = 4 * 12500 / 4.0 + kwh * 1.37 * 0.113;
    assert_close(num(v, "policies.whole.tco.total_usd"), year, 1e-12);
    assert_close(num(v, "policies.whole.tco.usd_per_useful_gpu_hour"), year / (4 * 8760 * 0.4),
                 1e-12);
    assert_close(num(v, "policies.slots.tco.total_usd"), year + 4 * 70, 1e-12);
    double sum = 0;
    for (size_t i = 0; i < 4; i++) {
        char at[60];
        snprintf(at, sizeof at, "policies.whole.tco.chargeback.%zu.usd", i);
        sum += num(v, at);
    }
    assert_close(sum, year, 1e-12);
    json_decref(v);
    run_tco(path, "--use", "0", "--format", "csv");
    assert_int_equal(last.rc, 0);
    assert_contains(last.out, "name,kind,total_usd,");
    assert_contains(last.out, "\nslots,timeslice,");
    run_tco(path, "--use", "0.5", "--set", "fleet.f.nodes=3", "--format", "json");
    v = answer();
    assert_close(num(v, "policies.whole.tco.items.0.quantity"), 12, 0);
    json_decref(v);
    assert_int_equal(run_tco(path), ERR_USAGE);
    assert_int_equal(run_tco(path, "--use", "0.5", "--curves"), ERR_USAGE);
    run_tco(path, "--use", "0.5", "--by-month"); /* 8 cards at 9750 USD at once */
    assert_contains(last.out, "Paid by the end of month, USD");
    assert_int_equal(run_tco(path, "--use", "0.5", "--set", "fleet.f.nodes=-3"), ERR_INPUT);
    gpu_catalogue_destroy(gpus);
    free(book_text);
}

/* ---- the shipped price books ---- */

static void ages(void **state)
{
    (void)state;
    assert_close(price_age_years("2024-02-28", "2024-03-01"), 2 / 365.25, 1e-12);
    assert_close(price_age_years("2025-11-30", "2026-11-30"), 365 / 365.25, 1e-12);
    assert_close(price_age_years("2024-11", "2024-12"), 1 / 365.25, 1e-12); /* from its last day */
    assert_close(price_age_years("2024", "2025"), 1 / 365.25, 1e-12);
    assert_true(isnan(price_age_years("not stated", "2025")));
    assert_true(isnan(price_age_years("2024-13", "2025")));
    assert_true(isnan(price_age_years("2024-1", "2025")));
    assert_true(isnan(price_age_years("2024-11-30 ", "2025")));
    assert_true(isnan(price_age_years(NULL, "2025")));
}

/* Slices fill a card at the price of the vendor's table; spot pays for lost hours again. */
static void rented_slices_and_spot(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct gpu_spec t4 = { .name = "t4" };
    struct usage_group g = {
        .gpu = &t4, .nodes = 1, .cards = 4, .allocated_h = 100, .free_h = 300
    };
    const struct usage u = { .hours = 100, .group = &g, .n_groups = 1, .useful_gpu_hours = 80 };
    struct price_item slice = { .name = "quarter",
                                .driver = PRICE_allocated_gpu_hour,
                                .period = PER_USE,
                                .amount = { .low = 1.96, .mode = 1.96, .high = 1.96 } };
    const struct price_book b = {
        .name = "r", .pue = 1, .term_y = 1, .item = &slice, .n_items = 1
    };
    assert_close(tco_price(&u, "mig", &b, a).total_usd, 400 * 0.49, 1e-12);
    slice.lost_work = 0.08;
    assert_close(tco_price(&u, "mig", &b, a).total_usd, 400 * 0.49 * 1.08, 1e-12);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_d_to_the_cent),
        cmocka_unit_test(break_evens_hold),
        cmocka_unit_test(buy_or_rent),
        cmocka_unit_test(spares_and_nodes),
        cmocka_unit_test(base_and_peak),
        cmocka_unit_test(paid_by_month),
        cmocka_unit_test(published_swings),
        cmocka_unit_test(the_choice_flips),
        cmocka_unit_test(doubling_prices),
        cmocka_unit_test(bad_fleets),
        cmocka_unit_test(bad_usage),
        cmocka_unit_test(stored_result_priced_again),
        cmocka_unit_test(scenario_at_a_use),
        cmocka_unit_test(ages),
        cmocka_unit_test(rented_slices_and_spot),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    forget();
    return failed;
}
