/* The memory quota: every call that takes card memory of its own, and every call that gives it
 * back. Host memory and memory of other processes (cuMemHostAlloc, cuIpcOpenMemHandle) is not
 * card memory of this process. */
#include "calibrate/shim/books.h"
#include "calibrate/shim/shim.h"

#include <string.h>

/* Around one allocation: reserve, call, enter or give back. What it is entered as stands in `h`. */
#define ALLOCATE(symbol, h, call, place)                                                           \
    do {                                                                                           \
        shim_count(HOOK_##symbol);                                                                 \
        if (!books_reserve((h).bytes)) return OUT_OF_MEMORY;                                       \
        const result r_ = (call);                                                                  \
        if (r_ != OK) {                                                                            \
            books_release((h).bytes);                                                              \
            return r_;                                                                             \
        }                                                                                          \
        (h).at = (place);                                                                          \
        books_enter(&(h));                                                                         \
        return OK;                                                                                 \
    } while (0)

/* Around one that frees. */
#define FREE(symbol, book, place, call)                                                            \
    do {                                                                                           \
        shim_count(HOOK_##symbol);                                                                 \
        const struct holding was_ = books_take(book, place);                                       \
        const result r_ = (call);                                                                  \
        if (r_ != OK) books_put_back(&was_);                                                       \
        return r_;                                                                                 \
    } while (0)

/* ---- pointers ----------------------------------------------------------------------------------- */

result cuMemAlloc_v2(pointer *out, size_t bytes)
{
    __typeof__(&cuMemAlloc_v2) f = REAL(cuMemAlloc_v2);
    struct holding h = { .bytes = bytes, .context = shim_context() };
    if (!f) return NOT_FOUND;
    ALLOCATE(cuMemAlloc_v2, h, f(out, bytes), *out);
}

result cuMemAllocManaged(pointer *out, size_t bytes, unsigned flags)
{
    __typeof__(&cuMemAllocManaged) f = REAL(cuMemAllocManaged);
    struct holding h = { .bytes = bytes, .context = shim_context() };
    if (!f) return NOT_FOUND;
    ALLOCATE(cuMemAllocManaged, h, f(out, bytes, flags), *out);
}

/* The pitch is the driver's to choose; rows are counted in steps of 512 bytes, its usual one. */
result cuMemAllocPitch_v2(pointer *out, size_t *pitch, size_t width, size_t height,
                          unsigned element)
{
    __typeof__(&cuMemAllocPitch_v2) f = REAL(cuMemAllocPitch_v2);
    struct holding h = { .bytes = (width + 511) / 512 * 512 * height, .context = shim_context() };
    if (!f) return NOT_FOUND;
    ALLOCATE(cuMemAllocPitch_v2, h, f(out, pitch, width, height, element), *out);
}

result cuMemFree_v2(pointer p)
{
    __typeof__(&cuMemFree_v2) f = REAL(cuMemFree_v2);
    if (!f) return NOT_FOUND;
    FREE(cuMemFree_v2, BOOK_MEMORY, p, f(p));
}

/* Memory of a pool belongs to no context, and counts while the program holds it: what a pool
 * keeps back is not seen. */
#define ALLOC_ASYNC(symbol)                                                                        \
    result symbol(pointer *out, size_t bytes, stream_handle stream)                                \
    {                                                                                              \
        __typeof__(&symbol) f = REAL(symbol);                                                      \
        struct holding h = { .bytes = bytes };                                                     \
        if (!f) return NOT_FOUND;                                                                  \
        ALLOCATE(symbol, h, f(out, bytes, stream), *out);                                          \
    }
ALLOC_ASYNC(cuMemAllocAsync)
ALLOC_ASYNC(cuMemAllocAsync_ptsz)

#define ALLOC_FROM_POOL(symbol)                                                                    \
    result symbol(pointer *out, size_t bytes, pool_handle pool, stream_handle stream)              \
    {                                                                                              \
        __typeof__(&symbol) f = REAL(symbol);                                                      \
        struct holding h = { .bytes = bytes };                                                     \
        if (!f) return NOT_FOUND;                                                                  \
        ALLOCATE(symbol, h, f(out, bytes, pool, stream), *out);                                    \
    }
ALLOC_FROM_POOL(cuMemAllocFromPoolAsync)
ALLOC_FROM_POOL(cuMemAllocFromPoolAsync_ptsz)

#define FREE_ASYNC(symbol)                                                                         \
    result symbol(pointer p, stream_handle stream)                                                 \
    {                                                                                              \
        __typeof__(&symbol) f = REAL(symbol);                                                      \
        if (!f) return NOT_FOUND;                                                                  \
        FREE(symbol, BOOK_MEMORY, p, f(p, stream));                                                \
    }
FREE_ASYNC(cuMemFreeAsync)
FREE_ASYNC(cuMemFreeAsync_ptsz)

/* ---- virtual memory management ------------------------------------------------------------------ */

enum { LOCATION_DEVICE = 1 }; /* CU_MEM_LOCATION_TYPE_DEVICE; the others are of the host */
#ifdef GPUSIM_CHECK_ABI
_Static_assert(CU_MEM_LOCATION_TYPE_DEVICE == LOCATION_DEVICE, "CUmemLocationType");
#endif

result cuMemCreate(memory_handle *out, size_t bytes, const memory_prop *prop,
                   unsigned long long flags)
{
    __typeof__(&cuMemCreate) f = REAL(cuMemCreate);
    const bool here = !prop || prop->location.type == LOCATION_DEVICE;
    struct holding h = { .bytes = here ? bytes : 0, .book = BOOK_HANDLE, .refs = 1 };
    if (!f) return NOT_FOUND;
    ALLOCATE(cuMemCreate, h, f(out, bytes, prop, flags), *out);
}

/* Dropped before the driver is told; where it refuses, the handle is no longer a valid one. */
result cuMemRelease(memory_handle handle)
{
    __typeof__(&cuMemRelease) f = REAL(cuMemRelease);
    shim_count(HOOK_cuMemRelease);
    if (!f) return NOT_FOUND;
    books_drop(handle);
    return f(handle);
}

result cuMemRetainAllocationHandle(memory_handle *out, void *at)
{
    __typeof__(&cuMemRetainAllocationHandle) f = REAL(cuMemRetainAllocationHandle);
    shim_count(HOOK_cuMemRetainAllocationHandle);
    const result r = f ? f(out, at) : NOT_FOUND;
    if (r == OK) books_retain(*out);
    return r;
}

/* A handle of another process is not in the books; one of its own may come back. */
result cuMemImportFromShareableHandle(memory_handle *out, void *os_handle, share_kind kind)
{
    __typeof__(&cuMemImportFromShareableHandle) f = REAL(cuMemImportFromShareableHandle);
    shim_count(HOOK_cuMemImportFromShareableHandle);
    const result r = f ? f(out, os_handle, kind) : NOT_FOUND;
    if (r == OK) books_retain(*out);
    return r;
}

result cuMemMap(pointer at, size_t bytes, size_t offset, memory_handle handle,
                unsigned long long flags)
{
    __typeof__(&cuMemMap) f = REAL(cuMemMap);
    shim_count(HOOK_cuMemMap);
    const result r = f ? f(at, bytes, offset, handle, flags) : NOT_FOUND;
    if (r == OK) books_map(at, handle);
    return r;
}

/* After the driver: a range stays reserved, so nobody else maps there meanwhile, but its handle
 * may be gone. */
result cuMemUnmap(pointer at, size_t bytes)
{
    __typeof__(&cuMemUnmap) f = REAL(cuMemUnmap);
    shim_count(HOOK_cuMemUnmap);
    const result r = f ? f(at, bytes) : NOT_FOUND;
    if (r == OK) books_unmap(at, bytes);
    return r;
}

/* ---- arrays ------------------------------------------------------------------------------------- */

enum { LAYERED = 1, CUBEMAP = 4, NO_MEMORY = 0x40 | 0x80 }; /* sparse, mapped later */
#ifdef GPUSIM_CHECK_ABI
_Static_assert(CUDA_ARRAY3D_LAYERED == LAYERED && CUDA_ARRAY3D_CUBEMAP == CUBEMAP &&
                   (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING) == NO_MEMORY,
               "flags of arrays");
_Static_assert(__builtin_types_compatible_p(__typeof__(&cuDevicePrimaryCtxGetState),
                                            result (*)(device, unsigned *, int *)),
               "cuDevicePrimaryCtxGetState");
#endif

/* Bits of one element of so many channels: formats of cuda.h 13.0. The planar video formats are
 * 4:2:0 or 4:2:2; a format that is not known counts 32 bits a channel. */
static uint64_t element_bits(unsigned format, unsigned channels)
{
    if (format == 0x01 || format == 0x08) return UINT64_C(8) * channels;
    if (format == 0x02 || format == 0x09 || format == 0x10) return UINT64_C(16) * channels;
    if (format == 0x91 || format == 0x92 || format == 0x97 || format == 0x98) return 4;
    if (format >= 0x93 && format <= 0x9e) return 8;                     /* BC2, 3, 5, 6H, 7 */
    if (format == 0xb0) return 12;                                      /* NV12 */
    if (format == 0x9f || format == 0xa1) return 24;                    /* P010, P016 */
    if (format == 0xa2 || format == 0xa5) return 16;                    /* NV16, YUY2 */
    if (format == 0xb2) return 24;                                      /* Y444, 8 bits */
    if (format >= 0xc0 && format <= 0xc2) return 8u << (format - 0xc0); /* 1, 2, 4 of 8 bits */
    if (format >= 0xc3 && format <= 0xc5) return 16u << (format - 0xc3);
    if (format >= 0xc6 && format <= 0xc8) return 8u << (format - 0xc6);
    if (format >= 0xc9 && format <= 0xcb) return 16u << (format - 0xc9);
    if (format == 0x50) return 32; /* 10, 10, 10, 2 */
    return 32 * (uint64_t)channels;
}

static size_t at_least_1(size_t n)
{
    return n ? n : 1;
}

/* Packed, without what the driver adds to align a row. Each level halves the one before, layers
 * and faces excepted. */
static uint64_t array_bytes(const array_3d *d, unsigned levels)
{
    if (!d) return 0; /* the driver says what it thinks of that */
    const bool layers = d->Flags & (LAYERED | CUBEMAP);
    size_t x = at_least_1(d->Width), y = at_least_1(d->Height), z = at_least_1(d->Depth);
    uint64_t bits = 0;
    if (d->Flags & NO_MEMORY) return 0;
    for (unsigned l = 0; l < levels; l++) {
        bits += (uint64_t)x * y * z * element_bits((unsigned)d->Format, d->NumChannels);
        if (x == 1 && y == 1 && (layers || z == 1)) break; /* the driver makes no more */
        x = at_least_1(x / 2);
        y = at_least_1(y / 2);
        if (!layers) z = at_least_1(z / 2);
    }
    return (bits + 7) / 8;
}

static uint64_t place_of(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

result cuArrayCreate_v2(array_handle *out, const array_2d *d)
{
    __typeof__(&cuArrayCreate_v2) f = REAL(cuArrayCreate_v2);
    array_3d flat = { .Width = 0 };
    if (d) {
        flat.Width = d->Width;
        flat.Height = d->Height;
        flat.Format = d->Format;
        flat.NumChannels = d->NumChannels;
    }
    struct holding h = { .bytes = array_bytes(d ? &flat : NULL, 1),
                         .book = BOOK_ARRAY,
                         .context = shim_context() };
    if (!f) return NOT_FOUND;
    ALLOCATE(cuArrayCreate_v2, h, f(out, d), place_of(*out));
}

result cuArray3DCreate_v2(array_handle *out, const array_3d *d)
{
    __typeof__(&cuArray3DCreate_v2) f = REAL(cuArray3DCreate_v2);
    struct holding h = { .bytes = array_bytes(d, 1),
                         .book = BOOK_ARRAY,
                         .context = shim_context() };
    if (!f) return NOT_FOUND;
    ALLOCATE(cuArray3DCreate_v2, h, f(out, d), place_of(*out));
}

result cuArrayDestroy(array_handle array)
{
    __typeof__(&cuArrayDestroy) f = REAL(cuArrayDestroy);
    if (!f) return NOT_FOUND;
    FREE(cuArrayDestroy, BOOK_ARRAY, place_of(array), f(array));
}

result cuMipmappedArrayCreate(mipmap_handle *out, const array_3d *d, unsigned levels)
{
    __typeof__(&cuMipmappedArrayCreate) f = REAL(cuMipmappedArrayCreate);
    struct holding h = { .bytes = array_bytes(d, levels),
                         .book = BOOK_ARRAY,
                         .context = shim_context() };
    if (!f) return NOT_FOUND;
    ALLOCATE(cuMipmappedArrayCreate, h, f(out, d, levels), place_of(*out));
}

result cuMipmappedArrayDestroy(mipmap_handle mipmap)
{
    __typeof__(&cuMipmappedArrayDestroy) f = REAL(cuMipmappedArrayDestroy);
    if (!f) return NOT_FOUND;
    FREE(cuMipmappedArrayDestroy, BOOK_ARRAY, place_of(mipmap), f(mipmap));
}

/* ---- contexts: what is in them ends with them ---------------------------------------------------- */

enum { DEVICES = 64 };
static context_handle primary[DEVICES]; /* of each device, when it was last retained; atomic */

static void forget(context_handle ctx)
{
    books_forget(ctx);
    compute_forget(ctx);
}

result cuCtxDestroy_v2(context_handle ctx)
{
    __typeof__(&cuCtxDestroy_v2) f = REAL(cuCtxDestroy_v2);
    shim_count(HOOK_cuCtxDestroy_v2);
    const result r = f ? f(ctx) : NOT_FOUND;
    if (r == OK) forget(ctx);
    return r;
}

result cuDevicePrimaryCtxRetain(context_handle *out, device d)
{
    __typeof__(&cuDevicePrimaryCtxRetain) f = REAL(cuDevicePrimaryCtxRetain);
    shim_count(HOOK_cuDevicePrimaryCtxRetain);
    const result r = f ? f(out, d) : NOT_FOUND;
    if (r == OK && d >= 0 && d < DEVICES) __atomic_store_n(&primary[d], *out, __ATOMIC_RELEASE);
    return r;
}

/* Others may still hold it: then it lives on. */
static void forget_primary(device d)
{
    result (*state)(device, unsigned *, int *);
    any_fn *f = shim_driver_call("cuDevicePrimaryCtxGetState");
    unsigned flags;
    int active = 1;
    memcpy(&state, &f, sizeof f);
    if (!state || d < 0 || d >= DEVICES || state(d, &flags, &active) != OK || active) return;
    forget(__atomic_exchange_n(&primary[d], NULL, __ATOMIC_ACQ_REL));
}

result cuDevicePrimaryCtxRelease_v2(device d)
{
    __typeof__(&cuDevicePrimaryCtxRelease_v2) f = REAL(cuDevicePrimaryCtxRelease_v2);
    shim_count(HOOK_cuDevicePrimaryCtxRelease_v2);
    const result r = f ? f(d) : NOT_FOUND;
    if (r == OK) forget_primary(d);
    return r;
}

result cuDevicePrimaryCtxReset_v2(device d)
{
    __typeof__(&cuDevicePrimaryCtxReset_v2) f = REAL(cuDevicePrimaryCtxReset_v2);
    shim_count(HOOK_cuDevicePrimaryCtxReset_v2);
    const result r = f ? f(d) : NOT_FOUND;
    if (r == OK) forget_primary(d);
    return r;
}

/* ---- what a program is told --------------------------------------------------------------------- */

result cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    __typeof__(&cuMemGetInfo_v2) f = REAL(cuMemGetInfo_v2);
    const uint64_t limit = shim_limit()->memory, used = books_used();
    shim_count(HOOK_cuMemGetInfo_v2);
    const result r = f ? f(free_bytes, total) : NOT_FOUND;
    if (r != OK || !limit || !total || limit >= *total) return r;
    const uint64_t left = used < limit ? limit - used : 0;
    if (free_bytes && left < *free_bytes) *free_bytes = left;
    *total = limit;
    return r;
}

result cuDeviceTotalMem_v2(size_t *total, device d)
{
    __typeof__(&cuDeviceTotalMem_v2) f = REAL(cuDeviceTotalMem_v2);
    const uint64_t limit = shim_limit()->memory;
    shim_count(HOOK_cuDeviceTotalMem_v2);
    const result r = f ? f(total, d) : NOT_FOUND;
    if (r == OK && limit && limit < *total) *total = limit;
    return r;
}
