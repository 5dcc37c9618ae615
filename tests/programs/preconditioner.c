/* A preconditioner of the program's own: z = M^-1 r by SSOR. The function runs in the thread that called the library, so it may
 * use MPI, Python or thread-local data. Conjugate gradients take a fifth of the iterations. */
#include "poisson.h"
#include <pthread.h>

enum { M = 200, N = M * M };
static pthread_t caller;
static int elsewhere;

/* M = (D - w L) D^-1 (D - w U) / (w (2 - w)) without its factor, of A = D - L - U. */
static int apply_ssor(void *user, int adjoint, const kcl_vectors *from, kcl_vectors *to,
                      void *queue) {
  const double w = *(const double *)user, *r = from->data;
  double *z = to->data;
  (void)adjoint, (void)queue; /* M = M^H */
  for (int i = 0; i < N; i++)
    z[i] = (r[i] + w * ((i >= M ? z[i - M] : 0) + (i % M ? z[i - 1] : 0))) / 4;
  for (int i = 0; i < N; i++) z[i] *= 4;
  for (int i = N - 1; i >= 0; i--)
    z[i] = (z[i] + w * ((i + M < N ? z[i + M] : 0) + (i % M < M - 1 ? z[i + 1] : 0))) / 4;
  elsewhere += !pthread_equal(pthread_self(), caller);
  return 0;
}

static int64_t count_iterations(kcl_matrix *A, kcl_precond *P, const char *options) {
  static double b[N], x[N];
  kcl_options *o = NULL;
  kcl_solver *s = NULL;
  kcl_result r = {.size = sizeof r};
  for (int i = 0; i < N; i++) b[i] = 1, x[i] = 0;
  must(kcl_options_create(&o)), must(kcl_options_parse(o, options));
  must(kcl_solver_create(A, P, o, &s));
  must(kcl_solve_array(s, b, x, &r));
  printf("%s: %s, %d iterations\n", kcl_solver_text(s, "precond"), kcl_reason_text(r.reason),
         (int)r.iterations);
  expect(r.converged, "converged");
  kcl_solver_free(&s), kcl_options_free(&o);
  return r.iterations;
}

int main(void) {
  static int32_t start[N + 1], col[5 * N];
  static double val[5 * N];
  double w = 1.97;
  kcl_context *c = NULL;
  kcl_matrix *A = NULL;
  kcl_precond *ssor = NULL;
  const kcl_entries entries = poisson_entries(M, start, col, val);
  caller = pthread_self();
  must(kcl_context_create(NULL, 0, &c));
  must(kcl_matrix_create(c, &entries, &A));
  must(kcl_precond_create_shell(c, N, 'd', apply_ssor, &w, KCL_HOST, KCL_PRECOND_HERMITIAN, &ssor));
  const int64_t with = count_iterations(A, ssor, "solver=cg");
  const int64_t without = count_iterations(A, NULL, "solver=cg precond=none");
  expect(5 * with <= without, "a fifth of the iterations");
  expect(!elsewhere, "all in the thread of the caller");
  kcl_precond_free(&ssor), kcl_matrix_free(&A), kcl_context_free(&c);
  return 0;
}
