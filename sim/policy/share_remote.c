/* policy/share_remote.c - cards pooled over the network (rCUDA kind): any node's job may use any
 * card, several can be gathered into one job; a fraction takes one card alone.
 *
 * Each isolated second grows by (reference CALIBRATION.md section 2, item 6)
 *     syncs_per_s x rtt                      synchronous calls wait for the round trip
 *   + launches_per_s x max(0, async - kernel) asynchronous ones only where the kernel is too short
 *                                            to hide the cost of sending the next
 *   + pcie_Bps x max(0, 1/network - 1/pcie)   bytes take the link instead of the bus
 *
 * `link`: "node", the bytes of all jobs on the cards of a node take its one link (`network` is its
 * rate), so they wait for each other: with b = pcie_Bps / pcie the part of an isolated second that
 * was spent on the bus, every card's tenant is off the link for
 *     1 + calls - b      and needs it for      b + pcie_Bps x max(0, 1/network - 1/pcie)
 * seconds, and the link is a processor-sharing station (policy/timeshare.h, exact). "card": a link
 * for each card. A gang with several cards on one node meets itself there, and runs at the speed of
 * its slowest card. */
#include "base/err.h"
#include "engine/share.h"
#include "policy/bytes.h"
#include "policy/timeshare.h"

#include <math.h>

enum link { LINK_NODE, LINK_CARD };
static const char *const links[] = { "node", "card", NULL };

struct remote {
    int link;
    double network;
    simtime rtt, async;
    double rtt_s, async_s, pcie_Bps; /* bound */
};

enum { FIELD_NETWORK, FIELD_RTT, FIELD_ASYNC };
static const struct cfg_field fields[] = {
    [FIELD_NETWORK] = CFG_QUANTITY(struct remote, network, UNIT_RATE, NULL, 1e3, 1e15,
                                   "bandwidth to the pool; default from the profile"),
    [FIELD_RTT] = CFG_FIELD(struct remote, rtt, CFG_TIME, NULL, 0, 10,
                            "round trip of a synchronous call; default from the profile"),
    [FIELD_ASYNC] = CFG_FIELD(struct remote, async, CFG_TIME, NULL, 0, 10,
                              "cost of sending an asynchronous call; default from the profile"),
    CFG_ONE_OF(struct remote, link, links, "node",
               "whether the cards of a node share its link or have one each"),
};
static const enum profile_param uses[] = { PROFILE_remote_Bps, PROFILE_remote_sync_us,
                                           PROFILE_remote_async_us };
static const size_t overrides[] = { FIELD_NETWORK, FIELD_RTT, FIELD_ASYNC };

static const char *bind(void *params, struct arena *a, const struct card_type *type)
{
    struct remote *p = params;
    (void)a;
    const struct param *known = type->profile->param;
    if (isnan(p->network)) p->network = known[PROFILE_remote_Bps].value;
    if (p->rtt == CFG_NO_TIME) p->rtt = (simtime)llround(known[PROFILE_remote_sync_us].value * 1e3);
    if (p->async == CFG_NO_TIME)
        p->async = (simtime)llround(known[PROFILE_remote_async_us].value * 1e3);
    p->rtt_s = simtime_s(p->rtt);
    p->async_s = simtime_s(p->async);
    p->pcie_Bps = type->gpu->pcie_Bps;
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

/* Off the link and on it, per isolated second. */
static struct turn_taker on_link(const struct remote *p, const struct signature *s)
{
    const double kernel_s = isnan(s->kernel_us) ? 0.0 : s->kernel_us / 1e6;
    const double per_bus = isnan(p->pcie_Bps) ? 0.0 : 1.0 / p->pcie_Bps;
    const double bus = fmin(1.0, s->pcie_Bps * per_bus);
    const double calls =
        s->syncs_per_s * p->rtt_s + s->launches_per_s * fmax(0.0, p->async_s - kernel_s);
    return (struct turn_taker){
        .delay = 1.0 + calls - bus,
        .demand = bus + s->pcie_Bps * fmax(0.0, 1.0 / p->network - per_bus),
    };
}

static void speeds(const void *params, const struct share_view *v, double speed[])
{
    const struct remote *p = params;
    struct turn_taker t[TIMESHARE_MAX];
    BUG_ON(v->n > TIMESHARE_MAX);
    for (size_t i = 0; i < v->n; i++) t[i] = on_link(p, v->resident[i].sig);
    if (p->link == LINK_NODE)
        timeshare_speeds(t, v->n, 0, speed);
    else
        for (size_t i = 0; i < v->n; i++) speed[i] = 1.0 / (t[i].delay + t[i].demand);
}

static bool node_link(const void *params)
{
    return ((const struct remote *)params)->link == LINK_NODE;
}

/* A kernel is resident while the job computes; waiting for the network is not. */
static double duty(const void *params, const struct share_view *v, const double speed[])
{
    double d = 0;
    (void)params;
    for (size_t i = 0; i < v->n; i++)
        d += speed[i] * (v->resident[i].sig->compute + v->resident[i].sig->memory);
    return d;
}

const struct share_ops share_remote = {
    .name = "remote",
    .help = "cards pooled over the network: any job may use any card, at the price of the way",
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct remote),
    .uses = uses,
    .overrides = overrides,
    .uses_n = sizeof uses / sizeof *uses,
    .pooled = true,
    .keeps_duty = true,
    .bind = bind,
    .capacity = capacity,
    .demand = demand,
    .speeds = speeds,
    .duty = duty,
    .node_link = node_link,
};
