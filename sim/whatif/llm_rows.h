/* whatif/llm_rows.h - for the validation sets of language models: models, constants and cards under
 * the names that the sources use. Ownership: the arena. Threads: one set, one thread. */
#ifndef GPUSIM_WHATIF_LLM_ROWS_H
#define GPUSIM_WHATIF_LLM_ROWS_H

#include "model/llm.h"
#include "whatif/validate.h"

/* Catalogue name of "h100_sxm" and the like; other names as they are. */
const char *llm_rows_card(const char *gpu);
/* The model of scenarios/workloads/llm/ for "meta-llama/Llama-3.1-8B-Instruct" and the like; NULL:
 * none ships. */
const char *llm_rows_model(const char *model);

int llm_rows_steps(struct llm_steps *steps, struct arena *a, struct err *e);
int llm_rows_shape(struct llm_shape *shape, const char *model, struct arena *a, struct err *e);
/* Bandwidth and dense peak at `precision` of a whole card of the catalogue. */
int llm_rows_sheet(struct llm_card *card, const struct world *w, const char *name,
                   enum precision precision, struct arena *a, struct err *e);
/* Constants that ship for the card, else the defaults. */
struct llm_constants llm_rows_constants(const struct llm_steps *steps, const char *gpu);

#endif
