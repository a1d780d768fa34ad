/* model/sheet.h - is what a profile says of a card possible, by the card's data sheet?
 *
 * A measured rate above the sheet's peak is a mistake of the measurement or of the card's name
 * (bandwidth of a cache, a matrix product of the wrong precision). Sheets are rounded, so 1.5 %
 * above passes (PEAK_TOLERANCE). Threads: calls work on their arguments. */
#ifndef GPUSIM_MODEL_SHEET_H
#define GPUSIM_MODEL_SHEET_H

#include "model/gpu.h"

/* The most that the sheet allows for a parameter, in its unit; NAN: the sheet has no such bound. */
double sheet_bound(const struct gpu_spec *g, enum profile_param p);

/* Every parameter that the file states and the upper end of its interval, against its bound, and
 * board power idle <= context <= busy. And "device", where calibrate wrote it: a MIG instance,
 * or fewer SMs or less memory than the sheet has, is not this card. A slice may have a profile
 * where the catalogue has the slice, as a card with those SMs and without MIG. Problems name the
 * bound and point into `doc`. */
void sheet_check(const struct gpu_spec *g, const struct gpu_profile *p, const struct json_doc *doc,
                 struct diag *d);

#endif
