#include "traces/slurm_csv.h"

#include "base/dec.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct slurm_csv {
    const struct slurm_csv_format *format;
    struct table t;
    struct slurm_file *slurm;
    struct slurm_options options; /* with the format's zone */
    struct symtab *names;
    uint64_t run_unlike_clocks;
};

/* No header has this name. */
static const char no_column[] = "\x01";

int slurm_csv_open(void **state, const struct slurm_csv_format *format, const char *path,
                   const void *options, struct symtab *names, struct import_info *info,
                   struct err *e)
{
    const struct slurm_options *o = options;
    struct slurm_csv *s = xcalloc(1, sizeof *s);
    const char *columns[PARTS];
    s->format = format;
    s->names = names;
    s->options = *o;
    if (!o->zone) s->options.zone = format->zone;
    for (int i = 0; i < PARTS; i++)
        columns[i] = format->columns[i] ? format->columns[i] : no_column;
    int rc = slurm_file_open(&s->slurm, &s->options, names, info, e);
    if (rc == 0) rc = table_open(&s->t, path, ',', format->name, columns, PARTS_NEEDED, PARTS, e);
    if (rc < 0) {
        slurm_csv_close(s);
        return rc;
    }
    info->from_zero = true;
    snprintf(info->origin, sizeof info->origin, "zone=%.100s",
             s->options.zone ? s->options.zone : "UTC");
    *state = s;
    return 0;
}

void slurm_csv_close(void *state)
{
    struct slurm_csv *s = state;
    if (!s) return;
    table_close(&s->t);
    slurm_file_close(s->slurm);
    free(s);
}

/* A count that may carry ".0"; -1 when missing. */
static bool count(const struct slurm_csv *s, int part, int64_t *out, struct import_row *row)
{
    const struct csv_field f = table_cell(&s->t, part);
    *out = -1;
    if (cell_missing(&f) || slurm_missing(f.s, f.len)) return true;
    enum dec_status st = dec_fixed_exact(f.s, f.len, 0, out);
    if (st == DEC_OK && *out >= 0) return true;
    import_quarantine(row, &import_bad_value, "%s: %s", s->format->columns[part],
                      st == DEC_OK ? "negative" : dec_why(st));
    return false;
}

static void seconds(const struct slurm_csv *s, int part, simtime *out, struct import_row *row)
{
    const struct csv_field f = table_cell(&s->t, part);
    *out = JOB_NO_TIME;
    if (cell_missing(&f) || slurm_missing(f.s, f.len)) return;
    enum dec_status st = dec_fixed(f.s, f.len, 9, out);
    if (st != DEC_OK || *out < 0)
        import_quarantine(row, &import_bad_value, "%s: %s", s->format->columns[part],
                          st == DEC_OK ? "negative" : dec_why(st));
}

static void clock(struct slurm_csv *s, int part, simtime *out, struct import_row *row)
{
    const struct csv_field f = table_cell(&s->t, part);
    *out = JOB_NO_TIME;
    if (!cell_missing(&f) && !csv_is(&f, "NaT"))
        slurm_clock(s->slurm, f.s, f.len, s->format->columns[part], out, row);
}

static void gpus(struct slurm_csv *s, struct slurm_record *r, struct import_row *row)
{
    const struct csv_field f = table_cell(&s->t, PART_gpus);
    r->gpus_said = true;
    enum dec_status st = dec_fixed_exact(f.s, f.len, 3, &r->gpus_milli);
    if (st == DEC_OK && r->gpus_milli >= 0) return;
    r->gpus_milli = 0;
    import_quarantine(row, &import_bad_value, "%s: %s", s->format->columns[PART_gpus],
                      st == DEC_OK ? "negative" : dec_why(st));
}

static void run_time(struct slurm_csv *s, struct slurm_record *r, struct import_row *row)
{
    seconds(s, PART_run, &r->elapsed, row);
    if (!s->format->run_from_clocks) return;
    if (r->elapsed != JOB_NO_TIME && r->start != JOB_NO_TIME && r->end != JOB_NO_TIME)
        s->run_unlike_clocks += r->end - r->start != r->elapsed;
    if (r->start != JOB_NO_TIME && r->end != JOB_NO_TIME) r->elapsed = r->end - r->start;
    if (r->elapsed != JOB_NO_TIME && r->elapsed < 0)
        r->elapsed = JOB_NO_TIME; /* told by the rules */
}

int slurm_csv_next(void *self, struct import_row *row, struct err *e)
{
    struct slurm_csv *s = self;
    struct slurm_record r = { .priority = -1,
                              .mem_bytes = -1,
                              .ids_repeat = s->format->ids_repeat };
    simtime limit;
    int64_t gb;
    int rc = table_next(&s->t, row, e);
    if (rc == 0) rc = slurm_file_end(s->slurm, csv_file(s->t.csv), e);
    if (rc <= 0 || row->quarantined) return rc;
    const struct csv_field id = table_cell(&s->t, PART_id), user = table_cell(&s->t, PART_user),
                           group = table_cell(&s->t, PART_group),
                           state = table_cell(&s->t, PART_state),
                           kind = table_cell(&s->t, PART_kind);
    r.id = id.s, r.id_len = id.len;
    r.user = user.s, r.user_len = user.len;
    r.account = group.len ? group.s : kind.s, r.account_len = group.len ? group.len : kind.len;
    r.state = state.s, r.state_len = state.len;
    clock(s, PART_submit, &r.submit, row);
    clock(s, PART_start, &r.start, row);
    clock(s, PART_end, &r.end, row);
    run_time(s, &r, row);
    gpus(s, &r, row);
    count(s, PART_cpus, &r.cpus, row);
    count(s, PART_nodes, &r.nodes, row);
    seconds(s, PART_limit, &limit, row);
    if (!s->format->columns[PART_limit]) r.limit_kind = LIMIT_NONE; /* nothing to warn of */
    if (limit != JOB_NO_TIME && limit > 0) r.limit_kind = LIMIT_SET, r.limit = limit;
    const struct csv_field mem = table_cell(&s->t, PART_mem_node);
    if (mem.len && dec_fixed(mem.s, mem.len, 9, &gb) == DEC_OK && gb > 0 && r.nodes > 0 &&
        __builtin_mul_overflow(gb, r.nodes, &r.mem_bytes))
        r.mem_bytes = -1;
    if (s->format->class_of) row->job.klass = s->format->class_of(kind.s, kind.len);
    slurm_convert(s->slurm, &r, row);
    return 1;
}

void slurm_csv_settle(void *state, struct import_row *row)
{
    const struct slurm_csv *s = state;
    slurm_settle(s->slurm, row);
}

void slurm_csv_facts(const void *state, json_t *into)
{
    const struct slurm_csv *s = state;
    slurm_file_facts(s->slurm, into);
    json_object_del(into, "unlimited");
    if (!s->format->columns[PART_limit]) json_object_del(into, "limit_unknown");
    if (s->format->run_from_clocks)
        json_object_set_new(into, "durations_unlike_clocks",
                            json_integer((json_int_t)s->run_unlike_clocks));
}
