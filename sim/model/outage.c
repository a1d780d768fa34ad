#include "model/outage.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const laws[] = { "exponential", "fixed", NULL };

/* The first FAULT_SOURCES are those of fault_source[]. */
const struct cfg_field fault_fields[] = {
    CFG_FIELD(struct fault_rates, card_mtbf, CFG_TIME, "4056 d", 0, SIM_MAX_S,
              "mean time between faults of a card; 0 s: never"),
    CFG_FIELD(struct fault_rates, card_repair, CFG_TIME, "14 d", 0, SIM_MAX_S,
              "mean time until it is back"),
    CFG_FIELD(struct fault_rates, node_mtbf, CFG_TIME, "639 d", 0, SIM_MAX_S,
              "mean time between faults of a node that stop all its cards; 0 s: never"),
    CFG_FIELD(struct fault_rates, node_repair, CFG_TIME, "1 d", 0, SIM_MAX_S,
              "mean time until it is back"),
    CFG_FIELD(struct fault_rates, rack_mtbf, CFG_TIME, "0 s", 0, SIM_MAX_S,
              "mean time between faults of a rack that stop all its nodes; 0 s: never"),
    CFG_FIELD(struct fault_rates, rack_repair, CFG_TIME, "4 h", 0, SIM_MAX_S,
              "mean time until it is back"),
    CFG_FIELD(struct fault_rates, job_mtbf, CFG_TIME, "0 s", 0, SIM_MAX_S,
              "mean running time of a job between fatal faults of its program; 0 s: never"),
    { .name = "repair",
      .type = CFG_CHOICE,
      .offset = offsetof(struct fault_rates, law),
      .dflt = "exponential",
      .help = "repair times: exponential, or fixed at their means",
      .choices = laws },
    CFG_FIELD(struct fault_rates, max_restarts, CFG_INT, "100", 0, 1e9,
              "a job that was struck more often fails"),
};
const size_t fault_fields_n = sizeof fault_fields / sizeof *fault_fields;

#define DAY 86400.0
const struct fault_source fault_source[FAULT_SOURCES] = {
    { "faults.card_mtbf_s", "reference TCO 3.8: 0.09 interruptions a card-year, 0.02 to 0.17",
      PROV_PUBLISHED, 2147 * DAY, 18250 * DAY },
    { "faults.card_repair_s",
      "reference TCO 3.1: 14 days of repair; half when one in two is replaced", PROV_PUBLISHED,
      7 * DAY, 14 * DAY },
    { "faults.node_mtbf_s",
      "reference TCO 3.8: 41.3 % of 419 stops in 54 days on 2,048 nodes (Llama 3)", PROV_PUBLISHED,
      556 * DAY, 751 * DAY },
    { "faults.node_repair_s", "assumed: a day", PROV_ASSUMED, 3600, 7 * DAY },
    { "faults.rack_mtbf_s", "assumed: never", PROV_ASSUMED, NAN, NAN },
    { "faults.rack_repair_s", "assumed: four hours", PROV_ASSUMED, 3600, DAY },
};

/* ---- capacity ---- */

struct capacity_keys {
    simtime at;
    int change;
    const char *nodes, *cards;
};
static const char *const changes[] = { "add", "drain", "remove", "fail", NULL };

const struct cfg_field capacity_fields[] = {
    CFG_REQUIRED(struct capacity_keys, at, CFG_TIME, 0, SIM_MAX_S, "when"),
    { .name = "do",
      .type = CFG_CHOICE,
      .offset = offsetof(struct capacity_keys, change),
      .help =
          "add: into service (cards whose first change this is come new); drain: nothing new, "
          "running jobs end; remove: drain, then leave the fleet; fail: at once, jobs are struck",
      .choices = changes,
      .required = true },
    CFG_FIELD(struct capacity_keys, nodes, CFG_TEXT, NULL, 0, 0,
              "numbers within the group, \"3\" or \"2..5\"; absent: all"),
    CFG_FIELD(struct capacity_keys, cards, CFG_TEXT, NULL, 0, 0,
              "numbers within each node; absent: the whole node"),
};
const size_t capacity_fields_n = sizeof capacity_fields / sizeof *capacity_fields;

struct reader {
    struct arena *a;
    const struct json_doc *doc;
    struct diag *d;
};

static const char *at_key(const struct reader *r, const char *pointer, const char *key)
{
    return arena_printf(r->a, "%s/%s", pointer, key);
}

/* "3" or "2..5", below `end`. False after a problem. */
static bool read_range(const struct reader *r, const char *pointer, const char *key,
                       const char *text, int64_t end, const char *what, int64_t *first,
                       int64_t *last)
{
    char *rest = NULL;
    *first = 0;
    *last = end - 1;
    if (!text) return true;
    const bool digit = text[0] >= '0' && text[0] <= '9' && strlen(text) < 24;
    if (digit) *first = *last = strtoll(text, &rest, 10);
    if (digit && strncmp(rest, "..", 2) == 0 && rest[2] >= '0' && rest[2] <= '9')
        *last = strtoll(rest + 2, &rest, 10);
    if (!digit || *rest != '\0' || *last < *first) {
        json_problem(r->d, r->doc, at_key(r, pointer, key),
                     "expected %s numbers such as \"3\" or \"2..5\", found \"%s\"", what, text);
        return false;
    }
    if (*last < end) return true;
    json_problem(r->d, r->doc, at_key(r, pointer, key),
                 "%s %lld does not exist: the group has %lld%s", what, (long long)*last,
                 (long long)end, end > 0 ? ", counted from 0" : "");
    return false;
}

enum service { UNTOUCHED, SERVING, DRAINED, GONE, FAILED };

/* Does the event make sense after what happened before? `state`: by card of the group. */
static bool makes_sense(const struct reader *r, const struct capacity_event *e, int64_t per_node,
                        unsigned char *state)
{
    static const unsigned char next[] = { [CAPACITY_ADD] = SERVING,
                                          [CAPACITY_DRAIN] = DRAINED,
                                          [CAPACITY_REMOVE] = GONE,
                                          [CAPACITY_FAIL] = FAILED };
    for (int64_t node = e->first_node; node <= e->last_node; node++)
        for (int64_t card = e->first_card; card <= e->last_card; card++) {
            unsigned char *s = &state[node * per_node + card];
            const bool add = e->change == CAPACITY_ADD, serves = *s == UNTOUCHED || *s == SERVING;
            const bool good = add                            ? *s != SERVING
                              : e->change == CAPACITY_REMOVE ? *s != GONE
                                                             : serves;
            if (!good) {
                json_problem(r->d, r->doc, e->pointer, "cannot %s: node %lld, card %lld is %s then",
                             changes[e->change], (long long)node, (long long)card,
                             *s == DRAINED  ? "already drained"
                             : *s == GONE   ? "already removed"
                             : *s == FAILED ? "already failed"
                                            : "already in service");
                return false;
            }
            *s = next[e->change];
        }
    return true;
}

/* Changes at one time keep their order in the file. */
static int by_time(const void *a, const void *b)
{
    const struct capacity_event *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

const struct capacity_event *capacity_read(struct arena *a, const struct json_doc *doc,
                                           json_t *list, const char *pointer, int64_t nodes,
                                           int64_t per_node, size_t *n, struct diag *d)
{
    const struct reader r = { a, doc, d };
    char found[64];
    size_t i, good = 0;
    json_t *v;
    *n = 0;
    if (!list) return NULL;
    if (!json_is_array(list)) {
        json_problem(d, doc, pointer, "expected a list of changes, found %s",
                     json_found(found, sizeof found, list));
        return NULL;
    }
    struct capacity_event *e = arena_array(a, json_array_size(list) + 1, sizeof *e);
    json_array_foreach(list, i, v)
    {
        struct capacity_keys k = { 0 };
        struct capacity_event *x = &e[good];
        const size_t before = d->count;
        x->pointer = arena_printf(a, "%s/%zu", pointer, i);
        x->index = i;
        cfg_read(capacity_fields, capacity_fields_n, &k, a, doc, v, x->pointer, NULL, 0, d);
        if (d->count > before) continue;
        x->at = k.at;
        x->change = k.change;
        if (read_range(&r, x->pointer, "nodes", k.nodes, nodes, "node", &x->first_node,
                       &x->last_node) &&
            read_range(&r, x->pointer, "cards", k.cards, per_node, "card", &x->first_card,
                       &x->last_card))
            good++;
    }
    if (good < json_array_size(list)) return e; /* reported */
    if (good > 1) qsort(e, good, sizeof *e, by_time);
    unsigned char *state = xcalloc((size_t)(nodes * per_node) + 1, 1);
    for (size_t k = 0; k < good; k++)
        if (!makes_sense(&r, &e[k], per_node, state)) break;
    free(state);
    *n = good;
    return e;
}
