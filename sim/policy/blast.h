/* policy/blast.h - the parameter "fault" of policies that put several processes on a card. */
#ifndef GPUSIM_POLICY_BLAST_H
#define GPUSIM_POLICY_BLAST_H

#include "engine/share.h"

/* "job", "card", "node", NULL: in the order of enum blast. */
extern const char *const blast_names[];

#define BLAST_HELP "whom a process's fatal fault ends: its job, all on its cards, all on its nodes"

#endif
