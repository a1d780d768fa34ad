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

/* A duration in the unit that suits it, three significant digits: 0 s, 12 s, 4.81 h, 2.5 d. A
 * no-break space keeps number and unit together. */
void html_duration(struct strbuf *out, double seconds);
/* The same to two digits of half its interval, all in the unit of the largest of the three; low < high, all finite. */
void html_duration_within(struct strbuf *out, double seconds, double low, double high);
/* An amount: no cents from 10,000 up. */
void html_money(struct strbuf *out, double amount);

/* Append a whole file. 0, or -1 with errno. */
int html_read_file(const char *path, struct strbuf *out);

#endif
