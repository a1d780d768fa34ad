#include "support/second_draw.h"

#include "support/support.h"

#include <string.h>

static int below(uint64_t *seed, uint64_t n)
{
    return (int)(test_random(seed) % n);
}

/* Mean time between faults and until repair; one in `in` never fails. */
static void add_rates(uint64_t *seed, const char *what, int least_s, int in, struct strbuf *out)
{
    const int mtbf_s = below(seed, (uint64_t)in) == 0
                           ? 0
                           : least_s + below(seed, 10) * below(seed, 10) * least_s / 2;
    strbuf_addf(out, "'%s_mtbf': '%d s', '%s_repair': '%d s', ", what, mtbf_s, what,
                1 + below(seed, 20) * below(seed, 20));
}

void second_draw_faults(uint64_t *seed, bool racks, struct strbuf *top)
{
    strbuf_addz(top, ", 'faults': {");
    add_rates(seed, "card", 60, 4, top);
    add_rates(seed, "node", 120, 3, top);
    if (racks) add_rates(seed, "rack", 200, 3, top);
    if (below(seed, 2)) strbuf_addf(top, "'job_mtbf': '%d s', ", 10 + below(seed, 1000));
    if (below(seed, 3) == 0) strbuf_addf(top, "'max_restarts': %d, ", below(seed, 6));
    strbuf_addf(top, "'repair': '%s'}", below(seed, 2) ? "fixed" : "exponential");
}

void second_draw_group_faults(uint64_t *seed, struct strbuf *fleet)
{
    switch (below(seed, 6)) {
    case 0: strbuf_addz(fleet, ", 'faults': {'card_mtbf': '0 s', 'node_repair': '20 s'}"); break;
    case 1: strbuf_addz(fleet, ", 'faults': {'job_mtbf': '300 s', 'max_restarts': 3}"); break;
    case 2: strbuf_addz(fleet, ", 'faults': {'card_mtbf': '90 s', 'repair': 'fixed'}"); break;
    default: break; /* those of the scenario */
    }
}

void second_draw_blast(uint64_t *seed, struct strbuf *share)
{
    static const char *const reach[] = { "job", "card", "node" };
    if (below(seed, 4)) strbuf_addf(share, ", 'fault': '%s'", reach[below(seed, 3)]);
}

void second_draw_capacity(uint64_t *seed, int nodes, int per_node, struct strbuf *fleet)
{
    static const char *const courses[][4] = { { "add" },
                                              { "drain" },
                                              { "remove" },
                                              { "fail" },
                                              { "drain", "add" },
                                              { "fail", "add", "remove" },
                                              { "add", "drain", "remove", "add" },
                                              { "drain", "remove", "add" } };
    const char *comma = "";
    strbuf_addz(fleet, ", 'capacity': [");
    for (int node = 0; node < nodes; node++) {
        const int course = below(seed, 2 * sizeof courses / sizeof *courses);
        const int first = below(seed, (uint64_t)per_node);
        const bool part = below(seed, 3) == 0;
        int at = 0;
        if (course >= (int)(sizeof courses / sizeof *courses)) continue;
        for (int k = 0; k < 4 && courses[course][k]; k++) {
            at += below(seed, 300);
            strbuf_addf(fleet, "%s{'at': '%d s', 'do': '%s', 'nodes': '%d'", comma, at,
                        courses[course][k], node);
            if (part) strbuf_addf(fleet, ", 'cards': '%d..%d'", first, per_node - 1);
            strbuf_addc(fleet, '}');
            comma = ", ";
        }
    }
    strbuf_addc(fleet, ']');
}

/* ---- cards that are shared ---- */

static const char *any(uint64_t *seed, const char *const *of)
{
    size_t n = 0;
    while (of[n]) n++;
    return of[below(seed, n)];
}

/* One in `in` scenarios states the parameter. */
static void add_some(uint64_t *seed, int in, const char *key, int most, const char *unit,
                     struct strbuf *out)
{
    if (below(seed, (uint64_t)in) == 0)
        strbuf_addf(out, ", '%s': '%d %s'", key, 1 + below(seed, (uint64_t)most), unit);
}

void second_draw_overcommit(uint64_t *seed, struct strbuf *share)
{
    strbuf_addf(share, "'kind': 'whole', 'overcommit': %d", 2 + below(seed, 4));
    add_some(seed, 3, "quantum", 9000, "us", share);
    add_some(seed, 2, "switch", 200, "us", share);
}

void second_draw_timeslice(uint64_t *seed, bool swaps, struct strbuf *share)
{
    static const char *const memory[] = { "unchecked", "reserve", "swap", "swap" };
    static const char *const vgpus[] = { "best_effort", "equal_share", "fixed_share", NULL };
    strbuf_addf(share, "'kind': 'timeslice', 'slots': %d, 'switch': '%d us'", 1 + below(seed, 4),
                below(seed, 200));
    if (below(seed, 3) == 0)
        strbuf_addf(share, ", 'vgpu': '%s'", any(seed, vgpus));
    else
        strbuf_addf(share, ", 'memory': '%s'", memory[below(seed, swaps ? 4 : 2)]);
    /* nvshare's turns last seconds */
    if (strstr(share->s, "swap"))
        add_some(seed, 1, "quantum", 30, "s", share);
    else
        add_some(seed, 4, "quantum", 9000, "us", share);
    if (below(seed, 3) == 0) strbuf_addf(share, ", 'overhead': 0.%02d", below(seed, 60));
}

void second_draw_mps(uint64_t *seed, bool before_volta, struct strbuf *share)
{
    static const char *const caps[] = { "1", "0.2", "0.5", "0.75", NULL };
    const int most = before_volta ? 16 : 60;
    const bool many = below(seed, 8) == 0;
    const int slots = 1 + below(seed, many ? (uint64_t)most : 4);
    strbuf_addf(share, "'kind': 'mps', 'slots': %d", slots);
    if (slots > 48 || below(seed, 3) == 0)
        strbuf_addf(share, ", 'clients': %d", slots + below(seed, (uint64_t)(most - slots) + 1));
    if (below(seed, 2)) strbuf_addf(share, ", 'cap': %s", any(seed, caps));
    if (below(seed, 2)) strbuf_addf(share, ", 'users': '%s'", below(seed, 4) ? "any" : "one");
    if (below(seed, 3) == 0) strbuf_addf(share, ", 'overhead': 0.%02d", below(seed, 40));
    if (below(seed, 3) == 0) strbuf_addf(share, ", 'interference': 0.%02d", below(seed, 100));
}

void second_draw_intercept(uint64_t *seed, struct strbuf *share)
{
    static const char *const enforce[] = { "none", "soft", "bucket", "hard", NULL };
    static const char *const sizes[] = { "[0.25, 0.5]", "[0.1667, 0.3333, 0.5]", "[0.999]",
                                         "[0.001, 0.07, 0.3, 0.8]", NULL };
    strbuf_addf(share,
                "'kind': 'intercept', 'enforce': '%s', 'startup': '%d s', "
                "'startup_per_process': '%d ms'",
                any(seed, enforce), below(seed, 3), below(seed, 1500));
    if (below(seed, 3) == 0) strbuf_addf(share, ", 'sizes': %s", any(seed, sizes));
    if (below(seed, 3) == 0)
        strbuf_addf(share, ", 'unset_memory': '%s'", below(seed, 4) ? "card" : "share");
    if (below(seed, 2)) strbuf_addf(share, ", 'gain': %d.%02d", below(seed, 2), below(seed, 100));
    if (below(seed, 3) == 0) strbuf_addz(share, ", 'hides': true");
    add_some(seed, 3, "launch", 20000, "ns", share);
    add_some(seed, 4, "native_launch", 20000, "ns", share);
    add_some(seed, 3, "alloc", 900, "us", share);
    add_some(seed, 4, "quantum", 9000, "us", share);
    add_some(seed, 4, "switch", 200, "us", share);
}
