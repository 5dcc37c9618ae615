/* The tests of krylocl selftest: every storage format, method and preconditioner on a small battery of generated systems, on the device
 * that is selected, against the host's compensated arithmetic. */
#ifndef CLI_SELFTEST_H
#define CLI_SELFTEST_H

#include "cli/ui/options.h"
#include "krylocl/io.h"

struct cJSON;

typedef struct cli_battery {
  kcl_context *ctx;
  const cli_options *o;
  kcl_type precision;
  const char *group;         /* of the tests that run: "products", "methods", "preconds", "bits" */
  int right, refused, wrong; /* of this group */
  int wrong_in_all;          /* of all groups, precisions and devices */
  struct cJSON *faults;      /* a list: {test, reason} */
} cli_battery;

/* Result of one test. */
typedef struct cli_selftest_result {
  bool refused;
  char reason[600]; /* empty: right */
  int setup;        /* of a solve: status of its set-up */
  kcl_result solve;
} cli_selftest_result;

/* A generated system in the type of the precision. *b may be NULL. 0, or an exit code after a message. */
int cli_selftest_system(const cli_battery *t, const char *name, kcl_csr **A, kcl_dense **b);
/* Sets up a solver by options in words and solves A x = b. A failure of the library is a reason, not an exit code. */
int cli_selftest_solve(const cli_battery *t, const char *options, const kcl_csr *A,
                       const kcl_dense *b, kcl_dense *x, cli_selftest_result *r);
/* Counts a test, and prints it if it is wrong. */
void cli_selftest_count(cli_battery *t, const char *test, const cli_selftest_result *r);

/* Products y = A x and y = A^H x of one column and of several, in every format. */
int cli_selftest_products(cli_battery *t);
/* Solves by every method. */
int cli_selftest_methods(cli_battery *t);
/* Solves with every preconditioner, of an unsymmetric system where it is for these. */
int cli_selftest_preconds(cli_battery *t);
/* Solves with reproducible sums, whose x has the same bits on every device. */
int cli_selftest_bits(cli_battery *t);

#endif
