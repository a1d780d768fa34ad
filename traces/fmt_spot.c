/* fmt_spot.c - Alibaba spot GPU jobs, 2026 (GFS): job_name, organization, gpu_model, cpu_request,
 * gpu_request, worker_num, submit_time, duration, job_type by header name, in any order.
 *
 * Seconds from the first job. A job asks for gpu_request x worker_num cards and cpu_request x
 * worker_num cores. job_type HP has priority 1, Spot 0. gpu_model is the card it ran on; --pin also
 * makes it the only card it may use. Durations are as recorded: those of spot jobs may have been
 * cut by preemption. Jobs that run from 0 to the trace's last end are services; they are counted.
 * --nodes FILE (gpu_model, gpu_capacity_num, cpu_num, node_name in any order) gives the capacity
 * and the load of every card model. */
#include "traces/format.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/vec.h"

#include <stdlib.h>

enum {
    COL_name,
    COL_model,
    COL_gpu,
    COL_workers,
    COL_submit,
    COL_duration,
    COL_type,
    REQUIRED,
    COL_org = REQUIRED,
    COL_cpu,
    COLUMNS
};
static const char *const columns[COLUMNS] = { "job_name",   "gpu_model",    "gpu_request",
                                              "worker_num", "submit_time",  "duration",
                                              "job_type",   "organization", "cpu_request" };
enum { NODE_model, NODE_gpus, NODE_COLUMNS };
static const char *const node_columns[NODE_COLUMNS] = { "gpu_model", "gpu_capacity_num" };

static const struct import_reason odd_share = {
    "odd-share", "gpu_request is neither a fraction of one card nor whole cards", false
};
static const struct import_reason odd_type = { "odd-type", "job_type is neither HP nor Spot",
                                               false };

struct options {
    const char *nodes;
    bool pin;
};

static const struct opt opts[] = {
    { "nodes", 0, OPT_TEXT, offsetof(struct options, nodes), "FILE",
      "spot: node list, for the capacity and the load of every card model", NULL },
    { "pin", 0, OPT_FLAG, offsetof(struct options, pin), NULL,
      "spot: a job may use its recorded card model only", NULL },
    { 0 },
};

struct model_use { /* by symbol of the model */
    double gpu_s;
    int64_t cards;
};

struct spot {
    struct table t;
    struct symtab *names;
    bool pin;
    VEC(struct model_use) models;
    int64_t hp, spot;
    /* services: jobs from 0 to the latest end seen so far */
    simtime first_submit, last_end;
    int64_t services;
};

static void spot_close(void *state)
{
    struct spot *s = state;
    if (!s) return;
    table_close(&s->t);
    vec_fini(&s->models);
    free(s);
}

static struct model_use *model(struct spot *s, sym name)
{
    while (s->models.n <= name) vec_push(&s->models, ((struct model_use){ 0 }));
    return &s->models.v[name];
}

static int read_nodes(struct spot *s, const char *path, int64_t *cards, struct err *e)
{
    struct table t = { 0 };
    struct import_row row = { 0 };
    int rc = table_open(&t, path, ',', "spot nodes", node_columns, NODE_COLUMNS, NODE_COLUMNS, e);
    while (rc == 0 && (rc = table_next(&t, &row, e)) > 0) {
        const struct csv_field name = table_cell(&t, NODE_model);
        int64_t n = 0;
        if (row.quarantined || !table_whole(&t, NODE_gpus, "gpu_capacity_num", 1024, &n, &row)) {
            rc = csv_error(t.csv, &t.row, NULL, e, "%s: %s", row.quarantined->text, row.detail);
            break;
        }
        if (*cards > 100000000) {
            rc = csv_error(t.csv, &t.row, NULL, e, "expected at most 1e8 cards in all");
            break;
        }
        *cards += n;
        if (!cell_missing(&name)) model(s, symtab_add(s->names, name.s, name.len))->cards += n;
        rc = 0;
    }
    table_close(&t);
    return rc;
}

static int spot_open(void **state, const char *path, const void *options, struct symtab *names,
                     struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct spot *s = xcalloc(1, sizeof *s);
    int64_t cards = 0;
    s->names = names;
    s->pin = o->pin;
    s->first_submit = SIM_NEVER;
    int rc = table_open(&s->t, path, ',', "spot", columns, REQUIRED, COLUMNS, e);
    if (rc == 0 && o->nodes) rc = read_nodes(s, o->nodes, &cards, e);
    if (rc < 0) {
        spot_close(s);
        return rc;
    }
    info->capacity_milli = cards * 1000;
    snprintf(info->origin, sizeof info->origin, "time_zero=first_submit");
    snprintf(info->note, sizeof info->note,
             "durations of spot jobs are as recorded, possibly cut by preemption");
    *state = s;
    return 0;
}

/* Thousandths of `column` x workers, as `max` allows. */
static bool product(const struct spot *s, int column, int64_t workers, int64_t *out,
                    struct import_row *row)
{
    if (!table_number(&s->t, column, columns[column], 3, out, row)) return false;
    if (*out < 0 || __builtin_mul_overflow(*out, workers, out) || *out > INT32_MAX) {
        import_quarantine(row, &import_bad_value, "%s: out of range", columns[column]);
        return false;
    }
    return true;
}

static void read_shape(struct spot *s, struct import_row *row)
{
    const struct csv_field cpu = table_cell(&s->t, COL_cpu);
    int64_t workers, gpus, cpus;
    if (!table_whole(&s->t, COL_workers, "worker_num", 1000000, &workers, row) ||
        !product(s, COL_gpu, workers, &gpus, row))
        return;
    const int64_t each = workers > 0 ? gpus / workers : gpus;
    if (workers > 1 && each > 0 && each < 1000) {
        row->instances = workers; /* a job for each */
        gpus = each;
    }
    if (!job_gpus_ok((int32_t)each) || !job_gpus_ok((int32_t)gpus)) {
        import_quarantine(row, &odd_share, "%lld thousandths", (long long)gpus);
        return;
    }
    row->job.gpus_milli = (int32_t)gpus;
    row->asked = true;
    if (!cell_missing(&cpu) && product(s, COL_cpu, workers, &cpus, row))
        row->job.cpus_milli = (int32_t)cpus;
}

static void read_type(struct spot *s, struct import_row *row)
{
    const struct csv_field type = table_cell(&s->t, COL_type);
    const bool hp = csv_is(&type, "HP");
    if (!hp && !csv_is(&type, "Spot")) {
        import_quarantine(row, &odd_type, "%.*s", (int)(type.len % 60), type.s);
        return;
    }
    row->job.priority = hp;
}

static sym name_of(struct spot *s, int column)
{
    const struct csv_field f = table_cell(&s->t, column);
    return cell_missing(&f) ? 0 : symtab_add(s->names, f.s, f.len);
}

static void count(struct spot *s, const struct job_row *j, int64_t jobs)
{
    const simtime end = j->submit > INT64_MAX - j->duration ? INT64_MAX : j->submit + j->duration;
    s->hp += j->priority == 1;
    s->spot += j->priority == 0;
    model(s, j->gpu_model)->gpu_s +=
        (double)j->gpus_milli / 1e3 * simtime_s(j->duration) * (double)(jobs > 1 ? jobs : 1);
    if (j->submit < s->first_submit) s->first_submit = j->submit;
    if (end > s->last_end) s->last_end = end, s->services = 0;
    s->services += j->submit == 0 && end == s->last_end;
}

static int spot_next(void *state, struct import_row *row, struct err *e)
{
    struct spot *s = state;
    int rc = table_next(&s->t, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    const struct csv_field id = table_cell(&s->t, COL_name);
    row->job.id = id.s;
    row->job.id_len = id.len;
    row->job.gpu_model = name_of(s, COL_model);
    if (s->pin) row->job.gpu_allowed = row->job.gpu_model;
    row->job.group = name_of(s, COL_org);
    read_shape(s, row);
    read_type(s, row);
    table_number(&s->t, COL_submit, "submit_time", 9, &row->job.submit, row);
    table_number(&s->t, COL_duration, "duration", 9, &row->job.duration, row);
    if (!row->quarantined && !job_row_problem(&row->job)) count(s, &row->job, row->instances);
    return 1;
}

static void spot_facts(const void *state, json_t *into)
{
    const struct spot *s = state;
    const double span = simtime_s(s->last_end - s->first_submit);
    char key[120];
    json_t *warnings = json_array();
    json_object_set_new(into, "high_priority_jobs", json_integer(s->hp));
    json_object_set_new(into, "spot_jobs", json_integer(s->spot));
    json_object_set_new(into, "services_from_0_to_the_end", json_integer(s->services));
    for (size_t i = 1; i < s->models.n; i++) {
        const struct model_use *m = &s->models.v[i];
        if (m->cards == 0 || s->hp + s->spot == 0 || !(span > 0)) continue;
        snprintf(key, sizeof key, "offered_load_%.80s", symtab_name(s->names, (sym)i));
        const double load = m->gpu_s / ((double)m->cards * span);
        json_object_set_new(into, key, json_real(load));
        if (load > 1)
            json_array_append_new(warnings,
                                  json_sprintf("the offered load of %.80s is %.1f %% of its cards",
                                               symtab_name(s->names, (sym)i), 100 * load));
    }
    json_object_set_new(into, "warnings", warnings);
}

static int spot_sniff(const char *head, size_t len)
{
    return header_has(head, len, ',', columns, REQUIRED) ? 95 : 0;
}

const struct trace_format fmt_spot = {
    .name = "spot",
    .help = "Alibaba spot GPU jobs, 2026: high-priority and spot jobs by card model",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = spot_sniff,
    .open = spot_open,
    .next = spot_next,
    .close = spot_close,
    .facts = spot_facts,
};
