#include "engine/elastic.h"

#include "base/mem.h"
#include "engine/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALL_SIZES = 16, MOST_SIZES = 48 };

/* ---- rules ---- */

static bool read_point(const char *key, json_t *value, struct scaling_point *out)
{
    char *end;
    out->gpus = strtol(key, &end, 10);
    out->rate = json_number_value(value);
    return end != key && *end == '\0' && out->gpus >= 1 && out->gpus <= 1000000 &&
           json_is_number(value) && out->rate > 0 && out->rate <= 1e9;
}

void elastic_rules_read(struct elastic_rules *out, struct arena *a, const struct json_doc *doc,
                        json_t *scaling, const char *pointer, struct diag *d)
{
    const char *key;
    json_t *value;
    char at[300], one[300];
    if (!scaling) return;
    json_pointer_key(at, sizeof at, pointer, "scaling");
    if (!json_is_object(scaling) || json_object_size(scaling) == 0) {
        json_problem(d, doc, at,
                     "expected an object of cards and rates such as {\"1\": 1, \"8\": 7}");
        return;
    }
    struct scaling_point *p = arena_array(a, json_object_size(scaling), sizeof *p);
    json_object_foreach(scaling, key, value)
    {
        json_pointer_key(one, sizeof one, at, key);
        if (!read_point(key, value, &p[out->n_points])) {
            json_problem(d, doc, one, "expected a whole number of cards with a rate above 0");
            return;
        }
        const struct scaling_point *last = out->n_points ? &p[out->n_points - 1] : NULL;
        if (last && (p[out->n_points].gpus <= last->gpus || p[out->n_points].rate < last->rate)) {
            json_problem(d, doc, one,
                         "expected ascending numbers of cards, with rates that do not fall");
            return;
        }
        out->n_points++;
    }
    out->point = p;
}

double elastic_rate(const struct elastic_rules *r, double gpus)
{
    const struct scaling_point *p = r->point;
    if (r->n_points == 0) return gpus;
    if (gpus <= (double)p[0].gpus) return p[0].rate * gpus / (double)p[0].gpus;
    for (size_t i = 1; i < r->n_points; i++)
        if (gpus <= (double)p[i].gpus)
            return p[i - 1].rate + (p[i].rate - p[i - 1].rate) * (gpus - (double)p[i - 1].gpus) /
                                       (double)(p[i].gpus - p[i - 1].gpus);
    return p[r->n_points - 1].rate;
}

/* ---- sizes ---- */

static bool is_size(int32_t n, int32_t min, int32_t gpus, int32_t max)
{
    return max - min < ALL_SIZES || n == min || n == max || n == gpus || (n & (n - 1)) == 0;
}

static int32_t next_size(int32_t n, int32_t min, int32_t gpus, int32_t max)
{
    if (max - min < ALL_SIZES) return n + 1;
    for (n++; n <= max && !is_size(n, min, gpus, max);) {
        int32_t power = 1;
        while (power <= n) power *= 2;
        n = n < gpus && gpus < power ? gpus : power < max ? power : max;
    }
    return n;
}

void elastic_sizes(const struct elastic_rules *r, struct shape_table *t, struct job *j)
{
    const struct job_row *row = &j->row;
    const bool bounds = row->min_gpus_milli != JOB_NO_INT || row->max_gpus_milli != JOB_NO_INT;
    if (r->how == ELASTIC_NONE || !bounds || row->gpus_milli < 1000) return;
    const int32_t gpus = row->gpus_milli / 1000;
    int32_t min = row->min_gpus_milli == JOB_NO_INT ? gpus : (row->min_gpus_milli + 999) / 1000;
    int32_t max = row->max_gpus_milli == JOB_NO_INT ? gpus : row->max_gpus_milli / 1000;
    min = min < 1 ? 1 : min < gpus ? min : gpus;
    max = max > gpus ? max : gpus;
    if (min == max) return;
    struct elastic_size size[MOST_SIZES];
    int n = 0;
    for (int32_t k = min; k <= max && n < MOST_SIZES; k = next_size(k, min, gpus, max)) {
        struct job_row like = *row;
        struct unknown_name unknown;
        like.gpus_milli = k * 1000;
        if (row->cpus_milli != JOB_NO_INT)
            like.cpus_milli = (int32_t)llround((double)row->cpus_milli * k / gpus);
        if (row->mem_bytes != JOB_NO_BYTES)
            like.mem_bytes = (uint64_t)((double)row->mem_bytes * k / gpus);
        struct shape *shape = shape_of(t, &like, &unknown);
        shape->submitted--; /* the mix of requests counts what was asked for */
        if (shape->rejected) {
            shape_drop(t, shape);
            continue;
        }
        size[n++] = (struct elastic_size){
            .shape = shape,
            .stretch = elastic_rate(r, gpus) / elastic_rate(r, k),
        };
    }
    if (n == 0) return;
    j->size = xcalloc((size_t)n, sizeof *j->size);
    for (int i = 0; i < n; i++) j->size[i] = size[i];
    j->n_sizes = n;
    j->asked = j->shape;
    elastic_be(j, 0);
}

void elastic_be(struct job *j, int i)
{
    if (!j->n_sizes) return;
    j->at_size = i;
    j->shape = j->size[i].shape;
    j->gpus_milli = j->shape->request.gpus_milli;
    j->stretch = j->size[i].stretch;
}

bool elastic_leaps(const struct plan *plan, const struct job *j)
{
    if (j->n_sizes > 0 && plan->gang == GANG_DOMAIN) return true;
    for (int i = 1; i < j->n_sizes; i++)
        for (size_t g = 0; g < plan->n_groups; g++)
            if (j->size[i].shape->fit[g].feasible && !j->size[i - 1].shape->fit[g].feasible)
                return true;
    return false;
}

void elastic_drop(struct shape_table *t, struct job *j)
{
    shape_drop(t, j->n_sizes ? j->asked : j->shape);
    for (int i = 0; i < j->n_sizes; i++) shape_drop(t, j->size[i].shape);
    free(j->size);
    j->size = NULL;
    j->n_sizes = 0;
}
