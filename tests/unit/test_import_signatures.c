/* Measurements into work signatures: DCGM exporter text and nvidia-smi documents. */
#include "base/arena.h"
#include "model/signature.h"
#include "tests/support/import_checks.h"

#include <math.h>

/* Every profile is one that a scenario takes. */
static void assert_usable(size_t n)
{
    json_t *profiles = json_path_get(last_run.account, "profiles"), *v;
    const char *name;
    struct arena *a = arena_create();
    struct json_doc doc = { 0 };
    struct diag d;
    diag_init(&d);
    assert_int_equal(json_object_size(profiles), n);
    json_object_foreach(profiles, name, v)
    {
        struct signature s;
        signature_read(&s, a, &doc, v, "", &d);
        if (d.count > 0) fail_msg("%s: %s", name, d.problem[0].msg);
    }
    diag_fini(&d);
    arena_destroy(a);
}

static json_t *profile(const char *name)
{
    json_t *v = json_object_get(json_object_get(last_run.account, "profiles"), name);
    if (!v) fail_msg("no profile \"%s\"", name);
    return v;
}

static double share(const char *name, const char *key)
{
    return json_number_value(json_object_get(profile(name), key));
}

static bool flagged(const char *entity, const char *part)
{
    char path[80];
    size_t i;
    json_t *f;
    snprintf(path, sizeof path, "entities.%s.flags", entity);
    json_array_foreach(json_path_get(last_run.account, path), i, f)
    {
        if (strstr(json_string_value(f), part)) return true;
    }
    return false;
}

/* ---- DCGM ---------------------------------------------------------------------------------------- */

static void dcgm_sample(void **state)
{
    (void)state;
    const char *train = "ml/train \"x\"";
    assert_document("auto", "traces/samples/dcgm/slices.prom");
    assert_usable(1);
    assert_close(share(train, "host"), 1 - 0.625, 1e-12); /* mean of 0.5 and 0.75 */
    assert_close(share(train, "memory"), 0.125, 1e-12);
    assert_close(share(train, "compute"), 0.5, 1e-12);
    assert_close(share(train, "sm_width"), 0.25 / 0.625, 1e-9);
    assert_string_equal(json_string_value(json_object_get(profile(train), "footprint")),
                        "4384 MiB");
    assert_account("account.read", 13);
    assert_account("account.kept", 9);
    assert_int_equal(rows_for("not-a-sample"), 2);
    assert_int_equal(rows_for("other-metric"), 1);
    assert_int_equal(rows_for("no-value"), 1);
    assert_account("cards.0.raw.DCGM_FI_DEV_POWER_USAGE.max", 116.043); /* one card, not two */
    assert_account("cards.0.raw.DCGM_FI_DEV_POWER_USAGE.n", 2);
    assert_true(account_warns("1 of 2 cards or slices have no usable duty: unknown, not idle"));
    assert_true(flagged("1", "top out at 1/3"));
    char path[300];
    snprintf(path, sizeof path, "%s.quarantine.csv", last_run.out);
    char *text = read_file(path);
    assert_contains(text, "file,line,reason,detail,row\n");
    assert_contains(text, "slices.prom,1,not-a-sample,,\"two slices, made by hand\"\n");
    assert_contains(text, ",no-value,,");
    free(text);
}

static void dcgm_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *reason; /* "": kept */
    } cases[] = {
        { "DCGM_FI_DEV_FB_USED{gpu=\"0\"} 5", "" },
        { "DCGM_FI_DEV_FB_USED{gpu=\"0\",} 5 1711875600000", "" },
        { "DCGM_FI_DEV_FB_USED 5", "" },
        { "  DCGM_FI_DEV_FB_USED { gpu = \"0\" , pod=\"a\\\\b\\n\" } 5e0  ", "" },
        { "DCGM_FI_DEV_FB_USED{gpu=\"0\"} NaN", "no-value" },
        { "DCGM_FI_DEV_FB_USED{gpu=\"0\"} 9223372036854775794", "no-value" },
        { "DCGM_FI_DEV_FB_USED{gpu=\"0\"} 2147483634", "no-value" },
        { "DCGM_FI_DEV_FB_USED{gpu=\"0\"} 140737488355330", "no-value" },
        { "DCGM_FI_DEV_FB_USED{gpu=\"0\"}", "bad-sample" },
        { "DCGM_FI_DEV_FB_USED{gpu=\"0} 5", "bad-sample" },
        { "DCGM_FI_DEV_FB_USED{gpu=0} 5", "bad-sample" },
        { "DCGM_FI_DEV_FB_USED{=\"0\"} 5", "bad-sample" },
        { "DCGM_FI_DEV_FB_USED{gpu=\"0\"} five", "bad-sample" },
        { "DCGM_FI_DEV_FB_USED{gpu=\"0\"} 5 soon", "bad-sample" },
        { "DCGM_FI_DEV_FB_USED", "bad-sample" },
        { "node_load1 0.5", "other-metric" },
        { "A title with 5", "not-a-sample" },
        { "=====", "not-a-sample" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, "DCGM_FI_DEV_FB_USED{gpu=\"0\"} 1\r\n%s", cases[i].line);
        struct textfile f = textfile_of(text);
        assert_document("dcgm", f.path, "--lenient");
        if (cases[i].reason[0] ? rows_for(cases[i].reason) != 1 : account_num("account.kept") < 2)
            fail_msg("%s: not \"%s\"", cases[i].line, cases[i].reason);
        if (strcmp(cases[i].reason, "bad-sample") == 0)
            refused(ERR_INPUT, "does not explain", "dcgm", f.path);
        if (cases[i].reason[0]) refused(ERR_INPUT, "--strict", "dcgm", f.path, "--strict");
        textfile_close(&f);
    }
    struct textfile none = textfile_of("# HELP DCGM_FI_DEV_FB_USED x\n");
    refused(ERR_INPUT, "found none", "auto", none.path);
    textfile_close(&none);
    none = textfile_of("");
    refused(ERR_INPUT, "found none", "dcgm", none.path);
    textfile_close(&none);
}

/* SM-active of 1.29 was seen: kept raw and flagged; a duty out of range gives no signature. */
static void dcgm_out_of_range(void **state)
{
    (void)state;
    struct textfile f = textfile_of("DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\"} 1\n"
                                    "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\"} 1.29\n"
                                    "DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"1\"} 1.01\n"
                                    "DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"2\"} 0.25\n"
                                    "DCGM_FI_PROF_SM_ACTIVE{gpu=\"2\"} 0.5\n"
                                    "DCGM_FI_DEV_GPU_UTIL{gpu=\"3\"} 40\n"
                                    "DCGM_FI_DEV_MEM_COPY_UTIL{gpu=\"3\"} 60\n"
                                    "DCGM_FI_DEV_GPU_UTIL{gpu=\"4\",GPU_I_ID=\"1\"} 40\n");
    assert_document("dcgm", f.path);
    assert_usable(3); /* 0, 2, 3 */
    assert_account("entities.0.raw.DCGM_FI_PROF_SM_ACTIVE.mean", 1.29);
    assert_true(flagged("0", "out of range"));
    assert_true(flagged("1", "out of range"));
    assert_true(flagged("2", "no sm_width"));
    assert_null(json_object_get(profile("gpu0"), "sm_width"));
    assert_null(json_object_get(profile("gpu2"), "sm_width"));
    assert_close(share("gpu3", "memory"), 0.4, 1e-12); /* no more than the duty */
    assert_close(share("gpu3", "compute"), 0, 1e-12);
    textfile_close(&f);
}

static void dcgm_real(void **state)
{
    (void)state;
    assert_document("auto", real("dcgm-prometheus/a100_mig_2x1g5gb_1x2g10gb.prom"));
    assert_usable(3);
    assert_account("account.kept", 42);
    assert_close(share("gpu0-1g.5gb-9", "host"), 1 - 0.999917, 1e-6);
    assert_close(share("gpu0-1g.5gb-9", "memory"), 0.647986, 1e-12);
    assert_string_equal(json_string_value(json_object_get(profile("gpu0-1g.5gb-9"), "footprint")),
                        "4384 MiB");
    assert_int_equal(json_array_size(json_path_get(last_run.account, "cards")), 1);
    assert_account("cards.0.raw.DCGM_FI_DEV_POWER_USAGE.min", 116.043);
    assert_account("cards.0.raw.DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION.last", 57585599);
    assert_document("auto", real("dcgm-prometheus/t4_fraction_1_workload.prom"));
    assert_usable(2);
    assert_int_equal(json_array_size(json_path_get(last_run.account, "cards")), 2);
    assert_account("cards.0.raw.DCGM_FI_DEV_POWER_USAGE.last", 28.722);
    assert_account("entities.0.raw.DCGM_FI_DEV_FB_USED.last", 128);
    assert_true(account_warns("reservation pod"));
    assert_document("auto", real("dcgm-prometheus/a100_mig_disabled_empty.prom"));
    assert_account("entities.0.raw.DCGM_FI_PROF_DRAM_ACTIVE.n", 2); /* two scrapes */
    assert_int_equal(rows_for("not-a-sample"), 3);
    assert_document("dcgm", real("dcgm-prometheus/a100_mig_active_1g5gb.prom"),
                    real("dcgm-prometheus/t4_fraction_1_workload.prom"));
    assert_usable(3);
    assert_non_null(profile("nvidia-dcgm-exporter-km55s/gpu0-1g.5gb-9")); /* two hosts */
}

/* ---- nvidia-smi ----------------------------------------------------------------------------------- */

static void smi_sample(void **state)
{
    (void)state;
    assert_document("auto", "traces/samples/nvidia-smi/twice.xml");
    assert_usable(1);
    assert_close(share("gpu0", "host"), 0.3, 1e-12); /* mean of 80 and 60 % */
    assert_close(share("gpu0", "memory"), 0.25, 1e-12);
    assert_string_equal(json_string_value(json_object_get(profile("gpu0"), "footprint")),
                        "21000 MiB");
    assert_string_equal(json_string_value(json_object_get(profile("gpu0"), "pcie")), "5 MB/s");
    assert_account("cards.0.raw.average_power_draw_W.mean", 300.5);
    assert_account("cards.0.raw.instant_power_draw_W.mean", 310.25);
    assert_null(json_path_get(last_run.account, "cards.0.raw.module_average_power_draw_W"));
    assert_word("entities.0.model", "NVIDIA H100 80GB HBM3");
}

static void smi_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        { "", "empty file" },
        { "  \n", "not an nvidia-smi document" },
        { "hello", "not an nvidia-smi document" },
        { "<html></html>", "another XML document" },
        { "<nvidia_smi_log><gpu></nvidia_smi_log>", "mismatched tag" },
        { "<nvidia_smi_log><gpu>", "the document is cut off" },
        { "<nvidia_smi_log><gpu><uu", "the document is cut off" },
        { "<nvidia_smi_log></nvidia_smi_log>", "found none" },
        { "<nvidia_smi_log><gpu></gpu></nvidia_smi_log>trailing", "not an nvidia-smi document" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct textfile f = textfile_of(cases[i].text);
        refused(ERR_INPUT, cases[i].part, "nvidia-smi", f.path);
        textfile_close(&f);
    }
    struct textfile f = textfile_of(
        "<nvidia_smi_log>\n<gpu><uuid>u</uuid>\n<utilization><gpu_util>50 W</gpu_util>"
        "<memory_util>[Unknown Error]</memory_util></utilization>\n"
        "<fb_memory_usage><used>many MiB</used></fb_memory_usage></gpu></nvidia_smi_log>\n");
    refused(ERR_INPUT, "does not explain", "auto", f.path);
    assert_document("auto", f.path, "--lenient");
    assert_int_equal(rows_for("bad-value"), 2);
    assert_account("account.quarantine.0.lines.0", 3);
    assert_account("account.quarantine.0.lines.1", 4);
    assert_usable(0);
    textfile_close(&f);
}

static void smi_real(void **state)
{
    (void)state;
    assert_document("auto", real("nvidia-smi/tesla-t4.xml"));
    assert_usable(1);
    assert_account("cards.0.raw.power_draw_W.last", 26.78);
    assert_account("entities.0.raw.fb_used_MiB.last", 1032);
    assert_account("entities.0.raw.fb_total_MiB.last", 15360);
    assert_account("entities.0.raw.gpu_util_percent.last", 0);
    assert_document("auto", real("nvidia-smi/a10g.xml"));
    assert_usable(1);
    assert_word("entities.0.model", "NVIDIA A10G");
    assert_document("auto", real("nvidia-smi/a100-sxm4-v12.xml"));
    assert_usable(0); /* utilisation is N/A under MIG */
    assert_int_equal(json_array_size(json_path_get(last_run.account, "entities")), 5);
    assert_account("cards.0.raw.power_draw_W.last", 67.03);
    assert_account("entities.0.raw.fb_used_MiB.last", 50);
    assert_account("entities.1.raw.fb_total_MiB.last", 19968);
    assert_account("entities.4.raw.multiprocessors.last", 14);
    assert_word("entities.4.mig_instance", "6.0");
    assert_true(account_warns("unknown, not idle"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dcgm_sample),       cmocka_unit_test(dcgm_lines),
        cmocka_unit_test(dcgm_out_of_range), cmocka_unit_test(dcgm_real),
        cmocka_unit_test(smi_sample),        cmocka_unit_test(smi_refused),
        cmocka_unit_test(smi_real),
    };
    return cmocka_run_group_tests_name("import_signatures", tests, NULL, free_last_run);
}
