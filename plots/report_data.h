/* plots/report_data.h - the numbers behind each picture, as tab-separated files that the templates
 * (and people) read. Made from stored files only.
 *
 * Each function writes one file and returns 1; 0 when there is nothing to show (no file is left);
 * or a negative error. Memory is bounded: the CSVs are streamed into fixed histograms and buckets. */
#ifndef GPUSIM_PLOTS_REPORT_DATA_H
#define GPUSIM_PLOTS_REPORT_DATA_H

#include "model/result.h"

/* Shares of card time per policy. */
int report_card_time(const struct result *r, const char *path, struct err *e);
/* Straight-line cost per item and policy; the smallest beyond nine items are added up as "other". */
int report_cost(const struct result *r, const char *path, struct err *e);
/* Waits of the jobs of `jobs_csv` that were submitted after the warm-up and started, as a
 * cumulative distribution (48 log bins per decade). 0 also when the file does not exist. */
int report_wait_cdf(const struct result *r, const char *jobs_csv, const char *path, struct err *e);
/* Allocation and queue of `series_csv` in at most 200 intervals per policy. 0 also when the file
 * does not exist. */
int report_load(const struct result *r, const char *series_csv, const char *path, struct err *e);

#endif
