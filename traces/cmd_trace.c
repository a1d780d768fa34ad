/* cmd_trace.c - `gpusim trace stat [FORMAT] FILE`: what is in a trace, native or of any known
 * format, with the options that `gpusim import FORMAT` has. */
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/command.h"
#include "traces/account.h"
#include "traces/format_opts.h"
#include "traces/inputs.h"

#include <stdlib.h>
#include <string.h>

struct options {
    double capacity;
    int format; /* enum out_format */
    const char *source;
};

static const char *const formats[] = { "table", "json", NULL };

static const struct opt opts[] = {
    { "source", 0, OPT_TEXT, offsetof(struct options, source), "FORMAT",
      "the file's format, as if named before FILE", NULL },
    { "capacity", 0, OPT_REAL, offsetof(struct options, capacity), "GPUS",
      "GPUs of the cluster, for the offered load", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, format), "HOW", "how to print", formats },
    { 0 },
};

/* Distinct names seen in a column. */
struct distinct {
    VEC(unsigned char) seen;
    uint64_t n;
};

static void add_name(struct distinct *d, sym s)
{
    if (s == 0) return;
    while (d->seen.n <= s) vec_push(&d->seen, 0);
    d->n += !d->seen.v[s];
    d->seen.v[s] = 1;
}

struct summary {
    struct account account;
    struct distinct users, groups, models;
};

static int read_all(struct summary *s, const struct trace_format *f, const void *options,
                    const char *path, const char *shown, struct symtab *names,
                    struct import_info *info, struct err *e)
{
    struct import_stream *in;
    struct import_row row;
    int rc = import_open(&in, f, path, options, names, info, e);
    if (rc == 0) {
        while ((rc = import_next(in, &row, e)) > 0) {
            account_add(&s->account, &row, 0);
            if (row.quarantined) continue;
            add_name(&s->users, row.job.user);
            add_name(&s->groups, row.job.group);
            add_name(&s->models, row.job.gpu_model);
        }
        if (rc == 0) account_add_facts(&s->account, shown, import_facts(in));
        import_close(in);
    }
    if (rc < 0 && s->account.read == 0) format_explain(f, path, e);
    return rc;
}

static void add_names_json(const struct summary *s, json_t *o)
{
    json_object_set_new(o, "users", json_integer((json_int_t)s->users.n));
    json_object_set_new(o, "groups", json_integer((json_int_t)s->groups.n));
    json_object_set_new(o, "gpu_models", json_integer((json_int_t)s->models.n));
}

static void print_json(const struct summary *s, const char *format, const char *path)
{
    struct strbuf text = { 0 };
    json_t *o = account_json(&s->account, format, &path, 1);
    account_add_stat_json(&s->account, o);
    if (s->account.kind == IMPORT_JOBS) add_names_json(s, o);
    json_write(o, &text);
    fwrite(text.s, 1, text.len, stdout);
    strbuf_fini(&text);
    json_decref(o);
}

static int stat_file(const struct options *o, const struct trace_format *f, const void *options,
                     const char *path, const char *shown, struct err *e)
{
    struct summary s = { 0 };
    struct import_info info = { 0 };
    int rc = 0;
    struct symtab *names = symtab_create();
    account_init(&s.account);
    s.account.percentiles = true;
    rc = read_all(&s, f, options, path, shown, names, &info, e);
    if (rc == 0) {
        s.account.static_fill = info.static_fill;
        s.account.from_zero = info.from_zero;
        s.account.kind = info.kind;
        s.account.names = names;
        rc = account_finish(
            &s.account, o->capacity > 0 ? (int64_t)(o->capacity * 1000 + 0.5) : info.capacity_milli,
            info.note, e);
    }
    if (rc == 0) {
        if (o->format == FORMAT_JSON) {
            print_json(&s, f->name, shown);
        } else {
            printf("%-13s %s (%s)\n", "trace", shown, f->name);
            account_print(&s.account, &shown, 1, stdout);
            account_print_stat(&s.account, stdout);
            if (info.kind == IMPORT_JOBS)
                printf("%-13s %llu users, %llu groups, %llu GPU models\n", "names",
                       (unsigned long long)s.users.n, (unsigned long long)s.groups.n,
                       (unsigned long long)s.models.n);
        }
    }
    if (rc == 0 && s.account.not_benign) {
        const struct loc at = { .file = path };
        rc = err_set(e, ERR_INPUT, &at, "%llu rows cannot be used (%s)",
                     (unsigned long long)s.account.not_benign, f->name);
        err_hint(e, "`gpusim import %s` writes them to a quarantine file, with the reasons",
                 f->name);
    }
    account_fini(&s.account);
    symtab_destroy(names);
    vec_fini(&s.users.seen);
    vec_fini(&s.groups.seen);
    vec_fini(&s.models.seen);
    return rc;
}

/* "stat FILE" or "stat FORMAT FILE". *named: NULL for whichever the file looks like. */
static int operands(const struct format_opts *p, const struct command *self, const char **named,
                    struct err *e)
{
    const struct options *o = p->own;
    const int n = p->operands;
    *named = n > 2 ? p->operand[1] : o->source;
    if (n < 1 || strcmp(p->operand[0], "stat") != 0) {
        int rc = err_set(e, ERR_USAGE, NULL, "trace: expected \"stat\"%s%s", n ? ", found " : "",
                         n ? p->operand[0] : "");
        err_hint(e, "%s", self->example);
        return rc;
    }
    if (n < 2 || n > 3 || (n == 3 && o->source))
        return err_set(e, ERR_USAGE, NULL,
                       "trace stat: expected one FILE (\"-\": standard input), perhaps behind its "
                       "FORMAT");
    if (o->capacity < 0 || o->capacity > 1e9)
        return err_set(e, ERR_USAGE, NULL, "trace: --capacity: expected 0 to 1e9 GPUs");
    if (*named && strcmp(*named, "auto") == 0) *named = NULL;
    if (!*named || format_find(*named)) return 0;
    int rc = err_set(e, ERR_USAGE, NULL, "trace: unknown format \"%s\"", *named);
    err_hint(e, "`gpusim import --format list` names the formats");
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct format_opts all, p = { 0 };
    const char *named = NULL;
    struct inputs in = { 0 };
    int rc = format_opts_parse(&all, self, opts, sizeof(struct options),
                               format_opts_help_on(argc, argv), argc, argv, e);
    if (rc == 0) rc = operands(&all, self, &named, e);
    if (rc == 0) {
        char **shown = &all.operand[all.operands - 1];
        const struct trace_format *f = named ? format_find(named) : NULL;
        rc = inputs_open(&in, shown, 1, e);
        if (rc == 0 && !f) rc = format_sniff(&f, in.path[0], e);
        if (rc == 0)
            rc = format_opts_parse(&p, self, opts, sizeof(struct options), f, argc, argv, e);
        if (rc == 0) rc = inputs_of_options(&in, f, p.of_format, e);
        if (rc == 0) rc = stat_file(p.own, f, p.of_format, in.path[0], *shown, e);
    }
    inputs_fini(&in, e);
    format_opts_fini(&p);
    format_opts_fini(&all);
    return rc == OPT_HELP_SHOWN ? 0 : rc;
}

static const char *operand(size_t place, size_t i)
{
    if (place == 0) return i == 0 ? "stat" : NULL;
    return place == 1 && fmt_all[i] ? fmt_all[i]->name : NULL;
}

const struct command cmd_trace = {
    .name = "trace",
    .args = "stat [FORMAT] FILE",
    .help = "summarise a trace of jobs or requests: rows, GPUs or tokens, durations, gaps",
    .example = "gpusim trace stat sacct jobs.txt --zone America/Denver",
    .opts = opts,
    .run = run,
    .operand = operand,
    .format_opts = format_options,
};
