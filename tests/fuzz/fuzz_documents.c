/* tests/fuzz/fuzz_documents.c - any bytes as a card, a profile, a language model and a result.
 * What is accepted of a card has an order of bounds; a result that is accepted is written the
 * same after it was read again. */
#include "base/mem.h"
#include "base/str.h"
#include "model/gpu.h"
#include "model/llm.h"
#include "model/profile.h"
#include "model/result.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void card(const struct json_doc *doc, struct arena *a)
{
    struct gpu_spec g;
    struct diag d;
    diag_init(&d);
    gpu_read(&g, a, doc, "fuzz", &d);
    if (d.count == 0) {
        BUG_ON(g.usable_bytes > g.memory_bytes);
        BUG_ON(!(g.mem_Bps > 0) || !isfinite(g.mem_Bps));
    }
    diag_fini(&d);
}

static void profile(const struct json_doc *doc, struct arena *a)
{
    struct gpu_profile p;
    struct diag d;
    diag_init(&d);
    profile_read(&p, a, doc, &d);
    for (int k = 0; d.count == 0 && k < PROFILE_COUNT; k++)
        BUG_ON(p.param[k].low > p.param[k].high);
    diag_fini(&d);
}

static void model(const struct json_doc *doc, struct arena *a)
{
    struct llm_model m;
    struct diag d;
    diag_init(&d);
    llm_model_read(&m, a, doc, &d);
    diag_fini(&d);
}

/* The text of the result in `doc`, or none when it is refused. */
static struct strbuf rewritten(const struct json_doc *doc, struct arena *a)
{
    struct strbuf text = { 0 };
    struct result r;
    struct diag d;
    diag_init(&d);
    result_read(&r, a, doc, &d);
    if (d.count == 0) {
        json_t *v = result_to_json(&r);
        json_write(v, &text);
        json_decref(v);
    }
    diag_fini(&d);
    return text;
}

static void result(const struct json_doc *doc, struct arena *a)
{
    struct strbuf once = rewritten(doc, a), twice = { 0 };
    struct json_doc again;
    if (once.len > 0) {
        BUG_ON(json_doc_parse(&again, "again", once.s, once.len, NULL) != 0);
        twice = rewritten(&again, a);
        BUG_ON(twice.len != once.len || memcmp(once.s, twice.s, once.len) != 0);
        json_doc_fini(&again);
    }
    strbuf_fini(&once);
    strbuf_fini(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gsl_set_error_handler_off();
    struct json_doc doc;
    if (json_doc_parse(&doc, "fuzz", (const char *)data, size, NULL) != 0) return 0;
    struct arena *a = arena_create();
    card(&doc, a);
    profile(&doc, a);
    model(&doc, a);
    result(&doc, a);
    json_doc_fini(&doc);
    arena_destroy(a);
    return 0;
}
