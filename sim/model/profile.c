/* model/profile.c - the parameter table and its files. */
#include "model/profile.h"

#include "base/str.h"

#include "model/fields.h"

#include <math.h>
#include <string.h>

#define FORMAT     "gpusim-profile/1"
#define COUNTOF(x) (sizeof(x) / sizeof *(x))

const char *const provenance_names[PROV_COUNT + 1] = { "measured", "published", "assumed", NULL };

const struct profile_field profile_fields[PROFILE_COUNT] = {
#define X(group_, key_, unit_, dflt_, low_, high_, min_, max_, prov_, source_, help_)              \
    [PROFILE_##group_##_##                                                                         \
        key_] = { #group_, #key_, unit_, { dflt_, low_, high_, PROV_##prov_, source_ },            \
                  min_,    max_,  help_ },
    PROFILE_MAP(X)
#undef X
};

/* Keys of a file besides the groups. What calibrate adds about the run is kept and not read. */
static const char *const other_keys[] = {
    "format", "name", "gpu", "device", "not_measured", "note"
};
static const char *const param_keys[] = { "value",  "unit",       "low",    "high", "n",
                                          "method", "provenance", "source", "note" };
/* Holds a table, not a number: the share of full speed against the share of the SMs. */
static const char width_curve[] = "width_curve", width_at[] = "/base/width_curve";
static const char *const width_keys[] = { "points", "provenance", "source", "method", "note" };

void profile_defaults(struct gpu_profile *out)
{
    *out = (struct gpu_profile){ .name = "defaults" };
    for (int p = 0; p < PROFILE_COUNT; p++) out->param[p] = profile_fields[p].dflt;
}

int profile_param_find(const char *group, const char *key)
{
    for (int p = 0; p < PROFILE_COUNT; p++)
        if (strcmp(profile_fields[p].group, group) == 0 && strcmp(profile_fields[p].key, key) == 0)
            return p;
    return -1;
}

struct reader {
    struct arena *a;
    const struct json_doc *doc;
    struct diag *d;
};

/* A number of the entry within the parameter's bounds; NAN when absent or null. */
static double bounded(struct reader *r, json_t *obj, const char *at, const char *key,
                      const struct profile_field *f)
{
    char found[80];
    json_t *v = json_object_get(obj, key);
    if (!v || json_is_null(v)) return NAN;
    double x = json_number_value(v);
    if (!json_is_number(v))
        json_problem(r->d, r->doc, at, "expected \"%s\" to be a number in %s, found %s", key,
                     f->unit, json_found(found, sizeof found, v));
    else if (x < f->min)
        json_problem(r->d, r->doc, at, "%s %g %s is below the least possible, %g", key, x, f->unit,
                     f->min);
    else if (x > f->max)
        json_problem(r->d, r->doc, at, "%s %g %s is above the greatest possible, %g", key, x,
                     f->unit, f->max);
    else
        return x;
    return NAN;
}

static bool present(const json_t *obj, const char *key)
{
    const json_t *v = json_object_get(obj, key);
    return v && !json_is_null(v);
}

static enum provenance provenance_of(struct reader *r, json_t *obj, const char *at)
{
    char found[80];
    json_t *v = json_object_get(obj, "provenance");
    for (int p = 0; p < PROV_COUNT; p++)
        if (json_is_string(v) && strcmp(json_string_value(v), provenance_names[p]) == 0)
            return (enum provenance)p;
    json_problem(r->d, r->doc, at,
                 "expected \"provenance\" to be measured, published or assumed, found %s",
                 json_found(found, sizeof found, v));
    return PROV_ASSUMED;
}

static const char *text_of(struct reader *r, json_t *obj, const char *key)
{
    json_t *v = json_object_get(obj, key);
    return json_is_string(v) ? arena_strdup(r->a, json_string_value(v)) : NULL;
}

/* True: the entry holds a value. */
static bool read_param(struct reader *r, json_t *obj, const char *at, const struct profile_field *f,
                       struct param *out)
{
    char found[80];
    if (!json_is_object(obj)) {
        json_problem(r->d, r->doc, at,
                     "expected {\"value\": .., \"unit\": .., \"provenance\": ..}, found %s",
                     json_found(found, sizeof found, obj));
        return false;
    }
    json_known_keys(r->d, r->doc, obj, at, param_keys, COUNTOF(param_keys));
    json_t *value = json_object_get(obj, "value");
    if (json_is_null(value)) return false; /* could not be measured; "method" says why */
    if (!value) {
        json_problem(r->d, r->doc, at, "\"value\" is missing");
        return false;
    }
    const char *unit = json_string_value(json_object_get(obj, "unit"));
    if (!unit || strcmp(unit, f->unit) != 0)
        json_problem(r->d, r->doc, at, "expected \"unit\": \"%s\", found %s", f->unit,
                     json_found(found, sizeof found, json_object_get(obj, "unit")));
    *out = (struct param){
        .value = bounded(r, obj, at, "value", f),
        .low = bounded(r, obj, at, "low", f),
        .high = bounded(r, obj, at, "high", f),
        .provenance = provenance_of(r, obj, at),
    };
    if (out->low > out->value || out->high < out->value)
        json_problem(r->d, r->doc, at, "expected low <= value <= high");
    if (present(obj, "low") != present(obj, "high"))
        json_problem(r->d, r->doc, at, "expected both ends of the interval, found \"%s\" alone",
                     present(obj, "low") ? "low" : "high");
    const json_t *n = json_object_get(obj, "n");
    if (n && !json_is_null(n) && !(json_is_integer(n) && json_integer_value(n) >= 0))
        json_problem(r->d, r->doc, at, "expected \"n\" to be a number of samples, found %s",
                     json_found(found, sizeof found, n));
    out->source = text_of(r, obj, "source");
    if (!out->source) out->source = text_of(r, obj, "method");
    if (!out->source) {
        json_problem(r->d, r->doc, at, "say where the value comes from: \"method\" or \"source\"");
        out->source = "";
    }
    return !isnan(out->value);
}

/* One [share, speed], both in (0, 1], the share above the one before. */
static bool read_width(struct reader *r, json_t *point, struct width_curve *w)
{
    char found[80];
    const double share = json_number_value(json_array_get(point, 0));
    const double speed = json_number_value(json_array_get(point, 1));
    const double last = w->n ? w->share[w->n - 1] : 0;
    if (json_array_size(point) == 2 && share > last && share <= 1 && speed > 0 && speed <= 1) {
        w->share[w->n] = share;
        w->speed[w->n++] = speed;
        return true;
    }
    json_problem(r->d, r->doc, width_at,
                 "expected [share of the SMs, share of full speed], each above 0 and at most 1, "
                 "shares ascending, found %s",
                 json_found(found, sizeof found, point));
    return false;
}

static void read_width_curve(struct reader *r, json_t *obj, struct width_curve *w)
{
    char found[80];
    json_t *points = json_is_object(obj) ? json_object_get(obj, "points") : obj, *point;
    const size_t n = json_array_size(points);
    size_t i;
    *w = (struct width_curve){ .provenance = PROV_ASSUMED, .source = "" };
    if (json_is_null(obj)) return; /* could not be measured */
    if (n == 0 || n > PROFILE_WIDTHS_MAX) {
        json_problem(r->d, r->doc, width_at, "expected 1 to %d points, found %s",
                     PROFILE_WIDTHS_MAX, json_found(found, sizeof found, points ? points : obj));
        return;
    }
    if (json_is_object(obj)) {
        json_known_keys(r->d, r->doc, obj, width_at, width_keys, COUNTOF(width_keys));
        w->provenance = provenance_of(r, obj, width_at);
        w->source = text_of(r, obj, "source");
        if (!w->source) w->source = text_of(r, obj, "method");
        if (!w->source) {
            json_problem(r->d, r->doc, width_at,
                         "say where it comes from: \"method\" or \"source\"");
            w->source = "";
        }
    }
    json_array_foreach(points, i, point) if (!read_width(r, point, w)) return;
}

static void read_group(struct reader *r, json_t *obj, const char *group, struct gpu_profile *out)
{
    const char *keys[PROFILE_COUNT + 1];
    size_t n_keys = 0;
    char in[64], at[160], found[80];
    snprintf(in, sizeof in, "/%s", group);
    if (!json_is_object(obj)) {
        json_problem(r->d, r->doc, in, "expected a group of parameters, found %s",
                     json_found(found, sizeof found, obj));
        return;
    }
    for (int p = 0; p < PROFILE_COUNT; p++) {
        const struct profile_field *f = &profile_fields[p];
        if (strcmp(f->group, group) != 0) continue;
        keys[n_keys++] = f->key;
        json_t *v = json_object_get(obj, f->key);
        if (!v) continue;
        json_pointer_key(at, sizeof at, in, f->key);
        struct param read;
        if (!read_param(r, v, at, f, &read)) continue;
        out->param[p] = read;
        out->from_file[p] = true;
    }
    if (strcmp(group, "base") == 0) {
        json_t *v = json_object_get(obj, width_curve);
        keys[n_keys++] = width_curve;
        if (v) read_width_curve(r, v, &out->width);
    }
    json_known_keys(r->d, r->doc, obj, in, keys, n_keys);
}

/* Nothing is both. */
static void read_not_measured(struct reader *r, const struct gpu_profile *p)
{
    json_t *list = json_object_get(r->doc->root, "not_measured");
    char found[80], name[100], at[160];
    if (list && !json_is_object(list)) {
        json_problem(r->d, r->doc, "/not_measured", "expected {\"group.key\": \"why\"}, found %s",
                     json_found(found, sizeof found, list));
        return;
    }
    for (int i = 0; i <= PROFILE_COUNT; i++) {
        const bool curve = i == PROFILE_COUNT;
        snprintf(name, sizeof name, "%s.%s", curve ? "base" : profile_fields[i].group,
                 curve ? width_curve : profile_fields[i].key);
        if (!json_object_get(list, name) || !(curve ? p->width.n > 0 : p->from_file[i])) continue;
        json_problem(
            r->d, r->doc, json_pointer_key(at, sizeof at, "/not_measured", name),
            "expected a parameter without a value, found one that the file has a value of: "
            "take one of the two out");
    }
}

/* "device": {"self_checks": [{"check": .., "status": "failed", "detail": ..}]}, as calibrate writes
 * it. */
static void read_self_checks(struct reader *r, struct gpu_profile *out)
{
    json_t *device = json_object_get(r->doc->root, "device"), *one;
    json_t *list = json_object_get(device, "self_checks");
    struct strbuf names = { 0 }, details = { 0 };
    char found[80];
    size_t i;
    if (device && !json_is_object(device))
        json_problem(r->d, r->doc, "/device", "expected an object about the card, found %s",
                     json_found(found, sizeof found, device));
    if (list && !json_is_array(list))
        json_problem(r->d, r->doc, "/device/self_checks",
                     "expected [{\"check\": .., \"status\": ..}], found %s",
                     json_found(found, sizeof found, list));
    json_array_foreach(list, i, one)
    {
        const char *status = json_string_value(json_object_get(one, "status"));
        const char *check = json_string_value(json_object_get(one, "check"));
        const char *detail = json_string_value(json_object_get(one, "detail"));
        if (!status || strcmp(status, "failed") != 0) continue;
        strbuf_addf(&names, "%s%s", names.len ? ", " : "", check ? check : "?");
        strbuf_addf(&details, "%s%s: %s", details.len ? "\n" : "", check ? check : "?",
                    detail ? detail : "no detail");
    }
    if (names.len) {
        out->failed_checks = arena_strdup(r->a, names.s);
        out->failed_details = arena_strdup(r->a, details.s);
        for (int p = 0; p < PROFILE_COUNT; p++)
            if (out->from_file[p] && out->param[p].provenance == PROV_MEASURED)
                out->param[p].source =
                    arena_printf(r->a, "%s" PROFILE_DOUBT "%s", out->param[p].source, names.s);
    }
    strbuf_fini(&names);
    strbuf_fini(&details);
}

void profile_read(struct gpu_profile *out, struct arena *a, const struct json_doc *doc,
                  struct diag *d)
{
    struct reader r = { a, doc, d };
    const char *keys[COUNTOF(other_keys) + PROFILE_COUNT];
    size_t n_keys = 0;
    char found[80];
    profile_defaults(out);
    out->name = arena_strdup(a, doc->file ? doc->file : "");
    if (!json_is_object(doc->root)) {
        json_problem(d, doc, "", "expected a profile, that is an object, found %s",
                     json_found(found, sizeof found, doc->root));
        return;
    }
    fields_is_format(doc, FORMAT, d);
    for (size_t i = 0; i < COUNTOF(other_keys); i++) keys[n_keys++] = other_keys[i];
    const char *group = "";
    for (int p = 0; p < PROFILE_COUNT; p++) { /* the table lists each group in one run */
        if (strcmp(profile_fields[p].group, group) == 0) continue;
        group = profile_fields[p].group;
        keys[n_keys++] = group;
        json_t *v = json_object_get(doc->root, group);
        if (v) read_group(&r, v, group, out);
    }
    json_known_keys(d, doc, doc->root, "", keys, n_keys);
    read_not_measured(&r, out);
    read_self_checks(&r, out);
    out->gpu = text_of(&r, doc->root, "gpu");
    if (!out->gpu || !*out->gpu)
        json_problem(d, doc, "", "expected \"gpu\": the card the profile is about");
}
