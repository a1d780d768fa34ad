/* test_json_shape.c - tables of members against documents: every kind, right and wrong, with its
 * place. */
#include "base/json_shape.h"
#include "tests/support/support.h"

#include <string.h>

static const struct json_shape inner[] = {
    { "n", JSON_KIND_NUMBER, NULL, false },
    { 0 },
};

#define ONE(kind)                                                                                  \
    (const struct json_shape[])                                                                    \
    {                                                                                              \
        { "m", kind, NULL, false },                                                                \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define OF(kind)                                                                                   \
    (const struct json_shape[])                                                                    \
    {                                                                                              \
        { "m", kind, inner, false },                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* Problems of a document; the first as "POINTER: words" in `said` ("" without one). */
static size_t problems(const char *text, const struct json_shape *shape, char said[700])
{
    struct json_doc doc;
    struct err e = { 0 };
    struct diag d;
    if (json_doc_parse(&doc, "d", text, strlen(text), &e) != 0) fail_msg("%s: %s", text, e.msg);
    diag_init(&d);
    json_shape_check(&doc, shape, &d);
    const size_t n = d.count;
    const char *slash = n ? strchr(d.problem[0].where, '/') : NULL;
    snprintf(said, 700, "%s: %s", slash ? slash : "", n ? d.problem[0].msg : "");
    diag_fini(&d);
    json_doc_fini(&doc);
    return n;
}

static void kinds(void **state)
{
    static const struct {
        enum json_kind kind;
        const char *good, *bad, *said;
    } t[] = {
        { JSON_KIND_TEXT, "\"\"", "null", "/m: expected a string, found null" },
        { JSON_KIND_TEXT_OR_NULL, "null", "true", "/m: expected a string or null, found true" },
        { JSON_KIND_NUMBER, "1.5", "\"1\"", "/m: expected a number or null, found \"1\"" },
        { JSON_KIND_NUMBER, "null", "[]", "/m: expected a number or null, found an array" },
        { JSON_KIND_COUNT, "7", "-1", "/m: expected a count, found -1" },
        { JSON_KIND_COUNT, "\"18446744073709551615\"", "\"18446744073709551616\"",
          "/m: expected a count" },
        { JSON_KIND_COUNT, "0", "0.5", "/m: expected a count, found 0.5" },
        { JSON_KIND_FLAG, "false", "0", "/m: expected true or false, found 0" },
        { JSON_KIND_OBJECT, "{}", "[]", "/m: expected an object, found an array" },
        { JSON_KIND_TEXTS, "[]", "{}", "/m: expected an array, found an object" },
        { JSON_KIND_TEXTS, "[\"a\"]", "[\"a\", 1]", "/m/1: expected a string, found 1" },
        { JSON_KIND_NUMBERS, "[1, null]", "[1, \"\"]", "/m/1: expected a number or null" },
        { JSON_KIND_OBJECTS, "[{}]", "[{}, []]", "/m/1: expected an object, found an array" },
        { JSON_KIND_MAP_OF_TEXTS, "{\"a\": \"b\"}", "{\"a\": 1}", "/m/a: expected a string" },
        { JSON_KIND_MAP_OF_NUMBERS, "{\"a\": 1}", "{\"a/b\": {}}", "/m/a~1b: expected a number" },
        { JSON_KIND_MAP_OF_NUMBER_LISTS, "{\"a\": []}", "{\"a\": 1}", "/m/a: expected an array" },
        { JSON_KIND_MAP_OF_NUMBER_LISTS, "{\"a\": [1]}", "{\"a\": [{}]}",
          "/m/a/0: expected a number" },
        { JSON_KIND_MAP_OF_OBJECTS, "{\"a\": {}}", "{\"a\": []}", "/m/a: expected an object" },
        { JSON_KIND_MAP_OF_OBJECTS, "{}", "[]", "/m: expected an object, found an array" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char text[100], said[700];
        snprintf(text, sizeof text, "{\"m\": %s, \"other\": 1}", t[i].good);
        assert_int_equal(problems(text, ONE(t[i].kind), said), 0);
        snprintf(text, sizeof text, "{\"m\": %s}", t[i].bad);
        assert_int_equal(problems(text, ONE(t[i].kind), said), 1);
        assert_contains(said, t[i].said);
    }
}

static void what_is_inside(void **state)
{
    static const struct {
        enum json_kind kind;
        const char *text, *said;
    } t[] = {
        { JSON_KIND_OBJECT, "{\"m\": {\"n\": true}}", "/m/n: expected a number" },
        { JSON_KIND_OBJECTS, "{\"m\": [{\"n\": 1}, {\"n\": \"\"}]}", "/m/1/n: expected a number" },
        { JSON_KIND_MAP_OF_OBJECTS, "{\"m\": {\"a\": {\"n\": 1}, \"b\": {}}}",
          "/m/b: missing \"n\"" },
    };
    char said[700];
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(problems(t[i].text, OF(t[i].kind), said), 1);
        assert_contains(said, t[i].said);
    }
}

static void what_is_missing(void **state)
{
    static const struct json_shape may_be[] = { { "m", JSON_KIND_TEXT, NULL, true }, { 0 } };
    char said[700];
    (void)state;
    assert_int_equal(problems("{}", ONE(JSON_KIND_TEXT), said), 1);
    assert_string_equal(said, ": missing \"m\"");
    assert_int_equal(problems("{}", may_be, said), 0);
    assert_int_equal(problems("{\"m\": 1}", may_be, said), 1); /* but if it is there it is right */
    assert_int_equal(problems("[]", may_be, said), 1);
    assert_string_equal(said, ": expected an object, found an array");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(what_is_inside),
        cmocka_unit_test(what_is_missing),
    };
    return cmocka_run_group_tests_name("json_shape", tests, NULL, NULL);
}
