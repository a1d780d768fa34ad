#include "plots/beside.h"

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "plots/html.h"
#include "plots/size_plots.h"
#include "plots/sweep_plots.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The seed is looked at apart; what is written moves no figure. */
static bool is_change(const char *set)
{
    return !str_starts(set, "seed=") && !str_starts(set, "output.");
}

/* The n-th change of the scenario; NULL: there are not so many. */
static const char *change_of(const struct result *r, size_t n)
{
    for (size_t i = 0; i < r->n_set; i++)
        if (is_change(r->set[i]) && n-- == 0) return r->set[i];
    return NULL;
}

static bool same_changes(const struct result *r, const json_t *manifest)
{
    json_t *set = json_object_get(manifest, "set");
    size_t i = 0, k = 0;
    const char *theirs, *ours;
    do {
        do theirs = json_string_value(json_array_get(set, i++));
        while (theirs && !is_change(theirs));
        ours = change_of(r, k++);
        if (!theirs || !ours) return !theirs && !ours;
    } while (strcmp(theirs, ours) == 0);
    return false;
}

/* Same file, same changes of it, same seed. *version: who wrote it, if this program did not; else
 * NULL. */
static bool same_scenario(struct arena *a, const char *path, const struct result *r,
                          const char **version)
{
    json_t *v = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    const char *theirs = json_string_value(json_object_get(v, "scenario_sha256"));
    const bool same = theirs && r->scenario_sha256 && strcmp(theirs, r->scenario_sha256) == 0 &&
                      json_number_value(json_object_get(v, "seed")) == (double)r->seed &&
                      same_changes(r, v);
    const char *by = json_string_value(json_object_get(v, "gpusim_version"));
    *version = by && strcmp(by, GPUSIM_VERSION) != 0 ? arena_strdup(a, by) : NULL;
    json_decref(v);
    return same;
}

/* Second line of the data: axis, figure. */
static bool names(struct beside_curve *c, struct arena *a, const char *tsv)
{
    char line[1024];
    FILE *f = fopen(tsv, "r");
    if (!f) return false;
    bool two = true;
    for (int i = 0; i < 2 && two; i++) two = fgets(line, sizeof line, f);
    fclose(f);
    char *tab = two ? strchr(line, '\t') : NULL, *end = tab ? strchr(tab + 1, '\t') : NULL;
    if (!end) return false;
    c->axis = arena_strndup(a, line, (size_t)(tab - line));
    c->figure = arena_strndup(a, tab + 1, (size_t)(end - tab - 1));
    return true;
}

static int is_tsv(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name);
    return len > 4 && strcmp(entry->d_name + len - 4, ".tsv") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add(struct beside *b, const char *plots, const char *tsv_name)
{
    struct beside_curve c = { 0 };
    char *tsv = xasprintf("%s/%s", plots, tsv_name);
    char *svg = xasprintf("%.*ssvg", (int)strlen(tsv) - 3, tsv);
    if (b->n < BESIDE_MOST && names(&c, b->a, tsv) && html_read_file(svg, &c.svg) == 0)
        b->curve[b->n++] = c;
    else
        strbuf_fini(&c.svg);
    free(svg);
    free(tsv);
}

typedef int plots_build(const char *dir, const char *to, enum lang lang, size_t *n, struct err *e);

/* Folder `dir` (`len` bytes of it) with `end`, if its `document` is of this scenario. */
static void read_folder(struct beside *b, const char *dir, size_t len, const char *end,
                        const char *document, const char *prefix, const struct result *r,
                        enum lang lang)
{
    plots_build *const build = strcmp(end, "size") == 0 ? size_plots_build : sweep_plots_build;
    struct err failed = { 0 };
    const char *version;
    size_t made;
    struct dirent **entry = NULL;
    char *folder = xasprintf("%.*s-%s", (int)len, dir, end);
    char *path = xasprintf("%s/%s", folder, document);
    char *to = xasprintf("%.*s/plots", (int)len, dir);
    if (same_scenario(b->a, path, r, &version)) {
        const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
        b->name = b->name ? arena_printf(b->a, "%s, %s", b->name, name) : arena_strdup(b->a, name);
        if (version && !b->other) b->other = arena_strdup(b->a, name);
        if (version && !b->version) b->version = version;
        if (build(folder, to, lang, &made, &failed) == ERR_INPUT)
            log_warn("%s: %s: the report goes without it", failed.where, failed.msg);
        const int n = scandir(to, &entry, is_tsv, by_name);
        for (int i = 0; i < n; i++) {
            if (str_starts(entry[i]->d_name, prefix)) add(b, to, entry[i]->d_name);
            free(entry[i]);
        }
        free(entry);
    }
    free(folder);
    free(path);
    free(to);
}

void beside_read(struct beside *b, const char *dir, const struct result *r, enum lang lang)
{
    size_t len = strlen(dir);
    *b = (struct beside){ .a = arena_create() };
    while (len > 1 && dir[len - 1] == '/') len--;
    read_folder(b, dir, len, "size", "size.json", "size_curve_", r, lang);
    read_folder(b, dir, len, "sweep", "manifest.json", "sweep_curve_", r, lang);
}

void beside_fini(struct beside *b)
{
    for (size_t i = 0; i < b->n; i++) strbuf_fini(&b->curve[i].svg);
    arena_destroy(b->a);
    *b = (struct beside){ 0 };
}
