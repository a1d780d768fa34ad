/* plots/page_money.c - what it costs, by item, and who pays; energy. */
#include "plots/page.h"

#include "base/mem.h"
#include "model/price.h"
#include "plots/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same item of another policy: same name and source. NULL: that policy does not pay for it. */
static const struct cost_item_result *find_item(const struct tco_result *t,
                                                const struct cost_item_result *like)
{
    for (size_t i = 0; i < t->n_items; i++)
        if (strcmp(t->item[i].name, like->name) == 0 &&
            strcmp(t->item[i].driver, like->driver) == 0)
            return &t->item[i];
    return NULL;
}

/* What one unit of a cost is, for a stored driver. */
static const char *driver_words(const struct page *p, const char *driver)
{
    for (size_t i = 0; i < PRICE_DRIVERS; i++)
        if (strcmp(price_driver_names[i], driver) == 0)
            return word_of(p->lang, price_driver_help[i]);
    return driver;
}

static void item_row(struct grid *t, const struct cost_item_result *it)
{
    const struct page *p = t->p;
    grid_row(t, false);
    grid_name(t, word_of_item(p->lang, p->a, it->name), NULL);
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct tco_result *x = &p->r->policy[i].tco;
        const struct cost_item_result *same = find_item(x, it);
        grid_cost(t, i, same ? same->usd : x->priced ? 0 : NAN, x->total_usd, MONEY);
    }
    grid_text(t, driver_words(p, it->driver));
    grid_quote(t, it->source);
    grid_text(t, word_of(p->lang, it->date));
    grid_text(t, word_of(p->lang, it->confidence));
}

/* Whether some item of the cost is known in this way. */
static bool confident(const struct result *r, const char *how)
{
    for (size_t i = 0; i < r->n_policies; i++)
        for (size_t k = 0; k < r->policy[i].tco.n_items; k++)
            if (strcmp(r->policy[i].tco.item[k].confidence, how) == 0) return true;
    return false;
}

/* The words of the last column that occur, against those for device parameters further below. */
static void confidence(struct page *p)
{
    static const enum word words[][2] = {
        { W_READ, W_READ_MEANS },
        { W_QUOTED, W_QUOTED_MEANS },
        { W_COMMUNITY, W_COMMUNITY_MEANS },
        { W_SUSPECT, W_SUSPECT_MEANS },
        { W_UNVERIFIED, W_UNVERIFIED_MEANS },
        { W_ASSUMED, W_ASSUMED_MEANS },
        { W_NOT_STATED, W_NOT_STATED_MEANS },
    };
    strbuf_addf(p->out, "<p class=\"note\">%s ", page_word(p, W_TRUST_A_PRICE));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (confident(p->r, word(LANG_EN, words[i][0])))
            strbuf_addf(p->out, "<b>%s</b>: %s; ", page_word(p, words[i][0]),
                        page_word(p, words[i][1]));
    strbuf_addf(p->out, "%s</p>\n", page_word(p, W_NO_PRICE_MEASURED));
}

static void items(struct page *p)
{
    const struct result *r = p->r;
    struct grid t;
    page_note(p, W_ITEMS_NOTE);
    grid_open_cards(&t, p, "items", W_ITEMS);
    grid_column(&t, page_word(p, W_ITEM), NULL, true);
    grid_usd_columns(&t);
    grid_column(&t, page_word(p, W_PAID_FOR), NULL, true);
    grid_column(&t, page_word(p, W_SOURCE), NULL, true);
    grid_column(&t, page_word(p, W_DATE), NULL, true);
    grid_column(&t, page_word(p, W_CONFIDENCE), NULL, true);
    for (size_t i = 0; i < r->n_policies; i++) {
        const struct tco_result *x = &r->policy[i].tco;
        for (size_t k = 0; k < x->n_items; k++) {
            bool shown = false;
            for (size_t before = 0; before < i && !shown; before++)
                shown = find_item(&r->policy[before].tco, &x->item[k]) != NULL;
            if (!shown) item_row(&t, &x->item[k]);
        }
    }
    grid_totals(&t);
    for (int i = 0; i < 4; i++) grid_text(&t, "");
    grid_close(&t);
    confidence(p);
}

void page_money(struct page *p)
{
    static const struct column columns[] = {
        { W_THIS_RUN, W_TOTAL, W_USD, MONEY, AT(tco.total_usd), true },
        { W_THIS_RUN, W_A_YEAR, W_USD, MONEY, AT(tco.usd_per_year), true },
        { W_THIS_RUN, W_ENERGY, W_USD, MONEY, AT(tco.energy_usd), true },
        { W_OVER_THE_TERM, W_NPV, W_USD, MONEY, AT(tco.npv_usd), true },
        { W_OVER_THE_TERM, W_EAC, W_USD_A_YEAR, MONEY, AT(tco.eac_usd), true },
        { W_PRICE_OF_WORK, W_PER_PROVISIONED, W_USD, PRICE, AT(tco.usd_per_gpu_hour), true },
        { W_PRICE_OF_WORK, W_PER_USEFUL, W_USD, PRICE, AT(tco.usd_per_useful_gpu_hour), true },
        { W_PRICE_OF_WORK, W_PER_COMPLETED, W_USD, PRICE, AT(tco.usd_per_job), true },
    };
    bool priced = false;
    page_picture(p, "cost");
    for (size_t i = 0; i < p->r->n_policies; i++) priced = priced || p->r->policy[i].tco.priced;
    if (!priced) return;
    page_policy_table(p, "money", W_H_COST, W_MONEY_NOTE, columns,
                      sizeof columns / sizeof *columns);
    items(p);
    page_picture(p, "tornado");
    page_rent(p);
    page_charges(p);
}

/* ---- energy ---- */

static double of_usage(const struct policy_result *x, bool idle)
{
    double kwh = 0;
    for (size_t g = 0; g < x->usage.n_groups; g++)
        kwh += idle ? x->usage.group[g].idle_energy_kwh : x->usage.group[g].energy_kwh;
    return kwh;
}

void page_energy(struct page *p)
{
    struct grid t;
    bool any = false, priced = false;
    for (size_t i = 0; i < p->r->n_policies; i++) {
        any = any || p->r->policy[i].gpu.energy_kwh > 0;
        priced = priced || p->r->policy[i].tco.priced;
    }
    page_heading(p, "energy", W_H_ENERGY);
    if (!any) { /* zeros would pass for a finding */
        strbuf_addf(p->out, "<p class=\"soft\">%s</p>\n", page_word(p, W_NO_POWER));
        return;
    }
    page_note(p, W_ENERGY_NOTE);
    grid_open(&t, p, "energy-table", W_H_ENERGY);
    grid_column(&t, page_word(p, W_POLICY), NULL, true);
    grid_column(&t, page_word(p, W_AT_BOARD), page_word(p, W_KWH), false);
    grid_column(&t, page_word(p, W_OF_IDLE_CARDS), page_word(p, W_KWH), false);
    grid_column(&t, page_word(p, W_MEAN_POWER), page_word(p, W_KW), false);
    grid_column(&t, page_word(p, W_PER_USEFUL), page_word(p, W_KWH), false);
    if (priced) {
        grid_column(&t, page_word(p, W_ENERGY_COST), page_word(p, W_USD), false);
        grid_column(&t, page_word(p, W_CARBON_OPERATION), page_word(p, W_KG), false);
        grid_column(&t, page_word(p, W_CARBON_EMBODIED), page_word(p, W_KG), false);
        grid_column(&t, page_word(p, W_CARBON_PER_USEFUL), page_word(p, W_KG), false);
    }
    for (size_t i = 0; i < p->r->n_policies; i++) {
        const struct policy_result *x = &p->r->policy[i];
        grid_row(&t, false);
        grid_policy(&t, i);
        grid_number(&t, x->gpu.energy_kwh, FIGURE);
        grid_number(&t, x->usage.n_groups ? of_usage(x, true) : NAN, FIGURE);
        grid_number(&t, x->window_s > 0 ? x->gpu.energy_kwh / (x->window_s / 3600) : NAN, FIGURE);
        grid_number(&t, x->useful_gpu_hours > 0 ? x->gpu.energy_kwh / x->useful_gpu_hours : NAN,
                    FIGURE);
        if (!priced) continue;
        grid_cost(&t, i, x->tco.priced ? x->tco.energy_usd : NAN, x->tco.total_usd, MONEY);
        grid_number(&t, x->tco.priced ? x->tco.carbon_operation_kg : NAN, FIGURE);
        grid_number(&t, x->tco.priced ? x->tco.carbon_embodied_kg : NAN, FIGURE);
        grid_number(&t, x->tco.priced ? x->tco.carbon_kg_per_useful_gpu_hour : NAN, FIGURE);
    }
    grid_close(&t);
    page_picture(p, "power");
}
