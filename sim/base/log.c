#include "base/log.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The one setting of the process that is not passed around: how talkative it is. It never
 * influences a result. */
static _Atomic int log_level = LOG_NORMAL;

static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int64_t begun_ns, shown_ns; /* 0: no progress line is open */
    double last;
} progress;

void log_set_level(enum log_level level)
{
    atomic_store(&log_level, (int)level);
}

/* The whole message in one write, so that threads do not mix their lines. */
static void put(const char *fmt, va_list ap)
{
    struct strbuf b = { 0 };

    log_progress_done();
    strbuf_addz(&b, "gpusim: ");
    strbuf_vaddf(&b, fmt, ap);
    strbuf_addc(&b, '\n');
    fwrite(b.s, 1, b.len, stderr); /* stdio locks the stream; unbuffered: one write */
    strbuf_fini(&b);
}

#define PUT_FROM(level_)                                                                           \
    va_list ap;                                                                                    \
    if (atomic_load(&log_level) < (level_)) return;                                                \
    va_start(ap, fmt);                                                                             \
    put(fmt, ap);                                                                                  \
    va_end(ap)

void log_warn(const char *fmt, ...)
{
    PUT_FROM(LOG_QUIET);
}

void log_info(const char *fmt, ...)
{
    PUT_FROM(LOG_NORMAL);
}

void log_verbose(const char *fmt, ...)
{
    PUT_FROM(LOG_VERBOSE);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void show_progress(const char *what, double share, int64_t now)
{
    const double spent = (double)(now - progress.begun_ns) / 1e9;
    char eta[40] = "";

    if (isnan(share)) {
        fprintf(stderr, "\r\033[K%s", what);
        fflush(stderr);
        return;
    }
    if (share > 0.01 && spent > 1) {
        const double left = spent * (1 - share) / share;
        if (left < 120)
            snprintf(eta, sizeof eta, " ETA %.0f s", left);
        else
            snprintf(eta, sizeof eta, " ETA %.0f min", left / 60);
    }
    fprintf(stderr, "\r\033[K%s %.0f %%%s", what, 100 * share, eta);
    fflush(stderr);
}

void log_progress(const char *what, double share)
{
    enum { EVERY_NS = 200000000 };

    if (atomic_load(&log_level) < LOG_NORMAL || !isatty(STDERR_FILENO)) return;
    if (!isnan(share)) share = fmin(fmax(share, 0), 1);
    pthread_mutex_lock(&progress_lock);
    const int64_t now = now_ns();
    if (!progress.begun_ns || share < progress.last) { /* a new piece of work: its own ETA */
        progress.begun_ns = now;
        if (!progress.shown_ns) progress.shown_ns = now - EVERY_NS;
    }
    progress.last = share;
    if (now - progress.shown_ns >= EVERY_NS) {
        progress.shown_ns = now;
        show_progress(what, share, now);
    }
    pthread_mutex_unlock(&progress_lock);
}

void log_progress_done(void)
{
    pthread_mutex_lock(&progress_lock);
    if (progress.begun_ns) fputs("\r\033[K", stderr);
    progress.begun_ns = progress.shown_ns = 0;
    progress.last = 0;
    pthread_mutex_unlock(&progress_lock);
}
