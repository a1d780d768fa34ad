/* What must hold for every synthetic workload: sorted, repeatable, classes independent of each
 * other, purposes independent within a class, exact through a written trace; and what must hold for
 * the specifications, samples and signatures that ship. */
#include "support/support.h"

#include "base/datadir.h"
#include "base/mem.h"
#include "model/signature.h"
#include "model/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct text {
    char *s; /* rows in trace form, one a line */
    size_t len;
};

/* Everything a specification yields, as a trace; only the rows of class `only` unless that is NULL.
 * `columns` 0: those of the specification. */
static struct text rows(const char *path, uint64_t seed, uint64_t rep, const char *only,
                        unsigned columns)
{
    struct symtab *names = symtab_create();
    struct synth *s;
    struct err e = { 0 };
    struct job_row row;
    struct text t = { 0 };
    simtime last = 0;
    if (synth_open(&s, path, seed, rep, names, NULL, &e) < 0) fail_msg("%s: %s", e.where, e.msg);
    if (!columns) columns = synth_columns(s);
    FILE *to = open_memstream(&t.s, &t.len);
    trace_write_header(to, columns, NULL);
    while (synth_next(s, &row, &e) == 1) {
        assert_true(row.submit >= last && row.submit % 1000000 == 0);
        assert_true(row.duration >= 1000000 && row.duration % 1000000 == 0);
        assert_true(job_gpus_ok(row.gpus_milli));
        last = row.submit;
        const char *klass = synth_class_name(synth_spec(s), synth_row_class(s));
        if (!only || !strcmp(only, klass)) trace_write_row(to, columns, &row, names);
    }
    assert_int_equal(synth_next(s, &row, &e), 0); /* the end stays the end */
    fclose(to);
    synth_close(s);
    symtab_destroy(names);
    return t;
}

static void same(struct text a, struct text b)
{
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.s, b.s, a.len);
    free(a.s);
    free(b.s);
}

static bool differ(struct text a, struct text b)
{
    bool d = a.len != b.len || memcmp(a.s, b.s, a.len) != 0;
    free(a.s);
    free(b.s);
    return d;
}

/* ---- random specifications ---- */

static const char *pick(uint64_t *rnd, const char *const *list, size_t n)
{
    return list[test_random(rnd) % n];
}
#define PICK(rnd, list) pick((rnd), (list), sizeof(list) / sizeof *(list))

static const char *const processes[] = {
    "{\"kind\": \"poisson\", \"gap\": \"17 min\"}",
    "{\"kind\": \"poisson\", \"gap\": \"11 min\", \"hours\": [0,0,0,0,0,0,0,1,2,3,3,2,1,2,3,3,2,1,1,1,0,0,0,0]}",
    "{\"kind\": \"nhpp\", \"gap\": \"13 min\", \"days\": [1,1,1,1,1,0.2,0]}",
    "{\"kind\": \"mmpp\", \"states\": [{\"gap\": \"1 h\", \"stay\": \"5 h\"}, {\"gap\": \"1 min\", \"stay\": \"10 min\"}, {\"stay\": \"2 h\"}]}",
    "{\"kind\": \"gamma\", \"gap\": \"19 min\", \"cv\": 2.1}",
    "{\"kind\": \"weibull\", \"gap\": \"23 min\", \"cv\": 1.4}",
    "{\"kind\": \"sessions\", \"members\": 23, \"start\": \"9 h\", \"spread\": \"3 h\", \"days\": [1,1,1,1,0.7,0.1,0]}",
    "{\"kind\": \"once\", \"members\": 9, \"start\": \"2 h\", \"spread\": \"1 h\"}",
};
static const char *const durations[] = {
    "\"20 min\"",
    "{\"kind\": \"lognormal\", \"median\": \"20 min\", \"p90\": \"3 h\", \"max\": \"2 d\"}",
    "{\"kind\": \"weibull\", \"mean\": \"1 h\", \"cv\": 2}",
    "{\"kind\": \"pareto\", \"min\": \"1 ms\", \"alpha\": 0.7, \"max\": \"30 d\"}",
    "{\"kind\": \"quantiles\", \"points\": [[0, \"0 s\"], [0.3, \"12.5 s\"], [1, \"9 h\"]]}",
    "{\"kind\": \"hyperexponential\", \"parts\": [{\"weight\": 9, \"mean\": \"1 min\"}, {\"weight\": 1, \"mean\": \"1 d\"}]}",
};
static const char *const extras[] = {
    "",
    ", \"gpus\": [{\"gpus\": 0.25, \"weight\": 1, \"memory\": \"5 GiB\"}, {\"gpus\": 4, \"weight\": 1}]",
    ", \"gpus\": 0.5, \"memory\": {\"kind\": \"uniform\", \"min\": \"1 GiB\", \"max\": \"9 GiB\"}, \"class\": \"inference\"",
    ", \"users\": 12, \"zipf\": 1.2, \"groups\": 3, \"class\": \"training\", \"priority\": 4, \"gpus\": 0",
    ", \"correlation\": 0.7, \"gpus\": [{\"gpus\": 8, \"weight\": 1}, {\"gpus\": 1, \"weight\": 3}]",
    ", \"walltime\": {\"factor\": {\"kind\": \"lognormal\", \"median\": 2, \"p90\": 9}, \"missing\": 0.4}",
    ", \"profile\": [{\"name\": \"p, with comma\", \"weight\": 1}, {\"name\": \"q\", \"weight\": 2}], \"slots\": 2",
};

static char *klass(const char *name, const char *arrivals, const char *duration, const char *extra)
{
    return xasprintf("{\"name\": \"%s\", \"arrivals\": %s, \"duration\": %s%s}", name, arrivals,
                     duration, extra);
}

static const char *spec(const char *classes)
{
    char *text =
        xasprintf("{\"format\": \"gpusim-generate/1\", \"name\": \"p\", \"horizon\": \"9 d\", "
                  "\"origin\": \"50 h\", \"classes\": [%s]}",
                  classes);
    const char *path = temp_file(".json", text);
    free(text);
    return path;
}

enum { ROUNDS = 60, ALL = (1 << TRACE_COLUMNS) - 1 };

static void repeatable_and_independent(void **state)
{
    uint64_t rnd = test_seed();
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t seed = test_random(&rnd) % 1000;
        char *a = klass("a", PICK(&rnd, processes), PICK(&rnd, durations), PICK(&rnd, extras));
        char *b = klass("b", PICK(&rnd, processes), PICK(&rnd, durations), PICK(&rnd, extras));
        char *ab = xasprintf("%s, %s", a, b), *ba = xasprintf("%s, %s", b, a);
        const char *alone = spec(a), *first = spec(ab), *second = spec(ba);
        same(rows(alone, seed, 0, NULL, ALL), rows(alone, seed, 0, NULL, ALL));
        same(rows(alone, seed, 0, NULL, ALL), rows(first, seed, 0, "a", ALL));
        same(rows(alone, seed, 0, NULL, ALL), rows(second, seed, 0, "a", ALL));
        same(rows(first, seed, 3, "b", ALL), rows(second, seed, 3, "b", ALL));
        free(a);
        free(b);
        free(ab);
        free(ba);
    }
}

static void seeds_and_replications_differ(void **state)
{
    char *c = klass("a", processes[0], durations[1], extras[3]);
    const char *path = spec(c);
    (void)state;
    assert_true(differ(rows(path, 1, 0, NULL, 0), rows(path, 2, 0, NULL, 0)));
    assert_true(differ(rows(path, 1, 0, NULL, 0), rows(path, 1, 1, NULL, 0)));
    assert_false(differ(rows(path, 1, 1, NULL, 0), rows(path, 1, 1, NULL, 0)));
    free(c);
}

/* A change of one property leaves every other column as it was. */
static void purposes_are_independent(void **state)
{
    static const struct {
        const char *from, *to;
        unsigned changes;
    } c[] = {
        { "\"mean\": \"1 h\"", "\"mean\": \"2 h\"", TRACE_COL(duration_s) | TRACE_COL(walltime_s) },
        { "\"weight\": 3", "\"weight\": 30", TRACE_COL(gpus) },
        { "\"zipf\": 1", "\"zipf\": 2", TRACE_COL(user) | TRACE_COL(group) },
        { "\"missing\": 0.25", "\"missing\": 0.5", TRACE_COL(walltime_s) },
        { "\"1 GiB\"", "\"2 GiB\"", TRACE_COL(gpu_mem_bytes) },
        { "\"cv\": 2}, \"gpus\"", "\"cv\": 1}, \"gpus\"",
          TRACE_COL(duration_s) | TRACE_COL(walltime_s) },
    };
    const char *base =
        "{\"name\": \"a\", \"arrivals\": {\"kind\": \"mmpp\", \"states\": [{\"gap\": \"1 h\", \"stay\": \"5 h\"}, "
        "{\"gap\": \"1 min\", \"stay\": \"10 min\"}]}, \"duration\": {\"kind\": \"lognormal\", \"mean\": \"1 h\", \"cv\": 2}, "
        "\"gpus\": [{\"gpus\": 1, \"weight\": 3}, {\"gpus\": 2, \"weight\": 1}], "
        "\"memory\": {\"kind\": \"uniform\", \"min\": \"1 GiB\", \"max\": \"9 GiB\"}, \"users\": 9, \"zipf\": 1, \"groups\": 2, "
        "\"walltime\": {\"factor\": {\"kind\": \"uniform\", \"min\": 1, \"max\": 5}, \"missing\": 0.25}, "
        "\"profile\": [{\"name\": \"p\", \"weight\": 1}, {\"name\": \"q\", \"weight\": 2}]}";
    const unsigned required =
        TRACE_COL(job_id) | TRACE_COL(submit_s) | TRACE_COL(duration_s) | TRACE_COL(gpus);
    const char *before = spec(base);
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const char *at = strstr(base, c[i].from);
        assert_non_null(at);
        char *text = xasprintf("%.*s%s%s", (int)(at - base), base, c[i].to, at + strlen(c[i].from));
        const char *after = spec(text);
        assert_true(differ(rows(before, 5, 0, NULL, ALL), rows(after, 5, 0, NULL, ALL)));
        /* required columns are always written: what changes among them is checked below */
        if (!(c[i].changes & required))
            same(rows(before, 5, 0, NULL, ALL & ~c[i].changes),
                 rows(after, 5, 0, NULL, ALL & ~c[i].changes));
        struct synth *x, *y;
        struct symtab *names = symtab_create();
        struct job_row p, q;
        struct err e = { 0 };
        assert_int_equal(synth_open(&x, before, 5, 0, names, NULL, &e), 0);
        assert_int_equal(synth_open(&y, after, 5, 0, names, NULL, &e), 0);
        for (;;) {
            int more = synth_next(x, &p, &e);
            assert_int_equal(synth_next(y, &q, &e), more);
            if (!more) break;
            assert_true(p.submit == q.submit && p.profile == q.profile);
            if (!(c[i].changes & TRACE_COL(duration_s))) assert_true(p.duration == q.duration);
            if (!(c[i].changes & TRACE_COL(gpus))) assert_int_equal(p.gpus_milli, q.gpus_milli);
            if (!(c[i].changes & TRACE_COL(user))) assert_int_equal(p.user, q.user);
            if (!(c[i].changes & TRACE_COL(gpu_mem_bytes)))
                assert_true(p.gpu_mem_bytes == q.gpu_mem_bytes);
            assert_true((p.walltime == JOB_NO_TIME) <= (q.walltime == JOB_NO_TIME));
        }
        synth_close(x);
        synth_close(y);
        symtab_destroy(names);
        free(text);
    }
}

/* Write, read, write: the same bytes. */
static void exact_through_a_file(void **state)
{
    uint64_t rnd = test_seed();
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        char *a = klass("a", PICK(&rnd, processes), PICK(&rnd, durations), PICK(&rnd, extras));
        struct text t = rows(spec(a), test_random(&rnd), 0, NULL, ALL), back = { 0 };
        struct symtab *names = symtab_create();
        struct trace_reader *r;
        struct job_row row;
        struct err e = { 0 };
        int rc;
        if (trace_open(&r, temp_file(".csv", t.s), names, &e) < 0)
            fail_msg("%s: %s", e.where, e.msg);
        FILE *to = open_memstream(&back.s, &back.len);
        trace_write_header(to, ALL, NULL);
        while ((rc = trace_next(r, &row, &e)) == 1) trace_write_row(to, ALL, &row, names);
        fclose(to);
        if (rc < 0) fail_msg("%s: %s", e.where, e.msg);
        trace_close(r);
        symtab_destroy(names);
        same(t, back);
        free(a);
    }
}

/* ---- what ships ---- */

static const struct {
    const char *spec, *sample;
    uint64_t seed;
    size_t rows; /* 0: all */
} shipped[] = {
    { "generate-research.json", "research.csv", 2, 0 },
    { "generate-philly.json", "philly.csv", 1, 300 },
    { "generate-openb.json", "openb.csv", 1, 300 },
    { "generate-helios.json", NULL, 1, 0 },
    { "generate-pai.json", NULL, 1, 0 },
    { "generate-acme.json", NULL, 1, 0 },
    { "generate-azure-llm.json", NULL, 1, 0 },
    { "notebooks.json", "notebooks.csv", 1, 0 },
    { "chat.json", "chat-jobs.csv", 1, 0 },
    { "small-inference.json", NULL, 1, 0 },
    { "mig-slices.json", NULL, 1, 0 },
};

static void samples_are_what_the_specifications_make(void **state)
{
    char path[4096], sample[5000];
    (void)state;
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        char name[100];
        if (!shipped[i].sample) continue;
        snprintf(name, sizeof name, "workloads/%s", shipped[i].spec);
        struct text t = rows(datadir_path(path, sizeof path, name), shipped[i].seed, 0, NULL, 0);
        snprintf(sample, sizeof sample, "%s",
                 datadir_path(path, sizeof path, "../traces/samples/"));
        snprintf(sample + strlen(sample), sizeof sample - strlen(sample), "%s", shipped[i].sample);
        char *have = read_file(sample);
        const char *body = strchr(have, '\n') + 1; /* after the comment */
        size_t len = strlen(body), lines = 0;
        for (const char *p = body; *p; p++) lines += *p == '\n';
        assert_true(t.len >= len);
        assert_memory_equal(body, t.s, len);
        assert_int_equal(shipped[i].rows ? lines - 1 : t.len,
                         shipped[i].rows ? shipped[i].rows : len);
        free(have);
        free(t.s);
    }
}

static void targets_are_met(void **state)
{
    const char *bin = getenv("GPUSIM_BIN");
    char path[4096];
    (void)state;
    if (!bin) skip_without("gpusim binary in GPUSIM_BIN");
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        char name[100];
        snprintf(name, sizeof name, "workloads/%s", shipped[i].spec);
        char *cmd = xasprintf("'%s' generate '%s' --targets >/dev/null", bin,
                              datadir_path(path, sizeof path, name));
        int rc = system(cmd);
        if (!WIFEXITED(rc) || WEXITSTATUS(rc)) fail_msg("%s misses a target", shipped[i].spec);
        free(cmd);
    }
}

static void read_signatures(const json_t *list, const struct json_doc *doc, const char *at)
{
    struct arena *a = arena_create();
    struct diag d;
    const char *key;
    json_t *v;
    diag_init(&d);
    json_object_foreach((json_t *)(uintptr_t)list, key, v)
    {
        struct signature s;
        signature_read(&s, a, doc, v, at, &d);
        if (d.count) fail_msg("%s: %s: %s", key, d.problem[0].where, d.problem[0].msg);
    }
    diag_fini(&d);
    arena_destroy(a);
}

/* Every signature is sound and says where it comes from; mixed.json repeats those it uses. */
static void signatures(void **state)
{
    char path[4096];
    struct json_doc lib, mixed;
    struct err e = { 0 };
    const char *key, *member;
    json_t *v, *x;
    (void)state;
    assert_int_equal(
        json_doc_load(&lib, datadir_path(path, sizeof path, "workloads/classes.json"), &e), 0);
    assert_int_equal(json_doc_load(&mixed, datadir_path(path, sizeof path, "mixed.json"), &e), 0);
    json_t *classes = json_object_get(lib.root, "classes"),
           *named = json_object_get(lib.root, "profiles");
    assert_int_equal(json_object_size(classes), CLASS_COUNT - 1);
    for (int c = 1; c < CLASS_COUNT; c++)
        assert_non_null(json_object_get(classes, job_class_names[c]));
    read_signatures(classes, &lib, "/classes");
    read_signatures(named, &lib, "/profiles");
    json_object_foreach(classes, key, v)
        assert_true(json_string_length(json_object_get(v, "source")) > 20);
    json_object_foreach(named, key, v)
        assert_true(json_string_length(json_object_get(v, "source")) > 20);
    json_object_foreach(json_object_get(mixed.root, "profiles"), key, v)
    {
        json_object_foreach(v, member, x)
            assert_true(json_equal(x, json_object_get(json_object_get(named, key), member)));
    }
    json_doc_fini(&lib);
    json_doc_fini(&mixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeatable_and_independent),
        cmocka_unit_test(seeds_and_replications_differ),
        cmocka_unit_test(purposes_are_independent),
        cmocka_unit_test(exact_through_a_file),
        cmocka_unit_test(samples_are_what_the_specifications_make),
        cmocka_unit_test(targets_are_met),
        cmocka_unit_test(signatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
