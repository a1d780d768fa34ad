/* plots/words.c - the table of texts. */
#include "plots/words.h"

#include "base/arena.h"
#include "base/str.h"

#include <stddef.h>
#include <string.h>

const char *const lang_names[LANGS + 1] = { "en", "zh", NULL };

static const char *const texts[WORDS][LANGS] = {
    [W_NONE] = { "", "" },
#define W(name, en, zh) [W_##name] = { en, zh },
#include "plots/words.def"
#undef W
};

const char *word(enum lang lang, enum word w)
{
    return texts[w][lang];
}

const char *word_of(enum lang lang, const char *english)
{
    if (!english || lang == LANG_EN) return english;
    for (size_t w = 1; w < WORDS; w++)
        if (strcmp(texts[w][LANG_EN], english) == 0) return texts[w][lang];
    return english;
}

const char *word_of_item(enum lang lang, struct arena *a, const char *name)
{
    const char *whole = word_of(lang, name), *space = name ? strrchr(name, ' ') : NULL;
    if (whole != name || !space) return whole;
    const char *first = arena_strndup(a, name, (size_t)(space - name));
    const char *said = word_of(lang, first);
    return said == first ? name : arena_printf(a, "%s%s", said, space);
}

static bool is_place(const char *s)
{
    return s[0] == '{' && s[1] >= '0' && s[1] <= '9' && s[2] == '}';
}

const char *word_filled(enum lang lang, struct arena *a, enum word w, const char *const *arg,
                        size_t n)
{
    struct strbuf b = { 0 };
    for (const char *s = texts[w][lang]; *s;) {
        if (!is_place(s)) {
            strbuf_addc(&b, *s++);
            continue;
        }
        const size_t i = (size_t)(s[1] - '0');
        if (i < n) strbuf_addz(&b, arg[i]);
        s += 3;
    }
    const char *said = arena_strdup(a, b.s ? b.s : "");
    strbuf_fini(&b);
    return said;
}

struct part {
    const char *s;
    size_t len;
};

/* Whether `text` is the pattern with something at its places: the longest that fits, from the
 * left. */
static bool fits(const char *pattern, const char *text, struct part at[10])
{
    for (; *pattern && !is_place(pattern); pattern++, text++)
        if (*pattern != *text) return false;
    if (!*pattern) return !*text;
    for (size_t len = strlen(text); len > 0; len--) {
        at[pattern[1] - '0'] = (struct part){ text, len };
        if (fits(pattern + 3, text + len, at)) return true;
    }
    return false;
}

const char *word_of_sentence(enum lang lang, struct arena *a, const char *english)
{
    const char *whole = word_of(lang, english);
    struct part best[10] = { 0 }, at[10] = { 0 };
    size_t found = W_NONE, most = 0;
    if (whole != english || !english || lang == LANG_EN) return whole;
    for (size_t w = W_S_FIRST + 1; w < W_S_LAST; w++) {
        const char *pattern = texts[w][LANG_EN];
        if (strlen(pattern) <= most || !fits(pattern, english, at)) continue;
        most = strlen(pattern);
        found = w;
        memcpy(best, at, sizeof best);
    }
    if (found == W_NONE) return english;
    const char *arg[10];
    for (size_t i = 0; i < 10; i++)
        arg[i] = best[i].s ? word_of(lang, arena_strndup(a, best[i].s, best[i].len)) : "";
    return word_filled(lang, a, (enum word)found, arg, 10);
}

const char *word_of_parts(enum lang lang, struct arena *a, const char *english)
{
    const char *said = "", *whole = word_of(lang, english);
    if (whole != english || lang == LANG_EN) return whole;
    for (const char *s = english; s;) {
        const char *comma = strstr(s, ", ");
        const char *part = comma ? arena_strndup(a, s, (size_t)(comma - s)) : s;
        said =
            arena_printf(a, "%s%s%s", said, *said ? texts[W_COMMA][lang] : "", word_of(lang, part));
        s = comma ? comma + 2 : NULL;
    }
    return said;
}

const char *word_of_payer(enum lang lang, struct arena *a, const char *name)
{
    static const char begin[] = "service:";
    if (!str_starts(name, begin)) return word_of(lang, name);
    return arena_printf(a, "%s %s", texts[W_SERVICE][lang], name + strlen(begin));
}
