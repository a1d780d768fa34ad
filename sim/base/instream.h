/* base/instream.h - bytes from a file, decompressed by what the file is, not by what it is called:
 * plain, gzip (zlib), xz (liblzma), zstd (libzstd). "-" is standard input.
 * Concatenated members are read through; a truncated member is an error, never a silent end.
 * Memory: a fixed buffer. Threads: one stream, one thread. */
#ifndef GPUSIM_BASE_INSTREAM_H
#define GPUSIM_BASE_INSTREAM_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

struct instream;

int instream_open(struct instream **out, const char *path, struct err *e); /* ERR_IO */
void instream_close(struct instream *s); /* accepts NULL */
/* Up to `size` bytes; 0 at the end; negative err_code on failure. */
ssize_t instream_read(struct instream *s, void *buf, size_t size, struct err *e);
const char *instream_kind(const struct instream *s); /* "plain", "gzip", "xz", "zstd" */
/* SHA-256 (libmd) of the decompressed bytes delivered so far, in lower-case hex. */
void instream_sha256(const struct instream *s, char hex[65]);
void sha256_hex(const void *data, size_t len, char hex[65]);

#endif
