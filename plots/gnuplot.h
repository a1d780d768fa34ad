/* plots/gnuplot.h - pictures by gnuplot, a child process that is only needed to draw.
 *
 * A picture NAME lives in one folder as NAME.gp (what to draw), NAME.tsv (the numbers) and
 * NAME.svg; gnuplot runs in that folder without the user's start-up files, so the same data give
 * the same picture. The SVG is then made fit for inlining: no version or date of gnuplot, ids
 * that begin with NAME, black replaced by the surrounding text colour, a title and a description
 * for screen readers, and what `labels hypertext` says as a title of its point (class v), which
 * needs no script. The description is what is said of the picture and the values that the
 * pointer would show; where there are none, or more than anybody listens to, where they stand.
 * Threads: any, on different folders. */
#ifndef GPUSIM_PLOTS_GNUPLOT_H
#define GPUSIM_PLOTS_GNUPLOT_H

#include "base/err.h"
#include "base/str.h"
#include "plots/words.h"

#include <stdbool.h>
#include <stddef.h>

/* Copy a template (NAME.gp or style.gp) from where gpusim's data lies into `dir`, its texts in
 * `lang`: each "..." that the table of words has in English. 0 or ERR_IO. */
int gnuplot_template(const char *dir, const char *file, enum lang lang, struct err *e);

/* The template style.gp into `dir`, with line type k looking as `place[k]`, from 1 (palette.h). n
 * 0: line type k has colour k. `note`: a line that stands below each picture, NULL for none. 0 or
 * ERR_IO. */
int gnuplot_style(const char *dir, const size_t place[], size_t n, const char *note, enum lang lang,
                  struct err *e);

/* A script with its texts in another language. Pure. */
void gnuplot_translate(const char *script, enum lang lang, struct strbuf *out);

enum gnuplot_fate {
    GNUPLOT_RAN, /* and drew, or said why not */
    GNUPLOT_ABSENT,
    GNUPLOT_BROKEN, /* it is there and cannot begin */
    /* killed after GNUPLOT_S seconds, or as many as the variable GPUSIM_PLOT_S of the
     * environment says */
    GNUPLOT_HUNG,
};
enum { GNUPLOT_S = 60 };

/* A picture in words. */
struct gnuplot_alt {
    enum lang lang;
    const char *title;
    const char *caption; /* how to read it */
};

/* Draw dir/NAME.svg. 0; ERR_IO when gnuplot is absent, hangs, fails or draws
 * nothing: no NAME.svg is left then. */
int gnuplot_draw(const char *dir, const char *name, const struct gnuplot_alt *alt,
                 enum gnuplot_fate *fate, struct err *e);

/* The clean form of an SVG by gnuplot. Pure. */
void gnuplot_clean_svg(const char *svg, const char *name, const struct gnuplot_alt *alt,
                       struct strbuf *out);

#endif
