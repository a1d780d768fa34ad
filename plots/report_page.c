/* plots/report_page.c - the page itself: answer first, then evidence, then how to check it. */
#include "plots/report.h"

#include "base/mem.h"
#include "model/price.h"
#include "plots/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Policy k has the colour of line type k in templates/style.gp. */
static const char *const colours[] = { "#0072B2", "#E69F00", "#009E73", "#D55E00",
                                       "#56B4E9", "#CC79A7", "#8A8A8A", "#B8A800" };

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1b1b1b;--soft:#5c5c5c;--line:#d5d5d5;--box:#f4f4f2}\n"
    "@media (prefers-color-scheme:dark){:root{--bg:#16181b;--fg:#e8e8e8;--soft:#a8a8a8;--line:#3d4146;"
    "--box:#22262b}}\n"
    "body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;max-width:1180px;"
    "margin:0 auto;padding:24px 16px 64px}\n"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:40px 0 8px;border-bottom:1px solid "
    "var(--line);padding-bottom:4px}h3{font-size:16px;margin:24px 0 4px}\n"
    ".answer{font-size:18px;background:var(--box);border-left:5px solid var(--fg);padding:12px 16px;"
    "margin:16px 0}\n"
    ".warn{border-left:5px double var(--soft);background:var(--box);padding:8px 16px;margin:12px 0}\n"
    ".soft,figcaption,.note{color:var(--soft);font-size:13px}.note{margin:12px 0 4px}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13px;"
    "font-variant-numeric:tabular-nums;min-width:60%}\n"
    "th,td{padding:4px 8px;border-bottom:1px solid var(--line);text-align:right;vertical-align:top}"
    "th{font-weight:600}tbody th{min-width:8.5em}th:first-child,td.text,th.text{text-align:left}"
    "thead th{border-bottom:2px solid var(--line)}.unit{font-weight:400;color:var(--soft)}"
    "tr.sum th,tr.sum td{border-top:2px solid var(--line);font-weight:600}\n"
    "th.group{text-align:center;border-left:1px solid var(--line)}td.first,th.first{border-left:1px solid "
    "var(--line)}\n"
    ".chip{padding-left:11px;border-radius:2px;margin-right:6px;font-size:10px}td.date{white-space:nowrap}\n"
    "figure{margin:12px 0}figure svg{max-width:100%;height:auto;display:block}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px}dt{color:var(--soft)}dd{margin:0;"
    "overflow-wrap:anywhere}\n"
    "code,pre{font:12px/1.45 ui-monospace,monospace}pre{background:var(--box);padding:12px;overflow-x:auto}\n"
    "@media (max-width:640px){body{padding:12px 10px 48px}dl{grid-template-columns:1fr}dd{margin-bottom:6px}"
    "td.text{min-width:7em}figure svg{max-width:none;min-width:600px}.scroll th:first-child{position:sticky;left:0;"
    "background:var(--bg)}}\n"
    "@media print{body{max-width:none}details{display:none}h2{break-after:avoid}figure{break-inside:avoid}}\n";

/* ---- small pieces ---- */

static void heading(struct strbuf *out, const char *id, const char *text)
{
    strbuf_addf(out, "<h2 id=\"%s\">", id);
    html_text(out, text);
    strbuf_addz(out, "</h2>\n");
}

static void policy_name(struct strbuf *out, const struct result *r, size_t i)
{
    size_t n = sizeof colours / sizeof *colours;
    strbuf_addf(out, "<span class=\"chip\" style=\"background:%s\">&#8288;</span>", colours[i % n]);
    html_text(out, r->policy[i].name);
}

static void policy_head(struct strbuf *out, const struct result *r, size_t i)
{
    strbuf_addz(out, "<tr><th scope=\"row\">");
    policy_name(out, r, i);
    strbuf_addz(out, "</th>");
}

static void text_cell(struct strbuf *out, const char *s)
{
    strbuf_addz(out, "<td class=\"text\">");
    html_text(out, s);
    strbuf_addz(out, "</td>");
}

/* A column of a table with one row a policy. */
enum kind { COUNT, PERCENT, SECONDS, FIGURE, MONEY, PRICE };
struct column {
    const char *head, *unit; /* unit NULL: each cell says its own */
    enum kind kind;
    size_t offset;
    bool priced; /* n/a without prices */
    bool first;  /* of a group */
};
#define AT(member) offsetof(struct policy_result, member)

static double value(const struct policy_result *p, const struct column *c)
{
    if (c->priced && !p->tco.priced) return NAN;
    return *(const double *)((const char *)p + c->offset);
}

static void put_number(struct strbuf *out, double x, enum kind kind)
{
    switch (kind) {
    case PERCENT: html_percent(out, x); break;
    case SECONDS: html_duration(out, x); break;
    case MONEY: html_money(out, x); break;
    case COUNT:
    case FIGURE:
    case PRICE: html_figure(out, x); break;
    }
}

static void put_value(struct strbuf *out, const struct policy_result *p, const struct column *c)
{
    strbuf_addz(out, c->first ? "<td class=\"first\">" : "<td>");
    if (c->kind == COUNT)
        html_count(out, *(const uint64_t *)((const char *)p + c->offset));
    else
        put_number(out, value(p, c), c->kind);
    strbuf_addz(out, "</td>");
}

static void unit_of(struct strbuf *out, const char *unit)
{
    if (!unit || !*unit) return;
    strbuf_addz(out, "<br><span class=\"unit\">");
    html_text(out, unit);
    strbuf_addz(out, "</span>");
}

static void column_heads(struct strbuf *out, const struct column *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        strbuf_addf(out, "<th scope=\"col\"%s>", c[i].first ? " class=\"first\"" : "");
        html_text(out, c[i].head);
        unit_of(out, c[i].unit);
        strbuf_addz(out, "</th>");
    }
    strbuf_addz(out, "</tr></thead><tbody>\n");
}

/* What a table shows, outside it: a wide table scrolls on a narrow screen, its note does not. */
static void note(struct strbuf *out, const char *text)
{
    strbuf_addz(out, "<p class=\"note\">");
    html_text(out, text);
    strbuf_addz(out, "</p>\n");
}

/* A table with one row a policy. `groups` is a first heading row, or NULL. */
static void policy_table(struct strbuf *out, const struct result *r, const char *text,
                         const char *groups, const struct column *c, size_t n)
{
    note(out, text);
    strbuf_addz(out, "<div class=\"scroll\"><table><thead>");
    if (groups) strbuf_addz(out, groups);
    strbuf_addz(out, "<tr><th scope=\"col\">policy</th>");
    column_heads(out, c, n);
    for (size_t i = 0; i < r->n_policies; i++) {
        policy_head(out, r, i);
        for (size_t k = 0; k < n; k++) put_value(out, &r->policy[i], &c[k]);
        strbuf_addz(out, "</tr>\n");
    }
    strbuf_addz(out, "</tbody></table></div>\n");
}

/* ---- sections ---- */

/* Jobs that the end of the run cut off cost money and bring nothing: the reader must know how many. */
static void unfinished(struct strbuf *out, const struct result *r)
{
    bool any = false;
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct job_counts *n = &r->policy[i].jobs;
        if (n->running == 0 && n->queued == 0) continue;
        strbuf_addz(out, any ? "; "
                             : "<p class=\"warn\">At the end of the run jobs were still running or "
                               "queued: ");
        any = true;
        policy_name(out, r, i);
        strbuf_addc(out, ' ');
        html_count(out, n->running);
        strbuf_addz(out, " running, ");
        html_count(out, n->queued);
        strbuf_addz(out, " queued");
    }
    if (any)
        strbuf_addz(out, ". The cards they hold cost, but their work does not count as useful; a "
                         "longer run would show a lower cost per useful GPU-hour.</p>\n");
}

/* The advice compares only policies that serve at least 99 jobs in a hundred. */
static void not_compared(struct strbuf *out, const struct result *r)
{
    for (size_t i = 0; i < r->n_policies && r->n_policies > 1; i++) {
        const struct job_counts *n = &r->policy[i].jobs;
        uint64_t lost = n->failed + n->killed + n->rejected;
        if ((double)lost <= 0.01 * (double)n->submitted) continue;
        strbuf_addz(out, "<p class=\"warn\">");
        policy_name(out, r, i);
        strbuf_addz(out, " did not serve ");
        html_count(out, lost);
        strbuf_addz(out, " of ");
        html_count(out, n->submitted);
        strbuf_addz(out, " jobs (");
        html_count(out, n->failed);
        strbuf_addz(out, " failed, ");
        html_count(out, n->killed);
        strbuf_addz(out, " killed, ");
        html_count(out, n->rejected);
        strbuf_addz(out, " rejected), so the answer does not compare its waits and cost: jobs that "
                         "leave early make room for the rest.</p>\n");
    }
}

static void answer(struct strbuf *out, const struct result *r)
{
    strbuf_addz(out, "<h1>");
    html_text(out, r->scenario_name);
    strbuf_addz(out, "</h1>\n<p class=\"soft\">The same work under ");
    html_count(out, r->n_policies);
    strbuf_addz(out, r->n_policies == 1 ? " policy" : " policies");
    strbuf_addz(out, " on simulated cards.</p>\n<p class=\"answer\">");
    html_text(out,
              r->n_advice ? r->advice[0] : "This run came to no advice; the figures are below.");
    strbuf_addz(out, "</p>\n");
    unfinished(out, r);
    not_compared(out, r);
    if (r->n_advice < 2) return;
    strbuf_addz(out, "<ul>\n");
    for (size_t i = 1; i < r->n_advice; i++) {
        strbuf_addz(out, "<li>");
        html_text(out, r->advice[i]);
        strbuf_addz(out, "</li>\n");
    }
    strbuf_addz(out, "</ul>\n");
}

static const char *reason_of(const struct policy_result *p)
{
    return p->rejected_reason ? p->rejected_reason : "not stored";
}

/* One line for all policies: they meet the same work, so they mostly reject the same jobs. */
static void rejections(struct strbuf *out, const struct result *r)
{
    const struct policy_result *first = NULL;
    bool same = true;
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *p = &r->policy[i];
        if (p->jobs.rejected == 0) continue;
        if (!first) first = p;
        same = same && strcmp(reason_of(p), reason_of(first)) == 0;
    }
    if (!first) return;
    strbuf_addz(out, "<p class=\"warn\">Rejected jobs:");
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *p = &r->policy[i];
        if (p->jobs.rejected == 0) continue;
        strbuf_addz(out, p == first ? " " : "; ");
        policy_name(out, r, i);
        strbuf_addc(out, ' ');
        html_count(out, p->jobs.rejected);
        strbuf_addz(out, " of ");
        html_count(out, p->jobs.submitted);
        if (same) continue;
        strbuf_addz(out, " (");
        html_text(out, reason_of(p));
        strbuf_addc(out, ')');
    }
    strbuf_addz(out, same ? ". Commonest reason: " : ".");
    if (same) html_text(out, reason_of(first));
    strbuf_addz(out, "</p>\n");
}

static void warnings(struct strbuf *out, const struct result *r)
{
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *p = &r->policy[i];
        if (p->stable) continue;
        strbuf_addz(out, "<p class=\"warn\">");
        policy_name(out, r, i);
        strbuf_addz(out, " is not stable, so its waits depend on the length of the run: ");
        html_text(out, p->unstable_reason ? p->unstable_reason : "no reason was stored");
        strbuf_addz(out, ".</p>\n");
    }
    rejections(out, r);
}

/* A stranger takes more useful than held hours for a mistake. */
static void useful_above_held(struct strbuf *out, const struct result *r)
{
    for (size_t i = 0; i < r->n_policies; i++) {
        if (!(r->policy[i].useful_gpu_hours > r->policy[i].gpu_hours)) continue;
        note(out,
             "Useful can exceed held: a job in a slot holds only that part of a card, yet it may "
             "work nearly as fast as on a whole one, because the tenants of a card seldom all "
             "need it at once.");
        return;
    }
}

static void comparison(struct strbuf *out, const struct result *r)
{
    static const char groups[] =
        "<tr><th></th><th class=\"group\" colspan=\"4\" scope=\"colgroup\">jobs</th>"
        "<th class=\"group\" colspan=\"3\" scope=\"colgroup\">wait</th>"
        "<th class=\"group\" colspan=\"4\" scope=\"colgroup\">share of card time or capacity</th>"
        "<th class=\"group\" scope=\"colgroup\">energy</th>"
        "<th class=\"group\" colspan=\"2\" scope=\"colgroup\">cost</th></tr>";
    static const struct column main_columns[] = {
        { "completed", "jobs", COUNT, AT(jobs.completed), false, true },
        { "failed", "jobs", COUNT, AT(jobs.failed), false, false },
        { "out of memory", "jobs", COUNT, AT(jobs.failed_oom), false, false },
        { "rejected", "jobs", COUNT, AT(jobs.rejected), false, false },
        { "p50", NULL, SECONDS, AT(stats.wait_s.p50), false, true },
        { "p95", NULL, SECONDS, AT(stats.wait_s.p95), false, false },
        { "p99", NULL, SECONDS, AT(stats.wait_s.p99), false, false },
        { "allocation", "%", PERCENT, AT(gpu.allocated), false, true },
        { "duty cycle", "%", PERCENT, AT(gpu.duty), false, false },
        { "SM activity", "%", PERCENT, AT(gpu.sm_active), false, false },
        { "memory", "%", PERCENT, AT(gpu.memory), false, false },
        { "at the board", "kWh", FIGURE, AT(gpu.energy_kwh), false, true },
        { "total", "USD", MONEY, AT(tco.total_usd), true, true },
        { "per useful GPU-hour", "USD", PRICE, AT(tco.usd_per_useful_gpu_hour), true, false },
    };
    static const struct column card_columns[] = {
        { "cards", "", COUNT, AT(gpu.count), false, true },
        { "stranded", "%", PERCENT, AT(gpu.stranded), false, false },
        { "free", "%", PERCENT, AT(gpu.free_share), false, false },
        { "down", "%", PERCENT, AT(gpu.down), false, false },
        { "fragmentation", "%", PERCENT, AT(gpu.fragmentation), false, false },
        { "held", "GPU-hours", FIGURE, AT(gpu_hours), false, true },
        { "useful", "GPU-hours", FIGURE, AT(useful_gpu_hours), false, false },
    };
    static const struct column job_columns[] = {
        { "wait, mean", NULL, SECONDS, AT(stats.wait_s.mean), false, true },
        { "wait, longest", NULL, SECONDS, AT(stats.wait_s.max), false, false },
        { "turnaround p50", NULL, SECONDS, AT(stats.turnaround_s.p50), false, false },
        { "turnaround p95", NULL, SECONDS, AT(stats.turnaround_s.p95), false, false },
        { "slowdown p50", "times", FIGURE, AT(stats.slowdown.p50), false, true },
        { "slowdown p95", "times", FIGURE, AT(stats.slowdown.p95), false, false },
        { "killed", "jobs", COUNT, AT(jobs.killed), false, true },
        { "still running", "jobs", COUNT, AT(jobs.running), false, false },
        { "still queued", "jobs", COUNT, AT(jobs.queued), false, false },
    };
    heading(out, "comparison", "Comparison");
    policy_table(
        out, r,
        "Four different things are called use of a card: allocation (time a job holds it), duty "
        "cycle (time with any kernel resident; the hardware cannot tell under MIG), SM activity "
        "(part of the SMs at work) and memory. n/a: not known.",
        groups, main_columns, sizeof main_columns / sizeof *main_columns);
    policy_table(
        out, r,
        "Cards: stranded is free capacity that no job may use where it lies; useful hours count "
        "the work of completed jobs as if each ran alone.",
        NULL, card_columns, sizeof card_columns / sizeof *card_columns);
    useful_above_held(out, r);
    policy_table(
        out, r,
        "Jobs: turnaround is end less submission; slowdown is turnaround over the time the job "
        "takes alone; both of completed jobs.",
        NULL, job_columns, sizeof job_columns / sizeof *job_columns);
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

/* The figures that are compared, in words; one that is not here is shown as it is stored. */
static const struct compared {
    const char *metric, *words, *unit; /* unit NULL: each cell says its own */
    enum kind kind;
} compared[] = {
    { "wait_s.mean", "wait, mean", NULL, SECONDS },
    { "wait_s.p95", "wait, p95", NULL, SECONDS },
    { "turnaround_s.mean", "turnaround, mean", NULL, SECONDS },
    { "slowdown.p95", "slowdown, p95", "times", FIGURE },
    { "completed", "completed", "jobs", FIGURE },
    { "failed_killed_rejected", "failed, killed or rejected", "jobs", FIGURE },
    { "allocated", "allocation", "% of card time", PERCENT },
    { "sm_active", "SM activity", "% of card time", PERCENT },
    { "energy_kwh", "energy at the board", "kWh", FIGURE },
    { "usd_per_useful_gpu_hour", "cost per useful GPU-hour", "USD", PRICE },
};

static struct compared in_words(const struct comparison_row *c)
{
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        if (strcmp(compared[i].metric, c->metric) == 0) return compared[i];
    return (struct compared){ c->metric, c->metric, c->unit, FIGURE };
}

static void difference_row(struct strbuf *out, const struct result *r,
                           const struct comparison_row *like)
{
    const struct compared w = in_words(like);
    strbuf_addz(out, "<tr><th scope=\"row\">");
    html_text(out, w.words);
    if (w.unit) {
        strbuf_addz(out, " <span class=\"unit\">");
        html_text(out, w.unit);
        strbuf_addz(out, "</span>");
    }
    strbuf_addz(out, "</th><td>");
    put_number(out, like->first, w.kind);
    strbuf_addz(out, "</td>");
    for (size_t i = 1; i < r->n_policies; i++) {
        const struct comparison_row *c = find_difference(r, r->policy[i].name, like->metric);
        strbuf_addz(out, "<td>");
        if (c && c->difference > 0) strbuf_addc(out, '+');
        put_number(out, c ? c->difference : NAN, w.kind);
        if (c && isfinite(c->low)) {
            strbuf_addz(out, "<br><span class=\"soft\">");
            put_number(out, c->low, w.kind);
            strbuf_addz(out, " to ");
            put_number(out, c->high, w.kind);
            strbuf_addz(out, "</span>");
        }
        strbuf_addz(out, "</td>");
    }
    strbuf_addz(out, "</tr>\n");
}

/* Differences to the first policy: one row a figure, one column a policy. */
static void differences(struct strbuf *out, const struct result *r)
{
    bool intervals = false;
    if (r->n_comparisons == 0 || r->n_policies < 2) return;
    for (size_t i = 0; i < r->n_comparisons; i++)
        intervals = intervals || isfinite(r->comparison[i].low);
    strbuf_addz(out,
                "<h3>Against the first policy</h3>\n<p class=\"note\">Its own value, then what the "
                "others differ by. ");
    strbuf_addz(out, intervals ? "Below: 95 % interval; one that holds zero is a tie."
                               : "One run has no interval: small differences may be chance.");
    strbuf_addz(out, "</p>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">figure</th>");
    for (size_t i = 0; i < r->n_policies; i++) {
        strbuf_addz(out, "<th scope=\"col\">");
        policy_name(out, r, i);
        strbuf_addz(out, "</th>");
    }
    strbuf_addz(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < r->n_comparisons; i++) {
        bool shown = false;
        for (size_t k = 0; k < i && !shown; k++)
            shown = strcmp(r->comparison[k].metric, r->comparison[i].metric) == 0;
        if (!shown) difference_row(out, r, &r->comparison[i]);
    }
    strbuf_addz(out, "</tbody></table></div>\n");
}

static void picture(struct strbuf *out, const struct report_picture *p)
{
    heading(out, p->name, p->heading);
    if (!p->has_data) {
        strbuf_addz(out, "<p class=\"soft\">");
        html_text(out, p->absent);
        strbuf_addz(out, "</p>\n");
        return;
    }
    strbuf_addz(out, "<figure>\n");
    if (p->drawn) {
        const char *svg = strstr(p->svg.s, "<svg"); /* without the XML declaration */
        strbuf_addz(out, "<div class=\"scroll\">");
        strbuf_addz(out, svg ? svg : "");
        strbuf_addz(out, "</div>\n");
    } else {
        strbuf_addf(out,
                    "<p class=\"warn\">This picture was not drawn, because gnuplot is missing or "
                    "failed. Its data are in plots/%s.tsv, its script in plots/%s.gp.</p>\n",
                    p->name, p->name);
    }
    strbuf_addz(out, "<figcaption>");
    html_text(out, p->caption);
    strbuf_addz(out, "</figcaption>\n</figure>\n");
}

/* ---- per class ---- */

/* Jobs without a user or class are "" in some files and "(none)" in others. */
static bool unnamed(const char *name)
{
    return *name == '\0' || strcmp(name, "(none)") == 0;
}

static const struct job_group_result *find_group(const struct job_group_result *g, size_t n,
                                                 const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(g[i].name, name) == 0) return &g[i];
    return NULL;
}

static void class_cells(struct strbuf *out, const struct job_group_result *g)
{
    strbuf_addz(out, "<td class=\"first\">");
    html_count(out, g ? g->count.completed : 0);
    strbuf_addz(out, "</td><td>");
    html_duration(out, g ? g->stats.wait_s.p50 : NAN);
    strbuf_addz(out, "</td><td>");
    html_duration(out, g ? g->stats.wait_s.p95 : NAN);
    strbuf_addz(out, "</td>");
}

/* The classes are those of the first policy: all policies meet the same jobs. */
static void classes(struct strbuf *out, const struct result *r)
{
    if (r->n_policies == 0 || r->policy[0].n_classes == 0) return;
    const struct policy_result *first = &r->policy[0];
    strbuf_addz(
        out, "<h3>Waits by class of job</h3>\n<div class=\"scroll\"><table><thead><tr><th></th>");
    for (size_t k = 0; k < first->n_classes; k++) {
        const char *name = first->by_class[k].name;
        strbuf_addz(out, "<th class=\"group\" colspan=\"3\" scope=\"colgroup\">");
        html_text(out, unnamed(name) ? "(no class)" : name);
        strbuf_addz(out, "</th>");
    }
    strbuf_addz(out, "</tr><tr><th scope=\"col\">policy</th>");
    for (size_t k = 0; k < first->n_classes; k++)
        strbuf_addz(
            out,
            "<th class=\"first\" scope=\"col\">completed<br><span class=\"unit\">jobs</span></th>"
            "<th scope=\"col\">wait p50</th><th scope=\"col\">wait p95</th>");
    strbuf_addz(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *p = &r->policy[i];
        policy_head(out, r, i);
        for (size_t k = 0; k < first->n_classes; k++)
            class_cells(out, find_group(p->by_class, p->n_classes, first->by_class[k].name));
        strbuf_addz(out, "</tr>\n");
    }
    strbuf_addz(out, "</tbody></table></div>\n");
}

/* ---- cost ---- */

static void usd_cell(struct strbuf *out, double usd)
{
    strbuf_addz(out, "<td>");
    html_money(out, usd);
    strbuf_addz(out, "</td>");
}

static void policy_columns(struct strbuf *out, const struct result *r)
{
    for (size_t i = 0; i < r->n_policies; i++) {
        strbuf_addz(out, "<th scope=\"col\">");
        policy_name(out, r, i);
        strbuf_addz(out, "<br><span class=\"unit\">USD</span></th>");
    }
}

/* The same item of another policy: same name and source. NULL: that policy does not pay for it. */
static const struct cost_item_result *find_item(const struct tco_result *t,
                                                const struct cost_item_result *like)
{
    for (size_t i = 0; i < t->n_items; i++)
        if (strcmp(t->item[i].name, like->name) == 0 &&
            strcmp(t->item[i].driver, like->driver) == 0)
            return &t->item[i];
    return NULL;
}

/* What one unit of a cost is, for a stored driver. */
static const char *driver_words(const char *driver)
{
    for (size_t i = 0; i < PRICE_DRIVERS; i++)
        if (strcmp(price_driver_names[i], driver) == 0) return price_driver_help[i];
    return driver;
}

static void item_row(struct strbuf *out, const struct result *r, const struct cost_item_result *it)
{
    strbuf_addz(out, "<tr><th scope=\"row\">");
    html_text(out, it->name);
    strbuf_addz(out, "</th>");
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct tco_result *t = &r->policy[i].tco;
        const struct cost_item_result *same = find_item(t, it);
        usd_cell(out, same ? same->usd : t->priced ? 0 : NAN);
    }
    text_cell(out, driver_words(it->driver));
    text_cell(out, it->source);
    strbuf_addz(out, "<td class=\"text date\">");
    html_text(out, it->date);
    strbuf_addz(out, "</td>");
    text_cell(out, it->confidence);
    strbuf_addz(out, "</tr>\n");
}

/* Whether some item of the cost is known in this way. */
static bool confident(const struct result *r, const char *word)
{
    for (size_t i = 0; i < r->n_policies; i++)
        for (size_t k = 0; k < r->policy[i].tco.n_items; k++)
            if (strcmp(r->policy[i].tco.item[k].confidence, word) == 0) return true;
    return false;
}

/* The words of the last column that occur, against those for device parameters further below. */
static void confidence(struct strbuf *out, const struct result *r)
{
    static const struct {
        const char *word, *meaning;
    } words[] = {
        { "read", "read in the source named, counts as published" },
        { "quoted", "from an offer by a seller, counts as published" },
        { "community", "from users or resellers, confirmed by no maker, counts as published" },
        { "suspect", "read, but the source contradicts itself or others, counts as assumed" },
        { "unverified", "second hand, the source was not seen, counts as assumed" },
        { "assumed", "an estimate, or derived by a rule of thumb" },
        { "not stated", "nothing is said about it, counts as assumed" },
    };
    strbuf_addz(out, "<p class=\"note\">How far to trust a price: ");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (confident(r, words[i].word))
            strbuf_addf(out, "<b>%s</b>: %s; ", words[i].word, words[i].meaning);
    strbuf_addz(out,
                "no price is measured. <a href=\"#assumptions\">Below</a>, the same for the device "
                "parameters.</p>\n");
}

static void items(struct strbuf *out, const struct result *r)
{
    note(out, "Straight-line cost of the run by item, with where each price comes from.");
    strbuf_addz(out, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">item</th>");
    policy_columns(out, r);
    strbuf_addz(
        out,
        "<th class=\"text\" scope=\"col\">paid for</th><th class=\"text\" scope=\"col\">source</th>"
        "<th class=\"text\" scope=\"col\">date</th>"
        "<th class=\"text\" scope=\"col\">confidence</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct tco_result *t = &r->policy[i].tco;
        for (size_t k = 0; k < t->n_items; k++) {
            bool shown = false;
            for (size_t before = 0; before < i && !shown; before++)
                shown = find_item(&r->policy[before].tco, &t->item[k]) != NULL;
            if (!shown) item_row(out, r, &t->item[k]);
        }
    }
    strbuf_addz(out, "<tr class=\"sum\"><th scope=\"row\">total</th>");
    for (size_t i = 0; i < r->n_policies; i++)
        usd_cell(out, r->policy[i].tco.priced ? r->policy[i].tco.total_usd : NAN);
    strbuf_addz(out, "<td colspan=\"4\"></td></tr>\n</tbody></table></div>\n");
    confidence(out, r);
}

/* One line of the chargeback: a tenant, or one of "(idle)", "(stranded)", "(down)". */
struct payer {
    const char *name;
    double most; /* over the policies */
};

static const struct charge *find_charge(const struct tco_result *t, const char *name)
{
    for (size_t i = 0; i < t->n_charges; i++)
        if (strcmp(t->charge[i].name, name) == 0) return &t->charge[i];
    return NULL;
}

static double charged(const struct tco_result *t, const char *name)
{
    const struct charge *c = find_charge(t, name);
    return !t->priced ? NAN : c ? c->usd : 0;
}

static bool is_waste(const char *name)
{
    return strcmp(name, "(idle)") == 0 || strcmp(name, "(stranded)") == 0 ||
           strcmp(name, "(down)") == 0;
}

static int by_amount(const void *a, const void *b)
{
    const struct payer *x = a, *y = b;
    if (x->most != y->most) return x->most < y->most ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void charge_row(struct strbuf *out, const struct result *r, const char *name, double *sums)
{
    strbuf_addz(out, "<tr><th scope=\"row\">");
    html_text(out, unnamed(name) ? "(no user)" : name);
    strbuf_addz(out, "</th>");
    for (size_t i = 0; i < r->n_policies; i++) {
        double usd = charged(&r->policy[i].tco, name);
        sums[i] += usd;
        usd_cell(out, usd);
    }
    strbuf_addz(out, "</tr>\n");
}

/* What the tenants that are not shown pay together: the total less what was listed and the waste. */
static void other_row(struct strbuf *out, const struct result *r, size_t hidden, const double *sums)
{
    static const char *const waste[] = { "(idle)", "(stranded)", "(down)" };
    strbuf_addz(out, "<tr><th scope=\"row\">");
    html_count(out, hidden);
    strbuf_addz(out, " others</th>");
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct tco_result *t = &r->policy[i].tco;
        double rest = t->total_usd - sums[i];
        for (size_t k = 0; k < 3; k++) rest -= charged(t, waste[k]);
        usd_cell(out, t->priced ? rest : NAN);
    }
    strbuf_addz(out, "</tr>\n");
}

static void chargeback(struct strbuf *out, const struct result *r)
{
    enum { SHOWN = 20 };
    const struct tco_result *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < r->n_policies && !first; i++)
        if (r->policy[i].tco.priced) first = &r->policy[i].tco;
    if (!first) return;
    struct payer *p = xcalloc(first->n_charges + 1, sizeof *p);
    double *sums = xcalloc(r->n_policies, sizeof *sums);
    for (size_t i = 0; i < first->n_charges; i++)
        if (!is_waste(first->charge[i].name))
            p[n++] = (struct payer){ first->charge[i].name, first->charge[i].usd };
    qsort(p, n, sizeof *p, by_amount);
    strbuf_addz(out, "<h3>Who pays</h3>\n");
    note(out,
         "Each user pays the card time held and the energy used; what nobody held stands apart. "
         "The lines add up to the total.");
    strbuf_addz(out, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">user</th>");
    policy_columns(out, r);
    strbuf_addz(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < n && i < SHOWN; i++) charge_row(out, r, p[i].name, sums);
    if (n > SHOWN) other_row(out, r, n - SHOWN, sums);
    charge_row(out, r, "(idle)", sums);
    charge_row(out, r, "(stranded)", sums);
    charge_row(out, r, "(down)", sums);
    strbuf_addz(out, "<tr class=\"sum\"><th scope=\"row\">total</th>");
    for (size_t i = 0; i < r->n_policies; i++)
        usd_cell(out, r->policy[i].tco.priced ? r->policy[i].tco.total_usd : NAN);
    strbuf_addz(out, "</tr>\n</tbody></table></div>\n");
    free(p);
    free(sums);
}

static void money(struct strbuf *out, const struct result *r)
{
    static const struct column columns[] = {
        { "total", "USD", MONEY, AT(tco.total_usd), true, true },
        { "a year", "USD", MONEY, AT(tco.usd_per_year), true, false },
        { "energy", "USD", MONEY, AT(tco.energy_usd), true, false },
        { "net present value", "USD over the term", MONEY, AT(tco.npv_usd), true, true },
        { "equivalent annual cost", "USD a year", MONEY, AT(tco.eac_usd), true, false },
        { "per provisioned GPU-hour", "USD", PRICE, AT(tco.usd_per_gpu_hour), true, true },
        { "per useful GPU-hour", "USD", PRICE, AT(tco.usd_per_useful_gpu_hour), true, false },
        { "per completed job", "USD", PRICE, AT(tco.usd_per_job), true, false },
    };
    bool priced = false;
    for (size_t i = 0; i < r->n_policies; i++) priced = priced || r->policy[i].tco.priced;
    if (!priced) return;
    policy_table(
        out, r,
        "Straight line for the length of the run; present value and equivalent annual cost over "
        "the planning term of the price book, running cost at year end. Straight line writes cards "
        "off to nothing over their life; present value takes off what they still fetch at the end "
        "of the term (retention in the price book), so the two do not convert into each other. "
        "Before tax.",
        NULL, columns, sizeof columns / sizeof *columns);
    items(out, r);
    chargeback(out, r);
}

/* ---- how far to trust it ---- */

static void effective(struct strbuf *out, const struct result *r)
{
    strbuf_addz(out, "<h3>Work done against peak</h3>\n<div class=\"scroll\"><table><thead><tr><th "
                     "scope=\"col\">policy</th><th class=\"text\" scope=\"col\">precision</th><th "
                     "scope=\"col\">effective</th><th scope=\"col\">peak of the fleet, dense</th>"
                     "<th class=\"text\" scope=\"col\">unit</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < r->n_policies; i++)
        for (int p = 0; p < PREC_COUNT; p++) {
            const struct gpu_result *g = &r->policy[i].gpu;
            if (!isfinite(g->effective_ops[p])) continue;
            policy_head(out, r, i);
            text_cell(out, precision_names[p]);
            strbuf_addz(out, g->effective_is_upper_bound ? "<td>at most " : "<td>");
            html_figure(out, g->effective_ops[p] / 1e12);
            strbuf_addz(out, "</td><td>");
            html_figure(out, g->peak_ops[p] / 1e12);
            strbuf_addz(out, "</td>");
            text_cell(out, precision_is_integer((enum precision)p) ? "TOPS" : "TFLOPS");
            strbuf_addz(out, "</tr>\n");
        }
    strbuf_addz(out, "</tbody></table></div>\n");
}

static bool seen_before(const struct result *r, size_t policy, size_t param)
{
    const struct param_result *p = &r->policy[policy].param[param];
    for (size_t i = 0; i < policy; i++)
        for (size_t k = 0; k < r->policy[i].n_params; k++) {
            const struct param_result *o = &r->policy[i].param[k];
            if (!isnan(o->value) && strcmp(o->name, p->name) == 0 && strcmp(o->fleet, p->fleet) == 0)
                return true;
        }
    return false;
}

/* The parameters that some policy used, each once. */
static void parameters(struct strbuf *out, const struct result *r)
{
    strbuf_addz(out, "<h3>Each parameter, with its range</h3>\n<div class=\"scroll\"><table><thead><tr>"
                     "<th scope=\"col\">parameter</th><th class=\"text\" scope=\"col\">cards</th>"
                     "<th scope=\"col\">value</th><th scope=\"col\">low</th><th scope=\"col\">high</th>"
                     "<th class=\"text\" scope=\"col\">unit</th><th class=\"text\" scope=\"col\">known"
                     "</th><th class=\"text\" scope=\"col\">source</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < r->n_policies; i++)
        for (size_t k = 0; k < r->policy[i].n_params; k++) {
            const struct param_result *p = &r->policy[i].param[k];
            if (isnan(p->value) || seen_before(r, i, k)) continue;
            const char *const text[] = { p->name, p->fleet, p->unit, p->provenance, p->source };
            const double number[] = { p->value, p->low, p->high };
            strbuf_addz(out, "<tr><th scope=\"row\">");
            html_text(out, text[0]);
            strbuf_addz(out, "</th>");
            text_cell(out, text[1]);
            for (size_t n = 0; n < 3; n++) {
                strbuf_addz(out, "<td>");
                html_figure(out, number[n]);
                strbuf_addz(out, "</td>");
            }
            for (size_t t = 2; t < 5; t++) text_cell(out, text[t]);
            strbuf_addz(out, "</tr>\n");
        }
    strbuf_addz(out, "</tbody></table></div>\n");
}

static void assumptions(struct strbuf *out, const struct result *r)
{
    static const struct column columns[] = {
        { "measured", "parameters", COUNT, AT(provenance[PROV_MEASURED]), false, true },
        { "published", "parameters", COUNT, AT(provenance[PROV_PUBLISHED]), false, false },
        { "assumed", "parameters", COUNT, AT(provenance[PROV_ASSUMED]), false, false },
    };
    static const char *const missing[] = {
        "Peaks are not throughput: job times come from the trace, never from operations per second.",
        "A job's use of the card is one constant signature; phases within a job are averaged.",
        "Contention on the network, on storage and between host processes.",
        "People who change their behaviour because waits change.",
        "Purchase lead times, quotes, discounts and taxes; prices are those of their dates.",
        "Isolation and security of the sharing methods, which no figure here rates.",
    };
    bool any = false;
    heading(out, "assumptions", "What the answer rests on");
    policy_table(
        out, r,
        "How the device parameters that each policy used are known. Measured: by calibrate on such "
        "a card. Published: by others, with a source. Assumed: a default that nobody measured, or "
        "a value set in the scenario; those stand in the scenario at the end of this page.",
        NULL, columns, sizeof columns / sizeof *columns);
    parameters(out, r);
    report_validation(r, out);
    for (size_t i = 0; i < r->n_policies; i++)
        for (int p = 0; p < PREC_COUNT; p++)
            any = any || isfinite(r->policy[i].gpu.effective_ops[p]);
    if (any) effective(out, r);
    heading(out, "limits", "What is not modelled");
    strbuf_addz(out, "<ul>\n");
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        strbuf_addz(out, "<li>");
        html_text(out, missing[i]);
        strbuf_addz(out, "</li>\n");
    }
    strbuf_addz(out, "</ul>\n");
}

static void term(struct strbuf *out, const char *name, const char *text)
{
    strbuf_addf(out, "<dt>%s</dt><dd><code>", name);
    html_text(out, text);
    strbuf_addz(out, "</code></dd>\n");
}

static void reproduce(struct strbuf *out, const struct result *r)
{
    struct strbuf text = { 0 };
    heading(out, "reproduce", "How to get the same figures");
    strbuf_addz(out, "<dl>\n");
    term(out, "gpusim", r->version);
    strbuf_addf(&text, "%llu", (unsigned long long)r->seed);
    term(out, "seed", text.s);
    term(out, "scenario SHA-256", r->scenario_sha256);
    for (size_t i = 0; i < r->n_traces; i++) term(out, "trace SHA-256", r->trace_sha256[i]);
    for (size_t i = 0; i < r->n_inputs; i++) {
        strbuf_clear(&text);
        strbuf_addf(&text, "%s %s", r->input[i].name, r->input[i].sha256);
        term(out, r->input[i].kind, text.s);
    }
    strbuf_clear(&text);
    for (size_t i = 0; i < r->n_policies; i++)
        strbuf_addf(&text, "%s%s: %llu events, %llu trace rows", i ? "; " : "", r->policy[i].name,
                    (unsigned long long)r->policy[i].events,
                    (unsigned long long)r->policy[i].trace_rows);
    if (text.s) term(out, "engine", text.s);
    strbuf_addz(
        out, "</dl>\n<p>Same scenario, traces, seed and version give the same bytes. Every figure "
             "here is in <code>result.json</code>, <code>jobs.csv</code> or "
             "<code>series.csv</code>; each picture has its data and script in "
             "<code>plots/</code>.</p>\n");
    if (r->scenario) {
        strbuf_clear(&text);
        json_write(r->scenario, &text);
        strbuf_addz(out,
                    "<details><summary>The scenario with every default filled in</summary><pre>");
        html_text(out, text.s);
        strbuf_addz(out, "</pre></details>\n");
    }
    strbuf_fini(&text);
}

void report_page(const struct result *r, const struct report_picture *pictures, size_t n,
                 struct strbuf *out)
{
    strbuf_addz(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                     "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    html_text(out, r->scenario_name);
    strbuf_addz(out, " - gpusim report</title>\n<style>\n");
    strbuf_addz(out, style);
    strbuf_addz(out, "</style>\n</head>\n<body>\n");
    answer(out, r);
    warnings(out, r);
    comparison(out, r);
    report_services(r, out);
    differences(out, r);
    for (size_t i = 0; i < n; i++) {
        picture(out, &pictures[i]);
        if (strcmp(pictures[i].name, "wait_cdf") == 0) classes(out, r);
    }
    money(out, r);
    assumptions(out, r);
    reproduce(out, r);
    strbuf_addz(out, "</body>\n</html>\n");
}
