/* calibrate: measures one card and writes a device profile that gpusim reads. Exit status: 0
 * done; 2 usage; 4 no driver, no device, or a file that cannot be written; 5 nothing could be
 * measured, or a probe was cut short (its time limit, a crash): what was measured is written.
 * After SIGINT or SIGTERM what was measured is written, nothing where nothing was, and the
 * program ends of the signal. */
#include "base/err.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/str.h"
#include "calibrate/checks.h"
#include "calibrate/device.h"
#include "calibrate/probe.h"
#include "calibrate/supervise.h"
#include "calibrate/worker.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#ifndef GPUSIM_VERSION
#define GPUSIM_VERSION "unknown"
#endif

enum { PROBES_MAX = 32, KEY_MAX = 160 };

/* Two and a half times what the longest probe is planned for: mig with seven instances, 7 runs
 * inside them of about a minute and 6 rounds of 3 kinds x 8 windows of 2 s, so 12 minutes. */
#define LIMIT_DEFAULT_S 1800
#define TEXT_OF(x)      #x
#define TEXT(x)         TEXT_OF(x)

struct options {
    int device;
    const char *out;  /* NULL: standard output */
    const char *shim; /* library to preload; NULL: our own */
    const char *gpu;  /* catalogue key; NULL: from the device's name */
    const struct probe *only[PROBES_MAX];
    size_t only_n; /* 0: all */
    double limit_s;
    bool quick, list, info;
    int child;    /* >= 0: the child's side of the context probe */
    bool primary; /* and its context is the primary one */
    int worker;   /* >= 0: a further process on that device (worker.h) */
};

/* Every option, once: parsing, --help and the manual page read this. Without help: for the program
 * itself, not for people. */
static const struct {
    const char *name;
    char letter; /* what getopt returns */
    char brief;  /* also as -o; 0: no */
    const char *arg, *help;
} option_table[] = {
    { "device", 'd', 0, "N", "device as CUDA counts them (default 0)" },
    { "output", 'o', 'o', "FILE", "profile to write (default: standard output)" },
    { "only", 'p', 0, "PROBE,..", "these probes only; may be repeated" },
    { "gpu", 'g', 0, "KEY", "catalogue key of the card (default: from its name)" },
    { "shim", 's', 0, "PATH", "measure this preloaded library (default: our own)" },
    { "quick", 'q', 0, NULL, "stop at 5 % instead of 1 %, and sooner" },
    { "limit", 't', 0, "SECONDS",
      "for one probe; one that takes longer is ended and not measured (default " TEXT(
          LIMIT_DEFAULT_S) ")" },
    { "list", 'l', 0, NULL,
      "the probes, what each measures and which keys it fills; needs no card" },
    { "device-info", 'i', 0, NULL,
      "what the device is and what stands before it; measures nothing" },
    { "manual", 'm', 0, NULL, "the manual page, for man(1)" },
    { "version", 'v', 0, NULL, "which version this is" },
    { "help", 'h', 'h', NULL, "this text" },
    { "context-child", 'c', 0, "N", NULL },
    { "primary-child", 'P', 0, "N", NULL },
    { "worker", 'w', 0, "N", NULL },
};
enum { OPTIONS = sizeof option_table / sizeof *option_table };

static const char purpose[] =
    "Measures one NVIDIA card and writes a gpusim-profile/1 document (default: standard output);\n"
    "with -o the raw samples go beside it, to NAME.samples.json. Needs no root and changes no\n"
    "setting of the card. Results in short on standard error.\n";
static const struct {
    const char *command, *what;
} examples[] = {
    { "calibrate --device 0 -o profile.json", "measure the first card (minutes)" },
    { "calibrate --device 0 --quick", "the same in less time, wider intervals" },
    { "calibrate --only intercept --shim ./libmeter.so -o p.json", "what that library costs" },
};
static const struct {
    int status;
    const char *meaning;
} statuses[] = {
    { 0, "done" },
    { 2, "usage" },
    { 4, "no driver, no device, or a file that cannot be written" },
    { 5, "nothing could be measured, or a probe was cut short: what was measured is written" },
};
#define COUNTOF(x) (sizeof(x) / sizeof *(x))

static void print_help(FILE *to)
{
    for (size_t i = 0; i < COUNTOF(examples); i++)
        fprintf(to, "%s\n    %s\n", examples[i].command, examples[i].what);
    fprintf(to, "\n%s\n", purpose);
    for (size_t i = 0; i < OPTIONS; i++) {
        char name[40];
        if (!option_table[i].help) continue;
        snprintf(name, sizeof name, "--%s%s%s", option_table[i].name,
                 option_table[i].arg ? " " : "", option_table[i].arg ? option_table[i].arg : "");
        fprintf(to, "  %-18s %s", name, option_table[i].help);
        if (option_table[i].brief) fprintf(to, "; also -%c", option_table[i].brief);
        fputc('\n', to);
    }
    fputs("\nexit status:", to);
    for (size_t i = 0; i < COUNTOF(statuses); i++)
        fprintf(to, "%s %d %s", i ? ";" : "", statuses[i].status, statuses[i].meaning);
    fputc('\n', to);
}

/* Text with what roff would take for itself made plain. */
static void roff(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\') fputc('\\', to);
        fputc(*text == '\\' ? 'e' : *text, to);
    }
}

static void print_manual(FILE *to)
{
    fputs(".TH CALIBRATE 1 \"\" \"gpusim " GPUSIM_VERSION "\" \"User Commands\"\n"
          ".SH NAME\ncalibrate \\- measure a GPU for gpusim\n"
          ".SH SYNOPSIS\n.B calibrate\n[\\fIoptions\\fR]\n.SH DESCRIPTION\n",
          to);
    roff(to, purpose);
    fputs(".SH OPTIONS\n", to);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (!option_table[i].help) continue;
        fputs(".TP\n.B ", to);
        if (option_table[i].brief) fprintf(to, "\\-%c, ", option_table[i].brief);
        roff(to, "--");
        roff(to, option_table[i].name);
        if (option_table[i].arg) fprintf(to, " \\fI%s\\fR", option_table[i].arg);
        fputc('\n', to);
        roff(to, option_table[i].help);
        fputs(".\n", to);
    }
    fputs(".SH PROBES\n", to);
    for (size_t i = 0; probe_all[i]; i++) {
        fprintf(to, ".TP\n.B %s\n", probe_all[i]->name);
        roff(to, probe_all[i]->help);
        fputs(".\n", to);
    }
    fputs(".SH EXIT STATUS\n", to);
    for (size_t i = 0; i < COUNTOF(statuses); i++) {
        fprintf(to, ".TP\n.B %d\n", statuses[i].status);
        roff(to, statuses[i].meaning);
        fputs(".\n", to);
    }
    fputs(".SH EXAMPLES\n", to);
    for (size_t i = 0; i < COUNTOF(examples); i++) {
        fputs(".TP\n.B ", to);
        roff(to, examples[i].command);
        fputc('\n', to);
        roff(to, examples[i].what);
        fputs(".\n", to);
    }
    fputs(".SH SEE ALSO\n.BR gpusim (1)\n", to);
}

static int parse_count(const char *text, const char *option, int *out, struct err *e)
{
    char *end = NULL;
    const long v = strtol(text, &end, 10);
    if (end == text || *end || v < 0 || v > 1023)
        return err_set(e, ERR_USAGE, NULL, "%s: expected a number from 0 to 1023, found \"%s\"",
                       option, text);
    *out = (int)v;
    return 0;
}

static int parse_limit(const char *text, double *out, struct err *e)
{
    char *end = NULL;
    const double v = strtod(text, &end);
    if (end == text || *end || !(v >= 1 && v <= 1e6))
        return err_set(e, ERR_USAGE, NULL,
                       "--limit: expected a number of seconds from 1 to 1000000, found \"%s\"",
                       text);
    *out = v;
    return 0;
}

static int add_probe(struct options *o, const char *name, struct err *e)
{
    const char *names[PROBES_MAX];
    size_t n = 0;
    const struct probe *p = probe_find(name);
    if (p) {
        for (size_t i = 0; i < o->only_n; i++)
            if (o->only[i] == p) return 0;
        o->only[o->only_n++] = p;
        return 0;
    }
    while (probe_all[n]) {
        names[n] = probe_all[n]->name;
        n++;
    }
    int rc = err_set(e, ERR_USAGE, NULL, "--only: no probe \"%s\"", name);
    const char *near = str_nearest(name, names, n);
    if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else
        err_hint(e, "calibrate --list names them");
    return rc;
}

static int add_probes(struct options *o, const char *list, struct err *e)
{
    char *copy = xstrdup(list), *rest = copy, *name;
    int rc = 0;
    while (!rc && (name = strsep(&rest, ","))) rc = add_probe(o, name, e);
    free(copy);
    return rc;
}

/* As the catalogue's keys are: its files' names. */
static int parse_key(const char *text, struct options *o, struct err *e)
{
    const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-_");
    if (n == 0 || text[n] || n >= KEY_MAX)
        return err_set(
            e, ERR_USAGE, NULL,
            "--gpu: expected a key of the catalogue (small letters, digits, . - _; at most %d), "
            "found \"%.80s\"; \"gpusim list gpus\" names them",
            KEY_MAX - 1, text);
    o->gpu = text;
    return 0;
}

/* In getopt's form; the last one is all zero. */
static void long_options(struct option out[OPTIONS + 1])
{
    for (size_t i = 0; i < OPTIONS; i++)
        out[i] = (struct option){ option_table[i].name,
                                  option_table[i].arg ? required_argument : no_argument, NULL,
                                  option_table[i].letter };
    out[OPTIONS] = (struct option){ 0 };
}

static int usage_error(int what, char **argv, struct err *e)
{
    /* getopt has moved past an unknown long option, and keeps the letter of a short one. */
    if (what == ':') return err_set(e, ERR_USAGE, NULL, "%s needs a value", argv[optind - 1]);
    if (optopt && optopt < 128 && argv[optind - 1][1] != '-')
        return err_set(e, ERR_USAGE, NULL, "unknown option \"-%c\"; try calibrate --help", optopt);
    const char *names[OPTIONS];
    size_t n = 0;
    for (size_t i = 0; i < OPTIONS; i++)
        if (option_table[i].help) names[n++] = option_table[i].name;
    int rc = err_set(e, ERR_USAGE, NULL, "unknown option \"%s\"; try calibrate --help",
                     argv[optind - 1]);
    const char *near = str_nearest(argv[optind - 1] + 2, names, n);
    if (near) err_hint(e, "did you mean --%s?", near);
    return rc;
}

/* 0 to go on, > 0 when the answer has been given (help, version), or ERR_USAGE. */
static int parse_options(int argc, char **argv, struct options *o, struct err *e)
{
    struct option known[OPTIONS + 1];
    int c, rc = 0;
    long_options(known);
    opterr = 0;
    while (!rc && (c = getopt_long(argc, argv, ":o:h", known, NULL)) != -1) {
        switch (c) {
        case 'd': rc = parse_count(optarg, "--device", &o->device, e); break;
        case 'c': rc = parse_count(optarg, "--context-child", &o->child, e); break;
        case 'P':
            o->primary = true;
            rc = parse_count(optarg, "--primary-child", &o->child, e);
            break;
        case 'w': rc = parse_count(optarg, "--worker", &o->worker, e); break;
        case 'o':
            o->out = optarg;
            if (!*optarg) rc = err_set(e, ERR_USAGE, NULL, "--output: expected a file name or -");
            break;
        case 'p': rc = add_probes(o, optarg, e); break;
        case 'g': rc = parse_key(optarg, o, e); break;
        case 's': o->shim = optarg; break;
        case 'm': print_manual(stdout); return 1;
        case 't': rc = parse_limit(optarg, &o->limit_s, e); break;
        case 'q': o->quick = true; break;
        case 'l': o->list = true; break;
        case 'i': o->info = true; break;
        case 'v': puts("calibrate " GPUSIM_VERSION); return 1;
        case 'h': print_help(stdout); return 1;
        default: return usage_error(c, argv, e);
        }
    }
    if (!rc && optind < argc)
        rc = err_set(e, ERR_USAGE, NULL, "unexpected operand \"%s\"; try calibrate --help",
                     argv[optind]);
    return rc;
}

static bool wanted(const struct options *o, const struct probe *p)
{
    for (size_t i = 0; i < o->only_n; i++)
        if (o->only[i] == p) return true;
    return o->only_n == 0;
}

/* "profile.json" -> "profile.samples.json" */
static char *samples_path(const char *out)
{
    const size_t n = strlen(out), cut = str_ends(out, ".json") ? n - 5 : n;
    return xasprintf("%.*s.samples.json", (int)cut, out);
}

/* Learn before minutes of measuring that the profile, or the samples beside it, could not be
 * written. */
static int try_output(const char *path, struct err *e)
{
    char *name[2] = { xstrdup(path), strcmp(path, "-") == 0 ? NULL : samples_path(path) };
    int rc = 0;
    for (int i = 0; !rc && i < 2 && name[i]; i++) {
        struct outfile f = { 0 };
        rc = outfile_open(&f, name[i], e);
        outfile_abandon(&f);
    }
    free(name[0]);
    free(name[1]);
    return rc;
}

static int write_document(json_t *v, const char *path, struct err *e)
{
    struct strbuf text = { 0 };
    json_write(v, &text);
    int rc = outfile_write(path, text.s, text.len, e);
    strbuf_fini(&text);
    return rc;
}

/* The samples first: where they do not fit no profile stands beside older ones. What took
 * minutes to measure is not lost with a full disk: the profile then goes to standard output. */
static int write_files(const struct options *o, const struct profile_out *out, json_t *device,
                       struct err *e)
{
    const char *path = o->out ? o->out : "-";
    const bool piped = strcmp(path, "-") == 0;
    char *beside = samples_path(path);
    json_t *profile = profile_out_json(out, device), *samples = profile_out_samples_json(out);
    int rc = piped ? 0 : write_document(samples, beside, e);
    if (!rc) rc = write_document(profile, path, e);
    if (!rc && !piped) fprintf(stderr, "calibrate: wrote %s and %s\n", path, beside);
    if (rc && !piped && write_document(profile, "-", NULL) == 0)
        fprintf(stderr, "calibrate: the profile is on standard output instead\n");
    json_decref(profile);
    json_decref(samples);
    free(beside);
    return rc;
}

static json_t *describe_run(const struct options *o, const struct supervised *s)
{
    char when[32] = "";
    const time_t now = time(NULL);
    struct tm tm;
    if (gmtime_r(&now, &tm)) strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_t *v = device_json(&s->info, &s->before, &s->after), *steps = json_array();
    json_object_set_new(v, "measured_at", json_string(when));
    json_object_set_new(v, "calibrate_version", json_string(GPUSIM_VERSION));
    json_object_set_new(v, "quick", json_boolean(o->quick));
    json_object_set_new(v, "limit_s", json_num(s->limit_s));
    for (size_t i = 0; i < s->steps; i++)
        json_array_append_new(steps,
                              json_pack("{s:s, s:b, s:o}", "probe", s->step[i].probe->name, "again",
                                        s->step[i].again, "seconds", json_num(s->step[i].seconds)));
    json_object_set_new(v, "steps", steps);
    json_object_set_new(v, "cut_short", s->cut_short[0] ? json_string(s->cut_short) : json_null());
    return v;
}

/* The probes that are wanted; then launches and memory bandwidth once more, when everything else
 * has been measured. */
static void plan_steps(const struct options *o, struct supervised *s)
{
    static const char *const again[] = { "launch", "triad" };
    for (size_t i = 0; probe_all[i]; i++)
        if (wanted(o, probe_all[i])) s->step[s->steps++].probe = probe_all[i];
    for (size_t i = 0; i < COUNTOF(again); i++) {
        const struct probe *p = probe_find(again[i]);
        if (wanted(o, p)) s->step[s->steps++] = (struct step){ .probe = p, .again = true };
    }
}

/* 0 also when steps were cut short: then what was measured has been written. */
static int report(const struct options *o, const struct supervised *s, struct err *e)
{
    profile_out_table(s->out, stderr);
    json_t *device = describe_run(o, s);
    json_object_set_new(device, "self_checks", self_checks(s->out, s->again, stderr));
    int rc = write_files(o, s->out, device, e);
    json_decref(device);
    return rc;
}

static int measure(const struct options *o, struct supervised *s, struct err *e)
{
    const bool identity_only = o->only_n == 1 && !o->only[0]->run;
    const bool measured = profile_out_measured(s->out) || identity_only;
    if (interrupt_caught() && !measured)
        return err_set(e, ERR_LIMIT, NULL, "%s: nothing was measured and nothing is written",
                       s->cut_short);
    int rc = report(o, s, e);
    if (!rc && !measured)
        rc = err_set(e, ERR_LIMIT, NULL,
                     "nothing could be measured; the reasons are under \"not_measured\"");
    if (!rc && s->cut_short[0])
        rc = err_set(e, ERR_LIMIT, NULL,
                     "not all that was asked for was measured: %.300s; the rest is written",
                     s->cut_short);
    return rc;
}

static double monotonic_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* The worker's life: its answers go to standard output, what it is told comes from standard
 * input. */
static int be_worker(int index)
{
    struct device *d = NULL;
    struct err e = { 0 };
    const double t0 = monotonic_ms();
    int rc = device_cuda_open(&d, index, &e);
    const double t1 = monotonic_ms();
    if (!rc) rc = d->ops->context_open(d, &e);
    const double t2 = monotonic_ms();
    if (rc)
        printf("error %s\n", e.msg);
    else
        printf("ready %.9g %.9g %d %d %.9f\n", t1 - t0, t2 - t1, (int)d->info.mps, d->info.sms,
               1e-3 * t2);
    fflush(stdout);
    const int status = rc ? err_status((enum err_code)rc) : worker_serve(d, stdin, stdout);
    if (d) d->ops->close(d);
    return status;
}

/* A pipe or file that is opened later must not become one of the three: what is printed would go
 * into it. Whether standard output was there. */
static bool fill_standard_files(void)
{
    const bool there = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) close(fd);
    return there;
}

static int run(int argc, char **argv, bool has_stdout, struct err *e)
{
    struct options o = { .limit_s = LIMIT_DEFAULT_S, .child = -1, .worker = -1 };
    int rc = parse_options(argc, argv, &o, e);
    if (rc) return rc > 0 ? 0 : rc;
    /* a pipe to the parent, who may have gone: nobody is to be told */
    if (o.child >= 0 || o.worker >= 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (o.child >= 0) exit(device_cuda_context_child(o.child, o.primary));
    if (o.worker >= 0) exit(be_worker(o.worker));
    if (o.list) {
        if (!has_stdout) return err_set(e, ERR_IO, NULL, "standard output is closed");
        probe_list(stdout);
        return 0;
    }
    if (!has_stdout && (!o.out || o.info || strcmp(o.out, "-") == 0))
        rc = err_set(e, ERR_IO, NULL, "standard output is closed");
    if (!rc && o.out && !o.info) rc = try_output(o.out, e);
    if (rc) return rc;
    struct supervised s = {
        .device = o.device, .limit_s = o.limit_s, .quick = o.quick, .gpu = o.gpu, .shim = o.shim
    };
    if (!o.info) plan_steps(&o, &s);
    interrupt_catch();
    rc = supervise(&s, e);
    if (rc) return rc;
    if (o.info)
        device_describe(&s.info, stdout);
    else
        rc = measure(&o, &s, e);
    supervised_fini(&s);
    return rc;
}

int main(int argc, char **argv)
{
    struct err e = { 0 };
    const bool has_stdout = fill_standard_files();
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error of the write */
    signal(SIGPIPE, SIG_IGN); /* a worker that died is an error message, not our end */
    int rc = run(argc, argv, has_stdout, &e);
    if (!rc && (fflush(stdout) || ferror(stdout)))
        rc = err_set(&e, ERR_IO, NULL, "cannot write standard output");
    if (rc) err_print(&e, "calibrate", stderr);
    interrupt_die();
    return rc ? err_status((enum err_code)rc) : 0;
}
