/* What a sweep's folder holds, read back: the manifest and the runs, checked before anyone
 * looks. */
#include "base/json_shape.h"
#include "model/fields.h"
#include "whatif/sweep.h"
#include "whatif/sweep_format.h"

#include <stdlib.h>
#include <string.h>

/* A million points with a text for each of 16 axes. */
#define MANIFEST_MOST_BYTES ((size_t)1 << 30)

/* ---- manifest.json ---- */

static const struct json_shape axis_shape[] = {
    { "path", JSON_KIND_TEXT, NULL, false },
    { "values", JSON_KIND_TEXTS, NULL, false },
    { 0 },
};
static const struct json_shape manifest_shape[] = {
    { "gpusim_version", JSON_KIND_TEXT, NULL, false },
    { "scenario_name", JSON_KIND_TEXT, NULL, false },
    { "scenario_sha256", JSON_KIND_TEXT, NULL, false },
    { "seed", JSON_KIND_NUMBER, NULL, false },
    { "random", JSON_KIND_FLAG, NULL, false },
    { "paired", JSON_KIND_FLAG, NULL, true },
    { "vary", JSON_KIND_OBJECTS, axis_shape, false },
    { "replications", JSON_KIND_COUNT, NULL, false },
    { "metrics", JSON_KIND_TEXTS, NULL, false },
    { "points", JSON_KIND_TEXTS, NULL, false },
    { "policy_order", JSON_KIND_TEXTS, NULL, true },
    { "set", JSON_KIND_TEXTS, NULL, true },
    { 0 },
};

static bool is_hash(const char *s)
{
    return strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

/* How many points its axes make; 0 after a problem. */
static size_t points_of_axes(const struct json_doc *doc, struct diag *d)
{
    const bool paired = json_is_true(json_object_get(doc->root, "paired"));
    const json_t *vary = json_object_get(doc->root, "vary");
    const size_t n_axes = json_array_size(vary);
    size_t points = 1;
    if (n_axes > GRID_MAX_AXES) {
        json_problem(d, doc, "/vary", "expected at most %d axes, found %zu", GRID_MAX_AXES, n_axes);
        return 0;
    }
    for (size_t i = 0; i < n_axes; i++) {
        const size_t n = json_array_size(json_object_get(json_array_get(vary, i), "values"));
        const bool fits = paired ? i == 0 || n == points : n > 0 && points <= GRID_MAX_POINTS / n;
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/vary/%zu/values", i);
        if (!fits || n == 0) {
            json_problem(d, doc, pointer,
                         paired ? "expected as many values as the other axes have, found %zu"
                                : "expected 1 value or more, and at most a million points over all "
                                  "axes, found %zu values",
                         n);
            return 0;
        }
        points = paired ? n : points * n;
    }
    return points;
}

static void check_manifest(const struct json_doc *doc, struct diag *d)
{
    const json_t *list = json_object_get(doc->root, "points"), *one;
    const json_int_t replications = json_integer_value(json_object_get(doc->root, "replications"));
    const size_t points = points_of_axes(doc, d),
                 n_metrics = json_array_size(json_object_get(doc->root, "metrics"));
    size_t i;
    if (points && json_array_size(list) != points)
        json_problem(d, doc, "/points", "expected %zu, as the axes make, found %zu", points,
                     json_array_size(list));
    json_array_foreach(list, i, one)
    {
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/points/%zu", i);
        if (!is_hash(json_string_value(one)))
            json_problem(d, doc, pointer, "expected 64 digits of hexadecimal");
    }
    if (replications < 1 || (points && replications > (json_int_t)(GRID_MAX_POINTS / points)))
        json_problem(d, doc, "/replications", "expected 1 or more, and at most %d runs in all",
                     GRID_MAX_POINTS);
    if (n_metrics < 1 || n_metrics > SWEEP_MOST_METRICS)
        json_problem(d, doc, "/metrics", "expected 1 to %d figures, found %zu", SWEEP_MOST_METRICS,
                     n_metrics);
}

int sweep_manifest_load(json_t **out, const char *dir, struct err *e)
{
    char *path = xasprintf("%s/manifest.json", dir);
    struct json_doc doc = { 0 };
    struct diag d;
    diag_init(&d);
    *out = NULL;
    int rc = json_doc_load_up_to(&doc, path, MANIFEST_MOST_BYTES, e);
    if (rc == 0) {
        if (fields_is_format(&doc, SWEEP_MANIFEST_FORMAT, &d)) {
            json_shape_check(&doc, manifest_shape, &d);
            if (d.count == 0) check_manifest(&doc, &d);
        }
        rc = diag_result(&d, e);
    }
    const char *format = json_string_value(json_object_get(doc.root, "format"));
    if (rc != 0 && format && str_starts(format, "gpusim-sweep-manifest/") &&
        strcmp(format, SWEEP_MANIFEST_FORMAT) != 0)
        err_hint(e, "another version of gpusim wrote the folder: sweep again into a new one");
    if (rc == 0) *out = json_incref(doc.root);
    diag_fini(&d);
    json_doc_fini(&doc);
    free(path);
    return rc;
}

/* ---- runs ---- */

static const struct json_shape policy_shape[] = {
    { "name", JSON_KIND_TEXT, NULL, false },
    { "kind", JSON_KIND_TEXT, NULL, false },
    { "queues", JSON_KIND_MAP_OF_NUMBER_LISTS, NULL, false },
    { "metrics", JSON_KIND_MAP_OF_NUMBERS, NULL, false },
    { 0 },
};
static const struct json_shape run_shape[] = {
    { "point", JSON_KIND_TEXT, NULL, false },
    { "replication", JSON_KIND_COUNT, NULL, false },
    { "error", JSON_KIND_TEXT_OR_NULL, NULL, false },
    { "policies", JSON_KIND_OBJECTS, policy_shape, false },
    { 0 },
};

static const char *name_of(const json_t *policies, size_t i)
{
    return json_string_value(json_object_get(json_array_get(policies, i), "name"));
}

static void check_policies(const struct json_doc *doc, struct diag *d)
{
    const json_t *policies = json_object_get(doc->root, "policies");
    const size_t n = json_array_size(policies);
    if (n == 0 && json_is_null(json_object_get(doc->root, "error")))
        json_problem(d, doc, "/policies", "expected a policy, or an error");
    for (size_t i = 0; i < n; i++) {
        json_t *queue;
        const char *key;
        char pointer[64];
        for (size_t k = 0; k < i; k++) {
            if (strcmp(name_of(policies, i), name_of(policies, k)) != 0) continue;
            snprintf(pointer, sizeof pointer, "/policies/%zu/name", i);
            json_problem(d, doc, pointer, "the policy was there before");
        }
        json_object_foreach(json_object_get(json_array_get(policies, i), "queues"), key, queue)
        {
            const size_t figures = json_array_size(queue);
            if (figures == 0 || figures == SWEEP_QUEUE_FIGURES) continue;
            snprintf(pointer, sizeof pointer, "/policies/%zu/queues", i);
            json_problem(d, doc, pointer, "expected %d figures of '%s' or none, found %zu",
                         SWEEP_QUEUE_FIGURES, key, figures);
        }
    }
}

int sweep_run_load(struct json_doc *out, const char *path, const char *sha256, size_t replication,
                   struct err *e)
{
    struct diag d;
    int rc = json_doc_load(out, path, e);
    if (rc != 0) return rc;
    diag_init(&d);
    if (fields_is_format(out, SWEEP_RUN_FORMAT, &d)) {
        json_shape_check(out, run_shape, &d);
        if (d.count == 0) check_policies(out, &d);
    }
    rc = diag_result(&d, e);
    diag_fini(&d);
    if (rc == 0 &&
        (strcmp(json_string_value(json_object_get(out->root, "point")), sha256) != 0 ||
         json_integer_value(json_object_get(out->root, "replication")) != (json_int_t)replication))
        rc = err_set(e, ERR_INPUT, &(struct loc){ .file = path },
                     "expected replication %zu of point %.16s, found another run's", replication,
                     sha256);
    if (rc != 0) json_doc_fini(out);
    return rc;
}
