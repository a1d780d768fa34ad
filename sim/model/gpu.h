/* model/gpu.h - what one kind of GPU can do and draw: the catalogue (scenarios/gpus/NAME.json,
 * "format": "gpusim-gpu/1", described in scenarios/gpus/README.md). Plain data: no clock, no
 * policy.
 *
 * Units:     the suffix says which (_bytes _Bps _ops _W _Hz). Ratios are 0..1, never percent.
 * Unknown:   a number that no source states is NAN (0 for counts and bytes); a mode that the card
 *            does not have is NAN with `none` set, so "not published" and "not there" stay apart.
 * Ownership: a catalogue owns its cards and files; gpu_read() takes its memory from `a`.
 * Threads:   read-only after loading, so parallel runs share one copy.
 *
 * "generic" is built in: 1 SM, 1 TFLOPS and 1 TOPS at every precision, 1 TB/s, 1 TiB usable, 0 W,
 * no MIG. It is the flat unit of the reference traces. */
#ifndef GPUSIM_MODEL_GPU_H
#define GPUSIM_MODEL_GPU_H

#include "base/arena.h"
#include "base/json.h"
#include "model/precision.h"
#include "model/profile.h"

#include <stdint.h>

enum {
    MIG_MAX_UNITS = 16, /* memory units of a board: 8, 4 (A30), 12 (RTX PRO 6000) */
    MIG_MAX_STARTS = 8,
    MIG_MAX_PROFILES = 32,
};

/* One line of `nvidia-smi mig -lgip` plus its placements (-lgipp). Unknown numbers are 0. */
struct mig_profile {
    const char *name;       /* "3g.20gb" */
    const char *unverified; /* fields not read from a source, comma list; NULL: none */
    int compute_slices;     /* the X of Xg */
    int memory_units;       /* width on the placement grid */
    int starts[MIG_MAX_STARTS], n_starts; /* ascending */
    int max_instances;                    /* of this profile on one card */
    int sms;                              /* 0: unknown */
    uint64_t usable_bytes; /* 0: unknown; from the driver's listing, not from the name */
    bool plain;            /* no "+" in the name: no media or graphics engines that exist once */
};

struct mig_geometry {
    const char *board;            /* id in the placement table, e.g. "A100-40GB" */
    const char *placement_status; /* "verified", "assumed_same_as_H100" */
    int compute_slices;           /* 7, or 4 */
    int memory_units;             /* 8, 4, 12 */
    int full_sms;                 /* SMs of the largest profile; 0: unknown */
    const struct mig_profile *profile;
    int n_profiles; /* in catalogue order; those with unknown placement are left out */
    /* By mask of busy units: the most compute slices that further plain instances can take.
     * Filled by mig_reach_table(); NULL: worked out on each call. */
    const uint8_t *reach;
};

struct peak {
    double dense_ops, sparse_ops; /* operations per second; NAN: none, or not published */
    bool none;                    /* the card has no such mode */
};

/* peak = units x clock x operations per clock, against the data sheet. */
struct peak_check {
    double calc_ops; /* NAN: no clock or no operations per clock known */
    double off;      /* sheet / calc - 1; NAN likewise */
};
#define PEAK_TOLERANCE 0.015

/* What the catalogue says about the check. A sheet that claims "ok" and is off by more than the
 * tolerance is refused; the other words are shown as a note.
 * key, meaning */
#define PEAK_CLAIM_MAP(X)                                                                          \
    X(ok, "within 1.5 %")                                                                          \
    X(warn, "the published peak and clock disagree")                                               \
    X(inferred_clock, "the clock was worked out from the peak, so the check is circular")          \
    X(derived, "the peak was worked out from the clock")                                           \
    X(no_clock, "too little is published")                                                         \
    X(community, "no vendor sheet was read")
enum peak_claim {
#define X(name, meaning) PEAK_##name,
    PEAK_CLAIM_MAP(X)
#undef X
        PEAK_CLAIMS
};
extern const char *const peak_claim_names[PEAK_CLAIMS + 1]; /* NULL-terminated */
extern const char *const peak_claim_meanings[PEAK_CLAIMS];

struct gpu_spec {
    const char *name;  /* catalogue key = file name, e.g. "h200-sxm5-141gb" */
    const char *model; /* "NVIDIA H200 SXM5 141GB" */
    const char *vendor, *arch, *form, *release; /* release: "2024-11", NULL unknown */
    const char *note;                           /* NULL: none */
    const char *const *aliases;
    int n_aliases;
    int devices; /* GPUs the operating system sees on one board: 1, 2 (K80, MI250X), 4 (A16) */
    int sms;     /* streaming multiprocessors or compute units of the board; 0: unknown */
    double boost_Hz, matrix_Hz; /* NAN: unknown; matrix_Hz equals boost_Hz unless stated */
    uint64_t memory_bytes;      /* nominal */
    uint64_t usable_bytes;      /* what tenants get, after the driver's reserve */
    enum provenance usable_from;
    const char *memory_type;
    double mem_Bps; /* pin rate of the sheet */
    struct peak peak[PREC_COUNT];
    struct peak_check check_fp32, check_fp16;
    enum peak_claim claim;
    double tdp_W, idle_W;  /* whole board; no process */
    double idle_context_W; /* a context held, no work */
    double busy_W;         /* full load; 0.9 x TDP where nothing was measured (reference TCO 3.3) */
    enum provenance idle_from, idle_context_from, busy_from;
    double link_Bps, pcie_Bps;      /* link: both directions, 0 none; pcie: one; NAN unknown */
    const char *link, *pcie;        /* "NVLink3", "4.0x16"; NULL unknown */
    const struct mig_geometry *mig; /* NULL: no MIG */
    json_t *sheet; /* the whole file, borrowed: every value with its source; NULL for "generic" */
};

/* The catalogue: every card of a folder, by name. */
struct gpu_catalogue;

/* Load every *.json of `dir` (NULL: the data folder, see base/datadir.h), sorted by name, plus
 * "generic". 0, or ERR_INPUT with the first problem, or ERR_IO. */
int gpu_catalogue_load(struct gpu_catalogue **out, const char *dir, struct err *e);
void gpu_catalogue_destroy(struct gpu_catalogue *c); /* accepts NULL */
size_t gpu_catalogue_count(const struct gpu_catalogue *c);
const struct gpu_spec *gpu_catalogue_at(const struct gpu_catalogue *c, size_t i);
/* By name or alias, ignoring case; NULL when absent, with the nearest name in *nearest (may be
 * NULL; set to NULL when nothing is near). O(cards): look up once, keep the pointer. */
const struct gpu_spec *gpu_find(const struct gpu_catalogue *c, const char *name,
                                const char **nearest);

/* One file, checked against physical bounds (peak = units x clock x operations where computable,
 * usable <= nominal, idle <= context <= busy <= TDP, MIG self-checks). Problems go to `d`; *out is
 * complete but not to be used when there are any. `doc` must outlive *out. */
void gpu_read(struct gpu_spec *out, struct arena *a, const struct json_doc *doc, const char *name,
              struct diag *d);
/* The built-in card. */
struct gpu_spec gpu_generic(void);

/* Board power [W] at activity u (0..1): idle_W without a context, else linear from
 * idle_context_W to busy_W (reference TCO 3.3). */
double gpu_power_W(const struct gpu_spec *g, bool has_context, double u);

#endif
