/* engine/accounts.h - whom jobs count for: the group of the trace, or the user of a job without
 * one. What each account has in use, its quota and its weight.
 *
 * A quota counts the GPUs that jobs ask for, whole cards, slices and fractions alike (USERS.md
 * B46). It is a limit on what an account has in use at a time, not a reservation of cards.
 * Accounts of one cohort lend each other what they do not use: an account may have `borrow` GPUs
 * beyond its own, as long as the cohort together has no more than its members' quotas add up to.
 * What is lent comes back when jobs end, or by force (engine/sched_reclaim.c). Without a cohort
 * a quota is hard. (Kueue's nominalQuota, borrowingLimit and cohort.)
 *
 * Units: GPUs in thousandths. Threads: the rules are read-only; the accounts belong to one run. */
#ifndef GPUSIM_ENGINE_ACCOUNTS_H
#define GPUSIM_ENGINE_ACCOUNTS_H

#include "base/json.h"
#include "base/vec.h"
#include "engine/job.h"

/* ---- rules: "quotas" and "weights" of a schedule ---- */

struct quota {
    const char *name; /* of the account; "*": every account that is not named, each for itself */
    int64_t own_milli, borrow_milli;
    int cohort; /* -1: none */
};

struct weight {
    const char *name;
    double weight;
};

/* How quota that was lent comes back. */
enum reclaim {
    RECLAIM_NEVER,  /* when jobs end */
    RECLAIM_ALWAYS, /* also from running jobs, for a job within its account's own quota */
};

struct account_rules {
    const struct quota *quota;
    size_t n_quotas;
    const int64_t *cohort_milli; /* sum of its members' own */
    size_t n_cohorts;
    const struct weight *weight;
    size_t n_weights;
};

/* Read both objects (NULL: absent) at `pointer`/quotas and /weights. Contradictions are problems:
 * more than the fleet has, to borrow without a cohort or more than it can lend. */
void account_rules_read(struct account_rules *out, struct arena *a, const struct json_doc *doc,
                        json_t *quotas, json_t *weights, const char *pointer, int64_t cards,
                        struct diag *d);
/* Of the account with this name; NULL: it has none, which is an error unless there are no
 * quotas. */
const struct quota *quota_of(const struct account_rules *r, const char *name);
/* What its jobs can have at most. */
int64_t quota_most(const struct account_rules *r, const struct quota *q);

/* ---- the accounts of a run ---- */

struct account {
    const char *name; /* lent by the symbol table; "": neither group nor user */
    double weight;
    const struct quota *quota;      /* NULL: none */
    int64_t gpus_milli, cpus_milli; /* in use now */
    uint64_t held;                  /* the scheduler's walk in which it is held back */
    double host_bytes;
    /* The order's own: use that fades, as of `faded_at`. */
    double faded;
    simtime faded_at;
};

struct accounts {
    const struct account_rules *rules;
    const struct symtab *names;
    VEC(struct account) of; /* by number */
    VEC(uint32_t) number;   /* + 1, by key: 2 x symbol + is a user; 0: not met yet */
    int64_t *cohort_used;   /* by cohort */
    bool *met;              /* by quota: accounts_unknown() has seen a row of it */
    VEC(uint32_t) * member; /* by cohort: numbers of its accounts */
};

struct accounts *accounts_create(const struct account_rules *rules, const struct symtab *names);
void accounts_destroy(struct accounts *a); /* accepts NULL */
/* The number of the account of a row, from 0; made when it is new. O(1). */
uint32_t accounts_number(struct accounts *a, const struct job_row *row);
/* NULL, or why a row can belong to no account: there are quotas, and none for it. Lent until the
 * next. */
const char *accounts_unknown(struct accounts *a, const struct job_row *row, char *buf, size_t size);
/* After the last row: NULL, or a sentence in `buf` on the quotas that no row was of ("*" aside). */
const char *accounts_unmet(const struct accounts *a, char *buf, size_t size);
/* May the account have `milli` more? */
bool accounts_allow(const struct accounts *a, uint32_t number, int64_t milli);
/* Would it still have no more than its own quota with `milli` more? False without a cohort. */
bool accounts_owns(const struct accounts *a, uint32_t number, int64_t milli);
/* Has it more than its own quota? */
bool accounts_borrows(const struct accounts *a, uint32_t number);
/* So many GPUs more, or fewer, are spoken for. */
void accounts_hold(struct accounts *a, uint32_t number, int64_t milli);
/* A job's GPUs, cores and memory come into use, or go. */
void accounts_move(struct accounts *a, const struct job *j, int sign);

#endif
