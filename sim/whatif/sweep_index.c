#include "whatif/sweep_index.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/vec.h"
#include "whatif/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef VEC(struct sweep_file) files;

enum { DIGITS = 16 }; /* of the hash in a file's name: sweep_run_path() */

/* "0123456789abcdef-r12.json" */
static bool read_name(const char *name, struct sweep_file *out)
{
    char *end;
    if (strspn(name, "0123456789abcdef") != DIGITS || strncmp(name + DIGITS, "-r", 2) != 0)
        return false;
    out->point = strtoull(name, NULL, 16);
    const unsigned long k = strtoul(name + DIGITS + 2, &end, 10);
    out->replication = (uint32_t)k;
    return k <= UINT32_MAX && strcmp(end, ".json") == 0;
}

/* Every file of DIR/runs/ab. */
static int read_folder(files *to, const char *path, size_t dir, struct err *e)
{
    DIR *d = opendir(path);
    const struct dirent *one;
    const struct loc at = { .file = path };
    if (!d && (errno == ENOENT || errno == ENOTDIR)) return 0;
    if (!d) return err_set(e, err_of_errno(errno), &at, "cannot read the folder: %s", strerror(errno));
    while ((one = readdir(d))) {
        struct sweep_file f = { .dir = (uint32_t)dir };
        if (read_name(one->d_name, &f)) vec_push(to, f);
    }
    closedir(d);
    return 0;
}

static int by_run(const void *a, const void *b)
{
    const struct sweep_file *x = a, *y = b;
    if (x->point != y->point) return x->point < y->point ? -1 : 1;
    if (x->replication != y->replication) return x->replication < y->replication ? -1 : 1;
    return (x->dir > y->dir) - (x->dir < y->dir);
}

int sweep_index_load(struct sweep_index *x, const char *const *dirs, size_t n_dirs, struct err *e)
{
    files all = { 0 };
    int rc = 0;
    for (size_t i = 0; i < n_dirs && rc == 0; i++)
        for (unsigned byte = 0; byte < 256 && rc == 0; byte++) {
            char *path = xasprintf("%s/runs/%02x", dirs[i], byte);
            rc = read_folder(&all, path, i, e);
            free(path);
        }
    if (all.n > 0) qsort(all.v, all.n, sizeof *all.v, by_run);
    *x = (struct sweep_index){ .dir = dirs, .file = all.v, .n = all.n };
    return rc;
}

static bool same_run(const struct sweep_file *a, const struct sweep_file *b)
{
    return a->point == b->point && a->replication == b->replication;
}

static int found_twice(const struct sweep_index *x, const struct sweep_file *f, const char *sha256,
                       struct err *e)
{
    struct arena *a = arena_create();
    const int rc = err_set(e, ERR_INPUT, NULL, "%s and %s hold the same run",
                           sweep_run_path(a, x->dir[f[0].dir], sha256, f->replication),
                           sweep_run_path(a, x->dir[f[1].dir], sha256, f->replication));
    arena_destroy(a);
    return rc;
}

int sweep_index_find(const struct sweep_index *x, const char *sha256, size_t replication,
                     const struct sweep_file **out, struct err *e)
{
    char digits[DIGITS + 1];
    snprintf(digits, sizeof digits, "%.16s", sha256);
    const struct sweep_file want = { strtoull(digits, NULL, 16), (uint32_t)replication, 0 };
    size_t low = 0, high = x->n; /* the first that is not before `want` */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_run(&x->file[middle], &want) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct sweep_file *f = &x->file[low];
    *out = low < x->n && same_run(f, &want) ? f : NULL;
    return *out && low + 1 < x->n && same_run(f + 1, &want) ? found_twice(x, f, sha256, e) : 0;
}

void sweep_index_fini(struct sweep_index *x)
{
    free(x->file);
    *x = (struct sweep_index){ 0 };
}
