/* tests/support/run_command.h - run a command of gpusim inside a test. */
#ifndef GPUSIM_TESTS_RUN_COMMAND_H
#define GPUSIM_TESTS_RUN_COMMAND_H

#include "cli/command.h"

/* words: up to 23, NULL-terminated. Standard output and error go into these files, or both into
 * one; NULL: away. */
int run_command(const struct command *c, const char *const *words, const char *out, const char *err,
                struct err *e);

#endif
