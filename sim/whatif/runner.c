#include "whatif/runner.h"

#include "base/instream.h"
#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/vec.h"
#include "cost/months.h"
#include "cost/tco.h"
#include "metrics/collect.h"
#include "metrics/compare.h"
#include "metrics/decide.h"
#include "metrics/service_stats.h"
#include "metrics/sink_csv.h"
#include "metrics/sink_slots.h"
#include "metrics/sink_timeline.h"
#include "whatif/chances.h"
#include "whatif/inputs.h"
#include "whatif/run_check.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static bool chosen(const char *name, const char *const *only, size_t n_only)
{
    for (size_t i = 0; i < n_only; i++)
        if (strcmp(only[i], name) == 0) return true;
    return n_only == 0;
}

static bool has_policy(const struct scenario *s, const char *name)
{
    for (size_t p = 0; p < s->n_policies; p++)
        if (strcmp(s->policy[p].name, name) == 0) return true;
    return false;
}

static int check_choice(const struct scenario *s, const char *const *only, size_t n_only,
                        struct arena *a, struct err *e)
{
    for (size_t i = 0; i < n_only; i++) {
        if (has_policy(s, only[i])) continue;
        char list[200];
        const char **names = arena_array(a, s->n_policies, sizeof *names);
        for (size_t p = 0; p < s->n_policies; p++) names[p] = s->policy[p].name;
        err_set(e, ERR_USAGE, NULL, "the scenario has no policy '%s'", only[i]);
        err_hint(e, "it has: %s", str_list(list, sizeof list, names, s->n_policies));
        return ERR_USAGE;
    }
    return 0;
}

/* Usage of the fleet as far as the cost engine needs it before a run. */
static struct usage fleet_of(const struct plan *p, struct arena *a)
{
    struct usage_group *g = arena_array(a, p->n_groups, sizeof *g);
    for (size_t i = 0; i < p->n_groups; i++)
        g[i] = (struct usage_group){ .name = p->group[i].spec->name,
                                     .gpu = p->group[i].type.gpu,
                                     .nodes = p->group[i].spec->nodes,
                                     .cards = p->group[i].cards };
    return (struct usage){ .group = g, .n_groups = p->n_groups };
}

static void check_prices(const struct plan *p, struct arena *a, struct diag *d)
{
    struct err e = { 0 };
    const struct usage fleet = fleet_of(p, a);
    if (p->priced && tco_check(&fleet, p->share->name, &p->prices, &e) != 0) diag_add_err(d, &e);
}

/* The book of rent has a price for every card that is bought. */
static void load_rent(struct runner *r, const struct world *world, struct diag *d)
{
    struct err e = { 0 };
    char sha[65];
    if (!r->scenario.rent) return;
    int rc = price_book_load(&r->rent, r->arena, r->scenario.rent, world->gpus, sha, &e);
    for (size_t i = 0; rc == 0 && i < r->n; i++) {
        const struct usage fleet = fleet_of(&r->plan[i], r->arena);
        if (r->plan[i].priced) rc = tco_check(&fleet, r->plan[i].share->name, &r->rent, &e);
    }
    if (rc != 0) diag_add_err(d, &e);
}

/* Everything that work is read from, in scenario order. */
static int hash_traces(struct runner *r, struct err *e)
{
    const struct scenario *s = &r->scenario;
    const char **hash = arena_array(r->arena, s->n_work + 1, sizeof *hash);
    size_t n = 0;
    for (size_t i = 0; i < s->n_work; i++) {
        const char *path = input_of_work(&s->work[i]);
        if (!path) continue; /* all of it stands in the scenario */
        char *hex = arena_alloc(r->arena, 65);
        const int rc = instream_file_sha256(path, hex, e);
        if (rc != 0) return rc;
        hash[n++] = hex;
    }
    r->result.trace_sha256 = hash;
    r->result.n_traces = n;
    return 0;
}

typedef VEC(struct result_input) input_list;

struct listing {
    struct runner *r;
    input_list list;
};

/* One more file, unless it is there already. */
static int add_input(void *ctx, const char *kind, const char *path, struct err *e)
{
    struct listing *to = ctx;
    struct runner *r = to->r;
    input_list *list = &to->list;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char hex[65];
    const int rc = instream_file_sha256(path, hex, e);
    if (rc != 0) return rc;
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->v[i].kind, kind) == 0 && strcmp(list->v[i].name, name) == 0 &&
            strcmp(list->v[i].sha256, hex) == 0)
            return 0;
    const struct result_input in = { kind, arena_strdup(r->arena, name),
                                     arena_strdup(r->arena, hex) };
    vec_push(list, in);
    return 0;
}

static int hash_files(struct runner *r, struct err *e)
{
    const struct scenario *s = &r->scenario;
    struct listing to = { .r = r };
    int rc = hash_traces(r, e);
    if (rc == 0) rc = inputs_beside(r, add_input, &to, e);
    for (size_t i = 0; i < s->n_work && rc == 0; i++)
        if (s->work[i].kind == WORK_GENERATE)
            rc = inputs_recorded(s->work[i].spec, add_input, &to, e);
    struct result_input *copy = arena_array(r->arena, to.list.n + 1, sizeof *copy);
    if (to.list.n) memcpy(copy, to.list.v, to.list.n * sizeof *copy);
    r->result.input = copy;
    r->result.n_inputs = to.list.n;
    vec_fini(&to.list);
    return rc;
}

/* Traces in memory for those items whose trace the shelf keeps. */
static void lend_rows(struct runner *r, struct trace_shelf *shelf)
{
    struct scenario *s = &r->scenario;
    const struct trace_rows **rows = arena_array(r->arena, s->n_work + 1, sizeof *rows);
    const struct request_rows **requests = arena_array(r->arena, s->n_work + 1, sizeof *requests);
    for (size_t i = 0; i < s->n_work; i++) {
        const struct work_item *w = &s->work[i];
        if (w->kind == WORK_JOBS) rows[i] = trace_shelf_get(shelf, w->trace);
        if (w->service && w->service->requests)
            requests[i] = trace_shelf_requests(shelf, w->service->requests);
    }
    s->rows = rows;
    s->request_rows = requests;
    s->lender = trace_shelf_lender(shelf);
}

/* Is there enough of the scenario to look further, although something is wrong with it? */
static bool can_plan(const struct scenario *s)
{
    for (size_t p = 0; p < s->n_policies; p++) {
        const struct policy_spec *x = &s->policy[p];
        if (!x->kind || !x->schedule.order || !x->schedule.place || !x->schedule.backfill ||
            !x->schedule.gang || !x->schedule.when_full || x->n_fleet == 0)
            return false;
        for (size_t g = 0; g < x->n_fleet; g++)
            if (!x->fleet[g].gpu || x->fleet[g].nodes < 1 || x->fleet[g].gpus_per_node < 0)
                return false;
    }
    return s->n_policies > 0 && s->schedule.order && s->schedule.place && s->schedule.backfill &&
           s->schedule.gang && s->schedule.when_full;
}

int runner_load_with(struct runner *r, const char *path, const struct runner_options *o,
                     struct diag *d, struct err *e)
{
    *r = (struct runner){ .arena = arena_create(),
                          .replication = o->replication,
                          .keep_percentiles = o->keep_percentiles,
                          .silent = o->silent,
                          .mute = o->mute };
    int rc = scenario_load(&r->scenario, path, o->set, o->n_set, d, e);
    if (rc == 0 && !o->world) rc = world_load(&r->world, e);
    if (rc != 0 || !can_plan(&r->scenario)) return rc;
    if ((rc = check_choice(&r->scenario, o->only, o->n_only, r->arena, e)) != 0) return rc;
    if (o->shelf && d->count == 0) lend_rows(r, o->shelf);
    const struct world *world = o->world ? o->world : &r->world;
    const struct scenario *s = &r->scenario;
    json_t **share = arena_array(r->arena, s->n_policies, sizeof *share);
    json_t **order = arena_array(r->arena, s->n_policies, sizeof *order);
    r->plan = xcalloc(s->n_policies, sizeof *r->plan);
    for (size_t p = 0; p < s->n_policies; p++) {
        struct plan *plan = &r->plan[r->n];
        const bool mine = chosen(s->policy[p].name, o->only, o->n_only);
        struct diag ignored;
        diag_init(&ignored);
        struct diag *to = mine ? d : &ignored;
        plan_build(plan, world, s, p, to);
        if (to->count == 0) check_prices(plan, r->arena, to);
        const bool wrong = ignored.count > 0; /* not what was read of it, but as it stands */
        diag_fini(&ignored);
        share[p] = json_incref(wrong ? s->policy[p].share : plan->share_json);
        order[p] = json_incref(wrong ? NULL : plan->order_json);
        if (mine)
            r->n++;
        else
            plan_fini(plan);
    }
    plan_check_schedule(world, s, d);
    if (d->count == 0) load_rent(r, world, d);
    if (d->count == 0) r->resolved = scenario_resolved(s, share, order);
    for (size_t p = 0; p < s->n_policies; p++) json_decref(share[p]), json_decref(order[p]);
    if (d->count > 0) return 0;
    r->result.scenario_name = s->name;
    r->result.scenario_sha256 = s->sha256;
    r->result.seed = (uint64_t)s->seed;
    const char **changed = arena_array(r->arena, o->n_set + 1, sizeof *changed);
    for (size_t i = 0; i < o->n_set; i++) changed[i] = arena_strdup(r->arena, o->set[i]);
    r->result.set = changed;
    r->result.n_set = o->n_set;
    r->result.scenario = r->resolved;
    return o->no_hash ? 0 : hash_files(r, e);
}

int runner_load(struct runner *r, const char *path, const char *const *set, size_t n_set,
                const char *const *only, size_t n_only, struct diag *d, struct err *e)
{
    const struct runner_options o = { .set = set, .n_set = n_set, .only = only, .n_only = n_only };
    return runner_load_with(r, path, &o, d, e);
}

bool runner_is_random(const struct runner *r)
{
    for (size_t i = 0; i < r->scenario.n_work; i++)
        if (r->scenario.work[i].kind == WORK_GENERATE ||
            (r->scenario.work[i].service && service_is_random(r->scenario.work[i].service)))
            return true;
    return false;
}

/* A file without a name: gone with the process, whatever happens. */
static FILE *scratch(const char *dir, struct err *e)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/.gpusim-XXXXXX", dir);
    const int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
    if (fd >= 0) unlink(path);
    if (!f) {
        if (fd >= 0) close(fd);
        err_set(e, err_of_errno(errno), NULL, "%s: cannot make a scratch file: %s", dir, strerror(errno));
    }
    return f;
}

struct task {
    struct runner *r;
    struct policy_result *result;
    struct err *error;
    const char *dir; /* for scratch files */
};

static void show_progress(void *ctx, double share)
{
    log_progress(ctx, share);
}

static struct jobs_csv jobs_csv_of(const struct plan *plan)
{
    struct jobs_csv jobs = { .usd_per_card_hour = NAN };
    if (!plan->priced) return jobs;
    const struct usage fleet = fleet_of(plan, plan->arena);
    const struct tco_rates rates = tco_rates(&plan->prices, plan->share->name, &fleet);
    jobs.usd_per_card_hour = rates.card_usd;
    jobs.usd_per_held_hour = rates.held_usd;
    jobs.usd_per_kwh = rates.kwh_usd;
    jobs.by_allocation = plan->prices.charge == CHARGE_ALLOCATED;
    jobs.price_later = !rates.known;
    return jobs;
}

/* Prices that depend on all of the run: fill in what the jobs cost. */
static int price_jobs(const struct task *t, size_t i, struct jobs_csv *jobs, struct err *e)
{
    const struct plan *plan = &t->r->plan[i];
    const struct tco_rates rates =
        tco_rates_after(&t->result[i].usage, plan->share->name, &plan->prices);
    FILE *priced = scratch(t->dir, e);
    if (!priced) return ERR_IO;
    jobs->usd_per_card_hour = rates.card_usd;
    jobs->usd_per_held_hour = rates.held_usd;
    jobs->usd_per_kwh = rates.kwh_usd;
    const int rc = jobs_csv_price(jobs, priced, e);
    fclose(t->r->jobs[i]);
    t->r->jobs[i] = priced;
    return rc;
}

static void price(const struct plan *plan, struct policy_result *p)
{
    if (plan->priced) p->tco = tco_price(&p->usage, plan->share->name, &plan->prices, plan->arena);
    service_stats_price(p);
}

static int run_one(void *ctx, size_t i)
{
    const struct task *t = ctx;
    struct runner *r = t->r;
    struct plan *plan = &r->plan[i];
    struct sink sinks[6];
    struct sim_totals totals = { 0 };
    struct collect *collect = collect_create(plan);
    struct jobs_csv jobs = jobs_csv_of(plan);
    size_t n = 0;
    if (r->keep_percentiles) collect_keep_percentiles(collect);
    sinks[n++] = collect_sink(collect);
    if (r->jobs) {
        jobs.to = r->jobs[i];
        sinks[n++] = jobs_csv_sink(&jobs);
    }
    if (r->series) sinks[n++] = series_csv_sink(r->series[i]);
    struct services_csv services = { 0 };
    if (r->services) {
        services = services_csv_init(r->services[i], plan);
        sinks[n++] = services_csv_sink(&services);
    }
    struct slots_csv slots = { .to = r->slots ? r->slots[i] : NULL };
    if (slots.to && slots_csv_has(plan)) sinks[n++] = slots_csv_sink(&slots);
    struct timeline_sink timeline = { 0 };
    if (r->timeline) {
        timeline = timeline_init(r->timeline[i], plan, (int)i);
        sinks[n++] = timeline_sink(&timeline);
    }
    char *what = arena_printf(plan->arena, "%s/%s", r->scenario.name, plan->spec->name);
    const struct sim_options opt = { .replication = r->replication,
                                     .sinks = sinks,
                                     .n_sinks = n,
                                     .sample = r->scenario.sample,
                                     .mute = r->mute,
                                     .progress = r->silent ? NULL : show_progress,
                                     .progress_ctx = what,
                                     .stop = r->stop };
    int rc = sim_run(plan, &opt, &totals, &t->error[i]);
    if (rc == 0 && r->timeline) rc = timeline_write(&timeline, plan, &t->error[i]);
    if (rc == 0) collect_result(collect, &totals, plan->arena, &t->result[i]);
    if (rc == 0) price(plan, &t->result[i]);
    if (rc == 0 && r->jobs && jobs.price_later) rc = price_jobs(t, i, &jobs, &t->error[i]);
    sim_totals_fini(&totals);
    jobs_csv_fini(&jobs);
    services_csv_fini(&services);
    timeline_fini(&timeline);
    collect_destroy(collect);
    return rc;
}

static int open_scratch(struct runner *r, const char *dir, struct err *e)
{
    if (!dir) return 0;
    if (r->scenario.write_jobs) r->jobs = xcalloc(r->n, sizeof *r->jobs);
    r->series = xcalloc(r->n, sizeof *r->series);
    for (size_t i = 0; i < r->n && !r->slots; i++)
        if (slots_csv_has(&r->plan[i])) r->slots = xcalloc(r->n, sizeof *r->slots);
    if (r->scenario.timeline.on) r->timeline = xcalloc(r->n, sizeof *r->timeline);
    if (r->scenario.n_services) r->services = xcalloc(r->n, sizeof *r->services);
    for (size_t i = 0; i < r->n; i++) {
        if (r->jobs && !(r->jobs[i] = scratch(dir, e))) return ERR_IO;
        if (!(r->series[i] = scratch(dir, e))) return ERR_IO;
        if (r->slots && !(r->slots[i] = scratch(dir, e))) return ERR_IO;
        if (r->timeline && !(r->timeline[i] = scratch(dir, e))) return ERR_IO;
        if (r->services && !(r->services[i] = scratch(dir, e))) return ERR_IO;
    }
    return 0;
}

/* Instead of advice, where policies ended at different times. */
static void partial_advice(struct result *r, struct arena *a)
{
    const char **say = arena_array(a, r->n_policies + 1, sizeof *say);
    size_t n = 0;
    say[n++] =
        "Interrupted: these are partial results. Policies were cut off at different times, so there is "
        "no comparison and no advice; run it again to the end.";
    for (size_t i = 0; i < r->n_policies; i++)
        say[n++] = r->policy[i].interrupted
                       ? arena_printf(a, "%s: %s.", r->policy[i].name, r->policy[i].unstable_reason)
                       : arena_printf(a, "%s ran to the end.", r->policy[i].name);
    r->advice = say;
    r->n_advice = n;
}

/* The further replications of each policy, figures only. */
struct repeats {
    struct runner *r;
    struct policy_result **run; /* by policy; the first is that of the result */
    struct err *error;
};

/* One policy, one replication after the other: they share the plan's arena. */
static int repeat_one(void *ctx, size_t i)
{
    const struct repeats *t = ctx;
    struct plan *plan = &t->r->plan[i];
    int rc = 0;
    for (size_t k = 1; k < t->r->replications && rc == 0; k++) {
        struct sim_totals totals = { 0 };
        struct collect *collect = collect_create(plan);
        struct sink sink = collect_sink(collect);
        const struct sim_options opt = { .replication = t->r->replication + k,
                                         .sinks = &sink,
                                         .n_sinks = 1,
                                         .mute = true,
                                         .sample = t->r->scenario.sample,
                                         .stop = t->r->stop };
        rc = sim_run(plan, &opt, &totals, &t->error[i]);
        if (rc == 0) collect_result(collect, &totals, plan->arena, &t->run[i][k]);
        if (rc == 0) price(plan, &t->run[i][k]);
        sim_totals_fini(&totals);
        collect_destroy(collect);
    }
    return rc;
}

/* How many replications there are; 1 after an interruption. Negative: an error. */
static int repeat(struct runner *r, struct policy_result **run, unsigned threads, struct err *e)
{
    struct err *error = xcalloc(r->n, sizeof *error);
    struct repeats t = { r, run, error };
    bool whole = true;
    int rc = r->replications > 1 ? parallel_for(r->n, threads, repeat_one, &t) : 0;
    for (size_t i = 0; rc != 0 && i < r->n; i++)
        if (error[i].code == (enum err_code)rc) {
            *e = error[i];
            break;
        }
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 1; k < r->replications; k++) whole = whole && !run[i][k].interrupted;
    free(error);
    if (rc != 0) return rc;
    return r->replications > 1 && whole ? (int)r->replications : 1;
}

/* The further replications, and what paying for it comes to, over time and by chance. */
static int judge_money(struct runner *r, struct policy_result *result, unsigned threads,
                       struct err *e)
{
    const char **share = arena_array(r->arena, r->n, sizeof *share);
    const struct price_book **book = arena_array(r->arena, r->n, sizeof *book);
    struct policy_result **run = arena_array(r->arena, r->n, sizeof *run);
    for (size_t i = 0; i < r->n; i++) {
        share[i] = r->plan[i].share->name;
        book[i] = r->plan[i].priced ? &r->plan[i].prices : NULL;
        run[i] = arena_array(r->arena, r->replications + 1, sizeof *run[i]);
        run[i][0] = result[i];
    }
    const int n = repeat(r, run, threads, e);
    if (n < 0) return n;
    if (n > 1) {
        const struct replicated x = { (const struct policy_result *const *)run, (size_t)n };
        compare_policies(&r->result, &x, r->arena);
        r->result.advice_replications = x.n;
    }
    months_paybacks(result, r->n, r->arena);
    for (size_t i = 0; i < r->n && r->scenario.rent; i++) {
        if (!result[i].tco.priced) continue;
        const struct tco_result rented =
            tco_price(&result[i].usage, r->plan[i].share->name, &r->rent, r->arena);
        months_add_payback(&result[i].tco, r->rent.name, &rented, r->arena);
    }
    chances_fill(
        &r->result,
        &(struct chances){ share, book, (const struct policy_result *const *)run, (size_t)n },
        r->arena);
    return 0;
}

int runner_run(struct runner *r, const char *dir, unsigned threads, struct err *e)
{
    struct err *error = xcalloc(r->n, sizeof *error);
    struct policy_result *result = arena_array(r->arena, r->n, sizeof *result);
    struct task t = { r, result, error, dir };
    int rc = open_scratch(r, dir, e);
    if (rc == 0) {
        rc = parallel_for(r->n, threads, run_one, &t);
        if (!r->silent) log_progress_done();
        for (size_t i = 0; rc != 0 && i < r->n; i++)
            if (error[i].code == (enum err_code)rc) {
                *e = error[i];
                break;
            }
    }
    r->result.policy = result;
    r->result.n_policies = r->n;
    for (size_t i = 0; rc == 0 && i < r->n; i++)
        rc = run_check(&result[i], r->keep_percentiles, e);
    bool whole = true;
    for (size_t i = 0; rc == 0 && i < r->n; i++) whole = whole && !result[i].interrupted;
    if (rc == 0 && whole) {
        compare_policies(&r->result, NULL, r->arena);
        decide_policies(&r->result, r->arena);
        if (!r->silent) rc = judge_money(r, result, threads, e);
    } else if (rc == 0) {
        partial_advice(&r->result, r->arena);
    }
    free(error);
    return rc;
}

static void close_all(FILE **f, size_t n)
{
    for (size_t i = 0; f && i < n; i++)
        if (f[i]) fclose(f[i]);
    free(f);
}

void runner_fini(struct runner *r)
{
    close_all(r->jobs, r->n);
    close_all(r->series, r->n);
    close_all(r->services, r->n);
    close_all(r->slots, r->n);
    close_all(r->timeline, r->n);
    for (size_t i = 0; i < r->n; i++) plan_fini(&r->plan[i]);
    free(r->plan);
    json_decref(r->resolved);
    scenario_fini(&r->scenario);
    world_fini(&r->world);
    arena_destroy(r->arena);
    *r = (struct runner){ 0 };
}
