/* calibrate/profile_write.h - collects what was measured and writes it: the profile
 * ("format": "gpusim-profile/1", docs: DESIGN section 5) and, beside it, the raw samples
 * ("format": "gpusim-samples/1").
 *
 * A parameter is either measured, or not measured, or implausible. Only measured ones become
 * numbers in the profile; the others appear under "not_measured" with their reason, so gpusim takes
 * the next source down. Parameters with `detail` set go to the samples file only. To say a
 * parameter twice is a bug and ends the program: none can be both a number and missing.
 *
 * Ownership: everything is copied in. Threads: one. */
#ifndef GPUSIM_CALIBRATE_PROFILE_WRITE_H
#define GPUSIM_CALIBRATE_PROFILE_WRITE_H

#include "base/json.h"
#include "calibrate/stats.h"

#include <stdio.h>

struct param_def {
    const char *group, *key, *unit; /* as in the profile; the unit is also the end of the key */
    const char *what;               /* one line for --list */
    double min, max;                /* what no card has ever been outside of */
    bool detail;                    /* not a parameter of the contract: samples file only */
};

/* A tighter bound that follows from this card, e.g. its theoretical bandwidth. NAN: none. */
struct bound {
    double min, max;
    const char *why_min, *why_max; /* "the theoretical 4.92 TB/s" */
};

enum param_status { PARAM_MEASURED, PARAM_NOT_MEASURED, PARAM_IMPLAUSIBLE };

struct profile_out;

struct profile_out *profile_out_create(const char *gpu);
void profile_out_destroy(struct profile_out *o); /* accepts NULL */

/* Takes the sampler's estimate; checks it against def's bounds and `b` (may be NULL). An
 * interval that reaches beyond them is cut off there and says so. The method says how, not how
 * many: n, the interval and a missed target are added here. */
enum param_status profile_out_put(struct profile_out *o, const struct param_def *def,
                                  const struct sampler *s, const struct bound *b,
                                  const char *method);
void profile_out_missing(struct profile_out *o, const struct param_def *def, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A width curve (model/profile.h): n points, shares ascending. Speeds above 1 are noise and become
 * 1; a speed that is not positive makes the whole implausible. Its value is that of the first
 * point. */
enum param_status profile_out_curve(struct profile_out *o, const struct param_def *def,
                                    const double share[], const double speed[], size_t n,
                                    const char *method);

/* For a process that measures on behalf of another one (supervise.h): `tell` is called with each
 * parameter as it comes, in bytes that profile_out_take() of the same program makes the same
 * parameter of. */
typedef void profile_tell(void *told, const struct param_def *def, const void *bytes, size_t n);
void profile_out_tell(struct profile_out *o, profile_tell *tell, void *told);
void profile_out_take(struct profile_out *o, const struct param_def *def, const void *bytes,
                      size_t n);

const char *profile_out_gpu(const struct profile_out *o); /* catalogue key of the card */
/* The largest drift of a contract parameter with at least 8 samples, and whose it is; NAN: none. */
double profile_out_drift(const struct profile_out *o, const char **key);
/* Of a parameter that was measured; NULL otherwise. Lent until the next put. */
const struct estimate *profile_out_estimate(const struct profile_out *o, const char *group,
                                            const char *key);
/* How many were implausible; *first: the reason of the first one. */
size_t profile_out_implausible(const struct profile_out *o, const char **first);
/* Value that was measured; NAN otherwise. */
double profile_out_value(const struct profile_out *o, const char *group, const char *key);
/* Why it is not there; NULL when it is, or was never asked for. */
const char *profile_out_reason(const struct profile_out *o, const char *group, const char *key);
size_t profile_out_measured(const struct profile_out *o); /* number of contract parameters */

/* `device`: an object about the card, borrowed. New references. */
json_t *profile_out_json(const struct profile_out *o, json_t *device);
json_t *profile_out_samples_json(const struct profile_out *o);
/* One line per parameter, for people. */
void profile_out_table(const struct profile_out *o, FILE *to);

#endif
