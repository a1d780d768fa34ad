/* calibrate/shim/shim.h - what the files of the interception library share: the hooks'
 * prototypes, the way to the driver's own calls, the settings. intercept.c catches the calls,
 * memory.c and books.c hold the memory quota, compute.c the compute quota. Nothing but the
 * hooks, dlsym and gpusim_intercept_count is visible outside.
 *
 * Threads: everything may be called from any thread. Books and bucket have a lock each, never
 * held together but around fork. */
#ifndef GPUSIM_CALIBRATE_SHIM_SHIM_H
#define GPUSIM_CALIBRATE_SHIM_SHIM_H

#include "calibrate/shim/hooks.h"

#include <stdbool.h>

enum { OK = 0, OUT_OF_MEMORY = 2, NOT_FOUND = 500 };

typedef void any_fn(void);

enum hook {
#define X(symbol, plain, ptsz, since) HOOK_##symbol,
    HOOK_MAP(X)
#undef X
        HOOKS
};

/* The driver's own call behind a hook; NULL: it has none. */
any_fn *shim_real(enum hook h);
#define REAL(symbol) ((__typeof__(&symbol))shim_real(HOOK_##symbol))
/* A driver call that is not hooked; NULL: there is none. */
any_fn *shim_driver_call(const char *name);
void shim_count(enum hook h);
uint64_t shim_now_ns(void);
/* The context of the calling thread; NULL: none. */
context_handle shim_context(void);

struct shim_limit {
    uint64_t memory; /* bytes; 0: no limit */
    double core;     /* share of the time; 0: no limit */
    double burst_ns; /* of wall time: what the bucket holds */
    uint64_t delay_ns;
};
const struct shim_limit *shim_limit(void);

/* The compute quota's events die with their context. */
void compute_forget(context_handle ctx);
/* Around fork: no lock may stay taken by a thread that the child does not have; a child starts
 * with empty books. */
void books_fork_lock(void);
void books_fork_unlock(bool child);
void compute_fork_lock(void);
void compute_fork_unlock(bool child);

#define EXPORT __attribute__((visibility("default")))

/* The hooks, with the driver's signatures (CUDA driver API reference, 13.0). */
#define LAUNCH_ARGS                                                                                \
    function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,      \
        unsigned shared, stream_handle stream, void **args
EXPORT result cuGetProcAddress(const char *name, void **out, int version, uint64_t flags);
EXPORT result cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                                  proc_status *status);
EXPORT result cuLaunchKernel(LAUNCH_ARGS, void **extra);
EXPORT result cuLaunchKernel_ptsz(LAUNCH_ARGS, void **extra);
EXPORT result cuLaunchKernelEx(const launch_config *c, function f, void **args, void **extra);
EXPORT result cuLaunchKernelEx_ptsz(const launch_config *c, function f, void **args, void **extra);
EXPORT result cuLaunchCooperativeKernel(LAUNCH_ARGS);
EXPORT result cuLaunchCooperativeKernel_ptsz(LAUNCH_ARGS);
EXPORT result cuGraphLaunch(graph_handle graph, stream_handle stream);
EXPORT result cuGraphLaunch_ptsz(graph_handle graph, stream_handle stream);
EXPORT result cuMemAlloc_v2(pointer *out, size_t bytes);
EXPORT result cuMemAllocManaged(pointer *out, size_t bytes, unsigned flags);
EXPORT result cuMemAllocPitch_v2(pointer *out, size_t *pitch, size_t width, size_t height,
                                 unsigned element);
EXPORT result cuMemFree_v2(pointer p);
EXPORT result cuMemAllocAsync(pointer *out, size_t bytes, stream_handle stream);
EXPORT result cuMemAllocAsync_ptsz(pointer *out, size_t bytes, stream_handle stream);
EXPORT result cuMemAllocFromPoolAsync(pointer *out, size_t bytes, pool_handle pool,
                                      stream_handle stream);
EXPORT result cuMemAllocFromPoolAsync_ptsz(pointer *out, size_t bytes, pool_handle pool,
                                           stream_handle stream);
EXPORT result cuMemFreeAsync(pointer p, stream_handle stream);
EXPORT result cuMemFreeAsync_ptsz(pointer p, stream_handle stream);
EXPORT result cuMemCreate(memory_handle *out, size_t bytes, const memory_prop *prop,
                          unsigned long long flags);
EXPORT result cuMemRelease(memory_handle handle);
EXPORT result cuMemRetainAllocationHandle(memory_handle *out, void *at);
EXPORT result cuMemImportFromShareableHandle(memory_handle *out, void *os_handle, share_kind kind);
EXPORT result cuMemMap(pointer at, size_t bytes, size_t offset, memory_handle handle,
                       unsigned long long flags);
EXPORT result cuMemUnmap(pointer at, size_t bytes);
EXPORT result cuArrayCreate_v2(array_handle *out, const array_2d *d);
EXPORT result cuArray3DCreate_v2(array_handle *out, const array_3d *d);
EXPORT result cuArrayDestroy(array_handle array);
EXPORT result cuMipmappedArrayCreate(mipmap_handle *out, const array_3d *d, unsigned levels);
EXPORT result cuMipmappedArrayDestroy(mipmap_handle mipmap);
EXPORT result cuCtxDestroy_v2(context_handle ctx);
EXPORT result cuDevicePrimaryCtxRetain(context_handle *out, device d);
EXPORT result cuDevicePrimaryCtxRelease_v2(device d);
EXPORT result cuDevicePrimaryCtxReset_v2(device d);
EXPORT result cuMemGetInfo_v2(size_t *free_bytes, size_t *total);
EXPORT result cuDeviceTotalMem_v2(size_t *total, device d);

#endif
