/* traces/format_opts.h - a command line of a command's own options and those of trace formats:
 * first with the options of all formats, to find which format it is about, then with those of that
 * one. Ownership: format_opts_fini() frees; operands and texts are lent by argv. Threads: none. */
#ifndef GPUSIM_TRACES_FORMAT_OPTS_H
#define GPUSIM_TRACES_FORMAT_OPTS_H

#include "cli/command.h"
#include "traces/format.h"

enum { FORMAT_OPTS = 128 };

struct format_opts {
    struct command command; /* the command with the options that apply */
    struct opt opts[FORMAT_OPTS];
    char **argv;               /* opt_parse() moves operands: a copy */
    char *values;              /* the command's own, then the format's */
    char *shared[FORMAT_OPTS]; /* help of options that several formats have; owned */
    char help[400];
    const void *own; /* in values */
    void *of_format; /* in values; NULL unless one format was named */
    char **operand;
    int operands;
};

/* `common` ends with {0} and fills a struct of common_size; `only` NULL: the options of all
 * formats. As opt_parse(): 0, OPT_HELP_SHOWN or ERR_USAGE; to be finished in any case. */
int format_opts_parse(struct format_opts *p, const struct command *self, const struct opt *common,
                      size_t common_size, const struct trace_format *only, int argc, char **argv,
                      struct err *e);
/* `import FORMAT --help` shows the options of that format alone: the one to parse for; NULL:
 * all. */
const struct trace_format *format_opts_help_on(int argc, char **argv);
void format_opts_fini(struct format_opts *p); /* accepts {0} */

#endif
