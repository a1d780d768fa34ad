/* fmt_azure_llm.c - Azure LLM inference traces of 2023 (Patel et al., "Splitwise", ISCA 2024), 2024
 * (Stojkovic et al., "DynamoLLM", HPCA 2025) and 2025 (multimodal, with NumImages):
 * TIMESTAMP, ContextTokens, GeneratedTokens by header name.
 *
 * The clock is text with up to seven fractional digits, without a zone (2023) or with one (2024);
 * only differences are used: the first request arrives at 0. Rows bear no id, so equal rows are
 * requests in their own right. Images are not part of the native trace: they are counted, and
 * --image-tokens says what each adds to the input. */
#include "traces/format.h"

#include "base/mem.h"
#include "traces/parse_time.h"

#include <stdlib.h>

enum { COL_time, COL_input, COL_output, REQUIRED, COL_images = REQUIRED, COLUMNS };
static const char *const columns[COLUMNS] = { "TIMESTAMP", "ContextTokens", "GeneratedTokens",
                                              "NumImages" };

struct options {
    int64_t image_tokens;
};

static const struct opt opts[] = {
    { "image-tokens", 0, OPT_COUNT, offsetof(struct options, image_tokens), "N",
      "azure-llm: input tokens to add for each image (2025; default 0: as ContextTokens says)",
      NULL },
    { 0 },
};

struct azure_llm {
    struct table t;
    int64_t image_tokens;
    int64_t images, with_images;
};

static void azure_llm_close(void *state)
{
    struct azure_llm *s = state;
    if (!s) return;
    table_close(&s->t);
    free(s);
}

static int azure_llm_open(void **state, const char *path, const void *options, struct symtab *names,
                          struct import_info *info, struct err *e)
{
    const struct options *o = options;
    (void)names;
    if (o->image_tokens > 1000000)
        return err_set(e, ERR_USAGE, NULL, "--image-tokens: expected at most 1000000");
    struct azure_llm *s = xcalloc(1, sizeof *s);
    s->image_tokens = o->image_tokens;
    int rc = table_open(&s->t, path, ',', "azure-llm", columns, REQUIRED, COLUMNS, e);
    if (rc < 0) {
        azure_llm_close(s);
        return rc;
    }
    info->kind = IMPORT_REQUESTS;
    info->from_zero = true;
    if (s->image_tokens)
        snprintf(info->origin, sizeof info->origin, "image_tokens=%lld",
                 (long long)s->image_tokens);
    *state = s;
    return 0;
}

static void read_images(struct azure_llm *s, struct import_row *row)
{
    int64_t images;
    if (s->t.column_of[COL_images] < 0 ||
        !table_whole(&s->t, COL_images, "NumImages", 1000000, &images, row))
        return;
    row->request.input_tokens += images * s->image_tokens; /* at most 1e12: no overflow */
    if (row->quarantined) return;
    s->images += images;
    s->with_images += images > 0;
}

static int azure_llm_next(void *state, struct import_row *row, struct err *e)
{
    struct azure_llm *s = state;
    struct request_row *r = &row->request;
    int rc = table_next(&s->t, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    const struct csv_field time = table_cell(&s->t, COL_time);
    enum clock_status st = clock_parse(time.s, time.len, NULL, &r->arrival, NULL);
    if (st != CLOCK_OK) import_quarantine(row, &import_bad_value, "TIMESTAMP: %s", clock_why(st));
    if (table_whole(&s->t, COL_input, "ContextTokens", REQUEST_MAX_TOKENS, &r->input_tokens, row) &&
        table_whole(&s->t, COL_output, "GeneratedTokens", REQUEST_MAX_TOKENS, &r->output_tokens,
                    row))
        read_images(s, row);
    return 1;
}

static void azure_llm_facts(const void *state, json_t *into)
{
    const struct azure_llm *s = state;
    if (s->t.column_of[COL_images] < 0) return;
    json_object_set_new(into, "images", json_integer(s->images));
    json_object_set_new(into, "requests_with_images", json_integer(s->with_images));
    json_object_set_new(into, "image_tokens", json_integer(s->image_tokens));
}

static int azure_llm_sniff(const char *head, size_t len)
{
    return header_has(head, len, ',', columns, REQUIRED) ? 95 : 0;
}

const struct trace_format fmt_azure_llm = {
    .name = "azure-llm",
    .help = "Azure LLM inference requests, 2023, 2024 and 2025 (with images)",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = azure_llm_sniff,
    .open = azure_llm_open,
    .next = azure_llm_next,
    .close = azure_llm_close,
    .facts = azure_llm_facts,
};
