/* fmt_burstgpt.c - BurstGPT (Wang et al., 2024): requests to ChatGPT and GPT-4 of a university.
 * Columns by header name, whose names contain spaces; files 1 and 2 have six, file 3 has eight
 * (Session ID, Elapsed time).
 *
 * Timestamp: seconds from local midnight of the first day, whole in files 1 and 2, so that many
 * requests share one (--spread 1 spreads them over their second). Rows without response tokens are
 * failures: quarantined as benign, or kept with --failures keep (they did use a model). The service
 * is the model, or the log type. */
#include "traces/format.h"

#include "base/mem.h"
#include "traces/spread.h"

#include <stdlib.h>

enum {
    COL_time,
    COL_input,
    COL_output,
    REQUIRED,
    COL_model = REQUIRED,
    COL_log,
    COL_total,
    COL_session,
    COLUMNS
};
static const char *const columns[COLUMNS] = { "Timestamp", "Request tokens", "Response tokens",
                                              "Model",     "Log Type",       "Total tokens",
                                              "Session ID" };

static const struct import_reason failure = {
    "failure", "no response tokens: the request failed (--failures keep takes it)", true
};

static const char *const failure_ways[] = { "quarantine", "keep", NULL };
static const char *const services[] = { "model", "log-type", NULL };

struct options {
    int failures; /* index into failure_ways */
    int service;  /* index into services */
    double spread;
};

static const struct opt opts[] = {
    { "failures", 0, OPT_CHOICE, offsetof(struct options, failures), "WHAT",
      "burstgpt: rows without response tokens: quarantine (default) or keep", failure_ways },
    { "service", 0, OPT_CHOICE, offsetof(struct options, service), "COLUMN",
      "burstgpt: what becomes the service: model (default) or log-type", services },
    { "spread", 0, OPT_REAL, offsetof(struct options, spread), "SECONDS",
      "spread requests of one recorded time evenly over so many seconds (default 0: as recorded)",
      NULL },
    { 0 },
};

struct burstgpt {
    struct table t;
    struct symtab *names;
    bool keep_failures;
    int service;
    struct spread spread;
    int64_t rows, odd_totals;
    bool known_start; /* the first row is the published one */
};

static void burstgpt_close(void *state)
{
    struct burstgpt *s = state;
    if (!s) return;
    table_close(&s->t);
    spread_fini(&s->spread);
    free(s);
}

static int burstgpt_open(void **state, const char *path, const void *options, struct symtab *names,
                         struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct burstgpt *s = xcalloc(1, sizeof *s);
    s->names = names;
    s->keep_failures = o->failures;
    s->service = o->service ? COL_log : COL_model;
    int rc = spread_init(&s->spread, o->spread, e);
    if (rc == 0) rc = table_open(&s->t, path, ',', "burstgpt", columns, REQUIRED, COLUMNS, e);
    if (rc < 0) {
        burstgpt_close(s);
        return rc;
    }
    info->kind = IMPORT_REQUESTS;
    snprintf(info->origin, sizeof info->origin, "time_zero=local_midnight_of_the_first_day%s",
             o->failures ? " failures=kept" : "");
    spread_say(&s->spread, info);
    *state = s;
    return 0;
}

static sym name_of(struct burstgpt *s, int column)
{
    const struct csv_field f = table_cell(&s->t, column);
    return cell_missing(&f) ? 0 : symtab_add(s->names, f.s, f.len);
}

static void check_total(struct burstgpt *s, const struct request_row *r)
{
    const struct csv_field f = table_cell(&s->t, COL_total);
    struct import_row unused = { 0 };
    int64_t total;
    if (!cell_missing(&f) && (!table_whole(&s->t, COL_total, "", INT64_MAX, &total, &unused) ||
                              total != r->input_tokens + r->output_tokens))
        s->odd_totals++;
}

static int read_row(void *state, struct import_row *row, struct err *e)
{
    struct burstgpt *s = state;
    struct request_row *r = &row->request;
    int rc = table_next(&s->t, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    r->service = name_of(s, s->service);
    r->session = name_of(s, COL_session);
    table_number(&s->t, COL_time, "Timestamp", 9, &r->arrival, row);
    if (!table_whole(&s->t, COL_input, "Request tokens", REQUEST_MAX_TOKENS, &r->input_tokens,
                     row) ||
        !table_whole(&s->t, COL_output, "Response tokens", REQUEST_MAX_TOKENS, &r->output_tokens,
                     row) ||
        row->quarantined)
        return 1;
    /* the published files start with 5,ChatGPT,472,18,490,Conversation log */
    if (s->rows++ == 0)
        s->known_start =
            r->arrival == 5 * SIM_SECOND && r->input_tokens == 472 && r->output_tokens == 18;
    check_total(s, r);
    if (r->output_tokens == 0 && !s->keep_failures) import_quarantine(row, &failure, "%s", "");
    return 1;
}

static int burstgpt_next(void *state, struct import_row *row, struct err *e)
{
    struct burstgpt *s = state;
    return spread_next(&s->spread, read_row, s, row, e);
}

static void burstgpt_facts(const void *state, json_t *into)
{
    const struct burstgpt *s = state;
    json_object_set_new(into, "first_row",
                        json_string(s->known_start ? "as published (5 s, 472, 18)"
                                                   : "not that of the published files"));
    json_object_set_new(into, "rows_whose_total_is_no_sum", json_integer(s->odd_totals));
}

static int burstgpt_sniff(const char *head, size_t len)
{
    return header_has(head, len, ',', columns, REQUIRED) ? 95 : 0;
}

const struct trace_format fmt_burstgpt = {
    .name = "burstgpt",
    .help = "BurstGPT requests: Timestamp, Request tokens, Response tokens",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = burstgpt_sniff,
    .open = burstgpt_open,
    .next = burstgpt_next,
    .close = burstgpt_close,
    .facts = burstgpt_facts,
};
