/* plots/html.h - text and numbers for the report's page. Every string from outside goes through
 * html_text(), so that a job named <script> stays a name. Pure, except html_read_file(). */
#ifndef GPUSIM_PLOTS_HTML_H
#define GPUSIM_PLOTS_HTML_H

#include "base/str.h"

#include <stdint.h>

/* Escaped for text and quoted attributes; control characters become spaces; NULL adds nothing. */
void html_text(struct strbuf *out, const char *s);

/* Numbers by the rule of base/figure.h, NAN as "n/a": a count; with fixed decimals; 75.1 (a
 * share as percent); to a place; a figure without an interval. */
void html_count(struct strbuf *out, uint64_t n);
void html_number(struct strbuf *out, double x, int decimals);
void html_percent(struct strbuf *out, double share);
void html_placed(struct strbuf *out, double x, int place);
void html_figure(struct strbuf *out, double x);

/* A duration in the unit that suits it: 0 s, 12 s, 4.81 h, 2.5 d. A no-break space keeps number
 * and unit together. */
void html_duration(struct strbuf *out, double seconds);
/* The same to what its interval supports. */
void html_duration_within(struct strbuf *out, double seconds, double low, double high);
/* An amount of money without an interval. */
void html_money(struct strbuf *out, double amount);

/* Append a whole file. 0, or -1 with errno. */
int html_read_file(const char *path, struct strbuf *out);

#endif
