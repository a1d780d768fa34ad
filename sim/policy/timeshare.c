#include "policy/timeshare.h"

#include "base/err.h"

#include <math.h>
#include <stdbool.h>

enum { MAX_STATES = 4096, MAX_CLASSES = 8, SCHWEITZER_ROUNDS = 200, CAP_ROUNDS = 200 };

double timeshare_spared(const struct gpu_spec *gpu, double sm_width, double quantum_s)
{
    const double sm_bytes = 256 * 1024, there_and_back = 2;
    if (!(gpu->sms > 0) || !(gpu->mem_Bps > 0)) return 0;
    const double empty_bytes = gpu->sms * sm_bytes * fmax(0.0, 1.0 - sm_width);
    return there_and_back * empty_bytes / gpu->mem_Bps / quantum_s;
}

/* Equal residents are one class: MVA walks over populations, so ten equal tenants are 11 states
 * instead of 1024. */
struct network {
    struct turn_taker class[TIMESHARE_MAX];
    double weight[TIMESHARE_MAX];
    int count[TIMESHARE_MAX];
    int of[TIMESHARE_MAX]; /* class of each resident */
    int classes;
    size_t states;
};

static void network_build(struct network *w, const struct turn_taker *t, const double weight[],
                          size_t n)
{
    w->classes = 0;
    for (size_t i = 0; i < n; i++) {
        const double mine = weight ? weight[i] : 1.0;
        int c = 0;
        while (c < w->classes &&
               (w->class[c].delay != t[i].delay || w->class[c].demand != t[i].demand ||
                w->class[c].spared != t[i].spared || w->weight[c] != mine))
            c++;
        if (c == w->classes) {
            w->class[c] = t[i];
            w->weight[c] = mine;
            w->count[c] = 0;
            w->classes++;
        }
        w->count[c]++;
        w->of[i] = c;
    }
    w->states = 1;
    for (int c = 0; c < w->classes && w->states <= MAX_STATES; c++)
        w->states *= (size_t)w->count[c] + 1;
}

/* Time at the card per cycle for one that meets `queue` others on average, of which at least one
 * is there with probability `busy`. */
static double at_card(const struct turn_taker *t, double queue, double busy, double switch_ratio)
{
    const double cost = fmax(0.0, switch_ratio - t->spared);
    return t->demand * (1.0 + queue) * (1.0 + cost * busy);
}

/* Exact MVA. active[state][c]: probability that one resident of class c is at the card when the
 * population is `state` (a mixed-radix number over the class counts). */
static void solve_exact(const struct network *w, double switch_ratio, double rate[])
{
    double active[MAX_STATES + 1][MAX_CLASSES];
    size_t radix[MAX_CLASSES];
    size_t step = 1;
    for (int c = 0; c < w->classes; c++) {
        radix[c] = step;
        step *= (size_t)w->count[c] + 1;
    }
    for (size_t s = 1; s < w->states; s++) {
        int pop[MAX_CLASSES];
        for (int c = 0; c < w->classes; c++)
            pop[c] = (int)(s / radix[c] % ((size_t)w->count[c] + 1));
        for (int c = 0; c < w->classes; c++) {
            active[s][c] = 0;
            if (pop[c] == 0) continue;
            const double *before = active[s - radix[c]]; /* the network without this resident */
            double queue = 0, nobody = 1;
            for (int k = 0; k < w->classes; k++) {
                const int others = pop[k] - (k == c);
                if (others == 0) continue;
                queue += others * before[k] * (w->weight[k] / w->weight[c]);
                nobody *= pow(1.0 - before[k], others);
            }
            const double r = at_card(&w->class[c], queue, 1.0 - nobody, switch_ratio);
            active[s][c] = r / (w->class[c].delay + r);
            if (s == w->states - 1) rate[c] = 1.0 / (w->class[c].delay + r);
        }
    }
}

/* Schweitzer's fixed point: the others behave as in the full network. */
static void solve_approximate(const struct network *w, double switch_ratio, double rate[])
{
    double active[TIMESHARE_MAX];
    for (int c = 0; c < w->classes; c++) active[c] = 1.0;
    for (int round = 0; round < SCHWEITZER_ROUNDS; round++) {
        double change = 0;
        for (int c = 0; c < w->classes; c++) {
            double queue = 0, nobody = 1;
            for (int k = 0; k < w->classes; k++) {
                const int others = w->count[k] - (k == c);
                queue += others * active[k] * (w->weight[k] / w->weight[c]);
                nobody *= pow(1.0 - active[k], others);
            }
            const double r = at_card(&w->class[c], queue, 1.0 - nobody, switch_ratio);
            const double now = r / (w->class[c].delay + r);
            change = fmax(change, fabs(now - active[c]));
            active[c] = 0.5 * (active[c] + now);
            rate[c] = 1.0 / (w->class[c].delay + r);
        }
        if (change < 1e-13) break;
    }
}

void timeshare_speeds(const struct turn_taker *t, size_t n, double switch_ratio, double speed[])
{
    timeshare_weighted(t, NULL, n, switch_ratio, speed);
}

/* Busy time of the card when everybody's time there is `factor` times what `speed` says. */
static double card_busy(const struct turn_taker *t, size_t n, const double speed[], double factor)
{
    double busy = 0;
    for (size_t i = 0; i < n; i++)
        busy += t[i].demand / (t[i].delay + factor * (1.0 / speed[i] - t[i].delay));
    return busy;
}

/* Favouring some is no product form: the analysis can hand out more than the card has. Then everybody
 * stays longer by the same factor. */
static void hold_to_card(const struct turn_taker *t, size_t n, double speed[])
{
    double lo = 1.0, hi = 2.0;
    if (card_busy(t, n, speed, 1.0) <= 1.0 + 1e-12) return;
    while (card_busy(t, n, speed, hi) > 1.0) hi *= 2;
    for (int round = 0; round < 60; round++) {
        const double mid = 0.5 * (lo + hi);
        if (card_busy(t, n, speed, mid) > 1.0)
            lo = mid;
        else
            hi = mid;
    }
    for (size_t i = 0; i < n; i++)
        speed[i] = 1.0 / (t[i].delay + hi * (1.0 / speed[i] - t[i].delay));
}

void timeshare_weighted(const struct turn_taker *t, const double weight[], size_t n,
                        double switch_ratio, double speed[])
{
    struct network w;
    double rate[TIMESHARE_MAX];
    BUG_ON(n > TIMESHARE_MAX);
    if (n == 0) return;
    network_build(&w, t, weight, n);
    if (w.states <= MAX_STATES && w.classes <= MAX_CLASSES)
        solve_exact(&w, switch_ratio, rate);
    else
        solve_approximate(&w, switch_ratio, rate);
    for (size_t i = 0; i < n; i++) speed[i] = rate[w.of[i]];
    if (weight) hold_to_card(t, n, speed);
}

void timeshare_capped(const struct turn_taker *t, const double cap[], size_t n, double switch_ratio,
                      double speed[])
{
    struct turn_taker held[TIMESHARE_MAX];
    BUG_ON(n > TIMESHARE_MAX);
    for (size_t i = 0; i < n; i++) held[i] = t[i];
    timeshare_speeds(held, n, switch_ratio, speed);
    if (!cap) return;
    /* A throttled resident sleeps: stretch its delay until its cycle takes 1/cap. Sleeping frees
     * the card for the others, which may push another one to its cap, so repeat until it holds. */
    for (int round = 0; round < CAP_ROUNDS; round++) {
        double worst = 0;
        for (size_t i = 0; i < n; i++) {
            const double wanted = isfinite(cap[i]) ? 1.0 / cap[i] : 0.0;
            const double missing = wanted - 1.0 / speed[i];
            const double delay = fmax(t[i].delay, held[i].delay + missing);
            worst = fmax(worst, fabs(delay - held[i].delay) * speed[i]);
            held[i].delay = delay;
        }
        if (worst < 1e-12) break;
        timeshare_speeds(held, n, switch_ratio, speed);
    }
}
