/* cli/command.h - what a command is. Every cmd_*.c in sim/cli, traces/ and plots/ defines one
 * `const struct command cmd_NAME`; the registry cmd_all[] is generated from the file names. */
#ifndef GPUSIM_CLI_COMMAND_H
#define GPUSIM_CLI_COMMAND_H

#include "base/err.h"
#include "cli/opt.h"

/* One thing that `gpusim list` prints: its name and one line about it. */
typedef void command_show(void *ctx, const char *name, const char *help);

struct command {
    const char *name;       /* "run" */
    const char *args;       /* "SCENARIO" */
    const char *help;       /* one line for `gpusim --help` */
    const char *example;    /* runnable; help starts with it */
    const struct opt *opts; /* ends with {0}; drives parsing, --help and the man page */
    /* argv[0] is the command's name. >= 0: exit status; < 0: ERR_*, and *e says why. */
    int (*run)(const struct command *self, int argc, char **argv, struct err *e);

    /* Optional. `gpusim list WORD` for what only this command's folder can see (formats of traces):
     * the word, and a function that calls show() once for each thing, in order. */
    const char *lists;
    void (*list)(command_show *show, void *ctx);

    /* Optional. Options beside `opts`, of the i-th format of traces and its name, for the manual
     * and the completions: a table that ends with {0}, perhaps empty; NULL after the last. */
    const struct opt *(*format_opts)(size_t i, const char **format);

    /* Optional, for the completions: the i-th word that may be the operand at `place` (from 0),
     * NULL after the last; or the first operand is a name that `gpusim list WORD` shows. */
    const char *(*operand)(size_t place, size_t i);
    const char *operand_list;
};

extern const struct command *const cmd_all[]; /* NULL-terminated, sorted by name */

/* Languages of pages and pictures, for OPT_CHOICE: "en", "zh", NULL. */
extern const char *const command_langs[];

/* `gpusim NAME DIR --lang LANG`, with LANG at that place of command_langs, for the commands of
 * sim/, which may not call plots/: NAME is "plot" or "report". Its exit status or ERR_*; 0 where
 * there is no such command. */
int command_draw(const char *name, const char *dir, int lang, struct err *e);

#endif
