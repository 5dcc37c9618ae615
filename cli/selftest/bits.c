/* Are the bits of x those that every device has with reproducible sums? Checksums are compared with those of bits.def. Systems have the
 * pattern of generated ones and values that no compiler rounds. */
#include "cli/selftest/selftest.h"
#include "cli/ui/terminal.h"

typedef struct bits_test {
  const char *system;
  bool unsymmetric;
  const char *method, *precond;
  char precision;
  unsigned long long checksum;
} bits_test;

static const bits_test tests[] = {
#define CLI_BITS(...) {__VA_ARGS__},
#include "cli/selftest/bits.def"
#undef CLI_BITS
};

/* Diagonally dominant; Hermitian, or with other entries above the diagonal than below. */
static void put_exact_value(kcl_csr *A, int64_t k, int64_t i, bool unsymmetric) {
  const int64_t j = A->col[k];
  const double side = j > i ? 1 : -1, re = i == j ? 8 + (double)(i % 5) / 8 : -1,
               im = i == j        ? 0
                    : unsymmetric ? 0.25
                                  : 0.25 * side;
  const int parts = kcl_type_complex(A->type) ? 2 : 1;
  double *a = (double *)A->val + parts * k;
  a[0] = unsymmetric && i != j ? re - side / 4 : re;
  if (parts == 2) a[1] = im;
}

static void make_exact(kcl_csr *A, double *b, bool unsymmetric) {
  const int parts = kcl_type_complex(A->type) ? 2 : 1;
  A->symmetry = KCL_GENERAL; /* declared */
  for (int64_t i = 0; i < A->rows; i++) {
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      put_exact_value(A, k, i, unsymmetric);
    for (int p = 0; p < parts; p++) b[parts * i + p] = 1 + (double)(i % 7 + p) / 8;
  }
}

static void compare_checksum(const bits_test *s, const kcl_dense *x, cli_selftest_result *r) {
  const size_t size = (size_t)x->rows * kcl_type_size(x->type);
  const unsigned long long sum = kcl_checksum(x->val, size);
  if (!r->solve.converged)
    snprintf(r->reason, sizeof r->reason, "%s", kcl_reason_text(r->solve.reason));
  else if (sum != s->checksum)
    snprintf(r->reason, sizeof r->reason, "the checksum of x is 0x%016llx, not 0x%016llx", sum,
             s->checksum);
}

/* The device, or this build, cannot have the same bits; other failures are faults. */
static bool starts_with_refusal(const char *message) {
  static const char words[] = "reproducible sums:";
  return !strncmp(message, words, sizeof words - 1);
}

static int solve_exact(const cli_battery *t, const bits_test *s, const kcl_csr *A,
                       const kcl_dense *b, kcl_dense *x, cli_selftest_result *r) {
  char options[160];
  snprintf(options, sizeof options, "solver=%s precond=%s precision=%c restart=6 symmetry=exact",
           s->method, s->precond, s->precision);
  r->setup = kcl_context_set_reproducible(t->ctx, 1);
  if (r->setup) snprintf(r->reason, sizeof r->reason, "%s", kcl_error());
  const int rc = r->setup ? 0 : cli_selftest_solve(t, options, A, b, x, r);
  kcl_context_set_reproducible(t->ctx, 0);
  r->refused = r->setup && starts_with_refusal(r->reason);
  if (!rc && !*r->reason) compare_checksum(s, x, r);
  return rc;
}

static int test_bits(cli_battery *t, const bits_test *s) {
  char test[160];
  cli_selftest_result r = {.refused = false};
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  CLI_OWNED_BY(kcl_dense_free) kcl_dense *b = NULL, *x = NULL;
  snprintf(test, sizeof test, "%s with %s on %s%s", s->method, s->precond, s->system,
           s->unsymmetric ? ", unsymmetric" : "");
  cli_busy(t->o, "%s", test);
  CLI_CALL(cli_selftest_system(t, s->system, &A, &b));
  CLI_CALL(cli_lib(kcl_dense_create(t->ctx, A->cols, 1, b->type, &x)));
  make_exact(A, b->val, s->unsymmetric);
  CLI_CALL(solve_exact(t, s, A, b, x, &r));
  cli_selftest_count(t, test, &r);
  return 0;
}

int cli_selftest_bits(cli_battery *t) {
  int rc = 0;
  t->group = "bits";
  for (size_t i = 0; i < sizeof tests / sizeof *tests && !rc; i++)
    if (tests[i].precision == kcl_type_letter(t->precision)) rc = test_bits(t, &tests[i]);
  return rc;
}
