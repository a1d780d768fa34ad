/* fuzz_spot.c - the spot importer with its default options and with --pin. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_spot;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_spot, NULL);
    const union fuzz_options odd = fuzz_options_of(&fmt_spot, "--pin");
    fuzz_import(&fmt_spot, &plain, data, size);
    fuzz_import(&fmt_spot, &odd, data, size);
    return 0;
}
