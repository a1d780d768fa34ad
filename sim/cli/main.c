/* cli/main.c - `gpusim COMMAND ...`: find the command, run it, turn its answer into an exit
 * status. What the commands are comes from cmd_all[], generated from the files cmd_*.c. */
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef GPUSIM_VERSION /* set by the Makefile */
#define GPUSIM_VERSION "0.1.0"
#endif

/* What run needs is less than half of it; with it JSON may nest as deep as Jansson reads (2048).
 * tests/run_faults.sh runs with just so much. */
enum { STACK_BYTES = 1 << 20 };

static const struct command *find(const char *name)
{
    for (const struct command *const *c = cmd_all; *c; c++)
        if (strcmp((*c)->name, name) == 0) return *c;
    return NULL;
}

static void usage(FILE *to)
{
    size_t width = strlen("help");

    for (const struct command *const *c = cmd_all; *c; c++)
        if (strlen((*c)->name) > width) width = strlen((*c)->name);
    fputs("Example: gpusim run scenarios/mixed.json -o out/mixed\n\n"
          "Usage: gpusim COMMAND [arguments] [options]\n"
          "       replays the same GPU work under several ways of sharing the cards\n\nCommands:\n",
          to);
    for (const struct command *const *c = cmd_all; *c; c++)
        fprintf(to, "  %-*s  %s\n", (int)width, (*c)->name, (*c)->help);
    fprintf(to, "  %-*s  %s\n", (int)width, "help", "show this text, or that of one command");
    fputs("\n\"gpusim COMMAND --help\" lists the options of a command.\n\n"
          "Exit status:\n"
          "  0  done\n"
          "  1  the answer is no (check found problems, size found nothing, compare differs)\n",
          to);
#define X(name, status, meaning) fprintf(to, "  %d  %s\n", status, meaning);
    ERR_MAP(X)
#undef X
}

static int unknown_command(const char *word, struct err *e)
{
    const char *names[64] = { "help" };
    size_t n = 1;

    for (const struct command *const *c = cmd_all; *c && n < sizeof names / sizeof *names; c++)
        names[n++] = (*c)->name;
    const int rc = err_set(e, ERR_USAGE, NULL, "unknown command \"%s\"", word);
    const char *near = str_nearest(word, names, n);
    if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else
        err_hint(e, "\"gpusim --help\" lists the commands");
    return rc;
}

/* `gpusim help NAME` is `gpusim NAME --help`: a command may know more than its table. */
static int show_help(char *name, struct err *e)
{
    char option[] = "--help";
    char *argv[] = { name, option, NULL };
    const struct command *c = name ? find(name) : NULL;

    if (c) return c->run(c, 2, argv, e);
    if (name && strcmp(name, "help") != 0) return unknown_command(name, e);
    usage(stdout);
    return 0;
}

static int dispatch(int argc, char **argv, struct err *e)
{
    const char *word = argv[1];

    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts("gpusim " GPUSIM_VERSION);
        return 0;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return show_help(NULL, e);
    if (strcmp(word, "help") == 0)
        return show_help(argc > 2 && *argv[2] != '-' ? argv[2] : NULL, e);

    const struct command *c = find(word);
    if (!c) return unknown_command(word, e);
    if (argc == 3 && strcmp(argv[2], "--version") == 0) {
        puts("gpusim " GPUSIM_VERSION);
        return 0;
    }
    return c->run(c, argc - 1, argv + 1, e);
}

/* A closed standard stream must not become the number of some output file. */
static void open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
}

/* A stack that overflows is the end by a signal, so a small one is told before. The limit grows as
 * far as it may; the kernel asks it when the stack grows. */
static int want_stack(struct err *e)
{
    struct rlimit l;

    if (getrlimit(RLIMIT_STACK, &l) != 0 || l.rlim_cur >= STACK_BYTES) return 0;
    l.rlim_cur = l.rlim_max < STACK_BYTES ? l.rlim_max : STACK_BYTES;
    if (setrlimit(RLIMIT_STACK, &l) == 0 && l.rlim_cur >= STACK_BYTES) return 0;
    err_set(e, ERR_LIMIT, NULL, "the stack is limited to %llu KiB, expected at least %d KiB",
            (unsigned long long)l.rlim_cur / 1024, STACK_BYTES / 1024);
    err_hint(e, "`ulimit -s %d` allows it, where gpusim is started from", STACK_BYTES / 1024);
    return ERR_LIMIT;
}

__attribute__((noinline)) static void touch_stack(void)
{
    volatile char room[STACK_BYTES / 2];
    room[0] = 0;
    (void)room[0];
}

/* A stack that must grow when memory is limited (`ulimit -v`) and used up ends the program by a
 * signal too: the room that run needs is reserved before others take it. Not used, it costs
 * address space only. */
static void reserve_stack(void)
{
    /* cppcheck-suppress invalidFunctionArg ; -1 is how no file is named */
    void *as_much = mmap(NULL, STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (as_much == MAP_FAILED) out_of_memory();
    munmap(as_much, STACK_BYTES);
    touch_stack();
}

/* What GSL has no memory for ends the program, as everywhere; its other errors are its callers'. */
static void gsl_failed(const char *reason, const char *file, int line, int code)
{
    (void)reason, (void)file, (void)line;
    if (code == GSL_ENOMEM) out_of_memory();
}

int main(int argc, char **argv)
{
    struct err e = { 0 };

    open_standard_streams();
    signal(SIGXFSZ, SIG_IGN);            /* a limit on file sizes is an error of the write */
    gsl_set_error_handler(gsl_failed);   /* the default handler aborts */
    json_set_alloc_funcs(xmalloc, free); /* out of memory ends the program, as everywhere */
    if (argc < 2) {
        usage(stderr);
        return err_status(ERR_USAGE);
    }
    int rc = want_stack(&e);
    if (rc == 0) reserve_stack();
    if (rc == 0) rc = dispatch(argc, argv, &e);
    if (rc < 0 && e.code == ERR_OK)
        err_set(&e, ERR_CHECK, NULL, "%s failed with status %d and did not say why: a bug", argv[1],
                err_status((enum err_code)rc));
    /* what was printed must have arrived: a full disk is not success */
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && rc >= 0) {
        e = (struct err){ 0 };
        rc = err_set(&e, ERR_IO, NULL, "cannot write standard output: %s",
                     errno ? strerror(errno) : "write error");
    }
    if (rc < 0) err_print(&e, "gpusim", stderr);
    if (rc >= 0) interrupt_die();
    return rc < 0 ? err_status((enum err_code)rc) : rc;
}
