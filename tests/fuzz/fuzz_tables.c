/* tests/fuzz/fuzz_tables.c - any bytes as the tables that are no traces: measured rows, measured pairs of
 * jobs, jobs.csv of a result that is compared, and all the CSVs of a result that is reported. */
#include "tests/support/support.h"

#include "base/log.h"
#include "base/mem.h"
#include "engine/plan.h"
#include "model/pairs.h"
#include "plots/report_data.h"
#include "tests/support/fake_result.h"
#include "whatif/compare.h"
#include "whatif/measured.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct row {
    const char *name;
    double x, y;
};

static const struct measured_column columns[] = {
    MEASURED_TEXT(struct row, name, "policy"),
    MEASURED_NUMBER(struct row, x, "x", 0, 10),
    MEASURED_OPTIONAL(struct row, y, "y", -1, 1),
};

static void put(const char *dir, const char *name, const void *data, size_t size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    BUG_ON(!f || fwrite(data, 1, size, f) != size || fclose(f) != 0);
}

static void measured(const char *path, struct arena *a)
{
    struct measured *m = NULL;
    struct row row;
    struct err e = { 0 };
    int rc = measured_open(&m, path, columns, sizeof columns / sizeof *columns, a, &e);
    while (rc >= 0 && m && (rc = measured_next(m, &row, &e)) > 0)
        BUG_ON(!(row.x >= 0 && row.x <= 10) || (!isnan(row.y) && fabs(row.y) > 1));
    BUG_ON(rc < 0 && !*e.msg);
    measured_close(m);
}

static void pairs(const char *path, const struct gpu_catalogue *gpus, struct arena *a)
{
    struct pairs p;
    struct err e = { 0 };
    const struct gpu_spec *card = gpu_find(gpus, "v100-sxm2-16gb", NULL);
    BUG_ON(!card);
    const int rc = pairs_load(&p, a, path, gpus, card, NULL, 0, &e);
    BUG_ON(rc < 0 && !*e.msg);
}

static void compared(const char *dir, const char *other, struct arena *a)
{
    struct comparison c;
    struct err e = { 0 };
    const int rc = compare_folders(&c, dir, other, true, 0, a, &e);
    BUG_ON(rc < 0 && !*e.msg);
}

static void digested(const char *dir, struct arena *a)
{
    struct digest d = { 0 };
    struct result r;
    struct err e = { 0 };
    fake_result(&r, a);
    r.n_files = 0; /* the sums of no file are known */
    const int rc = digest_read(&d, &r, dir, &e);
    BUG_ON(rc < 0 && !*e.msg);
    digest_fini(&d);
    fake_result_fini(&r);
}

static const char result[] =
    "{\"format\": \"gpusim-result/1\", \"seed\": 1, \"trace_sha256\": [\"a\"], \"scenario\": {\"warmup\": "
    "\"1 s\", \"work\": []}, \"policies\": [{\"name\": \"whole\", \"gpu\": {\"allocated\": 0.5}}]}";
static const char jobs[] =
    "policy,job_id,state,submit_s,start_s,end_s,wait_s,run_s,turnaround_s,slowdown,gpus,cards,"
    "attempts,cost_usd,energy_kwh,reason\n"
    "whole,a,completed,2,3,4,1,1,2,2,1,c,1,0.5,,\nwhole,b,failed,3,,,,,,,1,,0,,,no room\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const tables[] = { "jobs.csv", "series.csv", "slots.csv", "services.csv" };
    static const char *dir, *other;
    static struct world world;
    struct arena *a = arena_create();
    char path[600];
    if (!dir) {
        struct err e = { 0 };
        gsl_set_error_handler_off();
        log_set_level(LOG_QUIET);
        BUG_ON(world_load(&world, &e) != 0);
        dir = temp_dir();
        other = temp_dir();
        put(dir, "result.json", result, sizeof result - 1);
        put(other, "result.json", result, sizeof result - 1);
        put(other, "jobs.csv", jobs, sizeof jobs - 1);
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) put(dir, tables[i], data, size);
    snprintf(path, sizeof path, "%s/jobs.csv", dir);
    measured(path, a);
    pairs(path, world.gpus, a);
    compared(dir, other, a);
    digested(dir, a);
    arena_destroy(a);
    return 0;
}
