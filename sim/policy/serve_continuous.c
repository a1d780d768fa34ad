/* policy/serve_continuous.c - continuous batching of a language model, iteration by iteration (reference llm,
 * section 4, after vLLM's scheduler):
 * 1. Each decoding sequence takes one token of the step's budget, and a new block of KV cache when its
 *    cached length is a multiple of the block. Where blocks run out, sequences are evicted from the tail of
 *    the running list (blocks freed, to the head of the waiting list, prompt and answer so far computed
 *    again later) until the rest fits; a step that evicted admits nobody.
 * 2. Prompts that are being filled in go on with what is left of the budget; then waiting requests are
 *    admitted, first come first served, while budget, `max_seqs` and blocks for their whole prompt allow.
 *    Of a prompt, what stands in the cache is not computed again (at least one token is): where the trace
 *    numbers its blocks, those at its start that this replica still holds (policy/prefix_cache.h), else the
 *    share `prefix_hit`. Sequences share the memory of blocks they have in common, and blocks that nobody
 *    uses stay as long as nobody needs the memory. A prompt finds what those in front of it fill in by the
 *    same step, as in vLLM: by then they are filled in as far as it needs, for prompts go in turn.
 * 3. The step lasts what model/llm_step.h says; a sequence whose prompt is complete emits its first token at
 *    the end of it.
 *
 * Steps without a prompt are not simulated one by one: every decoding sequence gains one token a step, so
 * one that has r tokens to go at step s ends with step s + r, and a heap by last step never changes; m such
 * steps take a closed form; the steps until blocks run out follow from how many sequences have which length
 * modulo the block. "aggregate": false walks through every step: the same times (tests/property).
 *
 * Complexity: O(log n) for a request and phase, O(block) for a stretch. */
#include "engine/serve.h"

#include "base/err.h"
#include "base/vec.h"
#include "model/job.h"
#include "policy/call_list.h"
#include "policy/prefix_cache.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_BLOCK = 256 };

struct continuous {
    int64_t max_seqs, max_tokens, block, kv_blocks;
    double prefix_hit, memory_share, mixed_kv, history_ns;
    bool prefix_cache;
    uint64_t reserve;
    simtime host;
    int graphs;
    bool aggregate;
};

enum { GRAPHS_NONE, GRAPHS_PIECEWISE, GRAPHS_FULL };
static const char *const graph_names[] = { "none", "piecewise", "full", NULL };

static const struct cfg_field fields[] = {
    CFG_FIELD(struct continuous, max_seqs, CFG_INT, "256", 1, 65536,
              "sequences that run at a time"),
    CFG_FIELD(struct continuous, max_tokens, CFG_INT, "2048", 1, 1e7,
              "tokens of a step: budget of chunked prefill"),
    CFG_FIELD(struct continuous, block, CFG_INT, "16", 1, MAX_BLOCK,
              "tokens of a block of KV cache"),
    CFG_FIELD(struct continuous, kv_blocks, CFG_INT, NULL, 1, 1e12,
              "blocks of KV cache; absent: what memory leaves"),
    CFG_FIELD(struct continuous, memory_share, CFG_RATIO, "0.9", 0.05, 1,
              "part of the memory that the engine takes, where \"need\" does not say"),
    CFG_FIELD(struct continuous, reserve, CFG_BYTES, "3 GB", 0, 1e12,
              "memory for activations and graphs, per card"),
    CFG_FIELD(struct continuous, prefix_hit, CFG_RATIO, "0", 0, 1,
              "share of a prompt that is found in the cache, where its blocks are not known"),
    CFG_FIELD(struct continuous, prefix_cache, CFG_BOOL, "true", 0, 0,
              "blocks of prompts (\"hash_ids\" of the trace) are kept and found again"),
    CFG_FIELD(struct continuous, host, CFG_TIME, NULL, 0, 10,
              "time of the engine per step; default of the card's constants"),
    CFG_FIELD(struct continuous, mixed_kv, CFG_REAL, NULL, 1, 10,
              "cost of reading KV beside a prompt, as a multiple; default by card"),
    CFG_FIELD(struct continuous, history_ns, CFG_REAL, NULL, 0, 1e6,
              "per layer and token before a prompt's chunk, ns; default by card"),
    CFG_ONE_OF(struct continuous, graphs, graph_names, "piecewise",
               "CUDA graphs, for what interception costs per launch: none, piecewise, full"),
    CFG_FIELD(struct continuous, aggregate, CFG_BOOL, "true", 0, 0,
              "steps between changes of the batch are one stretch; false: each, to the same end"),
};

static const char *check(const void *params)
{
    const struct continuous *p = params;
    return p->max_seqs > p->max_tokens
               ? "\"max_tokens\" must hold a token of each of \"max_seqs\" sequences"
               : NULL;
}

static void constants(const void *params, struct llm_constants *c)
{
    const struct continuous *p = params;
    if (p->host != CFG_NO_TIME) c->host_ms = (double)p->host / 1e6;
    if (!isnan(p->mixed_kv)) c->mixed_kv = p->mixed_kv;
    if (!isnan(p->history_ns)) c->history_ns = p->history_ns;
}

static double kv_tokens(const void *params, const struct llm_shape *m, double bytes, bool stated,
                        int tp)
{
    const struct continuous *p = params;
    const double share = stated ? 1.0 : p->memory_share;
    if (p->kv_blocks != CFG_NO_INT) return (double)(p->kv_blocks * p->block);
    const double tokens = llm_kv_tokens(m, bytes, share, (double)p->reserve, tp);
    return floor(tokens / (double)p->block) * (double)p->block;
}

/* About 11 kernels a layer, launched one by one, or what graphs leave of them. */
static double kernels(const void *params, double layers)
{
    const struct continuous *p = params;
    return p->graphs == GRAPHS_NONE        ? 11 * layers
           : p->graphs == GRAPHS_PIECEWISE ? 2 * layers + 1
                                           : 3;
}

/* ---- one replica ---- */

struct engine {
    const struct continuous *p;
    struct serve_part part;
    simtime timeout;
    struct call_list running, waiting;
    struct serve_call *fill, *fill_last; /* being filled in, in the order of the running list */
    VEC(struct serve_call *) heap;       /* decoding, by last step */
    int64_t step;
    double kv;                  /* tokens cached by decoding sequences */
    int64_t free_blocks;        /* or held by blocks of prompts that nobody uses */
    struct prefix_cache *cache; /* NULL: none */
    uint32_t phase[MAX_BLOCK];  /* decoding sequences by (cached - step) modulo the block */
    double tokens;              /* in and out, of all requests here */
    /* the stretch under way */
    int64_t m;
    bool filling;
    double length_ns;
    bool new_head; /* another one waits first than when it began */
};

static void *create(const void *params, const struct serve_part *part, const struct symtab *names,
                    simtime timeout)
{
    struct engine *e = xcalloc(1, sizeof *e);
    e->p = params;
    e->part = *part;
    e->timeout = timeout;
    e->free_blocks = (int64_t)part->kv_tokens / e->p->block;
    if (e->p->prefix_cache) e->cache = prefix_cache_create(names, e->p->block);
    return e;
}

static void destroy(void *state)
{
    struct engine *e = state;
    if (!e) return;
    vec_fini(&e->heap);
    prefix_cache_destroy(e->cache);
    free(e);
}

/* ---- the heap of last steps; equal ones leave as it has them, which turns on nothing but who
 * came and went ---- */

static bool sooner(const struct serve_call *a, const struct serve_call *b)
{
    return a->last_step < b->last_step;
}

static void heap_put(struct engine *e, size_t at, struct serve_call *q)
{
    e->heap.v[at] = q;
    q->heap = at;
}

static void heap_up(struct engine *e, size_t at, struct serve_call *q)
{
    for (size_t up; at > 0 && sooner(q, e->heap.v[up = (at - 1) / 2]); at = up)
        heap_put(e, at, e->heap.v[up]);
    heap_put(e, at, q);
}

static void heap_down(struct engine *e, size_t at, struct serve_call *q)
{
    for (size_t child; (child = 2 * at + 1) < e->heap.n; at = child) {
        if (child + 1 < e->heap.n && sooner(e->heap.v[child + 1], e->heap.v[child])) child++;
        if (!sooner(e->heap.v[child], q)) break;
        heap_put(e, at, e->heap.v[child]);
    }
    heap_put(e, at, q);
}

static void heap_remove(struct engine *e, struct serve_call *q)
{
    struct serve_call *last = e->heap.v[--e->heap.n];
    const size_t at = q->heap;
    if (last == q) return;
    if (sooner(last, q))
        heap_up(e, at, last);
    else
        heap_down(e, at, last);
}

/* ---- blocks ---- */

static int64_t blocks_of(const struct engine *e, int64_t tokens)
{
    return (tokens + e->p->block - 1) / e->p->block;
}

static uint32_t *phase_of(struct engine *e, int64_t cached)
{
    const int64_t b = e->p->block;
    return &e->phase[((cached - e->step) % b + b) % b];
}

/* Where the phase stands of those that need a block for step `step`; for the step after it. */
static int64_t due(const struct engine *e)
{
    const int64_t late = e->step % e->p->block;
    return late ? e->p->block - late : 0;
}

static int64_t due_after(const struct engine *e, int64_t at)
{
    return (at ? at : e->p->block) - 1;
}

/* Blocks that step `step` takes. */
static int64_t need_now(const struct engine *e)
{
    return e->phase[due(e)];
}

static int64_t need_of(const struct engine *e, int64_t steps)
{
    const int64_t rounds = steps / e->p->block;
    int64_t sum = rounds * (int64_t)e->heap.n, at = due(e);
    for (int64_t k = rounds * e->p->block; k < steps; k++, at = due_after(e, at))
        sum += e->phase[at];
    return sum;
}

/* The most steps, up to `most`, whose blocks are there. */
static int64_t steps_with_blocks(const struct engine *e, int64_t most)
{
    const int64_t n = (int64_t)e->heap.n;
    if (need_of(e, most) <= e->free_blocks) return most;
    const int64_t rounds = e->free_blocks / n;
    int64_t left = e->free_blocks - rounds * n, k = 0;
    /* Ends within a round: that needs n. */
    for (int64_t at = due(e); e->phase[at] <= left; at = due_after(e, at), k++)
        left -= e->phase[at];
    return rounds * e->p->block + k;
}

/* ---- blocks of prompts ---- */

static struct prefix prefix_of(const struct engine *e, const struct serve_call *q)
{
    return (struct prefix){ e->cache ? q->blocks : 0, q->block_tokens, q->input };
}

/* Blocks that it takes of those that are free. */
static int64_t blocks_for(const struct engine *e, const struct serve_call *q)
{
    const struct prefix p = prefix_of(e, q);
    if (!p.chain) return blocks_of(e, q->target);
    const struct prefix_need need = prefix_cache_look(e->cache, &p);
    return need.units + blocks_of(e, q->target - need.shared);
}

static void take_blocks(struct engine *e, struct serve_call *q)
{
    const struct prefix p = prefix_of(e, q);
    q->shared = 0;
    if (p.chain) {
        const struct prefix_need need = prefix_cache_look(e->cache, &p);
        q->shared = need.shared;
        q->done = need.hit < q->target ? need.hit : q->target - 1;
        prefix_cache_use(e->cache, &p);
        e->free_blocks -= need.units;
    }
    e->free_blocks -= blocks_of(e, q->target - q->shared);
    if (e->cache) prefix_cache_trim(e->cache, e->free_blocks);
}

/* `length`: tokens it has blocks for; `done`: tokens of its prompt that are filled in. */
static void give_blocks(struct engine *e, const struct serve_call *q, int64_t length, int64_t done)
{
    const struct prefix p = prefix_of(e, q);
    e->free_blocks += blocks_of(e, length - q->shared);
    if (p.chain) e->free_blocks += prefix_cache_release(e->cache, &p, done);
}

/* ---- sequences change their state ---- */

static int64_t cached(const struct engine *e, const struct serve_call *q)
{
    return q->base + (e->step - q->from_step);
}

static void stop_decoding(struct engine *e, struct serve_call *q)
{
    const int64_t length = cached(e, q);
    heap_remove(e, q);
    q->decoding = false;
    e->kv -= (double)length;
    --*phase_of(e, length - q->shared);
    give_blocks(e, q, length, q->input);
    if (e->heap.n == 0) e->kv = 0;
}

static void start_decoding(struct engine *e, struct serve_call *q)
{
    q->decoding = true;
    q->base = q->target;
    q->from_step = e->step;
    q->last_step = e->step + (q->output - q->emitted);
    e->kv += (double)q->base;
    ++*phase_of(e, q->base - q->shared);
    vec_push(&e->heap, q);
    heap_up(e, e->heap.n - 1, q);
}

static void fill_push(struct engine *e, struct serve_call *q)
{
    q->fill = NULL;
    if (e->fill)
        e->fill_last->fill = q;
    else
        e->fill = q;
    e->fill_last = q;
}

static void fill_remove(struct engine *e, struct serve_call *q)
{
    struct serve_call *before = NULL;
    for (struct serve_call *at = e->fill; at != q; at = at->fill) before = at;
    if (before)
        before->fill = q->fill;
    else
        e->fill = q->fill;
    if (e->fill_last == q) e->fill_last = before;
}

/* The last one that was admitted gives its blocks back, and begins anew later with what it has
 * said so far. */
static void evict(struct engine *e)
{
    struct serve_call *q = e->running.tail;
    if (!q) BUG("no block for a lone sequence");
    if (q->decoding) {
        q->emitted += e->step - q->from_step;
        stop_decoding(e, q);
    } else {
        give_blocks(e, q, q->target, q->done);
        fill_remove(e, q);
    }
    call_list_remove(&e->running, q);
    q->target = q->input + q->emitted;
    q->done = 0;
    call_list_push_front(&e->waiting, q);
}

static void take_leave(struct engine *e, struct serve_call *q, struct serve_news *news)
{
    e->tokens -= (double)(q->input + q->output);
    q->next = NULL;
    if (news->last)
        news->last->next = q;
    else
        news->left = q;
    news->last = q;
}

/* By arrival, behind those that were evicted: who comes from a replica that was struck is older
 * than others here, and times out before them. */
static void wait_in_turn(struct engine *e, struct serve_call *q)
{
    const struct serve_call *last = e->waiting.tail;
    struct serve_call *at = NULL;
    if (last && last->began == JOB_NO_TIME && last->arrival > q->arrival)
        for (at = e->waiting.head; at->began != JOB_NO_TIME || at->arrival <= q->arrival;)
            at = at->next;
    call_list_insert(&e->waiting, q, at);
    if (e->waiting.head == q) e->new_head = true;
}

static void join(void *state, struct serve_call *q)
{
    struct engine *e = state;
    const int64_t hit = (int64_t)floor(e->p->prefix_hit * (double)q->input);
    q->target = q->input > 0 ? q->input : 1;
    q->done = hit < q->target ? hit : q->target - 1;
    q->emitted = 0;
    q->decoding = false;
    e->tokens += (double)(q->input + q->output);
    wait_in_turn(e, q);
}

/* ---- steps ---- */

/* Who should have begun before `until` leaves. Those that were evicted stand in front, and have
 * been served in part: they stay. */
static simtime expire_until(struct engine *e, simtime until, struct serve_news *news)
{
    if (e->timeout == CFG_NO_TIME) return SIM_NEVER;
    struct serve_call *q = e->waiting.head, *following;
    while (q && q->began != JOB_NO_TIME) q = q->next;
    for (; q; q = following) {
        following = q->next;
        if (until - q->arrival <= e->timeout)
            return e->timeout < SIM_NEVER - 1 - q->arrival ? q->arrival + e->timeout : SIM_NEVER;
        if (q == e->waiting.head) e->new_head = true;
        call_list_remove(&e->waiting, q);
        q->timed_out = true;
        take_leave(e, q, news);
    }
    return SIM_NEVER;
}

static simtime expire(void *state, simtime now, struct serve_news *news)
{
    return expire_until(state, now + 1, news);
}

static void admit(struct engine *e, struct serve_call *q, simtime now, struct serve_news *news)
{
    call_list_remove(&e->waiting, q);
    call_list_push(&e->running, q);
    fill_push(e, q);
    take_blocks(e, q);
    if (q->began != JOB_NO_TIME) return;
    q->began = now;
    q->hit = q->done;
    news->begun++;
}

static int64_t chunk_of(struct serve_call *q, int64_t budget)
{
    const int64_t rest = q->target - q->done;
    return q->chunk = rest < budget ? rest : budget;
}

/* Tokens, pairs and longest history of the prompts that ride in this step. */
static void fill_step(struct engine *e, simtime now, bool admits, struct serve_news *news,
                      struct llm_step *s)
{
    int64_t budget = e->p->max_tokens - (int64_t)e->heap.n;
    const int64_t need = need_now(e);
    for (struct serve_call *q = e->fill; q; q = q->fill) budget -= chunk_of(q, budget);
    while (admits && budget > 0 && e->waiting.n && (int64_t)e->running.n < e->p->max_seqs) {
        struct serve_call *q = e->waiting.head;
        if (blocks_for(e, q) > e->free_blocks - need) break;
        admit(e, q, now, news);
        budget -= chunk_of(q, budget);
    }
    for (struct serve_call *q = e->fill; q && q->chunk > 0; q = q->fill) {
        s->tokens += (double)q->chunk;
        s->pairs += (double)q->chunk * ((double)q->done + (double)q->chunk / 2);
        s->history = fmax(s->history, (double)q->done);
    }
}

static double decode_ns(const struct engine *e, int64_t steps)
{
    return 1e6 * llm_decode_ms(&e->part.cost, (double)e->heap.n, e->kv, (double)steps);
}

static double next(void *state, simtime now, struct llm_step *step, struct serve_news *news)
{
    struct engine *e = state;
    bool evicted = false;
    expire_until(e, now, news); /* who has waited just so long may begin now */
    e->new_head = false;
    if (e->running.n + e->waiting.n == 0) return 0;
    for (; need_now(e) > e->free_blocks; evicted = true) evict(e);
    struct llm_step s = { .tokens = (double)e->heap.n, .seqs = (double)e->heap.n, .kv = e->kv };
    fill_step(e, now, !evicted, news, &s);
    *step = s;
    e->filling = s.pairs > 0;
    e->m = 1;
    if (e->filling) return e->length_ns = 1e6 * llm_step_ms(&e->part.cost, &s);
    if (e->heap.n == 0) { /* everybody was evicted, or nobody fits: neither can be */
        if (evicted) return next(state, now, step, news);
        BUG("%llu requests wait and none can begin", (unsigned long long)e->waiting.n);
    }
    /* After an eviction there may be a place for somebody in the next step already. */
    if (e->p->aggregate && !evicted) e->m = steps_with_blocks(e, e->heap.v[0]->last_step - e->step);
    return e->length_ns = decode_ns(e, e->m);
}

/* Of the stretch of decoding under way. A step that ends at this very instant has ended. */
static int64_t whole_steps(const struct engine *e, double done_ns)
{
    int64_t m = (int64_t)llm_decode_steps(&e->part.cost, (double)e->heap.n, e->kv, done_ns / 1e6);
    if (m > 0 && decode_ns(e, m) > done_ns) m--;
    return m < e->m ? m : e->m;
}

/* Only who comes first in the waiting list, and finds a place, can change anything before the batch
 * does. */
static double cut(void *state, double done_ns)
{
    struct engine *e = state;
    const bool matters = e->new_head && e->waiting.n > 0 && (int64_t)e->running.n < e->p->max_seqs;
    e->new_head = false;
    if (e->filling || e->m == 1 || !matters) return e->length_ns;
    const int64_t m = whole_steps(e, done_ns) + 1;
    if (m < e->m) e->m = m;
    return e->length_ns = decode_ns(e, e->m);
}

static void done(void *state, simtime now, struct serve_news *news)
{
    struct engine *e = state;
    struct serve_call *q, *following;
    e->free_blocks -= need_of(e, e->m);
    if (e->cache) prefix_cache_trim(e->cache, e->free_blocks);
    e->kv += (double)e->heap.n * (double)e->m;
    e->step += e->m;
    while (e->heap.n && e->heap.v[0]->last_step <= e->step) {
        q = e->heap.v[0];
        stop_decoding(e, q);
        call_list_remove(&e->running, q);
        take_leave(e, q, news);
    }
    for (q = e->filling ? e->fill : NULL; q; q = following) {
        following = q->fill;
        q->done += q->chunk;
        q->chunk = 0;
        if (q->done < q->target) continue;
        fill_remove(e, q);
        if (q->first == JOB_NO_TIME) q->first = now;
        if (++q->emitted < q->output) {
            start_decoding(e, q);
        } else {
            give_blocks(e, q, q->target, q->input);
            call_list_remove(&e->running, q);
            take_leave(e, q, news);
        }
    }
}

static struct serve_call *drain(void *state)
{
    struct engine *e = state;
    struct serve_call *first = e->running.head ? e->running.head : e->waiting.head;
    if (e->running.tail) e->running.tail->next = e->waiting.head;
    e->running = e->waiting = (struct call_list){ 0 };
    e->fill = NULL;
    e->heap.n = 0;
    e->kv = e->tokens = 0;
    e->step = 0;
    for (int i = 0; i < MAX_BLOCK; i++) e->phase[i] = 0;
    e->free_blocks = (int64_t)e->part.kv_tokens / e->p->block;
    prefix_cache_destroy(e->cache);
    e->cache = NULL;
    return first;
}

/* The cache loses blocks step by step to those that decode. */
static int64_t match(void *state, const struct serve_call *q, double done_ns)
{
    struct engine *e = state;
    const struct prefix p = prefix_of(e, q);
    if (!p.chain) return 0;
    if (!e->filling && e->heap.n > 0 && e->m > 1)
        prefix_cache_trim(e->cache, e->free_blocks - need_of(e, whole_steps(e, done_ns)));
    return prefix_cache_look(e->cache, &p).hit;
}

static void load(const void *state, uint64_t *waiting, uint64_t *in_service, double *tokens_)
{
    const struct engine *e = state;
    *waiting = e->waiting.n;
    *in_service = e->running.n;
    *tokens_ = e->tokens;
}

const struct serve_ops serve_continuous = {
    .name = "continuous",
    .help =
        "language models: requests join and leave between iterations; chunked prefill, KV cache",
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct continuous),
    .check = check,
    .tokens = true,
    .constants = constants,
    .kv_tokens = kv_tokens,
    .kernels = kernels,
    .create = create,
    .destroy = destroy,
    .join = join,
    .expire = expire,
    .next = next,
    .cut = cut,
    .done = done,
    .drain = drain,
    .load = load,
    .match = match,
};
