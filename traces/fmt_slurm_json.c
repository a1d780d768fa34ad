/* fmt_slurm_json.c - the JSON of sacct --json, squeue --json and slurmrestd (OpenAPI plugins of
 * Slurm 20.11 to 24.05): {"jobs": [...]}; numbers plain or {"set", "infinite", "number"}; the state
 * a text or a list; times in epoch seconds, 0 for not set; limits in minutes. JSON lines are read
 * too.
 *
 * Streaming: memory holds one job, not the document. What the values mean is in slurm_job.h. The
 * snapshot's own clock (last_update) ends running jobs; it may stand behind the jobs, so a file is
 * read once before for it (standard input comes as a file: base/spool.h). */
#include "traces/json_items.h"
#include "traces/slurm_job.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/outfile.h"

#include <stdlib.h>
#include <string.h>

static const struct import_reason bad_json = { "bad-json", "the member is no JSON object", false };

static const struct opt opts[] = {
    { "nodes", 0, OPT_TEXT, offsetof(struct slurm_options, nodes), "FILE",
      "slurm-json: sinfo --json or slurmrestd's nodes: their GPUs are the capacity; the fleet is "
      "written to OUT.fleet.json",
      NULL },
    SLURM_OPTS("slurm-json"),
    { 0 },
};

struct slurm_json {
    struct json_items *items;
    struct slurm_file *slurm;
    json_t *job;
    struct strbuf text; /* texts made for the present job */
};

static void slurm_json_close(void *state)
{
    struct slurm_json *s = state;
    if (!s) return;
    json_items_close(s->items);
    slurm_file_close(s->slurm);
    json_decref(s->job);
    strbuf_fini(&s->text);
    free(s);
}

/* ---- values ----------------------------------------------------------------------------------- */

struct number {
    bool set, infinite;
    int64_t v;
};

static struct number number_of(const json_t *v)
{
    const int64_t no_val = INT64_C(4294967294), infinite = INT64_C(4294967295);
    struct number n = { 0 };
    if (json_is_object(v)) {
        const json_t *number = json_object_get(v, "number"), *set = json_object_get(v, "set");
        n.infinite = json_is_true(json_object_get(v, "infinite"));
        n.set = json_is_true(set) && json_is_number(number);
        v = number;
    } else {
        n.set = json_is_number(v);
    }
    if (!n.set) return n;
    const double d = json_number_value(v);
    n.v = json_is_integer(v) ? json_integer_value(v) : d >= 0 && d < 9e15 ? (int64_t)d : -1;
    if (n.v == no_val || n.v == no_val - (INT64_C(1) << 32) || n.v < 0) return (struct number){ 0 };
    if (n.v == infinite) n.infinite = true;
    return n;
}

static int64_t count_of(const json_t *v)
{
    const struct number n = number_of(v);
    return n.set && !n.infinite ? n.v : -1;
}

static simtime seconds_of(const json_t *v, bool zero_is_unset)
{
    const struct number n = number_of(v);
    if (!n.set || n.infinite || n.v > (int64_t)SIM_MAX_S || (n.v == 0 && zero_is_unset))
        return JOB_NO_TIME;
    return n.v * SIM_SECOND;
}

static const json_t *member(const json_t *o, const char *a, const char *b)
{
    const json_t *v = json_object_get(o, a);
    return b ? json_object_get(v, b) : v;
}

static void text_of(const json_t *v, const char **s, size_t *len)
{
    if (json_is_array(v)) v = json_array_get(v, 0);
    *s = json_is_string(v) ? json_string_value(v) : "";
    *len = json_is_string(v) ? json_string_length(v) : 0;
}

/* ---- one job ---------------------------------------------------------------------------------- */

/* [{"type": "gres", "name": "gpu:a100", "count": 2}, ...] as the text that sacct prints. */
static void add_tres_text(const json_t *list, struct strbuf *out)
{
    size_t i;
    const json_t *t;
    json_array_foreach((json_t *)(uintptr_t)list, i, t)
    {
        const char *type = json_string_value(json_object_get(t, "type"));
        const char *name = json_string_value(json_object_get(t, "name"));
        const int64_t n = count_of(json_object_get(t, "count"));
        if (!type || n < 0 || strchr(type, ',') || (name && strpbrk(name, ",="))) continue;
        strbuf_addf(out, "%s%s%s%s=%lld", out->len ? "," : "", type, name && *name ? "/" : "",
                    name ? name : "", (long long)n);
    }
}

/* What a job says about resources: a text, a list, or nothing. In `own` when it had to be made. */
static void tres_of(const json_t *text, const json_t *list, struct strbuf *own, const char **s,
                    size_t *len)
{
    *s = NULL;
    *len = 0;
    if (json_is_string(text)) {
        text_of(text, s, len);
    } else if (json_is_array(list)) {
        add_tres_text(list, own);
        *s = own->s ? own->s : "";
        *len = own->len;
    }
}

/* gres_detail has one text for each node; tres_per_node holds for all of them alike. */
static void gres_of(const json_t *job, struct strbuf *own, struct slurm_record *r)
{
    size_t i;
    json_t *v;
    r->gres_of_all_nodes = true;
    json_array_foreach(json_object_get(job, "gres_detail"), i, v) if (json_is_string(v))
        strbuf_addf(own, "%s%s", own->len ? "," : "", json_string_value(v));
    if (own->len) {
        r->gres = own->s;
        r->gres_len = own->len;
        return;
    }
    v = json_object_get(job, "tres_per_node");
    if (!json_is_string(v)) return;
    for (int64_t k = 0; k < r->nodes && k < 4096 && json_string_length(v); k++)
        strbuf_addf(own, "%s%s", k ? "," : "", json_string_value(v));
    r->gres = own->s ? own->s : "";
    r->gres_len = own->len;
}

static void id_of(const json_t *job, struct strbuf *own, struct slurm_record *r)
{
    const json_t *task = json_object_get(job, "array_task_id"),
                 *id = json_object_get(job, "job_id");
    int64_t array = count_of(json_object_get(job, "array_job_id"));
    int64_t het = count_of(json_object_get(job, "het_job_id"));
    int64_t offset = count_of(json_object_get(job, "het_job_offset"));
    if (json_is_object(json_object_get(job, "array"))) {
        array = count_of(member(job, "array", "job_id"));
        task = member(job, "array", "task_id");
        if (json_is_object(task) && !json_object_get(task, "number")) task = NULL;
    }
    if (json_is_object(json_object_get(job, "het"))) {
        het = count_of(member(job, "het", "job_id"));
        offset = count_of(member(job, "het", "job_offset"));
    }
    if (!id) id = json_object_get(job, "id");
    if (array > 0 && count_of(task) >= 0)
        strbuf_addf(own, "%lld_%lld", (long long)array, (long long)count_of(task));
    else if (het > 0 && offset >= 0)
        strbuf_addf(own, "%lld+%lld", (long long)het, (long long)offset);
    else if (json_is_string(id))
        strbuf_addz(own, json_string_value(id));
    else if (count_of(id) >= 0)
        strbuf_addf(own, "%lld", (long long)count_of(id));
    r->id = own->s ? own->s : "";
    r->id_len = own->len;
}

static void times_of(const json_t *job, struct slurm_record *r)
{
    const json_t *time = json_object_get(job, "time");
    const bool db = json_is_object(time); /* sacct's shape */
    const json_t *limit = db ? json_object_get(time, "limit") : json_object_get(job, "time_limit");
    const struct number n = number_of(limit);
    r->submit = seconds_of(
        db ? json_object_get(time, "submission") : json_object_get(job, "submit_time"), true);
    r->start =
        seconds_of(db ? json_object_get(time, "start") : json_object_get(job, "start_time"), true);
    r->end = seconds_of(db ? json_object_get(time, "end") : json_object_get(job, "end_time"), true);
    r->elapsed = db ? seconds_of(json_object_get(time, "elapsed"), false) : JOB_NO_TIME;
    r->end_is_planned = !db;
    r->limit_kind = LIMIT_UNKNOWN;
    if (n.infinite)
        r->limit_kind = LIMIT_NONE;
    else if (n.set && n.v > 0 && n.v < INT64_C(150000000))
        r->limit_kind = LIMIT_SET, r->limit = n.v * 60 * SIM_SECOND;
}

static void memory_of(const json_t *job, struct slurm_record *r)
{
    const int64_t node = count_of(json_object_get(job, "memory_per_node"));
    const int64_t cpu = count_of(json_object_get(job, "memory_per_cpu"));
    int64_t mib = 0;
    r->mem_bytes = -1;
    if (node > 0 && r->nodes > 0 && __builtin_mul_overflow(node, r->nodes, &mib)) return;
    if (node <= 0 && cpu > 0 && r->cpus > 0 && __builtin_mul_overflow(cpu, r->cpus, &mib)) return;
    if (mib > 0 && mib < INT64_C(1) << 43) r->mem_bytes = mib << 20;
}

/* Of a list the first state is the base and the others are flags, but not in all versions:
 * COMPLETING says nothing once the job has another state and an end. */
static void state_of(const json_t *job, struct slurm_record *r)
{
    const json_t *state = json_object_get(job, "job_state"), *v;
    size_t i;
    if (!state) state = json_object_get(job, "state");
    if (json_is_object(state)) state = json_object_get(state, "current");
    text_of(state, &r->state, &r->state_len);
    if (!json_is_array(state) || r->end == JOB_NO_TIME ||
        slurm_state(r->state, r->state_len) != SLURM_COMPLETING)
        return;
    json_array_foreach((json_t *)(uintptr_t)state, i, v)
    {
        if (!json_is_string(v)) continue;
        text_of(v, &r->state, &r->state_len);
        if (slurm_state(r->state, r->state_len) != SLURM_COMPLETING) return;
    }
}

static void convert(struct slurm_json *s, struct import_row *row)
{
    const json_t *job = s->job;
    struct slurm_record r = { 0 };
    struct strbuf id = { 0 }, alloc = { 0 }, req = { 0 }, gres = { 0 };
    const json_t *user = json_object_get(job, "user_name");
    text_of(user ? user : json_object_get(job, "user"), &r.user, &r.user_len);
    text_of(json_object_get(job, "account"), &r.account, &r.account_len);
    id_of(job, &id, &r);
    const json_t *nodes = json_object_get(job, "node_count");
    r.nodes = count_of(nodes ? nodes : json_object_get(job, "allocation_nodes"));
    r.cpus = count_of(json_object_get(job, "cpus"));
    r.priority = count_of(json_object_get(job, "priority"));
    memory_of(job, &r);
    times_of(job, &r);
    state_of(job, &r);
    tres_of(json_object_get(job, "tres_alloc_str"), member(job, "tres", "allocated"), &alloc,
            &r.alloc_tres, &r.alloc_tres_len);
    tres_of(json_object_get(job, "tres_req_str"), member(job, "tres", "requested"), &req,
            &r.req_tres, &r.req_tres_len);
    gres_of(job, &gres, &r);
    slurm_convert(s->slurm, &r, row);
    strbuf_clear(&s->text); /* the id outlives this call */
    strbuf_add(&s->text, row->job.id ? row->job.id : "", row->job.id_len);
    row->job.id = s->text.s ? s->text.s : "";
    strbuf_fini(&id);
    strbuf_fini(&alloc);
    strbuf_fini(&req);
    strbuf_fini(&gres);
}

static int slurm_json_next(void *state, struct import_row *row, struct err *e)
{
    struct slurm_json *s = state;
    struct json_item item;
    json_error_t je;
    int rc = json_items_next(s->items, &item, e);
    if (rc == 0) return slurm_file_end(s->slurm, json_items_file(s->items), e);
    if (rc < 0) return rc;
    row->line = item.line;
    row->raw = item.text;
    row->raw_len = item.len;
    json_decref(s->job);
    s->job = json_loadb(item.text, item.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &je);
    if (!json_is_object(s->job))
        import_quarantine(row, &bad_json, "%.150s", s->job ? "" : je.text);
    else
        convert(s, row);
    return 1;
}

/* last_update of the whole document, wherever it stands; JOB_NO_TIME without. */
static int find_snapshot(const char *path, simtime *when, struct err *e)
{
    struct json_items *items;
    struct json_item item;
    *when = JOB_NO_TIME;
    int rc = json_items_open(&items, path, "jobs", e);
    if (rc < 0) return rc;
    while ((rc = json_items_next(items, &item, e)) > 0) continue;
    const char *text = json_items_scalar(items, "last_update");
    json_t *v = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    if (v) *when = seconds_of(v, true);
    json_decref(v);
    json_items_close(items);
    return rc;
}

/* ---- nodes ------------------------------------------------------------------------------------ */

struct node {
    int64_t gpus, cpus, mib;
    char card[64];
};

static void read_node(const json_t *o, const struct slurm_options *opt, struct node *n)
{
    const char *gres = json_string_value(json_object_get(o, "gres"));
    struct slurm_tres t;
    *n = (struct node){ .cpus = count_of(json_object_get(o, "cpus")),
                        .mib = count_of(json_object_get(o, "real_memory")) };
    if (gres && slurm_gres(gres, strlen(gres), 1, &t, NULL)) {
        const int64_t milli = slurm_gpus_milli(&t, NULL);
        n->gpus = milli > 0 && milli < INT64_C(1000000) ? milli / 1000 : 0;
        if (t.type) snprintf(n->card, sizeof n->card, "%.*s", (int)t.type_len, t.type);
    }
    if (n->gpus == 0) n->gpus = opt->gpus_per_node;
    /* the card that --gpu-map names for the type */
    for (const char *p = opt->gpu_map; p && *p && n->card[0];) {
        const size_t len = strcspn(p, ","), type = strlen(n->card);
        if (len > type + 1 && strncmp(p, n->card, type) == 0 && p[type] == '=') {
            snprintf(n->card, sizeof n->card, "%.*s", (int)(len - type - 1), p + type + 1);
            break;
        }
        p += len + (p[len] == ',');
    }
}

static void add_entry(json_t *fleet, const struct node *n, int64_t count)
{
    char text[64];
    json_t *o = json_object();
    snprintf(text, sizeof text, "nodes-%04zu", json_array_size(fleet));
    json_object_set_new(o, "name", json_string(text));
    json_object_set_new(o, "nodes", json_integer(count));
    json_object_set_new(o, "gpu", json_string(n->card[0] ? n->card : "generic"));
    json_object_set_new(o, "gpus_per_node", json_integer(n->gpus));
    if (n->cpus > 0) json_object_set_new(o, "cpu_cores", json_integer(n->cpus));
    snprintf(text, sizeof text, "%lld MiB", (long long)n->mib);
    if (n->mib > 0) json_object_set_new(o, "host_memory", json_string(text));
    json_array_append_new(fleet, o);
}

/* Equal nodes in a row make one entry; nodes without a GPU none. `fleet` may be NULL. */
static int read_nodes(const struct slurm_options *opt, json_t *fleet, int64_t *gpus, struct err *e)
{
    struct json_items *items;
    struct json_item item;
    struct node n, last = { 0 };
    int64_t count = 0;
    *gpus = 0;
    int rc = json_items_open(&items, opt->nodes, "nodes", e);
    if (rc < 0) return rc;
    while ((rc = json_items_next(items, &item, e)) > 0) {
        json_t *o = json_loadb(item.text, item.len, JSON_REJECT_DUPLICATES, NULL);
        const struct loc at = { .file = json_items_file(items), .line = item.line };
        if (!o) rc = err_set(e, ERR_INPUT, &at, "a node that is no JSON object");
        if (rc < 0) break;
        read_node(o, opt, &n);
        json_decref(o);
        if (n.gpus == 0) continue;
        *gpus += n.gpus;
        const bool same = count > 0 && n.gpus == last.gpus && n.cpus == last.cpus &&
                          n.mib == last.mib && strcmp(n.card, last.card) == 0;
        if (count > 0 && !same && fleet) add_entry(fleet, &last, count);
        count = same ? count + 1 : 1;
        last = n;
    }
    if (rc == 0 && count > 0 && fleet) add_entry(fleet, &last, count);
    json_items_close(items);
    return rc;
}

static int slurm_json_finish(const void *options, const char *out, struct err *e)
{
    const struct slurm_options *o = options;
    int64_t gpus;
    if (!o->nodes) return 0;
    if (!out)
        return err_set(e, ERR_USAGE, NULL,
                       "--nodes needs -o: the fleet is written beside the trace");
    json_t *fleet = json_array(), *doc = json_pack("{s:O}", "fleet", fleet);
    struct strbuf text = { 0 };
    char *path = xasprintf("%s.fleet.json", out);
    int rc = read_nodes(o, fleet, &gpus, e);
    json_write(doc, &text);
    if (rc == 0) rc = outfile_write(path, text.s, text.len, e);
    strbuf_fini(&text);
    json_decref(doc);
    json_decref(fleet);
    free(path);
    return rc;
}

static int slurm_json_open(void **state, const char *path, const void *options,
                           struct symtab *names, struct import_info *info, struct err *e)
{
    struct slurm_json *s = xcalloc(1, sizeof *s);
    simtime when = JOB_NO_TIME;
    const struct slurm_options *o = options;
    int64_t gpus = 0;
    int rc = slurm_file_open(&s->slurm, o, names, info, e);
    if (rc == 0 && o->nodes) rc = read_nodes(o, NULL, &gpus, e);
    info->capacity_milli = gpus * 1000;
    if (rc == 0) rc = find_snapshot(path, &when, e);
    if (rc == 0) rc = json_items_open(&s->items, path, "jobs", e);
    if (rc < 0) {
        if (!e->hint[0])
            err_hint(e, "this reads the JSON of sacct, squeue and slurmrestd; the text of sacct is "
                        "`gpusim import sacct`, a list of nodes goes with --nodes beside the jobs");
        slurm_json_close(s);
        return rc;
    }
    if (when != JOB_NO_TIME) slurm_file_set_as_of(s->slurm, when);
    info->from_zero = true;
    *state = s;
    return 0;
}

static void slurm_json_settle(void *state, struct import_row *row)
{
    slurm_settle(((struct slurm_json *)state)->slurm, row);
}

static void slurm_json_facts(const void *state, json_t *into)
{
    slurm_file_facts(((const struct slurm_json *)state)->slurm, into);
}

static int slurm_json_sniff(const char *head, size_t len)
{
    if (!json_items_sniff(head, len, "jobs")) return 0;
    return memmem(head, len, "\"job_state\"", 11) || memmem(head, len, "\"job_id\"", 8) ? 90 : 0;
}

const struct trace_format fmt_slurm_json = {
    .name = "slurm-json",
    .help = "JSON of Slurm's sacct, squeue and slurmrestd",
    .opts = opts,
    .options_size = sizeof(struct slurm_options),
    .sniff = slurm_json_sniff,
    .open = slurm_json_open,
    .next = slurm_json_next,
    .close = slurm_json_close,
    .settle = slurm_json_settle,
    .facts = slurm_json_facts,
    .finish = slurm_json_finish,
};
