#include "policy/presence.h"

#include "base/err.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    K = PRESENCE_KINDS,
    S = PRESENCE_STATES,
    ROW = 8,    /* states that are worked on together, whoever of the lowest kinds is there */
    EXACT = 64, /* states up to which the chain is solved by elimination */
    HALF = EXACT / 2,
    BALANCES = 2, /* rounds of scaling that larger ones get: a third changes little */
    SWEEP_WORK =
        1200, /* states x kinds that may be swept, so that a question stays at microseconds */
};

#define SETTLED 1e-12

/* States are numbers in a mixed radix: how many of each kind that is ever away are present. Those
 * always present are in every state. What differs by kind lies kind by kind, `stride` apart, so
 * that loops run over neighbouring states. The lowest kinds make up a row: for them, and for those
 * always present, everything is worked out for every state (with 0 present of them where there are
 * none); for a kind above the row only where some of it are, and nothing is set elsewhere. */
struct chain {
    int kinds, moving, low; /* first `moving` that are ever away, of these first `low` in a row */
    int of[K];              /* what the caller calls a kind */
    size_t states, row, stride;
    size_t radix[K];
    int count[K];
    double come[K];     /* rate at which one that is away comes */
    uint8_t present[S]; /* how many of those that are ever away */
    double asked[PRESENCE_ASKS][S];
    double p[S];
    double leave[K * (S + ROW)]; /* rate, of all of the kind together */
};

/* What is only needed to start. */
struct start {
    double per_alone[K];
    double at_card[S];
    double order[S]; /* slowdown on the way to a state, averaged over the orders in which it can
                        gather */
    double slow[K * (S + ROW)]; /* slowdown of one, times how many are present */
};

bool presence_fits(const struct presence_kind kind[], int kinds)
{
    size_t states = 1;
    int residents = 0;
    if (kinds > K) return false;
    for (int k = 0; k < kinds; k++) {
        residents += kind[k].count;
        if (residents > PRESENCE_RESIDENTS) return false;
        if (kind[k].away > 0) states *= (size_t)kind[k].count + 1;
        if (states > PRESENCE_STATES) return false;
    }
    return true;
}

static size_t block_of(const struct chain *c, int k)
{
    return c->radix[k] * ((size_t)c->count[k] + 1);
}

static bool above_row(const struct chain *c, int k)
{
    return k >= c->low && k < c->moving;
}

static const double *leave_of(const struct chain *c, int k)
{
    return c->leave + (size_t)k * c->stride;
}

/* NOLINTBEGIN(clang-analyzer-core.*): all `states` are set before they are read; that they are the
 * product of what the kinds count is more than clang-tidy follows */

/* ---- the states, and what the policy says about them ---- */

/* Every state so far with 0 to count of kind k. p is weighed by the ways to choose them, times
 * `odds` for each, against the likelier end so that nothing overflows. */
static void now_and_then(struct chain *c, int k, const struct presence_kind *kind, double odds)
{
    const size_t before = c->states;
    const int n = kind->count;
    double weight[PRESENCE_RESIDENTS + 1];
    if (odds < 1) {
        weight[0] = 1;
        for (int m = 1; m <= n; m++) weight[m] = weight[m - 1] * odds * (n - m + 1) / m;
    } else {
        weight[n] = 1;
        for (int m = n; m > 0; m--) weight[m - 1] = weight[m] / odds * m / (n - m + 1);
    }
    for (int m = n; m >= 0; m--) {
        const size_t to = before * (size_t)m;
        for (size_t s = 0; s < before; s++) c->p[to + s] = c->p[s] * weight[m];
        for (size_t s = 0; s < before; s++) c->present[to + s] = (uint8_t)(c->present[s] + m);
        for (int a = 0; a < PRESENCE_ASKS; a++) {
            double *asked = c->asked[a];
            for (size_t s = 0; s < before; s++) asked[to + s] = asked[s] + m * kind->ask[a];
        }
    }
    c->radix[k] = before;
    c->come[k] = 1.0 / kind->away;
    c->states *= (size_t)n + 1;
    if (c->states > ROW) return;
    c->row = c->states;
    c->low = k + 1;
}

static void gather_states(struct chain *c, struct start *start, const struct presence_kind kind[],
                          int kinds, presence_fn *fn, const void *ctx)
{
    c->kinds = c->moving = c->low = 0;
    c->states = c->row = 1;
    c->present[0] = 0;
    c->p[0] = 1;
    for (int k = 0; k < kinds; k++)
        if (kind[k].away > 0) c->of[c->moving++] = k;
    c->kinds = c->moving;
    for (int k = 0; k < kinds; k++)
        if (kind[k].away == 0) c->of[c->kinds++] = k;
    for (int a = 0; a < PRESENCE_ASKS; a++) {
        c->asked[a][0] = 0;
        for (int k = c->moving; k < kinds; k++)
            c->asked[a][0] += kind[c->of[k]].count * kind[c->of[k]].ask[a];
    }
    for (int k = 0; k < kinds; k++) {
        const struct presence_kind *of = &kind[c->of[k]];
        double alone;
        fn(ctx, c->of[k], &of->ask[0], &of->ask[1], 1, &alone);
        start->per_alone[k] = 1.0 / alone;
        c->count[k] = of->count;
        if (k < c->moving) now_and_then(c, k, of, alone / of->away);
    }
}

/* One division for every two states. */
static inline void full_rows(const double *restrict at_card, size_t n,
                             const double *restrict present, double per_alone,
                             double *restrict leave, double *restrict slow)
{
    enum { PAIR = ROW / 2 };
    for (size_t row = 0; row < n; row += ROW)
        for (size_t i = row, l = 0; l < PAIR; i++, l++) {
            const double one = at_card[i], other = at_card[i + PAIR], both = 1.0 / (one * other);
            leave[i] = present[l] * (both * other);
            leave[i + PAIR] = present[l + PAIR] * (both * one);
            slow[i] = present[l] * per_alone * one;
            slow[i + PAIR] = present[l + PAIR] * per_alone * other;
        }
}

static void ask_about(struct chain *c, struct start *start, int k, presence_fn *fn, const void *ctx)
{
    const bool above = above_row(c, k);
    const size_t radix = k < c->moving ? c->radix[k] : c->states, row = c->row;
    const size_t run = above ? radix : c->states, offset = (size_t)k * c->stride;
    double present[ROW], *const at_card = start->at_card;
    for (size_t from = 0; from < c->states; from += run) {
        const size_t there = above ? from / radix % ((size_t)c->count[k] + 1) : 1;
        double *leave = c->leave + offset + from, *slow = start->slow + offset + from;
        if (there == 0) continue;
        for (size_t i = 0; i < row; i++)
            present[i] = above           ? (double)there
                         : k < c->moving ? (double)(i / radix % ((size_t)c->count[k] + 1))
                                         : c->count[k];
        fn(ctx, c->of[k], &c->asked[0][from], &c->asked[1][from], run, at_card);
        if (row == ROW) {
            full_rows(at_card, run, present, start->per_alone[k], leave, slow);
            continue;
        }
        for (size_t i = 0; i < run; i++) {
            leave[i] = present[i % row] / at_card[i];
            slow[i] = present[i % row] * start->per_alone[k] * at_card[i];
        }
    }
}

/* Who came last? Row by row: for the kinds above a row the states that lack one are in rows before,
 * for those of a row they are before it in the row. Inlined, so that full rows know their form. */
static inline __attribute__((always_inline)) void average_orders(const struct chain *c,
                                                                 struct start *start, size_t length,
                                                                 int low, const size_t radix[])
{
    double per[PRESENCE_RESIDENTS + 1];
    size_t in_block[K] = { 0 };
    per[0] = 1;
    for (int m = 1; m <= c->present[c->states - 1]; m++) per[m] = 1.0 / m;
    for (size_t row = 0; row < c->states; row += length) {
        const double *slow = start->slow + row;
        double came[ROW] = { 0 }, now[ROW];
        for (int k = c->moving - 1; k >= low; k--) {
            const double *of_kind = slow + (size_t)k * c->stride;
            const double *lacking = start->order + row - c->radix[k];
            const bool there = in_block[k] >= c->radix[k];
            in_block[k] += length;
            if (in_block[k] == block_of(c, k)) in_block[k] = 0;
            for (size_t i = 0; there && i < length; i++) came[i] += of_kind[i] * lacking[i];
        }
        for (size_t i = 0; i < length; i++) {
            now[i] = row + i > 0 ? came[i] : 1;
            for (int k = 0; k < low; k++)
                if (i >= radix[k]) now[i] += slow[(size_t)k * c->stride + i] * now[i - radix[k]];
            now[i] *= per[c->present[row + i]];
            start->order[row + i] = now[i];
        }
    }
}

static void fill(struct chain *c, const struct presence_kind kind[], int kinds, presence_fn *fn,
                 const void *ctx)
{
    struct start start;
    gather_states(c, &start, kind, kinds, fn, ctx);
    c->stride = c->states + ROW; /* not a power of two: they would share cache lines */
    for (int k = 0; k < kinds; k++) ask_about(c, &start, k, fn, ctx);
    static const size_t three[] = { 1, 2, 4 };
    if (c->row == ROW && c->low == 3)
        average_orders(c, &start, ROW, 3, three);
    else
        average_orders(c, &start, c->row, c->low, c->radix);
    for (size_t s = 0; s < c->states; s++) c->p[s] *= start.order[s];
}

/* ---- the steady state ---- */

/* Sums in LANES parts, which do not wait for each other. */
enum { LANES = 8 };

struct lanes {
    double sum[LANES];
};

static inline __attribute__((always_inline)) void add_products(struct lanes *s, const double *a,
                                                               const double *b, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) s->sum[l] += a[i + l] * b[i + l];
    for (size_t l = 0; i + l < n; l++) s->sum[l] += a[i + l] * b[i + l];
}

static double total(const struct lanes *s)
{
    double sum = 0;
    for (size_t l = 0; l < LANES; l++) sum += s->sum[l];
    return sum;
}

static double sum_of(const double *a, size_t n)
{
    struct lanes s = { { 0 } };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) s.sum[l] += a[i + l];
    for (size_t l = 0; i + l < n; l++) s.sum[l] += a[i + l];
    return total(&s);
}

/* What leaves per second of each kind, times the sum of p. */
static void sum_leaving(const struct chain *c, double sum[K])
{
    for (int k = 0; k < c->kinds; k++) {
        const bool above = above_row(c, k);
        const size_t step = above ? block_of(c, k) : c->states, skip = above ? c->radix[k] : 0;
        struct lanes s = { { 0 } };
        for (size_t from = skip; from < c->states; from += step)
            add_products(&s, c->p + from, leave_of(c, k) + from, step - skip);
        sum[k] = total(&s);
    }
}

/* How many of each kind are present, times the sum of p, which is returned: states that differ in
 * the highest kind only are added up, then it is gone. */
static double sum_here(const struct chain *c, double sum[K])
{
    double p[S];
    memcpy(p, c->p, c->states * sizeof *p);
    for (int k = c->moving - 1; k >= 0; k--) {
        const size_t step = c->radix[k];
        sum[k] = 0;
        for (int m = 1; m <= c->count[k]; m++) {
            const double *restrict from = p + step * (size_t)m;
            double *restrict to = p;
            sum[k] += m * sum_of(from, step);
            for (size_t s = 0; s < step; s++) to[s] += from[s];
        }
    }
    return p[0];
}

/* Scale the states so that each kind leaves as often as it comes. Returns the largest factor's
 * distance from 1. */
static double balance(struct chain *c)
{
    double leaving[K], here[K], scale[S], off = 0;
    const double sum = sum_here(c, here);
    sum_leaving(c, leaving);
    scale[0] = 1.0 / sum;
    for (int k = 0; k < c->moving; k++) {
        const size_t step = c->radix[k];
        const double factor = c->come[k] * (c->count[k] * sum - here[k]) / leaving[k];
        off = fmax(off, fabs(factor - 1));
        for (int m = 1; m <= c->count[k]; m++) {
            const double *restrict from = scale + step * (size_t)(m - 1);
            double *restrict to = scale + step * (size_t)m;
            for (size_t s = 0; s < step; s++) to[s] = from[s] * factor;
        }
    }
    for (size_t s = 0; s < c->states; s++) c->p[s] *= scale[s];
    return off;
}

/* How many of each kind are in every state. */
static void count_here(const struct chain *c, uint8_t here[K][S])
{
    for (int k = 0; k < c->moving; k++)
        for (size_t s = 0, i = 0, m = 0; s < c->states; s++) {
            here[k][s] = (uint8_t)m;
            if (++i < c->radix[k]) continue;
            i = 0;
            m = m < (size_t)c->count[k] ? m + 1 : 0;
        }
}

/* What flows in over what flows out, of one state. */
static double settled(const struct chain *c, uint8_t here[K][S], size_t s)
{
    double in = 0, out = 0;
    for (int k = 0; k < c->moving; k++) {
        const size_t step = c->radix[k];
        const int there = here[k][s], gone = c->count[k] - there;
        out += c->come[k] * gone;
        if (there > 0) {
            out += leave_of(c, k)[s];
            in += c->p[s - step] * c->come[k] * (gone + 1);
        }
        if (gone > 0) in += c->p[s + step] * leave_of(c, k)[s + step];
    }
    return in / out;
}

/* Up and down the states. Returns the largest change, in probability. */
static double sweep(struct chain *c, uint8_t here[K][S])
{
    double change = 0;
    for (size_t i = 0; i < 2 * c->states; i++) {
        const size_t s = i < c->states ? i : 2 * c->states - 1 - i;
        const double now = settled(c, here, s);
        change = fmax(change, fabs(now - c->p[s]));
        c->p[s] = now;
    }
    return change;
}

/* The neighbours of a state, and the rates at which the chain goes there and comes back. */
struct neighbours {
    int n;
    size_t state[2 * K];
    double there[2 * K], back[2 * K], out; /* out: sum of there */
};

static void neighbours_of(const struct chain *c, uint8_t here[K][S], size_t s, struct neighbours *x)
{
    x->n = 0;
    x->out = 0;
    for (int k = 0; k < c->moving; k++) {
        const int present = here[k][s], gone = c->count[k] - present;
        if (present > 0) {
            x->state[x->n] = s - c->radix[k];
            x->there[x->n] = leave_of(c, k)[s];
            x->back[x->n] = c->come[k] * (gone + 1);
            x->out += x->there[x->n++];
        }
        if (gone > 0) {
            x->state[x->n] = s + c->radix[k];
            x->there[x->n] = c->come[k] * gone;
            x->back[x->n] = leave_of(c, k)[s + c->radix[k]];
            x->out += x->there[x->n++];
        }
    }
}

/* The chain seen only while an even number is present: q[i][j] is the rate from the i-th such state
 * to the j-th, through the odd ones, which have no odd neighbours. Returns how many there are. */
static size_t without_odd(const struct chain *c, uint8_t here[K][S], size_t even[EXACT],
                          double q[HALF][HALF])
{
    size_t index[EXACT], n = 0;
    for (size_t s = 0; s < c->states; s++) {
        index[s] = n;
        if (c->present[s] % 2 == 0) even[n++] = s;
    }
    for (size_t i = 0; i < n; i++) memset(q[i], 0, n * sizeof *q[i]);
    for (size_t s = 0; s < c->states; s++) {
        struct neighbours x;
        if (c->present[s] % 2 == 0) continue;
        neighbours_of(c, here, s, &x);
        const double per_out = 1.0 / x.out;
        for (int i = 0; i < x.n; i++)
            for (int j = 0; j < x.n; j++)
                q[index[x.state[i]]][index[x.state[j]]] += x.back[i] * per_out * x.there[j];
    }
    return n;
}

/* The steady state by elimination (Grassmann, Taksar and Heyman 1985: nothing is subtracted). */
static void eliminate(struct chain *c)
{
    uint8_t here[K][S];
    size_t even[EXACT];
    double q[HALF][HALF];
    count_here(c, here);
    const size_t n = without_odd(c, here, even, q);
    for (size_t last = n - 1; last > 0; last--) {
        double out = 0;
        for (size_t j = 0; j < last; j++) out += q[last][j];
        for (size_t i = 0; i < last; i++) {
            const double through = q[i][last] /= out;
            for (size_t j = 0; j < last; j++) q[i][j] += through * q[last][j];
        }
    }
    c->p[0] = 1;
    for (size_t j = 1; j < n; j++) {
        double p = 0;
        for (size_t i = 0; i < j; i++) p += c->p[even[i]] * q[i][j];
        c->p[even[j]] = p;
        for (size_t i = 0; p > 1 && i <= j; i++) c->p[even[i]] /= p; /* nothing overflows */
    }
    for (size_t s = 0; s < c->states; s++) {
        struct neighbours x;
        if (c->present[s] % 2 == 0) continue;
        neighbours_of(c, here, s, &x);
        c->p[s] = 0;
        for (int i = 0; i < x.n; i++) c->p[s] += c->p[x.state[i]] * x.back[i];
        c->p[s] /= x.out;
    }
}

static void approach(struct chain *c)
{
    double off = balance(c);
    if (off <= SETTLED) return; /* the order does not matter */
    if (c->states <= EXACT) {
        eliminate(c);
        return;
    }
    for (int i = 1; i < BALANCES && off > SETTLED; i++) off = balance(c);
    size_t sweeps = SWEEP_WORK / (c->states * (size_t)c->kinds);
    uint8_t here[K][S];
    if (sweeps > 0) count_here(c, here);
    for (; sweeps > 0 && off > SETTLED; sweeps--) {
        off = sweep(c, here);
        off = fmax(off, balance(c));
    }
}

void presence_rates(const struct presence_kind kind[], int kinds, presence_fn *fn, const void *ctx,
                    double rate[])
{
    struct chain c;
    double leaving[K], here[K];
    if (!presence_fits(kind, kinds)) BUG("too many residents for the chain");
    fill(&c, kind, kinds, fn, ctx);
    if (c.states > 1) approach(&c);
    const double sum = sum_here(&c, here);
    sum_leaving(&c, leaving);
    for (int k = 0; k < kinds; k++) rate[c.of[k]] = leaving[k] / sum / c.count[k];
}
/* NOLINTEND(clang-analyzer-core.*) */
