/* traces/json_items.h - the members of one big JSON array, one at a time: memory holds one member,
 * not the document. The array is the document itself, or the value of a top-level key ("jobs");
 * JSON lines (one value a line, lines starting with # are comments) are understood too.
 *
 * Text between members is checked only as far as finding the next one needs; each member is for the
 * caller to parse, so one bad member is one bad row. Errors: ERR_INPUT with the line for what is no
 * such document, for one that breaks off, for anything after it (a second document would be lost),
 * and for a member beyond 64 MiB. Compressed input and "-" as everywhere. Threads: one reader, one
 * thread. O(bytes). */
#ifndef GPUSIM_TRACES_JSON_ITEMS_H
#define GPUSIM_TRACES_JSON_ITEMS_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct json_items;

struct json_item {
    const char *text; /* lent until the next call; ends in NUL */
    size_t len;
    int line; /* on which it starts, from 1 */
};

/* `key`: whose value the array is when the document is an object; NULL: the document is the array.
 * A literal: it is kept. */
int json_items_open(struct json_items **out, const char *path, const char *key, struct err *e);
void json_items_close(struct json_items *s); /* accepts NULL */
/* 1, 0 at the end, negative. */
int json_items_next(struct json_items *s, struct json_item *item, struct err *e);
const char *json_items_file(const struct json_items *s);
/* Scalars seen at the top level beside the array, up to now: its text ("1722990000"), or NULL. */
const char *json_items_scalar(const struct json_items *s, const char *key);

/* Does a file that starts like this hold such an array (or, without a key, start with '[')? */
bool json_items_sniff(const char *head, size_t len, const char *key);

#endif
