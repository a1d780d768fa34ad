/* Entry points of the stand-in driver: cuGetProcAddress of both signatures, and the calls with
 * per-thread default streams, which here are the plain ones. */
#define __CUDA_API_VERSION_INTERNAL /* every exported version */
#include <cuda.h>
#include <string.h>

#undef cuGetProcAddress_v2

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *out, size_t bytes, CUstream s)
{
    return cuMemAllocAsync(out, bytes, s);
}

EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *out, size_t bytes, CUmemoryPool pool,
                                             CUstream s)
{
    return cuMemAllocFromPoolAsync(out, bytes, pool, s);
}

EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr p, CUstream s)
{
    return cuMemFreeAsync(p, s);
}

EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                    unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                    CUstream s, void **args, void **extra)
{
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, s, args, extra);
}

EXPORT CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                               unsigned bx, unsigned by, unsigned bz,
                                               unsigned shared, CUstream s, void **args)
{
    return cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, s, args);
}

EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *c, CUfunction f, void **args,
                                      void **extra)
{
    return cuLaunchKernelEx(c, f, args, extra);
}

EXPORT CUresult cuGraphLaunch_ptsz(CUgraphExec g, CUstream s)
{
    return cuGraphLaunch(g, s);
}

/* By plain name, as the runtime asks: the newest version that the stand-in has. */
static void *entry(const char *name, cuuint64_t flags)
{
    static const struct {
        const char *name;
        void *at, *ptsz; /* ptsz: of its own with per-thread streams; NULL: the same */
    } known[] = {
#define AT(name, symbol) { name, (void *)(uintptr_t)symbol, NULL }
#define AT_PTSZ(name, symbol)                                                                      \
    {                                                                                              \
        name, (void *)(uintptr_t)symbol, (void *)(uintptr_t)symbol##_ptsz                          \
    }
        AT("cuInit", cuInit),
        AT_PTSZ("cuLaunchKernel", cuLaunchKernel),
        AT_PTSZ("cuLaunchKernelEx", cuLaunchKernelEx),
        AT_PTSZ("cuLaunchCooperativeKernel", cuLaunchCooperativeKernel),
        AT_PTSZ("cuGraphLaunch", cuGraphLaunch),
        AT("cuMemAlloc", cuMemAlloc_v2),
        AT("cuMemAllocManaged", cuMemAllocManaged),
        AT("cuMemAllocPitch", cuMemAllocPitch_v2),
        AT_PTSZ("cuMemAllocAsync", cuMemAllocAsync),
        AT_PTSZ("cuMemAllocFromPoolAsync", cuMemAllocFromPoolAsync),
        AT("cuMemFree", cuMemFree_v2),
        AT_PTSZ("cuMemFreeAsync", cuMemFreeAsync),
        AT("cuMemCreate", cuMemCreate),
        AT("cuMemRelease", cuMemRelease),
        AT("cuMemRetainAllocationHandle", cuMemRetainAllocationHandle),
        AT("cuMemMap", cuMemMap),
        AT("cuMemUnmap", cuMemUnmap),
        AT("cuArrayCreate", cuArrayCreate_v2),
        AT("cuArray3DCreate", cuArray3DCreate_v2),
        AT("cuArrayDestroy", cuArrayDestroy),
        AT("cuMipmappedArrayCreate", cuMipmappedArrayCreate),
        AT("cuMipmappedArrayDestroy", cuMipmappedArrayDestroy),
        AT("cuCtxDestroy", cuCtxDestroy_v2),
        AT("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain),
        AT("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2),
        AT("cuDevicePrimaryCtxReset", cuDevicePrimaryCtxReset_v2),
        AT("cuMemGetInfo", cuMemGetInfo_v2),
        AT("cuDeviceTotalMem", cuDeviceTotalMem_v2),
        AT("cuStreamSynchronize", cuStreamSynchronize),
        AT("cuCtxSynchronize", cuCtxSynchronize),
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && known[i].ptsz
                       ? known[i].ptsz
                       : known[i].at;
    return NULL;
}

EXPORT CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags);
EXPORT CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status);

CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags)
{
    if (strcmp(name, "cuGetProcAddress") == 0)
        *out = (void *)(uintptr_t)(version >= 12000 ? (void *)(uintptr_t)cuGetProcAddress_v2
                                                    : (void *)(uintptr_t)cuGetProcAddress);
    else
        *out = entry(name, flags);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    const CUresult r = cuGetProcAddress(name, out, version, flags);
    if (status)
        *status =
            r == CUDA_SUCCESS ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}
