/* fuzz_side_files.c - the files that importers read beside a trace (nodes, rates, job and instance
 * tables ...): any bytes before the first NUL as the trace and those behind it as the file beside
 * it, or, without a NUL, the same bytes as both. */
#include "tests/fuzz/fuzz_import.h"

#include <string.h>

extern const struct trace_format fmt_azure_functions, fmt_gavel, fmt_helios, fmt_kubernetes,
    fmt_openb, fmt_pai, fmt_servegen, fmt_slurm_json, fmt_spot, fmt_synergy;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const struct trace_format *format;
    const char *option;
} sides[] = {
    { &fmt_azure_functions, "durations" },
    { &fmt_gavel, "throughputs" },
    { &fmt_helios, "vc-gpus" },
    { &fmt_kubernetes, "nodes" },
    { &fmt_openb, "nodes" },
    { &fmt_pai, "job" },
    { &fmt_pai, "instance" },
    { &fmt_servegen, "dataset" },
    { &fmt_slurm_json, "nodes" },
    { &fmt_spot, "nodes" },
    { &fmt_synergy, "rates" },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    const size_t n = nul ? (size_t)(nul - data) : size;
    struct textfile side = nul ? textfile_bytes(nul + 1, size - n - 1) : textfile_bytes(data, size);
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        char word[80];
        snprintf(word, sizeof word, "--%s=%s", sides[i].option, side.path);
        const union fuzz_options o = fuzz_options_kept(sides[i].format, word);
        fuzz_import(sides[i].format, &o, data, n);
    }
    textfile_close(&side);
    return 0;
}
