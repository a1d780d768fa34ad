/* fuzz_supercloud.c - the supercloud importer. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_supercloud;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_supercloud, NULL);
    fuzz_import(&fmt_supercloud, &plain, data, size);
    return 0;
}
