/* test_mutated_documents.c - what gpusim wrote and reads back (results, comparisons, sweeps,
 * sizings), with members taken away, doubled, exchanged or set to awkward values: a command works,
 * or refuses the document with its path and a reason. Nothing crashes or hangs, whatever the
 * document says.
 *
 * GPUSIM_SOAK=N reads N mutants instead of 1500; a mutant has a seed of its own, which is printed
 * when it fails. Pictures are not drawn: there is no gnuplot in the PATH of this test. */
#include "support/mutate.h"
#include "support/run_command.h"
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

extern const struct command cmd_check, cmd_compare, cmd_merge, cmd_plot, cmd_report, cmd_run,
    cmd_size, cmd_sweep, cmd_tco;

static const char scenario[] =
    "{'format': 'gpusim-scenario/1', 'name': 'm', 'seed': 3, 'prices': 'prices.json', 'horizon': '300 s', 'warmup': '10 s', "
    "'fleet': [{'name': 'a', 'gpu': 'a100-sxm4-40gb', 'nodes': 1, 'gpus_per_node': 2}], 'work': ["
    "{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}, {'name': 'api', 'kind': 'service', "
    "'arrivals': {'kind': 'poisson', 'gap': '500 ms'}, 'size': {'kind': 'exponential', 'mean': '300 ms'}, "
    "'profile': 'p', 'need': {'gpu': 0.25, 'memory': '4 GiB'}, 'slo': {'wait_p99': '500 ms'}}], "
    "'profiles': {'p': {'host': 0.4, 'compute': 0.4, 'memory': 0.2, 'sm_width': 0.3}}, 'policies': ["
    "{'name': 'whole', 'share': {'kind': 'whole'}}, {'name': 'mig', 'share': {'kind': 'mig', 'layout': "
    "'dynamic'}}]}";

static const char trace[] = "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,user,class\n"
                            "a,0,30,1,,u,training\nb,5,60,0.3,9000000000,v,dev\nc,13,50,2,,u,hpc\n"
                            "d,23.5,20,0.5,20000000000,w,inference\ne,40,70,1,,u,training\n"
                            "f,60,60,0.125,,v,dev\ng,150,5,1,,w,dev\nh,170,100,2,,u,hpc\n";

static const char prices[] =
    "{'format': 'gpusim-prices/1', 'pue': 1.25, 'charge': 'allocated', 'items': ["
    "{'name': 'card', 'driver': 'gpu_hour', 'amount': '3 USD/h'},"
    "{'name': 'energy', 'driver': 'kwh', 'amount': '0.12 USD/kWh'}]}";

/* Values that a member may be set to. */
static const char *const odd[] = {
    "0",
    "-1",
    "1",
    "0.5",
    "2",
    "1e308",
    "-1e308",
    "1e18",
    "9007199254740993",
    "9223372036854775807",
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "[1]",
    "[\"x\"]",
    "{\"a\": 1}",
    "\"\"",
    "\"0\"",
    "\"1\"",
    "\"mig\"",
    "\"whole\"",
    "\"grows\"",
    "\"18446744073709551615\"",
    "\"/../x\"",
    "\"<b>&\\u0007\"",
    "\"\\u2028%n%s\"",
};

/* A document and who reads it; paths are below the folder of the test. */
static struct reading {
    const struct command *command;
    const char *words[6]; /* "@" begins a path */
    const char *document; /* NULL: the first run of the sweep */
    size_t read, refused;
} readings[] = {
    { &cmd_report, { "@a", NULL }, "a/result.json", 0, 0 },
    { &cmd_tco, { "@a", NULL }, "a/result.json", 0, 0 },
    { &cmd_check, { "@a/result.json", NULL }, "a/result.json", 0, 0 },
    { &cmd_compare, { "@a", "@b", NULL }, "a/result.json", 0, 0 },
    { &cmd_compare, { "@b", "@a", "--unpaired", NULL }, "a/result.json", 0, 0 },
    { &cmd_report, { "@two", NULL }, "two/compare.json", 0, 0 },
    { &cmd_plot, { "@sweep", NULL }, "sweep/sweep.json", 0, 0 },
    { &cmd_merge, { "@sweep", "-o", "@sweep", NULL }, "sweep/manifest.json", 0, 0 },
    { &cmd_merge, { "@sweep", "-o", "@sweep", NULL }, NULL, 0, 0 },
    { &cmd_plot, { "@size", NULL }, "size/size.json", 0, 0 },
};
enum { READINGS = sizeof readings / sizeof *readings };

static const char *top;

static int command(const struct command *c, const char *const *words, struct err *e)
{
    char text[8][500];
    const char *word[9];
    size_t n = 0;
    for (; words[n]; n++) {
        const bool path = words[n][0] == '@';
        snprintf(text[n], sizeof text[n], "%s%s%s", path ? top : "", path ? "/" : "",
                 words[n] + path);
        word[n] = text[n];
    }
    word[n] = NULL;
    *e = (struct err){ 0 };
    return run_command(c, word, NULL, NULL, e);
}

static void must(const struct command *c, const char *const *words)
{
    struct err e;
    const int rc = command(c, words, &e);
    if (rc < 0 && strstr(e.msg, "gnuplot") == NULL) fail_msg("%s: %s: %s", c->name, e.where, e.msg);
}

/* A run, two of them compared, a sweep and a sizing. */
static void make_documents(void)
{
    const struct sim_file files[] = { { "prices.json", prices }, { NULL, NULL } };
    char *slash, *text = xstrdup(sim_write(scenario, trace, files));
    slash = strrchr(text, '/');
    *slash = '\0';
    top = text;
    must(&cmd_run, (const char *const[]){ "@scenario.json", "-o", "@a", "-q", NULL });
    must(&cmd_run, (const char *const[]){ "@scenario.json", "-o", "@b", "--set", "fleet.a.nodes=2",
                                          "-q", NULL });
    must(&cmd_compare, (const char *const[]){ "@a", "@b", "-o", "@two", NULL });
    must(&cmd_sweep, (const char *const[]){ "@scenario.json", "--vary", "fleet.a.nodes=1,2", "-r",
                                            "2", "-o", "@sweep", NULL });
    must(&cmd_size, (const char *const[]){ "@scenario.json", "--slo", "jobs.wait_s.p95<=5", "-r",
                                           "2", "-o", "@size", NULL });
}

/* The text of a document, and where it is. */
static char *path_of(const struct reading *r)
{
    if (r->document) return xasprintf("%s/%s", top, r->document);
    char *manifest = xasprintf("%s/sweep/manifest.json", top);
    json_t *v = json_load_file(manifest, 0, NULL);
    const char *sha = json_string_value(json_array_get(json_object_get(v, "points"), 0));
    char *path = xasprintf("%s/sweep/runs/%.2s/%.16s-r0.json", top, sha, sha);
    json_decref(v);
    free(manifest);
    return path;
}

static void write_to(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void read_mutant(struct reading *r, const char *path, int changes, uint64_t seed)
{
    const uint64_t name = seed;
    const char *file = strrchr(path, '/') + 1;
    struct err e;
    json_t *doc = json_load_file(path, 0, NULL);
    assert_non_null(doc);
    for (int i = 0; i < changes; i++) mutate(doc, odd, sizeof odd / sizeof *odd, &seed);
    char *whole = read_file(path), *text = json_dumps(doc, JSON_INDENT(1));
    write_to(path, text);
    const int rc = command(r->command, r->words, &e);
    write_to(path, whole);
    const bool no_gnuplot = rc == ERR_IO && strstr(e.msg, "gnuplot is not installed");
    const bool problems =
        rc == 1 && r->command == &cmd_check; /* 1 of others: runs differ, some failed */
    const bool no_prices =
        rc == ERR_USAGE &&
        strcmp(e.msg, "a result holds no price book: name one with --prices") == 0;
    const bool wrong = rc == ERR_INPUT && (strstr(e.where, top) || strstr(e.msg, top));
    if (problems || no_prices || wrong)
        r->refused++;
    else if (rc == 0 || rc == 1 || no_gnuplot)
        r->read++;
    else {
        fprintf(stderr, "%s\n", text);
        fail_msg("seed %llu: %s of %s: status %d: %s: %s", (unsigned long long)name,
                 r->command->name, file, -rc, e.where, e.msg);
    }
    free(text);
    free(whole);
    json_decref(doc);
}

static void mutants(void **state)
{
    const char *soak = getenv("GPUSIM_SOAK");
    const int most = soak ? atoi(soak) : 1500;
    const uint64_t seed = test_seed();
    (void)state;
    make_documents();
    setenv("PATH", "/nowhere", 1);
    for (size_t k = 0; k < READINGS; k++) {
        struct reading *r = &readings[k];
        char *path = path_of(r);
        read_mutant(r, path, 0, seed);
        if (r->refused) fail_msg("%s: the document is not good as it stands", r->command->name);
        for (int i = 0; i < most / READINGS; i++)
            read_mutant(r, path, 1 + i % 3, seed + (uint64_t)i * READINGS + k);
        print_message("%s of %s: %zu mutants read, %zu refused\n", r->command->name,
                      strrchr(path, '/') + 1, r->read - 1, r->refused);
        if (most >= 100 * READINGS) assert_true(r->refused > 0 && r->read > 1);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(mutants) };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
