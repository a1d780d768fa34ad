#include "whatif/sensitivity.h"

#include "base/mem.h"
#include "base/thread.h"
#include "metrics/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A parameter, the policies that use it, and what came of its two ends. */
struct study {
    const struct param_result *param;
    const char **user;
    size_t n_users;
    json_t *end[2]; /* low, high; NULL: that end is the value itself */
};

struct work {
    const struct runner *r;
    struct study *study;
    const char *path;
    const char *const *set;
    size_t n_set;
    struct trace_shelf *shelf;
    struct err *error; /* by task */
};

static json_t *figures(const struct policy_result *p)
{
    double attained = NAN;
    for (size_t k = 0; k < p->n_services; k++)
        attained = fmin(attained, p->service[k].attainment); /* of numbers only */
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "policy", p->name, "usd_per_useful_gpu_hour",
                     json_num(p->tco.priced ? p->tco.usd_per_useful_gpu_hour : NAN),
                     "turnaround_mean_s", json_num(p->stats.turnaround_s.mean), "slowdown_p95",
                     json_num(p->stats.slowdown.p95), "attainment", json_num(attained), "completed",
                     json_num((double)p->jobs.completed));
}

static json_t *recommended(const struct result *r)
{
    const char *policy = r->n_decisions ? r->decision[0].policy : NULL;
    return policy ? json_string(policy) : json_null();
}

/* The run's result with the policies of `other` in place of theirs, and what to recommend then. */
static json_t *with_these(const struct result *base, const struct result *other, struct arena *a)
{
    struct result r = *base;
    struct policy_result *policy = arena_array(a, base->n_policies + 1, sizeof *policy);
    json_t *list = json_array();
    for (size_t i = 0; i < base->n_policies; i++) {
        policy[i] = base->policy[i];
        for (size_t k = 0; k < other->n_policies; k++)
            if (strcmp(other->policy[k].name, policy[i].name) == 0) policy[i] = other->policy[k];
    }
    for (size_t k = 0; k < other->n_policies; k++)
        json_array_append_new(list, figures(&other->policy[k]));
    r.policy = policy;
    decide_policies(&r, a);
    return json_pack("{s:o, s:o}", "recommended", recommended(&r), "policies", list);
}

static int replay(void *ctx, size_t task)
{
    const struct work *w = ctx;
    struct study *s = &w->study[task / 2];
    const size_t high = task % 2;
    const double value = high ? s->param->high : s->param->low;
    struct err *e = &w->error[task];
    struct runner r = { 0 };
    struct diag d;
    if (!isfinite(value) || !(high ? value > s->param->value : value < s->param->value)) return 0;
    const struct param_change change = { s->param->fleet, s->param->name, value };
    struct world world = w->r->world;
    world.change = &change;
    const struct runner_options o = { .world = &world,
                                      .set = w->set,
                                      .n_set = w->n_set,
                                      .only = s->user,
                                      .n_only = s->n_users,
                                      .replication = w->r->replication,
                                      .silent = true,
                                      .mute = true,
                                      .no_hash = true,
                                      .shelf = w->shelf };
    diag_init(&d);
    int rc = runner_load_with(&r, w->path, &o, &d, e);
    r.stop = w->r->stop;
    if (rc == 0 && d.count > 0)
        s->end[high] = json_pack("{s:s}", "problem", d.problem[0].msg);
    else if (rc == 0)
        rc = runner_run(&r, NULL, 1, e);
    if (rc == 0 && !s->end[high]) s->end[high] = with_these(&w->r->result, &r.result, r.arena);
    runner_fini(&r);
    diag_fini(&d);
    return rc;
}

static bool ranged(const struct param_result *p)
{
    return isfinite(p->value) && (p->low < p->value || p->high > p->value);
}

/* Each parameter with a range once, in order of first use; *n of them, from the arena. */
static struct study *studies(const struct runner *r, size_t *n)
{
    const struct result *x = &r->result;
    size_t most = 0;
    for (size_t i = 0; i < x->n_policies; i++) most += x->policy[i].n_params;
    struct study *s = arena_array(r->arena, most + 1, sizeof *s);
    *n = 0;
    for (size_t i = 0; i < x->n_policies; i++)
        for (size_t k = 0; k < x->policy[i].n_params; k++) {
            const struct param_result *p = &x->policy[i].param[k];
            size_t at = 0;
            if (!ranged(p)) continue;
            while (at < *n && (strcmp(s[at].param->name, p->name) != 0 ||
                               strcmp(s[at].param->fleet, p->fleet) != 0))
                at++;
            if (at == *n)
                s[(*n)++] =
                    (struct study){ .param = p,
                                    .user = arena_array(r->arena, x->n_policies, sizeof *s->user) };
            s[at].user[s[at].n_users++] = x->policy[i].name;
        }
    return s;
}

static json_t *study_json(struct study *s)
{
    json_t *end[2];
    for (size_t k = 0; k < 2; k++) {
        end[k] = s->end[k] ? s->end[k] : json_null();
        s->end[k] = NULL;
    }
    const struct param_result *p = s->param;
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "fleet", p->fleet, "name", p->name,
                     "unit", p->unit, "value", json_num(p->value), "low", json_num(p->low), "high",
                     json_num(p->high), "low_end", end[0], "high_end", end[1]);
}

int sensitivity_of_run(json_t **out, const struct runner *r, const char *path,
                       const char *const *set, size_t n_set, unsigned threads, struct err *e)
{
    size_t n;
    struct study *s = studies(r, &n);
    struct work w = { .r = r,
                      .study = s,
                      .path = path,
                      .set = set,
                      .n_set = n_set,
                      .shelf = trace_shelf_create(0),
                      .error = xcalloc(2 * n + 1, sizeof *w.error) };
    int rc = parallel_for(2 * n, threads, replay, &w);
    for (size_t i = 0; rc != 0 && i < 2 * n; i++)
        if (w.error[i].code == (enum err_code)rc) {
            *e = w.error[i];
            break;
        }
    *out = NULL;
    if (rc == 0 && !(r->stop && r->stop())) {
        json_t *base = json_array(), *list = json_array();
        for (size_t i = 0; i < r->result.n_policies; i++)
            json_array_append_new(base, figures(&r->result.policy[i]));
        for (size_t i = 0; i < n; i++) json_array_append_new(list, study_json(&s[i]));
        *out = json_pack("{s:s, s:o, s:o, s:o}", "format", "gpusim-sensitivity/1", "recommended",
                         recommended(&r->result), "base", base, "parameters", list);
    }
    for (size_t i = 0; i < n; i++) json_decref(s[i].end[0]), json_decref(s[i].end[1]);
    trace_shelf_destroy(w.shelf);
    free(w.error);
    return rc;
}
