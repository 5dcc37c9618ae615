/* Products with a matrix that is a function, by kcl_matrix_apply: beside the same matrix with entries, in arrays and in buffers, of
 * numbers that are exact in every type. */
#include "tests/conform.h"
#include "tests/options.h"

enum { ROWS = 60, COLS = 47, K = 2, ROOM = 2 * K * ROWS };

/* A matrix with entries behind a function: on the host, or on the queue of the context that is tested. */
typedef struct behind {
  kcl_context *ctx;
  kcl_matrix *A;
  kcl_matrix **of; /* the matrix that is a function: given back by it */
  kcl_context *busy;
  int calls, answer;
} behind;

static int multiply(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y, void *queue) {
  behind *f = user;
  double v;
  (void)queue;
  f->calls++;
  if (f->busy) f->answer = kcl_context_number(f->busy, "stream_rate", &v);
  if (f->of) kcl_matrix_free(f->of), f->of = NULL;
  return kcl_matrix_apply(f->A, adjoint, NULL, x, NULL, y);
}

/* Rows of 1 to 3 entries, real and imaginary parts that are small integers. */
static kcl_matrix *banded(kcl_context *ctx, kcl_type t) {
  int64_t row[3 * ROWS], col[3 * ROWS], nnz = 0;
  double val[6 * ROWS];
  char typed[6 * ROWS * sizeof(double)];
  kcl_matrix *A = NULL;
  for (int i = 0; i < ROWS; i++)
    for (int j = i; j < i + 3; j++, nnz++)
      row[nnz] = i, col[nnz] = j * 5 % COLS, val[2 * nnz] = i % 4 + 1, val[2 * nnz + 1] = j % 3;
  kcl_copy(t, typed, KCL_Z, val, nnz, 1);
  const kcl_entries e = {.size = sizeof e,
                         .rows = ROWS,
                         .cols = COLS,
                         .nnz = nnz,
                         .row = row,
                         .col = col,
                         .val = typed,
                         .layout = KCL_COO,
                         .row_bits = 64,
                         .col_bits = 64,
                         .type = kcl_type_letter(t)};
  CHECKF(!kcl_matrix_create(ctx, &e, &A) && !kcl_matrix_prepare(A, NULL, 1), "%s", kcl_error());
  return A;
}

static bool behind_open(behind *f, const place *p, kcl_type t, int where) {
  void *queue = NULL;
  *f = (behind){0};
  int rc = where == KCL_OPENCL ? kcl_context_opencl(p->ctx, NULL, NULL, &queue) ||
                                     kcl_context_create_opencl(NULL, NULL, queue, &f->ctx)
                               : kcl_context_create("cpu", 1, &f->ctx);
  if (!CHECKF(!rc, "%s", kcl_error())) return false;
  f->A = banded(f->ctx, t);
  return f->A;
}

static void behind_close(behind *f) { kcl_matrix_free(&f->A), kcl_context_free(&f->ctx); }

static kcl_matrix *function_of(const place *p, behind *f, kcl_type t, int where,
                               unsigned properties) {
  kcl_matrix *A = NULL;
  CHECKF(!kcl_matrix_create_shell(p->ctx, ROWS, COLS, kcl_type_letter(t), multiply, f, where,
                                  properties, &A),
         "%s", kcl_error());
  return A;
}

/* ---------------------------------------------------------------- results */

static void fill(kcl_type t, char *v) {
  double z[2 * ROOM];
  for (int i = 0; i < 2 * ROOM; i++) z[i] = (double)(random_bits() % 16) - 8;
  kcl_copy(t, v, KCL_Z, z, ROOM, 1);
}

/* y = alpha A x + beta y of K columns in row-major order, whose rows have gaps. */
static void compare(const place *p, kcl_matrix *A, kcl_matrix *B, kcl_type t, int adjoint) {
  static const double scalars[][2] = {{1, 0}, {0, 0}, {2, 1}};
  char x[ROOM * 16], y[ROOM * 16], want[ROOM * 16], a[16], b[16];
  for (int i = 0; i < 9; i++) {
    kcl_copy(t, a, KCL_Z, scalars[i / 3], 1, 1), kcl_copy(t, b, KCL_Z, scalars[i % 3], 1, 1);
    fill(t, x), fill(t, y), memcpy(want, y, sizeof y);
    const kcl_vectors in = {.size = sizeof in, .data = x, .cols = K, .ld = 1, .inc = K};
    kcl_vectors out = {.size = sizeof out, .data = y, .cols = K}, same = out;
    same.data = want;
    CHECKF(!kcl_matrix_apply(A, adjoint, a, &in, b, &out), "%s: %s", p->name, kcl_error());
    CHECKF(!kcl_matrix_apply(B, adjoint, a, &in, b, &same), "%s: %s", p->name, kcl_error());
    CHECKF(!memcmp(y, want, ROOM * kcl_type_size(t)), "%s, type %c, adjoint %d, case %d", p->name,
           kcl_type_letter(t), adjoint, i);
  }
}

static void test_products(const place *p, kcl_type t, int where) {
  behind f;
  if (!behind_open(&f, p, t, where)) return;
  kcl_matrix *A = function_of(p, &f, t, where, KCL_SHELL_ADJOINT);
  kcl_matrix *B = banded(p->ctx, t);
  CHECKF(!kcl_matrix_prepare(A, NULL, 1) && !f.calls, "%d calls: %s", f.calls, kcl_error());
  CHECK(!strcmp(kcl_matrix_text(A, "format"), "shell"));
  for (int adjoint = 0; adjoint < 2 && A && B; adjoint++) compare(p, A, B, t, adjoint);
  CHECKF(f.calls == 2 * 6 * K, "%d calls: none where alpha is 0", f.calls);
  CHECK(!strcmp(kcl_matrix_text(A, "format"), "shell"));
  kcl_matrix_free(&A), kcl_matrix_free(&B), behind_close(&f);
}

/* ---------------------------------------------------------------- refusals, callbacks */

static void refused(int rc, int status, const char *word) {
  CHECKF(rc == status && strstr(kcl_error(), word), "status %d, '%s', not '%s'", rc, kcl_error(),
         word);
}

static void refuse_option(kcl_matrix *A, const char *text, const char *word) {
  kcl_options *o = NULL;
  CHECK(!kcl_options_create(&o) && !kcl_options_parse(o, text));
  refused(kcl_matrix_prepare(A, o, 0), KCL_USAGE, word);
  kcl_options_free(&o);
}

static void test_refused(const place *p) {
  behind f;
  double x[ROWS] = {0}, y[ROWS];
  const kcl_vectors in = {.size = sizeof in, .data = x};
  kcl_vectors out = {.size = sizeof out, .data = y}, wrong = {.size = sizeof wrong, .data = y};
  if (!behind_open(&f, p, KCL_D, KCL_HOST)) return;
  kcl_matrix *A = function_of(p, &f, KCL_D, KCL_HOST, 0);
  wrong.rows = COLS;
  refused(kcl_matrix_apply(A, 1, NULL, &in, NULL, &out), KCL_USAGE, "KCL_SHELL_ADJOINT");
  refused(kcl_matrix_apply(A, 3, NULL, &in, NULL, &out), KCL_USAGE, "adjoint is 3");
  refused(kcl_matrix_apply(A, 0, NULL, &in, NULL, &wrong), KCL_USAGE, "y.rows is 47");
  refused(kcl_matrix_apply(A, 0, NULL, NULL, NULL, &out), KCL_USAGE, "x");
  refused(kcl_matrix_prepare(A, NULL, 1), KCL_USAGE, "KCL_SHELL_ADJOINT");
  refuse_option(A, "format=ell", "format ell");
  refuse_option(A, "precision=s", "precision s");
  f.busy = p->ctx, f.of = &A;
  CHECKF(!kcl_matrix_apply(A, 0, NULL, &in, NULL, &out) && f.answer == KCL_BUSY && !A,
         "answer %d: %s", f.answer, kcl_error());
  kcl_matrix_free(&A), behind_close(&f);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    for (kcl_type t = KCL_S; t <= KCL_Z; t++) {
      if (!can(p, t)) continue;
      test_products(p, t, KCL_HOST);
      if (p->ctx->opencl) test_products(p, t, KCL_OPENCL);
    }
    if (can(p, KCL_D)) test_refused(p);
  }
  close_places();
  return check_report();
}
