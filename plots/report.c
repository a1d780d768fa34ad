/* plots/report.c - from a folder of stored files to plots and one page. */
#include "plots/report.h"

#include "base/mem.h"
#include "base/outfile.h"
#include "plots/gnuplot.h"
#include "plots/html.h"
#include "plots/report_data.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int card_time(const struct result *r, const char *dir, const char *path, struct err *e)
{
    (void)dir;
    return report_card_time(r, path, e);
}

static int cost(const struct result *r, const char *dir, const char *path, struct err *e)
{
    (void)dir;
    return report_cost(r, path, e);
}

static int with_csv(int (*fn)(const struct result *, const char *, const char *, struct err *),
                    const struct result *r, const char *dir, const char *csv, const char *path,
                    struct err *e)
{
    char *from = xasprintf("%s/%s", dir, csv);
    int rc = fn(r, from, path, e);
    free(from);
    return rc;
}

static int wait_cdf(const struct result *r, const char *dir, const char *path, struct err *e)
{
    return with_csv(report_wait_cdf, r, dir, "jobs.csv", path, e);
}

static int load(const struct result *r, const char *dir, const char *path, struct err *e)
{
    return with_csv(report_load, r, dir, "series.csv", path, e);
}

/* The pictures in the order of the page. To add one: a template, a line here, its data function. */
static const struct page {
    const char *name, *heading, *caption, *absent;
    int (*data)(const struct result *r, const char *dir, const char *path, struct err *e);
} pages[] = {
    { "card_time", "Where the card time goes",
      "Share of all card time after warm-up. Allocated is what policies hold for jobs; only the part "
      "with active SMs does work.",
      "The result holds no policy.", card_time },
    { "wait_cdf", "How long jobs wait",
      "Share of started jobs that waited at most so long. Jobs that did not wait stand at the left "
      "edge, marked 0; rejected jobs are not counted.",
      "There is no jobs.csv with started jobs in this folder (output.jobs).", wait_cdf },
    { "load", "Allocation and queue over time",
      "Mean allocation and most jobs waiting in each of at most 200 intervals; all panels of a column "
      "have the same axes.",
      "There is no series.csv in this folder.", load },
    { "cost", "What the run costs",
      "Straight line: capital over its useful life, running cost as it falls due, for the length of "
      "the run.",
      "The scenario names no price book, or its cards cost nothing.", cost },
};
enum { PICTURES = sizeof pages / sizeof *pages };

/* Nothing of an earlier run may stay when there are no data for a picture now. */
static void remove_old(const char *plots, const char *name)
{
    static const char *const ends[] = { "tsv", "gp", "svg" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *path = xasprintf("%s/%s.%s", plots, name, ends[i]);
        unlink(path);
        free(path);
    }
}

/* Whether plots/NAME.gp is the copy of a template: its first line says "# NAME.gp - ". */
static bool is_template(const char *plots, const char *file)
{
    char line[512] = "", want[300]; /* a file name has at most 255 bytes */
    char *path = xasprintf("%s/%s", plots, file);
    FILE *f = fopen(path, "r");
    free(path);
    if (!f) return false;
    if (!fgets(line, sizeof line, f)) line[0] = '\0';
    fclose(f);
    snprintf(want, sizeof want, "# %s - ", file);
    return str_starts(line, want);
}

/* Pictures that an earlier version or another command drew and this page does not show. A script or
 * picture that somebody made by hand stays. */
static void remove_strangers(const char *plots)
{
    DIR *d = opendir(plots);
    const struct dirent *entry;
    if (!d) return;
    while ((entry = readdir(d))) {
        size_t len = strlen(entry->d_name);
        if (len < 4 || strcmp(entry->d_name + len - 3, ".gp") != 0) continue;
        char *name = xasprintf("%.*s", (int)len - 3, entry->d_name);
        bool ours = strcmp(name, "style") == 0;
        for (size_t i = 0; i < PICTURES; i++) ours = ours || strcmp(name, pages[i].name) == 0;
        if (!ours && is_template(plots, entry->d_name)) remove_old(plots, name);
        free(name);
    }
    closedir(d);
}

/* One picture. A failure to draw is kept in *drawing and is not this function's failure. */
static int make_picture(struct report_picture *p, const struct page *page, const struct result *r,
                        const char *dir, const char *plots, bool *hangs, struct err *drawing,
                        struct err *e)
{
    char *tsv = xasprintf("%s/%s.tsv", plots, page->name);
    char *gp = xasprintf("%s.gp", page->name), *svg = xasprintf("%s/%s.svg", plots, page->name);
    enum gnuplot_fate fate;
    *p = (struct report_picture){ .name = page->name,
                                  .heading = page->heading,
                                  .caption = page->caption,
                                  .absent = page->absent };
    int rc = page->data(r, dir, tsv, e);
    if (rc == 0) remove_old(plots, page->name);
    if (rc <= 0) goto out;
    p->has_data = true;
    rc = 0;
    unlink(svg); /* of other data */
    if (gnuplot_template(plots, gp, drawing) != 0 || *hangs) goto out;
    if (gnuplot_draw(plots, page->name, page->heading, &fate, drawing) != 0) {
        *hangs = fate == GNUPLOT_HUNG; /* it would do so again */
        if (fate == GNUPLOT_ABSENT)
            err_hint(drawing,
                     "install gnuplot and run `gpusim report`; data and scripts are in plots/");
    } else if (html_read_file(svg, &p->svg) == 0)
        p->drawn = true;
    else
        rc = err_set(e, ERR_IO, &(struct loc){ .file = svg }, "cannot read: %s", strerror(errno));
out:
    free(tsv);
    free(gp);
    free(svg);
    return rc;
}

static int build(const char *dir, const struct result *r, struct err *e)
{
    struct report_picture pictures[PICTURES] = { 0 };
    struct err drawing = { 0 };
    bool hangs = false;
    struct strbuf page = { 0 };
    char *plots = xasprintf("%s/plots", dir), *html = xasprintf("%s/report.html", dir);
    int rc = outfile_mkdirs(plots, e);
    unlink(html); /* if this fails half-way, no page of other results may stay */
    remove_strangers(plots);
    if (rc == 0) gnuplot_template(plots, "style.gp", &drawing);
    for (size_t i = 0; i < PICTURES && rc == 0; i++)
        rc = make_picture(&pictures[i], &pages[i], r, dir, plots, &hangs, &drawing, e);
    if (rc == 0) {
        report_page(r, pictures, PICTURES, &page);
        rc = outfile_write(html, page.s, page.len, e);
    }
    if (rc == 0 && drawing.code != ERR_OK) {
        *e = drawing;
        rc = drawing.code;
    }
    for (size_t i = 0; i < PICTURES; i++) strbuf_fini(&pictures[i].svg);
    strbuf_fini(&page);
    free(plots);
    free(html);
    return rc;
}

int report_build(const char *dir, struct err *e)
{
    struct arena *a = arena_create();
    struct json_doc doc = { 0 };
    struct result r;
    struct diag d;
    char *path = xasprintf("%s/result.json", dir);
    diag_init(&d);
    int rc = json_doc_load(&doc, path, e);
    if (rc != 0) {
        err_hint(e, "DIR is a folder that `gpusim run` wrote");
        goto out;
    }
    result_read(&r, a, &doc, &d);
    rc = diag_result(&d, e);
    if (rc == 0) rc = build(dir, &r, e);
out:
    diag_fini(&d);
    json_doc_fini(&doc);
    arena_destroy(a);
    free(path);
    return rc;
}
