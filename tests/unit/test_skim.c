/* test_skim.c - what is left out of a JSON text, and that all else stays where it was. */
#include "support/support.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/skim.h"

#include <stdlib.h>
#include <string.h>

static const char *const keys[] = { "by_user", "x" };

static char *skimmed(const char *text)
{
    char *copy = xstrndup(text, strlen(text));
    copy[skim(copy, strlen(copy), keys, 2)] = '\0';
    return copy;
}

static void arrays_and_objects_are_emptied(void **state)
{
    static const struct {
        const char *text, *left;
    } t[] = {
        { "{\"by_user\": [1, {\"a\": \"]\\\"\"}, [2]], \"b\": 3}",
          "{\"by_user\": [                    ], \"b\": 3}" },
        { "{\"a\": {\"x\" :\n{\"b\":\n1}}}", "{\"a\": {\"x\" :\n{\n }}}" },
        { "{\"x\": [], \"by_user\": {}}", "{\"x\": [], \"by_user\": {}}" },
        { "{\"x\": [1],\"by_user\":[\n\n\n\n \n1]}", "{\"x\": [ ],\"by_user\":[\n\n\n\n\n ]}" },
        { "{\"x\":[1111\n],\"x\":{\n\n\n\n\n\n\n}}", "{\"x\":[\n],\"x\":{\n\n\n\n\n\n\n}}" },
        /* not a value of that key, or no list */
        { "{\"x\": 3, \"y\": \"x\", \"by_user2\": [1]}",
          "{\"x\": 3, \"y\": \"x\", \"by_user2\": [1]}" },
        { "[\"x\", [1]]", "[\"x\", [1]]" },
        { "{\"a\\\"x\": [1], \"\\\\\": [2]}", "{\"a\\\"x\": [1], \"\\\\\": [2]}" },
        /* without an end, or with the wrong one: left to the parser */
        { "{\"x\": [1, {\"a\": 2}", "{\"x\": [1, {\"a\": 2}" },
        { "{\"x\": [1}, \"b\": 2]", "{\"x\": [1}, \"b\": 2]" },
        { "{\"x\": [\"", "{\"x\": [\"" },
        { "{\"x\": \"\\", "{\"x\": \"\\" },
        { "{\"x\":", "{\"x\":" },
        { "", "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char *s = skimmed(t[i].text);
        assert_string_equal(s, t[i].left);
        free(s);
    }
}

/* A file is loaded without a part of it; lines of later problems are those of the file. */
static void lines_stay(void **state)
{
    struct json_doc doc;
    struct err e = { 0 };
    int line, col, len;
    (void)state;
    const char *path = temp_file(".json", "{\"by_user\": [\n{\"a\": 1},\n2\n],\n\"n\": 7}\n");
    assert_int_equal(json_doc_load_without(&doc, path, keys, 2, &e), 0);
    assert_int_equal(json_array_size(json_object_get(doc.root, "by_user")), 0);
    assert_true(json_doc_locate(&doc, "/n", &line, &col, &len));
    assert_int_equal(line, 5);
    json_doc_fini(&doc);
    path = temp_file(".json", "{\"by_user\": [\n{\"a\": 1},\n2\n],\n\"n\": }\n");
    assert_int_equal(json_doc_load_without(&doc, path, keys, 2, &e), ERR_INPUT);
    assert_int_equal(e.line, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_and_objects_are_emptied),
        cmocka_unit_test(lines_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
