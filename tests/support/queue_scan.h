/* tests/support/queue_scan.h - a queue in front of a flat pool of whole cards, the plain way:
 * arrays, and a scan of all who wait and all who run for every decision. The oracle for the
 * scheduler's indices, and what bench_engine compares it with.
 *
 * Strict: nobody overtakes. EASY (Lifka 1995): the head starts at the earliest promised time, jobs
 * with a limit that end before it or leave it its cards may go first. All: whoever fits. Ends come
 * before arrivals of the same time. */
#ifndef GPUSIM_TESTS_QUEUE_SCAN_H
#define GPUSIM_TESTS_QUEUE_SCAN_H

#include <stddef.h>
#include <stdint.h>

struct scan_job {
    int64_t submit, run;
    int64_t limit; /* -1: none */
    int64_t rank;  /* smaller first, then by place in the array */
    int cards;     /* at most those of the pool */
    int64_t start; /* the answer */
};

enum scan_rule { SCAN_STRICT, SCAN_EASY, SCAN_ALL };

/* Jobs sorted by submit. O(n) for each event. */
void queue_scan(struct scan_job *j, size_t n, int cards, enum scan_rule rule);

#endif
