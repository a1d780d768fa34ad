/* The scenario file: every field, default, unit and override; --set; every documented mistake with
 * file, line, column, JSON pointer, what was expected and what was found; the resolved form reads
 * back. */
#include "tests/support/simulate.h"

#include "base/err.h"
#include "model/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char base[] = "{\n"
                           "  'format': 'gpusim-scenario/1', 'name': 'tiny',\n"
                           "  'fleet': [ { 'name': 'a', 'gpu': 't4' } ],\n"
                           "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],\n"
                           "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ]\n"
                           "}\n";

static const char full[] =
    "{\n"
    "  'format': 'gpusim-scenario/1', 'name': 'full', 'seed': 42, 'horizon': '7 d', 'warmup': '6 h',\n"
    "  'fleet': [ { 'name': 'a', 'gpu': 'a100-sxm4-80gb', 'nodes': 3, 'gpus_per_node': 5,\n"
    "               'cpu_cores': 12.5, 'host_memory': '1024 GiB', 'profile': 'sub/prof.json' },\n"
    "             { 'name': 'b', 'gpu': 't4', 'nodes': 2, 'gpus_per_node': 1 } ],\n"
    "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv', 'load': 1.5 },\n"
    "            { 'name': 'g', 'kind': 'generate', 'spec': '/abs/spec.json' } ],\n"
    "  'profiles': { 'x/y': { 'host': 1 }, 'z': { 'compute': 1 } },\n"
    "  'policies': [\n"
    "    { 'name': 'one', 'share': { 'kind': 'mig', 'layout': 'dynamic' } },\n"
    "    { 'name': 'two', 'share': { 'kind': 'mps', 'slots': 3 },\n"
    "      'schedule': { 'backfill': 'none' }, 'prices': 'other.json',\n"
    "      'fleet': [ { 'name': 'rented', 'gpu': 'l4', 'nodes': 7, 'gpus_per_node': 2 } ] }\n"
    "  ],\n"
    "  'schedule': { 'order': 'sjf', 'backfill': 'easy', 'place': 'best_fit', 'gang': 'any' },\n"
    "  'prices': 'prices.json', 'output': { 'sample': '90 s', 'jobs': false, 'timeline': false }\n"
    "}\n";

struct loaded {
    struct scenario s;
    struct diag d;
    struct err e;
    int rc;
    char path[4096];
};

static void load(struct loaded *l, const char *text, const char *const *set, size_t n)
{
    *l = (struct loaded){ 0 };
    snprintf(l->path, sizeof l->path, "%s", sim_write(text, NULL, NULL));
    diag_init(&l->d);
    l->rc = scenario_load(&l->s, l->path, set, n, &l->d, &l->e);
}

static void fini(struct loaded *l)
{
    scenario_fini(&l->s);
    diag_fini(&l->d);
}

static void load_good(struct loaded *l, const char *text, const char *const *set, size_t n)
{
    load(l, text, set, n);
    if (l->rc != 0) fail_msg("%s %s", l->e.where, l->e.msg);
    if (l->d.count) fail_msg("%s %s", l->d.problem[0].where, l->d.problem[0].msg);
}

static void defaults(void **state)
{
    struct loaded l;
    (void)state;
    load_good(&l, base, NULL, 0);
    assert_string_equal(l.s.name, "tiny");
    assert_int_equal(l.s.seed, 1);
    assert_true(l.s.horizon == CFG_NO_TIME);
    assert_int_equal(l.s.warmup, 0);
    assert_int_equal(l.s.sample, 300 * SIM_SECOND);
    assert_true(l.s.write_jobs);
    assert_int_equal(l.s.n_fleet, 1);
    assert_int_equal(l.s.fleet[0].nodes, 1);
    assert_int_equal(l.s.fleet[0].gpus_per_node, 8);
    assert_true(isnan(l.s.fleet[0].cpu_cores));
    assert_true(l.s.fleet[0].host_memory == CFG_NO_BYTES);
    assert_null(l.s.fleet[0].profile);
    assert_int_equal(l.s.n_work, 1);
    assert_close(l.s.work[0].load, 1.0, 0);
    assert_int_equal(l.s.n_policies, 1);
    const struct policy_spec *p = &l.s.policy[0];
    assert_string_equal(p->schedule.order, "fifo");
    assert_string_equal(p->schedule.backfill, "easy");
    assert_string_equal(p->schedule.place, "best_fit");
    assert_string_equal(p->schedule.gang, "node");
    assert_null(p->prices);
    assert_ptr_equal(p->fleet, l.s.fleet);
    assert_int_equal(l.s.n_signatures, 0);
    assert_int_equal(strlen(l.s.sha256), 64);
    fini(&l);
}

static void every_field(void **state)
{
    struct loaded l;
    char want[4200];
    (void)state;
    load_good(&l, full, NULL, 0);
    assert_int_equal(l.s.seed, 42);
    assert_true(l.s.horizon == 7 * 86400 * SIM_SECOND);
    assert_true(l.s.warmup == 6 * SIM_HOUR);
    assert_int_equal(l.s.n_fleet, 2);
    const struct fleet_group *g = l.s.fleet;
    assert_string_equal(g[0].name, "a");
    assert_string_equal(g[0].gpu, "a100-sxm4-80gb");
    assert_int_equal(g[0].nodes, 3);
    assert_int_equal(g[0].gpus_per_node, 5);
    assert_close(g[0].cpu_cores, 12.5, 0);
    assert_true(g[0].host_memory == UINT64_C(1) << 40);
    assert_string_equal(g[0].pointer, "/fleet/0");
    snprintf(want, sizeof want, "%.*ssub/prof.json",
             (int)(strlen(l.path) - strlen("scenario.json")), l.path);
    assert_string_equal(g[0].profile, want); /* relative to the scenario file */
    assert_string_equal(l.s.work[1].spec, "/abs/spec.json");
    assert_int_equal(l.s.work[1].kind, WORK_GENERATE);
    assert_close(l.s.work[0].load, 1.5, 0);
    assert_string_equal(l.s.work[1].pointer, "/work/1");
    assert_int_equal(l.s.n_signatures, 2);
    assert_string_equal(l.s.signature[0].name, "x/y");
    assert_string_equal(l.s.signature[0].pointer, "/profiles/x~1y");
    const struct policy_spec *p = l.s.policy;
    assert_string_equal(p[0].kind, "mig");
    assert_string_equal(p[0].share_pointer, "/policies/0/share");
    assert_string_equal(p[0].schedule.order, "sjf");
    assert_string_equal(p[0].schedule.gang, "any");
    assert_contains(p[0].prices, "/prices.json");
    assert_int_equal(p[0].n_fleet, 2);
    /* an override stands alone: what it leaves out is the default, not the scenario's */
    assert_string_equal(p[1].schedule.backfill, "none");
    assert_string_equal(p[1].schedule.order, "fifo");
    assert_string_equal(p[1].schedule.pointer, "/policies/1/schedule");
    assert_contains(p[1].prices, "/other.json");
    assert_int_equal(p[1].n_fleet, 1);
    assert_string_equal(p[1].fleet[0].name, "rented");
    assert_string_equal(p[1].fleet[0].pointer, "/policies/1/fleet/0");
    assert_int_equal(p[1].fleet[0].nodes, 7);
    assert_true(l.s.sample == 90 * SIM_SECOND);
    assert_false(l.s.write_jobs);
    fini(&l);
}

static void set_changes_values(void **state)
{
    static const char *const set[] = {
        "fleet.a.nodes=9",
        "fleet.1.gpus_per_node=4",
        "policies.two.share.slots=8",
        "seed=7",
        "name=changed",
        "horizon=3 d",
        "work.w.load=0.5",
        "output.sample=\"10 s\"",
    };
    struct loaded l;
    (void)state;
    load_good(&l, full, set, sizeof set / sizeof *set);
    assert_int_equal(l.s.fleet[0].nodes, 9);
    assert_int_equal(l.s.fleet[1].gpus_per_node, 4);
    assert_int_equal(json_integer_value(json_object_get(l.s.policy[1].share, "slots")), 8);
    assert_int_equal(l.s.seed, 7);
    assert_string_equal(l.s.name, "changed");
    assert_true(l.s.horizon == 3 * 86400 * SIM_SECOND);
    assert_close(l.s.work[0].load, 0.5, 0);
    assert_true(l.s.sample == 10 * SIM_SECOND);
    fini(&l);
}

/* Sections that a file leaves out are there to be set. */
static void set_makes_sections(void **state)
{
    static const char *const set[] = { "work.w.replicas.min=3",   "work.w.need.gpu=0.5",
                                       "work.w.slo.wait_p99=2 s", "work.w.serve.kind=dynamic",
                                       "faults.card_mtbf=30 d",   "policies.p.schedule.order=sjf" };
    static const char *const no_item = "work.x.replicas.min=3", *const no_key =
                                                                    "work.w.replica.min=3";
    static const char service[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '1 d', 'fleet': [ { 'name': 'a', 'gpu': 'l4' } ],"
        "  'work': [ { 'name': 'w', 'kind': 'service', 'size': '1 s',"
        "              'arrivals': { 'kind': 'poisson', 'gap': '1 s' } } ],"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }";
    struct loaded l;
    (void)state;
    load_good(&l, service, set, sizeof set / sizeof *set);
    assert_int_equal(l.s.work[0].service->replicas.min, 3);
    assert_int_equal(l.s.work[0].service->gpus_milli, 500);
    assert_int_equal(l.s.work[0].service->n_targets, 1);
    assert_non_null(l.s.work[0].service->serve_json);
    assert_string_equal(l.s.policy[0].schedule.order, "sjf");
    fini(&l);
    load(&l, service, &no_item, 1);
    assert_int_equal(l.rc, ERR_USAGE);
    fini(&l);
    load(&l, service, &no_key, 1);
    assert_int_equal(l.rc, ERR_USAGE);
    fini(&l);
}

static void set_mistakes_are_usage_errors(void **state)
{
    static const struct {
        const char *set, *says;
    } bad[] = {
        { "seed", "PATH=VALUE" },   { "=3", "PATH=VALUE" },
        { "", "PATH=VALUE" },       { "fleet.nobody.nodes=3", "nobody" },
        { "fleet.5.nodes=3", "5" }, { "seed.x=3", "seed" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct loaded l;
        load(&l, full, &bad[i].set, 1);
        if (l.rc != ERR_USAGE) fail_msg("--set '%s' gave %d", bad[i].set, l.rc);
        assert_contains(l.e.msg, bad[i].says);
        fini(&l);
    }
}

/* `old` of the base text becomes `new`; the first problem is at line:col and pointer `where`. */
struct mistake {
    const char *old, *new, *where, *expected, *found, *hint;
};

static const struct mistake mistakes[] = {
    { "'gpusim-scenario/1'", "'gpusim-scenario/2'", ":2:13: /format", "gpusim-scenario/1",
      "gpusim-scenario/2", NULL },
    { "'format': 'gpusim-scenario/1', ", "", "", "format", NULL, NULL },
    { "'name': 'tiny'", "'nam': 'tiny'", ":2:34: /nam", "unknown key", NULL, "name" },
    { "'tiny'", "'a.b'", ":2:42: /name", "short name", "a.b", NULL },
    { "'tiny'", "''", ":2:42: /name", "short name", NULL, NULL },
    { "'tiny'", "'a/b'", ":2:42: /name", "slashes", "a/b", NULL },
    { "'tiny'", "'-x'", ":2:42: /name", "short name", "-x", NULL },
    { "'tiny'", "'tiny', 'seed': -1", ": /seed", "0", "-1", NULL },
    { "'tiny'", "'tiny', 'seed': 1.5", ": /seed", "whole number", "1.5", NULL },
    { "'tiny'", "'tiny', 'seed': '1'", ": /seed", "whole number", "\"1\"", NULL },
    { "'tiny'", "'tiny', 'horizon': 7", ": /horizon", "12 s", "7", "unit is missing" },
    { "'tiny'", "'tiny', 'horizon': '7 days'", ": /horizon", "12 s", "7 days", "7 d" },
    { "'tiny'", "'tiny', 'horizon': '7 GiB'", ": /horizon", "12 s", "7 GiB", NULL },
    { "'tiny'", "'tiny', 'horizon': '1 h', 'warmup': '1 h'", ": /warmup",
      "shorter than the horizon", NULL, NULL },
    { "'tiny'", "'tiny', 'warmup': '-1 s'", ": /warmup", "12 s", "-1 s", NULL },
    { "[ { 'name': 'a', 'gpu': 't4' } ]", "[]", ":3:12: /fleet", "at least one fleet group",
      "an empty list", NULL },
    { "[ { 'name': 'a', 'gpu': 't4' } ]", "'t4'", ":3:12: /fleet", "at least one fleet group",
      "\"t4\"", NULL },
    { "{ 'name': 'a', 'gpu': 't4' }", "{ 'name': 'a' }", ":3:14: /fleet/0", "gpu", NULL, NULL },
    { "{ 'name': 'a', 'gpu': 't4' }", "'t4'", ":3:14: /fleet/0", "object", "t4", NULL },
    { "'gpu': 't4'", "'gpu': 4", ":3:36: /fleet/0/gpu", "text", "4", NULL },
    { "'gpu': 't4'", "'gpu': 't4', 'nodes': 0", ": /fleet/0/nodes", "1", "0", NULL },
    { "'gpu': 't4'", "'gpu': 't4', 'nodes': 1e8", ": /fleet/0/nodes", "10000000", NULL, NULL },
    { "'gpu': 't4'", "'gpu': 't4', 'nodes': 10000, 'gpus_per_node': 1001", ":3:12: /fleet",
      "at most 10000000 cards", "10010000", NULL },
    { "'gpu': 't4'", "'gpu': 't4', 'host_memory': 80", ": /fleet/0/host_memory", "80 GiB", "80",
      "unit is missing" },
    { "'gpu': 't4'", "'gpu': 't4', 'host_memory': '80 GW'", ": /fleet/0/host_memory", "80 GiB",
      "80 GW", "80 GB" },
    { "'gpu': 't4'", "'gpu': 't4', 'gpus_per_nod': 3", ": /fleet/0/gpus_per_nod", "unknown key",
      NULL, "gpus_per_node" },
    { "'gpu': 't4' }", "'gpu': 't4' }, { 'name': 'a', 'gpu': 'l4' }", ": /fleet/1/name", "taken",
      "\"a\"", NULL },
    { "'kind': 'jobs'", "'kind': 'job'", ":4:36: /work/0/kind", "jobs", "job", "jobs" },
    { "'kind': 'jobs'", "'kind': 'service'", ": /work/0/trace", "unknown key", NULL, NULL },
    { "'kind': 'jobs'", "'kind': 'generate'", ":4:13: /work/0", "spec", NULL, NULL },
    { ", 'trace': 'trace.csv'", "", ":4:13: /work/0", "trace", NULL, NULL },
    { "'trace': 'trace.csv'", "'trace': '-'", ": /work/0/trace", "expected a file",
      "standard input", "import native" },
    { "'trace': 'trace.csv'", "'trace': '/dev/null'", ": /work/0/trace", "expected a file",
      "a device", "import native" },
    { "'trace': 'trace.csv'", "'trace': '/'", ": /work/0/trace", "expected a file", "a directory",
      NULL },
    { "'trace': 'trace.csv'", "'trace': 'trace.csv', 'load': 0", ": /work/0/load", "1e-06", "0",
      NULL },
    { "'trace': 'trace.csv'", "'trace': 'trace.csv', 'load': '2'", ": /work/0/load", "number",
      "\"2\"", "without quotes" },
    { "{ 'kind': 'whole' }", "'whole'", ":5:41: /policies/0/share", "list policies", NULL, NULL },
    { "{ 'kind': 'whole' }", "{ 'slots': 3 }", ":5:41: /policies/0/share", "kind", NULL, NULL },
    { "'share': { 'kind': 'whole' }", "'shares': { 'kind': 'whole' }", "/policies/0", NULL, NULL,
      NULL },
    { "[ { 'name': 'p', 'share': { 'kind': 'whole' } } ]", "{}", ":5:15: /policies",
      "at least one policy", "an object", NULL },
    { "'name': 'p', ", "'name': 'p', 'schedule': { 'order': 7 }, ", "/policies/0/schedule/order",
      "text", NULL, NULL },
    { "'name': 'p', ", "'name': 'p', 'fleet': [], ", "/policies/0/fleet", "at least one",
      "an empty list", NULL },
    { "'tiny'", "'tiny', 'schedule': { 'order': 3 }", ": /schedule/order", "text", "3", NULL },
    { "'tiny'", "'tiny', 'profiles': []", ": /profiles", "object", NULL, NULL },
    { "'tiny'", "'tiny', 'output': { 'timeline': 3 }", ": /output/timeline",
      "true, false or an object", NULL, NULL },
    { "'tiny'", "'tiny', 'output': { 'timeline': { 'from': '2 h', 'to': '1 h' } }",
      ": /output/timeline/to", "after \"from\"", NULL, NULL },
    { "'tiny'", "'tiny', 'output': { 'timeline': { 'evnts': 1 } }", ": /output/timeline/evnts",
      "unknown key", NULL, "events" },
    { "'tiny'", "'tiny', 'output': { 'jobs': 'yes' }", ": /output/jobs", "true or false", "yes",
      NULL },
    { "'tiny'", "'tiny', 'output': { 'sample': '0 s' }", ": /output/sample", "1 ms", "0 s", NULL },
};

static char *replaced(const struct mistake *m)
{
    const char *at = strstr(base, m->old);
    char *text = malloc(sizeof base + strlen(m->new) + 1);
    assert_non_null(at);
    sprintf(text, "%.*s%s%s", (int)(at - base), base, m->new, at + strlen(m->old));
    return text;
}

static void every_mistake_has_a_place(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        char *text = replaced(m);
        struct loaded l;
        load(&l, text, NULL, 0);
        assert_int_equal(l.rc, 0);
        if (l.d.count == 0) fail_msg("'%s' passed", m->new);
        const struct err *e = NULL;
        for (size_t k = 0; k < l.d.count && !e; k++)
            if (strstr(l.d.problem[k].where, m->where)) e = &l.d.problem[k];
        if (!e) {
            print_message("'%s': at %s: %s\n", m->new, l.d.problem[0].where, l.d.problem[0].msg);
            wrong++;
            fini(&l);
            free(text);
            continue;
        }
        assert_int_equal(e->code, ERR_INPUT);
        const char *parts[] = { "scenario.json", m->expected, m->found, m->hint };
        const char *in[] = { e->where, e->msg, e->msg, e->hint };
        for (size_t k = 0; k < 4; k++)
            if (parts[k] && !strstr(in[k], parts[k])) {
                print_message("'%s': no '%s' in '%s'\n", m->new, parts[k], in[k]);
                wrong++;
            }
        fini(&l);
        free(text);
    }
    assert_int_equal(wrong, 0);
}

static void all_problems_are_told(void **state)
{
    struct loaded l;
    (void)state;
    load(&l,
         "{ 'format': 'x', 'name': 'a b', 'fleet': [], 'work': [], 'policies': [], 'seeds': 1 }",
         NULL, 0);
    assert_int_equal(l.rc, 0);
    assert_int_equal(l.d.count, 6);
    fini(&l);
}

static void too_many_entries(void **state)
{
    struct strbuf b = { 0 };
    struct loaded l;
    (void)state;
    strbuf_addz(&b, "{ 'format': 'gpusim-scenario/1', 'name': 'x', 'fleet': [");
    for (int i = 0; i < 1001; i++)
        strbuf_addf(&b, "%s{ 'name': 'g%d', 'gpu': 't4' }", i ? "," : "", i);
    strbuf_addz(
        &b, "], 'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ], 'policies': [ "
            "{ 'name': 'p', 'share': { 'kind': 'whole' } } ] }");
    load(&l, b.s, NULL, 0);
    assert_int_equal(l.d.count, 1);
    assert_contains(l.d.problem[0].where, "/fleet");
    assert_contains(l.d.problem[0].msg, "at most 1000");
    fini(&l);
    strbuf_fini(&b);
}

static void files_that_are_none(void **state)
{
    struct loaded l;
    (void)state;
    load(&l, "{ 'format': ", NULL, 0);
    assert_int_equal(l.rc, ERR_INPUT);
    fini(&l);
    load(&l, "{ 'name': 'a', 'name': 'b' }", NULL, 0);
    assert_int_equal(l.rc, ERR_INPUT);
    assert_contains(l.e.msg, "name");
    fini(&l);
    load(&l, "[1]", NULL, 0);
    assert_true(l.rc == 0 && l.d.count > 0);
    fini(&l);
    diag_init(&l.d);
    l.e = (struct err){ 0 };
    assert_int_equal(scenario_load(&l.s, "/nowhere/s.json", NULL, 0, &l.d, &l.e), ERR_IO);
    assert_contains(l.e.where, "/nowhere/s.json");
    fini(&l);
    scenario_fini(&(struct scenario){ 0 });
}

static void paths(void **state)
{
    struct arena *a = arena_create();
    (void)state;
    assert_string_equal(scenario_path(a, "dir/s.json", "t.csv"), "dir/t.csv");
    assert_string_equal(scenario_path(a, "s.json", "t.csv"), "t.csv");
    assert_string_equal(scenario_path(a, "/x/s.json", "../t.csv"), "/x/../t.csv");
    assert_string_equal(scenario_path(a, "dir/s.json", "/t.csv"), "/t.csv");
    /* from a pipe: the current folder counts */
    assert_string_equal(scenario_path(a, "/proc/self/fd/3", "t.csv"), "t.csv");
    assert_string_equal(scenario_path(a, "/dev/fd/63", "t.csv"), "t.csv");
    assert_string_equal(scenario_path(a, "/dev/stdin", "t.csv"), "t.csv");
    arena_destroy(a);
}

static char *resolve(const struct scenario *s)
{
    struct strbuf b = { 0 };
    json_t *share[8], *order[8] = { NULL };
    for (size_t i = 0; i < s->n_policies; i++) share[i] = s->policy[i].share;
    json_t *v = scenario_resolved(s, share, order);
    json_write(v, &b);
    json_decref(v);
    return b.s;
}

/* The resolved form says all defaults, keeps paths as written, and is its own resolved form. */
static void resolved_reads_back(void **state)
{
    static const char *const texts[] = { base, full };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct loaded l, again;
        load_good(&l, texts[i], NULL, 0);
        char *first = resolve(&l.s);
        load_good(&again, first, NULL, 0);
        char *second = resolve(&again.s);
        assert_string_equal(first, second);
        assert_contains(first, "\"trace\": \"trace.csv\"");
        assert_contains(first, "\"gpus_per_node\": ");
        assert_contains(first, "\"backfill\": \"easy\"");
        assert_contains(first, i ? "\"sample\": \"90 s\"" : "\"sample\": \"300 s\"");
        free(first);
        free(second);
        fini(&l);
        fini(&again);
    }
}

static void resolved_holds_what_set_said(void **state)
{
    static const char *const set[] = { "fleet.a.nodes=9", "seed=5" };
    struct loaded l;
    (void)state;
    load_good(&l, base, set, 2);
    char *text = resolve(&l.s);
    assert_contains(text, "\"nodes\": 9");
    assert_contains(text, "\"seed\": 5");
    free(text);
    fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(every_field),
        cmocka_unit_test(set_changes_values),
        cmocka_unit_test(set_makes_sections),
        cmocka_unit_test(set_mistakes_are_usage_errors),
        cmocka_unit_test(every_mistake_has_a_place),
        cmocka_unit_test(all_problems_are_told),
        cmocka_unit_test(too_many_entries),
        cmocka_unit_test(files_that_are_none),
        cmocka_unit_test(paths),
        cmocka_unit_test(resolved_reads_back),
        cmocka_unit_test(resolved_holds_what_set_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
