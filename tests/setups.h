/* For tests of set-ups on the device (multigrid/opencl): matrices made there are those of the host (multigrid). */
#ifndef SETUPS_H
#define SETUPS_H

#include "multigrid/coarsen.h"
#include "tests/conform.h"

#ifndef KCL_NO_OPENCL
#include "multigrid/opencl/launch.h"

static const double CLOSE = 1e-12; /* a few hundred roundings of sums without much cancellation */

typedef struct pair {
  kcl_context *ctx;
  kcl_device_setup *s;
  const char *name; /* of the system */
} pair;

/* C of the device is H, up to rounding; frees H. */
static void compare(const pair *p, const char *what, kcl_device_csr *C, kcl_csr **H) {
  kcl_csr *D = NULL;
  if (!CHECKF(!kcl_amg_device_download(p->s, C, &D), "%s", kcl_error())) return;
  const kcl_csr *A = *H;
  bool same = D->rows == A->rows && D->cols == A->cols && D->nnz == A->nnz;
  for (int64_t i = 0; same && i <= A->rows; i++) same = D->row_ptr[i] == A->row_ptr[i];
  for (int64_t k = 0; same && k < A->nnz; k++) same = D->col[k] == A->col[k];
  CHECKF(same, "%s of %s: %lld entries, on the host %lld, or others", what, p->name,
         (long long)D->nnz, (long long)A->nnz);
  double off = 0, size = 0;
  for (int64_t k = 0; same && k < A->nnz; k++) {
    const double a = ((double *)A->val)[k], d = ((double *)D->val)[k];
    off = fmax(off, fabs(a - d)), size = fmax(size, fabs(a));
  }
  CHECKF(off <= CLOSE * size, "%s of %s: values differ by %g of %g", what, p->name, off, size);
  kcl_csr_free(&D), kcl_csr_free(H);
}

/* test(pair, A) with a set-up on the device. */
static void with_setup(kcl_context *ctx, const char *name, bool aggregation,
                       int (*test)(const pair *, const kcl_csr *)) {
  pair p = {.ctx = ctx, .name = name};
  kcl_csr *A = NULL;
  int rc;
  KCL_TRY(kcl_generate(ctx, name, &A, NULL));
  KCL_TRY(kcl_amg_device_open(ctx, KCL_D, aggregation, &p.s));
  KCL_TRY(test(&p, A));
done:
  CHECKF(!rc, "%s: %s", name, rc == KCL_UNSUITED ? "does not suit the device" : kcl_error());
  kcl_amg_device_close(&p.s), kcl_csr_free(&A);
}

#endif
#endif
