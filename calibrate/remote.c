#include "calibrate/remote.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum op { OP_LAUNCH, OP_SYNC, OP_NATIVE, OP_UPLOAD };
enum { MIB = 1 << 20 };

struct request {
    uint32_t op, n; /* n: launches, or MiB that follow */
};
struct answer {
    int32_t failed;
    double seconds; /* of OP_NATIVE */
};

static double monotonic_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool send_all(int fd, const void *p, size_t n)
{
    for (const char *at = p; n > 0;) {
        const ssize_t k = send(fd, at, n, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        at += k;
        n -= (size_t)k;
    }
    return true;
}

static bool receive_all(int fd, void *p, size_t n)
{
    for (char *at = p; n > 0;) {
        const ssize_t k = recv(fd, at, n, 0);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        at += k;
        n -= (size_t)k;
    }
    return true;
}

static void send_at_once(int fd)
{
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* ---- server ------------------------------------------------------------------------------------- */

struct server {
    struct device *d;
    int fd;
    dev_ptr to;
    void *from[2]; /* pinned, one MiB each: one is filled while the other goes to the card */
};

static int launches(struct device *d, unsigned n, struct err *e)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < n; i++) rc = d->ops->launch(d, DEV_EMPTY, 1, 32, NULL, e);
    return rc;
}

static int receive_to_card(struct server *s, unsigned MiB, struct err *e)
{
    struct device *d = s->d;
    double ms;
    int rc = 0;
    for (unsigned i = 0; !rc && i < MiB; i++) {
        const int k = (int)(i % 2);
        if (i >= 2) rc = d->ops->event_ms(d, k, k, &ms, e); /* the buffer is free again */
        if (!rc && !receive_all(s->fd, s->from[k], MIB))
            rc = err_set(e, ERR_IO, NULL, "the connection broke");
        if (!rc) rc = d->ops->copy_in(d, s->to, s->from[k], MIB, e);
        if (!rc) rc = d->ops->event_record(d, k, e);
    }
    return rc ? rc : d->ops->sync(d, e);
}

/* false: the connection is at its end. */
static bool serve_one(struct server *s, int *rc, struct err *e)
{
    struct request r;
    struct answer a = { 0 };
    if (!receive_all(s->fd, &r, sizeof r)) return false;
    const double t0 = monotonic_s();
    switch ((enum op)r.op) {
    case OP_LAUNCH: *rc = launches(s->d, 1, e); return *rc == 0; /* no answer */
    case OP_SYNC: *rc = s->d->ops->sync(s->d, e); break;
    case OP_NATIVE:
        *rc = launches(s->d, r.n, e);
        if (!*rc) *rc = s->d->ops->sync(s->d, e);
        break;
    case OP_UPLOAD: *rc = receive_to_card(s, r.n, e); break;
    }
    a.seconds = monotonic_s() - t0;
    a.failed = *rc != 0;
    return send_all(s->fd, &a, sizeof a) && *rc == 0;
}

static int listen_here(int *port, struct err *e)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0 &&
        getsockname(fd, (struct sockaddr *)&at, &size) == 0) {
        *port = ntohs(at.sin_port);
        return fd;
    }
    err_set(e, ERR_IO, NULL, "no port on the loopback interface: %s", strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

int remote_serve(struct device *d, FILE *to, struct err *e)
{
    struct server s = { .d = d, .fd = -1 };
    int port = 0, rc = 0;
    const int listening = listen_here(&port, e);
    if (listening < 0) return ERR_IO;
    fprintf(to, "remote %d\n", port);
    fflush(to);
    s.fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    if (s.fd < 0) rc = err_set(e, ERR_IO, NULL, "accept: %s", strerror(errno));
    if (!rc) rc = d->ops->alloc(d, MIB, &s.to, e);
    for (int k = 0; !rc && k < 2; k++) rc = d->ops->host_alloc(d, MIB, &s.from[k], e);
    if (!rc) send_at_once(s.fd);
    while (!rc && serve_one(&s, &rc, e)) continue;
    if (s.fd >= 0) close(s.fd);
    close(listening);
    d->ops->free(d, s.to, NULL);
    for (int k = 0; k < 2; k++) d->ops->host_free(d, s.from[k], NULL);
    return rc;
}

/* ---- client ------------------------------------------------------------------------------------- */

int remote_connect(int port, struct err *e)
{
    const struct sockaddr_in at = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) == 0) {
        send_at_once(fd);
        return fd;
    }
    err_set(e, ERR_IO, NULL, "no connection to the forwarder: %s", strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

static int hear(int fd, struct answer *a, struct err *e)
{
    if (!receive_all(fd, a, sizeof *a)) return err_set(e, ERR_IO, NULL, "the forwarder has ended");
    return a->failed ? err_set(e, ERR_IO, NULL, "a forwarded call failed") : 0;
}

static int say(int fd, enum op op, unsigned n, struct err *e)
{
    const struct request r = { op, n };
    return send_all(fd, &r, sizeof r) ? 0 : err_set(e, ERR_IO, NULL, "the forwarder has ended");
}

int remote_batch(int fd, unsigned n, double *seconds, struct err *e)
{
    struct answer a;
    const double t0 = monotonic_s();
    int rc = 0;
    for (unsigned i = 0; !rc && i < n; i++) rc = say(fd, OP_LAUNCH, 1, e);
    if (!rc) rc = say(fd, OP_SYNC, 0, e);
    if (!rc) rc = hear(fd, &a, e);
    *seconds = monotonic_s() - t0;
    return rc;
}

int remote_native(int fd, unsigned n, double *seconds, struct err *e)
{
    struct answer a = { 0 };
    int rc = say(fd, OP_NATIVE, n, e);
    if (!rc) rc = hear(fd, &a, e);
    *seconds = a.seconds;
    return rc;
}

int remote_upload(int fd, unsigned MiB, double *seconds, struct err *e)
{
    struct answer a;
    char *data = xmalloc(MIB);
    memset(data, 0x5a, MIB);
    const double t0 = monotonic_s();
    int rc = say(fd, OP_UPLOAD, MiB, e);
    for (unsigned i = 0; !rc && i < MiB; i++)
        if (!send_all(fd, data, MIB)) rc = err_set(e, ERR_IO, NULL, "the forwarder has ended");
    if (!rc) rc = hear(fd, &a, e);
    *seconds = monotonic_s() - t0;
    free(data);
    return rc;
}
