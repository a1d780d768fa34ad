/* A clock that does not wait, for every process that preloads this library and names the same state
 * file: CLOCK_MONOTONIC, nanosleep and usleep become virtual. Time passes by waiting alone (and a
 * tick for each reading of the clock, so that a loop that looks at it comes to its end): when no
 * process is running, the clock leaps to the first moment that one of them waits for. What the
 * host's scheduler or other programs do is then in no figure.
 *
 * Who runs: a process is blocked while it waits here, or while /proc says that it sleeps. A
 * write to a pipe wakes its reader before it returns, so a sleeper that nobody has written to
 * stays asleep until one that waits here goes on. One thread of a process may wait at a time.
 * The lock spins: who waits for it must not look asleep. */
#include "tests/standin/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { SLOTS = 160, TICK_NS = 25, POLL_NS = 20000, DOZE_NS = 2000000 };

struct slot {
    pid_t pid;         /* 0: free */
    uint64_t until_ns; /* 0: it does not wait here */
};

struct shared {
    pid_t lock; /* who holds it; 0: nobody */
    uint64_t now_ns;
    uint32_t turn; /* changes with every leap; futex */
    struct slot slot[SLOTS];
};

static struct shared *shared;
static int mine = -1;
static struct {
    pid_t pid;
    int fd;
} watched[SLOTS]; /* /proc/PID/stat of the others */

static void die(const char *what)
{
    fprintf(stderr, "stand-in clock: %s\n", what);
    abort();
}

static void take_lock(void)
{
    const pid_t me = getpid();
    for (unsigned spins = 1;; spins++) {
        pid_t holder = 0;
        if (__atomic_compare_exchange_n(&shared->lock, &holder, me, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return;
        if (spins % 4096 == 0 && kill(holder, 0) != 0 && errno == ESRCH) /* it died with it */
            __atomic_compare_exchange_n(&shared->lock, &holder, 0, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
        sched_yield();
    }
}

static void drop_lock(void)
{
    __atomic_store_n(&shared->lock, 0, __ATOMIC_RELEASE);
}

static void forget(void)
{
    mine = -1; /* a child has a place of its own */
    memset(watched, 0, sizeof watched);
}

/* Z: gone. The state stands after the name, which is in parentheses and may hold any character. */
static char state_of(int s)
{
    char text[256];
    const pid_t pid = shared->slot[s].pid;
    if (watched[s].pid != pid) {
        if (watched[s].pid) close(watched[s].fd);
        snprintf(text, sizeof text, "/proc/%d/stat", (int)pid);
        watched[s].fd = open(text, O_RDONLY | O_CLOEXEC);
        watched[s].pid = watched[s].fd < 0 ? 0 : pid;
        if (watched[s].fd < 0) return 'Z';
    }
    const ssize_t n = pread(watched[s].fd, text, sizeof text - 1, 0);
    if (n <= 0) return 'Z';
    text[n] = '\0';
    const char *end = strrchr(text, ')');
    return end && end[1] ? end[2] : 'Z';
}

/* The place of a process, a new one if it has none; -1: all are taken. The lock is held. */
static int slot_for(pid_t pid)
{
    int found = -1;
    for (int s = 0; s < SLOTS; s++)
        if (shared->slot[s].pid == pid) return s;
    for (int s = 0; s < SLOTS && found < 0; s++)
        if (!shared->slot[s].pid || state_of(s) == 'Z') found = s;
    if (found >= 0) shared->slot[found] = (struct slot){ pid, 0 };
    return found;
}

static void attach(void)
{
    if (mine >= 0) return;
    if (!shared) {
        const char *path = getenv("GPUSIM_STANDIN_STATE");
        char name[600];
        snprintf(name, sizeof name, "%s.clock", path ? path : "");
        if (!path) die("GPUSIM_STANDIN_STATE is not set");
        const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || flock(fd, LOCK_EX) != 0) die("the state file cannot be opened");
        const bool fresh = lseek(fd, 0, SEEK_END) == 0;
        if (fresh && ftruncate(fd, sizeof *shared) != 0) die("the state file cannot be written");
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (shared == MAP_FAILED) die("the state file cannot be mapped");
        if (fresh) shared->now_ns = 1000000000;
        flock(fd, LOCK_UN);
        close(fd);
        pthread_atfork(NULL, NULL, forget);
    }
    take_lock();
    mine = slot_for(getpid());
    drop_lock();
    if (mine < 0) die("too many processes");
}

uint64_t standin_clock_now(void)
{
    attach();
    return __atomic_load_n(&shared->now_ns, __ATOMIC_ACQUIRE);
}

/* Whether nobody runs; then *next is the first moment that somebody waits for. */
static bool all_blocked(uint64_t *next)
{
    *next = UINT64_MAX;
    for (int s = 0; s < SLOTS; s++) {
        struct slot *o = &shared->slot[s];
        if (!o->pid) continue;
        if (o->until_ns > shared->now_ns) {
            if (o->until_ns < *next) *next = o->until_ns;
            if (s != mine && kill(o->pid, 0) != 0) o->pid = 0;
        } else if (s == mine || o->until_ns) {
            return false; /* its time has come */
        } else {
            const char state = state_of(s);
            if (state == 'Z')
                o->pid = 0;
            else if (state != 'S')
                return false;
        }
    }
    return true;
}

void standin_clock_until(uint64_t t)
{
    uint64_t next;
    attach();
    take_lock();
    shared->slot[mine].until_ns = t;
    for (unsigned round = 0; shared->now_ns < t; round++) {
        if (all_blocked(&next)) {
            __atomic_store_n(&shared->now_ns, next, __ATOMIC_RELEASE);
            __atomic_fetch_add(&shared->turn, 1, __ATOMIC_RELEASE);
            syscall(SYS_futex, &shared->turn, FUTEX_WAKE, SLOTS, NULL, NULL, 0);
            continue;
        }
        bool first = true; /* of those who wait: it looks again soon, the others are woken */
        for (int s = 0; s < SLOTS; s++)
            if (s != mine && shared->slot[s].pid && shared->slot[s].until_ns > shared->now_ns &&
                shared->slot[s].until_ns < t)
                first = false;
        const uint32_t turn = shared->turn;
        const struct timespec most = { 0, first ? POLL_NS : DOZE_NS };
        drop_lock();
        if (first && round < 8)
            sched_yield();
        else
            syscall(SYS_futex, &shared->turn, FUTEX_WAIT, turn, &most, NULL, 0);
        take_lock();
    }
    shared->slot[mine].until_ns = 0;
    drop_lock();
}

/* ---- what programs call ------------------------------------------------------------------------- */

static uint64_t ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

EXPORT int clock_gettime(clockid_t id, struct timespec *t)
{
    if (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_RAW)
        return (int)syscall(SYS_clock_gettime, id, t);
    attach();
    const uint64_t now = __atomic_add_fetch(&shared->now_ns, TICK_NS, __ATOMIC_ACQ_REL);
    *t = (struct timespec){ (time_t)(now / 1000000000), (long)(now % 1000000000) };
    return 0;
}

EXPORT int nanosleep(const struct timespec *t, struct timespec *left)
{
    (void)left;
    standin_clock_until(standin_clock_now() + ns_of(t));
    return 0;
}

EXPORT int usleep(useconds_t us)
{
    standin_clock_until(standin_clock_now() + 1000 * (uint64_t)us);
    return 0;
}

/* A child counts from its first moment: time does not pass while it is being loaded. */
EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
    int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                const posix_spawnattr_t *, char *const[], char *const[]);
    void *p = dlsym(RTLD_NEXT, "posix_spawn");
    memcpy(&real, &p, sizeof real);
    attach();
    const int failed = real(pid, path, actions, attributes, argv, env);
    take_lock();
    if (!failed) slot_for(*pid);
    drop_lock();
    return failed;
}
