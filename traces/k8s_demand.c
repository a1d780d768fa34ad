#include "traces/k8s_demand.h"

#include "base/dec.h"
#include "base/str.h"
#include "model/mig.h"
#include "traces/k8s_objects.h"

#include <ctype.h>
#include <string.h>

const struct import_reason k8s_unknown_key = {
    "unknown-key", "a resource or annotation that nobody reads: a misspelt request?", false
};
const struct import_reason k8s_odd_share = {
    "odd-share", "neither equal shares of cards, nor slices of one kind, nor whole cards", false
};
const struct import_reason k8s_share_unknown = {
    "share-unknown", "the request is a share whose size depends on the card, which is not known",
    false
};
const struct import_reason k8s_mem_milli = {
    "memory-in-thousandths", "memory with the suffix m is thousandths of a byte: rounded up", true
};
const struct import_reason k8s_mem_tiny = { "memory-below-1Mi",
                                            "less than 1 MiB of memory: a forgotten suffix?",
                                            true };

static const char *const resource_keys[] = {
    "cpu",
    "memory",
    "ephemeral-storage",
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "nvidia.com/gpumem",
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
    "nvidia.com/priority",
    "amd.com/gpu",
};
static const char *const annotation_keys[] = { "gpu-fraction", "gpu-memory",
                                               "gpu-fraction-num-devices" };
static const char *const block_keys[] = { "limits", "requests", "claims" };

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool one_of(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0) return true;
    return false;
}

static bool unknown_key(struct import_row *row, const char *where, const char *key,
                        const char *nearest)
{
    import_quarantine(row, &k8s_unknown_key, "%s: unknown key \"%s\"%s%s%s", where, key,
                      nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                      nearest ? "\"?" : "");
    return false;
}

/* "1g.5gb", "1g.10gb.me" (the API's spelling of 1g.10gb+me) of "nvidia.com/mig-1g.5gb[.shared]",
 * as the driver spells it; false when the key is no MIG key. */
static bool mig_of_key(const char *key, char profile[32])
{
    static const char prefix[] = "nvidia.com/mig-";
    if (strncmp(key, prefix, sizeof prefix - 1) != 0) return false;
    const char *s = key + sizeof prefix - 1, *p = s;
    while (isdigit((unsigned char)*p)) p++;
    if (p == s || strncmp(p, "g.", 2) != 0) return false;
    const char *gb = p += 2;
    while (isdigit((unsigned char)*p)) p++;
    if (p == gb || strncmp(p, "gb", 2) != 0 || p + 2 - s > 20) return false;
    p += 2;
    const bool media = strcmp(p, ".me") == 0;
    if (*p && !media) return false;
    snprintf(profile, 32, "%.*s%s", (int)(p - s), s, media ? "+me" : "");
    return true;
}

/* ---- one container ---------------------------------------------------------------------------- */

struct asked { /* by one container; -1: not said */
    k8s_nano cpu, mem;
    int64_t gpus, shared, mem_mib, mem_percent, cores, slices;
    char slice[32];
};

static bool quantity(const json_t *v, const char *where, const char *key, struct k8s_quantity *out,
                     struct import_row *row)
{
    char buf[40];
    const char *text = k8s_text(v, buf, sizeof buf);
    enum k8s_status st = text ? k8s_quantity_parse(text, strlen(text), out) : K8S_SYNTAX;
    if (st == K8S_OK && (out->nano < 0 || out->nano > K8S_ONE * INT64_MAX)) st = K8S_RANGE;
    if (st == K8S_OK) return true;
    import_quarantine(row, &import_bad_value, "%s: %s \"%s\": %s", where, key, text ? text : "",
                      k8s_why(st));
    return false;
}

/* Cards, MiB and percents come in whole numbers only. */
static bool count(const json_t *v, const char *where, const char *key, int64_t max, int64_t *out,
                  struct import_row *row)
{
    struct k8s_quantity q;
    if (!quantity(v, where, key, &q, row)) return false;
    if (q.nano % K8S_ONE != 0 || q.nano / K8S_ONE > max) {
        import_quarantine(row, &import_bad_value, "%s: %s: expected a whole number up to %lld",
                          where, key, (long long)max);
        return false;
    }
    *out = (int64_t)(q.nano / K8S_ONE);
    return true;
}

static bool memory(const json_t *v, const char *where, k8s_nano *out, struct import_row *row)
{
    struct k8s_quantity q;
    if (!quantity(v, where, "memory", &q, row)) return false;
    if (q.finer_than_one)
        import_repair(row, &k8s_mem_milli);
    else if (q.nano > 0 && q.nano < K8S_ONE << 20)
        import_repair(row, &k8s_mem_tiny);
    *out = q.nano;
    return true;
}

static bool slice(struct asked *a, const char *profile, int64_t n, struct import_row *row)
{
    if (n > 0 && a->slices > 0 && strcmp(a->slice, profile) != 0) {
        import_quarantine(row, &k8s_odd_share, "slices of two kinds: %s and %s", a->slice, profile);
        return false;
    }
    if (n > 0) snprintf(a->slice, sizeof a->slice, "%s", profile);
    a->slices += n;
    return true;
}

static bool resource(struct asked *a, const char *where, const char *key, const json_t *v,
                     bool cards, struct import_row *row)
{
    char profile[32];
    int64_t n;
    struct k8s_quantity q;
    if (strcmp(key, "cpu") == 0) {
        if (!quantity(v, where, key, &q, row)) return false;
        a->cpu = q.nano;
        return true;
    }
    if (strcmp(key, "memory") == 0) return memory(v, where, &a->mem, row);
    if (mig_of_key(key, profile))
        return count(v, where, key, 1000, &n, row) && (!cards || slice(a, profile, n, row));
    struct {
        const char *key;
        int64_t *to, max;
    } counts[] = {
        { "nvidia.com/gpu", &a->gpus, 100000 },
        { "amd.com/gpu", &a->gpus, 100000 },
        { "nvidia.com/gpu.shared", &a->shared, 1000 },
        { "nvidia.com/gpumem", &a->mem_mib, INT64_C(1) << 30 },
        { "nvidia.com/gpumem-percentage", &a->mem_percent, 100 },
        { "nvidia.com/gpucores", &a->cores, 100 },
    };
    for (size_t i = 0; i < COUNT(counts); i++) {
        if (strcmp(key, counts[i].key) != 0) continue;
        if (!count(v, where, key, counts[i].max, &n, row)) return false;
        if (cards) *counts[i].to = n;
        return true;
    }
    if (one_of(key, resource_keys, COUNT(resource_keys)) || str_starts(key, "hugepages-"))
        return true;
    const char *near = str_nearest(key, resource_keys, COUNT(resource_keys));
    if (near || !strchr(key, '/') || str_starts(key, "nvidia.com/"))
        return unknown_key(row, where, key, near);
    return true; /* another vendor's device */
}

/* requests come first, limits count for cards: they must be equal where both name one. */
static bool read_block(struct asked *a, const json_t *container, const char *name,
                       struct import_row *row)
{
    json_t *block = json_object_get(container, "resources"), *v;
    json_t *limits = json_object_get(block, "limits"),
           *requests = json_object_get(block, "requests");
    const char *key;
    char where[120];
    json_object_foreach(block, key, v)
    {
        if (one_of(key, block_keys, COUNT(block_keys))) continue;
        snprintf(where, sizeof where, "resources of \"%.60s\"", name);
        return unknown_key(row, where, key, str_nearest(key, block_keys, COUNT(block_keys)));
    }
    snprintf(where, sizeof where, "limits of \"%.60s\"", name);
    json_object_foreach(limits, key, v)
    {
        if (!resource(a, where, key, v, true, row)) return false;
    }
    snprintf(where, sizeof where, "requests of \"%.60s\"", name);
    json_object_foreach(requests, key, v)
    {
        const bool only_here = !json_object_get(limits, key);
        if (!resource(a, where, key, v, only_here, row)) return false;
    }
    return true;
}

/* ---- cards ------------------------------------------------------------------------------------ */

static bool share_of_mib(int64_t mib, const struct k8s_card *card, const char *what, int64_t *milli,
                         struct import_row *row)
{
    if (card->mem_mib == 0) {
        import_quarantine(row, &k8s_share_unknown, "%s %lld MiB: say --card-memory or --nodes",
                          what, (long long)mib);
        return false;
    }
    if ((uint64_t)mib > card->mem_mib) {
        import_quarantine(row, &k8s_odd_share, "%s %lld MiB: a card has %llu", what, (long long)mib,
                          (unsigned long long)card->mem_mib);
        return false;
    }
    *milli = (int64_t)(((uint64_t)mib * 1000 + card->mem_mib - 1) / card->mem_mib);
    return true;
}

/* A slice as thousandths: its memory units over the card's, rounded down, which makes the mig
 * policy choose a slice of that size again. Without a card, all that know the profile must
 * agree. */
static bool add_slice(struct k8s_demand *d, const char *profile, const struct k8s_card *card,
                      const struct gpu_catalogue *c, struct import_row *row)
{
    int64_t milli = -1;
    uint64_t bytes = 0;
    for (size_t i = 0; c && i < gpu_catalogue_count(c); i++) {
        const struct gpu_spec *g = gpu_catalogue_at(c, i);
        const int p =
            !g->mig || (card->spec && card->spec != g) ? -1 : mig_profile_find(g->mig, profile);
        if (p < 0) continue;
        const struct mig_profile *m = &g->mig->profile[p];
        const int64_t here = m->memory_units * 1000 / g->mig->memory_units;
        if (milli >= 0 && milli != here) {
            import_quarantine(row, &k8s_share_unknown,
                              "%s is another share on another card: say --card or --nodes",
                              profile);
            return false;
        }
        milli = here;
        if (m->usable_bytes && (bytes == 0 || m->usable_bytes < bytes)) bytes = m->usable_bytes;
    }
    if (milli < 0) {
        import_quarantine(row, &k8s_share_unknown,
                          c ? "no card known here has a MIG profile \"%s\""
                            : "%s: the catalogue of cards is not found",
                          profile);
        return false;
    }
    d->gpu_milli += milli;
    d->gpu_mem_bytes += bytes;
    return true;
}

static bool add_cards(struct k8s_demand *d, const struct asked *a, const struct k8s_card *card,
                      const struct gpu_catalogue *c, struct import_row *row)
{
    const bool hami = a->mem_mib > 0 || a->mem_percent > 0 || a->cores > 0;
    int64_t n = a->gpus >= 0 ? a->gpus : hami ? 1 : 0, milli = 1000;
    if (a->cores > 0)
        milli = a->cores * 10;
    else if (a->mem_percent > 0)
        milli = a->mem_percent * 10;
    else if (a->mem_mib > 0 && !share_of_mib(a->mem_mib, card, "gpumem", &milli, row))
        return false;
    else if (!hami && n > 0 && card->replicas > 1)
        milli = 1000 / (int64_t)card->replicas; /* time slicing without a name of its own */
    if (a->shared > 0 && n == 0) {
        if (card->replicas == 0) {
            import_quarantine(row, &k8s_share_unknown,
                              "gpu.shared: replicas of the node are not known: say --nodes");
            return false;
        }
        n = a->shared;
        milli = card->replicas > 1 ? 1000 / (int64_t)card->replicas : 1000;
    }
    if ((n > 0 && a->slices > 0) || milli == 0) {
        import_quarantine(row, &k8s_odd_share, "%lld shares of %lld thousandths, %lld slices",
                          (long long)n, (long long)milli, (long long)a->slices);
        return false;
    }
    d->gpu_milli += n * milli;
    if (n > 1 && milli < 1000) d->shares = n;
    if (n > 0 && a->mem_mib > 0) {
        const uint64_t bytes = (uint64_t)a->mem_mib << 20;
        if (milli < 1000)
            d->gpu_mem_bytes += bytes;
        else if (bytes > d->gpu_mem_bytes)
            d->gpu_mem_bytes = bytes;
    }
    if (a->slices <= 0) return true;
    if (!add_slice(d, a->slice, card, c, row)) return false;
    if (a->slices > 1 && d->gpu_milli < 1000) d->shares = a->slices;
    d->gpu_milli *= a->slices;
    return true;
}

static bool container_demand(struct k8s_demand *d, const json_t *container,
                             const struct k8s_card *card, const struct gpu_catalogue *c,
                             struct import_row *row)
{
    const char *name = json_string_value(json_object_get(container, "name"));
    struct asked a = { .gpus = -1, .shared = -1, .mem_mib = -1, .mem_percent = -1, .cores = -1 };
    *d = (struct k8s_demand){ 0 };
    if (!read_block(&a, container, name ? name : "?", row)) return false;
    d->cpu = a.cpu;
    d->mem = a.mem;
    return add_cards(d, &a, card, c, row);
}

/* ---- the pod ---------------------------------------------------------------------------------- */

static void add(struct k8s_demand *to, const struct k8s_demand *d)
{
    to->cpu += d->cpu;
    to->mem += d->mem;
    if (d->shares || (to->shares && d->gpu_milli > 0))
        to->shares = to->gpu_milli > 0 ? -1 : d->shares;
    if (to->gpu_milli < 1000 && d->gpu_milli < 1000) /* shares of one card add up */
        to->gpu_mem_bytes += d->gpu_mem_bytes;
    else if (d->gpu_mem_bytes > to->gpu_mem_bytes)
        to->gpu_mem_bytes = d->gpu_mem_bytes;
    to->gpu_milli += d->gpu_milli;
}

static void raise_to(struct k8s_demand *to, const struct k8s_demand *d)
{
    if (d->cpu > to->cpu) to->cpu = d->cpu;
    if (d->mem > to->mem) to->mem = d->mem;
    if (d->gpu_milli > to->gpu_milli) to->gpu_milli = d->gpu_milli, to->shares = d->shares;
    if (d->gpu_mem_bytes > to->gpu_mem_bytes) to->gpu_mem_bytes = d->gpu_mem_bytes;
}

static bool containers_demand(struct k8s_demand *out, const json_t *spec,
                              const struct k8s_card *card, const struct gpu_catalogue *c,
                              struct import_row *row)
{
    struct k8s_demand one, sidecars = { 0 }, largest = { 0 };
    size_t i;
    json_t *k;
    *out = (struct k8s_demand){ 0 };
    json_array_foreach(json_object_get(spec, "initContainers"), i, k)
    {
        const char *restart = json_string_value(json_object_get(k, "restartPolicy"));
        if (!container_demand(&one, k, card, c, row)) return false;
        if (restart && strcmp(restart, "Always") == 0) {
            add(&sidecars, &one);
            raise_to(&largest, &sidecars);
        } else {
            add(&one, &sidecars);
            raise_to(&largest, &one);
        }
    }
    json_array_foreach(json_object_get(spec, "containers"), i, k)
    {
        if (!container_demand(&one, k, card, c, row)) return false;
        add(out, &one);
    }
    add(out, &sidecars);
    raise_to(out, &largest);
    return true;
}

static bool overhead(struct k8s_demand *out, const json_t *spec, struct import_row *row)
{
    struct k8s_quantity q;
    const json_t *o = json_object_get(spec, "overhead");
    const json_t *cpu = json_object_get(o, "cpu"), *mem = json_object_get(o, "memory");
    if (cpu) {
        if (!quantity(cpu, "overhead", "cpu", &q, row)) return false;
        out->cpu += q.nano;
    }
    if (mem) {
        if (!quantity(mem, "overhead", "memory", &q, row)) return false;
        out->mem += q.nano;
    }
    return true;
}

/* A number in an annotation: text, "0.5". */
static bool annotation(const json_t *notes, const char *key, int digits, int64_t *out,
                       struct import_row *row)
{
    char buf[40];
    const json_t *v = json_object_get(notes, key);
    const char *text = k8s_text(v, buf, sizeof buf);
    *out = -1;
    if (!v) return true;
    enum dec_status st = text ? dec_fixed_exact(text, strlen(text), digits, out) : DEC_SYNTAX;
    if (st == DEC_OK && *out > 0) return true;
    import_quarantine(row, &import_bad_value, "annotation %s \"%s\": %s", key, text ? text : "",
                      st == DEC_OK ? "expected more than 0" : dec_why(st));
    return false;
}

static bool fraction_notes(struct k8s_demand *out, const json_t *notes, const struct k8s_card *card,
                           struct import_row *row)
{
    int64_t milli, mib, devices;
    if (!annotation(notes, "gpu-fraction", 3, &milli, row) ||
        !annotation(notes, "gpu-memory", 0, &mib, row) ||
        !annotation(notes, "gpu-fraction-num-devices", 0, &devices, row))
        return false;
    if (milli < 0 && mib < 0) return true;
    if (milli < 0 && !share_of_mib(mib, card, "gpu-memory", &milli, row)) return false;
    if (out->gpu_milli > 0 || milli > 1000) {
        import_quarantine(row, &k8s_odd_share, "annotation: %lld thousandths on %lld cards%s",
                          (long long)milli, (long long)(devices > 0 ? devices : 1),
                          out->gpu_milli > 0 ? ", beside a request in a resource block" : "");
        return false;
    }
    if (devices <= 1 || devices >= 100000) devices = 1;
    out->gpu_milli = milli * devices;
    if (devices > 1 && milli < 1000) out->shares = devices;
    if (mib > 0 && mib < INT64_C(1) << 40) out->gpu_mem_bytes = (uint64_t)mib << 20;
    return true;
}

static bool read_notes(struct k8s_demand *out, const json_t *pod, const struct k8s_card *card,
                       const struct gpu_catalogue *c, struct import_row *row)
{
    json_t *notes = json_object_get(json_object_get(pod, "metadata"), "annotations"), *v;
    const char *key;
    char profile[32];
    struct asked a = { .gpus = 0 };
    int64_t n;
    json_object_foreach(notes, key, v)
    {
        const bool mig = mig_of_key(key, profile);
        if (mig) {
            if (!count(v, "annotations", key, 1000, &n, row) || !slice(&a, profile, n, row))
                return false;
        } else if (str_starts(key, "nvidia.com/mig-")) {
            return unknown_key(row, "annotations", key, NULL);
        } else if (!one_of(key, annotation_keys, COUNT(annotation_keys))) {
            const char *near = str_nearest(key, annotation_keys, COUNT(annotation_keys));
            if (near) return unknown_key(row, "annotations", key, near);
        }
    }
    if (a.slices > 0 && out->gpu_milli == 0) return add_cards(out, &a, card, c, row);
    return fraction_notes(out, notes, card, row);
}

bool k8s_demand_read(struct k8s_demand *out, const json_t *pod, const struct k8s_card *card,
                     const struct gpu_catalogue *catalogue, struct import_row *row)
{
    const json_t *spec = json_object_get(pod, "spec");
    return containers_demand(out, spec, card, catalogue, row) && overhead(out, spec, row) &&
           read_notes(out, pod, card, catalogue, row);
}

/* Equal but for case, and a blank for each '-' (labels cannot hold blanks). */
static bool same_product(const char *label, size_t len, const char *name)
{
    for (size_t i = 0; i < len; i++) {
        const char a = label[i] == '-' ? ' ' : label[i], b = name[i] == '-' ? ' ' : name[i];
        if (!name[i] || tolower((unsigned char)a) != tolower((unsigned char)b)) return false;
    }
    return name[len] == '\0';
}

const struct gpu_spec *k8s_product(const struct gpu_catalogue *c, const char *product)
{
    const char *mig = strstr(product, "-MIG-"), *shared = strstr(product, "-SHARED");
    const size_t len = mig      ? (size_t)(mig - product)
                       : shared ? (size_t)(shared - product)
                                : strlen(product);
    for (size_t i = 0; c && i < gpu_catalogue_count(c); i++) {
        const struct gpu_spec *g = gpu_catalogue_at(c, i);
        if (same_product(product, len, g->name)) return g;
        for (int k = 0; k < g->n_aliases; k++)
            if (same_product(product, len, g->aliases[k])) return g;
    }
    return NULL;
}
