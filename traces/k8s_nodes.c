#include "traces/k8s_nodes.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/units.h"
#include "traces/k8s_demand.h"
#include "traces/k8s_objects.h"

#include <stdlib.h>
#include <string.h>

static const char *text_at(const json_t *v, const char *key)
{
    return json_string_value(json_object_get(v, key));
}

bool k8s_whole(const json_t *v, int64_t max, int64_t *out)
{
    struct k8s_quantity q;
    char buf[40];
    const char *text = k8s_text(v, buf, sizeof buf);
    if (!text || k8s_quantity_parse(text, strlen(text), &q) != K8S_OK || q.nano < 0 ||
        q.nano % K8S_ONE != 0 || q.nano / K8S_ONE > max)
        return false;
    *out = (int64_t)(q.nano / K8S_ONE);
    return true;
}

struct k8s_node k8s_node_of(const json_t *v)
{
    const json_t *labels = json_object_get(json_object_get(v, "metadata"), "labels"),
                 *capacity = json_object_get(json_object_get(v, "status"), "capacity");
    struct k8s_node n = { .product = text_at(labels, "nvidia.com/gpu.product") };
    struct k8s_quantity q;
    uint64_t u;
    char buf[40];
    if (!k8s_whole(json_object_get(labels, "nvidia.com/gpu.count"), 1024, &n.cards))
        k8s_whole(json_object_get(capacity, "nvidia.com/gpu"), 1024, &n.cards);
    k8s_whole(json_object_get(labels, "nvidia.com/gpu.memory"), INT64_C(1) << 30, &n.mem_mib);
    k8s_whole(json_object_get(labels, "nvidia.com/gpu.replicas"), 1000, &n.replicas);
    const char *cpu = k8s_text(json_object_get(capacity, "cpu"), buf, sizeof buf);
    if (cpu && k8s_quantity_parse(cpu, strlen(cpu), &q) == K8S_OK &&
        k8s_in_units(q.nano, K8S_ONE / 1000, INT32_MAX, &u))
        n.cpu_milli = (int64_t)u;
    const char *mem = k8s_text(json_object_get(capacity, "memory"), buf, sizeof buf);
    if (mem && k8s_quantity_parse(mem, strlen(mem), &q) == K8S_OK)
        k8s_in_units(q.nano, K8S_ONE, INT64_MAX, &n.mem_bytes);
    return n;
}

void k8s_nodes_keep(json_t *nodes, json_t *v)
{
    const char *name = text_at(json_object_get(v, "metadata"), "name");
    if (name) json_object_set(nodes, name, v); /* a node dumped again replaces itself */
}

int k8s_nodes_read(json_t *nodes, const char *path, struct err *e)
{
    struct k8s_objects o;
    int rc = k8s_objects_read(&o, path, e);
    if (rc < 0) return rc;
    for (size_t i = 0; i < o.list.n && rc == 0; i++) {
        json_t *v = k8s_object_get(&o, i, e);
        if (!v)
            rc = ERR_INPUT;
        else if (k8s_is_kind(v, "Node"))
            k8s_nodes_keep(nodes, v);
        json_decref(v);
    }
    k8s_objects_fini(&o);
    if (rc == 0 && json_object_size(nodes) == 0) {
        const struct loc at = { .file = path };
        rc = err_set(e, ERR_INPUT, &at, "expected Kubernetes Nodes, found none");
    }
    return rc;
}

/* ---- as a fleet --------------------------------------------------------------------------------- */

static void add_entry(json_t *fleet, const struct gpu_catalogue *c, const struct k8s_node *n,
                      int count)
{
    char text[64];
    const struct gpu_spec *g = n->product ? k8s_product(c, n->product) : NULL;
    json_t *o = json_object();
    snprintf(text, sizeof text, "nodes-%zu", json_array_size(fleet));
    json_object_set_new(o, "name", json_string(text));
    json_object_set_new(o, "nodes", json_integer(count));
    json_object_set_new(o, "gpu", json_string(g ? g->name : n->product ? n->product : "generic"));
    json_object_set_new(o, "gpus_per_node", json_integer(n->cards));
    if (n->cpu_milli > 0)
        json_object_set_new(o, "cpu_cores", json_num((double)n->cpu_milli / 1000));
    if (n->mem_bytes > 0) {
        unit_format_bytes(text, sizeof text, n->mem_bytes);
        json_object_set_new(o, "host_memory", json_string(text));
    }
    json_array_append_new(fleet, o);
}

static bool same_node(const struct k8s_node *a, const struct k8s_node *b)
{
    return a->cards == b->cards && a->cpu_milli == b->cpu_milli && a->mem_bytes == b->mem_bytes &&
           strcmp(a->product ? a->product : "", b->product ? b->product : "") == 0;
}

int k8s_nodes_write_fleet(const char *nodes_path, const char *out, struct err *e)
{
    struct gpu_catalogue *catalogue = NULL;
    struct err ignored = { 0 };
    json_t *nodes = json_object(), *fleet = json_array(), *v;
    struct strbuf text = { 0 };
    struct k8s_node last = { 0 };
    const char *name;
    int count = 0, rc = k8s_nodes_read(nodes, nodes_path, e);
    if (gpu_catalogue_load(&catalogue, NULL, &ignored) < 0) catalogue = NULL;
    json_object_foreach(nodes, name, v)
    {
        const struct k8s_node n = k8s_node_of(v);
        if (count > 0 && !same_node(&n, &last))
            add_entry(fleet, catalogue, &last, count), count = 0;
        last = n;
        count++;
    }
    if (count > 0) add_entry(fleet, catalogue, &last, count);
    json_t *doc = json_pack("{s:o}", "fleet", fleet);
    if (rc == 0) {
        char *path = xasprintf("%s.fleet.json", out);
        json_write(doc, &text);
        rc = outfile_write(path, text.s, text.len, e);
        free(path);
    }
    json_decref(doc);
    json_decref(nodes);
    gpu_catalogue_destroy(catalogue);
    strbuf_fini(&text);
    return rc;
}
