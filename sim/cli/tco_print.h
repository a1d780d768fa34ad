/* cli/tco_print.h - what `gpusim tco` says, whichever form the input had: a table, CSV or JSON;
 * draws, months and curves on request. */
#ifndef GPUSIM_CLI_TCO_PRINT_H
#define GPUSIM_CLI_TCO_PRINT_H

#include "base/json.h"
#include "cost/montecarlo.h"

struct tco_print_options {
    int format;
    size_t samples; /* 0: no draws */
    uint64_t seed;
    bool quasi, by_month, curves;
};

/* What one form of input leaves for printing. */
struct tco_answer {
    struct arena *a;
    json_t *json;     /* the document */
    const char *list; /* key of the options in it: "options" (plain fleets) or "policies" */
    struct mc_model model;
    struct mc_result risk;
    bool sampled;
    json_t **against; /* by policy: break-evens against renting; handed over to the document */
    size_t n_against;
};

/* Draws when asked to, adds that to the document, prints on stdout. */
void tco_print(struct tco_answer *w, const struct tco_print_options *o);
json_t *tco_numbers(const double *x, size_t n); /* an array; a new reference */

#endif
