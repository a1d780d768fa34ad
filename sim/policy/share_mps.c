/* policy/share_mps.c - kernels of all clients run at the same time (CUDA MPS).
 *
 * While it is on the card, client i takes part w_i of the SMs (its width, cut by its cap) and, in
 * memory-bound phases, part b_i of the bandwidth. Clients are at the card independently of each
 * other; when those present ask for more than the card has, all slow down in proportion:
 *
 *     at card_i = compute_i x stretch_i x E[crowd(W)] + memory_i x E[crowd(max(W, B))]
 *
 * with W the SMs and B the bandwidth asked for by i and whoever is there, and stretch_i =
 * max(1, width / cap). The expectation runs over which others are present; the presence follows from
 * the speeds, so it is a fixed point. host 0: everybody is always there and W is a plain sum.
 *
 * Kernels that would fit side by side still meet now and then (a kernel is as wide as it is, not as
 * its mean): with others asking for O, crowd lies between perfect packing and every meeting costing
 * its full width,
 *
 *     crowd(W) = (1 - interference) x max(1, W) + interference x (1 + O)
 *
 * which are the same for kernels that fill the card, so 1/n for n equal ones whatever the value.
 * Best value 0.05 to 0.1 over 25 series of seven CNNs, one to five processes in slices of an A100
 * (MunQ-Lee/ParvaGPU_SC24): mean error 1.3 %; 1.8 % for the product (1 + 0.035 x busy others) that
 * stood here before. YOLOS on an A100 (nebuly-ai/nos) asks for 0.2 to 0.7.
 *
 * The cap holds on an idle card too: the Kubernetes plugin gives every client 1/slots of SMs and
 * memory (k8s-device-plugin PR 1655); `"cap": 1` leaves clients uncapped. */
#include "base/err.h"
#include "engine/share.h"
#include "policy/bytes.h"

#include <math.h>

enum {
    MAX_CLIENTS = 60,    /* CUDA 13.1; 48 before (reference overheads.csv) */
    EXACT_CLIENTS = 10,  /* enumerate who is present up to here, means beyond */
    MAX_ROUNDS = 200,
};

struct mps {
    int64_t slots;
    double cap, overhead, interference;
};

enum { FIELD_SLOTS, FIELD_CAP, FIELD_OVERHEAD, FIELD_INTERFERENCE };
static const struct cfg_field fields[] = {
    [FIELD_SLOTS] = CFG_FIELD(struct mps, slots, CFG_INT, "4", 1, MAX_CLIENTS,
                              "clients a card admits"),
    [FIELD_CAP] = CFG_FIELD(struct mps, cap, CFG_RATIO, NULL, 0.001, 1,
                            "SMs and memory a client may use; default 1/slots, 1 = uncapped"),
    [FIELD_OVERHEAD] = CFG_FIELD(struct mps, overhead, CFG_RATIO, NULL, 0, 0.9,
                                 "speed lost to the server; default from the profile"),
    [FIELD_INTERFERENCE] = CFG_FIELD(struct mps, interference, CFG_RATIO, NULL, 0, 1,
                                     "slowdown per card's worth of busy neighbours below "
                                     "saturation; default from the profile"),
};
static const enum profile_param uses[] = { PROFILE_mps_overhead, PROFILE_mps_interference };
static const size_t overrides[] = { FIELD_OVERHEAD, FIELD_INTERFERENCE };

static const char *bind(void *params, struct arena *a, const struct card_type *type)
{
    struct mps *p = params;
    (void)a;
    if (isnan(p->cap)) p->cap = 1.0 / (double)p->slots;
    if (isnan(p->overhead)) p->overhead = type->profile->param[PROFILE_mps_overhead].value;
    if (isnan(p->interference))
        p->interference = type->profile->param[PROFILE_mps_interference].value;
    return NULL;
}

static int32_t capacity(const void *params, const struct card_type *type)
{
    (void)type;
    return (int32_t)((const struct mps *)params)->slots;
}

static const char *demand(const void *params, const struct card_type *type,
                          const struct request *request, struct demand *out)
{
    const struct mps *p = params;
    out->cards = request_cards(request);
    out->units = request->slots;
    out->core_cap = p->cap;
    out->mig_profile = -1;
    if (request->slots > p->slots) return "it asks for more slots than a card has";
    const char *why = bytes_demand(type, request, 1.0 / (double)p->slots, false, out);
    if (p->cap < 1.0 && request->bytes != JOB_NO_BYTES)
        out->limit_bytes = (uint64_t)(p->cap * (double)type->gpu->usable_bytes);
    return why;
}

struct client {
    double host, compute, memory; /* per isolated second; compute already stretched by the cap */
    double width, bandwidth;      /* share of SMs taken while present; of bandwidth, on average */
    double present;               /* share of time at the card */
};

static double crowd(double asked, double others, double interference)
{
    const double packed = fmax(1.0, asked);
    return packed + interference * (1.0 + others - packed);
}

/* E[crowd] of compute-bound and of memory-bound time of client `me`, over which of the others are
 * present. */
static void crowding(const struct client c[], size_t n, size_t me, double interference, double *sm,
                     double *both)
{
    if (n > EXACT_CLIENTS) {
        double w = 0, b = 0;
        for (size_t j = 0; j < n; j++) {
            if (j == me) continue;
            w += c[j].present * c[j].width;
            b += c[j].present * c[j].bandwidth;
        }
        *sm = crowd(c[me].width + w, w, interference);
        *both = crowd(fmax(c[me].width + w, c[me].bandwidth + b), fmax(w, b), interference);
        return;
    }
    *sm = *both = 0;
    for (unsigned set = 0; set < 1u << n; set++) {
        if (!(set >> me & 1)) continue;
        double p = 1, w = 0, b = 0;
        for (size_t j = 0; j < n; j++) {
            const bool here = set >> j & 1;
            if (j == me) continue;
            p *= here ? c[j].present : 1.0 - c[j].present;
            if (!here) continue;
            w += c[j].width;
            b += c[j].bandwidth;
        }
        *sm += p * crowd(c[me].width + w, w, interference);
        *both += p * crowd(fmax(c[me].width + w, c[me].bandwidth + b), fmax(w, b), interference);
    }
}

static void speeds(const void *params, const struct share_view *v, double speed[])
{
    const struct mps *p = params;
    struct client c[MAX_CLIENTS];
    BUG_ON(v->n > MAX_CLIENTS);
    for (size_t i = 0; i < v->n; i++) {
        const struct signature *s = v->resident[i].sig;
        const double cap = v->resident[i].demand->core_cap;
        const double gpu = s->compute + s->memory;
        c[i] = (struct client){
            .host = s->host,
            .compute = s->compute * fmax(1.0, s->sm_width / cap),
            .memory = s->memory,
            .width = fmin(s->sm_width, cap),
            .bandwidth = gpu > 0 ? s->bw_width * s->memory / gpu : 0,
            .present = gpu > 0 ? 1 : 0,
        };
    }
    for (int round = 0; round < MAX_ROUNDS; round++) {
        double change = 0, now[MAX_CLIENTS];
        for (size_t i = 0; i < v->n; i++) {
            double sm, both;
            crowding(c, v->n, i, p->interference, &sm, &both);
            const double at_card = c[i].compute * sm + c[i].memory * both;
            speed[i] = 1.0 / (c[i].host + at_card);
            now[i] = at_card * speed[i];
        }
        for (size_t i = 0; i < v->n; i++) {
            change = fmax(change, fabs(now[i] - c[i].present));
            c[i].present = now[i];
        }
        if (change < 1e-13) break;
    }
    if (v->n > 1)
        for (size_t i = 0; i < v->n; i++) speed[i] *= 1.0 - p->overhead;
}

const struct share_ops share_mps = {
    .name = "mps",
    .help = "clients run at the same time; capped to 1/slots each unless \"cap\": 1",
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct mps),
    .uses = uses,
    .overrides = overrides,
    .uses_n = sizeof uses / sizeof *uses,
    .spatial_cap = true,
    .keeps_duty = true,
    .bind = bind,
    .capacity = capacity,
    .demand = demand,
    .speeds = speeds,
};
