#include "engine/job.h"

#include "base/vec.h"

#include <math.h>
#include <string.h>

enum { CHUNK_BYTES = 2 << 20, CHUNK = CHUNK_BYTES / sizeof(struct job) }; /* a huge page */

const char *const job_state_names[] = { "queued", "starting", "running", "completed",
                                        "failed", "killed",   "rejected" };

/* Chunks never move, so pointers to jobs stay good while others come and go. */
struct job_pool {
    VEC(struct job *) chunk;
    VEC(uint32_t) free;
    uint32_t used;
};

struct job_pool *job_pool_create(void)
{
    return xcalloc(1, sizeof(struct job_pool));
}

struct job *job_at(const struct job_pool *p, uint32_t index)
{
    return &p->chunk.v[index / CHUNK][index % CHUNK];
}

uint32_t job_pool_high_water(const struct job_pool *p)
{
    return p->used;
}

static void release(struct job *j)
{
    free(j->id_heap);
    if (j->holding != &j->one) free(j->holding);
    free(j->size);
    j->id_heap = NULL;
    j->size = NULL;
    j->holding = NULL;
}

void job_pool_destroy(struct job_pool *p)
{
    if (!p) return;
    for (uint32_t i = 0; i < p->used; i++) release(job_at(p, i));
    for (size_t i = 0; i < p->chunk.n; i++) free(p->chunk.v[i]);
    vec_fini(&p->chunk);
    vec_fini(&p->free);
    free(p);
}

static void copy_id(struct job *j, const struct job_row *row)
{
    char *to = j->id_inline;
    if (row->id_len >= sizeof j->id_inline) to = j->id_heap = xmalloc(row->id_len + 1);
    memcpy(to, row->id, row->id_len);
    to[row->id_len] = '\0';
    j->row.id = to;
}

struct job *job_new(struct job_pool *p, const struct job_row *row)
{
    uint32_t index;
    if (p->free.n > 0) {
        index = p->free.v[--p->free.n];
    } else {
        if (p->used % CHUNK == 0) vec_push(&p->chunk, xcalloc_lines(1, CHUNK_BYTES));
        index = p->used++;
    }
    struct job *j = job_at(p, index);
    *j = (struct job){ .index = index,
                       .state = JOB_QUEUED,
                       .group = -1,
                       .node = -1,
                       .allocated = JOB_NO_TIME,
                       .start = JOB_NO_TIME,
                       .end = JOB_NO_TIME,
                       .finish = SIM_NEVER,
                       .wires = 1,
                       .stretch = 1,
                       .scale = 1 };
    j->row = *row; /* apart: beside constants it would be made elsewhere and copied */
    j->remaining = row->duration;
    j->gpus_milli = row->gpus_milli;
    copy_id(j, row);
    return j;
}

void job_free(struct job_pool *p, struct job *j)
{
    release(j);
    vec_push(&p->free, j->index);
}

simtime job_line(const struct job *j)
{
    return j->saves ? checkpoint_line(j->saves, j->row.duration, j->remaining) : j->remaining;
}

/* It was moved and is not at work again: work_left is what it brings along. */
static bool on_its_way(const struct job *j)
{
    return j->state == JOB_STARTING && j->n_holdings > 0 && j->here > j->allocated;
}

/* With the pauses for its checkpoints. */
static simtime line_left(const struct job *j, simtime now)
{
    if (j->state != JOB_RUNNING && !on_its_way(j)) return j->remaining;
    const double factor = j->scale;
    simtime left = j->work_left;
    if (j->n_holdings == 0) /* without cards it runs to its end */
        left = j->finish - now;
    else if (j->state == JOB_RUNNING && j->speed == 1.0 && j->work_credit == 0)
        left -= now - j->settled;
    else if (j->state == JOB_RUNNING)
        left -= (int64_t)floor((double)(now - j->settled) * j->speed + j->work_credit);
    if (left < 0) left = 0;
    if (factor == 1.0) return left;
    const double recorded = (double)left / factor, most = (double)job_line(j);
    return recorded < most ? llround(recorded) : job_line(j);
}

simtime job_remaining(const struct job *j, simtime now)
{
    const simtime line = line_left(j, now);
    const bool there = (j->state == JOB_RUNNING || on_its_way(j)) && j->saves;
    return there ? checkpoint_left(j->saves, j->row.duration, line) : line;
}

simtime job_saved(const struct job *j, simtime now, simtime every)
{
    if ((j->state == JOB_RUNNING || on_its_way(j)) && j->saves)
        return checkpoint_saved(j->saves, j->row.duration, line_left(j, now));
    const simtime done = j->row.duration - job_remaining(j, now);
    return done - done % every;
}

simtime job_once_stopped(const struct job *j, simtime now, simtime every)
{
    const simtime left =
        every > 0 ? j->row.duration - job_saved(j, now, every) : job_remaining(j, now);
    return left < j->remaining ? left : j->remaining;
}

simtime job_limit(const struct job *j)
{
    if (j->row.walltime == JOB_NO_TIME || !j->n_sizes) return j->row.walltime;
    /* What the limit leaves of an elastic job's work, at the rate it has now. */
    const simtime done = j->row.duration - j->remaining;
    const double left = (double)(j->row.walltime > done ? j->row.walltime - done : 0) * j->stretch;
    return left < 9.2e18 ? llround(left) : SIM_NEVER - 1;
}

simtime job_held(const struct job *j, simtime now)
{
    const bool there = j->state == JOB_STARTING || j->state == JOB_RUNNING;
    return there ? j->held + (now - j->allocated) : j->held;
}

int64_t job_card_us(const struct job *j, simtime time)
{
    int64_t us;
    return __builtin_mul_overflow(time / 1000000, j->row.gpus_milli, &us) ? INT64_MAX : us;
}

void job_unplace(struct job *j)
{
    if (j->holding != &j->one) free(j->holding);
    j->holding = NULL;
    j->n_holdings = 0;
    j->node = -1;
    j->group = -1;
    j->speed = 0;
    j->work_credit = 0;
    j->finish = SIM_NEVER;
    j->event = (ev_id){ 0, 0 };
    j->state = JOB_QUEUED;
}
