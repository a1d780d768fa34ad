/* tests/support/close.h - doubles in cmocka tests (cmocka 1.1 compares floats in `float`).
 * Include after <cmocka.h>. */
#ifndef GPUSIM_TESTS_CLOSE_H
#define GPUSIM_TESTS_CLOSE_H

#include <math.h>

/* |got - want| <= tolerance x max(1, |want|); two NANs are equal. */
#define assert_close(got, want, tolerance)                                                         \
    do {                                                                                           \
        double got_ = (got), want_ = (want);                                                       \
        double room_ = (tolerance)*fmax(1.0, fabs(want_));                                         \
        if (!(isnan(got_) && isnan(want_)) && !(fabs(got_ - want_) <= room_))                      \
            fail_msg("%s = %.17g, expected %.17g", #got, got_, want_);                             \
    } while (0)

#endif
