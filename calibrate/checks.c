#include "calibrate/checks.h"
#include "calibrate/timeslice.h"

#include <math.h>
#include <string.h>

static void say(json_t *list, FILE *to, const char *check, const char *status, const char *detail)
{
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s}", "check", check, "status", status, "detail", detail));
    fprintf(to, "check %-11s %s: %s\n", check, status, detail);
}

/* The switch between processes that fill the card, as those whose throughput is looked at do. */
static double full_switch(const struct profile_out *o)
{
    const double full = profile_out_value(o, "timeslice", "switch_full_us");
    return isnan(full) ? profile_out_value(o, "timeslice", "switch_us") : full;
}

static void check_efficiency(const struct profile_out *o, json_t *list, FILE *to)
{
    const double q = profile_out_value(o, "timeslice", "quantum_us");
    const double c = full_switch(o);
    const struct estimate *kept = profile_out_estimate(o, "timeslice", "kept_compute_2");
    char detail[200];
    if (isnan(q) || isnan(c) || !kept) {
        say(list, to, "efficiency", "not made", "turns or throughput were not measured");
        return;
    }
    const double implied = q / (q + c);
    const bool agrees =
        (implied >= kept->low && implied <= kept->high) || fabs(implied - kept->median) <= 0.03;
    snprintf(detail, sizeof detail,
             "turns of %.4g us and switches of %.4g us imply %.4f, two processes kept %.4f "
             "[%.4f, %.4f]",
             q, c, implied, kept->median, kept->low, kept->high);
    say(list, to, "efficiency", agrees ? "passed" : "failed", detail);
}

/* TS-5: two processes with kernels of 1 ms and gaps between them. Mean value analysis is exact
 * for random times; equal times fall into step and wait less, at best not at all (the asymptotic
 * bound, Muntz and Wong 1974). In between, or off by 0.1 at most. What a switch costs meets a
 * turn, or each kernel where turns are longer: a process whose kernel has ended gives the card
 * away (at the most; at the least each whole turn). */
static void check_gaps(const struct profile_out *o, json_t *list, FILE *to)
{
    static const struct {
        const char *key;
        double us;
    } gap[] = { { "kept_gap_100us_2", 100 },
                { "kept_gap_300us_2", 300 },
                { "kept_gap_1ms_2", 1000 },
                { "kept_gap_3ms_2", 3000 } };
    const double q = profile_out_value(o, "timeslice", "quantum_us"), c = full_switch(o);
    char detail[240];
    double most = -1;
    bool agrees = true;
    for (size_t i = 0; i < sizeof gap / sizeof *gap; i++) {
        const struct estimate *kept = profile_out_estimate(o, "timeslice", gap[i].key);
        if (isnan(q) || isnan(c) || !kept) continue;
        const double random = slice_mva(2, gap[i].us, 1000, c / fmin(q, 1000));
        const double bound = fmin(2, (gap[i].us + 1000) / (1000 * (1 + c / q)));
        const double off = fmax(0, fmax(random - kept->high, kept->low - bound));
        agrees &= off <= 0.1;
        if (off <= most) continue;
        most = off;
        snprintf(
            detail, sizeof detail,
            "two processes with gaps kept %.4f [%.4f, %.4f] of one, mean value analysis: %.4f, "
            "without waiting: %.4f (%s, the farthest off)",
            kept->median, kept->low, kept->high, random, bound, gap[i].key);
    }
    if (most < 0)
        say(list, to, "gaps", "not made", "turns or throughput with gaps were not measured");
    else
        say(list, to, "gaps", agrees ? "passed" : "failed", detail);
}

static void check_sums(const struct profile_out *o, json_t *list, FILE *to)
{
    static const char *const kind[] = { "compute", "memory", "small" };
    enum { KINDS = sizeof kind / sizeof *kind, COUNTS = 7 }; /* 2 to 8 processes */
    char detail[120], key[40], whose[40] = "";
    double most = NAN;
    for (int i = 0; i < KINDS * COUNTS; i++) {
        snprintf(key, sizeof key, "kept_%s_%d", kind[i / COUNTS], 2 + i % COUNTS);
        const double v = profile_out_value(o, "timeslice", key);
        if (isnan(v) || v <= most) continue;
        most = v;
        memcpy(whose, key, sizeof whose);
    }
    if (isnan(most)) {
        say(list, to, "sums", "not made",
            "throughput of processes that take turns was not measured");
        return;
    }
    snprintf(detail, sizeof detail, "at most %.4f of one alone (%s)", most, whose);
    say(list, to, "sums", most <= 1.02 ? "passed" : "failed", detail);
}

static void check_rerun(const struct profile_out *o, const struct profile_out *again, json_t *list,
                        FILE *to)
{
    static const char *const key[] = { "launch_us", "launch_sync_us", "mem_Bps" };
    char detail[120];
    double most = NAN;
    const char *whose = "";
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        const double off = fabs(
            profile_out_value(again, "base", key[i]) / profile_out_value(o, "base", key[i]) - 1);
        if (isnan(off) || off <= most) continue;
        most = off;
        whose = key[i];
    }
    if (isnan(most)) {
        say(list, to, "rerun", "not made", "neither launches nor bandwidth were measured twice");
        return;
    }
    snprintf(detail, sizeof detail, "at most %.2f %% off after everything else (%s)", 100 * most,
             whose);
    say(list, to, "rerun", most <= 0.03 ? "passed" : "failed", detail);
}

static void check_bounds(const struct profile_out *o, json_t *list, FILE *to)
{
    const char *first = NULL;
    char detail[400];
    const size_t n = profile_out_implausible(o, &first);
    if (n == 0)
        snprintf(detail, sizeof detail, "nothing is beyond what the card or its sheet allows");
    else
        snprintf(detail, sizeof detail, "%zu figures are beyond it, first: %.300s", n, first);
    say(list, to, "bounds", n ? "failed" : "passed", detail);
}

static void check_drift(const struct profile_out *o, json_t *list, FILE *to)
{
    const char *key = "";
    char detail[120];
    const double most = profile_out_drift(o, &key);
    if (isnan(most)) {
        say(list, to, "drift", "not made", "no parameter has 8 samples");
        return;
    }
    snprintf(detail, sizeof detail, "at most %.2f %% (%.60s)", 100 * most, key);
    say(list, to, "drift", most <= 0.03 ? "passed" : "failed", detail);
}

json_t *self_checks(const struct profile_out *o, const struct profile_out *again, FILE *to)
{
    json_t *list = json_array();
    check_efficiency(o, list, to);
    check_gaps(o, list, to);
    check_sums(o, list, to);
    check_rerun(o, again, list, to);
    check_bounds(o, list, to);
    check_drift(o, list, to);
    return list;
}
