#include "model/synth.h"

#include "base/cfg.h"
#include "base/instream.h"
#include "base/mem.h"
#include "base/rng.h"

#include <ctype.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

/* gpus and what they come with */
struct shape {
    int32_t milli;
    bool has_memory;
    struct synth_dist memory;
};

struct synth_class {
    const char *name, *gpu_model, *gpu_allowed, *source;
    int klass; /* index into job_class_names + 1 */
    double share, cpus, zipf, correlation;
    int64_t count, users, groups, priority, slots;
    uint64_t host_memory;
    json_t *arrivals_json, *duration_json, *gpus_json, *memory_json, *profile_json, *walltime_json;
    /* derived */
    struct synth_arrival_spec arrivals;
    struct synth_dist duration, memory, factor;
    bool has_duration, has_gpus, has_memory, has_walltime;
    double no_walltime; /* share of jobs without */
    struct shape *shape;
    double *shape_cum;
    size_t n_shapes;
    const char **profile;
    double *profile_cum;
    size_t n_profiles;
    double *user_cum;
};

static const struct cfg_field class_fields[] = {
    CFG_REQUIRED(struct synth_class, name, CFG_TEXT, 0, 0, "unique; letters, digits, . _ -"),
    { .name = "class",
      .type = CFG_CHOICE,
      .offset = offsetof(struct synth_class, klass),
      .choices = job_class_names + 1,
      .help = "job class" },
    CFG_FIELD(struct synth_class, share, CFG_RATIO, NULL, 1e-9, 1, "of the overall rate 1 / gap"),
    CFG_FIELD(struct synth_class, count, CFG_INT, NULL, 1, 1e12, "at most so many jobs"),
    { .name = "arrivals",
      .type = CFG_JSON,
      .required = true,
      .offset = offsetof(struct synth_class, arrivals_json),
      .help = "arrival process" },
    { .name = "duration",
      .type = CFG_JSON,
      .offset = offsetof(struct synth_class, duration_json),
      .help = "distribution of durations" },
    { .name = "gpus",
      .type = CFG_JSON,
      .offset = offsetof(struct synth_class, gpus_json),
      .help = "a count, or [{gpus, weight, memory}]; default 1" },
    CFG_FIELD(struct synth_class, correlation, CFG_REAL, "0", -0.999, 0.999,
              "of the normal deviates behind GPUs and duration"),
    { .name = "memory",
      .type = CFG_JSON,
      .offset = offsetof(struct synth_class, memory_json),
      .help = "distribution of bytes per GPU" },
    { .name = "profile",
      .type = CFG_JSON,
      .offset = offsetof(struct synth_class, profile_json),
      .help = "a work signature, or [{name, weight}]" },
    { .name = "walltime",
      .type = CFG_JSON,
      .offset = offsetof(struct synth_class, walltime_json),
      .help = "{factor, missing}: limit = duration x factor" },
    CFG_FIELD(struct synth_class, users, CFG_INT, NULL, 1, 1000000, "how many users"),
    CFG_FIELD(struct synth_class, zipf, CFG_REAL, "0", 0, 10, "user k has weight 1 / k^zipf"),
    CFG_FIELD(struct synth_class, groups, CFG_INT, NULL, 1, 1000000,
              "user k is in group k mod groups"),
    CFG_FIELD(struct synth_class, priority, CFG_INT, NULL, -1000000, 1000000, "priority"),
    CFG_FIELD(struct synth_class, slots, CFG_INT, NULL, 1, 1000, "slots a job takes on a card"),
    CFG_FIELD(struct synth_class, cpus, CFG_REAL, NULL, 0, 1e5, "CPU cores a job"),
    CFG_FIELD(struct synth_class, host_memory, CFG_BYTES, NULL, 0, 1e18, "host memory a job"),
    CFG_FIELD(struct synth_class, gpu_model, CFG_TEXT, NULL, 0, 0, "card the durations hold on"),
    CFG_FIELD(struct synth_class, gpu_allowed, CFG_TEXT, NULL, 0, 0, "cards it may use, a|b"),
    CFG_FIELD(struct synth_class, source, CFG_TEXT, NULL, 0, 0, "where the numbers come from"),
};

struct raw_spec {
    int format;
    const char *name, *source;
    int64_t seed, jobs;
    simtime horizon, gap, origin;
    json_t *classes, *services, *targets;
};

static const char *const formats[] = { "gpusim-generate/1", NULL };
static const struct cfg_field spec_fields[] = {
    { .name = "format",
      .type = CFG_CHOICE,
      .offset = offsetof(struct raw_spec, format),
      .required = true,
      .choices = formats,
      .help = "format" },
    CFG_REQUIRED(struct raw_spec, name, CFG_TEXT, 0, 0, "name"),
    CFG_FIELD(struct raw_spec, source, CFG_TEXT, NULL, 0, 0, "where the numbers come from"),
    CFG_FIELD(struct raw_spec, seed, CFG_INT, "1", 0, 9e18, "seed unless the command names one"),
    CFG_FIELD(struct raw_spec, horizon, CFG_TIME, NULL, 1e-3, SIM_MAX_S,
              "no job is submitted later"),
    CFG_FIELD(struct raw_spec, jobs, CFG_INT, NULL, 1, 1e12, "at most so many jobs"),
    CFG_FIELD(struct raw_spec, gap, CFG_TIME, NULL, 1e-6, 1e9,
              "overall mean time between jobs of the classes with a share"),
    CFG_FIELD(struct raw_spec, origin, CFG_TIME, "0 s", 0, 604800, "time zero after Monday 00:00"),
    CFG_FIELD(struct raw_spec, classes, CFG_JSON, NULL, 0, 0, "list of classes of jobs"),
    CFG_FIELD(struct raw_spec, services, CFG_JSON, NULL, 0, 0, "list of services with requests"),
    CFG_FIELD(struct raw_spec, targets, CFG_JSON, NULL, 0, 0, "published figures to compare with"),
};

struct raw_shape {
    double gpus, weight;
    json_t *memory;
};
static const struct cfg_field shape_fields[] = {
    CFG_REQUIRED(struct raw_shape, gpus, CFG_REAL, 0, 100000, "GPUs"),
    CFG_REQUIRED(struct raw_shape, weight, CFG_REAL, 0, 1e12, "weight"),
    CFG_FIELD(struct raw_shape, memory, CFG_JSON, NULL, 0, 0, "distribution of bytes per GPU"),
};

struct raw_profile {
    const char *name;
    double weight;
};
static const struct cfg_field profile_fields[] = {
    CFG_REQUIRED(struct raw_profile, name, CFG_TEXT, 0, 0, "name of a work signature"),
    CFG_REQUIRED(struct raw_profile, weight, CFG_REAL, 0, 1e12, "weight"),
};

struct raw_walltime {
    json_t *factor;
    double missing;
};
static const struct cfg_field walltime_fields[] = {
    CFG_REQUIRED(struct raw_walltime, factor, CFG_JSON, 0, 0, "distribution of limit / duration"),
    CFG_FIELD(struct raw_walltime, missing, CFG_RATIO, "0", 0, 1, "share of jobs without a limit"),
};

struct raw_target {
    const char *quantity, *klass, *source;
    json_t *value;
    double tolerance;
};
static const struct cfg_field target_fields[] = {
    CFG_REQUIRED(struct raw_target, quantity, CFG_TEXT, 0, 0, "what is compared"),
    { .name = "class",
      .type = CFG_TEXT,
      .offset = offsetof(struct raw_target, klass),
      .help = "name of a class; absent: all jobs" },
    CFG_REQUIRED(struct raw_target, value, CFG_JSON, 0, 0, "published value"),
    CFG_FIELD(struct raw_target, tolerance, CFG_RATIO, "0.05", 0, 10, "relative"),
    CFG_REQUIRED(struct raw_target, source, CFG_TEXT, 0, 0, "where it was published"),
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

const char *const synth_quantities[] = { "jobs",         "jobs_per_day",  "gap.mean",
                                         "gap.cv",       "duration.mean", "duration.cv",
                                         "duration.p10", "duration.p25",  "duration.p50",
                                         "duration.p75", "duration.p90",  "duration.p95",
                                         "duration.p99", "gpus.mean",     "gpus.fractional",
                                         "memory.mean",  "gpu_hours",     "load",
                                         "gpus.p50",     "gpus.share:N",  NULL };
#define TOKENS(which)                                                                              \
    which ".mean", which ".cv", which ".p10", which ".p25", which ".p50", which ".p75",            \
        which ".p90", which ".p95", which ".p99"
const char *const synth_request_quantities[] = { "requests",
                                                 "requests_per_s",
                                                 "gap.mean",
                                                 "gap.cv",
                                                 TOKENS("input_tokens"),
                                                 TOKENS("output_tokens"),
                                                 "tokens.rank_correlation",
                                                 NULL };
#undef TOKENS

enum synth_unit synth_quantity_unit(const char *q)
{
    if (!strcmp(q, "duration.cv") || !strcmp(q, "gap.cv")) return SYNTH_NUMBER;
    if (!strncmp(q, "duration.", 9) || !strncmp(q, "gap.", 4)) return SYNTH_SECONDS;
    return strncmp(q, "memory.", 7) ? SYNTH_NUMBER : SYNTH_BYTES;
}

struct ctx {
    struct arena *a;
    const struct json_doc *doc;
    struct diag *d;
};

/* Object at `pointer` into *out by its table; false after a problem. */
static bool read_object(const struct ctx *c, const struct cfg_field *f, size_t n, void *out,
                        json_t *v, const char *pointer, const char *what)
{
    size_t before = c->d->count;
    char found[80];
    if (!json_is_object(v))
        json_problem(c->d, c->doc, pointer, "expected %s, found %s", what,
                     json_found(found, sizeof found, v));
    else
        cfg_read(f, n, out, c->a, c->doc, v, pointer, NULL, 0, c->d);
    return c->d->count == before;
}

static void cumulate(const struct ctx *c, double *w, size_t n, const char *pointer)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) w[i] = total += w[i];
    if (!(total > 0)) {
        json_problem(c->d, c->doc, pointer, "expected weights that add up to more than 0, found %g",
                     total);
        return;
    }
    for (size_t i = 0; i < n; i++) w[i] /= total;
}

static int32_t milli_of(const struct ctx *c, double gpus, const char *pointer)
{
    double milli = gpus * 1000;
    int32_t m = (int32_t)lround(milli);
    if (fabs(milli - m) < 1e-6 && (m > 0 || gpus == 0) && job_gpus_ok(m)) return m;
    json_problem(c->d, c->doc, pointer,
                 "expected gpus as a whole number or a fraction below 1 in thousandths, found %g",
                 gpus);
    return 0;
}

/* By GPUs, with their weights: a high deviate is then a large job. A handful: insertion sort. */
static void sort_shapes(struct synth_class *k)
{
    for (size_t i = 1; i < k->n_shapes; i++) {
        struct shape sh = k->shape[i];
        double w = k->shape_cum[i];
        size_t j = i;
        for (; j && k->shape[j - 1].milli > sh.milli; j--) {
            k->shape[j] = k->shape[j - 1];
            k->shape_cum[j] = k->shape_cum[j - 1];
        }
        k->shape[j] = sh;
        k->shape_cum[j] = w;
    }
}

static void read_shapes(const struct ctx *c, struct synth_class *k, json_t *v, const char *pointer)
{
    char p[256], q[256], found[80];
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    if ((v && !json_is_number(v) && !json_is_array(v)) || !n ||
        (json_is_number(v) && !(json_number_value(v) >= 0 && json_number_value(v) <= 100000))) {
        json_problem(c->d, c->doc, pointer,
                     "expected a number of GPUs or a list [{gpus, weight}], found %s",
                     json_found(found, sizeof found, v));
        return;
    }
    k->shape = arena_array(c->a, n, sizeof *k->shape);
    k->shape_cum = arena_array(c->a, n, sizeof *k->shape_cum);
    k->n_shapes = n;
    for (size_t i = 0; i < n; i++) k->shape_cum[i] = 1;
    if (!json_is_array(v)) {
        k->shape[0].milli = v ? milli_of(c, json_number_value(v), pointer) : 1000;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct raw_shape r;
        json_pointer_index(p, sizeof p, pointer, i);
        if (!read_object(c, shape_fields, COUNT(shape_fields), &r, json_array_get(v, i), p,
                         "an object {gpus, weight}"))
            continue;
        k->shape_cum[i] = r.weight;
        k->shape[i].milli = milli_of(c, r.gpus, json_pointer_key(q, sizeof q, p, "gpus"));
        k->shape[i].has_memory = r.memory;
        if (r.memory)
            synth_dist_read(&k->shape[i].memory, c->a, c->doc, r.memory,
                            json_pointer_key(q, sizeof q, p, "memory"), SYNTH_BYTES, c->d);
    }
    if (k->correlation != 0) sort_shapes(k);
    cumulate(c, k->shape_cum, n, pointer);
}

static void read_profiles(const struct ctx *c, struct synth_class *k, json_t *v,
                          const char *pointer)
{
    char p[256], found[80];
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    if (!n || (!json_is_string(v) && !json_is_array(v))) {
        json_problem(c->d, c->doc, pointer, "expected a name or a list [{name, weight}], found %s",
                     json_found(found, sizeof found, v));
        return;
    }
    k->profile = arena_array(c->a, n, sizeof *k->profile);
    k->profile_cum = arena_array(c->a, n, sizeof *k->profile_cum);
    k->n_profiles = n;
    k->profile_cum[0] = 1;
    if (json_is_string(v)) {
        k->profile[0] = arena_strdup(c->a, json_string_value(v));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct raw_profile r;
        json_pointer_index(p, sizeof p, pointer, i);
        if (!read_object(c, profile_fields, COUNT(profile_fields), &r, json_array_get(v, i), p,
                         "an object {name, weight}"))
            continue;
        k->profile[i] = r.name;
        k->profile_cum[i] = r.weight;
    }
    cumulate(c, k->profile_cum, n, pointer);
}

static void read_walltime(const struct ctx *c, struct synth_class *k, json_t *v,
                          const char *pointer)
{
    struct raw_walltime r;
    char p[256];
    if (!read_object(c, walltime_fields, COUNT(walltime_fields), &r, v, pointer,
                     "an object {factor, missing}"))
        return;
    k->has_walltime = true;
    k->no_walltime = r.missing;
    synth_dist_read(&k->factor, c->a, c->doc, r.factor,
                    json_pointer_key(p, sizeof p, pointer, "factor"), SYNTH_NUMBER, c->d);
}

static void zipf_table(const struct ctx *c, struct synth_class *k)
{
    size_t n = (size_t)k->users;
    double total = 0;
    k->user_cum = arena_array(c->a, n, sizeof *k->user_cum);
    for (size_t i = 0; i < n; i++) k->user_cum[i] = total += pow((double)(i + 1), -k->zipf);
    for (size_t i = 0; i < n; i++) k->user_cum[i] /= total;
}

bool synth_name_ok(const char *s)
{
    if (!*s || strlen(s) > 64) return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("._-", *s)) return false;
    return true;
}

/* The parts of a class that have their own readers. Absent ones were told where required. */
static void read_parts(const struct ctx *c, struct synth_class *k, const char *pointer,
                       double shared_gap_s)
{
    char p[256];
    if (k->arrivals_json)
        synth_arrival_read(&k->arrivals, c->a, c->doc, k->arrivals_json,
                           json_pointer_key(p, sizeof p, pointer, "arrivals"), shared_gap_s, c->d);
    k->has_duration = k->duration_json;
    k->has_gpus = k->gpus_json || !synth_arrival_replays(&k->arrivals);
    if (k->arrivals_json && !k->duration_json && !synth_arrival_replays(&k->arrivals))
        json_problem(c->d, c->doc, pointer, "expected a \"duration\", found none");
    if (k->duration_json)
        synth_dist_read(&k->duration, c->a, c->doc, k->duration_json,
                        json_pointer_key(p, sizeof p, pointer, "duration"), SYNTH_SECONDS, c->d);
    if (k->has_gpus)
        read_shapes(c, k, k->gpus_json, json_pointer_key(p, sizeof p, pointer, "gpus"));
    k->has_memory = k->memory_json;
    if (k->memory_json)
        synth_dist_read(&k->memory, c->a, c->doc, k->memory_json,
                        json_pointer_key(p, sizeof p, pointer, "memory"), SYNTH_BYTES, c->d);
    if (k->profile_json)
        read_profiles(c, k, k->profile_json, json_pointer_key(p, sizeof p, pointer, "profile"));
    if (k->walltime_json)
        read_walltime(c, k, k->walltime_json, json_pointer_key(p, sizeof p, pointer, "walltime"));
}

static void read_class(const struct ctx *c, struct synth_class *k, json_t *v, const char *pointer,
                       double gap_s)
{
    char p[256];
    double shared = NAN;
    bool sound =
        read_object(c, class_fields, COUNT(class_fields), k, v, pointer, "a class, an object");
    if (!k->name) k->name = "";
    if (!json_is_object(v)) return;
    if (sound && !synth_name_ok(k->name))
        json_problem(c->d, c->doc, json_pointer_key(p, sizeof p, pointer, "name"),
                     "expected up to 64 letters, digits, dots, - or _, found \"%s\"", k->name);
    if (json_object_get(v, "share")) {
        if (isnan(gap_s))
            json_problem(c->d, c->doc, json_pointer_key(p, sizeof p, pointer, "share"),
                         "expected a gap at the top beside shares, found none");
        shared = isnan(gap_s) || !sound ? 1 : gap_s / k->share;
    }
    read_parts(c, k, pointer, shared);
    if (sound && k->correlation != 0 && (!k->has_duration || !k->has_gpus))
        json_problem(c->d, c->doc, json_pointer_key(p, sizeof p, pointer, "correlation"),
                     "expected a duration and gpus beside the correlation of both, found %s",
                     k->has_gpus ? "no duration" : "no gpus");
    if (sound && k->users != CFG_NO_INT) zipf_table(c, k);
}

static void read_classes(const struct ctx *c, struct synth_spec *out, json_t *list, double gap_s)
{
    char p[256], q[256], found[80];
    size_t n = json_array_size(list);
    double shares = 0;
    bool any = false;
    size_t before = c->d->count;
    if (!n) {
        json_problem(c->d, c->doc, "/classes", "expected a list of classes, found %s",
                     json_is_array(list) ? "an empty one" : json_found(found, sizeof found, list));
        return;
    }
    out->cls = arena_array(c->a, n, sizeof *out->cls);
    out->n_cls = n;
    for (size_t i = 0; i < n; i++) {
        struct synth_class *k = &out->cls[i];
        json_pointer_index(p, sizeof p, "/classes", i);
        k->share = NAN;
        read_class(c, k, json_array_get(list, i), p, gap_s);
        for (size_t j = 0; j < i; j++)
            if (*k->name && !strcmp(out->cls[j].name, k->name))
                json_problem(c->d, c->doc, json_pointer_key(q, sizeof q, p, "name"),
                             "expected a new name, found \"%s\" again", k->name);
        if (isnan(k->share)) continue;
        any = true;
        shares += k->share;
    }
    if (any && c->d->count == before && fabs(shares - 1) > 1e-6)
        json_problem(c->d, c->doc, "/classes", "expected shares that add up to 1, found %g",
                     shares);
}

static bool known_quantity(const char *q, const char *const *known)
{
    for (size_t i = 0; known[i]; i++)
        if (!strcmp(q, known[i]) && !strchr(q, ':')) return true;
    if (known != synth_quantities || strncmp(q, "gpus.share:", 11) != 0) return false;
    char *end;
    double gpus = strtod(q + 11, &end);
    return end != q + 11 && !*end && gpus >= 0 && gpus <= 100000;
}

static void read_target(const struct ctx *c, const struct synth_spec *s, struct synth_target *t,
                        json_t *v, const char *pointer)
{
    struct raw_target r;
    char p[256];
    bool known = false;
    const char *const *list = s->n_svc ? synth_request_quantities : synth_quantities;
    size_t listed = 0;
    while (list[listed]) listed++;
    if (!read_object(c, target_fields, COUNT(target_fields), &r, v, pointer, "a target, an object"))
        return;
    *t = (struct synth_target){ r.quantity, r.klass, 0, r.tolerance, r.source };
    if (!known_quantity(r.quantity, list)) {
        const char *near = str_nearest(r.quantity, list, listed);
        struct err *e =
            json_problem(c->d, c->doc, json_pointer_key(p, sizeof p, pointer, "quantity"),
                         "expected a quantity such as \"%s\", found \"%s\"",
                         s->n_svc ? "input_tokens.p50" : "duration.p50", r.quantity);
        if (near) err_hint(e, "did you mean \"%s\"?", near);
        return;
    }
    for (size_t i = 0; r.klass && i < s->n_cls; i++) known |= !strcmp(r.klass, s->cls[i].name);
    for (size_t i = 0; r.klass && i < s->n_svc; i++) known |= !strcmp(r.klass, s->svc[i].name);
    if (r.klass && !known)
        json_problem(c->d, c->doc, json_pointer_key(p, sizeof p, pointer, "class"),
                     "expected the name of a %s, found \"%s\"", s->n_svc ? "service" : "class",
                     r.klass);
    synth_value(&t->value, c->doc, r.value, json_pointer_key(p, sizeof p, pointer, "value"),
                synth_quantity_unit(r.quantity), c->d);
}

static void read_targets(const struct ctx *c, struct synth_spec *out, json_t *list)
{
    char p[256], found[80];
    if (!list) return;
    if (!json_is_array(list)) {
        json_problem(c->d, c->doc, "/targets", "expected a list of targets, found %s",
                     json_found(found, sizeof found, list));
        return;
    }
    out->n_targets = json_array_size(list);
    out->target = arena_array(c->a, out->n_targets + 1, sizeof *out->target);
    for (size_t i = 0; i < out->n_targets; i++) {
        json_pointer_index(p, sizeof p, "/targets", i);
        read_target(c, out, &out->target[i], json_array_get(list, i), p);
    }
}

/* Without an end the stream would be endless. */
static bool ends(const struct synth_spec *s)
{
    if (s->horizon != CFG_NO_TIME || s->jobs != CFG_NO_INT) return true;
    for (size_t i = 0; i < s->n_cls; i++)
        if (s->cls[i].count == CFG_NO_INT && !synth_arrival_ends(&s->cls[i].arrivals)) return false;
    for (size_t i = 0; i < s->n_svc; i++)
        if (s->svc[i].count == CFG_NO_INT && !synth_arrival_ends(&s->svc[i].arrivals)) return false;
    return true;
}

static void read_work(const struct ctx *c, struct synth_spec *out, const struct raw_spec *r)
{
    const double gap_s = r->gap == CFG_NO_TIME ? NAN : simtime_s(r->gap);
    if (r->services && r->classes)
        json_problem(c->d, c->doc, "/services",
                     "expected either classes of jobs or services with requests, found both");
    else if (r->services)
        synth_services_read(&out->svc, &out->n_svc, c->a, c->doc, r->services, c->d);
    else if (r->classes)
        read_classes(c, out, r->classes, gap_s);
    else
        json_problem(c->d, c->doc, "", "expected classes or services, found neither");
}

void synth_read(struct synth_spec *out, struct arena *a, const struct json_doc *doc, struct diag *d)
{
    struct ctx c = { a, doc, d };
    struct raw_spec r;
    size_t before = d->count;
    *out = (struct synth_spec){ 0 };
    sha256_hex(doc->text ? doc->text : "", doc->len, out->sha256);
    if (!read_object(&c, spec_fields, COUNT(spec_fields), &r, doc->root, "", "an object")) return;
    out->name = r.name;
    out->seed = (uint64_t)r.seed;
    out->horizon = r.horizon;
    out->jobs = r.jobs;
    out->origin = r.origin;
    read_work(&c, out, &r);
    read_targets(&c, out, r.targets);
    if (d->count == before && !ends(out))
        json_problem(d, doc, "", "expected a horizon, jobs, or a count in every class, found none");
}

const char *synth_class_name(const struct synth_spec *s, size_t i)
{
    return s->cls[i].name;
}

double synth_class_rate(const struct synth_spec *s, size_t i)
{
    return synth_arrival_rate(&s->cls[i].arrivals);
}

static size_t people(const struct synth_class *k)
{
    if (k->users != CFG_NO_INT) return (size_t)k->users;
    bool members =
        k->arrivals.kind == SYNTH_ARRIVAL_sessions || k->arrivals.kind == SYNTH_ARRIVAL_once;
    return members ? (size_t)k->arrivals.members : 0;
}

static bool any_memory(const struct synth_class *k)
{
    bool any = k->has_memory;
    for (size_t i = 0; i < k->n_shapes; i++) any |= k->shape[i].has_memory;
    return any;
}

static unsigned spec_columns(const struct synth_spec *s)
{
    unsigned c = 0;
    for (size_t i = 0; i < s->n_cls; i++) {
        const struct synth_class *k = &s->cls[i];
        if (any_memory(k)) c |= TRACE_COL(gpu_mem_bytes);
        if (k->gpu_model) c |= TRACE_COL(gpu_model);
        if (k->gpu_allowed) c |= TRACE_COL(gpu_allowed);
        if (!isnan(k->cpus)) c |= TRACE_COL(cpus);
        if (k->host_memory != CFG_NO_BYTES) c |= TRACE_COL(mem_bytes);
        if (people(k)) c |= TRACE_COL(user);
        if (people(k) && k->groups != CFG_NO_INT) c |= TRACE_COL(group);
        if (k->klass != CFG_NO_CHOICE) c |= TRACE_COL(class);
        if (k->n_profiles) c |= TRACE_COL(profile);
        if (k->priority != CFG_NO_INT) c |= TRACE_COL(priority);
        if (k->has_walltime) c |= TRACE_COL(walltime_s);
        if (k->slots != CFG_NO_INT) c |= TRACE_COL(slots);
    }
    return c;
}

/* One class at work: its next job is ready in `row`, or `done`. */
struct source {
    const struct synth_class *k;
    struct synth_arrival *arrivals; /* NULL: replay or bootstrap */
    struct synth_replay *replay;
    gsl_rng *duration, *gpus, *memory, *profile, *user, *walltime;
    sym *profile_sym, *user_sym, *group_sym;
    sym model, allowed;
    uint64_t n; /* jobs made */
    bool done;
    struct job_row row;
    char id[96];
};

struct synth {
    const struct synth_spec *spec;
    struct symtab *names;
    struct source *src;
    size_t last; /* source whose row the caller holds; n_cls: none */
    int64_t left;
    simtime until;
    struct arena *arena; /* of the specification, when synth_open read it */
};

static gsl_rng *stream(uint64_t seed, uint64_t rep, const char *klass, const char *purpose)
{
    char name[160];
    snprintf(name, sizeof name, "synth/%s/%s", klass, purpose);
    return rng_create(seed, rep, name);
}

static int source_init(struct source *s, const struct synth_class *k, const struct synth *all,
                       uint64_t seed, uint64_t rep, struct err *e)
{
    char purpose[96];
    int rc = 0;
    s->k = k;
    snprintf(purpose, sizeof purpose, "synth/%s/arrivals", k->name);
    if (synth_arrival_replays(&k->arrivals))
        rc = synth_replay_open(&s->replay, &k->arrivals.replay, all->names, seed, rep, purpose, e);
    else
        s->arrivals =
            synth_arrival_create(&k->arrivals, simtime_s(all->spec->origin), seed, rep, purpose);
    s->duration = stream(seed, rep, k->name, "duration");
    s->gpus = stream(seed, rep, k->name, "gpus");
    s->memory = stream(seed, rep, k->name, "memory");
    s->profile = stream(seed, rep, k->name, "profile");
    s->user = stream(seed, rep, k->name, "user");
    s->walltime = stream(seed, rep, k->name, "walltime");
    s->user_sym = xcalloc(people(k) + 1, sizeof *s->user_sym);
    s->group_sym = xcalloc(k->groups == CFG_NO_INT ? 1 : (size_t)k->groups, sizeof *s->group_sym);
    s->profile_sym = xcalloc(k->n_profiles + 1, sizeof *s->profile_sym);
    for (size_t i = 0; i < k->n_profiles; i++)
        s->profile_sym[i] = symtab_addz(all->names, k->profile[i]);
    s->model = k->gpu_model ? symtab_addz(all->names, k->gpu_model) : 0;
    s->allowed = k->gpu_allowed ? symtab_addz(all->names, k->gpu_allowed) : 0;
    return rc;
}

static void free_stream(gsl_rng *r)
{
    if (r) gsl_rng_free(r);
}

static void source_fini(struct source *s)
{
    synth_arrival_destroy(s->arrivals);
    synth_replay_close(s->replay);
    free_stream(s->duration);
    free_stream(s->gpus);
    free_stream(s->memory);
    free_stream(s->profile);
    free_stream(s->user);
    free_stream(s->walltime);
    free(s->user_sym);
    free(s->group_sym);
    free(s->profile_sym);
}

/* Symbol of "<class>-<letter><number from 1>", made when first met. */
static sym numbered(struct symtab *names, sym *known, const char *klass, char letter, size_t i)
{
    char name[96];
    if (!known[i]) {
        snprintf(name, sizeof name, "%s-%c%zu", klass, letter, i + 1);
        known[i] = symtab_addz(names, name);
    }
    return known[i];
}

static void set_user(struct source *s, struct symtab *names, int64_t member)
{
    const struct synth_class *k = s->k;
    size_t who;
    if (k->users != CFG_NO_INT)
        who = synth_pick(k->user_cum, (size_t)k->users, gsl_rng_uniform(s->user));
    else if (member >= 0)
        who = (size_t)member;
    else
        return;
    s->row.user = numbered(names, s->user_sym, k->name, 'u', who);
    if (k->groups != CFG_NO_INT)
        s->row.group = numbered(names, s->group_sym, k->name, 'g', who % (size_t)k->groups);
}

/* Seconds to whole milliseconds, at least 1, at most what a trace may hold. */
static simtime to_ms(double s)
{
    if (!(s < SIM_MAX_S)) s = SIM_MAX_S;
    simtime ms = llround(s * 1e3);
    return (ms < 1 ? 1 : ms) * MS;
}

/* GPUs and duration. Correlated, both come from normal deviates (a Gaussian copula): GPUs from the
 * same uniform number as without, so that a correlation does not move them. */
static const struct shape *set_length(struct source *s)
{
    const struct synth_class *k = s->k;
    const struct shape *sh = NULL;
    double z = 0;
    if (k->has_gpus) {
        double u = gsl_rng_uniform(s->gpus);
        sh = &k->shape[synth_pick(k->shape_cum, k->n_shapes, u)];
        s->row.gpus_milli = sh->milli;
        if (k->correlation != 0) z = gsl_cdf_ugaussian_Pinv(fmax(u, 0x1p-33));
    }
    if (!k->has_duration) return sh;
    if (k->correlation == 0) {
        s->row.duration = to_ms(synth_dist_draw(&k->duration, s->duration));
        return sh;
    }
    double own = gsl_ran_ugaussian(s->duration);
    double both = k->correlation * z + sqrt(1 - k->correlation * k->correlation) * own;
    s->row.duration = to_ms(synth_dist_quantile(&k->duration, synth_normal_share(both)));
    return sh;
}

static void set_size(struct source *s)
{
    const struct synth_class *k = s->k;
    struct job_row *row = &s->row;
    const struct shape *sh = set_length(s);
    const struct synth_dist *mem = sh && sh->has_memory ? &sh->memory
                                   : k->has_memory      ? &k->memory
                                                        : NULL;
    if (mem) row->gpu_mem_bytes = (uint64_t)(synth_dist_draw(mem, s->memory) + 0.5);
    if (k->n_profiles)
        row->profile =
            s->profile_sym[synth_pick(k->profile_cum, k->n_profiles, gsl_rng_uniform(s->profile))];
    if (k->has_walltime) {
        /* both are drawn always, so the share without a limit does not shift the limits */
        double missing = gsl_rng_uniform(s->walltime);
        double factor = synth_dist_draw(&k->factor, s->walltime);
        row->walltime =
            missing >= k->no_walltime ? to_ms(factor * simtime_s(row->duration)) : JOB_NO_TIME;
    }
}

/* What the class says of every job. Over a replayed row it stands, where it says something. */
static void set_fixed(struct source *s)
{
    const struct synth_class *k = s->k;
    struct job_row *row = &s->row;
    if (s->model) row->gpu_model = s->model;
    if (s->allowed) row->gpu_allowed = s->allowed;
    if (!isnan(k->cpus)) row->cpus_milli = (int32_t)lround(k->cpus * 1000);
    if (k->host_memory != CFG_NO_BYTES) row->mem_bytes = k->host_memory;
    if (k->klass != CFG_NO_CHOICE) row->klass = (enum job_class)(k->klass + 1);
    if (k->priority != CFG_NO_INT) row->priority = (int32_t)k->priority;
    if (k->slots != CFG_NO_INT) row->slots = (int32_t)k->slots;
}

/* When, and what a recording knows of it. 1, 0 at the end, negative: error. */
static int source_arrive(struct synth *all, struct source *s, int64_t *member, struct err *e)
{
    *member = -1;
    if (s->replay) return synth_replay_next(s->replay, all->until, &s->row, e);
    double until_s = simtime_s(all->until);
    double t = synth_arrival_next(s->arrivals, until_s, member);
    if (!(t < until_s)) return 0;
    job_row_init(&s->row);
    s->row.submit = (simtime)floor(t * 1e3) * MS;
    return 1;
}

static int source_advance(struct synth *all, struct source *s, struct err *e)
{
    const struct synth_class *k = s->k;
    int64_t member;
    int rc = 0;
    if (k->count == CFG_NO_INT || s->n < (uint64_t)k->count) rc = source_arrive(all, s, &member, e);
    s->done = rc <= 0;
    if (rc <= 0) return rc;
    set_fixed(s);
    set_size(s);
    set_user(s, all->names, member);
    s->n++;
    s->row.id = s->id;
    s->row.id_len =
        (size_t)snprintf(s->id, sizeof s->id, "%s-%llu", k->name, (unsigned long long)s->n);
    return 0;
}

int synth_create(struct synth **out, const struct synth_spec *spec, uint64_t seed,
                 uint64_t replication, struct symtab *names, struct err *e)
{
    struct synth *s = xcalloc(1, sizeof *s);
    int rc = 0;
    BUG_ON(spec->n_svc);
    *out = NULL;
    s->spec = spec;
    s->names = names;
    s->last = spec->n_cls;
    s->left = spec->jobs == CFG_NO_INT ? INT64_MAX : spec->jobs;
    s->until = spec->horizon == CFG_NO_TIME ? (simtime)(SIM_MAX_S * 1e9) : spec->horizon;
    s->src = xcalloc(spec->n_cls, sizeof *s->src);
    for (size_t i = 0; i < spec->n_cls && rc == 0; i++) {
        rc = source_init(&s->src[i], &spec->cls[i], s, seed, replication, e);
        if (rc == 0) rc = source_advance(s, &s->src[i], e);
    }
    if (rc < 0)
        synth_close(s);
    else
        *out = s;
    return rc;
}

int synth_open(struct synth **out, const char *spec_path, uint64_t seed, uint64_t replication,
               struct symtab *names, struct err *e)
{
    struct json_doc doc;
    struct diag d;
    struct synth_spec *spec;
    struct arena *a = NULL;
    *out = NULL;
    int rc = json_doc_load(&doc, spec_path, e);
    if (rc < 0) return rc;
    diag_init(&d);
    a = arena_create();
    spec = arena_array(a, 1, sizeof *spec);
    synth_read(spec, a, &doc, &d);
    if (!d.count && spec->n_svc)
        json_problem(&d, &doc, "/services",
                     "expected classes of jobs, found services with requests");
    rc = diag_result(&d, e);
    if (rc == 0) rc = synth_create(out, spec, seed, replication, names, e);
    if (rc == 0) {
        (*out)->arena = a;
        a = NULL;
    }
    arena_destroy(a);
    diag_fini(&d);
    json_doc_fini(&doc);
    return rc;
}

void synth_close(struct synth *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->spec->n_cls; i++) source_fini(&s->src[i]);
    free(s->src);
    arena_destroy(s->arena);
    free(s);
}

int synth_next(struct synth *s, struct job_row *row, struct err *e)
{
    struct source *best = NULL;
    if (s->last < s->spec->n_cls) {
        int rc = source_advance(s, &s->src[s->last], e);
        if (rc < 0) return rc;
    }
    s->last = s->spec->n_cls;
    if (!s->left) return 0;
    for (size_t i = 0; i < s->spec->n_cls; i++) {
        struct source *c = &s->src[i];
        if (c->done || (best && c->row.submit >= best->row.submit)) continue;
        best = c;
        s->last = i;
    }
    if (!best) return 0;
    s->left--;
    *row = best->row;
    return 1;
}

unsigned synth_columns(const struct synth *s)
{
    unsigned c = spec_columns(s->spec);
    for (size_t i = 0; i < s->spec->n_cls; i++)
        if (s->src[i].replay) c |= synth_replay_columns(s->src[i].replay);
    return c;
}

size_t synth_left_out(const struct synth *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->spec->n_cls; i++)
        if (s->src[i].replay) n += synth_replay_left_out(s->src[i].replay);
    return n;
}

const struct synth_spec *synth_spec(const struct synth *s)
{
    return s->spec;
}

size_t synth_row_class(const struct synth *s)
{
    return s->last;
}
