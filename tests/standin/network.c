/* A forwarder whose messages take their time: preloaded, recv() of a request (8 bytes,
 * calibrate/remote.c) returns so many microseconds later as GPUSIM_NETWORK_DELAY_US says. What a
 * probe of remote calls must find then is known. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

enum { REQUEST_BYTES = 8 };

__attribute__((visibility("default"))) ssize_t recv(int fd, void *p, size_t n, int flags)
{
    const char *delay = getenv("GPUSIM_NETWORK_DELAY_US");
    ssize_t (*real)(int, void *, size_t, int);
    void *found = dlsym(RTLD_NEXT, "recv");
    memcpy(&real, &found, sizeof real);
    const ssize_t got = real(fd, p, n, flags);
    if (delay && n == REQUEST_BYTES && got == REQUEST_BYTES)
        usleep(
            (useconds_t)strtoul(delay, NULL, 10)); /* the stand-in's clock, where that is loaded */
    return got;
}
