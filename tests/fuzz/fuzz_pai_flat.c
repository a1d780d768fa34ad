/* fuzz_pai_flat.c - the pai-flat importer. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_pai_flat;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_pai_flat, NULL);
    fuzz_import(&fmt_pai_flat, &plain, data, size);
    return 0;
}
