#include "plots/sweep_doc.h"

#include "base/json_shape.h"
#include "model/fields.h"

#include <string.h>

static const struct json_shape figure_shape[] = {
    { "mean", JSON_KIND_NUMBER, NULL, false },
    { "low", JSON_KIND_NUMBER, NULL, false },
    { "high", JSON_KIND_NUMBER, NULL, false },
    { 0 },
};
static const struct json_shape policy_shape[] = {
    { "name", JSON_KIND_TEXT, NULL, false },
    { "metrics", JSON_KIND_MAP_OF_OBJECTS, figure_shape, false },
    { 0 },
};
static const struct json_shape point_shape[] = {
    { "set", JSON_KIND_MAP_OF_TEXTS, NULL, false },
    { "policies", JSON_KIND_OBJECTS, policy_shape, false },
    { 0 },
};
static const struct json_shape axis_shape[] = {
    { "path", JSON_KIND_TEXT, NULL, false },
    { "values", JSON_KIND_TEXTS, NULL, false },
    { 0 },
};
static const struct json_shape sweep_shape[] = {
    { "gpusim_version", JSON_KIND_TEXT, NULL, true },
    { "vary", JSON_KIND_OBJECTS, axis_shape, false },
    { "policy_order", JSON_KIND_TEXTS, NULL, true },
    { "points", JSON_KIND_OBJECTS, point_shape, false },
    { 0 },
};

static bool has(const json_t *values, const char *value)
{
    size_t i;
    json_t *one;
    json_array_foreach(values, i, one)
    {
        if (strcmp(json_string_value(one), value) == 0) return true;
    }
    return false;
}

/* Points stand on the axes: one that does not would be in no picture. */
static void check_point(const struct json_doc *doc, size_t point, struct diag *d)
{
    const json_t *vary = json_object_get(doc->root, "vary"), *axis;
    const json_t *set =
        json_object_get(json_array_get(json_object_get(doc->root, "points"), point), "set");
    char pointer[64], found[96];
    size_t i;
    snprintf(pointer, sizeof pointer, "/points/%zu/set", point);
    json_array_foreach(vary, i, axis)
    {
        const char *path = json_string_value(json_object_get(axis, "path"));
        const json_t *value = json_object_get(set, path);
        if (value && has(json_object_get(axis, "values"), json_string_value(value))) continue;
        json_problem(d, doc, pointer,
                     "expected for \"%s\" one of the values of /vary/%zu, found %s", path, i,
                     json_found(found, sizeof found, value));
    }
}

int sweep_doc_check(const struct json_doc *doc, struct err *e)
{
    struct diag d;
    diag_init(&d);
    if (fields_is_format(doc, "gpusim-sweep/1", &d)) json_shape_check(doc, sweep_shape, &d);
    const size_t n = d.count ? 0 : json_array_size(json_object_get(doc->root, "points"));
    for (size_t i = 0; i < n; i++) check_point(doc, i, &d);
    const int rc = diag_result(&d, e);
    diag_fini(&d);
    return rc;
}
