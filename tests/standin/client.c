/* A CUDA program for the tests of the interception library: does one thing and prints what came of
 * it. It is linked to the stand-in driver and loads it besides. Usage: client WHAT [NUMBER] */
#include "tests/standin/client.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern CUresult cuGetProcAddress(const char *, void **, int, cuuint64_t);
extern unsigned long standin_launches(void);
extern _Bool standin_is_followed(void);

typedef CUresult launch_fn(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, CUstream, void **, void **);

static CUfunction empty, compute;
static CUdeviceptr sink;

void need(CUresult r, const char *what)
{
    if (r == CUDA_SUCCESS) return;
    printf("failed %s %d\n", what, (int)r);
    exit(1);
}

static void *load(const char *name)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return lib ? dlsym(lib, name) : NULL;
}

static unsigned long hooked(const char *symbol)
{
    unsigned long (*f)(const char *) = dlsym(RTLD_DEFAULT, "gpusim_intercept_count");
    return f ? f(symbol) : 0;
}

static void start(void)
{
    CUcontext ctx;
    CUmodule m;
    need(cuInit(0), "cuInit");
    need(cuCtxCreate_v2(&ctx, 0, 0), "cuCtxCreate");
    need(cuModuleLoadData(&m, ""), "cuModuleLoadData");
    need(cuModuleGetFunction(&empty, m, "cal_empty"), "cal_empty");
    need(cuModuleGetFunction(&compute, m, "cal_compute"), "cal_compute");
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- coverage ----------------------------------------------------------------------------------- */

static void launch_times(launch_fn *f, int n, const char *what)
{
    if (!f) need(CUDA_ERROR_NOT_FOUND, what);
    for (int i = 0; i < n; i++) need(f(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), what);
}

static void *by_address(int version, const char *name, cuuint64_t flags)
{
    void *p = NULL, *self = NULL;
    need(cuGetProcAddress("cuGetProcAddress", &self, version, 0), "cuGetProcAddress");
    if (version >= 12000) {
        CUresult (*f)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
        CUdriverProcAddressQueryResult status;
        memcpy(&f, &self, sizeof f);
        need(f(name, &p, version, flags, &status), name);
    } else {
        CUresult (*f)(const char *, void **, int, cuuint64_t);
        memcpy(&f, &self, sizeof f);
        need(f(name, &p, version, flags), name);
    }
    return p;
}

/* The name that cuGetProcAddress knows: without the version and the kind of stream. */
static void plain_name(char out[64], const char *symbol)
{
    size_t n = (size_t)snprintf(out, 64, "%s", symbol);
    if (n > 5 && strcmp(out + n - 5, "_ptsz") == 0) out[n -= 5] = '\0';
    if (n > 3 && strcmp(out + n - 3, "_v2") == 0) out[n - 3] = '\0';
}

void *call_by(const char *route, const char *symbol)
{
    char name[64];
    const cuuint64_t flags = strstr(symbol, "_ptsz") ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                                     : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    plain_name(name, symbol);
    if (strcmp(route, "dlsym") == 0) return load(symbol);
    if (strcmp(route, "address") == 0) return by_address(11060, name, flags);
    if (strcmp(route, "address2") == 0) return by_address(13000, name, flags);
    return dlsym(RTLD_DEFAULT, symbol); /* what a linked call is bound to */
}

/* The calls with per-thread default streams, by symbol and by both forms of cuGetProcAddress. */
static void coverage_per_thread(void)
{
    static const char *const routes[] = { "linked", "dlsym", "address", "address2" };
    const CUlaunchConfig config = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1
    };
    CUgraph g;
    CUgraphExec exec;
    need(cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL), "capture");
    need(cuStreamEndCapture(NULL, &g), "capture");
    need(cuGraphInstantiateWithFlags(&exec, g, 0), "graph");
    for (int i = 0; i < 4; i++) {
        CUresult (*ex)(const CUlaunchConfig *, CUfunction, void **, void **);
        CUresult (*together)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, CUstream, void **);
        CUresult (*graph)(CUgraphExec, CUstream);
        *(void **)&ex = call_by(routes[i], "cuLaunchKernelEx_ptsz");
        *(void **)&together = call_by(routes[i], "cuLaunchCooperativeKernel_ptsz");
        *(void **)&graph = call_by(routes[i], "cuGraphLaunch_ptsz");
        launch_times((launch_fn *)call_by(routes[i], "cuLaunchKernel_ptsz"), 1 + i, routes[i]);
        need(ex(&config, empty, NULL, NULL), routes[i]);
        need(together(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL), routes[i]);
        need(graph(exec, NULL), routes[i]);
    }
    printf("per thread: kernel %lu ex %lu cooperative %lu graph %lu; plain %lu seen %lu\n",
           hooked("cuLaunchKernel_ptsz"), hooked("cuLaunchKernelEx_ptsz"),
           hooked("cuLaunchCooperativeKernel_ptsz"), hooked("cuGraphLaunch_ptsz"),
           hooked("cuLaunchKernel"), standin_launches());
}

static void coverage(void)
{
    CUstream s = NULL;
    CUgraph g;
    CUgraphExec exec;
    const CUlaunchConfig config = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1
    };
    launch_times(cuLaunchKernel, 3, "linked");
    launch_times((launch_fn *)load("cuLaunchKernel"), 5, "dlsym");
    launch_times((launch_fn *)by_address(11030, "cuLaunchKernel", 0), 7, "cuGetProcAddress");
    launch_times((launch_fn *)by_address(13000, "cuLaunchKernel", 0), 11, "cuGetProcAddress_v2");
    for (int i = 0; i < 2; i++) need(cuLaunchKernelEx(&config, empty, NULL, NULL), "Ex");
    for (int i = 0; i < 4; i++)
        need(cuLaunchCooperativeKernel(empty, 1, 1, 1, 32, 1, 1, 0, s, NULL), "cooperative");
    need(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL), "capture");
    launch_times(cuLaunchKernel, 1, "captured");
    need(cuStreamEndCapture(s, &g), "capture");
    need(cuGraphInstantiateWithFlags(&exec, g, 0), "graph");
    for (int i = 0; i < 6; i++) need(cuGraphLaunch(exec, s), "graph");
    printf("kernel %lu ex %lu cooperative %lu graph %lu seen %lu\n", hooked("cuLaunchKernel"),
           hooked("cuLaunchKernelEx"), hooked("cuLaunchCooperativeKernel"), hooked("cuGraphLaunch"),
           standin_launches());
    printf("followed %d cudnnCreate %d cuNoSuchCall %d prefix %d\n", standin_is_followed(),
           load("cudnnCreate") != NULL, load("cuNoSuchCall") != NULL,
           load("cuLaunchKernelE") != NULL);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static int fill(CUdeviceptr p[], int most)
{
    int n = 0;
    while (n < most && cuMemAlloc_v2(&p[n], UNIT) == CUDA_SUCCESS) n++;
    return n;
}

static void quota(void)
{
    static CUdeviceptr p[4096];
    size_t free_bytes, total, device, pitch;
    CUdeviceptr extra;
    need(cuDeviceTotalMem_v2(&device, 0), "total");
    const int n = fill(p, 4096);
    need(cuMemGetInfo_v2(&free_bytes, &total), "info");
    printf("units %d free %zu total %zu device %zu\n", n, free_bytes, total, device);
    printf("full managed %d async %d pitch %d\n", cuMemAllocManaged(&extra, UNIT, 1),
           cuMemAllocAsync(&extra, UNIT, NULL), cuMemAllocPitch_v2(&extra, &pitch, 4096, 512, 4));
    for (int i = 0; i < 3; i++) need(cuMemFree_v2(p[i]), "free");
    const int managed = cuMemAllocManaged(&extra, UNIT, 1),
              async = cuMemAllocAsync(&extra, UNIT, NULL);
    const int pitched = cuMemAllocPitch_v2(&extra, &pitch, 4096, 512, 4);
    printf("again %d %d %d %d\n", managed, async, pitched, cuMemAlloc_v2(&extra, UNIT));
}

static void *churn(void *seed)
{
    CUdeviceptr p[8] = { 0 };
    unsigned rng = (unsigned)(size_t)seed + 1;
    for (int i = 0; i < 3000; i++) {
        rng = rng * 1664525u + 1013904223u;
        CUdeviceptr *one = &p[rng >> 29];
        if (*one) need(cuMemFree_v2(*one), "free");
        *one = 0;
        if (cuMemAlloc_v2(one, 1 + (rng >> 8) % UNIT) != CUDA_SUCCESS) *one = 0;
        need(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "launch");
    }
    for (int i = 0; i < 8; i++)
        if (p[i]) need(cuMemFree_v2(p[i]), "free");
    return NULL;
}

static void threads(void)
{
    static CUdeviceptr p[4096];
    pthread_t t[8];
    for (size_t i = 0; i < 8; i++) pthread_create(&t[i], NULL, churn, (void *)i);
    for (size_t i = 0; i < 8; i++) pthread_join(t[i], NULL);
    printf("units %d launches %lu of %lu\n", fill(p, 4096), hooked("cuLaunchKernel"),
           standin_launches());
}

static void forks(void)
{
    static CUdeviceptr p[4096];
    pthread_t t[4];
    const int mine = fill(p, 8);
    for (size_t i = 0; i < 4; i++) pthread_create(&t[i], NULL, churn, (void *)i);
    for (int i = 0; i < 5; i++) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) {
            const unsigned long seen = hooked("cuMemAlloc_v2");
            const int n = fill(p, 4096);
            for (int k = 0; k < n; k++) cuMemFree_v2(p[k]);
            printf("child units %d seen %lu\n", n, seen);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (status != 0) printf("child status %d\n", status);
    }
    for (size_t i = 0; i < 4; i++) pthread_join(t[i], NULL);
    printf("parent units %d\n", mine + fill(p, 4096));
}

/* ---- compute ------------------------------------------------------------------------------------ */

/* Kernel time in kernels of so many us (graphs of one such kernel: negative), over wall time, never
 * waiting for one. */
static void rate(double us)
{
    const double each_us = us < 0 ? -us : us;
    uint64_t iters = (uint64_t)(each_us * 1500 / 4); /* 1500 MHz, 4 cycles; a block an SM */
    void *args[] = { &sink, &iters };
    CUgraph g;
    CUgraphExec exec = NULL;
    if (us < 0) {
        need(cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL), "capture");
        for (int i = 0; i < 10; i++)
            need(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "launch");
        need(cuStreamEndCapture(NULL, &g), "capture");
        need(cuGraphInstantiateWithFlags(&exec, g, 0), "graph");
    }
    const double begun = now_s();
    double work = 0;
    while (now_s() < begun + 1.5) {
        if (us < 0)
            need(cuGraphLaunch(exec, NULL), "graph");
        else
            need(cuLaunchKernel(compute, 1, 1, 1, 128, 1, 1, 0, NULL, args, NULL), "launch");
        work += 1e-6 * each_us;
    }
    need(cuCtxSynchronize(), "sync");
    printf("rate %.4f\n", work / (now_s() - begun));
}

/* Kernels of 2 ms, each waited for, and 18 ms of the host between them: how long one takes. */
static void gapped(void)
{
    uint64_t iters = 2000 * 1500 / 4;
    void *args[] = { &sink, &iters };
    const double begun = now_s();
    for (int i = 0; i < 100; i++) {
        need(cuLaunchKernel(compute, 1, 1, 1, 128, 1, 1, 0, NULL, args, NULL), "launch");
        need(cuCtxSynchronize(), "sync");
        nanosleep(&(struct timespec){ 0, 18000000 }, NULL);
    }
    printf("rate %.5f each\n", (now_s() - begun) / 100);
}

/* Arguments that are not there: the driver says so, a library before it must not look at them. */
static void nothing(void)
{
    CUarray array;
    CUmipmappedArray mipmap;
    size_t bytes;
    printf("refused");
    printf(" %d", cuArrayCreate_v2(&array, NULL) == CUDA_ERROR_INVALID_VALUE);
    printf(" %d", cuArray3DCreate_v2(&array, NULL) == CUDA_ERROR_INVALID_VALUE);
    printf(" %d", cuMipmappedArrayCreate(&mipmap, NULL, 1) == CUDA_ERROR_INVALID_VALUE);
    printf(" %d", cuLaunchKernelEx(NULL, empty, NULL, NULL) == CUDA_ERROR_INVALID_VALUE);
    printf(" %d", cuMemGetInfo_v2(NULL, &bytes) == CUDA_ERROR_INVALID_VALUE);
    printf(" %d\n", cuMemGetInfo_v2(&bytes, NULL) == CUDA_ERROR_INVALID_VALUE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    start();
    if (strcmp(what, "coverage") == 0) coverage();
    if (strcmp(what, "per-thread") == 0) coverage_per_thread();
    if (strcmp(what, "quota") == 0) quota();
    if (strcmp(what, "paths") == 0 && argc > 2) memory_paths(argv[2]);
    if (strcmp(what, "handles") == 0) memory_handles();
    if (strcmp(what, "arrays") == 0) memory_arrays();
    if (strcmp(what, "contexts") == 0) memory_contexts();
    if (strcmp(what, "memory-threads") == 0) memory_threads();
    if (strcmp(what, "threads") == 0) threads();
    if (strcmp(what, "fork") == 0) forks();
    if (strcmp(what, "nothing") == 0) nothing();
    if (strcmp(what, "rate-gapped") == 0) gapped();
    if (strcmp(what, "rate") == 0 && argc > 2) rate(strtod(argv[2], NULL));
    return 0;
}
