#include "base/spool.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 18 };

/* Bytes that a copy may take, and why no more. */
struct limit {
    int64_t bytes;
    const char *why;
};

static int limit_of(struct limit *l, FILE *copy, struct err *e)
{
    const char *set = getenv("GPUSIM_SPOOL_BYTES");
    struct statvfs fs;
    *l = (struct limit){ SPOOL_BYTES, "are copied of what is no regular file" };
    if (set && *set) {
        if (dec_fixed(set, strlen(set), 0, &l->bytes) != DEC_OK || l->bytes < 1)
            return err_set(e, ERR_USAGE, NULL,
                           "GPUSIM_SPOOL_BYTES: expected a whole number of bytes, found \"%s\"",
                           set);
        l->why = "are allowed by GPUSIM_SPOOL_BYTES";
    } else if (fstatvfs(fileno(copy), &fs) == 0 &&
               (uint64_t)fs.f_bavail < (uint64_t)l->bytes / fs.f_frsize * 2) {
        l->bytes = (int64_t)(fs.f_bavail * fs.f_frsize / 2);
        l->why = "are half of what is free in the folder for temporary files";
    }
    return 0;
}

static int endless(const char *path, const struct limit *l, struct err *e)
{
    const struct loc at = { .file = path };
    err_set(e, ERR_LIMIT, &at, "has no end, or a late one: more than the %lld bytes that %s",
            (long long)l->bytes, l->why);
    err_hint(e, "name a regular file (gzip, xz and zstd are read as they are), or raise "
                "GPUSIM_SPOOL_BYTES; TMPDIR says where copies lie");
    return ERR_LIMIT;
}

/* All bytes from fd into the file. */
static int copy_all(int fd, const char *path, FILE *to, struct err *e)
{
    const struct loc at = { .file = path };
    struct limit limit;
    int rc = limit_of(&limit, to, e);
    if (rc != 0) return rc;
    char *buf = xmalloc(COPY_BYTES);
    int64_t left = limit.bytes;
    ssize_t n;
    while (rc == 0 && (n = read(fd, buf, COPY_BYTES)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            rc = err_set(e, err_of_errno(errno), &at, "cannot read: %s", strerror(errno));
        else if (n > left)
            rc = endless(path, &limit, e);
        else if (fwrite(buf, 1, (size_t)n, to) != (size_t)n)
            rc = err_set(e, err_of_errno(errno), &at, "cannot copy it to a temporary file: %s", strerror(errno));
        left -= n;
    }
    if (rc == 0 && fflush(to) != 0)
        rc = err_set(e, err_of_errno(errno), &at, "cannot copy it to a temporary file: %s", strerror(errno));
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
        return err_set(e, err_of_errno(errno), &at, "cannot open: %s", strerror(errno));
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
