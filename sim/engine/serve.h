/* engine/serve.h - how a replica of a service works through its requests: the contract between the engine
 * and a way of serving. One file sim/policy/serve_X.c defines `const struct serve_ops serve_X`.
 *
 * A batcher takes requests from the head of a queue, works on all of them at once, and is done with
 * all of them at once. The engine owns clock, queues and speeds: it asks how many go together, and how
 * long they take without neighbours; those stretch that.
 *
 * Threads: ops are read-only; every call works on its arguments alone. */
#ifndef GPUSIM_ENGINE_SERVE_H
#define GPUSIM_ENGINE_SERVE_H

#include "base/cfg.h"

/* What waits in front of a free replica. */
struct serve_queue {
    uint64_t n;       /* >= 1 */
    simtime oldest;   /* arrival of the first */
    simtime now;
    bool more;        /* further requests may come */
};

struct serve_ops {
    const char *name, *help;
    const struct cfg_field *fields; /* parameters: parsing, defaults, help */
    size_t fields_n, params_size;
    /* What the table cannot say. NULL, or what is wrong with the parameters. May be NULL. */
    const char *(*check)(const void *params);
    /* How many of those that wait begin now; 0: none, then *again says when to ask again unless somebody
     * comes before (SIM_NEVER: only then). Required. */
    uint64_t (*batch)(const void *params, const struct serve_queue *q, simtime *again);
    /* Time of a batch of `n` requests on the replica's part of a card without neighbours, in ns, from the sum
     * and the largest of their sizes there, in ns. Required. */
    double (*work_ns)(const void *params, uint64_t n, double sum_ns, double largest_ns);
};

extern const struct serve_ops *const serve_all[]; /* NULL-terminated, sorted by name */

#endif
