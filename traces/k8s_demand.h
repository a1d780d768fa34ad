/* traces/k8s_demand.h - what a pod asks for, from its resource blocks and annotations.
 *
 * Demand of a pod, for each resource: the larger of (sum of its containers and sidecars) and (each init
 * container with the sidecars started before it); sidecars are init containers with restartPolicy
 * Always. limits count for cards, requests (else limits) for cores and memory, plus spec.overhead.
 *
 *   nvidia.com/gpu            whole cards; under HAMi, and on nodes whose label gpu.replicas says that
 *                             they slice time, the number of shares
 *   nvidia.com/gpu.shared     time-slicing replicas: shares of 1 / replicas of the node's cards
 *   nvidia.com/mig-<profile>  one slice; also as an annotation (run:ai before 2.10)
 *   nvidia.com/gpumem         MiB for each share (a count, although it looks like a quantity)
 *   nvidia.com/gpumem-percentage, nvidia.com/gpucores    percent of a card for each share
 *   amd.com/gpu               whole cards
 *   annotations gpu-fraction "0.5", gpu-memory "2000" (MiB), gpu-fraction-num-devices (KAI, run:ai)
 *
 * A key that is none of these under nvidia.com/ or without a domain, or one that is nearly one of
 * them, is an error with the nearest valid key: a misspelt request is otherwise no request at all. */
#ifndef GPUSIM_TRACES_K8S_DEMAND_H
#define GPUSIM_TRACES_K8S_DEMAND_H

#include "model/gpu.h"
#include "traces/format.h"
#include "traces/k8s_quantity.h"

/* What is known of the card that a pod ran on, or of all of them. 0 and NULL: unknown. */
struct k8s_card {
    uint64_t mem_mib;
    uint64_t replicas;           /* time-slicing */
    const struct gpu_spec *spec; /* in the catalogue */
};

struct k8s_demand {
    k8s_nano cpu, mem; /* billionths of a core, of a byte */
    int64_t gpu_milli;
    uint64_t gpu_mem_bytes; /* per card or share; 0: not said */
    /* 2 or more: gpu_milli is so many equal shares of cards; -1: several unlike ones */
    int64_t shares;
};

extern const struct import_reason k8s_unknown_key, k8s_odd_share, k8s_share_unknown, k8s_mem_milli,
    k8s_mem_tiny;

/* False when the row was quarantined. `catalogue` may be NULL. */
bool k8s_demand_read(struct k8s_demand *out, const json_t *pod, const struct k8s_card *card,
                     const struct gpu_catalogue *catalogue, struct import_row *row);

/* "NVIDIA-A100-SXM4-40GB-SHARED" to the catalogue's card, or NULL. */
const struct gpu_spec *k8s_product(const struct gpu_catalogue *c, const char *product);

#endif
