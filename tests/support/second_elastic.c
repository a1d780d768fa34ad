/* Elastic jobs, of the second engine: from the heads of engine/elastic.h and
 * engine/sched_elastic.c. What a job asks for changes with the size that it has or is tried
 * with; who gives up cards, or gets more, is tried on a list of who is where, and the sizes put
 * back. */
#include "support/second_inside.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

/* ---- sizes ---- */

static double rate(const struct engine *e, int cards)
{
    const struct elastic_rules *r = &e->plan->elastic;
    double x = 0, y = 0; /* a curve through nothing on no cards */
    if (r->n_points == 0) return cards;
    for (size_t i = 0; i < r->n_points; i++) {
        const double x2 = (double)r->point[i].gpus, y2 = r->point[i].rate;
        if (cards <= x2) return i == 0 ? y2 * cards / x2 : y + (y2 - y) * (cards - x) / (x2 - x);
        x = x2;
        y = y2;
    }
    return y;
}

static bool is_power(int n)
{
    return (n & (n - 1)) == 0;
}

void second_sizes(struct engine *e, int job)
{
    struct life *l = &e->life[job];
    struct second_job *j = l->job;
    const int gpus = j->gpus_milli / 1000, cpus = j->cpus_milli;
    int min = gpus, max = gpus;
    l->asked_milli = j->gpus_milli;
    l->asked_cpus = j->cpus_milli;
    memcpy(l->asked, l->wish, sizeof l->asked);
    if (e->plan->elastic.how == ELASTIC_NONE || gpus == 0) return;
    if (j->min_gpus != JOB_NO_INT && j->min_gpus < gpus) min = j->min_gpus > 1 ? j->min_gpus : 1;
    if (j->max_gpus != JOB_NO_INT && j->max_gpus > gpus) max = j->max_gpus;
    if (min == max) return;
    for (int n = min; n <= max; n++) {
        bool possible = false;
        if (max - min >= 16 && n != min && n != max && n != gpus && !is_power(n)) continue;
        j->gpus_milli = n * 1000;
        if (cpus != JOB_NO_INT) j->cpus_milli = (int32_t)llround((double)cpus * n / gpus);
        second_wishes(e, job);
        for (size_t g = 0; g < e->plan->n_groups; g++) possible |= l->wish[g].possible;
        if (!possible) continue;
        if (l->n_sizes == SECOND_SIZES) fail_msg("more sizes than the second engine knows");
        struct size *s = &l->size[l->n_sizes++];
        s->gpus_milli = j->gpus_milli;
        s->cpus_milli = j->cpus_milli;
        s->stretch = rate(e, gpus) / rate(e, n);
        for (size_t g = 0; g < e->plan->n_groups; g++) s->wish[g] = l->wish[g];
    }
    if (l->n_sizes == 0) {
        memcpy(l->wish, l->asked, sizeof l->wish);
        j->gpus_milli = gpus * 1000;
        j->cpus_milli = cpus;
    }
    second_be(e, job, 0);
}

void second_be(struct engine *e, int job, int size)
{
    struct life *l = &e->life[job];
    if (l->n_sizes == 0) return;
    const struct size *s = &l->size[size];
    l->at_size = size;
    l->job->gpus_milli = s->gpus_milli;
    l->job->cpus_milli = s->cpus_milli;
    for (size_t g = 0; g < e->plan->n_groups; g++) l->wish[g] = s->wish[g];
}

double second_stretch(const struct life *l)
{
    return l->n_sizes ? l->size[l->at_size].stretch : 1;
}

simtime second_limit(const struct engine *e, int job)
{
    const struct life *l = &e->life[job];
    const simtime limit = l->job->limit, done = l->job->duration - l->remaining;
    if (limit == JOB_NO_TIME || l->n_sizes == 0) return limit;
    return limit > done ? llround((double)(limit - done) * second_stretch(l)) : 0;
}

/* ---- starts ---- */

static int waiting(const struct engine *e)
{
    int n = 0;
    for (int j = 0; j < e->n; j++) n += e->life[j].waiting;
    return n;
}

/* Of all that it may have, the cards it asks for first, then fewer and fewer; more if it waits
 * alone. */
bool second_find_size(struct engine *e, const struct view *v, int job, bool more, struct place *at)
{
    struct life *l = &e->life[job];
    more = more && e->plan->elastic.how == ELASTIC_RESIZE && waiting(e) == 1;
    for (int i = l->n_sizes - 1; i >= 0; i--) {
        second_be(e, job, i);
        if (i > 0 && !more && l->job->gpus_milli > l->asked_milli) continue;
        if (second_may(e, v, job) && second_find(e, v, NULL, job, e->like, at)) return true;
    }
    return l->n_sizes == 0 && second_find(e, v, NULL, job, e->like, at);
}

/* ---- those at work give up cards, or get more ---- */

struct change {
    int job, was;
    struct place at;
};

struct changes {
    struct view then;
    struct change c[SECOND_JOBS]; /* in the order of the queue */
    int n;
};

static bool goes_before(const struct engine *e, int a, int b)
{
    const int64_t x = e->life[a].rank, y = e->life[b].rank;
    return x != y ? x < y : a < b;
}

static void gather(struct engine *e, struct changes *s)
{
    *s = (struct changes){ .then = e->now };
    for (int job = 0; job < e->n; job++) {
        struct life *l = &e->life[job];
        int at = s->n;
        if (!l->working || l->n_sizes == 0) continue;
        if (e->plan->preempts) l->rank = second_rank(e, job);
        for (; at > 0 && goes_before(e, job, s->c[at - 1].job); at--) s->c[at] = s->c[at - 1];
        s->c[at] = (struct change){ job, l->at_size, l->at };
        s->n++;
    }
}

/* All that change leave their cards, then take the new ones; or all is as it was. */
static void settle(struct engine *e, struct changes *s, bool done)
{
    int size[SECOND_JOBS];
    for (int i = 0; i < s->n; i++) {
        size[i] = e->life[s->c[i].job].at_size;
        second_be(e, s->c[i].job, s->c[i].was);
    }
    for (int i = 0; i < s->n && done; i++)
        if (size[i] != s->c[i].was) second_off(e, s->c[i].job);
    for (int i = 0; i < s->n && done; i++) {
        if (size[i] == s->c[i].was) continue;
        second_be(e, s->c[i].job, size[i]);
        second_start(e, s->c[i].job, &s->c[i].at);
    }
}

static bool give_up(struct engine *e, struct changes *s, struct change *c)
{
    struct life *l = &e->life[c->job];
    if (l->at_size == 0 || !l->size[l->at_size - 1].wish[c->at.group].possible) return false;
    second_drop(&s->then, c->job);
    second_be(e, c->job, l->at_size - 1);
    c->at.n = second_demand_of(e, c->job, c->at.group)->cards;
    second_put(&s->then, c->job, &c->at);
    return true;
}

static bool make_room(struct engine *e, int head)
{
    struct changes s;
    struct place at;
    bool fits = false, any = true;
    gather(e, &s);
    while (!fits && any) {
        any = false;
        for (int i = s.n; i-- > 0 && !fits;) {
            if (!give_up(e, &s, &s.c[i])) continue;
            any = true;
            fits =
                second_may(e, &s.then, head) && second_find(e, &s.then, NULL, head, e->like, &at);
        }
    }
    settle(e, &s, fits);
    return fits;
}

static bool pays(const struct engine *e, const struct change *c)
{
    const struct life *l = &e->life[c->job];
    simtime left, safe;
    second_progress(e, c->job, &left, &safe);
    const double saved = l->size[l->at_size].stretch - l->size[l->at_size + 1].stretch;
    return (double)left * saved > (l->at_size == c->was ? (double)e->plan->restart : 0);
}

static bool get_more(struct engine *e, struct changes *s, struct change *c)
{
    const struct life *l = &e->life[c->job];
    struct place at;
    if (l->at_size + 1 == l->n_sizes || !pays(e, c)) return false;
    second_drop(&s->then, c->job);
    second_be(e, c->job, l->at_size + 1);
    const bool fits =
        second_may(e, &s->then, c->job) && second_find(e, &s->then, NULL, c->job, e->like, &at);
    if (fits)
        c->at = at;
    else
        second_be(e, c->job, l->at_size - 1);
    second_put(&s->then, c->job, &c->at);
    return fits;
}

static void grow(struct engine *e)
{
    struct changes s;
    bool any = true;
    gather(e, &s);
    while (any) {
        any = false;
        for (int i = 0; i < s.n; i++) any |= get_more(e, &s, &s.c[i]);
    }
    settle(e, &s, true);
}

bool second_resize(struct engine *e)
{
    if (e->plan->elastic.how != ELASTIC_RESIZE) return false;
    if (waiting(e) == 0) {
        grow(e);
        return false;
    }
    const int head = second_head(e);
    return head >= 0 && make_room(e, head);
}
