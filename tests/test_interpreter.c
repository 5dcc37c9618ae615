/* The interpreter (kernels/interpreter.cl): every method in every type, without and with a diagonal preconditioner, against the native
 * executor, all by one program per type. */
#include "core/base/context.h"
#include "solver/methods/method.h"
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#ifdef KCL_NO_OPENCL
int main(void) {
  skip("interpreter: built without OpenCL");
  return check_report();
}
#else
#include "core/opencl/device/device.h"
#include "core/opencl/executor.h"

typedef struct solution {
  int status;
  int64_t iterations;
  double *x; /* [cols] of A's type, D or Z; owned */
} solution;

/* Few iterations, so that rounding is not amplified. */
static kcl_options few_iterations(const char *method, const char *precond, kcl_type type) {
  kcl_options o = kcl_defaults;
  o.solver = method, o.precond = precond, o.format = "csr-scalar", o.precision = type;
  o.max_iter = 5, o.restart = 3, o.tol = 1e-30, o.no_direct = true;
  return o;
}

static solution solve_ramp(kcl_context *ctx, const kcl_csr *A, const kcl_options *o,
                           bool interpreted) {
  const int64_t parts = kcl_type_complex(A->type) ? 2 : 1;
  solution s = {.x = calloc((size_t)(parts * A->cols), sizeof(double))};
  double *b = calloc((size_t)(parts * A->rows), sizeof(double));
  kcl_solver *solver = NULL;
  kcl_report r = {0};
  for (int64_t i = 0; i < parts * A->rows; i++) b[i] = 1 + (double)(i % 7) / 8;
  s.status = kcl_setup(ctx, A, o, &solver);
  if (!s.status)
    CHECKF(!interpreted || solver->selection.engine->program->fusion == KCL_INTERPRETED_STAGES,
           "%s is not interpreted", o->solver);
  if (!s.status) s.status = kcl_solve_one(solver, b, s.x, &r);
  s.iterations = s.status ? 0 : r.iterations;
  kcl_solver_free(&solver);
  free(b);
  return s;
}

static double compare_solutions(const solution *a, const solution *b, int64_t reals) {
  double off = 0, size = 0;
  for (int64_t i = 0; i < reals; i++)
    off = fmax(off, fabs(a->x[i] - b->x[i])), size = fmax(size, fabs(b->x[i]));
  return size > 0 ? off / size : off;
}

typedef struct places {
  kcl_context *device, *native;
} places;

static int solved; /* by both */

static void compare_method(const places *p, const kcl_csr *A, const char *system, kcl_type type,
                           const char *method, const char *precond) {
  const kcl_options o = few_iterations(method, precond, type);
  const double bound = type == KCL_S || type == KCL_C ? 2e-3 : 1e-9;
  const int64_t reals = A->cols * (kcl_type_complex(A->type) ? 2 : 1);
  solution native = solve_ramp(p->native, A, &o, false);
  if (native.status != KCL_USAGE) { /* the method suits the system */
    solution device = solve_ramp(p->device, A, &o, true);
    const double off = compare_solutions(&device, &native, reals);
    CHECKF(!device.status && !native.status, "%s: %s", method, kcl_error());
    CHECKF(device.iterations == native.iterations && off <= bound,
           "%s %c %s %s: %lld and %lld iterations, x differs by %.1e", system,
           kcl_type_letter(type), method, precond, (long long)device.iterations,
           (long long)native.iterations, off);
    solved++;
    free(device.x);
  }
  free(native.x);
}

static void compare_methods(const places *p, const char *system, kcl_type type) {
  kcl_csr *A = NULL;
  if (!CHECKF(!kcl_generate(p->native, system, &A, NULL), "%s", kcl_error())) return;
  for (int m = 0; m < kcl_method_count; m++)
    for (int j = 0; j < 2; j++)
      compare_method(p, A, system, type, kcl_method_at(m)->name, j ? "jacobi" : "none");
  kcl_csr_free(&A);
}

/* All methods and systems of a type share one program. */
static void test_type(const places *p, kcl_type type) {
  static const char *const real[] = {"poisson2d:40", "convection:30", "hpcg:6", "elasticity:5x5x5",
                                     NULL};
  static const char *const complex[] = {"magnetic:20", "helmholtz:20", NULL};
  const int before = p->device->opencl->compiled;
  for (const char *const *s = kcl_type_complex(type) ? complex : real; *s; s++)
    compare_methods(p, *s, type);
  const int compiled = p->device->opencl->compiled - before;
  CHECKF(compiled == 1, "%c: %d programs were compiled", kcl_type_letter(type), compiled);
}

int main(void) {
  places p = {NULL, NULL};
  setenv("KRYLOCL_INTERPRETER", "1", 1), setenv("KRYLOCL_LAYOUT", "gpu", 1);
  setenv("KRYLOCL_SELFTEST", "0", 1), setenv("KRYLOCL_CACHE", "", 1);
  if (kcl_context_create("opencl", 0, &p.device)) {
    skip("interpreter: no OpenCL device");
    return check_report();
  }
  CHECK(!kcl_context_create("cpu", 0, &p.native));
  for (int t = KCL_S; t <= KCL_Z; t++) test_type(&p, (kcl_type)t);
  CHECKF(solved > 150, "%d solves", solved);
  kcl_context_free(&p.device), kcl_context_free(&p.native);
  return check_report();
}
#endif
