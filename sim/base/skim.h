/* base/skim.h - leave out of a JSON text what nobody is going to read.
 *
 * Parsing is most of the time that a command needs which looks at a few figures of a large file.
 * Text only, and no parser: a text that is not JSON stays not JSON, but what is wrong inside the
 * parts left out is not noticed. Threads: pure. O(len). */
#ifndef GPUSIM_BASE_SKIM_H
#define GPUSIM_BASE_SKIM_H

#include <stddef.h>

/* Empties the arrays and objects that are the value of one of `key[0..n)`, at any depth, and
 * returns the new length. All that is left keeps its line and column. A value without an end is
 * left alone. */
size_t skim(char *text, size_t len, const char *const *key, size_t n);

#endif
