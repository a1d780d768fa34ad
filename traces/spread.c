#include "traces/spread.h"

#include "base/dec.h"

#include <stdlib.h>
#include <string.h>

int spread_init(struct spread *s, double seconds, struct err *e)
{
    if (!(seconds >= 0 && seconds <= 1e6))
        return err_set(e, ERR_USAGE, NULL, "--spread: expected 0 to 1e6 seconds");
    s->window = (simtime)(seconds * 1e9 + 0.5);
    return 0;
}

void spread_say(const struct spread *s, struct import_info *info)
{
    const size_t n = strlen(info->origin);
    char text[32];
    if (s->window == 0) return;
    dec_print(text, sizeof text, s->window, 9);
    snprintf(info->origin + n, sizeof info->origin - n, " spread_s=%s", text);
    snprintf(info->note, sizeof info->note,
             "assumption: requests of one recorded time are spread evenly over %s s behind it",
             text);
}

static void drop(struct spread *s, size_t n)
{
    for (size_t i = 0; i < n; i++) free(s->rows.v[i].raw);
    for (size_t i = n; i < s->rows.n; i++) s->rows.v[i - n] = s->rows.v[i];
    s->rows.n -= n;
}

void spread_fini(struct spread *s)
{
    drop(s, s->rows.n);
    vec_fini(&s->rows);
}

static void keep(struct spread *s, const struct import_row *row)
{
    struct spread_row r = { *row, xstrndup(row->raw, row->raw_len) };
    r.row.raw = r.raw;
    vec_push(&s->rows, r);
}

/* rows[0..group) have one arrival; where they may reach is known from rows[group]. */
static void spread_group(struct spread *s)
{
    simtime window = s->window;
    int64_t n = 0, k = 0;
    if (s->rows.n > s->group) {
        simtime gap = s->rows.v[s->group].row.request.arrival - s->rows.v[0].row.request.arrival;
        if (gap > 0 && gap < window) window = gap; /* the file need not be sorted */
    }
    for (size_t i = 0; i < s->group; i++) n += !s->rows.v[i].row.quarantined;
    for (size_t i = 0; i < s->group; i++) {
        struct import_row *row = &s->rows.v[i].row;
        if (row->quarantined) continue;
        /* (window / n) x k without overflow: both parts are below 2^63 */
        row->request.arrival += window / n * k + window % n * k / n;
        k++;
    }
}

/* Reads until a row with another time. Quarantined rows belong to whatever stands around them. */
static int fill(struct spread *s, int (*next)(void *, struct import_row *, struct err *),
                void *state, struct import_row *row, struct err *e)
{
    const struct import_row clean = *row;
    drop(s, s->at);
    s->at = 0;
    s->group = s->rows.n;
    bool any = s->rows.n > 0 && !s->rows.v[0].row.quarantined;
    simtime time = any ? s->rows.v[0].row.request.arrival : 0;
    while (!s->end) {
        int rc = next(state, row, e);
        if (rc < 0) return rc;
        if (rc == 0) {
            s->end = true;
            break;
        }
        const char *problem = row->quarantined ? NULL : request_row_problem(&row->request);
        if (problem) import_quarantine(row, &import_refused, "%s", problem);
        keep(s, row);
        const bool moved = !row->quarantined && any && row->request.arrival != time;
        if (!row->quarantined && !any) any = true, time = row->request.arrival;
        *row = clean;
        if (moved) break;
        s->group++;
    }
    spread_group(s);
    return s->group > 0;
}

int spread_next(struct spread *s, int (*next)(void *state, struct import_row *row, struct err *e),
                void *state, struct import_row *row, struct err *e)
{
    if (s->window == 0) return next(state, row, e);
    if (s->at == s->group) {
        int rc = fill(s, next, state, row, e);
        if (rc <= 0) return rc;
    }
    *row = s->rows.v[s->at++].row;
    return 1;
}
