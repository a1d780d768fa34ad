#include "whatif/size.h"

#include "base/dec.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

enum { LOOK_AROUND = 2 };

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

/* Is there a value that both allow? Ranges that meet share a limit, a place just beyond one or the
 * middle. */
static bool agree(const struct slo *a, const struct slo *b)
{
    const double low = fmin(a->limit, b->limit), high = fmax(a->limit, b->limit);
    const double x[] = { low, high, low / 2 + high / 2, nextafter(low, -INFINITY),
                         nextafter(high, INFINITY) };
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (slo_holds(a, x[i]) && slo_holds(b, x[i])) return true;
    return false;
}

int slo_check(const struct slo *s, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(s[i].path, s[k].path) == 0 && !agree(&s[k], &s[i]))
                return err_set(e, ERR_USAGE, NULL, "--slo: no value meets both '%s' and '%s'",
                               s[k].text, s[i].text);
    return 0;
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

/* ---- nines ---- */

static const char *const nines[] = { "p90", "p99", "p999" };
static const char *const percentiles[] = { "p50", "p90", "p95", "p99", "p999" };

const char *slo_percentile(const struct slo *s)
{
    const char *dot = strrchr(s->path, '.');
    for (size_t i = 0; dot && i < sizeof percentiles / sizeof *percentiles; i++)
        if (strcmp(dot + 1, percentiles[i]) == 0) return percentiles[i];
    return NULL;
}

bool slo_nines(const struct slo *s, size_t level, struct arena *a, struct slo *out)
{
    static const double shares[] = { 0.9, 0.99, 0.999 };
    const char *dot = strrchr(s->path, '.');
    const bool below = s->op == SLO_LE || s->op == SLO_LT,
               above = s->op == SLO_GE || s->op == SLO_GT;
    if (level >= SIZE_NINES || !dot) return false;
    *out = *s;
    if (below && slo_percentile(s)) {
        out->path = arena_printf(a, "%.*s%s", (int)(dot + 1 - s->path), s->path, nines[level]);
        out->text = arena_printf(a, "%s%s", out->path,
                                 s->text + strcspn(s->text, "<>=!")); /* as it was written */
        return true;
    }
    if (above && strcmp(dot, ".attainment") == 0) {
        out->limit = shares[level];
        out->text = arena_printf(a, "%s%s%g", s->path, s->op == SLO_GE ? ">=" : ">", shares[level]);
        return true;
    }
    return false;
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

/* Runs of trials that meet below one that does not, and of those that do not above one that
 * does. */
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
