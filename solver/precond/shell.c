/* The caller's preconditioner, a shell: z = M^-1 r is a function (core/matrix/shell.h). Outside the list: kcl_precond_create_shell alone
 * makes it, and nothing of A is known to it. */
#include "solver/contract/precond.h"

static void shell_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                        bool adjoint) {
  kcl_apply(k, z, kcl_precond_operator(M, 0, adjoint), r); /* z = M^-1 r             */
}

const kcl_precond_kind kcl_precond_shell = {.name = "shell",
                                            .summary = "a function of the caller's",
                                            .symmetric = true, /* where it is declared Hermitian */
                                            .apply = shell_apply};
