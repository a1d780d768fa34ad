/* test_price.c - reading price books: units, ranges, defaults, and every documented complaint. */
#include "support/support.h"

#include "base/mem.h"
#include "model/price_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOOK(items) "{\"format\": \"gpusim-prices/1\", \"items\": [" items "]}"

/* Parse `text`; problems are returned, the first one in buf. The arena owns the book. */
static size_t read_book(struct price_book *b, struct arena *a, const char *text, char *buf,
                        size_t size)
{
    struct json_doc doc = { 0 };
    struct err e = { 0 };
    struct diag d;
    if (json_doc_parse(&doc, "prices.json", text, strlen(text), &e) != 0) fail_msg("%s", e.msg);
    diag_init(&d);
    price_book_read(b, a, &doc, &d);
    size_t n = d.count;
    snprintf(buf, size, "%s: %s", n ? d.problem[0].where : "", n ? d.problem[0].msg : "");
    diag_fini(&d);
    json_doc_fini(&doc);
    return n;
}

static void amounts_and_defaults(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_book b;
    char said[800];
    size_t n =
        read_book(&b, a,
                  "{\"format\": \"gpusim-prices/1\", \"name\": \"n\", \"pue\": 1.3, \"rate\": 0.05,"
                  "\"term\": \"5 y\", \"items\": ["
                  "{\"name\": \"card\", \"driver\": \"card\", \"amount\": \"9750 USD\","
                  "\"retention\": 0.7, \"gpu\": \"l40s\"},"
                  "{\"name\": \"energy\", \"driver\": \"kwh\", \"amount\": \"0.12 USD/kWh\","
                  "\"source\": \"bill\", \"date\": \"2026-01\", \"confidence\": \"quoted\"},"
                  "{\"name\": \"lic\", \"driver\": \"licence\", \"share\": \"mig\","
                  "\"amount\": {\"low\": 0, \"mode\": \"1125 USD/y\", \"high\": 4500}},"
                  "{\"name\": \"staff\", \"driver\": \"fte\", \"per\": 34, \"amount\": 45000},"
                  "{\"name\": \"rent\", \"driver\": \"gpu_hour\", \"amount\": \"2.5 USD/h\"},"
                  "{\"name\": \"care\", \"driver\": \"capital\", \"amount\": 0.05},"
                  "{\"name\": \"hall\", \"driver\": \"constant\", \"period\": \"once\","
                  "\"amount\": 10, \"life\": \"12 y\"}]}",
                  said, sizeof said);
    if (n) fail_msg("%s", said);
    assert_close(b.pue, 1.3, 0);
    assert_close(b.term_y, 5, 1e-15);
    assert_int_equal(b.n_items, 7);
    assert_close(b.item[0].amount.mode, 9750, 0);
    assert_int_equal(b.item[0].period, PER_ONCE);
    assert_close(b.item[0].life_y, 5, 1e-15); /* the term */
    assert_string_equal(b.item[0].source, "not stated");
    assert_close(b.item[1].amount.high, 0.12, 1e-15);
    assert_int_equal(b.item[1].period, PER_USE);
    assert_string_equal(b.item[1].source, "bill");
    assert_close(b.item[2].amount.low, 0, 0);
    assert_close(b.item[2].amount.mode, 1125, 1e-12);
    assert_close(b.item[2].amount.high, 4500, 0);
    assert_int_equal(b.item[2].period, PER_YEAR);
    assert_close(b.item[3].per, 34, 0);
    assert_int_equal(b.item[5].period, PER_YEAR);
    assert_close(b.item[6].life_y, 12, 1e-15);
    arena_destroy(a);
}

static void every_complaint(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "[]", "expected a price book" },
        { "{\"format\": \"gpusim-result/1\"}", "/format" },
        { "{\"format\": \"gpusim-prices/1\"}", "expected \"items\"" },
        { "{\"format\": \"gpusim-prices/1\", \"items\": []}", "expected \"items\"" },
        { "{\"format\": \"gpusim-prices/1\", \"pue\": 0.9, \"items\": []}", "/pue" },
        { "{\"format\": \"gpusim-prices/1\", \"currency\": \"CNY\", \"items\": [{\"name\": \"x\","
          "\"driver\": \"card\", \"amount\": 1}]}",
          "expected USD" },
        { BOOK("7"), "/items/0" },
        { BOOK("{\"driver\": \"card\", \"amount\": 1}"), "name" },
        { BOOK("{\"name\": \"x\", \"driver\": \"crad\", \"amount\": 1}"), "/items/0/driver" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\"}"), "amount" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"amount\": -1}"), "/items/0/amount" },
        { BOOK("{\"name\": \"x\", \"driver\": \"kwh\", \"amount\": \"3 USD/h\"}"),
          "/items/0/amount" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"amount\": {\"low\": 1, \"high\": 2}}"),
          "missing \"mode\"" },
        { BOOK(
              "{\"name\": \"x\", \"driver\": \"card\", \"amount\": {\"low\": 3, \"mode\": 2, \"high\": 4}}"),
          "low <= mode <= high" },
        { BOOK(
              "{\"name\": \"x\", \"driver\": \"card\", \"amount\": {\"low\": 1, \"mode\": 2, \"high\": 4,"
              "\"top\": 5}}"),
          "top" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"period\": \"use\", \"amount\": 1}"),
          "/items/0/period" },
        { BOOK("{\"name\": \"x\", \"driver\": \"kwh\", \"period\": \"year\", \"amount\": 1}"),
          "/items/0/period" },
        { BOOK("{\"name\": \"x\", \"driver\": \"licence\", \"life\": \"4 y\", \"amount\": 1}"),
          "\"life\"" },
        { BOOK("{\"name\": \"x\", \"driver\": \"fte\", \"amount\": 1}"), "\"per\"" },
        { BOOK("{\"name\": \"x\", \"driver\": \"gb\", \"amount\": 1}"), "needs \"gb\"" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"gb\": 3, \"amount\": 1}"),
          "/items/0/gb" },
        { BOOK("{\"name\": \"x\", \"driver\": \"rent\", \"amount\": 0.1}"), "nothing is" },
        { BOOK("{\"name\": \"x\", \"driver\": \"gb\", \"gb\": 1, \"gpu\": \"l4\", \"amount\": 1}"),
          "/items/0/gpu" },
        { BOOK("{\"name\": \"x\", \"driver\": \"rent\", \"amount\": \"2 USD\"}"),
          "a share of the rent" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"per\": 2, \"amount\": 1}"), "\"per\"" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"currency\": \"EUR\", \"amount\": 1}"),
          "/items/0/currency" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"lost_work\": 0.1, \"amount\": 1}"),
          "/items/0/lost_work" },
        { "{\"format\": \"gpusim-prices/1\", \"currencies\": {\"CNY\": 0}, \"items\": [{\"name\": "
          "\"x\", \"driver\": \"card\", \"amount\": 1}]}",
          "/currencies/CNY" },
        { "{\"format\": \"gpusim-prices/1\", \"currencies\": [7], \"items\": [{\"name\": "
          "\"x\", \"driver\": \"card\", \"amount\": 1}]}",
          "/currencies" },
        { "{\"format\": \"gpusim-prices/1\", \"currencies\": {\"CNY\": 0.14}, \"items\": [{\"name\": "
          "\"x\", \"driver\": \"card\", \"currency\": \"CNY\", \"amount\": \"7 USD\"}]}",
          "states USD" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"amount\": 1, \"date\": \"2025-13\"}"),
          "/items/0/date" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"amount\": 1, \"date\": \"2025-02-30\"}"),
          "/items/0/date" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"amount\": 1, \"date\": \"last year\"}"),
          "/items/0/date" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"amount\": 1, \"confidence\": \"raed\"}"),
          "/items/0/confidence" },
        { "{\"format\": \"gpusim-prices/1\", \"as_of\": \"soon\", \"items\": [{\"name\": \"x\","
          "\"driver\": \"card\", \"amount\": 1}]}",
          "/as_of" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"amount\": 1, \"step\": \"1 h\"}"),
          "/items/0/step" },
        { BOOK(
              "{\"name\": \"x\", \"driver\": \"allocated_gpu_hour\", \"amount\": 1, \"step\": \"5 min\"}"),
          "/items/0/step" },
        { BOOK(
              "{\"name\": \"x\", \"driver\": \"allocated_gpu_hour\", \"amount\": 1, \"redo\": \"5 min\"}"),
          "go together" },
        { BOOK(
              "{\"name\": \"x\", \"driver\": \"occupied_gpu_hour\", \"amount\": 1, \"redo\": \"1 h\","
              "\"interrupts\": 0.1, \"lost_work\": 0.1}"),
          "found both" },
        { BOOK("{\"name\": \"x\", \"driver\": \"rack\", \"amount\": 1}"), "\"per\"" },
        { BOOK("{\"name\": \"x\", \"driver\": \"committed_gpu_hour\", \"amount\": 1}"),
          "overflow_gpu_hour" },
        { BOOK("{\"name\": \"x\", \"driver\": \"overflow_gpu_hour\", \"amount\": 1}"),
          "needs a base" },
        { BOOK("{\"name\": \"x\", \"driver\": \"spares\", \"period\": \"year\", \"amount\": 1}"),
          "/items/0/period" },
        { "{\"format\": \"gpusim-prices/1\", \"charge\": \"min\", \"items\": [{\"name\": \"x\","
          "\"driver\": \"card\", \"amount\": 1}]}",
          "/charge" },
        { "{\"format\": \"gpusim-prices/1\", \"grid\": 475, \"items\": [{\"name\": \"x\","
          "\"driver\": \"card\", \"amount\": 1}]}",
          "/grid" },
        { BOOK("{\"name\": \"x\", \"driver\": \"card\", \"amuont\": 1, \"amount\": 1}"), "amuont" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *a = arena_create();
        struct price_book b;
        char said[800];
        if (!read_book(&b, a, cases[i].text, said, sizeof said)) fail_msg("case %zu passes", i);
        if (!strstr(said, cases[i].says)) fail_msg("case %zu: %s", i, said);
        arena_destroy(a);
    }
}

static void a_missing_card_price_is_an_error(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_book b;
    char said[800];
    struct err e = { 0 };
    const char *alias[] = { "a100-pcie-80" };
    const struct gpu_spec l40s = { .name = "l40s" }, h100 = { .name = "h100-sxm5-80gb" },
                          generic = { .name = "generic" },
                          a100 = { .name = "a100-pcie-80gb", .aliases = alias, .n_aliases = 1 };
    assert_int_equal(
        read_book(&b, a,
                  BOOK("{\"name\": \"c\", \"driver\": \"card\", \"gpu\": \"L40S\", \"amount\": 1},"
                       "{\"name\": \"d\", \"driver\": \"card\", \"gpu\": \"a100-pcie-80\","
                       "\"share\": \"mig\", \"amount\": 1},"
                       "{\"name\": \"host\", \"driver\": \"card\", \"amount\": 1}"),
                  said, sizeof said),
        0);
    assert_int_equal(price_book_covers(&b, &l40s, NULL, NULL), 0);
    assert_int_equal(price_book_covers(&b, &generic, NULL, NULL), 0);
    assert_int_equal(price_book_covers(&b, &a100, "mig", NULL), 0);
    assert_int_equal(price_book_covers(&b, &a100, "mps", NULL), ERR_INPUT);
    assert_int_equal(price_book_covers(&b, &h100, "mps", &e), ERR_INPUT);
    assert_non_null(strstr(e.msg, "no price for the card \"h100-sxm5-80gb\""));
    assert_non_null(strstr(e.hint, "L40S"));
    assert_int_equal(read_book(&b, a,
                               BOOK("{\"name\": \"n\", \"driver\": \"node\", \"amount\": 300000}"),
                               said, sizeof said),
                     0);
    assert_int_equal(price_book_covers(&b, &h100, NULL, NULL), 0);
    assert_int_equal(read_book(&b, a,
                               BOOK("{\"name\": \"e\", \"driver\": \"kwh\", \"amount\": 0.1}"),
                               said, sizeof said),
                     0);
    assert_int_equal(price_book_covers(&b, &h100, NULL, NULL), ERR_INPUT);
    arena_destroy(a);
}

/* The shipped book reads, is sourced throughout, and knows the cards people ask about. */
static void the_default_book(void **state)
{
    (void)state;
    static const char *const cards[] = { "a100-sxm4-40gb",
                                         "a100-sxm4-80gb",
                                         "a100-pcie-80gb",
                                         "a30",
                                         "h100-sxm5-80gb",
                                         "h200-sxm5-141gb",
                                         "l40s",
                                         "l4",
                                         "t4" };
    struct arena *a = arena_create();
    struct price_book b;
    struct err e = { 0 };
    char sha[65];
    if (price_book_load(&b, a, "scenarios/prices/default.json", NULL, sha, &e) != 0)
        fail_msg("%s: %s", e.where, e.msg);
    assert_int_equal(strlen(sha), 64);
    for (size_t i = 0; i < b.n_items; i++) {
        assert_string_not_equal(b.item[i].source, "not stated");
        assert_string_not_equal(b.item[i].date, "not stated");
        assert_string_not_equal(b.item[i].confidence, "not stated");
    }
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        const struct gpu_spec g = { .name = cards[i] };
        assert_int_equal(price_book_covers(&b, &g, "mig", NULL), 0);
    }
    assert_int_equal(price_book_load(&b, a, "scenarios/prices/absent.json", NULL, sha, &e), ERR_IO);
    arena_destroy(a);
}

/* Amounts in another currency are converted with the book's rates; shares of capital are not. */
static void currencies(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct json_doc doc;
    struct price_book book;
    struct diag d;
    struct err e = { 0 };
    const char *text =
        "{\"format\": \"gpusim-prices/1\", \"currency\": \"CNY\", \"currencies\": {\"CNY\": 0.14},"
        "\"items\": [{\"name\": \"card\", \"driver\": \"card\","
        "\"amount\": {\"low\": 50, \"mode\": 100, \"high\": 250}},"
        "{\"name\": \"care\", \"driver\": \"capital\", \"amount\": 0.05},"
        "{\"name\": \"spot\", \"driver\": \"allocated_gpu_hour\", \"currency\": \"USD\","
        "\"amount\": \"0.685 USD/h\", \"lost_work\": 0.08}]}";
    diag_init(&d);
    assert_int_equal(json_doc_parse(&doc, "book", text, strlen(text), &e), 0);
    price_book_read(&book, a, &doc, &d);
    assert_int_equal(d.count, 0);
    assert_close(book.item[0].amount.low, 7, 1e-15);
    assert_close(book.item[0].amount.mode, 14, 1e-15);
    assert_close(book.item[0].amount.high, 35, 1e-15);
    assert_close(book.item[1].amount.mode, 0.05, 0);
    assert_close(book.item[2].amount.mode, 0.685, 0);
    assert_close(book.item[2].lost_work, 0.08, 0);
    assert_true(book.currency_stated);
    diag_fini(&d);
    json_doc_fini(&doc);
    arena_destroy(a);
}

/* Prices of cards that are not there, or of another card; what is unlikely is told, not refused. */
static void cards_and_doubts(void **state)
{
    (void)state;
    static const struct {
        const char *items, *says;
    } rows[] = {
        { "{\"name\": \"x\", \"driver\": \"card\", \"gpu\": \"l40z\", \"amount\": 1}",
          "did you mean \"l40" },
        { "{\"name\": \"A40 with 16 GB\", \"driver\": \"gpu_hour\", \"gpu\": \"a40\", \"amount\": 0.25}",
          "/items/0/name" },
        { "{\"name\": \"A100 80GB\", \"driver\": \"card\", \"gpu\": \"a100-sxm4-40gb\", \"amount\": 9}",
          "the price of another card?" },
        { "{\"name\": \"A100 80GB\", \"driver\": \"card\", \"gpu\": \"a100-sxm4-80gb\", \"amount\": 9},"
          "{\"name\": \"1g.24gb of 96 GB\", \"driver\": \"card\", \"gpu\": \"rtxpro6000bw-se\", \"amount\": 9}",
          NULL },
    };
    struct gpu_catalogue *gpus = NULL;
    struct err e = { 0 };
    assert_int_equal(gpu_catalogue_load(&gpus, NULL, &e), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *a = arena_create();
        struct json_doc doc = { 0 };
        struct price_book b;
        struct diag d;
        char *text = xasprintf(BOOK("%s"), rows[i].items);
        assert_int_equal(json_doc_parse(&doc, "p.json", text, strlen(text), &e), 0);
        diag_init(&d);
        price_book_read(&b, a, &doc, &d);
        assert_int_equal(d.count, 0);
        price_check_cards(&b, &doc, gpus, &d);
        assert_int_equal(d.count, rows[i].says ? 1 : 0);
        if (rows[i].says && !strstr(d.problem[0].where, rows[i].says) &&
            !strstr(d.problem[0].msg, rows[i].says) && !strstr(d.problem[0].hint, rows[i].says))
            fail_msg("%s: %s", d.problem[0].where, d.problem[0].msg);
        diag_fini(&d);
        json_doc_fini(&doc);
        free(text);
        arena_destroy(a);
    }
    gpu_catalogue_destroy(gpus);
}

static void hear(void *ctx, const char *sentence)
{
    char *all = ctx;
    strncat(all, sentence, 2000 - strlen(all));
    strcat(all, "\n");
}

/* PUE, discount rate and value kept are numbers or ranges, within their bounds at both ends. */
static void ranges_of_the_book(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_book b;
    char said[800];
    static const char form[] =
        "{\"format\": \"gpusim-prices/1\", \"pue\": %s, \"rate\": %s, \"items\": ["
        "{\"name\": \"c\", \"driver\": \"card\", \"amount\": 1, \"retention\": %s}]}";
    static const struct {
        const char *pue, *rate, *kept, *said;
    } t[] = {
        { "{\"low\": 1.1, \"mode\": 1.3, \"high\": 1.8}",
          "{\"shape\": \"uniform\", \"low\": 0, \"high\": 0.1}", "{\"set\": [0.5, 0.6, 0.8]}",
          ": " },
        { "{\"low\": 0.9, \"mode\": 1.3, \"high\": 1.8}", "0", "0",
          "/pue/low: expected a number from 1 to 5, found 0.9" },
        { "\"1.3\"", "0", "0", "/pue: expected a number from 1 to 5, found \"1.3\"" },
        { "1", "8", "0", "/rate: expected a number from 0 to 1, found 8" },
        { "1", "{\"low\": 0.2, \"mode\": 0.1, \"high\": 0.3}", "0", "/rate" },
        { "1", "0", "1.2", "/items/0/retention: expected a number from 0 to 1" },
        { "1", "0", "{\"shape\": \"lognormal\", \"mode\": 0.7, \"sd\": 1}",
          "/items/0/retention: expected numbers from 0 to 1" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char text[900];
        snprintf(text, sizeof text, form, t[i].pue, t[i].rate, t[i].kept);
        assert_int_equal(read_book(&b, a, text, said, sizeof said), i > 0);
        assert_contains(said, t[i].said);
        if (i > 0) continue;
        assert_close(b.pue, 1.3, 0);
        assert_close(b.pue_range.high, 1.8, 0);
        assert_close(b.rate, 0.05, 1e-15);
        assert_close(b.item[0].retention, 0.6, 0);
        assert_close(b.item[0].retention_range.low, 0.5, 0);
    }
    arena_destroy(a);
}

static void doubts(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct price_book b;
    char said[800], all[2100] = "";
    read_book(&b, a,
              "{\"format\": \"gpusim-prices/1\", \"pue\": 3, \"rate\": 0.4, \"items\": ["
              "{\"name\": \"dear power\", \"driver\": \"kwh\", \"amount\": 12},"
              "{\"name\": \"cents\", \"driver\": \"gpu_hour\", \"amount\": 250},"
              "{\"name\": \"care\", \"driver\": \"capital\", \"amount\": 0.5},"
              "{\"name\": \"traffic\", \"driver\": \"rent\", \"amount\": 7.5},"
              "{\"name\": \"traffic\", \"driver\": \"rent\", \"amount\": 0.1},"
              "{\"name\": \"guess\", \"driver\": \"constant\", \"amount\":"
              " {\"low\": 0, \"mode\": 0, \"high\": 5000}},"
              "{\"name\": \"mayfly\", \"driver\": \"node\", \"life\": \"30 d\", \"amount\": 1000},"
              "{\"name\": \"gold\", \"driver\": \"card\", \"retention\": 0.99, \"amount\":"
              " {\"low\": 100, \"mode\": 1000, \"high\": 9000}}]}",
              said, sizeof said);
    price_doubts(&b, hear, all);
    static const char *const wanted[] = { "no currency",
                                          "PUE of 3",
                                          "discount rate of 0.4",
                                          "dear power",
                                          "\"cents\"",
                                          "50 % of capital",
                                          "\"gold\": high is 90",
                                          "keeps 0.99",
                                          "\"guess\": high is 5000, with a mode of 0",
                                          "\"mayfly\": a life of 30 d; it is bought 49 times",
                                          "750 % of the rent",
                                          "\"traffic\" is there twice" };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(all, wanted[i])) fail_msg("not said: %s\n%s", wanted[i], all);
    /* the shipped books are beyond doubt */
    char sha[65];
    struct err e = { 0 };
    all[0] = '\0';
    assert_int_equal(price_book_load(&b, a, "scenarios/prices/default.json", NULL, sha, &e), 0);
    price_doubts(&b, hear, all);
    assert_string_equal(all, "");
    arena_destroy(a);
}

/* Interruptions an hour x the time that each loses; a book in which a driver of each kind is
 * named. */
static void spot_and_drivers(void **state)
{
    (void)state;
    static const enum price_driver named[] = { PRICE_card,    PRICE_capital, PRICE_peak_kw,
                                               PRICE_kwh,     PRICE_spares,  PRICE_fte,
                                               PRICE_licence, PRICE_constant };
    struct arena *a = arena_create();
    struct price_book b;
    char said[800], sha[65];
    struct err e = { 0 };
    assert_int_equal(
        read_book(&b, a,
                  BOOK("{\"name\": \"spot\", \"driver\": \"occupied_gpu_hour\", \"amount\": 1,"
                       "\"interrupts\": 0.05, \"redo\": \"36 min\"}"),
                  said, sizeof said),
        0);
    assert_close(b.item[0].lost_work, 0.03, 1e-15);
    assert_int_equal(price_book_load(&b, a, "scenarios/prices/default.json", NULL, sha, &e), 0);
    for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
        size_t n = 0;
        for (size_t i = 0; i < b.n_items; i++) n += b.item[i].driver == named[k];
        if (n == 0)
            fail_msg("the default book has no item of driver %s", price_driver_names[named[k]]);
    }
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_and_defaults),
        cmocka_unit_test(every_complaint),
        cmocka_unit_test(a_missing_card_price_is_an_error),
        cmocka_unit_test(the_default_book),
        cmocka_unit_test(currencies),
        cmocka_unit_test(cards_and_doubts),
        cmocka_unit_test(ranges_of_the_book),
        cmocka_unit_test(doubts),
        cmocka_unit_test(spot_and_drivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
