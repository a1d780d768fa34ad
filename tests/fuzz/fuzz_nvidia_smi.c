/* fuzz_nvidia_smi.c - the importer of nvidia-smi documents. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_nvidia_smi;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_document(&fmt_nvidia_smi, data, size);
    return 0;
}
