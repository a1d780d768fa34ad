#include "whatif/crosscheck.h"

#include "base/mem.h"
#include "engine/shape.h"
#include "model/queues.h"

#include <math.h>
#include <string.h>

enum { POINTS = 20000 };

struct moments {
    double mean, square;
};

/* By the quantiles of the law: midpoints of POINTS equal shares. */
static struct moments moments_of(const struct synth_dist *d)
{
    struct moments m = { 0, 0 };
    for (int i = 0; i < POINTS; i++) {
        const double x = synth_dist_quantile(d, (i + 0.5) / POINTS);
        m.mean += x / POINTS;
        m.square += x * x / POINTS;
    }
    return m;
}

struct list {
    struct crosscheck *v;
    size_t n;
};

/* A tenth is what the approximations are good for; below a hundredth of a ms nobody waits. */
static void add(struct list *l, const struct crosscheck *c)
{
    struct crosscheck *to = &l->v[l->n++];
    const double room = 0.15 * fmax(fabs(c->low), fabs(c->high)) + 0.01;
    *to = *c;
    to->parts = !isnan(c->low) &&
                (isinf(c->low) ? !isnan(c->simulated)
                               : c->simulated < c->low - room || c->simulated > c->high + room);
}

/* Time of a request alone on what a replica has of a card, over its size; NAN: replicas share
 * cards. */
static double stretch(const struct plan *p, size_t k, bool *turns)
{
    struct symtab *names = symtab_create();
    struct shape_table *shapes = shape_table_create(p, names);
    struct unknown_name unknown;
    struct job_row row;
    plan_replica_row(p, k, names, &row);
    const struct shape *s = shape_of(shapes, &row, &unknown);
    double time = NAN;
    for (size_t g = 0; s && g < p->n_groups && isnan(time); g++) {
        if (!s->fit[g].feasible) continue;
        const struct plan_group *pg = &p->group[g];
        const struct demand *d = &s->fit[g].demand;
        const struct resident_view view = {
            .sig = &s->fit[g].sig,
            .demand = d,
            .slice = d->mig_profile < 0 ? NULL : &pg->type.gpu->mig->profile[d->mig_profile]
        };
        const struct share_view v = { .type = &pg->type, .resident = &view, .n = 1 };
        const double measured = p->service[k].slower[g];
        double speed;
        p->share->speeds(pg->params, &v, &speed);
        time = (isnan(measured) ? s->fit[g].transfer : measured) / speed;
        *turns = d->mig_profile < 0 && d->core_cap >= 1 && d->cards == 1 && d->units < pg->capacity;
    }
    shape_table_destroy(shapes);
    symtab_destroy(names);
    return time;
}

static void open_batch_free(struct list *l, const struct plan *p, size_t k,
                            const struct service_result *r, struct crosscheck c)
{
    const struct plan_service *x = &p->service[k];
    const struct service_spec *s = x->spec;
    bool turns = false;
    const struct moments m = moments_of(&s->size);
    const double service_s = m.mean * stretch(p, k, &turns), cv2 = m.square / (m.mean * m.mean) - 1;
    const double lambda = synth_arrival_rate(&s->arrivals) * s->load;
    const int servers = (int)x->replicas;
    c.what = "mean wait, ms";
    c.simulated = r->stable ? r->wait_ms.mean : NAN;
    if (turns && p->cards == 1) {
        c.formula = "M/G/1, processor sharing";
        c.what = "mean latency, ms";
        c.simulated = r->stable ? r->latency_ms.mean : NAN;
        c.low = 1e3 * mg1_ps_response_s(lambda, service_s);
    } else if (turns) {
        c.formula = "none: replicas take turns on several cards";
    } else if (x->route->shared) {
        c.formula = cv2 > 0.999 && cv2 < 1.001 ? "M/M/c, Erlang C" : "M/G/c, Kimura";
        c.low = 1e3 * mgc_wait_s(lambda, service_s, cv2, servers);
    } else if (strcmp(x->route->name, "random") == 0) {
        c.formula = "c separate M/G/1, Pollaczek-Khinchine";
        c.low = 1e3 * mg1_wait_s(lambda / servers, service_s, cv2);
    } else {
        c.formula = "between M/G/c in one queue and a random split";
        c.low = 1e3 * mgc_wait_s(lambda, service_s, cv2, servers);
        c.high = 1e3 * mg1_wait_s(lambda / servers, service_s, cv2);
    }
    if (isnan(c.high)) c.high = c.low;
    add(l, &c);
}

static void closed(struct list *l, const struct plan *p, size_t k, const struct service_result *r,
                   struct crosscheck c)
{
    const struct plan_service *x = &p->service[k];
    bool turns = false;
    const double service_s = moments_of(&x->spec->size).mean * stretch(p, k, &turns);
    const int servers = turns ? (int)p->cards : (int)x->replicas;
    const struct closed_bounds b = closed_bounds_of(
        (double)x->spec->users, moments_of(&x->spec->think).mean, service_s, servers);
    c.what = "requests/s";
    c.formula = "bounds of a closed network";
    c.low = b.rate_least;
    c.high = b.rate_most;
    c.simulated = r->throughput_per_s;
    add(l, &c);
}

static void language_model(struct list *l, const struct plan *p, size_t k,
                           const struct service_result *r, struct crosscheck c)
{
    const struct plan_service *x = &p->service[k];
    const struct moments in = moments_of(&x->spec->input), out = moments_of(&x->spec->output);
    size_t g = 0;
    while (g + 1 < p->n_groups && x->part[g].kv_tokens == 0) g++;
    const struct llm_load load = { .lambda = synth_arrival_rate(&x->spec->arrivals) *
                                             x->spec->load / (double)x->replicas,
                                   .input = in.mean,
                                   .output = out.mean,
                                   .input2 = in.square,
                                   .output2 = out.square,
                                   .input_output = in.mean * out.mean };
    const struct llm_expect e = llm_expect_open(&x->part[g].cost, &load);
    c.formula = "closed form of the engine, memory not counted";
    c.what = "mean time per token, ms";
    c.low = c.high = e.stable ? e.tpot_ms : INFINITY;
    c.simulated = r->stable ? r->tpot_ms.mean : NAN;
    add(l, &c);
    c.what = "mean time to first token, ms";
    c.low = c.high = e.stable ? e.ttft_ms : INFINITY;
    c.simulated = r->stable ? r->ttft_ms.mean : NAN;
    add(l, &c);
}

static const char *no_formula(const struct plan_service *x)
{
    const struct service_spec *s = x->spec;
    const bool poisson =
        s->arrivals_json && s->arrivals.kind == SYNTH_ARRIVAL_poisson && !s->arrivals.has_profile;
    if (!poisson && s->users == CFG_NO_INT) return "none: arrivals are not Poisson";
    if (x->most > x->replicas || s->replicas.scale_on == SCALE_SCHEDULE)
        return "none: the number of replicas changes";
    if (s->queue != CFG_NO_INT || s->timeout != CFG_NO_TIME) return "none: requests are dropped";
    if (x->model) return s->users == CFG_NO_INT ? NULL : "none: a closed loop of a language model";
    if (strcmp(x->serve->name, "single") != 0) return "none: requests are served in batches";
    return NULL;
}

size_t crosscheck_services(const struct plan *plan, const struct policy_result *result,
                           struct arena *a, const struct crosscheck **out)
{
    struct list l = { .v = arena_array(a, 2 * plan->n_services + 1, sizeof *l.v) };
    for (size_t k = 0; k < plan->n_services; k++) {
        const struct plan_service *x = &plan->service[k];
        const struct service_result *r = &result->service[k];
        struct crosscheck c = { .service = x->spec->name,
                                .low = NAN,
                                .high = NAN,
                                .simulated = NAN,
                                .what = "mean latency, ms" };
        c.formula = no_formula(x);
        if (!c.formula && r->replicas_never_up) c.formula = "none: not all replicas found a place";
        if (c.formula) {
            c.simulated = r->latency_ms.mean;
            add(&l, &c);
        } else if (x->model) {
            language_model(&l, plan, k, r, c);
        } else if (x->spec->users != CFG_NO_INT) {
            closed(&l, plan, k, r, c);
        } else {
            open_batch_free(&l, plan, k, r, c);
        }
    }
    *out = l.v;
    return l.n;
}
