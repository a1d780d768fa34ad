/* Prefix reuse by the numbers of a trace's blocks: with a cache without bound on one replica the
 * share of input tokens found is what the trace allows, worked out here from the numbers alone; on
 * the Mooncake conversation trace 36.6 % of the blocks are reusable, as its description says. A
 * smaller cache finds less, and routes that know where a prompt's blocks lie, or keep sessions
 * together, more than one that does not.
 *
 * Mutant: prefix-hit-still-computed. */
#include "support/simulate.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, MAX_IDS = 1 << 20 };

/* The share that a cache without bound finds: a block counts when its number, and all in front of
 * it in its prompt, came before; at least one token of a prompt is computed. *blocks: the share of
 * blocks. */
static double ideal(const char *csv, double *blocks)
{
    bool *seen = xcalloc(MAX_IDS, sizeof *seen);
    double hit = 0, tokens = 0, hit_blocks = 0, all_blocks = 0;
    const char *line = strchr(strstr(csv, "hash_ids"), '\n') + 1;
    for (; *line; line = strchr(line, '\n') + 1) {
        char *at;
        (void)strtod(line, &at);
        const long input = strtol(at + 1, &at, 10);
        (void)strtol(at + 1, &at, 10);
        long leading = 0, n = 0;
        at = (char *)memrchr(at, ',', strcspn(at, "\n")); /* the last column */
        for (; *at != '\n'; n++) {
            const long id = strtol(at + 1, &at, 10);
            assert_in_range(id, 0, MAX_IDS - 1);
            leading += leading == n && seen[id];
            seen[id] = true;
        }
        hit += fmin((double)input - 1, fmin(BLOCK * (double)leading, (double)input));
        tokens += (double)input;
        hit_blocks += (double)leading;
        all_blocks += (double)n;
    }
    free(seen);
    *blocks = hit_blocks / all_blocks;
    return hit / tokens;
}

static double found(const char *csv, const char *serve, const char *service, uint64_t *completed)
{
    struct runner r = { 0 };
    struct policy_result p;
    char real[4096], *text;
    const struct sim_file files[] = { { "requests.csv", csv }, { NULL, NULL } };
    assert_non_null(realpath("scenarios/workloads/llm/llama-3.1-8b.json", real));
    text = xasprintf(
        "{ 'format': 'gpusim-scenario/1', 'name': 's',"
        "  'fleet': [ { 'name': 'a', 'gpu': 'h200-sxm5-141gb', 'gpus_per_node': 4 } ],"
        "  'work': [ { 'name': 'w', 'kind': 'service', 'requests': 'requests.csv', 'model': '%s', %s,"
        "              'serve': { 'kind': 'continuous' %s } } ],"
        "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
        real, service, serve);
    sim_load(&r, sim_write(text, "job_id,submit_s,duration_s,gpus\n", files));
    sim_policy_run(&r, 0, NULL, &p);
    const double hit = p.service[0].prefix_hit;
    *completed = p.service[0].completed;
    runner_fini(&r);
    free(text);
    return hit;
}

/* KV cache by the token, so that a block that is begun only counts as the numbers say. */
#define BOUNDLESS ", 'block': 1, 'kv_blocks': 1000000000"

static void holds(const char *csv, double share, uint64_t n)
{
    uint64_t completed;
    double blocks;
    const double best = ideal(csv, &blocks);
    if (share > 0) assert_close(blocks, share, 5e-4 / share);
    const double one = found(csv, BOUNDLESS, "'replicas': { 'min': 1 }", &completed);
    print_message("reusable %.4f of blocks, %.4f of tokens; found %.10f\n", blocks, best, one);
    assert_int_equal(completed, n);
    assert_close(one, best, 1e-9);
    assert_close(
        found(csv, BOUNDLESS ", 'prefix_cache': false", "'replicas': { 'min': 1 }", &completed), 0,
        1e-12);
    const double four = found(csv, BOUNDLESS, "'replicas': { 'min': 4 }, 'route': 'round_robin'",
                              &completed),
                 aware = found(csv, BOUNDLESS, "'replicas': { 'min': 4 }, 'route': 'prefix'",
                               &completed),
                 little = found(csv, ", 'kv_blocks': 9000", "'replicas': { 'min': 1 }", &completed);
    print_message("four replicas in turn %.4f, cache-aware %.4f; a small cache %.4f\n", four, aware,
                  little);
    assert_true(four < aware && aware <= one + 1e-12);
    assert_true(little > 0 && little < one);
}

/* Conversations: each turn begins with all of the turn before. */
static void conversations(void **state)
{
    enum { SESSIONS = 59, TURNS = 8 };
    uint64_t seed = test_seed(), completed;
    char *csv = malloc(SESSIONS * TURNS * 400 + 200), *at = csv;
    (void)state;
    assert_non_null(csv);
    at += sprintf(at, "# gpusim-trace/1 block_tokens=512\n"
                      "arrival_s,input_tokens,output_tokens,session,hash_ids\n");
    for (int t = 0; t < TURNS; t++)
        for (int s = 0; s < SESSIONS; s++) {
            const int whole = 2 + 3 * t, rest = 1 + (int)(test_random(&seed) % (BLOCK - 1));
            at += sprintf(at, "%.3f,%d,%d,s%d,0", 20.0 * t + 0.3 * s, whole * BLOCK + rest,
                          20 + (int)(test_random(&seed) % 100), s);
            /* Block 0 is what all begin with; a block that is begun only is nobody else's. */
            for (int k = 1; k < whole; k++) at += sprintf(at, "|%d", 1 + s * 1000 + k);
            at += sprintf(at, "|%d\n", 100000 + t * SESSIONS + s);
        }
    holds(csv, 0, SESSIONS * TURNS);
    const double four = found(csv, BOUNDLESS, "'replicas': { 'min': 4 }, 'route': 'round_robin'",
                              &completed),
                 session = found(csv, BOUNDLESS, "'replicas': { 'min': 4 }, 'route': 'affinity'",
                                 &completed);
    print_message("sessions kept together %.4f\n", session);
    assert_true(session > four + 0.1);
    free(csv);
}

static void mooncake(void **state)
{
    static const char file[] = "traces/mooncake/conversation_trace.jsonl.xz";
    const char *bin = getenv("GPUSIM_BIN"), *shared = shared_path(file);
    (void)state;
    if (!bin || !shared) skip_without_shared(file);
    char *out = xasprintf("%s/requests.csv", temp_dir()),
         *command = xasprintf("'%s' import mooncake '%s' -o '%s' 2>/dev/null", bin, shared, out);
    if (system(command) != 0) fail_msg("%s failed", command);
    char *text = read_file(out);
    holds(text, 0.366, 12031);
    free(text);
    free(command);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(conversations),
                                        cmocka_unit_test(mooncake) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
