/* fuzz_mooncake.c - the mooncake importer with its default options and with --timestamp-unit=s,
 * --spread=3. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_mooncake;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = { NULL, "--timestamp-unit=s", "--spread=3" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const union fuzz_options o = fuzz_options_of(&fmt_mooncake, words[i]);
        fuzz_import(&fmt_mooncake, &o, data, size);
    }
    return 0;
}
