/* fuzz_eagle.c - the eagle importer with its default options and in a zone that changes its
 * clock. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_eagle;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_eagle, NULL);
    char word[] = "--zone=US/Mountain";
    const union fuzz_options odd = fuzz_options_kept(&fmt_eagle, word);
    fuzz_import(&fmt_eagle, &plain, data, size);
    fuzz_import(&fmt_eagle, &odd, data, size);
    return 0;
}
