/* tests/support/import_checks.h - more to say about an import than import_run.h does: refusals,
 * real files, rows by reason. Header-only, like that one. */
#ifndef TESTS_SUPPORT_IMPORT_CHECKS_H
#define TESTS_SUPPORT_IMPORT_CHECKS_H

#include "tests/support/support.h"

#include "tests/support/import_run.h"
#include "tests/support/textfile.h"

#include <unistd.h>

/* A real trace; four are alive at a time. Skips the test where it is not found. */
static inline const char *real(const char *name)
{
    static char path[4][400];
    static int i;
    char below[300];
    snprintf(below, sizeof below, "traces/%s", name);
    const char *found = shared_path(below);
    if (!found) skip_without(below);
    i = (i + 1) % 4;
    snprintf(path[i], sizeof path[i], "%s", found);
    return path[i];
}

/* Must fail with that status; `part` is in the message or the hint; no trace is left behind. */
#define refused(status, part, ...)                                                                 \
    do {                                                                                           \
        int rc_ = import_run(__VA_ARGS__);                                                         \
        if (rc_ != (status)) fail_msg("status %d, expected %d: %s", rc_, status, last_run.e.msg);  \
        if (!strstr(last_run.e.msg, part) && !strstr(last_run.e.hint, part))                       \
            fail_msg("\"%s\" (%s) lacks \"%s\"", last_run.e.msg, last_run.e.hint, part);           \
        if (access(last_run.out, F_OK) == 0) fail_msg("a trace was left behind");                  \
    } while (0)

#define assert_word(path, want) assert_string_equal(account_word(path), want)

/* Imports measurements: the output is the document, and the account is in it. */
#define assert_document(...)                                                                       \
    do {                                                                                           \
        assert_import(__VA_ARGS__);                                                                \
        json_decref(last_run.account);                                                             \
        last_run.account = json_load_file(last_run.out, 0, NULL);                                  \
        assert_non_null(last_run.account);                                                         \
    } while (0)

/* Rows set aside or repaired for `reason`; 0 when there is none. */
static inline int rows_for(const char *reason)
{
    static const char *const lists[] = { "rows.quarantine", "rows.repairs", "account.quarantine" };
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        size_t i;
        json_t *r;
        json_array_foreach(json_path_get(last_run.account, lists[k]), i, r)
        {
            if (strcmp(json_string_value(json_object_get(r, "reason")), reason) == 0)
                return (int)json_integer_value(json_object_get(r, "rows"));
        }
    }
    return 0;
}

static inline int free_last_run(void **state)
{
    (void)state;
    json_decref(last_run.account);
    last_run.account = NULL;
    return 0;
}

#endif
