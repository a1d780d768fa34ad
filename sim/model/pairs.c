#include "model/pairs.h"

#include "base/csv.h"
#include "base/dec.h"
#include "base/mem.h"
#include "base/vec.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum column { JOB_A, BATCH_A, JOB_B, BATCH_B, NORM_A, NORM_B, GPU, FLAGS, COLUMNS };
static const struct {
    const char *name;
    bool optional;
} columns[COLUMNS] = {
    [JOB_A] = { "job_a", false },   [BATCH_A] = { "batch_a", true },
    [JOB_B] = { "job_b", false },   [BATCH_B] = { "batch_b", true },
    [NORM_A] = { "norm_a", false }, [NORM_B] = { "norm_b", false },
    [GPU] = { "gpu", true },        [FLAGS] = { "flags", true },
};
enum { MOST_PAIRS = 4000 }; /* the fit is cubic in twice as many */
#define MOST_NORM 1.5

struct reader {
    struct csv *csv;
    struct csv_row row;
    struct arena *arena;
    struct err *e;
    size_t at[COLUMNS]; /* SIZE_MAX: the file has no such column */
    VEC(const char *) name, program;
    VEC(struct colocation_job) job;
    VEC(struct colocation_pair) pair;
    size_t rows;
};

static const struct csv_field *field(const struct reader *r, enum column c)
{
    return r->at[c] == SIZE_MAX ? NULL : &r->row.f[r->at[c]];
}

static bool contains(const struct csv_field *f, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; f && i + n <= f->len; i++)
        if (memcmp(f->s + i, text, n) == 0) return true;
    return false;
}

static int read_header(struct reader *r)
{
    const int rc = csv_next(r->csv, &r->row, r->e);
    if (rc < 0) return rc;
    if (rc == 0) {
        const struct loc at = { .file = csv_file(r->csv) };
        return err_set(r->e, ERR_INPUT, &at, "expected a header row, found an empty file");
    }
    for (int c = 0; c < COLUMNS; c++) {
        r->at[c] = SIZE_MAX;
        for (size_t i = 0; i < r->row.n && r->at[c] == SIZE_MAX; i++)
            if (csv_is(&r->row.f[i], columns[c].name)) r->at[c] = i;
        if (r->at[c] == SIZE_MAX && !columns[c].optional)
            return csv_error(r->csv, &r->row, NULL, r->e, "expected a column \"%s\", found none",
                             columns[c].name);
    }
    return 0;
}

static size_t program_of(struct reader *r, const char *name)
{
    for (size_t i = 0; i < r->program.n; i++)
        if (strcmp(r->program.v[i], name) == 0) return i;
    vec_push(&r->program, name);
    return r->program.n - 1;
}

/* The number of the job in these fields, which may be new. */
static int read_job(struct reader *r, enum column job, enum column batch, size_t *out)
{
    const struct csv_field *f = field(r, job), *b = field(r, batch);
    double size = 1;
    BUG_ON(!f); /* no file is read without this column */
    if (f->len == 0)
        return csv_error(r->csv, &r->row, f, r->e, "%s: expected a name", columns[job].name);
    const char *program = arena_strndup(r->arena, f->s, f->len);
    const char *name = program;
    if (b && b->len > 0) {
        if (dec_double(b->s, b->len, &size) != DEC_OK || !(size >= 1))
            return csv_error(r->csv, &r->row, b, r->e,
                             "%s: expected a batch size from 1, or nothing", columns[batch].name);
        name = arena_printf(r->arena, "%s/%.*s", program, (int)b->len, b->s);
    }
    for (*out = 0; *out < r->name.n; ++*out)
        if (strcmp(r->name.v[*out], name) == 0) return 0;
    vec_push(&r->name, name);
    vec_push(&r->job, ((struct colocation_job){ program_of(r, program), log2(size) }));
    return 0;
}

static int read_norm(struct reader *r, enum column c, double *out)
{
    const struct csv_field *f = field(r, c);
    if (dec_double(f->s, f->len, out) != DEC_OK || !(*out > 0 && *out <= MOST_NORM))
        return csv_error(r->csv, &r->row, f, r->e, "%s: expected above 0 to %g, found \"%.*s\"",
                         columns[c].name, MOST_NORM, (int)(f->len < 40 ? f->len : 40), f->s);
    return 0;
}

static int read_row(struct reader *r)
{
    size_t a = 0, b = 0;
    double norm_a = NAN, norm_b = NAN;
    const bool clipped = contains(field(r, FLAGS), "capped_at_isolated");
    int rc = read_job(r, JOB_A, BATCH_A, &a);
    if (rc == 0) rc = read_job(r, JOB_B, BATCH_B, &b);
    if (rc == 0) rc = read_norm(r, NORM_A, &norm_a);
    if (rc == 0) rc = read_norm(r, NORM_B, &norm_b);
    if (rc == 0 && r->rows++ == MOST_PAIRS)
        rc = csv_error(r->csv, &r->row, NULL, r->e, "expected at most %d pairs", MOST_PAIRS);
    if (rc < 0) return rc;
    vec_push(&r->pair, ((struct colocation_pair){ a, b, norm_a, clipped && norm_a > 0.9999 }));
    if (a != b)
        vec_push(&r->pair, ((struct colocation_pair){ b, a, norm_b, clipped && norm_b > 0.9999 }));
    return 0;
}

/* Is the row about this card? */
static bool of_card(const struct reader *r, const struct gpu_catalogue *gpus,
                    const struct gpu_spec *card)
{
    const struct csv_field *f = field(r, GPU);
    if (!f || f->len == 0) return true;
    const char *name = arena_strndup(r->arena, f->s, f->len);
    const struct gpu_spec *gpu = gpu_find(gpus, name, NULL);
    return gpu && strcmp(gpu->name, card->name) == 0;
}

static int read_rows(struct reader *r, const struct gpu_catalogue *gpus,
                     const struct gpu_spec *card)
{
    int rc = read_header(r);
    const size_t width = r->row.n;
    while (rc == 0 && (rc = csv_next(r->csv, &r->row, r->e)) > 0) {
        rc = 0;
        if (r->row.n != width)
            rc = csv_error(r->csv, &r->row, NULL, r->e,
                           "expected %zu fields as in the header, found %zu", width, r->row.n);
        else if (of_card(r, gpus, card) && !contains(field(r, FLAGS), "did_not_run"))
            rc = read_row(r);
    }
    return rc;
}

/* Profiles "job/batch" of a job in the file. */
static void add_kin(struct reader *r, const char *const *also, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *slash = strrchr(also[i], '/');
        size_t known = 0, program = 0;
        double size = 0;
        if (!slash || dec_double(slash + 1, strlen(slash + 1), &size) != DEC_OK || !(size >= 1))
            continue;
        while (known < r->name.n && strcmp(r->name.v[known], also[i]) != 0) known++;
        while (program < r->program.n &&
               (strlen(r->program.v[program]) != (size_t)(slash - also[i]) ||
                strncmp(r->program.v[program], also[i], (size_t)(slash - also[i])) != 0))
            program++;
        if (known < r->name.n || program == r->program.n) continue;
        vec_push(&r->name, arena_strdup(r->arena, also[i]));
        vec_push(&r->job, ((struct colocation_job){ program, log2(size) }));
    }
}

int pairs_load(struct pairs *out, struct arena *a, const char *path,
               const struct gpu_catalogue *gpus, const struct gpu_spec *card,
               const char *const *also, size_t n_also, struct err *e)
{
    static const struct csv_format format = {
        .delimiter = ',', .quotes = true, .comment = '#', .comment_head_only = true
    };
    struct reader r = { .arena = a, .e = e };
    *out = (struct pairs){ 0 };
    int rc = csv_open(&r.csv, path, &format, e);
    if (rc == 0) rc = read_rows(&r, gpus, card);
    if (rc == 0) {
        add_kin(&r, also, n_also);
        const char **name = arena_array(a, r.name.n, sizeof *name);
        if (r.name.n > 0)
            memcpy(name, r.name.v, r.name.n * sizeof *name); /* no pair of this card: no array */
        colocation_fit(&out->fit, a, r.job.v, r.job.n, r.pair.v, r.pair.n);
        out->name = name;
        out->n = r.rows;
    }
    csv_close(r.csv);
    vec_fini(&r.name);
    vec_fini(&r.program);
    vec_fini(&r.job);
    vec_fini(&r.pair);
    return rc;
}

size_t pairs_job(const struct pairs *p, const char *name)
{
    for (size_t i = 0; name && i < p->fit.jobs; i++)
        if (strcmp(p->name[i], name) == 0) return i;
    return SIZE_MAX;
}

double pairs_speed(const struct pairs *p, const size_t job[], size_t n, size_t i)
{
    double slowdown = 1;
    for (size_t k = 0; k < n; k++)
        if (k != i) slowdown += 1 / colocation_norm(&p->fit, job[i], job[k]) - 1;
    return 1 / slowdown; /* NAN stays */
}
