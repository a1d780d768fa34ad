/* The kernels that calibrate carries: every one of them for every architecture that the toolkit
 * knows, none with spilled registers, by ptxas when it compiled them and by cuobjdump of what
 * was embedded. */
#include "base/mem.h"
#include "tests/support/support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *const kernels[] = { "cal_empty", "cal_fill",    "cal_triad", "cal_check",
                                       "cal_spin",  "cal_compute", "cal_read",  "cal_log" };

/* Beside the program: ../calibrate/kernels_base.fatbin. NULL: not built. */
static char *fatbin(const char *more)
{
    const char *program = getenv("GPUSIM_CALIBRATE"),
               *bin = program ? strstr(program, "/bin/") : NULL;
    return bin ? xasprintf("%.*s/calibrate/kernels_base.fatbin%s", (int)(bin - program), program,
                           more)
               : NULL;
}

static bool has(const char *log, const char *kernel, const char *arch)
{
    char *line = xasprintf("'%s' for 'sm_%s'", kernel, arch);
    const bool found = strstr(log, line) != NULL;
    free(line);
    return found;
}

static void every_kernel_everywhere(void **state)
{
    char *path = fatbin(".log");
    int archs = 0;
    (void)state;
    if (!path) skip_without("calibrate (nvcc)");
    char *log = read_file(path);
    /* CUDA 12 and 13 both know these; each that one kernel has, all have */
    const char *const least[] = { "75", "80", "86", "89", "90" };
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        assert_true(has(log, "cal_empty", least[i]));
    for (int arch = 50; arch < 200; arch++) {
        char name[16];
        snprintf(name, sizeof name, "%d", arch);
        if (!has(log, "cal_empty", name)) continue;
        archs++;
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
            if (!has(log, kernels[k], name))
                fail_msg("%s is not there for sm_%d", kernels[k], arch);
    }
    assert_true(archs >= 5);
    free(log);
    free(path);
}

static int check_log(const char *text)
{
    char *path = xasprintf("%s/log", temp_dir());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    char *command = xasprintf("calibrate/check_kernels.sh '%s' x.cu 2>/dev/null", path);
    const int st = system(command);
    free(command);
    free(path);
    return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

static void spills_are_seen(void **state)
{
    (void)state;
    assert_int_equal(check_log("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"),
                     0);
    assert_int_equal(check_log("0 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads\n"),
                     1);
    assert_int_equal(check_log("0 bytes stack frame, 0 bytes spill stores, 10 bytes spill loads\n"),
                     1);
    assert_int_equal(check_log("8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"),
                     1);
    assert_int_equal(check_log("0 bytes stack frame, 0 bytes spill stores\n"
                               "0 bytes stack frame, 120 bytes spill stores\n"),
                     1);
    assert_int_equal(check_log("ptxas info    : Used 8 registers\n"), 1);
    assert_int_equal(check_log(""), 1);
}

/* What cuobjdump says of the embedded code: a stack or local memory that is not zero would be a
 * spill. */
static void embedded_code(void **state)
{
    (void)state;
    if (system("command -v cuobjdump >/dev/null 2>&1") != 0) skip_without("cuobjdump");
    char *path = fatbin("");
    if (!path) skip_without("calibrate (nvcc)");
    char *out = xasprintf("%s/usage", temp_dir());
    char *command = xasprintf("cuobjdump -res-usage '%s' >'%s' 2>&1", path, out);
    assert_int_equal(system(command), 0);
    char *text = read_file(out);
    int lines = 0;
    for (const char *p = text; (p = strstr(p, "STACK:")); p++, lines++)
        if (strncmp(p, "STACK:0 ", 8) != 0) fail_msg("%.60s", p);
    for (const char *p = text; (p = strstr(p, " LOCAL:")); p++)
        if (strncmp(p, " LOCAL:0 ", 9) != 0) fail_msg("%.60s", p);
    assert_true(lines >= 5 * 8);
    free(text);
    free(command);
    free(out);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_everywhere),
        cmocka_unit_test(spills_are_seen),
        cmocka_unit_test(embedded_code),
    };
    return cmocka_run_group_tests_name("kernels of calibrate", tests, NULL, NULL);
}
