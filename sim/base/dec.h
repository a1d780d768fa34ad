/* base/dec.h - decimal text to integers without a detour through floating point.
 * Always base 10 (leading zeros occur in traces), never locale dependent. Pure; O(len). */
#ifndef GPUSIM_BASE_DEC_H
#define GPUSIM_BASE_DEC_H

#include <stddef.h>
#include <stdint.h>

enum dec_status {
    DEC_OK = 0,
    DEC_EMPTY,   /* no characters */
    DEC_SYNTAX,  /* not a decimal number (nan, inf, hex, trailing text, two signs ...) */
    DEC_RANGE,   /* does not fit */
    DEC_INEXACT, /* dec_fixed_exact only: more digits than asked for, not all zero */
};

/* value x 10^digits (digits 0..18), e.g. digits 9 turns "12.5" into 12500000000. Accepts sign,
 * fraction, exponent ("1.2e+05", ".5", "5."), no blanks. Further digits round half away from zero.
 * *out is untouched after a failure, here and below. */
enum dec_status dec_fixed(const char *s, size_t len, int digits, int64_t *out);
/* The same, but further non-zero digits are DEC_INEXACT. */
enum dec_status dec_fixed_exact(const char *s, size_t len, int digits, int64_t *out);
/* Unsigned integer; "80" and "80.0" are accepted, "80.5" is DEC_INEXACT. */
enum dec_status dec_u64(const char *s, size_t len, uint64_t *out);
/* The nearest finite double (as strtod in the C locale finds it). */
enum dec_status dec_double(const char *s, size_t len, double *out);
/* The double nearest to value x 10^exp10: no second rounding, unlike a product. */
enum dec_status dec_double_scaled(const char *s, size_t len, int exp10, double *out);

/* "a number" plus why: for messages, e.g. "not a number", "out of range". */
const char *dec_why(enum dec_status st);

/* value x 10^-digits as shortest decimal text ("12.5", "0.25", "8"). Returns length. */
size_t dec_print(char *buf, size_t size, int64_t value, int digits);

#endif
