/* engine/share.h - how one card is divided: the contract between the engine and a sharing policy.
 *
 * The engine owns clock, cards and jobs; a policy looks and answers. One file sim/policy/share_X.c
 * defines `const struct share_ops share_X`; the registry share_all[] is generated from file names.
 *
 * Capacity is integer: a card has `capacity` units (1 for whole cards, slots, thousandths of
 * compute, MIG compute slices) and bytes. Speeds are a pure function of (card, profile, residents
 * with their signatures, parameters): isolated seconds on this card type per second, in (0, 1].
 *
 * Threads: ops are read-only; every call works on its arguments alone. */
#ifndef GPUSIM_ENGINE_SHARE_H
#define GPUSIM_ENGINE_SHARE_H

#include "base/cfg.h"
#include "model/gpu.h"
#include "model/job.h"
#include "model/mig.h"
#include "model/profile.h"
#include "model/signature.h"

/* A kind of card in the fleet together with what was calibrated on it. */
struct card_type {
    const struct gpu_spec *gpu;
    const struct gpu_profile *profile;
    uint64_t context_bytes; /* taken by every resident's process, outside any quota */
};

/* What a job asks for, before a policy looks at it. */
struct request {
    int32_t gpus_milli; /* 0, 1..999, or a multiple of 1000 */
    int32_t slots;      /* >= 1; > 1 asks for more slots on one card */
    uint64_t bytes; /* per card: trace column, else the signature's footprint, else JOB_NO_BYTES */
    const struct signature *sig; /* widths filled in */
};

/* Different cards it touches: a fraction needs one. */
static inline int32_t request_cards(const struct request *r)
{
    return r->gpus_milli / 1000 + (r->gpus_milli % 1000 != 0);
}

/* The same in the policy's currency: what it takes on each of `cards` different cards. */
struct demand {
    int32_t cards;          /* 0: runs on CPUs only */
    int32_t units;          /* of the card's capacity */
    uint64_t reserve_bytes; /* the scheduler sets aside; 0: it does not count memory */
    uint64_t alloc_bytes;   /* the job allocates, its context included */
    uint64_t limit_bytes;   /* an allocation beyond fails (without context); UINT64_MAX: none */
    double core_cap;        /* share of the SMs it may use at most; 1: no cap */
    int mig_profile;        /* index into the board's profiles; -1: no instance */
    uint32_t owner; /* goes only beside tenants of this owner; 0: beside anybody. Not the policy's:
                               filled in after demand() where one_owner() says so */
};

/* One tenant of a card, as a policy sees it. */
struct resident_view {
    const struct signature *sig; /* on this card type */
    const struct demand *demand;
    const struct mig_profile *slice; /* NULL: the whole card */
};

struct share_view {
    const struct card_type *type;
    const struct resident_view *resident;
    size_t n;
};

/* How cards are divided into instances (MIG), for policies with `instances`. */
struct instance_rules {
    bool on_demand;      /* free instances are destroyed and created as jobs need them */
    simtime repartition; /* destroying and creating instances on a card */
    simtime mode_change; /* switching an empty card's MIG mode */
    simtime period;      /* layouts are planned so often (engine/carve.h); 0: never */
    bool oracle;         /* plans know the arrivals of their period, else those of the last */
    enum mig_start_rule start;
    const struct mig_layout *layout; /* not on demand: the instances of every card ... */
    bool off;                        /* ... or MIG off */
};

/* Whom the fatal fault of one process on a card ends. A fault of the hardware ends all on it. */
enum blast {
    BLAST_JOB,  /* its job, on every card the job holds */
    BLAST_CARD, /* and everyone else on those cards: they share one server */
    BLAST_NODE, /* and everyone on the cards of those nodes */
};

struct share_ops {
    const char *name, *help;
    const struct cfg_field *fields; /* parameters: parsing, defaults, help, resolved form */
    size_t fields_n, params_size;
    const enum profile_param *uses; /* calibrated parameters it reads, for the provenance count */
    const size_t *overrides;        /* overrides[i]: index in `fields` that replaces uses[i] */
    size_t uses_n;
    /* Does it read uses[which], with these parameters? NULL: all of them. */
    bool (*reads)(const void *params, size_t which);
    /* What it makes of uses[which] where that is not the profile's figure; NAN: it is. NULL: of
     * none. */
    double (*value)(const void *params, size_t which);
    bool (*uses_profile)(const void *params); /* NULL: it always reads them */
    bool instances;    /* cards are divided into placed instances (MIG); units are compute slices */
    bool pooled;       /* any node's job may use any card: the fleet is one big node */
    bool spatial_cap;  /* core_cap limits the SMs in use at a time (not the time) */
    bool bills_memory; /* a tenant is charged for the larger of its compute and memory share */
    /* residents work on all of the card together: measured pairs may say what comes of it */
    bool meets;
    bool keeps_duty; /* the hardware tells a duty cycle (false under MIG) */

    /* Fill parameters that the scenario left open from the card's profile. NULL, or why this kind
     * of card cannot be shared this way (text from the arena or constant). Required. */
    const char *(*bind)(void *params, struct arena *a, const struct card_type *type);
    /* Units of one card, > 0. Required. */
    int32_t (*capacity)(const void *params, const struct card_type *type);
    /* NULL, or why the request can never be served on this kind of card. Required. */
    const char *(*demand)(const void *params, const struct card_type *type,
                          const struct request *request, struct demand *out);
    /* Set speed[0..n). Required. */
    void (*speeds)(const void *params, const struct share_view *v, double speed[]);
    /* Share of time with a kernel of any resident on the card. NULL: residents are independent,
     * 1 - prod(speed_i x host_i). */
    double (*duty)(const void *params, const struct share_view *v, const double speed[]);
    /* The instances of the card with index `card` in its fleet group. Required with `instances`. */
    void (*instance_rules)(const void *params, int64_t card, struct instance_rules *out);
    /* Whether the cards of a node share its link to the jobs: then speeds are asked for with the
     * residents of all of them, card by card, and `duty` with those of one. Requires duty. NULL:
     * no. */
    bool (*node_link)(const void *params);
    /* Whether the tenants of a card must all be of one user. NULL: no. */
    bool (*one_owner)(const void *params);
    /* Whether bytes beyond the card go to the host instead of failing, as long as each job alone
     * fits. NULL: no. */
    bool (*swaps)(const void *params);
    /* Delay between a job's start and its first work, with n residents already there. NULL:
     * none. */
    simtime (*startup)(const void *params, const struct card_type *type, size_t residents);
    /* Mean time that a burst of `work_s` on the card takes beside `others` tenants that never leave
     * it, where turns matter to short ones. The speeds say the same for long ones. NULL: for all of
     * them. */
    double (*burst_s)(const void *params, double work_s, double others);
    /* How far a fault reaches. NULL: BLAST_JOB. */
    enum blast (*blast)(const void *params, const struct card_type *type);
};

extern const struct share_ops *const share_all[]; /* NULL-terminated, sorted by name */

#endif
