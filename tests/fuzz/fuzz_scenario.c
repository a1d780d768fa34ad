/* tests/fuzz/fuzz_scenario.c - any bytes as a scenario, beside a trace: read, and planned under every
 * policy. It is refused with a reason, or can be planned; tests/property/test_mutated_runs.c runs such ones. */
#include "tests/support/support.h"

#include "base/log.h"
#include "base/mem.h"
#include "whatif/runner.h"

#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_to(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    BUG_ON(!f || fwrite(data, 1, size, f) != size || fclose(f) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char trace[] = "job_id,submit_s,duration_s,gpus\na,0,10,1\n";
    static struct world world;
    static char path[600];
    struct err e = { 0 };
    if (!*path) {
        gsl_set_error_handler_off();
        log_set_level(LOG_QUIET);
        BUG_ON(world_load(&world, &e) != 0);
        const char *dir = temp_dir();
        snprintf(path, sizeof path, "%s/trace.csv", dir);
        write_to(path, trace, sizeof trace - 1);
        snprintf(path, sizeof path, "%s/scenario.json", dir);
    }
    write_to(path, data, size);
    const struct runner_options o = { .world = &world, .silent = true, .mute = true };
    struct runner r;
    struct diag d;
    diag_init(&d);
    if (runner_load_with(&r, path, &o, &d, &e) == 0)
        BUG_ON(d.count > 0 ? !*d.problem[0].msg : r.n == 0 || !r.resolved);
    else
        BUG_ON(!*e.msg);
    runner_fini(&r);
    diag_fini(&d);
    return 0;
}
