/* Served models and constants by card: what ships, the defaults, every refusal. */
#include "base/datadir.h"
#include "model/llm.h"
#include "tests/support/support.h"

#include <string.h>

static size_t read_model(struct llm_model *m, struct arena *a, const char *text, char *said,
                         size_t size)
{
    struct json_doc doc = { 0 };
    struct err e = { 0 };
    struct diag d;
    diag_init(&d);
    assert_int_equal(json_doc_parse(&doc, "folder/tiny.json", text, strlen(text), &e), 0);
    llm_model_read(m, a, &doc, &d);
    const size_t n = d.count;
    snprintf(said, size, "%s", n ? d.problem[0].msg : "");
    diag_fini(&d);
    json_doc_fini(&doc);
    return n;
}

#define TINY                                                                                       \
    "\"format\": \"gpusim-llm/1\", \"layers\": 10, \"hidden\": 800, \"heads\": 8, "                \
    "\"kv_heads\": 2, \"head_dim\": 100"

static void a_model(void **state)
{
    struct arena *a = arena_create();
    struct llm_model m;
    char said[600];
    (void)state;
    assert_int_equal(read_model(&m, a, "{" TINY ", \"params\": 1e9}", said, sizeof said), 0);
    assert_string_equal(m.name, "tiny");
    const struct llm_shape s = llm_shape_of(&m);
    assert_close(s.bytes_per_param, 2, 0);
    assert_close(s.kv_bytes_per_token, 8000, 0);
    assert_close(llm_kv_bytes(&s), 8000, 0);
    assert_int_equal(read_model(&m, a,
                                "{" TINY ", \"params\": 1e9, \"precision\": \"fp4\", "
                                "\"kv_precision\": \"fp8\"}",
                                said, sizeof said),
                     0);
    assert_close(llm_shape_of(&m).bytes_per_param, 0.5, 0);
    assert_close(llm_shape_of(&m).kv_bytes_per_token, 4000, 0);
    arena_destroy(a);
}

static void refusals(void **state)
{
    static const char *const bad[][2] = {
        { "{" TINY "}", "params" },
        { "{" TINY ", \"params\": -1}", "from 1000" },
        { "{" TINY ", \"params\": 1e9, \"precision\": \"fp64\"}", "fp64" },
        { "{" TINY ", \"params\": 1e9, \"precision\": \"fp5\"}", "fp5" },
        { "{" TINY ", \"params\": 1e9, \"layer\": 3}", "unknown key" },
        { "{\"format\": \"gpusim-llm/1\", \"layers\": 10, \"hidden\": 800, \"heads\": 2, "
          "\"kv_heads\": 8, \"head_dim\": 100, \"params\": 1e9}",
          "8 heads are cached" },
    };
    struct arena *a = arena_create();
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct llm_model m;
        char said[600];
        assert_true(read_model(&m, a, bad[i][0], said, sizeof said) > 0);
        assert_contains(said, bad[i][1]);
    }
    arena_destroy(a);
}

static void steps_of_a_card(void **state)
{
    static const char text[] = "{\"format\": \"gpusim-llm-steps/1\", \"cards\": {\"x\": {}, "
                               "\"y\": {\"e_w\": 0.5, \"source\": \"s\"}}}";
    const struct llm_constants dflt = llm_constants_default();
    struct arena *a = arena_create();
    struct json_doc doc = { 0 };
    struct llm_steps steps;
    struct err e = { 0 };
    struct diag d;
    (void)state;
    diag_init(&d);
    assert_int_equal(json_doc_parse(&doc, "t", text, sizeof text - 1, &e), 0);
    llm_steps_read(&steps, a, &doc, &d);
    assert_int_equal(d.count, 0);
    assert_memory_equal(&llm_steps_find(&steps, "x")->constants, &dflt, sizeof dflt);
    assert_close(llm_steps_find(&steps, "y")->constants.e_w, 0.5, 0);
    assert_null(llm_steps_find(&steps, "z"));
    json_doc_fini(&doc);
    diag_fini(&d);
    arena_destroy(a);
}

/* What ships can be read, and Llama 3.1 8B holds 128 KiB of cache per token. */
static void what_ships(void **state)
{
    struct arena *a = arena_create();
    struct json_doc doc = { 0 };
    struct llm_steps steps;
    struct llm_model m;
    struct err e = { 0 };
    struct diag d;
    char path[4096];
    (void)state;
    diag_init(&d);
    datadir_path(path, sizeof path, "workloads/llm-steps.json");
    assert_int_equal(json_doc_load(&doc, path, &e), 0);
    llm_steps_read(&steps, a, &doc, &d);
    json_doc_fini(&doc);
    assert_non_null(llm_steps_find(&steps, "h100-sxm5-80gb"));
    datadir_path(path, sizeof path, "workloads/llm/llama-3.1-8b.json");
    assert_int_equal(json_doc_load(&doc, path, &e), 0);
    llm_model_read(&m, a, &doc, &d);
    assert_int_equal(d.count, 0);
    assert_string_equal(m.name, "llama-3.1-8b");
    assert_close(llm_shape_of(&m).kv_bytes_per_token, 131072, 0);
    json_doc_fini(&doc);
    diag_fini(&d);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model),
        cmocka_unit_test(refusals),
        cmocka_unit_test(steps_of_a_card),
        cmocka_unit_test(what_ships),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
