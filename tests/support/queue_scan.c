#include "support/queue_scan.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct scan {
    struct scan_job *j;
    size_t *waiting, *running;
    size_t n_waiting, n_running;
    int free;
    int64_t now;
};

static bool before(const struct scan_job *j, size_t a, size_t b)
{
    return j[a].rank != j[b].rank ? j[a].rank < j[b].rank : a < b;
}

static void arrive(struct scan *s, size_t job)
{
    size_t at = s->n_waiting++;
    for (; at > 0 && before(s->j, job, s->waiting[at - 1]); at--)
        s->waiting[at] = s->waiting[at - 1];
    s->waiting[at] = job;
}

static void start(struct scan *s, size_t at)
{
    const size_t job = s->waiting[at];
    memmove(s->waiting + at, s->waiting + at + 1, (--s->n_waiting - at) * sizeof *s->waiting);
    s->running[s->n_running++] = job;
    s->free -= s->j[job].cards;
    s->j[job].start = s->now;
}

static void end_all(struct scan *s)
{
    for (size_t i = 0; i < s->n_running;) {
        const struct scan_job *j = &s->j[s->running[i]];
        if (j->start + j->run > s->now) {
            i++;
            continue;
        }
        s->free += j->cards;
        s->running[i] = s->running[--s->n_running];
    }
}

/* When the head fits if all end at their limits, and what it leaves then; -1: never. */
static int64_t reservation(const struct scan *s, const struct scan_job *head, int *spare)
{
    int64_t when = s->now;
    for (;;) {
        int free = s->free;
        int64_t next = INT64_MAX;
        for (size_t i = 0; i < s->n_running; i++) {
            const struct scan_job *j = &s->j[s->running[i]];
            const int64_t end = j->limit < 0 ? INT64_MAX : j->start + j->limit;
            if (end <= when)
                free += j->cards;
            else if (end < next)
                next = end;
        }
        *spare = free - head->cards;
        if (*spare >= 0) return when;
        if (next == INT64_MAX) return -1;
        when = next;
    }
}

static void decide(struct scan *s, enum scan_rule rule)
{
    int spare = 0;
    while (s->n_waiting > 0 && s->j[s->waiting[0]].cards <= s->free) start(s, 0);
    if (rule == SCAN_STRICT || s->n_waiting < 2) return;
    const int64_t when = rule == SCAN_EASY ? reservation(s, &s->j[s->waiting[0]], &spare) : 0;
    if (when < 0) return;
    for (size_t at = 1; at < s->n_waiting;) {
        const struct scan_job *j = &s->j[s->waiting[at]];
        const bool brief = rule == SCAN_ALL || s->now + j->limit <= when;
        if (j->cards > s->free || (rule == SCAN_EASY && j->limit < 0) ||
            (!brief && j->cards > spare)) {
            at++;
            continue;
        }
        if (!brief) spare -= j->cards;
        start(s, at);
    }
}

void queue_scan(struct scan_job *j, size_t n, int cards, enum scan_rule rule)
{
    struct scan s = { .j = j, .free = cards };
    size_t next = 0;
    s.waiting = xcalloc(n + 1, sizeof *s.waiting);
    s.running = xcalloc(n + 1, sizeof *s.running);
    while (next < n || s.n_running > 0) {
        s.now = next < n ? j[next].submit : INT64_MAX;
        for (size_t i = 0; i < s.n_running; i++) {
            const int64_t end = j[s.running[i]].start + j[s.running[i]].run;
            if (end < s.now) s.now = end;
        }
        end_all(&s);
        while (next < n && j[next].submit == s.now) arrive(&s, next++);
        decide(&s, rule);
    }
    free(s.waiting);
    free(s.running);
}
