#include "policy/blast.h"

const char *const blast_names[] = {
    [BLAST_JOB] = "job", [BLAST_CARD] = "card", [BLAST_NODE] = "node", NULL
};
