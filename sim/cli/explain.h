/* cli/explain.h - what `gpusim check --explain` works out of a scenario besides its problems. */
#ifndef GPUSIM_CLI_EXPLAIN_H
#define GPUSIM_CLI_EXPLAIN_H

#include "base/str.h"
#include "whatif/runner.h"

/* Where things fail: how often a job of one card, of a node, of a whole group is struck, and how
 * often it should make checkpoints (engine/checkpoint.h), against what the policy says. A line
 * each, appended. */
void explain_checkpoints(const struct runner *r, struct strbuf *out);

/* Where tenants take turns: what short bursts of work take beside busy tenants. A line each,
 * appended. */
void explain_bursts(const struct runner *r, struct strbuf *out);

/* What formulas say of the services beside what the scenario's run says; runs it. A line that parts
 * gets a warning on standard error. Nothing without services. */
int explain_services(struct runner *r, struct strbuf *out, struct err *e);

#endif
