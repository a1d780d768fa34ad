#include "base/filesum.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

int filesum_of(const char *path, struct filesum *out, struct err *e)
{
    static const size_t most = 1 << 16;
    unsigned char buf[1 << 16];
    struct filesum sum = { 0 };
    size_t n;
    FILE *f = fopen(path, "rb");
    if (!f)
        return err_set(e, err_of_errno(errno), &(struct loc){ .file = path }, "cannot read: %s",
                       strerror(errno));
    while ((n = fread(buf, 1, most, f)) > 0) {
        sum.bytes += n;
        sum.crc32 = (uint32_t)crc32(sum.crc32, buf, (unsigned)n);
    }
    const int failed = ferror(f) ? errno : 0;
    fclose(f);
    if (failed)
        return err_set(e, err_of_errno(failed), &(struct loc){ .file = path }, "cannot read: %s",
                       strerror(failed));
    *out = sum;
    return 0;
}
