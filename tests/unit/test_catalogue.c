/* Conformance of the shipped cards: every file of scenarios/gpus loads (with all checks of
 * model/gpu.c), says where each value comes from, and agrees with the data sheets that were
 * read. */
#include "base/csv.h"
#include "model/gpu.h"
#include "model/mig.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct gpu_catalogue *cards;

static int setup(void **state)
{
    struct err e = { 0 };
    (void)state;
    if (gpu_catalogue_load(&cards, NULL, &e) == 0) return 0;
    err_print(&e, "test_catalogue", stderr);
    return -1;
}

static int teardown(void **state)
{
    (void)state;
    gpu_catalogue_destroy(cards);
    return 0;
}

static const struct gpu_spec *card(const char *name)
{
    const struct gpu_spec *g = gpu_find(cards, name, NULL);
    if (!g) fail_msg("no card %s", name);
    return g;
}

/* Straight from the sheets, by hand: GiB nominal, TB/s, W, fp32 and fp16 TFLOPS, int8 TOPS. */
static void known_cards(void **state)
{
    static const struct {
        const char *name;
        double gib, tbps, tdp, fp32, fp16, int8;
    } want[] = {
        { "a100-sxm4-40gb", 40, 1.555, 400, 19.5, 312, 624 },
        { "a100-sxm4-80gb", 80, 2.039, 400, 19.5, 312, 624 },
        { "a100-pcie-40gb", 40, 1.555, 250, 19.5, 312, 624 },
        { "a100-pcie-80gb", 80, 1.935, 300, 19.5, 312, 624 },
        { "h100-sxm5-80gb", 80, 3.352, 700, 66.9, 989.4, 1979 },
        { "h100-pcie-80gb", 80, 2.039, 350, 51.2, 756, 1513 },
        { "h100-nvl-94gb", 94, 3.938, 400, 60, 835, 1671 },
        { "h200-sxm5-141gb", 141, 4.8, 700, 66.9, 989.4, 1979 },
        { "a30", 24, 0.933, 165, 10.32, 165, 330 },
        { "l40s", 48, 0.864, 350, 91.6, 362, 733 },
        { "l4", 24, 0.3, 72, 30.3, 121, 242 },
        { "t4", 16, 0.32, 70, 8.14, 65.1, 130 },
        { "v100-sxm2-32gb", 32, 0.9, 300, 15.67, 125, NAN },
    };
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct gpu_spec *g = card(want[i].name);
        assert_close((double)g->memory_bytes, want[i].gib * 1073741824.0, 0);
        assert_close(g->mem_Bps, want[i].tbps * 1e12, 1e-12);
        assert_close(g->tdp_W, want[i].tdp, 0);
        assert_close(g->peak[PREC_fp32].dense_ops, want[i].fp32 * 1e12, 1e-12);
        assert_close(g->peak[PREC_fp16].dense_ops, want[i].fp16 * 1e12, 1e-12);
        if (isnan(want[i].int8))
            assert_true(isnan(g->peak[PREC_int8].dense_ops));
        else
            assert_close(g->peak[PREC_int8].dense_ops, want[i].int8 * 1e12, 1e-12);
    }
    assert_true(card("l40s")->usable_bytes == UINT64_C(46068) << 20);
    assert_close((double)card("a100-sxm4-40gb")->usable_bytes, 39.5 * 1073741824, 0);
    const double t4 = (double)card("t4")->usable_bytes / (double)card("t4")->memory_bytes;
    assert_true(t4 > 0.96 && t4 < 0.97);
    assert_close(card("a100-pcie-80gb")->idle_context_W, 80, 0);
    assert_close(card("h100-sxm5-80gb")->idle_W, 71.8, 0);
    /* a mode that is not there and one that nobody published are two things */
    assert_true(card("a100-sxm4-40gb")->peak[PREC_fp8].none);
    assert_false(card("v100-sxm2-32gb")->peak[PREC_int8].none);
    /* H200 sparse FP8 must not be printed as dense */
    assert_close(card("h200-sxm5-141gb")->peak[PREC_fp8].dense_ops, 1979e12, 1e-12);
    assert_close(card("h200-sxm5-141gb")->peak[PREC_fp8].sparse_ops, 3958e12, 1e-12);
}

static void every_value_has_a_source(void **state)
{
    static const char *const sections[] = { "chip", "memory", "peak", "power", "link" };
    (void)state;
    for (size_t i = 0; i < gpu_catalogue_count(cards); i++) {
        const struct gpu_spec *g = gpu_catalogue_at(cards, i);
        for (size_t s = 0; g->sheet && s < sizeof sections / sizeof *sections; s++) {
            const char *key;
            json_t *v;
            json_object_foreach(json_object_get(g->sheet, sections[s]), key, v)
            {
                const char *source = json_string_value(json_object_get(v, "source"));
                if (json_is_object(v) && (!source || !*source))
                    fail_msg("%s: %s.%s has no source", g->name, sections[s], key);
            }
        }
        if (g->mig &&
            json_array_size(json_object_get(json_object_get(g->sheet, "mig"), "sources")) == 0)
            fail_msg("%s: mig has no source", g->name);
    }
}

static void sane(void **state)
{
    (void)state;
    assert_true(gpu_catalogue_count(cards) >= 50);
    for (size_t i = 0; i < gpu_catalogue_count(cards); i++) {
        const struct gpu_spec *g = gpu_catalogue_at(cards, i);
        bool any = false;
        for (int p = 0; p < PREC_COUNT; p++) any |= g->peak[p].dense_ops > 0;
        if (!any) fail_msg("%s has no peak at all", g->name);
        assert_true(g->usable_bytes > 0 && g->mem_Bps > 0);
        if (g->usable_bytes < g->memory_bytes * 9 / 10)
            fail_msg("%s: a tenth of the memory is gone", g->name);
        assert_true(gpu_power_W(g, false, 0) <= gpu_power_W(g, true, 0));
        assert_true(gpu_power_W(g, true, 0) <= gpu_power_W(g, true, 1));
        if (g->claim == PEAK_ok && strcmp(g->name, "k80") != 0) /* Kepler has no fp16 */
            assert_true(fabs(g->check_fp16.off) <= PEAK_TOLERANCE &&
                        fabs(g->check_fp32.off) <= PEAK_TOLERANCE);
        if (i) assert_true(strcmp(gpu_catalogue_at(cards, i - 1)->name, g->name) < 0);
    }
}

static void mig_boards(void **state)
{
    static const struct {
        const char *card, *board;
        int slices, units, full_sms;
    } want[] = {
        { "a30", "A30-24GB", 4, 4, 56 },
        { "a100-sxm4-40gb", "A100-40GB", 7, 8, 98 },
        { "a100-pcie-80gb", "A100-80GB", 7, 8, 98 },
        { "h100-sxm5-80gb", "H100-SXM5-80GB", 7, 8, 132 },
        { "h100-pcie-80gb", "H100-PCIE-80GB", 7, 8, 114 },
        { "h100-nvl-94gb", "H100-94GB", 7, 8, 132 },
        { "h200-sxm5-141gb", "H200-141GB", 7, 8, 132 },
        { "rtxpro6000bw-se", "RTX-PRO-6000-Blackwell-96GB", 4, 12, 188 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct mig_geometry *m = card(want[i].card)->mig;
        assert_non_null(m);
        assert_string_equal(m->board, want[i].board);
        assert_int_equal(m->compute_slices, want[i].slices);
        assert_int_equal(m->memory_units, want[i].units);
        assert_int_equal(m->full_sms, want[i].full_sms);
    }
    assert_null(card("t4")->mig);
    assert_null(card("l40s")->mig);
    /* one name, two boards, two sizes: the board decides */
    const struct mig_geometry *sxm = card("h100-sxm5-80gb")->mig,
                              *pcie = card("h100-pcie-80gb")->mig;
    assert_int_equal(sxm->profile[mig_profile_find(sxm, "1g.20gb")].sms, 26);
    assert_int_equal(pcie->profile[mig_profile_find(pcie, "1g.20gb")].sms, 14);
}

/* No layout of plain instances has more SMs or bytes than the card. */
static void no_layout_exceeds_the_card(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_catalogue_count(cards); i++) {
        const struct gpu_spec *g = gpu_catalogue_at(cards, i);
        int plain[MIG_MAX_PROFILES], n = 0;
        struct mig_census c;
        if (!g->mig) continue;
        for (int p = 0; p < g->mig->n_profiles; p++)
            if (g->mig->profile[p].plain) plain[n++] = p;
        mig_census(g->mig, plain, n, &c);
        for (size_t k = 0; k < c.undominated.n; k++) {
            int sms = 0, slices = 0;
            uint64_t bytes = 0;
            for (int s = 0; s < c.undominated.v[k].n; s++) {
                const struct mig_profile *p = &g->mig->profile[c.undominated.v[k].slice[s].profile];
                sms += p->sms;
                slices += p->compute_slices;
                bytes += p->usable_bytes;
            }
            if (sms > g->sms || slices > g->mig->compute_slices || bytes > g->usable_bytes)
                fail_msg("%s: a layout has %d SMs, %d slices, %g GiB", g->name, sms, slices,
                         (double)bytes / 1073741824);
        }
        vec_fini(&c.undominated);
    }
}

/* ---- peak = units x clock x operations, every precision ---- */

/* Dense operations per clock and SM (compute unit) of a generation: NVIDIA's architecture white
 * papers (GK210, GP100, GV100, TU102, GA100, GA102, AD102, GH100, Blackwell), AMD's (CDNA 2, 3 and
 * 4). In the order of PRECISION_MAP; 0: no such mode, or nothing is claimed here. fp64 and fp32 run
 * at the boost clock, the rest at the matrix clock. */
static const struct generation {
    const char *arch; /* how it begins */
    int ops[PREC_COUNT];
} generations[] = {
    { "Kepler", { 128, 0, 384 } },
    { "Pascal", { 64, 0, 128, 0, 256 } },
    { "Volta", { 64, 0, 128, 0, 1024 } },
    { "Turing", { 4, 0, 128, 0, 1024, 0, 0, 0, 2048, 4096 } },
    { "Ampere GA100", { 64, 128, 128, 1024, 2048, 2048, 0, 0, 4096, 8192 } },
    { "Ampere GA10", { 4, 0, 256, 512, 1024, 1024, 0, 0, 2048, 4096 } },
    { "Ada", { 4, 0, 256, 512, 1024, 1024, 2048, 0, 2048, 4096 } },
    { "Hopper", { 128, 256, 256, 2048, 4096, 4096, 8192, 0, 8192, 0 } },
    { "Blackwell GB100", { 128, 128, 256, 4096, 8192, 8192, 16384, 32768, 16384, 0 } },
    { "Blackwell GB202", { 4, 0, 256, 512, 1024, 1024, 2048, 4096, 2048, 0 } },
    { "CDNA2", { 128, 256, 128, 0, 1024, 1024, 0, 0, 1024, 1024 } },
    { "CDNA3", { 128, 256, 256, 1024, 2048, 2048, 4096, 0, 4096, 0 } },
    { "CDNA4", { 128, 128, 256, 0, 4096, 4096, 8192, 16384, 8192, 0 } },
};

/* Sheets that do not follow: which precisions, by how much (sheet over calculation), and why. */
static const struct exception {
    const char *card, *precisions;
    double ratio;
    const char *why;
} exceptions[] = {
    { "a10", "fp64", 2, "the source prints 1/32 of fp32; GA102 has 1/64" },
    { "a16", "fp32 tf32 int8", 1.037, "the published peaks imply 1758 MHz" },
    { "a16", "fp16 bf16", 1.031, "likewise, rounded" },
    { "b300", "fp64 fp64_tensor", 0.0325, "GB300 keeps a few FP64 units" },
    { "b300", "tf32 fp16 bf16 fp8", 0.913, "no matrix clock is published: 1856 MHz by these" },
    { "b300", "fp4", 1.279, "GB300 has half as many FP4 units again, at that clock" },
    { "gb200", "fp64 fp64_tensor", 1.152, "from another table (NVL2) than the clock" },
    { "gb200", "fp32", 1.024, "rounded to 80" },
    { "h20", "fp64", 0.0506, "export limit" },
    { "h20", "fp64_tensor", 0.0253, "export limit" },
    { "h20", "fp32", 1.113, "no public clock gives 44" },
    { "h20", "tf32 fp16 bf16 fp8 int8", 0.253, "a quarter of the matrix rate: export limit" },
    { "h800-sxm5-80gb", "fp64", 0.0337, "export limit" },
    { "h800-sxm5-80gb", "fp64_tensor", 0.0169, "export limit" },
    { "h800-sxm5-80gb", "tf32", 0.919, "the source's TF32 is of a lower clock than its FP16" },
    { "l40", "tf32 fp16 bf16 fp8 int8 int4", 0.5, "half the matrix rate of an L40S" },
    { "l40s", "fp64", 0.978, "rounded to 1.4" },
    { "l40s", "int4", 0.506, "the sheet prints the rate of INT8" },
    { "rtx4090", "tf32 bf16", 0.5, "GeForce: half where sums are kept in FP32" },
};

static const struct exception *exception_of(const char *card_name, int p)
{
    const size_t length = strlen(precision_names[p]);
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        const char *found = exceptions[i].precisions;
        if (strcmp(exceptions[i].card, card_name) != 0) continue;
        for (; (found = strstr(found, precision_names[p])); found++)
            if (found[length] == ' ' || found[length] == '\0') return &exceptions[i];
    }
    return NULL;
}

static const struct generation *generation_of(const struct gpu_spec *g)
{
    for (size_t i = 0; g->arch && i < sizeof generations / sizeof *generations; i++)
        if (strncmp(g->arch, generations[i].arch, strlen(generations[i].arch)) == 0)
            return &generations[i];
    return NULL;
}

static void peaks_follow_from_units_and_clock(void **state)
{
    const double tolerance = 0.02;
    int held = 0, cards_held = 0;
    size_t excepted = 0, stated = 0;
    bool bad = false;
    (void)state;
    for (size_t i = 0; i < gpu_catalogue_count(cards); i++) {
        const struct gpu_spec *g = gpu_catalogue_at(cards, i);
        const struct generation *of = generation_of(g);
        if (!of || !g->sms || isnan(g->boost_Hz)) continue;
        cards_held++;
        for (int p = 0; p < PREC_COUNT; p++) {
            const double sheet = g->peak[p].dense_ops, sparse = g->peak[p].sparse_ops;
            const bool vector = p == PREC_fp64 || p == PREC_fp64_tensor || p == PREC_fp32;
            const double calculated = g->sms * (vector ? g->boost_Hz : g->matrix_Hz) * of->ops[p];
            const struct exception *x = exception_of(g->name, p);
            if (isnan(sheet)) continue;
            if (!(fabs(sheet / calculated / (x ? x->ratio : 1) - 1) <= tolerance)) {
                print_message("%s %s: %.4g, calculated %.4g (x %.4f)\n", g->name,
                              precision_names[p], sheet / 1e12, calculated / 1e12,
                              sheet / calculated);
                bad = true;
            }
            if (x && fabs(x->ratio - 1) <= tolerance) fail_msg("%s is no exception", x->card);
            held++;
            excepted += x != NULL;
            /* two of four values left out; of GB300's FP4 the sheet gives 15 and 12.6 PFLOPS */
            const bool less = strcmp(g->name, "b300") == 0 && p == PREC_fp4;
            if (!isnan(sparse) && !(fabs(sparse / sheet / (less ? 1.19 : 2) - 1) <= tolerance))
                fail_msg("%s %s: sparse is %g x dense", g->name, precision_names[p],
                         sparse / sheet);
        }
    }
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        stated++;
        for (const char *c = exceptions[i].precisions; *c; c++) stated += *c == ' ';
    }
    print_message("%d peaks of %d cards, %zu of them stated exceptions\n", held, cards_held,
                  excepted);
    assert_false(bad);
    assert_int_equal(excepted, stated); /* each is met */
    assert_true(cards_held >= 38 && held >= 259);
}

/* ---- against the reference table, where it is at hand ---- */

static int column(const struct csv_row *head, const char *name)
{
    for (size_t i = 0; i < head->n; i++)
        if (csv_is(&head->f[i], name)) return (int)i;
    fail_msg("no column %s", name);
    return -1;
}

/* NAN for an empty field and for "n/a". */
static double number(const struct csv_field *f)
{
    char text[64], *end;
    if (!f->len || f->len >= sizeof text) return NAN;
    memcpy(text, f->s, f->len);
    text[f->len] = '\0';
    double v = strtod(text, &end);
    return end == text || *end ? NAN : v;
}

static void matches_the_reference(void **state)
{
    static const struct csv_format format = { .delimiter = ',', .quotes = true };
    static const char *const peaks[PREC_COUNT] = { "fp64_vec",   "fp64_mat",   "fp32_vec",
                                                   "tf32_dense", "fp16_dense", "bf16_dense",
                                                   "fp8_dense",  "fp4_dense",  "int8_dense",
                                                   "int4_dense" };
    const char *path = shared_path("reference/gpu_catalogue.csv");
    struct csv_row row;
    struct err e = { 0 };
    struct csv *c;
    int at[PREC_COUNT], id, bw, tdp, found = 0, rows = 0;
    (void)state;
    if (!path) skip_without_shared("reference/gpu_catalogue.csv");
    assert_int_equal(csv_open(&c, path, &format, &e), 0);
    assert_int_equal(csv_next(c, &row, &e), 1);
    id = column(&row, "id");
    bw = column(&row, "mem_bw_gbs");
    tdp = column(&row, "tdp_w");
    for (int p = 0; p < PREC_COUNT; p++) at[p] = column(&row, peaks[p]);
    while (csv_next(c, &row, &e) == 1) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)row.f[id].len, row.f[id].s);
        const struct gpu_spec *g = gpu_find(cards, name, NULL);
        rows++;
        if (!g) continue; /* left out for lack of a figure: README of the folder */
        found++;
        assert_close(g->mem_Bps, number(&row.f[bw]) * 1e9, 1e-12);
        assert_close(g->tdp_W, number(&row.f[tdp]), 1e-12);
        for (int p = 0; p < PREC_COUNT; p++) {
            const double want = number(&row.f[at[p]]) * 1e12;
            if (isnan(want) ? !isnan(g->peak[p].dense_ops)
                            : fabs(g->peak[p].dense_ops / want - 1) > 1e-12)
                fail_msg("%s: %s is %g, the table says %g", name, precision_names[p],
                         g->peak[p].dense_ops, want);
            if (g->peak[p].none != csv_is(&row.f[at[p]], "n/a"))
                fail_msg("%s: %s: there or not?", name, precision_names[p]);
        }
    }
    csv_close(c);
    assert_true(rows - found <= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_cards),
        cmocka_unit_test(every_value_has_a_source),
        cmocka_unit_test(sane),
        cmocka_unit_test(mig_boards),
        cmocka_unit_test(no_layout_exceeds_the_card),
        cmocka_unit_test(peaks_follow_from_units_and_clock),
        cmocka_unit_test(matches_the_reference),
    };
    return cmocka_run_group_tests_name("catalogue", tests, setup, teardown);
}
