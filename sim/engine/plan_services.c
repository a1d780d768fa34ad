#include "engine/plan_inside.h"

#include "engine/shape.h"

#include <math.h>
#include <string.h>

static void resolve_serve(struct builder *b, struct plan_service *x)
{
    static const char *const more[] = { "kind" };
    json_t *obj = x->spec->serve_json;
    char at[POINTER];
    const char *kind = obj ? json_string_value(json_object_get(obj, "kind")) : "single";
    json_pointer_key(at, sizeof at, x->spec->pointer, "serve");
    if (!kind) {
        json_problem(b->d, b->doc, at,
                     "expected an object with \"kind\": a way of serving "
                     "(`gpusim list schedulers`)");
        return;
    }
    FIND_IN(b, serve_all, kind, at, "kind", "expected a way of serving", x->serve);
    if (!x->serve) return;
    const size_t before = b->d->count;
    x->serve_params = arena_alloc(b->p->arena, x->serve->params_size);
    cfg_read(x->serve->fields, x->serve->fields_n, x->serve_params, b->p->arena, b->doc, obj, at,
             more, 1, b->d);
    const char *why =
        b->d->count == before && x->serve->check ? x->serve->check(x->serve_params) : NULL;
    if (why) json_problem(b->d, b->doc, at, "%s", why);
}

/* What is asked of requests that have tokens goes with a way of serving them, and the other way
 * round. */
static void check_tokens(struct builder *b, const struct plan_service *x)
{
    const struct service_spec *s = x->spec;
    char at[POINTER], slo[POINTER];
    if (x->serve->tokens && s->sized)
        json_problem(b->d, b->doc, json_pointer_key(at, sizeof at, s->pointer, "size"),
                     "\"size\" does not go with a language model: expected \"input_tokens\" and "
                     "\"output_tokens\"");
    if (x->serve->tokens) return;
    if (s->tokens)
        json_problem(b->d, b->doc, json_pointer_key(at, sizeof at, s->pointer, "input_tokens"),
                     "\"input_tokens\" go with a language model (serve \"continuous\"); "
                     "serve \"%s\" needs \"size\"",
                     x->serve->name);
    json_pointer_key(slo, sizeof slo, s->pointer, "slo");
    for (size_t i = 0; i < s->n_targets; i++)
        if (s->target[i].metric == SERVICE_ttft || s->target[i].metric == SERVICE_tpot)
            json_problem(b->d, b->doc, json_pointer_key(at, sizeof at, slo, s->target[i].name),
                         "only a language model has a %s: expected a target of wait or latency",
                         service_metric_names[s->target[i].metric]);
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
                                      : "serve \"%s\" serves no language model",
                     x->serve->name);
        return;
    }
    check_tokens(b, x);
    if (!x->spec->model) return;
    struct llm_model *model = arena_alloc(b->p->arena, sizeof *model);
    if (json_doc_load(&doc, x->spec->model, &e) == 0)
        llm_model_read(model, b->p->arena, &doc, b->d);
    else
        diag_add_err(b->d, &e);
    json_doc_fini(&doc);
    x->model = model;
}

/* What a step at work looks like to neighbours: its parts by the formula, on the first card that is
 * there. */
static struct signature step_signature(const struct llm_cost *c, const struct llm_step *s,
                                       double launches, int precision)
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

/* Sequences that decode, with 1,024 tokens each (the engine's own view of a batch changes with
 * every token: a look that did so too would make every step an event, so lengths are not followed);
 * tokens of a chunk that rides beside 16 of them. A batch between two of them looks like the nearer
 * one, by its logarithm. */
static const double looks[SERVICE_LOOKS] = { 1, 4, 16, 64, 256, 32, 128, 512, 2048 };
enum { USUAL_LOOK = 2 }; /* what the scheduler sees of a replica */

size_t plan_look(const struct llm_step *s)
{
    const bool fills = s->pairs > 0;
    const double n = fills ? s->tokens - s->seqs : s->seqs;
    size_t i = fills ? SERVICE_DECODES : 0;
    const size_t end = fills ? SERVICE_LOOKS : SERVICE_DECODES;
    while (i + 1 < end && n * n > looks[i] * looks[i + 1]) i++;
    return i;
}

static struct llm_step step_of(size_t look)
{
    const double n = looks[look];
    return look < SERVICE_DECODES
               ? (struct llm_step){ .tokens = n, .seqs = n, .kv = 1024 * n }
               : (struct llm_step){ .tokens = n + 16, .seqs = 16, .kv = 16384, .pairs = n * n / 2 };
}

static void add_step_signatures(struct builder *b, struct plan_service *x, struct named_work *list,
                                size_t *n)
{
    const struct plan_group *g = &b->p->group[0];
    if (!x->serve || !x->model || b->d->count > 0 || !g->type.gpu) return;
    const struct llm_shape shape = llm_shape_of(x->model);
    const struct llm_card card = { g->type.gpu->mem_Bps,
                                   g->type.gpu->peak[x->model->precision].dense_ops, 1, 1 };
    const struct llm_card_steps *known = llm_steps_find(&b->p->world->steps, g->type.gpu->name);
    struct llm_constants constants = known ? known->constants : llm_constants_default();
    x->serve->constants(x->serve_params, &constants);
    if (isnan(card.peak_flops)) {
        json_problem(b->d, b->doc, x->spec->pointer,
                     "%s has no published rate in %s, the format of %s", g->type.gpu->name,
                     precision_names[x->model->precision], x->model->name);
        return;
    }
    const int tp = x->spec->gpus_milli >= 2000 ? x->spec->gpus_milli / 1000 : 1;
    const struct llm_cost cost = llm_cost_of(&shape, &card, &constants, tp);
    const double launches = x->serve->kernels(x->serve_params, (double)x->model->layers);
    for (size_t i = 0; i < SERVICE_LOOKS; i++) {
        const struct llm_step step = step_of(i);
        x->look[i] = arena_printf(b->p->arena, "service:%s:%s:%g", x->spec->name,
                                  i < SERVICE_DECODES ? "decode" : "fill", looks[i]);
        list[(*n)++] = (struct named_work){ x->look[i], step_signature(&cost, &step, launches,
                                                                       x->model->precision) };
    }
}

void plan_resolve_services(struct builder *b)
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
        FIND_IN(b, route_all,
                spec->route ? spec->route
                : tokens    ? "least_outstanding"
                            : "shared",
                spec->pointer, "route", "expected a way of routing", x->route);
        if (tokens && x->route && x->route->shared)
            json_problem(
                b->d, b->doc, spec->pointer,
                "serve \"%s\" has a waiting list in each replica: route \"shared\" does not go with it",
                x->serve->name);
        resolve_model(b, x);
        add_step_signatures(b, x, (struct named_work *)(uintptr_t)p->named, &p->n_named);
        if (spec->profile && !plan_signature(p, spec->profile)) {
            const char *near = plan_signature_nearest(p, spec->profile);
            struct err *e =
                problem_at(b, spec->pointer, "profile",
                           "no such work profile in the scenario or the library", spec->profile);
            if (near) err_hint(e, "did you mean \"%s\"?", near);
        }
    }
    p->service = list;
}

void plan_replica_row(const struct plan *p, size_t service, struct symtab *names,
                      struct job_row *row)
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
    const char *profile = s->profile ? s->profile : p->service[service].look[USUAL_LOOK];
    row->profile = profile ? symtab_addz(names, profile) : 0;
    if (p->service[service].allowed)
        row->gpu_allowed = symtab_addz(names, p->service[service].allowed);
    row->gpu_model = s->gpu_model ? symtab_addz(names, s->gpu_model) : 0;
}

void plan_look_row(const struct plan *p, size_t service, size_t look, struct symtab *names,
                   struct job_row *row)
{
    const char *name = p->service[service].look[look];
    plan_replica_row(p, service, names, row);
    if (name) row->profile = symtab_addz(names, name);
}

/* What a replica has of a card of group g, and how many tokens it can hold. NULL, or why it cannot
 * work. */
static const char *part_of(const struct plan *p, const struct plan_service *x, size_t g,
                           const struct fit *fit, struct serve_part *out)
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
                                .kv_tokens =
                                    x->serve->kv_tokens(x->serve_params, &shape, bytes, stated, tp),
                                .context = x->model->context };
    if (out->kv_tokens >= 1 && bytes >= llm_weight_bytes(&shape) / tp) return NULL;
    return arena_printf(
        p->arena,
        "%s in %s takes %.2f GiB of weights%s, and %.2f GiB are there%s%s: with what the engine "
        "leaves and keeps for itself no KV cache (%.0f kB a token) is left",
        x->model->name, precision_names[x->model->precision],
        llm_weight_bytes(&shape) / tp / 0x1p30, tp > 1 ? " on each card" : "", bytes / 0x1p30,
        slice ? " on " : "", slice ? gpu->mig->profile[d->mig_profile].name : "",
        llm_kv_bytes(&shape) / 1e3);
}

/* Why a replica would die of its allocation on an empty card of group g (a memory cap of a client,
 * a vGPU's part, the card itself where nobody counts bytes), or has no room to work in. NULL: it
 * runs there. */
static const char *dies_on(const struct plan *p, const struct plan_service *x, size_t g,
                           const struct fit *fit, struct serve_part *part)
{
    const struct gpu_spec *gpu = p->group[g].type.gpu;
    const struct demand *d = &fit->demand;
    if (x->spec->bytes != CFG_NO_BYTES && x->spec->bytes > d->limit_bytes)
        return arena_printf(p->arena, "it needs %.2f GiB, and a tenant of %s may have %.2f GiB",
                            (double)x->spec->bytes / 0x1p30, gpu->name,
                            (double)d->limit_bytes / 0x1p30);
    if (d->alloc_bytes > gpu->usable_bytes &&
        !(p->share->swaps && p->share->swaps(p->group[g].params)))
        return arena_printf(p->arena, "it needs %.2f GiB with its context, and %s has %.2f GiB",
                            (double)d->alloc_bytes / 0x1p30, gpu->name,
                            (double)gpu->usable_bytes / 0x1p30);
    return x->model ? part_of(p, x, g, fit, part) : NULL;
}

static const char *joined(const struct plan *p, const char *before, const char *separator,
                          const char *more)
{
    return before ? arena_printf(p->arena, "%s%s%s", before, separator, more) : more;
}

/* Where its replicas run: only there are they placed. Why they run nowhere, with the numbers;
 * NULL. */
static const char *resolve_groups(struct builder *b, struct plan_service *x,
                                  const struct shape *shape)
{
    const struct plan *p = b->p;
    struct serve_part *part = arena_array(p->arena, p->n_groups, sizeof *part);
    const char *allowed = NULL, *dies = NULL;
    double longest = x->model ? (double)x->model->context : 0;
    int64_t cards = 0;
    for (size_t g = 0; g < p->n_groups; g++) {
        if (!shape->fit[g].feasible) continue;
        const char *why = dies_on(p, x, g, &shape->fit[g], &part[g]);
        if (why) {
            if (!dies || !strstr(dies, why)) dies = joined(p, dies, "; ", why);
            continue;
        }
        allowed = joined(p, allowed, "|", p->group[g].spec->name);
        cards += p->group[g].cards;
        if (x->model) longest = fmin(longest, part[g].kv_tokens);
    }
    if (!allowed) return dies;
    x->part = x->model ? part : NULL;
    x->longest = (int64_t)longest;
    if (!dies) return NULL;
    x->allowed = allowed;
    x->elsewhere = dies;
    if (x->spec->replicas.per_card != CFG_NO_INT)
        x->replicas = x->most = x->spec->replicas.per_card * cards;
    return NULL;
}

/* The bytes it asks for beside those of every kind of card, where none has them; else "". */
static const char *too_large(const struct plan *p, const struct plan_service *x)
{
    const char *cards = NULL;
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct card_type *type = &p->group[g].type;
        if (x->spec->bytes == CFG_NO_BYTES ||
            x->spec->bytes + type->context_bytes <= type->gpu->usable_bytes)
            return "";
        const char *one = arena_printf(p->arena, "%s has %.2f GiB", type->gpu->name,
                                       (double)type->gpu->usable_bytes / 0x1p30);
        if (!cards || !strstr(cards, one)) cards = joined(p, cards, ", ", one);
    }
    return arena_printf(p->arena, " (%.2f GiB and %.2f GiB of context; %s)",
                        (double)x->spec->bytes / 0x1p30,
                        (double)p->group[0].type.context_bytes / 0x1p30, cards);
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

/* Bandwidth of the recorded card over that of the part. */
static void resolve_reading(struct builder *b, struct plan_service *x, const struct shape *shape)
{
    const struct plan *p = b->p;
    const struct gpu_spec *recorded =
        x->spec->gpu_model ? gpu_find(p->world->gpus, x->spec->gpu_model, NULL) : NULL;
    x->reading = arena_array(p->arena, p->n_groups, sizeof *x->reading);
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct gpu_spec *here = p->group[g].type.gpu;
        const int profile = shape->fit[g].demand.mig_profile;
        x->reading[g] =
            (recorded ? recorded->mem_Bps / here->mem_Bps : 1.0) /
            (shape->fit[g].feasible && profile >= 0 ? mig_bw_share(here, profile) : 1.0);
    }
}

static const char *over_quota(const struct plan *p, const struct job_row *row)
{
    const struct quota *q = quota_of(&p->accounts, row->id);
    return q && row->gpus_milli > quota_most(&p->accounts, q)
               ? "it asks for more GPUs than the quota of its group"
               : NULL;
}

/* A service that can never run under a policy makes its comparison void: refused, with the
 * numbers. */
void plan_check_services(struct builder *b)
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
        const char *dies = shape && !shape->rejected ? resolve_groups(b, x, shape) : NULL;
        if (!dies && shape && !shape->rejected) dies = over_quota(p, &row);
        if (shape) resolve_reading(b, x, shape);
        if (!shape)
            json_problem(b->d, b->doc, x->spec->pointer, "%s", unknown.why);
        else if (shape->rejected || dies)
            json_problem(b->d, b->doc, x->spec->pointer,
                         "policy %s can never run a replica of service %s: %s%s", p->spec->name,
                         x->spec->name, dies ? dies : shape->reason, dies ? "" : too_large(p, x));
        else if (!x->model && !x->spec->profile && (p->share->instances || p->share->spatial_cap))
            err_hint(
                json_problem(
                    b->d, b->doc, x->spec->pointer,
                    "policy %s cuts cards up, and how service %s scales on a part of a card "
                    "is not said",
                    p->spec->name, x->spec->name),
                "give it a \"profile\" with \"sm_width\" and \"bw_width\": slices and whole cards "
                "rank one way or the other by them");
    }
    shape_table_destroy(shapes);
    symtab_destroy(names);
}
