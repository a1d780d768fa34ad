#include "policy/timeshare.h"

#include "base/cfg.h"
#include "base/err.h"
#include "policy/presence.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static simtime or_profile(simtime given, const struct param *us)
{
    return given == CFG_NO_TIME ? (simtime)llround(us->value * 1e3) : given;
}

double timeshare_turns(const struct gpu_profile *profile, simtime *quantum, simtime *switch_)
{
    *quantum = or_profile(*quantum, &profile->param[PROFILE_timeslice_quantum_us]);
    *switch_ = or_profile(*switch_, &profile->param[PROFILE_timeslice_switch_us]);
    return (double)*switch_ / (double)*quantum;
}

enum {
    CHAIN = 5,    /* residents up to which different switch costs are worth a chain */
    DIRECT = 64,  /* residents up to which each is worked in by itself */
    POINTS = 240, /* of the integral for more */
    ROUNDS = 200,
};

double timeshare_burst_s(double work_s, double others, double turn_s)
{
    if (work_s <= 0) return 0;
    return work_s + others * turn_s * (ceil(work_s / turn_s) - 0.5);
}

double timeshare_spared(const struct gpu_spec *gpu, double sm_width, double quantum_s)
{
    const double sm_bytes = 256 * 1024, there_and_back = 2;
    if (!(gpu->sms > 0) || !(gpu->mem_Bps > 0)) return 0;
    const double empty_bytes = gpu->sms * sm_bytes * fmax(0.0, 1.0 - sm_width);
    return there_and_back * empty_bytes / gpu->mem_Bps / quantum_s;
}

/* Its time at the card while others are there, over that alone. */
static double stretch_of(const struct turn_taker *t, double switch_ratio)
{
    return 1.0 + fmax(0.0, switch_ratio - t->spared);
}

/* ---- equal parts: the product form ---- */

/* With delays z and demands d, the probability that exactly the set S is at the card is
 * proportional to
 *
 *     |S|! x stretch^max(0, |S| - 1) x product of d over S x product of z over the rest
 *
 * G is the sum over all sets, and the rate of resident i is d(log G)/d(z_i): the sum without i over
 * the sum with it. Put stretch x d for d: G = (sum of |S|! products + (stretch - 1) x product of
 * all z) / stretch. `scaled` holds z and stretch x d with the sum 1, so that no sum overflows. */
struct scaled {
    double away, there, scale, stretch;
};

static struct scaled scaled_of(const struct turn_taker *t, double switch_ratio)
{
    const double stretch = stretch_of(t, switch_ratio);
    const double scale = t->delay + stretch * t->demand;
    return (struct scaled){ t->delay / scale, stretch * t->demand / scale, scale, stretch };
}

/* upto[k][m]: the sum over sets of m among the first k. A resident makes it away x upto[k][m] + m x
 * there x upto[k][m - 1]. The derivatives run back through the same sums; everything is positive,
 * so nothing cancels. */
static void solve_direct(const struct turn_taker *t, size_t n, double switch_ratio, double speed[])
{
    double upto[DIRECT + 1][DIRECT + 1], back[DIRECT + 2], off[DIRECT + 1], g = 0;
    struct scaled r[DIRECT];
    upto[0][0] = off[0] = 1;
    for (size_t k = 0; k < n; k++) {
        r[k] = scaled_of(&t[k], switch_ratio);
        const double *before = upto[k];
        double *now = upto[k + 1];
        now[0] = r[k].away * before[0];
        for (size_t m = 1; m <= k; m++)
            now[m] = r[k].away * before[m] + (double)m * r[k].there * before[m - 1];
        now[k + 1] = (double)(k + 1) * r[k].there * before[k];
        off[k + 1] = off[k] * r[k].away;
    }
    for (size_t m = 0; m <= n; m++) {
        g += upto[n][m];
        back[m] = 1;
    }
    double off_after = 1;
    for (size_t k = n; k-- > 0;) {
        const double extra = r[k].stretch - 1;
        double without = extra * off[k] * off_after;
        for (size_t m = 0; m <= k; m++) without += back[m] * upto[k][m];
        speed[k] = without / (g + extra * off[n]) / r[k].scale;
        for (size_t m = 0; m <= k; m++)
            back[m] = r[k].away * back[m] + (double)(m + 1) * r[k].there * back[m + 1];
        off_after *= r[k].away;
    }
}

/* For more residents, equal ones as one kind: |S|! is the integral of x^|S| exp(-x), so
 *
 *     sum of |S|! products = integral over x > 0 of exp(-x) x product of (away + there x x)
 *
 * whose integrand has one hill. With x = exp(u) it falls off on both sides, and equidistant points
 * over the part that counts give it to the last digits. */
struct kinds {
    struct scaled r[TIMESHARE_MAX];
    double count[TIMESHARE_MAX];
    int of[TIMESHARE_MAX];
    int n;
};

static double log_integrand(const struct kinds *w, double u)
{
    const double x = exp(u);
    double f = u - x;
    for (int k = 0; k < w->n; k++) f += w->count[k] * log(w->r[k].away + w->r[k].there * x);
    return f;
}

static double top_of_hill(const struct kinds *w)
{
    double low = 0, high = 1; /* of x; the slope in x falls */
    for (int k = 0; k < w->n; k++) high += w->count[k];
    for (int i = 0; i < 60; i++) {
        const double x = 0.5 * (low + high);
        double slope = 1 / x - 1;
        for (int k = 0; k < w->n; k++)
            slope += w->count[k] * w->r[k].there / (w->r[k].away + w->r[k].there * x);
        if (slope > 0)
            low = x;
        else
            high = x;
    }
    return log(0.5 * (low + high));
}

/* Where the integrand is exp(-40) of its top; `step` is the direction. */
static double foot_of_hill(const struct kinds *w, double top, double step)
{
    const double least = log_integrand(w, top) - 40;
    double near = 0, far = fabs(step);
    const double sign = step > 0 ? 1 : -1;
    while (log_integrand(w, top + sign * far) > least) far *= 2;
    for (int i = 0; i < 20; i++) {
        const double middle = 0.5 * (near + far);
        if (log_integrand(w, top + sign * middle) > least)
            near = middle;
        else
            far = middle;
    }
    return top + sign * far;
}

static void solve_many(const struct turn_taker *t, size_t n, double switch_ratio, double speed[])
{
    struct kinds w = { .n = 0 };
    double without[TIMESHARE_MAX] = { 0 }, g = 0, log_off = 0;
    for (size_t i = 0; i < n; i++) {
        const struct scaled r = scaled_of(&t[i], switch_ratio);
        int k = 0;
        while (k < w.n &&
               (w.r[k].away != r.away || w.r[k].scale != r.scale || w.r[k].stretch != r.stretch))
            k++;
        if (k == w.n) {
            w.r[k] = r;
            w.count[w.n++] = 0;
        }
        w.count[k]++;
        w.of[i] = k;
    }
    const double top = top_of_hill(&w), highest = log_integrand(&w, top);
    const double from = foot_of_hill(&w, top, -0.1), to = foot_of_hill(&w, top, 0.1);
    const double step = (to - from) / POINTS;
    for (int i = 0; i <= POINTS; i++) {
        const double u = from + step * i, x = exp(u);
        const double f = step * exp(log_integrand(&w, u) - highest);
        g += f;
        for (int k = 0; k < w.n; k++) without[k] += f / (w.r[k].away + w.r[k].there * x);
    }
    for (int k = 0; k < w.n; k++)
        log_off += w.count[k] * log(w.r[k].away); /* -INFINITY: never all */
    const double off = exp(log_off - highest);
    for (size_t i = 0; i < n; i++) {
        const struct scaled *r = &w.r[w.of[i]];
        const double extra = (r->stretch - 1) * off;
        const double none = extra > 0 ? extra / r->away : 0;
        speed[i] = (without[w.of[i]] + none) / (g + extra) / r->scale;
    }
}

/* ---- parts by weight ---- */

struct favour {
    double delay, demand, stretch, weight;
};

static struct favour favour_of(const struct turn_taker *t, double weight, double switch_ratio)
{
    return (struct favour){ t->delay, t->demand, stretch_of(t, switch_ratio), weight };
}

static int compare_favours(const struct favour *a, const struct favour *b)
{
    const double x[] = { a->delay, a->demand, a->stretch, a->weight };
    const double y[] = { b->delay, b->demand, b->stretch, b->weight };
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Equal residents, in order; those that never use the card are left out. */
struct favours {
    struct favour favour[TIMESHARE_MAX];
    int count[TIMESHARE_MAX];
    int n;
};

/* The place of `f`, which is after *n when it is not among them. */
static int place_of(const struct favours *w, const struct favour *f, bool *known)
{
    int low = 0, high = w->n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (compare_favours(&w->favour[middle], f) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *known = low < w->n && compare_favours(&w->favour[low], f) == 0;
    return low;
}

static void add_favour(struct favours *w, const struct favour *f)
{
    bool known;
    const int k = place_of(w, f, &known);
    if (!known) {
        const size_t after = (size_t)(w->n++ - k);
        memmove(&w->favour[k + 1], &w->favour[k], after * sizeof *w->favour);
        memmove(&w->count[k + 1], &w->count[k], after * sizeof *w->count);
        w->favour[k] = *f;
        w->count[k] = 0;
    }
    w->count[k]++;
}

/* The kinds of `favours` by what the chain asks for again and again. */
struct turns {
    double demand[PRESENCE_KINDS], stretched[PRESENCE_KINDS], per_weight[PRESENCE_KINDS];
};

static void at_card_of(const void *ctx, int kind, const double *asked, const double *present,
                       size_t n, double *restrict at_card)
{
    const struct turns *w = ctx;
    const double demand = w->demand[kind], stretched = w->stretched[kind];
    const double per_weight = w->per_weight[kind];
    for (size_t i = 0; i < n; i++) {
        const double longer = asked[i] * per_weight, one = present[i] > 1 ? stretched : demand;
        /* no less than 1, where it is not among those asked for */
        at_card[i] = one * (longer > 1 ? longer : 1);
    }
}

/* False: too many kinds. */
static bool solve_chain(const struct favours *w, double rate[])
{
    struct presence_kind kind[PRESENCE_KINDS] = { 0 };
    struct turns turns;
    if (w->n > PRESENCE_KINDS) return false;
    for (int k = 0; k < w->n; k++) {
        const struct favour *f = &w->favour[k];
        turns.demand[k] = f->demand;
        turns.stretched[k] = f->demand * f->stretch;
        turns.per_weight[k] = 1.0 / f->weight;
        kind[k] = (struct presence_kind){ f->delay, { f->weight, 1 }, w->count[k] };
    }
    if (!presence_fits(kind, w->n)) return false;
    presence_rates(kind, w->n, at_card_of, &turns, rate);
    return true;
}

/* Busy time of the card when everybody's time there is `factor` times what `rate` says. */
static double card_busy(const struct favours *w, const double rate[], double factor)
{
    double busy = 0;
    for (int k = 0; k < w->n; k++) {
        const struct favour *f = &w->favour[k];
        busy += w->count[k] * f->demand / (f->delay + factor * (1.0 / rate[k] - f->delay));
    }
    return busy;
}

/* Favouring some is no product form: the fixed point can hand out more than the card has. Then
 * everybody stays longer by the same factor. */
static void hold_to_card(const struct favours *w, double rate[])
{
    double low = 1.0, high = 2.0;
    if (card_busy(w, rate, 1.0) <= 1.0 + 1e-12) return;
    while (card_busy(w, rate, high) > 1.0) high *= 2;
    for (int round = 0; round < 60; round++) {
        const double middle = 0.5 * (low + high);
        if (card_busy(w, rate, middle) > 1.0)
            low = middle;
        else
            high = middle;
    }
    for (int k = 0; k < w->n; k++) {
        const double delay = w->favour[k].delay;
        rate[k] = 1.0 / (delay + high * (1.0 / rate[k] - delay));
    }
}

/* Schweitzer's fixed point: the others that one meets are those of the full network; of a kind that
 * is favoured they count more. */
static void solve_approximate(const struct favours *w, double rate[])
{
    double active[TIMESHARE_MAX];
    for (int c = 0; c < w->n; c++) active[c] = 1.0;
    for (int round = 0; round < ROUNDS; round++) {
        double change = 0, all = 0, idle = 0; /* sum of what is met; log of nobody there */
        for (int k = 0; k < w->n; k++) {
            all += w->count[k] * active[k] * w->favour[k].weight;
            idle += w->count[k] * log1p(-fmin(active[k], 1 - 1e-15));
        }
        for (int c = 0; c < w->n; c++) {
            const struct favour *f = &w->favour[c];
            const double met = fmax(0, all / f->weight - active[c]);
            const double others = -expm1(idle - log1p(-fmin(active[c], 1 - 1e-15)));
            const double there = f->demand * (1.0 + met) * (1.0 + (f->stretch - 1) * others);
            const double now = there / (f->delay + there);
            change = fmax(change, fabs(now - active[c]));
            rate[c] = 1.0 / (f->delay + there);
            active[c] = 0.5 * (active[c] + now);
        }
        if (change < 1e-13) break;
    }
    hold_to_card(w, rate);
}

static bool all_equal(const double weight[], size_t n)
{
    for (size_t i = 1; weight && i < n; i++)
        if (weight[i] != weight[0]) return false;
    return true;
}

static bool equal_costs(const struct turn_taker *t, size_t n, double switch_ratio)
{
    for (size_t i = 1; i < n; i++)
        if (stretch_of(&t[i], switch_ratio) != stretch_of(&t[0], switch_ratio)) return false;
    return true;
}

static double weight_of(const double weight[], size_t i)
{
    return weight ? weight[i] : 1.0;
}

/* No product form. weight NULL: equal. */
static void solve_unequal(const struct turn_taker *t, const double weight[], size_t n,
                          double switch_ratio, double speed[])
{
    struct favours w; /* large, and mostly not used */
    double rate[TIMESHARE_MAX];
    bool known;
    w.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct favour f = favour_of(&t[i], weight_of(weight, i), switch_ratio);
        if (f.demand > 0) add_favour(&w, &f);
    }
    if (!solve_chain(&w, rate)) solve_approximate(&w, rate);
    for (size_t i = 0; i < n; i++) {
        const struct favour f = favour_of(&t[i], weight_of(weight, i), switch_ratio);
        const double alone = 1.0 / (f.delay + f.demand);
        speed[i] = alone;
        if (!(f.demand > 0)) continue;
        const int place = place_of(&w, &f, &known);
        BUG_ON(!known);
        speed[i] = fmin(alone, rate[place]);
    }
}

/* ---- all together ---- */

/* As if all costs had a product form; exact where they are equal. */
static void solve_product(const struct turn_taker *t, size_t n, double switch_ratio, double speed[])
{
    if (n == 1) {
        speed[0] = 1.0 / (t->delay + t->demand);
        return;
    }
    if (n > DIRECT) {
        solve_many(t, n, switch_ratio, speed);
        return;
    }
    solve_direct(t, n, switch_ratio, speed);
    for (size_t i = 1; i < n; i++) /* rounding knows the order, equal residents do not */
        for (size_t k = 0; k < i; k++)
            if (t[k].delay == t[i].delay && t[k].demand == t[i].demand &&
                t[k].spared == t[i].spared) {
                speed[i] = speed[k];
                break;
            }
}

static bool chain_pays(const struct turn_taker *t, size_t n, double switch_ratio)
{
    return n > 1 && n <= CHAIN && !equal_costs(t, n, switch_ratio);
}

void timeshare_speeds(const struct turn_taker *t, size_t n, double switch_ratio, double speed[])
{
    BUG_ON(n > TIMESHARE_MAX);
    if (chain_pays(t, n, switch_ratio))
        solve_unequal(t, NULL, n, switch_ratio, speed);
    else if (n > 0)
        solve_product(t, n, switch_ratio, speed);
}

void timeshare_weighted(const struct turn_taker *t, const double weight[], size_t n,
                        double switch_ratio, double speed[])
{
    BUG_ON(n > TIMESHARE_MAX);
    if (all_equal(weight, n))
        timeshare_speeds(t, n, switch_ratio, speed);
    else
        solve_unequal(t, weight, n, switch_ratio, speed);
}

/* ---- ceilings ---- */

/* A throttled resident sleeps: stretch its delay until its cycle takes 1/cap, which frees the card
 * for the others and may push another one to its cap. The delays that settle are the only ones:
 * they minimise the sum of cap x delay - log G, which is convex. Each round moves on along the
 * direction of the last one by what the two together suggest (Anderson 1965, one step back), within
 * limits. Speeds are those of the product form times `factor` (NULL: 1). */
static void hold_back(const struct turn_taker *t, const double cap[], size_t n, double switch_ratio,
                      const double factor[], double settled, struct turn_taker held[],
                      double speed[])
{
    double moved[TIMESHARE_MAX], target[TIMESHARE_MAX];
    const double longest = 10, shortest = 0.9;
    for (int round = 0; round < ROUNDS; round++) {
        double worst = 0, along = 0, length = 0;
        solve_product(held, n, switch_ratio, speed);
        for (size_t i = 0; factor && i < n; i++) speed[i] *= factor[i];
        for (size_t i = 0; i < n; i++) {
            const double wanted = isfinite(cap[i]) ? 1.0 / cap[i] : 0.0;
            const double to = fmax(t[i].delay, held[i].delay + wanted - 1.0 / speed[i]);
            const double move = to - held[i].delay;
            const double turn = round > 0 ? move - moved[i] : 0;
            worst = fmax(worst, fabs(move) * speed[i]);
            along += move * turn;
            length += turn * turn;
            held[i].demand = to; /* kept here until the step is known */
            moved[i] = move;
        }
        const double back = length > 0 ? fmin(shortest, fmax(-longest, along / length)) : 0;
        for (size_t i = 0; i < n; i++) {
            const double to = held[i].demand;
            const double step = round > 0 ? back * (to - target[i]) : 0;
            held[i].delay = fmax(t[i].delay, to - step);
            held[i].demand = t[i].demand;
            target[i] = to;
        }
        if (worst < settled) break;
    }
}

/* How far residents with these delays are from their ceilings, and above them. */
static double misses(const struct turn_taker *t, const struct turn_taker held[], const double cap[],
                     size_t n, const double speed[])
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        const double above = speed[i] / cap[i] - 1;
        worst = fmax(worst, held[i].delay > t[i].delay ? fabs(above) : above);
    }
    return worst;
}

/* What the chain makes of the product form changes little with the delays. So they settle with the
 * last answer's factor, then the chain is asked again: each time the factor is wrong by thousands
 * of times less. */
static void hold_back_chain(const struct turn_taker *t, const double cap[], size_t n,
                            double switch_ratio, struct turn_taker held[], double speed[])
{
    const double roughly = 1e-4, settled = 1e-12, last = 1e-11;
    double factor[CHAIN], exact[CHAIN], before = 1e-4;
    for (size_t i = 0; i < n; i++) factor[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        hold_back(t, cap, n, switch_ratio, factor, round ? settled : roughly, held, speed);
        solve_product(held, n, switch_ratio, speed);
        solve_unequal(held, NULL, n, switch_ratio, exact);
        for (size_t i = 0; i < n; i++) factor[i] = exact[i] / speed[i];
        const double off = misses(t, held, cap, n, exact);
        if (off < settled) {
            memcpy(speed, exact, n * sizeof *speed);
            return;
        }
        if (off * off < last * before) break; /* the next miss, if it goes on so */
        before = off;
    }
    hold_back(t, cap, n, switch_ratio, factor, settled, held, speed);
}

void timeshare_capped(const struct turn_taker *t, const double cap[], size_t n, double switch_ratio,
                      double speed[])
{
    struct turn_taker held[TIMESHARE_MAX];
    BUG_ON(n > TIMESHARE_MAX);
    if (!cap || n == 0) {
        timeshare_speeds(t, n, switch_ratio, speed);
        return;
    }
    memcpy(held, t, n * sizeof *held);
    if (chain_pays(t, n, switch_ratio))
        hold_back_chain(t, cap, n, switch_ratio, held, speed);
    else
        hold_back(t, cap, n, switch_ratio, NULL, 1e-12, held, speed);
}
