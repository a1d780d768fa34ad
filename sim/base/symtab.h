/* base/symtab.h - each distinct string once, as a small integer. Symbol 0 is the empty string.
 * For names that repeat (users, groups, classes, card names); not for job ids.
 * Threads: one thread writes; many may read while nobody writes. O(1) expected. */
#ifndef GPUSIM_BASE_SYMTAB_H
#define GPUSIM_BASE_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t sym; /* 0: empty, that is: not given */

struct symtab;

struct symtab *symtab_create(void);
void symtab_destroy(struct symtab *t); /* accepts NULL */
sym symtab_add(struct symtab *t, const char *s, size_t len);
sym symtab_addz(struct symtab *t, const char *s);
sym symtab_find(const struct symtab *t, const char *s); /* 0 when absent */
const char *symtab_name(const struct symtab *t, sym s); /* valid for the table's life */
size_t symtab_count(const struct symtab *t);            /* symbols are 0 .. count - 1 */

#endif
