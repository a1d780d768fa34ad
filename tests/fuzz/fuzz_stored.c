/* tests/fuzz/fuzz_stored.c - any bytes as what a sweep and a sizing stored: the manifest, a run, the
 * table and the answer, which are drawn (without gnuplot: data and scripts) once they are accepted. */
#include "tests/support/support.h"

#include "base/log.h"
#include "base/mem.h"
#include "plots/size_plots.h"
#include "plots/sweep_plots.h"
#include "whatif/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char sha256[65];

/* `data` as DIR/name. */
static const char *stored(const char *dir, const char *name, const void *data, size_t size)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    BUG_ON(!f || fwrite(data, 1, size, f) != size || fclose(f) != 0);
    return path;
}

/* 0, or a code with its words. */
static void told(int rc, const struct err *e)
{
    BUG_ON(rc > 0 || (rc < 0 && !*e->msg));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *dir;
    struct json_doc run;
    json_t *manifest;
    size_t n;
    if (!dir) {
        dir = temp_dir();
        memset(sha256, 'a', 64);
        setenv("PATH", "/nowhere", 1);
        log_set_level(LOG_QUIET);
    }
    struct err e[4] = { 0 };
    stored(dir, "manifest.json", data, size);
    told(sweep_manifest_load(&manifest, dir, &e[0]), &e[0]);
    json_decref(manifest);
    int rc = sweep_run_load(&run, stored(dir, "run.json", data, size), sha256, 0, &e[1]);
    told(rc, &e[1]);
    if (rc == 0) json_doc_fini(&run);
    stored(dir, "sweep.json", data, size);
    told(sweep_plots_build(dir, NULL, LANG_EN, &n, &e[2]), &e[2]);
    stored(dir, "size.json", data, size);
    told(size_plots_build(dir, NULL, LANG_ZH, &n, &e[3]), &e[3]);
    return 0;
}
