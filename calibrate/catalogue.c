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

double catalogue_peak(const char *gpu, const char *precision)
{
    char name[200], path[4096];
    struct json_doc doc = { 0 };
    double v = NAN;
    if (strchr(gpu, '/')) return NAN; /* not a key */
    snprintf(name, sizeof name, "gpus/%s.json", gpu);
    if (json_doc_load(&doc, datadir_path(path, sizeof path, name), NULL) == 0) {
        v = peak_of(doc.root, precision);
        if (strcmp(precision, "fp64") == 0) v = fmax(v, peak_of(doc.root, "fp64_tensor"));
    }
    json_doc_fini(&doc);
    return v;
}
