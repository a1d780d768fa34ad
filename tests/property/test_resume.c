/* test_resume.c - kill -9 at random moments loses nothing and computes nothing twice.
 *
 * A sweep of the program itself (GPUSIM_BIN) is started, killed after a random time, and started
 * again, until it gets through. Files of finished runs must stay the files they were (inode and
 * time of change), and the tables must be those of a sweep that nobody killed, byte for byte. */
#include "support/support.h"

#include "base/mem.h"
#include "base/vec.h"

#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_KILLS = 60, RUNS = 5 * 12 };

static char vary[] = "fleet.pool.nodes=4..8", replications[] = "12";

/* The program, killed after `ns` (0: never). Its exit status; -1: it was killed. */
static int sweep(const char *bin, const char *dir, long ns)
{
    const pid_t pid = fork();
    int status;
    assert_true(pid >= 0);
    if (pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        execl(bin, bin, "sweep", "scenarios/sizing-erlang.json", "--vary", vary, "--replications",
              replications, "--jobs", "2", "--set", "horizon=1000 s", "-o", dir, (char *)NULL);
        _exit(127);
    }
    if (ns > 0) {
        const struct timespec t = { ns / 1000000000, ns % 1000000000 };
        nanosleep(&t, NULL);
        kill(pid, SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct finished {
    char *path;
    struct stat st;
};
typedef VEC(struct finished) finished;

/* All files of finished runs below dir/runs. */
static void list(finished *out, const char *dir)
{
    char *path = xasprintf("%s/runs", dir);
    char *roots[] = { path, NULL };
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *f; tree && (f = fts_read(tree));) {
        if (f->fts_info != FTS_F || f->fts_name[0] == '.') continue;
        const struct finished one = { xstrdup(f->fts_path), *f->fts_statp };
        vec_push(out, one);
    }
    if (tree) fts_close(tree);
    free(path);
}

static void still_the_same(const finished *was)
{
    for (size_t i = 0; i < was->n; i++) {
        struct stat now;
        assert_int_equal(stat(was->v[i].path, &now), 0);
        assert_int_equal(now.st_ino, was->v[i].st.st_ino);
        assert_int_equal(now.st_size, was->v[i].st.st_size);
        assert_int_equal(now.st_ctim.tv_sec, was->v[i].st.st_ctim.tv_sec);
        assert_int_equal(now.st_ctim.tv_nsec, was->v[i].st.st_ctim.tv_nsec);
    }
}

static void forget(finished *f)
{
    for (size_t i = 0; i < f->n; i++) free(f->v[i].path);
    vec_fini(f);
}

static void same_table(const char *a, const char *b, const char *name)
{
    char *pa = xasprintf("%s/%s", a, name), *pb = xasprintf("%s/%s", b, name);
    char *x = read_file(pa), *y = read_file(pb);
    assert_string_equal(x, y);
    free(pa);
    free(pb);
    free(x);
    free(y);
}

/* One sweep, killed until it gets through; how often, and how often in the middle of its work. */
static void one_sweep(const char *bin, const char *quiet, double whole_ns, uint64_t *random,
                      int *kills, int *partial)
{
    char *dir = xstrdup(temp_dir());
    int tries = 0;
    for (; tries < MOST_KILLS; tries++) {
        finished before = { 0 }, after = { 0 };
        const long ns = (long)(whole_ns * (double)(1 + test_random(random) % 1000) / 2500) + 1;
        list(&before, dir);
        const int status = sweep(bin, dir, ns);
        still_the_same(&before);
        list(&after, dir);
        assert_true(after.n >= before.n && after.n <= RUNS);
        *partial += after.n > before.n && after.n < RUNS;
        forget(&before);
        forget(&after);
        if (status == 0) break;
        assert_int_equal(status, -1);
    }
    *kills += tries;
    if (tries == MOST_KILLS) assert_int_equal(sweep(bin, dir, 0), 0);
    same_table(quiet, dir, "sweep.csv");
    same_table(quiet, dir, "sweep.json");
    free(dir);
}

/* GPUSIM_SOAK: so many sweeps instead of one. */
static void killed_and_resumed(void **state)
{
    const char *bin = getenv("GPUSIM_BIN"), *soak = getenv("GPUSIM_SOAK");
    const long sweeps = soak ? strtol(soak, NULL, 10) : 1;
    struct timespec from, to;
    uint64_t random = test_seed();
    int kills = 0, partial = 0;
    (void)state;
    if (!bin || access(bin, X_OK) != 0) skip_without("gpusim in GPUSIM_BIN");
    char *quiet = xstrdup(temp_dir());
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_int_equal(sweep(bin, quiet, 0), 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    const double whole_ns =
        (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    for (long i = 0; i < sweeps; i++) one_sweep(bin, quiet, whole_ns, &random, &kills, &partial);
    print_message("killed %d times, %d of them in the middle of its work\n", kills, partial);
    assert_true(partial >= sweeps);
    free(quiet);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(killed_and_resumed) };
    return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
