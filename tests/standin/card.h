/* tests/standin/card.h - the virtual card behind the stand-in driver: one schedule for all
 * processes that share a state file.
 *
 * Everything is an item in the queue of its context: a kernel, a copy, a marker. card_add() and
 * card_done() first bring the schedule up to the present (CLOCK_MONOTONIC, ns), so arrivals are met
 * in the order of the lock and the times of completion are exact. Threads: the state is guarded by
 * a process-shared robust mutex. */
#ifndef GPUSIM_TESTS_STANDIN_CARD_H
#define GPUSIM_TESTS_STANDIN_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* key, value when it is not planted */
#define CARD_MAP(X)                                                                                \
    X(sms, 40)                                                                                     \
    X(cc_major, 8)                                                                                 \
    X(cc_minor, 9)                                                                                 \
    X(memory_GiB, 16)                                                                              \
    X(l2_MiB, 8)                                                                                   \
    X(clock_MHz, 1500)                                                                             \
    X(mem_clock_MHz, 5000)                                                                         \
    X(bus_bits, 256)                                                                               \
    X(launch_us, 2.5)                                                                              \
    X(sync_us, 4)                                                                                  \
    X(empty_us, 1.5)                                                                               \
    X(graph_node_us, 1.1)                                                                          \
    X(alloc_us, 40)                                                                                \
    X(free_us, 30)                                                                                 \
    X(context_ms, 60)                                                                              \
    X(primary_more_ms, 0) /* of the primary context */                                             \
    X(context_MiB, 300)                                                                            \
    X(mem_GBps, 250)                                                                               \
    X(l2_GBps, 1000)                                                                               \
    X(read_memory_p,                                                                               \
      0) /* part of the time of reads that shrinks with SMs, of more than the cache */             \
    X(read_cache_p, 0) /* and of what fits into it */                                              \
    X(h2d_GBps, 2)                                                                                 \
    X(paged_GBps, 0.8) /* either way, of memory that is not pinned */                              \
    X(d2h_GBps, 2.5)                                                                               \
    X(gemm_fp64_T, 0.25)                                                                           \
    X(gemm_fp32_T, 7)                                                                              \
    X(gemm_tf32_T, 28)                                                                             \
    X(gemm_fp16_T, 56)                                                                             \
    X(gemm_bf16_T, 55)                                                                             \
    X(gemm_fp8_T, 0)                                                                               \
    X(gemm_int8_T, 110)                                                                            \
    X(quantum_us, 1500)                                                                            \
    X(switch_us, 150)                                                                              \
    X(switch_full_us, 0) /* to a kernel with blocks for every SM; 0: the same */                   \
    X(power_W, 61)                                                                                 \
    X(busy_W, 0)   /* of the board under a kernel or product; 0: power_W */                        \
    X(memory_W, 0) /* under the triad; 0: as under others */                                       \
    X(tick_us, 0)  /* of the timer; 0: none that is seen */                                        \
    X(devices, 1)                                                                                  \
    X(hang, 0)      /* kernels of that number (1: cal_empty, 2: cal_fill ..) never end */          \
    X(wedge, 0)     /* 1: once one of them was launched, no kernel of anybody ends */              \
    X(hang_call, 0) /* enum card_hang: a call that never returns */                                \
    X(crash, 0)     /* kernels of that number end the process that launches them */                \
    X(init_error, 0)                                                                               \
    X(module_error, 0)                                                                             \
    X(beside_compute,                                                                              \
      1) /* memory's kernels of an MPS client take so many times as long beside compute's */       \
    X(throttle_every, 0) /* each k-th question finds the card throttled; 0: never */               \
    X(mig, 0)                                                                                      \
    X(noise, 0.005)

enum card_hang {
    HANG_NONE,
    HANG_INIT,           /* cuInit, of everybody */
    HANG_WORKER_CONTEXT, /* cuCtxCreate of a worker */
    HANG_WORKER_END,     /* cuCtxDestroy of a worker */
    HANG_WORKER_KERNEL,  /* hang is for workers only */
    HANG_CHILD_CONTEXT,  /* cuCtxCreate of the context probe's child */
    HANG_SENSORS,        /* the board's power, of everybody */
    HANG_END,            /* cuCtxDestroy of who is neither */
};

struct card_plan {
    char name[96];
#define X(key, value) double key;
    CARD_MAP(X)
#undef X
};

/* Opens the state; ends the program with a message when the environment is wrong. */
void card_open(void);
const struct card_plan *card_plan(void);
uint64_t card_now_ns(void);
void card_until(uint64_t ns);
void card_spin_us(double us); /* busy until so long after the call */

int card_context_open(void); /* number of a context, -1: too many */
void card_context_close(int ctx);
bool card_take(int64_t bytes); /* of the card's memory; negative gives back. false: not there */
uint64_t card_free_bytes(void);

/* Whether no kernel ends any more; `now`: from now on. */
bool card_wedged(bool now);
/* Adds work and returns its number in the context. Waits while the queue is full. */
uint64_t card_add(int ctx, double ns);
uint64_t card_add_full(int ctx, double ns); /* with threads on every SM */
/* A poll of the timer for so long; what it saw is in card_gaps() when it is done. */
/* This context's work is of that kind from now on; whether another context with work is of kind
 * `other`. */
bool card_beside(int ctx, int kind, int other);
bool card_busy(int *kind); /* is there work, of anybody? The kind of the context that has it */
uint64_t card_add_log(int ctx, uint64_t ns, uint64_t least, bool full);
uint64_t card_last(int ctx); /* number of the last item; 0: none yet */
/* Waits until it is done; when that was [ns]. */
uint64_t card_wait(int ctx, uint64_t item);
/* The last log of the context: first and last reading; pairs into out (at most cap), their
 * number. */
size_t card_gaps(int ctx, uint64_t *first, uint64_t *last, uint64_t *out, size_t cap);

#endif
