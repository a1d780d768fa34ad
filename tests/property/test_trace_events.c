/* test_trace_events.c - timeline.json of the shipped scenarios keeps to the published rules of the Trace Event Format (Google,
 * "Trace Event Format", 2016: JSON object format, phases X, M, C and i), more strictly than viewers need:
 *   - an event has a name, a phase, numbers for pid and tid, and no member that the format does not know;
 *   - ts and dur are whole microseconds below 2^53, so that no reader's rounding makes neighbours overlap;
 *   - the slices of a track nest or are disjoint; those that do neither are what viewers drop;
 *   - every process and track with a slice is named, once, and no track has the number of its process, which viewers put first; metadata are those that the format defines;
 *   - a window and a limit hold, and what is left out is said. */
#include "support/support.h"

#include "base/mem.h"
#include "base/str.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct slice {
    int64_t pid, tid, from, to;
    const char *name;
};

struct trace {
    json_t *root, *events;
    struct slice *slice;
    size_t n, instants, counts;
    int64_t first; /* time of counters and instants */
};

static const char *text(json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    if (!s) fail_msg("no text \"%s\" in %s", key, json_dumps(o, 0));
    return s;
}

/* A whole number from 0 to below 2^53. */
static int64_t whole(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= (1LL << 53))
        fail_msg("no whole number \"%s\" in %s", key, json_dumps(o, 0));
    return json_integer_value(v);
}

static void only(json_t *o, const char *keys)
{
    const char *key;
    json_t *v;
    json_object_foreach(o, key, v)
    {
        char word[64];
        snprintf(word, sizeof word, " %s ", key);
        if (!strstr(keys, word)) fail_msg("\"%s\" in %s", key, json_dumps(o, 0));
    }
}

static void metadata(json_t *o)
{
    const char *name = text(o, "name");
    json_t *args = json_object_get(o, "args");
    only(o, " name ph pid tid args ");
    if (strcmp(name, "process_name") == 0 || strcmp(name, "thread_name") == 0)
        assert_true(*text(args, "name"));
    else if (strcmp(name, "process_sort_index") == 0 || strcmp(name, "thread_sort_index") == 0)
        whole(args, "sort_index");
    else
        fail_msg("metadata \"%s\"", name);
}

static void event(struct trace *t, json_t *o)
{
    const char *ph = text(o, "ph");
    const int64_t pid = whole(o, "pid"), tid = whole(o, "tid");
    assert_true(*text(o, "name"));
    assert_true(pid <= INT32_MAX && tid <= INT32_MAX);
    if (strcmp(ph, "M") == 0) {
        metadata(o);
    } else if (strcmp(ph, "X") == 0) {
        only(o, " name cat ph ts dur pid tid args ");
        text(o, "cat");
        assert_true(json_is_object(json_object_get(o, "args")));
        const int64_t ts = whole(o, "ts");
        t->slice[t->n++] = (struct slice){ pid, tid, ts, ts + whole(o, "dur"), text(o, "name") };
    } else if (strcmp(ph, "C") == 0) {
        const char *key;
        json_t *v;
        only(o, " name ph ts pid tid args ");
        whole(o, "ts");
        assert_int_equal(json_object_size(json_object_get(o, "args")), 1);
        json_object_foreach(json_object_get(o, "args"), key, v) assert_true(json_is_number(v));
        t->counts++;
        if (whole(o, "ts") < t->first) t->first = whole(o, "ts");
    } else if (strcmp(ph, "i") == 0) {
        only(o, " name ph s ts pid tid args ");
        if (whole(o, "ts") < t->first) t->first = whole(o, "ts");
        assert_true(strlen(text(o, "s")) == 1 && strchr("gpt", *text(o, "s")));
        t->instants++;
    } else {
        fail_msg("phase %s", ph);
    }
}

static int by_track_and_time(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    const int64_t d[] = { x->pid - y->pid, x->tid - y->tid, x->from - y->from, y->to - x->to };
    for (size_t i = 0; i < 4; i++)
        if (d[i]) return d[i] < 0 ? -1 : 1;
    return 0;
}

/* How many processes or tracks have that name event for it. */
static int named(const struct trace *t, const char *what, int64_t pid, int64_t tid)
{
    json_t *o;
    size_t i;
    int n = 0;
    json_array_foreach(t->events, i, o) n +=
        strcmp(text(o, "name"), what) == 0 && strcmp(text(o, "ph"), "M") == 0 &&
        whole(o, "pid") == pid && (tid < 0 || whole(o, "tid") == tid);
    return n;
}

static void tracks(struct trace *t)
{
    int64_t end[64]; /* of the slices that are open */
    size_t open = 0;
    qsort(t->slice, t->n, sizeof *t->slice, by_track_and_time);
    for (size_t i = 0; i < t->n; i++) {
        const struct slice *s = &t->slice[i], *before = i ? s - 1 : NULL;
        if (!before || before->pid != s->pid || before->tid != s->tid) {
            open = 0;
            assert_true(s->tid != s->pid);
            if (named(t, "thread_name", s->pid, s->tid) != 1)
                fail_msg("track %lld of %lld", (long long)s->tid, (long long)s->pid);
            if (!before || before->pid != s->pid)
                assert_int_equal(named(t, "process_name", s->pid, -1), 1);
        }
        while (open > 0 && end[open - 1] <= s->from) open--;
        if (open > 0 && end[open - 1] < s->to)
            fail_msg("%s [%lld, %lld) of track %lld of %lld overlaps what ends at %lld", s->name,
                     (long long)s->from, (long long)s->to, (long long)s->tid, (long long)s->pid,
                     (long long)end[open - 1]);
        assert_true(open < 64);
        end[open++] = s->to;
    }
}

static struct trace trace_of(const char *options)
{
    struct trace t = { .first = INT64_MAX };
    json_error_t where;
    const char *dir = temp_dir(), *bin = getenv("GPUSIM_BIN");
    char *command =
        xasprintf("%s run scenarios/%s --no-report -q -o %s >/dev/null 2>&1", bin, options, dir);
    char *path = xasprintf("%s/timeline.json", dir);
    if (system(command) != 0) fail_msg("%s", command);
    t.root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (!t.root) fail_msg("%s:%d: %s", path, where.line, where.text);
    only(t.root, " otherData traceEvents ");
    t.events = json_object_get(t.root, "traceEvents");
    assert_true(json_is_array(t.events));
    t.slice = xcalloc(json_array_size(t.events) + 1, sizeof *t.slice);
    for (size_t i = 0; i < json_array_size(t.events); i++) event(&t, json_array_get(t.events, i));
    tracks(&t);
    free(command);
    free(path);
    return t;
}

static void trace_fini(struct trace *t)
{
    free(t->slice);
    json_decref(t->root);
}

static bool no_binary(void)
{
    const char *bin = getenv("GPUSIM_BIN");
    return !bin || access(bin, X_OK) != 0;
}

/* Slots, lanes, MIG with instances made while others run, services, faults, preemption, migration,
 * gangs. */
static void shipped_scenarios(void **state)
{
    static const struct {
        const char *options;
        size_t least; /* slices, about half of what there are */
    } run[] = {
        { "mixed.json --policy whole --policy mig --policy timeslice", 3000 },
        { "mixed.json --policy mps --policy intercept --policy pool", 3000 },
        { "chat-and-jobs.json", 100 },
        { "a100-mig-balanced.json --set horizon=12h", 100 },
        { "faults.json", 1000 },
        { "whose-turn.json", 200 },
        { "defrag.json", 200 },
    };
    (void)state;
    if (no_binary()) skip_without("gpusim in GPUSIM_BIN");
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        char *options = xasprintf("%s --set output.timeline=true", run[i].options);
        struct trace t = trace_of(options);
        if (t.n < run[i].least) fail_msg("%s: %zu slices", options, t.n);
        assert_int_equal(t.instants, 0);
        assert_true(t.counts > 3 && t.first == 0);
        trace_fini(&t);
        free(options);
    }
}

static void window_and_limit(void **state)
{
    (void)state;
    if (no_binary()) skip_without("gpusim in GPUSIM_BIN");
    struct trace t =
        trace_of("mixed.json --policy mig --policy timeslice --set "
                 "'output.timeline={\"from\":\"30 h\",\"to\":\"50 h\",\"events\":120}'");
    size_t stays = 0;
    for (size_t i = 0; i < t.n; i++) {
        assert_true(t.slice[i].from >= 30 * 3600000000LL && t.slice[i].to <= 50 * 3600000000LL);
        stays += strcmp(t.slice[i].name, "start-up") != 0;
    }
    assert_int_equal(stays, 2 * 120); /* of each policy */
    assert_int_equal(t.instants, 2);  /* each says how many it left out */
    assert_true(t.first == 30 * 3600000000LL && t.counts > 2 * 100);
    trace_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_scenarios),
        cmocka_unit_test(window_and_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
