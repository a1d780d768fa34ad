/* policy/fits.h - what the fit policies share: which index answers which kind of request. */
#ifndef GPUSIM_POLICY_FITS_H
#define GPUSIM_POLICY_FITS_H

#include "engine/cluster.h"

bool place_by(const struct cluster *c, enum prefer prefer, const struct place_request *r,
              struct pick *out);

#endif
