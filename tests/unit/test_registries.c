/* Conformance: every member of every registry - sharing, ordering and placement policies, trace
 * formats, commands - meets the same checks, so that a new file is tested from its first day. */
#include "tests/support/simulate.h"

#include "cli/command.h"
#include "engine/cluster.h"
#include "engine/route.h"
#include "engine/serve.h"
#include "traces/format.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gpu_catalogue *cards;
static struct gpu_profile shipped;
static struct arena *arena;
static const struct json_doc no_doc;

/* One card of each kind that matters: MIG boards of 8, 4 and 12 units, none, and the flat unit. */
static const char *const card_names[] = {
    "a100-sxm4-40gb", "a100-sxm4-80gb", "a30", "h100-sxm5-80gb", "t4", "l40s",
    "generic",        "rtxpro6000bw-se"
};
enum { N_CARDS = sizeof card_names / sizeof *card_names };

static int set_up(void **state)
{
    struct err e = { 0 };
    (void)state;
    arena = arena_create();
    profile_defaults(&shipped);
    return gpu_catalogue_load(&cards, NULL, &e);
}

static int tear_down(void **state)
{
    (void)state;
    gpu_catalogue_destroy(cards);
    arena_destroy(arena);
    return 0;
}

static struct card_type card_type(size_t i, uint64_t context)
{
    const struct gpu_spec *gpu = gpu_find(cards, card_names[i], NULL);
    assert_non_null(gpu);
    return (struct card_type){ .gpu = gpu, .profile = &shipped, .context_bytes = context };
}

/* ---- names and help of all registries ---- */

static void well_formed(const char *kind, const char *name, const char *help, const char *before)
{
    if (!name || !*name || !help || !*help) fail_msg("%s '%s' lacks a name or help", kind, name);
    for (const char *s = name; *s; s++)
        if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && !strchr("_-", *s))
            fail_msg("%s '%s': a name is lower case letters, digits and _", kind, name);
    if (before && strcmp(before, name) >= 0) fail_msg("%s: '%s' after '%s'", kind, name, before);
    if (strlen(help) > 160 || strpbrk(help, "\n\t"))
        fail_msg("%s '%s': help is one line", kind, name);
    const size_t len = strlen(help);
    if (help[len - 1] == '.' && !(len > 2 && help[len - 2] == '.')) /* but "..." */
        fail_msg("%s '%s': help without full stop", kind, name);
}

#define NAMES(registry, kind)                                                                      \
    do {                                                                                           \
        assert_non_null((registry)[0]);                                                            \
        for (size_t i_ = 0; (registry)[i_]; i_++)                                                  \
            well_formed((kind), (registry)[i_]->name, (registry)[i_]->help,                        \
                        i_ ? (registry)[i_ - 1]->name : NULL);                                     \
    } while (0)

static void names_and_help(void **state)
{
    (void)state;
    NAMES(share_all, "share");
    NAMES(order_all, "order");
    NAMES(place_all, "place");
    NAMES(serve_all, "serve");
    NAMES(route_all, "route");
    NAMES(fmt_all, "format");
    NAMES(cmd_all, "command");
}

/* ---- sharing policies ---- */

/* Parameters from `text` (NULL: defaults), unbound. */
static void *params_of(const struct share_ops *s, const char *text, struct json_doc *doc)
{
    static const char *const more[] = { "kind" };
    struct diag d;
    struct err e = { 0 };
    void *p = arena_alloc(arena, s->params_size);
    memset(p, 0, s->params_size);
    diag_init(&d);
    *doc = (struct json_doc){ 0 };
    if (text) assert_int_equal(json_doc_parse(doc, "share", text, strlen(text), &e), 0);
    cfg_read(s->fields, s->fields_n, p, arena, text ? doc : &no_doc, doc->root, "", more, 1, &d);
    if (d.count) fail_msg("%s: %s %s", s->name, d.problem[0].where, d.problem[0].msg);
    diag_fini(&d);
    return p;
}

static void required_hooks(void **state)
{
    const struct share_ops *s = *state;
    assert_true(s->params_size > 0);
    assert_true(s->bind && s->capacity && s->demand && s->speeds);
    assert_true(s->instances == (s->instance_rules != NULL));
    assert_true(!s->node_link || s->duty);
    assert_true(s->uses_n == 0 || (s->uses && s->overrides));
    for (size_t i = 0; i < s->fields_n; i++) {
        well_formed(s->name, s->fields[i].name, s->fields[i].help, NULL);
        assert_true(s->fields[i].offset < s->params_size);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(s->fields[i].name, s->fields[k].name);
    }
    for (size_t i = 0; i < s->uses_n; i++) {
        /* what comes from the profile has no default of its own, and its help says so */
        assert_true(s->uses[i] < PROFILE_COUNT && s->overrides[i] < s->fields_n);
        const struct cfg_field *f = &s->fields[s->overrides[i]];
        assert_null(f->dflt);
        assert_false(f->required);
        assert_contains(f->help, "profile");
    }
}

static void resolved_form_reads_back(void **state)
{
    const struct share_ops *s = *state;
    struct json_doc none, again;
    struct strbuf first = { 0 }, second = { 0 };
    json_t *a = cfg_write(s->fields, s->fields_n, params_of(s, NULL, &none));
    json_write(a, &first);
    json_t *b = cfg_write(s->fields, s->fields_n, params_of(s, first.s, &again));
    json_write(b, &second);
    assert_string_equal(first.s, second.s);
    json_decref(a);
    json_decref(b);
    json_doc_fini(&again);
    strbuf_fini(&first);
    strbuf_fini(&second);
}

/* Bound parameters with defaults, or NULL where the policy refuses the card. */
static void *bound(const struct share_ops *s, const struct card_type *type)
{
    struct json_doc none;
    void *p = params_of(s, NULL, &none);
    const char *why = s->bind(p, arena, type);
    if (!why) return p;
    assert_true(*why && why[strlen(why) - 1] != '.');
    return NULL;
}

static void binds_what_it_can_share(void **state)
{
    const struct share_ops *s = *state;
    for (size_t i = 0; i < N_CARDS; i++) {
        const struct card_type type = card_type(i, 0);
        void *p = bound(s, &type);
        if (!s->instances) assert_non_null(p);
        if (s->instances) assert_int_equal(p != NULL, type.gpu->mig != NULL);
        if (!p) continue;
        const int32_t units = s->capacity(p, &type);
        assert_true(units > 0 && units <= 1000);
        if (s->startup)
            for (size_t n = 0; n < 3; n++) {
                assert_true(s->startup(p, &type, n) >= 0);
                assert_true(s->startup(p, &type, n + 1) >= s->startup(p, &type, n));
            }
        if (!s->instances) continue;
        struct instance_rules r;
        s->instance_rules(p, 0, &r);
        assert_true(r.repartition >= 0 && r.mode_change >= 0 && (r.on_demand || r.layout || r.off));
    }
}

static void demands_are_sane(void **state)
{
    static const int32_t gpus[] = { 0, 1, 250, 999, 1000, 8000, 1000000000, 2147483000 };
    static const int32_t n_cards[] = { 0, 1, 1, 1, 1, 8, 1000000, 2147483 };
    static const uint64_t contexts[] = { 0, UINT64_C(500) << 20 };
    const struct share_ops *s = *state;
    const struct signature sig = signature_default();
    for (size_t i = 0; i < 2 * N_CARDS; i++) {
        const struct card_type type = card_type(i / 2, contexts[i % 2]);
        const void *p = bound(s, &type);
        if (!p) continue;
        const uint64_t bytes[] = {
            JOB_NO_BYTES,  0, 1000, type.gpu->usable_bytes / 8, type.gpu->usable_bytes + 1,
            UINT64_MAX - 1
        };
        for (size_t k = 0; k < sizeof gpus / sizeof *gpus; k++)
            for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++)
                for (int32_t slots = 1; slots <= 3; slots++) {
                    const struct request r = { gpus[k], slots, bytes[b], &sig };
                    struct demand d = { 0 };
                    const char *why = s->demand(p, &type, &r, &d);
                    if (why) {
                        assert_true(*why && why[strlen(why) - 1] != '.');
                        continue;
                    }
                    assert_int_equal(d.cards, n_cards[k]);
                    assert_true(d.units >= (d.cards > 0) && d.units <= s->capacity(p, &type));
                    assert_true(d.core_cap >= 0 && d.core_cap <= 1); /* 0 only without cards */
                    assert_true(d.core_cap > 0 || d.cards == 0);
                    assert_true(d.reserve_bytes == 0 || d.reserve_bytes == d.alloc_bytes);
                    assert_true(d.reserve_bytes <= type.gpu->usable_bytes);
                    assert_true(d.limit_bytes > 0);
                    if (bytes[b] != JOB_NO_BYTES)
                        assert_true(d.alloc_bytes == bytes[b] + type.context_bytes);
                    assert_int_equal(d.mig_profile >= 0,
                                     s->instances && gpus[k] > 0 && gpus[k] < 1000);
                }
        /* a need beyond every card: refused by whoever counts memory, out of memory for the rest */
        const struct request huge = { 250, 1, type.gpu->usable_bytes + 1, &sig };
        struct demand d = { 0 };
        const char *why = s->demand(p, &type, &huge, &d);
        if (!why) assert_true(d.reserve_bytes == 0 && d.alloc_bytes > type.gpu->usable_bytes);
    }
}

/* What a resident keeps busy, as engine/residents_measure.c does. */
static double sm_of(const struct share_ops *s, const struct card_type *type,
                    const struct resident_view *v, double speed)
{
    const double cap = v->demand->mig_profile >= 0
                           ? mig_sm_share(type->gpu, v->demand->mig_profile, NULL)
                       : s->spatial_cap ? v->demand->core_cap
                                        : 1.0;
    const struct signature *g = v->sig;
    return speed * (g->compute * fmax(1, g->sm_width / cap) + g->memory) * fmin(g->sm_width, cap);
}

static double uniform(uint64_t *seed)
{
    return (double)(test_random(seed) >> 11) * 0x1p-53;
}

static struct signature random_signature(uint64_t *seed)
{
    struct signature s = signature_default();
    const double a = uniform(seed), b = uniform(seed), c = uniform(seed) + 1e-9;
    s.host = test_random(seed) % 4 ? a / (a + b + c) : 0;
    s.compute = test_random(seed) % 4 ? (1 - s.host) * b / (b + c) : 0;
    s.memory = 1 - s.host - s.compute;
    s.sm_width = 0.02 + 0.98 * uniform(seed);
    s.bw_width = 0.02 + 0.98 * uniform(seed);
    s.launches_per_s = test_random(seed) % 2 ? 30000 * uniform(seed) : 0;
    s.syncs_per_s = test_random(seed) % 2 ? 3000 * uniform(seed) : 0;
    s.kernel_us = test_random(seed) % 2 ? 200 * uniform(seed) : (double)NAN;
    s.pcie_Bps = test_random(seed) % 2 ? 1e10 * uniform(seed) : 0;
    return s;
}

enum { MANY = 64 };

/* Random sets of residents that fit onto a card: speeds in (0, 1], the card is not busier than one
 * card, no order matters. */
static void speeds_of_random_residents(void **state)
{
    const struct share_ops *s = *state;
    uint64_t seed = test_seed();
    for (int round = 0; round < 600; round++) {
        const struct card_type type = card_type((size_t)round % N_CARDS, 0);
        const void *p = bound(s, &type);
        if (!p) continue;
        struct signature sig[MANY];
        struct demand demand[MANY] = { { 0 } };
        struct resident_view view[MANY], turned[MANY];
        double speed[MANY], other[MANY], sum = 0;
        size_t n = 0;
        mig_mask busy = 0;
        const size_t most = 1 + test_random(&seed) % (round % 20 ? 9 : MANY);
        int32_t left = s->capacity(p, &type);
        for (size_t i = 0; i < most && n < MANY; i++) {
            const struct request r = { (int32_t)(1 + test_random(&seed) % 300), 1, 1000, &sig[n] };
            sig[n] = n && test_random(&seed) % 3 == 0 ? sig[n - 1] : random_signature(&seed);
            if (s->demand(p, &type, &r, &demand[n]) || demand[n].units > left) continue;
            if (s->instances) {
                const int profile = demand[n].mig_profile;
                const int start = mig_place(type.gpu->mig, busy, profile, MIG_LOWEST);
                if (start < 0) continue;
                busy |= mig_slice_mask(type.gpu->mig, (struct mig_slice){ profile, start });
            }
            left -= demand[n].units;
            view[n] = (struct resident_view){
                .sig = &sig[n],
                .demand = &demand[n],
                .slice = demand[n].mig_profile < 0 ? NULL
                                                   : &type.gpu->mig->profile[demand[n].mig_profile],
            };
            n++;
        }
        if (n == 0) continue;
        const struct share_view v = { .type = &type, .resident = view, .n = n };
        for (size_t i = 0; i < n; i++) speed[i] = other[i] = (double)NAN;
        s->speeds(p, &v, speed);
        for (size_t i = 0; i < n; i++) {
            if (!(speed[i] > 0 && speed[i] <= 1 + 1e-9))
                fail_msg("%s: speed %.17g of resident %zu of %zu", s->name, speed[i], i, n);
            sum += sm_of(s, &type, &view[i], speed[i]);
        }
        if (!(sum <= 1 + 1e-6))
            fail_msg("%s on %s: %zu residents keep %.9g cards busy", s->name, type.gpu->name, n,
                     sum);
        const double duty = s->duty ? s->duty(p, &v, speed) : 0;
        assert_true(duty >= 0 && duty <= 1 + 1e-9);
        for (size_t i = 0; i < n; i++) turned[i] = view[n - 1 - i];
        const struct share_view w = { .type = &type, .resident = turned, .n = n };
        s->speeds(p, &w, other);
        for (size_t i = 0; i < n; i++) assert_close(other[n - 1 - i], speed[i], 1e-6);
    }
}

/* Alone and without a cap, a tenant that makes no calls runs as if the card were its own. */
static void alone_is_full_speed(void **state)
{
    const struct share_ops *s = *state;
    const struct card_type type = card_type(1, 0);
    const void *p = bound(s, &type);
    uint64_t seed = test_seed();
    for (int i = 0; i < 50; i++) {
        struct signature sig = random_signature(&seed);
        sig.launches_per_s = sig.syncs_per_s = sig.pcie_Bps = 0;
        const struct request r = { 1000, 1, JOB_NO_BYTES, &sig };
        struct demand d = { 0 };
        double speed = (double)NAN;
        assert_null(s->demand(p, &type, &r, &d));
        d.core_cap = 1;
        const struct resident_view view = { .sig = &sig, .demand = &d };
        const struct share_view v = { .type = &type, .resident = &view, .n = 1 };
        s->speeds(p, &v, &speed);
        assert_close(speed, 1.0, 1e-12);
    }
}

/* A policy with instances on a card without them stops `gpusim run` with status 3 and says why. */
static void refusal_is_an_input_error(void **state)
{
    (void)state;
    for (size_t i = 0; share_all[i]; i++) {
        char text[600], said[600];
        if (!share_all[i]->instances) continue;
        snprintf(
            text, sizeof text,
            "{'format': 'gpusim-scenario/1', 'name': 'x', 'fleet': [{'name': 'p', 'gpu': 't4'}], "
            "'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}], "
            "'policies': [{'name': 'x', 'share': {'kind': '%s'}}]}",
            share_all[i]->name);
        assert_int_equal(sim_problems(text, "job_id,submit_s,duration_s,gpus\na,0,1,1\n", NULL,
                                      said, sizeof said),
                         1);
        assert_contains(said, "/policies/0/share");
        assert_contains(said, "t4");
        assert_contains(said, "MIG");
    }
}

/* ---- orders ---- */

/* A row that names nothing, and one with every number at its bound, have a rank. */
static void ranks(void **state)
{
    const struct order_ops *o = *state;
    struct job j = { 0 };
    job_row_init(&j.row);
    struct arena *a = arena_create();
    struct diag d;
    diag_init(&d);
    void *params = arena_alloc(a, o->params_size + 1);
    cfg_read(o->fields, o->fields_n, params, a, NULL, NULL, "", NULL, 0, &d);
    assert_int_equal(d.count, 0);
    if (o->bind) assert_null(o->bind(params, a));
    const struct order_view v = { .params = params, .gpus = 8 };
    const int64_t none = o->rank(&v, &j);
    assert_true(o->rank(&v, &j) == none); /* asked twice, said the same */
    j.row.submit = j.row.duration = j.row.walltime = j.row.deadline =
        INT64_C(9200000000) * SIM_SECOND;
    j.row.gpus_milli = INT32_MAX / 1000 * 1000;
    j.remaining = j.row.duration;
    j.row.priority = INT32_MAX;
    (void)o->rank(&v, &j);
    j.row.priority = INT32_MIN + 1;
    (void)o->rank(&v, &j);
    if (o->account_rank) { /* of one that used nothing, and of one that has all there is */
        struct account one = { .weight = 1 };
        const double first = o->account_rank(&v, &one);
        if (o->moved) o->moved(&v, &one, &j, true);
        one.gpus_milli = 8000;
        assert_true(o->account_rank(&v, &one) >= first);
    }
    diag_fini(&d);
    arena_destroy(a);
}

/* ---- placements ---- */

static void placements(void **state)
{
    const struct place_ops *place = *state;
    char text[900];
    for (size_t k = 0; share_all[k]; k++) {
        struct runner run;
        struct pick pick = { 0 };
        snprintf(
            text, sizeof text,
            "{'format': 'gpusim-scenario/1', 'name': 'x', 'fleet': [{'name': 'p', 'gpu': "
            "'a100-sxm4-80gb', 'nodes': 2, 'gpus_per_node': 4, 'cpu_cores': 8}], "
            "'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}], "
            "'schedule': {'place': '%s'}, 'policies': [{'name': 'x', 'share': {'kind': '%s'}}]}",
            place->name, share_all[k]->name);
        sim_load(&run, sim_write(text, "job_id,submit_s,duration_s,gpus\na,0,1,1\n", NULL));
        const struct plan *p = &run.plan[0];
        assert_ptr_equal(p->place, place);
        struct cluster *c = cluster_create(p);
        static const int32_t gpus[] = { 0, 100, 250, 500, 999, 1000, 2000, 4000, 6000, 8000 };
        for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
            const struct request r = { gpus[i], 1, JOB_NO_BYTES, NULL };
            struct demand d = { 0 };
            if (p->share->demand(p->group[0].params, &p->group[0].type, &r, &d)) continue;
            struct place_request q = { .demand = &d,
                                       .cpus_milli = 100,
                                       .host_bytes = JOB_NO_BYTES,
                                       .any_node = p->share->pooled };
            assert_true(place->pick(c, &q, &pick));
            assert_int_equal(pick.card.n, d.cards);
            for (size_t n = 1; n < pick.card.n; n++)
                assert_true(pick.card.v[n - 1] < pick.card.v[n]);
            assert_int_equal(pick.node >= 0, d.cards == 0);
            assert_true(pick.prepare >= 0);
            assert_true(cluster_is_whole(c)); /* looking changes nothing */
            cluster_take(c, &q, &pick);
            cluster_give(c, &q, &pick);
            assert_true(cluster_is_whole(c));
            /* more CPU cores than the fleet has */
            q.cpus_milli = 16001;
            assert_false(place->pick(c, &q, &pick));
            if (d.cards == 0) continue;
            /* one card more than the fleet has */
            d.cards = 9;
            q.cpus_milli = JOB_NO_INT;
            if (d.mig_profile < 0) assert_false(place->pick(c, &q, &pick));
        }
        vec_fini(&pick.card);
        cluster_destroy(c);
        runner_fini(&run);
    }
}

/* ---- formats ---- */

static void well_formed_options(const char *of, const struct opt *o)
{
    for (; o && o->name; o++) {
        well_formed(of, o->name, o->help, NULL);
        assert_int_equal(o->type == OPT_FLAG, o->arg == NULL);
        assert_int_equal(o->type == OPT_CHOICE, o->choices != NULL);
    }
}

static void formats(void **state)
{
    static const char *const heads[] = { "",           "\n",           "{", "a",
                                         "a,b\n1,2\n", "\xff\xfe\x00", "#", "<xml" };
    const struct trace_format *f = *state;
    assert_true(f->sniff && (f->document || (f->open && f->next && f->close)));
    assert_true(!f->document || (!f->open && !f->next && !f->close));
    assert_ptr_equal(format_find(f->name), f);
    well_formed_options(f->name, f->opts);
    assert_true(f->opts == NULL || f->options_size > 0);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const int sure = f->sniff(heads[i], strlen(heads[i]));
        assert_true(sure >= 0 && sure <= 100);
        if (i < 4) assert_true(sure < 100);
    }
    void *options = calloc(1, f->options_size + 1), *open = NULL;
    struct symtab *names = symtab_create();
    struct import_shared shared = { 0 };
    struct import_info info = { .origin = "", .shared = &shared };
    struct err e = { 0 };
    const char *missing = "/nowhere/at/all.csv";
    struct import_document document = { .names = &missing };
    if (f->document) {
        assert_int_equal(f->document(&document, &missing, 1, options, &e), ERR_IO);
        assert_null(document.json);
    } else {
        assert_int_equal(f->open(&open, missing, options, names, &info, &e), ERR_IO);
        assert_null(open);
        f->close(NULL);
    }
    assert_contains(e.where, missing);
    import_shared_fini(&shared);
    symtab_destroy(names);
    free(options);
}

/* ---- commands ---- */

static void commands(void **state)
{
    const struct command *c = *state;
    char begin[64];
    assert_true(c->run && c->args && c->example);
    well_formed_options(c->name, c->opts);
    snprintf(begin, sizeof begin, "gpusim %s", c->name);
    assert_int_equal(strncmp(c->example, begin, strlen(begin)), 0);
    assert_int_equal(c->lists != NULL, c->list != NULL);
    for (const struct opt *a = c->opts; a && a->name; a++)
        for (const struct opt *b = c->opts; b != a; b++) {
            assert_string_not_equal(a->name, b->name);
            assert_true(a->letter == 0 || a->letter != b->letter);
        }
    /* an unknown option is a usage error that names it */
    char name[64], bad[] = "--no-such-option-here";
    char *argv[] = { name, bad, NULL };
    struct err e = { 0 };
    snprintf(name, sizeof name, "%s", c->name);
    assert_int_equal(c->run(c, 2, argv, &e), ERR_USAGE);
    assert_contains(e.msg, "no-such-option-here");
}

#define ADD(test, member)                                                                          \
    do {                                                                                           \
        BUG_ON(n == sizeof t / sizeof *t);                                                         \
        t[n++] = (struct CMUnitTest){ #test, test, NULL, NULL, (void *)(uintptr_t)(member) };      \
    } while (0)

int main(void)
{
    static struct CMUnitTest t[256];
    size_t n = 0;
    ADD(names_and_help, NULL);
    ADD(refusal_is_an_input_error, NULL);
    for (size_t i = 0; share_all[i]; i++) {
        ADD(required_hooks, share_all[i]);
        ADD(resolved_form_reads_back, share_all[i]);
        ADD(binds_what_it_can_share, share_all[i]);
        ADD(demands_are_sane, share_all[i]);
        ADD(speeds_of_random_residents, share_all[i]);
        ADD(alone_is_full_speed, share_all[i]);
    }
    for (size_t i = 0; order_all[i]; i++) ADD(ranks, order_all[i]);
    for (size_t i = 0; place_all[i]; i++) ADD(placements, place_all[i]);
    for (size_t i = 0; fmt_all[i]; i++) ADD(formats, fmt_all[i]);
    for (size_t i = 0; cmd_all[i]; i++) ADD(commands, cmd_all[i]);
    return _cmocka_run_group_tests("registries", t, n, set_up, tear_down);
}
