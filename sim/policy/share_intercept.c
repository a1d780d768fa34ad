/* policy/share_intercept.c - a preloaded library meters allocations and launches (HAMi-core, vCUDA,
 * cGPU kind). Below the quota layer the card is time-sliced.
 *
 * Memory quota: bytes, hard, set aside by the scheduler. Compute quota g (the fraction asked for):
 *   hard   speed <= min(1, g / need) with need = (compute + memory) x sm_width; the throttled
 *          tenant sleeps, and what it leaves goes to the others
 *   soft   idle quota is lent: no ceiling
 *   bucket what a token bucket makes of quotas (HAMi-core): a tenant alone is not throttled, idle
 *          quota is lent, and two always-busy tenants with quotas a and b complete work in the ratio
 *          (a / b)^gain. The gain is a property of board and version, since the bucket charges
 *          thread blocks and is corrected in steps that grow with the square of the SMs, while work
 *          grows with the SMs: 0.19 on a board of 188 SMs (30 and 70 land at 46 and 54; HAMi-core
 *          issue 314), 1.17 there with steps linear in SMs (PR 317), 0.82 to 0.95 where 10 and 90
 *          gave 1:6 to 1:8 (HAMi issue 2863). Unless the scenario or a measured profile says
 *          otherwise it falls linearly from the profile's default at 108 SMs to 0.19 at 188
 *          A quota that is charged at launches cannot stop what CUDA graphs launch (HAMi-core meters
 *          the graph's launch, not its kernels): with a share G of the time on the card from graphs a
 *          tenant of quota a weighs as one of a + (1 - a) G
 *   none   memory quota only
 * `sizes` are the shares that are for sale where slices are rented (a cloud's 1/6, 1/3 and 1/2 of a
 * card): a fraction takes the smallest that holds its compute and its bytes, and all its bytes are
 * set aside. Price books charge the share held (scenarios/prices/rent-slices.json).
 * Cost: the hook takes its time at every launch, on the host, where nothing hides it: that explains the
 * published overheads of applications best. With `hides` it is hidden as far as launch and hook
 * together are shorter than the kernel that runs meanwhile: a launch finds the card idle with the
 * job's host share; else, with kernels of exponential length of mean k (kernel_us; not stated: as
 * without), a launch of L and a hook of h show
 *
 *     E[max(k, L + h)] - E[max(k, L)] = h - k x (exp(-L/k) - exp(-(L + h)/k))
 *
 * of the hook: all of it for the shortest kernels, next to nothing for long ones. Against the
 * overheads of vLLM under two versions of HAMi-core, one cost fitted to each, that is off by 1.7 % in
 * the mean and 4.6 % at worst, without hiding by 1.6 % and 3.1 %: locks and bookkeeping count, not
 * launches alone, so it is not the default.
 *
 * The time is spent off the card, so co-tenants meet the job a little less often: what they gain is
 * less than what it loses (the card's work does not grow).
 * An allocation that reaches the driver takes `alloc` longer (the profile's intercept.alloc_us; the published
 * figure swings, so its range is wide).
 * Every start takes the start-up time, which grows with the processes already on the card (a lock
 * is taken in turn). */
#include "policy/blast.h"
#include "policy/bytes.h"
#include "policy/timeshare.h"

#include <math.h>

enum enforce { ENFORCE_NONE, ENFORCE_SOFT, ENFORCE_BUCKET, ENFORCE_HARD };
static const char *const enforce_names[] = { "none", "soft", "bucket", "hard", NULL };
enum unset_memory { UNSET_SHARE, UNSET_CARD };
static const char *const unset_memory_names[] = { "share", "card", NULL };

struct intercept {
    int enforce, unset_memory, fault;
    bool hides;
    simtime launch, native_launch, alloc, startup, startup_per_process, quantum, switch_;
    double gain;
    json_t *sizes;
    double launch_s, native_s, alloc_s, switch_ratio; /* bound, as is the rest */
    int32_t *size;                                    /* thousandths, ascending */
    size_t n_sizes;
};

enum {
    FIELD_LAUNCH,
    FIELD_STARTUP,
    FIELD_PER_PROCESS,
    FIELD_QUANTUM,
    FIELD_SWITCH,
    FIELD_GAIN,
    FIELD_NATIVE,
    FIELD_ALLOC
};
static const struct cfg_field fields[] = {
    [FIELD_LAUNCH] = CFG_FIELD(struct intercept, launch, CFG_TIME, NULL, 0, 1,
                               "hook time per kernel launch; default from the profile"),
    [FIELD_STARTUP] = CFG_FIELD(struct intercept, startup, CFG_TIME, NULL, 0, 3600,
                                "start-up of the library; default from the profile"),
    [FIELD_PER_PROCESS] = CFG_FIELD(struct intercept, startup_per_process, CFG_TIME, NULL, 0, 3600,
                                    "more of it per process already there; default from the "
                                    "profile"),
    [FIELD_QUANTUM] = CFG_FIELD(struct intercept, quantum, CFG_TIME, NULL, 1e-6, 10,
                                "length of a turn below the quota layer; default from the profile"),
    [FIELD_SWITCH] = { .name = "switch",
                       .type = CFG_TIME,
                       .offset = offsetof(struct intercept, switch_),
                       .min = 0,
                       .max = 10,
                       .help = "time lost at a change of tenant; default from the profile" },
    [FIELD_GAIN] = CFG_FIELD(struct intercept, gain, CFG_REAL, NULL, 0, 2,
                             "bucket: quotas a and b complete work as (a/b)^gain; default from the "
                             "profile"),
    [FIELD_NATIVE] = CFG_FIELD(struct intercept, native_launch, CFG_TIME, NULL, 0, 1,
                               "host time of a launch without the library; default from the "
                               "profile"),
    [FIELD_ALLOC] = CFG_FIELD(struct intercept, alloc, CFG_TIME, NULL, 0, 1,
                              "hook time per allocation; default from the profile"),
    CFG_FIELD(struct intercept, hides, CFG_BOOL, "false", 0, 0,
              "hook time is hidden behind kernels that are longer than the launch"),
    CFG_ONE_OF(struct intercept, enforce, enforce_names, "soft",
               "compute quota: none, soft (idle time is lent), bucket (soft, and shares as a token "
               "bucket gives them), hard"),
    CFG_ONE_OF(struct intercept, unset_memory, unset_memory_names, "share",
               "a job that names no memory claims its share of the card, or the whole card"),
    CFG_FIELD(struct intercept, sizes, CFG_JSON, NULL, 0, 0,
              "shares of a card that are for sale; a fraction takes the smallest that holds it"),
    CFG_ONE_OF(struct intercept, fault, blast_names, "job", BLAST_HELP),
};
enum { USES_GAIN = FIELD_GAIN, USES_NATIVE = FIELD_NATIVE }; /* in the order of the fields */
static const enum profile_param uses[] = {
    PROFILE_intercept_launch_ns,
    PROFILE_intercept_startup_ms,
    PROFILE_intercept_startup_per_process_ms,
    PROFILE_timeslice_quantum_us,
    PROFILE_timeslice_switch_us,
    [USES_GAIN] = PROFILE_intercept_core_gain,
    [USES_NATIVE] = PROFILE_base_launch_us,
    PROFILE_intercept_alloc_us,
};
static const size_t overrides[] = { FIELD_LAUNCH, FIELD_STARTUP, FIELD_PER_PROCESS, FIELD_QUANTUM,
                                    FIELD_SWITCH, FIELD_GAIN,    FIELD_NATIVE,      FIELD_ALLOC };

static bool reads(const void *params, size_t which)
{
    const struct intercept *p = params;
    if (which == USES_GAIN) return p->enforce == ENFORCE_BUCKET;
    return which != USES_NATIVE || p->hides;
}

/* The board's size decides how well its bucket holds: not the profile's figure for any card. */
static double value(const void *params, size_t which)
{
    return which == USES_GAIN ? ((const struct intercept *)params)->gain : NAN;
}

/* A parameter of the scenario, else of the profile (`scale` turns its unit into ns). */
static simtime or_profile(simtime given, const struct param *from, double scale)
{
    return given == CFG_NO_TIME ? (simtime)llround(from->value * scale) : given;
}

/* Large boards are limited less: see above. */
static double default_gain(const struct card_type *type)
{
    const double small = type->profile->param[PROFILE_intercept_core_gain].value;
    const double small_sms = 108, large_sms = 188, large = 0.19;
    if (type->profile->from_file[PROFILE_intercept_core_gain]) return small;
    const double x = (type->gpu->sms - small_sms) / (large_sms - small_sms);
    return small + (large - small) * fmin(1.0, fmax(0.0, x));
}

static const char *sizes_read(struct intercept *p, struct arena *a)
{
    const size_t n = json_array_size(p->sizes); /* 0 for anything else */
    p->n_sizes = 0;
    if (!p->sizes) return NULL;
    if (n == 0) return "sizes: expected a list of shares such as [0.25, 0.5]";
    p->size = arena_array(a, n, sizeof *p->size);
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(p->sizes, i);
        const double share = json_is_number(v) ? json_number_value(v) : 0;
        if (!(share >= 0.001 && share <= 0.999))
            return arena_printf(a, "sizes[%zu]: expected a share from 0.001 to 0.999", i);
        const int32_t milli = (int32_t)(share * 1000 + 1e-9); /* six of 0.1667 fill a card */
        if (p->n_sizes && milli <= p->size[p->n_sizes - 1])
            return arena_printf(a, "sizes[%zu]: expected more than the one before", i);
        p->size[p->n_sizes++] = milli;
    }
    return NULL;
}

static const char *bind(void *params, struct arena *a, const struct card_type *type)
{
    struct intercept *p = params;
    const struct param *known = type->profile->param;
    p->launch_s = p->launch == CFG_NO_TIME ? known[PROFILE_intercept_launch_ns].value / 1e9
                                           : simtime_s(p->launch);
    p->launch = or_profile(p->launch, &known[PROFILE_intercept_launch_ns], 1);
    p->native_launch = or_profile(p->native_launch, &known[PROFILE_base_launch_us], 1e3);
    p->native_s = simtime_s(p->native_launch);
    p->alloc = or_profile(p->alloc, &known[PROFILE_intercept_alloc_us], 1e3);
    p->alloc_s = simtime_s(p->alloc);
    p->startup = or_profile(p->startup, &known[PROFILE_intercept_startup_ms], 1e6);
    p->startup_per_process =
        or_profile(p->startup_per_process, &known[PROFILE_intercept_startup_per_process_ms], 1e6);
    p->switch_ratio = timeshare_turns(type->profile, &p->quantum, &p->switch_);
    if (isnan(p->gain)) p->gain = default_gain(type);
    return sizes_read(p, a);
}

/* Of a card's compute; each may go to another tenant. */
enum { THOUSANDTHS = 1000 };
_Static_assert((int)THOUSANDTHS <= (int)TIMESHARE_MAX,
               "a card full of the smallest tenants can be solved");

static int32_t capacity(const void *params, const struct card_type *type)
{
    (void)params, (void)type;
    return THOUSANDTHS;
}

/* The smallest size for sale that holds the request; the whole card where none does. */
static const char *demand_of_size(const struct intercept *p, const struct card_type *type,
                                  const struct request *request, struct demand *out)
{
    const char *why = bytes_demand(type, request, 0.0, true, out);
    int32_t milli = 1000;
    for (size_t i = p->n_sizes; i-- > 0;) {
        const double bytes = (double)type->gpu->usable_bytes * p->size[i] / 1000;
        if (request->gpus_milli <= p->size[i] + 1 && (double)out->alloc_bytes <= bytes)
            milli = p->size[i];
    }
    out->cards = 1;
    out->units = milli;
    out->core_cap = p->enforce == ENFORCE_HARD ? milli / 1000.0 : 1.0;
    out->mig_profile = -1;
    out->reserve_bytes = (uint64_t)((double)type->gpu->usable_bytes * milli / 1000);
    if (request->bytes == JOB_NO_BYTES) out->alloc_bytes = out->reserve_bytes;
    return why;
}

static const char *demand(const void *params, const struct card_type *type,
                          const struct request *request, struct demand *out)
{
    const struct intercept *p = params;
    const bool whole = request->gpus_milli >= 1000;
    const double share = whole ? 1.0 : request->gpus_milli / 1000.0;
    if (p->n_sizes && !whole && request->gpus_milli > 0)
        return demand_of_size(p, type, request, out);
    out->cards = whole ? request->gpus_milli / 1000 : request->gpus_milli > 0;
    out->units = whole ? 1000 : request->gpus_milli;
    out->core_cap = p->enforce == ENFORCE_HARD ? share : 1.0;
    out->mig_profile = -1;
    return bytes_demand(type, request, p->unset_memory == UNSET_CARD ? 1.0 : share, true, out);
}

/* Seconds of hook time per launch that nothing hides. */
static double hook_shows(const struct intercept *p, const struct signature *s)
{
    const double k = s->kernel_us / 1e6, h = p->launch_s;
    if (!p->hides || isnan(k)) return h;
    const double behind = h + k * exp(-p->native_s / k) * expm1(-h / k);
    return s->host * h + (1 - s->host) * fmax(0.0, behind);
}

static void speeds(const void *params, const struct share_view *v, double speed[])
{
    const struct intercept *p = params;
    struct turn_taker t[TIMESHARE_MAX];
    double cap[TIMESHARE_MAX], weight[TIMESHARE_MAX];
    for (size_t i = 0; i < v->n; i++) {
        const struct signature *s = v->resident[i].sig;
        const double gpu = s->compute + s->memory;
        const double need = gpu * s->sm_width;
        const double quota = v->resident[i].demand->core_cap;
        t[i] = (struct turn_taker){
            .delay = s->host + s->launches_per_s * hook_shows(p, s) + s->allocs_per_s * p->alloc_s,
            .demand = gpu,
            .spared = timeshare_spared(v->type->gpu, s->sm_width, simtime_s(p->quantum)),
        };
        cap[i] = quota < need ? quota / need : INFINITY;
        const double share = v->resident[i].demand->units / 1000.0;
        weight[i] = pow(share + (1 - share) * s->graphs, p->gain);
    }
    if (p->enforce == ENFORCE_BUCKET)
        timeshare_weighted(t, weight, v->n, p->switch_ratio, speed);
    else
        timeshare_capped(t, p->enforce == ENFORCE_HARD ? cap : NULL, v->n, p->switch_ratio, speed);
}

static simtime startup(const void *params, const struct card_type *type, size_t residents)
{
    const struct intercept *p = params;
    (void)type;
    return p->startup + p->startup_per_process * (simtime)residents;
}

static double burst_s(const void *params, double work_s, double others)
{
    const struct intercept *p = params;
    return timeshare_burst_s(work_s, others, simtime_s(p->quantum + p->switch_));
}

static enum blast blast(const void *params, const struct card_type *type)
{
    (void)type;
    return (enum blast)((const struct intercept *)params)->fault;
}

const struct share_ops share_intercept = {
    .name = "intercept",
    .help = "a preloaded library enforces memory and compute quotas over time slicing",
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct intercept),
    .uses = uses,
    .overrides = overrides,
    .uses_n = sizeof uses / sizeof *uses,
    .reads = reads,
    .value = value,
    .bills_memory = true,
    .keeps_duty = true,
    .bind = bind,
    .capacity = capacity,
    .demand = demand,
    .speeds = speeds,
    .startup = startup,
    .burst_s = burst_s,
    .blast = blast,
};
