#include "base/json.h"

#include "base/dec.h"
#include "base/json_inside.h"
#include "base/mem.h"
#include "base/skim.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FILE_MAX = 64 << 20, /* bytes of a JSON file */
    POINTER_MAX = 512,
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

bool json_index_of(const char *s, size_t *i)
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
        } else if (peek(&c) == '[' && json_index_of(want.s, &i)) {
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
            v = json_index_of(key.s, &i) ? json_array_get(v, i) : NULL;
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

void json_hint_names(struct err *e, const char *word, const char *what, const char *const *names,
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
        json_hint_names(key_problem(d, doc, at, "unknown key"), key, "valid keys", keys, n);
    }
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
