/* base/units.h - quantities as people write them: a number, a space (optional), a unit.
 *
 * GB is 1e9, GiB is 2^30, everywhere; "Gbit/s" is bits. A bare number is refused where a
 * dimension is expected: it is the commonest way to be wrong by a thousand.
 *
 *   UNIT_TIME    ns us ms s min h d w y     (y = 365 d)      -> simtime ns, exact
 *   UNIT_BYTES   B kB MB GB TB KiB MiB GiB TiB               -> bytes, exact
 *   UNIT_RATE    B/s .. TB/s, KiB/s .. TiB/s, bit/s .. Tbit/s -> bytes per second
 *   UNIT_FLOPS   GFLOPS TFLOPS PFLOPS, GOPS TOPS POPS        -> operations per second
 *   UNIT_FREQ    Hz kHz MHz GHz                              -> Hz
 *   UNIT_POWER   W kW MW                                     -> W
 *   UNIT_MONEY   USD                                         -> USD
 *   UNIT_PER_KWH USD/kWh                                     -> USD per kWh
 *   UNIT_PER_H   USD/h                                       -> USD per hour
 *   UNIT_PER_Y   USD/y                                       -> USD per year
 *   UNIT_CARBON  g/kWh kg/kWh                                -> g per kWh
 *
 * Pure functions; any thread. */
#ifndef GPUSIM_BASE_UNITS_H
#define GPUSIM_BASE_UNITS_H

#include "base/simtime.h"

#include <stddef.h>
#include <stdint.h>

enum unit_dim {
    UNIT_TIME,
    UNIT_BYTES,
    UNIT_RATE,
    UNIT_FLOPS,
    UNIT_FREQ,
    UNIT_POWER,
    UNIT_MONEY,
    UNIT_PER_KWH,
    UNIT_PER_H,
    UNIT_PER_Y,
    UNIT_CARBON,
    UNIT_DIMS
};

/* "a duration such as \"12 s\"": what to tell somebody who wrote something else. */
const char *unit_expected(enum unit_dim dim);

/* 0, or -1 when `text` is not one finite quantity >= 0 of that dimension. On failure, when the
 * number is good and only the unit is not, *nearest (may be NULL) is a unit it may have meant, or
 * NULL. *out is in the base unit (seconds for UNIT_TIME) and is untouched after a failure.
 * Times and bytes in integer form never pass through a double; what is finer than 1 ns or 1 B is
 * rounded to the nearest; beyond SIM_MAX_S or 8 EiB is a failure. */
int unit_parse(const char *text, enum unit_dim dim, double *out, const char **nearest);
int unit_parse_time(const char *text, simtime *ns, const char **nearest);
int unit_parse_bytes(const char *text, uint64_t *bytes, const char **nearest);

/* The shortest text that parses back to exactly the same value, e.g. "12 s", "80 GiB". */
void unit_format(char *buf, size_t size, enum unit_dim dim, double value);
void unit_format_time(char *buf, size_t size, simtime ns);
void unit_format_bytes(char *buf, size_t size, uint64_t bytes);

#endif
