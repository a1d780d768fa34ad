#include "model/blocks.h"

#include <string.h>

/* A mark that no name of a trace begins with, for both live in one table. */
struct text {
    char mark[4];
    sym parent;
    int64_t id;
};

sym blocks_add(struct symtab *names, sym parent, int64_t id)
{
    const struct text t = { .mark = "\0b\0", .parent = parent, .id = id };
    _Static_assert(sizeof t == 16, "no padding: its bytes are compared");
    char bytes[sizeof t];
    memcpy(bytes, &t, sizeof t);
    return symtab_add(names, bytes, sizeof bytes);
}

sym blocks_parent(const struct symtab *names, sym chain, int64_t *id)
{
    struct text t;
    memcpy(&t, symtab_name(names, chain), sizeof t);
    if (id) *id = t.id;
    return t.parent;
}
