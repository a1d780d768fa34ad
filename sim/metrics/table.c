/* metrics/table.c - the comparison table. */
#include "metrics/table.h"

#include "base/figure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* How a column's value is found and shown. */
enum column_kind { TEXT, COUNT, TIME, RATIO, PERCENT, MONEY, ENERGY, YES_NO };

struct column {
    enum column_kind kind;
    const char *head, *unit; /* on the terminal */
    const char *key;         /* in CSV */
    size_t offset;           /* into struct policy_result */
};

#define AT(member) offsetof(struct policy_result, member)

static const struct column columns[] = {
    { TEXT, "policy", "", "policy", AT(name) },
    { TEXT, "kind", "", "kind", AT(kind) },
    { COUNT, "done", "jobs", "completed", AT(jobs.completed) },
    { COUNT, "failed", "jobs", "failed", AT(jobs.failed) },
    { COUNT, "reject", "jobs", "rejected", AT(jobs.rejected) },
    { TIME, "wait", "p50", "wait_p50_s", AT(stats.wait_s.p50) },
    { TIME, "wait", "p95", "wait_p95_s", AT(stats.wait_s.p95) },
    { RATIO, "slow", "p95", "slowdown_p95", AT(stats.slowdown.p95) },
    { PERCENT, "alloc", "%", "allocated", AT(gpu.allocated) },
    { PERCENT, "duty", "%", "duty", AT(gpu.duty) },
    { PERCENT, "SM act", "%", "sm_active", AT(gpu.sm_active) },
    { PERCENT, "mem", "%", "memory", AT(gpu.memory) },
    { ENERGY, "energy", "kWh", "energy_kwh", AT(gpu.energy_kwh) },
    { MONEY, "cost", "USD", "total_usd", AT(tco.total_usd) },
    { MONEY, "USD per", "useful h", "usd_per_useful_gpu_hour", AT(tco.usd_per_useful_gpu_hour) },
    { YES_NO, "stable", "", "stable", AT(stable) },
};
enum { N_COLUMNS = sizeof columns / sizeof *columns, CELL = 64 };

static const void *at(const struct policy_result *p, const struct column *c)
{
    return (const char *)p + c->offset;
}

/* NAN also for money when the run was not priced. */
static double number(const struct policy_result *p, const struct column *c)
{
    return c->kind == MONEY && !p->tco.priced ? NAN : *(const double *)at(p, c);
}

/* Terminal control characters in a name must not reach the terminal. */
static void plain_text(char *cell, const char *s)
{
    size_t n = 0;
    for (; *s && n + 1 < CELL; s++) cell[n++] = (unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s;
    cell[n] = '\0';
}

/* spread: half the width of the interval of amounts of money as a share of them; NAN: none is
 * known. */
static void number_text(char *cell, enum column_kind kind, double x, double spread)
{
    struct strbuf b = { 0 };
    const int place = figure_place(fabs(x) * spread);
    switch (kind) {
    case PERCENT: figure_add(&b, 100 * x, FIGURE_TENTHS); break;
    case TIME: figure_add_duration(&b, x); break;
    case MONEY: figure_add(&b, x, place == FIGURE_NO_PLACE ? figure_place_money(x) : place); break;
    default: figure_add(&b, x, FIGURE_NO_PLACE); break;
    }
    snprintf(cell, CELL, "%s", b.s);
    strbuf_fini(&b);
}

static void cell_text(char *cell, const struct result *r, size_t policy, const struct column *c)
{
    const struct policy_result *p = &r->policy[policy];
    if (c->kind == TEXT) {
        plain_text(cell, *(const char *const *)at(p, c));
        return;
    }
    if (c->kind == COUNT) {
        snprintf(cell, CELL, "%" PRIu64, *(const uint64_t *)at(p, c));
        return;
    }
    if (c->kind == YES_NO) {
        snprintf(cell, CELL, "%s", *(const bool *)at(p, c) ? "yes" : "no");
        return;
    }
    number_text(cell, c->kind, number(p, c), result_cost_spread(r, policy));
}

/* Characters, not bytes, so that names in any script line up. */
static int width_of(const char *s)
{
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

/* Cut to `width` characters, the last one a tilde. */
static void cut(char *s, int width)
{
    if (width_of(s) <= width) return;
    int n = 0;
    for (char *p = s; *p; p++) {
        if (((unsigned char)*p & 0xC0) == 0x80) continue;
        if (++n < width) continue;
        strcpy(p, "~");
        return;
    }
}

static void add_cell(struct strbuf *out, const char *s, int width, bool left, bool last)
{
    int pad = width - width_of(s);
    if (!left) strbuf_addf(out, "%*s", pad, "");
    strbuf_addz(out, s);
    if (left && !last) strbuf_addf(out, "%*s", pad, "");
    strbuf_addz(out, last ? "\n" : " ");
}

static void widths(const struct result *r, int width[N_COLUMNS])
{
    int total = N_COLUMNS - 1;
    for (int c = 0; c < N_COLUMNS; c++) {
        int head = width_of(columns[c].head), unit = width_of(columns[c].unit);
        width[c] = head > unit ? head : unit;
        for (size_t i = 0; i < r->n_policies; i++) {
            char cell[CELL];
            cell_text(cell, r, i, &columns[c]);
            if (width_of(cell) > width[c]) width[c] = width_of(cell);
        }
        total += width[c];
    }
    if (total > TABLE_COLUMNS) { /* at the expense of the names */
        int name = width[0] - (total - TABLE_COLUMNS);
        width[0] = name < 8 ? 8 : name;
    }
}

void table_text(const struct result *r, struct strbuf *out)
{
    int width[N_COLUMNS];
    widths(r, width);
    for (int c = 0; c < N_COLUMNS; c++)
        add_cell(out, columns[c].head, width[c], columns[c].kind == TEXT, c == N_COLUMNS - 1);
    for (int c = 0; c < N_COLUMNS; c++)
        add_cell(out, columns[c].unit, width[c], columns[c].kind == TEXT, c == N_COLUMNS - 1);
    for (size_t i = 0; i < r->n_policies; i++) {
        for (int c = 0; c < N_COLUMNS; c++) {
            char cell[CELL];
            cell_text(cell, r, i, &columns[c]);
            cut(cell, width[c]);
            add_cell(out, cell, width[c], columns[c].kind == TEXT, c == N_COLUMNS - 1);
        }
    }
}

static void csv_cell(struct strbuf *out, const struct policy_result *p, const struct column *c)
{
    if (c->kind == TEXT)
        strbuf_addcsv(out, *(const char *const *)at(p, c));
    else if (c->kind == COUNT)
        strbuf_addf(out, "%" PRIu64, *(const uint64_t *)at(p, c));
    else if (c->kind == YES_NO)
        strbuf_addz(out, *(const bool *)at(p, c) ? "true" : "false");
    else if (isfinite(number(p, c)))
        strbuf_addf(out, "%.15g", number(p, c));
}

void table_csv(const struct result *r, struct strbuf *out)
{
    for (int c = 0; c < N_COLUMNS; c++) strbuf_addf(out, "%s%s", c ? "," : "", columns[c].key);
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < r->n_policies; i++) {
        for (int c = 0; c < N_COLUMNS; c++) {
            if (c) strbuf_addc(out, ',');
            csv_cell(out, &r->policy[i], &columns[c]);
        }
        strbuf_addc(out, '\n');
    }
}

/* ---- services ---- */

struct service_column {
    enum column_kind kind;
    const char *head, *unit;
    size_t offset;  /* into struct service_result */
    bool where_any; /* left out where all are 0 */
};
#define IN_SERVICE(member) offsetof(struct service_result, member)

static const struct service_column service_columns[] = {
    { TEXT, "service", "", IN_SERVICE(name), false },
    { COUNT, "requests", "", IN_SERVICE(requests), false },
    { COUNT, "done", "", IN_SERVICE(completed), false },
    { COUNT, "dropped", "", IN_SERVICE(dropped), false },
    { COUNT, "unserv-", "able", IN_SERVICE(unservable), true },
    { RATIO, "wait", "p99 ms", IN_SERVICE(wait_ms.p99), false },
    { RATIO, "latency", "mean ms", IN_SERVICE(latency_ms.mean), false },
    { RATIO, "latency", "p99 ms", IN_SERVICE(latency_ms.p99), false },
    { RATIO, "ttft", "p99 ms", IN_SERVICE(ttft_ms.p99), false },
    { RATIO, "tpot", "p99 ms", IN_SERVICE(tpot_ms.p99), false },
    { PERCENT, "in SLO", "%", IN_SERVICE(attainment), false },
    { RATIO, "replicas", "mean", IN_SERVICE(replicas_mean), false },
    { PERCENT, "busy", "%", IN_SERVICE(busy), false },
    { MONEY, "USD per", "1M in SLO", IN_SERVICE(usd_per_million_requests), false },
    { YES_NO, "stable", "", IN_SERVICE(stable), false },
};
enum {
    SERVICE_COLUMNS = sizeof service_columns / sizeof *service_columns,
    SERVICE_NAME = 16 /* longer names of policies and services are cut */
};

/* Whether column c, of which 0 is the policy, is there. */
static bool service_has(const struct result *r, int c)
{
    if (c == 0 || !service_columns[c - 1].where_any) return true;
    for (size_t i = 0; i < r->n_policies; i++)
        for (size_t k = 0; k < r->policy[i].n_services; k++) {
            const char *v = (const char *)&r->policy[i].service[k];
            if (*(const uint64_t *)(const void *)(v + service_columns[c - 1].offset)) return true;
        }
    return false;
}

static void service_cell(char *cell, const struct result *r, size_t policy, size_t k, int c)
{
    const struct service_result *v = &r->policy[policy].service[k];
    if (c == 0) {
        plain_text(cell, r->policy[policy].name);
        return;
    }
    const struct service_column *x = &service_columns[c - 1];
    const void *member = (const char *)v + x->offset;
    if (x->kind == TEXT)
        plain_text(cell, *(const char *const *)member);
    else if (x->kind == COUNT)
        snprintf(cell, CELL, "%" PRIu64, *(const uint64_t *)member);
    else if (x->kind == YES_NO)
        snprintf(cell, CELL, "%s", *(const bool *)member ? "yes" : "no");
    else
        number_text(cell, x->kind, *(const double *)member, result_cost_spread(r, policy));
}

void table_services_text(const struct result *r, struct strbuf *out)
{
    char cell[CELL];
    int width[SERVICE_COLUMNS + 1] = { 6 };
    bool any = false;
    for (int c = 1; c <= SERVICE_COLUMNS; c++) {
        const int head = width_of(service_columns[c - 1].head),
                  unit = width_of(service_columns[c - 1].unit);
        width[c] = head > unit ? head : unit;
    }
    for (size_t i = 0; i < r->n_policies; i++)
        for (size_t k = 0; k < r->policy[i].n_services; k++)
            for (int c = 0; c <= SERVICE_COLUMNS; c++) {
                service_cell(cell, r, i, k, c);
                const int w =
                    c < 2 && width_of(cell) > SERVICE_NAME ? SERVICE_NAME : width_of(cell);
                if (w > width[c]) width[c] = w;
                any = true;
            }
    if (!any) return;
    strbuf_addc(out, '\n');
    for (int line = 0; line < 2; line++)
        for (int c = 0; c <= SERVICE_COLUMNS; c++) {
            if (!service_has(r, c)) continue;
            const struct service_column *x = c ? &service_columns[c - 1] : NULL;
            add_cell(out,
                     !x     ? line ? "" : "policy"
                     : line ? x->unit
                            : x->head,
                     width[c], c < 2, c == SERVICE_COLUMNS);
        }
    for (size_t i = 0; i < r->n_policies; i++)
        for (size_t k = 0; k < r->policy[i].n_services; k++)
            for (int c = 0; c <= SERVICE_COLUMNS; c++) {
                if (!service_has(r, c)) continue;
                service_cell(cell, r, i, k, c);
                cut(cell, width[c]);
                add_cell(out, cell, width[c], c < 2, c == SERVICE_COLUMNS);
            }
}
