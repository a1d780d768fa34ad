/* traces/k8s_quantity.h - resource quantities of Kubernetes, exactly and in integers.
 *
 * Grammar (k8s.io/apimachinery/pkg/api/resource): [+-] digits [. digits], then one of
 *   n u m (nothing) k M G T P E    powers of 10      Ki Mi Gi Ti Pi Ei    powers of 1024
 *   e3 E3 e-2                      a power of 10
 * "m" is thousandths, also of a byte: the API prints 1.2Gi as 1288490188800m. K, g, gi, GB are no
 * suffixes. Values are held in billionths, finer ones rounded away from zero, as the API does.
 * Pure; any thread; O(len). */
#ifndef GPUSIM_TRACES_K8S_QUANTITY_H
#define GPUSIM_TRACES_K8S_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 k8s_nano; /* billionths */
#define K8S_ONE ((k8s_nano)1000000000)

enum k8s_status { K8S_OK = 0, K8S_EMPTY, K8S_SYNTAX, K8S_SUFFIX, K8S_RANGE };

struct k8s_quantity {
    k8s_nano nano;
    bool finer_than_one; /* the suffix was n, u or m */
};

/* *out is untouched after a failure. */
enum k8s_status k8s_quantity_parse(const char *s, size_t len, struct k8s_quantity *out);
/* What is wrong with it, naming the valid suffixes. */
const char *k8s_why(enum k8s_status st);

/* In whole units of `unit` billionths (K8S_ONE: units, K8S_ONE / 1000: thousandths), rounded up.
 * False when it is negative or above `max`. */
bool k8s_in_units(k8s_nano v, k8s_nano unit, uint64_t max, uint64_t *out);

#endif
