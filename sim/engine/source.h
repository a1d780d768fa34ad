/* engine/source.h - the arrivals of a run: all work items merged by submit time (ties: order of the
 * items in the scenario), streamed, never held in memory.
 *
 * A work item's `load` divides its submit times. Every policy opens its own source over the same
 * files and seeds, so all meet the same arrivals.
 * Errors: ERR_INPUT / ERR_IO of the trace or generator. Threads: one source, one thread. */
#ifndef GPUSIM_ENGINE_SOURCE_H
#define GPUSIM_ENGINE_SOURCE_H

#include "model/job.h"
#include "model/scenario.h"

struct source;

int source_open(struct source **out, const struct scenario *s, uint64_t replication,
                struct symtab *names, struct err *e);
void source_close(struct source *s); /* accepts NULL */
/* 1: *row is filled, submit already scaled (row->id lent until the next call); 0: end; negative. */
int source_next(struct source *s, struct job_row *row, struct err *e);
/* Error at the row last returned: the file and line where there is one. Returns ERR_INPUT. */
int source_row_error(const struct source *s, const char *column, struct err *e, const char *why);

#endif
