/* gpusim manual: the manual pages and the shells' completion, from the tables of options and
 * keys. */
#include "base/str.h"
#include "cli/command.h"
#include "cli/manual.h"

#include <string.h>

static const struct {
    const char *name;
    void (*write)(FILE *to);
} page[] = {
    { "gpusim", manual_gpusim },
    { "scenario", manual_scenario },
    { "bash", manual_bash },
    { "zsh", manual_zsh },
};
enum { PAGES = sizeof page / sizeof *page };

struct options {
    char none;
};
static const struct opt opts[] = { { 0 } };

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { 0 };
    char **operand;
    const char *names[PAGES];
    int n;
    int rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc != 0) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (n > 1) return err_set(e, ERR_USAGE, NULL, "manual: one page, found %d", n);
    const char *want = n ? operand[0] : "gpusim";
    for (size_t i = 0; i < PAGES; i++) {
        names[i] = page[i].name;
        if (strcmp(want, page[i].name) != 0) continue;
        page[i].write(stdout);
        return 0;
    }
    rc = err_set(e, ERR_USAGE, NULL, "manual: no page \"%s\"", want);
    const char *near = str_nearest(want, names, PAGES);
    err_hint(e, "%s%s", near ? "did you mean: " : "gpusim, scenario, bash or zsh",
             near ? near : "");
    return rc;
}

static const char *operand(size_t place, size_t i)
{
    return place == 0 && i < PAGES ? page[i].name : NULL;
}

const struct command cmd_manual = {
    .name = "manual",
    .args = "[gpusim | scenario | bash | zsh]",
    .help = "prints a manual page, or the completion for a shell",
    .example = "gpusim manual scenario | man -l -",
    .opts = opts,
    .run = run,
    .operand = operand,
};
