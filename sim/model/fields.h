/* model/fields.h - plain members of a struct as members of a JSON object, both ways: one table,
 * which the writer and the reader walk, so that neither forgets one.
 *
 * Writing takes what it is given (json_t values are stolen, texts copied); NAN and NULL become
 * null; text that is not UTF-8 has its bytes written as \xNN. Reading adds a problem with its
 * JSON pointer to the reader's diag where something is missing or of another type, and returns
 * NAN, 0, "", NULL or false; texts go to the reader's arena. Null is a number that is not known;
 * of texts only those that say "or null" may be null. Threads: nothing is shared. */
#ifndef GPUSIM_MODEL_FIELDS_H
#define GPUSIM_MODEL_FIELDS_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
    const char *key;
    size_t offset;
    bool or_null; /* a text that need not be there: the reader takes null */
};
#define FIELD(type, member)                                                                        \
    {                                                                                              \
#member, offsetof(type, member), false                                                     \
    }
#define FIELD_OR_NULL(type, member)                                                                \
    {                                                                                              \
#member, offsetof(type, member), true                                                      \
    }
#define FIELD_AS(type, key, member)                                                                \
    {                                                                                              \
        key, offsetof(type, member), false                                                         \
    }
#define FIELDS(a) (sizeof(a) / sizeof *(a))

/* ---- writing ---- */

json_t *fields_text(const char *s);
/* Steals v. */
void fields_put(json_t *obj, const char *key, json_t *v);
/* Jansson's integers are signed; a larger one is written as a decimal string. */
json_t *fields_count(uint64_t v);
/* Members of *s that are double, uint64_t, const char *. */
void fields_put_nums(json_t *obj, const void *s, const struct field *f, size_t n);
void fields_put_counts(json_t *obj, const void *s, const struct field *f, size_t n);
void fields_put_texts(json_t *obj, const void *s, const struct field *f, size_t n);
/* Arrays. */
json_t *fields_texts(const char *const *s, size_t n);
json_t *fields_numbers(const double *x, size_t n);

/* ---- reading ---- */

struct field_reader {
    struct arena *a;
    const struct json_doc *doc;
    struct diag *d;
};

enum { FIELDS_POINTER = 512 }; /* bytes of a JSON pointer */

/* Does "format" say so? False after a problem. */
bool fields_is_format(const struct json_doc *doc, const char *format, struct diag *d);
/* The value of a required key of the object at `at`; NULL after a problem. */
json_t *fields_get(const struct field_reader *r, json_t *obj, const char *at, const char *key);
/* The same as what it must be. */
double fields_get_num(const struct field_reader *r, json_t *obj, const char *at, const char *key);
uint64_t fields_get_count(const struct field_reader *r, json_t *obj, const char *at,
                          const char *key);
const char *fields_get_text(const struct field_reader *r, json_t *obj, const char *at,
                            const char *key); /* "" after a problem */
const char *fields_get_text_or_null(const struct field_reader *r, json_t *obj, const char *at,
                                    const char *key); /* NULL for null, and after a problem */
bool fields_get_bool(const struct field_reader *r, json_t *obj, const char *at, const char *key);
/* A child object or array with its pointer; NULL after a problem. */
json_t *fields_get_child(const struct field_reader *r, json_t *obj, const char *at, const char *key,
                         json_type type, char pointer[FIELDS_POINTER]);
/* Member i of an array that must hold objects; NULL after a problem. */
json_t *fields_get_member(const struct field_reader *r, json_t *array, const char *at, size_t i,
                          char pointer[FIELDS_POINTER]);
void fields_get_nums(const struct field_reader *r, json_t *obj, const char *at, void *s,
                     const struct field *f, size_t n);
void fields_get_counts(const struct field_reader *r, json_t *obj, const char *at, void *s,
                       const struct field *f, size_t n);
void fields_get_texts(const struct field_reader *r, json_t *obj, const char *at, void *s,
                      const struct field *f, size_t n);
/* A problem with the member `key`, which is not what was expected. */
void fields_wrong(const struct field_reader *r, const char *at, const char *key,
                  const char *expected, const json_t *v);
/* Arrays, from the arena. */
const char *const *fields_get_text_list(const struct field_reader *r, json_t *root, const char *at,
                                        const char *key, size_t *n);
const double *fields_get_numbers(const struct field_reader *r, json_t *o, const char *at,
                                 const char *key, size_t *n);

#endif
