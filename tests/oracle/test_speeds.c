/* test_speeds.c - how fast residents of one card are: the limits that hold exactly (DESIGN section
 * 5), time slicing against the Markov chain it stands for, quotas, and what each field of a work
 * signature does. Errors of what is solved approximately are printed and bounded by number of
 * residents.
 *
 * Mutants: switch-cost-dropped, turns-forget-the-queue, presence-without-balance,
 * presence-in-one-order, presence-forgets-an-odd-neighbour, hook-cost-dropped,
 * a-ceiling-lends-nothing. */
#include "policy/timeshare.h"
#include "support/simulate.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FREE_HOOKS                                                                                 \
    "'kind': 'intercept', 'launch': '0 ns', 'startup': '0 s', 'startup_per_process': '0 s'"

/* Every policy that shares, on an A100 whose profile is the default one. */
static const char everyone[] =
    "{'format': 'gpusim-scenario/1', 'name': 's',"
    " 'fleet': [{'name': 'f', 'gpu': 'a100-sxm4-80gb', 'nodes': 1, 'gpus_per_node': 1}],"
    " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
    " 'policies': ["
    "{'name': 'whole', 'share': {'kind': 'whole'}},"
    "{'name': 'remote', 'share': {'kind': 'remote'}},"
    "{'name': 'local', 'share': {'kind': 'remote', 'network': '100 TB/s', 'rtt': '0 s', 'async': '0 s'}},"
    "{'name': 'mig', 'share': {'kind': 'mig'}},"
    "{'name': 'timeslice', 'share': {'kind': 'timeslice', 'slots': 16}},"
    "{'name': 'ideal', 'share': {'kind': 'timeslice', 'slots': 16, 'switch': '0 s'}},"
    "{'name': 'mps', 'share': {'kind': 'mps', 'slots': 16}},"
    "{'name': 'uncapped', 'share': {'kind': 'mps', 'slots': 16, 'cap': 1}},"
    "{'name': 'smooth', 'share': {'kind': 'mps', 'slots': 16, 'cap': 1, 'overhead': 0, 'interference': 0}},"
    "{'name': 'crowded', 'share': {'kind': 'mps', 'slots': 16, 'cap': 1, 'overhead': 0,"
    "   'interference': 0.3}},"
    "{'name': 'quarter', 'share': {'kind': 'mps', 'slots': 16, 'cap': 0.25, 'overhead': 0,"
    "   'interference': 0}},"
    "{'name': 'soft', 'share': {'kind': 'intercept'}},"
    "{'name': 'hard', 'share': {'kind': 'intercept', 'enforce': 'hard'}},"
    "{'name': 'free', 'share': {" FREE_HOOKS "}},"
    "{'name': 'frictionless', 'share': {" FREE_HOOKS ", 'switch': '0 s'}}]}";

struct bench {
    struct runner r;
};

static int bench_setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    sim_load(&b->r, sim_write(everyone, "job_id,submit_s,duration_s,gpus\na,0,1,1\n", NULL));
    *state = b;
    return 0;
}

static int bench_teardown(void **state)
{
    struct bench *b = *state;
    runner_fini(&b->r);
    free(b);
    return 0;
}

static const struct plan *plan_of(const struct bench *b, const char *policy)
{
    for (size_t i = 0; i < b->r.n; i++)
        if (strcmp(b->r.plan[i].spec->name, policy) == 0) return &b->r.plan[i];
    fail_msg("no policy %s", policy);
    return NULL;
}

enum { MOST = 16 };

/* Speeds of residents with these signatures that asked for `milli` of a card each. */
static void ask(const struct plan *p, const struct signature *sig, int32_t milli, size_t n,
                double *speed)
{
    const struct plan_group *g = &p->group[0];
    struct demand demand[MOST];
    struct resident_view view[MOST];
    for (size_t i = 0; i < n; i++) {
        const struct request q = {
            .gpus_milli = milli, .slots = 1, .bytes = JOB_NO_BYTES, .sig = &sig[i]
        };
        demand[i] = (struct demand){ 0 };
        const char *why = p->share->demand(g->params, &g->type, &q, &demand[i]);
        if (why) fail_msg("%s: %s", p->spec->name, why);
        view[i] = (struct resident_view){ .sig = &sig[i], .demand = &demand[i] };
        if (demand[i].mig_profile >= 0)
            view[i].slice = &g->type.gpu->mig->profile[demand[i].mig_profile];
    }
    p->share->speeds(g->params, &(struct share_view){ &g->type, view, n }, speed);
}

static double uniform(uint64_t *random)
{
    return (double)(test_random(random) >> 11) / 9007199254740992.0;
}

static struct signature random_signature(uint64_t *random)
{
    struct signature s = signature_default();
    const double a = uniform(random), b = uniform(random), c = uniform(random) + 0.05;
    s.host = test_random(random) % 3 ? a / (a + b + c) : 0;
    const double rest = 1 - s.host;
    s.compute = rest * c / (b + c);
    s.memory = 1 - s.host - s.compute;
    s.sm_width = 0.05 + 0.95 * uniform(random);
    s.bw_width = 0.05 + 0.95 * uniform(random);
    s.launches_per_s = test_random(random) % 2 ? 50000 * uniform(random) : 0;
    s.syncs_per_s = 1000 * uniform(random);
    s.kernel_us = 1 + 100 * uniform(random);
    s.pcie_Bps = 1e9 * uniform(random);
    return s;
}

static struct signature full_width(void)
{
    struct signature s = signature_default();
    s.sm_width = s.bw_width = 1;
    return s;
}

/* ---- limits that hold exactly ---- */

static void one_resident_without_a_cap_runs_at_1(void **state)
{
    const struct bench *b = *state;
    uint64_t random = test_seed();
    static const char *const names[] = {
        "whole", "local", "timeslice", "ideal", "uncapped", "free"
    };
    for (int round = 0; round < 200; round++) {
        const struct signature s = random_signature(&random);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            double speed = NAN;
            ask(plan_of(b, names[i]), &s, 500, 1, &speed);
            if (fabs(speed - 1.0) > 1e-12) fail_msg("%s: alone at %.17g", names[i], speed);
        }
    }
    double speed = NAN; /* k cards under mig: mode off, all SMs */
    const struct signature s = full_width();
    ask(plan_of(b, "mig"), &s, 1000, 1, &speed);
    assert_true(speed == 1.0);
    ask(plan_of(b, "mig"), &s, 900, 1, &speed);
    assert_close(speed, 98.0 / 108, 1e-12); /* 7g */
}

static void n_equal_jobs_run_at_one_nth(void **state)
{
    const struct bench *b = *state;
    static const char *const names[] = { "ideal", "smooth", "frictionless" };
    struct signature s[MOST];
    for (size_t i = 0; i < MOST; i++) s[i] = full_width();
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (size_t n = 1; n <= MOST; n++) {
            double speed[MOST];
            ask(plan_of(b, names[k]), s, 62, n, speed);
            for (size_t i = 0; i < n; i++)
                if (fabs(speed[i] * (double)n - 1) > 1e-12)
                    fail_msg("%s: %zu equal jobs, speed %.17g", names[k], n, speed[i]);
        }
}

static void free_interception_is_time_slicing_bit_for_bit(void **state)
{
    const struct bench *b = *state;
    uint64_t random = test_seed();
    for (int round = 0; round < 300; round++) {
        struct signature s[MOST];
        double sliced[MOST], hooked[MOST];
        const size_t n = 1 + test_random(&random) % 6;
        for (size_t i = 0; i < n; i++) s[i] = random_signature(&random);
        ask(plan_of(b, "timeslice"), s, 100, n, sliced);
        ask(plan_of(b, "free"), s, 100, n, hooked);
        assert_memory_equal(sliced, hooked, n * sizeof *sliced);
    }
}

/* No host time, full width, no overheads: all three ways give the card out in equal parts. */
static void three_ways_agree(void **state)
{
    const struct bench *b = *state;
    uint64_t random = test_seed();
    for (int round = 0; round < 100; round++) {
        struct signature s[MOST];
        double sliced[MOST], together[MOST], hooked[MOST];
        const size_t n = 1 + test_random(&random) % 8;
        for (size_t i = 0; i < n; i++) {
            s[i] = full_width();
            s[i].compute = uniform(&random);
            s[i].memory = 1 - s[i].compute;
        }
        ask(plan_of(b, "ideal"), s, 100, n, sliced);
        ask(plan_of(b, "smooth"), s, 100, n, together);
        ask(plan_of(b, "frictionless"), s, 100, n, hooked);
        for (size_t i = 0; i < n; i++) {
            assert_close(sliced[i], 1.0 / (double)n, 1e-12);
            assert_close(together[i], 1.0 / (double)n, 1e-9);
            assert_close(hooked[i], 1.0 / (double)n, 1e-12);
        }
    }
}

/* ---- residents that come and go, against the chain they stand for ---- */

/* A resident is away for an exponential time of mean `away` (0: never) and then at the card for an
 * exponential time of mean at_card(ctx, here, i) while `here` is the set of those present. */
struct chain {
    size_t n;
    double away[MOST];
    double (*at_card)(const void *ctx, size_t here, size_t i);
    const void *ctx;
};

/* Cycles per second: a resident's rate of leaving the card. States are the sets of those present;
 * the balance equations by elimination. */
static void solve_chain(const struct chain *c, double *cycles)
{
    const size_t states = (size_t)1 << c->n;
    gsl_matrix *q = gsl_matrix_calloc(states, states);
    gsl_vector *rhs = gsl_vector_calloc(states), *pi = gsl_vector_alloc(states);
    gsl_permutation *perm = gsl_permutation_alloc(states);
    int sign;
    size_t always = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->away[i] == 0) always |= (size_t)1 << i;
    for (size_t s = 0; s < states; s++) {
        if ((s & always) != always) { /* never seen */
            gsl_matrix_set(q, s, s, 1);
            continue;
        }
        for (size_t i = 0; i < c->n; i++) {
            const size_t bit = (size_t)1 << i;
            if (always & bit) continue;
            const double rate = s & bit ? 1 / c->at_card(c->ctx, s, i) : 1 / c->away[i];
            *gsl_matrix_ptr(q, s ^ bit, s) += rate; /* column: from */
            *gsl_matrix_ptr(q, s, s) -= rate;
        }
    }
    for (size_t s = 0; s < states; s++) gsl_matrix_set(q, always, s, 1);
    gsl_vector_set(rhs, always, 1);
    assert_int_equal(gsl_linalg_LU_decomp(q, perm, &sign), 0);
    assert_int_equal(gsl_linalg_LU_solve(q, perm, rhs, pi), 0);
    for (size_t i = 0; i < c->n; i++) {
        cycles[i] = 0;
        for (size_t s = 0; s < states; s++)
            if (s >> i & 1) cycles[i] += gsl_vector_get(pi, s) / c->at_card(c->ctx, s, i);
    }
    gsl_matrix_free(q);
    gsl_vector_free(rhs);
    gsl_vector_free(pi);
    gsl_permutation_free(perm);
}

/* Errors of what was asked against the chain, over many sets of residents. */
struct errors {
    double sum, worst;
    size_t n;
};

static void add_errors(struct errors *e, const double *got, const double *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double off = fabs(got[i] / want[i] - 1);
        if (!(off < 1)) fail_msg("%g instead of %g", got[i], want[i]);
        e->sum += off;
        e->worst = fmax(e->worst, off);
        e->n++;
    }
}

static void errors_below(const char *what, size_t n, const struct errors *e, double mean,
                         double worst)
{
    print_message("%s, %zu residents: mean %.1e, worst %.1e\n", what, n, e->sum / (double)e->n,
                  e->worst);
    if (!(e->sum / (double)e->n < mean && e->worst < worst))
        fail_msg("%s, %zu residents: expected below %g and %g", what, n, mean, worst);
}

struct turns {
    struct turn_taker t[MOST];
    double weight[MOST], stretch;
    size_t n;
};

/* Those present share the card by weight; with two or more it works more slowly. */
static double turn_at_card(const void *ctx, size_t here, size_t i)
{
    const struct turns *w = ctx;
    double sum = 0;
    for (size_t k = 0; k < w->n; k++)
        if (here >> k & 1) sum += w->weight[k];
    const double stretch = fmax(1, w->stretch - w->t[i].spared);
    return w->t[i].demand * (sum / w->weight[i]) * (here & (here - 1) ? stretch : 1);
}

static struct turns random_turns(uint64_t *random, size_t n, int round)
{
    struct turns w = { .n = n, .stretch = round % 2 ? 1 + uniform(random) : 1 };
    for (size_t i = 0; i < n; i++) {
        w.t[i].delay = test_random(random) % 4 ? 0.02 + 2 * uniform(random) : 0;
        w.t[i].demand = 0.02 + 2 * uniform(random);
        w.weight[i] = round % 3 ? 0.1 + uniform(random) : 0.25;
        if (round % 5 == 0 && i > 0) { /* equal residents are one class */
            w.t[i] = w.t[0];
            w.weight[i] = w.weight[0];
        }
    }
    return w;
}

static void chain_of_turns(const struct turns *w, double *cycles)
{
    struct chain c = { .n = w->n, .at_card = turn_at_card, .ctx = w };
    for (size_t i = 0; i < w->n; i++) c.away[i] = w->t[i].delay;
    solve_chain(&c, cycles);
}

/* In equal parts the answer is exact, whatever the switch costs. */
static void time_slicing_is_the_chain(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (size_t n = 2; n <= 8; n++) {
        struct errors e = { 0 };
        for (int round = 0; round < (n < 7 ? 100 : 6); round++) {
            struct turns w = random_turns(&random, n, round);
            double exact[MOST], speed[MOST];
            for (size_t i = 0; i < n; i++) w.weight[i] = 1;
            chain_of_turns(&w, exact);
            timeshare_speeds(w.t, n, w.stretch - 1, speed);
            add_errors(&e, speed, exact, n);
        }
        errors_below("equal parts", n, &e, 1e-11, 1e-9);
    }
}

/* Switches that cost one more than the other: exact up to five, then nearly. */
static void switches_of_different_cost(void **state)
{
    static const double mean[] = { 0, 0, 1e-13, 1e-13, 1e-13, 1e-13, 1e-3, 1e-3, 1e-3 };
    static const double worst[] = { 0, 0, 1e-12, 1e-12, 1e-12, 1e-12, 0.02, 0.01, 0.01 };
    (void)state;
    uint64_t random = test_seed();
    for (size_t n = 2; n <= 8; n++) {
        struct errors e = { 0 };
        for (int round = 0; round < (n < 7 ? 100 : 6); round++) {
            struct turns w = random_turns(&random, n, round);
            double exact[MOST], speed[MOST], busy = 0;
            w.stretch = 1.2;
            for (size_t i = 0; i < n; i++) {
                w.weight[i] = 1;
                w.t[i].spared = 0.2 - 0.3 * uniform(&random);
            }
            chain_of_turns(&w, exact);
            timeshare_speeds(w.t, n, w.stretch - 1, speed);
            add_errors(&e, speed, exact, n);
            for (size_t i = 0; i < n; i++) busy += speed[i] * w.t[i].demand;
            assert_true(busy <= 1 + 1e-9);
        }
        errors_below("different switches", n, &e, mean[n], worst[n]);
    }
}

/* Favouring some has no product form: exact up to six, then close. */
static void weighted_turns_are_the_chain(void **state)
{
    (void)state;
    static const double mean[] = { 0, 0, 1e-13, 1e-13, 1e-13, 1e-13, 1e-13, 3e-4, 3e-3, 0.02 };
    static const double worst[] = { 0, 0, 1e-12, 1e-12, 1e-12, 1e-12, 1e-12, 1e-2, 4e-2, 0.15 };
    uint64_t random = test_seed();
    for (size_t n = 2; n <= 9; n++) {
        struct errors e = { 0 };
        for (int round = 0; round < (n < 7 ? 100 : 12); round++) {
            const struct turns w = random_turns(&random, n, round);
            double exact[MOST], speed[MOST], busy = 0;
            chain_of_turns(&w, exact);
            timeshare_weighted(w.t, w.weight, n, w.stretch - 1, speed);
            add_errors(&e, speed, exact, n);
            for (size_t i = 0; i < n; i++) busy += speed[i] * w.t[i].demand;
            assert_true(busy <= 1 + 1e-9);
        }
        errors_below("parts by weight", n, &e, mean[n], worst[n]);
    }
}

/* More than the 64 residents that are worked in one by one: one that never comes to the card
 * changes nothing, two kinds against the chain over their numbers, and the card is full. */
static void many_residents(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int round = 0; round < 50; round++) {
        struct turn_taker t[65];
        double few[65], many[65];
        const double stretch = round % 2 ? uniform(&random) : 0;
        const double host = round % 3 ? 60 * uniform(&random) : 0.5;
        for (size_t i = 0; i < 64; i++)
            t[i] =
                (struct turn_taker){ .delay = host * uniform(&random), .demand = uniform(&random) };
        t[64] = (struct turn_taker){ .delay = 2 };
        timeshare_speeds(t, 64, stretch, few);
        timeshare_speeds(t, 65, stretch, many);
        for (size_t i = 0; i < 64; i++) assert_close(many[i], few[i], 1e-11);
        assert_close(many[64], 0.5, 1e-11);
    }
    static struct turn_taker t[TIMESHARE_MAX];
    static double speed[TIMESHARE_MAX];
    for (size_t i = 0; i < TIMESHARE_MAX; i++) t[i] = (struct turn_taker){ .demand = 1 };
    timeshare_speeds(t, TIMESHARE_MAX, 0.25, speed);
    for (size_t i = 0; i < TIMESHARE_MAX; i++) assert_close(speed[i], 0.8e-3, 1e-10);
    /* 400 equal ones, away 900 times as long as alone on the card: a birth and death chain. */
    double p = 1, sum = 1, busy = 0;
    for (int i = 0; i < 400; i++) t[i] = (struct turn_taker){ .delay = 300, .demand = 1.0 / 3 };
    for (int k = 1; k <= 400; k++) {
        p *= (400.0 - k + 1) / 300 / (k == 1 ? 3 : 3 / 1.1);
        sum += p;
        busy += p * (k == 1 ? 3 : 3 / 1.1);
    }
    timeshare_speeds(t, 400, 0.1, speed);
    assert_close(speed[0] * 400, busy / sum, 1e-11);
    assert_true(speed[399] == speed[0]);
}

struct crowd {
    struct signature s[MOST];
    double cap, interference;
    size_t n;
};

/* policy/share_mps.c in words: SMs and bandwidth asked for by those present. */
static double crowd_at_card(const void *ctx, size_t here, size_t i)
{
    const struct crowd *c = ctx;
    double w = 0, b = 0, wi = 0, bi = 0;
    for (size_t k = 0; k < c->n; k++) {
        const struct signature *s = &c->s[k];
        const double sms = fmin(s->sm_width, c->cap);
        const double wire = s->bw_width * s->memory / (s->compute + s->memory);
        if (!(here >> k & 1)) continue;
        w += sms;
        b += wire;
        if (k == i) wi = sms, bi = wire;
    }
    const double g = c->interference, others = fmax(w - wi, b - bi);
    const double sm = (1 - g) * fmax(1, w) + g * (1 + w - wi);
    const double both = (1 - g) * fmax(1, fmax(w, b)) + g * (1 + others);
    return c->s[i].compute * fmax(1, c->s[i].sm_width / c->cap) * sm + c->s[i].memory * both;
}

static void mps_is_the_chain(void **state)
{
    const struct bench *b = *state;
    static const struct {
        const char *policy;
        double cap, interference;
    } how[] = { { "smooth", 1, 0 }, { "quarter", 0.25, 0 }, { "crowded", 1, 0.3 } };
    static const double mean[] = { 0, 0, 1e-13, 1e-13, 1e-13, 1e-13, 1e-13, 1e-5, 4e-4, 0.02 };
    static const double worst[] = { 0, 0, 1e-12, 1e-12, 1e-12, 1e-12, 1e-12, 1e-3, 1e-2, 0.15 };
    uint64_t random = test_seed();
    for (size_t n = 2; n <= 9; n++) {
        struct errors e = { 0 };
        for (int round = 0; round < (n < 7 ? 90 : 12); round++) {
            const size_t k = (size_t)round % 3;
            struct crowd c = { .n = n, .cap = how[k].cap, .interference = how[k].interference };
            struct chain chain = { .n = n, .at_card = crowd_at_card, .ctx = &c };
            double exact[MOST], speed[MOST], used = 0;
            for (size_t i = 0; i < n; i++) {
                c.s[i] =
                    i > 0 && test_random(&random) % 5 == 0 ? c.s[i - 1] : random_signature(&random);
                chain.away[i] = c.s[i].host;
            }
            solve_chain(&chain, exact);
            ask(plan_of(b, how[k].policy), c.s, 62, n, speed);
            add_errors(&e, speed, exact, n);
            for (size_t i = 0; i < n; i++)
                used += speed[i] * fmin(c.s[i].sm_width, c.cap) *
                        (c.s[i].compute * fmax(1, c.s[i].sm_width / c.cap) + c.s[i].memory);
            assert_true(used <= 1 + 1e-9);
        }
        errors_below("MPS", n, &e, mean[n], worst[n]);
    }
}

static void ceilings_hold_and_work_is_conserved(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int round = 0; round < 500; round++) {
        struct turn_taker t[8];
        double cap[8], speed[8], free_speed[8], busy = 0, wanted = 0;
        const size_t n = 1 + test_random(&random) % 6;
        bool eager = false;
        for (size_t i = 0; i < n; i++) {
            t[i].delay = test_random(&random) % 2 ? uniform(&random) : 0;
            t[i].demand = 0.05 + uniform(&random);
            cap[i] = test_random(&random) % 3 ? 0.05 + uniform(&random) : INFINITY;
            eager |= isinf(cap[i]) && t[i].delay == 0;
            wanted += fmin(1 / (t[i].delay + t[i].demand), cap[i]) * t[i].demand;
        }
        timeshare_capped(t, cap, n, 0, speed);
        timeshare_speeds(t, n, 0, free_speed);
        for (size_t i = 0; i < n; i++) {
            busy += speed[i] * t[i].demand;
            if (speed[i] > cap[i] * (1 + 1e-6))
                fail_msg("%g above its ceiling %g", speed[i], cap[i]);
            assert_true(speed[i] > 0);
            /* Others are held back too, so without a ceiling nobody is slower than before. */
            if (isinf(cap[i])) assert_true(speed[i] >= free_speed[i] * (1 - 1e-6));
        }
        assert_true(busy <= 1 + 1e-6);
        if (eager && fabs(busy - 1) > 1e-6)
            fail_msg("one never lets go, and the card is busy %g", busy);
        assert_true(busy <= wanted + 1e-6);
        timeshare_capped(t, NULL, n, 0, speed);
        assert_memory_equal(speed, free_speed, n * sizeof *speed);
    }
}

/* Where ceilings settle, small steps at a time. */
static void settle_slowly(const struct turn_taker *t, const double cap[], size_t n, double ratio,
                          double speed[])
{
    struct turn_taker held[8];
    double change = 1;
    memcpy(held, t, n * sizeof *held);
    for (int step = 0; step < 20000 && change > 1e-13; step++) {
        change = 0;
        timeshare_speeds(held, n, ratio, speed);
        for (size_t i = 0; i < n; i++) {
            const double wanted = isfinite(cap[i]) ? 1 / cap[i] : 0, was = held[i].delay;
            held[i].delay = fmax(t[i].delay, was + 0.5 * (wanted - 1 / speed[i]));
            change = fmax(change, fabs(held[i].delay - was) * speed[i]);
        }
    }
    assert_true(change <= 1e-13);
}

static void ceilings_of_unequal_costs_settle_where_small_steps_do(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int round = 0; round < 300; round++) {
        struct turn_taker t[8];
        double cap[8], speed[8], slowly[8];
        const double ratio = 0.3 * uniform(&random);
        const size_t n = 2 + test_random(&random) % 6;
        for (size_t i = 0; i < n; i++) {
            const bool same = i > 0 && test_random(&random) % 6 == 0;
            t[i].delay = test_random(&random) % 3 ? uniform(&random) : 0;
            t[i].demand = 0.05 + uniform(&random);
            t[i].spared = 0.1 * uniform(&random);
            cap[i] = test_random(&random) % 4 ? 0.05 + 0.5 * uniform(&random) : INFINITY;
            if (same) t[i] = t[i - 1];
            if (same) cap[i] = cap[i - 1];
        }
        timeshare_capped(t, cap, n, ratio, speed);
        settle_slowly(t, cap, n, ratio, slowly);
        for (size_t i = 0; i < n; i++) {
            assert_close(speed[i], slowly[i], 1e-9);
            if (i > 0 && memcmp(&t[i], &t[i - 1], sizeof *t) == 0 && cap[i] == cap[i - 1])
                assert_true(speed[i] == speed[i - 1]);
        }
    }
}

/* ---- concurrent kernels ---- */

static void mps_never_hands_out_more_than_the_card(void **state)
{
    const struct bench *b = *state;
    static const char *const names[] = { "smooth", "quarter", "mps", "uncapped" };
    static const double caps[] = { 1, 0.25, 1.0 / 16, 1 };
    uint64_t random = test_seed();
    for (int round = 0; round < 300; round++)
        for (size_t k = 0; k < 4; k++) {
            struct signature s[MOST];
            double speed[MOST], wider[MOST], sm = 0;
            const size_t n = 1 + test_random(&random) % (round % 10 ? 6 : 14);
            for (size_t i = 0; i < n; i++) s[i] = random_signature(&random);
            ask(plan_of(b, names[k]), s, 62, n, speed);
            for (size_t i = 0; i < n; i++) {
                const double stretch = fmax(1, s[i].sm_width / caps[k]);
                sm += speed[i] * (s[i].compute * stretch + s[i].memory) *
                      fmin(s[i].sm_width, caps[k]);
            }
            if (sm > 1 + 1e-6)
                fail_msg("%s: %zu clients use %.9g of the SMs (round %d)", names[k], n, sm, round);
            /* Kernels that fill more SMs are nobody's gain. */
            s[0].sm_width = fmin(1, s[0].sm_width * 1.3);
            ask(plan_of(b, names[k]), s, 62, n, wider);
            for (size_t i = 0; i < n; i++)
                if (wider[i] > speed[i] * (1 + 1e-6))
                    fail_msg("%s: a wider neighbour speeds %zu of %zu from %.9g to %.9g (round %d)",
                             names[k], i, n, speed[i], wider[i], round);
        }
}

static void another_tenant_speeds_nobody_up(void **state)
{
    const struct bench *b = *state;
    uint64_t random = test_seed();
    for (int round = 0; round < 300; round++) {
        struct signature s[MOST];
        const size_t n = 1 + test_random(&random) % 6;
        for (size_t i = 0; i <= n; i++) s[i] = random_signature(&random);
        for (size_t p = 0; p < b->r.n; p++) {
            const struct plan *plan = &b->r.plan[p];
            double before[MOST], after[MOST];
            ask(plan, s, 62, n, before);
            ask(plan, s, 62, n + 1, after);
            for (size_t i = 0; i < n; i++) {
                if (!(before[i] > 0 && before[i] <= 1 + 1e-9))
                    fail_msg("%s: speed %g", plan->spec->name, before[i]);
                if (after[i] > before[i] * (1 + 1e-6))
                    fail_msg("%s: with %zu more the speed of %zu goes from %.9g to %.9g (round %d)",
                             plan->spec->name, n, i, before[i], after[i], round);
            }
        }
    }
}

/* ---- what each field of a signature does ---- */

/* Two equal jobs of 100 s on one card; the figure is their mean turnaround unless said. */
enum figure { TURNAROUND, FAILED, REJECTED, EFFECTIVE, ENERGY };
enum direction { UP, DOWN };

static const struct field_case {
    const char *field, *share;  /* which policy shows it */
    const char *before, *after; /* bodies of the profile */
    enum figure figure;
    enum direction direction;
    const char *columns, *cells; /* more columns of the trace */
    const char *second;          /* share that the second job asks for; NULL: 0.4 like the first */
} cases[] = {
    { "host", "'kind': 'timeslice'", "'host': 0, 'compute': 1", "'host': 0.4, 'compute': 0.6",
      TURNAROUND, DOWN, "", "", NULL },
    { "compute", "'kind': 'mig'", "'compute': 0.2, 'memory': 0.8, 'bw_width': 0.2",
      "'compute': 0.8, 'memory': 0.2, 'bw_width': 0.2", TURNAROUND, UP, "", "", NULL },
    { "memory", "'kind': 'mps', 'cap': 0.5",
      "'compute': 0.9, 'memory': 0.1, 'sm_width': 0.2, 'bw_width': 1",
      "'compute': 0.2, 'memory': 0.8, 'sm_width': 0.2, 'bw_width': 1", TURNAROUND, UP, "", "",
      NULL },
    { "sm_width", "'kind': 'mps', 'cap': 1", "'sm_width': 0.4", "'sm_width': 0.9", TURNAROUND, UP,
      "", "", NULL },
    { "sm_width", "'kind': 'whole'", "'sm_width': 0.4", "'sm_width': 0.9", ENERGY, UP, "", "",
      NULL },
    { "bw_width", "'kind': 'mig'",
      "'compute': 0.1, 'memory': 0.9, 'sm_width': 0.1, 'bw_width': 0.2",
      "'compute': 0.1, 'memory': 0.9, 'sm_width': 0.1, 'bw_width': 0.9", TURNAROUND, UP, "", "",
      NULL },
    { "launches_per_s", "'kind': 'intercept', 'switch': '0 s'", "'launches_per_s': 1000",
      "'launches_per_s': 1000000", TURNAROUND, UP, "", "", NULL },
    { "kernel_us", "'kind': 'intercept', 'switch': '0 s', 'launch': '5 us', 'hides': true",
      "'launches_per_s': 50000, 'kernel_us': 1", "'launches_per_s': 50000, 'kernel_us': 50",
      TURNAROUND, DOWN, "", "", NULL },
    { "kernel_us", "'kind': 'remote', 'async': '20 us'", "'launches_per_s': 5000, 'kernel_us': 5",
      "'launches_per_s': 5000, 'kernel_us': 50", TURNAROUND, DOWN, "", "", NULL },
    { "allocs_per_s", "'kind': 'intercept', 'switch': '0 s', 'alloc': '100 us'",
      "'allocs_per_s': 10", "'allocs_per_s': 1000", TURNAROUND, UP, "", "", NULL },
    /* quotas of 4 to 1 that cannot be enforced: the larger one no longer ends first */
    { "graphs", "'kind': 'intercept', 'enforce': 'bucket'", "'graphs': 0", "'graphs': 1",
      TURNAROUND, UP, "", "", "0.1" },
    { "syncs_per_s", "'kind': 'remote'", "'syncs_per_s': 10", "'syncs_per_s': 5000", TURNAROUND, UP,
      "", "", NULL },
    { "pcie", "'kind': 'remote'", "'pcie': '0 B/s'", "'pcie': '2 GB/s'", TURNAROUND, UP, "", "",
      NULL },
    { "footprint", "'kind': 'timeslice'", "'footprint': '10 GiB'", "'footprint': '45 GiB'", FAILED,
      UP, "", "", NULL },
    { "footprint", "'kind': 'whole'", "'footprint': '10 GiB'", "'footprint': '100 GiB'", REJECTED,
      UP, "", "", NULL },
    { "mem_grow", "'kind': 'timeslice'", "'footprint': '45 GiB'",
      "'footprint': '45 GiB', 'mem_grow': '1000 s'", FAILED, DOWN, "", "", NULL },
    { "flops_per_s", "'kind': 'whole'", "'flops_per_s': 1e12", "'flops_per_s': 1e13", EFFECTIVE, UP,
      "", "", NULL },
    /* fp64 units grew more than fp16 ones from the one card to the other */
    { "precision", "'kind': 'whole'", "'precision': 'fp16'", "'precision': 'fp64'", TURNAROUND,
      DOWN, ",gpu_model", ",l40s", NULL },
    { "switch", "'kind': 'timeslice', 'switch': '0 s'", NULL,
      "'kind': 'timeslice', 'switch': '200 us'", TURNAROUND, UP, "", "", NULL },
};

static double figure(const struct field_case *c, const char *share, const char *profile)
{
    static char scenario[2000], trace[400];
    struct simulated s;
    double x = NAN;
    snprintf(scenario, sizeof scenario,
             "{'format': 'gpusim-scenario/1', 'name': 's',"
             " 'fleet': [{'name': 'f', 'gpu': 'a100-sxm4-80gb', 'nodes': 1, 'gpus_per_node': 1}],"
             " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
             " 'profiles': {'p': {%s}}, 'policies': [{'name': 'p', 'share': {%s}}]}",
             profile, share);
    snprintf(trace, sizeof trace,
             "job_id,submit_s,duration_s,gpus,profile%s\na,0,100,0.4,p%s\nb,0,100,%s,p%s\n",
             c->columns, c->cells, c->second ? c->second : "0.4", c->cells);
    simulate(&s, scenario, trace);
    const struct policy_result *p = sim_policy(&s, "p");
    switch (c->figure) {
    case TURNAROUND: x = p->stats.turnaround_s.mean; break;
    case FAILED: x = (double)p->jobs.failed_oom; break;
    case REJECTED: x = (double)p->jobs.rejected; break;
    case EFFECTIVE: x = p->gpu.effective_ops[PREC_fp32]; break;
    case ENERGY: x = p->gpu.energy_kwh; break;
    }
    simulated_fini(&s);
    return x;
}

static void what_each_field_does(void **state)
{
    (void)state;
    bool seen[64] = { false };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct field_case *c = &cases[i];
        const bool policy = !c->before; /* the policy changes, not the signature */
        const double before = figure(c, c->share, policy ? "'compute': 1" : c->before);
        const double after =
            figure(c, policy ? c->after : c->share, policy ? "'compute': 1" : c->after);
        print_message("%-15s %-34.34s %12.6g -> %.6g\n", c->field, c->share, before, after);
        if (!(c->direction == UP ? after > before * 1.001 : after < before * 0.999))
            fail_msg("%s under %s: %g to %g, expected it to go %s", c->field, c->share, before,
                     after, c->direction == UP ? "up" : "down");
        for (size_t k = 0; k < signature_fields_n; k++)
            seen[k] |= strcmp(signature_fields[k].name, c->field) == 0;
    }
    for (size_t k = 0; k < signature_fields_n; k++)
        if (!seen[k] && strcmp(signature_fields[k].name, "source") != 0)
            fail_msg("nothing is known to change with %s", signature_fields[k].name);
}

/* ---- what the slices of a card share: the bus and the power cap ---- */

static void slices(const struct plan *p, const struct signature *const sig[], int profile, size_t n,
                   double speed[])
{
    const struct plan_group *g = &p->group[0];
    const struct demand d = { .cards = 1, .units = 1, .core_cap = 1, .mig_profile = profile };
    struct resident_view view[16];
    const struct share_view v = { .type = &g->type, .resident = view, .n = n };
    for (size_t i = 0; i < n; i++) view[i] = (struct resident_view){ .sig = sig[i], .demand = &d };
    p->share->speeds(g->params, &v, speed);
}

/* Colfax Research, A30: 25.2 GB/s to one slice, 6.3 to each of four. Who wants less than a fourth
 * is not disturbed, and the rest share what is left. */
static void slices_share_the_bus(void **state)
{
    struct runner r;
    double speed[4];
    (void)state;
    sim_load(&r, sim_write("{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'f',"
                           " 'gpu': 'a30'}], 'work': [{'name': 'w', 'kind': 'jobs', 'trace':"
                           " 'trace.csv'}], 'policies': [{'name': 'p', 'share': {'kind': 'mig',"
                           " 'pcie': '25.2 GB/s'}}, {'name': 'd', 'share': {'kind': 'mig'}}]}",
                           "job_id,submit_s,duration_s,gpus\nx,0,1,1\n", NULL));
    const struct plan *p = &r.plan[0];
    const int one = mig_profile_find(p->group[0].type.gpu->mig, "1g.6gb");
    struct signature copies = signature_default(), some, none;
    copies.host = 1;
    copies.compute = 0;
    some = none = copies;
    copies.pcie_Bps = 25.2e9;
    some.pcie_Bps = 4.2e9;
    const struct signature *all[] = { &copies, &copies, &copies, &copies };
    slices(p, all, one, 1, speed);
    assert_close(speed[0], 1, 0);
    slices(p, all, one, 4, speed);
    for (int i = 0; i < 4; i++) assert_close(speed[i] * 25.2e9, 6.3e9, 1e-12);
    const struct signature *mixed[] = { &copies, &some, &none, &copies };
    slices(p, mixed, one, 4, speed);
    assert_close(speed[0], 10.5 / 25.2, 1e-12);
    assert_close(speed[1], 1, 0);
    assert_close(speed[2], 1, 0);
    assert_close(speed[3], 10.5 / 25.2, 1e-12);
    /* the default: 0.81 of the bus of the sheet, 31 GB/s; more than that one alone may still
     * have */
    slices(&r.plan[1], all, one, 4, speed);
    assert_close(speed[0], 0.25, 1e-12);
    copies.pcie_Bps = 31e9 * 0.81 / 2;
    slices(&r.plan[1], all, one, 2, speed);
    assert_close(speed[0], 1, 1e-12);
    slices(&r.plan[1], all, one, 3, speed);
    assert_close(speed[0], 2.0 / 3, 1e-12);
    runner_fini(&r);
}

/* Four full-width compute slices of an A30 keep all SMs busy: the clock is 1 - loss, and so is each
 * slice's speed against alone. Three draw 3/4 of that: with a loss of 5 % the cap does not bind
 * below 0.857. */
static void slices_share_the_power_cap(void **state)
{
    struct runner r;
    double alone, speed[4];
    (void)state;
    sim_load(&r, sim_write("{'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [{'name': 'f',"
                           " 'gpu': 'a30'}], 'work': [{'name': 'w', 'kind': 'jobs', 'trace':"
                           " 'trace.csv'}], 'policies': [{'name': 'p', 'share': {'kind': 'mig',"
                           " 'power_loss': 0.05}}, {'name': 'big', 'share': {'kind': 'mig',"
                           " 'power_loss': 0.2}}, {'name': 'd', 'share': {'kind': 'mig'}}]}",
                           "job_id,submit_s,duration_s,gpus\nx,0,1,1\n", NULL));
    const int one = mig_profile_find(r.plan[0].group[0].type.gpu->mig, "1g.6gb");
    struct signature gemm = signature_default(), memory;
    gemm.sm_width = gemm.bw_width = 1;
    memory = gemm;
    memory.compute = 0;
    memory.memory = 1;
    const struct signature *all[] = { &gemm, &gemm, &gemm, &gemm };
    slices(&r.plan[0], all, one, 1, &alone);
    assert_close(alone, 0.25, 1e-12);
    slices(&r.plan[0], all, one, 4, speed);
    for (int i = 0; i < 4; i++) assert_close(speed[i], 0.95 * alone, 1e-12);
    slices(&r.plan[0], all, one, 3, speed);
    for (int i = 0; i < 3; i++) assert_close(speed[i], alone, 1e-12);
    slices(&r.plan[1], all, one, 3, speed);
    assert_close(speed[0], 0.25 * 0.8 / cbrt(0.75), 1e-12);
    /* what waits for memory is not slowed by the clock; the default knows of no loss */
    const struct signature *mixed[] = { &gemm, &memory, &gemm, &gemm };
    slices(&r.plan[1], mixed, one, 4, speed);
    assert_close(speed[1], 0.25, 1e-12);
    assert_true(speed[0] > 0.8 * alone && speed[0] < 0.99 * alone);
    slices(&r.plan[2], all, one, 4, speed);
    assert_close(speed[0], alone, 1e-12);
    runner_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_resident_without_a_cap_runs_at_1),
        cmocka_unit_test(n_equal_jobs_run_at_one_nth),
        cmocka_unit_test(free_interception_is_time_slicing_bit_for_bit),
        cmocka_unit_test(three_ways_agree),
        cmocka_unit_test(time_slicing_is_the_chain),
        cmocka_unit_test(switches_of_different_cost),
        cmocka_unit_test(weighted_turns_are_the_chain),
        cmocka_unit_test(many_residents),
        cmocka_unit_test(mps_is_the_chain),
        cmocka_unit_test(ceilings_hold_and_work_is_conserved),
        cmocka_unit_test(ceilings_of_unequal_costs_settle_where_small_steps_do),
        cmocka_unit_test(mps_never_hands_out_more_than_the_card),
        cmocka_unit_test(another_tenant_speeds_nobody_up),
        cmocka_unit_test(what_each_field_does),
        cmocka_unit_test(slices_share_the_bus),
        cmocka_unit_test(slices_share_the_power_cap),
    };
    return cmocka_run_group_tests_name("speeds", tests, bench_setup, bench_teardown);
}
