/* A run without a horizon ends when its work does. Faults can see to it that this never comes: a job that is longer than
 * its cards last, a gang whose cards are never all in service, a service that is struck before it has answered.
 * After so many faults in a row that brought nobody any further such work is given up, with its reason; simulated
 * chances better than one in some thousand are left to come true. */
#include "engine/sim_inside.h"

#include "base/log.h"

#include <string.h>

enum { IN_A_ROW = 10000, FOR_EACH_UNIT = 100 };

static uint64_t most(const struct run *r)
{
    return IN_A_ROW + FOR_EACH_UNIT * (uint64_t)(r->plan->cards + r->plan->nodes);
}

bool sim_in_vain(const struct run *r)
{
    return r->in_vain > most(r);
}

static void say(struct run *r, const char *kind, const char *name, size_t len, const char *why)
{
    if (!r->vain_told && !r->opt->mute)
        log_warn(
            "policy %s: %s %.*s is given up after %.3g years: %s, and the run has no horizon (%llu faults in a row came "
            "between); give a \"horizon\", more cards, or \"checkpoint\" in \"schedule\"",
            r->plan->spec->name, kind, (int)len, name, simtime_s(r->now) / (365.25 * 86400), why,
            (unsigned long long)r->in_vain);
    r->vain_told = true;
}

const char *sim_vain_job(struct run *r, const struct job *j)
{
    say(r, "job", j->row.id, j->row.id_len, "faults undid every attempt");
    return "faults undid every attempt, and the run has no horizon";
}

void sim_vain_service(struct run *r, const struct job *j)
{
    const char *name = services_name(j);
    say(r, "service", name, strlen(name), "faults came before it could answer");
    outages_totals(r->outages)->gave_up++;
    services_give_up(r->services, j, r->now);
}

/* Nobody works, and the head of the queue has waited through all of them. */
static void give_up_head(struct run *r)
{
    struct job *j = sched_next(r->sched, NULL);
    if (!j) return;
    if (j->replica) {
        sim_vain_service(r, j);
    } else if (j->struck > 0) {
        sim_give_up(r, j, sim_vain_job(r, j));
    } else {
        say(r, "job", j->row.id, j->row.id_len,
            "the cards it needs were never in service together");
        sim_give_up(r, j,
                    "the cards it needs were never in service together, and the run has no "
                    "horizon");
    }
    sched_wake(r->sched);
}

void sim_after_fault(struct run *r)
{
    const struct services *s = r->services;
    const uint64_t progress = r->submitted + r->left + (s ? services_progress(s) : 0);
    const uint64_t struck = outages_totals(r->outages)->struck, waiting = sched_waiting(r->sched);
    const bool works = r->present - waiting > (s ? services_placed(s) : 0);
    const bool alone = sim_horizon(r) == SIM_NEVER && !r->more && !(s && services_expect(s)) &&
                       !outages_expect(r->outages);
    if (!alone || progress != r->progress)
        r->in_vain = 0;
    else if (struck != r->struck || (waiting > 0 && !works))
        r->in_vain++;
    r->progress = progress;
    r->struck = struck;
    if (sim_in_vain(r) && waiting > 0 && !works) give_up_head(r);
}
