/* calibrate/shim/hooks.h - every driver call that is hooked, once: exported symbol, name as
 * cuGetProcAddress knows it, the symbol of the same call with per-thread default streams ("":
 * none), and the CUDA version from which that name means this symbol (an older version asked for
 * is another signature). The hooks have the driver's published signatures (CUDA driver API
 * reference); no header of CUDA is needed, handles are opaque pointers. Compiled with
 * GPUSIM_CHECK_ABI the types are those of cuda.h, so that the compiler holds every hook against
 * its prototype (the Makefile does so before it builds the library). */
#ifndef GPUSIM_CALIBRATE_SHIM_HOOKS_H
#define GPUSIM_CALIBRATE_SHIM_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef GPUSIM_CHECK_ABI
#define __CUDA_API_VERSION_INTERNAL /* every exported version of a call */
#include <cuda.h>
#undef cuGetProcAddress_v2
typedef CUresult result;
typedef CUdeviceptr pointer;
typedef CUdevice device;
typedef CUcontext context_handle;
typedef CUfunction function;
typedef CUstream stream_handle;
typedef CUgraphExec graph_handle;
typedef CUevent event_handle;
typedef CUmemoryPool pool_handle;
typedef CUarray array_handle;
typedef CUmipmappedArray mipmap_handle;
typedef CUmemGenericAllocationHandle memory_handle;
typedef CUmemAllocationHandleType share_kind;
typedef CUmemAllocationProp memory_prop;
typedef CUDA_ARRAY_DESCRIPTOR array_2d;
typedef CUDA_ARRAY3D_DESCRIPTOR array_3d;
typedef CUlaunchConfig launch_config;
typedef CUstreamCaptureStatus capture_status;
typedef CUstreamCaptureMode capture_mode;
typedef CUdriverProcAddressQueryResult proc_status;
#else
typedef unsigned result; /* CUresult; enumerations of the driver have no negative values */
typedef unsigned long long pointer, memory_handle;
typedef int device;
typedef void *context_handle, *function, *stream_handle, *graph_handle, *event_handle, *pool_handle;
typedef void *array_handle, *mipmap_handle;
typedef unsigned capture_status, capture_mode, proc_status, share_kind;
/* These structures as far as they are read here. */
typedef struct {
    unsigned type, requestedHandleTypes;
    struct {
        unsigned type;
        int id;
    } location;
} memory_prop;
typedef struct {
    size_t Width, Height;
    unsigned Format, NumChannels;
} array_2d;
typedef struct {
    size_t Width, Height, Depth;
    unsigned Format, NumChannels, Flags;
} array_3d;
typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    stream_handle hStream;
} launch_config;
#endif

#define HOOK_MAP(X)                                                                                \
    X(cuGetProcAddress, "cuGetProcAddress", "", 11030)                                             \
    X(cuGetProcAddress_v2, "", "", 0)                                                              \
    X(cuLaunchKernel, "cuLaunchKernel", "cuLaunchKernel_ptsz", 4000)                               \
    X(cuLaunchKernel_ptsz, "", "", 0)                                                              \
    X(cuLaunchKernelEx, "cuLaunchKernelEx", "cuLaunchKernelEx_ptsz", 11060)                        \
    X(cuLaunchKernelEx_ptsz, "", "", 0)                                                            \
    X(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz",    \
      9000)                                                                                        \
    X(cuLaunchCooperativeKernel_ptsz, "", "", 0)                                                   \
    X(cuGraphLaunch, "cuGraphLaunch", "cuGraphLaunch_ptsz", 10000)                                 \
    X(cuGraphLaunch_ptsz, "", "", 0)                                                               \
    X(cuMemAlloc_v2, "cuMemAlloc", "", 3020)                                                       \
    X(cuMemAllocManaged, "cuMemAllocManaged", "", 6000)                                            \
    X(cuMemAllocPitch_v2, "cuMemAllocPitch", "", 3020)                                             \
    X(cuMemFree_v2, "cuMemFree", "", 3020)                                                         \
    X(cuMemAllocAsync, "cuMemAllocAsync", "cuMemAllocAsync_ptsz", 11020)                           \
    X(cuMemAllocAsync_ptsz, "", "", 0)                                                             \
    X(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync_ptsz", 11020)   \
    X(cuMemAllocFromPoolAsync_ptsz, "", "", 0)                                                     \
    X(cuMemFreeAsync, "cuMemFreeAsync", "cuMemFreeAsync_ptsz", 11020)                              \
    X(cuMemFreeAsync_ptsz, "", "", 0)                                                              \
    X(cuMemCreate, "cuMemCreate", "", 10020)                                                       \
    X(cuMemRelease, "cuMemRelease", "", 10020)                                                     \
    X(cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle", "", 11000)                       \
    X(cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle", "", 10020)                 \
    X(cuMemMap, "cuMemMap", "", 10020)                                                             \
    X(cuMemUnmap, "cuMemUnmap", "", 10020)                                                         \
    X(cuArrayCreate_v2, "cuArrayCreate", "", 3020)                                                 \
    X(cuArray3DCreate_v2, "cuArray3DCreate", "", 3020)                                             \
    X(cuArrayDestroy, "cuArrayDestroy", "", 2000)                                                  \
    X(cuMipmappedArrayCreate, "cuMipmappedArrayCreate", "", 5000)                                  \
    X(cuMipmappedArrayDestroy, "cuMipmappedArrayDestroy", "", 5000)                                \
    X(cuCtxDestroy_v2, "cuCtxDestroy", "", 4000)                                                   \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", "", 7000)                              \
    X(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", "", 11000)                        \
    X(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", "", 11000)                            \
    X(cuMemGetInfo_v2, "cuMemGetInfo", "", 3020)                                                   \
    X(cuDeviceTotalMem_v2, "cuDeviceTotalMem", "", 3020)

#endif
