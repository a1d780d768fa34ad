/* base/json_inside.h - what json.c and json_path.c share. For these files only. */
#ifndef GPUSIM_BASE_JSON_INSIDE_H
#define GPUSIM_BASE_JSON_INSIDE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The key of an array's element: digits only. */
bool json_index_of(const char *s, size_t *i);
/* "did you mean ...?", or where nothing is near the list: WHAT: a, b, c. */
void json_hint_names(struct err *e, const char *word, const char *what, const char *const *names,
                     size_t n);

#endif
