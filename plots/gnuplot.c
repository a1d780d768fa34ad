/* plots/gnuplot.c - run gnuplot and clean what it draws. */
#include "plots/gnuplot.h"

#include "base/arena.h"
#include "base/datadir.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "plots/html.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

void gnuplot_translate(const char *script, enum lang lang, struct strbuf *out)
{
    struct strbuf english = { 0 };
    for (const char *s = script; *s;) {
        if (*s == '#') { /* comments stay as they are */
            size_t len = strcspn(s, "\n");
            strbuf_add(out, s, len);
            s += len;
            continue;
        }
        strbuf_addc(out, *s);
        if (*s++ != '"') continue;
        size_t len = strcspn(s, "\"\n");
        strbuf_clear(&english);
        strbuf_add(&english, s, len);
        strbuf_addz(out, len ? word_of(lang, english.s) : "");
        s += len;
        if (*s == '"') strbuf_addc(out, *s++);
    }
    strbuf_fini(&english);
}

/* 0 or ERR_IO. */
static int read_template(const char *file, struct strbuf *text, struct err *e)
{
    /* installed beside the scenarios, or in the source tree beside the folder of scenarios */
    static const char *const places[] = { "plots/", "../plots/templates/" };
    char name[256], from[PATH_BYTES];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(name, sizeof name, "%s%s", places[i], file);
        datadir_path(from, sizeof from, name);
        if (html_read_file(from, text) == 0) return 0;
    }
    return err_set(e, err_of_errno(errno), &(struct loc){ .file = from },
                   "cannot read the plot template: %s", strerror(errno));
}

static int write_in(const char *dir, const char *file, const struct strbuf *text, struct err *e)
{
    char *to = xasprintf("%s/%s", dir, file);
    const int rc = outfile_write(to, text->s, text->len, e);
    free(to);
    return rc;
}

int gnuplot_template(const char *dir, const char *file, enum lang lang, struct err *e)
{
    struct strbuf text = { 0 }, said = { 0 };
    int rc = read_template(file, &text, e);
    if (rc == 0) {
        gnuplot_translate(text.s ? text.s : "", lang, &said);
        rc = write_in(dir, file, &said, e);
    }
    strbuf_fini(&said);
    strbuf_fini(&text);
    return rc;
}

/* `text` behind the first `empty`, which ends with the quote that opens an empty text. */
static void fill(struct strbuf *script, const char *empty, const char *text)
{
    struct strbuf filled = { 0 };
    const char *at = strstr(script->s ? script->s : "", empty);
    if (!at) return;
    const size_t head = (size_t)(at - script->s) + strlen(empty);
    strbuf_add(&filled, script->s, head);
    for (; *text; text++) strbuf_addc(&filled, *text == '"' || *text == '\\' ? '\'' : *text);
    strbuf_add(&filled, script->s + head, script->len - head);
    strbuf_fini(script);
    *script = filled;
}

int gnuplot_style(const char *dir, const size_t place[], size_t n, const char *note, enum lang lang,
                  struct err *e)
{
    struct strbuf text = { 0 }, places = { 0 }, said = { 0 };
    int rc = read_template("style.gp", &text, e);
    if (rc == 0) {
        for (size_t i = 0; i < n; i++) strbuf_addf(&places, "%s%zu", i ? " " : "", place[i]);
        fill(&text, "places = \"", places.s ? places.s : "");
        fill(&text, "note = \"", note ? note : "");
        gnuplot_translate(text.s ? text.s : "", lang, &said);
        rc = write_in(dir, "style.gp", &said, e);
    }
    strbuf_fini(&said);
    strbuf_fini(&places);
    strbuf_fini(&text);
    return rc;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); /* steps of the wall clock do not matter */
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int patience_s(void)
{
    const char *set = getenv("GPUSIM_PLOT_S");
    const int s = set ? atoi(set) : 0;
    return s > 0 && s < 100000 ? s : GNUPLOT_S;
}

/* All that a descriptor delivers before the deadline, at most the first 400 bytes kept. False:
 * there would be more to come. */
static bool drain(int fd, int64_t until_ms, char *buf, size_t size)
{
    size_t n = 0;
    char rest[512];
    bool ended = false;
    while (!ended) {
        const bool full = n + 1 >= size;
        const int64_t left = until_ms - now_ms();
        struct pollfd p = { .fd = fd, .events = POLLIN };
        const int ready = poll(&p, 1, left > 0 ? (int)left : 0);
        if (ready == 0) break;
        const ssize_t got =
            ready < 0 ? -1 : read(fd, full ? rest : buf + n, full ? sizeof rest : size - 1 - n);
        if (got < 0 && errno == EINTR) continue;
        ended = got <= 0;
        if (!full && got > 0) n += (size_t)got;
    }
    buf[n] = '\0';
    return ended;
}

/* It has said all it will: does it end, too? */
static bool ends(pid_t child, int64_t until_ms, int *status)
{
    const struct timespec pause = { .tv_nsec = 2000000 };
    for (;;) {
        const pid_t got = waitpid(child, status, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR)) return true;
        if (now_ms() >= until_ms) return false;
        nanosleep(&pause, NULL);
    }
}

/* Start gnuplot in `dir` with its complaints going to *complaints. 0 or an errno. */
static int start(const char *dir, char *commands, char *script, pid_t *child, int *complaints)
{
    char path[PATH_BYTES];
    char *argv[] = { "gnuplot", "-d", "-e", commands, script, NULL };
    char *envp[] = { path, "LC_ALL=C", NULL };
    posix_spawn_file_actions_t act;
    const char *set = getenv("PATH");
    int fd[2];
    snprintf(path, sizeof path, "PATH=%s", set ? set : "/usr/local/bin:/usr/bin:/bin");
    if (pipe(fd) != 0) return errno;
    posix_spawn_file_actions_init(&act);
    posix_spawn_file_actions_addchdir_np(&act, dir);
    posix_spawn_file_actions_addopen(&act, STDIN_FILENO, "/dev/null", 0 /* O_RDONLY */, 0);
    posix_spawn_file_actions_adddup2(&act, fd[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&act, fd[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&act, fd[0]);
    posix_spawn_file_actions_addclose(&act, fd[1]);
    int rc = posix_spawnp(child, "gnuplot", &act, NULL, argv, envp);
    posix_spawn_file_actions_destroy(&act);
    close(fd[1]);
    if (rc != 0)
        close(fd[0]);
    else
        *complaints = fd[0];
    return rc;
}

/* 0, or ERR_IO. */
static int run(const char *dir, const char *name, enum gnuplot_fate *fate, struct err *e)
{
    const int patience = patience_s();
    char said[400];
    char *commands = xasprintf("data='%s.tsv'; out='%s.svg.tmp'", name, name);
    char *script = xasprintf("%s.gp", name);
    pid_t child = -1;
    int fd = -1, status = 0, rc = start(dir, commands, script, &child, &fd);
    free(commands);
    free(script);
    *fate = GNUPLOT_RAN;
    if (rc != 0) {
        if (rc == ENOENT) *fate = GNUPLOT_ABSENT;
        if (rc == ENOENT)
            return err_set(e, ERR_IO, NULL,
                           "gnuplot is not installed: report.html has no pictures");
        return err_set(e, ERR_IO, NULL, "cannot run gnuplot: %s", strerror(rc));
    }
    const int64_t until_ms = now_ms() + 1000 * (int64_t)patience;
    if (!drain(fd, until_ms, said, sizeof said) || !ends(child, until_ms, &status)) {
        *fate = GNUPLOT_HUNG;
        kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    }
    close(fd);
    if (*fate == GNUPLOT_HUNG)
        return err_set(
            e, ERR_IO, &(struct loc){ .file = dir },
            "gnuplot was still busy with %s.gp after %d s and was ended: report.html lacks pictures",
            name, patience);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    const bool begun = !(WIFEXITED(status) && WEXITSTATUS(status) == 127); /* ld.so, sh */
    if (!begun) *fate = GNUPLOT_BROKEN;
    for (char *p = said; *p; p++)
        if (*p == '\n') *p = ' ';
    return begun ? err_set(e, ERR_IO, &(struct loc){ .file = dir }, "gnuplot failed on %s.gp: %s",
                           name, said)
                 : err_set(e, ERR_IO, NULL, "gnuplot does not start: %s", said);
}

#define FONTS                                                                                      \
    "system-ui,Noto Sans CJK SC,Noto Sans SC,PingFang SC,Microsoft YaHei,Droid Sans Fallback,sans-serif"

/* Replacements inside tags: {what gnuplot writes, before the name, after it}. */
static const struct {
    const char *from, *to;
    bool name; /* followed by the picture's name */
} edits[] = {
    { "id='", "id='", true },
    { "id=\"", "id=\"", true },
    { "href='#", "href='#", true },
    { "href=\"#", "href=\"#", true },
    { "url(#", "url(#", true },
    { " color=\"black\"", " color=\"inherit\"", false },
    { "fill=\"black\"", "fill=\"currentColor\"", false },
    { "fill = \"black\"", "fill = \"currentColor\"", false },
    { "font-family=\"sans-serif\"", "font-family=\"" FONTS "\"", false },
    { "fill=\"rgb(0,0,0)\"", "fill=\"currentColor\"", false },
    { "stroke=\"black\"", "stroke=\"currentColor\"", false },
    { "stroke='black'", "stroke='currentColor'", false },
    { "stroke='rgb(  0,   0,   0)'", "stroke='currentColor'", false },
    { "stroke=\"rgb(  0,   0,   0)\"", "stroke=\"currentColor\"", false },
};

/* Apply the edit that matches at p; returns the bytes of p used up, 0 for none. */
static size_t edit(const char *p, const char *name, struct strbuf *out)
{
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        if (!str_starts(p, edits[i].from)) continue;
        strbuf_addz(out, edits[i].to);
        if (edits[i].name) strbuf_addf(out, "%s_", name);
        return strlen(edits[i].from);
    }
    return 0;
}

/* Past "</tag>" and the line end after it, when p begins with "<tag>"; else NULL. */
static const char *skip_element(const char *p, const char *open, const char *close_tag)
{
    if (!str_starts(p, open)) return NULL;
    const char *end = strstr(p, close_tag);
    if (!end) return NULL;
    end += strlen(close_tag);
    return *end == '\n' ? end + 1 : end;
}

/* "<g onmousemove=... 'text')" onmouseout=...><title> </title>" of a hypertext label: its text as a
 * title of its own. Past it, or NULL for anything else. */
static const char *hypertext(const char *p, struct strbuf *out)
{
    static const char open[] = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'",
                      end[] = "')\" onmouseout=\"gnuplot_svg.hideHypertext()\"><title> </title>";
    if (!str_starts(p, open)) return NULL;
    const char *text = p + strlen(open), *stop = strstr(text, end);
    if (!stop) return NULL;
    strbuf_addz(out, "<g class=\"v\"><title>");
    for (; text < stop; text++) {
        if (*text == '<')
            strbuf_addz(out, "&lt;");
        else
            strbuf_addc(out, *text);
    }
    strbuf_addz(out, "</title>");
    return stop + strlen(end);
}

enum { TOLD = 60 }; /* values of a picture that are read aloud; more nobody listens to */

/* Title and description. `body`: the rest of the cleaned picture, with the values under the
 * pointer. */
static void put_alt(struct strbuf *out, const char *name, const struct gnuplot_alt *alt,
                    const char *body)
{
    static const char begin[] = "<g class=\"v\"><title>", end[] = "</title>";
    struct strbuf values = { 0 };
    size_t n = 0;
    for (const char *s = body; (s = strstr(s, begin)); n++) {
        const char *stop = strstr(s += strlen(begin), end);
        if (!stop) break;
        if (n < TOLD) strbuf_addf(&values, "%s%.*s", n ? "; " : "", (int)(stop - s), s);
    }
    strbuf_addf(out, "<title id=\"%s-t\">", name);
    html_text(out, alt->title);
    strbuf_addf(out, "</title>\n<desc id=\"%s-d\">", name);
    html_text(out, alt->caption);
    strbuf_addc(out, ' ');
    if (n > 0 && n <= TOLD) {
        strbuf_addz(out, values.s);
    } else {
        struct arena *a = arena_create();
        html_text(out, word_filled(alt->lang, a, W_VALUES_IN, &name, 1));
        arena_destroy(a);
    }
    strbuf_addz(out, "</desc>\n");
    strbuf_fini(&values);
}

void gnuplot_clean_svg(const char *svg, const char *name, const struct gnuplot_alt *alt,
                       struct strbuf *out)
{
    struct strbuf head = { 0 }, body = { 0 },
                  *to = &head; /* before and after gnuplot's own title */
    bool in_tag = false;
    const char *next;
    for (const char *p = svg; *p;) {
        if ((!in_tag && (next = hypertext(p, to))) ||
            (next = skip_element(p, "<desc>", "</desc>"))) { /* gnuplot's version */
            p = next;
        } else if ((next = skip_element(p, "<title>",
                                        "</title>"))) { /* a tool tip, or the plot's name */
            to = &body;
            p = next;
        } else if (str_starts(p, "<svg")) {
            strbuf_addf(to, "<svg role=\"img\" aria-labelledby=\"%s-t\" aria-describedby=\"%s-d\"",
                        name, name);
            p += strlen("<svg");
            in_tag = true;
        } else {
            size_t used = in_tag ? edit(p, name, to) : 0;
            if (*p == '<') in_tag = true;
            if (*p == '>') in_tag = false;
            if (used == 0) strbuf_addc(to, *p);
            p += used ? used : 1;
        }
    }
    strbuf_add(out, head.s ? head.s : "", head.len);
    put_alt(out, name, alt, body.s ? body.s : "");
    strbuf_add(out, body.s ? body.s : "", body.len);
    strbuf_fini(&head);
    strbuf_fini(&body);
}

int gnuplot_draw(const char *dir, const char *name, const struct gnuplot_alt *alt,
                 enum gnuplot_fate *fate, struct err *e)
{
    struct strbuf raw = { 0 }, clean = { 0 };
    char *tmp = xasprintf("%s/%s.svg.tmp", dir, name), *to = xasprintf("%s/%s.svg", dir, name);
    unlink(to); /* an old picture of other data must not survive a failure */
    int rc = run(dir, name, fate, e);
    if (rc != 0) goto out;
    if (html_read_file(tmp, &raw) != 0 || raw.len == 0) {
        rc = err_set(e, ERR_IO, &(struct loc){ .file = tmp }, "gnuplot drew nothing");
        goto out;
    }
    gnuplot_clean_svg(raw.s, name, alt, &clean);
    rc = outfile_write(to, clean.s, clean.len, e);
out:
    unlink(tmp);
    strbuf_fini(&raw);
    strbuf_fini(&clean);
    free(tmp);
    free(to);
    return rc;
}
