/* fmt_dcgm.c - what the DCGM exporter says (NVIDIA/dcgm-exporter): Prometheus text exposition,
 * NAME{label="v",...} value [timestamp ms], one scrape or many, with the titles and rulers that people
 * leave between them.
 *
 *   duty     DCGM_FI_PROF_GR_ENGINE_ACTIVE (a ratio 0..1, whatever its help text says), else
 *            DCGM_FI_DEV_GPU_UTIL (percent), which says nothing under MIG and is not used there
 *   memory   DCGM_FI_PROF_DRAM_ACTIVE (ratio), else DCGM_FI_DEV_MEM_COPY_UTIL (percent, not under MIG)
 *   SMs      DCGM_FI_PROF_SM_ACTIVE (ratio)
 *   bytes    DCGM_FI_DEV_FB_USED (MiB); DCGM_FI_PROF_PCIE_TX_BYTES + RX_BYTES (bytes per second)
 * Under MIG the rows of a card repeat its power, temperature, clocks and counters for every slice: all
 * DCGM_FI_DEV_ fields but FB_ and _UTIL belong to the card and are never added up. XID_ERRORS is the
 * last code, not a count. 2147483632.., 9223372036854775792.. and 140737488355328.. are DCGM's marks
 * for "no value". An empty pod label is unknown, not idle: with sharing on, one pod or none has it. */
#include "traces/signatures.h"

#include "base/csv.h"
#include "base/dec.h"
#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const struct import_reason not_a_sample = {
    "not-a-sample", "a line that is no sample: a title or ruler between scrapes", true
};
static const struct import_reason other_metric = { "other-metric", "a metric of another exporter",
                                                   true };
static const struct import_reason no_value = { "no-value",
                                               "DCGM's mark for a value it does not have", true };
static const struct import_reason bad_sample = { "bad-sample", "a DCGM sample that cannot be read",
                                                 false };

enum { TEXT = 256 };

struct sample {
    const char *name;
    size_t name_len;
    char label[SIG_LABELS][TEXT];
    double value;
};

/* Labels by name; "exported_" ones win: Prometheus renames what it clashes with. */
static const struct {
    const char *name;
    enum sig_label to;
} label_map[] = {
    { "Hostname", SIG_host },
    { "UUID", SIG_uuid },
    { "gpu", SIG_gpu },
    { "modelName", SIG_model },
    { "GPU_I_PROFILE", SIG_mig_profile },
    { "GPU_I_ID", SIG_mig_instance },
    { "namespace", SIG_namespace },
    { "pod", SIG_pod },
    { "container", SIG_container },
    { "exported_namespace", SIG_namespace },
    { "exported_pod", SIG_pod },
    { "exported_container", SIG_container },
};

static bool name_char(char c, bool first)
{
    return c == '_' || c == ':' || isalpha((unsigned char)c) ||
           (!first && isdigit((unsigned char)c));
}

static size_t name_length(const char *s, const char *end)
{
    const char *p = s;
    while (p < end && name_char(*p, p == s)) p++;
    return (size_t)(p - s);
}

/* "value" with \\ \" \n, from the opening quote; NULL when it does not end or is too long. */
static const char *read_quoted(const char *p, const char *end, char out[TEXT])
{
    size_t n = 0;
    for (p++; p < end && *p != '"'; p++) {
        char c = *p;
        if (c == '\\') {
            if (++p == end) return NULL;
            c = *p == 'n' ? '\n' : *p;
        }
        if (n + 1 == TEXT) return NULL;
        out[n++] = c;
    }
    out[n] = '\0';
    return p < end ? p + 1 : NULL;
}

static const char *skip_spaces(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    return p;
}

/* {a="b",...} from the brace; NULL when it is none. */
static const char *read_labels(const char *p, const char *end, struct sample *s)
{
    bool exported[SIG_LABELS] = { false };
    char value[TEXT];
    for (p = skip_spaces(p + 1, end); p < end && *p != '}';) {
        const char *name = p;
        const size_t len = name_length(p, end);
        p = skip_spaces(p + len, end);
        if (len == 0 || p == end || *p != '=') return NULL;
        p = skip_spaces(p + 1, end);
        if (p == end || *p != '"' || !(p = read_quoted(p, end, value))) return NULL;
        for (size_t i = 0; i < sizeof label_map / sizeof *label_map; i++) {
            const enum sig_label to = label_map[i].to;
            const bool wins = str_starts(label_map[i].name, "exported_");
            if (strlen(label_map[i].name) != len || memcmp(label_map[i].name, name, len) != 0 ||
                (exported[to] && !wins))
                continue;
            exported[to] = wins;
            strcpy(s->label[to], value);
        }
        p = skip_spaces(p, end);
        if (p < end && *p == ',') p = skip_spaces(p + 1, end);
    }
    return p < end ? p + 1 : NULL;
}

static bool is_blank(double v)
{
    return !isfinite(v) || v >= 9223372036854775792.0 ||
           (v >= 140737488355328.0 && v <= 140737488355331.0) ||
           (v >= 2147483632.0 && v <= 2147483635.0);
}

/* value [timestamp]; words such as NaN come out as no value. */
static bool read_value(const char *p, const char *end, double *out)
{
    p = skip_spaces(p, end);
    const char *stop = p;
    while (stop < end && *stop != ' ' && *stop != '\t') stop++;
    const size_t len = (size_t)(stop - p);
    static const char *const words[] = { "NaN", "+Inf", "-Inf", "Inf" };
    const char *rest = skip_spaces(stop, end);
    int64_t when;
    if (rest < end && dec_fixed(rest, (size_t)(end - rest), 0, &when) != DEC_OK) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == len && memcmp(words[i], p, len) == 0) {
            *out = NAN;
            return true;
        }
    return dec_double(p, len, out) == DEC_OK;
}

/* NULL: *s is a sample of DCGM. */
static const struct import_reason *read_line(const char *p, size_t len, struct sample *s)
{
    const char *end = p + len;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t')) end--;
    p = skip_spaces(p, end);
    memset(s->label, 0, sizeof s->label);
    s->name = p;
    s->name_len = name_length(p, end);
    const bool dcgm = s->name_len > 8 && memcmp(p, "DCGM_FI_", 8) == 0;
    const struct import_reason *broken = dcgm ? &bad_sample : &not_a_sample;
    p = skip_spaces(p + s->name_len, end);
    if (s->name_len == 0 || p == end) return broken;
    if (*p == '{' && !(p = read_labels(p, end, s))) return broken;
    if (!read_value(p, end, &s->value)) return broken;
    if (!dcgm) return &other_metric;
    return is_blank(s->value) ? &no_value : NULL;
}

static bool of_the_card(const struct sample *s)
{
    char name[TEXT];
    snprintf(name, sizeof name, "%.*s", (int)(s->name_len < TEXT ? s->name_len : TEXT - 1),
             s->name);
    return str_starts(name, "DCGM_FI_DEV_") && !str_starts(name, "DCGM_FI_DEV_FB_") &&
           !str_ends(name, "_UTIL");
}

static int read_file(struct sig_set *set, const char *path, int file, struct err *e)
{
    const struct csv_format fmt = { .delimiter = '\x1f', .comment = '#' }; /* a line is one field */
    struct csv *csv;
    struct csv_row row;
    struct sample s;
    int rc = csv_open(&csv, path, &fmt, e);
    if (rc < 0) return rc;
    while ((rc = csv_next(csv, &row, e)) > 0) {
        const struct import_reason *why = read_line(row.text, row.len, &s);
        if (why) {
            sig_quarantine(set, why, file, row.line, row.text, row.len);
            if (why != &no_value) continue;
        }
        const char *label[SIG_LABELS];
        for (int l = 0; l < SIG_LABELS; l++) label[l] = s.label[l];
        struct sig_entity *entity = sig_find(set, SIG_ENTITY, label);
        struct sig_entity *card = sig_find(set, SIG_CARD, label);
        if (why) continue; /* no value, but somebody is there */
        sig_kept(set);
        sig_add(set, of_the_card(&s) ? card : entity, s.name, s.name_len, s.value);
    }
    csv_close(csv);
    return rc;
}

static double mean(const struct sig_set *set, const struct sig_entity *t, const char *field)
{
    const struct sig_stat *st = sig_get(set, t, field);
    return st ? st->sum / (double)st->n : NAN;
}

/* The ratio if it is there, else the percentage unless the card is cut into slices. */
static double activity(struct sig_set *set, struct sig_entity *t, const char *ratio,
                       const char *percent, const char **used)
{
    *used = NULL;
    if (sig_get(set, t, ratio)) {
        *used = ratio;
        return sig_check_range(set, t, ratio, 0, 1) ? mean(set, t, ratio) : NAN;
    }
    if (!percent || sig_label_of(t, SIG_mig_instance)[0] || !sig_get(set, t, percent)) return NAN;
    *used = percent;
    return sig_check_range(set, t, percent, 0, 100) ? mean(set, t, percent) / 100 : NAN;
}

static void measure(struct sig_set *set, struct sig_entity *t)
{
    const char *duty, *memory, *sm;
    struct sig_measure m;
    const struct sig_stat *fb = sig_get(set, t, "DCGM_FI_DEV_FB_USED");
    m.duty = activity(set, t, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_GPU_UTIL", &duty);
    m.memory = activity(set, t, "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_DEV_MEM_COPY_UTIL", &memory);
    m.sm = activity(set, t, "DCGM_FI_PROF_SM_ACTIVE", NULL, &sm);
    if (!isnan(m.sm) && !isnan(m.duty) && m.sm > m.duty)
        sig_flag(set, t, "SM-active %.9g above engine-active %.9g: no sm_width", m.sm, m.duty);
    const char slices = sig_label_of(t, SIG_mig_profile)[0];
    if (slices >= '2' && slices <= '9')
        sig_flag(set, t,
                 "engine-active of a slice may top out at 1/%c while one compute group works",
                 slices);
    m.footprint_bytes = fb ? fb->max * 1048576 : NAN;
    m.pcie_Bps =
        mean(set, t, "DCGM_FI_PROF_PCIE_TX_BYTES") + mean(set, t, "DCGM_FI_PROF_PCIE_RX_BYTES");
    const struct sig_stat *d = duty ? sig_get(set, t, duty) : NULL;
    snprintf(m.method, sizeof m.method, "DCGM, %llu samples: duty %s, memory %s, SMs %s",
             (unsigned long long)(d ? d->n : 0), duty ? duty + 8 : "unknown",
             memory ? memory + 8 : "unknown (counted as compute)", sm ? sm + 8 : "unknown");
    sig_measure(t, &m);
}

static int dcgm_document(struct import_document *out, const char *const *files, int n_files,
                         const void *options, struct err *e)
{
    struct sig_set *set = sig_create(out->quarantine, out->names);
    int rc = 0;
    bool pods = false, reserved = false;
    (void)options;
    for (int i = 0; i < n_files && rc == 0; i++) rc = read_file(set, files[i], i, e);
    if (rc == 0 && sig_count(set) == 0) {
        const struct loc at = { .file = files[0] };
        rc = err_set(e, ERR_INPUT, &at,
                     "expected Prometheus text with DCGM_FI_ samples, found none");
    }
    for (size_t i = 0; rc == 0 && i < sig_count(set); i++) {
        struct sig_entity *t = sig_at(set, i);
        if (sig_level_of(t) == SIG_CARD) continue;
        measure(set, t);
        pods |= sig_label_of(t, SIG_pod)[0] != '\0';
        reserved |= strstr(sig_label_of(t, SIG_namespace), "reservation") != NULL;
    }
    if (rc == 0 && reserved)
        sig_warn(set,
                 "pod labels name a reservation pod: the pods that share its card are not named");
    if (rc == 0 && !pods) sig_warn(set, "no sample names a pod: unknown, not idle");
    if (rc == 0) sig_document(set, "dcgm", out->names, n_files, out);
    sig_destroy(set);
    return rc;
}

static int dcgm_sniff(const char *head, size_t len)
{
    static const char *const signs[] = { "\nDCGM_FI_", "# HELP DCGM_FI_" };
    if (len > 8 && memcmp(head, "DCGM_FI_", 8) == 0) return 95;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (memmem(head, len, signs[i], strlen(signs[i]))) return 95;
    return 0;
}

const struct trace_format fmt_dcgm = {
    .name = "dcgm",
    .help = "DCGM exporter or Prometheus text: work signatures of cards, slices and pods",
    .sniff = dcgm_sniff,
    .document = dcgm_document,
};
