/* calibrate/worker.h - further processes on the same device, for everything that takes more than
 * one.
 *
 * A worker is this program again (`--worker N`): it opens the device and a context, says "ready",
 * then does what it is told, one line a request, one line (or more) an answer. The parent sees text
 * only, so a worker may run under a preloaded library, as an MPS client or on a MIG instance: the
 * environment that it is started with decides.
 *
 * Errors:    0 or ERR_IO; what a worker says after "error " is the message.
 * Ownership: worker_stop ends the process, waits for it, frees.
 * Threads:   a worker belongs to one thread. Blocking: everything. */
#ifndef GPUSIM_CALIBRATE_WORKER_H
#define GPUSIM_CALIBRATE_WORKER_H

#include "calibrate/device.h"
#include "calibrate/settle.h"
#include "calibrate/timeslice.h"

#include <stdio.h>

struct worker;

/* The environment of this program with `extra` over it (NAME=VALUE sets, NAME= removes; ends with
 * NULL; NULL: none). The array is to be freed, its texts are borrowed. */
char **worker_environment(const char *const extra[]);

/* `env`: as `extra` of worker_environment(). Returns before it is
 * ready. */
int worker_start(const struct device *d, const char *const env[], struct worker **out,
                 struct err *e);
void worker_stop(struct worker *w); /* accepts NULL */
int worker_say(struct worker *w, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The next line, without its end; lent until the next call. */
int worker_hear(struct worker *w, const char **line, struct err *e);
/* Waits for "ready INIT_MS CREATE_MS MPS SMS AT_S"; out may be NULL. */
struct worker_ready {
    double init_ms, context_ms; /* open the device; create the context and load the kernels */
    double total_ms;            /* from worker_start, so with what the loader and libraries take */
    int mps;                    /* enum tri */
    int sms;
};
int worker_ready(struct worker *w, struct worker_ready *out, struct err *e);

/* Start n alike and wait until all are ready; on failure none is left. */
int workers_start(const struct device *d, const char *const env[], struct worker *w[], size_t n,
                  struct err *e);
void workers_stop(struct worker *w[], size_t n);

/* A closed loop: kernels back to back, `depth` of them queued (1: each is waited for, then `gap_us`
 * of sleep), for `seconds` from `start_s` of CLOCK_MONOTONIC. */
enum loop_kind { LOOP_COMPUTE, LOOP_MEMORY, LOOP_COPY, LOOP_CACHE };
struct loop {
    enum loop_kind kind;
    unsigned grid; /* blocks, for LOOP_COMPUTE */
    /* iterations, floats an array, or bytes from pinned memory to the card; LOOP_CACHE: floats
     * that are read over and over */
    uint64_t size;
    double gap_us;
    unsigned depth; /* 1 .. DEV_EVENTS */
};
struct loop_result {
    double rate;           /* kernels per second completed inside the window */
    double p50_us, p99_us; /* launch to completion; of depth 1 */
};
/* All at once. */
int loops_run(struct worker *w[], const struct loop l[], size_t n, double seconds,
              struct loop_result out[], struct err *e);
/* All at once, and from the first kernel on: nothing is launched before the bins begin. n and
 * width_s of each are given. */
int bins_run(struct worker *w[], const struct loop *l, size_t n, struct bins out[], struct err *e);
/* Logs of n workers over the same `seconds`. full: while threads of theirs are on every SM. */
int logs_run(struct worker *w[], size_t n, double seconds, bool full, struct slice_log out[],
             struct err *e);

/* Mean host ns of one of `n` calls (32 keeps every queue from filling): "launch", "launch_ex",
 * "alloc", "free", "copy" (4 KiB to the card), "look_up" (cuGetProcAddress). */
int calls_time(struct worker *w, const char *kind, unsigned n, double *ns, struct err *e);

/* The worker's side, on an open device with a context, until its input ends or a request fails;
 * returns an exit status. */
int worker_serve(struct device *d, FILE *in, FILE *out);

#endif
