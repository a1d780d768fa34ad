/* model/gpu.c - reading one card's file (all of them: gpu_catalogue.c). One table names the
 * numbers of a file; what depends on more than one number is checked afterwards. */
#include "model/gpu.h"

#include "base/units.h"
#include "model/fields.h"
#include "model/mig.h"

#include <math.h>
#include <string.h>

#define COUNTOF(x) (sizeof(x) / sizeof *(x))

const char *const peak_claim_names[PEAK_CLAIMS + 1] = {
#define X(name, meaning) #name,
    PEAK_CLAIM_MAP(X)
#undef X
        NULL,
};
const char *const peak_claim_meanings[PEAK_CLAIMS] = {
#define X(name, meaning) meaning,
    PEAK_CLAIM_MAP(X)
#undef X
};

struct reader {
    struct arena *a;
    const struct json_doc *doc;
    struct diag *d;
};

/* The numbers of a file before they are moved into a gpu_spec; NAN: absent. */
struct numbers {
    double devices, sms, boost, matrix_clock, fp32_ops, fp16_ops, lanes, matrix_units;
    double nominal, usable, bandwidth;
    double tdp, idle, idle_context, busy;
    double gpu, pcie;
    enum provenance usable_from, idle_from, idle_context_from, busy_from, ignored;
};

enum kind { COUNT, QUANTITY };
struct datum {
    const char *section, *key;
    enum kind kind;
    enum unit_dim dim; /* QUANTITY */
    size_t offset, from;
    bool required;
    double min, max; /* base unit */
};
#define AT(m) offsetof(struct numbers, m)
static const struct datum data[] = {
    { "chip", "devices", COUNT, 0, AT(devices), AT(ignored), false, 1, 16 },
    { "chip", "sms", COUNT, 0, AT(sms), AT(ignored), false, 1, 2048 },
    { "chip", "fp32_lanes", COUNT, 0, AT(lanes), AT(ignored), false, 1, 1e6 },
    { "chip", "matrix_units", COUNT, 0, AT(matrix_units), AT(ignored), false, 0, 1e6 },
    { "chip", "boost_clock", QUANTITY, UNIT_FREQ, AT(boost), AT(ignored), false, 1e8, 1e10 },
    { "chip", "matrix_clock", QUANTITY, UNIT_FREQ, AT(matrix_clock), AT(ignored), false, 1e8,
      1e10 },
    { "chip", "fp32_ops_per_clock_sm", COUNT, 0, AT(fp32_ops), AT(ignored), false, 1, 1e5 },
    { "chip", "fp16_ops_per_clock_sm", COUNT, 0, AT(fp16_ops), AT(ignored), false, 1, 1e6 },
    { "memory", "nominal", QUANTITY, UNIT_BYTES, AT(nominal), AT(ignored), true, 1e6, 1e14 },
    { "memory", "usable", QUANTITY, UNIT_BYTES, AT(usable), AT(usable_from), true, 1e6, 1e14 },
    { "memory", "bandwidth", QUANTITY, UNIT_RATE, AT(bandwidth), AT(ignored), true, 1e9, 1e14 },
    { "power", "tdp", QUANTITY, UNIT_POWER, AT(tdp), AT(ignored), true, 1, 1e4 },
    { "power", "idle", QUANTITY, UNIT_POWER, AT(idle), AT(idle_from), true, 0, 1e4 },
    { "power", "idle_context", QUANTITY, UNIT_POWER, AT(idle_context), AT(idle_context_from), true,
      0, 1e4 },
    { "power", "busy", QUANTITY, UNIT_POWER, AT(busy), AT(busy_from), true, 0, 1e4 },
    { "link", "gpu", QUANTITY, UNIT_RATE, AT(gpu), AT(ignored), false, 0, 1e14 },
    { "link", "pcie", QUANTITY, UNIT_RATE, AT(pcie), AT(ignored), false, 1e8, 1e13 },
};

static const char *const top_keys[] = { "format",  "model", "vendor",  "arch",       "form",
                                        "release", "note",  "aliases", "peak_check", "chip",
                                        "memory",  "peak",  "power",   "link",       "mig" };
static const char *const datum_keys[] = { "value", "source", "provenance", "note", "kind" };

static const char *text_of(struct reader *r, json_t *obj, const char *pointer, const char *key,
                           bool required)
{
    char at[256], found[80];
    json_t *v = json_object_get(obj, key);
    if (json_is_string(v)) return arena_strdup(r->a, json_string_value(v));
    if (v || required)
        json_problem(r->d, r->doc, v ? json_pointer_key(at, sizeof at, pointer, key) : pointer,
                     "expected \"%s\" to be text, found %s", key,
                     json_found(found, sizeof found, v));
    return NULL;
}

static enum provenance provenance_of(struct reader *r, json_t *obj, const char *pointer)
{
    json_t *v = json_object_get(obj, "provenance");
    if (!v) return PROV_PUBLISHED;
    for (int p = 0; p < PROV_COUNT; p++)
        if (json_is_string(v) && strcmp(json_string_value(v), provenance_names[p]) == 0)
            return (enum provenance)p;
    char found[80];
    json_problem(r->d, r->doc, pointer,
                 "expected provenance measured, published or assumed, found %s",
                 json_found(found, sizeof found, v));
    return PROV_ASSUMED;
}

/* A quantity written with its unit; false with a problem when it is not one. */
static bool quantity(struct reader *r, json_t *v, const char *pointer, enum unit_dim dim,
                     double *out)
{
    const char *nearest = NULL;
    char found[80];
    if (json_is_string(v) && unit_parse(json_string_value(v), dim, out, &nearest) == 0) return true;
    struct err *e = json_problem(r->d, r->doc, pointer, "expected %s, found %s", unit_expected(dim),
                                 json_found(found, sizeof found, v));
    if (nearest) err_hint(e, "did you mean \"%s\"?", nearest);
    return false;
}

static void read_datum(struct reader *r, const struct datum *f, json_t *section, struct numbers *n)
{
    char in[64], at[128], found[80];
    snprintf(in, sizeof in, "/%s", f->section);
    json_t *obj = json_object_get(section, f->key);
    double *out = (double *)((char *)n + f->offset);
    if (!obj) {
        if (f->required && section) json_problem(r->d, r->doc, in, "\"%s\" is missing", f->key);
        return;
    }
    json_pointer_key(at, sizeof at, in, f->key);
    if (!json_is_object(obj)) {
        json_problem(r->d, r->doc, at, "expected {\"value\": .., \"source\": ..}, found %s",
                     json_found(found, sizeof found, obj));
        return;
    }
    json_known_keys(r->d, r->doc, obj, at, datum_keys, COUNTOF(datum_keys));
    text_of(r, obj, at, "source", true);
    memcpy((char *)n + f->from, &(enum provenance){ provenance_of(r, obj, at) },
           sizeof(enum provenance));
    json_t *v = json_object_get(obj, "value");
    double value;
    if (f->kind == COUNT) {
        if (!json_is_number(v)) {
            json_problem(r->d, r->doc, at, "expected a number as \"value\", found %s",
                         json_found(found, sizeof found, v));
            return;
        }
        value = json_number_value(v);
        if (value != floor(value))
            json_problem(r->d, r->doc, at, "expected a whole number, found %g", value);
    } else if (!quantity(r, v, at, f->dim, &value)) {
        return;
    }
    if (value < f->min || value > f->max)
        json_problem(r->d, r->doc, at, "%g is outside %g to %g", value, f->min, f->max);
    else
        *out = value;
}

static void read_numbers(struct reader *r, struct numbers *n)
{
    static const char *const sections[] = { "chip", "memory", "power", "link" };
    const char *keys[COUNTOF(data) + 2];
    for (size_t i = 0; i < COUNTOF(data); i++) *(double *)((char *)n + data[i].offset) = NAN;
    for (size_t s = 0; s < COUNTOF(sections); s++) {
        char at[64];
        size_t n_keys = 0;
        json_t *section = json_object_get(r->doc->root, sections[s]);
        snprintf(at, sizeof at, "/%s", sections[s]);
        if (!json_is_object(section)) {
            json_problem(r->d, r->doc, section ? at : "", "expected an object \"%s\"", sections[s]);
            continue;
        }
        for (size_t i = 0; i < COUNTOF(data); i++) {
            if (strcmp(data[i].section, sections[s]) != 0) continue;
            keys[n_keys++] = data[i].key;
            read_datum(r, &data[i], section, n);
        }
        if (s == 1) keys[n_keys++] = "type";
        json_known_keys(r->d, r->doc, section, at, keys, n_keys);
    }
}

/* "312 TFLOPS" for FP formats, "624 TOPS" for integer ones: the two are never mixed. null: none. */
static double rate_of(struct reader *r, json_t *obj, const char *at, const char *key, bool integer,
                      bool *none)
{
    json_t *v = json_object_get(obj, key);
    double ops = NAN;
    *none = json_is_null(v);
    if (!v || *none || !quantity(r, v, at, UNIT_FLOPS, &ops)) return NAN;
    bool flops = strstr(json_string_value(v), "FLOPS") != NULL;
    if (flops == integer)
        json_problem(r->d, r->doc, at, "%s is counted in %s, found \"%s\"",
                     integer ? "an integer format" : "a floating-point format",
                     integer ? "TOPS" : "TFLOPS", json_string_value(v));
    if (ops <= 0) {
        json_problem(r->d, r->doc, at,
                     "a peak is above 0; null says that the card has no such mode");
        ops = NAN;
    }
    return ops;
}

static void read_peaks(struct reader *r, struct gpu_spec *g)
{
    static const char *const keys[] = { "dense", "sparse", "source", "provenance", "note" };
    json_t *peaks = json_object_get(r->doc->root, "peak");
    if (!json_is_object(peaks))
        json_problem(r->d, r->doc, "", "expected an object \"peak\"");
    else
        json_known_keys(r->d, r->doc, peaks, "/peak", precision_names, PREC_COUNT);
    for (int p = 0; p < PREC_COUNT; p++) {
        char at[64];
        bool no_sparse;
        struct peak *out = &g->peak[p];
        json_t *obj = json_object_get(peaks, precision_names[p]);
        *out = (struct peak){ .dense_ops = NAN, .sparse_ops = NAN };
        json_pointer_key(at, sizeof at, "/peak", precision_names[p]);
        if (!obj) continue;
        if (!json_is_object(obj)) {
            json_problem(r->d, r->doc, at,
                         "expected {\"dense\": .., \"sparse\": .., \"source\": ..}");
            continue;
        }
        json_known_keys(r->d, r->doc, obj, at, keys, COUNTOF(keys));
        text_of(r, obj, at, "source", true);
        provenance_of(r, obj, at);
        bool integer = precision_is_integer((enum precision)p);
        out->dense_ops = rate_of(r, obj, at, "dense", integer, &out->none);
        out->sparse_ops = rate_of(r, obj, at, "sparse", integer, &no_sparse);
        if (out->sparse_ops < out->dense_ops)
            json_problem(r->d, r->doc, at, "the sparse peak is below the dense one");
        if (isnan(out->dense_ops) && !isnan(out->sparse_ops))
            json_problem(r->d, r->doc, at, "a sparse peak without a dense one");
    }
}

static struct peak_check check_peak(double units, double clock_Hz, double ops_per_clock,
                                    double sheet)
{
    struct peak_check c = { .calc_ops = units * clock_Hz * ops_per_clock };
    c.off = sheet / c.calc_ops - 1;
    return c;
}

static void check_peaks(struct reader *r, struct gpu_spec *g, const struct numbers *n)
{
    json_t *claim = json_object_get(r->doc->root, "peak_check");
    char found[80];
    int which = -1;
    for (int i = 0; i < PEAK_CLAIMS; i++)
        if (json_is_string(claim) && strcmp(json_string_value(claim), peak_claim_names[i]) == 0)
            which = i;
    if (which < 0)
        json_problem(r->d, r->doc, claim ? "/peak_check" : "",
                     "expected \"peak_check\" to be ok, warn, inferred_clock, derived, no_clock or "
                     "community, found %s",
                     json_found(found, sizeof found, claim));
    g->claim = which < 0 ? PEAK_no_clock : (enum peak_claim)which;
    g->check_fp32 = check_peak(n->sms, g->boost_Hz, n->fp32_ops, g->peak[PREC_fp32].dense_ops);
    g->check_fp16 = check_peak(n->sms, g->matrix_Hz, n->fp16_ops, g->peak[PREC_fp16].dense_ops);
    if (g->claim != PEAK_ok) return;
    if (fabs(g->check_fp32.off) > PEAK_TOLERANCE)
        json_problem(
            r->d, r->doc, "/peak/fp32",
            "the sheet's %.4g TFLOPS is %.1f %% off units x clock x operations = %.4g TFLOPS",
            g->peak[PREC_fp32].dense_ops / 1e12, 100 * g->check_fp32.off,
            g->check_fp32.calc_ops / 1e12);
    if (fabs(g->check_fp16.off) > PEAK_TOLERANCE)
        json_problem(
            r->d, r->doc, "/peak/fp16",
            "the sheet's %.4g TFLOPS is %.1f %% off units x clock x operations = %.4g TFLOPS",
            g->peak[PREC_fp16].dense_ops / 1e12, 100 * g->check_fp16.off,
            g->check_fp16.calc_ops / 1e12);
}

/* ---- MIG ---- */

static int int_of(struct reader *r, json_t *obj, const char *at, const char *key, int min, int max,
                  bool required)
{
    json_t *v = json_object_get(obj, key);
    char found[80];
    if (!v && !required) return 0;
    if (json_is_integer(v) && json_integer_value(v) >= min && json_integer_value(v) <= max)
        return (int)json_integer_value(v);
    json_problem(r->d, r->doc, at, "expected \"%s\" to be a whole number from %d to %d, found %s",
                 key, min, max, json_found(found, sizeof found, v));
    return 0;
}

static void read_starts(struct reader *r, json_t *starts, const char *at, struct mig_profile *p,
                        int units)
{
    size_t i;
    json_t *v;
    if (!json_is_array(starts) || json_array_size(starts) > MIG_MAX_STARTS) {
        json_problem(r->d, r->doc, at, "expected \"starts\" to list at most %d units",
                     MIG_MAX_STARTS);
        return;
    }
    json_array_foreach(starts, i, v)
    {
        json_int_t s = json_integer_value(v);
        if (!json_is_integer(v) || s < 0 || s + p->memory_units > units ||
            (i && s <= p->starts[i - 1])) {
            json_problem(r->d, r->doc, at,
                         "starts must ascend and keep the instance within %d units", units);
            return;
        }
        p->starts[p->n_starts++] = (int)s;
    }
}

/* False: nothing is known about where it may be placed. */
static bool read_profile(struct reader *r, json_t *obj, const char *at,
                         const struct mig_geometry *g, struct mig_profile *p)
{
    static const char *const keys[] = { "name", "slices", "units",  "starts",
                                        "max",  "sms",    "memory", "unverified" };
    double bytes = 0;
    if (!json_is_object(obj)) {
        json_problem(r->d, r->doc, at, "expected an object");
        return false;
    }
    json_known_keys(r->d, r->doc, obj, at, keys, COUNTOF(keys));
    *p = (struct mig_profile){
        .name = text_of(r, obj, at, "name", true),
        .unverified = text_of(r, obj, at, "unverified", false),
        .compute_slices = int_of(r, obj, at, "slices", 1, g->compute_slices, true),
        .memory_units = int_of(r, obj, at, "units", 1, g->memory_units, false),
        .max_instances = int_of(r, obj, at, "max", 1, MIG_MAX_UNITS, true),
        .sms = int_of(r, obj, at, "sms", 1, 2048, false),
    };
    json_t *memory = json_object_get(obj, "memory");
    if (memory && quantity(r, memory, at, UNIT_BYTES, &bytes)) p->usable_bytes = (uint64_t)bytes;
    if (!p->name) return false;
    p->plain = !strchr(p->name, '+');
    json_t *starts = json_object_get(obj, "starts");
    if (starts && p->memory_units) read_starts(r, starts, at, p, g->memory_units);
    return p->n_starts > 0;
}

/* How many of one profile fit when each takes the lowest free start. */
static int greedy_count(const struct mig_geometry *g, int profile)
{
    mig_mask busy = 0;
    int n = 0;
    for (int s; (s = mig_place(g, busy, profile, MIG_LOWEST)) >= 0; n++)
        busy |= mig_slice_mask(g, (struct mig_slice){ profile, s });
    return n;
}

static void check_mig(struct reader *r, const struct gpu_spec *s, const struct mig_geometry *g)
{
    for (int i = 0; i < g->n_profiles; i++) {
        const struct mig_profile *p = &g->profile[i];
        if (mig_profile_find(g, p->name) != i)
            json_problem(r->d, r->doc, "/mig/profiles", "\"%s\" is listed twice", p->name);
        if (p->plain && greedy_count(g, i) != p->max_instances)
            json_problem(r->d, r->doc, "/mig/profiles",
                         "\"%s\": at most %d by its starts, but max says %d", p->name,
                         greedy_count(g, i), p->max_instances);
        if (s->sms && p->sms * (p->plain ? p->max_instances : 1) > s->sms)
            json_problem(r->d, r->doc, "/mig/profiles", "\"%s\": %d x %d SMs on a card of %d",
                         p->name, p->max_instances, p->sms, s->sms);
        if (p->usable_bytes * (uint64_t)(p->plain ? p->max_instances : 1) > s->usable_bytes)
            json_problem(r->d, r->doc, "/mig/profiles",
                         "\"%s\": its instances hold more memory than the card's usable bytes",
                         p->name);
    }
    if (mig_reachable(g, 0) != g->compute_slices)
        json_problem(r->d, r->doc, "/mig", "no layout takes exactly %d compute slices (found %d)",
                     g->compute_slices, mig_reachable(g, 0));
}

static const struct mig_geometry *read_mig(struct reader *r, const struct gpu_spec *s)
{
    static const char *const keys[] = { "board",        "placement_status", "compute_slices",
                                        "memory_units", "full_sms",         "sources",
                                        "note",         "profiles" };
    size_t i;
    json_t *v, *obj = json_object_get(r->doc->root, "mig"), *list;
    if (!obj) return NULL;
    if (!json_is_object(obj)) {
        json_problem(r->d, r->doc, "/mig",
                     "expected an object; leave it out for a card without MIG");
        return NULL;
    }
    json_known_keys(r->d, r->doc, obj, "/mig", keys, COUNTOF(keys));
    struct mig_geometry *g = arena_alloc(r->a, sizeof *g);
    *g = (struct mig_geometry){
        .board = text_of(r, obj, "/mig", "board", true),
        .placement_status = text_of(r, obj, "/mig", "placement_status", true),
        .compute_slices = int_of(r, obj, "/mig", "compute_slices", 1, MIG_MAX_UNITS, true),
        .memory_units = int_of(r, obj, "/mig", "memory_units", 1, MIG_MAX_UNITS, true),
        .full_sms = int_of(r, obj, "/mig", "full_sms", 1, 2048, false),
    };
    list = json_object_get(obj, "profiles");
    if (!json_is_array(list) || json_array_size(list) < 1 ||
        json_array_size(list) > MIG_MAX_PROFILES) {
        json_problem(r->d, r->doc, "/mig", "expected \"profiles\" to list 1 to %d profiles",
                     MIG_MAX_PROFILES);
        return NULL;
    }
    struct mig_profile *profile = arena_array(r->a, json_array_size(list), sizeof *profile);
    json_array_foreach(list, i, v)
    {
        char at[64];
        json_pointer_index(at, sizeof at, "/mig/profiles", i);
        if (read_profile(r, v, at, g, &profile[g->n_profiles])) g->n_profiles++;
    }
    g->profile = profile;
    mig_reach_table(g, r->a);
    if (r->d->count == 0) check_mig(r, s, g);
    return g;
}

/* ---- one file ---- */

static void read_aliases(struct reader *r, struct gpu_spec *g)
{
    json_t *list = json_object_get(r->doc->root, "aliases"), *v;
    size_t i;
    if (!list) return;
    if (!json_is_array(list)) {
        json_problem(r->d, r->doc, "/aliases", "expected a list of names");
        return;
    }
    const char **alias = arena_array(r->a, json_array_size(list) + 1, sizeof *alias);
    json_array_foreach(list, i, v)
    {
        if (json_is_string(v))
            alias[g->n_aliases++] = arena_strdup(r->a, json_string_value(v));
        else
            json_problem(r->d, r->doc, "/aliases", "expected names, found something else");
    }
    g->aliases = alias;
}

static void check_name(struct reader *r, const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.");
    if (!*name || name[n])
        json_problem(r->d, r->doc, "",
                     "the file name is the card's key: lower-case letters, digits, '-' and '.', "
                     "found \"%s\"",
                     name);
}

static void check_bounds(struct reader *r, const struct gpu_spec *g)
{
    if (g->usable_bytes > g->memory_bytes)
        json_problem(r->d, r->doc, "/memory/usable", "more usable than nominal memory");
    if (!(g->idle_W <= g->idle_context_W && g->idle_context_W <= g->busy_W &&
          g->busy_W <= g->tdp_W))
        json_problem(r->d, r->doc, "/power", "expected idle <= idle_context <= busy <= tdp");
}

static const char *kind_of(struct reader *r, const char *key)
{
    char at[64];
    json_t *obj = json_object_get(json_object_get(r->doc->root, "link"), key);
    return obj ? text_of(r, obj, json_pointer_key(at, sizeof at, "/link", key), "kind", true)
               : NULL;
}

void gpu_read(struct gpu_spec *out, struct arena *a, const struct json_doc *doc, const char *name,
              struct diag *d)
{
    struct reader r = { a, doc, d };
    struct numbers n = { .ignored = PROV_PUBLISHED };
    char found[80];
    *out = (struct gpu_spec){ .name = arena_strdup(a, name), .sheet = doc->root, .devices = 1 };
    if (!json_is_object(doc->root)) {
        json_problem(d, doc, "", "expected a card, that is an object, found %s",
                     json_found(found, sizeof found, doc->root));
        return;
    }
    fields_is_format(doc, "gpusim-gpu/1", d);
    json_known_keys(d, doc, doc->root, "", top_keys, COUNTOF(top_keys));
    check_name(&r, name);
    out->model = text_of(&r, doc->root, "", "model", true);
    out->vendor = text_of(&r, doc->root, "", "vendor", true);
    out->arch = text_of(&r, doc->root, "", "arch", true);
    out->form = text_of(&r, doc->root, "", "form", true);
    out->release = text_of(&r, doc->root, "", "release", false);
    out->note = text_of(&r, doc->root, "", "note", false);
    read_aliases(&r, out);
    read_numbers(&r, &n);
    out->memory_type = text_of(&r, json_object_get(doc->root, "memory"), "/memory", "type", false);
    out->link = kind_of(&r, "gpu");
    out->pcie = kind_of(&r, "pcie");
    if (!isnan(n.devices)) out->devices = (int)n.devices;
    if (!isnan(n.sms)) out->sms = (int)n.sms;
    out->boost_Hz = n.boost;
    out->matrix_Hz = isnan(n.matrix_clock) ? n.boost : n.matrix_clock;
    if (!isnan(n.nominal)) out->memory_bytes = (uint64_t)n.nominal;
    if (!isnan(n.usable)) out->usable_bytes = (uint64_t)n.usable;
    out->usable_from = n.usable_from;
    out->mem_Bps = n.bandwidth;
    out->tdp_W = n.tdp;
    out->idle_W = n.idle;
    out->idle_context_W = n.idle_context;
    out->busy_W = n.busy;
    out->idle_from = n.idle_from;
    out->idle_context_from = n.idle_context_from;
    out->busy_from = n.busy_from;
    out->link_Bps = n.gpu;
    out->pcie_Bps = n.pcie;
    read_peaks(&r, out);
    check_peaks(&r, out, &n);
    if (d->count == 0) check_bounds(&r, out);
    out->mig = read_mig(&r, out);
}

double gpu_power_W(const struct gpu_spec *g, bool has_context, double u)
{
    if (!has_context) return g->idle_W;
    return g->idle_context_W + (g->busy_W - g->idle_context_W) * u;
}
