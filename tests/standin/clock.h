/* tests/standin/clock.h - the virtual clock (clock.c), where it is preloaded; without it these
 * are NULL and the card lives in real time. */
#ifndef GPUSIM_TESTS_STANDIN_CLOCK_H
#define GPUSIM_TESTS_STANDIN_CLOCK_H

#include <stdint.h>

#pragma GCC visibility push(default)
extern uint64_t standin_clock_now(void) __attribute__((weak)); /* ns; takes no time */
extern void standin_clock_until(uint64_t ns) __attribute__((weak));
#pragma GCC visibility pop

#endif
