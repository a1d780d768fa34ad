/* model/synth_arrival.h - when synthetic jobs are submitted.
 *
 *   poisson   gap (mean time between jobs); optional hours and days
 *   nhpp      the same, with hours or days required: rate(t) = hours(h) days(d) / gap, drawn by
 *             thinning (Lewis and Shedler 1979). hours: 24 weights of the hours of the day; days: 7
 *             from Monday; both are scaled to mean 1, so `gap` is the mean over a week.
 *   mmpp      states [{gap, stay}]: a Poisson process whose rate jumps between states; stay = mean
 *             sojourn (exponential); the next state is any other, equally likely. A state without
 *             gap is silent. Starts in equilibrium. Optional hours and days thin it.
 *             Mean rate = sum(stay / gap) / sum(stay).
 *   gamma,
 *   weibull   renewal with that law of gaps: gap, cv. The first gap starts at time zero.
 *   sessions  people who come in every day: members, start (time of day), spread (standard
 *             deviation of the start), days (chance to come, Monday first); one job a member and
 *             day, whose user is the member.
 *   once      members jobs at `start` after time zero, spread as above: what is there all along.
 *   replay    the jobs of a recorded trace with all their columns: trace, load (default 1).
 *   bootstrap blocks of a recorded trace drawn with replacement: trace, block ("1 d"), period,
 *             load.
 *   shuffle   the jobs of a recorded trace in random order, one every `gap`: trace, gap, and gpus, the
 *             cards that all jobs together ask for, reached by repeating some.
 *             All three are model/synth_replay.h; here they are only read.
 *
 * Time zero lies `origin` after Monday 00:00. Each process has its own random streams.
 * Memory: O(1), for sessions and once O(members). Threads: one process, one thread. */
#ifndef GPUSIM_MODEL_SYNTH_ARRIVAL_H
#define GPUSIM_MODEL_SYNTH_ARRIVAL_H

#include "base/arena.h"
#include "base/json.h"
#include "base/simtime.h"
#include "model/synth_replay.h"

#include <gsl/gsl_rng.h>

#define SYNTH_ARRIVAL_KIND_MAP(X)                                                                  \
    X(poisson)                                                                                     \
    X(nhpp) X(mmpp) X(gamma) X(weibull) X(sessions) X(once) X(replay) X(bootstrap) X(shuffle)
enum synth_arrival_kind {
#define X(name) SYNTH_ARRIVAL_##name,
    SYNTH_ARRIVAL_KIND_MAP(X)
#undef X
        SYNTH_ARRIVAL_KINDS
};
extern const char *const synth_arrival_kind_names[SYNTH_ARRIVAL_KINDS + 1]; /* NULL-terminated */

struct synth_arrival_state {
    double rate;   /* 1/s; 0: silent */
    double stay_s; /* mean sojourn */
};

/* What was read. Plain data, read-only. */
struct synth_arrival_spec {
    enum synth_arrival_kind kind;
    double gap_s, cv;
    bool has_profile;
    double hour[24], day[7]; /* each of mean 1 (sessions: day = chance to come) */
    struct synth_arrival_state *state;
    size_t n_states;
    int64_t members;
    double start_s, spread_s;
    struct synth_replay_spec replay; /* replay, bootstrap, shuffle */
};

static inline bool synth_arrival_replays(const struct synth_arrival_spec *s)
{
    return s->kind == SYNTH_ARRIVAL_replay || s->kind == SYNTH_ARRIVAL_bootstrap ||
           s->kind == SYNTH_ARRIVAL_shuffle;
}
/* Does it end by itself? */
static inline bool synth_arrival_ends(const struct synth_arrival_spec *s)
{
    return s->kind == SYNTH_ARRIVAL_once || s->kind == SYNTH_ARRIVAL_replay ||
           s->kind == SYNTH_ARRIVAL_shuffle;
}

/* Keys of an "arrivals" object. `shared_gap_s` is the gap that follows from the class's share, or
 * NAN; then the object must not have its own. Problems go to `d`. A trace is named relative to the
 * document's file and must be readable. */
void synth_arrival_read(struct synth_arrival_spec *out, struct arena *a, const struct json_doc *doc,
                        json_t *obj, const char *pointer, double shared_gap_s, struct diag *d);
/* Jobs per second in the long run; 0 for once, and for recordings, whose trace has not been
 * read. */
double synth_arrival_rate(const struct synth_arrival_spec *s);

struct synth_arrival;

/* `spec` must outlive it and be no recording. `purpose` is the prefix of the names of its random
 * streams. */
struct synth_arrival *synth_arrival_create(const struct synth_arrival_spec *spec, double origin_s,
                                           uint64_t seed, uint64_t replication,
                                           const char *purpose);
void synth_arrival_destroy(struct synth_arrival *p); /* accepts NULL */
/* Seconds after time zero, never decreasing; INFINITY when there are no more. *member (may be NULL)
 * is the person it belongs to, -1 when the process knows none. `until_s` stops the search in long
 * silences: a process that finds nothing before it may answer INFINITY. */
double synth_arrival_next(struct synth_arrival *p, double until_s, int64_t *member);

#endif
