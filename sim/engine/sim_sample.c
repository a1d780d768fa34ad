/* What is noted while the run goes on: the series, the end of the warm-up, the marks of the last
 * quarter. */
#include "engine/sim_inside.h"

#include <math.h>

enum {
    FRAG_SHAPES = 32,       /* most frequent request shapes looked at */
    FRAG_CARDS = 4096,      /* cards looked at; larger fleets are sampled evenly */
    FRAG_EVALUATIONS = 1024 /* thinned by half whenever this many were made */
};

/* Expected share of the fleet that is free but of no use to a job drawn from those submitted so far
 * (FGD's measure, Weng et al., ATC 2023, over whole cards' capacity). */
static double fragmentation(const struct run *r)
{
    const struct shape *shape[FRAG_SHAPES + 1];
    const size_t n = shape_frequent(r->shapes, shape, FRAG_SHAPES);
    const int64_t step = (r->plan->cards + FRAG_CARDS - 1) / FRAG_CARDS;
    double weight = 0, unusable = 0;
    for (size_t i = 0; i < n; i++) {
        double lost = 0;
        int64_t looked = 0;
        if (shape[i]->rejected || shape[i]->request.gpus_milli == 0) continue;
        for (int64_t c = 0; c < r->plan->cards; c += step, looked++) {
            const int group = cluster_card(r->cluster, (uint32_t)c)->group;
            if (cluster_card(r->cluster, (uint32_t)c)->out) continue;
            const struct fit *fit = &shape[i]->fit[group];
            if (fit->feasible && cluster_card_fits(r->cluster, (uint32_t)c, &fit->demand)) continue;
            const int32_t capacity = r->plan->group[group].capacity;
            lost += 1.0 - (double)cluster_used_units(r->cluster, (uint32_t)c) / capacity;
        }
        weight += (double)shape[i]->submitted;
        unusable += (double)shape[i]->submitted * lost / (double)looked;
    }
    return weight > 0 ? unusable / weight : 0;
}

static double sample_fragmentation(struct run *r)
{
    if (r->frag_seen++ % r->frag_stride != 0) return NAN;
    const double now = fragmentation(r);
    if (++r->frag_made % FRAG_EVALUATIONS == 0) r->frag_stride *= 2;
    if (!r->warm) return now;
    r->frag_sum += now;
    r->frag_summed++;
    return now;
}

void sim_sample(struct run *r)
{
    struct sample s = { .t = r->now,
                        .length = r->now - r->sampled,
                        .queued = sched_waiting(r->sched),
                        .running = r->present - sched_waiting(r->sched) };
    if (r->services) { /* replicas are no jobs of anybody */
        const uint64_t placed = services_placed(r->services);
        s.queued -= services_standing(r->services) - placed;
        s.running -= placed;
    }
    double total[METERS] = { 0 }, energy_J = 0;
    if (s.length == 0) return;
    for (size_t g = 0; g < r->plan->n_groups; g++) {
        const struct meter_group *m = residents_meters(r->residents, g, r->now);
        struct meter_group part = { 0 };
        for (int k = 0; k < METERS; k++) {
            part.integral[k] = m->integral[k] - r->before[g][k];
            r->before[g][k] = m->integral[k];
            total[k] += meter_card_s(part.integral[k]);
        }
        energy_J += residents_energy_J(r->plan, g, &part, s.length);
    }
    const double all = /* not 0 when the whole fleet is away */
        fmax((double)r->plan->cards * simtime_s(s.length) - total[METER_ABSENT], 1e-9);
    s.allocated = total[METER_ALLOCATED] / all;
    s.duty = r->plan->share->keeps_duty ? total[METER_DUTY] / all : NAN;
    s.sm_active = total[METER_SM] / all;
    s.memory = total[METER_MEMORY] / all;
    s.stranded = total[METER_STRANDED] / all;
    s.down = total[METER_DOWN] / all;
    s.free_share = fmax(0, 1.0 - s.allocated - s.stranded - s.down);
    s.power_W = energy_J / simtime_s(s.length);
    r->sampled = r->now;
    if (r->services) services_sample(r->services, r->now, s.length);
    s.fragmentation = sample_fragmentation(r);
    for (size_t i = 0; i < r->opt->n_sinks && r->rc == 0; i++) {
        const struct sink *k = &r->opt->sinks[i];
        const int rc = k->sample ? k->sample(k->self, r->plan, &s, r->e) : 0;
        if (rc < 0) sim_fail(r, rc);
    }
    if (r->opt->progress && sim_horizon(r) != SIM_NEVER)
        r->opt->progress(r->opt->progress_ctx, (double)r->now / (double)sim_horizon(r));
}

void sim_warm(struct run *r)
{
    /* The interval of the series that is under way keeps what it has seen. */
    for (size_t g = 0; g < r->plan->n_groups; g++) {
        const struct meter_group *m = residents_meters(r->residents, g, r->now);
        for (int k = 0; k < METERS; k++) r->before[g][k] -= m->integral[k];
    }
    residents_reset(r->residents, r->now);
    if (r->outages) *outages_totals(r->outages) = (struct outage_totals){ 0 };
    if (r->services) services_warm(r->services, r->now);
    r->out->moves = 0;
    r->out->moved_s = 0;
    r->warm = true;
}

simtime sim_mark_time(const struct run *r, int i)
{
    const simtime h = sim_horizon(r), quarter = h / 4;
    return h - quarter + quarter / (QUEUE_MARKS - 1) * i;
}

void sim_mark(struct run *r)
{
    const simtime length =
        r->mark > 0 ? sim_mark_time(r, r->mark) - sim_mark_time(r, r->mark - 1) : 0;
    if (r->services) services_mark(r->services, r->mark, length, r->now);
    if (r->mark > 0) {
        r->out->queue_batch[r->mark - 1] =
            length > 0 ? (double)(r->waiting_ns - r->mark_ns) / (double)length : 0;
    } else if (r->now > 0) {
        r->out->queue_before = (double)r->waiting_ns / (double)r->now;
    }
    r->mark_ns = r->waiting_ns;
    r->out->has_queue_batches = ++r->mark == QUEUE_MARKS;
    if (r->mark < QUEUE_MARKS) evq_at(r->q, sim_mark_time(r, r->mark), EV_SAMPLE, KIND_MARK, 0);
}
