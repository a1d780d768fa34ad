/* cli/opt.h - command-line options as a table.
 *
 * GNU style: --name VALUE, --name=VALUE, -o VALUE, "--" ends options, operands and options may
 * mix. Unknown options are ERR_USAGE with the nearest one, and so is an empty operand. `--help`
 * and `-h` are understood everywhere. */
#ifndef GPUSIM_CLI_OPT_H
#define GPUSIM_CLI_OPT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_type {
    OPT_FLAG,  /* bool */
    OPT_TEXT,  /* const char *, last one wins */
    OPT_LIST,  /* struct opt_list, may be repeated */
    OPT_COUNT, /* int64_t >= 0 */
    OPT_CORES, /* unsigned, 0 to OPT_CORES_MAX; 0: all of them */
    OPT_SEED,  /* uint64_t */
    OPT_REAL,  /* double, finite */
    OPT_CHOICE /* int, index into choices */
};

enum { OPT_CORES_MAX = 1024 };

struct opt_list {
    const char **v; /* freed by opt_fini */
    size_t n;
};

struct opt {
    const char *name; /* without dashes */
    char letter;      /* 0: none */
    enum opt_type type;
    size_t offset;   /* into the command's options struct */
    const char *arg; /* "DIR"; NULL for flags */
    const char *help;
    const char *const *choices;
};

/* Parse into *out (defaults already there). *operands points into argv, *n_operands counts them.
 * 0; or ERR_USAGE; or OPT_HELP_SHOWN (> 0) after printing help on stdout. */
enum { OPT_HELP_SHOWN = 1 };
struct command;
int opt_parse(const struct command *c, int argc, char **argv, void *out, char ***operands,
              int *n_operands, struct err *e);
void opt_fini(const struct opt *opts, void *out); /* frees lists */
void opt_help(const struct command *c, FILE *to);

/* --format table|json|csv, shared by commands. */
enum out_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };
extern const char *const out_format_names[]; /* NULL-terminated */

#endif
