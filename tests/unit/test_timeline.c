/* test_timeline.c - timeline.json: spans of a track never overlap, together they are the card time
 * held, and a few are known to the microsecond. */
#include "support/simulate.h"

#include "base/mem.h"
#include "base/str.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLEET                                                                                      \
    "'format': 'gpusim-scenario/1', 'name': 'lanes', 'fleet': [ { 'name': 'a', 'nodes': 1, "       \
    "'gpu': 'a100-sxm4-40gb', 'gpus_per_node': 2 } ], 'work': [ { 'name': 'w', 'kind': 'jobs', "   \
    "'trace': 'trace.csv' } ], "

/* The events of policy i, as an array. */
static json_t *events(const struct simulated *s, size_t i)
{
    struct strbuf b = { 0 };
    char buf[4096];
    size_t n;
    json_error_t where;
    FILE *f = s->run.timeline[i];
    assert_non_null(f);
    rewind(f);
    strbuf_addz(&b, "[{}");
    while ((n = fread(buf, 1, sizeof buf, f)) > 0) strbuf_add(&b, buf, n);
    strbuf_addc(&b, ']');
    json_t *v = json_loads(b.s, 0, &where);
    if (!v) fail_msg("line %d: %s", where.line, where.text);
    strbuf_fini(&b);
    return v;
}

struct span {
    double from, to, weight;
    int64_t pid, tid;
    const char *name;
};

static const char *text(json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

/* Spans of jobs (ph X but the start-up inside), in the order of the file. */
static struct span *spans(json_t *list, size_t *n)
{
    struct span *out = xcalloc(json_array_size(list), sizeof *out);
    json_t *v;
    size_t i;
    *n = 0;
    json_array_foreach(list, i, v)
    {
        if (strcmp(text(v, "ph"), "X") != 0 || strcmp(text(v, "name"), "start-up") == 0) continue;
        const double ts = json_number_value(json_object_get(v, "ts"));
        const char *slice = text(json_object_get(v, "args"), "slice");
        out[(*n)++] = (struct span){ .from = ts,
                                     .to = ts + json_number_value(json_object_get(v, "dur")),
                                     .weight = *slice ? atoi(slice) / 7.0 : 1,
                                     .pid = json_integer_value(json_object_get(v, "pid")),
                                     .tid = json_integer_value(json_object_get(v, "tid")),
                                     .name = text(v, "name") };
    }
    return out;
}

static void check_tracks(const struct span *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (s[i].pid == s[k].pid && s[i].tid == s[k].tid && s[i].from < s[k].to &&
                s[k].from < s[i].to)
                fail_msg("%s and %s overlap on track %lld", s[i].name, s[k].name,
                         (long long)s[i].tid);
}

static const char *random_trace(int jobs)
{
    struct strbuf b = { 0 };
    uint64_t seed = 11;
    double at = 0;
    strbuf_addz(&b, "job_id,submit_s,duration_s,gpus\n");
    for (int i = 0; i < jobs; i++) {
        const double u = (double)(test_random(&seed) >> 11) / 9007199254740992.0;
        at += 7.3 * u;
        strbuf_addf(&b, "j%d,%.3f,%.3f,%s\n", i, at, 1.5 + 40 * u * u,
                    u < 0.4    ? "0.14"
                    : u < 0.7  ? "0.4"
                    : u < 0.95 ? "1"
                               : "2");
    }
    return b.s;
}

static void spans_are_the_time_held(void **state)
{
    (void)state;
    const char *trace = random_trace(400);
    struct simulated s;
    simulate_with(&s,
                  "{ " FLEET "'policies': [ { 'name': 'whole', 'share': { 'kind': 'whole' } },"
                  " { 'name': 'mig', 'share': { 'kind': 'mig', 'repartition': '2.5 s' } },"
                  " { 'name': 'slots', 'share': { 'kind': 'timeslice', 'slots': 4 } },"
                  " { 'name': 'las', 'share': { 'kind': 'whole' }, 'schedule': { 'order': 'las', "
                  "'backfill': 'none', 'threshold': '10 s' } } ], 'output': { 'timeline': true } }",
                  trace, NULL, 2);
    const double slots[] = { 1, 1, 4, 1 };
    for (size_t i = 0; i < s.run.n; i++) {
        const struct policy_result *p = &s.run.result.policy[i];
        json_t *list = events(&s, i);
        size_t n;
        struct span *x = spans(list, &n);
        double held = 0;
        assert_true(n >= 300);
        check_tracks(x, n);
        for (size_t k = 0; k < n; k++) held += (x[k].to - x[k].from) * x[k].weight / slots[i];
        assert_close(held / 3.6e9, p->usage.group[0].allocated_h, 2e-7);
        if (i == 3) assert_true(p->jobs.preemptions > 0 && n > 400 - p->jobs.rejected);
        free(x);
        json_decref(list);
    }
    simulated_fini(&s);
    free((char *)(uintptr_t)trace);
}

/* Two jobs share a card: alone each runs at full speed (quota is lent), together at half. The third
 * waits for half a card and takes the lane that is free again. All times by hand, cut to the us. */
static void known_spans(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        double from, to;
        int64_t tid;
    } want[] = { { "a", 0, 18999999, 2 },       /* ends at 18999999.999 us */
                 { "b", 1000000, 21000000, 3 }, /* 1000000.001 to 21000000.001 us */
                 { "c", 18999999, 25e6, 2 } };
    struct simulated s;
    simulate(
        &s,
        "{ 'format': 'gpusim-scenario/1', 'name': 'k', 'fleet': [ { 'name': 'p', 'gpu': 'generic', "
        "'nodes': 1, 'gpus_per_node': 1 } ], 'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': "
        "'trace.csv' } ], 'policies': [ { 'name': 'q', 'share': { 'kind': 'intercept' } } ], "
        "'output': { 'timeline': true } }",
        "job_id,submit_s,duration_s,gpus\na,0,10,0.5\nb,1.000000001,10,0.5\nc,2,5,0.5\n");
    json_t *list = events(&s, 0);
    size_t n;
    struct span *x = spans(list, &n);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(x[i].name, want[i].id);
        assert_int_equal(x[i].tid, want[i].tid);
        assert_close(x[i].from, want[i].from, 0);
        assert_close(x[i].to, want[i].to, 0);
    }
    free(x);
    json_decref(list);
    simulated_fini(&s);
}

/* The window cuts, the limit keeps those that left first and says how many it left out. */
static void window_and_limit(void **state)
{
    (void)state;
    struct simulated s;
    static const char trace[] =
        "job_id,submit_s,duration_s,gpus\na,0,10,1\nb,0,20,1\nc,30,10,1\nd,50,5,1\n";
    simulate(
        &s,
        "{ " FLEET
        "'policies': [ { 'name': 'w', 'share': { 'kind': 'whole' } } ], 'output': { 'timeline': "
        "{ 'from': '15 s', 'to': '35 s' } } }",
        trace);
    json_t *list = events(&s, 0);
    size_t n;
    struct span *x = spans(list, &n);
    assert_int_equal(n, 2); /* the rest of b, the beginning of c */
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i].to - x[i].from;
    assert_close(sum, 10e6, 1e-3);
    free(x);
    json_decref(list);
    simulated_fini(&s);

    simulate(
        &s,
        "{ " FLEET
        "'policies': [ { 'name': 'w', 'share': { 'kind': 'whole' } } ], 'output': { 'timeline': "
        "{ 'events': 2 } } }",
        trace);
    list = events(&s, 0);
    x = spans(list, &n);
    assert_int_equal(n, 2);
    json_t *last = json_array_get(list, json_array_size(list) - 1);
    assert_string_equal(text(last, "name"), "left out: 2");
    assert_close(json_number_value(json_object_get(last, "ts")), 40e6, 0); /* where c ends */
    free(x);
    json_decref(list);
    simulated_fini(&s);
}

/* The events of one counter as "value@second". */
static const char *counter(json_t *list, const char *name, const char *key)
{
    struct strbuf b = { 0 };
    json_t *v;
    size_t i;
    json_array_foreach(list, i, v)
    {
        if (strcmp(text(v, "ph"), "C") != 0 || strcmp(text(v, "name"), name) != 0) continue;
        strbuf_addf(&b, "%g@%g ",
                    json_number_value(json_object_get(json_object_get(v, "args"), key)),
                    json_number_value(json_object_get(v, "ts")) / 1e6);
    }
    strbuf_addz(&b, "");
    return b.s;
}

/* One card; a runs from 0 to 10 s, b from 10 to 15, c from 18 to 20. Means of 4 s by hand; b
 * waits until 10. With at most 2 events the first four samples are one. */
static void counters(void **state)
{
    static const struct {
        const char *limit, *waiting, *held, *power;
    } want[] = { { "'from': '0 s'", "1@4 0@12 ", "100@0 75@12 50@16 ", "0@0 " },
                 { "'events': 2", "0@16 ", "93.75@0 50@16 ", "0@0 " },
                 { "'from': '5 s', 'to': '14 s'", "1@8 0@12 ", "100@5 75@12 ", "0@5 " } };
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct simulated s;
        char *scenario = xasprintf(
            "{ 'format': 'gpusim-scenario/1', 'name': 'k', 'fleet': [ { 'name': 'p', 'gpu': "
            "'generic', 'nodes': 1, 'gpus_per_node': 1 } ], 'work': [ { 'name': 'w', 'kind': "
            "'jobs', 'trace': 'trace.csv' } ], 'policies': [ { 'name': 'q', 'share': { 'kind': "
            "'whole' } } ], 'output': { 'sample': '4 s', 'timeline': { %s } } }",
            want[i].limit);
        simulate(&s, scenario, "job_id,submit_s,duration_s,gpus\na,0,10,1\nb,2,5,1\nc,18,2,1\n");
        json_t *list = events(&s, 0);
        const char *waiting = counter(list, "jobs", "waiting"),
                   *power = counter(list, "power", "W");
        const char *held = counter(list, "card time held", "%");
        assert_string_equal(waiting, want[i].waiting);
        assert_string_equal(held, want[i].held);
        assert_string_equal(power, want[i].power);
        free((char *)(uintptr_t)waiting);
        free((char *)(uintptr_t)power);
        free((char *)(uintptr_t)held);
        json_decref(list);
        free(scenario);
        simulated_fini(&s);
    }
}

static char *bytes(const struct simulated *s)
{
    struct strbuf b = { 0 };
    for (size_t i = 0; i < s->run.n; i++) {
        json_t *v = events(s, i);
        char *one = json_dumps(v, 0);
        strbuf_addz(&b, one);
        free(one);
        json_decref(v);
    }
    return b.s;
}

static void same_at_any_number_of_threads(void **state)
{
    (void)state;
    const char *trace = random_trace(200);
    static const char scenario[] =
        "{ " FLEET
        "'policies': [ { 'name': 'whole', 'share': { 'kind': 'whole' } }, { 'name': 'mps', 'share': "
        "{ 'kind': 'mps', 'slots': 3 } } ], 'output': { 'timeline': true } }";
    struct simulated one, many;
    simulate_with(&one, scenario, trace, NULL, 1);
    simulate_with(&many, scenario, trace, NULL, 8);
    char *x = bytes(&one), *y = bytes(&many);
    assert_string_equal(x, y);
    free(x);
    free(y);
    simulated_fini(&one);
    simulated_fini(&many);
    free((char *)(uintptr_t)trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_the_time_held),
        cmocka_unit_test(known_spans),
        cmocka_unit_test(window_and_limit),
        cmocka_unit_test(counters),
        cmocka_unit_test(same_at_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
