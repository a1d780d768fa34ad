#include "base/json_shape.h"

#include "base/dec.h"

#include <string.h>

/* Where the walk is, from the inside out. */
struct place {
    const struct place *in; /* NULL: the root */
    const char *key;        /* NULL: member `index` of an array */
    size_t index;
};

struct walk {
    const struct json_doc *doc;
    struct diag *d;
};

enum { POINTER = 512 };

static const char *pointer_of(const struct place *at, char buf[POINTER])
{
    char outer[POINTER];
    if (!at->in) return strcpy(buf, "");
    pointer_of(at->in, outer);
    return at->key ? json_pointer_key(buf, POINTER, outer, at->key)
                   : json_pointer_index(buf, POINTER, outer, at->index);
}

static void expected(const struct walk *w, const struct place *at, const char *what,
                     const json_t *found)
{
    char pointer[POINTER], text[96];
    json_problem(w->d, w->doc, pointer_of(at, pointer), "expected %s, found %s", what,
                 json_found(text, sizeof text, found));
}

static bool is_text(const json_t *v)
{
    return json_is_string(v);
}

static bool is_text_or_null(const json_t *v)
{
    return json_is_string(v) || json_is_null(v);
}

static bool is_number(const json_t *v)
{
    return json_is_number(v) || json_is_null(v);
}

static bool is_count(const json_t *v)
{
    uint64_t n;
    if (json_is_string(v))
        return dec_u64(json_string_value(v), json_string_length(v), &n) == DEC_OK;
    return json_is_integer(v) && json_integer_value(v) >= 0;
}

static bool is_flag(const json_t *v)
{
    return json_is_boolean(v);
}

static bool is_object(const json_t *v)
{
    return json_is_object(v);
}

typedef bool is_one(const json_t *v);

static const struct one {
    is_one *is;
    const char *words;
} texts = { is_text, "a string" }, texts_or_null = { is_text_or_null, "a string or null" },
  numbers = { is_number, "a number or null" }, counts = { is_count, "a count" },
  flags = { is_flag, "true or false" }, objects = { is_object, "an object" };

/* What a kind holds, and how deep: one value, an array or a map of them, a map of arrays. */
static const struct kind {
    const struct one *one;
    bool map, array;
} kinds[] = {
    [JSON_KIND_TEXT] = { &texts, false, false },
    [JSON_KIND_TEXT_OR_NULL] = { &texts_or_null, false, false },
    [JSON_KIND_NUMBER] = { &numbers, false, false },
    [JSON_KIND_COUNT] = { &counts, false, false },
    [JSON_KIND_FLAG] = { &flags, false, false },
    [JSON_KIND_OBJECT] = { &objects, false, false },
    [JSON_KIND_TEXTS] = { &texts, false, true },
    [JSON_KIND_NUMBERS] = { &numbers, false, true },
    [JSON_KIND_OBJECTS] = { &objects, false, true },
    [JSON_KIND_MAP_OF_TEXTS] = { &texts, true, false },
    [JSON_KIND_MAP_OF_NUMBERS] = { &numbers, true, false },
    [JSON_KIND_MAP_OF_NUMBER_LISTS] = { &numbers, true, true },
    [JSON_KIND_MAP_OF_OBJECTS] = { &objects, true, false },
};

static void walk_object(const struct walk *w, json_t *object, const struct place *at,
                        const struct json_shape *shape);

static void walk_one(const struct walk *w, json_t *v, const struct place *at, const struct one *one,
                     const struct json_shape *of)
{
    if (!one->is(v))
        expected(w, at, one->words, v);
    else if (of)
        walk_object(w, v, at, of);
}

static void walk_array(const struct walk *w, json_t *v, const struct place *at,
                       const struct one *one, const struct json_shape *of)
{
    if (!json_is_array(v)) {
        expected(w, at, "an array", v);
        return;
    }
    for (size_t i = 0; i < json_array_size(v); i++)
        walk_one(w, json_array_get(v, i), &(struct place){ at, NULL, i }, one, of);
}

static void walk_map(const struct walk *w, json_t *v, const struct place *at,
                     const struct kind *kind, const struct json_shape *of)
{
    const char *key;
    json_t *one;
    if (!json_is_object(v)) {
        expected(w, at, "an object", v);
        return;
    }
    json_object_foreach(v, key, one)
    {
        (kind->array ? walk_array : walk_one)(w, one, &(struct place){ at, key, 0 }, kind->one, of);
    }
}

static void walk_object(const struct walk *w, json_t *object, const struct place *at,
                        const struct json_shape *shape)
{
    for (const struct json_shape *s = shape; s->key; s++) {
        json_t *v = json_object_get(object, s->key);
        const struct place here = { at, s->key, 0 };
        const struct kind *kind = &kinds[s->kind];
        char pointer[POINTER];
        if (!v && !s->optional)
            json_problem(w->d, w->doc, pointer_of(at, pointer), "missing \"%s\"", s->key);
        else if (v && kind->map)
            walk_map(w, v, &here, kind, s->of);
        else if (v)
            (kind->array ? walk_array : walk_one)(w, v, &here, kind->one, s->of);
    }
}

void json_shape_check(const struct json_doc *doc, const struct json_shape *shape, struct diag *d)
{
    const struct walk w = { doc, d };
    const struct place root = { 0 };
    walk_one(&w, doc->root, &root, &objects, shape);
}
