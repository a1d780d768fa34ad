/* model/synth_replay.h - jobs of a recorded native trace as a source of synthetic work.
 *
 *   replay     the rows in their order; submit times are divided by `load` (as a scenario's "load"
 *              does): the mix and the burstiness stay, hours and days shrink or stretch.
 *   bootstrap  block bootstrap (Kuensch 1989): the recording is cut into blocks of `block` from its
 *              time zero; each block of the new time is one of them, drawn with replacement. Rows
 *              keep their place in the block, so blocks of "1 d" keep the hours of the day. With
 *              `period` ("7 d") a block is drawn among those at the same place of the period, so
 *              days of the week stay too. `load` overlays draws: floor(load) whole blocks and one
 *              more from which each row is kept with the chance of the rest; hours do not move.
 *              The recording lasts up to its last submission, rounded to the nearest whole block;
 *              rows behind that are left out. Endless.
 *
 *   shuffle    the rows in random order, one every `gap` from time zero; with `gpus`, rows drawn with
 *              replacement follow until the next would take the sum of cards asked for beyond it
 *              (the inflated lists of Weng et al., "Beware of Fragmentation", ATC 2023).
 *
 * A row comes with all its columns; a deadline moves with its job. Ids are lent and may repeat.
 *
 * Memory: replay O(1). bootstrap and shuffle hold every row of the recording without its id (sizeof(struct
 * job_row), 128 bytes) and the rows of the block in hand; more than REPLAY_ROWS_MAX rows are an
 * error. Names of both go to the symbol table.
 * Errors: those of model/trace.h, with the trace's file and line; ERR_INPUT when the recording does
 * not fit the blocks. Threads: one stream, one thread. */
#ifndef GPUSIM_MODEL_SYNTH_REPLAY_H
#define GPUSIM_MODEL_SYNTH_REPLAY_H

#include "model/job.h"
#include "model/trace.h"
#include "model/trace_rows.h"

#define REPLAY_ROWS_MAX   2000000
#define REPLAY_BLOCKS_MAX 1000000

enum synth_replay_kind { REPLAY_ALL, REPLAY_BOOTSTRAP, REPLAY_SHUFFLE };

struct synth_replay_spec {
    enum synth_replay_kind kind;
    const char *trace; /* path */
    double load;       /* > 0 */
    simtime block;     /* bootstrap */
    int64_t period;    /* bootstrap: in blocks; 1: any block may follow any other */
    simtime gap;       /* shuffle */
    double gpus;       /* shuffle: cards asked for in all; 0: each row once */
};

struct synth_replay;

/* `spec` and what `lender` lends must outlive it; NULL: the file is read. The rows are the same
 * either way. `purpose` is the prefix of the names of its random streams. */
int synth_replay_open(struct synth_replay **out, const struct synth_replay_spec *spec,
                      struct symtab *names, uint64_t seed, uint64_t replication,
                      const char *purpose, const struct trace_lender *lender, struct err *e);
void synth_replay_close(struct synth_replay *r); /* accepts NULL */
/* 1: *row is filled; 0: no more before `until`; negative: error. Submit times never decrease. */
int synth_replay_next(struct synth_replay *r, simtime until, struct job_row *row, struct err *e);
unsigned synth_replay_columns(const struct synth_replay *r); /* TRACE_COL() bits of the recording */
/* Rows behind the last whole block, which are never drawn. */
size_t synth_replay_left_out(const struct synth_replay *r);

#endif
