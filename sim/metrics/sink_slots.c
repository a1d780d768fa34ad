#include "metrics/sink_slots.h"

#include "base/csv.h"

#include <errno.h>
#include <string.h>

const char slots_csv_header[] = "policy,kind,id,card,start,units,slices,from_s,to_s\n";

bool slots_csv_has(const struct plan *plan)
{
    return strcmp(plan->share->name, "mig") == 0;
}

static bool shown(const struct plan *plan, uint32_t card)
{
    const struct plan_group *g = &plan->group[0];
    const int64_t most = g->real_per_node < SLOTS_CARDS ? g->real_per_node : SLOTS_CARDS;
    return card >= g->first_card && card < g->first_card + most;
}

static int on_stay(void *self, const struct plan *plan, const struct symtab *names,
                   const struct job *j, simtime now, struct err *e)
{
    struct slots_csv *c = self;
    char card[256];
    (void)names;
    for (int32_t i = 0; i < j->n_holdings && c->rows < SLOTS_ROWS; i++) {
        const struct mig_slice slice = j->holding[i].slice;
        if (!shown(plan, j->holding[i].card) || now <= j->here) continue;
        const struct mig_geometry *mig = plan->group[j->group].type.gpu->mig;
        const struct mig_profile *p = slice.profile >= 0 ? &mig->profile[slice.profile] : NULL;
        csv_put(c->to, plan->spec->name, strlen(plan->spec->name));
        fprintf(c->to, ",%s,", j->replica ? "service" : "job");
        csv_put(c->to, j->row.id, strlen(j->row.id));
        fprintf(c->to, ",%s,%d,%d,%d,%.9f,%.9f\n",
                plan_card_name(plan, j->holding[i].card, card, sizeof card),
                p ? (int)slice.start : 0, p ? (int)p->memory_units : 0,
                p ? (int)p->compute_slices : 0, simtime_s(j->here), simtime_s(now));
        c->rows++;
    }
    if (ferror(c->to))
        return err_set(e, err_of_errno(errno), NULL, "cannot write slots.csv: %s", strerror(errno));
    return 0;
}

struct sink slots_csv_sink(struct slots_csv *c)
{
    return (struct sink){ .self = c, .stay = on_stay };
}
