/* Laws, arrival processes and the reader of gpusim-generate/1 against closed forms. Tolerances are
 * five standard errors of the estimate unless said otherwise; the seed is printed. */
#include "support/support.h"

#include "base/datadir.h"
#include "base/mem.h"
#include "model/synth.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200000 };

/* ---- helpers ---- */

#define TOP "{\"format\": \"gpusim-generate/1\", \"name\": \"x\", "

struct loaded {
    struct arena *a;
    struct synth_spec spec;
};

static struct loaded load(const char *text)
{
    struct loaded l = { .a = arena_create() };
    struct json_doc doc;
    struct diag d;
    struct err e = { 0 };
    if (json_doc_parse(&doc, "spec", text, strlen(text), &e) < 0)
        fail_msg("%s: %s", e.where, e.msg);
    diag_init(&d);
    synth_read(&l.spec, l.a, &doc, &d);
    if (d.count) fail_msg("%s: %s", d.problem[0].where, d.problem[0].msg);
    diag_fini(&d);
    json_doc_fini(&doc);
    return l;
}

static char *with_duration(const char *dist)
{
    return xasprintf(
        "{\"format\": \"gpusim-generate/1\", \"name\": \"t\", \"jobs\": %d, \"classes\": "
        "[{\"name\": \"a\", \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"1 s\"}, "
        "\"duration\": %s}]}",
        N, dist);
}

static char *with_arrivals(const char *arrivals, const char *end)
{
    return xasprintf("{\"format\": \"gpusim-generate/1\", \"name\": \"t\", %s, \"classes\": "
                     "[{\"name\": \"a\", \"arrivals\": %s, \"duration\": \"1 s\"}]}",
                     end, arrivals);
}

/* Rows of a specification: submit and duration in seconds, sorted input checked. */
struct rows {
    double *submit, *duration;
    int32_t *gpus;
    size_t n;
};

static struct synth *stream(const struct loaded *l, uint64_t seed, struct symtab *names)
{
    struct synth *s;
    struct err e = { 0 };
    if (synth_create(&s, &l->spec, seed, 0, names, &e) < 0) fail_msg("%s: %s", e.where, e.msg);
    return s;
}

static struct rows run(const char *text, uint64_t seed)
{
    struct loaded l = load(text);
    struct symtab *names = symtab_create();
    struct synth *s = stream(&l, seed, names);
    struct job_row row;
    struct err e = { 0 };
    struct rows r = { 0 };
    size_t cap = 0;
    while (synth_next(s, &row, &e) == 1) {
        if (r.n == cap) {
            cap = cap ? 2 * cap : 1024;
            r.submit = xreallocarray(r.submit, cap, sizeof *r.submit);
            r.duration = xreallocarray(r.duration, cap, sizeof *r.duration);
            r.gpus = xreallocarray(r.gpus, cap, sizeof *r.gpus);
        }
        r.submit[r.n] = simtime_s(row.submit);
        r.duration[r.n] = simtime_s(row.duration);
        r.gpus[r.n] = row.gpus_milli;
        if (r.n) assert_true(r.submit[r.n] >= r.submit[r.n - 1]);
        r.n++;
    }
    synth_close(s);
    symtab_destroy(names);
    arena_destroy(l.a);
    return r;
}

static void rows_fini(struct rows *r)
{
    free(r->submit);
    free(r->duration);
    free(r->gpus);
}

static void moments(const double *x, size_t n, double *mean, double *sd)
{
    double s = 0, q = 0;
    for (size_t i = 0; i < n; i++) s += x[i];
    *mean = s / (double)n;
    for (size_t i = 0; i < n; i++) q += (x[i] - *mean) * (x[i] - *mean);
    *sd = sqrt(q / (double)n);
}

#define near_abs(got, want, room)                                                                  \
    do {                                                                                           \
        double got_ = (got), want_ = (want), room_ = (room);                                       \
        if (!(fabs(got_ - want_) <= room_))                                                        \
            fail_msg("%s = %.9g, expected %.9g within %.3g", #got, got_, want_, room_);            \
    } while (0)

/* ---- distributions ---- */

/* A law by its text, its mean and standard deviation, and one point (q, F(q)) of its
 * distribution. */
struct law {
    const char *text;
    double mean, sd, q, F;
};

static void laws(void **state)
{
    uint64_t seed = test_seed();
    (void)state;
    const double sg = log(7.0) / 1.2815515655446004; /* median 100 s, p90 700 s */
    const double pm = 2.5 * 100 / 1.5;               /* pareto 100, 2.5 untruncated */
    /* pareto 10 s .. 1000 s, alpha 1.5: E[x^m] = a c (max^(m-a) - min^(m-a)) / (m-a), c = min^a
     * / (1 - tail) */
    const double tail = pow(0.01, 1.5), c = pow(10, 1.5) / (1 - tail);
    const double t1 = 1.5 * c * (pow(1000, -0.5) - pow(10, -0.5)) / -0.5;
    const double t2 = 1.5 * c * (pow(1000, 0.5) - pow(10, 0.5)) / 0.5;
    const struct law law[] = {
        { "\"90 s\"", 90, 0, 90, 1 },
        { "{\"kind\": \"constant\", \"value\": \"2.385 s\"}", 2.385, 0, 2.385, 1 },
        { "{\"kind\": \"uniform\", \"min\": \"10 s\", \"max\": \"40 s\"}", 25, 30 / sqrt(12), 20,
          1.0 / 3 },
        { "{\"kind\": \"exponential\", \"mean\": \"70 s\"}", 70, 70, 70 * log(2), 0.5 },
        { "{\"kind\": \"lognormal\", \"median\": \"100 s\", \"p90\": \"700 s\"}",
          100 * exp(sg * sg / 2), NAN, 700, 0.9 },
        { "{\"kind\": \"lognormal\", \"median\": \"100 s\", \"p90\": \"700 s\"}", NAN, NAN, 100,
          0.5 },
        { "{\"kind\": \"lognormal\", \"mean\": \"300 s\", \"cv\": 0.7}", 300, 210, 300 / sqrt(1.49),
          0.5 },
        { "{\"kind\": \"lognormal\", \"median\": \"234 s\", \"mean\": \"468 s\"}", 468,
          468 * sqrt(3), 234, 0.5 },
        { "{\"kind\": \"lognormal\", \"median\": \"50 s\", \"cv\": 1.2}", 50 * sqrt(2.44),
          60 * sqrt(2.44), 50, 0.5 },
        { "{\"kind\": \"gamma\", \"mean\": \"60 s\", \"cv\": 1.7}", 60, 102, 1e9, 1 },
        { "{\"kind\": \"gamma\", \"mean\": \"60 s\", \"cv\": 1}", 60, 60, 60 * log(2), 0.5 },
        { "{\"kind\": \"weibull\", \"shape\": 0.7, \"scale\": \"200 s\"}",
          200 * tgamma(1 + 1 / 0.7), NAN, 200, 1 - exp(-1) },
        { "{\"kind\": \"weibull\", \"shape\": 2, \"mean\": \"200 s\"}", 200,
          200 * sqrt(4 / M_PI - 1), 1e9, 1 },
        { "{\"kind\": \"weibull\", \"mean\": \"50 s\", \"cv\": 1.5}", 50, 75, 1e9, 1 },
        { "{\"kind\": \"weibull\", \"mean\": \"50 s\", \"cv\": 1}", 50, 50, 50 * log(2), 0.5 },
        { "{\"kind\": \"pareto\", \"min\": \"100 s\", \"alpha\": 2.5}", pm, NAN, 200,
          1 - pow(0.5, 2.5) },
        { "{\"kind\": \"pareto\", \"min\": \"10 s\", \"max\": \"1000 s\", \"alpha\": 1.5}", t1,
          sqrt(t2 - t1 * t1), 100, (1 - pow(0.1, 1.5)) / (1 - tail) },
        { "{\"kind\": \"hyperexponential\", \"parts\": [{\"weight\": 3, \"mean\": \"10 s\"}, {\"weight\": 1, \"mean\": \"100 s\"}]}",
          32.5, sqrt(2 * (0.75 * 100 + 0.25 * 10000) - 32.5 * 32.5), 50,
          0.75 * (1 - exp(-5)) + 0.25 * (1 - exp(-0.5)) },
        { "{\"kind\": \"choice\", \"parts\": [{\"weight\": 1, \"value\": \"10 s\"}, {\"weight\": 4, \"value\": \"60 s\"}]}",
          50, 20, 10, 0.2 },
        { "{\"kind\": \"quantiles\", \"points\": [[0, \"1 s\"], [0.5, \"100 s\"], [1, \"10000 s\"]]}",
          9999 / log(1e4), NAN, 10, 0.25 },
        { "{\"kind\": \"quantiles\", \"points\": [[0, \"0 s\"], [0.4, \"20 s\"], [1, \"20 s\"]]}",
          16, NAN, 10, 0.2 },
        { "{\"kind\": \"exponential\", \"mean\": \"70 s\", \"max\": \"70 s\", \"min\": \"7 s\"}",
          70 * (1 - exp(-1)) + 7 - 70 * (1 - exp(-0.1)), NAN, 7, 1 - exp(-0.1) },
    };
    for (size_t i = 0; i < sizeof law / sizeof *law; i++) {
        char *text = with_duration(law[i].text);
        struct rows r = run(text, seed);
        double mean, sd, below = 0;
        assert_int_equal(r.n, N);
        moments(r.duration, r.n, &mean, &sd);
        /* 1 ms of rounding; the sample's own deviation where there is no closed one */
        if (!isnan(law[i].mean)) near_abs(mean, law[i].mean, 5 * sd / sqrt(N) + 0.002);
        /* standard error of sd needs the fourth moment: for these laws 5 % is over five of them */
        if (!isnan(law[i].sd)) near_abs(sd, law[i].sd, 0.05 * law[i].sd + 1e-6);
        for (size_t k = 0; k < r.n; k++) below += r.duration[k] <= law[i].q + 0.0005;
        near_abs(below / N, law[i].F, 5 * sqrt(fmax(law[i].F * (1 - law[i].F), 0) / N) + 1e-4);
        rows_fini(&r);
        free(text);
    }
}

/* ---- arrivals ---- */

static struct rows arrivals(const char *process, const char *end)
{
    char *text = with_arrivals(process, end);
    struct rows r = run(text, test_seed());
    free(text);
    return r;
}

static void gaps_of(struct rows *r)
{
    for (size_t i = r->n; i-- > 1;) r->submit[i] -= r->submit[i - 1];
}

static void renewal_gaps(void **state)
{
    static const struct {
        const char *text;
        double mean, cv;
    } c[] = {
        { "{\"kind\": \"poisson\", \"gap\": \"20 s\"}", 20, 1 },
        { "{\"kind\": \"gamma\", \"gap\": \"20 s\", \"cv\": 2.948}", 20, 2.948 },
        { "{\"kind\": \"gamma\", \"gap\": \"20 s\", \"cv\": 0.3}", 20, 0.3 },
        { "{\"kind\": \"weibull\", \"gap\": \"20 s\", \"cv\": 1.5}", 20, 1.5 },
        { "{\"kind\": \"weibull\", \"gap\": \"20 s\", \"cv\": 0.4}", 20, 0.4 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct rows r = arrivals(c[i].text, "\"jobs\": 200000");
        double mean, sd;
        gaps_of(&r);
        moments(r.submit, r.n, &mean, &sd);
        near_abs(mean, c[i].mean, 5 * c[i].mean * c[i].cv / sqrt(N));
        near_abs(sd / mean, c[i].cv, 0.05 * c[i].cv);
        rows_fini(&r);
    }
}

/* 50 weeks of a profile: each hour of the week has its share, within five Poisson deviations. */
static void thinning(void **state)
{
    double weight[24], day[7] = { 1, 2, 1, 1, 0.5, 0, 0.25 }, count[168] = { 0 }, total = 0;
    char hours[300] = "";
    (void)state;
    for (int h = 0; h < 24; h++) {
        weight[h] = h < 8 ? 0.25 : h == 12 ? 0 : 2;
        total += weight[h];
        size_t at = strlen(hours);
        snprintf(hours + at, sizeof hours - at, "%s%g", h ? ", " : "", weight[h]);
    }
    char *p = xasprintf("{\"kind\": \"nhpp\", \"gap\": \"60 s\", \"hours\": [%s], "
                        "\"days\": [1, 2, 1, 1, 0.5, 0, 0.25]}",
                        hours);
    /* time zero on Wednesday at 06:00 */
    struct rows r = arrivals(p, "\"horizon\": \"50 w\", \"origin\": \"54 h\"");
    for (size_t i = 0; i < r.n; i++) count[(size_t)(r.submit[i] / 3600 + 54) % 168]++;
    for (int h = 0; h < 168; h++) {
        double want = 50 * 60 * weight[h % 24] / (total / 24) * day[h / 24] / (5.75 / 7);
        near_abs(count[h], want, 5 * sqrt(want));
    }
    near_abs((double)r.n, 50 * 7 * 1440, 5 * sqrt(50 * 7 * 1440));
    rows_fini(&r);
    free(p);
}

/* Counts in windows t of a two-state process: mean, and variance / mean = 1 + 2 v / (m r) (1 - (1 -
 * e^-rt) / (rt)), v = p (1 - p) (l1 - l2)^2, m = mean rate, r = sum of the rates of leaving (Heffes
 * and Lucantoni 1986). */
static void mmpp(void **state)
{
    enum { WINDOWS = 20000 };
    static double count[WINDOWS];
    const double l1 = 0.01, l2 = 0.1, s1 = 900, s2 = 300, t = 600;
    const double p = s1 / (s1 + s2), m = p * l1 + (1 - p) * l2, r = 1 / s1 + 1 / s2;
    const double v = p * (1 - p) * (l1 - l2) * (l1 - l2);
    const double idc = 1 + 2 * v / (m * r) * (1 - (1 - exp(-r * t)) / (r * t));
    double mean, sd;
    (void)state;
    struct rows x =
        arrivals("{\"kind\": \"mmpp\", \"states\": [{\"gap\": \"100 s\", \"stay\": \"15 min\"}, "
                 "{\"gap\": \"10 s\", \"stay\": \"5 min\"}]}",
                 "\"horizon\": \"12000000 s\"");
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < x.n; i++) count[(size_t)(x.submit[i] / t)]++;
    moments(count, WINDOWS, &mean, &sd);
    /* over long times the variance of the total is (1 + 2 v / (m r)) times its mean */
    near_abs((double)x.n, m * 12e6, 5 * sqrt(m * 12e6 * (1 + 2 * v / (m * r))));
    near_abs(sd * sd / mean, idc, 0.06 * idc);
    rows_fini(&x);
}

/* A silent state: nothing outside the other one, and the profile thins on top. */
static void mmpp_silent(void **state)
{
    (void)state;
    struct rows x =
        arrivals("{\"kind\": \"mmpp\", \"states\": [{\"stay\": \"3 h\"}, {\"gap\": \"30 s\", "
                 "\"stay\": \"1 h\"}], \"days\": [1, 1, 1, 1, 1, 0, 0]}",
                 "\"horizon\": \"100 w\"");
    /* 120 an hour, a quarter of the time, over 100 weeks; variance dominated by the states */
    const double want = 100 * 168 * 30, r = 1 / 3.0 + 1, v = 0.25 * 0.75 * 120 * 120;
    near_abs((double)x.n, want, 5 * sqrt(want * (1 + 7.0 / 5 * 2 * v / (30 * r))));
    for (size_t i = 0; i < x.n; i++) assert_true(fmod(x.submit[i], 604800) < 5 * 86400.0);
    rows_fini(&x);
}

static void sessions(void **state)
{
    (void)state;
    struct rows x = arrivals(
        "{\"kind\": \"sessions\", \"members\": 20, \"start\": \"9 h\", \"spread\": \"1 h\", "
        "\"days\": [1, 1, 1, 1, 0.5, 0, 0]}",
        "\"horizon\": \"200 w\"");
    double hour[N], mean, sd;
    near_abs((double)x.n, 200 * 90, 5 * sqrt(200 * 20 * 0.25));
    for (size_t i = 0; i < x.n; i++) {
        assert_true(fmod(x.submit[i], 604800) < 5 * 86400.0);
        hour[i] = fmod(x.submit[i], 86400) / 3600;
    }
    moments(hour, x.n, &mean, &sd);
    near_abs(mean, 9, 5 / sqrt((double)x.n));
    near_abs(sd, 1, 5 / sqrt(2 * (double)x.n));
    rows_fini(&x);
    x = arrivals("{\"kind\": \"once\", \"members\": 7, \"start\": \"2 h\"}",
                 "\"horizon\": \"1 w\"");
    assert_int_equal(x.n, 7);
    for (size_t i = 0; i < x.n; i++) assert_close(x.submit[i], 7200, 0);
    rows_fini(&x);
}

/* ---- what a row holds ---- */

static const char everything[] =
    "{\"format\": \"gpusim-generate/1\", \"name\": \"all\", \"seed\": 7, \"jobs\": 100000, \"gap\": \"10 s\","
    " \"classes\": [{\"name\": \"t\", \"class\": \"training\", \"share\": 0.75,"
    "  \"arrivals\": {\"kind\": \"poisson\"}, \"duration\": \"100 s\","
    "  \"gpus\": [{\"gpus\": 0.25, \"weight\": 6, \"memory\": \"5 GiB\"}, {\"gpus\": 8, \"weight\": 2}],"
    "  \"memory\": \"40 GiB\", \"profile\": [{\"name\": \"p\", \"weight\": 1}, {\"name\": \"q\", \"weight\": 3}],"
    "  \"users\": 4, \"zipf\": 1, \"groups\": 2, \"priority\": -3, \"slots\": 2, \"cpus\": 1.5,"
    "  \"host_memory\": \"4 GiB\", \"gpu_model\": \"a30\", \"gpu_allowed\": \"a30|t4\","
    "  \"walltime\": {\"factor\": 3, \"missing\": 0.25}},"
    " {\"name\": \"b\", \"share\": 0.25, \"arrivals\": {\"kind\": \"poisson\"}, \"duration\": \"1 us\"}]}";

static void row_contents(void **state)
{
    struct loaded l = load(everything);
    struct symtab *names = symtab_create();
    struct synth *s = stream(&l, l.spec.seed, names);
    struct job_row row;
    struct err e = { 0 };
    double t = 0, quarter = 0, q = 0, first = 0, limited = 0, n = 0;
    char id[64];
    (void)state;
    assert_int_equal(l.spec.seed, 7);
    while (synth_next(s, &row, &e) == 1) {
        n++;
        if (synth_row_class(s) == 1) {
            assert_int_equal(row.klass, CLASS_none);
            assert_true(row.duration == 1000000); /* at least 1 ms */
            assert_int_equal(row.gpus_milli, 1000);
            assert_true(row.gpu_mem_bytes == JOB_NO_BYTES && row.walltime == JOB_NO_TIME);
            assert_int_equal(row.user, 0);
            assert_int_equal(row.slots, JOB_NO_INT);
            continue;
        }
        snprintf(id, sizeof id, "t-%.0f", ++t);
        assert_int_equal(row.id_len, strlen(id));
        assert_memory_equal(row.id, id, row.id_len);
        assert_int_equal(row.klass, CLASS_training);
        assert_true(row.gpu_mem_bytes == (row.gpus_milli == 250 ? 5ULL : 40ULL) << 30);
        assert_true(row.mem_bytes == 4ULL << 30);
        assert_int_equal(row.cpus_milli, 1500);
        assert_int_equal(row.priority, -3);
        assert_int_equal(row.slots, 2);
        assert_string_equal(symtab_name(names, row.gpu_model), "a30");
        assert_string_equal(symtab_name(names, row.gpu_allowed), "a30|t4");
        const char *user = symtab_name(names, row.user), *group = symtab_name(names, row.group);
        assert_memory_equal(user, "t-u", 3);
        assert_int_equal((user[3] - '1') % 2, group[3] - '1');
        assert_true(row.walltime == JOB_NO_TIME || row.walltime == 300 * SIM_SECOND);
        quarter += row.gpus_milli == 250;
        q += !strcmp(symtab_name(names, row.profile), "q");
        first += !strcmp(user, "t-u1");
        limited += row.walltime != JOB_NO_TIME;
    }
    near_abs(n, 100000, 0);
    near_abs(t / n, 0.75, 5 * sqrt(0.1875 / n));
    near_abs(quarter / t, 0.75, 5 * sqrt(0.1875 / t));
    near_abs(q / t, 0.75, 5 * sqrt(0.1875 / t));
    near_abs(limited / t, 0.75, 5 * sqrt(0.1875 / t));
    near_abs(first / t, 12.0 / 25, 5 * sqrt(0.25 / t)); /* 1 / (1 + 1/2 + 1/3 + 1/4) */
    assert_int_equal(synth_columns(s),
                     TRACE_COL(gpu_mem_bytes) | TRACE_COL(gpu_model) | TRACE_COL(gpu_allowed) |
                         TRACE_COL(cpus) | TRACE_COL(mem_bytes) | TRACE_COL(user) |
                         TRACE_COL(group) | TRACE_COL(class) | TRACE_COL(profile) |
                         TRACE_COL(priority) | TRACE_COL(walltime_s) | TRACE_COL(slots));
    synth_close(s);
    symtab_destroy(names);
    assert_close(synth_class_rate(&l.spec, 0), 0.075, 1e-12);
    assert_string_equal(synth_class_name(&l.spec, 1), "b");
    arena_destroy(l.a);
}

/* Two purposes on one stream would draw the same numbers: no pair of columns is correlated. */
static void columns_are_uncorrelated(void **state)
{
    static const char text[] = TOP
        "\"jobs\": 40000, \"classes\": [{\"name\": \"a\", \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"1 h\"},"
        "\"duration\": {\"kind\": \"uniform\", \"min\": \"1 s\", \"max\": \"1 h\"},"
        "\"gpus\": [{\"gpus\": 1, \"weight\": 1}, {\"gpus\": 2, \"weight\": 1}],"
        "\"memory\": {\"kind\": \"uniform\", \"min\": \"1 GiB\", \"max\": \"9 GiB\"}, \"users\": 2,"
        "\"profile\": [{\"name\": \"p\", \"weight\": 1}, {\"name\": \"q\", \"weight\": 1}],"
        "\"walltime\": {\"factor\": 2, \"missing\": 0.5}}]}";
    enum { COLS = 7 };
    double sum[COLS] = { 0 }, prod[COLS][COLS] = { { 0 } }, last = 0, n = 0;
    struct loaded l = load(text);
    struct symtab *names = symtab_create();
    struct synth *s = stream(&l, test_seed(), names);
    struct job_row row;
    struct err e = { 0 };
    (void)state;
    while (synth_next(s, &row, &e) == 1) {
        const double x[COLS] = { simtime_s(row.submit) - last,
                                 simtime_s(row.duration),
                                 row.gpus_milli,
                                 (double)row.gpu_mem_bytes,
                                 strcmp(symtab_name(names, row.user), "a-u1") == 0,
                                 strcmp(symtab_name(names, row.profile), "p") == 0,
                                 row.walltime == JOB_NO_TIME };
        last = simtime_s(row.submit);
        n++;
        for (int i = 0; i < COLS; i++) {
            sum[i] += x[i];
            for (int j = 0; j <= i; j++) prod[i][j] += x[i] * x[j];
        }
    }
    for (int i = 0; i < COLS; i++)
        for (int j = 0; j < i; j++) {
            double vi = prod[i][i] - sum[i] * sum[i] / n, vj = prod[j][j] - sum[j] * sum[j] / n;
            near_abs((prod[i][j] - sum[i] * sum[j] / n) / sqrt(vi * vj), 0, 5 / sqrt(n));
        }
    synth_close(s);
    symtab_destroy(names);
    arena_destroy(l.a);
}

/* A count ends its class, `jobs` the whole, a horizon before both; ties keep the order of
 * classes. */
static void ends_and_ties(void **state)
{
    (void)state;
    struct rows r = run(
        "{\"format\": \"gpusim-generate/1\", \"name\": \"x\", \"classes\": [{\"name\": \"a\", "
        "\"count\": 5, \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"1 s\"}, \"duration\": \"1 s\"}]}",
        3);
    assert_int_equal(r.n, 5);
    rows_fini(&r);
    r = run(
        "{\"format\": \"gpusim-generate/1\", \"name\": \"x\", \"horizon\": \"90 s\", \"classes\": ["
        "{\"name\": \"a\", \"arrivals\": {\"kind\": \"once\", \"members\": 3}, \"duration\": \"1 s\"},"
        "{\"name\": \"b\", \"arrivals\": {\"kind\": \"once\", \"members\": 2, \"start\": \"100 s\"}, \"duration\": \"1 s\"},"
        "{\"name\": \"c\", \"arrivals\": {\"kind\": \"once\", \"members\": 2}, \"duration\": \"2 s\", \"gpus\": 0}]}",
        3);
    assert_int_equal(r.n, 5);
    for (size_t i = 0; i < 5; i++) assert_close(r.duration[i], i < 3 ? 1 : 2, 0);
    assert_int_equal(r.gpus[4], 0);
    rows_fini(&r);
}

/* ---- quantiles: the inverse of the laws above ---- */

/* From nearly constant to nearly always 0: finite, rising with u, and the law's own inverse. */
static void gamma_quantiles(void)
{
    static const double u[] = {
        1e-15, 1e-9, 1e-4, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-9, 1 - 1e-15
    };
    for (double cv = 1e-6; cv < 1000; cv *= 1.7) {
        const double a = 1 / (cv * cv);
        const struct synth_dist law = { .kind = SYNTH_gamma, .a = a, .b = 1 / a, .max = INFINITY };
        double last = 0;
        for (size_t i = 0; i < sizeof u / sizeof *u; i++) {
            double x = synth_dist_quantile(&law, u[i]);
            if (!(x >= last && x < 1e9)) fail_msg("cv %g: %g at %g after %g", cv, x, u[i], last);
            last = x;
            if (x < 1e-300 || a > 1e4) continue;
            double p = gsl_cdf_gamma_P(x, a, 1 / a), q = gsl_cdf_gamma_Q(x, a, 1 / a);
            assert_close(u[i] < 0.5 ? p / u[i] : q / (1 - u[i]), 1, 1e-6);
        }
        /* the median of a law so narrow is mean (1 - cv^2 / 3) to the next order */
        if (a > 1e4) assert_close(synth_dist_quantile(&law, 0.5), 1 - cv * cv / 3, 1e-8);
        if (a > 1e4) assert_close(synth_dist_quantile(&law, 0.9), 1 + 1.2815515655 * cv, cv * cv);
    }
}

static void quantiles(void **state)
{
    static const struct {
        const char *text;
        double u, x;
    } c[] = {
        { "{\"kind\": \"constant\", \"value\": 2.385}", 0.3, 2.385 },
        { "{\"kind\": \"uniform\", \"min\": 10, \"max\": 40}", 0.25, 17.5 },
        { "{\"kind\": \"exponential\", \"mean\": 70}", 0.5, 48.520302639196171 },
        { "{\"kind\": \"lognormal\", \"median\": 100, \"p90\": 700}", 0.9, 700 },
        { "{\"kind\": \"lognormal\", \"median\": 100, \"p90\": 700, \"max\": 650}", 0.9, 650 },
        { "{\"kind\": \"gamma\", \"mean\": 60, \"cv\": 1}", 0.5, 41.588830833596715 },
        { "{\"kind\": \"weibull\", \"shape\": 0.7, \"scale\": 200}", 0.63212055882855767, 200 },
        { "{\"kind\": \"pareto\", \"min\": 100, \"alpha\": 2.5}", 0.82322330470336313, 200 },
        /* 0.75 (1 - e^-5) + 0.25 (1 - e^-0.5) */
        { "{\"kind\": \"hyperexponential\", \"parts\": [{\"weight\": 3, \"mean\": 10}, {\"weight\": 1, \"mean\": 100}]}",
          0.84331387482272727, 50 },
        { "{\"kind\": \"choice\", \"parts\": [{\"weight\": 4, \"value\": 60}, {\"weight\": 1, \"value\": 10}]}",
          0.19, 10 },
        { "{\"kind\": \"choice\", \"parts\": [{\"weight\": 4, \"value\": 60}, {\"weight\": 1, \"value\": 10}]}",
          0.21, 60 },
        { "{\"kind\": \"quantiles\", \"points\": [[0, 1], [0.5, 100], [1, 10000]]}", 0.25, 10 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct arena *a = arena_create();
        struct json_doc doc;
        struct synth_dist law;
        struct diag d;
        assert_int_equal(json_doc_parse(&doc, "law", c[i].text, strlen(c[i].text), NULL), 0);
        diag_init(&d);
        synth_dist_read(&law, a, &doc, doc.root, "", SYNTH_NUMBER, &d);
        assert_int_equal(d.count, 0);
        assert_close(synth_dist_quantile(&law, c[i].u), c[i].x, 1e-9);
        diag_fini(&d);
        json_doc_fini(&doc);
        arena_destroy(a);
    }
    gamma_quantiles();
    assert_close(synth_normal_share(0), 0.5, 1e-15);
    assert_true(synth_normal_share(-40) > 0 && synth_normal_share(40) < 1);
}

/* ---- GPUs and duration together ---- */

static struct rows sized(const char *correlation, uint64_t seed)
{
    char *text = xasprintf(
        TOP
        "\"jobs\": 100000, \"classes\": [{\"name\": \"a\", \"arrivals\": {\"kind\": \"poisson\", "
        "\"gap\": \"1 s\"}, \"duration\": {\"kind\": \"lognormal\", \"median\": \"100 s\", "
        "\"p90\": \"400 s\"}, %s \"gpus\": [{\"gpus\": 8, \"weight\": 1}, {\"gpus\": 1, "
        "\"weight\": 3}]}]}",
        correlation);
    struct rows r = run(text, seed);
    free(text);
    return r;
}

/* Mean log duration of jobs on `gpus`, in standard deviations of the law. */
static double mean_deviate(const struct rows *r, int32_t gpus)
{
    const double sigma = log(4) / 1.2815515655446004;
    double sum = 0, n = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (r->gpus[i] != gpus) continue;
        sum += log(r->duration[i] / 100) / sigma;
        n++;
    }
    return sum / n;
}

/* With correlation r the deviate of the duration has mean r E[z | the GPUs' part of z]: 8 GPUs are
 * the upper quarter of z, whose mean is phi(0.6744898) / 0.25 = 1.2711063. */
static void copula(void **state)
{
    const double top = 1.2711063, n = 100000;
    struct rows none = sized("", test_seed());
    (void)state;
    for (int k = 0; k < 2; k++) {
        const double want = k ? -0.6 : 0.6;
        struct rows r = sized(k ? "\"correlation\": -0.6," : "\"correlation\": 0.6,", test_seed());
        double below = 0;
        near_abs(mean_deviate(&r, 8000), want * top, 5 / sqrt(n / 4));
        near_abs(mean_deviate(&r, 1000), -want * top / 3, 5 / sqrt(n / 4 * 3));
        /* both laws stay, times do not move */
        for (size_t i = 0; i < r.n; i++) {
            below += r.duration[i] <= 400;
            assert_true(r.submit[i] == none.submit[i]);
        }
        near_abs(below / n, 0.9, 5 * sqrt(0.09 / n));
        rows_fini(&r);
    }
    near_abs(mean_deviate(&none, 8000), 0, 5 / sqrt(n / 4));
    rows_fini(&none);
}

/* ---- recordings ---- */

static const char recording[] =
    "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,gpu_model,user,class,priority,walltime_s,status,deadline_s\n"
    "x,0.000000001,10,0.25,1073741824,a30,ann,dev,5,20,failed,100\n"
    "y,7200.5,1.000000001,8,,,bob,training,,,completed,\n"
    "z,90000,3600,0,,t4,ann,,-2,,,90001\n";

static char *replaying(const char *more, const char *klass, const char *top)
{
    return xasprintf(
        "{\"format\": \"gpusim-generate/1\", \"name\": \"r\", %s \"classes\": [{\"name\": \"r\", "
        "\"arrivals\": {%s}%s}]}",
        top, more, klass);
}

/* Rows written as a trace, with the columns the stream says it fills. */
static char *as_trace(const char *text)
{
    struct loaded l = load(text);
    struct symtab *names = symtab_create();
    struct synth *s = stream(&l, 1, names);
    struct job_row row;
    struct err e = { 0 };
    char *out;
    size_t len;
    FILE *to = open_memstream(&out, &len);
    int rc;
    trace_write_header(to, synth_columns(s), NULL);
    while ((rc = synth_next(s, &row, &e)) > 0) trace_write_row(to, synth_columns(s), &row, names);
    fclose(to);
    if (rc < 0) fail_msg("%s: %s", e.where, e.msg);
    synth_close(s);
    symtab_destroy(names);
    arena_destroy(l.a);
    return out;
}

static void expect_replay(const char *load_key, const char *klass, const char *want)
{
    const char *path = temp_file(".csv", recording);
    char *arrivals = xasprintf("\"kind\": \"replay\", \"trace\": \"%s\"%s", path, load_key);
    char *text = replaying(arrivals, klass, "");
    char *got = as_trace(text);
    assert_string_equal(got, want);
    free(got);
    free(text);
    free(arrivals);
}

static void replay(void **state)
{
    (void)state;
    /* every column, exact to the nanosecond; only the id is new */
    expect_replay(
        "", "",
        "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,gpu_model,user,class,priority,walltime_s,status,deadline_s\n"
        "r-1,0.000000001,10,0.25,1073741824,a30,ann,dev,5,20,failed,100\n"
        "r-2,7200.5,1.000000001,8,,,bob,training,,,completed,\n"
        "r-3,90000,3600,0,,t4,ann,,-2,,,90001\n");
    /* twice the load: half the time; a deadline keeps its distance; the class speaks over the
     * row */
    expect_replay(
        ", \"load\": 2",
        ", \"class\": \"inference\", \"gpus\": 2, \"priority\": 7, \"duration\": \"5 s\", \"memory\": \"2 GiB\"",
        "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,gpu_model,user,class,priority,walltime_s,status,deadline_s\n"
        "r-1,0.000000001,5,2,2147483648,a30,ann,inference,7,20,failed,100\n"
        "r-2,3600.25,5,2,2147483648,,bob,inference,7,,completed,\n"
        "r-3,45000,5,2,2147483648,t4,ann,inference,7,,,45001\n");
}

static void replay_ends(void **state)
{
    const char *path = temp_file(".csv", recording);
    char *arrivals = xasprintf("\"kind\": \"replay\", \"trace\": \"%s\"", path);
    char *text = replaying(arrivals, "", "\"horizon\": \"7200.5 s\",");
    struct rows r = run(text, 1);
    (void)state;
    assert_int_equal(r.n, 1); /* the horizon is not part of it */
    rows_fini(&r);
    free(text);
    text = replaying(arrivals, ", \"count\": 2", "");
    r = run(text, 1);
    assert_int_equal(r.n, 2);
    rows_fini(&r);
    free(text);
    free(arrivals);
}

/* What is wrong with a recording is told with its own file and line, at once or when it comes. */
static void bad_recordings(void **state)
{
    static const struct {
        const char *trace, *arrivals, *says;
        int rows; /* before the error */
    } c[] = {
        { "job_id,submit_s,duration_s,gpus\na,0,1,1\nb,5,nan,1\n", "\"replay\"", "duration_s", 1 },
        { "job_id,submit_s,duration_s,gpus\na,5,1,1\nb,0,1,1\n", "\"replay\"", "sorted", 1 },
        { "job_id,submit_s,duration_s\na,5,1\n", "\"replay\"", "lacks", 0 },
        { "job_id,submit_s,duration_s,gpus\n", "\"bootstrap\", \"block\": \"1 d\"", "only a header",
          0 },
        { "job_id,submit_s,duration_s,gpus\na,5,x,1\n", "\"bootstrap\", \"block\": \"1 d\"",
          "duration_s", 0 },
        { "job_id,submit_s,duration_s,gpus\na,5,1,1\n", "\"bootstrap\", \"block\": \"1 d\"",
          "at least 1 blocks of 86400 s, found one of 5 s", 0 },
        { "job_id,submit_s,duration_s,gpus\na,5,1,1\nb,200000,1,1\n",
          "\"bootstrap\", \"block\": \"1 d\", \"period\": \"7 d\"",
          "at least 7 blocks of 86400 s, found one of 200000 s", 0 },
        { "job_id,submit_s,duration_s,gpus\na,5,1,1\nb,100000000,1,1\n",
          "\"bootstrap\", \"block\": \"1 min\"", "at most 1000000 blocks", 0 },
        { "job_id,submit_s,duration_s,gpus\na,129599,1,1\n", "\"bootstrap\", \"block\": \"1 d\"",
          "a job in the first 1 blocks", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const char *path = temp_file(".csv", c[i].trace);
        char *arrivals = xasprintf("\"kind\": %s, \"trace\": \"%s\"", c[i].arrivals, path);
        char *text = replaying(arrivals, "", "\"jobs\": 9,");
        struct loaded l = load(text);
        struct symtab *names = symtab_create();
        struct synth *s;
        struct job_row row;
        struct err e = { 0 };
        int n = 0, rc = synth_create(&s, &l.spec, 1, 0, names, &e);
        assert_true(rc == 0 || !s);
        while (rc >= 0 && (rc = synth_next(s, &row, &e)) == 1) n++;
        assert_int_equal(rc, ERR_INPUT);
        assert_int_equal(n, c[i].rows);
        assert_contains(e.where, path);
        assert_contains(e.msg, c[i].says);
        synth_close(s);
        symtab_destroy(names);
        arena_destroy(l.a);
        free(text);
        free(arrivals);
    }
}

/* 14 recorded days: day d has 10 + d jobs at hour d + 1 (and minutes), of duration d + 1 s. */
static const char *fortnight(void)
{
    struct strbuf b = { 0 };
    strbuf_addf(&b, "job_id,submit_s,duration_s,gpus,user\n");
    for (int d = 0; d < 14; d++)
        for (int k = 0; k < 10 + d; k++)
            strbuf_addf(&b, "j%d.%d,%d,%d,1,u%d\n", d, k, d * 86400 + (d + 1) * 3600 + 60 * k,
                        d + 1, d);
    const char *path = temp_file(".csv", b.s);
    strbuf_fini(&b);
    return path;
}

static struct rows boot(const char *more, const char *top, uint64_t seed)
{
    char *arrivals = xasprintf("\"kind\": \"bootstrap\", \"trace\": \"%s\", \"block\": \"1 d\"%s",
                               fortnight(), more);
    char *text = replaying(arrivals, "", top);
    struct rows r = run(text, seed);
    free(text);
    free(arrivals);
    return r;
}

/* Whole days come again: all of one day's jobs, at their hour; every day equally often. */
static void bootstrap_days(void **state)
{
    enum { DAYS = 7000 };
    double drawn[14] = { 0 };
    struct rows r = boot("", "\"horizon\": \"7000 d\",", test_seed());
    size_t i = 0;
    (void)state;
    for (int day = 0; day < DAYS; day++) {
        const int d = (int)r.duration[i] - 1;
        drawn[d]++;
        for (int k = 0; k < 10 + d; k++, i++) {
            assert_close(r.duration[i], d + 1, 0);
            assert_close(r.submit[i], day * 86400.0 + (d + 1) * 3600 + 60 * k, 0);
        }
    }
    assert_int_equal(i, r.n);
    for (int d = 0; d < 14; d++) near_abs(drawn[d], DAYS / 14.0, 5 * sqrt(DAYS / 14.0));
    rows_fini(&r);
}

/* The recording ends with the whole block nearest to its last job; what lies behind is counted. */
static void bootstrap_rounds(void **state)
{
    static const struct {
        double last_s;
        size_t left_out;
        double days; /* drawn in 100 days of one or two jobs */
    } c[] = { { 129599, 1, 1 }, { 129600, 0, 2 }, { 172800, 1, 2 } };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        char *rec = xasprintf("job_id,submit_s,duration_s,gpus\na,60,1,1\nb,%g,2,1\n", c[i].last_s);
        char *arrivals = xasprintf(
            "\"kind\": \"bootstrap\", \"trace\": \"%s\", \"block\": \"1 d\", \"period\": \"%g d\"",
            temp_file(".csv", rec), c[i].days);
        char *text = replaying(arrivals, "", "\"horizon\": \"10 d\",");
        struct loaded l = load(text);
        struct symtab *names = symtab_create();
        struct synth *s = stream(&l, 1, names);
        struct job_row row;
        struct err e = { 0 };
        size_t n = 0;
        assert_int_equal(synth_left_out(s), c[i].left_out);
        while (synth_next(s, &row, &e) == 1) n++;
        /* every day has one job, but day two of the third recording has none */
        assert_int_equal(n, i == 2 ? 5 : 10);
        synth_close(s);
        symtab_destroy(names);
        arena_destroy(l.a);
        free(text);
        free(arrivals);
        free(rec);
    }
}

/* With a period of a week day i is one of the recorded days i and i + 7 of the week. */
static void bootstrap_weeks(void **state)
{
    struct rows r = boot(", \"period\": \"7 d\"", "\"horizon\": \"700 d\",", test_seed());
    double late = 0;
    (void)state;
    for (size_t i = 0; i < r.n; i++) {
        int day = (int)(r.submit[i] / 86400), d = (int)r.duration[i] - 1;
        assert_int_equal(d % 7, day % 7);
        late += d >= 7;
    }
    /* jobs of the second week: 350 days of 20 on average of 700 drawn of 16.5 */
    near_abs(late / (double)r.n, 20.0 / 33, 5 * 0.5 / sqrt(700));
    rows_fini(&r);
}

/* load 2.5: two whole days over each other and half of a third; hours stay. */
static void bootstrap_load(void **state)
{
    enum { DAYS = 2000 };
    struct rows r = boot(", \"load\": 2.5", "\"horizon\": \"2000 d\",", test_seed());
    struct rows again = boot(", \"load\": 2.5", "\"horizon\": \"2000 d\",", test_seed());
    (void)state;
    /* a day has 16.5 jobs, variance (14^2 - 1) / 12; the thinned one half of it */
    const double v = 2 * 16.25 + 16.25 / 4 + 16.5 / 4;
    near_abs((double)r.n, DAYS * 2.5 * 16.5, 5 * sqrt(DAYS * v));
    for (size_t i = 0; i < r.n; i++)
        assert_int_equal((int)(fmod(r.submit[i], 86400) / 3600), (int)r.duration[i]);
    assert_int_equal(again.n, r.n);
    assert_memory_equal(again.submit, r.submit, r.n * sizeof *r.submit);
    rows_fini(&again);
    rows_fini(&r);
}

/* ---- requests ---- */

#define CONV                                                                                       \
    "{\"name\": \"conv\", \"arrivals\": {\"kind\": \"gamma\", \"gap\": \"0.2 s\", \"cv\": 1.5}, "  \
    "\"input_tokens\": {\"kind\": \"lognormal\", \"median\": 1000, \"p90\": 4000}, "               \
    "\"output_tokens\": {\"kind\": \"exponential\", \"mean\": 200}, \"correlation\": 0.5}"

/* Gaps, both laws, and the correlation of ranks 6/pi asin(r/2) by Kendall's sign of pairs: for a
 * Gaussian copula tau = 2/pi asin(r). */
static void requests(void **state)
{
    struct loaded l = load(TOP "\"jobs\": 200000, \"services\": [" CONV "]}");
    struct symtab *names = symtab_create();
    struct synth_requests *s = synth_requests_create(&l.spec, test_seed(), 0, names);
    struct request_row row, last = { 0 };
    double *gap = xcalloc(N, sizeof *gap), mean, sd, below = 0, out = 0, same = 0, pairs = 0;
    size_t n = 0;
    (void)state;
    assert_int_equal(synth_requests_columns(&l.spec), REQUESTS_LLM);
    while (synth_requests_next(s, &row)) {
        assert_null(request_row_problem(&row));
        assert_int_equal(synth_requests_service(s), 0);
        assert_true(row.arrival % 1000 == 0 && row.arrival >= last.arrival);
        gap[n] = simtime_s(row.arrival - last.arrival);
        below += row.input_tokens <= 4000;
        out += (double)row.output_tokens;
        if (n++ % 2 && row.input_tokens != last.input_tokens &&
            row.output_tokens != last.output_tokens) {
            pairs++;
            same +=
                (row.input_tokens > last.input_tokens) == (row.output_tokens > last.output_tokens);
        }
        last = row;
    }
    assert_int_equal(n, N);
    moments(gap, n, &mean, &sd);
    near_abs(mean, 0.2, 5 * 0.3 / sqrt(N));
    near_abs(sd / mean, 1.5, 0.05 * 1.5);
    near_abs(below / N, 0.9, 5 * sqrt(0.09 / N) + 1e-3);
    near_abs(out / N, 200.3, 5 * 200 / sqrt(N) + 0.3); /* at least one token */
    near_abs(2 * same / pairs - 1, 2 / M_PI * asin(0.5), 5 / sqrt(pairs) + 2e-3);
    synth_requests_close(s);
    synth_requests_close(NULL);
    symtab_destroy(names);
    arena_destroy(l.a);
    free(gap);
}

/* Two services: merged, named, each as it is alone; a count ends one, the horizon both. */
static void services(void **state)
{
    static const char other[] =
        "{\"name\": \"code\", \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"3 s\"}, \"count\": 5, "
        "\"input_tokens\": 0, \"output_tokens\": 2.6}";
    char *both = xasprintf(TOP "\"horizon\": \"100 s\", \"services\": [%s, %s]}", CONV, other);
    struct loaded l = load(both),
                  one = load(TOP "\"horizon\": \"100 s\", \"services\": [" CONV "]}");
    struct symtab *names = symtab_create();
    struct synth_requests *s = synth_requests_create(&l.spec, 4, 0, names);
    struct synth_requests *alone = synth_requests_create(&one.spec, 4, 0, names);
    struct request_row row, want;
    simtime last = 0;
    int code = 0;
    (void)state;
    assert_int_equal(synth_requests_columns(&l.spec), REQUESTS_LLM | REQUESTS_COL(service));
    while (synth_requests_next(s, &row)) {
        assert_true(row.arrival >= last && row.arrival < 100 * SIM_SECOND);
        last = row.arrival;
        const char *name = symtab_name(names, row.service);
        if (synth_requests_service(s) == 1) {
            assert_string_equal(name, "code");
            assert_int_equal(row.input_tokens, 1); /* at least one */
            assert_int_equal(row.output_tokens, 3);
            code++;
            continue;
        }
        assert_string_equal(name, "conv");
        assert_true(synth_requests_next(alone, &want));
        assert_true(want.arrival == row.arrival && want.input_tokens == row.input_tokens &&
                    want.output_tokens == row.output_tokens && want.service == 0);
    }
    assert_false(synth_requests_next(alone, &want));
    assert_false(synth_requests_next(s, &row));
    assert_int_equal(code, 5);
    synth_requests_close(alone);
    synth_requests_close(s);
    symtab_destroy(names);
    arena_destroy(l.a);
    arena_destroy(one.a);
    free(both);
}

/* ---- mistakes ---- */

struct mistake {
    const char *klass; /* members of the one class, or a whole document when it starts with { */
    const char *where, *says;
};

#define ARR  "\"name\": \"a\", \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"1 s\"}, "
#define DUR  "\"name\": \"a\", \"duration\": \"1 s\", \"arrivals\": "
#define GOOD "\"classes\": [{" ARR "\"duration\": \"1 s\"}]"

static const struct mistake mistakes[] = {
    /* top */
    { "{\"format\": \"gpusim-generate/2\", \"name\": \"x\", \"jobs\": 1, " GOOD "}", "/format",
      "gpusim-generate/1" },
    { TOP "\"jobs\": 0, " GOOD "}", "/jobs", "found 0" },
    { TOP "\"horizon\": 7, " GOOD "}", "/horizon", "found 7" },
    { TOP "\"horison\": \"7 d\", " GOOD "}", "/horison", "unknown key" },
    { TOP GOOD "}", "", "expected a horizon, jobs, or a count in every class" },
    { TOP "\"jobs\": 1, \"classes\": []}", "/classes", "an empty one" },
    { TOP "\"jobs\": 1, \"classes\": {}}", "/classes",
      "expected a list of classes, found an object" },
    { TOP "\"jobs\": 1, \"classes\": [3]}", "/classes/0", "found 3" },
    { TOP "\"jobs\": 1}", "", "classes" },
    { TOP "\"jobs\": 1, \"classes\": [{" ARR
          "\"duration\": \"1 s\", \"gpu_allowed\": \"a30||t4\"}]}",
      "/classes/0/gpu_allowed", "found \"a30||t4\"" },
    { "[]", "", "found" },
    { TOP "\"jobs\": 1, \"classes\": [{" ARR "\"duration\": \"1 s\"}, {" ARR
          "\"duration\": \"1 s\"}]}",
      "/classes/1/name", "found \"a\" again" },
    { TOP
      "\"jobs\": 1, \"gap\": \"1 s\", \"classes\": [{\"name\": \"a\", \"share\": 0.5, \"arrivals\": {\"kind\": \"poisson\"}, \"duration\": \"1 s\"}]}",
      "/classes", "add up to 1, found 0.5" },
    /* class */
    { "\"name\": \"a b\", \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"1 s\"}, \"duration\": \"1 s\"",
      "/classes/0/name", "found \"a b\"" },
    { "\"name\": \"a\", \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"1 s\"}", "/classes/0",
      "duration" },
    { ARR "\"duration\": \"1 s\", \"class\": \"trainig\"", "/classes/0/class", "trainig" },
    { ARR "\"duration\": \"1 s\", \"gpus\": 1.5", "/classes/0/gpus", "found 1.5" },
    { ARR "\"duration\": \"1 s\", \"gpus\": -1", "/classes/0/gpus", "found -1" },
    { ARR "\"duration\": \"1 s\", \"gpus\": \"two\"", "/classes/0/gpus", "found \"two\"" },
    { ARR "\"duration\": \"1 s\", \"gpus\": [{\"gpus\": 0.1234, \"weight\": 1}]",
      "/classes/0/gpus/0/gpus", "found 0.1234" },
    { ARR "\"duration\": \"1 s\", \"gpus\": [{\"gpus\": 1, \"weight\": 0}]", "/classes/0/gpus",
      "more than 0, found 0" },
    { ARR "\"duration\": \"1 s\", \"gpus\": [{\"gpus\": 1}]", "/classes/0/gpus/0", "weight" },
    { ARR "\"duration\": \"1 s\", \"memory\": \"8 GW\"", "/classes/0/memory", "found \"8 GW\"" },
    { ARR "\"duration\": \"1 s\", \"memory\": \"8 s\"", "/classes/0/memory", "found \"8 s\"" },
    { ARR "\"duration\": \"1 s\", \"profile\": 3", "/classes/0/profile", "found 3" },
    { ARR "\"duration\": \"1 s\", \"profile\": [{\"name\": \"p\"}]", "/classes/0/profile/0",
      "weight" },
    { ARR "\"duration\": \"1 s\", \"walltime\": 2", "/classes/0/walltime", "found 2" },
    { ARR "\"duration\": \"1 s\", \"walltime\": {\"factor\": \"2 s\"}",
      "/classes/0/walltime/factor", "found \"2 s\"" },
    { ARR "\"duration\": \"1 s\", \"users\": 0", "/classes/0/users", "found 0" },
    { ARR "\"duration\": \"1 s\", \"share\": 1", "/classes/0/share", "expected a gap at the top" },
    /* arrivals */
    { DUR "\"1 s\"", "/classes/0/arrivals", "found \"1 s\"" },
    { DUR "{\"kind\": \"poison\", \"gap\": \"1 s\"}", "/classes/0/arrivals/kind", "poison" },
    { DUR "{\"kind\": \"poisson\"}", "/classes/0/arrivals", "expected \"gap\"" },
    { DUR "{\"kind\": \"poisson\", \"gap\": \"1 s\", \"cv\": 2}", "/classes/0/arrivals/cv",
      "expected no \"cv\"" },
    { DUR "{\"kind\": \"nhpp\", \"gap\": \"1 s\"}", "/classes/0/arrivals",
      "expected hours or days" },
    { DUR "{\"kind\": \"nhpp\", \"gap\": \"1 s\", \"days\": [1, 1]}", "/classes/0/arrivals/days",
      "expected a list of 7" },
    { DUR "{\"kind\": \"nhpp\", \"gap\": \"1 s\", \"days\": [1, 1, 1, 1, -1, 1, 1]}",
      "/classes/0/arrivals/days/4", "found -1" },
    { DUR "{\"kind\": \"nhpp\", \"gap\": \"1 s\", \"days\": [0, 0, 0, 0, 0, 0, 0]}",
      "/classes/0/arrivals/days", "at least one value above 0" },
    { DUR "{\"kind\": \"gamma\", \"gap\": \"1 s\"}", "/classes/0/arrivals", "expected \"cv\"" },
    { DUR "{\"kind\": \"mmpp\", \"states\": [{\"stay\": \"1 s\"}]}", "/classes/0/arrivals/states",
      "at least two states" },
    { DUR "{\"kind\": \"mmpp\", \"states\": [{\"stay\": \"1 s\"}, {\"stay\": \"1 s\"}]}",
      "/classes/0/arrivals/states", "at least one state" },
    { DUR "{\"kind\": \"mmpp\", \"states\": [{\"gap\": \"1 s\"}, {\"stay\": \"1 s\"}]}",
      "/classes/0/arrivals/states/0", "stay" },
    { DUR "{\"kind\": \"mmpp\", \"states\": [1, 2]}", "/classes/0/arrivals/states/0", "found 1" },
    { DUR "{\"kind\": \"sessions\", \"members\": 3, \"start\": \"25 h\"}",
      "/classes/0/arrivals/start", "below 24 h" },
    { DUR
      "{\"kind\": \"sessions\", \"members\": 3, \"start\": \"5 h\", \"days\": [1, 1, 1, 1, 1, 1, 2]}",
      "/classes/0/arrivals/days/6", "from 0 to 1, found 2" },
    /* distributions */
    { ARR "\"duration\": 5", "/classes/0/duration", "found 5" },
    { ARR "\"duration\": []", "/classes/0/duration", "expected a distribution" },
    { ARR "\"duration\": {\"kind\": \"lognorm\"}", "/classes/0/duration/kind", "lognorm" },
    { ARR "\"duration\": {\"kind\": \"lognormal\", \"median\": \"1 s\"}", "/classes/0/duration",
      "median and one of" },
    { ARR "\"duration\": {\"kind\": \"lognormal\", \"median\": \"5 s\", \"p90\": \"4 s\"}",
      "/classes/0/duration", "0 < median < p90, found 5 and 4" },
    { ARR "\"duration\": {\"kind\": \"lognormal\", \"mean\": \"5 GiB\", \"cv\": 1}",
      "/classes/0/duration/mean", "found \"5 GiB\"" },
    { ARR "\"duration\": {\"kind\": \"exponential\"}", "/classes/0/duration", "expected mean" },
    { ARR "\"duration\": {\"kind\": \"exponential\", \"mean\": \"1 s\", \"cv\": 2}",
      "/classes/0/duration/cv", "expected no \"cv\"" },
    { ARR "\"duration\": {\"kind\": \"uniform\", \"min\": \"1 s\"}", "/classes/0/duration",
      "min and max" },
    { ARR "\"duration\": {\"kind\": \"uniform\", \"min\": \"3 s\", \"max\": \"2 s\"}",
      "/classes/0/duration", "min <= max, found 3 and 2" },
    { ARR "\"duration\": {\"kind\": \"weibull\", \"mean\": \"1 s\", \"cv\": 40}",
      "/classes/0/duration", "found 40" },
    { ARR "\"duration\": {\"kind\": \"weibull\", \"shape\": 1}", "/classes/0/duration",
      "shape and scale" },
    { ARR "\"duration\": {\"kind\": \"pareto\", \"min\": \"0 s\", \"alpha\": 2}",
      "/classes/0/duration", "pareto min > 0" },
    { ARR "\"duration\": {\"kind\": \"pareto\", \"min\": \"1 s\"}", "/classes/0/duration",
      "min and alpha" },
    { ARR "\"duration\": {\"kind\": \"gamma\", \"mean\": \"1 s\"}", "/classes/0/duration",
      "mean and cv" },
    { ARR "\"duration\": {\"kind\": \"choice\"}", "/classes/0/duration", "parts" },
    { ARR "\"duration\": {\"kind\": \"choice\", \"parts\": [{\"weight\": 1}]}",
      "/classes/0/duration/parts/0", "expected a value" },
    { ARR "\"duration\": {\"kind\": \"choice\", \"parts\": [{\"weight\": -1, \"value\": \"1 s\"}]}",
      "/classes/0/duration/parts/0", "found -1" },
    { ARR "\"duration\": {\"kind\": \"choice\", \"parts\": [7]}", "/classes/0/duration/parts/0",
      "found 7" },
    { ARR "\"duration\": {\"kind\": \"quantiles\", \"points\": [[0, \"1 s\"]]}",
      "/classes/0/duration", "at least two" },
    { ARR "\"duration\": {\"kind\": \"quantiles\", \"points\": [[0, \"1 s\"], [0.9, \"2 s\"]]}",
      "/classes/0/duration/points", "from p = 0 to p = 1, found 0 to 0.9" },
    { ARR "\"duration\": {\"kind\": \"quantiles\", \"points\": [[0, \"3 s\"], [1, \"2 s\"]]}",
      "/classes/0/duration/points/1", "found 1 and 2" },
    { ARR "\"duration\": {\"kind\": \"quantiles\", \"points\": [[0, \"3 s\"], 4]}",
      "/classes/0/duration/points/1", "found 4" },
    /* recordings */
    { DUR "{\"kind\": \"replay\"}", "/classes/0/arrivals", "expected \"trace\"" },
    { DUR "{\"kind\": \"replay\", \"trace\": \"no/such.csv\"}", "/classes/0/arrivals/trace",
      "found \"" },
    { DUR "{\"kind\": \"replay\", \"trace\": \"/dev/null\", \"block\": \"1 d\"}",
      "/classes/0/arrivals/block", "expected no \"block\"" },
    { DUR "{\"kind\": \"replay\", \"trace\": \"/dev/null\", \"load\": 0}",
      "/classes/0/arrivals/load", "found 0" },
    { DUR "{\"kind\": \"bootstrap\", \"trace\": \"/dev/null\"}", "/classes/0/arrivals",
      "expected \"block\"" },
    { DUR
      "{\"kind\": \"bootstrap\", \"trace\": \"/dev/null\", \"block\": \"2 d\", \"period\": \"7 d\"}",
      "/classes/0/arrivals/period", "multiple of the block of 172800 s, found 604800 s" },
    { DUR "{\"kind\": \"bootstrap\", \"trace\": \"/dev/null\", \"block\": \"1 s\"}",
      "/classes/0/arrivals/block", "found" },
    { TOP
      "\"jobs\": 1, \"gap\": \"1 s\", \"classes\": [{\"name\": \"a\", \"share\": 1, \"arrivals\": {\"kind\": \"replay\", \"trace\": \"/dev/null\"}}]}",
      "/classes/0/arrivals", "a gap in a class with a share, found \"replay\"" },
    { TOP
      "\"classes\": [{\"name\": \"a\", \"arrivals\": {\"kind\": \"bootstrap\", \"trace\": \"/dev/null\", \"block\": \"1 d\"}}]}",
      "", "expected a horizon, jobs, or a count in every class" },
    { "\"name\": \"a\", \"arrivals\": {\"kind\": \"replay\", \"trace\": \"/dev/null\"}, \"correlation\": 0.5",
      "/classes/0/correlation", "found no gpus" },
    { ARR "\"duration\": \"1 s\", \"correlation\": 1", "/classes/0/correlation", "found 1" },
    /* requests */
    { TOP "\"jobs\": 1, \"services\": [" CONV "]}", "/services",
      "expected classes of jobs, found services" },
    { TOP "\"jobs\": 1, \"services\": [], \"classes\": []}", "/services", "found both" },
    { TOP "\"jobs\": 1, \"services\": []}", "/services", "an empty one" },
    { TOP "\"jobs\": 1, \"services\": 3}", "/services", "found 3" },
    { TOP "\"jobs\": 1, \"services\": [3]}", "/services/0", "found 3" },
    { TOP "\"services\": [" CONV "]}", "", "expected a horizon" },
    { TOP "\"jobs\": 1, \"services\": [" CONV ", " CONV "]}", "/services/1/name",
      "found \"conv\" again" },
    { TOP "\"jobs\": 1, \"services\": [{\"name\": \"s\"}]}", "/services/0", "arrivals" },
    { TOP
      "\"jobs\": 1, \"services\": [{\"name\": \"s t\", \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"1 s\"}, \"input_tokens\": 1, \"output_tokens\": 1}]}",
      "/services/0/name", "found \"s t\"" },
    { TOP
      "\"jobs\": 1, \"services\": [{\"name\": \"s\", \"arrivals\": {\"kind\": \"once\", \"members\": 3}, \"input_tokens\": 1, \"output_tokens\": 1}]}",
      "/services/0/arrivals", "that requests can have, found \"once\"" },
    { TOP
      "\"jobs\": 1, \"services\": [{\"name\": \"s\", \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"1 s\"}, \"input_tokens\": \"1 s\", \"output_tokens\": 1}]}",
      "/services/0/input_tokens", "found \"1 s\"" },
    { TOP
      "\"jobs\": 1, \"targets\": [{\"quantity\": \"duration.p50\", \"value\": 1, \"source\": \"s\"}], "
      "\"services\": [" CONV "]}",
      "/targets/0/quantity", "such as \"input_tokens.p50\"" },
    { TOP
      "\"jobs\": 1, \"targets\": [{\"quantity\": \"requests\", \"class\": \"z\", \"value\": 1, \"source\": "
      "\"s\"}], \"services\": [" CONV "]}",
      "/targets/0/class", "expected the name of a service, found \"z\"" },
    /* targets */
    { TOP "\"jobs\": 1, \"targets\": 3, " GOOD "}", "/targets", "found 3" },
    { TOP
      "\"jobs\": 1, \"targets\": [{\"quantity\": \"duration.p05\", \"value\": \"1 s\", \"source\": \"s\"}], " GOOD
      "}",
      "/targets/0/quantity", "found \"duration.p05\"" },
    { TOP
      "\"jobs\": 1, \"targets\": [{\"quantity\": \"gpus.share:x\", \"value\": 1, \"source\": \"s\"}], " GOOD
      "}",
      "/targets/0/quantity", "gpus.share:x" },
    { TOP
      "\"jobs\": 1, \"targets\": [{\"quantity\": \"duration.p50\", \"value\": 1, \"source\": \"s\"}], " GOOD
      "}",
      "/targets/0/value", "found 1" },
    { TOP "\"jobs\": 1, \"targets\": [{\"quantity\": \"jobs\", \"value\": 1}], " GOOD "}",
      "/targets/0", "source" },
    { TOP
      "\"jobs\": 1, \"targets\": [{\"quantity\": \"jobs\", \"class\": \"z\", \"value\": 1, \"source\": \"s\"}], " GOOD
      "}",
      "/targets/0/class", "found \"z\"" },
};

static void every_mistake(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        bool whole = *m->klass == '{' || *m->klass == '[';
        char *text = whole ? xstrdup(m->klass)
                           : xasprintf(TOP "\"jobs\": 1, \"classes\": [{%s}]}", m->klass);
        const char *path = temp_file(".json", text);
        struct symtab *names = symtab_create();
        struct synth *s;
        struct err e = { 0 };
        if (synth_open(&s, path, 1, 0, names, NULL, &e) != ERR_INPUT)
            fail_msg("no error for %s", text);
        assert_null(s);
        assert_contains(e.where, path);
        if (*m->where) assert_contains(e.where, m->where);
        assert_contains(e.msg, m->says);
        assert_contains(e.msg, *m->where && strstr(e.msg, "unknown key") ? "key" : "found");
        symtab_destroy(names);
        free(text);
    }
}

static void no_such_file(void **state)
{
    struct symtab *names = symtab_create();
    struct synth *s;
    struct err e = { 0 };
    (void)state;
    assert_int_equal(synth_open(&s, "/nowhere/x.json", 1, 0, names, NULL, &e), ERR_IO);
    assert_null(s);
    synth_close(NULL);
    symtab_destroy(names);
}

/* All problems at once, for `gpusim check`. */
static void all_problems(void **state)
{
    static const char text[] = TOP
        "\"classes\": [{" ARR "\"duration\": 3, \"gpus\": 2.5, \"memory\": 1, \"usrs\": 2}, 5]}";
    struct arena *a = arena_create();
    struct synth_spec spec;
    struct json_doc doc;
    struct diag d;
    (void)state;
    assert_int_equal(json_doc_parse(&doc, "s", text, strlen(text), NULL), 0);
    diag_init(&d);
    synth_read(&spec, a, &doc, &d);
    assert_int_equal(d.count, 5);
    diag_fini(&d);
    json_doc_fini(&doc);
    arena_destroy(a);
}

/* Arrival kinds, laws and quantities of the published schema are those of the code, in its
 * order. */
static void same_words(const struct json_doc *doc, const char *at, const char *const *one,
                       const char *const *two)
{
    json_t *list = json_path_get(doc->root, at);
    size_t n = 0;
    for (const char *const *set = one; set; set = set == one ? two : NULL)
        for (size_t i = 0; set[i]; i++) {
            bool there = strchr(set[i], ':');
            for (size_t k = 0; k < json_array_size(list) && !there; k++)
                there = !strcmp(json_string_value(json_array_get(list, k)), set[i]);
            if (!there) fail_msg("%s lacks %s", at, set[i]);
            n += !strchr(set[i], ':');
        }
    if (two) n -= 2; /* gap.mean and gap.cv are in both */
    assert_int_equal(json_array_size(list), n);
}

static void schema_names_everything(void **state)
{
    char path[4096];
    struct json_doc doc;
    struct err e = { 0 };
    (void)state;
    if (json_doc_load(&doc, datadir_path(path, sizeof path, "schema/generate.schema.json"), &e) < 0)
        fail_msg("%s: %s", e.where, e.msg);
    same_words(&doc, "$defs.arrivals.properties.kind.enum", synth_arrival_kind_names, NULL);
    same_words(&doc, "$defs.duration.anyOf.1.properties.kind.enum", synth_dist_kind_names, NULL);
    same_words(&doc, "$defs.target.properties.quantity.anyOf.0.enum", synth_quantities,
               synth_request_quantities);
    json_doc_fini(&doc);
}

int main(void)
{
    gsl_set_error_handler_off(); /* as in gpusim's main */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws),
        cmocka_unit_test(renewal_gaps),
        cmocka_unit_test(thinning),
        cmocka_unit_test(mmpp),
        cmocka_unit_test(mmpp_silent),
        cmocka_unit_test(sessions),
        cmocka_unit_test(row_contents),
        cmocka_unit_test(columns_are_uncorrelated),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(copula),
        cmocka_unit_test(replay),
        cmocka_unit_test(replay_ends),
        cmocka_unit_test(bad_recordings),
        cmocka_unit_test(bootstrap_days),
        cmocka_unit_test(bootstrap_rounds),
        cmocka_unit_test(schema_names_everything),
        cmocka_unit_test(bootstrap_weeks),
        cmocka_unit_test(bootstrap_load),
        cmocka_unit_test(requests),
        cmocka_unit_test(services),
        cmocka_unit_test(ends_and_ties),
        cmocka_unit_test(every_mistake),
        cmocka_unit_test(no_such_file),
        cmocka_unit_test(all_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
