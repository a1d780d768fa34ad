/* fmt_shockwave.c - traces of Shockwave (Zheng et al., NSDI 2023; uw-mad-dash/shockwave): Gavel's
 * layout with mode (static, accordion, gns: how the batch size adapts) and a duration in seconds,
 * 12 fields (traces/tabjobs.h). The mode is handed on as the group. */
#include "traces/tabjobs.h"

#include "base/mem.h"

#include <stdlib.h>

struct options {
    bool model_profile;
};

static const struct opt opts[] = {
    { "model-profile", 0, OPT_FLAG, offsetof(struct options, model_profile), NULL,
      "shockwave: hand the job type on as the job's profile (the scenario must define it)", NULL },
    { 0 },
};

struct shockwave {
    struct tabjobs t;
    struct symtab *names;
    bool model_profile;
};

static void shockwave_close(void *state)
{
    struct shockwave *s = state;
    if (!s) return;
    tabjobs_close(&s->t);
    free(s);
}

static int shockwave_open(void **state, const char *path, const void *options, struct symtab *names,
                          struct import_info *info, struct err *e)
{
    const struct options *o = options;
    struct shockwave *s = xcalloc(1, sizeof *s);
    (void)info;
    s->names = names;
    s->model_profile = o->model_profile;
    int rc = tabjobs_open(&s->t, path, "shockwave", 12, 0, e);
    if (rc < 0) {
        shockwave_close(s);
        return rc;
    }
    *state = s;
    return 0;
}

static int shockwave_next(void *state, struct import_row *row, struct err *e)
{
    struct shockwave *s = state;
    struct tabjob j;
    int rc = tabjobs_next(&s->t, &j, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    row->job.duration = j.duration;
    row->job.group = symtab_add(s->names, j.mode.s, j.mode.len);
    if (s->model_profile) row->job.profile = symtab_add(s->names, j.type.s, j.type.len);
    return 1;
}

static int shockwave_sniff(const char *head, size_t len)
{
    return tabjobs_layout(head, len) == 12 ? 85 : 0;
}

const struct trace_format fmt_shockwave = {
    .name = "shockwave",
    .help = "Shockwave trace (NSDI 2023), 12 fields",
    .opts = opts,
    .options_size = sizeof(struct options),
    .sniff = shockwave_sniff,
    .open = shockwave_open,
    .next = shockwave_next,
    .close = shockwave_close,
};
