/* Matrices from the host to a device and back. The link is slow (20 GB/s on an NVIDIA H200, 3 % of what a kernel reads), so
 * what can be said in fewer bytes is, and kernels restore it (kernels/sparse_rows.cl): rows by their number among few distinct
 * ones; else columns as their distance from the diagonal in 16 bits, values as float. */
#include "core/matrix/repeats.h"
#include "multigrid/opencl/launch.h"

enum { SAMPLED_ENTRIES = 1000 };

/* ---------------------------------------------------------------- columns */

/* The largest distance of a column from the diagonal. Columns ascend within a row. */
static double farthest(const void *arg, int64_t from, int64_t to) {
  const kcl_csr *A = arg;
  int64_t most = 0;
  for (int64_t i = from; i < to; i++) {
    if (A->row_ptr[i] == A->row_ptr[i + 1]) continue;
    const int64_t below = i - A->col[A->row_ptr[i]], above = A->col[A->row_ptr[i + 1] - 1] - i;
    most = below > most ? below : most, most = above > most ? above : most;
  }
  return (double)most;
}

/* Entries of A from number `first` on. */
typedef struct entry_run {
  const kcl_csr *A;
  int64_t first;
  int16_t *to;
} entry_run;

static void write_distances(void *arg, int64_t from, int64_t to) {
  const entry_run *r = arg;
  const kcl_csr *A = r->A;
  const int64_t first = r->first + from, end = r->first + to;
  int16_t *out = r->to - r->first;
  for (int64_t k = first, i = kcl_csr_row_from(A, first + 1) - 1; k < end; i++)
    for (; k < A->row_ptr[i + 1] && k < end; k++) out[k] = (int16_t)(A->col[k] - (int32_t)i);
}

static void fill_distances(const void *source, int64_t from, int64_t count, void *to) {
  kcl_for(count, KCL_FEW, write_distances, &(entry_run){source, from, to});
}

static int upload_distances(kcl_device_setup *s, const kcl_csr *A, const kcl_device_csr *out) {
  const kcl_upload u = {sizeof(int16_t), A->nnz, fill_distances, A};
  const int team = kcl_amg_device_team(out);
  void *distance;
  KCL_CALL(kcl_amg_device_memory(s, A->nnz, sizeof(int16_t), &distance));
  KCL_CALL(kcl_opencl_write(kcl_amg_device_context(s), distance, &u, "uploading columns"));
  KCL_CALL(KCL_LAUNCH_EACH(s, KCL_KERNEL_restore_columns, A->rows * team, KCL_ARG_BUFFER(out->ptr),
                           KCL_ARG_INT(A->rows), KCL_ARG_INT(team), KCL_ARG_BUFFER(distance),
                           KCL_ARG_BUFFER(out->col)));
  kcl_amg_device_drop(s, distance);
  return KCL_OK;
}

static int upload_columns(kcl_device_setup *s, const kcl_csr *A, const kcl_device_csr *out) {
  const kcl_upload u = {1, 4 * A->nnz, kcl_fill_bytes, A->col};
  if (kcl_largest(A->rows, KCL_FEW_ROWS, farthest, A) <= INT16_MAX)
    return upload_distances(s, A, out);
  return kcl_opencl_write(kcl_amg_device_context(s), out->col, &u, "uploading columns");
}

/* ---------------------------------------------------------------- values */

/* Values as float; lost: one of them is not representable. */
typedef struct value_narrowing {
  const double *val;
  float *to;
  _Atomic bool *lost;
} value_narrowing;

static void narrow_to_float(void *arg, int64_t from, int64_t to) {
  const value_narrowing *n = arg;
  const double *val = n->val;
  float *out = n->to;
  int differ = 0;
  for (int64_t k = from; k < to; k++) out[k] = (float)val[k], differ |= (double)out[k] != val[k];
  if (differ) *n->lost = true;
}

static void fill_narrow(const void *source, int64_t from, int64_t count, void *to) {
  const value_narrowing *n = source;
  kcl_for(count, KCL_FEW, narrow_to_float, &(value_narrowing){n->val + from, to, n->lost});
}

/* Does float represent a sample of A's values? */
static bool look_narrow(const kcl_csr *A) {
  const double *val = A->val;
  bool narrow = true;
  for (int64_t k = 0; k < A->nnz && narrow; k += A->nnz / SAMPLED_ENTRIES + 1)
    narrow = (double)(float)val[k] == val[k];
  return narrow;
}

/* Uploads the values as float; *lost: one of them is not representable, and the upload is useless. */
static int upload_narrow(kcl_device_setup *s, const kcl_csr *A, const kcl_device_csr *out,
                         bool *lost) {
  _Atomic bool failed = false;
  const value_narrowing all = {.val = A->val, .lost = &failed};
  const kcl_upload same = {1, 4 * A->nnz, kcl_fill_bytes, A->val},
                   narrowed = {4, A->nnz, fill_narrow, &all};
  void *val;
  KCL_CALL(kcl_amg_device_memory(s, A->nnz, sizeof(float), &val));
  KCL_CALL(kcl_opencl_write(kcl_amg_device_context(s), val, A->type == KCL_S ? &same : &narrowed,
                            "uploading values"));
  *lost = failed;
  if (!*lost)
    KCL_CALL(KCL_LAUNCH_EACH(s, KCL_KERNEL_widen, A->nnz, KCL_ARG_BUFFER(val), KCL_ARG_INT(A->nnz),
                             KCL_ARG_BUFFER(out->val)));
  kcl_amg_device_drop(s, val);
  return KCL_OK;
}

static int upload_values(kcl_device_setup *s, const kcl_csr *A, const kcl_device_csr *out) {
  const kcl_upload u = {1, 8 * A->nnz, kcl_fill_bytes, A->val};
  bool lost = A->type == KCL_D && !look_narrow(A);
  int rc = lost ? KCL_OK : upload_narrow(s, A, out, &lost);
  if (rc || !lost) return rc;
  return kcl_opencl_write(kcl_amg_device_context(s), out->val, &u, "uploading values");
}

/* ---------------------------------------------------------------- repeated rows */

enum {
  WORTH = 8, /* entries per entry of the distinct rows */
  RUN = 16   /* rows of a mean run of equal ones: then they are found sooner than sent */
};

/* The entries of the distinct rows, one row after another. */
typedef struct distinct_rows {
  int64_t rows, entries;
  int32_t *start, *distance; /* [rows + 1], [entries] */
  double *val;               /* [entries] */
} distinct_rows;

static int fill_distinct_rows(kcl_context *ctx, const kcl_repeats *r, distinct_rows *t) {
  t->rows = r->count, t->entries = kcl_repeats_entries(r);
  KCL_CALL(kcl_alloc(ctx, t->rows + 1, sizeof *t->start, "distinct rows", (void **)&t->start));
  KCL_CALL(kcl_alloc(ctx, t->entries, sizeof *t->distance, "distinct rows", (void **)&t->distance));
  KCL_CALL(kcl_alloc(ctx, t->entries, sizeof *t->val, "distinct rows", (void **)&t->val));
  kcl_repeats_rows(r, KCL_D, t->start, t->distance, t->val);
  return KCL_OK;
}

/* Sends an array to new memory. */
static int send_array(kcl_device_setup *s, const void *from, int64_t count, size_t element,
                      void **to) {
  const kcl_upload u = {1, count * (int64_t)element, kcl_fill_bytes, from};
  int rc = kcl_amg_device_memory(s, count, element, to);
  return rc ? rc : kcl_opencl_write(kcl_amg_device_context(s), *to, &u, "uploading rows");
}

static int restore(kcl_device_setup *s, const distinct_rows *t, const uint16_t *code,
                   const kcl_device_csr *out) {
  const int team = kcl_amg_device_team(out);
  void *codes, *start, *distance, *val;
  int note;
  KCL_CALL(send_array(s, code, out->rows, sizeof *code, &codes));
  KCL_CALL(send_array(s, t->start, t->rows + 1, sizeof *t->start, &start));
  KCL_CALL(send_array(s, t->distance, t->entries, sizeof *t->distance, &distance));
  KCL_CALL(send_array(s, t->val, t->entries, sizeof *t->val, &val));
  KCL_CALL(KCL_LAUNCH_EACH(s, KCL_KERNEL_count_repeats, out->rows, KCL_ARG_INT(out->rows),
                           KCL_ARG_BUFFER(codes), KCL_ARG_BUFFER(start), KCL_ARG_BUFFER(out->ptr)));
  KCL_CALL(kcl_amg_device_scan(s, out->ptr, out->rows, out->ptr, &note));
  KCL_CALL(KCL_LAUNCH_EACH(s, KCL_KERNEL_restore_rows, out->rows * team, KCL_ARG_BUFFER(out->ptr),
                           KCL_ARG_INT(out->rows), KCL_ARG_INT(team), KCL_ARG_BUFFER(codes),
                           KCL_ARG_BUFFER(start), KCL_ARG_BUFFER(distance), KCL_ARG_BUFFER(val),
                           KCL_ARG_BUFFER(out->col), KCL_ARG_BUFFER(out->val)));
  kcl_amg_device_drop(s, codes), kcl_amg_device_drop(s, start);
  kcl_amg_device_drop(s, distance), kcl_amg_device_drop(s, val);
  return KCL_OK;
}

/* Uploads the distinct rows and a code per row. *done false: too many rows differ. */
static int upload_repeats(kcl_device_setup *s, const kcl_csr *A, kcl_distinct_rows *distinct,
                          const kcl_device_csr *out, bool *done) {
  kcl_context *ctx = kcl_amg_device_context(s);
  kcl_repeats r = {0};
  distinct_rows t = {0};
  int rc;
  KCL_TRY(kcl_repeats_find_rows(ctx, A, distinct, true, &r));
  if (!(*done = kcl_repeats_fit(&r))) goto done;
  KCL_TRY(fill_distinct_rows(ctx, &r, &t));
  KCL_TRY(restore(s, &t, r.code, out));
done:
  kcl_repeats_free(&r);
  free(t.start);
  free(t.distance);
  free(t.val);
  return rc;
}

/* ---------------------------------------------------------------- matrices */

static bool worth_numbering(const kcl_csr *A, const kcl_stats *known,
                            const kcl_distinct_rows *distinct) {
  return known && known->row_patterns > 0 && known->row_patterns <= KCL_MOST_REPEATS &&
         WORTH * known->pattern_entries <= A->nnz &&
         (kcl_distinct_rows_found(distinct, A) || RUN * known->pattern_runs <= A->rows);
}

static int upload_all(kcl_device_setup *s, const kcl_csr *A, const kcl_device_csr *out) {
  const kcl_upload ptr = {4, A->rows + 1, kcl_fill_narrow, A->row_ptr};
  int rc = kcl_opencl_write(kcl_amg_device_context(s), out->ptr, &ptr, "uploading row pointers");
  if (!rc) rc = upload_values(s, A, out);
  return rc ? rc : upload_columns(s, A, out);
}

int kcl_amg_device_upload(kcl_device_setup *s, const kcl_csr *A, const kcl_stats *known,
                          kcl_distinct_rows *distinct, kcl_device_csr *out) {
  bool done = false;
  *out = (kcl_device_csr){.rows = A->rows, .cols = A->cols, .nnz = A->nnz};
  out->longest = known ? known->row_max : kcl_csr_longest_row(A);
  KCL_CALL(kcl_amg_device_memory(s, A->rows, 4, &out->ptr));
  KCL_CALL(kcl_amg_device_memory(s, A->nnz, 4, &out->col));
  KCL_CALL(kcl_amg_device_memory(s, A->nnz, 8, &out->val));
  if (worth_numbering(A, known, distinct)) KCL_CALL(upload_repeats(s, A, distinct, out, &done));
  return done ? KCL_OK : upload_all(s, A, out);
}

int kcl_amg_device_download(kcl_device_setup *s, kcl_device_csr *A, kcl_csr **out) {
  KCL_OWNED int32_t *ptr = NULL;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *C = *out = NULL;
  KCL_CALL(kcl_amg_device_measure(s, A));
  KCL_CALL(kcl_csr_create(kcl_amg_device_context(s), A->rows, A->cols, A->nnz, KCL_D, &C));
  KCL_CALL(kcl_alloc(kcl_amg_device_context(s), A->rows + 1, sizeof *ptr, "row pointers",
                     (void **)&ptr));
  KCL_CALL(kcl_amg_device_read(s, A->ptr, 0, (size_t)(A->rows + 1) * sizeof *ptr, ptr));
  for (int64_t i = 0; i <= A->rows; i++) C->row_ptr[i] = ptr[i];
  if (A->nnz) KCL_CALL(kcl_amg_device_read(s, A->col, 0, (size_t)A->nnz * sizeof *C->col, C->col));
  if (A->nnz) KCL_CALL(kcl_amg_device_read(s, A->val, 0, (size_t)A->nnz * sizeof(double), C->val));
  *out = C, C = NULL;
  return KCL_OK;
}
