/* engine/plan_params.c - which calibrated parameters a policy works with on each group of cards,
 * and how they are known. */
#include "engine/plan_inside.h"

#include <math.h>
#include <stdlib.h>

#define SET_IN_SCENARIO "set in the scenario"
enum { POWERS = 3 };

/* What was set, as the scenario has it. */
static const char *set_to(struct plan *p, json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    const char *source = arena_printf(p->arena, SET_IN_SCENARIO ": %s", text ? text : "?");
    free(text);
    return source;
}

/* One parameter that the policy uses on a group, and how it is known: what the scenario sets itself
 * counts as assumed. `used`: the policy's own figure, where it makes one of the profile's; else
 * NAN. */
static void note_param(struct plan *p, struct param_result *list, const struct plan_group *g,
                       enum profile_param which, json_t *set, double used)
{
    const struct profile_field *field = &profile_fields[which];
    const struct param *known = &g->type.profile->param[which];
    const enum provenance provenance = set ? PROV_ASSUMED : known->provenance;
    p->provenance[provenance]++;
    list[p->n_params++] = (struct param_result){
        .fleet = g->spec->name,
        .name = arena_printf(p->arena, "%s.%s", field->group, field->key),
        .unit = field->unit,
        .provenance = provenance_names[provenance],
        .source = set ? set_to(p, set) : known->source,
        .value = set           ? NAN
                 : isnan(used) ? known->value
                               : used,
        .low = set ? NAN : known->low,
        .high = set ? NAN : known->high,
    };
}

/* Measured board power in place of the catalogue's decides the energy of every policy. */
static void note_power(struct plan *p, struct param_result *list, const struct plan_group *g)
{
    static const enum profile_param power[POWERS] = { PROFILE_power_idle_W, PROFILE_power_context_W,
                                                      PROFILE_power_busy_W };
    for (size_t i = 0; i < POWERS; i++)
        if (g->type.profile->from_file[power[i]]) note_param(p, list, g, power[i], NULL, NAN);
}

/* The fault rates of a group: what the scenario leaves open is known from the reference data. */
static void note_faults(struct plan *p, struct param_result *list, const struct plan_group *g)
{
    const struct fault_rates *r = &g->spec->rates;
    const simtime value[FAULT_SOURCES] = { r->card_mtbf,   r->card_repair, r->node_mtbf,
                                           r->node_repair, r->rack_mtbf,   r->rack_repair };
    for (size_t i = 0; g->spec->fails && i < FAULT_SOURCES; i++) {
        const char *key = fault_fields[i].name;
        const bool set = json_object_get(g->spec->faults, key) ||
                         json_object_get(json_object_get(p->scenario->doc.root, "faults"), key);
        const enum provenance provenance = set ? PROV_ASSUMED : fault_source[i].provenance;
        if (value[i & ~(size_t)1] == 0) continue; /* never: its repair does not matter either */
        p->provenance[provenance]++;
        list[p->n_params++] = (struct param_result){
            .fleet = g->spec->name,
            .name = fault_source[i].name,
            .unit = "s",
            .provenance = provenance_names[provenance],
            .source = set ? SET_IN_SCENARIO : fault_source[i].source,
            .value = set ? NAN : simtime_s(value[i]),
            .low = set ? NAN : fault_source[i].low_s,
            .high = set ? NAN : fault_source[i].high_s,
        };
    }
}

static void note_pairs(struct plan *p, struct param_result *list, const struct plan_group *g)
{
    if (!g->pairs) return;
    p->provenance[PROV_MEASURED]++;
    list[p->n_params++] = (struct param_result){
        .fleet = g->spec->name,
        .name = "pairs",
        .unit = "measured pairs",
        .provenance = provenance_names[PROV_MEASURED],
        .source = "the file that the policy names",
        .value = (double)g->pairs->n,
        .low = NAN,
        .high = NAN,
    };
}

void plan_note_params(struct plan *p)
{
    struct param_result *list = arena_array(
        p->arena, p->n_groups * (p->share->uses_n + 2 + POWERS + FAULT_SOURCES), sizeof *list);
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct plan_group *group = &p->group[g];
        if (!group->type.profile) continue;
        note_param(p, list, group, PROFILE_base_context_bytes, NULL, NAN);
        note_power(p, list, group);
        note_pairs(p, list, group);
        const bool uses = !p->share->uses_profile || p->share->uses_profile(group->params);
        for (size_t i = 0; uses && i < p->share->uses_n; i++) {
            const char *key = p->share->fields[p->share->overrides[i]].name;
            if (p->share->reads && !p->share->reads(group->params, i)) continue;
            note_param(p, list, group, p->share->uses[i], json_object_get(p->spec->share, key),
                       p->share->value ? p->share->value(group->params, i) : NAN);
        }
        note_faults(p, list, group);
    }
    p->param = list;
}
