/* cmd_import.c - `gpusim import FORMAT FILE...`: a foreign trace becomes the native one, with an
 * account of every row.
 *
 * Rows go, as they come, to an unnamed temporary file in the native form; once the last one is
 * there, the columns that have values and the order are known, and the trace is written: straight
 * on when the rows came sorted, else by a stable sort of (submit, file order) over an index of 24
 * bytes for each row. So memory holds the account and the index, never the rows themselves. */
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/vec.h"
#include "cli/command.h"
#include "traces/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum answer { ANSWER_TABLE, ANSWER_JSON, ANSWER_LIST };
static const char *const answers[] = { "table", "json", "list", NULL };

struct options {
    const char *out;
    bool strict, lenient;
    double capacity;
    int answer;
};

static const struct opt common_opts[] = {
    { "output", 'o', OPT_TEXT, offsetof(struct options, out), "FILE",
      "native trace to write (default: standard output); FILE.account.json and FILE.quarantine.csv lie beside it",
      NULL },
    { "strict", 0, OPT_FLAG, offsetof(struct options, strict), NULL,
      "any quarantined row is a failure", NULL },
    { "lenient", 0, OPT_FLAG, offsetof(struct options, lenient), NULL,
      "quarantined rows are no failure, whatever their reason", NULL },
    { "capacity", 0, OPT_REAL, offsetof(struct options, capacity), "GPUS",
      "GPUs of the cluster, for the offered load and the peak", NULL },
    { "format", 0, OPT_CHOICE, offsetof(struct options, answer), "HOW",
      "the account: a table on stderr, JSON on stdout (then no trace without -o); list: name the trace formats",
      answers },
    { 0 },
};

/* ---- command line: common options, then those of the format --------------------------------- */

enum { MAX_OPTS = 128 };

struct parsed {
    struct command command; /* the command with the options that apply */
    struct opt opts[MAX_OPTS];
    char **argv;  /* opt_parse() moves operands: a copy */
    char *values; /* struct options, then the format's */
    size_t size;
    char **operand;
    int operands;
};

static size_t aligned(size_t n)
{
    return (n + 15) / 16 * 16;
}

static void add_opts(struct parsed *p, size_t *n, const struct opt *from, size_t base)
{
    for (; from && from->name; from++) {
        bool there = false;
        for (size_t i = 0; i < *n; i++) there |= strcmp(p->opts[i].name, from->name) == 0;
        if (there || *n == MAX_OPTS - 1) continue;
        p->opts[*n] = *from;
        p->opts[(*n)++].offset += base;
    }
}

/* With the options of `only`, or of all formats. */
static int parse(struct parsed *p, const struct command *self, const struct trace_format *only,
                 int argc, char **argv, struct err *e)
{
    size_t n = 0, base = aligned(sizeof(struct options));
    memset(p, 0, sizeof *p);
    add_opts(p, &n, common_opts, 0);
    for (const struct trace_format *const *f = fmt_all; *f; f++) {
        if (only && *f != only) continue;
        add_opts(p, &n, (*f)->opts, base);
        base += aligned((*f)->options_size);
    }
    p->size = base + 16;
    p->values = xcalloc(1, p->size);
    p->argv = xcalloc((size_t)argc + 1, sizeof *p->argv);
    memcpy(p->argv, argv, (size_t)argc * sizeof *argv);
    p->command = *self;
    p->command.opts = p->opts;
    return opt_parse(&p->command, argc, p->argv, p->values, &p->operand, &p->operands, e);
}

static void parsed_fini(struct parsed *p)
{
    free(p->values);
    free(p->argv);
}

static int list_formats(void)
{
    for (const struct trace_format *const *f = fmt_all; *f; f++)
        printf("%-12s %s\n", (*f)->name, (*f)->help);
    printf("%-12s %s\n", "auto", "whichever of these the file looks like");
    return 0;
}

static int choose_format(const struct trace_format **out, const struct parsed *p, struct err *e)
{
    const char *names[64];
    size_t n = 0;
    if (p->operands < 1) {
        int rc = err_set(e, ERR_USAGE, NULL, "import: expected a FORMAT and a FILE");
        err_hint(e, "`gpusim import --format list` names the formats");
        return rc;
    }
    const char *name = p->operand[0];
    *out = format_find(name);
    if (!*out && strcmp(name, "auto") != 0) {
        for (const struct trace_format *const *f = fmt_all; *f && n < 63; f++)
            names[n++] = (*f)->name;
        names[n++] = "auto";
        int rc = err_set(e, ERR_USAGE, NULL, "import: unknown format \"%s\"", name);
        const char *near = str_nearest(name, names, n);
        if (near)
            err_hint(e, "did you mean \"%s\"?", near);
        else
            err_hint(e, "`gpusim import --format list` names the formats");
        return rc;
    }
    if (p->operands < 2)
        return err_set(e, ERR_USAGE, NULL,
                       "import: expected a FILE after \"%s\" (\"-\": standard input)", name);
    return *out ? 0 : format_sniff(out, p->operand[1], e);
}

/* ---- the rows ------------------------------------------------------------------------------- */

struct place { /* of a row in the body file */
    simtime submit;
    uint64_t at;
    uint32_t len;
};

struct job {
    const struct trace_format *format;
    const struct options *o;
    const void *format_options;
    const char *const *files;
    int n_files;
    struct symtab *names;
    struct account account;
    struct import_info info; /* of the first file */
    FILE *body;              /* native rows in the order they came */
    struct outfile quarantine;
    bool sorted;
    simtime last;
};

static int io_error(struct err *e, const char *what)
{
    return err_set(e, ERR_IO, NULL, "%s: %s", what, strerror(errno));
}

/* A file without a name in $TMPDIR. */
static FILE *temporary(struct err *e)
{
    const char *dir = getenv("TMPDIR");
    char *path = xasprintf("%s/gpusim-XXXXXX", dir && *dir ? dir : "/tmp");
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!f) io_error(e, "cannot create a temporary file");
    if (fd >= 0) unlink(path);
    if (fd >= 0 && !f) close(fd);
    free(path);
    return f;
}

static void put_quarantined(struct job *j, const struct import_row *row, int file)
{
    FILE *to = j->quarantine.f;
    if (!to) return;
    csv_put(to, j->files[file], strlen(j->files[file]));
    fprintf(to, ",%d,%s,", row->line, row->quarantined->key);
    csv_put(to, row->detail, strlen(row->detail));
    putc(',', to);
    csv_put(to, row->raw, row->raw_len);
    putc('\n', to);
}

static int read_file(struct job *j, int file, struct err *e)
{
    struct import_stream *s;
    struct import_row row;
    struct import_info info;
    int rc = import_open(&s, j->format, j->files[file], j->format_options, j->names, &info, e);
    if (rc < 0) return rc;
    if (file == 0) j->info = info;
    while ((rc = import_next(s, &row, e)) > 0) {
        account_add(&j->account, &row, file);
        if (row.quarantined) {
            put_quarantined(j, &row, file);
            continue;
        }
        if (row.job.submit < j->last) j->sorted = false;
        j->last = row.job.submit;
        trace_write_row(j->body, ~0u, &row.job, j->names);
    }
    import_close(s);
    return rc;
}

static int by_submit(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    if (a->submit != b->submit) return a->submit < b->submit ? -1 : 1;
    return a->at < b->at ? -1 : 1; /* file order */
}

/* Opens the native reader on an unnamed file. */
static int reopen(struct trace_reader **t, FILE *body, struct symtab *names, struct err *e)
{
    char path[40];
    if (fflush(body) || ferror(body)) return io_error(e, "cannot write a temporary file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(body));
    int rc = trace_open(t, path, names, e);
    if (rc == 0) trace_allow_unsorted(*t);
    return rc;
}

/* The body, sorted, in a new unnamed file that takes its place. */
static int sort_body(struct job *j, struct err *e)
{
    VEC(struct place) index = { 0 };
    struct trace_reader *t = NULL;
    struct job_row row;
    FILE *to = NULL;
    char *line = NULL;
    size_t cap = 0;
    int rc = reopen(&t, j->body, j->names, e);
    if (rc < 0) goto out;
    uint64_t at = trace_bytes(t);
    while ((rc = trace_next(t, &row, e)) > 0) {
        uint64_t end = trace_bytes(t);
        vec_push(&index, ((struct place){ row.submit, at,
                                          (uint32_t)(end - at) })); /* a row is at most 16 MiB */
        at = end;
    }
    if (rc < 0) goto out;
    qsort(index.v, index.n, sizeof *index.v, by_submit);
    to = temporary(e);
    if (!to) {
        rc = ERR_IO;
        goto out;
    }
    trace_write_header(to, ~0u, NULL);
    for (size_t i = 0; i < index.n; i++) {
        const struct place *p = &index.v[i];
        if (cap < p->len) line = xreallocarray(line, cap = p->len * 2u, 1);
        if (pread(fileno(j->body), line, p->len, (off_t)p->at) != (ssize_t)p->len) {
            rc = io_error(e, "cannot read a temporary file");
            goto out;
        }
        fwrite(line, 1, p->len, to);
    }
    fclose(j->body);
    j->body = to;
    to = NULL;
out:
    if (to) fclose(to);
    free(line);
    vec_fini(&index);
    trace_close(t);
    return rc;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int write_trace(struct job *j, FILE *to, struct err *e)
{
    const unsigned columns = account_columns(&j->account);
    char comment[640];
    struct trace_reader *t;
    struct job_row row;
    int rc = 0;
    if (!j->sorted) rc = sort_body(j, e);
    if (rc == 0) rc = reopen(&t, j->body, j->names, e);
    if (rc < 0) return rc;
    if (j->format == format_find("native") && j->info.origin[0])
        snprintf(comment, sizeof comment, "gpusim-trace/1 %s", j->info.origin);
    else
        snprintf(comment, sizeof comment, "gpusim-trace/1 origin=%s file=%.200s%s%s",
                 j->format->name, base_name(j->files[0]), j->info.origin[0] ? " " : "",
                 j->info.origin);
    for (char *c = comment; *c; c++)
        if ((unsigned char)*c < 0x20) *c = '?';
    trace_write_header(to, columns, comment);
    while ((rc = trace_next(t, &row, e)) > 0) trace_write_row(to, columns, &row, j->names);
    trace_close(t);
    return rc;
}

/* Is the import good enough to be used? Also says why not. */
static int verdict(const struct job *j, struct err *e)
{
    const struct account *a = &j->account;
    if (a->kept + a->repaired == 0)
        return err_set(e, ERR_INPUT, NULL, "%s: no job is left of %llu rows", j->files[0],
                       (unsigned long long)a->read);
    if (j->o->strict && a->quarantined)
        return err_set(e, ERR_INPUT, NULL,
                       "%s: %llu rows are quarantined (--strict): no trace is written", j->files[0],
                       (unsigned long long)a->quarantined);
    if (!j->o->lenient && a->not_benign) {
        int rc = err_set(e, ERR_INPUT, NULL,
                         "%s: %llu rows are quarantined for reasons the format does not explain: "
                         "no trace is written",
                         j->files[0], (unsigned long long)a->not_benign);
        err_hint(e, "look at the quarantine; --lenient goes on without those rows");
        return rc;
    }
    return 0;
}

static int store_account(const struct job *j, const json_t *doc, struct err *e)
{
    struct strbuf text = { 0 };
    int rc = 0;
    json_write(doc, &text);
    if (j->o->answer == ANSWER_JSON) fwrite(text.s, 1, text.len, stdout);
    if (j->quarantine.f) { /* that is: there is a file to lie beside */
        char *path = xasprintf("%s.account.json", j->o->out);
        rc = outfile_write(path, text.s, text.len, e);
        free(path);
    }
    strbuf_fini(&text);
    return rc;
}

static bool to_file(const struct options *o)
{
    return o->out && strcmp(o->out, "-") != 0;
}

static int import(struct job *j, struct err *e)
{
    struct outfile out = { 0 };
    json_t *doc = NULL;
    const bool files = to_file(j->o);
    int rc = 0;
    j->body = temporary(e);
    if (!j->body) return ERR_IO;
    trace_write_header(j->body, ~0u, NULL);
    if (files) {
        char *path = xasprintf("%s.quarantine.csv", j->o->out);
        rc = outfile_open(&j->quarantine, path, e);
        free(path);
        if (rc == 0) fputs("file,line,reason,detail,row\n", j->quarantine.f);
    }
    for (int i = 0; i < j->n_files && rc == 0; i++) rc = read_file(j, i, e);
    if (rc < 0) goto out;

    j->account.static_fill = j->info.static_fill;
    account_finish(&j->account,
                   j->o->capacity > 0 ? (int64_t)(j->o->capacity * 1000 + 0.5)
                                      : j->info.capacity_milli,
                   j->info.note);
    doc = account_json(&j->account, j->format->name, j->files, j->n_files);
    rc = store_account(j, doc, e);
    if (rc < 0) goto out;
    if (j->o->answer == ANSWER_TABLE) account_print(&j->account, j->files, j->n_files, stderr);
    if (files) rc = outfile_commit(&j->quarantine, e);
    if (rc == 0) rc = verdict(j, e);
    if (rc < 0) goto out;

    if (files) {
        rc = outfile_open(&out, j->o->out, e);
        if (rc == 0) rc = write_trace(j, out.f, e);
        if (rc == 0) rc = outfile_commit(&out, e);
    } else if (j->o->answer == ANSWER_TABLE) {
        rc = write_trace(j, stdout, e);
    }
    if (rc == 0 && j->format->finish)
        rc = j->format->finish(j->format_options, files ? j->o->out : NULL, e);
out:
    json_decref(doc);
    outfile_abandon(&out);
    outfile_abandon(&j->quarantine);
    fclose(j->body);
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct parsed all, p = { 0 };
    const struct trace_format *format = NULL;
    int rc = parse(&all, self, NULL, argc, argv, e);
    if (rc != 0) {
        parsed_fini(&all);
        return rc == OPT_HELP_SHOWN ? 0 : rc;
    }
    if (((const struct options *)(const void *)all.values)->answer == ANSWER_LIST)
        rc = list_formats();
    else if ((rc = choose_format(&format, &all, e)) == 0)
        rc = parse(&p, self, format, argc, argv, e);
    if (rc == 0 && format) {
        const struct options *o = (const void *)p.values;
        if (o->strict && o->lenient)
            rc = err_set(e, ERR_USAGE, NULL, "import: --strict and --lenient exclude each other");
        else if (o->capacity < 0 || o->capacity > 1e9)
            rc = err_set(e, ERR_USAGE, NULL, "import: --capacity: expected 0 to 1e9 GPUs");
    }
    if (rc == 0 && format) {
        struct job j = {
            .format = format,
            .o = (const void *)p.values,
            .format_options = p.values + aligned(sizeof(struct options)),
            .files = (const char *const *)(void *)(p.operand + 1),
            .n_files = p.operands - 1,
            .names = symtab_create(),
            .sorted = true,
        };
        account_init(&j.account);
        rc = import(&j, e);
        account_fini(&j.account);
        symtab_destroy(j.names);
    }
    parsed_fini(&p);
    parsed_fini(&all);
    return rc;
}

static void show_formats(command_show *show, void *ctx)
{
    for (size_t i = 0; fmt_all[i]; i++) show(ctx, fmt_all[i]->name, fmt_all[i]->help);
}

const struct command cmd_import = {
    .name = "import",
    .args = "FORMAT FILE...",
    .help = "turn a foreign trace into the native one, with an account of every row",
    .example = "gpusim import auto pods.csv -o trace.csv",
    .opts = common_opts,
    .run = run,
    .lists = "formats",
    .list = show_formats,
};
