/* calibrate/catalogue.h - the data sheet's peaks of the card that is measured, from the catalogue
 * file that gpusim reads (scenarios/gpus/KEY.json). Without the file or the entry there is no
 * bound. Threads: any. O(file). */
#ifndef GPUSIM_CALIBRATE_CATALOGUE_H
#define GPUSIM_CALIBRATE_CATALOGUE_H

/* Dense operations per second at "fp16", "int8" ..., NAN when the catalogue does not say; "fp64" is
 * the better of the vector and the matrix units. */
double catalogue_peak(const char *gpu, const char *precision);
double catalogue_mem_Bps(const char *gpu); /* of the memory, NAN when the catalogue does not say */

/* As gpusim allows when it reads the profile (PEAK_TOLERANCE): sheets round their clocks. */
#define CATALOGUE_TOLERANCE 1.015

#endif
