/* fuzz_pai.c - the pai importer with its default options and with --gpu-types. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_pai;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_pai, NULL);
    char word[] = "--gpu-types";
    const union fuzz_options odd = fuzz_options_kept(&fmt_pai, word);
    fuzz_import(&fmt_pai, &plain, data, size);
    fuzz_import(&fmt_pai, &odd, data, size);
    return 0;
}
