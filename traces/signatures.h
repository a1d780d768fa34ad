/* traces/signatures.h - measurements of cards and of the work on them, gathered sample by sample, and
 * the document of work signatures made of them ("format": "gpusim-signatures/1").
 *
 * Two levels: an entity is what did work (a card or a MIG slice, together with the pod on it); a card
 * is a board, whose power, clocks and temperature are its own and count once, however many of its
 * slices repeat them.
 * Raw values are kept as they came: n, mean, least, greatest and last of every field. Values out of
 * their range are flagged, never clamped, and give no signature.
 *
 * A signature (model/signature.h) out of duty d, memory-active m and SM-active s, each 0..1:
 *     host = 1 - d, memory = min(m, d), compute = d - memory, sm_width = s / d, footprint = the most
 * card memory in use, pcie = mean bytes per second. The split of the active time into compute and
 * memory is an assumption: cycles in which the memory interface moves data count as memory.
 * Without d there is no signature: a missing series means unknown, not idle. */
#ifndef GPUSIM_TRACES_SIGNATURES_H
#define GPUSIM_TRACES_SIGNATURES_H

#include "traces/format.h"

enum sig_level { SIG_ENTITY, SIG_CARD };

enum sig_label { /* who an entity or a card is */
                 SIG_host,
                 SIG_uuid,
                 SIG_gpu,
                 SIG_model,
                 SIG_mig_profile,
                 SIG_mig_instance,
                 SIG_namespace,
                 SIG_pod,
                 SIG_container,
                 SIG_LABELS
};

struct sig_stat {
    uint64_t n;
    double sum, min, max, last;
};

struct sig_set;
struct sig_entity;

/* Lines that do not count are written to `quarantine`, if it is not NULL, with the name out of
 * files[]. */
struct sig_set *sig_create(FILE *quarantine, const char *const *files);
void sig_destroy(struct sig_set *s); /* accepts NULL */

/* Find or add, by all labels (entity), or by host, uuid and gpu (card). Texts are copied; NULL and
 * "" mean the same. Borrowed pointers, valid until sig_destroy(). */
struct sig_entity *sig_find(struct sig_set *s, enum sig_level level,
                            const char *const label[SIG_LABELS]);
void sig_add(struct sig_set *s, struct sig_entity *t, const char *field, size_t field_len,
             double v);
const struct sig_stat *sig_get(const struct sig_set *s, const struct sig_entity *t,
                               const char *field);                      /* NULL: no sample */
const char *sig_label_of(const struct sig_entity *t, enum sig_label l); /* "" when not said */

size_t sig_count(const struct sig_set *s);
struct sig_entity *sig_at(const struct sig_set *s, size_t i); /* in the order they came */
enum sig_level sig_level_of(const struct sig_entity *t);

/* What a format makes of an entity's fields; NAN: unknown. */
struct sig_measure {
    double duty, memory, sm; /* 0..1 */
    double footprint_bytes, pcie_Bps;
    char method[200]; /* which fields they came from */
};
void sig_measure(struct sig_entity *t, const struct sig_measure *m);
/* Something a reader should know of one entity or card. */
void sig_flag(struct sig_set *s, struct sig_entity *t, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void sig_warn(struct sig_set *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Accounting: a line (or element) that counts, or the reason why it does not. */
void sig_kept(struct sig_set *s);
void sig_quarantine(struct sig_set *s, const struct import_reason *why, int file, int line,
                    const char *raw, size_t raw_len);

/* Flags fields outside [lo, hi]; true when there is none or no sample. */
bool sig_check_range(struct sig_set *s, struct sig_entity *t, const char *field, double lo,
                     double hi);

void sig_document(struct sig_set *s, const char *format, const char *const *files, int n_files,
                  struct import_document *out);

#endif
