#include "base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int caught; /* lock-free: a handler may write it, threads may read it */

static void note(int signal)
{
    atomic_store(&caught, signal);
}

static void catch_one(int signal)
{
    struct sigaction old, new = { .sa_handler = note, .sa_flags = SA_RESTART | (int)SA_RESETHAND };
    sigemptyset(&new.sa_mask);
    if (sigaction(signal, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(signal, &new, NULL);
}

void interrupt_catch(void)
{
    catch_one(SIGINT);
    catch_one(SIGTERM);
}

bool interrupt_caught(void)
{
    return atomic_load_explicit(&caught, memory_order_relaxed) != 0;
}

const char *interrupt_name(void)
{
    switch (atomic_load(&caught)) {
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    default: return NULL;
    }
}

void interrupt_die(void)
{
    const int signal = atomic_load(&caught);
    if (signal == 0) return;
    struct sigaction plain = { .sa_handler = SIG_DFL };
    sigemptyset(&plain.sa_mask);
    sigaction(signal, &plain, NULL);
    raise(signal);
}
