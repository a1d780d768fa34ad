#include "policy/presence.h"

#include "base/err.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    K = PRESENCE_KINDS,
    BALANCES = 2, /* rounds of scaling that every set gets: a third changes little */
    SWEEP_WORK =
        1200, /* states x kinds that may be swept, so that a question stays at microseconds */
};

#define SETTLED 1e-12

/* States are numbers in a mixed radix: how many of each kind that is ever away are present. Those
 * always present are in every state. Columns of kinds that do not exist hold zeros. */
struct chain {
    int kinds;
    size_t states;
    size_t radix[K];                /* 0: always present */
    double count[K], come[K];       /* come: rate at which one that is away comes */
    uint8_t first[PRESENCE_STATES]; /* a kind that is present and may be away */
    int present[PRESENCE_STATES];   /* how many of those */
    double asked[PRESENCE_STATES][PRESENCE_ASKS];
    double here[PRESENCE_STATES][K];
    double leave[PRESENCE_STATES][K]; /* rate, of all of the kind together */
    double p[PRESENCE_STATES];
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

static void always_here(struct chain *c, int k, const struct presence_kind *kind)
{
    c->radix[k] = 0;
    c->come[k] = 0;
    c->here[0][k] = kind->count;
    for (int a = 0; a < PRESENCE_ASKS; a++) c->asked[0][a] += kind->count * kind->ask[a];
}

/* Every state so far with 0 to count of kind k. p is weighed by the ways to choose them, times `odds`
 * for each, against the likelier end so that nothing overflows. */
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
    for (int m = n; m >= 0; m--)
        for (size_t from = 0, s = before * (size_t)m; from < before; from++, s++) {
            c->p[s] = c->p[from] * weight[m];
            if (m == 0) continue;
            c->first[s] = from ? c->first[from] : (uint8_t)k;
            c->present[s] = (uint8_t)(c->present[from] + m);
            memcpy(c->here[s], c->here[from], sizeof c->here[s]);
            c->here[s][k] = m;
            for (int a = 0; a < PRESENCE_ASKS; a++)
                c->asked[s][a] = c->asked[from][a] + m * kind->ask[a];
        }
    c->radix[k] = before;
    c->come[k] = 1.0 / kind->away;
    c->states *= (size_t)n + 1;
}

/* Ask the policy about every state, and start from the product form. */
static void fill(struct chain *c, const struct presence_kind kind[], int kinds, presence_fn *fn,
                 const void *ctx)
{
    /* Slowdown on the way to a state, averaged over the orders in which it can gather. */
    double orders[2 * PRESENCE_STATES], *const order = orders + PRESENCE_STATES;
    double per[PRESENCE_RESIDENTS + 1], per_alone[K] = { 0 }, at_card[K], slowdown[K], leave[K];
    for (int k = 0; k < K; k++) at_card[k] = 1;
    memset(c->here[0], 0, sizeof c->here[0]);
    memset(c->asked[0], 0, sizeof c->asked[0]);
    c->kinds = kinds;
    c->states = 1;
    c->present[0] = 0;
    c->p[0] = 1;
    for (int k = 0; k < kinds; k++) {
        c->count[k] = kind[k].count;
        fn(ctx, kind[k].ask, at_card);
        per_alone[k] = 1.0 / at_card[k];
        if (kind[k].away == 0)
            always_here(c, k, &kind[k]);
        else
            now_and_then(c, k, &kind[k], at_card[k] / kind[k].away);
    }
    for (int m = 1; m <= c->present[c->states - 1]; m++) per[m] = 1.0 / m;
    memset(order - c->states, 0, c->states * sizeof *order); /* where nobody of a kind is there */
    for (size_t s = 0; s < c->states; s++) {
        const double *here = c->here[s];
        fn(ctx, c->asked[s], at_card);
        for (int k = 0; k < K; k++) slowdown[k] = here[k] * at_card[k] * per_alone[k];
        for (int k = 0; k < K; k++) leave[k] = here[k] / at_card[k];
        memcpy(c->leave[s], leave, sizeof leave);
        order[s] = 0;
        double gathered = 0; /* who came last: slowdown is 0 where there is nobody of the kind */
        for (int k = kinds - 1; k >= 0; k--) gathered += slowdown[k] * *(order + s - c->radix[k]);
        order[s] = s > 0 ? gathered * per[c->present[s]] : 1;
        c->p[s] *= order[s];
    }
}

/* What leaves per second of each kind, times the sum of p. Eight sums that stay in registers. */
static void sum_leaving(const struct chain *c, double sum[K])
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    _Static_assert(K == 8, "one sum a kind");
    for (size_t s = 0; s < c->states; s++) {
        const double p = c->p[s], *leave = c->leave[s];
        s0 += p * leave[0];
        s1 += p * leave[1];
        s2 += p * leave[2];
        s3 += p * leave[3];
        s4 += p * leave[4];
        s5 += p * leave[5];
        s6 += p * leave[6];
        s7 += p * leave[7];
    }
    memcpy(sum, (double[K]){ s0, s1, s2, s3, s4, s5, s6, s7 }, K * sizeof *sum);
}

/* How many of each kind are present, times the sum of p, which is returned: states that differ in the
 * highest kind only are added up, then it is gone. */
static double sum_here(const struct chain *c, double sum[K])
{
    double p[PRESENCE_STATES];
    memcpy(p, c->p, c->states * sizeof *p);
    for (int k = c->kinds - 1; k >= 0; k--) {
        const size_t step = c->radix[k];
        sum[k] = 0;
        if (!step) continue;
        for (int m = 1; m <= (int)c->count[k]; m++) {
            double block = 0;
            const double *from = p + step * (size_t)m;
            for (size_t s = 0; s < step; s++) {
                block += from[s];
                p[s] += from[s];
            }
            sum[k] += m * block;
        }
    }
    return p[0];
}

/* Scale the states so that each kind leaves as often as it comes. Returns the largest factor's
 * distance from 1. */
static double balance(struct chain *c)
{
    double leaving[K], here[K], factor[K], scale[PRESENCE_STATES], off = 0;
    const double sum = sum_here(c, here);
    sum_leaving(c, leaving);
    for (int k = 0; k < c->kinds; k++) {
        factor[k] = c->radix[k] ? c->come[k] * (c->count[k] * sum - here[k]) / leaving[k] : 1;
        off = fmax(off, fabs(factor[k] - 1));
    }
    scale[0] = 1.0 / sum;
    c->p[0] *= scale[0];
    for (size_t s = 1; s < c->states; s++) {
        const int k = c->first[s];
        scale[s] = scale[s - c->radix[k]] * factor[k];
        c->p[s] *= scale[s];
    }
    return off;
}

/* What flows in over what flows out, of one state. */
static double settled(const struct chain *c, size_t s)
{
    const double *here = c->here[s];
    double in = 0, out = 0;
    for (int k = 0; k < c->kinds; k++) {
        const size_t step = c->radix[k];
        if (!step) continue;
        out += c->leave[s][k] + c->come[k] * (c->count[k] - here[k]);
        if (here[k] > 0) in += c->p[s - step] * c->come[k] * (c->count[k] - here[k] + 1);
        if (here[k] < c->count[k]) in += c->p[s + step] * c->leave[s + step][k];
    }
    return in / out;
}

/* Up and down the states. Returns the largest change, in probability. */
static double sweep(struct chain *c)
{
    double change = 0;
    for (size_t i = 0; i < 2 * c->states; i++) {
        const size_t s = i < c->states ? i : 2 * c->states - 1 - i;
        const double now = settled(c, s);
        change = fmax(change, fabs(now - c->p[s]));
        c->p[s] = now;
    }
    return change;
}

void presence_rates(const struct presence_kind kind[], int kinds, presence_fn *fn, const void *ctx,
                    double rate[])
{
    struct chain c;
    double leaving[K], here[K];
    if (!presence_fits(kind, kinds)) BUG("too many residents for the chain");
    fill(&c, kind, kinds, fn, ctx);
    if (c.states > 1) {
        double off = 1;
        for (int i = 0; i < BALANCES && off > SETTLED; i++) off = balance(&c);
        for (size_t i = SWEEP_WORK / (c.states * (size_t)kinds); i > 0 && off > SETTLED; i--) {
            off = sweep(&c);
            off = fmax(off, balance(&c));
        }
    }
    const double sum = sum_here(&c, here);
    sum_leaving(&c, leaving);
    for (int k = 0; k < kinds; k++) rate[k] = leaving[k] / sum / kind[k].count;
}
