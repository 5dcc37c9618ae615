/* Exit codes of the program, beside those of kcl_status, and the way out of a function that owns
 * resources. Functions that return an exit code have printed the message if it is not 0. */
#ifndef CLI_UI_CODES_H
#define CLI_UI_CODES_H

enum {
  CLI_NOT_CONVERGED = 1,
  CLI_SLOWER = 1,
  CLI_CHECK_FAILED = 6,
  CLI_CHECK_UNDECIDED = 7,
  CLI_INTERRUPTED = 130
}; /* else: kcl_status */

/* For functions that own resources: needs a variable rc and a label done, which frees on both
 * paths. */
#define CLI_TRY(call)                                                                              \
  do {                                                                                             \
    if ((rc = (call)) != 0) goto done;                                                             \
  } while (0)

#endif
