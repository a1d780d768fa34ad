/* policy/batch.h - how long a batch takes, for the ways of serving that batch (reference llm, section 7):
 *
 *     t = (floor^bend + work^bend)^(1/bend)      work = weights + sum of the sizes, or + n x the largest (padded)
 *
 * The floor is bound by launches and the host: it is the same for any batch and on any slice.
 * The weights are what a batch of any size reads from memory: a model that no cache holds, a
 * recurrent one at every step; the bandwidth of the part stretches them. bend 1 adds floor and
 * work; measured CNNs lie between 1 and 7 (close to the larger of the two). From published
 * figures: floor = latency of a single stream, size = 1 / offline throughput, bend 1; two cards
 * tell floor from weights (validation set mlperf_slice). Threads: pure functions. */
#ifndef GPUSIM_POLICY_BATCH_H
#define GPUSIM_POLICY_BATCH_H

#include "base/cfg.h"

struct batch_curve {
    simtime floor, weights;
    double bend;
    bool pad;
};

#define BATCH_CURVE_FIELDS(type_)                                                                  \
    { .name = "floor",                                                                             \
      .type = CFG_TIME,                                                                            \
      .offset = offsetof(type_, curve.floor),                                                      \
      .dflt = "0 s",                                                                               \
      .min = 0,                                                                                    \
      .max = 3600,                                                                                 \
      .help = "least time of a batch: launches and host; no slice changes it" },                   \
        { .name = "weights",                                                                       \
          .type = CFG_TIME,                                                                        \
          .offset = offsetof(type_, curve.weights),                                                \
          .dflt = "0 s",                                                                           \
          .min = 0,                                                                                \
          .max = 3600,                                                                             \
          .help = "to read what a batch of any size reads from memory; goes with bandwidth" },     \
        { .name = "bend",                                                                          \
          .type = CFG_REAL,                                                                        \
          .offset = offsetof(type_, curve.bend),                                                   \
          .dflt = "1",                                                                             \
          .min = 1,                                                                                \
          .max = 16,                                                                               \
          .help = "1: floor and work add up; large: the larger of them counts" },                  \
    {                                                                                              \
        .name = "pad", .type = CFG_BOOL, .offset = offsetof(type_, curve.pad), .dflt = "false",    \
        .help = "every request of a batch takes as long as the largest"                            \
    }

/* `reading`: time of a read on this part of a card over that on the card of the sizes. */
double batch_ns(const struct batch_curve *c, uint64_t n, double sum_ns, double largest_ns,
                double reading);

#endif
