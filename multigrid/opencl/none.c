/* A build without OpenCL: set-ups are on the host. */
#include "multigrid/opencl/setup.h"

bool kcl_amg_device_possible(const kcl *ctx, const kcl_csr *A) { return (void)ctx, (void)A, false; }
bool kcl_amg_device_compiled(kcl *ctx, kcl_type type, bool aggregation) {
  return (void)ctx, (void)type, (void)aggregation, false;
}
int kcl_amg_device_open(kcl *ctx, kcl_type type, bool aggregation, kcl_device_setup **out) {
  return (void)ctx, (void)type, (void)aggregation, (void)out, KCL_UNSUITED;
}
void kcl_amg_device_close(kcl_device_setup **s) { (void)s; }
void kcl_amg_device_drop_matrix(kcl_device_setup *s, const kcl_device_csr *A) { (void)s, (void)A; }
int kcl_amg_device_measure(kcl_device_setup *s, kcl_device_csr *A) {
  return (void)s, (void)A, KCL_UNSUITED;
}
int kcl_amg_device_upload(kcl_device_setup *s, const kcl_csr *A, const kcl_stats *known,
                          kcl_device_csr *out) {
  return (void)s, (void)A, (void)known, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_download(kcl_device_setup *s, kcl_device_csr *A, kcl_csr **out) {
  return (void)s, (void)A, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_transpose(kcl_device_setup *s, const kcl_device_csr *A, kcl_device_csr *out) {
  return (void)s, (void)A, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_product(kcl_device_setup *s, const kcl_device_csr *A, const kcl_device_csr *B,
                           kcl_device_csr *out) {
  return (void)s, (void)A, (void)B, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_galerkin(kcl_device_setup *s, const kcl_device_csr *R, const kcl_device_csr *A,
                            const kcl_device_csr *P, const kcl_device_csr *pattern,
                            kcl_galerkin_shape *shape, kcl_device_csr *out) {
  return (void)s, (void)R, (void)A, (void)P, (void)pattern, (void)shape, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_truncate(kcl_device_setup *s, const kcl_device_csr *A, int most,
                            kcl_device_csr *out) {
  return (void)s, (void)A, (void)most, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_round(kcl_device_setup *s, const kcl_device_csr *A) {
  return (void)s, (void)A, KCL_UNSUITED;
}
int kcl_amg_device_interpolation(kcl_device_setup *s, const kcl_device_csr *A,
                                 const kcl_coarsening_rule *rule, kcl_device_csr *P, bool *made) {
  return (void)s, (void)A, (void)rule, (void)P, (void)made, KCL_UNSUITED;
}
int kcl_amg_device_aggregation(kcl_device_setup *s, const kcl_device_csr *A,
                               const kcl_aggregation_rule *rule, void **B, kcl_device_csr *P,
                               bool *made) {
  return (void)s, (void)A, (void)rule, (void)B, (void)P, (void)made, KCL_UNSUITED;
}
int kcl_amg_device_send_vectors(kcl_device_setup *s, const double *from, int64_t count,
                                void **out) {
  return (void)s, (void)from, (void)count, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_ones(kcl_device_setup *s, int64_t count, void **out) {
  return (void)s, (void)count, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_read_vectors(kcl_device_setup *s, const void *from, int64_t count, double *to) {
  return (void)s, (void)from, (void)count, (void)to, KCL_UNSUITED;
}
int kcl_amg_device_smoother(kcl_device_setup *s, const kcl_device_csr *A, kcl_smoother kind,
                            bool narrow, kcl_device_smoother *out) {
  return (void)s, (void)A, (void)kind, (void)narrow, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_doubted(kcl_device_setup *s, int doubt, int64_t *rows) {
  return (void)s, (void)doubt, (void)rows, KCL_UNSUITED;
}
int kcl_amg_device_slices(kcl_device_setup *s, kcl_device_csr *A) {
  return (void)s, (void)A, KCL_UNSUITED;
}
int kcl_amg_device_matrix(kcl_device_setup *s, kcl_device_csr *A, const kcl_format *f, bool narrow,
                          kcl_matrix **out) {
  return (void)s, (void)A, (void)f, (void)narrow, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_view(kcl_device_setup *s, const kcl_matrix *m, bool values,
                        kcl_device_csr *out) {
  return (void)s, (void)m, (void)values, (void)out, KCL_UNSUITED;
}
int kcl_amg_device_expect_none(kcl_device_setup *s, int doubt) {
  return (void)s, (void)doubt, KCL_UNSUITED;
}
int kcl_amg_device_as_expected(kcl_device_setup *s, bool *out) {
  return (void)s, (void)out, KCL_UNSUITED;
}
void kcl_amg_device_free(kcl *ctx, void *buffer) { (void)ctx, (void)buffer; }
void kcl_amg_device_ahead(kcl *ctx, const kcl_csr *A, kcl_type type, bool aggregation) {
  (void)ctx;
  (void)A;
  (void)type;
  (void)aggregation;
}
