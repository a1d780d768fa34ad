#include "calibrate/profile_write.h"

#include "base/mem.h"
#include "base/vec.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct param_def def;
    enum param_status status;
    struct estimate est;
    char *method, *reason;
    double *samples;
    size_t samples_n;
    json_t *points; /* of a curve; else NULL */
};

struct profile_out {
    char *gpu;
    VEC(struct entry) entry;
    profile_tell *tell; /* NULL: nobody wants to know */
    void *told;
};

/* What goes from one process to another of the same program: this, then the texts with their
 * ends, then the samples. */
struct packed {
    enum param_status status;
    struct estimate est;
    size_t method, reason, points, samples; /* bytes; 0: none */
};

static const char *const status_names[] = {
    [PARAM_MEASURED] = "measured",
    [PARAM_NOT_MEASURED] = "not measured",
    [PARAM_IMPLAUSIBLE] = "implausible",
};

struct profile_out *profile_out_create(const char *gpu)
{
    struct profile_out *o = xcalloc(1, sizeof *o);
    o->gpu = xstrdup(gpu);
    return o;
}

void profile_out_destroy(struct profile_out *o)
{
    if (!o) return;
    for (size_t i = 0; i < o->entry.n; i++) {
        free(o->entry.v[i].method);
        free(o->entry.v[i].reason);
        free(o->entry.v[i].samples);
        json_decref(o->entry.v[i].points);
    }
    vec_fini(&o->entry);
    free(o->gpu);
    free(o);
}

static const struct entry *find(const struct profile_out *o, const char *group, const char *key)
{
    for (size_t i = 0; i < o->entry.n; i++) {
        const struct entry *e = &o->entry.v[i];
        if (strcmp(e->def.group, group) == 0 && strcmp(e->def.key, key) == 0) return e;
    }
    return NULL;
}

static void pack(const struct entry *e, struct strbuf *b)
{
    char *points = e->points ? json_dumps(e->points, JSON_REAL_PRECISION(17)) : NULL;
    struct packed p;
    memset(&p, 0, sizeof p); /* padding too: it is copied as bytes */
    p.status = e->status;
    p.est = e->est;
    p.method = e->method ? strlen(e->method) + 1 : 0;
    p.reason = e->reason ? strlen(e->reason) + 1 : 0;
    p.points = points ? strlen(points) + 1 : 0;
    p.samples = e->samples_n * sizeof *e->samples;
    strbuf_add(b, (const char *)&p, sizeof p);
    if (p.method) strbuf_add(b, e->method, p.method);
    if (p.reason) strbuf_add(b, e->reason, p.reason);
    if (p.points) strbuf_add(b, points, p.points);
    if (p.samples) strbuf_add(b, (const char *)e->samples, p.samples);
    free(points);
}

/* A parameter has one fate: were it told twice, it could be both a number and missing. */
static void add(struct profile_out *o, struct entry *e)
{
    struct strbuf b = { 0 };
    if (find(o, e->def.group, e->def.key))
        BUG("parameter %s.%s is told twice", e->def.group, e->def.key);
    vec_push(&o->entry, *e);
    if (!o->tell) return;
    pack(e, &b);
    o->tell(o->told, &e->def, b.s, b.len);
    strbuf_fini(&b);
}

void profile_out_tell(struct profile_out *o, profile_tell *tell, void *told)
{
    o->tell = tell;
    o->told = told;
}

static char *take_text(const char **at, size_t bytes)
{
    char *text = bytes ? xstrndup(*at, bytes - 1) : NULL;
    *at += bytes;
    return text;
}

void profile_out_take(struct profile_out *o, const struct param_def *def, const void *bytes,
                      size_t n)
{
    const char *at = (const char *)bytes + sizeof(struct packed);
    struct packed p;
    BUG_ON(n < sizeof p);
    memcpy(&p, bytes, sizeof p);
    BUG_ON(n != sizeof p + p.method + p.reason + p.points + p.samples);
    struct entry e = { .def = *def, .status = p.status, .est = p.est };
    e.method = take_text(&at, p.method);
    e.reason = take_text(&at, p.reason);
    char *points = take_text(&at, p.points);
    if (points) e.points = json_loads(points, 0, NULL);
    free(points);
    e.samples_n = p.samples / sizeof *e.samples;
    if (p.samples) {
        e.samples = xmalloc(p.samples);
        memcpy(e.samples, at, p.samples);
    }
    add(o, &e);
}

/* Why the estimate cannot be a number in a profile; NULL when it can. To be freed. */
static char *find_fault(const struct param_def *def, const struct sampler *s,
                        const struct estimate *e, const struct bound *b, enum param_status *status)
{
    *status = PARAM_NOT_MEASURED;
    if (s->n == 0 && s->discarded)
        return xasprintf("all %zu samples were taken while the card was throttled", s->discarded);
    if (s->n == 0) return xasprintf("no sample within %.3g s", s->rule.seconds);

    *status = PARAM_IMPLAUSIBLE;
    if (!isfinite(e->median)) return xstrdup("not a finite number");
    if (e->high < def->min || e->low > def->max)
        return xasprintf("%.4g %s is outside %.4g .. %.4g, where every card lies", e->median,
                         def->unit, def->min, def->max);
    if (b && e->median > b->max)
        return xasprintf("%.4g %s is above %s", e->median, def->unit, b->why_max);
    if (b && e->median < b->min)
        return xasprintf("%.4g %s is below %s", e->median, def->unit, b->why_min);
    *status = PARAM_MEASURED;
    return NULL;
}

static char *describe_method(const char *method, const struct sampler *s, const struct estimate *e)
{
    struct strbuf m = { 0 };
    strbuf_addf(&m, "%s; median, %.1f %% order-statistic interval", method, 100 * e->coverage);
    if (s->give > 0) strbuf_addf(&m, ", +-%.2g for the clock and the edges of windows", s->give);
    if (e->discarded) strbuf_addf(&m, "; %zu throttled samples discarded", e->discarded);
    if (!e->target_met) strbuf_addf(&m, "; target of +-%.2g %% missed", 100 * s->rule.relative);
    return m.s;
}

/* What no card can do is not in its interval either: the end that reaches beyond is cut back to
 * the bound, and a median that noise alone put there. The reason; NULL: nothing was cut. */
static const char *cut_interval(const struct param_def *def, const struct bound *b,
                                struct estimate *e)
{
    const char *why = NULL;
    if (e->low < def->min || e->high > def->max) why = "what any card has reached";
    e->low = fmax(e->low, def->min);
    e->high = fmin(e->high, def->max);
    e->median = fmin(fmax(e->median, def->min), def->max);
    if (b && e->high > b->max) {
        e->high = b->max;
        why = b->why_max;
    }
    if (b && e->low < b->min) {
        e->low = b->min;
        why = b->why_min;
    }
    return why;
}

enum param_status profile_out_put(struct profile_out *o, const struct param_def *def,
                                  const struct sampler *s, const struct bound *b,
                                  const char *method)
{
    struct entry n = { .def = *def, .est = sampler_estimate(s), .samples_n = s->n };
    n.reason = find_fault(def, s, &n.est, b, &n.status);
    n.method = describe_method(method, s, &n.est);
    const char *cut = n.status == PARAM_MEASURED ? cut_interval(def, b, &n.est) : NULL;
    if (cut) {
        char *whole = n.method;
        n.method = xasprintf("%s; interval cut off at %s", whole, cut);
        free(whole);
    }
    if (s->n) {
        n.samples = xreallocarray(NULL, s->n, sizeof *n.samples);
        memcpy(n.samples, s->v, s->n * sizeof *n.samples);
    }
    add(o, &n);
    return n.status;
}

enum param_status profile_out_curve(struct profile_out *o, const struct param_def *def,
                                    const double share[], const double speed[], size_t n,
                                    const char *method)
{
    struct entry e = { .def = *def, .status = PARAM_MEASURED, .points = json_array() };
    e.est = (struct estimate){
        .median = n ? speed[0] : NAN, .low = NAN, .high = NAN, .drift = NAN, .target_met = true
    };
    for (size_t i = 0; i < n; i++) {
        if (!(speed[i] > 0)) e.status = PARAM_IMPLAUSIBLE;
        json_array_append_new(e.points,
                              json_pack("[o, o]", json_num(share[i]), json_num(fmin(speed[i], 1))));
    }
    if (n == 0) e.status = PARAM_NOT_MEASURED;
    if (e.status != PARAM_MEASURED) e.reason = xstrdup(n ? "a speed is not positive" : "no point");
    e.method = xstrdup(method);
    add(o, &e);
    return e.status;
}

const char *profile_out_gpu(const struct profile_out *o)
{
    return o->gpu;
}

double profile_out_drift(const struct profile_out *o, const char **key)
{
    double most = NAN;
    for (size_t i = 0; i < o->entry.n; i++) {
        const struct entry *e = &o->entry.v[i];
        if (e->status != PARAM_MEASURED || e->def.detail || !(e->est.drift >= 0)) continue;
        if (isnan(most) || e->est.drift > most) {
            most = e->est.drift;
            *key = e->def.key;
        }
    }
    return most;
}

void profile_out_missing(struct profile_out *o, const struct param_def *def, const char *fmt, ...)
{
    struct entry n = { .def = *def, .status = PARAM_NOT_MEASURED };
    struct strbuf b = { 0 };
    va_list ap;
    va_start(ap, fmt);
    strbuf_vaddf(&b, fmt, ap);
    va_end(ap);
    n.reason = b.s;
    add(o, &n);
}

const struct estimate *profile_out_estimate(const struct profile_out *o, const char *group,
                                            const char *key)
{
    const struct entry *e = find(o, group, key);
    return e && e->status == PARAM_MEASURED ? &e->est : NULL;
}

size_t profile_out_implausible(const struct profile_out *o, const char **first)
{
    size_t n = 0;
    for (size_t i = 0; i < o->entry.n; i++)
        if (o->entry.v[i].status == PARAM_IMPLAUSIBLE && n++ == 0) *first = o->entry.v[i].reason;
    return n;
}

double profile_out_value(const struct profile_out *o, const char *group, const char *key)
{
    const struct entry *e = find(o, group, key);
    return e && e->status == PARAM_MEASURED ? e->est.median : NAN;
}

const char *profile_out_reason(const struct profile_out *o, const char *group, const char *key)
{
    const struct entry *e = find(o, group, key);
    return e ? e->reason : NULL;
}

size_t profile_out_measured(const struct profile_out *o)
{
    size_t n = 0;
    for (size_t i = 0; i < o->entry.n; i++)
        n += o->entry.v[i].status == PARAM_MEASURED && !o->entry.v[i].def.detail;
    return n;
}

static json_t *param_json(const struct entry *e)
{
    json_t *p = json_object();
    if (e->points) {
        json_object_set(p, "points", e->points);
        json_object_set_new(p, "method", json_string(e->method));
        json_object_set_new(p, "provenance", json_string(status_names[PARAM_MEASURED]));
        return p;
    }
    json_object_set_new(p, "value", json_num(e->est.median));
    json_object_set_new(p, "unit", json_string(e->def.unit));
    json_object_set_new(p, "low", json_num(e->est.low));
    json_object_set_new(p, "high", json_num(e->est.high));
    json_object_set_new(p, "n", json_integer((json_int_t)e->est.n));
    json_object_set_new(p, "method", json_string(e->method));
    json_object_set_new(p, "provenance", json_string(status_names[PARAM_MEASURED]));
    return p;
}

json_t *profile_out_json(const struct profile_out *o, json_t *device)
{
    json_t *root = json_object(), *missing = json_object();
    char name[128];

    json_object_set_new(root, "format", json_string("gpusim-profile/1"));
    json_object_set_new(root, "gpu", json_string(o->gpu));
    json_object_set(root, "device", device);
    for (size_t i = 0; i < o->entry.n; i++) {
        const struct entry *e = &o->entry.v[i];
        if (e->def.detail) continue;
        if (e->status == PARAM_MEASURED) {
            json_t *group = json_object_get(root, e->def.group);
            if (!group) {
                group = json_object();
                json_object_set_new(root, e->def.group, group);
            }
            json_object_set_new(group, e->def.key, param_json(e));
        } else {
            snprintf(name, sizeof name, "%s.%s", e->def.group, e->def.key);
            json_object_set_new(missing, name,
                                json_sprintf("%s: %s", status_names[e->status], e->reason));
        }
    }
    json_object_set_new(root, "not_measured", missing);
    return root;
}

static double most(const double v[], size_t n)
{
    double max = NAN;
    for (size_t i = 0; i < n; i++) max = fmax(max, v[i]);
    return max;
}

static json_t *samples_json(const struct entry *e)
{
    json_t *p = json_object(), *v;
    json_object_set_new(p, "status", json_string(status_names[e->status]));
    if (e->reason) json_object_set_new(p, "reason", json_string(e->reason));
    json_object_set_new(p, "unit", json_string(e->def.unit));
    if (e->points) {
        json_object_set(p, "points", e->points);
        json_object_set_new(p, "method", json_string(e->method));
        return p;
    }
    if (e->method) {
        json_object_set_new(p, "method", json_string(e->method));
        json_object_set_new(p, "median", json_num(e->est.median));
        json_object_set_new(p, "low", json_num(e->est.low));
        json_object_set_new(p, "high", json_num(e->est.high));
        json_object_set_new(p, "coverage", json_num(e->est.coverage));
        json_object_set_new(p, "mad", json_num(e->est.mad));
        json_object_set_new(p, "p95", json_num(e->est.p95));
        json_object_set_new(p, "p99", json_num(e->est.p99));
        json_object_set_new(p, "max", json_num(most(e->samples, e->samples_n)));
        json_object_set_new(p, "drift", json_num(e->est.drift));
        json_object_set_new(p, "n", json_integer((json_int_t)e->est.n));
        json_object_set_new(p, "discarded", json_integer((json_int_t)e->est.discarded));
        json_object_set_new(p, "target_met", json_boolean(e->est.target_met));
    }
    v = json_array();
    for (size_t i = 0; i < e->samples_n; i++) json_array_append_new(v, json_num(e->samples[i]));
    json_object_set_new(p, "samples", v);
    return p;
}

json_t *profile_out_samples_json(const struct profile_out *o)
{
    json_t *root = json_object(), *params = json_object();
    char name[128];

    json_object_set_new(root, "format", json_string("gpusim-samples/1"));
    json_object_set_new(root, "gpu", json_string(o->gpu));
    for (size_t i = 0; i < o->entry.n; i++) {
        const struct entry *e = &o->entry.v[i];
        snprintf(name, sizeof name, "%s.%s", e->def.group, e->def.key);
        json_object_set_new(params, name, samples_json(e));
    }
    json_object_set_new(root, "parameters", params);
    return root;
}

/* How many entries from the first on are of its group and missing for its reason. */
static size_t alike(const struct entry *e, size_t most)
{
    size_t n = 1;
    while (n < most && e[n].status == e->status && strcmp(e[n].def.group, e->def.group) == 0 &&
           strcmp(e[n].reason, e->reason) == 0)
        n++;
    return n;
}

void profile_out_table(const struct profile_out *o, FILE *to)
{
    size_t n = 1;
    for (size_t i = 0; i < o->entry.n; i += n) {
        const struct entry *e = &o->entry.v[i];
        n = e->status == PARAM_MEASURED ? 1 : alike(e, o->entry.n - i);
        fprintf(to, "%-9s %-22s ", e->def.group, e->def.key);
        if (e->status != PARAM_MEASURED) {
            fprintf(to, "%s: %s", status_names[e->status], e->reason);
            if (n == 2) fprintf(to, " (so is %s)", e[1].def.key);
            if (n > 2) fprintf(to, " (so are the next %zu, to %s)", n - 1, e[n - 1].def.key);
            fputc('\n', to);
        } else if (e->points)
            fprintf(to, "%.3g at the least of %zu points\n", e->est.median,
                    json_array_size(e->points));
        else
            fprintf(to, "%.5g %s  [%.5g, %.5g]  n %zu%s%s\n", e->est.median, e->def.unit,
                    e->est.low, e->est.high, e->est.n, e->est.target_met ? "" : "  target missed",
                    e->est.drift > 0.03 ? "  drifts" : "");
    }
}
