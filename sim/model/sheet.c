#include "model/sheet.h"

#include <math.h>

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

void sheet_check(const struct gpu_spec *g, const struct gpu_profile *p, const struct json_doc *doc,
                 struct diag *d)
{
    for (int i = 0; i < PROFILE_COUNT; i++) {
        const struct profile_field *f = &profile_fields[i];
        const double bound = sheet_bound(g, (enum profile_param)i);
        char at[160];
        if (!(stated(p, (enum profile_param)i) > bound * (1 + PEAK_TOLERANCE))) continue;
        snprintf(at, sizeof at, "/%s/%s", f->group, f->key);
        json_problem(d, doc, at, "expected at most what the data sheet of %s says, %g %s, found %g",
                     g->name, bound, f->unit, p->param[i].value);
    }
    in_order(p, PROFILE_power_idle_W, PROFILE_power_context_W, doc, d);
    in_order(p, PROFILE_power_context_W, PROFILE_power_busy_W, doc, d);
    in_order(p, PROFILE_power_idle_W, PROFILE_power_busy_W, doc, d);
}
