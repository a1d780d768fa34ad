/* policy/share_timeslice.c - tenants take turns on the whole card, one context at a time.
 *
 * Slots limit admission and give neither a share nor memory (device-plugin semantics, USERS.md part
 * 0). `memory`: "unchecked" as on real clusters (the one that allocates last fails), "reserve" (the
 * scheduler counts bytes), or "swap" (unified memory with turns long enough, as nvshare does: what
 * does not fit lies on the host, and whoever gets the turn brings his own in and pushes others'
 * out; USERS.md X04). `fault`: contexts have address spaces of their own, but the device plugin
 * promises no fault isolation and reports disagree (USERS.md X09), so how far a fault reaches is a
 * parameter.
 *
 * `vgpu` makes it a hypervisor's time-sliced vGPUs: each has 1/slots of the frame buffer, its
 * context inside, as a partition (an allocation beyond fails however much the others leave),
 * `overhead` is what the hypervisor costs, and turns follow one of the vendor's schedulers (NVIDIA
 * vGPU documentation):
 *   best_effort  round robin among those with work, as without a hypervisor
 *   equal_share  each vGPU that exists has an equal part of the time, used or not: host_i off the
 *                card, and n x (compute_i + memory_i) on it
 *   fixed_share  each has 1/slots of the time, also while it is alone
 * In the last two, nobody's load moves anybody's speed, and what one leaves is lost. */
#include "policy/blast.h"
#include "policy/bytes.h"
#include "policy/timeshare.h"

#include <math.h>

enum { MAX_SLOTS = 64 };

enum memory_rule { MEMORY_UNCHECKED, MEMORY_RESERVE, MEMORY_SWAP };
static const char *const memory_rules[] = { "unchecked", "reserve", "swap", NULL };

enum vgpu { VGPU_NONE, VGPU_BEST_EFFORT, VGPU_EQUAL_SHARE, VGPU_FIXED_SHARE };
static const char *const vgpus[] = { "none", "best_effort", "equal_share", "fixed_share", NULL };

struct timeslice {
    int64_t slots;
    simtime quantum, switch_;
    double overhead;
    int memory, fault, vgpu;
    double switch_ratio; /* bound: switch / quantum */
};

enum { FIELD_SLOTS, FIELD_QUANTUM, FIELD_SWITCH };
static const struct cfg_field fields[] = {
    [FIELD_SLOTS] =
        CFG_FIELD(struct timeslice, slots, CFG_INT, "4", 1, MAX_SLOTS, "tenants a card admits"),
    [FIELD_QUANTUM] = CFG_FIELD(struct timeslice, quantum, CFG_TIME, NULL, 1e-6, 3600,
                                "length of a turn; default from the profile"),
    [FIELD_SWITCH] = { .name = "switch",
                       .type = CFG_TIME,
                       .offset = offsetof(struct timeslice, switch_),
                       .min = 0,
                       .max = 10,
                       .help = "time lost at a change of tenant; default from the profile" },
    CFG_FIELD(struct timeslice, overhead, CFG_RATIO, "0", 0, 0.9,
              "part of the speed a hypervisor takes"),
    CFG_ONE_OF(struct timeslice, memory, memory_rules, "unchecked",
               "nobody counts bytes, the scheduler reserves them, or what does not fit is swapped"),
    CFG_ONE_OF(struct timeslice, fault, blast_names, "job", BLAST_HELP),
    CFG_ONE_OF(struct timeslice, vgpu, vgpus, "none",
               "vGPUs of a hypervisor, 1/slots of the memory each, and who gets the turns"),
};
static const enum profile_param uses[] = { PROFILE_timeslice_quantum_us,
                                           PROFILE_timeslice_switch_us };
static const size_t overrides[] = { FIELD_QUANTUM, FIELD_SWITCH };

static const char *bind(void *params, struct arena *a, const struct card_type *type)
{
    struct timeslice *p = params;
    (void)a;
    if (p->memory == MEMORY_SWAP && !(type->gpu->pcie_Bps > 0))
        return "\"memory\": \"swap\" needs the speed of its PCIe link, which is unknown";
    if (p->vgpu != VGPU_NONE && p->memory != MEMORY_UNCHECKED)
        return "\"vgpu\" divides the memory: leave \"memory\" out";
    p->switch_ratio = timeshare_turns(type->profile, &p->quantum, &p->switch_);
    return NULL;
}

static int32_t capacity(const void *params, const struct card_type *type)
{
    (void)type;
    return (int32_t)((const struct timeslice *)params)->slots;
}

static const char *demand(const void *params, const struct card_type *type,
                          const struct request *request, struct demand *out)
{
    const struct timeslice *p = params;
    out->cards = request_cards(request);
    out->units = request->slots;
    out->core_cap = 1.0;
    out->mig_profile = -1;
    if (request->slots > p->slots) return "it asks for more slots than a card has";
    const char *why =
        bytes_demand(type, request, 1.0 / (double)p->slots, p->memory == MEMORY_RESERVE, out);
    if (p->vgpu != VGPU_NONE) {
        const uint64_t part = type->gpu->usable_bytes / (uint64_t)p->slots * (uint64_t)out->units;
        out->limit_bytes = part > type->context_bytes ? part - type->context_bytes : 0;
        if (request->bytes == JOB_NO_BYTES) out->alloc_bytes = part;
        if (part <= type->context_bytes) why = "its vGPU has no room for a context";
    }
    if (p->memory == MEMORY_SWAP && out->alloc_bytes > type->gpu->usable_bytes)
        why = "it needs more memory than the card has";
    return why;
}

static bool swaps(const void *params)
{
    return ((const struct timeslice *)params)->memory == MEMORY_SWAP;
}

/* Seconds that a resident's turn begins with: its own bytes come in and as many go out, as far as
 * all together exceed the card. The one whose turn is next was away longest, so it is the one that
 * was pushed out. */
static double swap_s(const struct share_view *v, size_t i)
{
    const struct gpu_spec *gpu = v->type->gpu;
    double all = 0;
    for (size_t k = 0; k < v->n; k++) all += (double)v->resident[k].demand->alloc_bytes;
    const double excess = fmax(0.0, all - (double)gpu->usable_bytes);
    return 2 * fmin((double)v->resident[i].demand->alloc_bytes, excess) / gpu->pcie_Bps;
}

/* Turns that nobody else can use. */
static void divided(const struct timeslice *p, const struct share_view *v, double speed[])
{
    const double parts = p->vgpu == VGPU_FIXED_SHARE ? (double)p->slots : (double)v->n;
    for (size_t i = 0; i < v->n; i++) {
        const struct signature *s = v->resident[i].sig;
        const double spared = timeshare_spared(v->type->gpu, s->sm_width, simtime_s(p->quantum));
        const double lost = v->n > 1 ? fmax(0.0, p->switch_ratio - spared) : 0.0;
        const double at_card = (s->compute + s->memory) * parts * (1.0 + lost);
        speed[i] = (1.0 - p->overhead) / (s->host + at_card);
    }
}

static void speeds(const void *params, const struct share_view *v, double speed[])
{
    const struct timeslice *p = params;
    struct turn_taker t[MAX_SLOTS];
    if (p->vgpu >= VGPU_EQUAL_SHARE) {
        divided(p, v, speed);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        const struct signature *s = v->resident[i].sig;
        t[i] = (struct turn_taker){
            .delay = s->host,
            .demand = s->compute + s->memory,
            .spared = timeshare_spared(v->type->gpu, s->sm_width, simtime_s(p->quantum)),
        };
        if (p->memory == MEMORY_SWAP) t[i].spared -= swap_s(v, i) / simtime_s(p->quantum);
    }
    timeshare_speeds(t, v->n, p->switch_ratio, speed);
    for (size_t i = 0; i < v->n; i++) speed[i] *= 1.0 - p->overhead;
}

static double burst_s(const void *params, double work_s, double others)
{
    const struct timeslice *p = params;
    if (p->vgpu == VGPU_FIXED_SHARE) others = (double)p->slots - 1;
    return timeshare_burst_s(work_s / (1 - p->overhead), others,
                             simtime_s(p->quantum + p->switch_));
}

static enum blast blast(const void *params, const struct card_type *type)
{
    (void)type;
    return (enum blast)((const struct timeslice *)params)->fault;
}

const struct share_ops share_timeslice = {
    .name = "timeslice",
    .help = "tenants take turns on the whole card; slots give no share and no memory",
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct timeslice),
    .uses = uses,
    .overrides = overrides,
    .uses_n = sizeof uses / sizeof *uses,
    .meets = true,
    .keeps_duty = true,
    .bind = bind,
    .capacity = capacity,
    .demand = demand,
    .speeds = speeds,
    .swaps = swaps,
    .burst_s = burst_s,
    .blast = blast,
};
