/* gpusim validate: predicted against measured for every reference set, beside naive baselines.
 * A bar that is missed is a finding, not a failure: exit 0, and 1 only with --strict. */
#include "base/csv.h"
#include "base/json.h"
#include "base/log.h"
#include "base/spool.h"
#include "cli/card.h"
#include "cli/command.h"
#include "whatif/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *measured, *named; /* what is opened; what the user called it */
    struct opt_list sets;
    bool strict, rows;
    int format;
};

static const char *const formats[] = { "table", "json", "csv", NULL };
static const struct opt opts[] = {
    { "set", 0, OPT_LIST, offsetof(struct options, sets), "NAME", "only this set", NULL },
    { "measured", 0, OPT_TEXT, offsetof(struct options, measured), "FILE",
      "score these measured rows instead (CSV, columns as in scenarios/measured/)", NULL },
    { "strict", 0, OPT_FLAG, offsetof(struct options, strict), NULL,
      "exit 1 when a bar is missed (a bar on a mean is met by the mean; its worst row is named below it)",
      NULL },
    { "rows", 0, OPT_FLAG, offsetof(struct options, rows), NULL,
      "also print every row; with --format csv instead of the scores", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT", "how to print",
      formats },
    { 0 },
};

/* One set as it was scored. */
struct scored {
    const struct valid_set *set;
    const char *path; /* NULL: no data */
    const char *note; /* about the project's own rows; NULL for a user's */
    valid_rows rows;
    struct valid_report report;
};

/* ---- table ---- */

static void print_cells(const struct valid_score *s)
{
    if (s->n == 0) {
        printf(" %9s %7s %7s %6s", "-", "-", "-", "-");
        return;
    }
    printf(" %9.4g %6.1f%% %6.1f%%", s->mae, 100 * s->mape, 100 * s->worst);
    if (isnan(s->spearman))
        printf(" %6s", "-");
    else
        printf(" %6.3f", s->spearman);
}

static void print_line(const char *name, bool aside, const struct valid_score *model,
                       const struct valid_score *naive)
{
    char label[40];
    snprintf(label, sizeof label, "%s%s", *name ? name : "(all)", aside ? " *" : "");
    printf("  %-34s %5zu", label, model->n);
    print_cells(model);
    printf(" |");
    print_cells(naive);
    putchar('\n');
}

static bool in_percent(const struct valid_check *c)
{
    return c->bar->of == VALID_MAPE || c->bar->of == VALID_WORST || c->bar->of == VALID_OF_NAIVE;
}

static double shown(const struct valid_check *c, double v)
{
    return in_percent(c) ? 100 * v : v;
}

/* "bert, group x: predicted 1.1, measured 1, +10.0 %" */
static void print_worst(const struct valid_score *of, bool with_group)
{
    const struct valid_row *r = &of->worst_row;
    printf("%s%s%s: predicted %.4g, measured %.4g, %+.1f %%\n", r->label,
           with_group && *r->group ? ", " : "", with_group ? r->group : "", r->predicted,
           r->measured, 100 * (r->predicted / r->measured - 1));
}

/* A mean hides its worst row, so that is named below it. */
static void print_check(const struct valid_set *s, const struct valid_report *r,
                        const struct valid_check *c)
{
    const char *unit = in_percent(c) ? "%" : s->unit;
    printf("  %s: %s of %s ",
           isnan(c->value) ? "open"
           : c->met        ? "met"
                           : "MISSED",
           valid_measure_names[c->bar->of], c->bar->group ? c->bar->group : "all rows");
    if (isnan(c->value))
        printf("has no rows, bar %.4g %s\n", shown(c, c->bar->at_most), unit);
    else
        printf("%.4g %s, bar %.4g %s\n", shown(c, c->value), unit, shown(c, c->bar->at_most), unit);
    for (size_t g = 0; c->bar->group && g < r->n_groups; g++) {
        if (strcmp(r->group[g].name, c->bar->group) != 0 || !r->group[g].model.n) continue;
        printf("    worst row: ");
        print_worst(&r->group[g].model, false);
    }
}

static void print_rows(const valid_rows *rows)
{
    printf("  %-34s %-40s %10s %10s %10s\n", "group", "row", "measured", "predicted", "baseline");
    for (size_t i = 0; i < rows->n; i++) {
        const struct valid_row *r = &rows->v[i];
        printf("  %-34s %-40s %10.5g %10.5g %10.5g\n", r->group, r->label, r->measured,
               r->predicted, r->naive);
    }
}

static void print_set(const struct scored *s, bool rows)
{
    const struct valid_report *r = &s->report;
    size_t aside = 0;
    printf("%s: %s [%s]\n", s->set->name, s->set->help, s->set->unit);
    if (!s->path) {
        printf("  no data (set GPUSIM_SHARED or give --measured): skipped\n\n");
        return;
    }
    printf("  baseline: %s\n", s->set->naive);
    printf("  %-34s %5s %33s | %s\n", "", "", "model", "baseline");
    printf("  %-34s %5s %9s %7s %7s %6s | %9s %7s %7s %6s\n", "group", "rows", "MAE", "MAPE",
           "worst", "rank", "MAE", "MAPE", "worst", "rank");
    for (size_t g = 0; g < r->n_groups; g++) {
        print_line(r->group[g].name, r->group[g].aside, &r->group[g].model, &r->group[g].naive);
        aside += r->group[g].aside;
    }
    if (r->n_groups > 1 && r->model.n) print_line("total", false, &r->model, &r->naive);
    if (aside) printf("  * looks at the same rows again; not in the total\n");
    if (r->model.uncovered) printf("  %zu rows are not covered by the model\n", r->model.uncovered);
    if (r->model.n) {
        printf("  worst row: ");
        print_worst(&r->model, r->n_groups > 1);
    }
    for (size_t b = 0; b < s->set->n_bars; b++) print_check(s->set, r, &r->check[b]);
    if (s->note) printf("  note: %s\n", s->note);
    if (rows) print_rows(&s->rows);
    putchar('\n');
}

/* ---- JSON ---- */

static json_t *score_json(const struct valid_score *s)
{
    const struct valid_row *r = &s->worst_row;
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:s?, s:o, s:o, s:o}", "rows",
                     (json_int_t)s->n, "uncovered", (json_int_t)s->uncovered, "mae",
                     json_num(s->mae), "mape", json_num(s->mape), "worst", json_num(s->worst),
                     "worst_absolute", json_num(s->worst_abs), "worst_row", r->label,
                     "worst_measured", json_num(r->label ? r->measured : (double)NAN),
                     "worst_predicted", json_num(r->label ? r->predicted : (double)NAN), "spearman",
                     json_num(s->spearman));
}

static json_t *group_json(const char *name, bool aside, const struct valid_score *model,
                          const struct valid_score *naive)
{
    return json_pack("{s:s, s:b, s:o, s:o}", "group", name, "aside", aside, "model",
                     score_json(model), "baseline", score_json(naive));
}

static json_t *checks_json(const struct scored *s)
{
    json_t *list = json_array();
    for (size_t b = 0; s->path && b < s->set->n_bars; b++) {
        const struct valid_check *c = &s->report.check[b];
        json_array_append_new(list, json_pack("{s:s?, s:s, s:o, s:f, s:b}", "group", c->bar->group,
                                              "measure", valid_measure_names[c->bar->of], "value",
                                              json_num(c->value), "at_most", c->bar->at_most, "met",
                                              c->met));
    }
    return list;
}

static json_t *rows_json(const valid_rows *rows)
{
    json_t *list = json_array();
    for (size_t i = 0; i < rows->n; i++) {
        const struct valid_row *r = &rows->v[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:b, s:o, s:o, s:o}", "group", r->group, "row", r->label,
                            "aside", r->aside, "measured", json_num(r->measured), "predicted",
                            json_num(r->predicted), "baseline", json_num(r->naive)));
    }
    return list;
}

static json_t *set_json(const struct scored *s, bool rows)
{
    const struct valid_report *r = &s->report;
    json_t *groups = json_array();
    for (size_t g = 0; g < r->n_groups; g++)
        json_array_append_new(groups, group_json(r->group[g].name, r->group[g].aside,
                                                 &r->group[g].model, &r->group[g].naive));
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:s?}", "name", s->set->name,
                          "help", s->set->help, "unit", s->set->unit, "baseline", s->set->naive,
                          "data", s->path != NULL, "groups", groups, "total",
                          s->path ? group_json("total", false, &r->model, &r->naive) : json_null(),
                          "bars", checks_json(s), "note", s->note);
    if (rows) json_object_set_new(o, "rows", rows_json(&s->rows));
    return o;
}

/* ---- CSV: one line a group, the table of errors that ships with the program ---- */

static void csv_text(const char *s, char end)
{
    csv_put(stdout, s, strlen(s));
    putchar(end);
}

static void csv_number(double x)
{
    if (!isnan(x)) printf("%.4g", x);
    putchar(',');
}

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

/* `policies`: whose reports show the line; NULL: nobody's. */
static void csv_line(const struct valid_set *s, const char *group, const char *policies, bool aside,
                     const struct valid_score *model, const struct valid_score *naive)
{
    const struct valid_row *worst = &model->worst_row;
    csv_text(s->name, ',');
    csv_text(group, ',');
    csv_text(policies ? policies : "", ',');
    printf("%d,%zu,", aside, model->n);
    csv_number(model->mae);
    csv_number(model->mape);
    csv_number(model->worst);
    csv_text(worst->label ? worst->label : "", ',');
    csv_number(worst->label ? worst->measured : (double)NAN);
    csv_number(worst->label ? worst->predicted : (double)NAN);
    csv_number(model->spearman);
    csv_number(naive->mae);
    csv_number(naive->mape);
    csv_number(naive->worst);
    csv_text(s->unit, ',');
    csv_text(s->help, ',');
    csv_text(s->naive, '\n');
}

static void print_csv(const struct scored *s, size_t n)
{
    puts(
        "set,group,policies,aside,rows,mae,mape,worst,worst_row,worst_measured,worst_predicted,spearman,"
        "baseline_mae,baseline_mape,baseline_worst,unit,what,baseline");
    for (size_t i = 0; i < n; i++) {
        const struct valid_report *r = &s[i].report;
        const struct valid_set *set = s[i].set;
        const char *of_groups = set->as_run_policies ? set->as_run_policies : set->policies;
        const bool total = !set->as_run || set->as_run_policies;
        if (!s[i].path) continue;
        for (size_t g = 0; g < r->n_groups; g++) {
            const bool as_run = set->as_run && ends_with(r->group[g].name, set->as_run);
            csv_line(set, r->group[g].name, as_run ? of_groups : NULL, r->group[g].aside,
                     &r->group[g].model, &r->group[g].naive);
        }
        csv_line(set, "total", total ? set->policies : NULL, false, &r->model, &r->naive);
    }
}

static void print_rows_csv(const struct scored *s, size_t n)
{
    puts("set,group,row,aside,measured,predicted,baseline,unit");
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < s[i].rows.n; k++) {
            const struct valid_row *r = &s[i].rows.v[k];
            csv_text(s[i].set->name, ',');
            csv_text(r->group, ',');
            csv_text(r->label, ',');
            printf("%d,", r->aside);
            csv_number(r->measured);
            csv_number(r->predicted);
            csv_number(r->naive);
            csv_text(s[i].set->unit, '\n');
        }
    }
}

/* ---- run ---- */

static int named_sets(const struct options *o, const struct valid_set **chosen, size_t *n,
                      struct err *e)
{
    for (size_t i = 0; i < o->sets.n; i++) {
        const char *near = NULL;
        chosen[i] = valid_find(o->sets.v[i], &near);
        if (chosen[i]) continue;
        const int rc =
            err_set(e, ERR_USAGE, NULL, "validate: no set is called \"%s\"", o->sets.v[i]);
        if (near)
            err_hint(e, "did you mean \"%s\"?", near);
        else
            err_hint(e, "\"gpusim validate\" names them");
        return rc;
    }
    *n = o->sets.n;
    return 0;
}

/* The sets whose columns the measured file has. */
static int fitting_sets(const char *path, const struct valid_set **chosen, size_t *n, struct err *e)
{
    const struct valid_set *near = NULL;
    const char *lacking = NULL;
    double nearest = 0.5; /* a file that lacks half of a set's columns is not meant for it */
    for (size_t i = 0; valid_all[i]; i++) {
        const struct valid_set *s = valid_all[i];
        const char *first = NULL;
        if (!s->columns) continue;
        const int lacks = measured_lacks(path, s->columns, s->n_columns, &first, e);
        if (lacks < 0) return lacks;
        if (lacks == 0) chosen[(*n)++] = s;
        if ((double)lacks / (double)s->n_columns >= nearest) continue;
        nearest = (double)lacks / (double)s->n_columns;
        near = s;
        lacking = first;
    }
    if (*n) return 0;
    const struct loc at = { .file = path };
    err_set(e, ERR_INPUT, &at, "these columns belong to no set");
    if (near)
        err_hint(e, "\"%s\" comes nearest and also has \"%s\"; --set %s reads it all the same",
                 near->name, lacking, near->name);
    else
        err_hint(e, "the files in scenarios/measured/ show the columns; --set names the set");
    return ERR_INPUT;
}

static int choose_sets(const struct options *o, const struct valid_set **chosen, size_t *n,
                       struct err *e)
{
    if (o->sets.n) return named_sets(o, chosen, n, e);
    if (o->measured) return fitting_sets(o->measured, chosen, n, e);
    for (size_t i = 0; valid_all[i]; i++) chosen[(*n)++] = valid_all[i];
    return 0;
}

static int score(struct scored *s, const struct options *o, const struct world *w, struct arena *a,
                 struct err *e)
{
    s->path = o->measured ? o->measured : valid_data(s->set, a);
    s->note = o->measured ? NULL : s->set->note;
    if (!s->path) return 0;
    const int rc = s->set->predict(w, s->path, a, &s->rows, e);
    if (rc != 0 && !e->where[0]) snprintf(e->where, sizeof e->where, "%s", s->path);
    if (rc < 0) return rc;
    if (o->measured && s->rows.n == 0)
        log_warn("%s: no row of it can be scored by set \"%s\"", o->named, s->set->name);
    valid_report_of(&s->report, s->set, s->rows.v, s->rows.n, a);
    return 0;
}

static void answer(const struct scored *s, size_t n, const struct options *o)
{
    size_t missed = 0, bars = 0, without = 0;
    json_t *list = o->format == FORMAT_JSON ? json_array() : NULL;
    if (o->format == FORMAT_CSV) {
        if (o->rows)
            print_rows_csv(s, n);
        else
            print_csv(s, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        missed += s[i].report.n_missed;
        bars += s[i].path ? s[i].set->n_bars : 0;
        without += !s[i].path;
        if (list)
            json_array_append_new(list, set_json(&s[i], o->rows));
        else
            print_set(&s[i], o->rows);
    }
    if (list)
        json_print(json_pack("{s:s, s:I, s:I, s:o}", "format", "gpusim-validate/1", "bars",
                             (json_int_t)bars, "missed", (json_int_t)missed, "sets", list));
    else
        printf("%zu of %zu bars met; %zu of %zu sets without data\n", bars - missed, bars, without,
               n);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { 0 };
    struct world w = { 0 };
    struct spool spool = { 0 };
    char **operand;
    size_t n = 0, missed = 0;
    int n_operands, rc = opt_parse(self, argc, argv, &o, &operand, &n_operands, e);
    if (rc) return rc == OPT_HELP_SHOWN ? 0 : rc;
    const struct valid_set **chosen = xcalloc(o.sets.n + 64, sizeof *chosen);
    struct scored *s = xcalloc(o.sets.n + 64, sizeof *s);
    struct arena *a = arena_create();
    rc = n_operands ? err_set(e, ERR_USAGE, NULL, "validate: unexpected \"%s\"", operand[0]) : 0;
    if (rc == 0 && o.measured) { /* read more than once */
        o.named = o.measured;
        rc = spool_open(&spool, o.measured, e);
        if (rc == 0) o.measured = spool_path(&spool);
    }
    if (rc == 0) rc = choose_sets(&o, chosen, &n, e);
    if (rc == 0) rc = world_load(&w, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        s[i].set = chosen[i];
        rc = score(&s[i], &o, &w, a, e);
        missed += s[i].report.n_missed;
    }
    if (rc == 0) answer(s, n, &o);
    if (rc == 0 && o.strict && missed) {
        log_warn("%zu bars are missed", missed);
        rc = 1;
    }
    for (size_t i = 0; i < n; i++) vec_fini(&s[i].rows);
    if (w.arena) world_fini(&w);
    arena_destroy(a);
    free(s);
    free(chosen);
    spool_name_err(&spool, e);
    spool_close(&spool);
    opt_fini(opts, &o);
    return rc;
}

const struct command cmd_validate = {
    .name = "validate",
    .args = "",
    .help = "predicted against measured for every reference set, beside naive baselines",
    .example = "gpusim validate --set mig_scaling",
    .opts = opts,
    .run = run,
};
