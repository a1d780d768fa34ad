/* fuzz_trace.c - the native trace reader: sorted or not, row errors included. */
#include "tests/support/textfile.h"
#include "traces/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct textfile f = textfile_bytes(data, size);
    for (int pass = 0; pass < 2; pass++) {
        struct symtab *names = symtab_create();
        struct trace_reader *t;
        struct job_row row;
        struct err e = { 0 };
        if (trace_open(&t, f.path, names, &e) == 0) {
            if (pass) trace_allow_unsorted(t);
            int rc;
            while ((rc = trace_next(t, &row, &e)) != 0) {
                if (rc < 0 && (!pass || trace_failed(t))) break;
                if (rc > 0 && job_row_problem(&row))
                    BUG("the reader took what the writer refuses: %s", job_row_problem(&row));
                e = (struct err){ 0 };
            }
            trace_close(t);
        }
        symtab_destroy(names);
    }
    trace_sniff((const char *)data, size);
    textfile_close(&f);
    return 0;
}
