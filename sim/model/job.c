#include "model/job.h"

const char *const job_class_names[CLASS_COUNT + 1] = {
    "",
#define X(name) #name,
    JOB_CLASS_MAP(X)
#undef X
        NULL,
};

const char *const job_status_names[STATUS_COUNT + 1] = {
    "",
#define X(name) #name,
    JOB_STATUS_MAP(X)
#undef X
        NULL,
};
