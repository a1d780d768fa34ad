/* support/report_page.h - the report's page of a result, and a made-up result's policies to be
 * changed first. */
#ifndef GPUSIM_TESTS_REPORT_PAGE_H
#define GPUSIM_TESTS_REPORT_PAGE_H

#include "base/arena.h"
#include "base/str.h"
#include "plots/report.h"

#include <string.h>

/* The caller frees it. */
static inline char *page_of(const struct result *r, enum lang lang, json_t *effects)
{
    struct strbuf out = { 0 };
    const struct report_look look = { .lang = lang, .effects = effects };
    report_page(r, NULL, 0, &look, &out);
    return out.s;
}

/* The policies of a made-up result, to be changed. */
static inline struct policy_result *policies_of(struct result *r, struct arena *a)
{
    struct policy_result *p = arena_array(a, r->n_policies, sizeof *p);
    memcpy(p, r->policy, r->n_policies * sizeof *p);
    r->policy = p;
    return p;
}

#endif
