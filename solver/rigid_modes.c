/* Rigid body modes from coordinates: translations and rotations about the centre. */
#include "core/base/base.h"

int kcl_rigid_modes(kcl_context *ctx, const kcl_dense *coordinates, kcl_dense **out) {
  kcl_dense *B = NULL;
  double centre[3] = {0};
  KCL_CALL(kcl_dense_need(ctx, "coordinates", coordinates));
  const int64_t n = coordinates->rows, d = coordinates->cols;
  const double *x = coordinates->val; /* [d, n] */
  if ((d != 2 && d != 3) || coordinates->type != KCL_D || n < 1)
    return kcl_fail(ctx, KCL_USAGE,
                    "coordinates have a row per node and 2 or 3 real columns: these are %lld by "
                    "%lld",
                    (long long)n, (long long)d);
  KCL_CALL(kcl_dense_create(ctx, d * n, d == 2 ? 3 : 6, KCL_D, &B));
  for (int64_t c = 0; c < d; c++)
    for (int64_t i = 0; i < n; i++) centre[c] += x[c * n + i] / (double)n;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t c = 0; c < d; c++) B->val[c * d * n + d * i + c] = 1;
    for (int64_t r = 0; r < (d == 2 ? 1 : 3); r++) { /* the rotation from axis p to axis q */
      const int64_t p = r, q = (r + 1) % d;
      B->val[(d + r) * d * n + d * i + p] = -(x[q * n + i] - centre[q]);
      B->val[(d + r) * d * n + d * i + q] = x[p * n + i] - centre[p];
    }
  }
  *out = B;
  return KCL_OK;
}
