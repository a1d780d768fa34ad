/* base/json_write.c - JSON values as text. */
#include "base/json.h"

#include "base/dec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INLINE_MAX = 16 }; /* arrays of at most so many plain values are written on one line */

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
