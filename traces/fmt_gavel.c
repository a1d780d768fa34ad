/* fmt_gavel.c - traces of Gavel (Narayanan et al., OSDI 2020; stanford-futuredata/gavel), in the
 * newer layout of 10 fields and the older of 7 (Philly arrivals): traces/tabjobs.h.
 *
 * They hold total steps, no durations: duration = total steps / rate, with the rate of (job type,
 * number of GPUs) on one worker type from the throughput table (--throughputs, --worker). The table
 * has no entry for some pairs and 0 where a job does not fit; such jobs are quarantined, since
 * nobody knows how long they run. Both are known properties of the published table and hence
 * benign. */
#include "traces/rates.h"
#include "traces/tabjobs.h"

#include "base/mem.h"

#include <stdlib.h>

static const struct import_reason no_rate = {
    "no-rate", "the throughput table has no entry for this job type and number of GPUs", true
};
static const struct import_reason rate_zero = {
    "rate-zero", "the throughput table says 0 steps/s: the job does not fit this worker", true
};

static const char *const worker_names[] = {
    "v100", "p100", "k80", "v100_unconsolidated", "p100_unconsolidated", "k80_unconsolidated", NULL
};

struct options {
    const char *throughputs;
    int worker;
    bool model_profile;
};

static const struct opt opts[] = {
    { "throughputs", 0, OPT_TEXT, offsetof(struct options, throughputs), "FILE",
      "gavel: throughput table (simulation_throughputs.json) that turns steps into durations",
      NULL },
    { "worker", 0, OPT_CHOICE, offsetof(struct options, worker), "TYPE",
      "gavel: worker type whose throughputs count: v100 (default), p100, k80, ...", worker_names },
    { "model-profile", 0, OPT_FLAG, offsetof(struct options, model_profile), NULL,
      "gavel: hand the job type on as the job's profile (the scenario must define it)", NULL },
    { 0 },
};

struct gavel {
    struct tabjobs t;
    struct json_doc rates;
    struct symtab *names;
    const char *worker;
    bool model_profile;
};

static void gavel_close(void *state)
{
    struct gavel *s = state;
    if (!s) return;
    tabjobs_close(&s->t);
    json_doc_fini(&s->rates);
    free(s);
}

static int gavel_open(void **state, const char *path, const void *options, struct symtab *names,
                      struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct gavel *s = xcalloc(1, sizeof *s);
    s->names = names;
    s->worker = worker_names[o->worker];
    s->model_profile = o->model_profile;
    int rc = tabjobs_open(&s->t, path, "gavel", 10, 7, e);
    if (rc == 0 && !o->throughputs) {
        rc = err_set(e, ERR_USAGE, NULL,
                     "gavel: %s holds total steps and no durations: a throughput table is needed",
                     csv_file(s->t.csv));
        err_hint(e, "--throughputs simulation_throughputs.json --worker v100");
    }
    if (rc == 0) rc = rates_load_gavel(&s->rates, o->throughputs, s->worker, e);
    if (rc < 0) {
        gavel_close(s);
        return rc;
    }
    snprintf(info->origin, sizeof info->origin, "fields=%zu worker=%s", s->t.fields, s->worker);
    *state = s;
    return 0;
}

static void set_duration(struct gavel *s, const struct tabjob *j, struct import_row *row)
{
    double per_s = 0;
    const int len = (int)j->type.len;
    switch (rates_gavel(&s->rates, s->worker, j->type.s, j->type.len, j->gpus, &per_s)) {
    case RATE_OK:
        if (!rate_duration(j->steps, per_s, &row->job.duration))
            import_quarantine(row, &import_bad_value, "%lld steps at %g per second: out of range",
                              (long long)j->steps, per_s);
        break;
    case RATE_MISSING:
        import_quarantine(row, &no_rate, "%.*s on %lld %s", len, j->type.s, (long long)j->gpus,
                          s->worker);
        break;
    case RATE_ZERO:
        import_quarantine(row, &rate_zero, "%.*s on %lld %s", len, j->type.s, (long long)j->gpus,
                          s->worker);
        break;
    case RATE_BAD:
        import_quarantine(row, &import_bad_value, "the rate of %.*s on %lld %s is no number >= 0",
                          len, j->type.s, (long long)j->gpus, s->worker);
        break;
    }
}

static int gavel_next(void *state, struct import_row *row, struct err *e)
{
    struct gavel *s = state;
    struct tabjob j;
    int rc = tabjobs_next(&s->t, &j, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    set_duration(s, &j, row);
    if (s->model_profile) row->job.profile = symtab_add(s->names, j.type.s, j.type.len);
    return 1;
}

static int gavel_sniff(const char *head, size_t len)
{
    const size_t fields = tabjobs_layout(head, len);
    return fields == 7 || fields == 10 ? 85 : 0;
}

const struct trace_format fmt_gavel = {
    .name = "gavel",
    .help = "Gavel trace (OSDI 2020), 7 or 10 fields; durations from --throughputs FILE",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = gavel_sniff,
    .open = gavel_open,
    .next = gavel_next,
    .close = gavel_close,
};
