/* fuzz_shockwave.c - the shockwave importer with and without profiles. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_shockwave;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options o0 = fuzz_options_of(&fmt_shockwave, NULL);
    const union fuzz_options o1 = fuzz_options_of(&fmt_shockwave, "--model-profile");
    fuzz_import(&fmt_shockwave, &o0, data, size);
    fuzz_import(&fmt_shockwave, &o1, data, size);
    return 0;
}
