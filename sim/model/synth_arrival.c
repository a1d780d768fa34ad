#include "model/synth_arrival.h"

#include "base/cfg.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/scenario.h"
#include "model/synth_dist.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const synth_arrival_kind_names[SYNTH_ARRIVAL_KINDS + 1] = {
#define X(name) #name,
    SYNTH_ARRIVAL_KIND_MAP(X)
#undef X
        NULL
};

#define DAY_S  86400.0
#define WEEK_S (7 * DAY_S)

struct raw {
    int kind;
    simtime gap, start, spread, block, period;
    const char *trace;
    double cv, load, gpus;
    int64_t members;
    json_t *hours, *days, *states;
};

static const struct cfg_field fields[] = {
    { .name = "kind",
      .type = CFG_CHOICE,
      .offset = offsetof(struct raw, kind),
      .required = true,
      .choices = synth_arrival_kind_names,
      .help = "process" },
    CFG_FIELD(struct raw, gap, CFG_TIME, NULL, 1e-6, 1e9, "mean time between jobs"),
    CFG_FIELD(struct raw, cv, CFG_REAL, NULL, WEIBULL_CV_MIN, WEIBULL_CV_MAX,
              "gamma, weibull: standard deviation / mean of the gaps"),
    CFG_FIELD(struct raw, hours, CFG_JSON, NULL, 0, 0, "24 weights, from midnight"),
    CFG_FIELD(struct raw, days, CFG_JSON, NULL, 0, 0, "7 weights, from Monday"),
    CFG_FIELD(struct raw, states, CFG_JSON, NULL, 0, 0, "mmpp: [{gap, stay}]"),
    CFG_FIELD(struct raw, members, CFG_INT, NULL, 1, 1000000, "sessions, once: how many people"),
    CFG_FIELD(struct raw, start, CFG_TIME, NULL, 0, 1e9, "sessions: time of day; once: time"),
    CFG_FIELD(struct raw, spread, CFG_TIME, NULL, 0, 1e9, "standard deviation of the start"),
    CFG_FIELD(struct raw, trace, CFG_TEXT, NULL, 0, 0,
              "replay, bootstrap, shuffle: a native job trace"),
    CFG_FIELD(struct raw, load, CFG_REAL, "1", 1e-3, 1000,
              "replay: submit times are divided by it; bootstrap: so many blocks one over another"),
    CFG_FIELD(struct raw, block, CFG_TIME, NULL, 60, 8.64e6, "bootstrap: length of a block"),
    CFG_FIELD(struct raw, period, CFG_TIME, NULL, 60, 8.64e6,
              "bootstrap: blocks are drawn at the same place of it; default: anywhere"),
    CFG_FIELD(struct raw, gpus, CFG_REAL, NULL, 1e-3, 1e9,
              "shuffle: cards that all jobs together ask for; default: each job once"),
};
enum { FIELDS_N = sizeof fields / sizeof *fields };

struct raw_state {
    simtime gap, stay;
};
static const struct cfg_field state_fields[] = {
    CFG_FIELD(struct raw_state, gap, CFG_TIME, NULL, 1e-6, 1e9, "mean time between jobs"),
    CFG_REQUIRED(struct raw_state, stay, CFG_TIME, 1e-3, 1e9, "mean sojourn"),
};

/* Keys beside "kind" that each process has; those before the bar are required. */
static const char *const kind_keys[SYNTH_ARRIVAL_KINDS][8] = {
    [SYNTH_ARRIVAL_poisson] = { "gap", "|", "hours", "days" },
    [SYNTH_ARRIVAL_nhpp] = { "gap", "|", "hours", "days" },
    [SYNTH_ARRIVAL_mmpp] = { "states", "|", "hours", "days" },
    [SYNTH_ARRIVAL_gamma] = { "gap", "cv", "|" },
    [SYNTH_ARRIVAL_weibull] = { "gap", "cv", "|" },
    [SYNTH_ARRIVAL_sessions] = { "members", "start", "|", "spread", "days" },
    [SYNTH_ARRIVAL_once] = { "members", "|", "start", "spread" },
    [SYNTH_ARRIVAL_replay] = { "trace", "|", "load" },
    [SYNTH_ARRIVAL_bootstrap] = { "trace", "block", "|", "period", "load" },
    [SYNTH_ARRIVAL_shuffle] = { "trace", "gap", "|", "gpus" },
};

static bool kind_has(enum synth_arrival_kind kind, const char *key)
{
    for (size_t i = 0; i < 8 && kind_keys[kind][i]; i++)
        if (!strcmp(kind_keys[kind][i], key)) return true;
    return false;
}

static void check_keys(enum synth_arrival_kind kind, bool shared_gap, const struct json_doc *doc,
                       json_t *obj, const char *pointer, struct diag *d)
{
    char p[256];
    const char *name = synth_arrival_kind_names[kind];
    for (size_t i = 0; i < 8 && kind_keys[kind][i] && strcmp(kind_keys[kind][i], "|") != 0; i++) {
        const char *key = kind_keys[kind][i];
        if (!json_object_get(obj, key) && !(shared_gap && !strcmp(key, "gap")))
            json_problem(d, doc, pointer, "expected \"%s\" for arrivals of kind \"%s\", found none",
                         key, name);
    }
    for (size_t i = 1; i < FIELDS_N; i++) {
        const char *key = fields[i].name;
        if (!json_object_get(obj, key)) continue;
        json_pointer_key(p, sizeof p, pointer, key);
        if (!kind_has(kind, key))
            json_problem(d, doc, p, "expected no \"%s\" for arrivals of kind \"%s\", found one",
                         key, name);
        else if (shared_gap && !strcmp(key, "gap"))
            json_problem(d, doc, p,
                         "expected no gap in a class with a share (its gap is the overall gap / "
                         "share), found one");
    }
    if (shared_gap && !kind_has(kind, "gap"))
        json_problem(d, doc, pointer,
                     "expected arrivals with a gap in a class with a share, found \"%s\"", name);
    if (kind == SYNTH_ARRIVAL_nhpp && !json_object_get(obj, "hours") &&
        !json_object_get(obj, "days"))
        json_problem(d, doc, pointer,
                     "expected hours or days for arrivals of kind \"nhpp\", found neither");
}

/* n weights into w; scaled to mean 1 unless they are chances, which must be at most 1. */
static void weights(double *w, size_t n, bool chances, const struct json_doc *doc, json_t *list,
                    const char *pointer, struct diag *d)
{
    char p[256], found[80];
    double total = 0;
    if (json_array_size(list) != n) {
        json_problem(d, doc, pointer, "expected a list of %zu weights, found %s", n,
                     json_is_array(list) ? "another number of them"
                                         : json_found(found, sizeof found, list));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        json_t *v = json_array_get(list, i);
        double x = json_number_value(v);
        if (!json_is_number(v) || !(x >= 0) || (chances && x > 1)) {
            json_pointer_index(p, sizeof p, pointer, i);
            json_problem(d, doc, p, "expected %s, found %s",
                         chances ? "a chance from 0 to 1" : "a weight >= 0",
                         json_found(found, sizeof found, v));
            return;
        }
        total += w[i] = x;
    }
    if (!(total > 0)) {
        json_problem(d, doc, pointer, "expected at least one value above 0, found none");
        return;
    }
    if (!chances)
        for (size_t i = 0; i < n; i++) w[i] *= (double)n / total;
}

static void states(struct synth_arrival_spec *out, struct arena *a, const struct json_doc *doc,
                   json_t *list, const char *pointer, struct diag *d)
{
    char p[256], found[80];
    size_t n = json_array_size(list);
    double rate = 0;
    if (n < 2) {
        json_problem(d, doc, pointer,
                     "expected a list of at least two states {gap, stay}, found %s",
                     json_found(found, sizeof found, list));
        return;
    }
    out->state = arena_array(a, n, sizeof *out->state);
    out->n_states = n;
    for (size_t i = 0; i < n; i++) {
        struct raw_state s;
        json_t *v = json_array_get(list, i);
        json_pointer_index(p, sizeof p, pointer, i);
        if (!json_is_object(v)) {
            json_problem(d, doc, p, "expected a state {gap, stay}, found %s",
                         json_found(found, sizeof found, v));
            return;
        }
        size_t before = d->count;
        cfg_read(state_fields, 2, &s, a, doc, v, p, NULL, 0, d);
        if (d->count != before) return;
        out->state[i].rate = s.gap == CFG_NO_TIME ? 0 : 1 / simtime_s(s.gap);
        out->state[i].stay_s = simtime_s(s.stay);
        rate += out->state[i].rate;
    }
    if (!(rate > 0))
        json_problem(d, doc, pointer, "expected a gap in at least one state, found none");
}

static void replay(struct synth_arrival_spec *out, struct arena *a, const struct json_doc *doc,
                   const struct raw *r, const char *pointer, struct diag *d)
{
    char p[256];
    struct synth_replay_spec *s = &out->replay;
    *s = (struct synth_replay_spec){ .trace = scenario_path(a, doc->file, r->trace),
                                     .load = r->load,
                                     .period = 1,
                                     .gap = r->gap,
                                     .gpus = isnan(r->gpus) ? 0 : r->gpus };
    if (out->kind == SYNTH_ARRIVAL_bootstrap) s->kind = REPLAY_BOOTSTRAP;
    if (out->kind == SYNTH_ARRIVAL_shuffle) s->kind = REPLAY_SHUFFLE;
    if (access(s->trace, R_OK) < 0)
        json_problem(d, doc, json_pointer_key(p, sizeof p, pointer, "trace"),
                     "expected a trace that can be read, found \"%s\": %s", s->trace,
                     strerror(errno));
    if (s->kind != REPLAY_BOOTSTRAP) return;
    s->block = r->block;
    if (r->period == CFG_NO_TIME) return;
    s->period = r->period / r->block;
    if (s->period < 1 || r->period % r->block)
        json_problem(d, doc, json_pointer_key(p, sizeof p, pointer, "period"),
                     "expected a multiple of the block of %g s, found %g s", simtime_s(r->block),
                     simtime_s(r->period));
}

static double seconds(simtime t, double absent)
{
    return t == CFG_NO_TIME ? absent : simtime_s(t);
}

void synth_arrival_read(struct synth_arrival_spec *out, struct arena *a, const struct json_doc *doc,
                        json_t *obj, const char *pointer, double shared_gap_s, struct diag *d)
{
    struct raw r;
    char p[256], found[80];
    size_t before = d->count;
    *out = (struct synth_arrival_spec){ .kind = SYNTH_ARRIVAL_poisson, .gap_s = 1 };
    for (size_t i = 0; i < 24; i++) out->hour[i] = 1;
    for (size_t i = 0; i < 7; i++) out->day[i] = 1;
    if (!json_is_object(obj)) {
        json_problem(d, doc, pointer, "expected an arrival process {kind, ...}, found %s",
                     json_found(found, sizeof found, obj));
        return;
    }
    cfg_read(fields, FIELDS_N, &r, a, doc, obj, pointer, NULL, 0, d);
    if (d->count != before) return;
    out->kind = (enum synth_arrival_kind)r.kind;
    check_keys(out->kind, !isnan(shared_gap_s), doc, obj, pointer, d);
    if (d->count != before) return;
    out->gap_s = isnan(shared_gap_s) ? seconds(r.gap, NAN) : shared_gap_s;
    out->cv = r.cv;
    out->members = r.members;
    out->start_s = seconds(r.start, 0);
    out->spread_s = seconds(r.spread, 0);
    out->has_profile = r.hours || r.days;
    if (r.hours)
        weights(out->hour, 24, false, doc, r.hours, json_pointer_key(p, sizeof p, pointer, "hours"),
                d);
    if (r.days)
        weights(out->day, 7, out->kind == SYNTH_ARRIVAL_sessions, doc, r.days,
                json_pointer_key(p, sizeof p, pointer, "days"), d);
    if (r.states)
        states(out, a, doc, r.states, json_pointer_key(p, sizeof p, pointer, "states"), d);
    if (synth_arrival_replays(out)) replay(out, a, doc, &r, pointer, d);
    if (out->kind == SYNTH_ARRIVAL_sessions && out->start_s >= DAY_S) {
        json_pointer_key(p, sizeof p, pointer, "start");
        json_problem(d, doc, p, "expected a time of day below 24 h, found %g h",
                     out->start_s / 3600);
    }
}

double synth_arrival_rate(const struct synth_arrival_spec *s)
{
    double jobs = 0, time = 0, present = 0;
    switch (s->kind) {
    case SYNTH_ARRIVAL_mmpp:
        for (size_t i = 0; i < s->n_states; i++) {
            jobs += s->state[i].rate * s->state[i].stay_s;
            time += s->state[i].stay_s;
        }
        return jobs / time;
    case SYNTH_ARRIVAL_sessions:
        for (size_t i = 0; i < 7; i++) present += s->day[i];
        return (double)s->members * present / WEEK_S;
    case SYNTH_ARRIVAL_once:
    case SYNTH_ARRIVAL_replay:
    case SYNTH_ARRIVAL_bootstrap:
    case SYNTH_ARRIVAL_shuffle: return 0;
    default: return 1 / s->gap_s;
    }
}

static double profile_at(const struct synth_arrival_spec *s, double t_s)
{
    double t = fmod(t_s, WEEK_S);
    size_t hour = (size_t)(t / 3600);
    if (hour > 167) hour = 167;
    return s->hour[hour % 24] * s->day[hour / 24];
}

/* One person's next job. */
struct visit {
    double t;
    int64_t member;
};

struct synth_arrival {
    const struct synth_arrival_spec *spec;
    double origin_s;
    double t; /* of the last candidate */
    gsl_rng *gaps, *thin, *stays;
    double profile_max;
    struct synth_dist gap; /* gamma, weibull: mean 1 */
    size_t state;          /* mmpp */
    double leave;
    struct visit *visit; /* sessions, once: of the day in hand, sorted */
    size_t n_visits, at;
    int64_t day;
};

static gsl_rng *stream(uint64_t seed, uint64_t replication, const char *purpose, const char *what)
{
    char name[160];
    snprintf(name, sizeof name, "%s/%s", purpose, what);
    return rng_create(seed, replication, name);
}

static double largest(const double *w, size_t n)
{
    double m = w[0];
    for (size_t i = 1; i < n; i++) m = w[i] > m ? w[i] : m;
    return m;
}

/* State in equilibrium: a share of the time proportional to the mean stay, since every other state
 * is equally likely next. The remaining stay is exponential again. */
static void mmpp_start(struct synth_arrival *p)
{
    const struct synth_arrival_spec *s = p->spec;
    double total = 0, u;
    for (size_t i = 0; i < s->n_states; i++) total += s->state[i].stay_s;
    u = gsl_rng_uniform(p->stays) * total;
    while (p->state + 1 < s->n_states && u >= s->state[p->state].stay_s)
        u -= s->state[p->state++].stay_s;
    p->leave = gsl_ran_exponential(p->stays, s->state[p->state].stay_s);
}

struct synth_arrival *synth_arrival_create(const struct synth_arrival_spec *spec, double origin_s,
                                           uint64_t seed, uint64_t replication, const char *purpose)
{
    struct synth_arrival *p = xcalloc(1, sizeof *p);
    p->spec = spec;
    p->origin_s = origin_s;
    p->gaps = stream(seed, replication, purpose, "gaps");
    p->thin = stream(seed, replication, purpose, "thinning");
    p->stays = stream(seed, replication, purpose, "stays");
    p->profile_max = largest(spec->hour, 24) * largest(spec->day, 7);
    if (spec->kind == SYNTH_ARRIVAL_gamma) p->gap = synth_unit_gamma(spec->cv);
    if (spec->kind == SYNTH_ARRIVAL_weibull) p->gap = synth_unit_weibull(spec->cv);
    if (spec->kind == SYNTH_ARRIVAL_mmpp) mmpp_start(p);
    if (spec->kind == SYNTH_ARRIVAL_sessions || spec->kind == SYNTH_ARRIVAL_once)
        p->visit = xcalloc((size_t)spec->members, sizeof *p->visit);
    p->day = -1;
    return p;
}

void synth_arrival_destroy(struct synth_arrival *p)
{
    if (!p) return;
    gsl_rng_free(p->gaps);
    gsl_rng_free(p->thin);
    gsl_rng_free(p->stays);
    free(p->visit);
    free(p);
}

/* Next candidate of a Poisson process of rate profile_max / gap. */
static void poisson_step(struct synth_arrival *p)
{
    p->t += gsl_ran_exponential(p->gaps, p->spec->gap_s / p->profile_max);
}

static void mmpp_step(struct synth_arrival *p, double until_s)
{
    const struct synth_arrival_spec *s = p->spec;
    for (;;) {
        double rate = s->state[p->state].rate * p->profile_max;
        if (rate > 0) {
            double t = p->t + gsl_ran_exponential(p->gaps, 1 / rate);
            if (t < p->leave) {
                p->t = t;
                return;
            }
        }
        p->t = p->leave; /* memoryless: what was left of the gap is drawn anew at the new rate */
        if (p->t >= until_s) return;
        size_t next = (size_t)gsl_rng_uniform_int(p->stays, s->n_states - 1);
        p->state = next >= p->state ? next + 1 : next;
        p->leave += gsl_ran_exponential(p->stays, s->state[p->state].stay_s);
    }
}

static double thinned(struct synth_arrival *p, double until_s)
{
    const struct synth_arrival_spec *s = p->spec;
    while (p->t < until_s) {
        if (s->kind == SYNTH_ARRIVAL_mmpp)
            mmpp_step(p, until_s);
        else
            poisson_step(p);
        if (p->t >= until_s) break;
        if (!s->has_profile) return p->t;
        double accept = profile_at(s, p->origin_s + p->t) / p->profile_max;
        if (gsl_rng_uniform(p->thin) < accept) return p->t;
    }
    p->t = INFINITY;
    return INFINITY;
}

static int by_time(const void *x, const void *y)
{
    const struct visit *a = x, *b = y;
    if (a->t != b->t) return a->t < b->t ? -1 : 1;
    return a->member < b->member ? -1 : a->member > b->member;
}

/* Everybody's visit of one day. Draws for every member whether present or not, so who comes never
 * shifts when others come. A start outside the day is set to its edge: days stay sorted. */
static void plan_day(struct synth_arrival *p)
{
    const struct synth_arrival_spec *s = p->spec;
    double midnight = (double)p->day * DAY_S - p->origin_s;
    double chance = s->day[p->day % 7];
    p->n_visits = p->at = 0;
    for (int64_t m = 0; m < s->members; m++) {
        bool comes = gsl_rng_uniform(p->thin) < chance;
        double offset = s->start_s + gsl_ran_gaussian(p->gaps, 1) * s->spread_s;
        offset = fmin(fmax(offset, 0), DAY_S - 1e-3);
        if (comes && midnight + offset >= 0)
            p->visit[p->n_visits++] = (struct visit){ midnight + offset, m };
    }
    qsort(p->visit, p->n_visits, sizeof *p->visit, by_time);
}

static void plan_once(struct synth_arrival *p)
{
    const struct synth_arrival_spec *s = p->spec;
    for (int64_t m = 0; m < s->members; m++) {
        double t = s->start_s + gsl_ran_gaussian(p->gaps, 1) * s->spread_s;
        p->visit[p->n_visits++] = (struct visit){ fmax(t, 0), m };
    }
    qsort(p->visit, p->n_visits, sizeof *p->visit, by_time);
}

static double visits(struct synth_arrival *p, double until_s, int64_t *member)
{
    bool daily = p->spec->kind == SYNTH_ARRIVAL_sessions;
    while (p->at == p->n_visits) {
        if (p->day >= 0 && !daily) return INFINITY;
        if (daily && p->day >= 0 && (double)(p->day + 1) * DAY_S - p->origin_s >= until_s)
            return INFINITY;
        p->day = p->day < 0 && daily ? (int64_t)(p->origin_s / DAY_S) : p->day + 1;
        if (daily)
            plan_day(p);
        else
            plan_once(p);
    }
    *member = p->visit[p->at].member;
    return p->visit[p->at++].t;
}

double synth_arrival_next(struct synth_arrival *p, double until_s, int64_t *member)
{
    int64_t nobody;
    if (!member) member = &nobody;
    *member = -1;
    switch (p->spec->kind) {
    case SYNTH_ARRIVAL_poisson:
    case SYNTH_ARRIVAL_nhpp:
    case SYNTH_ARRIVAL_mmpp: return thinned(p, until_s);
    case SYNTH_ARRIVAL_gamma:
    case SYNTH_ARRIVAL_weibull: return p->t += p->spec->gap_s * synth_dist_draw(&p->gap, p->gaps);
    case SYNTH_ARRIVAL_sessions:
    case SYNTH_ARRIVAL_once: return visits(p, until_s, member);
    case SYNTH_ARRIVAL_replay:
    case SYNTH_ARRIVAL_bootstrap:
    case SYNTH_ARRIVAL_shuffle:
    case SYNTH_ARRIVAL_KINDS: break;
    }
    BUG("arrival kind %d", (int)p->spec->kind);
}
