/* base/json_path.c - members of a document by dotted path, "fleet.a100.nodes". */
#include "base/json.h"

#include "base/json_inside.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The member of `v` that a key of `len` bytes names; *index is set for arrays. */
static json_t *member(json_t *v, const char *key, size_t len, size_t *index)
{
    if (json_is_object(v)) return json_object_getn(v, key, len);
    if (!json_is_array(v)) return NULL;

    size_t i;
    json_t *each;
    json_array_foreach(v, i, each)
    {
        json_t *name = json_object_get(each, "name");
        if (!json_is_string(name) || json_string_length(name) != len) continue;
        if (memcmp(json_string_value(name), key, len) != 0) continue;
        *index = i;
        return each;
    }
    char number[24];
    if (len >= sizeof number) return NULL;
    memcpy(number, key, len);
    number[len] = '\0';
    if (!json_index_of(number, index)) return NULL;
    return json_array_get(v, *index);
}

/* Keys may hold dots themselves ("1g.5gb"), so each way to cut is tried, shortest key first.
 * *good (may be NULL) grows to how much of the path led somewhere. */
static json_t *walk(json_t *v, const char *path, const char **good)
{
    if (!*path) return v;
    for (const char *dot = path;; dot++) {
        dot += strcspn(dot, ".");
        size_t index;
        json_t *next = member(v, path, (size_t)(dot - path), &index);
        if (next) {
            if (good && dot > *good) *good = dot;
            json_t *end = *dot ? walk(next, dot + 1, good) : next;
            if (end) return end;
        }
        if (!*dot) return NULL;
    }
}

json_t *json_path_get(json_t *root, const char *dotted)
{
    return root && *dotted ? walk(root, dotted, NULL) : NULL;
}

/* Names of the members of `v` for a hint. */
static size_t member_names(json_t *v, const char **names, size_t max)
{
    size_t n = 0, i;
    const char *key;
    json_t *each;

    if (json_is_object(v)) {
        json_object_foreach(v, key, each)
        {
            if (n < max) names[n++] = key;
        }
    } else {
        json_array_foreach(v, i, each)
        {
            const char *name = json_string_value(json_object_get(each, "name"));
            if (name && n < max) names[n++] = name;
        }
    }
    return n;
}

static int no_such_path(json_t *root, const char *dotted, struct err *e)
{
    const char *good = dotted, *names[64];
    json_t *last = root;
    char *prefix;

    walk(root, dotted, &good);
    prefix = xstrndup(dotted, (size_t)(good - dotted));
    if (*prefix) last = json_path_get(root, prefix);
    const char *rest = *prefix && *good == '.' ? good + 1 : good;
    char *word = xstrndup(rest, strcspn(rest, "."));
    const bool first = e && e->code == ERR_OK;
    int rc;
    if (!*dotted)
        rc = err_set(e, ERR_USAGE, NULL, "an empty path");
    else if (!json_is_object(last) && !json_is_array(last))
        rc = err_set(e, ERR_USAGE, NULL, "path \"%s\": \"%s\" is a plain value without members",
                     dotted, prefix);
    else
        rc = err_set(e, ERR_USAGE, NULL, "path \"%s\": no \"%s\" in %s%s%s", dotted, word,
                     *prefix ? "\"" : "", *prefix ? prefix : "the document", *prefix ? "\"" : "");
    if (first && last)
        json_hint_names(e, word, "it has", names,
                        member_names(last, names, sizeof names / sizeof *names));
    free(word);
    free(prefix);
    return rc;
}

int json_path_set(json_t *root, const char *dotted, const char *text, struct err *e)
{
    const size_t len = strlen(dotted);
    json_t *value = NULL;
    int failed = -1;

    if (!*dotted || dotted[len - 1] == '.' || dotted[0] == '.')
        return err_set(e, ERR_USAGE, NULL, "path \"%s\": an empty key", dotted);
    value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (!value) value = json_string(text);
    if (!value) return err_set(e, ERR_USAGE, NULL, "path \"%s\": the value is not UTF-8", dotted);

    /* Where to cut between parent and last key: an existing member wins over a new key. */
    json_t *parent = NULL;
    const char *key = NULL;
    for (const char *cut = dotted + len; cut > dotted; cut--) {
        if (cut[-1] != '.' && cut - 1 != dotted) continue;
        const bool top = cut - 1 == dotted && cut[-1] != '.';
        const char *k = top ? dotted : cut;
        char *prefix = xstrndup(dotted, top ? 0 : (size_t)(cut - 1 - dotted));
        json_t *p = top ? root : json_path_get(root, prefix);
        size_t index;
        free(prefix);
        if (!p) continue;
        const bool exists = member(p, k, strlen(k), &index);
        if (exists || (!parent && json_is_object(p) && !strchr(k, '.'))) {
            parent = p;
            key = k;
        }
        if (exists) break;
    }
    if (json_is_object(parent)) {
        failed = json_object_set(parent, key, value);
    } else if (json_is_array(parent)) {
        size_t index = 0;
        if (member(parent, key, strlen(key), &index)) failed = json_array_set(parent, index, value);
    }
    json_decref(value);
    return failed ? no_such_path(root, dotted, e) : 0;
}
