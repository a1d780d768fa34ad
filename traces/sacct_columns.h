/* traces/sacct_columns.h - the fields of sacct by their names (`sacct --helpformat`, Slurm
 * documentation), in any case, with or without a width ("JobName%30"). Pure. */
#ifndef GPUSIM_TRACES_SACCT_COLUMNS_H
#define GPUSIM_TRACES_SACCT_COLUMNS_H

#include "base/err.h"

#include <stddef.h>

/* Those that matter; two names of one kind (NCPUS, AllocCPUS) are one column. */
enum {
    COL_id,
    COL_id_raw,
    COL_state,
    COL_submit,
    COL_start,
    COL_end,
    COL_elapsed,
    COL_elapsed_raw,
    COL_alloc_tres,
    COL_req_tres,
    COL_alloc_gres,
    COL_req_gres,
    COL_nodes,
    COL_cpus,
    COL_req_cpus,
    COL_mem,
    COL_limit,
    COL_limit_raw,
    COL_user,
    COL_account,
    COL_priority,
    COLUMNS,
    COL_text = COLUMNS, /* free text */
    COL_other
};

/* COL_; COL_other for a name that sacct_known_name() may still know. */
int sacct_column(const char *s, size_t len);
size_t sacct_name_len(const char *s, size_t len); /* without a width */
/* A name of --columns: 0, or ERR_USAGE with the nearest when sacct has no such field. */
int sacct_known_name(const char *name, size_t len, struct err *e);

#endif
