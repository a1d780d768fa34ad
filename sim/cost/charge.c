#include "cost/charge.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sums {
    double provisioned_h, allocated_h, occupied_h, stranded_h, down_h, energy_kwh, idle_kwh,
        billed_h;
};

/* USD for an hour that is charged, held, on a card with jobs; for a kWh at the board. */
struct rates {
    double fixed, held, occupied, kwh;
    enum charge_rule rule;
};

static double charged_h(const struct usage_tenant *t, enum charge_rule rule)
{
    return rule == CHARGE_MAX ? t->billed_h : t->allocated_h;
}

static struct sums sums_of(const struct usage *u, enum charge_rule rule)
{
    struct sums s = { 0 };
    for (size_t i = 0; i < u->n_groups; i++) {
        const struct usage_group *g = &u->group[i];
        s.provisioned_h += (double)g->cards * u->hours - g->absent_h;
        s.allocated_h += g->allocated_h;
        s.occupied_h += isnan(g->occupied_h) ? 0 : g->occupied_h;
        s.stranded_h += g->stranded_h;
        s.down_h += g->down_h;
        s.energy_kwh += g->energy_kwh;
        s.idle_kwh += g->idle_energy_kwh;
    }
    for (size_t i = 0; i < u->n_tenants; i++) s.billed_h += charged_h(&u->tenant[i], rule);
    return s;
}

static struct rates rates_of(const struct sums *s, const struct bill *b, enum charge_rule rule)
{
    const double fixed_usd = b->usd - b->energy_usd - b->held_usd - b->occupied_usd;
    return (struct rates){ .fixed = s->provisioned_h > 0 ? fixed_usd / s->provisioned_h : 0,
                           .held = s->allocated_h > 0 ? b->held_usd / s->allocated_h : 0,
                           .occupied = s->occupied_h > 0 ? b->occupied_usd / s->occupied_h : 0,
                           .kwh = s->energy_kwh > 0 ? b->energy_usd / s->energy_kwh : 0,
                           .rule = rule };
}

static double tenant_usd(const struct rates *r, const struct usage_tenant *t)
{
    return charged_h(t, r->rule) * (r->fixed + r->occupied) + t->allocated_h * r->held +
           t->energy_kwh * r->kwh;
}

/* Sums of what is near equal leave a last bit of either sign. */
static double not_negative(double x, double of)
{
    return x < 0 && x > -1e-9 * of ? 0 : x;
}

static const struct charge *lines(const struct usage_tenant *t, size_t n, const struct rates *r,
                                  const struct sums *s, struct arena *a)
{
    struct charge *c = arena_array(a, n + 3, sizeof *c), *rest = c + n;
    for (size_t i = 0; i < n; i++)
        c[i] = (struct charge){ t[i].name, tenant_usd(r, &t[i]), charged_h(&t[i], r->rule),
                                t[i].energy_kwh };
    const double open = not_negative(s->provisioned_h - s->down_h - s->billed_h, s->provisioned_h);
    const double stranded = fmin(s->stranded_h, open), idle = open - stranded;
    const double unused = not_negative(s->occupied_h - s->billed_h, s->occupied_h);
    rest[0] =
        (struct charge){ "(idle)", idle * r->fixed + unused * r->occupied + s->idle_kwh * r->kwh,
                         idle, s->idle_kwh };
    rest[1] = (struct charge){ "(stranded)", stranded * r->fixed, stranded, 0 };
    rest[2] = (struct charge){ "(down)", s->down_h * r->fixed, s->down_h, 0 };
    return c;
}

static const struct cost_line *classes(const struct usage *u, const struct rates *r,
                                       struct arena *a)
{
    struct cost_line *c = arena_array(a, u->n_classes + 1, sizeof *c);
    for (size_t i = 0; i < u->n_classes; i++) {
        const struct usage_tenant *t = &u->klass[i];
        const double usd = tenant_usd(r, t);
        c[i] = (struct cost_line){ t->name, usd, t->jobs > 0 ? usd / (double)t->jobs : NAN,
                                   t->useful_h > 0 ? usd / t->useful_h : NAN };
    }
    return c;
}

void charge_tenants(double *usd, const struct usage_tenant *t, size_t n, const struct usage *u,
                    enum charge_rule rule, const struct bill *bill)
{
    const struct sums s = sums_of(u, rule);
    const struct rates r = rates_of(&s, bill, rule);
    for (size_t i = 0; i < n; i++) usd[i] = tenant_usd(&r, &t[i]);
}

double charge_share_of_jobs(const struct usage *u, enum charge_rule rule, const struct bill *bill)
{
    double *usd = xcalloc(u->n_tenants + 1, sizeof *usd), all = 0, services = 0;
    charge_tenants(usd, u->tenant, u->n_tenants, u, rule, bill);
    for (size_t i = 0; i < u->n_tenants; i++) {
        all += usd[i];
        if (strncmp(u->tenant[i].name, "service:", 8) == 0) services += usd[i];
    }
    free(usd);
    return services > 0 ? 1 - services / all : 1;
}

void charge_rates(const struct usage *u, enum charge_rule rule, const struct bill *bill,
                  double *card_usd, double *held_usd, double *kwh_usd)
{
    const struct sums s = sums_of(u, rule);
    const struct rates r = rates_of(&s, bill, rule);
    *card_usd = r.fixed + r.occupied;
    *held_usd = r.held;
    *kwh_usd = r.kwh;
}

void charge_all(struct tco_result *out, const struct usage *u, enum charge_rule rule,
                const struct bill *bill, struct arena *a)
{
    const struct sums s = sums_of(u, rule);
    const struct rates r = rates_of(&s, bill, rule);
    out->charge = lines(u->tenant, u->n_tenants, &r, &s, a);
    out->n_charges = u->n_tenants + 3;
    if (u->n_teams > 0) {
        out->team = lines(u->team, u->n_teams, &r, &s, a);
        out->n_teams = u->n_teams + 3;
    }
    out->klass = classes(u, &r, a);
    out->n_classes = u->n_classes;
}
