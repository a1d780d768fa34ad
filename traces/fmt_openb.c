/* fmt_openb.c - Alibaba "openb" pods and nodes (cluster-trace-gpu-v2023; Weng et al., "Beware of
 * Fragmentation", USENIX ATC 2023).
 *
 * Timed replay: submit = creation, duration = deletion - scheduled; Pending pods were never placed
 * and are quarantined. Static fill (--static): file order, every pod at time 0, none ever leaves
 * (STATIC_DURATION), which is what the trace was published for and all that the five-column
 * variants allow. A pod asks for num_gpu x gpu_milli / 1000 cards; gpu_spec names the models it
 * may run on; qos is handed on as the group; pod_phase becomes the status (every phase has an end).
 *
 * --nodes gives the capacity for the account, and the fleet. The list names some models that nobody
 * has disclosed (G2, G3): --gpu-map says which card stands for them, in the fleet and in
 * gpu_spec. */
#include "traces/format.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "model/gpu.h"

#include <stdlib.h>
#include <string.h>

enum {
    COL_name,
    COL_cpu,
    COL_mem,
    COL_num,
    COL_milli,
    ALWAYS,
    COL_created = ALWAYS,
    COL_deleted,
    COL_scheduled,
    TIMED,
    COL_spec = TIMED,
    COL_qos,
    COL_phase,
    COLUMNS
};
static const char *const columns[COLUMNS] = { "name",          "cpu_milli",      "memory_mib",
                                              "num_gpu",       "gpu_milli",      "creation_time",
                                              "deletion_time", "scheduled_time", "gpu_spec",
                                              "qos",           "pod_phase" };

static const struct import_reason never_scheduled = {
    "never-scheduled", "Pending: the pod was never placed, so it has no run time", true
};
static const struct import_reason no_start = { "no-start",
                                               "no scheduled_time although the pod is not Pending",
                                               false };
static const struct import_reason ends_first = { "ends-before-start",
                                                 "deletion_time is before scheduled_time", false };
static const struct import_reason odd_share = {
    "odd-share", "num_gpu x gpu_milli is neither a fraction of one card nor whole cards", false
};
static const struct import_reason start_before_creation = {
    "start-before-creation", "scheduled_time is before creation_time: the start was dropped", true
};

struct options {
    bool is_static;
    const char *nodes, *gpu_map;
};

static const struct opt opts[] = {
    { "static", 0, OPT_FLAG, offsetof(struct options, is_static), NULL,
      "openb: placement in file order without departures (submit 0, 1e9 s each)", NULL },
    { "nodes", 0, OPT_TEXT, offsetof(struct options, nodes), "FILE",
      "openb: node list; its fleet for a scenario is written to OUT.fleet.json", NULL },
    { "gpu-map", 0, OPT_TEXT, offsetof(struct options, gpu_map), "MODEL=CARD,..",
      "openb: cards of the catalogue by the models of --nodes and gpu_spec (G2=a10,G3=...)", NULL },
    { 0 },
};

/* The card that stands for a model; the model itself when the map (NULL: none) does not name it. */
static struct csv_field mapped(const char *map, struct csv_field model)
{
    while (map && *map) {
        const size_t n = strcspn(map, ","), from = strcspn(map, "=,");
        if (from == model.len && memcmp(map, model.s, from) == 0 && from < n)
            return (struct csv_field){ .s = map + from + 1, .len = n - from - 1 };
        map += n + (map[n] == ',');
    }
    return model;
}

static int check_map(const char *map, struct err *e)
{
    while (map && *map) {
        const size_t n = strcspn(map, ","), from = strcspn(map, "=,");
        if (from == 0 || from + 1 >= n)
            return err_set(e, ERR_USAGE, NULL, "--gpu-map: expected MODEL=CARD, found \"%.*s\"",
                           (int)n, map);
        map += n + (map[n] == ',');
    }
    return 0;
}

static int read_list(const struct options *o, struct import_info *info, struct err *e);

struct openb {
    struct table t;
    const char *map;
    struct symtab *names;
    bool is_static;
};

static void openb_close(void *state)
{
    struct openb *s = state;
    if (!s) return;
    table_close(&s->t);
    free(s);
}

static int openb_open(void **state, const char *path, const void *options, struct symtab *names,
                      struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct openb *s = xcalloc(1, sizeof *s);
    s->names = names;
    s->is_static = o->is_static;
    s->map = o->gpu_map;
    int rc = check_map(o->gpu_map, e);
    if (rc == 0) rc = table_open(&s->t, path, ',', "openb", columns, ALWAYS, COLUMNS, e);
    for (int i = ALWAYS; rc == 0 && i < TIMED && !o->is_static; i++) {
        if (s->t.column_of[i] >= 0) continue;
        rc = csv_error(s->t.csv, &s->t.row, NULL, e,
                       "this variant has no \"%s\": it cannot be replayed by time", columns[i]);
        err_hint(e, "--static takes it as a list to place in file order");
    }
    if (rc == 0 && o->nodes) rc = read_list(o, info, e);
    if (rc < 0) {
        openb_close(s);
        return rc;
    }
    info->static_fill = o->is_static;
    snprintf(info->origin, sizeof info->origin, "%s",
             o->is_static ? "static_fill=1" : "time_zero=first_creation");
    *state = s;
    return 0;
}

/* Cards in thousandths. */
static void read_gpus(struct openb *s, struct import_row *row)
{
    int64_t num, milli;
    if (!table_number(&s->t, COL_num, "num_gpu", 0, &num, row)) return;
    if (!table_number(&s->t, COL_milli, "gpu_milli", 0, &milli, row)) return;
    if (num < 0 || num > 1000 || milli < 0 || milli > 1000 || (num > 0 && milli == 0)) {
        import_quarantine(row, &odd_share, "num_gpu %lld, gpu_milli %lld", (long long)num,
                          (long long)milli);
        return;
    }
    const bool shares = num > 1 && milli < 1000; /* of several cards: a job for each */
    row->instances = shares ? num : 0;
    row->job.gpus_milli = (int32_t)(shares ? milli : num * milli);
    row->asked = true;
}

static void read_host(struct openb *s, struct import_row *row)
{
    int64_t cpu, mib;
    if (table_number(&s->t, COL_cpu, "cpu_milli", 0, &cpu, row)) {
        if (cpu >= 0 && cpu <= INT32_MAX)
            row->job.cpus_milli = (int32_t)cpu;
        else
            import_quarantine(row, &import_bad_value, "cpu_milli: out of range");
    }
    if (table_number(&s->t, COL_mem, "memory_mib", 0, &mib, row)) {
        if (mib >= 0 && mib < INT64_C(1) << 40)
            row->job.mem_bytes = (uint64_t)mib << 20;
        else
            import_quarantine(row, &import_bad_value, "memory_mib: out of range");
    }
}

static void read_times(struct openb *s, struct import_row *row)
{
    const struct csv_field scheduled = table_cell(&s->t, COL_scheduled),
                           phase = table_cell(&s->t, COL_phase);
    simtime deleted;
    if (cell_missing(&scheduled)) {
        import_quarantine(row, csv_is(&phase, "Pending") ? &never_scheduled : &no_start, "%s", "");
        return;
    }
    if (!table_number(&s->t, COL_created, "creation_time", 9, &row->job.submit, row) ||
        !table_number(&s->t, COL_deleted, "deletion_time", 9, &deleted, row) ||
        !table_number(&s->t, COL_scheduled, "scheduled_time", 9, &row->start, row))
        return;
    if (deleted < row->start) {
        import_quarantine(row, &ends_first, "%s", "");
        return;
    }
    if (row->start < 0) {
        import_quarantine(row, &import_bad_value, "scheduled_time: negative");
        return;
    }
    row->job.duration = deleted - row->start; /* deleted >= start >= 0: no overflow */
    if (row->start < row->job.submit) {
        import_repair(row, &start_before_creation);
        row->start = JOB_NO_TIME;
    }
}

static enum job_status status_of(const struct csv_field *phase)
{
    if (csv_is(phase, "Succeeded")) return STATUS_completed;
    if (csv_is(phase, "Failed")) return STATUS_failed;
    return csv_is(phase, "Running") ? STATUS_running : STATUS_none;
}

static sym name_of(struct openb *s, int column)
{
    const struct csv_field f = table_cell(&s->t, column);
    return cell_missing(&f) ? 0 : symtab_add(s->names, f.s, f.len);
}

/* "V100M16|G2", each by the map. */
static sym allowed(struct openb *s)
{
    const struct csv_field f = table_cell(&s->t, COL_spec);
    if (cell_missing(&f)) return 0;
    if (!s->map) return symtab_add(s->names, f.s, f.len);
    struct strbuf b = { 0 };
    for (size_t at = 0; at <= f.len;) {
        const char *bar = memchr(f.s + at, '|', f.len - at);
        const size_t stop = bar ? (size_t)(bar - f.s) : f.len;
        const struct csv_field to =
            mapped(s->map, (struct csv_field){ .s = f.s + at, .len = stop - at });
        if (at > 0) strbuf_addc(&b, '|');
        strbuf_add(&b, to.s, to.len);
        at = stop + 1;
    }
    const sym name = symtab_add(s->names, b.s, b.len);
    strbuf_fini(&b);
    return name;
}

static int openb_next(void *state, struct import_row *row, struct err *e)
{
    struct openb *s = state;
    int rc = table_next(&s->t, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    const struct csv_field id = table_cell(&s->t, COL_name), phase = table_cell(&s->t, COL_phase);
    row->job.id = id.s;
    row->job.id_len = id.len;
    read_gpus(s, row);
    read_host(s, row);
    row->job.gpu_allowed = allowed(s);
    row->job.group = name_of(s, COL_qos);
    row->job.status = status_of(&phase);
    if (s->is_static)
        row->job.duration = STATIC_DURATION;
    else
        read_times(s, row);
    return 1;
}

static int openb_sniff(const char *head, size_t len)
{
    return header_has(head, len, ',', columns, ALWAYS) ? 95 : 0;
}

/* ---- the node list as a fleet ---------------------------------------------------------------- */

enum { NODE_sn, NODE_cpu, NODE_mem, NODE_gpu, NODE_model, NODE_COLUMNS };
static const char *const node_columns[NODE_COLUMNS] = { "sn", "cpu_milli", "memory_mib", "gpu",
                                                        "model" };

struct node {
    int64_t cpu, mib, gpus;
    sym model;
};

static int read_node(struct table *t, const char *map, struct symtab *names, struct node *out,
                     struct err *e)
{
    struct import_row row = { 0 };
    int rc = table_next(t, &row, e);
    if (rc <= 0) return rc;
    const struct csv_field model = table_cell(t, NODE_model);
    if (!row.quarantined && table_number(t, NODE_cpu, "cpu_milli", 0, &out->cpu, &row) &&
        table_number(t, NODE_mem, "memory_mib", 0, &out->mib, &row) &&
        table_number(t, NODE_gpu, "gpu", 0, &out->gpus, &row) &&
        (out->cpu < 0 || out->mib < 0 || out->gpus < 0 || out->gpus > 1024))
        import_quarantine(&row, &import_bad_value, "out of range");
    if (row.quarantined)
        return csv_error(t->csv, &t->row, NULL, e, "%s: %s", row.quarantined->text, row.detail);
    const struct csv_field card = mapped(map, model);
    out->model = cell_missing(&model) ? 0 : symtab_add(names, card.s, card.len);
    return 1;
}

/* Models that a scenario would refuse, in the order of the list, as a warning. */
static void warn_unknown(const struct symtab *names, char *note, size_t size)
{
    struct gpu_catalogue *gpus;
    struct strbuf list = { 0 };
    if (gpu_catalogue_load(&gpus, NULL, NULL) < 0) return; /* no data folder: nothing can be said */
    for (sym m = 1; m < symtab_count(names); m++)
        if (!gpu_find(gpus, symtab_name(names, m), NULL))
            strbuf_addf(&list, "%s%s", list.len ? ", " : "", symtab_name(names, m));
    if (list.len)
        snprintf(note, size,
                 "the catalogue has no card for these models of --nodes: %.80s; "
                 "--gpu-map MODEL=CARD,... says what stands for them",
                 list.s);
    strbuf_fini(&list);
    gpu_catalogue_destroy(gpus);
}

/* What the account needs of the list: GPUs in all, and models without a card. */
static int read_list(const struct options *o, struct import_info *info, struct err *e)
{
    struct table t = { 0 };
    struct symtab *names = symtab_create();
    struct node n;
    int64_t gpus = 0;
    int rc =
        table_open(&t, o->nodes, ',', "openb nodes", node_columns, NODE_COLUMNS, NODE_COLUMNS, e);
    while (rc == 0 && (rc = read_node(&t, o->gpu_map, names, &n, e)) > 0) {
        gpus += n.gpus; /* at most 1024 each */
        rc = 0;
    }
    if (rc == 0) warn_unknown(names, info->note, sizeof info->note);
    info->capacity_milli = gpus * 1000;
    table_close(&t);
    symtab_destroy(names);
    return rc;
}

/* Equal nodes in a row make one entry: the order of the list is kept, placement depends on it. */
static void add_entry(json_t *fleet, const struct symtab *names, const struct node *n,
                      int64_t first, int64_t count)
{
    char text[64];
    json_t *o = json_object();
    snprintf(text, sizeof text, "nodes-%04lld", (long long)first);
    json_object_set_new(o, "name", json_string(text));
    json_object_set_new(o, "nodes", json_integer(count));
    json_object_set_new(o, "gpu", json_string(n->model ? symtab_name(names, n->model) : "generic"));
    json_object_set_new(o, "gpus_per_node", json_integer(n->gpus));
    json_object_set_new(o, "cpu_cores",
                        n->cpu % 1000 ? json_real((double)n->cpu / 1000)
                                      : json_integer(n->cpu / 1000));
    snprintf(text, sizeof text, "%lld MiB", (long long)n->mib);
    json_object_set_new(o, "host_memory", json_string(text));
    json_array_append_new(fleet, o);
}

static int write_fleet(const struct options *o, const char *out, struct err *e)
{
    struct table t = { 0 };
    struct symtab *names = symtab_create();
    json_t *fleet = json_array();
    struct node n, last = { 0 };
    int64_t first = 0, count = 0, i = 0;
    int rc =
        table_open(&t, o->nodes, ',', "openb nodes", node_columns, NODE_COLUMNS, NODE_COLUMNS, e);
    while (rc == 0 && (rc = read_node(&t, o->gpu_map, names, &n, e)) > 0) {
        bool same = count > 0 && n.cpu == last.cpu && n.mib == last.mib && n.gpus == last.gpus &&
                    n.model == last.model;
        if (count > 0 && !same) add_entry(fleet, names, &last, first, count), count = 0;
        if (count == 0) first = i;
        last = n;
        count++, i++;
        rc = 0;
    }
    if (rc == 0 && count > 0) add_entry(fleet, names, &last, first, count);
    if (rc == 0) {
        char *path = xasprintf("%s.fleet.json", out);
        struct strbuf text = { 0 };
        json_t *doc = json_pack("{s:O}", "fleet", fleet);
        json_write(doc, &text);
        rc = outfile_write(path, text.s, text.len, e);
        json_decref(doc);
        strbuf_fini(&text);
        free(path);
    }
    json_decref(fleet);
    table_close(&t);
    symtab_destroy(names);
    return rc;
}

static int openb_finish(const void *options, const char *out, struct err *e)
{
    const struct options *o = options;
    if (!o->nodes) return 0;
    if (!out)
        return err_set(e, ERR_USAGE, NULL,
                       "--nodes needs -o: the fleet is written beside the trace");
    return write_fleet(o, out, e);
}

const struct trace_format fmt_openb = {
    .name = "openb",
    .help = "Alibaba openb pods, 2023: timed replay, or --static fill",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = openb_sniff,
    .open = openb_open,
    .next = openb_next,
    .close = openb_close,
    .finish = openb_finish,
};
