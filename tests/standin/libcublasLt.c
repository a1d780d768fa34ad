/* The few calls of cuBLASLt that calibrate makes, on the virtual card: products take 2 n^3
 * operations at the planted rate of their precision. */
#include "tests/standin/card.h"

#include <cublasLt.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct desc {
    cublasComputeType_t compute;
};
struct layout {
    cudaDataType type;
    uint64_t n;
};
struct algo {
    double seconds;
};

static void (*queue)(double seconds);

static double planted(const char *key)
{
    const char *env = getenv("GPUSIM_STANDIN"), *at = env;
    const size_t n = strlen(key);
    while (at && *at) {
        if (strncmp(at, key, n) == 0 && at[n] == '=') return strtod(at + n + 1, NULL);
        at = strchr(at, ';');
        if (at) at++;
    }
#define X(name, value)                                                                             \
    if (strcmp(key, #name) == 0) return value;
    CARD_MAP(X)
#undef X
    return 0;
}

EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *h)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *p = cuda ? dlsym(cuda, "standin_queue") : NULL;
    memcpy(&queue, &p, sizeof queue);
    *h = (cublasLtHandle_t)&queue;
    return queue ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t h)
{
    (void)h;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *d, cublasComputeType_t c,
                                               cudaDataType_t scale)
{
    struct desc *x = malloc(sizeof *x);
    (void)scale;
    if (!x) return CUBLAS_STATUS_ALLOC_FAILED;
    x->compute = c;
    *d = (cublasLtMatmulDesc_t)x;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
    free(d);
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
                                                     cublasLtMatmulDescAttributes_t a,
                                                     const void *v, size_t n)
{
    (void)d;
    (void)a;
    (void)v;
    (void)n;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *l, cudaDataType t,
                                                 uint64_t rows, uint64_t cols, int64_t ld)
{
    struct layout *x = malloc(sizeof *x);
    (void)cols;
    (void)ld;
    if (!x) return CUBLAS_STATUS_ALLOC_FAILED;
    *x = (struct layout){ t, rows };
    *l = (cublasLtMatrixLayout_t)x;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
    free(l);
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *p)
{
    *p = malloc(1);
    return *p ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

EXPORT cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    free(p);
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                           cublasLtMatmulPreferenceAttributes_t a,
                                                           const void *v, size_t n)
{
    (void)p;
    (void)a;
    (void)v;
    (void)n;
    return CUBLAS_STATUS_SUCCESS;
}

static double rate(const struct desc *d, const struct layout *in)
{
    switch ((int)in->type) {
    case CUDA_R_64F: return planted("gemm_fp64_T");
    case CUDA_R_32F:
        return planted(d->compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? "gemm_tf32_T" : "gemm_fp32_T");
    case CUDA_R_16F: return planted("gemm_fp16_T");
    case CUDA_R_16BF: return planted("gemm_bf16_T");
    case CUDA_R_8F_E4M3: return planted("gemm_fp8_T");
    case CUDA_R_8I: return planted("gemm_int8_T");
    }
    return 0;
}

EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t h, cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t out, cublasLtMatmulPreference_t pref, int want,
    cublasLtMatmulHeuristicResult_t r[], int *found)
{
    const struct layout *in = (const struct layout *)a;
    const double T = rate((const struct desc *)d, in);
    (void)h;
    (void)b;
    (void)c;
    (void)out;
    (void)pref;
    (void)want;
    *found = T > 0;
    const double n = (double)in->n;
    const struct algo algo = { 2 * n * n * n / (1e12 * T) };
    memcpy(&r[0].algo, &algo, sizeof algo);
    return T > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t h, cublasLtMatmulDesc_t d, const void *alpha,
                                     const void *A, cublasLtMatrixLayout_t a, const void *B,
                                     cublasLtMatrixLayout_t b, const void *beta, const void *C,
                                     cublasLtMatrixLayout_t c, void *D, cublasLtMatrixLayout_t out,
                                     const cublasLtMatmulAlgo_t *algo, void *work, size_t bytes,
                                     cudaStream_t s)
{
    struct algo x;
    (void)h;
    (void)d;
    (void)alpha;
    (void)A;
    (void)a;
    (void)B;
    (void)b;
    (void)beta;
    (void)C;
    (void)c;
    (void)D;
    (void)out;
    (void)work;
    (void)bytes;
    (void)s;
    memcpy(&x, algo, sizeof x);
    queue(x.seconds);
    return CUBLAS_STATUS_SUCCESS;
}
