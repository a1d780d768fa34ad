/* gpusim tco: money without simulation. Plain fleets at a stated use, a stored result under another
 * price book, or the fleets of a scenario at a stated use; with break-evens and, on request, what
 * the ranges of the prices do to the choice. */
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/problems.h"
#include "cli/tco_print.h"
#include "cost/against.h"
#include "cost/bookrisk.h"
#include "cost/months.h"
#include "cost/plain.h"
#include "metrics/service_stats.h"
#include "model/price_check.h"
#include "model/price_date.h"
#include "whatif/runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct options {
    const char *prices, *against, *as_of;
    int64_t monte_carlo;
    uint64_t seed;
    double use;
    struct opt_list set;
    int format;
    bool by_month, curves, quasi, quiet;
};

static const struct opt opts[] = {
    { "prices", 0, OPT_TEXT, offsetof(struct options, prices), "FILE",
      "price book for every policy (default: the scenario's; a result has none)", NULL },
    { "against", 0, OPT_TEXT, offsetof(struct options, against), "FILE",
      "result: price book of renting, for break-evens in use, months and price", NULL },
    { "use", 0, OPT_REAL, offsetof(struct options, use), "SHARE",
      "scenario: share of their hours in which cards work, 0 to 1", NULL },
    { "monte-carlo", 0, OPT_COUNT, offsetof(struct options, monte_carlo), "N",
      "draw the amounts that have a range N times", NULL },
    { "seed", 0, OPT_SEED, offsetof(struct options, seed), "S", "of the draws (default 1)", NULL },
    { "as-of", 0, OPT_TEXT, offsetof(struct options, as_of), "DATE",
      "warn of prices older than a year on that day (default: the book's)", NULL },
    { "by-month", 0, OPT_FLAG, offsetof(struct options, by_month), NULL,
      "also what has been paid by the end of each month", NULL },
    { "curves", 0, OPT_FLAG, offsetof(struct options, curves), NULL,
      "plain fleets: also the cost of owning and of renting at every twentieth of use", NULL },
    { "quasi", 0, OPT_FLAG, offsetof(struct options, quasi), NULL,
      "draw from a shifted Sobol sequence instead of random numbers", NULL },
    { "set", 0, OPT_LIST, offsetof(struct options, set), "PATH=VALUE",
      "scenario: change it, e.g. --set fleet.a100.nodes=6 (repeatable)", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT", "how to print",
      out_format_names },
    { "quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, "warnings only", NULL },
    { 0 },
};

enum { MOST_SAMPLES = 10000000 };

static void print_answer(struct tco_answer *w, const struct options *o)
{
    tco_print(w, &(struct tco_print_options){ o->format, (size_t)o->monte_carlo, o->seed, o->quasi,
                                              o->by_month, o->curves });
}

/* ---- plain fleets ---- */

/* What each option has cost by the end of each month, a resale in the last one taken off. */
static void add_months(json_t *list, const struct plain_fleet *f, struct arena *a)
{
    for (size_t i = 0; i < f->n_options; i++) {
        const struct cash_plan p = plain_cash(f, i);
        const size_t n = cashflow_months(&p);
        double *flow = arena_array(a, n, sizeof *flow);
        cashflow_by_month(&p, flow, n);
        for (size_t m = 1; m < n; m++) flow[m] += flow[m - 1];
        json_object_set_new(json_array_get(list, i), "paid_by_month_usd", tco_numbers(flow, n));
    }
}

/* What each owned option and its rent cost a year at every twentieth of use, and the rent at which
 * both are the same. Cards, spares and energy follow the use. */
static void add_curves(json_t *list, const struct plain_fleet *f, struct arena *a)
{
    enum { STEPS = 20 };
    double *use = arena_array(a, STEPS + 1, sizeof *use),
           *own = arena_array(a, STEPS + 1, sizeof *own),
           *rent = arena_array(a, STEPS + 1, sizeof *rent),
           *even = arena_array(a, STEPS + 1, sizeof *even);
    for (size_t i = 0; i < f->n_options; i++) {
        for (int k = 0; k <= STEPS; k++) {
            use[k] = (double)k / STEPS;
            plain_at_use(f, i, use[k], &own[k], &rent[k]);
            const double cards = (double)plain_price(f, i).cards;
            even[k] = f->option[i].owned ? breakeven_price(own[k], cards, use[k]) : NAN;
        }
        json_object_set_new(json_array_get(list, i), "curves",
                            json_pack("{s:o, s:o, s:o, s:o}", "use", tco_numbers(use, STEPS + 1),
                                      "own_usd_per_year", tco_numbers(own, STEPS + 1),
                                      "rent_usd_per_year", tco_numbers(rent, STEPS + 1),
                                      "breakeven_usd_per_gpu_hour", tco_numbers(even, STEPS + 1)));
    }
}

static const char *no_break_even_in_use(const struct plain_option *o, const struct plain_cost *c)
{
    if (!o->owned) return "the option is rented";
    if (isnan(o->value[PLAIN_rent_usd_per_gpu_hour].mode)) return "no rent is stated";
    if (o->rent == PLAIN_RESERVED) return "the rent is a reservation, billed around the clock";
    return isnan(c->breakeven_use) ? "rent on demand is cheaper at any use" : NULL;
}

static json_t *plain_json(const struct plain_option *o, const struct plain_cost *c)
{
    const char *why = no_break_even_in_use(o, c);
    const bool stated = !isnan(o->value[PLAIN_rent_usd_per_gpu_hour].mode);
    json_t *v = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", o->name,
        "kind", o->owned ? "owned" : "rented", "cards", (json_int_t)c->cards, "spares",
        (json_int_t)c->spares, "bought", (json_int_t)c->bought, "rounding_cards",
        (json_int_t)(o->owned ? c->bought - c->cards - c->spares : 0), "npv_usd",
        json_num(c->npv_usd), "eac_usd", json_num(c->eac_usd), "usd_per_gpu_hour",
        json_num(c->usd_per_gpu_hour), "usd_per_used_gpu_hour", json_num(c->usd_per_used_gpu_hour),
        "breakeven_use", json_num(c->breakeven_use), "breakeven_months",
        json_num(c->breakeven_months), "breakeven_price_usd", json_num(c->breakeven_price_usd));
    if (why) json_object_set_new(v, "no_breakeven_use_because", json_string(why));
    json_object_set_new(v, "rent_stated", json_boolean(stated && o->owned));
    json_object_set_new(v, "capital_usd", json_num(c->capital_usd));
    json_object_set_new(v, "residual_usd", json_num(c->residual_usd));
    json_object_set_new(
        v, "per_year",
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "energy_usd", json_num(c->energy_usd),
                  "maintenance_usd", json_num(c->maintenance_usd), "licence_usd",
                  json_num(c->licence_usd), "operations_usd", json_num(c->operations_usd),
                  "rent_usd", json_num(c->rent_usd), "energy_kwh", json_num(c->energy_kwh)));
    json_object_set_new(v, "power_W", json_num(c->power_W));
    json_object_set_new(v, "use", json_num(c->use));
    if (o->n_demand > 0) {
        json_object_set_new(v, "commit_cards", json_num(c->commit_cards));
        json_object_set_new(v, "commit_usd_per_year", json_num(c->commit_usd));
    }
    return v;
}

/* What is possible but unlikely. */
static void warn_plain(const struct plain_fleet *f, const struct options *o)
{
    for (size_t i = 0; i < f->n_options; i++) {
        const struct plain_option *x = &f->option[i];
        if (x->owned && x->gpu && x->value[PLAIN_busy_W].mode > 1.05 * x->gpu->tdp_W)
            log_warn("option \"%s\": busy_W %g is above the board power of %s, %g W", x->name,
                     x->value[PLAIN_busy_W].mode, x->gpu->name, x->gpu->tdp_W);
    }
    for (size_t i = 0; o->as_of && i < f->n_options; i++)
        if (price_age_years(f->option[i].date, o->as_of) > PRICE_STALE_YEARS)
            log_warn("prices of option \"%s\" are of %s: more than a year old on %s",
                     f->option[i].name, f->option[i].date, o->as_of);
}

static int tco_plain(const struct json_doc *doc, const struct options *o, struct err *e)
{
    struct tco_answer w = { .a = arena_create(), .list = "options" };
    struct gpu_catalogue *gpus = NULL;
    struct plain_fleet f;
    struct diag d;
    diag_init(&d);
    int rc = gpu_catalogue_load(&gpus, NULL, e);
    if (rc == 0) {
        plain_read(&f, w.a, doc, gpus, &d);
        if (d.count > 0) rc = problems_first(&d, e);
    }
    if (rc == 0 && (o->prices || o->set.n > 0 || !isnan(o->use)))
        rc = err_set(e, ERR_USAGE, NULL,
                     "--prices, --set and --use do not go with %s: it states them", PLAIN_FORMAT);
    if (rc == 0) {
        json_t *list = json_array();
        for (size_t i = 0; i < f.n_options; i++) {
            const struct plain_cost c = plain_price(&f, i);
            json_array_append_new(list, plain_json(&f.option[i], &c));
        }
        if (o->by_month) add_months(list, &f, w.a);
        if (o->curves) add_curves(list, &f, w.a);
        w.json = json_pack("{s:s, s:o, s:o, s:s, s:o}", "name", f.name, "term_y",
                           json_num(f.term_y), "rate", json_num(f.rate.mode), "timing",
                           cash_timing_names[f.timing], "options", list);
        w.model = plain_model(&f, w.a);
        warn_plain(&f, o);
        print_answer(&w, o);
    }
    json_decref(w.json);
    gpu_catalogue_destroy(gpus);
    diag_fini(&d);
    arena_destroy(w.a);
    return rc;
}

/* A folder of results stands for its result.json. */
static void result_path(char *file, size_t size, const char *path)
{
    struct stat st;
    const bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    snprintf(file, size, folder ? "%s/result.json" : "%s", path);
}

/* ---- price books ---- */

/* One line for all policies: how many of the prices used are old, and the oldest. */
static void warn_stale(const struct result *r, const char *day)
{
    VEC(const struct cost_item_result *) seen = { 0 };
    size_t stale = 0;
    double oldest = 0;
    const struct cost_item_result *worst = NULL;
    for (size_t p = 0; p < r->n_policies; p++)
        for (size_t i = 0; i < r->policy[p].tco.n_items; i++) {
            const struct cost_item_result *it = &r->policy[p].tco.item[i];
            size_t k = 0;
            while (k < seen.n && strcmp(seen.v[k]->name, it->name) != 0) k++;
            if (k < seen.n) continue;
            vec_push(&seen, it);
            const double age = price_age_years(it->date, day);
            if (!(age > PRICE_STALE_YEARS)) continue;
            stale++;
            if (age > oldest) oldest = age, worst = it;
        }
    if (worst)
        log_warn("%zu of %zu prices are more than a year old on %s; the oldest, \"%s\", is of %s",
                 stale, seen.n, day, worst->name, worst->date);
    vec_fini(&seen);
}

static void say_doubt(void *ctx, const char *sentence)
{
    log_warn("%s: %s", (const char *)ctx, sentence);
}

static int load_book(struct price_book *book, struct arena *a, const char *path,
                     const struct gpu_catalogue *gpus, struct err *e)
{
    char sha256[65];
    const int rc = price_book_load(book, a, path, gpus, sha256, e);
    if (rc == 0) price_doubts(book, say_doubt, (void *)(uintptr_t)path);
    return rc;
}

/* Prices `n` uses into r->policy[i].tco and prints them. */
static int price_runs(struct tco_answer *w, struct result *r, const struct priced_use *use,
                      const struct options *o, struct err *e)
{
    struct policy_result *p = arena_array(w->a, r->n_policies, sizeof *p);
    for (size_t i = 0; i < r->n_policies; i++) {
        const int rc = tco_check(use[i].usage[0], use[i].share, use[i].book, e);
        if (rc != 0) return rc;
        p[i] = r->policy[i];
        p[i].tco = tco_price(use[i].usage[0], use[i].share, use[i].book, w->a);
        service_stats_price(&p[i]);
    }
    months_paybacks(p, r->n_policies, w->a);
    r->policy = p;
    if (r->n_policies > 0) warn_stale(r, o->as_of ? o->as_of : use[0].book->as_of);
    w->model = bookrisk_model(use, r->n_policies, w->a);
    return 0;
}

/* What a million requests or tokens within target cost. */
static json_t *services_prices(const struct policy_result *p)
{
    json_t *list = json_array();
    for (size_t k = 0; k < p->n_services; k++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "name", p->service[k].name,
                                              "usd_per_million_requests",
                                              json_num(p->service[k].usd_per_million_requests),
                                              "usd_per_million_tokens",
                                              json_num(p->service[k].usd_per_million_tokens)));
    return list;
}

/* {"policies": [{"name", "kind", "tco"}]}: as result.json has them. */
static void show_runs(struct tco_answer *w, const struct result *r, const struct options *o)
{
    json_t *all = result_to_json(r), *list = json_array();
    const json_t *from = json_object_get(all, "policies");
    for (size_t i = 0; i < json_array_size(from); i++) {
        const json_t *p = json_array_get(from, i);
        json_t *one = json_pack("{s:O, s:O, s:O}", "name", json_object_get(p, "name"), "kind",
                                json_object_get(p, "kind"), "tco", json_object_get(p, "tco"));
        if (r->policy[i].n_services > 0)
            json_object_set_new(one, "services", services_prices(&r->policy[i]));
        if (w->n_against > 0) json_object_set_new(one, "against", w->against[i]);
        json_array_append_new(list, one);
    }
    w->json =
        json_pack("{s:O, s:o}", "name", json_object_get(json_object_get(all, "scenario"), "name"),
                  "policies", list);
    json_decref(all);
    print_answer(w, o);
    json_decref(w->json);
}

/* Waits of each user are most of a result, and nothing is priced by them; what it said of money is
 * said anew where there are prices. */
static int load(struct json_doc *doc, const char *file, const struct options *o, struct err *e)
{
    static const char *const not_needed[] = {
        "by_user",   "parameters", "comparison",         "decisions",
        "qualities", "chargeback", "chargeback_by_group"
    };
    return json_doc_load_without(doc, file, not_needed, o->prices ? 7 : 5, e);
}

/* A stored result knows its cards by name and power only; price books may use aliases. */
static void know_cards(struct result *r, const struct gpu_catalogue *gpus)
{
    for (size_t p = 0; p < r->n_policies; p++)
        for (size_t g = 0; g < r->policy[p].usage.n_groups; g++) {
            /* read_usage() made these groups for us alone */
            struct usage_group *group =
                (struct usage_group *)(uintptr_t)&r->policy[p].usage.group[g];
            const struct gpu_spec *known =
                group->gpu->name ? gpu_find(gpus, group->gpu->name, NULL) : NULL;
            if (known) group->gpu = known;
        }
}

/* Results of the same scenario under other seeds: replications. */
static int load_replication(struct result *r, struct json_doc *doc, struct arena *a,
                            const char *path, const struct result *first, const struct options *o,
                            struct err *e)
{
    struct diag d;
    char file[4096];
    result_path(file, sizeof file, path);
    int rc = load(doc, file, o, e);
    if (rc != 0) return rc;
    diag_init(&d);
    result_read(r, a, doc, &d);
    rc = d.count > 0 ? problems_first(&d, e) : result_check_whole(doc, e);
    bool same = rc == 0 && r->n_policies == first->n_policies;
    for (size_t i = 0; same && i < r->n_policies; i++)
        same = strcmp(r->policy[i].name, first->policy[i].name) == 0;
    if (rc == 0 && !same)
        rc = err_set(e, ERR_INPUT, &(struct loc){ .file = file },
                     "a replication has the policies of the first result, this one has others");
    if (rc == 0 && r->seed == first->seed)
        log_warn("%s: the seed is that of the first result; the same run twice says nothing new",
                 file);
    diag_fini(&d);
    return rc;
}

/* The break-evens of each policy against renting. */
static int add_against(struct tco_answer *w, struct result *r, const struct price_book *own,
                       const struct options *o, const struct gpu_catalogue *gpus, struct err *e)
{
    struct price_book rent;
    int rc = load_book(&rent, w->a, o->against, gpus, e);
    json_t **list = arena_array(w->a, r->n_policies + 1, sizeof *list);
    for (size_t i = 0; rc == 0 && i < r->n_policies; i++) {
        /* price_runs() */
        struct policy_result *p = (struct policy_result *)(uintptr_t)&r->policy[i];
        rc = tco_check(&p->usage, p->kind, &rent, e);
        if (rc != 0) break;
        const struct tco_result rented = tco_price(&p->usage, p->kind, &rent, w->a);
        months_add_payback(&p->tco, rent.name, &rented, w->a);
        const struct against x = tco_against(&p->usage, p->kind, own, &rent);
        list[i] = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "book", rent.name, "own_eac_usd",
                            json_num(x.own_eac_usd), "rent_eac_usd", json_num(x.rent_eac_usd),
                            "use", json_num(x.use), "breakeven_use", json_num(x.breakeven_use),
                            "breakeven_months", json_num(x.breakeven_months), "breakeven_price_usd",
                            json_num(x.breakeven_price_usd));
    }
    w->against = list;
    w->n_against = r->n_policies;
    return rc;
}

/* Prices a stored result, and its replications, under a book. */
static int reprice(struct tco_answer *w, struct result *r, struct json_doc *more, char **path,
                   size_t n_more, const struct options *o, struct err *e)
{
    struct gpu_catalogue *gpus = NULL;
    struct price_book *book = arena_alloc(w->a, sizeof *book);
    struct result *other = arena_array(w->a, n_more + 1, sizeof *other);
    struct priced_use *use = arena_array(w->a, r->n_policies, sizeof *use);
    int rc = gpu_catalogue_load(&gpus, NULL, e);
    if (rc == 0) rc = load_book(book, w->a, o->prices, gpus, e);
    if (rc == 0) know_cards(r, gpus);
    for (size_t k = 0; rc == 0 && k < n_more; k++) {
        rc = load_replication(&other[k], &more[k], w->a, path[k], r, o, e);
        if (rc == 0) know_cards(&other[k], gpus);
    }
    for (size_t i = 0; rc == 0 && i < r->n_policies; i++) {
        const struct usage **all = arena_array(w->a, n_more + 1, sizeof *all);
        all[0] = &r->policy[i].usage;
        for (size_t k = 0; rc == 0 && k < n_more; k++) {
            all[k + 1] = &other[k].policy[i].usage;
            rc = tco_check(all[k + 1], r->policy[i].kind, book, e);
        }
        use[i] = (struct priced_use){ r->policy[i].name, r->policy[i].kind, all, n_more + 1, book };
    }
    if (rc == 0) rc = price_runs(w, r, use, o, e);
    if (rc == 0 && o->against) rc = add_against(w, r, book, o, gpus, e);
    if (rc == 0) show_runs(w, r, o); /* while the cards are there: the model reads them */
    gpu_catalogue_destroy(gpus);
    return rc;
}

static int tco_result(const struct json_doc *doc, char **path, size_t n_more,
                      const struct options *o, struct err *e)
{
    struct tco_answer w = { .a = arena_create(), .list = "policies" };
    struct json_doc *more = xcalloc(n_more + 1, sizeof *more);
    struct result r;
    struct diag d;
    diag_init(&d);
    result_read(&r, w.a, doc, &d);
    int rc = d.count > 0 ? problems_first(&d, e) : result_check_whole(doc, e);
    if (rc == 0 && (o->set.n > 0 || !isnan(o->use)))
        rc = err_set(e, ERR_USAGE, NULL, "--set and --use go with a scenario, not with a result");
    if (rc == 0 && !o->prices &&
        (o->monte_carlo > 0 || o->against || n_more > 0 || r.n_policies == 0 ||
         !r.policy[0].tco.priced))
        rc = err_set(e, ERR_USAGE, NULL, "a result holds no price book: name one with --prices");
    if (rc == 0 && o->prices)
        rc = reprice(&w, &r, more, path, n_more, o, e);
    else if (rc == 0)
        show_runs(&w, &r, o);
    for (size_t i = 0; i < n_more; i++) json_doc_fini(&more[i]);
    free(more);
    diag_fini(&d);
    arena_destroy(w.a);
    return rc;
}

/* ---- scenarios ---- */

/* A year in which each card works `use` of its hours and holds a context all the time. */
static struct usage usage_at(const struct plan *p, double use, struct arena *a)
{
    struct usage_group *g = arena_array(a, p->n_groups, sizeof *g);
    struct demand_level *level = arena_array(a, p->n_groups, sizeof *level);
    double used = 0;
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct gpu_spec *gpu = p->group[i].type.gpu;
        const double hours = (double)p->group[i].cards * TCO_HOURS_PER_YEAR,
                     idle_kwh = gpu_power_W(gpu, true, 0) * hours / 1000;
        level[i] = (struct demand_level){ use * (double)p->group[i].cards, TCO_HOURS_PER_YEAR };
        g[i] = (struct usage_group){ .name = p->group[i].spec->name,
                                     .gpu = gpu,
                                     .nodes = p->group[i].spec->nodes,
                                     .cards = p->group[i].cards,
                                     .allocated_h = use * hours,
                                     .free_h = (1 - use) * hours,
                                     .context_h = hours,
                                     .sm_active_h = use * hours,
                                     .duty_h = use * hours,
                                     .occupied_h = use * hours,
                                     .step_h = { use * hours, use * hours, use * hours },
                                     .demand = &level[i],
                                     .n_demand = 1,
                                     .energy_kwh = gpu_power_W(gpu, true, use) * hours / 1000,
                                     .idle_energy_kwh = idle_kwh * (1 - use) };
        used += use * hours;
    }
    struct usage_tenant *t = arena_array(a, 1, sizeof *t);
    *t = (struct usage_tenant){
        .name = "(use)", .allocated_h = used, .billed_h = used, .useful_h = used
    };
    for (size_t i = 0; i < p->n_groups; i++)
        t->energy_kwh += g[i].energy_kwh - g[i].idle_energy_kwh;
    return (struct usage){ .hours = TCO_HOURS_PER_YEAR,
                           .group = g,
                           .n_groups = p->n_groups,
                           .tenant = t,
                           .n_tenants = 1,
                           .gpu_hours = used,
                           .useful_gpu_hours = used };
}

static int price_scenario(struct tco_answer *w, struct runner *r, const struct options *o,
                          struct err *e)
{
    struct price_book *book = arena_alloc(w->a, sizeof *book);
    struct policy_result *p = arena_array(w->a, r->n, sizeof *p);
    struct priced_use *use = arena_array(w->a, r->n, sizeof *use);
    int rc = o->prices ? load_book(book, w->a, o->prices, r->world.gpus, e) : 0;
    for (size_t i = 0; rc == 0 && i < r->n; i++) {
        const struct plan *plan = &r->plan[i];
        if (!o->prices && !plan->priced)
            return err_set(e, ERR_USAGE, NULL,
                           "policy %s has no price book: name one with --prices", plan->spec->name);
        p[i] = (struct policy_result){ .name = plan->spec->name,
                                       .kind = plan->share->name,
                                       .usage = usage_at(plan, o->use, w->a) };
        const struct usage **usage = arena_alloc(w->a, sizeof *usage);
        *usage = &p[i].usage;
        use[i] =
            (struct priced_use){ p[i].name, p[i].kind, usage, 1, o->prices ? book : &plan->prices };
    }
    r->result.policy = p;
    r->result.n_policies = r->n;
    if (rc == 0) rc = price_runs(w, &r->result, use, o, e);
    if (rc == 0) show_runs(w, &r->result, o);
    return rc;
}

static int tco_scenario(const char *path, const struct options *o, struct err *e)
{
    struct tco_answer w = { .a = arena_create(), .list = "policies" };
    struct runner r = { 0 };
    struct diag d;
    int rc = 0;
    diag_init(&d);
    if (isnan(o->use))
        rc = err_set(
            e, ERR_USAGE, NULL,
            "a scenario is priced at a stated use, e.g. --use 0.4; `gpusim run` simulates it");
    if (rc == 0) rc = runner_load(&r, path, o->set.v, o->set.n, NULL, 0, &d, e);
    if (rc == 0 && d.count > 0) rc = problems_first(&d, e);
    if (rc == 0) rc = price_scenario(&w, &r, o, e);
    runner_fini(&r);
    diag_fini(&d);
    arena_destroy(w.a);
    return rc;
}

/* ---- the command ---- */

static int check_options(const struct options *o, struct err *e)
{
    if (!isnan(o->use) && !(o->use >= 0 && o->use <= 1))
        return err_set(e, ERR_USAGE, NULL, "--use: expected a share from 0 to 1, found %g", o->use);
    if (o->monte_carlo > MOST_SAMPLES)
        return err_set(e, ERR_USAGE, NULL, "--monte-carlo: at most %d draws", (int)MOST_SAMPLES);
    if (o->as_of && isnan(price_age_years(o->as_of, o->as_of)))
        return err_set(e, ERR_USAGE, NULL,
                       "--as-of: expected a date such as 2026-08-31, found '%s'", o->as_of);
    return 0;
}

static int dispatch(char **path, size_t n, const struct options *o, struct err *e)
{
    struct json_doc doc = { 0 };
    char file[4096];
    result_path(file, sizeof file, path[0]);
    int rc = load(&doc, file, o, e);
    if (rc != 0) return rc;
    const bool plain = json_is_object(doc.root);
    const json_t *format = plain ? json_object_get(doc.root, "format") : doc.root;
    const char *word = json_is_string(format) ? json_string_value(format) : "";
    if (o->curves && strncmp(word, "gpusim-", 7) == 0 && strcmp(word, PLAIN_FORMAT) != 0) {
        rc = err_set(e, ERR_USAGE, NULL, "--curves goes with %s files only", PLAIN_FORMAT);
    } else if ((n > 1 || o->against) && strcmp(word, "gpusim-result/1") != 0) {
        rc = err_set(e, ERR_USAGE, NULL,
                     n > 1 ? "several files are replications of a result; %s is none"
                           : "--against goes with a result; %s is none",
                     file);
    } else if (strcmp(word, PLAIN_FORMAT) == 0) {
        rc = tco_plain(&doc, o, e);
    } else if (strcmp(word, "gpusim-result/1") == 0) {
        rc = tco_result(&doc, path + 1, n - 1, o, e);
    } else if (strcmp(word, "gpusim-scenario/1") == 0) {
        rc = tco_scenario(file, o, e);
    } else {
        rc = err_set(e, ERR_INPUT, &(struct loc){ .file = file, .path = "/format" },
                     "expected %s, gpusim-result/1 or gpusim-scenario/1, found %s", PLAIN_FORMAT,
                     json_found((char[64]){ 0 }, 64, format));
    }
    json_doc_fini(&doc);
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { .use = NAN, .seed = 1 };
    char **operand;
    int n;
    int rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc != 0) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (o.quiet) log_set_level(LOG_QUIET);
    if (n < 1)
        rc = err_set(e, ERR_USAGE, NULL,
                     "expected a scenario, a %s file, or a result and its replications",
                     PLAIN_FORMAT);
    if (rc == 0) rc = check_options(&o, e);
    if (rc == 0) rc = dispatch(operand, (size_t)n, &o, e);
    opt_fini(opts, &o);
    return rc;
}

const struct command cmd_tco = {
    .name = "tco",
    .args = "SCENARIO|RESULT...|TCO.json",
    .help = "price fleets at a stated use, or a stored result under another price book",
    .example = "gpusim tco scenarios/tco-l40s.json --monte-carlo 10000",
    .opts = opts,
    .run = run,
};
