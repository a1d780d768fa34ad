/* fuzz_dlrm.c - the dlrm importer with its default options and with --window-end=300. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_dlrm;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_dlrm, NULL);
    const union fuzz_options odd = fuzz_options_of(&fmt_dlrm, "--window-end=300");
    fuzz_import(&fmt_dlrm, &plain, data, size);
    fuzz_import(&fmt_dlrm, &odd, data, size);
    return 0;
}
