/* traces/k8s_objects.h - the objects in a dump of Kubernetes: JSON or YAML, one object, several
 * documents in a row, a List (`kubectl get pods -o json`) or a bare array, plain or compressed.
 *
 * YAML is read by libyaml; its plain scalars stay text (numbers too: quantities must be exact),
 * except null, true and false. Anchors and aliases are refused: no API server writes them, and they
 * are how a small file becomes a huge one. Memory: the text, and one object at a time for JSON, all
 * of them for YAML. Threads: one. */
#ifndef GPUSIM_TRACES_K8S_OBJECTS_H
#define GPUSIM_TRACES_K8S_OBJECTS_H

#include "base/err.h"
#include "base/vec.h"

#include <jansson.h>
#include <stdbool.h>

struct k8s_object {
    json_t *v; /* NULL: still text */
    int line;  /* on which it starts, from 1 */
    const char *text;
    size_t len;
};

struct k8s_objects {
    char *file, *text;
    size_t len;
    VEC(struct k8s_object) list;
};

/* ERR_INPUT with the line where the text is neither. *o is {0} after a failure. */
int k8s_objects_read(struct k8s_objects *o, const char *path, struct err *e);
void k8s_objects_fini(struct k8s_objects *o); /* accepts {0} */
/* A new reference to the i-th object, or NULL with *e set. */
json_t *k8s_object_get(const struct k8s_objects *o, size_t i, struct err *e);

/* The text of a JSON string or number, or NULL. buf holds 40 bytes or more. */
const char *k8s_text(const json_t *v, char *buf, size_t size);
/* Is it a "Pod", a "Node"? Members of a PodList or NodeList of the raw API lack the kind. */
bool k8s_is_kind(const json_t *v, const char *kind);

#endif
