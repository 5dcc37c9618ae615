/* One bit of A or x flips in memory between set-up and certificate: nothing is certified, and the message says which
 * array changed. The format csr-scalar on the CPU uses A's own arrays, so the residual alone would not show it. */
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <string.h>

enum { VALUES, COLUMNS, POINTERS, NOTHING };
static const char *const word[] = {"values of A", "column indices of A", "row pointers of A"};

typedef struct trial {
  kcl_csr *A;
  int what, calls;
} trial;

/* Row pointers and columns stay within the arrays: the product must not read outside them. */
static void flip(const trial *t) {
  double *val = t->A->val;
  if (t->what == VALUES) val[7] *= 1 + 0x1p-52;
  if (t->what == COLUMNS) t->A->col[t->A->nnz - 2] ^= 1;
  if (t->what == POINTERS) t->A->row_ptr[5]++;
}

static int flip_once(void *user, const kcl_progress *p) {
  trial *t = user;
  (void)p;
  if (!t->calls++) flip(t);
  return 0;
}

/* while_running: in the first call of progress, else after the set-up. */
static void test_flip(kcl_context *ctx, const char *format, int what, bool while_running) {
  trial t = {.what = what};
  kcl_dense *b = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  o.solver = "cg", o.precond = "none", o.format = format, o.user = &t;
  if (while_running) o.progress = flip_once;
  if (!CHECK(!kcl_generate(ctx, "poisson2d:40", &t.A, &b))) return;
  double *x = calloc((size_t)t.A->cols, sizeof *x);
  CHECK(!kcl_setup(ctx, t.A, &o, &s));
  if (!while_running) flip(&t);
  int rc = kcl_solve_one(s, b->val, x, &r);
  if (what == NOTHING)
    CHECK(rc == KCL_OK && r.converged && r.x_sum == kcl_checksum(x, (size_t)t.A->cols * sizeof *x));
  else
    CHECKF(rc == KCL_CHANGED && strstr(kcl_error(), word[what]) && !r.converged, "%s, %s: %d, %s",
           format, word[what], rc, kcl_error());
  x[3] *= 1 + 0x1p-52;
  CHECK(kcl_checksum(x, (size_t)t.A->cols * sizeof *x) != r.x_sum);
  free(x), kcl_solver_free(&s), kcl_csr_free(&t.A), kcl_dense_free(&b);
}

int main(void) {
  static const char *const formats[] = {"csr-scalar", "ell"};
  kcl_context *ctx;
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx)) || !CHECK(!kcl_select(ctx, "cpu", 2)))
    return check_report();
  for (int f = 0; f < 2; f++)
    for (int what = VALUES; what <= NOTHING; what++)
      for (int running = 0; running < 2; running++) test_flip(ctx, formats[f], what, running);
  kcl_context_free(&ctx);
  return check_report();
}
