/* M = I: the method's z is r itself, nothing is stored or moved. */
#include "solver/contract/precond.h"

const kcl_precond_kind kcl_precond_none = {.name = "none",
                                           .summary = "no preconditioner",
                                           .source = "-",
                                           .symmetric = true,
                                           .least_squares = true};
