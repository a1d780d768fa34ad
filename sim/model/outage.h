/* model/outage.h - what takes cards out of service: random faults of cards, nodes and programs, and changes
 * of the fleet at stated times ("faults" and "capacity" of a scenario).
 *
 * Defaults and their ranges come from the reference data on failures (reference TCO 3.1, 3.8):
 *   cards  interruptions 0.09 a card-year, 0.02 to 0.17: one in 4,056 days, 2,147 to 18,250;
 *          repair 14 days, and half of that where one fault in two needs no replacement
 *   nodes  Llama 3: 419 unexpected stops of 16,384 cards in 54 days, 41.3 % of them not of the cards: 173
 *          on 2,048 nodes, one in 639 days; 556 to 751 with the 95 % interval of a Poisson count
 *   repair of a node is an assumption: a day, from an hour to a week
 *   racks (power, the switch on top) and programs fail on request only: no published rate fits all
 *
 * Units: simtime ns. Ownership: arena. Threads: plain data. */
#ifndef GPUSIM_MODEL_OUTAGE_H
#define GPUSIM_MODEL_OUTAGE_H

#include "base/cfg.h"
#include "model/profile.h"

enum repair_law { REPAIR_EXPONENTIAL, REPAIR_FIXED };

/* Mean times; 0: never. Times between faults are exponential. */
struct fault_rates {
    simtime card_mtbf, card_repair; /* of one card */
    simtime node_mtbf, node_repair; /* of a node's host: all its cards stop */
    simtime rack_mtbf, rack_repair; /* of a rack: all its nodes stop; needs nodes_per_rack */
    simtime job_mtbf;     /* of a running job's program; reaches as far as the policy says */
    int law;              /* enum repair_law */
    int64_t max_restarts; /* a job that was struck more often fails */
};
extern const struct cfg_field fault_fields[];
extern const size_t fault_fields_n;

/* How a rate is known: the first fields of fault_fields, in their order. */
struct fault_source {
    const char *name, *source;
    enum provenance provenance;
    double low_s, high_s; /* of the default */
};
enum { FAULT_SOURCES = 6 };
extern const struct fault_source fault_source[FAULT_SOURCES];

enum capacity_change { CAPACITY_ADD, CAPACITY_DRAIN, CAPACITY_REMOVE, CAPACITY_FAIL };

/* Cards [first_card, last_card] of each of the nodes [first_node, last_node]. */
struct capacity_event {
    simtime at;
    int change; /* enum capacity_change */
    int64_t first_node, last_node, first_card, last_card;
    size_t index; /* in the list of the file */
    const char *pointer;
};
extern const struct cfg_field capacity_fields[];
extern const size_t capacity_fields_n;

/* Read the "capacity" list of a group of `nodes` x `per_node` cards; events in order of time. What
 * does not fit together (a node that is not there, removing what was removed) is added to `d`. */
const struct capacity_event *capacity_read(struct arena *a, const struct json_doc *doc,
                                           json_t *list, const char *pointer, int64_t nodes,
                                           int64_t per_node, size_t *n, struct diag *d);

#endif
