/* engine/elastic.h - jobs that can work on fewer or more cards than they ask for: those of the
 * trace with min_gpus or max_gpus, where the schedule lets them ("elastic": start or resize).
 *
 * Sizes are whole cards from min_gpus to max_gpus (absent: gpus): all of them when they are at
 * most 16, else the ends, gpus, and the powers of two between. CPU cores and host memory of the
 * job go with the number of cards. On n cards a job works rate(n) / rate(gpus) as fast as on
 * those it asks for, and a limit holds for the cards it asks for: rate is `scaling`, by default
 * the number of cards. Each time it comes onto cards its limit is what its work done leaves of
 * it, at the rate of these cards. Orders rank a job by the cards it asks for; accounts (quotas,
 * fair, drf) count those it has. While it waits it is its smallest size to quotas and
 * reservations.
 *
 * Threads: the rules are read-only; the rest belongs to one run. */
#ifndef GPUSIM_ENGINE_ELASTIC_H
#define GPUSIM_ENGINE_ELASTIC_H

#include "base/json.h"
#include "engine/job.h"
#include "engine/shape.h"

enum elastic {
    ELASTIC_NONE,   /* the columns are carried along */
    ELASTIC_START,  /* with fewer cards when those it asks for are not free, and so to its end */
    ELASTIC_RESIZE, /* also: with more when nobody waits, with fewer when somebody does */
};

struct scaling_point {
    int64_t gpus;
    double rate;
};
struct elastic_rules {
    enum elastic how;
    const struct scaling_point *point; /* by number of cards; none: linear */
    size_t n_points;
};

/* Read "scaling" ({"1": 1, "2": 1.9, "4": 3.5}; NULL: linear) at `pointer`/scaling: ascending
 * numbers of cards, rates that do not fall. Between points straight lines; beyond the last, its
 * rate. */
void elastic_rules_read(struct elastic_rules *out, struct arena *a, const struct json_doc *doc,
                        json_t *scaling, const char *pointer, struct diag *d);
/* Work per time on so many cards, relative to the same units on others. */
double elastic_rate(const struct elastic_rules *r, double gpus);

/* The sizes of a job that has just come, as j->size; none when it is rigid. A name in its row that
 * does not exist has been refused before. */
void elastic_sizes(const struct elastic_rules *r, struct shape_table *t, struct job *j);
/* It has, or would have, the i-th size. */
void elastic_be(struct job *j, int i);
/* It may find room for more cards where it finds none for fewer: a gang that fits one node, or
 * one domain, goes nowhere else, a larger one does. So what is known of its smallest size says
 * nothing of it. */
bool elastic_leaps(const struct plan *plan, const struct job *j);
/* The shapes of a job that has ended. */
void elastic_drop(struct shape_table *t, struct job *j);

#endif
