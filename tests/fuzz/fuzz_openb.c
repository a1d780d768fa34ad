/* fuzz_openb.c - the openb importer with its default options and with --static. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_openb;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_openb, NULL);
    const union fuzz_options odd = fuzz_options_of(&fmt_openb, "--static");
    fuzz_import(&fmt_openb, &plain, data, size);
    fuzz_import(&fmt_openb, &odd, data, size);
    return 0;
}
