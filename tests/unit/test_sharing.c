/* What each way of sharing a card promises, asked of the policies themselves: how far a fault reaches. */
#include "tests/support/simulate.h"

#include <string.h>

static struct gpu_catalogue *cards;
static struct arena *arena;
static struct gpu_profile shipped;

static int set_up(void **state)
{
    struct err e = { 0 };
    (void)state;
    arena = arena_create();
    profile_defaults(&shipped);
    return gpu_catalogue_load(&cards, NULL, &e);
}

static int tear_down(void **state)
{
    (void)state;
    gpu_catalogue_destroy(cards);
    arena_destroy(arena);
    return 0;
}

static const struct share_ops *policy(const char *kind)
{
    for (size_t i = 0; share_all[i]; i++)
        if (strcmp(share_all[i]->name, kind) == 0) return share_all[i];
    fail_msg("no policy %s", kind);
    return NULL;
}

/* Parameters of `kind` from `text`, bound to the card; lives until the end. */
static void *params(const char *kind, const char *text, const struct card_type *type)
{
    const struct share_ops *s = policy(kind);
    struct json_doc doc = { 0 };
    struct err e = { 0 };
    struct diag d;
    void *p = arena_alloc(arena, s->params_size);
    memset(p, 0, s->params_size);
    diag_init(&d);
    assert_int_equal(json_doc_parse(&doc, "share", text, strlen(text), &e), 0);
    cfg_read(s->fields, s->fields_n, p, arena, &doc, doc.root, "", NULL, 0, &d);
    if (d.count) fail_msg("%s: %s %s", kind, d.problem[0].where, d.problem[0].msg);
    diag_fini(&d);
    json_doc_fini(&doc);
    assert_null(s->bind(p, arena, type));
    return p;
}

static struct card_type card(const char *name)
{
    const struct gpu_spec *gpu = gpu_find(cards, name, NULL);
    assert_non_null(gpu);
    return (struct card_type){ .gpu = gpu, .profile = &shipped };
}

static void how_far_a_fault_reaches(void **state)
{
    static const struct {
        const char *kind, *text, *card;
        enum blast want;
    } cases[] = {
        { "whole", "{}", "t4", BLAST_JOB },
        { "mig", "{}", "a30", BLAST_JOB }, /* an instance has one job */
        { "remote", "{}", "t4", BLAST_JOB },
        { "timeslice", "{}", "t4", BLAST_JOB }, /* sources disagree: a parameter */
        { "timeslice", "{\"fault\": \"card\"}", "t4", BLAST_CARD },
        { "intercept", "{}", "t4", BLAST_JOB },
        { "intercept", "{\"fault\": \"node\"}", "t4", BLAST_NODE },
        { "mps", "{}", "v100-sxm2-16gb", BLAST_CARD },
        { "mps", "{}", "h200-sxm5-141gb", BLAST_CARD },
        { "mps", "{}", "p100-pcie-16gb", BLAST_NODE },
        { "mps", "{}", "k80", BLAST_NODE },
        { "mps", "{\"fault\": \"job\"}", "k80", BLAST_JOB },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct card_type type = card(cases[i].card);
        const struct share_ops *s = policy(cases[i].kind);
        const void *p = params(cases[i].kind, cases[i].text, &type);
        const enum blast got = s->blast ? s->blast(p, &type) : BLAST_JOB;
        if (got != cases[i].want)
            fail_msg("%s %s on %s: %d, expected %d", cases[i].kind, cases[i].text, cases[i].card,
                     (int)got, (int)cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_far_a_fault_reaches),
    };
    return cmocka_run_group_tests_name("sharing", tests, set_up, tear_down);
}
