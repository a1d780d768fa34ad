#include "base/thread.h"

#include "base/mem.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Linux's own default; glibc would take the limit of the first thread's stack, which may be
 * anything. */
enum { STACK_BYTES = 8 << 20 };

struct pool {
    pthread_mutex_t lock;
    size_t n, next;
    int (*task)(void *ctx, size_t i);
    void *ctx;
    int rc;
    size_t failed; /* index of the task that rc is from */
};

/* Takes indices in order until there are no more or one failed. A lower index than a failed one
 * has always been handed out before, so the lowest failure does not depend on timing. */
static void *work(void *arg)
{
    struct pool *p = arg;

    for (;;) {
        pthread_mutex_lock(&p->lock);
        const bool stop = p->rc != 0 || p->next >= p->n;
        const size_t i = stop ? 0 : p->next++;
        pthread_mutex_unlock(&p->lock);
        if (stop) return NULL;

        const int rc = p->task(p->ctx, i);
        if (rc == 0) continue;
        pthread_mutex_lock(&p->lock);
        if (p->rc == 0 || i < p->failed) {
            p->rc = rc;
            p->failed = i;
        }
        pthread_mutex_unlock(&p->lock);
    }
}

int parallel_for(size_t n, unsigned threads, int (*task)(void *ctx, size_t i), void *ctx)
{
    struct pool p = { .n = n, .task = task, .ctx = ctx };
    unsigned started = 0;

    if (threads > n) threads = (unsigned)n;
    if (threads <= 1) {
        int rc = 0;
        for (size_t i = 0; i < n && rc == 0; i++) rc = task(ctx, i);
        return rc;
    }
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_mutex_init(&p.lock, NULL);
    pthread_t *t = xcalloc(threads - 1, sizeof *t);
    /* fewer threads than asked for do the same work, only later */
    while (started < threads - 1 && pthread_create(&t[started], &attr, work, &p) == 0) started++;
    pthread_attr_destroy(&attr);
    work(&p);
    for (unsigned i = 0; i < started; i++) pthread_join(t[i], NULL);
    free(t);
    pthread_mutex_destroy(&p.lock);
    return p.rc;
}

unsigned thread_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    const long n = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than a cpu_set_t names */
    return n > 0 ? (unsigned)n : 1;
}
