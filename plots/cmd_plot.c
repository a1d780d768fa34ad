/* plots/cmd_plot.c - `gpusim plot DIR`: draw a sweep again from its stored table. */
#include "base/log.h"
#include "cli/command.h"
#include "plots/sweep_plots.h"

static const struct opt opts[] = { { 0 } };

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct {
        int none;
    } o = { 0 };
    char **operands;
    size_t made;
    int n, rc = opt_parse(self, argc, argv, &o, &operands, &n, e);
    if (rc != 0) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (n != 1) {
        rc = err_set(e, ERR_USAGE, NULL, "expected one folder, found %d", n);
    } else {
        rc = sweep_plots_build(operands[0], &made, e);
        if (rc == 0) log_info("%zu pictures are in %s/plots", made, operands[0]);
    }
    opt_fini(self->opts, &o);
    return rc;
}

const struct command cmd_plot = {
    .name = "plot",
    .args = "DIR",
    .help = "draw the pictures of a sweep: curves, heat maps, cost against service level",
    .example = "gpusim plot out/sizing-erlang-sweep",
    .opts = opts,
    .run = run,
};
