/* tests/support/fake_result.h - a plausible result of the scenario "mixed" with three policies, for
 * tests of the writer, the report and the table. Header-only: include it in one .c per program. */
#ifndef GPUSIM_TESTS_FAKE_RESULT_H
#define GPUSIM_TESTS_FAKE_RESULT_H

#include "model/result.h"

#include <math.h>
#include <string.h>

static struct summary fake_stat(uint64_t n, double scale)
{
    return (struct summary){
        n, 2, 1.7 * scale, 0.4 * scale, 4.5 * scale, 7.25 * scale, 18.125 * scale, 61.3 * scale, NAN
    };
}

static struct job_stats fake_stats(uint64_t n, double scale)
{
    return (struct job_stats){ fake_stat(n, 150 * scale), fake_stat(n, 4000 * scale),
                               fake_stat(n, 1 + scale) };
}

static struct job_group_result fake_group(const char *name, uint64_t n, double scale)
{
    return (struct job_group_result){
        .name = name,
        .count = { .submitted = n + 3,
                   .completed = n,
                   .failed = 1,
                   .rejected = 2,
                   .failed_oom = 1,
                   .preemptions = 3,
                   .deadlines_met = 4,
                   .deadlines_missed = 2 },
        .stats = fake_stats(n, scale),
        .gpu_hours = 1.9 * (double)n,
        .useful_gpu_hours = 1.25 * (double)n,
    };
}

/* A language model with two targets, one of them missed. */
static void fake_service(struct service_result *v, struct arena *a, double wait)
{
    struct target_result *target = arena_array(a, 2, sizeof *target);
    target[0] = (struct target_result){ "ttft_p99", 500, 181.25 * wait, 0.9921, true };
    target[1] = (struct target_result){ "tpot_mean", 25, 31.5, 0.41, false };
    *v = (struct service_result){
        .name = "chat & <co>",
        .requests = 5231,
        .completed = 5100,
        .dropped = 81,
        .refused = 40,
        .timed_out = 41,
        .unservable = 30,
        .waiting = 13,
        .in_service = 7,
        .wait_ms = fake_stat(5100, 12 * wait),
        .latency_ms = fake_stat(5100, 300),
        .ttft_ms = fake_stat(5100, 30),
        .tpot_ms = fake_stat(5000, 3),
        .target = target,
        .n_targets = 2,
        .attainment = 0.405,
        .throughput_per_s = 8.5,
        .goodput_per_s = 3.4425,
        .tokens_per_s = 1700.5,
        .goodput_tokens_per_s = 680.125,
        .replicas_mean = 2.375,
        .busy = 0.8125,
        .replicas_max = 4,
        .replicas_started = 9,
        .replicas_never_up = 1,
        .gpu_hours = 399,
        .usd_per_million_requests = 61.5,
        .usd_per_million_tokens = 0.3125,
        .stable = wait < 2,
        .unstable_reason = wait < 2 ? NULL : "its queue grew to the end of the run",
    };
}

/* wait: how long jobs wait against the first policy; held: allocated share of card time. */
static void fake_policy(struct policy_result *p, struct arena *a, const char *name,
                        const char *kind, double wait, double held)
{
    static const double months[] = { 70000, 71000.5, 72001, 73001.5 },
                        rent[] = { 0, 35500.25, 71000.5, 106500.75 };
    static const struct payback cloud = { "cloud <1>", 3, NAN, 426003, rent };
    static struct gpu_spec gpu; /* only its name and TDP are written */
    struct job_group_result *group = arena_array(a, 5, sizeof *group);
    struct usage_group *fleet = arena_alloc(a, sizeof *fleet);
    struct usage_tenant *tenant = arena_array(a, 2, sizeof *tenant);
    struct cost_item_result *item = arena_array(a, 4, sizeof *item);
    struct charge *charge = arena_array(a, 4, sizeof *charge);
    const double hours = 168, card_hours = 32 * hours, stranded = strcmp(kind, "mig") ? 0 : 0.031;

    gpu.name = "a100-sxm4-80gb";
    gpu.tdp_W = 400;
    group[0] = fake_group("training", 500, wait);
    group[1] = fake_group("dev", 300, wait);
    group[2] = fake_group("", 50, wait);
    group[3] = fake_group("<script>alert('x')</script>", 450, wait);
    group[4] = fake_group("bob & \"co\"", 300, wait);
    *fleet = (struct usage_group){
        .name = "a100",
        .gpu = &gpu,
        .nodes = 4,
        .cards = 32,
        .allocated_h = held * card_hours,
        .free_h = (1 - held - stranded) * card_hours,
        .stranded_h = stranded * card_hours,
        .down_h = 0,
        .no_context_h = (1 - held) * card_hours,
        .context_h = held * card_hours,
        .sm_active_h = 0.37 * held * card_hours,
        .duty_h = strcmp(kind, "mig") ? 0.66 * held * card_hours : NAN,
        .memory_h = 0.3 * card_hours,
        .energy_kwh = 900.5,
        .idle_energy_kwh = 120.25,
    };
    tenant[0] = (struct usage_tenant){ .name = group[3].name,
                                       .jobs = 450,
                                       .allocated_h = 0.6 * fleet->allocated_h,
                                       .billed_h = 0.6 * fleet->allocated_h,
                                       .useful_h = 700,
                                       .energy_kwh = 468.15 };
    tenant[1] = (struct usage_tenant){ .name = group[4].name,
                                       .jobs = 400,
                                       .allocated_h = 0.4 * fleet->allocated_h,
                                       .billed_h = 0.4 * fleet->allocated_h,
                                       .useful_h = 500,
                                       .energy_kwh = 312.1 };
    item[0] = (struct cost_item_result){
        "card a100-sxm4-80gb", "card", "Epoch AI chip table", "2025-03-04", "read", 32, 1341.75
    };
    item[1] = (struct cost_item_result){ "host",    "card", "Epoch AI overhead factor 1.6",
                                         "2025-06", "read", 32,
                                         805.05 };
    item[2] = (struct cost_item_result){ "energy",  "kwh",   "assumed tariff", "2026",
                                         "assumed", 1350.75, 135.075 };
    item[3] = (struct cost_item_result){ "maintenance", "card", "warehouse-scale book",
                                         "2018",        "read", 32,
                                         429.5 };
    const double total = 1341.75 + 805.05 + 135.075 + 429.5, fixed = total - 135.075;
    charge[0] = (struct charge){ group[3].name, 0.6 * held * fixed + 70.2225,
                                 0.6 * fleet->allocated_h, 468.15 };
    charge[1] = (struct charge){ group[4].name, 0.4 * held * fixed + 46.815,
                                 0.4 * fleet->allocated_h, 312.1 };
    charge[2] =
        (struct charge){ "(idle)", (1 - held - stranded) * fixed + 18.0375, fleet->free_h, 120.25 };
    charge[3] = (struct charge){ "(stranded)", stranded * fixed, fleet->stranded_h, 0 };

    struct service_result *service = arena_alloc(a, sizeof *service);
    fake_service(service, a, wait);
    *p = (struct policy_result){
        .name = name,
        .kind = kind,
        .service = service,
        .n_services = 1,
        .gpu = { .count = 32,
                 .allocated = held,
                 .duty = fleet->duty_h / card_hours,
                 .sm_active = 0.37 * held,
                 .memory = 0.3,
                 .stranded = stranded,
                 .down = 0,
                 .free_share = 1 - held - stranded,
                 .energy_kwh = 900.5,
                 .fragmentation = 0.0625,
                 .effective_is_upper_bound = true },
        .jobs = { .submitted = 857,
                  .completed = 850,
                  .failed = 3,
                  .rejected = 2,
                  .running = 1,
                  .queued = 1,
                  .failed_oom = 2 },
        .stats = fake_stats(850, wait),
        .gpu_hours = fleet->allocated_h,
        .useful_gpu_hours = 1200,
        .by_class = group,
        .n_classes = 3,
        .by_user = group + 3,
        .n_users = 2,
        .tco = { .priced = true,
                 .hours = hours,
                 .total_usd = total,
                 .usd_per_year = total / hours * 8760,
                 .npv_usd = 612345.5,
                 .eac_usd = 184876.25,
                 .usd_per_gpu_hour = total / card_hours,
                 .usd_per_useful_gpu_hour = total / 1200,
                 .usd_per_job = total / 850,
                 .energy_usd = 135.075,
                 .item = item,
                 .n_items = 4,
                 .rate = 0.08,
                 .term_y = 0.25,
                 .upfront_usd = 70000,
                 .resale_usd = 61000.5,
                 .paid_by_month_usd = months,
                 .n_months = 4,
                 .payback = &cloud,
                 .n_paybacks = 1,
                 .charge = charge,
                 .n_charges = 4 },
        .usage = { .hours = hours,
                   .group = fleet,
                   .n_groups = 1,
                   .tenant = tenant,
                   .n_tenants = 2,
                   .jobs_completed = 850,
                   .gpu_hours = fleet->allocated_h,
                   .useful_gpu_hours = 1200 },
        .stable = true,
        .events = 4567,
        .trace_rows = 857,
        .provenance = { 3, 5, 9 },
        .window_s = hours * 3600,
        .end_s = hours * 3600,
        .rejected_reason = "needs 16 cards, the largest pool has 8",
    };
    for (int i = 0; i < PREC_COUNT; i++) p->gpu.effective_ops[i] = p->gpu.peak_ops[i] = NAN;
    p->gpu.effective_ops[PREC_bf16] = 1.5e15;
    p->gpu.peak_ops[PREC_bf16] = 32 * 312e12;
    p->gpu.effective_ops[PREC_int8] = 2e14;
    p->gpu.peak_ops[PREC_int8] = 32 * 624e12;
}

static void fake_result(struct result *r, struct arena *a)
{
    static const char *const hashes[] = {
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    };
    static const struct result_input inputs[] = { { "gpu", "a100-sxm4-80gb.json", "0a1b" },
                                                  { "prices", "default.json", "2c3d" } };
    static const struct result_file files[] = { { "tco.csv", { 4711, 0x0badcafe } } };
    static const char *const advice[] = {
        "Choose \"mps\": its jobs wait 41 % less at p95 than under \"whole\" for the same cost.",
        "Under \"timeslice\" 2 jobs ran out of memory."
    };
    static const struct decision_fleet decided_fleet[] = { { "a100", "a100-sxm4-80gb", 4, 32 } };
    static const struct advice_reason reasons[] = {
        { "0.41 USD per useful GPU-hour; mig 0.45 (+9.8 %)", "cost", "mig", 0.41, 0.45 }
    };
    static const struct advice_flip flips[] = { { "if mig cost 8.9 % less, it would be the cheaper",
                                                  "cost_share", "mig", -0.089 },
                                                { "if none did", "fit", NULL, NAN } };
    static const char *const changes[] = { "seed=42", "fleet.a100.nodes=4" };
    static const char *const as_good[] = { "whole" };
    static const struct decision_option options[] = {
        { "whole", true, 0.45, 0.44, 0.46, 0.48, 0.0625, -0.01, 0.06, true },
        { "mig", false, 0.5, 0.49, 0.52, 0.55, NAN, NAN, NAN, false },
        { "mps & <b>more</b>", true, 0.41, 0.4, 0.42, 0.43, 0.9375, NAN, NAN, false }
    };
    static const struct decision decisions[] = { { .about = "(all)",
                                                   .policy = "mps & <b>more</b>",
                                                   .kind = "mps",
                                                   .fleet = decided_fleet,
                                                   .n_fleet = 1,
                                                   .cost_unit = "USD per useful GPU-hour",
                                                   .by_median = true,
                                                   .option = options,
                                                   .n_options = 3,
                                                   .tie = as_good,
                                                   .n_ties = 1,
                                                   .reason = reasons,
                                                   .n_reasons = 1,
                                                   .flip = flips,
                                                   .n_flips = 2 },
                                                 { .about = "training" } };
    static const struct quality qualities[] = { { "mig", "licence", "none on bare metal",
                                                  "a <guide>" } };
    static const struct comparison_row rows[] = {
        { "mig", "jobs.wait_s.p95", "s", 1087.5, 1631.25, 543.75, NAN, NAN },
        { "mps & <b>more</b>", "jobs.wait_s.p95", "s", 1087.5, 641.625, -445.875, -520.5, -371.25 }
    };
    struct policy_result *p = arena_array(a, 3, sizeof *p);
    fake_policy(&p[0], a, "whole", "whole", 1.0, 0.75);
    fake_policy(&p[1], a, "mig", "mig", 1.5, 0.6);
    fake_policy(&p[2], a, "mps & <b>more</b>", "mps", 0.59, 0.8);
    *r = (struct result){
        .version = "0.1.0",
        .scenario_name = "mixed",
        .scenario_sha256 = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        .scenario =
            json_pack("{s:s,s:s,s:i}", "format", "gpusim-scenario/1", "name", "mixed", "seed", 42),
        .seed = 42,
        .trace_sha256 = hashes,
        .n_traces = 1,
        .set = changes,
        .n_set = 2,
        .input = inputs,
        .n_inputs = 2,
        .file = files,
        .n_files = 1,
        .policy = p,
        .n_policies = 3,
        .comparison = rows,
        .n_comparisons = 2,
        .advice = advice,
        .n_advice = 2,
        .decision = decisions,
        .n_decisions = 2,
        .advice_draws = 1000,
        .advice_replications = 3,
        .quality = qualities,
        .n_qualities = 1,
    };
}

static void fake_result_fini(struct result *r)
{
    json_decref(r->scenario);
}

#endif
