/* Levels of fill (Saad 2003, section 10.3.3), by the pattern alone. The entries of B have level 0; eliminating column k of row i with row
 * k gives (i, j) the level lev(i, k) + lev(k, j) + 1, or a lower one that it has. With B come the positions up to a level, as zeros.
 * Cost: the operations of the elimination itself, one thread.
 */
#include "factors/factor.h"

/* The rows that are made: columns ascending, each with its level. */
typedef struct filled_rows {
  int64_t *row_ptr; /* [n + 1] */
  int64_t *upper;   /* [n] where the entries behind the diagonal begin */
  int32_t *col;     /* [capacity] */
  uint8_t *level;   /* [capacity] */
  int64_t count, capacity;
} filled_rows;

/* The row that is being made: a list of ascending columns that ends with n. */
typedef struct open_row {
  int32_t *next;  /* [n + 1] the column behind this one; [n]: the first */
  uint8_t *level; /* [n] */
  int64_t i, count;
  int n, most; /* levels, at most */
} open_row;

static int allocate_fill(kcl_context *ctx, const kcl_csr *B, filled_rows *f, open_row *r) {
  const char *what = "levels of fill";
  KCL_CALL(kcl_alloc_unset(ctx, B->rows + 1, sizeof *f->row_ptr, what, (void **)&f->row_ptr));
  KCL_CALL(kcl_alloc_unset(ctx, B->rows, sizeof *f->upper, what, (void **)&f->upper));
  KCL_CALL(kcl_alloc_unset(ctx, B->rows + 1, sizeof *r->next, what, (void **)&r->next));
  return kcl_alloc_unset(ctx, B->rows, sizeof *r->level, what, (void **)&r->level);
}

static void load_columns(open_row *r, const kcl_csr *B) {
  int32_t at = r->n;
  for (int64_t k = B->row_ptr[r->i]; k < B->row_ptr[r->i + 1]; k++) {
    r->level[B->col[k]] = 0;
    at = r->next[at] = B->col[k];
  }
  r->next[at] = r->n;
  r->count = B->row_ptr[r->i + 1] - B->row_ptr[r->i];
}

/* Adds the columns of row k behind its diagonal. */
static void merge_row(open_row *r, const filled_rows *f, int32_t k) {
  int32_t at = k;
  for (int64_t m = f->upper[k]; m < f->row_ptr[k + 1]; m++) {
    const int32_t j = f->col[m];
    const int level = r->level[k] + f->level[m] + 1;
    if (level > r->most) continue;
    while (r->next[at] < j) at = r->next[at];
    if (r->next[at] != j) {
      r->next[j] = r->next[at], r->next[at] = j;
      r->level[j] = (uint8_t)level, r->count++;
    } else if (level < r->level[j]) {
      r->level[j] = (uint8_t)level;
    }
    at = j;
  }
}

static int append_row(kcl_context *ctx, const open_row *r, filled_rows *f) {
  if (f->count + r->count > f->capacity) {
    const int64_t capacity = 2 * f->capacity + r->count;
    int32_t *col = realloc(f->col, (size_t)capacity * sizeof *col);
    if (col) f->col = col;
    uint8_t *level = realloc(f->level, (size_t)capacity);
    if (level) f->level = level;
    if (!col || !level) return kcl_fail(ctx, KCL_MEMORY, "out of memory: levels of fill");
    f->capacity = capacity;
  }
  f->upper[r->i] = f->count;
  for (int32_t j = r->next[r->n]; j < r->n; j = r->next[j]) {
    f->col[f->count] = j, f->level[f->count++] = r->level[j];
    if (j <= r->i) f->upper[r->i] = f->count;
  }
  f->row_ptr[r->i + 1] = f->count;
  return KCL_OK;
}

static int find_fill(kcl_context *ctx, const kcl_csr *B, int64_t limit, open_row *r,
                     filled_rows *f) {
  int rc = KCL_OK;
  f->row_ptr[0] = 0;
  for (r->i = 0; r->i < B->rows && f->count <= limit && !rc; r->i++) {
    load_columns(r, B);
    for (int32_t k = r->next[r->n]; k < r->i; k = r->next[k]) merge_row(r, f, k);
    rc = append_row(ctx, r, f);
  }
  return rc;
}

typedef struct value_filling {
  const kcl_csr *B;
  kcl_csr *C; /* with zeros */
} value_filling;

static void fill_values(void *arg, int64_t from, int64_t to) {
  const value_filling *v = arg;
  const size_t size = kcl_type_size(v->B->type);
  for (int64_t i = from; i < to; i++) {
    int64_t at = v->C->row_ptr[i];
    for (int64_t k = v->B->row_ptr[i]; k < v->B->row_ptr[i + 1]; k++, at++) {
      while (v->C->col[at] != v->B->col[k]) at++;
      memcpy((char *)v->C->val + (size_t)at * size, (const char *)v->B->val + (size_t)k * size,
             size);
    }
  }
}

int kcl_factor_fill(kcl_context *ctx, const kcl_csr *B, int most, int64_t limit, kcl_csr **out) {
  filled_rows f = {.capacity = 0};
  open_row r = {.n = (int)B->rows, .most = most};
  int rc;
  *out = NULL;
  KCL_TRY(allocate_fill(ctx, B, &f, &r));
  KCL_TRY(find_fill(ctx, B, limit, &r, &f));
  if (f.count > limit) goto done;
  KCL_TRY(kcl_csr_create(ctx, B->rows, B->cols, f.count, B->type, out));
  memcpy((*out)->row_ptr, f.row_ptr, (size_t)(B->rows + 1) * sizeof *f.row_ptr);
  if (f.count) memcpy((*out)->col, f.col, (size_t)f.count * sizeof *f.col);
  kcl_for(B->rows, KCL_FEW_ROWS, fill_values, &(value_filling){B, *out});
done:
  free(f.row_ptr), free(f.upper), free(f.col), free(f.level), free(r.next), free(r.level);
  return rc;
}
