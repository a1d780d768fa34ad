/* base/thread.h - independent tasks on several cores.
 *
 * parallel_for runs task(ctx, i) once for each i in [0, n) on up to `threads` POSIX threads
 * (threads <= 1: in the caller, in order). Tasks are handed out in order of i. When a task returns
 * non-zero no new tasks start; the result is that of the failed task with the lowest i, so it does
 * not depend on the number of threads as long as tasks are pure. */
#ifndef GPUSIM_BASE_THREAD_H
#define GPUSIM_BASE_THREAD_H

#include <stddef.h>

int parallel_for(size_t n, unsigned threads, int (*task)(void *ctx, size_t i), void *ctx);
unsigned thread_cores(void); /* cores this process may use, at least 1 */

#endif
