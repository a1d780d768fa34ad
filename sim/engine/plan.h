/* engine/plan.h - a policy of a scenario, resolved: every name looked up, every parameter known,
 * everything checked that can be checked before the first event.
 *
 * Ownership: plan_fini() frees; what it points to in the scenario and the world must outlive it.
 * Threads: building, one thread; read-only afterwards. */
#ifndef GPUSIM_ENGINE_PLAN_H
#define GPUSIM_ENGINE_PLAN_H

#include "engine/checkpoint.h"
#include "engine/elastic.h"
#include "engine/order.h"
#include "engine/place.h"
#include "engine/route.h"
#include "engine/serve.h"
#include "engine/share.h"
#include "model/llm.h"
#include "model/pairs.h"
#include "model/price.h"
#include "model/result.h"
#include "model/scenario.h"
#include "model/worklib.h"

/* One device parameter or fault rate taken as something else than what its source says. */
struct param_change {
    const char *fleet, *name; /* of a param_result: group of the fleet; "timeslice.quantum_us" */
    double value;
};

/* What all policies of a process share: the catalogue, and the work signatures that ship with
 * gpusim (class defaults and named ones). */
struct world {
    struct arena *arena;
    const struct param_change *change; /* NULL: none. Borrowed; of a copy of the world */
    struct gpu_catalogue *gpus;
    struct worklib works;
    struct llm_steps steps; /* constants of language models by card */
};

int world_load(struct world *w, struct err *e);
void world_fini(struct world *w);

enum backfill { BACKFILL_NONE, BACKFILL_EASY, BACKFILL_GREEDY, BACKFILL_CONSERVATIVE };
enum gang { GANG_NODE, GANG_ANY, GANG_DOMAIN };
enum racks { RACKS_ANY, RACKS_PACK, RACKS_SPREAD }; /* of gangs of several whole nodes */

struct plan_group {
    const struct fleet_group *spec;
    struct card_type type;
    void *params;              /* the share policy's, bound to this card type */
    const struct pairs *pairs; /* measured on such cards; NULL: none */
    int32_t capacity;          /* units of a card */
    int64_t nodes, per_node;   /* as the scheduler sees them: a pooled group is one node */
    int64_t first_card, cards; /* cards are numbered through the fleet */
    int64_t first_node;
    int64_t real_per_node;    /* cards of a physical node */
    int64_t domain;           /* cards of an NVLink domain */
    int64_t node_cpus_milli;  /* INT64_MAX: no limit */
    uint64_t node_host_bytes; /* UINT64_MAX: no limit */
};

/* What the replica of a language model looks like to neighbours: by how many sequences decode, or
 * by how many tokens of prompts ride in the step. */
enum { SERVICE_DECODES = 5, SERVICE_FILLS = 4, SERVICE_LOOKS = SERVICE_DECODES + SERVICE_FILLS };

/* A service of the scenario under this policy. */
struct plan_service {
    const struct service_spec *spec;
    const struct serve_ops *serve;
    void *serve_params;
    const struct route_ops *route;
    int64_t replicas, most; /* at the start; at any time */
    double *slower;  /* by group: time there over the size; NAN: what the card's sheet says */
    double *reading; /* by group: time of a read from memory there over that on the recorded card */
    /* Where a replica dies of its memory on some groups that would take it: names of the others
     * with | between them, and why; NULL: it runs wherever it is let in. */
    const char *allowed, *elsewhere;
    /* Language models; else NULL. */
    const struct llm_model *model;
    const struct serve_part *part;   /* by group */
    int64_t longest;                 /* tokens in and out that a replica can hold, on any group */
    const char *look[SERVICE_LOOKS]; /* work signatures "service:<name>:decode:<n>", ":fill:<n>" */
};

struct plan {
    struct arena *arena;
    const struct world *world;
    const struct scenario *scenario;
    const struct policy_spec *spec;
    const struct share_ops *share;
    json_t *share_json; /* resolved parameters, owned */
    const struct order_ops *order;
    void *order_params; /* NULL: it has none */
    json_t *order_json; /* its keys, resolved; owned, NULL: it has none */
    const struct place_ops *place;
    enum backfill backfill;
    uint64_t backfill_depth; /* conservative: waiting jobs looked at */
    bool preempts;
    /* every 0: preempted jobs lose nothing, struck ones everything */
    struct checkpoint_rule checkpoint;
    simtime restart;
    bool reclaims; /* lent quota is taken back from running jobs */
    bool migrates; /* running jobs are moved */
    bool replaces; /* preemption places all jobs anew (engine/sched_replace.c); then migrates too */
    simtime migrate_pause;
    double migrate_Bps; /* NAN: the image takes no time of its own */
    bool limits_kill;
    enum gang gang;
    enum racks racks;
    bool drop;                     /* a job that cannot start at once is rejected */
    struct account_rules accounts; /* quotas and weights */
    struct elastic_rules elastic;
    struct plan_group *group;
    size_t n_groups;
    int64_t cards, nodes;
    const struct named_work *named; /* the scenario's "profiles" */
    size_t n_named;
    const struct plan_service *service;
    size_t n_services;
    bool priced;
    struct price_book prices;
    uint64_t provenance[PROV_COUNT];
    const struct param_result *param; /* what was counted, one by one */
    size_t n_params;
};

/* Problems (unknown names, a card that cannot be shared this way, files that cannot be read) are
 * added to `d`; then *out must only be passed to plan_fini(). */
void plan_build(struct plan *out, const struct world *w, const struct scenario *s, size_t policy,
                struct diag *d);
void plan_fini(struct plan *p); /* harmless on {0} */
/* Problems of the scenario's own schedule when every policy has another, so that no plan shows
 * them. */
void plan_check_schedule(const struct world *w, const struct scenario *s, struct diag *d);

/* A work signature by name: the scenario's first, then the library's. NULL: unknown. */
const struct signature *plan_signature(const struct plan *p, const char *name);
/* The nearest known name, for a hint; NULL. */
const char *plan_signature_nearest(const struct plan *p, const char *name);

/* The job row of a replica of service k: what the scheduler and the cards see of it. Its user and
 * group are "service:<name>". Names go to `names`. */
void plan_replica_row(const struct plan *p, size_t service, struct symtab *names,
                      struct job_row *row);
/* The same with one of the looks of a language model, and which of them a step has. */
void plan_look_row(const struct plan *p, size_t service, size_t look, struct symtab *names,
                   struct job_row *row);
size_t plan_look(const struct llm_step *s);

/* "a100.0.3" - group, node, card: how a card is called in jobs.csv. Returns buf. */
char *plan_card_name(const struct plan *p, uint32_t card, char *buf, size_t size);

/* Must a gang of so many cards keep to one NVLink domain, which no single node decides? */
static inline bool plan_in_domain(const struct plan *p, const struct plan_group *g, int64_t cards)
{
    if (p->gang != GANG_DOMAIN || p->share->pooled || cards < 2 || cards > g->domain) return false;
    return g->domain < g->per_node || (g->domain > g->per_node && cards > g->per_node);
}

#endif
