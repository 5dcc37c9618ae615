/* Preconditioners of the registry, each as an operator: linear, Hermitian positive definite where it says so, with an adjoint that is one, a
 * multiple of the inverse for diagonal A, the same bits for any number of threads, the same up to rounding on every
 * executor, refused with a sentence where it must be; how many iterations cg takes with it; how few kernels its stages need; and
 * narrow vectors, with every format that takes them.
 */
#include "core/opencl/device/device.h"
#include "solver/engine/engine.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/elasticity.h"
#include "tests/numbers.h"
#include "tests/options.h"
#include "tests/suits.h"

/* ---------------------------------------------------------------- z = M^-1 r */

/* M^-1 applied to n right-hand sides r [n, rows], into z; adjoint: M^-H. */
typedef struct applied {
  const place *p;
  const kcl_csr *A; /* of the type that M has */
  const kcl_preconditioner *M;
  const char *format; /* of A; NULL: csr-scalar */
  int nrhs;           /* at once; 0: 1 */
} applied;

static int record(const applied *a, bool adjoint, kcl_stored *m[2], kcl_program **out) {
  int rc = kcl_program_create(a->p->ctx, a->A->type, a->A->rows, a->A->rows, out);
  if (rc) return rc;
  kcl_program *k = *out;
  k->A = m[0], k->AH = m[1];
  kcl_preconditioner_bind(a->M, k);
  kcl_begin(k, KCL_START);
  kcl_precondition(k, kcl_b(k), kcl_x(k), adjoint);
  if (a->nrhs) k->nrhs = a->nrhs;
  return kcl_program_end(k);
}

static void apply(const applied *a, bool adjoint, int n, const number *r, number *z) {
  const int64_t rows = a->A->rows;
  kcl_stored *m[2] = {NULL, NULL};
  kcl_csr *AH = NULL;
  kcl_program *k = NULL;
  kcl_executor ex = {0};
  const kcl_format *f;
  int rc;
  KCL_TRY(kcl_format_find(a->p->ctx, a->format ? a->format : "csr-scalar", a->A->type, &f));
  KCL_TRY(kcl_csr_adjoint(a->p->ctx, a->A, &AH));
  KCL_TRY(kcl_stored_build(a->p->ctx, f, a->A, &m[0]));
  KCL_TRY(kcl_stored_build(a->p->ctx, f, AH, &m[1]));
  KCL_TRY(record(a, adjoint, m, &k));
  KCL_TRY(kcl_executor_open(k, &ex));
  KCL_TRY(kcl_timing_state(&ex, KCL_MAX_NRHS));
  for (int i = 0; i < n; i += k->nrhs) {
    for (int c = 0; c < k->nrhs; c++) KCL_TRY(ex.put(&ex, k->x, c, KCL_Z, r + (i + c) * rows, 1));
    KCL_TRY(ex.run(&ex, KCL_START, 1));
    KCL_TRY(ex.finish(&ex));
    for (int c = 0; c < k->nrhs; c++) KCL_TRY(ex.get(&ex, k->b, c, KCL_Z, z + (i + c) * rows, 1));
  }
done:
  CHECKF(!rc, "%s", kcl_error());
  if (ex.close) ex.close(&ex);
  kcl_program_free(&k), kcl_stored_free(&m[0]), kcl_stored_free(&m[1]), kcl_csr_free(&AH);
}

/* ---------------------------------------------------------------- one preconditioner of one matrix */

typedef struct system_ {
  const char *kind;
  bool pairs; /* complex */
} system_;

/* A cycle multiplies and adds a few hundred times, each time up to the entries of a row. */
static double rounding(kcl_type t, bool narrow) { return 4000 * tol_u(narrow ? KCL_S : t); }

static void words(const applied *a, const char *kind, char text[120]) {
  snprintf(text, 120, "%s of %s on %s, type %c", a->M->kind->name, kind, a->p->name,
           kcl_type_letter(a->A->type));
}

/* x, y and x + 2 y; then their images. */
static void test_operator(const applied *a, const char *kind, bool adjoint, number *image) {
  const int64_t n = a->A->rows;
  const double u = rounding(a->A->type, a->M->narrow);
  number *v = random_vector(a->A->type, 3 * n), *z = filled(3 * n, 0), *h = filled(3 * n, 0);
  char what[120];
  words(a, kind, what);
  for (int64_t i = 0; i < 2 * n; i++) v[i] = (float)creal(v[i]) + I * (float)cimag(v[i]);
  for (int64_t i = 0; i < n; i++) v[2 * n + i] = v[i] + 2 * v[n + i];
  apply(a, false, 3, v, z);
  memcpy(image, z, (size_t)n * sizeof *z);
  double off = 0, size = norm(z, n) + 2 * norm(z + n, n);
  for (int64_t i = 0; i < n; i++) {
    const number d = z[2 * n + i] - z[i] - 2 * z[n + i];
    off += creal(d * conj(d));
  }
  CHECKF(size > 0 && sqrt(off) <= u * size, "%s: linear up to %g, not %g", what, u,
         sqrt(off) / size);
  if (adjoint) {
    apply(a, true, 2, v, h);
    const number left = dot(h, v + n, n), right = dot(v, z + n, n);
    CHECKF(cabs(left - right) <= u * norm(v, n) * norm(z + n, n), "%s: adjoint, %g off", what,
           cabs(left - right));
  }
  if (a->M->kind->symmetric && a->M->hermitian) {
    const number left = dot(z, v + n, n), right = dot(v, z + n, n);
    CHECKF(cabs(left - right) <= u * norm(v, n) * norm(z + n, n), "%s: Hermitian, %g off", what,
           cabs(left - right));
    CHECKF(creal(dot(v, z, n)) > 0, "%s: positive", what);
  }
  free(v), free(z), free(h);
}

static int set_up(const place *p, const kcl_csr *A, const kcl_precond_kind *kind,
                  const char *method, kcl_preconditioner **out) {
  const kcl_method *m;
  kcl_stats s;
  *out = NULL;
  int rc = kcl_method_find(p->ctx, method, &m);
  if (!rc) rc = kcl_csr_stats(p->ctx, A, &s);
  if (rc) return rc;
  const kcl_precond_request q = {.ctx = p->ctx,
                                 .A = A,
                                 .stats = &s,
                                 .tol = 1e-8,
                                 .hermitian = s.hermitian,
                                 .symmetric = s.symmetric};
  return kcl_precond_setup(&q, kind, m, out);
}

/* The sums of all that M owns. */
static uint64_t signature(const kcl_preconditioner *M) {
  uint64_t sum = 0;
  for (int i = 0; i < M->vectors; i++)
    sum = sum * 31 + kcl_checksum(M->vector[i].values,
                                  (size_t)M->vector[i].n * kcl_type_size(M->vector[i].type));
  for (int i = 0; i < M->matrices; i++) {
    const kcl_csr *C = &M->matrix[i].C->origin.source;
    sum = sum * 31 + kcl_checksum(C->val, (size_t)C->nnz * kcl_type_size(C->type));
    sum = sum * 31 + kcl_checksum(C->col, (size_t)C->nnz * sizeof *C->col);
  }
  return sum;
}

static void test_threads(const place *p, const kcl_csr *A, const kcl_precond_kind *kind) {
  static const int threads[] = {1, 2, 4};
  const int before = kcl_threads();
  uint64_t first = 0;
  for (int i = 0; i < 3; i++) {
    kcl_preconditioner *M = NULL;
    kcl_set_threads(threads[i]);
    if (!set_up(p, A, kind, "gmres", &M) && M) {
      if (!i) first = signature(M);
      CHECKF(signature(M) == first, "%s: other bits with %d threads", kind->name, threads[i]);
    }
    kcl_preconditioner_free(&M);
  }
  kcl_set_threads(before);
}

/* On both executors; the second result is compared with the first. */
static void test_kind(const kcl_csr *A, const char *kind, const kcl_precond_kind *c) {
  number *image[2] = {filled(A->rows, 0), filled(A->rows, 0)};
  const uint64_t seed = random_state;
  bool sweeps = false; /* in place of exact triangular solves, on a GPU: near them */
  bool narrow = false;
  for (int i = 0; i < place_count; i++) {
    kcl_preconditioner *M = NULL;
    bool adjoint = true;
    random_state = seed;
    if (!can(&places[i], A->type)) continue;
    if (set_up(&places[i], A, c, "bicg", &M))
      adjoint = false,
      CHECKF(!set_up(&places[i], A, c, "gmres", &M), "%s of %s: %s", c->name, kind, kcl_error());
    if (!M) continue;
    sweeps = sweeps || strstr(M->note, "sweeps"), narrow = M->narrow;
    const applied a = {.p = &places[i], .A = A, .M = M};
    test_operator(&a, kind, adjoint, image[i]);
    kcl_preconditioner_free(&M);
  }
  double off = 0;
  for (int64_t i = 0; i < A->rows; i++)
    off += creal(image[1][i] - image[0][i]) * creal(image[1][i] - image[0][i]);
  if (place_count == 2)
    CHECKF(sqrt(off) <= (sweeps ? 0.15 : rounding(A->type, narrow)) * norm(image[0], A->rows),
           "%s of %s: executors differ by %g", c->name, kind, sqrt(off) / norm(image[0], A->rows));
  free(image[0]), free(image[1]);
}

static const system_ systems[] = {
    {"jump2d:24", false}, {"convection:18", false}, {"magnetic:12", true}, {"helmholtz:10", true}};

static bool suits(const kcl_csr *A, const char *precond, const char *method) {
  const kcl_options o = {.precond = precond, .solver = method, .precision = A->type};
  return precond_suits(places[0].ctx, A, &o);
}

static void test_systems(void) {
  for (size_t s = 0; s < sizeof systems / sizeof *systems; s++)
    for (kcl_type t = KCL_S; t <= KCL_Z; t++) {
      kcl_csr *given = NULL, *A = NULL;
      kcl_context *ctx = places[0].ctx;
      if (kcl_type_complex(t) != systems[s].pairs || !turn_of(t, (int)s + (int)t)) continue;
      if (!CHECK(!kcl_generate(ctx, systems[s].kind, &given, NULL) &&
                 !kcl_csr_convert(ctx, given, t, &A)))
        continue;
      for (int c = 1; c < kcl_precond_count; c++) {
        const kcl_precond_kind *kind = kcl_precond_at(c);
        if (!suits(A, kind->name, "gmres")) continue;
        test_kind(A, systems[s].kind, kind);
        if (!places[0].ctx->opencl) test_threads(&places[0], A, kind);
      }
      kcl_csr_free(&given), kcl_csr_free(&A);
    }
}

/* ---------------------------------------------------------------- definite */

/* Z [n, n] = M^-1, one column per unit vector. */
static number *whole_inverse(const applied *a) {
  const int64_t n = a->A->rows;
  number *unit = filled(n * n, 0), *Z = filled(n * n, NAN);
  for (int64_t i = 0; i < n; i++) unit[i * n + i] = 1;
  apply(a, false, (int)n, unit, Z);
  free(unit);
  return Z;
}

/* The largest |z_ij - conj(z_ji)|. */
static double hermitian_defect(const number *Z, int64_t n) {
  double off = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) off = fmax(off, cabs(Z[i * n + j] - conj(Z[j * n + i])));
  return off;
}

/* Has Z - shift I a Cholesky factor? It overwrites the triangle j <= i. Z is then positive definite if shift exceeds n times the
 * rounding of an element of Z and of the factorization (Higham 2002, theorem 10.3). */
static bool has_cholesky_factor(number *Z, int64_t n, double shift) {
  for (int64_t i = 0; i < n; i++) {
    number *row = Z + i * n;
    for (int64_t j = 0; j < i; j++) row[j] = (row[j] - conj(dot(row, Z + j * n, j))) / Z[j * n + j];
    const double pivot = creal(row[i]) - shift - creal(dot(row, row, i));
    if (!(pivot > 0)) return false;
    row[i] = sqrt(pivot);
  }
  return true;
}

static void test_definite_kind(const place *p, const kcl_csr *A, const kcl_precond_kind *kind,
                               const char *system) {
  kcl_preconditioner *M = NULL;
  if (!CHECKF(!set_up(p, A, kind, "cg", &M), "%s of %s: %s", kind->name, system, kcl_error()))
    return;
  M->narrow = false; /* the rounding of float would hide small eigenvalues */
  const int64_t n = A->rows;
  number *Z = whole_inverse(&(applied){.p = p, .A = A, .M = M});
  double largest = 0;
  for (int64_t i = 0; i < n; i++) largest = fmax(largest, creal(Z[i * n + i]));
  const double bound = rounding(A->type, false) * largest, off = hermitian_defect(Z, n);
  CHECKF(off <= bound, "%s of %s: Hermitian up to %g, not %g", kind->name, system, bound, off);
  CHECKF(has_cholesky_factor(Z, n, (double)n * bound), "%s of %s: not positive definite",
         kind->name, system);
  free(Z), kcl_preconditioner_free(&M);
}

/* A preconditioner declared symmetric is Hermitian positive definite where A is: every column of M^-1. */
static void test_definite(const place *p) {
  static const char *const definite[] = {"jump2d:14", "aniso2d:13", "elasticity:4x4x4",
                                         "poisson3d:6", "magnetic:10"};
  for (size_t s = 0; s < sizeof definite / sizeof *definite; s++) {
    kcl_csr *A = NULL;
    if (!CHECK(!kcl_generate(p->ctx, definite[s], &A, NULL))) continue;
    for (int c = 1; c < kcl_precond_count; c++) {
      const kcl_precond_kind *kind = kcl_precond_at(c);
      if (kind->symmetric && suits(A, kind->name, "cg"))
        test_definite_kind(p, A, kind, definite[s]);
    }
    kcl_csr_free(&A);
  }
}

/* ---------------------------------------------------------------- special matrices */

/* n x n from dense rows. */
static kcl_csr *dense(kcl_context *ctx, int n, const double *a) {
  kcl_csr *A = NULL;
  int64_t nnz = 0;
  for (int i = 0; i < n * n; i++) nnz += a[i] != 0;
  if (kcl_csr_create(ctx, n, n, nnz, KCL_D, &A)) exit(1);
  for (int i = 0, at = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      if (a[i * n + j] != 0) A->col[at] = j, ((double *)A->val)[at++] = a[i * n + j];
    A->row_ptr[i + 1] = at;
  }
  return A;
}

/* M^-1 D = c I: the inverse of a diagonal matrix but for a factor. */
static void test_diagonal(const place *p, int n) {
  kcl_csr *A = NULL;
  if (!CHECK(!kcl_csr_create(p->ctx, n, n, n, KCL_D, &A))) return;
  number *r = filled(n, 1), *z = filled(n, 0);
  for (int i = 0; i < n; i++)
    A->row_ptr[i + 1] = i + 1, A->col[i] = i, ((double *)A->val)[i] = 1 + i % 7 * 0.5;
  for (int c = 1; c < kcl_precond_count; c++) {
    const kcl_precond_kind *kind = kcl_precond_at(c);
    kcl_preconditioner *M = NULL;
    if (!CHECKF(!set_up(p, A, kind, "gmres", &M), "%s: %s", kind->name, kcl_error())) continue;
    apply(&(applied){.p = p, .A = A, .M = M}, false, 1, r, z);
    for (int i = 0; i < n; i++) {
      const double factor = creal(z[i]) * (1 + i % 7 * 0.5),
                   u = M->narrow ? 16 * tol_u(KCL_S) : 1e-13;
      CHECKF(fabs(factor - creal(z[0])) < u * fabs(creal(z[0])) && creal(z[0]) > 0,
             "%s of a diagonal matrix: row %d has %g, row 0 %g", kind->name, i, factor,
             creal(z[0]));
    }
    kcl_preconditioner_free(&M);
  }
  free(r), free(z), kcl_csr_free(&A);
}

static const double MOST_COMPLEXITY = 3.1; /* entries of all levels by A's */

static void check_complexity(const kcl_solver *s, double most, const char *what,
                             const char *precond) {
  kcl_setup_info u = {0};
  if (!s) return;
  kcl_solver_info(s, &u);
  CHECKF(u.precond_complexity <= most, "%s of %s: complexity %g", precond, what,
         u.precond_complexity);
}

/* Refused with a sentence that names the preconditioner, or it solves the system. */
static void solves_or_refuses(const place *p, const kcl_csr *A, const char *what) {
  for (int c = 1; c < kcl_precond_count; c++) {
    kcl_options o = cg_options();
    kcl_solver *s = NULL;
    kcl_report r;
    o.precond = kcl_precond_at(c)->name, o.format = "csr-scalar", o.solver = "gmres";
    double *b = calloc((size_t)A->rows + 1, sizeof *b), *x = calloc((size_t)A->rows + 1, sizeof *x);
    double doubt;
    for (int64_t i = 0; i < A->rows; i++)
      for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) b[i] += ((double *)A->val)[k];
    int rc = kcl_setup(p->ctx, A, &o, &s);
    if (rc)
      CHECKF(rc == KCL_USAGE && strstr(kcl_error(), o.precond), "%s, %s: %d, %s", what, o.precond,
             rc, kcl_error());
    else if (CHECKF(!kcl_solve_one(s, b, x, &r), "%s, %s: %s", what, o.precond, kcl_error()))
      CHECKF(!r.converged || residual(A, b, x, &doubt) < 1.1e-8, "%s, %s: claims what is not so",
             what, o.precond);
    check_complexity(s, MOST_COMPLEXITY, what, o.precond);
    kcl_solver_free(&s), free(b), free(x);
  }
}

static void test_special(const place *p) {
  static const double zero[] = {2, -1, 0, -1, 0, -1, 0, -1, 2},
                      negative[] = {2, -1, 0, -1, -2, -1, 0, -1, 2},
                      isolated[] = {2, -1, 0, 0, -1, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 5}, one[] = {4};
  kcl_csr *A = dense(p->ctx, 3, zero);
  solves_or_refuses(p, A, "a zero on the diagonal");
  kcl_csr_free(&A), A = dense(p->ctx, 3, negative);
  solves_or_refuses(p, A, "a negative diagonal");
  kcl_csr_free(&A), A = dense(p->ctx, 4, isolated);
  solves_or_refuses(p, A, "isolated rows");
  kcl_csr_free(&A), A = dense(p->ctx, 1, one);
  solves_or_refuses(p, A, "1 x 1");
  kcl_csr_free(&A);
}

/* Pieces that are not connected, each a path; with spokes that are not 0, one row and column that touch all. */
static kcl_csr *pieces(kcl_context *ctx, int n, double spokes) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, n, n, 5 * (int64_t)n, KCL_D, &A)) exit(1);
  double *a = A->val;
  int64_t at = 0;
  for (int i = 0; i < n; i++) {
    const bool wheel = spokes != 0, hub = wheel && i == 0;
    for (int j = hub ? 0 : i - 1; j <= (hub ? n - 1 : i + 1); j++) {
      const bool near = abs(i - j) == 1 && i / 50 == j / 50, spoke = wheel && (!i || !j) && i != j;
      if (j < 0 || j >= n || (i != j && !near && !(hub && spoke))) continue;
      if (wheel && !hub && i > 1 && j == i - 1) A->col[at] = 0, a[at++] = -spokes;
      A->col[at] = j, a[at++] = i == j ? (hub ? n : 2.5 + spokes) : spoke ? -spokes : -1;
    }
    A->row_ptr[i + 1] = at;
  }
  A->nnz = A->stored = at;
  return A;
}

static void test_large(const place *p) {
  static const double spokes[] = {0, 1e-3, 1};
  for (int i = 0; i < 3; i++) {
    kcl_csr *A = pieces(p->ctx, 3000, spokes[i]);
    if (CHECKF(!kcl_csr_check(p->ctx, A), "%s", kcl_error()))
      solves_or_refuses(p, A, i ? "a dense row" : "pieces");
    kcl_csr_free(&A);
  }
}

/* ---------------------------------------------------------------- iterations of cg */

static int64_t iterations(const place *p, const char *kind, const char *precond) {
  const double most = strcmp(precond, "amg-aggressive") ? MOST_COMPLEXITY : 1.8;
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r = {0};
  kcl_options o = cg_options();
  o.precond = precond, o.format = "csr-scalar";
  if (!CHECKF(!kcl_generate(p->ctx, kind, &A, NULL), "%s", kcl_error())) return -1;
  double *b = calloc((size_t)A->rows, sizeof *b), *x = calloc((size_t)A->rows, sizeof *x);
  for (int64_t i = 0; i < A->rows; i++) b[i] = 1 + (double)(i % 3);
  CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r) && r.converged, "%s, %s: %s",
         kind, precond, kcl_error());
  check_complexity(s, most, kind, precond);
  free(b), free(x), kcl_solver_free(&s), kcl_csr_free(&A);
  return r.iterations;
}

/* Scalar SPD generators at two sizes: multigrid grows by at most a quarter and one, with a W-cycle by at most a quarter, and the others
 * do better than Jacobi by these factors. */
static void test_iterations(const place *p) {
  static const struct {
    const char *small_one, *large;
    int most; /* iterations of amg on the first */
  } kinds[] = {{"poisson2d:64", "poisson2d:160", 13},
               {"poisson3d:16", "poisson3d:30", 13},
               {"hpcg:12", "hpcg:24", 13},
               {"jump2d:64", "jump2d:128", 14},
               {"jump3d:16", "jump3d:30", 13},
               {"aniso2d:64", "aniso2d:128", 15},
               {"aniso3d:16", "aniso3d:30", 13},
               {"trefethen:1000", "trefethen:4000", 17}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const char *small_one = kinds[i].small_one, *large = kinds[i].large;
    const int64_t few = iterations(p, small_one, "amg"), more = iterations(p, large, "amg"),
                  less = iterations(p, small_one, "amg-aggressive"),
                  w_few = iterations(p, small_one, "amg-w"), w_more = iterations(p, large, "amg-w"),
                  jacobi = iterations(p, small_one, "jacobi");
    CHECKF(few <= kinds[i].most && more <= few + few / 4 + 1, "amg: %lld on %s, %lld on %s",
           (long long)few, small_one, (long long)more, large);
    CHECKF(w_few <= few && 4 * w_more <= 5 * w_few, "amg-w: %lld on %s, %lld on %s",
           (long long)w_few, small_one, (long long)w_more, large);
    CHECKF(less <= 19, "amg-aggressive: %lld on %s", (long long)less, small_one);
    const int64_t fsai = iterations(p, small_one, "fsai"),
                  cheb = iterations(p, small_one, "chebyshev");
    CHECKF(10 * fsai <= 7 * jacobi && 10 * cheb <= 7 * jacobi + 10,
           "%s: jacobi %lld, fsai %lld, chebyshev %lld", small_one, (long long)jacobi,
           (long long)fsai, (long long)cheb);
  }
  const int64_t graph = iterations(p, "powerlaw:4000", "amg"); /* levels that would fill up */
  CHECKF(graph <= 13, "amg: %lld on a graph with long rows", (long long)graph);
  const int64_t same = iterations(p, "powerlaw:20000", "sa");
  CHECKF(same <= 13, "sa: %lld on a graph with long rows", (long long)same);
}

/* ---------------------------------------------------------------- elasticity */

/* Rigid body modes have no energy: A B = 0 away from the face that is clamped. */
static void test_modes(const kcl_csr *A, const kcl_dense *B, int64_t n) {
  double off = 0;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t j = 0; j < B->cols && i / 3 % n >= 1; j++) {
      double sum = 0;
      for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
        sum += ((double *)A->val)[k] * B->val[j * B->rows + A->col[k]];
      off = fmax(off, fabs(sum));
    }
  CHECKF(off < 1e-11, "A B is %g", off);
}

/* cg with smoothed aggregation, which knows the modes or not. */
static int64_t with_modes(const place *p, const kcl_csr *A, const kcl_dense *B) {
  kcl_solver *s = NULL;
  kcl_report r = {0};
  kcl_options o = cg_options();
  o.precond = "sa", o.format = "csr-scalar", o.near_null = B;
  double *b = calloc((size_t)A->rows, sizeof *b), *x = calloc((size_t)A->rows, sizeof *x);
  for (int64_t i = 0; i < A->rows; i++) b[i] = i % 3 == 2 ? -1 : 0;
  CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r) && r.converged, "sa: %s",
         kcl_error());
  free(b), free(x), kcl_solver_free(&s);
  return r.iterations;
}

/* Adds an entry to the row that ends at *end, columns ascending. */
static void put_entry(kcl_csr *A, int64_t row, int64_t *end, int column, double value) {
  int64_t at = (*end)++;
  double *val = A->val;
  for (; at > A->row_ptr[row] && A->col[at - 1] > column; at--)
    A->col[at] = A->col[at - 1], val[at] = val[at - 1];
  A->col[at] = column, val[at] = value;
}

/* Pairs of rows, `apart` apart, and eight weaker couplings per row, whose sum with the diagonal nearly vanishes. Positive definite. */
static kcl_csr *vanishing_diagonals(const place *p, int apart) {
  enum { ENTRIES = 10 };
  const double weak = ldexp(-1, -3) * (1 - ldexp(1, -40));
  const int n = 2 * apart, step[] = {-2, -1, 1, 2};
  kcl_csr *A = NULL;
  CHECK(!kcl_csr_create(p->ctx, n, n, (int64_t)n * ENTRIES, KCL_D, &A));
  for (int i = 0; i < n; i++) {
    int64_t end = A->row_ptr[i];
    put_entry(A, i, &end, i, 1), put_entry(A, i, &end, (i + apart) % n, 0.9);
    for (int k = 0; k < 8; k++)
      put_entry(A, i, &end, (i + step[k % 4] + apart) % apart + (k < 4 ? 0 : apart), weak);
    A->row_ptr[i + 1] = end;
  }
  return A;
}

static void test_vanishing_diagonals(const place *p) {
  kcl_csr *A = vanishing_diagonals(p, 2000);
  const int64_t count = with_modes(p, A, NULL);
  CHECKF(count <= 40, "sa: %lld iterations where weak couplings cancel the diagonal",
         (long long)count);
  kcl_csr_free(&A);
}

/* A cycle with enough work on coarse levels: iterations do not grow with the mesh. */
static void test_mesh(const place *p) {
  kcl_dense *X = coordinates(p->ctx, 20), *B = NULL;
  kcl_csr *A = NULL;
  if (CHECKF(!kcl_generate(p->ctx, "elasticity:20x20x20", &A, NULL) &&
                 !kcl_rigid_modes(p->ctx, X, &B),
             "%s", kcl_error())) {
    const int64_t elastic = with_modes(p, A, B), plane = iterations(p, "poisson2d:256", "sa");
    CHECKF(elastic <= 14 && plane <= 13, "sa: %lld iterations on elasticity, %lld on poisson2d",
           (long long)elastic, (long long)plane);
  }
  kcl_csr_free(&A), kcl_dense_free(&B), kcl_dense_free(&X);
}

static void test_elasticity(const place *p) {
  enum { N = 10 };
  kcl_dense *X = coordinates(p->ctx, N), *B = NULL, *wrong = NULL;
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  if (CHECKF(!kcl_generate(p->ctx, "elasticity:10x10x10", &A, NULL) &&
                 !kcl_rigid_modes(p->ctx, X, &B),
             "%s", kcl_error())) {
    test_modes(A, B, N);
    const int64_t with = with_modes(p, A, B), without = with_modes(p, A, NULL);
    CHECKF(with <= 15 && 3 * with <= 2 * without, "%lld iterations with modes, %lld without",
           (long long)with, (long long)without);
  }
  B->rows--, o.precond = "sa", o.near_null = B;
  CHECKF(kcl_setup(p->ctx, A, &o, &s) == KCL_USAGE && strstr(kcl_error(), "near-null"),
         "rows that do not fit: %s", kcl_error());
  B->rows++, X->cols = 1;
  CHECK(kcl_rigid_modes(p->ctx, X, &wrong) == KCL_USAGE && !wrong);
  X->cols = 3;
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&B), kcl_dense_free(&X);
}

/* ---------------------------------------------------------------- kernels */

#ifndef KCL_NO_OPENCL
static int kernels_of(const place *p, const char *kind, int *stages) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  char *source = NULL;
  int count = 0;
  o.precond = "amg", o.format = "csr-scalar", o.precision = KCL_S;
  if (CHECK(!kcl_generate(p->ctx, kind, &A, NULL)) &&
      CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solver_source(s, &source), "%s", kcl_error())) {
    *stages = kcl_stage_count(s);
    for (const char *at = source; (at = strstr(at, "void stage_")); at++) count++;
  }
  free(source), kcl_solver_free(&s), kcl_csr_free(&A);
  return count;
}

/* Levels share kernels: more of them are more stages, not more kernels. On a GPU those of small levels have other work-items per row. */
static void test_kernels(const place *p) {
  const bool gpu = !strcmp(p->ctx->device.kind, "gpu");
  int few = 0, more = 0, kernels = kernels_of(p, gpu ? "poisson2d:150" : "poisson2d:30", &few),
      again = kernels_of(p, gpu ? "poisson2d:300" : "poisson2d:100", &more);
  CHECKF(more > few && kernels && again == kernels, "%d stages: %d kernels; %d stages: %d", few,
         kernels, more, again);
}
#endif

/* ---------------------------------------------------------------- narrow vectors */

static double distance(const number *a, const number *b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += creal((a[i] - b[i]) * conj(a[i] - b[i]));
  return sqrt(sum) / norm(b, n);
}

/* z = M^-1 r of three right-hand sides with A in this format, one after another or together. */
static void test_narrow_format(const applied *a, const number *r, const number *wide) {
  const int64_t n = a->A->rows;
  number *z = filled(3 * n, 0);
  apply(a, false, 3, r, z);
  const double off = distance(z, wide, 3 * n);
  CHECKF(off > tol_u(KCL_D) * 100 && off < rounding(KCL_S, true),
         "%s in %s, %d right-hand sides at once, narrow: %g off", a->p->name, a->format, a->nrhs,
         off);
  free(z);
}

/* With every format that takes narrow vectors, against the same M without them. */
static void test_narrow_formats(const place *p, const kcl_csr *A, kcl_preconditioner *M) {
  number *r = random_vector(KCL_D, 3 * A->rows), *wide = filled(3 * A->rows, 0);
  applied a = {.p = p, .A = A, .M = M};
  M->narrow = false;
  apply(&a, false, 3, r, wide);
  M->narrow = true;
  for (int i = 0; i < kcl_format_count; i++) {
    const kcl_format *f = kcl_format_at(i, KCL_D);
    a.format = f->name,
    a.nrhs = f->multi_rhs && i % 3 == 0 ? 3 : 1; /* of kernels few are compiled */
    if (f->narrow) test_narrow_format(&a, r, wide);
  }
  free(r), free(wide);
}

static void test_narrow(const place *p) {
  kcl_csr *A = NULL;
  kcl_preconditioner *M = NULL;
  const kcl_precond_kind *amg;
  if (!can(p, KCL_D) || !CHECK(!kcl_generate(p->ctx, "jump2d:24", &A, NULL))) return;
  if (CHECK(!kcl_precond_find(p->ctx, "amg", &amg) && !set_up(p, A, amg, "cg", &M) && M->narrow))
    test_narrow_formats(p, A, M);
  kcl_preconditioner_free(&M), kcl_csr_free(&A);
}

int main(void) {
  open_places();
  test_systems();
  for (int i = 0; i < place_count; i++) {
    if (places[i].ctx->opencl) continue;
    test_diagonal(&places[i], 100), test_diagonal(&places[i], 1000);
    test_definite(&places[i]);
    test_special(&places[i]), test_large(&places[i]);
    test_iterations(&places[i]);
    test_elasticity(&places[i]), test_mesh(&places[i]), test_vanishing_diagonals(&places[i]);
    test_narrow(&places[i]);
  }
#ifndef KCL_NO_OPENCL
  for (int i = 0; i < place_count; i++)
    if (places[i].ctx->opencl) test_kernels(&places[i]);
#endif
  close_places();
  as_gpu(test_narrow);
  return check_report();
}
