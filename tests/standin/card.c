#include "tests/standin/card.h"
#include "tests/standin/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CONTEXTS = 80, RING = 2048, QUEUE_MAX = 1000, GAPS = 8192 };

struct item {
    double left_ns;             /* of work; of a log: how long it polls */
    bool log, full;             /* full: of threads on every SM */
    uint64_t begun_ns, seen_ns; /* of a log: first and latest reading; 0: not begun */
    uint64_t least_ns;
};

struct context {
    pid_t pid;            /* 0: free */
    int kind;             /* of its work: what card_beside() was told */
    uint64_t added, done; /* items, counted from 1 */
    struct item item[RING];
    uint64_t done_ns[RING];
    size_t gaps;
    uint64_t log_first, log_last, gap[2 * GAPS];
};

struct state {
    pthread_mutex_t lock;
    uint64_t now_ns;
    int owner; /* context on the card; -1: none yet */
    double switching_ns, turn_ns;
    int64_t used_bytes;
    bool wedged;
    uint64_t rng;
    struct context ctx[CONTEXTS];
};

static struct state *card;
static struct card_plan plan;

/* ---- plan and state ----------------------------------------------------------------------------- */

static void die(const char *what)
{
    fprintf(stderr, "stand-in card: %s\n", what);
    abort();
}

static void plant(const char *key, const char *value)
{
    if (strcmp(key, "name") == 0) {
        snprintf(plan.name, sizeof plan.name, "%s", value);
        return;
    }
#define X(name, dflt)                                                                              \
    if (strcmp(key, #name) == 0) {                                                                 \
        plan.name = strtod(value, NULL);                                                           \
        return;                                                                                    \
    }
    CARD_MAP(X)
#undef X
    die("GPUSIM_STANDIN holds an unknown key");
}

static void read_plan(void)
{
    const char *env = getenv("GPUSIM_STANDIN");
    char *copy = strdup(env ? env : ""), *rest = copy, *word;
    snprintf(plan.name, sizeof plan.name, "NVIDIA Stand-In");
#define X(name, dflt) plan.name = dflt;
    CARD_MAP(X)
#undef X
    while (copy && (word = strsep(&rest, ";"))) {
        char *equals = strchr(word, '=');
        if (!*word) continue;
        if (!equals) die("GPUSIM_STANDIN holds a word without =");
        *equals = '\0';
        plant(word, equals + 1);
    }
    free(copy);
}

static void create(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&card->lock, &a);
    pthread_mutexattr_destroy(&a);
    card->owner = -1;
    card->rng = 20261130;
    card->now_ns = card_now_ns();
}

void card_open(void)
{
    const char *path = getenv("GPUSIM_STANDIN_STATE");
    if (card) return;
    if (!path) die("GPUSIM_STANDIN_STATE is not set");
    read_plan();
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) die("the state file cannot be opened");
    const bool fresh = lseek(fd, 0, SEEK_END) == 0;
    if (fresh && ftruncate(fd, sizeof *card) != 0) die("the state file cannot be written");
    card = mmap(NULL, sizeof *card, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (card == MAP_FAILED) die("the state file cannot be mapped");
    if (fresh) create();
    flock(fd, LOCK_UN);
    close(fd);
}

const struct card_plan *card_plan(void)
{
    return &plan;
}

uint64_t card_now_ns(void)
{
    struct timespec t;
    if (standin_clock_now) return standin_clock_now();
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void card_until(uint64_t ns)
{
    if (standin_clock_until)
        standin_clock_until(ns);
    else
        while (card_now_ns() < ns) continue;
}

void card_spin_us(double us)
{
    card_until(card_now_ns() + (uint64_t)(1e3 * us));
}

static void take_lock(void)
{
    if (pthread_mutex_lock(&card->lock) == EOWNERDEAD) pthread_mutex_consistent(&card->lock);
}

static void drop_lock(void)
{
    pthread_mutex_unlock(&card->lock);
}

/* ---- the schedule ------------------------------------------------------------------------------- */

static bool has_work(const struct context *c)
{
    return c->pid && c->done < c->added;
}

/* The next context with work after `from`, which comes last; -1: none. */
static int next_with_work(int from)
{
    for (int i = 1; i <= CONTEXTS; i++) {
        const int k = (from + i + CONTEXTS) % CONTEXTS;
        if (has_work(&card->ctx[k])) return k;
    }
    return -1;
}

static void finish(struct context *c)
{
    c->done++;
    c->done_ns[c->done % RING] = card->now_ns;
}

/* A log is on the card now: note the gap since it last was. */
static void log_resumes(struct context *c, struct item *i)
{
    if (!i->begun_ns) {
        i->begun_ns = i->seen_ns = c->log_first = card->now_ns;
        c->gaps = 0;
    }
    if (card->now_ns - i->seen_ns > i->least_ns && c->gaps < GAPS) {
        c->gap[2 * c->gaps] = i->seen_ns;
        c->gap[2 * c->gaps++ + 1] = card->now_ns;
    }
    i->seen_ns = c->log_last = card->now_ns;
}

/* Time until the head of the queue is done, if it stays on the card. */
static double left_of(const struct item *i)
{
    if (!i->log) return i->left_ns;
    const double past = (double)(card->now_ns - i->begun_ns);
    return i->left_ns > past ? i->left_ns - past : 0;
}

static void give_to(int next)
{
    const struct context *c = &card->ctx[next];
    const bool full = c->item[(c->done + 1) % RING].full && plan.switch_full_us > 0;
    card->switching_ns = card->owner >= 0 && card->owner != next
                             ? 1e3 * (full ? plan.switch_full_us : plan.switch_us)
                             : 0;
    card->owner = next;
    card->turn_ns = 1e3 * plan.quantum_us;
}

/* The owner works, at most until `to`. */
static void work(uint64_t to, bool others)
{
    struct context *c = &card->ctx[card->owner];
    struct item *i = &c->item[(c->done + 1) % RING];
    if (i->log) log_resumes(c, i);
    const double left = left_of(i), room = (double)(to - card->now_ns);
    double step = left < room ? left : room;
    if (others && card->turn_ns < step) step = card->turn_ns;
    if (step < 0) step = 0;
    const uint64_t whole = (uint64_t)(step + 0.5);
    card->now_ns += whole;
    card->turn_ns -= (double)whole;
    /* alone, one turn follows the other without a change */
    while (!others && card->turn_ns <= 0) card->turn_ns += 1e3 * plan.quantum_us;
    if (i->log)
        i->seen_ns = c->log_last = card->now_ns;
    else
        i->left_ns -= (double)whole;
    if (left_of(i) < 0.5) finish(c);
}

static void advance(uint64_t to)
{
    while (card->now_ns < to) {
        if (card->switching_ns >= 0.5) {
            const double room = (double)(to - card->now_ns);
            const double step = card->switching_ns < room ? card->switching_ns : room;
            card->now_ns += (uint64_t)(step + 0.5);
            card->switching_ns -= step;
            continue;
        }
        const bool mine = card->owner >= 0 && has_work(&card->ctx[card->owner]);
        const int next = next_with_work(card->owner);
        if (next < 0) {
            card->now_ns = to;
        } else if (!mine || (next != card->owner && card->turn_ns < 0.5)) {
            give_to(next);
        } else {
            work(to, next != card->owner);
        }
    }
}

/* ---- what the driver asks for ------------------------------------------------------------------- */

int card_context_open(void)
{
    int found = -1;
    take_lock();
    advance(card_now_ns());
    for (int k = 0; k < CONTEXTS; k++) {
        struct context *c = &card->ctx[k];
        if (c->pid && kill(c->pid, 0) != 0 && errno == ESRCH) c->pid = 0;
        if (!c->pid && found < 0) found = k;
    }
    if (found >= 0) {
        struct context *c = &card->ctx[found];
        c->added = c->done = 0;
        c->gaps = 0;
        c->pid = getpid();
    }
    drop_lock();
    return found;
}

void card_context_close(int ctx)
{
    take_lock();
    advance(card_now_ns());
    card->ctx[ctx].pid = 0;
    drop_lock();
}

bool card_wedged(bool now)
{
    take_lock();
    card->wedged |= now;
    const bool wedged = card->wedged;
    drop_lock();
    return wedged;
}

bool card_take(int64_t bytes)
{
    const int64_t all = (int64_t)(plan.memory_GiB * (1 << 30));
    take_lock();
    const bool fits = card->used_bytes + bytes <= all;
    if (fits) card->used_bytes += bytes;
    drop_lock();
    return fits;
}

uint64_t card_free_bytes(void)
{
    take_lock();
    const int64_t left = (int64_t)(plan.memory_GiB * (1 << 30)) - card->used_bytes;
    drop_lock();
    return left > 0 ? (uint64_t)left : 0;
}

/* Uniform around 1, `noise` wide: Knuth's MMIX generator. */
static double jitter(void)
{
    card->rng = card->rng * 6364136223846793005u + 1442695040888963407u;
    return 1 + plan.noise * ((double)(card->rng >> 11) * 0x1p-53 - 0.5);
}

static uint64_t add(int ctx, const struct item *i)
{
    struct context *c = &card->ctx[ctx];
    take_lock();
    advance(card_now_ns());
    while (c->added - c->done >= QUEUE_MAX) {
        drop_lock();
        usleep(50);
        take_lock();
        advance(card_now_ns());
    }
    const uint64_t number = ++c->added;
    c->item[number % RING] = *i;
    if (!i->log) c->item[number % RING].left_ns *= jitter();
    drop_lock();
    return number;
}

uint64_t card_add(int ctx, double ns)
{
    return add(ctx, &(struct item){ .left_ns = ns });
}

uint64_t card_add_full(int ctx, double ns)
{
    return add(ctx, &(struct item){ .left_ns = ns, .full = true });
}

bool card_beside(int ctx, int kind, int other)
{
    bool found = false;
    take_lock();
    advance(card_now_ns());
    card->ctx[ctx].kind = kind;
    for (int k = 0; k < CONTEXTS; k++)
        found |= k != ctx && has_work(&card->ctx[k]) && card->ctx[k].kind == other;
    drop_lock();
    return found;
}

bool card_busy(int *kind)
{
    take_lock();
    advance(card_now_ns());
    const int k = next_with_work(-1);
    if (k >= 0) *kind = card->ctx[k].kind;
    drop_lock();
    return k >= 0;
}

uint64_t card_add_log(int ctx, uint64_t ns, uint64_t least, bool full)
{
    return add(
        ctx, &(struct item){ .left_ns = (double)ns, .log = true, .full = full, .least_ns = least });
}

uint64_t card_last(int ctx)
{
    take_lock();
    const uint64_t n = card->ctx[ctx].added;
    drop_lock();
    return n;
}

/* The time until it can be done at the earliest: what is on the card leaves it when its turn or
 * its work is at its end, and then all turns are this context's own. */
static double least_wait(const struct context *c, uint64_t item)
{
    const bool own = card->owner >= 0 && c == &card->ctx[card->owner];
    double ns = card->switching_ns;
    if (!own && card->owner >= 0) {
        const struct context *o = &card->ctx[card->owner];
        double theirs = 0;
        for (uint64_t k = o->done + 1; o->pid && k <= o->added && theirs < card->turn_ns; k++)
            theirs += left_of(&o->item[k % RING]);
        ns += fmin(theirs, card->turn_ns) + 1e3 * plan.switch_us;
    }
    for (uint64_t k = c->done + 1; k <= item; k++) {
        const struct item *i = &c->item[k % RING];
        ns += i->log && i->begun_ns ? left_of(i) : i->left_ns;
    }
    return ns;
}

uint64_t card_wait(int ctx, uint64_t item)
{
    struct context *c = &card->ctx[ctx];
    for (;;) {
        take_lock();
        advance(card_now_ns());
        const bool done = c->done >= item;
        const uint64_t at = c->done_ns[item % RING];
        const double left = done ? 0 : least_wait(c, item);
        drop_lock();
        if (done) return at;
        if (standin_clock_until)
            standin_clock_until(card_now_ns() + (uint64_t)left + 1);
        else if (left > 200e3)
            usleep((useconds_t)(1e-3 * fmin(left, 1e9)) - 100);
    }
}

size_t card_gaps(int ctx, uint64_t *first, uint64_t *last, uint64_t *out, size_t cap)
{
    const struct context *c = &card->ctx[ctx];
    const size_t n = c->gaps < cap ? c->gaps : cap;
    take_lock();
    *first = c->log_first;
    *last = c->log_last;
    memcpy(out, c->gap, 2 * n * sizeof *out);
    drop_lock();
    return c->gaps;
}
