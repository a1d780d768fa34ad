/* base/filesum.h - what a stored file can be recognised by later: its length and its CRC-32.
 *
 * Against damage and mix-ups, not against malice: a file that was cut is found always, another
 * file with a chance of 1 - 2^-32. The CRC is that of gzip and zip (ISO 3309; zlib's crc32()),
 * so `crc32 FILE` prints the same. Threads: any. Errors: ERR_IO. Cost: O(bytes), about 1 ns
 * each. */
#ifndef GPUSIM_BASE_FILESUM_H
#define GPUSIM_BASE_FILESUM_H

#include "base/err.h"

#include <stdint.h>

struct filesum {
    uint64_t bytes;
    uint32_t crc32;
};

int filesum_of(const char *path, struct filesum *out, struct err *e);

#endif
