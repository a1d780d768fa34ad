/* fuzz_import.h - one foreign format fed with bytes: it must end, and whatever it keeps must be a
 * row that the native writer and reader take and give back unchanged. */
#ifndef TESTS_FUZZ_IMPORT_H
#define TESTS_FUZZ_IMPORT_H

#include "base/json.h"
#include "cli/command.h"
#include "tests/support/textfile.h"
#include "traces/format.h"

#include <stddef.h>
#include <stdint.h>

/* The native text is read back and must have `rows` rows. */
static inline void fuzz_read_back(const char *text, size_t len, size_t rows)
{
    struct textfile f = textfile_bytes(text, len);
    struct symtab *names = symtab_create();
    struct trace_reader *t;
    struct job_row r;
    struct err e = { 0 };
    size_t n = 0;
    int rc = trace_open(&t, f.path, names, &e);
    if (rc < 0) BUG("header: %s", e.msg);
    trace_allow_unsorted(t);
    while ((rc = trace_next(t, &r, &e)) > 0) n++;
    if (rc < 0 || n != rows) BUG("%zu rows written, %zu read: %s", rows, n, e.msg);
    trace_close(t);
    symtab_destroy(names);
    textfile_close(&f);
}

static inline void fuzz_read_back_requests(const char *text, size_t len, size_t rows)
{
    struct textfile f = textfile_bytes(text, len);
    struct symtab *names = symtab_create();
    struct requests_reader *t;
    struct request_row r;
    struct err e = { 0 };
    size_t n = 0;
    int rc = requests_open(&t, f.path, names, &e);
    if (rc < 0) BUG("header: %s", e.msg);
    requests_allow_unsorted(t);
    while ((rc = requests_next(t, &r, &e)) > 0) n++;
    if (rc < 0 || n != rows) BUG("%zu rows written, %zu read: %s", rows, n, e.msg);
    requests_close(t);
    symtab_destroy(names);
    textfile_close(&f);
}

/* A file of requests starts with the header that its first row asks for. */
static inline unsigned fuzz_request_columns(const struct request_row *r)
{
    return (r->size_nano == REQUEST_NONE ? REQUESTS_LLM : REQUESTS_SIZED) | REQUESTS_COL(service) |
           REQUESTS_COL(session);
}

/* Options as the command line would set them; NULL: the defaults. */
union fuzz_options {
    max_align_t align;
    unsigned char bytes[256];
};

/* `word` is kept by the options when it holds a text: it must live as long as they do. */
static inline union fuzz_options fuzz_options_kept(const struct trace_format *format, char *word)
{
    union fuzz_options o = { .bytes = { 0 } };
    const struct command c = { .name = format->name, .opts = format->opts };
    char *argv[] = { word, word, NULL }, **operand;
    int n;
    struct err e = { 0 };
    if (format->options_size > sizeof o) BUG("options of %zu bytes", format->options_size);
    if (word && opt_parse(&c, 2, argv, &o, &operand, &n, &e) != 0) BUG("%s", e.msg);
    return o;
}

static inline union fuzz_options fuzz_options_of(const struct trace_format *format,
                                                 const char *word)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%s", word ? word : "");
    return fuzz_options_kept(format, word ? copy : NULL);
}

/* A format of measurements: it must end, and its document must be JSON that is written and read. */
static inline void fuzz_document(const struct trace_format *format, const uint8_t *data,
                                 size_t size)
{
    struct textfile f = textfile_bytes(data, size);
    const char *files[] = { f.path };
    struct import_document d = { .names = files };
    struct strbuf text = { 0 };
    struct json_doc back = { 0 };
    struct err e = { 0 };
    if (format->document(&d, files, 1, NULL, &e) == 0) {
        json_write(d.json, &text);
        if (json_doc_parse(&back, "document", text.s, text.len, &e) != 0) BUG("%s", e.msg);
        json_doc_fini(&back);
        json_decref(d.json);
        strbuf_fini(&text);
    } else if (d.json) {
        BUG("a document after a failure");
    }
    textfile_close(&f);
    if (format->sniff) format->sniff((const char *)data, size);
}

static inline void fuzz_import(const struct trace_format *format, const void *options,
                               const uint8_t *data, size_t size)
{
    struct textfile f = textfile_bytes(data, size);
    struct symtab *names = symtab_create();
    struct import_stream *s;
    struct import_info info;
    struct import_row row;
    struct err e = { 0 };
    char *text = NULL;
    size_t len = 0, rows = 0;
    if (import_open(&s, format, f.path, options, names, &info, &e) == 0) {
        FILE *to = open_memstream(&text, &len);
        const bool requests = info.kind == IMPORT_REQUESTS;
        unsigned columns = 0;
        int rc;
        if (!requests) trace_write_header(to, ~0u, NULL);
        while ((rc = import_next(s, &row, &e)) > 0) {
            if (row.quarantined) continue;
            if (!requests) {
                trace_write_row(to, ~0u, &row.job, names);
            } else {
                if (rows == 0)
                    requests_write_header(to, columns = fuzz_request_columns(&row.request), NULL);
                requests_write_row(to, columns, &row.request, names);
            }
            rows++;
        }
        fclose(to);
        if (rc == 0) json_decref(import_facts(s));
        import_close(s);
        if (rows > 0 && requests)
            fuzz_read_back_requests(text, len, rows);
        else if (rows > 0)
            fuzz_read_back(text, len, rows);
        free(text);
    }
    symtab_destroy(names);
    textfile_close(&f);
    if (format->sniff) format->sniff((const char *)data, size);
}

#endif
