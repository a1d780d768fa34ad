/* calibrate/probe_device.c - which card this is and what stands before it: the board as NVML sees
 * it against the device as CUDA, and so every framework, sees it. */
#include "calibrate/probe.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Marketing names whose form or memory is not in the name itself, or not in catalogue order. */
static const struct {
    const char *name, *key;
} known_names[] = {
    { "NVIDIA A100 80GB PCIe", "a100-pcie-80gb" },
    { "NVIDIA H100 80GB HBM3", "h100-sxm5-80gb" },
    { "NVIDIA H100 PCIe", "h100-pcie-80gb" },
    { "NVIDIA H100 NVL", "h100-nvl-94gb" },
    { "NVIDIA H200", "h200-sxm5-141gb" },
    { "NVIDIA H200 NVL", "h200-nvl-141gb" },
    { "NVIDIA H800", "h800-sxm5-80gb" },
    { "NVIDIA GeForce RTX 4090", "rtx4090" },
    { "NVIDIA RTX 6000 Ada Generation", "rtx6000ada" },
    { "NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtxpro6000bw-se" },
    { "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtxpro6000bw-ws" },
};

char *device_gpu_key(char *buf, size_t size, const char *name)
{
    for (size_t i = 0; i < sizeof known_names / sizeof *known_names; i++) {
        if (strcmp(name, known_names[i].name) == 0) {
            snprintf(buf, size, "%s", known_names[i].key);
            return buf;
        }
    }
    if (strncmp(name, "NVIDIA ", 7) == 0)
        name += 7;
    else if (strncmp(name, "Tesla ", 6) == 0)
        name += 6;
    size_t n = 0;
    for (; *name && n + 1 < size; name++) {
        const unsigned char c = (unsigned char)*name;
        if (isalnum(c) || c == '.')
            buf[n++] = (char)tolower(c);
        else if (n && buf[n - 1] != '-')
            buf[n++] = '-';
    }
    while (n && buf[n - 1] == '-') n--;
    buf[n] = '\0';
    return buf;
}

static const char *tri_text(enum tri t)
{
    return t == TRI_YES ? "yes" : t == TRI_NO ? "no" : "unknown";
}

static const char *virt_text(enum virt v)
{
    switch (v) {
    case VIRT_NONE: return "none";
    case VIRT_PASSTHROUGH: return "passed through to a virtual machine";
    case VIRT_VGPU: return "vGPU";
    case VIRT_HOST: return "vGPU host";
    case VIRT_UNKNOWN: break;
    }
    return "unknown";
}

static const char *compute_mode_text(int mode)
{
    static const char *const text[] = { "default", "exclusive thread", "prohibited",
                                        "exclusive process" };
    return mode >= 0 && mode < 4 ? text[mode] : "unknown";
}

/* 0.9: a board keeps a few percent for itself (ECC, page tables); a quota takes more. */
static bool memory_is_limited(const struct device_info *i)
{
    return i->board_bytes && i->memory_bytes &&
           (double)i->memory_bytes < 0.9 * (double)i->board_bytes;
}

/* What makes this device less than, or other than, the board. Each is a sentence; ends with
 * NULL. */
enum { NOTES_MAX = 8 };
static size_t find_notes(const struct device_info *i, char note[NOTES_MAX][400])
{
    size_t n = 0;
    if (i->mig_instance)
        snprintf(note[n++], 400, "this is a MIG instance: %d SMs and %.1f GiB of the board", i->sms,
                 (double)i->memory_bytes / (1 << 30));
    else if (i->mig_mode == TRI_YES)
        snprintf(note[n++], 400, "MIG mode is on but the whole board is visible");
    if (i->virt == VIRT_VGPU)
        snprintf(note[n++], 400, "this is a virtual card (vGPU), not the board");
    if (!i->mig_instance && memory_is_limited(i))
        snprintf(note[n++], 400,
                 "CUDA sees %.1f of the board's %.1f GiB: a memory quota is in force",
                 (double)i->memory_bytes / (1 << 30), (double)i->board_bytes / (1 << 30));
    if (i->preload[0])
        snprintf(note[n++], 400, "libraries are preloaded and may intercept calls: %s", i->preload);
    if (i->mps == TRI_YES) snprintf(note[n++], 400, "contexts go through an MPS server");
    if (i->other_processes > 0)
        snprintf(note[n++], 400,
                 "%d other processes hold contexts on the board: figures may be disturbed",
                 i->other_processes);
    if (!i->nvml)
        snprintf(note[n++], 400,
                 "NVML does not answer: power, clocks, MIG mode and neighbours are unknown");
    return n;
}

static void print_W(FILE *to, const char *label, double W)
{
    if (isnan(W))
        fprintf(to, "%-22s unknown\n", label);
    else
        fprintf(to, "%-22s %.1f W\n", label, W);
}

void device_describe(const struct device_info *i, FILE *to)
{
    char key[128], note[NOTES_MAX][400];
    const size_t notes = find_notes(i, note);

    fprintf(to, "as CUDA and any framework sees it\n");
    fprintf(to, "%-22s %s\n", "  name", i->name);
    fprintf(to, "%-22s %s\n", "  catalogue key", device_gpu_key(key, sizeof key, i->name));
    fprintf(to, "%-22s %s\n", "  uuid", i->uuid[0] ? i->uuid : "unknown");
    fprintf(to, "%-22s %s\n", "  pci", i->pci[0] ? i->pci : "unknown");
    fprintf(to, "%-22s %d.%d\n", "  compute capability", i->cc_major, i->cc_minor);
    fprintf(to, "%-22s %d\n", "  SMs", i->sms);
    fprintf(to, "%-22s %.2f GiB\n", "  memory", (double)i->memory_bytes / (1 << 30));
    fprintf(to, "%-22s %.1f MiB\n", "  L2", (double)i->l2_bytes / (1 << 20));
    fprintf(to, "%-22s %d.%d\n", "  CUDA", i->cuda_version / 1000, i->cuda_version % 1000 / 10);
    fprintf(to, "%-22s %s\n", "  MPS", tri_text(i->mps));
    fprintf(to, "as the driver's management library (NVML) sees the board\n");
    fprintf(to, "%-22s %s\n", "  driver", i->driver[0] ? i->driver : "unknown");
    fprintf(to, "%-22s %s\n", "  name", i->board_name[0] ? i->board_name : "unknown");
    if (i->board_bytes)
        fprintf(to, "%-22s %.2f GiB\n", "  memory", (double)i->board_bytes / (1 << 30));
    print_W(to, "  power cap", i->power_cap_W);
    print_W(to, "  default power cap", i->power_default_W);
    fprintf(to, "%-22s %s\n", "  ECC", tri_text(i->ecc));
    fprintf(to, "%-22s %s\n", "  MIG mode", tri_text(i->mig_mode));
    fprintf(to, "%-22s %s\n", "  persistence", tri_text(i->persistence));
    fprintf(to, "%-22s %s\n", "  compute mode", compute_mode_text(i->compute_mode));
    fprintf(to, "%-22s %s\n", "  virtualisation", virt_text(i->virt));
    if (i->other_processes < 0)
        fprintf(to, "%-22s unknown\n", "  other processes");
    else
        fprintf(to, "%-22s %d\n", "  other processes", i->other_processes);
    for (size_t n = 0; n < notes; n++) fprintf(to, "note: %s\n", note[n]);
}

static json_t *text_or_null(const char *s)
{
    return s[0] ? json_string(s) : json_null();
}

static json_t *tri_json(enum tri t)
{
    return t == TRI_UNKNOWN ? json_null() : json_boolean(t == TRI_YES);
}

static json_t *sensors_json(const struct device_sensors *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "sm_Hz", json_num(s->sm_Hz));
    json_object_set_new(o, "mem_Hz", json_num(s->mem_Hz));
    json_object_set_new(o, "power_W", json_num(s->power_W));
    json_object_set_new(o, "temperature_C", json_num(s->temperature_C));
    json_object_set_new(o, "throttled", tri_json(s->throttled));
    return o;
}

json_t *device_json(const struct device_info *i, const struct device_sensors *before,
                    const struct device_sensors *after)
{
    json_t *o = json_object(), *list = json_array();
    char cc[16], cuda[16], note[NOTES_MAX][400];
    const size_t notes = find_notes(i, note);

    snprintf(cc, sizeof cc, "%d.%d", i->cc_major, i->cc_minor);
    snprintf(cuda, sizeof cuda, "%d.%d", i->cuda_version / 1000, i->cuda_version % 1000 / 10);
    json_object_set_new(o, "name", json_string(i->name));
    json_object_set_new(o, "uuid", text_or_null(i->uuid));
    json_object_set_new(o, "driver", text_or_null(i->driver));
    json_object_set_new(o, "cuda", json_string(cuda));
    json_object_set_new(o, "compute_capability", json_string(cc));
    json_object_set_new(o, "sms", json_integer(i->sms));
    json_object_set_new(o, "memory_bytes", json_integer((json_int_t)i->memory_bytes));
    json_object_set_new(o, "l2_bytes", json_integer((json_int_t)i->l2_bytes));
    json_object_set_new(o, "sm_max_Hz", json_num(i->sm_max_Hz));
    json_object_set_new(o, "mem_max_Hz", json_num(i->mem_max_Hz));
    json_object_set_new(o, "mem_bus_bits", json_integer(i->mem_bus_bits));
    json_object_set_new(o, "board_name", text_or_null(i->board_name));
    json_object_set_new(o, "board_bytes",
                        i->board_bytes ? json_integer((json_int_t)i->board_bytes) : json_null());
    json_object_set_new(o, "power_cap_W", json_num(i->power_cap_W));
    json_object_set_new(o, "power_default_W", json_num(i->power_default_W));
    json_object_set_new(o, "ecc", tri_json(i->ecc));
    json_object_set_new(o, "mig_mode", tri_json(i->mig_mode));
    json_object_set_new(o, "mig_instance", json_boolean(i->mig_instance));
    json_object_set_new(o, "virtualisation", json_string(virt_text(i->virt)));
    json_object_set_new(o, "persistence", tri_json(i->persistence));
    json_object_set_new(o, "compute_mode", json_string(compute_mode_text(i->compute_mode)));
    json_object_set_new(o, "mps", tri_json(i->mps));
    json_object_set_new(o, "other_processes",
                        i->other_processes < 0 ? json_null() : json_integer(i->other_processes));
    json_object_set_new(o, "before", sensors_json(before));
    json_object_set_new(o, "after", sensors_json(after));
    for (size_t n = 0; n < notes; n++) json_array_append_new(list, json_string(note[n]));
    json_object_set_new(o, "notes", list);
    return o;
}

const struct probe probe_device = {
    .name = "device",
    .help =
        "identity, clocks, power cap, ECC, MIG, MPS, neighbours; device as seen against board (always)",
};
