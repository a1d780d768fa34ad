#include "tests/support/support.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void support_assert_close(double got, double want, double rel_tol, const char *expr,
                          const char *file, int line)
{
    const double room = want == 0 ? rel_tol : rel_tol * fabs(want);

    if (fabs(got - want) <= room || (isnan(got) && isnan(want)) || got == want) return;
    print_error("%s is %.17g, wanted %.17g within %g (off by %g)\n", expr, got, want, rel_tol,
                want == 0 ? got : (got - want) / want);
    _fail(file, line);
}

void support_assert_contains(const char *text, const char *part, const char *file, int line)
{
    if (text && strstr(text, part)) return;
    print_error("\"%s\" does not hold \"%s\"\n", text ? text : "(null)", part);
    _fail(file, line);
}

/* Everything made here, removed at exit. */
static VEC(char *) made;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

static void remove_made(void)
{
    for (size_t i = 0; i < made.n; i++) {
        nftw(made.v[i], remove_one, 8, FTW_DEPTH | FTW_PHYS);
        free(made.v[i]);
    }
    vec_fini(&made);
}

static const char *keep(char *path)
{
    if (made.n == 0) atexit(remove_made);
    vec_push(&made, path);
    return path;
}

static char *template(const char *suffix)
{
    const char *tmp = getenv("TMPDIR");

    return xasprintf("%s/gpusim-test-XXXXXX%s", tmp && *tmp ? tmp : "/tmp", suffix);
}

const char *temp_file_bytes(const char *suffix, const void *bytes, size_t len)
{
    char *path = template(suffix);
    const int fd = mkstemps(path, (int)strlen(suffix));

    assert_true(fd >= 0);
    keep(path);
    FILE *f = fdopen(fd, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    return path;
}

const char *temp_file(const char *suffix, const char *text)
{
    return temp_file_bytes(suffix, text, strlen(text));
}

const char *temp_dir(void)
{
    char *path = template("");

    assert_non_null(mkdtemp(path));
    return keep(path);
}

char *read_file(const char *path)
{
    struct strbuf b = { 0 };
    char buf[4096];
    size_t n;
    FILE *f = fopen(path, "rb");

    if (!f) print_error("cannot open %s\n", path);
    assert_non_null(f);
    strbuf_add(&b, "", 0);
    while ((n = fread(buf, 1, sizeof buf, f)) > 0) strbuf_add(&b, buf, n);
    fclose(f);
    return b.s;
}

const char *shared_path(const char *name)
{
    static char path[4096];
    const char *dir = getenv("GPUSIM_SHARED");

    if (!dir || !*dir) return NULL;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, R_OK) == 0 ? path : NULL;
}

uint64_t test_seed(void)
{
    const char *set = getenv("GPUSIM_TEST_SEED");
    const uint64_t seed = set ? strtoull(set, NULL, 10) : UINT64_C(20240607);

    print_message("seed %" PRIu64 " (GPUSIM_TEST_SEED)\n", seed);
    return seed;
}

uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
