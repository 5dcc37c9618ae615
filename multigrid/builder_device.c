/* Matrices of multigrid on the device: multigrid/opencl. */
#include "multigrid/builder.h"
#include "multigrid/smooth.h"

static void device_give(const kcl_device_csr *C, kcl_built *out) {
  *out = (kcl_built){.rows = C->rows, .cols = C->cols, .nnz = C->nnz, .device = *C};
}

static int device_take(kcl_builder *b, const kcl_csr *A, kcl_built *out) {
  kcl_device_csr C;
  int rc = kcl_amg_device_open(b->M->ctx, b->M->type, b->near_null.vectors > 0, &b->setup);
  if (!rc) rc = kcl_amg_device_upload(b->setup, A, b->stats, b->distinct, &C);
  if (!rc) device_give(&C, out);
  return rc;
}

static void device_free_built(kcl_builder *b, kcl_built *A) {
  if (A->device.ptr) kcl_amg_device_drop_matrix(b->setup, &A->device);
  *A = (kcl_built){0};
}

static int device_interpolation(kcl_builder *b, const kcl_built *A, const kcl_coarsening_rule *rule,
                                kcl_built *P, bool *made) {
  kcl_device_csr C;
  int rc = kcl_amg_device_interpolation(b->setup, &A->device, rule, &C, made);
  if (!rc && *made) device_give(&C, P);
  return rc;
}

static int send_vectors(kcl_builder *b, int64_t rows) {
  kcl_near_null *v = &b->near_null;
  if (v->device) return KCL_OK;
  return v->B ? kcl_amg_device_send_vectors(b->setup, v->B, rows * v->vectors, &v->device)
              : kcl_amg_device_ones(b->setup, rows, &v->device);
}

static int device_aggregation(kcl_builder *b, const kcl_built *A, const kcl_aggregation_rule *rule,
                              kcl_built *P, bool *made) {
  kcl_device_csr C;
  int rc = send_vectors(b, A->rows);
  if (!rc)
    rc = kcl_amg_device_aggregation(b->setup, &A->device, rule, &b->near_null.device, &C, made);
  if (rc || !*made) return rc;
  device_give(&C, P), b->near_null.block = rule->vectors;
  return KCL_OK;
}

/* Statistics for its format, ahead of `keep`; with no fewer entries than it has. */
static int look_ahead(kcl_builder *b, kcl_device_csr *A) {
  const kcl_format *f;
  int rc = kcl_precond_level_format(b->M, A->rows, A->nnz, &f);
  return rc || strcmp(f->name, "sell") ? rc : kcl_amg_device_slices(b->setup, A);
}

static int device_transpose(kcl_builder *b, kcl_built *A, kcl_built *out) {
  kcl_device_csr C;
  int rc = kcl_amg_device_transpose(b->setup, &A->device, &C);
  if (!rc) rc = look_ahead(b, &A->device);
  if (!rc) rc = look_ahead(b, &C);
  if (!rc) device_give(&C, out);
  return rc;
}

static int multiply_on_device(kcl_builder *b, const kcl_built *A, const kcl_built *B,
                              kcl_built *out) {
  kcl_device_csr C;
  int rc = kcl_amg_device_product(b->setup, &A->device, &B->device, &C);
  if (!rc) device_give(&C, out);
  return rc;
}

static int device_galerkin(kcl_builder *b, const kcl_built *R, const kcl_built *A,
                           const kcl_built *P, kcl_built *pattern, kcl_galerkin_shape *shape,
                           kcl_built *out) {
  const bool known = pattern && shape->known;
  kcl_device_csr C;
  int rc = kcl_amg_device_galerkin(b->setup, &R->device, &A->device, &P->device,
                                   known ? &pattern->device : NULL, shape, &C);
  if (!rc && known) *pattern = (kcl_built){0};
  if (!rc) device_give(&C, out);
  return rc;
}

static int device_truncate_rows(kcl_builder *b, const kcl_built *A, int most, kcl_built *out) {
  kcl_device_csr C;
  int rc = kcl_amg_device_truncate(b->setup, &A->device, most, &C);
  if (!rc) device_give(&C, out);
  return rc;
}

static int device_round_values(kcl_builder *b, kcl_built *A) {
  return kcl_amg_device_round(b->setup, &A->device);
}

static int device_smoother(kcl_builder *b, const kcl_built *A, kcl_smoother kind) {
  kcl_device_smoother s;
  int rc = kcl_amg_device_smoother(b->setup, &A->device, kind, b->M->narrow, &s);
  if (rc == KCL_NOT_POSITIVE) return kcl_not_definite(b->M, A->rows);
  if (rc) return rc;
  b->largest = s.largest, b->doubt = s.doubt;
  return kcl_precond_adopt_vector(b->M, "D", A->rows, s.d, kcl_amg_device_free);
}

/* The finding of the last smoother, which is known by the time that a matrix of its level is kept. */
static int check_definite(kcl_builder *b) {
  int64_t rows = 0;
  int rc = b->updating ? kcl_amg_device_expect_none(b->setup, b->doubt)
                       : kcl_amg_device_doubted(b->setup, b->doubt, &rows);
  b->doubt = 0;
  return rc || !rows ? rc : kcl_not_definite(b->M, rows);
}

static int device_inverse(kcl_builder *b, const kcl_built *A, kcl_csr **out) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *C = NULL;
  kcl_device_csr system = A->device;
  KCL_CALL(kcl_amg_device_download(b->setup, &system, &C));
  return kcl_dense_inverse(b->M->ctx, C, b->M->hermitian, out);
}

static int device_keep(kcl_builder *b, kcl_built *A) {
  const kcl_format *f;
  kcl_stored *m = NULL;
  int rc = kcl_amg_device_measure(b->setup, &A->device);
  if (!rc) rc = check_definite(b);
  if (!rc) rc = kcl_precond_level_format(b->M, A->rows, A->device.nnz, &f);
  if (!rc) rc = kcl_amg_device_matrix(b->setup, &A->device, f, b->narrow, &m);
  const int64_t longest = A->device.longest;
  device_free_built(b, A);
  return rc ? rc : kcl_precond_adopt(b->M, m, longest);
}

static int device_view(kcl_builder *b, const kcl_stored *C, bool values, kcl_built *out) {
  kcl_device_csr D;
  KCL_CALL(kcl_amg_device_view(b->setup, C, values, &D));
  device_give(&D, out);
  out->nnz = C->nnz; /* with entries that are zero */
  return KCL_OK;
}

static int read_vectors(kcl_builder *b, int64_t rows) {
  kcl_near_null *v = &b->near_null;
  const int64_t count = rows * v->vectors;
  if (!v->device) return KCL_OK;
  int rc = kcl_alloc(b->M->ctx, count, sizeof *v->owned, "near-null vectors", (void **)&v->owned);
  if (!rc) rc = kcl_amg_device_read_vectors(b->setup, v->device, count, v->owned);
  v->B = v->owned, v->device = NULL;
  return rc;
}

static int leave(kcl_builder *b, kcl_built *A) {
  kcl_csr *C = NULL;
  int rc = kcl_amg_device_download(b->setup, &A->device, &C);
  if (!rc) rc = read_vectors(b, A->rows);
  device_free_built(b, A);
  kcl_built_on_host(C, A);
  if (!rc) b->ops = &kcl_build_on_host;
  return rc;
}

static int device_finish(kcl_builder *b) {
  bool fine = true;
  int rc = b->setup ? kcl_amg_device_as_expected(b->setup, &fine) : KCL_OK;
  return rc || fine ? rc : KCL_UNSUITED;
}

static void device_close(kcl_builder *b) { kcl_amg_device_close(&b->setup); }

static const kcl_amg_device_ops ops = {.possible = kcl_amg_device_possible,
                                       .compiled = kcl_amg_device_compiled,
                                       .ahead = kcl_amg_device_ahead,
                                       .build = {.take = device_take,
                                                 .free = device_free_built,
                                                 .interpolation = device_interpolation,
                                                 .aggregation = device_aggregation,
                                                 .transpose = device_transpose,
                                                 .product = multiply_on_device,
                                                 .galerkin = device_galerkin,
                                                 .truncate = device_truncate_rows,
                                                 .round = device_round_values,
                                                 .smoother = device_smoother,
                                                 .inverse = device_inverse,
                                                 .keep = device_keep,
                                                 .view = device_view,
                                                 .leave = leave,
                                                 .finish = device_finish,
                                                 .close = device_close}};
const kcl_amg_device_ops *const kcl_amg_device_backend = &ops;
