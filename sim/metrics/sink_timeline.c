#include "metrics/sink_timeline.h"

#include "base/arena.h"
#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <string.h>

/* A job on one card. */
struct stay {
    simtime from, to, began; /* began: of its first start, when that lies inside; else `from` */
    uint64_t order;          /* of the job */
    uint32_t card;
    int32_t track; /* MIG: start of the instance; else its lane, found at the end */
    bool slot;     /* an instance: `track` is known */
    int32_t gpus_milli, attempt;
    const char *id, *klass, *profile; /* profile: of an instance, or NULL */
};

/* Samples that follow each other. */
struct reading {
    simtime from, to;
    int64_t samples;
    uint64_t waiting;     /* jobs, at `to` */
    double held_ns, W_ns; /* means over the fleet times the length */
};

struct timeline_sink timeline_init(FILE *to, const struct plan *plan, int policy)
{
    return (struct timeline_sink){ .to = to,
                                   .want = &plan->scenario->timeline,
                                   .policy = policy,
                                   .joined = 1,
                                   .text = arena_create() };
}

void timeline_fini(struct timeline_sink *t)
{
    free(t->stay);
    free(t->reading);
    arena_destroy(t->text);
    *t = (struct timeline_sink){ 0 };
}

static void keep(struct timeline_sink *t, const struct stay *s)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 256;
        t->stay = xreallocarray(t->stay, t->cap, sizeof *t->stay);
    }
    t->stay[t->n++] = *s;
}

static int on_stay(void *self, const struct plan *plan, const struct symtab *names,
                   const struct job *j, simtime now, struct err *e)
{
    struct timeline_sink *t = self;
    struct stay s = { .order = j->order, .gpus_milli = j->row.gpus_milli, .attempt = j->attempts };
    (void)names;
    (void)e;
    s.from = j->here > t->want->from ? j->here : t->want->from;
    s.to = now < t->want->to ? now : t->want->to;
    if (s.from >= s.to) return 0;
    if (t->n + (size_t)j->n_holdings > (size_t)t->want->events) {
        if (t->left_out == 0) t->left_out_at = s.to;
        t->left_out += (uint64_t)j->n_holdings;
        return 0;
    }
    s.began = s.from;
    if (j->attempts == 1 && j->moves == 0 && j->start != JOB_NO_TIME && j->start > s.from)
        s.began = j->start < s.to ? j->start : s.to;
    s.id = arena_strdup(t->text, j->row.id);
    s.klass = j->replica ? "service" : job_class_names[j->row.klass];
    for (int32_t i = 0; i < j->n_holdings; i++) {
        const struct mig_slice slice = j->holding[i].slice;
        s.card = j->holding[i].card;
        s.slot = slice.profile >= 0;
        s.track = s.slot ? slice.start : 0;
        s.profile =
            s.slot ? plan->group[j->group].type.gpu->mig->profile[slice.profile].name : NULL;
        keep(t, &s);
    }
    return 0;
}

static void join(struct reading *a, const struct reading *b)
{
    a->to = b->to;
    a->samples += b->samples;
    a->waiting = b->waiting;
    a->held_ns += b->held_ns;
    a->W_ns += b->W_ns;
}

/* A free place behind the last reading; where the limit is reached, two become one. */
static struct reading *next_reading(struct timeline_sink *t)
{
    const size_t most = (size_t)t->want->events + (size_t)(t->want->events & 1);
    if (t->n_readings == most) {
        for (size_t i = 0; i < most / 2; i++) {
            t->reading[i] = t->reading[2 * i];
            join(&t->reading[i], &t->reading[2 * i + 1]);
        }
        t->n_readings = most / 2;
        t->joined *= 2;
    } else if (t->n_readings == t->cap_readings) {
        t->cap_readings = t->cap_readings ? 2 * t->cap_readings : 256;
        t->reading = xreallocarray(t->reading, t->cap_readings, sizeof *t->reading);
    }
    return &t->reading[t->n_readings++];
}

static int on_sample(void *self, const struct plan *plan, const struct sample *s, struct err *e)
{
    struct timeline_sink *t = self;
    const struct reading r = { .from = s->t - s->length,
                               .to = s->t,
                               .samples = 1,
                               .waiting = s->queued,
                               .held_ns = s->allocated * (double)s->length,
                               .W_ns = s->power_W * (double)s->length };
    const size_t n = t->n_readings;
    (void)plan;
    (void)e;
    if (r.to <= t->want->from || r.from >= t->want->to) return 0;
    if (n > 0 && t->reading[n - 1].samples < t->joined)
        join(&t->reading[n - 1], &r);
    else
        *next_reading(t) = r;
    return 0;
}

struct sink timeline_sink(struct timeline_sink *t)
{
    return (struct sink){ .self = t, .stay = on_stay, .sample = on_sample };
}

/* By card, then time, then job: the order in which lanes are taken. */
static int by_start(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;
    if (x->card != y->card) return x->card < y->card ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

/* The lowest lane of one card's stays that is free at their start. */
static void take_lanes(struct stay *s, size_t n)
{
    VEC(simtime) busy = { 0 }; /* until when */
    for (size_t i = 0; i < n; i++) {
        size_t lane = 0;
        if (s[i].slot) continue;
        while (lane < busy.n && busy.v[lane] > s[i].from) lane++;
        if (lane == busy.n) vec_push(&busy, 0);
        busy.v[lane] = s[i].to;
        s[i].track = (int32_t)lane;
    }
    vec_fini(&busy);
}

/* Whole microseconds, rounded down: then what ends when another begins does so for every reader,
 * also for those that take a number for a double and cut it to nanoseconds. */
static int64_t us(simtime t)
{
    return t / 1000;
}

static void put_text(struct strbuf *b, const char *s)
{
    json_t *v = json_string(s);
    char *quoted = v ? json_dumps(v, JSON_ENCODE_ANY) : NULL;
    strbuf_addz(b, quoted ? quoted : "\"?\""); /* not UTF-8 */
    free(quoted);
    json_decref(v);
}

/* Where events stand: a process and a track of it (0: none). */
struct place {
    int pid;
    int64_t tid;
};

static void put_slice(struct strbuf *b, const struct stay *s, struct place at, const char *name,
                      simtime to)
{
    char gpus[40];
    const long long begin = us(s->from), end = us(to);
    const int64_t track = at.tid + s->track;
    strbuf_addz(b, ",\n{\"name\":");
    put_text(b, name);
    strbuf_addf(b, ",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%lld,\"dur\":%lld",
                *s->klass ? s->klass : "job", begin, end - begin);
    strbuf_addf(b, ",\"pid\":%d,\"tid\":%lld,\"args\":{\"attempt\":%d,\"gpus\":", at.pid,
                (long long)track, (int)s->attempt);
    strbuf_add(b, gpus, dec_print(gpus, sizeof gpus, s->gpus_milli, 3));
    if (s->profile) strbuf_addf(b, ",\"slice\":\"%s\"", s->profile);
    strbuf_addz(b, "}}");
}

/* "M" events name processes and tracks and put them in order. */
static void put_name(struct strbuf *b, const char *what, struct place at, const char *name)
{
    strbuf_addf(b,
                ",\n{\"name\":\"%s_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%lld,\"args\":{\"name\":",
                what, at.pid, (long long)at.tid);
    put_text(b, name);
    strbuf_addf(
        b,
        "}},\n{\"name\":\"%s_sort_index\",\"ph\":\"M\",\"pid\":%d,\"tid\":%lld,\"args\":{\"sort_index\":%lld}}",
        what, at.pid, (long long)at.tid, (long long)(at.tid ? at.tid : at.pid));
}

/* The tracks of one card, the first of which has the number at.tid. How many numbers it takes. */
static int64_t put_tracks(struct strbuf *b, const struct plan *plan, const struct stay *s, size_t n,
                          struct place at)
{
    char card[256], name[400];
    int32_t last = 0;
    plan_card_name(plan, s->card, card, sizeof card);
    for (size_t i = 0; i < n; i++) last = s[i].track > last ? s[i].track : last;
    bool *seen = xcalloc((size_t)last + 1, sizeof *seen), slot = false;
    for (size_t i = 0; i < n; i++) {
        slot = slot || s[i].slot;
        seen[s[i].track] = true;
    }
    for (int32_t track = 0; track <= last; track++) {
        if (!seen[track]) continue;
        snprintf(name, sizeof name, "%s (%s %d)", card, slot ? "slice" : "lane", (int)track);
        put_name(b, "thread", (struct place){ at.pid, at.tid + track }, name);
    }
    free(seen);
    return (int64_t)last + 1;
}

static void put_counter(struct strbuf *b, int pid, simtime at, const char *name, const char *key,
                        const char *value, char last[40])
{
    if (strcmp(value, last) == 0) return;
    snprintf(last, 40, "%s", value);
    strbuf_addf(
        b,
        ",\n{\"name\":\"%s\",\"ph\":\"C\",\"ts\":%lld,\"pid\":%d,\"tid\":0,\"args\":{\"%s\":%s}}",
        name, (long long)us(at), pid, key, value);
}

/* The jobs that wait are told for the end of an interval, means for its beginning. */
static void put_counters(struct strbuf *b, const struct timeline_sink *t, int pid)
{
    char waiting[40] = "", held[40] = "", power[40] = "", value[40];
    for (size_t i = 0; i < t->n_readings; i++) {
        const struct reading *r = &t->reading[i];
        const double length = (double)(r->to - r->from);
        const simtime from = r->from > t->want->from ? r->from : t->want->from;
        snprintf(value, sizeof value, "%.4g", 100 * r->held_ns / length);
        put_counter(b, pid, from, "card time held", "%", value, held);
        snprintf(value, sizeof value, "%.0f", r->W_ns / length);
        put_counter(b, pid, from, "power", "W", value, power);
        snprintf(value, sizeof value, "%llu", (unsigned long long)r->waiting);
        if (r->to < t->want->to) put_counter(b, pid, r->to, "jobs", "waiting", value, waiting);
    }
}

/* On a track of its own behind the others. */
static void put_left_out(struct strbuf *b, const struct timeline_sink *t, struct place at)
{
    char name[64], track[70];
    snprintf(name, sizeof name, "left out: %llu", (unsigned long long)t->left_out);
    snprintf(track, sizeof track, "(%s)", name);
    put_name(b, "thread", at, track);
    strbuf_addf(b,
                ",\n{\"name\":\"%s\",\"ph\":\"i\",\"s\":\"t\",\"ts\":%lld,\"pid\":%d,\"tid\":%lld}",
                name, (long long)us(t->left_out_at), at.pid, (long long)at.tid);
}

static int flush(struct strbuf *b, FILE *to, struct err *e)
{
    const bool written = fwrite(b->s ? b->s : "", 1, b->len, to) == b->len;
    strbuf_clear(b);
    return written ? 0
                   : err_set(e, err_of_errno(errno), NULL, "cannot write timeline.json: %s",
                             strerror(errno));
}

int timeline_write(struct timeline_sink *t, const struct plan *plan, struct err *e)
{
    struct strbuf b = { 0 };
    int rc = 0;
    /* Viewers put a track whose number is that of its process before the others: none has. */
    struct place at = { 1 + t->policy, 1 + (int64_t)plan->scenario->n_policies };
    if (t->n) qsort(t->stay, t->n, sizeof *t->stay, by_start);
    put_name(&b, "process", (struct place){ at.pid, 0 }, plan->spec->name);
    put_counters(&b, t, at.pid);
    for (size_t i = 0, n; i < t->n && rc == 0; i += n) {
        struct stay *s = t->stay + i;
        for (n = 1; i + n < t->n && s[n].card == s->card;) n++;
        take_lanes(s, n);
        const int64_t tracks = put_tracks(&b, plan, s, n, at);
        for (size_t k = 0; k < n && rc == 0; k++) {
            put_slice(&b, &s[k], at, s[k].id, s[k].to);
            if (s[k].began > s[k].from) put_slice(&b, &s[k], at, "start-up", s[k].began);
            if (b.len > 1 << 16) rc = flush(&b, t->to, e);
        }
        at.tid += tracks;
    }
    if (t->left_out) put_left_out(&b, t, at);
    if (rc == 0) rc = flush(&b, t->to, e);
    strbuf_fini(&b);
    return rc;
}
