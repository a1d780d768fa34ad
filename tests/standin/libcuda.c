/* The driver API of the virtual card: what calibrate and the interception tests call. Streams of a
 * context are one queue. Signatures are those of cuda.h; names are the exported symbols. */
#include "tests/standin/card.h"

#define __CUDA_API_VERSION_INTERNAL /* every exported version: the compiler holds each against its prototype */
#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#undef cuGetProcAddress_v2

/* cuda.h maps plain names to versioned ones by macros; here each symbol is spelt out. */
#define EXPORT __attribute__((visibility("default")))

enum kernel { EMPTY, FILL, TRIAD, CHECK, SPIN, COMPUTE, READ, LOG, KERNELS };
static const char *const names[KERNELS] = { "cal_empty", "cal_fill",    "cal_triad", "cal_check",
                                            "cal_spin",  "cal_compute", "cal_read",  "cal_log" };

struct block {
    struct block *next;
    char *at;
    size_t bytes, taken; /* taken from the card: whole units */
    bool pooled;         /* of no context */
};

struct event {
    uint64_t item;
};

struct graph {
    unsigned nodes;
};

/* A log that is queued and not yet in the buffer of its caller. */
struct pending {
    uint64_t item;
    uint64_t *out;
    size_t cap;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static int context = -1; /* one for each process */
static struct pending pending;
static unsigned capturing; /* 1 + nodes seen */
static bool filled;

/* Exported for the stand-in of cuBLASLt and for tests. */
EXPORT void standin_queue(double seconds);
EXPORT unsigned long standin_launches(void);
static unsigned long launches;

/* Whether a library after this one has the same symbol: none has. A preloaded dlsym that lets glibc
 * take itself for the caller finds this one. */
EXPORT bool standin_is_followed(void);
bool standin_is_followed(void)
{
    return dlsym(RTLD_NEXT, "standin_is_followed") != NULL;
}

/* For the stand-in of NVML. */
EXPORT double standin_power_W(void);
double standin_power_W(void)
{
    const struct card_plan *p = card_plan();
    int kind = KERNELS;
    if (!card_busy(&kind) || p->busy_W <= 0) return p->power_W;
    return kind == TRIAD && p->memory_W > 0 ? p->memory_W : p->busy_W;
}

void standin_queue(double seconds)
{
    card_spin_us(card_plan()->launch_us);
    card_beside(context, KERNELS, KERNELS); /* a product is of no kernel's kind */
    card_add(context, 1e9 * seconds);
}

unsigned long standin_launches(void)
{
    return __atomic_load_n(&launches, __ATOMIC_RELAXED);
}

/* ---- device ------------------------------------------------------------------------------------- */

/* A child must not find the lock taken by a thread that it does not have. */
static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* Whether this is a further process of calibrate's, by the option that it was started with. */
static bool is_process(const char *option)
{
    char line[200] = "";
    FILE *f = fopen("/proc/self/cmdline", "r");
    const size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f) fclose(f);
    return memmem(line, n, option, strlen(option)) != NULL;
}

static void maybe_hang(enum card_hang here, const char *option)
{
    while ((enum card_hang)card_plan()->hang_call == here && (!option || is_process(option)))
        pause();
}

EXPORT CUresult cuInit(unsigned flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)flags;
    pthread_once(&once, watch_forks);
    card_open();
    maybe_hang(HANG_INIT, NULL);
    return (CUresult)card_plan()->init_error;
}

EXPORT CUresult cuGetErrorName(CUresult r, const char **out)
{
    *out = r == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_STANDIN";
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorString(CUresult r, const char **out)
{
    *out = r == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "the stand-in refuses";
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *v)
{
    *v = 13000;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *n)
{
    *n = (int)card_plan()->devices;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice *d, int i)
{
    *d = i;
    return i >= 0 && i < (int)card_plan()->devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

EXPORT CUresult cuDeviceGetName(char *out, int size, CUdevice d)
{
    (void)d;
    snprintf(out, (size_t)size, "%s", card_plan()->name);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetUuid(CUuuid *out, CUdevice d);
CUresult cuDeviceGetUuid(CUuuid *out, CUdevice d)
{
    memset(out->bytes, 7 + d, sizeof out->bytes);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *out, CUdevice d)
{
    return cuDeviceGetUuid(out, d);
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t *out, CUdevice d)
{
    (void)d;
    *out = (size_t)(card_plan()->memory_GiB * (1 << 30));
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetPCIBusId(char *out, int size, CUdevice d)
{
    (void)d;
    snprintf(out, (size_t)size, "0000:01:00.0");
    return CUDA_SUCCESS;
}

/* A client of the tests' daemon: it has put a file into its pipe folder. Clients take turns all the
 * same; what is modelled is the share of the SMs that one may use. */
static bool attached(void)
{
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    char path[300];
    snprintf(path, sizeof path, "%s/attached", folder ? folder : "");
    return folder && access(path, F_OK) == 0;
}

static double usable_sms(void)
{
    const char *percent = getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
    return percent && attached() ? ceil(card_plan()->sms * strtod(percent, NULL) / 100)
                                 : card_plan()->sms;
}

EXPORT CUresult cuDeviceGetAttribute(int *out, CUdevice_attribute a, CUdevice d)
{
    const struct card_plan *p = card_plan();
    (void)d;
    *out = 0;
    if (a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *out = (int)p->cc_major;
    if (a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) *out = (int)p->cc_minor;
    if (a == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *out = (int)usable_sms();
    if (a == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) *out = 2048;
    if (a == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) *out = (int)(p->l2_MiB * (1 << 20));
    if (a == CU_DEVICE_ATTRIBUTE_CLOCK_RATE) *out = (int)(1e3 * p->clock_MHz);
    if (a == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *out = (int)(1e3 * p->mem_clock_MHz);
    if (a == CU_DEVICE_ATTRIBUTE_MPS_ENABLED) *out = attached();
    if (a == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) *out = (int)p->bus_bits;
    return CUDA_SUCCESS;
}

/* ---- context ------------------------------------------------------------------------------------ */

static int64_t context_bytes(void)
{
    return (int64_t)(card_plan()->context_MiB * (1 << 20));
}

EXPORT CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice d)
{
    (void)flags;
    (void)d;
    const uint64_t end = card_now_ns() + (uint64_t)(1e6 * card_plan()->context_ms);
    maybe_hang(HANG_WORKER_CONTEXT, "--worker");
    maybe_hang(HANG_CHILD_CONTEXT, "--context-child");
    if (!card_take(context_bytes())) return CUDA_ERROR_OUT_OF_MEMORY;
    context = card_context_open();
    if (context < 0) {
        card_take(-context_bytes());
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    card_until(end);
    *out = (CUcontext)&context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext c)
{
    return c == (CUcontext)&context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

EXPORT CUresult cuCtxDestroy_v2(CUcontext c)
{
    (void)c;
    maybe_hang(HANG_WORKER_END, "--worker");
    if (!is_process("--worker") && !is_process("-child")) maybe_hang(HANG_END, NULL);
    card_context_close(context);
    card_take(-context_bytes());
    pthread_mutex_lock(&lock);
    for (struct block **at = &blocks; *at;) {
        struct block *b = *at;
        if (b->pooled) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        card_take(-(int64_t)b->taken);
        munmap(b->at, b->bytes);
        free(b);
    }
    pthread_mutex_unlock(&lock);
    context = -1;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *out)
{
    *out = context >= 0 ? (CUcontext)&context : NULL;
    return CUDA_SUCCESS;
}

/* ---- memory ------------------------------------------------------------------------------------- */

EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    if (!free_bytes || !total) return CUDA_ERROR_INVALID_VALUE;
    *free_bytes = card_free_bytes();
    return cuDeviceTotalMem_v2(total, 0);
}

static CUresult allocate(CUdeviceptr *out, size_t bytes, bool pooled)
{
    const size_t unit = bytes >= (1 << 20) ? 2 << 20 : 512;
    const size_t taken = (bytes + unit - 1) / unit * unit;
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    card_spin_us(card_plan()->alloc_us);
    if (!card_take((int64_t)taken)) return CUDA_ERROR_OUT_OF_MEMORY;
    struct block *b = malloc(sizeof *b);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!b || at == MAP_FAILED) {
        free(b);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    *b = (struct block){ blocks, at, bytes, taken, pooled };
    blocks = b;
    pthread_mutex_unlock(&lock);
    *out = (CUdeviceptr)(uintptr_t)at;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
    return allocate(out, bytes, false);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr p)
{
    struct block **at = &blocks, *b;
    card_spin_us(card_plan()->free_us);
    pthread_mutex_lock(&lock);
    while (*at && (CUdeviceptr)(uintptr_t)(*at)->at != p) at = &(*at)->next;
    b = *at;
    if (b) *at = b->next;
    pthread_mutex_unlock(&lock);
    if (!b) return CUDA_ERROR_INVALID_VALUE;
    card_take(-(int64_t)b->taken);
    munmap(b->at, b->bytes);
    free(b);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
    (void)flags;
    return cuMemAlloc_v2(out, bytes);
}

EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                                   unsigned element)
{
    (void)element;
    *pitch = (width + 511) / 512 * 512;
    return cuMemAlloc_v2(out, *pitch * height);
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream s)
{
    (void)s;
    return allocate(out, bytes, true);
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s)
{
    (void)s;
    return cuMemFree_v2(p);
}

static struct pinned {
    char *at;
    size_t bytes;
} pinned[8];

EXPORT CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    (void)flags;
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        if (!pinned[i].at) {
            *out = pinned[i].at = malloc(bytes);
            pinned[i].bytes = bytes;
            return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemFreeHost(void *p)
{
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        if (pinned[i].at == p) pinned[i].at = NULL;
    free(p);
    return CUDA_SUCCESS;
}

static double link_GBps(const void *host, double of_pinned)
{
    const char *p = host;
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        if (pinned[i].at && p >= pinned[i].at && p < pinned[i].at + pinned[i].bytes)
            return of_pinned;
    return card_plan()->paged_GBps;
}

/* What kernels write must be there before it is read: a log is waited for. */
static void settle(void)
{
    if (!pending.out) return;
    card_wait(context, pending.item);
    pending.out[0] =
        card_gaps(context, &pending.out[1], &pending.out[2], pending.out + 3, pending.cap);
    if (card_plan()->tick_us > 4) { /* every tick is a step */
        const uint64_t step = (uint64_t)(1e3 * card_plan()->tick_us);
        uint64_t n = 0, *pair = pending.out + 3;
        for (uint64_t t = pending.out[1]; t + step < pending.out[2] && n < pending.cap; t += step) {
            pair[2 * n] = t;
            pair[2 * n++ + 1] = t + step;
        }
        pending.out[0] = n;
    }
    pending.out = NULL;
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream s)
{
    (void)s;
    settle();
    card_beside(context, KERNELS, KERNELS); /* a copy is of no kernel's kind */
    card_add(context, (double)bytes / link_GBps(from, card_plan()->h2d_GBps));
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream s)
{
    (void)s;
    settle();
    card_add(context, (double)bytes / link_GBps(to, card_plan()->d2h_GBps));
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

/* ---- kernels ------------------------------------------------------------------------------------ */

EXPORT CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
    *out = (CUmodule)(uintptr_t)image;
    return (CUresult)card_plan()->module_error;
}

EXPORT CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name)
{
    (void)m;
    for (int k = 0; k < KERNELS; k++)
        if (strcmp(name, names[k]) == 0) {
            *out = (CUfunction)(uintptr_t)(k + 1);
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static uint64_t u64(void **args, int i)
{
    uint64_t v;
    memcpy(&v, args[i], sizeof v);
    return v;
}

/* An SM has 128 lanes and a dependent multiply-add takes 4 cycles. */
static double compute_ns(unsigned grid, unsigned block, uint64_t iters)
{
    const double per_sm = ceil(grid / usable_sms()) * block / 128;
    return 1e3 * (double)iters * fmax(4, per_sm) / card_plan()->clock_MHz;
}

/* Pieces of 16 bytes, again and again; a block on an SM of its own while there are any. */
static double read_ns(unsigned grid, uint64_t pieces, uint64_t reps)
{
    const struct card_plan *p = card_plan();
    const double bytes = 16 * (double)pieces, wide = fmin(grid, usable_sms()) / p->sms;
    const bool cached = bytes <= p->l2_MiB * (1 << 20);
    const double part = cached ? p->read_cache_p : p->read_memory_p;
    return bytes * (double)reps / (cached ? p->l2_GBps : p->mem_GBps) * (1 - part + part / wide);
}

/* Of a kernel that never ends: longer than any test. */
#define FOR_EVER_NS 1e18

static bool never_ends(int number)
{
    const struct card_plan *p = card_plan();
    if (number == (int)p->crash) raise(SIGABRT); /* SIGSEGV is for sanitizers */
    if ((enum card_hang)p->hang_call == HANG_WORKER_KERNEL && !is_process("--worker")) return false;
    const bool now = number == (int)p->hang;
    return now || (p->wedge > 0 && card_wedged(false));
}

static CUresult run_kernel(CUfunction f, unsigned grid, unsigned block, void **args)
{
    const struct card_plan *p = card_plan();
    __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
    if (capturing) {
        capturing++;
        return CUDA_SUCCESS;
    }
    if (context < 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (never_ends((int)(uintptr_t)f)) {
        card_wedged(p->wedge > 0);
        card_add(context, FOR_EVER_NS);
        return CUDA_SUCCESS;
    }
    double ns = 1e3 * p->empty_us;
    switch ((enum kernel)((uintptr_t)f - 1)) {
    case FILL:
        filled = false;
        ns = 12 * (double)u64(args, 3) / p->mem_GBps;
        break;
    case TRIAD:
        filled = true;
        ns = 12 * (double)u64(args, 4) / p->mem_GBps;
        break;
    case CHECK: {
        uint64_t wrong = filled ? 0 : u64(args, 2);
        memcpy((void *)(uintptr_t)u64(args, 3), &wrong, sizeof wrong);
        break;
    }
    case SPIN: ns = (double)u64(args, 0); break;
    case COMPUTE: ns = compute_ns(grid, block, u64(args, 1)); break;
    case READ: ns = read_ns(grid, u64(args, 1), u64(args, 2)); break;
    case LOG:
        settle();
        pending =
            (struct pending){ card_add_log(context, u64(args, 2), u64(args, 3), grid >= p->sms),
                              (uint64_t *)(uintptr_t)u64(args, 0), (size_t)u64(args, 1) };
        return CUDA_SUCCESS;
    case EMPTY:
    case KERNELS: break;
    }
    const int kind = (int)(uintptr_t)f - 1;
    const bool beside = card_beside(context, kind, COMPUTE);
    if (attached() && beside && kind == TRIAD) ns *= p->beside_compute;
    if (grid >= p->sms)
        card_add_full(context, ns);
    else
        card_add(context, ns);
    return CUDA_SUCCESS;
}

static CUresult timed_launch(CUfunction f, unsigned grid, unsigned block, void **args)
{
    const uint64_t end = card_now_ns() + (uint64_t)(1e3 * card_plan()->launch_us);
    const CUresult r = run_kernel(f, grid, block, args);
    card_until(end);
    return r;
}

EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream s, void **args,
                               void **extra)
{
    (void)shared;
    (void)s;
    (void)extra;
    return timed_launch(f, gx * gy * gz, bx * by * bz, args);
}

EXPORT CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                          unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                          CUstream s, void **args)
{
    (void)shared;
    (void)s;
    return timed_launch(f, gx * gy * gz, bx * by * bz, args);
}

EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra)
{
    (void)extra;
    if (!c) return CUDA_ERROR_INVALID_VALUE;
    return timed_launch(f, c->gridDimX * c->gridDimY * c->gridDimZ,
                        c->blockDimX * c->blockDimY * c->blockDimZ, args);
}

/* ---- streams, events, graphs --------------------------------------------------------------------- */

EXPORT CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
    (void)flags;
    *out = (CUstream)&context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamSynchronize(CUstream s)
{
    (void)s;
    const uint64_t last = card_last(context);
    if (!last) return CUDA_SUCCESS;
    const uint64_t done = card_wait(context, last), now = card_now_ns();
    settle();
    /* from the end of the work, or from the call when the work had ended before */
    const double past_us = 1e-3 * (double)(now - done);
    if (past_us < card_plan()->sync_us) card_spin_us(card_plan()->sync_us - past_us);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSynchronize(void)
{
    return cuStreamSynchronize(NULL);
}

EXPORT CUresult cuEventCreate(CUevent *out, unsigned flags)
{
    (void)flags;
    static struct event pool[1024]; /* they die with the process: no caller makes more */
    static unsigned used;
    if (used >= sizeof pool / sizeof *pool) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = (CUevent)&pool[used++];
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventRecord(CUevent e, CUstream s)
{
    (void)s;
    if (capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    ((struct event *)e)->item = card_add(context, 0);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventSynchronize(CUevent e)
{
    card_wait(context, ((struct event *)e)->item);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to);
CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    const uint64_t a = card_wait(context, ((struct event *)from)->item);
    const uint64_t b = card_wait(context, ((struct event *)to)->item);
    *ms = (float)(1e-6 * (double)(b - a));
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *out)
{
    (void)s;
    *out = capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode)
{
    (void)s;
    (void)mode;
    capturing = 1;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamEndCapture(CUstream s, CUgraph *out)
{
    (void)s;
    struct graph *g = malloc(sizeof *g);
    if (!g) return CUDA_ERROR_OUT_OF_MEMORY;
    g->nodes = capturing - 1;
    capturing = 0;
    *out = (CUgraph)g;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
    (void)flags;
    struct graph *copy = malloc(sizeof *copy);
    if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
    *copy = *(struct graph *)g;
    *out = (CUgraphExec)copy;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphLaunch(CUgraphExec g, CUstream s)
{
    (void)s;
    card_spin_us(card_plan()->launch_us);
    card_add(context, 1e3 * card_plan()->graph_node_us * ((struct graph *)g)->nodes);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphExecDestroy(CUgraphExec g)
{
    free(g);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphDestroy(CUgraph g)
{
    free(g);
    return CUDA_SUCCESS;
}
