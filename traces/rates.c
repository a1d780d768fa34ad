#include "traces/rates.h"

#include "base/mem.h"
#include "traces/wholefile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_worker(const struct json_doc *doc, const char *worker, struct err *e)
{
    const char *names[16], *key;
    json_t *v;
    char list[300];
    size_t n = 0;
    json_object_foreach(doc->root, key, v)
    {
        if (n < 16) names[n++] = key;
    }
    const struct loc at = { .file = doc->file };
    int rc =
        err_set(e, ERR_INPUT, &at, "expected rates for worker type \"%s\", found none", worker);
    err_hint(e, "it has: %s", n ? str_list(list, sizeof list, names, n) : "nothing");
    return rc;
}

static int load(struct json_doc *doc, const char *path, struct err *e)
{
    char *text;
    size_t len;
    int rc = wholefile_read(&text, &len, path, "a JSON object of rates", e);
    if (rc < 0) return rc;
    rc = json_doc_parse(doc, path, text, len, e);
    free(text);
    if (rc < 0 || json_is_object(doc->root)) return rc;
    const struct loc at = { .file = doc->file };
    rc = err_set(e, ERR_INPUT, &at, "expected a JSON object of rates, found %s",
                 json_is_array(doc->root) ? "an array" : "a single value");
    json_doc_fini(doc);
    return rc;
}

int rates_load_gavel(struct json_doc *doc, const char *path, const char *worker, struct err *e)
{
    int rc = load(doc, path, e);
    if (rc == 0 && !json_is_object(json_object_get(doc->root, worker))) {
        rc = no_worker(doc, worker, e);
        json_doc_fini(doc);
    }
    return rc;
}

int rates_load_by_name(struct json_doc *doc, const char *path, struct err *e)
{
    return load(doc, path, e);
}

static enum rate_answer number(const json_t *v, double *per_s)
{
    if (!v) return RATE_MISSING;
    if (!json_is_number(v) || !(json_number_value(v) >= 0)) return RATE_BAD;
    *per_s = json_number_value(v);
    return *per_s > 0 ? RATE_OK : RATE_ZERO;
}

enum rate_answer rates_gavel(const struct json_doc *doc, const char *worker, const char *type,
                             size_t type_len, int64_t gpus, double *per_s)
{
    /* Python quotes with ' unless the text holds one */
    const char quote = memchr(type, '\'', type_len) ? '"' : '\'';
    char *key = xasprintf("(%c%.*s%c, %lld)", quote, (int)type_len, type, quote, (long long)gpus);
    const json_t *entry = json_object_get(json_object_get(doc->root, worker), key);
    free(key);
    if (!entry) return RATE_MISSING;
    return number(json_object_get(entry, "null"), per_s);
}

enum rate_answer rates_by_name(const struct json_doc *doc, const char *model, size_t model_len,
                               int64_t gpus, double *per_s)
{
    char *key = xstrndup(model, model_len), count[24];
    const json_t *v = json_object_get(doc->root, key);
    free(key);
    snprintf(count, sizeof count, "%lld", (long long)gpus);
    return number(json_is_object(v) ? json_object_get(v, count) : v, per_s);
}

bool rate_duration(int64_t steps, double per_s, simtime *out)
{
    const double ns = round((double)steps / per_s * (double)SIM_SECOND);
    if (!(ns >= 0 && ns < 9.2e18)) return false;
    *out = (simtime)ns;
    return true;
}
