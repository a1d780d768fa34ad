/* policy/share_whole.c - one job, one card: the yardstick. A fraction takes a card alone. */
#include "engine/share.h"
#include "policy/bytes.h"

struct whole {
    char none;
};

static const char *bind(void *params, struct arena *a, const struct card_type *type)
{
    (void)params, (void)a, (void)type;
    return NULL;
}

static int32_t capacity(const void *params, const struct card_type *type)
{
    (void)params, (void)type;
    return 1;
}

static const char *demand(const void *params, const struct card_type *type,
                          const struct request *request, struct demand *out)
{
    (void)params;
    const double share = request->gpus_milli < 1000 ? request->gpus_milli / 1000.0 : 1.0;
    out->cards = request_cards(request);
    out->units = 1;
    out->core_cap = 1.0;
    out->mig_profile = -1;
    return bytes_demand(type, request, share, true, out);
}

static void speeds(const void *params, const struct share_view *v, double speed[])
{
    (void)params;
    for (size_t i = 0; i < v->n; i++) speed[i] = 1.0;
}

const struct share_ops share_whole = {
    .name = "whole",
    .help = "one job has the card for itself; a fraction takes a whole card",
    .params_size = sizeof(struct whole),
    .keeps_duty = true,
    .bind = bind,
    .capacity = capacity,
    .demand = demand,
    .speeds = speeds,
};
