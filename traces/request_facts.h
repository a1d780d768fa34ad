/* traces/request_facts.h - what an account says of requests beyond their arrivals: tokens or sizes,
 * services and sessions. Sums are exact (128-bit); percentiles are nearest rank. Memory: at most
 * 512 KiB for the token counts below AMOUNTS_SMALL; the others and sizes are sorted outside of
 * memory (base/extsort.h, AMOUNTS_BYTES and as much again); and 8 bytes for each distinct service
 * and session, beside its name in the symbol table. */
#ifndef GPUSIM_TRACES_REQUEST_FACTS_H
#define GPUSIM_TRACES_REQUEST_FACTS_H

#include "base/extsort.h"
#include "base/vec.h"
#include "model/requests.h"

#include <jansson.h>

__extension__ typedef unsigned __int128 account_sum;

enum { AMOUNTS_SMALL = 1 << 16, AMOUNTS_BYTES = 4 << 20 };

struct amounts { /* of one column: tokens, or sizes in billionths */
    uint64_t n, zeros;
    account_sum sum;
    VEC(uint64_t) small;        /* how often each value below AMOUNTS_SMALL occurs */
    struct extsort *large;      /* the others; NULL: none */
    int64_t p50, p90, p99, max; /* set by request_facts_finish() */
};

struct name_counts { /* requests by symbol; [0]: without a name */
    VEC(uint64_t) v;
    uint64_t names, most; /* names that occur; requests of the commonest */
};

struct request_facts {
    bool sized; /* sizes, not tokens */
    uint64_t n;
    struct amounts input, output, size;
    struct name_counts services, sessions;
    bool blocks; /* some prompt has them numbered */
};

void request_facts_add(struct request_facts *f, const struct request_row *r);
/* O(n log n). ERR_IO: a temporary file. */
int request_facts_finish(struct request_facts *f, struct err *e);
void request_facts_fini(struct request_facts *f); /* accepts {0} */
/* `names`: the table of the rows' symbols. */
void request_facts_add_json(const struct request_facts *f, const struct symtab *names,
                            json_t *into);
void request_facts_print(const struct request_facts *f, const struct symtab *names, FILE *to);

#endif
