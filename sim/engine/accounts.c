#include "engine/accounts.h"

#include "base/cfg.h"
#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTER = 300, NO_COHORT = -1 };

/* ---- rules ---- */

struct written {
    double gpus, borrow; /* NAN: not given */
    const char *cohort;
};
static const struct cfg_field quota_fields[] = {
    CFG_REQUIRED(struct written, gpus, CFG_REAL, 0, 1e7, "GPUs its jobs may have at a time"),
    CFG_FIELD(struct written, borrow, CFG_REAL, NULL, 0, 1e7,
              "more, while its cohort has them to spare; absent: all it can lend"),
    CFG_FIELD(struct written, cohort, CFG_TEXT, NULL, 0, 0,
              "who lend each other what they do not use"),
};

static int64_t to_milli(double gpus)
{
    return llround(gpus * 1000);
}

static void too_many(struct diag *d, const struct json_doc *doc, const char *at, double found,
                     int64_t cards, const char *what)
{
    json_problem(d, doc, at, "%s: expected at most the %lld cards of the fleet, found %g", what,
                 (long long)cards, found);
}

/* Checks across quotas: cohorts lend what they have. */
static void check_cohorts(const struct account_rules *r, const struct written *w,
                          const struct json_doc *doc, const char *base, int64_t cards,
                          struct diag *d)
{
    char at[POINTER];
    for (size_t c = 0; c < r->n_cohorts; c++) {
        size_t first = r->n_quotas, members = 0;
        for (size_t i = 0; i < r->n_quotas; i++) {
            if (r->quota[i].cohort != (int)c) continue;
            if (members++ == 0) first = i;
        }
        json_pointer_key(at, sizeof at, base, r->quota[first].name);
        if (members == 1)
            json_problem(d, doc, at, "the cohort \"%s\" has no other member to borrow from",
                         w[first].cohort);
        if (r->cohort_milli[c] > cards * 1000)
            too_many(d, doc, at, (double)r->cohort_milli[c] / 1000, cards,
                     "the quotas of its cohort together");
    }
    for (size_t i = 0; i < r->n_quotas; i++) {
        const struct quota *q = &r->quota[i];
        json_pointer_key(at, sizeof at, base, q->name);
        if (q->cohort == NO_COHORT) {
            if (!isnan(w[i].borrow))
                json_problem(d, doc, at, "\"borrow\" needs a \"cohort\" that lends");
            continue;
        }
        const int64_t others = r->cohort_milli[q->cohort] - q->own_milli;
        if (!isnan(w[i].borrow) && q->borrow_milli > others)
            json_problem(d, doc, at,
                         "borrow: expected at most the %g GPUs of the others in its "
                         "cohort, found %g",
                         (double)others / 1000, w[i].borrow);
    }
}

static int cohort_of(const char **name, size_t *n, const char *wanted)
{
    size_t i = 0;
    while (i < *n && strcmp(name[i], wanted) != 0) i++;
    if (i == *n) name[(*n)++] = wanted;
    return (int)i;
}

static void read_quotas(struct account_rules *out, struct arena *a, const struct json_doc *doc,
                        json_t *obj, const char *base, int64_t cards, struct diag *d)
{
    const char *name, **cohort;
    json_t *value;
    size_t i = 0;
    const size_t n = json_object_size(obj), before = d->count;
    struct quota *q = arena_array(a, n + 1, sizeof *q);
    struct written *w = arena_array(a, n + 1, sizeof *w);
    int64_t *sum = arena_array(a, n + 1, sizeof *sum);
    cohort = arena_array(a, n + 1, sizeof *cohort);
    json_object_foreach(obj, name, value)
    {
        char at[POINTER];
        json_pointer_key(at, sizeof at, base, name);
        cfg_read(quota_fields, sizeof quota_fields / sizeof *quota_fields, &w[i], a, doc, value, at,
                 NULL, 0, d);
        if (d->count > before) continue;
        q[i] =
            (struct quota){ .name = arena_strdup(a, name),
                            .own_milli = to_milli(w[i].gpus),
                            .borrow_milli = isnan(w[i].borrow) ? INT64_MAX : to_milli(w[i].borrow),
                            .cohort = NO_COHORT };
        if (q[i].own_milli > cards * 1000) too_many(d, doc, at, w[i].gpus, cards, "gpus");
        if (w[i].cohort && strcmp(name, "*") == 0)
            json_problem(d, doc, at, "\"*\" stands for many accounts: name those of a cohort");
        if (w[i].cohort) {
            q[i].cohort = cohort_of(cohort, &out->n_cohorts, w[i].cohort);
            sum[q[i].cohort] += q[i].own_milli;
        }
        i++;
    }
    out->quota = q;
    out->n_quotas = i;
    out->cohort_milli = sum;
    if (d->count == before) check_cohorts(out, w, doc, base, cards, d);
}

static void read_weights(struct account_rules *out, struct arena *a, const struct json_doc *doc,
                         json_t *obj, const char *base, struct diag *d)
{
    const char *name;
    json_t *value;
    struct weight *w = arena_array(a, json_object_size(obj) + 1, sizeof *w);
    json_object_foreach(obj, name, value)
    {
        char at[POINTER];
        const double x = json_number_value(value);
        if (!json_is_number(value) || !(x > 0 && x <= 1e9))
            json_problem(d, doc, json_pointer_key(at, sizeof at, base, name),
                         "expected a number above 0 and at most 1e9");
        w[out->n_weights++] = (struct weight){ arena_strdup(a, name), x };
    }
    out->weight = w;
}

/* An object, or a problem. */
static bool is_object(json_t *v, const struct json_doc *doc, const char *at, struct diag *d)
{
    char found[64];
    if (!v || json_is_object(v)) return v != NULL;
    json_problem(d, doc, at, "expected an object with a member for each group, found %s",
                 json_found(found, sizeof found, v));
    return false;
}

void account_rules_read(struct account_rules *out, struct arena *a, const struct json_doc *doc,
                        json_t *quotas, json_t *weights, const char *pointer, int64_t cards,
                        struct diag *d)
{
    char at[POINTER];
    *out = (struct account_rules){ 0 };
    json_pointer_key(at, sizeof at, pointer, "quotas");
    if (is_object(quotas, doc, at, d)) read_quotas(out, a, doc, quotas, at, cards, d);
    json_pointer_key(at, sizeof at, pointer, "weights");
    if (is_object(weights, doc, at, d)) read_weights(out, a, doc, weights, at, d);
}

const struct quota *quota_of(const struct account_rules *r, const char *name)
{
    const struct quota *other = NULL;
    for (size_t i = 0; i < r->n_quotas; i++) {
        if (strcmp(r->quota[i].name, name) == 0) return &r->quota[i];
        if (strcmp(r->quota[i].name, "*") == 0) other = &r->quota[i];
    }
    return other;
}

static double weight_of(const struct account_rules *r, const char *name)
{
    double other = 1;
    for (size_t i = 0; i < r->n_weights; i++) {
        if (strcmp(r->weight[i].name, name) == 0) return r->weight[i].weight;
        if (strcmp(r->weight[i].name, "*") == 0) other = r->weight[i].weight;
    }
    return other;
}

int64_t quota_most(const struct account_rules *r, const struct quota *q)
{
    if (q->cohort == NO_COHORT) return q->own_milli;
    const int64_t all = r->cohort_milli[q->cohort];
    return q->borrow_milli < all - q->own_milli ? q->own_milli + q->borrow_milli : all;
}

/* ---- the accounts of a run ---- */

struct accounts *accounts_create(const struct account_rules *rules, const struct symtab *names)
{
    struct accounts *a = xcalloc(1, sizeof *a);
    a->rules = rules;
    a->names = names;
    a->cohort_used = xcalloc(rules->n_cohorts + 1, sizeof *a->cohort_used);
    a->met = xcalloc(rules->n_quotas + 1, sizeof *a->met);
    a->member = xcalloc(rules->n_cohorts + 1, sizeof *a->member);
    return a;
}

void accounts_destroy(struct accounts *a)
{
    if (!a) return;
    for (size_t i = 0; i < a->rules->n_cohorts; i++) vec_fini(&a->member[i]);
    vec_fini(&a->of);
    vec_fini(&a->number);
    free(a->cohort_used);
    free(a->met);
    free(a->member);
    free(a);
}

static const char *name_of(const struct accounts *a, const struct job_row *row)
{
    return symtab_name(a->names, row->group ? row->group : row->user);
}

uint32_t accounts_number(struct accounts *a, const struct job_row *row)
{
    const uint32_t key = row->group ? 2 * row->group : 2 * row->user + 1;
    while (a->number.n <= key) vec_push(&a->number, 0);
    if (a->number.v[key]) return a->number.v[key] - 1;
    const uint32_t number = (uint32_t)a->of.n;
    const char *name = name_of(a, row);
    const struct account x = { .name = name,
                               .weight = weight_of(a->rules, name),
                               .quota = quota_of(a->rules, name) };
    vec_push(&a->of, x);
    if (x.quota && x.quota->cohort != NO_COHORT) vec_push(&a->member[x.quota->cohort], number);
    a->number.v[key] = number + 1;
    return number;
}

const char *accounts_unknown(struct accounts *a, const struct job_row *row, char *buf, size_t size)
{
    const char *near, *known[64];
    const char *name = name_of(a, row);
    size_t n = 0;
    if (a->rules->n_quotas == 0) return NULL;
    const struct quota *q = quota_of(a->rules, name);
    if (q) {
        a->met[q - a->rules->quota] = true;
        return NULL;
    }
    for (; n < a->rules->n_quotas && n < 64; n++) known[n] = a->rules->quota[n].name;
    near = str_nearest(name, known, n);
    if (name[0] == '\0')
        snprintf(buf, size, "neither group nor user, and no quota \"*\" for those without one");
    else
        snprintf(buf, size, "no quota for \"%.100s\"%s%s%s", name,
                 near ? "; did you mean \"" : "; \"*\" stands for all who are not named",
                 near ? near : "", near ? "\"?" : "");
    return buf;
}

const char *accounts_unmet(const struct accounts *a, char *buf, size_t size)
{
    char list[150];
    const char *name[64];
    size_t n = 0;
    for (size_t i = 0; i < a->rules->n_quotas && n < 64; i++)
        if (!a->met[i] && strcmp(a->rules->quota[i].name, "*") != 0)
            name[n++] = a->rules->quota[i].name;
    if (n == 0) return NULL;
    snprintf(
        buf, size,
        "no job came for the quotas of %s: expected groups of the jobs, or users of those without "
        "a group",
        str_list(list, sizeof list, name, n));
    return buf;
}

bool accounts_allow(const struct accounts *a, uint32_t number, int64_t milli)
{
    const struct account *x = &a->of.v[number];
    const struct quota *q = x->quota;
    if (!q || milli == 0) return true;
    if (x->gpus_milli + milli > quota_most(a->rules, q)) return false;
    return q->cohort == NO_COHORT ||
           a->cohort_used[q->cohort] + milli <= a->rules->cohort_milli[q->cohort];
}

bool accounts_owns(const struct accounts *a, uint32_t number, int64_t milli)
{
    const struct account *x = &a->of.v[number];
    return x->quota && x->quota->cohort != NO_COHORT &&
           x->gpus_milli + milli <= x->quota->own_milli;
}

bool accounts_borrows(const struct accounts *a, uint32_t number)
{
    const struct account *x = &a->of.v[number];
    return x->quota && x->gpus_milli > x->quota->own_milli;
}

void accounts_hold(struct accounts *a, uint32_t number, int64_t milli)
{
    struct account *x = &a->of.v[number];
    x->gpus_milli += milli;
    if (x->quota && x->quota->cohort != NO_COHORT) a->cohort_used[x->quota->cohort] += milli;
}

void accounts_move(struct accounts *a, const struct job *j, int sign)
{
    struct account *x = &a->of.v[j->account];
    accounts_hold(a, j->account, sign * (int64_t)j->gpus_milli);
    if (j->shape->cpus_milli != JOB_NO_INT) x->cpus_milli += sign * (int64_t)j->shape->cpus_milli;
    if (j->shape->host_bytes != JOB_NO_BYTES) x->host_bytes += sign * (double)j->shape->host_bytes;
}
