/* tests/bench/bench.h - timing shared by the benchmarks. Figures are for people; nothing fails on
 * them. One line each: name, value, unit, ratio to a reference of the same run (or "-"). */
#ifndef GPUSIM_TESTS_BENCH_H
#define GPUSIM_TESTS_BENCH_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Processor time of this process: what others do on the machine counts as little as can be. */
static inline double bench_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* `reference` <= 0: there is none. */
static inline void bench_print(const char *name, double value, const char *unit, double reference)
{
    if (reference > 0)
        printf("%-44s %12.4g  %-14s %6.2f\n", name, value, unit, value / reference);
    else
        printf("%-44s %12.4g  %-14s %6s\n", name, value, unit, "-");
    fflush(stdout);
}

/* xorshift64* (Vigna 2016): fast enough not to hide what is measured; too weak for results. */
static inline uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}

static inline double bench_uniform(uint64_t *state) /* (0, 1] */
{
    return ((double)(bench_random(state) >> 11) + 1.0) * 0x1p-53;
}

/* Results that are only computed to be timed go here, so that the compiler keeps them. */
static inline void bench_keep(uint64_t value)
{
    __asm__ volatile("" : : "r"(value));
}

#endif
