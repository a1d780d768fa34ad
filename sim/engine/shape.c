#include "engine/shape.h"

#include "base/err.h"
#include "base/str.h"
#include "engine/meters.h"
#include "engine/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Everything of a row that decides what the job looks like. */
struct key {
    uint64_t gpu_mem_bytes, host_bytes;
    int32_t gpus_milli, slots, cpus_milli;
    sym profile, gpu_model, gpu_allowed;
    uint32_t klass;
    uint32_t owner; /* struct demand */
};

struct entry {
    struct key key;
    uint64_t hash;
    struct entry *next;
    struct shape shape;
    struct fit fit[]; /* shape.fit */
};

struct shape_table {
    const struct plan *plan;
    struct symtab *names;
    struct entry **bucket;
    size_t n_buckets, count;
    struct entry *last; /* asked for: the next row often looks the same */
    uint64_t next_id;
    char why[256];
    const char *column; /* that `why` is about */
};

enum { FIRST_BUCKETS = 1024, KEPT_IDLE = 4096 };

struct shape_table *shape_table_create(const struct plan *plan, struct symtab *names)
{
    struct shape_table *t = xcalloc(1, sizeof *t);
    t->plan = plan;
    t->names = names;
    t->n_buckets = FIRST_BUCKETS;
    t->bucket = xcalloc(t->n_buckets, sizeof(struct entry *));
    return t;
}

void shape_table_destroy(struct shape_table *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->n_buckets; i++)
        for (struct entry *e = t->bucket[i], *next; e; e = next) {
            next = e->next;
            free(e);
        }
    free(t->bucket);
    free(t);
}

static uint64_t hash_key(const struct key *k)
{
    const unsigned char *p = (const unsigned char *)k;
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a, eight bytes at a time */
    for (size_t i = 0; i < sizeof *k; i += 8) {
        uint64_t word;
        memcpy(&word, p + i, sizeof word);
        h = (h ^ word) * UINT64_C(0x100000001b3);
        h ^= h >> 29;
    }
    return h;
}

/* Isolated time on `here` over isolated time on `ref`, and the signature on `here`: compute scales
 * with the peak at the job's precision, memory with bandwidth, host not at all. */
static double transfer(struct signature *sig, const struct gpu_spec *ref,
                       const struct gpu_spec *here)
{
    const double peak_ref = ref->peak[sig->precision].dense_ops;
    const double peak = here->peak[sig->precision].dense_ops;
    const double compute = sig->compute * peak_ref / peak;
    const double memory = sig->memory * ref->mem_Bps / here->mem_Bps;
    const double time = sig->host + compute + memory;
    sig->host /= time;
    sig->compute = compute / time;
    sig->memory = memory / time;
    sig->launches_per_s /= time;
    sig->allocs_per_s /= time;
    sig->syncs_per_s /= time;
    sig->pcie_Bps /= time;
    return time;
}

/* Cards are allowed by catalogue name or alias, or by the name of a fleet group: traces name models
 * that nobody has disclosed. */
static bool allowed_here(const struct shape_table *t, sym allowed, const struct plan_group *group)
{
    const struct gpu_spec *here = group->type.gpu;
    const char *s = symtab_name(t->names, allowed);
    while (allowed && *s) {
        const size_t len = strcspn(s, "|");
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)len, s);
        const struct gpu_spec *g = gpu_find(t->plan->world->gpus, name, NULL);
        if (strcmp(name, group->spec->name) == 0 || (g && strcmp(g->name, here->name) == 0))
            return true;
        s += len + (s[len] == '|');
    }
    return !allowed;
}

/* How many of a job's cards an empty node can serve that has `amount` of what the job asks for
 * `wanted` of in all. */
static int64_t cards_served(wide amount, wide wanted, int64_t cards)
{
    if (wanted == 0) return cards;
    const wide served = amount * cards / wanted;
    return served < cards ? (int64_t)served : cards;
}

/* Can nodes that serve `served` cards each be put together for the job? */
static bool nodes_suffice(const struct plan_group *g, int64_t served, int64_t cards, bool any_node)
{
    if (cards == 0) return served >= 1;
    if (served > g->per_node) served = g->per_node;
    return any_node ? served >= 1 && g->nodes >= (cards + served - 1) / served
                    : served >= (cards < g->per_node ? cards : g->per_node);
}

/* A fixed layout leaves MIG off on some cards: are they where a gang needs them? */
static bool off_suffice(const struct plan *p, const struct plan_group *g, int64_t served,
                        int64_t cards, bool any_node)
{
    BUG_ON(g->per_node <= 0);
    int64_t off = 0, full = 0, most = 0; /* of use; nodes with all off; on the best other node */
    for (int64_t n = 0; n < g->nodes; n++) {
        int64_t here = 0;
        for (int64_t k = 0; k < g->per_node; k++) {
            struct instance_rules r;
            p->share->instance_rules(g->params, n * g->per_node + k, &r);
            here += r.off;
        }
        off += here < served ? here : served;
        full += here == g->per_node;
        if (here < g->per_node && here > most) most = here;
    }
    if (any_node) return off >= cards;
    const int64_t whole = cards / g->per_node, rest = cards % g->per_node;
    return full >= whole && (rest == 0 || full > whole || most >= rest);
}

static bool off_in_a_domain(const struct plan *p, const struct plan_group *g, int64_t cards)
{
    int64_t off = 0;
    for (int64_t c = 0; c < g->cards; c++) {
        struct instance_rules r;
        p->share->instance_rules(g->params, c, &r);
        off = (c % g->domain == 0 ? 0 : off) + r.off;
        if (off >= cards) return true;
    }
    return false;
}

static bool layout_has(const struct plan *p, const struct plan_group *g, int profile)
{
    for (int64_t c = 0; c < g->cards; c++) {
        struct instance_rules r;
        p->share->instance_rules(g->params, c, &r);
        for (int i = 0; !r.off && i < r.layout->n; i++)
            if (r.layout->slice[i].profile == profile) return true;
    }
    return false;
}

/* Could an empty group serve it? What this lets pass starts some day: else it would wait for
 * ever. */
static const char *never_fits(const struct plan *p, const struct plan_group *g,
                              const struct shape *s, const struct demand *d)
{
    const bool any_node = p->gang == GANG_ANY || p->share->pooled;
    const int64_t cards = d->cards == 0 ? 1 : d->cards;
    if (d->units > g->capacity) return "it asks for more than a whole card";
    if (d->cards > g->cards) return "it asks for more cards than the fleet has";
    int64_t by_cpus = cards, by_bytes = cards;
    if (s->cpus_milli != JOB_NO_INT && g->node_cpus_milli != INT64_MAX)
        by_cpus = cards_served(g->node_cpus_milli, s->cpus_milli, cards);
    if (s->host_bytes != JOB_NO_BYTES && g->node_host_bytes != UINT64_MAX)
        by_bytes = cards_served(g->node_host_bytes, s->host_bytes, cards);
    const int64_t served = by_cpus < by_bytes ? by_cpus : by_bytes;
    if (!nodes_suffice(g, by_cpus, d->cards, any_node))
        return "it asks for more CPU cores than a node has";
    if (!nodes_suffice(g, by_bytes, d->cards, any_node))
        return "it asks for more host memory than a node has";
    if (!p->share->instances || d->cards == 0) return NULL;
    struct instance_rules rules;
    p->share->instance_rules(g->params, 0, &rules);
    if (rules.on_demand) return NULL;
    if (d->mig_profile >= 0)
        return layout_has(p, g, d->mig_profile) ? NULL
                                                : "the layout has no slice of the size it needs";
    const bool suffice = plan_in_domain(p, g, d->cards)
                             ? off_in_a_domain(p, g, d->cards)
                             : off_suffice(p, g, served, d->cards, any_node);
    return suffice ? NULL : "the layout leaves too few cards with MIG off";
}

/* Whom the row's job may share a card with: rows without a user are all of one. */
static uint32_t owner_of(const struct plan *p, const struct job_row *row)
{
    const bool one = p->share->one_owner && p->share->one_owner(p->group[0].params);
    return one ? row->user + 1 : 0;
}

static void fit_group(struct shape_table *t, const struct plan_group *g, const struct job_row *row,
                      const struct gpu_spec *recorded, struct shape *s, struct fit *f)
{
    *f = (struct fit){ .sig = s->sig, .transfer = 1.0, .flops_per_s = s->sig.flops_per_s };
    if (!allowed_here(t, row->gpu_allowed, g)) {
        f->reason = "it allows no card of the fleet";
        return;
    }
    if (recorded && strcmp(recorded->name, g->type.gpu->name) != 0) {
        f->transfer = transfer(&f->sig, recorded, g->type.gpu);
        f->flops_per_s /= f->transfer;
        if (!isfinite(f->transfer)) {
            f->reason = "the card has no published rate at the job's precision";
            return;
        }
    }
    s->request.sig = &f->sig;
    f->reason = t->plan->share->demand(g->params, &g->type, &s->request, &f->demand);
    f->demand.owner = owner_of(t->plan, row);
    if (!f->reason) f->reason = never_fits(t->plan, g, s, &f->demand);
    f->feasible = f->reason == NULL;
}

/* The signature of a row, or NULL with t->why and t->column. */
static const struct signature *signature_of(struct shape_table *t, const struct job_row *row)
{
    if (!row->profile) return t->plan->world->works.class_default[row->klass];
    const char *name = symtab_name(t->names, row->profile);
    const struct signature *sig = plan_signature(t->plan, name);
    if (sig) return sig;
    const char *near = plan_signature_nearest(t->plan, name);
    t->column = "profile";
    snprintf(t->why, sizeof t->why, "no work profile \"%.100s\" in the scenario%s%s%s", name,
             near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return NULL;
}

/* A gang goes to one node if any node of the fleet can hold it; only what no node can hold is
 * spread over whole nodes. So groups of smaller nodes are out when another group has a large enough
 * one. */
static void keep_on_one_node(const struct plan *p, struct shape *s)
{
    bool holds = false;
    if (p->gang == GANG_ANY || p->share->pooled) return;
    for (size_t g = 0; g < p->n_groups; g++)
        holds |= s->fit[g].feasible && s->fit[g].demand.cards <= p->group[g].per_node;
    for (size_t g = 0; holds && g < p->n_groups; g++) {
        if (!s->fit[g].feasible || s->fit[g].demand.cards <= p->group[g].per_node) continue;
        s->fit[g].feasible = false;
        s->fit[g].reason = "another group holds it on one node";
    }
}

/* The largest of what cards can do; NAN: some do not say. */
static double most(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}

/* Is what a profile says possible on the card that it was recorded on, or on any of the fleet? The
 * sheet is rounded, as in model/sheet.h. False, with t->why and t->column. */
static bool possible(struct shape_table *t, const struct signature *sig,
                     const struct gpu_spec *recorded)
{
    const struct plan *p = t->plan;
    double ops = 0, bus = 0;
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct gpu_spec *gpu = recorded ? recorded : p->group[g].type.gpu;
        const struct peak *peak = &gpu->peak[sig->precision];
        if (strcmp(gpu->name, "generic") == 0) return true; /* its figures are made up */
        ops = most(ops, fmax(peak->dense_ops, peak->sparse_ops));
        bus = most(bus, gpu->pcie_Bps);
    }
    const char *on = recorded ? recorded->name : "every card of the fleet";
    t->column = "profile";
    if (sig->flops_per_s > ops * (1 + PEAK_TOLERANCE))
        snprintf(t->why, sizeof t->why,
                 "flops_per_s of the profile, %.4g, is above the %s peak of %.60s, %.4g",
                 sig->flops_per_s, precision_names[sig->precision], on, ops);
    else if (sig->pcie_Bps > bus * (1 + PEAK_TOLERANCE))
        snprintf(t->why, sizeof t->why,
                 "pcie of the profile, %.4g GB/s, is above the bus of %.60s, %.4g GB/s",
                 sig->pcie_Bps / 1e9, on, bus / 1e9);
    else
        return true;
    return false;
}

static bool shape_fill(struct shape_table *t, const struct job_row *row, struct shape *s)
{
    const struct plan *p = t->plan;
    const struct gpu_spec *recorded = NULL;
    const struct signature *sig = signature_of(t, row);
    if (!sig && row->profile) return false;
    if (row->gpu_model) {
        const char *name = symtab_name(t->names, row->gpu_model), *near = NULL;
        recorded = gpu_find(p->world->gpus, name, &near);
        if (!recorded) {
            t->column = "gpu_model";
            snprintf(t->why, sizeof t->why, "no card \"%.100s\" in the catalogue%s%s%s", name,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
            return false;
        }
    }
    if (sig && !possible(t, sig, recorded)) return false;
    const double width = row->gpus_milli < 1000 ? row->gpus_milli / 1000.0 : 1.0;
    s->sig = sig ? *sig : signature_default();
    if (isnan(s->sig.sm_width)) s->sig.sm_width = width > 0 ? width : 1.0;
    if (isnan(s->sig.bw_width)) s->sig.bw_width = width > 0 ? width : 1.0;
    s->cpus_milli = row->cpus_milli;
    s->host_bytes = row->mem_bytes;
    s->request = (struct request){
        .gpus_milli = row->gpus_milli,
        .slots = row->slots == JOB_NO_INT ? 1 : row->slots,
        .bytes = row->gpu_mem_bytes != JOB_NO_BYTES ? row->gpu_mem_bytes : s->sig.footprint_bytes,
    };
    s->rejected = true;
    for (size_t g = 0; g < p->n_groups; g++) {
        fit_group(t, &p->group[g], row, recorded, s, &s->fit[g]);
        if (s->fit[g].feasible)
            s->rejected = false;
        else if (!s->reason)
            s->reason = s->fit[g].reason;
    }
    keep_on_one_node(p, s);
    s->request.sig = &s->sig;
    return true;
}

static void grow(struct shape_table *t)
{
    const size_t n = 2 * t->n_buckets;
    struct entry **bucket = xcalloc(n, sizeof(struct entry *));
    for (size_t i = 0; i < t->n_buckets; i++)
        for (struct entry *e = t->bucket[i], *next; e; e = next) {
            next = e->next;
            e->next = bucket[e->hash & (n - 1)];
            bucket[e->hash & (n - 1)] = e;
        }
    free(t->bucket);
    t->bucket = bucket;
    t->n_buckets = n;
}

struct shape *shape_of(struct shape_table *t, const struct job_row *row,
                       struct unknown_name *unknown)
{
    struct key key = { .gpu_mem_bytes = row->gpu_mem_bytes,
                       .host_bytes = row->mem_bytes,
                       .gpus_milli = row->gpus_milli,
                       .slots = row->slots,
                       .cpus_milli = row->cpus_milli,
                       .profile = row->profile,
                       .gpu_model = row->gpu_model,
                       .gpu_allowed = row->gpu_allowed,
                       .klass = (uint32_t)row->klass,
                       .owner = owner_of(t->plan, row) };
    if (t->last && memcmp(&t->last->key, &key, sizeof key) == 0) {
        t->last->shape.jobs++;
        t->last->shape.submitted++;
        return &t->last->shape;
    }
    const uint64_t hash = hash_key(&key);
    struct entry *e = t->bucket[hash & (t->n_buckets - 1)];
    while (e && !(e->hash == hash && memcmp(&e->key, &key, sizeof key) == 0)) e = e->next;
    if (!e) {
        e = xcalloc(1, sizeof *e + t->plan->n_groups * sizeof(struct fit));
        e->key = key;
        e->hash = hash;
        e->shape.id = t->next_id++;
        e->shape.fit = e->fit;
        if (!shape_fill(t, row, &e->shape)) {
            free(e);
            *unknown = (struct unknown_name){ t->column, t->why };
            return NULL;
        }
        if (++t->count > t->n_buckets) grow(t);
        e->next = t->bucket[hash & (t->n_buckets - 1)];
        t->bucket[hash & (t->n_buckets - 1)] = e;
    }
    t->last = e;
    e->shape.jobs++;
    e->shape.submitted++;
    return &e->shape;
}

void shape_drop(struct shape_table *t, struct shape *s)
{
    BUG_ON(s->jobs == 0);
    if (--s->jobs > 0 || t->count <= KEPT_IDLE) return;
    struct entry *e = (struct entry *)((char *)s - offsetof(struct entry, shape));
    struct entry **at = &t->bucket[e->hash & (t->n_buckets - 1)];
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    if (t->last == e) t->last = NULL;
    t->count--;
    free(e);
}

size_t shape_frequent(const struct shape_table *t, const struct shape **out, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_buckets; i++)
        for (const struct entry *e = t->bucket[i]; e; e = e->next) {
            /* Insertion into the `max` most frequent; ties by key, so nothing depends on
             * buckets. */
            size_t at = n;
            while (at > 0) {
                const struct entry *prev = (const struct entry *)((const char *)out[at - 1] -
                                                                  offsetof(struct entry, shape));
                const uint64_t a = e->shape.submitted, b = out[at - 1]->submitted;
                if (a < b || (a == b && memcmp(&e->key, &prev->key, sizeof e->key) > 0)) break;
                at--;
            }
            if (at >= max) continue;
            if (n < max) n++;
            memmove(&out[at + 1], &out[at], (n - 1 - at) * sizeof *out);
            out[at] = &e->shape;
        }
    return n;
}
