/* JSON with places: what is refused and where, how values are found, named, changed and written. */
#include "base/json.h"
#include "base/mem.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(struct json_doc *doc, const char *text, struct err *e)
{
    *e = (struct err){ 0 };
    return json_doc_parse(doc, "a.json", text, strlen(text), e);
}

static struct json_doc must_parse(const char *text)
{
    struct json_doc doc;
    struct err e;

    if (parse(&doc, text, &e)) err_print(&e, "gpusim", stderr);
    assert_non_null(doc.root);
    return doc;
}

static void syntax_errors_have_a_place(void **state)
{
    static const struct {
        const char *text, *where, *msg;
        int col, len;
    } t[] = {
        { "", "a.json:1:1", "empty file", 0, 0 },
        { " \n\t ", "a.json:1:1", "empty file", 0, 0 },
        { "{\n  \"a\": nope\n}", "a.json:2:8", "invalid token near 'nope'", 8, 4 },
        { "{\"a\": 1, \"a\": 2}", "a.json:1:10", "duplicate object key", 10, 3 },
        { "{\"a\": NaN}", "a.json:1:7", "invalid token", 7, 3 },
        { "{\"a\": 1e999}", "a.json:1:7", "real number overflow", 7, 5 },
        { "{\"a\": 12345678901234567890123}", "a.json:1:7", "too big integer", 7, 23 },
        { "[1, 2", "a.json:1:5", "end of file", 5, 1 },
        { "{\"a\": 1} x", "a.json:1:10", "end of file expected", 10, 1 },
        { "3", "a.json:1:1", "'[' or '{' expected", 1, 1 },
        { "\xEF\xBB\xBF{}", "a.json:1:1", "byte-order mark", 1, 1 },
        { "\xFF\xFE{", "a.json:1:1", "UTF-16", 1, 1 },
        { "{\"a\": \"\xC3\x28\"}", "a.json:1", "UTF-8", -1, -1 },
        { "{\"a\": \"\\u0000\"}", "a.json:1", "\\u0000", -1, -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct json_doc doc;
        struct err e;
        assert_int_equal(parse(&doc, t[i].text, &e), ERR_INPUT);
        assert_null(doc.root);
        assert_null(doc.text);
        assert_contains(e.where, t[i].where);
        assert_contains(e.msg, t[i].msg);
        if (t[i].col <= 0) continue;
        assert_int_equal(e.mark_col, t[i].col);
        assert_int_equal(e.mark_len, t[i].len);
    }
}

static void hostile_files_are_refused(void **state)
{
    struct json_doc doc;
    struct err e = { 0 };
    enum { DEEP = 100000 };
    char *text = xmalloc(DEEP + 1);

    (void)state;
    assert_int_equal(json_doc_parse(&doc, "a", "{\"a\": \0}", 8, &e), ERR_INPUT);
    assert_contains(e.msg, "NUL");
    assert_string_equal(e.where, "a:1:7");

    memset(text, '[', DEEP);
    text[DEEP] = '\0';
    assert_int_equal(parse(&doc, text, &e), ERR_INPUT);
    assert_contains(e.msg, "depth");

    memcpy(text, "[", 1);
    memset(text + 1, '9', 400);
    strcpy(text + 401, "]");
    assert_int_equal(parse(&doc, text, &e), ERR_INPUT);
    assert_contains(e.msg, "too big integer");
    text[5] = '.'; /* 400 digits, but a small number */
    assert_int_equal(parse(&doc, text, &e), 0);
    json_doc_fini(&doc);
    free(text);
}

static void first_error_is_kept(void **state)
{
    struct json_doc doc;
    struct err e = { 0 };

    (void)state;
    err_set(&e, ERR_IO, NULL, "earlier");
    assert_int_equal(json_doc_parse(&doc, "a", "[", 1, &e), ERR_INPUT);
    assert_string_equal(e.msg, "earlier");
    assert_string_equal(e.excerpt, "");
    assert_int_equal(json_doc_parse(&doc, "a", "[", 1, NULL), ERR_INPUT);
}

static void files_are_loaded(void **state)
{
    struct json_doc doc;
    struct err e = { 0 };

    (void)state;
    assert_int_equal(json_doc_load(&doc, temp_file(".json", "{\"a\": 1}\n"), &e), 0);
    assert_int_equal(json_integer_value(json_object_get(doc.root, "a")), 1);
    assert_contains(doc.file, ".json");
    json_doc_fini(&doc);
    json_doc_fini(&doc);

    assert_int_equal(json_doc_load(&doc, "/nonexistent/x.json", &e), ERR_IO);
    assert_contains(e.where, "/nonexistent/x.json");
    assert_contains(e.msg, "No such file");
    e = (struct err){ 0 };
    assert_int_equal(json_doc_load(&doc, temp_dir(), &e), ERR_IO);
    assert_contains(e.msg, "directory");
}

static const char places[] = "{\n"
                             "  \"name\": \"x\",\n"
                             "  \"fleet\": [ {\"memory\": \"80 GW\"}, 7, [true,\n"
                             "     null] ],\n"
                             "  \"a/b\": {\"~\": 1.5, \"caf\\u00e9 \\\"q\\\"\": {} },\n"
                             "  \"\": -12\n"
                             "}\n";

static void values_are_located(void **state)
{
    static const struct {
        const char *pointer;
        bool all;
        int line, col, len;
    } t[] = {
        { "", true, 1, 1, 1 },
        { "/name", true, 2, 11, 3 },
        { "/fleet", true, 3, 12, 32 },
        { "/fleet/0/memory", true, 3, 25, 7 },
        { "/fleet/1", true, 3, 35, 1 },
        { "/fleet/2/0", true, 3, 39, 4 },
        { "/fleet/2/1", true, 4, 6, 4 },
        { "/a~1b/~0", true, 5, 16, 3 },
        { "/a~1b/caf\xC3\xA9 \"q\"", true, 5, 40, 2 },
        { "/", true, 6, 7, 3 },
        { "/fleet/0/memori", false, 3, 14, 19 }, /* the longest part that exists */
        { "/fleet/9", false, 3, 12, 32 },
        { "/fleet/x", false, 3, 12, 32 },
        { "/name/deeper", false, 2, 11, 3 },
        { "/none", false, 1, 1, 1 },
    };
    struct json_doc doc = must_parse(places);

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        int line, col, len;
        const bool all = json_doc_locate(&doc, t[i].pointer, &line, &col, &len);
        if (line != t[i].line || col != t[i].col || len != t[i].len || all != t[i].all)
            print_error("%s: %d:%d +%d\n", t[i].pointer, line, col, len);
        assert_int_equal(all, t[i].all);
        assert_int_equal(line, t[i].line);
        assert_int_equal(col, t[i].col);
        assert_int_equal(len, t[i].len);
    }
    json_doc_fini(&doc);
}

static void problems_show_the_line(void **state)
{
    struct json_doc doc = must_parse(places);
    struct diag d;

    (void)state;
    diag_init(&d);
    struct err *e = json_problem(&d, &doc, "/fleet/0/memory", "expected %s", "x");
    assert_string_equal(e->where, "a.json:3:25: /fleet/0/memory");
    assert_string_equal(e->msg, "expected x");
    assert_int_equal(e->line, 3);
    assert_int_equal(e->mark_col, 25);
    assert_int_equal(e->mark_len, 7);
    assert_contains(e->excerpt, "\"memory\": \"80 GW\"");
    e = json_problem(&d, NULL, "/x", "m");
    assert_string_equal(e->where, "/x");
    e = json_problem(&d, &doc, "/fleet/0/absent", "missing"); /* the place of its object */
    assert_string_equal(e->where, "a.json:3:14: /fleet/0/absent");
    diag_fini(&d);
    json_doc_fini(&doc);
}

/* A value that --set changed stands in no file: the old text must not be shown for it. */
static void changed_values_have_no_place(void **state)
{
    struct json_doc doc = must_parse(places);
    struct err e = { 0 };
    struct diag d;

    (void)state;
    diag_init(&d);
    assert_int_equal(json_path_set(doc.root, "fleet.0.memory", "7 ZB", &e), 0);
    assert_int_equal(json_path_set(doc.root, "new", "7", &e), 0);
    struct err *p = json_problem(&d, &doc, "/fleet/0/memory", "m");
    assert_string_equal(p->where, "a.json: /fleet/0/memory");
    assert_string_equal(p->excerpt, "");
    p = json_problem(&d, &doc, "/new", "m");
    assert_string_equal(p->where, "a.json: /new");
    p = json_problem(&d, &doc, "/fleet/1", "m"); /* its neighbour still has one */
    assert_string_equal(p->where, "a.json:3:35: /fleet/1");
    diag_fini(&d);
    json_doc_fini(&doc);
}

static void unknown_keys_are_named(void **state)
{
    static const char *const keys[] = { "name", "fleet", "policies" };
    struct json_doc doc = must_parse("{\n\"name\": 1, \"flet\": 2,\n  \"zzzzzz\": 3 }");
    struct diag d;

    (void)state;
    diag_init(&d);
    json_known_keys(&d, &doc, doc.root, "", keys, 3);
    assert_int_equal(d.count, 2);
    assert_string_equal(d.problem[0].where, "a.json:2:12: /flet");
    assert_int_equal(d.problem[0].mark_len, 6); /* the key with its quotes */
    assert_string_equal(d.problem[0].hint, "did you mean \"fleet\"?");
    assert_string_equal(d.problem[1].where, "a.json:3:3: /zzzzzz");
    assert_string_equal(d.problem[1].hint, "valid keys: name, fleet, policies");
    diag_fini(&d);
    json_doc_fini(&doc);
}

static void found_says_what_is_there(void **state)
{
    struct json_doc doc = must_parse("[\"80 GW\", 3, 3.5, true, null, {}, [], \"a\\nb\\\"\\u001b\","
                                     "\"0123456789012345678901234567890123456789012345678\"]");
    static const char *const want[] = { "\"80 GW\"",
                                        "3",
                                        "3.5",
                                        "true",
                                        "null",
                                        "an object",
                                        "an array",
                                        "\"a\\nb\\\"\\u001b\"",
                                        "\"0123456789012345678901234567890123456...\"" };
    char buf[96];

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_string_equal(json_found(buf, sizeof buf, json_array_get(doc.root, i)), want[i]);
    assert_string_equal(json_found(buf, sizeof buf, NULL), "nothing");
    assert_string_equal(json_found(buf, 4, json_array_get(doc.root, 0)), "\"80");
    json_doc_fini(&doc);
}

static void pointers_are_escaped(void **state)
{
    char buf[64];

    (void)state;
    assert_string_equal(json_pointer_key(buf, sizeof buf, "/a", "b/c~d"), "/a/b~1c~0d");
    assert_string_equal(json_pointer_index(buf, sizeof buf, "", 12), "/12");
    assert_string_equal(json_pointer_key(buf, 5, "/a", "long"), "/a/l"); /* cut, terminated */
}

static const char scenario[] =
    "{\"fleet\": [{\"name\": \"a100\", \"nodes\": 4}, {\"name\": \"l40s\", \"nodes\": 2}],"
    " \"policies\": [{\"name\": \"1\", \"slots\": 4}, {\"name\": \"mps\", \"slots\": 8}],"
    " \"layout\": {\"1g.5gb\": 7, \"1g\": {\"x\": 1}}, \"seed\": 1}";

static void dotted_paths_lead_to_values(void **state)
{
    struct json_doc doc = must_parse(scenario);

    (void)state;
    assert_int_equal(json_integer_value(json_path_get(doc.root, "fleet.a100.nodes")), 4);
    assert_int_equal(json_integer_value(json_path_get(doc.root, "fleet.1.nodes")), 2);
    assert_int_equal(json_integer_value(json_path_get(doc.root, "policies.1.slots")),
                     4); /* a name first */
    assert_int_equal(json_integer_value(json_path_get(doc.root, "layout.1g.5gb")),
                     7); /* a dot in a key */
    assert_int_equal(json_integer_value(json_path_get(doc.root, "layout.1g.x")), 1);
    assert_null(json_path_get(doc.root, "fleet.h100.nodes"));
    assert_null(json_path_get(doc.root, "fleet.7"));
    assert_null(json_path_get(doc.root, "seed.x"));
    assert_null(json_path_get(doc.root, ""));
    assert_null(json_path_get(doc.root, "."));
    assert_null(json_path_get(doc.root, "fleet..nodes"));
    assert_null(json_path_get(NULL, "x"));
    json_doc_fini(&doc);
}

static void dotted_paths_are_set(void **state)
{
    struct json_doc doc = must_parse(scenario);
    struct err e = { 0 };

    (void)state;
    assert_int_equal(json_path_set(doc.root, "fleet.a100.nodes", "16", &e), 0);
    assert_int_equal(json_integer_value(json_path_get(doc.root, "fleet.0.nodes")), 16);
    assert_int_equal(json_path_set(doc.root, "fleet.a100.memory", "80 GiB", &e),
                     0); /* not JSON: text */
    assert_string_equal(json_string_value(json_path_get(doc.root, "fleet.0.memory")), "80 GiB");
    assert_int_equal(json_path_set(doc.root, "layout.1g.5gb", "true", &e), 0);
    assert_true(json_is_true(json_path_get(doc.root, "layout.1g.5gb")));
    assert_int_equal(json_path_set(doc.root, "policies.mps", "{\"name\": \"x\"}", &e), 0);
    assert_string_equal(json_string_value(json_path_get(doc.root, "policies.1.name")), "1");
    assert_int_equal(json_path_set(doc.root, "policies.x.slots", "2", &e), 0);
    assert_int_equal(json_path_set(doc.root, "horizon", "\"7 d\"", &e), 0);
    assert_string_equal(json_string_value(json_path_get(doc.root, "horizon")), "7 d");
    json_doc_fini(&doc);
}

static void paths_that_lead_nowhere_say_where(void **state)
{
    static const struct {
        const char *path, *msg, *hint;
    } t[] = {
        { "fleet.a10.nodes", "no \"a10\" in \"fleet\"", "did you mean \"a100\"?" },
        { "flet.a100.nodes", "no \"flet\" in the document", "did you mean \"fleet\"?" },
        { "fleet.9", "no \"9\" in \"fleet\"", "it has: a100, l40s" },
        { "seed.x", "\"seed\" is a plain value", "" },
        { "", "an empty key", "" },
        { "fleet.", "an empty key", "" },
        { ".fleet", "an empty key", "" },
    };
    struct json_doc doc = must_parse(scenario);

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct err e = { 0 };
        assert_int_equal(json_path_set(doc.root, t[i].path, "1", &e), ERR_USAGE);
        assert_contains(e.msg, t[i].msg);
        assert_string_equal(e.hint, t[i].hint);
    }
    struct err e = { 0 };
    assert_int_equal(json_path_set(doc.root, "seed", "\xC3\x28", &e), ERR_USAGE);
    assert_contains(e.msg, "UTF-8");
    json_doc_fini(&doc);
}

static void written_form_is_fixed(void **state)
{
    struct json_doc doc = must_parse(
        "{\"z\":1,\"a\":[1,2.50,\"x\"],\"o\":{},\"l\":[],\"n\":[[1],{\"k\":null}],\"s\":\"\\u00e9\\n\\\"\\u0001/\"}");
    struct strbuf b = { 0 };

    (void)state;
    json_write(doc.root, &b);
    assert_string_equal(b.s, "{\n"
                             "  \"z\": 1,\n"
                             "  \"a\": [1, 2.5, \"x\"],\n"
                             "  \"o\": {},\n"
                             "  \"l\": [],\n"
                             "  \"n\": [\n"
                             "    [1],\n"
                             "    {\n"
                             "      \"k\": null\n"
                             "    }\n"
                             "  ],\n"
                             "  \"s\": \"\xC3\xA9\\n\\\"\\u0001/\"\n"
                             "}\n");
    strbuf_fini(&b);
    json_doc_fini(&doc);
}

static void assert_written(json_t *v, const char *want)
{
    struct strbuf b = { 0 };

    json_write(v, &b);
    b.s[b.len - 1] = '\0';
    assert_string_equal(b.s, want);
    strbuf_fini(&b);
    json_decref(v);
}

static void numbers_are_written(void **state)
{
    (void)state;
    assert_written(json_real(0.1), "0.1");
    assert_written(json_real(1), "1.0"); /* a real stays a real */
    assert_written(json_real(-2.385), "-2.385");
    assert_written(json_real(1e300), "1e+300");
    assert_written(json_real(1.0 / 3), "0.333333333333333");
    assert_written(json_real(123456789.123456), "123456789.123456");
    assert_written(json_real(1e-7), "1e-07");
    assert_written(json_real(0.0001), "0.0001");
    assert_written(json_real(-0.0), "-0.0");
    assert_written(json_real(-1.7976931348623157e308), "-1.79769313486231e+308"); /* reads back */
    assert_written(json_integer(INT64_MIN), "-9223372036854775808");
    assert_written(json_num(80), "80");
    assert_written(json_num(80.25), "80.25");
    assert_written(json_num((double)NAN), "null");
    assert_written(json_num((double)INFINITY), "null");
    assert_written(json_num(0x1p60), "1.15292150460685e+18");
}

/* The short cut for common numbers never differs from "%.15g". */
static void short_cut_equals_printf(void **state)
{
    uint64_t rng = test_seed();

    (void)state;
    for (int i = 0; i < 200000; i++) {
        double v =
            (double)(int64_t)test_random(&rng) / (double)(UINT64_C(1) << (test_random(&rng) % 63));
        char want[48];
        if (i % 2) v = rint(v * 1e4) / 1e4;
        snprintf(want, sizeof want, "%.15g", v);
        if (!strpbrk(want, ".e")) strcat(want, ".0");
        assert_written(json_real(v), want);
    }
}

static void writing_and_reading_is_stable(void **state)
{
    struct json_doc doc = must_parse(places);
    struct strbuf once = { 0 }, twice = { 0 };

    (void)state;
    json_write(doc.root, &once);
    struct json_doc again = must_parse(once.s);
    assert_true(json_equal(doc.root, again.root));
    json_write(again.root, &twice);
    assert_string_equal(once.s, twice.s);
    strbuf_fini(&once);
    strbuf_fini(&twice);
    json_doc_fini(&doc);
    json_doc_fini(&again);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(syntax_errors_have_a_place),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(first_error_is_kept),
        cmocka_unit_test(files_are_loaded),
        cmocka_unit_test(values_are_located),
        cmocka_unit_test(problems_show_the_line),
        cmocka_unit_test(changed_values_have_no_place),
        cmocka_unit_test(unknown_keys_are_named),
        cmocka_unit_test(found_says_what_is_there),
        cmocka_unit_test(pointers_are_escaped),
        cmocka_unit_test(dotted_paths_lead_to_values),
        cmocka_unit_test(dotted_paths_are_set),
        cmocka_unit_test(paths_that_lead_nowhere_say_where),
        cmocka_unit_test(written_form_is_fixed),
        cmocka_unit_test(numbers_are_written),
        cmocka_unit_test(short_cut_equals_printf),
        cmocka_unit_test(writing_and_reading_is_stable),
    };

    return cmocka_run_group_tests_name("json", t, NULL, NULL);
}
