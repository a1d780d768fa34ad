#include "cli/problems.h"

#include "base/log.h"

int problems_first(const struct diag *d, struct err *e)
{
    const int rc = diag_result(d, e);
    if (d->count > 1)
        log_warn("%zu problems, of which `gpusim check` shows all; the first:", d->count);
    return rc;
}

void problems_print(const struct diag *d)
{
    const size_t kept = d->count < DIAG_KEPT ? d->count : DIAG_KEPT;
    for (size_t i = 0; i < kept; i++) err_print(&d->problem[i], "gpusim", stderr);
    if (d->count > kept) log_warn("%zu more problems are not shown", d->count - kept);
}
