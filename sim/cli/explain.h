/* cli/explain.h - what `gpusim check --explain` works out of a scenario besides its problems. */
#ifndef GPUSIM_CLI_EXPLAIN_H
#define GPUSIM_CLI_EXPLAIN_H

#include "base/str.h"
#include "whatif/runner.h"

/* Where things fail: how often a job of one card, of a node, of a whole group is struck, and how often it
 * should make checkpoints (engine/checkpoint.h), against what the policy says. A line each, appended. */
void explain_checkpoints(const struct runner *r, struct strbuf *out);

#endif
