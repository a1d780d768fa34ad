/* plots/page_charge.c - who pays: users, groups of users, classes of work. */
#include "plots/page.h"

#include "base/mem.h"
#include "plots/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void grid_usd_columns(struct grid *t)
{
    for (size_t i = 0; i < t->p->r->n_policies; i++)
        grid_policy_column(t, i, page_word(t->p, W_USD));
}

void grid_totals(struct grid *t)
{
    grid_row(t, true);
    grid_name(t, page_word(t->p, W_TOTAL), NULL);
    for (size_t i = 0; i < t->p->r->n_policies; i++) {
        const struct tco_result *x = &t->p->r->policy[i].tco;
        grid_cost(t, i, x->priced ? x->total_usd : NAN, x->total_usd, MONEY);
    }
}

/* One line of the chargeback: a tenant, or one of "(idle)", "(stranded)", "(down)". */
struct payer {
    const char *name;
    double most; /* over the policies */
};

/* A bill: by user, or by group of the trace. */
struct bill {
    const struct charge *line;
    size_t n;
};

static struct bill bill_of(const struct tco_result *t, bool teams)
{
    return teams ? (struct bill){ t->team, t->n_teams } : (struct bill){ t->charge, t->n_charges };
}

static double charged(const struct tco_result *t, const char *name, bool teams)
{
    const struct bill b = bill_of(t, teams);
    for (size_t i = 0; i < b.n; i++)
        if (strcmp(b.line[i].name, name) == 0) return t->priced ? b.line[i].usd : NAN;
    return t->priced ? 0 : NAN;
}

static const char *const waste[] = { "(idle)", "(stranded)", "(down)" };

static bool is_waste(const char *name)
{
    for (size_t i = 0; i < 3; i++)
        if (strcmp(name, waste[i]) == 0) return true;
    return false;
}

static int by_amount(const void *a, const void *b)
{
    const struct payer *x = a, *y = b;
    if (x->most != y->most) return x->most < y->most ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void charge_row(struct grid *t, const char *name, bool teams, double *sum)
{
    const struct page *p = t->p;
    const enum word nobody = teams ? W_NO_GROUP : W_NO_USER;
    grid_row(t, false);
    grid_name(t, page_unnamed(name) ? page_word(p, nobody) : word_of_payer(p->lang, p->a, name),
              NULL);
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const double usd = charged(&p->r->policy[i].tco, name, teams);
        sum[i] += usd;
        grid_cost(t, i, usd, p->r->policy[i].tco.total_usd, MONEY);
    }
}

/* What the tenants that are not shown pay together: the total less what was listed and the
 * waste. */
static void other_row(struct grid *t, size_t hidden, bool teams, const double *sum)
{
    struct page *p = t->p;
    char *name = xasprintf("%s %s", html_of_count(p, hidden),
                           page_word(p, teams ? W_OTHER_GROUPS : W_OTHERS));
    grid_row(t, false);
    grid_name(t, name, NULL);
    free(name);
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct tco_result *x = &p->r->policy[i].tco;
        double rest = x->total_usd - sum[i];
        for (size_t k = 0; k < 3; k++) rest -= charged(x, waste[k], teams);
        grid_cost(t, i, x->priced ? rest : NAN, x->total_usd, MONEY);
    }
}

static void chargeback(struct page *p, bool teams)
{
    enum { SHOWN = 20 };
    const struct result *r = p->r;
    struct bill first = { NULL, 0 };
    struct grid t;
    size_t n = 0;
    for (size_t i = 0; i < r->n_policies && first.n == 0; i++)
        if (r->policy[i].tco.priced) first = bill_of(&r->policy[i].tco, teams);
    if (first.n == 0) return;
    struct payer *payer = xcalloc(first.n, sizeof *payer);
    double *sum = xcalloc(r->n_policies, sizeof *sum);
    for (size_t i = 0; i < first.n; i++)
        if (!is_waste(first.line[i].name))
            payer[n++] = (struct payer){ first.line[i].name, first.line[i].usd };
    qsort(payer, n, sizeof *payer, by_amount);
    if (!teams) page_subheading(p, "who_pays", W_WHO_PAYS);
    page_note(p, teams ? W_TEAMS_PAY_NOTE : W_WHO_PAYS_NOTE);
    grid_open(&t, p, teams ? "chargeback-groups" : "chargeback", teams ? W_TEAMS_PAY : W_WHO_PAYS);
    grid_column(&t, page_word(p, teams ? W_GROUP : W_USER), NULL, true);
    grid_usd_columns(&t);
    for (size_t i = 0; i < n && i < SHOWN; i++) charge_row(&t, payer[i].name, teams, sum);
    if (n > SHOWN) other_row(&t, n - SHOWN, teams, sum);
    for (size_t i = 0; i < 3; i++) charge_row(&t, waste[i], teams, sum);
    grid_totals(&t);
    grid_close(&t);
    free(payer);
    free(sum);
}

/* ---- classes and services ---- */

static const struct cost_line *line_of(const struct tco_result *t, const char *name)
{
    for (size_t i = 0; i < t->n_classes; i++)
        if (strcmp(t->klass[i].name, name) == 0) return &t->klass[i];
    return NULL;
}

/* The first policy that is priced says which there are: all meet the same work. */
static void by_class(struct page *p)
{
    const struct result *r = p->r;
    const struct tco_result *first = NULL;
    struct grid t;
    for (size_t i = 0; i < r->n_policies && !first; i++)
        if (r->policy[i].tco.priced) first = &r->policy[i].tco;
    if (!first || first->n_classes == 0) return;
    page_subheading(p, "class-costs", W_CLASS_COSTS);
    page_note(p, W_CLASS_COSTS_NOTE);
    grid_open(&t, p, "class-cost", W_CLASS_COSTS);
    grid_group(&t, NULL, 1);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    for (size_t k = 0; k < first->n_classes; k++) {
        const char *name = first->klass[k].name;
        grid_group(&t, page_unnamed(name) ? page_word(p, W_NO_CLASS) : name, 3);
        grid_column(&t, page_word(p, W_CHARGED), page_word(p, W_USD), false);
        grid_column(&t, page_word(p, W_PER_COMPLETED), page_word(p, W_USD), false);
        grid_column(&t, page_word(p, W_PER_USEFUL), page_word(p, W_USD), false);
    }
    for (size_t i = 0; i < r->n_policies; i++) {
        grid_row(&t, false);
        grid_policy(&t, i);
        for (size_t k = 0; k < first->n_classes; k++) {
            const struct cost_line *c = line_of(&r->policy[i].tco, first->klass[k].name);
            const double per_job = c ? c->usd_per_job : NAN,
                         per_hour = c ? c->usd_per_useful_gpu_hour : NAN;
            grid_cost(&t, i, c ? c->usd : NAN, r->policy[i].tco.total_usd, MONEY);
            grid_cost(&t, i, per_job, per_job, PRICE);
            grid_cost(&t, i, per_hour, per_hour, PRICE);
        }
    }
    grid_close(&t);
}

void page_charges(struct page *p)
{
    by_class(p);
    chargeback(p, false);
    page_picture(p, "payers");
    chargeback(p, true);
}
