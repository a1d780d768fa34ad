#include "traces/json_items.h"

#include "base/instream.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16, MOST = 1 << 26, SCALAR_BYTES = 200, SCALARS = 32 };

enum shape { SHAPE_ARRAY, SHAPE_LINES };

struct scalar {
    char *key, *text;
};

struct json_items {
    struct instream *in;
    char *file;
    char buf[CHUNK];
    size_t at, len;
    int line;
    enum shape shape;
    bool done, first, in_object;
    const char *key; /* the caller's */
    struct strbuf item;
    VEC(struct scalar) scalars;
};

/* ---- bytes ------------------------------------------------------------------------------------ */

/* The next byte without taking it; -1 at the end; < -1: an error. */
static int peek(struct json_items *s, struct err *e)
{
    if (s->at == s->len) {
        ssize_t n = instream_read(s->in, s->buf, sizeof s->buf, e);
        if (n < 0) return (int)n;
        if (n == 0) return -1;
        s->at = 0;
        s->len = (size_t)n;
    }
    return (unsigned char)s->buf[s->at];
}

static void take(struct json_items *s)
{
    s->line += s->buf[s->at++] == '\n';
}

static bool blank(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int skip_blanks(struct json_items *s, struct err *e)
{
    int c;
    while ((c = peek(s, e)) >= 0 && blank(c)) take(s);
    return c;
}

static int bad(const struct json_items *s, struct err *e, const char *expected)
{
    const struct loc at = { .file = s->file, .line = s->line };
    return err_set(e, ERR_INPUT, &at, "damaged JSON: expected %s", expected);
}

static int broken_off(const struct json_items *s, struct err *e)
{
    const struct loc at = { .file = s->file, .line = s->line };
    return err_set(e, ERR_INPUT, &at, "the JSON breaks off here");
}

/* Where the scan of a value stands: balanced brackets outside strings, or up to a delimiter. */
struct scan {
    int depth;
    bool in_string, escaped;
    size_t n;
};
enum scanned { SCAN_MORE, SCAN_TAKEN /* with this byte */, SCAN_BEFORE /* this byte */, SCAN_BAD };

static inline enum scanned scan(struct scan *v, char c)
{
    if (v->in_string) {
        v->n++;
        v->in_string = v->escaped || c != '"';
        v->escaped = !v->escaped && c == '\\';
        return v->in_string || v->depth > 0 ? SCAN_MORE : SCAN_TAKEN;
    }
    if (v->depth == 0 && v->n > 0 && (blank(c) || c == ',' || c == ']' || c == '}' || c == ':'))
        return SCAN_BEFORE;
    v->n++;
    switch (c) {
    case '"':
        v->in_string = true;
        v->escaped = false;
        return SCAN_MORE;
    case '{':
    case '[': v->depth++; return SCAN_MORE;
    case '}':
    case ']': v->depth--; return v->depth > 0 ? SCAN_MORE : v->depth == 0 ? SCAN_TAKEN : SCAN_BAD;
    default: return SCAN_MORE;
    }
}

/* One value into *to (NULL: skipped), at most `keep` bytes of it. */
static int take_value(struct json_items *s, struct strbuf *to, size_t keep, struct err *e)
{
    struct scan v = { 0 };
    enum scanned got = SCAN_MORE;
    int c;
    while (got == SCAN_MORE && (c = peek(s, e)) >= 0) {
        const char *from = s->buf + s->at;
        const size_t have = s->len - s->at, before = v.n;
        size_t k = 0;
        while (k < have && (got = scan(&v, from[k])) == SCAN_MORE) k++;
        k += got == SCAN_TAKEN;
        for (const char *nl = from; (nl = memchr(nl, '\n', (size_t)(from + k - nl))); nl++)
            s->line++;
        if (to && before < keep) strbuf_add(to, from, k < keep - before ? k : keep - before);
        s->at += k;
        if (v.n > MOST) return bad(s, e, "values of at most 64 MiB");
    }
    if (got == SCAN_BAD) return bad(s, e, "a value");
    if (got != SCAN_MORE) return 0;
    if (c < -1) return c;
    return v.n > 0 && v.depth == 0 && !v.in_string ? 0 : broken_off(s, e);
}

/* ---- finding the array ------------------------------------------------------------------------ */

static void keep_scalar(struct json_items *s, const char *key, const char *text)
{
    if (s->scalars.n == SCALARS || strlen(text) >= SCALAR_BYTES) return;
    vec_push(&s->scalars, ((struct scalar){ xstrdup(key), xstrdup(text) }));
}

/* Members of the top-level object up to the array under `key`, or (NULL) to the object's end. */
static int find_key(struct json_items *s, const char *key, struct err *e)
{
    struct strbuf name = { 0 }, value = { 0 };
    int c, rc = 0;
    for (;;) {
        c = skip_blanks(s, e);
        if (c == ',') {
            take(s);
            continue;
        }
        strbuf_clear(&name);
        strbuf_clear(&value);
        if (c == '}' && !key) {
            take(s);
            break;
        }
        if (c != '"') {
            const struct loc at = { .file = s->file };
            rc = c < -1    ? c
                 : c == -1 ? broken_off(s, e)
                 : c == '}'
                     ? err_set(e, ERR_INPUT, &at, "expected a top-level \"%s\", found none", key)
                     : bad(s, e, "a key");
            break;
        }
        rc = take_value(s, &name, SCALAR_BYTES, e);
        if (rc < 0) break;
        c = skip_blanks(s, e);
        if (c != ':') {
            rc = c < -1 ? c : bad(s, e, "':'");
            break;
        }
        take(s);
        c = skip_blanks(s, e);
        const bool wanted =
            name.len == strlen(s->key) + 2 && strncmp(name.s + 1, s->key, strlen(s->key)) == 0;
        if (wanted && c == '[' && !key) {
            rc = bad(s, e, "one such array, found its key again");
            break;
        }
        if (wanted && c == '[') {
            take(s);
            break;
        }
        rc = c < -1 ? c : take_value(s, &value, SCALAR_BYTES, e);
        if (rc < 0) break;
        if (name.len > 2 && value.len > 0 && !memchr(name.s, '\0', name.len)) {
            name.s[name.len - 1] = '\0';
            keep_scalar(s, name.s + 1, value.s);
        }
    }
    strbuf_fini(&name);
    strbuf_fini(&value);
    return rc;
}

/* Whether the first line is a whole value by itself that does not hold the key at its top. */
static bool is_lines(const char *head, size_t len, const char *key)
{
    int depth = 0;
    bool in_string = false, escaped = false;
    size_t from = 0;
    while (from < len && (blank(head[from]) || head[from] == '#')) { /* comments first */
        const char *nl = head[from] == '#' ? memchr(head + from, '\n', len - from) : head + from;
        if (!nl) return false;
        from = (size_t)(nl - head) + 1;
    }
    if (from == len || head[from] != '{') return false;
    for (size_t i = from; i < len; i++) {
        const char c = head[i];
        if (in_string) {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if (c == '"') {
            const size_t n = key ? strlen(key) : 0;
            if (key && depth == 1 && len - i > n + 2 && memcmp(head + i + 1, key, n) == 0 &&
                head[i + 1 + n] == '"')
                return false;
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return true;
        } else if (c == '\n') {
            return false;
        }
    }
    return false;
}

int json_items_open(struct json_items **out, const char *path, const char *key, struct err *e)
{
    struct json_items *s = xcalloc(1, sizeof *s);
    *out = NULL;
    s->line = 1;
    s->first = true;
    s->key = key;
    s->file = xstrdup(strcmp(path, "-") == 0 ? "standard input" : path);
    int rc = instream_open(&s->in, path, e);
    int c = rc < 0 ? rc : peek(s, e);
    if (c >= 0 && s->len >= 3 && memcmp(s->buf, "\xef\xbb\xbf", 3) == 0) s->at = 3;
    if (c >= 0 && is_lines(s->buf + s->at, s->len - s->at, key)) {
        s->shape = SHAPE_LINES;
    } else if (c >= -1) {
        c = skip_blanks(s, e);
        const struct loc at = { .file = s->file };
        if (c == '[' || (c == '{' && key))
            take(s);
        else if (c == -1)
            rc = err_set(e, ERR_INPUT, &at, "expected JSON, found an empty file");
        else if (c >= 0)
            rc = err_set(e, ERR_INPUT, &at, "expected JSON %s, found something else",
                         key ? "(an object or an array)" : "(an array)");
        if (c == '{' && rc == 0) {
            s->in_object = true;
            rc = find_key(s, key, e);
        }
    }
    if (rc == 0 && c < -1) rc = c;
    if (rc < 0) {
        json_items_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

void json_items_close(struct json_items *s)
{
    if (!s) return;
    instream_close(s->in);
    for (size_t i = 0; i < s->scalars.n; i++) {
        free(s->scalars.v[i].key);
        free(s->scalars.v[i].text);
    }
    vec_fini(&s->scalars);
    strbuf_fini(&s->item);
    free(s->file);
    free(s);
}

/* ---- members ---------------------------------------------------------------------------------- */

/* Nothing may follow the document: a second one would be lost, and compressed data is whole only
 * when it was read to its end. */
static int end_of_file(struct json_items *s, struct err *e)
{
    const int c = skip_blanks(s, e);
    const struct loc at = { .file = s->file, .line = s->line };
    if (c < 0) return c == -1 ? 0 : c;
    err_set(e, ERR_INPUT, &at, "expected the end of the file, found %s after the JSON document",
            c == '[' || c == '{' ? "another one" : "more");
    err_hint(e, "several exports: give each as a file of its own, `import FORMAT a.json b.json`");
    return ERR_INPUT;
}

static int next_line(struct json_items *s, struct json_item *item, struct err *e)
{
    int c;
    do {
        c = skip_blanks(s, e);
        if (c < 0) return c == -1 ? 0 : c;
        strbuf_clear(&s->item);
        item->line = s->line;
        while ((c = peek(s, e)) >= 0 && c != '\n') {
            const char *from = s->buf + s->at, *nl = memchr(from, '\n', s->len - s->at);
            const size_t k = nl ? (size_t)(nl - from) : s->len - s->at;
            strbuf_add(&s->item, from, k);
            s->at += k;
            if (s->item.len > MOST) return bad(s, e, "lines of at most 64 MiB");
        }
        if (c < -1) return c;
    } while (s->item.s[0] == '#');
    return 1;
}

static int next_member(struct json_items *s, struct json_item *item, struct err *e)
{
    int c = skip_blanks(s, e);
    if (c == ']') {
        take(s);
        const int rc = s->in_object ? find_key(s, NULL, e) : 0;
        return rc < 0 ? rc : end_of_file(s, e);
    }
    if (c == ',' && !s->first) {
        take(s);
        c = skip_blanks(s, e);
    } else if (!s->first && c >= 0) {
        return bad(s, e, "',' or ']'");
    }
    if (c < 0) return c == -1 ? broken_off(s, e) : c;
    s->first = false;
    item->line = s->line;
    strbuf_clear(&s->item);
    int rc = take_value(s, &s->item, MOST, e);
    if (rc == 0 && s->item.len == 0) rc = bad(s, e, "a value");
    return rc < 0 ? rc : 1;
}

int json_items_next(struct json_items *s, struct json_item *item, struct err *e)
{
    if (s->done) return 0;
    int rc = s->shape == SHAPE_LINES ? next_line(s, item, e) : next_member(s, item, e);
    if (rc <= 0) s->done = true;
    item->text = s->item.s;
    item->len = s->item.len;
    return rc;
}

const char *json_items_file(const struct json_items *s)
{
    return s->file;
}

const char *json_items_scalar(const struct json_items *s, const char *key)
{
    for (size_t i = 0; i < s->scalars.n; i++)
        if (strcmp(s->scalars.v[i].key, key) == 0) return s->scalars.v[i].text;
    return NULL;
}

bool json_items_sniff(const char *head, size_t len, const char *key)
{
    size_t i = 0;
    while (i < len && blank(head[i])) i++;
    if (i == len) return false;
    if (!key) return head[i] == '[';
    if (head[i] != '{') return false;
    char quoted[64];
    const int n = snprintf(quoted, sizeof quoted, "\"%s\"", key);
    for (const char *p = head; (p = memmem(p, len - (size_t)(p - head), quoted, (size_t)n)); p++) {
        size_t at = (size_t)(p - head) + (size_t)n;
        while (at < len && blank(head[at])) at++;
        if (at == len || head[at] != ':') continue;
        for (at++; at < len && blank(head[at]);) at++;
        if (at < len && head[at] == '[') return true;
    }
    return false;
}
