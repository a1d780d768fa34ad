/* Arrivals of kind "shuffle": every row once in another order, then rows drawn again until the
 * cards asked for are reached. */
#include "tests/support/support.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/synth_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char rows[] = "job_id,submit_s,duration_s,gpus\n"
                           "a,0,1,0.385\nb,0,2,1\nc,3,3,0\nd,4,4,2\ne,5,5,1\n"; /* 4.385 cards */

static struct synth_replay *open_rows(struct synth_replay_spec *spec, struct symtab *names,
                                      uint64_t seed)
{
    struct synth_replay *r;
    struct err e = { 0 };
    if (synth_replay_open(&r, spec, names, seed, 0, "t", NULL, &e) != 0)
        fail_msg("%s: %s", e.where, e.msg);
    return r;
}

/* Durations in the order of arrival, as digits; *milli the cards asked for. */
static char *arrivals(double gpus, uint64_t seed, simtime until, int64_t *milli)
{
    struct synth_replay_spec spec = { .kind = REPLAY_SHUFFLE,
                                      .trace = temp_file(".csv", rows),
                                      .gap = 2385 * (SIM_SECOND / 1000),
                                      .gpus = gpus };
    struct symtab *names = symtab_create();
    struct synth_replay *r = open_rows(&spec, names, seed);
    struct job_row row;
    struct err e = { 0 };
    char text[64] = "";
    int n = 0, rc;
    *milli = 0;
    while ((rc = synth_replay_next(r, until, &row, &e)) > 0) {
        assert_true(n < 60);
        assert_true(row.submit == n * spec.gap);
        text[n++] = (char)('0' + row.duration / SIM_SECOND);
        *milli += row.gpus_milli;
    }
    assert_int_equal(rc, 0);
    assert_int_equal(synth_replay_left_out(r), 0);
    synth_replay_close(r);
    symtab_destroy(names);
    return xstrdup(text);
}

static void each_row_once(void **state)
{
    (void)state;
    int different = 0;
    int64_t milli;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *t = arrivals(0, seed, SIM_NEVER - 1, &milli);
        assert_int_equal(strlen(t), 5);
        for (char c = '1'; c <= '5'; c++) assert_non_null(strchr(t, c));
        assert_int_equal(milli, 4385);
        different += strcmp(t, "12345") != 0;
        free(t);
    }
    assert_true(different >= 18); /* 1 in 120 is in order */
}

static void repeated_until_reached(void **state)
{
    (void)state;
    int64_t milli;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *t = arrivals(9.5, seed, SIM_NEVER - 1, &milli);
        for (char c = '1'; c <= '5'; c++) assert_non_null(memchr(t, c, 5));
        assert_true(strlen(t) > 5);
        assert_true(milli <= 9500 && milli > 9500 - 2000); /* the next would pass */
        free(t);
    }
    char *t = arrivals(2, 7, SIM_NEVER - 1, &milli); /* less than the rows ask for: each once */
    assert_int_equal(strlen(t), 5);
    free(t);
}

static void the_same_seed_the_same_order(void **state)
{
    (void)state;
    int64_t milli;
    char *a = arrivals(30, 5, SIM_NEVER - 1, &milli), *b = arrivals(30, 5, SIM_NEVER - 1, &milli),
         *c = arrivals(30, 6, SIM_NEVER - 1, &milli);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    free(a);
    free(b);
    free(c);
}

static void ends_at_the_horizon(void **state)
{
    (void)state;
    int64_t milli;
    char *t = arrivals(30, 5, 7 * SIM_SECOND, &milli); /* 0, 2.385, 4.77; 7.155 is too late */
    assert_int_equal(strlen(t), 3);
    free(t);
}

static void nothing_to_repeat(void **state)
{
    (void)state;
    const struct synth_replay_spec spec = {
        .kind = REPLAY_SHUFFLE,
        .gap = SIM_SECOND,
        .gpus = 9,
        .trace = temp_file(".csv", "job_id,submit_s,duration_s,gpus\na,0,1,0\n")
    };
    struct symtab *names = symtab_create();
    struct synth_replay *r;
    struct err e = { 0 };
    assert_int_equal(synth_replay_open(&r, &spec, names, 1, 0, "t", NULL, &e), ERR_INPUT);
    assert_contains(e.msg, "expected a job with GPUs to reach 9 GPUs");
    symtab_destroy(names);
}

static const struct trace_rows *lend(void *ctx, const char *path)
{
    (void)path;
    return ctx;
}

/* Rows parsed before are those of the file, name for name; the file is not opened again: it is
 * gone. */
static void from_memory(void **state)
{
    static const char recorded[] = "job_id,submit_s,duration_s,gpus,user,gpu_model\n"
                                   "a,0,1,1,ann,\nb,4,2,1,bo,t4\nc,19,3,0.5,ann,a30\n";
    (void)state;
    for (enum synth_replay_kind kind = REPLAY_ALL; kind <= REPLAY_SHUFFLE; kind++) {
        const struct synth_replay_spec spec = { .kind = kind,
                                                .trace = temp_file(".csv", recorded),
                                                .load = 1.5,
                                                .block = 10 * SIM_SECOND,
                                                .period = 1,
                                                .gap = SIM_SECOND,
                                                .gpus = 20 };
        struct trace_rows *parsed = trace_rows_load(spec.trace, SIZE_MAX);
        const struct trace_lender lender = { lend, parsed };
        struct symtab *names[] = { symtab_create(), symtab_create() };
        struct synth_replay *r[2];
        struct job_row row[2];
        struct err e = { 0 };
        int n = 0, rc;
        assert_int_equal(synth_replay_open(&r[0], &spec, names[0], 3, 1, "t", NULL, &e), 0);
        if (kind != REPLAY_ALL) assert_int_equal(remove(spec.trace), 0);
        assert_int_equal(synth_replay_open(&r[1], &spec, names[1], 3, 1, "t", &lender, &e), 0);
        assert_int_equal(synth_replay_columns(r[0]), synth_replay_columns(r[1]));
        assert_int_equal(synth_replay_left_out(r[0]), synth_replay_left_out(r[1]));
        while ((rc = synth_replay_next(r[0], 90 * SIM_SECOND, &row[0], &e)) > 0) {
            assert_int_equal(synth_replay_next(r[1], 90 * SIM_SECOND, &row[1], &e), 1);
            if (kind == REPLAY_ALL) assert_memory_equal(row[0].id, row[1].id, row[0].id_len);
            row[1].id = row[0].id;
            assert_memory_equal(&row[0], &row[1], sizeof *row);
            n++;
        }
        assert_int_equal(rc, 0);
        assert_true(n >= 3);
        assert_int_equal(synth_replay_next(r[1], 90 * SIM_SECOND, &row[1], &e), 0);
        assert_int_equal(symtab_count(names[0]), symtab_count(names[1]));
        for (sym s = 0; s < symtab_count(names[0]); s++)
            assert_string_equal(symtab_name(names[0], s), symtab_name(names[1], s));
        for (int i = 0; i < 2; i++) synth_replay_close(r[i]), symtab_destroy(names[i]);
        trace_rows_free(parsed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_once),
        cmocka_unit_test(repeated_until_reached),
        cmocka_unit_test(the_same_seed_the_same_order),
        cmocka_unit_test(ends_at_the_horizon),
        cmocka_unit_test(nothing_to_repeat),
        cmocka_unit_test(from_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
