#include "traces/wholefile.h"

#include "base/instream.h"
#include "base/mem.h"

#include <stdlib.h>

int wholefile_read(char **text, size_t *len, const char *path, const char *what, struct err *e)
{
    const struct loc at = { .file = path };
    struct instream *in;
    size_t cap = 1 << 16, n = 0;
    ssize_t got = 0;
    *text = NULL;
    *len = 0;
    int rc = instream_open(&in, path, e);
    if (rc < 0) return rc;
    char *buf = xmalloc(cap);
    while (n <= WHOLEFILE_MAX && (got = instream_read(in, buf + n, cap - n - 1, e)) > 0) {
        n += (size_t)got;
        if (cap - n < cap / 2) buf = xreallocarray(buf, cap *= 2, 1);
    }
    instream_close(in);
    if (got < 0)
        rc = (int)got;
    else if (n > WHOLEFILE_MAX)
        rc = err_set(e, ERR_INPUT, &at, "more than %d MiB: split the file", WHOLEFILE_MAX >> 20);
    else if (n == 0)
        rc = err_set(e, ERR_INPUT, &at, "expected %s, found an empty file", what);
    if (rc < 0) {
        free(buf);
        return rc;
    }
    buf[n] = '\0';
    *text = buf;
    *len = n;
    return 0;
}
