/* plots/report_page.c - the page: answer first, then evidence, then how to check it. */
#include "plots/page.h"

void report_page(const struct result *r, const struct report_picture *pictures, size_t n,
                 const struct report_look *look, struct strbuf *out)
{
    struct page p = { .out = out,
                      .r = r,
                      .lang = look->lang,
                      .imports = look->imports,
                      .risk = look->risk,
                      .effects = look->effects,
                      .missing = look->missing,
                      .beside = look->beside,
                      .a = arena_create(),
                      .picture = pictures,
                      .n_pictures = n };
    static const char *const use[] = { "card_time", "card_time_series", "use", "fragments" };
    static const char *const waits[] = { "wait_cdf", "turnaround_cdf", "class_wait_cdf",
                                         "class_turnaround_cdf" };
    page_head(&p);
    page_answer(&p);
    page_decisions(&p);
    page_comparison(&p);
    page_picture(&p, "differences");
    page_picture(&p, "pareto");
    for (size_t i = 0; i < sizeof use / sizeof *use; i++) page_picture(&p, use[i]);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) page_picture(&p, waits[i]);
    page_classes(&p);
    page_failures(&p);
    page_picture(&p, "load");
    page_picture(&p, "mig_map");
    page_services(&p);
    page_sweep(&p);
    page_money(&p);
    page_energy(&p);
    page_qualities(&p);
    page_precision(&p);
    page_assumptions(&p);
    page_reproduce(&p);
    strbuf_addz(out, "</main>\n");
    page_script(&p);
    strbuf_addz(out, "</body>\n</html>\n");
    arena_destroy(p.a);
}
