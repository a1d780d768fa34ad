/* textfile.h - bytes under a file name, without touching the disk: for tests of readers. */
#ifndef TESTS_SUPPORT_TEXTFILE_H
#define TESTS_SUPPORT_TEXTFILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct textfile {
    int fd;
    char path[40];
};

static inline struct textfile textfile_bytes(const void *data, size_t len)
{
    struct textfile t;
    t.fd = memfd_create("textfile", 0);
    if (t.fd < 0) abort();
    for (size_t at = 0; at < len;) {
        ssize_t n = write(t.fd, (const char *)data + at, len - at);
        if (n <= 0) abort();
        at += (size_t)n;
    }
    snprintf(t.path, sizeof t.path, "/proc/self/fd/%d", t.fd);
    return t;
}

static inline struct textfile textfile_of(const char *text)
{
    return textfile_bytes(text, strlen(text));
}

static inline void textfile_close(struct textfile *t)
{
    close(t->fd);
}

#endif
