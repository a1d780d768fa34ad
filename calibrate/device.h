/* calibrate/device.h - the little that a probe needs from a card.
 *
 * Two implementations: device_cuda.c (the driver, loaded at run time) and device_fake.c (a virtual
 * card with planted figures and a virtual clock, for tests). A probe takes the time from
 * ops->now_s only, so it runs on either.
 *
 * Units:     the suffix says which. Unknown numbers are NAN, unknown counts -1, unknown text "".
 * Errors:    0 or ERR_IO with *e filled in; an error of the driver may stick until the process ends.
 * Ownership: close() frees the device, its context, stream, module and events. Memory that a probe
 *            allocated is the probe's to free.
 * Threads:   one device, one thread. Blocking: sync, event_ms, context_cost, sleep_s.
 * Settings of the card (clocks, MIG, compute or persistence mode) are read, never written. */
#ifndef GPUSIM_CALIBRATE_DEVICE_H
#define GPUSIM_CALIBRATE_DEVICE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tri { TRI_UNKNOWN = -1, TRI_NO = 0, TRI_YES = 1 };

/* What stands between this process and the board. */
enum virt { VIRT_UNKNOWN = -1, VIRT_NONE, VIRT_PASSTHROUGH, VIRT_VGPU, VIRT_HOST };

struct device_info {
    /* as CUDA, and with it every framework, sees the device */
    char name[128];
    char uuid[48]; /* GPU-... or MIG-... */
    char pci[32];
    int cc_major, cc_minor; /* compute capability */
    int sms;
    uint64_t memory_bytes; /* 0: unknown */
    uint64_t l2_bytes;
    double sm_max_Hz;
    double mem_max_Hz;  /* data are moved twice per cycle */
    int mem_bus_bits;   /* 0: unknown */
    int cuda_version;   /* 1000 major + 10 minor, of the driver */
    enum tri mps;       /* contexts go through an MPS server */
    bool coherent_link; /* memory shared with the host over NVLink-C2C or the like, not PCIe */

    /* as NVML sees the board; unknown without NVML */
    bool nvml;
    char driver[32];
    char board_name[128];
    uint64_t board_bytes;
    double power_cap_W, power_default_W;
    double link_Bps; /* PCIe, one way, raw, at its best generation and width */
    enum tri ecc, mig_mode, persistence;
    bool mig_instance; /* CUDA's device is a slice */
    enum virt virt;
    int compute_mode;    /* 0 default, 2 prohibited, 3 exclusive process; -1 unknown */
    int other_processes; /* with memory on the board, counted before this one used it; -1 unknown */

    char preload[256]; /* libraries that may stand between us and the driver (LD_PRELOAD) */
};

struct device_sensors {
    double sm_Hz, mem_Hz, power_W, temperature_C;
    enum tri throttled; /* slowed for heat or by the board, not by the ordinary power cap */
};

/* First context of a fresh process, from before the driver library is loaded to the end of the first
 * kernel, and the device memory that is gone while it lives (BASE-6). Which calls are timed:
 *   init_ms          dlopen of libcuda.so.1, cuInit, cuDeviceGetCount, cuDeviceGet
 *   create_ms        cuCtxCreate (CU_CTX_SCHED_AUTO); or, `primary`, cuDevicePrimaryCtxRetain and cuCtxSetCurrent, as
 *                    the CUDA runtime and so every framework does
 *   first_launch_ms  cuModuleLoadData, cuModuleGetFunction, one launch of an empty kernel, its end
 *   bytes            cuMemGetInfo of another process before the start less during the wait: context and kernels */
struct context_cost {
    double init_ms, create_ms, first_launch_ms;
    double bytes;
};

typedef uint64_t dev_ptr;

enum dev_kernel {
    DEV_EMPTY, /* () */
    DEV_FILL,  /* (dev_ptr a, dev_ptr b, dev_ptr c, uint64_t n): a = NaN, b and c a known pattern */
    DEV_TRIAD, /* (dev_ptr a, dev_ptr b, dev_ptr c, float s, uint64_t n): a = b + s c; n floats */
    DEV_CHECK, /* (dev_ptr a, float s, uint64_t n, dev_ptr bad): adds the wrong elements to *bad */
    DEV_SPIN,  /* (uint64_t ns): one thread, busy by the global timer */
    DEV_COMPUTE, /* (dev_ptr sink, uint64_t iters): each thread that many dependent multiply-adds */
    /* (dev_ptr from, uint64_t n, uint64_t reps, dev_ptr sink): n x 16 bytes, past the L1 */
    DEV_READ,
    DEV_LOG, /* (dev_ptr out, uint64_t cap, uint64_t ns, uint64_t least): see kernels_base.cu */
    DEV_KERNELS
};

/* Matrix products by the vendor's library: D = A B, n x n x n. */
enum dev_gemm {
    GEMM_FP64,
    GEMM_FP32,
    GEMM_TF32,
    GEMM_FP16,
    GEMM_BF16,
    GEMM_FP8,
    GEMM_INT8,
    GEMM_KINDS
};

/* Ways to launch a kernel: the exported symbol, the address that cuGetProcAddress gives (as the
 * CUDA runtime asks), cuLaunchKernelEx, cuLaunchCooperativeKernel. A graph is the fifth:
 * graph_open, graph_launch. */
enum dev_path { PATH_SYMBOL, PATH_ADDRESS, PATH_EX, PATH_COOPERATIVE, PATHS };

enum { DEV_EVENTS = 16, DEV_BLOCK = 256 };

struct device;

struct device_ops {
    void (*close)(struct device *d);
    /* Elapsed time of this device's clock [s]; monotonic. */
    double (*now_s)(struct device *d);
    void (*sleep_s)(struct device *d, double seconds);
    void (*sensors)(struct device *d, struct device_sensors *out);
    int (*context_cost)(struct device *d, bool primary, struct context_cost *out, struct err *e);

    /* The context that all calls below use: not there after opening, so that power can be read
     * without it. Opening it again is harmless. Loads the kernels. */
    int (*context_open)(struct device *d, struct err *e);
    int (*mem_info)(struct device *d, uint64_t *free_bytes, uint64_t *total_bytes, struct err *e);
    int (*alloc)(struct device *d, size_t bytes, dev_ptr *out, struct err *e);
    int (*free)(struct device *d, dev_ptr p, struct err *e);
    int (*host_alloc)(struct device *d, size_t bytes, void **out, struct err *e); /* pinned */
    int (*host_free)(struct device *d, void *p, struct err *e);
    /* Asynchronous on the device's one stream; args point to the kernel's parameters. */
    int (*launch)(struct device *d, enum dev_kernel k, unsigned grid, unsigned block, void **args,
                  struct err *e);
    /* An empty kernel by this way; ERR_IO where the driver lacks it. */
    int (*launch_by)(struct device *d, enum dev_path path, struct err *e);
    /* Ask cuGetProcAddress for a call that every driver has. */
    int (*look_up)(struct device *d, struct err *e);
    int (*copy_in)(struct device *d, dev_ptr to, const void *from, size_t bytes, struct err *e);
    int (*copy_out)(struct device *d, void *to, dev_ptr from, size_t bytes, struct err *e);
    int (*sync)(struct device *d, struct err *e);
    int (*event_record)(struct device *d, int event, struct err *e);
    /* Waits for the later one. */
    int (*event_ms)(struct device *d, int from, int to, double *ms, struct err *e);
    /* A graph of so many empty kernels in a row; one at a time. Launching is asynchronous. */
    int (*graph_open)(struct device *d, unsigned nodes, struct err *e);
    int (*graph_launch)(struct device *d, struct err *e);
    void (*graph_close)(struct device *d);
    /* Get ready for products of this kind and size (n a multiple of 16), then queue one. Close is
     * harmless when nothing is open. A card or library that cannot do it is an error that says
     * so. */
    int (*gemm_open)(struct device *d, enum dev_gemm kind, unsigned n, struct err *e);
    int (*gemm_launch)(struct device *d, struct err *e);
    void (*gemm_close)(struct device *d);
};

struct device {
    const struct device_ops *ops;
    struct device_info info; /* read-only after opening */
    int index; /* for further processes on the same device (worker.h); -1: it has none */
};

/* Device `index` as CUDA counts (that is, after CUDA_VISIBLE_DEVICES). *out is NULL after a
 * failure. */
int device_cuda_open(struct device **out, int index, struct err *e);
/* The child's side of context_cost: says its times on stdout, holds the context until stdin ends.
 * Returns an exit status. */
int device_cuda_context_child(int index, bool primary);

/* The virtual card of the tests. */
struct fake_config {
    struct device_info info;
    struct device_sensors sensors;
    double launch_us; /* host time of a launch */
    double sync_us;   /* host time from the end of the work to the return of sync */
    double empty_us;  /* run time of a kernel that does nothing */
    double alloc_us, alloc_us_per_MiB, free_us;
    double mem_Bps, h2d_Bps, d2h_Bps, l2_Bps;
    double paged_Bps;            /* either way, of host memory that is not pinned */
    double graph_node_us;        /* and launch_us for the graph */
    double gemm_ops[GEMM_KINDS]; /* 0: the library refuses */
    double warm_gain; /* products that find operands in the cache: so many times faster */
    double clock_Hz;  /* a dependent multiply-add takes 4 cycles */
    double idle_W, context_W, busy_W;
    struct context_cost context;
    double primary_ms;       /* create_ms of the primary one; NAN: the driver has none */
    double noise;            /* relative, uniform in [1, 1 + noise], seeded, same each time */
    unsigned throttle_every; /* each k-th reading of the sensors says throttled; 0: never */
    bool corrupt_triad, corrupt_copy;
    unsigned fail_alloc_above_MiB; /* 0: no limit */
    bool fail_context;
};
void fake_config_default(struct fake_config *c);
struct device *device_fake_open(const struct fake_config *c);

#endif
