/* Errors and lists of problems: first cause kept, place and caret right, nothing overflows. */
#include "base/diag.h"
#include "base/err.h"
#include "tests/support/support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *printed(const struct err *e)
{
    char *s = NULL;
    size_t n;
    FILE *f = open_memstream(&s, &n);

    err_print(e, "gpusim", f);
    fclose(f);
    return s;
}

static void assert_printed(const struct err *e, const char *want)
{
    char *s = printed(e);

    assert_string_equal(s, want);
    free(s);
}

static void nothing_is_printed_for_no_error(void **state)
{
    (void)state;
    assert_printed(&(struct err){ 0 }, "");
}

static void first_error_wins(void **state)
{
    struct err e = { 0 };

    (void)state;
    assert_int_equal(err_set(&e, ERR_INPUT, NULL, "first %d", 1), ERR_INPUT);
    assert_int_equal(err_set(&e, ERR_IO, NULL, "second"), ERR_IO);
    assert_int_equal(e.code, ERR_INPUT);
    assert_printed(&e, "gpusim: first 1\n");
    assert_int_equal(err_set(NULL, ERR_LIMIT, NULL, "nobody listens"), ERR_LIMIT);
}

static void codes_are_the_documented_statuses(void **state)
{
    (void)state;
    assert_int_equal(err_status(ERR_OK), 0);
    assert_int_equal(err_status(ERR_USAGE), 2);
    assert_int_equal(err_status(ERR_INPUT), 3);
    assert_int_equal(err_status(ERR_IO), 4);
    assert_int_equal(err_status(ERR_LIMIT), 5);
    assert_int_equal(err_status(ERR_CHECK), 6);
}

static void places_print_what_is_known(void **state)
{
    static const struct {
        struct loc at;
        const char *want;
    } t[] = {
        { { "a.json", 14, 19, "/x/0" }, "gpusim: a.json:14:19: /x/0: m\n" },
        { { "a.json", 14, 0, NULL }, "gpusim: a.json:14: m\n" },
        { { "a.json", 0, 5, NULL }, "gpusim: a.json: m\n" },
        { { NULL, 0, 0, "/x" }, "gpusim: /x: m\n" },
        { { NULL, 0, 0, "" }, "gpusim: m\n" },
        { { NULL, 3, 2, NULL }, "gpusim: line:3:2: m\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct err e = { 0 };
        err_set(&e, ERR_INPUT, &t[i].at, "m");
        assert_printed(&e, t[i].want);
    }
}

static void excerpt_has_caret_and_hint(void **state)
{
    static const char line[] = "      \"memory\": \"80 GW\",";
    struct err e = { 0 };
    const struct loc at = { "edge.json", 14, 17, "/fleet/0/memory" };

    (void)state;
    err_set(&e, ERR_INPUT, &at, "expected a size such as \"80 GiB\", found \"80 GW\"");
    err_excerpt(&e, line, strlen(line), 14, 17, 7);
    err_hint(&e, "did you mean \"80 GB\"?");
    assert_printed(&e,
                   "gpusim: edge.json:14:17: /fleet/0/memory: expected a size such as \"80 GiB\", "
                   "found \"80 GW\"\n"
                   "   14 |       \"memory\": \"80 GW\",\n"
                   "      |                 ^^^^^^^   did you mean \"80 GB\"?\n");
}

static void hint_without_excerpt_has_its_own_line(void **state)
{
    struct err e = { 0 };

    (void)state;
    err_hint(&e, "ignored: there is no error");
    err_set(&e, ERR_USAGE, NULL, "m");
    err_hint(&e, "h");
    assert_printed(&e, "gpusim: m\n        h\n");
}

static void caret_counts_characters_not_bytes(void **state)
{
    struct err e = { 0 };

    (void)state;
    err_set(&e, ERR_INPUT, NULL, "m");
    err_excerpt(&e, "\xC3\xA9\xC3\xA9\t\xC3\xA9x", 8, 1, 6, 2); /* e-acute twice, tab, again, x */
    assert_printed(&e, "gpusim: m\n    1 | \xC3\xA9\xC3\xA9 \xC3\xA9x\n      |    ^\n");
}

static void long_lines_show_a_window(void **state)
{
    char line[5000];
    struct err e = { 0 };

    (void)state;
    memset(line, 'a', sizeof line);
    line[4000] = 'X';
    err_set(&e, ERR_INPUT, NULL, "m");
    err_excerpt(&e, line, sizeof line, 1, 4001, 1000000);
    assert_int_equal(e.excerpt[e.mark_col - 1], 'X');
    assert_true(e.mark_col - 1 + e.mark_len <= (int)strlen(e.excerpt));

    e.excerpt[0] = 0;
    err_excerpt(&e, line, sizeof line, 1, 999999, 3); /* beyond the line: still inside the window */
    assert_true(e.mark_col - 1 <= (int)strlen(e.excerpt));
    err_excerpt(&e, "", 0, 1, 1, 1);
    assert_string_equal(e.excerpt, "");
}

static void long_messages_end_with_dots(void **state)
{
    char text[2000];
    struct err e = { 0 };
    const struct loc at = { text, 1, 1, NULL };

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_set(&e, ERR_INPUT, &at, "%s", text);
    err_hint(&e, "%s", text);
    assert_string_equal(e.msg + strlen(e.msg) - 3, "...");
    assert_string_equal(e.where + strlen(e.where) - 3, "...");
    assert_string_equal(e.hint + strlen(e.hint) - 3, "...");
}

static void escape_sequences_do_not_reach_the_terminal(void **state)
{
    struct err e = { 0 };

    (void)state;
    err_set(&e, ERR_INPUT, NULL, "a\033[2Jb");
    assert_printed(&e, "gpusim: a?[2Jb\n");
}

static void bug_aborts(void **state)
{
    int status = 0;
    const pid_t child = fork();

    (void)state;
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(1);
        signal(SIGABRT, SIG_DFL);
        BUG_ON(1 + 1 == 2);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

static void diag_keeps_the_first_and_counts_all(void **state)
{
    struct diag d;
    struct err e = { 0 };

    (void)state;
    diag_init(&d);
    assert_int_equal(diag_result(&d, &e), 0);
    diag_add_err(&d, &(struct err){ .code = ERR_IO, .msg = "gone" });
    for (int i = 1; i < 3 * DIAG_KEPT; i++) {
        struct err *p = diag_add(&d, &(struct loc){ .line = i }, "problem %d", i);
        assert_non_null(p);
        err_hint(p, "hint %d", i); /* also beyond those kept */
    }
    assert_int_equal(d.count, 3 * DIAG_KEPT);
    assert_string_equal(d.problem[DIAG_KEPT - 1].msg, "problem 99");
    assert_string_equal(d.problem[DIAG_KEPT - 1].hint, "hint 99");
    assert_int_equal(diag_result(&d, &e), ERR_IO);
    assert_string_equal(e.msg, "gone");
    assert_int_equal(diag_result(&d, NULL), ERR_IO);
    diag_fini(&d);
    assert_int_equal(d.count, 0);
    diag_fini(&d);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(nothing_is_printed_for_no_error),
        cmocka_unit_test(first_error_wins),
        cmocka_unit_test(codes_are_the_documented_statuses),
        cmocka_unit_test(places_print_what_is_known),
        cmocka_unit_test(excerpt_has_caret_and_hint),
        cmocka_unit_test(hint_without_excerpt_has_its_own_line),
        cmocka_unit_test(caret_counts_characters_not_bytes),
        cmocka_unit_test(long_lines_show_a_window),
        cmocka_unit_test(long_messages_end_with_dots),
        cmocka_unit_test(escape_sequences_do_not_reach_the_terminal),
        cmocka_unit_test(bug_aborts),
        cmocka_unit_test(diag_keeps_the_first_and_counts_all),
    };

    return cmocka_run_group_tests_name("err and diag", t, NULL, NULL);
}
