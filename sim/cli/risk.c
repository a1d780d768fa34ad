#include "cli/risk.h"

#include "cost/bookrisk.h"
#include "cost/montecarlo.h"

#include <math.h>

enum { SAMPLES = 2000 };

static json_t *option_json(const struct mc_model *m, const struct mc_result *x, size_t i)
{
    const struct mc_option *o = &x->option[i];
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "policy", m->option[i], "eac_usd",
                     json_num(o->at_modes), "p10_usd", json_num(o->cost.p10), "p50_usd",
                     json_num(o->cost.p50), "p90_usd", json_num(o->cost.p90), "p_cheapest",
                     json_num(o->p_cheapest));
}

static json_t *costs(const double *usd, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, json_num(usd[i]));
    return list;
}

static json_t *input_json(const struct mc_model *m, const struct mc_swing *s)
{
    const struct mc_input *in = &m->input[s->input];
    json_t *v = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", in->name, "low",
                          json_num(in->shown.low), "mode", json_num(in->shown.mode), "high",
                          json_num(in->shown.high), "swing_usd", json_num(s->swing), "eac_low_usd",
                          costs(s->low, m->n_options), "eac_high_usd", costs(s->high, m->n_options),
                          "switching_value", json_num(s->switching_value));
    if (!isnan(s->switching_value))
        json_object_set_new(v, "switches_to", json_string(m->option[s->switches_to]));
    return v;
}

json_t *risk_of_run(const struct runner *r)
{
    struct arena *a = r->arena;
    const size_t n = r->n;
    struct priced_use *use = arena_array(a, n + 1, sizeof *use);
    const struct usage **usage = arena_array(a, n + 1, sizeof *usage);
    for (size_t i = 0; i < n; i++) {
        if (!r->plan[i].priced) return NULL;
        usage[i] = &r->result.policy[i].usage;
        use[i] = (struct priced_use){ .name = r->result.policy[i].name,
                                      .share = r->plan[i].share->name,
                                      .usage = &usage[i],
                                      .n_usage = 1,
                                      .book = &r->plan[i].prices };
    }
    const struct mc_model m = bookrisk_model(use, n, a);
    if (n == 0 || m.n_inputs == 0) return NULL;
    struct mc_result x;
    const struct mc_options o = { .samples = SAMPLES, .seed = r->result.seed };
    mc_run(&x, &m, &o, a);
    json_t *options = json_array(), *inputs = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(options, option_json(&m, &x, i));
    for (size_t i = 0; i < m.n_inputs; i++)
        json_array_append_new(inputs, input_json(&m, &x.swing[i]));
    return json_pack("{s:s, s:i, s:s, s:o, s:o}", "format", "gpusim-risk/1", "samples", SAMPLES,
                     "best", m.option[x.best], "options", options, "inputs", inputs);
}
