/* Pods of Kubernetes: quantities, demand, times, JSON and YAML as text. */
#include "tests/support/import_checks.h"
#include "traces/k8s_demand.h"
#include "traces/k8s_objects.h"

#define PODS "traces/samples/kubernetes/"

/* ---- quantities ---------------------------------------------------------------------------------- */

static void quantities_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum k8s_status st;
        double units;
        uint64_t nano; /* low digits, where they matter */
    } cases[] = {
        { "1", K8S_OK, 1, 1000000000 },
        { "500m", K8S_OK, 0.5, 500000000 },
        { "100u", K8S_OK, 1e-4, 100000 },
        { "1n", K8S_OK, 1e-9, 1 },
        { "0.1n", K8S_OK, 1e-9, 1 }, /* finer than a billionth: up */
        { "16Gi", K8S_OK, 17179869184.0, 0 },
        { "1.2Gi", K8S_OK, 1288490188.8, 1288490188800000000 },
        { "1288490188800m", K8S_OK, 1288490188.8, 1288490188800000000 }, /* as the API prints it */
        { "1k", K8S_OK, 1e3, 0 },
        { "1Ki", K8S_OK, 1024, 0 },
        { "20k", K8S_OK, 20000, 0 },
        { "1E", K8S_OK, 1e18, 0 },
        { "1E3", K8S_OK, 1e3, 0 },
        { "1e-3", K8S_OK, 1e-3, 1000000 },
        { "+.5", K8S_OK, 0.5, 0 },
        { "5.", K8S_OK, 5, 0 },
        { "-1", K8S_OK, -1, 0 },
        { "0.50000000000000000000000", K8S_OK, 0.5, 500000000 },
        { "", K8S_EMPTY, 0, 0 },
        { "Gi", K8S_SYNTAX, 0, 0 },
        { "--1", K8S_SYNTAX, 0, 0 },
        { ".", K8S_SYNTAX, 0, 0 },
        { "16g", K8S_SUFFIX, 0, 0 },
        { "1K", K8S_SUFFIX, 0, 0 },
        { "1GB", K8S_SUFFIX, 0, 0 },
        { "1gi", K8S_SUFFIX, 0, 0 },
        { "1 Gi", K8S_SUFFIX, 0, 0 },
        { "1e", K8S_SUFFIX, 0, 0 },
        { "1e+", K8S_SUFFIX, 0, 0 },
        { "1.2.3", K8S_SUFFIX, 0, 0 },
        { "nan", K8S_SYNTAX, 0, 0 },
        { "0x10", K8S_SUFFIX, 0, 0 },
        { "1e19", K8S_RANGE, 0, 0 },
        { "99999999999999999999999999999999", K8S_RANGE, 0, 0 },
        { "1000000000000000000000000000000Ei", K8S_RANGE, 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct k8s_quantity q = { .nano = -7 };
        enum k8s_status st = k8s_quantity_parse(cases[i].text, strlen(cases[i].text), &q);
        if (st != cases[i].st) fail_msg("\"%s\": %d, expected %d", cases[i].text, st, cases[i].st);
        if (st != K8S_OK) {
            assert_true(q.nano == -7); /* untouched */
            continue;
        }
        assert_close((double)q.nano / 1e9, cases[i].units, 1e-15);
        if (cases[i].nano && q.nano != (k8s_nano)cases[i].nano) fail_msg("%s", cases[i].text);
    }
    assert_contains(k8s_why(K8S_SUFFIX), "Ki Mi Gi");
    uint64_t u = 0;
    assert_true(k8s_in_units(1, K8S_ONE, 10, &u)); /* up */
    assert_int_equal(u, 1);
    assert_false(k8s_in_units(-1, K8S_ONE, 10, &u));
    assert_false(k8s_in_units(K8S_ONE * 11, K8S_ONE, 10, &u));
}

/* ---- objects ------------------------------------------------------------------------------------- */

static void assert_objects(const char *text, size_t n, const int *lines)
{
    struct textfile f = textfile_of(text);
    struct k8s_objects o;
    struct err e = { 0 };
    if (k8s_objects_read(&o, f.path, &e) != 0) fail_msg("%s: %s", text, e.msg);
    assert_int_equal(o.list.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(o.list.v[i].line, lines[i]);
        json_t *v = k8s_object_get(&o, i, &e);
        if (!v) fail_msg("%s: %s", text, e.msg);
        char buf[40];
        assert_string_equal(k8s_text(json_object_get(v, "n"), buf, sizeof buf),
                            i == 0 ? "1" : "2.5");
        json_decref(v);
    }
    k8s_objects_fini(&o);
    textfile_close(&f);
}

static void objects_of_all_shapes(void **state)
{
    (void)state;
    static const int one[] = { 1 }, two[] = { 1, 2 };
    assert_objects("{\"n\": 1, \"x\": \"}]\\\"\"}", 1, one);
    assert_objects("[{\"n\": 1},\n {\"n\": 2.5}]", 2, two);
    assert_objects("{\"n\": 1}\n{\"n\": \"2.5\"}", 2, two);
    assert_objects("{\"kind\": \"List\", \"items\": [{\"n\": 1},\n {\"n\": 2.5}], \"z\": {}}", 2,
                   two);
    assert_objects("\xef\xbb\xbf{\"n\": 1}", 1, one);
    assert_objects("n: 1\n", 1, one);
    assert_objects("n: \"1\"\r\n---\r\nn: 2.5", 2, (const int[]){ 1, 3 });
    assert_objects("kind: List\nitems:\n- n: 1\n  m: [a, {b: null}]\n-\n  n: 2.5\n", 2,
                   (const int[]){ 3, 6 });
    assert_objects("- n: 1\n- n: 2.5\n", 2, two);
    assert_objects("# first\n\nn: 1 # a comment\n", 1, (const int[]){ 3 });
}

static void objects_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        { "", "empty file" },
        { "{\"items\": []}", "empty list" },
        { "{\"items\": [{\"n\": 1}", "cut off" },
        { "{\"n\": \"", "cut off" },
        { "[{\"n\": 1} {\"n\": 2}]", "not JSON" },
        { "{\"n\": 1}, x", "not JSON" },
        { "a: b: c: d\n", "not YAML" },
        { "n: [1\n", "not YAML" },
        { "n: &a 1\nm: *a\n", "aliases" },
        { "n: 1\nn: 2\n", "twice" },
        { "? [a]\n: 1\n", "plain text" },
        { "just words\n", "single value" },
        { "---\n", "empty list" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct textfile f = textfile_of(cases[i].text);
        struct k8s_objects o;
        struct err e = { 0 };
        assert_int_equal(k8s_objects_read(&o, f.path, &e), ERR_INPUT);
        assert_contains(e.msg, cases[i].part);
        k8s_objects_fini(&o); /* {0} */
        textfile_close(&f);
    }
    char deep[2000] = "n: ";
    for (int i = 0; i < 200; i++) strcat(deep, "[");
    struct textfile f = textfile_of(deep);
    struct k8s_objects o;
    struct err e = { 0 };
    assert_int_equal(k8s_objects_read(&o, f.path, &e), ERR_INPUT);
    textfile_close(&f);
}

/* ---- demand -------------------------------------------------------------------------------------- */

/* One finished pod with these annotations and this spec; a second, plain one keeps the trace
 * alive. */
static const char *pod_text(const char *notes, const char *spec)
{
    static char text[8000];
    snprintf(text, sizeof text,
             "{\"items\": [\n"
             "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\", \"annotations\": {%s}, "
             "\"creationTimestamp\": \"2024-01-01T00:00:00Z\"}, \"spec\": {%s}, \"status\": "
             "{\"phase\": \"Succeeded\", \"startTime\": \"2024-01-01T00:00:00Z\", "
             "\"containerStatuses\": [{\"state\": {\"terminated\": {\"finishedAt\": "
             "\"2024-01-01T00:01:00Z\"}}}]}},\n"
             "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"q\", \"creationTimestamp\": "
             "\"2024-01-01T00:00:00Z\"}, \"spec\": {}, \"status\": {\"phase\": \"Succeeded\", "
             "\"startTime\": \"2024-01-01T00:00:00Z\", \"containerStatuses\": [{\"state\": "
             "{\"terminated\": {\"finishedAt\": \"2024-01-01T00:01:00Z\"}}}]}}]}",
             notes, spec);
    return text;
}

static char detail[400]; /* of the first quarantined row of the last import */
static void load_detail(void)
{
    char path[300];
    snprintf(path, sizeof path, "%s.quarantine.csv", last_run.out);
    char *text = read_file(path), *row = strchr(text, '\n');
    snprintf(detail, sizeof detail, "%s", row ? row + 1 : "");
    free(text);
}

/* The GPUs of the pod, or the reason it is set aside. */
static void assert_demand(const char *notes, const char *spec, const char *want)
{
    struct textfile f = textfile_of(pod_text(notes, spec));
    char got[60];
    assert_import("kubernetes", f.path, "--lenient");
    load_detail();
    const char *reason = account_word("rows.quarantine.0.reason");
    snprintf(got, sizeof got, "%.15g", account_num("jobs.gpus"));
    if (strcmp(reason ? reason : got, want) != 0)
        fail_msg("%s %s: %s, expected %s (%s)", notes, spec, reason ? reason : got, want, detail);
    textfile_close(&f);
}

#define LIMITS(text) "\"containers\": [{\"name\": \"c\", \"resources\": {\"limits\": {" text "}}}]"

static void demand_of_cards(void **state)
{
    (void)state;
    assert_demand("", LIMITS(""), "0");
    assert_demand("", LIMITS("\"nvidia.com/gpu\": \"2\""), "2");
    assert_demand("", LIMITS("\"nvidia.com/gpu\": 2"), "2");
    assert_demand("", LIMITS("\"amd.com/gpu\": 4, \"rdma/hca\": 1, \"hugepages-2Mi\": \"4Mi\""),
                  "4");
    assert_demand("", "\"containers\": [{\"resources\": {\"requests\": {\"nvidia.com/gpu\": 1}}}]",
                  "1");
    /* the larger of the sum and each init container; a sidecar counts beside both */
    assert_demand(
        "",
        "\"initContainers\": [{\"resources\": {\"limits\": {\"nvidia.com/gpu\": 5}}}], " LIMITS(
            "\"nvidia.com/gpu\": 2"),
        "5");
    assert_demand(
        "",
        "\"initContainers\": [{\"restartPolicy\": \"Always\", \"resources\": {\"limits\": "
        "{\"nvidia.com/gpu\": 1}}}, {\"resources\": {\"limits\": {\"nvidia.com/gpu\": 1}}}], " LIMITS(
            "\"nvidia.com/gpu\": 2"),
        "3");
    assert_demand("", LIMITS("\"nvidia.com/gpu\": \"500m\""), "bad-value"); /* cards are whole */
    assert_demand("", LIMITS("\"nvidia.com/gpu\": \"-1\""), "bad-value");
    assert_demand("", LIMITS("\"nvidia.com/gpu\": \"16g\""), "bad-value");
    assert_contains(detail, "Ki Mi Gi");
    assert_demand("", LIMITS("\"memory\": \"16g\""), "bad-value");
    assert_demand("", LIMITS("\"cpu\": true"), "bad-value");
}

static void demand_of_shares(void **state)
{
    (void)state;
    assert_demand("\"gpu-fraction\": \"0.25\"", LIMITS(""), "0.25");
    assert_demand("\"gpu-fraction\": \"1\"", LIMITS(""), "1");
    assert_demand("\"gpu-fraction\": \"0.5\"", LIMITS("\"nvidia.com/gpu\": 1"), "odd-share");
    assert_demand("\"gpu-fraction\": \"1.5\"", LIMITS(""), "odd-share");
    assert_demand("\"gpu-fraction\": \"0.0005\"", LIMITS(""), "bad-value");
    assert_demand("\"gpu-fraction\": \"half\"", LIMITS(""), "bad-value");
    assert_demand("\"gpu-memory\": \"2000\"", LIMITS(""), "share-unknown");
    assert_demand("", LIMITS("\"nvidia.com/gpu\": 1, \"nvidia.com/gpucores\": 30"), "0.3");
    assert_demand("", LIMITS("\"nvidia.com/gpucores\": 30"), "0.3"); /* HAMi: one share */
    assert_demand("", LIMITS("\"nvidia.com/gpu\": 1, \"nvidia.com/gpumem-percentage\": 50"), "0.5");
    assert_demand("", LIMITS("\"nvidia.com/gpu\": 2, \"nvidia.com/gpucores\": 50"), "1");
    assert_account("rows.further_jobs", 1); /* two jobs of a half */
    assert_account("jobs.histogram.fraction", 2);
    assert_int_equal(rows_for("shared-instances"), 1);
    assert_demand("\"gpu-fraction\": \"0.5\", \"gpu-fraction-num-devices\": \"2\"", LIMITS(""),
                  "1");
    assert_account("jobs.histogram.fraction", 2);
    assert_demand(
        "",
        LIMITS(
            "\"nvidia.com/gpu\": 2, \"nvidia.com/gpucores\": 50") ", \"initContainers\": [{\"restartPolicy\": \"Always\", \"resources\": {\"limits\": {\"nvidia.com/gpu\": 1}}}]",
        "odd-share");
    assert_demand("", LIMITS("\"nvidia.com/gpu\": 2, \"nvidia.com/gpucores\": 100"), "2");
    assert_demand("", LIMITS("\"nvidia.com/gpu\": 1, \"nvidia.com/gpumem\": 3000"),
                  "share-unknown");
    assert_demand("", LIMITS("\"nvidia.com/gpucores\": 101"), "bad-value");
    assert_demand("", LIMITS("\"nvidia.com/gpu.shared\": 1"), "share-unknown");
    struct textfile f =
        textfile_of(pod_text("", LIMITS("\"nvidia.com/gpu\": 1, \"nvidia.com/gpumem\": \"20k\"")));
    assert_import("kubernetes", f.path, "--card-memory", "40 GiB"); /* 20,000 MiB of 40,960 */
    assert_account("jobs.gpus", 0.489);
    assert_account("missing.gpu_mem_bytes", 0.5);
    assert_import("kubernetes", f.path, "--card", "a100-sxm4-80gb");
    assert_account("jobs.gpus", 0.245);
    refused(ERR_INPUT, "does not explain", "kubernetes", f.path, "--card", "t4"); /* 16 GiB */
    textfile_close(&f);
}

static void demand_of_slices(void **state)
{
    (void)state;
    assert_demand("", LIMITS("\"nvidia.com/mig-1g.5gb\": 1"), "0.125");
    assert_demand("\"nvidia.com/mig-1g.5gb\": \"1\"", LIMITS(""), "0.125");
    assert_demand("", LIMITS("\"nvidia.com/mig-2g.10gb\": 1"), "0.25"); /* 2 of 8 memory units */
    assert_demand("", LIMITS("\"nvidia.com/mig-1g.5gb\": 2"), "0.25");
    assert_account("jobs.histogram.fraction", 2); /* two jobs of one slice */
    assert_demand("", LIMITS("\"nvidia.com/mig-7g.40gb\": 2"), "2");
    assert_demand("", LIMITS("\"nvidia.com/mig-1g.5gb\": 1, \"nvidia.com/mig-2g.10gb\": 1"),
                  "odd-share");
    assert_demand("", LIMITS("\"nvidia.com/mig-9g.1gb\": 1"), "share-unknown");
    assert_demand("", LIMITS("\"nvidia.com/mig-1g\": 1"), "unknown-key");
    struct textfile f = textfile_of(pod_text("", LIMITS("\"nvidia.com/mig-1g.10gb\": 1")));
    /* 1 of 8 units of an 80 GB card, 2 of 8 of a 40 GB one: the card must be named */
    refused(ERR_INPUT, "does not explain", "kubernetes", f.path);
    load_detail();
    assert_contains(detail, "another share on another card");
    assert_import("kubernetes", f.path, "--card", "h100-sxm5-80gb");
    assert_account("jobs.gpus", 0.125);
    assert_import("kubernetes", f.path, "--card", "a100-sxm4-40gb");
    assert_account("jobs.gpus", 0.25);
    refused(ERR_USAGE, "did you mean", "kubernetes", f.path, "--card", "a100-sxm4-40g");
    textfile_close(&f);
}

static void misspelt_keys(void **state)
{
    (void)state;
    static const struct {
        const char *notes, *spec, *near;
    } cases[] = {
        { "", LIMITS("\"nvidia.com/gpus\": 1"), "did you mean \"\"nvidia.com/gpu\"\"?" },
        { "", LIMITS("\"nvida.com/gpu\": 1"), "\"\"nvidia.com/gpu\"\"?" },
        { "", LIMITS("\"nvidia.com/gpumemory\": 1"), "\"\"nvidia.com/gpumem\"\"?" },
        { "", LIMITS("\"nvidia.com/whatever-else\": 1"), "unknown key" },
        { "", LIMITS("\"memroy\": \"1Gi\""), "\"\"memory\"\"?" },
        { "", LIMITS("\"gpu\": 1"), "unknown key" },
        { "", "\"containers\": [{\"name\": \"c\", \"resources\": {\"limit\": {}}}]",
          "\"\"limits\"\"?" },
        { "\"gpu-fractoin\": \"0.5\"", LIMITS(""), "\"\"gpu-fraction\"\"?" },
        { "\"gpu_fraction\": \"0.5\"", LIMITS(""), "\"\"gpu-fraction\"\"?" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_demand(cases[i].notes, cases[i].spec, "unknown-key");
        assert_contains(detail, cases[i].near);
    }
    assert_demand("\"prometheus.io/scrape\": \"true\", \"user\": \"x\"",
                  LIMITS("\"example.com/fpga\": 1"), "0");
}

/* ---- whole files --------------------------------------------------------------------------------- */

static void sample_json(void **state)
{
    (void)state;
    assert_import("auto", PODS "pods.json");
    assert_trace(
        "# gpusim-trace/1 origin=kubernetes file=pods.json until=2024-05-01T11:00:30Z "
        "time_zero_s=1714557540\n"
        "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,cpus,mem_bytes,group,walltime_s,status\n"
        "ml/hami,0,3680,0.3,3145728000,,,ml,,running\n"
        "ml/whole,60,3600,4,,6,9945533645,ml,7200,failed\n"
        "web/cpu-only,60,0,0,,0.35,1414319309,web,,completed\n");
    assert_int_equal(rows_for("never-started"), 1);
    assert_int_equal(rows_for("still-running"), 1);
    assert_int_equal(rows_for("memory-in-thousandths"), 1);
    assert_account("wait_s.sum", 10 + 30 + 1);
    assert_true(account_warns("--until"));
    assert_import("auto", PODS "pods.json", "--until", "2024-05-01T12:00:00+01:00");
    assert_account("gpu_seconds", 0.3 * (3600 + 50) + 4 * 3600);
    refused(ERR_INPUT, "does not explain", "kubernetes", PODS "pods.json", "--until",
            "2024-05-01T09:00:00Z");
    refused(ERR_USAGE, "--until", "kubernetes", PODS "pods.json", "--until", "2024-05-01 12:00:00");
    refused(ERR_INPUT, "--strict", "kubernetes", PODS "pods.json", "--strict");
}

static void sample_yaml(void **state)
{
    (void)state;
    assert_import("auto", PODS "pods.yaml");
    assert_trace(
        "# gpusim-trace/1 origin=kubernetes file=pods.yaml until=2024-03-31T09:10:05Z "
        "time_zero_s=1711875540\n"
        "job_id,submit_s,duration_s,gpus,gpu_mem_bytes,cpus,mem_bytes,group,priority,status\n"
        "team-b/slice,0,655,0.125,5100273664,0.5,,team-b,,running\n"
        "team-a/half,60,600,0.5,,0.1,100000000,team-a,7,completed\n"
        "team-b/evicted,360,120,2,,,,team-b,,failed\n");
    assert_account("capacity_gpus", 8); /* the label, not the capacity of 0 under MIG */
    assert_int_equal(rows_for("not-a-pod"), 1);
    assert_int_equal(rows_for("end-from-condition"), 1);
    char path[300];
    assert_import("kubernetes", PODS "pods.yaml", "--nodes", PODS "nodes/nodes.yaml");
    assert_account("capacity_gpus", 18);
    snprintf(path, sizeof path, "%s.fleet.json", last_run.out);
    json_t *fleet = json_load_file(path, 0, NULL);
    assert_string_equal(json_string_value(json_path_get(fleet, "fleet.0.gpu")), "a100-sxm4-40gb");
    assert_string_equal(json_string_value(json_path_get(fleet, "fleet.1.gpu")), "t4");
    assert_int_equal(json_integer_value(json_path_get(fleet, "fleet.1.gpus_per_node")), 2);
    assert_string_equal(json_string_value(json_path_get(fleet, "fleet.1.host_memory")), "32 GiB");
    json_decref(fleet);
    refused(ERR_INPUT, "--nodes", "auto", PODS "nodes/nodes.yaml");
    refused(ERR_INPUT, "found none", "kubernetes", PODS "pods.json", "--nodes", PODS "pods.json");
}

/* Two dumps of one pod: the later state counts. Time-slicing replicas come from the node's
 * label. */
static void dumps_over_time(void **state)
{
    (void)state;
    struct textfile f = textfile_of(
        "kind: Pod\nmetadata: {name: p, uid: u, creationTimestamp: 2024-01-01T00:00:00Z}\n"
        "spec: {nodeName: t4-1, nodeSelector: {nvidia.com/gpu.product: Tesla-T4-SHARED}, containers: "
        "[{resources: {limits: {nvidia.com/gpu.shared: 1}}}]}\n"
        "status: {phase: Running, startTime: 2024-01-01T00:00:10Z}\n"
        "---\n"
        "kind: Pod\nmetadata: {name: p, uid: u, creationTimestamp: 2024-01-01T00:00:00Z}\n"
        "spec: {nodeName: t4-1, nodeSelector: {nvidia.com/gpu.product: Tesla-T4-SHARED}, containers: "
        "[{resources: {limits: {nvidia.com/gpu.shared: 1}}}]}\n"
        "status: {phase: Failed, startTime: 2024-01-01T00:00:10Z, containerStatuses: [{state: "
        "{terminated: {finishedAt: 2024-01-01T00:00:40Z}}}]}\n"
        "---\n"
        "kind: Pod\nmetadata: {name: r, namespace: runai-reservation, creationTimestamp: "
        "2024-01-01T00:00:00Z}\nspec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}\n"
        "status: {phase: Running, startTime: 2024-01-01T00:00:10Z}\n"
        "---\n"
        "kind: Pod\nmetadata: {name: lost, creationTimestamp: 2024-01-01T00:00:00Z}\n"
        "status: {phase: Failed, startTime: 2024-01-01T00:00:10Z}\n");
    refused(ERR_INPUT, "does not explain", "kubernetes", f.path, "--nodes",
            PODS "nodes/nodes.yaml");
    assert_import("kubernetes", f.path, "--nodes", PODS "nodes/nodes.yaml", "--lenient");
    assert_int_equal(rows_for("superseded"), 1);
    assert_int_equal(rows_for("reservation-pod"), 1);
    assert_int_equal(rows_for("no-end"), 1);
    assert_account("rows.kept", 1);
    assert_word("gpu_seconds_exact", "7.500"); /* a quarter of a card for 30 s */
    assert_account("missing.gpu_model", 0);
    assert_account("missing.gpu_allowed", 0);
    assert_account("rows.quarantine.0.lines.0", 1);
    textfile_close(&f);
}

/* Dumps in several files: a pod counts once, as it ended or as it was seen last. */
static void dumps_in_files(void **state)
{
    (void)state;
#define POD(uid, status)                                                                           \
    "---\nkind: Pod\nmetadata: {name: " uid ", uid: " uid                                          \
    ", creationTimestamp: 2024-01-01T00:00:00Z}\n"                                                 \
    "spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}\n"                           \
    "status: {startTime: 2024-01-01T00:00:10Z, phase: " status "}\n"
    char *early = strdup(temp_file("-early.yaml", POD("u", "Running") POD("v", "Running")));
    char *late = strdup(temp_file(
        "-late.yaml", POD("u", "Succeeded, containerStatuses: [{state: {terminated: {finishedAt: "
                               "2024-01-01T00:00:40Z}}}]") POD("v", "Running")));
    for (int i = 0; i < 2; i++) {
        assert_import("kubernetes", i ? late : early, i ? early : late);
        assert_account("rows.read", 4);
        assert_int_equal(rows_for("superseded"), 2);
        assert_account("jobs.gpus", 16);
        assert_word("gpu_seconds_exact", "480.000"); /* 30 s each: v up to the latest instant */
        assert_import("kubernetes", i ? late : early, i ? early : late, "--until",
                      "2024-01-01T00:01:10Z");
        assert_word("gpu_seconds_exact", "720.000"); /* u 30 s, v 60 s */
    }
    assert_import("kubernetes", late, late);
    assert_int_equal(rows_for("superseded"), 2);
    free(early);
    free(late);
}

/* On a node that slices time without renaming, nvidia.com/gpu counts replicas, here of a
 * quarter. */
static void replicas_without_a_name(void **state)
{
    (void)state;
    for (int n = 1; n <= 2; n++) {
        char spec[200];
        snprintf(spec, sizeof spec,
                 "\"nodeName\": \"t4-1\", \"containers\": [{\"resources\": "
                 "{\"limits\": {\"nvidia.com/gpu\": %d}}}]",
                 n);
        struct textfile f = textfile_of(pod_text("", spec));
        assert_import("kubernetes", f.path, "--nodes", PODS "nodes/nodes.yaml", "--lenient");
        assert_account("jobs.gpus", 0.25 * n);
        assert_account("jobs.histogram.fraction", n);
        textfile_close(&f);
    }
}

static void real_files(void **state)
{
    (void)state;
    assert_import("auto", real("kubernetes/pod_mig_1g5gb.yaml"), "--nodes",
                  real("kubernetes/node_mig_3_instances.yaml"));
    assert_account("jobs.gpus", 0.125);
    assert_account("capacity_gpus", 1);
    assert_account("span.first_submit_s", 0);
    assert_account("wait_s.sum", 3); /* 07:56:47 to 07:56:50 */
    assert_account("gpu_seconds", 0.125 * 7);
    assert_account("missing.gpu_model", 0); /* a100-sxm4-40gb by the node's label */
    assert_import("auto", real("kubernetes/pod_fractional.yaml"), "--until",
                  "2024-03-31T10:03:27Z");
    assert_account("jobs.gpus", 0.5);
    assert_account("gpu_seconds", 1800);
    assert_account("wait_s.sum", 5);
    refused(ERR_INPUT, "no pod", "kubernetes", real("kubernetes/node_t4_fraction.yaml"));
    assert_import("kubernetes", real("kubernetes/pod_fractional.yaml"), "--nodes",
                  real("kubernetes/node_t4_fraction.yaml"));
    assert_account("capacity_gpus", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_are_exact), cmocka_unit_test(objects_of_all_shapes),
        cmocka_unit_test(objects_refused),      cmocka_unit_test(demand_of_cards),
        cmocka_unit_test(demand_of_shares),     cmocka_unit_test(demand_of_slices),
        cmocka_unit_test(misspelt_keys),        cmocka_unit_test(sample_json),
        cmocka_unit_test(sample_yaml),          cmocka_unit_test(dumps_over_time),
        cmocka_unit_test(dumps_in_files),       cmocka_unit_test(replicas_without_a_name),
        cmocka_unit_test(real_files),
    };
    return cmocka_run_group_tests_name("import_kubernetes", tests, NULL, free_last_run);
}
