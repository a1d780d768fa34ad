/* gpusim gpu: one card with every precision, its memory, power, links and MIG profiles, and where
 * each value comes from; with a profile, what was calibrated on it. */
#include "base/log.h"
#include "cli/card.h"
#include "cli/command.h"
#include "model/mig.h"
#include "model/sheet.h"

#include <math.h>
#include <string.h>

#define GIB 1073741824.0

struct options {
    const char *profile;
    int format;
};

static const char *const formats[] = { "table", "json", NULL };
static const struct opt opts[] = {
    { "profile", 0, OPT_TEXT, offsetof(struct options, profile), "FILE",
      "also show the parameters calibrated on this card", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT", "how to print",
      formats },
    { 0 },
};

/* ---- JSON ---- */

static json_t *text_or_null(const char *s)
{
    return s ? json_string(s) : json_null();
}

static json_t *count_or_null(int n)
{
    return n ? json_integer(n) : json_null();
}

/* {"fp16": {"dense": 312, "sparse": 624}, ...}: TFLOPS, for int8 and int4 TOPS; null: no such mode,
 * or not published. `unpublished` gets the names of the latter. */
static json_t *peaks_json(const struct gpu_spec *g, json_t *unpublished)
{
    json_t *o = json_object();
    for (int p = 0; p < PREC_COUNT; p++) {
        const struct peak *k = &g->peak[p];
        json_object_set_new(o, precision_names[p],
                            json_pack("{s:o, s:o}", "dense", json_num(k->dense_ops / 1e12),
                                      "sparse", json_num(k->sparse_ops / 1e12)));
        if (isnan(k->dense_ops) && !k->none)
            json_array_append_new(unpublished, json_string(precision_names[p]));
    }
    return o;
}

static json_t *check_json(const struct peak_check *c)
{
    return json_pack("{s:o, s:o}", "calculated", json_num(c->calc_ops / 1e12), "off",
                     json_num(c->off));
}

static json_t *mig_profile_json(const struct gpu_spec *g, int i)
{
    const struct mig_profile *p = &g->mig->profile[i];
    json_t *starts = json_array();
    for (int k = 0; k < p->n_starts; k++) json_array_append_new(starts, json_integer(p->starts[k]));
    return json_pack(
        "{s:s, s:i, s:i, s:o, s:i, s:o, s:o, s:o, s:o}", "name", p->name, "compute_slices",
        p->compute_slices, "memory_units", p->memory_units, "starts", starts, "max_instances",
        p->max_instances, "sms", count_or_null(p->sms), "usable_bytes",
        p->usable_bytes ? json_integer((json_int_t)p->usable_bytes) : json_null(),
        "bandwidth_share", json_num(mig_bw_share(g, i)), "unverified", text_or_null(p->unverified));
}

static json_t *mig_json(const struct gpu_spec *g)
{
    if (!g->mig) return json_null();
    json_t *list = json_array();
    for (int i = 0; i < g->mig->n_profiles; i++)
        json_array_append_new(list, mig_profile_json(g, i));
    json_t *o = json_pack("{s:s, s:s, s:i, s:i, s:o, s:o}", "board", g->mig->board,
                          "placement_status", g->mig->placement_status, "compute_slices",
                          g->mig->compute_slices, "memory_units", g->mig->memory_units, "full_sms",
                          count_or_null(g->mig->full_sms), "profiles", list);
    json_t *sheet = json_object_get(g->sheet, "mig");
    json_object_set(o, "sources", json_object_get(sheet, "sources"));
    if (json_object_get(sheet, "note")) json_object_set(o, "note", json_object_get(sheet, "note"));
    return o;
}

/* {"power.idle": {"source": .., "provenance": ..}, ...} from every datum of the file. */
static json_t *sources_json(const struct gpu_spec *g)
{
    static const char *const sections[] = { "chip", "memory", "peak", "power", "link" };
    json_t *all = json_object(), *datum;
    const char *key;
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        json_object_foreach(json_object_get(g->sheet, sections[s]), key, datum)
        {
            const char *from = json_string_value(json_object_get(datum, "provenance"));
            char name[64];
            if (!json_is_object(datum)) continue;
            snprintf(name, sizeof name, "%s.%s", sections[s], key);
            json_object_set_new(all, name,
                                json_pack("{s:O, s:s}", "source", json_object_get(datum, "source"),
                                          "provenance",
                                          from ? from : provenance_names[PROV_PUBLISHED]));
        }
    }
    return all;
}

static json_t *param_json(const struct gpu_profile *p, int i)
{
    const struct profile_field *f = &profile_fields[i];
    const struct param *v = &p->param[i];
    return json_pack("{s:o, s:s, s:o, s:o, s:s, s:b, s:s}", "value", json_num(v->value), "unit",
                     f->unit, "low", json_num(v->low), "high", json_num(v->high), "provenance",
                     provenance_names[v->provenance], "of_this_card", p->from_file[i], "source",
                     v->source);
}

static json_t *width_json(const struct width_curve *w)
{
    json_t *points = json_array();
    for (size_t i = 0; i < w->n; i++)
        json_array_append_new(points,
                              json_pack("[o, o]", json_num(w->share[i]), json_num(w->speed[i])));
    return json_pack("{s:o, s:s, s:s}", "points", points, "provenance",
                     provenance_names[w->provenance], "source", w->source);
}

static json_t *profile_json(const struct gpu_profile *p)
{
    if (!p) return json_null();
    json_t *o = json_pack("{s:s, s:s}", "file", p->name, "gpu", p->gpu);
    json_object_set_new(o, "failed_checks", text_or_null(p->failed_checks));
    for (int i = 0; i < PROFILE_COUNT; i++) {
        if (isnan(p->param[i].value)) continue;
        json_t *group = json_object_get(o, profile_fields[i].group);
        if (!group) {
            group = json_object();
            json_object_set_new(o, profile_fields[i].group, group);
        }
        json_object_set_new(group, profile_fields[i].key, param_json(p, i));
    }
    if (p->width.n)
        json_object_set_new(json_object_get(o, "base"), "width_curve", width_json(&p->width));
    return o;
}

static void print_as_json(const struct gpu_spec *g, const struct gpu_profile *p)
{
    json_t *o = json_object(), *aliases = json_array(), *unpublished = json_array();
    for (int i = 0; i < g->n_aliases; i++)
        json_array_append_new(aliases, json_string(g->aliases[i]));
    json_object_set_new(o, "name", json_string(g->name));
    json_object_set_new(o, "model", json_string(g->model));
    json_object_set_new(o, "vendor", json_string(g->vendor));
    json_object_set_new(o, "arch", json_string(g->arch));
    json_object_set_new(o, "form", json_string(g->form));
    json_object_set_new(o, "release", text_or_null(g->release));
    json_object_set_new(o, "aliases", aliases);
    json_object_set_new(o, "note", text_or_null(g->note));
    json_object_set_new(o, "devices", json_integer(g->devices));
    json_object_set_new(o, "sms", count_or_null(g->sms));
    json_object_set_new(o, "boost_Hz", json_num(g->boost_Hz));
    json_object_set_new(o, "matrix_Hz", json_num(g->matrix_Hz));
    json_object_set_new(o, "memory_bytes", json_integer((json_int_t)g->memory_bytes));
    json_object_set_new(o, "usable_bytes", json_integer((json_int_t)g->usable_bytes));
    json_object_set_new(o, "memory_type", text_or_null(g->memory_type));
    json_object_set_new(o, "memory_Bps", json_num(g->mem_Bps));
    json_object_set_new(o, "peak", peaks_json(g, unpublished));
    json_object_set_new(o, "peak_unpublished", unpublished);
    json_object_set_new(o, "peak_check",
                        json_pack("{s:s, s:s, s:o, s:o}", "claim", peak_claim_names[g->claim],
                                  "meaning", peak_claim_meanings[g->claim], "fp32",
                                  check_json(&g->check_fp32), "fp16", check_json(&g->check_fp16)));
    json_object_set_new(o, "tdp_W", json_num(g->tdp_W));
    json_object_set_new(o, "idle_W", json_num(g->idle_W));
    json_object_set_new(o, "idle_context_W", json_num(g->idle_context_W));
    json_object_set_new(o, "busy_W", json_num(g->busy_W));
    json_object_set_new(o, "link", text_or_null(g->link));
    json_object_set_new(o, "link_Bps", json_num(g->link_Bps));
    json_object_set_new(o, "pcie", text_or_null(g->pcie));
    json_object_set_new(o, "pcie_Bps", json_num(g->pcie_Bps));
    json_object_set_new(o, "mig", mig_json(g));
    json_object_set_new(o, "sources", sources_json(g));
    json_object_set_new(o, "profile", profile_json(p));
    json_print(o);
}

/* ---- table ---- */

/* Source of a datum, with a mark when it is assumed. */
static const char *source(const struct gpu_spec *g, const char *section, const char *key, char *buf,
                          size_t size)
{
    json_t *datum = json_object_get(json_object_get(g->sheet, section), key);
    const char *s = json_string_value(json_object_get(datum, "source"));
    const char *from = json_string_value(json_object_get(datum, "provenance"));
    snprintf(buf, size, "%s%s%s%s", s ? "[" : "",
             from && strcmp(from, "assumed") == 0 ? "assumed: " : "", s ? s : "", s ? "]" : "");
    return buf;
}

static void row(const struct gpu_spec *g, const char *what, double value, const char *unit,
                const char *section, const char *key)
{
    char from[256];
    if (isnan(value)) {
        printf("  %-22s unknown\n", what);
        return;
    }
    source(g, section, key, from, sizeof from);
    printf("  %-22s %10.6g%s%s%s%s\n", what, value, *unit ? " " : "", unit, *from ? "  " : "",
           from);
}

static void cell(double ops, bool none)
{
    if (isnan(ops))
        printf(" %10s", none ? "none" : "-");
    else
        printf(" %10.6g", ops / 1e12);
}

static void print_peaks(const struct gpu_spec *g)
{
    char from[256];
    printf("\npeak                         dense     sparse\n");
    for (int p = 0; p < PREC_COUNT; p++) {
        const struct peak *k = &g->peak[p];
        printf("  %-20s", precision_names[p]);
        if (isnan(k->dense_ops)) {
            printf(" %10s\n", k->none ? "none" : "unknown");
            continue;
        }
        cell(k->dense_ops, false);
        cell(k->sparse_ops, true);
        source(g, "peak", precision_names[p], from, sizeof from);
        printf(" %s%s%s\n", precision_is_integer((enum precision)p) ? "TOPS" : "TFLOPS",
               *from ? "  " : "", from);
    }
    printf("  check of SMs x clock x operations: %s (%s)", peak_claim_names[g->claim],
           peak_claim_meanings[g->claim]);
    if (!isnan(g->check_fp32.off)) printf("; fp32 %+.1f %%", 100 * g->check_fp32.off);
    if (!isnan(g->check_fp16.off)) printf("; fp16 %+.1f %%", 100 * g->check_fp16.off);
    putchar('\n');
}

static void print_mig(const struct gpu_spec *g)
{
    const struct mig_geometry *m = g->mig;
    if (!m) {
        printf("\nMIG: none\n");
        return;
    }
    printf("\nMIG: %d compute slices, %d memory units, board %s, placement %s\n", m->compute_slices,
           m->memory_units, m->board, m->placement_status);
    printf("  %-14s %6s %5s %5s %10s  %-14s %3s\n", "profile", "slices", "units", "SMs", "GiB",
           "starts", "max");
    for (int i = 0; i < m->n_profiles; i++) {
        const struct mig_profile *p = &m->profile[i];
        char starts[64] = "", sms[16] = "?", gib[24] = "?";
        for (int k = 0; k < p->n_starts; k++)
            snprintf(starts + strlen(starts), sizeof starts - strlen(starts), "%s%d", k ? "," : "",
                     p->starts[k]);
        if (p->sms) snprintf(sms, sizeof sms, "%d", p->sms);
        if (p->usable_bytes) snprintf(gib, sizeof gib, "%.4g", (double)p->usable_bytes / GIB);
        printf("  %-14s %6d %5d %5s %10s  %-14s %3d%s%s\n", p->name, p->compute_slices,
               p->memory_units, sms, gib, starts, p->max_instances,
               p->unverified ? "  unverified: " : "", p->unverified ? p->unverified : "");
    }
}

static void print_profile(const struct gpu_spec *g, const struct gpu_profile *p)
{
    if (!p) return;
    printf("\nprofile %s, of %s\n", p->name, p->gpu);
    if (p->failed_checks) {
        printf("  IN DOUBT: self-checks failed when it was measured:\n");
        for (const char *at = p->failed_details; *at;) {
            const int n = (int)strcspn(at, "\n");
            printf("    %.*s\n", n, at);
            at += n + (at[n] != '\0');
        }
    }
    for (int i = 0; i < PROFILE_COUNT; i++) {
        const struct param *v = &p->param[i];
        char name[64];
        if (isnan(v->value)) continue;
        snprintf(name, sizeof name, "%s.%s", profile_fields[i].group, profile_fields[i].key);
        printf("  %-34s %12.6g %-8s", name, v->value, profile_fields[i].unit);
        if (!isnan(v->low)) printf(" %.6g to %.6g", v->low, v->high);
        printf("  %s%s", provenance_names[v->provenance], p->from_file[i] ? "" : " for any card");
        const double share = v->value / sheet_bound(g, (enum profile_param)i);
        if (!isnan(share)) printf(", %.0f %% of the sheet's", 100 * share);
        printf(" [%s]\n", v->source);
    }
    if (!p->width.n) return;
    printf("  %-34s speed on a share of the SMs:", "base.width_curve");
    for (size_t i = 0; i < p->width.n; i++)
        printf("%s %.3g on %.3g", i ? "," : "", p->width.speed[i], p->width.share[i]);
    printf("  %s [%s]\n", provenance_names[p->width.provenance], p->width.source);
}

static void print_as_table(const struct gpu_spec *g, const struct gpu_profile *p)
{
    printf("%s: %s, %s, %s%s%s\n", g->name, g->model, g->arch, g->form, g->release ? ", " : "",
           g->release ? g->release : "");
    for (int i = 0; i < g->n_aliases; i++) printf("%s%s", i ? ", " : "also: ", g->aliases[i]);
    if (g->n_aliases) putchar('\n');
    if (g->note) printf("note: %s\n", g->note);
    putchar('\n');
    row(g, "SMs or compute units", g->sms ? (double)g->sms : (double)NAN, "", "chip", "sms");
    row(g, "boost clock", g->boost_Hz / 1e6, "MHz", "chip", "boost_clock");
    if (g->matrix_Hz != g->boost_Hz)
        row(g, "matrix clock", g->matrix_Hz / 1e6, "MHz", "chip", "matrix_clock");
    row(g, "memory, nominal", (double)g->memory_bytes / GIB, "GiB", "memory", "nominal");
    row(g, "memory, usable", (double)g->usable_bytes / GIB, "GiB", "memory", "usable");
    row(g, "memory bandwidth", g->mem_Bps / 1e9, "GB/s", "memory", "bandwidth");
    row(g, "board power", g->tdp_W, "W", "power", "tdp");
    row(g, "idle", g->idle_W, "W", "power", "idle");
    row(g, "idle with a context", g->idle_context_W, "W", "power", "idle_context");
    row(g, "busy", g->busy_W, "W", "power", "busy");
    row(g, "link, both directions", g->link_Bps / 1e9, "GB/s", "link", "gpu");
    row(g, "PCIe, one direction", g->pcie_Bps / 1e9, "GB/s", "link", "pcie");
    print_peaks(g);
    print_mig(g);
    print_profile(g, p);
}

static int load_profile(const char *path, struct gpu_profile *out, struct arena *a,
                        struct json_doc *doc, const struct gpu_catalogue *c,
                        const struct gpu_spec *g, struct err *e)
{
    struct diag d;
    int rc = json_doc_load(doc, path, e);
    if (rc < 0) return rc;
    diag_init(&d);
    profile_read(out, a, doc, &d);
    if (d.count == 0 && gpu_find(c, out->gpu, NULL) != g)
        json_problem(&d, doc, "/gpu", "expected a profile of %s, found one of %s", g->name,
                     out->gpu);
    if (d.count == 0) sheet_check(g, out, doc, &d);
    rc = diag_result(&d, e);
    diag_fini(&d);
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { 0 };
    struct gpu_catalogue *c = NULL;
    struct json_doc doc = { 0 };
    struct gpu_profile profile;
    const struct gpu_spec *g;
    char **operand;
    int n, rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (n != 1) {
        rc = err_set(e, ERR_USAGE, NULL, "gpu: expected one card, found %d", n);
        err_hint(e, "\"gpusim list gpus\" names them");
        return rc;
    }
    struct arena *a = arena_create();
    rc = gpu_catalogue_load(&c, NULL, e);
    if (rc < 0) goto out;
    rc = card_find(c, operand[0], &g, e);
    if (rc == 0 && o.profile) rc = load_profile(o.profile, &profile, a, &doc, c, g, e);
    if (rc < 0) goto out;
    if (o.format == FORMAT_JSON)
        print_as_json(g, o.profile ? &profile : NULL);
    else
        print_as_table(g, o.profile ? &profile : NULL);
out:
    json_doc_fini(&doc);
    gpu_catalogue_destroy(c);
    arena_destroy(a);
    return rc;
}

const struct command cmd_gpu = {
    .name = "gpu",
    .args = "NAME",
    .help = "one card: every precision, memory, power, MIG profiles, and the source of each value",
    .example = "gpusim gpu a100-sxm4-80gb",
    .opts = opts,
    .run = run,
    .operand_list = "gpus",
};
