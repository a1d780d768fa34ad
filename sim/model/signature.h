/* model/signature.h - how a job uses a whole card of a reference model: the work signature.
 *
 * host + compute + memory = 1: fractions of its isolated time off the card (CPU, I/O), bound by
 * SMs, bound by memory bandwidth. Sources in order: the job's own profile in the scenario's
 * "profiles", its class default (scenarios/workloads/classes.json), then host 0, compute 1, memory
 * 0, launches 0, widths min(1, gpus). Threads: plain data. Ownership: text from the arena. */
#ifndef GPUSIM_MODEL_SIGNATURE_H
#define GPUSIM_MODEL_SIGNATURE_H

#include "base/arena.h"
#include "base/cfg.h"
#include "model/precision.h"

struct signature {
    double host, compute, memory;
    double sm_width;       /* share of the SMs its kernels can fill, (0, 1]; NAN: min(1, gpus) */
    double bw_width;       /* likewise of the memory bandwidth; NAN: min(1, gpus) */
    double launches_per_s; /* kernel launches per isolated second */
    double allocs_per_s;   /* allocations that reach the driver, per isolated second */
    double graphs; /* share of its time on the card that is launched from CUDA graphs, which a quota
                      that counts launches cannot stop */
    /* synchronising calls per isolated second (remote pays a round trip each) */
    double syncs_per_s;
    double kernel_us;         /* mean kernel length; NAN unknown */
    double pcie_Bps;          /* bytes over PCIe per isolated second */
    double flops_per_s;       /* useful operations per isolated second; NAN: not stated */
    uint64_t footprint_bytes; /* CFG_NO_BYTES: not stated */
    simtime mem_grow;   /* the footprint is allocated this long after the start; 0: at the start */
    int precision;      /* enum precision; default fp32, the format most cards state */
    const char *source; /* where the numbers come from; NULL: written in the scenario */
    const char *name;   /* under which it is called; NULL: a class default, or none */
};

#define SIGNATURE_SUM_TOLERANCE 1e-6
/* Kernels that a card runs at once: 128 since compute capability 7.0 (CUDA C++ programming guide,
 * maximum number of resident grids per device). */
enum { SIGNATURE_KERNELS = 128 };

/* Keys of a "profiles" entry: host compute memory sm_width bw_width launches_per_s allocs_per_s
 * graphs syncs_per_s kernel_us pcie ("1 GB/s") flops_per_s footprint mem_grow precision source. */
extern const struct cfg_field signature_fields[];
extern const size_t signature_fields_n;

/* Read and check one. Problems name the bound: fractions in [0, 1] that sum to 1 within 1e-6,
 * widths in (0, 1]. `obj` NULL: the default. */
void signature_read(struct signature *out, struct arena *a, const struct json_doc *doc, json_t *obj,
                    const char *pointer, struct diag *d);
/* What a job without any profile is: all compute. */
struct signature signature_default(void);

#endif
