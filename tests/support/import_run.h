/* tests/support/import_run.h - run `gpusim import` and `gpusim trace stat` inside a test and look
 * into the account. Header-only: include it in one .c per program, behind support.h. */
#ifndef TESTS_SUPPORT_IMPORT_RUN_H
#define TESTS_SUPPORT_IMPORT_RUN_H

#include "base/json.h"
#include "tests/support/run_command.h"
#include "tests/support/support.h"
#include "traces/format.h"

#include <stdlib.h>
#include <string.h>

extern const struct command cmd_import, cmd_trace;

static struct import_run {
    char out[200]; /* the trace of the last import */
    struct err e;
    json_t *account;
    int n;
} last_run;

/* Runs a command with its words; what it says goes to `to`, or away. */
static int run_words(const struct command *c, const char *to, const char *const *words)
{
    last_run.e = (struct err){ 0 };
    return run_command(c, words, to, to, &last_run.e);
}

/* import FORMAT FILE [words] into a new file of the test's folder; loads the account if there is
 * one. */
static int import_words(const char *const *words)
{
    const char *all[24];
    char path[240];
    size_t n = 0;
    while (words[n]) all[n] = words[n], n++;
    snprintf(last_run.out, sizeof last_run.out, "%s/%d.csv", temp_dir(), last_run.n++);
    all[n] = "-o";
    all[n + 1] = last_run.out;
    all[n + 2] = NULL;
    int rc = run_words(&cmd_import, NULL, all);
    json_decref(last_run.account);
    snprintf(path, sizeof path, "%s.account.json", last_run.out);
    last_run.account = json_load_file(path, 0, NULL);
    return rc;
}

#define import_run(...) import_words((const char *const[]){ __VA_ARGS__, NULL })

#define assert_import(...)                                                                         \
    do {                                                                                           \
        int rc_ = import_run(__VA_ARGS__);                                                         \
        if (rc_ != 0) fail_msg("import: %d: %s", rc_, last_run.e.msg);                             \
    } while (0)

/* At a dotted path of the last account. */
static inline const char *account_word(const char *path)
{
    return json_string_value(json_path_get(last_run.account, path));
}

static inline double account_num(const char *path)
{
    json_t *v = json_path_get(last_run.account, path);
    if (!json_is_number(v)) fail_msg("%s is no number", path);
    return json_number_value(v);
}

#define assert_account(path, want)                                                                 \
    do {                                                                                           \
        double got_ = account_num(path), want_ = (want);                                           \
        if (got_ < want_ || got_ > want_)                                                          \
            fail_msg("%s = %.15g, expected %.15g", path, got_, want_);                             \
    } while (0)

static inline bool account_warns(const char *part)
{
    size_t i;
    json_t *w;
    json_array_foreach(json_path_get(last_run.account, "warnings"), i, w)
    {
        if (strstr(json_string_value(w), part)) return true;
    }
    return false;
}

/* The trace of the last import, in full. */
static inline void assert_trace(const char *want)
{
    char *text = read_file(last_run.out);
    assert_string_equal(text, want);
    free(text);
}

/* A few rows behind a header: the reason of the row quarantined, else of the first repair, else
 * "kept". */
static inline const char *fate_of(const char *format, const char *text, const char *const *more)
{
    const char *words[12] = { format, temp_file(".csv", text), "--lenient" }, *got;
    size_t n = 3;
    while (more && *more) words[n++] = *more++;
    words[n] = NULL;
    if (import_words(words) != 0 && !last_run.account) fail_msg("%s: %s", text, last_run.e.msg);
    got = account_word("rows.quarantine.0.reason");
    if (!got) got = account_word("rows.repairs.0.reason");
    return got ? got : "kept";
}

#endif
