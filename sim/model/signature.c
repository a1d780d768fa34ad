/* model/signature.c - the keys of a work signature and the checks across them. */
#include "model/signature.h"

#include <math.h>

/* Short for a member whose key is not its name, or that has no default. */
#define KEY(key_, member_, type_, dflt_, min_, max_, help_)                                        \
    {                                                                                              \
        .name = key_, .type = type_, .offset = offsetof(struct signature, member_), .dflt = dflt_, \
        .min = min_, .max = max_, .help = help_                                                    \
    }

const struct cfg_field signature_fields[] = {
    KEY("host", host, CFG_RATIO, "0", 0, 1, "share of the isolated time off the card"),
    KEY("compute", compute, CFG_RATIO, "1", 0, 1, "share bound by the SMs"),
    KEY("memory", memory, CFG_RATIO, "0", 0, 1, "share bound by memory bandwidth"),
    KEY("sm_width", sm_width, CFG_RATIO, NULL, 0, 1,
        "share of the SMs its kernels can fill; default min(1, gpus)"),
    KEY("bw_width", bw_width, CFG_RATIO, NULL, 0, 1,
        "share of the bandwidth they can use; default min(1, gpus)"),
    KEY("launches_per_s", launches_per_s, CFG_REAL, "0", 0, 1e7, "kernel launches per second"),
    KEY("allocs_per_s", allocs_per_s, CFG_REAL, "0", 0, 1e6,
        "memory allocations per second that reach the driver"),
    KEY("graphs", graphs, CFG_RATIO, "0", 0, 1,
        "share of its time on the card that CUDA graphs launch: a token bucket cannot stop them"),
    KEY("syncs_per_s", syncs_per_s, CFG_REAL, "0", 0, 1e7,
        "calls per second that wait for the card"),
    KEY("kernel_us", kernel_us, CFG_REAL, NULL, 0, 1e9, "mean kernel length in microseconds"),
    { .name = "pcie",
      .type = CFG_QTY,
      .offset = offsetof(struct signature, pcie_Bps),
      .dflt = "0 B/s",
      .min = 0,
      .max = 1e13,
      .help = "traffic between host and card",
      .dim = UNIT_RATE },
    KEY("flops_per_s", flops_per_s, CFG_REAL, NULL, 0, 1e18,
        "useful operations per second; without it effective TFLOP/s is an upper bound"),
    KEY("footprint", footprint_bytes, CFG_BYTES, NULL, 0, 1e15, "card memory the job holds"),
    KEY("mem_grow", mem_grow, CFG_TIME, "0 s", 0, SIM_MAX_S,
        "the footprint is allocated this long after the start"),
    { .name = "precision",
      .type = CFG_CHOICE,
      .offset = offsetof(struct signature, precision),
      .dflt = "fp32",
      .help = "number format of its arithmetic",
      .choices = precision_names },
    KEY("source", source, CFG_TEXT, NULL, 0, 0, "where the numbers come from"),
};
const size_t signature_fields_n = sizeof signature_fields / sizeof *signature_fields;

struct signature signature_default(void)
{
    return (struct signature){
        .compute = 1,
        .sm_width = NAN,
        .bw_width = NAN,
        .kernel_us = NAN,
        .flops_per_s = NAN,
        .footprint_bytes = CFG_NO_BYTES,
        .precision = PREC_fp32,
    };
}

static void check_width(const struct json_doc *doc, const char *pointer, const char *key, double v,
                        struct diag *d)
{
    char at[512];
    if (v <= 0) /* false for NAN: not stated */
        json_problem(d, doc, json_pointer_key(at, sizeof at, pointer, key),
                     "%s is a share above 0 and at most 1, found %g", key, v);
}

void signature_read(struct signature *out, struct arena *a, const struct json_doc *doc, json_t *obj,
                    const char *pointer, struct diag *d)
{
    size_t before = d->count;
    cfg_read(signature_fields, signature_fields_n, out, a, doc, obj, pointer, NULL, 0, d);
    out->name = NULL;
    if (d->count != before) return;
    double sum = out->host + out->compute + out->memory;
    if (fabs(sum - 1) > SIGNATURE_SUM_TOLERANCE)
        json_problem(d, doc, pointer,
                     "host + compute + memory must be 1, found %g + %g + %g = %.6g", out->host,
                     out->compute, out->memory, sum);
    check_width(doc, pointer, "sm_width", out->sm_width, d);
    check_width(doc, pointer, "bw_width", out->bw_width, d);
    char at[512];
    if (out->kernel_us <= 0)
        json_problem(d, doc, json_pointer_key(at, sizeof at, pointer, "kernel_us"),
                     "kernel_us is above 0, found %g", out->kernel_us);
    if (out->kernel_us * 1e-6 * out->launches_per_s > SIGNATURE_KERNELS)
        json_problem(d, doc, json_pointer_key(at, sizeof at, pointer, "kernel_us"),
                     "launches_per_s x kernel_us are %.4g kernels at once; a card runs at most %d",
                     out->kernel_us * 1e-6 * out->launches_per_s, SIGNATURE_KERNELS);
    if (out->flops_per_s <= 0)
        json_problem(d, doc, json_pointer_key(at, sizeof at, pointer, "flops_per_s"),
                     "flops_per_s is above 0; leave it out when it is unknown");
}
