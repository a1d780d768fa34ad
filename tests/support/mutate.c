#include "support/mutate.h"

#include "support/support.h"

/* A member of the document, any one, with the container it is in. */
struct spot {
    json_t *in;
    const char *key; /* NULL: of a list, at `at` */
    size_t at;
};

static void spots_of(json_t *v, struct spot *list, size_t *n, size_t most)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_object(v)) json_object_foreach(v, key, member)
        {
            if (*n < most) list[(*n)++] = (struct spot){ v, key, 0 };
            spots_of(member, list, n, most);
        }
    else
        json_array_foreach(v, i, member)
        {
            if (*n < most) list[(*n)++] = (struct spot){ v, NULL, i };
            spots_of(member, list, n, most);
        }
}

static json_t *value_at(const struct spot *s)
{
    return s->key ? json_object_get(s->in, s->key) : json_array_get(s->in, s->at);
}

static void set_at(const struct spot *s, json_t *value)
{
    if (s->key)
        json_object_set_new(s->in, s->key, value);
    else
        json_array_set_new(s->in, s->at, value);
}

/* Mostly of the kind that is there, else nearly all would be refused for that. */
static json_t *odd_value(const json_t *old, const char *const *odd, size_t n_odd, uint64_t *seed)
{
    json_t *v = NULL;
    for (int i = 0; i < 8; i++) {
        json_decref(v);
        v = json_loads(odd[test_random(seed) % n_odd], JSON_DECODE_ANY, NULL);
        if (json_is_number(old) ? json_is_number(v) : json_typeof(old) == json_typeof(v)) break;
    }
    return v;
}

void mutate(json_t *doc, const char *const *odd, size_t n_odd, uint64_t *seed)
{
    static struct spot list[20000];
    size_t n = 0;
    spots_of(doc, list, &n, sizeof list / sizeof *list);
    const struct spot *s = &list[test_random(seed) % n], *other = &list[test_random(seed) % n];
    switch (test_random(seed) % 6) {
    case 0:
        if (s->key)
            json_object_del(s->in, s->key);
        else
            json_array_remove(s->in, s->at);
        break;
    case 1: set_at(s, json_deep_copy(value_at(other))); break;
    case 2:
        if (!s->key && json_array_size(s->in) < 20)
            json_array_append_new(s->in, json_deep_copy(value_at(s)));
        break;
    default: set_at(s, odd_value(value_at(s), odd, n_odd, seed));
    }
}
