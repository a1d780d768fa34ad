/* cli/manual.h - manual pages and shell completion, written from the very tables that parse options
 * and scenarios, so that they cannot fall behind. Pages are in man(7) macros.
 * Threads: none shared; everything is read. O(size of the output). */
#ifndef GPUSIM_CLI_MANUAL_H
#define GPUSIM_CLI_MANUAL_H

#include "cli/command.h"

#include <stdio.h>

void manual_gpusim(FILE *to);   /* gpusim(1): commands, options, exit status, files */
void manual_scenario(FILE *to); /* gpusim-scenario(5): every key with type, bounds and default */
void manual_bash(FILE *to);     /* for /usr/share/bash-completion/completions/gpusim */
void manual_zsh(FILE *to);      /* for /usr/share/zsh/site-functions/_gpusim */

#endif
