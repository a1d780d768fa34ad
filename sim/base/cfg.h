/* base/cfg.h - configuration as a table: one table per struct drives parsing, defaults, bounds,
 * help and the resolved form.
 *
 *     struct timeslice { int64_t slots; simtime quantum; };
 *     static const struct cfg_field fields[] = {
 *         CFG_FIELD(struct timeslice, slots, CFG_INT, "4", 1, 64, "tenants a card admits"),
 *         CFG_FIELD(struct timeslice, quantum, CFG_TIME, "1.024 ms", 0, 1, "length of a turn"),
 *     };
 *
 * Defaults are written as a user would write them and pass through the same parser. Bounds are in
 * the base unit (seconds for CFG_TIME, bytes, W ...) and inclusive; INFINITY leaves one side open;
 * min == max == 0 means no bounds, for CFG_RATIO 0..1. A whole number may be written 8 or 8.0,
 * never "8"; a quantity never without its unit; null is not "absent". Member types: CFG_BOOL bool;
 * CFG_INT int64_t; CFG_REAL and CFG_RATIO double; CFG_TEXT const char*; CFG_CHOICE int (index into
 * choices); CFG_TIME simtime; CFG_BYTES uint64_t; CFG_QTY double in the base unit of `dim`;
 * CFG_JSON json_t* (borrowed: read by hand elsewhere, NULL when absent). */
#ifndef GPUSIM_BASE_CFG_H
#define GPUSIM_BASE_CFG_H

#include "base/arena.h"
#include "base/json.h"
#include "base/units.h"

#include <stdint.h>

enum cfg_type {
    CFG_BOOL,
    CFG_INT,
    CFG_REAL,
    CFG_RATIO, /* 0..1 unless bounds say otherwise; never percent */
    CFG_TEXT,
    CFG_CHOICE,
    CFG_TIME,
    CFG_BYTES,
    CFG_QTY,
    CFG_JSON,
};

/* What an absent optional field (dflt NULL, not required) reads as. */
#define CFG_NO_INT    INT64_MIN
#define CFG_NO_TIME   INT64_MIN
#define CFG_NO_BYTES  UINT64_MAX
#define CFG_NO_CHOICE (-1)
/* reals and quantities: NAN; text and json: NULL; bool must have a default */

struct cfg_field {
    const char *name;
    enum cfg_type type;
    size_t offset;
    const char *dflt; /* NULL: optional without default, or required */
    double min, max;
    const char *help;
    bool required;
    enum unit_dim dim;          /* CFG_QTY */
    const char *const *choices; /* CFG_CHOICE: NULL-terminated */
};

#define CFG_FIELD(type_, member_, kind_, dflt_, min_, max_, help_)                                 \
    {                                                                                              \
        .name = #member_, .type = kind_, .offset = offsetof(type_, member_), .dflt = dflt_,        \
        .min = min_, .max = max_, .help = help_                                                    \
    }
#define CFG_REQUIRED(type_, member_, kind_, min_, max_, help_)                                     \
    {                                                                                              \
        .name = #member_, .type = kind_, .offset = offsetof(type_, member_), .min = min_,          \
        .max = max_, .help = help_, .required = true                                               \
    }
#define CFG_QUANTITY(type_, member_, dim_, dflt_, min_, max_, help_)                               \
    {                                                                                              \
        .name = #member_, .type = CFG_QTY, .offset = offsetof(type_, member_), .dflt = dflt_,      \
        .min = min_, .max = max_, .help = help_, .dim = dim_                                       \
    }
#define CFG_ONE_OF(type_, member_, choices_, dflt_, help_)                                         \
    {                                                                                              \
        .name = #member_, .type = CFG_CHOICE, .offset = offsetof(type_, member_), .dflt = dflt_,   \
        .help = help_, .choices = choices_                                                         \
    }

/* Fill *out from `obj` (NULL: all defaults). Wrong types, bounds, missing required and, unless
 * `more_keys` names them, unknown keys are added to `d`; *out is then complete but not to be used.
 * `more_keys` (may be NULL, n_more 0) are further valid keys, read by the caller. Text is copied
 * to `a`. */
void cfg_read(const struct cfg_field *fields, size_t n, void *out, struct arena *a,
              const struct json_doc *doc, json_t *obj, const char *pointer,
              const char *const *more_keys, size_t n_more, struct diag *d);

/* The resolved form: every field with its value as a user would write it; absent ones left out.
 * CFG_JSON members are written as they were read. A new reference. */
json_t *cfg_write(const struct cfg_field *fields, size_t n, const void *in);

/* One line per field: name, type, default, bounds, help. */
void cfg_help(const struct cfg_field *fields, size_t n, FILE *to);
/* One field as text: what kind of value, within which bounds, and the default. Returns buf. */
const char *cfg_describe(const struct cfg_field *f, char *buf, size_t size);

#endif
