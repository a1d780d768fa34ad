#include "model/sheet.h"

#include <math.h>

/* ECC in the memory itself takes a sixteenth (T4, L4: 15 of 16 GiB), the driver a few percent; a
 * slice, a virtual card or a quota leaves at most half as a rule. */
#define SEEN_BYTES 0.85

double sheet_bound(const struct gpu_spec *g, enum profile_param p)
{
    switch ((int)p) {
    case PROFILE_base_mem_Bps: return g->mem_Bps;
    case PROFILE_base_h2d_Bps:
    case PROFILE_base_d2h_Bps: return g->pcie_Bps;
    case PROFILE_base_gemm_fp64_flops:
        return fmax(g->peak[PREC_fp64].dense_ops, g->peak[PREC_fp64_tensor].dense_ops);
    case PROFILE_base_gemm_fp32_flops: return g->peak[PREC_fp32].dense_ops;
    case PROFILE_base_gemm_tf32_flops: return g->peak[PREC_tf32].dense_ops;
    case PROFILE_base_gemm_fp16_flops: return g->peak[PREC_fp16].dense_ops;
    case PROFILE_base_gemm_bf16_flops: return g->peak[PREC_bf16].dense_ops;
    case PROFILE_base_gemm_fp8_flops: return g->peak[PREC_fp8].dense_ops;
    case PROFILE_base_gemm_int8_ops: return g->peak[PREC_int8].dense_ops;
    case PROFILE_power_idle_W:
    case PROFILE_power_context_W:
    case PROFILE_power_busy_W: return g->tdp_W;
    }
    return NAN;
}

/* Where the file states it; else NAN. */
static double stated(const struct gpu_profile *p, enum profile_param i)
{
    return p->from_file[i] ? p->param[i].value : NAN;
}

static void in_order(const struct gpu_profile *p, enum profile_param low, enum profile_param high,
                     const struct json_doc *doc, struct diag *d)
{
    char at[64];
    if (!(stated(p, low) > stated(p, high))) return;
    snprintf(at, sizeof at, "/power/%s", profile_fields[low].key);
    json_problem(d, doc, at, "expected at most %s, %g W, found %g W", profile_fields[high].key,
                 stated(p, high), stated(p, low));
}

/* What the driver said about the device that was measured: a part of a card is not the card.
 * "device" of a file by hand may hold anything, or be absent. */
static void whole_card(const struct gpu_spec *g, const struct json_doc *doc, struct diag *d)
{
    const json_t *device = json_object_get(doc->root, "device");
    const json_t *sms = json_object_get(device, "sms"),
                 *bytes = json_object_get(device, "memory_bytes");
    /* on one board, each a device of its own */
    const int logical = g->devices > 1 ? g->devices : 1;
    const bool as_described =
        json_is_integer(sms) && g->sms > 0 && json_integer_value(sms) == g->sms / logical;

    if (json_is_true(json_object_get(device, "mig_instance")) && (g->mig || !as_described))
        json_problem(
            d, doc, "/device/mig_instance",
            "expected a profile of a whole %s, found one measured inside a MIG instance; measure the "
            "board with MIG mode off, or describe the slice as a card of its own",
            g->name);
    else if (json_is_integer(sms) && g->sms > 0 && !as_described)
        json_problem(
            d, doc, "/device/sms",
            "expected the %d SMs of a whole %s, found %lld: a slice, a capped client of MPS or "
            "another card was measured",
            g->sms / logical, g->name, (long long)json_integer_value(sms));
    else if (json_is_integer(bytes) &&
             (double)json_integer_value(bytes) < SEEN_BYTES * (double)g->memory_bytes / logical)
        json_problem(
            d, doc, "/device/memory_bytes",
            "expected most of the %.4g GiB of a whole %s, found %.4g GiB: a virtual card, a memory "
            "quota or another card was measured",
            (double)g->memory_bytes / logical / (1 << 30), g->name,
            (double)json_integer_value(bytes) / (1 << 30));
}

void sheet_check(const struct gpu_spec *g, const struct gpu_profile *p, const struct json_doc *doc,
                 struct diag *d)
{
    for (int i = 0; i < PROFILE_COUNT; i++) {
        const struct profile_field *f = &profile_fields[i];
        const double bound = sheet_bound(g, (enum profile_param)i);
        const double most = bound * (1 + PEAK_TOLERANCE);
        const bool value = stated(p, (enum profile_param)i) > most;
        char at[160];
        if (!value && !(p->from_file[i] && p->param[i].high > most)) continue;
        snprintf(at, sizeof at, "/%s/%s", f->group, f->key);
        json_problem(d, doc, at,
                     "expected at most what the data sheet of %s says, %g %s, found %s%g", g->name,
                     bound, f->unit, value ? "" : "\"high\" ",
                     value ? p->param[i].value : p->param[i].high);
    }
    whole_card(g, doc, d);
    in_order(p, PROFILE_power_idle_W, PROFILE_power_context_W, doc, d);
    in_order(p, PROFILE_power_context_W, PROFILE_power_busy_W, doc, d);
    in_order(p, PROFILE_power_idle_W, PROFILE_power_busy_W, doc, d);
}
