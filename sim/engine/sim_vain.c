/* A run without a horizon ends when its work does. Faults can see to it that this never comes: a
 * job that is longer than its cards last, a gang whose cards are never all in service, a service
 * that is struck before it has answered. After so many faults in a row that brought nobody any
 * further such work is given up, with its reason; simulated chances better than one in some
 * thousand are left to come true. Without faults, too, a service may never come up: its replicas
 * die of memory that others hold, and its scaler starts new ones. */
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
            "policy %s: %s %.*s is given up after %.3g years: %s, and the run has no horizon (%llu %s in a row brought "
            "it no further); give a \"horizon\", more cards, or \"checkpoint\" in \"schedule\"",
            r->plan->spec->name, kind, (int)len, name, simtime_s(r->now) / (365.25 * 86400), why,
            (unsigned long long)(r->looks > IN_A_ROW ? r->looks : r->in_vain),
            r->looks > IN_A_ROW ? "looks" : "faults");
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

/* ---- without faults ---- */

/* Nobody works, answers or starts, and nothing is to come that could change it: what waits, or
 * dies as soon as it has started, does so for ever. */
static bool stands_still(const struct run *r)
{
    const struct services *s = r->services;
    return !r->more && !services_expect(s) && !services_hope(s, IN_A_ROW) &&
           !(r->outages && outages_expect(r->outages)) &&
           r->present - sched_waiting(r->sched) <= services_placed(s);
}

bool sim_after_look(struct run *r)
{
    static const char why[] = "nothing that is left makes room for it";
    r->looks = stands_still(r) ? r->looks + 1 : 0;
    if (r->looks <= IN_A_ROW) return false;
    struct job *j = sched_next(r->sched, NULL);
    const char *name = j && !j->replica ? NULL : services_give_up_next(r->services, r->now);
    if (name) {
        say(r, "service", name, strlen(name), why);
    } else if (j) {
        say(r, "job", j->row.id, j->row.id_len, why);
        sim_give_up(r, j, "nothing that was left made room for it, and the run has no horizon");
    }
    r->looks = 0;
    sched_wake(r->sched);
    return true;
}
