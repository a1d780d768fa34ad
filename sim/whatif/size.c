#include "whatif/size.h"

#include "base/dec.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/vec.h"
#include "whatif/runner.h"

#include <math.h>
#include <string.h>

enum { FIRST_ROUND = 4, LOOK_AROUND = 2 };

const char *const verdict_names[] = { "missed", "undecided", "met", NULL };

/* ---- targets ---- */

int slo_parse(struct slo *out, struct arena *a, const char *text, struct err *e)
{
    static const struct {
        const char *sign;
        enum slo_op op;
    } ops[] = { { "<=", SLO_LE }, { ">=", SLO_GE }, { "==", SLO_EQ },
                { "!=", SLO_NE }, { "<", SLO_LT },  { ">", SLO_GT } };
    const char *at = strpbrk(text, "<>=!");
    size_t i = 0;
    while (at && i < 6 && strncmp(at, ops[i].sign, strlen(ops[i].sign)) != 0) i++;
    if (!at || i == 6 || at == text) goto bad;
    const char *number = at + strlen(ops[i].sign), *end = at;
    number += strspn(number, " ");
    while (end > text && end[-1] == ' ') end--;
    *out = (struct slo){ .text = arena_strdup(a, text),
                         .path = arena_strndup(a, text, (size_t)(end - text)),
                         .op = ops[i].op };
    if (out->path[0] && dec_double(number, strlen(number), &out->limit) == DEC_OK) return 0;
bad:
    err_set(e, ERR_USAGE, NULL, "--slo: expected PATH, a comparison and a plain number, found '%s'",
            text);
    err_hint(e, "for example --slo 'jobs.wait_s.p95<=600'");
    return ERR_USAGE;
}

bool slo_holds(const struct slo *s, double v)
{
    switch (s->op) {
    case SLO_LE: return v <= s->limit;
    case SLO_LT: return v < s->limit;
    case SLO_GE: return v >= s->limit;
    case SLO_GT: return v > s->limit;
    case SLO_EQ: return v == s->limit;
    case SLO_NE: return v != s->limit;
    }
    BUG("no such comparison");
}

enum verdict slo_judge(const struct slo *s, const double *x, size_t n, struct interval *out)
{
    size_t holds = 0;
    *out = interval_student(x, n);
    if (n == 0) return SIZE_UNDECIDED;
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i])) return SIZE_MISSED;
        holds += slo_holds(s, x[i]);
    }
    /* equality is about every run, not about a mean */
    if (n == 1 || s->op == SLO_EQ || s->op == SLO_NE) return holds == n ? SIZE_MET : SIZE_MISSED;
    const bool low = slo_holds(s, out->mean - out->half),
               high = slo_holds(s, out->mean + out->half);
    return low && high ? SIZE_MET : low || high ? SIZE_UNDECIDED : SIZE_MISSED;
}

/* ---- the search ---- */

struct search {
    struct size_answer *out;
    int64_t min, max;
    size_try *attempt;
    void *ctx;
    VEC(struct size_trial) trial; /* sorted */
};

/* The trial of that number, made now if it is new. NULL after an error. */
static const struct size_trial *trial(struct search *s, int64_t nodes, int *rc, struct err *e)
{
    size_t at = 0;
    struct size_trial t = { .nodes = nodes };
    while (at < s->trial.n && s->trial.v[at].nodes < nodes) at++;
    if (at < s->trial.n && s->trial.v[at].nodes == nodes) return &s->trial.v[at];
    if ((*rc = s->attempt(s->ctx, nodes, &t, e)) != 0) return NULL;
    vec_push(&s->trial, t);
    memmove(&s->trial.v[at + 1], &s->trial.v[at], (s->trial.n - 1 - at) * sizeof t);
    s->trial.v[at] = t;
    return &s->trial.v[at];
}

static bool met(struct search *s, int64_t nodes, int *rc, struct err *e)
{
    const struct size_trial *t = *rc == 0 ? trial(s, nodes, rc, e) : NULL;
    return t && t->verdict == SIZE_MET;
}

/* The least number that meets, if the response were monotone; 0: none. */
static int64_t bracket(struct search *s, int *rc, struct err *e)
{
    int64_t low = s->min - 1, high = s->min;
    while (!met(s, high, rc, e)) {
        if (*rc != 0 || high == s->max) return 0;
        low = high;
        high = high > s->max / 2 ? s->max : 2 * high;
    }
    while (*rc == 0 && high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (met(s, middle, rc, e))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Does what was tried rise once from not met to met? */
static bool is_monotone(const struct search *s)
{
    for (size_t i = 1; i < s->trial.n; i++)
        if (s->trial.v[i - 1].verdict == SIZE_MET && s->trial.v[i].verdict != SIZE_MET)
            return false;
    return true;
}

static int scan(struct search *s, int64_t from, int64_t to, struct err *e)
{
    int rc = 0;
    if (to > s->max) to = s->max;
    if (to - from >= SIZE_SCAN) to = from + SIZE_SCAN - 1;
    for (int64_t n = from < s->min ? s->min : from; n <= to && rc == 0; n++) trial(s, n, &rc, e);
    return rc;
}

/* The middle of every gap below the answer: an island there would otherwise go unseen. */
static int probe_gaps(struct search *s, int64_t least, struct err *e)
{
    int rc = 0;
    for (size_t i = 1; rc == 0 && i < s->trial.n && s->trial.v[i].nodes <= least; i++) {
        const int64_t low = s->trial.v[i - 1].nodes, gap = s->trial.v[i].nodes - low;
        if (gap < 2) continue;
        trial(s, low + gap / 2, &rc, e);
        i++; /* past the new one */
    }
    return rc;
}

/* Runs of trials that meet below one that does not, and of those that do not above one that does. */
static void find_odd(struct search *s)
{
    VEC(struct size_region) odd = { 0 };
    const struct size_trial *t = s->trial.v;
    size_t n = s->trial.n;
    if (!is_monotone(s))
        for (size_t i = 0; i < n;) {
            size_t to = i;
            const bool is_met = t[i].verdict == SIZE_MET;
            while (to + 1 < n && (t[to + 1].verdict == SIZE_MET) == is_met) to++;
            if (is_met ? to + 1 < n : i > 0) {
                const struct size_region r = { t[i].nodes, t[to].nodes, is_met };
                vec_push(&odd, r);
            }
            i = to + 1;
        }
    s->out->odd = odd.v;
    s->out->n_odd = odd.n;
}

static bool cheaper(const struct size_trial *a, const struct size_trial *b)
{
    if (isfinite(a->cost_usd) && isfinite(b->cost_usd) && a->cost_usd != b->cost_usd)
        return a->cost_usd < b->cost_usd;
    return a->nodes < b->nodes;
}

int size_search(struct size_answer *out, int64_t min, int64_t max, bool all, size_try *attempt,
                void *ctx, struct err *e)
{
    struct search s = { .out = out, .min = min, .max = max, .attempt = attempt, .ctx = ctx };
    int rc = 0;
    if (all) {
        rc = scan(&s, min, max, e);
    } else {
        const int64_t least = bracket(&s, &rc, e);
        if (rc == 0 && least > 0) {
            rc = scan(&s, least - LOOK_AROUND, least + LOOK_AROUND, e);
            if (rc == 0) rc = probe_gaps(&s, least, e);
            if (rc == 0 && !is_monotone(&s)) rc = scan(&s, min, 2 * least, e);
        }
    }
    if (rc == 0) find_odd(&s);
    out->trial = s.trial.v;
    out->n_trials = s.trial.n;
    for (size_t i = 0; i < out->n_trials; i++) {
        const struct size_trial *t = &out->trial[i];
        if (t->verdict == SIZE_MET && (!out->best || cheaper(t, out->best))) out->best = t;
    }
    if (out->best && out->best > out->trial) out->next_smaller = out->best - 1;
    return rc;
}

void size_answer_fini(struct size_answer *a)
{
    free(a->trial);
    free(a->odd);
    a->trial = NULL;
    a->odd = NULL;
}

/* ---- trials ---- */

struct attempt {
    struct sizing *s;
    const struct size_answer *answer;
    int64_t nodes;
    size_t from, n; /* replications from .. n of this round */
    double *x;      /* [target][replication] */
    double *cost;
    bool *stable;
    int64_t cards;
    struct err *error;
};

static size_t budget(const struct sizing *s)
{
    if (!s->random) return 1;
    return s->o.replications ? s->o.replications : 16;
}

/* Load with these nodes; `only` this policy (NULL: those asked for). */
static int load(struct runner *r, const struct sizing *s, const char *path, int64_t nodes,
                const char *only, size_t replication, struct err *e)
{
    struct arena *a = arena_create();
    const char **set = arena_array(a, s->o.n_set + 1, sizeof *set);
    struct diag d;
    for (size_t i = 0; i < s->o.n_set; i++) set[i] = s->o.set[i];
    if (path) set[s->o.n_set] = arena_printf(a, "%s=%lld", path, (long long)nodes);
    const struct runner_options o = { .world = &s->world,
                                      .set = set,
                                      .n_set = s->o.n_set + (path ? 1 : 0),
                                      .only = only ? &only : s->o.only,
                                      .n_only = only ? 1 : s->o.n_only,
                                      .replication = replication,
                                      .silent = true,
                                      .no_hash = true };
    diag_init(&d);
    int rc = runner_load_with(r, s->o.scenario, &o, &d, e);
    if (rc == 0 && d.count > 0) rc = diag_result(&d, e);
    diag_fini(&d);
    arena_destroy(a);
    return rc;
}

/* Say what there is where the path leaves the result. */
static int no_such_figure(const struct slo *slo, json_t *policy, struct err *e)
{
    char *path = xstrdup(slo->path), *dot;
    const char *word = slo->path, *names[64], *key;
    char list[160];
    json_t *up = NULL, *each;
    size_t n = 0;
    while (!up && (dot = strrchr(path, '.'))) {
        *dot = '\0';
        up = json_path_get(policy, path);
        word = slo->path + (dot - path) + 1;
    }
    if (!up) {
        up = policy;
        word = slo->path;
    }
    char *part = xstrndup(word, strcspn(word, "."));
    json_object_foreach(up, key, each)
    {
        if (n < 64) names[n++] = key;
    }
    err_set(e, ERR_USAGE, NULL, "--slo %s: a policy's result has no '%s'", slo->text, slo->path);
    const char *near = str_nearest(part, names, n);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    else
        err_hint(e, "instead of '%s' there is %s", part,
                 n ? str_list(list, sizeof list, names, n) : "nothing");
    free(part);
    free(path);
    return ERR_USAGE;
}

/* What a target names. NAN: null, the statistic does not exist here. */
static int look_up(const struct slo *slo, json_t *policy, double *out, struct err *e)
{
    json_t *v = json_path_get(policy, slo->path);
    if (!v) return no_such_figure(slo, policy, e);
    if (json_is_number(v))
        *out = json_number_value(v);
    else if (json_is_boolean(v))
        *out = json_is_true(v);
    else if (json_is_null(v))
        *out = NAN;
    else
        return err_set(e, ERR_USAGE, NULL, "--slo %s: '%s' is no number", slo->text, slo->path);
    return 0;
}

static int replicate(void *ctx, size_t i)
{
    struct attempt *t = ctx;
    const struct sizing *s = t->s;
    const size_t k = t->from + i, max = budget(s);
    struct runner r = { 0 };
    struct err *e = &t->error[k];
    int rc = load(&r, s, t->answer->path, t->nodes, t->answer->policy, k, e);
    if (rc == 0) rc = runner_run(&r, NULL, 1, e);
    if (rc == 0) {
        json_t *all = result_to_json(&r.result);
        json_t *policy = json_array_get(json_object_get(all, "policies"), 0);
        for (size_t q = 0; q < s->o.n_slo && rc == 0; q++)
            rc = look_up(&s->slo[q], policy, &t->x[q * max + k], e);
        t->stable[k] = r.result.policy[0].stable;
        t->cost[k] = r.result.policy[0].tco.priced ? r.result.policy[0].tco.total_usd : NAN;
        if (k == 0) t->cards = (int64_t)r.result.policy[0].gpu.count;
        json_decref(all);
    }
    runner_fini(&r);
    return rc == ERR_USAGE ? rc : 0; /* a wrong target is wrong everywhere */
}

/* Judge what there is; true when it is decided. */
static bool judge(const struct attempt *t, size_t n, struct size_trial *out)
{
    const size_t max = budget(t->s);
    out->n = n;
    out->stable = true;
    out->verdict = SIZE_MET;
    out->cost_usd = interval_student(t->cost, n).mean;
    out->cards = t->cards;
    for (size_t k = 0; k < n; k++) {
        if (t->error[k].code != ERR_OK && !out->problem)
            out->problem = arena_printf(t->s->arena, "%s%s%s", t->error[k].where,
                                        t->error[k].where[0] ? ": " : "", t->error[k].msg);
        if (t->error[k].code == ERR_OK && !t->stable[k]) out->stable = false;
    }
    for (size_t q = 0; q < t->s->o.n_slo; q++) {
        out->target[q] = slo_judge(&t->s->slo[q], t->x + q * max, n, &out->value[q]);
        if (out->target[q] < out->verdict) out->verdict = out->target[q];
    }
    if (out->problem || !out->stable) out->verdict = SIZE_MISSED;
    return out->verdict != SIZE_UNDECIDED;
}

static int try_nodes(void *ctx, int64_t nodes, struct size_trial *out, struct err *e)
{
    struct attempt *t = ctx;
    const struct sizing *s = t->s;
    const size_t max = budget(s);
    int rc = 0;
    t->nodes = nodes;
    t->cards = 0;
    t->x = xcalloc(max * s->o.n_slo, sizeof *t->x);
    t->cost = xcalloc(max, sizeof *t->cost);
    t->stable = xcalloc(max, sizeof *t->stable);
    t->error = xcalloc(max, sizeof *t->error);
    for (size_t i = 0; i < max * s->o.n_slo; i++) t->x[i] = NAN;
    for (size_t n = 0; n < max && rc == 0;) {
        const size_t more = n ? n : FIRST_ROUND;
        t->from = n;
        n = max - n < more ? max : n + more;
        rc = parallel_for(n - t->from, s->o.threads, replicate, t);
        for (size_t k = t->from; k < n && rc != 0; k++)
            if (t->error[k].code == (enum err_code)rc) {
                *e = t->error[k];
                break;
            }
        if (rc == 0 && judge(t, n, out)) break;
    }
    log_verbose("%s: %lld nodes: %s after %zu runs", t->answer->policy, (long long)nodes,
                verdict_names[out->verdict], out->n);
    free(t->x);
    free(t->cost);
    free(t->stable);
    free(t->error);
    return rc;
}

/* ---- all policies ---- */

/* The group whose nodes are counted, and its path: the policy's own fleet goes first. */
static int find_group(const struct sizing *s, const struct scenario *sc, size_t p,
                      const char **path, int64_t *nodes, struct err *e)
{
    const struct policy_spec *spec = &sc->policy[p];
    const bool own = spec->fleet != sc->fleet;
    const struct fleet_group *found = spec->n_fleet == 1 && !s->o.group ? spec->fleet : NULL;
    const char *names[256];
    char list[160];
    size_t n = 0;
    for (size_t i = 0; i < spec->n_fleet && n < 256; i++) {
        names[n++] = spec->fleet[i].name;
        if (s->o.group && strcmp(s->o.group, spec->fleet[i].name) == 0) found = &spec->fleet[i];
    }
    if (!found && !s->o.group)
        err_set(e, ERR_USAGE, NULL,
                "policy %s has several fleet groups; say whose nodes to count: "
                "--nodes-of GROUP",
                spec->name);
    else if (!found)
        err_set(e, ERR_USAGE, NULL, "--nodes-of: policy %s has no fleet group '%s'", spec->name,
                s->o.group);
    if (!found) {
        err_hint(e, "it has: %s", str_list(list, sizeof list, names, n));
        return ERR_USAGE;
    }
    *path = own ? arena_printf(s->arena, "policies.%s.fleet.%s.nodes", spec->name, found->name)
                : arena_printf(s->arena, "fleet.%s.nodes", found->name);
    *nodes = found->nodes;
    return 0;
}

static int size_policy(struct sizing *s, const struct scenario *sc, size_t p, struct err *e)
{
    struct size_answer *a = &s->answer[s->n_answers++];
    struct attempt t = { .s = s, .answer = a };
    int64_t present, max = s->o.max;
    a->policy = arena_strdup(s->arena, sc->policy[p].name);
    int rc = find_group(s, sc, p, &a->path, &present, e);
    if (rc != 0) return rc;
    if (max == 0) max = present > 4 ? 16 * present : 64;
    if (max < s->o.min) max = s->o.min;
    return size_search(a, s->o.min, max, s->o.scan, try_nodes, &t, e);
}

int size_run(struct sizing *s, const struct size_options *o, struct err *e)
{
    struct runner base = { 0 };
    *s = (struct sizing){ .o = *o, .arena = arena_create() };
    int rc = 0;
    if (o->n_slo == 0 || o->n_slo > SIZE_MAX_TARGETS)
        rc = err_set(e, ERR_USAGE, NULL, "expected 1 to %d targets: --slo 'jobs.wait_s.p95<=600'",
                     SIZE_MAX_TARGETS);
    for (size_t i = 0; i < o->n_slo && rc == 0; i++)
        rc = slo_parse(&s->slo[i], s->arena, o->slo[i], e);
    if (rc == 0) rc = world_load(&s->world, e);
    if (rc == 0) rc = load(&base, s, NULL, 0, NULL, 0, e);
    if (rc == 0) {
        const struct scenario *sc = &base.scenario;
        s->random = runner_is_random(&base);
        s->name = arena_strdup(s->arena, sc->name);
        memcpy(s->sha256, sc->sha256, sizeof s->sha256);
        s->answer = xcalloc(base.n, sizeof *s->answer);
        for (size_t p = 0, kept = 0; p < sc->n_policies && kept < base.n && rc == 0; p++) {
            if (base.plan[kept].spec != &sc->policy[p]) continue;
            rc = size_policy(s, sc, p, e);
            kept++;
        }
    }
    runner_fini(&base);
    return rc;
}

const struct size_answer *size_cheapest(const struct sizing *s)
{
    const struct size_answer *best = NULL;
    bool priced = true;
    for (size_t i = 0; i < s->n_answers; i++)
        if (s->answer[i].best) priced &= isfinite(s->answer[i].best->cost_usd);
    for (size_t i = 0; i < s->n_answers; i++) {
        const struct size_answer *a = &s->answer[i];
        if (!a->best) continue;
        const double cost = priced ? a->best->cost_usd : (double)a->best->cards;
        if (!best || cost < (priced ? best->best->cost_usd : (double)best->best->cards)) best = a;
    }
    return best;
}

void size_fini(struct sizing *s)
{
    for (size_t i = 0; i < s->n_answers; i++) size_answer_fini(&s->answer[i]);
    free(s->answer);
    world_fini(&s->world);
    arena_destroy(s->arena);
    *s = (struct sizing){ 0 };
}
