/* gpusim list: what is there: sharing policies, schedulers, trace formats, cards, profiles. */
#include "base/cfg.h"
#include "base/datadir.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/card.h"
#include "cli/command.h"
#include "engine/order.h"
#include "engine/place.h"
#include "engine/route.h"
#include "engine/serve.h"
#include "engine/share.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
    int format;
};

static const char *const formats[] = { "table", "json", NULL };
static const struct opt opts[] = {
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT", "how to print",
      formats },
    { 0 },
};

/* Where rows go: a table, or objects in `rows`. */
struct sink {
    json_t *rows; /* NULL: print */
    const char *kind;
};

static json_t *add(struct sink *s, const char *name, const char *help)
{
    json_t *row = json_pack("{s:s, s:s}", "name", name, "help", help ? help : "");
    if (s->kind) json_object_set_new(row, "kind", json_string(s->kind));
    json_array_append_new(s->rows, row);
    return row;
}

static void show(void *ctx, const char *name, const char *help)
{
    struct sink *s = ctx;
    if (s->rows)
        add(s, name, help);
    else
        printf("%-16s %s%s%s\n", name, s->kind ? s->kind : "", s->kind ? ": " : "",
               help ? help : "");
}

static json_t *fields_json(const struct cfg_field *f, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:b, s:s}", "name", f[i].name, "default",
                                              f[i].dflt ? json_string(f[i].dflt) : json_null(),
                                              "required", f[i].required, "help",
                                              f[i].help ? f[i].help : ""));
    return list;
}

static int list_policies(struct sink *s, struct err *e)
{
    (void)e;
    for (const struct share_ops *const *p = share_all; *p; p++) {
        if (s->rows) {
            json_object_set_new(add(s, (*p)->name, (*p)->help), "parameters",
                                fields_json((*p)->fields, (*p)->fields_n));
            continue;
        }
        show(s, (*p)->name, (*p)->help);
        cfg_help((*p)->fields, (*p)->fields_n, stdout);
    }
    return 0;
}

static int list_schedulers(struct sink *s, struct err *e)
{
    (void)e;
    s->kind = "order";
    for (const struct order_ops *const *o = order_all; *o; o++) {
        if (s->rows) {
            json_t *row = add(s, (*o)->name, (*o)->help);
            json_object_set_new(row, "preempts", json_boolean((*o)->preempts));
            json_object_set_new(row, "parameters", fields_json((*o)->fields, (*o)->fields_n));
            continue;
        }
        show(s, (*o)->name, (*o)->help);
        cfg_help((*o)->fields, (*o)->fields_n, stdout);
    }
    s->kind = "place";
    for (const struct place_ops *const *p = place_all; *p; p++) show(s, (*p)->name, (*p)->help);
    s->kind = "serve";
    for (const struct serve_ops *const *v = serve_all; *v; v++) {
        if (s->rows) {
            json_object_set_new(add(s, (*v)->name, (*v)->help), "parameters",
                                fields_json((*v)->fields, (*v)->fields_n));
            continue;
        }
        show(s, (*v)->name, (*v)->help);
        cfg_help((*v)->fields, (*v)->fields_n, stdout);
    }
    s->kind = "route";
    for (const struct route_ops *const *r = route_all; *r; r++) show(s, (*r)->name, (*r)->help);
    return 0;
}

/* What other folders registered with their commands under this word. */
static int list_formats(struct sink *s, struct err *e)
{
    (void)e;
    for (const struct command *const *c = cmd_all; *c; c++)
        if ((*c)->lists && strcmp((*c)->lists, "formats") == 0) (*c)->list(show, s);
    return 0;
}

static int list_gpus(struct sink *s, struct err *e)
{
    struct gpu_catalogue *c;
    const int rc = gpu_catalogue_load(&c, NULL, e);
    if (rc < 0) return rc;
    if (!s->rows)
        printf("%-18s %9s %9s %14s %8s  %-4s %s\n", "name", "GiB", "GB/s", "fp16 TFLOPS", "board W",
               "MIG", "model");
    for (size_t i = 0; i < gpu_catalogue_count(c); i++) {
        const struct gpu_spec *g = gpu_catalogue_at(c, i);
        const double gib = (double)g->usable_bytes / 1073741824.0,
                     fp16 = g->peak[PREC_fp16].dense_ops / 1e12;
        if (!s->rows) {
            char peak[24] = "-";
            if (!isnan(fp16)) snprintf(peak, sizeof peak, "%.5g", fp16);
            printf("%-18s %9.4g %9.5g %14s %8.4g  %-4s %s\n", g->name, gib, g->mem_Bps / 1e9, peak,
                   g->tdp_W, g->mig ? "yes" : "no", g->model);
            continue;
        }
        json_t *row = add(s, g->name, g->model), *aliases = json_array();
        for (int k = 0; k < g->n_aliases; k++)
            json_array_append_new(aliases, json_string(g->aliases[k]));
        json_object_set_new(row, "aliases", aliases);
        json_object_set_new(row, "sms", g->sms ? json_integer(g->sms) : json_null());
        json_object_set_new(row, "memory_bytes", json_integer((json_int_t)g->memory_bytes));
        json_object_set_new(row, "usable_bytes", json_integer((json_int_t)g->usable_bytes));
        json_object_set_new(row, "memory_Bps", json_num(g->mem_Bps));
        json_object_set_new(row, "fp16_tflops", json_num(fp16));
        json_object_set_new(row, "tdp_W", json_num(g->tdp_W));
        json_object_set_new(row, "mig", json_boolean(g->mig != NULL));
    }
    gpu_catalogue_destroy(c);
    return 0;
}

/* ---- profiles ---- */

static int is_json(const struct dirent *f)
{
    return f->d_name[0] != '.' && str_ends(f->d_name, ".json");
}

/* One file in words: the card and how its parameters are known; or what is wrong with it. */
static void describe_profile(const char *path, char *buf, size_t size)
{
    struct err e = { 0 };
    struct json_doc doc = { 0 };
    struct gpu_profile p;
    struct diag d;
    struct arena *a = arena_create();
    int n[PROV_COUNT] = { 0 };
    diag_init(&d);
    if (json_doc_load(&doc, path, &e) < 0) {
        snprintf(buf, size, "cannot be read: %.200s", e.msg);
    } else {
        profile_read(&p, a, &doc, &d);
        for (int i = 0; i < PROFILE_COUNT; i++)
            if (p.from_file[i]) n[p.param[i].provenance]++;
        if (d.count)
            snprintf(buf, size, "has %zu problems: \"gpusim check\" names them", d.count);
        else
            snprintf(buf, size, "%.80s: %d measured, %d published, %d assumed%s%.80s", p.gpu,
                     n[PROV_MEASURED], n[PROV_PUBLISHED], n[PROV_ASSUMED],
                     p.failed_checks ? "; IN DOUBT, self-checks failed: " : "",
                     p.failed_checks ? p.failed_checks : "");
    }
    diag_fini(&d);
    json_doc_fini(&doc);
    arena_destroy(a);
}

static void list_profile_folder(struct sink *s, const char *dir)
{
    struct dirent **file;
    const int n = scandir(dir, &file, is_json, alphasort);
    for (int i = 0; i < n; i++) {
        char about[320];
        char *path = xasprintf("%s/%s", dir, file[i]->d_name);
        describe_profile(path, about, sizeof about);
        show(s, path, about);
        free(path);
        free(file[i]);
    }
    if (n >= 0) free(file);
}

/* Those that ship with the data, and those of a source tree's calibrate folder. */
static int list_profiles(struct sink *s, struct err *e)
{
    char dir[4096];
    (void)e;
    list_profile_folder(s, datadir_path(dir, sizeof dir, "profiles"));
    list_profile_folder(s, datadir_path(dir, sizeof dir, "../calibrate/profiles"));
    return 0;
}

static const struct {
    const char *word;
    int (*list)(struct sink *s, struct err *e);
} things[] = {
    { "policies", list_policies }, { "formats", list_formats },       { "gpus", list_gpus },
    { "profiles", list_profiles }, { "schedulers", list_schedulers },
};
enum { THINGS = sizeof things / sizeof *things };

static int wrong_word(const char *word, struct err *e)
{
    const char *words[THINGS];
    char list[200];
    for (size_t i = 0; i < THINGS; i++) words[i] = things[i].word;
    const char *near = word ? str_nearest(word, words, THINGS) : NULL;
    const int rc = word ? err_set(e, ERR_USAGE, NULL, "list: nothing is called \"%s\"", word)
                        : err_set(e, ERR_USAGE, NULL, "list: expected one word");
    if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else
        err_hint(e, "it lists %s", str_list(list, sizeof list, words, THINGS));
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { 0 };
    char **operand;
    int n, rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc) return rc == OPT_HELP_SHOWN ? 0 : rc;
    size_t i = 0;
    while (n == 1 && i < THINGS && strcmp(things[i].word, operand[0]) != 0) i++;
    if (n != 1 || i == THINGS) return wrong_word(n == 1 ? operand[0] : NULL, e);
    struct sink s = { .rows = o.format == FORMAT_JSON ? json_array() : NULL };
    rc = things[i].list(&s, e);
    if (rc == 0 && s.rows) json_print(json_pack("{s:O}", things[i].word, s.rows));
    json_decref(s.rows);
    return rc;
}

static const char *operand(size_t place, size_t i)
{
    return place == 0 && i < THINGS ? things[i].word : NULL;
}

const struct command cmd_list = {
    .name = "list",
    .args = "policies|formats|gpus|profiles|schedulers",
    .help = "what is there",
    .example = "gpusim list gpus",
    .opts = opts,
    .run = run,
    .operand = operand,
};
