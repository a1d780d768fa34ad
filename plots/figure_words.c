#include "plots/figure_words.h"

#include "base/figure.h"
#include "base/str.h"
#include "plots/page.h"

#include <math.h>
#include <string.h>

/* Figures without a statistic, or before it. */
static const struct known {
    const char *path; /* of a service: without "services.NAME." */
    enum word words, unit;
    bool service;
} known[] = {
    { "jobs.wait_s", W_WAIT, W_S, false },
    { "jobs.turnaround_s", W_TURNAROUND, W_S, false },
    { "jobs.slowdown", W_SLOWDOWN, W_TIMES, false },
    { "jobs.submitted", W_SUBMITTED, W_JOBS, false },
    { "jobs.completed", W_COMPLETED, W_JOBS, false },
    { "jobs.failed", W_FAILED, W_JOBS, false },
    { "jobs.failed_oom", W_OUT_OF_MEMORY, W_JOBS, false },
    { "jobs.killed", W_KILLED, W_JOBS, false },
    { "jobs.rejected", W_REJECTED, W_JOBS, false },
    { "jobs.running", W_STILL_RUNNING, W_JOBS, false },
    { "jobs.queued", W_STILL_QUEUED, W_JOBS, false },
    { "jobs.gpu_hours", W_HELD, W_GPU_HOURS, false },
    { "jobs.useful_gpu_hours", W_USEFUL, W_GPU_HOURS, false },
    { "gpu.count", W_CARD_COUNT, W_NONE, false },
    { "gpu.allocated", W_ALLOCATION, W_PERCENT_CARD_TIME, false },
    { "gpu.duty", W_DUTY_CYCLE, W_PERCENT_CARD_TIME, false },
    { "gpu.sm_active", W_SM_ACTIVITY, W_PERCENT_CARD_TIME, false },
    { "gpu.memory", W_MEMORY, W_PERCENT_OF_CAPACITY, false },
    { "gpu.stranded", W_STRANDED, W_PERCENT_CARD_TIME, false },
    { "gpu.free", W_FREE, W_PERCENT_CARD_TIME, false },
    { "gpu.down", W_DOWN, W_PERCENT_CARD_TIME, false },
    { "gpu.fragmentation", W_FRAGMENTATION, W_PERCENT_CARD_TIME, false },
    { "gpu.energy_kwh", W_ENERGY_BOARD, W_KWH, false },
    { "tco.total_usd", W_COST_OF_RUN, W_USD, false },
    { "tco.usd_per_year", W_COST_A_YEAR, W_USD, false },
    { "tco.npv_usd", W_NPV, W_USD, false },
    { "tco.eac_usd", W_EAC, W_USD, false },
    { "tco.energy_usd", W_ENERGY_COST, W_USD, false },
    { "tco.usd_per_gpu_hour", W_COST_PER_PROVISIONED, W_USD, false },
    { "tco.usd_per_useful_gpu_hour", W_COST_PER_USEFUL, W_USD, false },
    { "tco.usd_per_job", W_COST_PER_JOB, W_USD, false },
    { "wait_ms", W_WAIT, W_MS, true },
    { "latency_ms", W_LATENCY, W_MS, true },
    { "ttft_ms", W_TTFT, W_MS, true },
    { "tpot_ms", W_TPOT, W_MS, true },
    { "attainment", W_WITHIN_ALL, W_PERCENT_OF_REQUESTS, true },
    { "requests", W_REQUESTS, W_NONE, true },
    { "completed", W_COMPLETED, W_REQUESTS, true },
    { "dropped", W_DROPPED, W_REQUESTS, true },
    { "unservable", W_UNSERVABLE, W_REQUESTS, true },
    { "goodput_per_s", W_GOODPUT, W_PER_S, true },
    { "replicas_mean", W_REPLICAS_MEAN, W_NONE, true },
    { "usd_per_million_requests", W_COST_PER_MILLION, W_USD, true },
};

static const char *const stats[] = { "mean", "p50", "p90", "p95", "p99", "p999", "max" };

/* The path after "services.NAME.", whose name may have no dot; NULL: of no service. */
static const char *in_service(struct arena *a, const char *path, const char **name)
{
    static const char begin[] = "services.";
    if (!str_starts(path, begin)) return NULL;
    const char *from = path + strlen(begin), *dot = strchr(from, '.');
    if (!dot) return NULL;
    *name = arena_strndup(a, from, (size_t)(dot - from));
    return dot + 1;
}

/* NULL: not known. *stat: "p95", or NULL. */
static const struct known *find(const char *path, bool service, const char **stat)
{
    const char *dot = strrchr(path, '.');
    size_t len = strlen(path);
    *stat = NULL;
    for (size_t i = 0; dot && i < sizeof stats / sizeof *stats; i++)
        if (strcmp(dot + 1, stats[i]) == 0) {
            *stat = stats[i];
            len = (size_t)(dot - path);
        }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].service == service && strlen(known[i].path) == len &&
            memcmp(known[i].path, path, len) == 0)
            return &known[i];
    return NULL;
}

const char *figure_words(enum lang lang, struct arena *a, const char *path, const char **unit,
                         bool *share)
{
    const char *service = NULL, *of_service = in_service(a, path, &service), *stat;
    const struct known *k = find(of_service ? of_service : path, of_service != NULL, &stat);
    const enum word in = k ? k->unit : W_NONE;
    if (unit) *unit = word(lang, in);
    if (share)
        *share =
            in == W_PERCENT_CARD_TIME || in == W_PERCENT_OF_CAPACITY || in == W_PERCENT_OF_REQUESTS;
    if (!k) return path;
    const char *s = word(lang, k->words);
    if (stat) {
        stat = strcmp(stat, "max") == 0 ? word(lang, W_LONGEST) : word_of(lang, stat);
        s = arena_printf(a, "%s%s%s", s, word(lang, W_COMMA), stat);
    }
    return service ? arena_printf(a, "%s%s%s", service, word(lang, W_COLON), s) : s;
}

const char *figure_label(enum lang lang, struct arena *a, const char *path)
{
    const char *unit, *s = figure_words(lang, a, path, &unit, NULL);
    return *unit ? arena_printf(a, word(lang, W_WITH_UNIT), s, unit) : s;
}

const char *axis_words(enum lang lang, struct arena *a, const char *path)
{
    static const struct {
        const char *begin, *end;
        enum word words;
    } axes[] = { { "fleet.", ".nodes", W_NODES_OF },
                 { "fleet.", ".gpus_per_node", W_CARDS_A_NODE_OF },
                 { "fleet.", ".gpu", W_CARD_OF },
                 { "work.", ".load", W_LOAD_OF } };
    const size_t len = strlen(path);
    if (strcmp(path, "cards") == 0) return word(lang, W_CARD_COUNT);
    if (strcmp(path, "seed") == 0) return word(lang, W_SEED);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        const size_t head = strlen(axes[i].begin), tail = strlen(axes[i].end);
        if (len <= head + tail || !str_starts(path, axes[i].begin) ||
            strcmp(path + len - tail, axes[i].end) != 0)
            continue;
        const char *const name[] = { arena_strndup(a, path + head, len - head - tail) };
        return word_filled(lang, a, axes[i].words, name, 1);
    }
    return path;
}

static const char *placed(struct arena *a, double x, int place)
{
    struct strbuf b = { 0 };
    figure_add(&b, x, place);
    const char *said = arena_strdup(a, b.s);
    strbuf_fini(&b);
    return said;
}

const char *figure_plain(struct arena *a, double x, double low, double high)
{
    return placed(a, x, figure_place(0.5 * (high - low)));
}

const char *figure_value(enum lang lang, struct arena *a, double x, double low, double high,
                         const char **unit)
{
    int place = figure_place(0.5 * (high - low));
    const bool ranged = place != FIGURE_NO_PLACE;
    const double most = ranged ? fmax(fabs(x), fmax(fabs(low), fabs(high))) : fabs(x);
    if (strcmp(*unit, word(lang, W_PERCENT)) == 0 && !ranged) place = FIGURE_TENTHS;
    if (strcmp(*unit, word(lang, W_USD)) == 0 && !ranged) place = figure_place_money(x);
    if (strcmp(*unit, word(lang, W_S)) != 0 || !isfinite(x) || most < 2 * 3600)
        return placed(a, x, place);
    const struct figure_time t = figure_time(most);
    *unit = t.unit;
    return placed(a, x / t.seconds,
                  ranged ? figure_place(0.5 * (high - low) / t.seconds)
                         : figure_place_of(x / t.seconds, DURATION_DIGITS));
}
