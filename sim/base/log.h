/* base/log.h - talk goes to standard error, the product to standard output.
 * Threads: any (one write per message). The level is set once, before threads start. */
#ifndef GPUSIM_BASE_LOG_H
#define GPUSIM_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

void log_set_level(enum log_level level);
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* even when quiet */
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* not when quiet */
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One line on a terminal that is overwritten ("mixed/mig 43 % ETA 12 s"); nothing elsewhere and
 * nothing when quiet. share is 0..1, NAN: not known, only `what` is said; cheap to call often
 * (prints at most 5 times a second). */
void log_progress(const char *what, double share);
void log_progress_done(void);

#endif
