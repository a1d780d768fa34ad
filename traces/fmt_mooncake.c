/* fmt_mooncake.c - Mooncake traces (Qin et al., FAST 2025): JSON lines with timestamp (ms from the
 * first request), input_length, output_length (tokens) and hash_ids, one id for each started block
 * of 512 input tokens; equal leading ids are a shared prefix.
 *
 * The account says how many blocks a cache without bound would have held already: a block counts
 * when its id and all in front of it in its request were seen in earlier requests (ids of the
 * request itself do not help it). The ids go to the native trace's column hash_ids, where a
 * service's prefix cache finds them. Rows of other writers may lack hash_ids and bear a
 * session_id; a row without a timestamp has no arrival and is quarantined: missing is not 0.
 *
 * Arrivals of the published files are batched at about 3 s: --spread spreads each batch.
 * Memory: 16 bytes and more for each distinct block. */
#include "traces/format.h"

#include "base/dec.h"
#include "base/mem.h"
#include "traces/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct import_reason not_json = { "not-json", "the line is no JSON object", false };
static const struct import_reason no_timestamp = { "no-timestamp",
                                                   "the row has no timestamp, so it has no arrival",
                                                   false };

static const char *const unit_names[] = { "ms", "s", NULL };

struct options {
    int unit; /* index into unit_names */
    double spread;
};

static const struct opt opts[] = {
    { "timestamp-unit", 0, OPT_CHOICE, offsetof(struct options, unit), "UNIT",
      "mooncake: unit of timestamp: ms (default, as published) or s", unit_names },
    { "spread", 0, OPT_REAL, offsetof(struct options, spread), "SECONDS",
      "spread requests of one recorded time evenly over so many seconds (default 0: as recorded)",
      NULL },
    { 0 },
};

/* A set of 64-bit ids: open addressing with linear probing, at most half full. */
struct id_set {
    int64_t *slot;
    bool *used;
    size_t cap, n;
};

static size_t slot_of(const struct id_set *s, int64_t id)
{
    uint64_t h = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15); /* Fibonacci hashing (Knuth) */
    size_t i = (size_t)(h >> 20) & (s->cap - 1);
    while (s->used[i] && s->slot[i] != id) i = (i + 1) & (s->cap - 1);
    return i;
}

static bool set_has(const struct id_set *s, int64_t id)
{
    return s->cap && s->used[slot_of(s, id)];
}

static void set_add(struct id_set *s, int64_t id)
{
    if (2 * s->n >= s->cap) {
        struct id_set old = *s;
        s->cap = old.cap ? 2 * old.cap : 1024;
        s->slot = xcalloc(s->cap, sizeof *s->slot);
        s->used = xcalloc(s->cap, sizeof *s->used);
        for (size_t i = 0; i < old.cap; i++) {
            if (!old.used[i]) continue;
            size_t at = slot_of(s, old.slot[i]);
            s->slot[at] = old.slot[i];
            s->used[at] = true;
        }
        free(old.slot);
        free(old.used);
    }
    size_t at = slot_of(s, id);
    s->n += !s->used[at];
    s->slot[at] = id;
    s->used[at] = true;
}

struct mooncake {
    struct csv *csv; /* of one column: the lines */
    struct csv_row line;
    struct symtab *names;
    bool seconds;
    struct spread spread;
    struct id_set seen;
    int64_t blocks, reused, odd_blocks, without_ids;
};

static void mooncake_close(void *state)
{
    struct mooncake *s = state;
    if (!s) return;
    csv_close(s->csv);
    spread_fini(&s->spread);
    free(s->seen.slot);
    free(s->seen.used);
    free(s);
}

static int mooncake_open(void **state, const char *path, const void *options, struct symtab *names,
                         struct import_info *info, struct err *e)
{
    const struct options *o = options;
    const struct csv_format lines = { .delimiter = '\x1f' }; /* JSON escapes it: never there */
    struct mooncake *s = xcalloc(1, sizeof *s);
    s->names = names;
    s->seconds = o->unit;
    int rc = spread_init(&s->spread, o->spread, e);
    if (rc == 0) rc = csv_open(&s->csv, path, &lines, e);
    if (rc < 0) {
        mooncake_close(s);
        return rc;
    }
    info->kind = IMPORT_REQUESTS;
    snprintf(info->origin, sizeof info->origin, "unit=%s block_tokens=%d", unit_names[o->unit],
             BLOCKS_TOKENS);
    spread_say(&s->spread, info);
    *state = s;
    return 0;
}

/* Exact for integers; for reals as exact as a double is. */
static bool to_ns(const json_t *v, bool seconds, simtime *out)
{
    const int64_t unit = seconds ? SIM_SECOND : SIM_SECOND / 1000;
    if (json_is_integer(v)) return !__builtin_mul_overflow(json_integer_value(v), unit, out);
    double ns = json_real_value(v) * (double)unit;
    if (!json_is_real(v) || !(fabs(ns) < 9.2e18)) return false;
    *out = llround(ns);
    return true;
}

/* A whole number of tokens, perhaps written as a real. */
static bool tokens(const json_t *o, const char *key, int64_t *out, struct import_row *row)
{
    const json_t *v = json_object_get(o, key);
    double d = json_number_value(v);
    if (json_is_number(v) && d >= 0 && d <= (double)REQUEST_MAX_TOKENS && d <= floor(d)) {
        *out = (int64_t)d;
        return true;
    }
    import_quarantine(row, &import_bad_value, "%s: expected a whole number of tokens >= 0%s", key,
                      v ? "" : ", found nothing");
    return false;
}

static void read_session(struct mooncake *s, const json_t *o, struct request_row *r)
{
    const json_t *v = json_object_get(o, "session_id");
    char text[32];
    if (json_is_string(v))
        r->session = symtab_add(s->names, json_string_value(v), json_string_length(v));
    else if (json_is_integer(v))
        r->session =
            symtab_add(s->names, text, dec_print(text, sizeof text, json_integer_value(v), 0));
}

/* Counts the blocks; quarantines when hash_ids is no list of whole numbers. */
static void read_blocks(struct mooncake *s, const json_t *o, struct import_row *row)
{
    const json_t *ids = json_object_get(o, "hash_ids"), *id;
    size_t i, hits = 0;
    if (!ids || json_is_null(ids)) {
        s->without_ids++;
        return;
    }
    bool good = json_is_array(ids);
    json_array_foreach(ids, i, id) good &= json_is_integer(id);
    if (!good) {
        import_quarantine(row, &import_bad_value, "hash_ids: expected a list of whole numbers");
        return;
    }
    const size_t n = json_array_size(ids);
    while (hits < n && set_has(&s->seen, json_integer_value(json_array_get(ids, hits)))) hits++;
    json_array_foreach(ids, i, id)
    {
        set_add(&s->seen, json_integer_value(id));
        row->request.blocks = blocks_add(s->names, row->request.blocks, json_integer_value(id));
    }
    s->blocks += (int64_t)n;
    s->reused += (int64_t)hits;
    s->odd_blocks += (int64_t)n != (row->request.input_tokens + BLOCKS_TOKENS - 1) / BLOCKS_TOKENS;
}

static void read_object(struct mooncake *s, const json_t *o, struct import_row *row)
{
    struct request_row *r = &row->request;
    const json_t *t = json_object_get(o, "timestamp");
    if (!t || json_is_null(t))
        import_quarantine(row, &no_timestamp, "%s", "");
    else if (!to_ns(t, s->seconds, &r->arrival))
        import_quarantine(row, &import_bad_value, "timestamp: expected a number");
    if (!tokens(o, "input_length", &r->input_tokens, row) ||
        !tokens(o, "output_length", &r->output_tokens, row))
        return;
    read_session(s, o, r);
    if (!row->quarantined && !request_row_problem(r)) read_blocks(s, o, row);
}

static int read_row(void *state, struct import_row *row, struct err *e)
{
    struct mooncake *s = state;
    json_error_t why;
    int rc = csv_next(s->csv, &s->line, e);
    if (rc <= 0) return rc;
    row->line = s->line.line;
    row->raw = s->line.text;
    row->raw_len = s->line.len;
    json_t *o = json_loadb(s->line.text, s->line.len, JSON_REJECT_DUPLICATES, &why);
    if (json_is_object(o))
        read_object(s, o, row);
    else
        import_quarantine(row, &not_json, "%s", o ? "expected {\"timestamp\": ...}" : why.text);
    json_decref(o);
    return 1;
}

static int mooncake_next(void *state, struct import_row *row, struct err *e)
{
    struct mooncake *s = state;
    return spread_next(&s->spread, read_row, s, row, e);
}

static void mooncake_facts(const void *state, json_t *into)
{
    const struct mooncake *s = state;
    json_object_set_new(into, "prefix_blocks", json_integer(s->blocks));
    json_object_set_new(into, "prefix_blocks_distinct", json_integer((json_int_t)s->seen.n));
    json_object_set_new(into, "prefix_blocks_reused", json_integer(s->reused));
    if (s->blocks)
        json_object_set_new(into, "prefix_reuse_unbounded_cache",
                            json_real((double)s->reused / (double)s->blocks));
    json_object_set_new(into, "rows_without_hash_ids", json_integer(s->without_ids));
    json_object_set_new(into, "rows_with_another_number_of_blocks", json_integer(s->odd_blocks));
    if (s->odd_blocks)
        json_object_set_new(
            into, "warnings",
            json_pack("[o]", json_sprintf("%lld rows have another number of "
                                          "hash_ids than blocks of 512 tokens begun",
                                          (long long)s->odd_blocks)));
}

static int mooncake_sniff(const char *head, size_t len)
{
    static const char *const keys[] = { "\"input_length\"", "\"output_length\"" };
    const char *nl = memchr(head, '\n', len);
    size_t line = nl ? (size_t)(nl - head) : len;
    if (line == 0 || head[0] != '{') return 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!memmem(head, line, keys[i], strlen(keys[i]))) return 0;
    return 90;
}

const struct trace_format fmt_mooncake = {
    .name = "mooncake",
    .help = "Mooncake requests as JSON lines, with the reuse of prefixes",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = mooncake_sniff,
    .open = mooncake_open,
    .next = mooncake_next,
    .close = mooncake_close,
    .facts = mooncake_facts,
};
