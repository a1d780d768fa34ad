/* Talk: levels, one line per message, no progress line unless somebody watches. */
#include "base/datadir.h"
#include "base/log.h"
#include "tests/support/support.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What standard error receives while say() runs. */
static char *heard(void (*say)(void))
{
    const char *path = temp_file(".log", "");
    const int saved = dup(STDERR_FILENO);

    fflush(stderr);
    assert_non_null(freopen(path, "w", stderr));
    say();
    fflush(stderr);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    return read_file(path);
}

static void talk(void)
{
    log_warn("warning %d", 1);
    log_info("info %d", 2);
    log_verbose("verbose %d", 3);
    log_progress("work", 0.5);
    log_progress_done();
}

static void levels(void **state)
{
    static const struct {
        enum log_level level;
        const char *want;
    } t[] = {
        { LOG_QUIET, "gpusim: warning 1\n" },
        { LOG_NORMAL, "gpusim: warning 1\ngpusim: info 2\n" },
        { LOG_VERBOSE, "gpusim: warning 1\ngpusim: info 2\ngpusim: verbose 3\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        log_set_level(t[i].level);
        char *s = heard(talk);
        log_set_level(LOG_NORMAL);
        assert_string_equal(s, t[i].want); /* and no progress: a file does not watch */
        free(s);
    }
}

/* What a terminal shows: a share with its percents, and words alone where no share is known. */
static void progress_on_a_terminal(void **state)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY), saved = dup(STDERR_FILENO);
    char seen[200] = "";
    (void)state;
    const bool usable = master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0;
    /* in a chroot /dev/ptmx may be there and /dev/pts not */
    const int slave = usable ? open(ptsname(master), O_RDWR | O_NOCTTY) : -1;
    if (slave < 0) skip_without("pseudo-terminal");
    fflush(stderr);
    dup2(slave, STDERR_FILENO);
    log_progress("half", 0.5);
    log_progress_done();
    log_progress("nobody knows", NAN);
    log_progress_done();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    static const char want[] = "\r\033[Khalf 50 %\r\033[K\r\033[Knobody knows\r\033[K";
    size_t n = 0;
    for (ssize_t more = 1; more > 0 && n < strlen(want); n += (size_t)more)
        more = read(master, seen + n, sizeof seen - 1 - n);
    close(slave);
    close(master);
    close(saved);
    assert_string_equal(seen, want);
}

static void data_folder_by_environment(void **state)
{
    char buf[64];
    const char *was = getenv("GPUSIM_DATA");
    char *keep = was ? strdup(was) : NULL;

    (void)state;
    setenv("GPUSIM_DATA", "/some/where", 1);
    assert_string_equal(datadir_path(buf, sizeof buf, "gpus"), "/some/where/gpus");
    assert_string_equal(datadir_path(buf, 8, "gpus"), "/some/w"); /* cut, terminated */
    unsetenv("GPUSIM_DATA");
    datadir_path(buf, sizeof buf, "x.json"); /* beside the binary or installed: always a path */
    assert_non_null(strchr(buf, '/'));
    if (keep) setenv("GPUSIM_DATA", keep, 1);
    free(keep);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(progress_on_a_terminal),
        cmocka_unit_test(data_folder_by_environment),
    };

    return cmocka_run_group_tests_name("log and datadir", t, NULL, NULL);
}
