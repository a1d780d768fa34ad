/* synth_spec.c - specifications of synthetic work ("gpusim-generate/1"): read, checked, derived. */
#include "model/synth_class.h"

#include "base/cfg.h"
#include "base/instream.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

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

static enum synth_unit quantity_unit(const char *q)
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
    if (!json_is_object(v)) {
        json_problem(c->d, c->doc, pointer, "expected %s, found %s", what,
                     json_found(found, sizeof found, v));
        return false;
    }
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
        struct synth_shape sh = k->shape[i];
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
    if (sound && k->gpu_allowed && !job_cards_good(k->gpu_allowed, strlen(k->gpu_allowed)))
        json_problem(c->d, c->doc, json_pointer_key(p, sizeof p, pointer, "gpu_allowed"),
                     "expected cards with one | between them, such as v100|t4, found \"%s\"",
                     k->gpu_allowed);
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
                quantity_unit(r.quantity), c->d);
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

const char *synth_class_recording(const struct synth_spec *s, size_t i)
{
    const struct synth_arrival_spec *a = &s->cls[i].arrivals;
    return synth_arrival_replays(a) ? a->replay.trace : NULL;
}

const char *synth_class_name(const struct synth_spec *s, size_t i)
{
    return s->cls[i].name;
}

double synth_class_rate(const struct synth_spec *s, size_t i)
{
    return synth_arrival_rate(&s->cls[i].arrivals);
}
