/* fuzz_synergy.c - the synergy importer with a stated rate. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_synergy;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options o0 = fuzz_options_of(&fmt_synergy, "--rate=12.5");
    fuzz_import(&fmt_synergy, &o0, data, size);
    return 0;
}
