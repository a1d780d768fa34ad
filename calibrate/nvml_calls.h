/* calibrate/nvml_calls.h - the calls of NVML that calibrate makes, by their published
 * signatures: its header does not come with every toolkit. device_cuda_abi.c holds them against
 * it where it is at hand, with the header's own types in place of these. */
#ifndef GPUSIM_CALIBRATE_NVML_CALLS_H
#define GPUSIM_CALIBRATE_NVML_CALLS_H

#ifndef GPUSIM_NVML_H_TYPES
typedef unsigned nvml_clock, nvml_sensor, nvml_state, nvml_virt, nvml_mode; /* enumerations */
typedef struct nvml_device *nvml_dev;                                       /* opaque to us */
typedef unsigned nvml_ret;                                                  /* 0: success */

typedef struct {
    unsigned long long total, free, used;
} nvml_memory;

typedef struct { /* nvmlProcessInfo_t of the _v3 calls */
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
} nvml_process;
#endif

#define NVML_CALLS(X)                                                                              \
    X(init, nvmlInit_v2, nvml_ret (*)(void))                                                       \
    X(shutdown, nvmlShutdown, nvml_ret (*)(void))                                                  \
    X(driver, nvmlSystemGetDriverVersion, nvml_ret (*)(char *, unsigned))                          \
    X(by_uuid, nvmlDeviceGetHandleByUUID, nvml_ret (*)(const char *, nvml_dev *))                  \
    X(by_pci, nvmlDeviceGetHandleByPciBusId_v2, nvml_ret (*)(const char *, nvml_dev *))            \
    X(is_mig, nvmlDeviceIsMigDeviceHandle, nvml_ret (*)(nvml_dev, unsigned *))                     \
    X(mig_count, nvmlDeviceGetMaxMigDeviceCount, nvml_ret (*)(nvml_dev, unsigned *))               \
    X(mig_at, nvmlDeviceGetMigDeviceHandleByIndex, nvml_ret (*)(nvml_dev, unsigned, nvml_dev *))   \
    X(uuid, nvmlDeviceGetUUID, nvml_ret (*)(nvml_dev, char *, unsigned))                           \
    X(name, nvmlDeviceGetName, nvml_ret (*)(nvml_dev, char *, unsigned))                           \
    X(memory, nvmlDeviceGetMemoryInfo, nvml_ret (*)(nvml_dev, nvml_memory *))                      \
    X(power, nvmlDeviceGetPowerUsage, nvml_ret (*)(nvml_dev, unsigned *))                          \
    X(power_cap, nvmlDeviceGetEnforcedPowerLimit, nvml_ret (*)(nvml_dev, unsigned *))              \
    X(power_default, nvmlDeviceGetPowerManagementDefaultLimit, nvml_ret (*)(nvml_dev, unsigned *)) \
    X(clock, nvmlDeviceGetClockInfo, nvml_ret (*)(nvml_dev, nvml_clock, unsigned *))               \
    X(temperature, nvmlDeviceGetTemperature, nvml_ret (*)(nvml_dev, nvml_sensor, unsigned *))      \
    X(throttle, nvmlDeviceGetCurrentClocksThrottleReasons,                                         \
      nvml_ret (*)(nvml_dev, unsigned long long *))                                                \
    X(events, nvmlDeviceGetCurrentClocksEventReasons, /* its name since 12.2 */                    \
      nvml_ret (*)(nvml_dev, unsigned long long *))                                                \
    X(ecc, nvmlDeviceGetEccMode, nvml_ret (*)(nvml_dev, nvml_state *, nvml_state *))               \
    X(mig, nvmlDeviceGetMigMode, nvml_ret (*)(nvml_dev, unsigned *, unsigned *))                   \
    X(virt, nvmlDeviceGetVirtualizationMode, nvml_ret (*)(nvml_dev, nvml_virt *))                  \
    X(persistence, nvmlDeviceGetPersistenceMode, nvml_ret (*)(nvml_dev, nvml_state *))             \
    X(compute_mode, nvmlDeviceGetComputeMode, nvml_ret (*)(nvml_dev, nvml_mode *))                 \
    X(link_gen, nvmlDeviceGetMaxPcieLinkGeneration, nvml_ret (*)(nvml_dev, unsigned *))            \
    X(link_width, nvmlDeviceGetMaxPcieLinkWidth, nvml_ret (*)(nvml_dev, unsigned *))               \
    X(compute_procs, nvmlDeviceGetComputeRunningProcesses_v3,                                      \
      nvml_ret (*)(nvml_dev, unsigned *, nvml_process *))                                          \
    X(graphics_procs, nvmlDeviceGetGraphicsRunningProcesses_v3,                                    \
      nvml_ret (*)(nvml_dev, unsigned *, nvml_process *))

#endif
