/* plots/words.h - every text of the report, once, in each language: the table words.def.
 *
 * A text may hold simple markup of its own (<code>, &amp;) and places {0}, {1}, ... that page_say()
 * fills. Texts that templates and stored results bring along in English are looked up by that
 * English, so a template stays a script that runs by hand. Pure. */
#ifndef GPUSIM_PLOTS_WORDS_H
#define GPUSIM_PLOTS_WORDS_H

#include <stddef.h>

struct arena;

enum lang { LANG_EN, LANG_ZH, LANGS };
extern const char *const lang_names[LANGS + 1]; /* "en", "zh", NULL */

enum word {
    W_NONE,
#define W(name, en, zh) W_##name,
#include "plots/words.def"
#undef W
    WORDS
};

const char *word(enum lang lang, enum word w); /* W_NONE: "" */
/* A text with its places filled. From `a`. */
const char *word_filled(enum lang lang, struct arena *a, enum word w, const char *const *arg,
                        size_t n);
/* The text that is this in English, in `lang`; the English itself when the table lacks it.
 * O(WORDS). */
const char *word_of(enum lang lang, const char *english);
/* A sentence of a result, whose names and figures stand between words of the table ("{0} is
 * unstable: {1}; ..."): the same in `lang`, what stands at the places by word_of(). As it is
 * when the table lacks it. From `a` or as given. O(sentences x length of the text). */
const char *word_of_sentence(enum lang lang, struct arena *a, const char *english);
/* Who pays: "service:chat" is a service of that name; else as word_of(). */
const char *word_of_payer(enum lang lang, struct arena *a, const char *name);
/* "2019 library, default cost": each part between commas by word_of(). */
const char *word_of_parts(enum lang lang, struct arena *a, const char *english);
/* The name of a price: that, or of "card l4" the words before the last and the last as it is.
 * From `a` or as given. */
const char *word_of_item(enum lang lang, struct arena *a, const char *name);

#endif
