#include "tests/standin/client.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const CUmemAllocationProp on_card = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                             .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE } };
static const CUDA_ARRAY_DESCRIPTOR flat = { 1024, 512, CU_AD_FORMAT_FLOAT, 1 };
static const CUDA_ARRAY3D_DESCRIPTOR box = { 128, 64, 64, CU_AD_FORMAT_FLOAT, 1, 0 };

/* ---- every call --------------------------------------------------------------------------------- */

/* The calls that one way needs: by which symbol it takes 2 MiB, by which it gives them back. */
enum shape { PLAIN, MANAGED, PITCH, STREAM, POOL, CREATE, ARRAY, ARRAY_3D, MIPMAP };
static const struct way {
    const char *take, *give;
    enum shape shape;
} ways[] = {
    { "cuMemAlloc_v2", "cuMemFree_v2", PLAIN },
    { "cuMemAllocManaged", "cuMemFree_v2", MANAGED },
    { "cuMemAllocPitch_v2", "cuMemFree_v2", PITCH },
    { "cuMemAllocAsync", "cuMemFreeAsync", STREAM },
    { "cuMemAllocAsync", "cuMemFree_v2", STREAM },
    { "cuMemAllocAsync_ptsz", "cuMemFreeAsync_ptsz", STREAM },
    { "cuMemAllocFromPoolAsync", "cuMemFreeAsync", POOL },
    { "cuMemAllocFromPoolAsync_ptsz", "cuMemFreeAsync_ptsz", POOL },
    { "cuMemCreate", "cuMemRelease", CREATE },
    { "cuArrayCreate_v2", "cuArrayDestroy", ARRAY },
    { "cuArray3DCreate_v2", "cuArrayDestroy", ARRAY_3D },
    { "cuMipmappedArrayCreate", "cuMipmappedArrayDestroy", MIPMAP },
};
enum { WAYS = sizeof ways / sizeof *ways, MOST = 4096 };

union call {
    void *at;
    CUresult (*plain)(void *, size_t);
    CUresult (*managed)(void *, size_t, unsigned);
    CUresult (*pitch)(void *, size_t *, size_t, size_t, unsigned);
    CUresult (*stream)(void *, size_t, CUstream);
    CUresult (*pool)(void *, size_t, CUmemoryPool, CUstream);
    CUresult (*create)(void *, size_t, const CUmemAllocationProp *, unsigned long long);
    CUresult (*array)(void *, const CUDA_ARRAY_DESCRIPTOR *);
    CUresult (*array_3d)(void *, const CUDA_ARRAY3D_DESCRIPTOR *);
    CUresult (*mipmap)(void *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned);
    CUresult (*give)(CUdeviceptr);
    CUresult (*give_stream)(CUdeviceptr, CUstream);
};

static CUresult take(enum shape shape, union call f, CUdeviceptr *out)
{
    size_t pitch;
    switch (shape) {
    case PLAIN: return f.plain(out, UNIT);
    case MANAGED: return f.managed(out, UNIT, 1);
    case PITCH: return f.pitch(out, &pitch, 4096, 512, 4);
    case STREAM: return f.stream(out, UNIT, NULL);
    case POOL: return f.pool(out, UNIT, NULL, NULL);
    case CREATE: return f.create(out, UNIT, &on_card, 0);
    case ARRAY: return f.array(out, &flat);
    case ARRAY_3D: return f.array_3d(out, &box);
    case MIPMAP: return f.mipmap(out, &box, 1);
    }
    return CUDA_ERROR_UNKNOWN;
}

static CUresult give(const char *symbol, union call f, CUdeviceptr p)
{
    return strstr(symbol, "Async") ? f.give_stream(p, NULL) : f.give(p);
}

static union call find(const char *route, const char *symbol)
{
    const union call c = { .at = call_by(route, symbol) };
    if (!c.at) need(CUDA_ERROR_NOT_FOUND, symbol);
    return c;
}

/* Units until it refuses; *why: how it refused. */
static int fill(const struct way *w, union call f, CUdeviceptr p[], CUresult *why)
{
    int n = 0;
    while (n < MOST && (*why = take(w->shape, f, &p[n])) == CUDA_SUCCESS) n++;
    return n;
}

void memory_paths(const char *route)
{
    static CUdeviceptr p[MOST];
    for (int i = 0; i < WAYS; i++) {
        const struct way *w = &ways[i];
        const union call get = find(route, w->take), put = find(route, w->give);
        CUresult why = CUDA_SUCCESS;
        printf("%s %s:", w->take, w->give);
        for (int round = 0; round < 2; round++) {
            const int n = fill(w, get, p, &why);
            printf(" %d (%d)", n, (int)why);
            for (int k = 0; k < n; k++) need(give(w->give, put, p[k]), w->give);
        }
        printf("\n");
    }
}

/* ---- threads ------------------------------------------------------------------------------------ */

static void *churn(void *seed)
{
    unsigned rng = (unsigned)(size_t)seed + 1;
    for (int i = 0; i < 600; i++) {
        rng = rng * 1664525u + 1013904223u;
        const struct way *w = &ways[(rng >> 16) % WAYS];
        CUdeviceptr p;
        if (take(w->shape, find("linked", w->take), &p) != CUDA_SUCCESS) continue;
        need(give(w->give, find("linked", w->give), p), w->give);
    }
    return NULL;
}

void memory_threads(void)
{
    static CUdeviceptr p[MOST];
    pthread_t t[8];
    CUresult why;
    for (size_t i = 0; i < 8; i++) pthread_create(&t[i], NULL, churn, (void *)i);
    for (size_t i = 0; i < 8; i++) pthread_join(t[i], NULL);
    printf("units %d\n", fill(&ways[0], find("linked", ways[0].take), p, &why));
}

/* ---- handles and mappings ----------------------------------------------------------------------- */

static size_t used(void)
{
    static size_t first;
    size_t free_bytes, total;
    need(cuMemGetInfo_v2(&free_bytes, &total), "info");
    if (!first) first = free_bytes;
    return first - free_bytes;
}

/* In units: created, mapped, released with the mapping left, unmapped; retained twice; two
 * mappings of one; of the host. */
void memory_handles(void)
{
    const CUdeviceptr at = 1ull << 40;
    const CUmemAllocationProp of_host = { .location = { .type = CU_MEM_LOCATION_TYPE_HOST } };
    CUmemGenericAllocationHandle h, again;
    used();
    need(cuMemCreate(&h, 3 * UNIT, &on_card, 0), "create");
    printf("created %zu", used() / UNIT);
    need(cuMemMap(at, 3 * UNIT, 0, h, 0), "map");
    need(cuMemRelease(h), "release");
    printf(" released %zu", used() / UNIT);
    need(cuMemRetainAllocationHandle(&again, (void *)(size_t)at), "retain");
    need(cuMemUnmap(at, 3 * UNIT), "unmap");
    printf(" retained %zu", used() / UNIT);
    need(cuMemRelease(again), "release");
    printf(" gone %zu\n", used() / UNIT);
    need(cuMemCreate(&h, 2 * UNIT, &on_card, 0), "create");
    need(cuMemMap(at, UNIT, 0, h, 0), "map");
    need(cuMemMap(at + UNIT, UNIT, UNIT, h, 0), "map");
    need(cuMemRelease(h), "release");
    need(cuMemUnmap(at, UNIT), "unmap");
    printf("half %zu", used() / UNIT);
    need(cuMemUnmap(at + UNIT, UNIT), "unmap");
    printf(" none %zu", used() / UNIT);
    need(cuMemCreate(&h, 5 * UNIT, &of_host, 0), "create");
    printf(" host %zu\n", used() / UNIT);
    need(cuMemRelease(h), "release");
}

/* ---- arrays: bytes ------------------------------------------------------------------------------ */

void memory_arrays(void)
{
    static const struct {
        CUDA_ARRAY3D_DESCRIPTOR d;
        unsigned levels; /* 0: no mipmap */
    } c[] = {
        { { 100, 30, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0 }, 0 },
        { { 100, 30, 7, CU_AD_FORMAT_HALF, 2, 0 }, 0 },
        { { 1000, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0 }, 0 },
        { { 64, 64, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0 }, 0 },
        { { 64, 64, 0, CU_AD_FORMAT_BC7_UNORM, 4, 0 }, 0 },
        { { 64, 64, 0, CU_AD_FORMAT_NV12, 3, 0 }, 0 },
        { { 64, 64, 0, CU_AD_FORMAT_UNORM_INT16X4, 4, 0 }, 0 },
        { { 64, 64, 64, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE }, 0 },
        { { 8, 4, 2, CU_AD_FORMAT_FLOAT, 1, 0 }, 9 },
        { { 8, 4, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP }, 2 },
    };
    used();
    printf("bytes");
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        CUarray a = NULL;
        CUmipmappedArray m = NULL;
        need(c[i].levels ? cuMipmappedArrayCreate(&m, &c[i].d, c[i].levels)
                         : cuArray3DCreate_v2(&a, &c[i].d),
             "array");
        printf(" %zu", used());
        need(m ? cuMipmappedArrayDestroy(m) : cuArrayDestroy(a), "destroy");
    }
    printf(" left %zu\n", used());
}

/* ---- contexts ----------------------------------------------------------------------------------- */

/* What was allocated in a context is gone with it; handles and stream-ordered memory are not the
 * context's. */
void memory_contexts(void)
{
    CUdeviceptr p, async;
    CUmemGenericAllocationHandle h;
    CUcontext ctx, again;
    CUarray a;
    used();
    need(cuMemCreate(&h, UNIT, &on_card, 0), "create");
    need(cuMemAllocAsync(&async, UNIT, NULL), "async");
    need(cuMemAlloc_v2(&p, UNIT), "alloc");
    need(cuArrayCreate_v2(&a, &flat), "array");
    printf("four %zu", used() / UNIT);
    need(cuCtxGetCurrent(&ctx), "context");
    need(cuCtxDestroy_v2(ctx), "destroy");
    printf(" after %zu", used() / UNIT);
    need(cuDevicePrimaryCtxRetain(&ctx, 0), "retain");
    need(cuDevicePrimaryCtxRetain(&again, 0), "retain");
    need(cuMemAlloc_v2(&p, UNIT), "alloc");
    need(cuDevicePrimaryCtxRelease_v2(0), "release");
    printf(" held %zu", used() / UNIT);
    need(cuDevicePrimaryCtxRelease_v2(0), "release");
    printf(" released %zu", used() / UNIT);
    need(cuDevicePrimaryCtxRetain(&ctx, 0), "retain");
    need(cuMemAlloc_v2(&p, UNIT), "alloc");
    need(cuDevicePrimaryCtxReset_v2(0), "reset");
    printf(" reset %zu\n", used() / UNIT);
}
