/* plots/report.c - from a folder of stored files to plots and one page. */
#include "plots/report.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "plots/beside.h"
#include "plots/gnuplot.h"
#include "plots/html.h"
#include "plots/report_data.h"
#include "plots/summary.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every picture. To add one: a template, a line here, its data function, a page_picture() in the
 * page. */
static const struct page_spec {
    const char *name;
    enum word heading, caption, absent;
    bool below;
    int (*data)(const struct source *s, const char *path, struct err *e);
} pages[] = {
    { "differences", W_H_DIFFERENCES, W_C_DIFFERENCES, W_NONE, true, data_differences },
    { "pareto", W_H_PARETO, W_C_PARETO, W_NONE, false, data_pareto },
    { "card_time", W_H_CARD_TIME, W_C_CARD_TIME, W_A_NO_POLICY, false, data_card_time },
    { "card_time_series", W_H_CARD_TIME_SERIES, W_C_CARD_TIME_SERIES, W_NONE, true,
      data_card_time_series },
    { "use", W_H_USE, W_FOUR_USES, W_NONE, true, data_use },
    { "fragments", W_H_FRAGMENTS, W_C_FRAGMENTS, W_NONE, true, data_fragments },
    { "wait_cdf", W_H_WAIT, W_C_WAIT, W_A_NO_JOBS, false, data_wait_cdf },
    { "turnaround_cdf", W_H_TURNAROUND, W_C_TURNAROUND, W_NONE, true, data_turnaround_cdf },
    { "class_wait_cdf", W_H_CLASS_WAIT, W_C_CLASS, W_NONE, true, data_class_wait_cdf },
    { "class_turnaround_cdf", W_H_CLASS_TURNAROUND, W_C_CLASS, W_NONE, true,
      data_class_turnaround_cdf },
    { "load", W_H_LOAD, W_C_LOAD, W_A_NO_SERIES, false, data_load },
    { "mig_map", W_H_MIG_MAP, W_C_MIG_MAP, W_NONE, false, data_mig_map },
    { "latency", W_H_LATENCY, W_C_LATENCY, W_NONE, true, data_latency },
    { "service_load", W_H_SERVICE_LOAD, W_C_SERVICE_LOAD, W_NONE, true, data_service_load },
    { "cost", W_H_COST, W_C_COST, W_A_NO_PRICES, false, data_cost },
    { "tornado", W_H_TORNADO, W_C_TORNADO, W_NONE, true, data_tornado },
    { "breakeven", W_H_BREAKEVEN, W_C_BREAKEVEN, W_NONE, true, data_breakeven },
    { "months", W_H_MONTHS, W_C_MONTHS, W_NONE, true, data_months },
    { "payers", W_H_PAYERS, W_C_PAYERS, W_NONE, true, data_payers },
    { "power", W_H_POWER, W_C_POWER, W_NONE, true, data_power },
    { "effects", W_H_EFFECTS, W_C_EFFECTS, W_NONE, true, data_effects },
    { "precision", W_H_PRECISION, W_C_PRECISION, W_NONE, false, data_precision },
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
static int make_picture(struct report_picture *p, const struct page_spec *page,
                        const struct source *src, const char *plots, bool *hopeless,
                        struct err *drawing, struct err *e)
{
    char *tsv = xasprintf("%s/%s.tsv", plots, page->name);
    char *gp = xasprintf("%s.gp", page->name), *svg = xasprintf("%s/%s.svg", plots, page->name);
    enum gnuplot_fate fate;
    *p = (struct report_picture){ .name = page->name,
                                  .heading = page->heading,
                                  .caption = page->caption,
                                  .absent = page->absent,
                                  .below = page->below };
    int rc = page->data(src, tsv, e);
    if (rc == 0) remove_old(plots, page->name);
    if (rc <= 0) goto out;
    p->has_data = true;
    rc = 0;
    unlink(svg); /* of other data */
    if (gnuplot_template(plots, gp, src->lang, drawing) != 0 || *hopeless) goto out;
    const struct gnuplot_alt alt = { src->lang, word(src->lang, page->heading),
                                     word(src->lang, page->caption) };
    if (gnuplot_draw(plots, page->name, &alt, &fate, drawing) != 0) {
        *hopeless = fate != GNUPLOT_RAN; /* not there, or it would hang again */
        if (fate == GNUPLOT_ABSENT)
            err_hint(drawing,
                     "install gnuplot and run `gpusim report`; data and scripts are in plots/");
    } else if (html_read_file(svg, &p->svg) == 0)
        p->drawn = true;
    else
        rc = err_set(e, err_of_errno(errno), &(struct loc){ .file = svg }, "cannot read: %s",
                     strerror(errno));
out:
    free(tsv);
    free(gp);
    free(svg);
    return rc;
}

/* A document that a run leaves only when there is something to say. */
static int read_beside(struct json_doc *doc, const char *dir, const char *name, struct err *e)
{
    char *path = xasprintf("%s/%s", dir, name);
    int rc = access(path, R_OK) == 0 ? json_doc_load(doc, path, e) : 0;
    free(path);
    return rc;
}

/* What the page reads besides result.json. */
static const char *const read_files[] = { "jobs.csv",        "series.csv", "services.csv",
                                          "slots.csv",       "risk.json",  "import.json",
                                          "sensitivity.json" };
enum { READ_FILES = sizeof read_files / sizeof *read_files };

/* Pictures of a file that was cut, or of another run, would not be those of the tables. */
static int check_files(const char *dir, const struct result *r, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < READ_FILES && rc == 0; i++)
        rc = result_check_file(r, dir, read_files[i], e);
    if (rc == ERR_INPUT)
        err_hint(e, "the file was cut or changed, or is another run's: run the scenario again, or "
                    "remove it for a page without what it holds");
    return rc;
}

/* Those of them that the run wrote and that are not here: "jobs.csv, slots.csv". */
static void find_missing(struct strbuf *out, const char *dir, const struct result *r)
{
    for (size_t i = 0; i < READ_FILES; i++) {
        bool wrote = false;
        char *path = xasprintf("%s/%s", dir, read_files[i]);
        for (size_t k = 0; k < r->n_files; k++)
            wrote |= r->file[k].name && strcmp(r->file[k].name, read_files[i]) == 0;
        if (wrote && access(path, R_OK) != 0)
            strbuf_addf(out, "%s%s", out->len ? ", " : "", read_files[i]);
        free(path);
    }
}

/* Of this version, and with sums of its files, and these all there? The page says the same. */
static void warn_of_origin(const struct result *r, const char *missing)
{
    if (missing)
        log_warn(
            "the run wrote %s, which is not here any more: its pictures and tables are left out",
            missing);
    if (report_other_version(r))
        log_warn("the result was written by gpusim %s, this is %s: its figures are of that version",
                 r->version, GPUSIM_VERSION);
    if (r->n_files == 0)
        log_warn(
            "the result is from before sums of its files were kept: whether they are whole is not known");
}

static int build(const char *dir, const struct result *r, enum lang lang, struct err *e)
{
    struct report_picture pictures[PICTURES] = { 0 };
    struct err drawing = { 0 };
    bool hopeless = false;
    struct strbuf page = { 0 }, missing = { 0 };
    struct digest d = { 0 };
    struct beside beside = { 0 };
    struct json_doc imports = { 0 }, risk = { 0 }, effects = { 0 };
    struct source src = { .r = r, .d = &d, .lang = lang };
    char *plots = xasprintf("%s/plots", dir), *html = xasprintf("%s/report.html", dir);
    char *markdown = xasprintf("%s/summary.md", dir);
    int rc = outfile_mkdirs(plots, e);
    unlink(markdown);
    unlink(html); /* if this fails half-way, no page of other results may stay */
    remove_strangers(plots);
    find_missing(&missing, dir, r);
    warn_of_origin(r, missing.s);
    if (rc == 0) rc = check_files(dir, r, e);
    if (rc == 0) rc = digest_read(&d, r, dir, e);
    if (rc == 0) rc = read_beside(&imports, dir, "import.json", e);
    if (rc == 0) rc = read_beside(&risk, dir, "risk.json", e);
    if (rc == 0) rc = read_beside(&effects, dir, "sensitivity.json", e);
    src.risk = risk.root;
    src.effects = effects.root;
    if (rc == 0) data_style(r, plots, lang, &drawing);
    for (size_t i = 0; i < PICTURES && rc == 0; i++)
        rc = make_picture(&pictures[i], &pages[i], &src, plots, &hopeless, &drawing, e);
    if (rc == 0) {
        beside_read(&beside, dir, r, lang);
        const struct report_look look = { .lang = lang,
                                          .imports = imports.root,
                                          .risk = risk.root,
                                          .effects = effects.root,
                                          .missing = missing.s,
                                          .beside = &beside };
        report_page(r, pictures, PICTURES, &look, &page);
        rc = outfile_write(html, page.s, page.len, e);
        strbuf_clear(&page);
        summary_markdown(r, risk.root, lang, &page);
        if (rc == 0) rc = outfile_write(markdown, page.s, page.len, e);
    }
    if (rc == 0 && drawing.code != ERR_OK) {
        *e = drawing;
        rc = drawing.code;
    }
    for (size_t i = 0; i < PICTURES; i++) strbuf_fini(&pictures[i].svg);
    strbuf_fini(&page);
    strbuf_fini(&missing);
    digest_fini(&d);
    beside_fini(&beside);
    json_doc_fini(&imports);
    json_doc_fini(&risk);
    json_doc_fini(&effects);
    free(plots);
    free(html);
    free(markdown);
    return rc;
}

int report_build(const char *dir, enum lang lang, struct err *e)
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
    if (rc == 0) rc = build(dir, &r, lang, e);
out:
    diag_fini(&d);
    json_doc_fini(&doc);
    arena_destroy(a);
    free(path);
    return rc;
}
