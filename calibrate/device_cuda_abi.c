/* calibrate/device_cuda_abi.c - no code: what this program takes for the types of the driver's,
 * cuBLASLt's and NVML's calls, held against the headers when it is compiled. cuda.h declares
 * every exported version of a call when it is asked for its internal view; a plain include would
 * show the newest under each name only. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#undef cuGetProcAddress_v2

#include "calibrate/cuda_calls.h"
#include "calibrate/shim/hooks.h"

#define X(member, symbol, type)                                                                    \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&symbol), type),                        \
                   "the header declares " #symbol " otherwise");
CUDA_CALLS(X)
CUDA_OPTIONAL(X)
BLAS_CALLS(X)
#undef X

/* What the interception library hooks is there; its signatures are checked where it is compiled. */
#define X(symbol, plain, ptsz, since) _Static_assert(sizeof(&symbol) == sizeof(void *), #symbol);
HOOK_MAP(X)
#undef X

#if __has_include(<nvml.h>)
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

/* the header's own types under the names of nvml_calls.h */
#define GPUSIM_NVML_H_TYPES
#define nvml_ret     nvmlReturn_t
#define nvml_dev     nvmlDevice_t
#define nvml_clock   nvmlClockType_t
#define nvml_sensor  nvmlTemperatureSensors_t
#define nvml_state   nvmlEnableState_t
#define nvml_virt    nvmlGpuVirtualizationMode_t
#define nvml_mode    nvmlComputeMode_t
#define nvml_memory  nvmlMemory_t
#define nvml_process nvmlProcessInfo_t
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "calibrate/nvml_calls.h"

#define X(member, symbol, type)                                                                    \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&symbol), type),                        \
                   "the header declares " #symbol " otherwise");
NVML_CALLS(X)
#undef X

/* nvml.c keeps copies of these */
struct own_process {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
};
_Static_assert(sizeof(nvmlMemory_t) == 24 && offsetof(nvmlMemory_t, total) == 0, "nvmlMemory_t");
_Static_assert(sizeof(nvmlProcessInfo_t) == sizeof(struct own_process) &&
                   offsetof(nvmlProcessInfo_t, usedGpuMemory) ==
                       offsetof(struct own_process, used_bytes),
               "nvmlProcessInfo_t");
_Static_assert(sizeof(nvmlReturn_t) == sizeof(unsigned) && NVML_ERROR_INSUFFICIENT_SIZE == 7 &&
                   NVML_CLOCK_SM == 1 && NVML_CLOCK_MEM == 2 && NVML_TEMPERATURE_GPU == 0,
               "numbers that nvml.c spells out");
_Static_assert(NVML_ERROR_NOT_SUPPORTED == 3, "nvmlReturn_t");
_Static_assert((nvmlClocksThrottleReasonHwSlowdown | nvmlClocksThrottleReasonSwThermalSlowdown |
                nvmlClocksThrottleReasonHwThermalSlowdown |
                nvmlClocksThrottleReasonHwPowerBrakeSlowdown) == (0x8 | 0x20 | 0x40 | 0x80),
               "reasons for slow clocks");
_Static_assert(NVML_GPU_VIRTUALIZATION_MODE_NONE == 0 &&
                   NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH == 1 &&
                   NVML_GPU_VIRTUALIZATION_MODE_VGPU == 2 &&
                   NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU == 3 &&
                   NVML_COMPUTEMODE_PROHIBITED == 2 && NVML_COMPUTEMODE_EXCLUSIVE_PROCESS == 3,
               "modes");
#endif
