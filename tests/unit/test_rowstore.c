/* traces/rowstore: rows come back complete and in the order of a stable sort, with and without a
 * file, with ids longer than any buffer; its file cannot be made. */
#include "base/mem.h"
#include "support/support.h"
#include "traces/rowstore.h"

#include <stdlib.h>
#include <string.h>

enum { ID_MAX = 6000 };

struct want {
    simtime when;
    size_t seq;
};

static int by_when(const void *pa, const void *pb)
{
    const struct want *a = pa, *b = pb;
    if (a->when != b->when) return a->when < b->when ? -1 : 1;
    return (a->seq > b->seq) - (a->seq < b->seq);
}

/* The seq-th job at `when`; every bit of seq decides whether an optional value is there. */
static void make_job(struct import_row *row, char *id, simtime when, size_t seq)
{
    struct job_row *j = &row->job;
    memset(row, 0, sizeof *row);
    job_row_init(j);
    j->id_len = (size_t)snprintf(id, ID_MAX, "job-%zu", seq);
    if (seq % 37 == 5) { /* longer than what is read of a run at once */
        memset(id + j->id_len, 'x', 5000);
        j->id_len += 5000;
    }
    j->id = id;
    j->submit = when;
    j->duration = (simtime)seq * 7 + 1;
    j->gpus_milli = (int32_t)(seq % 9) * 1000;
    if (seq & 1) j->gpu_mem_bytes = UINT64_C(80) << 30 | seq;
    if (seq & 2) j->gpu_model = (sym)seq + 1;
    if (seq & 4) j->gpu_allowed = (sym)seq + 2;
    if (seq & 8) j->cpus_milli = (int32_t)seq;
    if (seq & 16) j->mem_bytes = 0; /* 0 is a value */
    if (seq & 32) j->user = 7;
    if (seq & 64) j->group = (sym)seq + 3;
    if (seq & 128) j->profile = 9;
    if (seq & 1) j->klass = CLASS_hpc;
    if (seq & 2) j->status = STATUS_failed;
    if (seq & 4) j->priority = -3;
    if (seq & 8) j->walltime = INT64_MAX;
    if (seq & 16) j->deadline = (simtime)seq;
    if (seq & 32) j->min_gpus_milli = 0, j->max_gpus_milli = 4000;
    if (seq & 64) j->slots = 2;
}

static void assert_same_job(const struct job_row *a, const struct job_row *b)
{
    struct job_row x = *a, y = *b;
    assert_int_equal(x.id_len, y.id_len);
    assert_memory_equal(x.id, y.id, x.id_len);
    x.id = y.id = NULL;
#define SAME(name) assert_true(x.name == y.name)
    SAME(submit), SAME(duration), SAME(gpus_milli), SAME(gpu_mem_bytes), SAME(gpu_model);
    SAME(gpu_allowed), SAME(cpus_milli), SAME(mem_bytes), SAME(user), SAME(group), SAME(profile);
    SAME(klass), SAME(status), SAME(priority), SAME(walltime), SAME(deadline);
    SAME(min_gpus_milli), SAME(max_gpus_milli), SAME(slots);
}

/* range 0: in order as they come */
static void sorts_jobs(size_t n, size_t bytes, int range)
{
    struct rowstore *s = rowstore_create(bytes);
    struct want *want = xcalloc(n + 1, sizeof *want);
    struct import_row row, got;
    struct err e = { 0 };
    char id[ID_MAX];
    for (size_t i = 0; i < n; i++) {
        want[i] = (struct want){ range ? rand() % range - range / 2 : (simtime)(i / 3), i };
        make_job(&row, id, want[i].when, i);
        rowstore_add(s, &row);
    }
    qsort(want, n, sizeof *want, by_when);
    assert_int_equal(rowstore_sort(s, &e), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rowstore_next(s, &got, &e), 1);
        assert_int_equal(got.kind, IMPORT_JOBS);
        make_job(&row, id, want[i].when, want[i].seq);
        assert_same_job(&got.job, &row.job);
    }
    assert_int_equal(rowstore_next(s, &got, &e), 0);
    assert_int_equal(rowstore_next(s, &got, &e), 0);
    rowstore_destroy(s);
    free(want);
}

static void jobs_come_back_in_order(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 40, 300, 3000 };
    (void)state;
    srand(7);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int range = 0; range <= 1000; range = range ? 10 * range : 1) {
            sorts_jobs(sizes[i], 64 << 20, range); /* in memory */
            sorts_jobs(sizes[i], 9000, range);     /* many runs */
            sorts_jobs(sizes[i], 0, range);        /* runs of one row */
        }
    rowstore_destroy(NULL);
}

static void requests_come_back_in_order(void **state)
{
    struct rowstore *s = rowstore_create(1000);
    struct import_row row = { .kind = IMPORT_REQUESTS }, got;
    struct err e = { 0 };
    (void)state;
    for (int i = 0; i < 1000; i++) {
        row.request =
            (struct request_row){ i * 37 % 100, i, 2 * i, REQUEST_NONE, 3, (sym)i, (sym)(i + 7) };
        rowstore_add(s, &row);
    }
    assert_int_equal(rowstore_sort(s, &e), 0);
    int64_t last = -1;
    for (int k = 0; k < 1000; k++) {
        assert_int_equal(rowstore_next(s, &got, &e), 1);
        const struct request_row *r = &got.request;
        const int64_t key = r->arrival * 1000 + r->input_tokens; /* file order at one instant */
        assert_true(key > last);
        last = key;
        assert_int_equal(r->arrival, r->input_tokens * 37 % 100);
        assert_int_equal(r->output_tokens, 2 * r->input_tokens);
        assert_int_equal(r->blocks, r->input_tokens + 7);
        assert_int_equal(r->session, r->input_tokens);
        assert_int_equal(r->service, 3);
    }
    assert_int_equal(rowstore_next(s, &got, &e), 0);
    rowstore_destroy(s);
}

static void says_that_there_is_no_room(void **state)
{
    struct import_row row;
    struct err e = { 0 };
    char id[ID_MAX];
    char *old = getenv("TMPDIR") ? xstrdup(getenv("TMPDIR")) : NULL;
    (void)state;
    struct rowstore *s = rowstore_create(100);
    setenv("TMPDIR", "/nonexistent", 1);
    for (size_t i = 0; i < 10; i++) {
        make_job(&row, id, 1, i);
        rowstore_add(s, &row);
    }
    assert_int_equal(rowstore_sort(s, &e), ERR_IO);
    assert_int_equal(e.code, ERR_IO);
    rowstore_destroy(s);
    if (old)
        setenv("TMPDIR", old, 1);
    else
        unsetenv("TMPDIR");
    free(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_come_back_in_order),
        cmocka_unit_test(requests_come_back_in_order),
        cmocka_unit_test(says_that_there_is_no_room),
    };
    return cmocka_run_group_tests_name("rowstore", tests, NULL, NULL);
}
