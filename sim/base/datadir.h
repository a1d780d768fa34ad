/* base/datadir.h - where the data that ships with gpusim lies: $GPUSIM_DATA, else the folder
 * `scenarios` above the running binary's build folder, else the installed
 * PREFIX/share/gpusim/scenarios. Installed or not, ../traces/samples, ../plots/templates and
 * ../calibrate/profiles lie beside it, so that paths in shipped scenarios hold. */
#ifndef GPUSIM_BASE_DATADIR_H
#define GPUSIM_BASE_DATADIR_H

#include <stddef.h>

/* Path of `name` ("gpus", "workloads/classes.json") in it; buf is always terminated. Returns
 * buf. */
char *datadir_path(char *buf, size_t size, const char *name);

#endif
