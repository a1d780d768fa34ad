/* fmt_kubernetes.c - pods as the Kubernetes API returns them (`kubectl get pods -A -o json`, or
 * YAML), Nodes beside them for the capacity: traces/k8s_objects.h, traces/k8s_demand.h.
 *
 *   submit  metadata.creationTimestamp
 *   start   status.startTime, else the condition PodScheduled, else the first startedAt
 *   end     the last terminated.finishedAt of a pod that Succeeded or Failed; without one (evicted
 *           pods) the last change of a condition
 * A pod that still runs has no end: it counts up to the instant of the dump, --until, or else the
 * latest instant that any pod of the file shows (at least so long did it run). Pods that never
 * started are no jobs. Deleted pods are not in the API at all; dumps collected over time may show a
 * pod several times: of one file the last appearance counts, of several files the one that ended,
 * else the one that ran longest. Time zero is the first submission; the namespace is handed on as
 * the group. */
#include "traces/k8s_demand.h"
#include "traces/k8s_nodes.h"
#include "traces/k8s_objects.h"
#include "traces/parse_time.h"

#include "base/hashes.h"
#include "base/mem.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

static const struct import_reason not_a_pod = { "not-a-pod",
                                                "an object that is no pod, such as a node", true };
static const struct import_reason never_started = {
    "never-started", "the pod was not placed, or its containers never came up", true
};
static const struct import_reason reservation = {
    "reservation-pod", "holds the card that fractional pods share, which are counted themselves",
    true
};
static const struct import_reason no_end = { "no-end",
                                             "Succeeded or Failed without any time of its end",
                                             false };
static const struct import_reason ends_first = { "ends-before-start",
                                                 "the end (or --until) is before the start",
                                                 false };
static const struct import_reason no_creation = {
    "no-creation", "metadata.creationTimestamp or metadata.name is missing", false
};
static const struct import_reason still_running = {
    "still-running", "no end yet: counted up to the instant of the dump (--until)", true
};
static const struct import_reason end_of_condition = {
    "end-from-condition", "no container says when it ended: the last change of a condition counts",
    true
};

struct options {
    const char *until, *card, *card_memory, *nodes;
};

static const struct opt opts[] = {
    { "until", 0, OPT_TEXT, offsetof(struct options, until), "TIME",
      "kubernetes: instant of the dump, e.g. 2024-03-31T12:00:00Z: running pods count up to it",
      NULL },
    { "card", 0, OPT_TEXT, offsetof(struct options, card), "GPU",
      "kubernetes: card of every node that --nodes does not name, e.g. a100-sxm4-40gb", NULL },
    { "card-memory", 0, OPT_TEXT, offsetof(struct options, card_memory), "SIZE",
      "kubernetes: memory of a card, e.g. \"40 GiB\", for requests by memory (gpumem, gpu-memory)",
      NULL },
    { "nodes", 0, OPT_TEXT, offsetof(struct options, nodes), "FILE",
      "kubernetes: Nodes (kubectl get nodes -o json): capacity, cards, and OUT.fleet.json", NULL },
    { 0 },
};

struct kube {
    struct k8s_objects objects;
    size_t at;
    struct symtab *names;
    struct gpu_catalogue *catalogue; /* NULL: not needed, or not found */
    bool catalogue_tried;
    json_t *nodes;        /* name -> Node, as read */
    json_t *latest;       /* uid -> place of its last appearance */
    struct k8s_card card; /* where the node is not known */
    simtime until;
    json_t *pod; /* of the row handed out */
    char *id;
};

/* ---- objects ----------------------------------------------------------------------------------- */

static const char *text_at(const json_t *v, const char *key)
{
    return json_string_value(json_object_get(v, key));
}

/* False when absent or no time. */
static bool instant(const json_t *v, const char *key, simtime *out)
{
    const char *s = text_at(v, key);
    return s && clock_parse(s, strlen(s), NULL, out, NULL) == CLOCK_OK;
}

static void later(simtime *to, simtime t)
{
    if (*to == JOB_NO_TIME || t > *to) *to = t;
}

/* What the containers' states say. */
struct states {
    simtime first_start, last_end, last_seen; /* JOB_NO_TIME: nothing */
    bool running;
};

static void read_states(const json_t *status, const char *list, struct states *s)
{
    size_t i;
    json_t *c;
    simtime t;
    json_array_foreach(json_object_get(status, list), i, c)
    {
        const json_t *states[] = { json_object_get(c, "state"), json_object_get(c, "lastState") };
        for (int k = 0; k < 2; k++) {
            const json_t *running = json_object_get(states[k], "running"),
                         *ended = json_object_get(states[k], "terminated");
            s->running |= k == 0 && running != NULL;
            if (instant(running ? running : ended, "startedAt", &t) && t > 0) {
                if (s->first_start == JOB_NO_TIME || t < s->first_start) s->first_start = t;
                later(&s->last_seen, t);
            }
            if (!instant(ended, "finishedAt", &t) || t <= 0) continue; /* 1970: not set */
            later(&s->last_end, t);
            later(&s->last_seen, t);
        }
    }
}

static simtime last_condition(const json_t *status)
{
    simtime last = JOB_NO_TIME, t;
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(status, "conditions"), i, c)
    {
        if (instant(c, "lastTransitionTime", &t)) later(&last, t);
    }
    return last;
}

static simtime condition_time(const json_t *status, const char *type)
{
    size_t i;
    json_t *c;
    simtime t;
    json_array_foreach(json_object_get(status, "conditions"), i, c)
    {
        const char *have = text_at(c, "type"), *truth = text_at(c, "status");
        if (have && truth && strcmp(have, type) == 0 && strcmp(truth, "True") == 0 &&
            instant(c, "lastTransitionTime", &t))
            return t;
    }
    return JOB_NO_TIME;
}

static struct states states_of(const json_t *status)
{
    struct states s = { .first_start = JOB_NO_TIME,
                        .last_end = JOB_NO_TIME,
                        .last_seen = JOB_NO_TIME };
    read_states(status, "initContainerStatuses", &s);
    s.running = false; /* of the containers proper, below */
    read_states(status, "containerStatuses", &s);
    return s;
}

/* ---- cards ------------------------------------------------------------------------------------- */

static const struct gpu_catalogue *catalogue(struct kube *s)
{
    struct err ignored = { 0 };
    if (!s->catalogue_tried && gpu_catalogue_load(&s->catalogue, NULL, &ignored) < 0)
        s->catalogue = NULL;
    s->catalogue_tried = true;
    return s->catalogue;
}

static struct k8s_card card_of(struct kube *s, const json_t *pod)
{
    const char *name = text_at(json_object_get(pod, "spec"), "nodeName");
    const json_t *v = name ? json_object_get(s->nodes, name) : NULL;
    struct k8s_card card = s->card;
    if (!v) return card;
    const struct k8s_node n = k8s_node_of(v);
    if (n.mem_mib > 0) card.mem_mib = (uint64_t)n.mem_mib;
    if (n.replicas > 0) card.replicas = (uint64_t)n.replicas;
    if (n.product) card.spec = k8s_product(catalogue(s), n.product);
    return card;
}

/* ---- the file ---------------------------------------------------------------------------------- */

static void kube_close(void *state)
{
    struct kube *s = state;
    if (!s) return;
    k8s_objects_fini(&s->objects);
    gpu_catalogue_destroy(s->catalogue);
    json_decref(s->nodes);
    json_decref(s->latest);
    json_decref(s->pod);
    free(s->id);
    free(s);
}

static int read_options(struct kube *s, const struct options *o, struct err *e)
{
    uint64_t bytes;
    s->until = JOB_NO_TIME;
    if (o->until) {
        unsigned flags;
        enum clock_status st = clock_parse(o->until, strlen(o->until), NULL, &s->until, &flags);
        if (st != CLOCK_OK || !(flags & CLOCK_ZONED))
            return err_set(
                e, ERR_USAGE, NULL,
                "--until: expected an instant such as 2024-03-31T12:00:00Z, found \"%s\"",
                o->until);
    }
    if (o->card_memory) {
        if (unit_parse_bytes(o->card_memory, &bytes, NULL) < 0 || bytes < 1 << 20 || bytes >> 50)
            return err_set(e, ERR_USAGE, NULL, "--card-memory: expected %s, found \"%s\"",
                           unit_expected(UNIT_BYTES), o->card_memory);
        s->card.mem_mib = bytes >> 20;
    }
    if (o->card) {
        const char *near = NULL;
        s->card.spec = catalogue(s) ? gpu_find(catalogue(s), o->card, &near) : NULL;
        if (!s->card.spec) {
            int rc =
                err_set(e, ERR_USAGE, NULL, "--card: no card \"%s\" in the catalogue", o->card);
            err_hint(e, near ? "did you mean \"%s\"?" : "`gpusim list gpus` names them", near);
            return rc;
        }
        if (!o->card_memory) s->card.mem_mib = s->card.spec->memory_bytes >> 20;
    }
    return o->nodes ? k8s_nodes_read(s->nodes, o->nodes, e) : 0;
}

/* Nodes, the last appearance of each pod, and the latest instant of all. */
static int survey(struct kube *s, bool find_until, struct err *e)
{
    size_t pods = 0;
    simtime t;
    for (size_t i = 0; i < s->objects.list.n; i++) {
        json_t *v = k8s_object_get(&s->objects, i, e);
        if (!v) return ERR_INPUT;
        const json_t *meta = json_object_get(v, "metadata"), *status = json_object_get(v, "status");
        const char *uid = text_at(meta, "uid");
        if (k8s_is_kind(v, "Node")) k8s_nodes_keep(s->nodes, v);
        if (k8s_is_kind(v, "Pod")) {
            const struct states states = states_of(status);
            pods++;
            if (uid) json_object_set_new(s->latest, uid, json_integer((json_int_t)i));
            if (find_until) {
                if (instant(meta, "creationTimestamp", &t)) later(&s->until, t);
                if (instant(status, "startTime", &t)) later(&s->until, t);
                if (states.last_seen != JOB_NO_TIME) later(&s->until, states.last_seen);
                t = last_condition(status);
                if (t != JOB_NO_TIME) later(&s->until, t);
            }
        }
        json_decref(v);
    }
    if (pods > 0) return 0;
    const struct loc at = { .file = s->objects.file };
    int rc = err_set(e, ERR_INPUT, &at, "expected pods, found %zu objects and no pod",
                     s->objects.list.n);
    if (json_object_size(s->nodes) > 0)
        err_hint(e, "nodes are given with --nodes FILE beside a list of pods");
    return rc;
}

static int kube_open(void **state, const char *path, const void *options, struct symtab *names,
                     struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct kube *s = xcalloc(1, sizeof *s);
    char text[40];
    const char *name;
    json_t *v;
    s->names = names;
    s->nodes = json_object();
    s->latest = json_object();
    int rc = read_options(s, o, e);
    if (rc == 0) rc = k8s_objects_read(&s->objects, path, e);
    if (rc == 0) rc = survey(s, !o->until, e);
    if (rc < 0) {
        kube_close(s);
        return rc;
    }
    json_object_foreach(s->nodes, name, v)
    {
        info->capacity_milli += k8s_node_of(v).cards * 1000;
    }
    info->from_zero = true;
    if (s->until != JOB_NO_TIME) {
        clock_format(text, sizeof text, s->until);
        snprintf(info->origin, sizeof info->origin, "until=%s", text);
        if (!o->until)
            snprintf(info->note, sizeof info->note,
                     "pods that still run are counted up to %s, the latest instant in the file "
                     "(--until says when the dump was made)",
                     text);
    }
    *state = s;
    return 0;
}

/* ---- a pod ------------------------------------------------------------------------------------- */

static void set_end(struct kube *s, const json_t *status, const struct states *st,
                    struct import_row *row)
{
    const char *phase = text_at(status, "phase");
    const bool over = phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
    simtime end = st->last_end;
    row->job.status = STATUS_running;
    if (over) row->job.status = phase[0] == 'S' ? STATUS_completed : STATUS_failed;
    if (over && end == JOB_NO_TIME) {
        end = last_condition(status);
        if (end == JOB_NO_TIME) {
            import_quarantine(row, &no_end, "%s", phase);
            return;
        }
        import_repair(row, &end_of_condition);
    }
    if (!over) {
        end = s->until;
        import_repair(row, &still_running);
    }
    if (end == JOB_NO_TIME || end < row->start) {
        import_quarantine(row, &ends_first, "%s", "");
        return;
    }
    row->job.duration = end - row->start; /* both within 1680..2260: no overflow */
}

static void set_times(struct kube *s, const json_t *pod, struct import_row *row)
{
    const json_t *status = json_object_get(pod, "status");
    const struct states st = states_of(status);
    simtime scheduled = condition_time(status, "PodScheduled");
    if (!instant(json_object_get(pod, "metadata"), "creationTimestamp", &row->job.submit)) {
        import_quarantine(row, &no_creation, "%s", "");
        return;
    }
    if (!instant(status, "startTime", &row->start))
        row->start = scheduled != JOB_NO_TIME ? scheduled : st.first_start;
    const char *phase = text_at(status, "phase");
    if (row->start == JOB_NO_TIME ||
        (phase && strcmp(phase, "Pending") == 0 && st.first_start == JOB_NO_TIME)) {
        import_quarantine(row, &never_started, "%s", phase ? phase : "");
        return;
    }
    set_end(s, status, &st, row);
}

static void set_demand(struct kube *s, const json_t *pod, struct import_row *row)
{
    const struct k8s_card card = card_of(s, pod);
    struct k8s_demand d;
    uint64_t n;
    if (!k8s_demand_read(&d, pod, &card, catalogue(s), row)) return;
    if (d.shares < 0) {
        import_quarantine(row, &k8s_odd_share, "several shares of a card beside others");
        return;
    }
    if (d.shares > 1) {
        row->instances = d.shares;
        d.gpu_milli /= d.shares;
    }
    if (d.gpu_milli > INT32_MAX || !job_gpus_ok((int32_t)d.gpu_milli)) {
        import_quarantine(row, &k8s_odd_share, "%lld thousandths of a card",
                          (long long)d.gpu_milli);
        return;
    }
    row->job.gpus_milli = (int32_t)d.gpu_milli;
    row->asked = true;
    if (d.gpu_mem_bytes > 0) row->job.gpu_mem_bytes = d.gpu_mem_bytes;
    if (card.spec && d.gpu_milli > 0) row->job.gpu_model = symtab_addz(s->names, card.spec->name);
    if (d.cpu > 0 && k8s_in_units(d.cpu, K8S_ONE / 1000, INT32_MAX, &n))
        row->job.cpus_milli = (int32_t)n;
    if (d.mem > 0 && k8s_in_units(d.mem, K8S_ONE, INT64_MAX, &n)) row->job.mem_bytes = n;
}

static void set_rest(struct kube *s, const json_t *pod, struct import_row *row)
{
    const json_t *spec = json_object_get(pod, "spec");
    const char *ns = text_at(json_object_get(pod, "metadata"), "namespace"),
               *product = text_at(json_object_get(spec, "nodeSelector"), "nvidia.com/gpu.product");
    int64_t v;
    if (ns) row->job.group = symtab_addz(s->names, ns);
    if (product) {
        const struct gpu_spec *g = k8s_product(catalogue(s), product);
        row->job.gpu_allowed = symtab_addz(s->names, g ? g->name : product);
    }
    char buf[40];
    const char *priority = k8s_text(json_object_get(spec, "priority"), buf, sizeof buf);
    char *end;
    if (priority && *priority) {
        const long long p = strtoll(priority, &end, 10);
        if (!*end && p > INT32_MIN && p <= INT32_MAX) row->job.priority = (int32_t)p;
    }
    /* the deadline of a pod runs from its start, as a time limit does */
    if (k8s_whole(json_object_get(spec, "activeDeadlineSeconds"), INT64_C(9000000000), &v) && v > 0)
        row->job.walltime = v * SIM_SECOND;
}

static bool is_reservation(const char *ns)
{
    return ns &&
           (strcmp(ns, "runai-reservation") == 0 || strcmp(ns, "kai-resource-reservation") == 0);
}

static void read_pod(struct kube *s, size_t i, struct import_row *row)
{
    const json_t *meta = json_object_get(s->pod, "metadata");
    const char *name = text_at(meta, "name"), *ns = text_at(meta, "namespace"),
               *uid = text_at(meta, "uid");
    if (!k8s_is_kind(s->pod, "Pod")) {
        const char *kind = text_at(s->pod, "kind");
        import_quarantine(row, &not_a_pod, "%s", kind ? kind : "");
        return;
    }
    if (uid && json_integer_value(json_object_get(s->latest, uid)) != (json_int_t)i) {
        import_quarantine(row, &import_superseded, "%s", uid);
        return;
    }
    if (!name) {
        import_quarantine(row, &no_creation, "%s", "");
        return;
    }
    if (uid) row->unfinished = hash_mix(hash_bytes(uid, strlen(uid))) | 1; /* in other files too */
    s->id = xasprintf("%s%s%s", ns ? ns : "", ns ? "/" : "", name);
    row->job.id = s->id;
    row->job.id_len = strlen(s->id);
    set_demand(s, s->pod, row);
    if (is_reservation(ns)) import_quarantine(row, &reservation, "%s", ns);
    set_times(s, s->pod, row);
    set_rest(s, s->pod, row);
}

static int kube_next(void *state, struct import_row *row, struct err *e)
{
    struct kube *s = state;
    const size_t i = s->at++;
    json_decref(s->pod);
    free(s->id);
    s->pod = NULL;
    s->id = NULL;
    if (i >= s->objects.list.n) return 0;
    const struct k8s_object *o = &s->objects.list.v[i];
    row->line = o->line;
    row->raw = o->text;
    row->raw_len = o->len;
    s->pod = k8s_object_get(&s->objects, i, e);
    if (!s->pod) return ERR_INPUT;
    read_pod(s, i, row);
    return 1;
}

/* ---- the end ----------------------------------------------------------------------------------- */

static int kube_finish(const void *options, const char *out, struct err *e)
{
    const struct options *o = options;
    if (!o->nodes) return 0;
    if (!out)
        return err_set(e, ERR_USAGE, NULL,
                       "--nodes needs -o: the fleet is written beside the trace");
    return k8s_nodes_write_fleet(o->nodes, out, e);
}

static bool has(const char *head, size_t len, const char *word)
{
    return memmem(head, len, word, strlen(word)) != NULL;
}

static int kube_sniff(const char *head, size_t len)
{
    size_t i = 0;
    while (i < len) { /* comments and document marks in front */
        if (memchr(" \t\r\n", head[i], 4))
            i++;
        else if (head[i] == '#' || (len - i >= 3 && memcmp(head + i, "---", 3) == 0))
            while (i < len && head[i] != '\n') i++;
        else
            break;
    }
    if (i == len) return 0;
    const char *s = head + i;
    const size_t n = len - i;
    if (*s == '{' || *s == '[')
        return has(s, n, "\"apiVersion\"") && has(s, n, "\"kind\"") ? 90 : 0;
    const bool starts = (n > 11 && memcmp(s, "apiVersion:", 11) == 0) ||
                        (n > 5 && memcmp(s, "kind:", 5) == 0) ||
                        (n > 6 && memcmp(s, "items:", 6) == 0);
    return starts && has(s, n, "kind:") ? 90 : 0;
}

const struct trace_format fmt_kubernetes = {
    .name = "kubernetes",
    .help = "Kubernetes pods, JSON or YAML (kubectl get pods -A -o json): whole, MIG, shared, HAMi",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = kube_sniff,
    .open = kube_open,
    .next = kube_next,
    .close = kube_close,
    .finish = kube_finish,
};
