#include "whatif/inputs.h"

#include "base/datadir.h"
#include "base/json.h"
#include "base/spool.h"
#include "model/synth.h"

#include <string.h>

const char *input_of_work(const struct work_item *w)
{
    return w->kind == WORK_JOBS       ? w->trace
           : w->kind == WORK_GENERATE ? w->spec
           : w->service->requests     ? w->service->requests
                                      : w->service->spec;
}

int inputs_recorded(const char *path, each_input *each, void *ctx, struct err *e)
{
    struct json_doc doc;
    struct synth_spec spec = { 0 };
    struct diag d;
    struct err ignored = { 0 };
    int rc = 0;
    if (json_doc_load(&doc, path, &ignored) != 0) return 0; /* the run says why */
    struct arena *a = arena_create();
    diag_init(&d);
    synth_read(&spec, a, &doc, &d);
    for (size_t i = 0; d.count == 0 && i < spec.n_cls && rc == 0; i++) {
        const char *recording = synth_class_recording(&spec, i);
        if (recording && !spool_kind(recording)) /* of a pipe, the run says that it is one */
            rc = each(ctx, "recording", recording, e);
    }
    diag_fini(&d);
    arena_destroy(a);
    json_doc_fini(&doc);
    return rc;
}

static int of_plan(const struct plan *plan, struct arena *a, each_input *each, void *ctx,
                   struct err *e)
{
    char path[4096];
    int rc = 0;
    for (size_t g = 0; rc == 0 && g < plan->n_groups; g++) {
        const struct plan_group *x = &plan->group[g];
        const char *gpu = arena_printf(a, "gpus/%s.json", x->type.gpu->name);
        if (strcmp(x->type.gpu->name, "generic") != 0)
            rc = each(ctx, "gpu", datadir_path(path, sizeof path, gpu), e);
        if (rc == 0 && x->spec->profile) rc = each(ctx, "profile", x->spec->profile, e);
    }
    if (rc == 0 && plan->spec->pairs) rc = each(ctx, "pairs", plan->spec->pairs, e);
    if (rc == 0 && plan->priced) rc = each(ctx, "prices", plan->spec->prices, e);
    return rc;
}

int inputs_beside(const struct runner *r, each_input *each, void *ctx, struct err *e)
{
    const struct scenario *s = &r->scenario;
    char path[4096];
    bool steps = false;
    int rc = each(ctx, "classes", datadir_path(path, sizeof path, "workloads/classes.json"), e);
    for (size_t p = 0; p < r->n && rc == 0; p++) rc = of_plan(&r->plan[p], r->arena, each, ctx, e);
    if (rc == 0 && s->rent) rc = each(ctx, "prices", s->rent, e);
    for (size_t i = 0; i < s->n_work && rc == 0; i++) {
        if (!s->work[i].service || !s->work[i].service->model) continue;
        rc = each(ctx, "model", s->work[i].service->model, e);
        steps = true;
    }
    if (rc == 0 && steps)
        rc = each(ctx, "steps", datadir_path(path, sizeof path, "workloads/llm-steps.json"), e);
    return rc;
}
