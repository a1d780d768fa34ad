/* whatif/valid_gavel.c - two training jobs on one card, against Gavel's pairs on K80, P100 and V100.
 *
 * Two measurement campaigns that are never mixed: every fit is of one campaign and one card.
 *   "sim K80"            both jobs known from other pairs (model/colocation.h). A pair of the shipped
 *                        rows is predicted by a fit without the tenth of the pairs it belongs to; a
 *                        pair that is not among them by a fit of all.
 *   "..., counters"      neither job known from any pair: counters of each alone, fitted without every
 *                        pair that holds either job.
 *   "..., class default" nothing known: the class signature through the policy that the campaign
 *                        behaves like (time slicing on K80 and sim P100, MPS elsewhere).
 * Rows that did not run are left out; a row clipped at the isolated speed is a lower bound: it helps
 * the fit and is not scored. */
#include "base/datadir.h"
#include "base/dec.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/symtab.h"
#include "model/colocation.h"
#include "whatif/measured.h"
#include "whatif/validate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 10, FULL = FOLDS, MAX_CAMPAIGNS = 32 };

struct pair_row {
    const char *set, *gpu, *job_a, *batch_a, *job_b, *batch_b, *flags;
    double iso_a, iso_b, norm_a, norm_b;
    sym a, b;
};
static const struct measured_column columns[] = {
    MEASURED_TEXT(struct pair_row, set, "set"),
    MEASURED_TEXT(struct pair_row, gpu, "gpu"),
    MEASURED_TEXT(struct pair_row, job_a, "job_a"),
    MEASURED_TEXT(struct pair_row, batch_a, "batch_a"),
    MEASURED_TEXT(struct pair_row, job_b, "job_b"),
    MEASURED_TEXT(struct pair_row, batch_b, "batch_b"),
    MEASURED_TEXT(struct pair_row, flags, "flags"),
    MEASURED_NUMBER(struct pair_row, iso_a, "iso_a_steps_s", 1e-9, 1e9),
    MEASURED_NUMBER(struct pair_row, iso_b, "iso_b_steps_s", 1e-9, 1e9),
    MEASURED_OPTIONAL(struct pair_row, norm_a, "norm_a", 0, 2),
    MEASURED_OPTIONAL(struct pair_row, norm_b, "norm_b", 0, 2),
};
typedef VEC(struct pair_row) pair_rows;

struct campaign {
    const char *set, *gpu;
    VEC(struct colocation_pair) pair; /* both sides of every row that ran */
    VEC(unsigned) fold;               /* of each of them */
    struct colocation *fit[FOLDS + 1];
    double constant[FOLDS + 1];
    struct job_counters *job; /* by symbol */
    double class_speed[2];    /* policy's answer for two jobs of class training; NAN */
};

struct study {
    const struct world *world;
    struct arena *arena;
    struct symtab *jobs, *programs;
    VEC(struct colocation_job) kin; /* by symbol of the job */
    pair_rows known, asked;
    struct campaign campaign[MAX_CAMPAIGNS];
    size_t campaigns;
};

static bool has_flag(const struct pair_row *r, const char *flag)
{
    return strstr(r->flags, flag) != NULL;
}

static bool ran(const struct pair_row *r)
{
    return !has_flag(r, "did_not_run") && r->norm_a > 0 && r->norm_b > 0; /* false for NAN */
}

/* The symbol of a job, and whose kin it is. */
static sym job_of(struct study *s, const char *program, const char *batch)
{
    const sym job = symtab_addz(s->jobs, arena_printf(s->arena, "%s/%s", program, batch));
    double size = 0;
    if (dec_double(batch, strlen(batch), &size) != DEC_OK || size < 1) size = 1;
    while (s->kin.n <= job) vec_push(&s->kin, ((struct colocation_job){ 0 }));
    s->kin.v[job] = (struct colocation_job){ symtab_addz(s->programs, program), log2(size) };
    return job;
}

static int read_rows(struct study *s, const char *path, pair_rows *out, struct err *e)
{
    struct measured *m = NULL;
    struct pair_row r;
    int rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, s->arena, e);
    while (rc == 0 && (rc = measured_next(m, &r, e)) > 0) {
        r.a = job_of(s, r.job_a, r.batch_a);
        r.b = job_of(s, r.job_b, r.batch_b);
        vec_push(out, r);
        rc = 0;
    }
    measured_close(m);
    return rc;
}

static struct campaign *campaign_of(struct study *s, const struct pair_row *r)
{
    for (size_t i = 0; i < s->campaigns; i++) {
        struct campaign *c = &s->campaign[i];
        if (strcmp(c->set, r->set) == 0 && strcmp(c->gpu, r->gpu) == 0) return c;
    }
    return NULL;
}

static struct campaign *campaign_add(struct study *s, const struct pair_row *r)
{
    struct campaign *c = campaign_of(s, r);
    if (c || s->campaigns == MAX_CAMPAIGNS) return c;
    c = &s->campaign[s->campaigns++];
    c->set = r->set;
    c->gpu = r->gpu;
    return c;
}

/* FNV-1a over the two names in either order, so that a pair stays in its fold in any file. */
static unsigned fold_of(const struct study *s, sym a, sym b)
{
    uint64_t h[2];
    for (int k = 0; k < 2; k++) {
        h[k] = 14695981039346656037u;
        for (const char *p = symtab_name(s->jobs, k ? b : a); *p; p++)
            h[k] = (h[k] ^ (unsigned char)*p) * 1099511628211u;
    }
    return (unsigned)(((h[0] + h[1]) >> 17) % FOLDS);
}

static void learn(struct study *s, struct campaign *c, const struct pair_row *r)
{
    if (!ran(r)) return;
    const bool clipped = has_flag(r, "capped_at_isolated");
    const struct colocation_pair side[2] = {
        { r->a, r->b, r->norm_a, clipped && r->norm_a > 0.9999 },
        { r->b, r->a, r->norm_b, clipped && r->norm_b > 0.9999 },
    };
    const unsigned fold = fold_of(s, r->a, r->b);
    for (int k = 0; k < (r->a == r->b ? 1 : 2); k++) {
        vec_push(&c->pair, side[k]);
        vec_push(&c->fold, fold);
    }
}

static double isolated(const struct study *s, const char *set, const char *gpu, sym job)
{
    const pair_rows *const from[] = { &s->known, &s->asked };
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < from[k]->n; i++) {
            const struct pair_row *r = &from[k]->v[i];
            if (strcmp(r->set, set) != 0 || strcmp(r->gpu, gpu) != 0) continue;
            if (r->a == job) return r->iso_a;
            if (r->b == job) return r->iso_b;
        }
    return NAN;
}

/* A job that is not known on both the fastest and the slowest card gains as the median one. */
static void count_alone(struct study *s, struct campaign *c)
{
    const size_t n = symtab_count(s->jobs);
    double sum = 0, known = 0;
    c->job = arena_array(s->arena, n, sizeof *c->job);
    for (sym j = 1; j < n; j++) {
        c->job[j].step_s = 1 / isolated(s, c->set, c->gpu, j);
        c->job[j].gain = isolated(s, c->set, "V100", j) / isolated(s, c->set, "K80", j);
        if (isnan(c->job[j].gain)) continue;
        sum += log(c->job[j].gain);
        known++;
    }
    for (sym j = 1; j < n; j++)
        if (isnan(c->job[j].gain)) c->job[j].gain = known > 0 ? exp(sum / known) : 1;
}

static void ask_policy(struct study *s, struct campaign *c)
{
    static const char *const cards[][2] = { { "K80", "k80" },
                                            { "P100", "p100-pcie-16gb" },
                                            { "V100", "v100-sxm2-16gb" } };
    const struct signature *training = s->world->works.class_default[CLASS_training];
    const struct signature *both[] = { training, training };
    struct valid_share share;
    const char *card = c->gpu;
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        if (strcmp(c->gpu, cards[i][0]) == 0) card = cards[i][1];
    const bool slices =
        strcmp(c->gpu, "K80") == 0 || (strcmp(c->gpu, "P100") == 0 && strcmp(c->set, "sim") == 0);
    struct err unheard = { 0 }; /* a card outside the catalogue: no answer */
    c->class_speed[0] = NAN;
    if (training && valid_share_bind(&share, s->world, s->arena, slices ? "timeslice" : "mps", card,
                                     slices ? NULL : "{\"cap\": 1}", &unheard) == 0)
        valid_share_speeds(&share, both, NULL, 2, c->class_speed);
}

/* The fit without one fold, or of everything. Made when first asked for. */
static const struct colocation *fit_of(struct study *s, struct campaign *c, unsigned without)
{
    if (c->fit[without]) return c->fit[without];
    struct colocation_pair *rest = xcalloc(c->pair.n + 1, sizeof *rest);
    size_t n = 0, plain = 0;
    double sum = 0;
    for (size_t i = 0; i < c->pair.n; i++) {
        if (c->fold.v[i] == without) continue;
        rest[n++] = c->pair.v[i];
        if (c->pair.v[i].at_least) continue;
        sum += log(c->pair.v[i].norm);
        plain++;
    }
    c->constant[without] = plain > 0 ? exp(sum / (double)plain) : NAN;
    c->fit[without] = arena_alloc(s->arena, sizeof *c->fit[without]);
    colocation_fit(c->fit[without], s->arena, s->kin.v, s->kin.n, rest, n);
    free(rest);
    return c->fit[without];
}

static bool knows_pair(const struct campaign *c, sym a, sym b)
{
    for (size_t i = 0; i < c->pair.n; i++)
        if (c->pair.v[i].a == a && c->pair.v[i].b == b) return true;
    return false;
}

static double by_counters(const struct campaign *c, sym a, sym b)
{
    struct colocation_counters fit;
    bool *leave = xcalloc(c->pair.n + 1, sizeof *leave);
    for (size_t i = 0; i < c->pair.n; i++) {
        const struct colocation_pair *p = &c->pair.v[i];
        leave[i] = p->a == a || p->a == b || p->b == a || p->b == b;
    }
    const bool ok = colocation_counters_fit(&fit, c->job, c->pair.v, leave, c->pair.n);
    free(leave);
    return ok ? colocation_counters_norm(&fit, &c->job[a], &c->job[b]) : NAN;
}

static void predict_row(struct study *s, const struct pair_row *r, valid_rows *out)
{
    struct campaign *c = campaign_of(s, r);
    if (!c || !ran(r) || has_flag(r, "capped_at_isolated")) return;
    const unsigned without = knows_pair(c, r->a, r->b) ? fold_of(s, r->a, r->b) : FULL;
    const struct colocation *fit = fit_of(s, c, without);
    const char *name = arena_printf(s->arena, "%s %s", c->set, c->gpu);
    for (int k = 0; k < (r->a == r->b ? 1 : 2); k++) {
        const sym a = k ? r->b : r->a, b = k ? r->a : r->b;
        struct valid_row row = {
            .group = name,
            .label = arena_printf(s->arena, "%s %s beside %s", name, symtab_name(s->jobs, a),
                                  symtab_name(s->jobs, b)),
            .measured = k ? r->norm_b : r->norm_a,
            .predicted = colocation_norm(fit, a, b),
            .naive = c->constant[without],
        };
        vec_push(out, row);
        row.aside = true;
        row.group = arena_printf(s->arena, "%s, counters", name);
        row.predicted = by_counters(c, a, b);
        vec_push(out, row);
        row.group = arena_printf(s->arena, "%s, class default", name);
        row.predicted = c->class_speed[0];
        vec_push(out, row);
    }
}

static int study_build(struct study *s, const char *path, struct err *e)
{
    char shipped[4096];
    datadir_path(shipped, sizeof shipped, "measured/colocation_gavel.csv");
    int rc = read_rows(s, path, &s->asked, e);
    if (rc == 0) rc = read_rows(s, shipped, &s->known, e);
    if (rc < 0) return rc;
    for (size_t i = 0; i < s->known.n; i++) {
        struct campaign *c = campaign_add(s, &s->known.v[i]);
        if (c) learn(s, c, &s->known.v[i]);
    }
    /* A campaign of the user's own has nothing but its own rows to learn from. */
    const size_t shipped_campaigns = s->campaigns;
    for (size_t i = 0; i < s->asked.n; i++) {
        struct campaign *c = campaign_add(s, &s->asked.v[i]);
        if (c && c >= s->campaign + shipped_campaigns) learn(s, c, &s->asked.v[i]);
    }
    for (size_t i = 0; i < s->campaigns; i++) {
        count_alone(s, &s->campaign[i]);
        ask_policy(s, &s->campaign[i]);
    }
    return 0;
}

static int predict(const struct world *w, const char *path, struct arena *a, valid_rows *out,
                   struct err *e)
{
    struct study *s = xcalloc(1, sizeof *s);
    s->world = w;
    s->arena = a;
    s->jobs = symtab_create();
    s->programs = symtab_create();
    const int rc = study_build(s, path, e);
    for (size_t i = 0; rc == 0 && i < s->asked.n; i++) predict_row(s, &s->asked.v[i], out);
    for (size_t i = 0; i < s->campaigns; i++) {
        vec_fini(&s->campaign[i].pair);
        vec_fini(&s->campaign[i].fold);
    }
    vec_fini(&s->known);
    vec_fini(&s->asked);
    vec_fini(&s->kin);
    symtab_destroy(s->jobs);
    symtab_destroy(s->programs);
    free(s);
    return rc;
}

static const struct valid_bar bars[] = {
    { "sim K80", VALID_MAPE, 0.08 },
    { "oracle K80", VALID_MAPE, 0.08 },
    { "sim P100", VALID_MAPE, 0.08 },
    { "oracle P100", VALID_MAPE, 0.08 },
    { "oracle V100", VALID_MAPE, 0.12 },
    { "sim V100", VALID_MAPE, 0.12 },
    /* counters alone still say more than a constant */
    { "sim K80, counters", VALID_OF_NAIVE, 1 },
    { "oracle K80, counters", VALID_OF_NAIVE, 1 },
    { "sim P100, counters", VALID_OF_NAIVE, 1 },
    { "oracle P100, counters", VALID_OF_NAIVE, 1 },
    { "oracle V100, counters", VALID_OF_NAIVE, 1 },
    { "sim V100, counters", VALID_OF_NAIVE, 1 },
};

const struct valid_set valid_gavel = {
    .name = "gavel",
    .help = "speed of two training jobs on one card, as a share of each alone",
    .file = "colocation_gavel.csv",
    .reference = "colocation_gavel.csv",
    .naive = "one constant for each campaign and card",
    .unit = "of the speed alone",
    .policies = "timeslice mps",
    .as_run = ", class default",
    .bars = bars,
    .n_bars = sizeof bars / sizeof *bars,
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .note = "the worst card is sim V100: jobs there fall into groups that slow each other up to "
            "sevenfold (recommendation beside recommendation 0.17, beside ResNet-50 0.12), and a "
            "fifth of its rows were clipped at isolated speeds that the source measured too low. "
            "Counters of each job alone (time of a step, gain on a faster card) cannot see those "
            "groups and beat the constant there by little",
    .predict = predict,
};
