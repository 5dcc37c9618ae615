/* Reproducible sums (core/base/shape.h): what a solver may consist of, so that its x has the same bits everywhere. */
#ifndef KCL_REPRODUCIBLE_H
#define KCL_REPRODUCIBLE_H

#include "solver/engine/system.h"

/* Why a method with a preconditioner (NULL: any) is excluded, for a message that begins with *name; NULL: it is not, or sums need not
 * be reproducible. */
const char *kcl_reproducible_excludes(const kcl_system *s, const kcl_method *m,
                                      const kcl_precond_kind *p, const char **name);
/* KCL_USAGE: the options exclude it. Then the format becomes csr-scalar, so that nothing is timed. */
int kcl_reproducible_options(kcl_system *s);
/* KCL_USAGE: this method with this preconditioner (NULL: any), or a matrix that is not square. */
int kcl_reproducible_check(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *p);

#endif
