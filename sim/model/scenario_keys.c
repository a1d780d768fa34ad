/* model/scenario_keys.c - what a scenario may say: a table of keys for each section, with types,
 * defaults, bounds and a line of help. The reader (scenario.c), the manual and `run --resolved`
 * walk them. */
#include "model/scenario_inside.h"

#include <math.h>

#define N(table) (sizeof(table) / sizeof *(table))

const struct cfg_field top_fields[] = {
    CFG_REQUIRED(struct top, format, CFG_TEXT, 0, 0, "\"gpusim-scenario/1\""),
    CFG_REQUIRED(struct top, name, CFG_TEXT, 0, 0, "names the output folder"),
    CFG_FIELD(struct top, seed, CFG_INT, "1", 0, 9007199254740991.0, "master seed"),
    CFG_FIELD(struct top, horizon, CFG_TIME, NULL, 0, SIM_MAX_S, "end; absent: the last job's end"),
    CFG_FIELD(struct top, warmup, CFG_TIME, "0 s", 0, SIM_MAX_S, "statistics start here"),
    CFG_REQUIRED(struct top, fleet, CFG_JSON, 0, 0, "groups of equal nodes"),
    CFG_REQUIRED(struct top, work, CFG_JSON, 0, 0, "traces and generators"),
    CFG_FIELD(struct top, profiles, CFG_JSON, NULL, 0, 0, "work signatures by name"),
    CFG_REQUIRED(struct top, policies, CFG_JSON, 0, 0, "ways to hand cards out"),
    CFG_FIELD(struct top, schedule, CFG_JSON, NULL, 0, 0, "who is next, and where"),
    CFG_FIELD(struct top, faults, CFG_JSON, NULL, 0, 0, "what fails; absent: nothing"),
    CFG_FIELD(struct top, prices, CFG_TEXT, NULL, 0, 0, "price book; absent: no cost"),
    CFG_FIELD(struct top, rent, CFG_TEXT, NULL, 0, 0, "price book of renting, for paybacks"),
    CFG_FIELD(struct top, output, CFG_JSON, NULL, 0, 0, "what to write"),
};
const size_t top_fields_n = N(top_fields);

const struct cfg_field fleet_fields[] = {
    CFG_REQUIRED(struct fleet_group, name, CFG_TEXT, 0, 0, "unique"),
    CFG_REQUIRED(struct fleet_group, gpu, CFG_TEXT, 0, 0, "catalogue name"),
    CFG_FIELD(struct fleet_group, nodes, CFG_INT, "1", 1, 1e7, "equal nodes"),
    CFG_FIELD(struct fleet_group, gpus_per_node, CFG_INT, "8", 0, 1e7, "cards of a node"),
    CFG_FIELD(struct fleet_group, cpu_cores, CFG_REAL, NULL, 0, 1e6, "of a node; absent: no limit"),
    CFG_FIELD(struct fleet_group, host_memory, CFG_BYTES, NULL, 0, 1e18,
              "of a node; absent: no limit"),
    CFG_FIELD(struct fleet_group, profile, CFG_TEXT, NULL, 0, 0, "calibrated device profile"),
    CFG_FIELD(struct fleet_group, nvlink_domain, CFG_INT, NULL, 1, 1e4,
              "cards of an NVLink domain, part of a node or several nodes; absent: a node"),
    CFG_FIELD(struct fleet_group, nodes_per_rack, CFG_INT, NULL, 1, 1e7,
              "nodes of a rack, by number; absent: racks do not matter"),
    CFG_FIELD(struct fleet_group, cross_domain_speed, CFG_RATIO, "1", 0.001, 1,
              "speed of a gang that crosses NVLink domains"),
    CFG_FIELD(struct fleet_group, cross_rack_speed, CFG_RATIO, "1", 0.001, 1,
              "speed of a gang that crosses racks"),
    CFG_FIELD(struct fleet_group, faults, CFG_JSON, NULL, 0, 0,
              "instead of the scenario's, key by key"),
    CFG_FIELD(struct fleet_group, capacity, CFG_JSON, NULL, 0, 0,
              "cards added, drained, removed, failed at stated times"),
};
const size_t fleet_fields_n = N(fleet_fields);

static const char *const work_kinds[] = { "jobs", "generate", "service", NULL };
const struct cfg_field work_fields[] = {
    CFG_REQUIRED(struct work_item, name, CFG_TEXT, 0, 0, "unique"),
    { .name = "kind",
      .type = CFG_CHOICE,
      .offset = offsetof(struct work_item, kind),
      .help = "jobs (a trace), generate (a spec) or service (requests)",
      .choices = work_kinds,
      .required = true },
    CFG_FIELD(struct work_item, trace, CFG_TEXT, NULL, 0, 0, "native trace"),
    CFG_FIELD(struct work_item, spec, CFG_TEXT, NULL, 0, 0, "generator spec"),
    CFG_FIELD(struct work_item, load, CFG_REAL, "1", 1e-6, 1e6, "submit times are divided by it"),
};
const size_t work_fields_n = N(work_fields);

static const char *const reclaim_rules[] = { "never", "always", NULL };
static const char *const elastic_rules[] = { "none", "start", "resize", NULL };

const struct cfg_field schedule_fields[] = {
    CFG_FIELD(struct schedule, order, CFG_TEXT, "fifo", 0, 0, "who is next"),
    CFG_FIELD(struct schedule, backfill, CFG_TEXT, "easy", 0, 0,
              "none, easy, conservative, or greedy: whoever fits"),
    CFG_FIELD(struct schedule, backfill_depth, CFG_INT, "500", 0, 1e9,
              "conservative: waiting jobs that get a reservation; 0: all"),
    CFG_FIELD(struct schedule, place, CFG_TEXT, "best_fit", 0, 0, "which cards"),
    CFG_FIELD(
        struct schedule, gang, CFG_TEXT, "node", 0, 0,
        "node: one node if any can hold it, else whole nodes; any: any cards; domain: as node, in "
        "one NVLink domain if any can hold it"),
    CFG_FIELD(struct schedule, racks, CFG_TEXT, "any", 0, 0,
              "whole nodes of a gang: any; pack: of few racks; spread: of many"),
    CFG_FIELD(struct schedule, when_full, CFG_TEXT, "wait", 0, 0,
              "wait: in the queue; drop: rejected when it cannot start at once"),
    CFG_FIELD(struct schedule, preempt, CFG_TEXT, "order", 0, 0,
              "order: if the order preempts; never: running jobs stay; always: lower ranks go"),
    CFG_FIELD(
        struct schedule, checkpoint, CFG_TIME, "0 s", 0, SIM_MAX_S,
        "work between checkpoints: a preempted or struck job falls back to its last; 0 s: none, "
        "a preempted job loses nothing, a struck one everything"),
    CFG_FIELD(struct schedule, checkpoint_cost, CFG_TIME, "0 s", 0, SIM_MAX_S,
              "the work pauses so long at each checkpoint; jobs with cards only"),
    CFG_FIELD(struct schedule, restart, CFG_TIME, "0 s", 0, SIM_MAX_S,
              "a preempted or struck job holds its new cards so long before it works on"),
    CFG_FIELD(
        struct schedule, migrate, CFG_TEXT, "never", 0, 0,
        "defrag: when the head of the queue fits in pieces only, running jobs are moved; replace: all "
        "jobs are placed anew whenever somebody waits, where the order preempts"),
    CFG_FIELD(struct schedule, migrate_pause, CFG_TIME, NULL, 0, SIM_MAX_S,
              "a job that is moved stands still so long"),
    CFG_QUANTITY(struct schedule, migrate_rate, UNIT_RATE, NULL, 1, INFINITY,
                 "and as long as its memory on a card takes at this rate"),
    CFG_FIELD(struct schedule, walltime, CFG_TEXT, "estimate", 0, 0,
              "estimate: limits only promise; kill: a job ends at its limit"),
    CFG_ONE_OF(
        struct schedule, elastic, elastic_rules, "none",
        "jobs with min_gpus or max_gpus may start with fewer cards; resize: change them later"),
    CFG_FIELD(struct schedule, scaling, CFG_JSON, NULL, 0, 0,
              "of elastic jobs: speed by number of cards; absent: linear"),
    CFG_FIELD(struct schedule, quotas, CFG_JSON, NULL, 0, 0,
              "GPUs that the jobs of a group may have at a time"),
    CFG_ONE_OF(struct schedule, reclaim, reclaim_rules, "never",
               "always: who needs quota it has lent stops running jobs of those who borrowed it"),
    CFG_FIELD(struct schedule, weights, CFG_JSON, NULL, 0, 0,
              "of groups, for orders that rank them; absent: 1"),
};
const size_t schedule_fields_n = N(schedule_fields);

const struct cfg_field timeline_fields[] = {
    CFG_FIELD(struct timeline, from, CFG_TIME, "0 s", 0, SIM_MAX_S, "leave out what ended before"),
    CFG_FIELD(struct timeline, to, CFG_TIME, NULL, 0, SIM_MAX_S,
              "leave out what began later; absent: the end of the run"),
    CFG_FIELD(struct timeline, events, CFG_INT, "100000", 1, 10000000,
              "at most, of each policy; those that ended first are kept"),
};
const size_t timeline_fields_n = N(timeline_fields);

const struct cfg_field output_fields[] = {
    CFG_FIELD(struct output, sample, CFG_TIME, "5 min", 1e-3, SIM_MAX_S, "series interval"),
    CFG_FIELD(struct output, jobs, CFG_BOOL, "true", 0, 0, "write jobs.csv"),
    CFG_FIELD(struct output, timeline, CFG_JSON, NULL, 0, 0,
              "write timeline.json: true or an object; absent: false"),
};
const size_t output_fields_n = N(output_fields);

const struct cfg_field policy_fields[] = {
    CFG_REQUIRED(struct policy_head, name, CFG_TEXT, 0, 0, "unique"),
    CFG_REQUIRED(struct policy_head, share, CFG_JSON, 0, 0, "how a card is divided"),
    CFG_FIELD(struct policy_head, schedule, CFG_JSON, NULL, 0, 0, "overrides the scenario's"),
    CFG_FIELD(struct policy_head, fleet, CFG_JSON, NULL, 0, 0, "overrides the scenario's"),
    CFG_FIELD(struct policy_head, prices, CFG_TEXT, NULL, 0, 0, "overrides the scenario's"),
    CFG_FIELD(struct policy_head, pairs, CFG_TEXT, NULL, 0, 0,
              "measured speeds of two jobs on one card, shared in this way"),
};
const size_t policy_fields_n = N(policy_fields);

const struct scenario_section scenario_sections[] = {
    { "SCENARIO", "the file itself", top_fields, N(top_fields) },
    { "FLEET", "each member of \"fleet\"", fleet_fields, N(fleet_fields) },
    { "WORK", "each member of \"work\"", work_fields, N(work_fields) },
    { "POLICIES", "each member of \"policies\"", policy_fields, N(policy_fields) },
    { "SCHEDULE", "\"schedule\", of the scenario or of a policy", schedule_fields,
      N(schedule_fields) },
    { "OUTPUT", "\"output\"", output_fields, N(output_fields) },
    { 0 },
};
