/* plots/report_data.c - numbers for the pictures. */
#include "plots/report_data.h"

#include "base/csv.h"
#include "base/dec.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/str.h"
#include "base/units.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PER_DECADE = 48, /* log bins of the wait distribution: 5 % wide, about a pixel */
    LOW_DECADE = -3, /* waits under a millisecond count as none */
    DECADES = 13,
    BINS = DECADES * PER_DECADE,
    BUCKETS = 200,     /* intervals over time: about two pixels each; finer ones blur */
    COST_COLUMNS = 10, /* more cannot be told apart */
};

/* A name as one gnuplot field: no tabs, line ends or quotes, and never a comment. */
static void put_name(struct strbuf *out, const char *s)
{
    if (*s == '#') {
        strbuf_addz(out, "\xEF\xBC\x83"); /* full-width number sign */
        s++;
    }
    for (; *s; s++) strbuf_addc(out, *s == '"' ? '\'' : (unsigned char)*s < 0x20 ? ' ' : *s);
}

static void put_number(struct strbuf *out, double x)
{
    if (isfinite(x))
        strbuf_addf(out, "\t%.9g", x);
    else
        strbuf_addz(out, "\tNaN");
}

static int finish(struct strbuf *text, const char *path, struct err *e)
{
    int rc = outfile_write(path, text->s, text->len, e);
    strbuf_fini(text);
    return rc == 0 ? 1 : rc;
}

int report_card_time(const struct result *r, const char *path, struct err *e)
{
    struct strbuf out = { 0 };
    if (r->n_policies == 0) return 0;
    strbuf_addz(&out,
                "policy\tSMs active\tSMs active beyond allocation\tallocated, SMs not active\t"
                "stranded\tfree\tdown\n");
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct gpu_result *g = &r->policy[i].gpu;
        /* Quota that is lent lets SMs work in time nobody holds: shown apart, taken from free. */
        double lent = fmin(fmax(g->sm_active - g->allocated, 0), fmax(g->free_share, 0));
        double busy = fmin(g->sm_active, g->allocated);
        put_name(&out, r->policy[i].name);
        put_number(&out, busy);
        put_number(&out, lent);
        put_number(&out, g->allocated - busy);
        put_number(&out, g->stranded);
        put_number(&out, g->free_share - lent);
        put_number(&out, g->down);
        strbuf_addc(&out, '\n');
    }
    return finish(&out, path, e);
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

int report_cost(const struct result *r, const char *path, struct err *e)
{
    struct strbuf out = { 0 };
    size_t all, n;
    struct cost_column *c = cost_columns(r, &all);
    n = all;
    if (n == 0) {
        free(c);
        return 0;
    }
    if (n > COST_COLUMNS) keep_largest(c, &n);
    strbuf_addz(&out, "policy");
    for (size_t k = 0; k < n; k++) {
        strbuf_addc(&out, '\t');
        put_name(&out, c[k].name);
    }
    strbuf_addz(&out, n < all ? "\tother\n" : "\n");
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct policy_result *p = &r->policy[i];
        double rest = p->tco.priced ? p->tco.total_usd : 0;
        put_name(&out, p->name);
        for (size_t k = 0; k < n; k++) {
            double usd = item_usd(p, c[k].name);
            rest -= usd;
            put_number(&out, usd);
        }
        if (n < all) put_number(&out, fmax(rest, 0));
        strbuf_addc(&out, '\n');
    }
    free(c);
    return finish(&out, path, e);
}

/* ---- reading the CSVs ---- */

/* A CSV with the columns that are wanted, found by name. */
struct table_in {
    struct csv *csv;
    struct csv_row row;
    size_t col[4];
    size_t width; /* fields of the header */
    size_t last; /* policy of the row before: rows of one policy come together */
};

static int table_open(struct table_in *t, const char *path, const char *const *names, size_t n,
                      struct err *e)
{
    const struct csv_format fmt = { .delimiter = ',', .quotes = true };
    *t = (struct table_in){ 0 };
    int rc = csv_open(&t->csv, path, &fmt, e);
    if (rc == 0) rc = csv_next(t->csv, &t->row, e);
    if (rc == 0) rc = err_set(e, ERR_INPUT, &(struct loc){ .file = path }, "the file is empty");
    for (size_t i = 0; i < n && rc > 0; i++) {
        t->col[i] = 0;
        while (t->col[i] < t->row.n && !csv_is(&t->row.f[t->col[i]], names[i])) t->col[i]++;
        if (t->col[i] == t->row.n)
            rc = csv_error(t->csv, &t->row, NULL, e, "expected a column \"%s\"", names[i]);
    }
    t->width = t->row.n;
    if (rc > 0) return 0;
    csv_close(t->csv);
    t->csv = NULL;
    return rc;
}

/* Next row: 1, 0 at the end, or an error. All wanted columns exist afterwards. A row that was cut short is
 * refused even where what is wanted stands before the cut: rows are missing behind it. */
static int table_next(struct table_in *t, struct err *e)
{
    int rc = csv_next(t->csv, &t->row, e);
    if (rc > 0 && t->row.n != t->width)
        rc = csv_error(t->csv, &t->row, NULL, e, "expected %zu fields as in the header, found %zu",
                       t->width, t->row.n);
    return rc;
}

/* The policy a row belongs to; n_policies for one that the result does not know. */
static size_t policy_of(struct table_in *t, const struct result *r)
{
    const struct csv_field *f = &t->row.f[t->col[0]];
    for (size_t k = 0; k < r->n_policies; k++) {
        size_t i = (t->last + k) % r->n_policies;
        if (csv_is(f, r->policy[i].name)) return t->last = i;
    }
    return r->n_policies;
}

/* A number, NAN for an empty field. */
static int number(const struct table_in *t, size_t i, double *x, struct err *e)
{
    const struct csv_field *f = &t->row.f[t->col[i]];
    *x = NAN;
    if (f->len == 0) return 0;
    enum dec_status st = dec_double(f->s, f->len, x);
    if (st == DEC_OK) return 0;
    return csv_error(t->csv, &t->row, f, e, "expected a number: %s", dec_why(st));
}

/* ---- waits ---- */

struct waits {
    uint64_t n, zero;
    uint64_t bin[BINS];
};

static void waits_add(struct waits *w, double x)
{
    w->n++;
    int b = x > 0 ? (int)floor((log10(x) - LOW_DECADE) * PER_DECADE) : -1;
    if (b < 0)
        w->zero++;
    else
        w->bin[b < BINS ? b : BINS - 1]++;
}

static double bin_edge(int b) /* upper */
{
    return pow(10, LOW_DECADE + (double)(b + 1) / PER_DECADE);
}

/* Jobs before the warm-up are not in the statistics, so not in the picture. */
static double warmup_s(const struct result *r)
{
    simtime t;
    const char *s = json_string_value(json_object_get(r->scenario, "warmup"));
    return s && unit_parse_time(s, &t, NULL) == 0 ? simtime_s(t) : 0;
}

static int read_waits(struct waits *w, const struct result *r, const char *path, struct err *e)
{
    static const char *const names[] = { "policy", "submit_s", "wait_s" };
    struct table_in t;
    double from = warmup_s(r), submit, wait;
    int rc = table_open(&t, path, names, 3, e);
    if (rc != 0) return rc;
    while ((rc = table_next(&t, e)) > 0) {
        size_t p = policy_of(&t, r);
        if (p == r->n_policies) continue;
        if ((rc = number(&t, 1, &submit, e)) != 0 || (rc = number(&t, 2, &wait, e)) != 0) break;
        if (isfinite(wait) && submit >= from) waits_add(&w[p], wait);
    }
    csv_close(t.csv);
    return rc;
}

static void put_curve(struct strbuf *out, const struct waits *w, double edge, double last)
{
    uint64_t below = w->zero;
    double all = w->n ? (double)w->n : 1;
    strbuf_addf(out, "%.9g\t%.9g\n", edge, (double)below / all);
    for (int b = 0; b < BINS; b++) {
        if (!w->bin[b]) continue;
        if (b == 0 || !w->bin[b - 1]) /* flat up to where the bin begins */
            strbuf_addf(out, "%.9g\t%.9g\n", fmax(bin_edge(b - 1), edge), (double)below / all);
        below += w->bin[b];
        strbuf_addf(out, "%.9g\t%.9g\n", bin_edge(b), (double)below / all);
    }
    strbuf_addf(out, "%.9g\t%.9g\n", last, (double)below / all);
}

int report_wait_cdf(const struct result *r, const char *jobs_csv, const char *path, struct err *e)
{
    struct strbuf out = { 0 };
    uint64_t started = 0;
    int low = BINS, high = -1;
    if (r->n_policies == 0 || access(jobs_csv, R_OK) != 0) return 0;
    struct waits *w = xcalloc(r->n_policies, sizeof *w);
    int rc = read_waits(w, r, jobs_csv, e);
    for (size_t i = 0; i < r->n_policies; i++) {
        started += w[i].n;
        for (int b = 0; b < BINS; b++) {
            if (!w[i].bin[b]) continue;
            if (b < low) low = b;
            if (b > high) high = b;
        }
    }
    /* Zero stands half a decade left of the shortest wait. */
    double edge = high < 0 ? 0.1 : bin_edge(low - 1) / 3.2, last = high < 0 ? 10 : bin_edge(high);
    for (size_t i = 0; i < r->n_policies; i++) {
        if (i) strbuf_addz(&out, "\n\n");
        put_name(&out, r->policy[i].name);
        strbuf_addz(&out, "\tshare\n");
        put_curve(&out, &w[i], edge, last);
    }
    free(w);
    if (rc == 0 && started > 0) return finish(&out, path, e);
    strbuf_fini(&out);
    return rc;
}

/* ---- allocation and queue over time ---- */

struct bucket {
    double seconds, allocated_s, queued; /* queued: the most in the interval */
};

static int read_load(struct bucket *buckets, const struct result *r, const char *path, double end,
                     struct err *e)
{
    static const char *const names[] = { "policy", "t_s", "allocated", "queued" };
    struct table_in t;
    double before = 0, at, allocated, queued;
    size_t policy = r->n_policies;
    int rc = table_open(&t, path, names, 4, e);
    if (rc != 0) return rc;
    while ((rc = table_next(&t, e)) > 0) {
        size_t p = policy_of(&t, r);
        if (p == r->n_policies) continue;
        if (p != policy) before = 0; /* the first interval of a policy */
        policy = p;
        if ((rc = number(&t, 1, &at, e)) != 0 || (rc = number(&t, 2, &allocated, e)) != 0 ||
            (rc = number(&t, 3, &queued, e)) != 0)
            break;
        if (!isfinite(at) || at < before) continue;
        int i = (int)(0.5 * (before + at) / end * BUCKETS);
        struct bucket *b = &buckets[p * BUCKETS + (size_t)(i < 0         ? 0
                                                           : i < BUCKETS ? i
                                                                         : BUCKETS - 1)];
        b->seconds += at - before;
        if (isfinite(allocated)) b->allocated_s += allocated * (at - before);
        if (queued > b->queued) b->queued = queued;
        before = at;
    }
    csv_close(t.csv);
    return rc;
}

int report_load(const struct result *r, const char *series_csv, const char *path, struct err *e)
{
    struct strbuf out = { 0 };
    double end = 0;
    bool any = false;
    if (r->n_policies == 0 || access(series_csv, R_OK) != 0) return 0;
    for (size_t i = 0; i < r->n_policies; i++)
        if (r->policy[i].end_s > end) end = r->policy[i].end_s;
    if (!(end > 0)) return 0;
    struct bucket *all = xcalloc(r->n_policies * BUCKETS, sizeof *all);
    int rc = read_load(all, r, series_csv, end, e);
    for (size_t i = 0; i < r->n_policies; i++) {
        if (i) strbuf_addz(&out, "\n\n");
        put_name(&out, r->policy[i].name);
        strbuf_addz(&out, "\tallocated\tqueued\n");
        for (size_t k = 0; k < BUCKETS; k++) {
            const struct bucket *b = &all[i * BUCKETS + k];
            if (!(b->seconds > 0)) continue;
            any = true;
            strbuf_addf(&out, "%.9g\t%.9g\t%.9g\n", (double)(k + 1) / BUCKETS * end / 3600,
                        b->allocated_s / b->seconds, b->queued);
        }
    }
    free(all);
    if (rc == 0 && any) return finish(&out, path, e);
    strbuf_fini(&out);
    return rc;
}
