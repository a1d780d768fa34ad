#include "traces/k8s_objects.h"

#include "traces/wholefile.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 64 };

static int fail(const struct k8s_objects *o, int line, struct err *e, const char *what,
                const char *found)
{
    const struct loc at = { .file = o->file, .line = line };
    return err_set(e, ERR_INPUT, &at, "%s%s", what, found);
}

/* ---- JSON: cut into objects, each parsed when it is asked for -------------------------------- */

struct cutter {
    struct k8s_objects *o;
    const char *at, *end;
    int line;
};

static void skip_blanks(struct cutter *c)
{
    for (; c->at < c->end && memchr(" \t\r\n", *c->at, 4); c->at++) c->line += *c->at == '\n';
}

static bool skip_string(struct cutter *c)
{
    for (c->at++; c->at < c->end && *c->at != '"'; c->at++) {
        if (*c->at == '\n') return false;
        if (*c->at == '\\') c->at++;
    }
    if (c->at >= c->end) return false;
    c->at++;
    return true;
}

/* To the end of the value at c->at: brackets are counted, the rest is left to the parser. */
static bool skip_value(struct cutter *c)
{
    size_t depth = 0;
    do {
        skip_blanks(c);
        if (c->at >= c->end) return false;
        if (*c->at == '"') {
            if (!skip_string(c)) return false;
        } else if (memchr("{[", *c->at, 2)) {
            depth++, c->at++;
        } else if (memchr("}]", *c->at, 2)) {
            if (depth == 0) return false;
            depth--, c->at++;
        } else if (depth > 0) {
            c->at++;
        } else {
            while (c->at < c->end && !memchr(" \t\r\n,:{}[]\"", *c->at, 11)) c->at++;
        }
    } while (depth > 0);
    return true;
}

static bool keep_value(struct cutter *c)
{
    skip_blanks(c);
    struct k8s_object item = { .line = c->line, .text = c->at };
    if (!skip_value(c)) return false;
    item.len = (size_t)(c->at - item.text);
    if (item.len == 0) return false;
    vec_push(&c->o->list, item);
    return true;
}

static bool keep_array(struct cutter *c)
{
    c->at++;
    skip_blanks(c);
    if (c->at < c->end && *c->at == ']') {
        c->at++;
        return true;
    }
    for (;;) {
        if (!keep_value(c)) return false;
        skip_blanks(c);
        if (c->at >= c->end || (*c->at != ',' && *c->at != ']')) return false;
        if (*c->at++ == ']') return true;
    }
}

/* An object: its "items" if it has that array, else itself. */
static bool keep_object(struct cutter *c)
{
    struct k8s_object self = { .line = c->line, .text = c->at };
    bool list = false;
    c->at++;
    for (skip_blanks(c); c->at < c->end && *c->at != '}'; skip_blanks(c)) {
        const char *key = c->at;
        if (*c->at != '"' || !skip_string(c)) return false;
        const bool items = c->at - key == 7 && memcmp(key, "\"items\"", 7) == 0;
        skip_blanks(c);
        if (c->at >= c->end || *c->at++ != ':') return false;
        skip_blanks(c);
        if (c->at >= c->end) return false;
        if (items && *c->at == '[') {
            list = true;
            if (!keep_array(c)) return false;
        } else if (!skip_value(c)) {
            return false;
        }
        skip_blanks(c);
        if (c->at < c->end && *c->at == ',') c->at++;
    }
    if (c->at >= c->end) return false;
    c->at++;
    self.len = (size_t)(c->at - self.text);
    if (!list) vec_push(&c->o->list, self);
    return true;
}

static int cut_json(struct k8s_objects *o, struct err *e)
{
    struct cutter c = { .o = o, .at = o->text, .end = o->text + o->len, .line = 1 };
    for (skip_blanks(&c); c.at < c.end; skip_blanks(&c)) {
        const char first = *c.at;
        bool good = first == '{' ? keep_object(&c) : first == '[' && keep_array(&c);
        if (good) continue;
        if (c.at >= c.end)
            return fail(o, c.line, e, "the file ends inside a JSON value: cut off?", "");
        return fail(o, c.line, e, "this is not JSON", "");
    }
    return 0;
}

/* ---- YAML ------------------------------------------------------------------------------------ */

struct builder {
    struct k8s_objects *o;
    yaml_parser_t parser;
    VEC(struct k8s_object) marks; /* line and lines (in len) of the members of "items" */
    struct err *e;
    bool failed;
};

static void complain(struct builder *b, size_t line, const char *what, const char *found)
{
    if (!b->failed) fail(b->o, (int)line + 1, b->e, what, found);
    b->failed = true;
}

static bool next_event(struct builder *b, yaml_event_t *ev)
{
    if (yaml_parser_parse(&b->parser, ev)) return true;
    if (b->parser.error == YAML_MEMORY_ERROR) out_of_memory();
    const char *why = b->parser.problem;
    complain(b, b->parser.problem_mark.line, "this is not YAML: ", why ? why : "damaged text");
    return false;
}

static json_t *scalar(const yaml_event_t *ev)
{
    const char *s = (const char *)ev->data.scalar.value;
    if (ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        if (!*s || strcmp(s, "null") == 0 || strcmp(s, "~") == 0) return json_null();
        if (strcmp(s, "true") == 0) return json_true();
        if (strcmp(s, "false") == 0) return json_false();
    }
    return json_stringn(s, ev->data.scalar.length);
}

static json_t *node(struct builder *b, const yaml_event_t *ev, int depth, bool items);

/* Members of "items" leave a mark: where they stand in the text. */
static json_t *sequence(struct builder *b, int depth, bool items)
{
    json_t *list = json_array();
    yaml_event_t ev;
    while (!b->failed && next_event(b, &ev)) {
        const bool end = ev.type == YAML_SEQUENCE_END_EVENT;
        const size_t from = ev.start_mark.line;
        json_t *v = end ? NULL : node(b, &ev, depth + 1, false);
        yaml_event_delete(&ev);
        if (end) return list;
        if (v) json_array_append_new(list, v);
        if (items && v)
            vec_push(&b->marks,
                     ((struct k8s_object){ .line = (int)from + 1, .len = b->parser.mark.line }));
    }
    json_decref(list);
    return NULL;
}

static json_t *mapping(struct builder *b, int depth)
{
    json_t *map = json_object();
    yaml_event_t key, ev;
    while (!b->failed && next_event(b, &key)) {
        if (key.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&key);
            return map;
        }
        const char *name =
            key.type == YAML_SCALAR_EVENT ? (const char *)key.data.scalar.value : NULL;
        json_t *v = NULL;
        if (!name || strlen(name) != key.data.scalar.length)
            complain(b, key.start_mark.line, "expected a key that is plain text", "");
        else if (json_object_get(map, name))
            complain(b, key.start_mark.line, "a key that is there twice: ", name);
        else if (next_event(b, &ev)) {
            v = node(b, &ev, depth + 1, depth == 0 && strcmp(name, "items") == 0);
            yaml_event_delete(&ev);
        }
        if (v && json_object_set_new(map, name, v) < 0)
            complain(b, key.start_mark.line, "a key that is not UTF-8", "");
        yaml_event_delete(&key);
    }
    json_decref(map);
    return NULL;
}

static json_t *node(struct builder *b, const yaml_event_t *ev, int depth, bool items)
{
    json_t *v = NULL;
    if (depth > DEPTH_MAX) {
        complain(b, ev->start_mark.line, "nested too deeply", "");
    } else if (ev->type == YAML_SCALAR_EVENT) {
        v = scalar(ev);
        if (!v) complain(b, ev->start_mark.line, "text that is not UTF-8", "");
    } else if (ev->type == YAML_MAPPING_START_EVENT) {
        v = mapping(b, depth);
    } else if (ev->type == YAML_SEQUENCE_START_EVENT) {
        v = sequence(b, depth, items || depth == 0);
    } else if (ev->type == YAML_ALIAS_EVENT) {
        complain(b, ev->start_mark.line, "YAML aliases are not read", "");
    }
    return v;
}

/* The lines [from, to) of the text, counted from 0; `at` and `line` remember the last place. */
static void set_text(struct k8s_objects *o, struct k8s_object *item, size_t to, size_t *at,
                     size_t *line)
{
    const size_t from = (size_t)item->line - 1;
    if (to <= from) to = from + 1;
    size_t i = *at, n = *line;
    for (; n < from && i < o->len; i++) n += o->text[i] == '\n';
    item->text = o->text + i;
    *at = i, *line = n;
    for (; n < to && i < o->len; i++) n += o->text[i] == '\n';
    while (i > *at && memchr("\r\n", o->text[i - 1], 2)) i--;
    item->len = (size_t)(o->text + i - item->text);
}

static void keep_document(struct builder *b, json_t *root, size_t from, size_t *at, size_t *line)
{
    json_t *items = json_is_array(root) ? root : json_object_get(root, "items");
    if (json_is_array(items)) {
        for (size_t i = 0; i < json_array_size(items) && i < b->marks.n; i++) {
            struct k8s_object item = b->marks.v[i];
            item.v = json_incref(json_array_get(items, i));
            set_text(b->o, &item, b->marks.v[i].len, at, line);
            vec_push(&b->o->list, item);
        }
    } else if (json_is_object(root)) {
        struct k8s_object item = { .v = json_incref(root), .line = (int)from + 1 };
        set_text(b->o, &item, b->parser.mark.line, at, line);
        vec_push(&b->o->list, item);
    } else if (!json_is_null(root)) {
        complain(b, from, "expected a Kubernetes object, found a single value", "");
    }
}

static int build_yaml(struct k8s_objects *o, struct err *e)
{
    struct builder b = { .o = o, .e = e };
    size_t at = 0, line = 0;
    bool end = false;
    if (!yaml_parser_initialize(&b.parser))
        out_of_memory();
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)o->text, o->len);
    while (!end && !b.failed) {
        yaml_event_t ev;
        if (!next_event(&b, &ev)) break;
        end = ev.type == YAML_STREAM_END_EVENT;
        if (ev.type == YAML_SCALAR_EVENT || ev.type == YAML_MAPPING_START_EVENT ||
            ev.type == YAML_SEQUENCE_START_EVENT || ev.type == YAML_ALIAS_EVENT) {
            b.marks.n = 0;
            json_t *root = node(&b, &ev, 0, false);
            if (root) keep_document(&b, root, ev.start_mark.line, &at, &line);
            json_decref(root);
        }
        yaml_event_delete(&ev);
    }
    vec_fini(&b.marks);
    yaml_parser_delete(&b.parser);
    return b.failed ? ERR_INPUT : 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

int k8s_objects_read(struct k8s_objects *o, const char *path, struct err *e)
{
    *o = (struct k8s_objects){ 0 };
    int rc = wholefile_read(&o->text, &o->len, path, "Kubernetes objects", e);
    if (rc < 0) return rc;
    o->file = xstrdup(path);
    size_t i = o->len >= 3 && memcmp(o->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    memset(o->text, ' ', i); /* a byte-order mark is no text */
    while (i < o->len && memchr(" \t\r\n", o->text[i], 4)) i++;
    if (memchr(o->text, '\0', o->len))
        rc = fail(o, 0, e, "expected Kubernetes objects, found binary data", "");
    else if (i < o->len && (o->text[i] == '{' || o->text[i] == '['))
        rc = cut_json(o, e);
    else
        rc = build_yaml(o, e);
    if (rc == 0 && o->list.n == 0)
        rc = fail(o, 0, e, "expected Kubernetes objects, found an empty list", "");
    if (rc < 0) k8s_objects_fini(o);
    return rc;
}

void k8s_objects_fini(struct k8s_objects *o)
{
    for (size_t i = 0; i < o->list.n; i++) json_decref(o->list.v[i].v);
    vec_fini(&o->list);
    free(o->file);
    free(o->text);
    *o = (struct k8s_objects){ 0 };
}

json_t *k8s_object_get(const struct k8s_objects *o, size_t i, struct err *e)
{
    const struct k8s_object *item = &o->list.v[i];
    json_error_t je;
    if (item->v) return json_incref(item->v);
    json_t *v = json_loadb(item->text, item->len, JSON_REJECT_DUPLICATES, &je);
    if (!v) fail(o, item->line + je.line - 1, e, "this is not JSON: ", je.text);
    return v;
}

const char *k8s_text(const json_t *v, char *buf, size_t size)
{
    if (json_is_string(v)) return json_string_value(v);
    if (json_is_integer(v)) {
        snprintf(buf, size, "%lld", (long long)json_integer_value(v));
        return buf;
    }
    if (!json_is_real(v)) return NULL;
    for (int digits = 15; digits <= 17; digits++) { /* the shortest that is the same number */
        snprintf(buf, size, "%.*g", digits, json_real_value(v));
        if (strtod(buf, NULL) == json_real_value(v)) break;
    }
    return buf;
}

bool k8s_is_kind(const json_t *v, const char *kind)
{
    const char *k = json_string_value(json_object_get(v, "kind"));
    if (!k && json_object_get(v, "spec"))
        return strcmp(kind,
                      json_object_get(json_object_get(v, "spec"), "containers") ? "Pod" : "Node") ==
               0;
    return k && strcmp(k, kind) == 0;
}
