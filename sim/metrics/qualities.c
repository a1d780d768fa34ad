/* metrics/qualities.c - what sharing means besides speed and money. Facts from public documents,
 * each row with the one it rests on; nothing here takes part in a decision. */
#include "metrics/decide.h"

#include <string.h>

#define MIG_GUIDE "NVIDIA MIG user guide"
#define MPS_GUIDE "NVIDIA MPS documentation"
#define PLUGIN    "NVIDIA k8s-device-plugin, time-slicing"
#define HAMI      "Project-HAMi/HAMi documentation and issues"
#define RCUDA     "rCUDA papers (Silla, Duato and others)"
#define DRIVER    "NVIDIA driver and CUDA documentation"
#define TCO_REF   "cost reference of the project, sections 2 and 4"

static const struct quality table[] = {
    { "whole", "granularity", "one card; a small job holds all of it", DRIVER },
    { "whole", "memory isolation", "full: no other tenant on the card", DRIVER },
    { "whole", "fault isolation", "a fault ends one job", DRIVER },
    { "whole", "performance isolation",
      "full on the card; host, bus and network are shared per node", DRIVER },
    { "whole", "elasticity", "by whole cards; no change while a job runs", DRIVER },
    { "whole", "operation", "least: no further component", TCO_REF },
    { "whole", "check before migrating", "nothing", DRIVER },
    { "whole", "data protection",
      "memory is cleared between processes by the driver; no neighbour to protect from", DRIVER },
    { "whole", "licence", "none for the card itself", TCO_REF },

    { "mig", "granularity", "fixed profiles, at most 7 a card; requests are rounded up to one",
      MIG_GUIDE },
    { "mig", "memory isolation", "hardware: own memory slices, cache and paths", MIG_GUIDE },
    { "mig", "fault isolation",
      "an application fault stays in its instance; faults of card, bus or power take all",
      MIG_GUIDE },
    { "mig", "performance isolation", "own SMs, cache and bandwidth; bus and power cap are shared",
      MIG_GUIDE },
    { "mig", "elasticity", "changing instances needs them free, the MIG mode needs an empty card",
      MIG_GUIDE },
    { "mig", "operation", "layouts have to be planned and changed; not on every card", MIG_GUIDE },
    { "mig", "check before migrating",
      "no job may need more than one instance; no graphics on most profiles; peer-to-peer between instances is missing; profilers need rights",
      MIG_GUIDE },
    { "mig", "data protection", "hardware separation between instances", MIG_GUIDE },
    { "mig", "licence", "none on bare metal; in virtual machines a vGPU licence (unverified)",
      TCO_REF },

    { "timeslice", "granularity",
      "as many processes as fit in memory; slots are counted, not sized", PLUGIN },
    { "timeslice", "memory isolation",
      "address spaces only: nothing limits what one takes, all can run out", PLUGIN },
    { "timeslice", "fault isolation",
      "sources disagree whether a fault reaches the neighbours: a parameter of the policy",
      PLUGIN },
    { "timeslice", "performance isolation", "none: equal turns among whoever is active", PLUGIN },
    { "timeslice", "elasticity", "full: who is idle costs nothing but memory", PLUGIN },
    { "timeslice", "operation", "a setting of the device plugin; usage per tenant is hard to tell",
      PLUGIN },
    { "timeslice", "check before migrating", "peak memory of all tenants together; latency targets",
      PLUGIN },
    { "timeslice", "data protection",
      "separate address spaces on one card; side channels through shared units are published",
      "Naghibijouybari and others, Rendered Insecure: GPU side channel attacks are practical, ACM CCS 2018" },
    { "timeslice", "licence", "none; as vGPU of a hypervisor a licence per user", TCO_REF },

    { "mps", "granularity", "percent of threads per client, up to the server's limit of clients",
      MPS_GUIDE },
    { "mps", "memory isolation", "address spaces and a limit per client on recent cards",
      MPS_GUIDE },
    { "mps", "fault isolation", "one fatal fault ends all clients of the card", MPS_GUIDE },
    { "mps", "performance isolation", "thread limits; bandwidth and cache are shared", MPS_GUIDE },
    { "mps", "elasticity", "limits are set when a client starts", MPS_GUIDE },
    { "mps", "operation", "a daemon per node; one user at a time per server unless configured",
      MPS_GUIDE },
    { "mps", "check before migrating",
      "clients must trust each other; no dynamic parallelism on some generations", MPS_GUIDE },
    { "mps", "data protection", "for tenants that trust each other", MPS_GUIDE },
    { "mps", "licence", "none", TCO_REF },

    { "intercept", "granularity", "any share of compute and memory, in percent and MiB", HAMI },
    { "intercept", "memory isolation",
      "a limit in a library inside the tenant's process; driver allocations may pass it", HAMI },
    { "intercept", "fault isolation", "as time slicing below it", HAMI },
    { "intercept", "performance isolation",
      "quotas hold on average over the limiter's period, with an error", HAMI },
    { "intercept", "elasticity", "full with soft quotas; quotas are set at start", HAMI },
    { "intercept", "operation",
      "one more component between framework and driver, to be tested with each version of both",
      HAMI },
    { "intercept", "check before migrating",
      "statically linked programs and unusual loaders escape the hook; each driver and CUDA version; multi-process jobs",
      HAMI },
    { "intercept", "data protection", "software limits, no boundary against a hostile tenant",
      HAMI },
    { "intercept", "licence", "open source free, support optional; commercial layers by the card",
      TCO_REF },

    { "remote", "granularity", "whole cards or shares of the pool, from any node", RCUDA },
    { "remote", "memory isolation", "that of the card at the far end", RCUDA },
    { "remote", "fault isolation", "the network is one more thing that can fail, for all its users",
      RCUDA },
    { "remote", "performance isolation", "the link of a node is shared by its jobs", RCUDA },
    { "remote", "elasticity", "cards follow the jobs without moving either", RCUDA },
    { "remote", "operation", "a server and client layer, and a network to look after", RCUDA },
    { "remote", "check before migrating",
      "which API calls the client supports; bytes and synchronous calls per second; unified memory and graphics",
      RCUDA },
    { "remote", "data protection", "data cross the network: encryption costs speed", RCUDA },
    { "remote", "licence", "differs by product; not public for most", TCO_REF },
};

const struct quality *qualities_of(const char *kind, size_t *n)
{
    const size_t rows = sizeof table / sizeof *table;
    size_t first = 0;
    while (first < rows && strcmp(table[first].kind, kind) != 0) first++;
    *n = 0;
    while (first + *n < rows && strcmp(table[first + *n].kind, kind) == 0) ++*n;
    return &table[first < rows ? first : 0];
}
