/* The handles of krylocl.h: lifetimes in any order, new values beside old ones, borrowed arrays, results by name, JSON, names. This
 * program sees the public header alone. */
#include "krylocl.h"
#include "tests/check.h"
#include <math.h>
#include <string.h>

enum { SIDE = 30, N = SIDE * SIDE, MOST = 5 * N };

/* The five-point stencil on a grid, with a diagonal of `centre`. */
typedef struct grid {
  int64_t row[N + 1];
  int32_t col[MOST];
  double val[MOST];
  int64_t nnz;
} grid;

static void fill_grid(grid *g, double centre) {
  int64_t k = 0;
  for (int i = 0; i < N; i++) {
    const int near[] = {i - SIDE, i - 1, i, i + 1, i + SIDE};
    for (int j = 0; j < 5; j++) {
      const bool inside =
          near[j] >= 0 && near[j] < N && (j != 1 || i % SIDE) && (j != 3 || (i + 1) % SIDE);
      if (!inside) continue;
      g->col[k] = near[j], g->val[k++] = j == 2 ? centre : -1;
    }
    g->row[i + 1] = k;
  }
  g->nnz = k;
}

static kcl_entries entries_of(const grid *g, int borrow) {
  return (kcl_entries){.size = sizeof(kcl_entries),
                       .rows = N,
                       .cols = N,
                       .nnz = g->nnz,
                       .row = g->row,
                       .col = g->col,
                       .val = g->val,
                       .layout = KCL_CSR,
                       .row_bits = 64,
                       .col_bits = 32,
                       .type = 'd',
                       .borrow = borrow};
}

/* |b - A x| / |b| of the stencil. */
static double residual_of(const grid *g, const double *b, const double *x) {
  double sum = 0, norm = 0;
  for (int i = 0; i < N; i++) {
    double r = b[i];
    for (int64_t k = g->row[i]; k < g->row[i + 1]; k++) r -= g->val[k] * x[g->col[k]];
    sum += r * r, norm += b[i] * b[i];
  }
  return sqrt(sum / norm);
}

static kcl_context *c;
static grid g, other;
static double b[N], x[N], y[N];

static void refused(int rc, int status, const char *word) {
  CHECKF(rc == status && strstr(kcl_error(), word), "status %d, '%s', not '%s'", rc, kcl_error(),
         word);
}

static kcl_matrix *create_grid(const grid *from, int borrow) {
  const kcl_entries e = entries_of(from, borrow);
  kcl_matrix *A = NULL;
  CHECKF(!kcl_matrix_create(c, &e, &A), "%s", kcl_error());
  return A;
}

/* ---------------------------------------------------------------- lifetimes */

static void solves(kcl_solver *s, const grid *of) {
  kcl_result r = {.size = sizeof r};
  memset(x, 0, sizeof x);
  CHECKF(!kcl_solve_array(s, b, x, &r) && r.converged && r.reason == KCL_CONVERGED, "%s",
         kcl_error());
  CHECK(r.true_relative_residual <= 1.01e-8 && r.backward_error > 0 && r.seconds > 0);
  CHECKF(residual_of(of, b, x) <= 1.01e-8, "residual %g", residual_of(of, b, x));
}

/* Everything is freed before the solver, the context first. */
static void test_order(const char *device) {
  kcl_context *mine = NULL;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  grid *mortal = calloc(1, sizeof *mortal);
  if (!CHECK(mortal)) return;
  *mortal = g;
  kcl_entries e = entries_of(mortal, 0);
  CHECK(!kcl_context_create(device, 0, &mine) && !kcl_matrix_create(mine, &e, &A));
  CHECKF(!kcl_solver_create(A, NULL, NULL, &s), "%s", kcl_error());
  free(mortal); /* the arrays were copied */
  kcl_context_free(&mine), kcl_matrix_free(&A);
  CHECK(!mine && !A);
  solves(s, &g), solves(s, &g);
  kcl_solver_free(&s), kcl_solver_free(&s);
}

/* A solver keeps the values that it was set up with until it is updated, also when its matrix has new ones. */
static void test_values(void) {
  kcl_matrix *A = create_grid(&g, 0), *small = NULL;
  kcl_solver *s = NULL, *t = NULL;
  kcl_options *o = NULL;
  const kcl_entries new_values = entries_of(&other, 0);
  CHECK(!kcl_options_create(&o) && !kcl_options_parse(o, "solver=cg precond=ic"));
  CHECKF(!kcl_solver_create(A, NULL, o, &s) && !kcl_solver_create(A, NULL, o, &t), "%s",
         kcl_error());
  CHECK(!kcl_matrix_update(A, &new_values));
  solves(s, &g);
  for (int keep = KCL_KEEP_NOTHING; keep <= KCL_KEEP_PRECOND; keep++) {
    CHECKF(!kcl_solver_update(s, A, keep), "%s", kcl_error());
    solves(s, &other), solves(t, &g);
  }
  refused(kcl_solver_update(s, A, 7), KCL_USAGE, "keep 7");
  refused(kcl_matrix_update(A, NULL), KCL_USAGE, "are a copy");
  kcl_entries fewer = entries_of(&other, 0);
  fewer.rows = fewer.cols = 1, fewer.nnz = 1, fewer.row = (const int64_t[]){0, 1};
  fewer.col = (const int32_t[]){0};
  CHECK(!kcl_matrix_create(c, &fewer, &small));
  refused(kcl_matrix_update(A, &fewer), KCL_USAGE, "pattern");
  refused(kcl_solver_update(s, small, KCL_KEEP_CHOICES), KCL_USAGE, "pattern");
  kcl_matrix_free(&A), kcl_matrix_free(&small);
  solves(s, &other), solves(t, &g);
  kcl_solver_free(&s), kcl_solver_free(&t), kcl_options_free(&o);
}

static void test_borrowed(void) {
  static grid mine;
  mine = g;
  kcl_matrix *A = create_grid(&mine, 1);
  kcl_solver *s = NULL;
  CHECKF(!kcl_solver_create(A, NULL, NULL, &s), "%s", kcl_error());
  solves(s, &mine);
  memcpy(mine.val, other.val, sizeof mine.val);
  CHECK(kcl_solve_array(s, b, x, NULL) == KCL_CHANGED);
  CHECKF(!kcl_matrix_update(A, NULL) && !kcl_solver_update(s, A, KCL_KEEP_HIERARCHY), "%s",
         kcl_error());
  solves(s, &mine);
  kcl_entries e = entries_of(&mine, 1);
  kcl_matrix *none = NULL;
  e.row_bits = 32;
  refused(kcl_matrix_create(c, &e, &none), KCL_USAGE, "borrow");
  e.row_bits = 64, e.type = 'q';
  refused(kcl_matrix_create(c, &e, &none), KCL_USAGE, "type");
  e.type = 'd', e.size = 8;
  refused(kcl_matrix_create(c, &e, &none), KCL_USAGE, "size");
  kcl_matrix_free(&A), kcl_solver_free(&s);
}

/* ---------------------------------------------------------------- products, shared matrices, preconditioners */

static void test_products(void) {
  kcl_matrix *A = create_grid(&g, 0);
  kcl_solver *s = NULL;
  kcl_options *o = NULL;
  const kcl_vectors in = {.size = sizeof in, .data = b};
  kcl_vectors out = {.size = sizeof out, .data = y};
  const double two = 2;
  CHECK(!strcmp(kcl_matrix_text(A, "format"), ""));
  CHECKF(!kcl_matrix_apply(A, 0, NULL, &in, NULL, &out), "%s", kcl_error());
  double worst = 0;
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int64_t k = g.row[i]; k < g.row[i + 1]; k++) sum += g.val[k] * b[g.col[k]];
    worst = fmax(worst, fabs(sum - y[i]));
  }
  CHECKF(worst < 1e-13, "product: %g", worst);
  CHECK(!kcl_options_create(&o) && !kcl_options_set(o, "format", "ell"));
  CHECKF(!kcl_matrix_prepare(A, o, 1) && !strcmp(kcl_matrix_text(A, "format"), "ell"), "%s",
         kcl_error());
  CHECK(!kcl_matrix_apply(A, 1, &two, &in, NULL, &out));
  CHECKF(!kcl_solver_create(A, NULL, NULL, &s) && !strcmp(kcl_solver_text(s, "format"), "ell"),
         "%s: %s", kcl_error(), kcl_solver_text(s, "format"));
  const kcl_entries e = entries_of(&other, 0);
  CHECK(!kcl_matrix_update(A, &e) && !strcmp(kcl_matrix_text(A, "format"), ""));
  solves(s, &g);
  CHECKF(!kcl_solver_update(s, A, KCL_KEEP_CHOICES), "%s", kcl_error());
  solves(s, &other);
  refused(kcl_matrix_apply(A, 2, NULL, &in, NULL, &out), KCL_USAGE, "adjoint");
  kcl_matrix_free(&A), kcl_solver_free(&s), kcl_options_free(&o);
}

static void test_precond(void) {
  kcl_matrix *A = create_grid(&g, 0);
  kcl_precond *M = NULL;
  kcl_solver *s = NULL;
  kcl_options *o = NULL;
  const kcl_vectors in = {.size = sizeof in, .data = b};
  kcl_vectors out = {.size = sizeof out, .data = y};
  CHECK(!kcl_options_create(&o) && !kcl_options_set(o, "precond", "ic"));
  CHECKF(!kcl_precond_create(A, o, &M) && !kcl_precond_apply(M, 0, &in, &out), "%s", kcl_error());
  CHECKF(!kcl_solver_create(A, M, o, &s) && !strcmp(kcl_solver_text(s, "precond"), "ic"), "%s",
         kcl_error());
  const kcl_entries e = entries_of(&other, 0);
  CHECK(!kcl_matrix_update(A, &e) && !kcl_precond_update(M, A));
  kcl_precond_free(&M), kcl_matrix_free(&A), kcl_options_free(&o);
  solves(s, &g);
  kcl_solver_free(&s);
}

static int multiply(void *user, int adjoint, const kcl_vectors *in, kcl_vectors *out, void *queue) {
  const grid *of = user;
  const double *p = (const double *)in->data + in->offset;
  double *q = (double *)out->data + out->offset;
  (void)adjoint;
  for (int i = 0; i < N; i++) {
    q[i] = 0;
    for (int64_t k = of->row[i]; k < of->row[i + 1]; k++) q[i] += of->val[k] * p[of->col[k]];
  }
  return queue ? KCL_USAGE : KCL_OK;
}

static int divide(void *user, int adjoint, const kcl_vectors *in, kcl_vectors *out, void *queue) {
  (void)user, (void)adjoint, (void)queue;
  for (int i = 0; i < N; i++)
    ((double *)out->data + out->offset)[i] = ((const double *)in->data + in->offset)[i] / 4;
  return KCL_OK;
}

static void test_shells(void) {
  const unsigned spd = KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE;
  kcl_matrix *A = NULL;
  kcl_precond *M = NULL;
  kcl_solver *s = NULL;
  kcl_result r = {.size = sizeof r};
  double number;
  CHECKF(!kcl_matrix_create_shell(c, N, N, 'd', multiply, &g, KCL_HOST, spd, &A), "%s",
         kcl_error());
  CHECKF(!kcl_precond_create_shell(c, N, 'd', divide, NULL, KCL_HOST, KCL_PRECOND_HERMITIAN, &M),
         "%s", kcl_error());
  CHECKF(!kcl_solver_create(A, M, NULL, &s), "%s", kcl_error());
  refused(kcl_matrix_number(A, "nnz", &number), KCL_USAGE, "function");
  refused(kcl_solver_update(s, A, KCL_KEEP_NOTHING), KCL_USAGE, "function");
  kcl_matrix_free(&A), kcl_precond_free(&M);
  memset(x, 0, sizeof x);
  CHECKF(!kcl_solve_array(s, b, x, &r) && r.converged && residual_of(&g, b, x) <= 1.01e-8, "%s",
         kcl_error());
  CHECK(r.backward_error == -1);
  kcl_solver_free(&s);
  refused(kcl_matrix_create_shell(c, N, N, 'q', multiply, &g, KCL_HOST, spd, &A), KCL_USAGE,
          "type");
  refused(kcl_matrix_create_shell(c, N, N, 'd', NULL, &g, KCL_HOST, spd, &A), KCL_USAGE, "apply");
}

/* ---------------------------------------------------------------- numbers, texts, names */

static void test_numbers(void) {
  kcl_matrix *A = create_grid(&g, 0);
  kcl_solver *s = NULL;
  kcl_vectors in = {.size = sizeof in, .data = b, .cols = 1}, out = {.size = sizeof out, .data = x};
  const double *history;
  int64_t count;
  double v;
  char *json = NULL;
  CHECK(!kcl_matrix_number(A, "row_max", &v) && v == 5 && !kcl_matrix_number(A, "hermitian", &v) &&
        v == 1);
  refused(kcl_matrix_number(A, "row_maxx", &v), KCL_USAGE, "row_max");
  CHECK(!kcl_solver_create(A, NULL, NULL, &s));
  refused(kcl_solver_number(s, "iterations", &v), KCL_USAGE, "columns");
  CHECK(!kcl_solver_number(s, "bytes_stored", &v) && v > 0);
  memset(x, 0, sizeof x);
  kcl_result wrong = {0}, r = {.size = sizeof r};
  refused(kcl_solve(s, &in, &out, NULL, &wrong), KCL_USAGE, "kcl_result.size");
  CHECKF(!kcl_solve(s, &in, &out, NULL, &r), "%s", kcl_error());
  CHECK(!kcl_solver_number(s, "iterations", &v) && v == (double)r.iterations);
  CHECK(!kcl_solver_number(s, "backward_error[0]", &v) && v == r.backward_error);
  refused(kcl_solver_number(s, "iterations[1]", &v), KCL_USAGE, "1 columns");
  refused(kcl_solver_number(s, "iterations[0", &v), KCL_USAGE, "columns");
  refused(kcl_solver_number(s, "iteration", &v), KCL_USAGE, "iterations");
  CHECK(!kcl_solver_history(s, 0, &history, &count) && count == r.iterations + 1 &&
        fabs(history[0] - 1) < 1e-12);
  CHECK(kcl_solver_history(s, 1, &history, &count) == KCL_USAGE && !history && !count);
  CHECK(!strcmp(kcl_solver_text(s, "nothing"), "") && strlen(kcl_solver_text(s, "kernel")) > 3);
  CHECKF(!kcl_solver_describe(s, &json), "%s", kcl_error());
  CHECKF(json && strstr(json, "{\"schema\": 1, ") == json &&
             strstr(json, "\"reason_text\": \"converged\"") && strstr(json, "\"history\": [") &&
             json[strlen(json) - 1] == '}',
         "%.200s", json ? json : "");
  kcl_free(json);
  CHECK(!kcl_context_number(c, "threads", &v) && v >= 1 && !kcl_context_number(c, "memory", &v) &&
        v > 1e6);
  refused(kcl_context_number(c, "thread", &v), KCL_USAGE, "threads");
  CHECK(strlen(kcl_context_text(c, "device")) > 0 && !strcmp(kcl_context_text(c, "colour"), ""));
  kcl_matrix_free(&A), kcl_solver_free(&s);
}

static bool has_name(const char *kind, const char *name) {
  for (int i = 0; i < kcl_names(kind); i++)
    if (!strcmp(kcl_name(kind, i), name)) return true;
  return false;
}

static void test_names(void) {
  CHECK(has_name("solver", "cg") && has_name("precond", "amg") && has_name("format", "ell"));
  CHECK(has_name("generator", "poisson2d") && has_name("option", "tol") &&
        has_name("device", "cpu"));
  CHECK(!kcl_names("colour") && !kcl_names(NULL) && !strcmp(kcl_name("solver", -1), ""));
  CHECK(strlen(kcl_name_help("solver", "cg", "summary")) > 5 &&
        strstr(kcl_name_help("option", "symmetry", "values"), "exact"));
  CHECK(strstr(kcl_name_help("option", "restart", "values"), "from 1 to") &&
        strstr(kcl_name_help("generator", "poisson2d", "example"), "poisson2d:"));
  CHECK(!strcmp(kcl_name_help("solver", "nothing", "summary"), "") &&
        strlen(kcl_name_help("device", "cpu", "summary")) > 3);
  CHECK(!strcmp(kcl_status_text(KCL_MEMORY), "out of memory") &&
        !strcmp(kcl_status_text(77), "unknown") && kcl_abi() == 1);
}

static void test_options(void) {
  kcl_options *o = NULL;
  CHECK(!kcl_options_create(&o) && !strcmp(kcl_options_get(o, "tol"), "default"));
  CHECK(!kcl_options_set_number(o, "tol", 1e-10) && !strcmp(kcl_options_get(o, "tol"), "1e-10"));
  CHECK(!kcl_options_set(o, "solver", "bicgstab") &&
        !strcmp(kcl_options_get(o, "solver"), "bicgstab"));
  CHECK(!kcl_options_set_number(o, "ilut.fill", 40) &&
        !strcmp(kcl_options_get(o, "ilut.fill"), "40"));
  CHECK(!kcl_options_set(o, "mixed", "yes") && !strcmp(kcl_options_get(o, "mixed"), "yes"));
  CHECK(!kcl_options_set(o, "tol", "default") && !strcmp(kcl_options_get(o, "tol"), "default"));
  CHECK(!strcmp(kcl_options_get(o, "colour"), ""));
  refused(kcl_options_set_number(o, "solver", 3), KCL_USAGE, "solver");
  refused(kcl_options_set_number(o, "tol", NAN), KCL_USAGE, "tol");
  refused(kcl_options_set(NULL, "tol", "1"), KCL_USAGE, "o is NULL");
  kcl_options_free(&o), kcl_options_free(&o), kcl_options_free(NULL);
}

static int stop_early(void *user, const kcl_progress *p) { return p->iteration > *(int64_t *)user; }

/* The settings of one call, and a solver that its own callback frees. */
static kcl_solver *doomed;
static int free_solver(void *user, const kcl_progress *p) {
  (void)user, (void)p;
  kcl_solver_free(&doomed);
  return 0;
}

static void test_calls(void) {
  kcl_matrix *A = create_grid(&g, 0);
  kcl_solver *s = NULL;
  int64_t most = 3;
  const bool asks = strcmp(kcl_context_text(c, "kind"),
                           "gpu"); /* a GPU ends so small a solve before it is asked */
  kcl_vectors in = {.size = sizeof in, .data = b}, out = {.size = sizeof out, .data = x};
  kcl_call call = {.size = sizeof call, .zero_guess = 1, .progress = stop_early, .user = &most};
  kcl_result r = {.size = sizeof r};
  CHECK(!kcl_solver_create(A, NULL, NULL, &s));
  CHECKF(!kcl_solve(s, &in, &out, &call, &r) && (r.reason == KCL_INTERRUPTED || !asks), "%s",
         kcl_error());
  call.progress = NULL, call.tol = 1e-3;
  CHECK(!kcl_solve(s, &in, &out, &call, &r) && r.converged && r.true_relative_residual > 1e-8);
  call.progress = free_solver, doomed = s, s = NULL;
  CHECK(!kcl_solve(doomed, &in, &out, &call, &r) && r.converged && !(doomed && asks));
  kcl_matrix_free(&A);
  kcl_solver_free(&doomed);
}

static void test_nothing(void) {
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  double v;
  refused(kcl_solver_create(NULL, NULL, NULL, &s), KCL_USAGE, "A is NULL");
  refused(kcl_matrix_create(NULL, NULL, &A), KCL_USAGE, "c is NULL");
  refused(kcl_matrix_create(c, NULL, &A), KCL_USAGE, "entries is NULL");
  refused(kcl_solve_array(NULL, b, x, NULL), KCL_USAGE, "s is NULL");
  refused(kcl_solver_number(NULL, "x", &v), KCL_USAGE, "s is NULL");
  refused(kcl_context_create("no such device", 0, &(kcl_context *){NULL}), KCL_DEVICE,
          "no such device");
  refused(kcl_context_create("cpu", -1, &(kcl_context *){NULL}), KCL_USAGE, "threads");
  kcl_matrix_free(&A), kcl_matrix_free(NULL), kcl_solver_free(NULL), kcl_context_free(NULL);
}

static void test_device(const char *device) {
  if (kcl_context_create(device, 0, &c)) {
    skip("%s: %s", device, kcl_error());
    return;
  }
  test_order(device), test_values(), test_borrowed(), test_products(), test_precond(),
      test_shells();
  test_numbers(), test_calls(), test_nothing();
  kcl_context_free(&c);
}

int main(void) {
  fill_grid(&g, 4), fill_grid(&other, 4.5);
  for (int i = 0; i < N; i++) b[i] = 1 + i % 7;
  test_names(), test_options();
  test_device("cpu"), test_device("opencl");
  return check_report();
}
