/* model/precision.h - number formats a card computes in. FP formats count in TFLOPS, integer
 * formats in TOPS; the two are never added or compared. */
#ifndef GPUSIM_MODEL_PRECISION_H
#define GPUSIM_MODEL_PRECISION_H

#include <stdbool.h>

/* key, whether it is an integer format */
#define PRECISION_MAP(X)                                                                           \
    X(fp64, false)                                                                                 \
    X(fp64_tensor, false)                                                                          \
    X(fp32, false)                                                                                 \
    X(tf32, false) X(fp16, false) X(bf16, false) X(fp8, false) X(fp4, false) X(int8, true)         \
        X(int4, true)

enum precision {
#define X(name, integer) PREC_##name,
    PRECISION_MAP(X)
#undef X
        PREC_COUNT
};

extern const char *const precision_names[PREC_COUNT + 1]; /* NULL-terminated */
bool precision_is_integer(enum precision p);
/* -1 when there is no such precision. */
int precision_find(const char *name);

#endif
