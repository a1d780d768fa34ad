/* Options: every spelling, every refusal, help. */
#include "cli/command.h"
#include "cli/opt.h"
#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    bool quiet, no_report;
    const char *out;
    struct opt_list set;
    int64_t jobs;
    uint64_t seed;
    double as_of;
    int format;
};

static const struct opt opts[] = {
    { "quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, "say less", NULL },
    { "no-report", 0, OPT_FLAG, offsetof(struct options, no_report), NULL, "no report.html", NULL },
    { "out", 'o', OPT_TEXT, offsetof(struct options, out), "DIR", "folder for the results", NULL },
    { "set", 's', OPT_LIST, offsetof(struct options, set), "PATH=VALUE", "change a value", NULL },
    { "jobs", 'j', OPT_COUNT, offsetof(struct options, jobs), "N", "threads", NULL },
    { "seed", 0, OPT_SEED, offsetof(struct options, seed), "S", "master seed", NULL },
    { "rate", 0, OPT_REAL, offsetof(struct options, as_of), "R", "a number", NULL },
    { "format", 'f', OPT_CHOICE, offsetof(struct options, format), "FORMAT", "how to print",
      out_format_names },
    { 0 },
};

static const struct command command = {
    .name = "run",
    .args = "SCENARIO",
    .help = "replays",
    .example = "gpusim run x.json",
    .opts = opts,
};

enum { MAX = 32 };

struct parsed {
    struct options o;
    struct err e;
    char *text, *argv[MAX], **operands;
    int argc, n, rc;
};

/* Splits at blanks. */
static struct parsed parse(const char *line)
{
    struct parsed p = { .text = strdup(line) };

    for (char *w = strtok(p.text, " "); w; w = strtok(NULL, " ")) p.argv[p.argc++] = w;
    p.rc = opt_parse(&command, p.argc, p.argv, &p.o, &p.operands, &p.n, &p.e);
    p.operands = NULL; /* it points into the argv that is copied with *p */
    return p;
}

static void done(struct parsed *p)
{
    opt_fini(opts, &p->o);
    free(p->text);
}

static void all_types_and_spellings(void **state)
{
    struct parsed p =
        parse("run a.json --quiet -o dir -s a=1 --set=b=2 -j4 --seed 18446744073709551615 "
              "--rate=-2.5 b.json --format json --no-report -- --c");

    (void)state;
    assert_int_equal(p.rc, 0);
    assert_true(p.o.quiet);
    assert_true(p.o.no_report);
    assert_string_equal(p.o.out, "dir");
    assert_int_equal(p.o.set.n, 2);
    assert_string_equal(p.o.set.v[0], "a=1");
    assert_string_equal(p.o.set.v[1], "b=2");
    assert_int_equal(p.o.jobs, 4);
    assert_true(p.o.seed == UINT64_MAX);
    assert_close(p.o.as_of, -2.5, 0);
    assert_int_equal(p.o.format, FORMAT_JSON);
    assert_int_equal(p.n, 3);
    assert_string_equal(p.argv[1], "a.json");
    assert_string_equal(p.argv[2], "b.json");
    assert_string_equal(p.argv[3], "--c");
    done(&p);
}

static void defaults_stay(void **state)
{
    struct parsed p = parse("run");

    (void)state;
    assert_int_equal(p.rc, 0);
    assert_int_equal(p.n, 0);
    assert_null(p.o.out);
    done(&p);
}

static void corners(void **state)
{
    struct parsed p = parse("run -qo dir - --out= --out --jobs");

    (void)state;
    assert_int_equal(
        p.rc, 0); /* letters in a bundle, "-" is an operand, a value may look like an option */
    assert_true(p.o.quiet);
    assert_string_equal(p.o.out, "--jobs");
    assert_int_equal(p.n, 1);
    assert_string_equal(p.argv[1], "-");
    done(&p);
}

static void empty_operand(void **state)
{
    char run[] = "run", none[] = "", *argv[] = { run, none, NULL }, **operands;
    struct options o = { 0 };
    struct err e = { 0 };
    int n;
    (void)state;
    assert_int_equal(opt_parse(&command, 2, argv, &o, &operands, &n, &e), ERR_USAGE);
    assert_non_null(strstr(e.msg, "run: an operand is empty"));
}

static void refusals(void **state)
{
    static const struct {
        const char *line, *msg, *hint;
    } t[] = {
        { "run --quite", "run: unknown option \"--quite\"", "did you mean \"--quiet\"?" },
        { "run --zzzzzzz", "unknown option \"--zzzzzzz\"", "gpusim run --help" },
        { "run --fromat=json", "unknown option \"--fromat\"", "did you mean \"--format\"?" },
        { "run -x", "unknown option \"-x\"", "" },
        { "run --out", "option \"--out\" needs a value: --out DIR", "" },
        { "run -o", "option \"--out\" needs a value", "" },
        { "run --quiet=yes", "option \"--quiet\" takes no value", "" },
        { "run --jobs -3", "option \"--jobs\": expected a whole number", "" },
        { "run --jobs many", "found \"many\"", "" },
        { "run --jobs 1.5", "found \"1.5\"", "" },
        { "run --jobs=", "found \"\"", "" },
        { "run --seed 18446744073709551616", "from 0 to 2^64 - 1", "" },
        { "run --rate nan", "expected a number, found \"nan\"", "" },
        { "run --rate 1e999", "expected a number", "" },
        { "run --format jsn", "expected one of table, json, csv, found \"jsn\"",
          "did you mean \"json\"?" },
        { "run --set a=1 --bad", "unknown option", "" }, /* and the list is freed */
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct parsed p = parse(t[i].line);
        assert_int_equal(p.rc, ERR_USAGE);
        assert_contains(p.e.msg, t[i].msg);
        assert_contains(p.e.hint, t[i].hint);
        free(p.text);
    }
}

static char *help_text(const struct command *c)
{
    char *s = NULL;
    size_t n;
    FILE *to = open_memstream(&s, &n);

    opt_help(c, to);
    fclose(to);
    return s;
}

static void help_starts_with_an_example(void **state)
{
    char *s = help_text(&command);

    (void)state;
    assert_string_equal(s, "Example: gpusim run x.json\n"
                           "\n"
                           "Usage: gpusim run SCENARIO [options]\n"
                           "       replays\n"
                           "\n"
                           "Options:\n"
                           "  -q, --quiet           say less\n"
                           "      --no-report       no report.html\n"
                           "  -o, --out DIR         folder for the results\n"
                           "  -s, --set PATH=VALUE  change a value; may be repeated\n"
                           "  -j, --jobs N          threads\n"
                           "      --seed S          master seed\n"
                           "      --rate R          a number\n"
                           "  -f, --format FORMAT   how to print: table, json, csv\n"
                           "  -h, --help            show this text\n");
    free(s);
    s = help_text(&(struct command){ .name = "list" }); /* nothing but a name */
    assert_string_equal(s, "Usage: gpusim list\n\nOptions:\n  -h, --help  show this text\n");
    free(s);
}

static void help_is_understood_everywhere(void **state)
{
    static const char *const lines[] = { "run --help", "run -h", "run a --set x=1 --help --zzz",
                                         "run -qh" };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct parsed p = parse(lines[i]);
        assert_int_equal(p.rc, OPT_HELP_SHOWN);
        assert_int_equal(p.e.code, ERR_OK);
        free(p.text);
    }
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(all_types_and_spellings),
        cmocka_unit_test(defaults_stay),
        cmocka_unit_test(corners),
        cmocka_unit_test(empty_operand),
        cmocka_unit_test(refusals),
        cmocka_unit_test(help_starts_with_an_example),
        cmocka_unit_test(help_is_understood_everywhere),
    };

    return cmocka_run_group_tests_name("opt", t, NULL, NULL);
}
