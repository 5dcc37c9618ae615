/* Work in a thread of its own, beside the caller's. */
#ifndef KCL_BACKGROUND_H
#define KCL_BACKGROUND_H
#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that blocks all signals but those of its own faults, so that the program's threads receive them; a blocked fault would
 * end the process without its handler. False: there is no thread. */
bool kcl_thread_start(pthread_t *thread, void *(*body)(void *), void *arg);

/* Begins run(self) in a thread; it has ended when it has been awaited. NULL: it has run already. */
typedef struct kcl_background kcl_background;
kcl_background *kcl_background_begin(void (*run)(void *self), void *self);
void kcl_background_await(kcl_background **b); /* frees *b; or NULL */

#endif
