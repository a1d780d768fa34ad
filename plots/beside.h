/* plots/beside.h - the curves of a sizing or a sweep of the same scenario, for the report of a
 * run: percentiles against the number of cards, or against whatever was swept.
 *
 * For a run in DIR these are DIR-size (`gpusim size -o`) and DIR-sweep, where `gpusim sweep`
 * puts it by default, each when its size.json or manifest.json names the very scenario (file by
 * its hash, --set, seed). Their curves are drawn into DIR/plots, in the language of the report.
 * Ownership: beside_fini(). Threads: any. */
#ifndef GPUSIM_PLOTS_BESIDE_H
#define GPUSIM_PLOTS_BESIDE_H

#include "base/arena.h"
#include "base/str.h"
#include "model/result.h"
#include "plots/words.h"

#include <stddef.h>

enum { BESIDE_MOST = 8 };

struct beside_curve {          /* those of the sizing come first */
    const char *axis, *figure; /* "fleet.a100.nodes", "jobs.wait_s.p95" */
    struct strbuf svg;
};

struct beside {
    struct arena *a;
    const char
        *name; /* of the folder, without what is above it; of two both; NULL: there is none */
    const char *other,
        *version; /* a folder whose figures another version than this program wrote, and which; or NULL */
    struct beside_curve curve[BESIDE_MOST];
    size_t n;
};

void beside_read(struct beside *b, const char *dir, const struct result *r, enum lang lang);
void beside_fini(struct beside *b); /* harmless on {0} */

#endif
