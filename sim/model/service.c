#include "model/service.h"

#include "model/job.h"

#include <math.h>
#include <string.h>

enum { POINTER = 300 };

const char *const service_metric_names[SERVICE_METRICS + 1] = {
#define X(name) #name,
    SERVICE_METRIC_MAP(X)
#undef X
        NULL
};

static const char *const kinds[] = { "service", NULL };

/* As written; `kind` is there for the reader of the table. */
struct head {
    struct service_spec s;
    int kind;
};

#define JSON_KEY(key, member, help_)                                                               \
    {                                                                                              \
        .name = key, .type = CFG_JSON, .offset = offsetof(struct head, s.member), .help = help_    \
    }
#define KEY(key, member, kind_, dflt_, min_, max_, help_)                                          \
    {                                                                                              \
        .name = key, .type = kind_, .offset = offsetof(struct head, s.member), .dflt = dflt_,      \
        .min = min_, .max = max_, .help = help_                                                    \
    }

const struct cfg_field service_fields[] = {
    { .name = "name",
      .type = CFG_TEXT,
      .offset = offsetof(struct head, s.name),
      .required = true,
      .help = "unique" },
    { .name = "kind",
      .type = CFG_CHOICE,
      .offset = offsetof(struct head, kind),
      .required = true,
      .choices = kinds,
      .help = "service: requests, answered by replicas" },
    KEY("requests", requests, CFG_TEXT, NULL, 0, 0, "native request trace"),
    KEY("spec", spec, CFG_TEXT, NULL, 0, 0, "generator spec with services"),
    JSON_KEY("arrivals", arrivals_json, "arrival process of requests"),
    KEY("users", users, CFG_INT, NULL, 1, 1e6, "closed loop: so many people think, ask, and wait"),
    JSON_KEY("think", think_json,
             "users: distribution of the time between answer and next request"),
    JSON_KEY("size", size_json,
             "distribution of the time that a request takes alone on a whole card"),
    JSON_KEY("input_tokens", input_json, "distribution of the tokens of a prompt"),
    JSON_KEY("output_tokens", output_json, "distribution of the tokens of an answer"),
    KEY("only", only, CFG_TEXT, NULL, 0, 0, "requests, spec: rows of this service alone"),
    KEY("load", load, CFG_REAL, "1", 1e-6, 1e6, "arrival times are divided by it"),
    KEY("count", count, CFG_INT, NULL, 1, 1e12, "at most so many requests"),
    KEY("model", model, CFG_TEXT, NULL, 0, 0, "language model that a replica serves"),
    KEY("profile", profile, CFG_TEXT, NULL, 0, 0,
        "work signature: what a request does on a card, how it scales on a slice"),
    KEY("gpu_model", gpu_model, CFG_TEXT, NULL, 0, 0,
        "card on which sizes hold; absent: on every card"),
    JSON_KEY("speed_on", speed_on_json, "measured: {card: times as fast as the sizes say}"),
    JSON_KEY("need", need_json, "what a replica asks for"),
    JSON_KEY("replicas", replicas_json, "how many there are"),
    KEY("start_up", start_up, CFG_TIME, "0 s", 0, SIM_MAX_S,
        "a replica holds its cards so long before it serves: loading the model"),
    JSON_KEY("serve", serve_json, "how a replica serves; absent: one request at a time"),
    KEY("route", route, CFG_TEXT, NULL, 0, 0, "which replica gets a request; absent: shared"),
    KEY("queue", queue, CFG_INT, NULL, 0, 1e12, "requests that may wait; more are dropped"),
    KEY("timeout", timeout, CFG_TIME, NULL, 0, SIM_MAX_S, "a request that waits longer is dropped"),
    JSON_KEY("slo", slo_json, "targets: {\"wait|latency|ttft|tpot_p50..p999|mean\": duration}"),
};
const size_t service_fields_n = sizeof service_fields / sizeof *service_fields;

struct need {
    double gpu;
    uint64_t memory;
};
const struct cfg_field service_need_fields[] = {
    CFG_FIELD(struct need, gpu, CFG_REAL, "1", 0.001, 1024,
              "cards: a fraction of one, or a whole number"),
    CFG_FIELD(struct need, memory, CFG_BYTES, NULL, 0, 1e18,
              "per card; absent: the policy's share"),
};
const size_t service_need_fields_n = sizeof service_need_fields / sizeof *service_need_fields;

static const char *const scale_names[] = { "utilization", "queue", "schedule", NULL };

const struct cfg_field service_replicas_fields[] = {
    CFG_FIELD(struct service_replicas, min, CFG_INT, "1", 1, 1e6, "there all the time"),
    CFG_FIELD(struct service_replicas, max, CFG_INT, NULL, 1, 1e6,
              "at most; absent: as many as min"),
    CFG_ONE_OF(struct service_replicas, scale_on, scale_names, "utilization",
               "what decides between min and max"),
    CFG_FIELD(struct service_replicas, target, CFG_REAL, NULL, 1e-3, 1e6,
              "utilization: busy share, 0.6; queue: requests in the system per replica, 2"),
    CFG_FIELD(struct service_replicas, interval, CFG_TIME, "15 s", 1e-3, 86400,
              "between two looks"),
    CFG_FIELD(struct service_replicas, down_after, CFG_TIME, "5 min", 0, 86400,
              "fewer only when fewer have been wanted for so long"),
    { .name = "hours",
      .type = CFG_JSON,
      .offset = offsetof(struct service_replicas, hours_json),
      .help = "schedule: 24 numbers of replicas, by hour of the day from time zero" },
    CFG_FIELD(struct service_replicas, per_card, CFG_INT, NULL, 1, 1000,
              "instead of min: so many for each card of the fleet"),
};
const size_t service_replicas_fields_n =
    sizeof service_replicas_fields / sizeof *service_replicas_fields;

struct reader {
    struct service_spec *s;
    struct arena *a;
    const struct json_doc *doc;
    struct diag *d;
};

static const char *at(const struct reader *r, const char *key)
{
    char p[POINTER];
    return arena_strdup(r->a, json_pointer_key(p, sizeof p, r->s->pointer, key));
}

/* ---- targets ---- */

static bool target_parse(const char *key, struct service_target *out)
{
    const char *under = strchr(key, '_');
    int m = 0;
    if (!under) return false;
    while (m < SERVICE_METRICS &&
           (strlen(service_metric_names[m]) != (size_t)(under - key) ||
            strncmp(service_metric_names[m], key, (size_t)(under - key)) != 0))
        m++;
    if (m == SERVICE_METRICS) return false;
    out->metric = (enum service_metric)m;
    if (strcmp(under, "_mean") == 0) {
        out->percentile = 0;
        return true;
    }
    static const struct {
        const char *word;
        double p;
    } known[] = {
        { "_p50", 0.50 }, { "_p90", 0.90 }, { "_p95", 0.95 }, { "_p99", 0.99 }, { "_p999", 0.999 }
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(under, known[i].word) == 0) {
            out->percentile = known[i].p;
            return true;
        }
    return false;
}

static void read_targets(struct reader *r)
{
    json_t *obj = r->s->slo_json, *v;
    const char *key, *pointer = at(r, "slo"), *nearest;
    char p[POINTER], found[80];
    size_t n = 0;
    if (!obj) return;
    if (!json_is_object(obj)) {
        json_problem(r->d, r->doc, pointer,
                     "expected an object such as {\"latency_p99\": \"500 ms\"}, "
                     "found %s",
                     json_found(found, sizeof found, obj));
        return;
    }
    struct service_target *t = arena_array(r->a, json_object_size(obj) + 1, sizeof *t);
    json_object_foreach(obj, key, v)
    {
        json_pointer_key(p, sizeof p, pointer, key);
        if (!target_parse(key, &t[n])) {
            err_hint(json_problem(r->d, r->doc, p, "no such target: \"%s\"", key),
                     "wait, latency, ttft or tpot, then _p50, _p90, _p95, _p99, _p999 or _mean");
            continue;
        }
        t[n].name = arena_strdup(r->a, key);
        if (!json_is_string(v) || unit_parse_time(json_string_value(v), &t[n].limit, &nearest) != 0)
            json_problem(r->d, r->doc, p, "expected %s, found %s", unit_expected(UNIT_TIME),
                         json_found(found, sizeof found, v));
        n++;
    }
    r->s->target = t;
    r->s->n_targets = n;
}

/* ---- where requests come from ---- */

static bool read_dist(struct reader *r, struct synth_dist *out, json_t *v, const char *key,
                      enum synth_unit unit)
{
    if (!v) return false;
    synth_dist_read(out, r->a, r->doc, v, at(r, key), unit, r->d);
    return true;
}

/* Requests can come by any process that is not of people or recordings of jobs. */
static void read_arrivals(struct reader *r)
{
    struct service_spec *s = r->s;
    const size_t before = r->d->count;
    synth_arrival_read(&s->arrivals, r->a, r->doc, s->arrivals_json, at(r, "arrivals"), NAN, r->d);
    if (r->d->count > before) return;
    if (s->arrivals.kind == SYNTH_ARRIVAL_sessions || s->arrivals.kind == SYNTH_ARRIVAL_once ||
        synth_arrival_replays(&s->arrivals))
        json_problem(r->d, r->doc, at(r, "arrivals"),
                     "expected arrivals that requests can have, found \"%s\"",
                     synth_arrival_kind_names[s->arrivals.kind]);
}

/* A key that is there but goes with another source of requests. */
static void refuse(struct reader *r, bool present, const char *key, const char *with)
{
    if (present) json_problem(r->d, r->doc, at(r, key), "\"%s\" does not go with %s", key, with);
}

static void read_sizes(struct reader *r, bool drawn, const char *with)
{
    struct service_spec *s = r->s;
    s->sized = read_dist(r, &s->size, s->size_json, "size", SYNTH_SECONDS);
    const bool in = read_dist(r, &s->input, s->input_json, "input_tokens", SYNTH_NUMBER);
    const bool out = read_dist(r, &s->output, s->output_json, "output_tokens", SYNTH_NUMBER);
    s->tokens = in && out;
    if (!drawn) {
        refuse(r, s->sized, "size", with);
        refuse(r, in, "input_tokens", with);
        refuse(r, out, "output_tokens", with);
    } else if (s->sized ? in || out : !s->tokens) {
        json_problem(r->d, r->doc, s->pointer,
                     "%s: expected \"size\", or \"input_tokens\" and \"output_tokens\"", with);
    }
}

static void read_source(struct reader *r)
{
    struct service_spec *s = r->s;
    const bool closed = s->users != CFG_NO_INT, drawn = closed || s->arrivals_json;
    const int sources =
        (s->requests != NULL) + (s->spec != NULL) + (s->arrivals_json != NULL) + closed;
    if (sources != 1) {
        json_problem(r->d, r->doc, s->pointer,
                     "expected one source of requests (\"requests\", \"spec\", \"arrivals\" or "
                     "\"users\"), found %s",
                     sources ? "several" : "none");
        return;
    }
    const char *with = s->requests ? "requests from a trace"
                       : s->spec   ? "requests from a generator"
                       : closed    ? "users"
                                   : "an arrival process";
    if (s->arrivals_json) read_arrivals(r);
    read_sizes(r, drawn, with);
    read_dist(r, &s->think, s->think_json, "think", SYNTH_SECONDS);
    if (closed && !s->think_json)
        json_problem(r->d, r->doc, s->pointer,
                     "users: expected \"think\", the time between answer and "
                     "next request");
    refuse(r, s->think_json && !closed, "think", with);
    refuse(r, s->only && drawn, "only", with);
    refuse(r, s->load != 1.0 && closed, "load", with);
}

/* ---- who answers ---- */

static void read_table(struct reader *r, const struct cfg_field *fields, size_t n, void *out,
                       json_t *obj, const char *key)
{
    cfg_read(fields, n, out, r->a, r->doc, obj, at(r, key), NULL, 0, r->d);
}

static void read_need(struct reader *r)
{
    struct need need = { .gpu = 1, .memory = CFG_NO_BYTES };
    const size_t before = r->d->count;
    read_table(r, service_need_fields, service_need_fields_n, &need, r->s->need_json, "need");
    if (r->d->count > before) return;
    const double milli = need.gpu * 1000;
    r->s->gpus_milli = (int32_t)lround(milli);
    r->s->bytes = need.memory;
    if (fabs(milli - r->s->gpus_milli) > 1e-6 || !job_gpus_ok(r->s->gpus_milli)) {
        char p[POINTER];
        json_problem(r->d, r->doc, json_pointer_key(p, sizeof p, at(r, "need"), "gpu"),
                     "expected thousandths of one card or a whole number of cards, found %g",
                     need.gpu);
    }
}

/* 24 numbers; min and max follow from them. */
static void read_hours(struct reader *r, struct service_replicas *x)
{
    bool good = json_array_size(x->hours_json) == 24;
    char p[POINTER];
    for (size_t i = 0; good && i < 24; i++) {
        const json_t *v = json_array_get(x->hours_json, i);
        x->hour[i] = json_is_integer(v) ? json_integer_value(v) : 0;
        good = x->hour[i] >= 1 && x->hour[i] <= 1000000;
        if (i == 0 || x->hour[i] < x->min) x->min = x->hour[i];
        if (i == 0 || x->hour[i] > x->max) x->max = x->hour[i];
    }
    if (!good)
        json_problem(r->d, r->doc, json_pointer_key(p, sizeof p, at(r, "replicas"), "hours"),
                     "expected 24 whole numbers of replicas, each at least 1");
}

static void read_replicas(struct reader *r)
{
    struct service_replicas *x = &r->s->replicas;
    json_t *obj = r->s->replicas_json;
    const char *pointer = at(r, "replicas");
    const size_t before = r->d->count;
    read_table(r, service_replicas_fields, service_replicas_fields_n, x, obj, "replicas");
    if (r->d->count > before) return;
    if (x->per_card != CFG_NO_INT && (json_object_get(obj, "min") || json_object_get(obj, "max")))
        json_problem(r->d, r->doc, pointer, "\"per_card\" stands instead of \"min\" and \"max\"");
    if ((x->scale_on == SCALE_SCHEDULE) != (x->hours_json != NULL))
        json_problem(r->d, r->doc, pointer, "\"scale_on\": \"schedule\" and \"hours\" go together");
    else if (x->hours_json)
        read_hours(r, x);
    if (x->max == CFG_NO_INT) x->max = x->min;
    if (x->max < x->min) json_problem(r->d, r->doc, pointer, "\"max\" is smaller than \"min\"");
    if (x->down_after / x->interval > 100000)
        json_problem(r->d, r->doc, pointer, "\"down_after\" is more than 100000 intervals");
    if (isnan(x->target)) x->target = x->scale_on == SCALE_QUEUE ? 2 : 0.6;
}

void service_read(struct service_spec *out, struct arena *a, const struct json_doc *doc,
                  json_t *obj, const char *pointer, struct diag *d)
{
    struct head head = { .s.pointer = pointer };
    struct reader r = { out, a, doc, d };
    const size_t before = d->count;
    cfg_read(service_fields, service_fields_n, &head, a, doc, obj, pointer, NULL, 0, d);
    *out = head.s;
    if (d->count > before) return;
    read_source(&r);
    read_need(&r);
    read_replicas(&r);
    read_targets(&r);
}

json_t *service_resolved(const struct service_spec *s, const json_t *as_given)
{
    const struct head head = { *s, 0 };
    const struct need need = { s->gpus_milli / 1000.0, s->bytes };
    struct service_replicas replicas = s->replicas;
    if (replicas.per_card != CFG_NO_INT) replicas.min = replicas.max = CFG_NO_INT;
    if (replicas.hours_json) replicas.min = replicas.max = CFG_NO_INT;
    json_t *o = cfg_write(service_fields, service_fields_n, &head);
    json_object_update_existing(o, (json_t *)(uintptr_t)as_given);
    json_object_set_new(o, "need", cfg_write(service_need_fields, service_need_fields_n, &need));
    json_object_set_new(o, "replicas",
                        cfg_write(service_replicas_fields, service_replicas_fields_n, &replicas));
    return o;
}

bool service_is_random(const struct service_spec *s)
{
    return !s->requests;
}
