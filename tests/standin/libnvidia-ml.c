/* The management library of the virtual card: board power and, when `mig` plants some, MIG
 * instances by name. The instances are processes on one card that take turns: only the way through
 * the probe is tested. */
#include "tests/standin/card.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct handle *device;
static int board, slice[16];

static double planted(const char *key, double value)
{
    const char *at = getenv("GPUSIM_STANDIN");
    const size_t n = strlen(key);
    while (at && *at) {
        if (strncmp(at, key, n) == 0 && at[n] == '=') return strtod(at + n + 1, NULL);
        at = strchr(at, ';');
        if (at) at++;
    }
    return value;
}

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, device *out);
EXPORT int nvmlDeviceGetPowerUsage(device d, unsigned *mW);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(device d, unsigned long long *reasons);
EXPORT int nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *mW);
EXPORT int nvmlDeviceGetMaxPcieLinkGeneration(device d, unsigned *out);
EXPORT int nvmlDeviceGetMaxPcieLinkWidth(device d, unsigned *out);
EXPORT int nvmlDeviceGetMigMode(device d, unsigned *now, unsigned *pending);
EXPORT int nvmlDeviceGetMaxMigDeviceCount(device d, unsigned *n);
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(device d, unsigned i, device *out);
EXPORT int nvmlDeviceGetUUID(device d, char *out, unsigned size);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *n, void *out);

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, device *out)
{
    (void)pci;
    *out = (device)&board;
    return 0;
}

int nvmlDeviceGetPowerUsage(device d, unsigned *mW)
{
    (void)d;
    while ((int)planted("hang_call", 0) == HANG_SENSORS) pause();
    double (*power_W)(void) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *p = driver ? dlsym(driver, "standin_power_W") : NULL;
    memcpy(&power_W, &p, sizeof power_W);
    *mW = (unsigned)(1e3 * (power_W ? power_W() : planted("power_W", 61)));
    if (driver) dlclose(driver);
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(device d, unsigned long long *reasons)
{
    static unsigned asked;
    const unsigned every = (unsigned)planted("throttle_every", 0);
    (void)d;
    *reasons = every && ++asked % every == 0 ? 0x40 : 0; /* hardware, for heat */
    return 0;
}

int nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *mW)
{
    (void)d;
    *mW = 300000;
    return 0;
}

/* The second generation, eight lanes: 4 GB/s. */
int nvmlDeviceGetMaxPcieLinkGeneration(device d, unsigned *out)
{
    (void)d;
    *out = 2;
    return 0;
}

int nvmlDeviceGetMaxPcieLinkWidth(device d, unsigned *out)
{
    (void)d;
    *out = 8;
    return 0;
}

int nvmlDeviceGetMigMode(device d, unsigned *now, unsigned *pending)
{
    (void)d;
    if (planted("mig", 0) < 0) return 3; /* not supported: a board that has no such thing */
    *now = *pending = planted("mig", 0) > 0;
    return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(device d, unsigned *n)
{
    (void)d;
    *n = 7;
    return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(device d, unsigned i, device *out)
{
    (void)d;
    if (i >= planted("mig", 0) || i >= 16) return 6; /* not found */
    *out = (device)&slice[i];
    return 0;
}

int nvmlDeviceGetUUID(device d, char *out, unsigned size)
{
    snprintf(out, size, "MIG-%d", (int)((int *)d - slice));
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *n, void *out)
{
    (void)d;
    (void)out;
    *n = 0;
    return 0;
}
