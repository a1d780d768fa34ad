/* The program as a user meets it: help, version, unknown commands, exit statuses, a full disk.
 * Runs the binary that GPUSIM_BIN names. */
#include "base/mem.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct answer {
    int status;
    char *out, *err;
};

/* `args` and redirections as a shell reads them. */
static struct answer run(const char *args)
{
    const char *bin = getenv("GPUSIM_BIN");
    struct answer a = { 0 };

    if (!bin || access(bin, X_OK) != 0) skip_without("gpusim in GPUSIM_BIN");
    const char *out = temp_file(".out", ""), *err = temp_file(".err", "");
    char *line = xasprintf("'%s' >'%s' 2>'%s' </dev/null %s", bin, out, err, args);
    const int rc = system(line);
    free(line);
    assert_true(WIFEXITED(rc));
    a.status = WEXITSTATUS(rc);
    a.out = read_file(out);
    a.err = read_file(err);
    return a;
}

static void answer_free(struct answer *a)
{
    free(a->out);
    free(a->err);
}

static void help_goes_to_standard_output(void **state)
{
    static const char *const ways[] = { "--help", "-h", "help", "help help" };

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct answer a = run(ways[i]);
        assert_int_equal(a.status, 0);
        assert_memory_equal(a.out, "Example: gpusim ", 16); /* starts with a runnable line */
        assert_contains(a.out, "Exit status:");
        assert_string_equal(a.err, "");
        answer_free(&a);
    }
}

static void version(void **state)
{
    struct answer a = run("--version");

    (void)state;
    assert_int_equal(a.status, 0);
    assert_memory_equal(a.out, "gpusim ", 7);
    assert_int_equal(strspn(a.out + 7, "0123456789."), strlen(a.out) - 8);
    answer_free(&a);
}

static void no_command_is_a_usage_error(void **state)
{
    struct answer a = run("");

    (void)state;
    assert_int_equal(a.status, 2);
    assert_string_equal(a.out, "");
    assert_contains(a.err, "Usage: gpusim COMMAND");
    answer_free(&a);
}

static void unknown_commands_name_the_nearest(void **state)
{
    struct answer a = run("hlep");

    (void)state;
    assert_int_equal(a.status, 2);
    assert_string_equal(a.out, "");
    assert_string_equal(a.err,
                        "gpusim: unknown command \"hlep\"\n        did you mean \"help\"?\n");
    answer_free(&a);
    a = run("help zzzzzzzz");
    assert_int_equal(a.status, 2);
    assert_contains(a.err, "\"gpusim --help\" lists the commands");
    answer_free(&a);
    a = run("''");
    assert_int_equal(a.status, 2);
    answer_free(&a);
}

/* Whatever commands there are, each has help in both spellings, and it starts with an example. */
static void every_command_has_help(void **state)
{
    struct answer all = run("--help");
    int n = 0;

    (void)state;
    char *from = strstr(all.out, "Commands:\n");
    assert_non_null(from);
    for (char *line = strchr(from, '\n') + 1; line[0] == ' '; line = strchr(line, '\n') + 1) {
        char *name = xstrndup(line + 2, strcspn(line + 2, " ")), *args;
        if (strcmp(name, "help") != 0) {
            args = xasprintf("%s --help", name);
            struct answer a = run(args);
            free(args);
            args = xasprintf("help %s", name);
            struct answer b = run(args);
            free(args);
            if (a.status || b.status) print_error("%s: %s%s\n", name, a.err, b.err);
            assert_int_equal(a.status, 0);
            assert_string_equal(a.out, b.out);
            assert_memory_equal(a.out, "Example: gpusim ", 16);
            assert_memory_equal(a.out + 16, name, strlen(name));
            answer_free(&a);
            answer_free(&b);
            n++;
        }
        free(name);
    }
    print_message("%d commands\n", n);
    answer_free(&all);
}

static void a_full_disk_is_not_success(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip_without("/dev/full");
    struct answer a = run("--help >/dev/full");
    assert_int_equal(a.status, 4);
    assert_contains(a.err, "cannot write standard output: No space left");
    answer_free(&a);
    a = run("--version >&-");
    assert_int_equal(a.status, 4);
    answer_free(&a);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(help_goes_to_standard_output),
        cmocka_unit_test(version),
        cmocka_unit_test(no_command_is_a_usage_error),
        cmocka_unit_test(unknown_commands_name_the_nearest),
        cmocka_unit_test(every_command_has_help),
        cmocka_unit_test(a_full_disk_is_not_success),
    };

    return cmocka_run_group_tests_name("main", t, NULL, NULL);
}
