/* calibrate/shim/hooks.h - every driver call that is hooked, once: exported symbol, name as
 * cuGetProcAddress knows it, the symbol of the same call with per-thread default streams ("": none).
 * The hooks have the driver's published signatures (CUDA driver API reference); no header of CUDA is
 * needed, handles are opaque pointers. Compiled with GPUSIM_CHECK_ABI the types are those of cuda.h, so
 * that the compiler holds every hook against its prototype (the Makefile does so before it builds the library). */
#ifndef GPUSIM_CALIBRATE_SHIM_HOOKS_H
#define GPUSIM_CALIBRATE_SHIM_HOOKS_H

#ifdef GPUSIM_CHECK_ABI
#define __CUDA_API_VERSION_INTERNAL /* every exported version of a call */
#include <cuda.h>
#undef cuGetProcAddress_v2
typedef CUresult result;
typedef CUdeviceptr pointer;
typedef CUdevice device;
typedef CUfunction function;
typedef CUstream stream_handle;
typedef CUgraphExec graph_handle;
typedef CUevent event_handle;
typedef CUlaunchConfig launch_config;
typedef CUstreamCaptureStatus capture_status;
typedef CUstreamCaptureMode capture_mode;
typedef CUdriverProcAddressQueryResult proc_status;
#else
#include <stdint.h>
typedef unsigned result; /* CUresult; enumerations of the driver have no negative values */
typedef unsigned long long pointer;
typedef int device;
typedef void *function, *stream_handle, *graph_handle, *event_handle;
typedef unsigned capture_status, capture_mode, proc_status;
/* CUlaunchConfig as far as it is read here: grid, block, shared bytes, stream. */
typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    stream_handle hStream;
} launch_config;
#endif

#define HOOK_MAP(X)                                                                                \
    X(cuGetProcAddress, "cuGetProcAddress", "")                                                    \
    X(cuGetProcAddress_v2, "", "")                                                                 \
    X(cuLaunchKernel, "cuLaunchKernel", "cuLaunchKernel_ptsz")                                     \
    X(cuLaunchKernel_ptsz, "", "")                                                                 \
    X(cuLaunchKernelEx, "cuLaunchKernelEx", "cuLaunchKernelEx_ptsz")                               \
    X(cuLaunchKernelEx_ptsz, "", "")                                                               \
    X(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz")    \
    X(cuLaunchCooperativeKernel_ptsz, "", "")                                                      \
    X(cuGraphLaunch, "cuGraphLaunch", "cuGraphLaunch_ptsz")                                        \
    X(cuGraphLaunch_ptsz, "", "")                                                                  \
    X(cuMemAlloc_v2, "cuMemAlloc", "")                                                             \
    X(cuMemAllocManaged, "cuMemAllocManaged", "")                                                  \
    X(cuMemAllocPitch_v2, "cuMemAllocPitch", "")                                                   \
    X(cuMemAllocAsync, "cuMemAllocAsync", "cuMemAllocAsync_ptsz")                                  \
    X(cuMemAllocAsync_ptsz, "", "")                                                                \
    X(cuMemFree_v2, "cuMemFree", "")                                                               \
    X(cuMemFreeAsync, "cuMemFreeAsync", "cuMemFreeAsync_ptsz")                                     \
    X(cuMemFreeAsync_ptsz, "", "")                                                                 \
    X(cuMemGetInfo_v2, "cuMemGetInfo", "")                                                         \
    X(cuDeviceTotalMem_v2, "cuDeviceTotalMem", "")

#endif
