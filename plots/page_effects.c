/* plots/page_effects.c - each device parameter, how it is known, and what its range does to the
 * answer. */
#include "plots/page.h"

#include "base/figure.h"
#include "model/profile.h"
#include "plots/effects.h"
#include "plots/html.h"

#include <math.h>
#include <string.h>

enum { TOO_SMALL_PERCENT = 20 }; /* hundredths: below, a change is no change */

static bool seen_before(const struct result *r, size_t policy, size_t param)
{
    const struct param_result *p = &r->policy[policy].param[param];
    for (size_t i = 0; i < policy; i++)
        for (size_t k = 0; k < r->policy[i].n_params; k++) {
            const struct param_result *o = &r->policy[i].param[k];
            if (strcmp(o->name, p->name) == 0 && strcmp(o->fleet, p->fleet) == 0 &&
                strcmp(o->source, p->source) == 0)
                return true;
        }
    return false;
}

/* Whether some policy used a figure of a profile whose self-checks failed. */
static bool doubted(const struct result *r)
{
    for (size_t i = 0; i < r->n_policies; i++)
        for (size_t k = 0; k < r->policy[i].n_params; k++)
            if (strstr(r->policy[i].param[k].source, PROFILE_DOUBT)) return true;
    return false;
}

static bool moves(const double x[2])
{
    return fmax(fabs(x[0]), fabs(x[1])) >= TOO_SMALL_PERCENT / 100.0;
}

/* "+0.4", "-42.4", "0.0": nothing that moves has a sign. */
static void signed_tenths(struct strbuf *out, double x)
{
    if (figure_round(x, FIGURE_TENTHS) > 0) strbuf_addc(out, '+');
    figure_add(out, x, FIGURE_TENTHS);
}

static void both(struct strbuf *out, const struct page *p, enum word what, const double x[2])
{
    if (!moves(x)) return;
    strbuf_addf(out, "%s%s ", out->len ? page_word(p, W_SEPARATOR) : "", page_word(p, what));
    signed_tenths(out, x[AT_LOW]);
    strbuf_addz(out, " / ");
    signed_tenths(out, x[AT_HIGH]);
}

/* "stays timeslice; intercept: mean turnaround % -0.9 / -42.4" */
static void effect(struct grid *t, const struct param_result *x)
{
    static const enum word end[] = { W_AT_LOW, W_AT_HIGH };
    const struct page *p = t->p;
    struct strbuf out = { 0 }, figures = { 0 };
    struct effect f;
    if (!effect_of(p->effects, x->fleet, x->name, &f)) {
        grid_text(t, page_word(p, W_NO_RANGE));
        return;
    }
    for (size_t k = 0; k < 2; k++) {
        if (f.instead[k])
            strbuf_addf(&out, "%s%s %s%s%s", out.len ? page_word(p, W_SEPARATOR) : "",
                        page_word(p, end[k]), page_word(p, W_RECOMMENDS), page_word(p, W_COLON),
                        f.instead[k]);
        if (f.none[k])
            strbuf_addf(&out, "%s%s %s%s%s", out.len ? page_word(p, W_SEPARATOR) : "",
                        page_word(p, end[k]), page_word(p, W_RECOMMENDS), page_word(p, W_COLON),
                        page_word(p, W_NO_POLICY));
        if (f.problem[k])
            strbuf_addf(&out, "%s%s%s%s", out.len ? page_word(p, W_SEPARATOR) : "",
                        page_word(p, end[k]), page_word(p, W_COLON),
                        p->lang == LANG_EN ? f.problem[k] : page_word(p, W_CANNOT_RUN));
    }
    if (out.len == 0) strbuf_addz(&out, page_word(p, W_SAME_CHOICE));
    both(&figures, p, W_E_TURNAROUND, f.turnaround);
    both(&figures, p, W_E_COST, f.cost);
    both(&figures, p, W_E_ATTAINMENT, f.attainment);
    if (figures.len)
        strbuf_addf(&out, "%s%s%s%s", page_word(p, W_SEPARATOR), f.policy, page_word(p, W_COLON),
                    figures.s);
    else
        strbuf_addf(&out, "%s%s", page_word(p, W_SEPARATOR), page_word(p, W_NOTHING_MOVES));
    grid_text(t, out.s);
    strbuf_fini(&out);
    strbuf_fini(&figures);
}

static const double MIB = 1048576;

/* What the scenario sets, as it is written there, e.g. "12 s": the result holds it in the
 * source. NULL: it does not. */
static const char *set_to(struct page *p, const struct param_result *x)
{
    static const char said[] = "set in the scenario: ";
    struct strbuf b = { 0 };
    if (!isnan(x->value) || !x->source || !str_starts(x->source, said)) return NULL;
    const char *from = x->source + strlen(said);
    const size_t n = strlen(from);
    const bool quoted = n >= 2 && *from == '"' && from[n - 1] == '"';
    html_text(&b, quoted ? arena_strndup(p->a, from + 1, n - 2) : from);
    const char *text = arena_strdup(p->a, b.s);
    strbuf_fini(&b);
    return text;
}

/* A value that somebody set, as it was set: 0.81, not 0.8100. */
static void exact(struct grid *t, double x)
{
    struct strbuf b = { 0 };
    figure_add_exact(&b, x);
    grid_html(t, *b.s == '-' ? arena_printf(t->p->a, "&minus;%s", b.s + 1) : b.s, x, FIGURE);
    strbuf_fini(&b);
}

/* The parameters that some policy used, each once. */
void page_effects(struct page *p)
{
    static const enum word heads[] = { W_PARAMETER, W_CARDS, W_VALUE,  W_LOW,   W_HIGH,
                                       W_UNIT,      W_KNOWN, W_EFFECT, W_SOURCE };
    struct grid t;
    page_subheading(p, "parameters", W_EACH_PARAMETER);
    page_note(p, p->effects ? W_EFFECT_NOTE : W_EFFECT_MISSING);
    if (doubted(p->r)) page_note(p, W_DOUBTED_PROFILE);
    grid_open_cards(&t, p, "parameters-table", W_EACH_PARAMETER);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (heads[i] != W_EFFECT || p->effects)
            grid_column(&t, page_word(p, heads[i]), i >= 2 && i < 5 ? "" : NULL, i < 2 || i >= 5);
    for (size_t i = 0; i < p->r->n_policies; i++)
        for (size_t k = 0; k < p->r->policy[i].n_params; k++) {
            const struct param_result *x = &p->r->policy[i].param[k];
            if (seen_before(p->r, i, k)) continue;
            grid_row(&t, false);
            grid_name(&t, x->name, NULL);
            grid_text(&t, x->fleet);
            const bool mib = strcmp(x->unit, "B") == 0 && fabs(x->value) >= MIB;
            const double values[] = { x->value, x->low, x->high };
            const char *set = set_to(p, x);
            if (set) grid_html(&t, set, NAN, FIGURE);
            for (size_t v = set ? 1 : 0; v < 3; v++) exact(&t, mib ? values[v] / MIB : values[v]);
            grid_text(&t, mib ? "MiB" : word_of(p->lang, x->unit));
            grid_text(&t, word_of(p->lang, x->provenance));
            if (p->effects) effect(&t, x);
            grid_quote(&t, x->source);
        }
    grid_close(&t);
    page_picture(p, "effects");
}
