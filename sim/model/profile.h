/* model/profile.h - calibrated parameters of one card ("format": "gpusim-profile/1"), written by
 * `calibrate` or shipped. Each parameter says how it is known.
 *
 * Every parameter that gpusim knows is in one table (profile_params[]) with unit, bounds, default,
 * the default's range and source. Look-up order: measured in the file, published in the file,
 * assumed in the file, then the table's default.
 * Threads: read-only after loading. Ownership: memory from the arena. */
#ifndef GPUSIM_MODEL_PROFILE_H
#define GPUSIM_MODEL_PROFILE_H

#include "base/arena.h"
#include "base/json.h"

enum provenance { PROV_MEASURED, PROV_PUBLISHED, PROV_ASSUMED, PROV_COUNT };
extern const char *const provenance_names[PROV_COUNT + 1]; /* "measured" ... NULL */

/* id, group, key (unit in the name), default (NAN: none), low, high, bounds min, max, provenance of the default, source */
#define PROFILE_MAP(X)                                                                             \
    X(base_context_bytes, "base", "context_bytes")                                                 \
    X(base_launch_us, "base", "launch_us")                                                         \
    X(base_alloc_us, "base", "alloc_us")                                                           \
    X(base_context_ms, "base", "context_ms")                                                       \
    X(base_mem_Bps, "base", "mem_Bps")                                                             \
    X(base_h2d_Bps, "base", "h2d_Bps")                                                             \
    X(power_idle_W, "power", "idle_W")                                                             \
    X(power_context_W, "power", "context_W")                                                       \
    X(power_busy_W, "power", "busy_W")                                                             \
    X(timeslice_quantum_us, "timeslice", "quantum_us")                                             \
    X(timeslice_switch_us, "timeslice", "switch_us")                                               \
    X(mps_overhead, "mps", "overhead")                                                             \
    X(mps_interference, "mps", "interference")                                                     \
    X(mig_repartition_s, "mig", "repartition_s")                                                   \
    X(mig_mode_change_s, "mig", "mode_change_s")                                                   \
    X(mig_power_loss, "mig", "power_loss")                                                         \
    X(intercept_launch_ns, "intercept", "launch_ns")                                               \
    X(intercept_alloc_us, "intercept", "alloc_us")                                                 \
    X(intercept_startup_ms, "intercept", "startup_ms")                                             \
    X(intercept_startup_per_process_ms, "intercept", "startup_per_process_ms")                     \
    X(intercept_quota_bytes_error, "intercept", "quota_bytes_error")                               \
    X(intercept_core_burst_s, "intercept", "core_burst_s")                                         \
    X(intercept_core_gain, "intercept", "core_gain")                                               \
    X(remote_sync_us, "remote", "sync_us")                                                         \
    X(remote_async_us, "remote", "async_us")                                                       \
    X(remote_Bps, "remote", "Bps")
/* Further keys of the contract that a file may hold and that nothing reads yet are accepted and
 * kept: launch_sync_us, graph_node_us, l2_Bps, d2h_Bps, gemm_*_flops, gemm_int8_ops, width_curve. */

enum profile_param {
#define X(id, group, key) PROFILE_##id,
    PROFILE_MAP(X)
#undef X
    PROFILE_COUNT
};

struct param {
    double value, low, high; /* NAN: absent. Unit: as in the key */
    enum provenance provenance;
    const char *source;      /* method or publication */
};

struct gpu_profile {
    const char *name;        /* file name, or "defaults" */
    const char *gpu;         /* card it was measured on; NULL for defaults */
    struct param param[PROFILE_COUNT];
};

/* The table's defaults: published or assumed values with their source, for any card. */
void profile_defaults(struct gpu_profile *out);
/* One file over the defaults. Values outside physical bounds are problems that name the bound. */
void profile_read(struct gpu_profile *out, struct arena *a, const struct json_doc *doc, struct diag *d);

const char *profile_param_group(enum profile_param p);
const char *profile_param_key(enum profile_param p);

#endif
