#include "model/scenario_inside.h"

#include "base/instream.h"
#include "base/spool.h"

#include <math.h>
#include <string.h>

enum { POINTER = 256, MAX_LISTED = 1000 /* groups are asked in turn, names compared in pairs */ };

#define N(table) (sizeof(table) / sizeof *(table))

struct reader {
    struct scenario *s;
    const char *file;
    struct diag *d;
};

const char *scenario_path(struct arena *a, const char *scenario_file, const char *path)
{
    const char *slash = strrchr(scenario_file, '/');
    /* a scenario that came through a pipe (<(...), standard input) lies nowhere */
    const bool piped = strncmp(scenario_file, "/proc/self/fd/", 14) == 0 ||
                       strncmp(scenario_file, "/dev/fd/", 8) == 0 ||
                       strcmp(scenario_file, "/dev/stdin") == 0;
    if (!path || path[0] == '/' || !slash || piped) return arena_strdup(a, path);
    return arena_printf(a, "%.*s/%s", (int)(slash - scenario_file), scenario_file, path);
}

static const char *relative(struct reader *r, const char *path)
{
    return path ? scenario_path(r->s->arena, r->file, path) : NULL;
}

static const char *pointer_at(struct reader *r, const char *base, size_t i)
{
    return arena_printf(r->s->arena, "%s/%zu", base, i);
}

static void read_table(struct reader *r, const struct cfg_field *fields, size_t n, void *out,
                       json_t *obj, const char *pointer)
{
    cfg_read(fields, n, out, r->s->arena, &r->s->doc, obj, pointer, NULL, 0, r->d);
}

/* A non-empty array of objects with unique names? Reports what it is not. */
static bool is_named_list(struct reader *r, json_t *list, const char *pointer, const char *what)
{
    size_t i;
    json_t *v;
    if (!list) return false; /* reported as missing */
    if (!json_is_array(list) || json_array_size(list) == 0) {
        char found[64];
        json_problem(r->d, &r->s->doc, pointer, "expected a list of at least one %s, found %s",
                     what,
                     json_is_array(list) ? "an empty list" : json_found(found, sizeof found, list));
        return false;
    }
    if (json_array_size(list) > MAX_LISTED) {
        json_problem(r->d, &r->s->doc, pointer, "expected at most %d entries, found %zu",
                     MAX_LISTED, json_array_size(list));
        return false;
    }
    json_array_foreach(list, i, v)
    {
        const char *name = json_string_value(json_object_get(v, "name"));
        for (size_t k = 0; name && k < i; k++) {
            const char *other = json_string_value(json_object_get(json_array_get(list, k), "name"));
            if (other && strcmp(name, other) == 0)
                json_problem(r->d, &r->s->doc, arena_printf(r->s->arena, "%s/%zu/name", pointer, i),
                             "the name \"%s\" is taken by %s %zu", name, what, k);
        }
    }
    return true;
}

/* Names end up in file names, paths of --set and CSV columns. */
static void check_name(struct reader *r, const char *name, const char *pointer)
{
    if (!name) return;
    if (name[0] == '\0' || strlen(name) > 100 || strpbrk(name, "./\\ \t\n\r,\"") || name[0] == '-')
        json_problem(r->d, &r->s->doc, arena_printf(r->s->arena, "%s/name", pointer),
                     "expected a short name without blanks, dots, slashes, commas or quotes, "
                     "found \"%s\"",
                     name);
}

/* The scenario's faults with what a group says differently. */
static void read_faults(struct reader *r, json_t *general, json_t *own, const char *pointer,
                        struct fault_rates *out)
{
    const size_t before = r->d->count;
    json_t *both = json_is_object(general) ? json_copy(general) : json_object();
    struct diag unheard; /* what the general part says wrong was reported once */
    read_table(r, fault_fields, fault_fields_n, out, own, pointer);
    diag_init(&unheard);
    if (json_is_object(own)) json_object_update(both, own);
    cfg_read(fault_fields, fault_fields_n, out, r->s->arena, &r->s->doc, both, pointer, NULL, 0,
             &unheard);
    diag_fini(&unheard);
    json_decref(both);
    const struct {
        const char *key;
        simtime mtbf;
    } rate[] = {
        { "card_mtbf", out->card_mtbf },
        { "node_mtbf", out->node_mtbf },
        { "rack_mtbf", out->rack_mtbf },
        { "job_mtbf", out->job_mtbf },
    };
    for (size_t i = 0; r->d->count == before && i < N(rate); i++)
        if (rate[i].mtbf > 0 && rate[i].mtbf < SIM_SECOND)
            json_problem(r->d, &r->s->doc, arena_printf(r->s->arena, "%s/%s", pointer, rate[i].key),
                         "expected \"0 s\" (never) or at least a second");
}

static const struct fleet_group *read_fleet(struct reader *r, json_t *list, const char *pointer,
                                            json_t *faults, size_t *n)
{
    size_t i;
    json_t *v;
    *n = 0;
    if (!is_named_list(r, list, pointer, "fleet group")) return NULL;
    struct fleet_group *g = arena_array(r->s->arena, json_array_size(list), sizeof *g);
    double cards = 0;
    json_array_foreach(list, i, v)
    {
        const char *at = pointer_at(r, pointer, i);
        const size_t before = r->d->count;
        read_table(r, fleet_fields, fleet_fields_n, &g[i], v, at);
        check_name(r, g[i].name, at);
        g[i].profile = relative(r, g[i].profile);
        g[i].pointer = at;
        g[i].fails = faults || g[i].faults;
        if (g[i].fails)
            read_faults(r, faults, g[i].faults,
                        g[i].faults ? arena_printf(r->s->arena, "%s/faults", at) : "/faults",
                        &g[i].rates);
        if (r->d->count == before && g[i].fails && g[i].rates.rack_mtbf > 0 &&
            g[i].nodes_per_rack == CFG_NO_INT)
            json_problem(r->d, &r->s->doc, at,
                         "racks fail (\"rack_mtbf\"), but the group has no \"nodes_per_rack\"");
        if (r->d->count == before && g[i].nvlink_domain != CFG_NO_INT &&
            (g[i].gpus_per_node == 0 || (g[i].gpus_per_node % g[i].nvlink_domain != 0 &&
                                         g[i].nvlink_domain % g[i].gpus_per_node != 0)))
            json_problem(r->d, &r->s->doc, arena_printf(r->s->arena, "%s/nvlink_domain", at),
                         "expected a part or a multiple of the %lld cards of a node, found %lld",
                         (long long)g[i].gpus_per_node, (long long)g[i].nvlink_domain);
        if (r->d->count == before)
            g[i].change = capacity_read(r->s->arena, &r->s->doc, g[i].capacity,
                                        arena_printf(r->s->arena, "%s/capacity", at), g[i].nodes,
                                        g[i].gpus_per_node, &g[i].n_changes, r->d);
        cards += (double)g[i].nodes * (double)g[i].gpus_per_node;
    }
    if (cards > 1e7)
        json_problem(r->d, &r->s->doc, pointer, "expected at most 10000000 cards, found %.0f",
                     cards);
    if (cards == 0 && r->d->count == 0)
        json_problem(r->d, &r->s->doc, pointer,
                     "the fleet has no cards: every group has gpus_per_node 0");
    *n = json_array_size(list);
    return g;
}

/* Unknown keys are reported when the order is known: engine/plan.c. */
static struct schedule read_schedule(struct reader *r, json_t *obj, const char *pointer)
{
    struct schedule s = { .json = json_is_object(obj) ? obj : NULL, .pointer = pointer };
    json_t *known = s.json ? json_object() : json_incref(obj);
    for (size_t i = 0; s.json && i < schedule_fields_n; i++) {
        json_t *v = json_object_get(obj, schedule_fields[i].name);
        if (v) json_object_set(known, schedule_fields[i].name, v);
    }
    read_table(r, schedule_fields, schedule_fields_n, &s, known, pointer);
    json_decref(known);
    return s;
}

/* Every policy reads a trace and a spec once more: a pipe would be empty by then, a FIFO wait for
 * ever. Files that are not there are left to their reader. The path for it. */
static const char *rereadable(struct reader *r, const char *named, const char *work,
                              const char *key)
{
    const char *path = relative(r, named);
    const char *kind = named && strcmp(named, "-") == 0 ? spool_kind(named)
                       : path                           ? spool_kind(path)
                                                        : NULL;
    if (!kind) return path;
    struct err *e =
        json_problem(r->d, &r->s->doc, arena_printf(r->s->arena, "%s/%s", work, key),
                     "expected a file, found %s: every policy reads it from the start", kind);
    err_hint(e, "store it first, such as with `gpusim import native - -o trace.csv`");
    return path;
}

static struct work_item read_service(struct reader *r, json_t *v, const char *at)
{
    struct service_spec *s = arena_alloc(r->s->arena, sizeof *s);
    service_read(s, r->s->arena, &r->s->doc, v, at, r->d);
    check_name(r, s->name, at);
    s->requests = rereadable(r, s->requests, at, "requests");
    s->spec = rereadable(r, s->spec, at, "spec");
    s->model = rereadable(r, s->model, at, "model");
    return (struct work_item){
        .name = s->name, .kind = WORK_SERVICE, .load = s->load, .service = s, .pointer = at
    };
}

static void read_work(struct reader *r, json_t *list)
{
    size_t i;
    json_t *v;
    if (!is_named_list(r, list, "/work", "work item")) return;
    struct work_item *w = arena_array(r->s->arena, json_array_size(list), sizeof *w);
    json_array_foreach(list, i, v)
    {
        const char *at = pointer_at(r, "/work", i);
        const char *kind = json_string_value(json_object_get(v, "kind"));
        if (kind && strcmp(kind, "service") == 0) {
            w[i] = read_service(r, v, at);
            r->s->n_services++;
            continue;
        }
        read_table(r, work_fields, work_fields_n, &w[i], v, at);
        check_name(r, w[i].name, at);
        if (w[i].kind == WORK_JOBS && !w[i].trace)
            json_problem(r->d, &r->s->doc, at, "kind \"jobs\" needs \"trace\": a native trace");
        if (w[i].kind == WORK_GENERATE && !w[i].spec)
            json_problem(r->d, &r->s->doc, at,
                         "kind \"generate\" needs \"spec\": a generator file");
        w[i].trace = rereadable(r, w[i].trace, at, "trace");
        w[i].spec = rereadable(r, w[i].spec, at, "spec");
        w[i].pointer = at;
    }
    r->s->work = w;
    r->s->n_work = json_array_size(list);
}

/* Requests that are drawn come for ever, unless something stops them. */
static void check_ends(struct reader *r)
{
    for (size_t i = 0; i < r->s->n_work && r->s->horizon == CFG_NO_TIME; i++) {
        const struct service_spec *v = r->s->work[i].service;
        if (v && (v->arrivals_json || v->users != CFG_NO_INT) && v->count == CFG_NO_INT)
            json_problem(
                r->d, &r->s->doc, v->pointer,
                "requests without an end: expected a \"horizon\" of the scenario, or a \"count\"");
    }
}

static void read_signatures(struct reader *r, json_t *obj)
{
    const char *key;
    json_t *v;
    size_t i = 0;
    char at[POINTER];
    if (!obj) return;
    if (!json_is_object(obj)) {
        json_problem(r->d, &r->s->doc, "/profiles", "expected an object: name to work signature");
        return;
    }
    struct named_signature *sig = arena_array(r->s->arena, json_object_size(obj), sizeof *sig);
    json_object_foreach(obj, key, v)
    {
        json_pointer_key(at, sizeof at, "/profiles", key);
        sig[i++] = (struct named_signature){ arena_strdup(r->s->arena, key), v,
                                             arena_strdup(r->s->arena, at) };
    }
    r->s->signature = sig;
    r->s->n_signatures = i;
}

static void read_policies(struct reader *r, const struct top *top)
{
    size_t i, n_fleet;
    json_t *v;
    const struct fleet_group *fleet = read_fleet(r, top->fleet, "/fleet", top->faults, &n_fleet);
    r->s->fleet = fleet;
    r->s->n_fleet = n_fleet;
    const struct schedule schedule = read_schedule(r, top->schedule, "/schedule");
    r->s->schedule = schedule;
    r->s->schedule_unused = top->schedule != NULL;
    if (!is_named_list(r, top->policies, "/policies", "policy")) return;
    struct policy_spec *p = arena_array(r->s->arena, json_array_size(top->policies), sizeof *p);
    json_array_foreach(top->policies, i, v)
    {
        const char *at = pointer_at(r, "/policies", i);
        struct policy_head head = { 0 };
        read_table(r, policy_fields, policy_fields_n, &head, v, at);
        check_name(r, head.name, at);
        p[i] = (struct policy_spec){ .name = head.name,
                                     .share = head.share,
                                     .pointer = at,
                                     .fleet = fleet,
                                     .n_fleet = n_fleet,
                                     .schedule = schedule };
        p[i].share_pointer = arena_printf(r->s->arena, "%s/share", at);
        p[i].kind = json_string_value(json_object_get(head.share, "kind"));
        if (head.share && !p[i].kind)
            json_problem(
                r->d, &r->s->doc, p[i].share_pointer,
                "expected an object with \"kind\": a sharing policy (`gpusim list policies`)");
        if (head.fleet)
            p[i].fleet = read_fleet(r, head.fleet, arena_printf(r->s->arena, "%s/fleet", at),
                                    top->faults, &p[i].n_fleet);
        if (head.schedule)
            p[i].schedule =
                read_schedule(r, head.schedule, arena_printf(r->s->arena, "%s/schedule", at));
        p[i].prices = relative(r, head.prices ? head.prices : top->prices);
        p[i].pairs = relative(r, head.pairs);
    }
    r->s->policy = p;
    r->s->n_policies = json_array_size(top->policies);
}

/* true, false, or {"from", "to", "events"}. */
static void read_timeline(struct reader *r, json_t *v)
{
    static const char at[] = "/output/timeline";
    struct timeline *t = &r->s->timeline;
    json_t *none = json_object();
    char found[64];
    if (v && !json_is_boolean(v) && !json_is_object(v))
        json_problem(r->d, &r->s->doc, at, "expected true, false or an object, found %s",
                     json_found(found, sizeof found, v));
    read_table(r, timeline_fields, timeline_fields_n, t, json_is_object(v) ? v : none, at);
    json_decref(none);
    t->on = json_is_true(v) || json_is_object(v);
    if (t->to == CFG_NO_TIME) t->to = SIM_NEVER;
    if (t->to <= t->from)
        json_problem(r->d, &r->s->doc, "/output/timeline/to", "expected a time after \"from\"");
}

static void read_top(struct reader *r)
{
    struct top top = { 0 };
    struct output output = { 0 };
    struct scenario *s = r->s;
    read_table(r, top_fields, top_fields_n, &top, s->doc.root, "");
    if (top.format && strcmp(top.format, "gpusim-scenario/1") != 0)
        json_problem(r->d, &s->doc, "/format", "expected \"gpusim-scenario/1\", found \"%s\"",
                     top.format);
    check_name(r, top.name, "");
    s->name = top.name;
    s->seed = top.seed;
    s->horizon = top.horizon;
    s->warmup = top.warmup;
    if (s->horizon == 0)
        json_problem(r->d, &s->doc, "/horizon",
                     "expected a horizon above 0; leave it out to run to the last job's end");
    else if (s->horizon != CFG_NO_TIME && s->warmup >= s->horizon)
        json_problem(r->d, &s->doc, "/warmup", "expected a warm-up shorter than the horizon");
    read_table(r, output_fields, output_fields_n, &output, top.output, "/output");
    s->sample = output.sample;
    s->write_jobs = output.jobs;
    read_timeline(r, output.timeline);
    if (top.faults) {
        s->fails = true;
        read_table(r, fault_fields, fault_fields_n, &s->rates, top.faults, "/faults");
    }
    read_work(r, top.work);
    check_ends(r);
    read_signatures(r, top.profiles);
    s->rent = relative(r, top.rent);
    read_policies(r, &top);
}

static bool is_one_of(const char *key, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(key, list[i]) == 0) return true;
    return false;
}

/* --set schedule.backfill=none and work.chat.replicas.min=2 work although the file leaves the
 * section to its defaults. `path` is cut and mended. */
static void make_section(json_t *root, char *path)
{
    static const char *const top[] = { "schedule", "output", "profiles", "faults" },
                             *const of_work[] = { "need", "replicas", "serve", "slo" },
                             *const of_policy[] = { "schedule" };
    char *first = strchr(path, '.'), *last = strrchr(path, '.');
    if (!first) return;
    *first = '\0';
    if (is_one_of(path, top, N(top)) && !json_object_get(root, path))
        json_object_set_new(root, path, json_object());
    const bool work = strcmp(path, "work") == 0, policy = strcmp(path, "policies") == 0;
    *first = '.';
    *last = '\0';
    char *section = strrchr(path, '.');
    if (section && (work ? is_one_of(section + 1, of_work, N(of_work))
                         : policy && is_one_of(section + 1, of_policy, N(of_policy)))) {
        *section = '\0';
        json_t *item = json_path_get(root, path);
        if (json_is_object(item) && !json_object_get(item, section + 1))
            json_object_set_new(item, section + 1, json_object());
        *section = '.';
    }
    *last = '.';
}

static int apply_set(struct scenario *s, const char *text, struct err *e)
{
    const char *eq = strchr(text, '=');
    if (!eq || eq == text)
        return err_set(e, ERR_USAGE, NULL, "--set: expected PATH=VALUE, found '%s'", text);
    char *path = arena_strndup(s->arena, text, (size_t)(eq - text));
    make_section(s->doc.root, path);
    return json_path_set(s->doc.root, path, eq + 1, e);
}

int scenario_load(struct scenario *out, const char *path, const char *const *set, size_t n_set,
                  struct diag *d, struct err *e)
{
    struct reader r = { out, path, d };
    *out = (struct scenario){ .arena = arena_create() };
    int rc = json_doc_load(&out->doc, path, e);
    if (rc == 0) sha256_hex(out->doc.text, out->doc.len, out->sha256);
    for (size_t i = 0; rc == 0 && i < n_set; i++) rc = apply_set(out, set[i], e);
    if (rc == 0) read_top(&r);
    return rc;
}

void scenario_fini(struct scenario *s)
{
    json_doc_fini(&s->doc);
    arena_destroy(s->arena);
    *s = (struct scenario){ 0 };
}

/* Defaults filled in, but what the user wrote stays as written: paths above all. */
static json_t *with_defaults(json_t *filled, const json_t *as_given)
{
    json_object_update_existing(filled, (json_t *)(uintptr_t)as_given);
    return filled;
}

static json_t *fleet_json(const struct fleet_group *g, size_t n, const json_t *as_given)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *one = with_defaults(cfg_write(fleet_fields, fleet_fields_n, &g[i]),
                                    json_array_get(as_given, i));
        if (g[i].faults)
            json_object_set_new(
                one, "faults",
                with_defaults(cfg_write(fault_fields, fault_fields_n, &g[i].rates), g[i].faults));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *timeline_json(const struct timeline *t)
{
    struct timeline shown = *t;
    if (!t->on) return json_false();
    if (t->to == SIM_NEVER) shown.to = CFG_NO_TIME;
    return cfg_write(timeline_fields, timeline_fields_n, &shown);
}

json_t *scenario_resolved(const struct scenario *s, json_t *const *share, json_t *const *order)
{
    json_t *root = json_deep_copy(s->doc.root), *work = json_array(), *policies = json_array();
    const struct top top = { .format = "gpusim-scenario/1",
                             .name = s->name,
                             .seed = s->seed,
                             .horizon = s->horizon,
                             .warmup = s->warmup };
    struct output output = { .sample = s->sample, .jobs = s->write_jobs };
    if (s->fails)
        json_object_set_new(root, "faults",
                            with_defaults(cfg_write(fault_fields, fault_fields_n, &s->rates),
                                          json_object_get(root, "faults")));
    json_t *head = cfg_write(top_fields, top_fields_n, &top);
    json_object_update(root, head);
    json_decref(head);
    for (size_t i = 0; i < s->n_work; i++) {
        const json_t *as_given = json_array_get(json_object_get(s->doc.root, "work"), i);
        const struct work_item *w = &s->work[i];
        json_array_append_new(
            work, w->service ? service_resolved(w->service, as_given)
                             : with_defaults(cfg_write(work_fields, work_fields_n, w), as_given));
    }
    for (size_t i = 0; i < s->n_policies; i++) {
        const struct policy_spec *p = &s->policy[i];
        json_t *as_given = json_array_get(json_object_get(s->doc.root, "policies"), i);
        json_t *item = json_object();
        json_object_set_new(item, "name", json_string(p->name));
        json_object_set(item, "share", share[i]);
        json_t *schedule = cfg_write(schedule_fields, schedule_fields_n, &p->schedule);
        if (p->schedule.json) json_object_update_missing(schedule, p->schedule.json);
        if (order[i]) json_object_update_missing(schedule, order[i]);
        json_object_set_new(item, "schedule", schedule);
        if (json_object_get(as_given, "fleet"))
            json_object_set_new(
                item, "fleet",
                fleet_json(p->fleet, p->n_fleet, json_object_get(as_given, "fleet")));
        if (json_object_get(as_given, "prices"))
            json_object_set(item, "prices", json_object_get(as_given, "prices"));
        if (json_object_get(as_given, "pairs"))
            json_object_set(item, "pairs", json_object_get(as_given, "pairs"));
        json_array_append_new(policies, item);
    }
    json_object_set_new(root, "work", work);
    json_object_set_new(root, "policies", policies);
    output.timeline = timeline_json(&s->timeline);
    json_object_set_new(root, "output", cfg_write(output_fields, output_fields_n, &output));
    json_decref(output.timeline);
    json_object_set_new(root, "fleet",
                        fleet_json(s->fleet, s->n_fleet, json_object_get(s->doc.root, "fleet")));
    return root;
}
