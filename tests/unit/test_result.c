/* test_result.c - a result survives writing and reading; broken ones are told apart with a
 * place. */
#include "support/support.h"

#include "base/str.h"
#include "model/result.h"
#include "support/fake_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *write_text(const struct result *r)
{
    struct strbuf b = { 0 };
    json_t *v = result_to_json(r);
    json_write(v, &b);
    json_decref(v);
    return b.s;
}

static void parse(struct json_doc *doc, const char *text)
{
    struct err e = { 0 };
    if (json_doc_parse(doc, "result.json", text, strlen(text), &e) != 0) fail_msg("%s", e.msg);
}

static void round_trip_is_byte_identical(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result made, back;
    struct diag d;
    struct json_doc doc = { 0 };
    fake_result(&made, a);
    char *text = write_text(&made);
    parse(&doc, text);
    diag_init(&d);
    result_read(&back, a, &doc, &d);
    if (d.count) fail_msg("%s: %s", d.problem[0].where, d.problem[0].msg);
    char *again = write_text(&back);
    assert_string_equal(text, again);
    assert_int_equal(back.n_policies, made.n_policies);
    assert_int_equal(back.seed, made.seed);
    assert_string_equal(back.scenario_name, "mixed");
    assert_string_equal(back.policy[1].name, made.policy[1].name);
    assert_close(back.policy[0].stats.wait_s.p95, made.policy[0].stats.wait_s.p95, 1e-14);
    assert_close(back.policy[0].tco.total_usd, made.policy[0].tco.total_usd, 1e-14);
    free(text);
    free(again);
    diag_fini(&d);
    json_doc_fini(&doc);
    fake_result_fini(&made);
    arena_destroy(a);
}

static void null_stands_for_not_known(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result made, back;
    struct diag d;
    struct json_doc doc = { 0 };
    fake_result(&made, a);
    struct policy_result p = made.policy[0];
    p.gpu.duty = NAN;
    p.tco = (struct tco_result){ .priced = false };
    p.stable = false;
    p.unstable_reason = "the queue grows";
    p.stats.wait_s.p99 = NAN;
    made.policy = &p;
    made.n_policies = 1;
    made.seed = UINT64_MAX;
    char *text = write_text(&made);
    parse(&doc, text);
    json_t *policy = json_array_get(json_object_get(doc.root, "policies"), 0);
    assert_true(json_is_null(json_object_get(json_object_get(policy, "gpu"), "duty")));
    assert_true(json_is_null(json_object_get(policy, "tco")));
    assert_string_equal(json_string_value(json_object_get(policy, "stable_reason")),
                        "the queue grows");
    diag_init(&d);
    result_read(&back, a, &doc, &d);
    assert_int_equal(d.count, 0);
    assert_true(isnan(back.policy[0].gpu.duty));
    assert_true(isnan(back.policy[0].stats.wait_s.p99));
    assert_false(back.policy[0].tco.priced);
    assert_false(back.policy[0].stable);
    assert_true(back.seed == UINT64_MAX);
    free(text);
    diag_fini(&d);
    json_doc_fini(&doc);
    fake_result_fini(&made);
    arena_destroy(a);
}

static void names_need_not_be_utf8(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result made;
    fake_result(&made, a);
    struct policy_result p = made.policy[0];
    struct job_group_result user = p.by_user[0];
    user.name = "caf\xe9";
    p.by_user = &user;
    p.n_users = 1;
    made.policy = &p;
    made.n_policies = 1;
    char *text = write_text(&made);
    assert_non_null(strstr(text, "\"caf\\\\xe9\""));
    free(text);
    fake_result_fini(&made);
    arena_destroy(a);
}

/* Read `text` and return the number of problems; the first one's place and words go to buf. */
static size_t problems(const char *text, char *buf, size_t size)
{
    struct arena *a = arena_create();
    struct result r;
    struct diag d;
    struct json_doc doc = { 0 };
    parse(&doc, text);
    diag_init(&d);
    result_read(&r, a, &doc, &d);
    size_t n = d.count;
    snprintf(buf, size, "%s: %s", n ? d.problem[0].where : "", n ? d.problem[0].msg : "");
    diag_fini(&d);
    json_doc_fini(&doc);
    arena_destroy(a);
    return n;
}

static void broken_results_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "[]", "gpusim-result/1" },
        { "{\"format\": \"gpusim-scenario/1\"}", "/format" },
        { "{\"format\": \"gpusim-result/1\"}", "missing \"gpusim_version\"" },
        { "{\"format\": \"gpusim-result/1\", \"gpusim_version\": 3}", "/gpusim_version" },
        { "{\"format\": \"gpusim-result/1\", \"gpusim_version\": \"1\", \"scenario\": {\"name\": \"x\"},"
          "\"scenario_sha256\": \"\", \"seed\": -1}",
          "/seed" },
        { "{\"format\": \"gpusim-result/1\", \"gpusim_version\": \"1\", \"scenario\": {\"name\": \"x\"},"
          "\"scenario_sha256\": \"\", \"seed\": 1, \"trace_sha256\": [], \"policies\": [7]}",
          "/policies/0" },
        { "{\"format\": \"gpusim-result/1\", \"gpusim_version\": \"1\", \"scenario\": {\"name\": \"x\"},"
          "\"scenario_sha256\": \"\", \"seed\": 1, \"trace_sha256\": [], "
          "\"policies\": [{\"name\": \"p\", \"kind\": \"whole\", \"gpu\": 3}]}",
          "/policies/0/gpu" },
        { "{\"format\": \"gpusim-result/1\", \"gpusim_version\": \"1\", \"scenario\": {\"name\": \"x\"},"
          "\"scenario_sha256\": \"\", \"seed\": 1, \"trace_sha256\": [], \"inputs\": [], "
          "\"files\": [{\"name\": \"jobs.csv\", \"bytes\": 3, \"crc32\": \"abcdefg0\"}]}",
          "/files/0/crc32" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[800];
        assert_true(problems(cases[i].text, said, sizeof said) > 0);
        if (!strstr(said, cases[i].says)) fail_msg("case %zu: %s", i, said);
    }
}

static void unknown_keys_are_ignored(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result made, back;
    struct diag d;
    struct json_doc doc = { 0 };
    fake_result(&made, a);
    char *text = write_text(&made);
    parse(&doc, text);
    json_object_set_new(doc.root, "later", json_integer(1));
    diag_init(&d);
    result_read(&back, a, &doc, &d);
    assert_int_equal(d.count, 0);
    free(text);
    diag_fini(&d);
    json_doc_fini(&doc);
    fake_result_fini(&made);
    arena_destroy(a);
}

/* A result from before racks could fail has no "rack_faults"; what else is missing is a problem. */
static void results_without_rack_faults_are_read(void **state)
{
    static const char *const drop[] = { "rack_faults", "node_faults" };
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct arena *a = arena_create();
        struct result made, back;
        struct diag d;
        struct json_doc doc = { 0 };
        fake_result(&made, a);
        char *text = write_text(&made);
        parse(&doc, text);
        json_t *policy = json_array_get(json_object_get(doc.root, "policies"), 0);
        json_t *failures =
            json_pack("{si si si si si si sf sf sf}", "card_faults", 14, "node_faults", 3,
                      "rack_faults", 2, "job_faults", 5, "jobs_struck", 28, "jobs_given_up", 0,
                      "lost_gpu_hours", 1.5, "down_gpu_hours", 2.5, "absent_gpu_hours", 0.0);
        assert_int_equal(json_object_del(failures, drop[i]), 0);
        json_object_set_new(policy, "failures", failures);
        diag_init(&d);
        result_read(&back, a, &doc, &d);
        assert_int_equal(d.count, i);
        assert_int_equal(back.policy[0].failures.card_faults, 14);
        assert_int_equal(back.policy[0].failures.rack_faults, i ? 2 : 0);
        free(text);
        diag_fini(&d);
        json_doc_fini(&doc);
        fake_result_fini(&made);
        arena_destroy(a);
    }
}

/* ---- the published schema and the writer must not drift apart ---- */

static json_t *deref(json_t *schema, json_t *root)
{
    const char *ref = json_string_value(json_object_get(schema, "$ref"));
    if (!ref) return schema;
    return json_object_get(json_object_get(root, "$defs"), ref + strlen("#/$defs/"));
}

/* Every key of `v` is described, and every required key is there. The scenario has a schema of
 * its own. */
static void described(json_t *v, json_t *schema, json_t *root, const char *at)
{
    json_t *props, *extra, *one, *key;
    const char *name;
    size_t i;
    schema = deref(schema, root);
    if ((one = json_object_get(schema, "oneOf")) && !json_is_null(v))
        schema = deref(json_array_get(one, json_array_size(one) - 1), root);
    props = json_object_get(schema, "properties");
    extra = json_object_get(schema, "additionalProperties");
    json_array_foreach(v, i, one) described(one, json_object_get(schema, "items"), root, at);
    if (!json_is_object(v) || strcmp(at, "scenario") == 0) return;
    json_object_foreach(v, name, one)
    {
        json_t *next = json_object_get(props, name);
        if (!next) next = extra;
        if (!next) fail_msg("\"%s\" in %s is not in the schema", name, at);
        described(one, next, root, name);
    }
    json_array_foreach(json_object_get(schema, "required"), i, key)
    {
        if (!json_object_get(v, json_string_value(key)))
            fail_msg("\"%s\" is required in %s and not written", json_string_value(key), at);
    }
}

static void the_schema_describes_every_key(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct json_doc schema;
    struct result made;
    struct err e = { 0 };
    if (json_doc_load(&schema, "scenarios/schema/result.schema.json", &e) != 0)
        fail_msg("%s", e.msg);
    fake_result(&made, a);
    json_t *v = result_to_json(&made);
    described(v, schema.root, schema.root, "the result");
    json_decref(v);
    json_doc_fini(&schema);
    fake_result_fini(&made);
    arena_destroy(a);
}

/* Texts that a result may leave open; every other one must be there, since names are compared
 * and looked up. */
static const char *const open_texts[] = {
    "/policies/stable_reason",           "/policies/services/stable_reason",
    "/advice/decisions/policy",          "/advice/decisions/kind",
    "/advice/decisions/cost_unit",       "/advice/decisions/reasons/metric",
    "/advice/decisions/reasons/against", "/advice/decisions/flips/input",
    "/advice/decisions/flips/to",
};

/* What of `r` is wrong while the text at `place` (without indices) is null. */
static void without_text(const struct json_doc *doc, const char *place)
{
    struct arena *a = arena_create();
    struct result r;
    struct diag d;
    bool open = false;
    for (size_t i = 0; i < sizeof open_texts / sizeof *open_texts; i++)
        open |= strcmp(open_texts[i], place) == 0;
    diag_init(&d);
    result_read(&r, a, doc, &d);
    if ((d.count == 0) != open)
        fail_msg("%s: null is %s", place, open ? d.problem[0].msg : "taken for a text");
    diag_fini(&d);
    arena_destroy(a);
}

static size_t null_every_text(const struct json_doc *doc, json_t *at, const char *place)
{
    size_t n = 0, i;
    char here[256];
    const char *key;
    json_t *v;
    void *next;
    json_array_foreach(at, i, v) n += null_every_text(doc, v, place);
    json_object_foreach_safe(at, next, key, v)
    {
        snprintf(here, sizeof here, "%s/%s", place, key);
        if (strcmp(here, "/scenario/name") != 0 && strncmp(here, "/scenario/", 10) == 0) continue;
        if (!json_is_string(v)) {
            n += null_every_text(doc, v, here);
            continue;
        }
        json_incref(v);
        json_object_set_new(at, key, json_null());
        without_text(doc, here);
        json_object_set_new(at, key, v);
        n++;
    }
    return n;
}

static void texts_that_must_be_there_are_missed(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result made;
    struct json_doc doc = { 0 };
    fake_result(&made, a);
    char *text = write_text(&made);
    parse(&doc, text);
    assert_in_range(null_every_text(&doc, doc.root, ""), 60, 1000);
    free(text);
    json_doc_fini(&doc);
    fake_result_fini(&made);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_is_byte_identical),
        cmocka_unit_test(null_stands_for_not_known),
        cmocka_unit_test(names_need_not_be_utf8),
        cmocka_unit_test(broken_results_are_named),
        cmocka_unit_test(unknown_keys_are_ignored),
        cmocka_unit_test(results_without_rack_faults_are_read),
        cmocka_unit_test(the_schema_describes_every_key),
        cmocka_unit_test(texts_that_must_be_there_are_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
