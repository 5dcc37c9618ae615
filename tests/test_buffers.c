/* Solves whose vectors are in OpenCL buffers: the bits of those in arrays, by columns of any layout; the bytes between host and
 * device, counted by events, do not depend on the size of the vectors; and what needs their numbers on the host. */
#include "tests/options.h"
#include <math.h>

#ifdef KCL_NO_OPENCL
#include "tests/check.h"
int main(void) {
  skip("buffers: this build has no OpenCL");
  return check_report();
}
#else
#include "tests/buffers.h"

/* ---------------------------------------------------------------- the same bits */

typedef struct setting {
  const char *system, *solver, *precond;
  kcl_type type, precision;
  int nrhs;
  bool mixed;
} setting;

static const setting settings[] = {{"poisson2d:40", "cg", "jacobi", KCL_D, KCL_D, 1, false},
                                   {"poisson2d:40", "cg", "none", KCL_D, KCL_D, 2, false},
                                   {"poisson2d:40", "cg", "sa", KCL_D, KCL_D, 1, false},
                                   {"poisson2d:40", "cg", "jacobi", KCL_D, KCL_D, 1, true},
                                   {"poisson2d:40", "cg", "none", KCL_D, KCL_S, 3, false},
                                   {"poisson2d:40", "cg", "none", KCL_S, KCL_S, 1, false},
                                   {"convection:20", "bicgstab", "jacobi", KCL_D, KCL_D, 1, false},
                                   {"convection:20", "gmres", "none", KCL_D, KCL_D, 1, false},
                                   {"magnetic:20", "cg", "none", KCL_Z, KCL_Z, 2, false},
                                   {"magnetic:20", "cg", "none", KCL_C, KCL_C, 1, false}};

static kcl_options options_of(const setting *g) {
  kcl_options o = kcl_defaults;
  o.solver = g->solver, o.precond = g->precond, o.precision = g->precision, o.format = "csr-scalar";
  o.nrhs = g->nrhs, o.mixed = g->mixed;
  return o;
}

static void test_setting(const setting *g) {
  const kcl_options o = options_of(g);
  kcl_report r[MOST_COLUMNS];
  equations q;
  if (open_system(&q, g->system, g->type, &o)) {
    const int64_t n = q.A->rows;
    const columns plain = {n, 1, 0, n, 1, q.size}, apart = {n, 3, 2, n + 9, 1, q.size},
                  by_rows = {n, 3, 1, 1, 4, q.size};
    CHECK(!solve_both(&q, NULL, &plain, &plain, r) && r[0].converged);
    CHECK(r[0].true_relative_residual == -1);
    CHECK(!solve_both(&q, NULL, &apart, &by_rows, r) && r[0].converged && r[2].converged);
    CHECK(!solve_both(&q, NULL, &by_rows, &apart, r) && r[1].converged);
    const kcl_call few = {.size = sizeof few, .max_iter = 3, .zero_guess = 1};
    CHECK(!solve_both(&q, &few, &apart, &apart, r) && r[0].reason == KCL_ITERATION_LIMIT);
  }
  close_system(&q);
}

/* ---------------------------------------------------------------- bytes */

/* Bytes between host and device since the last call. */
static double bytes_moved(void) {
  kcl_profile p;
  double bytes = 0;
  CHECK(!kcl_profile_take(ctx, &p));
  for (int i = 0; i < p.count; i++)
    if (!strcmp(p.entry[i].kind, "read") || !strcmp(p.entry[i].kind, "write"))
      bytes += p.entry[i].bytes;
  free(p.entry);
  return bytes;
}

/* Solves from buffers and returns the bytes that this moved. */
static double bytes_of_solve(equations *q, const kcl_call *call, kcl_report *r) {
  const columns c = {q->A->rows, 1, 3, q->A->rows, 2, q->size};
  cl_mem b = put(&c, q->b), x = put(&c, q->guess);
  const kcl_vectors in = vectors(&c, b);
  kcl_vectors out = vectors(&c, x);
  bytes_moved();
  CHECKF(!kcl_solve_vectors(q->s, call, &in, &out, r), "%s", kcl_error());
  const double moved = bytes_moved();
  clReleaseMemObject(b), clReleaseMemObject(x);
  return moved;
}

/* Control blocks, scalars, and the history, of which KCL_HISTORY entries of 32 bytes are read at most; a vector of 160,000 numbers
 * has eight times as many. With a certificate b and x come to the host. */
enum { MOST_BYTES = 150000 };
static void test_bytes(const setting *g) {
  static const kcl_call plain = {.size = sizeof plain, .max_iter = 30},
                        certified = {.size = sizeof certified,
                                     .max_iter = 30,
                                     .certify = KCL_CERTIFY_RESIDUALS};
  const kcl_options o = options_of(g);
  kcl_report r;
  equations q;
  const bool plane = g->system[0] == 'p';
  if (open_system(&q, plane ? "poisson2d:400" : "convection:400", g->type, &o)) {
    const double moved = bytes_of_solve(&q, &plain, &r),
                 vector = (double)q.A->rows * (double)q.size;
    CHECKF(moved > 0 && moved < MOST_BYTES, "%s, %s%s: %g bytes, a vector has %g", g->solver,
           g->precond, g->mixed ? ", mixed" : "", moved, vector);
    CHECK(bytes_of_solve(&q, &certified, &r) >= 2 * vector && r.backward_error > 0);
  }
  close_system(&q);
}

/* ---------------------------------------------------------------- numbers on the host */

/* A certificate, full or of residuals, is that of arrays. */
static void test_certificates(void) {
  const setting g = {"poisson2d:20", "cg", "none", KCL_D, KCL_D, 1, false};
  const kcl_options o = options_of(&g);
  equations q;
  if (open_system(&q, g.system, g.type, &o)) {
    const columns c = {q.A->rows, 2, 1, q.A->rows + 1, 1, q.size};
    kcl_report r[MOST_COLUMNS];
    kcl_call call = {.size = sizeof call, .certify = KCL_CERTIFY_RESIDUALS};
    CHECK(!solve_both(&q, &call, &c, &c, r) && r[1].converged && r[1].backward_error >= 0);
    call.certify = KCL_CERTIFY_FULL;
    CHECK(!solve_both(&q, &call, &c, &c, r) && r[1].converged && r[1].x_sum);
    call.tol = 1e-30;
    CHECK(!solve_both(&q, &call, &c, &c, r) && !r[0].converged);
  }
  close_system(&q);
}

/* A row and a column of zeros; then rows of very different sizes. Both are refused by the device alone. */
static void test_through_host(bool zeros) {
  kcl_options o = kcl_defaults;
  kcl_report r[MOST_COLUMNS];
  kcl_setup_info info;
  equations q;
  o.format = "csr-scalar", o.solver = "bicgstab", o.precond = "none";
  if (open_system(&q, "poisson2d:8", KCL_D, &o)) {
    const columns c = {q.A->rows, 2, 0, q.A->rows, 1, q.size};
    double *val = q.A->val;
    for (int64_t i = 0; i < q.A->rows; i++)
      for (int64_t k = q.A->row_ptr[i]; k < q.A->row_ptr[i + 1]; k++)
        val[k] = zeros ? (i == 5 || q.A->col[k] == 5 ? 0 : val[k]) : i < 9 ? 1e8 * val[k] : val[k];
    for (int j = 0; j < MOST_COLUMNS && zeros; j++) ((double *)q.b)[j * q.A->rows + 5] = 0;
    q.A->symmetry = KCL_GENERAL;
    kcl_solver_free(&q.s);
    const int rc = kcl_setup(ctx, q.A, &o, &q.s);
    CHECKF(!rc, "%s", kcl_error());
    kcl_solver_info(q.s, &info);
    CHECK(zeros ? info.zero_cols == 1 : info.scaled);
    CHECK(!solve_both(&q, NULL, &c, &c, r) && r[0].converged && r[1].converged);
  }
  close_system(&q);
}

/* A solve that fails: the nearest x. */
static void test_failure(void) {
  const setting g = {"poisson2d:12", "cg", "none", KCL_D, KCL_D, 1, false};
  const kcl_options o = options_of(&g);
  kcl_report r[MOST_COLUMNS];
  equations q;
  if (open_system(&q, g.system, g.type, &o)) {
    const columns c = {q.A->rows, 1, 0, q.A->rows, 1, q.size};
    const kcl_call call = {.size = sizeof call, .tol = 1e-25};
    CHECK(!solve_both(&q, &call, &c, &c, r) && !r[0].converged && r[0].reason != KCL_INTERRUPTED);
  }
  close_system(&q);
}

/* "auto" ends with a direct solution, which is certified: it was made on the host. */
static void test_direct(void) {
  kcl_options o = kcl_defaults;
  kcl_report r;
  kcl_certificate found;
  equations q;
  o.format = "csr-scalar", o.tol = 1e-13;
  if (!kcl_direct_available()) {
    skip("direct solutions: built without SuiteSparse");
    return;
  }
  if (open_system(&q, "spd:400x13", KCL_D, &o)) {
    const columns c = {q.A->rows, 1, 0, q.A->rows, 1, q.size};
    cl_mem b = put(&c, q.b), x = put(&c, q.guess);
    const kcl_vectors in = vectors(&c, b);
    kcl_vectors out = vectors(&c, x);
    void *mine, *queue;
    CHECK(!kcl_solve_vectors(q.s, NULL, &in, &out, &r));
    CHECK(!kcl_context_opencl(ctx, &mine, NULL, &queue));
    CHECK(
        !clEnqueueReadBuffer(queue, x, CL_TRUE, 0, (size_t)c.rows * c.size, q.got, 0, NULL, NULL));
    CHECK(!kcl_certify(ctx, q.A, (double *)q.b, (double *)q.got, &found));
    CHECKF(r.relative_residual == -1 && r.true_relative_residual == found.relative_residual &&
               r.converged == (found.relative_residual <= o.tol),
           "%s: %g, claimed %g", kcl_reason_text(r.reason), found.relative_residual,
           r.true_relative_residual);
    clReleaseMemObject(b), clReleaseMemObject(x);
  }
  close_system(&q);
}

/* b = 0 beside others; b that is not finite; numbers whose squares are not finite. */
static void test_numbers(void) {
  const setting g = {"poisson2d:10", "cg", "none", KCL_D, KCL_D, 2, false};
  const kcl_options o = options_of(&g);
  kcl_report r[MOST_COLUMNS];
  equations q;
  if (open_system(&q, g.system, g.type, &o)) {
    const columns c = {q.A->rows, 3, 1, q.A->rows, 1, q.size},
                  one = {q.A->rows, 1, 0, 1, 3, q.size};
    const kcl_call zero = {.size = sizeof zero, .zero_guess = 1};
    double *b = (double *)q.b;
    memset(b + q.A->rows, 0, (size_t)q.A->rows * q.size);
    CHECK(!solve_both(&q, NULL, &c, &c, r) && r[0].converged && r[1].converged && !r[1].iterations);
    for (int i = 0; i < q.A->rows; i++) b[i] *= 1e-200, b[2 * q.A->rows + i] *= 1e200;
    CHECK(!solve_both(&q, &zero, &c, &c, r) && r[0].converged && r[2].converged);
    b[7] = NAN;
    CHECK(solve_both(&q, NULL, &one, &one, r) == KCL_INPUT);
    b[7] = 1, b[2 * q.A->rows] = INFINITY;
    CHECK(solve_both(&q, NULL, &c, &c, r) == KCL_INPUT && strstr(kcl_error(), "column 3"));
  }
  close_system(&q);
}

int main(void) {
  if (!open_context(true)) return check_report();
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) test_setting(&settings[i]);
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    if (settings[i].type == KCL_D && settings[i].nrhs == 1) test_bytes(&settings[i]);
  test_certificates(), test_through_host(true), test_through_host(false);
  test_failure(), test_direct(), test_numbers();
  close_context();
  return check_report();
}
#endif
