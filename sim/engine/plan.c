#include "engine/plan.h"

#include "base/datadir.h"
#include "base/str.h"
#include "engine/shape.h"
#include "model/sheet.h"

#include <math.h>
#include <string.h>

enum { POINTER = 300 };

/* ---- world: the catalogue and the shipped work signatures ---- */

int world_load(struct world *w, struct err *e)
{
    char path[4096];
    struct json_doc doc = { 0 };
    struct diag d;
    *w = (struct world){ .arena = arena_create() };
    diag_init(&d);
    int rc = gpu_catalogue_load(&w->gpus, NULL, e);
    if (rc == 0)
        rc = json_doc_load(&doc, datadir_path(path, sizeof path, "workloads/classes.json"), e);
    if (rc == 0) {
        worklib_read(&w->works, w->arena, &doc, &d);
        rc = diag_result(&d, e);
    }
    json_doc_fini(&doc);
    if (rc == 0)
        rc = json_doc_load(&doc, datadir_path(path, sizeof path, "workloads/llm-steps.json"), e);
    if (rc == 0) {
        llm_steps_read(&w->steps, w->arena, &doc, &d);
        rc = diag_result(&d, e);
    }
    json_doc_fini(&doc);
    diag_fini(&d);
    if (rc != 0) world_fini(w);
    return rc;
}

void world_fini(struct world *w)
{
    gpu_catalogue_destroy(w->gpus);
    arena_destroy(w->arena);
    *w = (struct world){ 0 };
}

/* ---- plan ---- */

struct builder {
    struct plan *p;
    struct diag *d;
    const struct json_doc *doc;
};

static struct err *problem_at(struct builder *b, const char *base, const char *key,
                              const char *what, const char *found)
{
    char at[POINTER];
    return json_problem(b->d, b->doc, json_pointer_key(at, sizeof at, base, key),
                        "%s, found \"%s\"", what, found);
}

/* Look a name up in a registry of structs that begin with their name; else a problem with the
 * nearest and the valid ones. */
#define FIND_IN(b, registry, wanted, base, key, what, out)                                         \
    do {                                                                                           \
        const char *names_[64];                                                                    \
        size_t n_ = 0;                                                                             \
        (out) = NULL;                                                                              \
        for (size_t i_ = 0; (registry)[i_] && n_ < 64; i_++) {                                     \
            names_[n_++] = (registry)[i_]->name;                                                   \
            if (strcmp((registry)[i_]->name, (wanted)) == 0) (out) = (registry)[i_];               \
        }                                                                                          \
        if (!(out)) unknown_name((b), (base), (key), (what), (wanted), names_, n_);                \
    } while (0)

static void unknown_name(struct builder *b, const char *base, const char *key, const char *what,
                         const char *wanted, const char *const *names, size_t n)
{
    char list[200];
    const char *near = str_nearest(wanted, names, n);
    struct err *e = problem_at(b, base, key, what, wanted);
    if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else
        err_hint(e, "valid: %s", str_list(list, sizeof list, names, n));
}

static void resolve_backfill(struct builder *b)
{
    static const char *const name[] = { [BACKFILL_NONE] = "none",
                                        [BACKFILL_EASY] = "easy",
                                        [BACKFILL_GREEDY] = "greedy",
                                        [BACKFILL_CONSERVATIVE] = "conservative" };
    enum { N = sizeof name / sizeof *name };
    const struct schedule *s = &b->p->spec->schedule;
    size_t i = 0;
    while (i < N && strcmp(name[i], s->backfill) != 0) i++;
    if (i == N)
        unknown_name(b, s->pointer, "backfill", "expected a backfill rule", s->backfill, name, N);
    else
        b->p->backfill = (enum backfill)i;
    b->p->backfill_depth = s->backfill_depth ? (uint64_t)s->backfill_depth : UINT64_MAX;
}

/* The keys of the order itself, and whether it may stop running jobs. */
static void resolve_order(struct builder *b)
{
    static const char *const preempt[] = { "order", "never", "always" };
    static const char *const walltime[] = { "estimate", "kill" };
    const char *common[32];
    struct plan *p = b->p;
    const struct schedule *s = &p->spec->schedule;
    if (!p->order) return;
    for (size_t i = 0; i < schedule_fields_n; i++) common[i] = schedule_fields[i].name;
    p->order_params = p->order->params_size ? arena_alloc(p->arena, p->order->params_size) : NULL;
    cfg_read(p->order->fields, p->order->fields_n, p->order_params, p->arena, b->doc, s->json,
             s->pointer, common, schedule_fields_n, b->d);
    const char *why = p->order->bind ? p->order->bind(p->order_params, p->arena) : NULL;
    if (why) json_problem(b->d, b->doc, s->pointer, "%s", why);
    if (p->order->fields_n) p->order_json = cfg_write(p->order->fields, p->order->fields_n, p->order_params);
    if (strcmp(s->preempt, "order") == 0)
        p->preempts = p->order->preempts;
    else if (strcmp(s->preempt, "always") == 0)
        p->preempts = true;
    else if (strcmp(s->preempt, "never") != 0)
        unknown_name(b, s->pointer, "preempt", "expected a rule", s->preempt, preempt, 3);
    if (strcmp(s->walltime, "kill") == 0)
        p->limits_kill = true;
    else if (strcmp(s->walltime, "estimate") != 0)
        unknown_name(b, s->pointer, "walltime", "expected a rule", s->walltime, walltime, 2);
    p->checkpoint = (struct checkpoint_rule){ s->checkpoint, s->checkpoint_cost };
    p->restart = s->restart;
    if (!p->preempts) return;
    if (p->backfill == BACKFILL_EASY || p->backfill == BACKFILL_CONSERVATIVE)
        err_hint(problem_at(b, s->pointer, "backfill",
                            "reservations and an order that preempts do not combine", s->backfill),
                 "\"backfill\": \"greedy\" lets whoever fits run, \"none\" keeps the order strict; or "
                 "set \"preempt\": \"never\"");
    if (strcmp(s->when_full, "drop") == 0)
        problem_at(b, s->pointer, "when_full",
                   "an order that preempts needs a queue for the preempted", s->when_full);
}

/* Jobs that are moved: of policies whose residents do not feel each other, for what a move costs. */
static void resolve_migrate(struct builder *b)
{
    static const char *const rules[] = { "never", "defrag" };
    struct plan *p = b->p;
    const struct schedule *s = &p->spec->schedule;
    p->migrate_pause = s->migrate_pause == CFG_NO_TIME ? 0 : s->migrate_pause;
    p->migrate_Bps = s->migrate_rate;
    if (strcmp(s->migrate, "never") == 0) return;
    if (strcmp(s->migrate, "defrag") != 0) {
        unknown_name(b, s->pointer, "migrate", "expected a rule", s->migrate, rules, 2);
        return;
    }
    p->migrates = true;
    if (s->migrate_pause == CFG_NO_TIME && isnan(s->migrate_rate))
        err_hint(problem_at(b, s->pointer, "migrate", "a move costs something", s->migrate),
                 "set \"migrate_pause\", the time a job stands still, or \"migrate_rate\", at which its "
                 "memory is copied");
    if (p->preempts || p->backfill == BACKFILL_GREEDY)
        err_hint(problem_at(b, s->pointer, "migrate",
                            "room is made for the head of a queue that nobody jumps", s->migrate),
                 "with \"backfill\" none, easy or conservative and an order that does not preempt");
    for (size_t g = 0; g < p->n_groups; g++)
        if (p->share && !p->share->instances && p->group[g].capacity > 1) {
            json_problem(b->d, b->doc, p->spec->share_pointer,
                         "jobs that share a card by \"%s\" would slow each other where they are moved to",
                         p->share->name);
            return;
        }
}

/* Quotas and weights, once the fleet is known. */
static void resolve_accounts(struct builder *b)
{
    struct plan *p = b->p;
    const struct schedule *s = &p->spec->schedule;
    account_rules_read(&p->accounts, p->arena, b->doc, s->quotas, s->weights, s->pointer, p->cards, b->d);
    if (p->accounts.n_weights && p->order && !p->order->account_rank)
        problem_at(b, s->pointer, "weights", "weights need an order that ranks groups: fair or drf",
                   p->order->name);
    if (!p->preempts) return;
    if (p->order->account_rank)
        problem_at(b, s->pointer, "preempt", "an order that ranks groups stops nobody", s->preempt);
    if (p->accounts.n_quotas)
        problem_at(b, s->pointer, "quotas", "quotas and preemption do not combine: set \"preempt\" to "
                   "\"never\"", s->preempt);
}

static void resolve_elastic(struct builder *b)
{
    struct plan *p = b->p;
    const struct schedule *s = &p->spec->schedule;
    p->elastic.how = (enum elastic)s->elastic;
    elastic_rules_read(&p->elastic, p->arena, b->doc, s->scaling, s->pointer, b->d);
    if (p->elastic.how == ELASTIC_NONE) return;
    if (p->backfill == BACKFILL_CONSERVATIVE)
        problem_at(b, s->pointer, "elastic", "elastic jobs and promises to all who wait do not combine",
                   s->backfill);
    if (p->migrates)
        problem_at(b, s->pointer, "elastic", "elastic jobs and jobs that are moved do not combine",
                   s->migrate);
    if (p->preempts)
        problem_at(b, s->pointer, "elastic", "elastic jobs and preemption do not combine", s->preempt);
    if (p->order && p->order->admission && p->order->admission(p->order_params) == ADMIT_PLAN)
        problem_at(b, s->pointer, "elastic", "elastic jobs and admission by plan do not combine", "plan");
}

static void resolve_schedule(struct builder *b)
{
    static const char *const gangs[] = { "node", "any", "domain" };
    static const char *const racks[] = { "any", "pack", "spread" };
    static const char *const rules[] = { "wait", "drop" };
    const struct schedule *s = &b->p->spec->schedule;
    FIND_IN(b, order_all, s->order, s->pointer, "order", "expected an order", b->p->order);
    FIND_IN(b, place_all, s->place, s->pointer, "place", "expected a placement", b->p->place);
    resolve_backfill(b);
    resolve_order(b);
    if (strcmp(s->gang, "any") == 0)
        b->p->gang = GANG_ANY;
    else if (strcmp(s->gang, "domain") == 0)
        b->p->gang = GANG_DOMAIN;
    else if (strcmp(s->gang, "node") != 0)
        unknown_name(b, s->pointer, "gang", "expected a gang rule", s->gang, gangs, 3);
    if (strcmp(s->racks, "pack") == 0)
        b->p->racks = RACKS_PACK;
    else if (strcmp(s->racks, "spread") == 0)
        b->p->racks = RACKS_SPREAD;
    else if (strcmp(s->racks, "any") != 0)
        unknown_name(b, s->pointer, "racks", "expected a rule for racks", s->racks, racks, 3);
    if (b->p->gang == GANG_ANY && b->p->racks != RACKS_ANY)
        err_hint(problem_at(b, s->pointer, "racks", "gangs of any cards keep to no racks", s->racks),
                 "set \"gang\" to \"node\" or \"domain\"");
    if (strcmp(s->when_full, "drop") == 0)
        b->p->drop = true;
    else if (strcmp(s->when_full, "wait") != 0)
        unknown_name(b, s->pointer, "when_full", "expected a rule", s->when_full, rules, 2);
}

/* The flat unit of the reference traces has no overhead of any kind. */
static void ideal_profile(struct gpu_profile *profile)
{
    static const enum profile_param free_of[] = {
        PROFILE_base_context_bytes,   PROFILE_timeslice_switch_us,
        PROFILE_mps_overhead,         PROFILE_mps_interference,
        PROFILE_intercept_launch_ns,  PROFILE_intercept_alloc_us,
        PROFILE_intercept_startup_ms, PROFILE_intercept_startup_per_process_ms,
        PROFILE_remote_sync_us,       PROFILE_remote_async_us,
    };
    for (size_t i = 0; i < sizeof free_of / sizeof *free_of; i++)
        profile->param[free_of[i]] = (struct param){ .provenance = PROV_ASSUMED,
                                                     .source = "the generic card is ideal" };
    profile->param[PROFILE_remote_Bps].value = 1e15;
}

static const struct gpu_profile *load_profile(struct builder *b, const struct fleet_group *g,
                                              const struct gpu_spec *gpu)
{
    struct gpu_profile *profile = arena_alloc(b->p->arena, sizeof *profile);
    struct json_doc doc = { 0 };
    struct err e = { 0 };
    profile_defaults(profile);
    if (strcmp(gpu->name, "generic") == 0) ideal_profile(profile);
    if (!g->profile) return profile;
    if (json_doc_load(&doc, g->profile, &e) == 0) {
        const size_t before = b->d->count;
        profile_read(profile, b->p->arena, &doc, b->d);
        if (b->d->count == before && profile->gpu &&
            gpu_find(b->p->world->gpus, profile->gpu, NULL) != gpu)
            problem_at(b, g->pointer, "profile",
                       arena_printf(b->p->arena, "expected a profile of %s", gpu->name),
                       profile->gpu);
        if (b->d->count == before) sheet_check(gpu, profile, &doc, b->d);
    } else {
        diag_add_err(b->d, &e);
    }
    json_doc_fini(&doc);
    return profile;
}

/* Measured board power beats the catalogue. */
static const struct gpu_spec *with_measured_power(struct builder *b, const struct gpu_spec *gpu,
                                                  const struct gpu_profile *profile)
{
    const struct param *param = profile->param;
    struct gpu_spec *copy = arena_alloc(b->p->arena, sizeof *copy);
    *copy = *gpu;
    if (!isnan(param[PROFILE_power_idle_W].value)) copy->idle_W = param[PROFILE_power_idle_W].value;
    if (!isnan(param[PROFILE_power_context_W].value))
        copy->idle_context_W = param[PROFILE_power_context_W].value;
    if (!isnan(param[PROFILE_power_busy_W].value)) copy->busy_W = param[PROFILE_power_busy_W].value;
    return copy;
}

static void *read_params(struct builder *b, struct diag *d)
{
    static const char *const more[] = { "kind" };
    const struct plan *p = b->p;
    void *params = arena_alloc(p->arena, p->share->params_size);
    cfg_read(p->share->fields, p->share->fields_n, params, p->arena, b->doc, p->spec->share,
             p->spec->share_pointer, more, 1, d);
    return params;
}

static void resolve_group(struct builder *b, struct plan_group *out, const struct fleet_group *g)
{
    struct plan *p = b->p;
    const char *nearest = NULL;
    const struct gpu_spec *gpu = gpu_find(p->world->gpus, g->gpu, &nearest);
    out->spec = g;
    if (!gpu) {
        struct err *e = problem_at(b, g->pointer, "gpu", "no such card in the catalogue", g->gpu);
        err_hint(e, nearest ? "did you mean \"%s\"?" : "`gpusim list gpus` shows them", nearest);
        return;
    }
    const struct gpu_profile *profile = load_profile(b, g, gpu);
    out->type = (struct card_type){
        .gpu = with_measured_power(b, gpu, profile),
        .profile = profile,
        .context_bytes = (uint64_t)profile->param[PROFILE_base_context_bytes].value,
    };
    const bool one = p->share->pooled;
    out->cards = g->nodes * g->gpus_per_node;
    out->real_per_node = g->gpus_per_node;
    out->domain = g->nvlink_domain != CFG_NO_INT ? g->nvlink_domain
                  : g->gpus_per_node > 0         ? g->gpus_per_node
                                                 : 1;
    out->nodes = one ? 1 : g->nodes;
    out->per_node = one ? out->cards : g->gpus_per_node;
    const int64_t gathered = one ? g->nodes : 1;
    out->node_cpus_milli =
        isnan(g->cpu_cores) ? INT64_MAX : llround(g->cpu_cores * 1000.0) * gathered;
    if (g->host_memory == CFG_NO_BYTES ||
        __builtin_mul_overflow(g->host_memory, (uint64_t)gathered, &out->node_host_bytes))
        out->node_host_bytes = UINT64_MAX;
    out->first_card = p->cards;
    out->first_node = p->nodes;
    p->cards += out->cards;
    p->nodes += out->nodes;
    if (!p->share) return;
    struct diag unheard; /* the parameters were already reported once */
    diag_init(&unheard);
    out->params = read_params(b, &unheard);
    if (unheard.count == 0) {
        const char *why = p->share->bind(out->params, p->arena, &out->type);
        if (why)
            json_problem(b->d, b->doc, p->spec->share_pointer, "%s cannot be shared by \"%s\": %s",
                         gpu->name, p->share->name, why);
        else
            out->capacity = p->share->capacity(out->params, &out->type);
    }
    diag_fini(&unheard);
}

/* One parameter that the policy uses on a group, and how it is known: what the scenario sets itself
 * counts as assumed. */
static void note_param(struct plan *p, struct param_result *list, const struct plan_group *g,
                       enum profile_param which, bool set)
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
        .source = set ? "set in the scenario" : known->source,
        .value = set ? NAN : known->value,
        .low = set ? NAN : known->low,
        .high = set ? NAN : known->high,
    };
}

/* The fault rates of a group: what the scenario leaves open is known from the reference data. */
static void note_faults(struct plan *p, struct param_result *list, const struct plan_group *g)
{
    const struct fault_rates *r = &g->spec->rates;
    const simtime value[FAULT_SOURCES] = { r->card_mtbf, r->card_repair, r->node_mtbf, r->node_repair };
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
            .source = set ? "set in the scenario" : fault_source[i].source,
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

static void note_params(struct plan *p)
{
    struct param_result *list =
        arena_array(p->arena, p->n_groups * (p->share->uses_n + 2 + FAULT_SOURCES), sizeof *list);
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct plan_group *group = &p->group[g];
        if (!group->type.profile) continue;
        note_param(p, list, group, PROFILE_base_context_bytes, false);
        note_pairs(p, list, group);
        const bool uses = !p->share->uses_profile || p->share->uses_profile(group->params);
        for (size_t i = 0; uses && i < p->share->uses_n; i++) {
            const char *key = p->share->fields[p->share->overrides[i]].name;
            if (p->share->reads && !p->share->reads(group->params, i)) continue;
            note_param(p, list, group, p->share->uses[i],
                       json_object_get(p->spec->share, key) != NULL);
        }
        note_faults(p, list, group);
    }
    p->param = list;
}

static void resolve_signatures(struct builder *b)
{
    const struct scenario *s = b->p->scenario;
    struct named_work *list =
        arena_array(b->p->arena, s->n_signatures + 2 * s->n_services + 1, sizeof *list);
    for (size_t i = 0; i < s->n_signatures; i++) {
        list[i].name = s->signature[i].name;
        signature_read(&list[i].sig, b->p->arena, b->doc, s->signature[i].json,
                       s->signature[i].pointer, b->d);
        list[i].sig.name = list[i].name;
    }
    b->p->named = list;
    b->p->n_named = s->n_signatures;
}

/* ---- services ---- */

static void resolve_serve(struct builder *b, struct plan_service *x)
{
    static const char *const more[] = { "kind" };
    json_t *obj = x->spec->serve_json;
    char at[POINTER];
    const char *kind = obj ? json_string_value(json_object_get(obj, "kind")) : "single";
    json_pointer_key(at, sizeof at, x->spec->pointer, "serve");
    if (!kind) {
        json_problem(b->d, b->doc, at, "expected an object with \"kind\": a way of serving "
                                       "(`gpusim list schedulers`)");
        return;
    }
    FIND_IN(b, serve_all, kind, at, "kind", "expected a way of serving", x->serve);
    if (!x->serve) return;
    const size_t before = b->d->count;
    x->serve_params = arena_alloc(b->p->arena, x->serve->params_size);
    cfg_read(x->serve->fields, x->serve->fields_n, x->serve_params, b->p->arena, b->doc, obj, at, more, 1,
             b->d);
    const char *why = b->d->count == before && x->serve->check ? x->serve->check(x->serve_params) : NULL;
    if (why) json_problem(b->d, b->doc, at, "%s", why);
}

/* The model of a service that serves tokens; both or neither. */
static void resolve_model(struct builder *b, struct plan_service *x)
{
    struct json_doc doc = { 0 };
    struct err e = { 0 };
    char at[POINTER];
    if (!x->serve) return;
    if (x->serve->tokens != (x->spec->model != NULL)) {
        json_problem(b->d, b->doc, json_pointer_key(at, sizeof at, x->spec->pointer, "model"),
                     x->serve->tokens ? "serve \"%s\" needs a \"model\": a language model"
                                      : "serve \"%s\" serves no language model", x->serve->name);
        return;
    }
    if (!x->spec->model) return;
    struct llm_model *model = arena_alloc(b->p->arena, sizeof *model);
    if (json_doc_load(&doc, x->spec->model, &e) == 0)
        llm_model_read(model, b->p->arena, &doc, b->d);
    else
        diag_add_err(b->d, &e);
    json_doc_fini(&doc);
    x->model = model;
}

/* What a step at work looks like to neighbours: its parts by the formula, on the first card that is there. */
static struct signature step_signature(const struct llm_cost *c, const struct llm_step *s, double launches,
                                       int precision)
{
    const double all = llm_step_ms(c, s), kv = s->kv * (s->pairs > 0 ? c->k_mixed : c->k);
    const double host = c->c0 + c->c_b * s->seqs + c->c_n * s->tokens;
    const double stream = fmin(c->w, all - host - kv - s->pairs * c->q);
    struct signature sig = signature_default();
    sig.host = host / all;
    sig.memory = (stream + kv) / all;
    sig.compute = 1.0 - sig.host - sig.memory;
    sig.sm_width = sig.bw_width = 1.0;
    sig.launches_per_s = launches / (all / 1e3);
    sig.precision = precision;
    return sig;
}

/* Decode of 16 sequences of 1,024 tokens, and a step full of a prompt of 2,048. */
static void add_step_signatures(struct builder *b, struct plan_service *x, struct named_work *list, size_t *n)
{
    const struct llm_step decode = { .tokens = 16, .seqs = 16, .kv = 16384 },
                          fill = { .tokens = 2064, .seqs = 16, .kv = 16384, .pairs = 2048.0 * 1024 };
    const struct plan_group *g = &b->p->group[0];
    if (!x->model || b->d->count > 0 || !g->type.gpu) return;
    const struct llm_shape shape = llm_shape_of(x->model);
    const struct llm_card card = { g->type.gpu->mem_Bps, g->type.gpu->peak[x->model->precision].dense_ops, 1, 1 };
    const struct llm_card_steps *known = llm_steps_find(&b->p->world->steps, g->type.gpu->name);
    struct llm_constants constants = known ? known->constants : llm_constants_default();
    x->serve->constants(x->serve_params, &constants);
    if (isnan(card.peak_flops)) {
        json_problem(b->d, b->doc, x->spec->pointer, "%s has no published rate in %s, the format of %s",
                     g->type.gpu->name, precision_names[x->model->precision], x->model->name);
        return;
    }
    const struct llm_cost cost = llm_cost_of(&shape, &card, &constants, 1);
    const double launches = x->serve->kernels(x->serve_params, (double)x->model->layers);
    x->decode = arena_printf(b->p->arena, "service:%s", x->spec->name);
    x->fill = arena_printf(b->p->arena, "service:%s:fill", x->spec->name);
    list[(*n)++] = (struct named_work){ x->decode, step_signature(&cost, &decode, launches, x->model->precision) };
    list[(*n)++] = (struct named_work){ x->fill, step_signature(&cost, &fill, launches, x->model->precision) };
}

static void resolve_services(struct builder *b)
{
    struct plan *p = b->p;
    const struct scenario *s = p->scenario;
    struct plan_service *list = arena_array(p->arena, s->n_services + 1, sizeof *list);
    for (size_t i = 0; i < s->n_work; i++) {
        const struct service_spec *spec = s->work[i].service;
        if (!spec) continue;
        struct plan_service *x = &list[p->n_services++];
        x->spec = spec;
        x->replicas = spec->replicas.per_card != CFG_NO_INT ? spec->replicas.per_card * p->cards
                                                            : spec->replicas.min;
        if (spec->replicas.scale_on == SCALE_SCHEDULE) x->replicas = spec->replicas.hour[0];
        x->most = spec->replicas.per_card != CFG_NO_INT ? x->replicas : spec->replicas.max;
        resolve_serve(b, x);
        const bool tokens = x->serve && x->serve->tokens;
        FIND_IN(b, route_all, spec->route ? spec->route : tokens ? "least_outstanding" : "shared",
                spec->pointer, "route", "expected a way of routing", x->route);
        if (tokens && x->route && x->route->shared)
            json_problem(b->d, b->doc, spec->pointer,
                         "serve \"%s\" has a waiting list in each replica: route \"shared\" does not go with it",
                         x->serve->name);
        resolve_model(b, x);
        add_step_signatures(b, x, (struct named_work *)(uintptr_t)p->named, &p->n_named);
        if (spec->profile && !plan_signature(p, spec->profile)) {
            const char *near = plan_signature_nearest(p, spec->profile);
            struct err *e = problem_at(b, spec->pointer, "profile",
                                       "no such work profile in the scenario or the library", spec->profile);
            if (near) err_hint(e, "did you mean \"%s\"?", near);
        }
    }
    p->service = list;
}

void plan_replica_row(const struct plan *p, size_t service, struct symtab *names, struct job_row *row)
{
    const struct service_spec *s = p->service[service].spec;
    char name[128];
    job_row_init(row);
    snprintf(name, sizeof name, "service:%s", s->name);
    row->user = row->group = symtab_addz(names, name);
    row->id = symtab_name(names, row->user);
    row->id_len = strlen(row->id);
    row->duration = SIM_NEVER / 2;
    row->gpus_milli = s->gpus_milli;
    row->gpu_mem_bytes = s->bytes == CFG_NO_BYTES ? JOB_NO_BYTES : s->bytes;
    row->klass = CLASS_inference;
    const char *profile = s->profile ? s->profile : p->service[service].decode;
    row->profile = profile ? symtab_addz(names, profile) : 0;
    row->gpu_model = s->gpu_model ? symtab_addz(names, s->gpu_model) : 0;
}

void plan_filling_row(const struct plan *p, size_t service, struct symtab *names, struct job_row *row)
{
    plan_replica_row(p, service, names, row);
    if (p->service[service].fill) row->profile = symtab_addz(names, p->service[service].fill);
}

/* What a replica has of a card of group g, and how many tokens it can hold. NULL, or why it cannot work. */
static const char *part_of(const struct plan *p, const struct plan_service *x, size_t g, const struct fit *fit,
                           struct serve_part *out)
{
    const struct gpu_spec *gpu = p->group[g].type.gpu;
    const struct demand *d = &fit->demand;
    const struct llm_shape shape = llm_shape_of(x->model);
    const struct llm_card_steps *known = llm_steps_find(&p->world->steps, gpu->name);
    struct llm_constants constants = known ? known->constants : llm_constants_default();
    struct llm_card card = { gpu->mem_Bps, gpu->peak[x->model->precision].dense_ops, 1, 1 };
    const bool slice = d->mig_profile >= 0, stated = x->spec->bytes != CFG_NO_BYTES;
    const int tp = d->cards > 1 ? d->cards : 1;
    const double bytes = stated  ? (double)x->spec->bytes
                         : slice ? (double)gpu->mig->profile[d->mig_profile].usable_bytes
                                 : (double)d->alloc_bytes;
    if (slice) {
        card.sm_share = mig_sm_share(gpu, d->mig_profile, NULL);
        card.bw_share = mig_bw_share(gpu, d->mig_profile);
    } else if (p->share->spatial_cap) {
        card.sm_share = d->core_cap;
    }
    if (isnan(card.peak_flops))
        return arena_printf(p->arena, "%s has no published rate in %s", gpu->name,
                            precision_names[x->model->precision]);
    x->serve->constants(x->serve_params, &constants);
    *out = (struct serve_part){ .cost = llm_cost_of(&shape, &card, &constants, tp),
                                .kv_tokens = x->serve->kv_tokens(x->serve_params, &shape, bytes, stated, tp),
                                .context = x->model->context };
    if (out->kv_tokens >= 1 && bytes >= llm_weight_bytes(&shape) / tp) return NULL;
    return arena_printf(p->arena,
                        "%s in %s takes %.2f GiB of weights%s, and %.2f GiB are there%s%s: with what the engine "
                        "leaves and keeps for itself no KV cache (%.0f kB a token) is left",
                        x->model->name, precision_names[x->model->precision],
                        llm_weight_bytes(&shape) / tp / 0x1p30, tp > 1 ? " on each card" : "", bytes / 0x1p30,
                        slice ? " on " : "", slice ? gpu->mig->profile[d->mig_profile].name : "",
                        llm_kv_bytes(&shape) / 1e3);
}

/* The parts of all groups; false after a problem. */
static bool resolve_parts(struct builder *b, struct plan_service *x, const struct shape *shape)
{
    struct plan *p = b->p;
    struct serve_part *part = arena_array(p->arena, p->n_groups, sizeof *part);
    double longest = (double)x->model->context;
    for (size_t g = 0; g < p->n_groups; g++) {
        if (!shape->fit[g].feasible) continue;
        const char *why = part_of(p, x, g, &shape->fit[g], &part[g]);
        if (why) {
            json_problem(b->d, b->doc, x->spec->pointer, "policy %s: service %s: %s", p->spec->name,
                         x->spec->name, why);
            return false;
        }
        longest = fmin(longest, part[g].kv_tokens);
    }
    x->part = part;
    x->longest = (int64_t)longest;
    return true;
}

/* Measured speeds by card, by group of the fleet. */
static void resolve_speeds(struct builder *b, struct plan_service *x)
{
    const struct plan *p = b->p;
    json_t *obj = x->spec->speed_on_json, *v;
    const char *name;
    char at[POINTER], one[POINTER], found[80];
    x->slower = arena_array(p->arena, p->n_groups, sizeof *x->slower);
    for (size_t g = 0; g < p->n_groups; g++) x->slower[g] = NAN;
    json_pointer_key(at, sizeof at, x->spec->pointer, "speed_on");
    if (obj && !json_is_object(obj))
        json_problem(b->d, b->doc, at, "expected an object: card to speed, found %s",
                     json_found(found, sizeof found, obj));
    json_object_foreach(obj, name, v)
    {
        const char *near = NULL;
        const struct gpu_spec *gpu = gpu_find(p->world->gpus, name, &near);
        const double speed = json_number_value(v);
        json_pointer_key(one, sizeof one, at, name);
        if (!gpu)
            err_hint(json_problem(b->d, b->doc, one, "no such card in the catalogue: \"%s\"", name),
                     near ? "did you mean \"%s\"?" : "`gpusim list gpus` shows them", near);
        else if (!json_is_number(v) || !(speed >= 1e-6 && speed <= 1e6))
            json_problem(b->d, b->doc, one, "expected a factor from 1e-06 to 1000000, found %s",
                         json_found(found, sizeof found, v));
        for (size_t g = 0; gpu && g < p->n_groups; g++)
            if (strcmp(p->group[g].type.gpu->name, gpu->name) == 0) x->slower[g] = 1.0 / speed;
    }
}

/* A service that can never run under a policy makes its comparison void: refused, with the numbers. */
static void check_services(struct builder *b)
{
    struct plan *p = b->p;
    struct symtab *names = symtab_create();
    struct shape_table *shapes = shape_table_create(p, names);
    for (size_t k = 0; k < p->n_services; k++) {
        struct plan_service *x = (struct plan_service *)(uintptr_t)&p->service[k];
        struct job_row row;
        struct unknown_name unknown = { 0 };
        resolve_speeds(b, x);
        plan_replica_row(p, k, names, &row);
        const struct shape *shape = shape_of(shapes, &row, &unknown);
        if (!shape)
            json_problem(b->d, b->doc, x->spec->pointer, "%s", unknown.why);
        else if (shape->rejected)
            json_problem(b->d, b->doc, x->spec->pointer,
                         "policy %s can never run a replica of service %s: %s", p->spec->name,
                         x->spec->name, shape->reason);
        else if (x->model && !resolve_parts(b, x, shape))
            continue;
        else if (!x->model && !x->spec->profile && (p->share->instances || p->share->spatial_cap))
            err_hint(json_problem(b->d, b->doc, x->spec->pointer,
                                  "policy %s cuts cards up, and how service %s scales on a part of a card "
                                  "is not said", p->spec->name, x->spec->name),
                     "give it a \"profile\" with \"sm_width\" and \"bw_width\": slices and whole cards "
                     "rank one way or the other by them");
    }
    shape_table_destroy(shapes);
    symtab_destroy(names);
}

/* Measured pairs, for each kind of card of the fleet. */
static void resolve_pairs(struct builder *b)
{
    struct plan *p = b->p;
    if (!p->spec->pairs || !p->share) return;
    if (!p->share->meets) {
        problem_at(b, p->spec->pointer, "pairs",
                   "pairs go with sharing a whole card at once: timeslice, mps, whole",
                   p->share->name);
        return;
    }
    size_t used = 0;
    const char **named = arena_array(p->arena, p->n_named + 1, sizeof *named);
    for (size_t i = 0; i < p->n_named; i++) named[i] = p->named[i].name;
    for (size_t g = 0; g < p->n_groups; g++) {
        struct err e = { 0 };
        struct pairs *pairs = arena_alloc(p->arena, sizeof *pairs);
        if (!p->group[g].type.gpu) continue;
        if (pairs_load(pairs, p->arena, p->spec->pairs, p->world->gpus, p->group[g].type.gpu, named,
                       p->n_named, &e) != 0) {
            diag_add_err(b->d, &e);
            return;
        }
        if (pairs->n == 0) continue; /* none on this kind of card */
        p->group[g].pairs = pairs;
        used++;
    }
    if (used == 0)
        problem_at(b, p->spec->pointer, "pairs", "no pair was measured on a card of the fleet",
                   p->spec->pairs);
}

static void resolve_prices(struct builder *b)
{
    struct plan *p = b->p;
    char sha[65];
    struct err e = { 0 };
    if (!p->spec->prices) return;
    p->priced = true;
    if (price_book_load(&p->prices, p->arena, p->spec->prices, p->world->gpus, sha, &e) != 0) diag_add_err(b->d, &e);
}

void plan_build(struct plan *out, const struct world *w, const struct scenario *s, size_t policy,
                struct diag *d)
{
    struct builder b = { out, d, &s->doc };
    *out = (struct plan){ .arena = arena_create(), .world = w, .scenario = s,
                          .spec = &s->policy[policy] };
    resolve_schedule(&b);
    FIND_IN(&b, share_all, out->spec->kind, out->spec->share_pointer, "kind",
            "expected a sharing policy", out->share);
    if (out->share) {
        void *params = read_params(&b, d);
        out->share_json = cfg_write(out->share->fields, out->share->fields_n, params);
        json_t *kind = json_pack("{s:s}", "kind", out->share->name);
        json_object_update(kind, out->share_json);
        json_decref(out->share_json);
        out->share_json = kind;
    }
    out->n_groups = out->spec->n_fleet;
    out->group = arena_array(out->arena, out->n_groups, sizeof *out->group);
    for (size_t g = 0; out->share && g < out->n_groups; g++)
        resolve_group(&b, &out->group[g], &out->spec->fleet[g]);
    resolve_migrate(&b);
    resolve_accounts(&b);
    resolve_elastic(&b);
    resolve_signatures(&b);
    resolve_services(&b);
    resolve_prices(&b);
    resolve_pairs(&b);
    if (d->count == 0) check_services(&b);
    if (d->count == 0) note_params(out);
}

void plan_check_schedule(const struct world *w, const struct scenario *s, struct diag *d)
{
    const struct policy_spec nobody = { .schedule = s->schedule };
    struct plan plan = { .arena = arena_create(), .world = w, .scenario = s, .spec = &nobody };
    struct builder b = { &plan, d, &s->doc };
    for (size_t g = 0; g < s->n_fleet; g++) plan.cards += s->fleet[g].nodes * s->fleet[g].gpus_per_node;
    if (s->schedule_unused)
        resolve_schedule(&b), resolve_migrate(&b), resolve_accounts(&b), resolve_elastic(&b);
    plan_fini(&plan);
}

void plan_fini(struct plan *p)
{
    json_decref(p->share_json);
    json_decref(p->order_json);
    arena_destroy(p->arena);
    *p = (struct plan){ 0 };
}

const struct signature *plan_signature(const struct plan *p, const char *name)
{
    for (size_t i = 0; i < p->n_named; i++)
        if (strcmp(p->named[i].name, name) == 0) return &p->named[i].sig;
    for (size_t i = 0; i < p->world->works.n_named; i++)
        if (strcmp(p->world->works.named[i].name, name) == 0) return &p->world->works.named[i].sig;
    return NULL;
}

const char *plan_signature_nearest(const struct plan *p, const char *name)
{
    const char *names[256];
    size_t n = 0;
    for (size_t i = 0; i < p->n_named && n < 256; i++) names[n++] = p->named[i].name;
    for (size_t i = 0; i < p->world->works.n_named && n < 256; i++)
        names[n++] = p->world->works.named[i].name;
    return str_nearest(name, names, n);
}

char *plan_card_name(const struct plan *p, uint32_t card, char *buf, size_t size)
{
    size_t g = 0;
    while (g + 1 < p->n_groups && card >= p->group[g + 1].first_card) g++;
    const int64_t k = card - p->group[g].first_card, per = p->group[g].real_per_node;
    snprintf(buf, size, "%s.%lld.%lld", p->group[g].spec->name, (long long)(k / per),
             (long long)(k % per));
    return buf;
}
