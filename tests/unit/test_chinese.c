/* test_chinese.c - the Chinese pages hold no English but proper names: every word of Latin
 * letters that a reader sees on pages and pictures of real runs is in the list below or a name
 * of the scenario. Texts quoted from data files are marked as English, and the head of their
 * column says in Chinese that they are quoted. */
#include "support/stored_plots.h"

#include "base/str.h"
#include "cli/command.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Units, products, abbreviations of the field, people, keys of files. */
static const char *const proper[] = {
    "gpusim",
    "GPU",
    "GPUs",
    "SM",
    "MIG",
    "MPS",
    "CSV",
    "CUDA",
    "API",
    "CNN",
    "NVIDIA",
    "vGPU",
    "TDP",
    "PUE",
    "GB",
    "MiB",
    "USD",
    "kWh",
    "kW",
    "kg",
    "ms",
    "us",
    "ns",
    "min",
    "TFLOPS",
    "TOPS",
    "ttft",
    "tpot",
    "calibrate",
    "rCUDA",
    "Silla",
    "Duato",
    "issue",
    "Welch",
    "Holm",
    "Naghibijouybari",
    "Rendered",
    "Insecure",
    "ACM",
    "CCS",
    "sim",
    "oracle",
    /* keys and values of scenarios and price books */
    "retention",
    "per",
    "gb",
    "whole",
    "mig",
    "timeslice",
    "mps",
    "intercept",
    "remote",
    "generic",
    "training",
    "inference",
    "dev",
    "hpc",
    "graphics",
    /* names in the scenarios below */
    "mixed",
    "pool",
    "chat",
    "faults",
    "checkpoints",
    "rent",
    "own",
    "slices",
    "a",
    "b",
};

static bool is_proper(const char *s, size_t len)
{
    for (size_t i = 0; i < sizeof proper / sizeof *proper; i++)
        if (strlen(proper[i]) == len && memcmp(proper[i], s, len) == 0) return true;
    return false;
}

/* Names with digits, dots, dashes, ... are no words: a100-sxm4-80gb, base.launch_us, train-u1. */
static bool in_name(char c)
{
    return isalnum((unsigned char)c) || strchr("_.-/:%#=<>&;'", c);
}

/* The first word that is neither; NULL: none. */
static const char *english_in(const char *s, const char *end)
{
    while (s < end) {
        if (!in_name(*s)) {
            s++;
            continue;
        }
        const char *from = s;
        size_t letters = 0;
        while (s < end && in_name(*s)) letters += isalpha((unsigned char)*s++) != 0;
        size_t len = (size_t)(s - from);
        while (len && strchr(".:;", from[len - 1])) len--; /* the end of a sentence */
        if (len < 2 || letters < len || is_proper(from, len)) continue;
        return from;
    }
    return NULL;
}

static const char *english_on(const char *page);

static void check_page(const char *page)
{
    const char *word = english_on(page);
    if (word)
        fail_msg("English: \"%.30s\" in ...%.120s...", word, word - 60 > page ? word - 60 : page);
}

/* Past the element that begins at `s`, if it is one that is not read: scripts, code, quotations. */
static const char *skipped(const char *s)
{
    static const char *const no_text[][2] = { { "<script", "</script>" },
                                              { "<style", "</style>" },
                                              { "<pre", "</pre>" },
                                              { "<code", "</code>" } };
    for (size_t i = 0; i < sizeof no_text / sizeof *no_text; i++)
        if (str_starts(s, no_text[i][0])) return strstr(s, no_text[i][1]);
    return str_starts(s, "<span lang=\"en\">") ? strstr(s, "</span>") : NULL;
}

static const char *english_on(const char *page)
{
    static const char *const said[] = { "aria-label=\"", "title=\"", "alt=\"" };
    assert_contains(page, "<html lang=\"zh-CN\">");
    if (strstr(page, " lang=\"en\">")) assert_contains(page, "原文");
    for (const char *s = page; *s;) {
        const char *past = *s == '<' ? skipped(s) : NULL;
        if (past) {
            s = past;
            continue;
        }
        const char *end = s + (*s == '<' ? strcspn(s, ">") : strcspn(s, "<"));
        const char *word = *s != '<' ? english_in(s, end) : NULL;
        for (size_t i = 0; !word && *s == '<' && i < sizeof said / sizeof *said; i++) {
            const char *at = strstr(s, said[i]);
            if (!at || at > end) continue;
            at += strlen(said[i]);
            word = english_in(at, at + strcspn(at, "\""));
        }
        if (word) return word;
        s = *end == '>' ? end + 1 : end;
    }
    return NULL;
}

/* gpusim LINE, its words parted by blanks, "@" for the folder. Its product is not ours to show. */
static int gpusim(const char *dir, const char *line)
{
    char text[1000], *argv[32];
    int argc = 0, rc = -1;
    struct err e = { 0 };
    size_t n = 0;
    for (; *line && n + strlen(dir) + 1 < sizeof text; line++)
        if (*line == '@')
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", dir);
        else
            text[n++] = *line;
    text[n] = '\0';
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    argv[argc] = NULL;
    fflush(stdout);
    const int out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    for (size_t i = 0; cmd_all[i]; i++)
        if (strcmp(cmd_all[i]->name, argv[0]) == 0)
            rc = cmd_all[i]->run(cmd_all[i], argc, argv, &e);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    close(null);
    if (rc < 0) fail_msg("%s: %s %s", argv[0], e.where, e.msg);
    return rc;
}

static void check(const char *dir, const char *name)
{
    char path[500];
    snprintf(path, sizeof path, "%s/%s/report.html", dir, name);
    char *page = read_file(path);
    check_page(page);
    free(page);
    snprintf(path, sizeof path, "%s/%s/summary.md", dir, name);
    if (access(path, F_OK) != 0) return; /* a comparison has none */
    page = read_file(path);
    char *last = strstr(page, "\ngpusim "); /* version and hash */
    assert_non_null(last);
    for (char *s = page; (s = strchr(s, '`'));) { /* a quotation */
        char *end = strchr(s + 1, '`');
        if (!end) break;
        memset(s, ' ', (size_t)(end + 1 - s));
    }
    const char *word = english_in(page, last);
    if (word) fail_msg("English in summary.md: \"%.60s\"", word);
    free(page);
}

/* The picture of who pays names no number of the others, so it has no word that follows one. */
static void check_payers(const char *dir)
{
    char path[500];
    snprintf(path, sizeof path, "%s/a/plots/payers.svg", dir);
    char *picture = read_file(path);
    assert_contains(picture, ">其余用户<");
    assert_null(strstr(picture, "个其他用户"));
    free(picture);
}

static void a_run_of_jobs(void **state)
{
    const char *dir = temp_dir();
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    gpusim(
        dir,
        "run scenarios/mixed.json -o @/a --no-report -q --set horizon=2d --set warmup=1h --replications 2 "
        "--sensitivity");
    gpusim(dir, "report @/a --lang zh");
    check(dir, "a");
    check_payers(dir);
    gpusim(
        dir,
        "run scenarios/mixed.json -o @/b --no-report -q --set horizon=2d --set warmup=1h --seed 5");
    gpusim(dir, "compare @/a @/b --unpaired -q -o @/c --lang zh");
    check(dir, "c");
}

static void services_and_faults(void **state)
{
    const char *dir = temp_dir();
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    gpusim(dir, "run scenarios/chat-and-jobs.json -o @/a --no-report -q");
    gpusim(dir, "report @/a --lang zh");
    check(dir, "a");
    gpusim(dir, "run scenarios/faults.json -o @/b --no-report -q --set horizon=5d");
    gpusim(dir, "report @/b --lang zh");
    check(dir, "b");
    gpusim(dir, "run scenarios/rented-slices.json -o @/c --no-report -q");
    gpusim(dir, "report @/c --lang zh");
    check(dir, "c");
}

/* One policy, no decision; the curves of a sweep and a sizing beside it. */
static void with_a_sweep_and_a_sizing(void **state)
{
    const char *dir = temp_dir();
    (void)state;
    if (!have_gnuplot()) skip_without("gnuplot");
    gpusim(dir, "run scenarios/sizing-erlang.json -o @/a --no-report -q");
    gpusim(dir, "size scenarios/sizing-erlang.json --slo jobs.wait_s.p99<=0.5 -o @/a-size -q");
    gpusim(
        dir,
        "sweep scenarios/sizing-erlang.json --vary fleet.pool.nodes=4..5 --replications 2 -o @/a-sweep -q");
    gpusim(dir, "report @/a --lang zh");
    check(dir, "a");
}

/* The check sees English where there is some: in a text, a name for screen readers, a title. */
static void english_is_seen(void **state)
{
    (void)state;
    static const char head[] = "<html lang=\"zh-CN\">";
    static const char *const
        clean[] = { "<p>等待 GPU，a100-sxm4-80gb。</p><code>any words</code>",
                    "<th>原文</th><td class=\"text\"><span lang=\"en\">as quoted</span></td>" },
        *const bad[] = { "<p>等待 jobs</p>", "<svg><title>Jobs wait</title></svg>",
                         "<div aria-label=\"four uses\">用途</div>",
                         "<pre>x</pre><td>unknown</td>" };
    char page[500];
    for (size_t i = 0; i < sizeof clean / sizeof *clean; i++) {
        snprintf(page, sizeof page, "%s%s", head, clean[i]);
        assert_null(english_on(page));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(page, sizeof page, "%s%s", head, bad[i]);
        assert_non_null(english_on(page));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(english_is_seen),
        cmocka_unit_test(a_run_of_jobs),
        cmocka_unit_test(services_and_faults),
        cmocka_unit_test(with_a_sweep_and_a_sizing),
    };
    return cmocka_run_group_tests_name("chinese", tests, NULL, NULL);
}
