/* plots/cmd_plot.c - `gpusim plot DIR`: draw a sweep or a sizing again from what is stored. */
#include "base/log.h"
#include "base/mem.h"
#include "cli/command.h"
#include "plots/size_plots.h"
#include "plots/sweep_plots.h"

#include <stdlib.h>
#include <unistd.h>

struct plot_options {
    int lang;
};

static const struct opt opts[] = {
    { .name = "lang",
      .type = OPT_CHOICE,
      .offset = offsetof(struct plot_options, lang),
      .arg = "LANG",
      .help = "language of the pictures",
      .choices = lang_names },
    { 0 },
};

static bool has(const char *dir, const char *name)
{
    char *path = xasprintf("%s/%s", dir, name);
    const bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* A folder may hold both; one that holds neither is told what a sweep is. */
static int draw(const char *dir, enum lang lang, size_t *made, struct err *e)
{
    const bool sizing = has(dir, "size.json");
    size_t of_sweep = 0;
    *made = 0;
    int rc = sizing ? size_plots_build(dir, NULL, lang, made, e) : 0;
    if (rc == 0 && (!sizing || has(dir, "sweep.json")))
        rc = sweep_plots_build(dir, NULL, lang, &of_sweep, e);
    *made += of_sweep;
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct plot_options o = { .lang = LANG_EN };
    char **operands;
    size_t made;
    int n, rc = opt_parse(self, argc, argv, &o, &operands, &n, e);
    if (rc != 0) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (n != 1) {
        rc = err_set(e, ERR_USAGE, NULL, "expected one folder, found %d", n);
    } else {
        rc = draw(operands[0], (enum lang)o.lang, &made, e);
        if (rc == 0)
            log_info(made == 1 ? "%zu picture is in %s/plots" : "%zu pictures are in %s/plots",
                     made, operands[0]);
    }
    opt_fini(self->opts, &o);
    return rc;
}

const struct command cmd_plot = {
    .name = "plot",
    .args = "DIR",
    .help =
        "draw the pictures of a sweep or a sizing: curves, heat maps, cost against service level",
    .example = "gpusim plot out/sizing-erlang-sweep",
    .opts = opts,
    .run = run,
};
