/* plots/effects.h - what the study of the device parameters (sensitivity.json) says of one of them.
 * Texts are borrowed from the document. Threads: any. O(parameters + policies). */
#ifndef GPUSIM_PLOTS_EFFECTS_H
#define GPUSIM_PLOTS_EFFECTS_H

#include "base/json.h"

#include <stdbool.h>

enum { AT_LOW, AT_HIGH };

/* Of the policy that the parameter moves most. Changes are percent of the run's value, of
 * attainment percentage points; 0 at an end that is the value itself, NAN where there is no such
 * figure. */
struct effect {
    const char *policy;     /* NULL: no figure is known */
    double turnaround[2];   /* mean, of completed jobs */
    double cost[2];         /* per useful GPU-hour */
    double attainment[2];   /* least of the services */
    double most;            /* largest of them all, without sign */
    const char *instead[2]; /* recommended at that end; NULL: as in the run */
    bool none[2];           /* no policy is fit at that end, though one is in the run */
    const char *problem[2]; /* why nothing could be run there; NULL */
};

/* False: the study does not have it. `effects` may be NULL. */
bool effect_of(json_t *effects, const char *fleet, const char *name, struct effect *out);

#endif
