/* plots/sweep_doc.h - sweep.json (gpusim-sweep/1): is all there that a picture shows, of its type? And
 * where on its axis a value is.
 *
 * Threads: nothing is shared. */
#ifndef GPUSIM_PLOTS_SWEEP_DOC_H
#define GPUSIM_PLOTS_SWEEP_DOC_H

#include "base/arena.h"
#include "base/json.h"

/* ERR_INPUT with the first problem: a member that is missing or of another type, a point whose
 * values are not on the axes. O(members + points x axes x log values). */
int sweep_doc_check(const struct json_doc *doc, struct err *e);

/* The values of an axis, in the order of their texts. */
struct sweep_values {
    struct sweep_value {
        const char *text; /* borrowed from the document */
        size_t place;     /* on the axis, from 0 */
    } * v;
    size_t n;
};

/* `values`: an array of strings. From the arena. */
void sweep_values_of(struct sweep_values *out, struct arena *a, const json_t *values);
/* The first place of a value, n: it is not there. */
size_t sweep_values_find(const struct sweep_values *x, const char *text);

#endif
