/* Can it be solved as asked? Options, device and matrix, each with what would do in the message. */
#include "solver/engine/reproducible.h"
#include "solver/precond_object.h"
#include <stdio.h>

/* ---------------------------------------------------------------- options */

static int check_numbers(kcl_context *ctx, const kcl_options *o) {
  if (isnan(o->tol) || !(o->atol >= 0))
    return kcl_fail(ctx, KCL_USAGE, "tol %g and atol %g: numbers, the second 0 or more", o->tol,
                    o->atol);
  if (o->max_iter < 0)
    return kcl_fail(ctx, KCL_USAGE, "max_iter %lld is negative", (long long)o->max_iter);
  if ((unsigned)o->symmetry > KCL_SYMMETRY_ASSUME)
    return kcl_fail(ctx, KCL_USAGE, "symmetry %d: no such rule", (int)o->symmetry);
  if ((unsigned)o->scale > KCL_SCALE_NONE)
    return kcl_fail(ctx, KCL_USAGE, "scale %d: no such rule", (int)o->scale);
  int rc = kcl_type_check(ctx, "precision", o->precision);
  if (rc || (o->nrhs >= 0 && o->nrhs <= KCL_MAX_NRHS)) return rc;
  return kcl_fail(ctx, KCL_USAGE,
                  "%d right-hand sides at once are out of range: 1 to %d are possible", o->nrhs,
                  KCL_MAX_NRHS);
}

/* The device is selected. */
static int check_restart(kcl_context *ctx, int restart) {
  if (restart < 0 || restart > KCL_MAX_RESTART)
    return kcl_fail(ctx, KCL_USAGE, "restart %d is out of range: 1 to %d, or 0 for the default",
                    restart, KCL_MAX_RESTART);
  if (!ctx->opencl || restart <= KCL_OPENCL_RESTART) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE,
                  "restart %d: at most %d on an OpenCL device, whose work-groups keep the scalars "
                  "of a cycle in local memory; at most %d on device cpu",
                  restart, KCL_OPENCL_RESTART, KCL_MAX_RESTART);
}

int kcl_check_device(kcl_context *ctx, kcl_type type) {
  KCL_CALL(ctx->selected ? KCL_OK : kcl_select(ctx, NULL, 0));
  if ((type == KCL_D || type == KCL_Z) && !ctx->device.has_double)
    return kcl_fail(ctx, KCL_DEVICE,
                    "%s has no double precision: use --precision %c, or another device",
                    ctx->device.name, type == KCL_D ? 's' : 'c');
  return KCL_OK;
}

/* Solver "direct" iterates on nothing, and needs the entries of A on this host. */
static int check_direct_options(const kcl_system *s) {
  const kcl_options *o = &s->options;
  const char *why = NULL;
  if (!kcl_direct_available())
    return kcl_fail(s->ctx, KCL_USAGE,
                    "solver direct is not part of this build: install SuiteSparse (CHOLMOD and "
                    "UMFPACK with their headers) and build again");
  if (s->given || (strcmp(o->precond, "auto") && strcmp(o->precond, "none")))
    why = "takes no preconditioner: leave precond auto or none";
  else if (o->mixed)
    why = "factorises in double precision: leave the option mixed out";
  else if (s->shell)
    why = "needs the entries of A, and A is a function";
  else if (s->distribution)
    why = "runs on one rank: start one, or name a method";
  return why ? kcl_fail(s->ctx, KCL_USAGE, "solver direct %s", why) : KCL_OK;
}

static int check_guard(const kcl_system *s) {
  const char *why = s->options.mixed  ? "with mixed precision"
                    : s->shell        ? "where A is a function"
                    : s->distribution ? "on several ranks"
                                      : NULL;
  if (!s->options.guard || !why) return KCL_OK;
  return kcl_fail(s->ctx, KCL_USAGE, "the option guard: not %s", why);
}

static bool is_precond_shell(const kcl_system *s) {
  return s->object && s->object->kind == &kcl_precond_shell;
}

/* Functions are in the context that would be lost. */
static int check_fallback(const kcl_system *s) {
  const kcl_fallback_rule f = s->options.fallback;
  if (f != KCL_FALLBACK_NONE && f != KCL_FALLBACK_CPU)
    return kcl_fail(s->ctx, KCL_USAGE, "fallback %d: no such rule", (int)f);
  const char *why = s->distribution       ? "on several ranks"
                    : !s->ctx->opencl     ? NULL
                    : is_precond_shell(s) ? "with a preconditioner that is a function"
                    : s->shell && s->shell->place == KCL_OPENCL
                        ? "where A is a function of OpenCL buffers"
                        : NULL;
  if (!f || !why) return KCL_OK;
  return kcl_fail(s->ctx, KCL_USAGE, "the option fallback: not %s", why);
}

int kcl_check_options(kcl_system *s) {
  const kcl_options *o = &s->options;
  const kcl_method *m;
  const kcl_precond_kind *p;
  if (s->direct) KCL_CALL(check_direct_options(s));
  if (!s->undecided.method) KCL_CALL(kcl_method_find(s->ctx, o->solver, &m));
  if (!s->undecided.precond) KCL_CALL(kcl_system_precond_kind(s, o->precond, &p));
  KCL_CALL(check_numbers(s->ctx, o));
  KCL_CALL(kcl_check_parameters(&s->options));
  KCL_CALL(kcl_check_device(s->ctx, o->precision));
  KCL_CALL(check_restart(s->ctx, o->restart));
  KCL_CALL(kcl_reproducible_options(s));
  KCL_CALL(check_guard(s));
  return check_fallback(s);
}

/* ---------------------------------------------------------------- the matrix */

/* Does a method's demand on A hold? */
static bool method_fits(const kcl_system *s, const kcl_method *m) {
  return (s->A->rows == s->A->cols || m->least_squares) && (!m->hermitian || s->hermitian) &&
         (!m->symmetric || s->symmetric) && (!m->adjoint || kcl_system_has_adjoint(s));
}

/* A row whose sum of moduli overflows may still be finite. */
int kcl_check_entries(const kcl_system *s) {
  const kcl_csr *A = s->A;
  if (isfinite(s->stats.norm_inf)) return KCL_OK;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      double a[2];
      kcl_element(A->type, A->val, k, a);
      if (!isfinite(a[0]) || !isfinite(a[1]))
        return kcl_fail(s->ctx, KCL_INPUT,
                        "A is not finite: the entry in row %lld, column %lld, counted from 1, is "
                        "infinite or not a number",
                        (long long)i + 1, (long long)A->col[k] + 1);
    }
  return KCL_OK;
}

/* The methods that fit, for messages. */
static const char *fitting_methods(const kcl_system *s) {
  static _Thread_local char text[256];
  snprintf(text, sizeof text, "auto");
  for (int i = 0; i < kcl_method_count; i++) {
    const kcl_method *m = kcl_method_at(i);
    size_t used = strlen(text);
    if (method_fits(s, m)) snprintf(text + used, sizeof text - used, ", %s", m->name);
  }
  return text;
}

/* A matrix that is nearly Hermitian is no accident. */
static const char *nearly(const kcl_system *s) {
  static _Thread_local char text[160];
  text[0] = 0;
  if (s->stats.asymmetry < 1e6)
    snprintf(text, sizeof text,
             " (it differs from its adjoint by %.3g units of rounding; symmetry \"assume\" accepts "
             "that)",
             s->stats.asymmetry);
  return text;
}

int kcl_check_fit(const kcl_system *s, const kcl_method *m) {
  const kcl_stats *stats = &s->stats;
  if (stats->rows == 0 || stats->cols == 0)
    return kcl_fail(s->ctx, KCL_INPUT, "the matrix has no %s", stats->rows ? "columns" : "rows");
  if (stats->rows != stats->cols && !m->least_squares)
    return kcl_fail(s->ctx, KCL_INPUT,
                    "the matrix is %lld by %lld and %s needs a square one; for least squares: %s",
                    (long long)stats->rows, (long long)stats->cols, m->name, fitting_methods(s));
  if (m->adjoint && !kcl_system_has_adjoint(s))
    return kcl_fail(s->ctx, KCL_USAGE,
                    "%s multiplies by A^H, which the function is not declared to compute "
                    "(KCL_SHELL_ADJOINT): solvers that fit: %s",
                    m->name, fitting_methods(s));
  if (!method_fits(s, m))
    return kcl_fail(s->ctx, KCL_USAGE,
                    "%s needs a %s matrix and this one is not%s: solvers that fit: %s", m->name,
                    m->hermitian ? "Hermitian" : "symmetric (A = A^T)",
                    m->hermitian ? nearly(s) : "", fitting_methods(s));
  return KCL_OK;
}
