/* fuzz_philly.c - the philly importer with its default options and with --attempts=each. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_philly;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_philly, NULL);
    char word[] = "--attempts=each";
    const union fuzz_options odd = fuzz_options_kept(&fmt_philly, word);
    fuzz_import(&fmt_philly, &plain, data, size);
    fuzz_import(&fmt_philly, &odd, data, size);
    return 0;
}
