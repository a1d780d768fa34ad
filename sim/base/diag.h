/* base/diag.h - a list of problems, for readers that report all of them (`gpusim check`).
 *
 * Ownership: diag_fini() frees the list. Threads: one thread. Problems beyond `DIAG_KEPT` are
 * counted, not kept. A problem already kept, same place and same words, is not added again. */
#ifndef GPUSIM_BASE_DIAG_H
#define GPUSIM_BASE_DIAG_H

#include "base/err.h"

#include <stddef.h>

enum { DIAG_KEPT = 100 };

struct diag {
    struct err *problem; /* the first min(count, DIAG_KEPT) */
    size_t count;        /* all */
};

void diag_init(struct diag *d);
void diag_fini(struct diag *d);

/* Add a problem (code ERR_INPUT); the returned err may be given a hint or an excerpt and is valid
 * until the next diag_add. Never NULL. */
struct err *diag_add(struct diag *d, const struct loc *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Add a copy of an error of any code. */
void diag_add_err(struct diag *d, const struct err *e);

/* 0 when there is no problem; else the first one is copied to *e and its code returned. */
int diag_result(const struct diag *d, struct err *e);

#endif
