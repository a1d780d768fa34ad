#include "model/fields.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

/* Names from traces need not be UTF-8, JSON must be: bytes that are not become \xNN text. */
static char *escape_bytes(const char *s)
{
    struct strbuf b = { 0 };
    for (; *s; s++) {
        if ((unsigned char)*s < 0x80)
            strbuf_addc(&b, *s);
        else
            strbuf_addf(&b, "\\x%02x", (unsigned)(unsigned char)*s);
    }
    return b.s ? b.s : xstrdup("");
}

json_t *fields_text(const char *s)
{
    if (!s) return json_null();
    json_t *v = json_string(s);
    if (v) return v;
    char *escaped = escape_bytes(s);
    v = json_string(escaped);
    free(escaped);
    return v;
}

void fields_put(json_t *obj, const char *key, json_t *v)
{
    if (json_object_set(obj, key, v) != 0) { /* a key that is not UTF-8 */
        char *escaped = escape_bytes(key);
        json_object_set(obj, escaped, v);
        free(escaped);
    }
    json_decref(v);
}

/* Jansson's integers are signed; a larger seed is written as a decimal string. */
json_t *fields_count(uint64_t v)
{
    char buf[24];
    if (v <= INT64_MAX) return json_integer((json_int_t)v);
    snprintf(buf, sizeof buf, "%" PRIu64, v);
    return json_string(buf);
}

void fields_put_nums(json_t *obj, const void *s, const struct field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fields_put(obj, f[i].key, json_num(*(const double *)((const char *)s + f[i].offset)));
}

void fields_put_counts(json_t *obj, const void *s, const struct field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fields_put(obj, f[i].key, fields_count(*(const uint64_t *)((const char *)s + f[i].offset)));
}

void fields_put_texts(json_t *obj, const void *s, const struct field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fields_put(obj, f[i].key,
                   fields_text(*(const char *const *)((const char *)s + f[i].offset)));
}

json_t *fields_texts(const char *const *s, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(a, fields_text(s[i]));
    return a;
}

json_t *fields_numbers(const double *x, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, json_num(x[i]));
    return list;
}

/* ---- reading ---- */

/* The value of a required key. NULL after adding a problem when it is absent. */
bool fields_is_format(const struct json_doc *doc, const char *format, struct diag *d)
{
    char found[80];
    const json_t *is = json_object_get(doc->root, "format");
    if (json_is_string(is) && strcmp(json_string_value(is), format) == 0) return true;
    if (!is && !json_is_object(doc->root)) is = doc->root;
    json_problem(d, doc, json_object_get(doc->root, "format") ? "/format" : "",
                 "expected \"format\": \"%s\", found %s", format,
                 json_found(found, sizeof found, is));
    return false;
}

json_t *fields_get(const struct field_reader *r, json_t *obj, const char *at, const char *key)
{
    json_t *v = json_object_get(obj, key);
    if (!v) json_problem(r->d, r->doc, at, "missing \"%s\"", key);
    return v;
}

void fields_wrong(const struct field_reader *r, const char *at, const char *key,
                  const char *expected, const json_t *v)
{
    char pointer[FIELDS_POINTER], found[64];
    json_problem(r->d, r->doc, json_pointer_key(pointer, sizeof pointer, at, key),
                 "expected %s, found %s", expected, json_found(found, sizeof found, v));
}

double fields_get_num(const struct field_reader *r, json_t *obj, const char *at, const char *key)
{
    json_t *v = fields_get(r, obj, at, key);
    if (!v || json_is_null(v)) return NAN;
    if (json_is_number(v)) return json_number_value(v);
    fields_wrong(r, at, key, "a number or null", v);
    return NAN;
}

uint64_t fields_get_count(const struct field_reader *r, json_t *obj, const char *at,
                          const char *key)
{
    json_t *v = fields_get(r, obj, at, key);
    if (!v) return 0;
    if (json_is_integer(v) && json_integer_value(v) >= 0) return (uint64_t)json_integer_value(v);
    if (json_is_string(v)) {
        uint64_t n;
        if (dec_u64(json_string_value(v), json_string_length(v), &n) == DEC_OK) return n;
    }
    fields_wrong(r, at, key, "a count", v);
    return 0;
}

const char *fields_get_text(const struct field_reader *r, json_t *obj, const char *at,
                            const char *key)
{
    json_t *v = fields_get(r, obj, at, key);
    if (json_is_string(v)) return arena_strdup(r->a, json_string_value(v));
    if (v) fields_wrong(r, at, key, "a string", v);
    return "";
}

const char *fields_get_text_or_null(const struct field_reader *r, json_t *obj, const char *at,
                                    const char *key)
{
    json_t *v = fields_get(r, obj, at, key);
    if (!v || json_is_null(v)) return NULL;
    if (json_is_string(v)) return arena_strdup(r->a, json_string_value(v));
    fields_wrong(r, at, key, "a string or null", v);
    return NULL;
}

bool fields_get_bool(const struct field_reader *r, json_t *obj, const char *at, const char *key)
{
    json_t *v = fields_get(r, obj, at, key);
    if (v && !json_is_boolean(v)) fields_wrong(r, at, key, "true or false", v);
    return json_is_true(v);
}

/* A child object or array with its pointer; NULL after a problem. */
json_t *fields_get_child(const struct field_reader *r, json_t *obj, const char *at, const char *key,
                         json_type type, char pointer[FIELDS_POINTER])
{
    json_t *v = fields_get(r, obj, at, key);
    json_pointer_key(pointer, FIELDS_POINTER, at, key);
    if (!v || json_typeof(v) == type) return v;
    fields_wrong(r, at, key, type == JSON_OBJECT ? "an object" : "an array", v);
    return NULL;
}

/* Member i of an array that must hold objects; NULL after a problem. */
json_t *fields_get_member(const struct field_reader *r, json_t *array, const char *at, size_t i,
                          char pointer[FIELDS_POINTER])
{
    char found[64];
    json_t *v = json_array_get(array, i);
    json_pointer_index(pointer, FIELDS_POINTER, at, i);
    if (json_is_object(v)) return v;
    json_problem(r->d, r->doc, pointer, "expected an object, found %s",
                 json_found(found, sizeof found, v));
    return NULL;
}

void fields_get_nums(const struct field_reader *r, json_t *obj, const char *at, void *s,
                     const struct field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(double *)((char *)s + f[i].offset) = fields_get_num(r, obj, at, f[i].key);
}

void fields_get_counts(const struct field_reader *r, json_t *obj, const char *at, void *s,
                       const struct field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(uint64_t *)((char *)s + f[i].offset) = fields_get_count(r, obj, at, f[i].key);
}

void fields_get_texts(const struct field_reader *r, json_t *obj, const char *at, void *s,
                      const struct field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(const char **)((char *)s + f[i].offset) =
            (f[i].or_null ? fields_get_text_or_null : fields_get_text)(r, obj, at, f[i].key);
}

const char *const *fields_get_text_list(const struct field_reader *r, json_t *root, const char *at,
                                        const char *key, size_t *n)
{
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *list = fields_get_child(r, root, at, key, JSON_ARRAY, here);
    *n = json_array_size(list);
    const char **s = arena_array(r->a, *n, sizeof *s);
    for (size_t i = 0; i < *n; i++) {
        json_t *v = json_array_get(list, i);
        if (!json_is_string(v))
            json_problem(r->d, r->doc, json_pointer_index(one_at, sizeof one_at, here, i),
                         "expected a string");
        s[i] = arena_strdup(r->a, json_is_string(v) ? json_string_value(v) : "");
    }
    return s;
}

/* `n` numbers; what is missing is NAN. */
const double *fields_get_numbers(const struct field_reader *r, json_t *o, const char *at,
                                 const char *key, size_t *n)
{
    char here[FIELDS_POINTER];
    json_t *list = fields_get_child(r, o, at, key, JSON_ARRAY, here);
    double *x = arena_array(r->a, json_array_size(list) + 1, sizeof *x);
    for (*n = 0; *n < json_array_size(list); ++*n) {
        json_t *one = json_array_get(list, *n);
        char one_at[FIELDS_POINTER], found[96];
        x[*n] = json_is_number(one) ? json_number_value(one) : NAN;
        if (json_is_number(one) || json_is_null(one)) continue;
        json_problem(r->d, r->doc, json_pointer_index(one_at, sizeof one_at, here, *n),
                     "expected a number or null, found %s", json_found(found, sizeof found, one));
    }
    return x;
}
