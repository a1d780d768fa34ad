/* plots/page_compare.c - the policies side by side, and against the first. */
#include "plots/page.h"

#include "plots/figure_words.h"
#include "plots/html.h"
#include "plots/report_data.h"

#include <math.h>
#include <string.h>

void page_warmup_note(struct page *p)
{
    const double s = digest_warmup_s(p->r);
    struct strbuf b = { 0 };
    if (!(s > 0)) return;
    html_duration(&b, s);
    strbuf_addz(p->out, "<p class=\"note\">");
    SAY(p, W_AFTER_WARMUP, b.s);
    strbuf_addz(p->out, "</p>\n");
    strbuf_fini(&b);
}

/* A stranger takes more useful than held hours for a mistake. */
static void useful_above_held(struct page *p)
{
    for (size_t i = 0; i < p->r->n_policies; i++) {
        if (!(p->r->policy[i].useful_gpu_hours > p->r->policy[i].gpu_hours)) continue;
        page_note(p, W_USEFUL_ABOVE_HELD);
        return;
    }
}

static const struct comparison_row *find_difference(const struct result *r, const char *policy,
                                                    const char *metric)
{
    for (size_t i = 0; i < r->n_comparisons; i++)
        if (strcmp(r->comparison[i].policy, policy) == 0 &&
            strcmp(r->comparison[i].metric, metric) == 0)
            return &r->comparison[i];
    return NULL;
}

#define SERVICES "services."

/* The figures that are compared, in words; one that is not here is shown as it is stored. */
static const struct compared {
    const char *metric;
    enum word words, unit; /* unit W_NONE: each cell says its own */
    enum kind kind;
} compared[] = {
    { "wait_s.mean", W_WAIT_MEAN, W_NONE, SECONDS },
    { "wait_s.p95", W_WAIT_P95, W_NONE, SECONDS },
    { "turnaround_s.mean", W_TURNAROUND_MEAN, W_NONE, SECONDS },
    { "slowdown.p95", W_SLOWDOWN_P95, W_TIMES, FIGURE },
    { "completed", W_COMPLETED, W_JOBS, FIGURE },
    { "failed_killed_rejected", W_FAILED_KILLED_REJECTED, W_JOBS, FIGURE },
    { "allocated", W_ALLOCATION, W_PERCENT_CARD_TIME, PERCENT },
    { "sm_active", W_SM_ACTIVITY, W_PERCENT_CARD_TIME, PERCENT },
    { "energy_kwh", W_ENERGY_BOARD, W_KWH, FIGURE },
    { "usd_per_useful_gpu_hour", W_COST_PER_USEFUL, W_USD, PRICE },
};

/* "services.chat.latency_ms.p99": what it is of a service, which may have any name; NULL: something
 * else. */
static const struct compared *of_service(const char *metric)
{
    static const struct compared known[] = {
        { ".latency_ms.p99", W_LATENCY_P99, W_MS, FIGURE },
        { ".attainment", W_WITHIN_ALL, W_PERCENT, PERCENT },
        { ".usd_per_million_requests", W_PER_MILLION_REQUESTS, W_USD, PRICE },
    };
    const size_t len = strlen(metric);
    if (strncmp(metric, SERVICES, strlen(SERVICES)) != 0) return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t end = strlen(known[i].metric);
        if (len > strlen(SERVICES) + end && strcmp(metric + len - end, known[i].metric) == 0)
            return &known[i];
    }
    return NULL;
}

/* Half of the interval of a cost for the ranges of the prices, where it has no other; NAN. */
static double half_of_price(const struct result *r, size_t policy, double x, enum kind kind)
{
    return kind == PRICE ? fabs(x) * result_cost_spread(r, policy) : NAN;
}

static void difference_cell(struct grid *t, const struct comparison_row *c, enum kind kind)
{
    struct strbuf b = { 0 };
    if (c && isfinite(c->low)) {
        page_signed(&b, c->difference, c->low, c->high, kind);
        page_interval(t->p, &b, c->low, c->high, kind);
    } else if (c) {
        double half = half_of_price(t->p->r, 0, c->first, kind);
        if (!isfinite(half)) half = page_half_beside(c->first, c->value, kind);
        page_signed(&b, c->difference, -half, half, kind);
    } else {
        page_number(&b, NAN, kind);
    }
    grid_html(t, b.s, c ? c->difference : NAN, kind);
    strbuf_fini(&b);
}

/* Half of the narrowest interval of that figure's differences; NAN: none has one. */
static double least_half(const struct result *r, const char *metric)
{
    double half = NAN;
    for (size_t i = 0; i < r->n_comparisons; i++) {
        const struct comparison_row *c = &r->comparison[i];
        if (strcmp(c->metric, metric) == 0 && c->high > c->low)
            half = fmin(half, 0.5 * (c->high - c->low));
    }
    return half;
}

/* Whether some policy has the figure: work of one kind has no figures of the other. */
static bool is_known(const struct result *r, const char *metric)
{
    for (size_t i = 0; i < r->n_comparisons; i++)
        if (strcmp(r->comparison[i].metric, metric) == 0 &&
            (isfinite(r->comparison[i].first) || isfinite(r->comparison[i].value)))
            return true;
    return false;
}

static void difference_row(struct grid *t, const struct comparison_row *like)
{
    const struct page *p = t->p;
    const char *unit;
    bool share;
    const char *words = figure_words(p->lang, p->a, like->metric, &unit, &share); /* of a service */
    enum kind kind = share ? PERCENT : FIGURE;
    if (share)
        unit = page_word(p, W_PERCENT);
    else if (words == like->metric)
        unit = word_of(p->lang, like->unit); /* not known here */
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        if (strcmp(compared[i].metric, like->metric) != 0) continue;
        words = page_word(p, compared[i].words);
        unit = page_word(p, compared[i].unit);
        kind = compared[i].kind;
    }
    const struct compared *of = of_service(like->metric);
    if (of) {
        const size_t head = strlen(SERVICES);
        words =
            arena_printf(p->a, "%.*s: %s", (int)(strlen(like->metric) - head - strlen(of->metric)),
                         like->metric + head, page_word(p, of->words));
        unit = page_word(p, of->unit);
        kind = of->kind;
    }
    grid_row(t, false);
    grid_name(t, words, unit);
    const double half = least_half(p->r, like->metric);
    grid_within(t, like->first, isfinite(half) ? half : half_of_price(p->r, 0, like->first, kind),
                kind);
    for (size_t i = 1; i < p->r->n_policies; i++)
        difference_cell(t, find_difference(p->r, p->r->policy[i].name, like->metric), kind);
}

/* Differences to the first policy: one row a figure, one column a policy. */
static void differences(struct page *p)
{
    const struct result *r = p->r;
    struct grid t;
    bool intervals = false;
    if (r->n_comparisons == 0 || r->n_policies < 2) return;
    for (size_t i = 0; i < r->n_comparisons; i++)
        intervals = intervals || isfinite(r->comparison[i].low);
    page_subheading(p, "against", W_AGAINST_FIRST);
    page_note(p, intervals ? W_AGAINST_INTERVALS : W_AGAINST_NO_INTERVALS);
    grid_open(&t, p, "differences-table", W_AGAINST_FIRST);
    grid_column(&t, page_word(p, W_FIGURE), NULL, true);
    for (size_t i = 0; i < r->n_policies; i++) grid_policy_column(&t, i, "");
    for (size_t i = 0; i < r->n_comparisons; i++) {
        bool shown = !is_known(r, r->comparison[i].metric);
        for (size_t k = 0; k < i && !shown; k++)
            shown = strcmp(r->comparison[k].metric, r->comparison[i].metric) == 0;
        if (!shown) difference_row(&t, &r->comparison[i]);
    }
    grid_close(&t);
}

void page_comparison(struct page *p)
{
    static const struct column main_columns[] = {
        { W_NONE, W_FLEET_OF, W_NONE, FLEET, 0, false },
        { W_JOBS, W_COMPLETED, W_JOBS, COUNT, AT(jobs.completed), false },
        { W_JOBS, W_FAILED, W_JOBS, COUNT, AT(jobs.failed), false },
        { W_JOBS, W_REJECTED, W_JOBS, COUNT, AT(jobs.rejected), false },
        { W_WAIT, W_P50, W_NONE, SECONDS, AT(stats.wait_s.p50), false },
        { W_WAIT, W_P95, W_NONE, SECONDS, AT(stats.wait_s.p95), false },
        { W_SERVICES, W_TARGETS_MET, W_NONE, TARGETS, 0, false },
        { W_SHARE_OF_CARD, W_ALLOCATION, W_PERCENT, PERCENT, AT(gpu.allocated), false },
        { W_SHARE_OF_CARD, W_DUTY_CYCLE, W_PERCENT, PERCENT, AT(gpu.duty), false },
        { W_SHARE_OF_CARD, W_SM_ACTIVITY, W_PERCENT, PERCENT, AT(gpu.sm_active), false },
        { W_SHARE_OF_CARD, W_MEMORY, W_PERCENT, PERCENT, AT(gpu.memory), false },
        { W_ENERGY, W_AT_BOARD, W_KWH, FIGURE, AT(gpu.energy_kwh), false },
        { W_COST, W_TOTAL, W_USD, MONEY, AT(tco.total_usd), true },
        { W_COST, W_PER_USEFUL, W_USD, PRICE, AT(tco.usd_per_useful_gpu_hour), true },
    };
    static const struct column card_columns[] = {
        { W_CARDS, W_COUNT, W_NONE, COUNT, AT(gpu.count), false },
        { W_SHARE_OF_CARD_TIME, W_STRANDED, W_PERCENT, PERCENT, AT(gpu.stranded), false },
        { W_SHARE_OF_CARD_TIME, W_FREE, W_PERCENT, PERCENT, AT(gpu.free_share), false },
        { W_SHARE_OF_CARD_TIME, W_DOWN, W_PERCENT, PERCENT, AT(gpu.down), false },
        { W_SHARE_OF_CARD_TIME, W_FRAGMENTATION, W_PERCENT, PERCENT, AT(gpu.fragmentation), false },
        { W_CARD_TIME, W_HELD, W_GPU_HOURS, FIGURE, AT(gpu_hours), false },
        { W_CARD_TIME, W_USEFUL, W_GPU_HOURS, FIGURE, AT(useful_gpu_hours), false },
    };
    static const struct column job_columns[] = {
        { W_WAIT, W_MEAN, W_NONE, SECONDS, AT(stats.wait_s.mean), false },
        { W_WAIT, W_P99, W_NONE, SECONDS, AT(stats.wait_s.p99), false },
        { W_WAIT, W_LONGEST, W_NONE, SECONDS, AT(stats.wait_s.max), false },
        { W_TURNAROUND, W_P50, W_NONE, SECONDS, AT(stats.turnaround_s.p50), false },
        { W_TURNAROUND, W_P95, W_NONE, SECONDS, AT(stats.turnaround_s.p95), false },
        { W_SLOWDOWN, W_P50, W_TIMES, FIGURE, AT(stats.slowdown.p50), false },
        { W_SLOWDOWN, W_P95, W_TIMES, FIGURE, AT(stats.slowdown.p95), false },
        { W_JOBS, W_OUT_OF_MEMORY, W_JOBS, COUNT, AT(jobs.failed_oom), false },
        { W_JOBS, W_KILLED, W_JOBS, COUNT, AT(jobs.killed), false },
        { W_JOBS, W_STILL_RUNNING, W_JOBS, COUNT, AT(jobs.running), false },
        { W_JOBS, W_STILL_QUEUED, W_JOBS, COUNT, AT(jobs.queued), false },
    };
    page_heading(p, "comparison", W_COMPARISON);
    page_warmup_note(p);
    page_policy_table(p, "options", W_COMPARISON, W_FOUR_USES, main_columns,
                      sizeof main_columns / sizeof *main_columns);
    page_policy_table(p, "cards", W_CARDS, W_CARDS_NOTE, card_columns,
                      sizeof card_columns / sizeof *card_columns);
    useful_above_held(p);
    page_warmup_note(p);
    page_policy_table(p, "jobs", W_JOBS, W_JOBS_NOTE, job_columns,
                      sizeof job_columns / sizeof *job_columns);
    differences(p);
}
