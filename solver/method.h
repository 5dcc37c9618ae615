/* For authors of Krylov methods and preconditioners.
 *
 * A method is one file solver/NAME.c and one line in solver/list.def; a preconditioner one file
 * solver/precond/NAME.c and one line in solver/precond/list.def. Neither sees an element, a
 * scalar type or a device: they record verbs of core/program.h.
 */
#ifndef KCL_METHOD_H
#define KCL_METHOD_H

#include "core/program.h"

typedef struct kcl_method {
  const char *name, *summary, *source;
  bool hermitian;            /* needs A = A^H (and positive definite, unless it says so) */
  bool symmetric;            /* needs A = A^T, complex or real */
  bool adjoint;              /* multiplies by A^H: kcl_AH(k) exists */
  int restart, most_restart; /* iterations a cycle, and most that can be asked for; 0: no cycles */
  void (*record)(kcl_program *k); /* START, then LOOP; failures stick to k */
} kcl_method;

typedef struct kcl_precond {
  const char *name, *summary, *source;
  int (*setup)(kcl_program *k,
               const kcl_csr *A); /* constants into k->precond_data; NULL: nothing to do */
  void (*apply)(kcl_program *k, kcl_vec z, kcl_vec r,
                bool adjoint); /* z = M^-1 r or M^-H r; NULL: M = I */
} kcl_precond;

int kcl_method_find(kcl *ctx, const char *name, const kcl_method **out);
int kcl_precond_find(kcl *ctx, const char *name, const kcl_precond **out);

#endif
