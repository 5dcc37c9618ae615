/* The rows of one rank, split: the interior, whose columns are its own, and the boundary, whose columns are elements of x that
 * other ranks own, the halo, in the order of their numbers. Both are kept as they were given, for certificates and A^H; devices
 * get the same arrays, unless they are scaled or of another precision.
 *
 *   memory   own rows once where they may be taken: the interior remains in their arrays
 */
#include "distributed/distributed.h"

/* ---------------------------------------------------------------- which columns */

static int by_number(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The first of this rank's columns. */
static int64_t first_column(const kcl_domain *d) { return d->first[d->comm->ranks.rank]; }

static bool is_own_column(const kcl_domain *d, int64_t column) {
  return column >= first_column(d) && column < first_column(d) + d->columns;
}

/* Less memory where that is possible, with the room behind its end that kcl_alloc leaves. */
static void shrink(void **array, int64_t count, size_t size) {
  void *less = realloc(*array, ((size_t)count * size + 127) / 64 * 64);
  if (less) *array = less;
}

int kcl_split_columns(kcl_domain *d, const kcl_csr *own) {
  int64_t count = 0, unique = 0;
  for (int64_t k = 0; k < own->nnz; k++) count += !is_own_column(d, own->col[k]);
  KCL_CALL(kcl_alloc(d->comm->ctx, count, sizeof *d->column, "the halo", (void **)&d->column));
  count = 0;
  for (int64_t k = 0; k < own->nnz; k++)
    if (!is_own_column(d, own->col[k])) d->column[count++] = own->col[k];
  qsort(d->column, (size_t)count, sizeof *d->column, by_number);
  for (int64_t i = 0; i < count; i++)
    if (!unique || d->column[unique - 1] != d->column[i]) d->column[unique++] = d->column[i];
  d->halo.count = unique;
  shrink((void **)&d->column, unique, sizeof *d->column);
  return KCL_OK;
}

static int64_t place_in_halo(const kcl_domain *d, int64_t column) {
  const int64_t *at = bsearch(&column, d->column, (size_t)d->halo.count, sizeof column, by_number);
  return at - d->column;
}

/* ---------------------------------------------------------------- the rows */

static void put_entry_at(kcl_csr *to, int64_t *at, int64_t column, const kcl_csr *from, int64_t k) {
  const size_t size = kcl_type_size(from->type);
  to->col[*at] = (int32_t)column;
  memmove((char *)to->val + (size_t)*at * size, (const char *)from->val + (size_t)k * size, size);
  ++*at;
}

/* The boundary, with room for its rows; its entries are counted. */
static int create_outside(kcl_domain *d, const kcl_csr *own) {
  kcl_context *ctx = d->comm->ctx;
  int64_t entries = 0, rows = 0;
  for (int64_t i = 0; i < own->rows; i++) {
    const int64_t before = entries;
    for (int64_t k = own->row_ptr[i]; k < own->row_ptr[i + 1]; k++)
      entries += !is_own_column(d, own->col[k]);
    rows += entries > before;
  }
  if (d->columns + d->halo.count > INT32_MAX)
    return kcl_fail(ctx, KCL_USAGE, "a rank's rows and its halo are more than 2^31 - 1");
  KCL_CALL(kcl_csr_create(ctx, rows, d->halo.count, entries, own->type, &d->given.outside));
  return kcl_alloc(ctx, rows, sizeof *d->row, "the boundary", (void **)&d->row);
}

/* `in` may be `own`: what is written has been read. */
static void split_rows(kcl_domain *d, const kcl_csr *own, kcl_csr *in) {
  const int64_t first = first_column(d), rows = own->rows;
  kcl_csr *out = d->given.outside;
  int64_t at[2] = {0}, from = 0, row = 0;
  for (int64_t i = 0; i < rows; i++) {
    const int64_t end = own->row_ptr[i + 1], before = at[1];
    for (int64_t k = from; k < end; k++) {
      const int64_t j = own->col[k];
      if (is_own_column(d, j))
        put_entry_at(in, &at[0], j - first, own, k);
      else
        put_entry_at(out, &at[1], place_in_halo(d, j), own, k);
    }
    in->row_ptr[i + 1] = at[0], from = end;
    if (at[1] == before) continue;
    d->row[row] = (int32_t)i, out->row_ptr[++row] = at[1];
  }
}

/* The interior in the arrays of the rows, or beside them. */
static int place_interior(kcl_domain *d, const kcl_csr *own, kcl_csr **taken) {
  if (taken && !own->mapped) {
    d->given.interior = *taken, *taken = NULL;
    return KCL_OK;
  }
  return kcl_csr_create(d->comm->ctx, own->rows, d->columns, own->nnz - d->given.outside->nnz,
                        own->type, &d->given.interior);
}

int kcl_split_rows(kcl_domain *d, const kcl_csr *own, kcl_csr **taken) {
  const kcl_field field = own->field;
  const kcl_symmetry symmetry = own->symmetry;
  KCL_CALL(create_outside(d, own));
  KCL_CALL(place_interior(d, own, taken));
  kcl_csr *in = d->given.interior;
  split_rows(d, own, in);
  in->nnz = in->stored = in->row_ptr[in->rows], in->cols = d->columns;
  in->symmetry = in->rows == in->cols ? symmetry : KCL_GENERAL;
  in->field = d->given.outside->field = field;
  if (in != own) return KCL_OK;
  shrink((void **)&in->col, in->nnz, sizeof *in->col);
  shrink(&in->val, in->nnz, kcl_type_size(in->type));
  return KCL_OK;
}

/* ---------------------------------------------------------------- for the device */

static int convert_part(kcl_context *ctx, kcl_csr *A, kcl_type type, const kcl_scaling *s,
                        kcl_csr **out) {
  *out = A;
  if (A->type == type && !s->row && !s->unit) return KCL_OK;
  int rc = kcl_csr_convert(ctx, A, type, out);
  if (!rc && (s->row || s->unit))
    kcl_scale_values(s, A, type, (*out)->val), (*out)->symmetry = KCL_GENERAL;
  return rc;
}

/* The exponents of the boundary's rows and columns. */
static int scaling_outside(const kcl_domain *d, const kcl_scaling *s, kcl_scaling *out) {
  const kcl_csr *B = d->given.outside;
  *out = (kcl_scaling){.unit = s->unit};
  if (!s->row) return KCL_OK;
  KCL_CALL(kcl_alloc(d->comm->ctx, B->rows, sizeof *out->row, "the scaling", (void **)&out->row));
  for (int64_t i = 0; i < B->rows; i++) out->row[i] = s->row[d->row[i]];
  out->col = s->col + d->columns;
  return KCL_OK;
}

static void free_copies(kcl_domain *d) {
  if (d->device.interior != d->given.interior) kcl_csr_free(&d->device.interior);
  if (d->device.outside != d->given.outside) kcl_csr_free(&d->device.outside);
  d->device = (kcl_split){0}, d->halo.outside = d->given.outside;
}

int kcl_domain_convert(kcl_domain *d, kcl_type type, const kcl_scaling *s) {
  kcl_context *ctx = d->comm->ctx;
  kcl_scaling outside;
  free_copies(d);
  int rc = scaling_outside(d, s, &outside);
  if (!rc) rc = convert_part(ctx, d->given.interior, type, s, &d->device.interior);
  if (!rc) rc = convert_part(ctx, d->given.outside, type, &outside, &d->device.outside);
  free(outside.row);
  d->halo.outside = d->device.outside;
  return rc;
}

void kcl_split_free(kcl_domain *d) {
  free_copies(d);
  kcl_csr_free(&d->given.interior), kcl_csr_free(&d->given.outside);
  kcl_csr_free(&d->in_order.interior), kcl_csr_free(&d->in_order.outside);
}

/* ---------------------------------------------------------------- rows in one order */

/* d->take: own elements of x that rows of the boundary need. taken [columns]: 1 + their places there. */
static int take_elements(kcl_domain *d, int32_t *taken) {
  const kcl_csr *A = d->device.interior;
  for (int64_t b = 0; b < d->device.outside->rows; b++)
    for (int64_t k = A->row_ptr[d->row[b]]; k < A->row_ptr[d->row[b] + 1]; k++)
      taken[A->col[k]] = 1;
  for (int64_t j = 0; j < d->columns; j++)
    if (taken[j]) taken[j] = (int32_t)++d->halo.own;
  int rc = kcl_alloc(d->comm->ctx, d->halo.own, sizeof *d->take, "the halo", (void **)&d->take);
  for (int64_t j = 0; j < d->columns && !rc; j++)
    if (taken[j]) d->take[taken[j] - 1] = (int32_t)j;
  d->halo.take = d->take;
  return rc;
}

/* Row b of the boundary as a whole, its entries in the order of their columns. */
static void join_row_parts(kcl_domain *d, int64_t b, const int32_t *taken, int64_t *at) {
  const kcl_csr *A = d->device.interior, *B = d->device.outside;
  const int64_t i = d->row[b], end = B->row_ptr[b + 1];
  kcl_csr *to = d->in_order.outside;
  int64_t k = B->row_ptr[b];
  for (; k < end && d->column[B->col[k]] < first_column(d); k++)
    put_entry_at(to, at, d->halo.own + B->col[k], B, k);
  for (int64_t a = A->row_ptr[i]; a < A->row_ptr[i + 1]; a++)
    put_entry_at(to, at, taken[A->col[a]] - 1, A, a);
  for (; k < end; k++) put_entry_at(to, at, d->halo.own + B->col[k], B, k);
  to->row_ptr[b + 1] = *at;
}

static void fill_in_order(kcl_domain *d, const int32_t *taken) {
  const kcl_csr *A = d->device.interior;
  const int64_t boundary = d->device.outside->rows;
  kcl_csr *in = d->in_order.interior;
  int64_t at[2] = {0};
  for (int64_t i = 0, b = 0; i < A->rows; i++) {
    if (b < boundary && d->row[b] == i)
      join_row_parts(d, b++, taken, &at[1]);
    else
      for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
        put_entry_at(in, &at[0], A->col[k], A, k);
    in->row_ptr[i + 1] = at[0];
  }
}

int kcl_domain_order(kcl_domain *d) {
  const kcl_csr *A = d->device.interior, *B = d->device.outside;
  kcl_context *ctx = d->comm->ctx;
  int64_t beside = 0; /* own entries of the boundary's rows */
  KCL_OWNED int32_t *taken = NULL;
  for (int64_t b = 0; b < B->rows; b++) beside += A->row_ptr[d->row[b] + 1] - A->row_ptr[d->row[b]];
  KCL_CALL(kcl_alloc(ctx, d->columns, sizeof *taken, "the boundary", (void **)&taken));
  KCL_CALL(take_elements(d, taken));
  KCL_CALL(
      kcl_csr_create(ctx, A->rows, d->columns, A->nnz - beside, A->type, &d->in_order.interior));
  KCL_CALL(kcl_csr_create(ctx, B->rows, d->halo.own + d->halo.count, B->nnz + beside, A->type,
                          &d->in_order.outside));
  d->in_order.interior->field = d->in_order.outside->field = A->field;
  fill_in_order(d, taken);
  return KCL_OK;
}
