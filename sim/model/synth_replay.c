#include "model/synth_replay.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/spool.h"
#include "base/vec.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One row of the block in hand: where it goes. `order` keeps ties as they were drawn. */
struct pick {
    simtime submit;
    size_t row, order;
};

struct synth_replay {
    const struct synth_replay_spec *spec;
    unsigned columns;
    struct trace_reader *reader; /* replay, or while rows are taken */
    struct trace_cursor *lent;   /* instead of it */
    /* bootstrap */
    VEC(struct job_row) rows;
    size_t *first; /* of block i: rows first[i] .. first[i + 1] - 1 */
    int64_t blocks, position;
    gsl_rng *draw, *thin;
    VEC(struct pick) pick;
    size_t at;
    /* shuffle */
    size_t *order;
    int64_t asked_milli; /* by the rows so far */
};

static int too_much(const struct synth_replay *r, struct err *e)
{
    char why[96];
    snprintf(why, sizeof why, "expected at most %d jobs to draw from, found more", REPLAY_ROWS_MAX);
    const int rc = r->lent ? trace_cursor_error(r->lent, NULL, e, why)
                           : trace_row_error(r->reader, NULL, e, "%s", why);
    err_hint(e, "all of them are held in memory; give a part of the trace, or \"replay\" it");
    return rc;
}

static int next_recorded(struct synth_replay *r, struct job_row *row, struct err *e)
{
    return r->lent ? trace_cursor_next(r->lent, row) : trace_next(r->reader, row, e);
}

static int hold_rows(struct synth_replay *r, struct err *e)
{
    struct job_row row;
    int rc;
    while ((rc = next_recorded(r, &row, e)) > 0) {
        if (r->rows.n == REPLAY_ROWS_MAX) return too_much(r, e);
        row.id = "";
        row.id_len = 0;
        vec_push(&r->rows, row);
    }
    return rc;
}

/* Whole blocks of the recording and where each begins. */
static int cut(struct synth_replay *r, struct err *e)
{
    const simtime block = r->spec->block, last = r->rows.v[r->rows.n - 1].submit;
    const struct loc at = { .file = r->spec->trace };
    r->blocks = last / block + (last % block >= block / 2);
    if (r->blocks < r->spec->period || r->blocks < 1)
        return err_set(e, ERR_INPUT, &at,
                       "expected a recording of at least %lld blocks of %g s, found one of %g s",
                       (long long)r->spec->period, simtime_s(block), simtime_s(last));
    if (r->blocks > REPLAY_BLOCKS_MAX)
        return err_set(e, ERR_INPUT, &at,
                       "expected at most %d blocks, found %lld of %g s up to the last job",
                       REPLAY_BLOCKS_MAX, (long long)r->blocks, simtime_s(block));
    r->first = xcalloc((size_t)r->blocks + 1, sizeof *r->first);
    size_t k = 0;
    for (int64_t b = 0; b <= r->blocks; b++) {
        while (k < r->rows.n && r->rows.v[k].submit < b * block) k++;
        r->first[b] = k;
    }
    if (r->first[r->blocks] == 0)
        return err_set(e, ERR_INPUT, &at, "expected a job in the first %lld blocks, found none",
                       (long long)r->blocks);
    return 0;
}

static int shuffle(struct synth_replay *r, struct err *e)
{
    const struct loc at = { .file = r->spec->trace };
    int64_t asked = 0;
    for (size_t i = 0; i < r->rows.n; i++) asked += r->rows.v[i].gpus_milli;
    if (r->spec->gpus > 0 && asked == 0)
        return err_set(e, ERR_INPUT, &at,
                       "expected a job with GPUs to reach %g GPUs by repeating some, found none",
                       r->spec->gpus);
    r->order = xcalloc(r->rows.n, sizeof *r->order);
    for (size_t i = 0; i < r->rows.n; i++) r->order[i] = i;
    gsl_ran_shuffle(r->draw, r->order, r->rows.n, sizeof *r->order);
    return 0;
}

/* A run draws from it once for each policy and replication. */
static int refuse_pipe(const char *path, struct err *e)
{
    const struct loc at = { .file = path };
    const char *kind = spool_kind(path);
    if (!kind) return 0;
    int rc = err_set(e, ERR_INPUT, &at,
                     "expected a file, found %s: a recording is read several times", kind);
    err_hint(e, "store it first, such as with `gpusim import native - -o trace.csv`");
    return rc;
}

static int open_recording(struct synth_replay *r, struct symtab *names,
                          const struct trace_lender *lender, struct err *e)
{
    int rc = refuse_pipe(r->spec->trace, e);
    if (rc != 0) return rc;
    const struct trace_rows *rows = lender ? lender->rows(lender->ctx, r->spec->trace) : NULL;
    if (rows) {
        r->lent = trace_cursor_open(rows, names);
        r->columns = trace_rows_columns(rows);
        return 0;
    }
    rc = trace_open(&r->reader, r->spec->trace, names, e);
    if (rc == 0) r->columns = trace_columns(r->reader);
    return rc;
}

static void close_recording(struct synth_replay *r)
{
    trace_close(r->reader);
    trace_cursor_close(r->lent);
    r->reader = NULL;
    r->lent = NULL;
}

int synth_replay_open(struct synth_replay **out, const struct synth_replay_spec *spec,
                      struct symtab *names, uint64_t seed, uint64_t replication,
                      const char *purpose, const struct trace_lender *lender, struct err *e)
{
    char name[160];
    struct synth_replay *r = xcalloc(1, sizeof *r);
    *out = NULL;
    r->spec = spec;
    snprintf(name, sizeof name, "%s/blocks", purpose);
    r->draw = rng_create(seed, replication, name);
    snprintf(name, sizeof name, "%s/thinning", purpose);
    r->thin = rng_create(seed, replication, name);
    int rc = open_recording(r, names, lender, e);
    if (rc == 0 && spec->kind != REPLAY_ALL) {
        rc = hold_rows(r, e);
        if (rc == 0 && spec->kind == REPLAY_BOOTSTRAP) rc = cut(r, e);
        if (rc == 0 && spec->kind == REPLAY_SHUFFLE) rc = shuffle(r, e);
        close_recording(r);
    }
    if (rc < 0)
        synth_replay_close(r);
    else
        *out = r;
    return rc;
}

void synth_replay_close(struct synth_replay *r)
{
    if (!r) return;
    close_recording(r);
    gsl_rng_free(r->draw);
    gsl_rng_free(r->thin);
    vec_fini(&r->rows);
    vec_fini(&r->pick);
    free(r->first);
    free(r->order);
    free(r);
}

unsigned synth_replay_columns(const struct synth_replay *r)
{
    return r->columns;
}

size_t synth_replay_left_out(const struct synth_replay *r)
{
    return r->spec->kind == REPLAY_BOOTSTRAP ? r->rows.n - r->first[r->blocks] : 0;
}

/* Move a job; false when it then lies beyond `until`, or its deadline beyond what a trace holds. */
static bool move(struct job_row *row, simtime to, simtime until)
{
    if (to >= until) return false;
    if (row->deadline != JOB_NO_TIME) {
        simtime room = row->deadline - row->submit, most = (simtime)(SIM_MAX_S * 1e9);
        row->deadline = room > most - to ? most : to + room;
    }
    row->submit = to;
    return true;
}

/* A block recorded at the same place of the period as the one to fill. */
static int64_t draw_block(struct synth_replay *r)
{
    const int64_t period = r->spec->period, place = r->position % period;
    const int64_t n = (r->blocks - place + period - 1) / period;
    return place + period * (int64_t)gsl_rng_uniform_int(r->draw, (unsigned long)n);
}

/* Rows of one drawn block, each with chance `keep`, to the block in hand. */
static void overlay(struct synth_replay *r, double keep)
{
    const int64_t b = draw_block(r);
    const simtime shift = (r->position - b) * r->spec->block;
    for (size_t i = r->first[b]; i < r->first[b + 1]; i++) {
        if (keep < 1 && gsl_rng_uniform(r->thin) >= keep) continue;
        struct pick p = { r->rows.v[i].submit + shift, i, r->pick.n };
        vec_push(&r->pick, p);
    }
}

static int by_time(const void *x, const void *y)
{
    const struct pick *a = x, *b = y;
    if (a->submit != b->submit) return a->submit < b->submit ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void fill_block(struct synth_replay *r)
{
    const double whole = floor(r->spec->load), part = r->spec->load - whole;
    r->pick.n = r->at = 0;
    for (size_t i = 0; i < (size_t)whole; i++) overlay(r, 1);
    if (part > 0) overlay(r, part);
    if (r->pick.n) qsort(r->pick.v, r->pick.n, sizeof *r->pick.v, by_time);
    r->position++;
}

static int bootstrap_next(struct synth_replay *r, simtime until, struct job_row *row)
{
    while (r->at == r->pick.n) {
        if (r->position > (until - 1) / r->spec->block) return 0;
        fill_block(r);
    }
    const struct pick *p = &r->pick.v[r->at++];
    *row = r->rows.v[p->row];
    return move(row, p->submit, until);
}

static int replay_next(struct synth_replay *r, simtime until, struct job_row *row, struct err *e)
{
    int rc = next_recorded(r, row, e);
    if (rc <= 0) return rc;
    double submit = (double)row->submit / r->spec->load;
    if (r->spec->load == 1) return move(row, row->submit, until);
    if (submit >= (double)until) return 0;
    return move(row, (simtime)llround(submit), until);
}

static int shuffle_next(struct synth_replay *r, simtime until, struct job_row *row)
{
    const size_t i = r->at;
    if (i >= r->rows.n && r->spec->gpus == 0) return 0;
    *row = r->rows.v[i < r->rows.n ? r->order[i] : gsl_rng_uniform_int(r->draw, r->rows.n)];
    if (i >= r->rows.n && (double)(r->asked_milli + row->gpus_milli) > 1000 * r->spec->gpus)
        return 0;
    if ((double)i * (double)r->spec->gap >= (double)until) return 0;
    r->asked_milli += row->gpus_milli;
    r->at++;
    return move(row, (simtime)i * r->spec->gap, until);
}

int synth_replay_next(struct synth_replay *r, simtime until, struct job_row *row, struct err *e)
{
    switch (r->spec->kind) {
    case REPLAY_ALL: return replay_next(r, until, row, e);
    case REPLAY_BOOTSTRAP: return bootstrap_next(r, until, row);
    case REPLAY_SHUFFLE: return shuffle_next(r, until, row);
    }
    BUG("replay kind %d", (int)r->spec->kind);
}
