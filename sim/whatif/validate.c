#include "whatif/validate.h"

#include "base/datadir.h"
#include "base/mem.h"
#include "base/str.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- sets and their data ---- */

const struct valid_set *valid_find(const char *name, const char **nearest)
{
    const char *names[64];
    size_t n = 0;
    for (; n < 64 && valid_all[n]; n++) {
        if (strcmp(valid_all[n]->name, name) == 0) return valid_all[n];
        names[n] = valid_all[n]->name;
    }
    if (nearest) *nearest = str_nearest(name, names, n);
    return NULL;
}

const char *valid_data(const struct valid_set *s, struct arena *a)
{
    char path[4096];
    const char *shared = getenv("GPUSIM_SHARED");
    if (s->file) {
        datadir_path(path, sizeof path, arena_printf(a, "measured/%s", s->file));
        if (access(path, R_OK) == 0) return arena_strdup(a, path);
    }
    if (s->reference && shared) {
        snprintf(path, sizeof path, "%s/reference/%s", shared, s->reference);
        if (access(path, R_OK) == 0) return arena_strdup(a, path);
    }
    return NULL;
}

const char *valid_background(const struct valid_set *s, const char *asked, struct arena *a)
{
    const char *path = valid_data(s, a);
    return path && strcmp(path, asked) != 0 ? path : NULL;
}

/* ---- scores ---- */

const char *const valid_measure_names[] = { "mean absolute error",
                                            "mean relative error",
                                            "worst relative error",
                                            "worst absolute error",
                                            "mean relative error as a share of the baseline's",
                                            NULL };

struct valid_score valid_score_of(const struct valid_row *row, size_t n, bool naive)
{
    struct valid_score s = {
        .mae = NAN, .mape = NAN, .worst = NAN, .worst_abs = NAN, .spearman = NAN
    };
    double *x = xcalloc(4 * n + 1, sizeof *x), *y = x + n, *work = y + n;
    double sum = 0, relative = 0;
    for (size_t i = 0; i < n; i++) {
        const double p = naive ? row[i].naive : row[i].predicted, m = row[i].measured;
        if (isnan(p)) {
            s.uncovered++;
            continue;
        }
        const double off = fabs(p - m), ratio = off / m;
        sum += off;
        relative += ratio;
        if (s.n == 0 || off > s.worst_abs) s.worst_abs = off;
        if (s.n == 0 || ratio > s.worst) {
            s.worst = ratio;
            s.worst_row = row[i];
            s.worst_row.predicted = p;
        }
        x[s.n] = p;
        y[s.n++] = m;
    }
    if (s.n > 0) {
        s.mae = sum / (double)s.n;
        s.mape = relative / (double)s.n;
    }
    if (s.n >= 3) s.spearman = gsl_stats_spearman(x, 1, y, 1, s.n, work);
    free(x);
    return s;
}

static double measure_of(const struct valid_score *s, const struct valid_score *naive,
                         enum valid_measure what)
{
    switch (what) {
    case VALID_MAE: return s->mae;
    case VALID_MAPE: return s->mape;
    case VALID_WORST: return s->worst;
    case VALID_WORST_ABS: return s->worst_abs;
    case VALID_OF_NAIVE: return s->mape / naive->mape;
    }
    BUG("no such measure: %d", (int)what);
}

static struct valid_check check_bar(const struct valid_report *r, const struct valid_bar *bar)
{
    struct valid_check c = { .bar = bar, .value = NAN };
    if (!bar->group) c.value = measure_of(&r->model, &r->naive, bar->of);
    for (size_t g = 0; bar->group && g < r->n_groups; g++)
        if (strcmp(r->group[g].name, bar->group) == 0)
            c.value = measure_of(&r->group[g].model, &r->group[g].naive, bar->of);
    c.met = c.value <= bar->at_most;
    return c;
}

void valid_report_of(struct valid_report *out, const struct valid_set *s,
                     const struct valid_row *row, size_t n, struct arena *a)
{
    struct valid_row *part = xcalloc(n + 1, sizeof *part);
    bool *done = xcalloc(n + 1, sizeof *done);
    size_t total = 0;
    *out = (struct valid_report){ .group = arena_array(a, n + 1, sizeof *out->group),
                                  .check = arena_array(a, s->n_bars + 1, sizeof *out->check) };
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (done[i]) continue;
        for (size_t j = i; j < n; j++) {
            if (strcmp(row[i].group, row[j].group) != 0) continue;
            done[j] = true;
            part[k++] = row[j];
        }
        out->group[out->n_groups++] =
            (struct valid_group){ row[i].group, valid_score_of(part, k, false),
                                  valid_score_of(part, k, true), row[i].aside };
    }
    for (size_t i = 0; i < n; i++)
        if (!row[i].aside) part[total++] = row[i];
    out->model = valid_score_of(part, total, false);
    out->naive = valid_score_of(part, total, true);
    for (size_t b = 0; b < s->n_bars; b++) {
        out->check[b] = check_bar(out, &s->bars[b]);
        if (!out->check[b].met) out->n_missed++;
    }
    free(part);
    free(done);
}

/* ---- the policy of a run ---- */

static const struct share_ops *policy_of(const char *kind)
{
    size_t i = 0;
    while (share_all[i] && strcmp(share_all[i]->name, kind) != 0) i++;
    if (!share_all[i]) BUG("no sharing policy is called \"%s\"", kind);
    return share_all[i];
}

/* Parameters of `kind` from JSON text. */
static int params_read(void *out, const struct cfg_field *fields, size_t n, const char *kind,
                       const char *text, struct arena *a, struct err *e)
{
    struct json_doc doc = { 0 };
    struct diag d;
    diag_init(&d);
    int rc = json_doc_parse(&doc, kind, text, strlen(text), e);
    if (rc == 0) {
        cfg_read(fields, n, out, a, &doc, doc.root, "", NULL, 0, &d);
        rc = diag_result(&d, e);
    }
    diag_fini(&d);
    json_doc_fini(&doc);
    return rc;
}

const struct serve_ops *valid_serve(const char *name)
{
    size_t i = 0;
    while (serve_all[i] && strcmp(serve_all[i]->name, name) != 0) i++;
    BUG_ON(!serve_all[i]);
    return serve_all[i];
}

int valid_serve_params(void **out, const struct serve_ops *ops, const char *text, struct arena *a,
                       struct err *e)
{
    *out = arena_alloc(a, ops->params_size);
    return params_read(*out, ops->fields, ops->fields_n, ops->name, text, a, e);
}

int valid_share_bind_profile(struct valid_share *out, const struct world *w, struct arena *a,
                             const char *kind, const char *card, const struct gpu_profile *profile,
                             const char *params, struct err *e)
{
    const char *nearest = NULL;
    const struct gpu_spec *gpu = gpu_find(w->gpus, card, &nearest);
    if (!gpu) {
        const int rc = err_set(e, ERR_INPUT, NULL, "no such card in the catalogue: \"%s\"", card);
        if (nearest) err_hint(e, "did you mean \"%s\"?", nearest);
        return rc;
    }
    *out = (struct valid_share){ .ops = policy_of(kind) };
    out->type = (struct card_type){
        .gpu = gpu,
        .profile = profile,
        .context_bytes = (uint64_t)profile->param[PROFILE_base_context_bytes].value,
    };
    out->params = arena_alloc(a, out->ops->params_size);
    int rc = params_read(out->params, out->ops->fields, out->ops->fields_n, kind,
                         params ? params : "{}", a, e);
    if (rc == 0) {
        const char *why = out->ops->bind(out->params, a, &out->type);
        if (why)
            rc = err_set(e, ERR_INPUT, NULL, "%s cannot be shared by \"%s\": %s", gpu->name, kind,
                         why);
    }
    return rc;
}

int valid_share_bind(struct valid_share *out, const struct world *w, struct arena *a,
                     const char *kind, const char *card, const char *params, struct err *e)
{
    struct gpu_profile *profile = arena_alloc(a, sizeof *profile);
    profile_defaults(profile);
    return valid_share_bind_profile(out, w, a, kind, card, profile, params, e);
}

struct demand valid_demand(void)
{
    return (struct demand){
        .cards = 1, .units = 1, .limit_bytes = UINT64_MAX, .core_cap = 1.0, .mig_profile = -1
    };
}

void valid_share_speeds(const struct valid_share *s, const struct signature *const sig[],
                        const struct demand *const demand[], size_t n, double speed[])
{
    const struct demand whole = valid_demand();
    struct resident_view *resident = xcalloc(n + 1, sizeof *resident);
    for (size_t i = 0; i < n; i++) {
        resident[i].sig = sig[i];
        resident[i].demand = demand && demand[i] ? demand[i] : &whole;
        if (resident[i].demand->mig_profile >= 0)
            resident[i].slice = &s->type.gpu->mig->profile[resident[i].demand->mig_profile];
    }
    const struct share_view view = { &s->type, resident, n };
    s->ops->speeds(s->params, &view, speed);
    free(resident);
}
