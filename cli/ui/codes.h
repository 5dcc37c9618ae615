/* Exit codes of the program, beside those of kcl_status, and ways out of a function. Functions that return an exit code have printed the message if it is not 0. */
#ifndef CLI_UI_CODES_H
#define CLI_UI_CODES_H

#include <stdlib.h>
#include <string.h>

enum {
  CLI_NOT_CONVERGED = 1,
  CLI_SLOWER = 1,
  CLI_CHECK_FAILED = 6,
  CLI_CHECK_UNDECIDED = 7,
  CLI_INTERRUPTED = 130
}; /* else: kcl_status */

/* Returns the exit code of a call that failed. A local that the function owns is declared CLI_OWNED, or CLI_OWNED_BY its function. */
#define CLI_CALL(call)                                                                             \
  do {                                                                                             \
    const int failure = (call);                                                                    \
    if (failure != 0) return failure;                                                              \
  } while (0)
#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define CLI_OWNED_BY(release) __attribute__((cleanup(release)))
#define CLI_OWNED CLI_OWNED_BY(cli_free_owned)
static inline void cli_free_owned(void *variable) {
  void *array;
  memcpy(&array, variable, sizeof array);
  free(array);
}

/* For functions that free more: needs a variable rc and a label done, which frees on both paths. */
#define CLI_TRY(call)                                                                              \
  do {                                                                                             \
    if ((rc = (call)) != 0) goto done;                                                             \
  } while (0)

#endif
