/* base/json.h - JSON files with places.
 *
 * Jansson gives a line for syntax errors only, so a document keeps its text: a value is named by
 * its JSON pointer and the line is found by re-scanning when there is something to complain about.
 * Duplicate keys, NaN and Infinity are syntax errors.
 *
 * Ownership: json_doc_fini() frees text and tree; json_t* borrowed from `root` die with it. */
#ifndef GPUSIM_BASE_JSON_H
#define GPUSIM_BASE_JSON_H

#include "base/diag.h"
#include "base/str.h"

#include <jansson.h>
#include <stdbool.h>

struct json_doc {
    json_t *root;
    char *text;
    size_t len;
    char *file; /* as the user named it, for messages */
};

/* Read a file ("-": standard input; at most 64 MiB). 0, ERR_INPUT or ERR_IO; *doc is {0} after a
 * failure. */
int json_doc_load(struct json_doc *doc, const char *path, struct err *e);
/* The same without the lists and objects under these keys (base/skim.h), for a command that does
 * not read them. */
int json_doc_load_without(struct json_doc *doc, const char *path, const char *const *key, size_t n,
                          struct err *e);
/* The same of a file of up to `most` bytes. */
int json_doc_load_up_to(struct json_doc *doc, const char *path, size_t most, struct err *e);
/* Parse `len` bytes; `label` stands for the file name. */
int json_doc_parse(struct json_doc *doc, const char *label, const char *text, size_t len,
                   struct err *e);
void json_doc_fini(struct json_doc *doc);

/* Place of the value at `pointer` ("" = root): line and column of its first byte, its length on
 * that line. False when the pointer leads nowhere (then the longest existing prefix is given). */
bool json_doc_locate(const struct json_doc *doc, const char *pointer, int *line, int *col,
                     int *len);

/* Add a problem at `pointer`, with the excerpt and a caret. `doc` may hold no text (values that
 * came from --set): then only the pointer is printed. */
struct err *json_problem(struct diag *d, const struct json_doc *doc, const char *pointer,
                         const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Report every key of `obj` that is not in keys[0..n), with the nearest valid one. */
void json_known_keys(struct diag *d, const struct json_doc *doc, const json_t *obj,
                     const char *pointer, const char *const *keys, size_t n);

/* Short text of a value for "found ...": `"80 GW"`, `3.5`, `an object`, `nothing`. Returns buf. */
const char *json_found(char *buf, size_t size, const json_t *v);

/* pointer + "/" + key (escaped: ~ and /) or index, into a caller's buffer. Returns buf. */
char *json_pointer_key(char *buf, size_t size, const char *pointer, const char *key);
char *json_pointer_index(char *buf, size_t size, const char *pointer, size_t index);

/* Follow a dotted path: object keys; array members by index, or by their "name"
 * ("fleet.a100.nodes", "policies.0.share.slots"). NULL when it leads nowhere. */
json_t *json_path_get(json_t *root, const char *dotted);
/* Set the value at a dotted path (the last key may be new, what leads to it may not).
 * `text` is JSON, or taken as a string when it does not parse. ERR_USAGE with a reason. */
int json_path_set(json_t *root, const char *dotted, const char *text, struct err *e);

/* Serialise: keys in insertion order, 2-space indent, 15 significant digits, newline at the end;
 * non-finite numbers cannot occur (json_num gives null). Same tree, same bytes. */
void json_write(const json_t *v, struct strbuf *out);
/* As it stands `depth` levels down in a document that is written piece by piece: no newline at the
 * end. */
void json_write_part(const json_t *v, int depth, struct strbuf *out);

json_t *json_num(double v); /* null when not finite; an integer when integral and below 2^53 */

#endif
