/* base/interrupt.h - long work that ends early when the user asks for it.
 *
 * interrupt_catch() notes the first SIGINT or SIGTERM instead of dying of it; a second one kills as
 * usual. What is at work asks interrupt_caught() now and then and winds up. interrupt_die() then
 * ends the process of that signal, so that whoever started it sees the true status (128 + signal in
 * a shell).
 *
 * A signal that was ignored at the start (nohup, a background job) stays ignored.
 * Threads: interrupt_caught() from any; the others from the main one. */
#ifndef GPUSIM_BASE_INTERRUPT_H
#define GPUSIM_BASE_INTERRUPT_H

#include <stdbool.h>

void interrupt_catch(void);
bool interrupt_caught(void);
const char *interrupt_name(void); /* "SIGINT", "SIGTERM"; NULL: none was caught */
void interrupt_die(void);         /* harmless when none was caught */

#endif
