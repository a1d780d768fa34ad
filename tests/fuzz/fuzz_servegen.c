/* fuzz_servegen.c - the servegen importer: profiles with a fixed dataset, and a fixed profile whose
 * dataset is the fuzzed file. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_servegen;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void import_with(const struct textfile *dataset, const void *data, size_t size)
{
    char copy[2][64], *argv[4] = { copy[0], copy[0], copy[1], NULL }, **operand;
    const struct command c = { .name = "import", .opts = fmt_servegen.opts };
    union fuzz_options o = { .bytes = { 0 } };
    struct err e = { 0 };
    int n;
    snprintf(copy[0], sizeof copy[0], "--dataset=%s", dataset->path);
    snprintf(copy[1], sizeof copy[1], "--max-requests=2000");
    if (fmt_servegen.options_size > sizeof o) BUG("options are too large");
    if (opt_parse(&c, 3, argv, &o, &operand, &n, &e) != 0) BUG("%s", e.msg);
    fuzz_import(&fmt_servegen, &o, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char profile[] = "0,0.02,1,Gamma,1,50\n600,0.01,1,Weibull,0.8,7\n";
    struct textfile fixed = textfile_of(
        "{\"0\": {\"text_tokens\": \"{5: 1}\", \"output_tokens\": {\"7\": 1},"
        " \"image_tokens\": \"{500: 0.5, 7: 0.5}\", \"image_count\": \"{0: 0.5, 2: 0.5}\"}}");
    struct textfile fuzzed = textfile_bytes(data, size);
    import_with(&fixed, data, size);
    import_with(&fuzzed, profile, sizeof profile - 1);
    textfile_close(&fuzzed);
    textfile_close(&fixed);
    return 0;
}
