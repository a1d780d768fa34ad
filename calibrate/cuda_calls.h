/* calibrate/cuda_calls.h - the calls of the driver and of cuBLASLt that calibrate makes: member,
 * exported symbol, type. The symbols are the binary interface; cuda.h maps its names onto them
 * differently from one toolkit to the next, so only its types are used, and each is looked up by
 * the name that stands here. device_cuda_abi.c holds them against the prototypes in the headers. */
#ifndef GPUSIM_CALIBRATE_CUDA_CALLS_H
#define GPUSIM_CALIBRATE_CUDA_CALLS_H

#include <cublasLt.h>
#include <cuda.h>

/* What every driver since CUDA 10.1 has. */
#define CUDA_CALLS(X)                                                                              \
    X(init, cuInit, CUresult (*)(unsigned))                                                        \
    X(error_name, cuGetErrorName, CUresult (*)(CUresult, const char **))                           \
    X(error_text, cuGetErrorString, CUresult (*)(CUresult, const char **))                         \
    X(driver_version, cuDriverGetVersion, CUresult (*)(int *))                                     \
    X(count, cuDeviceGetCount, CUresult (*)(int *))                                                \
    X(get, cuDeviceGet, CUresult (*)(CUdevice *, int))                                             \
    X(name, cuDeviceGetName, CUresult (*)(char *, int, CUdevice))                                  \
    X(uuid, cuDeviceGetUuid, CUresult (*)(CUuuid *, CUdevice))                                     \
    X(total_mem, cuDeviceTotalMem_v2, CUresult (*)(size_t *, CUdevice))                            \
    X(attribute, cuDeviceGetAttribute, CUresult (*)(int *, CUdevice_attribute, CUdevice))          \
    X(pci, cuDeviceGetPCIBusId, CUresult (*)(char *, int, CUdevice))                               \
    X(ctx_create, cuCtxCreate_v2, CUresult (*)(CUcontext *, unsigned, CUdevice))                   \
    X(ctx_destroy, cuCtxDestroy_v2, CUresult (*)(CUcontext))                                       \
    X(mem_info, cuMemGetInfo_v2, CUresult (*)(size_t *, size_t *))                                 \
    X(mem_alloc, cuMemAlloc_v2, CUresult (*)(CUdeviceptr *, size_t))                               \
    X(mem_free, cuMemFree_v2, CUresult (*)(CUdeviceptr))                                           \
    X(host_alloc, cuMemHostAlloc, CUresult (*)(void **, size_t, unsigned))                         \
    X(host_free, cuMemFreeHost, CUresult (*)(void *))                                              \
    X(copy_in, cuMemcpyHtoDAsync_v2, CUresult (*)(CUdeviceptr, const void *, size_t, CUstream))    \
    X(copy_out, cuMemcpyDtoHAsync_v2, CUresult (*)(void *, CUdeviceptr, size_t, CUstream))         \
    X(module_load, cuModuleLoadData, CUresult (*)(CUmodule *, const void *))                       \
    X(module_function, cuModuleGetFunction, CUresult (*)(CUfunction *, CUmodule, const char *))    \
    X(launch, cuLaunchKernel,                                                                      \
      CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                   unsigned, CUstream, void **, void **))                                          \
    X(stream_create, cuStreamCreate, CUresult (*)(CUstream *, unsigned))                           \
    X(stream_sync, cuStreamSynchronize, CUresult (*)(CUstream))                                    \
    X(event_create, cuEventCreate, CUresult (*)(CUevent *, unsigned))                              \
    X(event_record, cuEventRecord, CUresult (*)(CUevent, CUstream))                                \
    X(event_sync, cuEventSynchronize, CUresult (*)(CUevent))                                       \
    X(event_elapsed, cuEventElapsedTime, CUresult (*)(float *, CUevent, CUevent))

/* What older drivers lack (cuLaunchKernelEx: before CUDA 11.8); missing ones are NULL. */
#define CUDA_OPTIONAL(X)                                                                           \
    X(primary_retain, cuDevicePrimaryCtxRetain, CUresult (*)(CUcontext *, CUdevice))               \
    X(primary_release, cuDevicePrimaryCtxRelease_v2, CUresult (*)(CUdevice))                       \
    X(ctx_set, cuCtxSetCurrent, CUresult (*)(CUcontext))                                           \
    X(uuid_v2, cuDeviceGetUuid_v2, CUresult (*)(CUuuid *, CUdevice))                               \
    X(capture_begin, cuStreamBeginCapture_v2, CUresult (*)(CUstream, CUstreamCaptureMode))         \
    X(capture_end, cuStreamEndCapture, CUresult (*)(CUstream, CUgraph *))                          \
    X(graph_instantiate, cuGraphInstantiateWithFlags,                                              \
      CUresult (*)(CUgraphExec *, CUgraph, unsigned long long))                                    \
    X(launch_ex, cuLaunchKernelEx,                                                                 \
      CUresult (*)(const CUlaunchConfig *, CUfunction, void **, void **))                          \
    X(launch_cooperative, cuLaunchCooperativeKernel,                                               \
      CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                   unsigned, CUstream, void **))                                                   \
    X(get_proc, cuGetProcAddress, CUresult (*)(const char *, void **, int, cuuint64_t))            \
    X(graph_launch, cuGraphLaunch, CUresult (*)(CUgraphExec, CUstream))                            \
    X(graph_exec_destroy, cuGraphExecDestroy, CUresult (*)(CUgraphExec))                           \
    X(graph_destroy, cuGraphDestroy, CUresult (*)(CUgraph))

/* cuBLASLt, loaded when the first product is asked for. */
#define BLAS_CALLS(X)                                                                              \
    X(create, cublasLtCreate, cublasStatus_t (*)(cublasLtHandle_t *))                              \
    X(destroy, cublasLtDestroy, cublasStatus_t (*)(cublasLtHandle_t))                              \
    X(desc_create, cublasLtMatmulDescCreate,                                                       \
      cublasStatus_t (*)(cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t))             \
    X(desc_destroy, cublasLtMatmulDescDestroy, cublasStatus_t (*)(cublasLtMatmulDesc_t))           \
    X(desc_set, cublasLtMatmulDescSetAttribute,                                                    \
      cublasStatus_t (*)(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void *,       \
                         size_t))                                                                  \
    X(layout_create, cublasLtMatrixLayoutCreate,                                                   \
      cublasStatus_t (*)(cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t, int64_t))     \
    X(layout_destroy, cublasLtMatrixLayoutDestroy, cublasStatus_t (*)(cublasLtMatrixLayout_t))     \
    X(pref_create, cublasLtMatmulPreferenceCreate,                                                 \
      cublasStatus_t (*)(cublasLtMatmulPreference_t *))                                            \
    X(pref_destroy, cublasLtMatmulPreferenceDestroy,                                               \
      cublasStatus_t (*)(cublasLtMatmulPreference_t))                                              \
    X(pref_set, cublasLtMatmulPreferenceSetAttribute,                                              \
      cublasStatus_t (*)(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,         \
                         const void *, size_t))                                                    \
    X(heuristic, cublasLtMatmulAlgoGetHeuristic,                                                   \
      cublasStatus_t (*)(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,           \
                         cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,   \
                         cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t[],       \
                         int *))                                                                   \
    X(matmul, cublasLtMatmul,                                                                      \
      cublasStatus_t (*)(cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *,       \
                         cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t,             \
                         const void *, const void *, cublasLtMatrixLayout_t, void *,               \
                         cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t,     \
                         cudaStream_t))

#endif
