/* cmd_import.c - `gpusim import FORMAT FILE...`: a foreign trace becomes the native one, with an
 * account of every row.
 *
 * Rows go, as they come, to a store outside of memory that sorts them by (submit, file order)
 * (rowstore.h); once the last one is there, the columns that have values and time zero are known,
 * and the trace is written. So neither the rows nor anything of their number lies in memory. */
#include "base/dec.h"
#include "base/hashes.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "traces/account.h"
#include "traces/format_opts.h"
#include "traces/inputs.h"
#include "traces/rowstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum answer { ANSWER_TABLE, ANSWER_JSON, ANSWER_LIST };
static const char *const answers[] = { "table", "json", "list", NULL };

struct options {
    const char *out;
    bool strict, lenient;
    double capacity;
    int answer, same_id;
};

enum same_id { SAME_ID_keep, SAME_ID_first, SAME_ID_refuse };
static const char *const same_ids[] = { "keep", "first", "refuse", NULL };
static const struct import_reason same_id = { "same-id",
                                              "a job of this id came before (--same-id first)",
                                              true };

static const struct opt common_opts[] = {
    { "output", 'o', OPT_TEXT, offsetof(struct options, out), "FILE",
      "native trace to write (default: standard output); FILE.account.json and FILE.quarantine.csv lie beside it unless it is a pipe or a device",
      NULL },
    { "strict", 0, OPT_FLAG, offsetof(struct options, strict), NULL,
      "any quarantined row is a failure", NULL },
    { "lenient", 0, OPT_FLAG, offsetof(struct options, lenient), NULL,
      "quarantined rows are no failure, whatever their reason", NULL },
    { "capacity", 0, OPT_REAL, offsetof(struct options, capacity), "GPUS",
      "GPUs of the cluster, for the offered load and the peak", NULL },
    { "same-id", 0, OPT_CHOICE, offsetof(struct options, same_id), "WHAT",
      "a job whose id occurred before: keep counts both, first sets the later one aside, refuse stops",
      same_ids },
    { "format", 0, OPT_CHOICE, offsetof(struct options, answer), "HOW",
      "the account: a table on stderr, JSON on stdout (then no trace without -o); list: name the trace formats",
      answers },
    { 0 },
};

/* ---- command line: common options, then those of the format --------------------------------- */

static void list_formats(bool as_json)
{
    json_t *doc = json_object(), *list = json_array();
    int width = 4;
    for (const struct trace_format *const *f = fmt_all; *f; f++)
        if ((int)strlen((*f)->name) > width) width = (int)strlen((*f)->name);
    for (const struct trace_format *const *f = fmt_all; *f; f++) {
        json_array_append_new(list,
                              json_pack("{s:s, s:s}", "name", (*f)->name, "help", (*f)->help));
        if (!as_json)
            printf("%-*s %s%s\n", width, (*f)->name, (*f)->help,
                   (*f)->document ? " (gives signatures)" : "");
    }
    json_object_set_new(doc, "formats", list);
    if (as_json) {
        struct strbuf text = { 0 };
        json_write(doc, &text);
        fwrite(text.s, 1, text.len, stdout);
        strbuf_fini(&text);
    } else {
        printf("%-*s %s\n", width, "auto", "whichever of these the file looks like");
    }
    json_decref(doc);
}

/* Is `--format WORD` there? `--format list --format json` is the list as JSON, in whatever
 * order. */
static bool asked(int argc, char **argv, const char *word)
{
    static const char option[] = "--format";
    const size_t n = sizeof option - 1;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], option, n) != 0) continue;
        if (argv[i][n] == '=' && strcmp(argv[i] + n + 1, word) == 0) return true;
        if (!argv[i][n] && i + 1 < argc && strcmp(argv[i + 1], word) == 0) return true;
    }
    return false;
}

/* NULL: whichever the file looks like. */
static int choose_format(const struct trace_format **out, const struct format_opts *p,
                         struct err *e)
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
    return 0;
}

/* ---- the rows ------------------------------------------------------------------------------- */

enum {
    ROWS_BYTES = 8 << 20,  /* in memory at once */
    MOST_USELESS = 1000000 /* rows at the beginning of a file of which none is taken */
};

struct job {
    const struct trace_format *format;
    const struct options *o;
    const void *format_options;
    const char *const *files; /* as the user named them */
    const char *const *paths; /* what to open */
    int n_files;
    const struct inputs *in; /* all that is read, options' files too */
    struct symtab *names;
    struct account account;
    struct import_info info; /* of the first file */
    struct import_shared shared;
    struct rowstore *rows;
    struct hashes ids; /* seen, where --same-id asks: 16 bytes each */
    unsigned columns;  /* of requests: tokens or sizes, as the first row has it; 0: no row yet */
    struct outfile quarantine;
};

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

static bool of_requests(const struct job *j)
{
    return j->info.kind == IMPORT_REQUESTS;
}

/* A request trace has tokens or sizes: what the first row has. */
static int keep_row(struct job *j, const struct import_row *row, int file, struct err *e)
{
    if (of_requests(j)) {
        const unsigned columns =
            row->request.size_nano == REQUEST_NONE ? REQUESTS_LLM : REQUESTS_SIZED;
        if (!j->columns) j->columns = columns;
        if (columns != j->columns) {
            const struct loc at = { .file = j->files[file], .line = row->line };
            return err_set(e, ERR_INPUT, &at,
                           "requests with tokens and requests with sizes cannot share a trace");
        }
    }
    rowstore_add(j->rows, row);
    return 1;
}

/* Quarantines a job whose id came before, all of its instances, or fails. */
static int check_id(struct job *j, struct import_row *row, struct err *e)
{
    uint32_t unused = 0;
    if (j->o->same_id == SAME_ID_keep || of_requests(j) || row->quarantined) return 0;
    const uint64_t hash = hash_mix(hash_bytes(row->job.id, row->job.id_len));
    if (hashes_add(&j->ids, hash, &unused)) return 0;
    if (j->o->same_id == SAME_ID_first) {
        import_quarantine(row, &same_id, "%s", "");
        row->instances = 0; /* they come one by one */
        return 0;
    }
    const struct loc at = { .file = j->files[row->file], .line = row->line };
    return err_set(e, ERR_INPUT, &at, "the id \"%.*s\" occurred before (--same-id refuse)",
                   (int)(row->job.id_len < 80 ? row->job.id_len : 80), row->job.id);
}

/* A file of which nothing was taken for so long is none of this format, and its quarantine would
 * fill the disk. */
static int check_use(const struct job *j, int file, struct err *e)
{
    const struct loc at = { .file = j->files[file] };
    if (j->account.quarantined < MOST_USELESS || j->account.quarantined < j->account.read) return 0;
    err_set(e, ERR_INPUT, &at, "the first %d rows are all quarantined: is it a file of format %s?",
            MOST_USELESS, j->format->name);
    err_hint(e, "`head` of it with -o shows what is wrong with each");
    return ERR_INPUT;
}

static int read_file(struct job *j, int file, struct err *e)
{
    struct import_stream *s;
    struct import_row row;
    struct import_info info;
    j->shared.last = file == j->n_files - 1;
    int rc = import_open_shared(&s, j->format, j->paths[file], j->format_options, j->names,
                                &j->shared, &info, e);
    if (rc < 0) {
        format_explain(j->format, j->paths[file], e);
        return rc;
    }
    if (file == 0) j->info = info;
    while ((rc = import_next(s, &row, e)) > 0) {
        if ((rc = check_id(j, &row, e)) < 0) break;
        account_add(&j->account, &row, row.file);
        if (row.quarantined && row.further) continue; /* its row stands there */
        if (row.quarantined) {
            put_quarantined(j, &row, row.file);
            if ((rc = check_use(j, file, e)) < 0) break;
        } else if ((rc = keep_row(j, &row, row.file, e)) < 0) {
            break;
        }
    }
    if (rc == 0) account_add_facts(&j->account, j->files[file], import_facts(s));
    import_close(s);
    if (rc < 0 && j->account.read == 0) format_explain(j->format, j->paths[file], e);
    return rc;
}

/* ---- the trace ---------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Columns that some row has. */
static unsigned used_columns(const struct job *j)
{
    const struct request_facts *f = &j->account.requests;
    if (!of_requests(j)) return account_columns(&j->account);
    return j->columns | (f->services.names ? REQUESTS_COL(service) : 0) |
           (f->sessions.names ? REQUESTS_COL(session) : 0) |
           (f->blocks ? REQUESTS_COL(hash_ids) : 0);
}

static bool own_format(const struct trace_format *f)
{
    return f == format_find("native") || f == format_find("requests");
}

/* The first line: where the trace came from. */
static void put_comment(char *to, size_t size, const struct job *j)
{
    const char *origin = j->info.origin;
    int n;
    if (own_format(j->format) && origin[0])
        n = snprintf(to, size, "gpusim-trace/1 %s", origin);
    else
        n = snprintf(to, size, "gpusim-trace/1 origin=%s file=%.200s%s%s", j->format->name,
                     base_name(j->files[0]), origin[0] ? " " : "", origin);
    if (j->info.from_zero && n > 0 && (size_t)n + 50 < size) {
        n += snprintf(to + n, size - (size_t)n, " time_zero_s=");
        dec_print(to + n, size - (size_t)n, j->account.facts.time_zero, 9);
    }
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < 0x20) *c = '?';
}

static void write_job(struct job_row *row, simtime zero, FILE *to, unsigned columns,
                      const struct symtab *names)
{
    row->submit -= zero;
    if (row->deadline != JOB_NO_TIME)
        row->deadline = row->deadline > zero ? row->deadline - zero : 0;
    trace_write_row(to, columns, row, names);
}

static int write_trace(struct job *j, FILE *to, struct err *e)
{
    const unsigned columns = used_columns(j);
    const simtime zero = j->account.facts.time_zero;
    char comment[640];
    struct import_row row;
    int rc = rowstore_sort(j->rows, e);
    if (rc < 0) return rc;
    put_comment(comment, sizeof comment, j);
    if (of_requests(j))
        requests_write_header(to, columns, comment);
    else
        trace_write_header(to, columns, comment);
    while ((rc = rowstore_next(j->rows, &row, e)) > 0) {
        if (of_requests(j)) {
            row.request.arrival -= zero;
            requests_write_row(to, columns, &row.request, j->names);
        } else {
            write_job(&row.job, zero, to, columns, j->names);
        }
    }
    return rc;
}

/* Is the import good enough to be used? Also says why not. */
static int verdict(const struct job *j, struct err *e)
{
    const struct account *a = &j->account;
    if (a->kept + a->repaired == 0) {
        int rc = err_set(e, ERR_INPUT, NULL, "%s: no %s is left of %llu rows", j->files[0],
                         of_requests(j) ? "request" : "job", (unsigned long long)a->read);
        format_explain(j->format, j->paths[0], e);
        return rc;
    }
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

/* Is there a file that others can lie beside? Nothing lies beside a pipe (-o >(xz >t.csv.xz)) or a
 * device. */
static bool has_neighbours(const struct options *o)
{
    return to_file(o) && !spool_kind(o->out);
}

/* A trace of an earlier import must not stand beside the account of one that failed. */
static void drop_stale(const struct job *j)
{
    struct stat st;
    if (to_file(j->o) && lstat(j->o->out, &st) == 0 && S_ISREG(st.st_mode) &&
        unlink(j->o->out) == 0)
        log_warn("the older %s is removed: it does not belong to this account", j->o->out);
}

/* Can it be written, and would that destroy what is read? */
static int check_outputs(const struct job *j, struct err *e)
{
    static const char *const suffix[] = { "", ".account.json", ".quarantine.csv", ".fleet.json" };
    const struct loc at = { .file = j->o->out };
    struct stat out;
    int rc = 0;
    if (stat(j->o->out, &out) == 0 && S_ISDIR(out.st_mode))
        return err_set(e, ERR_IO, &at, "is a folder, expected a file to write");
    for (size_t k = 0; k < sizeof suffix / sizeof *suffix && rc == 0; k++) {
        char *path = xasprintf("%s%s", j->o->out, suffix[k]);
        const char *input =
            stat(path, &out) == 0 && S_ISREG(out.st_mode) ? inputs_find(j->in, &out) : NULL;
        if (input)
            rc = err_set(e, ERR_USAGE, NULL, "import: -o %s would overwrite the input %s",
                         j->o->out, input);
        free(path);
    }
    return rc;
}

/* A format of measurements: its document to -o or standard output, its account to stderr. */
static int import_document(struct job *j, struct err *e)
{
    struct import_document d = { .quarantine = j->quarantine.f, .names = j->files };
    struct strbuf text = { 0 };
    size_t i;
    json_t *w;
    int rc = j->format->document(&d, j->paths, j->n_files, j->format_options, e);
    if (rc < 0) {
        format_explain(j->format, j->paths[0], e);
        return rc;
    }
    if (j->quarantine.f) {
        rc = outfile_commit(&j->quarantine, e);
        char *path = xasprintf("%s.account.json", j->o->out);
        json_write(json_object_get(d.json, "account"), &text);
        if (rc == 0) rc = outfile_write(path, text.s, text.len, e);
        free(path);
    }
    if (rc == 0 && ((j->o->strict && d.quarantined) || (!j->o->lenient && d.not_benign))) {
        const uint64_t n = j->o->strict ? d.quarantined : d.not_benign;
        rc =
            err_set(e, ERR_INPUT, NULL, "%s: %llu lines are quarantined %s: no document is written",
                    j->files[0], (unsigned long long)n,
                    j->o->strict ? "(--strict)" : "for reasons the format does not explain");
        err_hint(e, "look at the quarantine; --lenient goes on without those lines");
        drop_stale(j);
    }
    strbuf_clear(&text);
    json_write(d.json, &text);
    if (rc == 0 && to_file(j->o)) rc = outfile_write(j->o->out, text.s, text.len, e);
    if (rc == 0 && (!to_file(j->o) || j->o->answer == ANSWER_JSON))
        fwrite(text.s, 1, text.len, stdout);
    json_array_foreach(json_object_get(d.json, "warnings"), i, w)
    {
        fprintf(stderr, "warning: %s\n", json_string_value(w));
    }
    strbuf_fini(&text);
    json_decref(d.json);
    return rc;
}

static int import(struct job *j, struct err *e)
{
    struct outfile out = { 0 };
    json_t *doc = NULL;
    const bool files = to_file(j->o), neighbours = has_neighbours(j->o);
    int rc = files ? outfile_mkdirs_for(j->o->out, e) : 0;
    if (rc == 0 && files) rc = check_outputs(j, e);
    if (neighbours && rc == 0) {
        char *path = xasprintf("%s.quarantine.csv", j->o->out);
        rc = outfile_open(&j->quarantine, path, e);
        free(path);
        if (rc == 0) fputs("file,line,reason,detail,row\n", j->quarantine.f);
    }
    if (rc == 0 && j->format->document) {
        rc = import_document(j, e);
        goto out;
    }
    for (int i = 0; i < j->n_files && rc == 0; i++) rc = read_file(j, i, e);
    if (rc < 0) goto out;

    j->account.static_fill = j->info.static_fill;
    j->account.from_zero = j->info.from_zero;
    j->account.kind = j->info.kind;
    j->account.names = j->names;
    rc = account_finish(&j->account,
                        j->o->capacity > 0 ? (int64_t)(j->o->capacity * 1000 + 0.5)
                                           : j->info.capacity_milli,
                        j->info.note, e);
    if (rc < 0) goto out;
    doc = account_json(&j->account, j->format->name, j->files, j->n_files);
    rc = store_account(j, doc, e);
    if (rc < 0) goto out;
    if (j->o->answer == ANSWER_TABLE) account_print(&j->account, j->files, j->n_files, stderr);
    if (neighbours) rc = outfile_commit(&j->quarantine, e);
    if (rc == 0 && (rc = verdict(j, e)) < 0) drop_stale(j);
    if (rc < 0) goto out;

    if (files) {
        rc = outfile_open(&out, j->o->out, e);
        if (rc == 0) rc = write_trace(j, out.f, e);
        if (rc == 0) rc = outfile_commit(&out, e);
    } else if (j->o->answer == ANSWER_TABLE) {
        rc = write_trace(j, stdout, e);
    }
    if (rc == 0 && j->format->finish)
        rc = j->format->finish(j->format_options, neighbours ? j->o->out : NULL, e);
out:
    json_decref(doc);
    outfile_abandon(&out);
    outfile_abandon(&j->quarantine);
    return rc;
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
    struct format_opts all, p = { 0 };
    struct inputs in = { 0 };
    const struct trace_format *format = NULL;
    int rc = format_opts_parse(&all, self, common_opts, sizeof(struct options),
                               format_opts_help_on(argc, argv), argc, argv, e);
    if (rc != 0) {
        format_opts_fini(&all);
        return rc == OPT_HELP_SHOWN ? 0 : rc;
    }
    if (asked(argc, argv, "list"))
        list_formats(asked(argc, argv, "json"));
    else if ((rc = choose_format(&format, &all, e)) == 0 &&
             (rc = inputs_open(&in, all.operand + 1, all.operands - 1, e)) == 0 &&
             (format || (rc = format_sniff(&format, in.path[0], e)) == 0))
        rc =
            format_opts_parse(&p, self, common_opts, sizeof(struct options), format, argc, argv, e);
    if (rc == 0 && format) {
        const struct options *o = p.own;
        if (o->strict && o->lenient)
            rc = err_set(e, ERR_USAGE, NULL, "import: --strict and --lenient exclude each other");
        else if (o->capacity < 0 || o->capacity > 1e9)
            rc = err_set(e, ERR_USAGE, NULL, "import: --capacity: expected 0 to 1e9 GPUs");
    }
    if (rc == 0 && format) rc = inputs_of_options(&in, format, p.of_format, e);
    if (rc == 0 && format) {
        struct job j = {
            .format = format,
            .o = p.own,
            .format_options = p.of_format,
            .files = (const char *const *)(void *)(p.operand + 1),
            .paths = in.path,
            .n_files = p.operands - 1,
            .in = &in,
            .names = symtab_create(),
            .rows = rowstore_create(ROWS_BYTES),
        };
        account_init(&j.account);
        rc = import(&j, e);
        account_fini(&j.account);
        import_shared_fini(&j.shared);
        rowstore_destroy(j.rows);
        hashes_fini(&j.ids);
        symtab_destroy(j.names);
    }
    inputs_fini(&in, e);
    format_opts_fini(&p);
    format_opts_fini(&all);
    return rc;
}

static void show_formats(command_show *show, void *ctx)
{
    for (size_t i = 0; fmt_all[i]; i++) show(ctx, fmt_all[i]->name, fmt_all[i]->help);
}

static const char *operand(size_t place, size_t i)
{
    if (place != 0) return NULL;
    return i == 0 ? "auto" : fmt_all[i - 1] ? fmt_all[i - 1]->name : NULL;
}

const struct command cmd_import = {
    .name = "import",
    .args = "FORMAT FILE...",
    .help = "turn a foreign trace into the native one, with an account of every row",
    .example = "gpusim import auto pods.csv -o trace.csv",
    .opts = common_opts,
    .run = run,
    .operand = operand,
    .lists = "formats",
    .list = show_formats,
    .format_opts = format_options,
};
