/* The profiles that ship: each one reads clean, is about a card of the catalogue and within its
 * sheet, says for every figure how it is known; and the derived figures follow from the reference
 * data. */
#include "base/csv.h"
#include "model/sheet.h"
#include "tests/support/support.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char folder[] = "calibrate/profiles";
static struct gpu_catalogue *cards;

static int set_up(void **state)
{
    struct err e = { 0 };
    (void)state;
    return gpu_catalogue_load(&cards, NULL, &e);
}

static int tear_down(void **state)
{
    (void)state;
    gpu_catalogue_destroy(cards);
    return 0;
}

/* Reads one profile; fails the test when anything is wrong with it. */
static void load(const char *key, struct gpu_profile *p, struct arena *a)
{
    struct json_doc doc = { 0 };
    struct err e = { 0 };
    struct diag d;
    char path[300];
    snprintf(path, sizeof path, "%s/%s.json", folder, key);
    diag_init(&d);
    if (json_doc_load(&doc, path, &e) < 0) fail_msg("%s", e.msg);
    profile_read(p, a, &doc, &d);
    const struct gpu_spec *g = p->gpu ? gpu_find(cards, p->gpu, NULL) : NULL;
    if (!g || strcmp(g->name, key) != 0) fail_msg("%s: is about %s", path, p->gpu ? p->gpu : "?");
    if (d.count == 0) sheet_check(g, p, &doc, &d);
    if (d.count) fail_msg("%s: %s: %s", path, d.problem[0].where, d.problem[0].msg);
    diag_fini(&d);
    json_doc_fini(&doc);
}

static void every_file(void **state)
{
    DIR *dir = opendir(folder);
    struct dirent *f;
    int n = 0;
    (void)state;
    assert_non_null(dir);
    while ((f = readdir(dir))) {
        char key[256];
        struct gpu_profile p;
        struct arena *a = arena_create();
        const char *dot = strstr(f->d_name, ".json");
        if (dot && !strstr(f->d_name, ".samples.")) {
            int stated = 0;
            snprintf(key, sizeof key, "%.*s", (int)(dot - f->d_name), f->d_name);
            load(key, &p, a);
            for (int i = 0; i < PROFILE_COUNT; i++) {
                if (!p.from_file[i]) continue;
                const struct param *v = &p.param[i];
                if (isnan(v->low) || isnan(v->high) || strlen(v->source) < 10)
                    fail_msg("%s: %s without range or source", key, profile_fields[i].key);
                stated++;
            }
            if (stated == 0) fail_msg("%s says nothing", key);
            n++;
        }
        arena_destroy(a);
    }
    closedir(dir);
    assert_true(n >= 9);
}

static void the_promised_cards(void **state)
{
    static const char *const key[] = { "a100-pcie-40gb",
                                       "a100-sxm4-40gb",
                                       "a100-pcie-80gb",
                                       "a100-sxm4-80gb",
                                       "h100-sxm5-80gb",
                                       "h200-sxm5-141gb",
                                       "l4",
                                       "l40s",
                                       "t4",
                                       "a30",
                                       "v100-sxm2-16gb" };
    (void)state;
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        struct gpu_profile p;
        struct arena *a = arena_create();
        load(key[i], &p, a);
        assert_true(p.from_file[PROFILE_timeslice_quantum_us]);
        assert_true(p.from_file[PROFILE_base_mem_Bps]);
        arena_destroy(a);
    }
}

static double number(const struct csv_row *r, size_t i)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)r->f[i].len, r->f[i].s);
    return strtod(text, NULL);
}

static bool is(const struct csv_row *r, size_t i, const char *text)
{
    return r->f[i].len == strlen(text) && memcmp(r->f[i].s, text, r->f[i].len) == 0;
}

/* Least and greatest aggregate (column 12) of the rows of one card under one policy with this many
 * tenants loaded (column 4; 0: more than one), in sharing_measured.csv. */
static int aggregates(const char *gpu, const char *policy, const char *metric, double *low,
                      double *high)
{
    const char *path = shared_path("reference/sharing_measured.csv");
    struct csv *c;
    struct csv_row r;
    int n = 0;
    if (!path || csv_open(&c, path, &(struct csv_format){ .delimiter = ',', .quotes = true }, NULL))
        return 0;
    *low = INFINITY;
    *high = -INFINITY;
    while (csv_next(c, &r, NULL) == 1) {
        if (!is(&r, 1, gpu) || !is(&r, 2, policy) || number(&r, 4) < 2) continue;
        if (metric && !is(&r, 6, metric)) continue;
        const double v = number(&r, 12);
        if (v < *low) *low = v;
        if (v > *high) *high = v;
        n++;
    }
    csv_close(c);
    return n;
}

/* eta = q / (q + c), so c = q (1 / eta - 1); q is 1024 us, its range 1000 to 2000 us. */
static void check_switch(const char *key, double eta_low, double eta, double eta_high)
{
    struct gpu_profile p;
    struct arena *a = arena_create();
    load(key, &p, a);
    const struct param *v = &p.param[PROFILE_timeslice_switch_us];
    assert_close(v->value, 1024 * (1 / eta - 1), 1e-3);
    assert_close(v->low, 1000 * (1 / eta_high - 1), 1e-3);
    assert_close(v->high, 2000 * (1 / eta_low - 1), 1e-3);
    assert_int_equal(v->provenance, PROV_PUBLISHED);
    arena_destroy(a);
}

static void switch_costs_follow(void **state)
{
    double low, high, low2, high2;
    (void)state;
    if (!shared_path("reference/sharing_measured.csv"))
        skip_without_shared("reference/sharing_measured.csv");
    assert_int_equal(aggregates("A100-PCIE-80GB", "timeslice", NULL, &low, &high), 2);
    check_switch("a100-pcie-80gb", low, high, high);
    assert_int_equal(aggregates("T4", "timeslice", NULL, &low, &high), 1);
    check_switch("t4", low, low, low);
    assert_int_equal(aggregates("A30", "vgpu_timeslice", "hbm_dtod", &low, &high), 1);
    assert_int_equal(aggregates("A30", "vgpu_timeslice", "small_gemm", &low2, &high2), 1);
    check_switch("a30", low, (low + low2) / 2, low2);
}

/* constants_gpu_oplevel.csv: gpu, sheet GB/s, sheet TFLOPS, share of the first, of the second. */
static void bandwidths_follow(void **state)
{
    static const struct {
        const char *row, *key;
    } same[] = { { "a100_sxm", "a100-sxm4-80gb" },
                 { "h100_sxm", "h100-sxm5-80gb" },
                 { "h200_sxm", "h200-sxm5-141gb" },
                 { "l40s", "l40s" } };
    const char *path = shared_path("reference/llm/constants_gpu_oplevel.csv");
    struct csv *c;
    struct csv_row r;
    int n = 0;
    (void)state;
    if (!path) skip_without_shared("reference/llm/constants_gpu_oplevel.csv");
    assert_int_equal(csv_open(&c, path, &(struct csv_format){ .delimiter = ',' }, NULL), 0);
    while (csv_next(c, &r, NULL) == 1) {
        for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
            struct gpu_profile p;
            if (!is(&r, 0, same[i].row)) continue;
            struct arena *a = arena_create();
            load(same[i].key, &p, a);
            assert_close(p.param[PROFILE_base_mem_Bps].value, 1e9 * number(&r, 1) * number(&r, 3),
                         1e-3);
            assert_close(p.param[PROFILE_base_gemm_bf16_flops].value,
                         1e12 * number(&r, 2) * number(&r, 4), 1e-3);
            arena_destroy(a);
            n++;
        }
    }
    csv_close(c);
    assert_int_equal(n, 4);
}

/* constants_gpu_vidur.csv, the second laboratory: gpu, share of bandwidth, share of matrix rate.
 * Every range of a matrix rate reaches down to that, and up to the best card of the first. */
static void ranges_hold_both_laboratories(void **state)
{
    static const struct {
        const char *key;
        double sheet_T, least;
    } c[] = { { "a100-sxm4-80gb", 312, 0.6754 },
              { "h100-sxm5-80gb", 989, 0.6467 },
              { "h200-sxm5-141gb", 989, 0.6467 },
              { "l40s", 362, 0.6467 } };
    const char *path = shared_path("reference/llm/constants_gpu_vidur.csv");
    struct csv *f;
    struct csv_row r;
    double a100 = NAN, h100 = NAN, a100_w = NAN, h100_w = NAN;
    (void)state;
    if (!path) skip_without_shared("reference/llm/constants_gpu_vidur.csv");
    assert_int_equal(csv_open(&f, path, &(struct csv_format){ .delimiter = ',' }, NULL), 0);
    while (csv_next(f, &r, NULL) == 1) {
        if (is(&r, 0, "a100")) a100 = number(&r, 2), a100_w = number(&r, 1);
        if (is(&r, 0, "h100")) h100 = number(&r, 2), h100_w = number(&r, 1);
    }
    csv_close(f);
    assert_close(a100, c[0].least, 1e-12);
    assert_close(h100, c[1].least, 1e-12);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct gpu_profile p;
        struct arena *a = arena_create();
        load(c[i].key, &p, a);
        const struct param *v = &p.param[PROFILE_base_gemm_bf16_flops];
        assert_close(v->low, 1e12 * c[i].sheet_T * c[i].least, 1e-3);
        assert_close(v->high, 1e12 * c[i].sheet_T * 0.8666, 1e-3);
        if (i == 0) assert_close(p.param[PROFILE_base_mem_Bps].high, 2039e9 * a100_w, 1e-3);
        if (i == 1) assert_close(p.param[PROFILE_base_mem_Bps].low, 3350e9 * h100_w, 1e-3);
        arena_destroy(a);
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median, least and greatest of a metric of overheads.csv (column 2; the value is column 5). */
static int spread(const char *metric, double *median, double *low, double *high)
{
    const char *path = shared_path("reference/overheads.csv");
    double v[32];
    struct csv *f;
    struct csv_row r;
    int n = 0;
    if (!path || csv_open(&f, path, &(struct csv_format){ .delimiter = ',', .quotes = true }, NULL))
        return 0;
    while (csv_next(f, &r, NULL) == 1)
        if (is(&r, 2, metric) && n < 32) v[n++] = number(&r, 5);
    csv_close(f);
    if (n == 0) return 0;
    qsort(v, (size_t)n, sizeof *v, by_size);
    *median = (v[(n - 1) / 2] + v[n / 2]) / 2;
    *low = v[0];
    *high = v[n - 1];
    return n;
}

static void reconfiguration_follows(void **state)
{
    static const char *const key[] = { "a100-pcie-40gb", "a100-sxm4-40gb" };
    static const struct {
        enum profile_param param;
        const char *metric;
        int n;
    } c[] = { { PROFILE_mig_repartition_s, "total_direct_executor", 2 },
              { PROFILE_mig_operator_s, "gpu_operator_template_until_allocatable", 8 } };
    double median, low, high;
    (void)state;
    if (!shared_path("reference/overheads.csv")) skip_without_shared("reference/overheads.csv");
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 2; k++) {
            struct gpu_profile p;
            struct arena *a = arena_create();
            load(key[i], &p, a);
            assert_int_equal(spread(c[k].metric, &median, &low, &high), c[k].n);
            const struct param *v = &p.param[c[k].param];
            assert_close(v->value, median, 1e-3);
            assert_close(v->low, low, 1e-3);
            assert_close(v->high, high, 1e-3);
            assert_int_equal(v->provenance, i == 0 ? PROV_PUBLISHED : PROV_ASSUMED);
            /* 35122 MiB counted of 36336 held */
            assert_int_equal(spread("memory_seen_inside_vs_driver", &median, &low, &high), 1);
            assert_close(p.param[PROFILE_intercept_quota_bytes_error].value, 1 - median / 36336,
                         1e-3);
            assert_close(p.param[PROFILE_base_context_bytes].high, (36336 - median) * 1048576,
                         1e-9);
            arena_destroy(a);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file),
        cmocka_unit_test(the_promised_cards),
        cmocka_unit_test(switch_costs_follow),
        cmocka_unit_test(bandwidths_follow),
        cmocka_unit_test(ranges_hold_both_laboratories),
        cmocka_unit_test(reconfiguration_follows),
    };
    return cmocka_run_group_tests_name("published profiles", tests, set_up, tear_down);
}
