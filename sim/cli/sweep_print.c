#include "cli/sweep_print.h"

#include "base/mem.h"
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sweep_print(const char *dir, int format, const struct strbuf *text, struct err *e)
{
    char buf[1 << 16];
    size_t n;
    int rc = 0;
    if (format != FORMAT_JSON && format != FORMAT_CSV) {
        fwrite(text->s, 1, text->len, stdout);
        return 0;
    }
    char *path = xasprintf("%s/sweep.%s", dir, format == FORMAT_JSON ? "json" : "csv");
    const struct loc at = { .file = path };
    FILE *f = fopen(path, "rb");
    while (f && (n = fread(buf, 1, sizeof buf, f)) > 0) fwrite(buf, 1, n, stdout);
    if (!f || ferror(f)) rc = err_set(e, err_of_errno(errno), &at, "cannot read: %s", strerror(errno));
    if (f) fclose(f);
    free(path);
    return rc;
}
