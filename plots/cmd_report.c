/* plots/cmd_report.c - `gpusim report DIR`: rebuild the page from stored files. */
#include "cli/command.h"
#include "plots/compare_page.h"
#include "plots/report.h"

#include <stdio.h>
#include <unistd.h>

struct report_options {
    int lang;
};

static const struct opt opts[] = {
    { .name = "lang",
      .type = OPT_CHOICE,
      .offset = offsetof(struct report_options, lang),
      .arg = "LANG",
      .help = "language of the page",
      .choices = lang_names },
    { 0 },
};

/* What `gpusim compare -o` wrote, rather than a run. */
static bool holds_comparison(const char *dir)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/result.json", dir);
    if (access(path, F_OK) == 0) return false;
    snprintf(path, sizeof path, "%s/compare.json", dir);
    return access(path, F_OK) == 0;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct report_options o = { .lang = LANG_EN };
    char **operands;
    int n, rc = opt_parse(self, argc, argv, &o, &operands, &n, e);
    if (rc != 0) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (n != 1)
        rc = err_set(e, ERR_USAGE, NULL, "expected one folder, found %d", n);
    else
        rc = holds_comparison(operands[0]) ? compare_page_build(operands[0], (enum lang)o.lang, e)
                                           : report_build(operands[0], (enum lang)o.lang, e);
    opt_fini(self->opts, &o);
    return rc;
}

const struct command cmd_report = {
    .name = "report",
    .args = "DIR",
    .help = "rebuild report.html and its plots from the files of a run or a comparison",
    .example = "gpusim report out/mixed",
    .opts = opts,
    .run = run,
};
