/* The stand-in's other kinds of memory: handles and mappings, pools, arrays, and the primary
 * context that holds some. */
#include "tests/standin/card.h"

#define __CUDA_API_VERSION_INTERNAL /* every exported version */
#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- virtual memory management ------------------------------------------------------------------ */

/* A handle is released as often as it was created or retained; its memory goes with the last
 * mapping. */
struct physical {
    size_t bytes;
    bool on_card;
    unsigned refs, maps;
};

enum { MAPPINGS = 256 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    CUdeviceptr at;
    size_t bytes;
    struct physical *of;
} mapping[MAPPINGS];

static struct physical *physical_of(CUmemGenericAllocationHandle h)
{
    return (struct physical *)(uintptr_t)h;
}

static void drop(struct physical *p)
{
    if (p->refs || p->maps) return;
    if (p->on_card) card_take(-(int64_t)p->bytes);
    free(p);
}

EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
                            const CUmemAllocationProp *prop, unsigned long long flags)
{
    (void)flags;
    const bool on_card = prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    struct physical *p = malloc(sizeof *p);
    if (!p || (on_card && !card_take((int64_t)bytes))) {
        free(p);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *p = (struct physical){ bytes, on_card, 1, 0 };
    *out = (CUmemGenericAllocationHandle)(uintptr_t)p;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle h)
{
    pthread_mutex_lock(&lock);
    physical_of(h)->refs--;
    drop(physical_of(h));
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *at)
{
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAPPINGS; i++)
        if (mapping[i].of && mapping[i].at == (CUdeviceptr)(uintptr_t)at) {
            mapping[i].of->refs++;
            *out = (CUmemGenericAllocationHandle)(uintptr_t)mapping[i].of;
            r = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return r;
}

EXPORT CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset,
                         CUmemGenericAllocationHandle h, unsigned long long flags)
{
    (void)offset;
    (void)flags;
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAPPINGS && r != CUDA_SUCCESS; i++)
        if (!mapping[i].of) {
            mapping[i].at = at;
            mapping[i].bytes = bytes;
            mapping[i].of = physical_of(h);
            mapping[i].of->maps++;
            r = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return r;
}

EXPORT CUresult cuMemUnmap(CUdeviceptr at, size_t bytes)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAPPINGS; i++) {
        struct physical *p = mapping[i].of;
        if (!p || mapping[i].at < at || mapping[i].at - at >= bytes) continue;
        mapping[i].of = NULL;
        p->maps--;
        drop(p);
    }
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* ---- pools and arrays --------------------------------------------------------------------------- */

EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool,
                                        CUstream s)
{
    (void)pool;
    return cuMemAllocAsync(out, bytes, s);
}

/* Whatever the shape: the address of a block of the card, one byte an element, is the handle. */
static CUresult block_for(size_t width, size_t height, size_t depth, void *out)
{
    CUdeviceptr p = 0;
    const CUresult r = cuMemAlloc_v2(&p, width * (height ? height : 1) * (depth ? depth : 1));
    *(void **)out = (void *)(uintptr_t)p;
    return r;
}

EXPORT CUresult cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d)
{
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    return block_for(d->Width, d->Height, 1, out);
}

EXPORT CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    return block_for(d->Width, d->Height, d->Depth, out);
}

EXPORT CUresult cuArrayDestroy(CUarray a)
{
    return cuMemFree_v2((CUdeviceptr)(uintptr_t)a);
}

EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *d,
                                       unsigned levels)
{
    (void)levels;
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    return block_for(d->Width, d->Height, d->Depth, out);
}

EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray a)
{
    return cuMemFree_v2((CUdeviceptr)(uintptr_t)a);
}

/* ---- the primary context ------------------------------------------------------------------------ */

static unsigned retained;
static CUcontext primary;

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice d)
{
    if (!retained) {
        const CUresult r = cuCtxCreate_v2(&primary, 0, d);
        if (r != CUDA_SUCCESS) return r;
        card_spin_us(1e3 * card_plan()->primary_more_ms);
    }
    retained++;
    *out = primary;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d)
{
    (void)d;
    if (!retained) return CUDA_ERROR_INVALID_CONTEXT;
    return --retained ? CUDA_SUCCESS : cuCtxDestroy_v2(primary);
}

EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice d)
{
    (void)d;
    if (!retained) return CUDA_SUCCESS;
    retained = 0;
    return cuCtxDestroy_v2(primary);
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned *flags, int *active)
{
    (void)d;
    *flags = 0;
    *active = retained > 0;
    return CUDA_SUCCESS;
}
