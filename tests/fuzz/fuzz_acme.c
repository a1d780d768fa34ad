/* fuzz_acme.c - the acme importer with its default options and with --cpu-jobs=drop. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_acme;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_acme, NULL);
    char word[] = "--cpu-jobs=drop";
    const union fuzz_options odd = fuzz_options_kept(&fmt_acme, word);
    fuzz_import(&fmt_acme, &plain, data, size);
    fuzz_import(&fmt_acme, &odd, data, size);
    return 0;
}
