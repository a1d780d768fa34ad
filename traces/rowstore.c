#include "traces/rowstore.h"

#include "base/extsort.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/runheap.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What every packed row starts with. A job goes on with its optional values, those that `has`
 * names, and its id; a request with itself. */
struct head {
    simtime when;
    uint32_t len, id_len; /* of all of the row, and of the id at its end */
    simtime duration;
    int32_t gpus_milli;
    uint32_t has;
};

/* Of struct job_row; absent where they are as job_row_init() leaves them. */
/* clang-format off */
#define OPTIONAL_MAP(X)                                                                            \
    X(gpu_mem_bytes) X(gpu_model) X(gpu_allowed) X(cpus_milli) X(mem_bytes) X(user) X(group)       \
    X(profile) X(klass) X(status) X(priority) X(walltime) X(deadline) X(min_gpus_milli)            \
    X(max_gpus_milli) X(slots)
/* clang-format on */
enum optional {
#define X(name) HAS_##name,
    OPTIONAL_MAP(X)
#undef X
};

enum { MAX_PACKED = sizeof(struct head) + sizeof(struct job_row) + sizeof(struct request_row) };
enum { LEAST_BYTES = 4096, MOST_BYTES = 256 << 10 }; /* read of a run at once */

struct run {
    uint64_t at, end; /* in the file: what is not in the buffer yet */
    unsigned char *buf;
    size_t next, held; /* bytes of it given and there; lent from the store */
};

struct rowstore {
    unsigned char *v; /* a run; later all runs' buffers */
    size_t len, cap, room;
    simtime last; /* of the row added last */
    bool run_sorted, sorted;
    enum import_kind kind;
    struct job_row absent;
    uint64_t count, size; /* rows; bytes in the file */
    FILE *file;
    struct err failure; /* of a write, told by rowstore_sort() */
    VEC(struct run) runs;
    VEC(size_t) heap; /* runs by their next row; [0] is the least */
    size_t per_run;
    unsigned char *longer; /* a row that no buffer holds */
    bool lent;             /* a row of the run at heap[0] */
};

struct rowstore *rowstore_create(size_t bytes)
{
    struct rowstore *s = xcalloc(1, sizeof *s);
    s->room = bytes;
    s->run_sorted = s->sorted = true;
    s->last = INT64_MIN;
    job_row_init(&s->absent);
    return s;
}

void rowstore_destroy(struct rowstore *s)
{
    if (!s) return;
    if (s->file) fclose(s->file);
    free(s->v);
    free(s->longer);
    vec_fini(&s->runs);
    vec_fini(&s->heap);
    free(s);
}

/* ---- packing ---------------------------------------------------------------------------------- */

/* All but the id; returns the length. */
static size_t pack(const struct rowstore *s, unsigned char *to, const struct import_row *row)
{
    const struct job_row *j = &row->job;
    struct head h = { 0 };
    unsigned char *p = to + sizeof h;
    if (row->kind == IMPORT_REQUESTS) {
        h.when = row->request.arrival;
        memcpy(p, &row->request, sizeof row->request);
        p += sizeof row->request;
    } else {
        h.when = j->submit;
        h.duration = j->duration;
        h.gpus_milli = j->gpus_milli;
        h.id_len = (uint32_t)j->id_len; /* a row has at most 16 MiB */
#define X(name)                                                                                    \
    if (j->name != s->absent.name) {                                                               \
        h.has |= 1u << HAS_##name;                                                                 \
        memcpy(p, &j->name, sizeof j->name);                                                       \
        p += sizeof j->name;                                                                       \
    }
        OPTIONAL_MAP(X)
#undef X
    }
    h.len = (uint32_t)(p - to) + h.id_len;
    memcpy(to, &h, sizeof h);
    return (size_t)(p - to);
}

static void unpack(const struct rowstore *s, const unsigned char *from, struct import_row *row)
{
    struct job_row *j = &row->job;
    struct head h;
    memcpy(&h, from, sizeof h);
    from += sizeof h;
    row->kind = s->kind;
    if (s->kind == IMPORT_REQUESTS) {
        memcpy(&row->request, from, sizeof row->request);
        return;
    }
    *j = s->absent;
    j->submit = h.when;
    j->duration = h.duration;
    j->gpus_milli = h.gpus_milli;
#define X(name)                                                                                    \
    if (h.has & 1u << HAS_##name) {                                                                \
        memcpy(&j->name, from, sizeof j->name);                                                    \
        from += sizeof j->name;                                                                    \
    }
    OPTIONAL_MAP(X)
#undef X
    j->id = (const char *)from;
    j->id_len = h.id_len;
}

static simtime when_of(const unsigned char *row)
{
    simtime t;
    memcpy(&t, row + offsetof(struct head, when), sizeof t);
    return t;
}

static uint32_t len_of(const unsigned char *row)
{
    uint32_t n;
    memcpy(&n, row + offsetof(struct head, len), sizeof n);
    return n;
}

/* ---- runs ------------------------------------------------------------------------------------- */

static int io_error(struct err *e, int why)
{
    return err_set(e, err_of_errno(why), NULL, "a temporary file for rows: %s", strerror(why));
}

/* The run's rows by (when, place in it). */
static void sort_run(struct rowstore *s)
{
    if (s->run_sorted) return;
    struct extsort *order = extsort_create(2, 2 * s->len + 64); /* never a file: 16 bytes a row */
    unsigned char *to = xmalloc(s->len), *p = to;
    int64_t place[2];
    for (size_t at = 0; at < s->len; at += len_of(s->v + at))
        extsort_add(order, (int64_t[]){ when_of(s->v + at), (int64_t)at });
    if (extsort_sort(order, NULL) < 0) BUG("sorting in memory failed");
    while (extsort_next(order, place, NULL) > 0) {
        const unsigned char *row = s->v + place[1];
        const uint32_t n = len_of(row);
        memcpy(p, row, n);
        p += n;
    }
    extsort_destroy(order);
    free(s->v);
    s->v = to;
    s->cap = s->len;
}

static void put_run(struct rowstore *s)
{
    sort_run(s);
    if (!s->file && !s->failure.code) s->file = outfile_temporary(&s->failure);
    if (!s->failure.code && fwrite(s->v, 1, s->len, s->file) != s->len)
        io_error(&s->failure, errno);
    vec_push(&s->runs, ((struct run){ .at = s->size, .end = s->size + s->len }));
    s->size += s->len;
    s->len = 0;
    s->run_sorted = true;
}

void rowstore_add(struct rowstore *s, const struct import_row *row)
{
    unsigned char packed[MAX_PACKED];
    const size_t fixed = pack(s, packed, row), id = len_of(packed) - fixed;
    const simtime when = when_of(packed);
    if (s->count == 0) s->kind = row->kind;
    BUG_ON(row->kind != s->kind);
    if (s->len > 0 && s->len + fixed + id > s->room) put_run(s);
    if (s->len + fixed + id > s->cap) {
        s->cap = 2 * s->cap + fixed + id;
        if (s->cap > s->room)
            s->cap = s->room > s->len + fixed + id ? s->room : s->len + fixed + id;
        s->v = xreallocarray(s->v, s->cap, 1);
    }
    memcpy(s->v + s->len, packed, fixed);
    if (id > 0) memcpy(s->v + s->len + fixed, row->job.id, id);
    if (when < s->last) s->sorted = false;
    if (when < s->last && s->len > 0) s->run_sorted = false;
    s->last = when;
    s->len += fixed + id;
    s->count++;
}

/* ---- merge ------------------------------------------------------------------------------------ */

static int read_at(const struct rowstore *s, unsigned char *to, size_t n, uint64_t at,
                   struct err *e)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fileno(s->file), to + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return io_error(e, got < 0 ? errno : EIO);
        done += (size_t)got;
    }
    return 0;
}

/* 1: at least the head of the run's next row is in the buffer, and all of the row unless it is
 * longer than the buffer; 0: the run is used up. */
static int fill(struct rowstore *s, struct run *r, struct err *e)
{
    const size_t left = r->held - r->next;
    if (left >= sizeof(struct head) && len_of(r->buf + r->next) <= left) return 1;
    if (left == 0 && r->at == r->end) return 0;
    memmove(r->buf, r->buf + r->next, left);
    const size_t room = s->per_run - left;
    const size_t n = r->end - r->at < room ? (size_t)(r->end - r->at) : room;
    r->next = 0;
    r->held = left;
    int rc = read_at(s, r->buf + left, n, r->at, e);
    if (rc < 0) return rc;
    r->at += n;
    r->held += n;
    return 1;
}

/* The run's next row, which is passed over; NULL: ERR_IO. */
static const unsigned char *take(struct rowstore *s, struct run *r, struct err *e)
{
    const unsigned char *row = r->buf + r->next;
    const size_t len = len_of(row), left = r->held - r->next;
    if (len <= left) {
        r->next += len;
        return row;
    }
    s->longer = xreallocarray(s->longer, len, 1);
    memcpy(s->longer, row, left);
    if (read_at(s, s->longer + left, len - left, r->at, e) < 0) return NULL;
    r->at += len - left;
    r->next = r->held;
    return s->longer;
}

static bool before(const void *store, size_t a, size_t b)
{
    const struct rowstore *s = store;
    const struct run *x = &s->runs.v[a], *y = &s->runs.v[b];
    const simtime t = when_of(x->buf + x->next), u = when_of(y->buf + y->next);
    return t != u ? t < u : a < b; /* the earlier run came first */
}

static void sift_down(struct rowstore *s, size_t i)
{
    runheap_sift(s->heap.v, s->heap.n, i, before, s);
}

/* Everything is in memory: a run of its own, whose buffer is all of it. */
static int sort_in_memory(struct rowstore *s)
{
    sort_run(s);
    vec_push(&s->runs, ((struct run){ .buf = s->v, .held = s->len }));
    if (s->len > 0) vec_push(&s->heap, 0);
    return 0;
}

int rowstore_sort(struct rowstore *s, struct err *e)
{
    if (s->runs.n == 0) return sort_in_memory(s);
    put_run(s);
    if (!s->failure.code && fflush(s->file) != 0) io_error(&s->failure, errno);
    if (s->failure.code) {
        if (e && e->code == ERR_OK) *e = s->failure;
        return s->failure.code;
    }
    if (s->sorted) {
        s->runs.n = 1;
        s->runs.v[0].end = s->size;
    }
    s->per_run = s->room / s->runs.n;
    if (s->per_run > MOST_BYTES) s->per_run = MOST_BYTES;
    if (s->per_run < LEAST_BYTES) s->per_run = LEAST_BYTES;
    free(s->v);
    s->v = xmalloc(s->runs.n * s->per_run);
    for (size_t i = 0; i < s->runs.n; i++) {
        s->runs.v[i].buf = s->v + i * s->per_run;
        int rc = fill(s, &s->runs.v[i], e);
        if (rc < 0) return rc;
        if (rc > 0) vec_push(&s->heap, i);
    }
    for (size_t i = s->heap.n / 2; i-- > 0;) sift_down(s, i);
    return 0;
}

/* The run of the row given last goes on to its next one. Only now: the row was lent until here. */
static int advance(struct rowstore *s, struct err *e)
{
    int rc = fill(s, &s->runs.v[s->heap.v[0]], e);
    if (rc < 0) return rc;
    if (rc == 0) s->heap.v[0] = s->heap.v[--s->heap.n];
    if (s->heap.n > 1) sift_down(s, 0);
    s->lent = false;
    return 0;
}

int rowstore_next(struct rowstore *s, struct import_row *row, struct err *e)
{
    if (s->lent && s->heap.n > 0) {
        int rc = advance(s, e);
        if (rc < 0) return rc;
    }
    if (s->heap.n == 0) return 0;
    const unsigned char *packed = take(s, &s->runs.v[s->heap.v[0]], e);
    if (!packed) return ERR_IO;
    unpack(s, packed, row);
    s->lent = true;
    return 1;
}
