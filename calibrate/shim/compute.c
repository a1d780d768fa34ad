/* The compute quota: a token bucket in nanoseconds of kernel time, paid for batches of launches.
 * README.md. */
#include "calibrate/shim/shim.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { RELAXED = 2 }; /* CUstreamCaptureMode */

enum { BATCH_LAUNCHES = 64 };
static const uint64_t batch_ns = 5000000;

static struct {
    pthread_mutex_t lock;
    bool ready, usable, filled; /* looked for events; they exist; tokens were counted once */
    context_handle context;     /* of the events */
    result (*event_create)(event_handle *, unsigned);
    result (*event_record)(event_handle, stream_handle);
    result (*event_sync)(event_handle);
    result (*event_elapsed)(float *, event_handle, event_handle);
    result (*capturing)(stream_handle, capture_status *);
    result (*exchange_mode)(capture_mode *);               /* may be missing */
    event_handle from[BATCH_LAUNCHES], to[BATCH_LAUNCHES]; /* around each launch, on its stream */
    double tokens;                                         /* ns of kernel time; negative: debt */
    uint64_t filled_ns, begun_ns;
    unsigned launches; /* in the batch; 0: none is open */
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
    bucket.usable = f[0] && f[1] && f[2] && f[3];
    for (int i = 0; i < BATCH_LAUNCHES && bucket.usable; i++)
        bucket.usable = bucket.event_create(&bucket.from[i], 0) == OK &&
                        bucket.event_create(&bucket.to[i], 0) == OK;
    bucket.context = shim_context();
    if (bucket.filled) return;
    bucket.filled = true;
    bucket.filled_ns = shim_now_ns();
    bucket.tokens = shim_limit()->core * shim_limit()->burst_ns;
}

static void fill(void)
{
    const uint64_t now = shim_now_ns();
    const double most = shim_limit()->core * shim_limit()->burst_ns;
    bucket.tokens += shim_limit()->core * (double)(now - bucket.filled_ns);
    bucket.filled_ns = now;
    if (bucket.tokens > most) bucket.tokens = most;
}

/* The batch pays for the time that its launches took on the card: what lies between them is the
 * host's. */
static void settle(void)
{
    const unsigned n = bucket.launches;
    bucket.launches = 0;
    for (unsigned i = 0; i < n; i++) {
        float ms = 0;
        if (bucket.event_sync(bucket.to[i]) == OK &&
            bucket.event_elapsed(&ms, bucket.from[i], bucket.to[i]) == OK)
            bucket.tokens -= 1e6 * (double)ms;
    }
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

/* While any thread captures, the driver forbids waiting for events to all that have not said
 * that they know what they do. Called twice it is the thread's own mode again. */
static void relax(capture_mode *mode)
{
    if (bucket.exchange_mode) bucket.exchange_mode(mode);
}

/* Before a launch on a stream. A stream that is being captured runs nothing: its graph pays
 * later. True: it pays, and the lock is held until pay_end(), so that no other launch comes
 * between the two events. */
static bool pay_begin(stream_handle stream)
{
    capture_status captured = 0;
    capture_mode mode = RELAXED;
    if (shim_limit()->core <= 0) return false;
    pthread_mutex_lock(&bucket.lock);
    if (!bucket.ready) bucket_open();
    relax(&mode);
    if (bucket.usable && bucket.capturing) bucket.capturing(stream, &captured);
    bool pays = bucket.usable && !captured;
    if (pays) {
        if (bucket.launches &&
            (bucket.launches >= BATCH_LAUNCHES || shim_now_ns() - bucket.begun_ns >= batch_ns))
            settle();
        if (!bucket.launches) {
            wait_for_tokens();
            bucket.begun_ns = shim_now_ns();
        }
        pays = bucket.event_record(bucket.from[bucket.launches], stream) == OK;
    }
    relax(&mode);
    if (!pays) pthread_mutex_unlock(&bucket.lock);
    return pays;
}

static void pay_end(stream_handle stream, bool launched)
{
    capture_mode mode = RELAXED;
    relax(&mode);
    if (launched && bucket.event_record(bucket.to[bucket.launches], stream) == OK)
        bucket.launches++;
    relax(&mode);
    pthread_mutex_unlock(&bucket.lock);
}

/* No stream is the legacy default stream to a plain call and the thread's own to one of the
 * _ptsz kind; events are recorded by plain calls. */
static stream_handle plain(stream_handle stream, const char *symbol)
{
    const uintptr_t per_thread = 2; /* CU_STREAM_PER_THREAD */
    const size_t n = strlen(symbol);
    if (stream || strcmp(symbol + n - 5, "_ptsz") != 0) return stream;
    return (stream_handle)per_thread;
}

static void delay(void)
{
    if (!shim_limit()->delay_ns) return;
    for (const uint64_t end = shim_now_ns() + shim_limit()->delay_ns; shim_now_ns() < end;)
        continue;
}

/* One launch, counted, delayed where a test asks for it, and paid for. */
#define METER(symbol, at, call)                                                                    \
    do {                                                                                           \
        __typeof__(&symbol) real = REAL(symbol);                                                   \
        const stream_handle on = plain(at, #symbol);                                               \
        shim_count(HOOK_##symbol);                                                                 \
        delay();                                                                                   \
        if (!real) return NOT_FOUND;                                                               \
        const bool pays = pay_begin(on);                                                           \
        const result r = real call;                                                                \
        if (pays) pay_end(on, r == OK);                                                            \
        return r;                                                                                  \
    } while (0)

#define LAUNCH(symbol)                                                                             \
    result symbol(LAUNCH_ARGS, void **extra)                                                       \
    {                                                                                              \
        METER(symbol, stream, (f, gx, gy, gz, bx, by, bz, shared, stream, args, extra));           \
    }
LAUNCH(cuLaunchKernel)
LAUNCH(cuLaunchKernel_ptsz)

#define LAUNCH_COOPERATIVE(symbol)                                                                 \
    result symbol(LAUNCH_ARGS)                                                                     \
    {                                                                                              \
        METER(symbol, stream, (f, gx, gy, gz, bx, by, bz, shared, stream, args));                  \
    }
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

#define LAUNCH_EX(symbol)                                                                          \
    result symbol(const launch_config *c, function f, void **args, void **extra)                   \
    {                                                                                              \
        METER(symbol, c ? c->hStream : NULL, (c, f, args, extra));                                 \
    }
LAUNCH_EX(cuLaunchKernelEx)
LAUNCH_EX(cuLaunchKernelEx_ptsz)

#define GRAPH_LAUNCH(symbol)                                                                       \
    result symbol(graph_handle graph, stream_handle stream)                                        \
    {                                                                                              \
        METER(symbol, stream, (graph, stream));                                                    \
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
