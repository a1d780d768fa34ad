/* policy/timeshare.h - residents that take turns on one card: the closed queueing network that
 * time slicing and interception share.
 *
 * Each resident alternates between a delay (host time, off the card) and the card, a
 * processor-sharing station that works at full speed for one resident and at 1 / (1 + switch /
 * quantum) of it while two or more are there: a tenant alone pays nothing, always-busy tenants keep
 * quantum / (quantum + switch) whatever their number (reference CALIBRATION.md 1.1).
 *
 * In equal parts the network has a product form (Baskett, Chandy, Muntz and Palacios 1975, whatever
 * the distributions of the times), and a resident's rate of cycles, which is its speed since one
 * cycle is one isolated second, is a ratio of two normalising constants: exact for any residents,
 * the numbers of mean value analysis without its walk over populations.
 *
 * Part of a switch is that the state of the SMs goes to memory and comes back. A job that leaves
 * SMs empty spares that part: timeshare_spared(). Residents with different costs have no product
 * form: up to 5 are solved as a chain, for more the same ratio with each one's own cost errs by
 * 0.01 % in the mean and 0.5 % at worst where costs differ by up to 30 % of the turn
 * (tests/oracle/test_speeds.c).
 *
 * Units: seconds. Threads: calls work on their arguments. No memory is allocated. */
#ifndef GPUSIM_POLICY_TIMESHARE_H
#define GPUSIM_POLICY_TIMESHARE_H

#include "base/simtime.h"
#include "model/gpu.h"
#include "model/profile.h"

#include <stddef.h>

/* A turn and the change to the next one: what the scenario left open (CFG_NO_TIME) becomes the
 * profile's. Returns switch / quantum. */
double timeshare_turns(const struct gpu_profile *profile, simtime *quantum, simtime *switch_);

enum { TIMESHARE_MAX = 1000 }; /* residents of one card: a thousandth each */

struct turn_taker {
    double delay;  /* seconds off the card per isolated second, >= 0 */
    double demand; /* seconds on the card per isolated second, >= 0; delay + demand > 0 */
    /* part of switch_ratio that its switches do not cost; negative: they cost more */
    double spared;
};

/* What a job that fills `sm_width` of the SMs spares at each switch, in turns of `quantum_s`: the
 * registers of the empty SMs, 256 KiB each on all data-centre cards since 2016 (the larger part of
 * an SM's state), written once and read once at the sheet's bandwidth. 24 us for a quarter of an
 * A30, where a copy that fills the card and a matrix product that does not lie 45 us apart
 * (reference sharing_measured.csv). 0 for a card whose SMs or bandwidth are unknown. */
double timeshare_spared(const struct gpu_spec *gpu, double sm_width, double quantum_s);

/* speed[i] = cycles per second of resident i; equal residents get the same to the last bit.
 * `switch_ratio` = switch time / quantum, >= 0. Requires n <= TIMESHARE_MAX.
 * O(n^2) up to 64, then O(different residents): 0.2 us for 8, 0.1 ms for 1000 of a few kinds. */
void timeshare_speeds(const struct turn_taker *t, size_t n, double switch_ratio, double speed[]);

/* How long a burst of `work_s` on the card takes beside `others` (mean number, need not be whole)
 * that are always there, in turns of `turn_s` (quantum and switch): it waits half a round on
 * average for its first turn, then a whole round of the others between its turns,
 *
 *     work + others x turn x (ceil(work / turn) - 1/2)
 *
 * Processor sharing, which the speeds above come from, says work x (1 + others): the same in the
 * mean over bursts longer than a turn, but up to half a round too little for the shortest and as
 * much too much for those that just fit into a turn. So requests of a service need no turns of
 * their own: against a simulation turn by turn, mean, median and 99th percentile of their latency
 * beside 1 and 3 busy tenants are within 2 % where requests last three turns or more in the mean;
 * requests of a third of a turn take 1.4 to 1.7 times what the engine says
 * (tests/oracle/test_turns.c). */
double timeshare_burst_s(double work_s, double others, double turn_s);

/* The same when the card favours some: while i and j are both at the card it works for them in the
 * ratio weight[i] : weight[j], so that those who never leave it share it in this ratio, and one
 * that meets nobody runs at full speed (discriminatory processor sharing). weight NULL or all the
 * same: timeshare_speeds(). No product form: the chain of policy/presence.h up to 8 kinds of
 * residents, beyond them Schweitzer's fixed point of mean value analysis. Requires weights > 0. */
void timeshare_weighted(const struct turn_taker *t, const double weight[], size_t n,
                        double switch_ratio, double speed[]);

/* The same with ceilings: resident i is held back (its delay stretched) so that speed[i] does not
 * exceed cap[i]; what it leaves is lent to the others. cap NULL or INFINITY: no ceiling. Within
 * 1e-9 of where this settles. 5 us for 5 residents with different switch costs, 2 us for 8. */
void timeshare_capped(const struct turn_taker *t, const double cap[], size_t n, double switch_ratio,
                      double speed[]);

#endif
