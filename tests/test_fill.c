/* Levels of fill: against the definition on dense arrays, and in solves, natively: more fill, fewer iterations; where elimination within A's
 * pattern is unstable, more fill is kept before rows are exchanged.
 */
#include "factors/factor.h"
#include "tests/calls.h"
#include "tests/check.h"
#include <stdio.h>
#include <string.h>

enum { NEVER = 1000 }; /* the level of a position that is never filled */

/* About `more` entries per row beside the diagonal, of which a tenth is missing. */
static kcl_csr *make_random(kcl_context *ctx, int n, int more, kcl_type t) {
  kcl_csr *A = NULL;
  int64_t k = 0;
  if (kcl_csr_create(ctx, n, n, (int64_t)n * n, t, &A)) exit(1);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      if (i == j ? random_bits() % 10 == 0 : random_bits() % (uint64_t)n >= (uint64_t)more)
        continue;
      A->col[k] = j;
      kcl_set_element(t, A->val, k++, (double[]){1 + random_number(), random_number()});
    }
    A->row_ptr[i + 1] = k;
  }
  A->nnz = A->stored = k;
  return A;
}

/* level[i, j] = min over k < i, j of level[i, k] + level[k, j] + 1, column by column of each row (Saad 2003, definition 10.5). */
static int *find_levels(const kcl_csr *A, int most) {
  const int64_t n = A->rows;
  int *level = malloc((size_t)(n * n) * sizeof *level);
  for (int64_t i = 0; i < n * n; i++) level[i] = NEVER;
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) level[i * n + A->col[k]] = 0;
  for (int64_t i = 1; i < n; i++)
    for (int64_t k = 0; k < i; k++)
      for (int64_t j = k + 1; level[i * n + k] <= most && j < n; j++) {
        const int through = level[i * n + k] + level[k * n + j] + 1;
        if (through <= most && through < level[i * n + j]) level[i * n + j] = through;
      }
  return level;
}

static void compare_rows(const kcl_csr *A, const kcl_csr *F, const int *level) {
  for (int64_t i = 0; i < A->rows; i++) {
    int64_t at = A->row_ptr[i], k = F->row_ptr[i];
    for (int32_t j = 0; j < A->cols; j++) {
      if (level[i * A->cols + j] == NEVER) continue;
      double f[2] = {NAN, NAN}, a[2] = {0, 0};
      if (level[i * A->cols + j] == 0) kcl_element(A->type, A->val, at++, a);
      if (!CHECKF(k < F->row_ptr[i + 1] && F->col[k] == j, "row %lld has no column %d",
                  (long long)i, j))
        return;
      kcl_element(F->type, F->val, k++, f);
      CHECKF(f[0] == a[0] && f[1] == a[1], "(%lld, %d) is %g %+gi, not %g %+gi", (long long)i, j,
             f[0], f[1], a[0], a[1]);
    }
    CHECKF(k == F->row_ptr[i + 1], "row %lld has more", (long long)i);
  }
}

static void check_limit(kcl_context *ctx, const kcl_csr *A, int most, int64_t entries) {
  kcl_csr *F = NULL;
  CHECK(!kcl_factor_fill(ctx, A, most, entries, &F) && F);
  kcl_csr_free(&F);
  CHECK(!kcl_factor_fill(ctx, A, most, entries - 1, &F) && !F);
}

static void test_definition(kcl_context *ctx) {
  static const int sizes[] = {1, 2, 9, 33, 60};
  for (int s = 0; s < 5; s++)
    for (int most = 0; most < 6; most++)
      for (kcl_type t = KCL_D; t <= KCL_Z; t += 2) {
        kcl_csr *A = make_random(ctx, sizes[s], 2, t), *F = NULL;
        int *level = find_levels(A, most);
        if (CHECK(!kcl_factor_fill(ctx, A, most, INT64_MAX, &F)) && CHECK(!kcl_csr_check(ctx, F)))
          compare_rows(A, F, level), check_limit(ctx, A, most, F->nnz);
        free(level), kcl_csr_free(&A), kcl_csr_free(&F);
      }
}

/* ---------------------------------------------------------------- solves */

/* Central differences of a flow along both axes, 2.5 in the middle: elimination within its pattern grows without bound. */
static kcl_csr *make_flow(kcl_context *ctx, int m) {
  kcl_csr *A = NULL;
  int64_t k = 0;
  if (kcl_csr_create(ctx, (int64_t)m * m, (int64_t)m * m, 5 * (int64_t)m * m, KCL_D, &A)) exit(1);
  for (int i = 0; i < m * m; i++) {
    const int x = i % m, y = i / m, col[] = {i - m, i - 1, i, i + 1, i + m};
    const bool there[] = {y > 0, x > 0, true, x < m - 1, y < m - 1};
    static const double value[] = {-3, -3, 2.5, 1, 1};
    for (int n = 0; n < 5; n++)
      if (there[n]) A->col[k] = col[n], ((double *)A->val)[k++] = value[n];
    A->row_ptr[i + 1] = k;
  }
  A->nnz = A->stored = k;
  return A;
}

typedef struct outcome {
  int64_t iterations; /* INT64_MAX: not converged */
  char note[160];
} outcome;

static outcome solve_with(kcl_context *ctx, const kcl_csr *A, const char *method,
                          const char *precond, const char *parameters) {
  outcome out = {.iterations = INT64_MAX};
  kcl_options o = kcl_defaults;
  kcl_setup_info info;
  kcl_report r = {.iterations = 0};
  kcl_solver *s = NULL;
  double *b = calloc((size_t)A->rows, 2 * sizeof *b), *x = b + A->rows;
  o.solver = method, o.precond = precond, o.format = "csr-scalar", o.max_iter = 500;
  for (int64_t i = 0; i < A->rows; i++) b[i] = 1 + (double)(i % 7);
  snprintf(o.parameters, sizeof o.parameters, "%s", parameters);
  if (CHECKF(!kcl_setup(ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r), "%s", kcl_error())) {
    kcl_solver_info(s, &info);
    snprintf(out.note, sizeof out.note, "%s", info.precond_note);
    if (r.converged) out.iterations = r.iterations;
  }
  kcl_solver_free(&s), free(b);
  return out;
}

static void test_instability(kcl_context *ctx) {
  kcl_csr *A = make_flow(ctx, 30);
  const outcome automatic = solve_with(ctx, A, "idr", "ilu", ""),
                pattern = solve_with(ctx, A, "idr", "ilu", "ilu.level=0");
  CHECKF(!strncmp(automatic.note, "ILU(1), ", 8) && !strstr(automatic.note, "exchanged"), "%s",
         automatic.note);
  CHECKF(!strncmp(pattern.note, "ILU(0), ", 8) && strstr(pattern.note, "exchanged"), "%s",
         pattern.note);
  CHECKF(automatic.iterations < pattern.iterations / 2, "%lld iterations, %lld by A's pattern",
         (long long)automatic.iterations, (long long)pattern.iterations);
  kcl_csr_free(&A);
}

/* All fill of a band of 6 has a level of at most 5: the factors are exact. */
static void test_whole_factors(kcl_context *ctx) {
  kcl_csr *A = NULL;
  if (!CHECK(!kcl_generate(ctx, "poisson2d:6", &A, NULL))) return;
  const outcome ilu = solve_with(ctx, A, "gmres", "ilu", "ilu.level=10"),
                ic = solve_with(ctx, A, "cg", "ic", "ic.level=10"),
                ic0 = solve_with(ctx, A, "cg", "ic", "");
  CHECKF(ilu.iterations == 1, "%lld: %s", (long long)ilu.iterations, ilu.note);
  CHECKF(ic.iterations == 1, "%lld: %s", (long long)ic.iterations, ic.note);
  CHECKF(ic0.iterations > 1, "%lld: %s", (long long)ic0.iterations, ic0.note);
  kcl_csr_free(&A);
}

int main(void) {
  kcl_context *ctx = NULL;
  if (!CHECK(!kcl_context_create("cpu", 0, &ctx))) return check_report();
  test_definition(ctx);
  test_instability(ctx);
  test_whole_factors(ctx);
  kcl_context_free(&ctx);
  return check_report();
}
