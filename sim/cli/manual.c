#include "cli/manual.h"

#include "engine/order.h"
#include "engine/place.h"
#include "engine/route.h"
#include "engine/serve.h"
#include "engine/share.h"
#include "model/scenario.h"
#include "model/service.h"
#include "model/signature.h"

#include <string.h>

#ifndef GPUSIM_VERSION /* set by the Makefile */
#define GPUSIM_VERSION "0.1.0"
#endif

/* ---- roff ---- */

/* Text that no line of roff takes for a request, and whose hyphens can be searched for. */
static void say(FILE *to, const char *text)
{
    const char *from = text;
    for (; *text; text++) {
        if ((*text == '.' || *text == '\'') && text == from) fputs("\\&", to);
        if (*text == '\\')
            fputs("\\e", to);
        else if (*text == '-')
            fputs("\\-", to);
        else
            fputc(*text, to);
    }
}

static void line(FILE *to, const char *text)
{
    say(to, text);
    fputc('\n', to);
}

static void title(FILE *to, const char *name, int section, const char *about)
{
    fprintf(to, ".TH %s %d \"\" \"gpusim %s\"\n.SH NAME\n", name, section, GPUSIM_VERSION);
    say(to, name);
    fprintf(to, " \\- %s\n", about);
}

static void term(FILE *to, const char *name)
{
    fputs(".TP\n.B ", to);
    line(to, name);
}

static void example(FILE *to, const char *text)
{
    fputs(".PP\n.nf\n", to);
    line(to, text);
    fputs(".fi\n", to);
}

/* ---- gpusim(1) ---- */

static void option(FILE *to, const struct opt *o)
{
    fputs(".TP\n\\fB", to);
    if (o->letter) fprintf(to, "\\-%c\\fR, \\fB", o->letter);
    fputs("\\-\\-", to);
    say(to, o->name);
    fputs("\\fR", to);
    if (o->arg) fprintf(to, " \\fI%s\\fR", o->arg);
    fputc('\n', to);
    say(to, o->help ? o->help : "");
    for (size_t i = 0; o->type == OPT_CHOICE && o->choices && o->choices[i]; i++) {
        fputs(i ? ", " : ": ", to);
        say(to, o->choices[i]);
    }
    fputs(o->type == OPT_LIST ? "; may be repeated\n" : "\n", to);
}

static void command(FILE *to, const struct command *c)
{
    fprintf(to, ".SS gpusim %s", c->name);
    if (c->args && *c->args) {
        fputc(' ', to);
        say(to, c->args);
    }
    fputc('\n', to);
    line(to, c->help ? c->help : "");
    if (c->example) example(to, c->example);
    for (const struct opt *o = c->opts; o && o->name; o++) option(to, o);
    if (c->format_opts && !c->list) fputs(".PP\nFormats have options: see gpusim import.\n", to);
    const char *format;
    for (size_t i = 0; c->format_opts && c->list && c->format_opts(i, &format); i++) {
        const struct opt *o = c->format_opts(i, &format);
        if (o->name) fprintf(to, ".PP\nOptions of format \\fB%s\\fR:\n", format);
        for (; o->name; o++) option(to, o);
    }
}

/* Every variable that the program reads. */
static void environment(FILE *to)
{
    static const char *const variable[][2] = {
        { "GPUSIM_DATA", "folder of the shipped scenarios, cards and prices, in place of the "
                         "installed one" },
        { "GPUSIM_SHARED", "folder of reference data for validate, beside the shipped ones" },
        { "GPUSIM_SPOOL_BYTES", "how much of a pipe may be copied to a temporary file" },
        { "GPUSIM_PLOT_S", "how many seconds gnuplot may take for one picture (60)" },
        { "PATH", "where gnuplot is looked for" },
        { "TMPDIR", "folder of temporary files (/tmp)" },
        { "SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT, SLURM_ARRAY_TASK_MIN, "
          "SLURM_ARRAY_TASK_STEP",
          "the shard of a sweep without --shard, in a job array of Slurm" },
        { "JOB_COMPLETION_INDEX, JOB_COMPLETION_COUNT",
          "the same in an indexed job of Kubernetes; the second is for you to set" },
    };
    fputs(".SH ENVIRONMENT\n", to);
    for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
        term(to, variable[i][0]);
        line(to, variable[i][1]);
    }
}

void manual_gpusim(FILE *to)
{
    title(to, "gpusim", 1, "what sharing GPUs would have done to your work, and what it costs");
    fputs(".SH SYNOPSIS\n.B gpusim\n.I COMMAND\n[arguments] [options]\n.SH DESCRIPTION\n"
          "Replays the same GPU work, job traces and inference requests, under several ways of "
          "handing cards out, and reports who waits, how busy the cards are, what fails and what "
          "it costs.\n.SH COMMANDS\n",
          to);
    for (const struct command *const *c = cmd_all; *c; c++) command(to, *c);
    fputs(".SH EXIT STATUS\n", to);
    term(to, "0");
    line(to, "done");
    term(to, "1");
    line(to, "the answer is no (check found problems, size found nothing, compare differs)");
#define X(name, status, meaning)                                                                   \
    term(to, #status);                                                                             \
    line(to, meaning);
    ERR_MAP(X)
#undef X
    environment(to);
    fputs(".SH SEE ALSO\n.BR gpusim\\-scenario (5),\n.BR calibrate (1)\n", to);
}

/* ---- gpusim-scenario(5) ---- */

static void keys(FILE *to, const struct cfg_field *fields, size_t n)
{
    char text[500];
    for (size_t i = 0; i < n; i++) {
        term(to, fields[i].name);
        if (fields[i].help) {
            say(to, fields[i].help);
            fputs(".\n", to);
        }
        fputc('(', to);
        say(to, cfg_describe(&fields[i], text, sizeof text));
        fputs(")\n", to);
    }
}

static void shares(FILE *to)
{
    fputs(".SH SHARE\nKeys of \"share\" in a policy, after \"kind\".\n", to);
    for (const struct share_ops *const *s = share_all; *s; s++) {
        fprintf(to, ".SS kind: %s\n", (*s)->name);
        line(to, (*s)->help);
        keys(to, (*s)->fields, (*s)->fields_n);
    }
}

static void orders_and_places(FILE *to)
{
    fputs(".SH ORDER\nValues of \"order\" in a schedule, and the keys each adds to it.\n", to);
    for (const struct order_ops *const *o = order_all; *o; o++) {
        term(to, (*o)->name);
        line(to, (*o)->help);
        if ((*o)->fields_n == 0) continue;
        fputs(".RS\n", to);
        keys(to, (*o)->fields, (*o)->fields_n);
        fputs(".RE\n", to);
    }
    fputs(".SH PLACE\nValues of \"place\" in a schedule.\n", to);
    for (const struct place_ops *const *p = place_all; *p; p++) {
        term(to, (*p)->name);
        line(to, (*p)->help);
    }
}

static void services(FILE *to)
{
    fputs(".SH SERVICE\nKeys of a member of \"work\" whose kind is \"service\".\n", to);
    keys(to, service_fields, service_fields_n);
    fputs(".SH NEED\nKeys of \"need\" of a service.\n", to);
    keys(to, service_need_fields, service_need_fields_n);
    fputs(".SH REPLICAS\nKeys of \"replicas\" of a service.\n", to);
    keys(to, service_replicas_fields, service_replicas_fields_n);
    fputs(".SH SERVE\nKeys of \"serve\" of a service, after \"kind\".\n", to);
    for (const struct serve_ops *const *v = serve_all; *v; v++) {
        fprintf(to, ".SS kind: %s\n", (*v)->name);
        line(to, (*v)->help);
        keys(to, (*v)->fields, (*v)->fields_n);
    }
    fputs(".SH ROUTE\nValues of \"route\" of a service.\n", to);
    for (const struct route_ops *const *r = route_all; *r; r++) {
        term(to, (*r)->name);
        line(to, (*r)->help);
    }
}

void manual_scenario(FILE *to)
{
    title(to, "gpusim-scenario", 5, "fleet, work and policies that gpusim compares");
    fputs(".SH DESCRIPTION\nA scenario is a JSON file. What has a dimension is text with a unit "
          "(\"80 GiB\", \"2 ms\", \"400 W\", \"0.12 USD/kWh\"); counts and ratios are plain "
          "numbers. Unknown keys are errors. Paths are relative to the file.\n",
          to);
    example(to, "gpusim check scenarios/mixed.json");
    for (const struct scenario_section *s = scenario_sections; s->title; s++) {
        fprintf(to, ".SH %s\nKeys of ", s->title);
        say(to, s->where);
        fputs(".\n", to);
        keys(to, s->fields, s->n);
    }
    shares(to);
    orders_and_places(to);
    services(to);
    fputs(".SH PROFILES\nKeys of each member of \"profiles\": how a job uses a card.\n", to);
    keys(to, signature_fields, signature_fields_n);
    fputs(".SH SEE ALSO\n.BR gpusim (1)\n", to);
}
