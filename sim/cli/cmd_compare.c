/* gpusim compare: two result folders; does anything differ by more than chance? */
#include "base/figure.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/problems.h"
#include "model/result.h"
#include "whatif/compare.h"

#include <math.h>
#include <string.h>

struct options {
    bool unpaired, quiet;
    int format, lang;
    const char *out;
};

static const struct opt opts[] = {
    { "unpaired", 0, OPT_FLAG, offsetof(struct options, unpaired), NULL,
      "different work or seeds: compare means of independent samples", NULL },
    { "output", 'o', OPT_TEXT, offsetof(struct options, out), "DIR",
      "also write compare.json and the page of both runs, report.html", NULL },
    { "lang", 0, OPT_CHOICE, offsetof(struct options, lang), "LANG", "language of the page",
      command_langs },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT",
      "of the answer on standard output", out_format_names },
    { "quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, "warnings only", NULL },
    { 0 },
};

static const char *method(const struct comparison *c)
{
    return c->paired
               ? "paired by job; 95 % interval by the delete-one jackknife over 32 windows of "
                 "submit time (over jobs below 8 windows)"
               : "unpaired; jackknife over 32 windows of submit time in each, Welch's interval";
}

static json_t *names(const char *const *v, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, json_string(v[i]));
    return list;
}

static json_t *to_json(const struct comparison *c)
{
    json_t *rows = json_array(), *whole = json_array();
    for (size_t i = 0; i < c->n_rows; i++) {
        const struct compare_row *r = &c->row[i];
        const struct interval *d = &r->difference;
        json_array_append_new(
            rows,
            json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:b}", "policy",
                      r->policy, "metric", r->metric, "n", (json_int_t)r->n, "first",
                      json_num(r->first), "second", json_num(r->second), "difference",
                      json_num(d->mean), "low", json_num(d->mean - d->half), "high",
                      json_num(d->mean + d->half), "p", json_num(r->p), "effective_n",
                      json_num(r->effective_n), "times_longer", json_num(r->times_longer), "over",
                      r->by_windows ? "windows" : "jobs", "significant", (int)r->significant));
    }
    for (size_t i = 0; i < c->n_totals; i++) {
        const struct compare_total *t = &c->total[i];
        json_array_append_new(whole, json_pack("{s:s, s:s, s:o, s:o, s:o}", "policy", t->policy,
                                               "metric", t->metric, "first", json_num(t->first),
                                               "second", json_num(t->second), "difference",
                                               json_num(t->second - t->first)));
    }
    return json_pack("{s:s, s:s, s:b, s:s, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "format",
                     "gpusim-compare/1", "gpusim_version", GPUSIM_VERSION, "paired", (int)c->paired,
                     "method", method(c), "significant", (int)c->significant, "tests",
                     (json_int_t)c->n_tests, "unmatched_jobs", (json_int_t)c->unmatched,
                     "only_first", names(c->only_first, c->n_only_first), "only_second",
                     names(c->only_second, c->n_only_second), "policies",
                     names(c->order, c->n_order), "rows", rows, "totals", whole);
}

static void print_json(const struct comparison *c)
{
    struct strbuf b = { 0 };
    json_t *v = to_json(c);
    json_write(v, &b);
    json_decref(v);
    fwrite(b.s, 1, b.len, stdout);
    strbuf_fini(&b);
}

static void csv_number(double v)
{
    putchar(',');
    if (isfinite(v)) printf("%.12g", v);
}

static void print_csv(const struct comparison *c)
{
    puts(
        "policy,metric,n,first,second,difference,low,high,p,effective_n,times_longer,over,significant");
    for (size_t i = 0; i < c->n_rows; i++) {
        const struct compare_row *r = &c->row[i];
        const double all[] = { r->first,
                               r->second,
                               r->difference.mean,
                               r->difference.mean - r->difference.half,
                               r->difference.mean + r->difference.half,
                               r->p,
                               r->effective_n,
                               r->times_longer };
        printf("%s,%s,%llu", r->policy, r->metric, (unsigned long long)r->n);
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) csv_number(all[k]);
        printf(",%s,%s\n", r->by_windows ? "windows" : "jobs", r->significant ? "true" : "false");
    }
    for (size_t i = 0; i < c->n_totals; i++) {
        const struct compare_total *t = &c->total[i];
        printf("%s,%s,1", t->policy, t->metric);
        csv_number(t->first);
        csv_number(t->second);
        csv_number(t->second - t->first);
        puts(",,,,,,run,");
    }
}

enum { MOST_TIMES = 10000 }; /* beyond it a difference is none for all that matters */

enum { NUMBER = 40 };

static const char *number(char out[NUMBER], double v, double half)
{
    return figure_text(out, NUMBER, v, figure_place(half));
}

static void put_placed(double v, int place)
{
    char text[NUMBER];
    printf("  %11s", figure_text(text, NUMBER, v, place));
}

static void put_number(double v, double half)
{
    put_placed(v, figure_place(half));
}

static void put_times_longer(double times)
{
    if (isfinite(times) && times < MOST_TIMES)
        printf(times < 10 ? " (it would take runs %.1f times as long)"
                          : " (it would take runs %.0f times as long)",
               fmax(times, 1.1));
}

static void print_row(const struct compare_row *r, int width, int figure)
{
    const struct interval *d = &r->difference;
    char low[NUMBER], high[NUMBER], interval[2 * NUMBER + 5] = "n/a";
    if (isfinite(d->half))
        snprintf(interval, sizeof interval, "%s to %s", number(low, d->mean - d->half, d->half),
                 number(high, d->mean + d->half, d->half));
    printf("%-*s  %-*s  %9llu", width, r->policy, figure, r->metric, (unsigned long long)r->n);
    if (isfinite(r->effective_n))
        printf("  %9.0f", r->effective_n);
    else
        printf("  %9s", "n/a");
    put_number(r->first, d->half);
    put_number(r->second, d->half);
    put_number(d->mean, d->half);
    printf("  %-23s  %s", interval, r->significant ? "yes" : "no");
    put_times_longer(r->times_longer);
    putchar('\n');
}

static bool has_none(const struct compare_total *t)
{
    return isnan(t->first) && isnan(t->second);
}

/* That of the larger of both, and of their difference. */
static int place_of(const struct compare_total *t)
{
    const double most = fmax(fabs(t->first), fabs(t->second));
    if (t->first == floor(t->first) && t->second == floor(t->second)) return FIGURE_NO_PLACE;
    return strstr(t->metric, "usd") ? figure_place_money(most)
                                    : figure_place_of(most, FIGURE_DIGITS);
}

/* Of the first two columns. */
static void widths(const struct comparison *c, int *policy, int *figure)
{
    *policy = *figure = (int)strlen("policy");
    for (size_t i = 0; i < c->n_rows + c->n_totals; i++) {
        const struct compare_total *t = i < c->n_rows ? NULL : &c->total[i - c->n_rows];
        const int p = (int)strlen(t ? t->policy : c->row[i].policy),
                  f = (int)strlen(t ? t->metric : c->row[i].metric);
        if (t && has_none(t)) continue;
        if (p > *policy) *policy = p;
        if (f > *figure) *figure = f;
    }
}

static void print_table(const struct comparison *c)
{
    int width, figure;
    widths(c, &width, &figure);
    printf("%-*s  %-*s  %9s  %9s  %11s  %11s  %11s  %-23s  %s\n", width, "policy", figure, "metric",
           "jobs", "effective", "first", "second", "difference", "95 % interval", "significant");
    for (size_t i = 0; i < c->n_rows; i++) print_row(&c->row[i], width, figure);
    for (size_t i = 0; i < c->n_totals; i++) {
        const struct compare_total *t = &c->total[i];
        if (has_none(t)) continue;
        printf("%-*s  %-*s  %9s  %9s", width, t->policy, figure, t->metric, "", "");
        const int place = place_of(t);
        put_placed(t->first, place);
        put_placed(t->second, place);
        put_placed(t->second - t->first, place);
        printf("  one figure a run\n");
    }
    printf(
        "%s; effective: independent jobs that would say as much; significant: Holm's procedure at 5 %% over %zu tests\n%s\n",
        method(c), c->n_tests,
        c->significant   ? "significant difference"
        : c->n_rows == 0 ? "no job to compare: nothing was tested"
                         : "no significant difference");
}

static void warn(const struct comparison *c)
{
    char list[200];
    if (c->unmatched)
        log_warn("%llu jobs are in one of the two runs only and were left out",
                 (unsigned long long)c->unmatched);
    if (c->n_only_first)
        log_warn("only in the first: %s",
                 str_list(list, sizeof list, c->only_first, c->n_only_first));
    if (c->n_only_second)
        log_warn("only in the second: %s",
                 str_list(list, sizeof list, c->only_second, c->n_only_second));
}

/* The last part of a folder's name: no path goes into a document. */
static json_t *base_name(const char *dir)
{
    size_t end = strlen(dir), from;
    while (end > 1 && dir[end - 1] == '/') end--;
    for (from = end; from > 0 && dir[from - 1] != '/';) from--;
    return json_stringn(dir + from, end - from);
}

static json_t *unstable_policies(const json_t *result)
{
    json_t *names = json_array(), *one;
    size_t i;
    json_array_foreach(json_object_get(result, "policies"), i, one)
    {
        if (json_is_false(json_object_get(one, "stable")))
            json_array_append(names, json_object_get(one, "name"));
    }
    return names;
}

/* All of a result is checked, whatever of it is compared. */
static int check_result(const struct json_doc *doc, struct err *e)
{
    struct arena *a = arena_create();
    struct result r;
    struct diag d;
    diag_init(&d);
    result_read(&r, a, doc, &d);
    const int rc = d.count > 0 ? problems_first(&d, e) : result_check_whole(doc, e);
    diag_fini(&d);
    arena_destroy(a);
    return rc;
}

/* What was run, of each: version, seed, hash of the scenario and what was set besides; which
 * policies are unstable. */
static int read_runs(char **operand, json_t *runs, struct err *e)
{
    static const char *const kept[] = { "gpusim_version", "seed", "scenario_sha256", "set" };
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++) {
        struct json_doc doc = { 0 };
        char *path = xasprintf("%s/result.json", operand[i]);
        json_t *one = json_object(), *v;
        rc = json_doc_load(&doc, path, e);
        if (rc == 0) rc = check_result(&doc, e);
        for (size_t k = 0; rc == 0 && k < sizeof kept / sizeof *kept; k++)
            if ((v = json_object_get(doc.root, kept[k]))) json_object_set(one, kept[k], v);
        if (rc == 0) json_object_set_new(one, "unstable", unstable_policies(doc.root));
        json_array_append_new(runs, one);
        json_doc_fini(&doc);
        free(path);
    }
    return rc;
}

/* Figures of different versions differ for that reason too. */
static void warn_of_versions(const json_t *runs, char **operand)
{
    json_t *one;
    size_t i;
    json_array_foreach(runs, i, one)
    {
        const char *version = json_string_value(json_object_get(one, "gpusim_version"));
        if (!version || strcmp(version, GPUSIM_VERSION) != 0)
            log_warn("%s was written by gpusim %s, this is %s: its figures are of that version",
                     operand[i], version ? version : "(unknown)", GPUSIM_VERSION);
    }
}

/* Their means grow with the run, and so does a difference. */
static void warn_of_unstable(const json_t *runs, char **operand)
{
    json_t *one, *name;
    size_t i, k;
    json_array_foreach(runs, i, one)
    {
        json_array_foreach(json_object_get(one, "unstable"), k, name)
        {
            log_warn("%s: %s is not stable, so its waits depend on the length of the run",
                     operand[i], json_string_value(name));
        }
    }
}

/* compare.json and, by the command of that name, the page. */
static int write_page(const struct comparison *c, const struct options *o, char **operand,
                      json_t *runs, struct arena *a, struct err *e)
{
    struct strbuf b = { 0 };
    json_t *v = to_json(c);
    json_object_set_new(v, "first", base_name(operand[0]));
    json_object_set_new(v, "second", base_name(operand[1]));
    json_object_set(v, "runs", runs);
    json_write(v, &b);
    json_decref(v);
    int rc = outfile_mkdirs(o->out, e);
    if (rc == 0) rc = outfile_write(arena_printf(a, "%s/compare.json", o->out), b.s, b.len, e);
    strbuf_fini(&b);
    if (rc == 0) rc = command_draw("report", o->out, o->lang, e);
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { 0 };
    struct comparison c = { 0 };
    json_t *runs;
    struct arena *a = arena_create();
    char **operand;
    int n;
    int rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc != 0) {
        arena_destroy(a);
        return rc == OPT_HELP_SHOWN ? 0 : rc;
    }
    runs = json_array();
    if (o.quiet) log_set_level(LOG_QUIET);
    if (n != 2)
        rc = err_set(e, ERR_USAGE, NULL, "expected two result folders, found %d operands", n);
    if (rc == 0) rc = read_runs(operand, runs, e);
    if (rc == 0) rc = compare_folders(&c, operand[0], operand[1], o.unpaired, 0, a, e);
    if (rc == 0) {
        warn(&c);
        warn_of_versions(runs, operand);
        warn_of_unstable(runs, operand);
        if (o.format == FORMAT_JSON)
            print_json(&c);
        else if (o.format == FORMAT_CSV)
            print_csv(&c);
        else
            print_table(&c);
        if (o.out) rc = write_page(&c, &o, operand, runs, a, e);
        if (rc == 0) rc = c.significant ? 1 : 0;
    }
    json_decref(runs);
    opt_fini(opts, &o);
    arena_destroy(a);
    return rc;
}

const struct command cmd_compare = {
    .name = "compare",
    .args = "DIR DIR",
    .help = "differences of two runs with intervals; exit 1 when one is significant",
    .example = "gpusim compare out/before out/after",
    .opts = opts,
    .run = run,
};
