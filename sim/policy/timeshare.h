/* policy/timeshare.h - residents that take turns on one card: the closed queueing network that
 * time slicing and interception share.
 *
 * Each resident alternates between a delay (host time, off the card) and the card, a
 * processor-sharing station. Mean value analysis (Reiser and Lavenberg 1980, exact over population
 * vectors; Schweitzer 1979 approximation when there are too many states) gives each resident's
 * cycle rate, which is its speed, since one cycle is one isolated second.
 *
 * Part of a switch is that the state of the SMs goes to memory and comes back. A job that leaves SMs
 * empty spares that part: timeshare_spared().
 *
 * The switch cost inflates the time at the card by 1 + p x switch/quantum, where p is the
 * probability that another resident is active: a tenant alone pays nothing, always-busy tenants
 * pay quantum/(quantum + switch) whatever their number (reference CALIBRATION.md 1.1). */
#ifndef GPUSIM_POLICY_TIMESHARE_H
#define GPUSIM_POLICY_TIMESHARE_H

#include "model/gpu.h"

#include <stddef.h>

enum { TIMESHARE_MAX = 1000 }; /* residents of one card: a thousandth each */

struct turn_taker {
    double delay;  /* seconds off the card per isolated second, >= 0 */
    double demand; /* seconds on the card per isolated second, >= 0; delay + demand > 0 */
    double spared; /* part of switch_ratio that its switches do not cost; negative: they cost more */
};

/* What a job that fills `sm_width` of the SMs spares at each switch, in turns of `quantum_s`: the
 * registers of the empty SMs, 256 KiB each on all data-centre cards since 2016 (the larger part of an
 * SM's state), written once and read once at the sheet's bandwidth. 24 us for a quarter of an A30,
 * where a copy that fills the card and a matrix product that does not lie 45 us apart (reference
 * sharing_measured.csv). 0 for a card whose SMs or bandwidth are unknown. */
double timeshare_spared(const struct gpu_spec *gpu, double sm_width, double quantum_s);

/* speed[i] = cycles per second of resident i. `switch_ratio` = switch time / quantum, >= 0.
 * Requires n <= TIMESHARE_MAX. O(states x n) for up to 4096 states, else O(n^2 x iterations). */
void timeshare_speeds(const struct turn_taker *t, size_t n, double switch_ratio, double speed[]);

/* The same when the card favours some: while i and j are both at the card it works for them in the
 * ratio weight[i] : weight[j], so that those who never leave it share it in this ratio, and one that
 * meets nobody runs at full speed (discriminatory processor sharing; the others that i meets count
 * weight[j] / weight[i] times). weight NULL: equal. Requires weights > 0. */
void timeshare_weighted(const struct turn_taker *t, const double weight[], size_t n,
                        double switch_ratio, double speed[]);

/* The same with ceilings: resident i is held back (its delay stretched) so that speed[i] does not
 * exceed cap[i]; what it leaves is lent to the others. cap NULL or INFINITY: no ceiling. */
void timeshare_capped(const struct turn_taker *t, const double cap[], size_t n, double switch_ratio,
                      double speed[]);

#endif
