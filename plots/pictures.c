#include "plots/pictures.h"

#include "base/log.h"
#include "base/outfile.h"
#include "plots/gnuplot.h"
#include "plots/report_data.h"

#include <string.h>
#include <unistd.h>

int pictures_begin(struct pictures *p, const char *dir, const char *to, const json_t *doc,
                   const char *path, struct err *e)
{
    const char *version = json_string_value(json_object_get(doc, "gpusim_version"));
    if (version && strcmp(version, GPUSIM_VERSION) != 0) {
        const char *const arg[] = { version, GPUSIM_VERSION };
        log_warn("%s was written by gpusim %s, this is %s: its figures are of that version", path,
                 version, GPUSIM_VERSION);
        p->note = word_filled(p->lang, p->a, W_PICTURE_OF_VERSION, arg, 2);
    }
    p->dir = to ? to : arena_printf(p->a, "%s/plots", dir);
    const int rc = outfile_mkdirs(p->dir, e);
    return rc || to ? rc : gnuplot_style(p->dir, NULL, 0, p->note, p->lang, e);
}

/* How to read them. */
static const struct {
    const char *kind;
    enum word caption;
} kinds[] = { { "sweep_curve", W_C_SWEEP_CURVE },
              { "sweep_heat", W_C_SWEEP_HEAT },
              { "sweep_pareto", W_C_SWEEP_PARETO },
              { "size_curve", W_C_SIZE_CURVE } };

static struct gnuplot_alt alt_of(const struct pictures *p, const char *kind, const char *title)
{
    enum word w = W_NONE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, kind) == 0) w = kinds[i].caption;
    const char *caption = word(p->lang, w);
    if (p->note) caption = arena_printf(p->a, "%s %s", caption, p->note);
    return (struct gnuplot_alt){ p->lang, title, caption };
}

void pictures_unlink(const struct pictures *p, const char *name)
{
    static const char *const ends[] = { "svg", "gp", "tsv" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        unlink(arena_printf(p->a, "%s/%s.%s", p->dir, name, ends[i]));
}

int pictures_make(struct pictures *p, const char *name, const char *kind, const char *title,
                  struct strbuf *tsv, struct err *e)
{
    const char *script = arena_printf(p->a, "# %s.gp - %s\nload \"%s.gp\"\n", name, title, kind);
    const struct gnuplot_alt alt = alt_of(p, kind, title);
    enum gnuplot_fate fate;
    pictures_unlink(p, name);
    int rc = data_write(tsv, arena_printf(p->a, "%s/%s.tsv", p->dir, name), e);
    if (rc < 0) return rc;
    if (strcmp(name, kind) != 0) {
        rc = outfile_write(arena_printf(p->a, "%s/%s.gp", p->dir, name), script, strlen(script), e);
        if (rc != 0) return rc;
    }
    rc = gnuplot_template(p->dir, arena_printf(p->a, "%s.gp", kind), p->lang, e);
    if (rc != 0) return rc;
    p->n++;
    if (p->hopeless || gnuplot_draw(p->dir, name, &alt, &fate, &p->failed) == 0) return 0;
    p->hopeless = fate != GNUPLOT_RAN;
    if (fate == GNUPLOT_ABSENT) {
        p->failed = (struct err){ 0 };
        err_set(&p->failed, ERR_IO, NULL, "gnuplot is not installed: no pictures");
        err_hint(&p->failed,
                 "install gnuplot and run `gpusim plot`; data and scripts are in plots/");
    }
    return 0;
}

int pictures_end(const struct pictures *p, struct err *e)
{
    if (p->failed.code == ERR_OK) return 0;
    *e = p->failed;
    return (int)p->failed.code;
}
