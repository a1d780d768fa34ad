/* traces/k8s_nodes.h - Kubernetes Nodes beside a list of pods: which cards they have, and the fleet
 * of a scenario that they make. A set of nodes is a JSON object of Nodes by name. Threads: one set,
 * one thread. */
#ifndef GPUSIM_TRACES_K8S_NODES_H
#define GPUSIM_TRACES_K8S_NODES_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A quantity, as a label or a capacity has it, that is whole and 0..max? */
bool k8s_whole(const json_t *v, int64_t max, int64_t *out);

struct k8s_node { /* 0: not said */
    int64_t cards, mem_mib, replicas, cpu_milli;
    uint64_t mem_bytes;
    const char *product; /* label, lent by the Node; NULL: none */
};

/* The physical cards: the label, since capacity counts replicas under time slicing and slices under
 * MIG, where "nvidia.com/gpu" is 0. */
struct k8s_node k8s_node_of(const json_t *v);
void k8s_nodes_keep(json_t *nodes, json_t *v); /* a node dumped again replaces itself */
/* 0, ERR_IO, or ERR_INPUT when the file holds no Node. */
int k8s_nodes_read(json_t *nodes, const char *path, struct err *e);
/* OUT.fleet.json: neighbours alike are one entry. */
int k8s_nodes_write_fleet(const char *nodes_path, const char *out, struct err *e);

#endif
