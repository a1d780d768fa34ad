/* fuzz_dcgm.c - the importer of DCGM exporter text. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_dcgm;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_document(&fmt_dcgm, data, size);
    return 0;
}
