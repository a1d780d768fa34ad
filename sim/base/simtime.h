/* base/simtime.h - simulated time: integer nanoseconds since the run began. */
#ifndef GPUSIM_BASE_SIMTIME_H
#define GPUSIM_BASE_SIMTIME_H

#include <stdint.h>

typedef int64_t simtime;

#define SIM_NEVER  INT64_MAX /* sorts last */
#define SIM_SECOND INT64_C(1000000000)
#define SIM_HOUR   (INT64_C(3600) * SIM_SECOND)
#define SIM_MAX_S  9.2e9 /* longest time in seconds that an input may name */

static inline double simtime_s(simtime t)
{
    return (double)t / 1e9;
}

#endif
