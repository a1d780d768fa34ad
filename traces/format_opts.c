#include "traces/format_opts.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static size_t aligned(size_t n)
{
    return (n + 15) / 16 * 16;
}

static void add_opts(struct format_opts *p, size_t *n, const struct opt *from, size_t base)
{
    for (; from && from->name; from++) {
        bool there = false;
        for (size_t i = 0; i < *n; i++) there |= strcmp(p->opts[i].name, from->name) == 0;
        if (there || *n == FORMAT_OPTS - 1) continue;
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
    add_opts(p, &n, common, 0);
    for (const struct trace_format *const *f = fmt_all; *f; f++) {
        if (only && *f != only) continue;
        add_opts(p, &n, (*f)->opts, base);
        base += aligned((*f)->options_size);
    }
    p->values = xcalloc(1, base + 16);
    p->own = p->values;
    p->of_format = only ? p->values + own : NULL;
    p->argv = xcalloc((size_t)argc + 1, sizeof *p->argv);
    memcpy(p->argv, argv, (size_t)argc * sizeof *argv);
    p->command = *self;
    p->command.opts = p->opts;
    return opt_parse(&p->command, argc, p->argv, p->values, &p->operand, &p->operands, e);
}

void format_opts_fini(struct format_opts *p)
{
    free(p->values);
    free(p->argv);
}
