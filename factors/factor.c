/* Incomplete factors: what is factored, and the factors as matrices of their own. */
#include "factors/factor.h"
#include "factors/eliminate.h"

/* ---------------------------------------------------------------- the matrix that is factored */

typedef struct row_copying {
  const kcl_csr *A;
  const kcl_matching *m;
  double shift;
} row_copying;

static double largest_modulus_of_row(const row_copying *c, int64_t from) {
  double most = 0;
  for (int64_t k = c->A->row_ptr[from]; k < c->A->row_ptr[from + 1]; k++) {
    const double a = kcl_abs(c->A->type, c->A->val, k);
    most = fmax(most, c->m ? a * c->m->r[from] * c->m->c[c->A->col[k]] : a);
  }
  return most;
}

/* Appends the diagonal entry, moved away from zero by the shift. */
static void put_diagonal(const row_copying *c, kcl_row_list *r, int64_t i, double most,
                         double a[2]) {
  const double size = hypot(a[0], a[1]), more = c->shift * most;
  if (size > 0)
    a[0] += more * a[0] / size, a[1] += more * a[1] / size;
  else
    a[0] = more;
  kcl_row_list_put(r, (int32_t)i, a);
}

static void copy_row(void *arg, kcl_row_list *r, int64_t i) {
  const row_copying *c = arg;
  const kcl_csr *A = c->A;
  const int64_t from = c->m ? c->m->row[i] : i;
  const double most = c->shift > 0 ? largest_modulus_of_row(c, from) : 0;
  bool diagonal = false;
  for (int64_t k = A->row_ptr[from]; k < A->row_ptr[from + 1]; k++) {
    const int32_t j = A->col[k];
    const double scale = c->m ? c->m->r[from] * c->m->c[j] : 1;
    double a[2], none[2] = {0, 0};
    kcl_element(A->type, A->val, k, a);
    a[0] *= scale, a[1] *= scale;
    if (j > i && !diagonal) put_diagonal(c, r, i, most, none);
    diagonal = diagonal || j >= i;
    if (j == i)
      put_diagonal(c, r, i, most, a);
    else
      kcl_row_list_put(r, j, a);
  }
  if (!diagonal) put_diagonal(c, r, i, most, (double[]){0, 0});
}

static double count_diagonal(const void *arg, int64_t from, int64_t to) {
  const kcl_csr *A = arg;
  const int64_t *const row_ptr = A->row_ptr;
  const int32_t *const col = A->col;
  int64_t entries = 0;
  for (int64_t i = from; i < to; i++)
    for (int64_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) entries += col[k] == i;
  return (double)entries;
}

int kcl_factor_matrix(kcl_context *ctx, const kcl_csr *A, const kcl_matching *m, double shift,
                      kcl_csr **out) {
  if (!m && shift == 0 && kcl_sum(A->rows, KCL_FEW_ROWS, count_diagonal, A) == (double)A->rows)
    return kcl_csr_convert(ctx, A, A->type, out);
  return kcl_row_list_make(ctx, A->rows, A->cols, A->type, copy_row, &(row_copying){A, m, shift},
                           NULL, out);
}

/* ---------------------------------------------------------------- the factors as matrices */

typedef struct factor_splitting {
  const kcl_csr *B; /* L below the diagonal; U on it and above */
  const int64_t *diagonal;
  const double *d;
} factor_splitting;

static void complex_product(const double a[2], const double b[2], double c[2]) {
  c[0] = a[0] * b[0] - a[1] * b[1], c[1] = a[0] * b[1] + a[1] * b[0];
}

/* Appends row i of D^-1 U without the diagonal. */
static void upper_row(void *arg, kcl_row_list *r, int64_t i) {
  const factor_splitting *s = arg;
  double d[2];
  kcl_element(s->B->type, s->d, i, d);
  for (int64_t k = s->diagonal[i] + 1; k < s->B->row_ptr[i + 1]; k++) {
    double a[2], b[2];
    kcl_element(s->B->type, s->B->val, k, a);
    complex_product(d, a, b);
    kcl_row_list_put(r, s->B->col[k], b);
  }
}

typedef struct lower_copying {
  const factor_splitting *s;
  kcl_csr *L;
} lower_copying;

static void copy_lower_rows(void *arg, int64_t from, int64_t to) {
  const lower_copying *c = arg;
  const kcl_csr *B = c->s->B;
  const size_t size = kcl_type_size(B->type);
  for (int64_t i = from; i < to; i++) {
    const size_t at = (size_t)c->L->row_ptr[i], k = (size_t)B->row_ptr[i],
                 count = (size_t)c->L->row_ptr[i + 1] - at;
    memcpy(c->L->col + at, B->col + k, count * sizeof *B->col);
    memcpy((char *)c->L->val + at * size, (const char *)B->val + k * size, count * size);
  }
}

static int split_lower(kcl_context *ctx, const factor_splitting *s, kcl_csr **L) {
  const kcl_csr *B = s->B;
  int64_t count = 0;
  for (int64_t i = 0; i < B->rows; i++) count += s->diagonal[i] - B->row_ptr[i];
  KCL_CALL(kcl_csr_create(ctx, B->rows, B->cols, count, B->type, L));
  for (int64_t i = 0; i < B->rows; i++)
    (*L)->row_ptr[i + 1] = (*L)->row_ptr[i] + s->diagonal[i] - B->row_ptr[i];
  kcl_for(B->rows, KCL_FEW_ROWS, copy_lower_rows, &(lower_copying){s, *L});
  return KCL_OK;
}

static int split_factors(kcl_context *ctx, const factor_splitting *s, bool upper, kcl_factors *f) {
  const kcl_csr *B = s->B;
  void *arg = (void *)(uintptr_t)s;
  int rc = split_lower(ctx, s, &f->L);
  return rc || !upper
             ? rc
             : kcl_row_list_make(ctx, B->rows, B->cols, B->type, upper_row, arg, NULL, &f->U);
}

typedef struct drop_finding {
  const kcl_csr *B;
  int64_t *diagonal;
} drop_finding;

static void find_in_rows(void *arg, int64_t from, int64_t to) {
  const drop_finding *f = arg;
  for (int64_t i = from; i < to; i++)
    for (int64_t k = f->B->row_ptr[i]; k < f->B->row_ptr[i + 1]; k++)
      if (f->B->col[k] == i) f->diagonal[i] = k;
}

static int find_diagonal(kcl_context *ctx, const kcl_csr *B, int64_t **out) {
  int rc = kcl_alloc(ctx, B->rows, sizeof **out, "a factorisation", (void **)out);
  if (!rc) kcl_for(B->rows, KCL_FEW_ROWS, find_in_rows, &(drop_finding){B, *out});
  return rc;
}

static int eliminate(kcl_context *ctx, kcl_csr *B, kcl_eliminating_row *row, bool upper,
                     kcl_factors *out, int64_t *zero) {
  KCL_OWNED_BY(kcl_factors_free) kcl_factors f = {NULL, NULL, NULL};
  KCL_OWNED int64_t *diagonal = NULL;
  *out = f, *zero = -1;
  KCL_CALL(find_diagonal(ctx, B, &diagonal));
  KCL_CALL(kcl_alloc_unset(ctx, B->rows, kcl_type_size(B->type), "pivots", (void **)&f.d));
  KCL_CALL(kcl_eliminate_rows(ctx, &(kcl_elimination){.B = B, .diagonal = diagonal, .d = f.d}, row,
                              zero));
  if (*zero >= 0) return KCL_OK;
  KCL_CALL(split_factors(ctx, &(factor_splitting){B, diagonal, f.d}, upper, &f));
  *out = f, f = (kcl_factors){NULL, NULL, NULL};
  return KCL_OK;
}

int kcl_factor_ilu(kcl_context *ctx, kcl_csr *B, kcl_factors *out, int64_t *zero) {
  return eliminate(ctx, B, B->type == KCL_Z ? kcl_eliminate_z : kcl_eliminate_d, true, out, zero);
}

int kcl_factor_ic(kcl_context *ctx, kcl_csr *B, kcl_factors *out, int64_t *zero) {
  return eliminate(ctx, B, B->type == KCL_Z ? kcl_cholesky_z : kcl_cholesky_d, false, out, zero);
}

/* ---------------------------------------------------------------- by a threshold */

typedef struct gathering {
  const kcl_kept_row *row;
  kcl_csr *C;
} gathering;

static void gather_rows(void *arg, int64_t from, int64_t to) {
  const gathering *g = arg;
  const size_t size = kcl_type_size(g->C->type);
  for (int64_t i = from; i < to; i++) {
    const kcl_kept_row r = g->row[i];
    const int64_t at = g->C->row_ptr[i];
    if (!r.count) continue;
    memcpy(g->C->col + at, r.col, (size_t)r.count * sizeof *r.col);
    memcpy((char *)g->C->val + (size_t)at * size, r.val, (size_t)r.count * size);
  }
}

static int gather_kept_rows(kcl_context *ctx, const kcl_csr *B, const kcl_kept_row *row,
                            kcl_csr **out) {
  int64_t count = 0;
  for (int64_t i = 0; i < B->rows; i++) count += row[i].count;
  KCL_CALL(kcl_csr_create(ctx, B->rows, B->cols, count, B->type, out));
  for (int64_t i = 0; i < B->rows; i++) (*out)->row_ptr[i + 1] = (*out)->row_ptr[i] + row[i].count;
  kcl_for(B->rows, KCL_FEW_ROWS, gather_rows, &(gathering){row, *out});
  return KCL_OK;
}

static int allocate_threshold(kcl_context *ctx, kcl_threshold *e) {
  const char *what = "a factorisation";
  const int64_t n = e->B->rows;
  KCL_CALL(kcl_alloc(ctx, n, sizeof *e->L, what, (void **)&e->L));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *e->U, what, (void **)&e->U));
  KCL_CALL(kcl_alloc(ctx, n, kcl_type_size(e->B->type), what, &e->d));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *e->done, what, (void **)&e->done));
  return kcl_alloc(ctx, e->threads, sizeof *e->memory, what, (void **)&e->memory);
}

static void release_threshold(kcl_threshold *e) {
  for (int t = 0; e->memory && t < e->threads; t++)
    for (kcl_memory_block *b = e->memory[t], *next; b; b = next) next = b->next, free(b);
  free(e->L);
  free(e->U);
  free(e->d);
  free((void *)e->done);
  free(e->memory);
}

int kcl_factor_ilut(kcl_context *ctx, const kcl_csr *B, int p, double tau, kcl_factors *out,
                    int64_t *zero) {
  KCL_OWNED_BY(release_threshold)
  kcl_threshold e = {.B = B, .p = p, .tau = tau, .bad = B->rows};
  KCL_OWNED_BY(kcl_factors_free) kcl_factors f = {NULL, NULL, NULL};
  e.threads = B->rows < KCL_FEW_ROWS / 8 && !KCL_ALL_THREADS ? 1 : kcl_threads();
  *out = f, *zero = -1;
  KCL_CALL(allocate_threshold(ctx, &e));
  kcl_parallel(e.threads, B->type == KCL_Z ? kcl_threshold_z : kcl_threshold_d, &e);
  if (e.failed) return kcl_fail(ctx, KCL_MEMORY, "out of memory: factors of a matrix");
  if (e.bad < B->rows) *zero = e.bad;
  if (*zero >= 0) return KCL_OK;
  KCL_CALL(gather_kept_rows(ctx, B, e.L, &f.L));
  KCL_CALL(gather_kept_rows(ctx, B, e.U, &f.U));
  f.d = e.d, e.d = NULL;
  *out = f, f = (kcl_factors){NULL, NULL, NULL};
  return KCL_OK;
}

/* ---------------------------------------------------------------- */

void kcl_factors_free(kcl_factors *f) {
  kcl_csr_free(&f->L);
  kcl_csr_free(&f->U);
  free(f->d);
  *f = (kcl_factors){NULL, NULL, NULL};
}
