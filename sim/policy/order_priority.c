/* policy/order_priority.c - the highest priority first: the number in the trace's priority column,
 * else that of the job's class, else 0. Running jobs stay, unless the schedule says "preempt":
 * "always". */
#include "base/json.h"
#include "engine/order.h"

#include <string.h>

struct priority {
    json_t *classes;
    int64_t of[CLASS_COUNT]; /* by class */
};
static const struct cfg_field fields[] = {
    CFG_FIELD(struct priority, classes, CFG_JSON, NULL, 0, 0,
              "priority of jobs without a number, by class: {\"inference\": 100}"),
};

static const char *bind(void *params, struct arena *a)
{
    struct priority *p = params;
    const char *name;
    json_t *value;
    memset(p->of, 0, sizeof p->of);
    if (!p->classes) return NULL;
    if (!json_is_object(p->classes)) return "classes: expected an object of class and priority";
    json_object_foreach(p->classes, name, value)
    {
        size_t i = 1;
        while (i < CLASS_COUNT && strcmp(job_class_names[i], name) != 0) i++;
        if (i == CLASS_COUNT)
            return arena_printf(a,
                                "classes: no class \"%.60s\"; there are training, inference, dev, "
                                "hpc and graphics",
                                name);
        const json_int_t x = json_integer_value(value);
        if (!json_is_integer(value) || x < -INT32_MAX || x > INT32_MAX)
            return arena_printf(a, "classes.%s: expected a whole number of at most 2147483647",
                                name);
        p->of[i] = x;
    }
    return NULL;
}

static int64_t rank(const struct order_view *v, const struct job *j)
{
    const struct priority *p = v->params;
    if (j->row.priority != JOB_NO_INT) return -(int64_t)j->row.priority;
    return p ? -p->of[j->row.klass] : 0;
}

const struct order_ops order_priority = {
    .name = "priority",
    .help = "highest priority first: trace column, else the job's class, else 0",
    .rank = rank,
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct priority),
    .bind = bind,
};
