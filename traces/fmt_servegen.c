/* fmt_servegen.c - ServeGen client profiles (Xiang et al., 2025; Alibaba Model Studio): not
 * requests, but what one client's requests are drawn from.
 *
 * chunk-N-trace.csv, no header: window start (s), rate (1/s), coefficient of variation of the gaps,
 * distribution of the gaps (Gamma, Weibull, Exponential; empty: idle), shape, scale. A window ends
 * where the next one starts; the last is as long as the one before (600 s when it is alone).
 * chunk-N-dataset.json: window start -> field -> {value: probability}, as text of a Python dict or
 * as an object. A window takes the table that starts last before it, or the first there is.
 *
 * Each window gets n = rate x length requests (rounded). n + 1 gaps are drawn from the distribution
 * and scaled so that they fill the window exactly: the fitted scale need not reproduce the rate (it
 * does not for Weibull rows), and the authors rescale too. They draw n gaps, which puts a request
 * on every window's end; one gap more avoids that and changes neither rate nor shape. Input tokens:
 * input_tokens (or text_tokens) + for image, audio, video: tokens of each of the drawn number of
 * items. Output tokens: output_tokens. A dataset without input_tokens or output_tokens is refused.
 *
 * The rows of the account are the generated requests; a window that cannot be used is one
 * quarantined row. The service is the client: the file's name without "-trace.csv". Memory: one
 * window. */
#include "traces/format.h"

#include "base/dec.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/vec.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 6, MAX_PER_WINDOW = 10000000, MAX_ITEMS = 1000, ALONE_S = 600 };
enum { F_start, F_rate, F_cv, F_name, F_shape, F_scale };

static const struct import_reason unknown_law = {
    "unknown-distribution", "the distribution of the gaps is none of Gamma, Weibull, Exponential",
    false
};
static const struct import_reason bad_law = {
    "bad-distribution", "shape, scale or rate is not positive, or out of range", false
};
static const struct import_reason no_length = {
    "no-length", "the next window does not start later, so this one has no length", false
};

struct options {
    const char *dataset;
    uint64_t seed;
    int64_t max;
};

static const struct opt opts[] = {
    { "dataset", 0, OPT_TEXT, offsetof(struct options, dataset), "FILE",
      "servegen: the client's dataset (default: ...-dataset.json beside ...-trace.csv)", NULL },
    { "seed", 0, OPT_SEED, offsetof(struct options, seed), "N", "seed of what is drawn (default 0)",
      NULL },
    { "max-requests", 0, OPT_COUNT, offsetof(struct options, max), "N",
      "give up beyond so many generated requests (default 0: no limit)", NULL },
    { 0 },
};

/* One probability table, cumulated: value[i] when upto[i - 1] <= u x total < upto[i]. */
struct law {
    VEC(int64_t) value;
    VEC(double) upto;
};

static const char *const media[] = { "image", "audio", "video" };
enum { MEDIA = sizeof media / sizeof *media };

struct dataset {
    double start_s;
    struct law input, output, items[MEDIA], item_tokens[MEDIA];
};

struct servegen {
    struct csv *csv;
    struct csv_row row; /* the window that comes after the one at hand */
    bool more;
    VEC(struct dataset) sets;
    gsl_rng *arrivals, *sizes;
    sym service;
    int64_t max, made, windows, idle;
    simtime last_length;
    /* the window at hand */
    const struct dataset *set;
    double *until; /* cumulated gaps, n + 1 */
    size_t until_cap;
    simtime start, length;
    int64_t n, at;
    int line;
    struct strbuf raw;
};

static void law_fini(struct law *l)
{
    vec_fini(&l->value);
    vec_fini(&l->upto);
}

static void servegen_close(void *state)
{
    struct servegen *s = state;
    if (!s) return;
    csv_close(s->csv);
    for (size_t i = 0; i < s->sets.n; i++) {
        struct dataset *d = &s->sets.v[i];
        law_fini(&d->input);
        law_fini(&d->output);
        for (int k = 0; k < MEDIA; k++) law_fini(&d->items[k]), law_fini(&d->item_tokens[k]);
    }
    vec_fini(&s->sets);
    if (s->arrivals) gsl_rng_free(s->arrivals);
    if (s->sizes) gsl_rng_free(s->sizes);
    free(s->until);
    strbuf_fini(&s->raw);
    free(s);
}

/* ---- the dataset ------------------------------------------------------------------------------ */

static bool add_share(struct law *l, const char *value, size_t value_len, double share)
{
    int64_t v;
    if (dec_fixed_exact(value, value_len, 0, &v) != DEC_OK || v < 0 || v > 1000000000) return false;
    if (!(share >= 0 && share <= 1e9)) return false;
    const double before = l->upto.n ? l->upto.v[l->upto.n - 1] : 0;
    vec_push(&l->value, v);
    vec_push(&l->upto, before + share);
    return true;
}

static size_t word_len(const char *s)
{
    return strcspn(s, " ,:}");
}

static const char *skip(const char *s)
{
    return s + strspn(s, " ");
}

/* "{136: 0.25, 372: 0.75}" */
static bool parse_dict(struct law *l, const char *s)
{
    s = skip(s);
    if (*s++ != '{') return false;
    for (s = skip(s); *s != '}';) {
        const char *value = s, *share;
        double p;
        const size_t value_len = word_len(s);
        s = skip(s + value_len);
        if (*s++ != ':') return false;
        share = s = skip(s);
        s += word_len(s);
        if (dec_double(share, (size_t)(s - share), &p) != DEC_OK) return false;
        if (!add_share(l, value, value_len, p)) return false;
        s = skip(s);
        if (*s == ',')
            s = skip(s + 1);
        else if (*s != '}')
            return false;
    }
    return *skip(s + 1) == '\0';
}

static bool parse_law(struct law *l, json_t *v)
{
    bool good = true;
    const char *key;
    json_t *share;
    if (json_is_string(v)) {
        good = parse_dict(l, json_string_value(v));
    } else if (json_is_object(v)) {
        json_object_foreach(v, key, share) good &=
            json_is_number(share) && add_share(l, key, strlen(key), json_number_value(share));
    } else {
        return false;
    }
    return good && l->upto.n > 0 && l->upto.v[l->upto.n - 1] > 0;
}

/* The table `key` of the window `of`. Absent tables leave *l empty. */
static int read_law(struct law *l, const struct json_doc *doc, json_t *of, const char *start,
                    const char *key, struct err *e)
{
    json_t *v = json_object_get(of, key);
    if (!v || parse_law(l, v)) return 0;
    int rc = err_set(e, ERR_INPUT, &(struct loc){ .file = doc->file },
                     "/%s/%s: expected a table such as \"{136: 0.25, 372: 0.75}\"", start, key);
    err_hint(e, "whole values and shares >= 0 that are not all 0");
    return rc;
}

static int read_set(struct dataset *d, const struct json_doc *doc, const char *start, json_t *of,
                    struct err *e)
{
    char key[32];
    const struct loc at = { .file = doc->file };
    if (dec_double(start, strlen(start), &d->start_s) != DEC_OK || !json_is_object(of))
        return err_set(e, ERR_INPUT, &at,
                       "/%.80s: expected the start of a window in seconds, with its tables", start);
    int rc = read_law(&d->input, doc, of, start, "input_tokens", e);
    if (rc == 0 && !d->input.value.n) rc = read_law(&d->input, doc, of, start, "text_tokens", e);
    if (rc == 0) rc = read_law(&d->output, doc, of, start, "output_tokens", e);
    for (int i = 0; rc == 0 && i < MEDIA; i++) {
        snprintf(key, sizeof key, "%s_tokens", media[i]);
        rc = read_law(&d->item_tokens[i], doc, of, start, key, e);
        snprintf(key, sizeof key, "%s_count", media[i]);
        if (rc == 0) rc = read_law(&d->items[i], doc, of, start, key, e);
        for (size_t k = 0; rc == 0 && k < d->items[i].value.n; k++)
            if (d->items[i].value.v[k] > MAX_ITEMS)
                rc = err_set(e, ERR_INPUT, &at, "/%.80s/%s: expected at most %d items", start, key,
                             MAX_ITEMS);
    }
    if (rc == 0 && (!d->input.value.n || !d->output.value.n))
        rc = err_set(e, ERR_INPUT, &at,
                     "/%.80s: expected input_tokens (or text_tokens) and "
                     "output_tokens",
                     start);
    return rc;
}

static int read_dataset(struct servegen *s, const char *path, struct err *e)
{
    struct json_doc doc;
    const char *start;
    json_t *of;
    int rc = json_doc_load(&doc, path, e);
    if (rc < 0) return rc;
    json_object_foreach(doc.root, start, of)
    {
        vec_push(&s->sets, ((struct dataset){ 0 }));
        rc = read_set(&s->sets.v[s->sets.n - 1], &doc, start, of, e);
        if (rc < 0) break;
    }
    if (rc == 0 && s->sets.n == 0) {
        const struct loc at = { .file = path };
        rc = err_set(e, ERR_INPUT, &at, "expected an object of windows, found none");
    }
    json_doc_fini(&doc);
    return rc;
}

/* Length of the path without "-trace.csv" and what compression adds; 0 when it does not end so. */
static size_t stem_len(const char *path)
{
    static const char *const ends[] = { "-trace.csv", "-trace.csv.gz", "-trace.csv.xz",
                                        "-trace.csv.zst" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_ends(path, ends[i])) return strlen(path) - strlen(ends[i]);
    return 0;
}

static char *dataset_beside(const char *path)
{
    const size_t stem = stem_len(path);
    return stem ? xasprintf("%.*s-dataset.json", (int)stem, path) : NULL;
}

static const struct dataset *dataset_at(const struct servegen *s, double start_s)
{
    const struct dataset *last = NULL, *first = &s->sets.v[0];
    for (size_t i = 0; i < s->sets.n; i++) {
        const struct dataset *d = &s->sets.v[i];
        if (d->start_s < first->start_s) first = d;
        if (d->start_s <= start_s && (!last || d->start_s >= last->start_s)) last = d;
    }
    return last ? last : first;
}

static int64_t draw(gsl_rng *rng, const struct law *l)
{
    if (l->value.n == 0) return 0;
    size_t lo = 0, hi = l->value.n - 1;
    const double u = gsl_rng_uniform(rng) * l->upto.v[hi];
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (u < l->upto.v[mid])
            hi = mid;
        else
            lo = mid + 1;
    }
    return l->value.v[lo];
}

/* ---- windows ---------------------------------------------------------------------------------- */

static int servegen_open(void **state, const char *path, const void *options, struct symtab *names,
                         struct import_info *info, struct err *e)
{
    const struct options *o = options;
    const struct csv_format fmt = { .delimiter = ',' };
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    struct servegen *s = xcalloc(1, sizeof *s);
    char *beside = o->dataset ? xstrdup(o->dataset) : dataset_beside(path);
    int rc = csv_open(&s->csv, path, &fmt, e);
    if (rc == 0) rc = csv_next(s->csv, &s->row, e);
    s->more = rc > 0;
    if (rc == 0)
        rc = err_set(e, ERR_INPUT, &(struct loc){ .file = csv_file(s->csv) },
                     "expected a ServeGen profile, found an empty file");
    if (rc > 0 && !beside) {
        rc = err_set(e, ERR_INPUT, &(struct loc){ .file = csv_file(s->csv) },
                     "the profile says when requests come, not how large they are");
        err_hint(e, "--dataset FILE names the client's chunk-N-dataset.json");
    }
    if (rc > 0) {
        rc = read_dataset(s, beside, e);
        if (rc < 0 && !o->dataset) err_hint(e, "--dataset FILE names the client's dataset");
    }
    free(beside);
    if (rc < 0) {
        servegen_close(s);
        return rc;
    }
    const size_t stem = stem_len(base), cut = stem ? stem : strlen(base);
    char *client = xstrndup(base, cut);
    char *purpose = xasprintf("servegen arrivals %s", client);
    s->service = symtab_add(names, client, cut);
    s->arrivals = rng_create(o->seed, 0, purpose);
    free(purpose);
    purpose = xasprintf("servegen sizes %s", client);
    s->sizes = rng_create(o->seed, 0, purpose);
    free(purpose);
    free(client);
    s->max = o->max;
    s->last_length = ALONE_S * SIM_SECOND;
    info->kind = IMPORT_REQUESTS;
    snprintf(info->origin, sizeof info->origin, "drawn=1 seed=%llu", (unsigned long long)o->seed);
    snprintf(info->note, sizeof info->note,
             "requests are drawn from the client's profile (seed %llu), not recorded",
             (unsigned long long)o->seed);
    *state = s;
    return 0;
}

static bool number(const struct csv_row *r, int field, double *out)
{
    return dec_double(r->f[field].s, r->f[field].len, out) == DEC_OK;
}

static double gap(gsl_rng *rng, char law, double shape, double scale)
{
    switch (law) {
    case 'G': return gsl_ran_gamma(rng, shape, scale);
    case 'W': return gsl_ran_weibull(rng, scale, shape);
    default: return gsl_ran_exponential(rng, scale);
    }
}

/* The cumulated gaps of the window at hand. False when they came out as nonsense. */
static bool draw_gaps(struct servegen *s, char law, double shape, double scale)
{
    const size_t n = (size_t)s->n + 1;
    double sum = 0;
    if (s->until_cap < n) {
        s->until_cap = 2 * n;
        s->until = xreallocarray(s->until, s->until_cap, sizeof *s->until);
    }
    for (size_t i = 0; i < n; i++) s->until[i] = sum += gap(s->arrivals, law, shape, scale);
    return isfinite(sum) && sum > 0;
}

/* Reads s->row as far as one row can be read. Its length is known when the next one is. */
static void read_window(struct servegen *s, struct import_row *row, char *law, double *rate,
                        double *shape, double *scale)
{
    const struct csv_row *r = &s->row;
    static const char *const laws[] = { "Gamma", "Weibull", "Exponential" };
    *law = '\0';
    *rate = *shape = *scale = 0;
    if (r->n != FIELDS) {
        import_quarantine(row, &import_field_count, "%zu fields, not %d", r->n, FIELDS);
        return;
    }
    if (dec_fixed(r->f[F_start].s, r->f[F_start].len, 9, &s->start) != DEC_OK ||
        !number(r, F_rate, rate) || !number(r, F_shape, shape) || !number(r, F_scale, scale)) {
        import_quarantine(row, &import_bad_value, "start, rate, shape or scale: not a number");
        return;
    }
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        if (csv_is(&r->f[F_name], laws[i])) *law = laws[i][0];
    if (*law == '\0' && (r->f[F_name].len > 0 || *rate > 0))
        import_quarantine(row, &unknown_law, "\"%.*s\"", (int)(r->f[F_name].len % 60),
                          r->f[F_name].s);
    else if (*law != '\0' && (!(*rate >= 0) || !(*scale > 0 && *scale < 1e12) ||
                              (*law != 'E' && !(*shape > 1e-6 && *shape < 1e12))))
        import_quarantine(row, &bad_law, "%s", "");
}

/* From this window's start to the next one's; steps on to the next row. */
static int find_length(struct servegen *s, struct import_row *row, struct err *e)
{
    simtime next;
    int rc = csv_next(s->csv, &s->row, e);
    if (rc < 0) return rc;
    s->more = rc > 0;
    s->length = s->last_length;
    if (s->more && s->row.n > F_start &&
        dec_fixed(s->row.f[F_start].s, s->row.f[F_start].len, 9, &next) == DEC_OK &&
        __builtin_sub_overflow(next, s->start, &s->length))
        s->length = 0;
    if (s->length <= 0 && !row->quarantined) import_quarantine(row, &no_length, "%s", "");
    if (s->length > 0) s->last_length = s->length;
    return 0;
}

/* 1: a window with requests is at hand, or *row is quarantined; 0: an idle one; negative: error. */
static int next_window(struct servegen *s, struct import_row *row, struct err *e)
{
    char law;
    double rate, shape, scale;
    s->windows++;
    s->n = s->at = 0;
    s->line = s->row.line;
    strbuf_clear(&s->raw);
    strbuf_add(&s->raw, s->row.text, s->row.len);
    read_window(s, row, &law, &rate, &shape, &scale);
    int rc = find_length(s, row, e);
    if (rc < 0) return rc;
    const double n = rate * simtime_s(s->length);
    if (!row->quarantined && !(n < MAX_PER_WINDOW))
        import_quarantine(row, &bad_law, "%g requests in the window", n);
    if (row->quarantined) return 1;
    s->n = law ? (int64_t)(n + 0.5) : 0;
    if (s->n == 0) {
        s->idle++;
        return 0;
    }
    s->set = dataset_at(s, simtime_s(s->start));
    if (s->max && s->made + s->n > s->max)
        return err_set(e, ERR_INPUT, &(struct loc){ .file = csv_file(s->csv), .line = s->line },
                       "more than %lld requests (--max-requests)", (long long)s->max);
    s->made += s->n;
    if (draw_gaps(s, law, shape, scale)) return 1;
    s->n = 0;
    import_quarantine(row, &bad_law, "no gaps can be drawn");
    return 1;
}

static int64_t draw_input(struct servegen *s)
{
    int64_t tokens = draw(s->sizes, &s->set->input);
    for (int i = 0; i < MEDIA; i++) {
        int64_t items = draw(s->sizes, &s->set->items[i]);
        for (; items > 0; items--) tokens += draw(s->sizes, &s->set->item_tokens[i]);
    }
    return tokens;
}

static int servegen_next(void *state, struct import_row *row, struct err *e)
{
    struct servegen *s = state;
    while (s->at == s->n) {
        if (!s->more) return 0;
        int rc = next_window(s, row, e);
        if (rc < 0) return rc;
        row->line = s->line;
        row->raw = s->raw.s;
        row->raw_len = s->raw.len;
        if (row->quarantined) return 1;
    }
    row->line = s->line;
    row->raw = s->raw.s;
    row->raw_len = s->raw.len;
    const double part = s->until[s->at++] / s->until[s->n]; /* 0..1 of the window */
    if (__builtin_add_overflow(s->start, (simtime)(part * (double)s->length),
                               &row->request.arrival))
        row->request.arrival = -1;
    row->request.input_tokens = draw_input(s);
    row->request.output_tokens = draw(s->sizes, &s->set->output);
    row->request.service = s->service;
    return 1;
}

static void servegen_facts(const void *state, json_t *into)
{
    const struct servegen *s = state;
    json_object_set_new(into, "windows", json_integer(s->windows));
    json_object_set_new(into, "idle_windows", json_integer(s->idle));
    json_object_set_new(into, "requests_drawn", json_integer(s->made));
}

/* Six fields, numbers but for the fourth, which is a name or empty. */
static int servegen_sniff(const char *head, size_t len)
{
    const char *nl = memchr(head, '\n', len);
    size_t line = nl ? (size_t)(nl - head) : len, at = 0, n = 0;
    double v;
    if (line > 0 && head[line - 1] == '\r') line--;
    for (; at <= line && n <= FIELDS; n++) {
        const char *comma = memchr(head + at, ',', line - at);
        const size_t stop = comma ? (size_t)(comma - head) : line;
        const struct csv_field f = { .s = head + at, .len = stop - at };
        const bool name =
            f.len == 0 || csv_is(&f, "Gamma") || csv_is(&f, "Weibull") || csv_is(&f, "Exponential");
        if (n == F_name ? !name : dec_double(f.s, f.len, &v) != DEC_OK) return 0;
        at = stop + 1;
    }
    return n == FIELDS ? 85 : 0;
}

const struct trace_format fmt_servegen = {
    .name = "servegen",
    .help = "ServeGen client profiles: requests are drawn window by window",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = servegen_sniff,
    .open = servegen_open,
    .next = servegen_next,
    .close = servegen_close,
    .facts = servegen_facts,
};
