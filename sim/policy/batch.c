#include "policy/batch.h"

#include <math.h>

double batch_ns(const struct batch_curve *c, uint64_t n, double sum_ns, double largest_ns,
                double reading)
{
    const double floor_ns = (double)c->floor;
    const double work = (double)c->weights * reading + (c->pad ? (double)n * largest_ns : sum_ns);
    if (c->bend == 1.0) return floor_ns + work;
    const double top = fmax(floor_ns, work);
    if (top == 0) return 0;
    return top * pow(pow(floor_ns / top, c->bend) + pow(work / top, c->bend), 1.0 / c->bend);
}
