/* Joining the shards of a sweep. */
#include "base/outfile.h"
#include "whatif/sweep_table.h"

static int same_manifest(const json_t *a, const json_t *b, const char *dir_a, const char *dir_b,
                         struct err *e)
{
    static const struct {
        const char *key, *what;
    } part[] = {
        { "gpusim_version", "versions of gpusim" },
        { "scenario_sha256", "scenarios" },
        { "seed", "seeds" },
        { "vary", "axes" },
        { "replications", "numbers of replications" },
        { "metrics", "services or figures (--metric)" },
        { "points", "settings (--set, --policy) or input files" },
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (!json_equal(json_object_get(a, part[i].key), json_object_get(b, part[i].key)))
            return err_set(e, ERR_INPUT, NULL, "%s and %s are sweeps of different %s", dir_a, dir_b,
                           part[i].what);
    return 0;
}

int sweep_merge(struct sweep_table *t, const char *const *dirs, size_t n_dirs, const char *out,
                bool partial, struct strbuf *text, struct arena *a, struct err *e)
{
    json_t *first = NULL;
    *t = (struct sweep_table){ 0 };
    int rc = sweep_manifest_load(&first, dirs[0], e);
    for (size_t i = 1; i < n_dirs && rc == 0; i++) {
        json_t *other = NULL;
        rc = sweep_manifest_load(&other, dirs[i], e);
        if (rc == 0) rc = same_manifest(first, other, dirs[0], dirs[i], e);
        json_decref(other);
    }
    if (rc == 0) rc = sweep_folder_is_free(out, first, e);
    if (rc == 0) rc = sweep_table_open(t, first, dirs, n_dirs, a, e);
    json_decref(first);
    if (rc == 0) rc = sweep_table_count(t, e);
    if (rc == 0 && t->n_missing > 0 && !partial) {
        rc = err_set(
            e, ERR_INPUT, NULL, "%zu of %zu runs are missing, such as replication %zu of point %zu",
            t->n_missing, t->n_runs, t->missing % t->replications, t->missing / t->replications);
        err_hint(e, "a shard has not finished or was not named; --partial joins what is there");
    }
    if (rc == 0) rc = outfile_mkdirs(out, e);
    if (rc == 0) rc = sweep_write_json(arena_printf(a, "%s/manifest.json", out), t->manifest, e);
    return rc ? rc : sweep_table_write(t, out, out, text, e);
}
