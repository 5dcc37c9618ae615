/* Properties of every preconditioner on random sparse systems, natively: M^-1 is linear, Hermitian where A is and it says so, has the bits of a set-up
 * after an update to the same values, and the same bits for any number of threads. Seeded; SYSTEMS=1000 for a long run. */
#include "core/base/context.h"
#include "krylocl/device.h"
#include "krylocl/explain.h"
#include "solver/precond/setup.h"
#include "tests/check.h"
#include "tests/filter.h"
#include "tests/numbers.h"
#include "tests/tol.h"
#include <complex.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400 };

static kcl_context *ctx;
static int updates, refused;

/* Rows in order, a diagonal that dominates them strictly. */
typedef struct random_system {
  int n, type; /* 'd' or 'z' */
  bool single; /* precision of M */
  bool hermitian;
  number a[MOST * 7];
  int64_t row_ptr[MOST + 1];
  int32_t col[MOST * 7];
  kcl_matrix *A;
} random_system;

static number random_entry(int type) {
  const double re = random_number(), im = random_number();
  return type == 'z' ? re + im * I : re;
}

/* Neighbours at distances 1, s and t, some of them missing. */
static void make_pattern(random_system *s) {
  const int apart[] = {1, 2 + (int)(random_bits() % 9), 12 + (int)(random_bits() % 30)};
  static bool there[3][MOST];
  int64_t k = 0;
  for (int d = 0; d < 3; d++)
    for (int i = 0; i < s->n; i++) there[d][i] = i + apart[d] < s->n && random_bits() % 4;
  for (int i = 0; i < s->n; i++) {
    for (int d = 2; d >= 0; d--)
      if (i >= apart[d] && there[d][i - apart[d]]) s->col[k++] = i - apart[d];
    s->col[k++] = i;
    for (int d = 0; d < 3; d++)
      if (there[d][i]) s->col[k++] = i + apart[d];
    s->row_ptr[i + 1] = k;
  }
}

static number *find_entry(random_system *s, int i, int j) {
  for (int64_t k = s->row_ptr[i]; k < s->row_ptr[i + 1]; k++)
    if (s->col[k] == j) return &s->a[k];
  return NULL;
}

static void make_values(random_system *s) {
  double sum[MOST] = {0};
  for (int i = 0; i < s->n; i++)
    for (int64_t k = s->row_ptr[i]; k < s->row_ptr[i + 1]; k++) {
      const int j = s->col[k];
      if (j == i) continue;
      s->a[k] = s->hermitian && j < i ? conj(*find_entry(s, j, i)) : random_entry(s->type);
      sum[i] += cabs(s->a[k]);
    }
  for (int i = 0; i < s->n; i++) *find_entry(s, i, i) = 1.25 * sum[i] + 0.5;
}

/* The values of a real system are in one static array: the library copies them. */
static kcl_entries entries_of(random_system *s) {
  static double real[MOST * 7];
  for (int64_t k = 0; k < s->row_ptr[s->n]; k++) real[k] = creal(s->a[k]);
  return (kcl_entries){.size = sizeof(kcl_entries),
                       .rows = s->n,
                       .cols = s->n,
                       .nnz = s->row_ptr[s->n],
                       .layout = KCL_CSR,
                       .type = s->type,
                       .row = s->row_ptr,
                       .row_bits = 64,
                       .col = s->col,
                       .col_bits = 32,
                       .val = s->type == 'z' ? (void *)s->a : (void *)real};
}

static bool apply(kcl_precond *M, const random_system *s, const number *r, number *z) {
  double from[MOST], to[MOST] = {0};
  for (int i = 0; i < s->n; i++) from[i] = creal(r[i]);
  const bool pairs = s->type == 'z';
  const kcl_vectors in = {
      .size = sizeof in, .type = s->type, .data = pairs ? (void *)(uintptr_t)r : (void *)from};
  kcl_vectors out = {.size = sizeof out, .type = s->type, .data = pairs ? (void *)z : (void *)to};
  if (kcl_precond_apply(M, 0, &in, &out)) return false;
  for (int i = 0; i < s->n && !pairs; i++) z[i] = to[i];
  return true;
}

/* An application adds and multiplies a few hundred times per element, as in conform_precond.c; multigrid keeps float in its levels. */
static double rounding(const random_system *s, const char *name) {
  const bool narrow = s->single || !strncmp(name, "amg", 3) || !strcmp(name, "sa");
  return 4000 * tol_u(narrow ? KCL_S : KCL_D);
}

static void test_operator(kcl_precond *M, const random_system *s, const kcl_precond_kind *kind) {
  static number x[MOST], y[MOST], both[MOST], Mx[MOST], My[MOST], Mboth[MOST];
  const double unit = rounding(s, kind->name);
  for (int i = 0; i < s->n; i++)
    x[i] = random_entry(s->type), y[i] = random_entry(s->type), both[i] = x[i] + 2 * y[i];
  if (!CHECKF(apply(M, s, x, Mx) && apply(M, s, y, My) && apply(M, s, both, Mboth), "%s: %s",
              kind->name, kcl_error()))
    return;
  for (int i = 0; i < s->n; i++) Mboth[i] -= Mx[i] + 2 * My[i];
  const double off = norm(Mboth, s->n), size = norm(Mx, s->n) + 2 * norm(My, s->n);
  CHECKF(off <= unit * size, "%s, n = %d: M(x + 2 y) is off by %g of %g", kind->name, s->n, off,
         size);
  if (!s->hermitian || !kind->symmetric) return;
  const double skew = cabs(dot(y, Mx, s->n) - conj(dot(x, My, s->n))),
               most = norm(x, s->n) * norm(My, s->n) + norm(y, s->n) * norm(Mx, s->n);
  CHECKF(skew <= unit * most, "%s, n = %d: (y, Mx) differs from (My, x) by %g of %g", kind->name,
         s->n, skew, most);
}

/* M, updated to other values (multigrid: to the same), against one that is set up for these, with another number of threads. */
static void test_update(random_system *s, const kcl_precond_kind *kind, const kcl_options *o) {
  static number r[MOST], z[2][MOST];
  kcl_precond *M[2] = {NULL, NULL};
  kcl_entries e;
  if (kcl_precond_create(s->A, o, &M[0])) return;
  if (!kind->hierarchy) make_values(s); /* an update keeps interpolations, which depend on values */
  e = entries_of(s);
  CHECKF(!kcl_matrix_update(s->A, &e), "%s", kcl_error());
  for (int i = 0; i < s->n; i++) r[i] = random_entry(s->type);
  kcl_set_threads(1);
  const int rc = kcl_precond_update(M[0], s->A);
  kcl_set_threads(1 + (int)(random_bits() % 4));
  if (!rc && !kcl_precond_create(s->A, o, &M[1]) && apply(M[0], s, r, z[0]) &&
      apply(M[1], s, r, z[1])) {
    updates++;
    CHECKF(!memcmp(z[0], z[1], (size_t)s->n * sizeof *r),
           "%s, n = %d, type %c, %s precision: an update has other bits than a set-up", kind->name,
           s->n, s->type, s->single ? "single" : "double");
  }
  kcl_precond_free(&M[0]), kcl_precond_free(&M[1]);
}

static void test_threads(random_system *s, const kcl_precond_kind *kind, const kcl_options *o) {
  static number r[MOST], z[2][MOST];
  kcl_precond *M[2] = {NULL, NULL};
  for (int i = 0; i < s->n; i++) r[i] = random_entry(s->type);
  for (int i = 0; i < 2; i++) {
    kcl_set_threads(i ? 2 + (int)(random_bits() % 6) : 1);
    CHECKF(!kcl_precond_create(s->A, o, &M[i]) && apply(M[i], s, r, z[i]), "%s: %s", kind->name,
           kcl_error());
  }
  CHECKF(!memcmp(z[0], z[1], (size_t)s->n * sizeof *r),
         "%s, n = %d, type %c: other bits with more threads", kind->name, s->n, s->type);
  kcl_precond_free(&M[0]), kcl_precond_free(&M[1]);
}

static void test_kind(random_system *s, const kcl_precond_kind *kind) {
  kcl_options *o = NULL;
  kcl_precond *M = NULL;
  char text[80];
  snprintf(text, sizeof text, "precond=%s precision=%c", kind->name,
           s->single ? (s->type == 'z' ? 'c' : 's') : s->type);
  if (!CHECK(!kcl_options_create(&o) && !kcl_options_parse(o, text))) goto done;
  if (kcl_precond_create(s->A, o, &M)) {
    refused++;
    goto done;
  }
  test_operator(M, s, kind);
  test_threads(s, kind, o);
  test_update(s, kind, o);
done:
  kcl_precond_free(&M), kcl_options_free(&o);
}

static void test_random_system(random_system *s, int number_of_system) {
  random_state = 88172645463325252u ^ ((uint64_t)number_of_system * 0x9E3779B97F4A7C15u);
  for (int i = 0; i < 8; i++) random_bits();
  s->n = random_bits() % 4 ? 2 + (int)(random_bits() % (MOST - 1)) : 1 + (int)(random_bits() % 8);
  s->type = random_bits() % 2 ? 'z' : 'd', s->hermitian = random_bits() % 2;
  s->single = random_bits() % 2;
  make_pattern(s), make_values(s);
  kcl_entries e = entries_of(s);
  if (!CHECKF(!kcl_matrix_create(ctx, &e, &s->A), "%s", kcl_error())) return;
  for (int i = 0; i < kcl_list_size(KCL_PRECONDS); i++) {
    const kcl_precond_kind *kind;
    if (CHECK(!kcl_precond_find(ctx, kcl_list(KCL_PRECONDS, i).name, &kind))) test_kind(s, kind);
  }
  kcl_matrix_free(&s->A);
}

int main(void) {
  static random_system s;
  const char *asked = getenv("SYSTEMS");
  const int count = asked ? atoi(asked) : sanitized() ? 30 : 300;
  if (!CHECK(!kcl_context_create("cpu", 1, &ctx))) return check_report();
  for (int i = 1; i <= count; i++) test_random_system(&s, i);
  printf("%d systems, %d updates compared, %d set-ups refused\n", count, updates, refused);
  kcl_set_threads(0);
  kcl_context_free(&ctx);
  return check_report();
}
