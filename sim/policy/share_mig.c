/* policy/share_mig.c - hardware slices with their own SMs and memory (MIG).
 *
 * A fraction takes the smallest profile that is large enough; k >= 1 takes k empty cards with MIG
 * off. Under a static layout the smallest is sought among the slices that exist. On a slice with SM
 * share C and bandwidth share B (from the board's table, never slices over seven):
 *     time per isolated second = host + compute x max(1, sm_width / C) + memory x max(1, bw_width / B)
 * Slices do not disturb each other but where they share the board:
 *     PCIe    copies of all slices together get `pcie`, in equal parts to those who want more than theirs
 *             (A30: one slice 25.2 GB/s, each of four 6.3; Colfax Research 2024-05)
 *     power   the clock falls when the sum of the slices' draw exceeds the cap. Draw above idle goes with
 *             busy SMs x clock^3 (voltage follows the clock). With every SM busy the cap allows a clock of
 *             1 - power_loss, so with a share a of them min(1, (1 - power_loss) / cbrt(a)). It slows
 *             compute, not memory.
 *
 * "layout": "dynamic" creates instances on demand; "static" needs "slices": a list of profiles or
 * counts by profile for every card, or a list of {"cards": n, "slices": ... | "off"} in fleet order
 * whose last entry serves the rest. "planned" chooses the instances of every card anew each "period",
 * for the "forecast" demand (engine/carve.h); what it leaves open is made on demand. */
#include "base/str.h"
#include "engine/share.h"
#include "policy/bytes.h"

#include <math.h>
#include <string.h>

enum { MOST_WANTED = 64 }; /* more than fit on any card: then the answer names what does */

enum layout_kind { LAYOUT_DYNAMIC, LAYOUT_STATIC, LAYOUT_PLANNED };
static const char *const layout_names[] = { "dynamic", "static", "planned", NULL };
enum forecast { FORECAST_LAST, FORECAST_ORACLE };
static const char *const forecast_names[] = { "last", "oracle", NULL };
enum via { VIA_DIRECT, VIA_OPERATOR };
static const char *const via_names[] = { "direct", "operator", NULL };
#define PERIOD SIM_HOUR /* of planned layouts, unless the scenario says */

/* The next `cards` cards of a group (the last entry: all that are left). */
struct layout_run {
    int64_t cards;
    bool off;
    struct mig_layout layout;
};

struct mig {
    int layout, start, forecast;
    json_t *slices;
    simtime repartition, mode_change, period;
    int via;
    double power_loss, pcie;
    /* bound */
    bool pcie_measured; /* the profile has the rate itself, not a share of the bus's */
    const struct gpu_spec *gpu;
    struct layout_run *run;
    size_t n_runs;
    uint32_t offered; /* profiles of a static layout, a bit each */
};

enum { FIELD_REPARTITION, FIELD_MODE_CHANGE, FIELD_POWER_LOSS, FIELD_PCIE };
static const struct cfg_field fields[] = {
    [FIELD_REPARTITION] = CFG_FIELD(struct mig, repartition, CFG_TIME, NULL, 0, 86400,
                                    "destroying and creating instances; default from the profile"),
    [FIELD_MODE_CHANGE] = CFG_FIELD(struct mig, mode_change, CFG_TIME, NULL, 0, 86400,
                                    "switching MIG mode of an empty card; default from the "
                                    "profile"),
    [FIELD_POWER_LOSS] = CFG_FIELD(struct mig, power_loss, CFG_RATIO, NULL, 0, 0.9,
                                   "clock lost to the power cap with every SM busy; default from "
                                   "the profile"),
    [FIELD_PCIE] = CFG_QUANTITY(struct mig, pcie, UNIT_RATE, NULL, 1e6, 1e13,
                                "bus that the slices of a card share; default from the profile"),
    CFG_ONE_OF(struct mig, via, via_names, NULL,
               "who repartitions: a direct call (if not set), or the GPU operator; times from the "
               "profile"),
    CFG_ONE_OF(struct mig, layout, layout_names, "dynamic", "who decides which slices exist"),
    CFG_FIELD(
        struct mig, slices, CFG_JSON, NULL, 0, 0,
        "static layout: profiles per card, e.g. [\"3g.40gb\", \"2g.20gb\"], or \"off\"; cards that "
        "differ: [{\"cards\": 2, \"slices\": \"off\"}, ...] in fleet order"),
    CFG_ONE_OF(struct mig, start, mig_start_rule_names, "lowest",
               "which legal start an instance takes"),
    CFG_FIELD(struct mig, period, CFG_TIME, NULL, 1, 31622400,
              "planned layout: how often it is planned anew; 1 h unless set"),
    CFG_ONE_OF(struct mig, forecast, forecast_names, NULL,
               "planned layout: arrivals of the last period (if not set), or those to come"),
};
enum { USES_DIRECT, USES_OPERATOR, USES_MODE, USES_POWER, USES_SHARE_OF_BUS, USES_BUS };
static const enum profile_param uses[] = {
    [USES_DIRECT] = PROFILE_mig_repartition_s,         [USES_OPERATOR] = PROFILE_mig_operator_s,
    [USES_MODE] = PROFILE_mig_mode_change_s,           [USES_POWER] = PROFILE_mig_power_loss,
    [USES_SHARE_OF_BUS] = PROFILE_mig_pcie_efficiency, [USES_BUS] = PROFILE_base_h2d_Bps
};
static const size_t overrides[] = { FIELD_REPARTITION, FIELD_REPARTITION, FIELD_MODE_CHANGE,
                                    FIELD_POWER_LOSS,  FIELD_PCIE,        FIELD_PCIE };

static bool reads(const void *params, size_t which)
{
    const struct mig *p = params;
    if (which == USES_DIRECT) return p->via == VIA_DIRECT;
    if (which == USES_OPERATOR) return p->via == VIA_OPERATOR;
    if (which == USES_SHARE_OF_BUS) return !p->pcie_measured;
    return which != USES_BUS || p->pcie_measured;
}

/* "slices: no MIG profile "x" on A100-40GB; did you mean "y"?" */
static const char *no_profile(struct arena *a, const struct mig_geometry *g, const char *word)
{
    const char *names[MIG_MAX_PROFILES];
    char list[200];
    const size_t n = (size_t)g->n_profiles;
    if (strcmp(word, "off") == 0)
        return "slices: \"off\" stands for all slices of a card; cards that differ: "
               "[{\"cards\": 1, \"slices\": \"off\"}, ...]";
    for (size_t i = 0; i < n; i++) names[i] = g->profile[i].name;
    const char *near = str_nearest(word, names, n);
    return near ? arena_printf(a, "slices: \"%s\" is no MIG profile of %s; did you mean \"%s\"?",
                               word, g->board, near)
                : arena_printf(a, "slices: \"%s\" is no MIG profile of %s; it has %s", word,
                               g->board, str_list(list, sizeof list, names, n));
}

/* Profiles named by a list or by counts into want[]; their number, or -1 with *why. */
static int wanted_profiles(const struct mig_geometry *g, const json_t *slices, struct arena *a,
                           int want[MOST_WANTED], const char **why)
{
    int n = 0;
    const char *key;
    char found[80];
    json_t *v;
    size_t i;
    if (json_is_array(slices)) {
        json_array_foreach((json_t *)(uintptr_t)slices, i, v)
        {
            const char *name = json_string_value(v);
            const int p = name ? mig_profile_find(g, name) : -1;
            if (!name)
                *why = arena_printf(a, "slices[%zu]: expected the name of a MIG profile, found %s",
                                    i, json_found(found, sizeof found, v));
            else if (p < 0)
                *why = no_profile(a, g, name);
            else if (n == MOST_WANTED)
                *why = arena_printf(a, "slices: at most %d", MOST_WANTED);
            if (*why) return -1;
            want[n++] = p;
        }
        return n;
    }
    if (!json_is_object(slices)) {
        *why = arena_printf(a,
                            "slices: expected a list of MIG profiles, counts by profile, or "
                            "\"off\", found %s",
                            json_found(found, sizeof found, slices));
        return -1;
    }
    json_object_foreach((json_t *)(uintptr_t)slices, key, v)
    {
        const int p = mig_profile_find(g, key);
        const json_int_t count = json_integer_value(v);
        if (p < 0)
            *why = no_profile(a, g, key);
        else if (count < 1 || count > MOST_WANTED - n)
            *why = arena_printf(a, "slices: expected how many of \"%s\" (1 to %d), found %s", key,
                                MOST_WANTED - n, json_found(found, sizeof found, v));
        if (*why) return -1;
        for (json_int_t k = 0; k < count; k++) want[n++] = p;
    }
    return n;
}

/* "slices: it needs 8 of 7 compute slices on one A100-40GB; nearest that fits: 3g.20gb, 3g.20gb" */
static const char *no_layout(struct arena *a, const struct mig_geometry *g, const int *want, int n)
{
    const struct mig_running none = { .n = 0 };
    const struct mig_layout near = mig_nearest(g, &none, want, n);
    const char *names[MIG_MAX_UNITS];
    char list[200], why[256];
    for (int i = 0; i < near.n; i++) names[i] = g->profile[near.slice[i].profile].name;
    return arena_printf(a, "slices: these do not fit on one %s: %s; nearest that fits: %s",
                        g->board, mig_why_not(g, &none, want, n, why, sizeof why),
                        str_list(list, sizeof list, names, (size_t)near.n));
}

static const char *run_read(struct layout_run *run, struct arena *a, const struct mig_geometry *g,
                            const json_t *slices)
{
    int want[MOST_WANTED];
    const char *why = NULL;
    mig_layouts found = { 0 };
    if (json_is_string(slices) && strcmp(json_string_value(slices), "off") == 0) {
        run->off = true;
        return NULL;
    }
    const int n = wanted_profiles(g, slices, a, want, &why);
    if (n < 0) return why;
    if (n == 0) return "slices: a static layout needs at least one profile, or \"off\"";
    mig_layouts_of(g, want, n, &found);
    if (found.n > 0)
        run->layout = found.v[0];
    else
        why = no_layout(a, g, want, n);
    vec_fini(&found);
    return why;
}

/* A member of a list of runs: nothing but "cards" and "slices". */
static const char *run_keys(struct arena *a, const json_t *entry, size_t at)
{
    static const char *const known[] = { "cards", "slices" };
    const json_t *cards = json_object_get(entry, "cards");
    const char *key;
    char found[80];
    json_t *v;
    if (!json_is_object(entry))
        return arena_printf(a, "slices[%zu]: expected {\"cards\": .., \"slices\": ..}, found %s",
                            at, json_found(found, sizeof found, entry));
    json_object_foreach((json_t *)(uintptr_t)entry, key, v)
    {
        if (strcmp(key, known[0]) == 0 || strcmp(key, known[1]) == 0) continue;
        const char *near = str_nearest(key, known, 2);
        return near ? arena_printf(a, "slices[%zu]: unknown key \"%s\"; did you mean \"%s\"?", at,
                                   key, near)
                    : arena_printf(a, "slices[%zu]: unknown key \"%s\"; valid: cards, slices", at,
                                   key);
    }
    if (!json_is_integer(cards) || json_integer_value(cards) < 1)
        return arena_printf(a, "slices[%zu]: expected \"cards\" to be at least 1, found %s", at,
                            json_found(found, sizeof found, cards));
    if (!json_object_get(entry, "slices"))
        return arena_printf(a, "slices[%zu]: \"slices\" is missing: profiles, or \"off\"", at);
    return NULL;
}

/* A list whose members are objects is a list of runs; anything else is one run for all cards. */
static const char *layout_read(struct mig *p, struct arena *a)
{
    const struct mig_geometry *g = p->gpu->mig;
    const bool runs = json_is_array(p->slices) && json_is_object(json_array_get(p->slices, 0));
    p->n_runs = runs ? json_array_size(p->slices) : 1;
    p->run = arena_array(a, p->n_runs, sizeof *p->run);
    for (size_t i = 0; i < p->n_runs; i++) {
        const json_t *entry = runs ? json_array_get(p->slices, i) : NULL;
        const char *why = runs ? run_keys(a, entry, i) : NULL;
        if (why) return why;
        p->run[i].cards = runs ? json_integer_value(json_object_get(entry, "cards")) : INT64_MAX;
        why = run_read(&p->run[i], a, g, runs ? json_object_get(entry, "slices") : p->slices);
        if (why) return why;
        for (int k = 0; k < p->run[i].layout.n; k++)
            p->offered |= UINT32_C(1) << p->run[i].layout.slice[k].profile;
    }
    return NULL;
}

/* What a plan makes must be there before the next one. */
static const char *bind_period(struct mig *p, struct arena *a)
{
    if (p->period == CFG_NO_TIME) p->period = PERIOD;
    if (p->forecast < 0) p->forecast = FORECAST_LAST;
    const double least_s = simtime_s(p->repartition) + simtime_s(p->mode_change);
    if (simtime_s(p->period) > least_s) return NULL;
    return arena_printf(a,
                        "\"period\" %g s is not longer than a mode change and a repartition, %g s",
                        simtime_s(p->period), least_s);
}

/* What copies get together: measured, or part of the bus's rate; without either no limit is
 * known. */
static double bus_rate(const struct card_type *type)
{
    const struct param *known = type->profile->param;
    if (!isnan(known[PROFILE_base_h2d_Bps].value)) return known[PROFILE_base_h2d_Bps].value;
    const double rate = type->gpu->pcie_Bps * known[PROFILE_mig_pcie_efficiency].value;
    return isnan(rate) ? INFINITY : rate;
}

static const char *bind(void *params, struct arena *a, const struct card_type *type)
{
    struct mig *p = params;
    const struct param *known = type->profile->param;
    p->gpu = type->gpu;
    if (!type->gpu->mig) return "the card has no MIG";
    if (p->repartition != CFG_NO_TIME && p->via >= 0)
        return "\"via\" and \"repartition\" both say how long repartitioning takes";
    if (p->via < 0) p->via = VIA_DIRECT;
    if (p->repartition == CFG_NO_TIME)
        p->repartition = (simtime)llround(
            known[p->via == VIA_OPERATOR ? PROFILE_mig_operator_s : PROFILE_mig_repartition_s]
                .value *
            1e9);
    if (isnan(p->power_loss)) p->power_loss = known[PROFILE_mig_power_loss].value;
    p->pcie_measured = isnan(p->pcie) && !isnan(known[PROFILE_base_h2d_Bps].value);
    if (isnan(p->pcie)) p->pcie = bus_rate(type);
    if (p->mode_change == CFG_NO_TIME)
        p->mode_change = (simtime)llround(known[PROFILE_mig_mode_change_s].value * 1e9);
    if (p->layout != LAYOUT_STATIC && p->slices)
        return "\"slices\" goes with \"layout\": \"static\"";
    if (p->layout != LAYOUT_PLANNED && (p->period != CFG_NO_TIME || p->forecast >= 0))
        return arena_printf(a, "\"%s\" goes with \"layout\": \"planned\"",
                            p->forecast >= 0 ? "forecast" : "period");
    if (p->layout == LAYOUT_PLANNED) return bind_period(p, a);
    if (p->layout == LAYOUT_DYNAMIC) return NULL;
    if (!p->slices) return "\"layout\": \"static\" needs \"slices\"";
    return layout_read(p, a);
}

static int32_t capacity(const void *params, const struct card_type *type)
{
    (void)params;
    return type->gpu->mig->compute_slices;
}

static void instance_rules(const void *params, int64_t card, struct instance_rules *out)
{
    const struct mig *p = params;
    *out = (struct instance_rules){ .on_demand = p->layout != LAYOUT_STATIC,
                                    .repartition = p->repartition,
                                    .mode_change = p->mode_change,
                                    .period = p->layout == LAYOUT_PLANNED ? p->period : 0,
                                    .oracle = p->forecast == FORECAST_ORACLE,
                                    .start = (enum mig_start_rule)p->start };
    if (out->on_demand) return;
    size_t i = 0;
    for (; i + 1 < p->n_runs && card >= p->run[i].cards; i++) card -= p->run[i].cards;
    out->off = p->run[i].off;
    out->layout = &p->run[i].layout;
}

static const char *demand(const void *params, const struct card_type *type,
                          const struct request *request, struct demand *out)
{
    const struct mig *p = params;
    const struct mig_geometry *g = type->gpu->mig;
    if (request->slots > 1 && request->gpus_milli > 0 && request->gpus_milli < 1000)
        return "it asks for several slices, which never make one device";
    out->core_cap = 1.0;
    out->mig_profile = -1;
    out->cards = request_cards(request);
    if (request->gpus_milli == 0 || request->gpus_milli >= 1000) {
        out->units = g->compute_slices;
        return bytes_demand(type, request, 1.0, true, out);
    }
    const bool stated = request->bytes != JOB_NO_BYTES;
    const uint64_t bytes = stated ? request->bytes + type->context_bytes : 0;
    const int profile = p->layout == LAYOUT_STATIC
                            ? mig_profile_among(g, p->offered, request->gpus_milli, bytes)
                            : mig_profile_for(g, request->gpus_milli, bytes);
    if (profile < 0)
        return p->layout == LAYOUT_STATIC ? "the layout has no slice that is large enough"
                                          : "no MIG profile is large enough";
    const struct mig_profile *slice = &g->profile[profile];
    const double share = (double)slice->usable_bytes / (double)type->gpu->usable_bytes;
    out->mig_profile = profile;
    out->units = slice->compute_slices;
    return bytes_demand(type, request, fmin(share, request->gpus_milli / 1000.0), true, out);
}

/* Alone on its slice, at a clock of `clock` of the full one. */
static double slice_speed(const struct gpu_spec *gpu, const struct resident_view *r, double clock)
{
    const struct signature *s = r->sig;
    const int profile = r->demand->mig_profile;
    if (profile < 0) return 1.0;
    const double sm = mig_sm_share(gpu, profile, NULL), bw = mig_bw_share(gpu, profile);
    return 1.0 / (s->host + s->compute * fmax(1.0, s->sm_width / sm) / clock +
                  s->memory * fmax(1.0, s->bw_width / bw));
}

/* Share of the card's SMs that the slices keep busy at full clock. */
static double busy_sms(const struct share_view *v)
{
    double busy = 0;
    for (size_t i = 0; i < v->n; i++) {
        const struct resident_view *r = &v->resident[i];
        if (r->demand->mig_profile < 0) continue;
        const double sm = mig_sm_share(v->type->gpu, r->demand->mig_profile, NULL);
        const double longer = fmax(1.0, r->sig->sm_width / sm);
        busy += slice_speed(v->type->gpu, r, 1.0) * (r->sig->compute * longer + r->sig->memory) *
                fmin(r->sig->sm_width, sm);
    }
    return busy;
}

static double common_clock(const struct mig *p, const struct share_view *v)
{
    if (p->power_loss == 0) return 1.0;
    const double busy = busy_sms(v);
    return busy > 0 ? fmin(1.0, (1.0 - p->power_loss) / cbrt(busy)) : 1.0;
}

/* Nobody gets more than the level, and who wants less gets that: the level at which the bus is
 * full. */
static double bus_level(double bus, const struct share_view *v, const double speed[])
{
    double level = bus / (double)v->n;
    for (size_t round = 0; round < v->n; round++) {
        double rest = bus;
        size_t want_more = 0;
        for (size_t i = 0; i < v->n; i++) {
            const double want = v->resident[i].sig->pcie_Bps * speed[i];
            if (want > level)
                want_more++;
            else
                rest -= want;
        }
        if (want_more == 0 || rest <= level * (double)want_more) break;
        level = rest / (double)want_more;
    }
    return level;
}

static void share_bus(const struct mig *p, const struct share_view *v, double speed[])
{
    double all = 0, most = 0;
    for (size_t i = 0; i < v->n; i++) {
        const double want = v->resident[i].sig->pcie_Bps * speed[i];
        all += want;
        most = fmax(most, want);
    }
    const double bus = fmax(p->pcie, most); /* what one gets alone, the bus can carry */
    if (all <= bus) return;
    const double level = bus_level(bus, v, speed);
    for (size_t i = 0; i < v->n; i++) {
        const double want = v->resident[i].sig->pcie_Bps * speed[i];
        if (want > level) speed[i] *= level / want;
    }
}

static void speeds(const void *params, const struct share_view *v, double speed[])
{
    const struct mig *p = params;
    const double clock = common_clock(p, v);
    for (size_t i = 0; i < v->n; i++) speed[i] = slice_speed(v->type->gpu, &v->resident[i], clock);
    share_bus(p, v, speed);
}

const struct share_ops share_mig = {
    .name = "mig",
    .help = "hardware slices with SMs and memory of their own; whole jobs need MIG off",
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct mig),
    .uses = uses,
    .overrides = overrides,
    .uses_n = sizeof uses / sizeof *uses,
    .reads = reads,
    .instances = true,
    .bind = bind,
    .capacity = capacity,
    .demand = demand,
    .speeds = speeds,
    .instance_rules = instance_rules,
};
