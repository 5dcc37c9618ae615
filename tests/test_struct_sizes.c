/* Structs of programs that were compiled with an older header, which are smaller, and with a newer one, which are larger: fields
 * that one side does not know are zero, or refused if they are set. */
#include "krylocl.h"
#include "tests/check.h"
#include <stddef.h>
#include <string.h>

enum { N = 50, COLUMNS = 3, NEWER = 16 /* bytes of fields that this library does not know */ };

static kcl_context *ctx;
static int64_t row[3 * N], col[3 * N];
static double val[3 * N], b[COLUMNS * N], x[COLUMNS * N];

static kcl_entries laplace(void) {
  int64_t nnz = 0;
  for (int i = 0; i < N; i++)
    for (int j = i ? i - 1 : 0; j <= i + 1 && j < N; j++, nnz++)
      row[nnz] = i, col[nnz] = j, val[nnz] = i == j ? 2.5 : -1;
  return (kcl_entries){.size = sizeof(kcl_entries),
                       .rows = N,
                       .cols = N,
                       .nnz = nnz,
                       .row = row,
                       .col = col,
                       .val = val,
                       .layout = KCL_COO,
                       .row_bits = 64,
                       .col_bits = 64,
                       .type = 'd'};
}

static void refused(int rc, const char *word) {
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(), word), "%d, '%s', not '%s'", rc, kcl_error(), word);
}

/* ---------------------------------------------------------------- what the library reads */

/* The entries with so many bytes, of which the last `set` are 1. */
static int create(size_t size, int set, kcl_matrix **out) {
  char bytes[sizeof(kcl_entries) + NEWER] = {0};
  kcl_entries e = laplace();
  kcl_matrix_free(out);
  e.size = size;
  memcpy(bytes, &e, size < sizeof e ? size : sizeof e);
  memset(bytes + (size < sizeof e ? size : sizeof e), 1, sizeof bytes - sizeof e);
  if (size > sizeof e) memset(bytes + sizeof e, 0, NEWER);
  for (int i = 0; i < set; i++) bytes[size - 1 - (size_t)i] = 1;
  return kcl_matrix_create(ctx, (const kcl_entries *)(const void *)bytes, out);
}

static void test_entries(void) {
  kcl_matrix *A = NULL;
  CHECKF(!create(offsetof(kcl_entries, block), 0, &A) && A, "older: %s", kcl_error());
  CHECKF(!create(offsetof(kcl_entries, half), 0, &A) && A, "older: %s", kcl_error());
  CHECKF(!create(sizeof(kcl_entries) + NEWER, 0, &A) && A, "newer: %s", kcl_error());
  refused(create(sizeof(kcl_entries) + NEWER, 1, &A), "kcl_entries is of a newer version");
  refused(create(offsetof(kcl_entries, layout), 0, &A), "kcl_entries.size is");
  CHECK(!A);
}

static void test_vectors(kcl_matrix *A) {
  struct {
    kcl_vectors v;
    int64_t newer;
  } modes = {{.size = sizeof modes, .data = b}, 0};
  CHECKF(!kcl_matrix_set_near_null(A, &modes.v), "newer: %s", kcl_error());
  modes.newer = 1;
  refused(kcl_matrix_set_near_null(A, &modes.v), "modes is of a newer version");
  modes.v.size = 8, refused(kcl_matrix_set_near_null(A, &modes.v), "modes.size is 8");
  CHECK(!kcl_matrix_set_near_null(A, NULL));
}

/* ---------------------------------------------------------------- what it writes */

/* Results at distances of `size`: as many fields as there is room for; nothing behind the last one. */
static void test_results(kcl_solver *s, size_t size, const kcl_result *expected) {
  char room[(COLUMNS + 1) * (sizeof(kcl_result) + NEWER)];
  const kcl_vectors of_b = {.size = sizeof of_b, .data = b, .cols = COLUMNS};
  kcl_vectors of_x = {.size = sizeof of_x, .data = x, .cols = COLUMNS};
  const size_t known = size < sizeof(kcl_result) ? size : sizeof(kcl_result);
  memset(room, 0x55, sizeof room), memset(x, 0, sizeof x);
  memcpy(room, &size, sizeof size);
  CHECKF(!kcl_solve(s, &of_b, &of_x, NULL, (kcl_result *)(void *)room), "%zu bytes: %s", size,
         kcl_error());
  for (int j = 0; j < COLUMNS; j++) {
    kcl_result r = {0};
    memcpy(&r, room + (size_t)j * size, known);
    CHECKF(r.size == size && r.iterations == expected[j].iterations && r.converged &&
               (known < sizeof r || r.backward_error == expected[j].backward_error),
           "%zu bytes, column %d: size %zu, %lld iterations", size, j, r.size,
           (long long)r.iterations);
    for (size_t i = known; i < size; i++) CHECK(!room[(size_t)j * size + i]);
  }
  for (size_t i = COLUMNS * size; i < sizeof room; i++)
    if (!CHECKF(room[i] == 0x55, "%zu bytes: byte %zu is written", size, i)) break;
}

static void test_solves(kcl_matrix *A) {
  static const size_t bad[] = {0, 8, 57, (size_t)-1, (size_t)-8};
  const kcl_vectors of_b = {.size = sizeof of_b, .data = b, .cols = COLUMNS};
  kcl_vectors of_x = {.size = sizeof of_x, .data = x, .cols = COLUMNS};
  kcl_result r[COLUMNS] = {{.size = sizeof r[0]}};
  kcl_options *o = NULL;
  kcl_solver *s = NULL;
  for (int i = 0; i < COLUMNS * N; i++) b[i] = random_number();
  CHECK(!kcl_options_create(&o) && !kcl_options_parse(o, "no-direct")); /* else by time */
  CHECK(!kcl_solver_create(A, NULL, o, &s) && !kcl_solve(s, &of_b, &of_x, NULL, r));
  kcl_options_free(&o);
  test_results(s, offsetof(kcl_result, relative_residual), r);
  test_results(s, sizeof(kcl_result) - sizeof(double), r);
  test_results(s, sizeof(kcl_result), r);
  test_results(s, sizeof(kcl_result) + NEWER, r);
  for (int i = 0; i < 5; i++) {
    r[0].size = bad[i];
    refused(kcl_solve(s, &of_b, &of_x, NULL, r), "kcl_result.size is");
  }
  kcl_solver_free(&s);
}

int main(void) {
  const kcl_entries e = laplace();
  kcl_matrix *A = NULL;
  CHECK(!kcl_context_create("cpu", 0, &ctx) && !kcl_matrix_create(ctx, &e, &A));
  test_entries(), test_vectors(A), test_solves(A);
  kcl_matrix_free(&A), kcl_context_free(&ctx);
  return check_report();
}
