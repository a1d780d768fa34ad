#include "whatif/grid.h"

#include "base/dec.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/vec.h"

#include <gsl/gsl_qrng.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 9 /* of linear ranges: exact decimals */ };

typedef VEC(const char *) texts;

/* An axis as it was written. */
struct source {
    bool open; /* any number from low to high: no list of values */
    bool ratios;
    double low, high;
    const char *unit;
};

struct reader {
    struct arena *a;
    const char *option, *path;
    texts *out;
    struct source *source;
    struct err *e;
};

static int refuse(const struct reader *r, const char *item, const char *why)
{
    return err_set(r->e, ERR_USAGE, NULL, "%s %s: '%s': %s", r->option, r->path, item, why);
}

static int add(const struct reader *r, const char *value)
{
    if (r->out->n >= GRID_MAX_POINTS) return refuse(r, value, "more than 1000000 values");
    vec_push(r->out, value);
    return 0;
}

/* A number and the unit behind it. */
struct end {
    double value;
    int64_t fixed; /* x 10^DIGITS */
    const char *unit;
    bool is_fixed;
};

static bool read_end(struct end *out, const char *s)
{
    const size_t len = strspn(s, "+-0123456789.eE");
    if (len == 0 || dec_double(s, len, &out->value) != DEC_OK) return false;
    out->is_fixed = dec_fixed_exact(s, len, DIGITS, &out->fixed) == DEC_OK;
    out->unit = s + len;
    return true;
}

static int linear(const struct reader *r, const char *item, const struct end *a,
                  const struct end *b, const struct end *step)
{
    char number[48];
    int rc = 0;
    if (!a->is_fixed || !b->is_fixed || !step->is_fixed)
        return refuse(r, item, "expected at most 9 decimals, below 9.2e9");
    if (step->fixed <= 0) return refuse(r, item, "expected a step above 0");
    if ((double)(b->fixed - a->fixed) / (double)step->fixed >= GRID_MAX_POINTS)
        return refuse(r, item, "more than 1000000 values");
    for (int64_t v = a->fixed; rc == 0; v += step->fixed) {
        dec_print(number, sizeof number, v, DIGITS);
        rc = add(r, arena_printf(r->a, "%s%s", number, a->unit));
        if (v > b->fixed - step->fixed) break;
    }
    return rc;
}

static int geometric(const struct reader *r, const char *item, const struct end *a,
                     const struct end *b, const char *how)
{
    const bool by_factor = how[0] == 'x';
    const char *text = how + (by_factor ? 1 : 3);
    double number;
    int rc = 0;
    if (!(a->value > 0)) return refuse(r, item, "a range in equal ratios starts above 0");
    if (dec_double(text, strlen(text), &number) != DEC_OK ||
        (by_factor ? number <= 1 : number < 2 || number > 1e6 || number != floor(number)))
        return refuse(r, item,
                      by_factor ? "expected :xF with a factor F above 1"
                                : "expected :logN with a whole number N from 2");
    const double steps =
        by_factor ? floor(log(b->value / a->value) / log(number) + 1e-9) : number - 1;
    const double ratio = by_factor ? number : pow(b->value / a->value, 1 / steps);
    if (!by_factor && b->value <= a->value) return refuse(r, item, "the range is empty");
    for (size_t i = 0; (double)i <= steps && rc == 0; i++) {
        const double k = (double)i;
        const double v = !by_factor && k == steps ? b->value : a->value * pow(ratio, k);
        rc = add(r, arena_printf(r->a, "%.10g%s", v, a->unit));
    }
    return rc;
}

/* a..b:any, a..b:anylog */
static int open_range(const struct reader *r, const char *item, const struct end *a,
                      const struct end *b, const char *how)
{
    const bool ratios = strcmp(how, "anylog") == 0;
    if (!ratios && strcmp(how, "any") != 0)
        return refuse(r, item, "expected :any or :anylog, or a step after the colon");
    if (r->out->n > 0 || r->source->open) return refuse(r, item, "such a range stands alone");
    if (ratios && !(a->value > 0)) return refuse(r, item, "a range in equal ratios starts above 0");
    if (b->value <= a->value) return refuse(r, item, "the range is empty");
    *r->source = (struct source){ true, ratios, a->value, b->value, a->unit };
    return 0;
}

/* a..b, a..b:step, a..b:xF, a..b:logN, a..b:any */
static int range(const struct reader *r, const char *item, const char *dots)
{
    const char *from = arena_strndup(r->a, item, (size_t)(dots - item));
    char *to = arena_strdup(r->a, dots + 2), *how = strchr(to, ':');
    struct end a, b, step = { .value = 1, .fixed = 1000000000, .is_fixed = true, .unit = "" };
    if (how) *how++ = '\0';
    if (!read_end(&a, from) || !read_end(&b, to))
        return refuse(r, item, "expected numbers at both ends of a range such as 1..8:2");
    if (strcmp(a.unit, b.unit) != 0)
        return refuse(r, item, "expected the same unit at both ends, such as 1 ms..4 ms");
    if (b.value < a.value) return refuse(r, item, "the range is empty");
    if (how && how[0] == 'a') return open_range(r, item, &a, &b, how);
    if (how && (how[0] == 'x' || strncmp(how, "log", 3) == 0))
        return geometric(r, item, &a, &b, how);
    if (how && (!read_end(&step, how) || (step.unit[0] && strcmp(step.unit, a.unit) != 0)))
        return refuse(r, item, "expected a step after the colon: a number, xFACTOR or logCOUNT");
    return linear(r, item, &a, &b, &step);
}

static int read_item(const struct reader *r, const char *item)
{
    if (!*item) return refuse(r, item, "an empty value");
    if (r->source->open) return refuse(r, item, "a range of any number stands alone");
    const char *dots = strstr(item, "..");
    return dots && !strpbrk(item, "/[{\"") ? range(r, item, dots) : add(r, item);
}

/* Where the item ends: at a comma outside brackets and quotes. */
static size_t item_length(const char *s)
{
    int depth = 0;
    bool quoted = false;
    size_t i = 0;
    for (; s[i]; i++) {
        if (quoted && s[i] == '\\' && s[i + 1])
            i++;
        else if (s[i] == '"')
            quoted = !quoted;
        else if (quoted)
            continue;
        else if (s[i] == '[' || s[i] == '{')
            depth++;
        else if (s[i] == ']' || s[i] == '}')
            depth--;
        else if (s[i] == ',' && depth == 0)
            break;
    }
    return i;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_different(const struct reader *r)
{
    const size_t n = r->out->n;
    const char **sorted = arena_array(r->a, n, sizeof *sorted);
    if (n > 0) memcpy(sorted, r->out->v, n * sizeof *sorted);
    if (n > 0) qsort(sorted, n, sizeof *sorted, by_text);
    for (size_t i = 1; i < n; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return refuse(r, sorted[i], "the value is there twice");
    return 0;
}

static int read_axis(struct axis *out, struct source *source, struct arena *a, const char *option,
                     const char *text, struct err *e)
{
    const char *eq = strchr(text, '=');
    texts values = { 0 };
    int rc = 0;
    if (!eq || eq == text)
        return err_set(e, ERR_USAGE, NULL, "%s: expected PATH=V1,V2,..., found '%s'", option, text);
    *source = (struct source){ 0 };
    const struct reader r = { a,       option, arena_strndup(a, text, (size_t)(eq - text)),
                              &values, source, e };
    for (const char *s = eq + 1; rc == 0; s++) {
        const size_t len = item_length(s);
        rc = read_item(&r, arena_strndup(a, s, len));
        s += len;
        if (!*s) break;
    }
    if (rc == 0) rc = check_different(&r);
    *out = (struct axis){ r.path, arena_array(a, values.n, sizeof *out->value), values.n,
                          source->open };
    if (values.n) memcpy(out->value, values.v, values.n * sizeof *values.v);
    vec_fini(&values);
    return rc;
}

/* ---- designs ---- */

enum kind { CROSS, ZIP, LHS, SOBOL };

struct design {
    enum kind kind;
    size_t n;
    uint64_t seed;
};

static int read_design(struct design *out, const char *text, struct err *e)
{
    static const struct {
        const char *name;
        enum kind kind;
    } known[] = { { "cross", CROSS }, { "zip", ZIP }, { "lhs:", LHS }, { "sobol:", SOBOL } };
    *out = (struct design){ .kind = CROSS, .seed = 1 };
    for (size_t i = 0; text && i < sizeof known / sizeof *known; i++) {
        const size_t len = strlen(known[i].name);
        const bool sampled = known[i].kind == LHS || known[i].kind == SOBOL;
        if (strncmp(text, known[i].name, sampled ? len : len + 1) != 0) continue;
        out->kind = known[i].kind;
        if (!sampled) return 0;
        uint64_t n;
        const char *colon = strchr(text + len, ':');
        const size_t digits = colon ? (size_t)(colon - text) - len : strlen(text + len);
        if (dec_u64(text + len, digits, &n) != DEC_OK || n < 1 || n > GRID_MAX_POINTS ||
            (colon &&
             (out->kind != LHS || dec_u64(colon + 1, strlen(colon + 1), &out->seed) != DEC_OK)))
            break;
        out->n = (size_t)n;
        return 0;
    }
    if (!text) return 0;
    return err_set(e, ERR_USAGE, NULL,
                   "--design: expected cross, zip, lhs:N, lhs:N:SEED or sobol:N with N from 1 to "
                   "%d, found '%s'",
                   GRID_MAX_POINTS, text);
}

static int cross(struct grid *g, struct err *e)
{
    for (size_t i = 0; i < g->n_axes; i++) {
        if (g->n_points > GRID_MAX_POINTS / g->axis[i].n)
            return err_set(e, ERR_USAGE, NULL, "more than %d points", GRID_MAX_POINTS);
        g->n_points *= g->axis[i].n;
    }
    return 0;
}

static int zip(struct grid *g, struct err *e)
{
    for (size_t i = 1; i < g->n_axes; i++)
        if (g->axis[i].n != g->axis[0].n)
            return err_set(e, ERR_USAGE, NULL,
                           "--design zip: '%s' has %zu values and '%s' has %zu: expected as many",
                           g->axis[0].path, g->axis[0].n, g->axis[i].path, g->axis[i].n);
    g->n_points = g->axis[0].n;
    return 0;
}

/* What stands at the share u in [0, 1) of an axis. */
static const char *value_at(const struct axis *x, const struct source *s, double u, struct arena *a)
{
    if (!s->open) {
        const size_t i = (size_t)(u * (double)x->n);
        return x->value[i < x->n ? i : x->n - 1];
    }
    return arena_printf(
        a, "%.10g%s",
        s->ratios ? s->low * pow(s->high / s->low, u) : s->low + (s->high - s->low) * u, s->unit);
}

/* u[point x axes + axis]: each axis meets each of n equal parts once, at a random place in it. */
static void latin_hypercube(double *u, const struct grid *g, const struct design *d)
{
    gsl_rng *r = rng_create(d->seed, 0, "sweep.lhs");
    size_t *part = xcalloc(d->n, sizeof *part);
    for (size_t i = 0; i < g->n_axes; i++) {
        for (size_t k = 0; k < d->n; k++) part[k] = k;
        gsl_ran_shuffle(r, part, d->n, sizeof *part);
        for (size_t k = 0; k < d->n; k++)
            u[k * g->n_axes + i] = ((double)part[k] + gsl_rng_uniform(r)) / (double)d->n;
    }
    free(part);
    gsl_rng_free(r);
}

static void sobol(double *u, const struct grid *g, const struct design *d)
{
    gsl_qrng *q = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)g->n_axes);
    if (!q) out_of_memory();
    for (size_t k = 0; k < d->n; k++) gsl_qrng_get(q, u + k * g->n_axes);
    gsl_qrng_free(q);
}

static void sample(struct grid *g, const struct source *source, const struct design *d,
                   struct arena *a)
{
    double *u = xcalloc(d->n * g->n_axes, sizeof *u);
    if (d->kind == LHS)
        latin_hypercube(u, g, d);
    else
        sobol(u, g, d);
    for (size_t i = 0; i < g->n_axes; i++) {
        const char **value = arena_array(a, d->n, sizeof *value);
        for (size_t k = 0; k < d->n; k++)
            value[k] = value_at(&g->axis[i], &source[i], u[k * g->n_axes + i], a);
        g->axis[i].value = value;
        g->axis[i].n = d->n;
    }
    g->n_points = d->n;
    free(u);
}

int grid_parse(struct grid *out, struct arena *a, const char *option, const char *const *vary,
               size_t n, const char *design, struct err *e)
{
    struct source source[GRID_MAX_AXES];
    struct design d;
    *out = (struct grid){ .n_points = 1 };
    int rc = read_design(&d, design, e);
    if (rc != 0) return rc;
    if (n == 0 && d.kind != CROSS)
        return err_set(e, ERR_USAGE, NULL, "--design %s: nothing is varied: %s PATH=V1,V2,..",
                       design, option);
    if (n > GRID_MAX_AXES)
        return err_set(e, ERR_USAGE, NULL, "%s: at most %d axes", option, GRID_MAX_AXES);
    for (size_t i = 0; i < n; i++) {
        struct axis *x = &out->axis[out->n_axes++];
        if ((rc = read_axis(x, &source[i], a, option, vary[i], e)) != 0) return rc;
        for (size_t k = 0; k < i; k++)
            if (strcmp(out->axis[k].path, x->path) == 0)
                return err_set(e, ERR_USAGE, NULL, "%s: '%s' is varied twice", option, x->path);
        if (source[i].open && d.kind < LHS)
            return err_set(e, ERR_USAGE, NULL,
                           "%s %s: a range of any number needs --design lhs:N or sobol:N", option,
                           x->path);
    }
    out->paired = d.kind != CROSS;
    if (!out->paired) return cross(out, e);
    if (d.kind == ZIP) return zip(out, e);
    sample(out, source, &d, a);
    return 0;
}

const char *grid_value(const struct grid *g, size_t point, size_t axis)
{
    if (g->paired) return g->axis[axis].value[point];
    for (size_t i = g->n_axes; --i > axis;) point /= g->axis[i].n;
    return g->axis[axis].value[point % g->axis[axis].n];
}

const char **grid_set(const struct grid *g, size_t point, struct arena *a)
{
    const char **set = arena_array(a, g->n_axes, sizeof *set);
    for (size_t i = 0; i < g->n_axes; i++)
        set[i] = arena_printf(a, "%s=%s", g->axis[i].path, grid_value(g, point, i));
    return set;
}

/* ---- shards ---- */

/* A whole number from the environment; false when unset. */
static bool environment(const char *name, uint64_t *out, int *rc, struct err *e)
{
    const char *s = getenv(name);
    if (!s || !*s) return false;
    if (dec_u64(s, strlen(s), out) == DEC_OK) return true;
    *rc = err_set(e, ERR_USAGE, NULL, "%s: expected a whole number, found '%s'", name, s);
    return false;
}

static int make(struct shard *out, uint64_t index, uint64_t count, const char *what, struct err *e)
{
    if (count == 0 || index > count || count > GRID_MAX_POINTS)
        return err_set(e, ERR_USAGE, NULL,
                       "%s: expected I/N with I from 1 to N (0 stands for N), found %llu/%llu",
                       what, (unsigned long long)index, (unsigned long long)count);
    *out = (struct shard){ (size_t)(index ? index : count), (size_t)count };
    return 0;
}

int shard_parse(struct shard *out, const char *text, const char **from, struct err *e)
{
    static const char slurm[] = "SLURM_ARRAY_TASK_ID", kube[] = "JOB_COMPLETION_INDEX";
    uint64_t index, count, min = 0, step = 1;
    const char *ignored;
    int rc = 0;
    if (!from) from = &ignored;
    *out = (struct shard){ 1, 1 };
    *from = NULL;
    if (text) {
        const char *slash = strchr(text, '/');
        *from = "--shard";
        if (!slash || dec_u64(text, (size_t)(slash - text), &index) != DEC_OK ||
            dec_u64(slash + 1, strlen(slash + 1), &count) != DEC_OK)
            return err_set(e, ERR_USAGE, NULL, "--shard: expected I/N such as 1/8, found '%s'",
                           text);
        return make(out, index, count, *from, e);
    }
    if (environment(slurm, &index, &rc, e) &&
        environment("SLURM_ARRAY_TASK_COUNT", &count, &rc, e)) {
        environment("SLURM_ARRAY_TASK_MIN", &min, &rc, e);
        environment("SLURM_ARRAY_TASK_STEP", &step, &rc, e);
        *from = slurm;
        if (rc == 0 && (index < min || step == 0))
            return err_set(e, ERR_USAGE, NULL, "%s is below SLURM_ARRAY_TASK_MIN", slurm);
        return rc ? rc : make(out, (index - min) / step + 1, count, slurm, e);
    }
    if (rc == 0 && environment(kube, &index, &rc, e)) {
        *from = kube;
        if (environment("JOB_COMPLETION_COUNT", &count, &rc, e))
            return make(out, index + 1, count, kube, e);
        if (rc != 0) return rc;
        rc = err_set(e, ERR_USAGE, NULL, "%s is set, but not the number of shards", kube);
        err_hint(e, "set JOB_COMPLETION_COUNT to the job's completions, or give --shard I/N");
    }
    return rc;
}

int shard_has(const struct shard *s, size_t i)
{
    return i % s->count == s->index - 1;
}
