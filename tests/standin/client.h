/* tests/standin/client.h - the program of the interception tests, in two files. */
#ifndef GPUSIM_TESTS_STANDIN_CLIENT_H
#define GPUSIM_TESTS_STANDIN_CLIENT_H

#define __CUDA_API_VERSION_INTERNAL /* every exported version of a call */
#include <cuda.h>
#undef cuGetProcAddress_v2

enum { UNIT = 2 << 20 };

/* Ends the program with a message unless it went well. */
void need(CUresult r, const char *what);
/* A call as a program may come by it: "linked" (its own symbols), "dlsym", "address"
 * (cuGetProcAddress of CUDA 11.3), "address2" (of CUDA 13), "threads" (the same, per-thread
 * default streams). */
void *call_by(const char *route, const char *symbol);

/* Every call that takes card memory: units until it refuses, and again after all was given back. */
void memory_paths(const char *route);
/* Handles and mappings, the bytes of arrays, what ends with a context. */
void memory_handles(void);
void memory_arrays(void);
void memory_contexts(void);
/* Eight threads take and give back by every call; then the quota is whole. */
void memory_threads(void);

#endif
