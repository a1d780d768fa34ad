/* base/instream.h - bytes from a file, decompressed by what the file is, not by what it is called:
 * plain, gzip (zlib, RFC 1952), xz (liblzma), zstd (libzstd, RFC 8878). "-" is standard input.
 * Concatenated members are read through; a truncated member is an error, never a silent end.
 *
 * Hashing is off unless asked for: SHA-256 in C runs at a few hundred MB/s, slower than the CSV
 * reader. A file that is read several times (once per policy) is best hashed once, apart, with
 * instream_file_sha256(); standard input can be read only once, so it is hashed as it goes by.
 *
 * Errors: ERR_IO for the file system; ERR_INPUT for damaged or truncated compressed data; ERR_LIMIT
 * for a window that is too large and for a bomb. Memory: a fixed buffer and the decoder's window. Threads: one
 * stream, one thread. */
#ifndef GPUSIM_BASE_INSTREAM_H
#define GPUSIM_BASE_INSTREAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct instream;

/* What of its output a decoder may have to keep: the largest of `zstd --ultra -22` and twice that
 * of `xz -9e`. Files made with a larger window are refused with ERR_LIMIT, so that a few bytes
 * cannot ask for gigabytes. */
enum { INSTREAM_WINDOW_LOG = 27, INSTREAM_WINDOW_BYTES = 1 << INSTREAM_WINDOW_LOG };

/* A compressed file may unpack to INSTREAM_FREE_BYTES, and beyond them to INSTREAM_MOST_RATIO times
 * what was read of it; more is refused with ERR_LIMIT where it happens, so that a file of megabytes
 * cannot fill a disk. Real traces unpack to up to 130 times (Helios, xz); deflate reaches 1032. */
enum { INSTREAM_FREE_BYTES = 64 << 20, INSTREAM_MOST_RATIO = 500 };

int instream_open(struct instream **out, const char *path, struct err *e);
void instream_close(struct instream *s); /* accepts NULL */
/* Up to `size` bytes; 0 at the end; negative err_code on failure (again on every later call). */
ssize_t instream_read(struct instream *s, void *buf, size_t size, struct err *e);
const char *instream_kind(const struct instream *s); /* "plain", "gzip", "xz", "zstd" */

/* Hash what is delivered from now on. Call it before the first read. */
void instream_hash(struct instream *s);
/* SHA-256 (libmd) of the decompressed bytes delivered so far, in lower-case hex. Requires
 * instream_hash(). */
void instream_sha256(const struct instream *s, char hex[65]);

/* The hash of a whole file's decompressed bytes, in a pass of its own (not for "-"). */
int instream_file_sha256(const char *path, char hex[65], struct err *e);
void sha256_hex(const void *data, size_t len, char hex[65]);

#endif
