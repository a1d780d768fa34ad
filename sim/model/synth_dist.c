#include "model/synth_dist.h"

#include "base/cfg.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <string.h>

const char *const synth_dist_kind_names[SYNTH_KINDS + 1] = {
#define X(name) #name,
    SYNTH_KIND_MAP(X)
#undef X
        NULL
};

#define Z90 1.2815515655446004 /* 0.9 quantile of the standard normal distribution */

/* As written; the values stay JSON because their unit depends on where the distribution stands. */
struct raw {
    int kind;
    json_t *value, *mean, *median, *p90, *scale, *min, *max, *parts, *points;
    double cv, shape, alpha;
};

static const struct cfg_field fields[] = {
    { .name = "kind",
      .type = CFG_CHOICE,
      .offset = offsetof(struct raw, kind),
      .required = true,
      .choices = synth_dist_kind_names,
      .help = "family" },
    CFG_FIELD(struct raw, value, CFG_JSON, NULL, 0, 0, "constant: the value"),
    CFG_FIELD(struct raw, mean, CFG_JSON, NULL, 0, 0, "mean"),
    CFG_FIELD(struct raw, median, CFG_JSON, NULL, 0, 0, "lognormal: median"),
    CFG_FIELD(struct raw, p90, CFG_JSON, NULL, 0, 0, "lognormal: 90th percentile"),
    CFG_FIELD(struct raw, scale, CFG_JSON, NULL, 0, 0, "weibull: scale"),
    CFG_FIELD(struct raw, min, CFG_JSON, NULL, 0, 0, "lower bound"),
    CFG_FIELD(struct raw, max, CFG_JSON, NULL, 0, 0, "upper bound"),
    CFG_FIELD(struct raw, parts, CFG_JSON, NULL, 0, 0, "choice, hyperexponential: [{weight, ...}]"),
    CFG_FIELD(struct raw, points, CFG_JSON, NULL, 0, 0, "quantiles: [[p, value], ...]"),
    CFG_FIELD(struct raw, cv, CFG_REAL, NULL, 1e-6, 1000, "standard deviation / mean"),
    CFG_FIELD(struct raw, shape, CFG_REAL, NULL, 0.01, 1000, "weibull: shape"),
    CFG_FIELD(struct raw, alpha, CFG_REAL, NULL, 0.01, 100, "pareto: tail exponent"),
};
enum { FIELDS_N = sizeof fields / sizeof *fields };

/* Keys each kind may have beside min and max. */
static const char *const kind_keys[SYNTH_KINDS] = {
    [SYNTH_constant] = "value",   [SYNTH_uniform] = "",
    [SYNTH_exponential] = "mean", [SYNTH_lognormal] = "mean median p90 cv",
    [SYNTH_gamma] = "mean cv",    [SYNTH_weibull] = "mean scale shape cv",
    [SYNTH_pareto] = "alpha",     [SYNTH_hyperexponential] = "parts",
    [SYNTH_quantiles] = "points", [SYNTH_choice] = "parts",
};

struct ctx {
    const struct json_doc *doc;
    const char *pointer;
    enum synth_unit unit;
    struct diag *d;
    struct arena *a;
};

static bool in_words(const char *words, const char *w)
{
    size_t len = strlen(w);
    for (const char *p = words; (p = strstr(p, w)); p += len)
        if ((p == words || p[-1] == ' ') && (p[len] == ' ' || !p[len])) return true;
    return false;
}

static const char *unit_text(enum synth_unit unit)
{
    switch (unit) {
    case SYNTH_SECONDS: return unit_expected(UNIT_TIME);
    case SYNTH_BYTES: return unit_expected(UNIT_BYTES);
    case SYNTH_NUMBER: break;
    }
    return "a number >= 0";
}

bool synth_value(double *out, const struct json_doc *doc, const json_t *v, const char *pointer,
                 enum synth_unit unit, struct diag *d)
{
    char found[80];
    const char *nearest = NULL;
    const char *text = json_string_value(v);
    simtime ns;
    uint64_t bytes;
    if (unit == SYNTH_NUMBER && json_is_number(v) && json_number_value(v) >= 0) {
        *out = json_number_value(v);
        return true;
    }
    if (unit == SYNTH_SECONDS && text && unit_parse_time(text, &ns, &nearest) == 0) {
        *out = simtime_s(ns);
        return true;
    }
    if (unit == SYNTH_BYTES && text && unit_parse_bytes(text, &bytes, &nearest) == 0) {
        *out = (double)bytes;
        return true;
    }
    struct err *e = json_problem(d, doc, pointer, "expected %s, found %s", unit_text(unit),
                                 json_found(found, sizeof found, v));
    if (nearest) err_hint(e, "did you mean \"%s\"?", nearest);
    *out = 0;
    return false;
}

/* The value of an optional key, NAN when absent or wrong. */
static double value_of(const struct ctx *c, const json_t *v, const char *key)
{
    char p[256];
    double x;
    if (!v) return NAN;
    json_pointer_key(p, sizeof p, c->pointer, key);
    return synth_value(&x, c->doc, v, p, c->unit, c->d) ? x : NAN;
}

static void missing(const struct ctx *c, enum synth_dist_kind kind, const char *needs)
{
    json_problem(c->d, c->doc, c->pointer, "expected %s for kind \"%s\", found other keys", needs,
                 synth_dist_kind_names[kind]);
}

static double weibull_cv(double shape)
{
    double g1 = gsl_sf_lngamma(1 + 1 / shape), g2 = gsl_sf_lngamma(1 + 2 / shape);
    return sqrt(expm1(g2 - 2 * g1));
}

/* Shape with the wanted coefficient of variation: cv falls with the shape, so bisect its log. */
static double weibull_shape(double cv)
{
    double lo = log(0.05), hi = log(1000);
    for (int i = 0; i < 200 && hi - lo > 1e-14; i++) {
        double mid = 0.5 * (lo + hi);
        if (weibull_cv(exp(mid)) > cv)
            lo = mid;
        else
            hi = mid;
    }
    return exp(0.5 * (lo + hi));
}

static struct synth_dist dist_const(double value)
{
    return (struct synth_dist){ .kind = SYNTH_constant, .a = value, .min = 0, .max = INFINITY };
}

struct synth_dist synth_unit_gamma(double cv)
{
    return (struct synth_dist){
        .kind = SYNTH_gamma, .a = 1 / (cv * cv), .b = cv * cv, .max = INFINITY
    };
}

struct synth_dist synth_unit_weibull(double cv)
{
    double shape = weibull_shape(cv);
    return (struct synth_dist){
        .kind = SYNTH_weibull, .a = 1 / gsl_sf_gamma(1 + 1 / shape), .b = shape, .max = INFINITY
    };
}

/* Two of the four keys fix mu and sigma: (median, p90), (median, mean), (median, cv), (mean, cv).
 */
static void lognormal(struct synth_dist *out, const struct ctx *c, const struct raw *r, double mean)
{
    double median = value_of(c, r->median, "median"), p90 = value_of(c, r->p90, "p90");
    bool has_cv = !isnan(r->cv);
    int given = !!r->median + !!r->mean + !!r->p90 + has_cv;
    if (given != 2 || (!r->median && !(r->mean && has_cv))) {
        missing(c, SYNTH_lognormal, "median and one of p90, mean and cv, or mean and cv");
        return;
    }
    double location = r->median ? median : mean;
    double other = r->p90 ? p90 : mean;
    if (isnan(location) || (!has_cv && isnan(other))) return; /* already told */
    if (!(location > 0) || (!has_cv && !(other > location))) {
        json_problem(c->d, c->doc, c->pointer, "expected %s, found %g and %g",
                     r->p90    ? "0 < median < p90"
                     : !has_cv ? "0 < median < mean"
                               : "a median or mean above 0",
                     location, has_cv ? r->cv : other);
        return;
    }
    out->b = has_cv   ? sqrt(log1p(r->cv * r->cv))
             : r->p90 ? log(p90 / median) / Z90
                      : sqrt(2 * log(mean / median));
    out->a = r->median ? log(median) : log(mean) - 0.5 * out->b * out->b;
}

static void weibull(struct synth_dist *out, const struct ctx *c, const struct raw *r, double mean)
{
    double scale = value_of(c, r->scale, "scale");
    bool by_cv = !isnan(r->cv) && r->mean && !r->scale && isnan(r->shape);
    bool by_shape = !isnan(r->shape) && isnan(r->cv) && !r->mean != !r->scale;
    if (!by_cv && !by_shape) {
        missing(c, SYNTH_weibull, "shape and scale, shape and mean, or mean and cv");
        return;
    }
    if (by_cv && (r->cv < WEIBULL_CV_MIN || r->cv > WEIBULL_CV_MAX)) {
        json_problem(c->d, c->doc, c->pointer, "expected a weibull cv from %g to %g, found %g",
                     WEIBULL_CV_MIN, WEIBULL_CV_MAX, r->cv);
        return;
    }
    out->b = by_cv ? weibull_shape(r->cv) : r->shape;
    out->a = r->mean ? mean / gsl_sf_gamma(1 + 1 / out->b) : scale;
}

static void pareto(struct synth_dist *out, const struct ctx *c, const struct raw *r)
{
    if (!r->min || isnan(r->alpha)) {
        missing(c, SYNTH_pareto, "min and alpha");
        return;
    }
    if (out->min <= 0) json_problem(c->d, c->doc, c->pointer, "expected a pareto min > 0, found 0");
    out->a = out->min;
    out->b = out->max;
    out->alpha = r->alpha;
}

/* Weights and values of [{weight, KEY}]; weights become cumulative shares. */
static void parts(struct synth_dist *out, const struct ctx *c, json_t *list, const char *key)
{
    size_t n = json_array_size(list);
    double total = 0;
    char p[256], q[256], found[80];
    const char *keys[] = { "weight", key };
    if (!n) {
        missing(c, out->kind, "parts, a list of {weight, value or mean}");
        return;
    }
    out->x = arena_array(c->a, n, sizeof *out->x);
    out->y = arena_array(c->a, n, sizeof *out->y);
    out->n = n;
    json_pointer_key(q, sizeof q, c->pointer, "parts");
    for (size_t i = 0; i < n; i++) {
        json_t *part = json_array_get(list, i);
        json_t *w = json_object_get(part, "weight");
        json_pointer_index(p, sizeof p, q, i);
        if (!json_is_object(part)) {
            json_problem(c->d, c->doc, p, "expected an object {weight, %s}, found %s", key,
                         json_found(found, sizeof found, part));
            continue;
        }
        json_known_keys(c->d, c->doc, part, p, keys, 2);
        if (!json_is_number(w) || !(json_number_value(w) >= 0))
            json_problem(c->d, c->doc, p, "expected a weight >= 0, found %s",
                         json_found(found, sizeof found, w));
        total += json_number_value(w);
        out->x[i] = total;
        struct ctx in = *c;
        in.pointer = p;
        if (!json_object_get(part, key))
            json_problem(c->d, c->doc, p, "expected a %s, found none", key);
        out->y[i] = value_of(&in, json_object_get(part, key), key);
    }
    if (!(total > 0)) {
        json_problem(c->d, c->doc, q, "expected weights that add up to more than 0, found %g",
                     total);
        return;
    }
    for (size_t i = 0; i < n; i++) out->x[i] /= total;
}

static void quantiles(struct synth_dist *out, const struct ctx *c, json_t *list)
{
    size_t n = json_array_size(list);
    char p[256], q[256], at[256], found[80];
    if (n < 2) {
        missing(c, SYNTH_quantiles, "points, a list of at least two [p, value]");
        return;
    }
    out->x = arena_array(c->a, n, sizeof *out->x);
    out->y = arena_array(c->a, n, sizeof *out->y);
    out->n = n;
    json_pointer_key(q, sizeof q, c->pointer, "points");
    for (size_t i = 0; i < n; i++) {
        json_t *pt = json_array_get(list, i);
        json_t *prob = json_array_get(pt, 0);
        json_pointer_index(p, sizeof p, q, i);
        if (json_array_size(pt) != 2 || !json_is_number(prob)) {
            json_problem(c->d, c->doc, p, "expected a pair [p, value], found %s",
                         json_found(found, sizeof found, pt));
            continue;
        }
        out->x[i] = json_number_value(prob);
        json_pointer_index(at, sizeof at, p, 1);
        synth_value(&out->y[i], c->doc, json_array_get(pt, 1), at, c->unit, c->d);
        if (i && !(out->x[i] > out->x[i - 1] && out->y[i] >= out->y[i - 1]))
            json_problem(c->d, c->doc, p,
                         "expected p above and value not below those before it, found %g and %g",
                         out->x[i], out->y[i]);
    }
    if (out->x[0] != 0 || out->x[n - 1] != 1)
        json_problem(c->d, c->doc, q, "expected points from p = 0 to p = 1, found %g to %g",
                     out->x[0], out->x[n - 1]);
}

static void fill(struct synth_dist *out, const struct ctx *c, const struct raw *r)
{
    double mean = value_of(c, r->mean, "mean");
    switch (out->kind) {
    case SYNTH_constant:
        if (!r->value) missing(c, out->kind, "value");
        out->a = value_of(c, r->value, "value");
        return;
    case SYNTH_uniform:
        if (!r->min || !r->max) missing(c, out->kind, "min and max");
        out->a = out->min;
        out->b = out->max;
        return;
    case SYNTH_exponential:
        if (!r->mean) missing(c, out->kind, "mean");
        out->a = mean;
        return;
    case SYNTH_gamma:
        if (!r->mean || isnan(r->cv)) missing(c, out->kind, "mean and cv");
        out->a = 1 / (r->cv * r->cv);
        out->b = mean * r->cv * r->cv;
        return;
    case SYNTH_lognormal: lognormal(out, c, r, mean); return;
    case SYNTH_weibull: weibull(out, c, r, mean); return;
    case SYNTH_pareto: pareto(out, c, r); return;
    case SYNTH_hyperexponential: parts(out, c, r->parts, "mean"); return;
    case SYNTH_choice: parts(out, c, r->parts, "value"); return;
    case SYNTH_quantiles: quantiles(out, c, r->points); return;
    case SYNTH_KINDS: break;
    }
    BUG("distribution kind %d", (int)out->kind);
}

/* A key that the chosen kind ignores would be believed by whoever wrote it. */
static void unused_keys(const struct ctx *c, json_t *obj, enum synth_dist_kind kind)
{
    char p[256];
    for (size_t i = 1; i < FIELDS_N; i++) {
        const char *key = fields[i].name;
        if (!json_object_get(obj, key) || in_words(kind_keys[kind], key)) continue;
        if ((!strcmp(key, "min") || !strcmp(key, "max")) && kind != SYNTH_constant) continue;
        json_pointer_key(p, sizeof p, c->pointer, key);
        json_problem(c->d, c->doc, p, "expected no \"%s\" for kind \"%s\", found one", key,
                     synth_dist_kind_names[kind]);
    }
}

void synth_dist_read(struct synth_dist *out, struct arena *a, const struct json_doc *doc, json_t *v,
                     const char *pointer, enum synth_unit unit, struct diag *d)
{
    struct ctx c = { doc, pointer, unit, d, a };
    struct raw r;
    double value;
    char found[80];
    size_t before = d->count;
    *out = dist_const(0);
    if (json_is_string(v) || json_is_number(v)) {
        if (synth_value(&value, doc, v, pointer, unit, d)) out->a = value;
        return;
    }
    if (!json_is_object(v)) {
        json_problem(d, doc, pointer, "expected a distribution or %s, found %s", unit_text(unit),
                     json_found(found, sizeof found, v));
        return;
    }
    cfg_read(fields, FIELDS_N, &r, a, doc, v, pointer, NULL, 0, d);
    if (d->count == before) {
        out->kind = (enum synth_dist_kind)r.kind;
        if (r.min) out->min = value_of(&c, r.min, "min");
        if (r.max) out->max = value_of(&c, r.max, "max");
        unused_keys(&c, v, out->kind);
        fill(out, &c, &r);
        if (out->min > out->max)
            json_problem(d, doc, pointer, "expected min <= max, found %g and %g", out->min,
                         out->max);
    }
    if (d->count != before) *out = dist_const(0);
}

size_t synth_pick(const double *cumulative, size_t n, double u)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (u < cumulative[mid])
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static double draw_quantile(const struct synth_dist *s, double u)
{
    size_t i = 1;
    size_t hi = s->n - 1;
    while (i < hi) { /* first i with u <= x[i] */
        size_t mid = i + (hi - i) / 2;
        if (u <= s->x[mid])
            hi = mid;
        else
            i = mid + 1;
    }
    double f = (u - s->x[i - 1]) / (s->x[i] - s->x[i - 1]);
    double lo = s->y[i - 1], up = s->y[i];
    if (lo > 0) return lo * pow(up / lo, f);
    return lo + f * (up - lo);
}

static double draw_pareto(const struct synth_dist *s, double u)
{
    double tail = isinf(s->b) ? 0 : pow(s->a / s->b, s->alpha);
    return s->a * pow(1 - u * (1 - tail), -1 / s->alpha);
}

/* A mixture of exponentials has no closed inverse: bisect, since its distribution function
 * rises. */
static double hyperexponential_quantile(const struct synth_dist *s, double u)
{
    double lo = 0, hi = 0;
    for (size_t i = 0; i < s->n; i++) hi = fmax(hi, s->y[i]);
    hi *= -log1p(-u); /* even the slowest part alone has reached u there */
    for (int k = 0; k < 100 && hi - lo > 1e-13 * hi; k++) {
        double mid = 0.5 * (lo + hi), tail = 0, before = 0;
        for (size_t i = 0; i < s->n; i++) {
            tail += (s->x[i] - before) * (s->y[i] > 0 ? exp(-mid / s->y[i]) : 0);
            before = s->x[i];
        }
        if (1 - tail < u)
            lo = mid;
        else
            hi = mid;
    }
    return 0.5 * (lo + hi);
}

/* How far the share below x lies above u, from the smaller of both tails. */
static double excess(double x, double u, double shape)
{
    return u < 0.5 ? gsl_cdf_gamma_P(x, shape, 1) - u : 1 - u - gsl_cdf_gamma_Q(x, shape, 1);
}

/* Gamma law of scale 1. gsl_cdf_gamma_Pinv gives NaN or a wrong root for shapes far from 1, so its
 * answer is checked and else found by bisection of ln x. Beyond a shape of 1e4 Wilson and Hilferty
 * (1931): the cube root is normal, to less than 1e-4 of a standard deviation. */
static double unit_gamma_quantile(double u, double shape)
{
    if (shape > 1e4) {
        double c = 1 / (9 * shape), r = 1 - c + gsl_cdf_ugaussian_Pinv(u) * sqrt(c);
        return shape * r * r * r;
    }
    double x = gsl_cdf_gamma_Pinv(u, shape, 1), lo = -745, hi = log(shape + 1e4);
    if (x > 0 && x < INFINITY && fabs(excess(x, u, shape)) < 1e-7 * fmin(u, 1 - u)) return x;
    if (excess(exp(lo), u, shape) >= 0) return 0; /* below the smallest number there is */
    for (int i = 0; i < 100 && hi - lo > 1e-13 * fabs(lo) + 1e-13; i++) {
        double mid = 0.5 * (lo + hi);
        if (excess(exp(mid), u, shape) < 0)
            lo = mid;
        else
            hi = mid;
    }
    return exp(0.5 * (lo + hi));
}

/* Parts need not stand in order: the smallest value with a share u at or below it. */
static double choice_quantile(const struct synth_dist *s, double u)
{
    double best = INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        double below = 0, before = 0;
        for (size_t j = 0; j < s->n; j++) {
            if (s->y[j] <= s->y[i]) below += s->x[j] - before;
            before = s->x[j];
        }
        if (below >= u - 1e-12 && s->y[i] < best) best = s->y[i];
    }
    return best;
}

static double quantile(const struct synth_dist *s, double u)
{
    switch (s->kind) {
    case SYNTH_constant: return s->a;
    case SYNTH_uniform: return s->a + (s->b - s->a) * u;
    case SYNTH_exponential: return gsl_cdf_exponential_Pinv(u, s->a);
    case SYNTH_lognormal: return gsl_cdf_lognormal_Pinv(u, s->a, s->b);
    case SYNTH_gamma: return s->b * unit_gamma_quantile(u, s->a);
    case SYNTH_weibull: return gsl_cdf_weibull_Pinv(u, s->a, s->b);
    case SYNTH_pareto: return draw_pareto(s, u);
    case SYNTH_hyperexponential: return hyperexponential_quantile(s, u);
    case SYNTH_quantiles: return draw_quantile(s, u);
    case SYNTH_choice: return choice_quantile(s, u);
    case SYNTH_KINDS: break;
    }
    BUG("distribution kind %d", (int)s->kind);
}

static double draw(const struct synth_dist *s, gsl_rng *r)
{
    switch (s->kind) {
    case SYNTH_constant: return s->a;
    case SYNTH_uniform: return s->a + (s->b - s->a) * gsl_rng_uniform(r);
    case SYNTH_exponential: return gsl_ran_exponential(r, s->a);
    case SYNTH_lognormal: return gsl_ran_lognormal(r, s->a, s->b);
    case SYNTH_gamma: return gsl_ran_gamma(r, s->a, s->b);
    case SYNTH_weibull: return gsl_ran_weibull(r, s->a, s->b);
    case SYNTH_pareto: return draw_pareto(s, gsl_rng_uniform(r));
    case SYNTH_hyperexponential:
        return gsl_ran_exponential(r, s->y[synth_pick(s->x, s->n, gsl_rng_uniform(r))]);
    case SYNTH_quantiles: return draw_quantile(s, gsl_rng_uniform(r));
    case SYNTH_choice: return s->y[synth_pick(s->x, s->n, gsl_rng_uniform(r))];
    case SYNTH_KINDS: break;
    }
    BUG("distribution kind %d", (int)s->kind);
}

static double bounded(const struct synth_dist *s, double x)
{
    if (x < s->min) return s->min;
    return x > s->max ? s->max : x;
}

double synth_dist_draw(const struct synth_dist *s, gsl_rng *r)
{
    return bounded(s, draw(s, r));
}

double synth_dist_quantile(const struct synth_dist *s, double u)
{
    return bounded(s, quantile(s, u));
}

double synth_normal_share(double z)
{
    return fmin(fmax(gsl_cdf_ugaussian_P(z), 1e-15), 1 - 1e-15);
}
