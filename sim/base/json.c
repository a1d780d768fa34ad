#include "base/json.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/skim.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FILE_MAX = 64 << 20, /* bytes of a JSON file */
    POINTER_MAX = 512,
    INLINE_MAX = 16, /* arrays of at most so many plain values are written on one line */
};

static const size_t parse_flags = JSON_REJECT_DUPLICATES;

/* ---- places in a text ------------------------------------------------------------------------ */

struct cursor {
    const char *text;
    size_t len, at;
};

static void place_of(const char *text, size_t at, int *line, int *col)
{
    size_t start = 0;

    *line = 1;
    for (size_t i = 0; i < at; i++)
        if (text[i] == '\n') {
            ++*line;
            start = i + 1;
        }
    *col = (int)(at - start) + 1;
}

static const char *line_at(const char *text, size_t len, size_t at, size_t *line_len)
{
    size_t from = at, to = at;

    while (from > 0 && text[from - 1] != '\n') from--;
    while (to < len && text[to] != '\n') to++;
    if (to > from && text[to - 1] == '\r') to--;
    *line_len = to - from;
    return text + from;
}

static void show(struct err *e, const char *text, size_t len, size_t at, int line, int col,
                 int mark)
{
    size_t n;
    const char *s = line_at(text, len, at, &n);

    err_excerpt(e, s, n, line, col, mark);
}

static void skip_blank(struct cursor *c)
{
    while (c->at < c->len && strchr(" \t\r\n", c->text[c->at]) && c->text[c->at]) c->at++;
}

static char peek(const struct cursor *c)
{
    return c->at < c->len ? c->text[c->at] : '\0';
}

static void skip_string(struct cursor *c)
{
    for (c->at++; c->at < c->len && c->text[c->at] != '"'; c->at++)
        if (c->text[c->at] == '\\' && c->at + 1 < c->len) c->at++;
    if (c->at < c->len) c->at++;
}

/* Past one value. A flat loop: nesting is the user's choice, our stack is not. */
static void skip_value(struct cursor *c)
{
    size_t depth = 0;

    do {
        skip_blank(c);
        const char ch = peek(c);
        if (ch == '"') {
            skip_string(c);
        } else if (ch == '{' || ch == '[') {
            depth++;
            c->at++;
        } else if ((ch == '}' || ch == ']') && depth > 0) {
            depth--;
            c->at++;
        } else if ((ch == ',' || ch == ':') && depth > 0) {
            c->at++;
        } else {
            const size_t from = c->at;
            while (c->at < c->len && !strchr(",:]}\" \t\r\n", c->text[c->at])) c->at++;
            if (c->at == from) return;
        }
    } while (depth > 0 && c->at < c->len);
}

static unsigned hex4(const char *s)
{
    unsigned v = 0;

    for (int i = 0; i < 4; i++) {
        const char ch = s[i];
        v = 16 * v + (unsigned)(ch <= '9' ? ch - '0' : (ch | 0x20) - 'a' + 10);
    }
    return v;
}

static void add_utf8(struct strbuf *b, unsigned c)
{
    if (c < 0x80) {
        strbuf_addc(b, (char)c);
    } else if (c < 0x800) {
        strbuf_addc(b, (char)(0xC0 | c >> 6));
        strbuf_addc(b, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        strbuf_addc(b, (char)(0xE0 | c >> 12));
        strbuf_addc(b, (char)(0x80 | (c >> 6 & 0x3F)));
        strbuf_addc(b, (char)(0x80 | (c & 0x3F)));
    } else {
        strbuf_addc(b, (char)(0xF0 | c >> 18));
        strbuf_addc(b, (char)(0x80 | (c >> 12 & 0x3F)));
        strbuf_addc(b, (char)(0x80 | (c >> 6 & 0x3F)));
        strbuf_addc(b, (char)(0x80 | (c & 0x3F)));
    }
}

/* What the string literal [s, end) without its quotes means. The text has been parsed before, so
 * its escapes are well formed; bounds are checked all the same. */
static void unescape(struct strbuf *b, const char *s, const char *end)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

    while (s < end) {
        if (*s != '\\' || s + 1 >= end) {
            strbuf_addc(b, *s++);
            continue;
        }
        s++;
        if (*s == 'u' && end - s >= 5) {
            unsigned c = hex4(s + 1);
            s += 5;
            if (c >= 0xD800 && c < 0xDC00 && end - s >= 6 && s[0] == '\\' && s[1] == 'u') {
                c = 0x10000 + ((c - 0xD800) << 10) + (hex4(s + 2) - 0xDC00);
                s += 6;
            }
            add_utf8(b, c);
            continue;
        }
        const char *k = strchr(from, *s);
        strbuf_addc(b, k && *k ? to[k - from] : *s);
        s++;
    }
}

/* The next segment of a JSON pointer, decoded (~1 is /, ~0 is ~). NULL at its end. */
static const char *segment(const char *pointer, struct strbuf *out)
{
    if (*pointer != '/') return NULL;
    strbuf_clear(out);
    strbuf_add(out, "", 0);
    for (pointer++; *pointer && *pointer != '/'; pointer++) {
        if (pointer[0] == '~' && (pointer[1] == '0' || pointer[1] == '1')) {
            strbuf_addc(out, pointer[1] == '0' ? '~' : '/');
            pointer++;
        } else {
            strbuf_addc(out, *pointer);
        }
    }
    return pointer;
}

static bool index_of(const char *s, size_t *i)
{
    uint64_t v;

    if (!*s || strspn(s, "0123456789") != strlen(s)) return false;
    if (dec_u64(s, strlen(s), &v) != DEC_OK || v > SIZE_MAX) return false;
    *i = (size_t)v;
    return true;
}

/* From an object's '{' to the value of `key`; *key_at is where the key stands. */
static bool enter_object(struct cursor *c, const char *key, size_t key_len, size_t *key_at,
                         struct strbuf *tmp)
{
    for (c->at++;;) {
        skip_blank(c);
        if (peek(c) != '"') return false;
        *key_at = c->at;
        skip_string(c);
        strbuf_clear(tmp);
        if (c->at >= *key_at + 2) unescape(tmp, c->text + *key_at + 1, c->text + c->at - 1);
        skip_blank(c);
        if (peek(c) != ':') return false;
        c->at++;
        skip_blank(c);
        if (tmp->len == key_len && (key_len == 0 || memcmp(tmp->s, key, key_len) == 0)) return true;
        skip_value(c);
        skip_blank(c);
        if (peek(c) != ',') return false;
        c->at++;
    }
}

static bool enter_array(struct cursor *c, size_t index)
{
    c->at++;
    for (size_t i = 0;; i++) {
        skip_blank(c);
        if (peek(c) == ']' || c->at >= c->len) return false;
        if (i == index) return true;
        skip_value(c);
        skip_blank(c);
        if (peek(c) != ',') return false;
        c->at++;
    }
}

struct span {
    size_t key, from, to; /* offsets; key == from when the value has no key */
};

/* True when the whole pointer was followed; else the span is that of the last container reached. */
static bool find(const struct json_doc *doc, const char *pointer, struct span *out)
{
    struct cursor c = { doc->text, doc->len, 0 };
    struct strbuf want = { 0 }, tmp = { 0 };
    bool all = true;

    skip_blank(&c);
    *out = (struct span){ c.at, c.at, c.at };
    for (const char *p = pointer; *p && (p = segment(p, &want));) {
        size_t i, key = 0;
        bool in = false;
        if (peek(&c) == '{') {
            in = enter_object(&c, want.s, want.len, &key, &tmp);
        } else if (peek(&c) == '[' && index_of(want.s, &i)) {
            in = enter_array(&c, i);
            key = c.at;
        }
        if (!in) {
            all = false;
            break;
        }
        *out = (struct span){ key, c.at, c.at };
    }
    c.at = out->from;
    skip_value(&c);
    out->to = c.at;
    strbuf_fini(&want);
    strbuf_fini(&tmp);
    return all;
}

static int length_on_line(const struct json_doc *doc, size_t from, size_t to)
{
    size_t n = 0;

    while (from + n < to && doc->text[from + n] != '\n' && doc->text[from + n] != '\r') n++;
    return n < 1 ? 1 : (int)n;
}

bool json_doc_locate(const struct json_doc *doc, const char *pointer, int *line, int *col, int *len)
{
    struct span s;

    *line = *col = *len = 0;
    if (!doc->text) return false;
    const bool all = find(doc, pointer, &s);
    place_of(doc->text, s.from, line, col);
    *len = length_on_line(doc, s.from, s.to);
    return all;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Jansson names the token it stumbled over ("near '...'") and the offset behind it. */
static size_t error_offset(const json_error_t *je, const char *text, size_t len, int *mark)
{
    size_t at = je->position > 0 ? (size_t)je->position : 0;
    const char *near = strstr(je->text, " near '");
    const char *end = near ? strrchr(je->text, '\'') : NULL;

    if (at > len) at = len;
    *mark = 1;
    if (near && end > near + 7) {
        const size_t n = (size_t)(end - near - 7);
        if (n <= at && memcmp(text + at - n, near + 7, n) == 0) {
            *mark = (int)n;
            return at - n;
        }
    }
    while (at > 0 && (at == len || strchr(" \t\r\n", text[at]))) at--; /* the last token */
    if (!near && at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9') at--;
    while (at > 0 && text[at] && text[at - 1] && strchr("+-.eE0123456789", text[at]) &&
           strchr("+-.eE0123456789", text[at - 1])) {
        at--; /* a number that is too large: from its start */
        ++*mark;
    }
    return at;
}

static int syntax_error(const char *label, const char *text, size_t len, size_t at, int mark,
                        struct err *e, const char *what)
{
    struct loc loc = { .file = label };

    if (at > len) at = len;
    place_of(text, at, &loc.line, &loc.col);
    const bool first = e && e->code == ERR_OK;
    const int rc = err_set(e, ERR_INPUT, &loc, "%s", what);
    if (first) show(e, text, len, at, loc.line, loc.col, mark);
    return rc;
}

/* What Jansson would say badly or not at all. NULL: nothing. */
static const char *obvious(const char *text, size_t len, size_t *at)
{
    const char *nul = memchr(text, 0, len);
    size_t blank = 0;

    *at = 0;
    while (blank < len && text[blank] && strchr(" \t\r\n", text[blank])) blank++;
    if (blank == len) return "expected a JSON object, found an empty file";
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        return "the file starts with a byte-order mark; save it as UTF-8 without one";
    if (len >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0))
        return "the file is UTF-16; save it as UTF-8";
    if (nul) {
        *at = (size_t)(nul - text);
        return "a NUL byte; is this a text file?";
    }
    return NULL;
}

int json_doc_parse(struct json_doc *doc, const char *label, const char *text, size_t len,
                   struct err *e)
{
    json_error_t je;
    size_t at;
    const char *what = obvious(text, len, &at);

    *doc = (struct json_doc){ 0 };
    if (what) return syntax_error(label, text, len, at, 1, e, what);
    json_t *root = json_loadb(text, len, parse_flags, &je);
    if (!root) {
        int mark;
        char msg[sizeof je.text + 32];
        at = error_offset(&je, text, len, &mark);
        snprintf(msg, sizeof msg, "not valid %s: %s",
                 strstr(je.text, "unable to decode") ? "UTF-8" : "JSON", je.text);
        return syntax_error(label, text, len, at, mark, e, msg);
    }
    doc->root = root;
    doc->text = xstrndup(text, len);
    doc->len = len;
    doc->file = xstrdup(label);
    return 0;
}

static int read_all(FILE *f, const char *path, size_t most, struct strbuf *out, struct err *e)
{
    char buf[1 << 14];
    size_t n;
    const struct loc at = { .file = path };

    while ((n = fread(buf, 1, sizeof buf, f)) > 0) {
        strbuf_add(out, buf, n);
        if (out->len > most)
            return err_set(e, ERR_INPUT, &at, "larger than %zu MiB; is this a JSON file?",
                           most >> 20);
    }
    if (ferror(f)) return err_set(e, err_of_errno(errno), &at, "cannot read: %s", strerror(errno));
    return 0;
}

static int load(struct json_doc *doc, const char *path, size_t most, const char *const *key,
                size_t n, struct err *e)
{
    const bool std = strcmp(path, "-") == 0;
    const char *label = std ? "standard input" : path;
    const struct loc at = { .file = label };
    struct strbuf text = { 0 };

    *doc = (struct json_doc){ 0 };
    FILE *f = std ? stdin : fopen(path, "rb");
    if (!f) return err_set(e, err_of_errno(errno), &at, "cannot open: %s", strerror(errno));
    int rc = read_all(f, label, most, &text, e);
    if (!std) fclose(f);
    if (text.s && n > 0) text.len = skim(text.s, text.len, key, n);
    if (rc == 0) rc = json_doc_parse(doc, label, text.s ? text.s : "", text.len, e);
    strbuf_fini(&text);
    return rc;
}

int json_doc_load(struct json_doc *doc, const char *path, struct err *e)
{
    return load(doc, path, FILE_MAX, NULL, 0, e);
}

int json_doc_load_without(struct json_doc *doc, const char *path, const char *const *key, size_t n,
                          struct err *e)
{
    return load(doc, path, FILE_MAX, key, n, e);
}

int json_doc_load_up_to(struct json_doc *doc, const char *path, size_t most, struct err *e)
{
    return load(doc, path, most, NULL, 0, e);
}

void json_doc_fini(struct json_doc *doc)
{
    json_decref(doc->root);
    free(doc->text);
    free(doc->file);
    *doc = (struct json_doc){ 0 };
}

/* ---- problems -------------------------------------------------------------------------------- */

static json_t *follow(json_t *v, const char *pointer)
{
    struct strbuf key = { 0 };
    size_t i;

    for (const char *p = pointer; v && *p && (p = segment(p, &key));) {
        if (json_is_array(v))
            v = index_of(key.s, &i) ? json_array_get(v, i) : NULL;
        else
            v = json_object_getn(v, key.s, key.len);
    }
    strbuf_fini(&key);
    return v;
}

/* Whether the text at the span still says what the tree holds: --set changes only the tree. */
static bool text_says(const struct json_doc *doc, const struct span *s, bool all,
                      const char *pointer)
{
    json_t *now = follow(doc->root, pointer);

    if (!all || !now) return !now && !all;
    json_t *was = json_loadb(doc->text + s->from, s->to - s->from,
                             JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    const bool same = was && json_equal(was, now);
    json_decref(was);
    return same;
}

static struct err *problem_at(struct diag *d, const struct json_doc *doc, const char *pointer,
                              bool at_key, const char *fmt, va_list ap)
{
    struct loc loc = { .path = pointer };
    struct span s = { 0 };
    char msg[512];
    int mark = 0;

    vsnprintf(msg, sizeof msg, fmt, ap);
    if (doc) {
        loc.file = doc->file;
        if (doc->text && d->count < DIAG_KEPT) { /* beyond, only the count matters */
            const bool all = find(doc, pointer, &s);
            if (text_says(doc, &s, all, pointer)) {
                if (at_key && s.key != s.from) {
                    struct cursor c = { doc->text, doc->len, s.key };
                    skip_string(&c);
                    s.from = s.key;
                    s.to = c.at;
                }
                place_of(doc->text, s.from, &loc.line, &loc.col);
                mark = length_on_line(doc, s.from, s.to);
            }
        }
    }
    struct err *e = diag_add(d, &loc, "%s", msg);
    if (loc.line) show(e, doc->text, doc->len, s.from, loc.line, loc.col, mark);
    return e;
}

struct err *json_problem(struct diag *d, const struct json_doc *doc, const char *pointer,
                         const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct err *e = problem_at(d, doc, pointer, false, fmt, ap);
    va_end(ap);
    return e;
}

__attribute__((format(printf, 4, 5))) static struct err *
key_problem(struct diag *d, const struct json_doc *doc, const char *pointer, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct err *e = problem_at(d, doc, pointer, true, fmt, ap);
    va_end(ap);
    return e;
}

static void hint_names(struct err *e, const char *word, const char *what, const char *const *names,
                       size_t n)
{
    char list[150];
    const char *near = str_nearest(word, names, n);

    if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else if (n)
        err_hint(e, "%s: %s", what, str_list(list, sizeof list, names, n));
}

void json_known_keys(struct diag *d, const struct json_doc *doc, const json_t *obj,
                     const char *pointer, const char *const *keys, size_t n)
{
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)(uintptr_t)obj, key, v)
    {
        char at[POINTER_MAX];
        bool known = false;
        for (size_t i = 0; i < n && !known; i++) known = strcmp(key, keys[i]) == 0;
        if (known) continue;
        json_pointer_key(at, sizeof at, pointer, key);
        hint_names(key_problem(d, doc, at, "unknown key"), key, "valid keys", keys, n);
    }
}

static void escape(struct strbuf *b, const char *s, size_t len)
{
    size_t from = 0;

    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
        strbuf_add(b, s + from, i - from);
        from = i + 1;
        if (c == '"' || c == '\\') {
            strbuf_addc(b, '\\');
            strbuf_addc(b, (char)c);
        } else if (c == '\n' || c == '\t' || c == '\r') {
            strbuf_addc(b, '\\');
            strbuf_addc(b, c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        } else {
            strbuf_addf(b, "\\u%04x", c);
        }
    }
    strbuf_add(b, s + from, len - from);
}

static void add_real(struct strbuf *b, double v)
{
    static const double largest = 1.79769313486231e308; /* of 15 digits that is no infinity */
    const size_t from = b->len;
    char text[40];

    v = v > largest ? largest : v < -largest ? -largest : v;
    /* A decimal of at most 15 digits is what "%.15g" finds again; this finds it without printf. */
    if (fabs(v) >= 1e-4 && fabs(v) < 1e9) {
        const double m = rint(v * 1e6);
        if (m / 1e6 == v) {
            strbuf_add(b, text, dec_print(text, sizeof text, (int64_t)m, 6));
            if (v == rint(v)) strbuf_addz(b, ".0");
            return;
        }
    }
    strbuf_addf(b, "%.15g", v);
    if (!strpbrk(b->s + from, ".e")) strbuf_addz(b, ".0"); /* a real stays a real */
}

static void add_scalar(struct strbuf *b, const json_t *v)
{
    char text[32];

    switch (json_typeof(v)) {
    case JSON_STRING:
        strbuf_addc(b, '"');
        escape(b, json_string_value(v), json_string_length(v));
        strbuf_addc(b, '"');
        break;
    case JSON_INTEGER:
        strbuf_add(b, text, dec_print(text, sizeof text, (int64_t)json_integer_value(v), 0));
        break;
    case JSON_REAL: add_real(b, json_real_value(v)); break;
    case JSON_TRUE: strbuf_addz(b, "true"); break;
    case JSON_FALSE: strbuf_addz(b, "false"); break;
    default: strbuf_addz(b, "null"); break;
    }
}

const char *json_found(char *buf, size_t size, const json_t *v)
{
    enum { SHOWN = 40 }; /* bytes of a string */
    struct strbuf b = { 0 };

    if (!v) {
        strbuf_addz(&b, "nothing");
    } else if (json_is_object(v)) {
        strbuf_addz(&b, "an object");
    } else if (json_is_array(v)) {
        strbuf_addz(&b, "an array");
    } else if (json_is_string(v) && json_string_length(v) > SHOWN) {
        const char *s = json_string_value(v);
        size_t n = SHOWN - 3;
        while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80) n--;
        strbuf_addc(&b, '"');
        escape(&b, s, n);
        strbuf_addz(&b, "...\"");
    } else {
        add_scalar(&b, v);
    }
    snprintf(buf, size, "%s", b.s);
    strbuf_fini(&b);
    return buf;
}

/* A pointer too long for its buffer is cut: it then leads nowhere and only labels a message. */
char *json_pointer_key(char *buf, size_t size, const char *pointer, const char *key)
{
    const size_t room = size - 1, n = strlen(pointer);
    size_t at = n < room ? n : room;

    memmove(buf, pointer, at); /* it may be the same buffer */
    if (at < room) buf[at++] = '/';
    for (; *key && at < room; key++) {
        const bool escaped = *key == '~' || *key == '/';
        buf[at++] = escaped ? '~' : *key;
        if (escaped && at < room) buf[at++] = *key == '~' ? '0' : '1';
    }
    buf[at] = '\0';
    return buf;
}

char *json_pointer_index(char *buf, size_t size, const char *pointer, size_t index)
{
    char number[24];

    snprintf(number, sizeof number, "%zu", index);
    return json_pointer_key(buf, size, pointer, number);
}

/* ---- dotted paths ---------------------------------------------------------------------------- */

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
    if (!index_of(number, index)) return NULL;
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
        hint_names(e, word, "it has", names,
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

/* ---- writing --------------------------------------------------------------------------------- */

static bool is_plain(const json_t *v)
{
    return !json_is_object(v) && !json_is_array(v);
}

static void line_break(struct strbuf *b, int depth)
{
    static const char blanks[] = "                                ";

    strbuf_addc(b, '\n');
    for (size_t n = 2 * (size_t)depth; n > 0;) {
        const size_t part = n < sizeof blanks - 1 ? n : sizeof blanks - 1;
        strbuf_add(b, blanks, part);
        n -= part;
    }
}

static bool on_one_line(const json_t *array)
{
    const size_t n = json_array_size(array);

    if (n > INLINE_MAX) return false;
    for (size_t i = 0; i < n; i++)
        if (!is_plain(json_array_get(array, i))) return false;
    return true;
}

static void add_value(struct strbuf *b, const json_t *v, int depth); /* recursion over nesting */

static void add_array(struct strbuf *b, const json_t *v, int depth)
{
    const bool inline_ = on_one_line(v);
    const size_t n = json_array_size(v);

    strbuf_addc(b, '[');
    for (size_t i = 0; i < n; i++) {
        if (i) strbuf_add(b, ", ", inline_ ? 2 : 1);
        if (!inline_) line_break(b, depth + 1);
        add_value(b, json_array_get(v, i), depth + 1);
    }
    if (!inline_) line_break(b, depth);
    strbuf_addc(b, ']');
}

static void add_object(struct strbuf *b, const json_t *v, int depth)
{
    json_t *obj = (json_t *)(uintptr_t)v; /* iterators are not const, but change nothing */
    const char *key;
    json_t *each;
    size_t n = 0;

    strbuf_addc(b, '{');
    json_object_foreach(obj, key, each)
    {
        if (n++) strbuf_addc(b, ',');
        line_break(b, depth + 1);
        strbuf_addc(b, '"');
        escape(b, key, strlen(key));
        strbuf_addz(b, "\": ");
        add_value(b, each, depth + 1);
    }
    if (n) line_break(b, depth);
    strbuf_addc(b, '}');
}

static void add_value(struct strbuf *b, const json_t *v, int depth)
{
    if (json_is_object(v))
        add_object(b, v, depth);
    else if (json_is_array(v))
        add_array(b, v, depth);
    else
        add_scalar(b, v);
}

void json_write_part(const json_t *v, int depth, struct strbuf *out)
{
    add_value(out, v, depth);
}

void json_write(const json_t *v, struct strbuf *out)
{
    json_write_part(v, 0, out);
    strbuf_addc(out, '\n');
}

json_t *json_num(double v)
{
    if (!isfinite(v)) return json_null();
    if (v == rint(v) && fabs(v) < 9007199254740992.0) return json_integer((json_int_t)v);
    return json_real(v);
}
