/* Iterations of an LLM engine against hand arithmetic. */
#include "base/rng.h"
#include "model/llm_step.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>

/* 1e9 parameters of 2 bytes on a card of 1 TB/s and 100 TFLOP/s at full efficiency:
 * w = 2 ms, f = 0.02 ms a token; 10 layers of 8 heads of 100: q = 4 x 8000 / 1e11 ms. */
static const struct llm_shape model = { 10, 800, 8, 2, 100, 1e9, 2, 0 };
static const struct llm_card card = { 1e12, 1e14, 1, 1 };
static const struct llm_constants ideal = { 1, 1, 1, 1, 0.5, 20, 1000, 2, 30, 5, 10 };

static void coefficients(void **state)
{
    (void)state;
    const struct llm_cost c = llm_cost_of(&model, &card, &ideal, 1);
    assert_close(c.w, 2, 1e-12);
    assert_close(c.f, 0.02, 1e-12);
    assert_close(llm_kv_bytes(&model), 8000, 1e-12); /* 2 x 10 layers x 2 heads x 100 x 2 bytes */
    assert_close(c.k * 1e6, 8, 1e-12);
    assert_close(c.k_mixed * 1e6, 16, 1e-12);
    assert_close(c.q * 1e9, 320, 1e-12);
    assert_close(c.c0, 0.7, 1e-12); /* host, 10 layers of 20 us */
    assert_close(c.c_b, 0.01, 1e-12);
    assert_close(c.c_n, 0, 1e-12);
}

static void cards_and_slices(void **state)
{
    (void)state;
    const struct llm_cost one = llm_cost_of(&model, &card, &ideal, 1),
                          two = llm_cost_of(&model, &card, &ideal, 2);
    assert_close(two.w, one.w / 2, 1e-12);
    assert_close(two.q * 1e9, one.q * 1e9 / 2, 1e-12);
    assert_close(two.c0, one.c0 + 20 * 5e-3, 1e-12);     /* two all-reduces a layer */
    assert_close(two.c_n * 1e3, 20 * 800 * 1e-5, 1e-12); /* 10 ns per 1,000 elements */
    struct llm_card slice = card;
    slice.bw_share = 0.5;
    slice.sm_share = 0.39;
    const struct llm_cost half = llm_cost_of(&model, &slice, &ideal, 1);
    assert_close(half.w, 4, 1e-12);
    assert_close(half.f, 0.02 / 0.39, 1e-12);
    assert_close(half.c0, one.c0, 0);
    assert_close(half.c_h, one.c_h, 0); /* a walk through few heads is no matter of bandwidth */
    assert_close(one.c_h * 1e3, 0.3, 1e-12);
}

static void steps(void **state)
{
    (void)state;
    const struct llm_cost c = llm_cost_of(&model, &card, &ideal, 1);
    /* 100 tokens make arithmetic as long as streaming: 2 x cbrt(2) */
    const struct llm_step decode = { 100, 100, 10000, 0, 0 };
    assert_close(llm_step_ms(&c, &decode), 2 * cbrt(2) + 0.08 + 0.7 + 1, 1e-9);
    /* a chunk of 1,000 tokens after 500: pairs 1000 x (500 + 500), 10 layers of 500 x 30 ns */
    const struct llm_step mixed = { 1100, 100, 10000, 1e6, 500 };
    const double nine_tiles = 9 * 128 * 0.02;
    assert_close(llm_step_ms(&c, &mixed),
                 cbrt(8 + pow(nine_tiles, 3)) + 0.16 + 0.32 + 0.15 + 0.7 + 1, 1e-9);
}

/* 128 tokens are one tile, 129 two, 257 three, and so are 384; a small step pays for its tokens. */
static void begun_tiles_are_paid(void **state)
{
    (void)state;
    const struct llm_cost c = { .w = 1, .f = 0.01 };
    static const double arithmetic[][2] = { { 1, 1 },     { 127.5, 127.5 }, { 128, 128 },
                                            { 129, 256 }, { 256, 256 },     { 257, 384 },
                                            { 384, 384 }, { 385, 512 },     { 2048, 2048 } };
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++) {
        const struct llm_step step = { .tokens = arithmetic[i][0] };
        assert_close(llm_step_ms(&c, &step), cbrt(1 + pow(arithmetic[i][1] * 0.01, 3)), 1e-12);
    }
    /* decoding alone too */
    assert_close(llm_decode_ms(&c, 300, 0, 1), cbrt(1 + pow(3.84, 3)), 1e-12);
    /* means: 1,000 users without prompts to speak of take 1,064 tokens' arithmetic beside one of
     * 1 */
    const double alone = cbrt(1 + pow(10.64, 3)), beside = cbrt(1 + pow(10.65, 3));
    assert_close(llm_tpot_closed_ms(&c, 1000, 1, 1e6),
                 cbrt(1 + pow(10.24, 3)) + 1e-3 * (beside - alone), 1e-9);
}

/* The closed form is the sum of its steps, and its inverse the first number that reaches a time. */
static void runs_of_steps(void **state)
{
    const uint64_t seed = 20261130;
    gsl_rng *r = rng_create(seed, 0, "steps");
    (void)state;
    for (int round = 0; round < 300; round++) {
        const struct llm_cost c = llm_cost_of(&model, &card, &ideal, 1);
        const double seqs = 1 + floor(200 * gsl_rng_uniform(r)),
                     kv = floor(1e5 * gsl_rng_uniform(r));
        const int m = 1 + (int)(500 * gsl_rng_uniform(r));
        double sum = 0;
        for (int i = 0; i < m; i++) {
            const struct llm_step s = { seqs, seqs, kv + seqs * i, 0, 0 };
            sum += llm_step_ms(&c, &s);
        }
        if (fabs(llm_decode_ms(&c, seqs, kv, m) - sum) > 1e-9 * sum)
            fail_msg("seed %llu round %d: %.12g, by steps %.12g", (unsigned long long)seed, round,
                     llm_decode_ms(&c, seqs, kv, m), sum);
        const double ms = sum * gsl_rng_uniform(r), n = llm_decode_steps(&c, seqs, kv, ms);
        assert_true(llm_decode_ms(&c, seqs, kv, n) >= ms);
        assert_true(n == 1 || llm_decode_ms(&c, seqs, kv, n - 1) < ms);
    }
    gsl_rng_free(r);
    const struct llm_cost c = llm_cost_of(&model, &card, &ideal, 1);
    assert_close(llm_decode_steps(&c, 5, 100, 0), 0, 0);
    assert_close(llm_decode_steps(&c, 5, 100, llm_decode_ms(&c, 5, 100, 17)), 17, 0);
}

static void cache(void **state)
{
    (void)state;
    /* 0.9 x 10 GB - 2 GB - 3 GB = 4 GB of 8,000 bytes a token */
    assert_close(llm_kv_tokens(&model, 10e9, 0.9, 3e9, 1), 500000, 0);
    assert_close(llm_kv_tokens(&model, 10e9, 0.9, 3e9, 2), 1250000, 0); /* each holds half of it */
    assert_close(llm_kv_tokens(&model, 5e9, 0.9, 3e9, 1), 0, 0);
}

/* Without prompts and at a crawl the engine runs one sequence; TPOT is its step. */
static void expected(void **state)
{
    (void)state;
    const struct llm_cost c = llm_cost_of(&model, &card, &ideal, 1);
    struct llm_load l = { 1e-6, 100, 100, 1e4, 1e4, 1e4 };
    const struct llm_expect idle = llm_expect_open(&c, &l);
    assert_true(idle.stable);
    assert_close(idle.tpot_ms, 2.7, 1e-3);
    /* Little: in flight = rate x time */
    l.lambda = 20;
    const struct llm_expect busy = llm_expect_open(&c, &l);
    assert_true(busy.stable);
    assert_close(busy.in_flight, 20 * 100 * busy.tpot_ms / 1e3, 1e-6);
    assert_true(busy.tpot_ms > idle.tpot_ms && busy.ttft_ms > idle.ttft_ms);
    l.lambda = 1e4;
    assert_false(llm_expect_open(&c, &l).stable);
    /* as many users as sequences in flight see the same time per token */
    l.lambda = 20;
    assert_close(llm_tpot_closed_ms(&c, busy.in_flight, 100, 100), busy.tpot_ms, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients),  cmocka_unit_test(cards_and_slices),
        cmocka_unit_test(steps),         cmocka_unit_test(begun_tiles_are_paid),
        cmocka_unit_test(runs_of_steps), cmocka_unit_test(cache),
        cmocka_unit_test(expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
