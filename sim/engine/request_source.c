#include "engine/request_source.h"

#include "base/mem.h"
#include "base/rng.h"
#include "model/synth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct request_source {
    const struct service_spec *spec;
    struct symtab *own;         /* numbers of sessions do not depend on the policy */
    const struct symtab *names; /* `own`, or those of `rows` */
    sym only;                   /* 0: that name has not come yet */
    int64_t left;               /* requests that may still come */
    bool any;                   /* one has come */
    struct requests_reader *trace;
    const struct request_rows *rows; /* in place of it; lent */
    size_t at;                       /* rows given */
    struct synth_requests *synth;
    struct arena *arena; /* of the generator's specification */
    struct synth_arrival *arrivals;
    gsl_rng *size, *input, *output, *think;
};

static gsl_rng *stream(const struct service_spec *s, const char *purpose, uint64_t seed,
                       uint64_t rep)
{
    char name[200];
    snprintf(name, sizeof name, "service/%.100s/%s", s->name, purpose);
    return rng_create(seed, rep, name);
}

static int open_spec(struct request_source *r, uint64_t seed, uint64_t replication, struct err *e)
{
    struct json_doc doc;
    struct diag d;
    int rc = json_doc_load(&doc, r->spec->spec, e);
    if (rc < 0) return rc;
    diag_init(&d);
    r->arena = arena_create();
    struct synth_spec *spec = arena_array(r->arena, 1, sizeof *spec);
    synth_read(spec, r->arena, &doc, &d);
    if (!d.count && !spec->n_svc)
        json_problem(&d, &doc, "/classes",
                     "expected services with requests, found classes of jobs");
    rc = diag_result(&d, e);
    if (rc == 0) r->synth = synth_requests_create(spec, seed, replication, r->own);
    diag_fini(&d);
    json_doc_fini(&doc);
    return rc;
}

static int wrong_kind(const char *file, bool wants_tokens, struct err *e)
{
    const struct loc at = { .file = file };
    return err_set(e, ERR_INPUT, &at,
                   wants_tokens
                       ? "the service is a language model: expected requests with input_tokens and "
                         "output_tokens"
                       : "expected requests with a size; these have tokens, which a language model "
                         "serves");
}

/* Of a trace that the way of serving can use? */
static int check_kind(unsigned columns, const char *file, bool wants_tokens, struct err *e)
{
    const bool sized = (columns & REQUESTS_COL(size)) != 0;
    return sized == wants_tokens ? wrong_kind(file, wants_tokens, e) : 0;
}

int request_source_open(struct request_source **out, const struct service_spec *s,
                        const struct request_rows *rows, bool wants_tokens, uint64_t seed,
                        uint64_t replication, struct err *e)
{
    struct request_source *r = xcalloc(1, sizeof *r);
    char purpose[200];
    int rc = 0;
    r->spec = s;
    r->own = symtab_create();
    r->rows = rows;
    r->names = rows ? rows->names : r->own;
    r->left = s->count == CFG_NO_INT ? INT64_MAX : s->count;
    if (rows) {
        rc = check_kind(rows->columns, s->requests, wants_tokens, e);
    } else if (s->requests) {
        rc = requests_open(&r->trace, s->requests, r->own, e);
        if (rc == 0) rc = check_kind(requests_columns(r->trace), s->requests, wants_tokens, e);
    } else if (s->spec) {
        rc = wants_tokens ? open_spec(r, seed, replication, e) : wrong_kind(s->spec, false, e);
    } else if (s->arrivals_json) {
        snprintf(purpose, sizeof purpose, "service/%.100s/arrivals", s->name);
        r->arrivals = synth_arrival_create(&s->arrivals, 0, seed, replication, purpose);
    }
    r->size = stream(s, "size", seed, replication);
    r->input = stream(s, "input_tokens", seed, replication);
    r->output = stream(s, "output_tokens", seed, replication);
    r->think = stream(s, "think", seed, replication);
    if (rc != 0) {
        request_source_close(r);
        return rc;
    }
    *out = r;
    return 0;
}

void request_source_close(struct request_source *s)
{
    if (!s) return;
    requests_close(s->trace);
    synth_requests_close(s->synth);
    synth_arrival_destroy(s->arrivals);
    arena_destroy(s->arena);
    symtab_destroy(s->own);
    gsl_rng_free(s->size);
    gsl_rng_free(s->input);
    gsl_rng_free(s->output);
    gsl_rng_free(s->think);
    free(s);
}

const struct symtab *request_source_names(const struct request_source *s)
{
    return s->names;
}

int64_t request_source_block_tokens(const struct request_source *s)
{
    return s->rows    ? s->rows->block_tokens
           : s->trace ? requests_block_tokens(s->trace)
                      : BLOCKS_TOKENS;
}

static simtime to_ns(double seconds)
{
    return seconds < SIM_MAX_S ? (simtime)llround(seconds * 1e9) : (simtime)(SIM_MAX_S * 1e9);
}

static int64_t tokens(const struct synth_dist *d, gsl_rng *rng)
{
    return (int64_t)fmin(fmax(round(synth_dist_draw(d, rng)), 1), (double)REQUEST_MAX_TOKENS);
}

void request_source_draw(struct request_source *s, struct request_row *row)
{
    request_row_init(row);
    if (s->spec->sized) {
        row->size_nano = to_ns(synth_dist_draw(&s->spec->size, s->size));
    } else {
        row->input_tokens = tokens(&s->spec->input, s->input);
        row->output_tokens = tokens(&s->spec->output, s->output);
    }
}

simtime request_source_think(struct request_source *s)
{
    return to_ns(synth_dist_draw(&s->spec->think, s->think));
}

static int take(struct request_source *s, struct request_row *row, struct err *e)
{
    if (s->rows) {
        if (s->at == s->rows->n) return 0;
        *row = s->rows->row[s->at++];
        return 1;
    }
    if (s->trace) return requests_next(s->trace, row, e);
    if (s->synth) return synth_requests_next(s->synth, row);
    const double t = synth_arrival_next(s->arrivals, SIM_MAX_S, NULL);
    if (!(t < SIM_MAX_S)) return 0;
    request_source_draw(s, row);
    row->arrival = to_ns(t);
    return 1;
}

/* The name is looked for, not added: numbers are those of the file, whoever else reads it. */
static bool is_wanted(struct request_source *s, const struct request_row *row)
{
    if (!s->spec->only) return true;
    if (!s->only) s->only = symtab_find(s->names, s->spec->only);
    return s->only && row->service == s->only;
}

int request_source_next(struct request_source *s, struct request_row *row, struct err *e)
{
    int rc = 0;
    if (s->left == 0) return 0;
    while ((rc = take(s, row, e)) > 0 && !is_wanted(s, row)) continue;
    if (rc == 0 && s->spec->only && !s->any) {
        const struct loc at = { .file = s->spec->requests ? s->spec->requests : s->spec->spec };
        return err_set(e, ERR_INPUT, &at, "no request of service \"%s\" (\"only\")", s->spec->only);
    }
    if (rc <= 0) return rc;
    s->any = true;
    s->left--;
    if (s->spec->load == 1.0) return 1;
    const double arrival = (double)row->arrival / s->spec->load;
    if (arrival > SIM_MAX_S * 1e9) {
        const struct loc at = { .file = s->spec->requests ? s->spec->requests : s->spec->spec,
                                .line = s->trace  ? requests_line(s->trace)
                                        : s->rows ? request_rows_line(s->rows, s->at - 1)
                                                  : 0 };
        return err_set(e, ERR_INPUT, &at, "arrival_s / load is beyond 9.2e9 s");
    }
    row->arrival = (simtime)llround(arrival);
    return 1;
}
