/* model/synth_request.h - synthetic requests for language models: the "services" of a specification
 * (model/synth.h) turned into a stream of request rows sorted by arrival.
 *
 * A service: name; arrivals (any process but sessions, once, replay and bootstrap, which are of
 * jobs); input_tokens and output_tokens (distributions of plain numbers, rounded to whole tokens,
 * at least 1); count; correlation r: both numbers of tokens come from normal deviates with
 * correlation r (a Gaussian copula), so each keeps its law and their rank correlation is 6/pi
 * asin(r/2).
 *
 * Random streams "synth/<service>/<purpose>", as for jobs: services do not disturb each other.
 * Arrivals are whole microseconds. Memory: O(services). Threads: one stream, one thread. */
#ifndef GPUSIM_MODEL_SYNTH_REQUEST_H
#define GPUSIM_MODEL_SYNTH_REQUEST_H

#include "model/requests.h"
#include "model/synth_arrival.h"
#include "model/synth_dist.h"

struct synth_service {
    const char *name, *source;
    int64_t count; /* CFG_NO_INT: unlimited */
    double correlation;
    json_t *arrivals_json, *input_json, *output_json; /* as read; borrowed, not used later */
    struct synth_arrival_spec arrivals;
    struct synth_dist input, output;
};

/* Read the list at /services. Problems go to `d`. Memory from `a`. */
void synth_services_read(struct synth_service **out, size_t *n, struct arena *a,
                         const struct json_doc *doc, json_t *list, struct diag *d);

struct synth_spec;
struct synth_requests;

/* `spec` has services and must outlive the stream; their names go to `names`. */
struct synth_requests *synth_requests_create(const struct synth_spec *spec, uint64_t seed,
                                             uint64_t replication, struct symtab *names);
void synth_requests_close(struct synth_requests *s); /* accepts NULL */
/* False at the end. `row->service` is set when the specification has several services. */
bool synth_requests_next(struct synth_requests *s, struct request_row *row);
size_t synth_requests_service(const struct synth_requests *s); /* of the row last returned */
unsigned synth_requests_columns(const struct synth_spec *spec);

#endif
