/* fmt_nvidia_smi.c - `nvidia-smi -q -x` documents, one or many in a row (-l), schema v11, v12 and
 * v13 (the power tags moved between them), read by expat.
 *
 *   duty    utilization/gpu_util (time with any kernel resident: an upper bound of the work)
 *   memory  utilization/memory_util (time the memory was read or written: an upper bound)
 *   bytes   fb_memory_usage/used; pci/tx_util + rx_util (1 KB = 1000 B)
 * "N/A" is no value: utilisation under MIG, power of modules on most cards. A MIG device has memory
 * of its own and nothing else; it gives no signature, and neither does its card. */
#include "traces/signatures.h"
#include "traces/wholefile.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/vec.h"

#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct import_reason bad_value = {
    "bad-value", "an element that is neither a number with its unit nor N/A", false
};

enum { PATH = 256, TEXT = 256 };

static void *resize(void *p, size_t bytes)
{
    return xreallocarray(p, bytes, 1);
}

static const XML_Memory_Handling_Suite suite = { xmalloc, resize, free }; /* which do not fail */

/* Paths below <gpu>, or below <mig_device> (mig). */
static const struct element {
    const char *path, *unit, *field;
    enum sig_level level;
    bool mig;
    double scale;
} elements[] = {
    { "utilization/gpu_util", "%", "gpu_util_percent", SIG_ENTITY, false, 1 },
    { "utilization/memory_util", "%", "memory_util_percent", SIG_ENTITY, false, 1 },
    { "fb_memory_usage/total", "MiB", "fb_total_MiB", SIG_ENTITY, false, 1 },
    { "fb_memory_usage/reserved", "MiB", "fb_reserved_MiB", SIG_ENTITY, false, 1 },
    { "fb_memory_usage/used", "MiB", "fb_used_MiB", SIG_ENTITY, false, 1 },
    { "fb_memory_usage/free", "MiB", "fb_free_MiB", SIG_ENTITY, false, 1 },
    { "pci/tx_util", "KB/s", "pcie_tx_Bps", SIG_ENTITY, false, 1000 },
    { "pci/rx_util", "KB/s", "pcie_rx_Bps", SIG_ENTITY, false, 1000 },
    { "power_readings/power_draw", "W", "power_draw_W", SIG_CARD, false, 1 },     /* v11 */
    { "gpu_power_readings/power_draw", "W", "power_draw_W", SIG_CARD, false, 1 }, /* v12 */
    { "gpu_power_readings/average_power_draw", "W", "average_power_draw_W", SIG_CARD, false, 1 },
    { "gpu_power_readings/instant_power_draw", "W", "instant_power_draw_W", SIG_CARD, false, 1 },
    { "module_power_readings/power_draw", "W", "module_power_draw_W", SIG_CARD, false, 1 },
    { "module_power_readings/average_power_draw", "W", "module_average_power_draw_W", SIG_CARD,
      false, 1 },
    { "module_power_readings/instant_power_draw", "W", "module_instant_power_draw_W", SIG_CARD,
      false, 1 },
    { "temperature/gpu_temp", "C", "gpu_temp_C", SIG_CARD, false, 1 },
    { "temperature/memory_temp", "C", "memory_temp_C", SIG_CARD, false, 1 },
    { "clocks/sm_clock", "MHz", "sm_clock_MHz", SIG_CARD, false, 1 },
    { "clocks/mem_clock", "MHz", "mem_clock_MHz", SIG_CARD, false, 1 },
    { "fb_memory_usage/total", "MiB", "fb_total_MiB", SIG_ENTITY, true, 1 },
    { "fb_memory_usage/reserved", "MiB", "fb_reserved_MiB", SIG_ENTITY, true, 1 },
    { "fb_memory_usage/used", "MiB", "fb_used_MiB", SIG_ENTITY, true, 1 },
    { "fb_memory_usage/free", "MiB", "fb_free_MiB", SIG_ENTITY, true, 1 },
    { "device_attributes/shared/multiprocessor_count", "", "multiprocessors", SIG_ENTITY, true, 1 },
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

/* Values of one <gpu> or <mig_device>, until it is known who that is (its uuid comes late). */
struct device {
    double value[ELEMENTS]; /* NAN: none */
    char model[TEXT], uuid[TEXT], instance[TEXT], compute[TEXT];
    int line;
};

struct smi {
    struct sig_set *set;
    XML_Parser parser;
    int file, line_before;                    /* lines in front of this document */
    char path[PATH];                          /* below <gpu> or <mig_device> */
    size_t depth, gpu_depth, mig_depth, lost; /* lost: levels whose name found no room in path */
    char text[TEXT];
    size_t text_len;
    bool text_cut, root_seen, done;
    XML_Index end; /* of the root element */
    struct device gpu, mig;
    VEC(struct device) slices; /* of the present <gpu> */
    size_t gpus;
};

static void clear(struct device *d)
{
    memset(d, 0, sizeof *d);
    for (int i = 0; i < ELEMENTS; i++) d->value[i] = NAN;
}

static int line_of(const struct smi *s)
{
    return s->line_before + (int)XML_GetCurrentLineNumber(s->parser);
}

/* ---- elements ---------------------------------------------------------------------------------- */

static void XMLCALL on_start(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
    struct smi *s = ctx;
    (void)attributes;
    s->depth++;
    s->text_len = 0;
    s->text_cut = false;
    if (s->depth == 1) {
        s->root_seen = strcmp(name, "nvidia_smi_log") == 0;
        if (!s->root_seen) XML_StopParser(s->parser, XML_FALSE);
    } else if (s->depth == 2 && strcmp(name, "gpu") == 0) {
        s->gpu_depth = s->depth;
        s->path[0] = '\0';
        clear(&s->gpu);
        s->gpu.line = line_of(s);
        s->slices.n = 0;
    } else if (s->gpu_depth && !s->mig_depth && strcmp(name, "mig_device") == 0) {
        s->mig_depth = s->depth;
        s->path[0] = '\0';
        clear(&s->mig);
        s->mig.line = line_of(s);
    } else if (s->gpu_depth) {
        const size_t at = strlen(s->path), len = strlen(name);
        if (s->lost || at + len + 2 > PATH) {
            s->lost++;
            return;
        }
        snprintf(s->path + at, PATH - at, "%s%s", at ? "/" : "", name);
    }
}

static void XMLCALL on_text(void *ctx, const XML_Char *text, int len)
{
    struct smi *s = ctx;
    const size_t room = TEXT - 1 - s->text_len, n = (size_t)len < room ? (size_t)len : room;
    memcpy(s->text + s->text_len, text, n);
    s->text_len += n;
    s->text[s->text_len] = '\0';
    s->text_cut |= n < (size_t)len;
}

static bool not_available(const char *s)
{
    static const char *const words[] = { "",
                                         "N/A",
                                         "[N/A]",
                                         "None",
                                         "Not Supported",
                                         "[Not Supported]",
                                         "Not Available",
                                         "[Unknown Error]",
                                         "Unknown Error",
                                         "Insufficient Permissions",
                                         "Requested functionality has been deprecated",
                                         "[Requested functionality has been deprecated]" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(s, words[i]) == 0) return true;
    return false;
}

static char *trimmed(struct smi *s)
{
    char *p = s->text;
    while (s->text_len > 0 && strchr(" \t\r\n", p[s->text_len - 1])) s->text_len--;
    p[s->text_len] = '\0';
    while (*p && strchr(" \t\r\n", *p)) p++;
    return p;
}

static void read_number(struct smi *s, int i, struct device *d, const char *text)
{
    const char *unit = elements[i].unit, *gap = strchr(text, ' ');
    const size_t len = gap ? (size_t)(gap - text) : strlen(text);
    double v;
    if (not_available(text)) return;
    if (s->text_cut || dec_double(text, len, &v) != DEC_OK ||
        strcmp(gap ? gap + 1 : "", unit) != 0) {
        sig_quarantine(s->set, &bad_value, s->file, line_of(s), text, strlen(text));
        return;
    }
    sig_kept(s->set);
    d->value[i] = v * elements[i].scale;
}

static void read_element(struct smi *s)
{
    const bool mig = s->mig_depth != 0;
    struct device *d = mig ? &s->mig : &s->gpu;
    const char *text = trimmed(s);
    if (!mig && strcmp(s->path, "product_name") == 0) strcpy(d->model, text);
    if (!mig && strcmp(s->path, "uuid") == 0) strcpy(d->uuid, text);
    if (mig && strcmp(s->path, "gpu_instance_id") == 0) strcpy(d->instance, text);
    if (mig && strcmp(s->path, "compute_instance_id") == 0) strcpy(d->compute, text);
    for (int i = 0; i < ELEMENTS; i++)
        if (elements[i].mig == mig && strcmp(elements[i].path, s->path) == 0)
            read_number(s, i, d, text);
}

/* ---- devices ----------------------------------------------------------------------------------- */

static void add_values(struct smi *s, const struct device *d, struct sig_entity *entity,
                       struct sig_entity *card, bool mig)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (elements[i].mig == mig && !isnan(d->value[i]))
            sig_add(s->set, elements[i].level == SIG_CARD ? card : entity, elements[i].field,
                    strlen(elements[i].field), d->value[i]);
}

static void end_gpu(struct smi *s)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", s->gpus++);
    const char *label[SIG_LABELS] = {
        [SIG_uuid] = s->gpu.uuid, [SIG_gpu] = number, [SIG_model] = s->gpu.model
    };
    struct sig_entity *card = sig_find(s->set, SIG_CARD, label),
                      *entity = sig_find(s->set, SIG_ENTITY, label);
    add_values(s, &s->gpu, entity, card, false);
    for (size_t i = 0; i < s->slices.n; i++) {
        char instance[2 * TEXT + 2];
        const struct device *m = &s->slices.v[i];
        snprintf(instance, sizeof instance, "%s.%s", m->instance, m->compute);
        label[SIG_mig_instance] = instance;
        add_values(s, m, sig_find(s->set, SIG_ENTITY, label), card, true);
    }
    s->gpu_depth = 0;
}

static void XMLCALL on_end(void *ctx, const XML_Char *name)
{
    struct smi *s = ctx;
    (void)name;
    if (s->depth == 1) {
        s->done = true;
        s->end = XML_GetCurrentByteIndex(s->parser) + XML_GetCurrentByteCount(s->parser);
        XML_StopParser(s->parser, XML_FALSE);
    } else if (s->depth == s->mig_depth) {
        vec_push(&s->slices, s->mig);
        s->mig_depth = 0;
        strcpy(s->path, "mig_devices");
    } else if (s->depth == s->gpu_depth) {
        end_gpu(s);
    } else if (s->gpu_depth && s->lost) {
        s->lost--;
    } else if (s->gpu_depth) {
        read_element(s);
        char *slash = strrchr(s->path, '/');
        *(slash ? slash : s->path) = '\0';
    }
    s->text_len = 0;
    s->depth--;
}

/* ---- files ------------------------------------------------------------------------------------- */

static int parse_one(struct smi *s, const char *file, const char *text, size_t len, size_t *used,
                     struct err *e)
{
    s->depth = s->gpu_depth = s->mig_depth = s->lost = s->text_len = s->gpus = 0;
    s->done = s->root_seen = false;
    s->path[0] = '\0';
    XML_SetUserData(s->parser, s);
    XML_SetElementHandler(s->parser, on_start, on_end);
    XML_SetCharacterDataHandler(s->parser, on_text);
    enum XML_Status st = XML_Parse(s->parser, text, (int)len, 1);
    if (s->done) {
        *used = (size_t)s->end;
        return 0;
    }
    const struct loc at = { .file = file, .line = line_of(s) };
    if (s->depth == 1 && !s->root_seen)
        return err_set(e, ERR_INPUT, &at, "expected <nvidia_smi_log>, found another XML document");
    const enum XML_Error why = XML_GetErrorCode(s->parser);
    if (st != XML_STATUS_OK && s->depth > 0 &&
        (why == XML_ERROR_NO_ELEMENTS || why == XML_ERROR_UNCLOSED_TOKEN ||
         why == XML_ERROR_PARTIAL_CHAR || why == XML_ERROR_UNCLOSED_CDATA_SECTION)) {
        err_set(e, ERR_INPUT, &at, "the document is cut off: the file ends %zu elements deep",
                s->depth);
        err_hint(e, "was the query or the copy interrupted?");
        return ERR_INPUT;
    }
    return err_set(e, ERR_INPUT, &at, "this is not an nvidia-smi document: %s",
                   st == XML_STATUS_OK ? "no element" : XML_ErrorString(why));
}

static int read_file(struct smi *s, const char *path, int file, struct err *e)
{
    char *text;
    size_t len, at = 0, used = 0;
    int rc = wholefile_read(&text, &len, path, "an nvidia-smi document", e);
    if (rc < 0) return rc;
    s->file = file;
    s->line_before = 0;
    while (rc == 0) { /* documents in a row */
        for (; at < len && strchr(" \t\r\n", text[at]) && text[at]; at++)
            s->line_before += text[at] == '\n';
        if (at == len && used > 0) break;
        s->parser = XML_ParserCreate_MM(NULL, &suite, NULL);
        rc = parse_one(s, path, text + at, len - at, &used, e);
        XML_ParserFree(s->parser);
        for (size_t i = 0; rc == 0 && i < used; i++) s->line_before += text[at + i] == '\n';
        at += used;
    }
    free(text);
    return rc;
}

static double percent(struct sig_set *set, struct sig_entity *t, const char *field)
{
    const struct sig_stat *st = sig_get(set, t, field);
    return st && sig_check_range(set, t, field, 0, 100) ? st->sum / (double)st->n / 100 : NAN;
}

static void measure(struct sig_set *set, struct sig_entity *t)
{
    const struct sig_stat *used = sig_get(set, t, "fb_used_MiB"),
                          *tx = sig_get(set, t, "pcie_tx_Bps"),
                          *rx = sig_get(set, t, "pcie_rx_Bps"),
                          *util = sig_get(set, t, "gpu_util_percent");
    struct sig_measure m = {
        .duty = percent(set, t, "gpu_util_percent"),
        .memory = percent(set, t, "memory_util_percent"),
        .sm = NAN,
        .footprint_bytes = used ? used->max * 1048576 : NAN,
        .pcie_Bps = tx && rx ? tx->sum / (double)tx->n + rx->sum / (double)rx->n : NAN,
    };
    snprintf(m.method, sizeof m.method,
             "nvidia-smi, %llu samples: duty gpu_util, memory memory_util (both upper bounds)",
             (unsigned long long)(util ? util->n : 0));
    sig_measure(t, &m);
}

static int smi_document(struct import_document *out, const char *const *files, int n_files,
                        const void *options, struct err *e)
{
    struct smi s = { .set = sig_create(out->quarantine, out->names) };
    int rc = 0;
    (void)options;
    for (int i = 0; i < n_files && rc == 0; i++) rc = read_file(&s, files[i], i, e);
    if (rc == 0 && sig_count(s.set) == 0) {
        const struct loc at = { .file = files[0] };
        rc = err_set(e, ERR_INPUT, &at, "expected <gpu> elements, found none");
    }
    for (size_t i = 0; rc == 0 && i < sig_count(s.set); i++)
        if (sig_level_of(sig_at(s.set, i)) == SIG_ENTITY) measure(s.set, sig_at(s.set, i));
    if (rc == 0) sig_document(s.set, "nvidia-smi", out->names, n_files, out);
    vec_fini(&s.slices);
    sig_destroy(s.set);
    return rc;
}

static int smi_sniff(const char *head, size_t len)
{
    static const char sign[] = "nvidia_smi_log";
    return len > 0 && head[0] == '<' && memmem(head, len, sign, sizeof sign - 1) ? 95 : 0;
}

const struct trace_format fmt_nvidia_smi = {
    .name = "nvidia-smi",
    .help = "nvidia-smi -q -x (XML, v11 to v13): work signatures of cards",
    .sniff = smi_sniff,
    .document = smi_document,
};
