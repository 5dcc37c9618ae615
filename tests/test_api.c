/* Errors a caller can make, and the report of a solve that the progress callback ended. */
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <math.h>
#include <string.h>

enum { N = 3, NNZ = 5 };

/* | 2 . 1 |   with one error at a time
 * | . 3 . |
 * | 1 . 2 | */
static void test_matrices(kcl_context *ctx) {
  static const struct {
    const char *what, *word;
    int64_t row_ptr[N + 1];
    int32_t col[NNZ];
    int type;
  } bad[] = {
      {"column beyond", "outside", {0, 2, 3, 5}, {0, 2, 1, 0, 1000000}, KCL_D},
      {"column before", "outside", {0, 2, 3, 5}, {0, 2, -1, 0, 2}, KCL_D},
      {"columns unsorted", "ascend", {0, 2, 3, 5}, {2, 0, 1, 0, 2}, KCL_D},
      {"column twice", "twice", {0, 2, 3, 5}, {0, 2, 1, 2, 2}, KCL_D},
      {"pointer beyond", "row pointers", {0, 100000, 3, 5}, {0, 2, 1, 0, 2}, KCL_D},
      {"pointer before", "row pointers", {0, -7, 3, 5}, {0, 2, 1, 0, 2}, KCL_D},
      {"begins late", "from 0 to nnz", {1, 2, 3, 5}, {0, 2, 1, 0, 2}, KCL_D},
      {"ends early", "from 0 to nnz", {0, 2, 3, 4}, {0, 2, 1, 0, 2}, KCL_D},
      {"type", "KCL_Z", {0, 2, 3, 5}, {0, 2, 1, 0, 2}, 11},
  };
  double val[NNZ] = {2, 1, 3, 1, 2};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int64_t row_ptr[N + 1];
    int32_t col[NNZ];
    kcl_solver *s;
    memcpy(row_ptr, bad[i].row_ptr, sizeof row_ptr), memcpy(col, bad[i].col, sizeof col);
    const kcl_csr A = {.rows = N,
                       .cols = N,
                       .nnz = NNZ,
                       .row_ptr = row_ptr,
                       .col = col,
                       .val = val,
                       .type = (kcl_type)bad[i].type};
    CHECKF(kcl_setup(ctx, &A, NULL, &s) == KCL_USAGE && !s && strstr(kcl_error(), bad[i].word),
           "%s: %s", bad[i].what, kcl_error());
  }
  kcl_csr *A;
  CHECK(kcl_csr_create(ctx, -1, 3, 3, KCL_D, &A) == KCL_USAGE && !A);
  CHECK(kcl_csr_create(ctx, 3, 3, 3, (kcl_type)9, &A) == KCL_USAGE && !A);
}

static void test_numbers(kcl_context *ctx) {
  kcl_tunable t;
  CHECK(kcl_select(ctx, "cpu", 100000) == KCL_USAGE && strstr(kcl_error(), "4096"));
  CHECK(kcl_select(ctx, "cpu", -1) == KCL_USAGE);
  CHECK(kcl_tunable_get(ctx, -1, &t) == KCL_USAGE && !t.name);
  CHECK(kcl_tunable_get(ctx, kcl_tunable_count(), &t) == KCL_USAGE && !t.name);
}

static void test_nearest(void) {
  static const char *const formats[] = {"csr-scalar", "ell", "sell", "cds", "coo", "pattern"},
                           *const options[] = {"--atol",    "--tol",       "--threads",
                                               "--restart", "--precision", "--max-iter"};
  static const struct {
    const char *word, *nearest;
    bool option;
  } cases[] = {{"slel", "sell", false},         {"elll", "ell", false},
               {"coa", "coo", false},           {"csr", "csr-scalar", false},
               {"cdss", "cds", false},          {"patern", "pattern", false},
               {"zzzzzz", NULL, false},         {"", NULL, false},
               {"--tolerance", "--tol", true},  {"--presicion", "--precision", true},
               {"--thread", "--threads", true}, {"--maxiter", "--max-iter", true},
               {"solver", NULL, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *found = kcl_nearest(cases[i].word, cases[i].option ? options : formats, 6);
    CHECKF(cases[i].nearest ? found && !strcmp(found, cases[i].nearest) : !found, "'%s': %s",
           cases[i].word, found ? found : "none");
  }
  const char *one = "x";
  char word[200];
  memset(word, 'x', sizeof word), word[sizeof word - 1] = 0;
  CHECK(!kcl_nearest(word, &one, 1));
}

static int stop_at_20(void *user, const kcl_progress *p) {
  (void)user;
  return p->iteration >= 20;
}

/* The report describes the x that is returned; reports may be NULL. */
static void test_reports(kcl_context *ctx, const char *device) {
  kcl_csr *A;
  kcl_dense *b;
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  o.format = "csr-scalar", o.tol = 0, o.progress = stop_at_20;
  if (!CHECK(!kcl_generate(ctx, "poisson2d:200", &A, &b))) return;
  double *x = calloc((size_t)A->cols, sizeof *x), *values = b->val;
  if (CHECKF(!kcl_setup(ctx, A, &o, &s), "%s", kcl_error())) {
    CHECK(!kcl_solve_one(s, values, x, &r) && r.reason == KCL_INTERRUPTED && r.iterations >= 20);
    CHECKF(fabs(r.relative_residual - r.true_relative_residual) < 1e-9 * r.relative_residual &&
               r.history_size == r.iterations + 1 && r.history[r.iterations] == r.relative_residual,
           "%s: after %lld iterations %g, of x %g, %lld in the history", device,
           (long long)r.iterations, r.relative_residual, r.true_relative_residual,
           (long long)r.history_size);
    CHECK(!kcl_solve_one(s, values, x, NULL));
    values[3] = NAN;
    CHECK(kcl_solve_one(s, values, x, &r) == KCL_INPUT && !r.converged && !r.iterations);
  }
  free(x), kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b);
}

int main(void) {
  static const char *const devices[] = {"cpu", "opencl"};
  kcl_context *ctx;
  CHECK(!strcmp(kcl_version(), KCL_VERSION));
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx))) return check_report();
  for (int i = 0; i < 2; i++) {
    if (kcl_select(ctx, devices[i], 0)) {
      skip("%s: %s", devices[i], kcl_error());
      continue;
    }
    test_matrices(ctx), test_reports(ctx, devices[i]);
  }
  test_numbers(ctx);
  test_nearest();
  kcl_context_free(&ctx);
  return check_report();
}
