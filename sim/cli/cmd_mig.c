/* gpusim mig: which slices fit together on one card, where, in which creation order; all layouts;
 * what the running instances leave. */
#include "base/mem.h"
#include "cli/card.h"
#include "cli/command.h"
#include "model/mig.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_WANT = 256 }; /* more than fit on any card: then the answer is no */

struct options {
    const char *fit, *profiles, *busy;
    bool layouts;
    int start; /* enum mig_start_rule */
    int format;
};

static const char *const formats[] = { "table", "json", NULL };
static const struct opt opts[] = {
    { "fit", 0, OPT_TEXT, offsetof(struct options, fit), "LIST",
      "instances wanted on one card, e.g. 3g.20gb,2g.10gb,2g.10gb; \"3g\" where that is plain",
      NULL },
    { "layouts", 0, OPT_FLAG, offsetof(struct options, layouts), NULL,
      "count all layouts, the maximal ones, and list the undominated mixtures", NULL },
    { "profiles", 0, OPT_TEXT, offsetof(struct options, profiles), "LIST",
      "profiles that --layouts uses; default every one without \"+\"", NULL },
    { "busy", 0, OPT_TEXT, offsetof(struct options, busy), "LIST",
      "running instances with their starts, e.g. 3g.20gb@4,1g.5gb@0; they cannot move", NULL },
    { "start", 0, OPT_CHOICE, offsetof(struct options, start), "RULE",
      "which legal start an instance gets when it is created", mig_start_rule_names },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT", "how to print",
      formats },
    { 0 },
};

/* One request, read and understood. */
struct query {
    const struct gpu_spec *gpu;
    const struct mig_geometry *g;
    enum mig_start_rule rule;
    bool json;
    struct mig_running on;
    bool has_on;
    int want[MAX_WANT], n_want;
};

/* ---- reading lists ---- */

static int unknown_profile(const struct query *q, const char *word, struct err *e)
{
    const char *names[MIG_MAX_PROFILES];
    char list[200];
    const size_t n = (size_t)q->g->n_profiles;
    for (size_t i = 0; i < n; i++) names[i] = q->g->profile[i].name;
    const int rc = err_set(e, ERR_USAGE, NULL, "%s has no MIG profile \"%s\"", q->gpu->name, word);
    const char *near = str_nearest(word, names, n);
    if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else
        err_hint(e, "it has %s", str_list(list, sizeof list, names, n));
    return rc;
}

/* An exact name, or "3g" where only one plain profile (without +me, -me) begins so. */
static int find_profile(const struct query *q, const char *word, int *out, struct err *e)
{
    const char *names[MIG_MAX_PROFILES];
    char list[200];
    size_t n = 0, len = strlen(word);
    *out = mig_profile_find(q->g, word);
    if (*out >= 0) return 0;
    for (int i = 0; i < q->g->n_profiles; i++) {
        const char *name = q->g->profile[i].name;
        if (strncasecmp(name, word, len) != 0 || name[len] != '.' || strpbrk(name, "+-")) continue;
        names[n++] = name;
        *out = i;
    }
    if (n == 1) return 0;
    if (n == 0) return unknown_profile(q, word, e);
    return err_set(e, ERR_USAGE, NULL, "\"%s\" could be %s", word,
                   str_list(list, sizeof list, names, n));
}

/* The next word of a comma list without blanks around it, NUL-terminated; NULL at the end. */
static char *next_word(char **at)
{
    char *word;
    while ((word = strsep(at, ","))) {
        word += strspn(word, " \t");
        size_t n = strlen(word);
        while (n && strchr(" \t", word[n - 1])) word[--n] = '\0';
        if (n) return word;
    }
    return NULL;
}

static int read_profiles(const struct query *q, const char *option, const char *list, int *out,
                         int max, int *n, struct err *e)
{
    char *copy = xstrdup(list), *at = copy, *word;
    int rc = 0;
    if (strstr(list, ",,"))
        rc = err_set(e, ERR_USAGE, NULL, "--%s: nothing between two commas", option);
    for (*n = 0; rc == 0 && (word = next_word(&at));) {
        if (*n == max)
            rc = err_set(e, ERR_USAGE, NULL, "--%s: at most %d entries", option, max);
        else
            rc = find_profile(q, word, &out[*n], e);
        (*n)++;
    }
    if (rc == 0 && *n == 0) rc = err_set(e, ERR_USAGE, NULL, "--%s: the list is empty", option);
    free(copy);
    return rc;
}

static bool legal_start(const struct mig_profile *p, int start)
{
    for (int k = 0; k < p->n_starts; k++)
        if (p->starts[k] == start) return true;
    return false;
}

static int cannot_start(const struct mig_profile *p, long start, struct err *e)
{
    char list[100] = "";
    for (int k = 0; k < p->n_starts; k++) {
        const size_t at = strlen(list);
        snprintf(list + at, sizeof list - at, "%s%d", k ? ", " : "", p->starts[k]);
    }
    return err_set(e, ERR_USAGE, NULL, "--busy: \"%s\" cannot start at %ld; it can at %s", p->name,
                   start, list);
}

/* "3g.20gb@4" */
static int read_running(const struct query *q, char *word, struct mig_running *on, struct err *e)
{
    char *sign = strchr(word, '@'), *end = NULL;
    int profile;
    if (!sign)
        return err_set(e, ERR_USAGE, NULL, "--busy: expected PROFILE@START, found \"%s\"", word);
    long start = strtol(sign + 1, &end, 10);
    if (end == sign + 1 || *end)
        return err_set(e, ERR_USAGE, NULL, "--busy: expected a start after \"@\", found \"%s\"",
                       word);
    *sign = '\0';
    int rc = find_profile(q, word, &profile, e);
    if (rc < 0) return rc;
    const char *name = q->g->profile[profile].name;
    if (start < 0 || start >= q->g->memory_units ||
        !legal_start(&q->g->profile[profile], (int)start))
        return cannot_start(&q->g->profile[profile], start, e);
    const struct mig_slice s = { profile, (int)start };
    if (mig_busy_mask(q->g, on) & mig_slice_mask(q->g, s))
        return err_set(e, ERR_USAGE, NULL, "--busy: \"%s@%ld\" overlaps another instance", name,
                       start);
    on->slice[on->n++] = s; /* they do not overlap, so there is room */
    return 0;
}

static int read_busy(const struct query *q, const char *list, struct mig_running *on, struct err *e)
{
    char *copy = xstrdup(list), *at = copy, *word;
    int rc = 0;
    while (rc == 0 && (word = next_word(&at))) rc = read_running(q, word, on, e);
    free(copy);
    return rc;
}

/* ---- answers as JSON ---- */

static json_t *slice_json(const struct mig_geometry *g, struct mig_slice s)
{
    return json_pack("{s:s, s:i}", "profile", g->profile[s.profile].name, "start", s.start);
}

static json_t *layout_json(const struct mig_geometry *g, const struct mig_layout *l)
{
    json_t *one = json_array();
    for (int k = 0; k < l->n; k++) json_array_append_new(one, slice_json(g, l->slice[k]));
    return one;
}

static json_t *layouts_json(const struct mig_geometry *g, const mig_layouts *l)
{
    json_t *all = json_array();
    for (size_t i = 0; i < l->n; i++) json_array_append_new(all, layout_json(g, &l->v[i]));
    return all;
}

static json_t *orders_json(const struct mig_geometry *g, const int *orders, size_t n, int len)
{
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_array();
        for (int k = 0; k < len; k++)
            json_array_append_new(
                one, json_string(g->profile[orders[i * (size_t)len + (size_t)k]].name));
        json_array_append_new(all, one);
    }
    return all;
}

/* ---- --fit ---- */

struct fit {
    mig_layouts layouts;
    int *orders;
    size_t n_orders;
    char reason[256];
    int unlock[MIG_MAX_UNITS], n_unlock; /* -1: not asked for, or an empty card would not do */
    struct mig_layout nearest;           /* when it does not fit */
};

static void find_fit(const struct query *q, struct fit *f)
{
    mig_layouts_beside(q->g, &q->on, q->want, q->n_want, &f->layouts);
    f->n_orders = mig_orders_beside(q->g, &q->on, q->want, q->n_want, q->rule, &f->orders);
    f->n_unlock = -1;
    if (f->layouts.n == 0) {
        mig_why_not(q->g, &q->on, q->want, q->n_want, f->reason, sizeof f->reason);
        f->nearest = mig_nearest(q->g, &q->on, q->want, q->n_want);
    } else if (f->n_orders == 0)
        snprintf(
            f->reason, sizeof f->reason,
            "no creation order reaches it with the start rule \"%s\": create at the starts given",
            mig_start_rule_names[q->rule]);
    if (q->has_on) f->n_unlock = mig_unlock(q->g, &q->on, q->want, q->n_want, f->unlock);
}

static void fit_fini(struct fit *f)
{
    vec_fini(&f->layouts);
    free(f->orders);
}

static void add_fit_json(const struct query *q, const struct fit *f, json_t *answer)
{
    json_object_set_new(answer, "fits", json_boolean(f->layouts.n > 0));
    json_object_set_new(answer, "layouts", layouts_json(q->g, &f->layouts));
    json_object_set_new(answer, "creation_orders",
                        orders_json(q->g, f->orders, f->n_orders, q->n_want));
    json_object_set_new(answer, "reason", json_string(f->reason));
    json_object_set_new(answer, "start_rule", json_string(mig_start_rule_names[q->rule]));
    if (f->layouts.n == 0) json_object_set_new(answer, "nearest", layout_json(q->g, &f->nearest));
    if (f->n_unlock < 0) return;
    json_t *unlock = json_array();
    for (int i = 0; i < f->n_unlock; i++)
        json_array_append_new(unlock, slice_json(q->g, q->on.slice[f->unlock[i]]));
    json_object_set_new(answer, "unlock", unlock);
}

static void print_layout(const struct mig_geometry *g, const struct mig_layout *l)
{
    for (int k = 0; k < l->n; k++)
        printf("%s%s@%d", k ? "  " : "", g->profile[l->slice[k].profile].name, l->slice[k].start);
    putchar('\n');
}

static void print_fit(const struct query *q, const struct fit *f)
{
    printf("fits: %s%s%s\n", f->layouts.n ? "yes" : "no", *f->reason ? ", " : "", f->reason);
    for (size_t i = 0; i < f->layouts.n; i++) {
        printf("layout %zu: ", i + 1);
        print_layout(q->g, &f->layouts.v[i]);
    }
    for (size_t i = 0; i < f->n_orders; i++) {
        printf("%s", i ? "             or: " : "creation orders: ");
        for (int k = 0; k < q->n_want; k++)
            printf("%s%s", k ? ", " : "",
                   q->g->profile[f->orders[i * (size_t)q->n_want + (size_t)k]].name);
        putchar('\n');
    }
    if (f->n_orders) printf("start rule: %s\n", mig_start_rule_names[q->rule]);
    if (f->nearest.n) {
        printf("nearest that fits: ");
        print_layout(q->g, &f->nearest);
    }
    if (f->n_unlock <= 0) return;
    printf("fits once these have ended: ");
    for (int i = 0; i < f->n_unlock; i++) {
        const struct mig_slice s = q->on.slice[f->unlock[i]];
        printf("%s%s@%d", i ? ", " : "", q->g->profile[s.profile].name, s.start);
    }
    putchar('\n');
}

/* ---- --busy ---- */

struct rest {
    mig_mask busy;
    int free_slices, free_units, stranded, largest;
};

static struct rest find_rest(const struct query *q)
{
    struct rest r = { .busy = mig_busy_mask(q->g, &q->on) };
    int used = 0;
    for (int i = 0; i < q->on.n; i++) used += q->g->profile[q->on.slice[i].profile].compute_slices;
    r.free_slices = q->g->compute_slices - used;
    for (int u = 0; u < q->g->memory_units; u++) r.free_units += !(r.busy >> u & 1);
    r.stranded = mig_stranded_slices(q->g, r.busy, used);
    r.largest = mig_largest_placeable(q->g, r.busy);
    return r;
}

/* The starts that profile i still has. */
static int open_starts(const struct mig_geometry *g, mig_mask busy, int i,
                       int starts[MIG_MAX_STARTS])
{
    int n = 0;
    for (int k = 0; k < g->profile[i].n_starts; k++) {
        const struct mig_slice s = { i, g->profile[i].starts[k] };
        if (!(mig_slice_mask(g, s) & busy)) starts[n++] = s.start;
    }
    return n;
}

static json_t *rest_json(const struct query *q, const struct rest *r)
{
    json_t *o = json_object(), *on = json_array(), *open = json_array();
    for (int i = 0; i < q->on.n; i++) json_array_append_new(on, slice_json(q->g, q->on.slice[i]));
    for (int i = 0; i < q->g->n_profiles; i++) {
        int starts[MIG_MAX_STARTS];
        const int n = open_starts(q->g, r->busy, i, starts);
        if (!q->g->profile[i].plain || !n) continue;
        json_t *list = json_array();
        for (int k = 0; k < n; k++) json_array_append_new(list, json_integer(starts[k]));
        json_array_append_new(
            open, json_pack("{s:s, s:o}", "profile", q->g->profile[i].name, "starts", list));
    }
    json_object_set_new(o, "busy", on);
    json_object_set_new(o, "free_slices", json_integer(r->free_slices));
    json_object_set_new(o, "free_units", json_integer(r->free_units));
    json_object_set_new(o, "stranded_slices", json_integer(r->stranded));
    json_object_set_new(o, "largest",
                        r->largest < 0 ? json_null() : json_string(q->g->profile[r->largest].name));
    json_object_set_new(o, "placeable", open);
    return o;
}

static void print_rest(const struct query *q, const struct rest *r)
{
    printf("free: %d of %d compute slices, %d of %d memory units\n", r->free_slices,
           q->g->compute_slices, r->free_units, q->g->memory_units);
    printf("stranded compute slices: %d\n", r->stranded);
    printf("largest placeable profile: %s\n",
           r->largest < 0 ? "none" : q->g->profile[r->largest].name);
    for (int i = 0; i < q->g->n_profiles; i++) {
        int starts[MIG_MAX_STARTS];
        const int n = open_starts(q->g, r->busy, i, starts);
        if (!q->g->profile[i].plain || !n) continue;
        printf("  %-10s at", q->g->profile[i].name);
        for (int k = 0; k < n; k++) printf(" %d", starts[k]);
        putchar('\n');
    }
}

/* --fit, --busy, or both. */
static int answer_fit(const struct query *q)
{
    struct fit f = { 0 };
    struct rest r = { 0 };
    json_t *answer = NULL;
    int status = 0;
    if (q->has_on) r = find_rest(q);
    if (q->json)
        answer = q->has_on ? rest_json(q, &r) : json_object();
    else if (q->has_on)
        print_rest(q, &r);
    if (q->n_want) {
        find_fit(q, &f);
        status = f.layouts.n ? 0 : 1;
        if (q->json)
            add_fit_json(q, &f, answer);
        else
            print_fit(q, &f);
        fit_fini(&f);
    }
    if (answer) json_print(answer);
    return status;
}

/* ---- --layouts ---- */

static int by_size(const void *a, const void *b, void *ctx)
{
    const struct mig_profile *profile = ctx;
    const int x = ((const struct mig_slice *)a)->profile,
              y = ((const struct mig_slice *)b)->profile;
    if (profile[x].compute_slices != profile[y].compute_slices)
        return profile[y].compute_slices - profile[x].compute_slices;
    return x - y;
}

static void print_mixture(const struct mig_geometry *g, const struct mig_layout *l)
{
    for (int k = 0; k < l->n; k++)
        printf("%s%s", k ? ", " : "  ", g->profile[l->slice[k].profile].name);
    putchar('\n');
}

static json_t *mixture_json(const struct mig_geometry *g, const struct mig_layout *l)
{
    json_t *one = json_array();
    for (int k = 0; k < l->n; k++)
        json_array_append_new(one, json_string(g->profile[l->slice[k].profile].name));
    return one;
}

static int answer_layouts(const struct query *q, const int *profiles, int n)
{
    struct mig_census c;
    json_t *mixtures = json_array(), *used = json_array();
    mig_census(q->g, profiles, n, &c);
    if (!q->json)
        printf("layouts: %" PRIu64 "; maximal: %" PRIu64 "; undominated mixtures: %zu\n", c.all,
               c.maximal, c.undominated.n);
    for (size_t i = 0; i < c.undominated.n; i++) {
        struct mig_layout *l = &c.undominated.v[i];
        qsort_r(l->slice, (size_t)l->n, sizeof *l->slice, by_size,
                (void *)(uintptr_t)q->g->profile);
        if (q->json)
            json_array_append_new(mixtures, mixture_json(q->g, l));
        else
            print_mixture(q->g, l);
    }
    for (int i = 0; i < n; i++)
        json_array_append_new(used, json_string(q->g->profile[profiles[i]].name));
    json_t *answer = json_pack("{s:I, s:I, s:o, s:o}", "all", (json_int_t)c.all, "maximal",
                               (json_int_t)c.maximal, "undominated", mixtures, "profiles", used);
    if (q->json)
        json_print(answer);
    else
        json_decref(answer);
    vec_fini(&c.undominated);
    return 0;
}

static int run_layouts(const struct query *q, const char *list, struct err *e)
{
    int profiles[MIG_MAX_PROFILES], n = 0, rc = 0;
    bool seen[MIG_MAX_PROFILES] = { false };
    if (!list) {
        for (int i = 0; i < q->g->n_profiles; i++)
            if (q->g->profile[i].plain) profiles[n++] = i;
    } else {
        rc = read_profiles(q, "profiles", list, profiles, MIG_MAX_PROFILES, &n, e);
    }
    for (int i = 0; rc == 0 && i < n; i++) {
        if (seen[profiles[i]])
            rc = err_set(e, ERR_USAGE, NULL, "--profiles: \"%s\" is named twice",
                         q->g->profile[profiles[i]].name);
        seen[profiles[i]] = true;
    }
    return rc < 0 ? rc : answer_layouts(q, profiles, n);
}

/* ---- the profiles of a board ---- */

static int show_profiles(const struct query *q)
{
    json_t *list = json_array();
    if (!q->json)
        printf("%s: board %s, %d compute slices, %d memory units, placement %s\n", q->gpu->name,
               q->g->board, q->g->compute_slices, q->g->memory_units, q->g->placement_status);
    for (int i = 0; i < q->g->n_profiles; i++) {
        const struct mig_profile *p = &q->g->profile[i];
        json_t *starts = json_array();
        char text[64] = "";
        for (int k = 0; k < p->n_starts; k++) {
            json_array_append_new(starts, json_integer(p->starts[k]));
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", k ? "," : "",
                     p->starts[k]);
        }
        if (!q->json)
            printf("  %-14s %d slices, %2d units at %-14s at most %d\n", p->name, p->compute_slices,
                   p->memory_units, text, p->max_instances);
        json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:o, s:i}", "name", p->name,
                                              "compute_slices", p->compute_slices, "memory_units",
                                              p->memory_units, "starts", starts, "max_instances",
                                              p->max_instances));
    }
    if (q->json)
        json_print(json_pack("{s:s, s:s, s:s, s:i, s:i, s:o}", "gpu", q->gpu->name, "board",
                             q->g->board, "placement_status", q->g->placement_status,
                             "compute_slices", q->g->compute_slices, "memory_units",
                             q->g->memory_units, "profiles", list));
    else
        json_decref(list);
    return 0;
}

/* A card without MIG: a set never fits on it; anything else is a question about nothing. */
static int no_mig(const struct query *q, const struct options *o, struct err *e)
{
    if (!o->fit) return err_set(e, ERR_USAGE, NULL, "%s has no MIG", q->gpu->name);
    if (q->json)
        json_print(json_pack("{s:b, s:[], s:[], s:o}", "fits", 0, "layouts", "creation_orders",
                             "reason", json_sprintf("%s has no MIG", q->gpu->name)));
    else
        printf("fits: no, %s has no MIG\n", q->gpu->name);
    return 1;
}

static int answer(struct query *q, const struct options *o, struct err *e)
{
    int rc = 0;
    if (!q->g) return no_mig(q, o, e);
    if (o->layouts && (o->fit || o->busy))
        return err_set(e, ERR_USAGE, NULL,
                       "--layouts is about an empty card: leave out --fit and --busy");
    if (o->profiles && !o->layouts)
        return err_set(e, ERR_USAGE, NULL, "--profiles goes with --layouts");
    if (o->layouts) return run_layouts(q, o->profiles, e);
    q->has_on = o->busy != NULL;
    if (o->busy) rc = read_busy(q, o->busy, &q->on, e);
    if (rc == 0 && o->fit) rc = read_profiles(q, "fit", o->fit, q->want, MAX_WANT, &q->n_want, e);
    if (rc < 0) return rc;
    return o->fit || o->busy ? answer_fit(q) : show_profiles(q);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { .start = MIG_LOWEST };
    struct gpu_catalogue *c = NULL;
    char **operand;
    int n, rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc) return rc == OPT_HELP_SHOWN ? 0 : rc;
    if (n != 1) {
        rc = err_set(e, ERR_USAGE, NULL, "mig: expected one card, found %d", n);
        err_hint(e, "\"gpusim list gpus\" names them");
        return rc;
    }
    rc = gpu_catalogue_load(&c, NULL, e);
    if (rc < 0) return rc;
    struct query q = { .json = o.format == FORMAT_JSON, .rule = (enum mig_start_rule)o.start };
    rc = card_find(c, operand[0], &q.gpu, e);
    if (rc == 0) {
        q.g = q.gpu->mig;
        rc = answer(&q, &o, e);
    }
    gpu_catalogue_destroy(c);
    return rc;
}

const struct command cmd_mig = {
    .name = "mig",
    .args = "GPU",
    .help = "which MIG slices fit together on a card, where, in which creation order",
    .example = "gpusim mig a100-sxm4-40gb --fit 3g.20gb,2g.10gb,2g.10gb",
    .opts = opts,
    .run = run,
    .operand_list = "gpus",
};
