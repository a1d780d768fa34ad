/* The compute quota: a token bucket in nanoseconds of kernel time, paid for batches of launches. README.md. */
#include "calibrate/shim/shim.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { RELAXED = 2 }; /* CUstreamCaptureMode */

enum { BATCH_LAUNCHES = 64 };
static const uint64_t batch_ns = 5000000, burst_ns = 100000000;

static struct {
    pthread_mutex_t lock;
    bool ready, usable, filled; /* looked for events; they exist; tokens were counted once */
    context_handle context;     /* of the events */
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
_Static_assert(CU_STREAM_CAPTURE_MODE_RELAXED == RELAXED, "CUstreamCaptureMode");
#endif

static void bucket_open(void)
{
    any_fn *f[6] = { shim_driver_call("cuEventCreate"),
                     shim_driver_call("cuEventRecord"),
                     shim_driver_call("cuEventSynchronize"),
                     shim_driver_call("cuEventElapsedTime"),
                     shim_driver_call("cuStreamIsCapturing"),
                     shim_driver_call("cuThreadExchangeStreamCaptureMode") };
    memcpy(&bucket.event_create, &f[0], sizeof f[0]);
    memcpy(&bucket.event_record, &f[1], sizeof f[1]);
    memcpy(&bucket.event_sync, &f[2], sizeof f[2]);
    memcpy(&bucket.event_elapsed, &f[3], sizeof f[3]);
    memcpy(&bucket.capturing, &f[4], sizeof f[4]);
    memcpy(&bucket.exchange_mode, &f[5], sizeof f[5]);
    bucket.ready = true;
    bucket.usable = f[0] && f[1] && f[2] && f[3] && bucket.event_create(&bucket.from, 0) == OK &&
                    bucket.event_create(&bucket.to, 0) == OK;
    bucket.context = shim_context();
    if (bucket.filled) return;
    bucket.filled = true;
    bucket.filled_ns = shim_now_ns();
    bucket.tokens = shim_limit()->core * (double)burst_ns;
}

static void fill(void)
{
    const uint64_t now = shim_now_ns();
    const double most = shim_limit()->core * (double)burst_ns;
    bucket.tokens += shim_limit()->core * (double)(now - bucket.filled_ns);
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
        const double ns = -bucket.tokens / shim_limit()->core + 1000;
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
    if (shim_limit()->core <= 0) return;
    pthread_mutex_lock(&bucket.lock);
    if (!bucket.ready) bucket_open();
    if (bucket.exchange_mode) bucket.exchange_mode(&mode);
    if (bucket.usable && bucket.capturing) bucket.capturing(stream, &captured);
    if (bucket.usable && !captured) {
        if (bucket.launches &&
            (bucket.launches >= BATCH_LAUNCHES || shim_now_ns() - bucket.begun_ns >= batch_ns))
            settle();
        if (!bucket.launches) {
            wait_for_tokens();
            bucket.begun_ns = shim_now_ns();
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
    shim_count(h);
    if (shim_limit()->delay_ns)
        for (const uint64_t end = shim_now_ns() + shim_limit()->delay_ns; shim_now_ns() < end;)
            continue;
    pay(stream);
}

#define LAUNCH(symbol)                                                                             \
    result symbol(LAUNCH_ARGS, void **extra)                                                       \
    {                                                                                              \
        __typeof__(&symbol) call = REAL(symbol);                                                   \
        before_launch(HOOK_##symbol, plain(stream, #symbol));                                      \
        return call ? call(f, gx, gy, gz, bx, by, bz, shared, stream, args, extra) : NOT_FOUND;    \
    }
LAUNCH(cuLaunchKernel)
LAUNCH(cuLaunchKernel_ptsz)

#define LAUNCH_COOPERATIVE(symbol)                                                                 \
    result symbol(LAUNCH_ARGS)                                                                     \
    {                                                                                              \
        __typeof__(&symbol) call = REAL(symbol);                                                   \
        before_launch(HOOK_##symbol, plain(stream, #symbol));                                      \
        return call ? call(f, gx, gy, gz, bx, by, bz, shared, stream, args) : NOT_FOUND;           \
    }
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

#define LAUNCH_EX(symbol)                                                                          \
    result symbol(const launch_config *c, function f, void **args, void **extra)                   \
    {                                                                                              \
        __typeof__(&symbol) call = REAL(symbol);                                                   \
        before_launch(HOOK_##symbol, plain(c->hStream, #symbol));                                  \
        return call ? call(c, f, args, extra) : NOT_FOUND;                                         \
    }
LAUNCH_EX(cuLaunchKernelEx)
LAUNCH_EX(cuLaunchKernelEx_ptsz)

#define GRAPH_LAUNCH(symbol)                                                                       \
    result symbol(graph_handle graph, stream_handle stream)                                        \
    {                                                                                              \
        __typeof__(&symbol) call = REAL(symbol);                                                   \
        before_launch(HOOK_##symbol, plain(stream, #symbol));                                      \
        return call ? call(graph, stream) : NOT_FOUND;                                             \
    }
GRAPH_LAUNCH(cuGraphLaunch)
GRAPH_LAUNCH(cuGraphLaunch_ptsz)

/* ---- contexts and fork --------------------------------------------------------------------------- */

/* Debt and tokens stay: nobody gets a full bucket by making a new context. */
void compute_forget(context_handle ctx)
{
    pthread_mutex_lock(&bucket.lock);
    if (bucket.ready && bucket.context == ctx) {
        bucket.ready = false;
        bucket.launches = 0;
    }
    pthread_mutex_unlock(&bucket.lock);
}

void compute_fork_lock(void)
{
    pthread_mutex_lock(&bucket.lock);
}

void compute_fork_unlock(bool child)
{
    if (child) {
        bucket.ready = bucket.filled = false;
        bucket.launches = 0;
    }
    pthread_mutex_unlock(&bucket.lock);
}
