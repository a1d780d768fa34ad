/* model/pairs.h - measured pairs of jobs on one card, as a policy of a scenario names them
 * ("pairs": "pairs.csv"): what two jobs do to each other, instead of what their signatures say.
 *
 * A CSV with a header row, columns in any order, others ignored, '#' lines before the header:
 *
 *     job_a, job_b       names of work profiles of the scenario (or of the library)
 *     batch_a, batch_b   optional: the profile is then called job/batch
 *     norm_a, norm_b     speed of each beside the other, as a share of its speed alone: (0, 1.5]
 *     gpu                optional: the card (name or alias); rows of other cards are left out
 *     flags              optional: rows with "did_not_run" are left out; with "capped_at_isolated" a
 *                        norm of 1 is a lower bound
 *
 * Pairs that were not measured are predicted from those that were (model/colocation.h); jobs of which
 * nothing is known are left to the policy. Beside several others a job loses what each of them costs it:
 *
 *     1 / speed(A) = 1 + sum over the others B of (1 / norm(A beside B) - 1)
 *
 * which is exact for turns on one card, where a pair of busy jobs has norm 1/2 and n of them 1/n.
 *
 * Ownership: the arena. Threads: read-only after loading. */
#ifndef GPUSIM_MODEL_PAIRS_H
#define GPUSIM_MODEL_PAIRS_H

#include "base/err.h"
#include "model/colocation.h"
#include "model/gpu.h"

struct pairs {
    struct colocation fit;
    const char *const *name; /* of each job of the fit */
    size_t n;                /* rows used */
};

/* Rows for `card`: out->n may be 0. `also`: names of profiles that may be kin of the jobs in the
 * file, "job/batch" in a batch size that was not measured. 0; ERR_IO; ERR_INPUT with line and
 * column. O(rows^3). */
int pairs_load(struct pairs *out, struct arena *a, const char *path,
               const struct gpu_catalogue *gpus, const struct gpu_spec *card,
               const char *const *also, size_t n_also, struct err *e);
/* Job of the fit by name; SIZE_MAX: nothing is known. `name` NULL: nothing. O(jobs). */
size_t pairs_job(const struct pairs *p, const char *name);
/* Speed of job[i] beside the others, in (0, 1]; NAN when nothing is known of it or of one of them.
 * O(n x rows). */
double pairs_speed(const struct pairs *p, const size_t job[], size_t n, size_t i);

#endif
