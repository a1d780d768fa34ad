/* policy/share_mps.c - kernels of all clients run at the same time (CUDA MPS).
 *
 * While it is on the card, client i takes part w_i of the SMs (its width, cut by its cap) and, in
 * memory-bound phases, part b_i of the bandwidth. Clients are at the card independently of each
 * other; when those present ask for more than the card has, all slow down in proportion:
 *
 *     at card_i = compute_i x stretch_i x E[crowd(W)] + memory_i x E[crowd(max(W, B))]
 *
 * with W the SMs and B the bandwidth asked for by i and whoever is there, and stretch_i =
 * max(1, width / cap). The expectation runs over which others client i finds there: by the arrival
 * theorem those of the same card without i (mean value analysis, as in policy/timeshare.h, exact when
 * every kernel fills the card; for many different clients a fixed point with normal sums). host 0:
 * everybody is always there and W is a plain sum.
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
 * memory (k8s-device-plugin PR 1655); `"cap": 1` leaves clients uncapped.
 *
 * Clients share one server, so the fatal fault of one ends all: on Volta and later those of the cards it
 * uses (CUDA MPS documentation, error containment), before that all of the server, which serves the
 * node. */
#include "base/err.h"
#include "policy/blast.h"
#include "policy/bytes.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <strings.h>

enum {
    MAX_CLIENTS = 60,    /* CUDA 13.1; 48 before (reference overheads.csv) */
    MAX_KINDS = 8,       /* kinds of clients and ... */
    MAX_STATES = 1024,   /* ... numbers of each, up to which the analysis is exact */
    MAX_ROUNDS = 200,
};

struct mps {
    int64_t slots;
    double cap, overhead, interference;
    int fault;
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
    CFG_ONE_OF(struct mps, fault, blast_names, NULL,
               BLAST_HELP "; default card, before Volta node"),
};
static const enum profile_param uses[] = { PROFILE_mps_overhead, PROFILE_mps_interference };
static const size_t overrides[] = { FIELD_OVERHEAD, FIELD_INTERFERENCE };

/* The first cards to contain a client's fault came with Volta. */
static bool before_volta(const struct gpu_spec *gpu)
{
    return gpu->arch && (strcasecmp(gpu->arch, "Kepler") == 0 || strcasecmp(gpu->arch, "Maxwell") == 0 ||
                         strcasecmp(gpu->arch, "Pascal") == 0);
}

static const char *bind(void *params, struct arena *a, const struct card_type *type)
{
    struct mps *p = params;
    (void)a;
    if (isnan(p->cap)) p->cap = 1.0 / (double)p->slots;
    if (isnan(p->overhead)) p->overhead = type->profile->param[PROFILE_mps_overhead].value;
    if (isnan(p->interference))
        p->interference = type->profile->param[PROFILE_mps_interference].value;
    if (p->fault == CFG_NO_CHOICE) p->fault = before_volta(type->gpu) ? BLAST_NODE : BLAST_CARD;
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
};

static double crowd(double asked, double others, double interference)
{
    const double packed = fmax(1.0, asked);
    return packed + interference * (1.0 + others - packed);
}

/* Equal clients are one kind: states are how many of each there are. */
struct mix {
    struct client kind[MAX_KINDS];
    int count[MAX_KINDS];
    size_t radix[MAX_KINDS], states;
    int of[MAX_CLIENTS]; /* kind of each client */
    int kinds;
};

static bool same_client(const struct client *a, const struct client *b)
{
    return a->host == b->host && a->compute == b->compute && a->memory == b->memory &&
           a->width == b->width && a->bandwidth == b->bandwidth;
}

/* False: too many different ones. */
static bool mix_build(struct mix *m, const struct client c[], size_t n)
{
    m->kinds = 0;
    for (size_t i = 0; i < n; i++) {
        int k = 0;
        while (k < m->kinds && !same_client(&m->kind[k], &c[i])) k++;
        if (k == m->kinds) {
            if (k == MAX_KINDS) return false;
            m->kind[k] = c[i];
            m->count[k] = 0;
            m->kinds++;
        }
        m->count[k]++;
        m->of[i] = k;
    }
    m->states = 1;
    for (int k = 0; k < m->kinds; k++) {
        m->radix[k] = m->states;
        m->states *= (size_t)m->count[k] + 1;
        if (m->states > MAX_STATES) return false;
    }
    return true;
}

/* E[crowd] that one client meets: of compute-bound time, and of memory-bound time. */
struct meeting {
    const struct mix *mix;
    const struct client *me;
    const double *present; /* of one client of each kind */
    int others[MAX_KINDS];
    double interference, sm, both;
};

/* Kinds from `k` on; those before them ask for w and b together, with probability p. */
static void meet(struct meeting *m, int k, double p, double w, double b)
{
    while (k < m->mix->kinds && m->others[k] == 0) k++;
    if (k == m->mix->kinds) {
        const double sm = m->me->width + w;
        m->sm += p * crowd(sm, w, m->interference);
        m->both += p * crowd(fmax(sm, m->me->bandwidth + b), fmax(w, b), m->interference);
        return;
    }
    const struct client *c = &m->mix->kind[k];
    const int n = m->others[k];
    double ways = 1;
    if (n == 1) { /* what almost every call is */
        meet(m, k + 1, p * (1.0 - m->present[k]), w, b);
        meet(m, k + 1, p * m->present[k], w + c->width, b + c->bandwidth);
        return;
    }
    for (int here = 0; here <= n; here++) {
        const double q = ways * pow(m->present[k], here) * pow(1.0 - m->present[k], n - here);
        if (q > 0) meet(m, k + 1, p * q, w + here * c->width, b + here * c->bandwidth);
        ways *= (double)(n - here) / (here + 1);
    }
}

/* Time at the card per isolated second of each kind: what the last state, the full card, leaves. */
static void solve_exact(const struct mix *m, double interference, double at_card[])
{
    double present[MAX_STATES + 1][MAX_KINDS];
    for (size_t s = 1; s < m->states; s++)
        for (int k = 0; k < m->kinds; k++) {
            const struct client *c = &m->kind[k];
            struct meeting met = { .mix = m, .me = c, .interference = interference };
            present[s][k] = 0;
            if (s / m->radix[k] % ((size_t)m->count[k] + 1) == 0) continue;
            for (int j = 0; j < m->kinds; j++)
                met.others[j] = (int)(s / m->radix[j] % ((size_t)m->count[j] + 1)) - (j == k);
            met.present = present[s - m->radix[k]]; /* the card without this client */
            meet(&met, 0, 1.0, 0.0, 0.0);
            at_card[k] = c->compute * met.sm + c->memory * met.both;
            present[s][k] = at_card[k] / (c->host + at_card[k]);
        }
}

/* E[max(1, X)] of a normal X. */
static double mean_above_one(double mean, double variance)
{
    if (variance < 1e-18) return fmax(1.0, mean);
    const double sd = sqrt(variance), z = (mean - 1.0) / sd;
    return 1.0 + (mean - 1.0) * gsl_cdf_ugaussian_P(z) + sd * gsl_ran_ugaussian_pdf(z);
}

/* What the others ask for: sums over independent clients, taken as normal. */
struct asked {
    double mean, variance;
};

static double mean_crowd(double mine, struct asked others, double interference)
{
    const double packed = mean_above_one(mine + others.mean, others.variance);
    return packed + interference * fmax(0.0, 1.0 + others.mean - packed);
}

static void solve_approximate(const struct client c[], size_t n, double interference,
                              double at_card[])
{
    double present[MAX_CLIENTS];
    for (size_t i = 0; i < n; i++) present[i] = c[i].compute + c[i].memory > 0;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        double change = 0, now[MAX_CLIENTS];
        struct asked w = { 0, 0 }, b = { 0, 0 };
        for (size_t i = 0; i < n; i++) {
            const double p = present[i];
            w.mean += p * c[i].width;
            b.mean += p * c[i].bandwidth;
            w.variance += p * (1 - p) * c[i].width * c[i].width;
            b.variance += p * (1 - p) * c[i].bandwidth * c[i].bandwidth;
        }
        for (size_t i = 0; i < n; i++) {
            const double p = present[i], wide = c[i].width, wire = c[i].bandwidth;
            const struct asked ow = { fmax(0, w.mean - p * wide),
                                      fmax(0, w.variance - p * (1 - p) * wide * wide) };
            const struct asked ob = { fmax(0, b.mean - p * wire),
                                      fmax(0, b.variance - p * (1 - p) * wire * wire) };
            const double sm = mean_crowd(wide, ow, interference);
            const double both = fmax(sm, mean_crowd(wire, ob, interference));
            at_card[i] = c[i].compute * sm + c[i].memory * both;
            now[i] = at_card[i] / (c[i].host + at_card[i]);
        }
        for (size_t i = 0; i < n; i++) {
            change = fmax(change, fabs(now[i] - present[i]));
            present[i] = now[i];
        }
        if (change < 1e-13) break;
    }
}

/* SMs in use when every client's time at the card is `factor` times at_card. */
static double sms_used(const struct client c[], const double at_card[], size_t n, double factor)
{
    double used = 0;
    for (size_t i = 0; i < n; i++)
        used += (c[i].compute + c[i].memory) * c[i].width / (c[i].host + factor * at_card[i]);
    return used;
}

/* Kernels of different widths are no product form: the analysis can hand out half a percent more
 * than the card has. Then everybody stays longer by the same factor, and speeds follow. */
static void hold_to_card(const struct client c[], const double at_card[], size_t n, double speed[])
{
    double lo = 1.0, hi = 1.0;
    if (sms_used(c, at_card, n, 1.0) > 1.0 + 1e-12) {
        while (sms_used(c, at_card, n, hi) > 1.0) hi *= 2;
        for (int round = 0; round < 60; round++) {
            const double mid = 0.5 * (lo + hi);
            if (sms_used(c, at_card, n, mid) > 1.0)
                lo = mid;
            else
                hi = mid;
        }
    }
    for (size_t i = 0; i < n; i++) speed[i] = 1.0 / (c[i].host + hi * at_card[i]);
}

static void speeds(const void *params, const struct share_view *v, double speed[])
{
    const struct mps *p = params;
    struct client c[MAX_CLIENTS];
    struct mix mix;
    double at_card[MAX_CLIENTS], of_kind[MAX_KINDS];
    BUG_ON(v->n > MAX_CLIENTS);
    if (v->n == 0) return;
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
        };
    }
    if (mix_build(&mix, c, v->n)) {
        solve_exact(&mix, p->interference, of_kind);
        for (size_t i = 0; i < v->n; i++) at_card[i] = of_kind[mix.of[i]];
    } else
        solve_approximate(c, v->n, p->interference, at_card);
    hold_to_card(c, at_card, v->n, speed);
    if (v->n > 1)
        for (size_t i = 0; i < v->n; i++) speed[i] *= 1.0 - p->overhead;
}

static enum blast blast(const void *params, const struct card_type *type)
{
    (void)type;
    return (enum blast)((const struct mps *)params)->fault;
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
    .blast = blast,
};
