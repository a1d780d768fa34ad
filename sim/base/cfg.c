#include "base/cfg.h"

#include "base/mem.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

enum { POINTER_MAX = 512 };

/* What one call of cfg_read hands around. */
struct reader {
    struct arena *a;
    const struct json_doc *doc;
    struct diag *d;
};

static bool bounded(const struct cfg_field *f, double *min, double *max)
{
    *min = f->min;
    *max = f->max;
    if (f->min != 0 || f->max != 0) return true;
    *max = 1;
    return f->type == CFG_RATIO;
}

static const char *type_name(const struct cfg_field *f)
{
    switch (f->type) {
    case CFG_BOOL: return "true or false";
    case CFG_INT: return "a whole number";
    case CFG_REAL: return "a number";
    case CFG_RATIO: return "a ratio";
    case CFG_TEXT: return "a text";
    case CFG_CHOICE: return "a choice";
    case CFG_TIME: return unit_expected(UNIT_TIME);
    case CFG_BYTES: return unit_expected(UNIT_BYTES);
    case CFG_QTY: return unit_expected(f->dim);
    case CFG_JSON: return "a value";
    }
    return "a value";
}

static bool has_dim(const struct cfg_field *f, enum unit_dim *dim)
{
    switch (f->type) {
    case CFG_TIME: *dim = UNIT_TIME; return true;
    case CFG_BYTES: *dim = UNIT_BYTES; return true;
    case CFG_QTY: *dim = f->dim; return true;
    default: return false;
    }
}

/* A bound as the user would write it. */
static void format_bound(char *buf, size_t size, const struct cfg_field *f, double v)
{
    enum unit_dim dim;

    if (has_dim(f, &dim))
        unit_format(buf, size, dim, v);
    else
        snprintf(buf, size, fabs(v) < 1e16 && v == floor(v) ? "%.0f" : "%.15g", v);
}

static void format_range(char *buf, size_t size, const struct cfg_field *f)
{
    char low[64], high[64];
    double min, max;

    buf[0] = '\0';
    if (!bounded(f, &min, &max)) return;
    format_bound(low, sizeof low, f, min);
    format_bound(high, sizeof high, f, max);
    if (isinf(min))
        snprintf(buf, size, "at most %s", high);
    else if (isinf(max))
        snprintf(buf, size, "at least %s", low);
    else
        snprintf(buf, size, "from %s to %s", low, high);
}

static struct err *wrong_type(const struct reader *r, const struct cfg_field *f, const json_t *v,
                              const char *pointer)
{
    char found[96];

    return json_problem(r->d, r->doc, pointer, "expected %s, found %s", type_name(f),
                        json_found(found, sizeof found, v));
}

static bool in_range(const struct reader *r, const struct cfg_field *f, const json_t *v,
                     const char *pointer, double value)
{
    char found[96], range[160];
    double min, max;

    if (!bounded(f, &min, &max) || (value >= min && value <= max)) return true;
    format_range(range, sizeof range, f);
    struct err *e = json_problem(r->d, r->doc, pointer, "expected a value %s, found %s", range,
                                 json_found(found, sizeof found, v));
    if (f->type == CFG_RATIO && value > max && value <= 100 * max)
        err_hint(e, "ratios are not percent: write %.15g for %.15g %%", value / 100, value);
    return false;
}

/* ---- one reader per type: true when the member was set ---------------------------------------- */

static bool read_int(const struct reader *r, const struct cfg_field *f, const json_t *v,
                     const char *pointer, int64_t *out)
{
    const double real = json_number_value(v);

    if (!json_is_number(v) || (json_is_real(v) && (real != rint(real) || fabs(real) > 0x1p53))) {
        wrong_type(r, f, v, pointer);
        return false;
    }
    if (!in_range(r, f, v, pointer, real)) return false;
    *out = json_is_integer(v) ? (int64_t)json_integer_value(v) : (int64_t)real;
    return true;
}

static bool read_real(const struct reader *r, const struct cfg_field *f, const json_t *v,
                      const char *pointer, double *out)
{
    if (!json_is_number(v)) {
        struct err *e = wrong_type(r, f, v, pointer);
        if (json_is_string(v)) err_hint(e, "counts and ratios are plain numbers, without quotes");
        return false;
    }
    if (!in_range(r, f, v, pointer, json_number_value(v))) return false;
    *out = json_number_value(v);
    return true;
}

static bool read_choice(const struct reader *r, const struct cfg_field *f, const json_t *v,
                        const char *pointer, int *out)
{
    char list[300], found[96];
    size_t n = 0;

    for (; f->choices[n]; n++) {
        if (!json_is_string(v) || strcmp(json_string_value(v), f->choices[n]) != 0) continue;
        *out = (int)n;
        return true;
    }
    struct err *e = json_problem(r->d, r->doc, pointer, "expected one of %s, found %s",
                                 str_list(list, sizeof list, f->choices, n),
                                 json_found(found, sizeof found, v));
    if (json_is_string(v)) {
        const char *near = str_nearest(json_string_value(v), f->choices, n);
        if (near) err_hint(e, "did you mean \"%s\"?", near);
    }
    return false;
}

/* The next step for somebody whose quantity did not parse. */
static void hint_quantity(struct err *e, const json_t *v, enum unit_dim dim, const char *nearest)
{
    static const char *const plain[UNIT_DIMS] = {
        [UNIT_TIME] = "s",          [UNIT_BYTES] = "GiB",    [UNIT_RATE] = "GB/s",
        [UNIT_FLOPS] = "TFLOPS",    [UNIT_FREQ] = "MHz",     [UNIT_POWER] = "W",
        [UNIT_MONEY] = "USD",       [UNIT_PER_H] = "USD/h",  [UNIT_PER_Y] = "USD/y",
        [UNIT_PER_KWH] = "USD/kWh", [UNIT_CARBON] = "g/kWh",
    };
    char number[96];

    if (json_is_number(v)) {
        err_hint(e, "a unit is missing: write \"%s %s\"", json_found(number, sizeof number, v),
                 plain[dim]);
    } else if (json_is_string(v)) {
        const char *s = json_string_value(v);
        const size_t n = strspn(s, "0123456789.");
        if (nearest)
            err_hint(e, "did you mean \"%.*s %s\"?", (int)(n < 40 ? n : 40), s, nearest);
        else if (n && n < 40 && !s[n])
            err_hint(e, "a unit is missing: write \"%s %s\"", s, plain[dim]);
    }
}

static bool read_quantity(const struct reader *r, const struct cfg_field *f, const json_t *v,
                          const char *pointer, enum unit_dim dim, void *out)
{
    const char *text = json_string_value(v), *nearest = NULL;
    double value = 0;
    simtime ns = 0;
    uint64_t bytes = 0;
    int rc = -1;

    if (text && f->type == CFG_TIME) {
        rc = unit_parse_time(text, &ns, &nearest);
        value = simtime_s(ns);
    } else if (text && f->type == CFG_BYTES) {
        rc = unit_parse_bytes(text, &bytes, &nearest);
        value = (double)bytes;
    } else if (text) {
        rc = unit_parse(text, dim, &value, &nearest);
    }
    /* What is too large for the integer it goes to is still a quantity: say what would be in
     * range. */
    if (rc && text && unit_parse(text, dim, &value, NULL) == 0 &&
        !in_range(r, f, v, pointer, value))
        return false;
    if (rc) {
        hint_quantity(wrong_type(r, f, v, pointer), v, dim, nearest);
        return false;
    }
    if (!in_range(r, f, v, pointer, value)) return false;
    if (f->type == CFG_TIME)
        memcpy(out, &ns, sizeof ns);
    else if (f->type == CFG_BYTES)
        memcpy(out, &bytes, sizeof bytes);
    else
        memcpy(out, &value, sizeof value);
    return true;
}

static bool read_member(const struct reader *r, const struct cfg_field *f, json_t *v,
                        const char *pointer, void *out)
{
    enum unit_dim dim = UNIT_TIME;

    switch (f->type) {
    case CFG_BOOL:
        if (!json_is_boolean(v)) {
            struct err *e = wrong_type(r, f, v, pointer);
            if (json_is_string(v)) err_hint(e, "without quotes: true or false");
            return false;
        }
        *(bool *)out = json_is_true(v);
        return true;
    case CFG_INT: return read_int(r, f, v, pointer, out);
    case CFG_REAL:
    case CFG_RATIO: return read_real(r, f, v, pointer, out);
    case CFG_TEXT:
        if (!json_is_string(v)) {
            wrong_type(r, f, v, pointer);
            return false;
        }
        *(const char **)out = arena_strdup(r->a, json_string_value(v));
        return true;
    case CFG_CHOICE: return read_choice(r, f, v, pointer, out);
    case CFG_TIME:
    case CFG_BYTES:
    case CFG_QTY: has_dim(f, &dim); return read_quantity(r, f, v, pointer, dim, out);
    case CFG_JSON: *(json_t **)out = v; return true;
    }
    return false;
}

static void set_absent(const struct cfg_field *f, void *out)
{
    switch (f->type) {
    case CFG_BOOL: *(bool *)out = false; break;
    case CFG_INT: *(int64_t *)out = CFG_NO_INT; break;
    case CFG_REAL:
    case CFG_RATIO:
    case CFG_QTY: *(double *)out = (double)NAN; break;
    case CFG_TEXT: *(const char **)out = NULL; break;
    case CFG_CHOICE: *(int *)out = CFG_NO_CHOICE; break;
    case CFG_TIME: *(simtime *)out = CFG_NO_TIME; break;
    case CFG_BYTES: *(uint64_t *)out = CFG_NO_BYTES; break;
    case CFG_JSON: *(json_t **)out = NULL; break;
    }
}

/* Defaults go through the same reader; one that does not pass is our own mistake. */
static void set_default(struct arena *a, const struct cfg_field *f, void *out)
{
    struct diag d;
    const struct reader r = { .a = a, .d = &d };
    json_t *v = NULL;

    set_absent(f, out);
    if (!f->dflt || f->type == CFG_JSON) return;
    diag_init(&d);
    if (f->type == CFG_BOOL || f->type == CFG_INT || f->type == CFG_REAL || f->type == CFG_RATIO)
        v = json_loads(f->dflt, JSON_DECODE_ANY, NULL);
    else
        v = json_string(f->dflt);
    if (!v || !read_member(&r, f, v, "", out))
        BUG("default \"%s\" of field \"%s\": %s", f->dflt, f->name,
            d.count ? d.problem[0].msg : "not JSON");
    json_decref(v);
    diag_fini(&d);
}

static void report_unknown(const struct cfg_field *fields, size_t n, const struct reader *r,
                           json_t *obj, const char *pointer, const char *const *more, size_t n_more)
{
    VEC(const char *) keys = { 0 };

    for (size_t i = 0; i < n; i++) vec_push(&keys, fields[i].name);
    for (size_t i = 0; i < n_more; i++) vec_push(&keys, more[i]);
    json_known_keys(r->d, r->doc, obj, pointer, keys.v, keys.n);
    vec_fini(&keys);
}

void cfg_read(const struct cfg_field *fields, size_t n, void *out, struct arena *a,
              const struct json_doc *doc, json_t *obj, const char *pointer,
              const char *const *more_keys, size_t n_more, struct diag *d)
{
    const struct reader r = { .a = a, .doc = doc, .d = d };

    for (size_t i = 0; i < n; i++) set_default(a, &fields[i], (char *)out + fields[i].offset);
    if (obj && !json_is_object(obj)) {
        char found[96];
        json_problem(d, doc, pointer, "expected an object, found %s",
                     json_found(found, sizeof found, obj));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct cfg_field *f = &fields[i];
        json_t *v = json_object_get(obj, f->name);
        char at[POINTER_MAX];
        if (v) {
            read_member(&r, f, v, json_pointer_key(at, sizeof at, pointer, f->name),
                        (char *)out + f->offset);
        } else if (f->required) {
            json_problem(d, doc, pointer, "expected a member \"%s\" (%s), found none", f->name,
                         f->help ? f->help : type_name(f));
        }
    }
    if (obj) report_unknown(fields, n, &r, obj, pointer, more_keys, n_more);
}

/* NULL: absent. A new reference. */
static json_t *write_member(const struct cfg_field *f, const void *in)
{
    char text[64];

    switch (f->type) {
    case CFG_BOOL: return json_boolean(*(const bool *)in);
    case CFG_INT: {
        const int64_t v = *(const int64_t *)in;
        return v == CFG_NO_INT ? NULL : json_integer((json_int_t)v);
    }
    case CFG_REAL:
    case CFG_RATIO: {
        const double v = *(const double *)in;
        return isfinite(v) ? json_num(v) : NULL;
    }
    case CFG_TEXT: {
        const char *v = *(const char *const *)in;
        return v ? json_string(v) : NULL;
    }
    case CFG_CHOICE: {
        const int v = *(const int *)in;
        return v == CFG_NO_CHOICE ? NULL : json_string(f->choices[v]);
    }
    case CFG_TIME: {
        const simtime v = *(const simtime *)in;
        if (v == CFG_NO_TIME || v == SIM_NEVER) return NULL;
        unit_format_time(text, sizeof text, v);
        return json_string(text);
    }
    case CFG_BYTES: {
        const uint64_t v = *(const uint64_t *)in;
        if (v == CFG_NO_BYTES) return NULL;
        unit_format_bytes(text, sizeof text, v);
        return json_string(text);
    }
    case CFG_QTY: {
        const double v = *(const double *)in;
        if (!isfinite(v)) return NULL;
        unit_format(text, sizeof text, f->dim, v);
        return json_string(text);
    }
    case CFG_JSON: return json_incref(*(json_t *const *)in);
    }
    return NULL;
}

json_t *cfg_write(const struct cfg_field *fields, size_t n, const void *in)
{
    json_t *obj = json_object();

    for (size_t i = 0; i < n; i++) {
        json_t *v = write_member(&fields[i], (const char *)in + fields[i].offset);
        if (v) json_object_set_new(obj, fields[i].name, v);
    }
    return obj;
}

/* ---- help ------------------------------------------------------------------------------------- */

enum { COLS = 4 };

static void help_cells(const struct cfg_field *f, char cell[COLS][200])
{
    static const char *const kinds[] = {
        [CFG_BOOL] = "true/false", [CFG_INT] = "integer", [CFG_REAL] = "number",
        [CFG_RATIO] = "ratio",     [CFG_TEXT] = "text",   [CFG_CHOICE] = "choice",
        [CFG_TIME] = "duration",   [CFG_BYTES] = "size",  [CFG_QTY] = "quantity",
        [CFG_JSON] = "JSON",
    };

    snprintf(cell[0], 200, "%s", f->name);
    snprintf(cell[1], 200, "%s", kinds[f->type]);
    snprintf(cell[2], 200, "%s", f->dflt ? f->dflt : f->required ? "required" : "-");
    if (f->type == CFG_CHOICE) {
        size_t n = 0;
        while (f->choices[n]) n++;
        str_list(cell[3], 200, f->choices, n);
    } else {
        format_range(cell[3], 200, f);
    }
}

const char *cfg_describe(const struct cfg_field *f, char *buf, size_t size)
{
    char cell[COLS][200];
    help_cells(f, cell);
    snprintf(buf, size, "%s%s%s%s%s", cell[1], *cell[3] && strcmp(cell[3], "-") != 0 ? ", " : "",
             strcmp(cell[3], "-") != 0 ? cell[3] : "",
             f->required ? "; required"
             : f->dflt   ? "; default "
                         : "",
             f->required || !f->dflt ? "" : f->dflt);
    return buf;
}

void cfg_help(const struct cfg_field *fields, size_t n, FILE *to)
{
    static const char *const title[COLS] = { "field", "type", "default", "values" };
    char cell[COLS][200];
    size_t width[COLS];

    if (n == 0) return;
    for (int c = 0; c < COLS; c++) width[c] = strlen(title[c]);
    for (size_t i = 0; i < n; i++) {
        help_cells(&fields[i], cell);
        for (int c = 0; c < COLS; c++)
            if (strlen(cell[c]) > width[c]) width[c] = strlen(cell[c]);
    }
    for (size_t i = 0; i <= n; i++) { /* row 0 is the title */
        if (i > 0) help_cells(&fields[i - 1], cell);
        fputs(" ", to);
        for (int c = 0; c < COLS; c++)
            fprintf(to, " %-*s ", (int)width[c], i > 0 ? cell[c] : title[c]);
        fprintf(to, " %s\n", i == 0 ? "meaning" : fields[i - 1].help ? fields[i - 1].help : "");
    }
}
