/* model/gpu_catalogue.c - all cards of a folder, and who is meant by a name. */
#include "model/gpu.h"

#include "base/datadir.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct gpu_catalogue {
    struct arena *a;
    struct json_doc *doc; /* one a file */
    size_t n_docs;
    struct gpu_spec *card; /* sorted by name */
    size_t n;
};

void gpu_catalogue_destroy(struct gpu_catalogue *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->n_docs; i++) json_doc_fini(&c->doc[i]);
    free(c->doc);
    free(c->card);
    arena_destroy(c->a);
    free(c);
}

size_t gpu_catalogue_count(const struct gpu_catalogue *c)
{
    return c->n;
}

const struct gpu_spec *gpu_catalogue_at(const struct gpu_catalogue *c, size_t i)
{
    BUG_ON(i >= c->n);
    return &c->card[i];
}

typedef VEC(char *) name_list;

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct gpu_spec *)a)->name, ((const struct gpu_spec *)b)->name);
}

/* Names of the *.json files of a folder without the ending, sorted. */
static int list_folder(const char *dir, name_list *out, struct err *e)
{
    DIR *d = opendir(dir);
    if (!d)
        return err_set(e, err_of_errno(errno), &(struct loc){ .file = dir }, "cannot open: %s", strerror(errno));
    for (struct dirent *f; (f = readdir(d));)
        if (f->d_name[0] != '.' && str_ends(f->d_name, ".json"))
            vec_push(out, xstrndup(f->d_name, strlen(f->d_name) - strlen(".json")));
    closedir(d);
    if (out->n) qsort(out->v, out->n, sizeof *out->v, by_text);
    return 0;
}

static int load_card(struct gpu_catalogue *c, const char *dir, const char *name, struct err *e)
{
    struct diag d;
    char *path = xasprintf("%s/%s.json", dir, name);
    struct json_doc *doc = &c->doc[c->n_docs];
    int rc = json_doc_load(doc, path, e);
    free(path);
    if (rc < 0) return rc;
    c->n_docs++;
    diag_init(&d);
    gpu_read(&c->card[c->n++], c->a, doc, name, &d);
    rc = diag_result(&d, e);
    diag_fini(&d);
    return rc;
}

/* Two cards must not answer to one name. */
static int check_unique(const struct gpu_catalogue *c, struct err *e)
{
    for (size_t i = 0; i < c->n; i++)
        for (int k = -1; k < c->card[i].n_aliases; k++) {
            const char *name = k < 0 ? c->card[i].name : c->card[i].aliases[k];
            const struct gpu_spec *other = gpu_find(c, name, NULL);
            BUG_ON(!other); /* this card answers to it */
            if (other != &c->card[i])
                return err_set(e, ERR_INPUT, NULL, "\"%s\" names two cards: \"%s\" and \"%s\"",
                               name, other->name, c->card[i].name);
        }
    return 0;
}

struct gpu_spec gpu_generic(void)
{
    struct gpu_spec g = {
        .name = "generic",
        .model = "flat unit of the reference traces",
        .vendor = "none",
        .arch = "none",
        .form = "none",
        .note = "1 TFLOPS and 1 TOPS at every precision, 1 TB/s, 1 TiB, 0 W, no overhead",
        .devices = 1,
        .sms = 1,
        .boost_Hz = NAN,
        .matrix_Hz = NAN,
        .memory_bytes = UINT64_C(1) << 40,
        .usable_bytes = UINT64_C(1) << 40,
        .usable_from = PROV_ASSUMED,
        .mem_Bps = 1e12,
        .check_fp32 = { NAN, NAN },
        .check_fp16 = { NAN, NAN },
        .claim = PEAK_no_clock,
        .idle_from = PROV_ASSUMED,
        .idle_context_from = PROV_ASSUMED,
        .busy_from = PROV_ASSUMED,
        .link_Bps = NAN,
        .pcie_Bps = NAN,
    };
    for (int p = 0; p < PREC_COUNT; p++) g.peak[p] = (struct peak){ 1e12, NAN, false };
    return g;
}

int gpu_catalogue_load(struct gpu_catalogue **out, const char *dir, struct err *e)
{
    char buf[4096];
    name_list names = { 0 };
    struct gpu_catalogue *c = xcalloc(1, sizeof *c);
    c->a = arena_create();
    if (!dir) dir = datadir_path(buf, sizeof buf, "gpus");
    int rc = list_folder(dir, &names, e);
    if (rc < 0) goto out;
    c->doc = xcalloc(names.n + 1, sizeof *c->doc);
    c->card = xcalloc(names.n + 1, sizeof *c->card);
    for (size_t i = 0; i < names.n && rc == 0; i++) rc = load_card(c, dir, names.v[i], e);
    if (rc < 0) goto out;
    c->card[c->n++] = gpu_generic();
    qsort(c->card, c->n, sizeof *c->card, by_name);
    rc = check_unique(c, e);
out:
    for (size_t i = 0; i < names.n; i++) free(names.v[i]);
    vec_fini(&names);
    if (rc < 0)
        gpu_catalogue_destroy(c);
    else
        *out = c;
    return rc;
}

/* The name that was probably meant: one that begins like it ("h100"), else a typing slip. */
static const char *nearest_name(const struct gpu_catalogue *c, const char *name)
{
    size_t n = 0, total = 0;
    for (size_t i = 0; i < c->n; i++) total += 1 + (size_t)c->card[i].n_aliases;
    const char **all = xcalloc(total, sizeof *all);
    const char *best = NULL;
    for (size_t i = 0; i < c->n; i++) {
        if (!best && *name && strncasecmp(c->card[i].name, name, strlen(name)) == 0)
            best = c->card[i].name;
        all[n++] = c->card[i].name;
        for (int k = 0; k < c->card[i].n_aliases; k++) all[n++] = c->card[i].aliases[k];
    }
    if (!best) best = str_nearest(name, all, n);
    free(all);
    return best;
}

const struct gpu_spec *gpu_find(const struct gpu_catalogue *c, const char *name,
                                const char **nearest)
{
    if (nearest) *nearest = NULL;
    for (size_t i = 0; i < c->n; i++)
        if (strcasecmp(c->card[i].name, name) == 0) return &c->card[i];
    for (size_t i = 0; i < c->n; i++)
        for (int k = 0; k < c->card[i].n_aliases; k++)
            if (strcasecmp(c->card[i].aliases[k], name) == 0) return &c->card[i];
    if (nearest) *nearest = nearest_name(c, name);
    return NULL;
}
