/* Jacobi sweeps or exact triangular solves, on a GPU: a test with the factors at hand. */
#include "core/matrix/level_sets.h"
#include "factors/factored.h"

static const double LOOSE = 0.25; /* as near as sweeps must come where exact solves are too slow */

/* The least number of sweeps that is close for both vectors; 0: none is. */
static int enough(double error[2][KCL_MOST_SWEEPS + 1], double close) {
  int s = KCL_MOST_SWEEPS + 1;
  while (s > 0 && error[0][s - 1] <= close && error[1][s - 1] <= close) s--;
  return s > KCL_MOST_SWEEPS ? 0 : s > 0 ? s : 1;
}

/* v = P A w; w: ones, or signs by a hash. */
static void probe(const kcl_csr *A, const kcl_matching *m, bool ones, double *w, double *v) {
  const int width = kcl_type_complex(A->type) ? 2 : 1;
  for (int64_t i = 0; i < A->rows; i++) {
    const uint64_t hash = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
    w[width * i] = ones || hash >> 63 ? 1 : -1;
    if (width == 2) w[2 * i + 1] = 0;
  }
  kcl_csr_product(A, w, NULL, v + A->rows * (2 - width));
  if (width == 1) /* pairs */
    for (int64_t i = 0; i < A->rows; i++) v[2 * i] = v[A->rows + i], v[2 * i + 1] = 0;
  if (!m) return;
  for (int64_t i = 0; i < 2 * A->rows; i++) w[i] = v[i];
  for (int64_t i = 0; i < A->rows; i++)
    for (int p = 0; p < 2; p++) v[2 * i + p] = w[2 * (int64_t)m->row[i] + p] * m->r[m->row[i]];
}

static void divide_waves(const kcl_factors *f, int64_t n, kcl_type type, double *y) {
  for (int64_t i = 0; i < n; i++) {
    double d[2], a[2] = {y[2 * i], y[2 * i + 1]};
    kcl_element(type, f->d, i, d);
    y[2 * i] = d[0] * a[0] - d[1] * a[1], y[2 * i + 1] = d[0] * a[1] + d[1] * a[0];
  }
}

/* M^-1 A of two vectors, by sweeps and exactly; error[0]: of L. */
static int measure_sweeps(kcl_preconditioner *M, const kcl_choosing *c,
                          double error[2][2][KCL_MOST_SWEEPS + 1]) {
  const int64_t n = c->A->rows;
  KCL_OWNED double *w = NULL, *v = NULL;
  KCL_CALL(kcl_alloc(M->ctx, 2 * n, sizeof *w, "a test of sweeps", (void **)&w));
  KCL_CALL(kcl_alloc(M->ctx, 2 * n, sizeof *v, "a test of sweeps", (void **)&v));
  for (int i = 0; i < 2; i++) {
    probe(c->A, c->m, i == 0, w, v);
    KCL_CALL(kcl_sweep_errors(M->ctx, c->f->L, false, v, w, error[0][i]));
    divide_waves(c->f, n, c->A->type, w);
    KCL_CALL(kcl_sweep_errors(M->ctx, c->f->U, true, w, v, error[1][i]));
  }
  return KCL_OK;
}

/* M = M^H asks for as many with L^H as with L. */
static void make_equal(int sweeps[2]) {
  const int most = sweeps[0] > sweeps[1] ? sweeps[0] : sweeps[1];
  sweeps[0] = sweeps[1] = sweeps[0] && sweeps[1] ? most : 0;
}

static int count_levels(kcl_preconditioner *M, const kcl_csr *N, int64_t *out) {
  kcl_level_sets s;
  int rc = kcl_level_sets_find(M->ctx, N, &s);
  if (!rc) *out = s.count, kcl_level_sets_free(&s);
  return rc;
}

static bool solvable(int64_t rows, int64_t levels, int launches) {
  return rows <= KCL_GROUP_ROWS || levels <= launches;
}

static int refuse_sweeps(kcl_preconditioner *M, int64_t levels, bool hermitian) {
  return kcl_fail(M->ctx, KCL_USAGE,
                  "%s: Jacobi sweeps do not solve with these triangular factors, and %lld levels "
                  "are too many launches on this device (the limit is %d, or %d rows): use "
                  "--device cpu or --precond %s",
                  M->kind->name, (long long)levels, KCL_MOST_LAUNCHES, KCL_GROUP_ROWS,
                  hermitian ? "fsai" : "spai");
}

/* levels [2]: of the solves with L and with L^H or U, counted, or as before. */
static int find_levels(kcl_preconditioner *M, const kcl_choosing *c, int64_t levels[2]) {
  for (int i = 0; i < 2 && c->before; i++) levels[i] = c->before->levels[i];
  if (c->before) return KCL_OK;
  int rc = count_levels(M, c->f->L, &levels[0]);
  return rc ? rc : count_levels(M, c->f->U, &levels[1]);
}

int kcl_choose_solves(kcl_preconditioner *M, const kcl_choosing *c, kcl_factored *F) {
  const int64_t rows = c->A->rows, *levels = F->levels;
  const bool gpu = M->ctx->layout == KCL_LAYOUT_GPU || M->ctx->like_gpu;
  double error[2][2][KCL_MOST_SWEEPS + 1];
  KCL_CALL(find_levels(M, c, F->levels));
  if (!gpu) return KCL_OK;
  KCL_CALL(measure_sweeps(M, c, error));
  for (int i = 0; i < 2; i++) {
    F->sweeps[i] = enough(error[i], c->close);
    if (!F->sweeps[i] && !solvable(rows, levels[i], KCL_FEW_LAUNCHES))
      F->sweeps[i] = enough(error[i], LOOSE);
  }
  if (F->hermitian) make_equal(F->sweeps);
  for (int i = 0; i < 2; i++)
    if (!F->sweeps[i] && !solvable(rows, levels[i], KCL_MOST_LAUNCHES))
      return refuse_sweeps(M, levels[i], F->hermitian);
  return KCL_OK;
}
