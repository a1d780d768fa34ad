/* fuzz_muri.c - the muri importer in milliseconds and in seconds. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_muri;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options o0 = fuzz_options_of(&fmt_muri, NULL);
    const union fuzz_options o1 = fuzz_options_of(&fmt_muri, "--unit=s");
    fuzz_import(&fmt_muri, &o0, data, size);
    fuzz_import(&fmt_muri, &o1, data, size);
    return 0;
}
