/* test_breach.c - each conservation law is broken on purpose, one at a time: `gpusim run` must
 * end with status 6, name the law, print no result and leave none.
 *
 * The run and the runner are compiled into this program once more, with what they ask other
 * modules for going through functions here that can lie; the linker then leaves out the
 * library's own. */
#include "base/mem.h"
#include "cli/command.h"
#include "cost/tco.h"
#include "engine/cluster.h"
#include "engine/residents.h"
#include "metrics/collect.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum breach {
    NONE,
    EARLY_ROW, /* a job that says it came before it did */
    LOST_JOB,  /* a job that is still there and is not found */
    CAPACITY,  /* a card that is not given back */
    ENERGY,    /* energy that nobody is charged for */
    CARD_TIME, /* card time that nobody is charged for */
    OVERFULL,  /* more card time than there was */
    MEMORY,    /* a card that held more than it has */
    DROPPED,   /* a job that has not ended and is not counted */
    SPOKEN,    /* a percentile of a queue that grows */
    SERVED,    /* one of a service whose queue grows */
    MONEY,     /* cost that nobody is charged for */
    NEGATIVE,  /* somebody is paid for being idle */
} planted;

static struct job *lying_job_new(struct job_pool *p, const struct job_row *row)
{
    struct job *j = job_new(p, row);
    if (planted == EARLY_ROW && row->submit > 0) j->row.submit--; /* by a nanosecond */
    return j;
}

static uint32_t lying_high_water(const struct job_pool *p)
{
    const uint32_t n = job_pool_high_water(p);
    return planted == LOST_JOB && n > 0 ? n - 1 : n;
}

static bool lying_is_whole(const struct cluster *c)
{
    return cluster_is_whole(c) && planted != CAPACITY;
}

static double lying_charged_J(const struct residents *r, size_t group)
{
    return residents_charged_J(r, group) * (planted == ENERGY ? 1 - 1e-5 : 1);
}

static const struct tenant_totals *lying_tenants(const struct residents *r, enum charge_by by,
                                                 size_t *n)
{
    const struct tenant_totals *t = residents_tenants(r, by, n);
    static struct tenant_totals less[64];
    if (planted != CARD_TIME || *n > sizeof less / sizeof *less) return t;
    for (size_t i = 0; i < *n; i++) {
        less[i] = t[i];
        less[i].card_s *= 1 - 1e-5;
    }
    return less;
}

static const struct meter_group *lying_meters(struct residents *r, size_t group, simtime now)
{
    static struct meter_group twice;
    const struct meter_group *m = residents_meters(r, group, now);
    if (planted != OVERFULL) return m;
    twice = *m;
    twice.integral[METER_STRANDED] += (wide)METER_CARD * 1000 * (now + 1);
    return &twice;
}

static bool lying_within_memory(const struct residents *r)
{
    return residents_within_memory(r) && planted != MEMORY;
}

static void lying_result(struct collect *c, const struct sim_totals *t, struct arena *a,
                         struct policy_result *out)
{
    collect_result(c, t, a, out);
    if (planted == DROPPED) out->stats.turnaround_s.censored--;
    static const struct service_result grows = { .name = "api", .wait_ms.p95 = 1 };
    if (planted == SERVED) {
        out->service = &grows;
        out->n_services = 1;
    }
    if (planted == SPOKEN) out->queue = (struct queue_trend){ .known = true, .waiting = 0.5 };
}

static struct tco_result lying_price(const struct usage *u, const char *kind,
                                     const struct price_book *prices, struct arena *a)
{
    struct tco_result t = tco_price(u, kind, prices, a);
    if (planted == MONEY) t.total_usd += 1e-5;
    if (planted != NEGATIVE || t.n_charges < 2) return t;
    struct charge *charge = arena_array(a, t.n_charges, sizeof *charge);
    memcpy(charge, t.charge, t.n_charges * sizeof *charge);
    charge[0].usd += charge[1].usd + 1;
    charge[1].usd = -1;
    t.charge = charge;
    return t;
}

#define job_new                 lying_job_new
#define job_pool_high_water     lying_high_water
#define cluster_is_whole        lying_is_whole
#define residents_charged_J     lying_charged_J
#define residents_tenants       lying_tenants
#define residents_meters        lying_meters
#define residents_within_memory lying_within_memory
/* the code under test, not headers */
#include "engine/sim.c"
#include "engine/sim_arrive.c"
#include "engine/sim_totals.c"
#define tco_price      lying_price
#define collect_result lying_result
#include "whatif/runner.c"

#include "support/support.h" /* here, since cmocka takes the name fail() */

#include <gsl/gsl_errno.h>

/* ---- the runs ---- */

static const char scenario[] =
    "{\"format\": \"gpusim-scenario/1\", \"name\": \"breach\", \"horizon\": \"100 s\", \"fleet\": [{\"name\": \"f\", "
    "\"gpu\": \"a100-sxm4-40gb\", \"nodes\": 1, \"gpus_per_node\": 2}], \"work\": [{\"name\": \"w\", \"kind\": "
    "\"jobs\", \"trace\": \"%s\"}], \"policies\": [{\"name\": \"p\", \"share\": {\"kind\": \"timeslice\"}}], "
    "\"prices\": \"%s/prices/default.json\", \"output\": {\"sample\": \"10 s\"}%s}";

/* The status that `gpusim run` ends with; `said` is what it says. */
static int status_of(const char *trace_rows, const char *more, char said[600], const char **dir)
{
    char *text = xasprintf("job_id,submit_s,duration_s,gpus,user\n%s", trace_rows);
    const char *data = getenv("GPUSIM_DATA");
    char *cwd = getcwd(NULL, 0);
    char *root =
        data && *data == '/' ? xstrdup(data) : xasprintf("%s/%s", cwd, data ? data : "scenarios");
    char *doc = xasprintf(scenario, temp_file(".csv", text), root, more);
    *dir = temp_dir();
    const struct command *const *c = cmd_all;
    while (strcmp((*c)->name, "run") != 0) c++;
    struct err e = { 0 };
    char *argv[] = { xstrdup("run"),
                     xstrdup(temp_file(".json", doc)),
                     xstrdup("-q"),
                     xstrdup("--no-report"),
                     xstrdup("-o"),
                     xstrdup(*dir),
                     NULL };
    const int rc = (*c)->run(*c, 6, argv, &e);
    snprintf(said, 600, "%s", e.msg);
    for (size_t i = 0; argv[i]; i++) free(argv[i]);
    free(text);
    free(cwd);
    free(root);
    free(doc);
    return rc < 0 ? err_status((enum err_code)rc) : rc;
}

static const char *drained = "a,0,20,1,ann\nb,1,20,0.5,ben\nc,2.5,30,2,ann\n";
static const char *unfinished = "a,0,20,1,ann\nb,1,500,0.5,ben\nc,2.5,500,2,ann\n";

static void breaches(void **state)
{
    static const struct {
        enum breach breach;
        bool ends;
        const char *says;
    } x[] = {
        { EARLY_ROW, true, "Little" },
        { EARLY_ROW, false, "Little" },
        { LOST_JOB, false, "jobs are present" },
        { CAPACITY, true, "capacity is back" },
        { ENERGY, true, "energy of the jobs" },
        { CARD_TIME, true, "card time of the users" },
        { CARD_TIME, false, "card time of the users" },
        { OVERFULL, true, "<= cards x time" },
        { MEMORY, true, "memory in use <= usable memory" },
        { DROPPED, false, "those of ends" },
        { SPOKEN, true, "percentiles of an unstable queue" },
        { SERVED, true, "percentiles of service api" },
        { MONEY, true, "charges of" },
        { NEGATIVE, true, "is negative" },
    };
    char said[600];
    const char *dir;
    (void)state;
    for (int i = 0; i <= 1; i++) { /* nothing is planted: nothing is found */
        planted = NONE;
        if (status_of(i ? drained : unfinished, "", said, &dir) != 0) fail_msg("%s", said);
        char *path = xasprintf("%s/result.json", dir);
        assert_int_equal(access(path, R_OK), 0);
        free(path);
    }
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        planted = x[i].breach;
        const int status = status_of(x[i].ends ? drained : unfinished, "", said, &dir);
        if (status != 6) fail_msg("breach %zu ended with status %d: %s", i, status, said);
        assert_contains(said, x[i].says);
        char *path = xasprintf("%s/result.json", dir);
        assert_int_not_equal(access(path, F_OK), 0);
        free(path);
    }
    planted = NONE;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(breaches) };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
