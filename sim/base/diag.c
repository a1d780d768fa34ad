#include "base/diag.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void diag_init(struct diag *d)
{
    *d = (struct diag){ 0 };
}

void diag_fini(struct diag *d)
{
    free(d->problem);
    *d = (struct diag){ 0 };
}

/* Where the next problem goes. Room for one more than is kept: the last place takes those that are
 * only counted, so that callers may decorate them all the same. */
static struct err *next(struct diag *d)
{
    if (!d->problem) d->problem = xcalloc(DIAG_KEPT + 1, sizeof *d->problem);
    struct err *e = &d->problem[d->count < DIAG_KEPT ? d->count : DIAG_KEPT];
    d->count++;
    *e = (struct err){ 0 };
    return e;
}

/* The problem just added, or the earlier one that says the same: policies share a fleet, and a
 * reader that meets it six times need not say so six times. */
static struct err *once(struct diag *d)
{
    struct err *e = &d->problem[d->count <= DIAG_KEPT ? d->count - 1 : DIAG_KEPT];
    for (struct err *other = d->problem; other < e; other++)
        if (strcmp(other->where, e->where) == 0 && strcmp(other->msg, e->msg) == 0) {
            d->count--;
            return other;
        }
    return e;
}

struct err *diag_add(struct diag *d, const struct loc *at, const char *fmt, ...)
{
    struct err *e = next(d);
    va_list ap;

    va_start(ap, fmt);
    err_vset(e, ERR_INPUT, at, fmt, ap);
    va_end(ap);
    return once(d);
}

void diag_add_err(struct diag *d, const struct err *e)
{
    BUG_ON(e->code == ERR_OK);
    *next(d) = *e;
    once(d);
}

int diag_result(const struct diag *d, struct err *e)
{
    if (d->count == 0) return 0;
    if (e && e->code == ERR_OK) *e = d->problem[0];
    return d->problem[0].code;
}
