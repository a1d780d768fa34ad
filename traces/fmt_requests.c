/* fmt_requests.c - gpusim's own request trace, in any order: sorted (stably, by arrival) and
 * rewritten in its normal form. */
#include "traces/format.h"

#include <stdlib.h>

static int requests_format_open(void **state, const char *path, const void *options,
                                struct symtab *names, struct import_info *info, struct err *e)
{
    struct requests_reader *t;
    (void)options;
    int rc = requests_open(&t, path, names, e);
    if (rc < 0) return rc;
    requests_allow_unsorted(t);
    info->kind = IMPORT_REQUESTS;
    const char *comment = requests_comment(t); /* an origin told before is not lost */
    if (comment) snprintf(info->origin, sizeof info->origin, "%s", comment);
    *state = t;
    return 0;
}

static int requests_format_next(void *state, struct import_row *row, struct err *e)
{
    struct requests_reader *t = state;
    struct err why = { 0 };
    int rc = requests_next(t, &row->request, &why);
    if (rc == 0) return 0;
    if (rc < 0 && requests_failed(t)) {
        if (e && e->code == ERR_OK) *e = why;
        return rc;
    }
    row->line = requests_line(t);
    row->raw = requests_text(t, &row->raw_len);
    if (rc < 0) import_quarantine(row, &import_refused, "%s", why.msg);
    return 1;
}

static void requests_format_close(void *state)
{
    requests_close(state);
}

const struct trace_format fmt_requests = {
    .name = "requests",
    .help = "gpusim's own request trace, sorted by arrival_s and normalised",
    .sniff = requests_sniff,
    .open = requests_format_open,
    .next = requests_format_next,
    .close = requests_format_close,
};
