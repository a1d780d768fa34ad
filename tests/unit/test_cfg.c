/* Configuration tables: every type, every refusal with its message, the resolved form, help. */
#include "base/cfg.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const modes[] = { "unchecked", "reserve", NULL };

struct sample {
    bool on;
    int64_t slots, extra;
    double factor, share, rate;
    const char *label;
    int memory;
    simtime quantum, limit;
    uint64_t bytes;
    json_t *more;
};

static const struct cfg_field fields[] = {
    CFG_FIELD(struct sample, on, CFG_BOOL, "true", 0, 0, "whether at all"),
    CFG_FIELD(struct sample, slots, CFG_INT, "4", 1, 64, "tenants a card admits"),
    CFG_FIELD(struct sample, extra, CFG_INT, NULL, 0, 0, "no default"),
    CFG_FIELD(struct sample, factor, CFG_REAL, "1.5", 0, INFINITY, "a factor"),
    CFG_FIELD(struct sample, share, CFG_RATIO, "0.02", 0, 0, "a ratio"),
    CFG_QUANTITY(struct sample, rate, UNIT_PER_KWH, NULL, 0, 0, "a price"),
    CFG_FIELD(struct sample, label, CFG_TEXT, NULL, 0, 0, "a text"),
    CFG_ONE_OF(struct sample, memory, modes, "unchecked", "how memory is kept"),
    CFG_FIELD(struct sample, quantum, CFG_TIME, "1.024 ms", 0, 1, "length of a turn"),
    CFG_FIELD(struct sample, limit, CFG_TIME, NULL, 0, 0, "an end"),
    CFG_FIELD(struct sample, bytes, CFG_BYTES, NULL, 1, 1e12, "a size"),
    CFG_FIELD(struct sample, more, CFG_JSON, NULL, 0, 0, "read elsewhere"),
};
enum { N = sizeof fields / sizeof *fields };

struct fixture {
    struct arena *a;
    struct json_doc doc;
    struct diag d;
    struct sample s;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->a = arena_create();
    diag_init(&f->d);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    arena_destroy(f->a);
    json_doc_fini(&f->doc);
    diag_fini(&f->d);
    free(f);
    return 0;
}

static void read_text(struct fixture *f, const char *text)
{
    struct err e = { 0 };

    json_doc_fini(&f->doc);
    diag_fini(&f->d);
    diag_init(&f->d);
    assert_int_equal(json_doc_parse(&f->doc, "a.json", text, strlen(text), &e), 0);
    cfg_read(fields, N, &f->s, f->a, &f->doc, f->doc.root, "", NULL, 0, &f->d);
}

static void defaults(void **state)
{
    struct fixture *f = *state;

    cfg_read(fields, N, &f->s, f->a, NULL, NULL, "", NULL, 0, &f->d);
    assert_int_equal(f->d.count, 0);
    assert_true(f->s.on);
    assert_int_equal(f->s.slots, 4);
    assert_int_equal(f->s.extra, CFG_NO_INT);
    assert_close(f->s.factor, 1.5, 0);
    assert_close(f->s.share, 0.02, 0);
    assert_true(isnan(f->s.rate));
    assert_null(f->s.label);
    assert_int_equal(f->s.memory, 0);
    assert_int_equal(f->s.quantum, 1024000);
    assert_int_equal(f->s.limit, CFG_NO_TIME);
    assert_true(f->s.bytes == CFG_NO_BYTES);
    assert_null(f->s.more);
}

static void every_type_is_read(void **state)
{
    struct fixture *f = *state;

    read_text(f,
              "{\"on\": false, \"slots\": 8.0, \"extra\": -3, \"factor\": 2, \"share\": 1,"
              " \"rate\": \"0.12 USD/kWh\", \"label\": \"x\", \"memory\": \"reserve\","
              " \"quantum\": \"2 ms\", \"limit\": \"7 d\", \"bytes\": \"80 GiB\", \"more\": [1]}");
    assert_int_equal(f->d.count, 0);
    assert_false(f->s.on);
    assert_int_equal(f->s.slots, 8); /* 8.0 is a whole number */
    assert_int_equal(f->s.extra, -3);
    assert_close(f->s.factor, 2, 0);
    assert_close(f->s.share, 1, 0);
    assert_close(f->s.rate, 0.12, 0);
    assert_string_equal(f->s.label, "x");
    assert_int_equal(f->s.memory, 1);
    assert_int_equal(f->s.quantum, 2000000);
    assert_int_equal(f->s.limit, 168 * SIM_HOUR);
    assert_true(f->s.bytes == UINT64_C(80) << 30);
    assert_true(json_is_array(f->s.more));
}

static void refusals(void **state)
{
    static const struct {
        const char *text, *msg, *hint;
    } t[] = {
        { "{\"bytes\": \"80 GW\"}", "expected a size such as \"80 GiB\", found \"80 GW\"",
          "did you mean \"80 GB\"?" },
        { "{\"quantum\": 12}", "expected a duration such as \"12 s\", found 12",
          "a unit is missing: write \"12 s\"" },
        { "{\"quantum\": \"12\"}", "expected a duration such as \"12 s\", found \"12\"",
          "a unit is missing: write \"12 s\"" },
        { "{\"bytes\": 80}", "expected a size such as \"80 GiB\", found 80", "write \"80 GiB\"" },
        { "{\"quantum\": \"5 minutes\"}", "found \"5 minutes\"", "did you mean \"5 min\"?" },
        { "{\"quantum\": \"2 s\"}", "expected a value from 0 s to 1 s, found \"2 s\"", "" },
        { "{\"quantum\": \"-2 s\"}", "found \"-2 s\"", "" },
        { "{\"quantum\": null}", "found null", "" },
        { "{\"rate\": 0.12}", "price of energy such as \"0.12 USD/kWh\", found 0.12",
          "write \"0.12 USD/kWh\"" },
        { "{\"slots\": 0}", "expected a value from 1 to 64, found 0", "" },
        { "{\"slots\": 2.5}", "expected a whole number, found 2.5", "" },
        { "{\"slots\": \"4\"}", "expected a whole number, found \"4\"", "" },
        { "{\"slots\": 1e300}", "expected a whole number, found 1e+300", "" },
        { "{\"factor\": -1}", "expected a value at least 0, found -1", "" },
        { "{\"factor\": \"2\"}", "expected a number, found \"2\"", "without quotes" },
        { "{\"share\": 50}", "expected a value from 0 to 1, found 50", "write 0.5 for 50 %" },
        { "{\"share\": 1.0000001}", "expected a value from 0 to 1", "percent" },
        { "{\"on\": 1}", "expected true or false, found 1", "" },
        { "{\"on\": \"true\"}", "expected true or false, found \"true\"", "without quotes" },
        { "{\"label\": 3}", "expected a text, found 3", "" },
        { "{\"memory\": \"reserv\"}", "expected one of unchecked, reserve, found \"reserv\"",
          "did you mean \"reserve\"?" },
        { "{\"memory\": 3}", "expected one of unchecked, reserve, found 3", "" },
        { "{\"slot\": 4}", "unknown key", "did you mean \"slots\"?" },
        { "{\"qunatum\": \"1 ms\"}", "unknown key", "did you mean \"quantum\"?" },
        { "[]", "expected an object, found an array", "" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        read_text(f, t[i].text);
        if (f->d.count != 1) print_error("%s\n", t[i].text);
        assert_int_equal(f->d.count, 1);
        assert_contains(f->d.problem[0].msg, t[i].msg);
        assert_contains(f->d.problem[0].hint, t[i].hint);
        assert_contains(f->d.problem[0].where, "a.json:1:");
    }
}

static void whole_message_as_documented(void **state)
{
    struct fixture *f = *state;
    char *s = NULL;
    size_t n;

    read_text(f, "{\n  \"bytes\": \"80 GW\"\n}");
    FILE *to = open_memstream(&s, &n);
    err_print(&f->d.problem[0], "gpusim", to);
    fclose(to);
    assert_string_equal(
        s, "gpusim: a.json:2:12: /bytes: expected a size such as \"80 GiB\", found \"80 GW\"\n"
           "    2 |   \"bytes\": \"80 GW\"\n"
           "      |            ^^^^^^^   did you mean \"80 GB\"?\n");
    free(s);
}

static void all_problems_are_reported(void **state)
{
    struct fixture *f = *state;

    read_text(f, "{\"slots\": 0, \"quantum\": 1, \"zzz\": 1, \"memory\": 2}");
    assert_int_equal(f->d.count, 4);
}

static void required_and_further_keys(void **state)
{
    static const struct cfg_field required[] = {
        CFG_REQUIRED(struct sample, slots, CFG_INT, 1, 9, "how many"),
    };
    static const char *const more[] = { "kind" };
    struct fixture *f = *state;
    json_t *obj = json_pack("{s:s}", "kind", "x");

    cfg_read(required, 1, &f->s, f->a, NULL, obj, "/share", more, 1, &f->d);
    assert_int_equal(f->d.count, 1);
    assert_string_equal(f->d.problem[0].where, "/share");
    assert_string_equal(f->d.problem[0].msg, "expected a member \"slots\" (how many), found none");
    cfg_read(required, 1, &f->s, f->a, NULL, NULL, "/other", more, 1, &f->d);
    assert_int_equal(f->d.count, 2); /* required even when there is no object at all */
    json_decref(obj);
}

static void resolved_form_reads_back(void **state)
{
    static const char text[] =
        "{\"on\": false, \"slots\": 8, \"extra\": -3, \"factor\": 2.5, \"share\": 1, \"rate\": \"0.12 USD/kWh\","
        " \"label\": \"x\", \"memory\": \"reserve\", \"quantum\": \"2 ms\", \"limit\": \"7 d\","
        " \"bytes\": \"80 GiB\", \"more\": [1]}";
    struct fixture *f = *state;

    read_text(f, text);
    json_t *out = cfg_write(fields, N, &f->s);
    assert_true(json_equal(out, f->doc.root)); /* this text is its own resolved form */
    json_decref(out);

    cfg_read(fields, N, &f->s, f->a, NULL, NULL, "", NULL, 0, &f->d);
    out = cfg_write(fields, N, &f->s);
    assert_null(json_object_get(out, "extra")); /* absent stays absent */
    assert_null(json_object_get(out, "rate"));
    assert_null(json_object_get(out, "more"));
    struct sample again;
    cfg_read(fields, N, &again, f->a, NULL, out, "", NULL, 0, &f->d);
    assert_int_equal(f->d.count, 0);
    assert_int_equal(again.quantum, f->s.quantum);
    assert_int_equal(again.limit, CFG_NO_TIME);
    json_decref(out);
}

static void help_is_a_table(void **state)
{
    char *s = NULL;
    size_t n;
    FILE *to = open_memstream(&s, &n);

    (void)state;
    cfg_help(fields, N, to);
    fclose(to);
    assert_contains(s, "field");
    assert_contains(s, "quantum  duration    1.024 ms   from 0 s to 1 s");
    assert_contains(s, "unchecked, reserve");
    assert_contains(s, "at least 0");
    const char *meaning = strstr(s, "meaning"), *first = strstr(s, "whether at all");
    const char *second_line = strchr(s, '\n') + 1;
    assert_int_equal(meaning - s, first - second_line); /* aligned */
    free(s);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test_setup_teardown(defaults, setup, teardown),
        cmocka_unit_test_setup_teardown(every_type_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(whole_message_as_documented, setup, teardown),
        cmocka_unit_test_setup_teardown(all_problems_are_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(required_and_further_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(resolved_form_reads_back, setup, teardown),
        cmocka_unit_test(help_is_a_table),
    };

    return cmocka_run_group_tests_name("cfg", t, NULL, NULL);
}
