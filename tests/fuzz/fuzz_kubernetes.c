/* fuzz_kubernetes.c - the kubernetes importer: the input as pods with the default options, and as
 * nodes beside one pod. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_kubernetes;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char pod[] =
        "kind: Pod\nmetadata: {name: p, creationTimestamp: 2024-01-01T00:00:00Z}\n"
        "spec: {nodeName: node-1, containers: [{resources: {limits: {nvidia.com/gpu.shared: 1}}}]}\n"
        "status: {phase: Running, startTime: 2024-01-01T00:00:10Z}\n";
    struct textfile nodes = textfile_bytes(data, size);
    char word[80];
    snprintf(word, sizeof word, "--nodes=%s", nodes.path);
    const union fuzz_options plain = fuzz_options_of(&fmt_kubernetes, NULL);
    const union fuzz_options beside = fuzz_options_kept(&fmt_kubernetes, word);
    fuzz_import(&fmt_kubernetes, &plain, data, size);
    fuzz_import(&fmt_kubernetes, &beside, (const uint8_t *)pod, sizeof pod - 1);
    textfile_close(&nodes);
    return 0;
}
