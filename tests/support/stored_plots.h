/* tests/support/stored_plots.h - a stored answer written by hand, and the pictures made of it. */
#ifndef GPUSIM_TESTS_STORED_PLOTS_H
#define GPUSIM_TESTS_STORED_PLOTS_H

#include "support/support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline bool have_gnuplot(void)
{
    return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

/* `text` as the file `name`, with ' for ", in a folder of its own. */
static inline const char *stored(const char *name, const char *text)
{
    const char *dir = temp_dir();
    char path[500];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (; *text; text++) fputc(*text == '\'' ? '"' : *text, f);
    assert_int_equal(fclose(f), 0);
    return dir;
}

static inline char *plot_file(const char *dir, const char *name)
{
    char path[500];
    snprintf(path, sizeof path, "%s/plots/%s", dir, name);
    return read_file(path);
}

static inline bool plot_exists(const char *dir, const char *name)
{
    char path[500];
    snprintf(path, sizeof path, "%s/plots/%s", dir, name);
    return access(path, F_OK) == 0;
}

#endif
