/* traces/wholefile.h - a file in memory, decompressed, for formats that cannot be read row by row
 * (JSON, YAML, XML documents). "-" is standard input. */
#ifndef GPUSIM_TRACES_WHOLEFILE_H
#define GPUSIM_TRACES_WHOLEFILE_H

#include "base/err.h"

#include <stddef.h>

enum { WHOLEFILE_MAX = 512 << 20 }; /* bytes after decompression */

/* *text is NUL-terminated and freed by the caller; NULL after a failure. ERR_IO; ERR_INPUT for
 * damaged compression, more than WHOLEFILE_MAX, or nothing at all ("expected `what`, found an empty
 * file"). */
int wholefile_read(char **text, size_t *len, const char *path, const char *what, struct err *e);

#endif
