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

struct timeline_sink timeline_init(FILE *to, const struct plan *plan, int policy)
{
    return (struct timeline_sink){
        .to = to, .want = &plan->scenario->timeline, .policy = policy, .text = arena_create()
    };
}

void timeline_fini(struct timeline_sink *t)
{
    free(t->stay);
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

struct sink timeline_sink(struct timeline_sink *t)
{
    return (struct sink){ .self = t, .stay = on_stay };
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

/* Whole microseconds, rounded down: then what ends when another begins does so for every reader, also for those that
 * take a number for a double and cut it to nanoseconds. */
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

static void put_slice(struct strbuf *b, const struct stay *s, int64_t pid, const char *name,
                      simtime to)
{
    char gpus[40];
    strbuf_addz(b, ",\n{\"name\":");
    put_text(b, name);
    strbuf_addf(b, ",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%lld,\"dur\":%lld",
                *s->klass ? s->klass : "job", (long long)us(s->from),
                (long long)(us(to) - us(s->from)));
    strbuf_addf(b, ",\"pid\":%lld,\"tid\":%d,\"args\":{\"attempt\":%d,\"gpus\":", (long long)pid,
                (int)s->track + 1, (int)s->attempt);
    strbuf_add(b, gpus, dec_print(gpus, sizeof gpus, s->gpus_milli, 3));
    if (s->profile) strbuf_addf(b, ",\"slice\":\"%s\"", s->profile);
    strbuf_addz(b, "}}");
}

/* "M" events name processes and tracks. */
static void put_name(struct strbuf *b, const char *what, int64_t pid, int32_t tid, const char *name)
{
    strbuf_addf(b, ",\n{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%lld,\"tid\":%d,\"args\":{\"name\":",
                what, (long long)pid, (int)tid);
    put_text(b, name);
    strbuf_addz(b, "}}");
}

static void put_card(struct strbuf *b, const struct plan *plan, const struct stay *s, size_t n,
                     int64_t pid)
{
    char card[256], name[400];
    uint8_t seen[256] = { 0 }; /* tracks; further lanes keep their number */
    bool slot = false;
    plan_card_name(plan, s->card, card, sizeof card);
    snprintf(name, sizeof name, "%s: %s", plan->spec->name, card);
    put_name(b, "process_name", pid, 0, name);
    strbuf_addf(b,
                ",\n{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":%lld,\"tid\":0,\"args\":"
                "{\"sort_index\":%lld}}",
                (long long)pid, (long long)pid);
    for (size_t i = 0; i < n; i++) {
        slot = slot || s[i].slot;
        if (s[i].track < (int32_t)sizeof seen) seen[s[i].track] = 1;
    }
    for (int32_t track = 0; track < (int32_t)sizeof seen; track++) {
        if (!seen[track]) continue;
        snprintf(name, sizeof name, slot ? "slot at slice %d" : "lane %d", (int)track);
        put_name(b, "thread_name", pid, track + 1, name);
    }
}

static int flush(struct strbuf *b, FILE *to, struct err *e)
{
    const bool written = fwrite(b->s ? b->s : "", 1, b->len, to) == b->len;
    strbuf_clear(b);
    return written ? 0
                   : err_set(e, err_of_errno(errno), NULL, "cannot write timeline.json: %s", strerror(errno));
}

int timeline_write(struct timeline_sink *t, const struct plan *plan, struct err *e)
{
    struct strbuf b = { 0 };
    int rc = 0;
    if (t->n) qsort(t->stay, t->n, sizeof *t->stay, by_start);
    for (size_t i = 0, n; i < t->n && rc == 0; i += n) {
        struct stay *s = t->stay + i;
        /* numbers that no two cards share; a scenario has fewer cards than this */
        const int64_t pid = 1 + (int64_t)t->policy * 100000000 + s->card;
        for (n = 1; i + n < t->n && s[n].card == s->card;) n++;
        take_lanes(s, n);
        put_card(&b, plan, s, n, pid);
        for (size_t k = 0; k < n && rc == 0; k++) {
            put_slice(&b, &s[k], pid, s[k].id, s[k].to);
            if (s[k].began > s[k].from) put_slice(&b, &s[k], pid, "start-up", s[k].began);
            if (b.len > 1 << 16) rc = flush(&b, t->to, e);
        }
    }
    if (t->left_out) {
        const int64_t pid = ((int64_t)t->policy + 1) * 100000000; /* no card's: of the policy */
        put_name(&b, "process_name", pid, 0, plan->spec->name);
        strbuf_addf(
            &b,
            ",\n{\"name\":\"left out: %llu\",\"ph\":\"i\",\"s\":\"g\",\"ts\":0,\"pid\":%lld,"
            "\"tid\":0}",
            (unsigned long long)t->left_out, (long long)pid);
    }
    if (rc == 0) rc = flush(&b, t->to, e);
    strbuf_fini(&b);
    return rc;
}
