#include "model/worklib.h"

#include <string.h>

enum { POINTER = 300 };

static int class_find(const char *name)
{
    int c = CLASS_COUNT - 1;
    while (c > CLASS_none && strcmp(job_class_names[c], name) != 0) c--;
    return c;
}

static void read_classes(struct worklib *out, struct arena *a, const struct json_doc *doc,
                         json_t *classes, struct diag *d)
{
    const char *key;
    json_t *v;
    char at[POINTER];
    json_object_foreach(classes, key, v)
    {
        const int c = class_find(key);
        json_pointer_key(at, sizeof at, "/classes", key);
        if (c == CLASS_none) {
            struct err *e = json_problem(d, doc, at, "no such job class");
            err_hint(e, "training, inference, dev, hpc, graphics");
            continue;
        }
        struct signature *sig = arena_alloc(a, sizeof *sig);
        signature_read(sig, a, doc, v, at, d);
        out->class_default[c] = sig;
    }
}

void worklib_read(struct worklib *out, struct arena *a, const struct json_doc *doc, struct diag *d)
{
    static const char *const keys[] = { "format", "note", "classes", "profiles" };
    json_t *named = json_object_get(doc->root, "profiles"), *v;
    const char *key;
    char at[POINTER];
    *out = (struct worklib){ 0 };
    json_known_keys(d, doc, doc->root, "", keys, sizeof keys / sizeof *keys);
    read_classes(out, a, doc, json_object_get(doc->root, "classes"), d);
    struct named_work *list = arena_array(a, json_object_size(named) + 1, sizeof *list);
    json_object_foreach(named, key, v)
    {
        json_pointer_key(at, sizeof at, "/profiles", key);
        list[out->n_named].name = arena_strdup(a, key);
        signature_read(&list[out->n_named].sig, a, doc, v, at, d);
        list[out->n_named].sig.name = list[out->n_named].name;
        out->n_named++;
    }
    out->named = list;
}
