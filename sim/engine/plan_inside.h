/* engine/plan_inside.h - while a plan is built: what plan.c and plan_services.c share. For these
 * files only. */
#ifndef GPUSIM_ENGINE_PLAN_INSIDE_H
#define GPUSIM_ENGINE_PLAN_INSIDE_H

#include "base/str.h"
#include "engine/plan.h"

#include <string.h>

enum { POINTER = 300 };

struct builder {
    struct plan *p;
    struct diag *d;
    const struct json_doc *doc;
};

static inline struct err *problem_at(struct builder *b, const char *base, const char *key,
                                     const char *what, const char *found)
{
    char at[POINTER];
    return json_problem(b->d, b->doc, json_pointer_key(at, sizeof at, base, key),
                        "%s, found \"%s\"", what, found);
}

/* Look a name up in a registry of structs that begin with their name; else a problem with the
 * nearest and the valid ones. */
#define FIND_IN(b, registry, wanted, base, key, what, out)                                         \
    do {                                                                                           \
        const char *names_[64];                                                                    \
        size_t n_ = 0;                                                                             \
        (out) = NULL;                                                                              \
        for (size_t i_ = 0; (registry)[i_] && n_ < 64; i_++) {                                     \
            names_[n_++] = (registry)[i_]->name;                                                   \
            if (strcmp((registry)[i_]->name, (wanted)) == 0) (out) = (registry)[i_];               \
        }                                                                                          \
        if (!(out)) unknown_name((b), (base), (key), (what), (wanted), names_, n_);                \
    } while (0)

static inline void unknown_name(struct builder *b, const char *base, const char *key,
                                const char *what, const char *wanted, const char *const *names,
                                size_t n)
{
    char list[200];
    const char *near = str_nearest(wanted, names, n);
    struct err *e = problem_at(b, base, key, what, wanted);
    if (near)
        err_hint(e, "did you mean \"%s\"?", near);
    else
        err_hint(e, "valid: %s", str_list(list, sizeof list, names, n));
}

/* The services of the scenario under this policy; once groups, signatures and prices are known,
 * whether they can run. */
void plan_resolve_services(struct builder *b);
void plan_check_services(struct builder *b);

/* The parameters in use, with their provenance, once groups, profiles and policy are bound. */
void plan_note_params(struct plan *p);

#endif
