/* traces/inputs.h - the files of one command line as formats may have them: each can be opened as
 * often as needed. Whatever is no regular file, also where a format's option names it (--nodes
 * FILE), is first copied (base/spool.h); standard input can be named once. Threads: one set, one
 * thread. */
#ifndef GPUSIM_TRACES_INPUTS_H
#define GPUSIM_TRACES_INPUTS_H

#include "base/spool.h"
#include "traces/format.h"

#include <sys/stat.h>

enum { INPUTS_OF_OPTIONS = 16 };

struct inputs { /* starts as {0} */
    struct spool *spool;
    const char **path; /* what to open */
    int n;
    struct spool option[INPUTS_OF_OPTIONS]; /* files that the format's options name */
    int n_options;
    bool standard; /* input was named */
};

/* 0, ERR_IO, ERR_USAGE; inputs_fini() after a failure too. `named` must outlive the set. */
int inputs_open(struct inputs *in, char **named, int n, struct err *e);
/* `values` are the format's options, whose texts are replaced. */
int inputs_of_options(struct inputs *in, const struct trace_format *f, char *values, struct err *e);
/* Which of them is this very file? The user's word for it, or NULL. */
const char *inputs_find(const struct inputs *in, const struct stat *file);
/* The user's own words in *e; copies go away. */
void inputs_fini(struct inputs *in, struct err *e);

#endif
