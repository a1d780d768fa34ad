#include "tests/support/run_command.h"

#include "tests/support/support.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int open_to(const char *path)
{
    const int fd = open(path ? path : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    return fd;
}

int run_command(const struct command *c, const char *const *words, const char *out, const char *err,
                struct err *e)
{
    char copy[24][600], *argv[25];
    int argc = 1;
    argv[0] = (char *)(uintptr_t)c->name;
    for (; words[argc - 1]; argc++) {
        assert_true(argc < 24);
        snprintf(copy[argc], sizeof copy[argc], "%s", words[argc - 1]);
        argv[argc] = copy[argc];
    }
    argv[argc] = NULL;
    fflush(stdout);
    fflush(stderr);
    const int old_out = dup(1), old_err = dup(2), to_out = open_to(out),
              to_err = err == out ? dup(to_out) : open_to(err);
    dup2(to_out, 1);
    dup2(to_err, 2);
    const int rc = c->run(c, argc, argv, e);
    fflush(stdout);
    fflush(stderr);
    dup2(old_out, 1);
    dup2(old_err, 2);
    close(old_out), close(old_err), close(to_out), close(to_err);
    return rc;
}
