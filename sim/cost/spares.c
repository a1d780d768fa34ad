#include "cost/spares.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

double spares_unavailability(double failures_per_year, double repair_days)
{
    return fmin(1, failures_per_year * repair_days / 365);
}

double spares_up(int64_t n, int64_t k, double unavailability)
{
    return gsl_cdf_binomial_P((unsigned)k, unavailability, (unsigned)(n + k));
}

int64_t spares_needed(int64_t n, double unavailability, double target)
{
    int64_t low = 0, high = 1, most = 4 * n + 64; /* more spares never make it worse */
    if (spares_up(n, 0, unavailability) >= target) return 0;
    while (high < most && spares_up(n, high, unavailability) < target) high *= 2;
    if (high > most) high = most;
    if (spares_up(n, high, unavailability) < target) return -1;
    while (high - low > 1) { /* low is too few, high is enough */
        const int64_t mid = low + (high - low) / 2;
        if (spares_up(n, mid, unavailability) >= target)
            high = mid;
        else
            low = mid;
    }
    return high;
}

int64_t spares_whole_nodes(int64_t cards, int64_t cards_per_node)
{
    return (cards + cards_per_node - 1) / cards_per_node * cards_per_node;
}
