/* Jobs and their times: of all, of a class, of a user; how long the wait took to settle. */
#include "model/result_inside.h"

#include <math.h>

static const struct field stat_nums[] = {
    FIELD(struct summary, mean), FIELD(struct summary, p50), FIELD(struct summary, p90),
    FIELD(struct summary, p95),  FIELD(struct summary, p99), FIELD(struct summary, max),
};
static const struct field stat_counts[] = {
    FIELD(struct summary, n),
    FIELD(struct summary, censored),
};
static const struct field job_count_fields[] = {
    FIELD(struct job_counts, submitted), FIELD(struct job_counts, completed),
    FIELD(struct job_counts, failed),    FIELD(struct job_counts, killed),
    FIELD(struct job_counts, rejected),  FIELD(struct job_counts, running),
    FIELD(struct job_counts, queued),    FIELD(struct job_counts, failed_oom),
};

/* Came later: a stored result without them has none. */
static const struct field job_more_fields[] = {
    FIELD(struct job_counts, preemptions),
    FIELD(struct job_counts, resizes),
    FIELD(struct job_counts, deadlines_met),
    FIELD(struct job_counts, deadlines_missed),
};

json_t *result_stat_json(const struct summary *s)
{
    json_t *o = json_object();
    fields_put_counts(o, s, stat_counts, FIELDS(stat_counts));
    fields_put_nums(o, s, stat_nums, FIELDS(stat_nums));
    if (!isnan(s->p999)) fields_put(o, "p999", json_num(s->p999));
    return o;
}

struct summary result_read_stat(const struct field_reader *r, json_t *obj, const char *at,
                                const char *key)
{
    struct summary s = { 0, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    char here[FIELDS_POINTER];
    json_t *o = fields_get_child(r, obj, at, key, JSON_OBJECT, here);
    if (!o) return s;
    fields_get_counts(r, o, here, &s, stat_counts, FIELDS(stat_counts));
    fields_get_nums(r, o, here, &s, stat_nums, FIELDS(stat_nums));
    return s;
}

void result_put_jobs(json_t *o, const struct job_counts *c, const struct job_stats *s,
                     double gpu_hours, double useful)
{
    fields_put_counts(o, c, job_count_fields, FIELDS(job_count_fields));
    fields_put_counts(o, c, job_more_fields, FIELDS(job_more_fields));
    fields_put(o, "wait_s", result_stat_json(&s->wait_s));
    fields_put(o, "turnaround_s", result_stat_json(&s->turnaround_s));
    fields_put(o, "slowdown", result_stat_json(&s->slowdown));
    fields_put(o, "gpu_hours", json_num(gpu_hours));
    fields_put(o, "useful_gpu_hours", json_num(useful));
}

void result_read_jobs(const struct field_reader *r, json_t *o, const char *at, struct job_counts *c,
                      struct job_stats *s, double *gpu_hours, double *useful)
{
    fields_get_counts(r, o, at, c, job_count_fields, FIELDS(job_count_fields));
    for (size_t i = 0; i < FIELDS(job_more_fields); i++)
        if (json_object_get(o, job_more_fields[i].key))
            fields_get_counts(r, o, at, c, &job_more_fields[i], 1);
    s->wait_s = result_read_stat(r, o, at, "wait_s");
    s->turnaround_s = result_read_stat(r, o, at, "turnaround_s");
    s->slowdown = result_read_stat(r, o, at, "slowdown");
    *gpu_hours = fields_get_num(r, o, at, "gpu_hours");
    *useful = fields_get_num(r, o, at, "useful_gpu_hours");
}

json_t *result_groups_json(const struct job_group_result *g, size_t n)
{
    json_t *o = json_object();
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_object();
        result_put_jobs(one, &g[i].count, &g[i].stats, g[i].gpu_hours, g[i].useful_gpu_hours);
        fields_put(o, g[i].name, one);
    }
    return o;
}

const struct job_group_result *result_read_groups(const struct field_reader *r, json_t *jobs,
                                                  const char *at, const char *key, size_t *n)
{
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    json_t *o = fields_get_child(r, jobs, at, key, JSON_OBJECT, here), *v;
    const char *name;
    size_t i = 0;
    *n = json_object_size(o);
    struct job_group_result *g = arena_array(r->a, *n, sizeof *g);
    json_object_foreach(o, name, v)
    {
        struct job_group_result *one = &g[i++];
        one->name = arena_strdup(r->a, name);
        if (!json_is_object(v))
            fields_wrong(r, here, name, "an object", v);
        else
            result_read_jobs(r, v, json_pointer_key(one_at, sizeof one_at, here, name), &one->count,
                             &one->stats, &one->gpu_hours, &one->useful_gpu_hours);
    }
    return g;
}
