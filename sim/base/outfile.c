#include "base/outfile.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int io_error(struct err *e, const char *path, const char *what)
{
    const struct loc at = { .file = path };

    return err_set(e, err_of_errno(errno), &at, "%s: %s", what, strerror(errno));
}

static int dir_len(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* A file without a name in the folder of `path`: nothing of it stays when the process is killed.
 * -1: this file system has no such files. */
static int open_nameless(const char *path)
{
    if (access("/proc/self/fd", X_OK) != 0) return -1; /* by which it gets its name */
    char *dir = dir_len(path) ? xstrndup(path, (size_t)dir_len(path)) : xstrdup(".");
    const int fd = open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    free(dir);
    return fd;
}

/* Give the file of `fd` (-1: a new one) a name nobody has, in the folder of `path`; mode by umask.
 * The descriptor, or -1 and errno. */
static int name_beside(const char *path, int fd, char **tmp)
{
    char self[64];

    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    for (unsigned i = 0; i < 1000; i++) {
        *tmp = xasprintf("%.*s.%s.tmp.%ld.%u", dir_len(path), path, path + dir_len(path),
                         (long)getpid(), i);
        const int got = fd < 0 ? open(*tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                        : linkat(AT_FDCWD, self, AT_FDCWD, *tmp, AT_SYMLINK_FOLLOW) == 0 ? fd
                                                                                         : -1;
        if (got >= 0) return got;
        free(*tmp);
        *tmp = NULL;
        if (errno != EEXIST) break;
    }
    return -1;
}

int outfile_open(struct outfile *o, const char *path, struct err *e)
{
    struct stat st;
    int fd;

    *o = (struct outfile){ .path = xstrdup(path) };
    if (strcmp(path, "-") == 0) {
        o->f = stdout;
        return 0;
    }
    const bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        fd = -1;
    } else if (exists && !S_ISREG(st.st_mode)) { /* a device or pipe is written, never replaced */
        fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        char *target = exists ? realpath(path, NULL) : NULL; /* a link keeps pointing there */
        if (target) {
            free(o->path);
            o->path = target;
        }
        fd = open_nameless(o->path);
        if (fd >= 0)
            o->nameless = true;
        else
            fd = name_beside(o->path, -1, &o->tmp);
    }
    if (fd >= 0) o->f = fdopen(fd, "wb");
    if (o->f) return 0;

    const int rc = io_error(e, path, "cannot create");
    if (fd >= 0) close(fd);
    outfile_abandon(o);
    return rc;
}

/* An earlier write failed and its reason is gone: the next one, to a file that will not stay,
 * says it again. */
static int why_it_failed(const struct outfile *o)
{
    static const char block[4096];
    if (!o->nameless && !o->tmp) return EIO;
    const bool bad = write(fileno(o->f), block, sizeof block) < 0;
    return bad && errno ? errno : EIO;
}

int outfile_commit(struct outfile *o, struct err *e)
{
    int rc = 0;

    errno = 0;
    bool bad = fflush(o->f) != 0 || ferror(o->f);
    if (bad && errno == 0) errno = why_it_failed(o);
    if (bad) rc = io_error(e, o->path, "cannot write");
    if (!rc && o->nameless && name_beside(o->path, fileno(o->f), &o->tmp) < 0)
        rc = io_error(e, o->path, "cannot create");
    if (o->f != stdout) {
        bad = fclose(o->f) != 0;
        o->f = NULL;
        if (bad && !rc) rc = io_error(e, o->path, "cannot write");
        if (!rc && o->tmp && rename(o->tmp, o->path) != 0)
            rc = io_error(e, o->path, "cannot rename to");
        if (!rc) {
            free(o->tmp);
            o->tmp = NULL;
        }
    }
    outfile_abandon(o); /* frees; removes the temporary file unless it was renamed */
    return rc;
}

void outfile_abandon(struct outfile *o)
{
    if (o->f && o->f != stdout) fclose(o->f);
    if (o->tmp) unlink(o->tmp);
    free(o->tmp);
    free(o->path);
    *o = (struct outfile){ 0 };
}

int outfile_write(const char *path, const char *text, size_t len, struct err *e)
{
    struct outfile o;
    int rc = outfile_open(&o, path, e);

    if (rc) return rc;
    fwrite(text, 1, len, o.f); /* a failure sticks to the stream until outfile_commit */
    return outfile_commit(&o, e);
}

FILE *outfile_temporary(struct err *e)
{
    const char *dir = getenv("TMPDIR");
    char *path = xasprintf("%s/gpusim-XXXXXX", dir && *dir ? dir : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!f) io_error(e, path, "cannot create a temporary file");
    if (fd >= 0) unlink(path);
    if (fd >= 0 && !f) close(fd);
    free(path);
    return f;
}

int outfile_mkdirs(const char *dir, struct err *e)
{
    char *path = xstrdup(dir);
    int rc = 0;

    for (char *p = path + 1; *path && !rc; p++) {
        if (*p && *p != '/') continue;
        const char end = *p;
        *p = '\0';
        struct stat st;
        if (mkdir(path, 0777) != 0) {
            if (errno != EEXIST) {
                rc = io_error(e, path, "cannot create folder");
            } else if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
                errno = ENOTDIR;
                rc = io_error(e, path, "cannot create folder");
            }
        }
        *p = end;
        if (!end) break;
    }
    free(path);
    return rc;
}

int outfile_mkdirs_for(const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path) return 0;
    char *dir = xasprintf("%.*s", (int)(slash - path), path);
    const int rc = outfile_mkdirs(dir, e);
    free(dir);
    return rc;
}
