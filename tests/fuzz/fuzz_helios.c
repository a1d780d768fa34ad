/* fuzz_helios.c - the helios importer with its default options and with --gpus-per-node=8. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_helios;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_helios, NULL);
    char word[] = "--gpus-per-node=8";
    const union fuzz_options odd = fuzz_options_kept(&fmt_helios, word);
    fuzz_import(&fmt_helios, &plain, data, size);
    fuzz_import(&fmt_helios, &odd, data, size);
    return 0;
}
