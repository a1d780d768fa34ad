/* plots/words.c - the table of texts. */
#include "plots/words.h"

#include "base/arena.h"

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
