/* calibrate/device_cuda.c - a real card, through the driver API. libcuda.so.1 is loaded at run
 * time, so the program starts and explains itself where there is no driver. */
#include "base/mem.h"
#include "calibrate/cuda_calls.h"
#include "calibrate/device.h"
#include "calibrate/nvml.h"

#include <cublasLt.h>
#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern const unsigned char kernels_base_fatbin[];

struct blas {
    void *lib;
    cublasLtHandle_t handle;
#define X(member, symbol, type) __typeof__((type)0) member;
    BLAS_CALLS(X)
#undef X
};

/* One kind of product, ready to be launched. */
struct product {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t in, out;
    cublasLtMatmulAlgo_t algo;
    CUdeviceptr a, b, d, work;
    bool fp64, int32; /* type of alpha and beta; else float */
};

struct cuda_api {
    void *lib;
#define X(member, symbol, type) __typeof__((type)0) member;
    CUDA_OPTIONAL(X)
#undef X
#define X(member, symbol, type) __typeof__((type)0) member;
    CUDA_CALLS(X)
#undef X
};

struct cuda_device {
    struct device base;
    struct cuda_api api;
    struct nvml *nvml;
    CUdevice dev;
    CUcontext ctx; /* NULL: not open. Stream, events and module die with it. */
    CUmodule module;
    CUfunction fn[DEV_KERNELS];
    CUstream stream;
    CUevent event[DEV_EVENTS];
    CUgraphExec graph; /* NULL: none open */
    struct blas blas;  /* lib NULL: not loaded */
    struct product product;
};

static const char *const kernel_names[DEV_KERNELS] = {
    [DEV_EMPTY] = "cal_empty", [DEV_FILL] = "cal_fill", [DEV_TRIAD] = "cal_triad",
    [DEV_CHECK] = "cal_check", [DEV_SPIN] = "cal_spin", [DEV_COMPUTE] = "cal_compute",
    [DEV_READ] = "cal_read",   [DEV_LOG] = "cal_log",
};

static struct cuda_device *of(struct device *d)
{
    return (struct cuda_device *)d; /* base is the first member */
}

static double monotonic_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int check(const struct cuda_api *c, CUresult r, const char *what, struct err *e)
{
    const char *name = NULL, *text = NULL;
    if (r == CUDA_SUCCESS) return 0;
    if (c->error_name(r, &name) != CUDA_SUCCESS || !name) name = "unknown error";
    if (c->error_text(r, &text) != CUDA_SUCCESS || !text) text = "no description";
    return err_set(e, ERR_IO, NULL, "%s: %s (%s, %d)", what, text, name, (int)r);
}

/* ---- library ------------------------------------------------------------------------------------ */

static int api_load(struct cuda_api *c, struct err *e)
{
    c->lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!c->lib) return err_set(e, ERR_IO, NULL, "no NVIDIA driver: %s", dlerror());

    const char *missing = NULL;
    void *p;
#define X(member, symbol, type)                                                                    \
    p = dlsym(c->lib, #symbol);                                                                    \
    memcpy(&c->member, &p, sizeof c->member);                                                      \
    if (!p && !missing) missing = #symbol;
    CUDA_CALLS(X)
#undef X
#define X(member, symbol, type)                                                                    \
    p = dlsym(c->lib, #symbol);                                                                    \
    memcpy(&c->member, &p, sizeof c->member);
    CUDA_OPTIONAL(X)
#undef X
    if (!missing) return 0;
    dlclose(c->lib);
    c->lib = NULL;
    return err_set(e, ERR_IO, NULL, "the NVIDIA driver is too old: it lacks %s", missing);
}

/* What to do about a driver that does not start; NULL: nothing is known about this one. */
static const char *why_no_start(CUresult r)
{
    switch ((int)r) { /* by number: old headers lack the later names */
    case 34: return "libcuda.so.1 is the toolkit's stub: take its folder out of LD_LIBRARY_PATH";
    case 100:
        return getenv("CUDA_VISIBLE_DEVICES")
                   ? "CUDA_VISIBLE_DEVICES hides every device"
                   : "no card in this machine or container, or MIG mode is on and has no instance";
    case 304: return "the system refused a call: may this user open /dev/nvidia*?";
    case 999:
        return "no reason given: is nvidia-uvm loaded, may this user open /dev/nvidia*, was the driver "
               "upgraded without a restart?";
    case 802: return "the NVLink fabric is not up: is nvidia-fabricmanager running?";
    case 803: return "kernel module and libcuda.so.1 are of different versions";
    case 804: return "libcuda.so.1 is a compatibility package that does not serve this card";
    case 805: /* connection failed */
    case 806: /* a call to it failed */
    case 807: /* not ready */ return "the MPS daemon of CUDA_MPS_PIPE_DIRECTORY does not answer";
    case 808: return "the MPS daemon has all the clients that it takes";
    default: return NULL;
    }
}

static int start_driver(const struct cuda_api *c, struct err *e)
{
    const CUresult r = c->init(0);
    const char *name = NULL, *why = why_no_start(r);
    if (!why) return check(c, r, "the NVIDIA driver does not start: cuInit", e);
    if (c->error_name(r, &name) != CUDA_SUCCESS || !name) name = "unknown error";
    return err_set(e, ERR_IO, NULL, "the NVIDIA driver does not start: %s (cuInit: %s, %d)", why,
                   name, (int)r);
}

/* Load the driver and find device `index`. */
static int find_device(struct cuda_api *c, int index, CUdevice *dev, struct err *e)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int n = 0;
    int rc = api_load(c, e);
    if (!rc) rc = start_driver(c, e);
    if (!rc) rc = check(c, c->count(&n), "cuDeviceGetCount", e);
    if (!rc && n == 0)
        rc = err_set(e, ERR_IO, NULL, "the NVIDIA driver sees no device: %s",
                     why_no_start(CUDA_ERROR_NO_DEVICE));
    if (!rc && index >= n)
        rc = err_set(e, ERR_IO, NULL, "no device %d: the driver sees %d, counted from 0%s%s", index,
                     n, visible ? ", of CUDA_VISIBLE_DEVICES=" : "", visible ? visible : "");
    if (!rc) rc = check(c, c->get(dev, index), "cuDeviceGet", e);
    return rc;
}

/* ---- what the device is ------------------------------------------------------------------------- */

static int attribute(const struct cuda_device *d, CUdevice_attribute a)
{
    int v = 0;
    return d->api.attribute(&v, a, d->dev) == CUDA_SUCCESS ? v : 0;
}

/* The first call names the board, the second one the slice where there is one. */
static void find_uuid(const struct cuda_device *d, struct device_info *i)
{
    CUuuid board, own;
    if (d->api.uuid(&board, d->dev) != CUDA_SUCCESS) return;
    if (!d->api.uuid_v2 || d->api.uuid_v2(&own, d->dev) != CUDA_SUCCESS) own = board;
    i->mig_instance = memcmp(board.bytes, own.bytes, sizeof own.bytes) != 0;

    size_t at = (size_t)snprintf(i->uuid, sizeof i->uuid, i->mig_instance ? "MIG" : "GPU");
    for (size_t b = 0; b < sizeof own.bytes; b++) {
        const bool dash = b == 0 || b == 4 || b == 6 || b == 8 || b == 10;
        at += (size_t)snprintf(i->uuid + at, sizeof i->uuid - at, "%s%02x", dash ? "-" : "",
                               (unsigned char)own.bytes[b]);
    }
}

/* What may stand between a call and the driver. A list, not a verdict: an innocent library may be
 * preloaded too. */
static void find_preload(char *buf, size_t size)
{
    const char *env = getenv("LD_PRELOAD");
    char line[200] = "";
    FILE *f = fopen("/etc/ld.so.preload", "r");
    if (f) {
        if (!fgets(line, sizeof line, f)) line[0] = '\0';
        line[strcspn(line, "\n")] = '\0';
        fclose(f);
    }
    snprintf(buf, size, "%s%s%s", env ? env : "", env && *env && line[0] ? ":" : "", line);
}

static double kHz(int v)
{
    return v > 0 ? v * 1e3 : NAN;
}

static int describe(struct cuda_device *d, struct err *e)
{
    struct device_info *i = &d->base.info;
    const struct cuda_api *c = &d->api;
    size_t bytes = 0;

    *i = (struct device_info){
        .sm_max_Hz = NAN,
        .mem_max_Hz = NAN,
        .power_cap_W = NAN,
        .power_default_W = NAN,
        .link_Bps = NAN,
        .mps = TRI_UNKNOWN,
        .ecc = TRI_UNKNOWN,
        .mig_mode = TRI_UNKNOWN,
        .persistence = TRI_UNKNOWN,
        .virt = VIRT_UNKNOWN,
        .compute_mode = -1,
        .other_processes = -1,
    };
    int rc = check(c, c->name(i->name, sizeof i->name, d->dev), "cuDeviceGetName", e);
    if (!rc) rc = check(c, c->total_mem(&bytes, d->dev), "cuDeviceTotalMem", e);
    if (rc) return rc;

    find_uuid(d, i);
    if (c->pci(i->pci, sizeof i->pci, d->dev) != CUDA_SUCCESS) i->pci[0] = '\0';
    if (c->driver_version(&i->cuda_version) != CUDA_SUCCESS) i->cuda_version = 0;
    i->memory_bytes = bytes;
    i->cc_major = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    i->cc_minor = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    i->sms = attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    i->l2_bytes = (uint64_t)attribute(d, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    i->sm_max_Hz = kHz(attribute(d, CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
    i->mem_max_Hz = kHz(attribute(d, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
    i->mem_bus_bits = attribute(d, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    i->coherent_link =
        attribute(d, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES) ||
        attribute(d, CU_DEVICE_ATTRIBUTE_INTEGRATED);
#if CUDA_VERSION >= 12040
    if (i->cuda_version >= 12040)
        i->mps = attribute(d, CU_DEVICE_ATTRIBUTE_MPS_ENABLED) ? TRI_YES : TRI_NO;
#endif
    find_preload(i->preload, sizeof i->preload);
    if (d->nvml) nvml_describe(d->nvml, i);
    return 0;
}

/* ---- operations --------------------------------------------------------------------------------- */

static double now_s(struct device *d)
{
    (void)d;
    return monotonic_s();
}

static void sleep_s(struct device *d, double seconds)
{
    const double whole = floor(seconds);
    struct timespec t = { (time_t)whole, (long)((seconds - whole) * 1e9) };
    (void)d;
    while (nanosleep(&t, &t) != 0) continue;
}

static void sensors(struct device *dev, struct device_sensors *out)
{
    nvml_sensors(of(dev)->nvml, out);
}

/* A card older than the toolkit's oldest target, or a driver older than the toolkit. */
static int no_kernels(const struct cuda_device *d, CUresult r, struct err *e)
{
    int driver = 0;
    d->api.driver_version(&driver);
    return err_set(
        e, ERR_IO, NULL,
        "the kernels do not load (error %d): they were compiled by CUDA %d.%d, the driver "
        "is for CUDA %d.%d and the card has compute capability %d.%d; build calibrate with "
        "a toolkit that is not newer than the driver and still knows the card",
        (int)r, CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10, driver / 1000, driver % 1000 / 10,
        attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

static int load_kernels(struct cuda_device *d, struct err *e)
{
    const struct cuda_api *c = &d->api;
    const CUresult r = c->module_load(&d->module, kernels_base_fatbin);
    if (r == CUDA_ERROR_INVALID_IMAGE || r == CUDA_ERROR_NO_BINARY_FOR_GPU ||
        r == CUDA_ERROR_INVALID_PTX || (int)r == 222 /* CUDA_ERROR_UNSUPPORTED_PTX_VERSION */)
        return no_kernels(d, r, e);
    int rc = check(c, r, "cuModuleLoadData", e);
    for (int k = 0; !rc && k < DEV_KERNELS; k++)
        rc =
            check(c, c->module_function(&d->fn[k], d->module, kernel_names[k]), kernel_names[k], e);
    return rc;
}

static int context_open(struct device *dev, struct err *e)
{
    struct cuda_device *d = of(dev);
    const struct cuda_api *c = &d->api;
    if (d->ctx) return 0;

    int rc = check(c, c->ctx_create(&d->ctx, CU_CTX_SCHED_AUTO, d->dev), "cuCtxCreate", e);
    if (rc) {
        d->ctx = NULL;
        return rc;
    }
    rc = load_kernels(d, e);
    if (!rc)
        rc = check(c, c->stream_create(&d->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate", e);
    for (int i = 0; !rc && i < DEV_EVENTS; i++)
        rc = check(c, c->event_create(&d->event[i], CU_EVENT_DEFAULT), "cuEventCreate", e);
    if (rc) {
        c->ctx_destroy(d->ctx);
        d->ctx = NULL;
    }
    return rc;
}

static int mem_info(struct device *dev, uint64_t *free_bytes, uint64_t *total_bytes, struct err *e)
{
    const struct cuda_api *c = &of(dev)->api;
    size_t f = 0, t = 0;
    int rc = check(c, c->mem_info(&f, &t), "cuMemGetInfo", e);
    *free_bytes = f;
    *total_bytes = t;
    return rc;
}

static int mem_alloc(struct device *dev, size_t bytes, dev_ptr *out, struct err *e)
{
    const struct cuda_api *c = &of(dev)->api;
    CUdeviceptr p = 0;
    int rc = check(c, c->mem_alloc(&p, bytes), "cuMemAlloc", e);
    *out = rc ? 0 : (dev_ptr)p;
    return rc;
}

static int mem_free(struct device *dev, dev_ptr p, struct err *e)
{
    const struct cuda_api *c = &of(dev)->api;
    return p ? check(c, c->mem_free((CUdeviceptr)p), "cuMemFree", e) : 0;
}

static int host_alloc(struct device *dev, size_t bytes, void **out, struct err *e)
{
    const struct cuda_api *c = &of(dev)->api;
    int rc = check(c, c->host_alloc(out, bytes, 0), "cuMemHostAlloc", e);
    if (rc) *out = NULL;
    return rc;
}

static int host_free(struct device *dev, void *p, struct err *e)
{
    const struct cuda_api *c = &of(dev)->api;
    return p ? check(c, c->host_free(p), "cuMemFreeHost", e) : 0;
}

static int launch(struct device *dev, enum dev_kernel k, unsigned grid, unsigned block, void **args,
                  struct err *e)
{
    const struct cuda_device *d = of(dev);
    const CUresult r = d->api.launch(d->fn[k], grid, 1, 1, block, 1, 1, 0, d->stream, args, NULL);
    return r == CUDA_SUCCESS ? 0 : check(&d->api, r, kernel_names[k], e);
}

static int look_up_launch(const struct cuda_device *d, void **out, struct err *e)
{
    if (!d->api.get_proc)
        return err_set(e, ERR_IO, NULL, "the driver is too old for cuGetProcAddress");
    return check(&d->api, d->api.get_proc("cuLaunchKernel", out, 11030, 0), "cuGetProcAddress", e);
}

static int look_up(struct device *dev, struct err *e)
{
    void *p;
    return look_up_launch(of(dev), &p, e);
}

static int launch_by_address(const struct cuda_device *d, struct err *e)
{
    struct cuda_api other = d->api;
    void *p = NULL;
    int rc = look_up_launch(d, &p, e);
    memcpy(&other.launch, &p, sizeof other.launch);
    if (rc) return rc;
    return check(&other,
                 other.launch(d->fn[DEV_EMPTY], 1, 1, 1, 32, 1, 1, 0, d->stream, NULL, NULL),
                 "cuLaunchKernel", e);
}

static int launch_by(struct device *dev, enum dev_path path, struct err *e)
{
    const struct cuda_device *d = of(dev);
    const CUfunction f = d->fn[DEV_EMPTY];
    const CUlaunchConfig config = { .gridDimX = 1,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 32,
                                    .blockDimY = 1,
                                    .blockDimZ = 1,
                                    .hStream = d->stream };
    if (path == PATH_ADDRESS) return launch_by_address(d, e);
    if (path == PATH_EX && d->api.launch_ex)
        return check(&d->api, d->api.launch_ex(&config, f, NULL, NULL), "cuLaunchKernelEx", e);
    if (path == PATH_COOPERATIVE && d->api.launch_cooperative)
        return check(&d->api, d->api.launch_cooperative(f, 1, 1, 1, 32, 1, 1, 0, d->stream, NULL),
                     "cuLaunchCooperativeKernel", e);
    if (path == PATH_SYMBOL) return launch(dev, DEV_EMPTY, 1, 32, NULL, e);
    return err_set(e, ERR_IO, NULL, "the driver lacks this way to launch");
}

static int copy_in(struct device *dev, dev_ptr to, const void *from, size_t bytes, struct err *e)
{
    const struct cuda_device *d = of(dev);
    return check(&d->api, d->api.copy_in((CUdeviceptr)to, from, bytes, d->stream),
                 "cuMemcpyHtoDAsync", e);
}

static int copy_out(struct device *dev, void *to, dev_ptr from, size_t bytes, struct err *e)
{
    const struct cuda_device *d = of(dev);
    return check(&d->api, d->api.copy_out(to, (CUdeviceptr)from, bytes, d->stream),
                 "cuMemcpyDtoHAsync", e);
}

static int sync_stream(struct device *dev, struct err *e)
{
    const struct cuda_device *d = of(dev);
    return check(&d->api, d->api.stream_sync(d->stream), "cuStreamSynchronize", e);
}

static int event_record(struct device *dev, int event, struct err *e)
{
    const struct cuda_device *d = of(dev);
    return check(&d->api, d->api.event_record(d->event[event], d->stream), "cuEventRecord", e);
}

static int event_ms(struct device *dev, int from, int to, double *ms, struct err *e)
{
    const struct cuda_device *d = of(dev);
    float f = NAN;
    int rc = check(&d->api, d->api.event_sync(d->event[to]), "cuEventSynchronize", e);
    if (!rc)
        rc = check(&d->api, d->api.event_elapsed(&f, d->event[from], d->event[to]),
                   "cuEventElapsedTime", e);
    *ms = f;
    return rc;
}

/* ---- graphs ------------------------------------------------------------------------------------- */

static void graph_close(struct device *dev)
{
    struct cuda_device *d = of(dev);
    if (d->graph) d->api.graph_exec_destroy(d->graph);
    d->graph = NULL;
}

static int graph_open(struct device *dev, unsigned nodes, struct err *e)
{
    struct cuda_device *d = of(dev);
    const struct cuda_api *c = &d->api;
    CUgraph graph = NULL;
    if (!c->capture_begin || !c->capture_end || !c->graph_instantiate || !c->graph_launch ||
        !c->graph_exec_destroy || !c->graph_destroy)
        return err_set(e, ERR_IO, NULL, "the driver is too old for graphs");
    graph_close(dev);
    int rc = check(c, c->capture_begin(d->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                   "cuStreamBeginCapture", e);
    if (rc) return rc;
    for (unsigned i = 0; !rc && i < nodes; i++) rc = launch(dev, DEV_EMPTY, 1, 32, NULL, e);
    const CUresult ended = c->capture_end(d->stream, &graph); /* whatever happened in between */
    if (!rc) rc = check(c, ended, "cuStreamEndCapture", e);
    if (!rc) rc = check(c, c->graph_instantiate(&d->graph, graph, 0), "cuGraphInstantiate", e);
    if (graph) c->graph_destroy(graph);
    if (rc) d->graph = NULL;
    return rc;
}

static int graph_launch(struct device *dev, struct err *e)
{
    const struct cuda_device *d = of(dev);
    return check(&d->api, d->api.graph_launch(d->graph, d->stream), "cuGraphLaunch", e);
}

/* ---- matrix products ---------------------------------------------------------------------------- */

enum { WORKSPACE = 64 << 20 };

static const struct {
    cublasComputeType_t compute;
    cudaDataType scale, in, out;
    size_t in_bytes, out_bytes;
} gemm_kinds[GEMM_KINDS] = {
    [GEMM_FP64] = { CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, 8, 8 },
    [GEMM_FP32] = { CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 4, 4 },
    [GEMM_TF32] = { CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 4, 4 },
    [GEMM_FP16] = { CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, 2, 2 },
    [GEMM_BF16] = { CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, 2, 2 },
    [GEMM_FP8] = { CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_16BF, 1, 2 },
    [GEMM_INT8] = { CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, 1, 4 },
};

static int blas_check(cublasStatus_t s, const char *what, struct err *e)
{
    return s == CUBLAS_STATUS_SUCCESS ? 0 : err_set(e, ERR_IO, NULL, "%s: status %d", what, (int)s);
}

static int blas_load(struct blas *b, struct err *e)
{
    static const char *const names[] = { "libcublasLt.so.13", "libcublasLt.so.12",
                                         "libcublasLt.so.11", "libcublasLt.so" };
    const char *missing = NULL;
    if (b->lib) return 0;
    for (size_t i = 0; !b->lib && i < sizeof names / sizeof *names; i++)
        b->lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!b->lib) return err_set(e, ERR_IO, NULL, "cuBLASLt does not load: %s", dlerror());
    void *p;
#define X(member, symbol, type)                                                                    \
    p = dlsym(b->lib, #symbol);                                                                    \
    memcpy(&b->member, &p, sizeof b->member);                                                      \
    if (!p && !missing) missing = #symbol;
    BLAS_CALLS(X)
#undef X
    int rc = missing ? err_set(e, ERR_IO, NULL, "cuBLASLt lacks %s", missing)
                     : blas_check(b->create(&b->handle), "cublasLtCreate", e);
    if (!rc) return 0;
    dlclose(b->lib);
    b->lib = NULL;
    return rc;
}

static void gemm_close(struct device *dev)
{
    struct cuda_device *d = of(dev);
    struct product *p = &d->product;
    const CUdeviceptr all[] = { p->a, p->b, p->d, p->work };
    if (p->in) d->blas.layout_destroy(p->in);
    if (p->out) d->blas.layout_destroy(p->out);
    if (p->desc) d->blas.desc_destroy(p->desc);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) d->api.mem_free(all[i]);
    *p = (struct product){ 0 };
}

/* The library's first choice of algorithm. */
static int gemm_choose(struct blas *b, struct product *p, struct err *e)
{
    cublasLtMatmulPreference_t pref = NULL;
    cublasLtMatmulHeuristicResult_t best = { 0 };
    const size_t work = WORKSPACE;
    int found = 0;
    int rc = blas_check(b->pref_create(&pref), "cublasLtMatmulPreferenceCreate", e);
    if (!rc)
        rc = blas_check(
            b->pref_set(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &work, sizeof work),
            "cublasLtMatmulPreferenceSetAttribute", e);
    if (!rc) {
        const cublasStatus_t s =
            b->heuristic(b->handle, p->desc, p->in, p->in, p->out, p->out, pref, 1, &best, &found);
        if (s != CUBLAS_STATUS_SUCCESS || !found)
            rc = err_set(e, ERR_IO, NULL, "cuBLASLt has no such product for this card (status %d)",
                         (int)s);
    }
    if (pref) b->pref_destroy(pref);
    p->algo = best.algo;
    return rc;
}

/* Random signs and mantissas around one: the same number everywhere would draw less power, and a
 * card at its power cap would look faster than it is with data. A MiB of them, over and over. */
static int fill_operands(struct cuda_device *d, enum dev_gemm kind, size_t bytes, struct err *e)
{
    static const struct {
        uint64_t random, fixed; /* bits: taken from the generator; set */
    } form[GEMM_KINDS] = {
        [GEMM_FP64] = { UINT64_C(0x800fffffffffffff), UINT64_C(0x3ff0000000000000) },
        [GEMM_FP32] = { UINT64_C(0x807fffff807fffff), UINT64_C(0x3f8000003f800000) },
        [GEMM_TF32] = { UINT64_C(0x807fffff807fffff), UINT64_C(0x3f8000003f800000) },
        [GEMM_FP16] = { UINT64_C(0x83ff83ff83ff83ff), UINT64_C(0x3c003c003c003c00) },
        [GEMM_BF16] = { UINT64_C(0x807f807f807f807f), UINT64_C(0x3f803f803f803f80) },
        [GEMM_FP8] = { UINT64_C(0x8787878787878787), UINT64_C(0x3838383838383838) }, /* E4M3 */
        [GEMM_INT8] = { UINT64_MAX, 0 },
    };
    const size_t piece = bytes < (1 << 20) ? bytes : 1 << 20;
    uint64_t x = 20261130, *v = xcalloc(piece / sizeof *v + 1, sizeof *v);
    int rc = 0;
    for (size_t i = 0; i < piece / sizeof *v + 1; i++) {
        x ^= x << 13; /* xorshift64, Marsaglia 2003 */
        x ^= x >> 7;
        x ^= x << 17;
        v[i] = (x & form[kind].random) | form[kind].fixed;
    }
    for (size_t at = 0; !rc && at < bytes; at += piece) {
        const size_t n = bytes - at < piece ? bytes - at : piece;
        rc = copy_in(&d->base, d->product.a + at, v, n, e);
        if (!rc) rc = copy_in(&d->base, d->product.b + at, v, n, e);
    }
    if (!rc) rc = sync_stream(&d->base, e); /* before the buffer goes */
    free(v);
    return rc;
}

static int gemm_open(struct device *dev, enum dev_gemm kind, unsigned n, struct err *e)
{
    struct cuda_device *d = of(dev);
    struct product *p = &d->product;
    struct blas *b = &d->blas;
    const cublasOperation_t transposed = CUBLAS_OP_T; /* fp8 and int8 want A transposed */
    const size_t in = gemm_kinds[kind].in_bytes * n * n, out = gemm_kinds[kind].out_bytes * n * n;
    gemm_close(dev);
    int rc = blas_load(b, e);
    if (!rc)
        rc = blas_check(b->desc_create(&p->desc, gemm_kinds[kind].compute, gemm_kinds[kind].scale),
                        "cublasLtMatmulDescCreate", e);
    if (!rc)
        rc = blas_check(
            b->desc_set(p->desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
            "cublasLtMatmulDescSetAttribute", e);
    if (!rc)
        rc = blas_check(b->layout_create(&p->in, gemm_kinds[kind].in, n, n, n),
                        "cublasLtMatrixLayoutCreate", e);
    if (!rc)
        rc = blas_check(b->layout_create(&p->out, gemm_kinds[kind].out, n, n, n),
                        "cublasLtMatrixLayoutCreate", e);
    if (!rc) rc = gemm_choose(b, p, e);
    if (!rc) rc = check(&d->api, d->api.mem_alloc(&p->a, in), "cuMemAlloc", e);
    if (!rc) rc = check(&d->api, d->api.mem_alloc(&p->b, in), "cuMemAlloc", e);
    if (!rc) rc = check(&d->api, d->api.mem_alloc(&p->d, out), "cuMemAlloc", e);
    if (!rc) rc = check(&d->api, d->api.mem_alloc(&p->work, WORKSPACE), "cuMemAlloc", e);
    if (!rc) rc = fill_operands(d, kind, in, e);
    p->fp64 = kind == GEMM_FP64;
    p->int32 = kind == GEMM_INT8;
    if (rc) gemm_close(dev);
    return rc;
}

static int gemm_launch(struct device *dev, struct err *e)
{
    struct cuda_device *d = of(dev);
    struct product *p = &d->product;
    const double one64 = 1, zero64 = 0;
    const float one = 1, zero = 0;
    const int32_t one32 = 1, zero32 = 0;
    const void *alpha = p->fp64 ? (const void *)&one64 : p->int32 ? (const void *)&one32 : &one;
    const void *beta = p->fp64 ? (const void *)&zero64 : p->int32 ? (const void *)&zero32 : &zero;
    return blas_check(d->blas.matmul(d->blas.handle, p->desc, alpha, (void *)(uintptr_t)p->a, p->in,
                                     (void *)(uintptr_t)p->b, p->in, beta, (void *)(uintptr_t)p->d,
                                     p->out, (void *)(uintptr_t)p->d, p->out, &p->algo,
                                     (void *)(uintptr_t)p->work, WORKSPACE,
                                     (cudaStream_t)d->stream),
                      "cublasLtMatmul", e);
}

/* ---- the cost of a context: in a fresh process ---------------------------------------------------- */

static int create_context(struct cuda_device *d, bool primary, struct err *e)
{
    const struct cuda_api *c = &d->api;
    if (!primary)
        return check(c, c->ctx_create(&d->ctx, CU_CTX_SCHED_AUTO, d->dev), "cuCtxCreate", e);
    if (!c->primary_retain || !c->primary_release || !c->ctx_set)
        return err_set(e, ERR_IO, NULL, "the driver lacks calls for the primary context");
    int rc = check(c, c->primary_retain(&d->ctx, d->dev), "cuDevicePrimaryCtxRetain", e);
    return rc ? rc : check(c, c->ctx_set(d->ctx), "cuCtxSetCurrent", e);
}

int device_cuda_context_child(int index, bool primary)
{
    struct cuda_device d = { .base.index = index };
    struct err e = { 0 };

    const double t0 = monotonic_s();
    int rc = find_device(&d.api, index, &d.dev, &e);
    const double t1 = monotonic_s();
    if (!rc) rc = create_context(&d, primary, &e);
    const double t2 = monotonic_s();
    if (!rc) rc = load_kernels(&d, &e);
    if (!rc) rc = launch(&d.base, DEV_EMPTY, 1, 1, NULL, &e);
    if (!rc) rc = sync_stream(&d.base, &e); /* stream NULL: the default one */
    const double t3 = monotonic_s();
    if (rc)
        printf("error %s\n", e.msg);
    else
        printf("times %.9g %.9g %.9g\n", 1e3 * (t1 - t0), 1e3 * (t2 - t1), 1e3 * (t3 - t2));
    fflush(stdout);
    while (!rc && getchar() != EOF) continue; /* the parent looks at the memory meanwhile */
    if (d.ctx && primary)
        d.api.primary_release(d.dev);
    else if (d.ctx)
        d.api.ctx_destroy(d.ctx);
    return err_status((enum err_code)rc);
}

/* Start this program again as `--context-child N` (or its primary kind), with pipes to its stdin
 * and from its stdout. */
static int spawn_child(int index, bool primary, pid_t *pid, int *to, FILE **from, struct err *e)
{
    int in[2], out[2];
    char number[16], program[] = "calibrate", own[] = "--context-child",
                     prime[] = "--primary-child";
    char *argv[] = { program, primary ? prime : own, number, NULL };
    posix_spawn_file_actions_t fa;

    snprintf(number, sizeof number, "%d", index);
    if (pipe2(in, O_CLOEXEC) != 0) return err_set(e, ERR_IO, NULL, "pipe: %s", strerror(errno));
    if (pipe2(out, O_CLOEXEC) != 0) {
        int rc = err_set(e, ERR_IO, NULL, "pipe: %s", strerror(errno));
        close(in[0]);
        close(in[1]);
        return rc;
    }
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&fa, out[1], STDOUT_FILENO);
    const int failed = posix_spawn(pid, "/proc/self/exe", &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    close(in[0]);
    close(out[1]);
    *to = in[1];
    *from = failed ? NULL : fdopen(out[0], "r");
    if (*from) return 0;
    close(in[1]);
    close(out[0]);
    return err_set(e, ERR_IO, NULL, "cannot start a child process: %s", strerror(failed));
}

static int context_cost(struct device *dev, bool primary, struct context_cost *out, struct err *e)
{
    struct cuda_device *d = of(dev);
    uint64_t before = 0, during = 0, total = 0;
    char line[600] = "";
    pid_t pid = 0;
    int to = -1, status = 0;
    FILE *from = NULL;

    int rc = mem_info(dev, &before, &total, e);
    if (!rc) rc = spawn_child(d->base.index, primary, &pid, &to, &from, e);
    if (rc) return rc;

    if (!fgets(line, sizeof line, from)) line[0] = '\0';
    rc = mem_info(dev, &during, &total, e);
    close(to); /* the child ends */
    fclose(from);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (rc) return rc;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "times %lf %lf %lf", &out->init_ms, &out->create_ms, &out->first_launch_ms) !=
        3)
        return err_set(e, ERR_IO, NULL, "context in a fresh process: %s",
                       strncmp(line, "error ", 6) == 0 ? line + 6
                       : line[0]                       ? line
                                                       : "the process ended without an answer");
    out->bytes = (double)before - (double)during;
    return 0;
}

/* ---- life --------------------------------------------------------------------------------------- */

static void close_device(struct device *dev)
{
    struct cuda_device *d = of(dev);
    graph_close(dev);
    gemm_close(dev);
    if (d->blas.lib) d->blas.destroy(d->blas.handle);
    if (d->ctx) d->api.ctx_destroy(d->ctx);
    nvml_close(d->nvml);
    free(d); /* libcuda stays loaded: once started it has threads and exit handlers of its own */
}

static const struct device_ops cuda_ops = {
    .close = close_device,
    .now_s = now_s,
    .sleep_s = sleep_s,
    .sensors = sensors,
    .context_cost = context_cost,
    .context_open = context_open,
    .mem_info = mem_info,
    .alloc = mem_alloc,
    .free = mem_free,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .launch = launch,
    .launch_by = launch_by,
    .look_up = look_up,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .sync = sync_stream,
    .event_record = event_record,
    .event_ms = event_ms,
    .graph_open = graph_open,
    .graph_launch = graph_launch,
    .graph_close = graph_close,
    .gemm_open = gemm_open,
    .gemm_launch = gemm_launch,
    .gemm_close = gemm_close,
};

int device_cuda_open(struct device **out, int index, struct err *e)
{
    struct cuda_device *d = xcalloc(1, sizeof *d);
    *out = NULL;
    d->base.ops = &cuda_ops;
    d->base.index = index;
    int rc = find_device(&d->api, index, &d->dev, e);
    if (!rc) {
        d->nvml = nvml_open();
        rc = describe(d, e);
    }
    if (rc)
        close_device(&d->base);
    else
        *out = &d->base;
    return rc;
}
