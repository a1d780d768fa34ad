/* engine/request_source.h - the requests of one service, streamed: from a trace, a generator's
 * file, an arrival process, or drawn one by one for users of a closed loop.
 *
 * Every policy opens its own source over the same files and seeds, so all meet the same
 * requests. Random streams "service/<name>/<purpose>": services do not disturb each other.
 * Errors: ERR_INPUT / ERR_IO of the trace or generator. Threads: one source, one thread. Memory:
 * O(1), and the distinct sessions and blocks of a trace. */
#ifndef GPUSIM_ENGINE_REQUEST_SOURCE_H
#define GPUSIM_ENGINE_REQUEST_SOURCE_H

#include "model/request_rows.h"
#include "model/service.h"

struct request_source;

/* `wants_tokens`: what the way of serving needs; a trace of the other kind is ERR_INPUT. `rows`:
 * the trace in memory, lent, to be read in place of the file, with the same outcome; NULL: none. */
int request_source_open(struct request_source **out, const struct service_spec *s,
                        const struct request_rows *rows, bool wants_tokens, uint64_t seed,
                        uint64_t replication, struct err *e);
/* Names of sessions and blocks in its rows; lent. */
const struct symtab *request_source_names(const struct request_source *s);
/* Tokens of a block of its prompts. */
int64_t request_source_block_tokens(const struct request_source *s);
void request_source_close(struct request_source *s); /* accepts NULL */
/* 1: *row is filled, its arrival already divided by the load; 0: end; negative. Not for closed
 * loops. */
int request_source_next(struct request_source *s, struct request_row *row, struct err *e);
/* Closed loop: what a user asks next (the arrival is the caller's), and the time before in ns. */
void request_source_draw(struct request_source *s, struct request_row *row);
simtime request_source_think(struct request_source *s);

#endif
