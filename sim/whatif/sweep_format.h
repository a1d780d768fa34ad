/* whatif/sweep_format.h - what the writers and the readers of a sweep's files agree on. For the
 * files of the sweep only. */
#ifndef GPUSIM_WHATIF_SWEEP_FORMAT_H
#define GPUSIM_WHATIF_SWEEP_FORMAT_H

#define SWEEP_MANIFEST_FORMAT "gpusim-sweep-manifest/2"
#define SWEEP_RUN_FORMAT      "gpusim-sweep-run/3"

enum {
    SWEEP_QUEUE_FIGURES = 5,     /* of a struct queue_trend that is known */
    SWEEP_MOST_METRICS = 100000, /* columns of the table */
};

#endif
