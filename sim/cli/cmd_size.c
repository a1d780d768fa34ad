/* gpusim size: the least-cost number of nodes at which every target is met, policy by policy. */
#include "base/figure.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/thread.h"
#include "cli/command.h"
#include "whatif/size.h"

#include <math.h>

struct options {
    struct opt_list slo, set, policy, over;
    int64_t min, max, replications;
    unsigned threads; /* 0: as many as there are cores */
    const char *group, *design, *out;
    bool scan, no_nines, quiet;
    int format, lang;
};

static const struct opt opts[] = {
    { "slo", 0, OPT_LIST, offsetof(struct options, slo), "EXPR",
      "target on a policy's result: 'jobs.wait_s.p95<=600', 'jobs.failed==0'", NULL },
    { "min", 0, OPT_COUNT, offsetof(struct options, min), "A",
      "smallest number of nodes (default 1)", NULL },
    { "max", 0, OPT_COUNT, offsetof(struct options, max), "B",
      "largest number of nodes (default: 16 times the present number, at least 64)", NULL },
    { "nodes-of", 0, OPT_TEXT, offsetof(struct options, group), "GROUP",
      "fleet group whose nodes are counted (default: the only one)", NULL },
    { "over", 0, OPT_LIST, offsetof(struct options, over), "PATH=V1,V2,..",
      "size each of these as well (card types, MIG layouts ...) and take the least cost over all",
      NULL },
    { "design", 0, OPT_TEXT, offsetof(struct options, design), "DESIGN",
      "how the values of several --over meet: cross (default) or zip", NULL },
    { "no-nines", 0, OPT_FLAG, offsetof(struct options, no_nines), NULL,
      "do not look for what p90, p99 and p999 of a target would cost", NULL },
    { "replications", 'r', OPT_COUNT, offsetof(struct options, replications), "R",
      "at most so many runs of each fleet until a target is decided (default 16)", NULL },
    { "output", 'o', OPT_TEXT, offsetof(struct options, out), "DIR",
      "store all that was tried as DIR/size.json and draw each target against the number of cards",
      NULL },
    { "lang", 0, OPT_CHOICE, offsetof(struct options, lang), "LANG", "language of the pictures",
      command_langs },
    { "scan", 0, OPT_FLAG, offsetof(struct options, scan), NULL,
      "try every number from --min to --max (at most 512)", NULL },
    { "jobs", 'j', OPT_CORES, offsetof(struct options, threads), "N",
      "runs at a time (default: cores)", NULL },
    { "set", 0, OPT_LIST, offsetof(struct options, set), "PATH=VALUE", "change the scenario",
      NULL },
    { "policy", 0, OPT_LIST, offsetof(struct options, policy), "NAME", "only this policy", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT",
      "of the answer on standard output", out_format_names },
    { "quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, "warnings only", NULL },
    { 0 },
};

/* ---- JSON ---- */

static json_t *trial_json(const struct sizing *s, const struct size_trial *t)
{
    if (!t) return json_null();
    json_t *targets = json_array();
    for (size_t q = 0; q < s->o.n_slo; q++) {
        const struct interval *i = &t->value[q];
        json_array_append_new(
            targets, json_pack("{s:s, s:o, s:o, s:o, s:b, s:s}", "slo", s->slo[q].text, "value",
                               json_num(i->mean), "low", json_num(i->mean - i->half), "high",
                               json_num(i->mean + i->half), "met", t->target[q] == SIZE_MET,
                               "verdict", verdict_names[t->target[q]]));
    }
    return json_pack("{s:I, s:I, s:b, s:s, s:b, s:s, s:I, s:o, s:s?, s:o}", "nodes",
                     (json_int_t)t->nodes, "cards", (json_int_t)t->cards, "met",
                     t->verdict == SIZE_MET, "verdict", verdict_names[t->verdict], "stable",
                     (int)t->stable, "queue", queue_state_names[t->queue], "n", (json_int_t)t->n,
                     "total_usd", json_num(t->cost_usd), "problem", t->problem, "targets", targets);
}

static json_t *over_json(const struct sizing *s, const struct size_answer *a)
{
    json_t *o = json_object();
    for (size_t i = 0; i < s->over.n_axes; i++)
        json_object_set_new(o, s->over.axis[i].path,
                            json_string(grid_value(&s->over, a->point, i)));
    return o;
}

static json_t *nines_json(const struct sizing *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_nines; i++) {
        const struct size_nine *n = &s->nine[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:b, s:o, s:o, s:o}", "of", s->slo[n->target].text, "slo",
                            n->slo.text, "met", (int)n->met, "nodes",
                            n->met ? json_integer(n->nodes) : json_null(), "cards",
                            n->met ? json_integer(n->cards) : json_null(), "total_usd",
                            n->met ? json_num(n->cost_usd) : json_null()));
    }
    return list;
}

static json_t *answer_json(const struct sizing *s, const struct size_answer *a)
{
    json_t *tried = json_array(), *odd = json_array();
    const struct size_trial *b = a->best;
    for (size_t i = 0; i < a->n_trials; i++)
        json_array_append_new(tried, trial_json(s, &a->trial[i]));
    for (size_t i = 0; i < a->n_odd; i++)
        json_array_append_new(odd,
                              json_pack("{s:I, s:I, s:b}", "from", (json_int_t)a->odd[i].from, "to",
                                        (json_int_t)a->odd[i].to, "met", (int)a->odd[i].met));
    return json_pack(
        "{s:s, s:o, s:s?, s:s?, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", a->policy, "over",
        over_json(s, a), "problem", a->problem, "path", a->path, "met", b != NULL, "nodes",
        b ? json_integer(b->nodes) : json_null(), "cards", b ? json_integer(b->cards) : json_null(),
        "total_usd", b ? json_num(b->cost_usd) : json_null(), "best", trial_json(s, b),
        "next_smaller", trial_json(s, a->next_smaller), "non_monotone", odd, "tried", tried);
}

static void document(const struct sizing *s, struct strbuf *b)
{
    json_t *policies = json_array(), *slo = json_array();
    const struct size_answer *best = size_cheapest(s);
    for (size_t i = 0; i < s->n_answers; i++)
        json_array_append_new(policies, answer_json(s, &s->answer[i]));
    for (size_t i = 0; i < s->o.n_slo; i++) json_array_append_new(slo, json_string(s->slo[i].text));
    json_t *set = json_array();
    for (size_t i = 0; i < s->o.n_set; i++) json_array_append_new(set, json_string(s->o.set[i]));
    json_t *v = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:s?, s:o, s:o, s:o}", "format",
                          "gpusim-size/1", "gpusim_version", GPUSIM_VERSION, "scenario_name",
                          s->name, "scenario_sha256", s->sha256, "seed", json_num((double)s->seed),
                          "set", set, "slo", slo, "least_cost", best ? best->policy : NULL,
                          "least_cost_over", best ? over_json(s, best) : json_null(), "nines",
                          nines_json(s), "policies", policies);
    if (s->o.n_only > 0) { /* their places in the scenario, for whoever draws them */
        json_t *order = json_array();
        for (size_t i = 0; i < s->n_order; i++)
            json_array_append_new(order, json_string(s->order[i]));
        json_object_set_new(v, "policy_order", order);
    }
    json_write(v, b);
    json_decref(v);
}

static void print_json(const struct sizing *s)
{
    struct strbuf b = { 0 };
    document(s, &b);
    fwrite(b.s, 1, b.len, stdout);
    strbuf_fini(&b);
}

static int store(const struct sizing *s, const char *dir, int lang, struct err *e)
{
    struct strbuf b = { 0 };
    char *path = xasprintf("%s/size.json", dir);
    document(s, &b);
    int rc = outfile_write(path, b.s, b.len, e);
    strbuf_fini(&b);
    free(path);
    if (rc == 0) rc = command_draw("plot", dir, lang, e);
    if (rc == 0) log_info("what was tried is in %s/size.json, drawn in %s/plots", dir, dir);
    return rc;
}

/* ---- CSV: one row a trial ---- */

static void csv_number(double v)
{
    putchar(',');
    if (isfinite(v)) printf("%.12g", v);
}

static void csv_text(const char *text)
{
    struct strbuf b = { 0 };
    strbuf_addcsv(&b, text);
    fwrite(b.s, 1, b.len, stdout);
    strbuf_fini(&b);
}

static void print_csv(const struct sizing *s)
{
    printf("policy");
    for (size_t i = 0; i < s->over.n_axes; i++) printf(",%s", s->over.axis[i].path);
    printf(",nodes,cards,answer,verdict,stable,n,total_usd");
    for (size_t q = 0; q < s->o.n_slo; q++) {
        const char *p = s->slo[q].path;
        printf(",%s,%s.low,%s.high,%s.verdict", p, p, p, p);
    }
    putchar('\n');
    for (size_t i = 0; i < s->n_answers; i++)
        for (size_t k = 0; k < s->answer[i].n_trials; k++) {
            const struct size_trial *t = &s->answer[i].trial[k];
            csv_text(s->answer[i].policy);
            for (size_t x = 0; x < s->over.n_axes; x++) {
                putchar(',');
                csv_text(grid_value(&s->over, s->answer[i].point, x));
            }
            printf(",%lld,%lld,%s,%s,%s,%zu", (long long)t->nodes, (long long)t->cards,
                   t == s->answer[i].best ? "true" : "false", verdict_names[t->verdict],
                   t->stable ? "true" : "false", t->n);
            csv_number(t->cost_usd);
            for (size_t q = 0; q < s->o.n_slo; q++) {
                csv_number(t->value[q].mean);
                csv_number(t->value[q].mean - t->value[q].half);
                csv_number(t->value[q].mean + t->value[q].half);
                printf(",%s", verdict_names[t->target[q]]);
            }
            putchar('\n');
        }
}

/* ---- table ---- */

static void print_figure(double x, int place)
{
    struct strbuf b = { 0 };
    figure_add(&b, x, place);
    fwrite(b.s, 1, b.len, stdout);
    strbuf_fini(&b);
}

static void print_usd(double usd)
{
    printf(", ");
    print_figure(usd, figure_place_money(usd));
    printf(" USD");
}

static void print_value(const struct slo *slo, const struct size_trial *t, size_t q)
{
    const struct interval *i = &t->value[q];
    printf("%s: ", slo->text);
    if (t->problem)
        printf("%s (%s)", verdict_names[t->target[q]], t->problem);
    else if (!isfinite(i->mean))
        printf("%s (no such figure: %s)", verdict_names[t->target[q]],
               t->queue == QUEUE_GROWS ? "unstable" : "nothing to measure");
    else {
        const int place = figure_place(i->half);
        printf("%s (", verdict_names[t->target[q]]);
        print_figure(i->mean, place);
        if (isfinite(i->half)) {
            printf(" +- ");
            print_figure(i->half, place);
            printf(", n %zu", t->n);
        }
        putchar(')');
    }
}

static const char *const queue_words[] = {
    "unstable: the queue grows without end",
    "undecided whether the queue grows without end: a longer horizon or more --replications tell",
    ""
};

/* The targets that a fleet misses. */
static void print_misses(const struct sizing *s, const struct size_trial *t)
{
    size_t n = 0;
    for (size_t q = 0; q < s->o.n_slo; q++) {
        if (t->target[q] == SIZE_MET) continue;
        printf("%s", n++ ? "; " : " ");
        print_value(&s->slo[q], t, q);
    }
    if (n == 0)
        printf(" %s", t->problem ? t->problem : queue_words[t->queue]);
    else if (!t->stable && !t->problem)
        printf("; %s", queue_words[t->queue]);
    putchar('\n');
}

static void print_fleet(const struct size_trial *t)
{
    printf("%lld node%s, %lld card%s", (long long)t->nodes, t->nodes == 1 ? "" : "s",
           (long long)t->cards, t->cards == 1 ? "" : "s");
    if (isfinite(t->cost_usd)) print_usd(t->cost_usd);
}

static void print_name(const struct sizing *s, const struct size_answer *a)
{
    printf("%s", a->policy);
    for (size_t i = 0; i < s->over.n_axes; i++)
        printf(", %s=%s", s->over.axis[i].path, grid_value(&s->over, a->point, i));
}

/* What each further nine of a target costs, against the one before. */
static void print_nines(const struct sizing *s)
{
    const struct size_nine *before = NULL;
    for (size_t i = 0; i < s->n_nines; i++) {
        const struct size_nine *n = &s->nine[i];
        if (!before || before->target != n->target) {
            before = NULL;
            printf("nines of %s:\n", s->slo[n->target].text);
        }
        if (n->met) {
            printf("    %s: %lld node%s, %lld card%s", n->slo.text, (long long)n->nodes,
                   n->nodes == 1 ? "" : "s", (long long)n->cards, n->cards == 1 ? "" : "s");
            if (isfinite(n->cost_usd)) print_usd(n->cost_usd);
            if (before && before->met) {
                printf(" (%+lld card%s", (long long)(n->cards - before->cards),
                       n->cards - before->cards == 1 ? "" : "s");
                if (isfinite(n->cost_usd)) {
                    const double more = n->cost_usd - before->cost_usd;
                    printf(", %s", more > 0 ? "+" : "");
                    print_figure(more, figure_place_money(n->cost_usd));
                    printf(" USD");
                }
                putchar(')');
            }
            putchar('\n');
        } else {
            printf("    %s: no number of nodes that was tried\n", n->slo.text);
        }
        before = n;
    }
}

static void print_answer(const struct sizing *s, const struct size_answer *a)
{
    print_name(s, a);
    printf(": ");
    if (a->problem) {
        printf("cannot be: %s\n", a->problem);
        return;
    }
    if (a->best) {
        print_fleet(a->best);
        putchar('\n');
        for (size_t q = 0; q < s->o.n_slo; q++) {
            printf("    ");
            print_value(&s->slo[q], a->best, q);
            putchar('\n');
        }
    } else {
        printf("no number of nodes from %lld to %lld meets every target\n",
               (long long)a->trial[0].nodes, (long long)a->trial[a->n_trials - 1].nodes);
    }
    const struct size_trial *less = a->best ? a->next_smaller : &a->trial[a->n_trials - 1];
    if (less && less->verdict == SIZE_MET) {
        printf("    %lld nodes meet them too, at ", (long long)less->nodes);
        print_fleet(less);
        putchar('\n');
    } else if (less) {
        printf("    with ");
        print_fleet(less);
        printf(":");
        print_misses(s, less);
    } else {
        printf("    no smaller fleet was looked at\n");
    }
    for (size_t i = 0; i < a->n_odd; i++)
        printf("    not monotone: %lld to %lld nodes %s\n", (long long)a->odd[i].from,
               (long long)a->odd[i].to,
               a->odd[i].met ? "meet them, more do not" : "miss, fewer do not");
}

static void print_table(const struct sizing *s)
{
    const struct size_answer *best = size_cheapest(s);
    for (size_t i = 0; i < s->n_answers; i++) print_answer(s, &s->answer[i]);
    if (best && s->n_answers > 1) {
        printf("%s: ", isfinite(best->best->cost_usd) ? "least cost" : "fewest cards");
        print_name(s, best);
        putchar('\n');
    }
    print_nines(s);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { .min = 1 };
    struct sizing s = { 0 };
    char **operand;
    int n;
    int rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc != 0) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (o.quiet) log_set_level(LOG_QUIET);
    if (n != 1)
        rc = err_set(e, ERR_USAGE, NULL, "expected one scenario, found %d operands", n);
    else if (o.min < 1 || o.min > 10000000 || o.max > 10000000 || (o.max > 0 && o.max < o.min))
        rc = err_set(e, ERR_USAGE, NULL, "expected 1 <= --min <= --max <= 10000000");
    if (rc == 0) {
        const struct size_options so = {
            .scenario = operand[0],
            .slo = o.slo.v,
            .n_slo = o.slo.n,
            .set = o.set.v,
            .n_set = o.set.n,
            .only = o.policy.v,
            .n_only = o.policy.n,
            .over = o.over.v,
            .n_over = o.over.n,
            .design = o.design,
            .no_nines = o.no_nines,
            .group = o.group,
            .min = o.min,
            .max = o.max,
            .replications = (size_t)o.replications,
            .threads = o.threads > 0 ? o.threads : thread_cores(),
            .scan = o.scan,
        };
        if (o.out) rc = outfile_mkdirs(o.out, e);
        if (rc == 0) rc = size_run(&s, &so, e);
    }
    if (rc == 0) {
        if (o.format == FORMAT_JSON)
            print_json(&s);
        else if (o.format == FORMAT_CSV)
            print_csv(&s);
        else
            print_table(&s);
        if (o.out) rc = store(&s, o.out, o.lang, e);
        if (rc == 0) rc = size_cheapest(&s) ? 0 : 1;
    }
    size_fini(&s);
    opt_fini(opts, &o);
    return rc;
}

const struct command cmd_size = {
    .name = "size",
    .args = "SCENARIO",
    .help = "the least-cost number of nodes that meets all targets; exit 1 if none does",
    .example = "gpusim size scenarios/sizing-erlang.json --slo 'jobs.wait_s.p99<=0.5'",
    .opts = opts,
    .run = run,
};
