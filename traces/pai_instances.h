/* traces/pai_instances.h - the run times of PAI's instances, found by their task.
 *
 * A worker name that comes again (the trace has such rows) counts once: the record that says most
 * of how it ended, of those the one that started last, of those the last one. Instances of a task
 * keep the order of the file. Memory: 24 bytes for each task, and PAI_SORT_BYTES while they are
 * sorted; temporary files: 88 bytes for each instance. Names are compared by 64-bit hashes.
 * Threads: none. */
#ifndef GPUSIM_TRACES_PAI_INSTANCES_H
#define GPUSIM_TRACES_PAI_INSTANCES_H

#include "base/err.h"
#include "base/simtime.h"

#include <stddef.h>
#include <stdint.h>

enum { PAI_SORT_BYTES = 16 << 20 };

/* How much a status says of the end. */
enum pai_rank { PAI_WAITS, PAI_RUNS, PAI_FAILED, PAI_TERMINATED };

struct pai_span {
    simtime start, end; /* JOB_NO_TIME: unknown */
};

struct pai_instances;
/* NULL: ERR_IO */
struct pai_instances *pai_instances_create(struct err *e);
void pai_instances_destroy(struct pai_instances *s); /* accepts NULL */
/* worker 0: without a name, never a duplicate. Not after sorting. */
void pai_instances_add(struct pai_instances *s, uint64_t task, uint64_t worker, enum pai_rank rank,
                       struct pai_span span);
int pai_instances_sort(struct pai_instances *s, struct err *e); /* 0 or ERR_IO */
/* *n spans of a task, lent until the next call; 0 of them when the task has none. ERR_IO. */
int pai_instances_of(struct pai_instances *s, uint64_t task, const struct pai_span **spans,
                     size_t *n, struct err *e);
uint64_t pai_instances_duplicates(const struct pai_instances *s);
uint64_t pai_instances_orphans(const struct pai_instances *s); /* of tasks never asked for */

#endif
