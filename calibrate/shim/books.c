#include "calibrate/shim/books.h"

#include "calibrate/shim/shim.h"

#include <pthread.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock;
    struct holding *slot;
    size_t n, cap; /* n: taken or once taken; cap: a power of two */
    uint64_t used;
} books = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void lock(void)
{
    pthread_mutex_lock(&books.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&books.lock);
}

static size_t place_of(uint64_t at)
{
    /* addresses are multiples of 256, handles may be small numbers */
    return (size_t)((at ^ at >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static bool grow(void)
{
    const size_t cap = books.cap ? 2 * books.cap : 256;
    struct holding *slot = calloc(cap, sizeof *slot);
    if (!slot) return false;
    size_t n = 0;
    for (size_t i = 0; i < books.cap; i++) {
        if (books.slot[i].at <= 1) continue;
        size_t k = place_of(books.slot[i].at) & (cap - 1);
        while (slot[k].at) k = (k + 1) & (cap - 1);
        slot[k] = books.slot[i];
        n++;
    }
    free(books.slot);
    books.slot = slot;
    books.cap = cap;
    books.n = n;
    return true;
}

static struct holding *find(enum book book, uint64_t at)
{
    if (!books.cap || at <= 1) return NULL;
    size_t k = place_of(at) & (books.cap - 1);
    for (; books.slot[k].at; k = (k + 1) & (books.cap - 1))
        if (books.slot[k].at == at && books.slot[k].book == book) return &books.slot[k];
    return NULL;
}

static void give_back(uint64_t bytes)
{
    books.used -= bytes < books.used ? bytes : books.used;
}

static void strike(struct holding *h)
{
    give_back(h->bytes);
    *h = (struct holding){ .at = 1 };
}

static void insert(const struct holding *h)
{
    struct holding *was = find(h->book, h->at);
    if (was) strike(was);
    if (h->at <= 1 || (2 * (books.n + 1) >= books.cap && !grow())) {
        give_back(h->bytes); /* it cannot be given back later */
        return;
    }
    size_t k = place_of(h->at) & (books.cap - 1);
    while (books.slot[k].at > 1) k = (k + 1) & (books.cap - 1);
    if (!books.slot[k].at) books.n++;
    books.slot[k] = *h;
}

bool books_reserve(uint64_t bytes)
{
    const uint64_t limit = shim_limit()->memory;
    lock();
    const bool fits = !limit || (books.used <= limit && bytes <= limit - books.used);
    if (fits) books.used += bytes;
    unlock();
    return fits;
}

void books_release(uint64_t bytes)
{
    lock();
    give_back(bytes);
    unlock();
}

uint64_t books_used(void)
{
    lock();
    const uint64_t used = books.used;
    unlock();
    return used;
}

void books_enter(const struct holding *h)
{
    lock();
    insert(h);
    unlock();
}

struct holding books_take(enum book book, uint64_t at)
{
    struct holding was = { 0 };
    lock();
    struct holding *h = find(book, at);
    if (h) {
        was = *h;
        strike(h);
    }
    unlock();
    return was;
}

void books_put_back(const struct holding *h)
{
    if (!h->at) return;
    lock();
    books.used += h->bytes;
    insert(h);
    unlock();
}

/* ---- handles and mappings ----------------------------------------------------------------------- */

static void settle(struct holding *h)
{
    if (!h->refs && !h->maps) strike(h);
}

void books_retain(uint64_t handle)
{
    lock();
    struct holding *h = find(BOOK_HANDLE, handle);
    if (h) h->refs++;
    unlock();
}

void books_drop(uint64_t handle)
{
    lock();
    struct holding *h = find(BOOK_HANDLE, handle);
    if (h && h->refs) h->refs--;
    if (h) settle(h);
    unlock();
}

void books_map(uint64_t at, uint64_t handle)
{
    lock();
    struct holding *h = find(BOOK_HANDLE, handle);
    if (h) {
        h->maps++;
        insert(&(struct holding){ .at = at, .of = handle, .book = BOOK_MAPPING });
    }
    unlock();
}

void books_unmap(uint64_t at, uint64_t bytes)
{
    lock();
    for (size_t i = 0; i < books.cap; i++) {
        struct holding *m = &books.slot[i];
        if (m->at <= 1 || m->book != BOOK_MAPPING || m->at < at || m->at - at >= bytes) continue;
        struct holding *h = find(BOOK_HANDLE, m->of);
        strike(m);
        if (!h) continue;
        if (h->maps) h->maps--;
        settle(h);
    }
    unlock();
}

void books_forget(const void *context)
{
    if (!context) return;
    lock();
    for (size_t i = 0; i < books.cap; i++)
        if (books.slot[i].at > 1 && books.slot[i].context == context) strike(&books.slot[i]);
    unlock();
}

/* ---- fork --------------------------------------------------------------------------------------- */

void books_fork_lock(void)
{
    lock();
}

void books_fork_unlock(bool child)
{
    if (child) {
        free(books.slot);
        books.slot = NULL;
        books.n = books.cap = 0;
        books.used = 0;
    }
    unlock();
}
