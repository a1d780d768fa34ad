#include "base/skim.h"

#include <stdbool.h>
#include <string.h>

/* Behind the string that begins at `at`. */
static size_t behind_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++)
        if (text[at] == '\\') at++;
    return at < len ? at + 1 : len;
}

static size_t behind_blanks(const char *text, size_t len, size_t at)
{
    while (at < len &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
        at++;
    return at;
}

/* Behind the array or object that begins at `at`; `len` where it has no end. */
static size_t behind_value(const char *text, size_t len, size_t at)
{
    size_t depth = 0;
    while (at < len) {
        const char c = text[at];
        if (c == '"') {
            at = behind_string(text, len, at);
            continue;
        }
        at++;
        depth += c == '{' || c == '[';
        if ((c == '}' || c == ']') && --depth == 0) return at;
    }
    return len;
}

static bool is_key(const char *text, size_t n, const char *const *key, size_t n_keys)
{
    for (size_t i = 0; i < n_keys; i++)
        if (strlen(key[i]) == n && memcmp(text, key[i], n) == 0) return true;
    return false;
}

struct copy {
    char *to;
    size_t len;
};

/* Copies the value at `at` without its inside: line ends stay, and blanks before its last
 * character, so that what follows keeps line and column. Behind it. */
static size_t copy_emptied(struct copy *c, const char *text, size_t len, size_t at)
{
    if (at >= len || (text[at] != '[' && text[at] != '{')) return at;
    const size_t end = behind_value(text, len, at);
    const char open = text[at], close = open == '[' ? ']' : '}'; /* it may be written over */
    if (text[end - 1] != close) {                                /* for the parser to say */
        memmove(c->to + c->len, text + at, end - at);
        c->len += end - at;
        return end;
    }
    size_t last_line = at + 1;
    c->to[c->len++] = open;
    for (size_t i = at + 1; i + 1 < end; i++)
        if (text[i] == '\n') {
            c->to[c->len++] = '\n';
            last_line = i + 1;
        }
    memset(c->to + c->len, ' ', end - 1 - last_line);
    c->len += end - 1 - last_line;
    c->to[c->len++] = close;
    return end;
}

size_t skim(char *text, size_t len, const char *const *key, size_t n)
{
    struct copy c = { text, 0 }; /* into the text itself: it never gets longer */
    size_t copied = 0;
    for (size_t at = 0; at < len;) {
        const char *quote = memchr(text + at, '"', len - at);
        if (!quote) break;
        const size_t from = (size_t)(quote - text);
        const size_t end = behind_string(text, len, from);
        at = end;
        if (end < from + 2 || !is_key(text + from + 1, end - from - 2, key, n)) continue;
        at = behind_blanks(text, len, at);
        if (at >= len || text[at] != ':') continue;
        at = behind_blanks(text, len, at + 1);
        memmove(c.to + c.len, text + copied, at - copied);
        c.len += at - copied;
        copied = at = copy_emptied(&c, text, len, at);
    }
    memmove(c.to + c.len, text + copied, len - copied);
    return c.len + len - copied;
}
