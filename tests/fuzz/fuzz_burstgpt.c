/* fuzz_burstgpt.c - the burstgpt importer with its default options and with --failures=keep,
 * --spread=1. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_burstgpt;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = { NULL, "--failures=keep", "--spread=1" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const union fuzz_options o = fuzz_options_of(&fmt_burstgpt, words[i]);
        fuzz_import(&fmt_burstgpt, &o, data, size);
    }
    return 0;
}
