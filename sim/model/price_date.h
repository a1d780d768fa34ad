/* model/price_date.h - dates of prices: "2024", "2024-11", "2024-11-30". Pure functions. */
#ifndef GPUSIM_MODEL_PRICE_DATE_H
#define GPUSIM_MODEL_PRICE_DATE_H

#include <stdbool.h>

#define PRICE_STALE_YEARS 1.0

/* Is it a day, month or year that exists, from 1900 on? */
bool price_date_ok(const char *date);
/* Age of a price in years when the day `as_of` begins, counted from the last day its date may mean.
 * NAN when either is no such date. */
double price_age_years(const char *date, const char *as_of);

#endif
