/* calibrate/shim/books.h - who holds how much of the memory quota. Bytes are reserved before the
 * driver is asked, so that two threads cannot both take the last ones, and then entered under
 * the address or handle that it gave. What is freed is taken off before the driver frees:
 * afterwards another thread may get the same address. Where the driver then refuses, it is put
 * back.
 *
 * A handle of cuMemCreate holds its memory until it is released as often as it was retained and
 * no mapping of it is left (CUDA driver API reference, cuMemRelease). Threads: any. Cost: O(1)
 * expected; books_unmap and books_forget look at every entry. */
#ifndef GPUSIM_CALIBRATE_SHIM_BOOKS_H
#define GPUSIM_CALIBRATE_SHIM_BOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum book { BOOK_MEMORY, BOOK_ARRAY, BOOK_HANDLE, BOOK_MAPPING };

struct holding {
    uint64_t at, bytes;  /* at 0: free; 1: was taken once */
    const void *context; /* dies with it; NULL: with nobody */
    uint64_t of;         /* of a mapping: the handle */
    enum book book;
    unsigned refs, maps; /* of a handle */
};

bool books_reserve(uint64_t bytes);
void books_release(uint64_t bytes);
uint64_t books_used(void);

/* The bytes were reserved. An entry of the same place is one that died unseen: it gives its bytes
 * back. */
void books_enter(const struct holding *h);
/* What was there, now off the books; at 0: nothing. */
struct holding books_take(enum book book, uint64_t at);
void books_put_back(const struct holding *h);

void books_retain(uint64_t handle);
void books_drop(uint64_t handle); /* one reference */
void books_map(uint64_t at, uint64_t handle);
void books_unmap(uint64_t at, uint64_t bytes); /* every mapping inside */
void books_forget(const void *context);

#endif
