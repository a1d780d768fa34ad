#include "base/datadir.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef GPUSIM_PREFIX /* set by the Makefile */
#define GPUSIM_PREFIX "/usr/local"
#endif

enum { PATH_SIZE = 4096, UP = 5 }; /* build/VARIANT/tests/unit/test_x lies five below the tree */

/* The data folder is known by what it holds: a build tree has other folders called scenarios. */
static bool holds_data(const char *dir)
{
    char gpus[PATH_SIZE + 8];

    snprintf(gpus, sizeof gpus, "%s/gpus", dir);
    return access(gpus, R_OK | X_OK) == 0;
}

/* Beside or above the running binary: in a build tree "scenarios", installed
 * "share/gpusim/scenarios". */
static bool near_binary(char dir[PATH_SIZE])
{
    static const char *const names[] = { "scenarios", "share/gpusim/scenarios" };
    char exe[PATH_SIZE - 32];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

    if (n <= 0) return false;
    exe[n] = '\0';
    for (int up = 0; up < UP; up++) {
        char *slash = strrchr(exe, '/');
        if (!slash) return false;
        *slash = '\0';
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            snprintf(dir, PATH_SIZE, "%s/%s", exe, names[i]);
            if (holds_data(dir)) return true;
        }
    }
    return false;
}

char *datadir_path(char *buf, size_t size, const char *name)
{
    const char *set = getenv("GPUSIM_DATA");
    char found[PATH_SIZE];
    const char *dir = GPUSIM_PREFIX "/share/gpusim/scenarios";

    if (set && *set)
        dir = set;
    else if (near_binary(found))
        dir = found;
    snprintf(buf, size, "%s/%s", dir, name);
    return buf;
}
