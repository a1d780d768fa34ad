/* engine/serve.h - how a replica of a service works through its requests: the contract between the
 * engine and a way of serving. One file sim/policy/serve_X.c defines `const struct serve_ops
 * serve_X`.
 *
 * A batcher takes requests from the head of a queue, works on all of them at once, and is done with
 * all of them at once. The engine owns clock, queues and speeds: it asks how many go together, and
 * how long they take without neighbours; those stretch that.
 *
 * An iterating way of serving (language models) keeps a list of its own for each replica: requests
 * join and leave while others go on. It is asked for the next stretch of work, told when that is
 * done, and may cut the stretch under way short at one of its own boundaries when somebody joins.
 *
 * Threads: ops are read-only; a replica's state belongs to one run. */
#ifndef GPUSIM_ENGINE_SERVE_H
#define GPUSIM_ENGINE_SERVE_H

#include "base/cfg.h"
#include "base/symtab.h"
#include "model/llm_step.h"

/* What waits in front of a free replica. */
struct serve_queue {
    uint64_t n;     /* >= 1 */
    simtime oldest; /* arrival of the first */
    simtime now;
    /* Others may come, here or to another replica: not all users are here, or not all requests
     * have been asked. Who holds back is asked again as soon as that ends. */
    bool more;
};

/* The part of the cards that a replica has, for language models. */
struct serve_part {
    struct llm_cost cost; /* of a step there, without neighbours */
    double kv_tokens;     /* that the cache holds */
    int64_t context;      /* of the model, tokens */
};

/* One request under way. The engine owns it and fills the first block; the rest is the way of
 * serving's. */
struct serve_call {
    /* began, first: JOB_NO_TIME until then; set by the way of serving */
    simtime arrival, began, first;
    int64_t input, output; /* tokens; output >= 1 */
    sym blocks;            /* that the prompt begins with (model/blocks.h); 0: not known */
    int64_t block_tokens;  /* of each */
    /* of the prompt, found in the cache when it was first taken up; set by the way of serving */
    int64_t hit;
    bool timed_out; /* set: it waited longer than allowed, and leaves unserved */
    /* ---- */
    struct serve_call *next, *prev, *fill; /* its list; the next one that is being filled in */
    int64_t shared;                        /* tokens in blocks that others may use too */
    int64_t target, done, chunk;           /* tokens to fill in, filled in, in the step under way */
    int64_t emitted;                       /* tokens given out before it went on to decode */
    /* decoding: tokens cached at step from_step; ends with last_step */
    int64_t base, from_step, last_step;
    size_t heap;
    bool decoding;
};

/* What a stretch of work changed. */
struct serve_news {
    uint64_t begun;                 /* requests that were taken up for the first time */
    struct serve_call *left, *last; /* list by `next`: finished, or timed out */
};

struct serve_ops {
    const char *name, *help;
    const struct cfg_field *fields; /* parameters: parsing, defaults, help */
    size_t fields_n, params_size;
    /* What the table cannot say. NULL, or what is wrong with the parameters. May be NULL. */
    const char *(*check)(const void *params);

    /* ---- batchers ---- */
    /* How many of those that wait begin now; 0: none, then *again says when to ask again unless
     * somebody comes before (SIM_NEVER: only then). */
    uint64_t (*batch)(const void *params, const struct serve_queue *q, simtime *again);
    /* Time of a batch of `n` requests on the replica's part of a card without neighbours, in ns,
     * from the sum and the largest of their sizes there, in ns, and how many times as long a
     * read from memory takes there. */
    double (*work_ns)(const void *params, uint64_t n, double sum_ns, double largest_ns,
                      double reading);

    /* ---- iterating ways, which serve tokens; `batch` is NULL ---- */
    bool tokens;
    /* Constants of a step and size of the cache on a card, from what the file of constants says
     * of it and from the bytes a replica has there. */
    void (*constants)(const void *params, struct llm_constants *c);
    double (*kv_tokens)(const void *params, const struct llm_shape *m, double bytes, bool stated,
                        int tp);
    double (*kernels)(const void *params, double layers); /* launches of a step */
    /* `names` has the blocks of prompts, and outlives the replica. */
    void *(*create)(const void *params, const struct serve_part *part, const struct symtab *names,
                    simtime timeout);
    void (*destroy)(void *state);
    void (*join)(void *state, struct serve_call *q);
    /* The next stretch: its length in ns without neighbours; 0: nothing to do. *step: its first
     * step. */
    double (*next)(void *state, simtime now, struct llm_step *step, struct serve_news *news);
    /* Who has waited too long leaves; when that is next due, SIM_NEVER: no time. */
    simtime (*expire)(void *state, simtime now, struct serve_news *news);
    /* Somebody joined, or left the waiting list, after `done_ns` of the stretch: its new length,
     * > done_ns. */
    double (*cut)(void *state, double done_ns);
    void (*done)(void *state, simtime now, struct serve_news *news);
    /* Everything it has, in the order in which it would go on; begins anew elsewhere. */
    struct serve_call *(*drain)(void *state);
    void (*load)(const void *state, uint64_t *waiting, uint64_t *in_service, double *tokens_);
    /* Tokens of a prompt that its cache holds after `done_ns` of the stretch under way. */
    int64_t (*match)(void *state, const struct serve_call *q, double done_ns);
};

extern const struct serve_ops *const serve_all[]; /* NULL-terminated, sorted by name */

#endif
