/* test_amount.c - the four shapes of an uncertain amount against known quantiles, and every
 * complaint. */
#include "support/support.h"

#include "base/mem.h"
#include "base/str.h"
#include "model/amount.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double number(const void *ctx, const json_t *v, const char *at, struct diag *d)
{
    const struct json_doc *doc = ctx;
    if (json_is_number(v)) return json_number_value(v);
    json_problem(d, doc, at, "expected a number");
    return NAN;
}

/* Problems are counted, the first in `said`. */
static size_t read_text(struct amount *out, struct arena *a, const char *text, char *said,
                        size_t size)
{
    struct json_doc doc = { 0 };
    struct err e = { 0 };
    struct diag d;
    char *json = xasprintf("{\"v\": %s}", text);
    for (char *s = json; *s; s++)
        if (*s == '\'') *s = '"';
    if (json_doc_parse(&doc, "a.json", json, strlen(json), &e) != 0) fail_msg("%s", e.msg);
    diag_init(&d);
    *out = amount_read(a, &doc, json_object_get(doc.root, "v"), "/v", number, &doc, &d);
    const size_t n = d.count;
    snprintf(said, size, "%s %s", n ? d.problem[0].where : "", n ? d.problem[0].msg : "");
    diag_fini(&d);
    json_doc_fini(&doc);
    free(json);
    return n;
}

static struct amount good(struct arena *a, const char *text)
{
    struct amount x;
    char said[800];
    if (read_text(&x, a, text, said, sizeof said)) fail_msg("%s", said);
    return x;
}

static void known(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct amount x = good(a, "2.385");
    assert_false(amount_ranged(&x));
    assert_close(amount_at(&x, 0.7), 2.385, 0);
    assert_close(amount_share_below(&x, 2.385), 0.5, 0);
    arena_destroy(a);
}

static void uniform(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    const struct amount x = good(a, "{'shape': 'uniform', 'low': 2, 'high': 7}");
    assert_close(x.mode, 4.5, 0);
    assert_close(amount_at(&x, 0.3), 3.5, 1e-15);
    assert_close(amount_at(&x, -1), 4.5, 0);
    assert_close(amount_share_below(&x, 3.5), 0.3, 1e-15);
    assert_close(amount_share_below(&x, 9), 1, 0);
    assert_close(amount_share_below(&x, 1), 0, 0);
    arena_destroy(a);
}

/* exp(0.1 x 1.2815515655) is the 90 % point of a lognormal with median 1 and sigma 0.1. */
static void lognormal(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct amount x = good(a, "{'shape': 'lognormal', 'mode': 200, 'sd': 0.1}");
    assert_close(amount_at(&x, 0.5), 200, 1e-12);
    assert_close(amount_at(&x, 0.9), 200 * exp(0.12815515655446), 1e-9);
    assert_close(amount_share_below(&x, 200 * exp(0.12815515655446)), 0.9, 1e-9);
    assert_close(x.low, 200 * exp(-0.1 * 3.0902323061678), 1e-9); /* 0.1 % point */
    assert_close(amount_at(&x, 0), x.low, 0);
    assert_close(amount_at(&x, 1), x.high, 0);
    amount_scale(&x, 0.14);
    assert_close(amount_at(&x, 0.5), 28, 1e-12);
    arena_destroy(a);
}

static void listed(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct amount x = good(a, "{'set': [5, 3, 4, 4]}");
    assert_int_equal(x.shape, AMOUNT_SET);
    assert_close(x.low, 3, 0);
    assert_close(x.mode, 4, 0);
    assert_close(x.high, 5, 0);
    assert_close(amount_at(&x, 0.24), 3, 0);
    assert_close(amount_at(&x, 0.25), 4, 0);
    assert_close(amount_at(&x, 0.74), 4, 0);
    assert_close(amount_at(&x, 0.76), 5, 0);
    assert_close(amount_at(&x, 1), 5, 0);
    assert_close(amount_share_below(&x, 4), 0.5, 0); /* the middle of its step */
    amount_scale(&x, 2);
    assert_close(amount_at(&x, 0.1), 6, 0);
    arena_destroy(a);
}

static void every_complaint(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        { "'x'", "expected a number" },
        { "{'low': 1, 'high': 2}", "missing \"mode\"" },
        { "{'low': 3, 'mode': 2, 'high': 4}", "low <= mode <= high" },
        { "{'shape': 'uniform', 'low': 3, 'high': 2}", "low <= mode <= high" },
        { "{'shape': 'uniform', 'low': 3, 'mode': 3, 'high': 4}", "mode" },
        { "{'shape': 'gauss', 'low': 3, 'high': 4}", "/v/shape" },
        { "{'shape': 7, 'low': 3, 'high': 4}", "/v/shape" },
        { "{'shape': 'lognormal', 'mode': 3}", "/v/sd" },
        { "{'shape': 'lognormal', 'mode': 3, 'sd': 0}", "/v/sd" },
        { "{'shape': 'lognormal', 'sd': 0.1}", "missing \"mode\"" },
        { "{'set': []}", "/v/set" },
        { "{'set': 3}", "/v/set" },
        { "{'set': [1, 'a']}", "/v/set/1" },
        { "{'shape': 'set'}", "/v/set" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena *a = arena_create();
        struct amount x;
        char said[800];
        if (read_text(&x, a, bad[i][0], said, sizeof said) == 0) fail_msg("case %zu passes", i);
        if (!strstr(said, bad[i][1])) fail_msg("case %zu: %s", i, said);
        arena_destroy(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known),  cmocka_unit_test(uniform),         cmocka_unit_test(lognormal),
        cmocka_unit_test(listed), cmocka_unit_test(every_complaint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
