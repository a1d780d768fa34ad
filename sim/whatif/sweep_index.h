/* whatif/sweep_index.h - which of several folders holds which run of a sweep, by the names of
 * their files, read once: looking into every folder for every run would cost folders x runs.
 *
 * Ownership: sweep_index_fini(); the names of the folders are lent. Threads: read-only once
 * loaded. Memory: 16 bytes a run. */
#ifndef GPUSIM_WHATIF_SWEEP_INDEX_H
#define GPUSIM_WHATIF_SWEEP_INDEX_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct sweep_index {
    const char *const *dir;
    struct sweep_file {
        uint64_t point; /* the first 16 digits of its hash */
        uint32_t replication, dir;
    } * file; /* sorted */
    size_t n;
};

/* A folder without runs is none that fails. O(files x log). ERR_IO. */
int sweep_index_load(struct sweep_index *x, const char *const *dirs, size_t n_dirs, struct err *e);
/* A run's file; NULL: no folder has it. ERR_INPUT: two have. O(log). */
int sweep_index_find(const struct sweep_index *x, const char *sha256, size_t replication,
                     const struct sweep_file **out, struct err *e);
void sweep_index_fini(struct sweep_index *x); /* harmless on {0} */

#endif
