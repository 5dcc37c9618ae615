/* Host matrices: creation, conversion between scalar types, adjoint; dense columns. */
#include "core/base/base.h"
#include <sys/mman.h>

/* The error in row i, or NULL. */
static const char *bad_row(const kcl_csr *A, int64_t i) {
  const int64_t from = A->row_ptr[i], to = A->row_ptr[i + 1];
  if (from > to || to > A->nnz) return "its row pointers do not ascend from 0 to nnz";
  for (int64_t k = from; k < to; k++) {
    if (A->col[k] < 0 || A->col[k] >= A->cols) return "a column lies outside the matrix";
    if (k > from && A->col[k] <= A->col[k - 1])
      return "its columns do not ascend, or one occurs twice";
  }
  return NULL;
}

int kcl_csr_check_sizes(kcl_context *ctx, int64_t rows, int64_t cols, int64_t nnz) {
  const int64_t most = INT64_C(1) << 31;
  if (rows >= 0 && rows <= most && cols >= 0 && cols <= most && nnz >= 0 && nnz <= INT64_MAX / 64)
    return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE,
                  "a matrix of %lld x %lld with %lld nonzeros: none may be negative, rows and "
                  "columns are at most 2^31",
                  (long long)rows, (long long)cols, (long long)nnz);
}

int kcl_csr_need(kcl_context *ctx, const kcl_csr *A) {
  KCL_CALL(kcl_need(ctx, "A", A));
  KCL_CALL(kcl_type_check(ctx, "type", A->type));
  KCL_CALL(kcl_symmetry_check(ctx, A->symmetry));
  KCL_CALL(kcl_csr_check_sizes(ctx, A->rows, A->cols, A->nnz));
  KCL_CALL(kcl_need(ctx, "A->row_ptr", A->row_ptr));
  if (!A->nnz) return KCL_OK;
  KCL_CALL(kcl_need(ctx, "A->col", A->col));
  return kcl_need(ctx, "A->val", A->val);
}

typedef struct csr_checking {
  const kcl_csr *A;
  _Atomic int64_t bad; /* the first such row */
} csr_checking;

static void check_csr_rows(void *arg, int64_t first, int64_t end) {
  csr_checking *c = arg;
  for (int64_t i = first; i < end; i++)
    if (c->A->row_ptr[i] >= 0 && bad_row(c->A, i)) {
      kcl_lower(&c->bad, i);
      return;
    }
}

int kcl_csr_check(kcl_context *ctx, const kcl_csr *A) {
  KCL_CALL(kcl_csr_need(ctx, A));
  if (A->row_ptr[0] != 0 || A->row_ptr[A->rows] != A->nnz)
    return kcl_fail(ctx, KCL_USAGE,
                    "row_ptr runs from %lld to %lld, it must run from 0 to nnz, %lld",
                    (long long)A->row_ptr[0], (long long)A->row_ptr[A->rows], (long long)A->nnz);
  csr_checking c = {.A = A, .bad = A->rows};
  kcl_for(A->rows, KCL_FEW_ROWS, check_csr_rows, &c);
  if (c.bad == A->rows) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE, "row %lld of the matrix, counted from 0: %s", (long long)c.bad,
                  bad_row(A, c.bad));
}

typedef int allocation(kcl_context *ctx, int64_t count, size_t size, const char *what, void **out);

static int create_with(allocation *alloc, kcl_context *ctx, const kcl_csr *like, kcl_csr **out) {
  const int64_t rows = like->rows, nnz = like->nnz;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = NULL;
  KCL_CALL(kcl_csr_check_sizes(ctx, rows, like->cols, nnz));
  KCL_CALL(kcl_type_check(ctx, "type", like->type));
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *A, "a matrix", (void **)&A));
  *A = *like, A->structure_owners = NULL;
  KCL_CALL(alloc(ctx, rows + 1, sizeof *A->row_ptr, "row pointers", (void **)&A->row_ptr));
  KCL_CALL(alloc(ctx, nnz, sizeof *A->col, "column indices", (void **)&A->col));
  KCL_CALL(alloc(ctx, nnz, kcl_type_size(A->type), "matrix values", &A->val));
  *out = A, A = NULL;
  return KCL_OK;
}

int kcl_csr_create(kcl_context *ctx, int64_t rows, int64_t cols, int64_t nnz, kcl_type type,
                   kcl_csr **out) {
  const kcl_csr like = {.rows = rows, .cols = cols, .nnz = nnz, .type = type, .stored = nnz};
  return create_with(kcl_alloc, ctx, &like, out);
}

int kcl_csr_create_unset(kcl_context *ctx, const kcl_csr *like, kcl_csr **out) {
  return create_with(kcl_alloc_unset, ctx, like, out);
}

int64_t kcl_csr_row_from(const kcl_csr *A, int64_t k) {
  return kcl_first_offset_from(A->row_ptr, 0, A->rows, k);
}

static double longest_row(const void *arg, int64_t from, int64_t to) {
  const kcl_csr *A = arg;
  int64_t most = 0;
  for (int64_t i = from; i < to; i++)
    if (A->row_ptr[i + 1] - A->row_ptr[i] > most) most = A->row_ptr[i + 1] - A->row_ptr[i];
  return (double)most;
}

int64_t kcl_csr_longest_row(const kcl_csr *A) {
  return (int64_t)kcl_largest(A->rows, KCL_FEW_ROWS, longest_row, A);
}

int kcl_csr_lend(kcl_context *ctx, const kcl_csr *A, kcl_csr **out) {
  KCL_CALL(kcl_alloc(ctx, 1, sizeof **out, "a matrix", (void **)out));
  **out = *A;
  (*out)->lent = true, (*out)->owners = 0, (*out)->structure_owners = NULL;
  return KCL_OK;
}

kcl_csr *kcl_csr_share(kcl_csr *A) {
  __atomic_add_fetch(&A->owners, 1, __ATOMIC_RELAXED);
  return A;
}

/* Has A arrays of its own, each by malloc? */
static bool owns_arrays(const kcl_csr *A) { return !A->lent && !A->mapped; }

static void free_indices(kcl_csr *A) {
  int *owners = A->structure_owners;
  if (owners && __atomic_fetch_sub(owners, 1, __ATOMIC_ACQ_REL) > 0) return;
  free(A->row_ptr), free(A->col), free(owners);
}

int kcl_csr_share_structure(kcl_context *ctx, kcl_csr *A, kcl_csr *from) {
  if (!owns_arrays(A) || !owns_arrays(from)) return KCL_OK;
  int **owners = &from->structure_owners;
  KCL_CALL(*owners ? KCL_OK : kcl_alloc(ctx, 1, sizeof **owners, "a matrix", (void **)owners));
  __atomic_add_fetch(*owners, 1, __ATOMIC_RELAXED);
  free_indices(A);
  A->row_ptr = from->row_ptr;
  A->col = from->col;
  A->structure_owners = *owners;
  return KCL_OK;
}

static void free_arrays(kcl_csr *A) {
  if (A->lent) return;
  if (A->mapped) {
    munmap(A->mapped, A->mapped_size);
    return;
  }
  free_indices(A), free(A->val);
}

void kcl_csr_free(kcl_csr **A) {
  kcl_csr *a = A ? *A : NULL;
  if (!a) return;
  *A = NULL;
  if (__atomic_fetch_sub(&a->owners, 1, __ATOMIC_ACQ_REL) > 0) return;
  free_arrays(a), free(a);
}

int kcl_csr_convert(kcl_context *ctx, const kcl_csr *A, kcl_type type, kcl_csr **out) {
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = NULL;
  KCL_CALL(kcl_csr_need(ctx, A));
  if (kcl_type_complex(A->type) && !kcl_type_complex(type))
    return kcl_fail(ctx, KCL_USAGE,
                    "the matrix is complex and a real type was requested: use precision c or z");
  kcl_csr *B = NULL;
  KCL_CALL(kcl_csr_create(ctx, A->rows, A->cols, A->nnz, type, &B));
  kcl_copy_bytes(B->row_ptr, A->row_ptr, (A->rows + 1) * (int64_t)sizeof *B->row_ptr);
  kcl_copy_bytes(B->col, A->col, A->nnz * (int64_t)sizeof *B->col);
  kcl_copy(type, B->val, A->type, A->val, A->nnz, 1.0);
  B->symmetry = A->symmetry;
  B->field = A->field;
  B->stored = A->stored;
  *out = B;
  return KCL_OK;
}

/* Visits rows of A in order, so that the columns of each row of A^H ascend. */
int kcl_csr_adjoint(kcl_context *ctx, const kcl_csr *A, kcl_csr **out) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *B = NULL;
  KCL_OWNED int64_t *next = NULL;
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = NULL;
  KCL_CALL(kcl_csr_need(ctx, A));
  KCL_CALL(kcl_csr_create(ctx, A->cols, A->rows, A->nnz, A->type, &B));
  KCL_CALL(kcl_alloc(ctx, A->cols, sizeof *next, "the adjoint", (void **)&next));
  for (int64_t k = 0; k < A->nnz; k++) B->row_ptr[A->col[k] + 1]++;
  for (int64_t j = 0; j < A->cols; j++) {
    B->row_ptr[j + 1] += B->row_ptr[j];
    next[j] = B->row_ptr[j];
  }
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t q = next[A->col[k]]++;
      double z[2];
      kcl_element(A->type, A->val, k, z);
      z[1] = -z[1];
      kcl_set_element(A->type, B->val, q, z);
      B->col[q] = (int32_t)i;
    }
  B->symmetry = A->symmetry;
  B->field = A->field;
  B->stored = A->stored;
  *out = B, B = NULL;
  return KCL_OK;
}

static int check_dense(kcl_context *ctx, int64_t rows, int64_t cols, kcl_type type) {
  int64_t bytes;
  KCL_CALL(kcl_type_check(ctx, "type", type));
  if (type != KCL_D && type != KCL_Z)
    return kcl_fail(ctx, KCL_USAGE, "dense columns are of type KCL_D or KCL_Z");
  if (rows >= 0 && cols >= 0 && !__builtin_mul_overflow(rows, cols, &bytes) &&
      !__builtin_mul_overflow(bytes, 16, &bytes))
    return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE, "%lld x %lld numbers: sizes are 0 or more, below 2^59 numbers",
                  (long long)rows, (long long)cols);
}

int kcl_dense_need(kcl_context *ctx, const char *name, const kcl_dense *B) {
  KCL_CALL(kcl_need(ctx, name, B));
  KCL_CALL(check_dense(ctx, B->rows, B->cols, B->type));
  return B->rows && B->cols ? kcl_need(ctx, name, B->val) : KCL_OK;
}

int kcl_dense_create(kcl_context *ctx, int64_t rows, int64_t cols, kcl_type type, kcl_dense **out) {
  KCL_OWNED_BY(kcl_dense_free) kcl_dense *B = NULL;
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = NULL;
  KCL_CALL(check_dense(ctx, rows, cols, type));
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *B, "a vector", (void **)&B));
  *B = (kcl_dense){.rows = rows, .cols = cols, .type = type};
  KCL_CALL(kcl_alloc(ctx, rows * cols, kcl_type_size(type), "a vector", (void **)&B->val));
  *out = B, B = NULL;
  return KCL_OK;
}

void kcl_dense_free(kcl_dense **B) {
  if (!B || !*B) return;
  free((*B)->val), free(*B);
  *B = NULL;
}

int kcl_dense_convert(kcl_context *ctx, const kcl_dense *B, kcl_type type, kcl_dense **out) {
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = NULL;
  KCL_CALL(kcl_dense_need(ctx, "B", B));
  if (kcl_type_complex(B->type) && !kcl_type_complex(type))
    return kcl_fail(ctx, KCL_USAGE, "the vector is complex and a real type (%c) was requested",
                    kcl_type_letter(type));
  KCL_CALL(kcl_dense_create(ctx, B->rows, B->cols, type, out));
  kcl_copy(type, (*out)->val, B->type, B->val, B->rows * B->cols, 1.0);
  return KCL_OK;
}
