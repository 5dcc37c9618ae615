/* Misuse of the public header: NULL where an object is needed, sizes that overflow, types and numbers that do not
 * exist. Every call returns a status and a message; none crashes, and no result is left undefined. */
#include "core/device/device.h"
#include "tests/calls.h"
#include "tests/check.h"
#include <math.h>
#include <string.h>

static kcl_context *ctx;

#define REFUSED_AS(as, call, word)                                                                 \
  do {                                                                                             \
    int status = (call);                                                                           \
    CHECKF(status == (as) && strstr(kcl_error(), word), "%s: %d, %s", #call, status, kcl_error()); \
  } while (0)
#define REFUSED(call, word) REFUSED_AS(KCL_USAGE, call, word)

/* ---------------------------------------------------------------- NULL */

static void test_null_matrices(void) {
  kcl_csr *A = NULL, *B = NULL;
  kcl_dense *b = NULL;
  kcl_stats stats;
  kcl_csr hollow = {.rows = 2, .cols = 2, .nnz = 2, .type = KCL_D};
  REFUSED(kcl_csr_read(ctx, NULL, &A), "path");
  REFUSED(kcl_csr_read(ctx, "x.mtx", NULL), "A");
  REFUSED(kcl_csr_read_system(ctx, NULL, &A, &b, NULL), "path");
  REFUSED(kcl_csr_read_cached(ctx, NULL, &A, &b, NULL), "path");
  REFUSED(kcl_dense_read(ctx, NULL, &b), "path");
  REFUSED(kcl_dense_read(ctx, "x.mtx", NULL), "out");
  REFUSED(kcl_csr_write(ctx, "x.mtx", NULL), "A");
  REFUSED(kcl_csr_write(ctx, "x.mtx", &hollow), "row_ptr");
  REFUSED(kcl_dense_write(ctx, "x.mtx", NULL), "B");
  REFUSED(kcl_generate(ctx, NULL, &A, &b), "kind_size");
  REFUSED(kcl_generate(ctx, "poisson2d:3", NULL, &b), "A");
  REFUSED(kcl_csr_convert(ctx, NULL, KCL_D, &B), "A");
  REFUSED(kcl_csr_adjoint(ctx, NULL, &B), "A");
  REFUSED(kcl_csr_adjoint(ctx, &hollow, &B), "row_ptr");
  REFUSED(kcl_csr_stats(ctx, NULL, &stats), "A");
  REFUSED(kcl_csr_stats(ctx, &hollow, &stats), "row_ptr");
  REFUSED(kcl_dense_convert(ctx, NULL, KCL_Z, &b), "B");
  REFUSED(kcl_csr_create(ctx, 2, 2, 2, KCL_D, NULL), "out");
  REFUSED(kcl_dense_create(ctx, 2, 2, KCL_D, NULL), "out");
  kcl_device nowhere = {.platform = 999, .device = 999}, native = {.platform = -1, .device = -1};
  kcl_profile profile = {.count = 7};
  char *extensions = NULL;
  REFUSED(kcl_device_extensions(ctx, NULL, &extensions), "d");
  REFUSED(kcl_device_properties(ctx, NULL, &extensions), "d");
  REFUSED(kcl_device_properties(ctx, &native, NULL), "out");
  CHECK(kcl_device_properties(ctx, &nowhere, &extensions) == KCL_DEVICE && !extensions);
  CHECK(!kcl_device_properties(ctx, &native, &extensions) && !*extensions);
  free(extensions), extensions = NULL;
  REFUSED(kcl_device_extensions(ctx, &native, NULL), "out");
  CHECK(kcl_device_extensions(ctx, &nowhere, &extensions) == KCL_DEVICE && !extensions);
  CHECK(!kcl_device_extensions(ctx, &native, &extensions) && !*extensions);
  REFUSED(kcl_profile_take(ctx, NULL), "out");
  CHECK(!kcl_profile_take(ctx, &profile) && profile.count == 0 && !profile.entry);
  CHECK(kcl_profile_take(NULL, &profile) == KCL_USAGE);
  kcl_profile_enable(NULL, true);
  free(extensions);
  CHECK(!A && !B && !b);
  kcl_csr_product(NULL, NULL, NULL, NULL);
  kcl_csr_free(NULL), kcl_dense_free(NULL), kcl_solver_free(NULL), kcl_context_free(NULL);
}

static void test_null_solver(void) {
  kcl_csr *A = NULL, hollow = {.rows = 2, .cols = 2, .nnz = 2, .type = KCL_D};
  kcl_dense *b = NULL, empty = {.rows = 9, .cols = 1, .type = KCL_D};
  kcl_options o = kcl_defaults;
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_setup_info info;
  kcl_setup_timing timing;
  kcl_stage_info stage;
  char *source;
  double x[9] = {0};
  kcl_bench_row row;
  REFUSED(kcl_setup(ctx, NULL, NULL, &s), "A");
  REFUSED(kcl_setup(ctx, &hollow, NULL, &s), "row_ptr");
  if (!CHECK(!kcl_generate(ctx, "poisson2d:3", &A, &b))) return;
  REFUSED(kcl_setup(ctx, A, NULL, NULL), "out");
  o.precond = "sa", o.near_null = &empty;
  REFUSED(kcl_setup(ctx, A, &o, &s), "near_null");
  if (!CHECK(!kcl_setup(ctx, A, NULL, &s))) return;
  REFUSED(kcl_solve_one(s, NULL, x, &r), "b");
  REFUSED(kcl_solve_one(s, b->val, NULL, &r), "x");
  REFUSED(kcl_solve_one(s, b->val, b->val, &r), "overlap");
  REFUSED(kcl_solve_many(s, -1, b->val, x, &r), "at least 1");
  REFUSED(kcl_bench_solver(s, &(kcl_bench_plan){.samples = -1}, &row), "at least one");
  REFUSED(kcl_bench_solver(s, NULL, NULL), "out");
  CHECK(kcl_solve_one(NULL, b->val, x, &r) == KCL_USAGE);
  CHECK(kcl_bench_solver(NULL, NULL, &row) == KCL_USAGE);
  CHECK(kcl_solver_source(NULL, &source) == KCL_USAGE && !source);
  CHECK(kcl_stage_count(NULL) == 0 && kcl_bytes_per_iteration(NULL) == 0);
  kcl_solver_info(NULL, &info), kcl_solver_timing(s, 99, &timing), kcl_solver_stage(s, -1, &stage);
  CHECK(!info.solver && !timing.solver && !stage.phase);
  CHECK(!kcl_solve_one(s, b->val, x, &r) && r.converged);
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b);
}

static void test_operator(void) {
  kcl_csr *A = NULL, hollow = {.rows = 2, .cols = 2, .nnz = 2, .type = KCL_D};
  kcl_operator *op = NULL;
  kcl_solver *s = NULL;
  kcl_operator_info info;
  kcl_operator_options o = kcl_operator_defaults;
  double x[9] = {0}, y[9], seconds;
  REFUSED(kcl_operator_create(ctx, NULL, NULL, &op), "A");
  REFUSED(kcl_operator_create(ctx, &hollow, NULL, &op), "row_ptr");
  if (!CHECK(!kcl_generate(ctx, "convection:3", &A, NULL))) return;
  REFUSED(kcl_operator_create(ctx, A, NULL, NULL), "out");
  o.format = "elll";
  REFUSED(kcl_operator_create(ctx, A, &o, &op), "did you mean ell");
  o = kcl_operator_defaults, o.nrhs = KCL_MAX_NRHS + 1;
  REFUSED(kcl_operator_create(ctx, A, &o, &op), "1 to 8");
  o = kcl_operator_defaults, o.precision = (kcl_type)7;
  REFUSED(kcl_operator_create(ctx, A, &o, &op), "precision 7");
  o = kcl_operator_defaults, o.products = (kcl_products)3;
  REFUSED(kcl_operator_create(ctx, A, &o, &op), "products 3");
  CHECK(kcl_operator_create(NULL, A, NULL, &op) == KCL_USAGE && !op);
  if (!CHECKF(!kcl_operator_create(ctx, A, NULL, &op), "%s", kcl_error())) return;
  REFUSED(kcl_operator_apply(op, NULL), "p");
  REFUSED(kcl_operator_apply(op, &(kcl_product){.y = y}), "x is NULL");
  REFUSED(kcl_operator_apply(op, &(kcl_product){.x = x}), "y is NULL");
  REFUSED(kcl_operator_apply(op, &(kcl_product){.x = x, .y = x + 8}), "overlap");
  REFUSED(kcl_operator_apply(op, &(kcl_product){.x = x, .y = y, .cols = -1}), "cols is -1");
  REFUSED(kcl_operator_apply(op, &(kcl_product){.x = x, .y = y, .cols = INT64_MAX}), "x.cols is");
  REFUSED(kcl_operator_apply(op, &(kcl_product){.x = x, .y = y, .adjoint = true}), "without A^H");
  REFUSED(kcl_operator_apply(op, &(kcl_product){.x = x, .y = y, .buffers = true}), "native");
  REFUSED(kcl_operator_time(op, true, 1, 1, 1, &seconds), "without A^H");
  REFUSED(kcl_operator_time(op, false, 2, 1, 1, &seconds), "1 to 1 columns");
  REFUSED(kcl_operator_time(op, false, 1, 0, 1, &seconds), "at least one");
  REFUSED(kcl_operator_time(op, false, 1, 1, 1, NULL), "seconds");
  REFUSED(kcl_operator_setup(op, NULL, NULL), "out");
  CHECK(kcl_operator_apply(NULL, &(kcl_product){.x = x, .y = y}) == KCL_USAGE);
  CHECK(kcl_operator_time(NULL, false, 1, 1, 1, &seconds) == KCL_USAGE);
  CHECK(kcl_operator_setup(NULL, NULL, &s) == KCL_USAGE && !s);
  kcl_operator_describe(NULL, &info), kcl_operator_describe(op, NULL);
  CHECK(!info.format);
  CHECK(!kcl_operator_apply(op, &(kcl_product){.x = x, .y = y}) && y[4] == 0);
  kcl_operator_free(&op), kcl_operator_free(NULL), kcl_csr_free(&A);
}

/* Complex to real, matrices without rows, and the other functions around operators. */
static void test_operator_matrices(void) {
  int64_t row_ptr[] = {0};
  double z[2] = {1, 1};
  const kcl_csr none = {
      .cols = 2, .row_ptr = row_ptr, .col = (int32_t *)z, .val = z, .type = KCL_D};
  kcl_csr *A = NULL;
  kcl_operator *op = NULL;
  kcl_product_error e;
  kcl_product_difference d;
  void *context = ctx, *queue = ctx;
  CHECK(kcl_operator_create(ctx, &none, NULL, &op) == KCL_INPUT && !op);
  if (!CHECK(!kcl_generate(ctx, "magnetic:3", &A, NULL)) || !CHECK(A->type == KCL_Z)) return;
  CHECK(kcl_operator_create(ctx, A, NULL, &op) == KCL_USAGE && !op);
  REFUSED(kcl_product_check(ctx, NULL, KCL_D, z, z, &e), "A");
  REFUSED(kcl_product_check(ctx, A, KCL_D, NULL, z, &e), "x");
  REFUSED(kcl_product_check(ctx, A, KCL_D, z, NULL, &e), "y");
  REFUSED(kcl_product_check(ctx, A, KCL_D, z, z, NULL), "out");
  REFUSED(kcl_product_check(ctx, A, (kcl_type)9, z, z, &e), "arithmetic 9");
  REFUSED(kcl_product_compare(ctx, A, KCL_Z, z, z, z, z, z, NULL, &d), "other");
  REFUSED(kcl_product_compare(ctx, A, KCL_Z, z, z, z, NULL, z, z, &d), "y0");
  REFUSED(kcl_product_compare(ctx, A, KCL_Z, z, z, z, z, z, z, NULL), "out");
  REFUSED(kcl_context_opencl(ctx, &context, NULL, &queue), "native");
  CHECK(!context && !queue && kcl_context_opencl(NULL, &context, NULL, &queue) == KCL_USAGE);
  REFUSED(kcl_select_opencl(ctx, NULL, NULL, NULL), "context");
  CHECK(kcl_select_opencl(NULL, NULL, NULL, ctx) == KCL_USAGE);
  kcl_csr_free(&A);
}

static void test_null_checks(void) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_certificate c;
  kcl_direct_info info;
  kcl_check_plan plan = {.tol = 1e-8};
  kcl_solution_error error;
  double x[9] = {0}, y[9];
  if (!CHECK(!kcl_generate(ctx, "poisson2d:3", &A, &b))) return;
  REFUSED(kcl_certify(ctx, NULL, b->val, x, &c), "A");
  REFUSED(kcl_certify(ctx, A, NULL, x, &c), "b");
  REFUSED(kcl_certify(ctx, A, b->val, NULL, &c), "x");
  REFUSED(kcl_certify(ctx, A, b->val, x, NULL), "out");
  REFUSED(kcl_certify_least_squares(ctx, NULL, b->val, x, &c), "A");
  if (kcl_direct_available()) {
    REFUSED(kcl_direct(ctx, NULL, b->val, x, &info), "A");
    REFUSED(kcl_direct(ctx, A, NULL, x, &info), "b");
    REFUSED(kcl_direct(ctx, A, b->val, NULL, &info), "x");
    REFUSED(kcl_solution_check(ctx, NULL, b->val, x, &plan, y, &error), "A");
    REFUSED(kcl_solution_check(ctx, A, NULL, x, &plan, y, &error), "b");
    REFUSED(kcl_solution_check(ctx, A, b->val, NULL, &plan, y, &error), "x");
    REFUSED(kcl_solution_check(ctx, A, b->val, x, NULL, y, &error), "plan");
    REFUSED(kcl_solution_check(ctx, A, b->val, x, &plan, NULL, &error), "y");
    REFUSED(kcl_solution_check(ctx, A, b->val, x, &plan, y, NULL), "out");
    plan.method = "lapack";
    REFUSED(kcl_solution_check(ctx, A, b->val, x, &plan, y, &error), "lapack");
    CHECK(!strcmp(kcl_verdict_name((kcl_verdict)99), "unknown"));
    ((double *)A->val)[4] = NAN;
    CHECK(kcl_direct(ctx, A, b->val, x, &info) == KCL_INPUT);
    ((double *)A->val)[4] = 4, b->val[2] = INFINITY;
    CHECK(kcl_direct(ctx, A, b->val, x, &info) == KCL_INPUT);
  } else
    skip("kcl_direct: not in this build");
  kcl_csr_free(&A), kcl_dense_free(&b);
}

static void test_null_context(void) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_solver *s = NULL;
  kcl_device d, *list = NULL;
  kcl_cost cost;
  kcl_tunable t;
  char path[99];
  int count;
  double rate;
  CHECK(kcl_context_create(NULL, 0, NULL) == KCL_USAGE && strlen(kcl_error()) > 10);
  CHECK(kcl_csr_read(NULL, "nowhere.mtx", &A) == KCL_INPUT && !A);
  CHECK(kcl_select(NULL, "cpu", 1) == KCL_USAGE && kcl_setup(NULL, A, NULL, &s) == KCL_USAGE);
  CHECK(kcl_device_current(NULL, &d) == KCL_USAGE && kcl_stream_rate(NULL, &rate) == KCL_USAGE);
  CHECK(kcl_csr_create(NULL, -1, 1, 1, KCL_D, &A) == KCL_USAGE && !A && !b);
  CHECK(kcl_file_target(NULL, path, 9) && kcl_file_target("a", NULL, 9));
  CHECK(!kcl_file_target("a", path, 2) && kcl_file_target("a", path, 1));
  CHECK(kcl_tunable_get(NULL, 0, &t) && kcl_tunable_set(NULL, "group", 64));
  REFUSED(kcl_tunable_set(ctx, NULL, 64), "name");
  REFUSED(kcl_tune_read(ctx, NULL), "path");
  REFUSED(kcl_tune_write(ctx, NULL, NULL), "path");
  REFUSED(kcl_format_cost(ctx, NULL, KCL_D, "ell", &cost), "stats");
  REFUSED(kcl_device_list(ctx, NULL, &count), "list");
  REFUSED(kcl_device_current(ctx, NULL), "out");
  REFUSED(kcl_stream_rate(ctx, NULL), "bytes_per_second");
  REFUSED(kcl_collection_get(ctx, NULL, false, path, sizeof path), "group_name");
  CHECK(kcl_tune_path(ctx, NULL, 9) == -1 && !list);
}

/* ---------------------------------------------------------------- numbers */

static void test_sizes(void) {
  const int64_t most = INT64_MAX, many = INT64_C(1) << 33, more = INT64_C(1) << 31;
  kcl_csr *A = NULL;
  kcl_dense *B = NULL;
  REFUSED(kcl_dense_create(ctx, many, more, KCL_D, &B), "2^59");
  REFUSED(kcl_dense_create(ctx, -3, -2, KCL_D, &B), "0 or more");
  REFUSED(kcl_dense_create(ctx, 3, 1, (kcl_type)77, &B), "type 77");
  REFUSED(kcl_dense_create(ctx, 3, 1, KCL_S, &B), "KCL_Z");
  REFUSED(kcl_csr_create(ctx, most, 2, 2, KCL_D, &A), "2^31");
  REFUSED(kcl_csr_create(ctx, 2, most, 2, KCL_D, &A), "2^31");
  REFUSED(kcl_csr_create(ctx, 2, 2, most, KCL_D, &A), "nonzeros");
  REFUSED(kcl_csr_create(ctx, 2, 2, 2, (kcl_type)77, &A), "type 77");
  REFUSED(kcl_csr_create(ctx, 2, 2, 2, (kcl_type)-1, &A), "type -1");
  CHECK(!A && !B);
  CHECK(!kcl_dense_create(ctx, 0, 3, KCL_Z, &B) && B->cols == 3);
  kcl_dense_free(&B);
}

static void test_matrices_of_the_caller(void) {
  int64_t row_ptr[] = {0, 1, 2};
  int32_t col[] = {0, 1};
  double val[] = {1, 2};
  const kcl_csr good = {
      .rows = 2, .cols = 2, .nnz = 2, .row_ptr = row_ptr, .col = col, .val = val, .type = KCL_D};
  kcl_csr A = good, *B = NULL;
  kcl_solver *s = NULL;
  A.rows = INT64_MAX;
  REFUSED(kcl_setup(ctx, &A, NULL, &s), "2^31");
  REFUSED(kcl_csr_adjoint(ctx, &A, &B), "2^31");
  A = good, A.cols = INT64_MAX;
  REFUSED(kcl_setup(ctx, &A, NULL, &s), "2^31");
  A = good, A.nnz = -2;
  REFUSED(kcl_setup(ctx, &A, NULL, &s), "negative");
  A = good, A.type = (kcl_type)9;
  REFUSED(kcl_setup(ctx, &A, NULL, &s), "type 9");
  REFUSED(kcl_csr_convert(ctx, &good, (kcl_type)77, &B), "type 77");
  CHECK(!s && !B);
}

/* Callers often fill the struct on the stack of a function that returns: the arrays stay, the struct does not. */
static void test_struct_of_the_caller(void) {
  kcl_csr *A = NULL, local, *gone = &local;
  kcl_dense *b = NULL;
  kcl_solver *s = NULL;
  kcl_operator *op = NULL;
  kcl_report r;
  double x[100] = {0}, y[100];
  if (!CHECK(!kcl_generate(ctx, "poisson2d:10", &A, &b))) return;
  *gone = *A;
  CHECK(!kcl_setup(ctx, gone, NULL, &s) && !kcl_operator_create(ctx, gone, NULL, &op));
  memset(gone, 0x5a, sizeof *gone);
  CHECK(!kcl_solve_one(s, b->val, x, &r) && r.converged);
  CHECK(!kcl_operator_apply(op, &(kcl_product){.x = x, .y = y}) && fabs(y[0] - b->val[0]) < 1e-6);
  *gone = *A;
  CHECK(!update_hierarchy(s, gone));
  memset(gone, 0x5a, sizeof *gone);
  CHECK(!kcl_solve_one(s, b->val, x, &r) && r.converged);
  kcl_solver_free(&s);
  CHECK(!kcl_operator_setup(op, NULL, &s));
  kcl_operator_free(&op);
  CHECK(!kcl_solve_one(s, b->val, x, &r) && r.converged);
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b);
}

/* [[2, 1], [1, 2]] and what is left of it where a triangle is missing or a declaration wrong. */
static void test_declared_symmetry(void) {
  int64_t both[] = {0, 2, 4}, lower[] = {0, 1, 3};
  int32_t columns[] = {0, 1, 0, 1}, of_lower[] = {0, 0, 1};
  double val[] = {2, 1, 1, 2}, of_half[] = {2, 1, 2}, b[] = {3, 3}, x[] = {0, 0};
  kcl_csr A = {.rows = 2,
               .cols = 2,
               .nnz = 4,
               .row_ptr = both,
               .col = columns,
               .val = val,
               .type = KCL_D,
               .symmetry = KCL_SYMMETRIC};
  const kcl_csr half = {.rows = 2,
                        .cols = 2,
                        .nnz = 3,
                        .row_ptr = lower,
                        .col = of_lower,
                        .val = of_half,
                        .type = KCL_D,
                        .symmetry = KCL_SYMMETRIC};
  kcl_solver *s = NULL;
  kcl_operator *op = NULL;
  kcl_stats stats;
  kcl_report r;
  REFUSED(kcl_setup(ctx, &half, NULL, &s), "both triangles");
  REFUSED(kcl_operator_create(ctx, &half, NULL, &op), "both triangles");
  REFUSED(kcl_csr_stats(ctx, &half, &stats), "declared symmetric");
  A.symmetry = KCL_SKEW;
  REFUSED(kcl_setup(ctx, &A, NULL, &s), "-a_ji");
  A.symmetry = (kcl_symmetry)99;
  REFUSED(kcl_setup(ctx, &A, NULL, &s), "symmetry 99");
  A.symmetry = KCL_HERMITIAN;
  CHECK(!kcl_setup(ctx, &A, NULL, &s) && !kcl_solve_one(s, b, x, &r) && r.converged &&
        fabs(x[0] - 1) < 1e-6);
  A.symmetry = KCL_SKEW;
  REFUSED(update_hierarchy(s, &A), "skew");
  A.symmetry = KCL_SYMMETRIC, val[1] = nextafter(1, 2); /* up to rounding */
  CHECK(!kcl_csr_stats(ctx, &A, &stats) && !stats.symmetric && stats.asymmetry == 0.5);
  CHECK(!update_hierarchy(s, &A) && !kcl_solve_one(s, b, x, &r) && r.converged);
  val[1] = 5;
  REFUSED(update_hierarchy(s, &A), "declared symmetric");
  val[1] = nextafter(1, 2); /* the refusal left the solver as it was */
  CHECK(!kcl_solve_one(s, b, x, &r) && r.converged);
  kcl_solver_free(&s);
}

static void test_entries_not_finite(void) {
  kcl_csr *A = NULL, *Z = NULL;
  kcl_solver *s = NULL;
  if (!CHECK(!kcl_generate(ctx, "poisson2d:3", &A, NULL)) ||
      !CHECK(!kcl_generate(ctx, "magnetic:3", &Z, NULL)))
    return;
  ((double *)A->val)[0] = 1e308, ((double *)A->val)[1] = ((double *)A->val)[3] = -1e308;
  CHECKF(!kcl_setup(ctx, A, NULL, &s), "a row sum that overflows: %s", kcl_error());
  kcl_solver_free(&s);
  ((double *)A->val)[1] = NAN;
  CHECK(kcl_setup(ctx, A, NULL, &s) == KCL_INPUT && strstr(kcl_error(), "row 1, column 2"));
  kcl_csr_free(&A); /* in a row that is not the last of a thread's */
  if (!CHECK(!kcl_generate(ctx, "poisson2d:100", &A, NULL))) return;
  CHECK(!kcl_setup(ctx, A, NULL, &s));
  ((double *)A->val)[3] = ((double *)A->val)[4] = NAN;
  REFUSED_AS(KCL_INPUT, update_hierarchy(s, A), "row 2, column 1");
  kcl_solver_free(&s), A->symmetry = KCL_GENERAL;
  REFUSED_AS(KCL_INPUT, kcl_setup(ctx, A, NULL, &s), "row 2, column 1");
  Z->symmetry = KCL_GENERAL, ((double *)Z->val)[5] = INFINITY;
  CHECK(kcl_setup(ctx, Z, NULL, &s) == KCL_INPUT && strstr(kcl_error(), "row 1, column"));
  kcl_csr_free(&A), kcl_csr_free(&Z);
}

/* ---------------------------------------------------------------- lifetimes */

static kcl_solver *in_callback;

static int misuse_context(void *user, const kcl_progress *p) {
  static bool done;
  kcl_solver *s = NULL;
  double x[100];
  (void)p;
  if (done) return 0;
  done = true;
  CHECK(kcl_solve_one(in_callback, user, x, NULL) == KCL_BUSY && strstr(kcl_error(), "callback"));
  CHECK(kcl_setup(ctx, NULL, NULL, &s) == KCL_BUSY && kcl_select(ctx, "cpu", 1) == KCL_BUSY);
  kcl_solver_free(&in_callback);
  return 0;
}

static void test_callback(void) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_report r;
  kcl_options o = kcl_defaults;
  o.progress = misuse_context, o.solver = "cg", o.precond = "none";
  if (!CHECK(!kcl_generate(ctx, "poisson2d:10", &A, &b))) return;
  double x[100] = {0};
  o.user = b->val;
  kcl_solver *s = NULL;
  CHECK(!kcl_setup(ctx, A, &o, &s));
  in_callback = s;
  CHECKF(!kcl_solve_one(s, b->val, x, &r) && r.converged && !in_callback, "%s", kcl_error());
  kcl_csr_free(&A), kcl_dense_free(&b);
}

static void test_context_before_its_solver(void) {
  kcl_context *own = NULL;
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  double x[9] = {0};
  if (!CHECK(!kcl_context_create(NULL, 0, &own) && !kcl_select(own, "cpu", 1) &&
             !kcl_generate(own, "poisson2d:3", &A, &b)))
    return;
  CHECK(!kcl_setup(own, A, NULL, &s));
  CHECK(kcl_select(own, "cpu", 1) == KCL_USAGE && strstr(kcl_error(), "1 solver"));
  kcl_context_free(&own);
  CHECK(!own && !kcl_solve_one(s, b->val, x, &r) && r.converged);
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b);
}

static void test_reports(void) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options zero;
  double x[9] = {0};
  memset(&zero, 0, sizeof zero);
  if (!CHECK(!kcl_generate(ctx, "poisson2d:3", &A, &b)) || !CHECK(!kcl_setup(ctx, A, &zero, &s)))
    return;
  REFUSED(kcl_solve_many(s, INT64_C(1) << 60, b->val, x, NULL), "as memory can hold");
  memset(&r, 7, sizeof r);
  REFUSED(kcl_solve_one(s, NULL, x, &r), "b");
  CHECK(r.iterations == 0 && r.true_relative_residual == 0);
  memset(&r, 7, sizeof r);
  CHECK(kcl_solve_one(NULL, b->val, x, &r) == KCL_USAGE && r.iterations == 0 &&
        r.history_size == 0);
  CHECK(!kcl_solve_one(s, b->val, x, &r) && r.converged && r.true_relative_residual <= 1e-8);
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b);
}

static void test_names(void) {
  CHECK(kcl_type_size((kcl_type)77) == 0 && kcl_type_letter((kcl_type)77) == '?');
  CHECK(!strcmp(kcl_symmetry_name((kcl_symmetry)99), "unknown"));
  CHECK(!strcmp(kcl_field_name((kcl_field)99), "unknown"));
  CHECK(!strcmp(kcl_reason_text((kcl_reason)99), "unknown reason"));
  CHECK(!strcmp(kcl_reason_text((kcl_reason)-1), "unknown reason"));
  CHECK(kcl_list_size((kcl_registry)99) == 0 && !kcl_list(KCL_FORMATS, -1).name);
  CHECK(!kcl_nearest(NULL, NULL, 0) && !kcl_nearest("cg", NULL, 0));
  CHECK(!kcl_list(KCL_GENERATORS, 9999).name && !kcl_list((kcl_registry)99, 0).name);
}

static void test_devices(void) {
  static const char *const none[] = {"4294967296:0", "0:4294967296", "-1:0", "0:", ":0", "1e0:0"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    CHECKF(kcl_select(ctx, none[i], 1) == KCL_DEVICE, "device %s", none[i]);
  CHECK(!kcl_select(ctx, "cpu", 1));
  CHECK(kcl_tune_read(ctx, "/") == KCL_INPUT && strstr(kcl_error(), "cannot read"));
}

int main(void) {
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx)) || !CHECK(!kcl_select(ctx, "cpu", 1)))
    return check_report();
  test_operator(), test_operator_matrices();
  test_null_matrices(), test_null_solver(), test_null_checks(), test_null_context();
  test_sizes(), test_matrices_of_the_caller(), test_names();
  test_struct_of_the_caller(), test_declared_symmetry(), test_entries_not_finite();
  test_callback(), test_context_before_its_solver(), test_reports(), test_devices();
  kcl_context_free(&ctx);
  return check_report();
}
