#include "whatif/trace_shelf.h"

#include "base/mem.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct trace_shelf {
    pthread_mutex_t lock;
    struct trace_lender lender;
    size_t left;
    VEC(struct shelved {
        char *path;
        bool requests;
        struct trace_rows *rows; /* one of the two; NULL: not kept */
        struct request_rows *request_rows;
    })
    trace;
};

static const struct trace_rows *lend(void *ctx, const char *path)
{
    return trace_shelf_get(ctx, path);
}

struct trace_shelf *trace_shelf_create(size_t max_bytes)
{
    struct trace_shelf *s = xcalloc(1, sizeof *s);
    s->lender = (struct trace_lender){ lend, s };
    pthread_mutex_init(&s->lock, NULL);
    s->left = max_bytes ? max_bytes : TRACE_SHELF_BYTES;
    return s;
}

void trace_shelf_destroy(struct trace_shelf *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->trace.n; i++) {
        free(s->trace.v[i].path);
        trace_rows_free(s->trace.v[i].rows);
        request_rows_free(s->trace.v[i].request_rows);
    }
    vec_fini(&s->trace);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* The place of a trace of that kind; a new one at the end. */
static struct shelved *find(struct trace_shelf *s, const char *path, bool requests)
{
    for (size_t i = 0; i < s->trace.n; i++)
        if (s->trace.v[i].requests == requests && strcmp(s->trace.v[i].path, path) == 0)
            return &s->trace.v[i];
    const struct shelved one = { .path = xstrdup(path), .requests = requests };
    vec_push(&s->trace, one);
    struct shelved *x = &s->trace.v[s->trace.n - 1];
    if (requests) {
        x->request_rows = request_rows_load(path, s->left);
        s->left -= x->request_rows ? request_rows_bytes(x->request_rows) : 0;
    } else {
        x->rows = trace_rows_load(path, s->left);
        s->left -= x->rows ? trace_rows_bytes(x->rows) : 0;
    }
    return x;
}

const struct trace_lender *trace_shelf_lender(struct trace_shelf *s)
{
    return &s->lender;
}

const struct trace_rows *trace_shelf_get(struct trace_shelf *s, const char *path)
{
    pthread_mutex_lock(&s->lock); /* held while parsing: all want the same trace */
    const struct trace_rows *rows = find(s, path, false)->rows;
    pthread_mutex_unlock(&s->lock);
    return rows;
}

const struct request_rows *trace_shelf_requests(struct trace_shelf *s, const char *path)
{
    pthread_mutex_lock(&s->lock);
    const struct request_rows *rows = find(s, path, true)->request_rows;
    pthread_mutex_unlock(&s->lock);
    return rows;
}
