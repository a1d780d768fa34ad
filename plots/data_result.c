/* plots/data_result.c - pictures that need nothing but result.json. */
#include "plots/report_data.h"

#include "base/mem.h"
#include "base/outfile.h"
#include "base/str.h"
#include "base/vec.h"
#include "plots/gnuplot.h"
#include "plots/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COST_COLUMNS = 10, /* more cannot be told apart */ PAYERS = 7 };

void data_name(struct strbuf *out, const char *s)
{
    if (*s == '#') {
        strbuf_addz(out, "\xEF\xBC\x83"); /* full-width number sign */
        s++;
    }
    for (; *s; s++) strbuf_addc(out, *s == '"' ? '\'' : (unsigned char)*s < 0x20 ? ' ' : *s);
}

void data_number(struct strbuf *out, double x)
{
    if (isfinite(x))
        strbuf_addf(out, "\t%.9g", x);
    else
        strbuf_addz(out, "\tNaN");
}

int data_write(struct strbuf *text, const char *path, struct err *e)
{
    int rc = outfile_write(path, text->s, text->len, e);
    strbuf_fini(text);
    return rc == 0 ? 1 : rc;
}

size_t data_place(const struct result *r, size_t i)
{
    struct palette all = { 0 };
    palette_add_all(&all, json_object_get(r->scenario, "policies"));
    for (size_t k = 0; k < r->n_policies; k++) palette_add(&all, r->policy[k].name);
    return palette_place(&all, r->policy[i].name);
}

int data_style(const struct result *r, const char *dir, enum lang lang, struct err *e)
{
    size_t *place = xcalloc(r->n_policies + 1, sizeof *place);
    bool some = false;
    for (size_t i = 0; i < r->n_policies; i++) {
        place[i] = data_place(r, i);
        some = some || place[i] != i + 1;
    }
    const int rc = gnuplot_style(dir, place, some ? r->n_policies : 0, NULL, lang, e);
    free(place);
    return rc;
}

/* The first row: names of the columns. */
static void heads(struct strbuf *out, enum lang lang, const enum word *w, size_t n)
{
    for (size_t i = 0; i < n; i++) strbuf_addf(out, "%s%s", i ? "\t" : "", word(lang, w[i]));
    strbuf_addc(out, '\n');
}

static void policy_heads(struct strbuf *out, const struct result *r)
{
    for (size_t i = 0; i < r->n_policies; i++) {
        strbuf_addc(out, '\t');
        data_name(out, r->policy[i].name);
    }
}

/* Where every job was rejected no time has passed, and there are no shares of it. */
static bool any_time(const struct result *r)
{
    for (size_t i = 0; i < r->n_policies; i++)
        if (isfinite(r->policy[i].gpu.allocated)) return true;
    return false;
}

int data_card_time(const struct source *s, const char *path, struct err *e)
{
    static const enum word names[] = { W_POLICY,   W_SMS_ACTIVE, W_SMS_BEYOND, W_HELD_IDLE,
                                       W_STRANDED, W_FREE,       W_DOWN };
    const struct result *r = s->r;
    struct strbuf out = { 0 };
    if (!any_time(r)) return 0;
    heads(&out, s->lang, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct gpu_result *g = &r->policy[i].gpu;
        /* Quota that is lent lets SMs work in time nobody holds: shown apart, taken from free. */
        double lent = fmin(fmax(g->sm_active - g->allocated, 0), fmax(g->free_share, 0));
        double busy = fmin(g->sm_active, g->allocated);
        data_name(&out, r->policy[i].name);
        data_number(&out, busy);
        data_number(&out, lent);
        data_number(&out, g->allocated - busy);
        data_number(&out, g->stranded);
        data_number(&out, g->free_share - lent);
        data_number(&out, g->down);
        strbuf_addc(&out, '\n');
    }
    return data_write(&out, path, e);
}

int data_use(const struct source *s, const char *path, struct err *e)
{
    static const enum word names[] = { W_ALLOCATION, W_DUTY_CYCLE, W_SM_ACTIVITY, W_MEMORY };
    const struct result *r = s->r;
    struct strbuf out = { 0 };
    if (!any_time(r)) return 0;
    strbuf_addz(&out, word(s->lang, W_FIGURE));
    policy_heads(&out, r);
    strbuf_addc(&out, '\n');
    for (size_t k = 0; k < 4; k++) {
        strbuf_addz(&out, word(s->lang, names[k]));
        for (size_t i = 0; i < r->n_policies; i++) {
            const struct gpu_result *g = &r->policy[i].gpu;
            const double use[] = { g->allocated, g->duty, g->sm_active, g->memory };
            data_number(&out, use[k]);
        }
        strbuf_addc(&out, '\n');
    }
    return data_write(&out, path, e);
}

/* ---- against the first policy ---- */

/* Of a figure, policy `i` against the first; NULL: not compared. */
static const struct comparison_row *difference_of(const struct result *r, size_t i,
                                                  const char *metric)
{
    for (size_t k = 0; k < r->n_comparisons; k++)
        if (strcmp(r->comparison[k].policy, r->policy[i].name) == 0 &&
            strcmp(r->comparison[k].metric, metric) == 0)
            return &r->comparison[k];
    return NULL;
}

/* What a difference is a share of. */
static double base_of(const struct comparison_row *c)
{
    return c && c->first > 0 ? c->first : NAN;
}

/* Figures that no policy has a difference in are left out. */
int data_differences(const struct source *s, const char *path, struct err *e)
{
    static const struct {
        const char *metric;
        enum word words;
    } shown[] = { { "wait_s.mean", W_WAIT_MEAN },
                  { "wait_s.p95", W_WAIT_P95 },
                  { "turnaround_s.mean", W_TURNAROUND_MEAN },
                  { "slowdown.p95", W_SLOWDOWN_P95 },
                  { "energy_kwh", W_ENERGY_BOARD },
                  { "usd_per_useful_gpu_hour", W_COST_PER_USEFUL } };
    enum { ALL = sizeof shown / sizeof *shown };
    const struct result *r = s->r;
    struct strbuf out = { 0 };
    bool known[ALL] = { false };
    size_t rows = 0;
    for (size_t m = 0; m < ALL; m++) {
        for (size_t i = 1; i < r->n_policies; i++) {
            const struct comparison_row *c = difference_of(r, i, shown[m].metric);
            known[m] = known[m] || (c && isfinite(c->difference / base_of(c)));
        }
        rows += known[m];
    }
    if (rows == 0) return 0;
    for (size_t i = 1; i < r->n_policies; i++) {
        size_t place = 0;
        if (i > 1) strbuf_addz(&out, "\n\n");
        data_name(&out, r->policy[i].name);
        strbuf_addz(&out, "\tfigure\tpolicies\tdifference\tlow\thigh\n");
        for (size_t m = 0; m < ALL; m++) {
            const struct comparison_row *c = difference_of(r, i, shown[m].metric);
            if (!known[m]) continue;
            strbuf_addf(&out, "%zu\t%s\t%zu", place++, word(s->lang, shown[m].words),
                        r->n_policies - 1);
            data_number(&out, c ? c->difference / base_of(c) : NAN);
            data_number(&out, c ? c->low / base_of(c) : NAN);
            data_number(&out, c ? c->high / base_of(c) : NAN);
            strbuf_addc(&out, '\n');
        }
    }
    return data_write(&out, path, e);
}

/* Cost of useful work against what the jobs wait for it. */
int data_pareto(const struct source *s, const char *path, struct err *e)
{
    const struct result *r = s->r;
    struct strbuf out = { 0 };
    double least = INFINITY;
    size_t n = 0;
    for (size_t i = 0; i < r->n_policies; i++) {
        const double w = r->policy[i].stats.wait_s.p95;
        if (w > 0 && w < least) least = w;
    }
    const double edge = isfinite(least) ? least / 10 : 1;
    strbuf_addz(&out, "policy\tedge\twait_p95_s\tusd_per_useful_gpu_hour\tlost\tbest\tplace\n");
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *p = &r->policy[i];
        const double wait = p->stats.wait_s.p95,
                     usd = p->tco.priced ? p->tco.usd_per_useful_gpu_hour : NAN;
        const double lost = p->jobs.submitted
                                ? (double)(p->jobs.failed + p->jobs.killed + p->jobs.rejected) /
                                      (double)p->jobs.submitted
                                : 0;
        bool best = isfinite(wait) && isfinite(usd) && lost <= 0.01;
        n += isfinite(wait) && isfinite(usd);
        for (size_t k = 0; k < r->n_policies && best; k++) {
            const struct policy_result *o = &r->policy[k];
            const double w = o->stats.wait_s.p95, u = o->tco.usd_per_useful_gpu_hour;
            const uint64_t gone = o->jobs.failed + o->jobs.killed + o->jobs.rejected;
            if ((double)gone > 0.01 * (double)o->jobs.submitted) continue;
            if (w <= wait && u <= usd && (w < wait || u < usd)) best = false;
        }
        data_name(&out, p->name);
        data_number(&out, edge);
        data_number(&out, fmax(wait, edge));
        data_number(&out, isfinite(wait) ? usd : NAN);
        data_number(&out, lost);
        strbuf_addf(&out, "\t%d\t%d\n", best, isfinite(usd) ? data_cost_place(r, i, usd) : 0);
    }
    if (n) return data_write(&out, path, e);
    strbuf_fini(&out);
    return 0;
}

/* ---- services ---- */

/* A target of this figure, in ms; NAN: none at that percentile. */
static double target_of(const struct service_result *v, const char *figure, int percentile)
{
    for (size_t i = 0; i < v->n_targets; i++) {
        const char *name = v->target[i].name;
        size_t len = strlen(figure);
        if (str_starts(name, figure) && name[len] == '_' && name[len + 1] == 'p' &&
            atoi(name + len + 2) == percentile)
            return v->target[i].target_ms;
    }
    return NAN;
}

int data_latency(const struct source *s, const char *path, struct err *e)
{
    static const struct {
        const char *name;
        size_t offset;
    } figure[] = { { "wait", offsetof(struct service_result, wait_ms) },
                   { "latency", offsetof(struct service_result, latency_ms) },
                   { "ttft", offsetof(struct service_result, ttft_ms) },
                   { "tpot", offsetof(struct service_result, tpot_ms) } };
    static const int percent[] = { 50, 90, 95, 99 };
    const struct result *r = s->r;
    struct strbuf out = { 0 };
    size_t panels = 0;
    for (size_t k = 0; r->n_policies && k < r->policy[0].n_services; k++)
        for (size_t f = 0; f < sizeof figure / sizeof *figure; f++) {
            bool any = false;
            for (size_t i = 0; i < r->n_policies; i++) {
                const char *at = (const char *)&r->policy[i].service[k] + figure[f].offset;
                any = any || (k < r->policy[i].n_services &&
                              ((const struct summary *)(const void *)at)->p50 > 0);
            }
            if (!any) continue;
            if (panels++) strbuf_addz(&out, "\n\n");
            data_name(&out, r->policy[0].service[k].name);
            strbuf_addf(&out, ": %s\t%s", word_of(s->lang, figure[f].name),
                        word(s->lang, W_TARGET));
            policy_heads(&out, r);
            strbuf_addc(&out, '\n');
            for (size_t q = 0; q < 4; q++) {
                strbuf_addf(&out, "%zu", q);
                data_number(&out, target_of(&r->policy[0].service[k], figure[f].name, percent[q]));
                for (size_t i = 0; i < r->n_policies; i++) {
                    const char *at = (const char *)&r->policy[i].service[k] + figure[f].offset;
                    const struct summary *x = (const void *)at;
                    const double v[] = { x->p50, x->p90, x->p95, x->p99 };
                    data_number(&out, k < r->policy[i].n_services && v[q] > 0 ? v[q] : NAN);
                }
                strbuf_addc(&out, '\n');
            }
        }
    if (panels) return data_write(&out, path, e);
    strbuf_fini(&out);
    return 0;
}

int data_precision(const struct source *s, const char *path, struct err *e)
{
    const struct result *r = s->r;
    struct strbuf out = { 0 };
    size_t rows = 0;
    strbuf_addf(&out, "%s\t%s", word(s->lang, W_PRECISION), word(s->lang, W_PEAK_DENSE));
    policy_heads(&out, r);
    strbuf_addc(&out, '\n');
    for (int k = 0; k < PREC_COUNT; k++) {
        double peak = NAN;
        bool any = false;
        for (size_t i = 0; i < r->n_policies; i++) {
            const struct gpu_result *g = &r->policy[i].gpu;
            any = any || g->effective_ops[k] > 0;
            if (isfinite(g->peak_ops[k]) && !(peak >= g->peak_ops[k])) peak = g->peak_ops[k];
        }
        if (!any) continue;
        rows++;
        strbuf_addf(&out, "%s %s", precision_names[k],
                    precision_is_integer((enum precision)k) ? "TOPS" : "TFLOPS");
        data_number(&out, peak / 1e12);
        for (size_t i = 0; i < r->n_policies; i++) {
            const double x = r->policy[i].gpu.effective_ops[k] / 1e12;
            data_number(&out, x > 0 ? x : NAN);
        }
        strbuf_addc(&out, '\n');
    }
    if (rows) return data_write(&out, path, e);
    strbuf_fini(&out);
    return 0;
}

/* ---- cost ---- */

struct cost_column {
    const char *name;
    double most; /* over the policies */
};

static double item_usd(const struct policy_result *p, const char *name)
{
    double usd = 0;
    for (size_t i = 0; i < p->tco.n_items; i++)
        if (strcmp(p->tco.item[i].name, name) == 0) usd += p->tco.item[i].usd;
    return usd;
}

/* Distinct items that cost something, in order of first appearance. The caller frees. */
static struct cost_column *cost_columns(const struct result *r, size_t *n)
{
    VEC(struct cost_column) c = { 0 };
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct tco_result *t = &r->policy[i].tco;
        for (size_t k = 0; k < t->n_items; k++) {
            const char *name = t->item[k].name;
            double usd = item_usd(&r->policy[i], name);
            size_t at = 0;
            if (!(usd > 0)) continue;
            while (at < c.n && strcmp(c.v[at].name, name) != 0) at++;
            if (at == c.n)
                vec_push(&c, ((struct cost_column){ name, usd }));
            else if (usd > c.v[at].most)
                c.v[at].most = usd;
        }
    }
    *n = c.n;
    return c.v;
}

/* Keep the nine largest, in their order. */
static void keep_largest(struct cost_column *c, size_t *n)
{
    while (*n > COST_COLUMNS - 1) {
        size_t least = 0;
        for (size_t i = 1; i < *n; i++)
            if (c[i].most < c[least].most) least = i;
        memmove(c + least, c + least + 1, (*n - least - 1) * sizeof *c);
        --*n;
    }
}

int data_cost(const struct source *s, const char *path, struct err *e)
{
    const struct result *r = s->r;
    struct strbuf out = { 0 };
    size_t all, n;
    struct cost_column *c = cost_columns(r, &all);
    n = all;
    if (n == 0) {
        free(c);
        return 0;
    }
    struct arena *a = arena_create();
    if (n > COST_COLUMNS) keep_largest(c, &n);
    strbuf_addz(&out, word(s->lang, W_POLICY));
    for (size_t k = 0; k < n; k++) {
        strbuf_addc(&out, '\t');
        data_name(&out, word_of_item(s->lang, a, c[k].name));
    }
    arena_destroy(a);
    if (n < all) strbuf_addf(&out, "\t%s", word(s->lang, W_OTHER));
    strbuf_addz(&out, "\tplace\n");
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *p = &r->policy[i];
        double rest = p->tco.priced ? p->tco.total_usd : 0;
        data_name(&out, p->name);
        for (size_t k = 0; k < n; k++) {
            double usd = item_usd(p, c[k].name);
            rest -= usd;
            data_number(&out, usd);
        }
        if (n < all) data_number(&out, fmax(rest, 0));
        strbuf_addf(&out, "\t%d\n", p->tco.priced ? data_cost_place(r, i, p->tco.total_usd) : 0);
    }
    free(c);
    return data_write(&out, path, e);
}

/* ---- who pays ---- */

static double charge_usd(const struct tco_result *t, const char *name)
{
    for (size_t i = 0; i < t->n_charges; i++)
        if (strcmp(t->charge[i].name, name) == 0) return t->charge[i].usd;
    return 0;
}

/* The users that pay most under the first priced policy, all others together, and what nobody
 * held. */
int data_payers(const struct source *s, const char *path, struct err *e)
{
    static const char *const waste[] = { "(idle)", "(stranded)", "(down)" };
    const struct result *r = s->r;
    const struct tco_result *first = NULL;
    const char *payer[PAYERS];
    struct strbuf out = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < r->n_policies && !first; i++)
        if (r->policy[i].tco.priced && r->policy[i].tco.n_charges) first = &r->policy[i].tco;
    if (!first) return 0;
    while (n < PAYERS) {
        const struct charge *next = NULL;
        for (size_t k = 0; k < first->n_charges; k++) {
            const struct charge *c = &first->charge[k];
            bool taken = strcmp(c->name, waste[0]) == 0 || strcmp(c->name, waste[1]) == 0 ||
                         strcmp(c->name, waste[2]) == 0;
            for (size_t i = 0; i < n; i++) taken = taken || strcmp(payer[i], c->name) == 0;
            if (!taken && (!next || c->usd > next->usd)) next = c;
        }
        if (!next) break;
        payer[n++] = next->name;
    }
    strbuf_addz(&out, word(s->lang, W_POLICY));
    for (size_t i = 0; i < n; i++) {
        bool unnamed = !*payer[i] || strcmp(payer[i], "(none)") == 0;
        strbuf_addc(&out, '\t');
        data_name(&out,
                  unnamed ? word(s->lang, W_NO_USER) : word_of_payer(s->lang, s->d->a, payer[i]));
    }
    strbuf_addf(&out, "\t%s\t%s\t%s\tplace\n", word(s->lang, W_ALL_OTHERS), word(s->lang, W_C_IDLE),
                word(s->lang, W_C_STRANDED_DOWN));
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct tco_result *t = &r->policy[i].tco;
        double rest = t->total_usd;
        data_name(&out, r->policy[i].name);
        for (size_t k = 0; k < n; k++) {
            const double usd = t->priced ? charge_usd(t, payer[k]) : 0;
            rest -= usd;
            data_number(&out, usd);
        }
        const double idle = charge_usd(t, waste[0]),
                     out_of_use = charge_usd(t, waste[1]) + charge_usd(t, waste[2]);
        data_number(&out, t->priced ? fmax(rest - idle - out_of_use, 0) : 0);
        data_number(&out, t->priced ? idle : 0);
        data_number(&out, t->priced ? out_of_use : 0);
        strbuf_addf(&out, "\t%d\n", t->priced ? data_cost_place(r, i, t->total_usd) : 0);
    }
    return data_write(&out, path, e);
}
