/* The memory of a run does not grow with the number of requests, once there are more than the
 * million whose percentiles are exact (metrics/dist.h): peak memory of the program, generic
 * requests under a load-aware route and a language model's. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char generic[] =
    "{\"format\": \"gpusim-scenario/1\", \"name\": \"m\","
    " \"fleet\": [{\"name\": \"p\", \"gpu\": \"generic\", \"nodes\": 1, \"gpus_per_node\": 8}],"
    " \"work\": [{\"name\": \"w\", \"kind\": \"service\", \"count\": %s, \"route\": \"least_outstanding\","
    "  \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"10 ms\"}, \"size\": {\"kind\": \"exponential\", \"mean\": \"60 ms\"},"
    "  \"replicas\": {\"per_card\": 1}}],"
    " \"policies\": [{\"name\": \"whole\", \"share\": {\"kind\": \"whole\"}}]}";
static const char tokens[] =
    "{\"format\": \"gpusim-scenario/1\", \"name\": \"m\","
    " \"fleet\": [{\"name\": \"p\", \"gpu\": \"h100-sxm5-80gb\", \"nodes\": 1, \"gpus_per_node\": 1}],"
    " \"work\": [{\"name\": \"w\", \"kind\": \"service\", \"count\": %s, \"model\": \"%s\","
    "  \"arrivals\": {\"kind\": \"poisson\", \"gap\": \"100 ms\"}, \"input_tokens\": 300,"
    "  \"output_tokens\": {\"kind\": \"exponential\", \"mean\": 60}, \"serve\": {\"kind\": \"continuous\"},"
    "  \"replicas\": {\"per_card\": 1}}],"
    " \"policies\": [{\"name\": \"whole\", \"share\": {\"kind\": \"whole\"}}]}";

/* Peak memory of the program, in kB. */
static long peak_kB(const char *bin, const char *text, const char *n)
{
    char full[4096], model[2048] = "";
    struct rusage used;
    int status;
    if (!realpath("scenarios/workloads/llm/llama-3.1-8b.json", model)) fail_msg("no model file");
    snprintf(full, sizeof full, text, n, model);
    const char *path = temp_file(".json", full), *out = temp_dir();
    const pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(127);
        execl(bin, bin, "run", path, "-o", out, "--no-report", "--quiet", (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    assert_int_equal(wait4(pid, &status, 0, &used), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("%s: status %d", path, status);
    return used.ru_maxrss;
}

static void flat(const char *name, const char *text)
{
    const char *bin = getenv("GPUSIM_BIN"), *variant = getenv("GPUSIM_VARIANT");
    if (!bin || (variant && strcmp(variant, "release") != 0 && strcmp(variant, "clang") != 0)) {
        print_message(
            "skipped: for the program as it ships (GPUSIM_BIN), sanitizers keep memory\n");
        skip();
    }
    const long some = peak_kB(bin, text, "1100000"), many = peak_kB(bin, text, "2000000");
    print_message("%s: %ld kB for 1.1 million requests, %ld kB for 2 million\n", name, some, many);
    /* 0.9 million requests of 100 bytes each would be 90 MB. */
    assert_true(many < some + 4096);
}

static void requests(void **state)
{
    (void)state;
    flat("generic", generic);
}

static void language_model(void **state)
{
    (void)state;
    flat("language model", tokens);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(requests),
                                        cmocka_unit_test(language_model) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
