/* base/spool.h - a file that can be opened more than once, whatever the user named: a regular file
 * stays where it is; standard input ("-"), a pipe, a FIFO or a device is copied, as it is, to a
 * file without a name ($TMPDIR), whose path opens it again and again.
 *
 * What has no end must not fill the disk: a copy takes at most SPOOL_BYTES, and at most half of
 * what is free in $TMPDIR when it begins; the environment variable GPUSIM_SPOOL_BYTES (a whole
 * number) is another limit in place of both. Beyond it the copy is gone and the error says so.
 *
 * What a reader says about that path must not reach the user: spool_name_err() puts the user's own
 * word in its place.
 * Errors: ERR_IO; ERR_LIMIT beyond the limit; ERR_USAGE for a bad GPUSIM_SPOOL_BYTES.
 * Threads: one spool, one thread. */
#ifndef GPUSIM_BASE_SPOOL_H
#define GPUSIM_BASE_SPOOL_H

#include "base/err.h"

#include <stdint.h>

#define SPOOL_BYTES (INT64_C(16) << 30) /* assumed: some hundred million rows of a trace */

/* What cannot be opened again and again: "standard input", "a pipe", "a device", "a directory";
 * NULL for a regular file, and for what is not there. */
const char *spool_kind(const char *path);

struct spool {         /* starts as {0} */
    char path[64];     /* of the copy; "": there is none */
    const char *named; /* what the user named; lent */
    FILE *copy;        /* NULL: the file itself is read */
};

/* Files that cannot be opened or examined are left to the reader, which says so. */
int spool_open(struct spool *s, const char *path, struct err *e);
const char *spool_path(const struct spool *s); /* what to open; lives as long as the spool */
void spool_close(struct spool *s);             /* accepts {0} */
/* In the texts of an error: the user's word where the copy's path stands. */
void spool_name_err(const struct spool *s, struct err *e);

#endif
