/* traces/account beyond what its sorters hold in memory: the same exact facts, in bounded memory;
 * and the error when there is no room for their files. */
#include "support/support.h"
#include "traces/account.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 1200000, STEP = 7919, AGAIN = 1000 };

/* Jobs come shuffled: one is submitted at every second, one GPU each; AGAIN ids occur twice. */
static void add_jobs(struct account *a, bool equal_durations)
{
    struct import_row row;
    char id[24];
    memset(&row, 0, sizeof row);
    for (int i = 0; i < ROWS; i++) {
        const int64_t at = (int64_t)i * STEP % ROWS;
        job_row_init(&row.job);
        row.start = JOB_NO_TIME;
        row.asked = true;
        row.job.id = id;
        row.job.id_len = (size_t)snprintf(id, sizeof id, "%d", i % (ROWS - AGAIN));
        row.job.submit = at * SIM_SECOND;
        row.job.duration = (equal_durations ? 10 : ROWS - at) * SIM_SECOND;
        row.job.gpus_milli = 1000;
        account_add(a, &row, 0);
    }
}

static void exact_beyond_memory(void **state)
{
    struct account a;
    struct err e = { 0 };
    (void)state;
    account_init(&a);
    a.percentiles = true;
    add_jobs(&a, true);
    assert_int_equal(account_finish(&a, 0, "", &e), 0);
    const struct account_facts *f = &a.facts;
    assert_int_equal(f->peak_milli, 10 * 1000);
    assert_int_equal(f->peak_at, 9 * SIM_SECOND); /* at 10 s the first ends before one starts */
    assert_int_equal(f->first_submit, 0);
    assert_int_equal(f->last_submit, (ROWS - 1) * SIM_SECOND);
    assert_int_equal(f->last_end, (ROWS + 9) * SIM_SECOND);
    assert_int_equal(f->duplicate_ids, AGAIN);
    assert_int_equal(f->instants, ROWS);
    assert_int_equal(f->same_instant, 1);
    assert_int_equal(f->longest_gap, SIM_SECOND);
    assert_int_equal(f->gap.p50, SIM_SECOND);
    assert_int_equal(f->gap.max, SIM_SECOND);
    assert_true(f->gap_cv >= 0 && f->gap_cv <= 0);
    account_fini(&a);

    account_init(&a);
    a.percentiles = true;
    add_jobs(&a, false); /* 1 s to ROWS s, all end at ROWS s */
    assert_int_equal(account_finish(&a, 0, "", &e), 0);
    assert_int_equal(a.facts.duration.p50, ROWS / 2 * SIM_SECOND);
    assert_int_equal(a.facts.duration.p90, ROWS / 10 * 9 * SIM_SECOND);
    assert_int_equal(a.facts.duration.p99, ROWS / 100 * 99 * SIM_SECOND);
    assert_int_equal(a.facts.duration.max, ROWS * SIM_SECOND);
    assert_int_equal(a.facts.peak_milli, (int64_t)ROWS * 1000);
    assert_int_equal(a.facts.peak_at, (ROWS - 1) * SIM_SECOND);
    account_fini(&a);
}

/* Sizes 1 to ROWS, and tokens of which a third are too large to be counted one by one. */
static void requests_beyond_memory(void **state)
{
    struct account a;
    struct err e = { 0 };
    struct import_row row;
    (void)state;
    for (int sized = 0; sized < 2; sized++) {
        account_init(&a);
        memset(&row, 0, sizeof row);
        row.kind = IMPORT_REQUESTS;
        for (int i = 0; i < ROWS; i++) {
            const int64_t k = (int64_t)i * STEP % ROWS + 1;
            request_row_init(&row.request);
            row.request.arrival = i * SIM_SECOND;
            if (sized)
                row.request.size_nano = k;
            else
                row.request.input_tokens = row.request.output_tokens = k % 3 ? 5 : 100000 + k;
            account_add(&a, &row, 0);
        }
        assert_int_equal(account_finish(&a, 0, "", &e), 0);
        if (sized) {
            assert_int_equal(a.requests.size.p50, ROWS / 2);
            assert_int_equal(a.requests.size.p99, ROWS / 100 * 99);
            assert_int_equal(a.requests.size.max, ROWS);
        } else { /* the large ones are 3, 6, .. ROWS: ranks above two thirds */
            assert_int_equal(a.requests.input.p50, 5);
            assert_int_equal(a.requests.input.p90, 100000 + 3 * (ROWS / 10 * 9 - ROWS / 3 * 2));
            assert_int_equal(a.requests.output.max, 100000 + ROWS);
        }
        assert_int_equal(a.facts.gap.p50, SIM_SECOND);
        account_fini(&a);
    }
}

static void no_room_for_the_files(void **state)
{
    struct account a;
    struct err e = { 0 };
    char *old = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    (void)state;
    setenv("TMPDIR", "/nonexistent", 1);
    account_init(&a);
    add_jobs(&a, true);
    assert_int_equal(account_finish(&a, 0, "", &e), ERR_IO);
    assert_non_null(strstr(e.msg, "temporary file"));
    account_fini(&a);
    if (old)
        setenv("TMPDIR", old, 1);
    else
        unsetenv("TMPDIR");
    free(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_beyond_memory),
        cmocka_unit_test(requests_beyond_memory),
        cmocka_unit_test(no_room_for_the_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
