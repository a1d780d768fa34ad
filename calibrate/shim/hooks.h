/* calibrate/shim/hooks.h - every driver call that is hooked, once: exported symbol, name as
 * cuGetProcAddress knows it, the symbol of the same call with per-thread default streams ("": none).
 * The hooks have the driver's published signatures (CUDA driver API reference); no header of CUDA is
 * needed, handles are opaque pointers. */
#ifndef GPUSIM_CALIBRATE_SHIM_HOOKS_H
#define GPUSIM_CALIBRATE_SHIM_HOOKS_H

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
