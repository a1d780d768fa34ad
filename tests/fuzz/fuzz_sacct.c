/* fuzz_sacct.c - the sacct importer with its default options and a declared list of columns. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_sacct;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const union fuzz_options plain = fuzz_options_of(&fmt_sacct, NULL);
    char word[] =
        "--columns=jobid,state,submit,start,end,elapsed,alloctres,reqtres,nnodes,timelimit,jobname";
    const union fuzz_options odd = fuzz_options_kept(&fmt_sacct, word);
    fuzz_import(&fmt_sacct, &plain, data, size);
    fuzz_import(&fmt_sacct, &odd, data, size);
    return 0;
}
