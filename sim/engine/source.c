#include "engine/source.h"

#include "base/mem.h"
#include "base/rng.h"
#include "model/synth.h"
#include "model/trace.h"
#include "model/trace_rows.h"

#include <math.h>
#include <stdlib.h>

struct feed {
    const struct work_item *item;
    struct trace_reader *trace;
    struct trace_cursor *rows; /* instead of `trace` */
    struct synth *synth;
    struct job_row next;
    bool done;
};

struct source {
    struct feed *feed;
    size_t n;
    size_t last; /* the feed of the row last returned */
    bool started;
};

static int row_error(const struct feed *f, const char *column, struct err *e, const char *why)
{
    if (f->rows) return trace_cursor_error(f->rows, column, e, why);
    if (f->trace) return trace_row_error(f->trace, column, e, "%s", why);
    const struct loc at = { .file = f->item->spec };
    return err_set(e, ERR_INPUT, &at, "%s (job %.*s)", why, (int)f->next.id_len, f->next.id);
}

/* The next row of one item into feed->next. */
static int advance(struct feed *f, struct err *e)
{
    const int rc = f->rows    ? trace_cursor_next(f->rows, &f->next)
                   : f->trace ? trace_next(f->trace, &f->next, e)
                              : synth_next(f->synth, &f->next, e);
    f->done = rc == 0;
    if (rc < 0) return rc;
    if (rc == 0 || f->item->load == 1.0) return 0;
    const double submit = (double)f->next.submit / f->item->load;
    if (submit > SIM_MAX_S * 1e9)
        return row_error(f, "submit_s", e, "submit_s / load is beyond 9.2e9 s");
    const simtime at = (simtime)llround(submit);
    if (f->next.deadline != JOB_NO_TIME)
        f->next.deadline += at - f->next.submit; /* keeps its distance */
    f->next.submit = at;
    return 0;
}

int source_open(struct source **out, const struct scenario *s, uint64_t replication,
                struct symtab *names, struct err *e)
{
    struct source *src = xcalloc(1, sizeof *src);
    int rc = 0;
    src->feed = xcalloc(s->n_work, sizeof *src->feed);
    src->n = s->n_work;
    for (size_t i = 0; i < s->n_work && rc == 0; i++) {
        struct feed *f = &src->feed[i];
        f->item = &s->work[i];
        f->done = f->item->kind == WORK_SERVICE; /* requests are no jobs: engine/service.h */
        if (f->done) continue;
        if (s->rows && s->rows[i])
            f->rows = trace_cursor_open(s->rows[i], names);
        else
            rc = f->item->kind == WORK_JOBS
                     ? trace_open(&f->trace, f->item->trace, names, e)
                     : synth_open(&f->synth, f->item->spec,
                                  rng_mix((uint64_t)s->seed, 0, f->item->name), replication, names,
                                  s->lender, e);
        if (rc == 0) rc = advance(f, e);
    }
    if (rc != 0) {
        source_close(src);
        return rc;
    }
    *out = src;
    return 0;
}

void source_close(struct source *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n; i++) {
        trace_close(s->feed[i].trace);
        trace_cursor_close(s->feed[i].rows);
        synth_close(s->feed[i].synth);
    }
    free(s->feed);
    free(s);
}

int source_next(struct source *s, struct job_row *row, struct err *e)
{
    if (s->started) { /* the row lent last time may now be overwritten */
        const int rc = advance(&s->feed[s->last], e);
        if (rc < 0) return rc;
    }
    s->started = true;
    size_t first = s->n;
    for (size_t i = 0; i < s->n; i++)
        if (!s->feed[i].done &&
            (first == s->n || s->feed[i].next.submit < s->feed[first].next.submit))
            first = i;
    s->last = first;
    if (first == s->n) {
        s->started = false;
        return 0;
    }
    *row = s->feed[first].next;
    return 1;
}

int source_row_error(const struct source *s, const char *column, struct err *e, const char *why)
{
    return row_error(&s->feed[s->last], column, e, why);
}
