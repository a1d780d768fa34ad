#include "metrics/sink_csv.h"

#include "base/dec.h"
#include "metrics/dist.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const char jobs_csv_header[] =
    "policy,job_id,state,submit_s,start_s,end_s,wait_s,run_s,turnaround_s,slowdown,gpus,cards,"
    "attempts,cost_usd,energy_kwh,reason,class\n";
const char series_csv_header[] =
    "policy,t_s,allocated,duty,sm_active,memory,stranded,free,down,queued,running,power_W,"
    "fragmentation\n";

const char services_csv_header[] =
    "policy,service,t_s,arrivals,completed,dropped,waiting,in_service,replicas,starting,busy,"
    "latency_mean_ms,latency_p99_ms,ttft_p99_ms,tpot_mean_ms\n";

static void add_decimal(struct strbuf *b, int64_t value, int digits)
{
    char text[40];
    strbuf_add(b, text, dec_print(text, sizeof text, value, digits));
}

static void add_time(struct strbuf *b, simtime t)
{
    if (t != JOB_NO_TIME) add_decimal(b, t, 9);
    strbuf_addc(b, ',');
}

static void add_cards(struct strbuf *b, const struct plan *plan, const struct job *j)
{
    char name[256];
    for (int32_t i = 0; i < j->n_holdings; i++) {
        const struct holding *h = &j->holding[i];
        if (i) strbuf_addc(b, ' ');
        strbuf_addz(b, plan_card_name(plan, h->card, name, sizeof name));
        if (h->slice.profile < 0) continue;
        const struct mig_geometry *g = plan->group[j->group].type.gpu->mig;
        strbuf_addf(b, ":%s@%d", g->profile[h->slice.profile].name, h->slice.start);
    }
}

static const char *state_of(const struct job *j)
{
    return job_state_names[j->state == JOB_STARTING ? JOB_RUNNING : j->state];
}

static double cost_of(const struct jobs_csv *c, const struct jobs_csv_gap *used)
{
    return used->charged_h * c->usd_per_card_hour + used->held_h * c->usd_per_held_hour +
           used->kwh * c->usd_per_kwh;
}

static int on_job(void *self, const struct plan *plan, const struct symtab *names,
                  const struct job *j, struct err *e)
{
    struct jobs_csv *c = self;
    struct strbuf *b = &c->row;
    const bool held = j->allocated != JOB_NO_TIME, started = j->start != JOB_NO_TIME;
    const bool ran = started && j->end != JOB_NO_TIME;
    (void)names;
    strbuf_clear(b);
    strbuf_addz(b, plan->spec->name);
    strbuf_addc(b, ',');
    strbuf_addcsv(b, j->row.id);
    strbuf_addf(b, ",%s,", state_of(j));
    add_time(b, j->row.submit);
    add_time(b, started ? j->start : JOB_NO_TIME);
    add_time(b, j->end);
    add_time(b, started ? j->start - j->row.submit : JOB_NO_TIME);
    add_time(b, ran ? j->end - j->start : JOB_NO_TIME);
    add_time(b, ran ? j->end - j->row.submit : JOB_NO_TIME);
    if (j->state == JOB_COMPLETED) {
        const simtime d = j->row.duration > SIM_SECOND ? j->row.duration : SIM_SECOND;
        strbuf_addf(b, "%.9g", (double)(j->end - j->row.submit) / (double)d);
    }
    strbuf_addc(b, ',');
    add_decimal(b, j->row.gpus_milli, 3);
    strbuf_addc(b, ',');
    add_cards(b, plan, j);
    strbuf_addf(b, ",%d,", (int)j->attempts);
    const double kwh = j->energy_J / 3.6e6;
    const struct jobs_csv_gap used = { c->written + b->len,
                                       (c->by_allocation ? j->card_s : j->bill_s) / 3600,
                                       j->card_s / 3600, kwh };
    if (held && c->price_later)
        vec_push(&c->gap, used);
    else if (held && !isnan(c->usd_per_card_hour))
        strbuf_addf(b, "%.6f", cost_of(c, &used));
    strbuf_addc(b, ',');
    if (held) strbuf_addf(b, "%.6f", kwh);
    strbuf_addc(b, ',');
    if (j->reason) strbuf_addcsv(b, j->reason);
    strbuf_addf(b, ",%s\n", job_class_names[j->row.klass]);
    c->written += b->len;
    if (fwrite(b->s, 1, b->len, c->to) == b->len) return 0;
    return err_set(e, err_of_errno(errno), NULL, "cannot write jobs.csv: %s", strerror(errno));
}

/* Bytes of the rows up to `end`. */
static bool copy_rows(FILE *from, FILE *to, uint64_t begin, uint64_t end)
{
    char buf[1 << 14];
    while (begin < end) {
        const size_t want = end - begin < sizeof buf ? (size_t)(end - begin) : sizeof buf;
        const size_t got = fread(buf, 1, want, from);
        if (got == 0 || fwrite(buf, 1, got, to) != got) return false;
        begin += got;
    }
    return true;
}

int jobs_csv_price(struct jobs_csv *c, FILE *to, struct err *e)
{
    uint64_t at = 0;
    bool ok = fflush(c->to) == 0 && fseeko(c->to, 0, SEEK_SET) == 0;
    for (size_t i = 0; ok && i < c->gap.n; i++) {
        const struct jobs_csv_gap *g = &c->gap.v[i];
        ok = copy_rows(c->to, to, at, g->at) && fprintf(to, "%.6f", cost_of(c, g)) > 0;
        at = g->at;
    }
    if (ok && copy_rows(c->to, to, at, c->written)) return 0;
    return err_set(e, err_of_errno(errno), NULL, "cannot write the costs of jobs.csv: %s", strerror(errno));
}

struct sink jobs_csv_sink(struct jobs_csv *c)
{
    return (struct sink){ .self = c, .job = on_job };
}

void jobs_csv_fini(struct jobs_csv *c)
{
    strbuf_fini(&c->row);
    vec_fini(&c->gap);
}

static int on_sample(void *self, const struct plan *plan, const struct sample *s, struct err *e)
{
    char t[40], duty[40] = "", fragmentation[40] = "";
    FILE *to = self;
    dec_print(t, sizeof t, s->t, 9);
    if (!isnan(s->duty)) snprintf(duty, sizeof duty, "%.9g", s->duty);
    if (!isnan(s->fragmentation))
        snprintf(fragmentation, sizeof fragmentation, "%.9g", s->fragmentation);
    const int rc = fprintf(to, "%s,%s,%.9g,%s,%.9g,%.9g,%.9g,%.9g,%.9g,%llu,%llu,%.9g,%s\n",
                           plan->spec->name, t, s->allocated, duty, s->sm_active, s->memory,
                           s->stranded, s->free_share, s->down, (unsigned long long)s->queued,
                           (unsigned long long)s->running, s->power_W, fragmentation);
    return rc < 0 ? err_set(e, err_of_errno(errno), NULL, "cannot write series.csv: %s", strerror(errno)) : 0;
}

struct sink series_csv_sink(FILE *to)
{
    return (struct sink){ .self = to, .sample = on_sample };
}

/* ---- services.csv ---- */

/* Of the requests completed in the interval under way, ms. */
struct interval_dist {
    struct dist latency, ttft, tpot;
};

struct services_csv services_csv_init(FILE *to, const struct plan *plan)
{
    return (struct services_csv){ to, xcalloc(plan->n_services + 1, sizeof(struct interval_dist)),
                                  plan->n_services };
}

static void interval_clear(struct interval_dist *d)
{
    dist_fini(&d->latency);
    dist_fini(&d->ttft);
    dist_fini(&d->tpot);
}

void services_csv_fini(struct services_csv *c)
{
    for (size_t k = 0; k < c->n; k++) interval_clear(&c->dist[k]);
    free(c->dist);
    *c = (struct services_csv){ 0 };
}

static void on_request(void *self, const struct plan *plan, size_t k, const struct request_end *q)
{
    struct interval_dist *d = &((struct services_csv *)self)->dist[k];
    (void)plan;
    if (q->fate != REQUEST_COMPLETED) return;
    dist_add(&d->latency, (double)(q->end - q->arrival) / 1e6);
    if (q->first == JOB_NO_TIME) return;
    dist_add(&d->ttft, (double)(q->first - q->arrival) / 1e6);
    if (q->output_tokens > 1)
        dist_add(&d->tpot, (double)(q->end - q->first) / 1e6 / (double)(q->output_tokens - 1));
}

static void add_number(struct strbuf *b, double x)
{
    strbuf_addc(b, ',');
    if (!isnan(x)) strbuf_addf(b, "%.9g", x);
}

static int on_service_sample(void *self, const struct plan *plan, size_t k,
                             const struct service_sample *s, struct err *e)
{
    struct services_csv *c = self;
    struct interval_dist *d = &c->dist[k];
    struct strbuf b = { 0 };
    const uint64_t n[] = { s->arrivals,   s->completed, s->dropped, s->waiting,
                           s->in_service, s->up,        s->starting };
    strbuf_addf(&b, "%s,%s,", plan->spec->name, plan->service[k].spec->name);
    add_decimal(&b, s->t, 9);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        strbuf_addf(&b, ",%llu", (unsigned long long)n[i]);
    add_number(&b, s->busy);
    add_number(&b, dist_mean(&d->latency));
    add_number(&b, dist_percentile(&d->latency, 0.99));
    add_number(&b, dist_percentile(&d->ttft, 0.99));
    add_number(&b, dist_mean(&d->tpot));
    strbuf_addc(&b, '\n');
    interval_clear(d);
    const bool written = fwrite(b.s, 1, b.len, c->to) == b.len;
    strbuf_fini(&b);
    return written ? 0 : err_set(e, err_of_errno(errno), NULL, "cannot write services.csv: %s", strerror(errno));
}

struct sink services_csv_sink(struct services_csv *c)
{
    return (struct sink){ .self = c, .request = on_request, .service_sample = on_service_sample };
}
