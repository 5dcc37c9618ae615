/* kcl_matrix: a host matrix that may get new values, its near-null vectors, its products. */
#include "core/matrix/structure.h"
#include "solver/interface/handles.h"
#include "solver/vectors.h"

/* ---------------------------------------------------------------- entries */

/* The library's own form, with arrays that stay the caller's. */
static int borrow_entries(kcl_context *ctx, const kcl_entries *e, kcl_csr **out) {
  kcl_type type;
  if (e->layout != KCL_CSR || e->row_bits != 64 || e->col_bits != 32 || e->base || e->half ||
      e->block > 1)
    return kcl_fail(
        ctx, KCL_USAGE,
        "kcl_entries.borrow: compressed rows are needed, with 64-bit starts, 32-bit "
        "columns, base 0, all entries and no blocks; without borrow any form is copied");
  KCL_CALL(kcl_type_of_letter("kcl_entries.type", e->type, &type));
  const kcl_csr A = {.rows = e->rows,
                     .cols = e->cols,
                     .nnz = e->nnz,
                     .row_ptr = (int64_t *)(uintptr_t)e->row,
                     .col = (int32_t *)(uintptr_t)e->col,
                     .val = (void *)(uintptr_t)e->val,
                     .type = type,
                     .symmetry = (kcl_symmetry)e->symmetry,
                     .field = kcl_type_complex(type) ? KCL_COMPLEX : KCL_REAL,
                     .stored = e->nnz};
  int rc = kcl_csr_check(ctx, &A);
  return rc ? rc : kcl_csr_lend(ctx, &A, out);
}

/* A copy, unless the caller's arrays may be used. */
static int take_entries(kcl_context *ctx, const kcl_entries *given, kcl_csr **out) {
  kcl_entries e;
  KCL_CALL(kcl_need(ctx, "entries", given));
  KCL_CALL(
      kcl_read_sized(ctx, "kcl_entries", given, offsetof(kcl_entries, symmetry), sizeof e, &e));
  e.size = sizeof e;
  if (e.borrow != 0 && e.borrow != 1)
    return kcl_fail(ctx, KCL_USAGE, "kcl_entries.borrow is %d, it must be 0 or 1", (int)e.borrow);
  return e.borrow ? borrow_entries(ctx, &e, out) : kcl_csr_from_entries(ctx, &e, out);
}

/* Takes A over, also on failure. */
static int create_handle(kcl_context *ctx, kcl_csr *A, kcl_matrix **out) {
  kcl_matrix *m;
  int rc = kcl_alloc(ctx, 1, sizeof *m, "a matrix", (void **)&m);
  if (rc) {
    kcl_csr_free(&A);
    return rc;
  }
  m->references = 1;
  m->ctx = ctx, m->A = A, m->borrowed = A->lent;
  kcl_context_retain(ctx), ctx->bystanders++;
  *out = m;
  return KCL_OK;
}

int kcl_matrix_create(kcl_context *ctx, const kcl_entries *entries, kcl_matrix **out) {
  kcl_csr *A = NULL;
  if (out) *out = NULL;
  KCL_CALL(kcl_need(ctx, "c", ctx));
  KCL_CALL(kcl_need(ctx, "out", out));
  int rc = take_entries(ctx, entries, &A);
  return rc ? rc : create_handle(ctx, A, out);
}

int kcl_matrix_create_shell(kcl_context *ctx, int64_t rows, int64_t cols, int type,
                            kcl_apply_function apply, void *user, int place, unsigned properties,
                            kcl_matrix **out) {
  kcl_csr *A = NULL;
  kcl_type t;
  if (out) *out = NULL;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "out", out));
  KCL_CALL(kcl_type_of_letter("type", type, &t));
  KCL_CALL(kcl_check_device(ctx, t));
  const kcl_shell shell = {.rows = rows,
                           .cols = cols,
                           .type = t,
                           .apply = apply,
                           .user = user,
                           .place = place,
                           .properties = properties};
  KCL_CALL(kcl_shell_check(ctx, &shell));
  KCL_CALL(kcl_csr_lend(ctx, &(kcl_csr){.rows = rows, .cols = cols, .type = t}, &A));
  KCL_CALL(create_handle(ctx, A, out));
  (*out)->shell = shell;
  return KCL_OK;
}

int kcl_matrix_lend(kcl_context *ctx, const kcl_csr *A, kcl_matrix **out) {
  kcl_csr *own = NULL;
  if (out) *out = NULL;
  KCL_CALL(kcl_need(ctx, "ctx", ctx));
  KCL_CALL(kcl_need(ctx, "out", out));
  KCL_CALL(kcl_csr_check(ctx, A));
  KCL_CALL(kcl_csr_lend(ctx, A, &own));
  return create_handle(ctx, own, out);
}

const kcl_csr *kcl_matrix_csr(const kcl_matrix *A) { return A && !A->shell.apply ? A->A : NULL; }

int kcl_matrix_need_entries(const kcl_matrix *A) {
  if (!A->shell.apply) return KCL_OK;
  return kcl_fail(A->ctx, KCL_USAGE, "the matrix is a function: it has no entries");
}

static void forget_made(kcl_matrix *A) {
  kcl_operator_free(&A->product);
  free(A->stats), A->stats = NULL;
  A->about = (kcl_operator_info){0};
}

void kcl_matrix_free(kcl_matrix **A) {
  kcl_matrix *a = A ? *A : NULL;
  if (!a) return;
  *A = NULL;
  if (--a->references > 0 || kcl_opencl_inherited(a->ctx)) return;
  kcl_context *ctx = a->ctx;
  {
    KCL_HOLD(ctx);
    forget_made(a);
    kcl_dense_free(&a->near_null), kcl_csr_free(&a->A);
  }
  free(a);
  ctx->bystanders--;
  kcl_context_release(ctx);
}

static bool differs(const void *a, const void *b, int64_t count, size_t size) {
  return a != b && count && memcmp(a, b, (size_t)count * size);
}

int kcl_matrix_check_pattern(kcl_context *ctx, const kcl_csr *then, const kcl_csr *now) {
  if (now->rows == then->rows && now->cols == then->cols && now->nnz == then->nnz &&
      now->type == then->type && now->symmetry == then->symmetry &&
      !differs(now->row_ptr, then->row_ptr, then->rows + 1, sizeof *then->row_ptr) &&
      !differs(now->col, then->col, then->nnz, sizeof *then->col))
    return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE,
                  "new values need the pattern, type and symmetry of the matrix: another matrix is "
                  "to be created");
}

int kcl_matrix_update(kcl_matrix *A, const kcl_entries *entries) {
  kcl_csr *now = NULL;
  int rc;
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  KCL_CALL(kcl_matrix_need_entries(A));
  if (!entries && !A->borrowed)
    return kcl_fail(A->ctx, KCL_USAGE, "entries is NULL, and the arrays of the matrix are a copy");
  if ((rc = entries ? take_entries(A->ctx, entries, &now) : kcl_csr_lend(A->ctx, A->A, &now)))
    return rc;
  rc = kcl_matrix_check_pattern(A->ctx, A->A, now);
  if (!rc) rc = kcl_csr_share_structure(A->ctx, now, A->A);
  if (rc) {
    kcl_csr_free(&now);
    return rc;
  }
  forget_made(A);
  kcl_csr_free(&A->A);
  A->A = now, A->borrowed = now->lent;
  return KCL_OK;
}

/* ---------------------------------------------------------------- near-null vectors */

/* Host columns of type d as kcl_dense. */
static int copy_columns(kcl_context *ctx, const char *name, const kcl_vectors *given, int64_t rows,
                        kcl_dense **out) {
  kcl_vectors columns, *v = &columns;
  KCL_CALL(kcl_read_sized(ctx, name, given, sizeof columns, sizeof columns, v));
  const int64_t cols = v->cols ? v->cols : 1, n = v->rows ? v->rows : rows,
                inc = v->inc ? v->inc : 1, ld = v->ld ? v->ld : n * inc;
  if (v->place != KCL_HOST || (v->type && v->type != 'd') || !v->data || n < 1 || cols < 1 ||
      cols > 12 || inc < 1 || ld < 1 || v->offset < 0 || n > INT32_MAX)
    return kcl_fail(ctx, KCL_USAGE,
                    "%s: at most 12 columns of type 'd' on the host are needed, with data and no "
                    "negative number",
                    name);
  KCL_CALL(kcl_dense_create(ctx, n, cols, KCL_D, out));
  const double *from = (const double *)v->data + v->offset;
  for (int64_t j = 0; j < cols; j++)
    for (int64_t i = 0; i < n; i++) (*out)->val[j * n + i] = from[i * inc + j * ld];
  return KCL_OK;
}

int kcl_matrix_set_near_null(kcl_matrix *A, const kcl_vectors *modes) {
  kcl_dense *B = NULL;
  int rc = KCL_OK;
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  KCL_CALL(kcl_matrix_need_entries(A));
  if (modes) {
    KCL_CALL(copy_columns(A->ctx, "modes", modes, A->A->rows, &B));
    if (B->rows != A->A->rows) {
      rc = kcl_fail(A->ctx, KCL_USAGE, "modes have %lld rows, the matrix has %lld",
                    (long long)B->rows, (long long)A->A->rows);
      kcl_dense_free(&B);
      return rc;
    }
  }
  kcl_dense_free(&A->near_null);
  A->near_null = B;
  return KCL_OK;
}

int kcl_matrix_set_coordinates(kcl_matrix *A, const kcl_vectors *nodes) {
  KCL_OWNED_BY(kcl_dense_free) kcl_dense *at = NULL;
  kcl_dense *modes = NULL;
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  KCL_CALL(kcl_need(A->ctx, "nodes", nodes));
  KCL_CALL(kcl_matrix_need_entries(A));
  const int64_t d = nodes->cols;
  if (d != 2 && d != 3)
    return kcl_fail(A->ctx, KCL_USAGE, "nodes have 2 or 3 columns, these have %lld", (long long)d);
  KCL_CALL(copy_columns(A->ctx, "nodes", nodes, A->A->rows / d, &at));
  if (at->rows * d != A->A->rows)
    KCL_CALL(kcl_fail(A->ctx, KCL_USAGE,
                      "%lld nodes with %lld unknowns each: the matrix has %lld rows",
                      (long long)at->rows, (long long)d, (long long)A->A->rows));
  KCL_CALL(kcl_rigid_modes(A->ctx, at, &modes));
  kcl_dense_free(&A->near_null);
  A->near_null = modes;
  return KCL_OK;
}

/* ---------------------------------------------------------------- numbers */

int kcl_matrix_number(kcl_matrix *A, const char *name, double *out) {
  kcl_stats *stats = NULL;
  int rc;
  if (out) *out = 0;
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  KCL_CALL(kcl_need(A->ctx, "name", name));
  KCL_CALL(kcl_need(A->ctx, "out", out));
  KCL_CALL(kcl_matrix_need_entries(A));
  const kcl_named *m = kcl_named_find(kcl_stats_members, name, strlen(name));
  if (!m) return kcl_named_refuse(A->ctx, kcl_stats_members, name);
  if (!A->stats) {
    KCL_CALL(kcl_alloc(A->ctx, 1, sizeof *stats, "statistics", (void **)&stats));
    if ((rc = kcl_csr_stats(A->ctx, A->A, stats))) {
      free(stats);
      return rc;
    }
    A->stats = stats;
  }
  *out = kcl_named_number(m, A->stats);
  return KCL_OK;
}
