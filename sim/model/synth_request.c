#include "model/synth_request.h"

#include "base/cfg.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/synth.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)

static const struct cfg_field fields[] = {
    CFG_REQUIRED(struct synth_service, name, CFG_TEXT, 0, 0, "unique; letters, digits, . _ -"),
    { .name = "arrivals",
      .type = CFG_JSON,
      .required = true,
      .offset = offsetof(struct synth_service, arrivals_json),
      .help = "arrival process" },
    { .name = "input_tokens",
      .type = CFG_JSON,
      .required = true,
      .offset = offsetof(struct synth_service, input_json),
      .help = "distribution of the tokens of a prompt" },
    { .name = "output_tokens",
      .type = CFG_JSON,
      .required = true,
      .offset = offsetof(struct synth_service, output_json),
      .help = "distribution of the tokens of an answer" },
    CFG_FIELD(struct synth_service, correlation, CFG_REAL, "0", -0.999, 0.999,
              "of the normal deviates behind both numbers of tokens"),
    CFG_FIELD(struct synth_service, count, CFG_INT, NULL, 1, 1e12, "at most so many requests"),
    CFG_FIELD(struct synth_service, source, CFG_TEXT, NULL, 0, 0, "where the numbers come from"),
};
enum { FIELDS_N = sizeof fields / sizeof *fields };

static bool of_requests(enum synth_arrival_kind kind)
{
    return kind == SYNTH_ARRIVAL_poisson || kind == SYNTH_ARRIVAL_nhpp ||
           kind == SYNTH_ARRIVAL_mmpp || kind == SYNTH_ARRIVAL_gamma ||
           kind == SYNTH_ARRIVAL_weibull;
}

static void read_service(struct synth_service *s, struct arena *a, const struct json_doc *doc,
                         json_t *v, const char *pointer, struct diag *d)
{
    char p[256], found[80];
    size_t before = d->count;
    if (!json_is_object(v)) {
        json_problem(d, doc, pointer, "expected a service, an object, found %s",
                     json_found(found, sizeof found, v));
        return;
    }
    cfg_read(fields, FIELDS_N, s, a, doc, v, pointer, NULL, 0, d);
    if (d->count != before) return;
    if (!synth_name_ok(s->name))
        json_problem(d, doc, json_pointer_key(p, sizeof p, pointer, "name"),
                     "expected up to 64 letters, digits, dots, - or _, found \"%s\"", s->name);
    json_pointer_key(p, sizeof p, pointer, "arrivals");
    synth_arrival_read(&s->arrivals, a, doc, s->arrivals_json, p, NAN, d);
    if (d->count == before && !of_requests(s->arrivals.kind))
        json_problem(d, doc, p, "expected arrivals that requests can have, found \"%s\"",
                     synth_arrival_kind_names[s->arrivals.kind]);
    synth_dist_read(&s->input, a, doc, s->input_json,
                    json_pointer_key(p, sizeof p, pointer, "input_tokens"), SYNTH_NUMBER, d);
    synth_dist_read(&s->output, a, doc, s->output_json,
                    json_pointer_key(p, sizeof p, pointer, "output_tokens"), SYNTH_NUMBER, d);
}

void synth_services_read(struct synth_service **out, size_t *n, struct arena *a,
                         const struct json_doc *doc, json_t *list, struct diag *d)
{
    char p[256], q[256], found[80];
    const size_t count = json_array_size(list);
    *out = NULL;
    *n = 0;
    if (!count) {
        json_problem(d, doc, "/services", "expected a list of services, found %s",
                     json_is_array(list) ? "an empty one" : json_found(found, sizeof found, list));
        return;
    }
    struct synth_service *s = arena_array(a, count, sizeof *s);
    for (size_t i = 0; i < count; i++) {
        json_pointer_index(p, sizeof p, "/services", i);
        s[i].name = "";
        read_service(&s[i], a, doc, json_array_get(list, i), p, d);
        if (!s[i].name) s[i].name = "";
        for (size_t j = 0; j < i; j++)
            if (*s[i].name && !strcmp(s[i].name, s[j].name))
                json_problem(d, doc, json_pointer_key(q, sizeof q, p, "name"),
                             "expected a new name, found \"%s\" again", s[i].name);
    }
    *out = s;
    *n = count;
}

unsigned synth_requests_columns(const struct synth_spec *spec)
{
    return REQUESTS_LLM | (spec->n_svc > 1 ? REQUESTS_COL(service) : 0);
}

/* One service at work: its next request is ready in `row`, or `done`. */
struct source {
    const struct synth_service *svc;
    struct synth_arrival *arrivals;
    gsl_rng *input, *output;
    int64_t n;
    bool done;
    struct request_row row;
};

struct synth_requests {
    const struct synth_spec *spec;
    struct source *src;
    size_t last; /* n_svc: none */
    int64_t left;
    double until_s;
};

static gsl_rng *stream(uint64_t seed, uint64_t rep, const char *service, const char *purpose)
{
    char name[160];
    snprintf(name, sizeof name, "synth/%s/%s", service, purpose);
    return rng_create(seed, rep, name);
}

static int64_t tokens(const struct synth_dist *law, double z)
{
    double x = round(synth_dist_quantile(law, synth_normal_share(z)));
    return (int64_t)fmin(fmax(x, 1), (double)REQUEST_MAX_TOKENS);
}

static void advance(struct synth_requests *all, struct source *s)
{
    const double r = s->svc->correlation;
    double t = INFINITY;
    if (s->svc->count == CFG_NO_INT || s->n < s->svc->count)
        t = synth_arrival_next(s->arrivals, all->until_s, NULL);
    s->done = !(t < all->until_s);
    if (s->done) return;
    double z = gsl_ran_ugaussian(s->input), own = gsl_ran_ugaussian(s->output);
    s->n++;
    s->row.arrival = (simtime)floor(t * 1e6) * US;
    s->row.input_tokens = tokens(&s->svc->input, z);
    s->row.output_tokens = tokens(&s->svc->output, r * z + sqrt(1 - r * r) * own);
}

struct synth_requests *synth_requests_create(const struct synth_spec *spec, uint64_t seed,
                                             uint64_t replication, struct symtab *names)
{
    struct synth_requests *s = xcalloc(1, sizeof *s);
    BUG_ON(!spec->n_svc);
    s->spec = spec;
    s->src = xcalloc(spec->n_svc, sizeof *s->src);
    s->last = spec->n_svc;
    s->left = spec->jobs == CFG_NO_INT ? INT64_MAX : spec->jobs;
    s->until_s = spec->horizon == CFG_NO_TIME ? SIM_MAX_S : simtime_s(spec->horizon);
    for (size_t i = 0; i < spec->n_svc; i++) {
        struct source *c = &s->src[i];
        char purpose[96];
        c->svc = &spec->svc[i];
        snprintf(purpose, sizeof purpose, "synth/%s/arrivals", c->svc->name);
        c->arrivals = synth_arrival_create(&c->svc->arrivals, simtime_s(spec->origin), seed,
                                           replication, purpose);
        c->input = stream(seed, replication, c->svc->name, "input_tokens");
        c->output = stream(seed, replication, c->svc->name, "output_tokens");
        request_row_init(&c->row);
        if (spec->n_svc > 1) c->row.service = symtab_addz(names, c->svc->name);
        advance(s, c);
    }
    return s;
}

void synth_requests_close(struct synth_requests *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->spec->n_svc; i++) {
        synth_arrival_destroy(s->src[i].arrivals);
        gsl_rng_free(s->src[i].input);
        gsl_rng_free(s->src[i].output);
    }
    free(s->src);
    free(s);
}

bool synth_requests_next(struct synth_requests *s, struct request_row *row)
{
    struct source *best = NULL;
    if (s->last < s->spec->n_svc) advance(s, &s->src[s->last]);
    s->last = s->spec->n_svc;
    if (!s->left) return false;
    for (size_t i = 0; i < s->spec->n_svc; i++) {
        struct source *c = &s->src[i];
        if (c->done || (best && c->row.arrival >= best->row.arrival)) continue;
        best = c;
        s->last = i;
    }
    if (!best) return false;
    s->left--;
    *row = best->row;
    return true;
}

size_t synth_requests_service(const struct synth_requests *s)
{
    return s->last;
}
