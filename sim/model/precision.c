/* model/precision.c - names of number formats. */
#include "model/precision.h"

#include <stddef.h>
#include <strings.h>

const char *const precision_names[PREC_COUNT + 1] = {
#define X(name, integer) [PREC_##name] = #name,
    PRECISION_MAP(X)
#undef X
};

static const bool is_integer[PREC_COUNT] = {
#define X(name, integer) [PREC_##name] = integer,
    PRECISION_MAP(X)
#undef X
};

bool precision_is_integer(enum precision p)
{
    return is_integer[p];
}

int precision_find(const char *name)
{
    for (int p = 0; p < PREC_COUNT; p++)
        if (strcasecmp(precision_names[p], name) == 0) return p;
    return -1;
}
