/* fuzz_requests.c - the reader of native request traces. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_requests;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_requests, NULL);
    fuzz_import(&fmt_requests, &plain, data, size);
    return 0;
}
