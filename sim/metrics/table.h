/* metrics/table.h - the policies of a result side by side, for the terminal and for spreadsheets.
 * One row a policy. Pure functions of the result; any thread. */
#ifndef GPUSIM_METRICS_TABLE_H
#define GPUSIM_METRICS_TABLE_H

#include "base/str.h"
#include "model/result.h"

enum { TABLE_COLUMNS = 120 }; /* long policy names are cut so that a line fits */

/* Aligned columns under two heading lines (name, unit); "n/a" where there is no number. */
void table_text(const struct result *r, struct strbuf *out);
/* The same for services, one row a policy and service, with a blank line before; nothing without
 * any. Requests that cannot be served have a column where there are some. */
void table_services_text(const struct result *r, struct strbuf *out);
/* RFC 4180, the unit in the column name, all digits, empty where there is no number. */
void table_csv(const struct result *r, struct strbuf *out);

#endif
