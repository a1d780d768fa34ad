/* metrics/sink_csv.h - jobs.csv and series.csv while the run goes on: rows are appended to a stream
 * that the caller owns, one stream per policy and file.
 *
 * jobs.csv: one row a job, by (end, order of submission), unfinished ones last; times in
 * seconds, exact to the ns; cost_usd: what the job is charged (cost/charge.h), empty where it
 * held nothing or nothing is priced. series.csv: one row an interval, ending at t_s.
 * services.csv: the load curve, one row a service and interval; latencies are of the requests
 * completed in it (metrics/dist.h). Errors: ERR_IO. Threads: one sink, one run. */
#ifndef GPUSIM_METRICS_SINK_CSV_H
#define GPUSIM_METRICS_SINK_CSV_H

#include "base/str.h"
#include "base/vec.h"
#include "engine/sink.h"

extern const char jobs_csv_header[];
extern const char series_csv_header[];
extern const char services_csv_header[];

/* Where a cost belongs in the stream, and what it is made of. */
struct jobs_csv_gap {
    uint64_t at;
    double charged_h, held_h, kwh;
};

struct jobs_csv {
    FILE *to;
    struct strbuf row;        /* scratch; jobs_csv_fini() frees */
    double usd_per_card_hour; /* charged; NAN: no price book */
    double usd_per_held_hour, usd_per_kwh;
    bool by_allocation; /* charged hours are those allocated, not the larger of the shares */
    bool price_later;   /* only the whole run tells the prices: jobs_csv_price() */
    uint64_t written;   /* bytes */
    VEC(struct jobs_csv_gap) gap; /* costs left open; kept in memory, 32 bytes a job */
};

struct sink jobs_csv_sink(struct jobs_csv *c);
/* After the run, with the prices set: the rows again, costs filled in, to `to`. c->to must be
 * readable. ERR_IO. O(bytes). */
int jobs_csv_price(struct jobs_csv *c, FILE *to, struct err *e);
void jobs_csv_fini(struct jobs_csv *c);
struct sink series_csv_sink(FILE *to);

struct services_csv {
    FILE *to;
    struct interval_dist *dist; /* by service; services_csv_fini() frees */
    size_t n;
};
struct services_csv services_csv_init(FILE *to, const struct plan *plan);
struct sink services_csv_sink(struct services_csv *c);
void services_csv_fini(struct services_csv *c); /* harmless on {0} */

#endif
