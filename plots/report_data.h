/* plots/report_data.h - the numbers behind each picture, as tab-separated files that the templates
 * (and people) read. Made from stored files only.
 *
 * The CSVs of a run are read once, streamed into fixed histograms and buckets (struct digest); then
 * each data_*() writes one file and returns 1; 0 when there is nothing to show (no file is left);
 * or a negative error. Memory: bounded by the result and MAP_BOXES, not by the CSVs. */
#ifndef GPUSIM_PLOTS_REPORT_DATA_H
#define GPUSIM_PLOTS_REPORT_DATA_H

#include "base/arena.h"
#include "model/result.h"
#include "plots/words.h"

enum {
    PER_DECADE = 48, /* log bins of a distribution: 5 % wide, about a pixel */
    LOW_DECADE = -3, /* times under a millisecond count as none */
    DECADES = 13,
    BINS = DECADES * PER_DECADE,
    BUCKETS = 200,     /* intervals over time: about two pixels each; finer ones blur */
    SHOWN_CLASSES = 6, /* more panels nobody reads: those with most jobs */
    MAP_BOXES = 2000,  /* stays in a map of slots: more are thinner than a pixel */
    MAP_ROWS = 20000,  /* read of slots.csv, to choose from */
    MAP_CARDS = 8,
};

/* A distribution of times. */
struct spread {
    uint64_t n, zero;
    uint64_t bin[BINS];
};

/* Means over one interval; the most for queued. */
struct bucket {
    double seconds, allocated, sm_active, stranded, free, down, power_W; /* integrals over time */
    double fragmentation, fragmentation_n;
    double queued;
};

/* The same of a service. */
struct service_bucket {
    double seconds, arrivals, replicas, p99_ms;
};

/* A job or a replica on a slot of a card. */
struct map_box {
    bool replica;
    double from_s, to_s;
    int card, start, units, slices; /* card: among those shown; units 0: the whole card */
};

struct digest {
    bool jobs, series, services, slots; /* the file is there */
    const struct result *r;
    struct spread *wait, *turnaround; /* by policy */
    const char *klass[SHOWN_CLASSES];
    size_t n_classes;
    struct spread *class_wait, *class_turnaround; /* [class * policies + policy] */
    struct bucket *time;                          /* [policy * BUCKETS + k] */
    double end_s;
    struct service_bucket *service; /* [(service * policies + policy) * BUCKETS + k] */
    size_t n_services;
    /* Slots of the first cards under the first policy of kind mig. */
    size_t map_policy; /* n_policies: none */
    double map_end_s;  /* shown up to here */
    bool map_cut;      /* before the end of the run, or for want of rows */
    int map_units;     /* of a card */
    const char *map_card[MAP_CARDS];
    int n_cards;
    struct map_box *box;
    size_t n_boxes;
    struct arena *a;
};

/* DIR's jobs.csv, series.csv, services.csv and slots.csv, each where it is there. 0 or an error;
 * digest_fini() in any case. O(rows). */
int digest_read(struct digest *d, const struct result *r, const char *dir, struct err *e);
void digest_fini(struct digest *d);
/* Warm-up of the scenario, s; 0 without one. Jobs submitted before its end are in no statistics of
 * waits. */
double digest_warmup_s(const struct result *r);

struct source {
    const struct result *r;
    const struct digest *d;
    enum lang lang;
    json_t *risk;    /* risk.json, or NULL */
    json_t *effects; /* sensitivity.json, or NULL */
};

int data_card_time(const struct source *s, const char *path, struct err *e);
int data_card_time_series(const struct source *s, const char *path, struct err *e);
int data_use(const struct source *s, const char *path, struct err *e); /* the four utilizations */
int data_fragments(const struct source *s, const char *path, struct err *e);
int data_differences(const struct source *s, const char *path, struct err *e);
int data_pareto(const struct source *s, const char *path, struct err *e);
int data_wait_cdf(const struct source *s, const char *path, struct err *e);
int data_turnaround_cdf(const struct source *s, const char *path, struct err *e);
int data_class_wait_cdf(const struct source *s, const char *path, struct err *e);
int data_class_turnaround_cdf(const struct source *s, const char *path, struct err *e);
int data_load(const struct source *s, const char *path, struct err *e);
int data_mig_map(const struct source *s, const char *path, struct err *e);
int data_latency(const struct source *s, const char *path, struct err *e);
int data_service_load(const struct source *s, const char *path, struct err *e);
int data_cost(const struct source *s, const char *path, struct err *e);
int data_payers(const struct source *s, const char *path, struct err *e);
int data_tornado(const struct source *s, const char *path, struct err *e);
int data_effects(const struct source *s, const char *path, struct err *e); /* effects.c */
int data_breakeven(const struct source *s, const char *path, struct err *e);
int data_months(const struct source *s, const char *path, struct err *e);
/* Line type and colour of policy i, from 1, whichever of the scenario's were run (palette.h). */
size_t data_place(const struct result *r, size_t i);
/* DIR/style.gp with these. 0 or ERR_IO. */
int data_style(const struct result *r, const char *dir, enum lang lang, struct err *e);
int data_power(const struct source *s, const char *path, struct err *e);
int data_precision(const struct source *s, const char *path, struct err *e);

/* ---- among the data_*.c ---- */

/* Place (base/figure.h) of the last digit of an amount that is shown: what the prices support of
 * a policy's cost. */
int data_cost_place(const struct result *r, size_t policy, double usd);

struct strbuf;
/* A name as one gnuplot field: no tabs, line ends or quotes, and never a comment. */
void data_name(struct strbuf *out, const char *s);
void data_number(struct strbuf *out, double x);                       /* with a tab before it */
int data_write(struct strbuf *text, const char *path, struct err *e); /* 1; frees the text */

#endif
