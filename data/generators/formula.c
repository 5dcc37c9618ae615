/* Systems of which any range of rows can be made: the matrix and its right-hand side, from what their generator describes. */
#include "data/generators/generate.h"

int kcl_formula_self(kcl_context *ctx, const void *self, size_t size, kcl_formula *out) {
  void *copy;
  KCL_CALL(kcl_alloc(ctx, 1, size, "a generator", &copy));
  memcpy(copy, self, size);
  out->rows.self = copy;
  return KCL_OK;
}

void kcl_rhs_one(const void *self, int64_t i, double *b) {
  (void)self;
  (void)i;
  *b = 1;
}

typedef struct rhs_filling {
  const kcl_formula *f;
  int64_t from, parts;
  double *b;
} rhs_filling;

static void fill_formula_rhs(void *arg, int64_t first, int64_t end) {
  const rhs_filling *s = arg;
  for (int64_t i = first; i < end; i++)
    s->f->rhs(s->f->rows.self, s->from + i, s->b + s->parts * i);
}

int kcl_formula_rows(kcl_context *ctx, const kcl_formula *f, int64_t from, int64_t to, kcl_csr **A,
                     kcl_dense **b) {
  KCL_CALL(kcl_rows_part(ctx, &f->rows, f->rows.rows, from, to, A));
  if (!b) return KCL_OK;
  if (!f->rhs) return kcl_rhs_image(ctx, *A, b);
  KCL_CALL(kcl_rhs_zero(ctx, *A, b));
  rhs_filling s = {f, from, f->rows.type == KCL_Z ? 2 : 1, (*b)->val};
  kcl_for(to - from, KCL_FEW_ROWS, fill_formula_rhs, &s);
  return KCL_OK;
}
