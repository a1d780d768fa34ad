/* traces/format.h - what a foreign trace format is. Every traces/fmt_X.c defines one
 * `const struct trace_format fmt_X`; the registry fmt_all[] is generated from the file names.
 *
 * A format turns a file into rows: kept, repaired (with the reason) or quarantined (with the
 * reason), never dropped in silence. Rows are jobs or requests, the same kind for a whole file.
 * Whatever comes out as kept has passed job_row_problem() or request_row_problem(), so that the
 * native reader takes everything an importer writes.
 * Threads: streams are independent when their symbol tables are. */
#ifndef GPUSIM_TRACES_FORMAT_H
#define GPUSIM_TRACES_FORMAT_H

#include "cli/opt.h"
#include "model/requests.h"
#include "model/trace.h"

#include <jansson.h>

/* Why a row was repaired or quarantined: constant data of the format, compared by address.
 * `benign`: the format's own documentation says that such rows occur and are no jobs. */
struct import_reason {
    const char *key;  /* "never-scheduled" */
    const char *text; /* one line */
    bool benign;
};

enum { IMPORT_REPAIRS = 4 };

/* Exact sums over millions of rows. */
__extension__ typedef unsigned __int128 import_sum;

/* What the rows of a file are. */
enum import_kind { IMPORT_JOBS, IMPORT_REQUESTS };

struct import_row {
    /* its text is lent until the next call; unused when the rows are requests */
    struct job_row job;
    struct request_row request; /* unused when the rows are jobs */
    enum import_kind kind;      /* set by import_next() from import_info */
    simtime start;              /* as recorded, JOB_NO_TIME: not known */
    import_sum gpu_milli_ns; /* what it held in all, where that is not GPUs x duration; 0: it is */
    bool asked;              /* job.gpus_milli is what the row asks for, even when quarantined */
    const struct import_reason *quarantined; /* NULL: the job counts */
    const struct import_reason *repaired[IMPORT_REPAIRS];
    size_t repairs;
    char detail[200]; /* more on the quarantine than its reason says; "" */
    int line;
    const char *raw; /* the row as it stands in the file; lent */
    size_t raw_len;
    /* 2 or more: so many equal jobs, named ID#1, ID#2 ..., each with the GPUs in `job` (a
     * fraction of one card) and its part of the cores and the memory there. import_next() gives
     * them one by one, unless the row is quarantined: then they are only counted in what is
     * asked for. */
    int64_t instances;
    bool further; /* another job of the row before: not one more row of the file */
    int file;     /* set by import_next(): which file of the import, from 0 */
    /* Set by a format whose exports can overlap, on the record of a job that had not ended (or that
     * may come again in another way): the hash of what makes it the same run of the same job. Such
     * rows are held back until the last file has ended; of those with one key one that ended stays
     * before one that runs, the longer before the shorter, and settle() has the last word. */
    uint64_t unfinished;
};

/* What the files of one import have in common, kept by the format: ids seen, jobs with a GPU. */
struct import_shared { /* starts as {0} */
    void *data;        /* the format's, made when it opens the first file */
    void (*destroy)(void *data);
    int files;                /* opened so far */
    bool last;                /* no file follows the one that is open: set by the caller */
    struct import_held *held; /* unfinished rows; NULL: none */
};

/* What a format knows about the whole file once it is open. */
struct import_info {
    char origin[200]; /* goes into the first line of the native trace: "unix_start=1027839845" */
    char note[200];   /* a warning for the account; "" */
    int64_t capacity_milli; /* GPUs of the recorded machine in thousandths; 0: not said */
    bool static_fill;       /* order only: durations are STATIC_DURATION, times mean nothing */
    enum import_kind kind;
    /* Times count from an origin of their own (an epoch): the earliest submit or arrival of all
     * files becomes 0, and the first line of the native trace says where it lay (time_zero_s=). */
    bool from_zero;
    struct import_shared *shared; /* set before open(), never NULL */
};

/* A job that never leaves: 1e9 s, longer than any horizon (31.7 years) and well inside the range
 * of the native trace. */
#define STATIC_DURATION (INT64_C(1000000000) * SIM_SECOND)

/* What a format of measurements gives instead of rows: a JSON document whose "profiles" are work
 * signatures for a scenario, and in "account" the same counts as for rows. */
struct import_document {
    FILE
        *quarantine; /* given: where lines that do not count go, as "file,line,reason,detail,row" */
    const char *const *names; /* given: what the document calls the files */
    json_t *json;             /* owned by the caller */
    uint64_t quarantined, not_benign;
};

struct trace_format {
    const char *name, *help; /* key for `gpusim import`; one line */
    const struct opt *opts;  /* ends with {0}; may be NULL. All-zero options must be the defaults */
    size_t options_size;
    /* How sure the file's first bytes are of this format, 0..100. */
    int (*sniff)(const char *head, size_t len);
    /* ERR_INPUT when the file is not of this format. *state is NULL after a failure. */
    int (*open)(void **state, const char *path, const void *options, struct symtab *names,
                struct import_info *info, struct err *e);
    /* 1: *row is filled (it was initialised by the caller); 0: end; negative: unreadable file. */
    int (*next)(void *state, struct import_row *row, struct err *e);
    void (*close)(void *state); /* accepts NULL */
    /* An unfinished row after all rows of all files: quarantines it when its end came in a row that
     * was not held back. `state` is that of the last file. NULL: nothing to say. */
    void (*settle)(void *state, struct import_row *row);
    /* After the last row of a file: facts beyond the rows, as keys of `into` (texts, numbers,
     * objects of counts); they are printed and stored with the account, for each file. An array of
     * texts "warnings" joins the account's own. NULL: none. */
    void (*facts)(const void *state, json_t *into);
    /* After a successful import; NULL: nothing. `out` is the trace's path, NULL for none. */
    int (*finish)(const void *options, const char *out, struct err *e);
    /* Set for formats of measurements only; then open, next and close are NULL: all files make one
     * document. out->json is NULL after a failure. */
    int (*document)(struct import_document *out, const char *const *files, int n_files,
                    const void *options, struct err *e);
};

extern const struct trace_format *const fmt_all[]; /* NULL-terminated, sorted by name */

/* The options of the i-th format, as command.format_opts has them. */
const struct opt *format_options(size_t i, const char **name);
/* NULL when there is none. */
const struct trace_format *format_find(const char *name);
/* The format whose sniff() is surest about the file; ERR_INPUT with the list when none is. */
int format_sniff(const struct trace_format **out, const char *path, struct err *e);
/* When `e` says that the file is not of format `f`, or that nothing in it could be used: what its
 * first bytes look like is added, if that is known and something else. Opens the file again. */
void format_explain(const struct trace_format *f, const char *path, struct err *e);

/* One file as a stream of rows, with the last check described above. */
struct import_stream;
int import_open(struct import_stream **out, const struct trace_format *f, const char *path,
                const void *options, struct symtab *names, struct import_info *info, struct err *e);
/* The same for one of several files; `shared` lives until the last stream is closed. */
int import_open_shared(struct import_stream **out, const struct trace_format *f, const char *path,
                       const void *options, struct symtab *names, struct import_shared *shared,
                       struct import_info *info, struct err *e);
void import_shared_fini(struct import_shared *s); /* accepts {0} */
/* 1, 0 or negative. Unfinished rows of all files come at the end of the last one, in their order;
 * they wait in a temporary file, with 32 bytes of memory for each. */
int import_next(struct import_stream *s, struct import_row *row, struct err *e);
/* After import_next() returned 0: the format's facts, a new object; NULL when it has none. */
json_t *import_facts(const struct import_stream *s);
void import_close(struct import_stream *s); /* accepts NULL */

/* For formats: mark the row. The first quarantine reason wins. */
void import_quarantine(struct import_row *row, const struct import_reason *why, const char *detail,
                       ...) __attribute__((format(printf, 3, 4)));
void import_repair(struct import_row *row, const struct import_reason *why);

/* Reasons that every format shares. None is benign but the last: an earlier record of a job whose
 * later or final state counts. */
extern const struct import_reason import_field_count, import_bad_value, import_refused,
    import_superseded;

/* A delimited table with a header row, columns found by name. */
struct table {
    struct csv *csv;
    struct csv_row row;
    size_t width;   /* fields of the header */
    int *column_of; /* position of the i-th wanted name, -1: absent */
    char delimiter;
};
/* names[0..required) must be there, names[required..n) may be. Other columns are ignored.
 * `format` names the format in messages. */
int table_open(struct table *t, const char *path, char delimiter, const char *format,
               const char *const *names, int required, int n, struct err *e);
/* The same on an open file whose header row was read; takes `csv` over, also when it fails. */
int table_adopt(struct table *t, struct csv *csv, const struct csv_row *header, char delimiter,
                const char *format, const char *const *names, int required, int n, struct err *e);
void table_close(struct table *t); /* accepts {0} */
/* 1, 0 or negative; fills line and raw text and quarantines a row of the wrong width. */
int table_next(struct table *t, struct import_row *row, struct err *e);
/* Empty when the column is absent. */
struct csv_field table_cell(const struct table *t, int name);
/* Cell to integer x 10^digits; on failure quarantines the row as import_bad_value and returns
 * false. */
bool table_number(const struct table *t, int name, const char *what, int digits, int64_t *out,
                  struct import_row *row);
/* Cell to a whole number 0..max; else the same. */
bool table_whole(const struct table *t, int name, const char *what, int64_t max, int64_t *out,
                 struct import_row *row);
/* Decimal of at most `digits` decimals to integer x 10^digits, exactly; else quarantines the
 * row. */
bool cell_exact(const struct csv_field *f, const char *what, int digits, int64_t *out,
                struct import_row *row);
bool cell_missing(const struct csv_field *f); /* empty, nan, NaN, None, NULL, N/A */
/* Does the first line hold all the names, separated by `delimiter`? */
bool header_has(const char *head, size_t len, char delimiter, const char *const *names, int n);

#endif
