#include "base/extsort.h"

#include "base/mem.h"
#include "base/outfile.h"
#include "base/runheap.h"
#include "base/vec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_BYTES = 4096 }; /* read of a run at once */

struct run {
    uint64_t at, end;  /* records in the file that are not in the buffer yet */
    int64_t *buf;      /* lies in the sorter's */
    size_t next, held; /* records in it */
};

struct extsort {
    size_t words, room; /* room: records of a run */
    int64_t *v;         /* a run; later all runs' buffers */
    size_t n, cap;      /* records in it, and that fit */
    uint64_t count;
    FILE *file;
    struct err failure; /* of a write, told by extsort_sort() */
    VEC(struct run) runs;
    VEC(size_t) heap; /* runs by their next record; [0] is the least */
    size_t per_run;   /* records of a run's buffer */
    size_t given;     /* of the only run, when there is no file */
};

struct extsort *extsort_create(int words, size_t bytes)
{
    struct extsort *s = xcalloc(1, sizeof *s);
    BUG_ON(words < 1 || words > EXTSORT_WORDS);
    s->words = (size_t)words;
    s->room = bytes / (s->words * sizeof *s->v);
    if (s->room < 2) s->room = 2;
    return s;
}

void extsort_destroy(struct extsort *s)
{
    if (!s) return;
    if (s->file) fclose(s->file);
    free(s->v);
    vec_fini(&s->runs);
    vec_fini(&s->heap);
    free(s);
}

uint64_t extsort_count(const struct extsort *s)
{
    return s->count;
}

/* ---- runs ------------------------------------------------------------------------------------- */

static int compare(const int64_t *a, const int64_t *b, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* One pass of a radix sort from the least digit (Knuth, TAOCP vol. 3, 5.2.5): stable. */
static void sort_by_digit(const struct extsort *s, const int64_t *from, int64_t *to, size_t word,
                          uint64_t least, int shift)
{
    size_t start[DIGITS] = { 0 }, sum = 0;
    const size_t w = s->words;
    for (size_t i = 0; i < s->n; i++)
        start[((uint64_t)from[i * w + word] - least) >> shift & (DIGITS - 1)]++;
    for (size_t d = 0; d < DIGITS; d++) {
        const size_t n = start[d];
        start[d] = sum;
        sum += n;
    }
    for (size_t i = 0; i < s->n; i++) {
        const int64_t *r = from + i * w;
        int64_t *at = to + w * start[((uint64_t)r[word] - least) >> shift & (DIGITS - 1)]++;
        for (size_t k = 0; k < w; k++) at[k] = r[k];
    }
}

/* Digits count from the least value of their word, so that only those that differ are looked at. */
static void sort_run(struct extsort *s)
{
    const size_t w = s->words;
    BUG_ON(w == 0);
    size_t i = 1; /* traces are often sorted as they come */
    while (i < s->n && compare(s->v + (i - 1) * w, s->v + i * w, w) <= 0) i++;
    if (i >= s->n) return;
    int64_t *to = xreallocarray(NULL, s->cap, w * sizeof *to);
    for (size_t word = w; word-- > 0;) {
        int64_t least = s->v[word], most = least;
        for (i = 1; i < s->n; i++) {
            const int64_t x = s->v[i * w + word];
            if (x < least) least = x;
            if (x > most) most = x;
        }
        const uint64_t span = (uint64_t)most - (uint64_t)least;
        for (int shift = 0; shift < 64 && span >> shift; shift += DIGIT_BITS) {
            sort_by_digit(s, s->v, to, word, (uint64_t)least, shift);
            int64_t *swap = s->v;
            s->v = to;
            to = swap;
        }
    }
    free(to);
}

static int io_error(struct err *e, int why)
{
    return err_set(e, err_of_errno(why), NULL, "a temporary file for sorting: %s", strerror(why));
}

static void put_run(struct extsort *s)
{
    sort_run(s);
    if (!s->file && !s->failure.code) s->file = outfile_temporary(&s->failure);
    if (!s->failure.code && fwrite(s->v, s->words * sizeof *s->v, s->n, s->file) != s->n)
        io_error(&s->failure, errno);
    vec_push(&s->runs, ((struct run){ .at = s->count - s->n, .end = s->count }));
    s->n = 0;
}

void extsort_add(struct extsort *s, const int64_t *record)
{
    if (s->n == s->room) put_run(s);
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        if (s->cap > s->room) s->cap = s->room;
        s->v = xreallocarray(s->v, s->cap, s->words * sizeof *s->v);
    }
    int64_t *to = s->v + s->n * s->words;
    for (size_t i = 0; i < s->words; i++) to[i] = record[i];
    s->n++;
    s->count++;
}

/* ---- merge ------------------------------------------------------------------------------------ */

static int64_t *first_of(const struct extsort *s, size_t run)
{
    return s->runs.v[run].buf + s->runs.v[run].next * s->words;
}

/* 1: the run has a next record; 0: it is used up. */
static int fill(struct extsort *s, struct run *r, struct err *e)
{
    const size_t size = s->words * sizeof *s->v;
    if (r->next < r->held) return 1;
    r->next = 0;
    r->held = r->end - r->at < s->per_run ? (size_t)(r->end - r->at) : s->per_run;
    char *to = (char *)r->buf;
    for (size_t done = 0; done < r->held * size;) {
        ssize_t n =
            pread(fileno(s->file), to + done, r->held * size - done, (off_t)(r->at * size + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return io_error(e, n < 0 ? errno : EIO);
        done += (size_t)n;
    }
    r->at += r->held;
    return r->held > 0;
}

static bool before(const void *sorter, size_t a, size_t b)
{
    const struct extsort *s = sorter;
    return compare(first_of(s, a), first_of(s, b), s->words) < 0;
}

static void sift_down(struct extsort *s, size_t i)
{
    runheap_sift(s->heap.v, s->heap.n, i, before, s);
}

int extsort_sort(struct extsort *s, struct err *e)
{
    const size_t size = s->words * sizeof *s->v;
    if (s->runs.n == 0) {
        sort_run(s);
        return 0;
    }
    put_run(s);
    if (!s->failure.code && fflush(s->file) != 0) io_error(&s->failure, errno);
    if (s->failure.code) {
        if (e && e->code == ERR_OK) *e = s->failure;
        return s->failure.code;
    }
    s->per_run = s->room / s->runs.n;
    if (s->per_run < LEAST_BYTES / size) s->per_run = LEAST_BYTES / size;
    free(s->v);
    s->v = xmalloc(s->runs.n * s->per_run * size);
    for (size_t i = 0; i < s->runs.n; i++) {
        s->runs.v[i].buf = s->v + i * s->per_run * s->words;
        int rc = fill(s, &s->runs.v[i], e);
        if (rc < 0) return rc;
        if (rc > 0) vec_push(&s->heap, i);
    }
    for (size_t i = s->heap.n / 2; i-- > 0;) sift_down(s, i);
    return 0;
}

int extsort_next(struct extsort *s, int64_t *record, struct err *e)
{
    const size_t size = s->words * sizeof *s->v;
    if (s->runs.n == 0) {
        if (s->given == s->n) return 0;
        memcpy(record, s->v + s->given++ * s->words, size);
        return 1;
    }
    if (s->heap.n == 0) return 0;
    struct run *r = &s->runs.v[s->heap.v[0]];
    memcpy(record, first_of(s, s->heap.v[0]), size);
    r->next++;
    int rc = fill(s, r, e);
    if (rc < 0) return rc;
    if (rc == 0) s->heap.v[0] = s->heap.v[--s->heap.n];
    sift_down(s, 0);
    return 1;
}
