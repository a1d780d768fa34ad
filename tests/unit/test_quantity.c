/* test_quantity.c - drivers with answers worked out by hand: billing steps, commitment against the
 * newsvendor case of the reference, owned bases, spares, racks, spot, carbon. */
#include "support/support.h"

#include "cost/against.h"
#include "cost/bookrisk.h"
#include "cost/quantity.h"
#include "cost/tco.h"

#include <math.h>
#include <string.h>

static const struct gpu_spec l40s = { .name = "l40s", .tdp_W = 350 };

static struct price_item item(const char *name, enum price_driver d, enum price_period p, double x)
{
    return (struct price_item){
        .name = name, .driver = d, .period = p, .amount = amount_known(x), .life_y = 4
    };
}

static struct price_book book_of(const struct price_item *items, size_t n)
{
    return (struct price_book){ .name = "b",
                                .pue = 1.5,
                                .rate = 0.08,
                                .term_y = 4,
                                .item = items,
                                .n_items = n,
                                .grid_g_per_kwh = NAN,
                                .embodied_kg = NAN,
                                .embodied_life_y = 4 };
}

/* 100 cards, demand 0 .. 100 alike often over 1,000 hours. */
static struct demand_level level[101];
static struct usage_group uniform_demand(void)
{
    for (int k = 0; k <= 100; k++) level[k] = (struct demand_level){ k, 1000.0 / 101 };
    return (struct usage_group){ .gpu = &l40s,
                                 .nodes = 25,
                                 .cards = 100,
                                 .allocated_h = 50000,
                                 .free_h = 50000,
                                 .occupied_h = 50000,
                                 .demand = level,
                                 .n_demand = 101,
                                 .energy_kwh = 9000,
                                 .idle_energy_kwh = 3000 };
}

/* Reference case I: P(demand > K) = 1.3 / 3.25 = 0.4, so K = 60 of 100. */
static void commitment(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct price_item items[] = {
        item("base", PRICE_committed_gpu_hour, PER_USE, 1.3),
        item("peak", PRICE_overflow_gpu_hour, PER_USE, 3.25),
    };
    const struct price_book b = book_of(items, 2);
    const struct usage_group g = uniform_demand();
    const struct usage u = { .hours = 1000, .group = &g, .n_groups = 1, .useful_gpu_hours = 50000 };
    const struct tco_result t = tco_price(&u, "whole", &b, a);
    assert_close(t.base_cards, 60, 0);
    assert_close(t.item[0].usd, 60 * 1000 * 1.3, 1e-12);
    /* sum of k - 60 over 61 .. 100 is 820 of 101 levels */
    assert_close(t.item[1].quantity, 820 * 1000.0 / 101, 1e-12);
    assert_close(t.total_usd / 1000, 60 * 1.3 + 820 / 101.0 * 3.25, 1e-12);
    /* charges close, and renting the peak is no idle cost */
    double sum = 0;
    for (size_t i = 0; i < t.n_charges; i++) sum += t.charge[i].usd;
    assert_close(sum, t.total_usd, 1e-9);
    arena_destroy(a);
}

/* Egress and storage follow the rent: 7.5 % of 50,000 held hours at 2 USD and of 100,000
 * provisioned ones at 0.1; kept data is a matter of the fleet: 3,000 GB at 0.25 USD a year, of
 * which the window is 1000/8760. Who holds cards pays the part that follows his rent. */
static void egress_and_storage(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_item items[] = { item("rent", PRICE_allocated_gpu_hour, PER_USE, 2),
                                  item("seat", PRICE_gpu_hour, PER_USE, 0.1),
                                  item("egress", PRICE_rent, PER_USE, 0.075),
                                  item("data", PRICE_gb, PER_YEAR, 0.25) };
    items[3].gb = 3000;
    const struct price_book b = book_of(items, 4);
    const struct usage_group g = uniform_demand();
    const struct usage_tenant all = { .name = "u", .allocated_h = 50000, .billed_h = 50000 };
    const struct usage u = {
        .hours = 1000, .group = &g, .n_groups = 1, .tenant = &all, .n_tenants = 1
    };
    const struct tco_result t = tco_price(&u, "whole", &b, a);
    assert_close(t.item[2].quantity, 110000, 1e-12);
    assert_close(t.item[2].usd, 8250, 1e-12);
    assert_close(t.item[3].usd, 750 * 1000 / 8760.0, 1e-12);
    /* half of all hours are his: half of what is fixed, all of the rent for holding with its 7.5
     * % */
    assert_close(t.charge[0].usd, 100000 * 1.075 + (10000 * 1.075 + t.item[3].usd) / 2, 1e-9);
    const struct tco_rates r = tco_rates(&b, "whole", &u);
    assert_false(r.known); /* what follows the rent is known at the end */
    assert_close(50000 * (tco_rates_after(&u, "whole", &b).card_usd +
                          tco_rates_after(&u, "whole", &b).held_usd),
                 t.charge[0].usd, 1e-9);
    arena_destroy(a);
}

/* Cards that come in racks of 72: 100 cards are two racks, and a spare card is a 72nd of one.
 * The book is enough: it has a price for the card. */
static void whole_racks(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_item items[] = { item("rack", PRICE_rack, PER_ONCE, 3100000),
                                  item("spares", PRICE_spares, PER_ONCE, 1) };
    struct err e = { 0 };
    items[0].per = 72;
    items[0].gpu = "l40s";
    items[1].availability = 0.999;
    items[1].unavailability = 0.09 * 14 / 365;
    const struct price_book b = book_of(items, 2);
    const struct usage_group g = uniform_demand();
    const struct usage u = { .hours = 1000, .group = &g, .n_groups = 1 };
    assert_int_equal(tco_check(&u, "whole", &b, &e), 0);
    const struct tco_result t = tco_price(&u, "whole", &b, a);
    assert_close(t.item[0].quantity, 2, 0);
    /* 3 spares for 100: P(X <= 2) of 102 is 0.9940, P(X <= 3) of 103 0.9995 */
    assert_close(t.item[1].quantity, 3 * 3100000.0 / 72, 1e-12);
    assert_close(t.upfront_usd, 2 * 3100000 + 3 * 3100000.0 / 72, 1e-9);
    arena_destroy(a);
}

/* Owned: 43,800 USD over 4 years are 1.25 an hour; 1.25 / 3.125 = 0.4 again, in nodes of four. */
static void owned_base(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct price_item items[] = {
        item("card", PRICE_card, PER_ONCE, 43800),
        item("peak", PRICE_overflow_gpu_hour, PER_USE, 3.125),
        item("energy", PRICE_kwh, PER_USE, 0.1),
    };
    struct price_book b = book_of(items, 3);
    b.own = OWN_BASE;
    struct usage_group g = uniform_demand();
    const struct usage u = { .hours = 1000, .group = &g, .n_groups = 1 };
    struct tco_result t = tco_price(&u, NULL, &b, a);
    assert_close(t.base_cards, 60, 0);
    assert_close(t.item[0].quantity, 60, 1e-12);
    assert_close(t.item[0].usd, 60 * 1.25 * 1000, 1e-12);
    const double served = 1 - 820 / 5050.0;
    assert_close(t.energy_usd, (3000 * 0.6 + 6000 * served) * 1.5 * 0.1, 1e-12);
    g.nodes = 14; /* nodes of seven: 63 cards */
    g.cards = 98;
    t = tco_price(&u, NULL, &b, a);
    assert_close(t.base_cards, 63, 0);
    /* rent below the cost of owning: nothing is owned */
    struct price_item cheap[3];
    memcpy(cheap, items, sizeof items);
    cheap[1].amount = amount_known(1.2);
    b.item = cheap;
    t = tco_price(&u, NULL, &b, a);
    assert_close(t.base_cards, 0, 0);
    assert_close(t.item[0].usd, 0, 0);
    arena_destroy(a);
}

static void rent_by_the_hour(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_item items[] = {
        item("as used", PRICE_allocated_gpu_hour, PER_USE, 2),
        item("whole cards, spot", PRICE_occupied_gpu_hour, PER_USE, 1.5),
    };
    const struct usage_tenant who = { .name = "x", .allocated_h = 70, .billed_h = 80 };
    const struct usage_group g = { .gpu = &l40s,
                                   .nodes = 1,
                                   .cards = 4,
                                   .allocated_h = 70,
                                   .free_h = 330,
                                   .occupied_h = 90,
                                   .step_h = { 72, 100, 300 } };
    const struct usage u = {
        .hours = 100, .group = &g, .n_groups = 1, .tenant = &who, .n_tenants = 1
    };
    struct price_book b = book_of(items, 1);
    b.charge = CHARGE_MAX;
    static const double step[] = { 0, 60, 3600, 86400 }, hours[] = { 70, 72, 100, 300 };
    for (int k = 0; k < 4; k++) {
        items[0].step_s = step[k];
        const struct tco_result t = tco_price(&u, NULL, &b, a);
        assert_close(t.total_usd, 2 * hours[k], 1e-12);
        assert_close(t.charge[0].usd, 2 * hours[k], 1e-12); /* whoever holds it pays the steps */
    }
    b = book_of(items + 1, 1);
    b.charge = CHARGE_MAX;
    items[1].lost_work = 0.08;
    const struct tco_result t = tco_price(&u, NULL, &b, a);
    assert_close(t.total_usd, 1.5 * 90 * 1.08, 1e-12);
    assert_close(t.charge[0].usd, 1.5 * 1.08 * 80, 1e-12);
    assert_close(t.charge[1].usd, 1.5 * 1.08 * 10, 1e-12); /* idle: on rented cards only */
    arena_destroy(a);
}

/* Reference case E: two spares for 13 or 40 cards, four for 136; in nodes of eight 136 + 8. */
static void spares_racks_network(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_item items[] = {
        item("card", PRICE_card, PER_ONCE, 1000),      item("node", PRICE_node, PER_ONCE, 800),
        item("spares", PRICE_spares, PER_ONCE, 1),     item("rack", PRICE_rack, PER_ONCE, 5000),
        item("network", PRICE_capital, PER_ONCE, 0.2), item("care", PRICE_capital, PER_YEAR, 0.05),
    };
    items[2].availability = 0.999;
    items[2].whole_nodes = true;
    items[2].unavailability = 0.09 * 14 / 365;
    items[3].per = 72;
    const struct price_book b = book_of(items, 6);
    static const struct {
        int64_t nodes, cards;
        double spares, racks;
    } rows[] = { { 13, 13, 2, 1 }, { 40, 40, 2, 1 }, { 136, 136, 4, 2 }, { 17, 136, 8, 2 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct usage_group g = { .gpu = &l40s,
                                       .nodes = rows[i].nodes,
                                       .cards = rows[i].cards,
                                       .free_h = (double)rows[i].cards * 8760 };
        const struct usage u = { .hours = 8760, .group = &g, .n_groups = 1 };
        const struct tco_result t = tco_price(&u, NULL, &b, a);
        const double cards = (double)rows[i].cards, nodes = (double)rows[i].nodes,
                     spare = rows[i].spares * (1000 + 800 * nodes / cards),
                     racks = rows[i].racks * 5000,
                     hardware = cards * 1000 + nodes * 800 + spare + racks;
        assert_close(t.item[2].quantity, spare, 1e-12);
        assert_close(t.item[3].quantity, rows[i].racks, 1e-12);
        assert_close(t.item[4].quantity, hardware, 1e-12);
        assert_close(t.item[5].usd, 0.05 * 1.2 * hardware, 1e-12); /* care of the network too */
    }
    arena_destroy(a);
}

/* Reference 3.9: kWh x grid; kg of a card x term / life. */
static void carbon(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct price_item items[] = { item("card", PRICE_card, PER_ONCE, 1000) };
    struct price_book b = book_of(items, 1);
    const struct usage_group g = {
        .gpu = &l40s, .nodes = 1, .cards = 8, .energy_kwh = 2000, .free_h = 8 * 876
    };
    const struct usage u = { .hours = 876, .group = &g, .n_groups = 1, .useful_gpu_hours = 1000 };
    struct tco_result t = tco_price(&u, NULL, &b, a);
    assert_true(isnan(t.carbon_operation_kg) && isnan(t.carbon_embodied_kg));
    b.grid_g_per_kwh = 475;
    b.embodied_kg = 318;
    b.embodied_life_y = 5;
    t = tco_price(&u, NULL, &b, a);
    assert_close(t.carbon_operation_kg, 2000 * 1.5 * 0.475, 1e-12);
    assert_close(t.carbon_embodied_kg, 8 * 318 * 0.1 / 5, 1e-12);
    assert_close(t.carbon_kg_per_useful_gpu_hour, (1425 + 50.88) / 1000, 1e-12);
    arena_destroy(a);
}

/* Classes and groups of the trace: what they are charged, per job and per useful hour. */
static void classes_and_teams(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct price_item items[] = { item("rent", PRICE_gpu_hour, PER_USE, 3) };
    const struct price_book b = book_of(items, 1);
    const struct usage_group g = {
        .gpu = &l40s, .nodes = 1, .cards = 2, .allocated_h = 15, .free_h = 5
    };
    const struct usage_tenant who[] = { { .name = "u", .allocated_h = 15 } },
                              team[] = { { .name = "a", .allocated_h = 10 },
                                         { .name = "b", .allocated_h = 5 } },
                              klass[] = {
                                  { .name = "dev", .jobs = 4, .allocated_h = 5, .useful_h = 2 },
                                  { .name = "hpc", .jobs = 0, .allocated_h = 10 }
                              };
    const struct usage u = { .hours = 10,
                             .group = &g,
                             .n_groups = 1,
                             .tenant = who,
                             .n_tenants = 1,
                             .team = team,
                             .n_teams = 2,
                             .klass = klass,
                             .n_classes = 2 };
    const struct tco_result t = tco_price(&u, NULL, &b, a);
    assert_int_equal(t.n_teams, 5);
    double sum = 0;
    for (size_t i = 0; i < t.n_teams; i++) sum += t.team[i].usd;
    assert_close(sum, 60, 1e-12);
    assert_close(t.team[1].usd, 15, 1e-12);
    assert_int_equal(t.n_classes, 2);
    assert_close(t.klass[0].usd, 15, 1e-12);
    assert_close(t.klass[0].usd_per_job, 3.75, 1e-12);
    assert_close(t.klass[0].usd_per_useful_gpu_hour, 7.5, 1e-12);
    assert_true(isnan(t.klass[1].usd_per_job) && isnan(t.klass[1].usd_per_useful_gpu_hour));
    arena_destroy(a);
}

/* Usage of before demand was counted cannot be priced by it; targets that no spares reach are
 * told. */
static void refused(void **state)
{
    (void)state;
    struct price_item items[] = { item("x", PRICE_occupied_gpu_hour, PER_USE, 1),
                                  item("y", PRICE_allocated_gpu_hour, PER_USE, 1),
                                  item("z", PRICE_overflow_gpu_hour, PER_USE, 1),
                                  item("card", PRICE_card, PER_ONCE, 1),
                                  item("spares", PRICE_spares, PER_ONCE, 1) };
    items[1].step_s = 3600;
    items[4].availability = 0.999;
    items[4].unavailability = 1;
    const struct usage_group g = {
        .gpu = &l40s, .nodes = 1, .cards = 1, .occupied_h = NAN, .step_h = { NAN, NAN, NAN }
    };
    const struct usage u = { .hours = 1, .group = &g, .n_groups = 1 };
    for (size_t i = 0; i < 3; i++) {
        struct err e = { 0 };
        const struct price_book b = book_of(items + i, 1);
        assert_int_equal(tco_check(&u, NULL, &b, &e), ERR_INPUT);
        assert_non_null(strstr(e.msg, "demand over time"));
        const struct usage fleet = { .group = &g, .n_groups = 1 }; /* before a run: not yet */
        assert_int_equal(tco_check(&fleet, NULL, &b, &e), 0);
    }
    struct err e = { 0 };
    const struct price_book b = book_of(items + 3, 2);
    assert_int_equal(tco_check(&u, NULL, &b, &e), ERR_INPUT);
    assert_non_null(strstr(e.msg, "no number of spares"));
}

/* A12: a node for 300,000, idle draw 30 % of 10.2 kW, against 2.50 an hour on demand: 65.99 % of
 * use; with constant power 67.89 %. Against a reservation there is none. Doubling the rent halves
 * it. */
static void buy_or_rent(void **state)
{
    (void)state;
    const struct gpu_spec h100 = { .name = "h100", .tdp_W = 700 };
    const struct price_item own_items[] = { item("node", PRICE_node, PER_ONCE, 300000),
                                            item("energy", PRICE_kwh, PER_USE, 0.12),
                                            item("operations", PRICE_constant, PER_YEAR, 30000) };
    struct price_item rent_item = item("rent", PRICE_allocated_gpu_hour, PER_USE, 2.5);
    struct price_item twice[] = { own_items[0], own_items[1], own_items[2] };
    struct price_book own = book_of(own_items, 3), rent = book_of(&rent_item, 1);
    own.pue = 1.3;
    own.rate = 0;
    const double full = 10.2 * 8760, hours = 8 * 8760.0;
    struct usage_group g = { .gpu = &h100,
                             .nodes = 1,
                             .cards = 8,
                             .allocated_h = 0.7 * hours,
                             .free_h = 0.3 * hours,
                             .energy_kwh = 0.3 * full + 0.7 * 0.7 * full,
                             .idle_energy_kwh = 0.3 * full };
    const struct usage u = { .hours = 8760, .group = &g, .n_groups = 1 };
    struct against x = tco_against(&u, NULL, &own, &rent);
    assert_close(x.use, 0.7, 1e-12);
    assert_true(fabs(x.breakeven_use - 0.6599) < 0.00005);
    g.energy_kwh = g.idle_energy_kwh = full;
    x = tco_against(&u, NULL, &own, &rent);
    assert_true(fabs(x.own_eac_usd - 118938.91) < 0.005);
    assert_true(fabs(x.breakeven_use - 0.6789) < 0.00005);
    assert_close(x.breakeven_price_usd, x.own_eac_usd / (hours * 0.7), 1e-12);
    /* capital / (rent - opex) a month */
    assert_close(x.breakeven_months, 300000 / ((0.7 * hours * 2.5 - 43938.912) / 12), 1e-6);
    const double once = x.breakeven_use;
    rent_item.amount = amount_known(5);
    assert_close(tco_against(&u, NULL, &own, &rent).breakeven_use, once / 2, 1e-9);
    /* a node that lives two years of the four: 300,000 are back in month 17.9, gone again in 24,
     * and 600,000 are back for good in month 35.8 */
    twice[0].life_y = 2;
    own.item = twice;
    assert_close(tco_against(&u, NULL, &own, &rent).breakeven_months, 36, 0);
    rent_item.amount = amount_known(2.5); /* not within the term */
    assert_true(isnan(tco_against(&u, NULL, &own, &rent).breakeven_months));
    own.item = own_items;
    rent_item.driver = PRICE_gpu_hour;
    assert_true(isnan(tco_against(&u, NULL, &own, &rent).breakeven_use));
}

static const struct mc_swing *swing(const struct mc_model *m, const struct mc_result *r,
                                    const char *name)
{
    for (size_t i = 0; i < m->n_inputs; i++)
        if (strcmp(m->input[r->swing[i].input].name, name) == 0) return &r->swing[i];
    fail_msg("no input %s", name);
    return NULL;
}

/* A card of 1000 for one year and 1000 kWh at 0.1, paid at the end of it: PUE, discount rate and
 * what the card is worth then are ranges. At the modes (1000 - 500/1.1) 1.1 + 140 = 740. */
static void ranges_of_the_book(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_item items[] = { item("card", PRICE_card, PER_ONCE, 1000),
                                  item("power", PRICE_kwh, PER_USE, 0.1) };
    struct price_book b = book_of(items, 2);
    items[0].life_y = b.term_y = 1;
    items[0].retention = 0.5;
    items[0].retention_range = (struct amount){ .low = 0, .mode = 0.5, .high = 1 };
    b.pue = 1.4;
    b.pue_range = (struct amount){ .low = 1.2, .mode = 1.4, .high = 2 };
    b.rate = 0.1;
    b.rate_range = (struct amount){ .low = 0, .mode = 0.1, .high = 0.2 };
    const struct usage_group g = {
        .gpu = &l40s, .nodes = 1, .cards = 1, .free_h = 8760, .energy_kwh = 1000
    };
    const struct usage u = { .hours = 8760, .group = &g, .n_groups = 1 }, *one = &u;
    const struct priced_use use = { "p", NULL, &one, 1, &b };
    const struct mc_model m = bookrisk_model(&use, 1, a);
    struct mc_result r;
    assert_int_equal(m.n_inputs, 3);
    mc_run(&r, &m, &(struct mc_options){ .samples = 2000, .seed = 3 }, a);
    assert_close(r.option[0].at_modes, 740, 1e-12);
    assert_close(swing(&m, &r, "PUE")->low[0], 720, 1e-12);
    assert_close(swing(&m, &r, "PUE")->high[0], 800, 1e-12);
    assert_close(swing(&m, &r, "discount rate")->low[0], 640, 1e-12);
    assert_close(swing(&m, &r, "discount rate")->high[0], 840, 1e-12);
    assert_close(swing(&m, &r, "card, value kept a year")->low[0], 1240, 1e-12);
    assert_close(swing(&m, &r, "card, value kept a year")->high[0], 240, 1e-12);
    items[1].driver = PRICE_constant; /* nothing is paid by the kWh: the PUE does not matter */
    assert_int_equal(bookrisk_model(&use, 1, a).n_inputs, 2);
    arena_destroy(a);
}

/* Two replications, one dear and one cheap: half of the draws price each, the modes their mean. */
static void replications(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct price_item items[] = { item("rent", PRICE_allocated_gpu_hour, PER_USE, 2) };
    const struct price_book b = book_of(items, 1);
    const struct usage_group g[] = {
        { .gpu = &l40s, .nodes = 1, .cards = 1, .allocated_h = 10, .free_h = 90 },
        { .gpu = &l40s, .nodes = 1, .cards = 1, .allocated_h = 30, .free_h = 70 },
    };
    const struct usage u[] = { { .hours = 8760, .group = &g[0], .n_groups = 1 },
                               { .hours = 8760, .group = &g[1], .n_groups = 1 } };
    const struct usage *both[] = { &u[0], &u[1] };
    const struct priced_use use = { "p", NULL, both, 2, &b };
    const struct mc_model m = bookrisk_model(&use, 1, a);
    struct mc_result r;
    assert_int_equal(m.n_inputs, 1);
    mc_run(&r, &m, &(struct mc_options){ .samples = 1024, .seed = 3, .quasi = true, .against = 0 },
           a);
    assert_close(r.option[0].at_modes, 40, 1e-9);
    assert_close(r.option[0].cost.p10, 20, 1e-9);
    assert_close(r.option[0].cost.p90, 60, 1e-9);
    assert_close(r.option[0].cost.mean, 40, 0.02);
    arena_destroy(a);
}

/* Doubling every price doubles every cost, whatever the driver; a base stays where it is. */
static void doubling(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_item items[PRICE_DRIVERS];
    size_t n = 0;
    for (int d = 0; d < PRICE_DRIVERS; d++) {
        const bool share = d == PRICE_capital || d == PRICE_spares || d == PRICE_rent;
        const bool once =
            d == PRICE_card || d == PRICE_node || d == PRICE_rack || d == PRICE_spares;
        const bool use = strstr(price_driver_names[d], "hour") || d == PRICE_kwh || d == PRICE_rent;
        items[n] = item(price_driver_names[d], (enum price_driver)d,
                        once  ? PER_ONCE
                        : use ? PER_USE
                              : PER_YEAR,
                        share ? 0.05 : 1.7 + d);
        items[n].per = 34;
        items[n].gb = 1234;
        items[n].availability = 0.999;
        items[n++].unavailability = 0.00345;
    }
    const struct usage_group g = uniform_demand();
    const struct usage_tenant who = { .name = "u", .allocated_h = 50000, .energy_kwh = 6000 };
    const struct usage u = { .hours = 1000,
                             .group = &g,
                             .n_groups = 1,
                             .tenant = &who,
                             .n_tenants = 1,
                             .jobs_completed = 10,
                             .useful_gpu_hours = 40000 };
    struct price_book b = book_of(items, n);
    const struct tco_result one = tco_price(&u, NULL, &b, a);
    for (size_t i = 0; i < n; i++)
        if (items[i].driver != PRICE_capital && items[i].driver != PRICE_spares &&
            items[i].driver != PRICE_rent)
            amount_scale(&items[i].amount, 2);
    const struct tco_result two = tco_price(&u, NULL, &b, a);
    assert_close(two.total_usd, 2 * one.total_usd, 1e-12);
    assert_close(two.npv_usd, 2 * one.npv_usd, 1e-12);
    assert_close(two.eac_usd, 2 * one.eac_usd, 1e-12);
    assert_close(two.usd_per_useful_gpu_hour, 2 * one.usd_per_useful_gpu_hour, 1e-12);
    assert_close(two.base_cards, one.base_cards, 0);
    for (size_t i = 0; i < one.n_items; i++)
        assert_close(two.item[i].usd, 2 * one.item[i].usd, 1e-12);
    for (size_t i = 0; i < one.n_charges; i++)
        assert_close(two.charge[i].usd, 2 * one.charge[i].usd, 1e-12);
    arena_destroy(a);
}

/* 50,000 hours held: jobs 20,000, of which 16,000 were useful, and a service 30,000. Jobs bring
 * about two fifths of the bill, with the idle hours that go with them; without a service it is
 * theirs alone. */
static void services_pay_for_themselves(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct price_item items[] = { item("seat", PRICE_gpu_hour, PER_USE, 0.7) };
    const struct price_book b = book_of(items, 1);
    const struct usage_group g = uniform_demand();
    struct usage_tenant t[] = {
        { .name = "service:chat", .allocated_h = 30000, .billed_h = 30000 },
        { .name = "u", .jobs = 40, .allocated_h = 20000, .billed_h = 20000, .useful_h = 16000 },
    };
    const struct usage u = { .hours = 1000,
                             .group = &g,
                             .n_groups = 1,
                             .tenant = t,
                             .n_tenants = 2,
                             .jobs_completed = 40,
                             .useful_gpu_hours = 16000 };
    const struct tco_result with = tco_price(&u, "whole", &b, a);
    assert_close(with.total_usd, 70000, 1e-12);
    assert_close(with.usd_per_useful_gpu_hour, 0.4 * 70000 / 16000, 1e-12);
    assert_close(with.usd_per_job, 0.4 * 70000 / 40, 1e-12);
    assert_close(with.usd_per_gpu_hour, 0.7, 1e-12);
    t[0].name = "chat";
    const struct tco_result without = tco_price(&u, "whole", &b, a);
    assert_close(without.usd_per_useful_gpu_hour, 70000.0 / 16000, 1e-12);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commitment),
        cmocka_unit_test(egress_and_storage),
        cmocka_unit_test(whole_racks),
        cmocka_unit_test(owned_base),
        cmocka_unit_test(rent_by_the_hour),
        cmocka_unit_test(spares_racks_network),
        cmocka_unit_test(carbon),
        cmocka_unit_test(classes_and_teams),
        cmocka_unit_test(services_pay_for_themselves),
        cmocka_unit_test(refused),
        cmocka_unit_test(doubling),
        cmocka_unit_test(buy_or_rent),
        cmocka_unit_test(replications),
        cmocka_unit_test(ranges_of_the_book),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
