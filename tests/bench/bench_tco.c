/* bench_tco.c - how long a stored result takes to be priced again: parsing result.json and the
 * book, and pricing every policy. Design: under 50 ms. Usage: bench_tco [SCENARIO]. */
#include "bench.h"

#include "base/mem.h"
#include "base/str.h"
#include "cost/tco.h"
#include "whatif/runner.h"

#include <stdlib.h>
#include <string.h>

enum { REPEAT = 20 };
static const char book_path[] = "scenarios/prices/default.json";

static int price_again(const char *text, size_t len, struct err *e)
{
    struct arena *a = arena_create();
    struct gpu_catalogue *gpus = NULL;
    struct price_book book;
    struct json_doc doc = { 0 };
    struct result r;
    struct diag d;
    char sha[65];
    double usd = 0;
    diag_init(&d);
    int rc = json_doc_parse(&doc, "result.json", text, len, e);
    if (rc == 0) result_read(&r, a, &doc, &d);
    if (rc == 0) rc = diag_result(&d, e);
    if (rc == 0) rc = gpu_catalogue_load(&gpus, NULL, e);
    if (rc == 0) rc = price_book_load(&book, a, book_path, gpus, sha, e);
    for (size_t i = 0; rc == 0 && i < r.n_policies; i++)
        usd += tco_price(&r.policy[i].usage, r.policy[i].kind, &book, a).total_usd;
    bench_keep((uint64_t)usd);
    gpu_catalogue_destroy(gpus);
    diag_fini(&d);
    json_doc_fini(&doc);
    arena_destroy(a);
    return rc;
}

int main(int argc, char **argv)
{
    struct runner r = { 0 };
    struct err e = { 0 };
    struct diag d;
    struct strbuf text = { 0 };
    diag_init(&d);
    int rc = runner_load(&r, argc > 1 ? argv[1] : "scenarios/mixed.json", NULL, 0, NULL, 0, &d, &e);
    r.silent = true;
    r.result.version = GPUSIM_VERSION;
    if (rc == 0) rc = diag_result(&d, &e);
    if (rc == 0) rc = runner_run(&r, NULL, 1, &e);
    if (rc == 0) {
        json_t *json = result_to_json(&r.result);
        json_write(json, &text);
        json_decref(json);
        const double from = bench_now_s();
        for (int i = 0; rc == 0 && i < REPEAT; i++) rc = price_again(text.s, text.len, &e);
        bench_print("stored result priced again", 1e3 * (bench_now_s() - from) / REPEAT,
                    "ms (< 50)", 0);
        bench_print("  size of result.json", (double)text.len / 1024, "KiB", 0);
    }
    if (rc != 0) fprintf(stderr, "%s: %s\n", e.where, e.msg);
    strbuf_fini(&text);
    runner_fini(&r);
    diag_fini(&d);
    return rc != 0;
}
