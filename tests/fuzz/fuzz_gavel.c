/* fuzz_gavel.c - the gavel importer: the input is a trace against a fixed throughput table, and it
 * is a throughput table for a fixed trace. */
#include "tests/fuzz/fuzz_import.h"

extern const struct trace_format fmt_gavel;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void import_with(const char *table, const void *trace, size_t size)
{
    char word[80];
    snprintf(word, sizeof word, "--throughputs=%s", table);
    const union fuzz_options o = fuzz_options_kept(&fmt_gavel, word);
    fuzz_import(&fmt_gavel, &o, trace, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char trace[] = "LM\tc\t-s\t1\t100\t5\t1\nLM\tc\t-s\t1\t9\t5\t2\n";
    struct textfile table = textfile_of("{\"v100\": {\"('LM', 1)\": {\"null\": 12.5}, "
                                        "\"('LM', 2)\": {\"null\": 1e-9}}}");
    import_with(table.path, data, size);
    textfile_close(&table);
    table = textfile_bytes(data, size);
    import_with(table.path, trace, sizeof trace - 1);
    textfile_close(&table);
    return 0;
}
