#include "engine/plan_inside.h"

#include "base/datadir.h"
#include "model/sheet.h"

#include <math.h>
#include <string.h>

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
    if (p->order->fields_n)
        p->order_json = cfg_write(p->order->fields, p->order->fields_n, p->order_params);
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
        err_hint(
            problem_at(b, s->pointer, "backfill",
                       "reservations and an order that preempts do not combine", s->backfill),
            "\"backfill\": \"greedy\" lets whoever fits run, \"none\" keeps the order strict; or "
            "set \"preempt\": \"never\"");
    if (strcmp(s->when_full, "drop") == 0)
        problem_at(b, s->pointer, "when_full",
                   "an order that preempts needs a queue for the preempted", s->when_full);
}

/* Jobs that are moved: of policies whose residents do not feel each other, for what a move
 * costs. */
static void resolve_migrate(struct builder *b)
{
    static const char *const rules[] = { "never", "defrag", "replace" };
    struct plan *p = b->p;
    const struct schedule *s = &p->spec->schedule;
    p->migrate_pause = s->migrate_pause == CFG_NO_TIME ? 0 : s->migrate_pause;
    p->migrate_Bps = s->migrate_rate;
    if (strcmp(s->migrate, "never") == 0) return;
    p->replaces = strcmp(s->migrate, "replace") == 0;
    if (!p->replaces && strcmp(s->migrate, "defrag") != 0) {
        unknown_name(b, s->pointer, "migrate", "expected a rule", s->migrate, rules, 3);
        return;
    }
    p->migrates = true;
    if (s->migrate_pause == CFG_NO_TIME && isnan(s->migrate_rate))
        err_hint(
            problem_at(b, s->pointer, "migrate", "a move costs something", s->migrate),
            "set \"migrate_pause\", the time a job stands still, or \"migrate_rate\", at which its "
            "memory is copied");
    if (p->replaces && p->order && !p->preempts)
        err_hint(problem_at(b, s->pointer, "migrate",
                            "all jobs are placed anew where the order preempts", s->migrate),
                 "set \"preempt\": \"always\", an order such as las, or \"migrate\": \"defrag\"");
    if (p->replaces && p->share && p->share->instances)
        json_problem(
            b->d, b->doc, p->spec->share_pointer,
            "instances are not placed anew all at once: \"migrate\": \"defrag\" moves them");
    if (!p->replaces && (p->preempts || p->backfill == BACKFILL_GREEDY))
        err_hint(problem_at(b, s->pointer, "migrate",
                            "room is made for the head of a queue that nobody jumps", s->migrate),
                 "with \"backfill\" none, easy or conservative and an order that does not preempt");
    for (size_t g = 0; g < p->n_groups; g++)
        if (p->share && !p->share->instances && p->group[g].capacity > 1) {
            json_problem(
                b->d, b->doc, p->spec->share_pointer,
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
    account_rules_read(&p->accounts, p->arena, b->doc, s->quotas, s->weights, s->pointer, p->cards,
                       b->d);
    const bool ranks = p->order && p->order->account_rank;
    if (p->accounts.n_weights && p->order && !ranks)
        problem_at(b, s->pointer, "weights", "weights need an order that ranks groups: fair or drf",
                   p->order->name);
    p->reclaims = s->reclaim == RECLAIM_ALWAYS;
    if (p->reclaims && p->accounts.n_cohorts == 0)
        problem_at(b, s->pointer, "reclaim", "no quota with a \"cohort\" lends anything", "always");
    if (p->reclaims && p->preempts)
        problem_at(b, s->pointer, "reclaim",
                   "the order preempts: it is the rank that says who goes", s->order);
    if (p->reclaims && ranks)
        problem_at(b, s->pointer, "reclaim",
                   "the order ranks groups: whose turn it is does not stop who runs",
                   p->order->name);
    if (p->reclaims && p->drop)
        problem_at(b, s->pointer, "when_full", "those who are stopped need a queue", s->when_full);
    if (p->preempts && ranks)
        problem_at(b, s->pointer, "preempt", "an order that ranks groups stops nobody", s->preempt);
}

static void resolve_elastic(struct builder *b)
{
    struct plan *p = b->p;
    const struct schedule *s = &p->spec->schedule;
    p->elastic.how = (enum elastic)s->elastic;
    elastic_rules_read(&p->elastic, p->arena, b->doc, s->scaling, s->pointer, b->d);
    if (p->elastic.how == ELASTIC_NONE) return;
    if (p->backfill == BACKFILL_CONSERVATIVE)
        problem_at(b, s->pointer, "elastic",
                   "elastic jobs and promises to all who wait do not combine", s->backfill);
    if (p->migrates)
        problem_at(b, s->pointer, "elastic", "elastic jobs and jobs that are moved do not combine",
                   s->migrate);
    if (p->order && p->order->admission && p->order->admission(p->order_params) == ADMIT_PLAN)
        problem_at(b, s->pointer, "elastic", "elastic jobs and admission by plan do not combine",
                   "plan");
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
        err_hint(
            problem_at(b, s->pointer, "racks", "gangs of any cards keep to no racks", s->racks),
            "set \"gang\" to \"node\" or \"domain\"");
    if (strcmp(s->when_full, "drop") == 0)
        b->p->drop = true;
    else if (strcmp(s->when_full, "wait") != 0)
        unknown_name(b, s->pointer, "when_full", "expected a rule", s->when_full, rules, 2);
}

/* A rule for racks, and no racks: it would do nothing and not say so. */
static void check_racks(struct builder *b)
{
    const struct plan *p = b->p;
    bool some = p->racks == RACKS_ANY;
    for (size_t g = 0; g < p->n_groups; g++) some |= p->spec->fleet[g].nodes_per_rack != CFG_NO_INT;
    if (some) return;
    err_hint(problem_at(b, p->spec->schedule.pointer, "racks",
                        "no group of the fleet has \"nodes_per_rack\"", p->spec->schedule.racks),
             "give a group \"nodes_per_rack\", or leave \"racks\" out");
}

/* The flat unit of the reference traces has no overhead of any kind but what a profile says of
 * it. */
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
        if (!profile->from_file[free_of[i]])
            profile->param[free_of[i]] =
                (struct param){ .provenance = PROV_ASSUMED, .source = "the generic card is ideal" };
    if (!profile->from_file[PROFILE_remote_Bps]) profile->param[PROFILE_remote_Bps].value = 1e15;
}

/* What a study of the parameters takes as something else (whatif/sensitivity.h). */
static void change_param(const struct param_change *c, const char *fleet, struct gpu_profile *out)
{
    const char *dot = c && strcmp(c->fleet, fleet) == 0 ? strchr(c->name, '.') : NULL;
    char group[32];
    if (!dot || snprintf(group, sizeof group, "%.*s", (int)(dot - c->name), c->name) >= 32) return;
    const int param = profile_param_find(group, dot + 1);
    if (param < 0) return;
    out->param[param].value = c->value;
    out->from_file[param] = true; /* so much on this very card */
}

static const struct fleet_group *change_rates(const struct param_change *c,
                                              const struct fleet_group *g, struct arena *a)
{
    size_t i = 0;
    while (c && i < FAULT_SOURCES && strcmp(c->name, fault_source[i].name) != 0) i++;
    if (!c || i == FAULT_SOURCES || strcmp(c->fleet, g->name) != 0) return g;
    struct fleet_group *copy = arena_alloc(a, sizeof *copy);
    *copy = *g;
    simtime *const rate[FAULT_SOURCES] = { &copy->rates.card_mtbf, &copy->rates.card_repair,
                                           &copy->rates.node_mtbf, &copy->rates.node_repair,
                                           &copy->rates.rack_mtbf, &copy->rates.rack_repair };
    *rate[i] = llround(c->value * (double)SIM_SECOND);
    return copy;
}

static const struct gpu_profile *load_profile(struct builder *b, const struct fleet_group *g,
                                              const struct gpu_spec *gpu)
{
    struct gpu_profile *profile = arena_alloc(b->p->arena, sizeof *profile);
    struct json_doc doc = { 0 };
    struct err e = { 0 };
    profile_defaults(profile);
    if (g->profile && json_doc_load(&doc, g->profile, &e) == 0) {
        const size_t before = b->d->count;
        profile_read(profile, b->p->arena, &doc, b->d);
        if (b->d->count == before && profile->gpu &&
            gpu_find(b->p->world->gpus, profile->gpu, NULL) != gpu)
            problem_at(b, g->pointer, "profile",
                       arena_printf(b->p->arena, "expected a profile of %s", gpu->name),
                       profile->gpu);
        if (b->d->count == before) sheet_check(gpu, profile, &doc, b->d);
    } else if (g->profile) {
        diag_add_err(b->d, &e);
    }
    json_doc_fini(&doc);
    if (strcmp(gpu->name, "generic") == 0) ideal_profile(profile);
    change_param(b->p->world->change, g->name, profile);
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
    out->spec = change_rates(p->world->change, g, p->arena);
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

static void resolve_signatures(struct builder *b)
{
    const struct scenario *s = b->p->scenario;
    struct named_work *list =
        arena_array(b->p->arena, s->n_signatures + SERVICE_LOOKS * s->n_services + 1, sizeof *list);
    for (size_t i = 0; i < s->n_signatures; i++) {
        list[i].name = s->signature[i].name;
        signature_read(&list[i].sig, b->p->arena, b->doc, s->signature[i].json,
                       s->signature[i].pointer, b->d);
        list[i].sig.name = list[i].name;
    }
    b->p->named = list;
    b->p->n_named = s->n_signatures;
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
    if (price_book_load(&p->prices, p->arena, p->spec->prices, p->world->gpus, sha, &e) != 0)
        diag_add_err(b->d, &e);
}

void plan_build(struct plan *out, const struct world *w, const struct scenario *s, size_t policy,
                struct diag *d)
{
    struct builder b = { out, d, &s->doc };
    *out = (struct plan){
        .arena = arena_create(), .world = w, .scenario = s, .spec = &s->policy[policy]
    };
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
    check_racks(&b);
    resolve_migrate(&b);
    resolve_accounts(&b);
    resolve_elastic(&b);
    resolve_signatures(&b);
    plan_resolve_services(&b);
    resolve_prices(&b);
    resolve_pairs(&b);
    if (d->count == 0) plan_check_services(&b);
    if (d->count == 0) plan_note_params(out);
}

void plan_check_schedule(const struct world *w, const struct scenario *s, struct diag *d)
{
    const struct policy_spec nobody = { .schedule = s->schedule };
    struct plan plan = { .arena = arena_create(), .world = w, .scenario = s, .spec = &nobody };
    struct builder b = { &plan, d, &s->doc };
    for (size_t g = 0; g < s->n_fleet; g++)
        plan.cards += s->fleet[g].nodes * s->fleet[g].gpus_per_node;
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
