#include "traces/pai_instances.h"

#include "base/extsort.h"
#include "base/hashes.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct record {
    struct pai_span span;
    int64_t rank;
};

struct task {
    uint64_t key;
    int64_t at; /* in the file of spans, counted in spans */
    uint32_t n;
    bool asked;
};

struct kept {
    struct record r;
    int64_t place; /* in the file of records */
};

struct pai_instances {
    FILE *records, *spans; /* as they came; those kept, by task */
    struct extsort *order; /* task, worker, place */
    int64_t n, written;
    uint64_t duplicates;
    VEC(struct task) tasks; /* by key */
    VEC(struct kept) kept;  /* of the task being sorted */
    VEC(struct pai_span) now;
};

struct pai_instances *pai_instances_create(struct err *e)
{
    struct pai_instances *s = xcalloc(1, sizeof *s);
    s->order = extsort_create(3, PAI_SORT_BYTES);
    s->records = outfile_temporary(e);
    s->spans = s->records ? outfile_temporary(e) : NULL;
    if (s->spans) return s;
    pai_instances_destroy(s);
    return NULL;
}

void pai_instances_destroy(struct pai_instances *s)
{
    if (!s) return;
    if (s->records) fclose(s->records);
    if (s->spans) fclose(s->spans);
    extsort_destroy(s->order);
    vec_fini(&s->tasks);
    vec_fini(&s->kept);
    vec_fini(&s->now);
    free(s);
}

void pai_instances_add(struct pai_instances *s, uint64_t task, uint64_t worker, enum pai_rank rank,
                       struct pai_span span)
{
    const struct record r = { span, rank };
    const int64_t place = s->n++;
    fwrite(&r, sizeof r, 1, s->records);
    if (!worker) worker = hash_mix((uint64_t)place + 1);
    extsort_add(s->order, (int64_t[]){ (int64_t)task, (int64_t)worker, place });
}

static int io_error(struct err *e)
{
    return err_set(e, err_of_errno(errno), NULL, "cannot use a temporary file: %s", strerror(errno));
}

/* Does b, which comes later, count and not a? */
static bool replaces(const struct record *b, const struct record *a)
{
    return b->rank != a->rank ? b->rank > a->rank : b->span.start >= a->span.start;
}

static int by_place(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

static int by_key(const void *a, const void *b)
{
    const struct task *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void close_task(struct pai_instances *s, uint64_t key)
{
    const struct task t = { .key = key, .at = s->written, .n = (uint32_t)s->kept.n };
    if (s->kept.n == 0) return;
    qsort(s->kept.v, s->kept.n, sizeof *s->kept.v, by_place);
    for (size_t i = 0; i < s->kept.n; i++)
        fwrite(&s->kept.v[i].r.span, sizeof(struct pai_span), 1, s->spans);
    s->written += (int64_t)s->kept.n;
    s->kept.n = 0;
    vec_push(&s->tasks, t);
}

int pai_instances_sort(struct pai_instances *s, struct err *e)
{
    int64_t at[3], last[3] = { 0 };
    struct kept k;
    if (fflush(s->records) || ferror(s->records)) return io_error(e);
    int rc = extsort_sort(s->order, e);
    while (rc == 0 && (rc = extsort_next(s->order, at, e)) > 0) {
        rc = 0;
        k.place = at[2];
        if (pread(fileno(s->records), &k.r, sizeof k.r, at[2] * (off_t)sizeof k.r) != sizeof k.r)
            return io_error(e);
        if (s->kept.n > 0 && at[0] != last[0]) close_task(s, (uint64_t)last[0]);
        if (s->kept.n > 0 && at[1] == last[1]) {
            struct kept *before = &s->kept.v[s->kept.n - 1];
            s->duplicates++;
            if (replaces(&k.r, &before->r)) *before = k;
        } else {
            vec_push(&s->kept, k);
        }
        memcpy(last, at, sizeof last);
    }
    if (rc < 0) return rc;
    close_task(s, (uint64_t)last[0]);
    if (s->tasks.n) qsort(s->tasks.v, s->tasks.n, sizeof *s->tasks.v, by_key); /* from signed */
    return fflush(s->spans) || ferror(s->spans) ? io_error(e) : 0;
}

int pai_instances_of(struct pai_instances *s, uint64_t task, const struct pai_span **spans,
                     size_t *n, struct err *e)
{
    const struct task want = { .key = task };
    struct task *t =
        s->tasks.n ? bsearch(&want, s->tasks.v, s->tasks.n, sizeof want, by_key) : NULL;
    *n = 0;
    *spans = NULL;
    if (!t) return 0;
    t->asked = true;
    vec_reserve(&s->now, t->n);
    const size_t bytes = t->n * sizeof(struct pai_span);
    if (pread(fileno(s->spans), s->now.v, bytes, t->at * (off_t)sizeof(struct pai_span)) !=
        (ssize_t)bytes)
        return io_error(e);
    *spans = s->now.v;
    *n = t->n;
    return 0;
}

uint64_t pai_instances_duplicates(const struct pai_instances *s)
{
    return s->duplicates;
}

uint64_t pai_instances_orphans(const struct pai_instances *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->tasks.n; i++) n += s->tasks.v[i].asked ? 0 : s->tasks.v[i].n;
    return n;
}
