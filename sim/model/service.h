/* model/service.h - an inference service as a scenario describes it: work of kind "service" (design
 * sections 3 and 5). Requests come from a trace, a generator's file, an arrival process, or users
 * who think and ask; replicas answer them.
 *
 *     { "name": "chat", "kind": "service", "requests": "chat.csv", "need": { "gpu": 0.25 },
 *       "replicas": { "min": 2, "max": 8 }, "slo": { "latency_p99": "500 ms" } }
 *
 * The size of a request is its time alone on a whole card (of `gpu_model`, where given), in
 * seconds. How requests are served and routed is named here and known to engine/serve.h and
 * engine/route.h. Ownership: the arena. Threads: read-only after reading. */
#ifndef GPUSIM_MODEL_SERVICE_H
#define GPUSIM_MODEL_SERVICE_H

#include "base/arena.h"
#include "base/cfg.h"
#include "model/synth_arrival.h"
#include "model/synth_dist.h"

/* What can have a target. In milliseconds where it is written. */
#define SERVICE_METRIC_MAP(X)                                                                      \
    X(wait)    /* arrival to the begin of its service */                                           \
    X(latency) /* arrival to its end */                                                            \
    X(ttft)    /* arrival to the first token */                                                    \
    X(tpot)    /* (last token - first token) / (output tokens - 1) */
enum service_metric {
#define X(name) SERVICE_##name,
    SERVICE_METRIC_MAP(X)
#undef X
        SERVICE_METRICS
};
extern const char *const service_metric_names[SERVICE_METRICS + 1];

/* "ttft_p99": "500 ms" */
struct service_target {
    const char *name;
    enum service_metric metric;
    double percentile; /* 0..1; 0: the mean */
    simtime limit;
};

enum scale_on { SCALE_UTILIZATION, SCALE_QUEUE, SCALE_SCHEDULE };
struct service_replicas {
    int64_t min, max; /* max >= min; equal without scaling */
    int64_t per_card; /* instead of min: so many for each card of the fleet; CFG_NO_INT */
    int scale_on;     /* enum scale_on */
    double target;    /* of the busy share, or of requests in the system per replica */
    simtime interval, down_after;
    json_t *hours_json;
    int64_t hour[24]; /* SCALE_SCHEDULE */
};

struct service_spec {
    const char *name, *pointer;
    /* where requests come from: one of the four */
    const char *requests;  /* path of a request trace */
    const char *spec;      /* path of a generator file with services */
    json_t *arrivals_json; /* an arrival process; borrowed */
    int64_t users;         /* CFG_NO_INT: no closed loop */
    const char *only;      /* trace and spec: rows of this service; NULL: all */
    double load;           /* arrival times are divided by it */
    int64_t count;         /* at most so many requests; CFG_NO_INT */
    struct synth_arrival_spec arrivals;
    bool sized, tokens; /* arrivals and users: which of the distributions are there */
    struct synth_dist size, input, output, think;
    json_t *size_json, *input_json, *output_json, *think_json;
    /* who answers them */
    const char *model;               /* path of a language model (model/llm.h), or NULL */
    const char *profile, *gpu_model; /* work signature; card that sizes hold on. NULL */
    int32_t gpus_milli;
    uint64_t bytes; /* CFG_NO_BYTES: the policy's share */
    struct service_replicas replicas;
    simtime start_up;      /* from the cards to the first request: loading the model */
    json_t *speed_on_json; /* card name: times as fast as the sizes say; read by engine/plan.c */
    json_t *need_json, *replicas_json, *slo_json, *serve_json;
    const char *route; /* NULL: by the way of serving */
    /* admission */
    int64_t queue;   /* waiting requests of the service at most; CFG_NO_INT: no limit */
    simtime timeout; /* a request that waits longer is dropped; CFG_NO_TIME */
    const struct service_target *target;
    size_t n_targets;
};

extern const struct cfg_field service_fields[], service_replicas_fields[], service_need_fields[];
extern const size_t service_fields_n, service_replicas_fields_n, service_need_fields_n;

/* Read one work item. Paths stay as written: the caller resolves them. */
void service_read(struct service_spec *out, struct arena *a, const struct json_doc *doc,
                  json_t *obj, const char *pointer, struct diag *d);
/* As given, with every default filled in; a new reference. */
json_t *service_resolved(const struct service_spec *s, const json_t *as_given);
/* Do its arrivals or sizes draw random numbers? */
bool service_is_random(const struct service_spec *s);

#endif
