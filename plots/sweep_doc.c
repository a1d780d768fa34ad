#include "plots/sweep_doc.h"

#include "base/json_shape.h"
#include "model/fields.h"

#include <stdlib.h>
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

/* ---- values of an axis ---- */

static int by_text(const void *a, const void *b)
{
    const struct sweep_value *x = a, *y = b;
    const int c = strcmp(x->text, y->text);
    return c ? c : (x->place > y->place) - (x->place < y->place);
}

void sweep_values_of(struct sweep_values *out, struct arena *a, const json_t *values)
{
    out->n = json_array_size(values);
    out->v = arena_array(a, out->n + 1, sizeof *out->v);
    for (size_t i = 0; i < out->n; i++)
        out->v[i] = (struct sweep_value){ json_string_value(json_array_get(values, i)), i };
    qsort(out->v, out->n, sizeof *out->v, by_text);
}

size_t sweep_values_find(const struct sweep_values *x, const char *text)
{
    size_t low = 0, high = x->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (strcmp(x->v[mid].text, text) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < x->n && strcmp(x->v[low].text, text) == 0 ? x->v[low].place : x->n;
}

/* ---- is it all there? ---- */

/* Points stand on the axes: one that does not would be in no picture. */
static void check_points(const struct json_doc *doc, const json_t *axis, size_t k, struct arena *a,
                         struct diag *d)
{
    const char *path = json_string_value(json_object_get(axis, "path"));
    struct sweep_values values;
    json_t *point;
    size_t i;
    sweep_values_of(&values, a, json_object_get(axis, "values"));
    json_array_foreach(json_object_get(doc->root, "points"), i, point)
    {
        const json_t *is = json_object_get(json_object_get(point, "set"), path);
        char pointer[64], found[96];
        if (is && sweep_values_find(&values, json_string_value(is)) < values.n) continue;
        snprintf(pointer, sizeof pointer, "/points/%zu/set", i);
        json_problem(d, doc, pointer,
                     "expected for \"%s\" one of the values of /vary/%zu, found %s", path, k,
                     json_found(found, sizeof found, is));
    }
}

int sweep_doc_check(const struct json_doc *doc, struct err *e)
{
    struct diag d;
    struct arena *a = arena_create();
    diag_init(&d);
    if (fields_is_format(doc, "gpusim-sweep/1", &d)) json_shape_check(doc, sweep_shape, &d);
    const json_t *vary = json_object_get(doc->root, "vary");
    const size_t n = d.count ? 0 : json_array_size(vary);
    for (size_t k = 0; k < n; k++) check_points(doc, json_array_get(vary, k), k, a, &d);
    const int rc = diag_result(&d, e);
    diag_fini(&d);
    arena_destroy(a);
    return rc;
}
