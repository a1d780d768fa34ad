#include "traces/format_opts.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static size_t aligned(size_t n)
{
    return (n + 15) / 16 * 16;
}

/* `of`: the format that has them, NULL for none. */
static void add_opts(struct format_opts *p, size_t *n, const struct opt *from, size_t base,
                     const char *of)
{
    for (; from && from->name; from++) {
        size_t i = 0;
        while (i < *n && strcmp(p->opts[i].name, from->name) != 0) i++;
        if (i < *n && of) { /* the first one's help, and who else has it */
            char *help = xasprintf("%s%s %s", p->opts[i].help, p->shared[i] ? "," : "; also", of);
            free(p->shared[i]);
            p->opts[i].help = p->shared[i] = help;
        }
        if (i < *n || *n == FORMAT_OPTS - 1) continue;
        p->opts[*n] = *from;
        p->opts[(*n)++].offset += base;
    }
}

int format_opts_parse(struct format_opts *p, const struct command *self, const struct opt *common,
                      size_t common_size, const struct trace_format *only, int argc, char **argv,
                      struct err *e)
{
    const size_t own = aligned(common_size);
    size_t n = 0, base = own;
    memset(p, 0, sizeof *p);
    add_opts(p, &n, common, 0, NULL);
    for (const struct trace_format *const *f = fmt_all; *f; f++) {
        if (only && *f != only) continue;
        add_opts(p, &n, (*f)->opts, base, (*f)->name);
        base += aligned((*f)->options_size);
    }
    p->values = xcalloc(1, base + 16);
    p->own = p->values;
    p->of_format = only ? p->values + own : NULL;
    p->argv = xcalloc((size_t)argc + 1, sizeof *p->argv);
    memcpy(p->argv, argv, (size_t)argc * sizeof *argv);
    p->command = *self;
    p->command.opts = p->opts;
    snprintf(p->help, sizeof p->help,
             "%s\n       (`gpusim import FORMAT --help`: the options of one format)", self->help);
    if (!only) p->command.help = p->help;
    return opt_parse(&p->command, argc, p->argv, p->values, &p->operand, &p->operands, e);
}

const struct trace_format *format_opts_help_on(int argc, char **argv)
{
    bool help = false;
    const struct trace_format *f = NULL;
    for (int i = 1; i < argc; i++) {
        help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
        if (!f && argv[i][0] != '-') f = format_find(argv[i]);
    }
    return help ? f : NULL;
}

void format_opts_fini(struct format_opts *p)
{
    for (size_t i = 0; i < FORMAT_OPTS; i++) free(p->shared[i]);
    free(p->values);
    free(p->argv);
}
