/* tests/fuzz/fuzz_generate.c - any bytes as a specification of synthetic work. One that is accepted
 * must yield sorted, valid rows; long or very dense ones are only read. */
#include "model/synth.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 200 };

static void draw(const struct synth_spec *spec)
{
    struct symtab *names = symtab_create();
    struct synth *s;
    struct job_row row;
    struct err e = { 0 };
    simtime last = 0;
    BUG_ON(synth_create(&s, spec, 1, 0, names, &e) < 0);
    for (int i = 0; i < ROWS && synth_next(s, &row, &e) == 1; i++) {
        BUG_ON(row.submit < last || row.submit >= spec->horizon);
        BUG_ON(row.duration < 1000000 || (double)row.duration > SIM_MAX_S * 1e9);
        BUG_ON(!job_gpus_ok(row.gpus_milli) || !row.id_len);
        last = row.submit;
    }
    synth_close(s);
    symtab_destroy(names);
}

static void draw_requests(const struct synth_spec *spec)
{
    struct symtab *names = symtab_create();
    struct synth_requests *s = synth_requests_create(spec, 1, 0, names);
    struct request_row row;
    simtime last = 0;
    for (int i = 0; i < ROWS && synth_requests_next(s, &row); i++) {
        BUG_ON(row.arrival < last || row.arrival >= spec->horizon || request_row_problem(&row));
        last = row.arrival;
    }
    synth_requests_close(s);
    symtab_destroy(names);
}

/* A short horizon and processes that cannot spend it on steps without a job; no file that the bytes
 * happen to name. */
static bool short_enough(const struct synth_spec *spec, const uint8_t *data, size_t size)
{
    double rate = 0;
    if (memmem(data, size, "mmpp", 4) || memmem(data, size, "\"trace\"", 7) ||
        spec->horizon == CFG_NO_TIME)
        return false;
    for (size_t i = 0; i < spec->n_cls; i++) rate += synth_class_rate(spec, i);
    for (size_t i = 0; i < spec->n_svc; i++) rate += synth_arrival_rate(&spec->svc[i].arrivals);
    return spec->horizon <= 24 * SIM_HOUR && rate < 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_doc doc;
    struct synth_spec spec;
    struct diag d;
    struct err e = { 0 };
    gsl_set_error_handler_off();
    if (json_doc_parse(&doc, "fuzz", (const char *)data, size, &e) < 0) return 0;
    struct arena *a = arena_create();
    diag_init(&d);
    synth_read(&spec, a, &doc, &d);
    if (!d.count && short_enough(&spec, data, size)) {
        if (spec.n_svc)
            draw_requests(&spec);
        else
            draw(&spec);
    }
    diag_fini(&d);
    arena_destroy(a);
    json_doc_fini(&doc);
    return 0;
}
