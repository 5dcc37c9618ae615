/* A stencil as users write it, on the host and as an OpenCL kernel: its solution, and the stages, launches and bytes of an iteration. */
#include "tests/calls.h"
#include "tests/shells.h"

enum { GRID = 30 };

typedef struct stencil {
  void *program, *kernel; /* cl_program, cl_kernel; NULL: on the host */
} stencil;

/* y = -Laplacian x on a grid of GRID x GRID points, 0 around it. */
static void apply_on_host(const double *x, double *y) {
  for (int i = 0; i < GRID * GRID; i++) {
    const int column = i % GRID, row = i / GRID;
    y[i] = 4 * x[i] - (column ? x[i - 1] : 0) - (column < GRID - 1 ? x[i + 1] : 0) -
           (row ? x[i - GRID] : 0) - (row < GRID - 1 ? x[i + GRID] : 0);
  }
}

#ifndef KCL_NO_OPENCL
static const char *const stencil_source =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "kernel void laplacian(global const double *x, global double *y, int n)\n"
    "{\n"
    "  int i = get_global_id(0), column = i % n, row = i / n;\n"
    "  y[i] = 4 * x[i] - (column ? x[i - 1] : 0) - (column < n - 1 ? x[i + 1] : 0)\n"
    "         - (row ? x[i - n] : 0) - (row < n - 1 ? x[i + n] : 0);\n"
    "}\n";

static int apply_on_device(cl_kernel kernel, cl_mem x, cl_mem y, cl_command_queue queue) {
  const size_t items = GRID * GRID;
  const cl_int n = GRID;
  cl_int code = clSetKernelArg(kernel, 0, sizeof x, &x);
  code |= clSetKernelArg(kernel, 1, sizeof y, &y);
  code |= clSetKernelArg(kernel, 2, sizeof n, &n);
  code |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
  return code ? KCL_DEVICE : KCL_OK;
}

static bool build_stencil(const place *p, stencil *s) {
  void *context, *queue;
  cl_int code = kcl_context_opencl(p->ctx, &context, NULL, &queue);
  cl_program program =
      clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&stencil_source, NULL, &code);
  if (!code) code = clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
  s->program = program;
  if (!code) s->kernel = clCreateKernel(program, "laplacian", &code);
  return CHECKF(!code, "the kernel of the stencil: %d", code);
}

static void release_stencil(stencil *s) {
  if (s->kernel) clReleaseKernel(s->kernel);
  if (s->program) clReleaseProgram(s->program);
}
#else
static int apply_on_device(void *kernel, void *x, void *y, void *queue) {
  return (void)kernel, (void)x, (void)y, (void)queue, KCL_DEVICE;
}
static bool build_stencil(const place *p, stencil *s) { return (void)p, (void)s, false; }
static void release_stencil(stencil *s) { (void)s; }
#endif

static int apply_stencil(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y,
                         void *queue) {
  const stencil *s = user;
  (void)adjoint;
  if (s->kernel) return apply_on_device(s->kernel, x->data, y->data, queue);
  return apply_on_host(x->data, y->data), KCL_OK;
}

/* Launches of LOOP, and its bytes: q = A p is written by the function, and read together with p by the kernel after it. */
static void check_stages(const place *p, const kcl_solver *s) {
  int launches = 0, products = 0;
  double bytes = 0;
  for (int i = 0; i < kcl_stage_count(s); i++) {
    kcl_stage_info info;
    kcl_solver_stage(s, i, &info);
    if (strcmp(info.phase, "LOOP")) continue;
    launches += info.launches, products += info.product, bytes += info.bytes;
    CHECK(info.product == (strstr(info.operations, "q = A p") != NULL) && !info.persistent);
  }
  CHECKF(launches == (p->ctx->opencl ? 3 : 0) && products == 1 && bytes == 12.0 * GRID * GRID * 8,
         "%d launches, %d products, %g bytes", launches, products, bytes);
}

static void test_stencil(const place *p, int where) {
  stencil st = {NULL, NULL};
  static double b[GRID * GRID], x[GRID * GRID];
  kcl_csr *A = generated(p->ctx, "poisson2d:30", KCL_D);
  kcl_options o = cg_options();
  const kcl_shell shell = {.rows = GRID * GRID,
                           .cols = GRID * GRID,
                           .type = KCL_D,
                           .apply = apply_stencil,
                           .user = &st,
                           .place = where,
                           .properties = KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE};
  kcl_solver *s = NULL;
  kcl_report r;
  double doubt;
  o.tol = 1e-8;
  for (int i = 0; i < GRID * GRID; i++) b[i] = random_number(), x[i] = 0;
  if (where == KCL_HOST || build_stencil(p, &st)) {
    CHECKF(!kcl_setup_shell(p->ctx, &shell, NULL, &o, &s) && !kcl_solve_one(s, b, x, &r) &&
               r.converged,
           "%s", kcl_error());
    const double res = residual(A, b, x, &doubt);
    CHECKF(res <= tol_claim(o.tol, shell_doubt(A, doubt)), "the stencil: %g", res);
    check_stages(p, s);
  }
  kcl_solver_free(&s), release_stencil(&st), kcl_csr_free(&A);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    if (!can(p, KCL_D)) continue;
    for (int where = KCL_HOST; where <= (p->ctx->opencl ? KCL_OPENCL : KCL_HOST); where++)
      test_stencil(p, where);
  }
  close_places();
  return check_report();
}
