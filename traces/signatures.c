#include "traces/signatures.h"

#include "base/csv.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/symtab.h"
#include "base/units.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS = 8, LINES = 20 };

struct field {
    sym name;
    struct sig_stat stat;
};

struct sig_entity {
    enum sig_level level;
    char *label[SIG_LABELS]; /* never NULL */
    VEC(struct field) fields;
    bool measured;
    struct sig_measure measure;
    json_t *flags; /* array of texts */
};

struct reason {
    const struct import_reason *why;
    uint64_t rows;
    struct {
        int file, line;
    } first[LINES];
};

struct sig_set {
    VEC(struct sig_entity *) all;
    json_t *index; /* key -> place in `all` */
    struct symtab *names;
    json_t *warnings;
    uint64_t kept;
    FILE *quarantine; /* NULL: none */
    const char *const *files;
    struct reason reason[REASONS];
    size_t reasons;
};

static const char *const label_names[SIG_LABELS] = { "host",      "uuid",        "gpu",
                                                     "model",     "mig_profile", "mig_instance",
                                                     "namespace", "pod",         "container" };

struct sig_set *sig_create(FILE *quarantine, const char *const *files)
{
    struct sig_set *s = xcalloc(1, sizeof *s);
    s->quarantine = quarantine;
    s->files = files;
    s->index = json_object();
    s->names = symtab_create();
    s->warnings = json_array();
    return s;
}

void sig_destroy(struct sig_set *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->all.n; i++) {
        struct sig_entity *t = s->all.v[i];
        for (int l = 0; l < SIG_LABELS; l++) free(t->label[l]);
        vec_fini(&t->fields);
        json_decref(t->flags);
        free(t);
    }
    vec_fini(&s->all);
    json_decref(s->index);
    json_decref(s->warnings);
    symtab_destroy(s->names);
    free(s);
}

struct sig_entity *sig_find(struct sig_set *s, enum sig_level level,
                            const char *const label[SIG_LABELS])
{
    struct strbuf key = { 0 };
    strbuf_addc(&key, level == SIG_CARD ? 'c' : 'e');
    for (int l = 0; l < SIG_LABELS; l++) {
        const bool part = level == SIG_ENTITY || l == SIG_host || l == SIG_uuid || l == SIG_gpu;
        strbuf_addf(&key, "\x1f%s", part && label[l] ? label[l] : "");
    }
    const json_t *at = json_object_get(s->index, key.s);
    struct sig_entity *t;
    if (at) {
        t = s->all.v[json_integer_value(at)];
    } else {
        t = xcalloc(1, sizeof *t);
        t->level = level;
        t->flags = json_array();
        for (int l = 0; l < SIG_LABELS; l++) {
            const bool own = level == SIG_ENTITY || l <= SIG_model;
            t->label[l] = xstrdup(own && label[l] ? label[l] : "");
        }
        json_object_set_new_nocheck(s->index, key.s, json_integer((json_int_t)s->all.n));
        vec_push(&s->all, t);
    }
    strbuf_fini(&key);
    return t;
}

void sig_add(struct sig_set *s, struct sig_entity *t, const char *field, size_t field_len, double v)
{
    const sym name = symtab_add(s->names, field, field_len);
    size_t i = 0;
    while (i < t->fields.n && t->fields.v[i].name != name) i++;
    if (i == t->fields.n) vec_push(&t->fields, ((struct field){ name, { 0, 0, v, v, v } }));
    struct sig_stat *st = &t->fields.v[i].stat;
    st->n++;
    st->sum += v;
    if (v < st->min) st->min = v;
    if (v > st->max) st->max = v;
    st->last = v;
}

const struct sig_stat *sig_get(const struct sig_set *s, const struct sig_entity *t,
                               const char *field)
{
    const sym name = symtab_find(s->names, field);
    for (size_t i = 0; name && i < t->fields.n; i++)
        if (t->fields.v[i].name == name) return &t->fields.v[i].stat;
    return NULL;
}

const char *sig_label_of(const struct sig_entity *t, enum sig_label l)
{
    return t->label[l];
}

size_t sig_count(const struct sig_set *s)
{
    return s->all.n;
}

struct sig_entity *sig_at(const struct sig_set *s, size_t i)
{
    return s->all.v[i];
}

enum sig_level sig_level_of(const struct sig_entity *t)
{
    return t->level;
}

void sig_measure(struct sig_entity *t, const struct sig_measure *m)
{
    t->measured = true;
    t->measure = *m;
}

static json_t *text_of(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
static json_t *text_of(const char *fmt, va_list ap)
{
    char text[400];
    vsnprintf(text, sizeof text, fmt, ap);
    json_t *v = json_string(text);
    return v ? v : json_string("(text that is not UTF-8)");
}

void sig_flag(struct sig_set *s, struct sig_entity *t, const char *fmt, ...)
{
    va_list ap;
    (void)s;
    va_start(ap, fmt);
    json_array_append_new(t->flags, text_of(fmt, ap));
    va_end(ap);
}

void sig_warn(struct sig_set *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    json_array_append_new(s->warnings, text_of(fmt, ap));
    va_end(ap);
}

bool sig_check_range(struct sig_set *s, struct sig_entity *t, const char *field, double lo,
                     double hi)
{
    const struct sig_stat *st = sig_get(s, t, field);
    if (!st || (st->min >= lo && st->max <= hi)) return true;
    sig_flag(s, t, "%s out of range %g..%g: from %.9g to %.9g", field, lo, hi, st->min, st->max);
    return false;
}

void sig_kept(struct sig_set *s)
{
    s->kept++;
}

void sig_quarantine(struct sig_set *s, const struct import_reason *why, int file, int line,
                    const char *raw, size_t raw_len)
{
    if (s->quarantine) {
        csv_put(s->quarantine, s->files[file], strlen(s->files[file]));
        fprintf(s->quarantine, ",%d,%s,,", line, why->key);
        csv_put(s->quarantine, raw, raw_len);
        putc('\n', s->quarantine);
    }
    size_t i = 0;
    while (i < s->reasons && s->reason[i].why != why) i++;
    if (i == REASONS) BUG("a format with more than %d reasons", REASONS);
    if (i == s->reasons) s->reason[s->reasons++] = (struct reason){ .why = why };
    struct reason *r = &s->reason[i];
    if (r->rows < LINES) {
        r->first[r->rows].file = file;
        r->first[r->rows].line = line;
    }
    r->rows++;
}

/* ---- the document ------------------------------------------------------------------------------ */

static double tidy(double v) /* nine decimals say all there is */
{
    return round(v * 1e9) / 1e9;
}

static bool share(double v)
{
    return v >= 0 && v <= 1; /* false for NAN */
}

static json_t *signature(const struct sig_entity *t)
{
    const struct sig_measure *m = &t->measure;
    char text[64];
    json_t *o = json_object();
    const double duty = tidy(m->duty), memory = share(m->memory) ? fmin(tidy(m->memory), duty) : 0;
    json_object_set_new(o, "host", json_num(tidy(1 - duty)));
    json_object_set_new(o, "compute", json_num(tidy(duty - memory)));
    json_object_set_new(o, "memory", json_num(memory));
    const double width = duty > 0 && share(m->sm) ? tidy(m->sm / duty) : NAN;
    if (share(width) && width > 0) json_object_set_new(o, "sm_width", json_num(width));
    if (m->footprint_bytes > 0 && m->footprint_bytes < 1e15) {
        unit_format_bytes(text, sizeof text, (uint64_t)m->footprint_bytes);
        json_object_set_new(o, "footprint", json_string(text));
    }
    if (m->pcie_Bps > 0 && m->pcie_Bps <= 1e13) {
        unit_format(text, sizeof text, UNIT_RATE, round(m->pcie_Bps));
        json_object_set_new(o, "pcie", json_string(text));
    }
    const char *slice = t->label[SIG_mig_profile];
    json_t *source = json_sprintf("%s; %s%s%s", m->method,
                                  t->label[SIG_model][0] ? t->label[SIG_model] : "unnamed card",
                                  slice[0] ? ", shares are those of a slice " : "", slice);
    json_object_set_new(o, "source", source ? source : json_string(m->method));
    return o;
}

/* "namespace/pod", else "gpu0", "gpu0-1g.5gb-9", with the host in front when several are there. */
static char *name_of(const struct sig_entity *t, bool hosts, const json_t *taken)
{
    struct strbuf b = { 0 };
    if (t->label[SIG_pod][0]) {
        if (t->label[SIG_namespace][0]) strbuf_addf(&b, "%s/", t->label[SIG_namespace]);
        strbuf_addz(&b, t->label[SIG_pod]);
    } else {
        if (hosts && t->label[SIG_host][0]) strbuf_addf(&b, "%s/", t->label[SIG_host]);
        strbuf_addf(&b, "gpu%s", t->label[SIG_gpu]);
        if (t->label[SIG_mig_profile][0]) strbuf_addf(&b, "-%s", t->label[SIG_mig_profile]);
        if (t->label[SIG_mig_instance][0]) strbuf_addf(&b, "-%s", t->label[SIG_mig_instance]);
    }
    const size_t len = b.len;
    for (int i = 2; json_object_get(taken, b.s); i++) {
        b.len = len;
        b.s[len] = '\0';
        strbuf_addf(&b, "#%d", i);
    }
    return b.s;
}

static json_t *labels_and_raw(const struct sig_set *s, const struct sig_entity *t)
{
    json_t *o = json_object(), *raw = json_object();
    for (int l = 0; l < SIG_LABELS; l++)
        if (t->level == SIG_ENTITY || l <= SIG_model)
            json_object_set_new(o, label_names[l],
                                t->label[l][0] ? json_string(t->label[l]) : json_null());
    for (size_t i = 0; i < t->fields.n; i++) {
        const struct sig_stat *st = &t->fields.v[i].stat;
        json_t *f = json_object();
        json_object_set_new(f, "n", json_integer((json_int_t)st->n));
        json_object_set_new(f, "mean", json_num(st->n == 1 ? st->last : st->sum / (double)st->n));
        json_object_set_new(f, "min", json_num(st->min));
        json_object_set_new(f, "max", json_num(st->max));
        json_object_set_new(f, "last", json_num(st->last));
        json_object_set_new(raw, symtab_name(s->names, t->fields.v[i].name), f);
    }
    json_object_set_new(o, "raw", raw);
    json_object_set(o, "flags", t->flags);
    return o;
}

static json_t *account(const struct sig_set *s, const char *const *files, int n_files,
                       struct import_document *out)
{
    json_t *o = json_object(), *list = json_array();
    for (size_t i = 0; i < s->reasons; i++) {
        const struct reason *r = &s->reason[i];
        json_t *q = json_object(), *lines = json_array();
        out->quarantined += r->rows;
        out->not_benign += r->why->benign ? 0 : r->rows;
        json_object_set_new(q, "reason", json_string(r->why->key));
        json_object_set_new(q, "rows", json_integer((json_int_t)r->rows));
        json_object_set_new(q, "benign", json_boolean(r->why->benign));
        json_object_set_new(q, "text", json_string(r->why->text));
        for (uint64_t k = 0; k < r->rows && k < LINES; k++)
            json_array_append_new(
                lines, n_files > 1
                           ? json_sprintf("%s:%d", files[r->first[k].file], r->first[k].line)
                           : json_integer(r->first[k].line));
        json_object_set_new(q, "lines", lines);
        json_array_append_new(list, q);
    }
    const uint64_t read = s->kept + out->quarantined;
    json_object_set_new(o, "read", json_integer((json_int_t)read));
    json_object_set_new(o, "kept", json_integer((json_int_t)s->kept));
    json_object_set_new(o, "repaired", json_integer(0));
    json_object_set_new(o, "quarantined", json_integer((json_int_t)out->quarantined));
    json_object_set_new(o, "quarantine", list);
    return o;
}

static bool several_hosts(const struct sig_set *s)
{
    for (size_t i = 1; i < s->all.n; i++)
        if (strcmp(s->all.v[i]->label[SIG_host], s->all.v[0]->label[SIG_host]) != 0) return true;
    return false;
}

void sig_document(struct sig_set *s, const char *format, const char *const *files, int n_files,
                  struct import_document *out)
{
    json_t *doc = json_object(), *list = json_array(), *profiles = json_object(),
           *entities = json_array(), *cards = json_array(), *taken = json_object();
    const bool hosts = several_hosts(s);
    size_t unknown = 0;
    for (size_t i = 0; i < s->all.n; i++) {
        const struct sig_entity *t = s->all.v[i];
        json_t *o = labels_and_raw(s, t);
        if (t->level == SIG_CARD) {
            json_array_append_new(cards, o);
            continue;
        }
        char *name = name_of(t, hosts, taken);
        const bool known = t->measured && share(t->measure.duty);
        json_object_set_new(taken, name, json_true());
        if (known) json_object_set_new(profiles, name, signature(t));
        json_object_set_new(o, "profile", known ? json_string(name) : json_null());
        json_array_append_new(entities, o);
        unknown += !known;
        free(name);
    }
    if (unknown)
        sig_warn(s, "%zu of %zu cards or slices have no usable duty: unknown, not idle", unknown,
                 json_array_size(entities));
    for (int i = 0; i < n_files; i++) json_array_append_new(list, json_string(files[i]));
    out->json = doc;
    out->quarantined = out->not_benign = 0;
    json_object_set_new(doc, "format", json_string("gpusim-signatures/1"));
    json_object_set_new(doc, "source_format", json_string(format));
    json_object_set_new(doc, "files", list);
    json_object_set_new(doc, "account", account(s, files, n_files, out));
    json_object_set_new(doc, "profiles", profiles);
    json_object_set_new(doc, "entities", entities);
    json_object_set_new(doc, "cards", cards);
    json_object_set(doc, "warnings", s->warnings);
    json_decref(taken);
}
