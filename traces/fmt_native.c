/* fmt_native.c - gpusim's own job trace, in any order: sorted (stably, by submit) and rewritten in
 * its normal form. */
#include "traces/format.h"

#include "base/mem.h"

#include <stdlib.h>

static int native_open(void **state, const char *path, const void *options, struct symtab *names,
                       struct import_info *info, struct err *e)
{
    struct trace_reader *t;
    (void)options;
    int rc = trace_open(&t, path, names, e);
    if (rc < 0) return rc;
    trace_allow_unsorted(t);
    const char *comment = trace_comment(t); /* an origin told before is not lost */
    if (comment) snprintf(info->origin, sizeof info->origin, "%s", comment);
    *state = t;
    return 0;
}

static int native_next(void *state, struct import_row *row, struct err *e)
{
    struct trace_reader *t = state;
    struct err why = { 0 };
    int rc = trace_next(t, &row->job, &why);
    if (rc == 0) return 0;
    if (rc < 0 && trace_failed(t)) {
        if (e && e->code == ERR_OK) *e = why;
        return rc;
    }
    row->line = trace_line(t);
    row->raw = trace_text(t, &row->raw_len);
    row->asked = rc > 0;
    if (rc < 0) import_quarantine(row, &import_refused, "%s", why.msg);
    return 1;
}

static void native_close(void *state)
{
    trace_close(state);
}

const struct trace_format fmt_native = {
    .name = "native",
    .help = "gpusim's own trace, sorted by submit_s and normalised",
    .sniff = trace_sniff,
    .open = native_open,
    .next = native_next,
    .close = native_close,
};
