/* policy/share_mps.c - kernels of all clients run at the same time (CUDA MPS).
 *
 * While it is on the card, client i takes part w_i of the SMs (its width, cut by its cap) and, in
 * memory-bound phases, part b_i of the bandwidth. When those present ask for more than the card
 * has, all slow down in proportion; a cycle takes
 *
 *     host_i off the card, and on it compute_i x stretch_i x crowd(W) + memory_i x crowd(max(W, B))
 *
 * while the set of clients there stays the same, with W the SMs and B the bandwidth they ask for
 * together, and stretch_i = max(1, width / cap). Clients come and go independently of each
 * other: the steady state of that chain gives the speeds (policy/presence.h; more than 8 kinds
 * of clients: a fixed point with normal sums, which errs by 0.4 % in the mean and 4 % at worst).
 * host 0: everybody is always there and W is a plain sum.
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
 * Clients share one server, so the fatal fault of one ends all: on Volta and later those of the
 * cards it uses (CUDA MPS documentation, error containment), before that all of the server, which
 * serves the node.
 *
 * A server serves one user at a time, so jobs of different users do not meet on a card (CUDA MPS
 * documentation: the daemon has the next user wait; USERS.md A06); `"users": "any"` where all
 * clients have the same user id, as the pods of a Kubernetes cluster often do.
 *
 * A server takes a limited number of clients of a card: 16 before Volta, 48 since, 60 from CUDA
 * 13.1 on (CUDA MPS documentation, client-server connection limits). */
#include "base/err.h"
#include "policy/blast.h"
#include "policy/bytes.h"
#include "policy/presence.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_CLIENTS = 60, /* of any server */
    MAX_ROUNDS = 200,
};

enum users { USERS_ONE, USERS_ANY };
static const char *const users[] = { "one", "any", NULL };

struct mps {
    int64_t slots, clients;
    double cap, overhead, interference;
    int fault, users;
};

enum { FIELD_SLOTS, FIELD_CAP, FIELD_OVERHEAD, FIELD_INTERFERENCE };
static const struct cfg_field fields[] = {
    [FIELD_SLOTS] =
        CFG_FIELD(struct mps, slots, CFG_INT, "4", 1, MAX_CLIENTS, "clients a card admits"),
    [FIELD_CAP] = CFG_FIELD(struct mps, cap, CFG_RATIO, NULL, 0.001, 1,
                            "SMs and memory a client may use; default 1/slots, 1 = uncapped"),
    [FIELD_OVERHEAD] = CFG_FIELD(struct mps, overhead, CFG_RATIO, NULL, 0, 0.9,
                                 "speed lost to the server; default from the profile"),
    [FIELD_INTERFERENCE] = CFG_FIELD(struct mps, interference, CFG_RATIO, NULL, 0, 1,
                                     "slowdown per card's worth of busy neighbours below "
                                     "saturation; default from the profile"),
    CFG_ONE_OF(struct mps, fault, blast_names, NULL,
               BLAST_HELP "; default card, before Volta node"),
    CFG_ONE_OF(struct mps, users, users, "one",
               "whose clients meet on a card: those of one user, or anybody's"),
    CFG_FIELD(struct mps, clients, CFG_INT, NULL, 1, MAX_CLIENTS,
              "clients the server takes; default 48 (60 from CUDA 13.1 on), before Volta 16"),
};
static const enum profile_param uses[] = { PROFILE_mps_overhead, PROFILE_mps_interference };
static const size_t overrides[] = { FIELD_OVERHEAD, FIELD_INTERFERENCE };

/* The first cards to contain a client's fault came with Volta. */
static bool before_volta(const struct gpu_spec *gpu)
{
    return gpu->arch &&
           (strcasecmp(gpu->arch, "Kepler") == 0 || strcasecmp(gpu->arch, "Maxwell") == 0 ||
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
    const int64_t most = before_volta(type->gpu) ? 16 : 48;
    if (p->clients == CFG_NO_INT) p->clients = most;
    if (before_volta(type->gpu) && p->clients > most)
        return "MPS before Volta takes at most 16 clients: \"clients\" is above";
    if (p->slots > p->clients)
        return p->clients > 16 ? "MPS takes at most 48 clients of a card, or 60 from CUDA 13.1 on "
                                 "(\"clients\": 60): fewer \"slots\""
                               : "MPS takes fewer clients of this card than \"slots\"";
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

static double greater(double a, double b) /* fmax() is a call */
{
    return a > b ? a : b;
}

/* A total order, so that the answer does not depend on who is named first. */
static int compare_clients(const struct client *a, const struct client *b)
{
    const double x[] = { a->host, a->compute, a->memory, a->width, a->bandwidth };
    const double y[] = { b->host, b->compute, b->memory, b->width, b->bandwidth };
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Equal clients are one kind; kinds in order. */
struct mix {
    double interference;
    int kinds;
    struct client client[PRESENCE_KINDS];
    struct presence_kind kind[PRESENCE_KINDS];
};

static int kind_of(const struct mix *m, const struct client *c, bool *known)
{
    int k = 0, order = 1;
    while (k < m->kinds && (order = compare_clients(&m->client[k], c)) < 0) k++;
    *known = k < m->kinds && order == 0;
    return k;
}

/* False: too many different ones. Those that never use the card are left out. */
static bool mix_build(struct mix *m, const struct client c[], size_t n)
{
    m->kinds = 0;
    for (size_t i = 0; i < n; i++) {
        bool known;
        if (c[i].compute + c[i].memory == 0) continue;
        const int k = kind_of(m, &c[i], &known);
        if (known) {
            m->kind[k].count++;
            continue;
        }
        if (m->kinds == PRESENCE_KINDS) return false;
        const size_t after = (size_t)(m->kinds - k);
        memmove(&m->client[k + 1], &m->client[k], after * sizeof *m->client);
        memmove(&m->kind[k + 1], &m->kind[k], after * sizeof *m->kind);
        m->client[k] = c[i];
        m->kind[k] = (struct presence_kind){ c[i].host, { c[i].width, c[i].bandwidth }, 1 };
        m->kinds++;
    }
    return presence_fits(m->kind, m->kinds);
}

/* compute x crowd(W) + memory x crowd(max(W, B)), sorted by what differs from state to state. */
static void at_card_of(const void *ctx, int kind, const double *sms, const double *wire, size_t n,
                       double *restrict at_card)
{
    const struct mix *m = ctx;
    const struct client *c = &m->client[kind];
    const double width = c->width, bandwidth = c->bandwidth, met = m->interference;
    const double compute_packed = (1 - met) * c->compute, compute_met = met * c->compute;
    const double memory_packed = (1 - met) * c->memory, memory_met = met * c->memory;
    const double alone = c->compute + c->memory;
    const double always = compute_met * (1 - width) + memory_met;
    for (size_t i = 0; i < n; i++) at_card[i] = greater(sms[i], 1.0); /* by itself: no branch */
    for (size_t i = 0; i < n; i++) {
        const double w = sms[i], b = wire[i], sm = at_card[i], both = greater(sm, b);
        const double others = greater(w - width, b - bandwidth);
        const double crowded = always + compute_met * w + memory_met * others +
                               (compute_packed * sm + memory_packed * both);
        at_card[i] = greater(crowded, alone); /* less only where it is not among those asked for */
    }
}

static void solve_chain(const struct mix *m, const struct client c[], size_t n, double speed[])
{
    double rate[PRESENCE_KINDS];
    bool known;
    presence_rates(m->kind, m->kinds, at_card_of, m, rate);
    for (size_t i = 0; i < n; i++) {
        const double work = c[i].compute + c[i].memory;
        speed[i] = 1.0 / (c[i].host + work);
        if (work > 0) speed[i] = fmin(speed[i], rate[kind_of(m, &c[i], &known)]);
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

static void solve_approximate(const struct client c[], size_t n, double interference,
                              double speed[])
{
    double present[MAX_CLIENTS], at_card[MAX_CLIENTS];
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
    hold_to_card(c, at_card, n, speed);
}

static struct client client_of(const struct resident_view *r)
{
    const struct signature *s = r->sig;
    const double cap = r->demand->core_cap, gpu = s->compute + s->memory;
    return (struct client){
        .host = s->host,
        .compute = s->compute * fmax(1.0, s->sm_width / cap),
        .memory = s->memory,
        .width = fmin(s->sm_width, cap),
        .bandwidth = gpu > 0 ? s->bw_width * s->memory / gpu : 0,
    };
}

static void speeds(const void *params, const struct share_view *v, double speed[])
{
    const struct mps *p = params;
    struct client c[MAX_CLIENTS];
    struct mix mix;
    mix.interference = p->interference;
    BUG_ON(v->n > MAX_CLIENTS);
    for (size_t i = 0; i < v->n; i++) c[i] = client_of(&v->resident[i]);
    if (v->n == 1) {
        speed[0] = 1.0 / (c[0].host + c[0].compute + c[0].memory);
        return;
    }
    if (mix_build(&mix, c, v->n))
        solve_chain(&mix, c, v->n, speed);
    else
        solve_approximate(c, v->n, p->interference, speed);
    for (size_t i = 0; i < v->n; i++) speed[i] *= 1.0 - p->overhead;
}

static bool one_owner(const void *params)
{
    return ((const struct mps *)params)->users == USERS_ONE;
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
    .meets = true,
    .keeps_duty = true,
    .bind = bind,
    .capacity = capacity,
    .demand = demand,
    .speeds = speeds,
    .one_owner = one_owner,
    .blast = blast,
};
