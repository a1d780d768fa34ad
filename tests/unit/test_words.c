/* test_words.c - the texts of the report: each is there in both languages, with the same places and
 * the same markup; the texts of the pictures are those of the templates. */
#include "support/support.h"

#include "base/arena.h"
#include "metrics/decide.h"
#include "model/price.h"
#include "plots/gnuplot.h"
#include "plots/words.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void count_places(const char *s, int n[10])
{
    for (; *s; s++)
        if (s[0] == '{' && s[1] >= '0' && s[1] <= '9' && s[2] == '}') n[s[1] - '0']++;
}

static int count_of(const char *s, char c)
{
    int n = 0;
    for (; *s; s++) n += *s == c;
    return n;
}

/* Every byte of a text is UTF-8 that fits together. */
static bool is_utf8(const char *s)
{
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        int more = *p < 0x80 ? 0 : *p >> 5 == 6 ? 1 : *p >> 4 == 14 ? 2 : *p >> 3 == 30 ? 3 : -1;
        if (more < 0) return false;
        for (p++; more > 0; more--, p++)
            if (*p >> 6 != 2) return false;
    }
    return true;
}

static void both_languages(void **state)
{
    (void)state;
    for (int w = W_NONE + 1; w < WORDS; w++) {
        const char *en = word(LANG_EN, (enum word)w), *zh = word(LANG_ZH, (enum word)w);
        int a[10] = { 0 }, b[10] = { 0 };
        assert_true(en && *en && zh && *zh);
        count_places(en, a);
        count_places(zh, b);
        for (int i = 0; i < 10; i++)
            if ((a[i] > 0) != (b[i] > 0)) fail_msg("place {%d} differs: %s / %s", i, en, zh);
        if (count_of(en, '<') != count_of(zh, '<') || count_of(en, '<') != count_of(en, '>') ||
            count_of(zh, '<') != count_of(zh, '>'))
            fail_msg("markup differs: %s / %s", en, zh);
        for (const char *p = en; *p; p++)
            if ((unsigned char)*p >= 0x80) fail_msg("not plain English: %s", en);
        if (!is_utf8(zh)) fail_msg("not UTF-8: %s", zh);
        /* a text in a picture or a CSV must not hold what ends a field there */
        assert_null(strpbrk(en, "\t\n"));
        assert_null(strpbrk(zh, "\t\n"));
    }
}

/* Units of time are symbols in Chinese as well, beside those that durations are written in ("2.0 h"):
 * none is a word after a number, a place for one, or a bracket. */
static void units_are_symbols(void **state)
{
    static const char *const units[] = { "毫秒", "秒", "分钟", "分", "小时", "天" };
    static const char *const before[] = { "（", "} ", "0 ", "1 ", "5 ", "6 ", "7 " };
    static const char *const after[] = { "）", "，", "" };
    (void)state;
    for (int w = W_NONE + 1; w < WORDS; w++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++)
            for (size_t b = 0; b < sizeof before / sizeof *before; b++)
                for (size_t a = 0; a < sizeof after / sizeof *after; a++) {
                    char text[40];
                    const char *zh = word(LANG_ZH, (enum word)w);
                    snprintf(text, sizeof text, "%s%s%s", before[b], units[u], after[a]);
                    const char *at = strstr(zh, text);
                    if (strcmp(zh, units[u]) == 0 || (at && (*after[a] || !at[strlen(text)])))
                        fail_msg("a unit in words: %s", zh);
                }
}

/* One English, one Chinese: word_of() looks up by the English. */
static void one_meaning_each(void **state)
{
    (void)state;
    for (int w = W_NONE + 1; w < WORDS; w++)
        for (int v = w + 1; v < WORDS; v++)
            if (strcmp(word(LANG_EN, (enum word)w), word(LANG_EN, (enum word)v)) == 0 &&
                strcmp(word(LANG_ZH, (enum word)w), word(LANG_ZH, (enum word)v)) != 0 &&
                w != W_AT_MOST && v != W_AT_MOST) /* "at most 5" and the head of a column */
                fail_msg("two translations of: %s", word(LANG_EN, (enum word)w));
    assert_string_equal(word_of(LANG_ZH, "measured"), "测得");
    assert_string_equal(word_of(LANG_EN, "measured"), "measured");
    assert_string_equal(word_of(LANG_ZH, "no such text"), "no such text");
}

/* Words that label something: `set xlabel "..."`, also in ( ? : ). */
static void check_labels(const char *name, const char *line)
{
    static const char *const with[] = { "label \"",   "label (",   "label 1 (",
                                        "label 2 \"", "label 2 (", "label 3 \"",
                                        "label 3 (",  "label 4 (", NULL };
    const char *at = NULL;
    for (int i = 0; with[i] && !at; i++) at = strstr(line, with[i]);
    if (!at || line[0] == '#') return;
    for (const char *q = strchr(at, '"'); q;) {
        const char *end = strchr(q + 1, '"');
        char text[200];
        if (!end) return;
        snprintf(text, sizeof text, "%.*s", (int)(end - q - 1), q + 1);
        if (*text && strcmp(word_of(LANG_ZH, text), text) == 0)
            fail_msg("%s: no Chinese for \"%s\"", name, text);
        q = strchr(end + 1, '"');
    }
}

static void pictures_speak_both(void **state)
{
    (void)state;
    static const char folder[] = "plots/templates";
    int seen = 0;
    DIR *d = opendir(folder);
    const struct dirent *f;
    if (!d) skip_without("source tree");
    while ((f = readdir(d))) {
        char path[400];
        size_t len = strlen(f->d_name);
        /* fragmentation.gp is drawn by hand only */
        if (len < 4 || strcmp(f->d_name + len - 3, ".gp") ||
            strcmp(f->d_name, "fragmentation.gp") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        char *text = read_file(path);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            check_labels(path, line);
        free(text);
        seen++;
    }
    closedir(d);
    assert_true(seen > 10);
}

static void scripts_are_translated(void **state)
{
    (void)state;
    struct strbuf out = { 0 };
    gnuplot_translate(
        "# a \"wait\" stays\nset xlabel \"jobs waiting\" # \"free\"\nx = \"\"\ny = \"open", LANG_ZH,
        &out);
    assert_string_equal(
        out.s, "# a \"wait\" stays\nset xlabel \"排队作业数\" # \"free\"\nx = \"\"\ny = \"open");
    strbuf_clear(&out);
    gnuplot_translate("set xlabel \"jobs waiting\"", LANG_EN, &out);
    assert_string_equal(out.s, "set xlabel \"jobs waiting\"");
    strbuf_fini(&out);
}

/* Every text about the ways of sharing has its Chinese. */
static void what_money_does_not_show(void **state)
{
    static const char *const kinds[] = {
        "whole", "mig", "timeslice", "mps", "intercept", "remote"
    };
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t n;
        const struct quality *q = qualities_of(kinds[k], &n);
        assert_true(n > 0);
        for (size_t i = 0; i < n; i++) {
            const char *const text[] = { q[i].aspect, q[i].text, q[i].source };
            for (size_t t = 0; t < 3; t++)
                if (word_of(LANG_ZH, text[t]) == text[t]) fail_msg("no Chinese: %s", text[t]);
        }
    }
}

/* "card l4" is two words, one of which is a name; what the table lacks stays as it is. */
static void names_of_prices(void **state)
{
    struct arena *a = arena_create();
    (void)state;
    assert_string_equal(word_of_item(LANG_ZH, a, "card l4"), "显卡 l4");
    assert_string_equal(word_of_item(LANG_ZH, a, "beyond the base a30"), "超出基量 a30");
    assert_string_equal(word_of_item(LANG_ZH, a, "staff"), "人员");
    assert_string_equal(word_of_item(LANG_ZH, a, "our own tape"), "our own tape");
    assert_string_equal(word_of_item(LANG_EN, a, "card l4"), "card l4");
#define X(name, period, unit)                                                                      \
    if (strcmp(word_of(LANG_ZH, unit), unit) == 0) fail_msg("no Chinese for \"%s\"", unit);
    PRICE_DRIVER_MAP(X)
#undef X
    arena_destroy(a);
}

/* Texts in `source` that come after `before`, each to its closing quote. */
static size_t check_texts(const char *path, const char *source, const char *before)
{
    size_t n = 0;
    for (const char *p = source; (p = strstr(p, before)); n++) {
        char text[200];
        p += strlen(before);
        const char *from = strchr(before, '"') + 1;
        snprintf(text, sizeof text, "%s%.*s", from, (int)strcspn(p, "\""), p);
        if (word_of(LANG_ZH, text) == text) fail_msg("%s: no Chinese for \"%s\"", path, text);
    }
    return n;
}

/* Why jobs are rejected and fail: constant texts of the engine and the policies. */
static void reasons_speak_both(void **state)
{
    static const char *const folders[] = { "sim/engine", "sim/policy" };
    size_t seen = 0;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        DIR *d = opendir(folders[i]);
        const struct dirent *f;
        if (!d) skip_without("source tree");
        while ((f = readdir(d))) {
            char path[400];
            const size_t len = strlen(f->d_name);
            if (len < 3 || strcmp(f->d_name + len - 2, ".c") != 0) continue;
            snprintf(path, sizeof path, "%s/%s", folders[i], f->d_name);
            char *text = read_file(path);
            seen += check_texts(path, text, "reason = \"");
            seen += check_texts(path, text, "return \"it ");
            seen += check_texts(path, text, "return \"those ");
            seen += check_texts(path, text, "? \"it ");
            seen += check_texts(path, text, "? \"the layout ");
            free(text);
        }
        closedir(d);
    }
    assert_true(seen > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_languages),         cmocka_unit_test(one_meaning_each),
        cmocka_unit_test(units_are_symbols),      cmocka_unit_test(pictures_speak_both),
        cmocka_unit_test(scripts_are_translated), cmocka_unit_test(what_money_does_not_show),
        cmocka_unit_test(names_of_prices),        cmocka_unit_test(reasons_speak_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
