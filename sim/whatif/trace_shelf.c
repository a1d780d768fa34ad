#include "whatif/trace_shelf.h"

#include "base/mem.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct trace_shelf {
    pthread_mutex_t lock;
    size_t left;
    VEC(struct shelved {
        char *path;
        struct trace_rows *rows;
    })
    trace;
};

struct trace_shelf *trace_shelf_create(size_t max_bytes)
{
    struct trace_shelf *s = xcalloc(1, sizeof *s);
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
    }
    vec_fini(&s->trace);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const struct trace_rows *trace_shelf_get(struct trace_shelf *s, const char *path)
{
    struct trace_rows *rows = NULL;
    size_t i = 0;
    pthread_mutex_lock(&s->lock); /* held while parsing: all want the same trace */
    while (i < s->trace.n && strcmp(s->trace.v[i].path, path) != 0) i++;
    if (i < s->trace.n) {
        rows = s->trace.v[i].rows;
    } else {
        rows = trace_rows_load(path, s->left);
        if (rows) s->left -= trace_rows_bytes(rows);
        const struct shelved one = { xstrdup(path), rows };
        vec_push(&s->trace, one);
    }
    pthread_mutex_unlock(&s->lock);
    return rows;
}
