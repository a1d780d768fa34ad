/* tests/support/standin.h - run calibrate on the card that is not there (tests/standin) and look at
 * what it measured. For test programs only: everything is static. */
#ifndef GPUSIM_TESTS_STANDIN_H
#define GPUSIM_TESTS_STANDIN_H

#include "base/json.h"
#include "base/mem.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *dir; /* the stand-in's folder; NULL: not built */

static inline int set_up(void **state)
{
    (void)state;
    dir = getenv("GPUSIM_CALIBRATE") ? getenv("GPUSIM_STANDIN_DIR") : NULL;
    /* A sanitizer's runtime wants to be loaded first; a preloaded library comes before it. */
    setenv("ASAN_OPTIONS", "detect_leaks=1:verify_asan_link_order=0", 1);
    return 0;
}

struct measured {
    struct json_doc profile, samples;
    char *said;
};

/* for what the machine itself takes; else the stand-in's clock, which waits for nobody */
static bool real_time;

static const char *preload_first = ""; /* "LIBRARY:", before the clock */

static inline int run(const char *plan, const char *args)
{
    char *command = xasprintf(
        "GPUSIM_STANDIN_STATE='%s/state' GPUSIM_STANDIN='%s' LD_LIBRARY_PATH='%s' "
        "%s%s%s%s '%s' %s",
        temp_dir(), plan, dir, real_time ? "" : "LD_PRELOAD='", real_time ? "" : preload_first,
        real_time ? "" : dir, real_time ? "" : "/libclock.so'", getenv("GPUSIM_CALIBRATE"), args);
    const int st = system(command);
    free(command);
    return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

static const char *effort = "--quick"; /* or "" */

static inline struct measured measure(const char *plan, const char *only)
{
    struct measured m = { 0 };
    struct err e = { 0 };
    const char *folder = temp_dir();
    char *args = xasprintf("%s %s -o '%s/p.json' 2>'%s/said'", effort, only, folder, folder);
    char *path = xasprintf("%s/p.json", folder), *beside = xasprintf("%s/p.samples.json", folder);
    char *said = xasprintf("%s/said", folder);
    const int status = run(plan, args);
    m.said = read_file(said);
    if (status != 0) fail_msg("status %d\n%s", status, m.said);
    if (json_doc_load(&m.profile, path, &e) < 0) fail_msg("%s", e.msg);
    if (json_doc_load(&m.samples, beside, &e) < 0) fail_msg("%s", e.msg);
    free(args);
    free(path);
    free(beside);
    free(said);
    return m;
}

static inline void done(struct measured *m)
{
    json_doc_fini(&m->profile);
    json_doc_fini(&m->samples);
    free(m->said);
}

static inline double field(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static inline double measured_value(const struct measured *m, const char *name)
{
    return field(json_object_get(json_object_get(m->samples.root, "parameters"), name), "median");
}

/* In the stated interval, give or take `slack` of the value and `more`. */
static inline void expect(const struct measured *m, const char *name, double planted, double slack,
                          double more)
{
    const json_t *p = json_object_get(json_object_get(m->samples.root, "parameters"), name);
    const double low = field(p, "low"), high = field(p, "high"), room = slack * planted + more;
    if (!(planted >= low - room && planted <= high + room))
        fail_msg("%s: planted %g, measured %g [%g, %g]\n%s", name, planted, field(p, "median"), low,
                 high, m->said);
}

#endif
