/* fuzz_azure_functions.c - the azure-functions importer: invocations (2021), and counts (2019) with
 * a table of durations that is itself one of the fuzzed files, or a fixed one. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_azure_functions;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void import_with(const struct textfile *durations, const char *rest, const uint8_t *data,
                        size_t size)
{
    char copy[3][64], *argv[5] = { copy[0], copy[0], copy[1], copy[2], NULL }, **operand;
    const struct command c = { .name = "import", .opts = fmt_azure_functions.opts };
    union fuzz_options o = { .bytes = { 0 } };
    struct err e = { 0 };
    int n;
    snprintf(copy[0], sizeof copy[0], "--durations=%s", durations->path);
    snprintf(copy[1], sizeof copy[1], "--max-requests=2000");
    snprintf(copy[2], sizeof copy[2], "%s", rest);
    if (fmt_azure_functions.options_size > sizeof o) BUG("options are too large");
    if (opt_parse(&c, 4, argv, &o, &operand, &n, &e) != 0) BUG("%s", e.msg);
    fuzz_import(&fmt_azure_functions, &o, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct textfile fixed =
        textfile_of("HashApp,HashFunction,Average,percentile_Average_0,percentile_Average_1,"
                    "percentile_Average_25,percentile_Average_50,percentile_Average_75,"
                    "percentile_Average_99,percentile_Average_100\n"
                    "a1,f1,100.5,90,91,95,100,110,190,200\n");
    static const char counts[] = "HashOwner,HashApp,HashFunction,Trigger,1\no,a1,f1,t,3\n";
    struct textfile fuzzed = textfile_bytes(data, size);
    import_with(&fixed, "--size=percentiles", data, size);
    import_with(&fixed, "--arrival=even", data, size);
    import_with(&fuzzed, "--size=percentiles", (const uint8_t *)counts, sizeof counts - 1);
    textfile_close(&fuzzed);
    textfile_close(&fixed);
    return 0;
}
