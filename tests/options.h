/* Options for tests of one method: cg without a preconditioner, where kcl_defaults leaves both to "auto". */
#ifndef KCL_TEST_OPTIONS_H
#define KCL_TEST_OPTIONS_H
#include "solver/calls.h"
#include <string.h>

static inline kcl_options cg_options(void) {
  kcl_options o = kcl_defaults;
  o.solver = "cg", o.precond = "none";
  return o;
}
/* Forms of cg count as cg: on a device "auto" takes the fastest. */
static inline const char *family(const char *method) {
  return strncmp(method, "cg-", 3) ? method : "cg";
}

#endif
