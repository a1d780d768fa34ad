#include "traces/request_facts.h"

#include "base/dec.h"
#include "base/json.h"
#include "traces/account.h"

#include <stdlib.h>

enum { LISTED = 8, LISTED_JSON = 1000 }; /* services named in the table and in JSON */

static void add_amount(struct amounts *a, int64_t v)
{
    a->n++;
    a->sum += (uint64_t)v;
    a->zeros += v == 0;
    if (v >= AMOUNTS_SMALL) {
        if (!a->large) a->large = extsort_create(1, AMOUNTS_BYTES);
        extsort_add(a->large, &v);
        return;
    }
    while (a->small.n <= (uint64_t)v) vec_push(&a->small, 0);
    a->small.v[v]++;
}

static void add_name(struct name_counts *c, sym s)
{
    while (c->v.n <= s) vec_push(&c->v, 0);
    uint64_t n = ++c->v.v[s];
    if (s == 0) return;
    c->names += n == 1;
    if (n > c->most) c->most = n;
}

void request_facts_add(struct request_facts *f, const struct request_row *r)
{
    f->n++;
    if (r->size_nano != REQUEST_NONE) {
        f->sized = true;
        add_amount(&f->size, r->size_nano);
    } else {
        add_amount(&f->input, r->input_tokens);
        add_amount(&f->output, r->output_tokens);
    }
    add_name(&f->services, r->service);
    add_name(&f->sessions, r->session);
    f->blocks |= r->blocks != 0;
}

/* The want-th smallest of those that are small. */
static int64_t small_rank(const struct amounts *a, uint64_t want)
{
    uint64_t below = 0;
    for (size_t v = 0; v < a->small.n; v++) {
        below += a->small.v[v];
        if (below >= want) return (int64_t)v;
    }
    BUG("%llu small amounts, rank %llu asked for", (unsigned long long)below,
        (unsigned long long)want);
}

/* Nearest rank: the ceil(percent % of n)-th smallest. */
static int rank_all(struct amounts *a, struct err *e)
{
    static const uint64_t percent[] = { 50, 90, 99, 100 };
    int64_t *const into[] = { &a->p50, &a->p90, &a->p99, &a->max };
    enum { RANKS = 4 };
    const uint64_t large = a->large ? extsort_count(a->large) : 0, small = a->n - large;
    uint64_t want[RANKS] = { 0 };
    int64_t x;
    for (int k = 0; k < RANKS && a->n; k++) {
        want[k] = (a->n * percent[k] + 99) / 100;
        if (want[k] <= small) *into[k] = small_rank(a, want[k]);
    }
    int rc = large ? extsort_sort(a->large, e) : 0;
    for (uint64_t i = 1; rc == 0 && i <= large; i++) {
        rc = extsort_next(a->large, &x, e);
        if (rc < 0) return rc;
        rc = 0;
        for (int k = 0; k < RANKS; k++)
            if (want[k] == small + i) *into[k] = x;
    }
    extsort_destroy(a->large);
    a->large = NULL;
    return rc;
}

int request_facts_finish(struct request_facts *f, struct err *e)
{
    int rc = rank_all(&f->input, e);
    if (rc == 0) rc = rank_all(&f->output, e);
    if (rc == 0) rc = rank_all(&f->size, e);
    return rc;
}

static void amounts_fini(struct amounts *a)
{
    vec_fini(&a->small);
    extsort_destroy(a->large);
}

void request_facts_fini(struct request_facts *f)
{
    amounts_fini(&f->input);
    amounts_fini(&f->output);
    amounts_fini(&f->size);
    vec_fini(&f->services.v);
    vec_fini(&f->sessions.v);
}

static json_t *amount(int64_t v, int digits)
{
    return digits ? json_num((double)v / 1e9) : json_integer(v);
}

static json_t *amounts_json(const struct amounts *a, int digits)
{
    json_t *o = json_object();
    char text[60];
    json_object_set_new(o, "sum", json_num((double)a->sum / (digits ? 1e9 : 1)));
    json_object_set_new(o, "sum_exact", json_string(account_decimal(text, a->sum, digits, 0)));
    json_object_set_new(o, "mean", json_num((double)a->sum / (digits ? 1e9 : 1) / (double)a->n));
    json_object_set_new(o, "p50", amount(a->p50, digits));
    json_object_set_new(o, "p90", amount(a->p90, digits));
    json_object_set_new(o, "p99", amount(a->p99, digits));
    json_object_set_new(o, "max", amount(a->max, digits));
    json_object_set_new(o, "zeros", json_integer((json_int_t)a->zeros));
    return o;
}

/* The commonest names first; equal ones in the order they came. */
struct named {
    sym name;
    uint64_t n;
};

static int commonest_first(const void *pa, const void *pb)
{
    const struct named *a = pa, *b = pb;
    if (a->n != b->n) return a->n > b->n ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static struct named *ranking(const struct name_counts *c)
{
    struct named *list = xcalloc(c->names + 1, sizeof *list);
    size_t n = 0;
    for (size_t s = 1; s < c->v.n; s++)
        if (c->v.v[s]) list[n++] = (struct named){ (sym)s, c->v.v[s] };
    qsort(list, n, sizeof *list, commonest_first);
    return list;
}

static uint64_t nameless(const struct name_counts *c)
{
    return c->v.n ? c->v.v[0] : 0;
}

static json_t *names_json(const struct name_counts *c, const struct symtab *names)
{
    json_t *o = json_object(), *by = json_object();
    json_object_set_new(o, "n", json_integer((json_int_t)c->names));
    json_object_set_new(o, "without", json_integer((json_int_t)nameless(c)));
    json_object_set_new(o, "most_requests", json_integer((json_int_t)c->most));
    if (names) {
        struct named *list = ranking(c);
        for (uint64_t i = 0; i < c->names && i < LISTED_JSON; i++)
            json_object_set_new(by, symtab_name(names, list[i].name),
                                json_integer((json_int_t)list[i].n));
        free(list);
        json_object_set(o, "requests", by);
    }
    json_decref(by);
    return o;
}

void request_facts_add_json(const struct request_facts *f, const struct symtab *names, json_t *into)
{
    json_object_set_new(into, "n", json_integer((json_int_t)f->n));
    if (f->sized) {
        json_object_set_new(into, "size", amounts_json(&f->size, 9));
    } else {
        json_object_set_new(into, "input_tokens", amounts_json(&f->input, 0));
        json_object_set_new(into, "output_tokens", amounts_json(&f->output, 0));
    }
    json_object_set_new(into, "services", names_json(&f->services, names));
    json_object_set_new(into, "sessions", names_json(&f->sessions, NULL));
}

static void print_amounts(const char *label, const struct amounts *a, int digits, FILE *to)
{
    char sum[60], t[4][32];
    dec_print(t[0], sizeof t[0], a->p50, digits);
    dec_print(t[1], sizeof t[1], a->p90, digits);
    dec_print(t[2], sizeof t[2], a->p99, digits);
    dec_print(t[3], sizeof t[3], a->max, digits);
    fprintf(to, "%-13s sum %s, mean %.6g, p50 %s, p90 %s, p99 %s, max %s, %llu zeros\n", label,
            account_decimal(sum, a->sum, digits, 0),
            (double)a->sum / (digits ? 1e9 : 1) / (double)a->n, t[0], t[1], t[2], t[3],
            (unsigned long long)a->zeros);
}

static void print_services(const struct name_counts *c, const struct symtab *names, FILE *to)
{
    struct named *list = ranking(c);
    fprintf(to, "%-13s %llu", "services", (unsigned long long)c->names);
    for (uint64_t i = 0; names && i < c->names && i < LISTED; i++)
        fprintf(to, "%s%.40s %llu", i ? ", " : ": ", symtab_name(names, list[i].name),
                (unsigned long long)list[i].n);
    fprintf(to, "%s\n", c->names > LISTED ? ", ..." : "");
    free(list);
}

void request_facts_print(const struct request_facts *f, const struct symtab *names, FILE *to)
{
    if (f->n == 0) return;
    if (f->sized) {
        print_amounts("sizes", &f->size, 9, to);
    } else {
        print_amounts("input tokens", &f->input, 0, to);
        print_amounts("output tokens", &f->output, 0, to);
    }
    if (f->services.names) print_services(&f->services, names, to);
    if (f->sessions.names)
        fprintf(to, "%-13s %llu, at most %llu requests in one, %llu requests without\n", "sessions",
                (unsigned long long)f->sessions.names, (unsigned long long)f->sessions.most,
                (unsigned long long)nameless(&f->sessions));
}
