/* whatif/trace_shelf.h - the traces of a sweep, of jobs and of requests, each parsed once and
 * lent to all runs.
 *
 * A trace is parsed when the first run asks for it; the others wait for that. Traces that do not
 * fit into the budget, or cannot be read, are not kept: each run streams those itself, with its
 * own error. Ownership: trace_shelf_destroy(), after the last run. Threads: any may ask. */
#ifndef GPUSIM_WHATIF_TRACE_SHELF_H
#define GPUSIM_WHATIF_TRACE_SHELF_H

#include "model/request_rows.h"
#include "model/trace_rows.h"

struct trace_shelf;

/* All traces together; doubled while a trace is read. 0: TRACE_SHELF_BYTES. */
struct trace_shelf *trace_shelf_create(size_t max_bytes);
#define TRACE_SHELF_BYTES ((size_t)256 << 20)
void trace_shelf_destroy(struct trace_shelf *s); /* accepts NULL */
/* The shelf to lend from, as long as it is there. */
const struct trace_lender *trace_shelf_lender(struct trace_shelf *s);
/* NULL: not kept. */
const struct trace_rows *trace_shelf_get(struct trace_shelf *s, const char *path);
const struct request_rows *trace_shelf_requests(struct trace_shelf *s, const char *path);

#endif
