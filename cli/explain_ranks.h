/* Predictions for several ranks. */
#ifndef CLI_EXPLAIN_RANKS_H
#define CLI_EXPLAIN_RANKS_H

#include "cli/ui/options.h"
#include "krylocl/device.h"
#include "krylocl/io.h"

/* Prints the predicted time of an iteration on 1, 2, 4 ... o->ranks ranks. */
int cli_explain_ranks(const cli_options *o, const kcl_csr *A, kcl_solver *s, const kcl_device *d);

#endif
