/* test_tco.c - cost against published and hand-computed cases: the sharing case D of the reference,
 * buy-or-rent, who pays for a shared card, and the identities any cost engine must keep. */
#include "support/support.h"

#include "cost/tco.h"

#include <math.h>
#include <string.h>

static const struct gpu_spec l40s = { .name = "l40s", .tdp_W = 350 };
static const struct gpu_spec h100 = { .name = "h100-sxm5-80gb", .tdp_W = 700 };
static const struct gpu_spec generic = { .name = "generic" };

static struct amount usd(double x)
{
    return amount_known(x);
}

static struct price_item once(const char *name, enum price_driver driver, double x, double life)
{
    return (struct price_item){
        .name = name, .driver = driver, .period = PER_ONCE, .amount = usd(x), .life_y = life
    };
}

static struct price_item yearly(const char *name, enum price_driver driver, double x)
{
    return (
        struct price_item){ .name = name, .driver = driver, .period = PER_YEAR, .amount = usd(x) };
}

static struct price_item use(const char *name, enum price_driver driver, double x)
{
    return (
        struct price_item){ .name = name, .driver = driver, .period = PER_USE, .amount = usd(x) };
}

/* A fleet of one group over `hours`, `held` of it allocated, the rest free. */
static struct usage fleet(struct usage_group *g, const struct gpu_spec *gpu, int64_t nodes,
                          int64_t cards, double hours, double held, double kwh)
{
    *g = (struct usage_group){ .gpu = gpu,
                               .nodes = nodes,
                               .cards = cards,
                               .energy_kwh = kwh,
                               .allocated_h = held * (double)cards * hours,
                               .free_h = (1 - held) * (double)cards * hours };
    return (struct usage){ .hours = hours, .group = g, .n_groups = 1 };
}

static double charges(const struct tco_result *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->n_charges; i++) sum += t->charge[i].usd;
    return sum;
}

/* Reference TCO case D: 40 whole or 13 shared L40S for six card-equivalents of work. */
static void case_d_sharing(void **state)
{
    (void)state;
    static const struct {
        int cards;
        double licence, use, npv, eac;
    } rows[] = { { 40, 0, 6.0 / 40, 594033.99, 179351.22 },
                 { 13, 0, 6.0 / 13, 196563.48, 59346.60 },
                 { 13, 4500, 6.0 / 13, 390322.90, 117846.60 } };
    struct arena *a = arena_create();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct price_item items[] = { once("card", PRICE_card, 9750, 4),
                                      once("host", PRICE_card, 4000, 4),
                                      use("energy", PRICE_kwh, 0.10),
                                      yearly("maintenance", PRICE_capital, 0.05),
                                      yearly("licence", PRICE_licence, rows[i].licence) };
        items[0].retention = 0.7;
        const struct price_book book = {
            .name = "D", .pue = 1.4, .rate = 0.08, .term_y = 4, .item = items, .n_items = 5
        };
        struct usage_group g;
        double W = 102.1 + (0.9 * 350 - 102.1) * rows[i].use;
        struct usage u = fleet(&g, &l40s, rows[i].cards, rows[i].cards, 8760, rows[i].use,
                               rows[i].cards * W * 8.760);
        u.useful_gpu_hours = 6 * 8760;
        struct tco_result t = tco_price(&u, "whole", &book, a);
        assert_true(fabs(t.npv_usd - rows[i].npv) < 0.01);
        assert_true(fabs(t.eac_usd - rows[i].eac) < 0.01);
        /* straight line: 13,750 a card over four years, without residual */
        double year = rows[i].cards * (13750 / 4.0 + 687.5 + rows[i].licence) + t.energy_usd;
        assert_close(t.total_usd, year, 1e-12);
        assert_close(t.usd_per_useful_gpu_hour, year / (6 * 8760), 1e-12);
        assert_close(t.energy_usd, rows[i].cards * W * 8.760 * 1.4 * 0.10, 1e-12);
    }
    arena_destroy(a);
}

/* A node of eight for 300,000 over 4 years, 10.2 kW at PUE 1.3, 0.12 USD/kWh, 30,000 a year. */
static void buy_or_rent_node(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct price_item items[] = { once("node", PRICE_node, 300000, 4),
                                        use("energy", PRICE_kwh, 0.12),
                                        yearly("operations", PRICE_constant, 30000) };
    const struct price_book book = {
        .name = "node", .pue = 1.3, .rate = 0.08, .term_y = 4, .item = items, .n_items = 3
    };
    struct usage_group g;
    struct usage u = fleet(&g, &h100, 1, 8, 8760, 1, 10.2 * 8760);
    struct tco_result t = tco_price(&u, NULL, &book, a);
    assert_true(fabs(t.usd_per_year - 118938.91) < 0.005);
    assert_true(fabs(t.usd_per_gpu_hour - 1.6972) < 0.00005);
    assert_true(fabs(t.usd_per_gpu_hour / 2.50 - 0.6789) < 0.00005); /* break-even use */
    u = fleet(&g, &h100, 1, 8, 8760, 1, 0.3 * 10.2 * 8760);          /* idle all year */
    struct tco_result idle = tco_price(&u, NULL, &book, a);
    /* own cost at use x: idle + (t - idle) x; rent: 2.50 x 8 x 8760 x */
    double breakeven = idle.total_usd / (2.50 * 8 * 8760 - (t.total_usd - idle.total_usd));
    assert_true(fabs(breakeven - 0.6599) < 0.00005);
    assert_true(isnan(t.usd_per_job) && isnan(t.usd_per_useful_gpu_hour));
    arena_destroy(a);
}

/* One card at 3 USD/h for an hour. */
static void who_pays_for_a_shared_card(void **state)
{
    (void)state;
    static const struct {
        int tenants;
        double share, stranded, each, idle, lost;
    } rows[] = {
        { 4, 0.25, 0, 0.75, 0, 0 },                   /* four quarters */
        { 2, 0.25, 0, 0.75, 1.50, 0 },                /* two quarters */
        { 1, 0.50, 0, 1.50, 1.50, 0 },                /* one pod with two of four slots */
        { 2, 3.0 / 7, 1.0 / 7, 9.0 / 7, 0, 3.0 / 7 }, /* MIG 3g + 3g: one compute slice stranded */
    };
    struct arena *a = arena_create();
    const struct price_item item = use("card time", PRICE_gpu_hour, 3);
    const struct price_book book = {
        .name = "rent", .pue = 1, .term_y = 1, .item = &item, .n_items = 1
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct usage_tenant who[4];
        struct usage_group g;
        struct usage u = fleet(&g, &l40s, 1, 1, 1, rows[i].tenants * rows[i].share, 0);
        g.stranded_h = rows[i].stranded;
        g.free_h -= rows[i].stranded;
        if (fabs(g.free_h) < 1e-12) g.free_h = 0;
        for (int k = 0; k < rows[i].tenants; k++)
            who[k] = (struct usage_tenant){ .name = "pod",
                                            .allocated_h = rows[i].share,
                                            .billed_h = rows[i].share };
        u.tenant = who;
        u.n_tenants = (size_t)rows[i].tenants;
        struct tco_result t = tco_price(&u, NULL, &book, a);
        assert_int_equal(t.n_charges, u.n_tenants + 3);
        for (size_t k = 0; k < u.n_tenants; k++) assert_close(t.charge[k].usd, rows[i].each, 1e-12);
        assert_string_equal(t.charge[u.n_tenants].name, "(idle)");
        assert_close(t.charge[u.n_tenants].usd, rows[i].idle, 1e-12);
        assert_true(t.charge[u.n_tenants].usd >= 0);
        assert_string_equal(t.charge[u.n_tenants + 1].name, "(stranded)");
        assert_close(t.charge[u.n_tenants + 1].usd, rows[i].lost, 1e-12);
        assert_close(charges(&t), 3, 1e-12);
    }
    arena_destroy(a);
}

/* Reference case H and question A13: unequal slices; seven slices are one card; a card that is held
 * and does nothing is no idle line. */
static void allocation_identities(void **state)
{
    (void)state;
    static const struct {
        int n;
        double share[7];
    } rows[] = { { 3, { 3.0 / 7, 2.0 / 7, 2.0 / 7 } },
                 { 7, { 1.0 / 7, 1.0 / 7, 1.0 / 7, 1.0 / 7, 1.0 / 7, 1.0 / 7, 1.0 / 7 } },
                 { 1, { 1 } } };
    struct arena *a = arena_create();
    const struct price_item item = use("card time", PRICE_gpu_hour, 3);
    const struct price_book book = {
        .name = "rent", .pue = 1, .term_y = 1, .item = &item, .n_items = 1
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct usage_tenant who[7];
        struct usage_group g;
        struct usage u = fleet(&g, &l40s, 1, 1, 1, 1, 0);
        g.duty_h = g.sm_active_h = 0.15;
        for (int k = 0; k < rows[i].n; k++)
            who[k] = (struct usage_tenant){ .name = "pod",
                                            .allocated_h = rows[i].share[k],
                                            .billed_h = rows[i].share[k] };
        u.tenant = who;
        u.n_tenants = (size_t)rows[i].n;
        const struct tco_result t = tco_price(&u, "mig", &book, a);
        for (int k = 0; k < rows[i].n; k++) {
            assert_close(t.charge[k].usd, 3 * rows[i].share[k], 1e-12);
            assert_true(t.charge[k].usd <= 3 * (1 + 1e-12)); /* nobody above the whole card */
        }
        assert_close(t.charge[u.n_tenants].usd, 0, 1e-12); /* (idle) */
        assert_close(charges(&t), 3, 1e-12);
    }
    arena_destroy(a);
}

/* Two kinds of cards, every driver, tenants with energy, a down card: the lines add up. */
static void every_driver_and_charge(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_item items[] = { once("l40s", PRICE_card, 9750, 4),
                                  once("h100", PRICE_card, 31250, 5),
                                  once("rack", PRICE_node, 1000, 10),
                                  use("energy", PRICE_kwh, 0.2),
                                  yearly("colocation", PRICE_peak_kw, 2400),
                                  use("support", PRICE_gpu_hour, 0.01),
                                  use("licence by use", PRICE_allocated_gpu_hour, 0.5),
                                  yearly("layer", PRICE_licence, 100),
                                  yearly("staff", PRICE_fte, 45000),
                                  yearly("audit", PRICE_constant, 5000),
                                  yearly("care", PRICE_capital, 0.1),
                                  once("hall", PRICE_peak_kw, 10000, 12) };
    items[0].gpu = "l40s";
    items[1].gpu = "h100-sxm5-80gb";
    items[7].share = "intercept";
    items[8].per = 34;
    const struct price_book book = {
        .name = "all", .pue = 1.25, .rate = 0, .term_y = 4, .item = items, .n_items = 12
    };
    const struct usage_group g[] = { { .gpu = &l40s,
                                       .nodes = 2,
                                       .cards = 8,
                                       .allocated_h = 100.5,
                                       .free_h = 631.5,
                                       .stranded_h = 20,
                                       .down_h = 48,
                                       .energy_kwh = 150,
                                       .idle_energy_kwh = 40 },
                                     { .gpu = &h100,
                                       .nodes = 1,
                                       .cards = 8,
                                       .allocated_h = 500,
                                       .free_h = 300,
                                       .energy_kwh = 350,
                                       .idle_energy_kwh = 60 } };
    const struct usage_tenant who[] = {
        { .name = "", .allocated_h = 400.25, .billed_h = 400.25, .energy_kwh = 250.5 },
        { .name = "ann", .allocated_h = 200.25, .billed_h = 200.25, .energy_kwh = 149.5 }
    };
    const struct usage u = { .hours = 100,
                             .group = g,
                             .n_groups = 2,
                             .tenant = who,
                             .n_tenants = 2,
                             .jobs_completed = 50,
                             .useful_gpu_hours = 320 };
    struct tco_result t = tco_price(&u, "intercept", &book, a);
    const double y = 100 / 8760.0, kw = (8 * 0.35 + 8 * 0.7) * 1.25,
                 capital = 8 * 9750 + 8 * 31250 + 3 * 1000 + kw * 10000;
    const double want[] = { 78000 * y / 4,    250000 * y / 5,    3000 * y / 10,
                            500 * 1.25 * 0.2, 2400 * kw * y,     16 * 100 * 0.01,
                            600.5 * 0.5,      1600 * y,          45000 * 16 / 34.0 * y,
                            5000 * y,         0.1 * capital * y, 10000 * kw * y / 12 };
    double sum = 0;
    assert_int_equal(t.n_items, 12);
    for (size_t i = 0; i < 12; i++) {
        assert_close(t.item[i].usd, want[i], 1e-12);
        sum += want[i];
    }
    assert_close(t.total_usd, sum, 1e-12);
    assert_close(charges(&t), t.total_usd, 1e-9);
    assert_close(t.usd_per_job, sum / 50, 1e-12);
    assert_close(t.usd_per_gpu_hour, sum / 1600, 1e-12);
    const struct tco_rates hour = tco_rates(&book, "intercept", &u);
    assert_close(t.charge[1].usd,
                 200.25 * (hour.card_usd + hour.held_usd) + 149.5 * tco_kwh_usd(&book), 1e-12);
    assert_close(tco_kwh_usd(&book), 0.25, 1e-15);
    /* another sharing kind does not pay for the layer */
    struct tco_result mig = tco_price(&u, "mig", &book, a);
    assert_int_equal(mig.n_items, 11);
    assert_close(mig.total_usd, sum - 1600 * y, 1e-12);
    arena_destroy(a);
}

static void card_hour_rate(void **state)
{
    (void)state;
    struct price_item items[] = { once("card", PRICE_card, 35040, 4),
                                  once("node", PRICE_node, 17520, 2),
                                  use("energy", PRICE_kwh, 0.1),
                                  yearly("care", PRICE_capital, 0.05),
                                  use("fee", PRICE_allocated_gpu_hour, 0.25),
                                  yearly("site", PRICE_constant, 1e6) };
    const struct price_book book = {
        .name = "r", .pue = 1.5, .rate = 0, .term_y = 4, .item = items, .n_items = 6
    };
    assert_close(tco_kwh_usd(&book), 0.15, 1e-15);
    const struct usage_group g = { .gpu = &l40s, .nodes = 2, .cards = 16 };
    const struct usage u = { .group = &g, .n_groups = 1 };
    const struct tco_rates hour = tco_rates(&book, "mps", &u);
    /* 1 + 17520/2/8760/8 + 0.05 x (35040 + 17520/8) / 8760, and a part of the site */
    assert_close(hour.card_usd, 1 + 0.125 + 0.05 * 37230 / 8760 + 1e6 / 8760 / 16, 1e-12);
    assert_close(hour.held_usd, 0.25, 1e-15);
}

static void finance_identities(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    assert_true(fabs(1000 / tco_annuity(0.08, 4) - 301.920804) < 1e-6);
    assert_close(tco_annuity(0, 4), 4, 0);
    struct price_item items[] = { once("card", PRICE_card, 1000, 4), use("energy", PRICE_kwh, 0.1),
                                  once("switch", PRICE_node, 300, 2) };
    struct price_book book = {
        .name = "f", .pue = 1.2, .rate = 0.08, .term_y = 4, .item = items, .n_items = 3
    };
    struct usage_group g;
    struct usage u = fleet(&g, &l40s, 1, 2, 4380, 0.5, 123.4);
    struct tco_result one = tco_price(&u, NULL, &book, a);
    /* the switch is bought twice; energy of half a year counts double per year */
    double npv = 2000 + 300 + 300 / (1.08 * 1.08) + 2 * 123.4 * 1.2 * 0.1 * tco_annuity(0.08, 4);
    assert_close(one.npv_usd, npv, 1e-12);
    assert_close(one.eac_usd * tco_annuity(0.08, 4), one.npv_usd, 1e-12);
    for (int i = 0; i < 3; i++) items[i].amount = usd(2 * items[i].amount.mode);
    struct tco_result two = tco_price(&u, NULL, &book, a);
    assert_close(two.npv_usd, 2 * one.npv_usd, 1e-12);
    assert_close(two.total_usd, 2 * one.total_usd, 1e-12);
    items[0].retention = 0.7;
    struct tco_result kept = tco_price(&u, NULL, &book, a);
    assert_close(two.npv_usd - kept.npv_usd, 4000 * pow(0.7 / 1.08, 4), 1e-12);
    assert_close(kept.total_usd, two.total_usd, 0); /* straight line ignores it */
    items[0].retention = 0;
    book.term_y = 2.5; /* a broken last year: the card is not replaced, the switch once */
    struct tco_result part = tco_price(&u, NULL, &book, a);
    double energy = 4 * 123.4 * 1.2 * 0.1;
    npv = 4000 + 600 + 600 / (1.08 * 1.08) +
          energy * (1 / 1.08 + 1 / (1.08 * 1.08) + 0.5 * pow(1.08, -2.5));
    assert_close(part.npv_usd, npv, 1e-12);
    arena_destroy(a);
}

static void generic_cards_cost_nothing(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_book book;
    struct err e = { 0 };
    char sha[65];
    struct usage_group g;
    struct usage u = fleet(&g, &generic, 1, 100, 10, 0.4, 0);
    assert_int_equal(price_book_load(&book, a, "scenarios/prices/default.json", NULL, sha, &e), 0);
    struct tco_result t = tco_price(&u, "whole", &book, a);
    assert_close(t.total_usd, 0, 0);
    assert_close(t.npv_usd, 0, 0);
    assert_close(charges(&t), 0, 0);
    const struct gpu_spec unknown = { .name = "x9" };
    u = fleet(&g, &unknown, 1, 1, 1, 1, 0);
    assert_int_equal(tco_check(&u, "whole", &book, &e), ERR_INPUT);
    assert_non_null(strstr(e.msg, "x9"));
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_d_sharing),
        cmocka_unit_test(buy_or_rent_node),
        cmocka_unit_test(who_pays_for_a_shared_card),
        cmocka_unit_test(allocation_identities),
        cmocka_unit_test(every_driver_and_charge),
        cmocka_unit_test(card_hour_rate),
        cmocka_unit_test(finance_identities),
        cmocka_unit_test(generic_cards_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
