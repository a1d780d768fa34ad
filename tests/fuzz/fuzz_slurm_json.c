/* fuzz_slurm_json.c - the slurm-json importer with its default options and with --cpu-jobs=keep. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_slurm_json;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_slurm_json, NULL);
    char word[] = "--cpu-jobs=keep";
    const union fuzz_options odd = fuzz_options_kept(&fmt_slurm_json, word);
    fuzz_import(&fmt_slurm_json, &plain, data, size);
    fuzz_import(&fmt_slurm_json, &odd, data, size);
    return 0;
}
