#include "engine/job.h"

#include "base/vec.h"

#include <string.h>

enum { CHUNK = 1024 };

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
    j->id_heap = NULL;
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
        if (p->used % CHUNK == 0) vec_push(&p->chunk, xcalloc(CHUNK, sizeof(struct job)));
        index = p->used++;
    }
    struct job *j = job_at(p, index);
    *j = (struct job){ .index = index, .row = *row, .state = JOB_QUEUED, .group = -1, .node = -1,
                       .allocated = JOB_NO_TIME, .start = JOB_NO_TIME, .end = JOB_NO_TIME,
                       .finish = SIM_NEVER };
    copy_id(j, row);
    return j;
}

void job_free(struct job_pool *p, struct job *j)
{
    release(j);
    vec_push(&p->free, j->index);
}
