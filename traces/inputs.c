#include "traces/inputs.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int open_one(struct inputs *in, struct spool *s, const char *named, struct err *e)
{
    const bool standard = strcmp(named, "-") == 0 || strcmp(named, "/dev/stdin") == 0;
    if (standard && in->standard)
        return err_set(e, ERR_USAGE, NULL, "standard input is named twice: it can be read once");
    in->standard |= standard;
    return spool_open(s, named, e);
}

int inputs_open(struct inputs *in, char **named, int n, struct err *e)
{
    int rc = 0;
    in->n = n;
    in->spool = xcalloc((size_t)n, sizeof *in->spool);
    in->path = xcalloc((size_t)n, sizeof *in->path);
    for (int i = 0; i < n && rc == 0; i++) {
        rc = open_one(in, &in->spool[i], named[i], e);
        if (rc == 0) in->path[i] = spool_path(&in->spool[i]);
    }
    return rc;
}

int inputs_of_options(struct inputs *in, const struct trace_format *f, char *values, struct err *e)
{
    int rc = 0;
    for (const struct opt *o = f->opts; o && o->name && rc == 0; o++) {
        if (o->type != OPT_TEXT || strcmp(o->arg, "FILE") != 0) continue;
        const char **named = (const char **)(void *)(values + o->offset);
        if (!*named || in->n_options == INPUTS_OF_OPTIONS) continue;
        struct spool *s = &in->option[in->n_options++];
        rc = open_one(in, s, *named, e);
        if (rc == 0) *named = spool_path(s);
    }
    return rc;
}

static bool is_file(const struct spool *s, const struct stat *file)
{
    struct stat st;
    return stat(spool_path(s), &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

const char *inputs_find(const struct inputs *in, const struct stat *file)
{
    for (int i = 0; i < in->n; i++)
        if (is_file(&in->spool[i], file)) return in->spool[i].named;
    for (int i = 0; i < in->n_options; i++)
        if (is_file(&in->option[i], file)) return in->option[i].named;
    return NULL;
}

void inputs_fini(struct inputs *in, struct err *e)
{
    for (int i = 0; i < in->n_options; i++) {
        spool_name_err(&in->option[i], e);
        spool_close(&in->option[i]);
    }
    for (int i = 0; i < in->n; i++) {
        spool_name_err(&in->spool[i], e);
        spool_close(&in->spool[i]);
    }
    free(in->spool);
    free(in->path);
}
