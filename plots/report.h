/* plots/report.h - the report of a run: one self-contained page from the stored files.
 *
 * Reads DIR/result.json, DIR/jobs.csv DIR/series.csv, services.csv, import.json, risk.json and
 * sensitivity.json (all but the first may be absent), writes the data, scripts and pictures to
 * DIR/plots/, DIR/report.html and DIR/summary.md. The page needs no network and no font, reads
 * without its script, on light and dark screens and on paper, and holds no date, path or host
 * name: same files, same bytes. A file that is not what the run wrote (sums in result.json) is
 * refused: ERR_INPUT. A result of another version, or from before sums were kept, is drawn with
 * a notice on the page and the log. Everything is made anew: pictures of an earlier page that
 * this one does not show are deleted, and so is the old page, also when the new one cannot be
 * made. Threads: any, on different folders. Memory: bounded by the result, not by the CSVs. */
#ifndef GPUSIM_PLOTS_REPORT_H
#define GPUSIM_PLOTS_REPORT_H

#include "base/err.h"
#include "base/str.h"
#include "model/result.h"
#include "plots/words.h"

#include <stdbool.h>

/* 0; ERR_INPUT for a result that cannot be read; ERR_IO for files, and when a picture could not be
 * drawn (no gnuplot): data and scripts are then in DIR/plots and the page is written without it. */
int report_build(const char *dir, enum lang lang, struct err *e);

/* ---- between report.c and the page ---- */

struct report_picture {
    const char *name; /* DIR/plots/NAME.{tsv,gp,svg} */
    enum word heading, caption;
    /* what to say when there are no data; W_NONE: nothing, not even the heading */
    enum word absent;
    bool below; /* part of the section before it */
    bool has_data, drawn;
    struct strbuf svg;
};

struct beside;
struct report_look {
    enum lang lang;
    json_t *imports; /* what importers found in the traces; NULL: not known. Borrowed */
    json_t *risk;    /* what the ranges of the prices do (risk.json); NULL: not known. Borrowed */
    /* what those of the device parameters do (sensitivity.json); NULL: not computed. Borrowed */
    json_t *effects;
    const char *missing; /* files that the run wrote and are not there; NULL: none. Borrowed */
    const struct beside *beside; /* curves of a sweep of the same scenario; NULL: none. Borrowed */
};

/* Whether a result is of another version than this program. */
bool report_other_version(const struct result *r);

/* How far the models of this run's policies are off published measurements. Reads
 * scenarios/measured/errors.csv; says so where that is missing. */
struct page;
void report_validation(struct page *p);

/* The page. Pure, but for report_validation(). */
void report_page(const struct result *r, const struct report_picture *pictures, size_t n,
                 const struct report_look *look, struct strbuf *out);

#endif
