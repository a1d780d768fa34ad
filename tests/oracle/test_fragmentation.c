/* test_fragmentation.c - the inflation experiment of Weng et al., "Beware of Fragmentation:
 * Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent" (USENIX ATC 2023), figures
 * 7 and 9: pods of the openb lists in random order, repeated until they ask for 130 % of 6,212
 * cards, on the 1,213 nodes with cards; nobody leaves, who does not fit is dropped.
 *
 * Every placement must come within 0.3 points of the published mean over 10 seeds (clustering and
 * packing within 0.5 on the list that restricts pods to models); random, best_fit_node (the
 * published best fit) and fgd also in the fragments on the way there. All figures are printed
 * beside the published ones. Unlike the published program, fgd learns the mix of pods as they come.
 *
 * Pods are driven through the placements here, without clock, which takes seconds; one run of the
 * program's engine is compared with that, card for card. The undisclosed cards of the list stand as
 * "generic"; which pods may use which (gpuspec33) is applied here. 10 seeds of default, 2 of the
 * other lists with a bound of 1.5 points; GPUSIM_SOAK: 10 of every list. Sanitized builds: 1 seed
 * of default, 1.5 points. Mutants: ties in the order of the fleet (fgd loses 5 points); node limits
 * ignored. */
#include "support/simulate.h"

#include "base/mem.h"
#include "engine/source.h"
#include "support/place_scan.h"

#include <gsl/gsl_statistics_double.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRACES "traces/alibaba-gpu-2023/"

enum { PLACES = 8, PUBLISHED = 6, LISTS = 5, MAX_GROUPS = 32, SEEDS = 10, MARKS = 5 };

static const char *const places[PLACES] = {
    "random", "dot_product", "clustering", "packing", "best_fit_node", "fgd", "pack", "spread"
};
static const struct {
    const char *name;
    double allocated[PUBLISHED]; /* per cent at 130 % */
} lists[LISTS] = {
    { "default", { 87.47, 90.85, 91.88, 92.00, 93.08, 95.39 } },
    { "multigpu20", { 88.69, 92.06, 93.56, 93.71, 93.93, 95.65 } },
    { "gpushare60", { 83.65, 87.11, 87.20, 87.45, 89.36, 91.40 } },
    { "gpuspec33", { 86.46, 89.14, 92.12, 93.22, 93.09, 94.55 } },
    { "cpu050", { 91.24, 93.27, 93.79, 93.72, 93.79, 95.21 } },
};
/* Arrived, in per cent of the cards; the published fragment there, of random, best fit and fgd. */
static const int marks[MARKS] = { 10, 50, 90, 100, 130 };
static const double fragment[3][MARKS] = { { 14.43, 15.10, 14.48, NAN, 12.43 },
                                           { 14.25, 10.81, 7.41, NAN, 6.85 },
                                           { 12.85, 8.93, 5.00, NAN, 4.57 } };
/* Allocated at 100 % arrived, default. */
static const double allocated_100[PUBLISHED] = { 86.30, 90.62, 91.65, 91.78, 92.86, 95.23 };

struct curve {
    double allocated[MARKS], fragment[MARKS]; /* per cent of the cards */
    long placed;
    int64_t milli; /* cards' thousandths in use at the end */
};

struct experiment {
    char *fleet, *trace; /* JSON text; path */
    char *model[MAX_GROUPS];
    size_t n_groups;
};

/* ---- files ---- */

static bool same_kind(const json_t *a, const json_t *b)
{
    static const char *const keys[] = { "gpu", "gpus_per_node", "cpu_cores", "host_memory" };
    for (size_t i = 0; i < 4; i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i]))) return false;
    return true;
}

/* Nodes that are equal make one group: the experiment draws their order anyway. */
static void merge_groups(struct experiment *x, const char *path)
{
    json_t *doc = json_load_file(path, 0, NULL), *merged = json_array(), *group;
    size_t i;
    assert_non_null(doc);
    json_array_foreach(json_object_get(doc, "fleet"), i, group)
    {
        json_t *into = NULL;
        for (size_t k = 0; k < json_array_size(merged) && !into; k++)
            if (same_kind(json_array_get(merged, k), group)) into = json_array_get(merged, k);
        if (into) {
            const json_int_t n = json_integer_value(json_object_get(into, "nodes")) +
                                 json_integer_value(json_object_get(group, "nodes"));
            json_object_set_new(into, "nodes", json_integer(n));
        } else {
            json_array_append(merged, group);
        }
    }
    json_array_foreach(merged, i, group)
    {
        assert_true(x->n_groups < MAX_GROUPS);
        x->model[x->n_groups++] = xstrdup(json_string_value(json_object_get(group, "gpu")));
        json_object_set_new(group, "gpu", json_string("generic"));
    }
    x->fleet = json_dumps(merged, 0);
    json_decref(merged);
    json_decref(doc);
}

static void prepare(struct experiment *x, const char *list)
{
    const char *bin = getenv("GPUSIM_BIN"), *folder = shared_path(TRACES);
    *x = (struct experiment){ 0 };
    if (!bin || !folder) skip_without_shared(TRACES);
    const char *dir = temp_dir();
    char *command =
        xasprintf("'%s' import openb --static --nodes '%s/openb_node_list_gpu_node.csv' "
                  "'%s/openb_pod_list_%s.csv' -o '%s/t.csv' 2>/dev/null",
                  bin, folder, folder, list, dir);
    char *snippet = xasprintf("%s/t.csv.fleet.json", dir);
    x->trace = xasprintf("%s/t.csv", dir);
    if (system(command) != 0) fail_msg("%s failed", command);
    merge_groups(x, snippet);
    free(command);
    free(snippet);
}

static void finish(struct experiment *x)
{
    for (size_t i = 0; i < x->n_groups; i++) free(x->model[i]);
    free(x->fleet);
    free(x->trace);
}

static char *scenario_of(const struct experiment *x, uint64_t seed, char **spec)
{
    char *policies = xstrdup(""), *text;
    for (size_t i = 0; i < PLACES; i++) {
        text = xasprintf(
            "%s%s{'name': '%s', 'share': {'kind': 'intercept'}, 'schedule': {'place': '%s',"
            " 'backfill': 'none', 'when_full': 'drop'}}",
            policies, i ? ", " : "", places[i], places[i]);
        free(policies);
        policies = text;
    }
    *spec = xasprintf(
        "{'format': 'gpusim-generate/1', 'name': 'inflated', 'classes': [{'name': 'pod',"
        " 'arrivals': {'kind': 'shuffle', 'trace': '%s', 'gap': '1 s', 'gpus': 8075.6}}]}",
        x->trace);
    text = xasprintf(
        "{'format': 'gpusim-scenario/1', 'name': 'inflate', 'seed': %llu, 'horizon': '4 h',"
        " 'fleet': %s, 'work': [{'name': 'w', 'kind': 'generate', 'spec': 'spec.json'}],"
        " 'policies': [%s], 'output': {'sample': '4 h'}}",
        (unsigned long long)seed, x->fleet, policies);
    free(policies);
    return text;
}

/* ---- one run ---- */

struct pods {
    struct demand demand[MAX_GROUPS];
    struct place_request r[MAX_GROUPS];
};

static bool may_use(const char *allowed, const char *model)
{
    const size_t n = strlen(model);
    for (const char *at = allowed; *at; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == n && strncmp(at, model, n) == 0) return true;
    return !*allowed;
}

static void request_of(struct pods *out, const struct experiment *x, const struct plan *p,
                       const struct job_row *row, const char *allowed)
{
    const struct request want = { .gpus_milli = row->gpus_milli,
                                  .slots = 1,
                                  .bytes = JOB_NO_BYTES };
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct plan_group *pg = &p->group[g];
        const bool no = p->share->demand(pg->params, &pg->type, &want, &out->demand[g]) ||
                        out->demand[g].cards > pg->per_node || !may_use(allowed, x->model[g]);
        out->r[g] = (struct place_request){ .group = (int)g,
                                            .demand = no ? NULL : &out->demand[g],
                                            .cpus_milli = row->cpus_milli,
                                            .host_bytes = row->mem_bytes };
    }
}

struct feed {
    struct symtab *names;
    struct source *s;
};

static void feed_open(struct feed *f, const struct plan *p)
{
    struct err e = { 0 };
    f->names = symtab_create();
    if (source_open(&f->s, p->scenario, 0, f->names, &e) != 0) fail_msg("%s: %s", e.where, e.msg);
}

static void feed_close(struct feed *f)
{
    source_close(f->s);
    symtab_destroy(f->names);
}

static bool feed_next(struct feed *f, struct pods *out, const struct experiment *x,
                      const struct plan *p, bool restricted, int32_t *milli)
{
    struct job_row row;
    struct err e = { 0 };
    const int rc = source_next(f->s, &row, &e);
    if (rc < 0) fail_msg("%s: %s", e.where, e.msg);
    if (rc == 0) return false;
    const bool named = restricted && row.gpu_allowed;
    request_of(out, x, p, &row, named ? symtab_name(f->names, row.gpu_allowed) : "");
    *milli = row.gpus_milli;
    return true;
}

/* `fragments`: measure them, over the mix of the whole list. */
static void run(const struct experiment *x, const struct plan *p, bool fragments, struct curve *out)
{
    struct cluster *c = cluster_create(p);
    struct place_scan *scan = fragments ? place_scan_create(c, SCAN_FGD) : NULL;
    struct pick pick = { 0 };
    struct pods pod;
    struct feed f;
    int32_t milli;
    int64_t arrived = 0;
    int mark = 0;
    *out = (struct curve){ 0 };
    if (scan) {
        feed_open(&f, p);
        while (feed_next(&f, &pod, x, p, false, &milli)) place_scan_submitted(scan, pod.r);
        place_scan_learn(scan);
        feed_close(&f);
    }
    feed_open(&f, p);
    for (bool more = true; more;) {
        more = feed_next(&f, &pod, x, p, true, &milli);
        if (more) {
            if (p->place->submitted) p->place->submitted(cluster_place_state(c), pod.r);
            const int g = p->place->pick_any(c, pod.r, &pick);
            if (g >= 0) {
                cluster_take(c, &pod.r[g], &pick);
                if (p->place->began) p->place->began(cluster_place_state(c));
                out->placed++;
                out->milli += milli;
            }
            arrived += milli;
        }
        while (mark < MARKS && (!more || arrived >= marks[mark] * p->cards * 10)) {
            out->allocated[mark] = (double)out->milli / 10 / (double)p->cards;
            if (scan) out->fragment[mark] = 100 * place_scan_fragments(scan) / (double)p->cards;
            mark++;
        }
    }
    feed_close(&f);
    place_scan_destroy(scan);
    cluster_destroy(c);
    vec_fini(&pick.card);
}

/* ---- the tables ---- */

static bool sanitized(void)
{
    const char *variant = getenv("GPUSIM_VARIANT");
    return variant && (strstr(variant, "san") || strcmp(variant, "coverage") == 0 ||
                       strcmp(variant, "debug") == 0);
}

static void load(struct runner *r, const struct experiment *x, uint64_t seed)
{
    char *spec, *scenario = scenario_of(x, seed, &spec);
    const struct sim_file files[] = { { "spec.json", spec }, { NULL, NULL } };
    sim_load(r, sim_write(scenario, NULL, files));
    free(scenario);
    free(spec);
}

static void print_list(const char *name, const struct curve *curves, int seeds,
                       const double published[PUBLISHED], double mean[PLACES])
{
    print_message("%s, %d seeds: per cent allocated at 130 %% arrived\n", name, seeds);
    for (int i = 0; i < PLACES; i++) {
        double at[SEEDS];
        for (int k = 0; k < seeds; k++) at[k] = curves[k * PLACES + i].allocated[MARKS - 1];
        mean[i] = gsl_stats_mean(at, 1, (size_t)seeds);
        const double sd = seeds > 1 ? gsl_stats_sd(at, 1, (size_t)seeds) : 0;
        if (i < PUBLISHED)
            print_message("  %-14s %6.2f (sd %.2f), published %.2f, off by %+.2f\n", places[i],
                          mean[i], sd, published[i], mean[i] - published[i]);
        else
            print_message("  %-14s %6.2f (sd %.2f)\n", places[i], mean[i], sd);
    }
}

static void check_marks(const struct curve *curves, int seeds, double bound)
{
    static const int of[3] = { 0, 4, 5 };
    for (int m = 0; m < 3; m++) {
        print_message("  %s, fragment at", places[of[m]]);
        for (int k = 0; k < MARKS; k++) {
            double sum = 0;
            for (int s = 0; s < seeds; s++) sum += curves[s * PLACES + of[m]].fragment[k];
            print_message(" %d %%: %.2f (%.2f)", marks[k], sum / seeds, fragment[m][k]);
            if (fabs(sum / seeds - fragment[m][k]) > bound) /* false where nothing was published */
                fail_msg("%s: fragments at %d %% are %.2f %%", places[of[m]], marks[k],
                         sum / seeds);
        }
        print_message("\n");
    }
    for (int i = 0; i < PUBLISHED; i++) {
        double sum = 0;
        for (int s = 0; s < seeds; s++) sum += curves[s * PLACES + i].allocated[3];
        print_message("  %s, allocated at 100 %%: %.2f (%.2f)\n", places[i], sum / seeds,
                      allocated_100[i]);
    }
}

static void inflation(void **state)
{
    const size_t list = (size_t)(uintptr_t)*state;
    const bool soak = getenv("GPUSIM_SOAK") != NULL;
    const int seeds = sanitized() ? 1 : list == 0 || soak ? SEEDS : 2;
    struct experiment x;
    double mean[PLACES];
    if (list > 0 && sanitized()) {
        print_message("skipped: the default list stands for this one in sanitized builds\n");
        skip();
    }
    prepare(&x, lists[list].name);
    struct curve *curves = xcalloc((size_t)seeds * PLACES, sizeof *curves);
    for (int s = 0; s < seeds; s++) {
        struct runner r;
        load(&r, &x, (uint64_t)s + 1);
        assert_int_equal(r.plan[0].cards, 6212);
        assert_int_equal(r.plan[0].nodes, 1213);
        for (int i = 0; i < PLACES; i++)
            run(&x, &r.plan[i], list == 0 && (i == 0 || i == 4 || i == 5), &curves[s * PLACES + i]);
        runner_fini(&r);
    }
    print_list(lists[list].name, curves, seeds, lists[list].allocated, mean);
    const double bound = seeds == SEEDS ? 0.3 : 1.5;
    for (int i = 0; i < PUBLISHED; i++) {
        const double off = mean[i] - lists[list].allocated[i];
        /* clustering, packing of gpuspec33 */
        const bool restricted = list == 3 && (i == 2 || i == 3);
        if (fabs(off) > bound + (restricted ? 0.2 : 0))
            fail_msg("%s: off by %+.2f points", places[i], off);
    }
    if (list == 0) check_marks(curves, seeds, bound);
    free(curves);
    finish(&x);
}

/* The whole engine agrees: the same pods have a place. */
static void engine(void **state)
{
    (void)state;
    struct experiment x;
    struct simulated s;
    prepare(&x, "default");
    char *spec, *scenario = scenario_of(&x, 3, &spec);
    const struct sim_file files[] = { { "spec.json", spec }, { NULL, NULL } };
    simulate_with(&s, scenario, NULL, files, 1);
    for (size_t i = 0; i < PLACES; i++) {
        struct curve direct;
        long placed = 0;
        double gpus = 0;
        run(&x, &s.run.plan[i], false, &direct);
        for (size_t k = 0; k < s.n_jobs; k++) {
            if (strcmp(s.job[k].policy, places[i]) != 0 || strcmp(s.job[k].state, "running") != 0)
                continue;
            placed++;
            gpus += s.job[k].gpus;
        }
        assert_int_equal(placed, direct.placed);
        assert_close(gpus, (double)direct.milli / 1000, 1e-9);
    }
    simulated_fini(&s);
    free(scenario);
    free(spec);
    finish(&x);
}

int main(void)
{
    struct CMUnitTest t[LISTS + 1];
    for (size_t i = 0; i < LISTS; i++)
        t[i] = (struct CMUnitTest){ lists[i].name, inflation, NULL, NULL, (void *)i };
    t[LISTS] = (struct CMUnitTest)cmocka_unit_test(engine);
    return _cmocka_run_group_tests("fragmentation", t, LISTS + 1, NULL, NULL);
}
