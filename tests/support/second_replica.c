/* Requests, queues, batches and the number of replicas, of the second engine's services. */
#include "support/second_serving.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

static bool waits_at(const struct second_request *q, int service, int at)
{
    return q->service == service && q->state == SECOND_WAITS && q->at == at;
}

static int count(const struct scene *s, int service, int at, int state)
{
    int n = 0;
    for (int i = 0; i < s->s->n_requests; i++) {
        const struct second_request *q = &s->s->request[i];
        n += q->service == service && (int)q->state == state && (at == INT32_MAX || q->at == at);
    }
    return n;
}

int second_waiting(const struct scene *s, int service)
{
    return count(s, service, INT32_MAX, SECOND_WAITS);
}

int second_in_service(const struct scene *s, int service)
{
    return count(s, service, INT32_MAX, SECOND_SERVED);
}

/* The first that waits there; -1. */
static int head(const struct scene *s, int service, int at)
{
    for (int i = 0; i < s->s->n_requests; i++)
        if (waits_at(&s->s->request[i], service, at)) return i;
    return -1;
}

static bool shared(const struct serving *v)
{
    return strcmp(v->plan->route->name, "shared") == 0;
}

static bool is_up(const struct scene *s, const struct serving *v, int number)
{
    return s->replica[v->first + number].phase == UP;
}

/* The queue it takes from. */
static int front(const struct scene *s, int life)
{
    const struct replica *x = &s->replica[life];
    return shared(&s->service[x->service]) ? -1 : x->number;
}

/* ---- who comes ---- */

static bool closed_loop(const struct serving *v)
{
    return v->plan->spec->users != CFG_NO_INT;
}

static int64_t came(const struct scene *s, int k)
{
    int64_t n = 0;
    for (int i = 0; i < s->s->n_requests; i++)
        n += s->s->request[i].service == k && s->s->request[i].state != SECOND_COMES;
    return n;
}

static bool all_asked(const struct scene *s, int k)
{
    const int64_t count_ = s->service[k].plan->spec->count;
    return count_ != CFG_NO_INT && came(s, k) >= count_;
}

bool second_expects(const struct scene *s, int k)
{
    for (int i = 0; i < s->s->n_requests; i++)
        if (s->s->request[i].service == k && s->s->request[i].state == SECOND_COMES) return true;
    return false;
}

/* Beside those who are here. */
static bool may_come(const struct scene *s, int k)
{
    const struct serving *v = &s->service[k];
    if (!closed_loop(v)) return second_expects(s, k);
    return second_waiting(s, k) + second_in_service(s, k) < v->plan->spec->users &&
           !all_asked(s, k);
}

static int standing(const struct scene *s, int k)
{
    const struct serving *v = &s->service[k];
    int n = 0;
    for (int i = 0; i < v->most; i++) n += s->replica[v->first + i].phase != GONE;
    return n;
}

bool second_through(const struct scene *s, int k)
{
    const struct serving *v = &s->service[k];
    const int present = second_waiting(s, k) + second_in_service(s, k);
    const bool asks = closed_loop(v) && !all_asked(s, k);
    if (second_expects(s, k)) return false;
    if (present > 0 && (!v->scales || v->closed) && standing(s, k) == 0) /* never answered */
        return !asks || present == v->plan->spec->users;
    return !asks && present == 0;
}

static void leave(struct scene *s, struct second_request *q, enum request_fate fate)
{
    struct serving *v = &s->service[q->service];
    q->state = SECOND_LEFT;
    q->fate = fate;
    q->end = s->e.clock;
    if (!q->user) return;
    v->asks[q->user] = s->e.clock + v->own->think;
    v->turn[q->user] = ++s->turns;
}

/* ---- where it goes ---- */

static double score(const struct scene *s, const struct serving *v, int number)
{
    const int k = (int)(v - s->service);
    const int waiting = count(s, k, number, SECOND_WAITS),
              served = count(s, k, number, SECOND_SERVED);
    double work_ns = 0;
    if (strcmp(v->plan->route->name, "least_outstanding") == 0) return waiting + served;
    if (strcmp(v->plan->route->name, "shortest_queue") == 0)
        return waiting + (served > 0 ? 0.5 : 0);
    for (int i = 0; i < s->s->n_requests; i++) {
        const struct second_request *q = &s->s->request[i];
        if (q->service == k && q->at == number &&
            (q->state == SECOND_WAITS || q->state == SECOND_SERVED))
            work_ns += (double)q->size;
    }
    return round(work_ns / 1e3); /* to a microsecond, as engine/route.h says */
}

/* Vigna's splitmix64, by Steele et al. 2014. */
static uint64_t splitmix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Its own sequence of places, the first where somebody is up. */
static int affine(const struct scene *s, const struct serving *v, const struct second_request *q)
{
    uint64_t at = (uint64_t)(q->user ? q->user : q->session);
    if (q->user && is_up(s, v, (q->user - 1) % v->most)) return (q->user - 1) % v->most;
    for (;;) {
        at = splitmix(at);
        if (is_up(s, v, (int)(at % (uint64_t)v->most))) return (int)(at % (uint64_t)v->most);
    }
}

/* A replica that is up; -1: whoever is free, or whoever comes up. */
static int route(struct scene *s, struct serving *v, const struct second_request *q)
{
    const char *name = v->plan->route->name;
    int up[SECOND_JOBS], n = 0, best = 0;
    for (int i = 0; i < v->most; i++)
        if (is_up(s, v, i)) up[n++] = i;
    if (n == 0 || shared(v)) return -1;
    if (strcmp(name, "random") == 0) return up[gsl_rng_uniform_int(v->rng, (unsigned long)n)];
    if (strcmp(name, "affinity") == 0 && (q->session || q->user)) return affine(s, v, q);
    if (strcmp(name, "round_robin") == 0 || strcmp(name, "affinity") == 0)
        return up[v->routed % (uint64_t)n];
    for (int i = 1; i < n; i++)
        if (score(s, v, up[i]) < score(s, v, up[best])) best = i;
    return up[best];
}

static void look_at_all(struct scene *s, int k)
{
    const struct serving *v = &s->service[k];
    for (int i = 0; i < v->most; i++)
        if (is_up(s, v, i)) second_look_at(s, v->first + i);
}

void second_come(struct scene *s, int request)
{
    struct second_request *q = &s->s->request[request];
    struct serving *v = &s->service[q->service];
    const int at = route(s, v, q), waiting = second_waiting(s, q->service);
    int free = -1;
    for (int i = 0; i < v->most && free < 0; i++)
        if (is_up(s, v, i) && !s->replica[v->first + i].busy && (at == i || (at < 0 && shared(v))))
            free = i;
    q->state = SECOND_WAITS;
    q->at = at;
    if (v->plan->spec->queue != CFG_NO_INT && waiting >= v->plan->spec->queue && free < 0) {
        leave(s, q, REQUEST_REFUSED);
    } else {
        v->routed += at >= 0;
        if (free >= 0) second_look_at(s, v->first + free);
    }
    if (!may_come(s, q->service)) look_at_all(s, q->service); /* nobody is waited for any longer */
}

void second_ask(struct scene *s, int service, int user)
{
    struct serving *v = &s->service[service];
    v->asks[user] = SIM_NEVER;
    if (all_asked(s, service)) return;
    if (s->s->n_requests == SECOND_REQUESTS) fail_msg("more requests than the second engine takes");
    s->s->request[s->s->n_requests] = (struct second_request){ .service = service,
                                                               .arrival = s->e.clock,
                                                               .size = v->own->size,
                                                               .user = user,
                                                               .began = JOB_NO_TIME,
                                                               .end = JOB_NO_TIME };
    second_come(s, s->s->n_requests++);
}

/* ---- batches ---- */

/* How many begin now. */
static int batch(const struct scene *s, int life)
{
    const struct replica *x = &s->replica[life];
    const struct second_service *own = s->service[x->service].own;
    const int n = count(s, x->service, front(s, life), SECOND_WAITS);
    const bool more = x->phase == UP && may_come(s, x->service);
    if (n == 0 || x->busy) return 0;
    if (own->serve == SECOND_SINGLE) return 1;
    if (own->serve == SECOND_FIXED && more && n < own->max) return 0;
    if (own->serve == SECOND_DYNAMIC && more && n < own->preferred) {
        const int first = head(s, x->service, front(s, life));
        if (s->e.clock < s->s->request[first].arrival + own->delay) return 0;
    }
    return n < own->max ? n : (int)own->max;
}

simtime second_holds_until(const struct scene *s, int life)
{
    const struct replica *x = &s->replica[life];
    const struct second_service *own = s->service[x->service].own;
    if ((x->phase != UP && x->phase != DRAINING) || x->busy || own->serve != SECOND_DYNAMIC)
        return SIM_NEVER;
    const int first = head(s, x->service, front(s, life));
    return first < 0 ? SIM_NEVER : s->s->request[first].arrival + own->delay;
}

static double batch_ns(const struct second_service *own, int n, double sum, double largest,
                       double reading)
{
    if (own->serve == SECOND_SINGLE) return sum;
    const double floor_ns = (double)own->floor,
                 work = (double)own->weights * reading + (own->pad ? n * largest : sum);
    if (own->bend == 1) return floor_ns + work;
    return (double)powl(powl(floor_ns, own->bend) + powl(work, own->bend),
                        1 / (long double)own->bend);
}

/* A replica that does nothing takes what it may. Its work is in ns of the card without neighbours,
 * at the speed that it has alone on its part. */
void second_look_at(struct scene *s, int life)
{
    struct replica *x = &s->replica[life];
    const struct serving *v = &s->service[x->service];
    struct life *l = &s->e.life[life];
    const struct plan_group *g = &s->e.plan->group[l->at.group];
    const struct wish *w = &l->wish[l->at.group];
    const int n = batch(s, life), from = front(s, life);
    double sum = 0, largest = 0;
    if (n == 0) return;
    for (int i = 0; i < n; i++) {
        struct second_request *q = &s->s->request[head(s, x->service, from)];
        q->state = SECOND_SERVED;
        q->at = x->number;
        q->began = s->e.clock;
        sum += (double)q->size;
        largest = fmax(largest, (double)q->size);
    }
    const struct gpu_spec *here = g->type.gpu,
                          *recorded =
                              v->plan->spec->gpu_model
                                  ? gpu_find(s->e.plan->world->gpus, v->plan->spec->gpu_model, NULL)
                                  : here;
    const bool slice = w->demand.mig_profile >= 0;
    const double alone = slice || w->demand.core_cap < 1 ? second_alone(s, life) : 1,
                 measured = v->plan->slower[l->at.group],
                 scale = (isnan(measured) ? w->transfer : measured) / alone,
                 reading = recorded->mem_Bps / here->mem_Bps /
                           (slice ? mig_bw_share(here, w->demand.mig_profile) : 1);
    x->busy = true;
    l->left =
        (long double)round(batch_ns(v->own, n, sum * scale, largest * scale, reading) * alone);
}

void second_up(struct scene *s, int life)
{
    struct replica *x = &s->replica[life];
    struct serving *v = &s->service[x->service];
    x->phase = UP;
    v->own->came_up++;
    for (int i = 0; i < s->s->n_requests && !shared(v); i++) {
        struct second_request *q = &s->s->request[i];
        if (!waits_at(q, x->service, -1)) continue;
        q->at = route(s, v, q);
        v->routed++;
    }
    look_at_all(s, x->service);
}

void second_done(struct scene *s, int life)
{
    struct replica *x = &s->replica[life];
    const struct serving *v = &s->service[x->service];
    for (int i = v->first; i < v->first + v->most; i++)
        s->s->tied |= i != life && s->replica[i].busy && s->e.life[i].finish <= s->e.clock &&
                      closed_loop(v) &&
                      (shared(v) || strcmp(v->plan->route->name, "affinity") == 0);
    x->busy = false;
    for (int i = 0, n = s->s->n_requests; i < n; i++) {
        struct second_request *q = &s->s->request[i];
        if (q->service == x->service && q->state == SECOND_SERVED && q->at == x->number)
            leave(s, q, REQUEST_COMPLETED);
    }
    if (x->phase == DRAINING && (shared(v) || head(s, x->service, x->number) < 0))
        second_retire(s, life);
    else
        second_look_at(s, life);
}

simtime second_expires(const struct scene *s, int request)
{
    const struct second_request *q = &s->s->request[request];
    const simtime timeout = s->service[q->service].plan->spec->timeout;
    return q->state != SECOND_WAITS || timeout == CFG_NO_TIME ? SIM_NEVER : q->arrival + timeout;
}

void second_expire(struct scene *s, int request)
{
    leave(s, &s->s->request[request], REQUEST_TIMED_OUT);
}

/* ---- how many ---- */

static int64_t wanted(struct scene *s, int k, int64_t current)
{
    struct serving *v = &s->service[k];
    const struct service_replicas *r = &v->plan->spec->replicas;
    const double up = (double)(v->own->up_ns - v->was_up),
                 busy = (double)(v->own->busy_ns - v->was_busy) / up,
                 elapsed = (double)(s->e.clock - v->looked),
                 present = elapsed > 0 ? (double)(v->present_ns - v->was_present) / elapsed : 0;
    const double ratio =
        (r->scale_on == SCALE_UTILIZATION ? busy : present / (double)current) / r->target;
    double n = (double)current;
    if (r->scale_on == SCALE_SCHEDULE) return r->hour[s->e.clock / SIM_HOUR % 24];
    if (!(r->scale_on == SCALE_UTILIZATION && up == 0) && fabs(ratio - 1) > 0.1)
        n = ceil((double)current * ratio - 1e-9);
    if (v->n_looks == SECOND_LOOKS) fail_msg("more looks than the second engine remembers");
    v->look[v->n_looks].at = s->e.clock;
    v->look[v->n_looks++].wanted = (int64_t)fmin(fmax(n, (double)r->min), (double)r->max);
    int64_t most = 0;
    for (int i = 0; i < v->n_looks; i++)
        if (v->look[i].at >= s->e.clock - r->down_after && v->look[i].wanted > most)
            most = v->look[i].wanted;
    const int64_t now = v->look[v->n_looks - 1].wanted;
    return now >= current ? now : most < current ? most : current;
}

/* The last goes: when it has done what it has, if it has begun. */
static void fewer(struct scene *s, int k)
{
    const struct serving *v = &s->service[k];
    for (int i = v->most - 1; i >= 0; i--) {
        struct replica *x = &s->replica[v->first + i];
        if (x->phase != UP && x->phase != STARTING) continue;
        const bool idle = !x->busy && (shared(v) || head(s, k, i) < 0);
        if (x->phase == STARTING || idle) {
            second_retire(s, v->first + i);
            return;
        }
        x->phase = DRAINING;
        second_look_at(s, v->first + i); /* a batch that is held back waits for nobody now */
        return;
    }
}

void second_scale(struct scene *s, int service)
{
    struct serving *v = &s->service[service];
    int64_t current = 0;
    for (int i = 0; i < v->most; i++) {
        const enum phase p = s->replica[v->first + i].phase;
        current += p == UP || p == STARTING;
    }
    const int64_t want = wanted(s, service, current > 0 ? current : 1);
    v->was_up = v->own->up_ns;
    v->was_busy = v->own->busy_ns;
    v->was_present = v->present_ns;
    v->looked = s->e.clock;
    v->looks = s->e.clock + v->plan->spec->replicas.interval;
    for (int i = 0; i < v->most && current < want; i++) {
        if (s->replica[v->first + i].phase != GONE) continue;
        second_launch(s, v->first + i);
        current++;
    }
    for (; current > want; current--) fewer(s, service);
}

void second_close(struct scene *s, int service)
{
    struct serving *v = &s->service[service];
    v->closed = true;
    for (int i = 0; i < v->most; i++)
        if (s->replica[v->first + i].phase != GONE) second_retire(s, v->first + i);
}
