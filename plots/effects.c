#include "plots/effects.h"

#include "base/str.h"
#include "plots/report_data.h"

#include <math.h>
#include <string.h>

enum { BARS = 12 };

static const char *text(json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static double number(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static json_t *named(json_t *list, const char *policy)
{
    json_t *one;
    size_t i;
    json_array_foreach(list, i, one)
    {
        const char *name = text(one, "policy");
        if (name && strcmp(name, policy) == 0) return one;
    }
    return NULL;
}

static double percent(json_t *base, json_t *then, const char *key)
{
    if (!then) return 0 * number(base, key); /* the end is the value itself */
    const double was = number(base, key), is = number(then, key);
    return was > 0 ? 100 * (is / was - 1) : was == 0 && is == 0 ? 0 : NAN;
}

static double largest(const double x[2], double so_far)
{
    return fmax(fmax(fabs(x[0]), fabs(x[1])), so_far);
}

/* The figures of one policy at both ends; ends NULL: as in the run. */
static void figures(struct effect *out, json_t *base, json_t *const end[2])
{
    out->most = 0;
    for (size_t k = 0; k < 2; k++) {
        out->turnaround[k] = percent(base, end[k], "turnaround_mean_s");
        out->cost[k] = percent(base, end[k], "usd_per_useful_gpu_hour");
        const double was = number(base, "attainment");
        out->attainment[k] = end[k] ? 100 * (number(end[k], "attainment") - was) : was * 0;
    }
    out->most = largest(out->turnaround, largest(out->cost, largest(out->attainment, 0)));
}

static void answers(struct effect *out, json_t *effects, json_t *param)
{
    static const char *const ends[2] = { "low_end", "high_end" };
    const char *now = text(effects, "recommended");
    for (size_t k = 0; k < 2; k++) {
        json_t *end = json_object_get(param, ends[k]);
        const char *then = text(end, "recommended");
        out->instead[k] = then && (!now || strcmp(then, now) != 0) ? then : NULL;
        out->problem[k] = text(end, "problem");
        out->none[k] = now && json_is_null(json_object_get(end, "recommended"));
    }
}

static void read_param(json_t *effects, json_t *param, struct effect *out)
{
    json_t *base = json_object_get(effects, "base"), *one;
    json_t *low = json_object_get(json_object_get(param, "low_end"), "policies");
    json_t *high = json_object_get(json_object_get(param, "high_end"), "policies");
    size_t i;
    *out = (struct effect){ 0 };
    json_array_foreach(base, i, one)
    {
        const char *policy = text(one, "policy");
        json_t *const end[2] = { policy ? named(low, policy) : NULL,
                                 policy ? named(high, policy) : NULL };
        struct effect x;
        if (!end[0] && !end[1]) continue; /* does not use it */
        figures(&x, one, end);
        if (out->policy && !(x.most > out->most)) continue;
        *out = x;
        out->policy = policy;
    }
    answers(out, effects, param);
}

bool effect_of(json_t *effects, const char *fleet, const char *name, struct effect *out)
{
    json_t *one;
    size_t i;
    json_array_foreach(json_object_get(effects, "parameters"), i, one)
    {
        const char *f = text(one, "fleet"), *n = text(one, "name");
        if (!f || !n || strcmp(f, fleet) != 0 || strcmp(n, name) != 0) continue;
        read_param(effects, one, out);
        return true;
    }
    return false;
}

/* The parameters that move something most, largest first; up to BARS. */
int data_effects(const struct source *s, const char *path, struct err *e)
{
    json_t *params = json_object_get(s->effects, "parameters"), *one;
    bool used[512] = { false };
    struct strbuf out = { 0 };
    size_t rows = 0, i;
    strbuf_addf(&out, "%s\tturnaround_low\tturnaround_high\tcost_low\tcost_high\tlow\thigh\n",
                word(s->lang, W_PARAMETER));
    while (rows < BARS) {
        struct effect most = { 0 }, x;
        size_t which = sizeof used;
        json_array_foreach(params, i, one)
        {
            if (i >= sizeof used || used[i]) continue;
            read_param(s->effects, one, &x);
            if (!x.policy || !(fmax(largest(x.turnaround, 0), largest(x.cost, 0)) >= 0.05))
                continue;
            if (which < sizeof used && !(x.most > most.most)) continue;
            most = x;
            which = i;
        }
        if (which == sizeof used) break;
        used[which] = true;
        rows++;
        one = json_array_get(params, which);
        struct strbuf name = { 0 };
        strbuf_addf(&name, "%s, %s", text(one, "name"), most.policy);
        data_name(&out, name.s);
        strbuf_fini(&name);
        for (size_t k = 0; k < 2; k++) data_number(&out, most.turnaround[k]);
        for (size_t k = 0; k < 2; k++) data_number(&out, most.cost[k]);
        data_number(&out, number(one, "low"));
        data_number(&out, number(one, "high"));
        strbuf_addc(&out, '\n');
    }
    if (rows) return data_write(&out, path, e);
    strbuf_fini(&out);
    return 0;
}
