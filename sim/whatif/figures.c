#include "whatif/figures.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const fixed[] = {
    "gpu.count",
    "gpu.allocated",
    "gpu.duty",
    "gpu.sm_active",
    "gpu.memory",
    "gpu.stranded",
    "gpu.free",
    "gpu.down",
    "gpu.energy_kwh",
    "gpu.fragmentation",
    "jobs.submitted",
    "jobs.completed",
    "jobs.failed",
    "jobs.failed_oom",
    "jobs.preemptions",
    "jobs.resizes",
    "jobs.deadlines_met",
    "jobs.deadlines_missed",
    "jobs.killed",
    "jobs.rejected",
    "jobs.running",
    "jobs.queued",
    "jobs.gpu_hours",
    "jobs.useful_gpu_hours",
    "jobs.wait_s.mean",
    "jobs.wait_s.p50",
    "jobs.wait_s.p90",
    "jobs.wait_s.p95",
    "jobs.wait_s.p99",
    "jobs.wait_s.max",
    "jobs.turnaround_s.mean",
    "jobs.turnaround_s.p50",
    "jobs.turnaround_s.p90",
    "jobs.turnaround_s.p95",
    "jobs.turnaround_s.p99",
    "jobs.turnaround_s.max",
    "jobs.slowdown.mean",
    "jobs.slowdown.p50",
    "jobs.slowdown.p90",
    "jobs.slowdown.p95",
    "jobs.slowdown.p99",
    "jobs.slowdown.max",
    "tco.total_usd",
    "tco.usd_per_year",
    "tco.npv_usd",
    "tco.usd_per_gpu_hour",
    "tco.usd_per_useful_gpu_hour",
    "tco.usd_per_job",
    "tco.energy_usd",
    "window_s",
    "end_s",
};
enum { N_FIXED = sizeof fixed / sizeof *fixed };

/* Below services.NAME. */
static const char *const of_service[] = {
    "completed",
    "dropped",
    "wait_ms.p99",
    "latency_ms.mean",
    "latency_ms.p99",
    "ttft_ms.p99",
    "tpot_ms.p99",
    "attainment",
    "goodput_per_s",
    "replicas_mean",
    "usd_per_million_requests",
};
enum { N_OF_SERVICE = sizeof of_service / sizeof *of_service };

/* ---- what a path names ---- */

/* Say what there is where the path leaves the result. */
static int no_such_figure(json_t *policy, const char *wanted, const char *option, struct err *e)
{
    char *path = xstrdup(wanted), *dot;
    const char *word = wanted, *names[64], *key;
    char list[160];
    json_t *up = NULL, *each;
    size_t n = 0;
    while (!up && (dot = strrchr(path, '.'))) {
        *dot = '\0';
        up = json_path_get(policy, path);
        word = wanted + (dot - path) + 1;
    }
    if (!up) {
        up = policy;
        word = wanted;
    }
    char *part = xstrndup(word, strcspn(word, "."));
    json_object_foreach(up, key, each)
    {
        if (n < 64) names[n++] = key;
    }
    err_set(e, ERR_USAGE, NULL, "%s: a policy's result has no '%s'", option, wanted);
    const char *near = str_nearest(part, names, n);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    else
        err_hint(e, "instead of '%s' there is %s", part,
                 n ? str_list(list, sizeof list, names, n) : "nothing");
    free(part);
    free(path);
    return ERR_USAGE;
}

/* p999 is there only when there is anything to measure. */
static bool is_missing_tail(json_t *policy, const char *path)
{
    const char *p = strrchr(path, '.');
    if (!p || strcmp(p, ".p999") != 0) return false;
    char *usual = xstrndup(path, strlen(path) - 1); /* .p99 */
    const bool there = json_path_get(policy, usual) != NULL;
    free(usual);
    return there;
}

int figure_find(double *out, json_t *policy, const char *path, const char *option, struct err *e)
{
    json_t *v = json_path_get(policy, path);
    *out = NAN;
    if (!v) return is_missing_tail(policy, path) ? 0 : no_such_figure(policy, path, option, e);
    if (json_is_number(v))
        *out = json_number_value(v);
    else if (json_is_boolean(v))
        *out = json_is_true(v);
    else if (!json_is_null(v))
        return err_set(e, ERR_USAGE, NULL, "%s: '%s' is no number", option, path);
    return 0;
}

bool figure_is_percentile(const char *path)
{
    const char *last = strrchr(path, '.');
    return last && last[1] == 'p' && isdigit((unsigned char)last[2]);
}

/* ---- those of a sweep ---- */

static bool has(json_t *list, const char *path)
{
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v)
    {
        if (strcmp(json_string_value(v), path) == 0) return true;
    }
    return false;
}

json_t *figures_list(const char *const *service, size_t n_services, const char *const *more,
                     size_t n_more)
{
    json_t *list = json_array();
    for (size_t i = 0; i < N_FIXED; i++) json_array_append_new(list, json_string(fixed[i]));
    for (size_t s = 0; s < n_services; s++)
        for (size_t i = 0; i < N_OF_SERVICE; i++)
            json_array_append_new(list, json_sprintf("services.%s.%s", service[s], of_service[i]));
    for (size_t i = 0; i < n_more; i++)
        if (!has(list, more[i])) json_array_append_new(list, json_string(more[i]));
    return list;
}

static void keep(json_t *to, const char *path, json_t *v)
{
    json_object_set(to, path, json_is_number(v) ? v : json_null());
}

int figures_of(json_t **out, json_t *policy, const char *const *more, size_t n_more, struct err *e)
{
    json_t *to = json_object(), *service;
    int rc = 0;
    size_t s;
    for (size_t i = 0; i < N_FIXED; i++) keep(to, fixed[i], json_path_get(policy, fixed[i]));
    json_array_foreach(json_object_get(policy, "services"), s, service)
    {
        const char *name = json_string_value(json_object_get(service, "name"));
        for (size_t i = 0; name && i < N_OF_SERVICE; i++) {
            char *path = xasprintf("services.%s.%s", name, of_service[i]);
            keep(to, path, json_path_get(service, of_service[i]));
            free(path);
        }
    }
    for (size_t i = 0; i < n_more && rc == 0; i++) {
        double v;
        rc = figure_find(&v, policy, more[i], "--metric", e);
        if (rc == 0) json_object_set_new(to, more[i], json_num(v));
    }
    if (rc != 0) json_decref(to);
    *out = rc == 0 ? to : NULL;
    return rc;
}
