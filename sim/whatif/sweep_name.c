#include "whatif/sweep_name.h"

#include "base/instream.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "whatif/inputs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Hashes of files that many points share, each read once. */
struct sweep_namer {
    pthread_mutex_t lock;
    struct arena *arena;
    VEC(struct file_hash {
        const char *path;
        char hex[65];
    })
    known;
};

static int add_file(void *to, const char *kind, const char *path, struct err *e)
{
    char hex[65];
    const int rc = instream_file_sha256(path, hex, e);
    (void)kind;
    if (rc == 0) strbuf_addf(to, "%s\n", hex);
    return rc;
}

/* With the lock held. `specification`: and of the recordings that it draws from. */
static int add_hash(struct sweep_namer *h, struct strbuf *to, const char *path, bool specification,
                    struct err *e)
{
    struct strbuf all = { 0 };
    if (!path) return 0;
    for (size_t i = 0; i < h->known.n; i++)
        if (strcmp(h->known.v[i].path, path) == 0) {
            strbuf_addf(to, "%s\n", h->known.v[i].hex);
            return 0;
        }
    int rc = add_file(&all, NULL, path, e);
    if (rc == 0 && specification) rc = inputs_recorded(path, add_file, &all, e);
    if (rc == 0) {
        struct file_hash f = { .path = arena_strdup(h->arena, path) };
        sha256_hex(all.s, all.len, f.hex);
        vec_push(&h->known, f);
        strbuf_addf(to, "%s\n", f.hex);
    }
    strbuf_fini(&all);
    return rc;
}

struct naming {
    struct sweep_namer *h;
    struct strbuf text;
};

static int add_beside(void *ctx, const char *kind, const char *path, struct err *e)
{
    struct naming *n = ctx;
    (void)kind;
    return add_hash(n->h, &n->text, path, false, e);
}

struct sweep_namer *sweep_namer_create(void)
{
    struct sweep_namer *h = xcalloc(1, sizeof *h);
    pthread_mutex_init(&h->lock, NULL);
    h->arena = arena_create();
    return h;
}

void sweep_namer_destroy(struct sweep_namer *h)
{
    if (!h) return;
    pthread_mutex_destroy(&h->lock);
    vec_fini(&h->known);
    arena_destroy(h->arena);
    free(h);
}

int sweep_name(struct sweep_namer *h, const struct runner *r, const struct sweep_options *o,
               char sha256[65], struct err *e)
{
    const struct scenario *s = &r->scenario;
    struct naming n = { .h = h };
    struct strbuf *b = &n.text;
    int rc = 0;
    strbuf_addf(b, "%s\n", GPUSIM_VERSION);
    json_write(r->resolved, b);
    for (size_t i = 0; i < o->n_only; i++) strbuf_addf(b, "%s\n", o->only[i]);
    for (size_t i = 0; i < o->n_metric; i++) strbuf_addf(b, "--metric %s\n", o->metric[i]);
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < s->n_work && rc == 0; i++)
        rc = add_hash(h, b, input_of_work(&s->work[i]), s->work[i].kind == WORK_GENERATE, e);
    if (rc == 0) rc = inputs_beside(r, add_beside, &n, e);
    pthread_mutex_unlock(&h->lock);
    sha256_hex(b->s, b->len, sha256);
    strbuf_fini(b);
    return rc;
}
