/* calibrate/nvml.h - the handful of NVML calls that are read for power, clocks, MIG and neighbours.
 *
 * NVML's header does not ship with every toolkit, so the calls are declared here by their published
 * signatures (NVML API reference); the library is loaded at run time and everything in it is
 * optional: without it, or without one of its functions, the answer is "unknown".
 * Threads: one handle, one thread. Ownership: nvml_close() unloads. */
#ifndef GPUSIM_CALIBRATE_NVML_H
#define GPUSIM_CALIBRATE_NVML_H

#include "calibrate/device.h"

struct nvml;

/* NULL when the library is missing or does not start. */
struct nvml *nvml_open(void);
void nvml_close(struct nvml *m); /* accepts NULL */
/* Find the board of info->uuid or info->pci and fill in the second part of *info. */
void nvml_describe(struct nvml *m, struct device_info *info);
/* UUIDs of the MIG instances on the board of info->pci that are there; their number. */
enum { NVML_MIG_MAX = 16, NVML_UUID_SIZE = 96 };
size_t nvml_mig_uuids(struct nvml *m, const struct device_info *info,
                      char out[NVML_MIG_MAX][NVML_UUID_SIZE]);
/* Unknown (NAN) without a board. */
void nvml_sensors(struct nvml *m, struct device_sensors *out);

#endif
