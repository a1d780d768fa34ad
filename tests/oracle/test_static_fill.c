/* test_static_fill.c - the openb pod list placed in file order without departures, first fit on the
 * 1,523 listed nodes: 7,777 pods find a place, and the first that does not is row 7,720 (from 0).
 *
 * Pods and nodes are imported by the program itself (GPUSIM_BIN); the undisclosed cards of the node
 * list stand as "generic", since only their number counts here. CPU cores and host memory are
 * limits. Mutant: ignore the node limits (7,997 pods find a place). */
#include "support/simulate.h"

#include "base/mem.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRACES "traces/alibaba-gpu-2023/"

/* The imported trace; *fleet becomes the scenario's fleet as JSON text. */
static char *pods_and_nodes(char **fleet)
{
    const char *bin = getenv("GPUSIM_BIN"), *folder = shared_path(TRACES);
    if (!bin || !folder) skip_without_shared(TRACES);
    const char *dir = temp_dir();
    char *command =
        xasprintf("'%s' import openb --static --nodes '%s/openb_node_list_all_node.csv' "
                  "'%s/openb_pod_list_default.csv' -o '%s/t.csv' 2>/dev/null",
                  bin, folder, folder, dir);
    char *trace = xasprintf("%s/t.csv", dir), *snippet = xasprintf("%s/t.csv.fleet.json", dir);
    if (system(command) != 0) fail_msg("%s failed", command);
    json_t *v = json_load_file(snippet, 0, NULL), *group;
    size_t i;
    json_array_foreach(json_object_get(v, "fleet"), i, group)
    {
        const char *gpu = json_string_value(json_object_get(group, "gpu"));
        if (gpu[0] == 'G') json_object_set_new(group, "gpu", json_string("generic"));
    }
    *fleet = json_dumps(json_object_get(v, "fleet"), 0);
    json_decref(v);
    char *text = read_file(trace);
    free(command);
    free(trace);
    free(snippet);
    return text;
}

/* Index of a pod in its list: "openb-pod-7720" is row 7720. */
static long row_of(const struct sim_job *j)
{
    return strtol(j->id + strlen("openb-pod-"), NULL, 10);
}

static void openb_first_fit(void **state)
{
    (void)state;
    char *fleet, *trace = pods_and_nodes(&fleet);
    char *scenario =
        xasprintf("{'format': 'gpusim-scenario/1', 'name': 'fill', 'horizon': '1 h', 'fleet': %s,"
                  " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
                  " 'policies': [{'name': 'shares', 'share': {'kind': 'intercept'}}],"
                  " 'schedule': {'backfill': 'none', 'place': 'first_fit', 'when_full': 'drop'},"
                  " 'output': {'sample': '1 h'}}",
                  fleet);
    struct simulated s;
    simulate(&s, scenario, trace);
    long placed = 0, on_gpus = 0, first_failure = 8152, milli = 0;
    for (size_t i = 0; i < s.n_jobs; i++) {
        const bool in = strcmp(s.job[i].state, "running") == 0;
        placed += in;
        on_gpus += in && s.job[i].gpus > 0;
        milli += in ? lround(s.job[i].gpus * 1000) : 0;
        if (strcmp(s.job[i].state, "rejected") == 0 && row_of(&s.job[i]) < first_failure)
            first_failure = row_of(&s.job[i]);
    }
    assert_int_equal(s.n_jobs, 8152);
    assert_int_equal(placed, 7777);
    assert_int_equal(on_gpus, 6689);
    assert_int_equal(milli, 5758830);
    assert_int_equal(first_failure, 7720);
    simulated_fini(&s);
    free(fleet);
    free(trace);
    free(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(openb_first_fit) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
