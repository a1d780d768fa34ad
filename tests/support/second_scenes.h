/* tests/support/second_scenes.h - random small scenarios of services beside jobs, as text for the
 * product and as scenes for the second engine (second_service.h). A pure function of the seed. */
#ifndef GPUSIM_TESTS_SECOND_SCENES_H
#define GPUSIM_TESTS_SECOND_SCENES_H

#include "base/str.h"
#include "support/second_service.h"

enum { SCENE_JOBS = 24, SCENE_REQUESTS = 150 /* of a service */ };

enum scene_kind { WHOLE, TIMESLICE, MPS, INTERCEPT, MIG, REMOTE, OVERCOMMIT, KINDS };

/* What is drawn. */
struct scene_setting {
    uint64_t seed;
    enum scene_kind kind;
    bool ties; /* times in tenths of seconds, so that much happens at once */
    bool horizon;
    int cards;
    struct strbuf text, trace, requests[SECOND_SERVICES];
};

/* `s->seed` is set. Fills in the texts, and of the scene all but the plan; its jobs are in `j`, at
 * most SCENE_JOBS. */
void scene_make(struct scene_setting *s, struct second_scene *c, struct second_job *j);
void scene_fini(struct scene_setting *s);

#endif
