#include "traces/instances.h"

static const struct import_reason odd_gpus = {
    "odd-gpus", "an instance has neither a fraction of one card nor whole cards", false
};
static const struct import_reason no_instances = { "no-instances", "a number of instances below 1",
                                                   false };
static const struct import_reason shares = {
    "shared-instances", "several instances with a fraction of a card: one job for each", true
};

static void multiply(struct job_row *j, int64_t n)
{
    int64_t cpus, bytes;
    if (j->cpus_milli != JOB_NO_INT) {
        cpus = j->cpus_milli * n;
        j->cpus_milli = cpus <= INT32_MAX ? (int32_t)cpus : JOB_NO_INT;
    }
    if (j->mem_bytes != JOB_NO_BYTES && j->mem_bytes <= INT64_MAX)
        j->mem_bytes = __builtin_mul_overflow((int64_t)j->mem_bytes, n, &bytes) ? JOB_NO_BYTES
                                                                                : (uint64_t)bytes;
}

static void name_instance(struct instances *s, struct import_row *row)
{
    strbuf_clear(&s->id);
    strbuf_add(&s->id, s->row.job.id, s->row.job.id_len);
    strbuf_addf(&s->id, "#%lld", (long long)++s->k);
    *row = s->row;
    row->further = s->k > 1;
    row->job.id = s->id.s;
    row->job.id_len = s->id.len;
}

void instances_start(struct instances *s, struct import_row *row, int64_t per_milli, int64_t n)
{
    s->n = s->k = 0;
    if (n < 1 || n > INSTANCES_MOST) {
        import_quarantine(row, &no_instances, "%lld", (long long)n);
        return;
    }
    if (per_milli < 0 || per_milli > INT32_MAX / n || !job_gpus_ok((int32_t)per_milli)) {
        import_quarantine(row, &odd_gpus, "%lld instances of %lld thousandths", (long long)n,
                          (long long)per_milli);
        return;
    }
    row->asked = true;
    const bool split = n > 1 && per_milli > 0 && per_milli < 1000;
    row->job.gpus_milli = (int32_t)(split && !row->quarantined ? per_milli : per_milli * n);
    if (row->quarantined || !split) {
        multiply(&row->job, n);
        return;
    }
    import_repair(row, &shares);
    s->row = *row;
    s->n = n;
    name_instance(s, row);
}

bool instances_next(struct instances *s, struct import_row *row)
{
    if (s->k >= s->n) return false;
    name_instance(s, row);
    return true;
}

void instances_fini(struct instances *s)
{
    strbuf_fini(&s->id);
}
