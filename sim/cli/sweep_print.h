/* cli/sweep_print.h - the table of a sweep on standard output. */
#ifndef GPUSIM_CLI_SWEEP_PRINT_H
#define GPUSIM_CLI_SWEEP_PRINT_H

#include "base/err.h"
#include "base/str.h"

/* `text`: the table for a terminal. The other forms are the files that were just written into
 * `dir`. `format`: of cli/command.h. ERR_IO. */
int sweep_print(const char *dir, int format, const struct strbuf *text, struct err *e);

#endif
