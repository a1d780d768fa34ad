/* fuzz_azure_llm.c - the azure-llm importer with its default options and with
 * --image-tokens=576. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_azure_llm;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = { NULL, "--image-tokens=576" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const union fuzz_options o = fuzz_options_of(&fmt_azure_llm, words[i]);
        fuzz_import(&fmt_azure_llm, &o, data, size);
    }
    return 0;
}
