/* fmt_synergy.c - static traces of Synergy (Mohan et al., OSDI 2022; msr-fiddle/synergy): no
 * header, five comma fields: job id, model, arrival in seconds, iterations, GPUs.
 *
 * There is no duration and no published rate beside the file, so one must be stated: --rate
 * (iterations per second of every job) or --rates FILE (traces/rates.h, by model or by model and
 * GPUs). Nothing is assumed without. */
#include "traces/rates.h"

#include "base/dec.h"
#include "base/mem.h"
#include "traces/format.h"

#include <stdlib.h>
#include <string.h>

enum { F_id, F_model, F_arrival, F_iterations, F_gpus, FIELDS };

static const struct import_reason no_rate = {
    "no-rate", "the table of rates has no entry for this model and number of GPUs", false
};
static const struct import_reason rate_zero = { "rate-zero",
                                                "the table of rates says 0 iterations per second",
                                                false };

struct options {
    double rate;
    const char *rates;
    bool model_profile;
};

static const struct opt opts[] = {
    { "rate", 0, OPT_REAL, offsetof(struct options, rate), "PER_S",
      "synergy: iterations per second of every job", NULL },
    { "rates", 0, OPT_TEXT, offsetof(struct options, rates), "FILE",
      "synergy: iterations per second by model, or by model and GPUs: {\"gnmt\": {\"1\": 2.5}}",
      NULL },
    { "model-profile", 0, OPT_FLAG, offsetof(struct options, model_profile), NULL,
      "synergy: hand the model on as the job's profile (the scenario must define it)", NULL },
    { 0 },
};

struct synergy {
    struct csv *csv;
    struct json_doc rates;
    struct symtab *names;
    double rate;
    bool model_profile;
};

static void synergy_close(void *state)
{
    struct synergy *s = state;
    if (!s) return;
    csv_close(s->csv);
    json_doc_fini(&s->rates);
    free(s);
}

static int read_options(struct synergy *s, const struct options *o, const char *path, struct err *e)
{
    s->rate = o->rate;
    s->model_profile = o->model_profile;
    if (o->rate < 0)
        return err_set(e, ERR_USAGE, NULL, "--rate: expected more than 0, found %g", o->rate);
    if (o->rates && o->rate > 0)
        return err_set(e, ERR_USAGE, NULL, "--rate and --rates exclude each other");
    if (o->rates) return rates_load_by_name(&s->rates, o->rates, e);
    if (o->rate > 0) return 0;
    int rc = err_set(e, ERR_USAGE, NULL,
                     "synergy: %s holds iterations and no durations: a rate is needed", path);
    err_hint(e, "--rate ITERATIONS_PER_SECOND, or --rates FILE with one for each model");
    return rc;
}

static int synergy_open(void **state, const char *path, const void *options, struct symtab *names,
                        struct import_info *info, struct err *e)
{
    const struct csv_format fmt = { .delimiter = ',', .quotes = true };
    const struct options *o = options;
    struct synergy *s = xcalloc(1, sizeof *s);
    const char *head;
    size_t len;
    s->names = names;
    int rc = csv_open(&s->csv, path, &fmt, e);
    if (rc == 0) rc = csv_peek(s->csv, &head, &len, e);
    if (rc == 0 && len == 0) {
        const struct loc at = { .file = csv_file(s->csv) };
        rc = err_set(e, ERR_INPUT, &at, "expected a synergy trace, found an empty file");
    }
    if (rc == 0) rc = read_options(s, o, path, e);
    if (rc < 0) {
        synergy_close(s);
        return rc;
    }
    if (o->rates)
        snprintf(info->origin, sizeof info->origin, "rates=by_model");
    else
        snprintf(info->origin, sizeof info->origin, "rate_per_s=%.15g", o->rate);
    *state = s;
    return 0;
}

static void set_duration(struct synergy *s, const struct csv_field *f, int64_t iterations,
                         int64_t gpus, struct import_row *row)
{
    const int len = (int)f[F_model].len;
    double per_s = s->rate;
    enum rate_answer answer = RATE_OK;
    if (s->rates.root)
        answer = rates_by_name(&s->rates, f[F_model].s, f[F_model].len, gpus, &per_s);
    if (answer == RATE_MISSING)
        import_quarantine(row, &no_rate, "%.*s on %lld GPUs", len, f[F_model].s, (long long)gpus);
    else if (answer == RATE_ZERO)
        import_quarantine(row, &rate_zero, "%.*s on %lld GPUs", len, f[F_model].s, (long long)gpus);
    else if (answer == RATE_BAD)
        import_quarantine(row, &import_bad_value, "the rate of %.*s on %lld GPUs is no number >= 0",
                          len, f[F_model].s, (long long)gpus);
    else if (!rate_duration(iterations, per_s, &row->job.duration))
        import_quarantine(row, &import_bad_value, "%lld iterations at %g per second: out of range",
                          (long long)iterations, per_s);
}

static int synergy_next(void *state, struct import_row *row, struct err *e)
{
    struct synergy *s = state;
    struct csv_row r;
    int64_t iterations, gpus;
    int rc = csv_next(s->csv, &r, e);
    if (rc <= 0) return rc;
    row->line = r.line;
    row->raw = r.text;
    row->raw_len = r.len;
    if (r.n != FIELDS) {
        import_quarantine(row, &import_field_count, "%zu fields, expected %d", r.n, FIELDS);
        return 1;
    }
    row->job.id = r.f[F_id].s;
    row->job.id_len = r.f[F_id].len;
    bool good = cell_exact(&r.f[F_gpus], "GPUs", 0, &gpus, row);
    if (good && (gpus < 0 || gpus > INT32_MAX / 1000)) {
        import_quarantine(row, &import_bad_value, "GPUs: out of range");
        good = false;
    }
    if (good) {
        row->job.gpus_milli = (int32_t)(gpus * 1000);
        row->asked = true;
    }
    cell_exact(&r.f[F_arrival], "arrival", 9, &row->job.submit, row);
    if (cell_exact(&r.f[F_iterations], "iterations", 0, &iterations, row) && iterations < 0)
        import_quarantine(row, &import_bad_value, "iterations: negative");
    if (row->quarantined) return 1;
    set_duration(s, r.f, iterations, gpus, row);
    if (s->model_profile) row->job.profile = symtab_add(s->names, r.f[F_model].s, r.f[F_model].len);
    return 1;
}

static int synergy_sniff(const char *head, size_t len)
{
    const char *nl = memchr(head, '\n', len), *f[FIELDS + 1] = { head };
    size_t line = nl ? (size_t)(nl - head) : len, n = 1;
    if (line > 0 && head[line - 1] == '\r') line--;
    for (size_t i = 0; i < line; i++) {
        if (head[i] != ',') continue;
        if (n == FIELDS) return 0;
        f[n++] = head + i + 1;
    }
    if (n != FIELDS) return 0;
    f[FIELDS] = head + line + 1;
    for (int i = 0; i < FIELDS; i++) {
        int64_t v;
        const size_t size = (size_t)(f[i + 1] - 1 - f[i]);
        const bool numeric = dec_fixed(f[i], size, 9, &v) == DEC_OK;
        /* ids are counted: a word in front is another table, such as a list of machines */
        if (size == 0 || (i == F_model ? numeric : !numeric)) return 0;
    }
    return 55;
}

const struct trace_format fmt_synergy = {
    .name = "synergy",
    .help = "Synergy static trace (OSDI 2022), 5 fields; durations from --rate or --rates FILE",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = synergy_sniff,
    .open = synergy_open,
    .next = synergy_next,
    .close = synergy_close,
};
