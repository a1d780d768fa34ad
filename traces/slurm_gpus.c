#include "traces/slurm_gpus.h"

#include "base/dec.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct import_reason unnamed_tres = {
    "gpus-unnamed", "a resource with a number above 1000: --gpu-tres says which are GPUs", false
};
static const struct import_reason mixed_slices = { "mixed-slices",
                                                   "MIG devices of different sizes in one job",
                                                   false };
static const struct import_reason cpu_job = { "cpu-job", "no GPU (--cpu-jobs drop)", true };
static const struct import_reason gpus_unknown = {
    "gpus-unknown", "the GPU column says N/A or is empty: unknown, not 0", false
};
static const struct import_reason shards = {
    "shards", "parts of a card: --shards-per-gpu says how many make one", false
};
static const struct import_reason odd_gpus = { "odd-gpus",
                                               "neither a fraction of one card nor whole cards",
                                               false };
static const struct import_reason used_request = {
    "requested-gpus", "no allocation is recorded: the GPUs are those asked for", true
};
static const struct import_reason types_disagree = {
    "types-disagree", "the GPUs by type do not add up to gres/gpu, which stands", false
};

/* ---- options ---------------------------------------------------------------------------------- */

static int read_card(struct slurm_gpus *g, struct symtab *names, const char *p, size_t n,
                     struct err *e)
{
    const char *eq = memchr(p, '=', n);
    if (!eq || eq == p || eq + 1 == p + n)
        return err_set(e, ERR_USAGE, NULL, "--gpu-map: expected TYPE=CARD, found \"%.*s\"", (int)n,
                       p);
    struct slurm_card c = { xstrndup(p, (size_t)(eq - p)),
                            symtab_add(names, eq + 1, (size_t)(p + n - eq) - 1) };
    vec_push(&g->cards, c);
    return 0;
}

int slurm_gpus_open(struct slurm_gpus *g, const struct slurm_options *o, struct symtab *names,
                    struct err *e)
{
    int rc = 0;
    g->o = o;
    if (o->gpu_tres) rc = slurm_gpu_ids(&g->ids, o->gpu_tres, e);
    for (const char *p = o->gpu_map; rc == 0 && p && *p;) {
        size_t n = strcspn(p, ",");
        rc = read_card(g, names, p, n, e);
        p += n + (p[n] == ',');
    }
    if (rc == 0 &&
        (o->gpus_per_node > 1000 || o->cpus_per_gpu > 1000000 || o->shards_per_gpu > 1000000))
        rc = err_set(e, ERR_USAGE, NULL,
                     "--gpus-per-node is at most 1000, --cpus-per-gpu and --shards-per-gpu 1e6");
    return rc;
}

void slurm_gpus_fini(struct slurm_gpus *g)
{
    for (size_t i = 0; i < g->cards.n; i++) free(g->cards.v[i].type);
    vec_fini(&g->cards);
}

/* ---- a record --------------------------------------------------------------------------------- */

static sym card_of(const struct slurm_gpus *g, const struct slurm_tres *t)
{
    for (size_t i = 0; t->type && i < g->cards.n; i++)
        if (strlen(g->cards.v[i].type) == t->type_len &&
            memcmp(g->cards.v[i].type, t->type, t->type_len) == 0)
            return g->cards.v[i].card;
    return 0;
}

/* Thousandths of a card that a list names; -1: none; -2: the row is quarantined. */
static int64_t gpus_of(struct slurm_gpus *g, const struct slurm_tres *t, struct import_row *row)
{
    bool disagree;
    int64_t milli = slurm_gpus_milli(t, &disagree);
    g->other_ids += t->other_ids;
    if (disagree) import_repair(row, &types_disagree);
    if (t->slices > 1 && t->typed <= 0 && !disagree) {
        if (t->slices_milli % t->slices != 0) {
            import_quarantine(row, &mixed_slices, "%lld devices", (long long)t->slices);
            return -2;
        }
        if (milli / t->slices < 1000) row->instances = t->slices;
    }
    if (milli > 0 || t->shards <= 0) {
        if (milli >= 0 && t->type) row->job.gpu_model = card_of(g, t);
        return milli;
    }
    if (g->o->shards_per_gpu == 0) {
        import_quarantine(row, &shards, "%lld", (long long)t->shards);
        return -2;
    }
    const int64_t per = g->o->shards_per_gpu;
    if (t->shards >= per) /* shards of different cards: the cards they need at least */
        return t->shards > INT64_C(1) << 40 ? INT64_MAX : (t->shards + per - 1) / per * 1000;
    return (t->shards * 1000 + per - 1) / per;
}

static int64_t mapped_gpus(const struct slurm_gpus *g, const struct slurm_record *r)
{
    const int64_t most = INT64_C(1) << 40;
    if (g->o->gpus_per_node > 0 && r->nodes >= 0 && r->nodes < most)
        return r->nodes * g->o->gpus_per_node * 1000;
    if (g->o->cpus_per_gpu > 0 && r->cpus >= 0 && r->cpus < most)
        return (r->cpus + g->o->cpus_per_gpu - 1) / g->o->cpus_per_gpu * 1000;
    return -1;
}

static bool tres_list(const struct slurm_gpus *g, const char *what, const char *s, size_t len,
                      struct slurm_tres *t, struct import_row *row)
{
    size_t bad;
    if (slurm_tres(s, len, &g->ids, t, &bad)) return true;
    import_quarantine(row, &import_bad_value, "%s: entry at byte %zu: \"%.*s\"", what, bad + 1,
                      (int)(len < 60 ? len : 60), s);
    return false;
}

static void read_host(const struct slurm_record *r, const struct slurm_tres *t, struct job_row *j)
{
    const int64_t cpus = r->cpus >= 0 ? r->cpus : t->cpus;
    const int64_t mem = t->mem_bytes > 0 ? t->mem_bytes : r->mem_bytes;
    if (cpus >= 0 && cpus <= INT32_MAX / 1000) j->cpus_milli = (int32_t)(cpus * 1000);
    if (mem > 0) j->mem_bytes = (uint64_t)mem;
}

/* The list that says what the job held, and its GPUs: thousandths, -1 unknown, -2 quarantined. */
static int64_t held(struct slurm_gpus *g, struct slurm_record *r, struct import_row *row)
{
    struct slurm_tres alloc, req, gres;
    int64_t milli = -1;
    const bool has_alloc = r->alloc_tres && !slurm_missing(r->alloc_tres, r->alloc_tres_len);
    const bool has_req = r->req_tres && !slurm_missing(r->req_tres, r->req_tres_len);
    const bool has_gres = r->gres && !slurm_missing(r->gres, r->gres_len);
    if (!tres_list(g, "AllocTRES", r->alloc_tres, has_alloc ? r->alloc_tres_len : 0, &alloc, row) ||
        !tres_list(g, "ReqTRES", r->req_tres, has_req ? r->req_tres_len : 0, &req, row))
        return -2;
    const struct slurm_tres *host = has_alloc ? &alloc : &req;
    if (r->nodes < 0) r->nodes = host->nodes;
    read_host(r, host, &row->job);
    if (r->cpus < 0) r->cpus = host->cpus;
    if (has_alloc) milli = gpus_of(g, &alloc, row);
    if (milli == -1 && has_gres) {
        size_t bad;
        const int64_t times = r->nodes > 0 && !r->gres_of_all_nodes ? r->nodes : 1;
        if (!slurm_gres(r->gres, r->gres_len, times, &gres, &bad)) {
            import_quarantine(row, &import_bad_value, "GRES: entry at byte %zu", bad + 1);
            return -2;
        }
        milli = gpus_of(g, &gres, row);
    }
    if (milli == -1 && !has_alloc && has_req) {
        milli = gpus_of(g, &req, row);
        if (milli > 0) import_repair(row, &used_request);
    }
    if (milli == -1) milli = mapped_gpus(g, r);
    /* a list without a GPU says that there was none; N/A says nothing */
    if (milli == -1 && (has_alloc || has_req || has_gres || (r->gres && r->gres_len == 0)))
        milli = 0;
    if (milli == 0 && (alloc.other_ids || (!has_alloc && req.other_ids)) && g->ids.n == 0 &&
        g->o->cpu_jobs != CPU_JOBS_keep) {
        import_quarantine(row, &unnamed_tres, "%s", "");
        return -2;
    }
    return milli;
}

void slurm_gpus_read(struct slurm_gpus *g, struct slurm_record *r, struct import_row *row)
{
    int64_t milli = r->gpus_said ? r->gpus_milli : held(g, r, row);
    if (r->gpus_said) read_host(r, &(struct slurm_tres){ .cpus = -1, .mem_bytes = -1 }, &row->job);
    if (r->gpus_said && milli == 0) {
        milli = mapped_gpus(g, r);
        if (milli < 0) milli = 0;
    }
    if (milli == -2) return;
    if (milli == -1) {
        if (g->o->cpu_jobs != CPU_JOBS_keep) import_quarantine(row, &gpus_unknown, "%s", "");
        return;
    }
    if (row->instances > 1) milli /= row->instances;
    if (milli > INT32_MAX || !job_gpus_ok((int32_t)milli)) {
        char text[32];
        dec_print(text, sizeof text, milli, 3);
        import_quarantine(row, &odd_gpus, "%s GPUs", text);
        return;
    }
    row->job.gpus_milli = (int32_t)milli;
    row->asked = true;
    if (milli == 0 && g->o->cpu_jobs == CPU_JOBS_drop) import_quarantine(row, &cpu_job, "%s", "");
}
