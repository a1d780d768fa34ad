#include "calibrate/checks.h"

#include <math.h>

static void say(json_t *list, FILE *to, const char *check, const char *status, const char *detail)
{
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s}", "check", check, "status", status, "detail", detail));
    fprintf(to, "check %-11s %s: %s\n", check, status, detail);
}

static void check_efficiency(const struct profile_out *o, json_t *list, FILE *to)
{
    const double q = profile_out_value(o, "timeslice", "quantum_us");
    const double c = profile_out_value(o, "timeslice", "switch_us");
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

json_t *self_checks(const struct profile_out *o, FILE *to)
{
    json_t *list = json_array();
    check_efficiency(o, list, to);
    check_bounds(o, list, to);
    check_drift(o, list, to);
    return list;
}
