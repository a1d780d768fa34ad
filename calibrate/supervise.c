#include "calibrate/supervise.h"

#include "base/interrupt.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* From the child to the parent, which is the same program: plain bytes of these structures. */
enum message { MSG_FAILED, MSG_OPEN, MSG_BEGIN, MSG_PARAMETER, MSG_SENSORS, MSG_END };

struct head {
    enum message kind;
    size_t step, key; /* key: of MSG_PARAMETER, within the probe */
    size_t bytes;     /* that follow */
};

/* How often the parent looks at the time and at signals, and how long it waits for what it has
 * killed: a process that outlives SIGKILL for so long sleeps in the kernel, where the driver has
 * put it. */
enum { LOOK_MS = 100, REAP_MS = 10000 };

/* Not CLOCK_MONOTONIC itself: tests replace that by a clock that does not wait. */
static double wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the child ---------------------------------------------------------------------------------- */

struct teller {
    int fd;
    size_t step;
    const struct probe *probe;
};

static void tell(const struct teller *t, enum message kind, size_t key, const void *p, size_t n)
{
    const struct head h = { .kind = kind, .step = t->step, .key = key, .bytes = n };
    struct strbuf b = { 0 };
    strbuf_add(&b, (const char *)&h, sizeof h);
    strbuf_add(&b, p, n);
    for (size_t at = 0; at < b.len;) {
        const ssize_t k = write(t->fd, b.s + at, b.len - at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) _exit(1); /* nobody listens any more */
        at += (size_t)k;
    }
    strbuf_fini(&b);
}

static void tell_parameter(void *told, const struct param_def *def, const void *bytes, size_t n)
{
    const struct teller *t = told;
    for (size_t k = 0; k < t->probe->keys_n; k++)
        if (strcmp(t->probe->keys[k].group, def->group) == 0 &&
            strcmp(t->probe->keys[k].key, def->key) == 0) {
            tell(t, MSG_PARAMETER, k, bytes, n);
            return;
        }
    BUG("probe %s has no key %s.%s", t->probe->name, def->group, def->key);
}

static void tell_sensors(const struct teller *t, struct device *d)
{
    struct device_sensors now;
    d->ops->sensors(d, &now);
    tell(t, MSG_SENSORS, 0, &now, sizeof now);
}

/* Another one was killed before: does the card still do anything? */
static int check_card(struct device *d, struct err *e)
{
    int rc = d->ops->context_open(d, e);
    if (!rc) rc = d->ops->launch(d, DEV_EMPTY, 1, 32, NULL, e);
    if (!rc) rc = d->ops->sync(d, e);
    return rc;
}

static void create_outputs(struct supervised *s)
{
    char key[200];
    if (s->out) return;
    s->out = profile_out_create(s->gpu ? s->gpu : device_gpu_key(key, sizeof key, s->info.name));
    s->again = profile_out_create(profile_out_gpu(s->out));
}

static void run_step(struct supervised *s, struct device *d, struct teller *t)
{
    const struct step *step = &s->step[t->step];
    struct profile_out *out = step->again ? s->again : s->out;
    const struct probe_ctx ctx = { d, out, probe_rule(s->quick), s->quick, s->shim };
    t->probe = step->probe;
    tell(t, MSG_BEGIN, 0, "", 0);
    const double t0 = d->ops->now_s(d);
    profile_out_tell(out, tell_parameter, t);
    probe_run(step->probe, &ctx);
    profile_out_tell(out, NULL, NULL);
    const double seconds = d->ops->now_s(d) - t0;
    tell_sensors(t, d);
    tell(t, MSG_END, 0, &seconds, sizeof seconds);
}

/* The child's life, from step `first` on. Returns its exit status. */
static int be_child(struct supervised *s, size_t first, int fd)
{
    struct teller t = { .fd = fd, .step = first };
    struct device *d = NULL;
    struct err e = { 0 };
    int rc = device_cuda_open(&d, s->device, &e);
    if (!rc && s->out) rc = check_card(d, &e);
    if (rc)
        tell(&t, MSG_FAILED, 0, &e, sizeof e);
    else {
        s->info = d->info;
        create_outputs(s);
        tell_sensors(&t, d);
        tell(&t, MSG_OPEN, 0, &d->info, sizeof d->info);
        for (; t.step < s->steps; t.step++) run_step(s, d, &t);
    }
    if (d) d->ops->close(d);
    return 0; /* the failure has been told */
}

/* A signal that the parent catches is the end of the child; one that it ignores stays ignored. */
static void plain_signals(void)
{
    static const int kinds[] = { SIGINT, SIGTERM };
    struct sigaction old;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sigaction(kinds[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            signal(kinds[i], SIG_DFL);
    signal(SIGTTOU, SIG_IGN); /* not of the terminal's foreground group, but it may warn there */
}

/* ---- the parent --------------------------------------------------------------------------------- */

enum how { ENDED, TIME_LIMIT, DIED, INTERRUPTED };

struct child {
    pid_t pid;
    int fd;
    bool opened, failed, all_steps;
    size_t step; /* that is at work, or was when it ended */
    bool at_work;
    double since_s; /* when the present step, the opening or the closing began */
    int status;     /* of waitpid */
    bool stuck;     /* killed, but still there */
};

static int start_child(struct supervised *s, size_t first, struct child *c, struct err *e)
{
    int fd[2];
    *c = (struct child){ .step = first, .since_s = wall_s() };
    if (pipe2(fd, O_CLOEXEC) != 0) return err_set(e, ERR_IO, NULL, "pipe: %s", strerror(errno));
    fflush(NULL); /* what is in a buffer now would be written twice */
    const pid_t parent = getpid();
    c->pid = fork();
    if (c->pid == 0) {
        close(fd[0]);
        setpgid(0, 0);
        plain_signals();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        exit(be_child(s, first, fd[1]));
    }
    close(fd[1]);
    c->fd = fd[0];
    if (c->pid > 0) {
        setpgid(c->pid, c->pid); /* whoever comes first */
        return 0;
    }
    close(fd[0]);
    return err_set(e, ERR_IO, NULL, "cannot start a process: %s", strerror(errno));
}

static bool read_all(int fd, void *p, size_t n)
{
    for (char *at = p; n > 0;) {
        const ssize_t k = read(fd, at, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        at += k;
        n -= (size_t)k;
    }
    return true;
}

static void begin_step(struct supervised *s, struct child *c)
{
    const struct step *step = &s->step[c->step];
    c->at_work = true;
    fprintf(stderr, "calibrate: %s%s ...\n", step->probe->name, step->again ? " again" : "");
}

static void take_message(struct supervised *s, struct child *c, const struct head *h,
                         const void *bytes, struct err *e)
{
    struct step *step = &s->step[h->step];
    c->step = h->step;
    switch (h->kind) {
    case MSG_FAILED:
        memcpy(e, bytes, sizeof *e);
        c->failed = true;
        break;
    case MSG_OPEN:
        if (!s->out)
            memcpy(&s->info, bytes, sizeof s->info); /* as it was before anything was done */
        create_outputs(s);
        c->opened = true;
        break;
    case MSG_BEGIN: begin_step(s, c); break;
    case MSG_PARAMETER:
        profile_out_take(step->again ? s->again : s->out, &step->probe->keys[h->key], bytes,
                         h->bytes);
        break;
    case MSG_SENSORS:
        memcpy(&s->after, bytes, sizeof s->after);
        if (!s->out) s->before = s->after; /* the device is being opened for the first time */
        break;
    case MSG_END:
        memcpy(&step->seconds, bytes, sizeof step->seconds);
        step->ended = true;
        c->at_work = false;
        c->all_steps = h->step + 1 == s->steps;
        break;
    }
    c->since_s = wall_s();
}

/* Until it has nothing more to say, or has to be ended. */
static enum how follow(struct supervised *s, struct child *c, struct err *e)
{
    for (;;) {
        struct pollfd p = { .fd = c->fd, .events = POLLIN };
        struct head h;
        const int ready = poll(&p, 1, LOOK_MS);
        if (interrupt_caught()) return INTERRUPTED;
        if (ready > 0) {
            if (!read_all(c->fd, &h, sizeof h)) return ENDED;
            char *bytes = xmalloc(h.bytes + 1);
            const bool whole = read_all(c->fd, bytes, h.bytes);
            if (whole) take_message(s, c, &h, bytes, e);
            free(bytes);
            if (!whole) return ENDED;
        }
        if (wall_s() - c->since_s > s->limit_s) return TIME_LIMIT;
    }
}

/* Nothing of it is left afterwards, unless the kernel holds it. One that has ended its messages
 * has so long to end itself; others are killed at once. Its children are ours when it is gone
 * (PR_SET_CHILD_SUBREAPER). */
static void end_child(struct supervised *s, struct child *c, enum how how)
{
    const double from_s = wall_s(), patience_s = how == ENDED ? s->limit_s : 0;
    double killed_s = 0;
    bool gone = false;
    close(c->fd);
    for (;;) {
        const double now = wall_s();
        int status;
        const pid_t pid = waitpid(-c->pid, &status, WNOHANG);
        if (pid == c->pid) {
            c->status = status;
            gone = true;
        }
        if (pid > 0) continue;
        if (pid < 0 && errno != EINTR) return; /* no process of the group is left */
        if (killed_s <= 0 && (gone || now - from_s >= patience_s)) {
            kill(-c->pid, SIGKILL);
            killed_s = now;
        }
        c->stuck = killed_s > 0 && 1e3 * (now - killed_s) > REAP_MS;
        if (c->stuck) return;
        poll(NULL, 0, 2);
    }
}

/* Why a step, or the opening before it, did not come to its end. */
static void reason(const struct supervised *s, const struct child *c, enum how how, char *buf,
                   size_t size)
{
    if (how == INTERRUPTED)
        snprintf(buf, size, "interrupted (%s)", interrupt_name());
    else if (how == TIME_LIMIT)
        snprintf(buf, size, "ended by the time limit: no end within %g s (--limit)", s->limit_s);
    else if (WIFSIGNALED(c->status))
        snprintf(buf, size, "the process that measured died of signal %d (%s)", WTERMSIG(c->status),
                 strsignal(WTERMSIG(c->status)));
    else
        snprintf(buf, size, "the process that measured ended with status %d",
                 WEXITSTATUS(c->status));
}

/* Steps from `from` to before `to` are over. */
static void give_up(struct supervised *s, size_t from, size_t to, const char *why)
{
    for (size_t i = from; i < to; i++) {
        s->step[i].seconds = NAN;
        probe_missing(s->step[i].probe, s->step[i].again ? s->again : s->out, why);
    }
    if (!s->cut_short[0] && from < to) snprintf(s->cut_short, sizeof s->cut_short, "%s", why);
}

/* After a child's end: what it leaves undone is said; *next: the step to go on from. ERR_IO: no
 * device. */
static int account(struct supervised *s, const struct child *c, enum how how, size_t *next,
                   struct err *e)
{
    char why[300], rest[400];
    if (c->all_steps || (c->opened && s->steps == 0)) {
        *next = s->steps;
        return 0;
    }
    if (c->failed)
        snprintf(why, sizeof why, "%.250s", e->msg);
    else
        reason(s, c, how, why, sizeof why);
    const size_t at = c->step + (c->opened && !c->at_work && s->step[c->step].ended);
    const char *what = at < s->steps ? s->step[at].probe->name : "";
    if (!s->out)
        return c->failed ? (int)e->code
                         : err_set(e, ERR_IO, NULL, "the device does not open: %s", why);
    *e = (struct err){ 0 }; /* it has its place in the profile */
    if (!c->opened) {
        snprintf(rest, sizeof rest, "not reached: the card does not answer any more: %s", why);
        give_up(s, at, s->steps, rest);
        *next = s->steps;
        return 0;
    }
    fprintf(stderr, "calibrate: %s: %s\n", what, why);
    give_up(s, at, at + 1, why);
    *next = at + 1;
    if (how == INTERRUPTED)
        snprintf(rest, sizeof rest, "not reached: %s", why);
    else if (c->stuck)
        snprintf(rest, sizeof rest,
                 "not reached: process %ld of the %s probe cannot be killed: the driver hangs",
                 (long)c->pid, what);
    else
        return 0;
    give_up(s, *next, s->steps, rest);
    *next = s->steps;
    return 0;
}

int supervise(struct supervised *s, struct err *e)
{
    size_t next = 0;
    int rc = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    do {
        struct child c;
        rc = start_child(s, next, &c, e);
        if (rc) break;
        const enum how how = follow(s, &c, e);
        end_child(s, &c, how);
        rc = account(s, &c, how, &next, e);
    } while (!rc && next < s->steps);
    if (rc) supervised_fini(s);
    return rc;
}

void supervised_fini(struct supervised *s)
{
    profile_out_destroy(s->out);
    profile_out_destroy(s->again);
    s->out = s->again = NULL;
}
