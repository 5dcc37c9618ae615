/* Matrices without entries: see shell.h. */
#include "core/base/context.h"
#include "core/matrix/stored.h"

static kcl_size shell_size(const kcl_stats *s, kcl_type type) {
  (void)s, (void)type;
  return (kcl_size){0};
}

/* Outside the list of formats: nothing is stored. */
static const kcl_format shell_format = {
    .name = "shell", .summary = "a function of the caller's", .size = shell_size};

int kcl_shell_check(kcl_context *ctx, const kcl_shell *s) {
  enum { ALL = KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE | KCL_SHELL_ADJOINT };
  KCL_CALL(kcl_type_check(ctx, "type", s->type));
  if (!s->apply)
    return kcl_fail(ctx, KCL_USAGE, "apply is NULL: a function %s is needed",
                    s->inverse ? "z = M^-1 r" : "y = A x");
  if (s->rows < 1 || s->cols < 1)
    return kcl_fail(ctx, KCL_INPUT, "a function of %lld rows and %lld columns: at least one each",
                    (long long)s->rows, (long long)s->cols);
  if (s->place != KCL_HOST && s->place != KCL_OPENCL)
    return kcl_fail(ctx, KCL_USAGE, "place %d: KCL_HOST or KCL_OPENCL", s->place);
  if (s->properties & ~(unsigned)ALL)
    return kcl_fail(ctx, KCL_USAGE, "properties %#x: bits of KCL_SHELL_HERMITIAN and its like",
                    s->properties);
  if ((s->properties & KCL_SHELL_HERMITIAN) && s->rows != s->cols)
    return kcl_fail(ctx, KCL_USAGE, "a Hermitian function of %lld rows and %lld columns",
                    (long long)s->rows, (long long)s->cols);
  if ((s->properties & KCL_SHELL_POSITIVE) && !(s->properties & KCL_SHELL_HERMITIAN))
    return kcl_fail(
        ctx, KCL_USAGE,
        "KCL_SHELL_POSITIVE without KCL_SHELL_HERMITIAN: positive definite is Hermitian");
  if (s->place == KCL_OPENCL && !ctx->opencl)
    return kcl_fail(ctx, KCL_USAGE,
                    "a function on OpenCL buffers needs an OpenCL device, and %s is selected",
                    ctx->device.name);
  return KCL_OK;
}

int kcl_stored_of_shell(kcl_context *ctx, const kcl_shell *shell, bool adjoint, kcl_stored **out) {
  const int64_t rows = adjoint ? shell->cols : shell->rows,
                cols = adjoint ? shell->rows : shell->cols;
  KCL_CALL(kcl_alloc(ctx, 1, sizeof **out, "a matrix", (void **)out));
  **out = (kcl_stored){.ctx = ctx,
                       .format = &shell_format,
                       .type = shell->type,
                       .rows = rows,
                       .cols = cols,
                       .shell = *shell,
                       .adjoint = adjoint,
                       .origin.source = {.rows = rows, .cols = cols, .type = shell->type},
                       .kernel.lanes = 1};
  return KCL_OK;
}

static kcl_vectors vectors_of(const kcl_stored *m, void *data, int64_t n) {
  return (kcl_vectors){.size = sizeof(kcl_vectors),
                       .data = data,
                       .rows = n,
                       .cols = 1,
                       .ld = n,
                       .inc = 1,
                       .type = kcl_type_letter(m->type),
                       .place = m->shell.place};
}

static const char *name_of_product(const kcl_stored *m) {
  if (m->shell.inverse) return m->adjoint ? "M^-H" : "M^-1";
  return m->adjoint ? "A^H" : "A";
}

static bool is_status(int rc) {
  return (rc >= KCL_USAGE && rc <= KCL_MEMORY) || (rc >= KCL_BUSY && rc <= KCL_CHANGED);
}

int kcl_shell_apply(const kcl_stored *m, void *x, void *y, void *queue) {
  const kcl_vectors from = vectors_of(m, x, m->cols);
  kcl_vectors to = vectors_of(m, y, m->rows);
  const bool solving = m->ctx->solving;
  m->ctx->solving = true; /* it may not use the context */
  const int rc = m->shell.apply(m->shell.user, m->adjoint, &from, &to, queue);
  m->ctx->solving = solving;
  if (!rc) return KCL_OK;
  return kcl_fail(m->ctx, is_status(rc) ? (kcl_status)rc : KCL_USAGE,
                  "the function that multiplies by %s failed: it returned %d", name_of_product(m),
                  rc);
}
