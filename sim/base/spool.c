#include "base/spool.h"

#include "base/mem.h"
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 18 };

/* All bytes from fd into the file. */
static int copy_all(int fd, const char *path, FILE *to, struct err *e)
{
    const struct loc at = { .file = path };
    char *buf = xmalloc(COPY_BYTES);
    ssize_t n;
    int rc = 0;
    while ((n = read(fd, buf, COPY_BYTES)) != 0 && rc == 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            rc = err_set(e, ERR_IO, &at, "cannot read: %s", strerror(errno));
        else if (fwrite(buf, 1, (size_t)n, to) != (size_t)n)
            rc = err_set(e, ERR_IO, &at, "cannot copy it to a temporary file: %s", strerror(errno));
    }
    if (rc == 0 && fflush(to) != 0)
        rc = err_set(e, ERR_IO, &at, "cannot copy it to a temporary file: %s", strerror(errno));
    free(buf);
    return rc;
}

const char *spool_kind(const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0) return "standard input";
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode)) return NULL;
    if (S_ISDIR(st.st_mode)) return "a directory";
    return S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ? "a pipe" : "a device";
}

int spool_open(struct spool *s, const char *path, struct err *e)
{
    const bool standard = strcmp(path, "-") == 0;
    struct stat st;
    *s = (struct spool){ .named = standard ? "standard input" : path };
    if (!standard && (stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
        s->named = path;
        return 0;
    }
    const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        const struct loc at = { .file = path };
        return err_set(e, ERR_IO, &at, "cannot open: %s", strerror(errno));
    }
    s->copy = outfile_temporary(e);
    int rc = s->copy ? copy_all(fd, s->named, s->copy, e) : ERR_IO;
    if (!standard) close(fd);
    if (rc == 0)
        snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", fileno(s->copy));
    else
        spool_close(s);
    return rc;
}

const char *spool_path(const struct spool *s)
{
    return s->copy ? s->path : s->named;
}

void spool_close(struct spool *s)
{
    if (s->copy) fclose(s->copy);
    *s = (struct spool){ 0 };
}

static void rename_in(char *text, size_t size, const char *from, const char *to)
{
    char *at = strstr(text, from);
    const size_t skip = strlen(from);
    if (!at || (at[skip] >= '0' && at[skip] <= '9')) return; /* another descriptor */
    char *rest = xstrdup(at + skip);
    snprintf(at, size - (size_t)(at - text), "%s%s", to, rest);
    free(rest);
}

void spool_name_err(const struct spool *s, struct err *e)
{
    if (!s->copy || !e || e->code == ERR_OK) return;
    rename_in(e->where, sizeof e->where, s->path, s->named);
    rename_in(e->msg, sizeof e->msg, s->path, s->named);
    rename_in(e->hint, sizeof e->hint, s->path, s->named);
}
