/* model/profile.h - calibrated parameters of one card ("format": "gpusim-profile/1"), written by
 * `calibrate` or shipped. Each parameter says how it is known.
 *
 *     { "format": "gpusim-profile/1", "gpu": "h200-sxm5-141gb",
 *       "timeslice": { "quantum_us": { "value": 2050, "unit": "us", "low": 1990, "high": 2110,
 *                                      "n": 4000, "method": "two processes polling globaltimer",
 *                                      "provenance": "measured" } } }
 *
 * Every parameter that gpusim knows is in one table with unit, bounds, default, the default's
 * range, provenance and source. A value in the file wins over the table's default, however it is
 * known: it is about this card, the default about any. A file holds one entry for a parameter, so
 * whoever writes it has put measured before published before assumed. What could not be measured
 * stands under "not_measured" with the reason, or as a null value, and then counts as absent; what
 * stands there may have no value besides. "device" is for sheet_check() (model/sheet.h), but
 * "self_checks" in it are read: the figures of a measurement that contradicts itself are used, and
 * their source says so wherever it is shown. "note" is for people.
 *
 * Threads: read-only after loading. Ownership: memory from the arena; defaults are static. */
#ifndef GPUSIM_MODEL_PROFILE_H
#define GPUSIM_MODEL_PROFILE_H

#include "base/arena.h"
#include "base/json.h"

enum provenance { PROV_MEASURED, PROV_PUBLISHED, PROV_ASSUMED, PROV_COUNT };
extern const char *const provenance_names[PROV_COUNT + 1]; /* "measured" ... NULL */

#define PROFILE_NONE NAN /* no default: absent unless the file has it */

#define SRC_DRIVER "NVIDIA open-gpu-kernel-modules 595.45.04"
#define SRC_VBENCH "GPU-Virt-Bench 3e896b5, RTX 3080, native against hooked"
#define SRC_MIGCTL "public MIG controller project, A100-PCIE-40GB, 2026-05: "

/* group, key (the unit is in the name), unit, default, its low and high, least and greatest
 * physically possible value, provenance of the default, its source, meaning */
#define PROFILE_MAP(X)                                                                             \
    X(base, launch_us, "us", 1.453, 1, 6, 0.01, 1e4, PUBLISHED,                                    \
      "persistent_kernel README (card not named); 4 to 6 us on an RTX 5070 Ti",                    \
      "host time of one asynchronous kernel launch")                                               \
    X(base, launch_sync_us, "us", 4.293, 4, 20, 0.1, 1e5, PUBLISHED, SRC_VBENCH,                   \
      "empty kernel, launch and wait")                                                             \
    X(base, graph_node_us, "us", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 0.01, 1e4, ASSUMED, "", \
      "one node of a replayed graph")                                                              \
    X(base, alloc_us, "us", 97.1, 2, 400, 0.01, 1e6, PUBLISHED, SRC_VBENCH,                        \
      "one device memory allocation (bimodal: small ones are far cheaper)")                        \
    X(base, context_ms, "ms", 77.3, 60, 500, 0.1, 1e5, PUBLISHED, SRC_VBENCH,                      \
      "creation of a context")                                                                     \
    X(base, context_bytes, "B", 429496729.6, 102760448, 429496729.6, 0, 17179869184.0, ASSUMED,    \
      "0.4 GiB is the stated assumption; 98 MiB was read for a trivial kernel on a T4 "            \
      "(driver 535.161)",                                                                          \
      "card memory that each process holds besides its data")                                      \
    X(base, mem_Bps, "B/s", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e8, 1e14, ASSUMED, "",      \
      "sustained memory bandwidth (triad)")                                                        \
    X(base, l2_Bps, "B/s", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e8, 1e15, ASSUMED, "",       \
      "sustained second-level cache bandwidth")                                                    \
    X(base, h2d_Bps, "B/s", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e7, 1e13, ASSUMED, "",      \
      "host to device, pinned")                                                                    \
    X(base, d2h_Bps, "B/s", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e7, 1e13, ASSUMED, "",      \
      "device to host, pinned")                                                                    \
    X(base, gemm_fp64_flops, "FLOPS", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e8, 1e17,         \
      ASSUMED, "", "best matrix product, fp64")                                                    \
    X(base, gemm_fp32_flops, "FLOPS", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e8, 1e17,         \
      ASSUMED, "", "best matrix product, fp32")                                                    \
    X(base, gemm_tf32_flops, "FLOPS", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e8, 1e17,         \
      ASSUMED, "", "best matrix product, tf32")                                                    \
    X(base, gemm_fp16_flops, "FLOPS", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e8, 1e17,         \
      ASSUMED, "", "best matrix product, fp16")                                                    \
    X(base, gemm_bf16_flops, "FLOPS", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e8, 1e17,         \
      ASSUMED, "", "best matrix product, bf16")                                                    \
    X(base, gemm_fp8_flops, "FLOPS", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e8, 1e17, ASSUMED, \
      "", "best matrix product, fp8")                                                              \
    X(base, gemm_int8_ops, "OPS", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1e8, 1e17, ASSUMED,    \
      "", "best matrix product, int8")                                                             \
    X(power, idle_W, "W", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 0, 3000, ASSUMED, "",          \
      "board power without a process; absent: the catalogue")                                      \
    X(power, context_W, "W", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 0, 3000, ASSUMED, "",       \
      "board power with a context and no work; absent: the catalogue")                             \
    X(power, busy_W, "W", PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 1, 3000, ASSUMED, "",          \
      "board power under full load; absent: the catalogue")                                        \
    X(timeslice, quantum_us, "us", 1024, 1000, 2300, 1, 1e6, PUBLISHED,                            \
      SRC_DRIVER ", kernel_fifo_gv100.c (128 << 3); observed waits reach 2300 us",                 \
      "length of a turn")                                                                          \
    X(timeslice, switch_us, "us", 111, 110, 230, 0, 1e5, ASSUMED,                                  \
      "derived: eta = q / (q + c) with q = 1024 us and 0.902 of the throughput kept by 3 and 7 "   \
      "tenants (A100, nebuly-ai/nos); 0.818 on a T4 gives 230 us",                                 \
      "time lost when the card changes from one context to the next")                              \
    X(mps, overhead, "ratio", 0, 0, 0.02, 0, 0.9, PUBLISHED,                                       \
      "nebuly-ai/nos, A100: one client under the daemon at 1.002 of native",                       \
      "share of speed a client loses to the daemon")                                               \
    X(mps, interference, "ratio", 0.1, 0, 0.7, 0, 1, PUBLISHED,                                    \
      "seven CNNs, 1 to 5 processes in slices of an A100 (MunQ-Lee/ParvaGPU_SC24): 0.05 to 0.1 "   \
      "fits best; OpenMM on an A100 0; YOLOS on an A100 (nebuly-ai/nos) 0.2 to 0.7",               \
      "slowdown that a card's worth of busy neighbours adds while demand is below the card")       \
    X(mig, repartition_s, "s", 12, 12, 121, 0, 3600, PUBLISHED,                                    \
      SRC_MIGCTL "direct executor 12.4 and 19.3 s, operator 102 to 121 s",                         \
      "destroy and create instances on free slices until they can be used")                        \
    X(mig, operator_s, "s", 113, 102, 121, 0, 7200, PUBLISHED,                                     \
      SRC_MIGCTL "GPU operator, from the label until the instances can be allocated",              \
      "the same through the GPU operator of Kubernetes")                                           \
    X(mig, mode_change_s, "s", 30, 10, 120, 0, 7200, ASSUMED,                                      \
      "no source measures it; 30 s is what the MISO experiments assume for a reconfiguration",     \
      "turn MIG on or off on an empty card (reset)")                                               \
    X(mig, power_loss, "ratio", 0, 0, 0.05, 0, 0.9, ASSUMED,                                       \
      "Colfax Research 2024-05, A30: a few percent when all slices run large matrix products",     \
      "share of the clock lost to the common power cap with every SM of the card busy")            \
    X(mig, pcie_efficiency, "ratio", 0.81, 0.7, 0.9, 0.01, 1, ASSUMED,                             \
      "Colfax Research 2024-05, A30: 25.2 of 31 GB/s to the device, and 6.3 to each of four "      \
      "slices that copy at once; other cards: a guess",                                            \
      "share of the bus's rate that all slices of a card get together")                            \
    X(intercept, launch_ns, "ns", 300, 175, 450, 0, 1e6, PUBLISHED, SRC_VBENCH,                    \
      "time the library adds to one kernel launch")                                                \
    X(intercept, alloc_us, "us", 18.3, 0, 288, 0, 1e6, PUBLISHED, SRC_VBENCH,                      \
      "time the library adds to one allocation (within the noise of a bimodal figure)")            \
    X(intercept, startup_ms, "ms", 0.25, 0.25, 0.67, 0, 1e6, PUBLISHED,                            \
      "HAMi-core issue 252, one process", "time the library adds to the start of a process")       \
    X(intercept, startup_per_process_ms, "ms", 0.085, 0.013, 240, 0, 1e5, PUBLISHED,               \
      "HAMi-core issue 252: 5.62 ms with 64 at once; issue 1662: a minute with 250",               \
      "further start-up time per other process that starts on the node at once")                   \
    X(intercept, quota_bytes_error, "ratio", 0.0334, 0, 0.05, 0, 0.5, PUBLISHED,                   \
      "HAMi issue 952: 35122 MiB counted of 36336 MiB held",                                       \
      "share of a process's card memory that the quota does not count")                            \
    X(intercept, core_burst_s, "s", 0.12, 0.12, 1, 0, 60, PUBLISHED,                               \
      "HAMi-core 8f3a89c: the watcher corrects every 120 ms from a window of 1 s",                 \
      "period over which the compute quota is not enforced")                                       \
    X(intercept, core_gain, "exponent", 0.886, 0.19, 1.17, 0, 2, PUBLISHED,                        \
      "HAMi issue 2863: quotas 10 and 90 gave work 1:7, ln 7 / ln 9; HAMi-core issue 314 and "     \
      "PR 317 for the range",                                                                      \
      "two tenants with quotas a and b complete work as (a / b)^core_gain; 1: exact")              \
    X(remote, sync_us, "us", 10, 5, 20, 0, 1e6, PUBLISHED,                                         \
      "arXiv 2401.13354: round trips of 5 to 20 us keep most applications below 5 % overhead",     \
      "time a synchronous call adds")                                                              \
    X(remote, async_us, "us", 1, 0, 5, 0, 1e6, ASSUMED,                                            \
      "no figure could be read; the order of one local launch",                                    \
      "time an asynchronous call adds that nothing hides")                                         \
    X(remote, Bps, "B/s", 12.5e9, 1.25e9, 50e9, 1e6, 1e15, ASSUMED, "one 100 Gbit/s port",         \
      "bytes per second between host and pooled card")

enum profile_param {
#define X(group, key, unit, dflt, low, high, min, max, prov, source, help) PROFILE_##group##_##key,
    PROFILE_MAP(X)
#undef X
        PROFILE_COUNT
};

struct param {
    double value, low, high; /* NAN: absent. Unit: as in the key */
    enum provenance provenance;
    const char *source; /* method or publication */
};

/* What the table says about one parameter. */
struct profile_field {
    const char *group, *key, *unit;
    struct param dflt;
    double min, max; /* physical bounds */
    const char *help;
};
extern const struct profile_field profile_fields[PROFILE_COUNT];

/* "base": { "width_curve": { "points": [[0.25, 0.4], [1, 1]], "provenance": .., "source": .. } }:
 * the speed of one wide kernel against the share of the SMs that it may use, both of the whole
 * card's, shares ascending to 1. A bare list of points is read too. For people and for fitting
 * sm_width: no policy interpolates it. */
enum { PROFILE_WIDTHS_MAX = 64 };
struct width_curve {
    size_t n; /* 0: absent */
    double share[PROFILE_WIDTHS_MAX], speed[PROFILE_WIDTHS_MAX];
    enum provenance provenance;
    const char *source;
};

struct gpu_profile {
    const char *name; /* file name, "defaults" or "none" */
    const char *gpu;  /* card it was measured on; NULL for defaults */
    struct param param[PROFILE_COUNT];
    bool from_file[PROFILE_COUNT];
    struct width_curve width;
    const char *failed_checks;  /* "drift, efficiency"; NULL: none failed, or none is told of */
    const char *failed_details; /* one line each */
};

/* In the source of each measured figure of a profile whose self-checks failed. */
#define PROFILE_DOUBT "; self-checks of this profile failed: "

/* The table's defaults: published or assumed values with their source, for any card. */
void profile_defaults(struct gpu_profile *out);
/* One file over the defaults. Values outside physical bounds are problems that name the bound. */
void profile_read(struct gpu_profile *out, struct arena *a, const struct json_doc *doc,
                  struct diag *d);

/* -1 when there is no such parameter. */
int profile_param_find(const char *group, const char *key);

#endif
