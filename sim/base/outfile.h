/* base/outfile.h - output files that appear whole or not at all: written without a name in the
 * same folder (under a temporary name where the file system has no nameless files), then
 * renamed. "-" is standard output (no rename). Threads: one file, one thread. A process that
 * exits or is killed half-way leaves the old file and, but for a temporary name on such file
 * systems, nothing else; the temporary file is removed on every error path. */
#ifndef GPUSIM_BASE_OUTFILE_H
#define GPUSIM_BASE_OUTFILE_H

#include "base/err.h"

#include <stdbool.h>

struct outfile {
    FILE *f;          /* write here */
    char *path, *tmp; /* owned */
    bool nameless;    /* until it is committed */
};

int outfile_open(struct outfile *o, const char *path, struct err *e);
/* Flush, check for write errors, rename. ERR_IO removes the temporary file. */
int outfile_commit(struct outfile *o, struct err *e);
void outfile_abandon(struct outfile *o); /* on error paths; harmless after commit and on {0} */

/* The whole of `text` into `path`. */
int outfile_write(const char *path, const char *text, size_t len, struct err *e);
/* A file without a name, to write and read back, in $TMPDIR (default: /tmp). NULL: ERR_IO. */
FILE *outfile_temporary(struct err *e);
/* mkdir -p */
int outfile_mkdirs(const char *dir, struct err *e);
/* The folders above `path`, which may be "-". */
int outfile_mkdirs_for(const char *path, struct err *e);

#endif
