/* calibrate/shim/intercept.c - how calls are caught, see README.md beside it: dlsym,
 * cuGetProcAddress, the table of hooks, settings, fork. The library is built apart, without any
 * dependency but libc; nothing of gpusim is linked in. */
#include "calibrate/shim/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { PER_THREAD_STREAM = 2 }; /* of cuGetProcAddress */
#ifdef GPUSIM_CHECK_ABI
_Static_assert(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM == PER_THREAD_STREAM, "flag");
#endif

static const struct {
    const char *symbol, *plain, *ptsz;
    int since;
} hook_names[HOOKS] = {
#define X(symbol, plain, ptsz, since) { #symbol, plain, ptsz, since },
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
any_fn *shim_driver_call(const char *name)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    any_fn *f = lib ? lookup(lib, name) : NULL;
    if (lib) dlclose(lib); /* whoever loaded it holds it */
    return f ? f : lookup(RTLD_NEXT, name);
}

any_fn *shim_real(enum hook h)
{
    any_fn *f = __atomic_load_n(&real[h], __ATOMIC_ACQUIRE);
    if (f) return f;
    f = shim_driver_call(hook_names[h].symbol);
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

void shim_count(enum hook h)
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

#ifndef GPUSIM_WITHOUT_DLSYM /* for tests under TSan, whose runtime needs a dlsym of its own */
static void *dlsym_hooked(int h, void *handle, const char *name)
{
    any_fn *f = lookup(handle, name), *hook = hook_of(h);
    void *p = NULL;
    if (!f) return NULL; /* hooked only where it exists */
    if (f != hook) remember(h, f);
    memcpy(&p, &hook, sizeof p);
    return p;
}

/* For every other name the call is handed on as a jump, so that RTLD_NEXT still means "after the
 * caller": glibc takes the caller from the return address. This file is built with -O2 for that. */
EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    const int h = name[0] == 'c' && name[1] == 'u' ? find_symbol(name) : -1;
    if (h >= 0) return dlsym_hooked(h, handle, name);
    return real_dlsym()(handle, name);
}
#endif

/* ---- settings ----------------------------------------------------------------------------------- */

static struct shim_limit limit;

const struct shim_limit *shim_limit(void)
{
    return &limit;
}

/* A quota that is not understood must not look like one that holds. */
static void no_quota(const char *name, const char *expected, const char *text)
{
    fprintf(stderr, "gpusim intercept: %s: expected %s, found \"%s\"; there is no quota\n", name,
            expected, text);
}

static uint64_t bytes_of(const char *name, const char *text)
{
    static const char units[] = "kmg";
    char *end;
    errno = 0;
    const uint64_t n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (*text >= '0' && *text <= '9' && !errno && !end[unit != NULL] && n <= UINT64_MAX >> shift)
        return n << shift;
    no_quota(name, "bytes, or with k, m, g", text);
    return 0;
}

static double share_of(const char *name, const char *text)
{
    char *end;
    const double percent = strtod(text, &end);
    if (end == text || *end || !(percent >= 0)) no_quota(name, "a percentage", text);
    return end != text && !*end && percent > 0 && percent < 100 ? percent / 100 : 0;
}

uint64_t shim_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

context_handle shim_context(void)
{
    static any_fn *found; /* atomic */
    result (*current)(context_handle *);
    context_handle ctx = NULL;
    any_fn *f = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (!f) f = shim_driver_call("cuCtxGetCurrent");
    __atomic_store_n(&found, f, __ATOMIC_RELEASE);
    memcpy(&current, &f, sizeof f);
    return current && current(&ctx) == OK ? ctx : NULL;
}

/* ---- cuGetProcAddress ---------------------------------------------------------------------------- */

static int find_plain(const char *name)
{
    for (int h = 0; h < HOOKS; h++)
        if (hook_names[h].plain[0] && strcmp(name, hook_names[h].plain) == 0) return h;
    return -1;
}

/* cuGetProcAddress asked for itself: from CUDA 12 on it has a fifth argument. Who asks for a
 * version of before the symbol gets another call under the same name, and that passes unhooked. */
static void replace(const char *name, void **out, int version, uint64_t flags)
{
    int h = find_plain(name);
    any_fn *f, *hook;
    if (h < 0 || !out || !*out || version < hook_names[h].since) return;
    if (flags & PER_THREAD_STREAM && hook_names[h].ptsz[0]) h = find_symbol(hook_names[h].ptsz);
    if (h == HOOK_cuGetProcAddress && version >= 12000) h = HOOK_cuGetProcAddress_v2;
    hook = hook_of(h);
    memcpy(&f, out, sizeof f);
    if (f != hook) remember(h, f);
    memcpy(out, &hook, sizeof hook);
}

result cuGetProcAddress(const char *name, void **out, int version, uint64_t flags)
{
    __typeof__(&cuGetProcAddress) f = REAL(cuGetProcAddress);
    shim_count(HOOK_cuGetProcAddress);
    const result r = f ? f(name, out, version, flags) : NOT_FOUND;
    if (r == OK) replace(name, out, version, flags);
    return r;
}

result cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                           proc_status *status)
{
    __typeof__(&cuGetProcAddress_v2) f = REAL(cuGetProcAddress_v2);
    shim_count(HOOK_cuGetProcAddress_v2);
    const result r = f ? f(name, out, version, flags, status) : NOT_FOUND;
    if (r == OK) replace(name, out, version, flags);
    return r;
}

static any_fn *hook_of(int h)
{
    static any_fn *const hooks[HOOKS] = {
#define X(symbol, plain, ptsz, since) (any_fn *)symbol,
        HOOK_MAP(X)
#undef X
    };
    return hooks[h];
}

/* ---- life --------------------------------------------------------------------------------------- */

static void before_fork(void)
{
    compute_fork_lock();
    books_fork_lock();
}

static void after_fork_parent(void)
{
    books_fork_unlock(false);
    compute_fork_unlock(false);
}

static void after_fork_child(void)
{
    for (int h = 0; h < HOOKS; h++) counted[h] = 0;
    books_fork_unlock(true);
    compute_fork_unlock(true);
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
    const char *burst = getenv("GPUSIM_INTERCEPT_BURST_MS");
    limit.memory = memory && *memory ? bytes_of("GPUSIM_MEMORY_LIMIT", memory) : 0;
    limit.core = core && *core ? share_of("GPUSIM_CORE_LIMIT", core) : 0;
    limit.burst_ns = burst ? 1e6 * strtod(burst, NULL) : 100e6;
    limit.delay_ns = delay ? strtoull(delay, NULL, 10) : 0;
    if (lock && start_ns) slow_start(lock, strtoull(start_ns, NULL, 10));
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
