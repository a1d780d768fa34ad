/* traces/slurm_gpus.h - which GPUs, cores and memory a record of Slurm says that its job held:
 * AllocTRES, else AllocGRES or ReqGRES times nodes, else ReqTRES (a repair), else what the
 * options make of nodes or cores. For slurm_job.c. Threads: one import, one thread. */
#ifndef GPUSIM_TRACES_SLURM_GPUS_H
#define GPUSIM_TRACES_SLURM_GPUS_H

#include "base/vec.h"
#include "traces/slurm_job.h"

struct slurm_card { /* --gpu-map */
    char *type;
    sym card;
};

struct slurm_gpus { /* starts as {0} */
    const struct slurm_options *o;
    struct slurm_gpu_ids ids; /* --gpu-tres */
    VEC(struct slurm_card) cards;
    uint64_t other_ids; /* numbers above 1000 that nobody said to be GPUs */
};

/* 0 or ERR_USAGE. `o` must outlive it. */
int slurm_gpus_open(struct slurm_gpus *g, const struct slurm_options *o, struct symtab *names,
                    struct err *e);
void slurm_gpus_fini(struct slurm_gpus *g);
/* Fills gpus, cpus, mem_bytes, gpu_model, instances and `asked` of the row, or quarantines it;
 * r->nodes and r->cpus become known where only a list says them. */
void slurm_gpus_read(struct slurm_gpus *g, struct slurm_record *r, struct import_row *row);

#endif
