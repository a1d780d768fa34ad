/* plots/page_jobs.c - pictures; waits by class; services. */
#include "plots/page.h"

#include "plots/beside.h"
#include "plots/figure_words.h"
#include "plots/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct report_picture *find(const struct page *p, const char *name)
{
    for (size_t i = 0; i < p->n_pictures; i++)
        if (strcmp(p->picture[i].name, name) == 0) return &p->picture[i];
    return NULL;
}

bool page_has_picture(const struct page *p, const char *name)
{
    const struct report_picture *x = find(p, name);
    return x && (x->has_data || x->absent != W_NONE);
}

void page_picture(struct page *p, const char *name)
{
    const struct report_picture *x = find(p, name);
    if (!x || !page_has_picture(p, name)) return;
    strbuf_addz(p->out, "<div class=\"pic\">\n"); /* on paper two stand side by side */
    if (x->below)
        page_subheading(p, x->name, x->heading);
    else
        page_heading(p, x->name, x->heading);
    if (!x->has_data) {
        strbuf_addf(p->out, "<p class=\"soft\">%s</p>\n</div>\n", page_word(p, x->absent));
        return;
    }
    strbuf_addz(p->out, "<figure>\n");
    if (x->drawn) {
        strbuf_addf(p->out,
                    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s%s\">",
                    page_word(p, x->heading), page_word(p, W_AS_PICTURE));
        const char *svg = strstr(x->svg.s, "<svg"); /* without the XML declaration */
        strbuf_addf(p->out, "%s</div>\n", svg ? svg : "");
    } else {
        strbuf_addz(p->out, "<p class=\"warn\">");
        SAY(p, W_NOT_DRAWN, x->name);
        strbuf_addz(p->out, "</p>\n");
    }
    strbuf_addf(p->out, "<figcaption>%s</figcaption>\n</figure>\n</div>\n",
                page_word(p, x->caption));
}

/* ---- a sweep of the same scenario ---- */

void page_sweep(struct page *p)
{
    const struct beside *b = p->beside;
    if (!b || !b->name) return;
    page_heading(p, "sweep", W_H_SWEEP);
    strbuf_addz(p->out, "<p class=\"note\">");
    SAY(p, b->n ? W_SWEEP_NOTE : W_SWEEP_NOT_DRAWN, html_of(p, b->name));
    strbuf_addz(p->out, "</p>\n");
    if (b->other) {
        strbuf_addz(p->out, "<p class=\"warn\">");
        SAY(p, W_RUN_OF_VERSION, html_of(p, b->other), html_of(p, b->version), GPUSIM_VERSION);
        strbuf_addz(p->out, "</p>\n");
    }
    for (size_t i = 0; i < b->n; i++) {
        const struct beside_curve *c = &b->curve[i];
        const char *svg = strstr(c->svg.s ? c->svg.s : "", "<svg");
        const char *figure = html_of(p, figure_words(p->lang, p->a, c->figure, NULL, NULL)),
                   *axis = html_of(p, axis_words(p->lang, p->a, c->axis));
        strbuf_addz(p->out, "<div class=\"pic\">\n<figure>\n<figcaption>");
        SAY(p, W_OVER_AXIS, figure, axis);
        strbuf_addz(p->out, "</figcaption>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                            "aria-label=\"");
        SAY(p, W_OVER_AXIS, figure, axis);
        strbuf_addf(p->out, "\">%s</div>\n</figure>\n</div>\n", svg ? svg : "");
    }
}

/* ---- per class ---- */

static const struct job_group_result *find_group(const struct job_group_result *g, size_t n,
                                                 const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(g[i].name, name) == 0) return &g[i];
    return NULL;
}

/* The classes are those of the first policy: all policies meet the same jobs. */
void page_classes(struct page *p)
{
    const struct result *r = p->r;
    struct grid t;
    if (r->n_policies == 0 || r->policy[0].n_classes == 0) return;
    const struct policy_result *first = &r->policy[0];
    page_subheading(p, "by_class", W_WAITS_BY_CLASS);
    page_warmup_note(p);
    grid_open(&t, p, "classes", W_WAITS_BY_CLASS);
    grid_group(&t, NULL, 1);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    for (size_t k = 0; k < first->n_classes; k++) {
        const char *name = first->by_class[k].name;
        grid_group(&t, page_unnamed(name) ? page_word(p, W_NO_CLASS) : name, 3);
        grid_column(&t, page_word(p, W_COMPLETED), page_word(p, W_JOBS), false);
        grid_column(&t, page_word(p, W_WAIT_P50), NULL, false);
        grid_column(&t, page_word(p, W_WAIT_P95), NULL, false);
    }
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *x = &r->policy[i];
        grid_row(&t, false);
        grid_policy(&t, i);
        for (size_t k = 0; k < first->n_classes; k++) {
            const struct job_group_result *g =
                find_group(x->by_class, x->n_classes, first->by_class[k].name);
            grid_count(&t, g ? g->count.completed : 0);
            grid_number(&t, g ? g->stats.wait_s.p50 : NAN, SECONDS);
            grid_number(&t, g ? g->stats.wait_s.p95 : NAN, SECONDS);
        }
    }
    grid_close(&t);
}

/* ---- faults ---- */

bool page_has_failures(const struct page *p)
{
    for (size_t i = 0; i < p->r->n_policies; i++)
        if (p->r->policy[i].failures.any) return true;
    return false;
}

/* What failed, whom it struck, and what that cost; with how far a fault reaches under each
 * policy. */
void page_failures(struct page *p)
{
    static const struct column columns[] = {
        { W_FAULTS, W_OF_CARDS, W_NONE, COUNT, AT(failures.card_faults), false },
        { W_FAULTS, W_OF_NODES, W_NONE, COUNT, AT(failures.node_faults), false },
        { W_FAULTS, W_OF_RACKS, W_NONE, COUNT, AT(failures.rack_faults), false },
        { W_FAULTS, W_OF_PROGRAMS, W_NONE, COUNT, AT(failures.job_faults), false },
        { W_JOBS, W_STRUCK, W_NONE, COUNT, AT(failures.jobs_struck), false },
        { W_JOBS, W_GIVEN_UP, W_NONE, COUNT, AT(failures.jobs_given_up), false },
        { W_CARD_TIME, W_WORK_LOST, W_GPU_HOURS, FIGURE, AT(failures.lost_gpu_hours), false },
        { W_CARD_TIME, W_DOWN, W_GPU_HOURS, FIGURE, AT(failures.down_gpu_hours), false },
        { W_CARD_TIME, W_ABSENT, W_GPU_HOURS, FIGURE, AT(failures.absent_gpu_hours), false },
    };
    if (!page_has_failures(p)) return;
    page_heading(p, "failures", W_H_FAILURES);
    page_policy_table(p, "failures-table", W_H_FAILURES, W_FAILURES_NOTE, columns,
                      sizeof columns / sizeof *columns);
}
