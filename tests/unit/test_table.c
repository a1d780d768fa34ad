/* test_table.c - the comparison table fits the terminal, lines up, and says n/a. */
#include "support/support.h"

#include "metrics/table.h"
#include "support/fake_result.h"

#include <stdlib.h>
#include <string.h>

static void fits_and_lines_up(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result r;
    struct strbuf out = { 0 };
    fake_result(&r, a);
    struct policy_result *p = (struct policy_result *)r.policy;
    p[1].tco.priced = false;
    p[2].name = "a policy whose name is far too long for one line of a terminal\x1b[31m";
    p[2].jobs.completed = 10000000;
    p[2].stable = false;
    table_text(&r, &out);
    print_message("%s", out.s);
    size_t lines = 0;
    for (char *line = strtok(out.s, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        assert_true(strlen(line) <= TABLE_COLUMNS);
        assert_null(strchr(line, '\x1b'));
        if (lines == 3) assert_contains(line, "n/a"); /* duty under mig, cost without prices */
        if (lines == 4) {
            assert_contains(line, "~ mps ");
            assert_contains(line, "10000000");
            assert_int_equal(strcmp(line + strlen(line) - 3, " no"), 0);
        }
    }
    assert_int_equal(lines, 5);
    strbuf_fini(&out);
    fake_result_fini(&r);
    arena_destroy(a);
}

static void csv_has_all_digits(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result r;
    struct strbuf out = { 0 };
    fake_result(&r, a);
    struct policy_result *p = (struct policy_result *)r.policy;
    p[0].name = "say \"hi\", all";
    p[0].stats.wait_s.p50 = 1.0 / 3;
    table_csv(&r, &out);
    assert_contains(out.s, "policy,kind,completed,failed,rejected,wait_p50_s,");
    assert_contains(out.s, "\n\"say \"\"hi\"\", all\",whole,850,3,2,0.333333333333333,");
    assert_contains(out.s, ",,"); /* duty under mig */
    strbuf_fini(&out);
    fake_result_fini(&r);
    arena_destroy(a);
}

/* A line a policy and service under two heading lines, all of one length; nothing without
 * services. */
static void services_line_up(void **state)
{
    (void)state;
    struct arena *a = arena_create();
    struct result r;
    struct strbuf out = { 0 };
    size_t lines = 0, length = 0;
    fake_result(&r, a);
    table_services_text(&r, &out);
    assert_int_equal(out.s[0], '\n');
    for (char *at = out.s + 1; *at; lines++) {
        char *end = strchr(at, '\n');
        assert_non_null(end);
        if (lines == 0) length = (size_t)(end - at);
        assert_int_equal(end - at, length);
        at = end + 1;
    }
    assert_int_equal(lines, 2 + r.n_policies);
    assert_contains(out.s, "5231 5100");
    assert_contains(out.s, " 40.5 ");
    assert_contains(out.s, " unserv- "); /* some could not be served */
    strbuf_clear(&out);
    for (size_t i = 0; i < r.n_policies; i++)
        for (size_t k = 0; k < r.policy[i].n_services; k++)
            ((struct service_result *)r.policy[i].service)[k].unservable = 0;
    table_services_text(&r, &out);
    assert_null(strstr(out.s, "unserv"));
    const char *first = strchr(out.s + 1, '\n');
    for (const char *at = out.s + 1; *at; at = strchr(at, '\n') + 1)
        assert_int_equal(strcspn(at, "\n"), first - (out.s + 1));
    strbuf_clear(&out);
    r.n_policies = 0;
    table_services_text(&r, &out);
    assert_int_equal(out.len, 0);
    strbuf_fini(&out);
    fake_result_fini(&r);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_and_lines_up),
        cmocka_unit_test(csv_has_all_digits),
        cmocka_unit_test(services_line_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
