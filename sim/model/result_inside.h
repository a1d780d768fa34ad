/* model/result_inside.h - the sections of a result, each written and read in one file, side by
 * side, so that neither forgets a field: result.c (the whole, a policy, the comparison),
 * result_jobs.c, result_gpu.c, result_services.c, result_tco.c, result_usage.c, result_advice.c,
 * result_files.c. For these files only.
 *
 * X_json makes what read_X reads; the caller owns it. `at`: JSON pointer of the object `o`, which
 * holds the section. Readers add problems to the reader's diag and leave what is missing empty. */
#ifndef GPUSIM_MODEL_RESULT_INSIDE_H
#define GPUSIM_MODEL_RESULT_INSIDE_H

#include "model/fields.h"
#include "model/result.h"

json_t *result_stat_json(const struct summary *s);
struct summary result_read_stat(const struct field_reader *r, json_t *obj, const char *at,
                                const char *key);
void result_put_jobs(json_t *o, const struct job_counts *c, const struct job_stats *s,
                     double gpu_hours, double useful);
void result_read_jobs(const struct field_reader *r, json_t *o, const char *at, struct job_counts *c,
                      struct job_stats *s, double *gpu_hours, double *useful);
json_t *result_groups_json(const struct job_group_result *g, size_t n);
const struct job_group_result *result_read_groups(const struct field_reader *r, json_t *jobs,
                                                  const char *at, const char *key, size_t *n);
json_t *result_gpu_json(const struct gpu_result *g);
void result_read_gpu(const struct field_reader *r, json_t *policy, const char *at,
                     struct gpu_result *g);
json_t *result_params_json(const struct policy_result *p);
void result_read_params(const struct field_reader *r, json_t *policy, const char *at,
                        struct policy_result *p);
json_t *result_services_json(const struct policy_result *p);
void result_read_services(const struct field_reader *r, json_t *o, const char *at,
                          struct policy_result *p);
json_t *result_tco_json(const struct tco_result *t);
void result_read_tco(const struct field_reader *r, json_t *policy, const char *at,
                     struct tco_result *t);
json_t *result_usage_json(const struct usage *u);
void result_read_usage(const struct field_reader *r, json_t *policy, const char *at,
                       struct usage *u);
json_t *result_advice_json(const struct result *r);
json_t *result_files_json(const struct result *r);
void result_read_advice(const struct field_reader *r, json_t *root, struct result *out);

#endif
