/* Distinct rows that are found once are those that are found each time, and none outlive a set-up, after which the values may
 * change; any number of threads numbers them alike.
 */
#include "core/matrix/repeats.h"
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <stdlib.h>
#include <string.h>

static kcl_repeats rows_of(kcl_context *ctx, const kcl_csr *A, kcl_distinct_rows *distinct) {
  kcl_repeats r = {0};
  CHECKF(!kcl_repeats_find_rows(ctx, A, distinct, true, &r), "%s", kcl_error());
  return r;
}

static void test_found_once(kcl_context *ctx, const kcl_csr *A, const kcl_csr *B) {
  kcl_distinct_rows d = {.A = A};
  kcl_repeats alone = rows_of(ctx, A, NULL), again, first, other;
  CHECK(!kcl_distinct_rows_found(&d, A) && !kcl_distinct_rows_found(NULL, A));
  first = rows_of(ctx, A, &d), again = rows_of(ctx, A, &d), other = rows_of(ctx, B, &d);
  CHECK(kcl_distinct_rows_found(&d, A) && !kcl_distinct_rows_found(&d, B));
  CHECK(first.count == alone.count && first.runs == alone.runs && alone.count == 9);
  CHECK(!memcmp(first.code, alone.code, (size_t)A->rows * sizeof *alone.code));
  CHECK(again.code == first.code && other.code != first.code && other.A == B);
  kcl_repeats_free(&first);
  CHECK(again.code[0] == alone.code[0]); /* freeing one of them frees nothing */
  kcl_repeats_free(&again), kcl_repeats_free(&other), kcl_repeats_free(&alone);
  kcl_distinct_rows_free(&d);
  CHECK(!kcl_distinct_rows_found(&d, A));
}

/* Tables of threads are merged: the same numbers, in the order of the rows, with any number of them. */
static void test_merged(kcl_context *ctx) {
  static const int threads[] = {2, 3, 5, 16};
  kcl_csr *A = NULL;
  const int before = kcl_threads();
  CHECK(!kcl_generate(ctx, "jump3d:24", &A, NULL));
  kcl_set_threads(1);
  kcl_repeats one = rows_of(ctx, A, NULL);
  CHECKF(one.count > 256 && kcl_repeats_fit(&one), "%lld", (long long)one.count);
  for (int t = 0; t < 4; t++) {
    kcl_set_threads(threads[t]);
    kcl_repeats r = rows_of(ctx, A, NULL);
    CHECKF(r.count == one.count && r.runs == one.runs &&
               !memcmp(r.row, one.row, (size_t)r.count * sizeof *r.row) &&
               !memcmp(r.code, one.code, (size_t)A->rows * sizeof *r.code),
           "%d threads: %lld rows", threads[t], (long long)r.count);
    kcl_repeats_free(&r);
  }
  kcl_set_threads(before);
  kcl_repeats_free(&one), kcl_csr_free(&A);
}

/* The product of A as it is now, by a format of distinct rows. */
static void test_solve(kcl_context *ctx, const kcl_csr *A, const char *when) {
  kcl_options o = cg_options();
  kcl_solver *s = NULL;
  kcl_report r = {0};
  double *b = malloc((size_t)A->rows * sizeof *b), *x = calloc((size_t)A->rows, sizeof *x);
  o.format = "pattern";
  for (int64_t i = 0; i < A->rows; i++) b[i] = 1;
  CHECKF(!kcl_setup(ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r) && r.converged, "%s: %s, %s",
         when, kcl_reason_text(r.reason), kcl_error());
  kcl_solver_free(&s), free(b), free(x);
}

int main(void) {
  kcl_context *ctx = NULL;
  kcl_csr *A = NULL, *B = NULL;
  CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 0));
  CHECK(!kcl_generate(ctx, "poisson2d:70", &A, NULL) &&
        !kcl_generate(ctx, "poisson2d:70", &B, NULL));
  test_found_once(ctx, A, B);
  test_merged(ctx);
  test_solve(ctx, A, "before");
  double *val = A->val;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] == i) val[k] += (double)(i % 7);
  test_solve(ctx, A, "after its values changed");
  kcl_csr_free(&A), kcl_csr_free(&B), kcl_context_free(&ctx);
  return check_report();
}
