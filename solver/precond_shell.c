/* kcl_precond_create_shell: the caller's function as a preconditioner object. */
#include "solver/precond_object.h"

static int check_properties(kcl_context *ctx, unsigned properties) {
  enum { ALL = KCL_PRECOND_HERMITIAN | KCL_PRECOND_ADJOINT | KCL_PRECOND_VARIES };
  if (properties & ~(unsigned)ALL)
    return kcl_fail(ctx, KCL_USAGE, "properties %#x: bits of KCL_PRECOND_HERMITIAN and its like",
                    properties);
  return KCL_OK;
}

/* M^-1 and M^-H, of which a Hermitian M needs one. */
static int add_functions(kcl_preconditioner *M, const kcl_shell *shell) {
  KCL_CALL(kcl_precond_add_matrix_slot(M));
  kcl_precond_matrix *m = &M->matrix[0];
  int rc = kcl_stored_of_shell(M->ctx, shell, false, &m->C);
  if (!rc && M->adjoint) rc = kcl_stored_of_shell(M->ctx, shell, true, &m->CH);
  return rc;
}

static int make_shell(kcl_context *ctx, const kcl_shell *shell, bool varies,
                      kcl_preconditioner **out) {
  KCL_CALL(kcl_alloc(ctx, 1, sizeof **out, "a preconditioner", (void **)out));
  const bool hermitian = shell->properties & KCL_SHELL_HERMITIAN;
  **out = (kcl_preconditioner){.ctx = ctx,
                               .kind = &kcl_precond_shell,
                               .type = shell->type,
                               .hermitian = hermitian,
                               .varies = varies,
                               .symmetric = hermitian && !kcl_type_complex(shell->type),
                               .adjoint = !hermitian && (shell->properties & KCL_SHELL_ADJOINT),
                               .size = {.levels = 1, .rows = (double)shell->rows, .complexity = 1}};
  return add_functions(*out, shell);
}

/* As core/matrix/shell.h names what KCL_PRECOND_... says. */
static unsigned shell_properties(unsigned properties) {
  return (properties & KCL_PRECOND_HERMITIAN ? KCL_SHELL_HERMITIAN : 0u) |
         (properties & KCL_PRECOND_ADJOINT ? KCL_SHELL_ADJOINT : 0u);
}

int kcl_precond_of_function(kcl_context *ctx, int64_t rows, kcl_type type, kcl_apply_function apply,
                            void *user, int place, unsigned properties, kcl_precond **out) {
  const kcl_shell shell = {.rows = rows,
                           .cols = rows,
                           .type = type,
                           .apply = apply,
                           .user = user,
                           .place = place,
                           .properties = shell_properties(properties),
                           .inverse = true};
  KCL_OWNED_BY(kcl_precond_free) kcl_precond *p = NULL;
  if (out) *out = NULL;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "out", out));
  KCL_CALL(check_properties(ctx, properties));
  KCL_CALL(kcl_type_check(ctx, "type", type));
  KCL_CALL(kcl_check_device(ctx, type));
  KCL_CALL(kcl_shell_check(ctx, &shell));
  KCL_CALL(kcl_precond_new(ctx, &p));
  p->kind = &kcl_precond_shell;
  p->shape = (kcl_csr){.rows = rows, .cols = rows, .type = type};
  p->system.A = &p->shape;
  p->system.options = kcl_defaults, p->system.options.precision = type;
  KCL_CALL(make_shell(ctx, &shell, properties & KCL_PRECOND_VARIES, &p->M));
  *out = p, p = NULL;
  return KCL_OK;
}
