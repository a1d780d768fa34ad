/* metrics/sink_csv.h - jobs.csv and series.csv while the run goes on: rows are appended to a stream
 * that the caller owns, one stream per policy and file.
 *
 * jobs.csv: one row a job, by (end, order of submission), unfinished ones last; times in seconds,
 * exact to the ns. series.csv: one row an interval, ending at t_s.
 * Errors: ERR_IO. Threads: one sink, one run. */
#ifndef GPUSIM_METRICS_SINK_CSV_H
#define GPUSIM_METRICS_SINK_CSV_H

#include "base/str.h"
#include "engine/sink.h"

extern const char jobs_csv_header[];
extern const char series_csv_header[];

struct jobs_csv {
    FILE *to;
    struct strbuf row;         /* scratch; jobs_csv_fini() frees */
    double usd_per_card_hour, usd_per_kwh; /* NAN: no price book */
};

struct sink jobs_csv_sink(struct jobs_csv *c);
void jobs_csv_fini(struct jobs_csv *c);
struct sink series_csv_sink(FILE *to);

#endif
