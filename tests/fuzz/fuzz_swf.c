/* fuzz_swf.c - the swf importer with its default options and with --gpu-column=19. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_swf;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_swf, NULL);
    const union fuzz_options odd = fuzz_options_of(&fmt_swf, "--gpu-column=19");
    fuzz_import(&fmt_swf, &plain, data, size);
    fuzz_import(&fmt_swf, &odd, data, size);
    return 0;
}
