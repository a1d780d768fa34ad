#include "calibrate/catalogue.h"

#include "base/datadir.h"
#include "base/json.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double peak_of(const json_t *root, const char *precision)
{
    const json_t *entry = json_object_get(json_object_get(root, "peak"), precision);
    const char *text = json_string_value(json_object_get(entry, "dense"));
    double v = NAN;
    if (text) unit_parse(text, UNIT_FLOPS, &v, NULL);
    return v;
}

/* doc->root is NULL without a file. */
static void load(struct json_doc *doc, const char *gpu)
{
    char name[200], path[4096];
    *doc = (struct json_doc){ 0 };
    if (strchr(gpu, '/')) return; /* not a key */
    snprintf(name, sizeof name, "gpus/%s.json", gpu);
    json_doc_load(doc, datadir_path(path, sizeof path, name), NULL);
}

double catalogue_peak(const char *gpu, const char *precision)
{
    struct json_doc doc;
    load(&doc, gpu);
    double v = peak_of(doc.root, precision);
    if (strcmp(precision, "fp64") == 0) v = fmax(v, peak_of(doc.root, "fp64_tensor"));
    json_doc_fini(&doc);
    return v;
}

double catalogue_mem_Bps(const char *gpu)
{
    struct json_doc doc;
    double v = NAN;
    load(&doc, gpu);
    const json_t *entry = json_object_get(json_object_get(doc.root, "memory"), "bandwidth");
    const char *text = json_string_value(json_object_get(entry, "value"));
    if (text) unit_parse(text, UNIT_RATE, &v, NULL);
    json_doc_fini(&doc);
    return v;
}
