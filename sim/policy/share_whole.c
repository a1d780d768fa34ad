/* policy/share_whole.c - one job, one card: the yardstick. A fraction takes a card alone.
 *
 * `overcommit` N > 1 lets N jobs onto a card that each believe it is theirs, as an operator does
 * who counts cards twice: nobody counts bytes, so whoever allocates last runs out of memory (a job
 * that states no need takes the card, and so its neighbour's); the driver hands out turns as under
 * "timeslice" (policy/timeshare.h), so a job's time depends on who comes and goes. */
#include "policy/bytes.h"
#include "policy/timeshare.h"

enum { MOST_JOBS = 64 };

struct whole {
    int64_t overcommit;
    simtime quantum, switch_;
    double switch_ratio; /* bound: switch / quantum */
};

enum { FIELD_OVERCOMMIT, FIELD_QUANTUM, FIELD_SWITCH };
static const struct cfg_field fields[] = {
    [FIELD_OVERCOMMIT] = CFG_FIELD(struct whole, overcommit, CFG_INT, "1", 1, MOST_JOBS,
                                   "jobs let onto a card, each of which believes it is its own"),
    [FIELD_QUANTUM] = CFG_FIELD(struct whole, quantum, CFG_TIME, NULL, 1e-6, 10,
                                "with overcommit: length of a turn; default from the profile"),
    [FIELD_SWITCH] = { .name = "switch",
                       .type = CFG_TIME,
                       .offset = offsetof(struct whole, switch_),
                       .min = 0,
                       .max = 10,
                       .help = "with overcommit: time lost at a change of job; default from the "
                               "profile" },
};
static const enum profile_param uses[] = { PROFILE_timeslice_quantum_us,
                                           PROFILE_timeslice_switch_us };
static const size_t overrides[] = { FIELD_QUANTUM, FIELD_SWITCH };

static bool uses_profile(const void *params)
{
    return ((const struct whole *)params)->overcommit > 1;
}

static const char *bind(void *params, struct arena *a, const struct card_type *type)
{
    struct whole *p = params;
    (void)a;
    if (p->overcommit == 1) {
        if (p->quantum != CFG_NO_TIME) return "\"quantum\" goes with \"overcommit\" above 1";
        if (p->switch_ != CFG_NO_TIME) return "\"switch\" goes with \"overcommit\" above 1";
        return NULL;
    }
    p->switch_ratio = timeshare_turns(type->profile, &p->quantum, &p->switch_);
    return NULL;
}

static int32_t capacity(const void *params, const struct card_type *type)
{
    (void)type;
    return (int32_t)((const struct whole *)params)->overcommit;
}

static const char *demand(const void *params, const struct card_type *type,
                          const struct request *request, struct demand *out)
{
    const struct whole *p = params;
    const double share = request->gpus_milli < 1000 ? request->gpus_milli / 1000.0 : 1.0;
    out->cards = request_cards(request);
    out->units = 1;
    out->core_cap = 1.0;
    out->mig_profile = -1;
    return bytes_demand(type, request, share, p->overcommit == 1, out);
}

static void speeds(const void *params, const struct share_view *v, double speed[])
{
    const struct whole *p = params;
    struct turn_taker t[MOST_JOBS];
    if (v->n == 1) {
        speed[0] = 1.0;
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        const struct signature *s = v->resident[i].sig;
        t[i] = (struct turn_taker){
            .delay = s->host,
            .demand = s->compute + s->memory,
            .spared = timeshare_spared(v->type->gpu, s->sm_width, simtime_s(p->quantum)),
        };
    }
    timeshare_speeds(t, v->n, p->switch_ratio, speed);
}

const struct share_ops share_whole = {
    .name = "whole",
    .help = "one job has the card for itself; a fraction takes a whole card",
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct whole),
    .uses = uses,
    .overrides = overrides,
    .uses_n = sizeof uses / sizeof *uses,
    .uses_profile = uses_profile,
    .meets = true,
    .keeps_duty = true,
    .bind = bind,
    .capacity = capacity,
    .demand = demand,
    .speeds = speeds,
};
