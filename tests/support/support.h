/* tests/support/support.h - what the tests share: cmocka, doubles that are compared as doubles,
 * temporary files, and the folder of real traces. */
#ifndef GPUSIM_TESTS_SUPPORT_H
#define GPUSIM_TESTS_SUPPORT_H

/* cmocka wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* |got - want| <= rel_tol * |want| (want 0: |got| <= rel_tol). cmocka 1.1 compares in float. */
#define assert_close(got, want, rel_tol)                                                           \
    support_assert_close((got), (want), (rel_tol), #got, __FILE__, __LINE__)
void support_assert_close(double got, double want, double rel_tol, const char *expr,
                          const char *file, int line);

/* The text holds the part; both are printed when it does not. */
#define assert_contains(text, part) support_assert_contains((text), (part), __FILE__, __LINE__)
void support_assert_contains(const char *text, const char *part, const char *file, int line);

/* Path of a new temporary file with this text (or these bytes); the suffix, e.g. ".csv", ends its
 * name. Owned by support; file and path vanish when the program exits. */
const char *temp_file(const char *suffix, const char *text);
const char *temp_file_bytes(const char *suffix, const void *bytes, size_t len);
/* Path of a new empty folder; removed with its contents at exit. */
const char *temp_dir(void);
/* The whole file, NUL-terminated; free() it. Fails the test when it cannot be read. */
char *read_file(const char *path);

/* "traces/philly/x.csv" in the folder of real data, or NULL when GPUSIM_SHARED is unset or the
 * file is absent: then the test calls skip_without_shared(). Valid until the next call. */
const char *shared_path(const char *name);
/* Say what is missing and skip: anything on this machine, or a file of the folder of real data. */
#define skip_without(what)                                                                         \
    do {                                                                                           \
        print_message("skipped: no %s\n", (what));                                                 \
        skip();                                                                                    \
    } while (0)
#define skip_without_shared(name)                                                                  \
    do {                                                                                           \
        print_message("skipped: no %s (set GPUSIM_SHARED)\n", (name));                             \
        skip();                                                                                    \
    } while (0)

/* Seed of a property test: GPUSIM_TEST_SEED or a fixed one. Printed, so that a failure repeats. */
uint64_t test_seed(void);
/* Next number of a small generator (splitmix64); *state starts with a seed. */
uint64_t test_random(uint64_t *state);

#endif
