#include "cli/opt.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

const char *const out_format_names[] = { "table", "json", "csv", NULL };

static const struct opt *by_name(const struct opt *opts, const char *name, size_t len)
{
    for (; opts && opts->name; opts++)
        if (strlen(opts->name) == len && memcmp(opts->name, name, len) == 0) return opts;
    return NULL;
}

static const struct opt *by_letter(const struct opt *opts, char letter)
{
    for (; opts && opts->name; opts++)
        if (opts->letter == letter) return opts;
    return NULL;
}

static int unknown_option(const struct command *c, const char *word, size_t len, struct err *e)
{
    const char *names[64] = { "help" };
    size_t n = 1;
    char *name = xstrndup(word, len);

    for (const struct opt *o = c->opts; o && o->name && n < sizeof names / sizeof *names; o++)
        names[n++] = o->name;
    const int rc = err_set(e, ERR_USAGE, NULL, "%s: unknown option \"%s\"", c->name, name);
    const char *near = str_nearest(name + strspn(name, "-"), names, n);
    if (near)
        err_hint(e, "did you mean \"--%s\"?", near);
    else
        err_hint(e, "\"gpusim %s --help\" lists the options", c->name);
    free(name);
    return rc;
}

static int bad_value(const struct command *c, const struct opt *o, const char *expected,
                     const char *found, struct err *e)
{
    return err_set(e, ERR_USAGE, NULL, "%s: option \"--%s\": expected %s, found \"%s\"", c->name,
                   o->name, expected, found);
}

static int set_choice(const struct command *c, const struct opt *o, const char *value, int *out,
                      struct err *e)
{
    char list[200], expected[220];
    size_t n = 0;

    for (; o->choices[n]; n++)
        if (strcmp(o->choices[n], value) == 0) {
            *out = (int)n;
            return 0;
        }
    snprintf(expected, sizeof expected, "one of %s", str_list(list, sizeof list, o->choices, n));
    const int rc = bad_value(c, o, expected, value, e);
    const char *near = str_nearest(value, o->choices, n);
    if (near) err_hint(e, "did you mean \"%s\"?", near);
    return rc;
}

static int set_value(const struct command *c, const struct opt *o, const char *value, void *out,
                     struct err *e)
{
    void *const member = (char *)out + o->offset;
    const size_t len = strlen(value);
    uint64_t u;
    double d;

    switch (o->type) {
    case OPT_FLAG: *(bool *)member = true; return 0;
    case OPT_TEXT: *(const char **)member = value; return 0;
    case OPT_LIST: {
        struct opt_list *list = member;
        list->v = xreallocarray(list->v, list->n + 1, sizeof *list->v);
        list->v[list->n++] = value;
        return 0;
    }
    case OPT_COUNT:
        if (dec_u64(value, len, &u) != DEC_OK || u > INT64_MAX)
            return bad_value(c, o, "a whole number from 0 up", value, e);
        *(int64_t *)member = (int64_t)u;
        return 0;
    case OPT_CORES:
        if (dec_u64(value, len, &u) != DEC_OK || u > OPT_CORES_MAX)
            return bad_value(c, o, "a whole number from 0 (all cores) to 1024", value, e);
        *(unsigned *)member = (unsigned)u;
        return 0;
    case OPT_SEED:
        if (dec_u64(value, len, &u) != DEC_OK)
            return bad_value(c, o, "a whole number from 0 to 2^64 - 1", value, e);
        *(uint64_t *)member = u;
        return 0;
    case OPT_REAL:
        if (dec_double(value, len, &d) != DEC_OK) return bad_value(c, o, "a number", value, e);
        *(double *)member = d;
        return 0;
    case OPT_CHOICE: return set_choice(c, o, value, member, e);
    }
    BUG("option \"%s\" has no type", o->name);
}

/* Where parsing stands: argv is walked once; operands move to its front as they are met. */
struct parser {
    const struct command *c;
    int argc, at;
    char **argv;
    void *out;
};

static int take_value(struct parser *p, const struct opt *o, const char *attached, struct err *e)
{
    if (!attached && p->at + 1 >= p->argc)
        return err_set(e, ERR_USAGE, NULL, "%s: option \"--%s\" needs a value: --%s %s", p->c->name,
                       o->name, o->name, o->arg ? o->arg : "VALUE");
    return set_value(p->c, o, attached ? attached : p->argv[++p->at], p->out, e);
}

static int long_option(struct parser *p, const char *word, struct err *e)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    const size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct opt *o = by_name(p->c->opts, name, len);

    if (!o && len == 4 && memcmp(name, "help", 4) == 0) return OPT_HELP_SHOWN;
    if (!o) return unknown_option(p->c, word, len + 2, e);
    if (o->type != OPT_FLAG) return take_value(p, o, equals ? equals + 1 : NULL, e);
    if (equals)
        return err_set(e, ERR_USAGE, NULL, "%s: option \"--%s\" takes no value", p->c->name,
                       o->name);
    return set_value(p->c, o, "", p->out, e);
}

static int short_options(struct parser *p, const char *word, struct err *e)
{
    for (const char *l = word + 1; *l; l++) {
        const struct opt *o = by_letter(p->c->opts, *l);
        if (!o && *l == 'h') return OPT_HELP_SHOWN;
        if (!o) return unknown_option(p->c, word, strlen(word), e);
        if (o->type != OPT_FLAG) return take_value(p, o, l[1] ? l + 1 : NULL, e);
        const int rc = set_value(p->c, o, "", p->out, e);
        if (rc) return rc;
    }
    return 0;
}

int opt_parse(const struct command *c, int argc, char **argv, void *out, char ***operands,
              int *n_operands, struct err *e)
{
    struct parser p = { .c = c, .argc = argc, .argv = argv, .out = out };
    bool options = true;
    int n = 0, rc = 0;

    for (p.at = 1; p.at < argc && rc == 0; p.at++) {
        char *word = argv[p.at];
        if (options && strcmp(word, "--") == 0)
            options = false;
        else if (options && str_starts(word, "--"))
            rc = long_option(&p, word, e);
        else if (options && word[0] == '-' && word[1])
            rc = short_options(&p, word, e);
        else if (!word[0])
            rc = err_set(e, ERR_USAGE, NULL, "%s: an operand is empty: expected %s", c->name,
                         c->args && *c->args ? c->args : "none");
        else
            argv[1 + n++] = word; /* at or before p.at: nothing unread is overwritten */
    }
    if (rc == OPT_HELP_SHOWN) opt_help(c, stdout);
    if (rc) opt_fini(c->opts, out);
    *operands = argv + 1;
    *n_operands = n;
    return rc;
}

void opt_fini(const struct opt *opts, void *out)
{
    for (; opts && opts->name; opts++) {
        if (opts->type != OPT_LIST) continue;
        struct opt_list *list = (struct opt_list *)(void *)((char *)out + opts->offset);
        free(list->v);
        *list = (struct opt_list){ 0 };
    }
}

/* "-o, --out DIR" */
static void spell(char *buf, size_t size, const struct opt *o)
{
    char letter[8] = "    ";

    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(buf, size, "%s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
}

static void help_line(const struct opt *o, size_t width, FILE *to)
{
    char left[80], list[200];
    size_t n = 0;

    spell(left, sizeof left, o);
    fprintf(to, "  %-*s  %s", (int)width, left, o->help ? o->help : "");
    if (o->type == OPT_CHOICE && o->choices) {
        while (o->choices[n]) n++;
        fprintf(to, ": %s", str_list(list, sizeof list, o->choices, n));
    }
    fprintf(to, "%s\n", o->type == OPT_LIST ? "; may be repeated" : "");
}

void opt_help(const struct command *c, FILE *to)
{
    static const struct opt help = { .name = "help", .letter = 'h', .help = "show this text" };
    char left[80];
    size_t width = 0;
    bool own_help = false;

    for (const struct opt *o = c->opts; o && o->name; o++) {
        spell(left, sizeof left, o);
        if (strlen(left) > width) width = strlen(left);
        own_help |= strcmp(o->name, "help") == 0;
    }
    spell(left, sizeof left, &help);
    if (strlen(left) > width) width = strlen(left);

    if (c->example) fprintf(to, "Example: %s\n\n", c->example);
    fprintf(to, "Usage: gpusim %s%s%s%s\n", c->name, c->args && *c->args ? " " : "",
            c->args ? c->args : "", c->opts && c->opts->name ? " [options]" : "");
    if (c->help) fprintf(to, "       %s\n", c->help);
    fputs("\nOptions:\n", to);
    for (const struct opt *o = c->opts; o && o->name; o++) help_line(o, width, to);
    if (!own_help) help_line(&help, width, to);
}
