/* traces/parse_slurm.h - the texts of Slurm's accounting, whoever printed them: durations, time
 * limits, memory, TRES and GRES lists, job states. Slurm documents them in sacct(1), squeue(1),
 * slurm.conf(5) and gres.conf(5). Pure functions over text that need not end in NUL; any thread;
 * O(len). -1 means "not said". */
#ifndef GPUSIM_TRACES_PARSE_SLURM_H
#define GPUSIM_TRACES_PARSE_SLURM_H

#include "base/err.h"
#include "base/simtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Empty, Unknown, None, N/A, NONE, (null), INVALID, "None assigned". */
bool slurm_missing(const char *s, size_t len);

/* [days-]hours:minutes:seconds, minutes:seconds, days-hours[:minutes], with up to nine decimals in
 * the seconds. No bare number: it would be minutes in one column and seconds in another. */
bool slurm_duration(const char *s, size_t len, simtime *out);

/* A time limit has three states, and none of them is 0. */
enum slurm_limit { LIMIT_UNKNOWN, LIMIT_NONE, LIMIT_SET };
/* A duration, or bare minutes (TimelimitRaw, --time); UNLIMITED is none; Partition_Limit, NOT_SET,
 * empty and N/A are unknown. False: not a limit at all. */
bool slurm_time_limit(const char *s, size_t len, enum slurm_limit *kind, simtime *out);

/* "4000M", ".50Gn", "3Gc", "62.50G", bare = MiB; powers of 1024. *per: 'n' per node, 'c' per core,
 * 0 as it stands. Old versions print the per-core flag as 2^31 in the number: it is taken off. */
bool slurm_memory(const char *s, size_t len, uint64_t *bytes, char *per);

/* The ids of the GPUs where a list has numbers for names: "1001,1002". */
enum { SLURM_GPU_IDS = 16 };
struct slurm_gpu_ids {
    int64_t id[SLURM_GPU_IDS];
    int n;
};
int slurm_gpu_ids(struct slurm_gpu_ids *out, const char *text, struct err *e); /* ERR_USAGE */

struct slurm_tres {
    int64_t cpus, mem_bytes, nodes;
    int64_t gpus;         /* gres/gpu without a type */
    int64_t typed;        /* sum over the types that are whole cards */
    int64_t slices;       /* MIG devices, whatever their profile */
    int64_t slices_milli; /* the same in thousandths of a card, by memory slices; -1: none */
    int64_t shards;       /* gres/shard or gres/mps: parts of cards, in the site's own unit */
    const char *type;     /* of the most numerous typed entry; NULL */
    size_t type_len;
    int64_t type_n;
    bool other_ids; /* numbers from 1001 on that slurm_gpu_ids does not name */
};

/* "cpu=4,mem=16G,node=1,billing=4,gres/gpu=2,gres/gpu:a100=2" or with numbers
 * ("1=4,2=16384,1001=2"); *out is set whole. False: an entry cannot be read; *bad (may be NULL) is
 * its offset. */
bool slurm_tres(const char *s, size_t len, const struct slurm_gpu_ids *ids, struct slurm_tres *out,
                size_t *bad);
/* "gpu:a100:4(S:0-1),gpu:2,gpu", "gres:gpu:1", "gpu:a100:4(IDX:0-3)": per node, so everything is
 * multiplied by `nodes`. Only GPUs, shards and slices are set. */
bool slurm_gres(const char *s, size_t len, int64_t nodes, struct slurm_tres *out, size_t *bad);

/* GPUs in thousandths; -1: the list names none. With types and a total the types are parts of the
 * total, not more; *disagree (may be NULL): their sum is another number, and the total stands. */
int64_t slurm_gpus_milli(const struct slurm_tres *t, bool *disagree);

/* A type such as "a100_3g.20gb", "1g.5gb", "nvidia_a100_1g.10gb.me": thousandths of a card, counted
 * in memory slices (1g of eight: 125). 0: no MIG profile. Profiles with twice the memory of their
 * kind are known by their size; 1g.10gb is taken for the plain one (80 GB cards). */
int32_t slurm_mig_milli(const char *type, size_t len);

/* clang-format off */
#define SLURM_STATE_MAP(X) \
    X(PENDING) X(CONFIGURING) X(RUNNING) X(SUSPENDED) X(COMPLETING) X(STOPPED) \
    X(RESIZING) X(SIGNALING) X(STAGE_OUT) X(COMPLETED) X(CANCELLED) X(FAILED) \
    X(TIMEOUT) X(NODE_FAIL) X(OUT_OF_MEMORY) X(PREEMPTED) X(BOOT_FAIL) X(DEADLINE) \
    X(REQUEUED) X(REQUEUE_HOLD) X(REQUEUE_FED) X(RESV_DEL_HOLD) X(SPECIAL_EXIT) X(REVOKED) \
    X(LAUNCH_FAILED) X(RECONFIG_FAIL) X(POWER_UP_NODE)
/* clang-format on */
enum slurm_state {
    SLURM_UNKNOWN_STATE,
#define X(name) SLURM_##name,
    SLURM_STATE_MAP(X)
#undef X
        SLURM_STATES
};
extern const char *const slurm_state_names[SLURM_STATES]; /* [0] is "?" */
/* "CANCELLED by 1234", "CANCELLED+", "OUT_OF_ME+", "PD", any case. */
enum slurm_state slurm_state(const char *s, size_t len);

/* "123.batch", "123_4.0": a step of a job, whose resources are the job's. */
bool slurm_is_step(const char *id, size_t len);
/* "123_[4-9%2]": tasks of an array that wait together. */
bool slurm_is_task_range(const char *id, size_t len);

#endif
