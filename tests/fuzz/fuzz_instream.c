/* tests/fuzz/fuzz_instream.c - any bytes as a file, plain or compressed in any of the ways that instream
 * knows: it is read to its end, or refused with words, and never delivers more than its cap. */
#include "tests/support/textfile.h"

#include "base/instream.h"
#include "base/mem.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char buf[1 << 16];
    struct textfile t = textfile_bytes(data, size);
    struct instream *s;
    struct err e = { 0 };
    uint64_t got = 0;
    ssize_t n = instream_open(&s, t.path, &e);
    if (n == 0) {
        const bool plain = strcmp(instream_kind(s), "plain") == 0;
        while ((n = instream_read(s, buf, sizeof buf, &e)) > 0) got += (uint64_t)n;
        BUG_ON(plain && got != size);
        BUG_ON(got > INSTREAM_FREE_BYTES && got > INSTREAM_MOST_RATIO * (uint64_t)size);
        instream_close(s);
    }
    BUG_ON(n < 0 && !*e.msg);
    textfile_close(&t);
    return 0;
}
