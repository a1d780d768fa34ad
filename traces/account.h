/* traces/account.h - what an import or a summary found: rows by fate and reason, GPUs, GPU-seconds,
 * peak, load, waits, durations, gaps, missing fields, warnings; of requests arrivals, tokens or
 * sizes, services and sessions.
 *
 * Sums are exact (128-bit, thousandths of a GPU x ns); shares and percentiles (nearest rank) are
 * not rounded before printing. What needs an order (peak, gaps, duplicate ids, percentiles) is
 * sorted outside of memory (base/extsort.h): at most ACCOUNT_BYTES for any number of rows.
 * Temporary files: for each kept job 48 bytes, and 16 more with percentiles; for a request 16. Ids
 * are compared by their 64-bit hash: one false duplicate in ten million ids with probability 3e-6.
 * Threads: one account, one thread. */
#ifndef GPUSIM_TRACES_ACCOUNT_H
#define GPUSIM_TRACES_ACCOUNT_H

#include "traces/format.h"
#include "traces/request_facts.h"

#include <jansson.h>

enum {
    ACCOUNT_LINES = 20, /* line numbers kept for each reason */
    ACCOUNT_REASONS = 32,
    ACCOUNT_CARDS = 1024, /* whole-card counts with a bin of their own; more share the last */
    ACCOUNT_WARNINGS = 16,
    ACCOUNT_BYTES = 48 << 20 /* of all sorters, while one of them sorts */
};

struct account_reason {
    const struct import_reason *why;
    bool quarantined;
    uint64_t rows;
    struct {
        int file, line;
    } first[ACCOUNT_LINES];
};

struct account_gpus {
    uint64_t cpu_only, fraction;       /* 0, and (0, 1) */
    uint64_t whole[ACCOUNT_CARDS + 1]; /* [k]: k cards; [ACCOUNT_CARDS]: that many or more */
    account_sum total_milli;
};

struct account_quantiles {
    simtime p50, p90, p99, max;
};

struct account_facts {                           /* filled by account_finish() */
    simtime first_submit, last_submit, last_end; /* JOB_NO_TIME without jobs */
    int64_t peak_milli;
    simtime peak_at;
    double starts_known; /* share of jobs with a recorded start; without one, submit stands in */
    double load; /* GPU-seconds / (capacity x (last_end - first_submit)); NAN: no capacity */
    uint64_t duplicate_ids, same_instant; /* most jobs submitted at one instant */
    uint64_t instants;                    /* distinct submit times */
    simtime time_zero; /* what was taken off every time (from_zero); 0: nothing */
    simtime longest_gap, longest_gap_at;
    struct account_quantiles duration, gap;
    /* standard deviation / mean of the gaps between submits; NAN: fewer than 2 gaps */
    double gap_cv;
    char *warning[ACCOUNT_WARNINGS];
    size_t warnings;
};

struct account {
    uint64_t read, kept, repaired, quarantined, not_benign; /* rows of the files */
    uint64_t further; /* jobs beyond the first of rows that stand for several */
    struct account_reason reason[ACCOUNT_REASONS];
    size_t reasons;
    struct account_gpus asked, jobs; /* all rows whose request is readable; those that count */
    account_sum gpu_milli_ns, wait_ns;
    uint64_t waits, negative_waits;
    simtime max_wait;
    simtime longest; /* duration of a job that counts, and where it stands */
    int longest_file, longest_line;
    uint64_t present[TRACE_COLUMNS]; /* jobs with a value in that column */
    uint64_t by_class[CLASS_COUNT], by_status[STATUS_COUNT];
    uint64_t zero_durations;
    bool percentiles; /* of durations and gaps are wanted of jobs too: set before the first row */
    bool static_fill, from_zero; /* as in import_info: set before account_finish() */
    int64_t capacity_milli;      /* 0: unknown */
    enum import_kind kind;       /* of the rows */
    struct request_facts requests;
    json_t *extras; /* array, one object for each file with facts of its format */
    const struct symtab
        *names; /* of the rows' symbols, for services; set by the owner, may be NULL */
    struct account_facts facts;
    struct account_store *store;
};

void account_init(struct account *a);
void account_fini(struct account *a);
/* Count a row of the file_no-th file. */
void account_add(struct account *a, const struct import_row *row, int file_no);
/* What the format itself found in a file; takes `facts` over (NULL: nothing). */
void account_add_facts(struct account *a, const char *file, json_t *facts);
/* Everything that needs all rows. O(n log n). `note` becomes the first warning unless "". ERR_IO: a
 * temporary file could not be written or read. */
int account_finish(struct account *a, int64_t capacity_milli, const char *note, struct err *e);
unsigned account_columns(const struct account *a); /* TRACE_COL_ bits that some job has */

/* `files` are names by file_no. */
json_t *account_json(const struct account *a, const char *format, const char *const *files,
                     int n_files);
void account_print(const struct account *a, const char *const *files, int n_files, FILE *to);
/* Durations, gaps, classes, users: for `trace stat`. */
void account_add_stat_json(const struct account *a, json_t *into);
void account_print_stat(const struct account *a, FILE *to);

/* "185294426.970": value x 10^-digits with at least `least` decimals. Returns buf (60 bytes or
 * more). */
const char *account_decimal(char *buf, account_sum value, int digits, int least);

#endif
