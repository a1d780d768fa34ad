/* fuzz_tiresias.c - the tiresias importer with its default options and with --unit=ms. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_tiresias;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_tiresias, NULL);
    const union fuzz_options odd = fuzz_options_of(&fmt_tiresias, "--unit=ms");
    fuzz_import(&fmt_tiresias, &plain, data, size);
    fuzz_import(&fmt_tiresias, &odd, data, size);
    return 0;
}
