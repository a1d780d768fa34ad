/* calibrate/shim/intercept.c - see README.md beside it. Built apart, as a shared library without any
 * dependency but libc; nothing of gpusim is linked in.
 *
 * Threads: hooks may be called from any thread. Counters are atomic; books and bucket have a mutex each.
 * The two mutexes are never held together. */
#include "calibrate/shim/hooks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, OUT_OF_MEMORY = 2, NOT_FOUND = 500 };
enum { PER_THREAD_STREAM = 2, RELAXED = 2 }; /* of cuGetProcAddress; CUstreamCaptureMode */

typedef void any_fn(void);

enum hook {
#define X(symbol, plain, ptsz) HOOK_##symbol,
    HOOK_MAP(X)
#undef X
        HOOKS
};

static const struct {
    const char *symbol, *plain, *ptsz;
} hook_names[HOOKS] = {
#define X(symbol, plain, ptsz) { #symbol, plain, ptsz },
    HOOK_MAP(X)
#undef X
};

static any_fn *real[HOOKS];          /* the driver's own; atomic */
static unsigned long counted[HOOKS]; /* calls that reached the hook; atomic */
static any_fn *hook_of(int h);

/* ---- the real dlsym and the driver's calls ------------------------------------------------------- */

typedef void *dlsym_fn(void *, const char *);

/* Our own dlsym hides it; dlvsym is not hooked. The version names are those of glibc's ports. */
static dlsym_fn *real_dlsym(void)
{
    static dlsym_fn *found;
    static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };
    dlsym_fn *f = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    for (size_t i = 0; !f && i < sizeof versions / sizeof *versions; i++) {
        void *p = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        memcpy(&f, &p, sizeof f);
    }
    __atomic_store_n(&found, f, __ATOMIC_RELEASE);
    return f;
}

static any_fn *lookup(void *handle, const char *name)
{
    dlsym_fn *sym = real_dlsym();
    void *p = sym ? sym(handle, name) : NULL;
    any_fn *f;
    memcpy(&f, &p, sizeof f);
    return f;
}

/* A driver call that is not hooked, or one whose caller never asked for it by name. */
static any_fn *driver_call(const char *name)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    any_fn *f = lib ? lookup(lib, name) : NULL;
    if (lib) dlclose(lib); /* whoever loaded it holds it */
    return f ? f : lookup(RTLD_NEXT, name);
}

static any_fn *real_of(enum hook h)
{
    any_fn *f = __atomic_load_n(&real[h], __ATOMIC_ACQUIRE);
    if (f) return f;
    f = driver_call(hook_names[h].symbol);
    __atomic_store_n(&real[h], f, __ATOMIC_RELEASE);
    return f;
}

static void remember(int h, any_fn *f)
{
    __atomic_store_n(&real[h], f, __ATOMIC_RELEASE);
}

static int find_symbol(const char *name)
{
    for (int h = 0; h < HOOKS; h++)
        if (strcmp(name, hook_names[h].symbol) == 0) return h;
    return -1;
}

static void count(enum hook h)
{
    __atomic_fetch_add(&counted[h], 1, __ATOMIC_RELAXED);
}

/* Calls of one symbol that reached the hook; calibrate and the tests ask. */
EXPORT unsigned long gpusim_intercept_count(const char *symbol);
unsigned long gpusim_intercept_count(const char *symbol)
{
    const int h = find_symbol(symbol);
    return h < 0 ? 0 : __atomic_load_n(&counted[h], __ATOMIC_RELAXED);
}

static void *dlsym_hooked(int h, void *handle, const char *name)
{
    any_fn *f = lookup(handle, name), *hook = hook_of(h);
    void *p = NULL;
    if (!f) return NULL; /* hooked only where it exists */
    if (f != hook) remember(h, f);
    memcpy(&p, &hook, sizeof p);
    return p;
}

/* For every other name the call is handed on as a jump, so that RTLD_NEXT still means "after the caller":
 * glibc takes the caller from the return address. This file is built with -O2 for that. */
EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    const int h = name[0] == 'c' && name[1] == 'u' ? find_symbol(name) : -1;
    if (h >= 0) return dlsym_hooked(h, handle, name);
    return real_dlsym()(handle, name);
}

/* ---- settings ----------------------------------------------------------------------------------- */

static struct {
    uint64_t memory; /* bytes; 0: no limit */
    double core;     /* share; 0: no limit */
    uint64_t delay_ns;
} limit;

static uint64_t bytes_of(const char *text)
{
    char *end;
    const uint64_t n = strtoull(text, &end, 10);
    switch (*end) {
    case 'k': return n << 10;
    case 'm': return n << 20;
    case 'g': return n << 30;
    }
    return n;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- memory ------------------------------------------------------------------------------------- */

struct holding {
    uint64_t at, bytes; /* at 0: free; at 1: was taken once */
};

static struct {
    pthread_mutex_t lock;
    struct holding *slot;
    size_t n, cap; /* n: taken or once taken; cap: a power of two */
    uint64_t used;
} books = { .lock = PTHREAD_MUTEX_INITIALIZER };

static size_t place_of(uint64_t at)
{
    return (size_t)((at >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static bool grow(void)
{
    const size_t cap = books.cap ? 2 * books.cap : 256;
    struct holding *slot = calloc(cap, sizeof *slot);
    if (!slot) return false;
    size_t n = 0;
    for (size_t i = 0; i < books.cap; i++) {
        if (books.slot[i].at <= 1) continue;
        size_t k = place_of(books.slot[i].at) & (cap - 1);
        while (slot[k].at) k = (k + 1) & (cap - 1);
        slot[k] = books.slot[i];
        n++;
    }
    free(books.slot);
    books.slot = slot;
    books.cap = cap;
    books.n = n;
    return true;
}

/* Bytes are reserved before the driver is asked, so that two threads cannot both take the last ones. */
static bool reserve(uint64_t bytes)
{
    pthread_mutex_lock(&books.lock);
    const bool fits = !limit.memory || bytes <= limit.memory - books.used;
    if (fits) books.used += bytes;
    pthread_mutex_unlock(&books.lock);
    return fits;
}

static void release(uint64_t bytes)
{
    pthread_mutex_lock(&books.lock);
    books.used -= bytes < books.used ? bytes : books.used;
    pthread_mutex_unlock(&books.lock);
}

static void enter(uint64_t at, uint64_t bytes)
{
    pthread_mutex_lock(&books.lock);
    if (2 * (books.n + 1) < books.cap || grow()) {
        size_t k = place_of(at) & (books.cap - 1);
        while (books.slot[k].at > 1) k = (k + 1) & (books.cap - 1);
        if (!books.slot[k].at) books.n++;
        books.slot[k] = (struct holding){ at, bytes };
    }
    pthread_mutex_unlock(&books.lock);
}

static void leave(uint64_t at)
{
    pthread_mutex_lock(&books.lock);
    size_t k = books.cap ? place_of(at) & (books.cap - 1) : 0;
    while (books.cap && books.slot[k].at && books.slot[k].at != at) k = (k + 1) & (books.cap - 1);
    if (books.cap && at > 1 && books.slot[k].at == at) {
        books.used -= books.slot[k].bytes;
        books.slot[k] = (struct holding){ .at = 1 };
    }
    pthread_mutex_unlock(&books.lock);
}

/* Around one allocation: reserve, call, enter or give back. */
#define ALLOCATE(h, out, bytes, call)                                                              \
    do {                                                                                           \
        count(h);                                                                                  \
        if (!reserve(bytes)) return OUT_OF_MEMORY;                                                 \
        const result r_ = (call);                                                                  \
        if (r_ == OK)                                                                              \
            enter(*(out), (bytes));                                                                \
        else                                                                                       \
            release(bytes);                                                                        \
        return r_;                                                                                 \
    } while (0)

#define REAL(h, type) ((type *)real_of(h))

typedef result alloc_fn(pointer *, size_t);
EXPORT result cuMemAlloc_v2(pointer *out, size_t bytes);
result cuMemAlloc_v2(pointer *out, size_t bytes)
{
    alloc_fn *f = REAL(HOOK_cuMemAlloc_v2, alloc_fn);
    if (!f) return NOT_FOUND;
    ALLOCATE(HOOK_cuMemAlloc_v2, out, bytes, f(out, bytes));
}

typedef result alloc_managed_fn(pointer *, size_t, unsigned);
EXPORT result cuMemAllocManaged(pointer *out, size_t bytes, unsigned flags);
result cuMemAllocManaged(pointer *out, size_t bytes, unsigned flags)
{
    alloc_managed_fn *f = REAL(HOOK_cuMemAllocManaged, alloc_managed_fn);
    if (!f) return NOT_FOUND;
    ALLOCATE(HOOK_cuMemAllocManaged, out, bytes, f(out, bytes, flags));
}

/* The pitch is the driver's to choose; rows are counted in steps of 512 bytes, its usual one. */
typedef result alloc_pitch_fn(pointer *, size_t *, size_t, size_t, unsigned);
EXPORT result cuMemAllocPitch_v2(pointer *out, size_t *pitch, size_t width, size_t height,
                                 unsigned element);
result cuMemAllocPitch_v2(pointer *out, size_t *pitch, size_t width, size_t height,
                          unsigned element)
{
    alloc_pitch_fn *f = REAL(HOOK_cuMemAllocPitch_v2, alloc_pitch_fn);
    const uint64_t bytes = (width + 511) / 512 * 512 * height;
    if (!f) return NOT_FOUND;
    ALLOCATE(HOOK_cuMemAllocPitch_v2, out, bytes, f(out, pitch, width, height, element));
}

typedef result alloc_async_fn(pointer *, size_t, stream_handle);
#define ALLOC_ASYNC(symbol)                                                                        \
    EXPORT result symbol(pointer *out, size_t bytes, stream_handle stream);                        \
    result symbol(pointer *out, size_t bytes, stream_handle stream)                                \
    {                                                                                              \
        alloc_async_fn *f = REAL(HOOK_##symbol, alloc_async_fn);                                   \
        if (!f) return NOT_FOUND;                                                                  \
        ALLOCATE(HOOK_##symbol, out, bytes, f(out, bytes, stream));                                \
    }
ALLOC_ASYNC(cuMemAllocAsync)
ALLOC_ASYNC(cuMemAllocAsync_ptsz)

/* Taken off the books before the driver frees: afterwards another thread may get the same address. */
typedef result free_fn(pointer);
EXPORT result cuMemFree_v2(pointer p);
result cuMemFree_v2(pointer p)
{
    free_fn *f = REAL(HOOK_cuMemFree_v2, free_fn);
    count(HOOK_cuMemFree_v2);
    if (!f) return NOT_FOUND;
    leave(p);
    return f(p);
}

typedef result free_async_fn(pointer, stream_handle);
#define FREE_ASYNC(symbol)                                                                         \
    EXPORT result symbol(pointer p, stream_handle stream);                                         \
    result symbol(pointer p, stream_handle stream)                                                 \
    {                                                                                              \
        free_async_fn *f = REAL(HOOK_##symbol, free_async_fn);                                     \
        count(HOOK_##symbol);                                                                      \
        if (!f) return NOT_FOUND;                                                                  \
        leave(p);                                                                                  \
        return f(p, stream);                                                                       \
    }
FREE_ASYNC(cuMemFreeAsync)
FREE_ASYNC(cuMemFreeAsync_ptsz)

typedef result info_fn(size_t *, size_t *);
EXPORT result cuMemGetInfo_v2(size_t *free_bytes, size_t *total);
result cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    info_fn *f = REAL(HOOK_cuMemGetInfo_v2, info_fn);
    count(HOOK_cuMemGetInfo_v2);
    const result r = f ? f(free_bytes, total) : NOT_FOUND;
    if (r != OK || !limit.memory || limit.memory >= *total) return r;
    pthread_mutex_lock(&books.lock);
    const uint64_t left = limit.memory - books.used;
    pthread_mutex_unlock(&books.lock);
    if (left < *free_bytes) *free_bytes = left;
    *total = limit.memory;
    return r;
}

typedef result total_fn(size_t *, device);
EXPORT result cuDeviceTotalMem_v2(size_t *total, device d);
result cuDeviceTotalMem_v2(size_t *total, device d)
{
    total_fn *f = REAL(HOOK_cuDeviceTotalMem_v2, total_fn);
    count(HOOK_cuDeviceTotalMem_v2);
    const result r = f ? f(total, d) : NOT_FOUND;
    if (r == OK && limit.memory && limit.memory < *total) *total = limit.memory;
    return r;
}

/* ---- compute ------------------------------------------------------------------------------------ */

enum { BATCH_LAUNCHES = 64 };
static const uint64_t batch_ns = 5000000, burst_ns = 100000000;

static struct {
    pthread_mutex_t lock;
    bool ready, usable; /* events exist; the driver has all that is needed */
    result (*event_create)(event_handle *, unsigned);
    result (*event_record)(event_handle, stream_handle);
    result (*event_sync)(event_handle);
    result (*event_elapsed)(float *, event_handle, event_handle);
    result (*capturing)(stream_handle, capture_status *);
    result (*exchange_mode)(capture_mode *); /* may be missing */
    event_handle from, to;
    double tokens; /* ns of kernel time; negative: debt */
    uint64_t filled_ns, begun_ns;
    unsigned launches; /* in the batch; 0: none is open */
    stream_handle stream;
} bucket = { .lock = PTHREAD_MUTEX_INITIALIZER };

#ifdef GPUSIM_CHECK_ABI
#define SAME(member, symbol)                                                                       \
    _Static_assert(__builtin_types_compatible_p(__typeof__(bucket.member), __typeof__(&symbol)),   \
                   #symbol)
SAME(event_create, cuEventCreate);
SAME(event_record, cuEventRecord);
SAME(event_sync, cuEventSynchronize);
SAME(event_elapsed, cuEventElapsedTime);
SAME(capturing, cuStreamIsCapturing);
SAME(exchange_mode, cuThreadExchangeStreamCaptureMode);
_Static_assert(CUDA_SUCCESS == OK && CUDA_ERROR_OUT_OF_MEMORY == OUT_OF_MEMORY &&
                   CUDA_ERROR_NOT_FOUND == NOT_FOUND,
               "CUresult");
_Static_assert(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM == PER_THREAD_STREAM, "flag");
_Static_assert(CU_STREAM_CAPTURE_MODE_RELAXED == RELAXED, "CUstreamCaptureMode");
#endif

static void bucket_open(void)
{
    any_fn *f[6] = {
        driver_call("cuEventCreate"),       driver_call("cuEventRecord"),
        driver_call("cuEventSynchronize"),  driver_call("cuEventElapsedTime"),
        driver_call("cuStreamIsCapturing"), driver_call("cuThreadExchangeStreamCaptureMode")
    };
    memcpy(&bucket.event_create, &f[0], sizeof f[0]);
    memcpy(&bucket.event_record, &f[1], sizeof f[1]);
    memcpy(&bucket.event_sync, &f[2], sizeof f[2]);
    memcpy(&bucket.event_elapsed, &f[3], sizeof f[3]);
    memcpy(&bucket.capturing, &f[4], sizeof f[4]);
    memcpy(&bucket.exchange_mode, &f[5], sizeof f[5]);
    bucket.ready = true;
    bucket.usable = f[0] && f[1] && f[2] && f[3] && bucket.event_create(&bucket.from, 0) == OK &&
                    bucket.event_create(&bucket.to, 0) == OK;
    bucket.filled_ns = now_ns();
    bucket.tokens = limit.core * (double)burst_ns;
}

static void fill(void)
{
    const uint64_t now = now_ns();
    const double most = limit.core * (double)burst_ns;
    bucket.tokens += limit.core * (double)(now - bucket.filled_ns);
    bucket.filled_ns = now;
    if (bucket.tokens > most) bucket.tokens = most;
}

/* The batch pays for the time that it took on the card. */
static void settle(void)
{
    float ms = 0;
    bucket.launches = 0;
    if (bucket.event_record(bucket.to, bucket.stream) == OK && bucket.event_sync(bucket.to) == OK &&
        bucket.event_elapsed(&ms, bucket.from, bucket.to) == OK)
        bucket.tokens -= 1e6 * (double)ms;
}

static void wait_for_tokens(void)
{
    for (fill(); bucket.tokens < 0; fill()) {
        const double ns = -bucket.tokens / limit.core + 1000;
        const struct timespec t = { (time_t)(ns / 1e9),
                                    (long)(ns - 1e9 * (double)(time_t)(ns / 1e9)) };
        nanosleep(&t, NULL);
    }
}

/* Before a launch on a stream. A stream that is being captured runs nothing: its graph pays later. While any
 * thread captures, the driver forbids waiting for events to all that have not said that they know what they do. */
static void pay(stream_handle stream)
{
    capture_status captured = 0;
    capture_mode mode = RELAXED;
    if (limit.core <= 0) return;
    pthread_mutex_lock(&bucket.lock);
    if (!bucket.ready) bucket_open();
    if (bucket.exchange_mode) bucket.exchange_mode(&mode);
    if (bucket.usable && bucket.capturing) bucket.capturing(stream, &captured);
    if (bucket.usable && !captured) {
        if (bucket.launches &&
            (bucket.launches >= BATCH_LAUNCHES || now_ns() - bucket.begun_ns >= batch_ns))
            settle();
        if (!bucket.launches) {
            wait_for_tokens();
            bucket.begun_ns = now_ns();
            bucket.stream = stream;
            bucket.event_record(bucket.from, stream);
        }
        bucket.launches++;
    }
    if (bucket.exchange_mode) bucket.exchange_mode(&mode); /* the thread's own again */
    pthread_mutex_unlock(&bucket.lock);
}

/* No stream is the legacy default stream to a plain call and the thread's own to one of the _ptsz kind; events
 * are recorded by plain calls. */
static stream_handle plain(stream_handle stream, const char *symbol)
{
    const uintptr_t per_thread = 2; /* CU_STREAM_PER_THREAD */
    const size_t n = strlen(symbol);
    if (stream || strcmp(symbol + n - 5, "_ptsz") != 0) return stream;
    return (stream_handle)per_thread;
}

static void before_launch(enum hook h, stream_handle stream)
{
    count(h);
    if (limit.delay_ns)
        for (const uint64_t end = now_ns() + limit.delay_ns; now_ns() < end;) continue;
    pay(stream);
}

typedef result launch_fn(function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, stream_handle, void **, void **);
#define LAUNCH(symbol)                                                                             \
    EXPORT result symbol(function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,           \
                         unsigned by, unsigned bz, unsigned shared, stream_handle stream,          \
                         void **args, void **extra);                                               \
    result symbol(function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,     \
                  unsigned bz, unsigned shared, stream_handle stream, void **args, void **extra)   \
    {                                                                                              \
        launch_fn *call = REAL(HOOK_##symbol, launch_fn);                                          \
        before_launch(HOOK_##symbol, plain(stream, #symbol));                                      \
        return call ? call(f, gx, gy, gz, bx, by, bz, shared, stream, args, extra) : NOT_FOUND;    \
    }
LAUNCH(cuLaunchKernel)
LAUNCH(cuLaunchKernel_ptsz)

typedef result launch_cooperative_fn(function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, unsigned, stream_handle, void **);
#define LAUNCH_COOPERATIVE(symbol)                                                                 \
    EXPORT result symbol(function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,           \
                         unsigned by, unsigned bz, unsigned shared, stream_handle stream,          \
                         void **args);                                                             \
    result symbol(function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,     \
                  unsigned bz, unsigned shared, stream_handle stream, void **args)                 \
    {                                                                                              \
        launch_cooperative_fn *call = REAL(HOOK_##symbol, launch_cooperative_fn);                  \
        before_launch(HOOK_##symbol, plain(stream, #symbol));                                      \
        return call ? call(f, gx, gy, gz, bx, by, bz, shared, stream, args) : NOT_FOUND;           \
    }
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

typedef result launch_ex_fn(const launch_config *, function, void **, void **);
#define LAUNCH_EX(symbol)                                                                          \
    EXPORT result symbol(const launch_config *c, function f, void **args, void **extra);           \
    result symbol(const launch_config *c, function f, void **args, void **extra)                   \
    {                                                                                              \
        launch_ex_fn *call = REAL(HOOK_##symbol, launch_ex_fn);                                    \
        before_launch(HOOK_##symbol, plain(c->hStream, #symbol));                                  \
        return call ? call(c, f, args, extra) : NOT_FOUND;                                         \
    }
LAUNCH_EX(cuLaunchKernelEx)
LAUNCH_EX(cuLaunchKernelEx_ptsz)

typedef result graph_launch_fn(graph_handle, stream_handle);
#define GRAPH_LAUNCH(symbol)                                                                       \
    EXPORT result symbol(graph_handle graph, stream_handle stream);                                \
    result symbol(graph_handle graph, stream_handle stream)                                        \
    {                                                                                              \
        graph_launch_fn *call = REAL(HOOK_##symbol, graph_launch_fn);                              \
        before_launch(HOOK_##symbol, plain(stream, #symbol));                                      \
        return call ? call(graph, stream) : NOT_FOUND;                                             \
    }
GRAPH_LAUNCH(cuGraphLaunch)
GRAPH_LAUNCH(cuGraphLaunch_ptsz)

/* ---- cuGetProcAddress ---------------------------------------------------------------------------- */

/* The hook that stands for what the driver returned under this plain name; -1: not hooked. */
static int find_plain(const char *name, uint64_t flags)
{
    for (int h = 0; h < HOOKS; h++) {
        if (!hook_names[h].plain[0] || strcmp(name, hook_names[h].plain) != 0) continue;
        return flags & PER_THREAD_STREAM && hook_names[h].ptsz[0] ? find_symbol(hook_names[h].ptsz)
                                                                  : h;
    }
    return -1;
}

/* cuGetProcAddress asked for itself: from CUDA 12 on it has a fifth argument. Allocation sizes have 64
 * bits since CUDA 3.2; older versions of a call pass unhooked. */
static void replace(const char *name, void **out, int version, uint64_t flags)
{
    int h = find_plain(name, flags);
    any_fn *f, *hook;
    if (h < 0 || !out || !*out || version < 3020) return;
    if (h == HOOK_cuGetProcAddress && version >= 12000) h = HOOK_cuGetProcAddress_v2;
    hook = hook_of(h);
    memcpy(&f, out, sizeof f);
    if (f != hook) remember(h, f);
    memcpy(out, &hook, sizeof hook);
}

typedef result proc_fn(const char *, void **, int, uint64_t);
EXPORT result cuGetProcAddress(const char *name, void **out, int version, uint64_t flags);
result cuGetProcAddress(const char *name, void **out, int version, uint64_t flags)
{
    proc_fn *f = REAL(HOOK_cuGetProcAddress, proc_fn);
    count(HOOK_cuGetProcAddress);
    const result r = f ? f(name, out, version, flags) : NOT_FOUND;
    if (r == OK) replace(name, out, version, flags);
    return r;
}

typedef result proc_v2_fn(const char *, void **, int, uint64_t, proc_status *);
EXPORT result cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                                  proc_status *status);
result cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                           proc_status *status)
{
    proc_v2_fn *f = REAL(HOOK_cuGetProcAddress_v2, proc_v2_fn);
    count(HOOK_cuGetProcAddress_v2);
    const result r = f ? f(name, out, version, flags, status) : NOT_FOUND;
    if (r == OK) replace(name, out, version, flags);
    return r;
}

static any_fn *hook_of(int h)
{
    static any_fn *const hooks[HOOKS] = {
#define X(symbol, plain, ptsz) (any_fn *)symbol,
        HOOK_MAP(X)
#undef X
    };
    return hooks[h];
}

/* ---- life --------------------------------------------------------------------------------------- */

/* No lock may stay taken by a thread that the child does not have. */
static void before_fork(void)
{
    pthread_mutex_lock(&bucket.lock);
    pthread_mutex_lock(&books.lock);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&books.lock);
    pthread_mutex_unlock(&bucket.lock);
}

static void after_fork_child(void)
{
    free(books.slot);
    books.slot = NULL;
    books.n = books.cap = 0;
    books.used = 0;
    bucket.ready = false;
    bucket.launches = 0;
    for (int h = 0; h < HOOKS; h++) counted[h] = 0;
    after_fork_parent();
}

/* For tests: a start that takes so long, one process at a time. */
static void slow_start(const char *path, uint64_t ns)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return;
    if (flock(fd, LOCK_EX) == 0) {
        const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
        nanosleep(&t, NULL);
    }
    close(fd); /* and the lock goes */
}

__attribute__((constructor)) static void start(void)
{
    const char *lock = getenv("GPUSIM_INTERCEPT_START_LOCK");
    const char *start_ns = getenv("GPUSIM_INTERCEPT_START_NS");
    const char *memory = getenv("GPUSIM_MEMORY_LIMIT"), *core = getenv("GPUSIM_CORE_LIMIT");
    const char *delay = getenv("GPUSIM_INTERCEPT_DELAY_NS");
    const double percent = core ? strtod(core, NULL) : 0;
    limit.memory = memory ? bytes_of(memory) : 0;
    limit.core = percent > 0 && percent < 100 ? percent / 100 : 0;
    limit.delay_ns = delay ? strtoull(delay, NULL, 10) : 0;
    if (lock && start_ns) slow_start(lock, strtoull(start_ns, NULL, 10));
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
