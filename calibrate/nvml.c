#include "calibrate/nvml.h"
#include "calibrate/nvml_calls.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_SENSOR_GPU = 0 };
enum { NVML_NOT_SUPPORTED = 3, NVML_ERROR_INSUFFICIENT = 7 };

/* Slow-downs that make a timing worthless: hardware slow-down, thermal (driver and hardware), power
 * brake. The software power cap (0x4) is how a busy card runs and is not among them. */
enum { NVML_THROTTLE_BAD = 0x8 | 0x20 | 0x40 | 0x80 };

struct nvml {
    void *lib;
    nvml_dev board; /* NULL: not found */
#define X(member, symbol, type) __typeof__((type)0) member;
    NVML_CALLS(X)
#undef X
};

/* POSIX lets a symbol's address become a function pointer; ISO C wants the detour. */
static void load(void *lib, const char *symbol, void *function, size_t size)
{
    void *p = dlsym(lib, symbol);
    memcpy(function, &p, size);
}

struct nvml *nvml_open(void)
{
    void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib) return NULL;

    struct nvml *m = xcalloc(1, sizeof *m);
    m->lib = lib;
#define X(member, symbol, type) load(lib, #symbol, &m->member, sizeof m->member);
    NVML_CALLS(X)
#undef X
    if (!m->init || m->init() != 0) {
        dlclose(lib);
        free(m);
        return NULL;
    }
    return m;
}

void nvml_close(struct nvml *m)
{
    if (!m) return;
    if (m->shutdown) m->shutdown();
    dlclose(m->lib);
    free(m);
}

static double link_Bps(unsigned generation, unsigned lanes)
{
    /* GB/s of one lane, one way, after line coding: PCI Express base specification 1.0 to 6.0. */
    static const double lane[] = { 0, 0.250, 0.500, 0.985, 1.969, 3.938, 7.563 };
    if (generation == 0 || generation >= sizeof lane / sizeof *lane || lanes == 0) return NAN;
    return lane[generation] * 1e9 * lanes;
}

static int count_processes(const struct nvml *m)
{
    unsigned compute = 0, graphics = 0; /* asked with no room: the count comes back */
    if (!m->compute_procs) return -1;
    nvml_ret r = m->compute_procs(m->board, &compute, NULL);
    if (r != 0 && r != NVML_ERROR_INSUFFICIENT) return -1;
    if (m->graphics_procs) {
        r = m->graphics_procs(m->board, &graphics, NULL);
        if (r != 0 && r != NVML_ERROR_INSUFFICIENT) graphics = 0;
    }
    return (int)(compute + graphics);
}

static enum virt virt_of(unsigned mode)
{
    switch (mode) { /* nvmlGpuVirtualizationMode_t */
    case 0: return VIRT_NONE;
    case 1: return VIRT_PASSTHROUGH;
    case 2: return VIRT_VGPU;
    case 3:
    case 4: return VIRT_HOST;
    default: return VIRT_UNKNOWN;
    }
}

static enum tri yes_no(bool value)
{
    return value ? TRI_YES : TRI_NO;
}

/* A board that cannot do it at all has it off. */
static enum tri has(nvml_ret r, const unsigned *on)
{
    return r == 0 ? yes_no(*on) : r == NVML_NOT_SUPPORTED ? TRI_NO : TRI_UNKNOWN;
}

void nvml_describe(struct nvml *m, struct device_info *info)
{
    nvml_dev own = NULL;
    unsigned u = 0, v = 0, a = 0, b = 0;
    nvml_memory mem;

    if (m->driver && m->driver(info->driver, sizeof info->driver) != 0) info->driver[0] = '\0';
    /* A slice has its own handle by UUID; power, link and neighbours belong to the board behind
     * it. */
    if (m->by_uuid && m->by_uuid(info->uuid, &own) == 0 && m->is_mig && m->is_mig(own, &u) == 0)
        info->mig_instance = info->mig_instance || u != 0;
    if (m->by_pci && info->pci[0] && m->by_pci(info->pci, &m->board) != 0) m->board = NULL;
    if (!m->board && !info->mig_instance) m->board = own;
    if (!m->board) return;

    info->nvml = true;
    if (m->name && m->name(m->board, info->board_name, sizeof info->board_name) != 0)
        info->board_name[0] = '\0';
    if (m->memory && m->memory(m->board, &mem) == 0) info->board_bytes = mem.total;
    if (m->power_cap && m->power_cap(m->board, &u) == 0) info->power_cap_W = u / 1e3;
    if (m->power_default && m->power_default(m->board, &u) == 0) info->power_default_W = u / 1e3;
    if (m->link_gen && m->link_width && m->link_gen(m->board, &u) == 0 &&
        m->link_width(m->board, &v) == 0)
        info->link_Bps = link_Bps(u, v);
    if (m->ecc) info->ecc = has(m->ecc(m->board, &a, &b), &a);
    if (m->mig) info->mig_mode = has(m->mig(m->board, &u, &v), &u);
    if (m->virt && m->virt(m->board, &a) == 0) info->virt = virt_of(a);
    if (m->persistence && m->persistence(m->board, &a) == 0) info->persistence = yes_no(a);
    if (m->compute_mode && m->compute_mode(m->board, &a) == 0) info->compute_mode = (int)a;
    info->other_processes = count_processes(m);
}

void nvml_sensors(struct nvml *m, struct device_sensors *out)
{
    unsigned u = 0;
    unsigned long long reasons = 0;

    *out = (struct device_sensors){ NAN, NAN, NAN, NAN, TRI_UNKNOWN };
    if (!m || !m->board) return;
    if (m->clock && m->clock(m->board, NVML_CLOCK_SM, &u) == 0) out->sm_Hz = u * 1e6;
    if (m->clock && m->clock(m->board, NVML_CLOCK_MEM, &u) == 0) out->mem_Hz = u * 1e6;
    if (m->power && m->power(m->board, &u) == 0) out->power_W = u / 1e3;
    if (m->temperature && m->temperature(m->board, NVML_SENSOR_GPU, &u) == 0)
        out->temperature_C = u;
    if ((m->events && m->events(m->board, &reasons) == 0) ||
        (m->throttle && m->throttle(m->board, &reasons) == 0))
        out->throttled = yes_no((reasons & NVML_THROTTLE_BAD) != 0);
}

size_t nvml_mig_uuids(struct nvml *m, const struct device_info *info,
                      char out[NVML_MIG_MAX][NVML_UUID_SIZE])
{
    nvml_dev board = NULL, slice;
    unsigned most = 0;
    size_t n = 0;
    if (!m || !m->by_pci || !m->mig_count || !m->mig_at || !m->uuid) return 0;
    if (m->by_pci(info->pci, &board) != 0 || m->mig_count(board, &most) != 0) return 0;
    for (unsigned i = 0; i < most && n < NVML_MIG_MAX; i++)
        if (m->mig_at(board, i, &slice) == 0 && m->uuid(slice, out[n], NVML_UUID_SIZE) == 0) n++;
    return n;
}
