/* plots/html.h - text and numbers for the report's page. Every string from outside goes through
 * html_text(), so that a job named <script> stays a name. Pure, except html_read_file(). */
#ifndef GPUSIM_PLOTS_HTML_H
#define GPUSIM_PLOTS_HTML_H

#include "base/str.h"

#include <stdint.h>

/* Escaped for text and quoted attributes; control characters become spaces; NULL adds nothing. */
void html_text(struct strbuf *out, const char *s);

/* Numbers as people read them, NAN as "n/a": 1,234,567; 12.3 (decimals fixed); 75.1 (a share as
 * percent). */
void html_count(struct strbuf *out, uint64_t n);
void html_number(struct strbuf *out, double x, int decimals);
void html_percent(struct strbuf *out, double share);
/* Four significant digits; whole numbers without decimals; no exponent from 1e-4 up. */
void html_figure(struct strbuf *out, double x);

/* The unit in which durations up to `longest` seconds read best. */
struct html_duration {
    const char *unit;
    double seconds;
};
struct html_duration html_duration_unit(double longest);

/* Append a whole file. 0, or -1 with errno. */
int html_read_file(const char *path, struct strbuf *out);

#endif
