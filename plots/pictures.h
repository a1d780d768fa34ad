/* plots/pictures.h - the pictures of a sweep or a sizing: each is data, a script that loads the
 * template of its kind, and what gnuplot makes of them. A failure to draw is kept, so that data
 * and scripts of the rest are still written. Threads: one struct, one thread. */
#ifndef GPUSIM_PLOTS_PICTURES_H
#define GPUSIM_PLOTS_PICTURES_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "plots/words.h"

#include <stdbool.h>
#include <stddef.h>

struct pictures {
    struct arena *a;   /* borrowed */
    const char *dir;   /* where they lie; borrowed */
    enum lang lang;    /* of what they say */
    const char *note;  /* that the figures are of another version; NULL: they are not */
    size_t n;          /* made */
    struct err failed; /* first picture that could not be drawn */
    bool hopeless;     /* no use in trying gnuplot again */
};

/* Pictures from `doc`, the document at `path` in `dir`, into dir/plots with a style.gp of their
 * own; or into `to`, the folder of a report that has one. Where another version than this
 * program wrote the document, that is said on standard error, in the words of each picture and,
 * unless a report says it, below it. 0 or ERR_IO. */
int pictures_begin(struct pictures *p, const char *dir, const char *to, const json_t *doc,
                   const char *path, struct err *e);
/* DIR/NAME.tsv, NAME.gp and NAME.svg. `kind`: the template; `title` says in words what it shows.
 * Frees `tsv`. 0 or ERR_IO. */
int pictures_make(struct pictures *p, const char *name, const char *kind, const char *title,
                  struct strbuf *tsv, struct err *e);
/* No picture of that name. */
void pictures_unlink(const struct pictures *p, const char *name);
/* 0; or the first failure to draw. */
int pictures_end(const struct pictures *p, struct err *e);

#endif
