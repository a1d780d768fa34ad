/* base/json_shape.h - is a JSON document what its writer wrote? A table of its members, walked over
 * the document before it is read: a reader that follows need not ask what it finds.
 *
 * Members that no table names are let through: newer writers add some. Time: one look-up a member
 * of the table; pointers are made for problems only, so tables of a sweep of a gigabyte can be
 * walked. Threads: nothing is shared. */
#ifndef GPUSIM_BASE_JSON_SHAPE_H
#define GPUSIM_BASE_JSON_SHAPE_H

#include "base/json.h"

enum json_kind {
    JSON_KIND_TEXT,
    JSON_KIND_TEXT_OR_NULL,
    JSON_KIND_NUMBER, /* or null: not known */
    JSON_KIND_COUNT,  /* 0, 1, 2 ...; as digits in a string where JSON's integers end */
    JSON_KIND_FLAG,
    JSON_KIND_OBJECT,
    JSON_KIND_TEXTS,   /* arrays */
    JSON_KIND_NUMBERS, /* of numbers or null */
    JSON_KIND_OBJECTS,
    JSON_KIND_MAP_OF_TEXTS, /* objects whose keys are names */
    JSON_KIND_MAP_OF_NUMBERS,
    JSON_KIND_MAP_OF_NUMBER_LISTS,
    JSON_KIND_MAP_OF_OBJECTS,
};

struct json_shape {
    const char *key; /* NULL ends a table */
    enum json_kind kind;
    const struct json_shape *of; /* of the object, or of each of the objects; NULL: not looked into */
    bool optional;
};

/* Add a problem with its pointer, what was expected and what was found, for every member of the
 * document that is missing or of another kind. */
void json_shape_check(const struct json_doc *doc, const struct json_shape *shape, struct diag *d);

#endif
