/* plots/palette.h - which colour a policy has: the same in every picture and on every page,
 * wherever it stands in a scenario and whichever others were run.
 *
 * A place from 1 is a line type of style.gp: 8 colours, then the same dashed, and so on. It goes
 * by the name: those of the kinds of sharing have the first places; any other has one of 8 by
 * its hash. Where two would have the same, the later in the alphabet takes the next that is
 * free, so among the same names the places are the same in any order; names of another scenario
 * can make a difference only there. Pure; names are borrowed. At most PALETTE_MOST names; of the
 * others colours may coincide. O(names^2). */
#ifndef GPUSIM_PLOTS_PALETTE_H
#define GPUSIM_PLOTS_PALETTE_H

#include <jansson.h>
#include <stddef.h>

enum { PALETTE_COLOURS = 8, PALETTE_MOST = 64 };

struct palette { /* starts as {0} */
    const char *name[PALETTE_MOST];
    size_t n;
};

/* Each name once. NULL adds nothing. */
void palette_add(struct palette *p, const char *name);
/* Those of a list of names, or of objects with a "name"; NULL adds nothing. */
void palette_add_all(struct palette *p, const json_t *list);
size_t palette_place(const struct palette *p, const char *name);

#endif
