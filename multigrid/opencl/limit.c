/* Will P^T A P be as small as it has to be? Estimated on the device as multigrid/limit.c does it: kernels/sparse_tentative.cl. */
#include "multigrid/opencl/aggregate.h"

enum { DEVICE_KEYS = 4 /* as in the kernel */, KEY_PARTS = 1024 /* groups of sums */ };
static const double MARGIN = 10; /* of an estimate above the number of entries that there can be */

/* Is P^T A P small enough for certain? Bounded by the longest rows and by a full matrix, without an estimate. */
static bool is_small(const kcl_device_nodes *g, const kcl_device_csr *P) {
  const kcl_aggregation_rule *rule = g->rule;
  const double rows = (double)P->nnz * (double)g->A->longest, cols = (double)P->cols;
  return rows * (double)P->longest <= rule->most_products &&
         MARGIN * cols * cols <= rule->most_entries;
}

/* Sets of keys: one column, rows of P, rows of P^T A P. */
typedef struct device_estimate {
  void *column, *row, *coarse, *part; /* part: of sums [2, KEY_PARTS] */
} device_estimate;

static int open_estimate(const kcl_device_nodes *g, int64_t cols, device_estimate *e) {
  KCL_CALL(kcl_amg_device_memory(g->s, cols * DEVICE_KEYS, sizeof(cl_float), &e->column));
  KCL_CALL(kcl_amg_device_memory(g->s, cols * DEVICE_KEYS, sizeof(cl_float), &e->coarse));
  KCL_CALL(kcl_amg_device_memory(g->s, g->A->rows * DEVICE_KEYS, sizeof(cl_float), &e->row));
  return kcl_amg_device_memory(g->s, (int64_t)2 * KEY_PARTS, sizeof(cl_double), &e->part);
}

static void close_estimate(const kcl_device_nodes *g, const device_estimate *e) {
  const void *const list[] = {e->column, e->coarse, e->row, e->part};
  for (int i = 0; i < 4; i++) kcl_amg_device_drop(g->s, list[i]);
}

static int run_estimate(const kcl_device_nodes *g, const kcl_device_csr *P,
                        const device_estimate *e) {
  const kcl_device_csr *A = g->A;
  const int64_t items = KEY_PARTS * KCL_AMG_DEVICE_GROUP;
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_draw_keys, items, KCL_ARG_INT(P->cols),
                           KCL_ARG_BUFFER(e->column), KCL_ARG_BUFFER(e->coarse)));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_join_columns, items, KCL_ARG_PATTERN(P),
                           KCL_ARG_INT(A->rows), KCL_ARG_BUFFER(e->column),
                           KCL_ARG_BUFFER(e->row)));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_join_rows, items, KCL_ARG_PATTERN(A),
                           KCL_ARG_PATTERN(P), KCL_ARG_INT(A->rows), KCL_ARG_BUFFER(e->row),
                           KCL_ARG_BUFFER(e->coarse), KCL_ARG_BUFFER(e->part)));
  return KCL_LAUNCH_EACH(g->s, KCL_KERNEL_sum_entries, items, KCL_ARG_INT(P->cols),
                         KCL_ARG_BUFFER(e->coarse), KCL_ARG_BUFFER(e->part));
}

int kcl_amg_device_check_limit(const kcl_device_nodes *g, const kcl_device_csr *P) {
  double part[2][KEY_PARTS], products = 0, entries = 0;
  device_estimate e = {.column = NULL};
  int rc = KCL_OK;
  if (is_small(g, P)) return KCL_OK;
  KCL_TRY(open_estimate(g, P->cols, &e));
  KCL_TRY(run_estimate(g, P, &e));
  KCL_TRY(kcl_amg_device_read(g->s, e.part, 0, sizeof part, part));
  for (int i = 0; i < KEY_PARTS; i++) products += part[0][i], entries += part[1][i];
  if (products > g->rule->most_products || entries > g->rule->most_entries) rc = KCL_UNSUITED;
done:
  close_estimate(g, &e);
  return rc;
}
