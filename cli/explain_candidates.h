/* The part of `krylocl explain` that tells the candidates of auto. */
#ifndef CLI_EXPLAIN_CANDIDATES_H
#define CLI_EXPLAIN_CANDIDATES_H

#include "krylocl.h"
#include "krylocl/io.h"

struct cli_options;

/* Prints the candidates of the solver, and writes them to --json. */
int cli_explain_candidates(const struct cli_options *o, kcl_solver *s, const kcl_csr *A);

#endif
