/* Smoothed aggregation on the device (multigrid/opencl/aggregate.c, tentative.c, limit.c) against the host: P and the coarse vectors
 * are the same, integers and sums; and both take the same P to be too dense. In the layout of GPUs, on any device.
 */
#include "tests/elasticity.h"
#include "tests/filter.h"
#include "tests/setups.h"

#ifndef KCL_NO_OPENCL
/* B: [rows, vectors], by rows. */
typedef struct near_null {
  kcl_aggregation_rule rule;
  double *B;
} near_null;

static int host_aggregation(const pair *p, const kcl_csr *A, const near_null *v, kcl_csr **P,
                            double **coarse) {
  const kcl_aggregation_rule *r = &v->rule;
  kcl_csr *T = NULL;
  kcl_nodes nodes = {0};
  int32_t *aggregate = NULL;
  kcl_aggregation g = {.block = r->block, .vectors = r->vectors};
  int rc;
  KCL_TRY(kcl_amg_nodes(p->ctx, A, r->block, r->theta, &nodes));
  KCL_TRY(kcl_amg_aggregates(p->ctx, &nodes, r->least, &aggregate, &g.count));
  g.aggregate = aggregate;
  KCL_TRY(kcl_amg_tentative(p->ctx, &g, A->rows, v->B, &T, coarse));
  if (r->largest > 0) KCL_TRY(kcl_amg_smoothed(p->ctx, A, &nodes, r->block, T, r->largest, P));
  if (!(r->largest > 0)) *P = T, T = NULL;
done:
  free(aggregate), kcl_amg_nodes_free(&nodes), kcl_csr_free(&T);
  return rc;
}

static void compare_vectors(const pair *p, const void *device, const double *host, int64_t count) {
  double *v = calloc((size_t)count, sizeof *v), off = 0, size = 0;
  CHECK(!kcl_amg_device_read_vectors(p->s, device, count, v));
  for (int64_t i = 0; i < count; i++)
    off = fmax(off, fabs(v[i] - host[i])), size = fmax(size, fabs(host[i]));
  CHECKF(off <= CLOSE * size, "coarse vectors of %s differ by %g of %g", p->name, off, size);
  free(v);
}

/* P and the coarse vectors. */
static int compare_aggregation(const pair *p, const kcl_csr *A, const near_null *v) {
  kcl_csr *P = NULL;
  double *coarse = NULL;
  kcl_device_csr dA, dP;
  void *B = NULL;
  bool made;
  int rc;
  KCL_TRY(kcl_amg_device_upload(p->s, A, NULL, NULL, &dA));
  KCL_TRY(kcl_amg_device_send_vectors(p->s, v->B, A->rows * v->rule.vectors, &B));
  KCL_TRY(kcl_amg_device_aggregation(p->s, &dA, &v->rule, &B, &dP, &made));
  if (!CHECKF(made, "%s: is not aggregated", p->name)) goto done;
  KCL_TRY(host_aggregation(p, A, v, &P, &coarse));
  compare_vectors(p, B, coarse, P->cols * v->rule.vectors);
  compare(p, v->rule.largest > 0 ? "smoothed P" : "T", &dP, &P);
done:
  free(coarse), kcl_csr_free(&P);
  return rc;
}

/* Does the host make P sparser under this rule? */
static int host_limits(const pair *p, const kcl_csr *A, near_null v, bool *limited) {
  kcl_csr *P = NULL, *T = NULL;
  double *coarse = NULL, *again = NULL;
  int rc;
  KCL_TRY(host_aggregation(p, A, &v, &P, &coarse));
  const int64_t before = P->nnz;
  v.rule.largest = 0;
  KCL_TRY(host_aggregation(p, A, &v, &T, &again));
  KCL_TRY(kcl_amg_limit(p->ctx, A, T, v.rule.most_products, v.rule.most_entries, &P));
  *limited = P->nnz < before;
done:
  free(coarse), free(again), kcl_csr_free(&P), kcl_csr_free(&T);
  return rc;
}

/* Where it does, P does not suit the device. */
static int test_limit(const pair *p, const kcl_csr *A, const near_null *v, double products,
                      double entries) {
  near_null limited = *v;
  kcl_device_csr dA, dP;
  void *B;
  bool made, expected;
  int rc;
  limited.rule.most_products = products, limited.rule.most_entries = entries;
  KCL_TRY(host_limits(p, A, limited, &expected));
  KCL_TRY(kcl_amg_device_upload(p->s, A, NULL, NULL, &dA));
  KCL_TRY(kcl_amg_device_send_vectors(p->s, v->B, A->rows * v->rule.vectors, &B));
  rc = kcl_amg_device_aggregation(p->s, &dA, &limited.rule, &B, &dP, &made);
  CHECKF(rc == (expected ? KCL_UNSUITED : KCL_OK), "%s: limits %g and %g: %d", p->name, products,
         entries, rc);
  rc = KCL_OK;
done:
  return rc;
}

/* Near the entries of P^T A P, and near its products of entries. */
static int test_limits(const pair *p, const kcl_csr *A, const near_null *v) {
  const double each = v->rule.vectors * v->rule.vectors * (double)A->nnz;
  int rc = KCL_OK;
  for (double part = 0.01; part < 4 && !rc; part *= 2)
    rc = test_limit(p, A, v, INFINITY, part * each);
  for (double part = 1; part < 100 && !rc; part *= 2)
    rc = test_limit(p, A, v, part * each, INFINITY);
  return rc;
}

static int test_aggregation(const pair *p, const kcl_csr *A, near_null *v) {
  int rc;
  v->rule.theta = 0.25, v->rule.enough = v->rule.most_products = v->rule.most_entries = INFINITY;
  v->rule.largest = 0;
  KCL_TRY(compare_aggregation(p, A, v));
  v->rule.largest = 2;
  KCL_TRY(compare_aggregation(p, A, v));
  KCL_TRY(test_limits(p, A, v));
done:
  return rc;
}

/* One constant, also one that is zero on some aggregates; and three vectors, of which two are the same, for which aggregates need
 * four nodes. */
static int test_scalar_aggregation(const pair *p, const kcl_csr *A) {
  near_null one = {.rule = {.block = 1, .vectors = 1, .least = 1}},
            three = {.rule = {.block = 1, .vectors = 3, .least = 4}};
  int rc = KCL_OK;
  one.B = malloc((size_t)A->rows * sizeof *one.B);
  three.B = malloc((size_t)A->rows * 3 * sizeof *three.B);
  for (int64_t i = 0; i < A->rows; i++) {
    three.B[3 * i] = three.B[3 * i + 2] = one.B[i] = 1;
    three.B[3 * i + 1] = random_number();
  }
  KCL_TRY(test_aggregation(p, A, &one));
  for (int64_t i = 0; i < A->rows / 2; i++) one.B[i] = 0;
  KCL_TRY(compare_aggregation(p, A, &one));
  KCL_TRY(test_aggregation(p, A, &three));
done:
  free(one.B), free(three.B);
  return rc;
}

/* ---------------------------------------------------------------- elasticity */

/* Six rigid body modes on nodes of three rows, and as rows that are nodes. */
static void test_elasticity(kcl_context *ctx, int n) {
  pair p = {.ctx = ctx, .name = "elasticity"};
  near_null v = {.rule = {.vectors = 6}};
  kcl_dense *X = coordinates(ctx, n), *modes = NULL;
  kcl_csr *A = NULL;
  char name[64];
  int rc;
  snprintf(name, sizeof name, "elasticity:%dx%dx%d", n, n, n);
  KCL_TRY(kcl_generate(ctx, name, &A, NULL));
  KCL_TRY(kcl_rigid_modes(ctx, X, &modes));
  v.B = malloc((size_t)A->rows * 6 * sizeof *v.B);
  for (int64_t i = 0; i < A->rows; i++)
    for (int j = 0; j < 6; j++) v.B[i * 6 + j] = modes->val[j * A->rows + i];
  KCL_TRY(kcl_amg_device_open(ctx, KCL_D, true, &p.s));
  v.rule.block = 3, v.rule.least = 3;
  KCL_TRY(test_aggregation(&p, A, &v));
  v.rule.block = 1, v.rule.least = 7;
  KCL_TRY(test_aggregation(&p, A, &v));
done:
  CHECKF(!rc, "%s", rc == KCL_UNSUITED ? "does not suit the device" : kcl_error());
  free(v.B), kcl_amg_device_close(&p.s), kcl_csr_free(&A), kcl_dense_free(&X),
      kcl_dense_free(&modes);
}

int main(void) {
  static const char *const systems[] = {"poisson2d:80", "jump2d:70", "poisson3d:20", "hpcg:20",
                                        "aniso3d:20",   "jump3d:18", "heatsink:40"};
  setenv("KRYLOCL_LAYOUT", "gpu", 1);
  open_places();
  for (int i = 0; i < place_count; i++) {
    kcl_context *ctx = places[i].ctx;
    if (!ctx->opencl || !can(&places[i], KCL_D)) continue;
    for (size_t s = 0; s < sizeof systems / sizeof *systems && !small(); s += quick(&places[i]) + 1)
      with_setup(ctx, systems[s], true, test_scalar_aggregation);
    if (small()) with_setup(ctx, "jump2d:12", true, test_scalar_aggregation);
    test_elasticity(ctx, small() ? 3 : thorough() ? 12 : 8);
  }
  close_places();
  return check_report();
}
#else
int main(void) { return check_report(); }
#endif
