/* fuzz_chronus.c - the chronus importer with the default step and a long one. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_chronus;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char word[] = "--step=1.5 d";
    const union fuzz_options plain = fuzz_options_of(&fmt_chronus, NULL);
    const union fuzz_options days = fuzz_options_kept(&fmt_chronus, word);
    fuzz_import(&fmt_chronus, &plain, data, size);
    fuzz_import(&fmt_chronus, &days, data, size);
    return 0;
}
