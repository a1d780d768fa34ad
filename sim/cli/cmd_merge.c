/* gpusim merge: join the folders that the shards of a sweep wrote. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/sweep_print.h"
#include "whatif/sweep_table.h"

struct options {
    const char *out;
    bool partial, quiet;
    int format;
};

static const struct opt opts[] = {
    { "output", 'o', OPT_TEXT, offsetof(struct options, out), "DIR",
      "where to write (default: the folder, when only one is named)", NULL },
    { "partial", 0, OPT_FLAG, offsetof(struct options, partial), NULL,
      "leave out runs that are missing instead of refusing", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT",
      "of the table on standard output", out_format_names },
    { "quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, "warnings only", NULL },
    { 0 },
};

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct options o = { 0 };
    struct sweep_table t = { 0 };
    struct strbuf text = { 0 };
    struct arena *a = arena_create();
    char **operand;
    int n;
    int rc = opt_parse(self, argc, argv, &o, &operand, &n, e);
    if (rc != 0) {
        arena_destroy(a);
        return rc == OPT_HELP_SHOWN ? 0 : rc;
    }
    if (o.quiet) log_set_level(LOG_QUIET);
    const char *out = o.out ? o.out : operand[0];
    if (n == 0)
        rc = err_set(e, ERR_USAGE, NULL, "expected the folders of the shards");
    else if (n > 1 && !o.out)
        rc = err_set(e, ERR_USAGE, NULL, "say where the joined sweep goes: -o DIR");
    if (rc == 0)
        rc = sweep_merge(&t, (const char *const *)operand, (size_t)n, out, o.partial, &text, a, e);
    if (rc == 0) rc = sweep_print(out, o.format, &text, e);
    if (rc == 0) {
        log_info("wrote %s/sweep.csv and sweep.json from %zu runs", out, t.n_runs - t.n_missing);
        if (t.n_missing) log_warn("%zu of %zu runs are missing", t.n_missing, t.n_runs);
        if (t.n_failed) log_warn("%zu of %zu runs failed", t.n_failed, t.n_runs);
        rc = t.n_failed > 0 ? 1 : 0;
    }
    sweep_table_fini(&t);
    strbuf_fini(&text);
    opt_fini(opts, &o);
    arena_destroy(a);
    return rc;
}

const struct command cmd_merge = {
    .name = "merge",
    .args = "DIR...",
    .help = "join the shards of a sweep into one table",
    .example = "gpusim merge out/shard-1 out/shard-2 -o out/sweep",
    .opts = opts,
    .run = run,
};
