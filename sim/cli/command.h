/* cli/command.h - what a command is. Every cmd_*.c in sim/cli, traces/ and plots/ defines one
 * `const struct command cmd_NAME`; the registry cmd_all[] is generated from the file names. */
#ifndef GPUSIM_CLI_COMMAND_H
#define GPUSIM_CLI_COMMAND_H

#include "base/err.h"
#include "cli/opt.h"

struct command {
    const char *name;    /* "run" */
    const char *args;    /* "SCENARIO" */
    const char *help;    /* one line for `gpusim --help` */
    const char *example; /* runnable; help starts with it */
    const struct opt *opts; /* ends with {0}; drives parsing, --help and the man page */
    /* argv[0] is the command's name. >= 0: exit status; < 0: ERR_*, and *e says why. */
    int (*run)(const struct command *self, int argc, char **argv, struct err *e);
};

extern const struct command *const cmd_all[]; /* NULL-terminated, sorted by name */

#endif
