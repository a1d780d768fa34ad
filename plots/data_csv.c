/* plots/data_csv.c - pictures made of jobs.csv, series.csv and services.csv, by way of the
 * digest. */
#include "plots/report_data.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

/* ---- distributions ---- */

static double bin_edge(int b) /* upper */
{
    return pow(10, LOW_DECADE + (double)(b + 1) / PER_DECADE);
}

/* Where the axis of some curves begins and ends. */
struct range {
    double edge, last;
    uint64_t n;
};

static struct range range_of(const struct spread *w, size_t n)
{
    struct range x = { 0.1, 10, 0 };
    int low = BINS, high = -1;
    for (size_t i = 0; i < n; i++) {
        x.n += w[i].n;
        for (int b = 0; b < BINS; b++) {
            if (!w[i].bin[b]) continue;
            if (b < low) low = b;
            if (b > high) high = b;
        }
    }
    if (high < 0) return x;
    x.edge = bin_edge(low - 1) / 3.2; /* zero stands half a decade left of the shortest */
    x.last = bin_edge(high);
    return x;
}

static void curve(struct strbuf *out, const struct spread *w, struct range x, const char *more)
{
    uint64_t below = w->zero;
    double all = w->n ? (double)w->n : NAN;
    if (w->n == 0) {
        strbuf_addf(out, "%.9g\tNaN%s\n", x.edge, more);
        return;
    }
    strbuf_addf(out, "%.9g\t%.9g%s\n", x.edge, (double)below / all, more);
    for (int b = 0; b < BINS; b++) {
        if (!w->bin[b]) continue;
        if (b == 0 || !w->bin[b - 1]) /* flat up to where the bin begins */
            strbuf_addf(out, "%.9g\t%.9g%s\n", fmax(bin_edge(b - 1), x.edge), (double)below / all,
                        more);
        below += w->bin[b];
        strbuf_addf(out, "%.9g\t%.9g%s\n", bin_edge(b), (double)below / all, more);
    }
    strbuf_addf(out, "%.9g\t%.9g%s\n", x.last, (double)below / all, more);
}

static int cdf(const struct source *s, const struct spread *w, const char *path, struct err *e)
{
    const struct result *r = s->r;
    struct strbuf out = { 0 };
    const struct range x = range_of(w, r->n_policies);
    if (x.n == 0) return 0;
    for (size_t i = 0; i < r->n_policies; i++) {
        if (i) strbuf_addz(&out, "\n\n");
        data_name(&out, r->policy[i].name);
        strbuf_addz(&out, "\tshare\n");
        curve(&out, &w[i], x, "");
    }
    return data_write(&out, path, e);
}

int data_wait_cdf(const struct source *s, const char *path, struct err *e)
{
    return cdf(s, s->d->wait, path, e);
}

int data_turnaround_cdf(const struct source *s, const char *path, struct err *e)
{
    return cdf(s, s->d->turnaround, path, e);
}

/* A block for each class and policy; the third column says how many policies a class has. */
static int class_cdf(const struct source *s, const struct spread *w, const char *path,
                     struct err *e)
{
    const struct result *r = s->r;
    const size_t n = r->n_policies;
    struct strbuf out = { 0 };
    char more[30];
    const struct range x = range_of(w, s->d->n_classes * n);
    if (x.n == 0 || s->d->n_classes < 2) return 0;
    snprintf(more, sizeof more, "\t%zu", n);
    for (size_t k = 0; k < s->d->n_classes * n; k++) {
        const char *klass = s->d->klass[k / n];
        if (k) strbuf_addz(&out, "\n\n");
        data_name(&out, r->policy[k % n].name);
        strbuf_addc(&out, '\t');
        data_name(&out, *klass && strcmp(klass, "(none)") != 0 ? klass : word(s->lang, W_NO_CLASS));
        strbuf_addz(&out, "\tpolicies\n");
        curve(&out, &w[k], x, more);
    }
    return data_write(&out, path, e);
}

int data_class_wait_cdf(const struct source *s, const char *path, struct err *e)
{
    return class_cdf(s, s->d->class_wait, path, e);
}

int data_class_turnaround_cdf(const struct source *s, const char *path, struct err *e)
{
    return class_cdf(s, s->d->class_turnaround, path, e);
}

/* ---- over time ---- */

/* A block a policy: first row `head` after its name, then one row an interval with its end in
 * hours; before the first one, its beginning with the same figures. */
static int over_time(const struct source *s, const char *head,
                     bool (*put)(struct strbuf *, const struct bucket *), const char *path,
                     struct err *e)
{
    const struct digest *d = s->d;
    struct strbuf out = { 0 };
    bool any = false;
    if (!d->series) return 0;
    for (size_t i = 0; i < s->r->n_policies; i++) {
        if (i) strbuf_addz(&out, "\n\n");
        data_name(&out, s->r->policy[i].name);
        strbuf_addf(&out, "%s\n", head);
        bool begun = false;
        for (size_t k = 0; k < BUCKETS; k++) {
            const struct bucket *b = &d->time[i * BUCKETS + k];
            if (!(b->seconds > 0)) continue;
            for (int end = begun; end < 2; end++) { /* the first one has its beginning, too */
                strbuf_addf(&out, "%.9g", (double)(k + (size_t)end) / BUCKETS * d->end_s / 3600);
                any = put(&out, b) || any;
                strbuf_addc(&out, '\n');
            }
            begun = true;
        }
    }
    if (any) return data_write(&out, path, e);
    strbuf_fini(&out);
    return 0;
}

static bool put_load(struct strbuf *out, const struct bucket *b)
{
    data_number(out, b->allocated / b->seconds);
    data_number(out, b->queued);
    return true;
}

int data_load(const struct source *s, const char *path, struct err *e)
{
    return over_time(s, "\tallocated\tqueued", put_load, path, e);
}

static bool put_card_time(struct strbuf *out, const struct bucket *b)
{
    const double held = b->allocated / b->seconds, busy = b->sm_active / b->seconds;
    const double free = b->free / b->seconds;
    const double lent = fmin(fmax(busy - held, 0), fmax(free, 0));
    data_number(out, fmin(busy, held));
    data_number(out, lent);
    data_number(out, held - fmin(busy, held));
    data_number(out, b->stranded / b->seconds);
    data_number(out, free - lent);
    data_number(out, b->down / b->seconds);
    return true;
}

int data_card_time_series(const struct source *s, const char *path, struct err *e)
{
    struct strbuf head = { 0 };
    static const enum word names[] = { W_SMS_ACTIVE, W_SMS_BEYOND, W_HELD_IDLE,
                                       W_STRANDED,   W_FREE,       W_DOWN };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        strbuf_addf(&head, "\t%s", word(s->lang, names[i]));
    int rc = over_time(s, head.s, put_card_time, path, e);
    strbuf_fini(&head);
    return rc;
}

static bool put_power(struct strbuf *out, const struct bucket *b)
{
    data_number(out, b->power_W / b->seconds / 1e3);
    return b->power_W > 0;
}

int data_power(const struct source *s, const char *path, struct err *e)
{
    return over_time(s, "\tkW", put_power, path, e);
}

static bool put_fragments(struct strbuf *out, const struct bucket *b)
{
    data_number(out, b->fragmentation_n > 0 ? b->fragmentation / b->fragmentation_n : NAN);
    data_number(out, b->stranded / b->seconds);
    return b->fragmentation > 0 || b->stranded > 0;
}

int data_fragments(const struct source *s, const char *path, struct err *e)
{
    return over_time(s, "\tfragmentation\tstranded", put_fragments, path, e);
}

static bool any_completed(const struct digest *d, size_t service, size_t policies)
{
    const struct service_bucket *b = &d->service[service * policies * BUCKETS];
    for (size_t i = 0; i < policies * BUCKETS; i++)
        if (b[i].p99_ms > 0) return true;
    return false;
}

int data_service_load(const struct source *s, const char *path, struct err *e)
{
    const struct digest *d = s->d;
    const size_t n = s->r->n_policies;
    struct strbuf out = { 0 };
    if (!d->services) return 0;
    for (size_t k = 0; k < d->n_services * n; k++) {
        if (!any_completed(d, k / n, n)) continue; /* nothing to draw */
        if (out.len) strbuf_addz(&out, "\n\n");
        data_name(&out, s->r->policy[k % n].name);
        strbuf_addc(&out, '\t');
        data_name(&out, s->r->policy[0].service[k / n].name);
        strbuf_addz(&out, "\treplicas\tp99_ms\tpolicies\n");
        bool begun = false;
        for (size_t b = 0; b < BUCKETS; b++) {
            const struct service_bucket *x = &d->service[k * BUCKETS + b];
            if (!(x->seconds > 0)) continue;
            for (int end = begun; end < 2; end++) {
                strbuf_addf(&out, "%.9g", (double)(b + (size_t)end) / BUCKETS * d->end_s / 3600);
                data_number(&out, x->arrivals / x->seconds);
                data_number(&out, x->replicas / x->seconds);
                data_number(&out, x->p99_ms > 0 ? x->p99_ms : NAN);
                strbuf_addf(&out, "\t%zu\n", n);
            }
            begun = true;
        }
    }
    return out.len ? data_write(&out, path, e) : 0;
}

/* ---- slots ---- */

/* First block: names of the cards; second: one row a job: from and to in hours, lower and upper
 * edge in memory slices, compute slices (0: the whole card with MIG off); third: the same of
 * replicas of services. */
int data_mig_map(const struct source *s, const char *path, struct err *e)
{
    const struct digest *d = s->d;
    struct strbuf out = { 0 };
    if (d->n_boxes == 0) return 0;
    strbuf_addf(&out, "card\tunits\tend\tcut\n");
    for (int i = 0; i < d->n_cards; i++)
        strbuf_addf(&out, "%s\t%d\t%.9g\t%d\t%d\n", d->map_card[i], d->map_units,
                    d->map_end_s / 3600, d->map_cut, i);
    for (int replicas = 0; replicas < 2; replicas++) {
        strbuf_addz(&out, "\n\nfrom\tto\tlow\thigh\tslices\n");
        size_t rows = 0;
        for (size_t i = 0; i < d->n_boxes; i++) {
            const struct map_box *b = &d->box[i];
            const int at = b->card * (d->map_units + 1) + b->start;
            if (b->replica != (replicas == 1)) continue;
            strbuf_addf(&out, "%.9g\t%.9g\t%d\t%d\t%d\n", b->from_s / 3600,
                        fmin(b->to_s, d->map_end_s) / 3600, at,
                        at + (b->units ? b->units : d->map_units), b->slices);
            rows++;
        }
        if (rows == 0) strbuf_addz(&out, "NaN\tNaN\tNaN\tNaN\tNaN\n");
    }
    return data_write(&out, path, e);
}
