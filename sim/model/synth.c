/* synth.c - the stream of jobs that a specification (synth_spec.c) describes. */
#include "model/synth_class.h"

#include "base/cfg.h"
#include "base/mem.h"
#include "base/rng.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

static size_t people(const struct synth_class *k)
{
    if (k->users != CFG_NO_INT) return (size_t)k->users;
    bool members =
        k->arrivals.kind == SYNTH_ARRIVAL_sessions || k->arrivals.kind == SYNTH_ARRIVAL_once;
    return members ? (size_t)k->arrivals.members : 0;
}

static bool any_memory(const struct synth_class *k)
{
    bool any = k->has_memory;
    for (size_t i = 0; i < k->n_shapes; i++) any |= k->shape[i].has_memory;
    return any;
}

static unsigned spec_columns(const struct synth_spec *s)
{
    unsigned c = 0;
    for (size_t i = 0; i < s->n_cls; i++) {
        const struct synth_class *k = &s->cls[i];
        if (any_memory(k)) c |= TRACE_COL(gpu_mem_bytes);
        if (k->gpu_model) c |= TRACE_COL(gpu_model);
        if (k->gpu_allowed) c |= TRACE_COL(gpu_allowed);
        if (!isnan(k->cpus)) c |= TRACE_COL(cpus);
        if (k->host_memory != CFG_NO_BYTES) c |= TRACE_COL(mem_bytes);
        if (people(k)) c |= TRACE_COL(user);
        if (people(k) && k->groups != CFG_NO_INT) c |= TRACE_COL(group);
        if (k->klass != CFG_NO_CHOICE) c |= TRACE_COL(class);
        if (k->n_profiles) c |= TRACE_COL(profile);
        if (k->priority != CFG_NO_INT) c |= TRACE_COL(priority);
        if (k->has_walltime) c |= TRACE_COL(walltime_s);
        if (k->slots != CFG_NO_INT) c |= TRACE_COL(slots);
    }
    return c;
}

/* One class at work: its next job is ready in `row`, or `done`. */
struct source {
    const struct synth_class *k;
    struct synth_arrival *arrivals; /* NULL: replay or bootstrap */
    struct synth_replay *replay;
    gsl_rng *duration, *gpus, *memory, *profile, *user, *walltime;
    sym *profile_sym, *user_sym, *group_sym;
    sym model, allowed;
    uint64_t n; /* jobs made */
    bool done;
    struct job_row row;
    char id[96];
};

struct synth {
    const struct synth_spec *spec;
    struct symtab *names;
    struct source *src;
    size_t last; /* source whose row the caller holds; n_cls: none */
    int64_t left;
    simtime until;
    struct arena *arena; /* of the specification, when synth_open read it */
};

static gsl_rng *stream(uint64_t seed, uint64_t rep, const char *klass, const char *purpose)
{
    char name[160];
    snprintf(name, sizeof name, "synth/%s/%s", klass, purpose);
    return rng_create(seed, rep, name);
}

static int source_init(struct source *s, const struct synth_class *k, const struct synth *all,
                       uint64_t seed, uint64_t rep, struct err *e)
{
    char purpose[96];
    int rc = 0;
    s->k = k;
    snprintf(purpose, sizeof purpose, "synth/%s/arrivals", k->name);
    if (synth_arrival_replays(&k->arrivals))
        rc = synth_replay_open(&s->replay, &k->arrivals.replay, all->names, seed, rep, purpose,
                               all->spec->lender, e);
    else
        s->arrivals =
            synth_arrival_create(&k->arrivals, simtime_s(all->spec->origin), seed, rep, purpose);
    s->duration = stream(seed, rep, k->name, "duration");
    s->gpus = stream(seed, rep, k->name, "gpus");
    s->memory = stream(seed, rep, k->name, "memory");
    s->profile = stream(seed, rep, k->name, "profile");
    s->user = stream(seed, rep, k->name, "user");
    s->walltime = stream(seed, rep, k->name, "walltime");
    s->user_sym = xcalloc(people(k) + 1, sizeof *s->user_sym);
    s->group_sym = xcalloc(k->groups == CFG_NO_INT ? 1 : (size_t)k->groups, sizeof *s->group_sym);
    s->profile_sym = xcalloc(k->n_profiles + 1, sizeof *s->profile_sym);
    for (size_t i = 0; i < k->n_profiles; i++)
        s->profile_sym[i] = symtab_addz(all->names, k->profile[i]);
    s->model = k->gpu_model ? symtab_addz(all->names, k->gpu_model) : 0;
    s->allowed = k->gpu_allowed ? symtab_addz(all->names, k->gpu_allowed) : 0;
    return rc;
}

static void free_stream(gsl_rng *r)
{
    if (r) gsl_rng_free(r);
}

static void source_fini(struct source *s)
{
    synth_arrival_destroy(s->arrivals);
    synth_replay_close(s->replay);
    free_stream(s->duration);
    free_stream(s->gpus);
    free_stream(s->memory);
    free_stream(s->profile);
    free_stream(s->user);
    free_stream(s->walltime);
    free(s->user_sym);
    free(s->group_sym);
    free(s->profile_sym);
}

/* Symbol of "<class>-<letter><number from 1>", made when first met. */
static sym numbered(struct symtab *names, sym *known, const char *klass, char letter, size_t i)
{
    char name[96];
    if (!known[i]) {
        snprintf(name, sizeof name, "%s-%c%zu", klass, letter, i + 1);
        known[i] = symtab_addz(names, name);
    }
    return known[i];
}

static void set_user(struct source *s, struct symtab *names, int64_t member)
{
    const struct synth_class *k = s->k;
    size_t who;
    if (k->users != CFG_NO_INT)
        who = synth_pick(k->user_cum, (size_t)k->users, gsl_rng_uniform(s->user));
    else if (member >= 0)
        who = (size_t)member;
    else
        return;
    s->row.user = numbered(names, s->user_sym, k->name, 'u', who);
    if (k->groups != CFG_NO_INT)
        s->row.group = numbered(names, s->group_sym, k->name, 'g', who % (size_t)k->groups);
}

/* Seconds to whole milliseconds, at least 1, at most what a trace may hold. */
static simtime to_ms(double s)
{
    if (!(s < SIM_MAX_S)) s = SIM_MAX_S;
    simtime ms = llround(s * 1e3);
    return (ms < 1 ? 1 : ms) * MS;
}

/* GPUs and duration. Correlated, both come from normal deviates (a Gaussian copula): GPUs from the
 * same uniform number as without, so that a correlation does not move them. */
static const struct synth_shape *set_length(struct source *s)
{
    const struct synth_class *k = s->k;
    const struct synth_shape *sh = NULL;
    double z = 0;
    if (k->has_gpus) {
        double u = gsl_rng_uniform(s->gpus);
        sh = &k->shape[synth_pick(k->shape_cum, k->n_shapes, u)];
        s->row.gpus_milli = sh->milli;
        if (k->correlation != 0) z = gsl_cdf_ugaussian_Pinv(fmax(u, 0x1p-33));
    }
    if (!k->has_duration) return sh;
    if (k->correlation == 0) {
        s->row.duration = to_ms(synth_dist_draw(&k->duration, s->duration));
        return sh;
    }
    double own = gsl_ran_ugaussian(s->duration);
    double both = k->correlation * z + sqrt(1 - k->correlation * k->correlation) * own;
    s->row.duration = to_ms(synth_dist_quantile(&k->duration, synth_normal_share(both)));
    return sh;
}

static void set_size(struct source *s)
{
    const struct synth_class *k = s->k;
    struct job_row *row = &s->row;
    const struct synth_shape *sh = set_length(s);
    const struct synth_dist *mem = sh && sh->has_memory ? &sh->memory
                                   : k->has_memory      ? &k->memory
                                                        : NULL;
    if (mem) row->gpu_mem_bytes = (uint64_t)(synth_dist_draw(mem, s->memory) + 0.5);
    if (k->n_profiles)
        row->profile =
            s->profile_sym[synth_pick(k->profile_cum, k->n_profiles, gsl_rng_uniform(s->profile))];
    if (k->has_walltime) {
        /* both are drawn always, so the share without a limit does not shift the limits */
        double missing = gsl_rng_uniform(s->walltime);
        double factor = synth_dist_draw(&k->factor, s->walltime);
        row->walltime =
            missing >= k->no_walltime ? to_ms(factor * simtime_s(row->duration)) : JOB_NO_TIME;
    }
}

/* What the class says of every job. Over a replayed row it stands, where it says something. */
static void set_fixed(struct source *s)
{
    const struct synth_class *k = s->k;
    struct job_row *row = &s->row;
    if (s->model) row->gpu_model = s->model;
    if (s->allowed) row->gpu_allowed = s->allowed;
    if (!isnan(k->cpus)) row->cpus_milli = (int32_t)lround(k->cpus * 1000);
    if (k->host_memory != CFG_NO_BYTES) row->mem_bytes = k->host_memory;
    if (k->klass != CFG_NO_CHOICE) row->klass = (enum job_class)(k->klass + 1);
    if (k->priority != CFG_NO_INT) row->priority = (int32_t)k->priority;
    if (k->slots != CFG_NO_INT) row->slots = (int32_t)k->slots;
}

/* When, and what a recording knows of it. 1, 0 at the end, negative: error. */
static int source_arrive(struct synth *all, struct source *s, int64_t *member, struct err *e)
{
    *member = -1;
    if (s->replay) return synth_replay_next(s->replay, all->until, &s->row, e);
    double until_s = simtime_s(all->until);
    double t = synth_arrival_next(s->arrivals, until_s, member);
    if (!(t < until_s)) return 0;
    job_row_init(&s->row);
    s->row.submit = (simtime)floor(t * 1e3) * MS;
    return 1;
}

static int source_advance(struct synth *all, struct source *s, struct err *e)
{
    const struct synth_class *k = s->k;
    int64_t member;
    int rc = 0;
    if (k->count == CFG_NO_INT || s->n < (uint64_t)k->count) rc = source_arrive(all, s, &member, e);
    s->done = rc <= 0;
    if (rc <= 0) return rc;
    set_fixed(s);
    set_size(s);
    set_user(s, all->names, member);
    s->n++;
    s->row.id = s->id;
    s->row.id_len =
        (size_t)snprintf(s->id, sizeof s->id, "%s-%llu", k->name, (unsigned long long)s->n);
    return 0;
}

int synth_create(struct synth **out, const struct synth_spec *spec, uint64_t seed,
                 uint64_t replication, struct symtab *names, struct err *e)
{
    struct synth *s = xcalloc(1, sizeof *s);
    int rc = 0;
    BUG_ON(spec->n_svc);
    *out = NULL;
    s->spec = spec;
    s->names = names;
    s->last = spec->n_cls;
    s->left = spec->jobs == CFG_NO_INT ? INT64_MAX : spec->jobs;
    s->until = spec->horizon == CFG_NO_TIME ? (simtime)(SIM_MAX_S * 1e9) : spec->horizon;
    s->src = xcalloc(spec->n_cls, sizeof *s->src);
    for (size_t i = 0; i < spec->n_cls && rc == 0; i++) {
        rc = source_init(&s->src[i], &spec->cls[i], s, seed, replication, e);
        if (rc == 0) rc = source_advance(s, &s->src[i], e);
    }
    if (rc < 0)
        synth_close(s);
    else
        *out = s;
    return rc;
}

int synth_open(struct synth **out, const char *spec_path, uint64_t seed, uint64_t replication,
               struct symtab *names, const struct trace_lender *lender, struct err *e)
{
    struct json_doc doc;
    struct diag d;
    struct synth_spec *spec;
    struct arena *a = NULL;
    *out = NULL;
    int rc = json_doc_load(&doc, spec_path, e);
    if (rc < 0) return rc;
    diag_init(&d);
    a = arena_create();
    spec = arena_array(a, 1, sizeof *spec);
    synth_read(spec, a, &doc, &d);
    spec->lender = lender;
    if (!d.count && spec->n_svc)
        json_problem(&d, &doc, "/services",
                     "expected classes of jobs, found services with requests");
    rc = diag_result(&d, e);
    if (rc == 0) rc = synth_create(out, spec, seed, replication, names, e);
    if (rc == 0) {
        (*out)->arena = a;
        a = NULL;
    }
    arena_destroy(a);
    diag_fini(&d);
    json_doc_fini(&doc);
    return rc;
}

void synth_close(struct synth *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->spec->n_cls; i++) source_fini(&s->src[i]);
    free(s->src);
    arena_destroy(s->arena);
    free(s);
}

int synth_next(struct synth *s, struct job_row *row, struct err *e)
{
    struct source *best = NULL;
    if (s->last < s->spec->n_cls) {
        int rc = source_advance(s, &s->src[s->last], e);
        if (rc < 0) return rc;
    }
    s->last = s->spec->n_cls;
    if (!s->left) return 0;
    for (size_t i = 0; i < s->spec->n_cls; i++) {
        struct source *c = &s->src[i];
        if (c->done || (best && c->row.submit >= best->row.submit)) continue;
        best = c;
        s->last = i;
    }
    if (!best) return 0;
    s->left--;
    *row = best->row;
    return 1;
}

unsigned synth_columns(const struct synth *s)
{
    unsigned c = spec_columns(s->spec);
    for (size_t i = 0; i < s->spec->n_cls; i++)
        if (s->src[i].replay) c |= synth_replay_columns(s->src[i].replay);
    return c;
}

size_t synth_left_out(const struct synth *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->spec->n_cls; i++)
        if (s->src[i].replay) n += synth_replay_left_out(s->src[i].replay);
    return n;
}

const struct synth_spec *synth_spec(const struct synth *s)
{
    return s->spec;
}

size_t synth_row_class(const struct synth *s)
{
    return s->last;
}
