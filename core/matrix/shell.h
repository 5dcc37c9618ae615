/* A matrix without entries, a shell: its products are a function of the caller's (kcl_apply_function).
 *
 * It becomes a kcl_stored without arrays, which programs apply like any other. The executors call the function in the thread that
 * called the library, with whole vectors: the native executor between two parallel regions, the OpenCL executor between two launches.
 */
#ifndef KCL_SHELL_H
#define KCL_SHELL_H

#include "core/base/base.h"

typedef struct kcl_shell {
  int64_t rows, cols;
  kcl_type type;
  kcl_apply_function apply;
  void *user;          /* its first argument */
  int place;           /* of its x and y: KCL_HOST, KCL_OPENCL */
  unsigned properties; /* KCL_SHELL_HERMITIAN, ... */
  bool inverse;        /* A = M^-1 of a preconditioner, for messages */
} kcl_shell;

struct kcl_stored;

/* KCL_USAGE: a field that is invalid, or does not fit the others or the selected device. */
int kcl_shell_check(kcl_context *ctx, const kcl_shell *shell);
/* A, or A^H, as programs apply it; shell is copied. */
int kcl_stored_of_shell(kcl_context *ctx, const kcl_shell *shell, bool adjoint,
                        struct kcl_stored **out);
/* y = A x by the function: x and y are arrays and queue NULL, or cl_mem. A failure has its status, and a message that says so. */
int kcl_shell_apply(const struct kcl_stored *m, void *x, void *y, void *queue);

#endif
